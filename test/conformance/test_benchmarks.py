# test_benchmarks.py - Tests of what the benchmarks do with numbers
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Nothing is timed here: exponents of known curves, limits at their edges, data
# files whose names must agree, and the table of the modelled clock.
"""Tests of judge.py and of the tables of the benchmarks."""

import functools
import json
import pathlib
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "benchmarks"), str(HERE)]

import bounds  # noqa: E402
import clock  # noqa: E402
import compile as benchmark  # noqa: E402
import emulator  # noqa: E402
import plans  # noqa: E402
import workloads  # noqa: E402
from judge import Limit, exit_code, exponent, judge, largest, pass_seconds, ratio  # noqa: E402
from lib.built import BUILD, tool  # noqa: E402

SIZES = (64, 256, 1024)


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 1.1, 2.0])
def test_exponent_of_a_power(power):
    assert exponent(SIZES, [3e-4 * n**power for n in SIZES]) == pytest.approx(power)


def test_a_constant_lowers_the_exponent():
    seconds = [0.04 + 1e-3 * n for n in SIZES]
    assert 0.8 < exponent(SIZES, seconds) < 1
    assert exponent(SIZES, [s - 0.04 for s in seconds]) == pytest.approx(1)


def test_one_slow_run_moves_the_fit_less_than_the_ends_would():
    seconds = [1e-3 * n for n in SIZES]
    seconds[1] *= 1.3
    assert exponent(SIZES, seconds) == pytest.approx(1)  # the middle of three has no weight on the slope


@pytest.mark.parametrize(
    "sizes, seconds", [((64,), (1.0,)), ((64, 64), (1.0, 2.0)), ((64, 256), (0.0, 1.0)), ((64, 256), (1.0,))]
)
def test_exponent_refuses_what_has_none(sizes, seconds):
    with pytest.raises(ValueError):
        exponent(sizes, seconds)


def test_limits_are_inclusive_and_missing_figures_miss():
    limits = [Limit("a", "wall_s", 0.08), Limit("b", "wall_s", 0.08), Limit("c", "wall_s", 0.08), Limit("d", "x", 1)]
    verdicts = judge({"a": {"wall_s": 0.08}, "b": {"wall_s": 0.0801}, "c": None}, limits)
    assert [v.met for v in verdicts] == [True, False, False, False]
    assert "MISSED b wall_s: 0.080 (at most 0.08)" in str(verdicts[1])
    assert "not measured" in str(verdicts[2])


def test_exit_code():
    good = judge({"a": {"x": 1}}, [Limit("a", "x", 1)])
    bad = judge({"a": {"x": 2}}, [Limit("a", "x", 1)])
    assert exit_code(good, failed=False, busy=False) == 0
    assert exit_code(bad, failed=False, busy=False) == 1
    assert exit_code(bad, failed=False, busy=True) == 0
    assert exit_code(good, failed=True, busy=True) == 1


def test_ratio_and_largest():
    assert ratio(1, 4) == 0.25
    assert ratio(None, 4) is None and ratio(1, None) is None and ratio(1, 0) is None
    assert largest({"a": 1.0, "b": 3.0, "c": 0.0}, 2) == [("b", 3.0, 0.75), ("a", 1.0, 0.25)]
    assert largest({}) == []


TIMING = """
===---===
                         ... Execution time report ...
===---===
  Total Execution Time: 0.0023 seconds

  ----Wall Time----  ----Name----
    0.0007 ( 29.4%)  ConvertA
    0.0001 (  5.2%)  CSE
    0.0001 (  5.2%)    (A) DominanceInfo
    0.0005 ( 23.2%)  'func.func' Pipeline
    0.0004 ( 21.0%)    PlaceB
    0.0008 ( 34.5%)  Rest
    0.0023 (100.0%)  Total
  ----User Time----  ----Wall Time----  ----Name----
    9.0000 ( 10.0%)    0.0002 ( 10.0%)  CSE
"""


def test_pass_times_are_those_of_passes_alone():
    assert pass_seconds(TIMING) == pytest.approx({"ConvertA": 0.0007, "CSE": 0.0003, "PlaceB": 0.0004})
    assert pass_seconds("error: nothing here") == {}


def test_tables_agree():
    names = {w.name for w in workloads.WORKLOADS}
    assert len(names) == len(workloads.WORKLOADS)
    assert set(workloads.incumbent()) <= names
    assert set(benchmark.TIMED) <= names
    assert {limit.name for limit in benchmark.LIMITS} <= {*benchmark.TIMED, "chains"}


def test_stacked_layers_are_written(tmp_path):
    one = next(w for w in workloads.WORKLOADS if w.name == "granite_prefill_1sh").write(tmp_path)
    four = next(w for w in workloads.WORKLOADS if w.name == "granite_4_layers_1sh").write(tmp_path)
    products = [text.read_text().count("torch.aten.mm") for text in (one, four)]
    assert products[1] == 4 * products[0] > 0


def test_measure_reports_failure():
    with pytest.raises(RuntimeError, match="exit code 3: said"):
        benchmark.measure(["/bin/sh", "-c", "echo said >&2; exit 3"])
    (wall, user), messages = benchmark.measure(["/bin/true"])
    assert wall > 0 and user >= 0 and messages == ""


# --- plans -------------------------------------------------------------------


def event(op, ts, core, where, moved, origin=""):
    args = {"op": op, "where": where, "origin": origin, "hbm_read_bytes": moved, "hbm_write_bytes": 1}
    return {"cat": "operation", "ts": ts, "dur": 2.0, "tid": core, "args": args}


def test_an_operation_of_many_cores_counts_once():
    copy = {"cat": "host", "ts": 0, "args": {"where": "in0", "hbm_read_bytes": 5, "hbm_write_bytes": 5}}
    events = [copy, event("max", 0, 1, "a", 9), event("max", 0, 2, "a", 9), event("max", 2, 1, "a", 9)]
    events.append(event("sub", 2, 1, "b", 99))
    rows = plans.operations({"traceEvents": events})
    assert plans.by_op(rows) == [("sub", [1, 100, 2.0]), ("max", [2, 20, 4.0])]


def test_origins_are_read_from_the_text():
    text = """module {
  func.func @f(%arg0: !torch.vtensor<[2,3],f16>, %w: !torch.vtensor<[4],f32>) {
    %0 = torch.aten.mul.Tensor %arg0, %w : !torch.vtensor<[2,3],f16>, !torch.vtensor<[4],f32> -> !torch.vtensor<[2,4],f16>
"""
    column = text.splitlines()[1].index("%w") + 1
    assert plans.torch_operation("f.mlir:3:10 (spyre.mul)", text) == "line 3: torch.aten.mul.Tensor -> [2,4],f16"
    assert plans.torch_operation(f"f.mlir:2:{column}", text) == "argument %w [4],f32"
    assert plans.torch_operation("f.mlir:99", text) == "f.mlir:99"
    assert plans.torch_operation("", text) == ""


def test_worse_means_above_the_published_figure():
    theirs = {"traffic_mb": 10.0, "modelled_us": 100, "post_aot_s": 2.0}
    ours = {"traffic_mb": 10.1, "modelled_us": 103, "compile_s": 0.1}
    assert plans.compare(ours, theirs)["worse"] == ["modelled_us"]
    assert plans.compare(ours, {})["worse"] == []


# --- the clock ---------------------------------------------------------------


def test_deviations():
    assert clock.deviation(110, 100) == pytest.approx(10)
    assert clock.deviation(0, 0) == 0 and clock.deviation(1, 0) is None
    assert clock.percent(-0.04) == "0.0" and clock.percent(4.04) == "+4.0" and clock.percent(None) == "-"


def test_every_published_figure_has_a_kernel_or_a_reason():
    for row in clock.published()["figures"]:
        assert row["source"]
        if "kernels" not in row:
            assert row["why"] and "published" not in row, row["figure"]
            continue
        assert row["measure"] in {*clock.MEASURES, "time", "copy_rate"}, row["figure"]
        for kind, arguments in row["kernels"]:
            assert "spyre." in getattr(clock.kernels, kind)(**arguments)
        # More than rounding needs a reason.
        assert row["bound_percent"] <= 0.5 or row["note"], row["figure"]


def test_every_published_attention_has_a_program_or_a_reason():
    for row in clock.published()["attentions"]:
        assert row["source"] and row["published"] > 0 and row["unit"] in clock.UNITS
        assert ("program" in row) == ("assumed" in row) != ("why" in row), row["figure"]
        if "program" in row:
            kind, arguments = row["program"]
            assert "torch.aten." in getattr(clock.attention, kind)(**arguments)


@pytest.fixture(scope="module")
def clock_figures():
    tool("spyre-run")
    return clock.collect(BUILD)


def test_the_clock_keeps_its_bounds(clock_figures):
    judged = [row for row in clock_figures[0] if "met" in row]
    assert judged and not [row for row in judged if not row["met"]]


def test_the_page_of_the_clock_is_up_to_date(clock_figures):
    page = clock.PAGE.read_text()
    assert page == clock.in_page(page, clock.tables(*clock_figures)), "run benchmarks/clock.py --update"


# --- the emulator's speed --------------------------------------------------------


def test_products_of_the_layer_have_its_operations():
    # Two for each weight and position, 204 GFLOP, and attention.
    weights = 2 * 4096 * 4096 + 2 * 1024 * 4096 + 3 * 12800 * 4096
    attention = 2 * 32 * 512 * 512 * 128
    products = [part.split(":")[1].split(",") for part in emulator.GRANITE.split("+")]
    counted = sum(2 * int(c) * int(m) * int(n) * int(k) for c, m, n, k in products)
    assert counted == 2 * 512 * weights + 2 * attention
    assert round(2 * 512 * weights / 1e9) == 204


def test_every_case_has_a_limit_and_a_baseline():
    assert len({case.name for case in emulator.CASES}) == len(emulator.CASES) == len(emulator.LIMITS)
    for case in emulator.CASES:
        assert case.baselines and case.most >= 1 and case.runs >= 3


@pytest.mark.parametrize("kind", ["softmax", "layernorm", "transpose"])
def test_numpy_is_timed(kind):
    assert emulator.numpy_seconds(kind, (64, 64), runs=1) > 0


# Time and traffic as multiples of the bounds, before values were tiled over time.
BEFORE = json.loads((bounds.DATA / "before.json").read_text())


WORKLOADS = json.loads((bounds.DATA / "workloads.json").read_text())


@functools.cache
def statistics(name):
    """The --stats of a full-size program."""
    with tempfile.TemporaryDirectory() as scratch:
        return bounds.plan(tool("spyre-compile"), bounds.DATA / f"{name}.mlir", ["-O2"], pathlib.Path(scratch))


def planned(name):
    """The row of a full-size program in the table of bounds.py."""
    return bounds.figures(statistics(name), WORKLOADS[name])


@pytest.mark.parametrize("name", BEFORE)
def test_no_plan_is_worse_than_before(name):
    row = planned(name)
    time, traffic = BEFORE[name]
    factor = 1.035  # the figures have two or three digits
    assert row["time_ratio"] <= time * factor and row["traffic_ratio"] <= traffic * factor


# Twice the bound of these would be a plan without tiles.
TILED = (
    *("attention_2048", "attention_8192", "attention_mask_2048", "sdpa_causal_512", "decode_attention_8x4096"),
    *(
        "layernorm_4096x4096",
        "rmsnorm_4096x4096",
        "groupnorm_8x256x64x64",
        "softmax_4096x32768",
        "log_softmax_512x49152",
    ),
    *("chain_32_norm", "add_transposed", "swiglu_2048"),
)


@pytest.mark.parametrize("name", BEFORE)
def test_the_bound_is_that_of_the_program(name):
    # The compiler's from what it planned, the table's from what PyTorch exported: without the
    # constants that the compiler has folded (a causal mask is 6 % of what moves), and with what the mask hides.
    bound, stats = WORKLOADS[name], statistics(name)
    low, high = (0.6, 1.06) if "causal" in name else (0.99, 1.01)
    assert low * bound["bound_us"] <= stats["bound_us"] <= high * bound["bound_us"]
    assert stats["bound_ratio"] == pytest.approx(stats["modelled_us"] / stats["bound_us"])


@pytest.mark.parametrize("name", TILED)
def test_tiles_are_made(name):
    assert planned(name)["time_ratio"] < 2
