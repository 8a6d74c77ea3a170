# test_outcomes.py - Tests of the table of outcomes
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Which operations a refusal names, and what the table counts, on made-up runs.
"""Tests of outcomes.py."""

import collections
import json
import stat
import sys
import textwrap
import types

import outcomes

TEXT = """\
func.func @main() {
  %1 = torch.aten.sort %0 : !torch.vtensor<[2],f16> -> !torch.vtensor<[2],f16>
  %2 = torch.aten.neg %1 : !torch.vtensor<[2],f16> -> !torch.vtensor<[2],f16>
  %3 = torch.operator "torch.probe.twist"(%2) : (!torch.vtensor<[2],f16>) -> !torch.vtensor<[2],f16>
}"""
REFUSAL = """\
x.mlir:1:3: error: 'main' cannot be compiled: 2 operations are not supported
  func.func @main() {
  ^
x.mlir:2:8: note: torch.aten.sort (!torch.vtensor<[2],f16>) -> (!torch.vtensor<[2],f16>): no lowering is known for it
x.mlir:4:8: note: twisted
"""


def test_operations_that_a_refusal_blames():
    assert outcomes.blamed_operations(REFUSAL, TEXT) == {"sort", "probe.twist"}
    assert outcomes.blamed_operations("x.mlir:1:3: error: a value of type tensor<3x0xf16>", TEXT) == set()
    assert outcomes.blamed_operations("x.mlir:9:3: error: beyond the text", TEXT) == set()


def test_reasons_without_names_and_numbers():
    message = "x.mlir:2:3: error: a value of type 'tensor<3x0xf16>' has 0 elements; not supported\n"
    assert outcomes.first_reason(message) == "a value of type … has N elements; not supported"


def test_table_of_made_up_runs(tmp_path, capsys):
    names = ("a", "b", "c", "d")
    lines = [{"name": name, "mlir": TEXT, "inputs": [], "outputs": []} for name in names]
    (tmp_path / "cases.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    found = zip(names, ("right", "refused", "timeout", "skipped"))
    results = tmp_path / "results.json"
    rows = [{"case": name, "outcome": outcome, "reason": ""} for name, outcome in found]
    rows[0] |= {"device_ops": 3, "host_calls": {"aten.sort": 1}}
    results.write_text(json.dumps(rows))
    tool = tmp_path / "bin" / "spyre-compile"
    tool.parent.mkdir()
    tool.write_text(f"#!{sys.executable}\nimport sys\nsys.stderr.write({REFUSAL!r})\nsys.exit(1)\n")
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    assert outcomes.main([f"made={results}={tmp_path}", "--build", str(tmp_path)]) == 0
    table = capsys.readouterr().out
    expected = """\
        | made | 3 | 1 | 1 | 0 | 1 | 0 | 75 % |
        | `sort` | 1 | 1 | 1 | 0 | 1 | 1 |
        | `neg` | 0 | 1 | 1 | 0 | 1 | 0 |
    """
    for line in textwrap.dedent(expected).splitlines():
        assert line in table
    assert table.index("`sort`") < table.index("`neg`")


def test_host_calls_that_a_class_does_not_allow_are_blamed():
    row = {"outcome": "refused", "reason": "class 'device' does not allow the host calls: aten.sort, prims.sum"}
    case = types.SimpleNamespace(load=lambda: (types.SimpleNamespace(text=TEXT), "superdsc"))
    assert outcomes.examine("no tool", case, row)[1:] == ({"sort", "sum"}, None)


def test_table_of_calls(tmp_path, capsys):
    rows = [
        {"case": "a/0", "group": "a", "outcome": "right", "device_ops": 2, "host_calls": {}},
        {"case": "b/0", "group": "b", "outcome": "right", "device_ops": 1, "host_calls": {"aten.sort": 2}},
        {"case": "b/1", "group": "b", "outcome": "wrong", "device_ops": 1, "host_calls": {}},
        {"case": "c/0", "group": "c", "outcome": "skipped", "device_ops": None, "host_calls": None},
    ]
    (tmp_path / "calls.json").write_text(json.dumps(rows))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "spyre-compile").touch()
    assert outcomes.main([f"calls={tmp_path / 'calls.json'}", "--build", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "| calls | 3 | 2 | 0 | 1 | 0 | 1 | 67 % |" in text
    assert "| `b` | 2 | 1 | 0 | 1 | 0 | 0 | 50 % |" in text
    assert "on the device alone: `a`." in text and "`c`" not in text


def test_wrong_usage(tmp_path, capsys):
    assert outcomes.main(["bugs"]) == 2
    assert outcomes.main([f"bugs={tmp_path}/none.json={tmp_path}"]) == 2
    assert "error" in capsys.readouterr().err


def test_out_of_time_counts_as_crashed():
    count = collections.Counter(outcomes.column(outcome) for outcome in ("timeout", "crashed", "right"))
    assert count == {"crashed": 2, "right": 1}
