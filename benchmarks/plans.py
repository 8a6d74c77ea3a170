#!/usr/bin/env python3
# plans.py - Traffic and modelled time of the workloads beside the incumbent's
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Plans do not depend on the machine, so nothing here is timed twice and a busy
# machine does not matter (the compile time is one run and only for orientation).
# Where our plan moves more bytes or takes longer than the published one, the
# bytes and the modelled time are attributed to operations: first by OpFunc, then
# the single operations with the torch operation that they come from. Both are
# read from the trace of a cost-only run, so they are those of the artefact.
"""Traffic, modelled time, compile time and LX of the workloads, beside the incumbent's."""

import argparse
import collections
import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import workloads  # noqa: E402
from judge import ratio  # noqa: E402

MB = 1e6
TIMEOUT_S = 3600
WORSE = 1.02  # the published figures have three digits


def parse(argv):
    parser = argparse.ArgumentParser(prog="plans.py", description=__doc__, epilog="example: plans.py --only granite")
    workloads.harness.add_build_flag(parser)
    parser.add_argument("--only", default="", metavar="SUBSTRING", help="workloads whose name contains it")
    parser.add_argument("--flags", default="-O2", help="flags for spyre-compile (default -O2)")
    parser.add_argument("--top", type=int, default=5, help="operations listed for a worse row (default 5)")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--json", help="write the figures to a file")
    return parser.parse_args(argv)


def run(command, environment=None):
    """What a command prints, or RuntimeError with the first line of its messages."""
    try:
        done = workloads.harness.run_process(command, TIMEOUT_S, env=environment)
    except workloads.harness.UsageError as error:
        raise RuntimeError(str(error)) from error
    if done.code:
        lines = done.err.strip().splitlines()
        raise RuntimeError(lines[0] if lines else done.describe_end())
    return done.out


def operations(trace):
    """Every executed operation once: op, origin, bytes moved in device memory, modelled microseconds."""
    seen, result = set(), []
    for event in trace["traceEvents"]:
        if event.get("cat") != "operation":
            continue
        args = event["args"]
        key = (event["ts"], args["where"])
        if key in seen:
            continue
        seen.add(key)
        us = args.get("kernel_us", event.get("dur", 0))
        moved = args["hbm_read_bytes"] + args["hbm_write_bytes"]
        result.append({"op": args["op"], "origin": args.get("origin", ""), "bytes": moved, "us": us})
    return result


def by_op(rows):
    """OpFunc -> (operations, bytes, microseconds), most bytes first."""
    sums = collections.defaultdict(lambda: [0, 0, 0.0])
    for row in rows:
        entry = sums[row["op"]]
        entry[0] += 1
        entry[1] += row["bytes"]
        entry[2] += row["us"]
    return sorted(sums.items(), key=lambda item: (-item[1][1], -item[1][2], item[0]))


def by_place(rows):
    """(OpFunc, origin) -> (operations, bytes, microseconds), most bytes first."""
    renamed = [{**row, "op": (row["op"], row["origin"])} for row in rows]
    return by_op(renamed)


def torch_operation(origin, text):
    """What stands at an origin FILE:LINE[:COLUMN]: an argument, or an operation and its result type."""
    match = re.search(r":(\d+)(?::(\d+))?(?: |$)", origin)
    lines = text.splitlines()
    if not match or not 0 < int(match[1]) <= len(lines):
        return origin
    line = lines[int(match[1]) - 1]
    operation = re.search(r"\b(?:torch\.)?(?:aten|prims?)\.[\w.]+", line)
    if operation:
        result = re.findall(r"vtensor<(\[[\d,]*\],\w+)>", line)
        return f"line {match[1]}: {operation[0]}" + (f" -> {result[-1]}" if result else "")
    at = int(match[2] or 1) - 1
    argument = re.match(r"(%\w+): !torch.vtensor<(\[[\d,]*\],\w+)>", line[at:])
    return f"argument {argument[1]} {argument[2]}" if argument else origin


def plan(source, tools, flags, scratch):
    """The figures of one workload."""
    stats, trace, program = scratch / "stats.json", scratch / "trace.json", scratch / "program"
    run([tools / "spyre-compile", source, "-o", program, f"--stats={stats}", *flags])
    planned = json.loads(stats.read_text())
    run([tools / "spyre-run", program, "--cost-only", f"--trace={trace}"])
    return {
        "traffic_mb": (planned["hbm_read_bytes"] + planned["hbm_write_bytes"]) / MB,
        "modelled_us": planned["modelled_us"],
        "compile_s": planned["compile_s"],
        "lx_peak_kib": planned["lx_bytes_peak"] / 1024,
        "pool_mb": planned["pool_bytes"] / MB,
        "device_ops": planned["device_ops"],
        "operations": operations(json.loads(trace.read_text())),
    }


def compare(ours, theirs):
    """Ratios to the published figures; `worse` names those that are above."""
    figures = {f"{key}_ratio": ratio(ours[key], theirs.get(key)) for key in ("traffic_mb", "modelled_us")}
    figures["compile_ratio"] = ratio(ours["compile_s"], theirs.get("post_aot_s"))
    figures["worse"] = [key for key in ("traffic_mb", "modelled_us") if (figures[f"{key}_ratio"] or 0) > WORSE]
    return figures


HEAD = (
    "workload",
    "compulsory MB",
    "traffic MB",
    "theirs",
    "ratio",
    "µs",
    "theirs",
    "ratio",
    "compile s",
    "theirs",
    "LX KiB/core",
    "pool MB",
    "ops",
)


def cells(name, row):
    number = lambda value, digits=1: "-" if value is None else f"{value:.{digits}f}"
    ours, theirs = row["ours"], row["incumbent"]
    return (
        name,
        number(theirs.get("compulsory_mb")),
        number(ours["traffic_mb"]),
        number(theirs.get("traffic_mb")),
        number(row["traffic_mb_ratio"], 2),
        number(ours["modelled_us"], 0),
        number(theirs.get("modelled_us"), 0),
        number(row["modelled_us_ratio"], 2),
        number(ours["compile_s"], 3),
        number(theirs.get("post_aot_s"), 2),
        number(ours["lx_peak_kib"], 0),
        number(ours["pool_mb"]),
        str(ours["device_ops"]),
    )


def print_table(table, markdown):
    """Lines of cells, the head first."""
    if markdown:
        lines = ["| " + " | ".join(line) + " |" for line in table]
        print("\n".join([lines[0], "|---" * len(table[0]) + "|", *lines[1:]]))
        return
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
    for line in table:
        print(line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:])))


def explain(name, row, text, top):
    """Lines that say where the bytes and the time of a worse row go."""
    ours, theirs = row["ours"], row["incumbent"]
    total_bytes = sum(o["bytes"] for o in ours["operations"]) or 1
    parts = []
    if "traffic_mb" in row["worse"]:
        parts.append(f"{ours['traffic_mb'] - theirs['traffic_mb']:.1f} MB more")
    if "modelled_us" in row["worse"]:
        parts.append(f"{ours['modelled_us'] - theirs['modelled_us']:.0f} µs more")
    yield f"\n{name}: {', '.join(parts)}"
    for op, (count, moved, us) in by_op(ours["operations"])[:top]:
        if moved or us:
            yield f"  {op:24} {count:5} operations {moved / MB:9.1f} MB ({moved / total_bytes:4.0%}) {us:9.1f} µs"
    yield "  the single ones with most bytes:"
    for (op, origin), (count, moved, us) in by_place(ours["operations"])[:top]:
        if moved:
            times = f"{count} x " if count > 1 else ""
            yield f"    {times}{op:20} {moved / MB:9.1f} MB {us:9.1f} µs  {torch_operation(origin, text)}"


def main(argv=None):
    options = parse(argv)
    tools = pathlib.Path(options.build) / "bin"
    published = workloads.incumbent()
    rows, texts, failed = {}, {}, False
    with tempfile.TemporaryDirectory(prefix="spyre-plans-") as scratch:
        scratch = pathlib.Path(scratch)
        for workload in workloads.WORKLOADS:
            if options.only not in workload.name:
                continue
            try:
                source = workload.write(scratch)
                ours = plan(source, tools, options.flags.split(), scratch)
            except workloads.Unavailable as error:
                print(f"{workload.name}: left out, {error}", file=sys.stderr)
                continue
            except (RuntimeError, OSError) as error:
                print(f"{workload.name}: {error}", file=sys.stderr)
                failed = True
                continue
            theirs = published.get(workload.name, {})
            rows[workload.name] = {"ours": ours, "incumbent": theirs, **compare(ours, theirs)}
            texts[workload.name] = source.read_text()
    print_table([HEAD, *(cells(name, row) for name, row in rows.items())], options.markdown)
    for name, row in rows.items():
        if row["worse"]:
            print("\n".join(explain(name, row, texts[name], options.top)))
    if options.json:
        for row in rows.values():
            row["by_op"] = {
                op: dict(zip(("count", "bytes", "us"), sums)) for op, sums in by_op(row["ours"].pop("operations"))
            }
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    worse = sum(bool(row["worse"]) for row in rows.values())
    print(f"\n{len(rows)} workloads, {worse} worse than the incumbent (above {WORSE} times its figure)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
