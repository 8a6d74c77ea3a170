# pointwise_kinds.py - Elementwise operations, reductions and moved data
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The kinds of generate_layers.py that are no layers: random expressions over
# broadcast operands, comparisons, reductions over any dims, and chains of
# operations that only move data, whose results are exact.
"""Elementwise, reducing and moving programs at sizes that are multiples of nothing."""

import torch
from export import wide, wide_type
from layer_kinds import Draw, functional
from lib.sizes import divisors

# --- elementwise -------------------------------------------------------------


def broadcast_shapes(d, count, most=30000):
    """Shapes that broadcast to one: the first is the whole, others lack or repeat dims."""
    whole = d.shape(d.choice(1, 2, 2, 3, 3, 4), most)
    shapes = [whole]
    for _ in range(count - 1):
        dims = [n if d.flag(0.6) else 1 for n in whole]
        if d.flag(0.3):
            dims = dims[int(d.rng.integers(0, len(dims))) :]
        shapes.append(tuple(dims))
    if d.flag(0.2):  # neither operand is the whole
        axis = int(d.rng.integers(len(whole)))
        shapes[0] = tuple(1 if i == axis else n for i, n in enumerate(whole))
        shapes[1] = tuple(n if i == axis or d.flag() else 1 for i, n in enumerate(whole))
    d.rng.shuffle(shapes)
    return [tuple(int(n) for n in shape) for shape in shapes]


BINARY = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "rsub": lambda x, y: torch.rsub(x, y),
    "add-alpha": lambda x, y: torch.add(x, y, alpha=2),
    "sub-alpha": lambda x, y: torch.sub(x, y, alpha=0.5),
    "div": lambda x, y: x / (y.abs() + 1.0),
    "scaled": lambda x, y: (x * 0.5 - 1.0) * y,
}


def broadcast(d):
    count = d.choice(2, 2, 3, 4)
    shapes = broadcast_shapes(d, count)
    operations = [BINARY[d.choice(*BINARY)] for _ in range(count - 1)]

    def function(first, *others):
        for operation, other in zip(operations, others):
            first = operation(first, other)
        return first

    return function, [d.data(*shape) for shape in shapes]


UNARY = {
    "relu": torch.relu,
    "silu": functional.silu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "gelu": functional.gelu,
    "gelu-tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "exp": torch.exp,
    "neg": torch.neg,
    "abs": torch.abs,
    "square": torch.square,
    "sqrt": lambda x: torch.sqrt(x.abs() + 0.125),
    "rsqrt": lambda x: torch.rsqrt(x.abs() + 0.125),
    "reciprocal": lambda x: torch.reciprocal(x.abs() + 0.5),
    "log": lambda x: torch.log(x.abs() + 0.5),
    "leaky": lambda x: functional.leaky_relu(x, 0.01),
    "pow3": lambda x: torch.pow(x, 3),
    "pow-half": lambda x: torch.pow(x.abs() + 0.125, 0.5),
    "hardtanh": functional.hardtanh,
    "relu6": functional.relu6,
    "elu": functional.elu,
}


def unary(d):
    shape = d.shape(d.choice(0, 1, 2, 2, 3, 4))
    operation = UNARY[d.choice(*UNARY)]
    if d.flag(0.3):
        return (lambda x: operation(x.transpose(0, -1)) if x.dim() else operation(x)), [d.data(*shape)]
    if d.flag(0.2):
        return (lambda x, y: operation(x + y) * y), [d.data(*shape), d.data(*shape)]
    return operation, [d.data(*shape)]


COMPARISONS = (torch.eq, torch.ne, torch.lt, torch.le, torch.gt, torch.ge)


def compare(d):
    """Comparisons, where, masked_fill and clamps. Values lie on a coarse grid, so that they are equal now and then."""

    def grid(*dims):
        return torch.from_numpy(d.rng.integers(-6, 7, dims) / 4.0).to(d.dtype)

    shapes = broadcast_shapes(d, 2)
    x, y = (grid(*shape) for shape in shapes)
    operation = d.choice(*COMPARISONS)
    way = d.choice(
        "bool", "where", "where-scalar", "mask", "logic", "clamp", "clamp-tensor", "scalar", "select", "cast"
    )
    scalar = d.choice(0, 0.25, -1.0, 1)
    if way == "bool":
        return operation, [x, y]
    if way == "scalar":
        return (lambda x: operation(x, scalar)), [x]
    if way == "where":
        return (lambda x, y: torch.where(operation(x, y), x, y)), [x, y]
    if way == "where-scalar":
        return (lambda x, y: torch.where(operation(x, scalar), y, 0.0)), [x, y]
    if way == "mask":
        value = d.choice(0.0, 1.5, float("-inf"))
        return (lambda x, m: x.masked_fill(m, value)), [d.data(*shapes[0]), smaller_mask(d, shapes[0])]
    if way == "logic":
        logic = d.choice(torch.logical_and, torch.logical_or, torch.logical_xor)
        return (lambda x, y: torch.where(logic(operation(x, y), x > scalar), x + y, x - y)), [x, y]
    if way == "clamp":
        low, high = d.choice((-0.5, 0.75), (None, 0.5), (-0.25, None), (0, 1))
        return (lambda x: torch.clamp(x, low, high)), [d.data(*shapes[0])]
    if way == "clamp-tensor":
        return (lambda x, y: torch.clamp(x, -y.abs(), y.abs())), [d.data(*shapes[0]), y]
    if way == "cast":
        return (lambda x, y: operation(x, y).to(x.dtype) * y), [x, y]
    return (lambda m, x, y: torch.where(m, x, y)), [smaller_mask(d, shapes[0]), x, y]


def smaller_mask(d, shape):
    dims = [n if d.flag(0.7) else 1 for n in shape]
    return torch.from_numpy(d.rng.random(dims) < 0.5)


# --- reductions --------------------------------------------------------------


def softmax(d):
    shape = d.shape(d.choice(1, 2, 2, 3, 4))
    dim = int(d.rng.integers(-len(shape), len(shape)))
    way = d.choice("softmax", "softmax", "log", "wide", "written", "scaled")
    if way == "wide":
        return (lambda x: torch.softmax(x, dim, dtype=wide_type(x)).to(x.dtype)), [d.data(*shape)]
    if way == "written":

        def written(x):
            y = torch.exp(x - x.amax(dim, keepdim=True))
            return y / y.sum(dim, keepdim=True)

        return written, [d.data(*shape)]
    if way == "scaled":
        return (lambda x, y: torch.softmax(x * 0.125 + y, dim)), [d.data(*shape), d.data(*shape)]
    function = torch.log_softmax if way == "log" else torch.softmax
    return (lambda x: function(x, dim)), [d.data(*shape)]


def reduction(d):
    shape = d.shape(d.choice(1, 2, 2, 3, 3, 4))
    rank = len(shape)
    count = int(d.rng.integers(1, rank + 1)) if d.flag(0.4) else 1
    dims = [int(n) for n in d.rng.choice(rank, count, replace=False)]
    keep = d.flag()
    way = d.choice(
        "sum", "mean", "amax", "amin", "max", "min", "all", "any", "norm", "var", "var_mean", "full", "shifted"
    )
    x = d.data(*shape)
    if way in ("sum", "mean", "amax", "amin"):
        function = getattr(torch, way)
        return (lambda x: function(x, dims, keepdim=keep)), [x]
    if way in ("max", "min"):
        function = getattr(torch, way)
        return (lambda x: function(x, dims[0], keepdim=keep)[0]), [x]
    if way in ("all", "any"):
        function = getattr(torch, way)
        bound = -2.0 if way == "all" else 2.0
        return (lambda x: function(x > bound, dims[0], keepdim=keep)), [x]
    if way == "norm":
        return (lambda x: wide_sum(x, dims).rsqrt().to(x.dtype)), [x]
    if way == "var":
        return (lambda x: torch.var(x, dims, correction=0, keepdim=keep)), [x]
    if way == "var_mean":
        return (lambda x: torch.var_mean(x, dims, correction=0, keepdim=keep)), [x]
    if way == "full":
        function = d.choice(torch.sum, torch.mean, torch.max)
        return function, [x]
    return (lambda x: x - x.mean(dims, keepdim=True)), [x]


def wide_sum(x, dims):
    return wide(x).square().sum(dims) + 1.0


# --- f32 in the middle and at the edge -----------------------------------------


def island(d):
    """16-bit values that meet f32 ones: weights, residuals and results in f32."""
    shape = d.shape(d.choice(1, 2, 2, 3), 20000)
    x, y = d.data(*shape), d.data(*shape).float()
    w = d.scales(shape[-1]).float()
    way = d.choice("scale", "residual", "widen", "narrow", "only", "norm", "layer_norm", "sum", "softmax")

    def narrow(value, like):
        # In the reference run everything is float64 already.
        return value if like.dtype == torch.float64 else value.to(d.dtype)

    if way == "scale":
        return (lambda x, w: narrow(wide(x) * w, x)), [x, w]
    if way == "residual":
        return (lambda x, y: wide(x) + y), [x, y]
    if way == "widen":
        return (lambda x: wide(x) * 0.5), [x]
    if way == "narrow":
        return (lambda y: narrow(y * 2.0 + 1.0, y)), [y]
    if way == "only":
        return (lambda y, w: (y * w) - y), [y, w]
    if way == "norm":
        return (lambda x, w: narrow(wide(x) * torch.rsqrt(wide(x).square().mean(-1, True) + 1e-5) * w, x)), [x, w]
    if way == "layer_norm":
        return (lambda x, w: narrow(functional.layer_norm(wide(x), shape[-1:], w, None, 1e-5), x)), [x, w]
    if way == "sum":
        dim = int(d.rng.integers(len(shape)))
        return (lambda x: wide(x).sum(dim)), [x]
    return (lambda x, y: narrow(torch.softmax(wide(x) + y, -1), x)), [x, y]


# --- moved data --------------------------------------------------------------


class Chain:
    """Steps that move data, each drawn for the shape that the ones before it gave."""

    def __init__(self, d, limit=20000):
        self.d, self.limit = d, limit
        self.steps = []
        self.others = []

    def axis(self, rank):
        return int(self.d.rng.integers(rank))

    def draw(self, shape):
        """A function of (x, others), or None if the step does not fit the shape."""
        d, rank = self.d, len(shape)
        size = 1
        for n in shape:
            size *= n
        name = d.choice(
            "permute", "transpose", "reshape", "slice", "step", "select", "unsqueeze", "expand", "cat-input",
            "cat-self", "stack", "pad", "split", "chunk", "unbind", "repeat", "flip", "roll", "narrow", "squeeze",
            "flatten", "unflatten", "contiguous",
        )  # fmt: skip
        if name == "unsqueeze":
            axis = self.axis(rank + 1)
            return (lambda x, _: x.unsqueeze(axis)) if rank < 5 else None
        if name == "contiguous":
            return lambda x, _: x.contiguous()
        if rank == 0:
            return None
        axis = self.axis(rank)
        n = shape[axis]
        if name == "permute":
            order = [int(i) for i in d.rng.permutation(rank)]
            return lambda x, _: x.permute(order)
        if name == "transpose":
            other = self.axis(rank)
            return lambda x, _: x.transpose(axis, other)
        if name == "reshape":
            a = d.choice(*divisors(size))
            b = d.choice(*divisors(size // a))
            sizes = d.choice((a, size // a), (a, b, size // a // b), (-1, a))
            return lambda x, _: x.reshape(sizes)
        if name == "flatten":
            return (lambda x, _: x.flatten(axis)) if axis < rank - 1 else None
        if name == "unflatten":
            a = d.choice(*divisors(n))
            return (lambda x, _: x.unflatten(axis, (a, -1))) if rank < 5 else None
        if name in ("slice", "step", "narrow"):
            start = int(d.rng.integers(n))
            end = int(d.rng.integers(start, n)) + 1
            step = int(d.rng.integers(2, 5)) if name == "step" else 1
            if name == "narrow":
                return lambda x, _: x.narrow(axis, start, end - start)
            index = (slice(None),) * axis + (slice(start, end, step),)
            return lambda x, _: x[index]
        if name == "select":
            at = int(d.rng.integers(n))
            return (lambda x, _: x.select(axis, at)) if rank > 1 else None
        if name == "squeeze":
            return (lambda x, _: x.squeeze(axis)) if n == 1 else None
        if name == "expand":
            if n == 1:
                to = d.size(max(1, self.limit // size))
                sizes = [to if i == axis else -1 for i in range(rank)]
                return lambda x, _: x.expand(sizes)
            front = d.choice(1, 2, 3)
            return (lambda x, _: x.expand(front, *x.shape)) if rank < 5 and size * front <= self.limit else None
        if name == "cat-input":
            width = d.size(max(1, self.limit // (size // n)))
            if (width + n) * (size // n) > self.limit:
                return None
            self.others.append(d.data(*(width if i == axis else m for i, m in enumerate(shape))))
            at, first = len(self.others) - 1, d.flag()
            return lambda x, o: torch.cat((o[at], x) if first else (x, o[at]), axis)
        if name == "cat-self":
            start = int(d.rng.integers(n))
            if 2 * size > self.limit:
                return None
            return lambda x, _: torch.cat((x.narrow(axis, start, n - start), x), axis)
        if name == "stack":
            if 2 * size > self.limit or rank > 4:
                return None
            return lambda x, _: torch.stack((x, x.flip(axis) if n > 1 else x), axis)
        if name == "pad":
            pads = [int(k) for k in d.rng.integers(0, 4, 2 * d.choice(1, min(2, rank)))]
            value = d.choice(0.0, 0.0, 1.5, -2.0)
            return (lambda x, _: functional.pad(x, pads, value=value)) if size * 3 <= self.limit else None
        if name == "split":
            part = int(d.rng.integers(1, n + 1))
            take = int(d.rng.integers(-(-n // part)))
            return lambda x, _: x.split(part, axis)[take]
        if name == "chunk":
            parts = int(d.rng.integers(1, 5))
            return lambda x, _: x.chunk(parts, axis)[-1]
        if name == "unbind":
            at = int(d.rng.integers(n))
            return (lambda x, _: x.unbind(axis)[at]) if rank > 1 and n <= 4 else None
        if name == "repeat":
            times = [d.choice(1, 1, 2) for _ in shape]
            product = 1
            for k in times:
                product *= k
            return (lambda x, _: x.repeat(times)) if size * product <= self.limit else None
        if name == "flip":
            return lambda x, _: x.flip(axis)
        shift = int(d.rng.integers(1, n + 1))
        return lambda x, _: x.roll(shift, axis)


def movement(d: Draw):
    shape = d.shape(d.choice(1, 2, 2, 3, 3, 4), 15000)
    chain = Chain(d)
    inputs = [d.data(*shape)]
    x, steps = inputs[0], []
    wanted = d.choice(1, 1, 2, 3, 4, 6)
    for _ in range(40):
        if len(steps) == wanted:
            break
        others = len(chain.others)
        step = chain.draw(tuple(x.shape))
        y = step(x, chain.others) if step else None
        if y is None or not y.numel():
            del chain.others[others:]
            continue
        steps.append(step)
        x = y

    def function(x, *others):
        for step in steps:
            x = step(x, others)
        return x

    return function, [*inputs, *chain.others]


KINDS = {
    "broadcast": broadcast,
    "unary": unary,
    "compare": compare,
    "softmax": softmax,
    "reduction": reduction,
    "island": island,
    "movement": movement,
}
