# common.sh - What the scripts of this folder share; sourced, not run
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Places, the Python to use, installing and building. Everything that a caller
# may set in the environment: SPYRE_BUILD (build folder), SPYRE_PRESET (CMake
# preset), SPYRE_JOBS, MLIR_DIR, VIRTUAL_ENV, SPYRE_TEST_DATA.

SPYRE_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
SPYRE_PRESET=${SPYRE_PRESET:-dev}
SPYRE_BUILD=${SPYRE_BUILD:-$SPYRE_ROOT/build}
SPYRE_JOBS=${SPYRE_JOBS:-$(nproc 2>/dev/null || echo 2)}
export SPYRE_BUILD

say() { printf '== %s\n' "$*"; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# The active virtual environment, else .venv of this repository.
spyre_venv() { printf '%s\n' "${VIRTUAL_ENV:-$SPYRE_ROOT/.venv}"; }

# The Python that runs tests and tools.
spyre_python() { printf '%s/bin/python\n' "$(spyre_venv)"; }

# The Python whose headers the native modules are compiled with: that of the environment, if
# it is there already.
spyre_header_python() { if [ -x "$(spyre_python)" ]; then spyre_python; else command -v python3; fi; }

# Folder of LLVM's own programs: the one that the build was configured with,
# else that of MLIR_DIR (.../lib/cmake/mlir), else Debian's.
spyre_llvm_bin() {
  local dir=
  if [ -f "$SPYRE_BUILD/CMakeCache.txt" ]; then
    dir=$(sed -n 's/^MLIR_DIR:[A-Z]*=//p' "$SPYRE_BUILD/CMakeCache.txt")
  fi
  dir=${dir:-${MLIR_DIR:-/usr/lib/llvm-22/lib/cmake/mlir}}
  printf '%s\n' "${dir%/lib/cmake/mlir*}/bin"
}

# Configures and builds; output goes to the terminal. Python loads no module that is built
# with a sanitizer.
spyre_build() {
  local python=ON
  case $SPYRE_PRESET in asan | tsan) python=OFF ;; esac
  if [ ! -f "$SPYRE_BUILD/build.ninja" ] || ! grep -q "^SPYRE_PYTHON:BOOL=$python" "$SPYRE_BUILD/CMakeCache.txt"; then
    say "configuring $SPYRE_BUILD (preset $SPYRE_PRESET)"
    (cd "$SPYRE_ROOT" && cmake --preset "$SPYRE_PRESET" -B "$SPYRE_BUILD" -DSPYRE_PYTHON=$python -DPython_EXECUTABLE="$(spyre_python)") || return 1
  fi
  say "building with $SPYRE_JOBS jobs"
  # Ninja configures again by itself when a CMake file changed.
  ninja -C "$SPYRE_BUILD" -j "$SPYRE_JOBS"
}

# --- totals of test runs, for check.sh -----------------------------------------

# LABEL FILE: the number after (or before) a label in a test program's own summary.
number_after() { sed -n "s/^ *$1 *: *\([0-9]*\).*/\1/p" "$2" | tail -n 1; }
number_before() { tail -n 20 "$2" | grep -oE "[0-9]+ $1" | tail -n 1 | grep -oE '^[0-9]+'; }

# KIND LOG: "passed failed skipped", or nothing if the log has no totals.
spyre_totals() {
  local p f s
  case $1 in
    lit)
      grep -q '^Total Discovered Tests' "$2" || return
      p=$(($(number_after Passed "$2") + $(number_after 'Expectedly Failed' "$2") + 0))
      f=$(($(number_after Failed "$2") + $(number_after Unresolved "$2") + $(number_after 'Timed Out' "$2") + $(number_after 'Unexpectedly Passed' "$2") + 0))
      s=$(($(number_after Unsupported "$2") + $(number_after Skipped "$2") + 0))
      ;;
    ctest)
      local all
      all=$(grep -E '^[0-9]+% tests passed' "$2" | tail -n 1)
      [ -n "$all" ] || return
      f=$(grep -oE '[0-9]+ tests failed' <<<"$all" | grep -oE '^[0-9]+')
      f=${f:-0} all=${all##*out of }
      p=$((all - f)) s=0
      ;;
    pytest)
      tail -n 5 "$2" | grep -qE '(passed|failed|skipped|error).* in [0-9.]+s' || return
      p=$(number_before passed "$2") f=$(number_before failed "$2") s=$(number_before skipped "$2")
      f=$((${f:-0} + $(number_before 'error' "$2") + 0))
      ;;
    summary)
      tail -n 1 "$2" | grep -qxE '[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped' || return
      p=$(number_before passed "$2") f=$(number_before failed "$2") s=$(number_before skipped "$2")
      ;;
  esac
  echo "${p:-0} ${f:-0} ${s:-0}"
}
