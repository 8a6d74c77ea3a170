# dynamo.py - The backend "spyre" of torch.compile
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Graphs come from AOTAutograd: functional, with parameters and buffers as arguments. What
# the compiler takes of a graph runs on the device, the rest in PyTorch (_partition.py).
# Training graphs are left to PyTorch. A graph with symbolic sizes is compiled for the sizes
# that it is called with, a program each.
"""torch.compile(model, backend="spyre")."""

from __future__ import annotations

import collections
import functools
import threading
import warnings

import torch
from torch._dynamo import register_backend
from torch._dynamo.backends.common import aot_autograd
from torch._guards import TracingContext
from torch.fx.node import map_arg
from torch.utils import _pytree

from ._options import make as _make_options
from ._partition import PartitionedGraph, Placement, refresh_weights

__all__ = ["Placement", "backend", "refresh_weights", "reset_summaries", "summaries", "summary"]

# Graphs whose summaries are kept, and programs of one graph with symbolic sizes.
_MOST_SUMMARIES = 1000
_MOST_SIZES = 64

_summaries: collections.deque[Placement] = collections.deque(maxlen=_MOST_SUMMARIES)


def summaries() -> list[Placement]:
    """What was compiled so far: of each graph what runs on the device, what on the host, and why."""
    return list(_summaries)


def reset_summaries() -> None:
    _summaries.clear()


def summary() -> str:
    """All graphs together, in words: shares, and the reasons for the host's part."""
    device, host, reasons, calls = 0, 0, collections.Counter(), collections.Counter()
    for placement in _summaries:
        device += placement.device_nodes
        host += placement.host_nodes
        for operation, reason in placement.reasons:
            reasons[operation, reason] += 1
        calls.update(placement.calls_on_host)
    total = device + host
    share = f"{device / total:.0%}" if total else "none"
    lines = [f"{len(_summaries)} graphs: {device} operations on the device ({share}), {host} on the host"]
    lines += [f"  {count:4} x {operation}: {reason}" for (operation, reason), count in reasons.most_common()]
    lines += [f"  {count:4} x a program was computed by PyTorch: {reason}" for reason, count in calls.most_common()]
    return "\n".join(lines)


@functools.cache
def _decompositions():
    """Those of the exporter; what the compiler lowers as a whole stays whole."""
    from ._export import decomposition_table

    aten = torch.ops.aten
    table = dict(decomposition_table())
    for packet in (aten.native_layer_norm, aten.native_group_norm, aten.addmm, aten.baddbmm):
        for name in packet.overloads():
            table.pop(getattr(packet, name), None)
    attention = aten._scaled_dot_product_flash_attention_for_cpu
    for overload, decomposition in torch._decomp.get_decompositions([attention]).items():
        table[overload] = _laid_out_as_query(decomposition)
    return table


def _laid_out_as_query(attention):
    """PyTorch's decomposition has other strides than its kernel, so that views of the result that programs make would fail."""

    @functools.wraps(attention)
    def decomposition(query, *args, **kwargs):
        result, *more = attention(query, *args, **kwargs)
        strides = torch.empty_like(query).stride()
        order = sorted(range(query.dim()), key=lambda dim: -strides[dim])
        inverse = [order.index(dim) for dim in range(query.dim())]
        return (result.permute(order).contiguous().permute(inverse), *more)

    return decomposition


def _is_symbolic(value) -> bool:
    if isinstance(value, torch.Tensor):
        return any(isinstance(size, torch.SymInt) for size in (*value.shape, *value.stride()))
    return isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool))


def _static_positions() -> frozenset[int]:
    """Arguments of the graph that are parameters and buffers."""
    context = TracingContext.try_get()
    metadata = context.fw_metadata if context is not None else None
    return frozenset(metadata.static_input_indices or ()) if metadata is not None else frozenset()


class _PerSize:
    """A graph with symbolic sizes: a program for each set of sizes that it meets."""

    def __init__(self, graph, options, static):
        self.graph = graph
        self.options = options
        self.static = static
        self.made: collections.OrderedDict = collections.OrderedDict()
        self.lock = threading.Lock()

    def __call__(self, *args):
        key = tuple(
            (tuple(arg.shape), arg.stride(), arg.dtype) if isinstance(arg, torch.Tensor) else arg for arg in args
        )
        with self.lock:
            made = self.made.get(key)
            if made is None:
                made = self._specialise(args)
                while len(self.made) >= _MOST_SIZES:
                    self.made.popitem(last=False)
                self.made[key] = made
            self.made.move_to_end(key)
        return made(*args)

    def _specialise(self, args):
        from torch._dynamo.convert_frame import compile_lock

        # At a call: while another thread's Dynamo traces, new nodes of all graphs get its nodes' metadata.
        with compile_lock:
            return _compile_static(_with_sizes_of(self.graph, args), self.options, self.static)


def _with_sizes_of(module, args):
    """The graph for the sizes of `args`: what is computed of sizes becomes numbers.

    Not by tracing: that sets a flag of the process, under which compiled functions that other
    threads call refuse to run.
    """
    from torch._subclasses import FakeTensorMode

    mode = FakeTensorMode(allow_non_fake_inputs=True)
    graph, values, nodes = torch.fx.Graph(), {}, {}
    given = iter(args)

    def add(node, made, value):
        made.meta = {**node.meta, "val": value}
        made.meta.pop("tensor_meta", None)  # has the sizes that were open
        values[node], nodes[node] = value, made

    def shown(value):
        return mode.from_tensor(value) if isinstance(value, torch.Tensor) else value

    for node in module.graph.nodes:
        if node.op == "placeholder":
            value = shown(next(given))
            add(node, graph.placeholder(node.name), value)
            if not isinstance(value, torch.Tensor):
                nodes[node] = value
        elif node.op == "get_attr":
            add(node, graph.get_attr(node.target), shown(_attribute(module, node.target)))
        elif node.op == "output":
            graph.output(map_arg(node.args[0], nodes.__getitem__))
        else:
            numbers, keywords = (map_arg(part, values.__getitem__) for part in (node.args, node.kwargs))
            with mode, torch.no_grad():
                value = node.target(*numbers, **keywords)
            if any(isinstance(leaf, torch.Tensor) for leaf in _pytree.tree_leaves(value)):
                arguments = (map_arg(part, nodes.__getitem__) for part in (node.args, node.kwargs))
                add(node, graph.call_function(node.target, *arguments), value)
            else:
                values[node] = nodes[node] = value
    return torch.fx.GraphModule(module, graph)


def _attribute(module, name):
    return functools.reduce(getattr, name.split("."), module)


def _compile_static(graph, options, static):
    partitioned = PartitionedGraph(graph, options, static)
    _summaries.append(partitioned.placement)
    return partitioned


def _compile_graph(options, graph, example_inputs):
    from functorch.compile import make_boxed_func

    static = _static_positions()
    if any(map(_is_symbolic, example_inputs)) or any(_is_symbolic(node.meta.get("val")) for node in graph.graph.nodes):
        return make_boxed_func(_PerSize(graph, options, static))
    return make_boxed_func(_compile_static(graph, options, static))


def _needs_gradients(graph, example_inputs) -> bool:
    if not torch.is_grad_enabled():
        return False
    tensors = [*example_inputs, *graph.parameters(), *graph.buffers()]
    return any(isinstance(tensor, torch.Tensor) and tensor.requires_grad for tensor in tensors)


_warned_of_training = False


def backend(graph, example_inputs, *, options=None, **more):
    """Compiles one graph of torch.compile. options: those of spyre_mlir.compile, as a dict."""
    global _warned_of_training
    chosen = _make_options({**(options or {}), **{key: value for key, value in more.items() if key != "mode"}})
    if _needs_gradients(graph, example_inputs):
        if not _warned_of_training:
            _warned_of_training = True
            warnings.warn(
                "spyre: graphs that need gradients run in PyTorch on the host; call the model under torch.no_grad() "
                "or torch.inference_mode() to run it on the device",
                stacklevel=2,
            )
        return graph.forward
    compile_graph = functools.partial(_compile_graph, chosen)
    return aot_autograd(fw_compiler=compile_graph, inference_compiler=compile_graph, decompositions=_decompositions())(
        graph, example_inputs
    )


# An installed package is found by its entry point; a checkout is not.
if "spyre" not in torch._dynamo.list_backends(exclude_tags=()):
    register_backend(backend, name="spyre")
