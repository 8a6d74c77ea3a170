#!/usr/bin/env python3
# generate_superdsc.py - Random neutral operations with what should be written for them
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Draws operations of the kinds in the reference data (test/data/superdsc) and writes
# them in the form of its random_ops.json.gz, for superdsc.py: the neutral case and,
# from the model of the reference front end (lib/frontend.py), descriptors and
# bundle.mlir. Where the model does not know, an entry has only `case` and `unknown`
# (why); such a case is judged by verification and by its numbers. The same seed
# gives the same file.
"""Random operations with expected descriptors, in the form of random_ops.json.gz."""

import argparse
import gzip
import json
import pathlib
import random
import sys

from lib.random_bundles import Bundles

from lib import frontend, neutral, neutral_ops

# kind -> how often, of all cases. Those with more than one operation are methods of Bundles.
KINDS = {
    "pointwise": 18,
    "broadcast": 12,
    "where3": 5,
    "identity": 10,
    "reduction": 14,
    "matmul": 12,
    "restickify": 8,
    "cast": 7,
    "reshape": 4,
    "statistic": 5,
    "topk": 2,
    "exx2": 2,
    "gather": 3,
    "fp8matmul": 2,
    "bundle": 8,
    "loop": 5,
}
SEVERAL = {"bundle", "loop"}
ATTEMPTS = 50


def make(seed, number, kinds):
    """Case `number` of a seed; depends on nothing else."""
    source = random.Random(f"{seed}:{number}")
    kind = source.choices(list(kinds), list(kinds.values()))[0]
    for _ in range(ATTEMPTS):
        draw = Bundles(source)
        specs = getattr(draw, kind)() if kind in SEVERAL else [draw.spec(kind)]
        case = neutral_ops.make_case(
            f"{kind}_{seed}_{number:05d}", group_of(kind), specs, draw_config(source, kind), True
        )
        case["executable"] = is_executable(case)
        try:
            neutral.build_program(case)
        except neutral.Inexpressible:
            continue  # a slice that starts inside a row of another length
        return case
    raise RuntimeError(f"no expressible case of kind {kind} in {ATTEMPTS} attempts")


def group_of(kind):
    if kind in ("broadcast", "where3", "identity", "reshape", "statistic"):
        return "pointwise"
    return {"exx2": "layernorm", "fp8matmul": "fp8"}.get(kind, kind)


def draw_config(source, kind):
    symbolic = source.random() < 0.3
    unroll = True
    if kind == "loop":
        unroll = source.random() < 0.5
        symbolic = symbolic or not unroll  # a kept loop needs symbolic addresses
    return {"unroll_loops": unroll, "symbolic_args": symbolic, "core_id_k_fast_emission": source.random() < 0.75}


def is_executable(case):
    if not neutral_ops.is_executable(case["specs"]):
        return False
    for spec in neutral_ops.operations(case["specs"]):
        # What an unaligned restickify means is not certain (docs/formats/superdsc-rules.md, section 9).
        if spec["op"] == "ReStickifyOpHBM":
            for tensor in spec["host"]["tensors"]:
                stick = tensor["dim_order"][-1]
                if tensor["host_size"][stick] % tensor["layout_device_size"][-1]:
                    return False
    return True


def entry_of(case):
    """What the list has for a case."""
    try:
        bundle = frontend.model(case)
    except frontend.Unknown as reason:
        return {"case": case, "unknown": str(reason)}
    entry = {"case": case, "sdsc": bundle.descriptors}
    return entry if bundle.text is None else {**entry, "bundle": bundle.text}


def entries(seed, count, kinds=None, start=0):
    kinds = kinds or KINDS
    for number in range(start, start + count):
        yield entry_of(make(seed, number, kinds))


def parse_kinds(text):
    names = [name for name in text.split(",") if name]
    without = [name[1:] for name in names if name.startswith("-")]
    chosen = [name for name in names if not name.startswith("-")] or [k for k in KINDS if k not in without]
    for name in [*chosen, *without]:
        if name not in KINDS:
            raise argparse.ArgumentTypeError(f"there is no kind '{name}'; kinds: {', '.join(KINDS)}")
    return {name: KINDS[name] for name in chosen if name not in without}


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="generate_superdsc.py",
        description=__doc__,
        epilog="example: generate_superdsc.py --seed 1 --count 500 --out fresh.json.gz; superdsc.py fresh.json.gz",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed (default 0)")
    parser.add_argument("--count", type=int, default=300, help="how many cases (default 300)")
    parser.add_argument("--out", required=True, metavar="FILE.json.gz", help="file to write")
    parser.add_argument(
        "--kinds",
        type=parse_kinds,
        default=KINDS,
        metavar="A,B",
        help=f"kinds to draw, -A leaves A out: {', '.join(KINDS)}",
    )
    return parser.parse_args(argv)


def main(argv=None):
    options = parse(argv)
    rows = list(entries(options.seed, options.count, options.kinds))
    data = json.dumps(rows, separators=(",", ":")).encode()
    # No time stamp in the file: the same call gives the same bytes.
    pathlib.Path(options.out).write_bytes(gzip.compress(data, 6, mtime=0))
    known = sum("sdsc" in row for row in rows)
    print(f"{len(rows)} cases in {options.out}, {known} with descriptors")
    return 0


if __name__ == "__main__":
    sys.exit(main())
