#!/usr/bin/env python3
# torch_weights.py - Random modules whose weights change between calls
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Layers of random kinds, sizes and types under no_grad or inference_mode, compiled by
# torch.compile or spyre_mlir.compile with each of the options `weights`. Between calls
# weights change in every way that libraries do it; the next call must have the new values
# (with `weights="versions"` and "sampled" after refresh_weights(), where PyTorch does not
# count the change), and the results must be PyTorch's.
"""Fuzz test of weights that change."""

import copy
import random
import sys
import traceback

import rounds
import torch

# Layers on [4, N]; @: a number, the same in all lines of a layer.
LAYERS = [
    ("nn.Linear(N, N)", "{}(x)"),
    ("nn.Linear(N, N, bias=False)", "{}(x)"),
    ("nn.LayerNorm(N)", "{}(x)"),
    ("nn.Embedding(300, N)", "x + {}(t)"),
    ("nn.Sequential(nn.Linear(N, 2 * N), nn.GELU(), nn.Linear(2 * N, N))", "{}(x)"),
    ("Masked(N)", "{}(x)"),
    ("Masked(N, base[@])", "{}(x)"),
    ("Masked(N, torch.from_numpy(arrays[@]).to(dtype))", "{}(x)"),
    ("nn.utils.parametrizations.weight_norm(nn.Linear(N, N))", "{}(x)"),
    ("nn.RMSNorm(N)", "{}(x)"),
]
TEXT = """import copy
import numpy as np
import torch
from torch import nn


class Masked(nn.Module):
    def __init__(self, n, mask=None):
        super().__init__()
        self.register_buffer("mask", torch.zeros(n) if mask is None else mask)

    def forward(self, x):
        return x * 0.5 + self.mask


class Module(nn.Module):
    def __init__(self, N, base, arrays, dtype):
        super().__init__()
        {init}

    def forward(self, x, t):
        {forward}
        return x
"""

# (the change of module m's weight `name`: owner o, attribute k, tensor w; whether PyTorch counts it).
CHANGES = [
    ("w[i] = 0.75", True), ("w.mul_(-0.5)", True), ("w.copy_(torch.full_like(w, 0.25))", True), ("w.view(-1)[j:j + 1].fill_(3)", True),
    ("m.load_state_dict({n: v * 0.5 for n, v in m.state_dict().items()})", True),
    ("w.data[i] = 0.75", False), ("w.data.neg_()", False), ("w.data.view(-1)[j] = 5", False), ("w.data += 0.5", False),
    ("w.detach().numpy().reshape(-1)[j] = 5" , False), ("w.data.copy_(w.data.flip(0))", False),
    ("w.data = w.data * 0.5", True), ("w.data = w.data.clone(); w.data[i] = 2", True), ("w.data = w.data * 2; w.data = w.data * 0.25", True),
    ("w.set_(w.detach() * 0.5)", True), ("setattr(o, k, remake(w, w.detach() * 0.5))", True), ("setattr(o, k, remake(w, torch.full_like(w, 0.25)))", True),
    ("m.load_state_dict({n: v * 0.5 for n, v in m.state_dict().items()}, assign=True)", True), ("m._apply(lambda t: t * 0.5 if t.is_floating_point() else t)", True),
    ("nn.utils.vector_to_parameters(nn.utils.parameters_to_vector(m.parameters()) * 0.5, m.parameters())", True),
    ("m.{layer} = copy.deepcopy(m.{layer}); w2 = m.get_parameter(name) if name in dict(m.named_parameters()) else m.get_buffer(name); w2.data.view(-1)[j] = 4", True),
    ("base[1] += 1", True), ("base[2].data += 1", False), ("arrays[0][3] += 1", False), ("base.data[1, j % 16] = 9", False), ("pass", True),
]  # fmt: skip


def load(text, seed, n, dtype):
    import numpy as np

    space = {"__name__": "fuzzed"}
    exec(compile(text, "<program>", "exec"), space)
    torch.manual_seed(seed)
    base = torch.rand(8, n).to(dtype)
    arrays = [np.zeros(n, {torch.float16: np.float16}.get(dtype, np.float32)) for _ in range(8)]
    module = space["Module"](n, base, arrays, dtype).to(dtype).eval().requires_grad_(False)
    return module, {**space, "m": module, "base": base, "arrays": arrays}


def apply(code, module, space, name, i, j):
    path, _, key = name.rpartition(".")
    owner = module.get_submodule(path)
    tensor = getattr(owner, key)
    made = {
        **space, "o": owner, "k": key, "w": tensor, "name": name, "i": i % max(tensor.shape[0], 1), "j": j % tensor.numel(),
        "remake": lambda old, new: torch.nn.Parameter(new, requires_grad=False) if isinstance(old, torch.nn.Parameter) else new,
    }  # fmt: skip
    exec(code.replace("{layer}", name.split(".")[0]), made)


def rounding_of(module, x, t):
    """How far rounding takes PyTorch's own result: a norm of numbers that lie close together makes it large."""
    exact = copy.deepcopy(module).double()(x.double(), t)
    return (module(x, t).double() - exact).abs().max().item()


def judge(seed):
    rng = random.Random(seed)
    n = rng.choice([16, 64, 72, 192])
    count = rng.randint(1, 3)
    chosen = [rng.choice(LAYERS) for _ in range(count)]
    init = [f"self.layer{k} = {made.replace('@', str(k))}" for k, (made, _) in enumerate(chosen)]
    forward = [f"x = {use.format(f'self.layer{k}')}" for k, (_, use) in enumerate(chosen)]
    text = TEXT.replace("{init}", "\n        ".join(init)).replace("{forward}", "\n        ".join(forward))
    dtype = rng.choice([torch.float16, torch.float16, torch.float32, torch.bfloat16])
    direct, guard = rng.random() < 0.5, rng.choice(["checked", "checked", "checked", "sampled", "versions"])
    mode = rng.choice([torch.no_grad, torch.inference_mode])
    steps = [(*rng.choice(CHANGES), rng.random(), rng.randrange(1 << 16), rng.randrange(1 << 16)) for _ in range(3)]
    import spyre_mlir
    import spyre_mlir.dynamo as dynamo

    where = (
        f"{'spyre_mlir.compile' if direct else 'torch.compile'}, {mode.__name__}, weights={guard!r}, {dtype}, N = {n}"
    )
    torch._dynamo.reset()
    done = []
    try:
        with mode():
            module, space = load(text, seed, n, dtype)
            g = torch.Generator().manual_seed(seed)
            x, t = torch.rand(4, n, generator=g).to(dtype), torch.randint(0, 300, (4,), generator=g)
            options = {"weights": guard, "threads": 1}
            f = spyre_mlir.compile(module, x, t, **options) if direct else torch.compile(module, backend="spyre", options=options)  # fmt: skip
            rounds.compare("first call", f(x, t), module(x, t))
            for code, counted, which, i, j in steps:
                names = [k for k, v in [*module.named_parameters(), *module.named_buffers()] if v.is_floating_point()]
                name = names[int(which * len(names))]
                try:
                    apply(code, module, space, name, i, j)
                except (
                    RuntimeError,
                    TypeError,
                    ValueError,
                    AttributeError,
                    KeyError,
                ):  # not of this tensor, or not under this mode
                    continue
                done.append(f"{name}: {code}")
                # Tensors of inference mode count nothing.
                if guard != "checked" and (not counted or mode is torch.inference_mode):
                    f.refresh_weights() if direct else dynamo.refresh_weights()
                rounds.compare(f"after {name}: {code}", f(x, t), module(x, t), 4 * rounding_of(module, x, t))
    except torch._dynamo.exc.Unsupported:
        return text, None, "not captured by Dynamo"
    except Exception as error:  # noqa: BLE001
        kind = "" if isinstance(error, rounds.Difference) else traceback.format_exc()[-1500:]
        return text, f"{where}: {type(error).__name__}: {str(error)[:800]}\n{kind}", "failed"
    return text + "".join(f"# {line}\n" for line in done), None, "passed" if done else "nothing changed"


if __name__ == "__main__":
    sys.exit(rounds.run(judge, __doc__))
