# test_loops.py - PyTorch's loops and branches, compiled and through torch.compile
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# while_loop, scan, map, associative_scan and cond: numbers against PyTorch's in float64, in
# checked mode, from both front ends. How many trips there are is found, or the loop is
# PyTorch's; many trips are few programs.
"""Loops against PyTorch itself."""

import pytest
from conftest import SKIPS

torch = pytest.importorskip("torch", reason=SKIPS["torch"])
pytest.importorskip("torch_mlir", reason=SKIPS["torch"])

import spyre_mlir  # noqa: E402
import spyre_mlir.dynamo as dynamo  # noqa: E402
from torch._higher_order_ops import map as map_  # noqa: E402
from torch._higher_order_ops.associative_scan import associative_scan  # noqa: E402
from torch._higher_order_ops.scan import scan  # noqa: E402
from torch._higher_order_ops.while_loop import while_loop  # noqa: E402

# As the conformance runners have it, for 16-bit programs with matrix products.
BOUND = 24 * 2.0**-10


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(0)
    torch._dynamo.reset()
    dynamo.reset_summaries()


def numbers(*shape):
    """Halves that the device's format has, too."""
    return (torch.randint(-64, 65, shape) / 64).half()


def leaves(value):
    return torch.utils._pytree.tree_leaves(value)


def compare(got, function, arguments):
    """Against the function in float64, of the same inputs."""
    wide = torch.utils._pytree.tree_map(lambda x: x.double() if x.is_floating_point() else x, arguments)
    wanted = leaves(function(*wide))
    assert len(leaves(got)) == len(wanted)
    for have, want in zip(leaves(got), wanted):
        assert have.shape == want.shape
        scale = torch.maximum(want.abs(), want.square().mean().sqrt()).clamp_min(2.0**-24)
        assert ((have.double() - want).abs() / scale).max() <= BOUND


@torch.no_grad()
def check(function, *arguments):
    """Right from both front ends, all of it on the device; the compiled program."""
    program = spyre_mlir.compile(function, *arguments, check=True)
    compare(program(*arguments), function, arguments)
    assert not program.stats["host_calls"], program.stats["host_reasons"]
    compare(torch.compile(function, backend="spyre", options={"check": True})(*arguments), function, arguments)
    (placement,) = dynamo.summaries()
    assert placement.host_nodes == 0, placement
    return program


def running_sum(x):
    def step(carry, row):
        carry = carry * 0.5 + row
        return carry, carry * 2

    return scan(step, torch.zeros_like(x[0]), x)


class TestWhileLoop:
    def test_sum_by_a_counter_in_a_tensor(self):
        def total(x):
            def body(i, a):
                return i + 1, a + torch.index_select(x, 0, i.view(1))[0]

            return while_loop(lambda i, a: i < x.shape[0], body, (torch.tensor(0), torch.zeros_like(x[0])))[1]

        check(total, numbers(6, 64))

    def test_counter_that_is_a_number(self):
        def windows(x):
            def body(i, a):
                return i + 1, a + x.narrow(0, i * 2, 2).sum(0)

            return while_loop(lambda i, a: i < 3, body, (0, torch.zeros_like(x[0])))[1]

        check(windows, numbers(6, 64))

    def test_down_and_with_a_stride(self):
        def down(x):
            def body(i, a):
                return i - 2, a * 0.5 + x[i.view(1)][0]

            return while_loop(lambda i, a: i >= 0, body, (torch.tensor(5), torch.zeros_like(x[0])))[1]

        check(down, numbers(6, 64))

    def test_nested(self):
        def nested(x):
            def outer(i, a):
                def inner(k, b):
                    return k + 1, b * 0.5 + x

                return i + 1, while_loop(lambda k, b: k < 3, inner, (torch.tensor(0), a))[1] + 1

            return while_loop(lambda i, a: i < 2, outer, (torch.tensor(0), torch.zeros_like(x)))[1]

        check(nested, numbers(6, 64))

    def test_no_trip(self):
        def none(x):
            return while_loop(lambda i, a: i < 0, lambda i, a: (i + 1, a * 2), (torch.tensor(0), x * 0.5))[1]

        check(none, numbers(6, 64))

    def test_carries_change_places(self):
        def fibonacci(x, y):
            return while_loop(lambda i, a, b: i < 5, lambda i, a, b: (i + 1, b + 0, a * 0.5 + b), (0, x, y))[1:]

        check(fibonacci, numbers(6, 64), numbers(6, 64))

    def test_written_row_by_row(self):
        def rows(x):
            def body(i, out):
                return i + 1, torch.index_put(out, (i.view(1),), x[i.view(1)] * 2)

            return while_loop(lambda i, out: i < 4, body, (torch.tensor(1), x + 1))[1]

        check(rows, numbers(6, 64))

    @torch.no_grad()
    @pytest.mark.parametrize("bound", [0, 1, 4])
    def test_bound_that_is_an_argument(self, bound):
        """Refused by name; torch.compile leaves the loop, and only it, to PyTorch."""

        def halve(x, n):
            def body(i, a, n):
                return i + 1, a * 0.5 + x, n.clone()

            return while_loop(lambda i, a, n: i < n, body, (torch.tensor(0), x * 2, n))[1] + 1

        arguments = numbers(6, 64), torch.tensor(bound)
        with pytest.raises(spyre_mlir.CompileError, match=r"how many trips it makes depends on argument #\d"):
            spyre_mlir.compile(halve, *arguments)
        compare(torch.compile(halve, backend="spyre")(*arguments), halve, arguments)
        (placement,) = dynamo.summaries()
        assert [name for name, _ in placement.reasons if name == "while_loop"] and placement.device_nodes == 2

    @torch.no_grad()
    def test_condition_on_values(self):
        def grow(x):
            return while_loop(lambda a: a.sum() < 1000, lambda a: (a * 2,), (x,))[0] * 0.5

        x = numbers(6, 64).abs()
        compare(torch.compile(grow, backend="spyre")(x), grow, (x,))


class TestScan:
    def test_stacked(self):
        check(running_sum, numbers(6, 64))

    def test_reverse_in_another_dim(self):
        def back(x):
            weight = x.transpose(0, 1)[0] + 1

            def step(carry, row):
                carry = {"a": carry["a"] * 0.5 + row["x"] * weight}
                return carry, (carry["a"] * 2, row["x"] + 1)

            init = {"a": torch.zeros_like(weight)}
            return scan(step, init, {"x": x}, dim=1, reverse=True)

        check(back, numbers(64, 7))

    @pytest.mark.parametrize("tiles", [1, 4])
    def test_flash_attention(self, tiles):
        def attention(q, k, v):
            heads, rows, size = q.shape
            k = k.reshape(heads, tiles, -1, size).transpose(0, 1)
            v = v.reshape(heads, tiles, -1, size).transpose(0, 1)

            def step(carry, tile):
                largest, total, out = carry
                keys, values = tile
                scores = torch.bmm(q, keys.transpose(1, 2)) * size**-0.5
                new = torch.maximum(largest, scores.amax(-1, keepdim=True))
                shrink, weights = torch.exp(largest - new), torch.exp(scores - new)
                total = total * shrink + weights.sum(-1, keepdim=True)
                return (new, total, out * shrink + torch.bmm(weights, values)), total * 1

            lowest = torch.full_like(q[..., :1], -1e4)
            (_, total, out), _ = scan(step, (lowest, torch.zeros_like(lowest), torch.zeros_like(q)), (k, v))
            return out / total

        arguments = [numbers(8, rows, 64) for rows in (128, 256, 256)]
        check(attention, *arguments)
        wanted = torch.nn.functional.scaled_dot_product_attention(*(x[None].float() for x in arguments))[0]
        assert (attention(*(x.float() for x in arguments)) - wanted).abs().max() < 1e-5

    def test_many_trips_are_few_functions(self):
        program = check(running_sum, numbers(1024, 64))
        assert program.stats["bundles"] <= 3
        assert program.stats["compile_s"] < 20  # five minutes where it is one function

    def test_trips_that_do_not_divide(self):
        check(running_sum, numbers(401, 64))

    @torch.no_grad()
    def test_layers_with_stacked_weights(self):
        class Layers(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.weights = torch.nn.Parameter(numbers(4, 64, 64) / 8)
                self.bias = torch.nn.Parameter(numbers(64))

            def forward(self, x):
                def layer(x, weight):
                    return torch.tanh(x @ weight + self.bias), x[:1] * 1

                return scan(layer, x, self.weights)[0]

        model = Layers()
        wide = Layers().double()
        wide.load_state_dict(model.state_dict())
        x = numbers(32, 64)
        for function in (spyre_mlir.compile(model, x), torch.compile(model, backend="spyre")):
            compare(function(x), lambda x: wide(x.double()), (x,))
        assert dynamo.summaries()[0].host_nodes == 0

    @torch.no_grad()
    def test_columns_that_change(self):
        """The sizes of what the body takes are open, too."""

        def weighted(x, w):
            def step(carry, row):
                carry = torch.tanh(carry * 0.5 + row * w.reshape(-1, x.shape[1] // 2).flatten())
                return carry, carry.sum(-1, keepdim=True) / x.shape[1]

            return scan(step, torch.zeros_like(x[0]), x)

        compiled = torch.compile(weighted, backend="spyre", dynamic=True)
        for columns in (32, 64, 48):
            arguments = numbers(4, columns), numbers(columns)
            compare(compiled(*arguments), weighted, arguments)
        assert not any(placement.host_nodes for placement in dynamo.summaries()), dynamo.summary()

    @torch.no_grad()
    def test_sizes_that_change(self):
        compiled = torch.compile(running_sum, backend="spyre", dynamic=True)
        for rows in (3, 5, 4):
            x = numbers(rows, 64)
            compare(compiled(x), running_sum, (x,))
        assert len(dynamo.summaries()) == 3 and not any(placement.host_nodes for placement in dynamo.summaries())


def test_map():
    check(lambda x: map_(lambda row, w: row * w + 1, x, x[0] + 1), numbers(5, 64))


@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scan(reverse):
    def combine(a, b):
        return a[0] * b[0], a[1] * b[0] + b[1]

    check(lambda x: associative_scan(combine, (x, x + 1), 0, reverse=reverse, combine_mode="generic"), numbers(7, 64))


class TestCond:
    @pytest.mark.parametrize("taken", [False, True])
    def test_of_a_constant(self, taken):
        check(lambda x: torch.cond(torch.tensor(taken), lambda x: x + 1, lambda x: x * 2, (x,)), numbers(6, 64))

    @torch.no_grad()
    def test_of_values_is_pytorchs(self):
        def choose(x):
            return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, (x * 0.5,)) * 0.25

        compiled = torch.compile(choose, backend="spyre")
        for x in (numbers(6, 64).abs(), -numbers(6, 64).abs()):
            compare(compiled(x), choose, (x,))


@torch.no_grad()
def test_loop_in_a_layer_that_is_repeated():
    """Layers with a loop in each are equal layers still."""

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList(torch.nn.Linear(64, 64) for _ in range(6))

        def forward(self, x):
            for layer in self.layers:
                x = torch.nn.functional.silu(x) + self.settle(layer(x))
            return x

        @staticmethod
        def settle(y):
            def body(i, a):
                return i + 1, torch.tanh(a * 0.5 + y)

            return while_loop(lambda i, a: i < 3, body, (torch.tensor(0), y + 1))[1]

    model, x = Model().half(), numbers(32, 64)
    wide = Model().double()
    wide.load_state_dict(model.state_dict())
    compare(torch.compile(model, backend="spyre")(x), lambda x: wide(x.double()), (x,))
    assert dynamo.summaries()[0].host_nodes == 0
