#!/usr/bin/env python3
# generate_layers.py - Exports layers and their parts at sizes that fit nothing
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Case N of a seed is the same whatever the shard and the count: its kind follows
# from N, its sizes, data and forms are drawn from (seed, N). With --run the
# programs are also compiled, run and compared, by programs.py. How to run it at
# length is in docs/developer/testing.md.
"""Norms, MLPs, attention, rotary embedding, layers, elementwise programs, reductions and moved
data at sizes such as 1, 31, 65 and 257, with PyTorch's results, for test/conformance/programs.py."""

import functools
import gc
import multiprocessing
import os
import pathlib
import subprocess
import sys

import torch
from export import arguments, shard_of, write_manifest, write_program
from layer_kinds import KINDS as LAYERS
from layer_kinds import Draw
from pointwise_kinds import KINDS as POINTWISE

# One turn: kinds with many variants come more than once.
TURN = (
    "layer_norm", "movement", "attention", "broadcast", "rope", "reduction", "mha", "softmax", "movement",
    "sdpa", "compare", "gelu_mlp", "movement", "rms_norm", "decoder_layer", "unary", "matmul", "broadcast",
    "movement", "attention", "swiglu_mlp", "reduction", "layer_norm_written", "compare", "encoder_layer", "island", "scan", "casts",
)  # fmt: skip
KINDS = {**LAYERS, **POINTWISE}
CONFORMANCE = pathlib.Path(__file__).resolve().parent.parent / "conformance"


def make(folder, seed, number):
    """Exports case `number` of a seed; returns its manifest entry, or None if the exporter cannot."""
    kind = TURN[number % len(TURN)]
    d = Draw([seed, number], torch.float16)
    if d.flag(0.2):
        d.dtype = torch.bfloat16
    extra = d.choice((), (), (), ("torch",), ("nodecomp",))
    own_weights = d.flag(0.1) and d.dtype != torch.bfloat16  # bfloat16 constants need another package
    torch.set_num_threads(1)
    function, inputs = KINDS[kind](d)
    # torch-mlir does not import constants in lists of tensors.
    constants = range(1, len(inputs)) if own_weights and kind != "movement" else ()
    size = "x".join(map(str, inputs[0].shape)) or "scalar"
    name = f"{number:05d}_{kind}_{size}_{'bf16' if d.dtype == torch.bfloat16 else 'f16'}"
    try:
        return write_program(
            folder, name, function, inputs, forms=extra, constants=constants, exact=kind == "movement", note=kind
        )
    except Exception as error:  # noqa: BLE001 - the exporter's own gaps, counted by main
        reason = str(error).strip().split("\n")[0]
        print(f"not exported: {name}: {type(error).__name__}: {reason}", file=sys.stderr, flush=True)
        return None


def main():
    parser = arguments(__doc__, 200)
    parser.epilog = "example: generate_layers.py --seed 3 --out layers --run --no-host -O2"
    parser.add_argument("--only", metavar="N,N", help="these cases and no others, by number")
    parser.add_argument("--kind", help="only cases of this kind", choices=sorted(KINDS))
    parser.add_argument("--allow-refusals", action="store_true", help="a named refusal passes; wrong numbers fail")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes that export")
    parser.add_argument("--run", action="store_true", help="then run programs.py; all flags after this one are for it")
    # argparse would take the other script's flags for its own.
    words, rest = sys.argv[1:], []
    if "--run" in words:
        at = words.index("--run") + 1
        words, rest = words[:at], words[at:]
    options = parser.parse_args(words)
    numbers = [int(n) for n in options.only.split(",")] if options.only else range(options.count)
    if options.kind:
        numbers = [n for n in numbers if TURN[n % len(TURN)] == options.kind]
    index, shards = shard_of(parser, options.shard)
    numbers = numbers[index::shards]
    options.out.mkdir(parents=True, exist_ok=True)
    gc.freeze()  # what is imported stays: a fifth of the exporter's time went into looking at it again
    with multiprocessing.get_context("fork").Pool(options.jobs) as pool:
        made = pool.map(functools.partial(make, options.out, options.seed), numbers, chunksize=1)
    entries = [entry for entry in made if entry]
    if options.allow_refusals:
        for entry in entries:
            entry["expect"] = "value-or-named-refusal"
    write_manifest(options.out, entries)
    print(f"{len(entries)} programs in {options.out}, {len(made) - len(entries)} not exported", flush=True)
    if 50 * len(entries) < 49 * len(made):
        sys.exit("error: more than one in fifty could not be exported")
    if options.run:
        sys.exit(subprocess.call([sys.executable, CONFORMANCE / "programs.py", options.out, *rest]))


if __name__ == "__main__":
    main()
