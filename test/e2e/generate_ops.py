#!/usr/bin/env python3
# generate_ops.py - Exports single operations and small compositions at odd shapes
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes a JSON-lines file for test/conformance/programs.py (see the README of
# test/data/e2e for the format). Inputs are rounded to the device's format first;
# PyTorch's result and the float64 reference are computed from those. A case is
# one operation at one shape in one form of text; the forms that an exporter
# writes alike are written once. Needs PyTorch and torch-mlir.
"""Activations, comparisons, reductions, norms, attention, movement, masks at shapes that fit no stick."""

import argparse
import json
import pathlib
import re
import sys
import warnings

import export
import numpy as np
import torch
import torch.nn.functional as F
from export import SIZES
from op_kinds import OPERATIONS as MORE_OPERATIONS

from lib import arrays, formats, tensors

INF = float("inf")
# What the exporter leaves of writes into slices before its decompositions: not a value of anything.
IN_PLACE = re.compile(r"torch\.aten\.\w+_[.\"]")


class Draw:
    """Makes inputs for one case; every number is exact in the program's dtype and on the device."""

    def __init__(self, dtype, name, seed, elements):
        self.dtype, self.elements = dtype, elements
        self.random = np.random.default_rng(export.named_seed(seed, name))

    def exact(self, values):
        return formats.exact_on_device(np.asarray(values, np.float64), self.dtype)

    def size(self, limit=257):
        return int(self.random.choice([n for n in SIZES if n <= limit]))

    def shape(self, rank=None, limit=257):
        """Two dims mostly; a third, small one in a quarter of the cases."""
        while True:
            dims = [self.size(limit), self.size(limit)]
            wants_three = self.random.random() < 0.25
            if rank == 3 or (rank is None and wants_three):
                dims.insert(0, int(self.random.choice((2, 3, 5))))
            if np.prod(dims) <= self.elements:
                return tuple(dims)

    def normal(self, *shape, scale=1.0):
        return self.exact(self.random.standard_normal(shape) * scale)

    def positive(self, *shape):
        return self.exact(np.exp(self.random.standard_normal(shape)))

    def bools(self, *shape, share=0.5):
        return self.random.random(shape) < share

    def integers(self, *shape, low=-3, high=4):
        """Few values, so that equal ones meet."""
        return self.exact(self.random.integers(low, high, shape))

    def float32(self, *shape):
        """float32 whatever the program's dtype, with 16 fraction bits: none of the 16-bit formats holds them."""
        return export.shorten(self.random.standard_normal(shape), 16)

    def int64(self, *shape):
        return self.random.integers(-1000, 1000, shape)

    def int32(self, *shape):
        return self.int64(*shape).astype(np.int32)

    def wide(self, *shape):
        """Magnitudes from 2^-10 to 2^15."""
        exponents = self.random.uniform(-10, 15, shape)
        return self.exact(np.exp2(exponents) * self.random.choice((-1, 1), shape))


def unary(function, values="normal"):
    return lambda draw: (function, [getattr(draw, values)(*draw.shape())])


def binary(function, left="normal", right="normal"):
    """The second operand broadcasts: equal shapes, a row, or a column."""

    def build(draw):
        shape = draw.shape()
        other = [shape, shape[-1:], (*shape[:-1], 1)][int(draw.random.integers(3))]
        return function, [getattr(draw, left)(*shape), getattr(draw, right)(*other)]

    return build


def reduction(function, values="normal"):
    """function(x, dim, keepdim)"""

    def build(draw):
        shape = draw.shape()
        dim = int(draw.random.integers(len(shape)))
        keep = bool(draw.random.integers(2))
        return (lambda x: function(x, dim, keep)), [getattr(draw, values)(*shape)]

    return build


def layer_norm(draw):
    shape = draw.shape()
    offset = float(draw.random.choice((0.0, 3.0, 50.0)))
    x = draw.exact(draw.random.standard_normal(shape) + offset)
    function = lambda x, w, b: F.layer_norm(x, shape[-1:], w, b, 1e-5)  # noqa: E731
    return function, [x, draw.normal(shape[-1]), draw.normal(shape[-1])]


def layer_norm_of_constants(draw):
    shape = draw.shape()
    x = np.broadcast_to(draw.exact(draw.random.uniform(1, 1000, (*shape[:-1], 1))), shape)
    return (lambda x, b: F.layer_norm(x, shape[-1:], None, b, 1e-5)), [x, draw.normal(shape[-1])]


def layer_norm_of_two_dims(draw):
    shape = draw.shape(3, 65)
    return (lambda x: F.layer_norm(x, shape[-2:])), [draw.normal(*shape)]


def rms_norm(draw):
    shape = draw.shape()
    return (lambda x, w: F.rms_norm(x, shape[-1:], w, 1e-6)), [draw.normal(*shape), draw.normal(shape[-1])]


def group_norm(draw):
    groups = int(draw.random.choice((1, 2, 4)))
    channels = groups * int(draw.random.choice((1, 3, 8)))
    shape = (2, channels, draw.size(65))
    function = lambda x, w, b: F.group_norm(x, groups, w, b)  # noqa: E731
    return function, [draw.normal(*shape), draw.normal(channels), draw.normal(channels)]


def batch_norm(draw):
    channels = int(draw.random.choice((3, 31, 64, 65)))
    arrays = [draw.normal(2, channels, draw.size(65)), draw.normal(channels), draw.positive(channels)]
    return (lambda x, m, v: F.batch_norm(x, m, v)), arrays


def attention(kind):
    def build(draw):
        heads = int(draw.random.choice((1, 2, 4)))
        limit = 129 if draw.elements > 4096 else 33
        rows, columns = draw.size(limit), draw.size(limit)
        width = int(draw.random.choice((32, 64, 128)))
        key_heads = 1 if kind == "grouped" else heads
        q = draw.normal(2, heads, rows, width)
        k, v = draw.normal(2, key_heads, columns, width), draw.normal(2, key_heads, columns, width)
        options = {"enable_gqa": True} if kind == "grouped" else {}
        if kind == "scaled":
            options["scale"] = 0.3
        inputs = [q, k, v]
        if kind == "bool":
            mask = draw.bools(rows, columns, share=0.7)
            mask[0] = False  # a row without any key
            inputs.append(mask)
        elif kind in ("float", "lowest"):
            mask = np.where(draw.bools(2, 1, rows, columns, share=0.7), draw.normal(2, 1, rows, columns), -INF)
            if kind == "lowest":
                mask = np.where(np.isinf(mask), -65504.0, mask)
            inputs.append(mask)
        if kind == "written":

            def function(q, k, v):
                scores = torch.matmul(q, k.transpose(-1, -2)) * width**-0.5
                return torch.matmul(torch.softmax(scores, -1), v)

            return function, inputs
        if len(inputs) == 4:
            return (lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m)), inputs
        return (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, **options)), inputs

    return build


def linear_of(activation):
    def build(draw):
        (rows, inner), columns = draw.shape(2), draw.size(65)
        arrays = [draw.normal(rows, inner), draw.normal(columns, inner, scale=inner**-0.5), draw.normal(columns)]
        return (lambda x, w, b: activation(F.linear(x, w, b))), arrays

    return build


def prelu(draw):
    rows, columns = draw.shape(2)
    channels = int(draw.random.choice((1, columns)))
    return F.prelu, [draw.normal(rows, columns), draw.normal(channels)]


def masked_fill(draw):
    shape = draw.shape()
    return (lambda x, m: x.masked_fill(m, -1.5)), [draw.normal(*shape), draw.bools(*shape)]


def where(draw):
    shape = draw.shape()
    return torch.where, [draw.bools(*shape), draw.normal(*shape), draw.normal(shape[-1])]


def masked_softmax(value):
    def build(draw):
        rows, columns = draw.shape(2)
        mask = draw.bools(rows, columns, share=0.6)
        mask[:, 0] = True
        lowest = torch.finfo(torch.float16).min if value is None else value
        return (lambda x, m: torch.softmax(x.masked_fill(~m, lowest), -1)), [draw.normal(rows, columns), mask]

    return build


def addc(function):
    def build(draw):
        shape = draw.shape()
        arrays = [draw.normal(*shape), draw.normal(*shape), draw.positive(*shape)]
        return (lambda x, y, z: function(x, y, z, value=0.7)), arrays

    return build


def lerp(draw):
    shape = draw.shape()
    return (lambda x, y: torch.lerp(x, y, 0.3)), [draw.normal(*shape), draw.normal(*shape)]


OPERATIONS = {
    # activations
    "relu": unary(F.relu),
    "relu6": unary(lambda x: F.relu6(x * 4)),
    "gelu": unary(F.gelu),
    "gelu_tanh": unary(lambda x: F.gelu(x, approximate="tanh")),
    "gelu_tanh_wide": unary(lambda x: F.gelu(x, approximate="tanh"), "wide"),
    "silu": unary(F.silu),
    "silu_wide": unary(F.silu, "wide"),
    "elu": unary(lambda x: F.elu(x, 0.7)),
    "elu_wide": unary(F.elu, "wide"),
    "celu": unary(lambda x: F.celu(x, 1.3)),
    "selu": unary(F.selu),
    "leaky_relu": unary(lambda x: F.leaky_relu(x, 0.1)),
    "leaky_relu_negative": unary(lambda x: F.leaky_relu(x, -0.5)),
    "prelu": prelu,
    "hardtanh": unary(lambda x: F.hardtanh(x, -0.7, 1.1)),
    "hardsigmoid": unary(lambda x: F.hardsigmoid(x * 3)),
    "hardswish": unary(lambda x: F.hardswish(x * 3)),
    "hardswish_wide": unary(F.hardswish, "wide"),
    "softplus": unary(F.softplus),
    "softplus_beta": unary(lambda x: F.softplus(x, beta=0.5, threshold=3)),
    "softplus_steep": unary(lambda x: F.softplus(x, beta=50)),
    "mish": unary(F.mish),
    "mish_wide": unary(F.mish, "wide"),
    "logsigmoid": unary(F.logsigmoid),
    "threshold": unary(lambda x: F.threshold(x, 0.1, 20.0)),
    "softsign": unary(F.softsign),
    "softshrink": unary(lambda x: F.softshrink(x, 0.3)),
    "hardshrink": unary(lambda x: F.hardshrink(x, 0.3)),
    "tanhshrink": unary(F.tanhshrink),
    "sigmoid": unary(torch.sigmoid),
    "tanh": unary(torch.tanh),
    "clamp": unary(lambda x: torch.clamp(x, -0.6, 0.9)),
    "clamp_min": unary(lambda x: torch.clamp(x, min=0.1)),
    "clamp_tensor": binary(lambda x, y: torch.clamp(x, max=y)),
    # powers, exponentials, roundings
    "pow2": unary(lambda x: x**2),
    "pow3": unary(lambda x: x**3),
    "pow4": unary(lambda x: x**4),
    "pow_half": unary(lambda x: x**0.5, "positive"),
    "pow_minus2": unary(lambda x: x**-2, "positive"),
    "pow_one_and_half": unary(lambda x: x**1.5, "positive"),
    "pow_base": unary(lambda x: torch.pow(2.5, x)),
    "sqrt": unary(torch.sqrt, "positive"),
    "rsqrt": unary(torch.rsqrt, "positive"),
    "reciprocal": unary(torch.reciprocal, "positive"),
    "exp": unary(torch.exp),
    "exp2": unary(torch.exp2),
    "expm1": unary(torch.expm1),
    "expm1_small": unary(lambda x: torch.expm1(x * 2**-8)),
    "log": unary(torch.log, "positive"),
    "log2": unary(torch.log2, "positive"),
    "log10": unary(torch.log10, "positive"),
    "log1p": unary(torch.log1p, "positive"),
    "log1p_small": unary(lambda x: torch.log1p(x * 2**-8)),
    "erf": unary(torch.erf),
    "abs": unary(torch.abs),
    "neg": unary(torch.neg),
    "sign": unary(torch.sign, "integers"),
    "floor": unary(lambda x: torch.floor(x * 4)),
    "ceil": unary(lambda x: torch.ceil(x * 4)),
    "trunc": unary(lambda x: torch.trunc(x * 4)),
    "round": unary(lambda x: torch.round(x * 0.5), "integers"),
    "round_wide": unary(torch.round, "wide"),
    "frac": unary(lambda x: torch.frac(x * 4)),
    "square": unary(torch.square),
    "rsub": unary(lambda x: 2.5 - x),
    "div": binary(torch.div, "normal", "positive"),
    "remainder": binary(torch.remainder, "integers", "positive"),
    "floor_divide": binary(lambda x, y: torch.div(x, y, rounding_mode="floor"), "integers", "positive"),
    "maximum": binary(torch.maximum),
    "minimum": binary(torch.minimum),
    "addcmul": addc(torch.addcmul),
    "addcdiv": addc(torch.addcdiv),
    "lerp": lerp,
    "sub_alpha": binary(lambda x, y: torch.sub(x, y, alpha=1.7)),
    # comparisons and truth values
    "eq": binary(torch.eq, "integers", "integers"),
    "ne": binary(torch.ne, "integers", "integers"),
    "lt": binary(torch.lt, "integers", "integers"),
    "le": binary(torch.le, "integers", "integers"),
    "gt": binary(torch.gt, "integers", "integers"),
    "ge": binary(torch.ge, "integers", "integers"),
    "gt_number": unary(lambda x: x > 0.1),
    "le_number": unary(lambda x: x <= 0.3),
    "eq_infinity": unary(lambda x: (x / 0.0) == -INF),
    "logical_and": binary(lambda x, y: torch.logical_and(x, y), "integers", "integers"),
    "logical_or": binary(torch.logical_or, "integers", "integers"),
    "logical_xor": binary(torch.logical_xor, "integers", "integers"),
    "logical_not": unary(torch.logical_not, "integers"),
    "bitwise": binary(lambda x, y: (x & y) | ~x, "bools", "bools"),
    "bool_to_float": binary(lambda x, y: (x > y).to(torch.float16)),
    "float_to_bool": unary(lambda x: x.to(torch.bool), "integers"),
    "bool_times_float": binary(lambda x, y: x * y, "bools", "normal"),
    "where": where,
    "where_number": binary(lambda x, y: torch.where(x > y, x, -2.0)),
    "masked_fill": masked_fill,
    "masked_softmax": masked_softmax(-INF),
    "masked_softmax_lowest": masked_softmax(None),
    # reductions
    "sum": reduction(lambda x, d, k: torch.sum(x, d, k)),
    "mean": reduction(lambda x, d, k: torch.mean(x, d, k)),
    "amax": reduction(lambda x, d, k: torch.amax(x, d, k)),
    "amin": reduction(lambda x, d, k: torch.amin(x, d, k)),
    "max_values": reduction(lambda x, d, k: torch.max(x, d, k)[0]),
    "min_values": reduction(lambda x, d, k: torch.min(x, d, k)[0]),
    "all": reduction(lambda x, d, k: torch.all(x, d, k), "bools"),
    "any": reduction(lambda x, d, k: torch.any(x, d, k), "bools"),
    "any_float": reduction(lambda x, d, k: torch.any(x, d, k), "integers"),
    "all_bool": unary(torch.all, "bools"),
    "amax_bool": reduction(lambda x, d, k: torch.amax(x, d, k), "bools"),
    "sum_all": unary(torch.sum),
    "max_all": unary(torch.max),
    "mean_all": unary(torch.mean),
    "var": reduction(lambda x, d, k: torch.var(x, d, unbiased=False, keepdim=k)),
    "std": unary(lambda x: torch.std(x, -1, correction=0)),
    "var_mean": unary(lambda x: torch.var_mean(x, -1, correction=0)),
    "norm2": reduction(lambda x, d, k: torch.linalg.vector_norm(x, 2, d, k)),
    "norm1": reduction(lambda x, d, k: torch.linalg.vector_norm(x, 1, d, k)),
    "norm_inf": reduction(lambda x, d, k: torch.linalg.vector_norm(x, INF, d, k)),
    "logsumexp": reduction(lambda x, d, k: torch.logsumexp(x, d, k)),
    "softmax": reduction(lambda x, d, k: torch.softmax(x, d)),
    "log_softmax": reduction(lambda x, d, k: torch.log_softmax(x, d)),
    # norms
    "layer_norm": layer_norm,
    "layer_norm_of_constants": layer_norm_of_constants,
    "layer_norm_of_two_dims": layer_norm_of_two_dims,
    "rms_norm": rms_norm,
    "group_norm": group_norm,
    "batch_norm": batch_norm,
    # contractions
    "linear": linear_of(lambda x: x),
    "linear_gelu": linear_of(F.gelu),
    "linear_gelu_tanh": linear_of(lambda x: F.gelu(x, approximate="tanh")),
    "linear_silu": linear_of(F.silu),
    "attention": attention("plain"),
    "attention_written": attention("written"),
    "attention_scaled": attention("scaled"),
    "attention_grouped": attention("grouped"),
    "attention_bool": attention("bool"),
    "attention_float": attention("float"),
    "attention_lowest": attention("lowest"),
    **MORE_OPERATIONS,
}


# What may end in a named refusal so far: the exporter's decomposition reads with an index.
REFUSABLE = {"group_norm"}


def dtype_of(array, dtype):
    """Draws are float64 where they stand for the program's dtype; others have a type of their own."""
    return dtype if array.dtype == np.float64 else array.dtype.name


def to_tensor(array, dtype):
    array = np.ascontiguousarray(array) if array.ndim else array
    return torch.from_numpy(array).to(getattr(torch, dtype_of(array, dtype)))


def encode_reference(out, ref):
    """The result in float64, with fraction bits that compress where the program's result has few; None: not of floats."""
    if not out.is_floating_point():
        return None
    bits = 23 if out.dtype == torch.float32 else 15
    return arrays.encode(export.shorten(ref.double().numpy(), bits), "float32")


def make_cases(operation, number, options):
    """The forms of one operation at one shape."""
    name = f"{operation}_{number}"
    draw = Draw(options.dtype, name, options.seed, options.elements)
    function, drawn = OPERATIONS[operation](draw)
    module = export.Program(function).eval()
    inputs = [to_tensor(np.asarray(array), options.dtype) for array in drawn]
    # Before the program runs, which may write into them.
    encoded, wide = [export.encode(x) for x in inputs], [tensors.in_float64(x) for x in inputs]
    outs, refs = export.run(module, inputs), export.run(module, wide)
    outputs = [export.encode(out) for out in outs]
    references = [encode_reference(out, ref) for out, ref in zip(outs, refs)]
    forms = options.forms.split(",")
    made, cases, texts = export.texts(module, inputs, forms, operation), [], set()
    for form in forms:
        if form not in made:
            raise ValueError(f"torch-mlir has no form '{form}' of it")
        text = made[form]
        if text in texts or IN_PLACE.search(text):
            continue
        texts.add(text)
        cases.append(
            {
                "name": name if form == "raw" else f"{name}.{form}",
                "entry": operation,
                "group": operation,
                "cls": "device",
                "tier": 2,
                "expect": "value-or-named-refusal" if operation in REFUSABLE else "value",
                "mlir": text,
                "inputs": encoded,
                "outputs": outputs,
                "refs": references,
            }
        )
    return cases


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="example: generate_ops.py --count 2 --only norm -o cases.jsonl.gz"
    )
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="file to write (.jsonl or .jsonl.gz)")
    parser.add_argument("--count", type=int, default=1, help="shapes of each operation")
    parser.add_argument("--only", default="", help="operations whose name contains it")
    parser.add_argument("--forms", default="raw,nodecomp,torch", help="forms of text")
    parser.add_argument("--dtype", default="float16", choices=("float16", "bfloat16"))
    parser.add_argument("--elements", type=int, default=100000, help="at most so many elements in the first operand")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shard", default="0/1", help="I/N: every Nth case from the Ith on, from 0")
    options = parser.parse_args()
    index, shards = export.shard_of(parser, options.shard)
    warnings.filterwarnings("ignore")
    jobs = [(name, number) for number in range(options.count) for name in OPERATIONS if options.only in name]
    lines = []
    for name, number in jobs[index::shards]:
        try:
            lines += [json.dumps(case) for case in make_cases(name, number, options)]
        except Exception as error:  # what cannot be exported is no program
            print(f"{name}_{number}: not exported: {str(error).splitlines()[0]}", file=sys.stderr)
    export.write_lines(options.output, lines)
    print(f"{len(lines)} programs in {options.output}")


if __name__ == "__main__":
    main()
