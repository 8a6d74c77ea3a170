# judge.py - How the benchmarks turn times into judgements
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Everything here is a function of numbers, so that it is tested without a clock.
# Times are judged by the minimum over the runs: other processes and a cold cache
# only ever add to a run, so the minimum is nearest to what the program itself
# costs; the median is printed beside it and shows how quiet the machine was.
"""Exponents, limits and ratios of measured times."""

import dataclasses
import math
import re


@dataclasses.dataclass(frozen=True)
class Limit:
    """`figure` of `name` must be at most `most`."""

    name: str
    figure: str
    most: float


@dataclasses.dataclass(frozen=True)
class Verdict:
    limit: Limit
    value: float | None  # None: there is no such figure

    @property
    def met(self):
        return self.value is not None and self.value <= self.limit.most

    def __str__(self):
        value = "not measured" if self.value is None else f"{self.value:.3f}"
        return f"{'met   ' if self.met else 'MISSED'} {self.limit.name} {self.limit.figure}: {value} (at most {self.limit.most})"


def exponent(sizes, seconds):
    """The slope of the straight line through (log size, log seconds), by least squares."""
    if len(sizes) != len(seconds) or len(set(sizes)) < 2:
        raise ValueError("an exponent needs times at two sizes at least")
    if min(sizes) <= 0 or min(seconds) <= 0:
        raise ValueError("sizes and times must be positive")
    x, y = [math.log(s) for s in sizes], [math.log(s) for s in seconds]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


def judge(figures, limits):
    """Verdicts; figures: name -> {figure: value}, a missing one misses its limit."""
    return [Verdict(limit, (figures.get(limit.name) or {}).get(limit.figure)) for limit in limits]


def as_rows(verdicts):
    """The verdicts as they stand in bench.json."""
    return [
        {"name": v.limit.name, "figure": v.limit.figure, "most": v.limit.most, "value": v.value, "met": v.met}
        for v in verdicts
    ]


def exit_code(verdicts, failed, busy):
    """1 if something failed to run, or missed its limit on a quiet machine."""
    return 1 if failed or (not busy and not all(verdict.met for verdict in verdicts)) else 0


def ratio(ours, theirs):
    """Ours as a multiple of theirs, or None."""
    return ours / theirs if ours is not None and theirs else None


def largest(parts, count=3):
    """The largest entries of name -> number: (name, number, share of the sum)."""
    total = sum(parts.values())
    order = sorted(parts.items(), key=lambda item: (-item[1], item[0]))[:count]
    return [(name, value, value / total if total else 0.0) for name, value in order]


# A line of MLIR's timing report: seconds, perhaps user seconds before them, and a name.
TIMING_LINE = re.compile(r"^(?: +[0-9.]+ \( *[0-9.]+%\))? +([0-9.]+) \( *[0-9.]+%\) +(\S.*)$", re.M)


def pass_seconds(text):
    """Pass -> seconds of --mlir-timing's reports, summed; pipelines, analyses and totals are left out."""
    result = {}
    for seconds, name in TIMING_LINE.findall(text):
        if name in ("Total", "Rest") or name.startswith("(A) ") or name.endswith(" Pipeline"):
            continue
        result[name] = result.get(name, 0.0) + float(seconds)
    return result
