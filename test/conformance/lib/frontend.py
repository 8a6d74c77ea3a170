# frontend.py - A model of the reference front end: neutral cases to bundles
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the reference front end writes for a neutral case, its faults apart, as an
# independent second opinion beside the compiler's emission: it is written from the
# text (docs/formats/superdsc-rules.md, sections 1, 2 and 5) and shares no code with
# lib/SuperDSC. test_frontend.py holds it against the reference files. Where the
# text leaves something open, or where the right form of a fault is a matter of
# choice, the model says Unknown instead of guessing.
"""Descriptors and bundle.mlir of a neutral case, or Unknown."""

import dataclasses

from . import frontend_dims, frontend_json
from .frontend_align import ELEMENTS_PER_STICK, Access, Symbol, Unknown, align, default_layout

SEGMENT = 1 << 34

__all__ = ["Bundle", "Unknown", "align_op", "default_layout", "model"]


@dataclasses.dataclass
class Bundle:
    """`text` is bundle.mlir, or None where the names of its values are a matter of choice."""

    descriptors: list
    text: str | None


@dataclasses.dataclass
class Step:
    """One descriptor to write: an operation, and for each operand the bytes that it is moved by."""

    spec: dict
    moved: list
    moves: list  # per operand: bytes per iteration of the loops around it, outermost first
    unrolled: bool


@dataclasses.dataclass
class KeptLoop:
    number: int
    count: int
    body: list


def elements_of(argument):
    try:
        return ELEMENTS_PER_STICK[argument["device_dtype"]]
    except KeyError:
        raise Unknown(f"format {argument['device_dtype']}") from None


def align_op(spec):
    """(symbols, accesses) of an operation."""
    return align(spec, elements_of)


def space_of(argument):
    allocation = argument["allocation"]
    space = next(s for s in ("pool", "lx", "hbm") if s in allocation)
    if (argument["arg_index"] >= 0) != (space == "hbm"):
        raise Unknown("an intermediate in an argument's place, or an argument elsewhere")
    return space, allocation[space]


def model(case):
    """The bundle of a case. Raises Unknown."""
    return Model(case).run()


class Model:
    def __init__(self, case):
        self.config = case["config"]
        self.case = case
        self.loop_counts = []
        self.symbolic = self.config["symbolic_args"]
        self.next_id = -1
        self.known = {}  # symbol id -> (kind, argument, offset)
        self.descriptors = []
        self.has_slices = False

    def run(self):
        body = self.nodes(self.case["specs"], [])
        text = self.write(body)
        # Fault 4: what core 0's own offset in an argument is called, the text does not say.
        return Bundle(self.descriptors, None if self.has_slices else text)

    # --- loops ------------------------------------------------------------------

    def nodes(self, specs, loops):
        result = []
        for spec in specs:
            if spec["kind"] == "op":
                result.append(self.step(spec, loops))
                continue
            if self.config["unroll_loops"]:
                inner = self.nodes(spec["body"], [*loops, spec])
                for iteration in range(spec["count"]):
                    result += [self.at(step, len(loops), iteration) for step in inner]
            else:
                if not self.symbolic:
                    raise Unknown("a kept loop without symbolic addresses (fault 3)")
                loop = KeptLoop(len(self.loop_counts), spec["count"], [])
                self.loop_counts.append(spec["count"])
                loop.body = self.nodes(spec["body"], [*loops, spec])
                result.append(loop)
        return result

    def at(self, step, level, iteration):
        moved = [moved + moves[level] * iteration for moved, moves in zip(step.moved, step.moves)]
        return dataclasses.replace(step, moved=moved)

    def step(self, spec, loops):
        symbols, accesses = align_op(spec)
        sizes = {symbol.name: symbol.size for symbol in symbols}
        moves = []
        for argument, access in zip(spec["args"], accesses):
            strides = []
            for level, loop in enumerate(loops):
                stride = 0
                for name in loop["tiled_symbols"]:
                    if name not in spec["tiled_symbols"] or argument.get("per_tile_fixed"):
                        continue
                    tile = sizes.get(name)
                    whole = next((e["size"] for e in spec["host"]["ranges"] if e["sym"] == name), None)
                    if tile is None or tile != whole:
                        raise Unknown("a tiled symbol that alignment cuts")
                    for inner in loops[level + 1 :]:
                        tile *= inner["count"] if name in inner["tiled_symbols"] else 1
                    if name in access.coordinates[-1].symbols() and tile % access.elements:
                        raise Unknown("tiles of parts of a stick")
                    used = any(name in coordinate.symbols() for coordinate in access.coordinates)
                    if used:
                        values = {name: tile}
                        stride += frontend_dims.linear(access, values) - frontend_dims.linear(access, {})
                        offset_free(access, name)
                stride *= frontend_dims.BYTES_PER_STICK // access.elements
                strides.append(stride)
                if stride and "lx" in argument["allocation"]:
                    raise Unknown("tiles of an operand in LX")
            moves.append(strides)
        return Step(spec, [0] * len(moves), moves, bool(loops) and self.config["unroll_loops"])

    # --- descriptors --------------------------------------------------------------

    def describe(self, step):
        spec = step.spec
        symbols, accesses = align_op(spec)
        if step.unrolled:
            for access, moves in zip(accesses, step.moves):
                if any(moves):
                    cut_tile(access, spec, {symbol.name: symbol.size for symbol in symbols})
        described = frontend_dims.describe(
            spec,
            symbols,
            accesses,
            [argument["device_dtype"] for argument in spec["args"]],
            self.config["core_id_k_fast_emission"],
        )
        names = dict(zip([symbol.name for symbol in symbols], [d.name for d in described.dims]))
        if len(described.dims) > len(symbols) and described.dims[0].size == 1 and len(symbols) == 1:
            # A virtual row in front of the only symbol.
            names = {symbols[0].name: described.dims[1].name} if described.dims[1].name == "out" else names
        spaces, addresses = [], []
        for number, argument in enumerate(spec["args"]):
            space, base = space_of(argument)
            spaces.append(space)
            addresses.append(frontend_dims.place(described, names, number, space, base, step.moved[number]))
        return described, spaces, addresses

    def emit(self, step):
        """Adds the descriptor; returns its symbol ids with the operand that each came from."""
        described, spaces, addresses = self.describe(step)
        used = []
        if self.symbolic:
            seen = {}
            for number, argument in enumerate(step.spec["args"]):
                if spaces[number] == "lx":
                    continue
                space, base = space_of(argument)
                ids = []
                self.has_slices |= space != "pool" and addresses[number][0] != base
                for address in addresses[number]:
                    if address not in seen:
                        kind = (
                            ("pool", -1, address) if space == "pool" else ("arg", argument["arg_index"], address - base)
                        )
                        seen[address] = (self.next_id, kind, number)
                        self.known[self.next_id] = kind
                        used.append((self.next_id, number))
                        self.next_id -= 1
                    elif seen[address][1][:2] != (("pool", -1) if space == "pool" else ("arg", argument["arg_index"])):
                        raise Unknown("two arguments at one address")
                    elif step.moves[number] != step.moves[seen[address][2]]:
                        raise Unknown("one address that moves in two ways")
                    ids.append(seen[address][0])
                addresses[number] = ids
        index = len(self.descriptors)
        self.descriptors.append(frontend_json.descriptor(described, index, spaces, addresses, self.symbolic))
        return index, used

    # --- bundle.mlir ----------------------------------------------------------------

    def write(self, body):
        self.maps, self.addr = {}, 0
        inner = self.write_nodes(body, [], "\t\t")
        parameters, constants = [], []
        if self.symbolic:
            arguments = []
            for _, argument, _ in self.known.values():
                if argument >= 0 and argument not in arguments:
                    arguments.append(argument)
            if arguments != sorted(arguments):
                raise Unknown("the order of parameters that are not used in order")
            bases = {argument: set() for argument in arguments}
            self.collect_bases(self.case["specs"], bases)
            if any(len(found) > 1 for found in bases.values()):
                raise Unknown("one argument at two addresses")
            names = ["pool"] if any(kind == "pool" for kind, _, _ in self.known.values()) else []
            names += [f"arg_{argument}" for argument in arguments]
            parameters = [f"%{name}_base_addr: !sdscbundle.input_arg<index>" for name in names]
            constants += [
                f"%{name} = sdscbundle.input_arg_extract value from %{name}_base_addr : "
                "!sdscbundle.input_arg<index> -> index"
                for name in names
            ]
        if self.loop_counts:
            constants += ["%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index"]
            constants += [
                f"%loop_bound_{number} = arith.constant {count} : index"
                for number, count in enumerate(self.loop_counts)
            ]
        written = set()
        for kind, argument, offset in self.known.values():
            if (kind, argument, offset) in written or kind == "arg" and offset == 0:
                continue
            written.add((kind, argument, offset))
            if kind == "pool":
                constant, base = f"%pool_offset_{offset}", "%pool"
            else:
                constant, base = f"%arg_{argument}_core_offset_{offset}", f"%arg_{argument}"
            constants.append(f"{constant} = arith.constant {offset} : index")
            constants.append(f"{value_name((kind, argument, offset))} = arith.addi {base}, {constant} : index")
        maps = [f"#map_{number} = affine_map<{text}>" for text, number in self.maps.items()]
        return "\n".join(
            [
                *maps,
                "module {",
                f"\tfunc.func @sdsc_bundle({', '.join(parameters)}) {{",
                *["\t\t" + line for line in constants],
                *inner,
                "\t\treturn",
                "\t}",
                "}",
                "",
            ]
        )

    def collect_bases(self, specs, bases):
        for spec in specs:
            if spec["kind"] == "loop":
                self.collect_bases(spec["body"], bases)
                continue
            for argument in spec["args"]:
                if argument["arg_index"] in bases:
                    bases[argument["arg_index"]].add(argument["allocation"]["hbm"])

    def write_nodes(self, body, loops, indent):
        lines = []
        for node in body:
            if isinstance(node, KeptLoop):
                lines.append(f"{indent}scf.for %i_{node.number} = %c0 to %loop_bound_{node.number} step %c1 {{")
                lines += self.write_nodes(node.body, [*loops, node], indent + "\t")
                lines.append(f"{indent}}}")
                continue
            index, used = self.emit(node)
            operands = []
            for symbol, number in used:
                name = value_name(self.known[symbol])
                if loops and any(node.moves[number]):
                    if len(loops) > 1:
                        raise Unknown("the maps of nested loops")
                    text = f"(d0)[s0] -> (s0 + {node.moves[number][0]}*d0)"
                    place = self.maps.setdefault(text, len(self.maps))
                    lines.append(f"{indent}%addr_{self.addr} = affine.apply #map_{place}(%i_{loops[0].number})[{name}]")
                    name, self.addr = f"%addr_{self.addr}", self.addr + 1
                operands.append(name)
            attributes = f'sdsc_filename="sdsc_{index}.json"'
            if self.symbolic:
                attributes += f', "symbol_ids"=[{", ".join(str(symbol) for symbol, _ in used)}]'
            lines.append(f"{indent}sdscbundle.sdsc_execute ({', '.join(operands)}) {{{attributes}}}")
        return lines


def value_name(symbol):
    kind, argument, offset = symbol
    if kind == "pool":
        return f"%pool_addr_{offset}"
    return f"%arg_{argument}_core_{offset}" if offset else f"%arg_{argument}"


def offset_free(access, name):
    """A tile's step is exact only where the coordinate is linear in the symbol."""
    for coordinate in access.coordinates[:-1]:
        for piece in coordinate.pieces:
            if piece.symbol == name and (piece.modulus or piece.divisor not in (1, access.elements)):
                raise Unknown("a tile along a cut dim")


def cut_tile(access, spec, sizes):
    """The size along a tiled dim becomes the tile's, where nothing depends on it (docs/formats/superdsc-rules.md, e.5)."""
    for place, coordinate in enumerate(access.coordinates[:-1]):
        symbol = coordinate.only()
        if symbol in spec["tiled_symbols"] and symbol not in access.coordinates[-1].symbols():
            if all(size == 1 for size in access.sizes[:place]):
                access.sizes[place] = coordinate.evaluate({symbol: sizes[symbol]}) - coordinate.evaluate({})


def aligned_of_case(spec):
    """(symbols, accesses) as the case itself states them; to test the second half of the model alone."""
    from .frontend_align import Coordinate, Piece

    def parse(text, elements):
        text = text.replace(" ", "")
        if text.startswith("IndirectAccess("):
            return Coordinate(indirect=text[len("IndirectAccess(") : -1])
        body, _, offset = text.partition("+")
        if body.isdigit():
            return Coordinate(offset=int(body))
        if body.startswith("floor("):
            symbol, divisor = body[6:-1].split("/")
            return Coordinate([Piece(symbol, 1, int(divisor))], int(offset or 0))
        if body.startswith("Mod("):
            symbol, modulus = body[4:-1].split(",")
            return Coordinate([Piece(symbol, 1, 1, int(modulus))], int(offset or 0))
        return Coordinate([Piece(body)], int(offset or 0))

    symbols = [Symbol(entry["sym"], entry["size"], entry["split"]) for entry in spec["iteration_space"]]
    accesses = []
    for argument in spec["args"]:
        elements = elements_of(argument)
        coordinates = [parse(text, elements) for text in argument["device_coordinates"]]
        accesses.append(Access(list(argument["device_size"]), coordinates, elements))
    return symbols, accesses
