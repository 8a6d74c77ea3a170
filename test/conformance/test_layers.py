# test_layers.py - Programs of equal layers
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A stack of layers is compiled once and launched once a layer; one layer by itself,
# run on its own results, is what it must equal, bit for bit. Stack and layer have
# different argument passing, bundles and lifetimes, so each checks the other.
"""Structurally equal layers are outlined, planned once, and give the same numbers."""

import json
import pathlib
import re
import sys

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

from lib.built import MODELS, tool  # noqa: E402
from lib.built import run as finish  # noqa: E402
from stack_layers import stack  # noqa: E402


def run(*command):
    done = finish(*command)
    assert done.code == 0, done.err
    return done


def compile_program(source, directory, *flags):
    stats = directory.with_suffix(".json")
    run(tool("spyre-compile"), source, "-o", directory, f"--stats={stats}", *flags)
    return json.loads(stats.read_text())


@pytest.mark.parametrize("form", ["", ".torch", ".nodecomp"])
def test_layers_equal_one_layer_run_again(tmp_path, form):
    count, shared = 3, {1, 2, 3}
    text = (MODELS / f"granite_layer_small{form}.mlir").read_text()
    one, many = tmp_path / "one.mlir", tmp_path / "many.mlir"
    one.write_text(text)
    many.write_text(stack(text, count, shared))
    # The host alone takes what one layer gives, in any layout; the next layer wants the default
    # one. Without marks of who takes what, both are planned alike.
    alike = "--exact-arguments=false"
    single = compile_program(one, tmp_path / "one", alike)
    stacked = compile_program(many, tmp_path / "many", alike)
    assert stacked["bundles"] == 1
    assert stacked["device_ops"] == count * single["device_ops"]
    assert stacked["hbm_read_bytes"] == count * single["hbm_read_bytes"]

    data = np.load(MODELS / "granite_layer_small.npz")
    inputs = {name: data[name] for name in data.files if name.startswith("in") and name[2:].isdigit()}
    last = max(int(name[2:]) for name in inputs)
    # Other weights in every layer: the same ones in another order of the rows.
    weights = [
        {i: inputs[f"in{i}"] if i in shared else np.roll(inputs[f"in{i}"], layer, axis=0) for i in range(1, last + 1)}
        for layer in range(count)
    ]
    state = inputs["in0"]
    for layer in weights:
        np.savez(tmp_path / "in.npz", in0=state, **{f"in{i}": value for i, value in layer.items()})
        run(
            tool("spyre-run"),
            tmp_path / "one",
            "--inputs",
            tmp_path / "in.npz",
            "--outputs",
            tmp_path / "out.npz",
            "--check",
        )
        state = np.load(tmp_path / "out.npz")["out0"]
    arrays = [inputs["in0"]]
    for number, layer in enumerate(weights):
        arrays += [layer[i] for i in range(1, last + 1) if i not in shared or number == 0]
    np.savez(tmp_path / "in.npz", **{f"in{i}": value for i, value in enumerate(arrays)})
    stats = tmp_path / "stats.json"
    run(
        tool("spyre-run"),
        tmp_path / "many",
        "--inputs",
        tmp_path / "in.npz",
        "--outputs",
        tmp_path / "out.npz",
        "--check",
        f"--stats={stats}",
    )
    got = np.load(tmp_path / "out.npz")["out0"]
    assert np.array_equal(got.view(np.uint16), state.view(np.uint16))
    assert json.loads(stats.read_text())["hbm_read_bytes_counted"] == stacked["hbm_read_bytes"]


def test_unoptimised_programs_stay_one_function(tmp_path):
    text = (MODELS / "granite_layer_small.mlir").read_text()
    many = tmp_path / "many.mlir"
    many.write_text(stack(text, 2, {1, 2, 3}))
    stats = compile_program(many, tmp_path / "many", "-O0")
    assert stats["bundles"] == 1


def test_chains_are_no_layers(tmp_path):
    """Equal operations without a matrix product stay in one bundle, in the scratchpad."""
    stats = compile_program(MODELS / "chain_64_32x64.mlir", tmp_path / "chain")
    assert stats["bundles"] == 1


def test_prologue_and_epilogue(tmp_path):
    """What stands before and behind the layers has bundles of its own."""
    text = stack((MODELS / "granite_layer_small.mlir").read_text(), 2, {1, 2, 3})
    kind = "!torch.vtensor<[1,64,256],f16>"
    begin = text.index("{\n", text.index("func.func")) + 2
    body = re.sub(r"%x\b", "%first", text[begin:])
    text = text[:begin] + f"    %first = torch.aten.neg %x : {kind} -> {kind}\n" + body
    end = text.index("\n    return ")
    returned = text[end:].split()[1]
    text = (
        text[:end]
        + f"\n    %last = torch.aten.neg {returned} : {kind} -> {kind}"
        + text[end:].replace(f"return {returned}", "return %last", 1)
    )
    source = tmp_path / "many.mlir"
    source.write_text(text)
    stats = compile_program(source, tmp_path / "many")
    assert stats["bundles"] == 3
    program = json.loads((tmp_path / "many" / "program.json").read_text())
    launched = [step["bundle"] for step in program["steps"] if step["step"] == "launch"]
    assert len(launched) == 4 and launched[1] == launched[2]
    run(tool("spyre-run"), tmp_path / "many", "--check")
