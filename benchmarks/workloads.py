# workloads.py - The programs that the benchmarks compile
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A workload is a text of test/data/models, several layers stacked from one, or a
# function that PyTorch and torch-mlir export. The names are those of
# incumbent.json, so a workload finds the published figures beside it. Without
# PyTorch those that need an export are left out; the caller says which.
"""Where each benchmarked program comes from."""

import dataclasses
import json
import pathlib
import sys
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(ROOT / "test" / "e2e"), str(ROOT / "test" / "conformance")]

from stack_layers import stack  # noqa: E402

from lib import harness  # noqa: E402

BUSY = 1.0  # load above which figures are not judged


class Unavailable(Exception):
    """The workload cannot be made here; the text says why."""


@dataclasses.dataclass(frozen=True)
class Workload:
    """`file` of test/data/models, or `export`: a function giving (function, input shapes)."""

    name: str
    file: str | None = None
    export: Callable | None = None
    layers: int = 1  # copies, one behind the other
    shared: tuple = ()  # arguments that all copies get

    def write(self, folder):
        """The path of the program's text, made in `folder` if it is not in the data."""
        source = self.exported(folder) if self.export else models() / self.file
        if not source.exists():
            raise Unavailable(f"{source} is missing")
        if self.layers == 1:
            return source
        stacked = folder / f"{self.name}.mlir"
        stacked.write_text(stack(source.read_text(), self.layers, set(self.shared)))
        return stacked

    def exported(self, folder):
        path = folder / f"{self.export.__name__}.mlir"
        if path.exists():
            return path
        try:
            import export
            import torch
        except ImportError as error:
            raise Unavailable(f"needs {error.name}: utils/install-deps.sh --torch") from error
        function, shapes = self.export(torch)
        inputs = [torch.zeros(shape, dtype=torch.float16) for shape in shapes]
        path.write_text(export.texts(export.Program(function).eval(), inputs, ())["raw"])
        return path


def models():
    return harness.DATA / "models"


def incumbent():
    """Workload name -> published figures."""
    return json.loads((ROOT / "benchmarks" / "incumbent.json").read_text())["workloads"]


# --- functions to export -----------------------------------------------------


def attention_k_transposed(torch):
    """Explicit attention whose keys come as [head size, length]."""

    def function(q, kt, v, mask):
        return torch.softmax(torch.matmul(q, kt) * 128**-0.5 + mask, -1) @ v

    return function, [(1, 32, 512, 128), (1, 32, 128, 512), (1, 32, 512, 128), (1, 1, 512, 512)]


def attention_sdpa(torch):
    return torch.nn.functional.scaled_dot_product_attention, [(1, 32, 512, 128)] * 3 + [(1, 1, 512, 512)]


def granite_prefill_sh(torch):
    """A Granite-3.3-8B decoder layer over activations [length, hidden]."""
    length, hidden, heads, kv, size, inner = 512, 4096, 32, 8, 128, 12800
    linear, silu = torch.nn.functional.linear, torch.nn.functional.silu

    def norm(x, weight):
        y = x.to(torch.float32)
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)
        return weight * y.to(x.dtype)

    def turn(x, cos, sin):
        half = x.shape[-1] // 2
        return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin

    def split(x, count):
        return x.view(length, count, size).transpose(0, 1)

    def repeat(x):
        return x[:, None].expand(kv, heads // kv, length, size).reshape(heads, length, size)

    def layer(x, cos, sin, mask, n1, wq, wk, wv, wo, n2, gate, up, down):
        y = norm(x, n1)
        q, k, v = split(linear(y, wq), heads), split(linear(y, wk), kv), split(linear(y, wv), kv)
        q, k = turn(q, cos, sin), turn(k, cos, sin)
        scores = q @ repeat(k).transpose(1, 2) * size**-1 + mask
        p = torch.softmax(scores.to(torch.float32), -1).to(x.dtype)
        a = (p @ repeat(v)).transpose(0, 1).reshape(length, heads * size)
        x = x + linear(a, wo) * 0.22
        y = norm(x, n2)
        return x + linear(silu(linear(y, gate)) * linear(y, up), down) * 0.22

    weights = [(hidden,), (hidden, hidden), (kv * size, hidden), (kv * size, hidden), (hidden, hidden), (hidden,)]
    weights += [(inner, hidden), (inner, hidden), (hidden, inner)]
    return layer, [(length, hidden), (length, size), (length, size), (length, length), *weights]


WORKLOADS = [
    Workload("softmax_512x1024", "softmax_512x1024.mlir"),
    Workload("add_4096x4096", "add_4096x4096.mlir"),
    Workload("matmul_512x4096x4096", "matmul_512x4096x4096.mlir"),
    Workload("rmsnorm_512x4096", "rmsnorm_512x4096.mlir"),
    Workload("layernorm_512x1024", "layernorm_512x1024.mlir"),
    Workload("swiglu_mlp_512x4096x14336", "swiglu_mlp_full.mlir"),
    Workload("attention_explicit_1x32x512x128", "attention_explicit_full.mlir"),
    Workload("attention_k_transposed", export=attention_k_transposed),
    Workload("attention_sdpa_1x32x512x128", export=attention_sdpa),
    Workload("granite_prefill_sh", export=granite_prefill_sh),
    Workload("granite_prefill_1sh", "granite_layer_prefill.mlir"),
    Workload("granite_4_layers_sh", export=granite_prefill_sh, layers=4, shared=(1, 2, 3)),
    Workload("granite_4_layers_1sh", "granite_layer_prefill.mlir", layers=4, shared=(1, 2, 3)),
    Workload("granite_decode_kv512", "granite_layer_decode.mlir"),
    Workload("chain_64_512x1024", "chain_64_512x1024.mlir"),
    Workload("chain_256_512x1024", "chain_256_512x1024.mlir"),
    Workload("chain_1024_512x1024", "chain_1024_512x1024.mlir"),
]
