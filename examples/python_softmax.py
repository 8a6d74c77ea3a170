#!/usr/bin/env python3
# python_softmax.py - The smallest program: one operation on the device
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# spyre_mlir.compile gives a program that can be looked at and saved; torch.compile
# gives a function in place of the module. Both compute the same bits.
"""Softmax of rows of an odd length."""

import sys

import comparison
import spyre_mlir
import torch


def main():
    torch.manual_seed(0)
    model = torch.nn.Softmax(-1)
    x = (torch.randint(-256, 257, (50, 1000)) / 64).half()  # numbers that the device's format has, too

    program = spyre_mlir.compile(model, x)
    print(program.explain())

    compiled = torch.compile(model, backend="spyre")
    y = compiled(x)
    if not torch.equal(y, program(x)):
        print("the program and torch.compile differ")
        return 1
    print(f"rows sum to 1 within {float((y.double().sum(-1) - 1).abs().max()):.2g}")
    return comparison.report(model, (x,), y)


if __name__ == "__main__":
    sys.exit(main())
