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
