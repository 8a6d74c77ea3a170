#!/usr/bin/env python3
# clock.py - The emulator's clock beside every published figure of the device
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# For each figure of published.json the operation that was measured is written as
# a planned module (kernels.py), made into a bundle by the real tools, and the
# bundle is run by the emulator without computing. What its trace says is set
# beside the figure. Whole attentions (attention.py) are compiled as programs. They are
# shown and not judged, for not all of their shapes is public, and so are the incumbent's
# split costs and modelled times, which come from its cost model and not from a device.
"""Sets the emulator's clock beside every published figure, with the deviation."""

import argparse
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import attention  # noqa: E402
import kernels  # noqa: E402
import plans  # noqa: E402
import workloads  # noqa: E402

PAGE = workloads.ROOT / "docs" / "developer" / "clock.md"
BEGIN, END = "<!-- begin: clock.py -->", "<!-- end: clock.py -->"
NS_PER_US = 1000


def published():
    return json.loads((workloads.ROOT / "benchmarks" / "published.json").read_text())


class Bench:
    """Runs kernels, each once."""

    def __init__(self, build, scratch):
        self.bin, self.scratch, self.known = pathlib.Path(build) / "bin", pathlib.Path(scratch), {}

    def run(self, kind, arguments):
        """The trace's events of a kernel: its operations, then its copies."""
        key = json.dumps([kind, arguments], sort_keys=True)
        if key not in self.known:
            folder = self.scratch / str(len(self.known))
            folder.mkdir()
            source, converted = folder / "kernel.mlir", folder / "converted.mlir"
            source.write_text(getattr(kernels, kind)(**arguments))
            plans.run([self.bin / "spyre-opt", source, "--convert-spyre-to-superdsc", "-o", converted])
            bundle, trace = folder / "bundle", folder / "trace.json"
            plans.run([self.bin / "spyre-translate", "--sdsc-to-bundle", "--verify", converted, "-o", bundle])
            plans.run([self.bin / "spyre-run", bundle, "--cost-only", f"--trace={trace}"])
            events = json.loads(trace.read_text())["traceEvents"]
            first_core = [e for e in events if e.get("cat") == "operation" and e["tid"] == 1]
            self.known[key] = ([Operation(e) for e in first_core], [e for e in events if e.get("cat") == "host"])
        return self.known[key]

    def compile(self, kind, arguments):
        """What --stats says of an attention."""
        key = json.dumps(["program", kind, arguments], sort_keys=True)
        if key not in self.known:
            folder = self.scratch / str(len(self.known))
            folder.mkdir()
            source, stats = folder / "program.mlir", folder / "stats.json"
            source.write_text(getattr(attention, kind)(**arguments))
            plans.run([self.bin / "spyre-compile", source, "-O2", "-o", folder / "program", f"--stats={stats}"])
            self.known[key] = json.loads(stats.read_text())
        return self.known[key]


class Operation:
    def __init__(self, event):
        args = event["args"]
        self.ns, self.cores = event["dur"] * NS_PER_US, args["cores"]
        self.compute, self.memory, self.ring = (
            args[f"{part}_us"] * NS_PER_US for part in ("compute", "memory", "ring")
        )
        self.read, self.written = args["hbm_read_bytes"], args["hbm_write_bytes"]


# --- measures: a figure from the operations of its kernels --------------------
# Each gets the row, its operations (the one picked of each kernel) and the bench.


def rate(row, op, *_):
    return (op.read + op.written) / op.ns


def read_rate(row, op, *_):
    return op.read / op.ns


def turnaround(row, both, one_way, *_):
    return (both.ns - (both.read + both.written) / rate(row, one_way)) / min(both.read, both.written)


def time_ratio(row, op, other):
    return op.ns / other.ns


def read_bytes(row, op):
    return op.read


def extents(row, index=0):
    """MACs, output elements and slices of K of a matmul row's kernel."""
    m, n, k = (row["kernels"][index][1][dim] for dim in "mnk")
    return m[0] * n[0] * k[0], m[0] * n[0], k[1]


def mac_rate(row, op, *_, index=0):
    return extents(row, index)[0] / op.cores / op.compute


def mac_share(row, op, full):
    return mac_rate(row, op) / mac_rate(row, full, index=1)


def reads(row, op):
    m, n, k = (row["kernels"][0][1][dim][0] for dim in "mnk")
    return op.read / (2 * (m * k + k * n))


def hop(row, op):
    _, outputs, slices = extents(row)
    return op.ring / NS_PER_US / outputs / (slices - 1)


def cohort(row, many, few, one_way):
    """How much longer the shared operand takes than for readers that one multicast serves."""
    m, _, k = (row["kernels"][0][1][dim][0] for dim in "mnk")
    return 1 + (many.memory - few.memory) * rate(row, one_way) / (2 * m * k)


MEASURES = {
    f.__name__: f
    for f in (rate, read_rate, turnaround, time_ratio, read_bytes, mac_rate, mac_share, reads, hop, cohort)
}
UNITS = {"us": NS_PER_US, "ms": NS_PER_US**2}


def measured(row, bench):
    runs = [bench.run(kind, arguments) for kind, arguments in row["kernels"]]
    if row["measure"] == "time":
        operations = runs[0][0]
        if "operation" in row:
            operations = [operations[row["operation"]]]
        return sum(op.ns for op in operations) / UNITS[row["unit"]]
    if row["measure"] == "copy_rate":
        copies = [e for e in runs[0][1] if e.get("dur")]
        if not copies:
            return None
        moved = sum(e["args"]["hbm_read_bytes"] + e["args"]["hbm_write_bytes"] for e in copies)
        return moved / sum(e["dur"] for e in copies) / NS_PER_US
    picked = [operations[row.get("operation", 0)] for operations, _ in runs]
    return MEASURES[row["measure"]](row, *picked)


def deviation(ours, theirs):
    """Percent; None if there is nothing to divide by."""
    if theirs == 0:
        return 0.0 if ours == 0 else None
    return (ours / theirs - 1) * 100


def figures(bench):
    result = []
    for row in published()["figures"]:
        entry = {key: row[key] for key in ("figure", "published", "unit", "bound_percent", "source") if key in row}
        if "kernels" not in row:
            result.append({**entry, "note": row["why"]})
            continue
        ours = measured(row, bench)
        entry["ours"] = ours
        entry["deviation_percent"] = None if ours is None else deviation(ours, row["published"])
        off = entry["deviation_percent"]
        # Rounding of a double is no deviation.
        entry["met"] = off is not None and abs(off) <= row["bound_percent"] + 1e-9
        result.append({**entry, "note": row.get("note", "")})
    return result


def attentions(bench):
    """Each published time of an attention with the modelled time of our plan, and the least that any plan takes."""
    result = []
    for row in published()["attentions"]:
        entry = {key: row[key] for key in ("figure", "published", "unit", "source")}
        if "program" in row:
            stats, unit = bench.compile(*row["program"]), UNITS[row["unit"]] / NS_PER_US
            entry |= {"ours": stats["modelled_us"] / unit, "least": stats["bound_us"] / unit}
        result.append({**entry, "note": row.get("assumed") or row["why"]})
    return result


# --- the incumbent's cost model ----------------------------------------------


def splits(bench):
    """Each published division of a matmul with the incumbent's cost and our time."""
    table = json.loads((workloads.models().parent / "planning" / "work_division.json").read_text())
    result = []
    for row in table["matmul_split_cost"]:
        entry = {"row": row, "published": row["cost_us"], "ours": None, "why": ""}
        (b, b_split), (m, m_split), (n, n_split), (k, k_split) = (row[dim] for dim in "BMNK")
        if row["cost_us"] == "inf":
            entry["why"] = "more slices than cores"
        elif m % m_split or b % b_split:
            entry["why"] = "no whole slices"
        elif kernels.sticks(n) % n_split or kernels.sticks(k) % k_split:
            entry["why"] = "no whole sticks a core"
        else:
            arguments = {"m": row["M"], "n": row["N"], "k": row["K"], "batch": row["B"]}
            entry["ours"] = sum(op.ns for op in bench.run("matmul", arguments)[0]) / NS_PER_US
        result.append(entry)
    return result


def modelled(bench):
    """Programs whose plan is published: the incumbent's time and ours for the same kernels."""
    result = []
    for row in published()["incumbent_models"]:
        theirs, (operations, _) = workloads.incumbent()[row["workload"]], bench.run(*row["kernel"])
        moved = sum(op.read + op.written for op in operations) / plans.MB
        result.append({"workload": row["workload"], "traffic": (theirs["traffic_mb"], moved)})
        result[-1]["us"] = (theirs["modelled_us"], sum(op.ns for op in operations) / NS_PER_US)
    return result


# --- tables ------------------------------------------------------------------


def number(value):
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    return f"{value:.5g}" if abs(value) < 1e5 else f"{value:.0f}"


def percent(value):
    if value is None:
        return "-"
    value = round(value, 1) + 0.0  # no minus zero
    return f"{value:+.1f}" if value else "0.0"


def lines(head, rows):
    yield "| " + " | ".join(head) + " |"
    yield "|---" * len(head) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def tables(table, whole, divisions, programs):
    out = list(
        lines(
            ("figure", "published", "ours", "deviation %", "bound %", "note"),
            [
                (
                    row["figure"],
                    (number(row.get("published")) + " " + row.get("unit", "")).strip(),
                    number(row.get("ours")),
                    percent(row.get("deviation_percent")),
                    number(row.get("bound_percent")),
                    row["note"],
                )
                for row in table
            ],
        )
    )
    out += [
        "",
        "Whole attentions on a card and the modelled time of our plan at `-O2`, with the least of any plan:",
        "",
    ]
    out += lines(
        ("attention", "published", "ours", "least", "deviation %", "assumed of the shape"),
        [
            (
                row["figure"],
                f"{number(row['published'])} {row['unit']}",
                number(row.get("ours")),
                number(row.get("least")),
                percent(deviation(row["ours"], row["published"]) if "ours" in row else None),
                row["note"],
            )
            for row in whole
        ],
    )
    out += ["", "The incumbent's cost of matmul divisions (extent/slices) and our kernel time, both µs:", ""]
    cut = lambda pair: f"{pair[0]}/{pair[1]}"
    out += lines(
        ("B", "M", "N", "K", "incumbent", "ours", "deviation %", "note"),
        [
            (
                *(cut(e["row"][dim]) for dim in "BMNK"),
                number(e["published"]),
                number(e["ours"]),
                percent(None if e["ours"] is None else deviation(e["ours"], e["published"])),
                e["why"],
            )
            for e in divisions
        ],
    )
    out += ["", "The incumbent's modelled time of programs and ours, for the plan that it makes:", ""]
    out += lines(
        ("workload", "MB, theirs", "MB, ours", "µs, theirs", "µs, ours", "deviation %"),
        [
            (
                p["workload"],
                *(f"{v:.1f}" for v in p["traffic"]),
                *(number(v) for v in p["us"]),
                percent(deviation(*p["us"][::-1])),
            )
            for p in programs
        ],
    )
    return "\n".join(out) + "\n"


def in_page(page, text):
    """The page with its table replaced."""
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{text}{END}{tail}"


def parse(argv):
    parser = argparse.ArgumentParser(prog="clock.py", description=__doc__, epilog="example: clock.py --update")
    workloads.harness.add_build_flag(parser)
    parser.add_argument("--update", action="store_true", help="write the tables into docs/developer/clock.md")
    parser.add_argument("--json", help="write the figures to a file")
    return parser.parse_args(argv)


def collect(build):
    with tempfile.TemporaryDirectory(prefix="spyre-clock-") as scratch:
        bench = Bench(build, scratch)
        return figures(bench), attentions(bench), splits(bench), modelled(bench)


def main(argv=None):
    options = parse(argv)
    try:
        found = collect(options.build)
    except (RuntimeError, OSError, workloads.Unavailable) as error:
        print(f"clock.py: error: {error}", file=sys.stderr)
        return 1
    text = tables(*found)
    print(text, end="")
    if options.update:
        PAGE.write_text(in_page(PAGE.read_text(), text))
    if options.json:
        keys = ("figures", "attentions", "incumbent_splits", "incumbent_models")
        pathlib.Path(options.json).write_text(json.dumps(dict(zip(keys, found)), indent=1) + "\n")
    judged = [row for row in found[0] if "met" in row]
    missed = [row for row in judged if not row["met"]]
    for row in missed:
        print(f"MISSED {row['figure']}: {number(row['ours'])}, published {number(row['published'])}")
    print(f"\n{len(judged)} figures, {len(missed)} beyond their bound; {len(found[0]) - len(judged)} without a model")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
