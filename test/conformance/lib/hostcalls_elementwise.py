# hostcalls_elementwise.py - Calls of operations that work element by element
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Element by element, creation, quantization and Python's numbers; see hostcalls.py.
"""Samples for test_host.py."""

import torch

from .hostcalls import ANY, BOOL, COMPLEX, DOUBLE, FLOATS, INF, INTS, REAL, SAME_AS, SINGLE, calls

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
calls(
    "aten.rrelu_with_noise_backward",
    FLOATS,
    lambda t: (t(3, 5), t(3, 5), t(3, 5), 0.1, 0.3, True, False),
    lambda t: (t(3, 5), t(3, 5), t(3, 5), 0.1, 0.3, False, False),
)
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
calls("aten._assert_scalar", ANYTHING, lambda t: (1, "text"))
calls("aten._assert_async", REAL, lambda t: torch.ones(1).to(t.dtype))
calls("aten._assert_async.msg", REAL, lambda t: (torch.ones(1).to(t.dtype), "text"))
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
