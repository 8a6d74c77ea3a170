#!/usr/bin/env python3
# paths.py - The emulator's faster paths against checked mode, bit by bit
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checked mode computes row by row; without it the emulator takes faster ways to
# the same bits. Every bundle folder and every program with arrays is run both
# ways, and the results must be the same. Matrix products may round apart, as the
# order of additions follows the shape of a tile: there one unit in the last place
# of each result's largest number is allowed.
"""Programs and bundles run with and without checked mode, results compared bit by bit."""

import argparse
import pathlib
import sys
import tempfile

import bundles
import numpy as np

from lib import formats, harness, tolerance


def cases(paths):
    """(name, arguments of spyre-run, function that writes the inputs, whether products are in it)."""
    for text in paths:
        path = pathlib.Path(text)
        for folder in sorted(found.parent for found in path.rglob("bundle.mlir")):
            if not (folder / "bind.json").exists() or not (folder / "data.npz").exists():
                continue
            bind, data = harness.read_json(folder / "bind.json"), np.load(folder / "data.npz")
            meta = harness.read_json(folder / "meta.json") if (folder / "meta.json").exists() else {}
            if meta.get("trust", "good") not in ("good", "odd"):
                continue  # what it reads is not determined
            dtypes = {array: argument["dtype"] for array, argument in bundles.results_of(bind)}
            yield (
                folder.name,
                [folder, "--bind", folder / "bind.json"],
                lambda to, bind=bind, data=data: bundles.write_inputs(to, bind, data),
                bundles.traits_of(meta, folder).matmul,
                dtypes,
            )
        for program in [path] if path.suffix == ".mlir" else sorted(path.glob("*.mlir")):
            arrays = program.with_suffix(".npz")
            if not arrays.exists():
                continue
            text = program.read_text()

            def write(to, arrays=arrays):
                data = np.load(arrays)
                np.savez(to, **{name: data[name] for name in data.files if name.startswith("in")})

            yield program.stem, [program], write, tolerance.traits_of_text(text).matmul, {}


def difference(one, other, has_products, dtypes):
    """None, or what differs between two result files."""
    if set(one.files) != set(other.files):
        return "they have different results"
    for name in one.files:
        a, b = one[name], other[name]
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{name} has different shapes"
        if a.tobytes() == b.tobytes():
            continue
        count = int((a.view(np.uint8).reshape(-1) != b.view(np.uint8).reshape(-1)).sum())
        if not has_products or a.dtype.kind not in "fu":
            return f"{name}: {count} bytes differ"
        dtype = dtypes.get(name, "bfloat16" if a.dtype == np.uint16 else str(a.dtype))
        x, y = formats.to_float64(a, dtype), formats.to_float64(b, dtype)
        finite = np.isfinite(x) & np.isfinite(y)
        scale = np.abs(x[finite]).max(initial=0)
        if not (np.isfinite(x) == np.isfinite(y)).all() or np.abs(x - y)[finite].max(initial=0) > scale * 2.0**-7:
            return f"{name}: {count} bytes differ, by more than rounding"
    return None


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: paths.py test/data/superdsc/bundles/small")
    parser.add_argument("paths", nargs="+", help="folders with bundles or programs, or programs")
    harness.add_build_flag(parser)
    parser.add_argument("--timeout", type=float, default=600, help="seconds of one run")
    options = parser.parse_args(argv)
    tool = pathlib.Path(options.build) / "bin" / "spyre-run"
    passed = failed = refused = 0
    for name, arguments, write, has_products, dtypes in cases(options.paths):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            write(folder / "inputs.npz")
            messages = []
            for flags, file in ([["--check"], "checked.npz"], [["--threads", "3"], "fast.npz"]):
                command = [tool, *arguments, "--inputs", folder / "inputs.npz", "--outputs", folder / file, *flags]
                harness.run_process(command, options.timeout)
                messages.append((folder / file).exists())
            if not all(messages):
                refused += not any(messages)
                failed += any(messages)
                if any(messages):
                    print(f"{name}: runs only {'with' if messages[0] else 'without'} --check")
                continue
            found = difference(np.load(folder / "checked.npz"), np.load(folder / "fast.npz"), has_products, dtypes)
            failed += bool(found)
            passed += not found
            if found:
                print(f"{name}: {found}")
    print(f"{refused} programs are refused, with or without --check")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
