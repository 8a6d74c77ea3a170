#!/usr/bin/env python3
# sizes.py - Plans of programs at sizes beside those of the data set
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# bounds.py plans 27 given programs. A planner that is good at them alone is of no use: here
# are the same kinds of programs at other sizes, written down as PyTorch functions and exported
# when the command runs. Printed is how far the modelled time and the traffic are from the least.
"""Modelled time and traffic at other sizes, as multiples of the least possible."""

import argparse
import math
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import bounds  # noqa: E402
import workloads  # noqa: E402


def programs(torch):
    """Name -> (function, shapes of its f16 arguments)."""
    functional = torch.nn.functional

    def attention(q, k, v):
        return torch.softmax(q @ k.transpose(-1, -2) * 0.0884, -1) @ v

    def sdpa(q, k, v, mask=None):
        return functional.scaled_dot_product_attention(q, k, v, mask, enable_gqa=q.shape[1] != k.shape[1])

    def causal(q, k, v):
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True)

    def window(q, k, v):
        """Each row sees itself and the 511 keys before it."""
        rows, keys = torch.arange(q.shape[2])[:, None], torch.arange(k.shape[2])[None, :]
        return functional.scaled_dot_product_attention(q, k, v, (keys <= rows) & (keys > rows - 512))

    def rms(x, w):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * w

    def norm(x, w, b):
        return functional.layer_norm(x, (x.shape[-1],), w, b)

    def swiglu(x, gate, up, down):
        return (functional.silu(x @ gate) * (x @ up)) @ down

    def gelu(x, up, down):
        return functional.gelu(x @ up) @ down

    def residual(x, up, down, w):
        return x + functional.silu(rms(x, w) @ up) @ down

    def chain(x, w):
        for _ in range(20):
            x = torch.sigmoid(x * 1.01) + w
        return x

    def encoder(x, wq, wk, wv, wo, up, down, w1, b1, w2, b2):
        batch, length, hidden = x.shape
        q, k, v = ((x @ w).view(batch, length, hidden // 64, 64).transpose(1, 2) for w in (wq, wk, wv))
        o = attention(q, k, v).transpose(1, 2).reshape(batch, length, hidden) @ wo
        x = norm(x + o, w1, b1)
        return norm(x + functional.gelu(x @ up) @ down, w2, b2)

    def heads(count, rows, keys, width, batch=1, key_heads=None):
        kv = (batch, key_heads or count, keys, width)
        return (batch, count, rows, width), kv, kv

    return {
        "softmax_1000x5000": (lambda x: torch.softmax(x, -1), ((1000, 5000),)),
        "softmax_128x128256": (lambda x: torch.softmax(x, -1), ((128, 128256),)),
        "log_softmax_2048x32000": (lambda x: torch.log_softmax(x, -1), ((2048, 32000),)),
        "layernorm_8192x1024": (norm, ((8192, 1024), (1024,), (1024,))),
        "layernorm_1024x12288": (norm, ((1024, 12288), (12288,), (12288,))),
        "rmsnorm_8192x8192": (rms, ((8192, 8192), (8192,))),
        "rmsnorm_100x4096": (rms, ((100, 4096), (4096,))),
        "attention_16x1024x64": (attention, heads(16, 1024, 1024, 64)),
        "attention_32x4096x128": (attention, heads(32, 4096, 4096, 128)),
        "attention_40x1536x128": (attention, heads(40, 1536, 1536, 128)),
        "attention_8x8x256x64": (attention, heads(8, 256, 256, 64, batch=8)),
        "decode_32x8192": (attention, heads(32, 1, 8192, 128)),
        "decode_4x32x2048": (attention, heads(32, 1, 2048, 128, batch=4)),
        "sdpa_32x1024": (sdpa, heads(32, 1024, 1024, 128)),
        "sdpa_12x1024x96": (sdpa, heads(12, 1024, 1024, 96)),
        "sdpa_mask_32x1024": (sdpa, (*heads(32, 1024, 1024, 128), (1, 1, 1024, 1024))),
        "sdpa_causal_32x1024": (causal, heads(32, 1024, 1024, 128)),
        "sdpa_causal_16x4096x64": (causal, heads(16, 4096, 4096, 64)),
        "sdpa_causal_8x8192x128": (causal, heads(8, 8192, 8192, 128)),
        "sdpa_window_16x4096x64": (window, heads(16, 4096, 4096, 64)),
        "sdpa_grouped_512x32768": (sdpa, heads(32, 512, 32768, 128, key_heads=8)),
        "sdpa_grouped_decode_32768": (sdpa, heads(32, 1, 32768, 128, key_heads=8)),
        "swiglu_1": (swiglu, ((1, 4096), (4096, 14336), (4096, 14336), (14336, 4096))),
        "swiglu_128": (swiglu, ((128, 4096), (4096, 14336), (4096, 14336), (14336, 4096))),
        "swiglu_1024": (swiglu, ((1024, 4096), (4096, 14336), (4096, 14336), (14336, 4096))),
        "swiglu_4096x2048": (swiglu, ((4096, 2048), (2048, 8192), (2048, 8192), (8192, 2048))),
        "gelu_mlp_1024x768": (gelu, ((1024, 768), (768, 3072), (3072, 768))),
        "gelu_mlp_8192x1024": (gelu, ((8192, 1024), (1024, 4096), (4096, 1024))),
        "residual_2048": (residual, ((2048, 2048), (2048, 8192), (8192, 2048), (2048,))),
        "matmul_1024": (lambda a, b: a @ b, ((1024, 1024), (1024, 1024))),
        "matmul_transposed_2048": (lambda a, b: a @ b.t(), ((2048, 2048), (2048, 2048))),
        "add_transposed_4096x2048": (lambda a, b: a + b.t(), ((4096, 2048), (2048, 4096))),
        "chain_20_4096x4096": (chain, ((4096, 4096), (4096,))),
        "encoder_8x128x768": (
            encoder,
            ((8, 128, 768), *[(768, 768)] * 4, (768, 3072), (3072, 768), *[(768,)] * 4),
        ),
    }


def export(torch, function, shapes):
    """The text of `function` in the torch dialect, and the bytes of its arguments and results."""
    from torch_mlir import fx

    class Module(torch.nn.Module):
        def forward(self, *arguments):
            return function(*arguments)

    # torch.export names arguments after parameters: each has to have one.
    names = [f"in{i}" for i in range(len(shapes))]
    scope = {"function": function}
    exec(f"def forward(self, {', '.join(names)}): return function({', '.join(names)})", scope)
    Module.forward = scope["forward"]
    arguments = [torch.zeros(*shape, dtype=torch.float16) for shape in shapes]
    module = Module()
    bytes_moved = sum(tensor.nbytes for tensor in arguments)
    with torch.device("meta"):
        result = module(*(tensor.to("meta") for tensor in arguments))
    return str(fx.export_and_import(module, *arguments, func_name="main")), bytes_moved + result.nbytes


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def main(argv=None):
    parser = argparse.ArgumentParser(prog="sizes.py", description=__doc__, epilog="example: sizes.py --only sdpa")
    workloads.harness.add_build_flag(parser)
    parser.add_argument("--only", default="", metavar="SUBSTRING", help="programs whose name contains it")
    parser.add_argument("--flags", default="-O2", help="flags for spyre-compile (default -O2)")
    options = parser.parse_args(argv)
    import torch

    compiler = pathlib.Path(options.build) / "bin" / "spyre-compile"
    times, traffics = [], []
    print(f"{'program':28}{'µs':>9}{'bound':>9}{'ratio':>7}{'MB':>9}{'ratio':>7}{'compile s':>11}")
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        for name, (function, shapes) in programs(torch).items():
            if options.only not in name:
                continue
            text, least = export(torch, function, shapes)
            (scratch / "program.mlir").write_text(text)
            planned = bounds.plan(compiler, scratch / "program.mlir", options.flags.split(), scratch)
            moved = planned["hbm_read_bytes"] + planned["hbm_write_bytes"]
            times.append(planned["bound_ratio"])
            traffics.append(moved / least)
            print(
                f"{name:28}{planned['modelled_us']:9.0f}{planned['bound_us']:9.0f}{times[-1]:7.2f}"
                f"{moved / 1e6:9.1f}{traffics[-1]:7.2f}{planned['compile_s']:11.3f}"
            )
    if times:
        means = f"time {mean(times):.2f}, traffic {mean(traffics):.2f}"
        print(f"\n{len(times)} programs; geometric means of the ratios: {means}")


if __name__ == "__main__":
    main()
