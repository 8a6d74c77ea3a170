#!/usr/bin/env python3
# compile.py - Whole-process compile times
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What a user waits for: the time from starting spyre-compile to its end, with
# the program directory written. An empty mlir-opt run is measured in turn with
# it and is the floor: loading the shared LLVM libraries takes that long.
# Figures are minimum and median over the runs, and ratios to the baseline.
"""Whole-process spyre-compile times beside an empty mlir-opt run."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUSY = 1.0


def parse(argv):
    models = pathlib.Path(os.environ.get("SPYRE_TEST_DATA") or ROOT / "test" / "data") / "models"
    parser = argparse.ArgumentParser(
        prog="compile.py",
        description=__doc__,
        epilog="example: compile.py test/data/models/softmax_512x1024.mlir --runs 20",
    )
    parser.add_argument("programs", nargs="*", help="programs (default: the large ones of the first tier)")
    parser.add_argument("--build", default=os.environ.get("SPYRE_BUILD") or str(ROOT / "build"), help="build folder")
    parser.add_argument("--llvm-bin", default="/usr/lib/llvm-22/bin", help="folder of mlir-opt")
    parser.add_argument("--runs", type=int, default=10, help="runs of each program (default 10)")
    parser.add_argument("--flags", default="", help="flags for spyre-compile, e.g. '-O0'")
    parser.add_argument("--json", help="write the figures to a file")
    options = parser.parse_args(argv)
    if not options.programs:
        manifest = json.loads((models / "manifest.json").read_text())
        options.programs = [str(models / e["file"]) for e in manifest if e.get("tier") == 1 and not e.get("npz")]
    return options


def measure(command):
    """Seconds of one process; its output is not kept."""
    started = time.perf_counter()
    result = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    seconds = time.perf_counter() - started
    if result.returncode:
        text = result.stderr.decode(errors="replace").strip().splitlines()
        raise RuntimeError(f"{' '.join(map(str, command))}: exit code {result.returncode}: {text[0] if text else ''}")
    return seconds


def main(argv=None):
    options = parse(argv)
    load = os.getloadavg()[0]
    compiler = pathlib.Path(options.build) / "bin" / "spyre-compile"
    figures = {"load": load, "busy": load > BUSY, "runs": options.runs, "programs": {}}
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        empty = pathlib.Path(scratch) / "empty.mlir"
        empty.write_text("module {}\n")
        baseline = [pathlib.Path(options.llvm_bin) / "mlir-opt", empty]
        times = {program: [] for program in options.programs}
        floor = []
        for run in range(options.runs):
            floor.append(measure(baseline))
            for program in options.programs:
                if times[program] is None:
                    continue
                target = pathlib.Path(scratch) / f"{pathlib.Path(program).stem}.{run}"
                try:
                    times[program].append(measure([compiler, program, "-o", target, *options.flags.split()]))
                except (RuntimeError, OSError) as error:
                    print(f"{program}: {error}", file=sys.stderr)
                    times[program] = None
                    failed = True
    figures["baseline"] = {
        "command": "mlir-opt, empty module",
        "min_s": min(floor),
        "median_s": statistics.median(floor),
    }
    print(f"{'program':32} {'min':>9} {'median':>9} {'x empty mlir-opt':>17}")
    print(f"{'(empty mlir-opt)':32} {min(floor):8.4f}s {statistics.median(floor):8.4f}s {1.0:17.2f}")
    for program, seconds in times.items():
        name = pathlib.Path(program).stem
        if not seconds:
            print(f"{name:32} failed")
            figures["programs"][name] = None
            continue
        low, middle = min(seconds), statistics.median(seconds)
        figures["programs"][name] = {"min_s": low, "median_s": middle, "ratio": low / min(floor)}
        print(f"{name:32} {low:8.4f}s {middle:8.4f}s {low / min(floor):17.2f}")
    if figures["busy"]:
        print(f"the machine is busy (load {load:.2f}): these figures are not to be judged")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
