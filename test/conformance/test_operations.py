# test_operations.py - The users' page of operations is what was measured
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# docs/operations.md is what operations.py writes from docs/operations.json, and
# the record is what it makes of runs, on made-up ones. That operations still run where
# the record has them is a part of test_outcomes_of_calls.py.
"""Tests of operations.py and of its page."""

import json

import operations


def row(case, outcome="right", device=0, host=(), reason=""):
    calls = dict.fromkeys((name for name, _ in host), 1)
    reasons = [[name, why, "program:1:1"] for name, why in host]
    return {
        "case": case,
        "outcome": outcome,
        "device_ops": device,
        "host_calls": calls,
        "reason": reason,
        "stats": {"host_reasons": reasons},
    }


ROWS = [
    row("sin/f16/0", device=2),
    row("sin/f16/1", device=2),
    row("sin/f32/0", host=[("aten.sin", "the device has no 'f32' form")]),
    row("nn.functional.conv2d/f16/0", device=1, host=[("aten.convolution", "no lowering")]),
    row("unique/i64/3", "refused", reason="program.mlir:8:10: error: a | b"),
    row("unique/f16/3", "skipped"),
]


def test_page_is_fresh():
    record = json.loads(operations.RECORD.read_text())
    assert len(record) > 500
    assert operations.PAGE.read_text() == operations.page(record)


def test_record_of_made_up_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(operations, "RECORD", tmp_path / "record.json")
    operations.write_record(ROWS)
    record = json.loads(operations.RECORD.read_text())
    assert record == {
        "nn.functional.conv2d": {"f16": {"both": 1, "why": ["no lowering"]}},
        "sin": {"f16": {"device": 2}, "f32": {"host": 1, "why": ["the device has no f32 form"]}},
        "unique": {"i64": {"refused": 1, "why": ["a | b"]}},
    }
    text = operations.page(record)
    assert "| `sin` | device | – | host | – | the device has no f32 form |" in text
    assert "| `unique` | – | – | – | refused | a \\| b |" in text
    assert "| device | 2 | 0 | 0 | 0 |" in text


def test_what_runs_elsewhere_now_is_found():
    record = {"sin": {"f16": {"device": 2}}}
    assert not operations.changed(record, [row("sin/f16/0", device=1), row("cos/f16/0", device=1)])
    now = row("sin/f16/0", host=[("aten.sin", "")])
    assert operations.changed(record, [now]) == ["sin/f16/0: host, recorded device"]


def test_kinds():
    kinds = {
        "sin": "Pointwise, one input",
        "maximum": "Pointwise, several inputs",
        "max.reduction_with_dim": "Reductions and scans",
        "nn.functional.gelu": "Neural networks",
        "mm": "Matrix products and linear algebra",
        "index_put": "Indexing",
        "permute": "Views, copies, joins",
    }
    assert {name: operations.kind_of(name) for name in kinds} == kinds
