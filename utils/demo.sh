#!/usr/bin/env bash
# demo.sh - From a fresh machine to compared numbers
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs what is missing, builds, compiles programs that torch-mlir exported
# from PyTorch, runs them on the device emulator and compares with PyTorch's
# numbers. PyTorch itself is not needed: the programs and their numbers are in
# test/data.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: utils/demo.sh [--only SUBSTRING]

Installs, builds, compiles and runs programs exported from PyTorch on the
emulator, and says how well the numbers agree. Exit 1 if they do not.

  --only SUBSTRING   only programs whose name contains it

example: utils/demo.sh --only softmax
TEXT
}

only=()
while [ $# -gt 0 ]; do
  case $1 in
    --only) [ $# -ge 2 ] || { usage >&2; exit 2; }; only=(--only "$2"); shift 2 ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done

"$SPYRE_ROOT/utils/install-deps.sh"
spyre_build
data=${SPYRE_TEST_DATA:-$SPYRE_ROOT/test/data}
exec "$(spyre_python)" "$SPYRE_ROOT/utils/demo.py" --build "$SPYRE_BUILD" --models "$data/models" ${only[@]+"${only[@]}"}
