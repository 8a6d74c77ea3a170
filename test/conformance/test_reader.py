# test_reader.py - The runners' own executor on bundles that others made
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The slow reader must bring out the golden numbers of every small foreign
# bundle that it knows how to execute; then it may judge our own bundles. What
# it does not know is listed here by what is missing, not by name.
"""Tests of lib/reader.py, and of the reader of torch-dialect texts."""

import gzip
import json
import pathlib
import sys

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import bundles  # noqa: E402
from lib.harness import DATA  # noqa: E402

from lib import built, formats, harness, reader  # noqa: E402

FOLDERS = sorted(p.parent for p in (DATA / "superdsc" / "bundles" / "small").rglob("bundle.mlir"))


def execute(folder):
    bind = harness.read_json(folder / "bind.json")
    data = np.load(folder / "data.npz")
    dtypes = {a["array"]: a["dtype"] for a in bind["arguments"] if a.get("array")}
    inputs = {n: bundles.stored_form(data[n], dtypes[n]) for n in data.files if n.startswith("in") and n in dtypes}
    results = reader.run_bundle(folder, bind, inputs)
    stored = {}
    for name, argument in bundles.results_of(bind):
        stored[name] = formats.from_float64(results[name], argument["dtype"])
    return bundles.compare_results(reader.Outputs(stored), bind, data, bundles.traits_of(meta_of(folder), folder))


def meta_of(folder):
    return harness.read_json(folder / "meta.json")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda p: p.name)
def test_foreign_bundle(folder):
    trust = meta_of(folder)["trust"]
    try:
        difference = execute(folder)
    except reader.Unknown as unknown:
        assert str(unknown) in ("indirect access", "format SEN143_FP8"), unknown
        return
    if trust in ("good", "odd"):
        assert difference is None
    elif trust == "wrong":
        assert difference is not None


def test_encoding_inverts_decoding():
    codes = np.arange(1 << 16).astype(np.uint16)
    values = formats.decode_dl16(codes)
    again = reader.encode_dl16(values)
    assert np.array_equal(again, codes)
    assert reader.encode_dl16(np.nan) & 0x7FFF == 0x7FFF
    assert reader.encode_dl16(1e11) == 0x7FFF


def test_memory_keeps_cores_and_segments_apart():
    memory = reader.Memory()
    address = np.array([128, 130])
    memory.write("lx", 0, address, np.array([1.0, 2.0]), "SEN169_FP16")
    memory.write("hbm", 0, address + reader.SEGMENT, np.array([3.0, 4.0]), "SEN169_FP16")
    assert list(memory.read("lx", 0, address, "SEN169_FP16")) == [1, 2]
    assert list(memory.read("hbm", 5, address + reader.SEGMENT, "SEN169_FP16")) == [3, 4]
    assert not np.isfinite(memory.read("lx", 1, address, "SEN169_FP16")).any()


# --- exported texts ----------------------------------------------------------

CORPUS = ("models", "e2e", "bugs")
LEAST_TEXTS = {"models": 139, "e2e": 2225, "bugs": 304}  # 2,668; a set may grow
BATCH = 150  # texts a process


def exported_texts(folder):
    """(name, text) of every program in a folder: its .mlir files and its lines."""
    for path in sorted(folder.glob("*.mlir")):
        yield path.name, path.read_text()
    for path in sorted(folder.glob("cases*.jsonl.gz")):
        with gzip.open(path, "rt") as file:
            for line in file:
                entry = json.loads(line)
                yield f"{path.name}:{entry['name']}", entry["mlir"]


def round_trips(texts, folder):
    """True if spyre-opt reads, prints and reads again all of the texts; and what it said."""
    joined = folder / "texts.mlir"
    joined.write_text("\n// -----\n".join(texts))
    done = built.run(
        built.tool("spyre-opt"), "--split-input-file", "--verify-roundtrip", joined, "-o", folder / "printed.mlir"
    )
    return done.code == 0, done.err


@pytest.mark.parametrize("name", CORPUS)
def test_no_text_is_missing(name):
    ours = DATA.resolve() == HERE.parent / "data"  # other data: any number
    least = LEAST_TEXTS[name] if ours else 1
    assert sum(1 for _ in exported_texts(DATA / name)) >= least


@pytest.mark.parametrize("name", CORPUS)
def test_every_exported_text_parses_and_round_trips(name, tmp_path):
    programs = list(exported_texts(DATA / name))
    bad = []
    for start in range(0, len(programs), BATCH):
        batch = programs[start : start + BATCH]
        if not round_trips([text for _, text in batch], tmp_path)[0]:
            for case, text in batch:  # which one?
                good, message = round_trips([text], tmp_path)
                if not good:
                    bad.append(f"{case}: {message.splitlines()[0] if message else 'no message'}")
    assert not bad, f"{len(bad)} of {len(programs)} texts: {bad[:10]}"
