#!/usr/bin/env python3
"""Runs L1 in NumPy and compares it with golden arrays, without the rest of the stack.

Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

Every device operation of L1 says its iteration space and one access map an operand,
so its text can be evaluated point by point. Values of 16-bit types are rounded to DL16
(nine mantissa bits) after each operation, sums are taken in float64. This finds a wrong
map, a lost operation or a wrong precision rule where it is made, before layouts and
division can hide it.

    l1_eval.py test/data/models --tier 1
    l1_eval.py PROGRAM.mlir --arrays PROGRAM.npz

The bounds are those of the conformance runners (documented there); PyTorch's own error
is computed from `ref…` where the arrays have it.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

import numpy as np

NUMBER = r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|0x[0-9A-Fa-f]+)"


def to_dl16(x):
    """Rounds to nine mantissa bits, to nearest even; saturates to infinity beyond the range."""
    x = np.asarray(x, dtype=np.float64)
    mantissa, exponent = np.frexp(x)
    with np.errstate(invalid="ignore", over="ignore"):
        rounded = np.ldexp(np.rint(np.ldexp(mantissa, 10)), exponent - 10)
    rounded = np.where(np.abs(rounded) > 8573157376.0, np.copysign(np.inf, x), rounded)
    rounded = np.where(np.abs(rounded) < 2.0**-31, 0.0, rounded)
    return np.where(np.isfinite(x), rounded, x)


def round_to(x, element):
    if element in ("f16", "bf16"):
        return to_dl16(x)
    if element == "f32":
        return np.float32(x).astype(np.float64)
    return np.asarray(x, dtype=np.float64)


def parse_type(text):
    parts = re.fullmatch(r"tensor<((?:\d+x)*)(\w+)>", text.strip())
    if not parts:
        raise ValueError(f"no plain tensor: {text}")
    return [int(n) for n in parts[1].split("x") if n], parts[2]


def erf(x):
    import math

    return np.vectorize(math.erf, otypes=[float])(x)


POINTWISE = {
    "abs": np.abs,
    "exp": np.exp,
    "floor": np.floor,
    "log": np.log,
    "neg": np.negative,
    "reciprocal": lambda x: 1 / x,
    "relufwd": lambda x: np.maximum(x, 0),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "gelufwd": lambda x: x / 2 * (1 + erf(x / np.sqrt(2))),
    "identity": lambda x: x,
    "dl16tofp32": lambda x: x,
    "fp32todl16": lambda x: x,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "realdiv": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "equal": np.equal,
    "notequal": np.not_equal,
    "greaterthan": np.greater,
    "greaterequal": np.greater_equal,
    "lesserthan": np.less,
    "lesserequal": np.less_equal,
    "where3": lambda c, x, y: np.where(c != 0, x, y),
}


class Evaluator:
    def __init__(self, text, inputs):
        self.text, self.inputs = text, inputs
        self.values, self.results = {}, None

    def grid(self, extents):
        return np.meshgrid(*[np.arange(n) for n in extents], indexing="ij", sparse=True)

    def coordinates(self, map_text, dims):
        """One index array a coordinate."""
        if not map_text.strip():
            return ()
        names = {f"d{i}": d for i, d in enumerate(dims)}
        return tuple(
            eval(e.replace("floordiv", "//").replace(" mod ", " % "), {}, names)  # noqa: S307
            for e in map_text.split(",")
        )

    def constant(self, line):
        m = re.match(r"(%\S+) = spyre\.constant dense<(.*?)> : (tensor<\S+?>)(.*)", line)
        exact = re.search(rf"spyre\.value = ({NUMBER})", m[4])
        number = exact[1] if exact else m[2]
        shape, element = parse_type(m[3])
        if number in ("true", "false"):
            value = float(number == "true")
        elif number.startswith("0x"):
            bits, kind = int(number, 16), {"f16": np.uint16, "f32": np.uint32}[element]
            value = np.array(bits, dtype=kind).view({"f16": np.float16, "f32": np.float32}[element])
        else:
            value = json.loads(number)
        self.values[m[1]] = round_to(np.broadcast_to(np.float64(value), shape), element)

    def device_op(self, line):
        m = re.match(
            r"(%\S+) = spyre\.(\w+) \((.*?)\) ins\((.*?)\) -> \[(.*?)\](.*) : (.*) -> (tensor<\S+>)$",
            line,
        )
        if not m:
            raise ValueError(f"not L1: {line}")
        name, extents = m[2], [int(n) for n in re.findall(r"d\d+ = (\d+)", m[3])]
        shape, element = parse_type(m[8])
        dims = self.grid(extents)
        reads = []
        for operand, map_text in re.findall(r"(%[\w#]+)\[(.*?)\]", m[4]):
            reads.append(self.values[operand][self.coordinates(map_text, dims)])
        constants = {k: float(v) for k, v in re.findall(rf"(\w+) = ({NUMBER})", m[6])}
        out = np.full(shape, np.nan)
        where = self.coordinates(m[5], dims)
        with np.errstate(all="ignore"):
            if name in ("sum", "mean", "max", "min", "batchmatmul"):
                value = reads[0] if name != "batchmatmul" else reads[0] * reads[1]
                value = np.broadcast_to(value, extents)
                start = {"max": -np.inf, "min": np.inf}.get(name, 0.0)
                combine = {"max": np.maximum, "min": np.minimum}.get(name, np.add)
                out[...] = start
                combine.at(out, tuple(np.broadcast_to(w, extents) for w in where), value)
                if name == "mean":
                    out *= constants["scaling_factor"]
            elif name == "clip":
                value = np.clip(reads[0], constants["clipMin"], constants["clipMax"])
                out[where] = np.broadcast_to(value, extents)
            else:
                out[where] = np.broadcast_to(POINTWISE[name](*reads), extents)
        if np.isnan(out).any() and not any(np.isnan(r).any() for r in reads):
            print(f"note: NaN in {line}", file=sys.stderr)
        self.values[m[1]] = round_to(out, element)

    def run(self):
        for line in map(str.strip, self.text.splitlines()):
            if line.startswith("func.func"):
                arguments = re.findall(r"(%arg\d+): (tensor<\S+?>)[,)]", line)
                for (name, text), value in zip(arguments, self.inputs, strict=True):
                    shape, element = parse_type(text)
                    self.values[name] = round_to(np.asarray(value).reshape(shape), element)
            elif line.startswith("return"):
                names = re.findall(r"%[\w#]+", line.split(":")[0])
                return [self.values[n] for n in names]
            elif " = spyre.constant " in line:
                self.constant(line)
            elif " = spyre." in line:
                self.device_op(line)
            elif line not in ("", "}", "module {"):
                raise ValueError(f"not L1: {line}")


def load(arrays, name, dtype):
    value = arrays[name]
    if dtype == "bfloat16" and value.dtype == np.uint16:
        return (value.astype(np.uint32) << 16).view(np.float32)
    return value


def compare(got, out, ref, has_matmul, is_f32):
    """The largest and root-mean-square errors, and their bounds."""
    ref = np.float64(out if ref is None else ref)
    scale = np.maximum(np.sqrt(np.mean(ref**2)) if ref.size else 0, np.abs(ref))
    scale = np.maximum(scale, 2.0**-24)
    error = np.abs(got - ref) / scale
    own = np.abs(np.float64(out) - ref) / scale
    largest, rms = (float(np.max(e, initial=0)) for e in (error, np.sqrt(np.mean(error**2))))
    own_largest, own_rms = float(np.max(own, initial=0)), float(np.sqrt(np.mean(own**2)))
    if is_f32:
        return largest <= max(8 * own_largest, 256 * 2.0**-24), largest, rms
    good = largest <= max(5 * own_largest, (24 if has_matmul else 5) * 2.0**-10)
    if has_matmul:
        good = good and rms <= max(5 * own_rms, 4 * 2.0**-10)
    return good, largest, rms


def run_case(program, arrays_path, opt):
    done = subprocess.run([opt, str(program), "-spyre-torch-to-l1"], capture_output=True, text=True, check=False)
    if done.returncode:
        return "refused", done.stderr.strip()
    if arrays_path is None:
        return "right", "compiled"
    arrays = np.load(arrays_path)
    in_types = list(arrays["in_dtypes"]) if "in_dtypes" in arrays else []
    out_types = list(arrays["out_dtypes"]) if "out_dtypes" in arrays else []
    type_of = lambda types, i: str(types[i]) if i < len(types) else ""  # noqa: E731
    count = len([n for n in arrays.files if re.fullmatch(r"in\d+", n)])
    inputs = [load(arrays, f"in{i}", type_of(in_types, i)) for i in range(count)]
    results = Evaluator(done.stdout, inputs).run()
    notes, good = [], True
    for i, got in enumerate(results):
        out = load(arrays, f"out{i}", type_of(out_types, i))
        ref = arrays[f"ref{i}"] if f"ref{i}" in arrays else None
        if got.shape != out.shape:
            return "wrong", f"result {i} has shape {got.shape}, not {out.shape}"
        is_f32 = out.dtype == np.float32 and type_of(out_types, i) != "bfloat16"
        fine, largest, rms = compare(got, out, ref, "batchmatmul" in done.stdout, is_f32)
        good &= fine
        notes.append(f"max {largest:.2e} rms {rms:.2e}")
    return ("right" if good else "wrong"), "; ".join(notes)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paths", nargs="+", help="program texts, or folders with a manifest.json")
    parser.add_argument("--arrays", help="golden arrays of the one program given")
    parser.add_argument("--tier", type=int, help="programs of this tier")
    parser.add_argument("--only", default="", help="programs whose file name contains this")
    parser.add_argument("--opt", default="spyre-opt", help="the optimiser to run")
    options = parser.parse_args()
    cases = []
    for path in map(pathlib.Path, options.paths):
        if path.is_dir() and (path / "manifest.json").exists():
            for entry in json.loads((path / "manifest.json").read_text()):
                if options.tier is not None and entry["tier"] != options.tier:
                    continue
                arrays = path / entry["npz"] if entry.get("npz") else None
                for key in ("file", "torch_form", "nodecomp_form"):
                    if entry.get(key):
                        cases.append((path / entry[key], arrays))
        else:
            files = sorted(path.glob("*.mlir")) if path.is_dir() else [path]
            for file in files:
                beside = file.with_name(file.name.split(".")[0] + ".npz")
                arrays = options.arrays or (beside if beside.exists() else None)
                cases.append((file, arrays))
    outcomes = {"right": 0, "wrong": 0, "refused": 0}
    for program, arrays in cases:
        if options.only not in program.name:
            continue
        outcome, note = run_case(program, arrays, options.opt)
        outcomes[outcome] += 1
        print(f"{outcome}: {program.name}: {note}")
    failed = outcomes["wrong"] + outcomes["refused"]
    print(f"{outcomes['right']} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
