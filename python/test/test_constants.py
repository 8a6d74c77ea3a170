# test_constants.py - Constants of all types, effects, and what cannot be imported
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What test/fuzz/constants.py draws at random, by hand: one of each kind. Cases whose
# mistakes ended the process have lit tests, too.
"""Tests of constants and effects through both front ends."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import spyre_mlir  # noqa: E402
from spyre_mlir import dynamo  # noqa: E402

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
FP8 = [torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz]
INTEGERS = [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8]
COMPLEX = [torch.complex64, torch.complex128]
X = torch.arange(32).reshape(4, 8).half() / 4


class Holds(torch.nn.Module):
    def __init__(self, value, use):
        super().__init__()
        self.value, self.use = value, use

    def forward(self, x):
        return self.use(x, self.value)


def by(how, module, *arguments):
    if how == "compile":
        return spyre_mlir.compile(module, *arguments)(*arguments)
    torch._dynamo.reset()
    with torch.no_grad():
        return torch.compile(module, backend="spyre")(*arguments)


def check(how, module, *arguments):
    with torch.no_grad():
        wanted = module(*arguments)
    got = by(how, module, *arguments)
    for a, b in zip(got, wanted, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        assert torch.allclose(a.to(torch.complex128), b.to(torch.complex128), rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("how", ["compile", "torch.compile"])
@pytest.mark.parametrize("dtype", [*FLOATS, *FP8, *INTEGERS, torch.bool, *COMPLEX], ids=str)
def test_attribute_read_twice(dtype, how):
    value = (torch.arange(8) % 3).to(dtype)
    number = lambda c: (torch.view_as_real(c)[..., 0] if c.is_complex() else c).half()  # noqa: E731
    check(how, Holds(value, lambda x, c: (x + number(c), x * number(c), c)), X)


@pytest.mark.parametrize("how", ["compile", "torch.compile"])
@pytest.mark.parametrize("dtype", [*FLOATS, *FP8, *INTEGERS, torch.bool, *COMPLEX], ids=str)
def test_made_by_the_function(dtype, how):
    def made(x):
        zeros, ones = torch.zeros(4, 8, dtype=dtype), torch.ones((), dtype=dtype)
        return zeros, ones, torch.cat([zeros, torch.full((2, 8), 2, dtype=dtype)]), x * 2

    check(how, made, X)


@pytest.mark.parametrize("how", ["compile", "torch.compile"])
def test_complex_numbers(how):
    z = torch.complex(X.float(), -X.float())
    check(how, lambda z: (z * 2j, z + (1 - 1j), torch.full((3,), 1j), torch.where(z.real > 0, z, 0j)), z)


def test_types_that_programs_do_not_have():
    for dtype in (torch.uint16, torch.uint32, torch.uint64):
        with pytest.raises(spyre_mlir.SpyreError, match=str(dtype).removeprefix("torch.")):
            spyre_mlir.compile(lambda x: (x, torch.zeros(3, dtype=dtype)), X)  # noqa: B023
        check("torch.compile", lambda x: (x * 2, torch.full((3,), 7, dtype=dtype).to(torch.int64)), X)  # noqa: B023


def test_what_cannot_be_imported_goes_alone():
    def between(x):
        return (torch.exp(x) * 2 + torch.full((8,), 7, dtype=torch.uint16).half() + torch.relu(x),)

    dynamo.reset_summaries()
    check("torch.compile", between, X / 8)
    (placement,) = dynamo.summaries()
    assert placement.device_nodes >= 4
    assert all("uint16, which programs do not have" in reason for _, reason in placement.reasons)


SEEN = []


@torch.library.custom_op("spyre_test::note", mutates_args=())
def note(x: torch.Tensor, name: str) -> torch.Tensor:
    SEEN.append((name, float(x.sum())))
    return x.clone()


note.register_fake(lambda x, name: torch.empty_like(x))
note.register_effect(pytest.importorskip("torch._higher_order_ops.effects")._EffectType.ORDERED)


@pytest.mark.parametrize("how", ["compile", "torch.compile"])
def test_effects_run_in_their_order(how):
    def noted(x):
        torch.ops.spyre_test.note(x, "first")  # nobody reads it
        y = torch.ops.spyre_test.note(torch.exp(x), "second")
        torch.ops.spyre_test.note(y * 0, "third")
        return (y + x,)

    x = torch.ones(4, 8).half()
    SEEN.clear()
    got = by(how, noted, x)
    assert [name for name, _ in SEEN] == ["first", "second", "third"]
    assert SEEN[0][1] == 32 and SEEN[2][1] == 0
    assert torch.allclose(got[0], torch.exp(x) + x, rtol=1e-2)


@pytest.mark.parametrize("how", ["compile", "torch.compile"])
def test_assertions_are_kept(how):
    def asserted(x):
        torch._assert_async((x > 0).all(), "not positive")
        return (x * 2,)

    check(how, asserted, X + 1)
    with pytest.raises(RuntimeError, match="not positive"):
        by(how, asserted, X - 1)


def test_effects_that_are_no_operators():
    printing = pytest.importorskip("torch._higher_order_ops.print").print
    with pytest.raises(spyre_mlir.ExportError, match="has an effect that a program cannot have"):
        spyre_mlir.compile(lambda x: (printing("x {n}", n=3), x * 2)[1], X)
