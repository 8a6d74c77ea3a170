# export.py - What the generators of exported programs share
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Turns a function and its inputs into a program of a folder in the format of
# test/data/models (see its README): texts in several forms, arrays with
# PyTorch's results and those of the same function in float64, a manifest entry.
# Inputs have at most 9 fraction bits, which the device's 16-bit format holds.
"""Functions to torch-dialect programs with PyTorch's results, many in one process."""

import argparse
import functools
import gzip
import hashlib
import json
import pathlib
import sys
import warnings
import zlib

import numpy as np
import torch
from torch_mlir import fx
from torch_mlir.extras.fx_decomp_util import get_decomposition_table

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "conformance"))

from lib.tensors import in_float64, name_of, stored  # noqa: E402

from lib import arrays, formats  # noqa: E402

# Rows, columns, heads and lengths that are multiples of nothing, and their neighbours.
SIZES = (1, 2, 31, 33, 63, 64, 65, 100, 127, 129, 200, 257)


def write_lines(path, lines):
    """Writes a JSON-lines file; compressed if it is named so, without a time stamp: the same call gives the same bytes."""
    data = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


class Program(torch.nn.Module):
    """A function of tensors; those in `constants` (position -> tensor) are the module's own."""

    def __init__(self, function, constants=None):
        super().__init__()
        self.function = function
        self.positions = sorted(constants or {})
        for position in self.positions:
            self.register_buffer(f"constant{position}", constants[position])

    def forward(self, *inputs):
        values = list(inputs)
        for position in self.positions:
            values.insert(position, getattr(self, f"constant{position}"))
        return self.function(*values)


def to_nine_fraction_bits(x, dtype=torch.float16):
    """The nearest value with 9 fraction bits in a 16-bit dtype; subnormals of float16 become 0."""
    return torch.from_numpy(formats.without_subnormals(formats.few_bits(np.asarray(x, np.float64), 10))).to(dtype)


def named_seed(seed, name):
    """A seed of NumPy's generators for one case, whatever cases there are beside it."""
    return [seed, zlib.crc32(name.encode())]


def wide_type(x):
    # No torch function: what is called here would be exported.
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def wide(x):
    """At least float32, and float64 in the reference run."""
    return x.to(wide_type(x))


def encode(tensor):
    """[dtype, shape, base64] of a tensor, for a line of JSON; of one without data null in place of the base64."""
    if tensor.is_meta:
        return [name_of(tensor.dtype), list(tensor.shape), None]
    return arrays.encode(stored(tensor), name_of(tensor.dtype))


def shorten(values, bits=15):
    """float32 with few fraction bits: 15 are far finer than 16-bit results, and they compress."""
    values = np.asarray(values, np.float32)
    unit = 1 << (23 - bits)
    raw = np.frombuffer(values.tobytes(), np.uint32).reshape(values.shape)
    raw = np.where(np.isfinite(values), (raw + unit // 2) & np.uint32(2**32 - unit), raw).astype(np.uint32)
    return np.frombuffer(raw.tobytes(), np.float32).reshape(values.shape)


def run(module, inputs):
    with torch.no_grad():
        results = module(*inputs)
    return list(results) if isinstance(results, (tuple, list)) else [results]


def remember_composites():
    """Has PyTorch look for its composite operations once, not in each export, which halves its time.

    For processes that register no operations of their own.
    """
    place = torch.export.exported_program
    look = getattr(place, "_collect_all_valid_cia_ops", None)
    if look is not None and not hasattr(look, "cache_info"):
        place._collect_all_valid_cia_ops = functools.cache(look)


def texts(module, inputs, forms, name="main"):
    """form -> text of a function called `name`. A form that the exporter cannot make is absent, except the raw one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = torch.export.export(module, tuple(inputs))
        decomposed = exported.run_decompositions(get_decomposition_table())
        options = {
            "raw": (decomposed, "raw"),
            "torch": (decomposed, "torch"),
            "nodecomp": (exported, "raw"),
        }
        result = {}
        for form in ("raw", *forms):
            source, output_type = options[form]
            try:
                imported = fx.export_and_import(source, decomposition_table={}, output_type=output_type, func_name=name)
            except Exception:  # noqa: BLE001 - torch-mlir's own lowering has gaps
                if form == "raw":
                    raise
                continue
            result[form] = str(imported)
    return result


def error_over_rms(out, ref):
    if not out.is_floating_point() or not out.numel():
        return None
    out, ref = out.double(), ref.double()
    usable = torch.isfinite(out) & torch.isfinite(ref)
    if not usable.any():
        return None
    rms = float(ref[usable].square().mean().sqrt())
    return round(float((out - ref)[usable].abs().max()) / rms, 6) if rms else 0.0


def write_program(folder, name, function, inputs, forms=(), constants=(), tier=2, note="", exact=False):
    """Writes the texts and arrays of one program; returns its manifest entry.

    constants: positions of inputs that become constants of the module; forms: of
    `torch` and `nodecomp`, beside the raw one; exact: every result is moved data.
    """
    own = {i: inputs[i] for i in constants}
    fed = [x for i, x in enumerate(inputs) if i not in own]
    module = Program(function, own).eval()
    outs = run(module, fed)
    refs = run(Program(function, {i: in_float64(x) for i, x in own.items()}).eval(), [in_float64(x) for x in fed])
    entry = {"name": name, "func": "main", "tier": tier, "cls": "device", "note": note}
    made = texts(module, fed, forms)
    for form, text in made.items():
        file = f"{name}.mlir" if form == "raw" else f"{name}.{form}.mlir"
        (folder / file).write_text(text)
        entry["file" if form == "raw" else f"{form}_form"] = file
    raw = made["raw"].encode()
    entry.update(bytes=len(raw), sha256=hashlib.sha256(raw).hexdigest())
    golden = {f"in{i}": stored(x) for i, x in enumerate(fed)}
    for i, (out, ref) in enumerate(zip(outs, refs)):
        golden[f"out{i}"] = stored(out)
        if out.is_floating_point() and not exact:
            golden[f"ref{i}"] = ref.numpy().astype(np.float32)
    golden["in_dtypes"] = np.array([name_of(x.dtype) for x in fed])
    golden["out_dtypes"] = np.array([name_of(x.dtype) for x in outs])
    np.savez(folder / f"{name}.npz", **golden)
    entry["npz"] = f"{name}.npz"
    entry["inputs"] = [{"dtype": name_of(x.dtype), "shape": list(x.shape)} for x in fed]
    entry["results"] = [
        f"!torch.vtensor<[{','.join(map(str, x.shape))}],{formats.ELEMENTS[name_of(x.dtype)]}>" for x in outs
    ]
    entry["torch_err_over_rms"] = [error_over_rms(out, ref) for out, ref in zip(outs, refs)]
    return entry


def arguments(description, count):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seed", type=int, default=0, help="another seed, other shapes and data")
    parser.add_argument("--shard", default="0/1", help="I/N: every Nth case from the Ith on, from 0")
    parser.add_argument("--count", type=int, default=count, help="cases of all shards together")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder to write")
    return parser


def shard_of(parser, text):
    try:
        index, shards = (int(part) for part in text.split("/"))
    except ValueError:
        parser.error("--shard wants I/N")
    if not 0 <= index < shards:
        parser.error("--shard I/N needs 0 <= I < N")
    return index, shards


def write_manifest(folder, entries):
    lines = ",\n".join(json.dumps(entry) for entry in entries)
    (folder / "manifest.json").write_text(f"[\n{lines}\n]\n")
