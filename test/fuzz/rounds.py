# rounds.py - What random testers of the Python front ends share
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A case is a function of its seed; one that fails is printed as a program. The last line
# has the totals.
"""The loop over seeds, and comparing with PyTorch."""

import argparse
import collections
import logging
import pathlib
import sys
import time
import warnings

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

# Errors of a value against the largest of its tensor: a few operations in each type.
LIMITS = {torch.float16: 2e-2, torch.bfloat16: 8e-2, torch.float32: 2e-3}


class Difference(Exception):
    """The compiled program does something else than PyTorch."""


def compare(what, got, want):
    """Raises Difference if two trees of tensors and values differ."""
    flat = torch.utils._pytree.tree_leaves
    got, want = flat(got), flat(want)
    if len(got) != len(want):
        raise Difference(f"{what}: {len(got)} values, PyTorch has {len(want)}")
    for n, (a, b) in enumerate(zip(got, want)):
        if not isinstance(b, torch.Tensor):
            if a != b:
                raise Difference(f"{what} {n} is {a!r}, PyTorch's {b!r}")
            continue
        if a.shape != b.shape or a.dtype != b.dtype:
            raise Difference(f"{what} {n} is {a.dtype} {list(a.shape)}, PyTorch's {b.dtype} {list(b.shape)}")
        if not b.numel():
            continue
        off = (a.double() - b.double()).abs().max().item()
        limit = LIMITS.get(b.dtype, 0) * max(b.double().abs().max().item(), 1e-3)
        if not off <= limit:
            raise Difference(f"{what} {n} is off by {off:.3g}, {limit:.3g} allowed")


def parser(doc):
    made = argparse.ArgumentParser(description=doc)
    made.add_argument("--seed", type=int, default=0, help="of the first case")
    made.add_argument("--count", type=int, default=100)
    made.add_argument("--seconds", type=float, default=0, help="stop then")
    made.add_argument("--print", action="store_true", help="all programs, not just those that fail")
    return made


def quiet():
    torch.set_num_threads(1)
    logging.getLogger("torch").setLevel(logging.CRITICAL)
    warnings.simplefilter("ignore")


def seeds(options):
    began = time.monotonic()
    for seed in range(options.seed, options.seed + options.count):
        if options.seconds and time.monotonic() - began > options.seconds:
            return
        yield seed


def close(outcomes, began):
    """Prints the totals; outcomes: a Counter with "passed", "failed" and reasons for skips."""
    passed, failed = outcomes.pop("passed", 0), outcomes.pop("failed", 0)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())))
    print(f"{time.monotonic() - began:.0f} s")
    print(f"{passed} passed, {failed} failed, {sum(outcomes.values())} skipped", flush=True)
    return 1 if failed else 0


def run(judge, doc):
    """judge(seed): (text, what is wrong or None, "passed", "failed" or why the case says nothing)."""
    options = parser(doc).parse_args()
    import spyre_mlir.dynamo  # noqa: F401

    quiet()
    outcomes, began = collections.Counter(), time.monotonic()
    for seed in seeds(options):
        text, wrong, outcome = judge(seed)
        outcomes[outcome] += 1
        if options.print:
            print(text)
        if wrong:
            print(f"# --- seed {seed}: {wrong}".replace("\n", "\n# ") + f"\n{text}", flush=True)
    return close(outcomes, began)
