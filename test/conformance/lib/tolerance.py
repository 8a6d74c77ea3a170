# tolerance.py - When a result counts as right
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The tolerances of the conformance runners, once for all of them. With
# e = |got - ref| / max(rms(ref), |ref|) per element and E, E_rms the same of
# PyTorch's own result in the program's dtype:
#
#   16-bit, matmul inside   max e <= max(5 E, 24 x 2^-10), rms e <= max(5 E_rms, 4 x 2^-10)
#   16-bit, no matmul       max e <= max(5 E, 5 x 2^-10)
#   f32                     max e <= max(8 E, 64 x 2^-24); without a reference in
#                           higher precision 256 x 2^-24 against PyTorch's result
#
# with an absolute floor of 2^-24. Integers, booleans and data movement are
# exact (a float that only passes through is rounded once). Where an operation
# jumps, 2 % of the elements may lie on the other side. Infinities and NaNs
# stand where the reference, rounded to the result's type, has them.
"""Comparison of a result with PyTorch's result and a higher-precision reference."""

import dataclasses
import json
import pathlib
import re

import numpy as np

from . import formats

FLOOR = 2.0**-24
# A few roundings of each format: the bounds where nothing widens them.
ROUNDINGS_16, ROUNDINGS_F32 = 5 * 2.0**-10, 64 * 2.0**-24
JUMP_SHARE = 0.02

MATMULS = {
    "mm",
    "bmm",
    "matmul",
    "addmm",
    "baddbmm",
    "linear",
    "mv",
    "dot",
    "vdot",
    "einsum",
    "_scaled_mm",
    "convolution",
    "_convolution",
    "conv1d",
    "conv2d",
    "conv3d",
    "scaled_dot_product_attention",
    "batchmatmul",
    "batchmatmulfp8",
    "addmv",
    "addbmm",
    "addr",
    "outer",
    "bilinear",
    "inner",
    "tensordot",
    "chain_matmul",
    "multi_dot",
    "linalg_multi_dot",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
}

# Operations that jump: a small change of an operand can change the result by much.
JUMPS = {
    "floor",
    "ceil",
    "round",
    "trunc",
    "frac",
    "fix",
    "sign",
    "sgn",
    "signbit",
    "heaviside",
    "eq",
    "ne",
    "gt",
    "ge",
    "lt",
    "le",
    "equal",
    "isclose",
    "argmax",
    "argmin",
    "max.dim",
    "min.dim",
    "topk",
    "sort",
    "argsort",
    "msort",
    "unique",
    "mode",
    "median",
    "nanmedian",
    "kthvalue",
    "cummax",
    "cummin",
    "searchsorted",
    "bucketize",
    "floor_divide",
    "remainder",
    "fmod",
    "div.Tensor_mode",
    "div.Scalar_mode",
    "logical_and",
    "logical_or",
    "logical_not",
    "logical_xor",
    "isinf",
    "isnan",
    "isfinite",
    "nonzero",
    "any",
    "all",
    "histc",
    "bincount",
    "max_pool2d_with_indices",
    "max_pool1d_with_indices",
    "max_pool3d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool1d",
    "adaptive_max_pool3d",
    "quantize_per_tensor",
    "quantize_per_channel",
    "fake_quantize_per_tensor_affine",
    "hardshrink",
    "threshold",
    "relu6",
    "count_nonzero",
    "nearest",
    "upsample_nearest1d",
    "upsample_nearest2d",
    "_to_copy",
    "convert_element_type",
    "to.dtype",
    "to",
    "type_as",
    "topkindex",
    "topkvalue",
    "greaterthan",
    "greaterequal",
    "lesserthan",
    "lesserequal",
    "notequal",
    "Int.Tensor",
    "Bool.Tensor",
}
# Casts jump only when the result is no float (or fp8, which the fp8 rule covers).
CASTS = {"_to_copy", "convert_element_type", "to.dtype", "to", "type_as", "Int.Tensor", "Bool.Tensor"}

# Operations that only move data (or compute nothing that a float takes part in).
MOVES = {
    "view",
    "_unsafe_view",
    "reshape",
    "permute",
    "transpose",
    "t",
    "numpy_T",
    "expand",
    "expand_as",
    "broadcast_to",
    "unsqueeze",
    "squeeze",
    "slice",
    "select",
    "cat",
    "stack",
    "clone",
    "contiguous",
    "alias",
    "detach",
    "flip",
    "roll",
    "split",
    "split_with_sizes",
    "chunk",
    "unbind",
    "unfold",
    "as_strided",
    "gather",
    "index_select",
    "index",
    "embedding",
    "index_put",
    "slice_scatter",
    "select_scatter",
    "scatter",
    "repeat",
    "repeat_interleave",
    "tile",
    "narrow",
    "flatten",
    "unflatten",
    "pixel_shuffle",
    "pixel_unshuffle",
    "copy",
    "lift_fresh_copy",
    "empty_strided",
    "empty",
    "full",
    "full_like",
    "zeros",
    "ones",
    "zeros_like",
    "ones_like",
    "scalar_tensor",
    "arange",
    "constant_pad_nd",
    "movedim",
    "swapaxes",
    "diagonal",
    "tril",
    "triu",
    "collapse",
    "split_dim",
    "broadcast_in_dim",
    "new_zeros",
    "new_ones",
    "new_empty",
    "new_full",
    "fill",
    "where",
    "masked_fill",
    "rot90",
    "size",
    "sym_size",
    "_assert_tensor_metadata",
    "relu",
    "neg",
    "abs",
    "dropout",
    "lift_fresh",
}

# Texts that are no operations on tensor data.
_IGNORED_DIALECT_OPS = re.compile(
    r"torch\.(constant\.\w+|prim\.\w+(\.\w+)?|symbolic_int|bind_symbolic_shape|vtensor\.literal|tensor\.literal|copy\.\w+|overwrite\.\w+\.\w+|assert|runtime\.assert)$"
)
_OPERATION = re.compile(r"torch\.(?:operator \"(?:torch\.)?)?([A-Za-z_][\w.]*)")
_FLOAT_TYPE = re.compile(r"vtensor<(?:\[[^\]]*\],)?(f16|bf16|f32|f64|f8\w+)|!torch\.(?:float|vtensor>|tensor)")


def base_name(operation):
    """`torch.aten.add.Tensor` -> `add.Tensor`."""
    name = operation
    for prefix in ("torch.", "aten.", "prims.", "prim."):
        if name.startswith(prefix):
            name = name[len(prefix) :]
    return name


def in_set(name, group):
    """True if an operation, with or without its overload name, is in a set."""
    return name in group or name.split(".")[0] in group


@dataclasses.dataclass
class Traits:
    """What a program contains, as far as tolerances depend on it."""

    matmul: bool = False
    jumps: bool = False
    moves_only: bool = False
    operations: tuple = ()
    jump_elements: int = 0  # elements that may lie on the other side in any case
    half_inputs: bool = False  # 16-bit float arguments: rounded at copy-in

    def allowed_jumps(self, size):
        """How many of `size` elements may lie on the other side of a jump."""
        few = min(self.jump_elements, size // 4)
        return max(int(JUMP_SHARE * size), few) if self.jumps else 0


def traits_of_text(text):
    """Traits of a torch-dialect module."""
    names, jumps, matmul, computes = [], False, False, False
    infinities = set(re.findall(r"(%[\w.+-]+) = torch\.constant\.float 0x[7F]FF0{13}\b", text))
    trues = set(re.findall(r"(%[\w.+-]+) = torch\.constant\.bool true\b", text))
    for line in text.splitlines():
        code = line.split("//")[0] if "//" in line and '"' not in line else line
        match = re.match(r"\s*(?:%[\w:.+#, %-]+=\s*)?\"?(torch\.[\w.]+)\"?(?:\s+\"([^\"]+)\")?", code)
        if not match:
            continue
        operation = match[1]
        if operation == "torch.operator" and match[2]:
            operation = match[2]
        elif _IGNORED_DIALECT_OPS.match(operation):
            continue
        name = base_name(operation)
        names.append(name)
        signature = code[code.rfind(" : ") :] if " : " in code else code
        operand_types, _, result_types = signature.partition("->")
        float_operand = bool(_FLOAT_TYPE.search(operand_types))
        if in_set(name, MATMULS):
            matmul = True
        # Whether a number is infinite does not hang on its last bits.
        if name in ("eq.Scalar", "ne.Scalar") and any(x in infinities for x in re.findall(r"%[\w.+-]+", code)[1:3]):
            continue
        if float_operand and in_set(name, JUMPS):
            is_cast = in_set(name, CASTS)
            if not is_cast or not re.search(r",(f16|bf16|f32|f64)", result_types):
                jumps = True
        # A write that accumulates is a sum.
        accumulates = name == "index_put" and any(x in trues for x in re.findall(r"%[\w.+-]+", code)[1:])
        if accumulates or not in_set(name, MOVES):
            computes = True
    names = tuple(sorted(set(names)))
    signature = next((line for line in text.splitlines() if "func.func" in line and "(" in line), "")
    half_inputs = bool(re.search(r"\],b?f16>", signature.split("->")[0]))
    return Traits(matmul, jumps, not computes, names, int(wider_bounds(names, "elements", 0)), half_inputs)


def wider_bounds(operations, key, default, table=None):
    """The largest `key` that tolerance.json has for the operations of a program."""
    if table is None:
        path = pathlib.Path(__file__).resolve().parent.parent / "tolerance.json"
        table = json.loads(path.read_text())["operations"]
    return max([default] + [table[name][key] for name in operations if key in table.get(name, {})])


def widening(operations, table=None):
    """The factor on the fixed bounds of a program with these operations."""
    return float(wider_bounds(operations, "scale", 1.0, table))


def bounds_16(traits):
    """Fixed bounds of 16-bit results: on the largest e, and on the root mean square of all (None: on no such)."""
    return (24 * 2.0**-10, 4 * 2.0**-10) if traits.matmul else (ROUNDINGS_16, None)


def classes(values):
    """0 finite, 1 +infinity, -1 -infinity, 2 NaN."""
    return np.where(np.isnan(values), 2, np.where(np.isposinf(values), 1, np.where(np.isneginf(values), -1, 0)))


def same_class(got, expected, sixteen_bit):
    """Elementwise: is what stands in `got` the class that is expected?

    For 16-bit results infinity and NaN are one class: the device has one code
    for both. The sign of an infinity counts.
    """
    same = got == expected
    if sixteen_bit:
        same |= (got == 2) & (np.abs(expected) == 1)
        same |= (expected == 2) & (np.abs(got) == 1)
    return same


def first_difference(got, expected, bad, noun="expected"):
    index = tuple(int(i) for i in np.argwhere(bad)[0]) if bad.ndim else ()
    place = "[" + ", ".join(map(str, index)) + "]"
    return f"{place} is {got[index]}, {noun} {expected[index]} ({int(bad.sum())} of {bad.size} differ)"


def compare(got, out, dtype, ref=None, traits=None, scale=1.0):
    """None if `got` is right, else a text that names the first difference.

    `got` and `out` (PyTorch's result) are stored arrays of PyTorch dtype
    `dtype`; `ref` is a float array in higher precision or None.
    """
    traits = traits or Traits()
    got, out = np.asarray(got), np.asarray(out)
    if got.shape != out.shape:
        return f"shape {list(got.shape)}, expected {list(out.shape)}"
    stored = formats.STORED[dtype]
    if got.dtype != stored:
        return f"stored as {got.dtype}, expected {np.dtype(stored)} for {dtype}"
    if got.size == 0:
        return None
    if dtype in formats.COMPLEX:
        return compare_complex(got, out, dtype, scale)
    if dtype not in formats.FLOATS:
        return compare_exact(got, out, traits)
    # NumPy turns arrays of rank 0 into scalars, which take no masks.
    got = np.atleast_1d(formats.to_float64(got, dtype))
    out = np.atleast_1d(formats.to_float64(out, dtype))
    if traits.moves_only:
        return compare_moved(got, out, dtype, traits.half_inputs)
    if dtype in formats.FLOAT8:
        return compare_fp8(got, out, dtype)
    if ref is not None and np.shape(ref) != out.shape:
        ref = np.reshape(ref, out.shape) if np.size(ref) == out.size else None
    return compare_float(got, out, dtype, ref, traits, scale)


def compare_exact(got, out, traits):
    bad = np.asarray(got != out)
    allowed = traits.allowed_jumps(bad.size)
    if bad.sum() > allowed:
        return first_difference(got, out, bad)
    return None


def compare_moved(got, out, dtype, half_inputs=False):
    """Data that only moved: itself, or itself rounded once to the device's 16-bit format."""
    sixteen = dtype in formats.FLOAT16 or (half_inputs and dtype in formats.FLOATS)
    ok = (got == out) | (np.isnan(got) & np.isnan(out))
    if sixteen:
        ok |= got == formats.round_to(formats.round_to_dl16(out), dtype)
        ok |= ~np.isfinite(out) & same_class(classes(got), classes(out), True)
    if not ok.all():
        return first_difference(got, out, ~ok)
    return None


def compare_fp8(got, out, dtype):
    """fp8 rounds so coarsely that rounding is a jump: the next code, for few elements."""
    table = formats.fp8_table(dtype)
    values = np.unique(table[np.isfinite(table)])
    both = np.isfinite(got) & np.isfinite(out)
    steps = np.abs(np.searchsorted(values, np.where(both, got, 0)) - np.searchsorted(values, np.where(both, out, 0)))
    bad = np.where(both, steps > 1, classes(got) != classes(out))
    if bad.any():
        return first_difference(got, out, bad)
    near = both & (steps == 1)
    if near.sum() > int(JUMP_SHARE * near.size):
        return first_difference(got, out, near)
    return None


def compare_complex(got, out, dtype, scale):
    error = np.abs(got.astype(np.complex128) - out)
    size = np.abs(out.astype(np.complex128))
    finite = np.isfinite(size)
    rms = np.sqrt(np.mean(size[finite] ** 2)) if finite.any() else 0.0
    unit = 2.0**-24 if dtype == "complex64" else 2.0**-53
    bad = np.where(
        finite,
        error > np.maximum(256 * unit * scale * np.maximum(rms, size), FLOOR),
        ~((got == out) | (np.isnan(got) & np.isnan(out))),
    )
    if bad.any():
        return first_difference(got, out, bad)
    return None


def relative_error(values, ref):
    """e per element; differences below the absolute floor count as none."""
    rms = np.sqrt(np.mean(np.square(ref))) if ref.size else 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        difference = np.abs(values - ref)
    difference = np.where(difference <= FLOOR, 0.0, difference)
    size = np.maximum(rms, np.abs(ref))
    return difference / np.where(size > 0, size, 1.0)


def compare_float(got, out, dtype, ref, traits, scale):
    sixteen = dtype in formats.FLOAT16
    has_ref = ref is not None
    ref = np.asarray(ref, np.float64) if has_ref else out
    rounded = formats.round_to(ref, dtype)
    class_got, class_ref, class_out = classes(got), classes(rounded), classes(out)
    class_ok = same_class(class_got, class_ref, sixteen) | same_class(class_got, class_out, sixteen)
    allowed = traits.allowed_jumps(got.size)
    if (~class_ok).sum() > allowed:
        return first_difference(got, rounded, ~class_ok)

    # Numbers are compared where all three have them; where the reference
    # overflows and PyTorch's result does not, with the latter.
    finite = (class_got == 0) & class_ok
    target = np.where(class_ref == 0, ref, out)
    finite &= np.isfinite(target)
    if not finite.any():
        return None
    values, target = got[finite], target[finite]
    own = out[finite]
    error = relative_error(values, target)
    own_error = relative_error(np.where(np.isfinite(own), own, target), target) if has_ref else np.zeros_like(error)
    if traits.jumps:
        # PyTorch's own result may lie on the other side too.
        keep = len(own_error) - int(JUMP_SHARE * got.size)
        own_error = np.sort(own_error)[: max(keep, 1)]
    peak = float(own_error.max())
    peak_rms = float(np.sqrt(np.mean(np.square(own_error))))

    rms_bound = None
    if sixteen:
        bound, rms_bound = bounds_16(traits)
        bound = max(5 * peak, bound * scale)
        rms_bound = rms_bound and max(5 * peak_rms, rms_bound * scale)
    else:
        unit = 1.0 if dtype == "float32" else 2.0**-29
        bound = max(8 * peak, (1 if has_ref else 4) * ROUNDINGS_F32 * unit * scale)

    bad = error > bound
    if traits.jumps and bad.any():
        bad &= relative_error(values, np.where(np.isfinite(own), own, values + 1)) > bound
        left = allowed - int((~class_ok).sum())
        if bad.sum() <= left:
            error = error[~bad]
            bad = np.zeros(0, bool)
    if bad.any():
        flat = np.flatnonzero(finite)[bad]
        index = np.unravel_index(flat[0], got.shape) if got.ndim else ()
        place = "[" + ", ".join(str(int(i)) for i in index) + "]"
        number = "beyond its bound" if len(flat) == 1 else f"{len(flat)} of {got.size} beyond"
        return f"{place} is {got[index]:.8g}, expected {ref[index]:.8g} (e = {error[bad][0]:.3g}, max e = {error.max():.3g}, bound {bound:.3g}; {number})"
    if rms_bound is not None and error.size:
        rms = float(np.sqrt(np.mean(np.square(error))))
        if rms > rms_bound:
            return f"rms e = {rms:.3g}, bound {rms_bound:.3g} (max e = {error.max():.3g})"
    return None


def compare_random(got, out, dtype, drawn=None):
    """Results of random operations: shape, dtype and range only. drawn: the range of more results, if known."""
    got, out = np.asarray(got), np.asarray(out)
    if got.shape != out.shape:
        return f"shape {list(got.shape)}, expected {list(out.shape)}"
    if got.dtype != formats.STORED[dtype]:
        return f"stored as {got.dtype}, expected {np.dtype(formats.STORED[dtype])}"
    if got.size == 0 or dtype in formats.COMPLEX:
        return None
    if dtype in formats.FLOATS:
        got, out = formats.to_float64(got, dtype), formats.to_float64(out, dtype)
        if not np.isfinite(got).all() and np.isfinite(out).all():
            return "infinities or NaNs where PyTorch's result has none"
    got, out = got.astype(np.float64), out.astype(np.float64)
    low, high = drawn or (float(np.nanmin(out)), float(np.nanmax(out)))
    room = max(high - low, 1.0) * 2
    if np.nanmin(got) < low - room or np.nanmax(got) > high + room:
        return f"range [{np.nanmin(got)}, {np.nanmax(got)}], PyTorch's result has [{low}, {high}]"
    return None
