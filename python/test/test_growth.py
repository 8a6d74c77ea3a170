# test_growth.py - What more sizes, and more layers, cost
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Memory is measured in processes of their own, and compared with the size of the weights:
# a further program must not bring another copy of them. Time is counted as calls of
# functions, which a busy machine does not change; layers are as many again, and so may
# the calls be.
"""Weights are there once; compiling is linear."""

import cProfile
import pstats
import subprocess
import sys
import textwrap

import pytest
from conftest import SKIPS

torch = pytest.importorskip("torch", reason=SKIPS["torch"])
pytest.importorskip("torch_mlir", reason=SKIPS["torch"])

import spyre_mlir  # noqa: E402
import spyre_mlir.dynamo as dynamo  # noqa: E402
from functorch.compile import make_boxed_func  # noqa: E402
from spyre_mlir import _cut, _sizes  # noqa: E402
from spyre_mlir._options import Options, make_device  # noqa: E402
from torch._dynamo.backends.common import aot_autograd  # noqa: E402

MEMORY = """
    import gc, sys, torch
    import spyre_mlir.dynamo

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList(torch.nn.Linear(2048, 2048, bias=False) for _ in range(8))
            self.table = torch.nn.Embedding(4096, 2048)

        def forward(self, x):
            x = x + torch.erfinv(self.table.weight[:1])  # the host reads a weight, too
            for layer in self.layers:
                x = x + torch.nn.functional.silu(layer(x))
            return x

    def resident():
        gc.collect()
        return int(open("/proc/self/statm").read().split()[1]) * 4096 / 2**20

    dynamic, *lengths = eval(sys.argv[1])
    model = Model().half().eval()
    compiled = torch.compile(model, backend="spyre", dynamic=dynamic)
    with torch.no_grad():
        compiled(torch.randn(1, lengths[0], 2048).half())
        before = resident()
        for length in lengths[1:]:
            compiled(torch.randn(1, length, 2048).half())
    print(resident() - before)
"""


@pytest.mark.parametrize("lengths", [(None, 8, 9, 10, 11), (True, 5, 6, 7, 8), (False, 32, 1), (False, 32, 64, 128)])
def test_further_lengths_bring_no_copy_of_the_weights(lengths, environment):
    made = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MEMORY), repr(lengths)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    assert float(made.stdout.splitlines()[-1]) < 48  # MiB; the weights are 64, and 16 that the host reads


@pytest.fixture
def shared():
    torch.manual_seed(0)
    torch._dynamo.reset()
    return lambda: [
        array for array in make_device(Options()).shared_arrays() if array[0].startswith("float16 [96, 64]")
    ]


def test_programs_share_weights_and_see_their_changes(shared):
    layer = torch.nn.Linear(64, 96, bias=False).half()
    inputs = [torch.randn(rows, 64).half() for rows in (8, 16)]
    programs = [spyre_mlir.compile(layer, x) for x in inputs]
    assert [array[2:] for array in shared()] == [(2, 0)]
    assert programs[0].stats["shared_weights"]["arrays"] >= 1
    for value in (0.5, 0.25):
        with torch.no_grad():
            layer.weight.fill_(value)
            for program, x in zip(programs, inputs):
                torch.testing.assert_close(program(x), layer(x), rtol=0.01, atol=0.05)
    other = torch.nn.Linear(64, 96, bias=False).half()
    more = spyre_mlir.compile(other, inputs[0])
    assert sorted(array[2] for array in shared()) == [1, 2]
    del program, programs, more
    assert shared() == []


def test_equal_weights_are_two_if_they_are_two(shared):
    layers = [torch.nn.Linear(64, 96, bias=False).half() for _ in range(2)]
    layers[1].load_state_dict(layers[0].state_dict())
    x = torch.randn(8, 64).half()
    programs = [spyre_mlir.compile(layer, x) for layer in layers]
    assert len(shared()) == 2
    with torch.no_grad():
        layers[0].weight.zero_()
        for program, layer in zip(programs, layers):
            torch.testing.assert_close(program(x), layer(x), rtol=0.01, atol=0.02)


@torch.no_grad()
def test_sizes_long_unused_are_dropped(monkeypatch):
    monkeypatch.setattr(dynamo, "_UNUSED_CALLS", 5)
    monkeypatch.setattr(dynamo, "_FEW_SIZES", 2)
    made = []
    monkeypatch.setattr(
        dynamo, "_compile_static", lambda module, graph, *more: made.append(graph) or (lambda *args: args)
    )
    graph = torch.fx.Graph()
    graph.output((graph.placeholder("x"),))
    per_size = dynamo._PerSize(torch.fx.GraphModule({}, graph), None, frozenset())
    for size in (1, 2, 3):
        per_size(torch.zeros(size))
    assert len(per_size.made) == 3  # not yet long unused
    for _ in range(5):
        per_size(torch.zeros(3))
    assert [key[0][0] for key in per_size.made] == [(2,), (3,)]
    per_size(torch.zeros(1))
    assert len(made) == 4


@torch.no_grad()
def test_cache_that_grows():
    def step(x, past):
        past = torch.cat([past, x], 1)
        return torch.softmax(x @ past.transpose(1, 2), -1) @ past, past

    torch._dynamo.reset()
    compiled = torch.compile(step, backend="spyre")
    past = wanted_past = torch.randn(2, 5, 64).half()
    for _ in range(5):
        x = torch.randn(2, 1, 64).half()
        got, past = compiled(x, past)
        wanted, wanted_past = step(x, wanted_past)
        assert torch.equal(past, wanted_past)
        torch.testing.assert_close(got, wanted, rtol=0.02, atol=0.02)


def test_sizes_by_formula_are_those_of_a_walk():
    def function(x, y):
        z = torch.cat([x, y.expand(x.shape[0], -1)], 1)
        first, second = z[:, : x.shape[1] * 2].split(x.shape[1], 1)
        return (first.transpose(0, 1) @ second).reshape(-1)[: x.shape[0] + 3], z.new_zeros(z.shape[1], 7)

    seen = []

    def compiler(graph, inputs):
        return make_boxed_func(lambda *args: seen.append((graph, args)) or graph(*args))

    torch._dynamo.reset()
    compiled = torch.compile(
        function, backend=aot_autograd(fw_compiler=compiler, inference_compiler=compiler), dynamic=True
    )
    with torch.no_grad():
        for rows, columns, more in ((6, 4, 9), (11, 5, 8)):
            compiled(torch.randn(rows, columns), torch.randn(1, more))
    assert seen[0][0] is seen[1][0]
    module, args = seen[1]
    by_formula = _sizes._copy(module, args, _sizes._Formulas())
    by_walk = _sizes._copy(module, args, _sizes._Walk())
    assert len(by_formula.nodes) == len(by_walk.nodes)
    for a, b in zip(by_formula.nodes, by_walk.nodes):
        assert a.target == b.target and str(a.args) == str(b.args)
        assert _described(a.meta.get("val")) == _described(b.meta.get("val"))


def _described(value):
    return [
        (leaf.shape, leaf.stride(), leaf.dtype) if isinstance(leaf, torch.Tensor) else leaf
        for leaf in torch.utils._pytree.tree_leaves(value)
    ]


def _chain(layers, host):
    """x -> two operations a layer, of which every fourth layer's second is the host's, and a weight's view."""
    graph = torch.fx.Graph()
    x, weight = graph.placeholder("x"), graph.placeholder("w")
    on_host = set()
    for layer in range(layers):
        seen = graph.call_function(torch.ops.aten.t.default, (weight,))
        x = graph.call_function(torch.ops.aten.mm.default, (x, seen))
        x = graph.call_function(torch.ops.aten.relu.default, (x,))
        if layer % 4 == 3:
            on_host.add(x)
    graph.output((x,))
    return graph, on_host if host else set()


@pytest.mark.parametrize("host", [False, True])
def test_cutting_is_linear(host):
    def calls(layers):
        graph, on_host = _chain(layers, host)
        profile = cProfile.Profile()
        profile.enable()
        levels, parts = _cut.parts_of(graph, lambda node: node not in on_host)
        _cut.with_parts(graph, levels)
        profile.disable()
        # A host operation at the end has no part behind it.
        assert len(parts) == (layers // 4 if host else 1)
        assert all(levels[node] % 2 == (node in on_host) for node in levels)
        return pstats.Stats(profile).total_calls

    calls(8)
    assert calls(400) < 1.3 * 4 * calls(100)


def test_what_reads_weights_only_goes_to_its_reader():
    graph, on_host = _chain(8, True)
    levels, _ = _cut.parts_of(graph, lambda node: node not in on_host)
    for node in graph.find_nodes(op="call_function", target=torch.ops.aten.t.default):
        (reader,) = node.users
        assert levels[node] == levels[reader]


class Layer(torch.nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        self.mix = torch.nn.Linear(64, 64)
        self.norm = torch.nn.LayerNorm(64)

    def forward(self, x):
        if self.kind == "pointwise":
            return torch.sigmoid(x * 0.5) + x
        if self.kind == "scan":  # the host's; it is never the larger one
            x = torch.maximum(x, torch.cumsum(self.norm(x), 1) - 1000)
        return x + torch.relu(self.mix(self.norm(x)))


@pytest.mark.parametrize("kind", ["linear", "scan", "pointwise"])
@torch.no_grad()
def test_compiling_is_linear_in_depth(kind, monkeypatch):
    """Calls of Python functions, and bundles: equal layers are compiled once, whether the host helps or not."""
    counted = {}
    real = dynamo.PartitionedGraph

    def partition(*args):
        profile = cProfile.Profile()
        profile.enable()
        try:
            return real(*args)
        finally:
            profile.disable()
            counted["calls"] = pstats.Stats(profile).total_calls

    monkeypatch.setattr(dynamo, "PartitionedGraph", partition)

    def measure(layers):
        torch._dynamo.reset()
        dynamo.reset_summaries()
        model = torch.nn.Sequential(*(Layer(kind) for _ in range(layers))).half().eval()
        x = torch.randn(1, 64, 64).half()
        got = torch.compile(model, backend="spyre")(x)
        torch.testing.assert_close(got, model(x), rtol=0.05, atol=0.05)
        return counted["calls"]

    measure(2)
    assert measure(32) < 1.3 * 4 * measure(8)
