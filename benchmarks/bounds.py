#!/usr/bin/env python3
# bounds.py - Plans of full-size programs beside the least that they could take
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A plan can move no less than every argument once and every result once, and multiply no
# faster than the device's arrays: workloads.json beside the programs says both. Printed are
# the modelled time and the traffic of the plan as multiples of those; the machine does not
# matter.
"""Modelled time and traffic of full-size programs, as multiples of their bounds."""

import argparse
import json
import math
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import plans  # noqa: E402
import workloads  # noqa: E402

DATA = workloads.ROOT / "test" / "data" / "plans"


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="bounds.py", description=__doc__, epilog="example: bounds.py --only attention"
    )
    workloads.harness.add_build_flag(parser)
    parser.add_argument("--data", type=pathlib.Path, default=DATA, help="folder of programs and workloads.json")
    parser.add_argument("--only", default="", metavar="SUBSTRING", help="programs whose name contains it")
    parser.add_argument("--flags", default="-O2", help="flags for spyre-compile (default -O2)")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--json", help="write the figures to a file")
    return parser.parse_args(argv)


def plan(compiler, source, flags, scratch):
    """The --stats of one program; RuntimeError as plans.run."""
    stats = scratch / "stats.json"
    plans.run([compiler, source, "-o", scratch / "program", f"--stats={stats}", *flags])
    return json.loads(stats.read_text())


def figures(planned, bound):
    moved = planned["hbm_read_bytes"] + planned["hbm_write_bytes"]
    return {
        "modelled_us": planned["modelled_us"],
        "bound_us": bound["bound_us"],
        "time_ratio": planned["modelled_us"] / bound["bound_us"],
        "traffic_mb": moved / 1e6,
        "compulsory_mb": (bound["read_bytes"] + bound["written_bytes"]) / 1e6,
        "traffic_ratio": moved / (bound["read_bytes"] + bound["written_bytes"]),
        "lx_peak_kib": planned["lx_bytes_peak"] / 1024,
        "compile_s": planned["compile_s"],
    }


HEAD = ("program", "µs", "bound", "ratio", "MB", "compulsory", "ratio", "LX KiB", "compile s")


def cells(name, row):
    return (
        name,
        f"{row['modelled_us']:.0f}",
        f"{row['bound_us']:.0f}",
        f"{row['time_ratio']:.2f}",
        f"{row['traffic_mb']:.1f}",
        f"{row['compulsory_mb']:.1f}",
        f"{row['traffic_ratio']:.2f}",
        f"{row['lx_peak_kib']:.0f}",
        f"{row['compile_s']:.3f}",
    )


def mean(rows, key):
    return math.exp(sum(math.log(row[key]) for row in rows.values()) / len(rows))


def main(argv=None):
    options = parse(argv)
    bounds = json.loads((options.data / "workloads.json").read_text())
    compiler = pathlib.Path(options.build) / "bin" / "spyre-compile"
    rows, failed = {}, False
    with tempfile.TemporaryDirectory(prefix="spyre-bounds-") as scratch:
        for name, bound in bounds.items():
            if options.only not in name:
                continue
            try:
                source = options.data / f"{name}.mlir"
                rows[name] = figures(plan(compiler, source, options.flags.split(), pathlib.Path(scratch)), bound)
            except (RuntimeError, OSError) as error:
                print(f"{name}: {error}", file=sys.stderr)
                failed = True
    plans.print_table([HEAD, *(cells(name, row) for name, row in rows.items())], options.markdown)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    if rows:
        means = f"time {mean(rows, 'time_ratio'):.2f}, traffic {mean(rows, 'traffic_ratio'):.2f}"
        print(f"\n{len(rows)} programs; geometric means of the ratios: {means}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
