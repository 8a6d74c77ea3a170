# test_tools.py - Whole runs of the tools that no data set covers
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The large foreign bundles (no arrays come with them: inputs are drawn here
# and compared with the same mathematics in float64), the short form of a
# binding, equal bytes of repeated compilations, and results that do not depend
# on the number of threads.
"""Whole runs of spyre-compile and spyre-run."""

import filecmp
import json
import pathlib
import sys

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from lib.built import LARGE, MODELS, run, tool  # noqa: E402

from lib import formats, tolerance  # noqa: E402


def draw(shape, seed):
    values = np.random.default_rng(seed).standard_normal(shape)
    return formats.from_float64(formats.exact_on_device(values, "float16"), "float16")


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def rms_norm(x, weight):
    return x / np.sqrt(np.mean(x * x, -1, keepdims=True) + 1e-5) * weight


def layer_norm(x, weight, bias):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * weight + bias


def attention(q, k, v, mask):
    scores = q @ np.swapaxes(k, -1, -2) * q.shape[-1] ** -0.5 + mask
    return softmax(scores) @ v


@pytest.mark.parametrize(
    "name, function, matmul",
    [
        ("softmax_512x1024", softmax, False),
        ("hint_softmax_m4", softmax, False),
        ("rmsnorm_512x4096", rms_norm, False),
        ("layernorm_512x1024", layer_norm, False),
        ("attention_1x32x512x128", attention, True),
    ],
)
def test_large_foreign_bundle(tmp_path, name, function, matmul):
    spyre_run = tool("spyre-run")
    bind = json.loads((LARGE / name / "bind.json").read_text())
    inputs = {a["array"]: draw(a["shape"], i) for i, a in enumerate(bind["arguments"]) if a["role"] == "input"}
    if matmul:  # an additive mask: large negative above the diagonal
        size = inputs["in3"].shape[0]
        inputs["in3"] = np.where(np.tri(size, dtype=bool), 0, -1024).astype(np.float16)
    np.savez(tmp_path / "in.npz", **inputs)
    outputs = tmp_path / "out.npz"
    files = ["--bind", LARGE / name / "bind.json", "--inputs", tmp_path / "in.npz", "--outputs", outputs]
    done = run(spyre_run, LARGE / name, *files, "--check")
    assert done.code == 0, done.err
    wide = [inputs[f"in{i}"].astype(np.float64) for i in range(len(inputs))]
    ref = function(*wide)
    traits = tolerance.Traits(matmul=matmul)
    assert tolerance.compare(np.load(outputs)["out0"], ref.astype(np.float16), "float16", ref, traits) is None


def test_short_form_of_a_binding(tmp_path):
    spyre_run = tool("spyre-run")
    x = draw((512, 1024), 0)
    np.savez(tmp_path / "in.npz", in0=x)
    outputs = tmp_path / "out.npz"
    layouts = ["-i", "512x1024@fp16", "-o", "512x1024@fp16"]
    done = run(spyre_run, LARGE / "softmax_512x1024", *layouts, "--inputs", tmp_path / "in.npz", "--outputs", outputs)
    assert done.code == 0, done.err
    ref = softmax(x.astype(np.float64))
    assert tolerance.compare(np.load(outputs)["out0"], ref.astype(np.float16), "float16", ref) is None


def same_tree(left, right):
    names = sorted(p.relative_to(left) for p in left.rglob("*") if p.is_file())
    assert names and names == sorted(p.relative_to(right) for p in right.rglob("*") if p.is_file())
    for name in names:
        assert filecmp.cmp(left / name, right / name, shallow=False), name


def tier_one():
    manifest = json.loads((MODELS / "manifest.json").read_text())
    return [entry for entry in manifest if entry.get("tier") == 1]


@pytest.mark.parametrize("entry", tier_one(), ids=lambda e: e["name"])
@pytest.mark.parametrize("flags", [[], ["-O0"]], ids=["default", "O0"])
def test_compiling_twice_gives_the_same_bytes(tmp_path, entry, flags):
    compiler = tool("spyre-compile")
    for name in ("a", "b"):
        done = run(compiler, MODELS / entry["file"], "-o", tmp_path / name, *flags)
        assert done.code == 0, done.err
    same_tree(tmp_path / "a", tmp_path / "b")


@pytest.mark.parametrize("entry", [e for e in tier_one() if e.get("npz")], ids=lambda e: e["name"])
def test_results_do_not_depend_on_threads(tmp_path, entry):
    spyre_run = tool("spyre-run")
    results = []
    for threads in ("1", "2", "5"):
        outputs = tmp_path / f"{threads}.npz"
        files = ["--inputs", MODELS / entry["npz"], "--outputs", outputs, "--threads", threads]
        done = run(spyre_run, MODELS / entry["file"], *files)
        assert done.code == 0, done.err
        results.append(np.load(outputs)["out0"])
    assert np.array_equal(results[0], results[1]) and np.array_equal(results[0], results[2])
