# tensors.py - PyTorch's tensors as stored arrays, and back
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The stored forms are those of formats.py. Needs PyTorch and nothing else.
"""Tensors, their dtypes' names and the arrays that stand for them in .npz files."""

import numpy as np
import torch


def name_of(dtype):
    """The name of a dtype, as formats.py has it."""
    return str(dtype).removeprefix("torch.")


def stored(tensor):
    """The array that stands for a tensor in an .npz file."""
    tensor = tensor.detach().contiguous()
    return tensor.view(torch.int16).numpy().view(np.uint16) if tensor.dtype == torch.bfloat16 else tensor.numpy()


def from_stored(array, dtype):
    """The tensor of a stored array; dtype: its name."""
    tensor = torch.from_numpy(np.array(array))
    return tensor.view(torch.bfloat16) if dtype == "bfloat16" else tensor


def in_float64(tensor):
    return tensor.double() if tensor.is_floating_point() else tensor
