# l3text.py - L3 of the Spyre dialect as text
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes a neutral program (neutral.py) as a module of planned buffers. All that
# the runners know about the dialect's syntax is in this file; the grammar is
# that of include/spyre/Dialect/Spyre/IR.
"""Text of a planned module for a neutral program."""

import copy
import math

from .neutral import SEGMENT, Loop

# The device whose limits the reference assumed when the cases were made.
DEVICE = "spyre-2026-06"

# The types of MLIR itself, whose integers have no sign; those of torch-mlir are in formats.py.
ELEMENT = {
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "bool": "i1",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "ui8",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2": "f8E5M2",
    "float8_e4m3fnuz": "f8E4M3FNUZ",
    "float8_e5m2fnuz": "f8E5M2FNUZ",
}

# OpFunc -> mnemonic, where lower case is not enough.
MNEMONIC = {"ReStickifyOpHBM": "restickify"}

MATMULS = {"batchmatmul", "batchmatmulfp8"}


def expression(expr, num_dims):
    """`d0 floordiv 128 + s0 * 512 + 3`."""
    parts = []
    for term in expr.terms:
        name = f"d{term.input}" if term.input < num_dims else f"s{term.input - num_dims}"
        text = name
        if term.divisor != 1:
            text = f"{text} floordiv {term.divisor}"
        if term.modulus:
            text = f"({text}) mod {term.modulus}" if term.divisor != 1 else f"{text} mod {term.modulus}"
        if term.coefficient != 1:
            text = f"({text}) * {term.coefficient}" if text != name else f"{text} * {term.coefficient}"
        parts.append(text)
    if expr.constant or not parts:
        parts.append(str(expr.constant))
    return " + ".join(parts)


def number(value):
    """A constant as a typed attribute."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value} : i64"
    text = repr(float(value))
    mantissa, _, exponent = text.partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    return f"{mantissa}e{exponent} : f64" if exponent else f"{mantissa} : f64"


class Writer:
    """One module."""

    def __init__(self, program, name):
        self.program = program
        self.name = name
        self.types = {}
        self.values = {}
        self.lines = []

    def type_of(self, index):
        buffer = self.program.buffers[index]
        space = "lx" if buffer.space == "lx" else "hbm"
        shape = "".join(f"{size}x" for size in buffer.shape)
        stick = f", stick [{', '.join(f'[{dim}, {n}]' for dim, n in buffer.stick)}]" if buffer.stick else ""
        text = (
            f"!spyre.buffer<{shape}{ELEMENT[buffer.dtype]}, #spyre.layout<{list(buffer.device_size)}, "
            f"order {list(buffer.dim_order)}, {buffer.format}{stick}>, {space}>"
        )
        return self.types.setdefault(text, f"!t{len(self.types)}")

    def write(self):
        signature = []
        names = array_names(self.program)
        # L3 has no name for what an updated argument becomes; then the binding says it all.
        describe = all(role(self.program.buffers[index]) != "input_output" for index in self.arguments())
        for index in self.arguments():
            buffer = self.program.buffers[index]
            self.values[index] = f"%arg{len(signature)}"
            attributes = [f"spyre.address = {buffer.address} : i64"]
            if buffer.arg_index != len(signature) and buffer.arg_index >= 0:
                attributes.append(f"spyre.number = {buffer.arg_index} : i64")
            if describe:
                attributes += [f'spyre.role = "{role(buffer)}"', f'spyre.array = "{names[index][0]}"']
            signature.append(f"{self.values[index]}: {self.type_of(index)} {{{', '.join(attributes)}}}")
        for index, buffer in enumerate(self.program.buffers):
            if index in self.values:
                continue
            self.values[index] = f"%b{index}"
            self.lines.append(
                f"    {self.values[index]} = spyre.alloc {buffer.space}({buffer.address}) : {self.type_of(index)}"
            )
        if any(isinstance(node, Loop) for node in self.program.body):
            self.lines.append("    %c0 = arith.constant 0 : index")
            self.lines.append("    %c1 = arith.constant 1 : index")
            for index, count in enumerate(self.program.loop_counts):
                self.lines.append(f"    %n{index} = arith.constant {count} : index")
        self.nodes(self.program.body, "    ")
        aliases = [f"{alias} = {text}" for text, alias in self.types.items()]
        return "\n".join(
            [
                *aliases,
                f'module attributes {{spyre.device = "{DEVICE}"}} {{',
                f"  func.func @{self.name}({', '.join(signature)}) {{",
                *self.lines,
                "    return",
                "  }",
                "}",
                "",
            ]
        )

    def arguments(self):
        """Buffers that the function gets, in the order of the kernel's arguments."""
        return argument_order(self.program)

    def nodes(self, body, indent):
        for node in body:
            if isinstance(node, Loop):
                self.lines.append(f"{indent}scf.for %i{node.id} = %c0 to %n{node.id} step %c1 {{")
                self.nodes(node.body, indent + "  ")
                self.lines.append(f"{indent}}}")
            else:
                self.lines.append(indent + self.operation(node))

    def operation(self, op):
        dims = ", ".join(
            f"d{i} = {size}" + (f" / {split}" if split != 1 else "")
            for i, (size, split) in enumerate(zip(op.sizes, op.splits))
        )
        text = f"spyre.{MNEMONIC.get(op.function, op.function.lower())} ({dims})"
        if op.function in MATMULS and self.program.config.get("core_id_k_fast_emission"):
            text += " k_fast"
        if op.loops:
            text += f" loops({', '.join(f'%i{i}' for i in op.loops)})"
        *inputs, output = op.operands
        text += f" ins({', '.join(self.operand(o, op) for o in inputs)}) outs({self.operand(output, op)})"
        for position, operand in enumerate(inputs):
            if operand.indirect is not None:
                text += f" gather({position}[{operand.indirect_dim}] by {operand.indirect})"
        if op.constants:
            text += (
                " constants {"
                + ", ".join(f"{key} = {number(value)}" for key, value in sorted(op.constants.items()))
                + "}"
            )
        types = ", ".join(self.type_of(o.buffer) for o in inputs)
        return f"{text} : {types} -> {self.type_of(output.buffer)}"

    def operand(self, operand, op):
        coordinates = ", ".join(expression(e, len(op.sizes)) for e in operand.coordinates)
        return f"{self.values[operand.buffer]}[{coordinates}]"


def argument_order(program):
    """Positions of the buffers that are function arguments."""
    positions = [i for i, b in enumerate(program.buffers) if b.space == "hbm"]
    return sorted(positions, key=lambda i: (program.buffers[i].address, i))


def role(buffer):
    if buffer.read_first and buffer.written:
        return "input_output"
    return "output" if buffer.written else "input"


def array_names(program):
    """Per argument (array, result): in0, in1, ... and out0, ... in argument order."""
    names, inputs, outputs = {}, 0, 0
    for index in argument_order(program):
        buffer = program.buffers[index]
        kind, array, result = role(buffer), None, None
        if kind in ("input", "input_output"):
            array, inputs = f"in{inputs}", inputs + 1
        if kind in ("output", "input_output"):
            result, outputs = f"out{outputs}", outputs + 1
            if kind == "output":
                array = result
        names[index] = (array, result)
    return names


def write_module(program, name="sdsc_bundle"):
    return Writer(program, name).write()


def written_elements(program, index):
    """How many elements of a buffer the operations write, counted without overlaps."""
    total = 0
    for op in program.operations():
        output = op.operands[-1]
        if output.buffer == index:
            used = set().union(*[e.inputs() for e in output.coordinates]) if output.coordinates else set()
            extents = [*op.sizes, *[program.loop_counts[i] for i in op.loops]]
            total += math.prod(extents[i] for i in used)
    return total


def runnable(program):
    """A copy in which whatever enters or leaves the case is an argument.

    Cases draw their inputs' places at random, the pool and LX included; nothing
    could be put there before a launch. Buffers that are read first or that
    hold a final result become arguments in device memory; the others stay.
    """
    program = copy.deepcopy(program)
    for index, buffer in enumerate(program.buffers):
        # A result that the case writes only in part keeps the rest of what was there.
        if buffer.written and not buffer.read_first and written_elements(program, index) < math.prod(buffer.shape):
            buffer.read_first = True
    top = max([b.address // SEGMENT for b in program.buffers if b.space == "hbm"], default=-1) + 1
    for buffer in program.buffers:
        final = buffer.written and not buffer.read_after_write
        if buffer.space != "hbm" and (buffer.read_first or final):
            buffer.space, buffer.address, top = "hbm", top * SEGMENT, top + 1
        buffer.arg_index = -1  # the kernel's list has grown: arguments count anew
    return program
