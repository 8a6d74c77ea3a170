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
import warnings

import torch

from ._effects import EFFECT

# PyTorch's numbers of dtypes (c10/core/ScalarType.h), for arguments. torch-mlir's differ for complex types.
_DTYPE_NUMBERS = {
    torch.uint8: 0, torch.int8: 1, torch.int16: 2, torch.int32: 3, torch.int64: 4, torch.float16: 5,
    torch.float32: 6, torch.float64: 7, torch.complex32: 8, torch.complex64: 9, torch.complex128: 10,
    torch.bool: 11, torch.bfloat16: 15, torch.float8_e5m2: 23, torch.float8_e4m3fn: 24,
    torch.float8_e5m2fnuz: 25, torch.float8_e4m3fnuz: 26, torch.float8_e8m0fnu: 44,
}  # fmt: skip
NUMBERED_DTYPES = {number: dtype for dtype, number in _DTYPE_NUMBERS.items()}
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

    class NodeImporter(fx_importer.GraphNodeImporter):
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
            self._note(node, super()._import_symbolic_torch_op, loc, node, target)

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
                tensor = operator.attrgetter(node.target)(node.graph.owning_module)
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


def _rewrite_strides(graph):
    """as_strided by what it reads, which torch-mlir does for whole graphs: with constants of the graph's module."""
    from torch_mlir.extras.fx_as_strided import rewrite_as_strided

    strided = graph.find_nodes(op="call_function", target=torch.ops.aten.as_strided.default)
    if not strided:
        return
    # Kept until the graph has the module that it is given here.
    module = graph.owning_module or torch.fx.GraphModule(torch.nn.Module(), graph)
    graph.owning_module = module
    try:
        rewrite_as_strided(graph)
    except ValueError as error:
        raise CannotImport({node: str(error) for node in strided}) from error


def import_graph(graph: torch.fx.Graph, name: str):
    """(the text of a graph of ATen operations, () -> the text with source locations), by torch-mlir.

    Raises CannotImport where nodes have no form.
    """
    from torch_mlir import ir
    from torch_mlir.dialects import torch as torch_dialect
    from torch_mlir.extras.fx_importer import FxImporter

    context = ir.Context()
    torch_dialect.register_dialect(context)
    for output in graph.find_nodes(op="output"):
        # Arguments that are returned as they are come from the return; it has a place only if the node has one.
        output.meta.setdefault("stack_trace", f'  File "{name}", line 1, in {name}\n    return\n')
    _rewrite_strides(graph)
    importer = FxImporter(context=context, graph_node_importer_cls=_node_importer())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        importer.import_stateless_graph(graph, func_name=name)
    return str(importer.module), lambda: importer.module.operation.get_asm(enable_debug_info=True)
