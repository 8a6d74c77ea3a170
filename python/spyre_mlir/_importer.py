# _importer.py - Graphs of ATen operations to the compiler's text
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# torch-mlir's importer, where what it lacks is added: literals of every dtype, made of the
# tensor's bytes (torch-mlir goes through NumPy, which knows neither bfloat16 nor the 8-bit
# floats), attributes that are read more than once, complex numbers, PyTorch's own numbers
# of dtypes. Nodes that cannot be imported are all named, so that they alone are left out.
"""torch-mlir's importer, for every dtype."""

from __future__ import annotations

import functools
import operator
import re
import warnings

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily

from ._effects import EFFECT
from ._loops import LoopImporter, simplified, value_of
from ._sizes import with_sizes_of

# The dtypes that programs have, by PyTorch's numbers (c10/core/ScalarType.h); torch-mlir's differ for complex types.
_DTYPE_NUMBERS = {
    torch.uint8: 0, torch.int8: 1, torch.int16: 2, torch.int32: 3, torch.int64: 4, torch.float16: 5,
    torch.float32: 6, torch.float64: 7, torch.complex64: 9, torch.complex128: 10,
    torch.bool: 11, torch.bfloat16: 15, torch.float8_e5m2: 23, torch.float8_e4m3fn: 24,
    torch.float8_e5m2fnuz: 25, torch.float8_e4m3fnuz: 26,
}  # fmt: skip
NUMBERED_DTYPES = {number: dtype for dtype, number in _DTYPE_NUMBERS.items()}
# Of bools that are computed of sizes and counters.
_LOGIC = {operator.and_: "torch.aten.__and__.bool", operator.or_: "torch.aten.__or__.bool"}
# A complex number of its parts, by TorchScript's name.
_MAKE_COMPLEX = "torch.aten.Complex.float_float"


class CannotImport(Exception):
    """nodes: the nodes that torch-mlir has no form for, with the reason of each."""

    def __init__(self, nodes: dict):
        super().__init__("; ".join(f"{node.target}: {why}" for node, why in nodes.items()))
        self.nodes = nodes


def why_no_dtype(dtype: torch.dtype) -> str | None:
    """Why a tensor of this dtype can be in no program; None: it can."""
    if dtype in _DTYPE_NUMBERS:
        return None
    return f"a tensor of it has the type {str(dtype).removeprefix('torch.')}, which programs do not have"


class _Folder:
    """Values of nodes that no argument has a part in."""

    def __init__(self, module):
        self.module = module
        self.values = {}

    def value(self, node):
        """The node's value; None: it is not known."""
        if node not in self.values:
            self.values[node] = self._compute(node)
        return self.values[node]

    def _compute(self, node):
        if node.op == "get_attr":
            return operator.attrgetter(node.target)(self.module)
        target = node.target
        is_plain = node.op == "call_function" and (
            target is operator.getitem
            or (
                isinstance(target, torch._ops.OpOverload)
                and torch.Tag.nondeterministic_seeded not in target.tags
                and not node.meta.get(EFFECT)
            )
        )
        if not is_plain or any(self.value(argument) is None for argument in node.all_input_nodes):
            return None
        return target(*torch.fx.map_arg(node.args, self.value), **torch.fx.map_arg(node.kwargs, self.value))


def _why_other_dtype(node):
    """Why the node's value can be in no program, for its dtype; None: it can."""
    value = node.meta.get("val")
    values = value if isinstance(value, (tuple, list)) else [value]
    dtypes = [item.dtype for item in values if isinstance(item, torch.Tensor)]
    return next(filter(None, map(why_no_dtype, dtypes)), None)


def fold_other_dtypes(graph: torch.fx.Graph) -> None:
    """Computes constants of dtypes that programs do not have (complex32, uint16) as far as what others read of them."""
    folder = _Folder(graph.owning_module)
    for node in list(graph.nodes):
        reads = any(_why_other_dtype(argument) for argument in node.all_input_nodes)
        if node.op != "call_function" or _why_other_dtype(node) or not reads or not node.users:
            continue
        with torch.no_grad():
            value = folder.value(node)
        if not isinstance(value, torch.Tensor):
            continue
        name = "_spyre_folded_" + node.name
        setattr(graph.owning_module, name, value)
        with graph.inserting_before(node), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it knows buffers and parameters only
            constant = graph.get_attr(name)
        constant.meta = dict(node.meta)
        node.replace_all_uses_with(constant)
        graph.erase_node(node)
    # What only they read, and what the exporter asserts of it. Placeholders stay, the program's arguments.
    for node in reversed(list(graph.nodes)):
        asserts = node.target is torch.ops.aten._assert_tensor_metadata.default and _why_other_dtype(node.args[0])
        if asserts or (node.op in ("call_function", "get_attr") and not node.users and _why_other_dtype(node)):
            graph.erase_node(node)


def _is_open(tensor):
    return any(isinstance(size, torch.SymInt) for size in tensor.shape)


def _bytes_of(tensor):
    """The elements of a tensor, one behind the other, as an array of bytes."""
    dense = tensor.detach().resolve_conj().resolve_neg().contiguous()
    dense = torch.view_as_real(dense) if dense.is_complex() else dense
    return dense.reshape(-1).view(torch.uint8).numpy()


@functools.cache
def _node_importer():
    """The class, made when it is first needed: torch-mlir takes a second to import."""
    from torch_mlir import ir
    from torch_mlir.extras import fx_importer

    class NodeImporter(LoopImporter, fx_importer.GraphNodeImporter):
        def __init__(self, *args):
            super().__init__(*args)
            self.refused = {}  # node -> why; None if it only reads what is refused

        def import_nodes(self, nodes, **more):
            try:
                super().import_nodes(nodes, **more)
            except Exception:
                if not self.refused:  # else the results that have no value
                    raise
            if self.refused:
                raise CannotImport({node: why for node, why in self.refused.items() if why is not None})

        # --- what cannot be imported is noted -------------------------------------

        def _note(self, node, do, *args):
            if any(argument in self.refused for argument in node.all_input_nodes):
                self.refused[node] = None
                return
            try:
                do(*args)
            except Exception as error:  # noqa: BLE001 - torch-mlir asserts and raises all kinds
                self.refused[node] = str(error) or type(error).__name__

        def _import_torch_op_overload(self, loc, node, concrete_target=None):
            # torch-mlir leaves these out.
            target = node.target if node.target is torch.ops.aten._assert_async.msg else concrete_target
            self._note(node, super()._import_torch_op_overload, loc, node, target)
            if node.meta.get(EFFECT) and node not in self.refused:
                self._b.operations[len(self._b.operations) - 1].attributes["effect"] = ir.UnitAttr.get()

        def _import_symbolic_torch_op(self, loc, node, target):
            if target in _LOGIC:  # torch-mlir has only arithmetic and comparisons
                self._note(node, self._import_logic, loc, node, _LOGIC[target])
                return
            self._note(node, super()._import_symbolic_torch_op, loc, node, target)

        def _import_logic(self, loc, node, name):
            operands = [self._import_argument(loc, argument) for argument in node.args]
            made = ir.Operation.create(name, results=[self._cc.torch_bool_type], operands=operands, loc=loc)
            self.bind_node_value(node, made.result)

        def _import_hop(self, loc, node, hop):
            self._note(node, super()._import_hop, loc, node, hop)

        def _import_getitem(self, loc, node):
            self._note(node, super()._import_getitem, loc, node)

        # --- arguments ------------------------------------------------------------

        def _bind_attribute(self, loc, node):
            """Every attribute is one literal, however often it is read."""
            if (node, 0) in self._v:
                return
            key = node.target, 0
            if key not in self._v:
                tensor = value_of(node)
                with loc:
                    self._v[key] = self._import_literal(tensor)
            self._v[node, 0] = self._v[key]

        def _import_argument(self, loc, arg, expected_jit_type=None):
            if isinstance(arg, torch.fx.Node) and arg.op == "get_attr":
                self._bind_attribute(loc, arg)
            if isinstance(arg, complex):
                with loc:
                    return self._import_complex(arg, isinstance(expected_jit_type, torch.TensorType))
            return super()._import_argument(loc, arg, expected_jit_type)

        def _import_list_argument(self, loc, arg, expected_jit_type):
            for element in arg:
                if isinstance(element, torch.fx.Node) and element.op == "get_attr":
                    self._bind_attribute(loc, element)
            return super()._import_list_argument(loc, arg, expected_jit_type)

        def _import_default_value(self, loc, arg, expected_jit_type):
            if isinstance(arg, (torch.dtype, complex)):
                return self._import_argument(loc, arg, expected_jit_type)
            return super()._import_default_value(loc, arg, expected_jit_type)

        # --- literals -------------------------------------------------------------

        def _import_literal(self, py_value, info=None):
            if isinstance(py_value, torch.Tensor):
                return self._import_tensor(py_value)
            if isinstance(py_value, torch.dtype):
                if py_value not in _DTYPE_NUMBERS:
                    raise TypeError(why_no_dtype(py_value))
                py_value = _DTYPE_NUMBERS[py_value]
            return super()._import_literal(py_value, info)

        def _import_complex(self, number, as_tensor):
            if as_tensor:
                return self._import_tensor(torch.tensor(number, dtype=torch.complex128).to(torch.complex64))
            return ir.Operation.create(
                "torch.operator",
                attributes={"name": ir.StringAttr.get(_MAKE_COMPLEX)},
                results=[ir.Type.parse("!torch.number")],
                operands=[self._import_literal(part) for part in (number.real, number.imag)],
            ).result

        def _import_tensor(self, tensor):
            with unset_fake_temporarily():  # torch.compile imports while it traces
                return self._import_real(tensor)

        def _import_real(self, tensor):
            if tensor.layout != torch.strided or tensor.is_quantized or tensor.device.type != "cpu":
                raise TypeError(f"a constant is no dense tensor of the CPU: {tensor.layout}, {tensor.device}")
            if why := why_no_dtype(tensor.dtype):
                raise TypeError(why)
            kind = f"tensor<{''.join(f'{size}x' for size in tensor.shape)}{self._cc.dtype_to_type(tensor.dtype)}>"
            result = self._cc.tensor_to_vtensor_type(tensor)
            if tensor.numel() > 1:
                sizes = "_".join(str(size) for size in tensor.shape)
                name = f"torch_tensor_{sizes}_{tensor.dtype}"
                value = ir.DenseResourceElementsAttr.get_from_buffer(_bytes_of(tensor), name, ir.Type.parse(kind))
                return ir.Operation.create(
                    "torch.vtensor.literal", results=[result], attributes={"value": value}
                ).result
            if tensor.numel() == 0:
                elements = ""
            elif tensor.dtype == torch.bool:  # MLIR packs bits
                elements = str(tensor.item()).lower()
            else:
                elements = f'"0x{_bytes_of(tensor).tobytes().hex()}"'
            # As text: Python's MLIR has no such attributes of all types.
            literal = ir.Operation.parse(f"%0 = torch.vtensor.literal(dense<{elements}> : {kind}) : {result}")
            ir.InsertionPoint.current.insert(literal)
            return literal.operation.result

    return NodeImporter


def _without_strides(graph):
    """The graph, or one without as_strided, which torch-mlir rewrites by what it reads, with constants of a module."""
    from torch_mlir.extras.fx_as_strided import rewrite_as_strided

    if not graph.find_nodes(op="call_function", target=torch.ops.aten.as_strided.default):
        return graph
    copied = torch.fx.Graph()
    copied.output(copied.graph_copy(graph, {}))
    copied.owning_module = torch.fx.GraphModule(graph.owning_module or torch.nn.Module(), copied)
    strided = copied.find_nodes(op="call_function", target=torch.ops.aten.as_strided.default)
    try:
        rewrite_as_strided(copied)
    except ValueError as error:
        raise CannotImport({node: str(error) for node in strided}) from error
    return copied


def _check_dtypes(graph):
    others = {node: why for node in graph.nodes if (why := _why_other_dtype(node))}
    if others:
        raise CannotImport(others)


def _with_known_sizes(module, shown):
    """The module's graph, for what it takes where that has open sizes."""
    placeholders = [node.meta.get("val") for node in module.graph.find_nodes(op="placeholder")]
    if not any(isinstance(value, torch.Tensor) and _is_open(value) for value in placeholders):
        return module.graph
    if any(value is None for value in shown):
        raise TypeError("a number that it carries and sizes that change are not told apart; carry it as a tensor")
    graph = with_sizes_of(module, shown)
    graph.owning_module = module
    return graph


def import_body(importer, module: torch.fx.GraphModule, shown):
    """(name, types of the results) of the private function that a loop's or branch's body becomes, once.

    shown: what it is called with, as tensors without values and numbers; None: a number that varies.
    """
    from torch_mlir import ir

    known = importer._graph_module_to_func_name
    if id(module) not in known:
        graph = simplified(_with_known_sizes(module, shown))
        _check_dtypes(graph)
        name = known[id(module)] = f"spyre_body_{len(known)}"  # before the bodies within it
        importer.import_stateless_graph(_without_strides(graph), func_name=name, func_visibility="private")
    function = importer.symbol_table[known[id(module)]]
    return known[id(module)], ir.FunctionType(function.type).results


# In front of the path of a module: the one that is compiled, as PyTorch calls it, and ours around it.
_OUTER_MODULE = re.compile(r"^(L\[['\"]\w+['\"]\]|L__\w+?__|spyre_module_\d+)(\.|$)")


def scope_of(node) -> str:
    """The path of the module whose forward a node is of ("layers.0.self_attn"); "" for the outermost one."""
    path = ""
    for path, *_ in (node.meta.get("nn_module_stack") or {}).values():  # noqa: B007 - the innermost one
        pass
    path = re.sub(r"\._modules\[['\"](\w+)['\"]\]", r".\1", path)
    while found := _OUTER_MODULE.match(path):
        path = path[found.end() :]
    return path


@functools.cache
def _places():
    """The class of what knows the places of nodes."""
    from torch_mlir import ir
    from torch_mlir.extras import fx_importer

    class Places(fx_importer.ContextCache):
        def get_node_location(self, node):
            """The lines, and the module: plans call parts of a program by their paths (docs/formats/schedule.md)."""
            place, scope = super().get_node_location(node), scope_of(node)
            if place is None or not scope:
                return place
            return ir.Location.fused([place], ir.StringAttr.get(scope, self._c), self._c)

    return Places


def import_graph(graph: torch.fx.Graph, name: str):
    """(the text of a graph of ATen operations, () -> the text with source locations), by torch-mlir.

    Raises CannotImport where nodes have no form.
    """
    from torch_mlir import ir
    from torch_mlir.dialects import torch as torch_dialect
    from torch_mlir.extras.fx_importer import FxImporter

    context = ir.Context()
    torch_dialect.register_dialect(context)
    _check_dtypes(graph)
    graph = _without_strides(graph)
    for output in graph.find_nodes(op="output"):
        # Arguments that are returned as they are come from the return; it has a place only if the node has one.
        output.meta.setdefault("stack_trace", f'  File "{name}", line 1, in {name}\n    return\n')
    importer = FxImporter(context=context, graph_node_importer_cls=_node_importer())
    importer._cc = _places()(context, py_attr_tracker=importer._py_attr_tracker)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        importer.import_stateless_graph(graph, func_name=name)
    return str(importer.module), lambda: importer.module.operation.get_asm(enable_debug_info=True)
