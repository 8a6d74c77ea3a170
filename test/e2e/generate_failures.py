#!/usr/bin/env python3
# generate_failures.py - Exports programs of the kinds of mistakes that users reported
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes test/data/failures/cases.jsonl.gz, in the format of test/data/bugs: each
# case is keyed by the row of the list of reported mistakes whose neighbour it is.
# The programs are those of failure_kinds.py and failure_kinds_compute.py. The
# same call gives the same bytes. Needs PyTorch and torch-mlir.
"""Small programs for every kind of reported mistake that operations of the first tiers can express."""

import argparse
import json
import pathlib
import sys
import warnings

import failure_kinds_compute  # noqa: F401 - registers its rows
import numpy as np
import torch
from export import Program, encode, named_seed, run, texts, write_lines
from failure_kinds import ROWS, Data
from lib.tensors import in_float64

from lib import arrays, formats


def encode_reference(out, ref):
    """The float64 result where it is not the result itself, with fraction bits that compress.

    15 of them, as float32, for 16-bit results; 33 for f32.
    """
    values = ref.double().numpy()
    if not out.is_floating_point() or np.array_equal(out.double().numpy(), values, equal_nan=True):
        return None
    sixteen = out.dtype in (torch.float16, torch.bfloat16)
    kept, kind = (15, np.float32) if sixteen else (33, np.float64)
    return arrays.encode(formats.few_bits(values, kept + 1).astype(kind), np.dtype(kind).name)


def make(section, row, case):
    """The lines of a case: its text, and for `whole` ones that without decompositions."""
    module = Program(case.function).eval()
    compiled_only = case.expect == "compile-only"
    outs = run(module, case.inputs)
    line = {
        "row": row,
        "section": section,
        "entry": "main",
        "cls": "device" if case.expect == "value" else None,
        "tier": 2,
        "expect": case.expect,
        "inputs": [encode(x) for x in case.inputs],
        "outputs": [encode(x) for x in outs],
    }
    if not compiled_only:
        refs = run(module, [in_float64(x) for x in case.inputs])
        line["refs"] = [encode_reference(out, ref) for out, ref in zip(outs, refs)]
    made = texts(module, case.inputs, ("nodecomp",) if case.whole else ())
    for form, text in made.items():
        if form == "raw" or text != made["raw"]:
            yield {"form": form, "mlir": text, **line}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="example: generate_failures.py --only '#2803' -o cases.jsonl.gz"
    )
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="file to write (.jsonl or .jsonl.gz)")
    parser.add_argument("--only", help="this row of the list only")
    parser.add_argument("--seed", type=int, default=0, help="another seed, other data")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    lines, missing = [], 0
    for row, (section, kind) in ROWS.items():
        if options.only not in (None, row):
            continue
        for case in kind(Data(named_seed(options.seed, row))):
            name = f"{kind.__name__}_{case.name}"
            try:
                for line in make(section, row, case):
                    suffix = "" if line["form"] == "raw" else f".{line['form']}"
                    lines.append(json.dumps({"name": name + suffix, **line}))
            except Exception as error:  # noqa: BLE001 - what cannot be exported is no program
                missing += 1
                print(f"not exported: {row} {name}: {str(error).strip().splitlines()[0]}", file=sys.stderr)
    write_lines(options.output, lines)
    print(f"{len(lines)} programs in {options.output}, {missing} not exported")


if __name__ == "__main__":
    main()
