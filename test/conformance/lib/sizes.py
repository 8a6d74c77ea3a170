# sizes.py - Arithmetic of shapes
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Divisors of a size, strides of a shape."""


def divisors(number):
    return [d for d in range(1, number + 1) if number % d == 0]


def contiguous(shape):
    """The strides of a contiguous array, in elements."""
    result, step = [], 1
    for size in reversed(shape):
        result.insert(0, step)
        step *= max(size, 1)
    return tuple(result)
