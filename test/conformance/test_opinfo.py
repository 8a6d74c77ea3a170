# test_opinfo.py - Tests of how PyTorch's operator database becomes cases
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Samples with tensors anywhere, rounding, what is skipped and why, on samples made
# here; the database itself by a few of its operations.
"""Tests of opinfo.py and lib/opinfos.py."""

import pathlib
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

import opinfo  # noqa: E402
from torch.utils import _pytree  # noqa: E402

from lib import callcases, formats, harness, opcalls, opinfos, tolerance  # noqa: E402


def call_of(function, *args, scale=1.0, **kwargs):
    return opinfos.Call(function, *_pytree.tree_flatten((args[0], args[1:], kwargs)), scale)


def test_tensors_are_arguments_and_the_rest_is_closed_over():
    a, b, c = torch.ones(2), torch.zeros(2), torch.full((2,), 3.0)
    call = call_of(lambda first, number, **more: first[1] * number + more["b"], [a, c], 2, b=b)
    assert len(call.arguments) == 3
    [out] = call.module(*call.arguments)
    assert torch.equal(out, torch.full((2,), 6.0))
    program = callcases.program_of(lambda scale: call)
    assert program.text.count("!torch.vtensor<[2],f32>") >= 3 and program.refs[0].dtype == np.float64


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_inputs_are_what_the_device_holds(dtype):
    x = (torch.randn(1000, dtype=torch.float64) * 100).to(dtype)
    call = call_of(torch.neg, x)
    values = call.arguments[0].double().numpy()
    assert np.array_equal(formats.round_to_dl16(values), values)
    assert np.allclose(values, x.double().numpy(), rtol=2.0**-8)
    assert torch.equal(call_of(torch.neg, x, scale=0.125).arguments[0], call.arguments[0] * 0.125)


def test_dtypes_that_a_sample_names_become_float64():
    call = call_of(torch.sum, torch.ones(3, dtype=torch.float16), dtype=torch.float16)
    module, arguments = call.wide()
    assert module(*arguments)[0].dtype == torch.float64


def test_written_arguments_are_no_results():
    call = call_of(torch.Tensor.add_, torch.ones(3), 1)
    program = callcases.program_of(lambda scale: call)
    assert torch.equal(call.arguments[0], torch.ones(3))
    assert len(program.outputs) == 1 and "-> !torch.vtensor<[3],f32> {" in program.text


@pytest.mark.parametrize(
    "function, x, key",
    [
        (torch.equal, torch.ones(2), "no-tensor"),
        (lambda x, y: x.to_sparse(), torch.ones(2), "no-dense-tensor"),
        (lambda x, y: y, torch.ones(2).to_sparse(), "no-dense-tensor"),
        (lambda x, y: x, torch.ones(2, dtype=torch.complex32), "no-format"),
    ],
)
def test_what_no_program_can_return(function, x, key):
    with pytest.raises(opcalls.Skip) as skip:
        callcases.program_of(lambda scale: call_of(function, x, torch.ones(2)))
    assert skip.value.key == key and key in harness.skip_reasons()


def test_operations_that_draw():
    def seeded(x):
        torch.manual_seed(3)
        return torch.bernoulli(x)

    assert callcases.program_of(lambda scale: call_of(seeded, torch.full((4, 8), 0.5))).info["random"]
    # Marked as one that draws, but it does so with dropout only.
    q = torch.randn(1, 2, 4, 8)
    attention = torch.nn.functional.scaled_dot_product_attention
    assert not callcases.program_of(lambda scale: call_of(attention, q, q, q)).info["random"]


def test_where_random_results_lie():
    program = callcases.program_of(lambda scale: call_of(torch.randint_like, torch.zeros(1), 3, 100))
    [[low, high]] = program.info["ranges"]
    assert 3 <= low < high < 100
    assert tolerance.compare_random(np.float32([90]), np.float32([3]), "float32", [low, high]) is None
    assert tolerance.compare_random(np.float32([900]), np.float32([3]), "float32", [low, high])


def test_arguments_written_unnoticed_are_no_results():
    mean, var = torch.zeros(2), torch.ones(2)
    x = torch.arange(12.0).reshape(3, 2, 2)
    program = callcases.program_of(
        lambda scale: call_of(torch.native_batch_norm, x, None, None, mean, var, True, 0.5, 0.6)
    )
    assert len(program.outputs) == 3 and program.text.split("->")[1].split("{")[0].count("vtensor") == 3
    evaluated = lambda scale: call_of(torch._native_batch_norm_legit, x, None, None, mean, var, False, 0.5, 0.6)
    program = callcases.program_of(evaluated)  # its schema says that it writes; it does not
    assert len(program.outputs) == callcases.count_results(program.text) == 3


def test_the_same_sample_every_time():
    first, again = (opinfos.build("add", "f16", 2, 5) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first.arguments, again.arguments))
    assert opinfos.choose("add", "f16", 5, 3) == opinfos.choose("add", "f16", 5, 3)
    assert len(opinfos.choose("add", "f16", 5, 3)) == 3
    assert "add" in opinfos.names("i64") and "exp" in opinfos.names("bf16")
    with pytest.raises(opcalls.Unclear):
        opinfos.build("add", "f16", 10**6, 5)


def test_too_large_before_it_is_run():
    with pytest.raises(opcalls.Skip) as skip:
        opinfos.build("mm", "f16", 0, 5, max_elements=1)
    assert skip.value.key == "too-large"


def test_generators_that_raise(monkeypatch):
    def fail(*arguments):
        raise RuntimeError("out of luck\nmore")

    monkeypatch.setattr(opinfos, "samples", fail)
    assert opinfos.choose("add", "f16", 0, 3) == "RuntimeError: out of luck"


def test_which_operations_may_be_wanted():
    assert opinfo.may_be_wanted("nn.functional.pad.reflect/f16", ["pad"])
    assert opinfo.may_be_wanted("add/f16", ["add/f16/2"]) and not opinfo.may_be_wanted("add/f16", ["sub"])
    assert opinfo.may_be_wanted("add/f16", ["dd/f16/2"])


def test_dtypes(capsys):
    assert opinfo.dtypes_of("f16,i64,f16") == ["f16", "i64"]
    with pytest.raises(harness.UsageError):
        opinfo.dtypes_of("f16,f8")


def test_shares():
    rows = [
        {"stats": {"x": 1}, "device_ops": 3, "host_calls": {}},
        {"stats": {"x": 1}, "device_ops": 1, "host_calls": {"aten.sort": 2}},
        {"stats": {"x": 1}, "device_ops": 0, "host_calls": {"aten.sort": 2}},
        {"stats": None, "device_ops": None, "host_calls": None},
    ]
    assert callcases.shares(rows) == [
        "on the device: 2 of 3 cases (67 %), 1 of them without the host; 4 of 8 operations (50 %)"
    ]
    assert callcases.shares(rows[3:]) == []
