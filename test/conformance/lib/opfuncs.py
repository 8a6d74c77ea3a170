# opfuncs.py - What the OpFuncs of the device compute, in NumPy
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The meaning of every OpFunc on float64 arrays, once for all evaluators of the
# tests: neutral programs (evaluate.py), bundle directories (reader.py), L1 texts
# (test/e2e/l1_eval.py). Nothing is rounded here: an evaluator knows where its
# values lie. Written from docs/formats/superdsc-rules.md, section 3; it shares
# nothing with the C++ stack.
"""OpFuncs on arrays whose axes are the dims of an iteration space."""

import math

import numpy as np

from . import tolerance

REDUCTIONS = {"sum", "mean", "max", "min", "exx2"}
CONTRACTIONS = {"batchmatmul", "batchmatmulfp8"}
# A small change of an operand can change the result by much.
JUMPS = {"floor", "equal", "notequal", "greaterthan", "greaterequal", "lesserthan", "lesserequal", "topkindex"}
# The result consists of the first operand's values (the other two's of where3), perhaps with another sign.
MOVES = {"identity", "ReStickifyOpHBM", "shuffle", "where3", "neg", "abs"}
# The same, chosen by comparing, or in a wider format: exact where the operands are exact on the device.
CHOICES = {"relufwd", "maximum", "minimum", "max", "min", "topkvalue", "fp8todl16", "dl16tofp32"}


class Unknown(Exception):
    """An operation without a meaning here."""


erf = np.vectorize(math.erf, otypes=[np.float64])


def unchanged(x):
    return x


UNARY = {
    "abs": np.abs,
    "exp": np.exp,
    "floor": np.floor,
    "log": np.log,
    "neg": np.negative,
    "reciprocal": lambda x: 1 / x,
    "relufwd": lambda x: np.maximum(x, 0),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "gelufwd": lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "identity": unchanged,
    "ReStickifyOpHBM": unchanged,
    "dl16tofp32": unchanged,
    "fp32todl16": unchanged,
    "fp8todl16": unchanged,
    "qfp8ch": unchanged,
}
BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "realdiv": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "equal": np.equal,
    "notequal": np.not_equal,
    "greaterthan": np.greater,
    "greaterequal": np.greater_equal,
    "lesserthan": np.less,
    "lesserequal": np.less_equal,
}


def compute(function, operands, sizes, kept, constants):
    """The result of an OpFunc over an iteration space of `sizes`, in float64.

    operands: arrays with an axis for each dim of the space, of size 1 in dims that
    they lack; kept: numbers of the dims that the result has. It has size 1 in the
    others. exx2 gives a pair (mean, mean of squares), layernormscale takes one.
    """
    first = operands[0]
    if function in CONTRACTIONS:
        return contract(first, operands[1], sizes, kept)
    if function in REDUCTIONS:
        return reduce(function, np.broadcast_to(first, sizes), lacking(sizes, kept), constants)
    if function in ("topkvalue", "topkindex"):
        return top(function, first, sizes, kept)
    if function in UNARY:
        return UNARY[function](first)
    if function in BINARY:
        return np.asarray(BINARY[function](first, operands[1]), np.float64)
    if function == "where3":
        return np.where(first != 0, operands[1], operands[2])
    if function == "clip":
        return np.clip(first, constants["clipMin"], constants["clipMax"])
    if function == "softplus":
        beta, threshold = constants["softplusBeta"], constants["softplusThresh"]
        scaled = first * beta  # the device leaves out the division by beta
        return np.where(scaled > threshold, scaled, np.log1p(np.exp(np.minimum(scaled, threshold))))
    if function == "layernormscale":
        return 1 / np.sqrt(np.maximum(operands[1] - first**2, 0) + constants["eps"])
    if function == "layernormnorm":
        mean, scale, weight, bias = operands[1:]
        return (first - mean) * scale * weight + bias
    raise Unknown(f"operation {function}")


def lacking(sizes, kept):
    """The dims of a space that a result lacks."""
    return tuple(i for i in range(len(sizes)) if i not in kept)


def reduce(function, x, axes, constants):
    if function in ("max", "min"):
        return (np.max if function == "max" else np.min)(x, axis=axes, keepdims=True)
    total = np.sum(x, axis=axes, keepdims=True)
    if function == "exx2":
        mean, square = total, np.sum(np.square(x), axis=axes, keepdims=True)
        scale = constants["exx2scale"]
        return (np.zeros_like(mean) if constants.get("useZeroMean") else mean * scale), square * scale
    return total * constants["scaling_factor"] if function == "mean" else total


def combine(function, left, right):
    """The result of a reduction or contraction from those of two parts of its space."""
    if isinstance(left, tuple):
        return tuple(map(np.add, left, right))
    return {"max": np.maximum, "min": np.minimum}.get(function, np.add)(left, right)


def contract(x, y, sizes, kept):
    """Sum over the dims that the result lacks of x times y."""
    letters = "abcdefghijklmnop"
    rank = len(sizes)

    def squeezed(array):
        keep = [i for i in range(rank) if array.shape[i] != 1 or sizes[i] == 1]
        return array.reshape([array.shape[i] for i in keep]), "".join(letters[i] for i in keep)

    (xs, x_letters), (ys, y_letters) = squeezed(x), squeezed(y)
    present = set(x_letters) | set(y_letters)
    out = "".join(letters[i] for i in range(rank) if i in kept and letters[i] in present)
    result = np.einsum(f"{x_letters},{y_letters}->{out}", xs, ys, optimize=True)
    return result.reshape([sizes[i] if letters[i] in out else 1 for i in range(rank)])


def top(function, x, sizes, kept):
    """The largest values along the last reduced dim, or their places; the dim that only the result has counts them."""
    axis = lacking(sizes, kept)[-1]
    order = np.argsort(-x, axis=axis, kind="stable")
    picked = order if function == "topkindex" else np.take_along_axis(x, order, axis)
    rank_dim = next(i for i in kept if x.shape[i] == 1 and sizes[i] > 1)
    return np.swapaxes(np.take(picked, np.arange(sizes[rank_dim]), axis=axis), rank_dim, axis)


def traits(names, jumps=JUMPS, moves=MOVES):
    """What tolerances depend on, of a program with the OpFuncs `names`."""
    names = set(names)
    return tolerance.Traits(
        matmul=bool(names & tolerance.MATMULS),
        jumps=bool(names & jumps),
        moves_only=names <= moves,
        operations=tuple(sorted(names)),
    )


# --- iteration spaces ----------------------------------------------------------


def grid(sizes):
    """The index of each dim as an array along its own axis."""
    rank = len(sizes)
    return [np.arange(size).reshape([-1 if i == j else 1 for j in range(rank)]) for i, size in enumerate(sizes)]


def gather(array, coordinates, rank):
    """Elements of an array at coordinates (numbers, or arrays over the space), with an axis for each dim of the space."""
    picked = array[tuple(coordinates)]
    return np.reshape(picked, [1] * rank) if np.ndim(picked) != rank else picked


def scatter(array, coordinates, values, sizes, kept):
    """Writes a result of compute() to coordinates in which each point of the dims `kept` has its own."""
    if not coordinates:
        array[()] = np.reshape(values, ())
        return
    rank = len(sizes)
    where = tuple(np.reshape(c, [1] * rank) if np.ndim(c) != rank else c for c in coordinates)
    array[where] = np.broadcast_to(values, [sizes[i] if i in kept else 1 for i in range(rank)])
