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

import numpy as np
import torch
from export import SIZES, arguments, shard_of, to_nine_fraction_bits, wide, write_manifest, write_program

FIXED = ((32, 200), (67, 255), (1, 1), (3, 5, 130))


def rms_norm_written_out(x, weight):
    y = wide(x)
    y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)
    return weight * y.to(x.dtype)


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
    return write_program(folder, name, function, inputs, forms=("torch", "nodecomp"), tier=1)


def main():
    parser = arguments(__doc__, 72)
    options = parser.parse_args()
    index, shards = shard_of(parser, options.shard)
    options.out.mkdir(parents=True, exist_ok=True)
    entries = [export(options.out, *case) for case in plan(options.seed, options.count)[index::shards]]
    write_manifest(options.out, entries)
    print(f"{len(entries)} programs in {options.out}")


if __name__ == "__main__":
    main()
