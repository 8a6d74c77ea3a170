#!/usr/bin/env python3
# bundles.py - Foreign bundle directories, run and compared with their arrays
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs every folder that holds `bundle.mlir`, `bind.json` and `data.npz` with
# spyre-run in checked mode and compares what comes back with the arrays. The
# rules, `trust` included, are those of the README beside the data:
#   good, odd  the numbers must be right, with nothing reported
#   wrong      the bundle is faulty: right when the numbers differ from the
#              reference or the run reports it
#   open       no reading of the bundle is confirmed: skipped
"""Foreign bundles on the emulator in checked mode, against golden arrays."""

import pathlib
import shutil
import sys

import numpy as np
from lib.harness import Case, UsageError

from lib import formats, harness, opfuncs, tolerance


def collect(options):
    """All bundle folders with data at or below the given paths."""
    cases = []
    for text in options.paths:
        path = pathlib.Path(text)
        if not path.is_dir():
            raise UsageError(f"{text} is no folder")
        for bundle in sorted(path.rglob("bundle.mlir")):
            folder = bundle.parent
            if not (folder / "bind.json").exists() or not (folder / "data.npz").exists():
                continue
            meta = harness.read_json(folder / "meta.json") if (folder / "meta.json").exists() else {}
            cases.append(
                Case(
                    folder.name,
                    lambda folder=folder, meta=meta: (folder, meta),
                    group=meta.get("trust", "good"),
                    cores=meta.get("cores"),
                )
            )
    return cases


def results_of(bind):
    """(array name, argument) of every result of a binding."""
    for argument in bind["arguments"]:
        if argument["role"] == "output":
            yield argument["array"], argument
        elif argument["role"] == "input_output":
            yield argument["result"], argument


def stored_form(array, dtype):
    """A golden array in the form that the tools read and write.

    The data keep bfloat16 as float32; the tools use bit patterns.
    """
    if dtype == "bfloat16" and array.dtype != np.uint16:
        return formats.float32_to_bfloat16(array)
    if dtype in formats.FLOAT8 and array.dtype != np.uint8:
        return formats.from_float64(array.astype(np.float64), dtype)
    return array


def write_inputs(path, bind, data):
    """in0... as the tools read them; every argument of the program, bound or not."""
    dtypes = {a["array"]: a["dtype"] for a in bind["arguments"] if a["role"] in ("input", "input_output")}
    arrays = {name: stored_form(data[name], dtypes[name]) for name in data.files if name in dtypes}
    np.savez(path, **arrays)


def compare_results(outputs, bind, data, traits):
    """None, or what differs first."""
    for name, argument in results_of(bind):
        if name not in outputs.files:
            return f"no result {name}"
        dtype = argument["dtype"]
        expected = stored_form(data[name], dtype)
        got = outputs[name]
        reference = data["ref" + name[3:]] if "ref" + name[3:] in data.files else None
        if got.size == expected.size and got.shape != expected.shape and got.shape == tuple(argument["shape"]):
            got = got.reshape(expected.shape)  # the array as the device program sees it; `view` is the caller's
        if dtype == "bool" and reference is not None:
            reference = None
        difference = tolerance.compare(got, expected, dtype, reference, traits)
        if difference:
            return f"{name} {difference}"
    return None


def judge(options, tools):
    def run(case, scratch):
        folder, meta = case.load()
        trust = meta.get("trust", "good")
        if trust == "open":
            return harness.skipped("open")
        if trust not in ("good", "odd", "wrong"):
            return harness.failed(harness.WRONG, f"meta.json: trust '{trust}' is unknown")
        bind = harness.read_json(folder / "bind.json")
        data = np.load(folder / "data.npz")
        keep = harness.keep_folder(options, case)
        inputs, outputs, stats = scratch / "inputs.npz", scratch / "outputs.npz", scratch / "stats.json"
        write_inputs(inputs, bind, data)
        command = [
            tools("spyre-run"),
            folder,
            "--bind",
            folder / "bind.json",
            "--inputs",
            inputs,
            "--outputs",
            outputs,
            "--check",
            f"--stats={stats}",
        ]
        if options.jobs > 1:
            command += ["--threads", "1"]
        process = harness.run_process(command, options.timeout)
        if keep:
            keep_results(keep, folder, outputs, process)
        more = fields_of(stats)
        bad = harness.failure_of(process)
        if bad is None:
            traits = traits_of(meta, folder)
            difference = compare_results(np.load(outputs), bind, data, traits)
            bad = harness.failed(harness.WRONG, difference) if difference else None
        if trust == "wrong":
            if bad is None:
                return harness.failed(
                    harness.RIGHT, "the bundle is faulty, yet its result equals the reference", **more
                )
            if bad.outcome in (harness.CRASHED, harness.TIMEOUT):
                return harness.failed(bad.outcome, bad.reason, **more)
            return harness.Result(bad.outcome, True, bad.reason, **more)
        if bad is None:
            return harness.right(**more)
        return harness.failed(bad.outcome, bad.reason, **more)

    return run


def traits_of(meta, folder):
    """Traits of a bundle from the operations that its descriptors name."""
    operations = meta.get("ops")
    if operations is None:
        operations = [
            next(iter(harness.read_json(path))).split("_", 1)[1] for path in sorted(folder.glob("sdsc_*.json"))
        ]
    names = [name.removesuffix("nonstick") for name in operations]
    return opfuncs.traits(names, jumps=opfuncs.JUMPS | {"qfp8ch"})


def fields_of(path):
    """The fields of a result that come from --stats."""
    stats = harness.read_stats(path)
    if stats is None:
        return {}
    return {"stats": stats, "host_calls": stats.get("host_calls", {}), "device_ops": stats.get("device_ops")}


def keep_results(keep, folder, outputs, process):
    shutil.copytree(folder, keep / "program", dirs_exist_ok=True, ignore=shutil.ignore_patterns("data.npz"))
    if outputs.exists():
        shutil.copy(outputs, keep / "outputs.npz")
    (keep / "messages.txt").write_text(process.err)


def main(argv=None):
    parser = harness.parser(
        "bundles.py",
        __doc__,
        "bundles.py test/data/superdsc/bundles/small --only softmax",
        "folder with bundle folders below it",
    )
    return harness.main(parser, collect, judge, argv, cores_select=True)


if __name__ == "__main__":
    sys.exit(main())
