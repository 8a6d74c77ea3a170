# _cut.py - Graphs cut into parts, in time that grows with their size
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A node's level is the number of changes between device and host on the longest way to
# it: device at even levels, host at odd ones. All device nodes of a level become one part.
# What a level needs was computed at lower ones, so there are no cycles to look for, and no
# other cut has fewer parts one after another.
"""Levels of a graph's nodes, and the graph that calls a module for each part."""

from __future__ import annotations

import operator

import torch

from ._loops import VALUE, bodies_of, is_loop

PART = "spyre_part_"


def is_weight(node) -> bool:
    """Whether the node is a parameter or a buffer, or a tensor of the graph itself."""
    return node.meta.get("spyre_static", False)


def _has_order(node) -> bool:
    """Whether the node must stay between the others of its kind: random numbers, collectives, writes."""
    target = node.target
    if is_loop(target):
        return any(_has_order(inner) for body in bodies_of(node) for inner in body.nodes)
    if not isinstance(target, torch._ops.OpOverload):
        return False
    return (
        target._schema.is_mutable
        or torch.Tag.nondeterministic_seeded in target.tags
        or target.namespace in ("_c10d_functional", "c10d_functional", "c10d")
    )


def _is_item(node) -> bool:
    """One tensor of the several that an operation gives."""
    return node.target is operator.getitem and node.args[0].op == "call_function"


def levels_of(graph: torch.fx.Graph, is_on_device) -> dict:
    """The level of each call of a function."""
    levels, last, ordered = {}, 0, set()
    for node in graph.nodes:
        if node.op != "call_function":
            continue
        if _is_item(node):
            levels[node] = levels[node.args[0]]
            continue
        level = max((levels.get(operand, 0) for operand in node.all_input_nodes), default=0)
        if _has_order(node):
            level = max(level, last)
            ordered.add(node)
        level += (level % 2 == 0) != is_on_device(node)
        levels[node] = level
        if node in ordered:
            last = level
    _sink(graph, levels, ordered)
    return levels


def _sink(graph, levels, ordered):
    """What only the graph's arguments are needed for goes to where it is read first: a weight's transposition."""
    for node in reversed(graph.nodes):
        if levels.get(node) != 0 or node in ordered or _is_item(node):
            continue
        items = [user for user in node.users if _is_item(user)]
        users = {user for result in (node, *items) for user in result.users}.difference(items)
        first = min((levels.get(user, 0) for user in users), default=0)
        first -= first % 2
        for result in (node, *items) if first else ():
            levels[result] = first


def parts_of(graph: torch.fx.Graph, is_on_device) -> tuple[dict, list[list]]:
    """(levels, the nodes of each part in the graph's order)."""
    levels = levels_of(graph, is_on_device)
    parts = {}
    for node, level in levels.items():
        if level % 2 == 0:
            parts.setdefault(level, []).append(node)
    return levels, [parts[level] for level in sorted(parts)]


def with_parts(source: torch.fx.Graph, levels: dict) -> tuple[torch.fx.Graph, dict]:
    """(a graph that calls a module for the device's nodes of each level, the graph of each such call).

    `source` stays as it is. The modules are the caller's to make.
    """
    graph = torch.fx.Graph()
    made, parts = {}, {}
    by_level = {}
    for node in source.nodes:
        if node.op == "call_function":
            by_level.setdefault(levels[node], []).append(node)
        elif node.op != "output":
            made[node] = graph.node_copy(node)
    for count, level in enumerate(sorted(by_level)):
        nodes = by_level[level]
        if level % 2:
            for node in nodes:
                made[node] = graph.node_copy(node, made.__getitem__)
            continue
        name = f"{PART}{count}"
        part, inputs, results = _part(nodes)
        call = graph.call_module(name, tuple(made[node] for node in inputs))
        parts[call] = part
        call.meta["val"] = tuple(node.meta.get("val") for node in results)
        for i, node in enumerate(results):
            made[node] = graph.call_function(operator.getitem, (call, i))
            made[node].meta = {"val": node.meta.get("val")}
    graph.output(torch.fx.map_arg(source.output_node().args[0], made.__getitem__))
    return graph, parts


def _part(nodes):
    """(graph, what of the whole graph it takes, weights first, what of it that needs)."""
    inside = set(nodes)
    inputs = dict.fromkeys(operand for node in nodes for operand in node.all_input_nodes if operand not in inside)
    graph, copies = torch.fx.Graph(), {}
    for node in [node for node in inputs if VALUE in node.meta]:  # part of what reads it
        copies[node] = graph.node_copy(node)
        del inputs[node]
    inputs = sorted(inputs, key=lambda node: not is_weight(node))
    for node in inputs:
        copies[node] = graph.placeholder(node.name)
        copies[node].meta = dict(node.meta)
    for node in nodes:
        copies[node] = graph.node_copy(node, copies.__getitem__)
    results = [node for node in nodes if any(user not in inside for user in node.users)]
    graph.output(tuple(copies[node] for node in results))
    return graph, inputs, results
