#!/usr/bin/env python3
# generate_tier1.py - Exports the first operations at unaligned shapes
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes a folder in the format of test/data/models (see its README): manifest.json,
# raw, torch and undecomposed texts, and arrays. Inputs are float16 values with at most
# 9 fraction bits, which the device's 16-bit format holds exactly.
"""Programs of one operation each, with PyTorch's results, for test/conformance/programs.py."""

import argparse
import hashlib
import json
import pathlib

import numpy as np
import torch
from torch_mlir import fx

SIZES = (1, 2, 31, 33, 63, 64, 65, 100, 127, 129, 200, 257)
FIXED = ((32, 200), (67, 255), (1, 1), (3, 5, 130))


class Program(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def rms_norm_written_out(x, weight):
    y = x.to(torch.float64 if x.dtype == torch.float64 else torch.float32)
    y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)
    return weight * y.to(x.dtype)


def to_nine_fraction_bits(x):
    """The nearest value with 9 fraction bits, as float16; subnormals of float16 become 0."""
    mantissa, exponent = np.frexp(np.asarray(x, np.float64))
    y = np.ldexp(np.rint(mantissa * 1024) / 1024, exponent)
    return torch.from_numpy(np.where(np.abs(y) < 2.0**-14, 0, y).astype(np.float16))


def make_case(kind, shape, extra, rng):
    """The function and its inputs."""

    def data(*dims, scale=1.0):
        return to_nine_fraction_bits(rng.standard_normal(dims) * scale)

    k = shape[-1]
    fan = k**-0.5
    functional = torch.nn.functional
    if kind == "add":
        return torch.add, [data(*shape), data(*shape)]
    if kind in ("matmul", "bmm"):
        batch = shape[:-2] if kind == "bmm" else ()
        batch = batch or ((3,) if kind == "bmm" else ())
        function = torch.bmm if kind == "bmm" else torch.matmul
        return function, [data(*batch, *shape[-2:]), data(*batch, k, extra, scale=fan)]
    if kind in ("linear", "linear3d"):
        dims = shape[-2:] if kind == "linear" else (shape if len(shape) == 3 else (2, *shape))
        return functional.linear, [data(*dims), data(extra, k, scale=fan), data(extra)]
    if kind in ("softmax", "log_softmax"):
        dim = extra % len(shape)
        function = getattr(torch, kind)
        return (lambda x: function(x, dim)), [data(*shape)]
    if kind == "rmsnorm":
        return rms_norm_written_out, [data(*shape), data(k)]
    return (lambda x, w: functional.rms_norm(x, (k,), w, 1e-5)), [data(*shape), data(k)]


KINDS = ("add", "matmul", "bmm", "linear", "linear3d", "softmax", "log_softmax", "rmsnorm", "torch_rms_norm")


def plan(seed, count):
    """(name, kind, shape, extra, seed): fixed shapes first, then random ones."""
    rng = np.random.default_rng(seed)
    cases = []
    while len(cases) < count:
        number = len(cases)
        kind = KINDS[number % len(KINDS)]
        turn = number // len(KINDS)
        shape = FIXED[turn] if turn < len(FIXED) else tuple(int(n) for n in rng.choice(SIZES, 2))
        extra = int(rng.choice(SIZES))
        size = "x".join(map(str, shape))
        cases.append((f"{kind}_{size}_{extra}_{number}", kind, shape, extra, seed * 100003 + number))
    return cases


def export(folder, name, kind, shape, extra, seed):
    function, inputs = make_case(kind, shape, extra, np.random.default_rng(seed))
    module = Program(function).eval()
    with torch.no_grad():
        out = module(*inputs)
        ref = module(*(x.double() for x in inputs))
    entry = {"name": name, "func": "main", "tier": 1, "cls": "device", "note": ""}
    forms = {
        "file": ("", {"output_type": "raw"}),
        "torch_form": (".torch", {"output_type": "torch"}),
        "nodecomp_form": (".nodecomp", {"output_type": "raw", "decomposition_table": {}}),
    }
    for key, (suffix, options) in forms.items():
        text = str(fx.export_and_import(module, *inputs, func_name="main", **options))
        (folder / f"{name}{suffix}.mlir").write_text(text)
        entry[key] = f"{name}{suffix}.mlir"
        if key == "file":
            entry["bytes"] = len(text.encode())
            entry["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    arrays = {f"in{i}": x.numpy() for i, x in enumerate(inputs)}
    arrays.update(out0=out.numpy(), ref0=ref.numpy().astype(np.float32))
    arrays.update(in_dtypes=np.array(["float16"] * len(inputs)), out_dtypes=np.array(["float16"]))
    np.savez_compressed(folder / f"{name}.npz", **arrays)
    entry["npz"] = f"{name}.npz"
    entry["inputs"] = [{"dtype": "float16", "shape": list(x.shape)} for x in inputs]
    entry["results"] = [f"!torch.vtensor<[{','.join(map(str, out.shape))}],f16>"]
    rms = float(ref.square().mean().sqrt())
    entry["torch_err_over_rms"] = [round(float((out.double() - ref).abs().max()) / rms, 6) if rms else 0.0]
    return entry


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shard", default="0/1", help="I/N: every Nth case from the Ith on, from 0")
    parser.add_argument("--count", type=int, default=72, help="cases of all shards together")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    index, shards = (int(part) for part in options.shard.split("/"))
    if not 0 <= index < shards:
        parser.error("--shard I/N needs 0 <= I < N")
    options.out.mkdir(parents=True, exist_ok=True)
    entries = [export(options.out, *case) for case in plan(options.seed, options.count)[index::shards]]
    lines = ",\n".join(json.dumps(entry) for entry in entries)
    (options.out / "manifest.json").write_text(f"[\n{lines}\n]\n")
    print(f"{len(entries)} programs in {options.out}")


if __name__ == "__main__":
    main()
