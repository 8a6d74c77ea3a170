#!/usr/bin/env python3
# python_vit.py - Pictures cut into patches, and a block of a vision transformer
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The patches are cut with a reshape, so that embedding them is a matmul; 49 patches and
# a class token are 50 rows, which fill no tile of the device evenly.
"""A ViT block between patch embedding and classifier."""

import sys

import comparison
import torch
import torch.nn.functional as F


class Block(torch.nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_mlp = torch.nn.LayerNorm(size), torch.nn.LayerNorm(size)
        self.qkv, self.mixed = torch.nn.Linear(size, 3 * size), torch.nn.Linear(size, size)
        self.up, self.down = torch.nn.Linear(size, 4 * size), torch.nn.Linear(4 * size, size)

    def forward(self, x):
        batch, length, size = x.shape
        q, k, v = self.qkv(self.before_attention(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v)
        x = x + self.mixed(y.transpose(1, 2).reshape(batch, length, size))
        return x + self.down(F.gelu(self.up(self.before_mlp(x))))


class ViT(torch.nn.Module):
    def __init__(self, picture=56, patch=8, size=192, heads=3, classes=10):
        super().__init__()
        self.patch = patch
        self.embedding = torch.nn.Linear(3 * patch * patch, size)
        self.first = torch.nn.Parameter(torch.randn(1, 1, size))
        self.positions = torch.nn.Parameter(0.1 * torch.randn(1, (picture // patch) ** 2 + 1, size))
        self.block = Block(size, heads)
        self.norm = torch.nn.LayerNorm(size)
        self.head = torch.nn.Linear(size, classes)

    def forward(self, pictures):
        batch, channels, height, width = pictures.shape
        rows, columns, p = height // self.patch, width // self.patch, self.patch
        patches = pictures.view(batch, channels, rows, p, columns, p).permute(0, 2, 4, 1, 3, 5)
        x = self.embedding(patches.reshape(batch, rows * columns, channels * p * p))
        x = torch.cat((self.first.expand(batch, -1, -1), x), 1) + self.positions
        return self.head(self.norm(self.block(x))[:, 0])


@torch.no_grad()
def main():
    torch.manual_seed(0)
    model = ViT().half().eval()
    pictures = torch.randn(2, 3, 56, 56).half()
    compiled = torch.compile(model, backend="spyre")
    return comparison.report(model, (pictures,), compiled(pictures))


if __name__ == "__main__":
    sys.exit(main())
