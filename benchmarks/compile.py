#!/usr/bin/env python3
# compile.py - Whole-process compile times
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What a user waits for: the time from starting spyre-compile to its end, with
# the program directory written (to memory: /dev/shm where there is one, as the
# disk is not what is measured). An empty mlir-opt run is measured in turn with
# the programs and is the floor: loading the shared LLVM libraries takes that
# long. The incumbent's published times stand beside ours; they leave out its
# start and PyTorch's tracing, ours leave out nothing. Limits are judged by the
# minimum (judge.py says why) unless the machine is busy.
"""Whole-process spyre-compile times, beside an empty mlir-opt run and the incumbent's."""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import workloads  # noqa: E402
from judge import Limit, as_rows, exit_code, exponent, judge, largest, pass_seconds, ratio  # noqa: E402

# Seconds of a whole process (wall) that a user may wait, and how user time may grow.
LIMITS = [
    Limit("softmax_512x1024", "wall_s", 0.08),
    Limit("rmsnorm_512x4096", "wall_s", 0.08),
    Limit("attention_explicit_1x32x512x128", "wall_s", 0.12),
    Limit("granite_prefill_1sh", "wall_s", 0.4),
    Limit("chain_1024_512x1024", "wall_s", 0.8),
    Limit("chains", "exponent", 1.1),
]
CHAINS = {64: "chain_64_512x1024", 256: "chain_256_512x1024", 1024: "chain_1024_512x1024"}
TIMED = [
    "softmax_512x1024",
    "rmsnorm_512x4096",
    "attention_explicit_1x32x512x128",
    "swiglu_mlp_512x4096x14336",
    "granite_prefill_1sh",
    "granite_decode_kv512",
    "granite_4_layers_1sh",
    *CHAINS.values(),
]
# Ours under one name, theirs under another: the published time is of activations [length, hidden].
PUBLISHED_AS = {"granite_4_layers_1sh": "granite_4_layers_sh"}


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="compile.py",
        description=__doc__,
        epilog="example: compile.py test/data/models/softmax_512x1024.mlir --runs 20",
    )
    parser.add_argument(
        "programs", nargs="*", help="programs to measure and not judge (default: the workloads with limits)"
    )
    workloads.harness.add_build_flag(parser)
    parser.add_argument("--llvm-bin", default="/usr/lib/llvm-22/bin", help="folder of mlir-opt")
    parser.add_argument("--runs", type=int, default=10, help="runs of each program (default 10)")
    parser.add_argument("--flags", default="", help="flags for spyre-compile, e.g. '-O0'")
    parser.add_argument("--json", help="write the figures to a file")
    options = parser.parse_args(argv)
    if options.runs < 1:
        parser.error("--runs must be at least 1")
    return options


def measure(command):
    """(wall, user) seconds of one process, and its messages."""
    with tempfile.TemporaryFile() as messages:
        started = time.perf_counter()
        process = subprocess.Popen(
            list(map(str, command)), stdout=subprocess.DEVNULL, stderr=messages, stdin=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        messages.seek(0)
        text = messages.read().decode(errors="replace")
    if process.returncode:
        lines = text.strip().splitlines()
        raise RuntimeError(f"exit code {process.returncode}: {lines[0] if lines else 'no message'}")
    return (wall, usage.ru_utime), text


def compiled(command, folder):
    """As measure, for a command that gets `-o folder`; the folder is removed, not timed."""
    try:
        return measure([*command, "-o", folder])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def summary(times):
    wall, user = [t[0] for t in times], [t[1] for t in times]
    return {
        "wall_s": min(wall),
        "wall_median_s": statistics.median(wall),
        "user_s": min(user),
        "user_median_s": statistics.median(user),
    }


def run_all(sources, compiler, flags, baseline, runs, scratch):
    """(times of the floor, name -> times or None, parts of each); one process at a time, in turns."""
    floor, times, parts = [], {name: [] for name in sources}, {}
    for _ in range(runs):
        floor.append(measure(baseline)[0])
        for name, source in sources.items():
            if times[name] is None:
                continue
            try:
                times[name].append(compiled([compiler, source, *flags], scratch / "program")[0])
            except RuntimeError as error:
                print(f"{name}: {error}", file=sys.stderr)
                times[name] = None
    for name, source in sources.items():
        if times[name]:
            stats = scratch / "stats.json"
            _, timing = compiled([compiler, source, *flags, f"--stats={stats}", "--mlir-timing"], scratch / "program")
            stages = json.loads(stats.read_text()).get("stages", {})
            parts[name] = {"stages": stages, "passes": pass_seconds(timing)}
    return floor, times, parts


def chain_exponents(figures, floor):
    """Growth of user time over the chains: as it is, and of what exceeds an empty process."""
    rows = [(size, figures[name]["user_s"]) for size, name in CHAINS.items() if figures.get(name)]
    if len(rows) != len(CHAINS):
        return None
    sizes, seconds = zip(*rows)
    net = [s - floor for s in seconds]
    return {"exponent": exponent(sizes, seconds), "net_exponent": exponent(sizes, net) if min(net) > 0 else None}


def choose(options, scratch):
    """name -> source; what cannot be made is said and left out."""
    if options.programs:
        return {pathlib.Path(program).stem: pathlib.Path(program) for program in options.programs}
    sources = {}
    for workload in workloads.WORKLOADS:
        if workload.name not in TIMED:
            continue
        try:
            sources[workload.name] = workload.write(scratch)
        except workloads.Unavailable as error:
            print(f"{workload.name}: left out, {error}", file=sys.stderr)
    return sources


def print_tables(figures, floor):
    head = ("program", "wall min", "median", "user min", "median", "x empty", "incumbent", "ours/theirs")
    print("{:32} {:>9} {:>9} {:>9} {:>9} {:>8} {:>10} {:>12}".format(*head))
    rows = {"(empty mlir-opt)": floor, **figures}
    for name, row in rows.items():
        if not row:
            print(f"{name:32} failed")
            continue
        line = f"{name:32} {row['wall_s']:8.3f}s {row['wall_median_s']:8.3f}s {row['user_s']:8.3f}s {row['user_median_s']:8.3f}s"
        line += f" {row['wall_s'] / floor['wall_s']:8.2f}"
        if row.get("incumbent_s"):
            line += f" {row['incumbent_s']:9.2f}s {row['ratio']:12.3f}"
        print(line)
    for parts in ("stages", "passes"):
        print(f"\nlargest {parts} (of the time in {parts} of one more run)")
        for name, row in figures.items():
            if row:
                three = (f"{part} {1000 * s:.1f} ms ({share:.0%})" for part, s, share in largest(row[parts]))
                print(f"{name:32} " + ", ".join(three))


def main(argv=None):
    options = parse(argv)
    load = os.getloadavg()[0]
    busy = load > workloads.BUSY
    compiler = pathlib.Path(options.build) / "bin" / "spyre-compile"
    published = workloads.incumbent()
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory, prefix="spyre-compile-") as scratch:
        scratch = pathlib.Path(scratch)
        empty = scratch / "empty.mlir"
        empty.write_text("module {}\n")
        sources = choose(options, scratch)
        baseline = [pathlib.Path(options.llvm_bin) / "mlir-opt", empty]
        try:
            floor, times, parts = run_all(sources, compiler, options.flags.split(), baseline, options.runs, scratch)
        except OSError as error:
            print(f"compile.py: error: {error}", file=sys.stderr)
            return 2
    floor = summary(floor)
    figures = {}
    for name, seconds in times.items():
        figures[name] = summary(seconds) if seconds else None
        if not seconds:
            continue
        theirs = published.get(PUBLISHED_AS.get(name, name), {}).get("post_aot_s")
        figures[name] |= parts[name]
        figures[name] |= {"incumbent_s": theirs, "ratio": ratio(figures[name]["wall_s"], theirs)}
    print_tables(figures, floor)
    chains = chain_exponents(figures, floor["user_s"])
    if chains:
        net = "-" if chains["net_exponent"] is None else f"{chains['net_exponent']:.2f}"
        print(
            f"\nuser time grows with exponent {chains['exponent']:.2f} from 64 to 1024 operations ({net} without the floor)"
        )
    verdicts = [] if options.programs else judge({**figures, "chains": chains}, LIMITS)
    for verdict in verdicts:
        print(verdict)
    if busy:
        print(f"the machine is busy (load {load:.2f}): these figures are not judged")
    if options.json:
        report = {
            "load": load,
            "busy": busy,
            "runs": options.runs,
            "baseline": floor,
            "programs": figures,
            "chains": chains,
        }
        report["limits"] = as_rows(verdicts)
        pathlib.Path(options.json).write_text(json.dumps(report, indent=1) + "\n")
    return exit_code(verdicts, failed=any(row is None for row in figures.values()), busy=busy)


if __name__ == "__main__":
    sys.exit(main())
