# test_exceptions.py - What PyTorch refuses at a call
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Indices that are out of range and the like: compiled functions take and refuse what
# PyTorch takes and refuses, with the same exception, and write nothing.
"""Exceptions of host calls are PyTorch's."""

import pytest

torch = pytest.importorskip("torch", reason="torch")
pytest.importorskip("torch_mlir", reason="torch")

import spyre_mlir  # noqa: E402
import spyre_mlir.dynamo  # noqa: E402, F401
import torch.nn.functional as nn  # noqa: E402


def wide(i):
    return i[:, None].expand(2, 8)


CASES = {
    "index_add": lambda x, i, s: torch.index_add(x * 3, 0, i, s),
    "index_add with alpha": lambda x, i, s: (x * 3).index_add_(0, i, s, alpha=2),
    "index_copy": lambda x, i, s: torch.index_copy(x * 3, 0, i, s) + 1,
    "index_fill": lambda x, i, s: torch.index_fill(x * 2, 0, i, 5.0) + 1,
    "index_select": lambda x, i, s: torch.index_select(x * 2, 0, i) + 1,
    "index": lambda x, i, s: (x * 2)[i] + 1,
    "index_put": lambda x, i, s: torch.index_put(x * 2, (i,), s, accumulate=True) + 1,
    "scatter": lambda x, i, s: torch.scatter(x * 2, 0, wide(i), s) + 1,
    "scatter_add": lambda x, i, s: torch.scatter_add(x * 2, 0, wide(i), s) + 1,
    "gather": lambda x, i, s: torch.gather(x * 2, 0, wide(i)) + 1,
    "take": lambda x, i, s: torch.take(x * 2, i) + 1,
    "embedding": lambda x, i, s: nn.embedding(i, x * 2) + 1,
    "one_hot": lambda x, i, s: nn.one_hot(i, 4).to(x) * 2,
    "nll_loss": lambda x, i, s: nn.nll_loss(x[:2] + 1, i) * 2,
    "cross_entropy": lambda x, i, s: nn.cross_entropy(x[:2] + 1, i) * 2,
    "bincount": lambda x, i, s: torch.bincount(i, minlength=4) * 2,
    "repeat_interleave": lambda x, i, s: torch.repeat_interleave(x[:2], i, dim=0, output_size=3) + 1,
    "in place before": lambda x, i, s: (x.mul_(2), torch.index_select(x, 0, i))[1],
}
INDICES = [[0, -1], [0, 9], [0, 99], [1, 2]]


def outcome(function, x, i, s):
    """(result or None, exception or None)."""
    try:
        with torch.no_grad():
            return function(x, i, s), None
    except Exception as error:  # noqa: BLE001
        return None, error


@pytest.mark.parametrize("direct", [False, True], ids=["torch.compile", "compile"])
@pytest.mark.parametrize("name", CASES)
def test_as_pytorch(name, direct):
    function = CASES[name]
    x, s = torch.arange(32.0).reshape(4, 8) / 8, torch.ones(2, 8)
    torch._dynamo.reset()
    try:
        compiled = (
            spyre_mlir.compile(function, x, torch.tensor([1, 2]), s)
            if direct
            else torch.compile(function, backend="spyre")
        )
    except spyre_mlir.SpyreError:
        assert name in ("bincount", "repeat_interleave")  # the result's size depends on values
        return
    for index in INDICES:
        i = torch.tensor(index)
        mine = x.clone()
        want, error = outcome(function, x.clone(), i, s)
        got, found = outcome(compiled, mine, i, s)
        if error is None:
            assert found is None and (got - want).abs().max() < 1e-4, (index, found)
            continue
        assert type(found) is type(error), (index, found, error)
        assert torch.equal(mine, x), "nothing is written"


def test_cause_and_place():
    program = spyre_mlir.compile(lambda x, i: x.index_select(0, i) * 2, torch.ones(4, 8), torch.tensor([1, 2]))
    with pytest.raises(IndexError) as caught:
        program(torch.ones(4, 8), torch.tensor([1, 7]))
    cause = caught.value.__cause__
    assert isinstance(cause, spyre_mlir.ExecutionError)
    assert "host call 'aten.index_select'" in str(cause) and "test_exceptions.py" in str(cause)
    assert program(torch.ones(4, 8), torch.tensor([1, 3])).shape == (2, 8), "the program goes on"


def test_buffers_are_not_written():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(4, 8))
            self.past = torch.zeros(4, 8)

        def forward(self, x, i):
            self.seen.add_(x)
            self.past = self.past + x
            return x.index_select(0, i) * 2

    for direct in (False, True):
        model, x = Model(), torch.ones(4, 8)
        torch._dynamo.reset()
        with torch.no_grad():
            f = spyre_mlir.compile(model, x, torch.tensor([1, 2])) if direct else torch.compile(model, backend="spyre")
            f(x, torch.tensor([0, 1]))
            with pytest.raises(IndexError):
                f(x, torch.tensor([0, 9]))
            assert torch.equal(model.seen, x) and torch.equal(model.past, x)
            f(x, torch.tensor([0, 1]))
            assert torch.equal(model.seen, x * 2) and torch.equal(model.past, x * 2)
