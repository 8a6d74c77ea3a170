# test_bands.py - What known masks hide is left out, and nothing else
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Plans of the kinds `banded` and `banded-carried` (spyre-skip-hidden) against NumPy in float64: masks that are
# added, chosen by and multiplied with; causal ones, windows, documents side by side, rows that see nothing; rows
# and keys that end beside sticks.
"""Attention whose mask is known computes what NumPy does, without what is hidden."""

import json
import pathlib
import sys

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "benchmarks")]

from lib.built import run as finish  # noqa: E402
from lib.built import tool  # noqa: E402
from lib.formats import round_to_dl16  # noqa: E402

WIDTH = 64


def make_seen(kind, rows, keys):
    """Which keys each row sees."""
    i, j = np.arange(rows)[:, None] + keys - rows, np.arange(keys)[None, :]
    return {
        "causal": j <= i,
        "window": (j <= i) & (j > i - 100),
        "ahead": j >= i,
        "documents": (i // 150) == (j // 150),
        # The first rows see nothing at all.
        "late": (j <= i) & (i >= rows // 3),
        "holes": (j <= i) & ((j + i) % 7 > 0),
        "all": np.ones((rows, keys), bool),
    }[kind]


def literal(array):
    return f'dense<"0x{array.tobytes().hex().upper()}">'


def program(heads, rows, keys, seen, how):
    """Text of attention with that mask: added, chosen by one way or the other, or multiplied (without a softmax)."""
    q, k = f"tensor<{heads}x{rows}x{WIDTH}xf16>", f"tensor<{heads}x{keys}x{WIDTH}xf16>"
    s, m, b = (
        f"tensor<{heads}x{rows}x{keys}xf16>",
        f"tensor<{rows}x{keys}xf16>",
        f"tensor<{rows}x{keys}xi1>",
    )
    dims = f"d0 = {heads}, d1 = {rows}"
    points = f"({dims}, d2 = {keys})"
    lines = [
        f"func.func @main(%q: {q}, %k: {k}, %v: {k}) -> {q} {{",
        f"  %0 = spyre.batchmatmul {points[:-1]}, d3 = {WIDTH}) ins(%q[d0, d1, d3], %k[d0, d2, d3]) -> [d0, d1, d2]"
        f" : {q}, {k} -> {s}",
    ]
    here, mask = "[d0, d1, d2]", "[d1, d2]"
    if how in ("add", "multiply"):
        numbers = np.where(seen, 0, -np.inf) if how == "add" else seen
        lines.append(f"  %m = spyre.constant {literal(numbers.astype(np.float16))} : {m} : {m}")
        lines.append(
            f"  %1 = spyre.{'add' if how == 'add' else 'mul'} {points} ins(%0{here}, %m{mask}) -> {here} : {s}, {m} -> {s}"
        )
    else:
        text = str((seen if how == "choose" else ~seen).tolist()).lower()
        lines.append(f"  %m = spyre.constant dense<{text}> : {b} : {b}")
        lines.append("  %i = spyre.constant dense<0xFC00> : tensor<f16> : tensor<f16>")
        operands, types = (
            (f"%0{here}, %i[]", f"{s}, tensor<f16>") if how == "choose" else (f"%i[], %0{here}", f"tensor<f16>, {s}")
        )
        lines.append(f"  %1 = spyre.where3 {points} ins(%m{mask}, {operands}) -> {here} : {b}, {types} -> {s}")
    weights = "%1"
    if how != "multiply":
        lines.append(f"  %p = spyre.softmax %1 along 2 : {s} -> {s}")
        weights = "%p"
    lines += [
        f"  %o = spyre.batchmatmul ({dims}, d2 = {WIDTH}, d3 = {keys}) ins({weights}[d0, d1, d3], %v[d0, d3, d2]) -> {here}"
        f" : {s}, {k} -> {q}",
        f"  return %o : {q}",
        "}",
    ]
    return "\n".join(lines) + "\n"


def expected(q, k, v, seen, how):
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    s = q @ k.transpose(0, 2, 1)
    if how == "multiply":
        return (s * seen) @ v
    s = np.where(seen, s, -np.inf)
    with np.errstate(invalid="ignore"):
        e = np.exp(s - s.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True) @ v


def execute(tmp_path, heads, rows, keys, kind, how, *flags):
    """The result, NumPy's, and the statistics of the compiler."""
    rng = np.random.default_rng(rows)

    def draw(*shape):
        return round_to_dl16(rng.standard_normal(shape)).astype(np.float16)

    q, k, v = (draw(heads, rows, WIDTH) / 8).astype(np.float16), draw(heads, keys, WIDTH), draw(heads, keys, WIDTH)
    np.savez(tmp_path / "in.npz", in0=q, in1=k, in2=v)
    path = tmp_path / "attention.mlir"
    seen = make_seen(kind, rows, keys)
    path.write_text(program(heads, rows, keys, seen, how))
    out, stats = tmp_path / "out.npz", tmp_path / "stats.json"
    done = finish(tool("spyre-run"), path, "--inputs", tmp_path / "in.npz", "--outputs", out, "--stats", stats, *flags)
    assert done.code == 0, done.err
    return np.load(out)["out0"].astype(np.float64), expected(q, k, v, seen, how), json.loads(stats.read_text())


def check_error(got, want):
    rows = np.isfinite(want).all(-1)
    # Rows that see nothing are no numbers anywhere.
    assert not np.isfinite(got[~rows]).any()
    # Rows that see few keys are larger than those that see many.
    scale = np.sqrt(np.mean(want[rows] ** 2, axis=-1, keepdims=True))
    error = (np.abs(got - want)[rows] / scale).max()
    assert error < 0.03, error


#        heads, rows, keys, mask, how, device
CASES = [
    (4, 256, 256, "causal", "add", "mock32"),
    (4, 256, 256, "causal", "choose", "mock32"),
    (2, 256, 256, "causal", "reject", "mock32"),
    (4, 256, 256, "causal", "multiply", "mock32"),
    (4, 256, 384, "causal", "add", "spyre"),
    (2, 130, 130, "causal", "add", "mock32"),
    (2, 300, 300, "window", "add", "mock32"),
    (2, 512, 512, "window", "choose", "spyre"),
    (2, 256, 256, "ahead", "add", "mock32"),
    (2, 600, 600, "documents", "add", "spyre"),
    (2, 256, 256, "late", "add", "mock32"),
    (2, 256, 256, "holes", "add", "mock32"),
]


@pytest.mark.parametrize("plan", ["banded", "banded-carried"])
@pytest.mark.parametrize("case", CASES, ids=lambda c: "-".join(map(str, c)))
def test_bands(tmp_path, case, plan):
    *sizes, kind, how, device = case
    got, want, stats = execute(tmp_path, *sizes, kind, how, "--plan-kind", plan, "--device", device, "--check")
    assert [plan["kind"] for plan in stats["plans"]] == [plan]
    check_error(got, want)


def test_what_sees_all_is_left_alone(tmp_path):
    _, _, stats = execute(tmp_path, 2, 256, 256, "all", "add", "--plan-kind", "banded")
    assert [plan["kind"] for plan in stats["plans"]] != ["banded"]


def test_causal_attention_takes_less(tmp_path):
    """By itself, where it pays: the products of what is hidden are not computed."""
    got, want, stats = execute(tmp_path, 32, 2048, 2048, "causal", "add")
    assert stats["plans"][0]["kind"] == "banded"
    times = stats["plans"][0]["us"]
    assert times["banded"] < 0.8 * min(times[kind] for kind in ("tiled", "carried") if kind in times)
    check_error(got, want)


# In the longer one more is masked of a band than places can be counted in one comparison.
@pytest.mark.parametrize(("heads", "length", "width"), [(2, 8192, 128), (1, 16384, 64)])
def test_long_causal_attention(tmp_path, heads, length, width):
    """Keys that no scratchpad holds are read in parts, each band those that it sees."""
    tensor = f"!torch.vtensor<[1,{heads},{length},{width}],f16>"
    (tmp_path / "attention.mlir").write_text(f"""
func.func @main(%q: {tensor}, %k: {tensor}, %v: {tensor}) -> {tensor} {{
  %none = torch.constant.none
  %zero = torch.constant.float 0.0
  %true = torch.constant.bool true
  %false = torch.constant.bool false
  %0 = torch.aten.scaled_dot_product_attention %q, %k, %v, %none, %zero, %true, %none, %false
    : {tensor}, {tensor}, {tensor}, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> {tensor}
  return %0 : {tensor}
}}""")
    rng = np.random.default_rng(8192)
    q, k, v = (round_to_dl16(rng.standard_normal((1, heads, length, width))).astype(np.float16) for _ in range(3))
    np.savez(tmp_path / "in.npz", in0=q, in1=k, in2=v)
    out, stats = tmp_path / "out.npz", tmp_path / "stats.json"
    flags = ["--inputs", tmp_path / "in.npz", "--outputs", out, "--stats", stats]
    done = finish(tool("spyre-run"), tmp_path / "attention.mlir", *flags)
    assert done.code == 0, done.err
    plan = json.loads(stats.read_text())["plans"][0]
    assert plan["kind"] == "banded-carried"
    assert plan["us"]["banded-carried"] < 0.75 * min(plan["us"][kind] for kind in ("tiled", "carried"))
    got = np.load(out)["out0"].astype(np.float64)
    # Rows of every band, among them its first and its last ones.
    rows = np.unique(
        np.concatenate([np.arange(0, length, 371), np.arange(0, length, 512), np.arange(511, length, 512)])
    )
    seen = np.arange(length)[None, :] <= rows[:, None]
    for head in range(heads):
        queries = q[0, head, rows].astype(np.float64) * width**-0.5
        scores = np.where(seen, queries @ k[0, head].astype(np.float64).T, -np.inf)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        check_error(got[0, head, rows], e / e.sum(-1, keepdims=True) @ v[0, head].astype(np.float64))
