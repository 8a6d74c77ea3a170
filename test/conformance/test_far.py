# test_far.py - Operations on tensors that all cores together do not reach
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The device mock4 has four cores that reach 256 KiB of a tensor each: what is larger than 1 MiB, or
# laid out so that a core would need places far apart, is done in parts (spyre-split-far, and tiles over
# time). Sizes just beyond that, of few divisors or ending inside a stick, at all levels, against NumPy.
"""What is beyond the cores' reach is computed in parts, and right, at every level."""

import math

import numpy as np
import pytest
from lib.built import run as finish
from lib.built import tool

ELEMENTS = {"f16": np.float16, "f32": np.float32}
LEVELS = ["-O0", "-O1", "-O2", "-O3"]


def tensor(shape, element):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def dims(extents):
    return ", ".join(f"d{i} = {extent}" for i, extent in enumerate(extents))


def place(*coordinates):
    return "[" + ", ".join(str(c) if isinstance(c, str) else f"d{c}" for c in coordinates) + "]"


class Case:
    """A program of one operation, what it is given and what it must make."""

    def __init__(self, name, element, arguments, result, body, expected, bound):
        self.name, self.arguments, self.expected, self.bound = name, arguments, expected, bound
        types = [tensor(x.shape, element) for x in arguments]
        parameters = ", ".join(f"%{i}: {text}" for i, text in enumerate(types))
        out = tensor(result, element)
        self.text = f"func.func @main({parameters}) -> {out} {{\n  %r = {body} : {', '.join(types)} -> {out}\n  return %r : {out}\n}}\n"


def draw(shape, element):
    """Numbers that every format has; sums of few of them are exact."""
    rng = np.random.default_rng(math.prod(shape))
    return (rng.integers(-8, 9, shape) / 8).astype(ELEMENTS[element])


def pointwise(shape, element, other):
    """x + y, where y has one element along some dims."""
    x, y = draw(shape, element), draw(other, element)
    at = place(
        *("0" if size == 1 and whole > 1 else i for i, (size, whole) in enumerate(zip(other, shape, strict=True)))
    )
    every = place(*range(len(shape)))
    body = f"spyre.add ({dims(shape)}) ins(%0{every}, %1{at}) -> {every}"
    return Case(f"add-{element}-{shape}-{other}", element, [x, y], shape, body, x.astype(float) + y, 2**-9)


def transpose(shape, element, order):
    x, result = draw(shape, element), tuple(shape[dim] for dim in order)
    body = (
        f"spyre.identity ({dims(result)}) ins(%0{place(*(order.index(i) for i in range(len(shape))))})"
        f" -> {place(*range(len(shape)))}"
    )
    return Case(f"transpose-{element}-{shape}-{order}", element, [x], result, body, x.transpose(order), 0)


def reduction(shape, element, opfunc, along):
    x, result = draw(shape, element), tuple(1 if i == along else size for i, size in enumerate(shape))
    make = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min}[opfunc]
    constants = f" constants {{scaling_factor = {1 / shape[along]!r} : f64}}" if opfunc == "mean" else ""
    body = (
        f"spyre.{opfunc} ({dims(shape)}) ins(%0{place(*range(len(shape)))})"
        f" -> {place(*('0' if i == along else i for i in range(len(shape))))}{constants}"
    )
    bound = 0 if opfunc in ("max", "min") else 2**-7
    return Case(
        f"{opfunc}-{element}-{shape}-{along}",
        element,
        [x],
        result,
        body,
        make(x.astype(float), along, keepdims=True),
        bound,
    )


def product(rows, inner, columns, turned=False, batch=()):
    x, w = (
        draw((*batch, rows, inner), "f16"),
        draw((*batch, *((columns, inner) if turned else (inner, columns))), "f16"),
    )
    b = range(len(batch))
    m, n, k = (len(batch) + i for i in range(3))
    body = (
        f"spyre.batchmatmul ({dims((*batch, rows, columns, inner))})"
        f" ins(%0{place(*b, m, k)}, %1{place(*b, *((n, k) if turned else (k, n)))}) -> {place(*b, m, n)}"
    )
    expected = x.astype(float) @ (w.swapaxes(-1, -2) if turned else w).astype(float)
    name = f"product-{(*batch, rows, inner, columns)}" + ("-turned" if turned else "")
    return Case(name, "f16", [x, w], expected.shape, body, expected, 2**-7)


CASES = [
    # Elementwise: sizes of few divisors, ends inside a stick, vectors, broadcast operands.
    *(pointwise(shape, e, shape) for e in ELEMENTS for shape in [(768, 1100), (1009, 643), (1, 700001), (3, 401, 500)]),
    *(pointwise((1000, 999), e, other) for e in ELEMENTS for other in [(1, 999), (1000, 1)]),
    pointwise((40000, 20), "f32", (40000, 20)),
    pointwise((2, 3, 350, 300), "f16", (1, 3, 1, 300)),
    # What is turned, from and to sizes of whole sticks and others.
    *(transpose(shape, e, (1, 0)) for e in ELEMENTS for shape in [(1024, 1024), (769, 1100), (40, 20000), (1031, 705)]),
    transpose((20001, 65), "f16", (1, 0)),
    *(transpose((16, 300, 200), e, order) for e in ELEMENTS for order in [(0, 2, 1), (2, 0, 1)]),
    transpose((3, 400, 500), "f16", (2, 1, 0)),
    transpose((2, 64, 70, 100), "f16", (1, 0, 3, 2)),
    # Reductions of the stick dim, and of others.
    *(reduction((1000, 999), e, opfunc, along) for e in ELEMENTS for opfunc in ("sum", "max") for along in (0, 1)),
    *(reduction((5, 401, 300), "f16", "sum", along) for along in (0, 1, 2)),
    reduction((20, 40000), "f16", "mean", 1),
    reduction((40000, 20), "f32", "mean", 0),
    reduction((40000, 20), "f16", "min", 0),
    reduction((1, 700001), "f32", "sum", 1),
    # Products whose rows, columns or contracted dim are far.
    product(33, 4100, 130),
    product(33, 4100, 70, turned=True),
    product(5001, 65, 65),
    product(16, 65, 8193),
    product(1, 5000, 130),
    product(33, 6000, 1),
    product(8, 4096, 2048, turned=True),
    product(33, 2100, 100, turned=True, batch=(3,)),
    product(300, 64, 1100, batch=(2,)),
]


def mlp(rows, width, hidden):
    """silu(x w0') * (x w1') w2', with weights as PyTorch has them: all three have to be turned."""
    x, w, v, u = (
        draw((rows, width), "f16"),
        *(draw(shape, "f16") / 64 for shape in [(hidden, width)] * 2 + [(width, hidden)]),
    )
    gate, up = (x.astype(float) @ weight.T.astype(float) for weight in (w, v))
    case = Case(
        "mlp", "f16", [x, w, v, u], (rows, width), "", (gate / (1 + np.exp(-gate)) * up) @ u.T.astype(float), 2**-6
    )
    types = [tensor(each.shape, "f16") for each in case.arguments]
    made = tensor((rows, hidden), "f16")
    first = (
        f"({dims((rows, hidden, width))}) ins(%0[d0, d2], %{{}}[d1, d2]) -> [d0, d1] : {types[0]}, {types[1]} -> {made}"
    )
    case.text = f"""func.func @main({", ".join(f"%{i}: {text}" for i, text in enumerate(types))}) -> {types[0]} {{
  %a = spyre.batchmatmul {first.format(1)}
  %b = spyre.silu ({dims((rows, hidden))}) ins(%a[d0, d1]) -> [d0, d1] : {made} -> {made}
  %c = spyre.batchmatmul {first.format(2)}
  %d = spyre.mul ({dims((rows, hidden))}) ins(%b[d0, d1], %c[d0, d1]) -> [d0, d1] : {made}, {made} -> {made}
  %e = spyre.batchmatmul ({dims((rows, width, hidden))}) ins(%d[d0, d2], %3[d1, d2]) -> [d0, d1] : {made}, {types[3]} -> {types[0]}
  return %e : {types[0]}
}}
"""
    return case


CASES += [mlp(16, 1024, 2816), mlp(300, 512, 1100)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", ""))
def test_beyond_reach(tmp_path, case):
    program, inputs, outputs = tmp_path / "program.mlir", tmp_path / "in.npz", tmp_path / "out.npz"
    program.write_text(case.text)
    np.savez(inputs, **{f"in{i}": x for i, x in enumerate(case.arguments)})
    expected = case.expected.astype(float)
    scale = np.maximum(np.sqrt(np.mean(expected**2)), np.abs(expected))
    for level in LEVELS:
        outputs.unlink(missing_ok=True)
        done = finish(
            tool("spyre-run"), program, level, "--device", "mock4", "--check", "--inputs", inputs, "--outputs", outputs
        )
        assert done.code == 0, f"{level}: {done.err}"
        result = np.load(outputs)["out0"].astype(float)
        assert result.shape == expected.shape
        error = np.abs(result - expected)
        assert (error <= case.bound * scale).all(), f"{level}: {(error / scale).max()}"
