# test_opcalls.py - Tests of how operator programs are built and counted
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Strides against torch.as_strided over random ones, wirings of small traces,
# and the counting of moved elements on descriptors written by hand.
"""Tests of lib/opcalls.py, lib/modelcalls.py, lib/callcases.py and layouts.py."""

import pathlib
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

import layouts  # noqa: E402
from lib.opcalls import Spec, Unclear, build  # noqa: E402

from lib import callcases, modelcalls, opcalls  # noqa: E402

# --- inputs with strides -----------------------------------------------------


def same_as_torch(shape, stride, offset):
    """The view of a numbered storage shows what as_strided shows."""
    storage, view = opcalls.strided(shape, stride, offset)
    memory = torch.arange(int(np.prod(storage)))
    shown = view(memory.reshape(storage))
    assert tuple(shown.shape) == tuple(shape)
    if shown.numel():
        assert torch.equal(shown, torch.as_strided(memory, shape, stride, offset))


@pytest.mark.parametrize("seed", range(40))
def test_views_of_contiguous_tensors(seed):
    rng = np.random.default_rng(seed)
    base = torch.zeros([int(n) for n in rng.integers(1, 6, size=rng.integers(1, 5))])
    view = base
    for dim in range(base.dim()):
        start = int(rng.integers(0, view.shape[dim]))
        view = view.narrow(dim, start, int(rng.integers(1, view.shape[dim] - start + 1)))
    view = view.permute(*rng.permutation(view.dim()).tolist())
    if rng.random() < 0.4:
        view = view.unsqueeze(0).expand(3, *view.shape)
    # A view that ends early says nothing about what lies behind it: any storage that fits is right.
    same_as_torch(tuple(view.shape), view.stride(), view.storage_offset())


def test_steps_expansions_and_scalars():
    same_as_torch((5,), (3,), 2)
    same_as_torch((4, 5), (0, 1), 0)
    same_as_torch((4, 1, 5), (10, 7, 2), 1)
    same_as_torch((), (), 4)
    same_as_torch((3, 3), (0, 0), 2)


def test_overlapping_strides_are_unclear():
    with pytest.raises(Unclear):
        opcalls.strided((4, 3), (1, 1), 0)  # windows
    with pytest.raises(Unclear):
        opcalls.strided((4, 3), (3, 2), 0)


def test_contiguous_inputs_are_arguments_as_they_are():
    storage, view = Spec((2, 3), torch.float16).storage()
    x = torch.zeros(storage)
    assert view(x) is x


# --- wiring ------------------------------------------------------------------


def case(inputs, program, **more):
    return {"id": "some::name", "op": "x", "inputs": inputs, "program": program, **more}


def values_of(call):
    with torch.no_grad():
        return call.module(*call.arguments)


def test_operands_come_from_the_latest_results_then_from_inputs():
    t = "T[4, 4]"
    inputs = [[[4, 4], "f16"]] * 4
    program = [["t", [t]], ["add", [t, t]], ["t", [t]], ["sub", [t, t]], ["sub", [t, t]]]
    call = build(case(inputs, program))
    a, b, c, d = call.arguments
    [result] = values_of(call)
    assert torch.equal(result, ((a.t() + b) - c.t()) - d)


def test_the_last_value_is_used_again_when_nothing_is_left():
    t = "T[2, 8]"
    program = [["mean", [t], {"dim": 1, "keepdim": True}], ["sub", [t, "T[2, 1]"]], ["mul", [t, t]]]
    call = build(case([[[2, 8], "f16"]], program))
    [x] = call.arguments
    centred = x - x.mean(1, keepdim=True)
    assert torch.equal(values_of(call)[0], centred * centred)


def test_creation_does_not_use_its_argument_up():
    t = "T[4, 4]"
    call = build(case([[[4, 4], "f16"]], [["ones_like", [t]], ["t", [t]], ["add", [t, t]]]))
    [x] = call.arguments
    assert torch.equal(values_of(call)[0], 1 + x.t())


def test_parts_that_nobody_uses_are_no_results():
    call = build(case([[[9, 6], "f16"]], [["split", ["T[9, 6]", 3], {"dim": 0}], ["amax", ["T[3, 6]"], {"dim": 1}]]))
    assert [tuple(x.shape) for x in values_of(call)] == [(3,)]
    call = build(case([[[9, 6], "f16"]], [["split", ["T[9, 6]", 3], {"dim": 0}]]))
    assert len(values_of(call)) == 3


def test_calls_in_place_leave_arguments_alone():
    call = build(case([[[4], "f16"]], [["fill_", ["T[4]", 1.0]]]))
    before = call.arguments[0].clone()
    assert torch.equal(values_of(call)[0], torch.ones(4, dtype=torch.float16))
    assert torch.equal(before, call.arguments[0])


def test_indices_dtypes_and_creation():
    program = [["getitem", ["T[3, 8]", [":", "2:6"]]], ["to", ["T[3, 4]", "f32"]], ["full", [3, 4], "-inf"]]
    program += [["maximum", ["T[3, 4]", "T[3, 4]"]]]
    call = build(case([[[3, 8], "f16"]], program))
    [result] = values_of(call)
    assert torch.equal(result, call.arguments[0][:, 2:6].float())
    module, wide = call.wide()
    assert module(*wide)[0].dtype == torch.float64


def test_an_untraced_case_is_its_operator():
    call = build({"id": "a", "op": "add", "inputs": [[[4], "f16"], {"value": 2.0}], "program": []})
    assert torch.equal(values_of(call)[0], call.arguments[0] + 2.0)


@pytest.mark.parametrize("program", [[["spyre.none", ["T[4]"]]], [["add", ["T[5]", 1]]], [["item", ["T[4]"]]]])
def test_what_cannot_be_built_is_said(program):
    with pytest.raises(Unclear):
        build(case([[[4], "f16"]], program))


def test_inputs_depend_on_name_and_seed_only():
    one = case([[[64], "f16"]], [["abs", ["T[64]"]]])
    assert torch.equal(build(one).arguments[0], build(one).arguments[0])
    assert not torch.equal(build(one).arguments[0], build(one, seed=1).arguments[0])


# --- counting ----------------------------------------------------------------


def descriptor(op, source, target, **sizes):
    return {
        "N_": {"name_": "n", **sizes},
        "computeOp_": [{"opFuncName": op, "inputLabeledDs": ["A-idx0"], "outputLabeledDs": ["B-idx1"]}],
        "labeledDs_": [{"dsName_": "A", "dsType_": "IN"}, {"dsName_": "B", "dsType_": "OUT"}],
        "primaryDsInfo_": {"IN": {"stickDimOrder_": [source]}, "OUT": {"stickDimOrder_": [target]}},
    }


def test_moved_elements_are_those_of_copies_that_change_the_stick():
    assert layouts.moved_elements(descriptor("ReStickifyOpHBM", "out", "mb", mb_=64, out_=128, x_=2)) == 16384
    assert layouts.moved_elements(descriptor("identity", "out", "mb", mb_=64, out_=128)) == 8192
    assert layouts.moved_elements(descriptor("identity", "out", "out", mb_=64, out_=128)) == 0
    assert layouts.moved_elements(descriptor("max", "out", "mb", mb_=64, out_=128)) == 0


# --- programs ----------------------------------------------------------------


def program_of(*arguments):
    pytest.importorskip("torch_mlir")
    entry = case(*arguments)
    return callcases.program_of(lambda scale: build(entry, 0, scale))


def test_a_case_becomes_a_program_with_results():
    program = program_of([[[4, 8], "bf16"], [[8, 4], "bf16", [1, 8]]], [["add", ["T[4, 8]", 1.0]]])
    assert "torch.aten.add" in program.text
    assert [a.dtype for a in program.inputs] == [np.uint16] * 2  # bit patterns
    [(dtype, out)] = program.outputs
    assert dtype == "bfloat16" and out.shape == (4, 8)
    assert program.refs[0].dtype == np.float64 and not program.info["random"]


def test_inputs_shrink_until_results_stay_in_range():
    program = program_of([[[64, 64], "f16"]], [["mul", ["T[64, 64]", 30000.0]]])
    [(_, out)] = program.outputs
    assert np.isfinite(out).all() and 0 < np.abs(program.inputs[0]).max() < 1


def test_what_the_exporter_refuses_is_not_a_failure_of_ours(monkeypatch):
    export = pytest.importorskip("export")

    def refuse(*arguments):
        raise RuntimeError("no such call\nmuch more text")

    monkeypatch.setattr(export, "texts", refuse)
    with pytest.raises(opcalls.NotExportable, match="^no such call$"):
        program_of([[[4], "f16"]], [["neg", ["T[4]"]]])


def test_reproducers_are_what_spyre_run_reads(tmp_path):
    program = program_of([[[4], "f16"]], [["neg", ["T[4]"]]])
    callcases.write_reproducer(tmp_path / "a", program)
    inputs, expected = np.load(tmp_path / "a" / "inputs.npz"), np.load(tmp_path / "a" / "expected.npz")
    assert np.array_equal(-inputs["in0"], expected["out0"])
    assert sorted(expected.files) == ["out0", "ref0"]


def test_random_results_and_results_that_nobody_wrote():
    assert program_of([[[4, 8], "f32"]], [["bernoulli", ["T[4, 8]", 0.5]]]).info["random"]
    with pytest.raises(opcalls.Skip) as skip:
        program_of([[[4], "f16"]], [["empty_like", ["T[4]"]]])
    assert skip.value.key == "unwritten"


def test_large_results_are_not_computed_twice():
    pytest.importorskip("torch_mlir")
    entry = case([[[4, 1], "f16"]], [["expand", ["T[4, 1]", 4, 100]]])
    with pytest.raises(opcalls.Skip) as skip:
        callcases.program_of(lambda scale: build(entry, 0, scale), max_elements=399)
    assert skip.value.key == "too-large"


# --- calls of models -----------------------------------------------------------


def model_call(op, inputs, **kwargs):
    call = modelcalls.build({"op": op, "inputs": inputs, "kwargs": kwargs}, op)
    return call, call.module(*call.arguments)


def test_arguments_of_a_model_call():
    call, [out] = model_call("torch.getitem", [[[2, 3], "f16"], {"py": "(Ellipsis, slice(-1, None, None), None)"}])
    assert torch.equal(out, call.arguments[0][..., -1:, None])
    _, [out] = model_call("torch.to", [[[2], "f16"]], dtype="torch.float32")
    assert out.dtype == torch.float32
    call, [out] = model_call("torch.cat", [{"list": [[[2, 1], "f16"], [[2, 1], "f16"]]}], dim=-1)
    assert torch.equal(out, torch.cat(call.arguments, -1))  # two of a shape: each in its place
    call, [out] = model_call("torch.and_", [[[3], "i1"], [[3], "i1"]])
    assert torch.equal(out, call.arguments[0] & call.arguments[1])
    _, [out] = model_call("torch.Tensor.view", [[[2, 6], "f16"], {"value": "(2, -1, 3)"}])
    assert out.shape == (2, 2, 3)


def test_a_part_of_a_large_tensor_needs_no_large_tensor():
    call, [out] = model_call("torch.neg", [[[3, 512], "f16", None, 26738688]])
    assert call.arguments[0].shape == (4, 512)
    assert torch.equal(out, -call.arguments[0][1:])


def test_texts_in_model_calls_are_never_run():
    assert modelcalls.literal("__import__('os').getcwd()") == "__import__('os').getcwd()"
    with pytest.raises(Unclear):
        model_call("torch.no_such_call", [[[2], "f16"]])
    with pytest.raises(Unclear):
        model_call("torch.sym_sum", [{"value": [1, 65]}])
