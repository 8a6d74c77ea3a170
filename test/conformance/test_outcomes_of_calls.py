# test_outcomes_of_calls.py - No wrong number and no crash in calls of PyTorch's operations
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A part of what ops.py and opinfo.py run, small enough for every check: the whole of it
# is run by hand (docs/developer/testing.md). PyTorch runs what the device lacks, so few
# calls are refused, and none is wrong. Where operations run is what docs/operations.md
# says.
"""A part of the operator calls is right, on the device or with host calls."""

import collections
import json
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import operations  # noqa: E402
from lib.built import BUILD, DATA  # noqa: E402

from lib import harness  # noqa: E402

pytest.importorskip("torch_mlir")

CALLS = {
    "traces of tests": ["ops.py", DATA / "programs" / "op_cases.json", "--shard", "1/16"],
    "calls of models": ["ops.py", DATA / "programs" / "model_ops.json", "--shard", "1/32"],
    "operator database": ["opinfo.py", "--dtype", "f16,f32,i64", "--max-samples", "1", "--shard", "1/16"],
}


@pytest.mark.parametrize("arguments", CALLS.values(), ids=CALLS.keys())
def test_right_or_refused(arguments, tmp_path):
    report = tmp_path / "outcomes.json"
    flags = ["--host", "torch", "--build", BUILD, "--jobs", "2", "--timeout", "60", "--json", report]
    done = harness.run_process([sys.executable, HERE / arguments[0], *arguments[1:], *flags], 1800)
    assert report.exists(), done.err
    outcomes = [o for o in json.loads(report.read_text()) if o["outcome"] != "skipped"]
    bad = [(o["case"], o["outcome"], o["reason"][:200]) for o in outcomes if o["outcome"] not in ("right", "refused")]
    assert not bad
    if arguments[0] == "opinfo.py":
        # The record has three samples of each operation and type, of which this is one.
        elsewhere = operations.changed(json.loads(operations.RECORD.read_text()), outcomes)
        assert not elsewhere, "measure docs/operations.md again"
    counts = collections.Counter(o["outcome"] for o in outcomes)
    assert counts["right"] >= 0.9 * len(outcomes) > 0, counts
