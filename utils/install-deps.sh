#!/usr/bin/env bash
# install-deps.sh - Installs what building and testing need and is missing
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# For Debian 12 as root or with sudo. Says what it installs; does nothing, in
# about a second, when nothing is missing. An MLIR of your own (MLIR_DIR) and an
# active virtual environment are used as they are.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: utils/install-deps.sh [--torch] [--transformers] [--format]

Installs missing Debian packages, and the Python packages numpy, pytest, pytest-xdist, nanobind and
scikit-build-core into the active virtual environment or .venv.

  --torch          also PyTorch (CPU) and torch-mlir, for tests that export programs
  --transformers   also these and transformers, for tests that run its models
  --format         also ruff, for utils/format.sh

example: utils/install-deps.sh --torch
TEXT
}

torch=0 transformers=0 format=0
for word in "$@"; do
  case $word in
    --torch) torch=1 ;;
    --transformers) torch=1 transformers=1 ;;
    --format) format=1 ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done

# --- Debian packages ----------------------------------------------------------

packages=(
  clang-22 lld-22 clang-format-22 libclang-rt-22-dev
  cmake ninja-build ccache git
  zlib1g-dev nlohmann-json3-dev libgtest-dev libbenchmark-dev
  libopenblas-dev libtbb-dev libhwy-dev libdnnl-dev
  python3 python3-dev python3-venv
)
if [ -n "${MLIR_DIR:-}" ]; then
  [ -f "$MLIR_DIR/MLIRConfig.cmake" ] || die "MLIR_DIR is '$MLIR_DIR', but there is no MLIRConfig.cmake"
else
  packages+=(libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools)
fi

is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

missing=()
if command -v dpkg-query >/dev/null; then
  # One query for all; asked one by one only if something is missing.
  if [ "$(dpkg-query -W -f '${db:Status-Status}\n' "${packages[@]}" 2>/dev/null | grep -cx installed)" != "${#packages[@]}" ]; then
    for package in "${packages[@]}"; do
      is_installed "$package" || missing+=("$package")
    done
  fi
else
  say "this is no Debian system; install the equivalents of: ${packages[*]}"
fi

# Tools that the machine has from elsewhere need no package.
version_at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }
keep=()
for package in ${missing[@]+"${missing[@]}"}; do
  case $package in
    cmake) command -v cmake >/dev/null && version_at_least "$(cmake --version | sed -n 's/^cmake version //p')" 3.20 && continue ;;
    ninja-build) command -v ninja >/dev/null && continue ;;
    python3-dev) "$(spyre_header_python)" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' 2>/dev/null && continue ;;
    ccache | git | python3) command -v "$package" >/dev/null && continue ;;
    python3-venv) python3 -c 'import ensurepip, venv' 2>/dev/null && continue ;;
  esac
  keep+=("$package")
done
missing=(${keep[@]+"${keep[@]}"})

if [ "${#missing[@]}" -gt 0 ]; then
  say "installing Debian packages: ${missing[*]}"
  if [ "$(id -u)" = 0 ]; then
    root=()
  elif command -v sudo >/dev/null; then
    root=(sudo)
  else
    die "installing packages needs root or sudo"
  fi
  ${root[@]+"${root[@]}"} apt-get update -qq
  for package in "${missing[@]}"; do
    apt-cache show "$package" >/dev/null 2>&1 || die "no package '$package' in the configured package sources (LLVM 22 is in Debian 12's bookworm-security)"
  done
  ${root[@]+"${root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi

# --- Python packages ----------------------------------------------------------

venv=$(spyre_venv)
if [ ! -x "$venv/bin/python" ]; then
  say "creating the virtual environment $venv"
  python3 -m venv "$venv"
fi
python=$venv/bin/python

# has MODULE [VERSION]: is it importable (and of that version)?
has() {
  "$python" - "$@" <<'PY' 2>/dev/null
import importlib.metadata, sys
version = importlib.metadata.version(sys.argv[1])
sys.exit(0 if len(sys.argv) < 3 or version.split("+")[0] == sys.argv[2] else 1)
PY
}

wanted=(numpy pytest pytest-xdist nanobind)
[ "$torch" = 1 ] && wanted+=(packaging) # torch-mlir needs it and is installed without its dependencies
[ "$format" = 1 ] && wanted+=(ruff)
needed=()
for package in "${wanted[@]}"; do
  has "$package" || needed+=("$package")
done
if [ "${#needed[@]}" -gt 0 ]; then
  say "installing Python packages into $venv: ${needed[*]}"
  "$python" -m pip install --quiet --disable-pip-version-check "${needed[@]}"
fi
# Where it is neither there nor to be had, the test of the wheel says that it was skipped.
if ! has scikit-build-core; then
  say "installing scikit-build-core into $venv"
  "$python" -m pip install --quiet --disable-pip-version-check --retries 1 scikit-build-core ||
    say "scikit-build-core could not be installed; pip wheel needs it"
fi
if [ "$torch" = 1 ]; then
  if ! has torch 2.13.0; then
    say "installing torch 2.13.0 into $venv"
    "$python" -m pip install --quiet --disable-pip-version-check 'torch==2.13.0'
  fi
  if ! has torch-mlir 20261001; then
    # Its wheel names the nightly of PyTorch that it was built with; ours is newer.
    say "installing torch-mlir 20261001 into $venv"
    "$python" -m pip install --quiet --disable-pip-version-check --no-deps 'torch-mlir==20261001'
  fi
fi
if [ "$transformers" = 1 ] && ! has transformers 5.24.0; then
  say "installing transformers 5.24.0 into $venv"
  "$python" -m pip install --quiet --disable-pip-version-check 'transformers==5.24.0'
fi
say "everything needed is installed"
