# neutral_ops.py - Making neutral cases: host tensors, index expressions, places
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The common part of the generator of random operations (generate_superdsc.py): an
# operation is written down as dims and operands, this file makes the neutral form
# of it that the README beside the reference data describes. Layouts and the
# aligned fields come from the model (frontend.py).
"""Neutral cases from dims and operands."""

import dataclasses
import math

from . import frontend, frontend_align
from .neutral import BYTES_PER_STICK, SEGMENT
from .sizes import contiguous

DEVICE_FORMAT = {
    "float16": "SEN169_FP16",
    "bfloat16": "SEN169_FP16",
    "bool": "SEN169_FP16",
    "float32": "IEEE_FP32",
    "int32": "IEEE_INT32",
    "float8_e4m3fn": "SEN143_FP8",
}
LX_BYTES = 1677721  # what the reference front end hands out of a core's 2 MiB


@dataclasses.dataclass
class HostDim:
    """A dim of a host tensor: the iteration dim that walks it (or None), its extent, where the walk starts."""

    symbol: str | None
    size: int
    start: int = 0
    indirect: bool = False


@dataclasses.dataclass
class Operand:
    dims: list
    order: list
    dtype: str
    is_input: bool = True
    place: tuple | None = None  # (space, address); None: an argument
    arg_index: int | None = None
    fixed: bool = False
    name: str | None = None


def elements(dtype):
    return frontend_align.ELEMENTS_PER_STICK[DEVICE_FORMAT[dtype]]


def index_text(operand, strides, order_of):
    """`8192*c0 + c1 + 128*tmp0 + 64`: symbols in the iteration's order, the constant last."""
    terms, constant = {}, 0
    for dim, stride in zip(operand.dims, strides):
        constant += dim.start * stride
        name = "tmp0" if dim.indirect else dim.symbol
        if name is not None:
            terms[name] = terms.get(name, 0) + stride
    texts = [name if step == 1 else f"{step}*{name}" for name, step in sorted(terms.items(), key=order_of)]
    if constant or not texts:
        texts.append(str(constant))
    return " + ".join(texts)


def host_tensor(operand, names):
    sizes = [dim.size for dim in operand.dims]
    strides = list(contiguous(sizes))
    device, stride_map = frontend.default_layout(sizes, strides, operand.order, elements(operand.dtype))
    return {
        "host_size": sizes,
        "host_stride": strides,
        "dtype": operand.dtype,
        "dim_order": list(operand.order),
        "index": index_text(operand, strides, lambda item: (item[0] == "tmp0", names.get(item[0], 0))),
        "layout_device_size": device,
        "layout_stride_map": stride_map,
    }


def sticks(device_size):
    return math.prod(device_size[:-1])


def bytes_of(operand):
    """Bytes of the whole tensor on the device."""
    return sticks(host_tensor(operand, {})["layout_device_size"]) * BYTES_PER_STICK


def make_op(function, ranges, operands, constants=None, is_reduction=False, tiled=()):
    """The spec of one operation. ranges: [(symbol, size, split)]."""
    names = {name: position for position, (name, _, _) in enumerate(ranges)}
    space = [{"sym": name, "size": size, "split": split} for name, size, split in ranges]
    tensors = [host_tensor(operand, names) for operand in operands]
    arguments = []
    for position, (operand, tensor) in enumerate(zip(operands, tensors)):
        index = position if operand.arg_index is None else operand.arg_index
        where = operand.place or ("hbm", index * SEGMENT)
        arguments.append(
            {
                "is_input": operand.is_input,
                "arg_index": index if where[0] == "hbm" else -1,
                "device_dtype": DEVICE_FORMAT[operand.dtype],
                "device_size": tensor["layout_device_size"],
                "device_coordinates": None,
                "allocation": {where[0]: where[1]},
                "stride_map": tensor["layout_stride_map"],
                "per_tile_fixed": operand.fixed,
                "name": operand.name,
            }
        )
    spec = {
        "kind": "op",
        "op": function,
        "is_reduction": is_reduction,
        "iteration_space": space,
        "op_info": {"constants": constants} if constants else {},
        "tiled_symbols": list(tiled),
        "args": arguments,
        "host": {"ranges": [dict(entry) for entry in space], "tensors": tensors},
    }
    try:
        symbols, accesses = frontend.align_op(spec)
    except frontend.Unknown:
        return spec  # only differences are located with the aligned fields
    spec["iteration_space"] = [{"sym": s.name, "size": s.size, "split": s.split} for s in symbols]
    for argument, access in zip(arguments, accesses):
        argument["device_size"] = access.sizes
        argument["device_coordinates"] = [coordinate.text() for coordinate in access.coordinates]
    return spec


def make_case(name, group, specs, config, executable, note=""):
    return {
        "name": name,
        "note": note,
        "group": group,
        "config": config,
        "specs": specs,
        "faults": [],
        "executable": executable,
    }


def operations(specs):
    for spec in specs:
        if spec["kind"] == "loop":
            yield from operations(spec["body"])
        else:
            yield spec


def is_executable(specs):
    """False where two tensors overlap in pool or LX, or leave LX (per core at most the whole tensor)."""
    found = {}
    for spec in operations(specs):
        for argument, tensor in zip(spec["args"], spec["host"]["tensors"]):
            space, address = next(iter(argument["allocation"].items()))
            if space == "hbm":
                continue
            size = sticks(tensor["layout_device_size"]) * BYTES_PER_STICK
            key = (space, address, tuple(tensor["host_size"]), tensor["dtype"], tuple(tensor["dim_order"]))
            found[key] = size
    places = sorted((space, address, address + size) for (space, address, *_), size in found.items())
    for (space, _, end), (other, start, _) in zip(places, places[1:]):
        if space == other and start < end:
            return False
    return all(end <= LX_BYTES for space, _, end in places if space == "lx")
