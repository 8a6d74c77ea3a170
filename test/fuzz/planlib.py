# planlib.py - Random legal changes of a plan
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A change is a function of a random generator and a Function of plantext.py; it changes
# the function and says in words what it did, or returns None where there is nothing to
# change. Changes are meant to be legal by the rules of Passes.td; the verifiers have the
# last word. Lifetimes are counted a second time here.
"""Random legal changes of plans, as text."""

import dataclasses
import math
import re

from lib.sizes import divisors
from plantext import STICK_IN_BYTES, Alloc, Op, mentions

DEVICE_CORES = 32
# Addresses are drawn below it; a core has more.
LX_IN_BYTES = 1 << 20

# --- changes of any level ----------------------------------------------------


def draw_splits(rng, op, limit):
    """Work slices for an operation: at most `limit` cores, at most one reduced dim."""
    splits, left, reduced = [1] * len(op.extents), limit, False
    dims = list(range(len(op.extents)))
    rng.shuffle(dims)
    for dim in dims:
        if op.is_reduced(dim) and reduced:
            continue
        choices = [d for d in divisors(op.units(dim)) if 1 < d <= left]
        splits[dim] = rng.choice(choices) if choices and rng.random() < 0.7 else 1
        left //= splits[dim]
        reduced |= op.is_reduced(dim) and splits[dim] > 1
    return splits


def divide(rng, function, cores):
    """Other work slices for some operations."""
    limit = rng.choice([cores, DEVICE_CORES])
    share = rng.choice([0.15, 0.5, 1.0])
    changed = []
    for number, op in enumerate(function.ops()):
        # An LX buffer holds what its writer's slices say.
        if any(kind.space == "lx" for kind in op.types) or op.loops or not op.extents or 0 in op.extents:
            continue
        if rng.random() >= share:
            continue
        op.splits, op.pinned = draw_splits(rng, op, limit), True
        if op.name.startswith("batchmatmul"):
            op.k_fast = rng.random() < 0.5
        changed.append(f"{op.name}#{number} {'x'.join(map(str, op.splits))}")
    return f"divide {', '.join(changed)}" if changed else None


# --- changes of L2 -----------------------------------------------------------


def draw_order(rng, kind):
    """Another order of the dims that are not in the stick, or None."""
    if not kind.is_plain or len(kind.shape) < 3:
        return None
    others = list(kind.order[:-1])
    rng.shuffle(others)
    order = (*others, kind.order[-1])
    return order if order != kind.order else None


def types_of(function):
    """Values of L2 with their types, arguments included."""
    types = {}
    for op in function.ops():
        types.update({value: kind for (value, _), kind in zip(op.inputs, op.types)})
        types[op.result] = op.types[-1]
    return types


def reorder_dims(rng, function):
    """Another order of a value's dims in memory, where the program does not fix it."""
    made = {op.result: op for op in function.ops()}
    chained = {op.output[0] for op in function.ops() if op.output[0]}
    values = [
        value
        for value, op in made.items()
        if not function.in_texts(value) and not op.output[0] and value not in chained
    ]
    rng.shuffle(values)
    for value in values:
        kind = made[value].types[-1]
        order = draw_order(rng, kind)
        if order:
            function.retype(value, kind.with_order(order, kind.padded))
            return f"order of {value} is {list(order)}"
    return None


def copy_for_a_use(rng, function):
    """A copy of a value for one of its readers, with other dim order or padding."""
    uses = [(op, i) for op in function.ops() for i in range(len(op.inputs))]
    rng.shuffle(uses)
    for op, i in uses:
        value, kind = op.inputs[i][0], op.types[i]
        if not kind.is_plain or not kind.shape or op.name == "restickify":
            continue
        order = draw_order(rng, kind) or kind.order
        extents = list(kind.padded)
        grow = rng.randrange(len(extents) + 1)
        if grow < len(extents) and rng.random() < 0.5:
            extents[grow] += rng.choice([1, 3]) * (kind.elements if grow == kind.stick_dim else 1)
        copied = kind.with_order(order, extents)
        if math.prod(copied.sizes) > 1 << 22:
            continue
        name = function.new_value()
        dims = [f"d{dim}" for dim in range(len(kind.shape))]
        extents_text = list(kind.shape)
        copy = Op(
            "identity", name, extents_text, [1] * len(dims), False, [(value, dims)], (None, dims), "", [kind, copied]
        )
        function.body.insert(function.body.index(op), copy)
        op.inputs[i] = (name, op.inputs[i][1])
        op.types[i] = copied
        return f"copy of {value} for {op.name} with sizes {list(copied.sizes)}, order {list(order)}"
    return None


def restickify_and_back(rng, function):
    """Another dim goes into a value's stick and back, before one of its readers."""
    uses = [(op, i) for op in function.ops() for i in range(len(op.inputs))]
    rng.shuffle(uses)
    for op, i in uses:
        value, kind = op.inputs[i][0], op.types[i]
        if not kind.is_plain or len(kind.shape) < 2 or kind.format != "SEN169_FP16" or kind.element != "f16":
            continue
        padded, elements = kind.padded, kind.elements
        dims = [d for d in kind.order[:-1] if padded[d] % elements == 0]
        if not dims or padded != [
            -(-extent // elements) * elements if d == kind.stick_dim else extent for d, extent in enumerate(kind.shape)
        ]:
            continue
        dim = rng.choice(dims)
        others = [d for d in kind.order if d != dim]
        if rng.random() < 0.5:
            rng.shuffle(others)
        extents = list(padded)
        turned = kind.with_order((*others, dim), extents)
        first, second = function.new_value(), function.new_value()
        names = [f"d{d}" for d in range(len(kind.shape))]
        shape, ones = list(kind.shape), [1] * len(names)
        there = Op("restickify", first, shape, ones, False, [(value, names)], (None, names), "", [kind, turned])
        back = Op(
            "restickify", second, list(shape), list(ones), False, [(first, names)], (None, names), "", [turned, kind]
        )
        place = function.body.index(op)
        function.body[place:place] = [there, back]
        op.inputs[i] = (second, op.inputs[i][1])
        return f"restickify of {value} for {op.name} by dim {dim} and back"
    return None


def schedule(rng, function):
    """Another order of the operations that keeps every value before its readers."""
    made = {}
    for i, item in enumerate(function.body):
        match = re.match(r"(%[\w.]+) = ", str(item))
        if match:
            made[match[1]] = i
    waits, texts = {}, []
    for i, item in enumerate(function.body):
        values = item.uses() if isinstance(item, Op) else re.findall(r"%[\w.]+", str(item).partition(" = ")[2])
        waits[i] = {made[value] for value in values if value in made}
        # Constants become arguments in their order.
        if isinstance(item, str) and texts:
            waits[i].add(texts[-1])
        texts += [i] if isinstance(item, str) else []
    last = len(function.body) - 1
    order, done = [], set()
    while len(order) < last:
        ready = [i for i in range(last) if i not in done and waits[i] <= done]
        if not ready:
            return None
        chosen = rng.choice(ready)
        order.append(chosen)
        done.add(chosen)
    if order == list(range(last)):
        return None
    function.body = [function.body[i] for i in [*order, last]]
    return "another schedule"


# --- changes of L3 -----------------------------------------------------------


def pin(function):
    """Writes every operation's division down, so that it is kept."""
    for op in function.ops():
        op.pinned = True


def root_of(function):
    """Buffers that are other names of buffers: value -> the allocated one."""
    roots = {}
    for text in function.texts():
        match = re.match(r"(%[\w.]+) = spyre\.reinterpret (%[\w.]+)", text)
        if match:
            roots[match[1]] = roots.get(match[2], match[2])
    return roots


def positions_of(function):
    """Operation number -> its place in the schedule; all of a loop have one place."""
    result, position, group = [], -1, None
    for op in function.ops():
        own = op.group if op.loops and op.group is not None else None
        if own is None or own is not group:
            position += 1
        group = own
        result.append(position)
    return result


def lives_of(function):
    """Buffer -> [first, last] place in the schedule where it is used."""
    roots, lives = root_of(function), {}
    for op, position in zip(function.ops(), positions_of(function)):
        for value in op.uses():
            life = lives.setdefault(roots.get(value, value), [position, position])
            life[1] = position
    return lives


def to_device_memory(rng, function):
    """Buffers leave LX; where they go is drawn later."""
    allocs = [alloc for alloc in function.allocs() if alloc.place == "lx"]
    share = rng.choice([0.3, 0.7, 1.0])
    chosen = [alloc for alloc in allocs if rng.random() < share]
    for alloc in chosen:
        evict(function, alloc)
    return f"{', '.join(alloc.value for alloc in chosen)} not in LX" if chosen else None


def evict(function, alloc):
    alloc.holding, alloc.place, alloc.address = None, "pool", -1
    function.retype(alloc.value, dataclasses.replace(alloc.type, space="hbm"))


def draw_slices(rng, alloc, accesses):
    """Slices of an LX buffer that all its accesses can follow, or None; and each operation's dim of each coordinate."""
    shape, dims = alloc.type.shape, [[None] * len(alloc.type.shape) for _ in accesses]
    units = [1] * len(shape)
    for place, extent in enumerate(shape):
        for number, (op, coordinates) in enumerate(accesses):
            match = re.fullmatch(r"d(\d+)", coordinates[place])
            if match and op.extents[int(match[1])] == extent:
                dims[number][place] = int(match[1])
            elif coordinates[place] != "0" or extent != 1:
                return None, None
        if all(row[place] is not None for row in dims):
            units[place] = math.gcd(*(op.units(row[place]) for (op, _), row in zip(accesses, dims)))
    slices, left = [1] * len(shape), DEVICE_CORES
    for place in rng.sample(range(len(shape)), len(shape)):
        slices[place] = rng.choice([d for d in divisors(units[place]) if d <= left])
        left //= slices[place]
        if rng.random() < 0.7:
            break
    return slices, dims


def to_scratchpad(rng, function):
    """A buffer of device memory moves to LX: all operations on it are divided so that each core finds its part."""
    roots = root_of(function)
    allocs = [alloc for alloc in function.allocs() if alloc.type.space == "hbm" and alloc.value not in roots.values()]
    rng.shuffle(allocs)
    if rng.random() < 0.5:  # those with padding first
        allocs.sort(key=lambda alloc: alloc.type == alloc.type.with_order(alloc.type.order) if alloc.type.order else 1)
    for alloc in allocs:
        accesses = []
        for op in function.ops():
            operands = [*op.inputs, op.output]
            if any(value == alloc.value for value, _ in operands):
                accesses += [(op, coordinates) for value, coordinates in operands if value == alloc.value]
        ops = [op for op, _ in accesses]
        if not ops or any(op.loops or op.more or not in_device_memory(op) for op in ops):
            continue
        if any(len([other for other in ops if other is op]) > 1 or op.name == "restickify" for op in ops):
            continue
        slices, dims = draw_slices(rng, alloc, accesses)
        if slices is None:
            continue
        for op, row in zip(ops, dims):
            op.splits, op.pinned, op.k_fast = [1] * len(op.extents), True, False
            for place, dim in enumerate(row):
                if dim is not None:
                    op.splits[dim] = slices[place]
        # The first dim of the iteration space varies fastest over the cores.
        inner, text = 1, ["0"] * len(slices)
        cut_places = [place for place, dim in enumerate(dims[0]) if dim is not None]
        for place in sorted(cut_places, key=lambda place: dims[0][place]):
            text[place] = f"(d0 floordiv {inner}) mod {slices[place]}"
            inner *= slices[place]
        alloc.holding = f"cores {inner}, slices[{', '.join(map(str, slices))}], (d0) -> ({', '.join(text)})"
        alloc.place, alloc.address = "lx", -1
        function.retype(alloc.value, dataclasses.replace(alloc.type, space="lx"))
        return f"{alloc.value} in LX, cut {'x'.join(map(str, slices))}"
    return None


def place(rng, function):
    """Other addresses for all buffers: apart, permuted, in place, never two at one place at one time."""
    lives, roots = lives_of(function), root_of(function)
    aliased = set(roots.values())
    allocs = [alloc for alloc in function.allocs() if alloc.value in lives and alloc.place in ("lx", "pool")]
    for alloc in function.allocs():
        alloc.address = max(alloc.address, 0)
    by_value = {alloc.value: alloc for alloc in allocs}
    if not allocs:
        return None
    positions = positions_of(function)
    writers = {}
    for op, position in zip(function.ops(), positions):
        writers.setdefault(roots.get(op.destination, op.destination), (op, position))
    rng.shuffle(allocs)
    placed = []
    in_place = 0

    def is_free(alloc, address, besides=None):
        end, (first, last) = address + alloc.size_in_bytes(), lives[alloc.value]
        for other in placed:
            if other is besides or other.place != alloc.place:
                continue
            begin, stop = lives[other.value]
            if stop < first or last < begin:
                continue
            if address < other.address + other.size_in_bytes() and other.address < end:
                return False
        return True

    def find_parent(alloc):
        """A placed buffer whose memory the alloc may take over in the operation that writes it first."""
        op, position = writers.get(alloc.value, (None, None))
        if op is None or op.group is not None or alloc.value in aliased or lives[alloc.value][0] != position:
            return None
        # What a loop reads again in its next iteration must still be there.
        moving = [any(re.search(rf"\bs{i}\b", c) for c in op.output[1]) for i in range(len(op.loops))]
        if not all(moving):
            return None
        for i, (value, _) in enumerate(op.inputs):
            parent = by_value.get(value)
            if parent is None or parent is alloc or parent not in placed or parent.place != alloc.place:
                continue
            same = all(op.may_write_in_place(j) for j, (other, _) in enumerate(op.inputs) if other == value)
            fits = alloc.size_in_bytes() <= parent.size_in_bytes()
            if same and fits and value not in aliased and lives[value][1] == position and i < len(op.types) - 1:
                return parent
        return None

    for alloc in allocs:
        size = alloc.size_in_bytes()
        total = sum(other.size_in_bytes() for other in allocs if other.place == alloc.place)
        room = min(max(2 * total, 4096), LX_IN_BYTES) if alloc.place == "lx" else 2 * total + 4096
        parent = find_parent(alloc) if rng.random() < 0.5 else None
        if parent and is_free(alloc, parent.address, besides=parent):
            alloc.address = parent.address
            in_place += 1
        else:
            tries = [rng.randrange(max(1, (room - size) // STICK_IN_BYTES)) * STICK_IN_BYTES for _ in range(30)]
            if rng.random() < 0.3:
                tries = sorted(tries)
            if rng.random() < 0.4:  # right behind another
                tries = [other.address + other.size_in_bytes() for other in placed if other.place == alloc.place]
            behind = max((o.address + o.size_in_bytes() for o in placed if o.place == alloc.place), default=0)
            alloc.address = next((address for address in tries if is_free(alloc, address)), behind)
        placed.append(alloc)
    return f"{len(allocs)} buffers elsewhere" + (f", {in_place} in place" if in_place else "")


def forget_places(rng, function):
    """Buffers without a place: the compiler places them again, with the divisions that are there now."""
    for alloc in function.allocs():
        if alloc.place == "lx":
            evict(function, alloc)
        alloc.place = None
    return "places forgotten"


def in_device_memory(op):
    return all(kind.space == "hbm" for kind in op.types)


def tile_dims(op):
    """(dim, tile) pairs that an operation may be cut into; whole sticks, no reduced dim."""
    if op.more.strip().startswith("gather") or not in_device_memory(op):
        return []
    result = []
    for dim, extent in enumerate(op.extents):
        elements = op.elements_of(dim)
        for _, kind in op.accesses() if op.name == "restickify" else []:
            elements = max(elements, kind.elements if op.extents[dim] >= kind.elements else 1)
        if op.is_reduced(dim) or extent <= elements or extent < 2:
            continue
        result += [(dim, tile) for tile in range(elements, extent, elements)]
    return result


def shifted(op, dim, tile, offset):
    """The operation over `tile` elements of `dim`, from `offset` (an expression) on."""
    expression = re.compile(rf"\bd{dim}\b")

    def shift(coordinates):
        return [expression.sub(f"(d{dim} + {offset})", c) if offset else c for c in coordinates]

    extents = list(op.extents)
    extents[dim] = tile
    return dataclasses.replace(
        op,
        extents=extents,
        splits=list(op.splits),
        inputs=[(value, shift(c)) for value, c in op.inputs],
        output=(op.output[0], shift(op.output[1])),
        types=list(op.types),
        loops=list(op.loops),
    )


def fix_splits(rng, op, limit):
    """Divides the operation anew where its slices no longer fit."""
    if any(op.units(dim) % op.splits[dim] for dim in range(len(op.extents))) or rng.random() < 0.5:
        op.splits = draw_splits(rng, op, limit)
    op.pinned = True


def cut(rng, function, cores):
    """An operation becomes two, over parts of a dim."""
    choices = [(op, tiles) for op in function.ops() if not op.loops and (tiles := tile_dims(op))]
    if not choices:
        return None
    op, tiles = rng.choice(choices)
    dim, tile = rng.choice(tiles)
    parts = [shifted(op, dim, tile, None), shifted(op, dim, op.extents[dim] - tile, str(tile))]
    if rng.random() < 0.5 and not reads_what_it_writes(op):
        parts.reverse()
    for part in parts:
        fix_splits(rng, part, cores)
    place_of_op = function.body.index(op)
    function.body[place_of_op : place_of_op + 1] = parts
    return f"{op.name} cut at d{dim} = {tile}"


def reads_what_it_writes(op):
    return op.output[0] in [value for value, _ in op.inputs]


def loop(rng, function, cores):
    """An operation becomes a loop over tiles of a dim, with an epilogue for what is left, perhaps in another loop."""
    choices = [
        (op, tiles) for op in function.ops() if len(op.loops) < 2 and op.group is None and (tiles := tile_dims(op))
    ]
    if not choices:
        return None
    op, tiles = rng.choice(choices)
    several = [(dim, tile) for dim, tile in tiles if 2 <= op.extents[dim] // tile <= 64]
    tiles = several if several and rng.random() < 0.9 else tiles
    dim, tile = rng.choice(tiles)
    trips, rest = divmod(op.extents[dim], tile)
    if op.loops and rest:
        return None
    body = shifted(op, dim, tile, f"s{len(op.loops)} * {tile}")
    function.fresh += 1
    body.loops.append((f"%i{function.fresh}", trips))
    parts = [body]
    if rest:
        parts.append(shifted(op, dim, rest, str(trips * tile)))
    for part in parts:
        fix_splits(rng, part, cores)
    place_of_op = function.body.index(op)
    function.body[place_of_op : place_of_op + 1] = parts
    return f"{op.name} in a loop of {trips} over {tile} of d{dim}"


def join_in_loop(rng, function, cores):
    """Two neighbours share a loop over a dim along which the second reads what the first has just written."""
    ops = [(i, item) for i, item in enumerate(function.body) if isinstance(item, Op)]
    pairs = []
    for (i, a), (j, b) in zip(ops, ops[1:]):
        if not all(isinstance(item, Alloc) for item in function.body[i + 1 : j]) or a.loops or b.loops:
            continue
        if a.output[0] == b.output[0] or b.output[0] in a.uses():
            continue
        for dim, tile in tile_dims(a):
            for other, same in tile_dims(b):
                if same == tile and a.extents[dim] == b.extents[other] and a.extents[dim] % tile == 0:
                    if all(
                        [mentions(c, dim) for c in a.output[1]] == [mentions(c, other) for c in coordinates]
                        and f"d{dim}" in a.output[1]
                        and f"d{other}" in coordinates
                        for value, coordinates in b.inputs
                        if value == a.output[0]
                    ):
                        pairs.append((a, dim, b, other, tile))
    if not pairs:
        return None
    a, dim, b, other, tile = rng.choice(pairs)
    function.fresh += 1
    loops, group = [(f"%i{function.fresh}", a.extents[dim] // tile)], object()
    parts = [shifted(a, dim, tile, f"s0 * {tile}"), shifted(b, other, tile, f"s0 * {tile}")]
    for part in parts:
        part.loops, part.group = list(loops), group
        fix_splits(rng, part, cores)
    i, j = function.body.index(a), function.body.index(b)
    # Buffers are made before the loop that uses them.
    function.body[i : j + 1] = [*function.body[i + 1 : j], *parts]
    resident = ""
    if a.output[0] in [value for value, _ in b.inputs]:
        resident = keep_tile(rng, function, parts, (dim, other), a.output[1].index(f"d{dim}"), tile)
    return f"{a.name} and {b.name} in a loop of {loops[0][1]} over {tile} of d{dim} and d{other}{resident}"


def keep_tile(rng, function, parts, dims, place, tile):
    """What two operations of a loop hand over becomes a buffer of one tile, perhaps in LX; says so."""
    first, second = parts
    value, kind = first.output[0], first.types[-1]
    alloc = next((alloc for alloc in function.allocs() if alloc.value == value), None)
    elsewhere = any(value in op.uses() for op in function.ops() if op is not first and op is not second)
    if alloc is None or elsewhere or not kind.is_plain or kind.padded != kind.with_order(kind.order).padded:
        return ""
    if function.in_texts(value) or value in [v for v, _ in first.inputs] or rng.random() < 0.3:
        return ""
    shape = (*kind.shape[:place], tile, *kind.shape[place + 1 :])
    kind = dataclasses.replace(kind, shape=shape).with_order(kind.order)
    first.output[1][place] = f"d{dims[0]}"
    for name, coordinates in second.inputs:
        if name == value:
            coordinates[place] = f"d{dims[1]}"
    function.retype(value, kind)
    users = [c for name, c in second.inputs if name == value]
    if rng.random() < 0.3 or any(c != users[0] for c in users):
        return ", a tile between them"
    # Each core keeps its part of the tile.
    units = math.gcd(first.units(dims[0]), second.units(dims[1]))
    slices = rng.choice([d for d in divisors(units) if d <= DEVICE_CORES])
    for op, dim in zip(parts, dims):
        op.splits, op.pinned, op.k_fast = [1] * len(op.extents), True, False
        op.splits[dim] = slices
    counts = ", ".join(str(slices if i == place else 1) for i in range(len(shape)))
    parts_of_core = ", ".join(f"d0 mod {slices}" if i == place else "0" for i in range(len(shape)))
    alloc.holding, alloc.place, alloc.address = f"cores {slices}, slices[{counts}], (d0) -> ({parts_of_core})", "lx", -1
    function.retype(value, dataclasses.replace(kind, space="lx"))
    return f", a tile between them in LX, cut in {slices}"


def loop_over_scratchpad(rng, function):
    """A loop moves over a buffer in LX of which every core holds a part: one core would need them all."""
    choices = [
        (op, dim)
        for op in function.ops()
        if not op.loops and not op.more and any(kind.space == "lx" for kind in op.types)
        for dim, slices in enumerate(op.splits)
        if slices > 1 and op.units(dim) == op.extents[dim] and not op.is_reduced(dim)
    ]
    if not choices:
        return None
    op, dim = rng.choice(choices)
    trips, tile = op.splits[dim], op.extents[dim] // op.splits[dim]
    part = shifted(op, dim, tile, f"s0 * {tile}")
    function.fresh += 1
    part.loops, part.splits[dim], part.pinned = [(f"%i{function.fresh}", trips)], 1, True
    function.body[function.body.index(op)] = part
    return f"{op.name} on LX in a loop of {trips} over {tile} of d{dim}"
