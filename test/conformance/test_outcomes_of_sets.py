# test_outcomes_of_sets.py - No wrong number and no crash in whole data sets
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The reported bugs and torch-mlir's end-to-end cases, with PyTorch for what the device
# lacks where it is installed. A program may be refused, for what it needs or for host
# calls that its class does not allow. What is not refused has to be right.
"""Every program of the large data sets is right or refused by name."""

import collections
import json
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from lib.built import BUILD, DATA, tool  # noqa: E402

from lib import harness, inprocess  # noqa: E402

SETS = sorted([*(DATA / "bugs").glob("cases*.jsonl.gz"), *(DATA / "e2e").glob("cases*.jsonl.gz")])
# What was right before stays right: the least number of right programs of a set, with and without PyTorch.
RIGHT = {
    "torch": {"bugs/cases": 285, "e2e/cases": 940, "e2e/cases_f16": 570, "e2e/cases_fx_importer": 14},
    "none": {"bugs/cases": 210, "e2e/cases": 340, "e2e/cases_f16": 305},
}


@pytest.mark.parametrize("path", SETS, ids=lambda path: f"{path.parent.name}/{path.name.split('.')[0]}")
def test_right_or_refused(path, tmp_path):
    tool("spyre-run")
    host = "torch" if inprocess.is_there(BUILD) else "none"
    report = tmp_path / "outcomes.json"
    flags = ["--host", host, "--build", BUILD, "--jobs", "2", "--json", report]
    command = [sys.executable, HERE / "programs.py", path, *flags]
    done = harness.run_process(command, 1800)
    assert report.exists(), done.err
    outcomes = json.loads(report.read_text())
    bad = [
        (o["case"], o["outcome"], o["reason"][:200])
        for o in outcomes
        if o["outcome"] not in ("right", "refused", "skipped")
    ]
    assert not bad
    counts = collections.Counter(o["outcome"] for o in outcomes)
    assert counts["right"] >= RIGHT[host].get(f"{path.parent.name}/{path.name.split('.')[0]}", 0), counts
