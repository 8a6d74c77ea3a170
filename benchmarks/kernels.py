# kernels.py - Single kernels whose time has been published, as planned modules
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A published time belongs to one operation with a given shape, division and
# places of its operands. Each function writes that operation as L3 of the Spyre
# dialect, where nothing is left for the compiler to decide.
"""Texts of planned modules with one kernel each."""

STICK = 64  # elements of f16


def sticks(elements):
    return -(-elements // STICK)


def layout(shape, order=None):
    """The buffer type without its memory; `order`: the logical dims outer to inner."""
    order = order or list(range(len(shape)))
    last, outer = order[-1], [shape[d] for d in order[:-1]]
    sizes = (
        [sticks(shape[last]), *outer, STICK] if len(outer) < 2 else [*outer[1:], sticks(shape[last]), outer[0], STICK]
    )
    text = "".join(f"{size}x" for size in shape)
    return f"{text}f16, #spyre.layout<{sizes}, order {order}, SEN169_FP16>"


class Module:
    """Buffers of one function and the operations on them."""

    def __init__(self):
        self.arguments, self.lines, self.types = [], [], {}

    def argument(self, name, shape, role, order=None):
        self.types[name] = f"!spyre.buffer<{layout(shape, order)}, hbm>"
        count = sum(kind == role for kind, _ in self.arguments)
        array = f'spyre.role = "{role}", spyre.array = "{"in" if role == "input" else "out"}{count}"'
        self.arguments.append((role, f"%{name}: {self.types[name]} {{{array}}}"))

    def scratchpad(self, name, shape, address, cores):
        """The rows are spread over the cores."""
        self.types[name] = f"!spyre.buffer<{layout(shape)}, lx>"
        holding = f"holding<cores {cores}, slices [{cores}, 1], (c) -> (c, 0)>"
        self.lines.append(f"%{name} = spyre.alloc lx({address}) {holding} : {self.types[name]}")

    def operation(self, op, dims, *operands):
        """`dims`: (extent, slices); `operands`: (buffer, coordinates), the result last."""
        space = ", ".join(f"d{i} = {n}" + (f" / {s}" if s > 1 else "") for i, (n, s) in enumerate(dims))
        *inputs, out = [f"%{name}[{coordinates}]" for name, coordinates in operands]
        *types, result = [self.types[name] for name, _ in operands]
        text = f"spyre.{op} ({space}) ins({', '.join(inputs)}) outs({out}) : {', '.join(types)} -> {result}"
        self.lines.append(text)

    def text(self):
        arguments = ",\n    ".join(text for _, text in self.arguments)
        return "\n  ".join([f"func.func @kernel({arguments}) {{", *self.lines, "return"]) + "\n}\n"


def pointwise(op, rows, columns, cores):
    module = Module()
    module.argument("x", (rows, columns), "input")
    module.argument("o", (rows, columns), "output")
    module.operation(op, [(rows, cores), (columns, 1)], ("x", "d0, d1"), ("o", "d0, d1"))
    return module.text()


def binary(op, rows, columns, cores):
    module, place = Module(), "d0, d1"
    for name in "xy":
        module.argument(name, (rows, columns), "input")
    module.argument("o", (rows, columns), "output")
    module.operation(op, [(rows, cores), (columns, 1)], ("x", place), ("y", place), ("o", place))
    return module.text()


def in_scratchpad(op, rows, columns, cores):
    """A copy to LX, the operation in place, a copy from LX."""
    module, dims, place = Module(), [(rows, cores), (columns, 1)], "d0, d1"
    module.argument("x", (rows, columns), "input")
    module.argument("o", (rows, columns), "output")
    module.scratchpad("v", (rows, columns), 0, cores)
    module.operation("identity", dims, ("x", place), ("v", place))
    module.operation(op, dims, ("v", place), ("v", place))
    module.operation("identity", dims, ("v", place), ("o", place))
    return module.text()


def broadcast(op, rows, columns, cores):
    """A row for all rows."""
    module = Module()
    module.argument("x", (rows, columns), "input")
    module.argument("v", (columns,), "input")
    module.argument("o", (rows, columns), "output")
    module.operation(op, [(rows, cores), (columns, 1)], ("x", "d0, d1"), ("v", "d1"), ("o", "d0, d1"))
    return module.text()


def reduction(op, rows, columns, cores, along):
    """`along`: "row", to one element a row, or "column", across the rows."""
    module = Module()
    module.argument("x", (rows, columns), "input")
    if along == "row":
        module.argument("o", (rows, 1), "output")
        module.operation(op, [(rows, cores), (columns, 1)], ("x", "d0, d1"), ("o", "d0, 0"))
    else:
        module.argument("o", (columns,), "output")
        module.operation(op, [(rows, 1), (columns, cores)], ("x", "d0, d1"), ("o", "d1"))
    return module.text()


def restickify(rows, columns, cores):
    module = Module()
    module.argument("x", (rows, columns), "input")
    module.argument("o", (rows, columns), "output", order=[1, 0])
    module.operation("restickify", [(rows, cores), (columns, 1)], ("x", "d0, d1"), ("o", "d0, d1"))
    return module.text()


def matmul(m, n, k, batch=None):
    """(extent, slices) of each dim."""
    module = Module()
    (rows, _), (columns, _), (inner, _) = m, n, k
    lead = () if batch is None or batch[0] == 1 else (batch[0],)
    module.argument("x", (*lead, rows, inner), "input")
    module.argument("y", (*lead, inner, columns), "input")
    module.argument("o", (*lead, rows, columns), "output")
    if lead:
        places, dims = ("d0, d1, d3", "d0, d3, d2", "d0, d1, d2"), [batch, m, n, k]
    else:
        places, dims = ("d0, d2", "d2, d1", "d0, d1"), [m, n, k]
    module.operation("batchmatmul", dims, *zip("xyo", places))
    return module.text()


def softmax(rows, columns, cores, statistics="hbm", values="hbm", copied=False):
    """max, sub, exp, sum, realdiv; the places of the statistics and of the values between them."""
    module = Module()
    dims, whole, one = [(rows, cores), (columns, 1)], "d0, d1", "d0, 0"
    size = rows // cores * sticks(columns) * 128
    module.argument("x", (rows, columns), "input")
    for i, name in enumerate("ms"):
        if statistics == "lx":
            module.scratchpad(name, (rows, 1), size + i * rows // cores * 128, cores)
        else:
            module.argument(name, (rows, 1), "output")
    if values == "lx":
        module.scratchpad("v", (rows, columns), 0, cores)
        module.types["w"] = module.types["v"]
    else:
        module.argument("v", (rows, columns), "output")
        module.argument("w", (rows, columns), "output")
    module.argument("o", (rows, columns), "output")
    second = "v" if values == "lx" else "w"
    source = "x"
    if copied:
        module.operation("identity", dims, ("x", whole), ("v", whole))
        source = "v"
    module.operation("max", dims, (source, whole), ("m", one))
    module.operation("sub", dims, (source, whole), ("m", one), ("v", whole))
    module.operation("exp", dims, ("v", whole), (second, whole))
    module.operation("sum", dims, (second, whole), ("s", one))
    module.operation("realdiv", dims, (second, whole), ("s", one), ("o", whole))
    return module.text()
