# arrays.py - Arrays of programs, in .npz files and in lines of JSON
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The forms are those of the README files beside the data: arrays are stored as
# lib/formats.py says, `in0` … are arguments, `out0` … PyTorch's results, `ref0` …
# the same in higher precision; a value in a line is [dtype, shape, base64].
"""Reading and writing the arrays of programs."""

import base64

import numpy as np

from . import formats


def numbered(data, prefix):
    """`prefix`0, `prefix`1 … of an opened .npz file."""
    arrays = []
    while f"{prefix}{len(arrays)}" in data.files:
        arrays.append(data[f"{prefix}{len(arrays)}"])
    return arrays


def read(path):
    """Arguments, (dtype, result) pairs, and references (None where there is none) of an .npz file."""
    data = np.load(path)
    outputs = numbered(data, "out")
    dtypes = data["out_dtypes"] if "out_dtypes" in data.files else [array.dtype for array in outputs]
    refs = [data[f"ref{i}"] if f"ref{i}" in data.files else None for i in range(len(outputs))]
    return numbered(data, "in"), list(zip(map(str, dtypes), outputs)), refs


def write_inputs(path, arrays):
    """The file that --inputs of the tools takes."""
    np.savez(path, **{f"in{i}": array for i, array in enumerate(arrays)})


def encode(array, dtype):
    """[dtype, shape, base64] of a stored array."""
    array = np.asarray(array)  # a contiguous copy would have a dim more than a number
    return [dtype, list(array.shape), base64.b64encode(array.tobytes()).decode()]


def decode(value):
    """[dtype, shape, base64] -> (dtype, stored array)."""
    dtype, shape, data = value
    if dtype == "py_int":
        return "int64", np.asarray(int(data), np.int64)
    if dtype == "py_float":
        return "float64", np.asarray(float(data), np.float64)
    if dtype == "py_bool":
        return "bool", np.asarray(data in (True, "True", "true", 1), np.bool_)
    return dtype, np.frombuffer(base64.b64decode(data or ""), formats.STORED[dtype]).reshape(shape)
