# _sizes.py - Graphs with open sizes, for the sizes of a call
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# PyTorch has traced a formula for each size; the arguments of a call say what its symbols
# are. So nothing is traced anew: what has no symbols stays as it is, the rest is computed
# from the formulas, each once. A graph whose formulas say more than its arguments (sizes
# that depend on data) is walked through with tensors without data.
"""A graph with symbolic sizes becomes one with numbers."""

from __future__ import annotations

import functools

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx.node import map_arg
from torch.utils import _pytree

_SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)


class _Unknown(Exception):
    """A size of which the arguments do not tell."""


def with_sizes_of(module: torch.fx.GraphModule, args) -> torch.fx.Graph:
    """The module's graph for the sizes of `args`: what is computed of sizes becomes numbers.

    Not by tracing: that sets a flag of the process, under which compiled functions that other
    threads call refuse to run.
    """
    try:
        return _copy(module, args, _Formulas())
    except _Unknown:
        return _copy(module, args, _Walk())


def attribute(module, name):
    """The module's attribute of a dotted name."""
    return functools.reduce(getattr, name.split("."), module)


def _copy(module, args, values) -> torch.fx.Graph:
    graph, nodes = torch.fx.Graph(), {}
    given = iter(args)

    def add(node, made, value):
        made.meta = {**node.meta, "val": value}
        made.meta.pop("tensor_meta", None)  # has the sizes that were open
        nodes[node] = made

    for node in module.graph.nodes:
        if node.op == "placeholder":
            argument = next(given)
            value = values.take(node, argument)
            add(node, graph.placeholder(node.name), value)
            if not isinstance(value, torch.Tensor):
                nodes[node] = value
        elif node.op == "get_attr":
            add(node, graph.get_attr(node.target), values.take(node, attribute(module, node.target)))
        elif node.op == "output":
            graph.output(map_arg(node.args[0], nodes.__getitem__))
        else:
            value = values.compute(node)
            if any(isinstance(leaf, torch.Tensor) for leaf in _pytree.tree_leaves(value)):
                arguments = (map_arg(part, nodes.__getitem__) for part in (node.args, node.kwargs))
                add(node, graph.call_function(node.target, *arguments), value)
            else:
                nodes[node] = value
    return graph


class _Formulas:
    """Values by what PyTorch has noted of the nodes."""

    def __init__(self):
        self.mode = FakeTensorMode(allow_non_fake_inputs=True)
        self.symbols = {}  # symbol -> number
        self.known = {}  # formula -> number

    def take(self, node, argument):
        noted = node.meta.get("val")
        if isinstance(argument, torch.Tensor):
            if not isinstance(noted, torch.Tensor):
                return self.mode.from_tensor(argument)
            sizes = (*noted.shape, *noted.stride())
            for size, number in zip(sizes, (*argument.shape, *argument.stride())):
                self._note(size, number)
            if any(isinstance(size, _SYMBOLIC) for size in sizes):
                return self._tensor(noted, argument.shape, argument.stride())
            return noted
        self._note(noted, argument)
        return argument

    def _note(self, formula, number):
        if isinstance(formula, _SYMBOLIC) and formula.node.expr.is_Symbol:
            self.symbols.setdefault(formula.node.expr, number)

    def compute(self, node):
        if "val" not in node.meta:
            raise _Unknown
        return self._computed(node.meta["val"])

    def _computed(self, noted):
        if isinstance(noted, torch.Tensor):
            shape, stride = noted.shape, noted.stride()
            if not any(isinstance(size, _SYMBOLIC) for size in (*shape, *stride)):
                return noted
            return self._tensor(noted, [self._number(size) for size in shape], [self._number(step) for step in stride])
        if isinstance(noted, (list, tuple)):
            return type(noted)(map(self._computed, noted))
        return self._number(noted)

    def _tensor(self, noted, shape, stride):
        if noted.layout is not torch.strided:
            raise _Unknown
        data = torch.empty_strided(shape, stride, dtype=noted.dtype, device="meta")
        return FakeTensor(self.mode, data, noted.device)

    def _number(self, value):
        if not isinstance(value, _SYMBOLIC):
            return value
        formula = value.node.expr
        number = self.known.get(formula)
        if number is None:
            replaced = formula.xreplace(self._replacements(formula))
            if replaced.free_symbols:
                raise _Unknown
            kind = int if isinstance(value, torch.SymInt) else float if isinstance(value, torch.SymFloat) else bool
            number = self.known[formula] = kind(replaced)
        return number

    def _replacements(self, formula):
        import sympy

        return {
            symbol: sympy.sympify(self.symbols[symbol]) for symbol in formula.free_symbols if symbol in self.symbols
        }


class _Walk:
    """Values by computing with tensors that have no data."""

    def __init__(self):
        self.mode = FakeTensorMode(allow_non_fake_inputs=True)
        self.values = {}

    def take(self, node, argument):
        value = self.mode.from_tensor(argument) if isinstance(argument, torch.Tensor) else argument
        self.values[node] = value
        return value

    def compute(self, node):
        numbers, keywords = (map_arg(part, self.values.__getitem__) for part in (node.args, node.kwargs))
        with self.mode, torch.no_grad():
            value = node.target(*numbers, **keywords)
        self.values[node] = value
        return value
