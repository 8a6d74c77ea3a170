# _export.py - PyTorch functions and modules to the compiler's text
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# torch.export makes a graph whose parameters, buffers and inputs are placeholders, and
# torch-mlir turns it into text: nothing of its MLIR lives on. Composite operations that
# the compiler does better as a whole are kept (KEPT). Parameters and buffers become
# arguments, the weights; tensors that the function made up itself become literals.
"""torch.export and torch-mlir, to text."""

from __future__ import annotations

import dataclasses
import functools
import operator
import re
import warnings

import torch
from torch.utils import _pytree

from ._effects import remove_tokens
from ._importer import CannotImport, fold_other_dtypes, import_graph
from ._loops import is_loop, make_numbers
from ._state import TracedState, kept
from .errors import Diagnostic, ExportError, Place

# Operations that the compiler lowers better than their decompositions.
KEPT = (
    "addmm",
    "baddbmm",
    "gelu",
    "group_norm",
    "layer_norm",
    "linear",
    "matmul",
    "narrow",
    "rms_norm",
    "scaled_dot_product_attention",
    "silu",
)
# Operations that refuse indices and probabilities out of range, which their decompositions take or refuse in another way.
CHECKED = (
    "bernoulli",
    "index_add",
    "index_add_",
    "index_copy",
    "index_copy_",
    "index_fill",
    "index_fill_",
    "multi_margin_loss",
    "multilabel_margin_loss_forward",
    "nll_loss2d_forward",
    "nll_loss_forward",
    "take",
)


@dataclasses.dataclass
class Exported:
    """A program's text and how a call's tensors meet its arguments and results."""

    text: str
    located: object  # () -> the text with source locations
    weights: object  # what holds the tensors of the first arguments (_weights.HeldWeights)
    weight_names: list
    constants: dict  # position among the call's leaves -> the value that the program was made for
    in_spec: object
    out_spec: object
    outputs: list  # a result's leaf: an int (number of the program's result) or a constant
    # (number of the program's result, what it is copied into: ("weight", i) or ("input", leaf))
    mutations: list
    host: object  # (weights, inputs) -> all results of the program, by PyTorch


@functools.cache
def decomposition_table():
    from torch_mlir.extras.fx_decomp_util import get_decomposition_table

    kept = {getattr(torch.ops.aten, name) for name in KEPT + CHECKED}
    return {
        op: how for op, how in get_decomposition_table().items() if getattr(op, "_overloadpacket", None) not in kept
    }


def _keep_lines(function):
    """Has PyTorch note the lines of a function, as it does of modules' forward."""
    register = getattr(torch.fx.proxy, "_register_stack_trace_anchor", None)
    if register is not None and not isinstance(function, torch.nn.Module):
        register(function)


def _check_devices(module, leaves):
    for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
        name = module.original_name(name)
        if tensor.device.type != "cpu":
            hint = (
                ": it has no values; make it with module.to_empty(device='cpu') and load its state first"
                if tensor.device.type == "meta"
                else "; move the module to the CPU"
            )
            raise ExportError(f"'{name}' of the module is on device {tensor.device}{hint}")
    for i, leaf in enumerate(leaves):
        if isinstance(leaf, torch.Tensor) and leaf.device.type != "cpu":
            raise ExportError(f"example argument {i} is on device {leaf.device}; examples are on the CPU")


def places_of(node) -> tuple[Place, ...]:
    """The source lines that a node comes from, the innermost first."""
    lines = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    return tuple(Place(file, int(line)) for file, line in reversed(lines))


def export(function, args, kwargs, name="main") -> Exported:
    """Raises ExportError where PyTorch or torch-mlir has no program."""
    try:
        import torch_mlir  # noqa: F401 - before the work of exporting
    except ImportError as error:
        raise ExportError(f"importing PyTorch programs needs torch-mlir: {error}") from error
    _keep_lines(function)
    leaves, in_spec = _pytree.tree_flatten((tuple(args), dict(kwargs)))
    with kept(function):
        state, program = _trace(function, args, kwargs, leaves)
    graph, plan = _prepare(program, state, leaves)
    try:
        text, located = import_graph(graph, name)
    except CannotImport as error:
        notes = [str(Diagnostic("note", f"{node.target}: {why}", places_of(node))) for node, why in error.nodes.items()]
        raise ExportError("\n".join(["torch-mlir cannot import the program", *notes])) from error
    except Exception as error:
        raise ExportError(f"torch-mlir cannot import the program: {error}") from error
    _forget_tensors(graph)
    out_spec = program.call_spec.out_spec.children()[0]
    host = _host_of(program.graph_module)
    return Exported(text, located, in_spec=in_spec, out_spec=out_spec, host=host, **plan)


def _host_of(module):
    """The graph as it was imported, as a function of weights and inputs. It holds no weights."""
    module.recompile()
    return lambda weights, inputs: module(*weights, *inputs)


def _trace(function, args, kwargs, leaves):
    """(state, program). Tensors whose values tracing needs (sizes, mostly integers) stay constants."""
    failure = None
    for lifts in (lambda tensor: True, lambda tensor: tensor.is_floating_point(), lambda tensor: False):
        state = TracedState(function, lifts)
        _check_devices(state, leaves)
        try:
            program = _export(state, args, kwargs)
            if state.found.apart:
                state = TracedState(function, lifts, state.found.apart)
                program = _export(state, args, kwargs)
        except Exception as error:  # noqa: BLE001
            failure = failure or error
            if not state.slots:
                break
            continue
        if state.slots and _has_open_sizes(program):  # made of values of state
            continue
        state.check()
        return state, program
    raise ExportError(f"torch.export has no program for it: {failure}") from failure


def _export(state, args, kwargs):
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        program = torch.export.export(state, tuple(args), dict(kwargs), strict=False)
        _broadcast_copies(program)
        make_numbers(program.graph)
        return program.run_decompositions(decomposition_table())


def _forget_tensors(graph) -> None:
    """The exporter's weak references to the weights go: with them PyTorch does not swap a tensor (swap_tensors)."""
    for node in graph.nodes:
        mode = getattr(node.meta.get("val"), "fake_mode", None)
        if mode is not None:
            describer = mode.fake_tensor_converter.meta_converter.describer
            for name in ("lookup_tensor", "lookup_storage"):
                getattr(describer, name, {}).clear()
            return


def _source_of(node):
    """What gives the values that a getitem takes one of."""
    return getattr(node.args[0], "target", None) if node.target is operator.getitem else None


def _has_open_sizes(program) -> bool:
    # Counters of loops are numbers that vary, but no sizes.
    nodes = (node for node in program.graph.nodes if not any(map(is_loop, (node.target, _source_of(node)))))
    values = (node.meta.get("val") for node in nodes)
    tensors = [leaf for value in values for leaf in _pytree.tree_leaves(value)]
    return any(
        isinstance(leaf, torch.SymInt)
        or (isinstance(leaf, torch.Tensor) and any(isinstance(size, torch.SymInt) for size in leaf.shape))
        for leaf in tensors
    )


def _broadcast_copies(program):
    """Gives the source of `buffer.copy_(source)` the buffer's shape.

    Decomposed, what reads the buffer reads the source itself, also where it has another shape:
    PyTorch's program is wrong then.
    """
    graph = program.graph_module.graph
    for node in graph.find_nodes(op="call_function", target=torch.ops.aten.copy_.default):
        target, source = (argument.meta["val"] for argument in node.args[:2])
        if source.shape == target.shape:
            continue
        with graph.inserting_before(node):
            shown = graph.call_function(torch.ops.aten.expand.default, (node.args[1], list(target.shape)))
        shown.meta = {key: node.meta[key] for key in ("stack_trace", "nn_module_stack") if key in node.meta}
        shown.meta["val"] = source.expand(target.shape)
        node.update_arg(1, shown)
    program.graph_module.recompile()


def _prepare(program, state, leaves):
    """The graph that is imported, with weights first, and the plan of its arguments and results."""
    from torch.export.graph_signature import InputKind, OutputKind, TensorArgument

    signature = program.graph_signature
    graph = program.graph_module.graph
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    weights, constants, weight_of, leaf = [], {}, {}, 0
    inputs_of = {}
    dropped = []
    remove_tokens(graph)
    written = {spec.target for spec in signature.output_specs if spec.kind == OutputKind.BUFFER_MUTATION}
    state.check_apart(written)
    moved = {what for (kind, what), _ in state.found.moved if kind == "weight"}
    for node, spec in zip(placeholders, signature.input_specs):
        if spec.kind in (InputKind.PARAMETER, InputKind.BUFFER):
            if not node.users and spec.target not in written | moved:
                dropped.append(node)
                continue
            weight_of[spec.target] = len(weights)
            weights.append(spec.target)
        elif spec.kind == InputKind.CONSTANT_TENSOR:
            # The importer makes a literal of an attribute that it meets.
            attribute = "_spyre_" + node.name
            setattr(program.graph_module, attribute, program.constants[spec.target])
            with graph.inserting_before(node), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it knows buffers and parameters only
                literal = graph.get_attr(attribute)
            literal.meta = dict(node.meta)
            node.replace_all_uses_with(literal)
            dropped.append(node)
        elif spec.kind == InputKind.USER_INPUT:
            inputs_of[spec.arg.name] = leaf
            if not isinstance(spec.arg, TensorArgument):
                constants[leaf] = leaves[leaf]
                dropped.append(node)
            leaf += 1
        elif spec.kind == InputKind.TOKEN:
            dropped.append(node)
        else:
            raise ExportError(f"an input of kind {spec.kind.name} cannot be passed to the device: {spec.target}")
    output = next(node for node in reversed(graph.nodes) if node.op == "output")
    results, outputs, mutations, index_of, places = [], [], [], {}, []
    returned = program.call_spec.out_spec.children()[0].num_leaves
    for node, spec in zip(output.args[0], signature.output_specs):
        is_result = spec.kind == OutputKind.USER_OUTPUT
        if spec.kind == OutputKind.TOKEN:
            continue
        if not isinstance(spec.arg, TensorArgument):
            if not is_result or not hasattr(spec.arg, "value"):
                raise ExportError(f"a result that is no tensor cannot be computed: {spec.arg}")
            outputs.append(("constant", spec.arg.value))
            continue
        index = len(results)
        if is_result and len(outputs) == returned:  # a new tensor for places of the state
            slots = state.found.replaced[len(places)]
            index = index_of.get(node, index)  # what is a result, too, is one tensor
            mutations.append((index, ("slot", ([weight_of.get(slot.buffer) for slot in slots], len(places)))))
            places.append(slots)
        elif is_result:
            outputs.append(("result", index))
            index_of[node] = index
        elif spec.kind == OutputKind.BUFFER_MUTATION:
            if spec.target not in weight_of:
                raise ExportError(f"the buffer '{state.original_name(spec.target)}' is changed and no argument")
            state.check_buffer(spec.target, node)
            mutations.append((index, ("weight", weight_of[spec.target])))
        elif spec.kind == OutputKind.USER_INPUT_MUTATION:
            mutations.append((index, ("input", inputs_of[spec.target])))
        else:
            raise ExportError(f"a result of kind {spec.kind.name} is not supported")
        if index == len(results):
            results.append(node)
    for (kind, what), slots in state.found.moved:
        source = (kind, weight_of[what] if kind == "weight" else what)
        mutations.append((source, ("slot", ([weight_of.get(slot.buffer) for slot in slots], len(places)))))
        places.append(slots)
    if not results:
        raise ExportError("the function has no result that is a tensor")
    output.args = (tuple(results),)
    for node in dropped:
        if not node.users:
            graph.erase_node(node)
    fold_other_dtypes(graph)
    return graph, {
        "weights": state.hold(weights, places, {what for _, (kind, what) in mutations if kind == "weight"}),
        "weight_names": [state.original_name(name) for name in weights],
        "constants": constants,
        "outputs": outputs,
        "mutations": mutations,
    }
