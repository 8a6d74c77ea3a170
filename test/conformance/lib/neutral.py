# neutral.py - Neutral operation cases as programs over buffers
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reads the `host` part of a case of the reference data and makes a
# program of it: buffers joined by memory, operations with one index expression
# per logical dim of each operand, loops. The flat host index is taken apart
# into logical coordinates here, in Python, so that what the compiler computes
# from them is checked and not repeated. Format of the cases: README beside the
# data.
"""From a neutral case to buffers, operations and loops."""

import ast
import dataclasses
import math

import numpy as np

SEGMENT = 1 << 34  # of addresses of the device memory
BYTES_PER_STICK = 128


class Inexpressible(Exception):
    """A case that the intermediate form has no words for (yet)."""


@dataclasses.dataclass(frozen=True)
class Term:
    """coefficient * ((input floordiv divisor) mod modulus); modulus 0: no mod."""

    input: int
    coefficient: int = 1
    divisor: int = 1
    modulus: int = 0


@dataclasses.dataclass(frozen=True)
class Expr:
    """A sum of terms and a constant. Inputs: iteration dims, then loop variables."""

    constant: int = 0
    terms: tuple = ()

    def evaluate(self, values):
        total = self.constant
        for term in self.terms:
            digit = values[term.input] // term.divisor
            if term.modulus:
                digit = digit % term.modulus
            total = total + term.coefficient * digit
        return total

    def inputs(self):
        return {term.input for term in self.terms}


@dataclasses.dataclass
class Buffer:
    """A piece of memory with one shape and layout."""

    shape: list
    dtype: str
    dim_order: list
    device_size: list
    stride_map: list
    format: str
    space: str  # hbm, pool, lx
    address: int
    arg_index: int = -1
    tensor_name: str | None = None
    read_first: bool = False  # read before anything in the case writes it
    written: bool = False
    read_after_write: bool = False
    stick: list = dataclasses.field(default_factory=list)  # [(dim, elements)], outermost first, where it has two


@dataclasses.dataclass
class Operand:
    buffer: int
    coordinates: list  # one Expr a logical dim
    indirect: int | None = None  # position of the index tensor among the operands
    indirect_dim: int | None = None
    is_index: bool = False


@dataclasses.dataclass
class Operation:
    function: str
    sizes: list
    splits: list
    loops: list  # ids of the loops around it, outermost first
    operands: list  # inputs, then the output
    constants: dict
    is_reduction: bool


@dataclasses.dataclass
class Loop:
    id: int
    count: int
    body: list


@dataclasses.dataclass
class Program:
    buffers: list
    body: list
    config: dict
    loop_counts: list

    def operations(self, body=None):
        for node in self.body if body is None else body:
            if isinstance(node, Loop):
                yield from self.operations(node.body)
            else:
                yield node

    def cores(self):
        return max((int(np.prod(op.splits, dtype=np.int64)) for op in self.operations()), default=1)


def parse_linear(text):
    """`256*c0 + c1 + 8192` -> (8192, {"c0": 256, "c1": 1})."""

    def walk(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value, {}
        if isinstance(node, ast.Name):
            return 0, {node.id: 1}
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            constant, terms = walk(node.operand)
            return -constant, {k: -v for k, v in terms.items()}
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            sign = 1 if isinstance(node.op, ast.Add) else -1
            left, right = walk(node.left), walk(node.right)
            terms = dict(left[1])
            for key, value in right[1].items():
                terms[key] = terms.get(key, 0) + sign * value
            return left[0] + sign * right[0], terms
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            left, right = walk(node.left), walk(node.right)
            if left[1] and right[1]:
                raise Inexpressible(f"index '{text}' is not linear")
            if left[1]:
                left, right = right, left
            return left[0] * right[0], {k: v * left[0] for k, v in right[1].items()}
        raise Inexpressible(f"index '{text}' is not linear")

    constant, terms = walk(ast.parse(str(text), mode="eval").body)
    return constant, {key: value for key, value in terms.items() if value}


def delinearise(constant, terms, ranges, shape, strides):
    """Logical coordinates of a flat host index.

    terms: {input: coefficient}, ranges: {input: extent}. Digit by digit: input
    v with coefficient c contributes floor(c v / stride) mod (next larger stride
    / stride) to a dim; no dim may overflow into the next.
    """
    order = sorted((d for d in range(len(shape)) if shape[d] != 1), key=lambda d: -strides[d])
    coordinates = [Expr() for _ in shape]
    larger = None
    rest = constant
    for dim in order:
        stride = strides[dim]
        base = larger // stride if larger is not None else None
        offset, rest = divmod(rest, stride)
        parts, highest = [], offset
        for variable, coefficient in sorted(terms.items()):
            extent = ranges[variable]
            if extent == 1:
                continue
            if coefficient % stride == 0:
                factor, divisor = coefficient // stride, 1
            elif stride % coefficient == 0:
                factor, divisor = 1, stride // coefficient
            else:
                raise Inexpressible(f"step {coefficient} fits no dim of {shape}")
            if base is not None and factor % base == 0:
                continue  # moves larger dims only
            if divisor >= extent:
                continue  # moves smaller dims only
            digits = -(-extent // divisor)
            modulus = 0
            if base is not None and factor * (digits - 1) >= base:
                if base % factor:
                    raise Inexpressible(f"step {coefficient} fits no dim of {shape}")
                modulus = base // factor
                digits = modulus
            parts.append(Term(variable, factor, divisor, modulus))
            highest += factor * (digits - 1)
        if highest >= shape[dim]:
            raise Inexpressible(f"an index reaches {highest} in dim {dim} of {shape}")
        coordinates[dim] = Expr(offset, tuple(parts))
        larger = stride
    if rest:
        raise Inexpressible(f"an offset of {rest} elements fits no dim of {shape}")
    check_delinearised(constant, terms, ranges, coordinates, strides)
    return coordinates


def check_delinearised(constant, terms, ranges, coordinates, strides, points=64):
    """Compares with the flat index at corners and at random points."""
    random = np.random.default_rng(len(ranges))
    inputs = sorted(ranges)
    for point in range(points):
        values = {}
        for variable in inputs:
            top = ranges[variable] - 1
            values[variable] = [0, top][point & 1] if point < 2 else int(random.integers(0, top + 1))
        flat = constant + sum(c * values[v] for v, c in terms.items())
        again = sum(e.evaluate(values) * s for e, s in zip(coordinates, strides))
        if flat != again:
            raise AssertionError(f"index {flat} became {again}")


class Builder:
    """Collects the buffers and operations of one case."""

    def __init__(self, case):
        self.case = case
        self.buffers = []
        self.keys = {}
        self.loop_counts = []

    def build(self):
        body = self.nodes(self.case["specs"], [])
        return Program(self.buffers, body, self.case["config"], self.loop_counts)

    def nodes(self, specs, loops):
        result = []
        for spec in specs:
            if spec["kind"] == "loop":
                loop = Loop(len(self.loop_counts), spec["count"], [])
                self.loop_counts.append(spec["count"])
                loop.body = self.nodes(spec["body"], [*loops, (loop.id, spec)])
                result.append(loop)
            elif spec["kind"] == "op":
                result.append(self.operation(spec, loops))
            else:
                raise Inexpressible(f"kind '{spec['kind']}'")
        return result

    def buffer(self, argument, tensor):
        allocation = argument["allocation"]
        space = next(s for s in ("pool", "lx", "hbm") if s in allocation)
        key = (space, allocation[space], tuple(tensor["host_size"]), tensor["dtype"], tuple(tensor["dim_order"]))
        if key not in self.keys:
            self.keys[key] = len(self.buffers)
            self.buffers.append(
                Buffer(
                    list(tensor["host_size"]),
                    tensor["dtype"],
                    list(tensor["dim_order"]),
                    list(tensor["layout_device_size"]),
                    list(tensor["layout_stride_map"]),
                    argument["device_dtype"],
                    space,
                    allocation[space],
                    argument["arg_index"],
                    argument.get("name"),
                )
            )
        return self.keys[key]

    def operation(self, spec, loops):
        ranges_ = spec["host"]["ranges"]
        symbols = {r["sym"]: i for i, r in enumerate(ranges_)}
        sizes = [r["size"] for r in ranges_]
        ranges = dict(enumerate(sizes))
        for position, (_, loop) in enumerate(loops):
            ranges[len(sizes) + position] = loop["count"]

        names = {a.get("name"): i for i, a in enumerate(spec["args"]) if a.get("name")}
        operands = []
        for argument, tensor in zip(spec["args"], spec["host"]["tensors"]):
            constant, linear = parse_linear(tensor["index"])
            terms, indirect = {}, {}
            for symbol, coefficient in linear.items():
                if symbol in symbols:
                    terms[symbols[symbol]] = coefficient
                else:
                    indirect[symbol] = coefficient
            if not argument.get("per_tile_fixed"):
                self.add_tiles(terms, spec, loops, symbols, sizes)
            operand = Operand(
                self.buffer(argument, tensor),
                delinearise(constant, terms, ranges, tensor["host_size"], tensor["host_stride"]),
                is_index=argument.get("name") is not None,
            )
            if indirect:
                if len(indirect) > 1 or len(names) != 1:
                    raise Inexpressible("more than one index tensor")
                coefficient = next(iter(indirect.values()))
                operand.indirect = next(iter(names.values()))
                operand.indirect_dim = tensor["host_stride"].index(coefficient)
            operands.append(operand)
            self.note_use(operand.buffer, argument["is_input"])
        if spec["op"] == "batchmatmulfp8":
            self.pair_rows(self.buffers[operands[1].buffer])
        info = spec.get("op_info") or {}
        constants = dict(info.get("constants", {}))
        # The reference's alignment (docs/formats/superdsc-rules.md, e.1) hands a dim as many slices as divide it; where the data
        # mark that (docs/formats/superdsc-rules.md, section 6, fault 6) the planned split stands.
        keep = 6 in self.case.get("faults", [])
        splits = [r["split"] if keep else math.gcd(r["split"], r["size"]) for r in ranges_]
        if "shared_weight_unit_bmm" in info:
            self.add_unit_batch(info["shared_weight_unit_bmm"]["batch_dim"], sizes, splits, operands)
        return Operation(spec["op"], sizes, splits, [i for i, _ in loops], operands, constants, spec["is_reduction"])

    @staticmethod
    def pair_rows(buffer):
        """The second operand of an 8-bit contraction has sticks of two rows: [reduction 2, generated 64].

        The reference front end cannot say so (its fault 8). The stick's inner dim stays the
        layout's; the other is the reduced one, the next dim outwards in the host's order.
        """
        if buffer.stick:
            return
        generated, elements = buffer.dim_order[-1], buffer.device_size[-1]
        reduced = generated - 1
        sizes = {dim: buffer.shape[dim] for dim in buffer.dim_order}
        strides = {dim: math.prod(buffer.shape[dim + 1 :]) for dim in buffer.dim_order}
        buffer.stick = [(reduced, 2), (generated, elements // 2)]
        inner = dict(buffer.stick)
        order = buffer.dim_order
        outer = [*order[1:], order[0]] if len(order) > 2 else order[::-1]
        buffer.device_size = [-(-sizes[d] // inner.get(d, 1)) for d in outer] + [n for _, n in buffer.stick]
        buffer.stride_map = [strides[d] * inner.get(d, 1) for d in outer] + [strides[d] for d, _ in buffer.stick]

    def add_unit_batch(self, position, sizes, splits, operands):
        """A batch dim of extent 1 that the iteration space left out and the operation keeps."""
        rank = max(len(operand.coordinates) for operand in operands)
        sizes.insert(position, 1)
        splits.insert(position, 1)
        for operand in operands:
            moved = [
                Expr(e.constant, tuple(dataclasses.replace(t, input=t.input + (t.input >= position)) for t in e.terms))
                for e in operand.coordinates
            ]
            if len(moved) == rank:
                moved[position] = Expr(0, (Term(position),))
                self.put_unit_dim_outermost(self.buffers[operand.buffer], position)
            operand.coordinates = moved

    @staticmethod
    def put_unit_dim_outermost(buffer, position):
        """The reference lays the kept dim outermost on the device; its extent of 1 moves no element."""
        order = [dim for dim in buffer.dim_order if dim != position]
        order.insert(1, position)
        elements = buffer.device_size[-1]
        sizes = [buffer.shape[dim] for dim in order]
        buffer.dim_order = order
        steps = [math.prod(buffer.shape[dim + 1 :]) for dim in order]
        buffer.device_size = [*sizes[1:-1], -(-sizes[-1] // elements), sizes[0], elements]
        buffer.stride_map = [
            step if size > 1 else -1
            for step, size in zip(
                [*steps[1:-1], steps[-1] * elements, steps[0], steps[-1]], buffer.device_size, strict=True
            )
        ]

    def add_tiles(self, terms, spec, loops, symbols, sizes):
        """Each iteration of a loop moves an operand by one tile along its symbols."""
        for position, (_, loop) in enumerate(loops):
            for symbol in loop["tiled_symbols"]:
                if symbol not in spec["tiled_symbols"] or symbols.get(symbol) not in terms:
                    continue
                tile = sizes[symbols[symbol]]
                for _, inner in loops[position + 1 :]:
                    if symbol in inner["tiled_symbols"]:
                        tile *= inner["count"]
                variable = len(sizes) + position
                terms[variable] = terms.get(variable, 0) + terms[symbols[symbol]] * tile

    def note_use(self, index, is_input):
        buffer = self.buffers[index]
        if is_input:
            if buffer.written:
                buffer.read_after_write = True
            else:
                buffer.read_first = True
        else:
            buffer.written = True


def build_program(case):
    return Builder(case).build()
