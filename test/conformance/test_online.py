# test_online.py - Attention and softmaxes of rows that loops cut
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Plans that carry the largest numbers and the sums of rows from part to part (spyre-carry-reductions)
# against NumPy in float64 and against the plan without tiles: lengths that end in and beside
# sticks and tiles, masks, grouped heads, few and many queries, devices of all sizes.
"""Carried plans of attention give what NumPy and the untiled plan give."""

import json
import math
import pathlib
import sys

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "benchmarks")]

from attention import sdpa  # noqa: E402
from lib.built import run as finish  # noqa: E402
from lib.built import tool  # noqa: E402
from lib.formats import round_to_dl16  # noqa: E402

WIDTH = 64


def attention(heads, groups, queries, keys, mask):
    """Text of softmax(q k' + mask) v: `groups` heads share keys and values; the mask is [queries, keys] or None."""
    q = f"tensor<{heads * groups}x{queries}x{WIDTH}xf16>"
    k = f"tensor<{heads}x{keys}x{WIDTH}xf16>"
    s = f"tensor<{heads}x{groups}x{queries}x{keys}xf16>"
    m = f"tensor<{queries}x{keys}xf16>"
    dims = f"d0 = {heads}, d1 = {groups}, d2 = {queries}"
    lines = [
        f"func.func @main(%q: {q}, %k: {k}, %v: {k}{f', %m: {m}' if mask else ''}) -> {q} {{",
        f"  %0 = spyre.batchmatmul ({dims}, d3 = {keys}, d4 = {WIDTH}) ins(%q[d0 * {groups} + d1, d2, d4], %k[d0, d3, d4])"
        f" -> [d0, d1, d2, d3] : {q}, {k} -> {s}",
    ]
    scores = "%0"
    if mask:
        lines.append(
            f"  %1 = spyre.add ({dims}, d3 = {keys}) ins(%0[d0, d1, d2, d3], %m[d2, d3]) -> [d0, d1, d2, d3]"
            f" : {s}, {m} -> {s}"
        )
        scores = "%1"
    lines += [
        f"  %p = spyre.softmax {scores} along 3 : {s} -> {s}",
        f"  %o = spyre.batchmatmul ({dims}, d3 = {WIDTH}, d4 = {keys}) ins(%p[d0, d1, d2, d4], %v[d0, d4, d3])"
        f" -> [d0 * {groups} + d1, d2, d3] : {s}, {k} -> {q}",
        f"  return %o : {q}",
        "}",
    ]
    return "\n".join(lines) + "\n"


def make_mask(kind, queries, keys):
    """Additive, f16. Of "late" the first half is hidden from all; of "rows" some rows see nothing."""
    at = np.arange(queries)[:, None] + keys - queries
    seen = {
        "causal": np.arange(keys)[None, :] <= at,
        "late": np.broadcast_to(np.arange(keys) >= keys // 2, (queries, keys)),
        "rows": np.broadcast_to((np.arange(queries) % 3 > 0)[:, None], (queries, keys)),
    }[kind]
    return np.where(seen, 0, -np.inf).astype(np.float16)


def expected(q, k, v, mask, groups):
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    s = q @ np.repeat(k, groups, 0).transpose(0, 2, 1)
    if mask is not None:
        s = s + mask.astype(np.float64)
    with np.errstate(invalid="ignore"):
        e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ np.repeat(v, groups, 0)


def run_program(path, inputs, *flags):
    out, stats = path.with_suffix(".out.npz"), path.with_suffix(".json")
    done = finish(tool("spyre-run"), path, "--inputs", inputs, "--outputs", out, "--stats", stats, *flags)
    assert done.code == 0, done.err
    return np.load(out)["out0"].astype(np.float64), json.loads(stats.read_text())


#        heads, groups, queries, keys, mask, device, checked
CASES = [
    (8, 1, 64, 130, None, "mock32", True),
    (8, 1, 256, 256, "causal", "mock32", True),
    (8, 1, 64, 1000, None, "spyre", True),
    (2, 4, 128, 1024, "causal", "mock32", False),
    (4, 1, 64, 3520, None, "spyre", False),
    (8, 1, 512, 4096, "causal", "spyre", False),
    (2, 1, 1, 4096, None, "mock32", False),
    (2, 2, 16, 4096, "late", "mock32", True),
    (4, 1, 48, 2048, "rows", "mock32", True),
    (1, 1, 16, 32768, None, "mock32", False),
    (1, 1, 64, 2048, "late", "mock4", True),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: "x".join(map(str, c[:4])) + f"-{c[4]}-{c[5]}")
def test_carried_attention(tmp_path, case):
    heads, groups, queries, keys, kind, device, checked = case
    rng = np.random.default_rng(keys)

    def draw(*shape):
        return round_to_dl16(rng.standard_normal(shape)).astype(np.float16)

    q = (draw(heads * groups, queries, WIDTH) / 8).astype(np.float16)
    k, v = draw(heads, keys, WIDTH), draw(heads, keys, WIDTH)
    mask = make_mask(kind, queries, keys) if kind else None
    arrays = {"in0": q, "in1": k, "in2": v} | ({"in3": mask} if kind else {})
    np.savez(tmp_path / "in.npz", **arrays)
    program = tmp_path / "attention.mlir"
    program.write_text(attention(heads, groups, queries, keys, kind is not None))
    want = expected(q, k, v, mask, groups)
    flags = ["--device", device] + (["--check"] if checked else [])
    carried, stats = run_program(program, tmp_path / "in.npz", "--plan-kind", "carried", *flags)
    whole, _ = run_program(program, tmp_path / "in.npz", "--plan-kind", "untiled", "--device", "spyre")
    assert [plan["kind"] for plan in stats["plans"]] == ["carried"]
    rows = np.isfinite(want).all(-1)
    # Rows that see nothing are no numbers anywhere.
    assert not np.isfinite(carried[~rows]).any()
    scale = np.sqrt(np.mean(want[rows] ** 2))
    error = np.abs(carried - want)[rows].max() / scale
    assert error < 0.03, error
    # Sums in f32: no further from the truth than the plan that rounds each to 16 bits.
    assert error < 1.25 * np.abs(whole - want)[rows].max() / scale + 2**-10


@pytest.mark.parametrize("kind", ["untiled", "tiled", "carried"])
@pytest.mark.parametrize("offset", [0, 8])
def test_keys_far_from_zero(tmp_path, kind, offset):
    """PyTorch's attention keeps scores in f32: what all of many keys share costs none of their fraction."""
    heads, key_heads, rows, keys = 4, 2, 48, 4096
    rng = np.random.default_rng(offset)
    q = rng.standard_normal((1, heads, rows, WIDTH)).astype(np.float16)
    k = rng.standard_normal((1, key_heads, keys, WIDTH)) + offset * rng.standard_normal((1, key_heads, 1, WIDTH))
    k, v = k.astype(np.float16), rng.standard_normal((1, key_heads, keys, WIDTH)).astype(np.float16)
    np.savez(tmp_path / "in.npz", in0=q, in1=k, in2=v)
    program = tmp_path / "attention.mlir"
    program.write_text(sdpa(rows, keys, heads, key_heads, WIDTH))
    got, _ = run_program(program, tmp_path / "in.npz", "--plan-kind", kind)
    want = expected(q[0].astype(np.float64) * WIDTH**-0.5, k[0], v[0], None, heads // key_heads)
    scale = np.sqrt(np.mean(want**2))
    assert np.abs(got[0] - want).max() / scale < 0.03


def reductions(rows, columns, element):
    """Text of the sum, the mean, the largest and the smallest number of each row, and of a layer norm's deviations."""
    x, r = f"tensor<{rows}x{columns}x{element}>", f"tensor<{rows}x1x{element}>"
    dims = f"(d0 = {rows}, d1 = {columns})"
    lines = [f"func.func @main(%x: {x}) -> ({', '.join([r] * 4)}, {x}) {{"]
    for name, op in enumerate(("sum", "mean", "max", "min")):
        constants = f" constants {{scaling_factor = {1 / columns!r} : f64}}" if op == "mean" else ""
        lines.append(f"  %{name} = spyre.{op} {dims} ins(%x[d0, d1]) -> [d0, 0]{constants} : {x} -> {r}")
    lines += [
        f"  %d = spyre.sub {dims} ins(%x[d0, d1], %1[d0, 0]) -> [d0, d1] : {x}, {r} -> {x}",
        f"  return %0, %1, %2, %3, %d : {', '.join([r] * 4)}, {x}",
        "}",
    ]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize("columns, device", [(20032, "mock32"), (20480, "mock4")])
def test_reductions_of_long_rows(tmp_path, element, columns, device):
    rows = 8
    rng = np.random.default_rng(rows)
    x = round_to_dl16(rng.standard_normal((rows, columns)) + 0.25)
    x = x.astype(np.float32 if element == "f32" else np.float16)
    np.savez(tmp_path / "in.npz", in0=x)
    program = tmp_path / "rows.mlir"
    program.write_text(reductions(rows, columns, element))
    out, stats = tmp_path / "out.npz", tmp_path / "stats.json"
    flags = ["--device", device, "--plan-kind", "carried", "--check"]
    done = finish(
        tool("spyre-run"), program, "--inputs", tmp_path / "in.npz", "--outputs", out, "--stats", stats, *flags
    )
    assert done.code == 0, done.err
    assert [plan["kind"] for plan in json.loads(stats.read_text())["plans"]] == ["carried"]
    got = np.load(out)
    exact = x.astype(np.float64)
    mean = exact.mean(1, keepdims=True)
    # Sums of numbers that are all about 1, in f32, rounded once.
    close = 2**-18 * columns if element == "f32" else 2**-9 * np.abs(exact.sum(1, keepdims=True))
    assert (np.abs(got["out0"] - exact.sum(1, keepdims=True)) <= close).all()
    np.testing.assert_allclose(got["out1"], mean, atol=2**-18 if element == "f32" else 2**-10)
    np.testing.assert_array_equal(got["out2"], x.max(1, keepdims=True))
    np.testing.assert_array_equal(got["out3"], x.min(1, keepdims=True))
    np.testing.assert_allclose(got["out4"], exact - mean, atol=2**-18 if element == "f32" else 2**-7)


def moments(rows, row, element, correction):
    """Text of the mean, the variance and the layer norm of each row, of dims `row`, in f32 between casts."""
    columns = math.prod(row)
    sizes = "x".join(map(str, (rows, *row)))
    x, w = f"tensor<{sizes}x{element}>", f"tensor<{sizes}xf32>"
    r = f"tensor<{'x'.join(map(str, (rows, *[1] * len(row))))}xf32>"
    dims = "(" + ", ".join(f"d{i} = {extent}" for i, extent in enumerate((rows, *row))) + ")"
    at = "[" + ", ".join(f"d{i}" for i in range(len(row) + 1)) + "]"
    here, one = "[" + ", ".join(["d0"] + ["0"] * len(row)) + "]", f"(d0 = {rows})"
    is_narrow = element == "f16"
    widened = "%w" if is_narrow else "%x"
    lines = [f"func.func @main(%x: {x}) -> ({r}, {r}, {x}) {{"]
    if is_narrow:
        lines.append(f"  %w = spyre.dl16tofp32 {dims} ins(%x{at}) -> {at} : {x} -> {w}")
    for name, value in (("n", columns), ("f", 1 / (columns - correction)), ("eps", 1e-5)):
        lines.append(f"  %{name} = spyre.constant dense<{value:.17e}> : tensor<f32> : tensor<f32>")
    lines += [
        f"  %sum = spyre.sum {dims} ins({widened}{at}) -> {here} : {w} -> {r}",
        f"  %m = spyre.realdiv {one} ins(%sum{here}, %n[]) -> {here} : {r}, tensor<f32> -> {r}",
        f"  %t = spyre.sub {dims} ins({widened}{at}, %m{here}) -> {at} : {w}, {r} -> {w}",
        f"  %q = spyre.mul {dims} ins(%t{at}, %t{at}) -> {at} : {w}, {w} -> {w}",
        f"  %s = spyre.sum {dims} ins(%q{at}) -> {here} : {w} -> {r}",
        f"  %v = spyre.mul {one} ins(%s{here}, %f[]) -> {here} : {r}, tensor<f32> -> {r}",
        f"  %a = spyre.add {one} ins(%v{here}, %eps[]) -> {here} : {r}, tensor<f32> -> {r}",
        f"  %i = spyre.rsqrt {one} ins(%a{here}) -> {here} : {r} -> {r}",
        f"  %y = spyre.mul {dims} ins(%t{at}, %i{here}) -> {at} : {w}, {r} -> {w}",
    ]
    if is_narrow:
        lines.append(f"  %z = spyre.fp32todl16 {dims} ins(%y{at}) -> {at} : {w} -> {x}")
    lines += [f"  return %m, %v, {'%z' if is_narrow else '%y'} : {r}, {r}, {x}", "}"]
    return "\n".join(lines) + "\n"


def make_rows(kind, rows, columns):
    """Rows whose means are small and large beside their deviations, and parts unlike each other."""
    rng = np.random.default_rng(columns)
    noise = rng.standard_normal((rows, columns))
    at = np.arange(columns) / columns
    return {
        "near": noise + rng.standard_normal((rows, 1)),
        "far": noise + 1000,
        "constant": np.repeat(rng.standard_normal((rows, 1)) * 300, columns, 1),
        "rising": noise + 1000 + 8 * at,
        # The first parts are nothing like the mean.
        "padded": np.where(at < 1 / 16, 0, noise + 1000),
        "outlier": np.where(at == 0, 30000, noise),
    }[kind]


#        rows, their dims, element, correction, device
MOMENTS = [
    (8, (20480,), "f32", 0, "mock4"),
    (8, (20480,), "f16", 1, "mock4"),
    (1, (32768,), "f32", 1, "mock4"),
    (32, (20480,), "f16", 0, "mock32"),
    (64, (20032,), "f32", 1, "mock32"),
    (8, (20001,), "f32", 0, "mock32"),
    (8, (8, 40, 64), "f32", 0, "mock4"),
    (4, (32, 32, 64), "f16", 1, "mock32"),
]


@pytest.mark.parametrize("kind", ["near", "far", "constant", "rising", "padded", "outlier"])
@pytest.mark.parametrize("case", MOMENTS, ids=lambda c: "x".join(map(str, (c[0], *c[1]))) + f"-{c[2]}-{c[4]}")
def test_moments_of_long_rows(tmp_path, case, kind):
    rows, row, element, correction, device = case
    x = make_rows(kind, rows, math.prod(row))
    x = round_to_dl16(x).astype(np.float16) if element == "f16" else x.astype(np.float32)
    np.savez(tmp_path / "in.npz", in0=x.reshape(rows, *row))
    program = tmp_path / "moments.mlir"
    program.write_text(moments(rows, row, element, correction))
    exact = x.astype(np.float64)
    mean, variance = exact.mean(1, keepdims=True), exact.var(1, keepdims=True, ddof=correction)
    normal = (exact - mean) / np.sqrt(variance + 1e-5)
    errors = {}
    for plan in ("carried", "untiled"):
        out, stats = tmp_path / f"{plan}.npz", tmp_path / f"{plan}.json"
        # Without tiles no device but the largest reaches such rows.
        flags = ["--device", device if plan == "carried" else "spyre", "--plan-kind", plan, "--check"]
        done = finish(
            tool("spyre-run"), program, "--inputs", tmp_path / "in.npz", "--outputs", out, "--stats", stats, *flags
        )
        assert done.code == 0, done.err
        assert [entry["kind"] for entry in json.loads(stats.read_text())["plans"]] == [plan]
        got = [np.load(out)[f"out{i}"].astype(np.float64).reshape(rows, -1) for i in range(3)]
        assert all(np.isfinite(part).all() for part in got)
        assert (got[1] >= 0).all()
        errors[plan] = [
            (np.abs(got[0] - mean) / (np.abs(mean) + np.sqrt(variance) + 1e-3)).max(),
            (np.abs(got[1] - variance) / (variance + mean**2 * 2.0**-44 + 1e-9)).max(),
            np.abs(got[2] - normal).max(),
        ]
    bounds = [2.0**-20, 2.0**-18, 2.0**-7 if element == "f16" else 2.0**-9]
    for carried, whole, bound in zip(errors["carried"], errors["untiled"], bounds, strict=True):
        assert carried <= max(bound, 2 * whole), (errors, bounds)


def test_infinities_of_long_rows(tmp_path):
    """A mean of infinities is what NumPy has, wherever in the row they stand; there is no variance then."""
    rows, columns = 8, 20480
    x = np.random.default_rng(0).standard_normal((rows, columns)).astype(np.float32)
    x[0, 0] = x[1, columns // 2] = x[2, columns - 1] = x[3, 5] = x[4, 0] = np.inf
    x[3, 0] = x[4, columns - 1] = x[5, 1] = -np.inf
    x[6, 7] = np.nan
    np.savez(tmp_path / "in.npz", in0=x)
    program, out = tmp_path / "moments.mlir", tmp_path / "out.npz"
    program.write_text(moments(rows, (columns,), "f32", 0))
    flags = ["--device", "mock4", "--plan-kind", "carried", "--check"]
    done = finish(tool("spyre-run"), program, "--inputs", tmp_path / "in.npz", "--outputs", out, *flags)
    assert done.code == 0, done.err
    got = np.load(out)
    with np.errstate(invalid="ignore"):
        mean = x.astype(np.float64).mean(1, keepdims=True)
    np.testing.assert_allclose(got["out0"], mean, atol=2**-18)
    assert (np.isnan(got["out1"]) == ~np.isfinite(mean)).all()


@pytest.mark.parametrize("way", ["together", "apart"])
def test_plans_of_moments_say_how_they_carry(tmp_path, way):
    """A long row's sum and its squared deviations in one loop take less; a schedule may ask for two."""
    program, plan, stats = (tmp_path / name for name in ("moments.mlir", "plan.json", "stats.json"))
    program.write_text(moments(8, (20480,), "f32", 0))
    flags = ["-o", tmp_path / "program", "--device", "mock4", f"--stats={stats}"]

    def modelled(*more):
        done = finish(tool("spyre-compile"), program, *flags, *more)
        assert done.code == 0, done.err
        return json.loads(stats.read_text())["modelled_us"]

    best = modelled(f"--save-plan={plan}")
    schedule = json.loads(plan.read_text())
    (only,) = schedule["functions"].values()
    assert (only["kind"], only.get("deviations", "together")) == ("carried", "together")
    if way == "together":
        assert modelled(f"--plan={plan}") == best
        return
    plan.write_text(json.dumps({"version": 1, "functions": {"main": {"kind": "carried", "deviations": "apart"}}}))
    again = tmp_path / "again.json"
    apart = modelled(f"--plan={plan}", f"--save-plan={again}")
    assert apart > best
    assert json.loads(again.read_text())["functions"]["main"]["deviations"] == "apart"
    assert modelled(f"--plan={again}") == apart
