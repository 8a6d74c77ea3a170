# test_dynamo.py - torch.compile(backend="spyre")
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each test compares with PyTorch: whole graphs on the device, graphs with parts on the
# host, changes in place, aliases, graph breaks, changing sizes, training.
"""The backend of torch.compile against PyTorch itself."""

import copy
import threading
import warnings

import pytest
from conftest import SKIPS

torch = pytest.importorskip("torch", reason=SKIPS["torch"])
pytest.importorskip("torch_mlir", reason=SKIPS["torch"])

import spyre_mlir.dynamo as dynamo  # noqa: E402


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(0)
    torch._dynamo.reset()
    dynamo.reset_summaries()


def compiled(function, **options):
    return torch.compile(function, backend="spyre", options=options or None)


def close(got, wanted, bound=24 * 2.0**-10):
    """Errors relative to the size of the results, as the project's tolerances are."""
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    if not wanted.dtype.is_floating_point:
        assert torch.equal(got, wanted)
        return
    got, wanted = got.double(), wanted.double()
    scale = torch.maximum(wanted.abs(), wanted.square().mean().sqrt())
    assert ((got - wanted).abs() / scale.clamp_min(2.0**-24)).max() <= bound


class MLP(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(64, 192)
        self.norm = torch.nn.LayerNorm(192)
        self.down = torch.nn.Linear(192, 64, bias=False)

    def forward(self, x):
        return x + self.down(torch.nn.functional.silu(self.norm(self.up(x))))


@torch.no_grad()
def test_whole_graph_runs_on_the_device():
    model = MLP().half()
    f = compiled(model, check=True)
    for rows in (32, 32):
        x = torch.randn(rows, 64).half()
        close(f(x), model(x))
    (placement,) = dynamo.summaries()
    assert placement.host_nodes == 0 and placement.device_parts == 1


@torch.no_grad()
def test_what_the_device_lacks_runs_in_pytorch():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = torch.nn.Embedding(100, 64)
            self.body = MLP()

        def forward(self, tokens):
            h = self.body(self.embedding(tokens))
            h = torch.relu(torch.cumsum(h, 1))
            return torch.softmax(h, -1), torch.topk(h, 3).indices

    model = Model().half()
    tokens = torch.randint(0, 100, (2, 16))
    got, wanted = compiled(model)(tokens), model(tokens)
    close(got[0], wanted[0])
    assert got[1].shape == wanted[1].shape and got[1].dtype == torch.int64
    (placement,) = dynamo.summaries()
    assert placement.device_nodes > placement.host_nodes > 0
    refused = {operation for operation, _ in placement.reasons}
    assert {"aten.embedding.default", "aten.cumsum.default"} <= refused
    assert "aten.cumsum.default" in dynamo.summary()


@torch.no_grad()
def test_f32_is_exact():
    model = torch.nn.Sequential(torch.nn.Linear(48, 80), torch.nn.Tanh(), torch.nn.Linear(80, 16))
    x = torch.randn(8, 48)
    close(compiled(model)(x), model(x), 64 * 2.0**-24)


@torch.no_grad()
def test_parameters_that_change_are_noticed():
    model = MLP().half()
    f = compiled(model)
    x = torch.randn(16, 64).half()
    close(f(x), model(x))
    model.down.weight.mul_(2)
    close(f(x), model(x))
    model.load_state_dict(MLP().half().state_dict())
    close(f(x), model(x))
    model.up.weight = torch.nn.Parameter(torch.randn(192, 64).half() / 8)
    close(f(x), model(x))
    model.up.weight.data.mul_(0.5)  # PyTorch does not count this one
    close(f(x), model(x))


@torch.no_grad()
def test_weights_are_copied_once(monkeypatch):
    from spyre_mlir import CompiledProgram

    rebound = []
    original = CompiledProgram._bind
    monkeypatch.setattr(
        CompiledProgram, "_bind", lambda self, i, tensor: (rebound.append(i), original(self, i, tensor))
    )
    model = MLP().half()
    f = compiled(model)
    x = torch.randn(16, 64).half()
    f(x)
    count = len(rebound)
    assert count == len(list(model.parameters()))
    f(x)
    f(x)
    assert len(rebound) == count


@torch.no_grad()
def test_repeated_values_between_device_and_host():
    def mixed(x, y):
        wide = torch.relu(x).unsqueeze(1).expand(8, 4, 64)
        return torch.cumsum(wide, 1) + torch.exp(-y)

    x, y = torch.randn(8, 64).half(), torch.randn(8, 4, 64).half()
    close(compiled(mixed)(x, y), mixed(x, y))


@torch.no_grad()
def test_changes_in_place():
    def step(cache, x, scale):
        cache[:, 4:6].copy_(x)
        x.mul_(scale)
        return cache.sum(-1)

    f = compiled(step)
    cache, x = torch.randn(8, 16, 64).half(), torch.randn(8, 2, 64).half()
    expected_cache, expected_x = cache.clone(), x.clone()
    wanted = step(expected_cache, expected_x, 3.0)
    got = f(cache, x, 3.0)
    close(got, wanted)
    close(cache, expected_cache, 2.0**-10)
    close(x, expected_x, 2.0**-9)


@torch.no_grad()
def test_buffers_are_updated():
    class Running(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("total", torch.zeros(32, 64, dtype=torch.float16))

        def forward(self, x):
            self.total.add_(x)
            return self.total * 0.5

    model = Running()
    mirror = copy.deepcopy(model)
    f = compiled(model)
    for _ in range(3):
        x = torch.randn(32, 64).half()
        close(f(x), mirror(x))
    close(model.total, mirror.total)


@torch.no_grad()
def test_views_and_aliases():
    def views(x, y):
        z = x * y
        return z, z.transpose(0, 1), x.view(-1), y, z.chunk(2)[1], x.unbind(0)[3]

    x, y = torch.randn(32, 64).half(), torch.randn(32, 64).half()
    got, wanted = compiled(views)(x, y), views(x, y)
    for a, b in zip(got, wanted):
        close(a, b, 5 * 2.0**-10)
        assert a.stride() == b.stride()
    assert [a.storage_offset() for a in got] == [b.storage_offset() for b in wanted]
    assert got[4].data_ptr() == got[0][16:].data_ptr() and got[5].data_ptr() == x[3].data_ptr()
    assert got[1].data_ptr() == got[0].data_ptr() and got[2].data_ptr() == x.data_ptr() and got[3] is y


@torch.no_grad()
def test_graph_breaks():
    def broken(x):
        x = torch.relu(x) + 1
        torch._dynamo.graph_break()
        return torch.exp(-x) * 2

    x = torch.randn(32, 64).half()
    close(compiled(broken)(x), broken(x))
    assert len(dynamo.summaries()) == 2


@torch.no_grad()
def test_sizes_that_change():
    model = MLP().half()
    f = compiled(model)
    for rows in (8, 24, 40, 24):
        x = torch.randn(rows, 64).half()
        if rows == 24:
            torch._dynamo.mark_dynamic(x, 0)
        close(f(x), model(x))
    assert all(placement.host_nodes == 0 for placement in dynamo.summaries())


def test_sizes_that_change_on_several_threads():
    """Programs for new sizes are made at calls, beside another thread's compiled functions and tracing."""
    model = MLP().half()
    f = torch.compile(model, backend="spyre", dynamic=True)
    problems = []

    def work(first):
        try:
            with torch.no_grad():
                for rows in range(first, first + 12, 4):
                    x = torch.randn(rows, 64).half()
                    close(f(x), model(x))
        except BaseException as problem:  # whatever it is, the test fails with it
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(3, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems


def test_training_is_left_to_pytorch():
    model = MLP()
    mirror = copy.deepcopy(model)
    dynamo._warned_of_training = False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f = compiled(model)
        for _ in range(2):
            x = torch.randn(8, 64)
            f(x).square().sum().backward()
            mirror(x).square().sum().backward()
    assert sum("gradients" in str(entry.message) for entry in caught) == 1
    for a, b in zip(model.parameters(), mirror.parameters()):
        torch.testing.assert_close(a.grad, b.grad)
    with torch.no_grad():
        half = copy.deepcopy(mirror).half()
        x = torch.randn(8, 64).half()
        close(compiled(half)(x), half(x))


@torch.no_grad()
def test_integers_beyond_the_device():
    def add(x):
        return x + 1

    f = compiled(add)
    for value in (5, 2**40, -7):
        x = torch.full((4, 64), value, dtype=torch.int64)
        assert torch.equal(f(x), add(x))


@torch.no_grad()
def test_random_numbers_are_pytorchs():
    def noisy(x):
        return torch.relu(x) + torch.rand_like(x)

    x = torch.randn(32, 64).half()
    torch.manual_seed(3)
    got = compiled(noisy)(x)
    torch.manual_seed(3)
    close(got, noisy(x))


@torch.no_grad()
def test_two_threads():
    model = MLP().half()
    f = compiled(model)
    inputs = [torch.randn(16, 64).half() for _ in range(8)]
    f(inputs[0])
    results = {}

    def work(part):
        with torch.no_grad():
            for i in part:
                results[i] = f(inputs[i])

    threads = [threading.Thread(target=work, args=(range(start, 8, 2),)) for start in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, x in enumerate(inputs):
        close(results[i], model(x))


def test_unknown_option():
    with torch.no_grad(), pytest.raises(Exception, match="there is no option 'colour'"):
        compiled(MLP().half(), colour=1)(torch.randn(8, 64).half())


@torch.no_grad()
def test_tensors_that_a_function_made_itself():
    def function(x):
        return torch.cat([torch.tensor([1.0, 2.0], dtype=torch.float16), torch.tensor([], dtype=torch.float16), x]) * 2

    x = torch.randn(5).half()
    close(compiled(function)(x), function(x))


@torch.no_grad()
def test_host_calls_of_equal_layers_are_counted_once_each():
    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.down = torch.nn.Linear(64, 128), torch.nn.Linear(128, 64)

        def forward(self, x):
            x = x + self.down(torch.nn.functional.silu(self.up(x)))
            x = x + torch.softmax(x @ x.transpose(1, 2), -1) @ torch.tanh(x)
            return x + torch.cumsum(x, 1) / 16

    model = torch.nn.Sequential(*(Layer() for _ in range(3))).half()
    x = torch.randn(2, 16, 64).half()
    close(compiled(model)(x), model(x))
    (placement,) = dynamo.summaries()
    assert [operation for operation, _ in placement.reasons] == 3 * ["aten.cumsum.default"]


@torch.no_grad()
def test_attention_has_the_strides_of_pytorchs_kernel():
    def attention(q):
        return torch.nn.functional.scaled_dot_product_attention(q, q, q)

    dense = torch.randn(2, 4, 16, 64).half()
    for q in (dense, dense.transpose(1, 2).contiguous().transpose(1, 2)):
        got, wanted = compiled(attention)(q), attention(q)
        close(got, wanted)
        assert got.stride() == wanted.stride()
    close(compiled(lambda q: attention(q).view(-1))(dense), attention(dense).view(-1))


@torch.no_grad()
@pytest.mark.parametrize("heads", [4, 2, 1], ids=["a head each", "two share a head", "all share a head"])
@pytest.mark.parametrize("mask", [None, "causal", "lower", "scores"])
def test_attention_is_one_operation(heads, mask):
    more = {
        None: {},
        "causal": {"is_causal": True},
        "lower": {"attn_mask": torch.ones(24, 24).tril().bool()},
        "scores": {"attn_mask": torch.randn(2, 1, 24, 24).half(), "scale": 0.2},
    }[mask]

    def attention(q, k, v):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True, **more).transpose(1, 2)

    q, (k, v) = torch.randn(2, 4, 24, 64).half(), torch.randn(2, 2, heads, 24, 64).half()
    dynamo.reset_summaries()
    got, wanted = compiled(attention)(q, k, v), attention(q, k, v)
    close(got, wanted)
    assert got.stride() == wanted.stride()
    (placement,) = dynamo.summaries()
    # Beside it are conversions of the mask and the transposition.
    assert placement.host_nodes <= 1 and placement.device_nodes <= 6, placement


@torch.no_grad()
def test_strides_of_empty_results():
    got = compiled(lambda x: torch.relu(x) * 2)(torch.zeros(0, 64).half())
    assert got.shape == (0, 64) and got.stride() == (64, 1)
