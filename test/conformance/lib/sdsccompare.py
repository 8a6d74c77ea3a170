# sdsccompare.py - Equality of bundles with reference files
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Descriptors are compared as parsed JSON (lists ordered, objects unordered,
# the encoded values of constants loosely), `bundle.mlir` by structure: names
# and order of values, attributes, maps, not white space. For cases with known
# faults of the reference: which differences a fault explains (numbers as in
# docs/formats/superdsc-rules.md, section 6).
"""Differences between an emitted bundle and its reference."""

import json
import re
import struct

from . import formats


def differences(got, expected, path=""):
    """Paths at which two parsed JSON values differ, as (path, got, expected)."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in [*expected, *[k for k in got if k not in expected]]:
            if key not in got:
                yield f"{path}/{key}", "missing", shorten(expected[key])
            elif key not in expected:
                yield f"{path}/{key}", shorten(got[key]), "absent"
            else:
                yield from differences(got[key], expected[key], f"{path}/{key}")
    elif isinstance(expected, list) and isinstance(got, list):
        for position, (left, right) in enumerate(zip(got, expected)):
            yield from differences(left, right, f"{path}/{position}")
        if len(got) != len(expected):
            yield f"{path}", f"{len(got)} entries", f"{len(expected)} entries"
    elif type(got) is not type(expected) or got != expected:
        yield path, shorten(got), shorten(expected)


def shorten(value):
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


CONSTANT = re.compile(r"^(.*/constantInfo_/[^/]+)/data_/data_/\[0, 0, 0\]/0$")


def is_loose_constant(path, got, expected, descriptor):
    """True if two encodings of a constant are neighbours: the reference's rounding is not known."""
    match = CONSTANT.match(path)
    if not match:
        return False
    try:
        got, expected = int(json.loads(got)), int(json.loads(expected))
    except (ValueError, TypeError):
        return False
    entry = descriptor
    for key in match[1].split("/")[1:]:
        entry = entry[int(key)] if isinstance(entry, list) else entry[key]
    if entry["dataFormat_"] == "IEEE_FP32":
        decode = lambda bits: struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0]  # noqa: E731
        step = 2.0**-22
    else:
        decode = lambda bits: float(formats.decode_dl16(bits & 0xFFFF))  # noqa: E731
        step = 2.0**-8
    left, right = decode(got), decode(expected)
    if left == right:
        return True
    big = float(formats.DL16_MAX)
    if abs(left) >= big and abs(right) >= big:
        return (left > 0) == (right > 0)  # codes of the largest value and of infinity
    return abs(left - right) <= step * max(abs(left), abs(right))


def descriptor_differences(got, expected):
    return [d for d in differences(got, expected) if not is_loose_constant(*d, expected)]


# --- bundle.mlir -------------------------------------------------------------

TOKEN = re.compile(r'"[^"]*"|[%#!@]?[\w.$-]+|->|[^\s\w]')


def bundle_lines(text):
    """The lines of a bundle.mlir as token lists, without comments, white space and empty lines."""
    result = []
    for line in text.splitlines():
        tokens = TOKEN.findall(line.split("//")[0])
        if tokens:
            result.append(canonical(tokens))
    return result


def canonical(tokens):
    """Attribute names without quotes, attribute dictionaries in alphabetic order."""
    tokens = [
        t.strip('"') if t.startswith('"') and i + 1 < len(tokens) and tokens[i + 1] == "=" else t
        for i, t in enumerate(tokens)
    ]
    if "{" not in tokens or "}" not in tokens or tokens.index("{") > len(tokens) - 1 - tokens[::-1].index("}"):
        return tokens
    start, end = tokens.index("{"), len(tokens) - 1 - tokens[::-1].index("}")
    entries, depth, entry = [], 0, []
    for token in tokens[start + 1 : end]:
        if token == "," and depth == 0:
            entries.append(entry)
            entry = []
            continue
        depth += (token in "([{<") - (token in ")]}>")
        entry.append(token)
    entries.append(entry)
    flat = []
    for entry in sorted(entries):
        flat += [*entry, ","] if entry else []
    return tokens[: start + 1] + flat[:-1] + tokens[end:]


def bundle_differences(got, expected):
    """(line number, got, expected) of lines that differ in structure."""
    left, right = bundle_lines(got), bundle_lines(expected)
    result = []
    for number, (a, b) in enumerate(zip(left, right)):
        if a != b:
            result.append((number + 1, " ".join(a), " ".join(b)))
    if len(left) != len(right):
        result.append((min(len(left), len(right)) + 1, f"{len(left)} lines", f"{len(right)} lines"))
    return result


# --- known faults ------------------------------------------------------------

ADDRESS = r"startAddressCoreCorelet_|backGapCore_"
# Fault -> what of a descriptor it may change.
EXPLAINS = {
    2: ADDRESS,
    3: ADDRESS,
    4: ADDRESS,
    5: r"/maskingConstId_$",
    6: r".",
    8: r"/primaryDsInfo_/|/coordinates_/|/dsType_|/layoutDimOrder_|/maxDimSizes_|/scale_|" + ADDRESS,
    9: r"/maxDimSizes_",
    10: r"/N_/|/dataStageParam_/|/coordinateMasking_|/maskingConstId_|/coordinates_/|/numWkSlices|/coreIdToWkSlice_|"
    + ADDRESS,
    12: r".",
}
# Faults that show in bundle.mlir.
IN_BUNDLE = {2, 3, 4, 6, 12}


def unexplained(paths, faults):
    """The first path that none of the faults explains, or None."""
    patterns = [re.compile(EXPLAINS[f]) for f in faults if f in EXPLAINS]
    for path in paths:
        if not any(pattern.search(path) for pattern in patterns):
            return path
    return None
