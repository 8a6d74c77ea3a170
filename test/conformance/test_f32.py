# test_f32.py - Products and functions of f32, and what precision= makes of 16-bit types
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The bounds are those of docs/developer/numerics.md: of a product, units of 2^-24 of sum |x||w|; of a
# function, units of 2^-24 of its value. Everything is compared with NumPy's or Python's float64, in
# checked mode.
"""f32 programs are as good on the device as f32 is."""

import math

import numpy as np
import pytest
from lib.built import run, tool

UNIT = 2.0**-24


def execute(folder, text, arrays, *flags):
    (folder / "p.mlir").write_text(text)
    np.savez(folder / "in.npz", **{f"in{i}": x for i, x in enumerate(arrays)})
    done = run(
        tool("spyre-run"),
        folder / "p.mlir",
        "--check",
        "--inputs",
        folder / "in.npz",
        "--outputs",
        folder / "out.npz",
        *flags,
    )
    assert done.code == 0, done.err
    return np.load(folder / "out.npz")["out0"]


def tensor(shape, element="f32"):
    return "tensor<" + "".join(f"{size}x" for size in shape) + element + ">"


def product(x, w, result, element="f32", form="matmul"):
    types = f"{tensor(x.shape, element)}, {tensor(w.shape, element)} -> {tensor(result, element)}"
    return f"""func.func @main(%x: {tensor(x.shape, element)}, %w: {tensor(w.shape, element)}) -> {tensor(result, element)} {{
  %0 = spyre.{form} %x, %w : {types}
  return %0 : {tensor(result, element)}
}}
"""


def normal(rng, *shape):
    return rng.standard_normal(shape)


def far_rows(rng, rows, inner):
    """Rows from the smallest normal numbers to 2^60."""
    return normal(rng, rows, inner) * np.exp2(np.linspace(-120, 60, rows))[:, None]


def outliers(rng, rows, inner):
    """One number in each row stands out, as activations do."""
    x = normal(rng, rows, inner)
    x[:, inner // 3] *= 4096
    return x


def cancelling(rng, rows, inner):
    """The second half takes back the first, but for a little."""
    x = normal(rng, rows, inner // 2)
    return np.concatenate([x, -x * (1 + 2.0**-12 * normal(rng, rows, inner // 2))], 1)


def denormal(rng, rows, inner):
    return normal(rng, rows, inner) * 2.0**-130


MAKERS = {make.__name__: make for make in (normal, far_rows, outliers, cancelling, denormal)}
SHAPES = [(4, 64, 128), (33, 100, 70), (3, 784, 10), (65, 130, 257), (128, 64, 1000), (1, 96, 200), (40, 320, 1)]


@pytest.mark.parametrize("level,form", [("-O0", "matmul"), ("-O2", "matmul"), ("-O2", "linear")])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("make", MAKERS)
def test_products_are_as_good_as_f32(tmp_path, make, shape, level, form):
    """form: linear has its second factor transposed, and few rows are the SIMD units' there."""
    rows, inner, columns = shape
    rng = np.random.default_rng(rows * inner + columns)
    x = MAKERS[make](rng, rows, inner).astype(np.float32)
    w = normal(rng, inner, columns) if make != "cancelling" else np.repeat(normal(rng, inner // 2, columns), 2, 0)
    if make == "cancelling":
        w = np.concatenate([w[::2], w[1::2]])
    w = w.astype(np.float32)
    given = w.T.copy() if form == "linear" else w
    got = execute(tmp_path, product(x, given, (rows, columns), form=form), [x, given], level)
    expected, size = x.astype(float) @ w, np.abs(x).astype(float) @ np.abs(w)
    # f32 numbers below 2^-126 have fewer digits.
    error = np.abs(got - expected) - 2.0**-148
    assert (error <= 2 * (8 + math.sqrt(inner)) * UNIT * size).all(), (error / (UNIT * size)).max()


@pytest.mark.parametrize("batch", [((3,), (3,)), ((2, 1), (1, 4)), ((5,), ())], ids=str)
def test_batches_and_broadcast_factors(tmp_path, batch):
    rng = np.random.default_rng(7)
    x = normal(rng, *batch[0], 17, 64).astype(np.float32)
    w = normal(rng, *batch[1], 64, 48).astype(np.float32)
    expected = x.astype(float) @ w
    got = execute(tmp_path, product(x, w, expected.shape), [x, w])
    size = np.abs(x).astype(float) @ np.abs(w)
    assert (np.abs(got - expected) <= 16 * UNIT * size).all()


def test_integers_are_exact(tmp_path):
    rng = np.random.default_rng(3)
    x = rng.integers(-300, 301, (40, 128)).astype(np.float32)
    w = rng.integers(-300, 301, (128, 72)).astype(np.float32)
    assert np.array_equal(execute(tmp_path, product(x, w, (40, 72)), [x, w]), x @ w)
    # Rows picked by ones come out as they are, to the last of 24 bits.
    table = normal(rng, 64, 100).astype(np.float32)
    pick = np.eye(64, dtype=np.float32)[rng.integers(0, 64, 30)]
    assert np.array_equal(execute(tmp_path, product(pick, table, (30, 100)), [pick, table]), pick @ table)


def test_infinities_spoil_their_own_row(tmp_path):
    rng = np.random.default_rng(4)
    x, w = normal(rng, 8, 64).astype(np.float32), normal(rng, 64, 32).astype(np.float32)
    x[2, 5], x[6, 0] = np.inf, np.nan
    got = execute(tmp_path, product(x, w, (8, 32)), [x, w])
    assert not np.isfinite(got[[2, 6]]).any()
    rest = [0, 1, 3, 4, 5, 7]
    assert np.allclose(got[rest], x[rest].astype(float) @ w, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("element,bits", [("f16", 11)])
def test_strict_keeps_the_bits_of_16_bit_types(tmp_path, element, bits):
    """Every number of f16 counts: half of them are none of the device's own 16-bit format."""
    rng = np.random.default_rng(5)
    x, w = normal(rng, 48, 256).astype(np.float16), normal(rng, 256, 96).astype(np.float16)
    exact = x.astype(float) @ w.astype(float)
    size = np.abs(x).astype(float) @ np.abs(w).astype(float)
    text = product(x, w, (48, 96), element)
    strict = np.abs(execute(tmp_path, text, [x, w], "--precision=strict").astype(float) - exact)
    assert (strict <= 2.0**-bits * np.abs(exact) + 2.0**-19 * size).all()
    default = np.abs(execute(tmp_path, text, [x, w]).astype(float) - exact)
    assert default.max() > 2 * strict.max()


def test_fast_has_16_bit_products(tmp_path):
    rng = np.random.default_rng(6)
    x, w = normal(rng, 32, 128).astype(np.float32), normal(rng, 128, 64).astype(np.float32)
    exact = x.astype(float) @ w
    error = np.abs(execute(tmp_path, product(x, w, (32, 64)), [x, w], "--precision=fast") - exact)
    size = np.abs(x).astype(float) @ np.abs(w)
    assert 2.0**-16 < (error / size).max() < 2.0**-9


def gelu(x):
    return 0.5 * x * math.erfc(-x / math.sqrt(2))


def softplus(x):
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def log(x):
    return math.log(x) if x > 0 else -math.inf if x == 0 else math.nan


# name, function, constants, its arguments, units of its value that it may be off by
FUNCTIONS = [
    ("log", log, "", [*(2.0**e * m for e in range(-149, 128) for m in (1.0, 1.25, 1.5, 1.9375)), 0.0, -1.0], 6),
    ("log", log, "", list(1 + np.linspace(-0.3, 0.6, 1001)), 6),
    ("tanh", math.tanh, "", [*np.linspace(-10, 10, 2001), *np.geomspace(1e-30, 1, 200), 100.0], 6),
    ("gelufwd", gelu, "", [*np.linspace(-5, 5, 2001), *np.geomspace(1e-30, 1, 200)], 48),
    ("softplus", softplus, " constants {softplusBeta = 1.0 : f64, softplusThresh = 20.0 : f64}",
     [*np.linspace(-60, 60, 2001)], 24),
]  # fmt: skip


@pytest.mark.parametrize(
    "name,function,constants,values,units", FUNCTIONS, ids=lambda p: p if isinstance(p, str) else ""
)
def test_functions_are_as_good_as_f32(tmp_path, name, function, constants, values, units):
    x = np.array(values).astype(np.float32)
    text = f"""func.func @main(%x: {tensor(x.shape)}) -> {tensor(x.shape)} {{
  %0 = spyre.{name} (d0 = {x.size}) ins(%x[d0]) -> [d0]{constants} : {tensor(x.shape)} -> {tensor(x.shape)}
  return %0 : {tensor(x.shape)}
}}
"""
    got = execute(tmp_path, text, [x]).astype(float)
    expected = np.array([function(float(v)) for v in x])
    finite = np.isfinite(expected)
    assert np.array_equal(got[~finite], expected[~finite], equal_nan=True)
    error = np.abs(got - expected)[finite] - 2.0**-149
    assert (error <= units * UNIT * np.abs(expected[finite])).all(), np.nanmax(error / np.abs(expected[finite]) / UNIT)


def test_comparisons_see_all_bits(tmp_path):
    x = np.array([1.0, 1.0, 2.0**-149, 0.0, np.inf, np.inf, np.nan, -0.0, 1e30], np.float32)
    y = np.array([1.0 + 2.0**-23, 1.0, 0.0, 0.0, np.inf, 1.0, np.nan, 0.0, 1e30 * (1 + 2.0**-22)], np.float32)
    for name, compare in {
        "lesserthan": np.less,
        "equal": np.equal,
        "greaterequal": np.greater_equal,
        "notequal": np.not_equal,
    }.items():
        text = f"""func.func @main(%x: tensor<9xf32>, %y: tensor<9xf32>) -> tensor<9xi1> {{
  %0 = spyre.{name} (d0 = 9) ins(%x[d0], %y[d0]) -> [d0] : tensor<9xf32>, tensor<9xf32> -> tensor<9xi1>
  return %0 : tensor<9xi1>
}}
"""
        assert np.array_equal(execute(tmp_path, text, [x, y]), compare(x, y)), name
