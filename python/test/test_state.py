# test_state.py - State that modules and functions keep between calls
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Through spyre_mlir.compile; torch.compile has Dynamo for it. Tensors in attributes, lists,
# dictionaries, objects, closures and globals follow PyTorch's over several calls; what a
# program cannot carry over is refused by its name, and tracing leaves nothing behind.
"""State in attributes."""

import collections
import copy
import dataclasses

import pytest

torch = pytest.importorskip("torch", reason="torch")
pytest.importorskip("torch_mlir", reason="torch")

import spyre_mlir  # noqa: E402

GLOBAL = {"past": torch.zeros(4, 8)}
COUNT = 0


@dataclasses.dataclass
class Cache:
    key: torch.Tensor
    length: int = 3


class Holder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.past = torch.zeros(4, 8)
        self.same = self.past
        self.listed = [torch.zeros(4, 8), torch.ones(4, 8)]
        self.named = {"k": torch.zeros(4, 8), "v": (torch.ones(4, 8), 2)}
        self.last = collections.deque([torch.zeros(4, 8), torch.ones(4, 8)], maxlen=2)
        self.cache = Cache(torch.zeros(4, 8))
        self.whole = torch.zeros(2, 4, 8)
        self.part = self.whole[1]
        self.inner = torch.nn.Module()
        self.inner.register_buffer("mean", torch.zeros(8))
        self.unregistered = [torch.nn.Linear(8, 8)]
        self.none = None
        self.n = 0
        self.seen = set()


def rebound(self, x):
    self.past = self.past * 0.5 + x
    return self.past * 2


def in_place(self, x):
    self.past.add_(x)
    return self.past * 2


def one_tensor_in_two_places(self, x):
    self.past.add_(x)
    return self.same * 2


def of_a_list(self, x):
    self.listed[1] = self.listed[1] + x
    self.listed[0].mul_(0.5).add_(x)
    return self.listed[0] * self.listed[1]


def of_a_dictionary(self, x):
    self.named["k"] = self.named["k"] + x
    self.named["v"] = (self.named["v"][0] + x, 2)
    return self.named["k"] + self.named["v"][0]


def of_a_deque(self, x):
    self.last.append(self.last[0] + x)
    return self.last[1] - self.last[0]


def of_an_object(self, x):
    self.cache.key.mul_(2).add_(x)
    self.cache.key = self.cache.key + 1
    return self.cache.key * 1


def of_views(self, x):
    self.part.add_(x)
    return self.whole.sum(0)


def of_a_submodule(self, x):
    self.inner.mean = self.inner.mean * 0.5 + x.mean(0)
    return x - self.inner.mean


def of_a_global(self, x):
    GLOBAL["past"] = GLOBAL["past"] + x
    return GLOBAL["past"] * 2


def written_only(self, x):
    self.past = x * 2
    return x + 1


def exchanged(self, x):
    self.listed[0], self.listed[1] = self.listed[1], self.listed[0]
    self.listed[0].add_(x)
    return self.listed[0] - self.listed[1]


def the_argument(self, x):
    self.cache.key = x
    return self.cache.key * 2 + self.past


def in_place_and_moved(self, x):
    self.named["k"] = self.past
    self.past.add_(x)
    return self.named["k"] * 2


def read_in_place_and_moved(self, x):
    y = self.named["k"] * 2
    self.named["k"] = self.past
    self.past.add_(x)
    return y + self.past


def layers_in_a_list(self, x):
    self.past = self.unregistered[0](x)
    return self.past * 1


def make(forward):
    torch.manual_seed(0)
    model = type("Model", (Holder,), {"forward": forward})()
    return model.requires_grad_(False)


CARRIED = [
    rebound, in_place, one_tensor_in_two_places, of_a_list, of_a_dictionary, of_a_deque, of_an_object, of_views,
    of_a_submodule, of_a_global, written_only, exchanged, the_argument, layers_in_a_list,
]  # fmt: skip


def tensors_of(model):
    return [
        model.past, model.same, *model.listed, model.named["k"], model.named["v"][0], *model.last, model.cache.key,
        model.whole, model.part, model.inner.mean, GLOBAL["past"],
    ]  # fmt: skip


@pytest.mark.parametrize("forward", CARRIED, ids=lambda forward: forward.__name__)
@torch.no_grad()
def test_carried_over(forward, tmp_path):
    xs = [torch.randn(4, 8) for _ in range(3)]
    GLOBAL["past"] = torch.zeros(4, 8)
    eager = make(forward)
    want = [eager(x) for x in xs]
    after = [tensor.clone() for tensor in tensors_of(eager)]
    GLOBAL["past"] = torch.zeros(4, 8)
    model = make(forward)
    before = tensors_of(model)
    values = [tensor.clone() for tensor in before]
    program = spyre_mlir.compile(model, xs[0])
    assert all(a is b for a, b in zip(tensors_of(model), before)), "compiling leaves the state alone"
    assert all(map(torch.equal, before, values))
    program.save(tmp_path / "saved")
    loaded = spyre_mlir.load(tmp_path / "saved")
    for run in (program, loaded):
        for x, expected in zip(xs, want):
            assert (run(x) - expected).abs().max() < 1e-4
        assert all((a - b).abs().max() < 1e-4 for a, b in zip(tensors_of(model), after))


def counter(self, x):
    self.n += 1
    return x * self.n


def none_first(self, x):
    self.none = x if self.none is None else self.none + x
    return self.none * 2


def growing(self, x):
    self.past = torch.cat([self.past, x])
    return self.past.sum(0)


def appended(self, x):
    self.listed.append(x)
    return sum(self.listed)


def keyed(self, x):
    self.named["new"] = x
    return x + 1


def added(self, x):
    self.more = x
    return x + 1


def a_set(self, x):
    self.seen.add(tuple(x.shape))
    return x + len(self.seen)


def length(self, x):
    self.cache.length += 1
    return x[: self.cache.length]


def counted(self, x):
    global COUNT
    COUNT += 1
    return x * COUNT


def torn_view(self, x):
    self.part = self.part + x
    return self.part + self.whole.sum(0)


def grown_buffer(self, x):
    self.inner.mean = torch.cat([self.inner.mean, x[0]])
    return x.sum() + self.inner.mean


REFUSED = [
    (counter, "'n' from 0 to 1"), (none_first, "'none' from None to a tensor"), (growing, "'past' from"),
    (appended, "'listed' from list 2 to list 3"), (keyed, r"'named\['new'\]'"), (added, "'more', which was not there"),
    (a_set, "'seen' from"), (length, "'cache.length' from 3 to 4"), (counted, "'COUNT' from 0 to 1"),
    (torn_view, "'part', a view of other state"), (grown_buffer, "'inner.mean' from"),
]  # fmt: skip


@pytest.mark.parametrize("forward, said", REFUSED, ids=lambda value: getattr(value, "__name__", ""))
@torch.no_grad()
def test_refused_by_name(forward, said):
    model = make(forward)
    kept = {key: copy.copy(value) for key, value in model.__dict__.items()}
    with pytest.raises(spyre_mlir.ExportError, match=said):
        spyre_mlir.compile(model, torch.ones(4, 8))
    assert COUNT == 0
    assert model.__dict__.keys() == kept.keys()
    for key in ("listed", "named", "seen", "n", "none"):
        assert repr(model.__dict__[key]) == repr(kept[key])
    assert model.cache.length == 3 and model.inner.mean.shape == (8,)
    assert all(type(tensor) is torch.Tensor for tensor in tensors_of(model))


@torch.no_grad()
def test_state_that_comes_to_share_memory():
    """In PyTorch it does after the first call; the program was made for two tensors."""
    x = torch.ones(4, 8)
    for forward in (in_place_and_moved, read_in_place_and_moved):
        eager, model = make(forward), make(forward)
        program = spyre_mlir.compile(model, x)
        assert torch.equal(program(x), eager(x)) and model.named["k"] is model.past
    with pytest.raises(spyre_mlir.ExecutionError, match="'past', which a call changes in place, and .* share memory"):
        program(x)


@torch.no_grad()
def test_an_argument_that_is_kept():
    model, x = make(the_argument), torch.ones(4, 8)
    program = spyre_mlir.compile(model, x)
    program(x)
    assert model.cache.key is x


@torch.no_grad()
def test_closures():
    past, layer = {"h": torch.zeros(4, 8)}, torch.nn.Linear(8, 8)
    total = torch.zeros(())

    def step(x):
        nonlocal total
        past["h"] = past["h"] * 0.5 + layer(x)
        total = total + x.sum()
        return past["h"] + total

    x = torch.ones(4, 8)
    want = [step(x) for _ in range(3)]
    past["h"], total = torch.zeros(4, 8), torch.zeros(())
    program = spyre_mlir.compile(step, x)
    for expected in want:
        assert (program(x) - expected).abs().max() < 1e-4
    past["h"], total = torch.zeros(4, 8), torch.zeros(())
    assert (program(x) - want[0]).abs().max() < 1e-4, "state may be set between calls"


@torch.no_grad()
def test_state_that_is_set_between_calls():
    model, x = make(in_place), torch.ones(4, 8)
    program = spyre_mlir.compile(model, x)
    model.past.data[2] = 5
    model.same = model.past
    assert torch.equal(program(x)[2], torch.full((8,), 12.0))
    model.past = torch.zeros(4, 8)
    with pytest.raises(spyre_mlir.ExecutionError, match="hold two now"):
        program(x)
    model.same = model.past
    assert torch.equal(program(x), x * 2)
    model.past = model.same = torch.zeros(5, 8)
    with pytest.raises(spyre_mlir.ExecutionError, match=r"'past' is torch.float32 \[5, 8\] now"):
        program(x)
    model.past = None
    with pytest.raises(spyre_mlir.ExecutionError, match="'past' is NoneType now"):
        program(x)


@torch.no_grad()
def test_tensors_that_tracing_needs():
    model, x = make(lambda self, x: x[: self.rows.item()] * 2 + self.past.sum()), torch.ones(4, 8)
    model.rows = torch.tensor(2)
    program = spyre_mlir.compile(model, x)
    assert program(x).shape == (2, 8)
    model.past += 1
    assert torch.equal(program(x), torch.full((2, 8), 34.0))
    model.rows += 1
    with pytest.raises(spyre_mlir.ExecutionError, match="'rows', which is part of the program, has changed"):
        program(x)
