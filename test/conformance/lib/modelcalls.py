# modelcalls.py - Operator calls of models as PyTorch modules
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A case of model_ops.json is one call: an operator by its qualified name, with
# tensors given by shape, type and strides and everything else by value. Nothing
# has to be guessed, so the call becomes one Step of opcalls' Module.
"""Cases of model_ops.json to modules and inputs."""

import ast
import dataclasses
import operator

import numpy as np
import torch

from . import opcalls, sizes
from .opcalls import DTYPES, Call, Module, Ref, Step, Unclear

# Names that Python's operators have in a trace.
OPERATORS = {
    "and_": operator.and_,
    "invert": operator.invert,
    "floordiv": operator.floordiv,
    "truediv": operator.truediv,
    "getitem": operator.getitem,
    "__eq__": operator.eq,
}


def function_of(name):
    """The function that a qualified name means; a method where PyTorch has no such function."""
    parts = name.split(".")
    last = parts[-1]
    if last in OPERATORS:
        return OPERATORS[last]
    place = torch
    for part in parts[1:]:
        place = getattr(place, part, None)
    if callable(place) and not isinstance(place, torch.dtype):
        return place
    method = getattr(torch.Tensor, last, None)
    if callable(method):
        return method
    raise Unclear(f"PyTorch has no {name}")


def literal(text):
    """The value that a text stands for: a tuple, an index expression, a dtype; else the text."""
    if text.startswith("torch."):
        return getattr(torch, text.removeprefix("torch."), text)
    if text in DTYPES:
        return DTYPES[text]
    if text == "device":
        return torch.device("cpu")
    try:
        return evaluate(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError):
        return text


def evaluate(node):
    """Constants, tuples, lists, slices and Ellipsis; nothing else."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.Tuple, ast.List)):
        parts = [evaluate(part) for part in node.elts]
        return tuple(parts) if isinstance(node, ast.Tuple) else parts
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -evaluate(node.operand)
    if isinstance(node, ast.Name) and node.id == "Ellipsis":
        return Ellipsis
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "slice" and not node.keywords:
        return slice(*(evaluate(part) for part in node.args))
    raise ValueError("no literal")


def closer(one):
    """A Spec with one outermost row before it at most: a part of a large tensor needs no large tensor."""
    if not one.offset or not one.shape:
        return one
    stride = one.stride if one.stride is not None else sizes.contiguous(one.shape)
    row = max(*stride, 1) if len(stride) > 1 else max(stride[0], 1)
    return dataclasses.replace(one, offset=one.offset % row + row if one.offset >= row else one.offset)


def elements(case):
    """Elements of the largest tensor of a case."""
    specs = []
    for entry in case["inputs"]:
        argument(entry, specs)
    return max((int(np.prod(one.storage()[0])) for one in specs), default=0)


def argument(entry, specs):
    """An argument of the call; tensors become Refs to the specs that they add."""
    if isinstance(entry, list) and entry and isinstance(entry[0], list):
        specs += [closer(one) for one in opcalls.spec(entry)]
        return Ref(specs[-1].shape, len(specs) - 1)
    if isinstance(entry, dict) and "list" in entry:
        return [argument(part, specs) for part in entry["list"]]
    if isinstance(entry, dict):
        entry = entry.get("value", entry.get("py"))
    return literal(entry) if isinstance(entry, str) else entry


def build(case, name, seed=0, scale=1.0):
    """The Call of a case, or Unclear; `scale` makes its inputs smaller."""
    specs = []
    args = [argument(entry, specs) for entry in case["inputs"]]
    kwargs = {key: argument(value, specs) for key, value in case.get("kwargs", {}).items()}
    step = Step(case["op"].split(".")[-1], function_of(case["op"]), args, kwargs)
    arguments = opcalls.arguments_of(specs, name, [step.name], seed, scale)
    with torch.no_grad():
        values = Module(specs, [], range(len(specs)))(*arguments)
        try:
            made = opcalls.as_list(Module([], [], []).call(step, [value.clone() for value in values]))
        except (TypeError, RuntimeError, ValueError, IndexError) as problem:
            raise Unclear(f"PyTorch refuses {case['op']}: {str(problem).splitlines()[0]}") from problem
    results = range(len(specs), len(specs) + len(made))
    return Call(Module(specs, [step], list(results)).eval(), arguments)
