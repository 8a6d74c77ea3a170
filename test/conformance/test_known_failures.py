# test_known_failures.py - Every reported kind of mistake has a program with the right value
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ROWS is the list of what fails for users of comparable stacks, a row a kind of
# mistake; groups 2 to 9 are those that operations of the first two tiers can
# express. Cases of test/data/bugs and test/data/failures name the row that they
# belong to. A row without a case that asks for a value needs a reason here; the
# numbers themselves are checked by programs.py on the two folders.
"""The rows of the list of known failures and the cases that test them."""

import collections
import gzip
import json

import pytest
from lib.built import DATA

# Group -> row (its first id) -> what went wrong, in a few words.
ROWS = {
    2: {
        "#2803": "offset lost when a dim beside the stick has a step",
        "#3237": "the second slice of equal shape gave the first one's data",
        "#4260": "a coordinate with a step over sticks doubled the footprint",
        "#2595": "slices that start inside a stick",
        "T C flatten": "flattening across a partly filled stick",
        "#1796": "contiguous() of a transpose",
        "#1234": "halves of a stick turned and joined",
        "#990": "dims of size 1 lost their offset",
        "#1470": "expanded dims read back as raw memory",
        "#1973": "unfold, unbind, repeat",
    },
    3: {
        "#501": "a [.,.,1] operand beside a padded last dim",
        "#4212": "attention reshaped into a projection",
        "#2329": "attention on sliced keys and values",
        "#2768": "attention blocks: loops of size 1",
        "#3845": "an operation and the buffer that it writes chose different layouts",
        "#2197": "layouts compared by equality, not compatibility",
        "#1659": "buffers reused without regard to their layout",
        "#4238": "a widening cast in an odd layout, then a row reduction",
        "#1813": "norms of transposed inputs",
        "#2308": "16 and 32 bit operands of one operation",
        "#1675": "order of broadcast dims in a layout",
        "T (cost)": "sums of transposes move the least",
    },
    4: {
        "#4342": "NaN in lanes past the size reached a product",
        "#1706": "means over a padded dim",
        "#3248": "attention with a number of keys that fits no stick",
        "#1006": "the neutral element depends on the reduction",
        "#4013": "f32 operations on a padded dim",
        "#1502": "products whose inner size fits no stick",
        "#2721": "transposed operands whose inner size fits no stick",
        "#2194": "offsets of padded product operands",
        "#2259": "joins with an empty input",
    },
    5: {
        "#1996": "f16 to f32 filled half of the lanes",
        "#3604": "f32 to f16 of fewer lanes than a stick",
        "#3999": "odd numbers of f32 sticks",
        "#2341": "f32 to bf16 and f16",
        "#2507": "the largest numbers over a round trip",
        "#2130": "integers beyond 2^24",
    },
    6: {
        "#4206": "products with a side of 1",
        "#1194": "products with an inner size of 1",
        "#2588": "operands taken for shared weights",
        "#1793": "tall and skinny products",
        "#1247": "products of distinct sizes",
        "T lx": "einsum, tiled operands and casts before products",
    },
    7: {
        "#1707": "reductions over all dims",
        "#141": "row sums of many rows",
    },
    8: {
        "#3417": "many rows: the search of divisions gave up",
        "#1379": "vocabulary projections",
        "#3339": "fewer sticks than cores",
        "#555": "divisions of the result applied to every operand",
        "#4090": "padded copies whose division was restricted late",
        "#2829": "projections of one token",
        "T hints": "wrong hints of the user are named",
    },
    9: {
        "#2062": "producer and consumer divide one LX buffer differently",
        "#2688": "offsets of slices of values in LX",
        "#2005": "more than LX holds",
        "#2298": "divisions of producer and consumer that do not meet",
        "#2385": "several consumers of one value in LX",
        "#2415": "norms with operands in LX",
    },
}

# Rows for which no program has to bring out a value, and why.
REASONS = {
    "#2130": "integer arithmetic is outside the first two tiers: its cases may end in a named refusal, never in another number",
    "T hints": "a torch-dialect program carries no hints; its cases only check the products that hints would divide",
}

ALL = [row for rows in ROWS.values() for row in rows]


@pytest.fixture(scope="module")
def cases():
    """row -> cases, without their arrays."""
    result = collections.defaultdict(list)
    for folder in ("bugs", "failures"):
        for file in sorted((DATA / folder).glob("cases*.jsonl.gz")):
            with gzip.open(file) as lines:
                for line in lines:
                    case = json.loads(line)
                    kept = {key: case.get(key) for key in ("name", "section", "expect")}
                    result[case["row"]].append({**kept, "folder": folder})
    return result


@pytest.mark.parametrize("row", ALL)
def test_row_has_values_or_a_reason(row, cases):
    values = [case["name"] for case in cases[row] if case["expect"] == "value"]
    assert values or row in REASONS, f"no case of row {row} asks for a value, and no reason says why"


@pytest.mark.parametrize("row", ALL)
def test_row_has_neighbours(row, cases):
    """Not only what was reported: other sizes, positions and dtypes."""
    assert sum(case["folder"] == "failures" for case in cases[row]) >= 3 or row in REASONS


def test_neighbours_belong_to_a_row(cases):
    for section, rows in ROWS.items():
        for row in rows:
            assert {case["section"] for case in cases[row] if case["folder"] == "failures"} <= {section}, row
    unknown = {row for row in cases for case in cases[row] if case["folder"] == "failures"} - set(ALL)
    assert not unknown


def test_reasons_are_of_rows():
    assert set(REASONS) <= set(ALL)
    assert len(set(ALL)) == len(ALL)
