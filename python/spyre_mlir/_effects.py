# _effects.py - Operators that do more than give results
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# PyTorch threads a token through the operators whose order counts (printing, assertions,
# what users register): `with_effects(token, operator, ...)`. Programs have host calls in
# the order of the text instead, so that the operators are called by themselves again, and
# marked: they run, in their order, even if nobody reads what they give.
"""Effect tokens of exported graphs."""

from __future__ import annotations

import operator

import torch

from .errors import ExportError

# Of a node's meta: the operator has to run.
EFFECT = "spyre_effect"


def remove_tokens(graph: torch.fx.Graph) -> None:
    """Calls operators by themselves in place of `with_effects`; nothing reads a token then."""
    for node in list(graph.find_nodes(op="call_function", target=torch.ops.higher_order.with_effects)):
        _, target, *args = node.args
        if not isinstance(target, torch._ops.OpOverload):
            raise ExportError(f"{target} has an effect that a program cannot have; call it outside of the function")
        with graph.inserting_before(node):
            call = graph.call_function(target, tuple(args), dict(node.kwargs))
        _, *values = node.meta["val"]
        call.meta = {key: value for key, value in node.meta.items() if key != "tensor_meta"}
        call.meta |= {"val": values[0] if len(values) == 1 else tuple(values), EFFECT: True}
        for item in list(node.users):
            position = item.args[1] - 1
            if item.target is not operator.getitem or position < 0:
                continue
            if len(values) == 1:
                item.replace_all_uses_with(call)
                graph.erase_node(item)
            else:
                item.args = (call, position)
    # Tokens are left: from one call to the next, and to the output, which the caller rewrites.
    (output,) = graph.find_nodes(op="output")
    kept = tuple(None if _is_token(result) else result for result in output.args[0])
    output.args = (kept,)
    for node in reversed(list(graph.nodes)):
        if _is_token(node) or (node.op == "call_function" and node.target is torch.ops.higher_order.with_effects):
            graph.erase_node(node)


def _is_token(node) -> bool:
    """What `with_effects` gives first."""
    return (
        isinstance(node, torch.fx.Node)
        and node.target is operator.getitem
        and isinstance(node.args[0], torch.fx.Node)
        and node.args[0].target is torch.ops.higher_order.with_effects
        and node.args[1] == 0
    )
