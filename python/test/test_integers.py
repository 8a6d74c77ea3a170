# test_integers.py - Casts of integers and places of extremes on the device
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Integers are f32 numbers on the device; the copies convert. Nothing is left to the host, in
# checked mode, and integers are PyTorch's to the last one.
"""Tests of argmax and its kin, and of casts at the edge of a program."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import spyre_mlir  # noqa: E402

FLOATS = [torch.float16, torch.bfloat16, torch.float32]


def check(function, *arguments):
    program = spyre_mlir.compile(function, *arguments, host="none", check=True)
    got, wanted = program(*arguments), function(*arguments)
    got, wanted = (x if isinstance(x, tuple) else (x,) for x in (got, wanted))
    for a, b in zip(got, wanted, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        if a.is_floating_point():
            assert torch.allclose(a.float(), b.float(), rtol=2e-3, atol=2e-3, equal_nan=True)
        else:
            assert torch.equal(a, b)


def numbers(dtype):
    """Equal largest numbers, f16 numbers that the device's 16 bits do not tell apart."""
    torch.manual_seed(3)
    x = torch.randn(5, 100)
    x[1, 7] = x[1, 3] = 9
    x[4, 60], x[4, 20] = 2047, 2046
    return x.to(dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_places(dtype):
    x = numbers(dtype)
    check(lambda x: x.argmax(-1), x)
    check(lambda x: x.argmin(0, keepdim=True), x)
    check(lambda x: x.argmax(), x)
    check(lambda x: tuple(torch.max(x, 1)), x)
    check(lambda x: tuple(torch.min(x.reshape(5, 4, 25), 1, keepdim=True)), x)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_places_among_infinities_and_nans(dtype):
    x = numbers(dtype)
    x[2, 9] = x[2, 30] = float("nan")
    x[3, 4], x[0, 0] = float("inf"), -float("inf")
    program = spyre_mlir.compile(lambda x: x.argmax(-1), x, host="none", nonfinite="warn")
    assert torch.equal(program(x), x.argmax(-1))


def test_places_of_what_was_computed():
    torch.manual_seed(4)
    check(lambda x, w: (x @ w).argmax(-1), torch.randn(4, 64), torch.randn(64, 500))


def test_casts():
    i = torch.tensor([[0, -3, 2**24 + 1, 2**31 - 1], [5, 1, -(2**20), 7]])
    check(lambda i: i.float() * 0.5, i)
    check(lambda i: (i.T.to(torch.float16) + 1, i), i % 100)
    check(lambda i: i.float().sin(), (i % 1000).int())
    x = numbers(torch.float32)
    check(lambda x: ((x * 7).long(), (x * 7).int()), x)
    check(lambda x: (x > 0).long(), x)


def test_rotary_positions():
    """Angles of integer positions, as decoders compute them in f32."""
    frequencies = 10000.0 ** (-torch.arange(0, 64, 2) / 64)
    positions = torch.arange(40).reshape(2, 20)
    check(lambda p, f: tuple(g(p[:, :, None].float() * f) for g in (torch.cos, torch.sin)), positions, frequencies)
