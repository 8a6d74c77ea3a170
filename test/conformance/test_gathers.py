# test_gathers.py - Chains of products whose cores gather what lies between
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Networks of two layers, with and without a norm before, a gate and a residual, in checked mode
# against NumPy in float64: cores share rows and columns of both products, and each gets over the
# ring (spyre.shuffle) what the others have made of its rows.
"""Plans that gather over the ring give what NumPy gives."""

import json
import pathlib
import sys

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from lib.built import run as finish  # noqa: E402
from lib.built import tool  # noqa: E402
from lib.formats import round_to_dl16  # noqa: E402


def network(rows, width, hidden, gated, norm, residual):
    """Text of (norm x W1 [* norm x G]) relu W2 [+ x], f16."""
    x, h = f"tensor<{rows}x{width}xf16>", f"tensor<{rows}x{hidden}xf16>"
    r, up, down = f"tensor<{rows}x1xf16>", f"tensor<{width}x{hidden}xf16>", f"tensor<{hidden}x{width}xf16>"
    gate = f", %g: {up}" if gated else ""
    lines, n = [f"func.func @main(%x: {x}, %u: {up}, %d: {down}{gate}) -> {x} {{"], "%x"
    dims = f"d0 = {rows}, d1 = {width}"
    if norm:
        lines += [
            f"  %s = spyre.mul ({dims}) ins(%x[d0, d1], %x[d0, d1]) -> [d0, d1] : {x}, {x} -> {x}",
            f"  %m = spyre.mean ({dims}) ins(%s[d0, d1]) -> [d0, 0] constants {{scaling_factor = {1 / width:.17e} : f64}}"
            f" : {x} -> {r}",
            f"  %i = spyre.rsqrt (d0 = {rows}) ins(%m[d0, 0]) -> [d0, 0] : {r} -> {r}",
            f"  %n = spyre.mul ({dims}) ins(%x[d0, d1], %i[d0, 0]) -> [d0, d1] : {x}, {r} -> {x}",
        ]
        n = "%n"

    def product(name, a, b, columns, inner, types):
        return (
            f"  {name} = spyre.batchmatmul (d0 = {rows}, d1 = {columns}, d2 = {inner}) ins({a}[d0, d2], {b}[d2, d1])"
            f" -> [d0, d1] : {types}"
        )

    lines += [
        product("%p", n, "%u", hidden, width, f"{x}, {up} -> {h}"),
        f"  %a = spyre.relufwd (d0 = {rows}, d1 = {hidden}) ins(%p[d0, d1]) -> [d0, d1] : {h} -> {h}",
    ]
    last = "%a"
    if gated:
        lines += [
            product("%q", n, "%g", hidden, width, f"{x}, {up} -> {h}"),
            f"  %b = spyre.mul (d0 = {rows}, d1 = {hidden}) ins(%a[d0, d1], %q[d0, d1]) -> [d0, d1] : {h}, {h} -> {h}",
        ]
        last = "%b"
    lines.append(product("%o", last, "%d", width, hidden, f"{h}, {down} -> {x}"))
    if residual:
        lines.append(f"  %z = spyre.add ({dims}) ins(%x[d0, d1], %o[d0, d1]) -> [d0, d1] : {x}, {x} -> {x}")
    lines += [f"  return {'%z' if residual else '%o'} : {x}", "}"]
    return "\n".join(lines) + "\n"


def expected(x, up, down, gate, norm, residual):
    n = x / np.sqrt(np.square(x).mean(-1, keepdims=True)) if norm else x
    h = np.maximum(n @ up, 0)
    if gate is not None:
        h = h * (n @ gate)
    return h @ down + (x if residual else 0)


def execute(tmp_path, rows, width, hidden, *flags, gated=False, norm=False, residual=False, run=True):
    rng = np.random.default_rng(rows + hidden)

    def draw(*shape):
        return round_to_dl16(rng.standard_normal(shape) / np.sqrt(shape[0] if len(shape) > 1 else 1)).astype(np.float16)

    path = tmp_path / "network.mlir"
    path.write_text(network(rows, width, hidden, gated, norm, residual))
    x = round_to_dl16(rng.standard_normal((rows, width))).astype(np.float16)
    arrays = {"in0": x, "in1": draw(width, hidden), "in2": draw(hidden, width)}
    if gated:
        arrays["in3"] = draw(width, hidden)
    stages = tmp_path / "stages"
    done = finish(
        tool("spyre-compile"), path, "-o", tmp_path / "program", "--dump-stages", stages, "--stats", tmp_path / "st.json", *flags
    )
    assert done.code == 0, done.err
    planned = next(stages.glob("*planned*")).read_text()
    stats = json.loads((tmp_path / "st.json").read_text())
    if run:
        np.savez(tmp_path / "in.npz", **arrays)
        out = tmp_path / "out.npz"
        done = finish(tool("spyre-run"), tmp_path / "program", "--inputs", tmp_path / "in.npz", "--outputs", out, "--check")
        assert done.code == 0, done.err
        got = np.load(out)["out0"].astype(np.float64)
        wide = [arrays[f"in{i}"].astype(np.float64) if f"in{i}" in arrays else None for i in range(4)]
        want = expected(*wide, norm, residual)
        error = np.abs(got - want) / np.maximum(np.sqrt(np.square(want).mean()), np.abs(want))
        assert error.max() <= 24 * 2**-10 and np.sqrt(np.square(error).mean()) <= 4 * 2**-10
    return planned, stats


#        rows, width, hidden, device, kind, options
CASES = [
    (1024, 512, 2048, "spyre", "tiled", {}),
    (1024, 512, 2048, "spyre", "carried", {"gated": True}),
    (512, 1024, 3072, "spyre", "carried", {"norm": True, "residual": True}),
    (128, 256, 1024, "mock32", "carried", {"gated": True}),
    (64, 128, 512, "mock32", "tiled", {"gated": True, "norm": True}),
    (64, 128, 512, "mock32", "carried", {"residual": True, "norm": True}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(str(part) for part in case[:5]))
def test_networks(tmp_path, case):
    rows, width, hidden, device, kind, options = case
    planned, _ = execute(tmp_path, rows, width, hidden, f"--device={device}", f"--plan-kind={kind}", **options)
    assert "spyre.shuffle" in planned


@pytest.mark.parametrize("seed", range(6))
def test_drawn_networks(tmp_path, seed):
    """Nests, tiles and cores as a number draws them."""
    flags = ["--device=mock32", "--plan-kind=carried", f"--plan-seed={seed + 1}"]
    execute(tmp_path, 64, 128, 512, *flags, gated=seed % 2 == 1, norm=seed % 3 == 0)


def test_devices_without_relayouts(tmp_path):
    planned, _ = execute(tmp_path, 1024, 512, 2048, "--device=spyre-2026-06", run=False)
    assert "spyre.shuffle" not in planned


def test_a_wide_network_takes_less(tmp_path):
    """Rows that are too few for the weights to be read by each core alone: what lies between stays in the scratchpads."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    _, now = execute(tmp_path / "a", 512, 4096, 12288, gated=True, run=False)
    _, before = execute(tmp_path / "b", 512, 4096, 12288, "--device=spyre-2026-06", gated=True, run=False)
    moved = [stats["hbm_read_bytes"] + stats["hbm_write_bytes"] for stats in (now, before)]
    least = 2 * (2 * 512 * 4096 + 3 * 4096 * 12288)
    assert moved[0] <= 1.02 * least < moved[1]
    assert now["modelled_us"] < 0.97 * before["modelled_us"]
    assert now["modelled_parts"]["ring_us"] > 0
