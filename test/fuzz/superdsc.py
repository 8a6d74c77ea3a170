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
# Every operand is an argument, so that nothing has to be emitted twice; conversion
# takes many modules a process.
"""Random SuperDSC operations: emit, import, write back, execute, compare with NumPy."""

import argparse
import concurrent.futures
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

BATCH = 40
SEPARATOR = "// -----"


def as_arguments(case):
    """The case with symbolic addresses and, if it is one operation, every operand as an argument."""
    case["config"]["symbolic_args"] = True
    if len(case["specs"]) == 1 and case["specs"][0]["kind"] == "op":
        for position, argument in enumerate(case["specs"][0]["args"]):
            argument["arg_index"] = position
            argument["allocation"] = {"hbm": position * neutral_ops.SEGMENT}
    case["executable"] = generate_superdsc.is_executable(case)
    return case


class Item:
    """One case on its way."""

    def __init__(self, case, wild):
        self.case, self.wild = case, wild
        self.program = l3text.runnable(neutral.build_program(case))
        self.converted = None
        try:
            self.text, self.refusal = l3text.write_module(self.program), None
        except neutral.Inexpressible as error:
            self.text, self.refusal = None, str(error)


def convert(tools, items, scratch, timeout):
    """Converts many modules in one process; a module that fails leaves its item without a text."""
    for unroll in (True, False):
        group = [item for item in items if item.text and item.program.config["unroll_loops"] == unroll]
        if not group:
            continue
        config = {"symbolic_args": True, "unroll_loops": unroll}
        source, target = scratch / f"in{unroll}.mlir", scratch / f"out{unroll}.mlir"
        source.write_text(f"\n{SEPARATOR}\n".join(item.text for item in group))
        command = [tools("spyre-opt"), source, "--split-input-file", superdsc.conversion(config), "-o", target]
        done = harness.run_process(command, timeout)
        texts = target.read_text().split(SEPARATOR) if done.code == 0 else []
        if len(texts) == len(group):
            for item, text in zip(group, texts):
                item.converted = text


def judge(tools, options, item, scratch):
    """None if the case is right, else a failed Result."""
    if item.refusal:
        return harness.failed(harness.REFUSED, item.refusal)
    folder, again = scratch / "bundle", scratch / "again"
    converted = scratch / "sdsc.mlir"
    if item.converted is None:
        planned = scratch / "planned.mlir"
        planned.write_text(item.text)
        config = {"symbolic_args": True, "unroll_loops": item.program.config["unroll_loops"]}
        steps = [[tools("spyre-opt"), planned, superdsc.conversion(config), "-o", converted]]
    else:
        converted.write_text(item.converted)
        steps = []
    translate, back = tools("spyre-translate"), scratch / "back.mlir"
    write = [translate, "--sdsc-to-bundle", "--superdsc-form=2026-06"]
    steps += [
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
    difference = compare_with_model(item.case, descriptors, text)
    if difference:
        return harness.failed(harness.WRONG, f"model: {difference}")
    if item.case["executable"]:
        reference = superdsc.Reference(item.case, None, None)
        return superdsc.execute(tools, options, item.program, reference, again, scratch, None, item.wild)
    return None


def compare_with_model(case, descriptors, text):
    try:
        bundle = frontend.model(case)
    except frontend.Unknown:
        return None
    reference = superdsc.Reference(case, bundle.descriptors, bundle.text)
    return superdsc.compare_with_reference(descriptors, text, reference)


def run_batch(tools, options, numbers, scratch):
    """[(case, failed Result or None)] of some case numbers."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=scratch))
    try:
        # Every third case gets values of very different sizes.
        items = [
            Item(as_arguments(generate_superdsc.make(options.seed, n, options.kinds)), n % 3 == 2) for n in numbers
        ]
        convert(tools, items, folder, options.timeout)
        results = []
        for item in items:
            own = pathlib.Path(tempfile.mkdtemp(dir=folder))
            result = harness.judge_safely(lambda i, own: judge(tools, options, i, own), item, own)
            results.append((item.case, result))
            if result and options.keep:
                keep = pathlib.Path(options.keep) / item.case["name"]
                keep.mkdir(parents=True, exist_ok=True)
                (keep / "case.json").write_text(json.dumps(item.case, indent=1))
                (keep / "planned.mlir").write_text(item.text or "")
            shutil.rmtree(own, ignore_errors=True)
        return results
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
    parser.add_argument("--jobs", type=harness.positive, default=os.cpu_count() or 1, help="cases at a time")
    parser.add_argument("--timeout", type=float, default=120, help="seconds a process may take (default 120)")
    parser.add_argument("--keep", metavar="DIR", help="write failing cases there")
    parser.add_argument("--json", metavar="FILE", help="write the failures")
    parser.add_argument(
        "--build",
        default=os.environ.get("SPYRE_BUILD") or str(harness.REPOSITORY / "build"),
        help="build folder (default: $SPYRE_BUILD, else build)",
    )
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
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
