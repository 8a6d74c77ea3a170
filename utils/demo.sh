#!/usr/bin/env bash
# demo.sh - From a fresh machine to compared numbers
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs what is missing, builds, compiles programs that torch-mlir exported
# from PyTorch, runs them on the device emulator and compares with PyTorch's
# numbers; the programs and their numbers are in test/data. At the end a model in
# plain PyTorch writes tokens through torch.compile.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: utils/demo.sh [--only SUBSTRING]

Installs, builds, compiles and runs programs exported from PyTorch on the
emulator, and says how well the numbers agree; then lets a model generate tokens
and compares them with PyTorch's. Exit 1 if they do not agree.

  --only SUBSTRING   only programs whose name contains it, and no model (nor PyTorch)

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

torch=()
[ "${#only[@]}" -gt 0 ] || torch=(--torch)
"$SPYRE_ROOT/utils/install-deps.sh" ${torch[@]+"${torch[@]}"}
spyre_build
python=$(spyre_python)
data=${SPYRE_TEST_DATA:-$SPYRE_ROOT/test/data}
code=0
"$python" "$SPYRE_ROOT/utils/demo.py" --build "$SPYRE_BUILD" --models "$data/models" ${only[@]+"${only[@]}"} || code=$?
[ "${#only[@]}" -gt 0 ] && exit "$code"

echo
say "a model in PyTorch: torch.compile(model, backend=\"spyre\")"
export PYTHONPATH=$SPYRE_ROOT/python${PYTHONPATH:+:$PYTHONPATH}
"$python" "$SPYRE_ROOT/examples/python_generate.py" || code=$?
exit "$code"
