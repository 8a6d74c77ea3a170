# guards.py - What a call pays to notice that weights have changed
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A stack of linear layers as a program with weights, called with each of the options
# `weights`: on the emulated device, and how long the check alone takes, beside reading the
# same memory once (a sum by NumPy). Times are the fastest of several runs.
"""Seconds of a call with weights="checked", "sampled" and "versions"."""

import argparse
import json
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

import numpy as np  # noqa: E402
import spyre_mlir  # noqa: E402
import torch  # noqa: E402


def best(function, runs):
    fastest = float("inf")
    for _ in range(runs):
        began = time.perf_counter()
        function()
        fastest = min(fastest, time.perf_counter() - began)
    return fastest * 1e6


def measure(width, layers, runs):
    """{figure: microseconds} of a model of `layers` square matrices in float16."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(*(torch.nn.Linear(width, width, bias=False) for _ in range(layers)))
    model = model.half().eval().requires_grad_(False)
    x = torch.randn(16, width).half()
    figures = {"mb": layers * width * width * 2 / 1e6}
    for guard in ("checked", "sampled", "versions"):
        program = spyre_mlir.compile(model, x, weights=guard)
        program(x)
        figures[f"call_{guard}_us"] = best(lambda program=program: program(x), runs)
        tensors = program.weights.tensors()
        figures[f"check_{guard}_us"] = best(
            lambda program=program: program._tracker.copy_changed(program.weights.tensors()), runs
        )
    arrays = [tensor.numpy().view(np.uint64) for tensor in tensors]
    figures["read_us"] = best(lambda: [array.sum() for array in arrays], runs)
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--json", type=pathlib.Path, help="write the figures there")
    options = parser.parse_args()
    figures = {}
    for width, layers in ((64, 2), (256, 8), (768, 3), (2048, 4)):
        values = figures[f"{layers} layers of {width}"] = measure(width, layers, options.runs)
        print(f"{layers} layers of {width}: " + "  ".join(f"{k} {v:.4g}" for k, v in values.items()), flush=True)
    if options.json:
        options.json.write_text(json.dumps({"figures": figures}, indent=1) + "\n")


if __name__ == "__main__":
    main()
