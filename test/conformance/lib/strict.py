# strict.py - How exact the result of one operation must be
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A case of one operation leaves no room for error to grow: moves, sums, products,
# minima, maxima and comparisons are the float64 result rounded once to the device's
# format (and once more to the host's type, where that is narrower); what is
# computed by an approximation lies within one unit in the last place of DL16.
# Reductions and contractions, whose order of summation is free, and results of
# several operations keep the bounds of tolerance.py.
"""Exact comparison of single operations."""

import numpy as np

from . import formats

EXACT = {
    "identity",
    "ReStickifyOpHBM",
    "where3",
    "neg",
    "abs",
    "relufwd",
    "floor",
    "clip",
    "add",
    "sub",
    "mul",
    "maximum",
    "minimum",
    "equal",
    "notequal",
    "greaterthan",
    "greaterequal",
    "lesserthan",
    "lesserequal",
    "max",
    "min",
    "topkvalue",
    "topkindex",
    "dl16tofp32",
    "fp32todl16",
    "fp8todl16",
    "qfp8ch",
}
APPROXIMATE = {
    "exp",
    "log",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "realdiv",
    "sigmoid",
    "tanh",
    "gelufwd",
    "silu",
    "softplus",
}
# An f32 result of an approximation: units in the last place of f32.
F32_ULPS = 8


def rule(function):
    return "exact" if function in EXACT else "ulp" if function in APPROXIMATE else None


def histories(program):
    """Buffer index -> the operations that its final content comes from, in order."""
    found = {}
    for op in program.operations():
        output = op.operands[-1].buffer
        before = [step for operand in op.operands[:-1] for step in found.get(operand.buffer, [])]
        known = found.get(output, [])
        found[output] = [*known, *[step for step in [*before, op] if not any(step is other for other in known)]]
    return found


def is_single(history):
    return len(history) == 1 and not history[0].loops and rule(history[0].function) is not None


def wild_buffers(program):
    """Buffers whose values may be of very different sizes: all that reads them is compared exactly."""
    history = histories(program)
    reading, tame = set(), set()
    for op in program.operations():
        inputs, output = {operand.buffer for operand in op.operands[:-1]}, op.operands[-1].buffer
        # What saturates in 8 bits is not written down.
        is_wild = is_single(history[output]) and op.function != "qfp8ch"
        reading |= inputs
        tame |= set() if is_wild and not program.buffers[output].read_after_write else {*inputs, output}
    return reading - tame


def on_device(values, dtype):
    """float64 values as the device's format and then the host's type have them."""
    if dtype in formats.FLOAT16:
        return formats.round_to(formats.round_to_dl16(values), dtype)
    return formats.round_to(values, dtype)


def compare(got, wanted, dtype, function):
    """None if right, else a text. `wanted` is in float64; only for functions with a rule and float dtypes."""
    got = np.atleast_1d(formats.to_float64(got, dtype))
    wanted = np.atleast_1d(np.asarray(wanted, np.float64))
    expected = on_device(wanted, dtype)
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    if dtype in formats.FLOAT16:
        # DL16 has one code for infinity and NaN; the sign of an infinity counts.
        neither = ~np.isfinite(expected) & ~np.isfinite(got)
        same |= neither & (np.isnan(expected) | np.isnan(got))
    if dtype == "float16":
        # DL16 has 65536 for both 65504 and infinity of f16 (docs/developer/numerics.md).
        same |= (np.abs(formats.round_to_dl16(wanted)) == 65536) & (got == np.copysign(65504.0, wanted))
    if dtype == "bfloat16":
        # Beyond DL16's range a result overflows; the host's type goes on.
        same |= (np.abs(wanted) > formats.DL16_MAX) & np.isinf(got) & (np.sign(got) == np.sign(wanted))
    if rule(function) == "ulp":
        if dtype == "float32":
            with np.errstate(over="ignore", invalid="ignore"):
                step = F32_ULPS * np.spacing(np.abs(wanted).astype(np.float32)).astype(np.float64)
            # Whether the device has subnormal f32 numbers is not public; an approximation may have none.
            step = np.maximum(step, 2.0**-126)
        else:
            # The host's f16 has wider steps than DL16 below its normal range.
            step = np.maximum(formats.dl16_ulp(wanted), 2.0**-24 if dtype == "float16" else 0)
        with np.errstate(invalid="ignore"):
            same |= np.abs(got - expected) <= step
    if same.all():
        return None
    bad = np.argwhere(~same)
    place = tuple(int(i) for i in bad[0])
    how = "exact" if rule(function) == "exact" else "within 1 ulp"
    return (
        f"[{', '.join(map(str, place))}] is {float(got[place])!r}, expected {float(expected[place])!r} "
        f"({len(bad)} of {same.size} differ, {function} must be {how})"
    )
