# hostcalls.py - Calls of every operation that runs on the host
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# CALLS is the list of what lib/Host's table holds, with samples of arguments made from a
# seed; the modules hostcalls_*.py fill it when they are imported. A maker's argument is a
# Draw, which makes tensors of one dtype.
"""Samples for test_host.py."""

import dataclasses
import itertools
import math
import zlib
from collections.abc import Callable

import torch
import torch.ao.quantization.fx._decomposed

HALF, SINGLE, DOUBLE = torch.float16, torch.float32, torch.float64
FLOATS = [HALF, torch.bfloat16, SINGLE, DOUBLE]
INTS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
COMPLEX = [torch.complex64, torch.complex128]
BOOL = [torch.bool]
REAL = FLOATS + INTS
ANY = REAL + BOOL + COMPLEX
NAN, INF = math.nan, math.inf


@dataclasses.dataclass
class Sample:
    args: tuple
    kwargs: dict
    tolerance: float
    check: Callable | None
    name: str

    def __str__(self):
        return f"{self.name}: {self.args} {self.kwargs}"


class Draw:
    """Random tensors of one dtype."""

    def __init__(self, dtype, seed, special=False):
        self.dtype = dtype
        self.special = special
        self.generator = torch.Generator().manual_seed(seed)

    def __call__(self, *shape, dtype=None, low=-5, high=6, scale=2.0):
        dtype = dtype or self.dtype
        if dtype == torch.bool:
            return torch.rand(shape, generator=self.generator) < 0.5
        if dtype.is_complex or dtype.is_floating_point:
            wide = torch.complex128 if dtype.is_complex else torch.float64
            values = (torch.randn(shape, generator=self.generator, dtype=wide) * scale).to(dtype)
            if self.special and values.numel() > 3 and not dtype.is_complex:
                flat = values.reshape(-1)
                for i, value in enumerate((NAN, INF, -INF, 0.0, -0.0)[: flat.numel() // 2]):
                    flat[(7 * i + 1) % flat.numel()] = value
            return values
        low = 0 if dtype == torch.uint8 else low
        return torch.randint(low, high, shape, generator=self.generator).to(dtype)

    def positive(self, *shape):
        return self(*shape).abs() + torch.tensor(0.5).to(self.dtype) if self.dtype.is_floating_point else self(*shape)

    def divisor(self, *shape):
        values = self(*shape)
        return torch.where(values == 0, torch.ones((), dtype=self.dtype), values)

    def unit(self, *shape):
        return (torch.rand(shape, generator=self.generator, dtype=torch.float64) * 1.8 - 0.9).to(self.dtype)

    def index(self, *shape, below, low=0, dtype=torch.int64):
        return torch.randint(low, below, shape, generator=self.generator).to(dtype)

    def mask(self, *shape):
        return torch.rand(shape, generator=self.generator) < 0.5

    def distinct(self, *shape):
        """No value twice along any dim."""
        count = math.prod(shape)
        values = torch.randperm(count, generator=self.generator) - count // 3
        return values.clamp(-100, 100).to(self.dtype).reshape(shape)


@dataclasses.dataclass
class Calls:
    dtypes: list
    makers: list
    tolerance: float = 1
    check: Callable | None = None
    special: bool = False


CALLS: dict[str, list[Calls]] = {}
REFUSED: dict[str, list] = {}
# Names that PyTorch's operators do not have, or that are the same function as another.
SAME_AS: dict[str, str] = {}


def calls(names, dtypes, *makers, **options):
    for name in names.split():
        CALLS.setdefault(name, []).append(Calls(dtypes, list(makers), **options))


def resolve(name):
    namespace, rest = name.split(".", 1)
    op, _, overload = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace), op)
    return getattr(packet, overload or "default", None) or getattr(packet, packet.overloads()[0])


def samples(name):
    for group in CALLS[name]:
        for dtype, (i, maker), special in itertools.product(
            group.dtypes, enumerate(group.makers), (False, True) if group.special else (False,)
        ):
            draw = Draw(dtype, zlib.crc32(f"{name} {dtype} {i}".encode()), special)
            made = maker(draw)
            for arguments in made if isinstance(made, list) else [made]:
                arguments = arguments if isinstance(arguments, tuple) else (arguments,)
                kwargs = arguments[-1] if isinstance(arguments[-1], dict) else {}
                args = arguments[:-1] if kwargs else arguments
                yield Sample(args, kwargs, group.tolerance, group.check, f"{name} {dtype} #{i}")


def refuses(name, *entries):
    """Arguments, and the results that a program would declare."""
    REFUSED[name] = list(entries)


def refused(name):
    for maker, results in REFUSED[name]:
        args = maker(Draw(SINGLE, 1))
        yield Sample(args if isinstance(args, tuple) else (args,), {}, 1, None, name), results
