# test_mentions.py - Rules, remarks and their reasons have tests
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the sources of lib/ can say under a name must be said by a test: the numbers of
# rules (`L3-6: `), the names of remarks, the reasons that a remark gives. A new one
# without a test fails here. That a mention is a real test is for readers; the numbers that
# sources only compute (most of SDSC) are counted by VerifyTest.cpp.
"""Numbers of rules and names of remarks in lib/, looked for under test/."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = {path: path.read_text() for path in sorted((ROOT / "lib").rglob("*")) if path.suffix in (".cpp", ".h")}
FOLDERS = ["Compiler", "Conversion", "Dialect", "Target", "conformance", "unit"]
TESTS = {
    path: path.read_text()
    for folder in FOLDERS
    for path in sorted((ROOT / "test" / folder).rglob("*"))
    if path.suffix in (".mlir", ".test", ".cpp", ".py") and path.name != pathlib.Path(__file__).name
}
RULE = re.compile(r"\b(?:L[0-9]|KTIR|SDSC)-[0-9]+\b")
# Reasons that no program of L3 can bring about, and why.
OUT_OF_REACH = {
    "it leaves the operations of the device": "a result is an argument of the function by then, which has a place",
}


def names(pattern):
    """What the group of `pattern` is in the sources -> the first of them."""
    found = {}
    for path, text in SOURCES.items():
        for match in re.finditer(pattern, text):
            found.setdefault(match[1], path.relative_to(ROOT).as_posix())
    return found


RULES = names(f"({RULE.pattern})")
REMARKS = names(r'RemarkOpts::name\("(\w+)"\)')
PRECISION = names(r'(?:markClosed|setHalf)\([^;"]*"([\w-]+)"\)') | names(r'by rule ([\w-]+)"')
REASONS = {
    reason: path.relative_to(ROOT).as_posix()
    for path, text in SOURCES.items()
    for body in re.findall(r"^std::string describe\(const ResidencyObstacle.*?^}", text, re.S | re.M)
    for reason in re.findall(r'"([^"\n]*)"', body)
    if len(reason) > 8  # not the words between numbers
} | names(r'(?:remark|refuse)\(\w+, "([^"]+)"\)')


def is_mentioned(pattern):
    return any(re.search(pattern, text) for text in TESTS.values())


def test_something_is_found():
    """The patterns above still fit the sources."""
    assert {"L2-0", "L3-8", "KTIR-6"} <= set(RULES)
    assert {"NotInLX", "dl16", "f32"} <= set(REMARKS)
    assert {"softmax", "movement", "no-f32-form", "f64-statistics"} <= set(PRECISION)
    assert {"LX is full", "its layout is padded"} <= set(REASONS)
    assert set(OUT_OF_REACH) <= set(REASONS)


@pytest.mark.parametrize("rule", sorted(RULES))
def test_rule(rule):
    assert is_mentioned(rf"\b{rule}\b"), f"{rule} of {RULES[rule]} is in no test"


@pytest.mark.parametrize("name", sorted(REMARKS))
def test_remark(name):
    """As it is printed: `remark: [Passed] NAME |`, in a CHECK line."""
    assert is_mentioned(rf"remark: .*\b{name}\b"), f"no test shows the remark {name} of {REMARKS[name]}"


@pytest.mark.parametrize("rule", sorted(PRECISION))
def test_precision_rule(rule):
    assert is_mentioned(rf"by rule {rule}\b"), f"no test shows a remark by rule {rule} of {PRECISION[rule]}"


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_reason(reason):
    shown = is_mentioned(r"(remark|has to be in LX).*" + re.escape(reason.strip()))
    if reason in OUT_OF_REACH:
        assert not shown, f"'{reason}' has a test; take it out of OUT_OF_REACH"
    else:
        assert shown, f"no test shows the reason '{reason}' of {REASONS[reason]}"
