#!/usr/bin/env python3
# superdsc.py - Neutral operation cases against their reference bundles
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes each case as L3, converts it to a bundle and compares descriptors and
# bundle.mlir with the reference. A case without known faults of the reference
# must be equal; a case with some must differ, and only in what they explain.
# An executable case is also run on the emulator in checked mode with random
# inputs, and compared with a direct evaluation in float64. Rules: the README
# beside the data.
"""Neutral operations -> L3 -> bundle, against reference files and a direct evaluation."""

import gzip
import json
import pathlib
import re
import shutil
import sys
import zlib

import numpy as np
from lib.harness import Case, UsageError

from lib import evaluate, formats, harness, l3text, neutral, reader, sdsccompare, strict, tolerance

# Cases of random_ops have no group of their own: by operation.
GROUPS = {
    "batchmatmul": "matmul",
    "batchmatmulfp8": "fp8",
    "ReStickifyOpHBM": "restickify",
    "topkvalue": "topk",
    "topkindex": "topk",
    "dl16tofp32": "cast",
    "fp32todl16": "cast",
    "fp8todl16": "cast",
    "qfp8ch": "cast",
    "exx2": "layernorm",
    "layernormscale": "layernorm",
    "layernormnorm": "layernorm",
}


class Reference:
    """A case and what the reference front end wrote for it (None: not known)."""

    def __init__(self, case, descriptors, bundle):
        self.case, self.descriptors, self.bundle = case, descriptors, bundle


def collect(options):
    cases = []
    for text in options.paths:
        path = pathlib.Path(text)
        if path.is_dir():
            found = sorted(path.rglob("case.json"))
            for file in found:
                case = harness.read_json(file)
                cases.append(
                    make_case(case, file.parent.name, lambda folder=file.parent, case=case: read_folder(folder, case))
                )
        elif path.name.endswith(".json.gz"):
            with gzip.open(path, "rt") as file:
                for entry in json.load(file):
                    case = entry["case"]
                    reference = Reference(case, descriptors_of(entry), entry.get("bundle"))
                    cases.append(make_case(case, case["name"], lambda reference=reference: reference))
        else:
            raise UsageError(f"{text} is neither a folder nor a .json.gz file")
    return cases


def descriptors_of(entry):
    """None where nothing is known about the files: verification and numbers judge alone."""
    sdsc = entry.get("sdsc")
    return [sdsc] if isinstance(sdsc, dict) else sdsc


def make_case(case, name, load):
    return Case(name, load, group=group_of(case), cores=cores_of(case["specs"]))


def group_of(case):
    if case.get("group"):
        return case["group"]
    spec = case["specs"][0]
    return GROUPS.get(spec["op"]) or ("reduction" if spec["is_reduction"] else "pointwise")


def cores_of(specs):
    cores = 1
    for spec in specs:
        if spec["kind"] == "loop":
            cores = max(cores, cores_of(spec["body"]))
        else:
            product = 1
            for entry in spec["iteration_space"]:
                product *= entry["split"]
            cores = max(cores, product)
    return cores


def read_folder(folder, case):
    return Reference(case, *read_bundle(folder))


def conversion(config, symbolic=None):
    """The conversion pass with a case's configuration."""

    def flag(value):
        return "true" if value else "false"

    symbolic = config["symbolic_args"] if symbolic is None else symbolic
    return f"--convert-spyre-to-superdsc=symbolic-args={flag(symbolic)} unroll-loops={flag(config['unroll_loops'])}"


def emit(tools, options, program, folder, symbolic=None, form="2026-06", device="spyre"):
    """Text -> L3 -> sdsc -> bundle directory. Returns (bundle folder, Result of a failure or None).

    What was emitted must keep the format's rules and the limits of `device` ("none": no limits).
    """
    folder.mkdir(parents=True, exist_ok=True)
    planned, converted, bundle = folder / "planned.mlir", folder / "sdsc.mlir", folder / "program"
    planned.write_text(l3text.write_module(program))
    steps = [
        [tools("spyre-opt"), planned, conversion(program.config, symbolic), "-o", converted],
        [
            *[tools("spyre-translate"), "--sdsc-to-bundle", "--verify", f"--device={device}"],
            *[f"--superdsc-form={form}", converted, "-o", bundle],
        ],
    ]
    for step in steps:
        bad = harness.failure_of(harness.run_process(step, options.timeout))
        if bad:
            return bundle, bad
    return bundle, None


def read_bundle(folder):
    """The descriptors of a bundle directory in their order, and bundle.mlir."""
    files = sorted(folder.glob("sdsc_[0-9]*.json"), key=lambda p: int(re.search(r"\d+", p.name)[0]))
    return [harness.read_json(file) for file in files], (folder / "bundle.mlir").read_text()


def compare_with_reference(descriptors, bundle, reference):
    """None if as it should be, else what is not."""
    if reference.descriptors is None:
        return None
    faults = reference.case.get("faults", [])
    found = []
    if len(descriptors) != len(reference.descriptors) and not faults:
        return f"{len(descriptors)} descriptors, the reference has {len(reference.descriptors)}"
    for number, (got, expected) in enumerate(zip(descriptors, reference.descriptors)):
        found += [
            (f"sdsc_{number}.json{path}", a, b) for path, a, b in sdsccompare.descriptor_differences(got, expected)
        ]
    lines = sdsccompare.bundle_differences(bundle, reference.bundle) if reference.bundle is not None else []
    if not faults:
        if found:
            path, got, expected = found[0]
            return f"{path} is {got}, the reference has {expected} ({len(found)} differences)"
        if lines:
            number, got, expected = lines[0]
            return f"bundle.mlir line {number} is '{got}', the reference has '{expected}'"
        return None
    if not found and not lines:
        if not any(fault_shows(fault, reference) for fault in faults):
            return None
        return f"equal to the reference, which has the faults {faults}"
    path = sdsccompare.unexplained([entry[0] for entry in found], faults)
    if path:
        got, expected = next((a, b) for p, a, b in found if p == path)
        return f"{path} is {got}, the reference has {expected}; its faults {faults} do not explain that"
    if lines and not set(faults) & sdsccompare.IN_BUNDLE:
        return f"bundle.mlir line {lines[0][0]} is '{lines[0][1]}', the reference has '{lines[0][2]}'; its faults {faults} do not explain that"
    return None


def fault_shows(fault, reference):
    """False if the reference files do not contain the mistake that their case is marked with.

    Fault 10 (a cast's unaligned size) is marked on every unaligned cast; it
    shows where an operand has less in memory than the operation takes of it.
    Fault 12 (a slice that starts inside a stick) is marked by the reference's
    coordinates; it shows where the operand really starts inside a stick.
    """
    if fault == 12:
        program = neutral.build_program(reference.case)
        for op in program.operations():
            for operand in op.operands:
                buffer = program.buffers[operand.buffer]
                stick = buffer.dim_order[-1] if buffer.dim_order else -1
                if stick >= 0 and operand.coordinates[stick].constant % buffer.device_size[-1]:
                    return True
        return False
    if fault != 10:
        return True
    for spec, descriptor in zip(reference.case["specs"], reference.descriptors):
        dsc = next(iter(next(iter(descriptor.values()))["dscs_"][0].values()))
        size = spec["iteration_space"][-1]["size"]
        for tensor in spec["host"]["tensors"]:
            device = tensor["layout_device_size"]
            sticks = device[-3] if len(device) > 2 else device[-2]
            if sticks * device[-1] < size or dsc["N_"]["out_"] > sticks * device[-1]:
                return True
    return False


def run_numbers(tools, options, reference, scratch, keep):
    """Emits a runnable variant, executes it and compares. A failed Result, or None."""
    program = l3text.runnable(neutral.build_program(reference.case))
    folder, bad = emit(tools, options, program, scratch / "run", symbolic=True, form="2026-08")
    if bad:
        bad.reason = f"for running: {bad.reason}"
        return bad
    return execute(tools, options, program, reference, folder, scratch, keep)


def execute(tools, options, program, reference, folder, scratch, keep, wild=False):
    """Runs the bundle of a runnable program and compares. A failed Result, or None.

    `wild`: with values of very different sizes, where single operations allow an exact comparison.
    """
    seed = options.seed * 1000003 + zlib.crc32(json.dumps(reference.case["specs"], sort_keys=True).encode())
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        inputs, expected = evaluate.run_arrays(program, seed, strict.wild_buffers(program) if wild else ())
    names, history = l3text.array_names(program), strict.histories(program)
    steps = {result: history[index] for index, (_, result) in names.items() if result}
    bind = evaluate.binding(program)
    if options.run in ("emulator", "both"):
        outputs, bad = run_emulator(tools, options, folder, bind, inputs, scratch)
        if bad:
            bad.reason = f"run: {bad.reason}"
            return bad
        if keep:
            shutil.copy(outputs, keep / "outputs.npz")
        bad = compare_numbers(np.load(outputs), expected, steps, "run")
        if bad:
            return bad
    if options.run in ("reader", "both"):
        try:
            arrays = reader.run_bundle(folder, bind, inputs)
        except reader.Unknown:
            return None  # this executor is a help, not the judge
        dtypes = {name: dtype for name, (_, _, dtype) in expected.items()}
        outputs = reader.Outputs({name: formats.from_float64(arrays[name], dtypes[name]) for name in arrays})
        return compare_numbers(outputs, expected, steps, "reader")
    return None


def run_emulator(tools, options, folder, bind, inputs, scratch):
    """(outputs file, failed Result or None) of spyre-run in checked mode."""
    (scratch / "bind.json").write_text(json.dumps(bind))
    np.savez(scratch / "inputs.npz", **inputs)
    outputs = scratch / "outputs.npz"
    command = [tools("spyre-run"), folder, "--bind", scratch / "bind.json", "--inputs", scratch / "inputs.npz"]
    command += ["--outputs", outputs, "--check"]
    if options.jobs > 1:
        command += ["--threads", "1"]
    return outputs, harness.failure_of(harness.run_process(command, options.timeout))


def compare_numbers(got, expected, steps, who):
    """`steps`: result -> the operations that it comes from; one alone may have to be exact."""
    for name, (values, mask, dtype) in expected.items():
        if name not in got.files:
            return harness.failed(harness.WRONG, f"{who}: no result {name}")
        array = got[name]
        if array.shape != values.shape:
            return harness.failed(
                harness.WRONG, f"{who}: {name} has shape {list(array.shape)}, expected {list(values.shape)}"
            )
        picked, wanted = array[mask], values[mask]
        out = formats.from_float64(wanted, dtype)
        reference = wanted if dtype in formats.FLOATS else None
        function = steps[name][0].function if strict.is_single(steps[name]) else None
        if function and dtype in formats.FLOATS:
            difference = strict.compare(picked, wanted, dtype, function)
        elif function and strict.rule(function) == "exact":
            difference = tolerance.compare(picked, out, dtype, None, tolerance.Traits())
        else:
            difference = tolerance.compare(picked, out, dtype, reference, evaluate.traits(steps[name]))
        if difference:
            written = "" if mask.all() else " (of the written elements)"
            return harness.failed(harness.WRONG, f"{who}: {name}{written} {difference}")
    return None


def judge(options, tools):
    def run(case, scratch):
        reference = case.load()
        faults = reference.case.get("faults", [])
        keep = harness.keep_folder(options, case)
        try:
            program = neutral.build_program(reference.case)
            # Addresses drawn at random may lie outside of a scratchpad.
            device = "spyre" if reference.case.get("executable") else "none"
            folder, bad = emit(tools, options, program, keep or scratch / "emit", device=device)
        except neutral.Inexpressible as error:
            return harness.failed(harness.REFUSED, str(error))
        if bad:
            if 12 in faults and bad.outcome in (harness.REFUSED, harness.WRONG) and re.search(r"error:", bad.reason):
                return harness.Result(harness.REFUSED, True, bad.reason)  # a stick slice that starts inside a stick
            return bad
        descriptors, bundle = read_bundle(folder)
        difference = compare_with_reference(descriptors, bundle, reference)
        bad = None
        if reference.case.get("executable") and options.run != "none":
            bad = run_numbers(tools, options, reference, scratch, keep)
        if difference:
            numbers = f"; {bad.reason}" if bad else ""
            return harness.failed(harness.WRONG, difference + numbers)
        if bad:
            return bad
        return harness.right(device_ops=len(descriptors))

    return run


def main(argv=None):
    parser = harness.parser(
        "superdsc.py",
        __doc__,
        "superdsc.py test/data/superdsc/cases --group pointwise,reduction",
        "folder with case.json files below it, or a .json.gz list",
    )
    parser.add_argument(
        "--run",
        choices=("emulator", "reader", "both", "none"),
        default="emulator",
        help="what executes the executable cases: the emulator, the runners' own slow reader, both, nothing",
    )
    return harness.main(parser, collect, judge, argv, cores_select=True)


if __name__ == "__main__":
    sys.exit(main())
