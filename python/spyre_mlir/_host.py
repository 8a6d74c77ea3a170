# _host.py - Operations of a program that PyTorch computes
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A program's host calls name operators as torch-mlir does (`aten.max.dim`); their
# arguments stand in the order of PyTorch's own schema, with numbers for dtypes, layouts
# and memory formats. Each name is resolved once. Arrays are shown to PyTorch where they
# are; results are copied into the program's arrays.
"""Host calls, run by PyTorch's kernels."""

from __future__ import annotations

import functools
import importlib
import warnings

import torch
from torch.utils import _pytree

from ._collectives import is_collective, wait_for
from .errors import ExecutionError

_SCALAR_TYPES = {
    0: torch.uint8, 1: torch.int8, 2: torch.int16, 3: torch.int32, 4: torch.int64, 5: torch.float16,
    6: torch.float32, 7: torch.float64, 9: torch.complex64, 10: torch.complex128, 11: torch.bool,
    15: torch.bfloat16, 23: torch.float8_e5m2, 24: torch.float8_e4m3fn, 25: torch.float8_e5m2fnuz,
    26: torch.float8_e4m3fnuz,
}  # fmt: skip
_LAYOUTS = {0: torch.strided}
_MEMORY_FORMATS = {
    0: torch.contiguous_format,
    1: torch.preserve_format,
    2: torch.channels_last,
    3: torch.channels_last_3d,
}
# Modules that register the operators of a namespace, where PyTorch does not do it itself.
_NAMESPACES = {
    "quantized_decomposed": "torch.ao.quantization.fx._decomposed",
    "torchvision": "torchvision",
    "prims": "torch._prims",
}


def _convert_type(table):
    return lambda value: table.get(value, value) if isinstance(value, int) and not isinstance(value, bool) else value


def _converter(argument):
    """What turns a program's argument into one of the schema's type; None: it is one."""
    kind = str(argument.real_type)
    for name, table in (("ScalarType", _SCALAR_TYPES), ("Layout", _LAYOUTS), ("MemoryFormat", _MEMORY_FORMATS)):
        if name in kind:
            return _convert_type(table)
    # prims have plain ints in their schemas where they mean a dtype.
    if argument.name in ("dtype", "input_dtype", "output_dtype", "out_dtype"):
        return _convert_type(_SCALAR_TYPES)
    if "Generator" in kind:
        return lambda value: None
    return None


class _Operator:
    """An overload with its schema."""

    def __init__(self, name):
        namespace, _, rest = name.partition(".")
        if namespace in _NAMESPACES:
            importlib.import_module(_NAMESPACES[namespace])
        base, _, overload = rest.partition(".")
        packet = getattr(getattr(torch.ops, namespace), base)
        self.function = getattr(packet, overload or "default")
        self.arguments = self.function._schema.arguments
        self.is_collective = is_collective(self.function)
        self.converters = [_converter(argument) for argument in self.arguments]

    def __call__(self, values):
        if len(values) > len(self.arguments):
            raise ExecutionError(f"{len(values)} arguments for {self.function._schema}")
        positional, keywords = [], {}
        for value, argument, convert in zip(values, self.arguments, self.converters):
            if convert is not None:
                value = convert(value)
            if not argument.kwarg_only:
                positional.append(value)
            elif value is not None or not argument.has_default_value():
                keywords[argument.name] = value
        return self.function(*positional, **keywords)


@functools.cache
def _operator(name):
    return _Operator(name)


def is_known(name: str) -> bool:
    """Whether PyTorch has an operator of this name."""
    try:
        _operator(name)
    except (AttributeError, ImportError, RuntimeError):
        return False
    return True


def draws(name: str) -> bool:
    """Whether an operator takes random numbers of PyTorch's generator."""
    return is_known(name) and torch.Tag.nondeterministic_seeded in _operator(name).function.tags


def may_repeat(name: str) -> bool:
    """Whether an operator may be run twice: it talks to no other process and changes nothing."""
    if not is_known(name):
        return False
    from torch._higher_order_ops.effects import has_effects

    function = _operator(name).function
    return "c10d" not in name.partition(".")[0] and not function._schema.is_mutable and not has_effects(function)


def _tensor(array, dtype):
    tensor = torch.from_numpy(array)
    wanted = getattr(torch, dtype)
    return tensor if tensor.dtype == wanted else tensor.view(wanted)


def _value(argument):
    if isinstance(argument, tuple):
        tensor = _tensor(argument[0], argument[1])
        return tensor.item() if len(argument) == 3 else tensor
    return [_value(element) for element in argument] if isinstance(argument, list) else argument


def call(function, arguments, outputs):
    """Runs operator `function` and fills the outputs: (array, dtype, result, element of it or -1)."""
    with torch.no_grad(), warnings.catch_warnings():
        # NumPy shows memory that must not be written, and operators do not.
        warnings.simplefilter("ignore")
        operator = _operator(function)
        values = [_value(argument) for argument in arguments]
        results = operator(values)
        if operator.is_collective:
            # What goes on is waited for here: the tensors are copied, and these ones seen by nobody else.
            for tensor in _pytree.tree_leaves((results, values)):
                if isinstance(tensor, torch.Tensor):
                    wait_for(torch, tensor)
        for array, dtype, number, item in outputs:
            if item >= 0:
                value = results[number][item] if isinstance(results, tuple) else results[item]
            else:
                value = results[number] if isinstance(results, (tuple, list)) else results
            target = _tensor(array, dtype)
            if not isinstance(value, torch.Tensor):
                target.fill_(value)
                continue
            # The program says what a result is: PyTorch's own shape functions widen some that its kernels
            # do not, and the importer numbers complex types otherwise.
            same_kind = (
                value.is_floating_point() == target.is_floating_point() and value.is_complex() == target.is_complex()
            )
            is_exact = value.is_floating_point() or value.is_complex()
            if value.shape != target.shape or (value.dtype != target.dtype and not (same_kind and is_exact)):
                raise ExecutionError(
                    f"{function} gives {value.dtype} {list(value.shape)}, the program wants {target.dtype} {list(target.shape)}"
                )
            target.copy_(value)
