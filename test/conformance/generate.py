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
import base64
import gzip
import json
import pathlib
import sys
import zlib

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from lib import formats  # noqa: E402

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


def kinds(torch):
    """name -> (module, shapes of the inputs for the shape of the first)."""
    functional = torch.nn.functional

    class Function(torch.nn.Module):
        def __init__(self, function):
            super().__init__()
            self.function = function

        def forward(self, *inputs):
            return self.function(*inputs)

    def rms_norm(x, weight):
        wide = x.to(torch.float32) if x.dtype != torch.float64 else x
        scaled = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
        return scaled.to(x.dtype) * weight

    def batched(shape):
        return shape if len(shape) > 2 else (2, *shape)

    columns = 70
    return {
        "add": (Function(lambda x, y: x + y), lambda s: [s, s]),
        "add_row": (Function(lambda x, y: x + y), lambda s: [s, s[-1:]]),
        "add_column": (Function(lambda x, y: x + y), lambda s: [s, (*s[:-1], 1)]),
        "matmul": (Function(torch.matmul), lambda s: [s, (s[-1], columns)]),
        "bmm": (Function(torch.bmm), lambda s: [batched(s), (batched(s)[0], s[-1], columns)]),
        "linear_bias": (Function(functional.linear), lambda s: [s, (columns, s[-1]), (columns,)]),
        "softmax": (Function(lambda x: torch.softmax(x, -1)), lambda s: [s]),
        "softmax_first": (Function(lambda x: torch.softmax(x, 0)), lambda s: [s]),
        "log_softmax": (Function(lambda x: torch.log_softmax(x, -1)), lambda s: [s]),
        "rmsnorm": (Function(rms_norm), lambda s: [s, s[-1:]]),
    }


def encode(array, dtype):
    array = np.ascontiguousarray(array)
    return [dtype, list(array.shape), base64.b64encode(array.tobytes()).decode()]


def draw(shapes, dtype, seed, name):
    """float64 arrays that the dtype and the device's format both hold; weights about 1/sqrt(fan in)."""
    random = np.random.default_rng([seed, zlib.crc32(name.encode())])
    arrays = []
    for position, shape in enumerate(shapes):
        values = random.standard_normal(shape)
        if position and name.startswith(("matmul", "bmm", "linear")):
            values = values / np.sqrt(shapes[0][-1])
        values = formats.round_to_dl16(formats.round_to(values, dtype))
        arrays.append(formats.round_to(values, dtype))
    return arrays


def export(fx, module, inputs, form, name):
    options = {"output_type": "raw", "func_name": name}
    if form == "nodecomp":
        options["decomposition_table"] = {}
    return str(fx.export_and_import(module, *inputs, **options))


def make_case(torch, fx, kind, module, shapes, options, form):
    dtype = getattr(torch, options.dtype)
    name = f"{kind}_{'x'.join(map(str, shapes[0]))}"
    arrays = draw(shapes, options.dtype, options.seed, name)
    inputs = [torch.from_numpy(np.ascontiguousarray(a)).to(dtype) for a in arrays]
    text = export(fx, module.eval(), inputs, form, name)
    with torch.no_grad():
        out = module(*inputs)
        ref = module(*[torch.from_numpy(np.ascontiguousarray(a)) for a in arrays])
    stored = formats.from_float64(out.double().numpy(), options.dtype)
    return {
        "name": name + ("" if form == "raw" else f".{form}"),
        "entry": name,
        "cls": "device",
        "tier": 1,
        "mlir": text,
        "inputs": [encode(formats.from_float64(a, options.dtype), options.dtype) for a in arrays],
        "outputs": [encode(stored, options.dtype)],
        "refs": [encode(shorten(ref.numpy()), "float32")],
    }


def shorten(values):
    """float32 with 15 fraction bits: far finer than 16-bit results, and it compresses."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + 0x80) & np.uint32(0xFFFFFF00)).view(np.float32)


def main(argv=None):
    options = parse(argv)
    try:
        import torch
        from torch_mlir import fx
    except ImportError as error:
        print(f"generate.py: error: {error}; utils/install-deps.sh --torch installs it", file=sys.stderr)
        return 2
    shapes = [tuple(int(n) for n in text.split("x")) for text in options.shapes.split(",")]
    lines = []
    for kind, (module, inputs_for) in kinds(torch).items():
        if options.only not in kind:
            continue
        for shape in shapes:
            texts = set()
            for form in options.forms.split(","):
                case = make_case(torch, fx, kind, module, [tuple(s) for s in inputs_for(shape)], options, form)
                if case["mlir"] not in texts:  # a form that changes nothing is no other case
                    lines.append(json.dumps(case))
                texts.add(case["mlir"])
    path = pathlib.Path(options.output)
    data = ("\n".join(lines) + "\n").encode()
    # No time stamp in the file: the same call gives the same bytes.
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    print(f"{len(lines)} programs in {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
