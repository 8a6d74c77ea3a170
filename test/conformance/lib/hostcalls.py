# hostcalls.py - Calls of every operation that runs on the host
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# CALLS is the list of what lib/Host's table holds, with samples of arguments made from a
# seed. A maker's arguments are a Draw; it makes tensors of one dtype.
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


# --- element by element ------------------------------------------------------

calls(
    "aten.neg aten.abs aten.sgn aten.square aten.isnan aten.isinf aten.isfinite aten.conj_physical aten.logical_not"
    " aten.positive aten.reciprocal aten.sqrt aten.rsqrt aten.exp aten.sin aten.cos aten.tanh aten.sigmoid aten.angle"
    " aten.log aten.log10 aten.tan aten.sinh aten.cosh aten.asin aten.acos aten.atan aten.asinh aten.acosh aten.atanh",
    REAL + COMPLEX,
    lambda t: t(3, 5),
    lambda t: t(),
    lambda t: t(0, 2),
)
calls(
    "aten.neg aten.abs aten.square aten.isnan aten.isinf aten.isfinite aten.reciprocal aten.sqrt aten.rsqrt aten.exp"
    " aten.sin aten.cos aten.tanh aten.sigmoid aten.log aten.log10 aten.atan aten.asinh aten.floor aten.ceil aten.trunc"
    " aten.round aten.relu aten.sign aten.signbit aten.isposinf aten.isneginf aten.logical_not aten.angle aten.exp2"
    " aten.expm1 aten.log1p aten.log2 aten.erf aten.erfc aten.silu aten.gelu aten.frac aten.nan_to_num aten.hardtanh",
    FLOATS,
    lambda t: t(4, 9),
    special=True,
)
calls(
    "aten.floor aten.ceil aten.trunc aten.fix aten.round aten.sign aten.signbit aten.relu aten.relu6 aten.exp2"
    " aten.expm1 aten.log1p aten.log2 aten.erf aten.erfc aten.lgamma aten.sinc aten.deg2rad aten.rad2deg"
    " aten.isposinf aten.isneginf aten.nan_to_num",
    REAL,
    lambda t: t(3, 5),
    lambda t: t(2, 1, 3),
    tolerance=2,
)
calls("aten.frac aten.hardshrink aten.softshrink aten.hardsigmoid aten.hardswish", FLOATS, lambda t: t(3, 5))
calls("aten.round.decimals", FLOATS, lambda t: (t(3, 5), {"decimals": 2}), lambda t: (t(3) * 100, {"decimals": -1}))
calls("aten.nan_to_num", FLOATS, lambda t: (t(3, 5), 1.5, 2.5, -2.5), special=True)
calls("aten.logit", FLOATS, lambda t: (t.unit(3, 4).abs(), 0.2), lambda t: t.unit(3).abs() + 0.05)
calls("aten.bitwise_not", INTS + BOOL, lambda t: t(7))
calls("aten.real aten.imag aten._conj aten.conj aten.resolve_conj aten.resolve_neg", COMPLEX, lambda t: t(3, 2))
calls(
    "aten.silu aten.mish aten.log_sigmoid aten.selu aten.gelu aten.elu aten.celu aten.leaky_relu aten.hardtanh"
    " aten.softplus aten.dropout",
    FLOATS,
    lambda t: (t(3, 5), 0.5, False) if False else t(3, 5),
    lambda t: t(),
    lambda t: t(2, 0),
)
calls("aten.gelu", FLOATS, lambda t: (t(3, 5), {"approximate": "tanh"}))
calls("aten.elu", FLOATS, lambda t: (t(3, 5), 0.7, 1.3, 0.8))
calls("aten.celu aten.leaky_relu aten.hardshrink aten.softshrink", FLOATS, lambda t: (t(3, 5), 0.7))
calls("aten.hardtanh aten.threshold", FLOATS, lambda t: (t(3, 5), -0.7, 1.1))
calls("aten.softplus", FLOATS, lambda t: (t(3, 5), 0.7, 1.5))
calls("aten.glu", FLOATS, lambda t: t(3, 6), lambda t: (t(4, 3), 0))
calls("aten.prelu aten._prelu_kernel", FLOATS, lambda t: (t(2, 3, 4), t(1)))
calls("aten.prelu", FLOATS, lambda t: (t(2, 3, 4), t(3)), lambda t: (t(3), t(1)))
calls("aten.rrelu_with_noise_functional", [SINGLE, DOUBLE], lambda t: (t(3, 5), t(3, 5)))
calls("aten.dropout aten.native_dropout", FLOATS, lambda t: (t(3, 5), 0.5, False))

PAIRS = [
    lambda t: (t(3, 4), t(3, 4)),
    lambda t: (t(3, 1), t(4)),
    lambda t: (t(2, 1, 3), t(4, 1)),
    lambda t: (t(), t(2)),
    lambda t: (t(0, 3), t(1, 3)),
]
MIXED = [
    lambda t: (t(3, 4), t(4, dtype=torch.int32)),
    lambda t: (t(3, 4), t(dtype=DOUBLE)),
    lambda t: (t(3, 4), t(4, dtype=SINGLE)),
    lambda t: (t(4, dtype=torch.int16), t(3, 4)),
    lambda t: (t(4, dtype=torch.bool), t(3, 1)),
]
calls("aten.add.Tensor aten.sub.Tensor aten.rsub.Tensor", ANY, *PAIRS, *MIXED, lambda t: (t(3), t(3), {"alpha": 2}))
calls("aten.add.Tensor aten.sub.Tensor", FLOATS, lambda t: (t(3), t(3), {"alpha": 0.3}))
calls("aten.mul.Tensor aten.div.Tensor aten.eq.Tensor aten.ne.Tensor", ANY, *PAIRS, *MIXED)
calls("aten.logical_and aten.logical_or aten.logical_xor", ANY, *PAIRS, *MIXED)
calls(
    "aten.lt.Tensor aten.le.Tensor aten.gt.Tensor aten.ge.Tensor aten.minimum aten.maximum aten.fmin aten.fmax",
    REAL + BOOL,
    *PAIRS,
    *MIXED,
    special=True,
)
calls("aten.add.Tensor aten.mul.Tensor aten.div.Tensor aten.eq.Tensor", FLOATS, *PAIRS, special=True)
SCALARS = [lambda t, s=s: (t(3, 4), s) for s in (2, -1, 0.3, True)]
calls("aten.add.Scalar aten.sub.Scalar aten.mul.Scalar aten.div.Scalar aten.eq.Scalar aten.ne.Scalar", ANY, *SCALARS)
calls("aten.rsub.Scalar", REAL + COMPLEX, *SCALARS)
calls("aten.lt.Scalar aten.le.Scalar aten.gt.Scalar aten.ge.Scalar", REAL + BOOL, *SCALARS)
DIVISIONS = [
    lambda t: (t(3, 4), t.divisor(3, 4)),
    lambda t: (t(3, 1), t.divisor(4)),
    lambda t: (t(5), t.divisor()),
]
calls("aten.floor_divide aten.remainder.Tensor aten.fmod.Tensor", REAL, *DIVISIONS)
calls(
    "aten.floor_divide.Scalar aten.remainder.Scalar aten.fmod.Scalar",
    REAL,
    *[lambda t, s=s: (t(9), s) for s in (3, -2, 0.7)],
)
calls("aten.remainder.Scalar_Tensor", REAL, lambda t: (7, t.divisor(5)))
calls(
    "aten.div.Tensor_mode",
    REAL,
    *[lambda t, m=m: (t(3, 4), t.divisor(4), {"rounding_mode": m}) for m in (None, "floor", "trunc")],
)
calls(
    "aten.div.Scalar_mode", REAL, *[lambda t, m=m: (t(9), -3, {"rounding_mode": m}) for m in (None, "floor", "trunc")]
)
calls("aten.floor_divide aten.remainder.Tensor aten.fmod.Tensor", FLOATS, lambda t: (t(9), t(9)), special=True)
calls(
    "aten.pow.Tensor_Tensor",
    REAL + COMPLEX,
    lambda t: (t(3, 4), t(4, low=0, high=4)),
    lambda t: (t.positive(3), t(3)),
    tolerance=4,
)
calls("aten.pow.Tensor_Scalar", REAL + COMPLEX, *[lambda t, s=s: (t(3, 4), s) for s in (2, 3, 0, 0.5, -1)], tolerance=4)
calls("aten.pow.Scalar", REAL, lambda t: (2, t(5, low=0)), lambda t: (1.5, t(5)), tolerance=4)
calls("aten.atan2 aten.hypot aten.copysign.Tensor", FLOATS, *PAIRS, special=True)
calls("aten.xlogy.Tensor aten.logaddexp aten.logaddexp2", FLOATS, *PAIRS, special=True)
calls("aten.atan2 aten.xlogy.Tensor aten.copysign.Tensor", INTS, PAIRS[0])
calls("aten.copysign.Scalar aten.xlogy.Scalar_Other", REAL, lambda t: (t(5), -1.5), lambda t: (t(5), 2))
calls("aten.xlogy.Scalar_Self", REAL, lambda t: (2, t.positive(5)), lambda t: (0, t(5)))
calls("aten.heaviside", REAL, *PAIRS)
calls("aten.gcd aten.lcm", INTS, *PAIRS)
calls("aten.complex aten.polar", [SINGLE, DOUBLE], lambda t: (t(3, 4), t(3, 4)), lambda t: (t(3, 1), t(4)))
calls("aten.isclose", REAL, *PAIRS, lambda t: (t(4), t(4), 0.5, 0.1, True), special=True)
calls("aten.bitwise_and.Tensor aten.bitwise_or.Tensor aten.bitwise_xor.Tensor", INTS + BOOL, *PAIRS)
calls("aten.__and__.Tensor aten.__or__.Tensor aten.__xor__.Tensor", INTS + BOOL, *PAIRS)
calls("aten.bitwise_and.Scalar aten.bitwise_or.Scalar aten.bitwise_xor.Scalar", INTS, lambda t: (t(7), 5))
SHIFTS = [lambda t: (t(3, 4), t(3, 4, low=0, high=6)), lambda t: (t(3, 1), t(4, low=0, high=3))]
calls("aten.bitwise_left_shift.Tensor aten.bitwise_right_shift.Tensor", INTS, *SHIFTS)
calls("aten.__lshift__.Tensor aten.__rshift__.Tensor", INTS, *SHIFTS)
calls("aten.bitwise_left_shift.Tensor_Scalar aten.bitwise_right_shift.Tensor_Scalar", INTS, lambda t: (t(7), 2))
calls("aten.__lshift__.Scalar aten.__rshift__.Scalar", INTS, lambda t: (t(7), 2))
calls(
    "aten.bitwise_left_shift.Tensor aten.bitwise_right_shift.Tensor",
    INTS,
    lambda t: (t(12), t.index(12, below=70, dtype=t.dtype)),
)
calls("aten.addcmul", REAL + COMPLEX, lambda t: (t(3, 4), t(4), t(3, 1), {"value": 2}), lambda t: (t(3), t(3), t(3)))
calls("aten.addcdiv", FLOATS + COMPLEX, lambda t: (t(3, 4), t(4), t.divisor(3, 1), {"value": 0.5}))
calls("aten.lerp.Scalar", FLOATS, lambda t: (t(3, 4), t(4), 0.3), lambda t: (t(3, 4), t(4), 0.8))
calls("aten.lerp.Tensor", FLOATS, lambda t: (t(3, 4), t(4), t.unit(3, 1)))
calls(
    "aten.where.self",
    ANY,
    lambda t: (t.mask(3, 4), t(4), t(3, 1)),
    lambda t: (t.mask(), t(2), t(2)),
    lambda t: (t.mask(2), t(2), t(dtype=DOUBLE)),
)
calls("aten.where.ScalarOther", REAL, lambda t: (t.mask(3, 4), t(4), 2), lambda t: (t.mask(3), t(3), 0.5))
calls("aten.where.ScalarSelf", REAL, lambda t: (t.mask(3, 4), 2, t(4)))
calls("aten.where.Scalar", [SINGLE], lambda t: (t.mask(3, 4), 2, 3), lambda t: (t.mask(3, 4), 2.5, 3.0))
calls("aten.masked_fill.Scalar", ANY, lambda t: (t(3, 4), t.mask(4), 1))
calls("aten.masked_fill.Scalar", FLOATS, lambda t: (t(3, 4), t.mask(3, 1), -INF))
calls("aten.masked_fill.Tensor", ANY, lambda t: (t(3, 4), t.mask(3, 4), t()))
calls(
    "aten.clamp aten.clip",
    REAL,
    *[lambda t, b=b: (t(3, 4), *b) for b in ((-1, 2), (None, 1), (0, None), (2, -1), (-0.5, 0.5), (-0.5, None))],
    special=True,
)
calls(
    "aten.clamp.Tensor aten.clip.Tensor",
    REAL,
    lambda t: (t(3, 4), t(4), t(3, 1)),
    lambda t: (t(3, 4), None, t(4)),
    lambda t: (t(3, 4), t()),
    special=True,
)
calls("aten.clamp_min aten.clamp_max", REAL, lambda t: (t(3, 4), 1), lambda t: (t(3, 4), -0.5))
calls("aten.clamp_min.Tensor aten.clamp_max.Tensor", REAL, lambda t: (t(3, 4), t(4)), special=True)

# --- creation ----------------------------------------------------------------

LIKE = [lambda t: t(3, 4), lambda t: t(), lambda t: t(0, 2)]
calls("aten.zeros_like aten.ones_like aten.zero", ANY, *LIKE)
calls("aten.full_like aten.fill.Scalar", ANY, lambda t: (t(3, 4), 2), lambda t: (t(2), True))
calls("aten.full_like aten.fill.Scalar", FLOATS, lambda t: (t(3, 4), 0.1), lambda t: (t(2), -INF))
calls("aten.fill.Tensor", ANY, lambda t: (t(3, 4), t()))
calls("aten.new_zeros aten.new_ones", ANY, lambda t: (t(2), [3, 4]))
calls("aten.new_full", ANY, lambda t: (t(2), [3, 4], 1))
calls("aten.zeros aten.ones", ANY, lambda t: ([2, 3], {"dtype": t.dtype}))
calls("aten.full", ANY, lambda t: ([2, 3], 1, {"dtype": t.dtype}))
calls("aten.scalar_tensor", ANY, lambda t: (1, {"dtype": t.dtype}))
calls("aten.scalar_tensor", FLOATS, lambda t: (0.1, {"dtype": t.dtype}))
calls("aten.arange", REAL, lambda t: (7, {"dtype": t.dtype}))
calls("aten.arange.start", REAL, lambda t: (2, 9, {"dtype": t.dtype}))
calls(
    "aten.arange.start_step",
    REAL,
    lambda t: (2, 9, 3, {"dtype": t.dtype}),
    lambda t: (9, 1, -2, {"dtype": t.dtype}) if t.dtype != torch.uint8 else (1, 2, 1),
)
calls("aten.arange.start_step", FLOATS, lambda t: (0.5, 3, 0.25, {"dtype": t.dtype}))
calls(
    "prims.iota",
    [torch.int64, torch.int32],
    lambda t: (5, {"start": 2, "step": 3, "dtype": t.dtype, "device": torch.device("cpu"), "requires_grad": False}),
)
calls(
    "aten.linspace",
    FLOATS,
    lambda t: (0, 1, 7, {"dtype": t.dtype}),
    lambda t: (-1.5, 2.5, 4, {"dtype": t.dtype}),
    lambda t: (3, 4, 1, {"dtype": t.dtype}),
)
calls("aten.eye", ANY, lambda t: (3, {"dtype": t.dtype}))
calls("aten.eye.m", ANY, lambda t: (3, 5, {"dtype": t.dtype}))
calls("aten.tril_indices aten.triu_indices", [torch.int64], lambda t: (3, 4), lambda t: (4, 3, 1), lambda t: (4, 3, -1))

# --- movement ----------------------------------------------------------------

calls("aten.clone aten.detach aten.alias aten.contiguous aten.lift_fresh_copy aten.squeeze aten.ravel aten.atleast_1d"
      " aten.atleast_2d aten.atleast_3d aten.numpy_T", ANY, lambda t: t(3, 1, 4), lambda t: t(), lambda t: t(0, 2))  # fmt: skip
CASTS = [lambda t, d=d: (t(3, 4), d) for d in ANY]
calls("prims.convert_element_type", REAL + BOOL, *CASTS)
calls("aten.to.dtype", ANY, *[lambda t, d=d: (t(3, 4), d) for d in ANY + [torch.float8_e4m3fn, torch.float8_e5m2]])
calls("aten.to.dtype", FLOATS, lambda t: (t(9) * 300, torch.float8_e4m3fn), lambda t: (t(9) * 1e-3, torch.float8_e5m2fnuz), lambda t: (t(9) * 1e-3, torch.float8_e4m3fnuz), special=True)  # fmt: skip
calls("aten._to_copy", ANY, lambda t: (t(3, 4), {"dtype": torch.float32}))
calls("aten.to.dtype_layout", ANY, lambda t: (t(3, 4), {"dtype": torch.float32}))
calls("aten.to.other aten.type_as", ANY, lambda t: (t(3, 4), t(2, dtype=torch.float64)))
calls("aten.to.device", ANY, lambda t: (t(3, 4), torch.device("cpu"), torch.float32))
calls(
    "aten.view aten.reshape aten._unsafe_view aten.view_copy aten._reshape_copy",
    ANY,
    lambda t: (t(3, 4), [2, 6]),
    lambda t: (t(3, 4), [-1]),
)
calls("aten._reshape_alias", ANY, lambda t: (t(3, 4), [2, 6], [6, 1]))
calls("aten.view_as aten.reshape_as", ANY, lambda t: (t(3, 4), t(2, 6)))
calls("aten.unsqueeze aten.squeeze.dim", ANY, lambda t: (t(3, 1), 1), lambda t: (t(3, 1), -1))
calls("aten.squeeze.dims prims.squeeze", ANY, lambda t: (t(1, 3, 1), [0, 2]))
calls("aten.flatten.using_ints", ANY, lambda t: (t(2, 3, 4), 1, -1))
calls("aten.unflatten.int", ANY, lambda t: (t(2, 12), 1, [3, 4]))
calls("prims.collapse", ANY, lambda t: (t(2, 3, 4), 0, 1))
calls("prims.split_dim", ANY, lambda t: (t(2, 12), 1, 3))
calls("prims.view_of", ANY, lambda t: t(3, 4))
calls("aten.permute", ANY, lambda t: (t(2, 3, 4), [2, 0, 1]), lambda t: (t(2, 3, 4), [-1, 1, 0]), lambda t: (t(), []))
calls("aten.transpose.int aten.swapaxes aten.swapdims", ANY, lambda t: (t(2, 3, 4), 0, -1), lambda t: (t(), 0, -1))
calls("aten.t", ANY, lambda t: t(2, 3), lambda t: t(3))
calls("aten.mT", ANY, lambda t: t(2, 3, 4))
calls("aten.movedim.int", ANY, lambda t: (t(2, 3, 4), 0, -1))
calls("aten.movedim.intlist", ANY, lambda t: (t(2, 3, 4, 5), [0, 2], [-1, 0]))
calls("aten.pixel_shuffle", REAL, lambda t: (t(2, 12, 3, 4), 2))
calls("aten.pixel_unshuffle", REAL, lambda t: (t(2, 3, 6, 4), 2))
calls("aten.expand aten.broadcast_to", ANY, lambda t: (t(3, 1), [2, 3, 4]), lambda t: (t(), [3]))
calls("aten.expand", ANY, lambda t: (t(3, 1), [-1, 4]))
calls("aten.expand_as", ANY, lambda t: (t(3, 1), t(2, 3, 4)))
calls("aten.repeat", ANY, lambda t: (t(2, 3), [2, 1, 3]), lambda t: (t(2, 3), [0, 2]))
calls("aten.tile", ANY, lambda t: (t(2, 3), [2]))
calls(
    "aten.repeat_interleave.self_int",
    ANY,
    lambda t: (t(2, 3), 2),
    lambda t: (t(2, 3), 3, 1),
    lambda t: (t(2, 3), 0, -1),
)
calls(
    "aten.slice.Tensor",
    ANY,
    *[lambda t, a=a: (t(5, 6), *a) for a in ((0, 1, 4), (1, -4, 99, 2), (-1, 3, 1), (0, None, -2), (1, -99, None, 3))],
)
calls("aten.narrow", ANY, lambda t: (t(5, 6), 1, 2, 3), lambda t: (t(5, 6), 0, -2, 2))
calls("aten.select.int", ANY, lambda t: (t(5, 6), 0, 2), lambda t: (t(5, 6), -1, -1))
calls(
    "aten.diagonal",
    ANY,
    lambda t: t(4, 5),
    lambda t: (t(2, 3, 4), 1, -1, 0),
    lambda t: (t(4, 3), -2),
    lambda t: (t(2, 2), 5),
)
calls("aten.diag_embed", ANY, lambda t: t(2, 3), lambda t: (t(2, 3), 1), lambda t: (t(2, 3), -2, 0, 2))
calls("aten.as_strided", ANY, lambda t: (t(4, 5), [2, 3], [3, 2]), lambda t: (t(4, 5), [2, 2, 2], [0, 5, 1], 4))
calls("aten.flip", ANY, lambda t: (t(2, 3, 4), [0, -1]), lambda t: (t(2, 3), []))
calls("aten.roll", ANY, lambda t: (t(3, 4), [2]), lambda t: (t(3, 4), [1, -6], [0, 1]))
calls("aten.unfold", ANY, lambda t: (t(7, 3), 0, 3, 2), lambda t: (t(3, 7), -1, 2, 1))
calls("aten.tril aten.triu", ANY, lambda t: t(3, 4), lambda t: (t(2, 4, 3), 1), lambda t: (t(4, 4), -2))
calls(
    "aten.cat aten.concat",
    ANY,
    lambda t: ([t(2, 3), t(4, 3)],),
    lambda t: ([t(2, 3), t(2, 1)], -1),
    lambda t: ([t(0), t(2, 3)], 1),
)
calls("aten.cat", REAL, lambda t: ([t(2), t(3, dtype=torch.float64)],))
calls("aten.split.Tensor aten.unsafe_split.Tensor", ANY, lambda t: (t(7, 3), 3), lambda t: (t(3, 4), 2, -1))
calls("aten.split_with_sizes aten.split.sizes", ANY, lambda t: (t(7, 3), [2, 0, 5]), lambda t: (t(3, 4), [1, 3], 1))
calls("aten.chunk aten.tensor_split.sections", ANY, lambda t: (t(7, 3), 3), lambda t: (t(3, 4), 2, -1))
calls("aten.unbind.int", ANY, lambda t: t(3, 4), lambda t: (t(3, 4), -1))
calls("aten.stack", ANY, lambda t: ([t(2, 3), t(2, 3)],), lambda t: ([t(2, 3), t(2, 3)], -1), lambda t: ([t(), t()],))
calls(
    "aten.constant_pad_nd",
    ANY,
    lambda t: (t(2, 3), [1, 2], 3),
    lambda t: (t(3, 4), [-1, 1, 2, -1]),
    lambda t: (t(2, 3), [0, 0]),
)
calls(
    "aten.reflection_pad1d aten.replication_pad1d", FLOATS, lambda t: (t(2, 5), [2, 1]), lambda t: (t(1, 2, 5), [-1, 3])
)
calls("aten.reflection_pad2d aten.replication_pad2d", FLOATS, lambda t: (t(2, 4, 5), [2, 1, 0, 3]))
calls("aten.reflection_pad3d aten.replication_pad3d", FLOATS, lambda t: (t(1, 2, 3, 4, 5), [2, 1, 0, 3, 1, 1]))
calls(
    "aten.pad",
    REAL,
    *[lambda t, m=m: (t(1, 2, 4, 5), [2, 1, 0, 3], m) for m in ("reflect", "replicate", "circular", "constant")],
)
calls("aten.pad", REAL, lambda t: (t(4, 5), [2, 1], "constant", 1.0))
calls("aten.copy", ANY, lambda t: (t(3, 4), t(4)), lambda t: (t(3, 4), t(3, 1, dtype=torch.float32)))
calls("aten.view_as_real", COMPLEX, lambda t: t(3, 4))
calls("aten.view_as_complex", [SINGLE, DOUBLE], lambda t: t(3, 4, 2))
calls(
    "aten.view.dtype",
    [SINGLE],
    lambda t: (t(3, 4), torch.int32),
    lambda t: (t(3, 4), torch.float16),
    lambda t: (t(3, 4), torch.uint8),
)
calls("aten.view.dtype", [torch.int32], lambda t: (t(3, 4), torch.float32), lambda t: (t(3, 4), torch.int64))

# --- reductions --------------------------------------------------------------

WHOLE = [lambda t: t(3, 4), lambda t: t(), lambda t: t(0, 2)]
DIMS = [lambda t, a=a: (t(2, 3, 4), *a) for a in (([1],), ([0, -1], True), ([-2], False), ([],), (None, True))] + [
    lambda t: (t(2, 0), [1]),
    lambda t: (t(), [0]),
]
DIM = [lambda t, a=a: (t(2, 3, 4), *a) for a in ((1,), (-1, True), (0, False))] + [
    lambda t: (t(), 0),
    lambda t: (t(2, 0), 1),
]
calls("aten.sum", ANY, *WHOLE, lambda t: (t(3, 4), {"dtype": torch.float64}), special=True)
calls("aten.sum.dim_IntList", ANY, *DIMS, special=True)
calls("aten.sum.dim_IntList", REAL, lambda t: (t(3, 4), [0], {"dtype": torch.int32}))
calls("prims.sum", [SINGLE, torch.int64], lambda t: (t(2, 3, 4), [1, 2]))
calls("aten.nansum", REAL, *DIMS, special=True)
calls("aten.mean", FLOATS + COMPLEX, *WHOLE, special=True)
calls("aten.mean", INTS, lambda t: (t(3, 4), {"dtype": torch.float32}))
calls("aten.mean.dim", FLOATS + COMPLEX, *DIMS, special=True)
calls("aten.prod", ANY, *WHOLE, tolerance=3)
calls("aten.prod.dim_int", ANY, *DIM, tolerance=3)
calls("aten.amax aten.amin", REAL + BOOL, *DIMS, special=True)
calls("prims.amax prims.amin", REAL, lambda t: (t(2, 3, 4), [1, 2]))
calls("aten.max aten.min", REAL + BOOL, *WHOLE, special=True)
calls("aten.max.dim aten.min.dim", REAL + BOOL, *DIM, special=True)
calls("aten.argmax aten.argmin", REAL, *WHOLE, *DIM, lambda t: (t(3, 4), None, True), special=True)
calls(
    "aten.aminmax",
    REAL,
    lambda t: (t(3, 4), {"dim": 1}),
    lambda t: (t(3, 4), {"dim": 0, "keepdim": True}),
    lambda t: t(5),
    special=True,
)
calls("aten.any aten.all", ANY, *WHOLE, special=True)
calls("aten.any.dim aten.all.dim", ANY, *DIM)
calls("aten.any.dims aten.all.dims", ANY, *DIMS)
calls("aten.count_nonzero", ANY, lambda t: (t(3, 4), None), lambda t: (t(3, 4), 1))
calls("aten.count_nonzero.dim_IntList", ANY, lambda t: (t(2, 3, 4), [0, -1]))
calls(
    "aten.equal",
    ANY,
    lambda t: (t(2), t(2)),
    lambda t: (t.mask(3).to(t.dtype) * 0, t.mask(3).to(t.dtype) * 0),
    lambda t: (t(2), t(3)),
)
calls(
    "aten.var aten.std aten.var_mean aten.std_mean",
    FLOATS + COMPLEX,
    lambda t: t(3, 4),
    lambda t: (t(3, 4), False),
    lambda t: t(1),
    special=True,
)
calls(
    "aten.var.dim aten.std.dim aten.var_mean.dim aten.std_mean.dim",
    FLOATS,
    lambda t: (t(2, 3, 4), [1]),
    lambda t: (t(2, 3, 4), [0, -1], False, True),
    lambda t: (t(2, 3), None, True),
)
calls(
    "aten.var.correction aten.std.correction aten.var_mean.correction aten.std_mean.correction",
    FLOATS,
    lambda t: (t(2, 3, 4), [1]),
    lambda t: (t(2, 3, 4), None, {"correction": 0, "keepdim": True}),
    lambda t: (t(2, 3, 4), [0, 2], {"correction": 2.5}),
    lambda t: (t(2, 3), [0], {"correction": 3}),
)
calls("prims.var", [SINGLE, DOUBLE], lambda t: (t(2, 3, 4), [1], 1))
ORDERS = (2, 1, 0, INF, -INF, 3, 0.5, -1)
calls(
    "aten.linalg_vector_norm",
    FLOATS + COMPLEX,
    *[lambda t, o=o: (t(3, 4), o, [1]) for o in ORDERS],
    lambda t: t(2, 3),
    lambda t: (t(2, 3), 2, None, True),
    special=True,
)
calls(
    "aten.norm.ScalarOpt_dim",
    FLOATS,
    *[lambda t, o=o: (t(3, 4), o, [1]) for o in ORDERS],
    lambda t: (t(3, 4), None, [0, 1], True),
)
calls("aten.norm.ScalarOpt_dim_dtype", [HALF], lambda t: (t(3, 4), 2, [1], False, {"dtype": SINGLE}))
calls("aten.norm.Scalar", FLOATS, lambda t: (t(3, 4), 3), lambda t: t(5))
calls("aten.norm.ScalarOpt_dtype", [HALF], lambda t: (t(3, 4), 2, {"dtype": SINGLE}))
calls("aten.frobenius_norm.dim", FLOATS, lambda t: (t(3, 4), [0, 1], True))
calls("aten.logsumexp", FLOATS, *DIMS, special=True)
calls("aten.trace", ANY, lambda t: t(3, 4), lambda t: t(0, 2))
calls(
    "aten.cumsum aten.cumprod",
    ANY,
    *[lambda t, d=d: (t(3, 4), d) for d in (0, -1)],
    lambda t: (t(), 0),
    lambda t: (t(2, 0), 1),
    tolerance=3,
)
calls("aten.cumsum", REAL, lambda t: (t(3, 4), 0, {"dtype": torch.int64}), lambda t: (t(3, 4), 0, {"dtype": DOUBLE}))
calls("aten.cummax aten.cummin", REAL + BOOL, *[lambda t, d=d: (t(4, 5), d) for d in (0, -1)], special=True)
calls("aten.logcumsumexp", FLOATS, *[lambda t, d=d: (t(4, 5), d) for d in (0, -1)], special=True)

# --- order -------------------------------------------------------------------


def first_only(i, wanted, got):
    """Which of equal elements comes first is left open."""
    if i == 0:
        torch.testing.assert_close(got, wanted, rtol=0, atol=0, equal_nan=True)


calls(
    "aten.sort aten.argsort",
    REAL,
    *[lambda t, a=a: (t.distinct(3, 5), *a) for a in ((), (0,), (-1, True))],
    lambda t: t(),
    lambda t: t(3, 0),
)
calls("aten.sort", REAL + BOOL, lambda t: t(4, 9), lambda t: (t(9, 4), 0, True), check=first_only, special=True)
calls(
    "aten.sort.stable aten.argsort.stable",
    REAL + BOOL,
    *[lambda t, d=d: (t(4, 9), {"stable": True, "dim": 1, "descending": d}) for d in (False, True)],
    special=True,
)
calls(
    "aten.topk",
    REAL,
    *[lambda t, a=a: (t.distinct(3, 7), *a) for a in ((3,), (2, 0), (7, -1, False), (0,))],
    lambda t: (t(), 1),
)
calls("aten.topk", FLOATS, lambda t: (t(3, 9), 4), lambda t: (t(3, 9), 4, -1, False), check=first_only, special=True)
calls("aten.kthvalue", REAL, *[lambda t, a=a: (t.distinct(3, 7), *a) for a in ((3,), (2, 0), (7, -1, True))])
calls("aten.median", REAL, lambda t: t.distinct(3, 4), lambda t: t(7), special=True)
calls("aten.median.dim", REAL, lambda t: (t.distinct(3, 4), 1), lambda t: (t.distinct(3, 5), 0, True))
calls(
    "aten.searchsorted.Tensor",
    REAL,
    lambda t: (t(7).sort().values, t(3, 4)),
    lambda t: (t(3, 7).sort().values, t(3, 4), {"right": True}),
    lambda t: (t(7).sort().values, t(5), {"out_int32": True, "side": "right"}),
)
calls("aten.searchsorted.Scalar", REAL, lambda t: (t(7).sort().values, 2))
calls(
    "aten.bucketize.Tensor",
    REAL,
    lambda t: (t(3, 4), t(5).sort().values),
    lambda t: (t(3), t(5).sort().values, {"right": True}),
)
calls("aten.bucketize.Scalar", REAL, lambda t: (2, t(5).sort().values))
calls("aten.isin.Tensor_Tensor", REAL, lambda t: (t(3, 4), t(5)), lambda t: (t(3, 4), t(2), {"invert": True}))
calls("aten.isin.Tensor_Scalar", REAL, lambda t: (t(3, 4), 1))
calls("aten.isin.Scalar_Tensor", REAL, lambda t: (1, t(3, 4)))

# --- indices -----------------------------------------------------------------

INDICES = [
    lambda t: (t(5, 6), [t.index(4, low=-5, below=5)]),
    lambda t: (t(5, 6), [None, t.index(2, 3, low=-6, below=6)]),
    lambda t: (t(5, 6), [t.index(3, 1, below=5), t.index(4, below=6, dtype=torch.int32)]),
    lambda t: (t(3, 4, 5), [t.index(2, below=3), None, t.index(2, below=5)]),
    lambda t: (t(3, 4, 5), [None, t.index(2, below=4), t.index(2, below=5)]),
    lambda t: (t(3, 4), [t.mask(3, 4)]),
    lambda t: (t(3, 4), [t.mask(3), None]),
    lambda t: (t(3, 4), [t.index(below=3)]),
    lambda t: (t(3, 4), [t.index(0, below=3)]),
]
calls("aten.index.Tensor aten._unsafe_index.Tensor", ANY, *INDICES)
calls("aten.index.Tensor_hacked_twin aten._unsafe_index.Tensor_hacked_twin", REAL, INDICES[0], INDICES[2])


def put(maker, values, *more):
    def make(t):
        target, indices = maker(t)
        shape = torch.ops.aten.index.Tensor(target, indices).shape
        return (target, indices, t(*shape[values:]) if values is not None else t(), *more)

    return make


def unique_put(t):
    return (t(5, 6), [torch.tensor([3, 0, -1])], t(3, 6))


calls(
    "aten.index_put aten._unsafe_index_put",
    ANY,
    unique_put,
    lambda t: (t(3, 4), [t.mask(3, 4)], t()),
    lambda t: (t(3, 4), [None, torch.tensor([1, 3])], t(2)),
)
calls("aten.index_put aten._unsafe_index_put", ANY, *[put(m, v, True) for m in INDICES for v in (0, None)], tolerance=3)
calls("aten.index_put.hacked_twin aten._unsafe_index_put.hacked_twin", REAL, unique_put)
calls("aten._index_put_impl", REAL, lambda t: (*unique_put(t), True))
calls(
    "aten.index_select",
    ANY,
    lambda t: (t(5, 6), 0, t.index(4, below=5)),
    lambda t: (t(5, 6), -1, t.index(below=6)),
    lambda t: (t(), 0, t.index(1, below=1)),
)
calls(
    "aten.gather",
    ANY,
    lambda t: (t(5, 6), 0, t.index(2, 6, below=5)),
    lambda t: (t(5, 6), -1, t.index(3, 9, below=6)),
    lambda t: (t(), 0, t.index(below=1)),
    lambda t: (t(3, 2), 0, t.index(0, 2, below=2)),
)
SCATTER = [
    lambda t: (t(5, 6), 0, torch.tensor([[4, 0, 2], [1, 3, 0]])),
    lambda t: (t(5, 6), 1, torch.tensor([[5, 0], [2, 1]])),
]


def scatter(*more, value=None):
    def source(t, index):
        return t(index.shape[0] + 1, index.shape[1]) if value is None else value

    return [lambda t, m=m: (*(a := m(t)), source(t, a[2]), *more) for m in SCATTER]


calls("aten.scatter.src", ANY, *scatter())
calls("aten.scatter.value", ANY, *scatter(value=1))
calls("aten.scatter_add", ANY, *scatter(), lambda t: (t(5), 0, t.index(9, below=5), t(9)), tolerance=3)
calls("aten.scatter.reduce", REAL, *scatter({"reduce": "add"}), *scatter({"reduce": "multiply"}), tolerance=3)
calls(
    "aten.scatter.value_reduce",
    REAL,
    *scatter({"reduce": "add"}, value=2),
    *scatter({"reduce": "multiply"}, value=2),
    tolerance=3,
)
for how, include in itertools.product(("sum", "prod", "mean", "amax", "amin"), (True, False)):
    calls(
        "aten.scatter_reduce.two",
        REAL,
        lambda t, h=how, i=include: (t(4, 3), 0, t.index(9, 3, below=4), t(9, 3), h, {"include_self": i}),
        tolerance=8,
    )
calls(
    "aten.index_add",
    ANY,
    lambda t: (t(5, 6), 0, t.index(4, below=5), t(4, 6)),
    lambda t: (t(5, 6), 1, t.index(2, below=6), t(5, 2), {"alpha": 2}),
    tolerance=3,
)
calls("aten.index_copy", ANY, lambda t: (t(5, 6), 0, torch.tensor([3, 0]), t(2, 6)))
calls("aten.index_fill.int_Scalar", ANY, lambda t: (t(5, 6), 0, t.index(3, below=5), 1))
calls("aten.index_fill.int_Tensor", ANY, lambda t: (t(5, 6), 1, t.index(3, below=5), t()))
calls(
    "aten.embedding",
    FLOATS,
    lambda t: (t(7, 3), t.index(2, 4, below=7)),
    lambda t: (t(7, 3), t.index(5, below=7, dtype=torch.int32), 2),
)
calls("aten.take", ANY, lambda t: (t(3, 4), t.index(2, 3, low=-12, below=12)))
calls("aten.masked_scatter", ANY, lambda t: (t(3, 4), t.mask(3, 4), t(12)), lambda t: (t(3, 4), t.mask(4), t(4, 4)))
calls("aten.slice_scatter", ANY, lambda t: (t(5, 6), t(2, 6), 0, 1, 3), lambda t: (t(5, 6), t(5, 2), 1, -5, 99, 3))
calls("aten.select_scatter", ANY, lambda t: (t(5, 6), t(6), 0, -1), lambda t: (t(5, 6), t(5), -1, 2))
calls("aten.diagonal_scatter", ANY, lambda t: (t(4, 5), t(4)), lambda t: (t(2, 3, 4), t(3, 2), 1, 2, 0))

# --- contractions ------------------------------------------------------------

NUMBERS = REAL + COMPLEX
calls(
    "aten.mm",
    NUMBERS,
    lambda t: (t(3, 4), t(4, 5)),
    lambda t: (t(3, 0), t(0, 5)),
    lambda t: (t(17, 33), t(33, 5)),
    tolerance=4,
)
calls("aten._int_mm", [torch.int8], lambda t: (t(32, 16), t(16, 8)))
calls("aten.bmm", NUMBERS, lambda t: (t(2, 3, 4), t(2, 4, 5)), tolerance=4)
calls("aten.mv", NUMBERS, lambda t: (t(3, 4), t(4)), tolerance=4)
calls("aten.dot", NUMBERS, lambda t: (t(4), t(4)), tolerance=4)
calls(
    "aten.matmul",
    NUMBERS,
    *[
        lambda t, a=a, b=b: (t(*a), t(*b))
        for a, b in (((4,), (4,)), ((3, 4), (4,)), ((4,), (2, 4, 3)), ((2, 1, 3, 4), (5, 4, 2)), ((2, 3, 4), (4, 5)))
    ],
    tolerance=4,
)
calls(
    "aten.linear",
    FLOATS,
    lambda t: (t(2, 3, 4), t(5, 4)),
    lambda t: (t(3, 4), t(5, 4), t(5)),
    lambda t: (t(4), t(5, 4), t(5)),
    tolerance=4,
)
calls("aten.outer aten.ger", ANY, lambda t: (t(3), t(4)))
calls(
    "aten.addmm",
    NUMBERS,
    lambda t: (t(5), t(3, 4), t(4, 5)),
    lambda t: (t(3, 5), t(3, 4), t(4, 5), {"beta": 2, "alpha": 3}),
    tolerance=8,
)
calls(
    "aten.addmm",
    FLOATS,
    lambda t: (t(3, 1), t(3, 4), t(4, 5), {"beta": 0.5, "alpha": 0.3}),
    lambda t: (t(3, 5) * NAN, t(3, 4), t(4, 5), {"beta": 0}),
    tolerance=8,
)
calls("aten.baddbmm", NUMBERS, lambda t: (t(2, 3, 5), t(2, 3, 4), t(2, 4, 5), {"beta": 2, "alpha": 3}), tolerance=8)
calls("aten.addbmm", NUMBERS, lambda t: (t(3, 5), t(2, 3, 4), t(2, 4, 5), {"beta": 2, "alpha": 3}), tolerance=16)
calls(
    "aten.addmv",
    NUMBERS,
    lambda t: (t(3), t(3, 4), t(4)),
    lambda t: (t(3), t(3, 4), t(4), {"beta": 2, "alpha": 3}),
    tolerance=8,
)
calls(
    "aten._scaled_mm",
    [torch.float8_e4m3fn],
    lambda t: (t(16, 32), t(16, 32).t(), torch.tensor(0.5), torch.tensor(2.0), {"out_dtype": torch.bfloat16}),
    tolerance=2,
)


def convolutions(t):
    yield (t(2, 3, 9), t(4, 3, 3), t(4), [1], [0], [1], False, [0], 1)
    yield (t(2, 4, 7, 8), t(6, 2, 3, 2), None, [2, 1], [1, 2], [1, 2], False, [0, 0], 2)
    yield (t(3, 7, 8), t(2, 3, 3, 3), t(2), [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    yield (t(1, 2, 4, 5, 6), t(3, 2, 2, 3, 2), None, [1, 2, 1], [0, 1, 0], [1, 1, 1], False, [0, 0, 0], 1)
    yield (t(2, 4, 5), t(4, 3, 3), t(3), [2], [1], [1], True, [1], 1)
    yield (t(2, 4, 5, 4), t(4, 2, 3, 2), t(4), [2, 3], [1, 0], [2, 1], True, [1, 0], 2)
    yield (t(1, 2, 3, 3, 3), t(2, 2, 2, 2, 2), None, [1, 2, 1], [0, 0, 1], [1, 1, 1], True, [0, 1, 0], 1)


calls("aten.convolution", FLOATS, lambda t: list(convolutions(t)), tolerance=8)
calls("aten._convolution", [SINGLE], lambda t: [(*a, False, False, True, True) for a in convolutions(t)], tolerance=8)
calls("aten.conv1d", FLOATS, lambda t: (t(2, 4, 9), t(6, 2, 3), t(6), [2], [1], [2], 2), tolerance=8)
calls("aten.conv2d", FLOATS, lambda t: (t(2, 4, 9, 7), t(6, 2, 3, 3), t(6), [2, 1], [1, 0], [2, 1], 2), tolerance=8)
calls("aten.conv3d", [SINGLE], lambda t: (t(1, 2, 4, 5, 6), t(3, 2, 2, 3, 2), t(3)), tolerance=8)
calls("aten.conv1d.padding", [SINGLE], lambda t: (t(2, 4, 9), t(6, 4, 3), None, [1], "valid"), tolerance=8)
calls("aten.conv2d.padding", [SINGLE], lambda t: (t(2, 4, 9, 7), t(6, 4, 3, 2), None, [1, 1], "valid"), tolerance=8)
calls(
    "aten.conv3d.padding",
    [SINGLE],
    lambda t: (t(1, 2, 4, 5, 6), t(3, 2, 2, 3, 2), None, [1, 1, 1], "valid"),
    tolerance=8,
)
calls("aten.conv_transpose1d", FLOATS, lambda t: (t(2, 4, 5), t(4, 3, 3), t(6), [2], [1], [1], 2, [2]), tolerance=8)
calls(
    "aten.conv_transpose2d.input",
    FLOATS,
    lambda t: (t(2, 4, 5, 4), t(4, 3, 3, 2), t(3), [2, 2], [1, 0], [1, 0]),
    tolerance=8,
)
calls("aten.conv_transpose3d.input", [SINGLE], lambda t: (t(1, 2, 3, 3, 3), t(2, 2, 2, 2, 2)), tolerance=8)
calls(
    "aten.im2col",
    FLOATS,
    lambda t: (t(2, 3, 7, 8), [3, 2], [1, 2], [1, 0], [2, 1]),
    lambda t: (t(3, 5, 5), [2, 2], [1, 1], [0, 0], [1, 1]),
)
calls("aten.col2im", FLOATS, lambda t: (t(2, 12, 12), [4, 5], [2, 2], [1, 1], [0, 0], [1, 1]), tolerance=2)

calls("aten._trilinear", [SINGLE, DOUBLE], lambda t: (t(2, 3), t(2, 3, 4), t(2, 4), [2], [], [1], [1, 2]), tolerance=4)
Q_K_V = [
    ((2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 7)),
    ((5, 4), (6, 4), (6, 4)),
    ((2, 6, 5, 4), (2, 6, 5, 4), (2, 6, 5, 3)),
]
calls(
    "aten.scaled_dot_product_attention",
    FLOATS,
    lambda t: [tuple(t(*s) for s in shapes) for shapes in Q_K_V],
    tolerance=4,
)
calls(
    "aten.scaled_dot_product_attention",
    FLOATS,
    lambda t: (t(2, 3, 5, 4), t(2, 3, 5, 4), t(2, 3, 5, 4), None, 0.0, True),
    lambda t: (t(2, 3, 5, 4), t(2, 3, 6, 4), t(2, 3, 6, 4), t.mask(5, 6), 0.0, False, {"scale": 0.3}),
    lambda t: (t(2, 3, 5, 4), t(2, 3, 6, 4), t(2, 3, 6, 4), t(2, 1, 5, 6)),
    lambda t: (t(2, 6, 5, 4), t(2, 2, 6, 4), t(2, 2, 6, 4), None, 0.0, False, {"enable_gqa": True}),
    tolerance=4,
)

# --- windows -----------------------------------------------------------------


def pools(rank):
    shape = (5, 7, 6)[:rank]

    def make(t):
        yield (t(2, 3, *shape), [2] * rank)
        yield (t(3, *shape), [3] * rank, [2] * rank, [1] * rank)
        yield (t(2, 3, *shape), [3, 2, 3][:rank], [2, 1, 2][:rank], [1, 0, 1][:rank])

    return make


for rank in (1, 2, 3):
    make = pools(rank)
    extras = [(), ([2] * rank, True), ([1] * rank, True)]
    names = f"aten.max_pool{rank}d" + (f" aten.max_pool{rank}d_with_indices" if rank > 1 else "")
    calls(
        names,
        FLOATS,
        lambda t, m=make, e=extras: [(*a, *x) if len(a) == 4 else a for a in m(t) for x in e],
        special=True,
    )
    more = [(), (True,), (True, False)] + ([(False, True, 3)] if rank > 1 else [])
    calls(
        f"aten.avg_pool{rank}d",
        FLOATS,
        lambda t, m=make, e=more: [(*a, *x) if len(a) == 4 else a for a in m(t) for x in e],
    )
    outputs = [[3, 4, 2][:rank], [1] * rank, [7] * rank]
    calls(
        f"aten.adaptive_avg_pool{rank}d", FLOATS, lambda t, r=rank, o=outputs: [(t(2, 3, *(5, 7, 6)[:r]), x) for x in o]
    )
    if rank > 1:
        calls(
            f"aten._adaptive_avg_pool{rank}d",
            FLOATS,
            lambda t, r=rank, o=outputs: [(t(2, 3, *(5, 7, 6)[:r]), x) for x in o],
        )
    calls(
        f"aten.adaptive_max_pool{rank}d",
        FLOATS,
        lambda t, r=rank, o=outputs: [(t(2, 3, *(5, 7, 6)[:r]), x) for x in o],
        special=True,
    )
calls("aten.max_pool1d_with_indices", FLOATS, lambda t: (t(2, 3, 9), [3], [2], [1], [2], True), special=True)

# --- norms -------------------------------------------------------------------

calls(
    "aten._softmax aten._log_softmax",
    FLOATS,
    *[lambda t, d=d: (t(3, 4), d, False) for d in (0, -1)],
    lambda t: (t(), 0, False),
    special=True,
)
calls(
    "aten.softmax.int aten.log_softmax.int aten._safe_softmax",
    FLOATS,
    lambda t: (t(3, 4), 1),
    lambda t: (t(3, 4), -1, SINGLE),
    special=True,
)
calls("aten._safe_softmax", [SINGLE], lambda t: (torch.full((2, 3), -INF), 1))
for name, tail in (("aten.native_layer_norm", ()), ("aten.layer_norm", (False,))):
    calls(
        name,
        FLOATS,
        lambda t, e=tail: (t(2, 3, 4), [4], t(4), t(4), 1e-5, *e),
        lambda t, e=tail: (t(2, 3, 4), [3, 4], None, None, 0.1, *e),
        tolerance=2,
    )
calls("aten.rms_norm", FLOATS, lambda t: (t(2, 3, 4), [4], t(4), 1e-5), lambda t: (t(2, 3, 4), [3, 4]), tolerance=2)
calls("aten._fused_rms_norm", [SINGLE, DOUBLE], lambda t: (t(2, 3, 4), [4], t(4), 1e-5), tolerance=2)
calls(
    "aten.native_group_norm",
    FLOATS,
    lambda t: (t(2, 6, 4), t(6), t(6), 2, 6, 4, 3, 1e-5),
    lambda t: (t(2, 6, 4), None, None, 2, 6, 4, 2, 1e-5),
    tolerance=2,
)
calls("aten.group_norm", FLOATS, lambda t: (t(2, 6, 4, 3), 3, t(6), t(6), 1e-5, False), tolerance=2)
BATCH = [lambda t, n=n: (t(2, 3, 4), t(3), t(3), t(3), t(3).abs(), n, 0.1, 1e-5) for n in (False, True)]
calls(
    "aten.native_batch_norm",
    FLOATS,
    *BATCH,
    lambda t: (t(5, 3), None, None, t(3), t(3).abs(), False, 0.1, 1e-3),
    tolerance=2,
)
calls("aten._native_batch_norm_legit", FLOATS, *BATCH, tolerance=2)
calls("aten.batch_norm", FLOATS, *[lambda t, b=b: (*b(t), False) for b in BATCH], tolerance=2)
calls(
    "aten._native_batch_norm_legit_no_training",
    FLOATS,
    lambda t: (t(2, 3, 4), t(3), t(3), t(3), t(3).abs(), 0.1, 1e-5),
    tolerance=2,
)
calls(
    "aten._native_batch_norm_legit.no_stats", FLOATS, lambda t: (t(2, 3, 4), t(3), t(3), True, 0.1, 1e-5), tolerance=2
)

# --- other sizes -------------------------------------------------------------

SIZES = {1: (5,), 2: (5, 4), 3: (3, 4, 5)}
for rank, kind in itertools.product((1, 2, 3), ("nearest", "nearest_exact")):
    prefix = "aten._upsample_nearest_exact" if kind == "nearest_exact" else "aten.upsample_nearest"
    sizes = [[7, 9, 4][:rank], [2, 3, 8][:rank]]
    calls(f"{prefix}{rank}d", FLOATS, lambda t, r=rank, s=sizes: [(t(2, 3, *SIZES[r]), x) for x in s])
    if kind == "nearest":
        calls(
            f"{prefix}{rank}d.vec",
            FLOATS,
            lambda t, r=rank: (
                [(t(2, 3, *SIZES[r]), None, [f] * r) for f in (2.0, 1.5, 0.5)]
                + [(t(2, 3, *SIZES[r]), [7, 9, 4][:r], None)]
            ),
        )
for name, rank in (("linear1d", 1), ("bilinear2d", 2), ("trilinear3d", 3), ("bicubic2d", 2)):
    sizes = [[7, 9, 4][:rank], [2, 3, 8][:rank], [1] * rank]
    calls(
        f"aten.upsample_{name}",
        FLOATS,
        lambda t, r=rank, s=sizes: [(t(2, 3, *SIZES[r]), x, a) for x in s for a in (False, True)],
        tolerance=6,
    )
    calls(
        f"aten.upsample_{name}.vec",
        FLOATS,
        lambda t, r=rank: [(t(2, 3, *SIZES[r]), None, a, [f] * r) for f in (2.0, 1.5, 0.5) for a in (False, True)],
        tolerance=6,
    )
calls(
    "aten.grid_sampler_2d aten.grid_sampler",
    [SINGLE, DOUBLE],
    lambda t: [
        (t(2, 3, 5, 4), t(2, 3, 6, 2, scale=0.8), m, p, a) for m in (0, 1, 2) for p in (0, 1, 2) for a in (False, True)
    ],
    tolerance=30,
)

# --- quantization ------------------------------------------------------------

Q = "quantized_decomposed."
calls(
    Q + "quantize_per_tensor",
    [SINGLE],
    lambda t: (t(3, 40), 0.05, 3, -128, 127, torch.int8),
    lambda t: (t(9), 0.1, 128, 0, 255, torch.uint8),
)
calls(Q + "dequantize_per_tensor", [torch.int8], lambda t: (t(3, 40), 0.05, 3, -128, 127, torch.int8))
PARAMETERS = [lambda t: (t(3, 4), torch.tensor(0.05), torch.tensor(3), -128, 127, torch.int8)]
calls(Q + "quantize_per_tensor.tensor", [SINGLE], *PARAMETERS)
calls(Q + "dequantize_per_tensor.tensor", [torch.int8], *PARAMETERS)
PARAMETERS = [
    lambda t: (t(3, 4), torch.tensor(0.05), torch.tensor(3), torch.tensor(-128), torch.tensor(127), torch.int8)
]
calls(Q + "quantize_per_tensor.tensor2", [SINGLE], *PARAMETERS)
calls(Q + "dequantize_per_tensor.tensor2", [torch.int8], *PARAMETERS)
CHANNELS = [lambda t: (t(4, 3), torch.tensor([0.1, 0.05, 0.3]), torch.tensor([1, 0, -2]), 1, -128, 127, torch.int8)]
calls(Q + "quantize_per_channel", [SINGLE], *CHANNELS)
calls(Q + "dequantize_per_channel", [torch.int8], *CHANNELS)
calls(
    "aten.fake_quantize_per_tensor_affine aten.fake_quantize_per_tensor_affine_cachemask",
    [SINGLE],
    lambda t: (t(3, 40), 0.05, 3, 0, 63),
)
calls(
    "aten.fake_quantize_per_tensor_affine.tensor_qparams",
    [SINGLE],
    lambda t: (t(3, 40), torch.tensor([0.05]), torch.tensor([3], dtype=torch.int32), 0, 63),
)
calls(
    "aten.fake_quantize_per_channel_affine aten.fake_quantize_per_channel_affine_cachemask",
    [SINGLE],
    lambda t: (t(4, 3), torch.tensor([0.1, 0.05, 0.3]), torch.tensor([1, 0, 2], dtype=torch.int32), 1, 0, 20),
)

# --- numbers -----------------------------------------------------------------

ONE = [lambda t: t(), lambda t: t(1, 1)]
calls("aten.item aten._local_scalar_dense", REAL + BOOL, *ONE)
calls("aten.Int.Tensor aten.Float.Tensor aten.Bool.Tensor", REAL + BOOL, *ONE)
calls("aten.ScalarImplicit", [SINGLE, torch.int64], lambda t: t())
calls("aten.IntImplicit", [torch.int64], lambda t: t())
calls("aten.FloatImplicit", [SINGLE], lambda t: t())
ANYTHING = [SINGLE]
calls(
    "aten.Int.float aten.Int.Scalar aten.Bool.float aten.Float.Scalar aten.ceil.Scalar aten.ceil.float",
    ANYTHING,
    lambda t: 2.75,
    lambda t: -2.75,
)
calls("aten.Int.bool", ANYTHING, lambda t: True)
calls("aten.Bool.int aten.Float.int aten.sqrt.int", ANYTHING, lambda t: 3, lambda t: 0)
calls("aten.numel", ANY, lambda t: t(3, 4))
calls("aten.size.int", ANY, lambda t: (t(3, 4), -1))
for dtype_name, left, right in (("int", -7, 2), ("float", 2.5, -1.5), ("float_int", 2.5, 3), ("int_float", 3, 2.5)):
    for op in ("lt", "le", "gt", "ge", "eq", "ne"):
        calls(
            f"aten.{op}.{dtype_name}",
            ANYTHING,
            lambda t, a=left, b=right: (a, b),
            lambda t, a=left, b=right: (b, a) if type(a) is type(b) else (a, b),
        )
calls(
    "aten.add.int aten.sub.int aten.mul.int aten.floordiv.int aten.remainder.int aten.div.int",
    ANYTHING,
    lambda t: (-7, 2),
    lambda t: (7, -3),
)
calls("aten.sub.float aten.mul.float aten.div.float", ANYTHING, lambda t: (2.5, -1.5))
calls("aten.add.float_int aten.mul.float_int", ANYTHING, lambda t: (2.5, 3))
calls("aten.mul.int_float", ANYTHING, lambda t: (3, 2.5))
calls("aten.add aten.sub aten.mul aten.div aten.floordiv", ANYTHING, lambda t: (7, 2.5), lambda t: (2.5, 3))
calls("aten.neg.int", ANYTHING, lambda t: 3)
calls("aten.neg.float", ANYTHING, lambda t: 2.5)
calls(
    "aten.eq.bool aten.ne.bool aten.__and__.bool aten.__or__.bool",
    ANYTHING,
    lambda t: (True, False),
    lambda t: (True, True),
)
calls("aten.__not__", ANYTHING, lambda t: True, lambda t: False)
calls("prim.max.int prim.min.int", ANYTHING, lambda t: (3, -2))
calls("prim.max.float prim.min.float", ANYTHING, lambda t: (0.5, 2.5))
calls("prim.NumToTensor.Scalar", ANYTHING, lambda t: 3, lambda t: 2.5)

# What PyTorch fills with anything cannot be compared; the others are not its operators.
SAME_AS.update(dict.fromkeys(
    ["aten.empty.memory_format", "aten.empty_like", "aten.new_empty", "aten.empty_strided", "aten.new_empty_strided"],
    "aten.zeros"))  # fmt: skip
SAME_AS["aten.to.prim_Device"] = "aten.to.device"
SAME_AS["aten._conj_physical"] = "aten.conj_physical"


# --- what PyTorch refuses ----------------------------------------------------


def refuses(name, *entries):
    """Arguments, and the results that a program would declare."""
    REFUSED[name] = list(entries)


def refused(name):
    for maker, results in REFUSED[name]:
        args = maker(Draw(SINGLE, 1))
        yield Sample(args if isinstance(args, tuple) else (args,), {}, 1, None, name), results


VECTOR = [(SINGLE, (3,))]
NUMBER = [(SINGLE, ())]
refuses("aten.amax", (lambda t: (t(0, 3), [0]), VECTOR), (lambda t: (t(3), [4]), NUMBER))
refuses("aten.max", (lambda t: t(0), NUMBER))
refuses("aten.argmax", (lambda t: t(0), [(torch.int64, ())]))
refuses("aten.max.dim", (lambda t: (t(3, 0), 1), [*VECTOR, (torch.int64, (3,))]))
refuses(
    "aten.index.Tensor",
    (lambda t: (t(3), [torch.tensor([3])]), [(SINGLE, (1,))]),
    (lambda t: (t(3), [torch.tensor([-4])]), [(SINGLE, (1,))]),
    (lambda t: (t(3), [torch.tensor([0]), torch.tensor([0])]), [(SINGLE, (1,))]),
)
refuses(
    "aten.index_select",
    (lambda t: (t(3), 0, torch.tensor([3])), [(SINGLE, (1,))]),
    (lambda t: (t(3), 0, torch.tensor([-1])), [(SINGLE, (1,))]),
)
refuses(
    "aten.gather",
    (lambda t: (t(3), 0, torch.tensor([3])), [(SINGLE, (1,))]),
    (lambda t: (t(3, 3), 0, torch.tensor([1])), [(SINGLE, (1,))]),
)
refuses(
    "aten.scatter.src",
    (lambda t: (t(3), 0, torch.tensor([3]), t(1)), VECTOR),
    (lambda t: (t(3), 0, torch.tensor([0, 1]), t(1)), VECTOR),
)
refuses("aten.embedding", (lambda t: (t(3, 2), torch.tensor([3])), [(SINGLE, (1, 2))]))
refuses("aten.take", (lambda t: (t(3), torch.tensor([5])), [(SINGLE, (1,))]))
refuses("aten.mm", (lambda t: (t(3, 4), t(3, 4)), [(SINGLE, (3, 4))]), (lambda t: (t(3), t(3)), NUMBER))
refuses("aten.add.Tensor", (lambda t: (t(3), t(4)), VECTOR))
refuses(
    "aten.convolution",
    (lambda t: (t(1, 3, 4), t(2, 2, 2), None, [1], [0], [1], False, [0], 1), [(SINGLE, (1, 2, 3))]),
    (lambda t: (t(1, 2, 1), t(2, 2, 2), None, [1], [0], [1], False, [0], 1), [(SINGLE, (1, 2, 0))]),
)
refuses(
    "aten.max_pool2d",
    (lambda t: (t(1, 4, 4), [2, 2], [2, 2], [2, 2]), [(SINGLE, (1, 4, 4))]),
    (lambda t: (t(1, 4, 4), [5, 5]), [(SINGLE, (1, 0, 0))]),
)
refuses("aten.topk", (lambda t: (t(3), 4), [(SINGLE, (4,)), (torch.int64, (4,))]))
refuses("aten.kthvalue", (lambda t: (t(3), 4), [(SINGLE, ()), (torch.int64, ())]))
refuses("aten.reflection_pad1d", (lambda t: (t(1, 3), [3, 0]), [(SINGLE, (1, 6))]))
refuses("aten.permute", (lambda t: (t(3, 2), [0, 0]), [(SINGLE, (3, 3))]))
refuses("aten.select.int", (lambda t: (t(3), 0, 3), NUMBER))
refuses(
    "aten.native_layer_norm",
    (lambda t: (t(3, 2), [3], None, None, 1e-5), [(SINGLE, (3, 2)), (SINGLE, (3, 1)), (SINGLE, (3, 1))]),
)
refuses("aten.floordiv.int", (lambda t: (1, 0), [(torch.int64, ())]))
