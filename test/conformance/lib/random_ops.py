# random_ops.py - Random operations of every kind that the reference front end emits
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# One method a kind of operation; each draws shapes, layouts, broadcasts, slices,
# splits and places, as the reference data's random operations do. Which operation
# takes which formats: op_table.json. What a kind must keep to (same sticks, one
# reduction dim split, ...): docs/formats/superdsc-rules.md, section 3.
"""Single random operations as specs of neutral cases."""

import math
from dataclasses import replace

from . import formats
from .neutral_ops import HostDim, Operand, bytes_of, elements, make_op
from .sizes import divisors

CORES = 32
MOST_ELEMENTS = 1 << 16
UNARY_16 = ["log", "tanh", "gelufwd", "silu"]
UNARY = ["abs", "exp", "floor", "neg", "reciprocal", "relufwd", "rsqrt", "sigmoid", "sqrt", "identity"]
BINARY = ["add", "sub", "mul", "realdiv", "maximum", "minimum"]
# Kinds that may have a dim of extent 1 in all operands.
SINGLED_OUT = {"pointwise", "broadcast", "where3", "identity", "cast", "restickify"}
COMPARISONS = ["equal", "notequal", "greaterequal", "greaterthan", "lesserequal", "lesserthan"]


def dl16(value):
    """A number that f16 and DL16 both have: constants then compare exactly."""
    return float(formats.round_to_dl16(value))


class Draw:
    """The random choices of one case."""

    def __init__(self, random):
        self.random = random

    def chance(self, probability):
        return self.random.random() < probability

    def outer_size(self, most=96):
        size = self.random.choice([2, 3, 4, 6, 7, 8, 10, 16, 16, 32, 32, 48, 64, 96, self.random.randint(2, 40)])
        return max(2, min(size, most))

    def stick_size(self, unit, most=512, aligned=0.65):
        if self.chance(aligned):
            return unit * self.random.choice([k for k in (1, 2, 2, 2, 3, 4) if unit * k <= most] or [1])
        return self.random.randint(2, min(300, most))

    def shape(self, rank, unit, aligned=0.65):
        """Sizes, the last one for the stick; at most MOST_ELEMENTS elements."""
        stick = self.stick_size(unit, aligned=aligned)
        sizes, left = [], MOST_ELEMENTS // stick
        for _ in range(rank - 1):
            sizes.append(self.outer_size(max(2, min(96, left))))
            left = max(left // sizes[-1], 1)
        self.random.shuffle(sizes)
        return [*sizes, stick]

    def split(self, sizes, units, reduced=(), fixed=()):
        """Slices of every dim: divisors of the size (of the sticks in it), at most 32 in all, one reduced dim."""
        splits, cores, has_reduced = [1] * len(sizes), CORES, False
        places = [p for p in range(len(sizes)) if p not in fixed]
        self.random.shuffle(places)
        for place in places:
            if self.chance(0.4) or place in reduced and (has_reduced or self.chance(0.5)):
                continue
            count = -(-sizes[place] // units[place])
            fitting = [s for s in divisors(count) if s <= cores]
            splits[place] = max(fitting) if self.chance(0.4) else self.random.choice(fitting)
            cores //= splits[place]
            has_reduced |= place in reduced and splits[place] > 1
        return splits

    def order(self, rank, stick, usual=0.7):
        """A dim order with a given stick; the outer dims as they come, or in any order."""
        outer = [dim for dim in range(rank) if dim != stick]
        if not self.chance(usual):
            self.random.shuffle(outer)
        return [*outer, stick]

    def constants(self, function):
        if function == "clip":
            low = dl16(self.random.uniform(-1.5, 0))
            return {"clipMin": low, "clipMax": dl16(low + self.random.uniform(0.25, 2))}
        if function == "softplus":
            return {"softplusBeta": self.random.choice([0.5, 1.0, 2.0]), "softplusThresh": 20.0}
        return None


class Kinds(Draw):
    """kind -> (function, ranges, operands, more arguments of make_op)."""

    def pointwise(self):
        function = self.random.choice([*UNARY, *UNARY_16, "clip", "softplus", *BINARY, *BINARY, *COMPARISONS, "where3"])
        dtype = "bfloat16" if self.chance(0.1) else "float16"
        if function in UNARY + BINARY and self.chance(0.3):
            dtype = "float32"
        return self.elementwise(function, dtype)

    def where3(self):
        return self.elementwise("where3", "float32" if self.chance(0.3) else "float16")

    def broadcast(self):
        return self.elementwise(self.random.choice([*BINARY, *COMPARISONS, "where3"]), "float16", broadcast=0.45)

    def identity(self):
        """Copies: slices of longer tensors on either side, other outer orders, fills."""
        dtype = self.random.choice(["float16", "float16", "float32", "bool"])
        return self.elementwise("identity", dtype, broadcast=0.1, slices=0.5, usual=0.4)

    def elementwise(self, function, dtype, broadcast=0.2, slices=0.15, usual=0.7, shape=None, splits=None):
        unit = elements(dtype)
        rank = self.random.choice([1, 2, 2, 2, 3, 3, 4]) if shape is None else len(shape)
        sizes = shape or self.shape(rank, unit)
        inputs = 3 if function == "where3" else 2 if function in BINARY + COMPARISONS else 1
        # The stick is the last dim, or, where all operands agree, another one.
        stick = rank - 1
        if rank > 1 and shape is None and self.chance(0.1):
            stick = self.random.randrange(rank - 1)
        operands = []
        for position in range(inputs):
            is_mask = function == "where3" and position == 0 and dtype == "float16"
            kind = "bool" if is_mask and self.chance(0.5) else dtype
            operands.append(
                self.operand(
                    sizes, stick, kind, broadcast if inputs > 1 or function == "identity" else 0, slices, usual
                )
            )
        result = "bool" if function in COMPARISONS and self.chance(0.6) else dtype
        operands.append(self.operand(sizes, stick, result, 0, slices, usual))
        operands[-1].is_input = False
        units = [unit if dim == stick else 1 for dim in range(rank)]
        splits = splits or self.split(sizes, units)
        ranges = [(f"c{dim}", sizes[dim], splits[dim]) for dim in range(rank)]
        return function, ranges, operands, {"constants": self.constants(function)}

    def operand(self, sizes, stick, dtype, broadcast, slices, usual):
        """An operand over dims c0, c1, ...; some broadcast, one perhaps a slice of a longer dim."""
        rank, unit = len(sizes), elements(dtype)
        lost = {dim for dim in range(rank) if self.chance(broadcast)}
        dims = [HostDim(None, 1) if dim in lost else HostDim(f"c{dim}", sizes[dim]) for dim in range(rank)]
        order = self.order(rank, stick, usual)
        if stick in lost:
            if len(lost) == rank and self.chance(0.6):
                return Operand([], [], dtype)
            return Operand(dims, [*sorted(order), -1] if self.chance(usual) else [*order, -1], dtype)
        if rank > 2 and self.chance(0.15):  # a transposed view
            places = list(range(rank))
            self.random.shuffle(places)
            dims, stick = [dims[place] for place in places], places.index(stick)
            lost = {place for place, source in enumerate(places) if source in lost}
            order = self.order(rank, stick, usual)
        # Leading dims of extent 1 may be missing.
        if lost and self.chance(0.5):
            first = 0
            while first < rank and first in lost and first != stick:
                first += 1
            dims, order = dims[first:], [dim - first for dim in order if dim >= first]
            stick -= first
        if self.chance(slices):
            self.lengthen(dims, order, unit)
        return Operand(dims, order, dtype)

    def lengthen(self, dims, order, unit):
        """Makes one dim longer than the part that the operation walks."""
        place = self.random.choice([p for p, dim in enumerate(dims) if dim.symbol is not None])
        dim = dims[place]
        if place == order[-1]:
            whole = -(-dim.size // unit)
            start = self.random.randint(0, 2)
            dim.start = start * unit
            dim.size = (start + whole + self.random.randint(0, 2)) * unit
        else:
            dim.start = self.random.randint(0, 5)
            dim.size += dim.start + self.random.randint(0, 4)

    def reduction(self):
        function = self.random.choice(["sum", "max", "min", "mean"])
        dtype = "float32" if self.chance(0.25) else "float16"
        unit = elements(dtype)
        rank = self.random.choice([1, 2, 2, 2, 3, 3, 4])
        sizes = self.shape(rank, unit)
        reduced = sorted(self.random.sample(range(rank), self.random.randint(1, rank)))
        kept = [dim for dim in range(rank) if dim not in reduced]
        symbols = {dim: f"c{position}" for position, dim in enumerate([*kept, *reduced])}
        stick = self.random.randrange(rank) if self.chance(0.15) else rank - 1
        x = Operand([HostDim(symbols[dim], sizes[dim]) for dim in range(rank)], self.order(rank, stick), dtype)
        if self.chance(0.15):
            self.lengthen(x.dims, x.order, unit)
        keepdim = self.chance(0.25)
        dims = [HostDim(symbols[d], sizes[d]) if d in kept else HostDim(None, 1) for d in range(rank)]
        if not keepdim:
            dims = [dims[dim] for dim in kept]
        order = list(range(len(dims)))
        if stick in reduced:
            order = [*order, -1] if dims else []
        else:
            order = self.order(len(dims), stick if keepdim else kept.index(stick))
        output = Operand(dims, order, dtype, is_input=False)
        iteration = [*kept, *reduced]
        units = [unit if dim == stick else 1 for dim in iteration]
        places = range(len(kept), rank)
        splits = self.split([sizes[dim] for dim in iteration], units, reduced=set(places))
        ranges = [(symbols[dim], sizes[dim], split) for dim, split in zip(iteration, splits)]
        constants = {"scaling_factor": self.random.uniform(0.001, 0.5)} if function == "mean" else None
        if constants and self.chance(0.5):
            constants = {"scaling_factor": 1.0 / math.prod(sizes[dim] for dim in reduced)}
        return function, ranges, [x, output], {"constants": constants, "is_reduction": True}

    def matmul(self):
        unit = 64
        batch = [self.random.choice([2, 3, 4, 6]) for _ in range(self.random.choice([0, 0, 0, 1, 1, 2]))]
        rows = self.random.choice([1, 8, 32, 42, 64, 77, 128, self.random.randint(2, 80)])
        columns = self.stick_size(unit, 256, 0.75)
        depth = self.stick_size(unit, 512, 0.75)
        if math.prod(batch) * max(rows * depth, depth * columns, rows * columns) > 4 * MOST_ELEMENTS:
            batch = batch[:1]
        names = [f"c{position}" for position in range(len(batch))]
        shared = bool(batch) and len(batch) == 1 and rows > 1 and self.chance(0.25)
        m, n, k = (f"c{len(batch) + position}" for position in (range(3) if rows > 1 else (-9, 0, 1)))
        outer = [HostDim(name, size) for name, size in zip(names, batch)]

        def fresh(shared=False):
            return [] if shared else [HostDim(dim.symbol, dim.size) for dim in outer]

        row = HostDim(m, rows) if rows > 1 else HostDim(None, 1)
        # The second operand has whole sticks of rows.
        padded = -(-depth // unit) * unit
        x_dims = [*fresh(), row, HostDim(k, depth)]
        y_dims = [*fresh(shared), HostDim(k, padded), HostDim(n, columns)]
        y_order = list(range(len(y_dims)))
        if self.chance(0.2):
            y_dims[-2:] = y_dims[:-3:-1]
            y_order[-2:] = y_order[:-3:-1]
        x_order = list(range(len(x_dims)))
        if not batch and rows > 1 and self.chance(0.1):
            x_dims, x_order = x_dims[::-1], x_order[::-1]
        out_dims = [*fresh(), HostDim(row.symbol, row.size), HostDim(n, columns)]
        operands = [
            Operand(x_dims, x_order, "float16"),
            Operand(y_dims, y_order, "float16"),
            Operand(out_dims, list(range(len(out_dims))), "float16", is_input=False),
        ]
        for operand in operands:
            if len(batch) == 2 and self.chance(0.15):
                operand.order[:2] = [1, 0]
            # Parts of longer tensors: not of one that is padded along the contraction.
            if self.chance(0.08) and depth % unit == 0 and columns % unit == 0:
                self.lengthen(operand.dims, operand.order, unit)
        sizes = [*batch, *([rows] if rows > 1 else []), columns, depth]
        units = [*[1] * (len(sizes) - 2), unit, unit]
        splits = self.split(sizes, units, reduced={len(sizes) - 1})
        ranges = [(f"c{place}", size, split) for place, (size, split) in enumerate(zip(sizes, splits))]
        return "batchmatmul", ranges, operands, {"is_reduction": True}

    def restickify(self):
        rank, unit = self.random.choice([2, 2, 3, 3, 4]), 64
        first, second = self.random.sample(range(rank), 2)
        sizes = [self.outer_size(12) for _ in range(rank)]
        aligned = self.chance(0.85)
        for dim in (first, second):
            sizes[dim] = unit * self.random.choice([1, 1, 2, 3]) if aligned else self.random.randint(2, 150)
        dims = [HostDim(f"c{dim}", sizes[dim]) for dim in range(rank)]
        x = Operand(dims, self.order(rank, first), "float16")
        output = Operand([HostDim(d.symbol, d.size) for d in dims], self.order(rank, second), "float16", False)
        units = [unit if dim in (first, second) else 1 for dim in range(rank)]
        splits = self.split(sizes, units)
        ranges = [(f"c{dim}", sizes[dim], splits[dim]) for dim in range(rank)]
        return "ReStickifyOpHBM", ranges, [x, output], {}

    def cast(self):
        function, source, target = self.random.choice(
            [
                ("dl16tofp32", "float16", "float32"),
                ("fp32todl16", "float32", "float16"),
                ("fp8todl16", "float8_e4m3fn", "float16"),
                ("qfp8ch", "float16", "float8_e4m3fn"),
            ]
        )
        unit = max(elements(source), elements(target))
        rank = self.random.choice([1, 2, 2, 3])
        sizes = self.shape(rank, unit)
        order = self.order(rank, rank - 1)
        dims = [HostDim(f"c{dim}", sizes[dim]) for dim in range(rank)]
        operands = [
            Operand(dims, order, source),
            Operand([HostDim(d.symbol, d.size) for d in dims], self.order(rank, rank - 1), target, False),
        ]
        splits = self.split(sizes, [unit if dim == rank - 1 else 1 for dim in range(rank)])
        return function, [(f"c{d}", sizes[d], splits[d]) for d in range(rank)], operands, {}

    def gather(self):
        rows = 32 * self.random.randint(1, 3)  # whole sticks of indices, as the format wants them
        table = self.random.choice([50, 200, 1000, 30])
        columns = self.stick_size(64, 256)
        index = Operand([HostDim("c0", rows)], [0], "int32", name="arg0")
        values = Operand([HostDim(None, table, 0, True), HostDim("c1", columns)], [0, 1], "float16")
        output = Operand([HostDim("c0", rows), HostDim("c1", columns)], [0, 1], "float16", False)
        splits = self.split([rows, columns], [32, 64])
        ranges = [("c0", rows, splits[0]), ("c1", columns, splits[1])]
        return "identity", ranges, [index, values, output], {}

    def topk(self):
        count, columns, rows = self.random.randint(2, 4), self.stick_size(64, 256, 1), self.outer_size(128)
        rows = max(rows, count)
        x = Operand([HostDim("c2", rows), HostDim("c1", columns)], [0, 1], "float16")
        output = Operand([HostDim("c0", count), HostDim("c1", columns)], [0, 1], "float16", False)
        function = self.random.choice(["topkvalue", "topkindex"])
        ranges = [("c0", count, 1), ("c1", columns, 1), ("c2", rows, 1)]
        return function, ranges, [x, output], {"is_reduction": True}

    def fp8matmul(self):
        rows, columns, depth = self.outer_size(), 128 * self.random.randint(1, 2), 128 * self.random.randint(1, 3)
        operands = [
            Operand([HostDim("c0", rows), HostDim("c2", depth)], [0, 1], "float8_e4m3fn"),
            Operand([HostDim("c2", depth), HostDim("c1", columns)], [0, 1], "float8_e4m3fn"),
            Operand([HostDim("c0", rows), HostDim("c1", columns)], [0, 1], "float16", False),
        ]
        splits = self.split([rows, columns, depth], [1, 128, 128], reduced={2})
        ranges = [(f"c{p}", size, split) for p, (size, split) in enumerate(zip([rows, columns, depth], splits))]
        return "batchmatmulfp8", ranges, operands, {"is_reduction": True}

    def exx2(self):
        rows, columns = self.outer_size(), self.stick_size(64, 512, 0.8)
        dtype = self.random.choice(["float16", "float16", "float32"])
        x = Operand([HostDim("c0", rows), HostDim("c1", columns)], [0, 1], dtype)
        output = Operand([HostDim("c0", rows), HostDim(None, 1)], [0, 1, -1], dtype, False)
        splits = self.split([rows, columns], [1, elements(dtype)], reduced={1})
        ranges = [("c0", rows, splits[0]), ("c1", columns, splits[1])]
        constants = {"exx2scale": 1.0 / columns, "useZeroMean": self.chance(0.3)}
        return "exx2", ranges, [x, output], {"constants": constants, "is_reduction": True}

    def reshape(self):
        """A pointwise operation whose operands see two dims as two or as one: rows, or heads inside a row."""
        first, second = self.random.choice([2, 3, 4, 8]), self.random.choice([4, 8, 16, 32])
        columns, heads = self.stick_size(64, 256), None
        if self.chance(0.4):
            heads, columns = self.random.choice([2, 3, 4]), 64 * self.random.randint(1, 2)
        function = self.random.choice(["add", "maximum", "identity"])
        count = 2 if function == "identity" else 3
        views = [self.chance(0.4) for _ in range(count)]
        views[self.random.randrange(count)] ^= len(set(views)) == 1
        sizes = [first * second, columns * (heads or 1)]
        operands = []
        for as_two in views:
            if heads:
                rows, row = [HostDim("c0", sizes[0])], [HostDim("c1", sizes[1])]
                row = [HostDim(None, heads), HostDim("c1", columns)] if as_two else row
            else:
                rows, row = [HostDim("c0", sizes[0])], [HostDim("c1", columns)]
                rows = [HostDim(None, first), HostDim("c0", second)] if as_two else rows
            dims = [*rows, *row]
            operands.append(Operand(dims, list(range(len(dims))), "float16"))
        operands[-1].is_input = False
        splits = self.split(sizes, [1, 64])
        return function, [("c0", sizes[0], splits[0]), ("c1", sizes[1], splits[1])], operands, {}

    def statistic(self):
        """Operands with one element a stick: what reductions leave is processed further; scalars among them."""
        dtype = "float32" if self.chance(0.3) else "float16"
        unary = ["abs", "exp", "neg", "reciprocal", "rsqrt", "sqrt", "identity"]
        function = self.random.choice([*unary, *BINARY])
        sizes = [self.outer_size() for _ in range(self.random.choice([0, 1, 1, 2]))]
        trailing = bool(sizes) and self.chance(0.5)
        operands = []
        for position in range(3 if function in BINARY else 2):
            dims = [HostDim(f"c{dim}", size) for dim, size in enumerate(sizes)]
            if position == 0 and function in BINARY and self.chance(0.2):
                dims = []
            if dims and position < 2 and self.chance(0.1):
                dims[0].start = self.random.randint(0, 3)
                dims[0].size += dims[0].start + self.random.randint(0, 3)
            dims += [HostDim(None, 1)] if trailing and dims else []
            operands.append(Operand(dims, [*range(len(dims)), -1] if dims else [], dtype))
        operands[-1].is_input = False
        splits = self.split(sizes, [1] * len(sizes))
        return function, [(f"c{d}", sizes[d], splits[d]) for d in range(len(sizes))], operands, {}

    def single_out(self, ranges, operands):
        """Gives one dim that is in no stick the extent 1: it leaves the iteration, slices keep where they start."""
        sticks = {
            operand.dims[operand.order[-1]].symbol for operand in operands if operand.order and operand.order[-1] != -1
        }
        free = [name for name, _, _ in ranges if name not in sticks]
        if not free or any(dim.indirect for operand in operands for dim in operand.dims):
            return ranges, operands
        gone = self.random.choice(free)
        size = next(size for name, size, _ in ranges if name == gone)
        kept = [entry for entry in ranges if entry[0] != gone]
        renamed = {name: f"c{position}" for position, (name, _, _) in enumerate(kept)}
        for operand in operands:
            for dim in operand.dims:
                if dim.symbol == gone:
                    dim.symbol, dim.size = None, 1 if dim.size == size else dim.size
                elif dim.symbol is not None:
                    dim.symbol = renamed[dim.symbol]
        return [(renamed[name], extent, split) for name, extent, split in kept], operands

    def draw(self, kind):
        function, ranges, operands, more = getattr(self, kind)()
        return function, ranges, operands, more

    def spec(self, kind):
        function, ranges, operands, more = self.draw(kind)
        if kind in SINGLED_OUT and self.chance(0.12):
            # The operands of one operation share no dims: each has its own.
            operands = [replace(o, dims=[replace(dim) for dim in o.dims]) for o in operands]
            ranges, operands = self.single_out(ranges, operands)
        self.place(operands)
        return make_op(function, ranges, operands, **more)

    def place(self, operands):
        """Most operands are arguments; some lie in the pool or in LX, as in the reference data."""
        pool, scratch = 128 * self.random.randint(0, 2000), 128 * self.random.randint(0, 500)
        for operand in operands:
            if operand.name is not None or self.chance(0.65):
                continue
            size = bytes_of(operand)
            if self.chance(0.6):
                operand.place, pool = ("pool", pool), pool + size + 128 * self.random.randint(0, 600)
            else:
                operand.place, scratch = ("lx", scratch), scratch + size + 128 * self.random.randint(0, 200)
