# test_host.py - Operations that PyTorch computes inside a program
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the device cannot do is a step of the compiled program: exact where the device has no
# part in it, with a reason for people, and refused where the host is not wanted.
"""Host calls: values, kinds of arguments and results, reasons, mistakes."""

import numpy as np
import pytest
import spyre_mlir
from conftest import ADD, SKIPS

torch = pytest.importorskip("torch", reason=SKIPS["torch"])
pytest.importorskip("torch_mlir", reason=SKIPS["torch"])


def check(function, *args, calls=None, exact=True):
    """Compiles, compares with PyTorch, returns the program."""
    program = spyre_mlir.compile(function, *args, check=True, cache=False)
    got, wanted = program(*args), function(*args)
    got, wanted = torch.utils._pytree.tree_leaves(got), torch.utils._pytree.tree_leaves(wanted)
    assert len(got) == len(wanted)
    for x, y in zip(got, wanted):
        assert x.dtype == y.dtype and x.shape == y.shape
        if exact:
            assert torch.equal(
                torch.view_as_real(x) if x.is_complex() else x, torch.view_as_real(y) if y.is_complex() else y
            )
        else:
            assert torch.allclose(x.double(), y.double(), rtol=24 / 1024, atol=24 / 1024)
    if calls is not None:
        assert program.stats["host_calls"] == calls
    return program


def test_several_results_and_lists():
    x = torch.randn(4, 64)
    check(lambda a: torch.topk(a, 3), x, calls={"aten.topk": 1})
    # Views of what the host made are no calls.
    check(lambda a: torch.sort(a, stable=True).values.t()[1:].split(21), x, calls={"aten.sort.stable": 1})


def test_between_two_launches():
    x = torch.randn(8, 128).half()
    program = check(lambda a: torch.exp(torch.cumsum(torch.relu(a) / 64, 1)), x, exact=False)
    assert program.stats["host_calls"] == {"aten.cumsum": 1}
    assert program.stats["device_ops"] >= 2
    ((operation, reason, place),) = program.stats["host_reasons"]
    assert operation == "aten.cumsum" and "no device operation" in reason and "test_host.py" in place
    assert "aten.cumsum" in program.explain() and reason in program.explain()


def test_types_that_the_device_lacks_are_exact():
    big = torch.tensor([2**40 + 1, -(2**52), 7])
    check(lambda a: a * 3 + 1, big)
    x = torch.randn(5, 7, dtype=torch.float64)
    check(lambda a: torch.tanh(a).sort().values, x)
    z = torch.randn(3, 4, dtype=torch.complex64)
    check(lambda a: (a * a.conj(), torch.abs(a)), z)
    check(lambda a: a.to(torch.int16) // 3, torch.arange(-10, 10, dtype=torch.uint8))


def test_f32_is_computed_in_f32():
    """On the device, as on the host."""
    x, y = torch.randn(33, 65), torch.randn(65, 9)
    program = check(lambda a, b: a @ b, x, y, exact=False, calls={})
    assert torch.allclose(program(x, y), x @ y, rtol=1e-5, atol=1e-5)


def test_indices_and_writes_at_indices():
    x, i = torch.randn(10, 6), torch.tensor([7, 0, 7, -1])
    check(lambda a, b: (a[b], a[:, b.clamp(0, 5)], a.index_put((b,), torch.ones(4, 6), accumulate=True)), x, i)


def test_random_numbers_are_pytorchs():
    def function(a):
        return torch.bernoulli(torch.sigmoid(a)), torch.rand(3), torch.rand_like(a)

    x = torch.randn(4, 8)
    program = spyre_mlir.compile(function, x, cache=False)
    torch.manual_seed(5)
    got = program(x)
    torch.manual_seed(5)
    for a, b in zip(got, function(x)):
        assert torch.equal(a, b)


def test_results_that_nothing_computes():
    def function(a, b):
        return a, b[1:], a, torch.tensor([1.5, 2.5], dtype=torch.float64)

    check(function, torch.randn(3), torch.arange(5))


def test_nan_and_infinity_of_arguments():
    x = torch.tensor([1.0, float("nan"), float("inf"), -float("inf"), 0.0])
    check(lambda a: (a.isnan(), a.isinf(), torch.nan_to_num(a), a == float("inf"), a.half().isnan()), x)


def test_nan_that_the_program_writes():
    x, mask = torch.randn(4, 9).half(), torch.rand(4, 9) > 0.3
    check(lambda a, m: torch.where(m, a, float("nan")).nanmedian(1).values, x, mask)
    check(lambda a, m: torch.nansum(a.float().masked_fill(m, float("nan")), 1), x, mask)


def test_padding_of_nothing():
    check(lambda a: torch.nn.functional.pad(a, (1, 1, 0, 1)) * 2, torch.zeros(0, 3, 3).half())


def test_without_the_host():
    x = torch.randn(4, 64).half()
    with pytest.raises(spyre_mlir.CompileError, match="erfinv"):
        spyre_mlir.compile(torch.erfinv, x, host="none")
    with pytest.raises(spyre_mlir.OptionError, match="'torch', 'table' or 'none'"):
        spyre_mlir.compile(torch.erfinv, x, host="cpu")


def test_the_table_without_pytorch(tmp_path):
    """A program whose host calls the runtime's own functions know runs without PyTorch's."""
    x = torch.randn(4, 64).half()
    program = spyre_mlir.compile(lambda a: torch.cumsum(a, 1), x, host="table", cache=False)
    assert program.stats["host_calls"] == {"aten.cumsum": 1}
    assert torch.allclose(program(x), torch.cumsum(x, 1), rtol=2e-3, atol=2e-3)


def test_sizes_that_only_a_run_tells():
    with pytest.raises(spyre_mlir.SpyreError):
        spyre_mlir.compile(lambda a: torch.nonzero(a), torch.tensor([0.0, 1.0, 2.0]), cache=False)


def test_an_operator_that_fails_names_itself():
    text = ADD.replace(
        "    return",
        """    %i = torch.constant.int 7
    %n = torch.aten.glu %0, %i : !torch.vtensor<[32,96],f16>, !torch.int -> !torch.vtensor<[32,48],f16>
    return""",
    ).replace("return %0 : !torch.vtensor<[32,96],f16>", "return %n : !torch.vtensor<[32,48],f16>")
    text = text.replace("-> !torch.vtensor<[32,96],f16> {", "-> !torch.vtensor<[32,48],f16> {")
    program = spyre_mlir.compile_text(text, cache=False)
    arrays = [np.ones(spec.shape, np.float16) for spec in program.inputs]
    with pytest.raises(IndexError, match="[Dd]im") as caught:  # what PyTorch raises
        program(*arrays)
    assert isinstance(caught.value.__cause__, spyre_mlir.ExecutionError)
    assert "host call 'aten.glu'" in str(caught.value.__cause__)


def test_operators_that_pytorch_lacks_are_refused_together():
    text = ADD.replace(
        "    return",
        """    %1 = torch.operator "torch.probe.twist"(%0) : (!torch.vtensor<[32,96],f16>) -> !torch.vtensor<[32,96],f16>
    %2 = torch.aten.no_such_operation %1 : !torch.vtensor<[32,96],f16> -> !torch.vtensor<[32,96],f16>
    return""",
    ).replace("return %0", "return %2")
    with pytest.raises(spyre_mlir.CompileError) as caught:
        spyre_mlir.compile_text(text, cache=False)
    messages = [(error.message.split("'")[1], error.line) for error in caught.value.errors]
    lines = text.splitlines()
    assert [(name, name in lines[line - 1]) for name, line in messages] == [
        ("aten.no_such_operation", True),
        ("probe.twist", True),
    ]


def test_saved_programs_call_the_host(tmp_path):
    x = torch.randn(4, 64).half()
    program = spyre_mlir.compile(lambda a: tuple(torch.topk(torch.exp(a), 2)), x, cache=False)
    program.save(tmp_path / "program")
    loaded = spyre_mlir.load(tmp_path / "program")
    for a, b in zip(loaded(x), program(x)):
        assert torch.equal(a, b)


class TestInsideAHostCall:
    """What Python may do while the device waits for the host."""

    @pytest.fixture
    def during(self, monkeypatch):
        """Runs a function before each host call of programs."""
        import spyre_mlir._host as host

        original, inside = host.call, []

        def call(*args):
            for function in inside:
                function()
            return original(*args)

        monkeypatch.setattr(host, "call", call)
        return inside.append

    def test_other_programs_may_die(self, during):
        x = torch.randn(8, 128).half()
        others = [spyre_mlir.compile_text(ADD)]
        a = np.ones((32, 96), np.float16)
        assert (others[0](a, a) == 2).all()
        during(others.clear)  # as the garbage collector may
        program = check(
            lambda a: torch.exp(torch.cumsum(torch.relu(a) / 64, 1)), x, exact=False, calls={"aten.cumsum": 1}
        )
        assert not others
        program(x)

    def test_the_device_is_taken(self, during):
        other = spyre_mlir.compile_text(ADD)
        a = np.ones((32, 96), np.float16)
        program = spyre_mlir.compile(lambda a: torch.cumsum(torch.relu(a), 1), torch.ones(8, 128).half(), cache=False)
        during(lambda: other(a, a))
        with pytest.raises(spyre_mlir.errors.ExecutionError, match="uses the program's device"):
            program(torch.ones(8, 128).half())
