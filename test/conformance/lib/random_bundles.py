# random_bundles.py - Random bundles of several operations, and random loops
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Operations that are joined by memory: chains, softmax, layer norm, a matmul and
# what follows it, with intermediates in the pool or in LX; and loops over tiles of
# rows or columns, kept or unrolled. Form: README beside the reference data.
"""Bundles and loops as specs of neutral cases."""

import dataclasses

from .neutral_ops import LX_BYTES, HostDim, Operand, bytes_of, make_op
from .random_ops import Kinds

CHAIN_UNARY = ["abs", "neg", "relufwd", "exp", "sigmoid", "tanh"]
CHAIN_BINARY = ["add", "sub", "mul", "maximum", "minimum"]


class Values:
    """The tensors of one bundle: arguments in the order of their first use, intermediates packed side by side."""

    def __init__(self, draw, cores_fit=True):
        self.draw = draw
        self.arguments, self.pool, self.scratch = 0, 128 * draw.random.randint(0, 40), 0
        self.uses_lx = draw.chance(0.5)

    def argument(self, dims, order, dtype="float16"):
        value = Operand(dims, order, dtype, True, None, self.arguments)
        self.arguments += 1
        return value

    def intermediate(self, dims, order, dtype="float16", lx=True):
        value = Operand(dims, order, dtype)
        size = bytes_of(value)
        if self.uses_lx and lx and self.scratch + size <= LX_BYTES // 2:
            value.place, self.scratch = ("lx", self.scratch), self.scratch + size
        else:
            value.place, self.pool = ("pool", self.pool), self.pool + size
        return value


def read(value, **changes):
    return dataclasses.replace(value, is_input=True, **changes)


def write(value, **changes):
    return dataclasses.replace(value, is_input=False, **changes)


class Bundles(Kinds):
    def rows_and_columns(self):
        rows, columns = self.outer_size(), self.stick_size(64, 256, 0.75)
        splits = self.split([rows, columns], [1, 64])
        return rows, columns, splits

    @staticmethod
    def full(rows, columns):
        return [HostDim("c0", rows), HostDim("c1", columns)], [0, 1]

    def chain(self):
        rows, columns, splits = self.rows_and_columns()
        ranges = [("c0", rows, splits[0]), ("c1", columns, splits[1])]
        values, specs = Values(self), []
        current = values.argument(*self.full(rows, columns))
        count = self.random.randint(2, 4)
        for position in range(count):
            function = self.random.choice(CHAIN_UNARY + CHAIN_BINARY)
            inputs = [read(current)]
            if function in CHAIN_BINARY:
                other = self.random.choice(["full", "row", "same", "scalar"])
                if other == "same":
                    inputs.append(read(current))
                elif other == "row":
                    inputs.append(values.argument([HostDim("c1", columns)], [0]))
                elif other == "scalar":
                    inputs.append(values.argument([], []))
                else:
                    inputs.append(values.argument(*self.full(rows, columns)))
            make = values.argument if position == count - 1 else values.intermediate
            current = make(*self.full(rows, columns))
            specs.append(make_op(function, ranges, [*inputs, write(current)]))
        return specs

    def softmax(self):
        rows, columns, splits = self.rows_and_columns()
        ranges = [("c0", rows, splits[0]), ("c1", columns, 1)]
        values = Values(self)

        def statistic():
            return values.intermediate([HostDim("c0", rows)], [0, -1])

        x = values.argument(*self.full(rows, columns))
        largest, shifted = statistic(), values.intermediate(*self.full(rows, columns))
        powers, total = values.intermediate(*self.full(rows, columns)), statistic()
        result = values.argument(*self.full(rows, columns))
        return [
            make_op("max", ranges, [read(x), write(largest)], is_reduction=True),
            make_op("sub", ranges, [read(x), read(largest), write(shifted)]),
            make_op("exp", ranges, [read(shifted), write(powers)]),
            make_op("sum", ranges, [read(powers), write(total)], is_reduction=True),
            make_op("realdiv", ranges, [read(powers), read(total), write(result)]),
        ]

    def layernorm(self):
        rows, columns, splits = self.rows_and_columns()
        whole, narrow = [("c0", rows, splits[0]), ("c1", columns, 1)], [("c0", rows, splits[0])]
        values = Values(self)

        def statistic():
            return values.intermediate([HostDim("c0", rows), HostDim(None, 1)], [0, 1, -1])

        x, moments, scale = values.argument(*self.full(rows, columns)), statistic(), statistic()
        weight, bias = (values.argument([HostDim("c1", columns)], [0]) for _ in range(2))
        result = values.argument(*self.full(rows, columns))
        constants = {"exx2scale": 1.0 / columns, "useZeroMean": False}
        norm = [read(x), read(moments), read(scale), weight, bias, write(result)]
        return [
            make_op("exx2", whole, [read(x), write(moments)], constants, is_reduction=True),
            make_op("layernormscale", narrow, [read(moments), write(scale)], {"eps": 1e-5}),
            make_op("layernormnorm", whole, norm),
        ]

    def mlp(self):
        """A matmul, a bias, an activation."""
        rows, columns = self.outer_size(), self.stick_size(64, 192, 0.8)
        depth = 64 * self.random.randint(1, 4)
        splits = self.split([rows, columns, depth], [1, 64, 64], reduced={2})
        ranges = [(f"c{p}", size, split) for p, (size, split) in enumerate(zip([rows, columns, depth], splits))]
        after = ranges[:2]
        values = Values(self)
        x = values.argument([HostDim("c0", rows), HostDim("c2", depth)], [0, 1])
        y = values.argument([HostDim("c2", depth), HostDim("c1", columns)], [0, 1])
        # Cores that share a sum do not see the pointwise operation's slices.
        product = values.intermediate(*self.full(rows, columns), lx=splits[2] == 1)
        bias = values.argument([HostDim("c1", columns)], [0])
        summed = values.intermediate(*self.full(rows, columns))
        result = values.argument(*self.full(rows, columns))
        return [
            make_op("batchmatmul", ranges, [x, y, write(product)], is_reduction=True),
            make_op("add", after, [read(product), bias, write(summed)]),
            make_op(self.random.choice(["relufwd", "gelufwd", "silu"]), after, [read(summed), write(result)]),
        ]

    def widened(self):
        """A cast up, a reduction in f32, a cast down: the mean of rows as layer norms take it."""
        rows, columns = self.outer_size(), 64 * self.random.randint(1, 4)
        splits = self.split([rows, columns], [1, 64])
        ranges = [("c0", rows, splits[0]), ("c1", columns, 1)]
        values = Values(self)
        x = values.argument(*self.full(rows, columns))
        wide = values.intermediate(*self.full(rows, columns), "float32")
        mean = values.intermediate([HostDim("c0", rows), HostDim(None, 1)], [0, 1, -1], "float32")
        centred = values.intermediate(*self.full(rows, columns), "float32")
        result = values.argument(*self.full(rows, columns))
        constants = {"scaling_factor": 1.0 / columns}
        return [
            make_op("dl16tofp32", ranges, [read(x), write(wide)]),
            make_op("mean", ranges, [read(wide), write(mean)], constants, is_reduction=True),
            make_op("sub", ranges, [read(wide), read(mean), write(centred)]),
            make_op("fp32todl16", ranges, [read(centred), write(result)]),
        ]

    def transposed(self):
        """A restickified second operand of a matmul: x times the transpose of y."""
        rows, columns, depth = self.outer_size(), 64 * self.random.randint(1, 3), 64 * self.random.randint(1, 3)
        values = Values(self)
        values.uses_lx = False  # each core reads what others wrote
        y = values.argument([HostDim("c0", columns), HostDim("c1", depth)], [0, 1])
        turned = values.intermediate([HostDim("c0", columns), HostDim("c1", depth)], [1, 0])
        splits = self.split([columns, depth], [64, 64])
        first = make_op(
            "ReStickifyOpHBM",
            [("c0", columns, splits[0]), ("c1", depth, splits[1])],
            [read(y), write(turned)],
        )
        x = values.argument([HostDim("c0", rows), HostDim("c2", depth)], [0, 1])
        second = dataclasses.replace(turned, dims=[HostDim("c1", columns), HostDim("c2", depth)])
        result = values.argument([HostDim("c0", rows), HostDim("c1", columns)], [0, 1])
        splits = self.split([rows, columns, depth], [1, 64, 64], reduced={2})
        ranges = [(f"c{p}", size, split) for p, (size, split) in enumerate(zip([rows, columns, depth], splits))]
        return [first, make_op("batchmatmul", ranges, [x, read(second), write(result)], is_reduction=True)]

    def columns_sum(self):
        """A sum over rows, then something with the row that it gives."""
        rows, columns, splits = self.rows_and_columns()
        reduced = [("c0", columns, splits[1]), ("c1", rows, self.random.choice([1, splits[0]]))]
        values = Values(self)
        values.uses_lx = False
        x = values.argument([HostDim("c1", rows), HostDim("c0", columns)], [0, 1])
        total = values.intermediate([HostDim("c0", columns)], [0])
        again = dataclasses.replace(x, dims=[HostDim("c0", rows), HostDim("c1", columns)])
        row = dataclasses.replace(total, dims=[HostDim("c1", columns)])
        result = values.argument(*self.full(rows, columns))
        ranges = [("c0", rows, splits[0]), ("c1", columns, splits[1])]
        function = self.random.choice(["sum", "max", "min"])
        return [
            make_op(function, reduced, [read(x), write(total)], is_reduction=True),
            make_op("sub", ranges, [read(again), read(row), write(result)]),
        ]

    def bundle(self):
        names = ["chain", "chain", "softmax", "layernorm", "mlp", "widened", "transposed", "columns_sum"]
        return getattr(self, self.random.choice(names))()

    def loop(self):
        """One or two operations over tiles of rows or columns, or one over tiles of both."""
        if self.chance(0.25):
            return self.nest()
        count, over_rows = self.random.randint(2, 4), self.chance(0.7)
        rows, columns = self.outer_size(64), 64 * self.random.randint(1, 3)
        splits = self.split([rows, columns], [1, 64])
        ranges = [("c0", rows, splits[0]), ("c1", columns, splits[1])]
        tiled = ["c0" if over_rows else "c1"]
        long = [HostDim("c0", rows * count), HostDim("c1", columns)]
        if not over_rows:
            long = [HostDim("c0", rows), HostDim("c1", columns * count)]
        values = Values(self)

        def whole():
            return values.argument([HostDim(d.symbol, d.size) for d in long], [0, 1])

        function = self.random.choice(["add", "mul", "maximum"])
        # A row is the same for all tiles of rows.
        other = values.argument([HostDim("c1", columns)], [0]) if over_rows and self.chance(0.4) else whole()
        x = whole()
        if self.chance(0.5):
            result = whole()
            body = [make_op(function, ranges, [other, x, write(result)], tiled=tiled)]
        else:
            values.uses_lx = True
            between = values.intermediate(*self.full(rows, columns))
            between.fixed = True
            result = whole()
            body = [
                make_op(function, ranges, [other, x, write(between)], tiled=tiled),
                make_op(
                    self.random.choice(["abs", "relufwd", "neg"]), ranges, [read(between), write(result)], tiled=tiled
                ),
            ]
        return [{"kind": "loop", "count": count, "tiled_symbols": tiled, "body": body}]

    def nest(self):
        """Two loops: over tiles of rows and of columns, or over tiles of tiles of rows."""
        counts = [self.random.randint(2, 3) for _ in range(2)]
        rows, columns = self.outer_size(32), 64 * self.random.randint(1, 2)
        splits = self.split([rows, columns], [1, 64])
        ranges = [("c0", rows, splits[0]), ("c1", columns, splits[1])]
        inner = self.random.choice(["c0", "c1"])
        tiles = {"c0": counts[0] * (counts[1] if inner == "c0" else 1), "c1": counts[1] if inner == "c1" else 1}
        values = Values(self)

        def whole():
            return values.argument([HostDim("c0", rows * tiles["c0"]), HostDim("c1", columns * tiles["c1"])], [0, 1])

        function = self.random.choice(["add", "mul", "maximum"])
        op = make_op(function, ranges, [whole(), whole(), write(whole())], tiled=sorted({"c0", inner}))
        body = [{"kind": "loop", "count": counts[1], "tiled_symbols": [inner], "body": [op]}]
        return [{"kind": "loop", "count": counts[0], "tiled_symbols": ["c0"], "body": body}]
