# evaluate.py - Neutral programs evaluated directly, in float64
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What a case computes, straight from its index expressions: no layouts, no
# sticks, no work slices, and no rounding but that of what lies in memory between
# two operations (an exp of a rounded difference is far from the exact one). It is
# the reference against which the emulator's run of an emitted bundle is compared.
# Meanings of the OpFuncs: opfuncs.py.
"""Random inputs for a neutral program and its results."""

import math

import numpy as np

from . import formats, l3text, opfuncs
from .neutral import BYTES_PER_STICK, Loop

POSITIVE_INPUT = {"log", "sqrt", "rsqrt"}


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
    if buffer.format == "SEN169_FP16":
        return formats.exact_on_device(values, buffer.dtype)
    return formats.round_to(values, buffer.dtype) if buffer.dtype in formats.FLOATS else values


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
        grid = [*opfuncs.grid(op.sizes), *(variables[i] for i in op.loops)]
        *inputs, output = op.operands

        def index(operand):
            where = [e.evaluate(grid) for e in operand.coordinates]
            if operand.indirect is not None:
                where[operand.indirect_dim] = fetch(op.operands[operand.indirect]).astype(np.int64)
            return where

        def fetch(operand, values=self.values):
            return opfuncs.gather(values[operand.buffer], index(operand), rank)

        used = set().union(*[e.inputs() for e in output.coordinates]) if output.coordinates else set()
        kept = [i for i in range(rank) if i in used]
        data = [operand for operand in inputs if not operand.is_index]
        operands = [fetch(operand) for operand in data]
        if op.function == "layernormscale":
            operands.append(fetch(data[0], self.second))
        result, second = opfuncs.compute(op.function, operands, op.sizes, kept, op.constants), None
        if isinstance(result, tuple):  # exx2: the mean of squares has a lane of its own
            result, second = result
        target = index(output)

        def write(array, values):
            if op is not self.last:
                values = self.stored_between(values, output.buffer)
            opfuncs.scatter(array, target, values, op.sizes, kept)

        write(self.values[output.buffer], result)
        opfuncs.scatter(self.written[output.buffer], target, True, op.sizes, kept)
        if second is not None:
            shape = self.values[output.buffer].shape
            write(self.second.setdefault(output.buffer, np.full(shape, np.nan)), second)

    def stored_between(self, values, index):
        """What later operations read: the format of the buffer between rounds, whatever the order of operations."""
        if self.program.buffers[index].format != "SEN169_FP16":
            return values
        return formats.computed_dl16(values)


def traits(operations):
    """Inputs are exact in the device's formats: what only chooses among them is exact, too."""
    return opfuncs.traits((op.function for op in operations), moves=opfuncs.MOVES | opfuncs.CHOICES)


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
            inputs[array] = formats.from_float64(drawn[index], buffer.dtype)
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
            pool = max(pool, buffer.address + math.prod(buffer.device_size[:-1]) * BYTES_PER_STICK)
    return {"version": 1, "pool_bytes": pool, "arguments": arguments}
