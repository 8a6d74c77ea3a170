#!/usr/bin/env python3
# ktir.py - Kernels, run and compared with NumPy
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs every NAME.mlir (or NAME.ktir) that has NAME.json beside it, which says what its
# arguments are (docs/formats/ktir-binding.md), with spyre-run in checked mode, compute tiles
# in ascending and in descending order. Inputs and expected results of the kernels of
# test/data/ktir come from lib/ktirkernels.py; a kernel from elsewhere may have NAME.npz with
# its inputs and results (ref0, ref1, ... or by the array's name), else it has to run without
# an error on drawn inputs.
"""KTIR kernels on the executor in checked mode, against NumPy."""

import pathlib
import sys

import numpy as np
from lib.harness import Case, UsageError
from lib.ktirkernels import KERNELS, draw_inputs

from lib import harness

# The last place of each float type, for numbers of size one.
UNITS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23}
# DL16 has a bit less than IEEE's half.
UNIT_OF_DL16 = 2.0**-9


def collect(options):
    """Two cases a kernel: tiles forwards and backwards."""
    cases = []
    for text in options.paths:
        path = pathlib.Path(text)
        if not path.is_dir():
            raise UsageError(f"{text} is no folder")
        for file in sorted([*path.rglob("*.mlir"), *path.rglob("*.ktir")]):
            if not file.with_suffix(".json").exists():
                continue
            name = file.relative_to(path).with_suffix("").as_posix()
            for order in ("forwards", "backwards"):
                cases.append(Case(f"{name}-{order}", lambda file=file, order=order: (file, order)))
    if not cases:
        raise UsageError("no kernel with a binding beside it")
    return cases


def find_expected(file, binding, seed):
    """Inputs, expected results by array name (or None), and the units that they may differ by."""
    arrays = file.with_suffix(".npz")
    if arrays.exists():
        data = dict(np.load(arrays))
        results = [a["name"] for a in binding["arrays"] if a.get("role", "input") != "input"]
        expected = {}
        for i, name in enumerate(results):
            key = next((k for k in (f"ref{name[3:]}", f"ref{i}", name) if k in data), None)
            if key:
                expected[name] = data[key]
        return data, expected, 16
    is_ours = file.resolve().parent == (harness.DATA / "ktir").resolve()
    kernel = KERNELS.get(file.stem) if is_ours else None
    inputs = draw_inputs(binding["arrays"], kernel, seed)
    if not kernel:
        return inputs, None, 0
    return inputs, kernel.expect(inputs), kernel.ulps


def compare(got, expected, dtype, unit, ulps):
    """None, or what differs most."""
    expected = np.asarray(expected)
    if got.shape != expected.shape:
        return f"has the shape {got.shape}, expected {expected.shape}"
    if got.dtype.kind != "f":
        wrong = np.argwhere(got != expected)
        if not len(wrong):
            return None
        at = tuple(wrong[0])
        return f"{len(wrong)} numbers differ, the first at {at}: {got[at]}, expected {expected[at]}"
    got, expected = got.astype(np.float64), expected.astype(np.float64)
    size = np.maximum(np.abs(expected), np.sqrt(np.mean(expected**2)) if expected.size else 0)
    errors = np.abs(got - expected) / (unit * np.maximum(size, 1e-30))
    if errors.size == 0 or (errors <= ulps).all():
        return None
    at = np.unravel_index(np.argmax(np.where(np.isnan(errors), np.inf, errors)), errors.shape)
    return f"differs by {errors[at]:.3g} units at {tuple(map(int, at))}: {got[at]}, expected {expected[at]}"


def judge(options, tools):
    def run(case, scratch):
        file, order = case.load()
        binding = harness.read_json(file.with_suffix(".json"))
        inputs, expected, ulps = find_expected(file, binding, options.seed)
        np.savez(scratch / "in.npz", **inputs)
        command = [
            tools("spyre-run"),
            file,
            "--inputs",
            scratch / "in.npz",
            "--outputs",
            scratch / "out.npz",
            "--check",
        ]
        if order == "backwards":
            command.append("--reversed")
        process = harness.run_process(command, options.timeout)
        bad = harness.failure_of(process)
        if bad or expected is None:
            return bad or harness.right()
        outputs = np.load(scratch / "out.npz")
        is_dl16 = 'spyre.f16 = "dl16"' in file.read_text()
        for array in binding["arrays"]:
            name, dtype = array["name"], array["dtype"]
            if array.get("role", "input") == "input":
                continue
            if name not in expected:
                return harness.failed(harness.WRONG, f"nothing says what {name} should be")
            unit = UNIT_OF_DL16 if is_dl16 and dtype == "float16" else UNITS.get(dtype, 0)
            if difference := compare(outputs[name], expected[name], dtype, unit, ulps):
                return harness.failed(harness.WRONG, f"{name} {difference}")
        return harness.right()

    return run


def main(argv=None):
    parser = harness.parser(
        "ktir.py", __doc__, "ktir.py test/data/ktir --only softmax", "folder of kernels with their bindings"
    )
    return harness.main(parser, collect, judge, argv)


if __name__ == "__main__":
    sys.exit(main())
