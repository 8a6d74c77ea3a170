#!/usr/bin/env python3
# python_mlp.py - A gated MLP, and weights that change
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Weights are copied to the device once; a weight that was changed in place is copied
# again before the next call, without compiling again.
"""A gated MLP with SiLU, called twice with different weights."""

import sys

import comparison
import torch
import torch.nn.functional as F


class MLP(torch.nn.Module):
    def __init__(self, size, inner):
        super().__init__()
        self.gate = torch.nn.Linear(size, inner)
        self.up = torch.nn.Linear(size, inner)
        self.down = torch.nn.Linear(inner, size)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


@torch.no_grad()
def main():
    torch.manual_seed(0)
    model = MLP(256, 1024).half().eval()
    x = torch.randn(128, 256).half()
    compiled = torch.compile(model, backend="spyre")

    if comparison.report(model, (x,), compiled(x)):
        return 1
    model.down.weight.mul_(2)
    print("\nwith other weights:")
    return comparison.report(model, (x,), compiled(x))


if __name__ == "__main__":
    sys.exit(main())
