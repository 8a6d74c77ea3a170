# test_torch_eval.py - The evaluator of texts against PyTorch's own float64 results
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# full_size.py judges by this evaluator, so it has to bring out the golden
# numbers of every model program of the first two tiers that has them.
"""Tests of torch_eval.py."""

import json
import pathlib
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import full_size  # noqa: E402
import torch_eval  # noqa: E402

from lib import harness, tensors  # noqa: E402

MODELS = harness.DATA / "models"
ENTRIES = [e for e in json.loads((MODELS / "manifest.json").read_text()) if e["tier"] < 3 and e.get("npz")]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e["name"])
def test_golden_numbers(entry):
    text, data = (MODELS / entry["file"]).read_text(), np.load(MODELS / entry["npz"])
    arguments = torch_eval.signature(text)
    given = [
        tensors.from_stored(data[f"in{i}"], full_size.DTYPES[element]) for i, (_, _, element) in enumerate(arguments)
    ]
    for i, result in enumerate(torch_eval.Evaluator(text).run(given)):
        if f"ref{i}" not in data.files:
            continue
        ref = data[f"ref{i}"].astype(np.float64)
        got = result.double().numpy()
        finite = np.isfinite(ref)
        assert np.array_equal(got[~finite], ref[~finite], equal_nan=True)
        size = np.abs(ref[finite]).max(initial=0) or 1.0
        # refs keep 15 fraction bits
        assert np.abs(got[finite] - ref[finite]).max(initial=0) <= 2.0**-15 * size, i


def test_what_is_unknown_is_named():
    text = "func.func @f(%x: !torch.vtensor<[2],f16>) -> !torch.vtensor<[2],f16> {\n%0 = torch.aten.mystery %x : !torch.vtensor<[2],f16> -> !torch.vtensor<[2],f16>\nreturn %0 : x\n}"
    with pytest.raises(torch_eval.Unknown, match="mystery"):
        torch_eval.Evaluator(text).run([torch.zeros(2, dtype=torch.float16)])


def test_inputs_are_exact_on_the_device():
    arguments = [("%x", [1, 5, 8], "f16"), ("%c", [1, 5, 4], "f16"), ("%m", [1, 1, 5, 9], "f16"), ("%w", [3], "bf16")]
    x, c, mask, w = full_size.draw(arguments, 0)
    assert x.dtype == np.float16 and w.dtype == np.uint16
    assert c[0, 0, 0] == 1  # cosine of position 0
    assert (mask[0, 0, 0] < 0).sum() == 4 and (mask[0, 0, -1] == 0).all()
    for array in (x, c, mask):
        assert np.array_equal(full_size.formats.round_to_dl16(array), array)
