# frontend_align.py - From a flat host index to aligned device coordinates
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The first half of the model of the reference front end (frontend.py): how the
# `host` part of a neutral case becomes `device_size` and `device_coordinates`
# over one set of loop symbols. Written from docs/formats/superdsc-rules.md, e.0 to e.1,
# and from nothing else; whatever the text leaves open is Unknown.
"""Device layouts, device coordinates and their alignment."""

import dataclasses
import math

from .neutral import parse_linear

ELEMENTS_PER_STICK = {
    "SEN169_FP16": 64,
    "IEEE_FP16": 64,
    "BFLOAT16": 64,
    "IEEE_FP32": 32,
    "IEEE_INT32": 32,
    "SENUINT32": 32,
    "SEN143_FP8": 128,
    "SEN152_FP8": 128,
    "SENINT8": 128,
    "SENINT16": 64,
    "IEEE_INT64": 16,
}


class Unknown(Exception):
    """The reference text does not say what the front end does here."""


@dataclasses.dataclass(frozen=True)
class Piece:
    """One term of a coordinate: factor * ((symbol mod modulus) // divisor); modulus 0: no mod."""

    symbol: str
    factor: int = 1
    divisor: int = 1
    modulus: int = 0


@dataclasses.dataclass
class Coordinate:
    """A coordinate of one device dim before or after alignment; `indirect` names an index tensor."""

    pieces: list = dataclasses.field(default_factory=list)
    offset: int = 0
    indirect: str | None = None

    def symbols(self):
        return [piece.symbol for piece in self.pieces]

    def only(self):
        """The symbol of an aligned coordinate, or None."""
        if len(self.pieces) > 1:
            raise Unknown("a coordinate of two symbols after alignment")
        return self.pieces[0].symbol if self.pieces else None

    def evaluate(self, values):
        total = self.offset
        for piece in self.pieces:
            digit = values.get(piece.symbol, 0)
            if piece.modulus:
                digit %= piece.modulus
            total += piece.factor * (digit // piece.divisor)
        return total

    def text(self):
        """As the data files write it."""
        if self.indirect:
            return f"IndirectAccess({self.indirect})"
        parts = []
        for piece in self.pieces:
            text = piece.symbol
            if piece.modulus and piece.divisor == 1:
                text = f"Mod({piece.symbol}, {piece.modulus})"
            elif piece.modulus:
                text = f"floor(Mod({piece.symbol}, {piece.modulus})/{piece.divisor})"
            elif piece.divisor != 1:
                text = f"floor({piece.symbol}/{piece.divisor})"
            parts.append(text if piece.factor == 1 else f"{piece.factor}*{text}")
        if self.offset or not parts:
            parts.append(str(self.offset))
        return " + ".join(parts)


@dataclasses.dataclass
class Access:
    """How one operand is accessed: device sizes and coordinates, the stick last."""

    sizes: list
    coordinates: list
    elements: int  # elements of a stick


@dataclasses.dataclass
class Symbol:
    name: str
    size: int
    split: int


# --- layouts -----------------------------------------------------------------


def default_layout(host_size, host_stride, order, elements):
    """(device_size, stride_map) of a host tensor with a dim order (last = stick, -1 = sparse)."""
    if not order:
        return [1, elements], [-1, -1]
    *outer, stick = order
    count = 1 if stick == -1 else -(-host_size[stick] // elements)
    device = [(stick, count), (stick, elements)] if not outer else None
    if device is None:
        first, *middle = outer
        device = [*[(dim, host_size[dim]) for dim in middle], (stick, count), (first, host_size[first])]
        device.append((stick, elements))
    strides, seen = [0] * len(device), {}
    for place in range(len(device) - 1, -1, -1):
        dim, size = device[place]
        if dim == -1:
            strides[place] = -1
            continue
        strides[place] = seen[dim] if dim in seen else host_stride[dim]
        seen[dim] = strides[place] * size
        # A stick count of 1 keeps its stride; a host dim of extent 1 has none.
        if size == 1 and dim != stick or host_size[dim] == 1:
            strides[place] = -1
    return [size for _, size in device], strides


# --- coordinates ---------------------------------------------------------------


def raw_coordinates(index, ranges, sizes, strides, index_names):
    """Coordinates of a flat host index, one a device dim (before alignment)."""
    constant, terms = parse_linear(index)
    coordinates = [Coordinate() for _ in sizes]
    usable = [place for place in range(len(sizes)) if sizes[place] != 1 and strides[place] > 0]

    def add(step, limit, make, put):
        below = [strides[place] for place in usable if strides[place] <= step]
        primary = max(below) if below else None
        for place in usable:
            stride = strides[place]
            if stride != primary and not step < stride < limit:
                continue
            larger = min((strides[other] for other in usable if strides[other] > stride), default=None)
            modulus = larger if larger is not None and larger < limit else 0
            put(coordinates[place], make(step, modulus, stride))

    def put_constant(coordinate, value):
        coordinate.offset += value

    if constant:
        # The text's rule; where strides do not divide each other it starts slices inside a stick (fault 12),
        # and the digits from the largest stride down are right.
        rest, digits = constant, {}
        for place in sorted(usable, key=lambda place: -strides[place]):
            digits[place], rest = divmod(rest, strides[place])
        if rest:
            raise Unknown(f"a constant of {constant} elements fits no device dim")
        for place, value in digits.items():
            put_constant(coordinates[place], value)
    for name, step in terms.items():
        if name not in ranges:
            place = next((place for place in usable if strides[place] == step), None)
            if place is None or len(index_names) != 1:
                raise Unknown("an index tensor's values fit no device dim")
            coordinates[place].indirect = index_names[0]
            continue
        if ranges[name] == 1:
            continue
        add(step, step * ranges[name], lambda s, m, d, name=name: reduce_piece(name, s, m, d), put_piece)
    return coordinates


def reduce_piece(name, step, modulus, stride):
    """(name*step mod modulus) // stride as a Piece."""
    if modulus and modulus % step:
        raise Unknown(f"step {step} does not divide {modulus}")
    if step % stride == 0:
        return Piece(name, step // stride, 1, modulus // step if modulus else 0)
    if stride % step == 0:
        return Piece(name, 1, stride // step, modulus // step if modulus else 0)
    raise Unknown(f"step {step} does not fit a stride of {stride}")


def put_piece(coordinate, piece):
    coordinate.pieces.append(piece)


def check_truth(raw, tensor, ranges, elements):
    """The coordinates must be those of the element that the flat index names; else the text's rule is at fault."""
    constant, terms = parse_linear(tensor["index"])
    if any(name not in ranges for name in terms):
        return
    corners = [{name: 0 for name in ranges}, {name: size - 1 for name, size in ranges.items()}]
    for name, size in ranges.items():
        for value in {1, elements - 1, elements, size // 2, size - 1}:
            if 0 <= value < size:
                corners.append({**corners[0], name: value})
                corners.append({**corners[1], name: value})
    sizes, order = tensor["host_size"], tensor["dim_order"]
    dims = sorted((d for d in range(len(sizes)) if sizes[d] != 1), key=lambda d: -tensor["host_stride"][d])
    for values in corners:
        rest, host = constant + sum(step * values[name] for name, step in terms.items()), [0] * len(sizes)
        for dim in dims:
            host[dim], rest = divmod(rest, tensor["host_stride"][dim])
        if rest or any(host[dim] >= sizes[dim] for dim in dims):
            raise Unknown("an index outside of its tensor")
        if not order:
            expected = [0, 0]
        else:
            *outer, stick = order
            inside = host[stick] if stick != -1 else 0
            expected = [inside // elements, inside % elements]
            if outer:
                expected = [*[host[d] for d in outer[1:]], inside // elements, host[outer[0]], inside % elements]
        got = [coordinate.evaluate(values) for coordinate in raw]
        if got != expected:
            raise Unknown(f"the rule for coordinates gives {got} where the layout has {expected}")


# --- alignment -----------------------------------------------------------------


def align(spec, elements_of):
    """(symbols, accesses) of an operation of a neutral case, from its `host` part."""
    ranges = {entry["sym"]: entry["size"] for entry in spec["host"]["ranges"]}
    names = [argument["name"] for argument in spec["args"] if argument.get("name")]
    raw = []
    for argument, tensor in zip(spec["args"], spec["host"]["tensors"]):
        elements = elements_of(argument)
        sizes, strides = tensor["layout_device_size"], tensor["layout_stride_map"]
        coordinates = raw_coordinates(tensor["index"], ranges, sizes, strides, names)
        check_truth(coordinates, tensor, ranges, elements)
        if coordinates[-1].offset:
            raise Unknown("a slice that starts inside a stick (fault 12)")
        raw.append(Access(list(sizes), coordinates, elements))
    symbols = [Symbol(e["sym"], e["size"], math.gcd(e["split"], e["size"])) for e in spec["host"]["ranges"]]
    symbols, segments = cut_symbols(symbols, raw)
    accesses = [cut_access(access, segments) for access in raw]
    symbols += name_constants(accesses)
    unit = spec.get("op_info", {}).get("shared_weight_unit_bmm")
    if unit is not None:
        add_unit_batch(unit["batch_dim"], symbols, accesses, spec)
    equalise_ranks(accesses)
    return symbols, accesses


def cut_symbols(symbols, raw):
    """Breakpoints of every symbol, and one symbol a segment (innermost first)."""
    result, segments, fresh = [], {}, 0
    for symbol in symbols:
        points = set()
        for access in raw:
            own_stick = symbol.name in access.coordinates[-1].symbols()
            for coordinate in access.coordinates:
                for piece in coordinate.pieces:
                    if piece.symbol == symbol.name:
                        points |= {piece.divisor, piece.modulus}
                        if own_stick:
                            points.discard(access.elements)
        edges = [1, *sorted(p for p in points if 1 < p < symbol.size), symbol.size]
        if any(b % a for a, b in zip(edges, edges[1:])):
            raise Unknown(f"breakpoints of {symbol.name} that do not divide each other")
        parts = []
        for low, high in zip(edges, edges[1:]):
            name = symbol.name if not parts else f"z{fresh}"
            fresh += bool(parts)
            parts.append((Symbol(name, high // low, 1), low))
        rest = symbol.split
        for part, _ in reversed(parts):
            part.split = math.gcd(rest, part.size)
            rest //= part.split
        if rest != 1:
            raise Unknown(f"a split of {symbol.name} that its segments do not take")
        segments[symbol.name] = parts
        result += [part for part, _ in parts]
    return result, segments


def cut_access(access, segments):
    """Coordinates over the segments' symbols; a device dim that spans several of them becomes several."""
    sizes, coordinates = [], []
    for place, (size, coordinate) in enumerate(zip(access.sizes, access.coordinates)):
        if place + 1 == len(access.sizes):
            if len(coordinate.pieces) > 1:
                raise Unknown("two symbols inside a stick")
            sizes.append(size)
            coordinates.append(coordinate)
            continue
        if coordinate.indirect or not coordinate.pieces:
            sizes.append(size)
            coordinates.append(coordinate)
            continue
        digits = []  # (unit in this dim, Coordinate) of every segment that moves it
        for piece in coordinate.pieces:
            for part, low in segments[piece.symbol]:
                high = low * part.size
                if piece.modulus and low >= piece.modulus or high <= piece.divisor:
                    continue
                if low >= piece.divisor:
                    if low % piece.divisor or piece.modulus and high > piece.modulus:
                        raise Unknown("a segment across a breakpoint")
                    digits.append((piece.factor * (low // piece.divisor), Coordinate([Piece(part.name)]), part.size))
                else:
                    if piece.divisor % low:
                        raise Unknown("a segment across a breakpoint")
                    inner = piece.divisor // low
                    digits.append((piece.factor, Coordinate([Piece(part.name, 1, inner)]), -(-part.size // inner)))
        digits.sort(key=lambda digit: -digit[0])
        if digits[-1][0] != 1:
            raise Unknown("a step of more than one element in a device dim")
        if len(digits) > 1 and coordinate.offset:
            raise Unknown("an offset in a device dim that is cut")
        upper = size
        for number, (unit, part, extent) in enumerate(digits):
            if upper % unit or number and extent * unit != upper:
                raise Unknown("a device dim that is cut unevenly")
            sizes.append(upper // unit)
            coordinates.append(part)
            upper = unit
        coordinates[-1].offset = coordinate.offset
    return Access(sizes, coordinates, access.elements)


def name_constants(accesses):
    """Drops dims of extent 1; a constant on a longer dim becomes a symbol of range 1 that every operand has."""
    found = []
    for access in accesses:
        keep = []
        for place, (size, coordinate) in enumerate(zip(access.sizes, access.coordinates)):
            is_stick = place + 1 == len(access.sizes)
            if not is_stick and not coordinate.pieces and coordinate.indirect is None:
                if size == 1:
                    continue
                found.append(coordinate)
            keep.append(place)
        access.sizes = [access.sizes[place] for place in keep]
        access.coordinates = [access.coordinates[place] for place in keep]
    if not found:
        return []
    if len(found) > 1:
        raise Unknown("constants on more than one device dim")
    taken = {symbol for access in accesses for coordinate in access.coordinates for symbol in coordinate.symbols()}
    if any(name.startswith("z") for name in taken):
        raise Unknown("a constant beside a cut symbol")
    found[0].pieces = [Piece("z0")]
    for access in accesses:
        if not any("z0" in coordinate.symbols() for coordinate in access.coordinates):
            access.sizes.insert(0, 1)
            access.coordinates.insert(0, Coordinate([Piece("z0")]))
    return [Symbol("z0", 1, 1)]


def add_unit_batch(batch, symbols, accesses, spec):
    """A batch dim of extent 1 that is kept, outermost in the operands that have it."""
    if batch != 0:
        raise Unknown("a kept unit batch dim that is not the first")
    symbols.insert(0, Symbol("_spyre_bmm_unit", 1, 1))
    rank = max(len(tensor["host_size"]) for tensor in spec["host"]["tensors"])
    for access, tensor in zip(accesses, spec["host"]["tensors"]):
        if len(tensor["host_size"]) != rank:
            continue
        if len(access.sizes) != 3:
            raise Unknown("a kept unit batch dim of an operand that is not [1, rows, columns]")
        # Without the batch dim the operand has two dims; their layout has the stick count outermost.
        symbol = access.coordinates[-1].only()
        places = sorted(range(2), key=lambda place: symbol not in access.coordinates[place].symbols())
        access.sizes = [1, *[access.sizes[place] for place in places], access.sizes[-1]]
        access.coordinates = [
            Coordinate([Piece("_spyre_bmm_unit")]),
            *[access.coordinates[place] for place in places],
            access.coordinates[-1],
        ]


def equalise_ranks(accesses):
    """Equal ranks by size-1 dims in front; a stick symbol without an outer dim takes over one of them."""
    rank = 0
    for access in accesses:
        symbol = access.coordinates[-1].only()
        has_count = any(symbol in coordinate.symbols() for coordinate in access.coordinates[:-1])
        rank = max(rank, len(access.sizes) + (symbol is None or not has_count))
    for access in accesses:
        missing = rank - len(access.sizes)
        access.sizes = [1] * missing + access.sizes
        access.coordinates = [Coordinate() for _ in range(missing)] + access.coordinates
        symbol = access.coordinates[-1].only()
        if symbol is None:
            continue
        if not any(symbol in coordinate.symbols() for coordinate in access.coordinates[:-1]):
            place = next(p for p, c in enumerate(access.coordinates) if not c.pieces and c.indirect is None)
            access.coordinates[place] = Coordinate([Piece(symbol, 1, access.elements)])
        access.coordinates[-1] = Coordinate([Piece(symbol, 1, 1, access.elements)])
