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
import concurrent.futures
import functools
import itertools
import logging
import multiprocessing
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


def compare(what, got, want, slack=0.0):
    """Raises Difference if two trees of tensors and values differ; slack: what a value may be off by in any case."""
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
        limit = slack + LIMITS.get(b.dtype, 0) * max(b.double().abs().max().item(), 1e-3)
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


def _start():
    """Makes a process ready to judge."""
    import spyre_mlir.dynamo  # noqa: F401

    quiet()


def _judged(judge, options):
    """(seed, what judge says of it), in the order of seeds."""
    if options.jobs == 1:
        _start()
        yield from ((seed, judge(seed)) for seed in seeds(options))
        return
    left = seeds(options)
    context = multiprocessing.get_context("spawn")  # threads do not live on in a fork
    with concurrent.futures.ProcessPoolExecutor(options.jobs, context, _start) as pool:
        # In batches, as the time may be up.
        while batch := list(itertools.islice(left, 8 * options.jobs)):
            yield from zip(batch, pool.map(judge, batch))


def run(judge, doc, **numbers):
    """judge(seed, ...): (text, what is wrong or None, "passed", "failed" or why the case says nothing).

    numbers: its further arguments, each an option: (default, help).
    """
    made = parser(doc)
    made.add_argument("--jobs", type=int, default=1, help="processes")
    for name, (default, text) in numbers.items():
        made.add_argument("--" + name, type=int, default=default, help=text)
    options = made.parse_args()
    judge = functools.partial(judge, **{name: getattr(options, name) for name in numbers})
    outcomes, began = collections.Counter(), time.monotonic()
    for seed, (text, wrong, outcome) in _judged(judge, options):
        outcomes[outcome] += 1
        if options.print:
            print(text)
        if wrong:
            print(f"# --- seed {seed}: {wrong}".replace("\n", "\n# ") + f"\n{text}", flush=True)
    return close(outcomes, began)
