#!/usr/bin/env python3
# exact_jumps.py - Random programs that decide by the last bit of their f16 arguments
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The device's 16-bit format has one bit of fraction less than f16. A program here moves
# its arguments, chooses among their elements, doubles them, and then does something whose
# result jumps where an operand changes by its last bit: comparisons, roundings, places of
# extremes, sorting, masks, counts, differences, or widens them and goes on in f32. The
# arguments are neighbours in f16, around the numbers that the program compares with, so
# that nearly every lost bit shows. PyTorch's answer must come out exactly (of f32
# results: up to f32's rounding). A case is a function of its seed number alone.
"""Fuzz test of what programs decide by, against PyTorch."""

import random
import sys
import traceback

import rounds
import torch
import torch.nn.functional as nn

H = torch.float16


def neighbours(rng, shape, around):
    """f16 numbers a few last bits from those of `around`, some of them equal."""
    count = 1
    for size in shape:
        count *= size
    codes = [
        torch.tensor(rng.choice(around), dtype=H).view(torch.int16).item() + rng.randint(-2, 2) for _ in range(count)
    ]
    x = torch.tensor(codes, dtype=torch.int16).view(H).reshape(shape)
    signs = torch.tensor([rng.choice([1, 1, 1, -1]) for _ in range(count)], dtype=H).reshape(shape)
    return x * signs


MOVES = {
    "{x}.transpose(-1, -2).contiguous()": lambda s: (*s[:-2], s[-1], s[-2]),
    "{x}.flip(-1)": lambda s: s,
    "torch.cat([{x}, {x}.flip(0)], -1)": lambda s: (*s[:-1], 2 * s[-1]),
    "{x}[..., 1:]": lambda s: (*s[:-1], s[-1] - 1),
    "{x}[:, :, None].expand(-1, -1, 2).reshape({x}.shape[0], -1)": lambda s: (s[0], 2 * s[1]),
    "{x}.abs()": lambda s: s,
    "(-{x})": lambda s: s,
    "({x} * 2)": lambda s: s,
    "({x} * 0.5)": lambda s: s,
    "nn.relu({x})": lambda s: s,
    "torch.maximum({x}, {x}.flip(-1))": lambda s: s,
    "{x}.roll(1, -1)": lambda s: s,
    "{x}.clone()": lambda s: s,
    "{x}.clamp(-3, 1030)": lambda s: s,
    "nn.hardtanh({x}, 0.25, 2.5)": lambda s: s,
    "nn.threshold({x}, 0.1, 3.0)": lambda s: s,
    "torch.where({x} >= 1, {x}, -{x})": lambda s: s,
}
# Exact in any format: bools, integers and f16 numbers that are rounded to them.
JUMPS = [
    "{x} >= {c}", "{x} < {c}", "{x} == {c}", "{x} != {c}", "{x} > {y}", "{x} <= {y}", "{x} == {y}", "{x} != {y}",
    "{x}.floor()", "{x}.ceil()", "{x}.round()", "{x}.trunc()", "{x} - {x}.floor()", "{x}.frac()", "{x}.sign()",
    "torch.where({x} > {y}, 1.0, 0.0)", "torch.where({x} >= {c}, {x} > {y}, {x} < {y})", "({x} >= {c}).sum()",
    "({x} >= {c}).sum(-1)", "({x} > {y}).float().mean()", "{x}.argmax(-1)", "{x}.argmin(0)", "{x}.sort(-1).indices",
    "({x}.unsqueeze(-1) > torch.tensor([-{c}, {c}], dtype=H)).sum(-1)", "{x} >= torch.tensor([{c}, -{c}], dtype=H).amax()",
    "{x}.topk(2, -1).indices", "{x} == {x}.amax(-1, keepdim=True)", "{x} == {x}.amin(0, keepdim=True)",
    "{x}.max(-1).indices", "torch.bucketize({x}, torch.tensor([-{c}, {c}], dtype=H))", "{x} - {y}",
    "({x} == {y}).any(-1)", "({x} >= {c}) & ({y} < {c})", "{x}.masked_fill({x} < {c}, 0.0) != 0",
    "{x}.unique()", "({x} > {c}).to(torch.int32)", "({x} >= {c}).nonzero().shape[0] + {x}.argmax()",
    "{x}.isclose({y}, rtol=0, atol=0)", "torch.eq({x}, {y}).to(H)", "{x}.float() >= {c}", "{x}.float().floor()",
    "{x} > torch.tensor({c}, dtype=H)",
]  # fmt: skip
# f32's accuracy from the arguments on.
WIDENED = [
    "{x}.float() * 3", "({x}.float() - {y}.float()) * 7", "nn.softmax({x}, -1, dtype=torch.float32)", "{x}.float().mean(-1)",
    "({x}.float() * 0.001).exp()", "{x}.float().var(-1)",
    "torch.outer({x}.flatten().float(), torch.tensor([1.0, 0.1]))", "({x}.float() / 3).square().sum(0)", "{x}.sum(-1, dtype=torch.float32)",
]  # fmt: skip


class Case:
    def __init__(self, seed):
        rng = self.rng = random.Random(seed)
        shape = (rng.choice([1, 3, 4, 5]), rng.choice([2, 7, 16, 33, 64, 70]))
        self.c = rng.choice([0.5, 1.0, 0.1, 3.0, 1025.0, 2047.0, 0.5 - 2**-12, 1 + 2**-10])
        self.around = [self.c, rng.choice([0.5, 1.0, 2.0, 1024.0, 1023.5, 5.5, 0.333])]
        self.shape = shape
        lines, names, shapes = [], {"x": "x", "y": "y"}, {"x": shape, "y": shape}
        for n in range(rng.randint(0, 3)):
            move = rng.choice([m for m in MOVES if MOVES[m](shapes["x"])[-1] >= 2])
            for which in "xy":
                lines.append(f"    {which}{n} = {move.format(x=names[which])}")
                names[which] = f"{which}{n}"
                shapes[which] = MOVES[move](shapes[which])
        results = []
        self.widened = []
        for _ in range(rng.randint(1, 3)):
            widened = rng.random() < 0.25
            self.widened.append(widened)
            results.append(rng.choice(WIDENED if widened else JUMPS).format(c=self.c, **names))
        if rng.random() < 0.3:  # something that reads the 16-bit form
            self.widened.append(None)
            results.append(f"torch.tanh({names['x']} * 0.01)")
        self.results = results
        self.text = "def f(x, y):\n" + "\n".join([*lines, f"    return ({', '.join(results)},)"])

    def arguments(self, seed):
        rng = random.Random(seed)
        return [neighbours(rng, self.shape, self.around) for _ in range(2)]


def compare(case, got, expected, arguments):
    for n, (a, b, widened) in enumerate(zip(got, expected, case.widened)):
        what = f"result {n} of {arguments}" if b.numel() < 40 else f"result {n}"
        if a.dtype != b.dtype or a.shape != b.shape:
            raise AssertionError(f"{what} is {a.dtype} {list(a.shape)}, PyTorch's {b.dtype} {list(b.shape)}")
        if widened is None:
            if ((a - b).abs() > 0.01).any():
                raise AssertionError(f"{what}: {a} is far from {b}")
        elif widened or (b.dtype == torch.float32):
            limit = 2e-5 * b.double().pow(2).mean().sqrt().clamp_min(1e-6)
            if ((a.double() - b.double()).abs() > limit).any():
                raise AssertionError(
                    f"{what}: off by {(a.double() - b.double()).abs().max().item()}, {limit.item()} allowed"
                )
        elif not torch.equal(a, b):
            # A difference is computed, not chosen: it is rounded to the device's format.
            rounded = " - " in case.results[n] or "frac" in case.results[n]
            if rounded and torch.allclose(a.float(), b.float(), rtol=2**-9, atol=0):
                continue
            raise AssertionError(
                f"{what}: {a[a != b].flatten()[:8].tolist()}, PyTorch's {b[a != b].flatten()[:8].tolist()}"
            )


def judge(seed):
    case = Case(seed)
    scope = {"torch": torch, "nn": nn, "H": H}
    exec(case.text, scope)  # noqa: S102
    f, rng = scope["f"], case.rng
    import spyre_mlir

    options = {"threads": 1, "check": rng.random() < 0.3}
    where = "torch.compile"
    try:
        with torch.no_grad():
            torch._dynamo.reset()
            compiled = torch.compile(f, backend="spyre", options=options)
            for number in (seed, seed + 1000):
                arguments = case.arguments(number)
                try:
                    expected = f(*arguments)
                except RuntimeError:
                    return case.text, None, "refused by PyTorch"
                compare(case, compiled(*arguments), expected, arguments)
            if rng.random() < 0.5:
                where = "spyre_mlir.compile"
                arguments = case.arguments(seed + 2)
                try:
                    program = spyre_mlir.compile(f, *arguments, cache=False, **options)
                except (spyre_mlir.ExportError, spyre_mlir.CompileError) as error:
                    if "host" not in str(error) and "unique" not in case.text and "nonzero" not in case.text:
                        raise
                    return case.text, None, "refused by spyre_mlir.compile"
                got = program(*arguments)
                compare(case, got if isinstance(got, tuple) else (got,), f(*arguments), arguments)
    except Exception as error:  # noqa: BLE001
        kind = "" if isinstance(error, AssertionError) else traceback.format_exc()[-1200:]
        return case.text, f"{where}: {type(error).__name__}: {str(error)[:1200]}\n{kind}", "failed"
    return case.text, None, "passed"


if __name__ == "__main__":
    sys.exit(rounds.run(judge, __doc__))
