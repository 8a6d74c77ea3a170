#!/usr/bin/env python3
"""Runs L1 in NumPy and compares it with golden arrays, without the rest of the stack.

Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

Every device operation of L1 says its iteration space and one access map an operand,
so its text can be evaluated point by point, with the meanings of lib/opfuncs.py. Values
of 16-bit types are rounded to DL16 (nine mantissa bits) after each operation, sums are
taken in float64. This finds a wrong map, a lost operation or a wrong precision rule
where it is made, before layouts and division can hide it.

    l1_eval.py test/data/models --tier 1
    l1_eval.py PROGRAM.mlir --arrays PROGRAM.npz

The bounds are those of the conformance runners (lib/tolerance.py).
"""

import argparse
import json
import pathlib
import re
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "conformance"))

from lib import arrays, formats, harness, opfuncs, tolerance  # noqa: E402

NUMBER = r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|0x[0-9A-Fa-f]+)"
TIMEOUT_S = 600


def on_device(values, element, dl16=formats.round_to_dl16):
    """Numbers as the device holds values of an element type; dl16: how they become 16 bits wide."""
    if element in ("f16", "bf16"):
        return dl16(values)
    return formats.round_to(values, "float32" if element == "f32" else "float64")


def parse_type(text):
    parts = re.fullmatch(r"tensor<((?:\d+x)*)(\w+)>", text.strip())
    if not parts:
        raise ValueError(f"no plain tensor: {text}")
    return [int(n) for n in parts[1].split("x") if n], parts[2]


class Evaluator:
    def __init__(self, text, inputs):
        self.text, self.inputs = text, inputs
        self.values, self.results = {}, None

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
        self.values[m[1]] = on_device(np.broadcast_to(np.float64(value), shape), element)

    def device_op(self, line):
        m = re.match(
            r"(%\S+) = spyre\.(\w+) \((.*?)\) ins\((.*?)\) -> \[(.*?)\](.*) : (.*) -> (tensor<\S+>)$",
            line,
        )
        if not m:
            raise ValueError(f"not L1: {line}")
        name, extents = m[2], [int(n) for n in re.findall(r"d\d+ = (\d+)", m[3])]
        shape, element = parse_type(m[8])
        dims, rank = opfuncs.grid(extents), len(extents)
        reads = []
        for operand, map_text in re.findall(r"(%[\w#]+)\[(.*?)\]", m[4]):
            reads.append(opfuncs.gather(self.values[operand], self.coordinates(map_text, dims), rank))
        constants = {k: float(v) for k, v in re.findall(rf"(\w+) = ({NUMBER})", m[6])}
        out = np.full(shape, np.nan)
        kept = sorted({int(d) for d in re.findall(r"\bd(\d+)", m[5])})
        with np.errstate(all="ignore"):
            value = opfuncs.compute(name, reads, extents, kept, constants)
        opfuncs.scatter(out, self.coordinates(m[5], dims), value, extents, kept)
        if np.isnan(out).any() and not any(np.isnan(r).any() for r in reads):
            print(f"note: NaN in {line}", file=sys.stderr)
        self.values[m[1]] = on_device(out, element, formats.computed_dl16)

    def run(self):
        for line in map(str.strip, self.text.splitlines()):
            if line.startswith("func.func"):
                arguments = re.findall(r"(%arg\d+): (tensor<\S+?>)[,)]", line)
                for (name, text), value in zip(arguments, self.inputs, strict=True):
                    shape, element = parse_type(text)
                    value = formats.to_float64(value, formats.DTYPES.get(element))
                    self.values[name] = on_device(value.reshape(shape), element)
            elif line.startswith("return"):
                names = re.findall(r"%[\w#]+", line.split(":")[0])
                return [self.values[n] for n in names]
            elif " = spyre.constant " in line:
                self.constant(line)
            elif " = spyre." in line:
                self.device_op(line)
            elif line not in ("", "}", "module {"):
                raise ValueError(f"not L1: {line}")


def run_case(program, npz, opt):
    done = harness.run_process([opt, program, "-spyre-torch-to-l1"], TIMEOUT_S)
    if done.code:
        return "refused", done.err.strip()
    if npz is None:
        return "right", "compiled"
    inputs, outputs, refs = arrays.read(npz)
    results = Evaluator(done.out, inputs).run()
    traits = tolerance.traits_of_text(program.read_text())
    scale = tolerance.widening(traits.operations)
    notes, good = [], True
    for i, (got, (dtype, out), ref) in enumerate(zip(results, outputs, refs)):
        if got.shape != out.shape:
            return "wrong", f"result {i} has shape {got.shape}, not {out.shape}"
        good &= tolerance.compare(formats.from_float64(got, dtype), out, dtype, ref, traits, scale) is None
        error = tolerance.relative_error(got, formats.to_float64(out, dtype) if ref is None else np.float64(ref))
        largest, rms = float(np.max(error, initial=0)), float(np.sqrt(np.mean(error**2)))
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
                npz = path / entry["npz"] if entry.get("npz") else None
                for key in ("file", "torch_form", "nodecomp_form"):
                    if entry.get(key):
                        cases.append((path / entry[key], npz))
        else:
            files = sorted(path.glob("*.mlir")) if path.is_dir() else [path]
            for file in files:
                beside = file.with_name(file.name.split(".")[0] + ".npz")
                cases.append((file, options.arrays or (beside if beside.exists() else None)))
    outcomes = {"right": 0, "wrong": 0, "refused": 0}
    for program, npz in cases:
        if options.only not in program.name:
            continue
        try:
            outcome, note = run_case(program, npz, options.opt)
        except harness.UsageError as error:
            parser.error(str(error))
        outcomes[outcome] += 1
        print(f"{outcome}: {program.name}: {note}")
    failed = outcomes["wrong"] + outcomes["refused"]
    print(f"{outcomes['right']} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
