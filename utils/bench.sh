#!/usr/bin/env bash
# bench.sh - The benchmarks
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each benchmark is a line of the table below: a name and a driver, which prints
# a table and writes its figures as JSON. Baselines are measured in the same
# run; figures are given as ratios to them.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: utils/bench.sh [NAME ...]

Runs the benchmarks (all, or those named) and writes bench.json. When the
machine is busy (load above 1) the figures are printed but not judged.

  compile   whole-process spyre-compile times, beside an empty mlir-opt run and
            the incumbent's published times; judged against fixed limits
  plans     traffic and modelled time of the same programs and more, beside the
            incumbent's; what a worse plan moves (the machine does not matter)
  bounds    modelled time and traffic of full-size programs, beside the least that
            they could take (the machine does not matter)
  emulator  launches on the emulator, beside OpenBLAS, a memory copy, oneDNN and
            NumPy on two threads, and its memory; judged against fixed limits
  python    calls from Python on the null device, start from the cache, and
            host-device conversion beside a memory copy; judged against fixed limits
  guards    what a call pays to notice changed weights, beside reading the memory
  exact     traffic and modelled time of exact f16 arguments (the machine does not
            matter)
  clock     the emulator's clock beside every published figure of the device
            (the machine does not matter)

example: utils/bench.sh compile
TEXT
}

# name | command, without the flag for its JSON file
benchmarks() {
  cat <<TABLE
compile|"$(spyre_python)" "$SPYRE_ROOT/benchmarks/compile.py" --build "$SPYRE_BUILD" --llvm-bin "$(spyre_llvm_bin)"
plans|"$(spyre_python)" "$SPYRE_ROOT/benchmarks/plans.py" --build "$SPYRE_BUILD"
bounds|"$(spyre_python)" "$SPYRE_ROOT/benchmarks/bounds.py" --build "$SPYRE_BUILD"
emulator|"$(spyre_python)" "$SPYRE_ROOT/benchmarks/emulator.py" --build "$SPYRE_BUILD"
python|"$(spyre_python)" "$SPYRE_ROOT/benchmarks/python.py" --build "$SPYRE_BUILD"
guards|"$(spyre_python)" "$SPYRE_ROOT/benchmarks/guards.py"
exact|"$(spyre_python)" "$SPYRE_ROOT/benchmarks/exact_arguments.py" --build "$SPYRE_BUILD"
clock|"$(spyre_python)" "$SPYRE_ROOT/benchmarks/clock.py" --build "$SPYRE_BUILD"
TABLE
}

names=()
for word in "$@"; do
  case $word in
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *)
      benchmarks | cut -d '|' -f 1 | grep -qxF "$word" || { echo "error: there is no benchmark '$word'" >&2; usage >&2; exit 2; }
      names+=("$word")
      ;;
  esac
done

# The whole Granite model and the guards are of PyTorch.
"$SPYRE_ROOT/utils/install-deps.sh" --torch
spyre_build
status=0
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT
while IFS='|' read -r name command; do
  if [ "${#names[@]}" -gt 0 ]; then
    printf '%s\n' "${names[@]}" | grep -qxF "$name" || continue
  fi
  say "$name"
  eval "$command --json \"$parts/$name.json\"" </dev/null || status=1
done < <(benchmarks)

"$(spyre_python)" - "$parts" "$SPYRE_ROOT/bench.json" <<'PY'
import json, pathlib, sys
parts = {p.stem: json.loads(p.read_text()) for p in sorted(pathlib.Path(sys.argv[1]).glob("*.json"))}
pathlib.Path(sys.argv[2]).write_text(json.dumps(parts, indent=1) + "\n")
PY
say "figures are in $SPYRE_ROOT/bench.json"
exit $status
