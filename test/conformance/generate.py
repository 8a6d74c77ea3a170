#!/usr/bin/env python3
# generate.py - Small programs of chosen shapes, exported from PyTorch
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes a JSON-lines file for programs.py: the kinds of programs of the first
# tier (add, matmul, bmm, linear with bias, softmax, log_softmax, RMSNorm) at
# shapes that fit no stick and divide badly. Inputs are rounded to the device's
# format first; PyTorch's result and the float64 reference are computed from
# those. Needs PyTorch and torch-mlir (utils/install-deps.sh --torch).
"""Exports tier-1 kinds of programs at given shapes, with golden arrays."""

import argparse
import json
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent / "e2e")]

from lib import arrays, formats  # noqa: E402

SHAPES = "32x200,67x255,1x1,3x5x130"


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="generate.py",
        description=__doc__,
        epilog="example: generate.py --shapes 67x255,3x5x130 --only softmax -o cases.jsonl.gz",
    )
    parser.add_argument("-o", "--output", required=True, help="file to write (.jsonl or .jsonl.gz)")
    parser.add_argument("--shapes", default=SHAPES, help=f"shapes of the first operand (default {SHAPES})")
    parser.add_argument("--dtype", default="float16", choices=("float16", "bfloat16"), help="dtype of the programs")
    parser.add_argument("--forms", default="raw,nodecomp", help="raw, nodecomp: with and without decompositions")
    parser.add_argument("--only", default="", help="kinds of programs whose name contains it")
    parser.add_argument("--seed", type=int, default=0, help="seed of the inputs")
    return parser.parse_args(argv)


def kinds(torch, export):
    """name -> (function, shapes of the inputs for the shape of the first)."""
    functional = torch.nn.functional

    def rms_norm(x, weight):
        wide = export.wide(x)
        scaled = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
        return scaled.to(x.dtype) * weight

    def batched(shape):
        return shape if len(shape) > 2 else (2, *shape)

    columns = 70
    return {
        "add": (lambda x, y: x + y, lambda s: [s, s]),
        "add_row": (lambda x, y: x + y, lambda s: [s, s[-1:]]),
        "add_column": (lambda x, y: x + y, lambda s: [s, (*s[:-1], 1)]),
        "matmul": (torch.matmul, lambda s: [s, (s[-1], columns)]),
        "bmm": (torch.bmm, lambda s: [batched(s), (batched(s)[0], s[-1], columns)]),
        "linear_bias": (functional.linear, lambda s: [s, (columns, s[-1]), (columns,)]),
        "softmax": (lambda x: torch.softmax(x, -1), lambda s: [s]),
        "softmax_first": (lambda x: torch.softmax(x, 0), lambda s: [s]),
        "log_softmax": (lambda x: torch.log_softmax(x, -1), lambda s: [s]),
        "rmsnorm": (rms_norm, lambda s: [s, s[-1:]]),
    }


def draw(export, shapes, dtype, seed, name):
    """float64 arrays that the dtype and the device's format both hold; weights about 1/sqrt(fan in)."""
    random = np.random.default_rng(export.named_seed(seed, name))
    for position, shape in enumerate(shapes):
        values = random.standard_normal(shape)
        if position and name.startswith(("matmul", "bmm", "linear")):
            values = values / np.sqrt(shapes[0][-1])
        yield formats.exact_on_device(values, dtype)


def make_cases(torch, export, kind, function, shapes, options):
    """The cases of one kind at one shape, a form each; a form that changes nothing is no other case."""
    from lib import tensors

    name = f"{kind}_{'x'.join(map(str, shapes[0]))}"
    drawn = draw(export, shapes, options.dtype, options.seed, name)
    inputs = [torch.from_numpy(array).to(getattr(torch, options.dtype)) for array in drawn]
    module, forms = export.Program(function).eval(), options.forms.split(",")
    refs = export.run(module, [tensors.in_float64(x) for x in inputs])
    rest = {
        "inputs": [export.encode(x) for x in inputs],
        "outputs": [export.encode(x) for x in export.run(module, inputs)],
        "refs": [arrays.encode(export.shorten(ref.numpy()), "float32") for ref in refs],
    }
    made, texts = export.texts(module, inputs, forms, name), set()
    for form in forms:
        if made[form] not in texts:
            suffix = "" if form == "raw" else f".{form}"
            yield {"name": name + suffix, "entry": name, "cls": "device", "tier": 1, "mlir": made[form], **rest}
        texts.add(made[form])


def main(argv=None):
    options = parse(argv)
    try:
        import export
        import torch
    except ImportError as error:
        print(f"generate.py: error: {error}; utils/install-deps.sh --torch installs it", file=sys.stderr)
        return 2
    lines = []
    for kind, (function, inputs_for) in kinds(torch, export).items():
        if options.only not in kind:
            continue
        for text in options.shapes.split(","):
            shapes = [tuple(s) for s in inputs_for(tuple(int(n) for n in text.split("x")))]
            lines += [json.dumps(case) for case in make_cases(torch, export, kind, function, shapes, options)]
    path = pathlib.Path(options.output)
    export.write_lines(path, lines)
    print(f"{len(lines)} programs in {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
