#!/usr/bin/env python3
# superdsc.py - Random operations: emitted, imported, written back, executed, compared
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Differential fuzzing of SuperDSC. Each random operation (generate_superdsc.py) is
# written as L3, converted and verified, compared with the model of the reference
# front end, read back into the sdsc dialect and written again (structurally equal),
# and what was written last runs on the emulator in checked mode against a direct
# evaluation in float64: exactly where one operation must be exact (lib/strict.py).
# Every operand is an argument, so that nothing has to be emitted twice, and many
# cases make one program, whose processes they share; when it is wrong its cases
# are judged one by one.
"""Random SuperDSC operations: emit, import, write back, execute, compare with NumPy."""

import argparse
import concurrent.futures
import contextlib
import copy
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time

CONFORMANCE = pathlib.Path(__file__).resolve().parent.parent / "conformance"
sys.path.insert(0, str(CONFORMANCE))

import generate_superdsc  # noqa: E402
import superdsc  # noqa: E402

from lib import frontend, harness, l3text, neutral, neutral_ops, sdsccompare  # noqa: E402

# Cases that are drawn together, and how many of them make one program at most.
BATCH = 160
MERGED = 24


def as_arguments(case):
    """The case with symbolic addresses and, if it is one operation, every operand as an argument."""
    case["config"]["symbolic_args"] = True
    if len(case["specs"]) == 1 and case["specs"][0]["kind"] == "op":
        for position, argument in enumerate(case["specs"][0]["args"]):
            argument["arg_index"] = position
            argument["allocation"] = {"hbm": position * neutral_ops.SEGMENT}
    case["executable"] = generate_superdsc.is_executable(case)
    return case


def merge(cases):
    """One case with the operations of many of the same configuration: each has its own arguments and its own pool."""
    merged = {**cases[0], "name": f"{cases[0]['name']}..{cases[-1]['name']}", "specs": []}
    arguments, pool = 0, 0
    for case in cases:
        specs = copy.deepcopy(case["specs"])
        next_argument, next_pool = arguments, pool
        for spec in neutral_ops.operations(specs):
            for argument, tensor in zip(spec["args"], spec["host"]["tensors"]):
                space, address = next(iter(argument["allocation"].items()))
                if space == "hbm":
                    number = arguments + argument["arg_index"]
                    argument["arg_index"] = number
                    argument["allocation"] = {"hbm": number * neutral_ops.SEGMENT}
                    next_argument = max(next_argument, number + 1)
                elif space == "pool":
                    argument["allocation"] = {"pool": pool + address}
                    size = neutral_ops.sticks(tensor["layout_device_size"]) * neutral_ops.BYTES_PER_STICK
                    next_pool = max(next_pool, pool + address + size)
        merged["specs"] += specs
        arguments, pool = next_argument, next_pool
    return merged


def groups_of(cases):
    """Cases that can be one program: same configuration, all or none executable, all or none known to the model."""
    groups = {}
    for case in cases:
        try:
            bundle = frontend.model(case)
            known = "files" if bundle.text is not None else "descriptors"
        except frontend.Unknown:
            known = None
        key = (*case["config"].values(), case["executable"], known)
        groups.setdefault(key, []).append(case)
    for group in groups.values():
        for start in range(0, len(group), MERGED):
            yield group[start : start + MERGED]


def judge(tools, options, case, wild, scratch):
    """None if the case (perhaps a merged one) is right, else a failed Result."""
    program = l3text.runnable(neutral.build_program(case))
    planned, converted, back = (scratch / f"{name}.mlir" for name in ("planned", "sdsc", "back"))
    folder, again = scratch / "bundle", scratch / "again"
    try:
        planned.write_text(l3text.write_module(program))
    except neutral.Inexpressible as error:
        return harness.failed(harness.REFUSED, str(error))
    translate = tools("spyre-translate")
    write = [translate, "--sdsc-to-bundle", "--superdsc-form=2026-06"]
    steps = [
        [tools("spyre-opt"), planned, superdsc.conversion(program.config), "-o", converted],
        [*write, "--verify", converted, "-o", folder],
        [translate, "--bundle-to-sdsc", folder, "-o", back],
        [*write, back, "-o", again],
    ]
    for step in steps:
        bad = harness.failure_of(harness.run_process(step, options.timeout))
        if bad:
            return bad
    descriptors, text = superdsc.read_bundle(folder)
    twice, text_again = superdsc.read_bundle(again)
    for number, (got, expected) in enumerate(zip(twice, descriptors)):
        for path, a, b in sdsccompare.differences(got, expected):
            return harness.failed(harness.WRONG, f"round trip: sdsc_{number}{path} is {a}, was {b}")
    for line, a, b in sdsccompare.bundle_differences(text_again, text):
        return harness.failed(harness.WRONG, f"round trip: bundle.mlir line {line} is '{a}', was '{b}'")
    if len(twice) != len(descriptors):
        return harness.failed(harness.WRONG, f"round trip: {len(twice)} descriptors, were {len(descriptors)}")
    difference = compare_with_model(case, descriptors, text)
    if difference:
        return harness.failed(harness.WRONG, f"model: {difference}")
    if case["executable"]:
        reference = superdsc.Reference(case, None, None)
        return superdsc.execute(tools, options, program, reference, again, scratch, None, wild)
    return None


def compare_with_model(case, descriptors, text):
    try:
        bundle = frontend.model(case)
    except frontend.Unknown:
        return None
    reference = superdsc.Reference(case, bundle.descriptors, bundle.text)
    return superdsc.compare_with_reference(descriptors, text, reference)


def judge_apart(tools, options, case, wild, scratch):
    """As judge, in a folder of its own; an exception is a failure of the case."""
    own = pathlib.Path(tempfile.mkdtemp(dir=scratch))
    try:
        return harness.judge_safely(lambda c, own: judge(tools, options, c, wild, own), case, own)
    finally:
        shutil.rmtree(own, ignore_errors=True)


def run_batch(tools, options, numbers, scratch):
    """[(case, failed Result or None)] of some case numbers."""
    cases = [as_arguments(generate_superdsc.make(options.seed, number, options.kinds)) for number in numbers]
    results = []
    for position, group in enumerate(groups_of(cases)):
        # Every third program gets values of very different sizes.
        wild = options.wild or position % 3 == 2
        if len(group) > 1 and judge_apart(tools, options, merge(group), wild, scratch) is None:
            results += [(case, None) for case in group]
            continue
        alone = [(case, judge_apart(tools, options, case, wild, scratch)) for case in group]
        results += alone
        if len(group) > 1 and not any(result for _, result in alone):
            result = judge_apart(tools, options, merge(group), wild, scratch)
            if result:
                result.reason = f"only together, {len(group)} cases: {result.reason}"
                results[-1] = (merge(group), result)
    if options.keep:
        for case, result in results:
            if result:
                keep = pathlib.Path(options.keep) / case["name"]
                keep.mkdir(parents=True, exist_ok=True)
                (keep / "case.json").write_text(json.dumps(case, indent=1))
                with contextlib.suppress(neutral.Inexpressible):
                    text = l3text.write_module(l3text.runnable(neutral.build_program(case)))
                    (keep / "planned.mlir").write_text(text)
    return results


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="superdsc.py", description=__doc__, epilog="example: test/fuzz/superdsc.py --seed 7 --count 10000"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed (default 0)")
    parser.add_argument("--count", type=int, default=500, help="how many cases (default 500)")
    parser.add_argument("--start", type=int, default=0, help="number of the first case (default 0)")
    parser.add_argument(
        "--kinds",
        type=generate_superdsc.parse_kinds,
        default=generate_superdsc.KINDS,
        metavar="A,B",
        help=f"kinds to draw, -A leaves A out: {', '.join(generate_superdsc.KINDS)}",
    )
    parser.add_argument("--wild", action="store_true", help="values of very different sizes for all, to repeat a case")
    parser.add_argument("--jobs", type=harness.positive, default=os.cpu_count() or 1, help="cases at a time")
    parser.add_argument("--timeout", type=float, default=120, help="seconds a process may take (default 120)")
    parser.add_argument("--keep", metavar="DIR", help="write failing cases there")
    parser.add_argument("--json", metavar="FILE", help="write the failures")
    harness.add_build_flag(parser)
    return parser.parse_args(argv)


def main(argv=None):
    options = parse(argv)
    options.run = "emulator"
    tools = harness.Tools(options.build)
    numbers = list(range(options.start, options.start + options.count))
    batches = [numbers[i : i + BATCH] for i in range(0, len(numbers), BATCH)]
    passed, failures, started = 0, [], time.monotonic()
    try:
        with (
            tempfile.TemporaryDirectory(prefix="superdsc-fuzz-") as scratch,
            concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool,
        ):
            for results in pool.map(lambda batch: run_batch(tools, options, batch, scratch), batches):
                for case, result in results:
                    if result is None:
                        passed += 1
                        continue
                    failures.append({"case": case["name"], "outcome": result.outcome, "reason": result.reason})
                    print(f"FAIL {case['name']}: {result.outcome}: {result.reason}", flush=True)
    except harness.UsageError as error:
        print(f"superdsc.py: error: {error}", file=sys.stderr)
        return 2
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(failures, indent=1))
    print(f"seed {options.seed}: {options.count} cases in {time.monotonic() - started:.0f} s", file=sys.stderr)
    print(f"{passed} passed, {len(failures)} failed, 0 skipped")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
