# test_weights.py - Arguments that are weights
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# `--weights` lets an argument lie on the device as its readers want it. The numbers stay,
# restickifies of weights go, and what two bundles or two layouts need keeps the default.
"""Weights are laid out by the caller."""

import json
import pathlib
import re
import sys

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from lib.built import MODELS, run, tool  # noqa: E402

PROGRAMS = [
    "swiglu_mlp_small",
    "gelu_mlp",
    "granite_layer_small",
    "granite_layer_decode_small",
    "bert_layer_small",
    "granite_2layers_small",
]


def count_arguments(path):
    signature = re.search(r"func\.func @\w+\((.*?)\) ->", path.read_text(), re.S)[1]
    return signature.count("%arg")


def restickified(folder):
    """Names of arrays that a program's descriptors restickify, by number of descriptors."""
    return sum("ReStickifyOpHBM" in file.read_text() for file in folder.rglob("sdsc_*.json"))


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_numbers_stay_and_moves_go(name, level, tmp_path):
    text, arrays = MODELS / f"{name}.mlir", MODELS / f"{name}.npz"
    if not text.exists():
        pytest.fail(f"{name} is not in the data")
    weights = f"--weights=in1-in{count_arguments(text) - 1}"
    results = {}
    for flags in ([], [weights]):
        folder = tmp_path / f"program{len(flags)}"
        done = run(tool("spyre-compile"), text, "-o", folder, level, *flags)
        assert done.code == 0, done.err
        out = tmp_path / f"out{len(flags)}.npz"
        done = run(tool("spyre-run"), folder, "--inputs", arrays, "--outputs", out, "--check")
        assert done.code == 0, done.err
        results[len(flags)] = (dict(np.load(out)), restickified(folder))
    plain, laid = results[0], results[1]
    # Where factors of products are exchanged, weights are not moved in either program.
    assert laid[1] < plain[1] or (level == "-O2" and laid[1] == plain[1])
    for key, value in plain[0].items():
        # Sums may be divided otherwise; they are of the same numbers.
        assert np.allclose(value.astype(np.float64), laid[0][key].astype(np.float64), rtol=2e-2, atol=2e-2)


def test_one_weight_with_two_readers(tmp_path):
    """x @ w and x @ w.T want two layouts: one is moved, both are right."""
    text = tmp_path / "twice.mlir"
    text.write_text(
        """module {
  func.func @main(%x: !torch.vtensor<[64,64],f16>, %w: !torch.vtensor<[64,64],f16>) -> (!torch.vtensor<[64,64],f16>, !torch.vtensor<[64,64],f16>) {
    %0 = torch.aten.mm %x, %w : !torch.vtensor<[64,64],f16>, !torch.vtensor<[64,64],f16> -> !torch.vtensor<[64,64],f16>
    %1 = torch.aten.t %w : !torch.vtensor<[64,64],f16> -> !torch.vtensor<[64,64],f16>
    %2 = torch.aten.mm %x, %1 : !torch.vtensor<[64,64],f16>, !torch.vtensor<[64,64],f16> -> !torch.vtensor<[64,64],f16>
    return %0, %2 : !torch.vtensor<[64,64],f16>, !torch.vtensor<[64,64],f16>
  }
}
"""
    )
    rng = np.random.default_rng(0)
    x, w = (rng.integers(-3, 4, (64, 64)).astype(np.float16) for _ in range(2))
    np.savez(tmp_path / "in.npz", in0=x, in1=w)
    np.savez(tmp_path / "out.npz", out0=x @ w, out1=x @ w.T)
    done = run(
        tool("spyre-run"),
        text,
        "--weights",
        "in1",
        "--check",
        "--inputs",
        tmp_path / "in.npz",
        "--expect",
        tmp_path / "out.npz",
    )
    assert done.code == 0, done.err


def test_layout_is_recorded(tmp_path):
    text = MODELS / "swiglu_mlp_small.mlir"
    done = run(tool("spyre-compile"), text, "-o", tmp_path / "program", "--weights=in1-in3")
    assert done.code == 0, done.err
    spec = json.loads((tmp_path / "program" / "bundles" / "0" / "launch_spec.json").read_text())
    weight = next(a for a in spec["arguments"] if a.get("array") == "in1")
    # [out, in] with `out` in the stick: neighbours are a row apart on the host.
    assert weight["stride_map"][-1] == weight["shape"][1]


@pytest.mark.parametrize(
    "value, code, message",
    [
        ("1", 2, "--weights=1: a list of arguments or ranges is wanted, e.g. in1,in3-in9"),
        ("in3-in1", 2, "a list of arguments or ranges is wanted"),
        ("in1-", 2, "a list of arguments or ranges is wanted"),
        ("in9", 2, "--weights: there is no in9; the program has 2 arguments, in0 to in1"),
    ],
)
def test_wrong_lists(value, code, message, tmp_path):
    text = MODELS / "add_4096x4096.mlir"
    for command in ([tool("spyre-compile"), text, "-o", tmp_path / "p"], [tool("spyre-run"), text, "--cost-only"]):
        done = run(*command, f"--weights={value}")
        assert (done.code, message in done.err) == (code, True), done.err
