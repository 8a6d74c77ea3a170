# test_plan.py - Plans that a user asks for
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A plan is obeyed, or refused with the compiler's words; the cache tells plans apart by what
# they say.
"""The options `plan` and `save_plan`."""

import json

import numpy as np
import pytest
import spyre_mlir
from conftest import ADD


def find_name(tmp_path):
    """The name of ADD's function."""
    spyre_mlir.compile_text(ADD, save_plan=str(tmp_path / "name.json"))
    (name,) = json.loads((tmp_path / "name.json").read_text())["functions"]
    return name


def test_a_saved_plan_is_obeyed(arrays, tmp_path):
    program = spyre_mlir.compile_text(ADD, save_plan=str(tmp_path / "plan.json"))
    for plan in (tmp_path / "plan.json", json.loads((tmp_path / "plan.json").read_text())):
        again = spyre_mlir.compile_text(ADD, plan=plan)
        assert again.stats["modelled_us"] == program.stats["modelled_us"]
        assert np.array_equal(again(*arrays), arrays[0] + arrays[1])


def test_one_decision_is_enough_and_has_an_entry_of_the_cache(arrays, tmp_path):
    name = find_name(tmp_path)
    plans = [{"version": 1, "functions": {name: {"kind": "untiled", "nests": []}}} for _ in range(2)]
    assert not spyre_mlir.compile_text(ADD).stats["cached"]
    assert not spyre_mlir.compile_text(ADD, plan=plans[0]).stats["cached"]
    again = spyre_mlir.compile_text(ADD, plan=plans[1])
    assert again.stats["cached"]
    assert np.array_equal(again(*arrays), arrays[0] + arrays[1])


def test_what_cannot_be_obeyed_is_said(tmp_path):
    name = find_name(tmp_path)
    plan = {"version": 1, "functions": {name: {"divisions": [{"operation": 0, "splits": [7, 7, 7, 7]}]}}}
    with pytest.raises(spyre_mlir.CompileError, match=r"divisions\[0\].splits"):
        spyre_mlir.compile_text(ADD, plan=plan)
    with pytest.raises(spyre_mlir.CompileError, match="the plan has a function 'other'"):
        spyre_mlir.compile_text(ADD, plan={"version": 1, "functions": {"other": {}}})
    with pytest.raises(spyre_mlir.CompileError, match="schedule.functions: is missing"):
        spyre_mlir.compile_text(ADD, plan={"version": 1})


@pytest.mark.parametrize("plan", [3, {"version": object()}, "/no/such/plan.json"])
def test_what_is_no_plan(plan):
    with pytest.raises(spyre_mlir.OptionError, match="plan="):
        spyre_mlir.compile_text(ADD, plan=plan)


@pytest.mark.parametrize("seconds", [-1, float("nan"), "long", True])
def test_seconds_are_a_number(seconds):
    with pytest.raises(spyre_mlir.OptionError, match="plan_seconds="):
        spyre_mlir.compile_text(ADD, plan_seconds=seconds)


def test_more_time_gives_the_same_numbers(arrays):
    program = spyre_mlir.compile_text(ADD, plan_seconds=0.5)
    assert np.array_equal(program(*arrays), arrays[0] + arrays[1])


@pytest.fixture
def layers():
    """Two layers with a module of their own each, and an input."""
    torch = pytest.importorskip("torch", reason="torch")
    pytest.importorskip("torch_mlir", reason="torch")

    class Tail(torch.nn.Module):
        def forward(self, x):
            return torch.exp(x) + x

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.tail = Tail()

        def forward(self, x):
            return self.tail(torch.neg(x)) * 0.125

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList([Layer(), Layer()])

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    return Model().half().eval(), torch.linspace(-1, 1, 8192 * 128).reshape(8192, 128).half()


def scoped(name, scope, **fields):
    nest = {"scope": scope, "loops": [{"dim": "rows", "tiles": 8}], **fields}
    function = {"names": {"in0": ["rows", "columns"]}, "nests": [nest]}
    return {"version": 1, "functions": {name: function}}


def test_a_scope_is_a_module(layers, tmp_path):
    import torch

    model, x = layers
    spyre_mlir.compile(model, x, save_plan=str(tmp_path / "name.json"))
    (name,) = json.loads((tmp_path / "name.json").read_text())["functions"]
    runs = {}
    for scope in ("layers.0.tail", "layers.1.tail", "layers.1", "layers"):
        saved = tmp_path / f"{scope}.json"
        program = spyre_mlir.compile(model, x, plan=scoped(name, scope), save_plan=str(saved))
        (nest,) = json.loads(saved.read_text())["functions"][name]["nests"]
        runs[scope] = range(nest["first"], nest["last"] + 1)
        assert torch.allclose(program(x).float(), model(x).float(), atol=1e-2)
    assert len(runs["layers.0.tail"]) == len(runs["layers.1.tail"]) < len(runs["layers.1"]) < len(runs["layers"])
    assert set(runs["layers.1.tail"]) < set(runs["layers.1"])
    assert not set(runs["layers.0.tail"]) & set(runs["layers.1"])
    with pytest.raises(spyre_mlir.CompileError, match=r"nests\[0\].scope: no operation has the scope 'layers.2'"):
        spyre_mlir.compile(model, x, plan=scoped(name, "layers.2"))


def test_a_plan_with_names_tells_programs_apart_by_names(layers, tmp_path):
    """The same operations under other names are not what the cache has for the first ones."""
    import torch

    class Other(torch.nn.Module):
        def __init__(self, model):
            super().__init__()
            self.blocks = model.layers

        def forward(self, x):
            for block in self.blocks:
                x = block(x)
            return x

    model, x = layers
    spyre_mlir.compile(model, x, save_plan=str(tmp_path / "name.json"))
    (name,) = json.loads((tmp_path / "name.json").read_text())["functions"]
    cache = str(tmp_path / "cache")
    spyre_mlir.compile(model, x, plan=scoped(name, "layers.1"), cache=cache)
    assert spyre_mlir.compile(model, x, plan=scoped(name, "layers.1"), cache=cache).stats["cached"]
    with pytest.raises(spyre_mlir.CompileError, match=r"scopes are .*blocks.0"):
        spyre_mlir.compile(Other(model).half().eval(), x, plan=scoped(name, "layers.1"), cache=cache, name=name)


def test_torch_compile_has_scopes(layers, tmp_path):
    import spyre_mlir.dynamo  # noqa: F401 - registers the backend
    import torch

    model, x = layers
    saved = tmp_path / "plan.json"
    with torch.no_grad():
        torch.compile(model, backend="spyre", options={"save_plan": str(saved)})(x)
        (name,) = json.loads(saved.read_text())["functions"]
        torch._dynamo.reset()
        again = tmp_path / "again.json"
        plan = scoped(name, "layers.1.tail")
        result = torch.compile(model, backend="spyre", options={"plan": plan, "save_plan": str(again)})(x)
    (nest,) = json.loads(again.read_text())["functions"][name]["nests"]
    assert nest["last"] > nest["first"] > 0
    assert torch.allclose(result.float(), model(x).float(), atol=1e-2)
