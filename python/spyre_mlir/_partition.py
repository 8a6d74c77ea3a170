# _partition.py - Which part of a graph runs on the device
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The compiler decides. A graph becomes one program, in which the operations that the
# device refuses are host calls of PyTorch's kernels; nodes carry their numbers as source
# locations, so that the program says which ones. What cannot be in a program at all (a
# result without a tensor, another device, what torch-mlir cannot import) runs in PyTorch
# between programs: the graph is cut there, and again where a compilation fails. A part
# that computes nothing on the device is not worth the way to it.
"""Graphs cut into parts for the device and for PyTorch."""

from __future__ import annotations

import collections
import dataclasses
import json
import logging
import operator
import threading
import weakref

import torch

from ._collectives import is_collective, is_pending, settle
from ._compile import Directory
from ._compile import compile_text as _compile_text
from ._cut import parts_of, with_parts
from ._importer import why_no_dtype
from ._loops import VALUE, bodies_of, is_loop, keep_counters, value_of
from ._options import Options
from ._sizes import attribute
from ._weights import FixedWeights
from .errors import ArgumentError, CompileError, Diagnostic, LoadError, Refusal

_log = logging.getLogger("spyre_mlir")
_LOCATION = "spyre.node."
# Rounds of refusals after which the rest goes to the host.
_MOST_ROUNDS = 20


@dataclasses.dataclass
class Placement:
    """Where the operations of a graph run. reasons: (operation, why it is not on the device)."""

    device_nodes: int = 0
    host_nodes: int = 0
    device_parts: int = 0
    reasons: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    #: why calls of whole programs were computed by PyTorch -> how many were
    calls_on_host: collections.Counter = dataclasses.field(default_factory=collections.Counter)

    def note(self, reason: str) -> None:
        """A call of a program has been computed by PyTorch."""
        self.calls_on_host[reason] += 1

    @property
    def device_share(self) -> float:
        total = self.device_nodes + self.host_nodes
        return self.device_nodes / total if total else 0.0

    def __str__(self) -> str:
        lines = [
            f"{self.device_nodes} operations in {self.device_parts} programs on the device, {self.host_nodes} on the host"
        ]
        return "\n".join(lines + [f"  {operation}: {reason}" for operation, reason in self.reasons])


def _name_of(node) -> str:
    return str(node.target).removeprefix("torch.ops.")


def _is_view(node) -> bool:
    """Whether the result shares memory with the operand."""
    target = node.target
    if target is operator.getitem:  # of the list that split, chunk and unbind give
        return isinstance(node.args[0], torch.fx.Node) and _is_view(node.args[0])
    return (
        node.op == "call_function"
        and isinstance(target, torch._ops.OpOverload)
        and any(result.alias_info is not None for result in target._schema.returns)
    )


def _give_results_views(graph: torch.fx.Graph) -> set:
    """Results that are views are made anew from what they are views of; the nodes that do it.

    PyTorch promises that such results share memory, which results of a program do not.
    """
    made = {}

    def again(node):
        if node not in made:
            base = again(node.args[0]) if _is_view(node.args[0]) else node.args[0]
            made[node] = graph.call_function(node.target, (base, *node.args[1:]), dict(node.kwargs))
            made[node].meta = dict(node.meta)
        return made[node]

    (output,) = graph.find_nodes(op="output")
    with graph.inserting_before(output):
        output.args = (torch.fx.map_arg(output.args[0], lambda node: again(node) if _is_view(node) else node),)
    graph.eliminate_dead_code()
    return set(made.values())


def _tensors(value):
    """The tensors of a node's meta value."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [tensor for item in value for tensor in _tensors(item)]
    return []


def _why_not(node) -> str | None:
    """What can be said of a node without asking the compiler."""
    target = node.target
    if target is operator.getitem:
        return None
    if not isinstance(target, torch._ops.OpOverload) and not is_loop(target):
        return "it is no operator of PyTorch"
    if any(is_collective(inner.target) for body in bodies_of(node) for inner in body.nodes):
        return "a collective is in it"
    if is_collective(target):
        return "it is a collective, whose results are waited for as they are"
    value = node.meta.get("val")
    if not _tensors(value):
        return "its result is no tensor"
    operands = [arg.meta.get("val") for arg in node.all_input_nodes]
    for tensor in _tensors(value) + [tensor for operand in operands for tensor in _tensors(operand)]:
        if tensor.device.type != "cpu":
            return f"a tensor of it is on device {tensor.device}"
        if tensor.layout != torch.strided:
            return f"a tensor of it has the layout {tensor.layout}"
        if why := why_no_dtype(tensor.dtype):
            return why
    return None


class _Part(torch.nn.Module):
    """A program in place of a part of the graph. Weights are bound when they are first seen.

    weights: positions among the part's arguments; shapes: (shape, stride) of each result;
    make(options): the part's Directory.
    """

    def __init__(self, graph, options, weights, shapes, make, note):
        super().__init__()
        self.graph = graph
        self.host = []  # the graph as a module of PyTorch's, once it is needed; a list: not a submodule
        self.make = make
        self.note = note  # is told of each call that the host computes because of its numbers
        self.directory = make(options)
        self.options = options
        self.weights = weights
        self.others = [i for i in range(len(graph.find_nodes(op="placeholder"))) if i not in weights]
        self.shapes = shapes
        self.program = None
        self.lock = threading.RLock()
        _parts.add(self)
        steps = json.loads(self.directory.describe())["steps"]
        self.launches = sum(step["step"] == "launch" for step in steps)
        self.called = {}  # number of a node that the host computes -> why, once a call
        loops = {node.meta.get("spyre_number") for node in graph.nodes if is_loop(node.target)}
        for step in steps:
            place = step.get("location", "")
            if step["step"] == "host_call" and step.get("reason") and place.startswith(_LOCATION):
                # Equal layers are compiled once: all instances have the place of the first.
                number = int(place.removeprefix(_LOCATION).split(":")[0])
                reasons = self.called.setdefault(number, [])
                if number not in loops:
                    reasons.append(step["reason"])
                elif not reasons:  # one operation of the graph, however many there are within it
                    reasons.append(f"{step['function']} in it: {step['reason']}")

    def _open(self, tensors):
        from . import _open
        from ._program import Convention

        names = [f"weight {i}" for i in range(len(self.weights))]
        return _open(
            self.directory, self.options, Convention(names), FixedWeights(tensors), host=self._compute, note=self.note
        )

    def _compute(self, weights, inputs):
        """The part by PyTorch."""
        order = dict(zip((*self.weights, *self.others), (*weights, *inputs)))
        return self._on_host()(*(order[i] for i in range(len(order))))

    def _bind(self, tensors):
        """Only what changed is copied to the device: the program notices it."""
        if self.program is not None:
            self.program.weights.give(tensors)
            return
        try:
            self.program = self._open(tensors)
        except LoadError:  # the cache's entry is gone
            self.directory = self.make(dataclasses.replace(self.options, cache=False))
            self.program = self._open(tensors)

    def _on_host(self):
        with self.lock:
            if not self.host:
                values = {node.target: value_of(node) for node in self.graph.find_nodes(op="get_attr")}
                self.host.append(torch.fx.GraphModule(values, self.graph))
        return self.host[0]

    def forward(self, *args):
        try:
            # The same graph may be called with other weights at the same time.
            with self.lock:
                self._bind([args[i] for i in self.weights])
                results = self.program(*(args[i] for i in self.others))
        except ArgumentError as error:
            # Values that the device cannot hold (integers of 64 bits): the host can.
            _log.info("a part of the graph runs on the host this time: %s", error)
            return self._on_host()(*args)
        results = results if isinstance(results, tuple) else (results,)
        return tuple(_with_strides(result, *shape) for result, shape in zip(results, self.shapes))


# Those that are alive: refresh_weights is for all.
_parts: weakref.WeakSet = weakref.WeakSet()


def refresh_weights() -> None:
    """Has the next call of each compiled graph copy its weights to the device again."""
    for part in list(_parts):
        with part.lock:
            if part.program is not None:
                part.program.refresh_weights()


def _with_strides(tensor, shape, stride):
    """As PyTorch would have laid it out; a value that is repeated in no memory of its own is written out."""
    tensor = tensor if isinstance(tensor, torch.Tensor) else torch.from_numpy(tensor)
    if tensor.stride() == stride or (0 in stride and tensor.numel() > 0):
        return tensor
    return torch.empty_strided(shape, stride, dtype=tensor.dtype).copy_(tensor)


class PartitionedGraph:
    """A graph with static sizes as a function; `placement` says what runs where.

    module: has the graph's attributes. static: positions of the arguments that are parameters and buffers.
    """

    def __init__(self, module: torch.nn.Module, graph: torch.fx.Graph, options: Options, static=frozenset()):
        # What PyTorch runs between programs and graphs may decide by a result's last bit.
        self.options = dataclasses.replace(options, exact_results=True, moves_on_host=True)
        self.placement = Placement()
        self.attributes = {node.target: attribute(module, node.target) for node in graph.find_nodes(op="get_attr")}
        keep_counters(graph, self.attributes)
        views = _give_results_views(graph)
        self.nodes = [node for node in graph.nodes if node.op == "call_function"]
        for number, node in enumerate(self.nodes):
            node.meta["spyre_number"] = number
        placeholders = graph.find_nodes(op="placeholder")
        for position, node in enumerate(placeholders):
            node.meta["spyre_static"] = position in static
        for node in graph.find_nodes(op="get_attr"):
            node.meta["spyre_static"] = True
            if isinstance(self.attributes[node.target], torch.fx.GraphModule):
                node.meta[VALUE] = self.attributes[node.target]
        self.host = dict.fromkeys(views, "it is a view of a result")  # node outside of programs -> why
        self.called = {}  # node that a program has the host compute -> why, once a call
        for node in self.nodes:
            if reason := _why_not(node):
                self.host.setdefault(node, reason)
        self.run = self._cut(graph)
        operations = [node for node in self.nodes if node.target is not operator.getitem and node not in views]
        for node in operations:
            reasons = [self.host[node]] if node in self.host else self.called.get(node, ())
            self.placement.reasons += [(_name_of(node), reason) for reason in reasons]
        self.placement.host_nodes = len(self.placement.reasons)
        self.placement.device_nodes = len(operations) - self.placement.host_nodes
        _log.info("%s", self.placement)

    def __call__(self, *args):
        if is_pending():  # operations between programs read arguments, too
            names = [f"argument {i} of the graph" for i in range(len(args))]
            args = settle(torch, names, args, self.options.check)
        with torch.no_grad():
            return self.run(*args)

    def _is_on_device(self, node) -> bool:
        return node not in self.host

    def _cut(self, graph):
        for _ in range(_MOST_ROUNDS):
            fused, parts = with_parts(graph, parts_of(graph, self._is_on_device)[0])
            refused = False
            made = {}
            for call, part in parts.items():
                try:
                    made[call] = self._compile(part, call)
                except CompileError as error:
                    refused = True
                    self._blame(part, error)
            called = {}
            for call, part in made.items():
                called |= part.called
                if not part.launches:
                    refused = True
                    for node in parts[call].nodes:
                        number = node.meta.get("spyre_number")
                        if number is not None:
                            self.host.setdefault(
                                self.nodes[number], called.get(number, ["nothing beside it is on the device"])[0]
                            )
            if not refused:
                self.called = {self.nodes[number]: reasons for number, reasons in called.items()}
                self.placement.device_parts = len(made)
                return torch.fx.GraphModule(
                    {**self.attributes, **{call.target: part for call, part in made.items()}}, fused
                )
        for node in self.nodes:
            self.host.setdefault(node, "its part of the graph could not be compiled")
        return torch.fx.GraphModule(self.attributes, graph)

    def _blame(self, graph, error):
        """The operations that the compiler has named go to the host; all of the part if it named none."""
        blamed = False
        for refusal in error.refusals:
            for place in refusal.places:
                if place.file.startswith(_LOCATION):
                    node = self.nodes[int(place.file.removeprefix(_LOCATION))]
                    blamed |= node not in self.host
                    self.host.setdefault(node, refusal.reason)
                    break
        if blamed:
            return
        message = error.errors[0].message if error.errors else str(error)
        for node in graph.nodes:
            if "spyre_number" in node.meta:
                self.host.setdefault(self.nodes[node.meta["spyre_number"]], message)

    def _compile(self, graph, call) -> _Part:
        weights = [i for i, node in enumerate(call.args) if node.meta.get("spyre_static")]
        text, located, results = _import(graph)

        def make(options) -> Directory:
            return _compile_text(text, options, range(len(weights)), located, lambda directory: directory)

        shapes = [(tuple(value.shape), value.stride()) for value in results]
        return _Part(graph, self.options, weights, shapes, make, self.placement.note)


def _import(graph):
    """(text, () -> text with locations, the results' values) of a part."""
    from ._export import places_of
    from ._importer import CannotImport, import_graph

    for node in graph.nodes:
        number = node.meta.get("spyre_number")
        if number is not None:
            # How the importer makes a location of it; what is in a loop is the loop's.
            trace = f'  File "{_LOCATION}{number}", line {number + 1}, in forward\n    node\n'
            for inner in (node, *(inner for body in bodies_of(node) for inner in body.nodes)):
                inner.meta["stack_trace"] = trace
    results = [output.meta["val"] for output in graph.output_node().args[0]]
    try:
        text, located = import_graph(graph, "main")
    except CannotImport as error:
        refusals = [
            Refusal(_name_of(node), "import", f"torch-mlir cannot import it: {why}", places_of(node))
            for node, why in error.nodes.items()
        ]
        raise CompileError(
            [Diagnostic("error", "torch-mlir cannot import it", refusals=tuple(refusals))], "the graph"
        ) from error
    except Exception as error:
        raise CompileError([Diagnostic("error", f"torch-mlir cannot import it: {error}")], "the graph") from error
    return text, located, results
