#!/usr/bin/env python3
# layouts.py - Elements that restickify operations move, beside the least possible
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Some cases of op_cases.json say how many elements any correct assignment of
# layouts must move from one stick dim to another (`min_restickify_elems`). Each
# is built with PyTorch (lib/opcalls.py), exported by torch-mlir and compiled; the
# moved elements are counted in the descriptors of the bundles, not in what the
# compiler says about itself: operations that only move data and whose input and
# output have other dims in the stick, with the points that they iterate over.
# A case passes when we move no more than the least.
"""How many restickified elements a program needs, and how many we move."""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from lib.harness import Case, UsageError  # noqa: E402

from lib import harness  # noqa: E402

MOVERS = {"ReStickifyOpHBM", "identity", "shuffle"}  # OpFuncs that copy values


def collect(options):
    cases = []
    for text in options.paths:
        content = json.loads(pathlib.Path(text).read_text())
        for entry in content["cases"]:
            if "min_restickify_elems" in entry:
                cases.append(Case(entry["id"], lambda entry=entry: entry))
    return cases


# --- counting ----------------------------------------------------------------


def stick_dims(descriptor, labels):
    """Operand -> dims in its stick."""
    kinds = {data["dsName_"]: data["dsType_"] for data in descriptor["labeledDs_"]}
    layouts = descriptor["primaryDsInfo_"]
    return [tuple(layouts[kinds[label.split("-")[0]]]["stickDimOrder_"]) for label in labels]


def moved_elements(descriptor):
    """Points of a descriptor that only changes the stick dim, else 0."""
    [operation] = descriptor["computeOp_"]
    if operation["opFuncName"] not in MOVERS:
        return 0
    sources = stick_dims(descriptor, operation["inputLabeledDs"])
    targets = stick_dims(descriptor, operation["outputLabeledDs"])
    if set(sources) == set(targets):
        return 0
    points = 1
    for name, size in descriptor["N_"].items():
        if name != "name_":
            points *= size
    return points


def descriptors(program):
    """Every descriptor of a program directory."""
    for path in sorted((program / "bundles").glob("*/sdsc_*.json")):
        for part in json.loads(path.read_text()).values():
            for dsc in part.get("dscs_", []):
                yield from dsc.values()


def count(program, launched):
    """Moved elements of a program that executes `launched` operations; None if some run more than once."""
    all_of_them = list(descriptors(program))
    return sum(map(moved_elements, all_of_them)) if len(all_of_them) == launched else None


# --- judging -----------------------------------------------------------------


def make_judge(options, tools):
    try:
        from lib import opcalls
    except ImportError as error:
        raise UsageError(f"needs {error.name}: utils/install-deps.sh --torch") from error

    def judge(case, scratch):
        entry = case.load()
        least = entry["min_restickify_elems"]
        keep = harness.keep_folder(options, case) or scratch
        source, program, stats = keep / "program.mlir", keep / "program", scratch / "stats.json"
        try:
            source.write_text(opcalls.build(entry, options.seed).text())
        except opcalls.Unclear:
            return harness.skipped("unclear-call")
        except opcalls.NotExportable:
            return harness.skipped("not-exportable")
        flags = [f"-O{options.opt}", *(["--cores", options.cores] if options.cores else [])]
        flags += ["--plan-kind", options.plan_kind] if options.plan_kind else []
        command = [tools("spyre-compile"), source, "-o", program, f"--stats={stats}", *flags]
        bad = harness.failure_of(harness.run_process(command, options.timeout))
        if bad:
            print(line(case.name, least, None, bad.outcome), flush=True)
            return bad
        ours = count(program, json.loads(stats.read_text())["device_ops"])
        if ours is None:
            return harness.failed(harness.WRONG, "operations that run more than once are not counted yet")
        print(line(case.name, least, ours, "met" if ours <= least else "worse"), flush=True)
        report = {"min_restickify_elems": least, "restickify_elems": ours}
        if ours > least:
            return harness.failed(harness.WRONG, f"moves {ours} elements, {least} would do", stats=report)
        return harness.right(stats=report)

    return judge


def line(name, least, ours, verdict):
    return f"{name.rpartition('::')[2]:48} least {least:10} ours {'-' if ours is None else ours:>10} {verdict}"


def main(argv=None):
    parser = harness.parser(
        "layouts.py", __doc__, "layouts.py test/data/programs/op_cases.json", "file of operator programs"
    )
    parser.add_argument("-O", dest="opt", choices=("0", "1", "2", "3"), default="2", help="optimisation level")
    return harness.main(parser, collect, make_judge, argv)


if __name__ == "__main__":
    sys.exit(main())
