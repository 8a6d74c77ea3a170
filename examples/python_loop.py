#!/usr/bin/env python3
# python_loop.py - A tiling of one's own: attention that reads its keys tile by tile
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# PyTorch's scan carries the largest score of each row, the sum of the exponentials and
# the output from tile to tile ("flash attention"). The compiler counts the trips and
# plans them as one program: what is carried stays in the cores' scratchpads.
"""Flash attention as a loop over tiles of keys and values."""

import sys

import comparison
import torch
from torch._higher_order_ops.scan import scan

TILE = 64


class FlashAttention(torch.nn.Module):
    """Of queries [heads, rows, size] and keys and values [heads, length, size], length a multiple of TILE."""

    def forward(self, q, k, v):
        heads, length, size = k.shape
        tiles = [x.reshape(heads, length // TILE, TILE, size).transpose(0, 1) for x in (k, v)]
        q = q * size**-0.5

        def step(carry, tile):
            largest, total, out = carry
            keys, values = tile
            scores = q @ keys.transpose(1, 2)
            new = torch.maximum(largest, scores.amax(-1, keepdim=True))
            shrink, weights = torch.exp(largest - new), torch.exp(scores - new)
            total = total * shrink + weights.sum(-1, keepdim=True)
            out = out * shrink + weights @ values
            return (new, total, out), new.amax()  # what is stacked: the largest score after each tile

        lowest = torch.full_like(q[..., :1], -1e4)
        carry = lowest, torch.zeros_like(lowest), torch.zeros_like(q)
        (_, total, out), _ = scan(step, carry, tuple(tiles))
        return out / total


def main():
    torch.manual_seed(0)
    model = FlashAttention()
    q, k, v = ((torch.randint(-128, 129, (8, rows, 64)) / 64).half() for rows in (128, 512, 512))
    v = v.abs()  # else their mean is next to nothing
    with torch.no_grad():
        y = torch.compile(model, backend="spyre")(q, k, v)
    print(f"{k.shape[1] // TILE} tiles of {TILE} keys")
    return comparison.report(model, (q, k, v), y)


if __name__ == "__main__":
    sys.exit(main())
