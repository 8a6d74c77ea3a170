#!/usr/bin/env python3
# outcomes.py - What became of every program, by torch operation
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reads what the runners' `--json` wrote, and the cases that programs.py ran, and
# writes Markdown tables: outcomes of each data set, and outcomes by operation. A
# program counts for each operation of its text; a refused one also for the
# operations that the refusal blames, which is what to work on. These are the host
# calls that its class does not allow, or the operations at whose lines its
# diagnostics point; such texts are compiled again to read them. Cases of ops.py and
# opinfo.py are calls of one operation each, and counted by it.
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

Written by `test/conformance/outcomes.py` from runs of the conformance runners with `--host=torch` ([how](testing.md)). *right*: within
the stated tolerance of PyTorch's numbers; *refused*: a report and no program, or right numbers with host calls that the case's class
does not allow; *wrong*: another number; *crashed*: also out of time. *device*: share of the operations that ran on the device; the others
were host calls. *alone*: cases that ran without a host call. Skipped cases (`skips.json` has the reasons) do not count.

## Data sets

"""
OPERATIONS = """

## Operations

Programs of `programs.py`; a case counts for each operation of its text. *blamed*: refused cases whose report points at the operation;
the other refused cases of a row are refused for something else in them. *host*: cases in which the operation ran on the host.

"""
CALLS = """

## Calls

Calls of single operations, as `ops.py` (traces of tests, calls of models) and `opinfo.py` (PyTorch's operator database) make them. Listed
are those of which a case was not right or used the host.

"""
ALONE = """

Always right and on the device alone: """
OTHERS = "\n\n## Refusals that point at no operation\n\n"
COLUMNS = (harness.RIGHT, harness.REFUSED, harness.WRONG, harness.CRASHED)
PLACE = re.compile(r"\.mlir:(\d+):\d+: (?:error|note): ")


def column(outcome):
    """Out of time counts as crashed: neither number nor report."""
    return harness.CRASHED if outcome == harness.TIMEOUT else outcome


def read_set(text):
    """NAME=RESULTS.json[=CASES] -> (name, rows of the results, name of a case -> Case, or None for calls)."""
    parts = text.split("=")
    if len(parts) not in (2, 3):
        raise harness.UsageError(f"'{text}' is not NAME=RESULTS.json[=CASES]")
    name, results, *cases = parts
    rows = json.loads(pathlib.Path(results).read_text())
    rows = [row for row in rows if row["outcome"] != harness.SKIPPED]
    if not cases:
        return name, rows, None
    collected = programs.collect(argparse.Namespace(paths=cases, target="superdsc"))
    return name, rows, {case.name: case for case in collected}


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
        return harness.run_process([tool, source, "-o", pathlib.Path(folder) / "out", "--host=any"], 120).err


def examine(tool, case, row):
    """(operations of the text, those that its refusal blames, its reason if it blames none)."""
    program, _ = case.load()
    operations = tolerance.traits_of_text(program.text).operations
    if row["outcome"] != harness.REFUSED:
        return operations, set(), None
    if "does not allow the host calls: " in row["reason"]:
        names = row["reason"].rpartition(": ")[2].split(", ")
        return operations, set(map(tolerance.base_name, names)), None
    messages = refusal_of(tool, program)
    blamed = blamed_operations(messages, program.text)
    return operations, blamed, None if blamed else first_reason(messages)


class Total:
    """What became of some cases, and how much of them was the device's."""

    def __init__(self):
        self.outcomes = collections.Counter()
        self.device = self.host = self.alone = 0

    def add(self, row):
        self.outcomes[column(row["outcome"])] += 1
        calls = sum((row.get("host_calls") or {}).values())
        self.host += calls
        self.device += row.get("device_ops") or 0
        self.alone += row["outcome"] == harness.RIGHT and not calls

    def share(self):
        """Share of the operations that ran on the device, as a text."""
        whole = self.device + self.host
        return f"{100 * self.device / whole:.0f} %" if whole else ""

    def cells(self):
        return [sum(self.outcomes.values()), *[self.outcomes[c] for c in COLUMNS], self.alone, self.share()]


def tabulate(sets, tool, jobs):
    """Totals of each set, counts by operation of programs, reasons that blame none, totals by operation of calls."""
    totals, calls = collections.defaultdict(Total), collections.defaultdict(Total)
    by_operation = collections.defaultdict(collections.Counter)
    reasons = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for name, rows, cases in sets:
            for row in rows:
                totals[name].add(row)
                if cases is None:
                    calls[row["group"]].add(row)
            if cases is None:
                continue
            seen = pool.map(lambda row: examine(tool, cases[row["case"]], row), rows)  # noqa: B023
            for row, (operations, blamed, reason) in zip(rows, seen):
                for operation in operations:
                    by_operation[operation][column(row["outcome"])] += 1
                for operation in blamed:
                    by_operation[operation]["blamed"] += 1
                for operation in map(tolerance.base_name, row.get("host_calls") or {}):
                    by_operation[operation]["host"] += 1
                if reason:
                    reasons[reason] += 1
    return totals, by_operation, reasons, calls


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def write(totals, by_operation, reasons, calls):
    more = ["alone", "device"]
    text = INTRODUCTION + table(["cases", "all", *COLUMNS, *more], [[n, *t.cells()] for n, t in totals.items()])
    order = sorted(
        by_operation.items(),
        key=lambda item: (-item[1]["blamed"], -item[1][harness.REFUSED], -item[1]["host"], item[0]),
    )
    operations = [[f"`{n}`", count["blamed"], *[count[c] for c in COLUMNS], count["host"]] for n, count in order]
    text += OPERATIONS + table(["operation", "blamed", *COLUMNS, "host"], operations)
    others = [
        [reason.replace("|", "\\|"), count] for reason, count in sorted(reasons.items(), key=lambda r: (-r[1], r[0]))
    ]
    text += OTHERS + (table(["message", "cases"], others) if others else "None.")
    if calls:
        good = lambda total: total.alone == sum(total.outcomes.values())
        wanting = sorted((name, total) for name, total in calls.items() if not good(total))
        rows = [[f"`{name}`", *total.cells()] for name, total in wanting]
        text += CALLS + table(["operation", "all", *COLUMNS, *more], rows)
        text += ALONE + (", ".join(f"`{name}`" for name in sorted(calls) if good(calls[name])) or "none") + "."
    return text + "\n"


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="outcomes.py",
        description=__doc__,
        epilog="example: outcomes.py bugs=bugs.json=test/data/bugs -o docs/developer/outcomes.md",
    )
    parser.add_argument(
        "sets",
        nargs="+",
        metavar="NAME=RESULTS.json[=CASES]",
        help="results of a runner; of programs.py: and what it ran",
    )
    parser.add_argument("-o", "--output", type=pathlib.Path, help="Markdown file to write (default: standard output)")
    parser.add_argument(
        "--jobs", type=harness.positive, default=os.cpu_count() or 1, metavar="N", help="compilations at a time"
    )
    harness.add_build_flag(parser)
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
