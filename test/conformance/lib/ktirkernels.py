# ktirkernels.py - What the kernels of test/data/ktir make of their inputs
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# One row a kernel: how its inputs are drawn, and a NumPy function of them in float64 (or
# integers) that says what must come out. Nothing here comes from running a kernel.
"""Inputs and expected results of kernels, by name."""

import dataclasses
from collections.abc import Callable

import numpy as np
from numpy import float64 as f64

from lib import formats


@dataclasses.dataclass
class Kernel:
    """`expect` takes the inputs by name and gives the results by name. Errors are counted in
    units of the result's type (2^-10 of the larger of |expected| and its rms for float16)."""

    expect: Callable[[dict], dict]
    draw: dict = dataclasses.field(default_factory=dict)
    ulps: float = 4


KERNELS: dict[str, Kernel] = {}


def kernel(ulps=4.0, **draw):
    """Registers a function under its own name; `draw` gives inputs other than N(0, 1)."""

    def register(function):
        KERNELS[function.__name__] = Kernel(function, draw, ulps)
        return function

    return register


def draw_inputs(arrays, kernel, seed):
    """By name: what `kernel` draws, else normal floats and small integers."""
    rng = np.random.default_rng(seed)
    inputs = {}
    for array in arrays:
        if array.get("role", "input") == "output":
            continue
        name, dtype, shape = array["name"], np.dtype(formats.STORED[array["dtype"]]), tuple(array["shape"])
        if kernel and name in kernel.draw:
            value = np.asarray(kernel.draw[name](rng, shape))
        elif dtype.kind == "f" or array["dtype"] == "bfloat16":
            value = rng.standard_normal(shape)
        else:
            value = rng.integers(0, 8, shape)
        if array["dtype"] == "bfloat16":
            value = formats.float32_to_bfloat16(value.astype(np.float32))
        inputs[name] = value.astype(dtype).reshape(shape)
    return inputs


def permutation(count):
    return lambda rng, shape: rng.permutation(count)[: int(np.prod(shape))]


def integers(low, high):
    return lambda rng, shape: rng.integers(low, high, shape)


def positive(rng, shape):
    return rng.uniform(0.25, 4, shape)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def erf(x):
    """From its Taylor series, which converges everywhere."""
    total, term = np.zeros_like(x), x.copy()
    for n in range(200):
        total += term / (2 * n + 1)
        term = -term * x * x / (n + 1)
    return total * 2 / np.sqrt(np.pi)


# --- one operation -------------------------------------------------------------


@kernel()
def vector_add(a):
    return {"out0": a["in0"].astype(f64) + a["in1"]}


@kernel()
def vector_add_symbolic(a):
    return {"out0": a["in0"].astype(f64) + a["in1"]}


@kernel(ulps=8)
def softmax_rows(a):
    return {"out0": softmax(a["in0"].astype(f64))}


@kernel(ulps=12, in0=lambda rng, shape: 4 * rng.standard_normal(shape))
def softmax_wide(a):
    return {"out0": softmax(a["in0"].astype(f64))}


@kernel()
def layer_norm(a):
    x = a["in0"].astype(f64)
    y = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    return {"out0": y * a["in1"] + a["in2"]}


def rms_norm(x, w):
    return x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5) * w


@kernel()
def rms_norm_rows(a):
    return {"out0": rms_norm(a["in0"].astype(f64), a["in1"])}


@kernel()
def rms_norm_all_reduce(a):
    return {"out0": rms_norm(a["in0"].astype(f64), a["in1"])}


@kernel()
def matmul_grid(a):
    return {"out0": a["in0"].astype(f64) @ a["in1"]}


@kernel()
def matmul_shared_init(a):
    y = a["sum"] + a["in0"].astype(f64) @ a["in1"]
    return {"sum": y, "out0": y}


@kernel()
def split_k(a):
    return {"out0": a["in0"].astype(f64) @ a["in1"]}


@kernel(ulps=12)
def attention(a):
    q, k, v = (a[n].astype(f64) for n in ("in0", "in1", "in2"))
    return {"out0": softmax(q @ k.transpose(0, 2, 1) / 8) @ v}


@kernel(ulps=12, in3=permutation(12))
def paged_attention_gqa(a):
    keys, values = (a[n].astype(f64)[a["in3"]].reshape(64, 2, 64) for n in ("in1", "in2"))
    q = a["in0"].astype(f64).reshape(2, 4, 64)
    p = softmax(np.einsum("hqd,thd->hqt", q, keys) / 8)
    return {"out0": np.einsum("hqt,thd->hqd", p, values).reshape(8, 64)}


@kernel()
def rope(a):
    x, c, s = (a[n].astype(f64) for n in ("in0", "in1", "in2"))
    low, high = x[..., :32], x[..., 32:]
    return {"out0": np.concatenate([low * c - high * s, high * c + low * s], -1)}


@kernel(ulps=8)
def swiglu(a):
    x, g, u, d = (a[n].astype(f64) for n in ("in0", "in1", "in2", "in3"))
    gate = x @ g
    return {"out0": gate * sigmoid(gate) * (x @ u) @ d}


@kernel(ulps=8)
def swiglu_four(a):
    return swiglu(a)


@kernel()
def silu_and_mul(a):
    x = a["in0"].astype(f64)
    return {"out0": x[:, :128] * sigmoid(x[:, :128]) * x[:, 128:]}


@kernel(ulps=0)
def reduce_generic(a):
    return {"out0": a["in0"].max(1)}


@kernel()
def reduce_multiop(a):
    x = a["in0"].astype(f64)
    return {"out0": (x * x).sum(1), "out1": np.abs(x).argmax(1)}


@kernel()
def rank0_broadcast(a):
    return {"out0": a["in0"].astype(f64) * a["in1"]}


@kernel()
def broadcast_row(a):
    return {"out0": a["in0"].astype(f64) + a["in1"]}


@kernel(ulps=16)
def convolution(a):
    x, w = a["in0"].astype(f64)[0], a["in1"].astype(f64)
    y = np.array(
        [[np.einsum("ijc,ijco->o", x[2 * i : 2 * i + 3, 2 * j : 2 * j + 3], w) for j in range(6)] for i in range(6)]
    )
    return {"out0": y.reshape(3, 2, 3, 2, 5).max((1, 3))[None]}


@kernel(ulps=16, in0=positive, in1=positive)
def named_ops(a):
    x, y = a["in0"].astype(f64), a["in1"].astype(f64)
    quotient = np.exp(-np.abs(x * y - y)) / x
    return {"out0": np.minimum(np.maximum(quotient, y * y), x) + y}


@kernel(in0=positive)
def intrinsics(a):
    x = a["in0"].astype(f64)
    gelu = x / 2 * (1 + erf(x / np.sqrt(2)))
    softplus = np.where(2 * x > 3, x, np.log1p(np.exp(2 * x)) / 2)
    return {
        "out0": np.stack([np.exp(x), np.sqrt(x), 1 / np.sqrt(x), 1 / x, sigmoid(x), x * sigmoid(x), gelu, softplus])
    }


@kernel(in1=positive)
def intrinsics_binary(a):
    x, y = a["in0"].astype(f64), a["in1"].astype(f64)
    return {"out0": np.where(x > y, x / y, 2.5)}


@kernel(ulps=8)
def dl16(a):
    return {"out0": a["in0"].astype(f64)}


# --- movement -------------------------------------------------------------------


@kernel(in1=integers(0, 20))
def gather_add(a):
    return {"out0": a["in0"].astype(f64)[a["in1"]] + a["in2"]}


@kernel(ulps=0, in1=integers(0, 64))
def indirect_copy(a):
    return {"out0": a["in0"][a["in1"]]}


@kernel(ulps=0, in1=permutation(64))
def indirect_scatter(a):
    y = np.empty_like(a["in0"])
    y[a["in1"]] = a["in0"]
    return {"out0": y}


@kernel(ulps=0, in1=integers(0, 32), in2=integers(0, 48))
def indirect_elements(a):
    return {"out0": a["in0"][a["in1"], a["in2"][None]]}


@kernel(ulps=0)
def distributed_copy(a):
    return {"out0": np.concatenate([a["in0"], a["in1"], a["in2"]])}


@kernel(ulps=0)
def distributed_columns(a):
    return {"out0": np.concatenate([a["in0"], a["in1"]], 1)[1:7, 20:44]}


def pages(table, x):
    return x[table].transpose(0, 2, 1, 3, 4).reshape(2, 4, 32, 16)


@kernel(ulps=0, in1=lambda rng, shape: rng.permutation(12)[:8].reshape(shape))
def paged_copy(a):
    return {"out0": pages(a["in1"], a["in0"])}


@kernel(ulps=0, in1=lambda rng, shape: rng.permutation(12)[:8].reshape(shape))
def paged_write(a):
    cache = a["cache"].copy()
    cache[a["in1"]] = a["in0"].reshape(2, 4, 4, 8, 16).transpose(0, 2, 1, 3, 4)
    return {"cache": cache}


def some_slots(rng, shape):
    slots = rng.permutation(64)[:8]
    slots[[2, 5]] = -1
    return slots


@kernel(ulps=0, in1=some_slots)
def reshape_and_cache(a):
    cache = a["cache"].copy()
    for row, slot in zip(a["in0"], a["in1"], strict=True):
        if slot >= 0:
            cache[slot // 16, slot % 16] = row
    return {"cache": cache}


def expert_lists(rng, shape):
    lists = np.zeros(shape, np.int32)
    order, at = rng.permutation(16), 0
    for expert, count in enumerate((7, 0, 4, 5)):
        lists[expert, :count] = order[at : at + count]
        at += count
    return lists


@kernel(in2=expert_lists, in3=lambda rng, shape: [7, 0, 4, 5])
def moe_dispatch(a):
    y = np.empty((16, 32))
    for expert, count in enumerate(a["in3"]):
        rows = a["in2"][expert, :count]
        y[rows] = a["in0"][rows].astype(f64) @ a["in1"][expert]
    return {"out0": y}


@kernel(ulps=0)
def subview(a):
    return {"out0": a["in0"][3:15:2, 5:15]}


@kernel()
def reshapes(a):
    x = a["in0"].astype(f64)
    wide = x.reshape(4, 6)
    y = np.concatenate([np.zeros((4, 1)), wide, np.arange(4)[:, None] + wide[:, :1]], 1)
    y[0, 0] = y[2, 0] = x[1, 2, 0]
    y[3, 0] = 0
    return {"out0": y}


@kernel(ulps=0)
def order_cycle(a):
    y = a["in0"].transpose(2, 0, 1)
    return {"out0": y, "out1": y}


@kernel(ulps=0)
def order_transposed(a):
    window = a["in0"][3:5, 5:11]
    other = a["out1"].copy()
    other[:2, :6] = window
    return {"out0": window.T, "out1": other}


@kernel(ulps=0)
def subscript_terms(a):
    return {"out0": np.stack([a["in0"][3 * i + 2, i % 2 * 4 + 1 :][:8] for i in range(4)])}


@kernel(ulps=0)
def i32_tile_ids(a):
    return {"out0": -a["in0"]}


@kernel(ulps=0)
def lx_view(a):
    return {"out0": (a["in0"].astype(f64) - a["in1"]).astype(np.float16)}


@kernel(ulps=0)
def lx_view_bytes(a):
    return {"out0": 2 * a["in0"]}


@kernel(ulps=0)
def lx_neighbour(a):
    return {"out0": np.roll(a["in0"], -1, 0)}


@kernel(ulps=0)
def baked_addresses(a):
    return {"out0": 2 * a["in0"]}


@kernel(ulps=0)
def grid_3d(a):
    return {"out0": np.arange(24).reshape(4, 3, 2)}


# --- control --------------------------------------------------------------------


@kernel(in0=positive)
def while_newton(a):
    return {"out0": np.sqrt(a["in0"].astype(f64))}


@kernel(ulps=0)
def if_else(a):
    x = a["in0"].reshape(4, 32)
    return {"out0": np.where(np.arange(4)[:, None] % 2 == 0, 2 * x, -x).reshape(-1)}


@kernel(ulps=0)
def forall_insert(a):
    return {"out0": a["in0"][::-1]}


@kernel(ulps=16)
def parallel_reduce(a):
    return {"out0": a["in0"].astype(f64).sum(keepdims=True)}


@kernel(ulps=16)
def dynamic_rows(a):
    return {"out0": a["in0"].astype(f64).sum(1)}


@kernel(ulps=8)
def calls(a):
    y = a["in0"].astype(f64) ** 4
    return {"out0": y + y**4}


@kernel()
def runtime_arg(a):
    return {"out0": a["in0"].astype(f64)[:96] ** 2}


@kernel()
def scalar_arguments(a):
    return {"out0": a["in0"].astype(f64) * 0.25 - 3}


@kernel(ulps=1)
def scalar_f32(a):
    return {"out0": np.array([1 + 1e-4, 1e6, -1.0])}


@kernel(
    ulps=0,
    in0=integers(-(2**31), 2**31),
    in1=lambda rng, shape: rng.integers(1, 100, shape) * rng.choice([-1, 1], shape),
)
def integers_(a):
    x, y = a["in0"].astype(np.int64), a["in1"].astype(np.int64)
    ux, uy = x % 2**32, y % 2**32
    quotient = np.abs(x) // np.abs(y) * np.sign(x) * np.sign(y)
    rows = [x < y, -(ux < uy).astype(np.int64), quotient, x - quotient * y, ux // uy, x // y, ux >> 3]
    return {"out0": np.stack([r.astype(np.int64) for r in rows]).astype(np.int32)}


KERNELS["integers"] = KERNELS.pop("integers_")


# --- between compute tiles -------------------------------------------------------


def group_sums(x, groups):
    size = len(x) // groups
    return np.repeat(x.astype(f64).reshape(groups, size, -1).sum(1), size, 0)


@kernel(ulps=16)
def all_reduce(a):
    return {"out0": group_sums(a["in0"], 1)}


@kernel(ulps=16)
def all_reduce_groups(a):
    return {"out0": group_sums(a["in0"], 4)}


@kernel(ulps=16)
def all_reduce_loop(a):
    return {"out0": np.concatenate([group_sums(part, 2) for part in np.split(a["in0"], 3)])}


@kernel(ulps=16)
def reduce_to_one(a):
    return {"out0": group_sums(a["in0"], 2)[::4]}


@kernel(ulps=16)
def reduce_dependency(a):
    return {"out0": group_sums(a["in0"], 2)}


@kernel(ulps=0)
def consume_broadcast(a):
    return {"out0": np.repeat(a["in0"], 4, 0)}


@kernel(ulps=0)
def consume_mirror(a):
    return {"out0": a["in0"].reshape(2, 4, 64)[:, ::-1].reshape(8, 64)}


@kernel(ulps=0)
def gather_two_axes(a):
    blocks = a["in0"].reshape(2, 2, 2, 8, 16).transpose(0, 1, 3, 2, 4).reshape(2, 16, 32)
    return {"out0": np.repeat(blocks, 4, 0)}


@kernel(ulps=0)
def scatter_rows(a):
    return {"out0": a["in0"].reshape(8, 4, 64)}


@kernel(ulps=0)
def all_to_all(a):
    return {"out0": a["in0"].reshape(2, 16, 4, 16).transpose(0, 2, 1, 3).reshape(8, 16, 16)}


@kernel(ulps=16)
def reduce_scatter(a):
    return {"out0": a["in0"].astype(f64).reshape(2, 4, 8, 32).sum(1).reshape(8, 2, 32)}


@kernel(ulps=0)
def arg_max_roles(a):
    return {"out0": np.repeat(a["in0"].max(0)[None], 8, 0), "out1": np.repeat(a["in0"].argmax(0)[None], 8, 0)}


# --- more whole layers and types ---------------------------------------------------


@kernel(ulps=0, in2=integers(0, 32))
def indirect_distributed(a):
    return {"out0": np.concatenate([a["in0"], a["in1"]])[a["in2"]]}


@kernel(ulps=0, in1=integers(0, 1000))
def embedding(a):
    return {"out0": a["in0"][a["in1"]]}


@kernel(ulps=8)
def flash_attention(a):
    q, k, v = (a[n].astype(f64) for n in ("in0", "in1", "in2"))
    scores = np.where(np.tri(64, dtype=bool), q @ k.T / 8, -np.inf)
    return {"out0": softmax(scores) @ v}


@kernel(ulps=64)
def linalg_softmax(a):
    y = softmax(a["in0"].astype(f64)) @ a["in1"]
    return {"out0": y, "out1": ((y.reshape(24, 12) @ a["in2"]) ** 2).sum(keepdims=True)}


@kernel()
def log_softmax(a):
    x = a["in0"].astype(f64)
    return {"out0": x - np.log(np.exp(x).sum(0))}


@kernel(ulps=16)
def pipeline(a):
    x = a["in0"].astype(f64)
    y = x
    for _ in range(3):
        y = np.roll(y, 1, 0) + x
    return {"out0": y}


@kernel(ulps=16)
def bfloat16(a):
    x, y = (formats.bfloat16_to_float32(a[n]).astype(f64) for n in ("in0", "in1"))
    return {"out0": (x * y).sum(1)}


@kernel(ulps=0, in0=lambda rng, shape: formats.encode_dl16(rng.uniform(0.01, 100, shape)).view(np.int16))
def df16(a):
    x = formats.decode_dl16(a["in0"].view(np.uint16)).astype(f64)
    return {"out0": formats.encode_dl16(np.maximum(x, 1 / x)).view(np.int16)}
