#!/usr/bin/env python3
# full_size.py - Layers of full size on the emulator, against float32 on the host
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The full-size layers come without arrays: inputs are drawn here, exact in the
# device's 16-bit format. The reference runs the same text with PyTorch in
# float32, one operation at a time (torch_eval.py), and shares nothing with the
# compiler. Needs PyTorch, some GB of memory and half a minute a layer.
#
# What an argument is follows from its shape, as layers pass them: rank 1 is the
# weight of a norm, rank 2 a matrix [outputs, inputs], rank 3 of another width
# than the first argument a rotary table (cosines, then sines), rank 4 with one
# head an additive causal mask; all others are activations.
"""Full-size layers, run on the emulator and compared with a float32 run on the host."""

import argparse
import pathlib
import sys
import tempfile
import time

import numpy as np
import torch_eval

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "conformance"))

from lib import arrays, formats, harness, tensors, tolerance  # noqa: E402

TIMEOUT_S = 3600
DTYPES = {element: formats.DTYPES[element] for element in ("f16", "bf16", "f32")}


def angles(shape):
    """Positions times the frequencies of rotary embedding, [1, positions, width]."""
    half = shape[-1] // 2
    turns = np.arange(shape[-2])[:, None] * 10000.0 ** (-np.arange(half) / half)
    return np.broadcast_to(np.concatenate((turns, turns), -1), shape)


def causal(shape):
    rows, columns = shape[-2:]
    seen = np.tril(np.ones((rows, columns), bool), columns - rows)
    # Near the lowest float16 number, and exact in DL16.
    return np.broadcast_to(np.where(seen, 0.0, -65472.0), shape)


def draw(arguments, seed):
    """Arrays for a layer's arguments as they are stored, every number exact in DL16."""
    random = np.random.default_rng(seed)
    width = arguments[0][1][-1]
    tables = 0
    for _, shape, element in arguments:
        if element not in DTYPES:
            raise torch_eval.Unknown(f"an argument of type {element}")
        if len(shape) == 1:
            values = 1 + 0.25 * random.standard_normal(shape, np.float32)
        elif len(shape) == 2:
            values = random.standard_normal(shape, np.float32) * shape[-1] ** -0.5
        elif len(shape) == 3 and shape[-1] != width:
            values = (np.cos, np.sin)[tables % 2](angles(shape))
            tables += 1
        elif len(shape) == 4 and shape[1] == 1:
            values = causal(shape)
        else:
            values = random.standard_normal(shape, np.float32)
        yield formats.from_float64(formats.exact_on_device(values, DTYPES[element]), DTYPES[element])


def host_run(text, arguments, drawn):
    begin = time.monotonic()
    given = [tensors.from_stored(array, DTYPES[element]) for array, (_, _, element) in zip(drawn, arguments)]
    results = [result.float().numpy() for result in torch_eval.Evaluator(text).run(given)]
    return results, time.monotonic() - begin


def errors(got, dtype, ref, traits):
    """(text of the largest and rms error, True if they are within the bounds of the runners)."""
    values, ref = formats.to_float64(got, dtype), ref.astype(np.float64)
    if got.shape != ref.shape or not np.isfinite(values).all():
        return f"shape {list(got.shape)} or numbers that are not finite", False
    e = tolerance.relative_error(values, ref)
    largest, rms = float(e.max()), float(np.sqrt(np.mean(np.square(e))))
    unit = 2.0**-10
    bound, rms_bound = tolerance.bounds_16(traits)
    good = largest <= bound and (rms_bound is None or rms <= rms_bound)
    if rms_bound is None:
        bounds = f"bound of max e: {bound / unit:g}"
    else:
        bounds = f"bounds: {bound / unit:g} and {rms_bound / unit:g}"
    return f"max e {largest / unit:.2f}, rms e {rms / unit:.2f} x 2^-10 ({bounds})", good


def run_layer(path, options):
    text = path.read_text()
    arguments = torch_eval.signature(text)
    traits = tolerance.traits_of_text(text)
    results = [DTYPES[e] for e in text.split("->", 1)[1].split("{", 1)[0].replace(">", ",").split(",") if e in DTYPES]
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        inputs, outputs = pathlib.Path(folder) / "inputs.npz", pathlib.Path(folder) / "outputs.npz"
        drawn = list(draw(arguments, options.seed))
        arrays.write_inputs(inputs, drawn)
        refs, host_time = host_run(text, arguments, drawn)
        del drawn
        command = [pathlib.Path(options.build) / "bin" / "spyre-run", path, "--inputs", inputs, "--outputs", outputs]
        command += ["--threads", options.threads, *(["--check"] if options.check else [])]
        begin = time.monotonic()
        done = harness.run_process(command, TIMEOUT_S)
        print(
            f"{path.stem}: {time.monotonic() - begin:.1f} s on the emulator, {host_time:.1f} s on the host", flush=True
        )
        if done.code:
            print(f"  failed with {done.describe_end()}: {done.err.strip()}")
            return False
        got = np.load(outputs)
        good = len(results) == len(refs)
        for i, (dtype, ref) in enumerate(zip(results, refs)):
            message, fine = errors(got[f"out{i}"], dtype, ref, traits)
            good &= fine
            print(f"  result {i} {list(ref.shape)}: {message}{'' if fine else ': WRONG'}")
        return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: full_size.py --seed 1 granite_layer_prefill")
    parser.add_argument(
        "names",
        nargs="*",
        default=["granite_layer_prefill", "granite_layer_decode"],
        metavar="PROGRAM",
        help="programs of the folder (default: %(default)s)",
    )
    parser.add_argument(
        "--folder", type=pathlib.Path, default=harness.REPOSITORY / "test/data/models", help="where they are"
    )
    harness.add_build_flag(parser)
    parser.add_argument("--threads", default="2", help="threads of the emulator")
    parser.add_argument("--check", action="store_true", help="in checked mode (slower)")
    parser.add_argument("--scratch", help="folder for arrays of some 100 MB (default: the system's)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    passed = 0
    for name in options.names:
        try:
            passed += run_layer(options.folder / f"{name}.mlir", options)
        except (OSError, harness.UsageError, torch_eval.Unknown) as error:
            print(f"{name}: {type(error).__name__}: {error}")
    print(f"{passed} passed, {len(options.names) - passed} failed, 0 skipped")
    return 1 if passed < len(options.names) else 0


if __name__ == "__main__":
    sys.exit(main())
