# formats.py - Number formats for the runners, in NumPy
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# An independent model (it shares nothing with lib/Numerics) of what the runners
# need: rounding to DL16, bfloat16 and fp8 as bit patterns, dtype names. Source
# of the facts: docs/formats/superdsc-rules.md, section 4; docs/device.md, section 5.
"""DL16, bfloat16 and fp8 for NumPy arrays; PyTorch's dtype names."""

import numpy as np

DL16_MAX = 8573157376.0
# Value distance to the next code, relative to a value at the start of a binade.
DL16_STEP = 2.0**-9
# The smallest number that is not zero, and where computed values begin to round to the infinity code.
DL16_SMALLEST = 2.0**-31 * (1 + DL16_STEP)
DL16_OVERFLOW = 2.0**32 * (1 + 510.5 / 512)
BLOCK = 1 << 18

# PyTorch dtype name -> NumPy dtype of the stored array.
STORED = {
    "float16": np.float16,
    "float32": np.float32,
    "float64": np.float64,
    "bfloat16": np.uint16,
    "float8_e4m3fn": np.uint8,
    "float8_e5m2": np.uint8,
    "float8_e4m3fnuz": np.uint8,
    "float8_e5m2fnuz": np.uint8,
    "int8": np.int8,
    "int16": np.int16,
    "int32": np.int32,
    "int64": np.int64,
    "uint8": np.uint8,
    "uint16": np.uint16,
    "uint32": np.uint32,
    "uint64": np.uint64,
    "bool": np.bool_,
    "complex64": np.complex64,
    "complex128": np.complex128,
}
# The element types of programs -> PyTorch dtype names, and back.
DTYPES = {
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "i1": "bool",
    "si8": "int8",
    "si16": "int16",
    "si32": "int32",
    "si64": "int64",
    "ui8": "uint8",
}
ELEMENTS = {dtype: element for element, dtype in DTYPES.items()}
FLOAT8 = {"float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"}
FLOAT16 = {"float16", "bfloat16"}
FLOATS = FLOAT8 | FLOAT16 | {"float32", "float64"}
COMPLEX = {"complex64", "complex128"}

# (exponent bits, mantissa bits, bias, has infinity, nan rule)
_FP8 = {
    "float8_e4m3fn": (4, 3, 7, False),
    "float8_e5m2": (5, 2, 15, True),
    "float8_e4m3fnuz": (4, 3, 8, False),
    "float8_e5m2fnuz": (5, 2, 16, False),
}


def round_to_dl16(values):
    """Nearest DL16 value, ties to even; finite values beyond the range saturate.

    A value of 1-6-9 format: 2^(e-31) (1 + m/512), e = 0..63; the code of all
    zero bits is zero, the code of all ones is the one infinity/NaN.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.size > BLOCK:  # large arrays block by block: the work below makes many copies
        flat = values.reshape(-1)
        return np.concatenate([round_to_dl16(flat[i : i + BLOCK]) for i in range(0, flat.size, BLOCK)]).reshape(
            values.shape
        )
    with np.errstate(over="ignore", invalid="ignore"):
        quantum = dl16_ulp(values)
        rounded = np.round(values / quantum) * quantum
        tiny = np.abs(values) < DL16_SMALLEST
        nearer = np.where(np.abs(values) > DL16_SMALLEST / 2, DL16_SMALLEST, 0.0)
        rounded = np.where(tiny, np.copysign(nearer, values), rounded)
        rounded = np.where(np.isfinite(values), np.clip(rounded, -DL16_MAX, DL16_MAX), values)
    return rounded


def dl16_ulp(values):
    """Distance of DL16 values at the size of `values`."""
    exponent = np.frexp(np.abs(values))[1] - 1
    return np.ldexp(1.0, np.clip(exponent, -31, 32) - 9)


def computed_dl16(values):
    """What memory has of computed values: nearest DL16 value, and beyond the range infinity."""
    values = np.asarray(values, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(values) > DL16_OVERFLOW, np.copysign(np.inf, values), round_to_dl16(values))


def encode_dl16(values):
    """DL16 codes of numbers, rounded as by round_to_dl16; infinities and NaN are the one top code."""
    values = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(values)
    magnitude = np.abs(round_to_dl16(np.where(finite, values, 0.0)))
    fraction, exponent = np.frexp(np.where(magnitude > 0, magnitude, 1.0))
    code = ((exponent + 30).astype(np.int64) << 9) | np.round((fraction * 2 - 1) * 512).astype(np.int64)
    code = np.where(finite, np.where(magnitude > 0, code, 0), 0x7FFF)
    return (code | np.where(np.signbit(values), 0x8000, 0)).astype(np.uint16)


def decode_dl16(codes):
    """Values of DL16 codes; the one infinity/NaN code gives a signed infinity."""
    codes = np.asarray(codes).astype(np.int64)
    sign = np.where(codes & 0x8000, -1.0, 1.0)
    exponent, fraction = (codes >> 9) & 63, codes & 511
    value = np.ldexp(1 + fraction / 512.0, exponent - 31)
    value = np.where((exponent == 0) & (fraction == 0), 0.0, value)
    return sign * np.where((exponent == 63) & (fraction == 511), np.inf, value)


def bfloat16_to_float32(bits):
    return (np.asarray(bits).astype(np.uint32) << 16).view(np.float32)


def float32_to_bfloat16(values):
    """Bit patterns, nearest even."""
    values = np.asarray(values, dtype=np.float32, order="C")  # a scalar stays one
    bits = values.view(np.uint32)
    rounded = ((bits.astype(np.uint64) + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), rounded).astype(np.uint16)


def fp8_table(dtype):
    """The 256 values of an fp8 format."""
    exponent_bits, fraction_bits, bias, has_infinity = _FP8[dtype]
    codes = np.arange(256)
    sign = np.where(codes & 0x80, -1.0, 1.0)
    exponent = (codes >> fraction_bits) & ((1 << exponent_bits) - 1)
    fraction = (codes & ((1 << fraction_bits) - 1)) / (1 << fraction_bits)
    value = np.where(exponent == 0, np.ldexp(fraction, 1 - bias), np.ldexp(1 + fraction, exponent - bias))
    value = sign * value
    if dtype.endswith("uz"):
        value[0x80] = np.nan
    elif has_infinity:
        top = exponent == (1 << exponent_bits) - 1
        value = np.where(top, np.where(fraction == 0, sign * np.inf, np.nan), value)
    else:
        value[0x7F] = value[0xFF] = np.nan
    return value


def to_float64(array, dtype):
    """Stored array of a floating dtype as float64 values."""
    array = np.asarray(array)
    if dtype == "bfloat16" and array.dtype == np.uint16:
        return bfloat16_to_float32(array).astype(np.float64)
    if dtype in FLOAT8 and array.dtype == np.uint8:
        return fp8_table(dtype)[array]
    return array.astype(np.float64)


def from_float64(values, dtype):
    """float64 values rounded to a dtype (any one) and stored the way `.npz` files store it."""
    values = np.asarray(values)
    if dtype == "bfloat16":
        return float32_to_bfloat16(values)
    if dtype in FLOAT8:
        table = fp8_table(dtype)
        finite = np.flatnonzero(np.isfinite(table))
        order = finite[np.argsort(table[finite], kind="stable")]
        sorted_values = table[order]
        at = np.clip(np.searchsorted(sorted_values, values), 1, len(order) - 1)
        below, above = np.abs(values - sorted_values[at - 1]), np.abs(sorted_values[at] - values)
        lower_is_nearer = (below < above) | ((below == above) & (order[at - 1] % 2 == 0))  # ties to even codes
        return order[np.where(lower_is_nearer, at - 1, at)].astype(np.uint8)
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(STORED[dtype])


def round_to(values, dtype):
    """float64 values rounded to a floating dtype, as float64."""
    if dtype in FLOAT8:
        return to_float64(from_float64(values, dtype), dtype)
    if dtype == "float64":
        return np.asarray(values, np.float64)
    return to_float64(from_float64(values, dtype), dtype)


def exact_on_device(values, dtype):
    """Values of a floating dtype that the device's 16-bit format holds as well."""
    values = round_to_dl16(round_to(values, dtype))
    return round_to(values, dtype) if dtype == "float16" else values  # of f16's subnormal range DL16 has more values


def without_subnormals(values):
    """float16's subnormal numbers, which the device does not have exactly, become zero."""
    return np.where(np.abs(values) < 2.0**-14, 0, values)


def few_bits(values, bits):
    """Numbers with `bits` significant bits at most, nearest even."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(mantissa, bits)), exponent - bits)
