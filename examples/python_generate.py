#!/usr/bin/env python3
# python_generate.py - A small model of Granite's architecture writes tokens
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Plain PyTorch with seeded weights: RMSNorm, grouped-query attention with rotary
# positions, SwiGLU, Granite's multipliers. The prompt and each further token are one
# compiled graph each, which are compiled once; keys and values lie in caches that are
# changed in place. The tokens are compared with those that PyTorch finds on the host.
"""Generates tokens with a compiled model and compares them with PyTorch's."""

import argparse
import dataclasses
import sys
import time

import comparison
import spyre_mlir.dynamo as dynamo
import torch
import torch.nn.functional as F


@dataclasses.dataclass(frozen=True)
class Config:
    vocabulary: int = 512
    layers: int = 4
    hidden: int = 256
    heads: int = 4
    kv_heads: int = 2
    intermediate: int = 512
    positions: int = 128
    embedding_multiplier: float = 12.0
    attention_multiplier: float = 1 / 64
    residual_multiplier: float = 0.22
    logits_scaling: float = 8.0

    @property
    def head(self):
        return self.hidden // self.heads


class RMSNorm(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(size))

    def forward(self, x):
        wide = x.float()
        return self.weight * (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5)).to(x.dtype)


def rotate(x, cosine, sine):
    first, second = x.chunk(2, -1)
    return x * cosine + torch.cat((-second, first), -1) * sine


class Attention(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        width = config.kv_heads * config.head
        self.q = torch.nn.Linear(config.hidden, config.hidden, bias=False)
        self.k = torch.nn.Linear(config.hidden, width, bias=False)
        self.v = torch.nn.Linear(config.hidden, width, bias=False)
        self.o = torch.nn.Linear(config.hidden, config.hidden, bias=False)

    def forward(self, x, keys, values, at, cosine, sine, mask):
        config, (batch, length, _) = self.config, x.shape
        heads = lambda y, n: y.view(batch, length, n, config.head).transpose(1, 2)
        q = rotate(heads(self.q(x), config.heads), cosine, sine)
        keys.index_copy_(2, at, rotate(heads(self.k(x), config.kv_heads), cosine, sine))
        values.index_copy_(2, at, heads(self.v(x), config.kv_heads))
        groups = config.heads // config.kv_heads
        k, v = keys.repeat_interleave(groups, 1), values.repeat_interleave(groups, 1)
        scores = q @ k.transpose(2, 3) * config.attention_multiplier + mask
        mixed = torch.softmax(scores, -1) @ v
        return self.o(mixed.transpose(1, 2).reshape(batch, length, config.hidden))


class Layer(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.scale = config.residual_multiplier
        self.before_attention, self.before_mlp = RMSNorm(config.hidden), RMSNorm(config.hidden)
        self.attention = Attention(config)
        self.gate = torch.nn.Linear(config.hidden, config.intermediate, bias=False)
        self.up = torch.nn.Linear(config.hidden, config.intermediate, bias=False)
        self.down = torch.nn.Linear(config.intermediate, config.hidden, bias=False)

    def forward(self, x, *rest):
        x = x + self.scale * self.attention(self.before_attention(x), *rest)
        y = self.before_mlp(x)
        return x + self.scale * self.down(F.silu(self.gate(y)) * self.up(y))


class Granite(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embedding = torch.nn.Embedding(config.vocabulary, config.hidden)
        self.layers = torch.nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.norm = RMSNorm(config.hidden)
        self.head = torch.nn.Linear(config.hidden, config.vocabulary, bias=False)
        torch.nn.init.normal_(self.embedding.weight, std=1 / config.embedding_multiplier)
        for module in self.modules():
            if isinstance(module, torch.nn.Linear):  # layers with a say in what is written
                torch.nn.init.normal_(module.weight, std=2 * module.in_features**-0.5)
        angles = torch.outer(
            torch.arange(config.positions).float(), 10000.0 ** (-torch.arange(0, config.head, 2) / config.head)
        )
        angles = torch.cat((angles, angles), -1)
        self.register_buffer("cosines", angles.cos())
        self.register_buffer("sines", angles.sin())

    def make_caches(self, batch):
        config = self.config
        shape = (batch, config.kv_heads, config.positions, config.head)
        return [[torch.zeros(shape, dtype=torch.float16) for _ in range(2)] for _ in self.layers]

    def forward(self, tokens, at, caches):
        """tokens at the positions `at`; the caches get their keys and values. Returns the last token's logits."""
        config = self.config
        x = self.embedding(tokens) * config.embedding_multiplier
        seen = torch.arange(config.positions) <= at[:, None]
        mask = torch.zeros(seen.shape, dtype=x.dtype).masked_fill(~seen, float("-inf"))
        cosine, sine = self.cosines[at].to(x.dtype), self.sines[at].to(x.dtype)
        for layer, (keys, values) in zip(self.layers, caches):
            x = layer(x, keys, values, at, cosine, sine, mask)
        return self.head(self.norm(x[:, -1])) / config.logits_scaling


@torch.no_grad()
def generate(model, forward, prompt, count):
    """(tokens, the logits that each was chosen by, seconds a token after the first)."""
    caches = model.make_caches(prompt.shape[0])
    tokens, chosen, times = prompt, [], []
    at = torch.arange(prompt.shape[1])
    step = prompt
    for _ in range(count):
        began = time.perf_counter()
        logits = forward(step, at, caches)
        times.append(time.perf_counter() - began)
        chosen.append(logits)
        step = logits.argmax(-1, keepdim=True)
        tokens = torch.cat((tokens, step), 1)
        at = at[-1:] + 1
    return tokens, chosen, times


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: python_generate.py --tokens 16")
    parser.add_argument("--tokens", type=int, default=64, help="tokens to generate (default 64)")
    parser.add_argument("--prompt", type=int, default=32, help="tokens of the prompt (default 32)")
    options = parser.parse_args(argv)
    config = Config()
    if options.prompt < 1 or options.tokens < 1 or options.prompt + options.tokens > config.positions:
        parser.error(f"prompt and tokens are at least 1 and together at most {config.positions}")
    print(f"Granite's architecture, {config.layers} layers of {config.hidden}, prompt of {options.prompt} tokens")
    torch.manual_seed(0)
    model = Granite(config).half().eval()
    prompt = torch.randint(0, config.vocabulary, (1, options.prompt))
    wanted, wanted_logits, _ = generate(model, model, prompt, options.tokens)
    compiled = torch.compile(model, backend="spyre", dynamic=False)
    got, got_logits, times = generate(model, compiled, prompt, options.tokens)
    print(dynamo.summary())
    print(
        f"first call {times[0]:.2f} s, second {times[min(1, len(times) - 1)]:.2f} s, then {1000 * min(times):.1f} ms a token"
    )
    told = slice(options.prompt, None)
    return comparison.report_tokens(got[0, told], got_logits, wanted[0, told], wanted_logits)


if __name__ == "__main__":
    sys.exit(main())
