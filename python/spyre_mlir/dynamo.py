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
import operator
import threading
import warnings

import torch
from torch._dynamo import register_backend
from torch._dynamo.backends.common import aot_autograd
from torch._guards import TracingContext

from . import _native
from ._options import make as _make_options
from ._options import shared_weights
from ._partition import PartitionedGraph, Placement, refresh_weights
from ._sizes import with_sizes_of

__all__ = ["Placement", "backend", "refresh_weights", "reset_summaries", "summaries", "summary"]

# Graphs whose summaries are kept.
_MOST_SUMMARIES = 1000
# Programs of one graph with symbolic sizes; and calls after which one that had none of them is dropped,
# unless it is among the few that were used last.
_MOST_SIZES = 64
_UNUSED_CALLS = 1000
_FEW_SIZES = 8

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
    for shared in shared_weights():
        if shared["arrays"]:
            lines.append(f"weights on the device: {shared['arrays']}, {shared['bytes'] / 2**20:.1f} MiB")
        for layout, size in shared["more_layouts"]:
            lines.append(f"  one more layout: {layout}, {size / 2**20:.1f} MiB")
    return "\n".join(lines)


@functools.cache
def _decompositions():
    """Those of the exporter; what the compiler lowers as a whole stays whole."""
    from ._export import decomposition_table

    aten = torch.ops.aten
    table = dict(decomposition_table())
    attention = aten._scaled_dot_product_flash_attention_for_cpu
    for packet in (aten.native_layer_norm, aten.native_group_norm, aten.addmm, aten.baddbmm, attention):
        for name in packet.overloads():
            table.pop(getattr(packet, name), None)
    return table


def _make_attention_whole(graph: torch.fx.Graph) -> None:
    """PyTorch's kernel of attention gives more than its result; the operation that the compiler lowers as a whole does not.

    Decomposed it would be some 15 operations a layer, half of the time of tracing them, and have other strides than
    the kernel's result, whose views would fail.
    """
    aten = torch.ops.aten
    for node in graph.find_nodes(op="call_function", target=aten._scaled_dot_product_flash_attention_for_cpu.default):
        if any(user.target is not operator.getitem or user.args[1] != 0 for user in node.users):
            continue
        given = dict(zip(("query", "key", "value", "dropout_p", "is_causal"), node.args)) | dict(node.kwargs)
        operands = [given[name] for name in ("query", "key", "value")]
        arguments = [*operands, given.get("attn_mask"), given.get("dropout_p", 0.0), given.get("is_causal", False)]
        # The kernel reads a head of the keys for several of the query without being told.
        heads = {operand.meta["val"].shape[-3] for operand in operands}
        options = {"scale": given.get("scale"), "enable_gqa": len(heads) > 1}
        with graph.inserting_before(node):
            whole = graph.call_function(aten.scaled_dot_product_attention.default, tuple(arguments), options)
        whole.meta = {**node.meta, "val": node.meta["val"][0]}
        for user in list(node.users):
            user.replace_all_uses_with(whole)
            graph.erase_node(user)
        graph.erase_node(node)


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
        self.made: collections.OrderedDict = collections.OrderedDict()  # sizes -> program; used last is last
        self.used: dict = {}  # sizes -> the number of their last call
        self.calls = 0
        self.lock = threading.Lock()

    def __call__(self, *args):
        key = tuple(
            (tuple(arg.shape), arg.stride(), arg.dtype) if isinstance(arg, torch.Tensor) else arg for arg in args
        )
        with self.lock:
            made = self.made.get(key)
            if made is None:
                made = self.made[key] = self._specialise(args)
            self.made.move_to_end(key)
            self.calls += 1
            self.used[key] = self.calls
            self._drop_unused()
        return made(*args)

    def _drop_unused(self):
        while len(self.made) > _FEW_SIZES:
            oldest = next(iter(self.made))
            if len(self.made) <= _MOST_SIZES and self.calls - self.used[oldest] < _UNUSED_CALLS:
                break
            del self.made[oldest], self.used[oldest]

    def _specialise(self, args):
        from torch._dynamo.convert_frame import compile_lock

        # At a call: while another thread's Dynamo traces, new nodes of all graphs get its nodes' metadata.
        with compile_lock:
            return _compile_static(self.graph, with_sizes_of(self.graph, args), self.options, self.static)


def _compile_static(module, graph, options, static):
    partitioned = PartitionedGraph(module, graph, options, static)
    _summaries.append(partitioned.placement)
    return partitioned


def _compile_graph(options, graph, example_inputs):
    from functorch.compile import make_boxed_func

    # The cache may have the first graphs and not the next: what the compiler takes is taken at once.
    _native.compiler()
    static = _static_positions()
    _make_attention_whole(graph.graph)
    if any(map(_is_symbolic, example_inputs)) or any(_is_symbolic(node.meta.get("val")) for node in graph.graph.nodes):
        return make_boxed_func(_PerSize(graph, options, static))
    return make_boxed_func(_compile_static(graph, graph.graph, options, static))


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
