#!/usr/bin/env bash
# asan.sh - The tests under AddressSanitizer and UndefinedBehaviorSanitizer
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds preset `asan` and runs the parts of check.sh that execute our own code on
# valid and on damaged input. Not part of check.sh: building the whole stack
# instrumented and running it takes longer than everything else together
# (docs/developer/building.md has the time).

set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
  cat <<'TEXT'
usage: utils/asan.sh [PART ...]

Builds with the sanitizers and runs parts of utils/check.sh (default: lit, unit,
bad-input, bundles, tier1-O2, unaligned-O2, fuzz, fuzz-targets); the last line is
`N passed, N failed` (`, N skipped`).

example: utils/asan.sh unit fuzz
TEXT
}
case ${1:-} in
  -h | --help) usage; exit 0 ;;
  -*) usage >&2; exit 2 ;;
esac

export SPYRE_PRESET=asan SPYRE_BUILD=${SPYRE_BUILD:-$here/../build-asan}
# LLVM and MLIR are not instrumented: containers and arenas that they fill are not
# annotated, and their registries live until the process ends, which counts as leaks.
# Running out of memory is an error that programs report themselves.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0:detect_container_overflow=0:detect_odr_violation=0:allocator_may_return_null=1:allow_user_poisoning=0}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}
[ "$#" -gt 0 ] || set -- lit unit bad-input bundles tier1-O2 unaligned-O2 fuzz fuzz-targets
exec "$here/check.sh" "$@"
