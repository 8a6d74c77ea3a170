#!/usr/bin/env bash
# check.sh - Installs, builds and runs every test
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every part of the tests is one line of the table below. A part that fails, or
# whose totals cannot be read, counts as failed; the sums are the last line.

set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: utils/check.sh [--quick] [--list] [PART ...]

Installs what is missing, builds, and runs the tests; the last line is
`N passed, N failed` (`, N skipped`).

  --quick   leave out the long parts
  --list    print the parts and stop
  PART      run only these parts

example: utils/check.sh --quick
TEXT
}

quick=0 list=0
only=()
for word in "$@"; do
  case $word in
    --quick) quick=1 ;;
    --list) list=1 ;;
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) only+=("$word") ;;
  esac
done

logs=$SPYRE_BUILD/check-logs
data=${SPYRE_TEST_DATA:-$SPYRE_ROOT/test/data}
export SPYRE_TEST_DATA=$data
conformance=$SPYRE_ROOT/test/conformance
python=$(spyre_python)
llvm_bin=$(spyre_llvm_bin)

# Tests are spread over processes one by one, as a few take most of the time.
pytest="\"$python\" -m pytest -q -p no:cacheprovider -n $SPYRE_JOBS --dist worksteal"

# name | quick or long | how totals are printed | command
parts() {
  cat <<TABLE
lit|quick|lit|$llvm_bin/lit -sv "$SPYRE_ROOT/test" --param build="$SPYRE_BUILD" --param llvm_tools="$llvm_bin" --param python="$python" -j $SPYRE_JOBS
unit|quick|ctest|ctest --test-dir "$SPYRE_BUILD" --output-on-failure -j $SPYRE_JOBS
runners|quick|pytest|$pytest "$conformance" --ignore="$conformance/test_bad_input.py" --ignore="$conformance/test_failed_writes.py" --ignore="$conformance/test_outcomes_of_sets.py" --ignore="$conformance/test_outcomes_of_calls.py" --ignore="$conformance/test_wheel.py"
wheel|quick|pytest|"$python" -m pytest -q -s -rs -p no:cacheprovider "$conformance/test_wheel.py"
bad-input|quick|pytest|$pytest "$conformance/test_bad_input.py" "$conformance/test_failed_writes.py"
fuzz|quick|summary|"$python" "$SPYRE_ROOT/test/fuzz/mutate.py" --count 250
fuzz-targets|quick|summary|"$python" "$SPYRE_ROOT/test/fuzz/run_targets.py" --build "$SPYRE_BUILD" --runs 20000 --seconds 20 --artifacts "$logs/fuzz"
precision|quick|summary|"$python" "$SPYRE_ROOT/test/fuzz/precision.py" --count 50
superdsc|quick|summary|"$python" "$conformance/superdsc.py" "$data/superdsc/cases" "$data/superdsc/random_ops.json.gz" --jobs $SPYRE_JOBS
plans|quick|summary|"$python" "$SPYRE_ROOT/test/fuzz/plans.py" --seed 1 --count 300 --jobs $SPYRE_JOBS
superdsc-fuzz|quick|summary|"$python" "$SPYRE_ROOT/test/fuzz/superdsc.py" --count 500 --jobs $SPYRE_JOBS
bundles|quick|summary|"$python" "$conformance/bundles.py" "$data/superdsc/bundles/small"
ktir|quick|summary|"$python" "$conformance/ktir.py" "$data/ktir" --jobs $SPYRE_JOBS
tier1-O2|quick|summary|"$python" "$conformance/programs.py" "$data/models" --tier 1 --no-host -O2
tier1-O3-mock4|quick|summary|"$python" "$conformance/programs.py" "$data/models" --tier 1 --no-host -O3 --device mock4
tier1-ktir-mock4|quick|summary|"$python" "$conformance/programs.py" "$data/models" --tier 1 --no-host -O3 --device mock4 --target ktir
paths|quick|summary|"$python" "$conformance/paths.py" "$data/superdsc/bundles/small" "$data/models"
unaligned-O2|quick|summary|"$python" "$conformance/programs.py" "$data/unaligned/cases.jsonl.gz" --no-host -O2
ops-O2|quick|summary|"$python" "$conformance/programs.py" "$data/ops/cases.jsonl.gz" --no-host -O2
failures-O2|quick|summary|"$python" "$conformance/programs.py" "$data/failures" --no-host -O2
unaligned-O0-cores32|long|summary|"$python" "$conformance/programs.py" "$data/unaligned/cases.jsonl.gz" --no-host -O0 --cores 32
tier1-O0|long|summary|"$python" "$conformance/programs.py" "$data/models" --tier 1 --no-host -O0
ops-O0|long|summary|"$python" "$conformance/programs.py" "$data/ops/cases.jsonl.gz" --no-host -O0
failures-O0|long|summary|"$python" "$conformance/programs.py" "$data/failures" --no-host -O0
tier1-O0-cores32|long|summary|"$python" "$conformance/programs.py" "$data/models" --tier 1 --no-host -O0 --cores 32
tier1-O2-cores1|long|summary|"$python" "$conformance/programs.py" "$data/models" --tier 1 --no-host -O2 --cores 1
tier2-O2|quick|summary|"$python" "$conformance/programs.py" "$data/models" --tier 2 --no-host -O2
tier2-strict|quick|summary|"$python" "$conformance/programs.py" "$data/models" --tier 2 --no-host -O2 --precision=strict
failures-strict|long|summary|"$python" "$conformance/programs.py" "$data/failures" --no-host -O2 --precision=strict
tier2-O0|long|summary|"$python" "$conformance/programs.py" "$data/models" --tier 2 --no-host -O0
tier2-O2-cores1|long|summary|"$python" "$conformance/programs.py" "$data/models" --tier 2 --no-host -O2 --cores 1
tier2-O3-mock32|quick|summary|"$python" "$conformance/programs.py" "$data/models" --tier 2 --no-host -O3 --device mock32
tier2-carried-mock32|quick|summary|"$python" "$conformance/programs.py" "$data/models" --tier 2 --no-host -O2 --device mock32 --plan-kind carried
drawn-tiles|quick|summary|"$python" "$conformance/programs.py" "$data/models" --tier 2 --no-host -O2 --device mock32 --plan-kind tiled --plan-seed 1
drawn-carried|quick|summary|"$python" "$conformance/programs.py" "$data/models" --tier 2 --no-host -O2 --device mock32 --plan-kind carried --plan-seed 2
tier2-carried-products|quick|summary|"$python" "$conformance/programs.py" "$data/models" --tier 2 --no-host -O2 --plan-kind carried-products --plan-seed 5
drawn-unaligned|quick|summary|"$python" "$conformance/programs.py" "$data/unaligned" --no-host -O2 --device mock32 --plan-kind carried --plan-seed 3
drawn-failures|long|summary|"$python" "$conformance/programs.py" "$data/failures" --no-host -O2 --device mock32 --plan-kind tiled --plan-seed 4
unaligned-O3-mock4|quick|summary|"$python" "$conformance/programs.py" "$data/unaligned/cases.jsonl.gz" --no-host -O3 --device mock4
tier2-O3-mock4|long|summary|"$python" "$conformance/programs.py" "$data/models" --tier 2 --no-host -O3 --device mock4
tier2-ktir-mock4|long|summary|"$python" "$conformance/programs.py" "$data/models" --tier 2 --no-host -O3 --device mock4 --target ktir
unaligned-ktir-mock4|long|summary|"$python" "$conformance/programs.py" "$data/unaligned/cases.jsonl.gz" --no-host -O3 --device mock4 --target ktir
ops-O3-mock4|long|summary|"$python" "$conformance/programs.py" "$data/ops/cases.jsonl.gz" --no-host -O3 --device mock4
tier2-banded-mock32|quick|summary|"$python" "$conformance/programs.py" "$data/models" --tier 2 --no-host -O2 --device mock32 --plan-kind banded
tier2-banded-carried|quick|summary|"$python" "$conformance/programs.py" "$data/models" --tier 2 --no-host -O2 --device mock32 --plan-kind banded-carried
ops-O3-mock32|long|summary|"$python" "$conformance/programs.py" "$data/ops/cases.jsonl.gz" --no-host -O3 --device mock32
failures-O3-mock32|long|summary|"$python" "$conformance/programs.py" "$data/failures" --no-host -O3 --device mock32
outcomes|long|pytest|$pytest "$conformance/test_outcomes_of_sets.py"
calls|long|pytest|$pytest "$conformance/test_outcomes_of_calls.py"
torch-graphs|long|summary|"$python" "$SPYRE_ROOT/test/fuzz/torch_graphs.py" --seed 1000 --count 40 --jobs $SPYRE_JOBS
constants|long|summary|"$python" "$SPYRE_ROOT/test/fuzz/constants.py" --seed 1000 --count 60 --jobs $SPYRE_JOBS
exact-jumps|long|summary|"$python" "$SPYRE_ROOT/test/fuzz/exact_jumps.py" --seed 1000 --count 40 --jobs $SPYRE_JOBS
user-programs|long|summary|"$python" "$conformance/user_programs.py" "$data/bugs2" --jobs $SPYRE_JOBS
torch-loops|long|summary|"$python" "$SPYRE_ROOT/test/fuzz/torch_loops.py" --seed 1000 --count 20 --jobs $SPYRE_JOBS
torch-state|long|summary|"$python" "$SPYRE_ROOT/test/fuzz/torch_state.py" --seed 1 --count 40 --jobs $SPYRE_JOBS
torch-weights|long|summary|"$python" "$SPYRE_ROOT/test/fuzz/torch_weights.py" --seed 1 --count 20 --jobs $SPYRE_JOBS
torch-processes|long|summary|"$python" "$SPYRE_ROOT/test/fuzz/torch_processes.py" --seed 1 --count 25
layers|long|summary|"$python" "$SPYRE_ROOT/test/e2e/generate_layers.py" --count 200 --jobs $SPYRE_JOBS --out "$logs/layers" --run --no-host --jobs $SPYRE_JOBS
TABLE
  echo "python|quick|pytest|$pytest \"$SPYRE_ROOT/python/test\" --ignore=\"$SPYRE_ROOT/python/test/test_transformers.py\""
  echo "transformers|long|pytest|$pytest \"$SPYRE_ROOT/python/test/test_transformers.py\""
  if compgen -G "$SPYRE_ROOT/test/e2e/test_*.py" >/dev/null; then
    echo "e2e|quick|pytest|$pytest \"$SPYRE_ROOT/test/e2e\""
  fi
}

is_wanted() {
  [ "${#only[@]}" = 0 ] && return 0
  local name
  for name in "${only[@]}"; do [ "$name" = "$1" ] && return 0; done
  return 1
}

if [ "$list" = 1 ]; then
  parts | cut -d '|' -f 1,2 | tr '|' '\t'
  exit 0
fi
for name in ${only[@]+"${only[@]}"}; do
  parts | cut -d '|' -f 1 | grep -qxF "$name" || { echo "error: there is no part '$name'; --list prints them" >&2; exit 2; }
done

passed=0 failed=0 skipped=0
finish() {
  local line="$passed passed, $failed failed"
  [ "$skipped" -gt 0 ] && line="$line, $skipped skipped"
  echo "$line"
  [ "$failed" = 0 ]
  exit
}

started=$SECONDS
# Some of the long parts need PyTorch or more; the others do without.
more=()
if [ "$quick" = 0 ] || [ "${#only[@]}" -gt 0 ]; then
  for name in layers wheel outcomes calls torch-graphs torch-loops torch-state torch-weights torch-processes constants exact-jumps user-programs; do
    is_wanted "$name" && more=(--torch)
  done
  is_wanted transformers && more+=(--transformers)
fi
"$SPYRE_ROOT/utils/install-deps.sh" ${more[@]+"${more[@]}"} || { say "installing failed"; failed=1; finish; }
spyre_build || { say "the build failed"; failed=1; finish; }
say "installed and built in $((SECONDS - started)) s"
llvm_bin=$(spyre_llvm_bin)

mkdir -p "$logs"
rows=()
while IFS='|' read -r name length kind command; do
  is_wanted "$name" || continue
  [ "$quick" = 1 ] && [ "$length" = long ] && [ "${#only[@]}" = 0 ] && continue
  say "$name"
  log=$logs/$name.log
  began=$SECONDS
  (cd "$SPYRE_ROOT" && eval "$command") >"$log" 2>&1 </dev/null
  code=$?
  read -r p f s <<<"$(spyre_totals "$kind" "$log")"
  if [ -z "${p:-}" ]; then
    p=0 f=1 s=0
    echo "   no totals (exit code $code)"
  elif [ "$code" != 0 ] && [ "$f" = 0 ]; then
    f=1
    echo "   exit code $code without a failed test"
  fi
  if [ "$f" != 0 ]; then
    tail -n 40 "$log" | sed 's/^/   /'
  fi
  rows+=("$(printf '%-18s %6d passed %5d failed %5d skipped %6d s   %s' "$name" "$p" "$f" "$s" $((SECONDS - began)) "${log#"$SPYRE_ROOT"/}")")
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done < <(parts)

say "summary, $((SECONDS - started)) s in all"
printf '%s\n' ${rows[@]+"${rows[@]}"}
finish
