# demo.py - Compile, run, compare and summarise; the second half of demo.sh
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Takes single operations and whole layers (Granite, BERT, ViT) of the model data,
# compiles each to a program directory, runs it on the emulator in checked mode
# and prints one line a program: how far the numbers are from PyTorch's, the
# modelled time, traffic and operations. The judgement is that of the conformance
# runners.
"""Compiles programs exported from PyTorch, runs them on the emulator, compares."""

import argparse
import collections
import json
import pathlib
import shutil
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "conformance"))

import programs  # noqa: E402

from lib import arrays, formats, harness  # noqa: E402


def parse(argv):
    parser = argparse.ArgumentParser(prog="demo.py", description=__doc__, epilog="example: demo.py --only softmax")
    parser.add_argument("--build", default=str(ROOT / "build"), help="build folder")
    parser.add_argument("--models", default=str(ROOT / "test" / "data" / "models"), help="folder with a manifest.json")
    parser.add_argument("--only", metavar="SUBSTRING", help="programs whose name contains it")
    parser.add_argument("--tier", type=int, help="programs of this tier (default: tier 1 and the layers of tier 2)")
    return parser.parse_args(argv)


# Whole layers: what people run, and the end of the demonstration.
LAYERS = ("attention_sdpa_mask", "bert_layer_small", "vit_block_small", "granite_2layers_small", "granite_layer_small")


def chosen(entries, options):
    """Entries in the order in which they are shown."""
    entries = [e for e in entries if e.get("npz")]
    if options.tier is not None:
        picked = [e for e in entries if e.get("tier") == options.tier]
    else:
        by_name = {e["name"]: e for e in entries}
        picked = [e for e in entries if e.get("tier") == 1] + [by_name[n] for n in LAYERS if n in by_name]
    return [e for e in picked if not options.only or options.only in e["name"]]


def largest_error(program, outputs):
    """Largest |got - ref| over rms(ref) of all results."""
    worst = 0.0
    for index, (dtype, out) in enumerate(program.outputs):
        if dtype not in formats.FLOATS:
            continue
        ref = program.refs[index]
        ref = formats.to_float64(out, dtype) if ref is None else np.asarray(ref, np.float64)
        got = formats.to_float64(outputs[f"out{index}"], dtype)
        finite = np.isfinite(ref) & np.isfinite(got)
        if finite.any():
            rms = np.sqrt(np.mean(np.square(ref[finite]))) or 1.0
            worst = max(worst, float(np.max(np.abs(got[finite] - ref[finite])) / rms))
    return worst


def operations_of(folder):
    """OpFunc -> number of descriptors of a program directory."""
    counts = collections.Counter()
    for file in folder.rglob("sdsc_*.json"):
        with open(file) as text:
            counts[next(iter(json.load(text))).split("_", 1)[1]] += 1
    return counts


def in_bytes(count):
    for unit in ("B", "KB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.2f} GB"


def run_one(tools, entry, folder, work):
    """Compiles, runs and compares; returns a row of the report."""
    program = programs.read_program(folder, entry["file"], entry["npz"], entry)
    place = work / entry["name"]
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    row = {"name": entry["name"], "ok": False, "reason": ""}
    compile_stats, run_stats = place / "compile.json", place / "run.json"
    arrays.write_inputs(place / "inputs.npz", program.inputs)
    started = time.monotonic()
    steps = [
        [
            tools("spyre-compile"),
            folder / entry["file"],
            "-o",
            place / "program",
            f"--stats={compile_stats}",
            f"--report={place / 'report.html'}",
        ],
        [
            tools("spyre-run"),
            place / "program",
            "--inputs",
            place / "inputs.npz",
            "--outputs",
            place / "outputs.npz",
            "--check",
            f"--stats={run_stats}",
        ],
    ]
    for step in steps:
        bad = harness.failure_of(harness.run_process(step, 600))
        if bad:
            row["reason"] = f"{bad.outcome}: {bad.reason}"
            return row
    row["seconds"] = time.monotonic() - started
    outputs = np.load(place / "outputs.npz")
    row["reason"] = programs.compare_outputs(program, outputs) or ""
    row["ok"] = not row["reason"]
    row["error"] = largest_error(program, outputs)
    row["stats"] = {**(harness.read_stats(compile_stats) or {}), **(harness.read_stats(run_stats) or {})}
    row["operations"] = dict(operations_of(place / "program"))
    return row


def main(argv=None):
    options = parse(argv)
    folder = pathlib.Path(options.models)
    tools = harness.Tools(options.build)
    work = pathlib.Path(options.build) / "demo"
    work.mkdir(parents=True, exist_ok=True)
    with open(folder / "manifest.json") as file:
        entries = chosen(json.load(file), options)
    if not entries:
        print("error: no program fits", file=sys.stderr)
        return 2

    print(f"== {len(entries)} programs exported from PyTorch by torch-mlir, compiled and run on the emulator")
    print(f"   {'program':28} {'numbers':>10} {'modelled':>12} {'memory traffic':>15}  operations")
    rows = []
    try:
        for entry in entries:
            row = run_one(tools, entry, folder, work)
            rows.append(row)
            print("   " + describe(row), flush=True)
    except harness.UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2

    with open(work / "report.json", "w") as file:
        json.dump(rows, file, indent=1)
    good = [row for row in rows if row["ok"]]
    print()
    if good:
        print(f"numbers agree within {max(row['error'] for row in good):.1e} of each result's rms")
        timed = [row["stats"]["modelled_us"] for row in good if "modelled_us" in row["stats"]]
        modelled = f"modelled time {sum(timed):.1f} us; " if timed else ""
        read = sum(row["stats"].get("hbm_read_bytes", 0) for row in good)
        written = sum(row["stats"].get("hbm_write_bytes", 0) for row in good)
        operations = sum((collections.Counter(row["operations"]) for row in good), collections.Counter())
        top = ", ".join(f"{name} {count}" for name, count in operations.most_common(5))
        print(f"{modelled}device memory read {in_bytes(read)}, written {in_bytes(written)}")
        print(f"most frequent operations: {top}")
        print(f"where the time goes in {good[-1]['name']}: {work / good[-1]['name']}/report.html")
    print(f"program directories, numbers and report: {work}/report.json")
    print(f"{len(good)} of {len(rows)} programs agree with PyTorch")
    return 0 if len(good) == len(rows) else 1


def describe(row):
    if not row["ok"]:
        return f"{row['name']:28} FAILED     {row['reason']}"
    stats = row["stats"]
    modelled = f"{stats['modelled_us']:.2f} us" if "modelled_us" in stats else "-"
    traffic = in_bytes(stats.get("hbm_read_bytes", 0) + stats.get("hbm_write_bytes", 0))
    counts = collections.Counter(row["operations"]).most_common()
    operations = " ".join(name if count == 1 else f"{name}x{count}" for name, count in counts[:6])
    if len(counts) > 6:
        operations += f" and {len(counts) - 6} more"
    return f"{row['name']:28} {row['error']:10.1e} {modelled:>12} {traffic:>15}  {operations}"


if __name__ == "__main__":
    sys.exit(main())
