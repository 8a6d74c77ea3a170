# _loops.py - PyTorch's loops and branches to the compiler's text
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# PyTorch traces `while_loop`, `scan`, `map` and `cond` as operators whose bodies are graphs. Here
# a body becomes a private function, and the operator a `torch.prim.Loop` or `torch.prim.If`
# that calls it; the compiler inlines the calls and counts the trips.
#
#   while_loop(cond, body, carried, more)   prim.Loop that carries `carried`
#   scan(step, init, xs, more)              prim.Loop with len(xs) trips; trip i selects xs[i] and
#                                           writes its results to place i of the stacked ones,
#                                           which it carries, too. Dims were moved and reversed
#                                           scans were flipped by PyTorch
#   map(step, xs, more)                     the same without a carry
#   cond(p, yes, no, operands)              prim.If
#
# torch-mlir has while_loop only, and passes neither numbers nor captured tensors. On the CPU
# `associative_scan` never gets here: PyTorch traces its decomposition.
"""Higher-order operators with bodies, for the importer."""

from __future__ import annotations

import operator

import torch

aten = torch.ops.aten
# By name: their bodies are graphs, which the compiler has a form for.
NAMES = frozenset({"while_loop", "scan", "map_impl", "cond"})
# Where the importer finds what a `get_attr` node stands for, if its own graph has no module: a body, or a
# number that belongs to what reads it.
VALUE = "spyre_value"
_MOST_TRIPS = 2**63 - 1


def is_loop(target) -> bool:
    """Whether the target is one of these operators."""
    return isinstance(target, torch._ops.HigherOrderOperator) and target.name() in NAMES


def value_of(node):
    """What a `get_attr` node stands for; None: nobody knows."""
    value = node.meta.get(VALUE)
    if value is None and node.graph.owning_module is not None:
        value = operator.attrgetter(node.target)(node.graph.owning_module)
    return value


def body_of(node):
    """The graph module that a `get_attr` node stands for; None: it is no such node."""
    if node.op != "get_attr":
        return None
    body = value_of(node)
    return body if isinstance(body, torch.fx.GraphModule) else None


def bodies_of(node):
    """The graphs of a node's bodies and, within them, of theirs."""
    for operand in node.all_input_nodes:
        if (body := body_of(operand)) is not None:
            yield body.graph
            for inner in body.graph.nodes:
                yield from bodies_of(inner)


def _constant_of(node):
    """The node that holds a constant of which `node` is a copy, or itself is one; else None."""
    copies = (
        aten.lift_fresh_copy.default,
        aten.detach.default,
        aten.detach_.default,
        aten.clone.default,
        aten.alias.default,
    )
    while node.op == "call_function" and node.target in copies:
        node = node.args[0]
    return node if node.op == "get_attr" else None


def simplified(graph: torch.fx.Graph) -> torch.fx.Graph:
    """A copy of a body's graph for the importer.

    Copies of constants, whose noted values are real tensors, are the constants themselves; a choice between two
    numbers is a `cond` without bodies; assertions about places in memory are left out.
    """
    copied = torch.fx.Graph(graph.owning_module)
    copied.output(copied.graph_copy(graph, {}))
    for node in list(copied.nodes):
        if node.op != "call_function":
            continue
        if (constant := _constant_of(node)) is not None:
            node.replace_all_uses_with(constant)
        elif node.target is torch.sym_ite:
            node.target = torch.ops.higher_order.cond
        elif node.target is aten._assert_scalar.default and _is_of_memory(node.args[0]):
            copied.erase_node(node)
    for node in reversed(list(copied.nodes)):
        if not node.users and (_constant_of(node) is not None or _is_of_memory(node)):
            copied.erase_node(node)
    return copied


def _is_of_memory(value):
    """Whether a number is computed of where a tensor begins in memory."""
    if not isinstance(value, torch.fx.Node) or value.op != "call_function":
        return False
    if value.target is aten.sym_storage_offset.default:
        return True
    is_number = not isinstance(value.meta.get("val"), (torch.Tensor, list, tuple))
    return is_number and any(map(_is_of_memory, value.all_input_nodes))


def make_numbers(graph: torch.fx.Graph) -> None:
    """Has bodies make the numbers that they hold as constants: PyTorch cannot trace those of a body within a body."""
    for body in (body for node in graph.nodes for body in bodies_of(node)):
        for node in body.find_nodes(op="call_function", target=aten.lift_fresh_copy.default):
            constant = _constant_of(node)
            value = value_of(constant) if constant is not None else None
            if not _is_number(value):
                continue
            with body.inserting_before(node):
                made = body.call_function(aten.full.default, ([], value.item()), {"dtype": value.dtype})
            made.meta = dict(node.meta)
            node.replace_all_uses_with(made)
            body.erase_node(node)
            if not constant.users:
                body.erase_node(constant)
                delattr(body.owning_module, constant.target)
        body.owning_module.recompile()


def keep_counters(graph: torch.fx.Graph, attributes: dict) -> None:
    """Has loops and branches read constant numbers where they are: the compiler counts trips by them."""
    for node in graph.nodes:
        if not is_loop(node.target):
            continue
        for operand in node.all_input_nodes:
            constant = _constant_of(operand)
            if constant is not None and _is_number(attributes[constant.target]):
                node.replace_input_with(operand, constant)
                constant.meta[VALUE] = attributes[constant.target]
    graph.eliminate_dead_code()


def _is_number(value):
    return isinstance(value, torch.Tensor) and value.dim() == 0


class LoopImporter:
    """What the importer of a graph's nodes adds for these operators.

    A mixin for torch-mlir's GraphNodeImporter.
    """

    def _make(self, name, operands, results, loc, regions=0, attributes=None):
        from torch_mlir import ir

        return ir.Operation.create(
            name, operands=operands, results=results, loc=loc, regions=regions, attributes=attributes or {}
        )

    def _number(self, value, loc):
        with loc:
            return self._import_literal(value)

    def _call(self, node, operands, shown, loc):
        """Calls the function of a body. shown: what the operands are, as tensors without values, numbers or nodes."""
        from torch_mlir import ir

        from ._importer import import_body

        shown = [value.meta["val"] if isinstance(value, torch.fx.Node) else value for value in shown]
        name, results = import_body(self.fx_importer, body_of(node), shown)
        callee = {"callee": ir.FlatSymbolRefAttr.get(name)}
        return list(self._make("func.call", operands, results, loc, attributes=callee).results)

    def _truth(self, value, loc):
        if value.type == self._cc.torch_bool_type:
            return value
        return self._make("torch.aten.Bool.Tensor", [value], [self._cc.torch_bool_type], loc).result

    def _values(self, arguments, loc):
        return [self._import_argument(loc, argument) for argument in arguments]

    def _bind_results(self, node, values):
        self._multi_result_nodes.add(node)
        for i, value in enumerate(values):
            self.bind_node_value(node, value, i)

    def _loop(self, node, loc, trips, condition, carried, step):
        """step(counter, carried) -> (the next condition, what is carried on); the results."""
        from torch_mlir import ir

        types = [value.type for value in carried]
        loop = self._make("torch.prim.Loop", [trips, condition, *carried], types, loc, regions=1)
        with loc:
            block = ir.Block.create_at_start(loop.regions[0], [self._cc.torch_int_type, *types])
        with ir.InsertionPoint(block):
            goes_on, values = step(block.arguments[0], list(block.arguments)[1:])
            self._make("torch.prim.Loop.condition", [goes_on, *values], [], loc)
        self._bind_results(node, loop.results)

    def _import_hop_while_loop(self, loc, node, hop):
        condition, body, *shown = node.args
        carried, more = (self._values(values, loc) for values in shown)
        # A number that is carried is another one in each trip.
        shown = [None if isinstance(value, int) else value for value in shown[0]] + list(shown[1])

        def goes_on(values):
            return self._truth(self._call(condition, [*values, *more], shown, loc)[0], loc)

        def step(_, values):
            values = self._call(body, [*values, *more], shown, loc)
            return goes_on(values), values

        first = goes_on(carried)
        self._loop(node, loc, self._number(_MOST_TRIPS, loc), first, carried, step)

    def _import_hop_scan(self, loc, node, hop):
        body, init, xs, *more = node.args
        self._import_steps(loc, node, body, init, xs, more[0] if more else ())

    def _import_hop_map_impl(self, loc, node, hop):
        body, xs, more = node.args
        self._import_steps(loc, node, body, (), xs, more)

    def _import_steps(self, loc, node, body, init, xs, more):
        """One trip for each first index of xs: body(*carried, *slices, *more) -> (*carried, *results)."""
        from torch_mlir import ir

        if not xs:
            raise TypeError("it has nothing to go through")
        stacked = node.meta["val"][len(init) :]
        count = xs[0].meta["val"].shape[0]
        tiles = [torch.empty(x.meta["val"].shape[1:], dtype=x.meta["val"].dtype, device="meta") for x in xs]
        types = [self._cc.get_vtensor_type(tile.shape, tile.dtype) for tile in tiles]
        shown = [*init, *tiles, *more]
        carried, xs, more = self._values(init, loc), self._values(xs, loc), self._values(more, loc)
        zero, none = self._number(0, loc), self._number(None, loc)

        def empty(value):
            sizes = [self._number(size, loc) for size in value.shape]
            sizes = self._make("torch.prim.ListConstruct", sizes, [ir.Type.parse("!torch.list<int>")], loc).result
            operands = [sizes, self._number(value.dtype, loc), none, none, none]
            return self._make("torch.aten.zeros", operands, [self._cc.tensor_to_vtensor_type(value)], loc).result

        def step(counter, values):
            slices = [
                self._make("torch.aten.select.int", [x, zero, counter], [type_], loc).result
                for x, type_ in zip(xs, types)
            ]
            results = self._call(body, [*values[: len(init)], *slices, *more], shown, loc)
            written = [
                self._make("torch.aten.select_scatter", [whole, part, zero, counter], [whole.type], loc).result
                for whole, part in zip(values[len(init) :], results[len(init) :])
            ]
            return always, [*results[: len(init)], *written]

        always = self._number(True, loc)
        carried += [empty(value) for value in stacked]
        self._loop(node, loc, self._number(count, loc), always, carried, step)

    def _import_hop_cond(self, loc, node, hop):
        from torch_mlir import ir

        condition, yes, no, *operands = node.args
        condition = self._truth(self._import_argument(loc, condition), loc)
        is_of_bodies, shown = bool(operands), operands[0] if operands else ()
        operands = self._values(shown, loc)
        if is_of_bodies:
            types = [self._cc.value_info_to_type(value) for value in node.meta["val"]]
        else:  # one of two numbers
            types = [self._cc.torch_int_type]
        branch = self._make("torch.prim.If", [condition], types, loc, regions=2)
        for region, way in zip(branch.regions, (yes, no)):
            with loc:
                block = ir.Block.create_at_start(region, [])
            with ir.InsertionPoint(block):
                values = self._call(way, operands, shown, loc) if is_of_bodies else [self._import_argument(loc, way)]
                self._make("torch.prim.If.yield", values, [], loc)
        if is_of_bodies:
            self._bind_results(node, branch.results)
        else:
            self.bind_node_value(node, branch.results[0])
