# test_expanded_reductions.py - Reductions over dims that a value only shows
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A dim that comes from `expand` is in no operand's memory. A sum over it must still
# count it, a mean must not divide twice, and a contraction must find it. Expected
# values are NumPy's over the expanded array.
"""Sums, means and products over expanded dims."""

import itertools
import pathlib
import sys

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from lib.built import run, tool  # noqa: E402


def tensor(shape):
    return f"!torch.vtensor<[{','.join(map(str, shape))}],f16>"


def reduction_text(op, source, shown, dims, result):
    """expand the argument to `shown`, then reduce `dims`."""
    ints = "\n".join(f"    %i{n} = torch.constant.int {n}" for n in sorted({*shown, *dims}))
    sizes, axes = (", ".join(f"%i{n}" for n in part) for part in (shown, dims))
    of = lambda part: f"({', '.join(['!torch.int'] * len(part))}) -> !torch.list<int>"
    tail = f"!torch.list<int>, !torch.bool, !torch.none -> {tensor(result)}"
    return f"""module {{
  func.func @main(%x: {tensor(source)}) -> {tensor(result)} {{
{ints}
    %false = torch.constant.bool false
    %none = torch.constant.none
    %sizes = torch.prim.ListConstruct {sizes} : {of(shown)}
    %y = torch.aten.expand %x, %sizes, %false : {tensor(source)}, !torch.list<int>, !torch.bool -> {tensor(shown)}
    %axes = torch.prim.ListConstruct {axes} : {of(dims)}
    %z = torch.aten.{op} %y, %axes, %false, %none : {tensor(shown)}, {tail}
    return %z : {tensor(result)}
  }}
}}
"""


def check(tmp_path, text, x, expected, level):
    (tmp_path / "p.mlir").write_text(text)
    np.savez(tmp_path / "in.npz", in0=x)
    np.savez(tmp_path / "ex.npz", out0=expected.astype(np.float16), ref0=expected.astype(np.float32))
    files = ("--inputs", tmp_path / "in.npz", "--expect", tmp_path / "ex.npz")
    done = run(tool("spyre-run"), tmp_path / "p.mlir", level, "--check", *files)
    assert done.code == 0, done.err


SHAPES = [
    ((128, 1), (128, 64)),
    ((1, 64), (128, 64)),
    ((7, 1), (7, 65)),
    ((1, 65), (31, 65)),
    ((1, 1), (33, 100)),
    ((1, 32, 64), (3, 32, 64)),
    ((32, 1, 65), (32, 5, 65)),
    ((1, 1, 64), (3, 7, 64)),
]
CASES = [
    (source, shown, dims)
    for source, shown in SHAPES
    for count in range(1, len(shown) + 1)
    for dims in itertools.combinations(range(len(shown)), count)
]


@pytest.mark.parametrize("source, shown, dims", CASES, ids=str)
@pytest.mark.parametrize("op", ["sum.dim_IntList", "mean.dim"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_reduction_of_an_expanded_value(tmp_path, source, shown, dims, op, level):
    rng = np.random.default_rng(len(dims))
    x = (rng.integers(-8, 9, size=source) / 8).astype(np.float16)
    whole = np.broadcast_to(x.astype(np.float64), shown)
    expected = whole.sum(dims) if op.startswith("sum") else whole.mean(dims)
    result = tuple(n for d, n in enumerate(shown) if d not in dims)
    check(tmp_path, reduction_text(op, source, shown, dims, result), x, expected, level)
