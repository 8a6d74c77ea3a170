# frontend_dims.py - Dims, scales, padding, gaps and addresses of one operation
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The second half of the model of the reference front end (frontend.py): from
# aligned device coordinates to everything a descriptor says about dims and
# tensors. Written from docs/formats/superdsc-rules.md, e.2 to e.4, and from
# nothing else; whatever the text leaves open is Unknown.
"""What a descriptor of one aligned operation contains, before it is JSON."""

import dataclasses
import math

from .frontend_align import Unknown

NAMES = ["mb", "x", "y", "i", "j", "ki", "kj"]
MATMUL_NAMES = ["ki", "kj", "y", "x", "mb", "out", "in"]
MATMULS = {"batchmatmul", "batchmatmulfp8"}
CASTS = {"dl16tofp32", "fp32todl16", "fp8todl16", "qfp8ch"}
SCANS = {"topkvalue", "topkindex"}
BYTES_PER_STICK = 128


@dataclasses.dataclass
class Dim:
    name: str
    size: int
    split: int


@dataclasses.dataclass
class Tensor:
    """One operand: `order` innermost first, then the dims it lacks; scale and gap by dim name."""

    access: object
    order: list
    stick: str | None
    scale: dict
    format: str
    bytes: int
    is_index: bool = False
    indirect: tuple = ()  # dims that come through an index tensor
    partner: int | None = None
    label: str = ""
    label_stick: str | None = None
    gap: dict = dataclasses.field(default_factory=dict)
    addresses: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Described:
    """All facts of one descriptor."""

    function: str
    base_function: str
    dims: list
    tensors: list
    padded: dict  # dim name -> elements added
    labels: list
    slices: list  # one dict a core, dim name -> slice
    mask: dict
    constants: dict
    format: str

    def dim(self, name):
        return next(dim for dim in self.dims if dim.name == name)

    @property
    def has_partial_sticks(self):
        """A cast's sticks are counted where they are whole (docs/formats/superdsc-rules.md, e.2)."""
        return self.function in CASTS

    def cores(self):
        return math.prod(dim.split for dim in self.dims)


def round_up(value, unit):
    return -(-value // unit) * unit


def describe(spec, symbols, accesses, formats, k_fast):
    """Everything about an operation but its place in memory."""
    return Builder(spec, symbols, accesses, formats).build(k_fast)


class Builder:
    def __init__(self, spec, symbols, accesses, formats):
        self.spec, self.symbols, self.accesses, self.formats = spec, symbols, accesses, formats
        self.function = spec["op"]
        self.is_matmul = self.function in MATMULS
        self.contracts = spec["is_reduction"] or self.is_matmul or self.function in SCANS
        self.index = [i for i, argument in enumerate(spec["args"]) if argument.get("name")]

    def build(self, k_fast):
        if self.function == "batchmatmulfp8":
            raise Unknown("the second operand's two-dimensional stick (fault 8)")
        self.name_dims()
        self.order_tensors()
        if self.is_matmul:
            self.round_contraction()
        self.lacking_dims()
        self.check_sticks()
        labels = self.label_tensors()
        self.gaps()
        padded = self.pad()
        self.check_splits()
        output = self.tensors[-1]
        mask = {
            name: [[self.dim(name).size - count, count]] for name, count in padded.items() if output.scale[name] == -2
        }
        function = self.function
        if self.spec["is_reduction"] and not self.is_matmul and function not in SCANS and function != "exx2":
            if -2 not in output.scale.values():
                function += "nonstick"
        constants = dict(self.spec.get("op_info", {}).get("constants", {}))
        if mask:
            constants["samv-maskvalue"] = {"max": -math.inf, "min": math.inf}.get(self.function, 0.0)
        return Described(
            function,
            self.function,
            self.dims,
            self.tensors,
            padded,
            labels,
            core_slices(self.dims, self.is_matmul, k_fast),
            mask,
            constants,
            self.tensors[1 if self.index else 0].format,
        )

    def dim(self, name):
        return next(dim for dim in self.dims if dim.name == name)

    def name_dims(self):
        count = len(self.symbols)
        if count > (7 if self.is_matmul else 8):
            raise Unknown("more dims than names")
        if self.is_matmul:
            if any(symbol.name.startswith("z") for symbol in self.symbols):
                raise Unknown("a matmul whose dims are cut")
            names = MATMUL_NAMES[len(MATMUL_NAMES) - count :]
        else:
            names = [*NAMES[: count - 1], "out"] if count else []
        self.names = {symbol.name: name for symbol, name in zip(self.symbols, names)}
        self.dims = [Dim(name, symbol.size, symbol.split) for symbol, name in zip(self.symbols, names)]
        self.reference = 0 if self.contracts else len(self.accesses) - 1
        coordinates = self.accesses[self.reference].coordinates
        stick = coordinates[-1].only()
        self.virtual_row = (
            self.function in CASTS
            and stick is not None
            and all(coordinate.only() in (None, stick) for coordinate in coordinates)
        )
        if self.virtual_row:
            if count > 1:
                raise Unknown("a virtual row beside other dims")
            self.dims.insert(0, Dim("mb", 1, 1))
        self.missing_stick = None
        if stick is None:
            if self.is_matmul or self.function in SCANS or count >= len(NAMES):
                raise Unknown("a reference operand without a stick")
            self.missing_stick = NAMES[count]
            self.dims.append(Dim(self.missing_stick, self.accesses[0].elements, 1))

    def order_tensors(self):
        self.tensors = []
        for number, access in enumerate(self.accesses):
            symbol = access.coordinates[-1].only()
            stick = self.names[symbol] if symbol is not None else None
            order = []
            for coordinate in access.coordinates[-2::-1]:
                name = coordinate.only()
                if coordinate.indirect:
                    order.append(coordinate)
                elif name is not None:
                    self.append(order, self.names[name])
                elif not coordinate.offset and stick is not None:
                    self.append(order, stick)
            if stick is not None and stick not in order:
                raise Unknown("a stick dim without a count dim")
            if self.virtual_row:
                order.insert(0, "mb")
            format = "SENUINT32" if number in self.index else self.formats[number]
            self.tensors.append(
                Tensor(access, order, stick, {}, format, BYTES_PER_STICK // access.elements, number in self.index)
            )
        for number, tensor in enumerate(self.tensors):
            order = []
            for entry in tensor.order:
                if isinstance(entry, str):
                    order.append(entry)
                    continue
                if len(self.index) != 1:
                    raise Unknown("more than one index tensor")
                tensor.partner = self.index[0]
                self.tensors[tensor.partner].partner = number
                tensor.indirect = tuple(self.tensors[tensor.partner].order)
                order += tensor.indirect
            tensor.order = order
            tensor.scale = {name: 1 for name in order}

    @staticmethod
    def append(order, name):
        if name not in order:
            order.append(name)

    def round_contraction(self):
        y, output = self.tensors[1], self.tensors[-1]
        for name in y.order:
            if name != y.stick and name not in output.order:
                self.dim(name).size = round_up(self.dim(name).size, y.access.elements)

    def lacking_dims(self):
        reference = self.tensors[self.reference]
        needed = list(reference.order)
        for number, tensor in enumerate(self.tensors):
            if tensor.is_index or self.is_matmul or self.function in SCANS:
                continue
            for name in needed:
                if name not in tensor.order:
                    tensor.order.append(name)
                    lacks_stick = tensor.stick is None and name == reference.stick
                    tensor.scale[name] = -2 if lacks_stick else -1
            if self.missing_stick is not None:
                tensor.order.append(self.missing_stick)
                is_lane = self.function == "layernormscale" and number == 0
                tensor.scale[self.missing_stick] = -2 if is_lane else 1

    def check_sticks(self):
        """Sticks that the text has a rule for."""
        reference = self.tensors[self.reference]
        acting = self.missing_stick or reference.stick
        for tensor in self.tensors:
            tensor.label_stick = tensor.stick or acting
            if tensor.stick is not None and self.missing_stick is not None:
                raise Unknown("an operand with a stick where the reference operand has none")
            if tensor.label_stick not in tensor.scale:
                raise Unknown("an operand without the stick dim of the operation")
            if tensor.stick is None and tensor.scale[tensor.label_stick] == 1 and self.missing_stick is None:
                raise Unknown("a dim that is in the stick of the operation and outside of an operand's")
            if tensor.is_index or self.is_matmul or self.function == "ReStickifyOpHBM":
                continue
            if tensor.stick not in (None, reference.stick):
                raise Unknown("operands with different sticks")

    def label_tensors(self):
        names = ["INPUT", "KERNEL", "OUTPUT"] if self.is_matmul else ["OUTPUT", "KERNEL", "INPUT"]
        names.append("KERNEL_IDX")
        labels, keys = [], {}
        for tensor in self.tensors:
            if self.index:
                name = "KERNEL_IDX" if tensor.is_index else "OUTPUT"
                key = name
            else:
                key = (tuple(sorted(tensor.order)), tensor.label_stick, tensor.access.elements)
            if key not in keys:
                if not self.index:
                    if len(labels) == len(names):
                        raise Unknown("more labels than names")
                    name = names[len(labels)]
                keys[key] = name
                labels.append((name, list(tensor.order), tensor.label_stick, tensor.access.elements))
            tensor.label = keys[key]
        return labels

    def device_extent(self, tensor, name):
        """Elements of a dim in the operand's memory, or None for a dim without a place."""
        for size, coordinate in list(zip(tensor.access.sizes, tensor.access.coordinates))[:-1]:
            symbol = coordinate.only()
            if symbol is not None and self.names[symbol] == name:
                return size * (tensor.access.elements if name == tensor.stick else 1)
        return None

    def gaps(self):
        for tensor in self.tensors:
            for name in tensor.order:
                if tensor.scale[name] != 1 or name in tensor.indirect:
                    continue
                extent = self.device_extent(tensor, name)
                if extent is None:
                    continue
                used = self.dim(name).size
                if name == tensor.stick:
                    used = round_up(used, tensor.access.elements)
                if extent > used:
                    tensor.gap[name] = extent - used

    def pad(self):
        everything = self.is_matmul or self.function in CASTS or self.function == "ReStickifyOpHBM"
        if everything:
            chosen = self.tensors
        elif self.spec["is_reduction"] and self.function not in SCANS:
            chosen = self.tensors[:1]
        else:
            chosen = self.tensors[-1:]
        padded = {}
        for tensor in chosen:
            if tensor.stick is None:
                continue
            dim = self.dim(tensor.stick)
            if self.function in CASTS and tensor.order.index(dim.name) + 1 >= len(tensor.access.sizes):
                continue  # docs/formats/superdsc-rules.md, e.2
            size = round_up(dim.size, tensor.access.elements)
            if size != dim.size:
                padded[dim.name] = padded.get(dim.name, 0) + size - dim.size
                dim.size = size
        if self.function in CASTS and padded:
            for tensor in self.tensors:
                if self.device_extent(tensor, tensor.stick) < self.dim(tensor.stick).size:
                    raise Unknown("a cast whose operand is shorter than the padded size (fault 10)")
        if self.function == "ReStickifyOpHBM":
            for name in padded:
                self.dim(name).split = 1
            for tensor in self.tensors:
                for name in tensor.order:
                    extent = self.device_extent(tensor, name)
                    if name == tensor.stick or tensor.scale[name] != 1 or extent is None:
                        continue
                    short = self.dim(name).size - extent
                    if short > 0:
                        tensor.gap[name] = short
                    elif padded.get(name) and name in tensor.gap:
                        raise Unknown("a restickify of a slice whose padded dim has a gap")
        return padded

    def check_splits(self):
        for dim in self.dims:
            if dim.size % dim.split:
                raise Unknown(f"{dim.split} slices of a dim of {dim.size}")
            for tensor in self.tensors:
                partial = self.function in CASTS and dim.split == 1
                if tensor.label_stick == dim.name and tensor.scale[dim.name] == 1 and not partial:
                    if dim.size // dim.split % tensor.access.elements:
                        raise Unknown("slices that are no whole sticks")


def core_slices(dims, is_matmul, k_fast):
    """The first dim varies fastest; the last one does in a k-fast matmul (docs/formats/superdsc-rules.md, e.3)."""
    order = list(dims)
    if k_fast and is_matmul and len(dims) >= 3 and dims[-1].split > 1:
        order = [dims[-1], *dims[:-1]]
    result = []
    for core in range(math.prod(dim.split for dim in dims)):
        slices, inner = {}, 1
        for dim in order:
            slices[dim.name] = core // inner % dim.split
            inner *= dim.split
        result.append(slices)
    return result


def place(described, names, number, space, base, moved=0):
    """Byte address of every core's slice, `moved` bytes on in an iteration (docs/formats/superdsc-rules.md, e.4)."""
    tensor = described.tensors[number]
    if space == "lx":
        return [base + moved] * described.cores()
    result = []
    for slices in described.slices:
        values = {
            symbol: slices[name] * (described.dim(name).size // described.dim(name).split)
            for symbol, name in names.items()
        }
        result.append(base + moved + linear(tensor.access, values) * tensor.bytes)
    return result


def linear(access, values, sizes=None):
    """Element number of the device coordinates at some values of the symbols."""
    total = 0
    for size, coordinate in zip(sizes or access.sizes, access.coordinates):
        total = total * size + (0 if coordinate.indirect else coordinate.evaluate(values))
    return total
