#!/usr/bin/env python3
# exact_arguments.py - What f32 forms of f16 arguments cost
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles programs with and without --exact-arguments and prints the bytes that each moves
# between device memory and cores, and its modelled time; the machine does not matter.
# Programs that read none of their arguments so (matrix products, most layers) cost the same.
"""Traffic and modelled time of programs, with f16 arguments exact and rounded."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

HALF, BOOL, FULL = "f16", "i1", "f32"
# name -> (operation's lines, result type), of %x and %y: 2048 x 4096.
PROGRAMS = {
    "x > 0": ("%r = torch.aten.gt.Scalar %x, %zero : !T, !torch.float -> !R", BOOL),
    "x > 0.1": ("%r = torch.aten.gt.Scalar %x, %tenth : !T, !torch.float -> !R", BOOL),
    "x == y": ("%r = torch.aten.eq.Tensor %x, %y : !T, !T -> !R", BOOL),
    "floor(x)": ("%r = torch.aten.floor %x : !T -> !R", HALF),
    "x - y": ("%r = torch.aten.sub.Tensor %x, %y, %one : !T, !T, !torch.int -> !R", HALF),
    "x + y": ("%r = torch.aten.add.Tensor %x, %y, %one : !T, !T, !torch.int -> !R", HALF),
    "relu(x)": ("%r = torch.aten.relu %x : !T -> !R", HALF),
    "exp(x)": ("%r = torch.aten.exp %x : !T -> !R", HALF),
    "x.float() * 0.1": (
        "%w = torch.prims.convert_element_type %x, %six : !T, !torch.int -> !R\n"
        "    %r = torch.aten.mul.Scalar %w, %tenth : !R, !torch.float -> !R",
        FULL,
    ),
    "softmax(x, dtype=float32)": (
        "%w = torch.prims.convert_element_type %x, %six : !T, !torch.int -> !R\n"
        "    %r = torch.aten._softmax %w, %one, %no : !R, !torch.int, !torch.bool -> !R",
        FULL,
    ),
}
FILES = ("layernorm_affine_512x1024", "rmsnorm_512x1024", "granite_layer_small", "bert_layer_small")


def text(lines, result):
    half = "!torch.vtensor<[2048,4096],f16>"
    body = f"""module {{
  func.func @main(%x: !T, %y: !T) -> !R {{
    %zero = torch.constant.float 0.0
    %tenth = torch.constant.float 0.1
    %one = torch.constant.int 1
    %six = torch.constant.int 6
    %no = torch.constant.bool false
    {lines}
    return %r : !R
  }}
}}
"""
    return body.replace("!T", half).replace("!R", half.replace("f16", result))


def measure(compiler, program, exact):
    with tempfile.TemporaryDirectory() as folder:
        stats = pathlib.Path(folder) / "stats.json"
        made = subprocess.run(
            [compiler, program, "-o", f"{folder}/program", f"--stats={stats}", f"--exact-arguments={exact}"],
            capture_output=True,
            text=True,
        )
        if made.returncode:
            sys.exit(f"{program}: {made.stderr}")
        return json.loads(stats.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    compiler = options.build / "bin" / "spyre-compile"
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        programs = []
        for name, (lines, result) in PROGRAMS.items():
            file = pathlib.Path(folder) / f"{len(programs)}.mlir"
            file.write_text(text(lines, result))
            programs.append((name, file))
        models = ROOT / "test" / "data" / "models"
        programs += [(name, models / f"{name}.mlir") for name in FILES if (models / f"{name}.mlir").exists()]
        print(f"{'program':28} {'moved, MiB':>22} {'modelled, us':>22}")
        for name, file in programs:
            exact, rounded = (measure(compiler, file, flag) for flag in ("true", "false"))
            moved = [(s["hbm_read_bytes"] + s["hbm_write_bytes"]) / 2**20 for s in (exact, rounded)]
            us = [s["modelled_us"] for s in (exact, rounded)]
            print(f"{name:28} {moved[0]:10.1f} ({moved[1]:8.1f}) {us[0]:11.1f} ({us[1]:8.1f})")
            rows.append({"program": name, "moved_mib": moved, "modelled_us": us})
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
