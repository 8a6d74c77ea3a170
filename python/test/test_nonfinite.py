# test_nonfinite.py - Calls with numbers that the device cannot tell or hold
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# NaNs, infinities and values beyond the device's range, in arguments, weights, what host
# calls make and results, through torch.compile and spyre_mlir.compile: PyTorch's answer, or
# what the options nonfinite and out_of_range ask for.
"""The options nonfinite and out_of_range against PyTorch itself."""

import logging
import warnings

import numpy as np
import pytest
from conftest import ADD, SKIPS

torch = pytest.importorskip("torch", reason=SKIPS["torch"])
pytest.importorskip("torch_mlir", reason=SKIPS["torch"])

import spyre_mlir  # noqa: E402
import spyre_mlir.dynamo as dynamo  # noqa: E402
from spyre_mlir import _host  # noqa: E402

F = torch.nn.functional
NAN, INF = float("nan"), float("inf")
FLOATS = (torch.float16, torch.bfloat16, torch.float32)
WAYS = ("torch.compile", "spyre_mlir.compile")


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(0)
    torch._dynamo.reset()
    dynamo.reset_summaries()
    with torch.no_grad():
        yield


class Made:
    """A function compiled in one of the two ways."""

    def __init__(self, way, function, *examples, **options):
        self.way = way
        if way == "torch.compile":
            self.call = torch.compile(function, backend="spyre", options=options or None)
        else:
            self.call = spyre_mlir.compile(function, *examples, **options)

    def __call__(self, *args):
        return self.call(*args)

    @property
    def on_host(self):
        """How many calls PyTorch has computed."""
        if self.way == "torch.compile":
            return sum(sum(placement.calls_on_host.values()) for placement in dynamo.summaries())
        return self.call.stats["numbers"]["calls_on_host"]


def same(got, wanted, bound=0.02):
    """NaNs and infinities in the same places; numbers close to one another, also tiny ones."""
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    if not wanted.is_floating_point():
        assert torch.equal(got, wanted)
        return
    assert torch.equal(torch.isnan(got), torch.isnan(wanted))
    odd = ~torch.isfinite(wanted)
    assert torch.equal(got[odd].nan_to_num(0), wanted[odd].nan_to_num(0))
    got, wanted = got[~odd].double(), wanted[~odd].double()
    assert ((got - wanted).abs() <= bound * wanted.abs() + 1e-4 * wanted.abs().max()).all()


def example(dtype, *odd):
    x = torch.rand(6, 70) + 0.25
    for i, value in enumerate(odd):
        x[i % 6, 5 + 7 * i] = value
    return x.to(dtype)


def operations(x):
    return (
        F.silu(x), torch.tanh(x), torch.sqrt(x), torch.atan(x), torch.exp(x), F.relu(x), x.clamp(max=1.0), x * 2 - 1,
        x <= 0.5, x != x, torch.where(x > 0.5, x, -x), torch.maximum(x, -x), torch.softmax(x, -1), x.amax(0), x.t() + 0,
    )  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_nan_in_an_argument(way, dtype):
    made = Made(way, operations, example(dtype))
    for got, wanted in zip(made(example(dtype)), operations(example(dtype))):
        assert got.shape == wanted.shape
    assert made.on_host == 0
    torch.manual_seed(1)
    x = example(dtype, NAN, INF, -INF, NAN)
    for got, wanted in zip(made(x), operations(x)):
        same(got, wanted)
    assert made.on_host >= 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("low", (-INF, "finfo"), ids=str)
def test_masks_stay_on_the_device(way, dtype, low):
    """The device has infinities, and the largest numbers of a type mean as much."""
    mask = torch.zeros(8, 32).masked_fill(torch.ones(8, 32).triu(1).bool(), 1).to(dtype)
    mask = mask.masked_fill(mask == 1, torch.finfo(dtype).min if low == "finfo" else low)
    scores = torch.randn(8, 32).to(dtype)
    f = lambda s, m: torch.softmax(s + m, -1) * 1.5  # noqa: E731
    made = Made(way, f, scores, mask)
    same(made(scores, mask), f(scores, mask))
    assert made.on_host == 0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_results_that_hold_the_code(way, dtype):
    """NaNs that the device makes itself come out as NaNs, infinities as infinities."""
    f = lambda x, y: (x / y, torch.log(x), x * 3)  # noqa: E731
    x = torch.tensor([0.0, 1, -1, 2]).repeat(16).to(dtype)
    y = torch.tensor([0.0, 0, 2, 4]).repeat(16).to(dtype)
    made = Made(way, f, x, y)
    for got, wanted in zip(made(x, y), f(x, y)):
        same(got, wanted)
    made(x.abs() + 1, y.abs() + 1)
    assert made.on_host <= 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scale", (1e-12, 1e12, -3e-10))
def test_bfloat16_beyond_the_range(way, scale):
    f = lambda x, y: (x.t().contiguous() * 2, torch.cat([x, y]))  # noqa: E731
    x, y = example(torch.bfloat16), example(torch.bfloat16)
    made = Made(way, f, x, y)
    for got, wanted in zip(made(x, y), f(x, y)):
        same(got, wanted)
    assert made.on_host == 0
    x[2] = (x[2].float() * scale).bfloat16()  # beside ordinary numbers
    for got, wanted in zip(made(x, y), f(x, y)):
        assert ((got - wanted).abs() <= 0.01 * wanted.abs()).all()
    assert made.on_host == 1


def test_largest_number_that_is_moved():
    f = lambda x: (x.t().contiguous(), x * 1.0)  # noqa: E731
    x = example(torch.bfloat16)
    program = spyre_mlir.compile(f, x)
    x[1, 3] = torch.finfo(torch.bfloat16).min
    for got, wanted in zip(program(x), f(x)):
        assert torch.equal(got, wanted)


@pytest.mark.parametrize("way", WAYS)
def test_warns_once_and_names_the_argument(way):
    x, y = example(torch.float16), example(torch.float16)
    made = Made(way, lambda x, y: torch.tanh(x) + y, x, y, nonfinite="warn", out_of_range="warn")
    y[1, 3] = NAN
    with pytest.warns(UserWarning, match=r"argument in1 has 1 NaN, the first at \[1, 3\].*option nonfinite"):
        got = made(x, y)
    assert torch.isinf(got[1, 3]) and torch.isfinite(got).sum() == got.numel() - 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made(x, y)
    assert made.on_host == 0


@pytest.mark.parametrize("way", WAYS)
def test_errors_name_argument_count_and_place(way):
    x = example(torch.bfloat16)
    made = Made(way, lambda x: torch.tanh(x), x, nonfinite="error", out_of_range="error")
    x[1, 3] = x[2, 4] = NAN
    with pytest.raises(spyre_mlir.NumberError, match="argument in0 has 2 NaNs") as caught:
        made(x)
    assert isinstance(caught.value, FloatingPointError)
    assert (caught.value.argument, caught.value.count, caught.value.first) == ("argument in0", 2, (1, 3))
    x = example(torch.bfloat16)
    x[3, 2] = 1e-20
    with pytest.raises(spyre_mlir.NumberError, match="1 number beyond the device's range, the first at"):
        made(x)
    x[3, 2] = -INF
    same(made(x), torch.tanh(x))


class Scaled(torch.nn.Module):
    def __init__(self, rows=8):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.rand(rows, 64) + 0.5, requires_grad=False)

    def forward(self, x):
        return torch.tanh(x * self.scale)


@pytest.mark.parametrize("way", WAYS)
def test_weights(way):
    model = Scaled().bfloat16()
    x = torch.rand(8, 64).bfloat16()
    made = Made(way, model, x)
    same(made(x), model(x))
    assert made.on_host == 0
    for value in (NAN, 1e-15):
        kept = model.scale[2, 3].clone()
        model.scale[2, 3] = value
        for _ in range(2):
            same(made(x), model(x))
        count = made.on_host
        assert count >= 2
        model.scale[2, 3] = kept
        same(made(x), model(x))
        assert made.on_host == count
    if way == "spyre_mlir.compile":
        model.scale[0, 0] = NAN
        made.call._guard.modes["nonfinite"] = "error"
        with pytest.raises(spyre_mlir.NumberError, match=r"argument in0 \(function.scale|argument in0 \(scale\)"):
            made(x)


def test_a_few_tiny_values_of_a_large_weight_mean_zero():
    model = Scaled(2048).bfloat16()
    model.scale[5, 5] = 1e-15
    x = torch.rand(2048, 64).bfloat16()
    program = spyre_mlir.compile(model, x)
    same(program(x), model(x))
    numbers = program.stats["numbers"]
    assert numbers["calls_on_host"] == 0 and numbers["too_small"] == {"in0": 1}


class Counting(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(8, 64).half())

    def forward(self, x):
        self.calls += 1
        return torch.sqrt(x) + self.calls


@pytest.mark.parametrize("way", WAYS)
def test_changes_in_place_happen_once(way):
    model = Counting()
    x = torch.rand(8, 64).half()
    made = Made(way, model, x)
    before = float(model.calls[0, 0])
    made(x)
    x[1, 2] = NAN
    got = made(x)
    assert float(model.calls[0, 0]) == before + 2
    same(got, torch.sqrt(x) + model.calls)
    x[1, 2] = -1  # found in the result
    same(made(x), torch.sqrt(x) + model.calls)
    assert float(model.calls[0, 0]) == before + 3 and made.on_host == 2


@pytest.mark.parametrize("bad", (NAN, -1.0))
def test_random_numbers_are_those_of_one_run(bad):
    def f(x):
        noise = torch.rand_like(x)
        return torch.sqrt(torch.tanh(x) * 2 + 0 * noise) + noise

    x = torch.rand(8, 64).half()
    compiled = Made("torch.compile", f)
    compiled(x)
    x[3, 4] = bad
    torch.manual_seed(5)
    got = compiled(x), torch.rand(3)
    torch.manual_seed(5)
    wanted = f(x), torch.rand(3)
    same(got[0], wanted[0])
    assert torch.equal(got[1], wanted[1])
    assert compiled.on_host >= 1


def test_what_a_host_call_makes():
    """erfinv has no form on the device, and its NaN goes back there."""
    f = lambda x: torch.tanh(torch.special.i0e(torch.tanh(x) / 0) + 1) <= 1  # noqa: E731
    x = torch.zeros(8, 64).half()
    program = spyre_mlir.compile(f, x)
    assert torch.equal(program(x + 1), f(x + 1))
    # What the device makes is an infinity for the host call: 0/0 is one of the things that remain.
    assert program.stats["numbers"]["infinite"]
    f = lambda x: torch.tanh(torch.special.erfinv(torch.tanh(x) * 2) + 1) <= 2  # noqa: E731
    x = torch.full((8, 64), 0.1).half()
    program = spyre_mlir.compile(f, x)
    x[1, 2] = 2
    assert torch.equal(program(x), f(x))
    assert program.stats["numbers"]["calls_on_host"] == 1


def test_loaded_programs_have_nobody_to_ask(tmp_path):
    x = example(torch.float16)
    program = spyre_mlir.compile(torch.tanh, x)
    program.save(tmp_path / "saved")
    x[0, 1] = NAN
    same(program(x), torch.tanh(x))
    loaded = spyre_mlir.load(tmp_path / "saved")
    with pytest.warns(UserWarning, match="argument in0 has 1 NaN"):
        loaded(x)
    with pytest.raises(spyre_mlir.OptionError, match="loaded or made from a text; 'warn' or 'error' wanted"):
        spyre_mlir.load(tmp_path / "saved", nonfinite="host")
    with pytest.raises(spyre_mlir.NumberError):
        spyre_mlir.load(tmp_path / "saved", nonfinite="error")(x)
    a = np.zeros((32, 96), np.float16)
    b = a.copy()
    b[1, 1] = np.nan
    with pytest.raises(spyre_mlir.NumberError, match=r"argument in1 has 1 NaN, the first at \[1, 1\]"):
        spyre_mlir.run(ADD, [a, b], nonfinite="error")


def test_options():
    x = example(torch.float16)
    with pytest.raises(spyre_mlir.OptionError, match="nonfinite='ignore': 'host', 'warn' or 'error' wanted"):
        spyre_mlir.compile(torch.tanh, x, nonfinite="ignore")
    with pytest.raises(spyre_mlir.OptionError, match="out_of_range='host'.*host='none'"):
        spyre_mlir.compile(torch.tanh, x, out_of_range="host", host="none")
    with pytest.warns(UserWarning, match="NaN"):
        spyre_mlir.compile(torch.tanh, x, host="none")(example(torch.float16, NAN))


def test_results_of_the_host_are_like_those_of_the_device():
    f = lambda x: (x.t() * 1, x.expand(3, 6, 70) + 0, x + 1)  # noqa: E731
    x = example(torch.float16)
    program = spyre_mlir.compile(f, x)
    wanted = program(x)
    x[0, 0] = NAN
    got = program(x)
    assert [tensor.stride() for tensor in got] == [tensor.stride() for tensor in wanted]
    before = x.clone()
    for tensor in got:
        tensor.fill_(7)
    assert torch.equal(x[1:], before[1:])
    # As views of an argument are under torch.compile: views.
    g = lambda x: (torch.sqrt(x), x[1:].t())  # noqa: E731
    roots, view = torch.compile(g, backend="spyre")(x)
    assert view.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    same(roots, torch.sqrt(x))
    # NumPy in, NumPy out, bits where it has no such type.
    a = example(torch.float16, NAN).numpy()
    assert isinstance(program(a)[2], np.ndarray) and np.isnan(program(a)[2]).sum() == 1
    program = spyre_mlir.compile(torch.tanh, x.bfloat16())
    bits = program(example(torch.bfloat16, NAN).view(torch.uint16).numpy())
    assert bits.dtype == np.uint16 and torch.isnan(torch.from_numpy(bits).view(torch.bfloat16)).sum() == 1


def test_what_is_said(caplog):
    x = example(torch.float16, NAN)
    with caplog.at_level(logging.INFO, "spyre_mlir"):
        torch.compile(lambda x: torch.tanh(x), backend="spyre")(x)
    assert any("computed by PyTorch: argument in0 has 1 NaN, the first at [0, 5]" in m for m in caplog.messages)
    assert "1 x a program was computed by PyTorch: argument in0 has NaNs" in dynamo.summary()
    program = spyre_mlir.compile(torch.tanh, x.nan_to_num(0))
    program(example(torch.float16, NAN, INF, NAN))
    assert program.stats["numbers"] == {"calls_on_host": 1, "nan": {"in0": 2}, "infinite": {"in0": 1}}


def test_which_host_calls_may_be_done_twice():
    assert _host.may_repeat("aten.add.Tensor") and not _host.draws("aten.add.Tensor")
    assert _host.may_repeat("aten.bernoulli") and _host.draws("aten.bernoulli")
    assert not _host.may_repeat("_c10d_functional.all_reduce")
    assert not _host.may_repeat("aten.add_.Tensor")
    assert not _host.may_repeat("nobody.knows")
