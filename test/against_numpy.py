#!/usr/bin/env python3
# against_numpy.py - Runs the programs of a lit test and compares their results with NumPy
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A test file holds programs of one function, of any level, separated by `// -----`. Each
# says what it is given and what it must make, as NumPy expressions:
#
#   // IN: x = normal(64, 100)            an argument; every line may use those above it
#   // LET: m = x.max(1, keepdims=True)   a name
#   // OUT: np.exp(x - m)                 a result, within a few roundings
#   // OUT exact: x.T                     a result, every number
#   // OUT within 2**-6: x @ w.T          a result; the bound is on the error against
#                                         max(rms of the result, the number itself)
#
# Every program runs in checked mode, once for each word of flags (spyre-run's, joined by
# commas). `convert` or `convert=OPTIONS` in place of flags takes a planned program as it is,
# without the passes and verifiers before the descriptors. Arguments are float64 in
# expressions; the device gets the type that the line made, f16 for float64. Expected values
# come from NumPy or from hand calculation, never from the stack's own output.
"""Runs the programs of a lit test in checked mode and compares their results with NumPy."""

import math
import pathlib
import re
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "conformance"))
from lib import formats, harness, opfuncs, tolerance  # noqa: E402

TIMEOUT_S = 120
LINE = re.compile(r"//\s*(IN|LET|OUT)(?: (exact)| within ([^:]+))?:\s*(.*)")


class Inputs:
    """What the lines of one program may call, apart from NumPy."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def names(self):
        return {
            "np": np,
            "erf": opfuncs.erf,
            "normal": self.normal,
            "whole": self.whole,
            "choice": self.choice,
            "softmax": softmax,
            "fp8": lambda x: formats.from_float64(x, "float8_e4m3fn"),
            "from_fp8": lambda x: formats.to_float64(x, "float8_e4m3fn"),
            "bf16": lambda x: formats.from_float64(x, "bfloat16"),
            "from_bf16": lambda x: formats.to_float64(x, "bfloat16"),
            "dl16": formats.round_to_dl16,
        }

    def normal(self, *shape):
        """Normal numbers that the device's 16-bit format and f16 hold."""
        return formats.round_to_dl16(self.rng.standard_normal(shape)).astype(np.float16)

    def whole(self, low, high, *shape):
        """Integers from low to high: sums and products of small ones are exact."""
        return self.rng.integers(low, high + 1, shape).astype(np.float16)

    def choice(self, count, *shape):
        """Different integers below count, one set along the last dim."""
        rows = [self.rng.permutation(count)[: shape[-1]] for _ in range(math.prod(shape[:-1]))]
        return np.array(rows).reshape(shape)


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def widened(array):
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def read_program(text, seed):
    """Arguments, and (line of the program, expected, bound) for each result."""
    names = Inputs(seed).names()
    arguments, results = {}, []
    for number, line in enumerate(text.splitlines(), 1):
        match = LINE.match(line.strip())
        if not match:
            continue
        kind, exact, within, rest = match.groups()
        if kind == "OUT":
            bound = 0.0 if exact else eval(within) if within else None  # noqa: S307
            results.append((number, np.asarray(eval(rest, names)), bound))  # noqa: S307
            continue
        name, expression = (part.strip() for part in rest.split("=", 1))
        value = eval(expression, names)  # noqa: S307
        if kind == "IN":
            value = np.asarray(value)
            arguments[f"in{len(arguments)}"] = value.astype(np.float16) if value.dtype == np.float64 else value
            names[name] = widened(np.asarray(arguments[f"in{len(arguments) - 1}"]))
        else:
            names[name] = value
    return arguments, results


def difference(got, expected, bound):
    """What is wrong with a result; empty: nothing. Unlike tolerance.py it knows no absolute floor: exact means exact."""
    if got.shape != expected.shape:
        return f"shape {got.shape}, expected {expected.shape}"
    if bound is None:
        bound = {"float16": tolerance.ROUNDINGS_16, "float32": tolerance.ROUNDINGS_F32}.get(str(got.dtype), 0.0)
    result, expected = widened(got).astype(np.float64), expected.astype(np.float64)
    scale = np.maximum(np.sqrt(np.mean(expected**2)) if expected.size else 0.0, np.abs(expected))
    with np.errstate(invalid="ignore"):
        error = np.where(result == expected, 0.0, np.abs(result - expected))
    wrong = ~(error <= bound * scale)  # a NaN is wrong
    if not wrong.any():
        return ""
    place = tuple(map(int, np.argwhere(wrong)[0]))
    worst = float(np.nanmax(error / np.where(scale > 0, scale, 1.0)))
    return (
        f"{int(wrong.sum())} of {wrong.size} numbers are wrong, the first at {list(place)}: "
        f"{result[place]}, expected {expected[place]}; largest error {worst:.3g}, bound {bound:.3g}"
    )


def run(text, arguments, results, flags, folder):
    """What went wrong with a program: (line of the program, text)."""
    program, inputs, outputs = folder / "program.mlir", folder / "in.npz", folder / "out.npz"
    program.write_text(text)
    np.savez(inputs, **arguments)
    outputs.unlink(missing_ok=True)
    if flags and flags[0].startswith("convert"):
        descriptors = folder / "descriptors.mlir"
        commands = [
            ["spyre-opt", flags[0].replace("convert", "--convert-spyre-to-superdsc", 1), program, "-o", descriptors],
            ["spyre-translate", "--sdsc-to-bundle", "--verify", descriptors, "-o", folder / "bundle"],
            ["spyre-run", folder / "bundle"],
        ]
    elif "spyre.role" in text:  # L3: its bundle has results, its program.json has none
        commands = [
            ["spyre-compile", program, "-o", folder / "compiled", *flags],
            ["spyre-run", folder / "compiled" / "bundles" / "0"],
        ]
    else:
        commands = [["spyre-run", program, *flags]]
    commands[-1] += ["--check", "--threads", "1", "--inputs", inputs, "--outputs", outputs]
    for command in commands:
        done = harness.run_process(command, TIMEOUT_S)
        if done.code or done.err:
            said = [f"{command[0]} says with {done.describe_end()}", *done.err.splitlines()]
            return [(1, line) for line in said]
    with np.load(outputs) as arrays:
        if len(arrays.files) != len(results):
            return [(1, f"{len(arrays.files)} results, {len(results)} expected")]
        wrong = ((n, difference(arrays[f"out{i}"], *rest)) for i, (n, *rest) in enumerate(results))
        return [(number, what) for number, what in wrong if what]


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print("usage: against_numpy.py FILE.mlir [FLAGS ...]   (flags of one run, joined by commas)", file=sys.stderr)
        return 2
    path, runs = pathlib.Path(sys.argv[1]), [word.split(",") for word in sys.argv[2:]] or [[]]
    failed = count = 0
    line = 1
    with tempfile.TemporaryDirectory() as folder:
        for seed, text in enumerate(path.read_text().split("// -----\n")):
            arguments, results = read_program(text, seed)
            for flags in runs:
                problems = run(text, arguments, results, flags, pathlib.Path(folder))
                problems += [] if results else [(1, "no OUT line")]
                count += 1
                failed += bool(problems)
                for number, problem in problems:
                    print(f"{path.name}:{line + number - 1}: {' '.join(flags) or 'no flags'}: {problem}")
            line += text.count("\n") + 1
    print(f"{count - failed} right, {failed} wrong")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
