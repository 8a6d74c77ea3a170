#!/usr/bin/env python3
# python_cnn.py - A convolutional network, of which PyTorch does what the device cannot
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Convolutions and pooling run on the device. What has no device form (here a convolution whose
# result is pooled, with more dims than a descriptor has names for) runs in PyTorch, between
# what has one; the summary names it. The answers are PyTorch's all the same.
"""Convolutions, batch norms, pooling and a residual block; shows what runs on the host, and why."""

import sys

import comparison
import torch
import torch.nn.functional as F


class Residual(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first = torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.second = torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.first_norm, self.second_norm = torch.nn.BatchNorm2d(channels), torch.nn.BatchNorm2d(channels)

    def forward(self, x):
        y = F.relu(self.first_norm(self.first(x)))
        return F.relu(x + self.second_norm(self.second(y)))


class CNN(torch.nn.Module):
    def __init__(self, channels=64, classes=10):
        super().__init__()
        self.stem = torch.nn.Conv2d(3, channels, 5, stride=2, padding=2)
        self.pool = torch.nn.MaxPool2d(2)
        self.residual = Residual(channels)
        self.narrow = torch.nn.Conv2d(channels, 2 * channels, 1)
        self.head = torch.nn.Sequential(
            torch.nn.Linear(2 * channels, 128), torch.nn.ReLU(), torch.nn.Linear(128, classes)
        )

    def forward(self, pictures):
        x = self.pool(F.relu(self.stem(pictures)))
        x = F.gelu(self.narrow(self.residual(x)))
        return torch.softmax(self.head(x.mean((2, 3))), -1)


@torch.no_grad()
def main():
    torch.manual_seed(0)
    model = CNN().half().eval()
    pictures = torch.randn(4, 3, 32, 32).half()
    compiled = torch.compile(model, backend="spyre")
    return comparison.report(model, (pictures,), compiled(pictures))


if __name__ == "__main__":
    sys.exit(main())
