# torch_eval.py - Runs a torch-dialect text with PyTorch, one operation at a time
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A reference that shares nothing with the compiler: each line of the text is a
# call of torch.ops with the operands that stand there, in the order of
# PyTorch's own schema. 16-bit floats, and casts to them, become float32, so that
# the results are those of the program without its roundings. Straight-line texts
# with static shapes only; what is unknown is an error that names the line.
"""A torch-dialect function evaluated in float32 with PyTorch."""

import re
import struct

import torch

# PyTorch's numbers of scalar types, as they occur in the text.
SCALAR_TYPES = {
    0: torch.uint8, 1: torch.int8, 2: torch.int16, 3: torch.int32, 4: torch.int64, 5: torch.float16,
    6: torch.float32, 7: torch.float64, 11: torch.bool, 15: torch.bfloat16,
}  # fmt: skip
NARROW = (torch.float16, torch.bfloat16)
NAME = r"%[\w.+-]+(?:#\d+)?"
# Values have no strides in the text: a view is a reshape.
VALUES = {"torch.aten.view": "torch.aten.reshape"}
# Checks without a result.
CHECKS = ("torch.aten._assert_tensor_metadata", "torch.bind_symbolic_shape")


class Unknown(Exception):
    """A line that this evaluator cannot run."""


def widened(dtype):
    return torch.float32 if dtype in NARROW else dtype


def widen(tensor):
    return tensor.to(widened(tensor.dtype))


def signature(text):
    """[(name, shape, element)] of the arguments of the one function."""
    found = re.findall(r"func\.func @\w+\((.*?)\)\s*->", text)
    if len(found) != 1:
        raise Unknown(f"{len(found)} functions")
    arguments = re.findall(rf"({NAME}): !torch\.vtensor<\[([\d,]*)\],(\w+)>", found[0])
    return [(name, [int(n) for n in shape.split(",") if n], element) for name, shape, element in arguments]


def constant(operation, rest):
    kind = operation.removeprefix("torch.constant.")
    word = rest.split(" {")[0].strip()
    if kind == "none":
        return None
    if kind == "bool":
        return word == "true"
    if kind in ("int", "float"):
        if word.startswith("0x"):  # the bits of a float64
            return struct.unpack(">d", bytes.fromhex(word[2:]))[0]
        return (int if kind == "int" else float)(word)
    if kind in ("device", "str"):
        return word.strip('"')
    raise Unknown(operation)


def overload(operation):
    """torch.ops' callable for `torch.aten.add.Tensor`."""
    _, namespace, name, *more = operation.split(".", 3)
    try:
        packet = getattr(getattr(torch.ops, namespace), name)
        return getattr(packet, more[0] if more else "default")
    except AttributeError:
        raise Unknown(operation) from None


def call(function, operands):
    """Calls with operands in the order of the schema; scalar types are widened."""
    schema = function._schema.arguments
    if len(operands) != len(schema):
        raise Unknown(f"{function} with {len(operands)} operands")
    positional, keywords = [], {}
    for value, argument in zip(operands, schema):
        kind = str(argument.type)
        if argument.name == "dtype" and isinstance(value, int):
            value = widened(SCALAR_TYPES[value])
        elif argument.name in ("layout", "device", "pin_memory", "memory_format"):
            continue
        elif kind.startswith("Optional") and value is None and argument.kwarg_only:
            continue
        if argument.kwarg_only:
            keywords[argument.name] = value
        else:
            positional.append(value)
    return function(*positional, **keywords)


class Evaluator:
    """Values of a function's names; each is dropped after its last use."""

    def __init__(self, text):
        self.text = text
        self.lines = [line.strip() for line in text.splitlines()]
        self.last = {name.split("#")[0]: i for i, line in enumerate(self.lines) for name in re.findall(NAME, line)}

    def run(self, inputs):
        values = {name: widen(x) for (name, _, _), x in zip(signature(self.text), inputs, strict=True)}
        with torch.no_grad():
            for number, line in enumerate(self.lines):
                if line.startswith("return"):
                    return [values[name] for name in re.findall(NAME, line.split(" : ")[0])]
                if " = torch." in line:
                    self.statement(line, values)
                elif line.startswith("torch.") and not line.startswith(CHECKS):
                    raise Unknown(line)
                for name in [n for n in values if self.last[n.split("#")[0]] == number]:
                    del values[name]
        raise Unknown("a function without return")

    def statement(self, line, values):
        results, code = line.split(" = ", 1)
        operation, _, rest = code.partition(" ")
        quoted = re.match(r'"([\w.]+)"', rest) if operation == "torch.operator" else None
        if quoted:
            operation = quoted[1]
        if operation.startswith("torch.constant."):
            values[results] = constant(operation, rest)
            return
        operands = [values[name] for name in re.findall(NAME, rest.split(" : ")[0])]
        if operation == "torch.prim.ListConstruct":
            values[results] = operands
        elif operation == "torch.prim.NumToTensor.Scalar":
            values[results] = torch.tensor(operands[0])
        else:
            got = call(overload(VALUES.get(operation, operation)), operands)
            match = re.fullmatch(rf"({NAME}):\d+", results)
            if match:
                values.update({f"{match[1]}#{i}": value for i, value in enumerate(got)})
            elif "," in results:
                values.update(zip((name.strip() for name in results.split(",")), got))
            else:
                values[results] = got
