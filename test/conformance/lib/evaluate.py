# evaluate.py - Neutral programs evaluated directly, in float64
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What a case computes, straight from its index expressions: no layouts, no
# sticks, no work slices, and no rounding but that of what lies in memory between
# two operations (an exp of a rounded difference is far from the exact one). It is
# the reference against which the emulator's run of an emitted bundle is compared.
# Meanings of the OpFuncs: docs/formats/superdsc-rules.md, section 3.
"""Random inputs for a neutral program and its results."""

import math

import numpy as np

from . import formats, l3text, tolerance
from .neutral import Inexpressible, Loop

STICK_IN_BYTES = 128
POSITIVE_INPUT = {"log", "sqrt", "rsqrt"}
JUMPS = {"floor", "equal", "notequal", "greaterthan", "greaterequal", "lesserthan", "lesserequal", "topkindex"}
MOVES = {
    "identity",
    "ReStickifyOpHBM",
    "shuffle",
    "where3",
    "neg",
    "abs",
    "relufwd",
    "maximum",
    "minimum",
    "max",
    "min",
    "topkvalue",
    "fp8todl16",
    "dl16tofp32",
}


def erf(values):
    return np.vectorize(math.erf, otypes=[np.float64])(values)


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
    "identity": lambda x: x,
    "ReStickifyOpHBM": lambda x: x,
    "dl16tofp32": lambda x: x,
    "fp32todl16": lambda x: x,
    "fp8todl16": lambda x: x,
    "qfp8ch": lambda x: x,
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


def draw_inputs(program, seed, wild=()):
    """Values for every buffer that is read before it is written, exact in its format.

    `wild`: indices of buffers whose values are of very different sizes, zeros among them, not all near 1.
    """
    uses = {}
    for op in program.operations():
        for position, operand in enumerate(op.operands[:-1]):
            uses.setdefault(operand.buffer, set()).add((op.function, position))
    random = np.random.default_rng(seed)
    values = {}
    for index, buffer in enumerate(program.buffers):
        if not buffer.read_first:
            continue
        shape = tuple(buffer.shape)
        kinds = uses.get(index, set())
        if buffer.dtype.startswith(("int", "uint")):
            drawn = random.integers(0, max(smallest_indexed(program, index), 1), shape).astype(np.float64)
        elif any(use == ("where3", 0) for use in kinds) or buffer.dtype == "bool":
            drawn = random.integers(0, 2, shape).astype(np.float64)
        elif any(function.startswith("topk") for function, _ in kinds):
            # Distinct values, so that the order is one.
            drawn = (random.permutation(int(np.prod(shape))) - 128.0).reshape(shape)
            drawn = formats.round_to_dl16(drawn / 64)
        else:
            drawn = random.standard_normal(shape, dtype=np.float32)
            if index in wild:
                reach = {"float32": 30, "float8_e4m3fn": 6}.get(buffer.dtype, 14)
                drawn = np.ldexp(drawn, random.integers(-reach, reach + 1, shape))
                drawn = np.where(random.random(shape) < 0.05, 0, np.clip(drawn, -(2.0**reach), 2.0**reach))
            if any(function in POSITIVE_INPUT for function, _ in kinds):
                drawn = np.abs(drawn) + 0.125
            elif ("realdiv", 1) in kinds or ("reciprocal", 0) in kinds:
                drawn = np.copysign(np.abs(drawn) + 0.5, drawn)
            drawn = round_to_device(drawn, buffer)
        values[index] = np.asarray(drawn, np.float64)
    return values


def smallest_indexed(program, index_buffer):
    """The extent of the dim that an index tensor addresses."""
    extents = [1 << 20]
    for op in program.operations():
        for operand in op.operands:
            if operand.indirect is not None and op.operands[operand.indirect].buffer == index_buffer:
                extents.append(program.buffers[operand.buffer].shape[operand.indirect_dim])
    return min(extents)


def round_to_device(values, buffer):
    """Values that the buffer's host dtype and its device format both hold."""
    if buffer.dtype in formats.FLOATS:
        values = formats.round_to(values, buffer.dtype)
    if buffer.format == "SEN169_FP16":
        values = formats.round_to_dl16(values)
        if buffer.dtype == "float16":  # DL16 has values that f16 lacks
            values = formats.round_to(values, "float16")
    return values


class Evaluator:
    """Runs a program's operations in order."""

    def __init__(self, program, inputs):
        self.program = program
        self.values, self.second = {}, {}
        # The last operation's result is left to the comparison.
        self.last = [*program.operations()][-1]
        self.written = {}
        for index, buffer in enumerate(program.buffers):
            shape = tuple(buffer.shape)
            self.values[index] = inputs[index].copy() if index in inputs else np.full(shape, np.nan)
            self.written[index] = np.zeros(shape, bool)

    def run(self):
        self.nodes(self.program.body, {})
        return self

    def nodes(self, body, variables):
        for node in body:
            if isinstance(node, Loop):
                for step in range(node.count):
                    self.nodes(node.body, {**variables, node.id: step})
            else:
                self.operation(node, variables)

    def operation(self, op, variables):
        rank = len(op.sizes)
        grid = [
            np.arange(size).reshape([size if i == j else 1 for j in range(rank)]) for i, size in enumerate(op.sizes)
        ]
        grid += [variables[i] for i in op.loops]
        *inputs, output = op.operands

        def index(operand):
            where = [
                np.broadcast_to(np.asarray(e.evaluate(grid)), [1] * rank)
                if not e.inputs() & set(range(rank))
                else e.evaluate(grid)
                for e in operand.coordinates
            ]
            if operand.indirect is not None:
                where[operand.indirect_dim] = fetch(op.operands[operand.indirect]).astype(np.int64)
            return tuple(where)

        def fetch(operand, values=None):
            array = (self.values if values is None else values)[operand.buffer]
            picked = array[index(operand)]
            return np.reshape(picked, [1] * rank) if np.ndim(picked) != rank else picked

        used = set().union(*[e.inputs() for e in output.coordinates]) if output.coordinates else set()
        reduced = tuple(i for i in range(rank) if i not in used)
        kept = [size if i in used else 1 for i, size in enumerate(op.sizes)]
        data = [operand for operand in inputs if not operand.is_index]
        second = None
        if op.function == "exx2":
            x = np.broadcast_to(fetch(data[0]), op.sizes)
            scale = op.constants["exx2scale"]
            result = np.sum(x, axis=reduced, keepdims=True) * scale * (0 if op.constants["useZeroMean"] else 1)
            second = np.sum(np.square(x), axis=reduced, keepdims=True) * scale
        elif op.function == "layernormscale":
            mean, square = fetch(data[0]), fetch(data[0], self.second)
            result = 1 / np.sqrt(np.maximum(square - mean**2, 0) + op.constants["eps"])
        else:
            result = self.compute(op, [fetch(operand) for operand in data], reduced, used)
        if op is not self.last:
            result = self.stored_between(result, output.buffer)
            second = None if second is None else self.stored_between(second, output.buffer)
        target = index(output)
        self.values[output.buffer][target] = np.broadcast_to(result, kept) if target else np.reshape(result, ())
        self.written[output.buffer][target] = True
        if second is not None:
            lanes = self.second.setdefault(output.buffer, np.full(self.values[output.buffer].shape, np.nan))
            lanes[target] = np.broadcast_to(second, kept)

    def stored_between(self, values, index):
        """What later operations read: the format of the buffer between rounds, whatever the order of operations."""
        if self.program.buffers[index].format != "SEN169_FP16":
            return values
        with np.errstate(invalid="ignore"):
            beyond = np.abs(values) >= formats.DL16_MAX * (1 + 2.0**-10)
        return np.where(beyond, np.copysign(np.inf, values), formats.round_to_dl16(values))

    def compute(self, op, data, reduced, used):
        name = op.function
        if name in ("batchmatmul", "batchmatmulfp8"):
            return contract(data[0], data[1], op.sizes, used)
        if name in UNARY:
            return UNARY[name](data[0])
        if name in BINARY:
            return np.asarray(BINARY[name](data[0], data[1]), np.float64)
        if name == "where3":
            return np.where(data[0] != 0, data[1], data[2])
        if name == "clip":
            return np.clip(data[0], op.constants["clipMin"], op.constants["clipMax"])
        if name == "softplus":
            beta, threshold = op.constants["softplusBeta"], op.constants["softplusThresh"]
            scaled = data[0] * beta  # the device leaves out the division by beta
            return np.where(scaled > threshold, scaled, np.log1p(np.exp(np.minimum(scaled, threshold))))
        if name == "layernormnorm":
            x, mean, scale, weight, bias = data
            return (x - mean) * scale * weight + bias
        if name in ("sum", "mean", "max", "min"):
            x = data[0]
            missing = [i for i in reduced if x.shape[i] != op.sizes[i]]
            factor = math.prod(op.sizes[i] for i in missing)  # broadcast over a reduced dim
            if name in ("max", "min"):
                return (np.max if name == "max" else np.min)(x, axis=reduced, keepdims=True)
            total = np.sum(x, axis=reduced, keepdims=True) * factor
            return total * op.constants["scaling_factor"] if name == "mean" else total
        if name in ("topkvalue", "topkindex"):
            axis = reduced[-1]
            order = np.argsort(-data[0], axis=axis, kind="stable")
            picked = order if name == "topkindex" else np.take_along_axis(data[0], order, axis)
            # The dim that only the result has counts the k best.
            rank_dim = next(i for i in range(len(op.sizes)) if i in used and data[0].shape[i] == 1 and op.sizes[i] > 1)
            best = np.take(picked, np.arange(op.sizes[rank_dim]), axis=axis)
            return np.swapaxes(best, rank_dim, axis)
        raise Inexpressible(f"no evaluation of {name}")


def contract(x, y, sizes, used):
    """Sum over the dims that the result lacks of x times y, in float64."""
    letters = "abcdefghijklmnop"
    rank = len(sizes)

    def squeeze(array):
        keep = [i for i in range(rank) if array.shape[i] != 1 or sizes[i] == 1]
        return array.reshape([array.shape[i] for i in keep]), "".join(letters[i] for i in keep)

    (xs, x_letters), (ys, y_letters) = squeeze(x), squeeze(y)
    present = set(x_letters) | set(y_letters)
    out = "".join(letters[i] for i in range(rank) if i in used and letters[i] in present)
    result = np.einsum(f"{x_letters},{y_letters}->{out}", xs, ys, optimize=True)
    return result.reshape([sizes[i] if letters[i] in out else 1 for i in range(rank)])


def traits(operations):
    names = {op.function for op in operations}
    return tolerance.Traits(
        matmul=bool(names & tolerance.MATMULS),
        jumps=bool(names & JUMPS),
        moves_only=names <= MOVES,
        operations=tuple(sorted(names)),
    )


def stored(values, dtype):
    """Values as the arrays of an .npz file."""
    if dtype == "bool":
        return values != 0
    if dtype in formats.FLOATS:
        return formats.from_float64(values, dtype)
    return values.astype(formats.STORED[dtype])


def run_arrays(program, seed, wild=()):
    """(inputs for --inputs, expected: name -> (values, mask, dtype), binding arguments by position).

    The program must be runnable (l3text.runnable): every array is an argument.
    A result that the case writes only in part starts from drawn values.
    """
    drawn = draw_inputs(program, seed, wild)
    evaluated = Evaluator(program, drawn).run()
    names = l3text.array_names(program)
    inputs, expected = {}, {}
    for index, (array, result) in names.items():
        buffer = program.buffers[index]
        if index in drawn:
            inputs[array] = stored(drawn[index], buffer.dtype)
        if result:
            expected[result] = (evaluated.values[index], evaluated.written[index], buffer.dtype)
    return inputs, expected


def binding(program):
    """The --bind form of a runnable program: its arguments in the order of the bundle's parameters."""
    names = l3text.array_names(program)
    arguments = []
    for index in l3text.argument_order(program):
        buffer = program.buffers[index]
        array, result = names[index]
        entry = {
            "role": l3text.role(buffer),
            "array": array,
            "shape": buffer.shape,
            "dtype": buffer.dtype,
            "device_size": buffer.device_size,
            "stride_map": buffer.stride_map,
            "device_dtype": buffer.format,
        }
        if entry["role"] == "input_output":
            entry["result"] = result
        arguments.append(entry)
    pool = 0
    for buffer in program.buffers:
        if buffer.space == "pool":
            pool = max(pool, buffer.address + math.prod(buffer.device_size[:-1]) * STICK_IN_BYTES)
    return {"version": 1, "pool_bytes": pool, "arguments": arguments}
