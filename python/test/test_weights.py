# test_weights.py - Weights that change between calls
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every way of changing a weight, with and without a version that PyTorch counts, through
# torch.compile and spyre_mlir.compile: the next call has the new values.
"""Changed weights are noticed."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch")
pytest.importorskip("torch_mlir", reason="torch")

import spyre_mlir  # noqa: E402
import spyre_mlir.dynamo as dynamo  # noqa: E402
from spyre_mlir import CompiledProgram  # noqa: E402

N = 64


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(N, 2 * N, bias=False)
        self.down = torch.nn.Linear(2 * N, N)
        self.register_buffer("mask", torch.zeros(N))

    def forward(self, x):
        return self.down(torch.relu(self.up(x))) + self.mask


def make():
    torch.manual_seed(0)
    return Model().eval().requires_grad_(False)


def new(like):
    return torch.full_like(like, 0.25)


def row(model):
    model.up.weight[5] = 1.0


def data_row(model):
    model.up.weight.data[5] = 1.0


def data_element(model):
    model.mask.data[33] = 100.0


def data_replaced(model):
    model.up.weight.data = new(model.up.weight)


def data_replaced_twice(model):
    model.up.weight.data = model.up.weight.data * 2
    model.up.weight.data = model.up.weight.data * 3


def data_turned(model):
    model.down.weight.data = model.down.weight.data.flip(0).t().contiguous().t()


def set_(model):
    model.up.weight.set_(new(model.up.weight))


def parameter_replaced(model):
    model.up.weight = torch.nn.Parameter(new(model.up.weight), requires_grad=False)


def buffer_replaced(model):
    model.mask = torch.ones(N)


def module_replaced(model):
    model.up = torch.nn.Linear(N, 2 * N, bias=False).requires_grad_(False)


def assigned(model):
    model.load_state_dict({k: new(v) for k, v in model.state_dict().items()}, assign=True)


def loaded(model):
    model.load_state_dict({k: new(v) for k, v in model.state_dict().items()})


def applied(model):
    model._apply(lambda t: t * 2)


def vector(model):
    from torch.nn.utils import parameters_to_vector, vector_to_parameters

    vector_to_parameters(parameters_to_vector(model.parameters()) * 2, model.parameters())


def negated(model):
    model.up.weight.data.neg_()


def exchanged(model):
    model.up.weight.data[[0, 1]] = model.up.weight.data[[1, 0]]


CHANGES = [
    row, data_row, data_element, data_replaced, data_replaced_twice, data_turned, set_, parameter_replaced, buffer_replaced,
    module_replaced, assigned, loaded, applied, vector, negated, exchanged,
]  # fmt: skip


def compiled(model, x, direct, **options):
    if direct:
        return spyre_mlir.compile(model, x, **options)
    torch._dynamo.reset()
    return torch.compile(model, backend="spyre", options=options or None)


def close(got, want):
    assert (got - want).abs().max() < 0.01 * max(want.abs().max(), 1)


@pytest.mark.parametrize("direct", [False, True], ids=["torch.compile", "compile"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@torch.no_grad()
def test_changes(change, direct):
    model, x = make(), torch.randn(4, N)
    f = compiled(model, x, direct)
    f(x)
    before = f(x)
    change(model)
    want = model(x)
    assert (want - before).abs().max() > 0.01
    close(f(x), want)
    row(model)
    close(f(x), model(x))


@pytest.mark.parametrize("direct", [False, True], ids=["torch.compile", "compile"])
@pytest.mark.parametrize("change", [row, data_row, data_element, loaded, negated], ids=lambda change: change.__name__)
def test_changes_under_inference_mode(change, direct):
    with torch.inference_mode():
        model, x = make(), torch.randn(4, N)
        f = compiled(model, x, direct)
        f(x)
        change(model)
        close(f(x), model(x))


@torch.no_grad()
def test_swapped_tensors():
    model, x = make(), torch.randn(4, N)
    program = spyre_mlir.compile(model, x)
    program(x)
    torch.utils.swap_tensors(model.up.weight, torch.nn.Parameter(new(model.up.weight), requires_grad=False))
    close(program(x), model(x))


@pytest.mark.parametrize("direct", [False, True], ids=["torch.compile", "compile"])
@torch.no_grad()
def test_memory_shared_with_numpy_and_views(direct):
    array, base = np.zeros(N, np.float32), torch.zeros(2, N)
    model, x = make(), torch.randn(4, N)
    model.mask = torch.from_numpy(array)
    model.register_buffer("more", base[1])
    model.forward = lambda x: Model.forward(model, x) + model.more
    f = compiled(model, x, direct)
    f(x)
    array[7] = 100
    close(f(x), model(x))
    base[1, 3] = 100
    close(f(x), model(x))


@torch.no_grad()
def test_a_module_in_a_closure():
    model, x = make(), torch.randn(4, N)
    program = spyre_mlir.compile(lambda x: model(x) * 2, x)
    assert [spec.weight for spec in program.inputs[:2]] == ["model.up.weight", "model.down.weight"]
    data_row(model)
    close(program(x), model(x) * 2)
    assigned(model)
    close(program(x), model(x) * 2)


@torch.no_grad()
def test_what_a_program_is_not_for_is_said():
    model, x = make(), torch.randn(4, N)
    program = spyre_mlir.compile(model, x)
    model.up.weight = torch.nn.Parameter(torch.zeros(2 * N, N, dtype=torch.float16))
    with pytest.raises(spyre_mlir.ExecutionError, match="'up.weight' is torch.float16.*compile it again"):
        program(x)
    del model.up
    with pytest.raises(spyre_mlir.ExecutionError, match="'up.weight' is gone"):
        program(x)
    tied = torch.nn.Sequential(torch.nn.Linear(N, N), torch.nn.Linear(N, N))
    tied[1].weight = tied[0].weight
    program = spyre_mlir.compile(tied, x)
    close(program(x), tied(x))
    tied[1].weight = torch.nn.Parameter(torch.zeros(N, N))
    with pytest.raises(spyre_mlir.ExecutionError, match="were one tensor"):
        program(x)


@pytest.mark.parametrize("direct", [False, True], ids=["torch.compile", "compile"])
@torch.no_grad()
def test_guards_with_names(direct):
    """sampled looks at some of the bytes, versions at none; refresh_weights() copies all."""
    for guard, element, noticed in (("sampled", 0, True), ("versions", 0, False), ("versions", 7, False)):
        model, x = make(), torch.ones(4, N)
        f = compiled(model, x, direct, weights=guard)
        before = f(x)
        model.up.weight.data[0, element] = 50.0
        assert torch.equal(f(x), before) != noticed
        f.refresh_weights() if direct else dynamo.refresh_weights()
        close(f(x), model(x))
        row(model)
        close(f(x), model(x))
    with pytest.raises(spyre_mlir.OptionError, match="weights='often'"):
        spyre_mlir.compile(make(), x, weights="often")


@pytest.mark.parametrize("direct", [False, True], ids=["torch.compile", "compile"])
@torch.no_grad()
def test_only_what_changed_is_copied(direct, monkeypatch):
    copied = []
    original = CompiledProgram._bind
    monkeypatch.setattr(CompiledProgram, "_bind", lambda self, i, tensor: (copied.append(i), original(self, i, tensor)))
    model, x = make(), torch.randn(4, N)
    f = compiled(model, x, direct)
    f(x)
    assert len(copied) == 4
    f(x)
    assert len(copied) == 4
    data_row(model)
    f(x)
    f(x)
    assert len(copied) == 5
    parameter_replaced(model)
    f(x)
    f(x)
    assert len(copied) == 6
