# test_cost.py - Bytes, modelled time and traces of whole programs
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Three counts of one thing: what the plan says (spyre-compile), what a walk over
# the artefact counts (spyre-run --cost-only), and what a run counts. They come
# from different code (plan: access maps; artefact: descriptors), so each checks
# the others. Programs that the compiler refuses are passed over, except those
# of tier 1, which it must compile.
"""What spyre-compile plans, spyre-run counts and traces."""

import gzip
import json
import math
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from lib.built import DATA, LARGE, MODELS, run, tool  # noqa: E402
from lib.l3 import LOOP  # noqa: E402


def manifest(*tiers):
    return [e for e in json.loads((MODELS / "manifest.json").read_text()) if e.get("tier") in tiers]


def forms(entry):
    return [MODELS / entry[key] for key in ("file", "torch_form", "nodecomp_form") if entry.get(key)]


def compiled(tmp_path, source, *flags):
    """(program directory, stats), or None if the compiler refuses the program."""
    directory, stats = tmp_path / (source.name + ".program"), tmp_path / (source.name + ".json")
    done = run(tool("spyre-compile"), source, "-o", directory, f"--stats={stats}", *flags)
    assert done.code in (0, 1), done.err
    return (directory, json.loads(stats.read_text())) if done.code == 0 else None


def counted(tmp_path, what, *flags):
    stats = tmp_path / "counted.json"
    done = run(tool("spyre-run"), what, f"--stats={stats}", *flags)
    assert done.code == 0, done.err
    return json.loads(stats.read_text())


COUNTS = ("device_ops", "hbm_read_bytes_counted", "hbm_write_bytes_counted", "lx_bytes_peak", "modelled_us")


@pytest.mark.parametrize("entry", manifest(1, 2), ids=lambda e: e["name"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_planned_bytes_and_time_are_the_counted_ones(tmp_path, entry, level):
    for source in forms(entry):
        made = compiled(tmp_path, source, level)
        assert made or entry["tier"] != 1, f"{source.name} does not compile"
        if not made:
            continue
        directory, planned = made
        walk = counted(tmp_path, directory, "--cost-only")
        assert walk["hbm_read_bytes_counted"] == planned["hbm_read_bytes"], source.name
        assert walk["hbm_write_bytes_counted"] == planned["hbm_write_bytes"], source.name
        assert math.isclose(walk["modelled_us"], planned["modelled_us"], rel_tol=1e-9), source.name
        # Full-size layers are for counting; the emulator would take its time.
        if entry.get("npz") or entry["tier"] == 1:
            real = counted(tmp_path, directory)
            assert {k: walk[k] for k in COUNTS} == {k: real[k] for k in COUNTS}, source.name


@pytest.mark.parametrize("entry", manifest(1, 2), ids=lambda e: e["name"])
def test_starts_and_vector_units_of_ones_own_rates(tmp_path, entry):
    """What nobody has published takes the time that the user's rates say, in plans and on the clock."""
    rates, starts = tmp_path / "rates.json", 700
    rates.write_text(f'{{"version": 1, "rates": {{"operation_start_ns": {starts}, "vector_bytes_per_ns": 50}}}}')
    made = compiled(tmp_path, MODELS / entry["file"], "-O2", f"--rates={rates}")
    if not made:
        return
    directory, planned = made
    walk = counted(tmp_path, directory, "--cost-only")
    assert math.isclose(walk["modelled_us"], planned["modelled_us"], rel_tol=1e-9)
    parts = planned["modelled_parts"]
    # Each execution of a descriptor begins once; some time goes to other than arrays and memory.
    assert math.isclose(parts["start_us"], walk["device_ops"] * starts / 1000, rel_tol=1e-9)
    least = parts["start_us"] + max(parts[f"{of}_us"] for of in ("compute", "memory", "vector"))
    assert planned["modelled_us"] >= least * (1 - 1e-9)


def unaligned():
    with gzip.open(DATA / "unaligned" / "cases.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def test_planned_bytes_of_unaligned_shapes(tmp_path):
    """Sticks that are only partly data are moved whole, and so are the dims of matmuls and restickifies."""
    for case in unaligned():
        source = tmp_path / (case["name"] + ".mlir")
        source.write_text(case["mlir"])
        for level in ("-O0", "-O2"):
            directory, planned = compiled(tmp_path, source, level)
            walk = counted(tmp_path, directory, "--cost-only")
            assert walk["hbm_read_bytes_counted"] == planned["hbm_read_bytes"], (case["name"], level)
            assert walk["hbm_write_bytes_counted"] == planned["hbm_write_bytes"], (case["name"], level)
            assert math.isclose(walk["modelled_us"], planned["modelled_us"], rel_tol=1e-9), (case["name"], level)


def test_loops_count_every_trip(tmp_path):
    source = tmp_path / "loop.mlir"
    source.write_text(LOOP)
    directory, planned = compiled(tmp_path, source)
    # Four times 16 sticks in and 16 out, balanced: 2 / 150 + 0.00574 ns a byte.
    assert planned["hbm_read_bytes"] == planned["hbm_write_bytes"] == 4 * 16 * 128
    assert math.isclose(planned["modelled_us"], 4 * 16 * 128 * (2 / 150 + 0.00574) / 1000, rel_tol=1e-9)
    for flags in (["--cost-only"], []):
        stats = counted(tmp_path, directory, *flags)
        assert stats["device_ops"] == 4
        assert stats["hbm_read_bytes_counted"] == stats["hbm_write_bytes_counted"] == 4 * 16 * 128
        assert math.isclose(stats["modelled_us"], planned["modelled_us"], rel_tol=1e-9)


@pytest.mark.parametrize("entry", manifest(1, 2), ids=lambda e: e["name"])
def test_searching_never_makes_a_program_slower(tmp_path, entry):
    source, times = MODELS / entry["file"], []
    for level in ("-O1", "-O2", "-O3"):
        made = compiled(tmp_path, source, level)
        if not made:
            return
        times.append(made[1]["modelled_us"])
    heuristic, search, exhaustive = times
    assert search <= heuristic * (1 + 1e-9)
    assert exhaustive <= search * (1 + 1e-9)


def test_searching_finds_a_better_matmul(tmp_path):
    source = MODELS / "matmul_512x4096x4096.mlir"
    heuristic, search = (compiled(tmp_path, source, level)[1]["modelled_us"] for level in ("-O1", "-O2"))
    assert search < heuristic / 2


@pytest.mark.parametrize("name", sorted(p.name for p in LARGE.iterdir() if (p / "bind.json").exists()))
def test_counting_a_foreign_bundle(tmp_path, name):
    bind = ["--bind", LARGE / name / "bind.json"]
    walk = counted(tmp_path, LARGE / name, *bind, "--cost-only")
    assert walk["modelled_us"] > 0 and walk["hbm_read_bytes_counted"] > 0
    if not name.startswith("attention"):
        real = counted(tmp_path, LARGE / name, *bind)
        assert {k: walk[k] for k in COUNTS} == {k: real[k] for k in COUNTS}


@pytest.mark.parametrize("name", ["granite_layer_prefill", "granite_layer_decode_static", "swiglu_mlp_full"])
def test_counting_full_size_layers_allocates_nothing(tmp_path, name):
    made = compiled(tmp_path, MODELS / f"{name}.mlir")
    if not made:
        return  # refused so far
    stats = counted(tmp_path, made[0], "--cost-only")
    assert stats["run_s"] < 1
    assert stats["peak_rss_bytes"] < 200e6


def test_counting_needs_no_numbers(tmp_path):
    source = MODELS / "softmax_32x256.mlir"
    for flag in ("--check", "--inputs=x.npz", "--outputs=x.npz", "--expect=x.npz"):
        done = run(tool("spyre-run"), source, "--cost-only", flag)
        assert done.code == 2 and f"--cost-only and {flag.split('=')[0]} exclude each other" in done.err


# --- traces ------------------------------------------------------------------


def traced(tmp_path, *command):
    path = tmp_path / "trace.json"
    done = run(tool("spyre-run"), *command, f"--trace={path}")
    assert done.code == 0, done.err
    return path.read_bytes()


def rows_of(trace):
    """Names of rows and their events in order."""
    names, events = {}, {}
    for event in trace["traceEvents"]:
        if event["ph"] == "M":
            if event["name"] == "thread_name":
                names[event["tid"]] = event["args"]["name"]
            continue
        events.setdefault(event["tid"], []).append(event)
    return names, events


def check_trace(text):
    names, events = rows_of(json.loads(text))
    assert names[0] == "host and transfers" and set(events) <= set(names)
    for row, list_of_row in events.items():
        end = 0
        for event in list_of_row:
            assert event["ph"] in ("X", "i")
            # Printed numbers are rounded to what a double holds.
            assert event["ts"] >= end - 1e-6 * max(1, end), (names[row], event)
            end = event["ts"] + event.get("dur", 0)
            assert (row == 0) == (event["cat"] == "host")
    return names, events


def test_trace_is_the_same_for_any_number_of_threads(tmp_path):
    source = MODELS / "softmax_32x256.mlir"
    texts = [traced(tmp_path, source, "--threads", n) for n in ("1", "2", "5")]
    assert texts[0] == texts[1] == texts[2]
    # Without computing the clock is the same.
    assert texts[0] == traced(tmp_path, source, "--cost-only")


def test_trace_shows_every_launch_on_every_core(tmp_path):
    directory, planned = compiled(tmp_path, MODELS / "softmax_512x1024.mlir")
    names, events = check_trace(traced(tmp_path, directory, "--cost-only"))
    assert [names[row] for row in range(33)] == ["host and transfers"] + [f"core {i}" for i in range(32)]
    assert all(len(events[row]) == planned["device_ops"] for row in range(1, 33))
    operations = events[1]
    # x - max x of an f16 argument is one of f32 numbers. Copies load what is read again.
    names = [e["name"] for e in operations if e["name"] != "identity"]
    assert names == ["max", "sub", "fp32todl16", "exp", "sum", "realdiv"]
    assert sum(e["args"]["hbm_read_bytes"] for e in operations) == planned["hbm_read_bytes"]
    assert math.isclose(sum(e["dur"] for e in operations), planned["modelled_us"], rel_tol=1e-9)
    assert all("softmax_512x1024.mlir:" in e["args"]["origin"] for e in operations)
    host = [e["name"] for e in events[0]]
    assert host[0] == "copy in in0" and host[-1] == "copy out out0" and "launch softmax_512x1024" in host


def test_trace_of_a_foreign_bundle_with_a_loop(tmp_path):
    name = "hint_softmax_m4"
    text = traced(tmp_path, LARGE / name, "--bind", LARGE / name / "bind.json", "--cost-only")
    _, events = check_trace(text)
    assert any("iteration 3" in e["args"]["where"] for e in events[1])


def test_progress_says_one_line_a_step(tmp_path):
    done = run(tool("spyre-run"), MODELS / "add_32x96.mlir", "--progress")
    assert done.code == 0
    lines = done.err.splitlines()
    assert [line.split(": ")[1] for line in lines] == [f"step {i + 1}" for i in range(len(lines))]
    assert [line.split(": ")[2].split(",")[0] for line in lines] == [
        "copy in in0",
        "copy in in1",
        "launch add_32x96",
        "copy out out0",
    ]
    assert not run(tool("spyre-run"), MODELS / "add_32x96.mlir").err
