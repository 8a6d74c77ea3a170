#!/usr/bin/env bash
# format.sh - Formats the sources, or checks that they are formatted
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# C++ with clang-format (.clang-format), Python with ruff (pyproject.toml of
# this repository, where there is one).

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: utils/format.sh [--check] [FILE ...]

Formats C++ and Python sources in place (all that git knows, or those named).

  --check   change nothing; exit 1 and name the files that are not formatted

example: utils/format.sh --check
TEXT
}

check=0
files=()
for word in "$@"; do
  case $word in
    --check) check=1 ;;
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) files+=("$word") ;;
  esac
done
cd "$SPYRE_ROOT"
if [ "${#files[@]}" = 0 ]; then
  mapfile -t files < <(git ls-files -- '*.h' '*.cpp' '*.c' '*.py' ':!test/data')
fi
cpp=() py=()
for file in ${files[@]+"${files[@]}"}; do
  [ -f "$file" ] || continue # deleted, not yet committed
  case $file in
    *.py) py+=("$file") ;;
    *) cpp+=("$file") ;;
  esac
done

find_tool() {
  local name
  for name in "$@"; do
    if command -v "$name" >/dev/null; then
      command -v "$name"
      return
    fi
  done
  die "none of $* is installed; run utils/install-deps.sh --format"
}

status=0
if [ "${#cpp[@]}" -gt 0 ]; then
  clang_format=$(find_tool clang-format-22 "$(spyre_llvm_bin)/clang-format")
  if [ "$check" = 1 ]; then
    "$clang_format" --dry-run --Werror "${cpp[@]}" || status=1
  else
    "$clang_format" -i "${cpp[@]}"
  fi
fi
if [ "${#py[@]}" -gt 0 ]; then
  ruff=$(find_tool ruff "$(spyre_venv)/bin/ruff")
  if [ "$check" = 1 ]; then
    "$ruff" check --quiet "${py[@]}" || status=1
    "$ruff" format --quiet --check "${py[@]}" || status=1
  else
    "$ruff" check --quiet --fix "${py[@]}" || status=1
    "$ruff" format --quiet "${py[@]}"
  fi
fi
[ "$status" = 0 ] || echo "not formatted; run utils/format.sh" >&2
exit $status
