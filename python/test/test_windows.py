# test_windows.py - Convolutions and pooling on the device
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Nothing is left to the host (host="none"), in checked mode. Beside PyTorch in float64: 16-bit
# results may be off by 5 x 2^-10 of what is added up, f32 results by 2^-19 of it.
"""Tests of windows: strides, padding, dilation, groups, transposed, one to three dims."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import spyre_mlir  # noqa: E402
import torch.nn.functional as F  # noqa: E402

BOUNDS = {torch.float16: 5 * 2.0**-10, torch.bfloat16: 2.0**-7, torch.float32: 2.0**-19}


def check(function, *arguments, dtype, sizes=None):
    """sizes: what the same function makes of the magnitudes, that errors are measured by."""
    arguments = [x.to(dtype) for x in arguments]
    program = spyre_mlir.compile(function, *arguments, host="none", check=True)
    got = program(*arguments)
    wide = [x.double() for x in arguments]
    wanted = function(*wide)
    size = (sizes or function)(*[x.abs() for x in wide])
    assert got.dtype == dtype and got.shape == wanted.shape
    error = (got.double() - wanted).abs() / size.abs().clamp_min(1e-30)
    assert error.max() <= BOUNDS[dtype], float(error.max())


def convolution(shape, kernel, dtype, bias=True, **keys):
    torch.manual_seed(sum(shape) + sum(kernel))
    x, w = torch.randn(shape), torch.randn(kernel)
    dims = len(shape) - 2
    if keys.get("transposed"):
        keys = {k: v for k, v in keys.items() if k != "transposed"}
        apply = getattr(F, f"conv_transpose{dims}d")
        channels = kernel[1] * keys.get("groups", 1)
    else:
        apply, channels = getattr(F, f"conv{dims}d"), kernel[0]
    if bias:
        check(lambda x, w, b: apply(x, w, b, **keys), x, w, torch.randn(channels), dtype=dtype)
    else:
        check(lambda x, w: apply(x, w, **keys), x, w, dtype=dtype)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
@pytest.mark.parametrize(
    "shape,kernel,keys",
    [
        ((2, 3, 20, 20), (16, 3, 4, 4), {"stride": 4}),  # patches: windows do not overlap
        ((1, 3, 21, 22), (16, 3, 4, 4), {"stride": 4}),  # and leave something over
        ((2, 64, 9, 7), (32, 64, 1, 1), {}),
        ((2, 64, 9, 8), (32, 64, 1, 1), {"stride": 2}),
        ((2, 16, 10, 12), (24, 16, 3, 3), {"padding": 1}),
        ((1, 5, 11, 9), (7, 5, 3, 2), {"stride": (2, 1), "padding": (1, 0), "bias": False}),
        ((1, 8, 14, 14), (8, 8, 3, 3), {"dilation": 2, "padding": 2}),
        ((2, 12, 8, 8), (6, 4, 3, 3), {"groups": 3, "padding": 1}),
        ((1, 8, 9, 9), (16, 1, 3, 3), {"groups": 8, "padding": 1}),  # two kernels a channel
        ((2, 10, 30), (10, 1, 4), {"groups": 10, "padding": 3}),
        ((2, 20, 33), (8, 20, 3), {"stride": 2, "padding": 1}),
        ((1, 4, 5, 6, 7), (6, 4, 3, 3, 3), {"padding": 1}),
        ((1, 6, 5, 7), (6, 4, 3, 3), {"transposed": True, "stride": 2, "padding": 1, "output_padding": 1}),
        ((2, 4, 9), (4, 3, 4), {"transposed": True, "groups": 2, "dilation": 2}),
    ],
    ids=str,
)
def test_convolutions(shape, kernel, keys, dtype):
    convolution(shape, kernel, dtype, **keys)


def test_convolution_of_bf16():
    convolution((1, 16, 8, 8), (8, 16, 3, 3), torch.bfloat16, padding=1)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
@pytest.mark.parametrize(
    "shape,keys",
    [
        ((2, 5, 12, 14), {"kernel_size": 2}),
        ((1, 8, 13, 11), {"kernel_size": 3, "stride": 2, "padding": 1}),
        ((1, 3, 10, 10), {"kernel_size": 3, "stride": 2, "ceil_mode": True}),
        ((3, 9, 9), {"kernel_size": (2, 3), "stride": 1}),
    ],
    ids=str,
)
def test_pooling(shape, keys, dtype):
    torch.manual_seed(1)
    x = torch.randn(shape)
    check(lambda x: F.max_pool2d(x, **keys), x, dtype=dtype, sizes=lambda x: F.max_pool2d(x, **keys))
    check(lambda x: F.avg_pool2d(x, **keys), x, dtype=dtype)
    check(lambda x: F.avg_pool2d(x, **keys, count_include_pad=False), x, dtype=dtype)


def test_pooling_along_one_and_three_dims():
    x = torch.randn(2, 6, 31)
    check(lambda x: F.max_pool1d(x, 3, 2, 1), x, dtype=torch.float16)
    check(lambda x: F.avg_pool1d(x, 4), x, dtype=torch.float16)
    y = torch.randn(1, 2, 6, 6, 6)
    check(lambda y: F.avg_pool3d(y, 2, divisor_override=3), y, dtype=torch.float32)
    check(lambda y: F.adaptive_avg_pool2d(y.flatten(0, 1), (3, 2)), y, dtype=torch.float16)
    check(lambda y: F.adaptive_avg_pool2d(y[0], 1), y, dtype=torch.float32)


def test_a_small_network():
    """What vision models are made of, in f32, without the host."""
    torch.manual_seed(2)
    network = torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 3, padding=1, bias=False),
        torch.nn.BatchNorm2d(16),
        torch.nn.ReLU(),
        torch.nn.Conv2d(16, 32, 3, stride=2, padding=1),
        torch.nn.GELU(),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(32, 10),
        torch.nn.LogSoftmax(-1),
    ).eval()
    x = torch.randn(2, 3, 16, 16)
    with torch.no_grad():
        got = spyre_mlir.compile(network, x, host="none", check=True)(x)
        wanted = network.double()(x.double())
    assert torch.allclose(got.double(), wanted, rtol=1e-5, atol=1e-5)
