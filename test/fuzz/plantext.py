# plantext.py - L2 and L3 as text
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reads what `spyre-compile --dump-stages` writes, and writes it again: one function a
# module, a device operation a line. Nothing here calls the compiler's libraries: sizes
# and sticks are counted a second time.
"""Functions of L2 and L3, their operations, buffers and types."""

import dataclasses
import math
import re

STICK_IN_BYTES = 128

OPEN, CLOSE = "([{<", ")]}>"


def split_top(text, separator=","):
    """The parts of `text` between separators outside all brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        if c in OPEN:
            depth += 1
        elif c in CLOSE and text[i - 1 : i + 1] != "->":
            depth -= 1
        elif c == separator and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    rest = text[start:].strip()
    return [*parts, rest] if parts or rest else []


def bracket_end(text, start):
    """The place behind the bracket that closes the one at `start`."""
    depth = 0
    for i in range(start, len(text)):
        if text[i] in OPEN:
            depth += 1
        elif text[i] in CLOSE and text[i - 1 : i + 1] != "->":
            depth -= 1
            if depth == 0:
                return i + 1
    raise ValueError(f"a bracket is not closed in: {text}")


TYPE = re.compile(
    r"(?P<kind>tensor|!spyre\.buffer)<(?P<shape>(?:\d+x)*)(?P<element>\w+), "
    r"#spyre\.layout<\[(?P<sizes>[\d, ]*)\], order \[(?P<order>[-\d, ]*)\], (?P<format>\w+)(?P<more>.*?)>"
    r"(?:, (?P<space>\w+))?>$"
)


def integers(text):
    return [int(word) for word in text.split(",") if word.strip()]


@dataclasses.dataclass(frozen=True)
class Type:
    """A laid-out tensor or a buffer. `more`: the rest of the layout (stick, arrangement), as text."""

    kind: str
    shape: tuple
    element: str
    sizes: tuple
    order: tuple
    format: str
    more: str = ""
    space: str | None = None

    @classmethod
    def parse(cls, text):
        match = TYPE.match(text)
        if not match:
            raise ValueError(f"no laid-out type: {text}")
        return cls(
            match["kind"],
            tuple(integers(match["shape"].replace("x", ","))),
            match["element"],
            tuple(integers(match["sizes"])),
            tuple(integers(match["order"])),
            match["format"],
            match["more"],
            match["space"],
        )

    def __str__(self):
        shape = "".join(f"{extent}x" for extent in self.shape)
        sizes, order = ", ".join(map(str, self.sizes)), ", ".join(map(str, self.order))
        space = f", {self.space}" if self.space else ""
        return (
            f"{self.kind}<{shape}{self.element}, #spyre.layout<[{sizes}], order [{order}], {self.format}{self.more}>"
            f"{space}>"
        )

    @property
    def elements(self):
        """Elements a stick."""
        return self.sizes[-1] if self.sizes else 1

    @property
    def stick_dim(self):
        return self.order[-1] if self.order else -1

    @property
    def is_plain(self):
        """True for layouts that follow from dim order and padding alone."""
        return not self.more and sorted(self.order) == list(range(len(self.shape)))

    @property
    def padded(self):
        """Logical extents with the layout's padding; the stick dim's in elements."""
        result = list(self.shape)
        if self.is_plain and self.shape:
            places = [*self.order[1:-1], self.order[-1], self.order[0]] if len(self.shape) > 1 else [self.order[0]]
            for dim, size in zip(places, self.sizes):
                result[dim] = size * self.elements if dim == self.stick_dim else size
        return result

    def with_order(self, order, extents=None):
        """The type with another dim order; `extents`: with padding, else that of the shape."""
        extents = extents or self.shape
        sticks = -(-extents[order[-1]] // self.elements)
        if len(order) == 1:
            sizes = [sticks, self.elements]
        else:
            sizes = [*(extents[dim] for dim in order[1:-1]), sticks, extents[order[0]], self.elements]
        return dataclasses.replace(self, sizes=tuple(sizes), order=tuple(order))

    def size_in_bytes(self):
        return math.prod(self.sizes[:-1]) * STICK_IN_BYTES

    def size_per_core(self, slices):
        sticks = 1
        for dim, extent in enumerate(self.shape):
            units = -(-extent // self.elements) if dim == self.stick_dim else extent
            sticks *= -(-units // slices[dim])
        return sticks * STICK_IN_BYTES


HEAD = re.compile(r"^(?:(%[\w.]+) = )?spyre\.(\w+) \((?=d0|\))")


@dataclasses.dataclass
class Op:
    """A device operation. Operands are (value, coordinates); `loops` are (variable, trip count), outermost first."""

    name: str
    result: str | None
    extents: list
    splits: list
    k_fast: bool
    inputs: list
    output: tuple
    more: str
    types: list
    pinned: bool = False
    loops: list = dataclasses.field(default_factory=list)
    group: object = None  # operations of one group share their loops

    @classmethod
    def parse(cls, line):
        """The operation of a line, or None if it has none."""
        match = HEAD.match(line)
        if not match:
            return None
        place = match.end() - 1
        end = bracket_end(line, place)
        extents, splits, pinned = [], [], False
        for dim in split_top(line[place + 1 : end - 1]):
            extent, _, slices = dim.partition("=")[2].partition("/")
            extents.append(int(extent))
            splits.append(int(slices or 1))
            pinned |= bool(slices)
        rest = line[end:].lstrip()
        k_fast = rest.startswith("k_fast")
        rest = rest.removeprefix("k_fast").lstrip()
        if not rest.startswith("ins("):
            raise ValueError(f"operands were expected at: {rest}")
        end = bracket_end(rest, 3)
        inputs = [cls.parse_operand(text) for text in split_top(rest[4 : end - 1])]
        rest = rest[end:].lstrip()
        if rest.startswith("outs("):
            end = bracket_end(rest, 4)
            output = cls.parse_operand(rest[5 : end - 1])
        else:
            end = bracket_end(rest, rest.index("["))
            output = (None, split_top(rest[rest.index("[") + 1 : end - 1]))
        rest = rest[end:]
        colon = cls.find_types(rest)
        words = rest[colon + 3 :]
        arrow = words.rindex("-> ")
        types = [*split_top(words[:arrow]), words[arrow + 3 :]]
        return cls(
            match[2],
            match[1],
            extents,
            splits,
            k_fast,
            inputs,
            output,
            rest[:colon],
            [Type.parse(text) for text in types],
            pinned,
        )

    @staticmethod
    def parse_operand(text):
        value, _, coordinates = text.partition("[")
        return value, split_top(coordinates.removesuffix("]"))

    @staticmethod
    def find_types(text):
        """The place of ` : ` outside all brackets."""
        depth = 0
        for i, c in enumerate(text):
            if c in OPEN:
                depth += 1
            elif c in CLOSE and text[i - 1 : i + 1] != "->":
                depth -= 1
            elif depth == 0 and text.startswith(" : ", i):
                return i
        raise ValueError(f"an operation without types: {text}")

    def __str__(self):
        # Where anything is divided by hand every dim says so, or it would be divided anew.
        mark = self.pinned or any(slices != 1 for slices in self.splits)
        dims = ", ".join(
            f"d{i} = {extent}" + (f" / {slices}" if mark else "")
            for i, (extent, slices) in enumerate(zip(self.extents, self.splits))
        )
        result = f"{self.result} = " if self.result else ""
        loops = f" loops({', '.join(variable for variable, _ in self.loops)})" if self.loops else ""
        inputs = ", ".join(self.operand_text(*operand) for operand in self.inputs)
        value, coordinates = self.output
        output = f"outs({self.operand_text(value, coordinates)})" if value else f"-> [{', '.join(coordinates)}]"
        types = ", ".join(map(str, self.types[:-1]))
        return (
            f"{result}spyre.{self.name} ({dims}){' k_fast' if self.k_fast else ''}{loops} ins({inputs}) {output}"
            f"{self.more} : {types}{' ' if types else ''}-> {self.types[-1]}"
        )

    @staticmethod
    def operand_text(value, coordinates):
        return f"{value}[{', '.join(coordinates)}]"

    @property
    def destination(self):
        """The value that is written: the result at L2, the buffer at L3."""
        return self.result or self.output[0]

    def uses(self):
        """Values that are read or updated."""
        return [value for value, _ in self.inputs] + ([self.output[0]] if self.output[0] else [])

    def accesses(self):
        """(coordinates, type) of all operands, the output last."""
        return list(zip([c for _, c in self.inputs] + [self.output[1]], self.types))

    def is_reduced(self, dim):
        return self.extents[dim] > 1 and not any(mentions(c, dim) for c in self.output[1])

    def elements_of(self, dim):
        """Elements of a dim that are cut together: those of the longest stick that it runs along."""
        elements = 1
        for coordinates, kind in self.accesses():
            if 0 <= kind.stick_dim < len(coordinates) and mentions(coordinates[kind.stick_dim], dim):
                elements = max(elements, kind.elements)
        return elements

    def units(self, dim):
        return -(-self.extents[dim] // self.elements_of(dim))

    def may_write_in_place(self, position):
        """True if input `position` may have the memory of the output."""
        coordinates, kind = self.accesses()[position]
        moves = self.name.startswith("batchmatmul") or self.name == "restickify"
        reduces = any(self.is_reduced(dim) for dim in range(len(self.extents)))
        out = dataclasses.replace(self.types[-1], space=kind.space, element=kind.element)
        return not moves and not reduces and coordinates == self.output[1] and out == kind


def mentions(coordinate, dim):
    return re.search(rf"\bd{dim}\b", coordinate) is not None


ALLOC = re.compile(
    r"^(?P<value>%[\w.]+) = spyre\.alloc(?: (?P<place>lx|pool|hbm)\((?P<address>\d+)\))?"
    r"(?: holding<(?P<holding>.*)>)? : (?P<type>.*)$"
)


@dataclasses.dataclass
class Alloc:
    """A buffer of L3. `place` is lx, pool, hbm or None; `holding` the text of its distribution."""

    value: str
    place: str | None
    address: int
    holding: str | None
    type: Type

    @classmethod
    def parse(cls, line):
        match = ALLOC.match(line)
        if not match:
            return None
        address = int(match["address"] or 0)
        return cls(match["value"], match["place"], address, match["holding"], Type.parse(match["type"]))

    def __str__(self):
        place = f" {self.place}({self.address})" if self.place else ""
        holding = f" holding<{self.holding}>" if self.holding else ""
        return f"{self.value} = spyre.alloc{place}{holding} : {self.type}"

    def size_in_bytes(self):
        if self.place == "lx" and self.holding:
            return self.type.size_per_core(integers(re.search(r"slices ?\[([\d, ]*)\]", self.holding)[1]))
        return self.type.size_in_bytes()


class Function:
    """A module with one function: lines before its body, the body as Op, Alloc or text, and lines after it."""

    def __init__(self, text):
        lines = text.split("\n")
        starts = [i for i, line in enumerate(lines) if line.lstrip().startswith("func.func")]
        if len(starts) != 1 or not lines[starts[0]].endswith("{"):
            raise ValueError("not one function")
        start = starts[0] + 1
        end = next(i for i in range(start, len(lines)) if lines[i].strip() == "}")
        self.head, self.tail = lines[:start], lines[end:]
        self.body = [self.parse_line(line.strip()) for line in lines[start:end]]
        self.fresh = 0

    @staticmethod
    def parse_line(line):
        return Op.parse(line) or Alloc.parse(line) or line

    def ops(self):
        return [item for item in self.body if isinstance(item, Op)]

    def allocs(self):
        return [item for item in self.body if isinstance(item, Alloc)]

    def texts(self):
        return [item for item in self.body if isinstance(item, str)]

    def arguments(self):
        return set(re.findall(r"(%\w+): ", self.head[-1]))

    def new_value(self):
        self.fresh += 1
        return f"%plan{self.fresh}"

    def in_texts(self, value):
        """True if a line that is neither operation nor alloc names the value (return, reinterpret)."""
        return any(re.search(rf"{re.escape(value)}\b", text) for text in self.texts())

    def readers(self, value):
        return [op for op in self.ops() if value in op.uses()]

    def retype(self, value, kind):
        """Gives a value another type, where it is made and wherever it is used."""
        for item in self.body:
            if isinstance(item, Alloc) and item.value == value:
                item.type = kind
            elif isinstance(item, Op):
                for i, (name, _) in enumerate(item.inputs):
                    if name == value:
                        item.types[i] = dataclasses.replace(kind, element=item.types[i].element)
                if item.destination == value:
                    item.types[-1] = kind

    def __str__(self):
        trips = sorted({trip for op in self.ops() for _, trip in op.loops})
        lines = list(self.head)
        if trips:
            lines += [f"    %bound{n} = arith.constant {n} : index" for n in sorted({0, 1, *trips})]
        open_group, depth = None, 0

        def close():
            lines.extend("    " + "  " * level + "}" for level in reversed(range(depth)))

        for item in self.body:
            group = (item.group or item) if isinstance(item, Op) and item.loops else None
            if open_group is not None and group is not open_group:
                close()
                open_group, depth = None, 0
            if group is not None and open_group is None:
                for variable, trip in item.loops:
                    lines.append(
                        "    " + "  " * depth + f"scf.for {variable} = %bound0 to %bound{trip} step %bound1 {{"
                    )
                    depth += 1
                open_group = group
            lines.append("    " + "  " * depth + str(item))
        if open_group is not None:
            close()
        return "\n".join(lines + self.tail)


def reduced_cuts(function):
    """What the order of a sum may depend on: how reduced dims are cut and, as the library that multiplies matrices
    has other kernels for other sizes, how products are."""
    cuts = set()
    for op in function.ops():
        if "matmul" in op.name:
            cuts.add((op.name, tuple(zip(op.extents, op.splits))))
            continue
        reduced = [dim for dim in range(len(op.extents)) if op.is_reduced(dim)]
        if any(op.splits[dim] > 1 for dim in reduced):
            cuts.add((op.name, tuple((op.extents[dim], op.splits[dim]) for dim in reduced)))
    return cuts
