#!/usr/bin/env python3
# python_bert.py - An encoder like BERT's, with padded sentences
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Token, position and segment embeddings, layers with bidirectional attention that leaves
# out padding, layer norms behind the sums, GELU, and a pooled first token.
"""A small BERT-style encoder on a batch of sentences of different lengths."""

import sys

import comparison
import torch
import torch.nn.functional as F


class Layer(torch.nn.Module):
    def __init__(self, size, heads, inner):
        super().__init__()
        self.heads = heads
        self.qkv, self.mixed = torch.nn.Linear(size, 3 * size), torch.nn.Linear(size, size)
        self.up, self.down = torch.nn.Linear(size, inner), torch.nn.Linear(inner, size)
        self.after_attention, self.after_mlp = torch.nn.LayerNorm(size), torch.nn.LayerNorm(size)

    def forward(self, x, mask):
        batch, length, size = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = self.after_attention(x + self.mixed(y.transpose(1, 2).reshape(batch, length, size)))
        return self.after_mlp(x + self.down(F.gelu(self.up(x))))


class Encoder(torch.nn.Module):
    def __init__(self, vocabulary=512, positions=128, layers=3, size=192, heads=3, inner=768):
        super().__init__()
        self.tokens = torch.nn.Embedding(vocabulary, size)
        self.positions = torch.nn.Embedding(positions, size)
        self.segments = torch.nn.Embedding(2, size)
        self.norm = torch.nn.LayerNorm(size)
        self.layers = torch.nn.ModuleList(Layer(size, heads, inner) for _ in range(layers))
        self.pooler = torch.nn.Linear(size, size)

    def forward(self, tokens, segments, is_token):
        x = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]] + self.segments(segments)
        x = self.norm(x)
        mask = torch.zeros(is_token.shape, dtype=x.dtype).masked_fill(~is_token, float("-inf"))[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mask)
        return torch.tanh(self.pooler(x[:, 0]))


@torch.no_grad()
def main():
    torch.manual_seed(0)
    model = Encoder().half().eval()
    lengths = torch.tensor([80, 33, 57, 4])
    tokens = torch.randint(0, 512, (4, 80))
    segments = (torch.arange(80) >= lengths[:, None] // 2).long()
    is_token = torch.arange(80) < lengths[:, None]

    compiled = torch.compile(model, backend="spyre")
    return comparison.report(model, (tokens, segments, is_token), compiled(tokens, segments, is_token))


if __name__ == "__main__":
    sys.exit(main())
