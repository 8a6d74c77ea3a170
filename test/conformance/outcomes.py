#!/usr/bin/env python3
# outcomes.py - What became of every program, by torch operation
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reads what `programs.py --json` wrote and the cases that it ran, and writes two
# Markdown tables: outcomes of each data set, and outcomes by operation. A case
# counts for each operation of its text; a refused one also for the operations
# that the refusal blames, which is what to work on. These are the operations at
# whose lines its diagnostics point; the texts are compiled again to read them.
"""Table of outcomes (right, refused, wrong, crashed) by torch operation."""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import sys
import tempfile

import programs

from lib import harness, tolerance

INTRODUCTION = """\
# Outcomes by operation

Written by `test/conformance/outcomes.py` from runs of `programs.py --json` ([how](testing.md)). *right*: within the stated
tolerance of PyTorch's numbers; *refused*: a report, no program; *wrong*: another number; *crashed*: also out of time.

## Data sets

"""
OPERATIONS = """

## Operations

A case counts for each operation of its text. *blamed*: refused cases whose report points at the operation; the other refused
cases of a row are refused for something else in them.

"""
OTHERS = "\n\n## Refusals that point at no operation\n\n"
COLUMNS = (harness.RIGHT, harness.REFUSED, harness.WRONG, harness.CRASHED)
PLACE = re.compile(r"\.mlir:(\d+):\d+: (?:error|note): ")


def column(outcome):
    """Out of time counts as crashed: neither number nor report."""
    return harness.CRASHED if outcome == harness.TIMEOUT else outcome


def read_set(text):
    """NAME=RESULTS.json=CASES -> (name, rows of the results, name of a case -> Case)."""
    parts = text.split("=")
    if len(parts) != 3:
        raise harness.UsageError(f"'{text}' is not NAME=RESULTS.json=CASES")
    name, results, cases = parts
    collected = programs.collect(argparse.Namespace(paths=[cases], target="superdsc"))
    return name, json.loads(pathlib.Path(results).read_text()), {case.name: case for case in collected}


def blamed_operations(messages, text):
    """Operations in the lines of a text at which the diagnostics of a refusal point."""
    lines, found = text.splitlines(), set()
    for match in PLACE.finditer(messages):
        line = lines[int(match[1]) - 1 : int(match[1])]
        if line and "func.func" not in line[0]:
            found.update(tolerance.traits_of_text(line[0]).operations)
    return found


def first_reason(messages):
    """Where a refusal blames no operation: its first error without place, name and numbers."""
    line = next((line for line in messages.splitlines() if "error: " in line), "no message").split("error: ", 1)[1:]
    reason = line[0] if line else "no message"
    reason = re.sub(r"'[^']*'", "…", reason)
    return re.sub(r"\d+", "N", reason).strip()


def refusal_of(tool, program):
    """All messages of compiling a text again."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "program.mlir"
        source.write_text(program.text)
        return harness.run_process([tool, source, "-o", pathlib.Path(folder) / "out"], 120).err


def examine(tool, case, outcome):
    """(operations of the text, those that its refusal blames, its reason if it blames none)."""
    program, _ = case.load()
    operations = tolerance.traits_of_text(program.text).operations
    if outcome != harness.REFUSED:
        return operations, set(), None
    messages = refusal_of(tool, program)
    blamed = blamed_operations(messages, program.text)
    return operations, blamed, None if blamed else first_reason(messages)


def tabulate(sets, tool, jobs):
    totals = {name: collections.Counter() for name, _, _ in sets}
    by_operation = collections.defaultdict(collections.Counter)
    reasons = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for name, rows, cases in sets:
            rows = [row for row in rows if row["outcome"] != harness.SKIPPED]
            seen = pool.map(lambda row: examine(tool, cases[row["case"]], row["outcome"]), rows)  # noqa: B023
            for row, (operations, blamed, reason) in zip(rows, seen):
                outcome = column(row["outcome"])
                totals[name][outcome] += 1
                for operation in operations:
                    by_operation[operation][outcome] += 1
                for operation in blamed:
                    by_operation[operation]["blamed"] += 1
                if reason:
                    reasons[reason] += 1
    return totals, by_operation, reasons


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def write(totals, by_operation, reasons):
    sets = [[name, sum(count.values()), *[count[c] for c in COLUMNS]] for name, count in totals.items()]
    order = sorted(by_operation.items(), key=lambda item: (-item[1]["blamed"], -item[1][harness.REFUSED], item[0]))
    operations = [[f"`{name}`", count["blamed"], *[count[c] for c in COLUMNS]] for name, count in order]
    others = [
        [reason.replace("|", "\\|"), count] for reason, count in sorted(reasons.items(), key=lambda r: (-r[1], r[0]))
    ]
    text = INTRODUCTION + table(["cases", "all", *COLUMNS], sets)
    text += OPERATIONS + table(["operation", "blamed", *COLUMNS], operations)
    return text + OTHERS + (table(["message", "cases"], others) if others else "None.") + "\n"


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="outcomes.py",
        description=__doc__,
        epilog="example: outcomes.py bugs=bugs.json=test/data/bugs -o docs/developer/outcomes.md",
    )
    parser.add_argument(
        "sets", nargs="+", metavar="NAME=RESULTS.json=CASES", help="results of programs.py, and what it ran"
    )
    parser.add_argument("-o", "--output", type=pathlib.Path, help="Markdown file to write (default: standard output)")
    parser.add_argument(
        "--jobs", type=harness.positive, default=os.cpu_count() or 1, metavar="N", help="compilations at a time"
    )
    parser.add_argument(
        "--build",
        default=os.environ.get("SPYRE_BUILD") or str(harness.REPOSITORY / "build"),
        metavar="DIR",
        help="build folder (default: $SPYRE_BUILD, else build)",
    )
    options = parser.parse_args(argv)
    try:
        sets = [read_set(text) for text in options.sets]
        tool = harness.Tools(options.build)("spyre-compile")
        text = write(*tabulate(sets, tool, options.jobs))
    except (harness.UsageError, OSError, ValueError, KeyError) as error:
        print(f"outcomes.py: error: {error}", file=sys.stderr)
        return 2
    if options.output:
        options.output.write_text(text)
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
