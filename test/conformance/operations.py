#!/usr/bin/env python3
# operations.py - Which operations of PyTorch run where, for users
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Two steps. `--record` reduces what runs of opinfo.py with `--json` found (samples
# of PyTorch's operator database, by dtype) to docs/operations.json: a line an
# operation, with counts and the compiler's own reasons for host calls. Without it,
# docs/operations.md is written from that file. Nothing on the page is said by hand
# but the introduction and the kinds, which are patterns of names.
"""Record what opinfo.py measured, and write docs/operations.md from the record."""

import argparse
import collections
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD = ROOT / "docs" / "operations.json"
PAGE = ROOT / "docs" / "operations.md"
DTYPES = ("f16", "bf16", "f32", "i64")

# Kinds of operations, in the page's order: title and what their names match. The first fits.
KINDS = [
    (
        "Neural networks",
        r"nn\.functional\.|native_|_native|_batch_norm|(log_)?softmax|_softmax|_upsample|grid_sampler|max_pool|torch\.ops\.aten\._",
    ),
    ("Fourier transforms and signals", r"fft\.|signal\.|stft|istft"),
    (
        "Matrix products and linear algebra",
        r"linalg\.|(add|ba)?d?d?(bmm|mm|mv)\b|addr$|matmul|__rmatmul__|einsum|dot|inner|outer|kron|tensordot|vdot|chol|lu(_|$)|qr$|svd|pca|"
        r"pinverse|geqrf|ormqr|triangular_solve|logdet|trace|cdist|dist$|cov|corrcoef|cross|matrix_exp|torch\._scaled|sparse\.|renorm",
    ),
    (
        "Reductions and scans",
        r"(all|any|a?(min|max)(max)?|amax|amin|aminmax|argmax|argmin|mean|nanmean|nansum|sum|prod|std|var|std_mean|var_mean|norm|"
        r"logsumexp|count_nonzero|median|nanmedian|mode|(nan)?quantile|hash_tensor|sum_to_size|_segment_reduce)(\.(?!binary).*)?$|"
        r"cum|logcum|masked\.|trapz|trapezoid|diff$|gradient",
    ),
    (
        "Sorting, searching, counting",
        r"(arg|m)?sort|topk|kthvalue|unique|searchsorted|bucketize|hist|bincount|nonzero|argwhere|isin$|allclose|equal$",
    ),
    (
        "Indexing",
        r"__getitem__|gather|scatter|index_|_unsafe_masked|masked_|take|put$|select|embedding|where$|\w+_scatter|slice|narrow|unravel|"
        r"tril$|triu$|combinations|cartesian",
    ),
    (
        "Views, copies, joins",
        r"view|reshape|resize|flatten|unflatten|ravel|squeeze|unsqueeze|expand|broadcast|permute|transpose|[tTH]$|m[TH]$|t_copy|movedim|alias|"
        r"as_strided|unfold|split|tensor_split|[hvd]split|unsafe_|chunk|_chunk|unbind|cat|[hvd]?stack|column_stack|block_diag|repeat|tile|flip|"
        r"roll|rot90|diag|constant_pad|clone|contiguous|atleast|meshgrid|to$|to_sparse|item$|resolve|real$|conj$",
    ),
    (
        "Making tensors, random numbers",
        r"(new_)?(empty|zeros|ones|full|rand|randn|randint)|arange|linspace|logspace|eye|scalar_tensor|tri[lu]_indices|fill|zero_|bernoulli|"
        r"cauchy|exponential|geometric|log_normal|multinomial|normal|uniform",
    ),
    (
        "Casts",
        r"(bfloat16|bool|byte|cdouble|cfloat|chalf|char|double|float|half|int|long|short)$",
    ),
    (
        "Pointwise, several inputs",
        r"__r\w+__|add|sub|mul|div|true_divide|floor_divide|rsub|pow|float_power|fmod|remainder|atan2|(bitwise|logical)_(and|or|xor|left|right)|"
        r"clamp|complex|copysign|eq$|ne$|ge$|gt$|le$|lt$|fmax|fmin|(max|min)(imum|\.binary)|gcd|lcm|heaviside|hypot|igamma|isclose|jiterator_(b|[24])|"
        r"ldexp|logaddexp|nextafter|polar|xlogy|lerp|special\.(\w+_polynomial|xlog|zeta)",
    ),
    ("Pointwise, one input", r""),
]
INTRODUCTION = """\
# Which operations run where

Written by `test/conformance/operations.py` from runs of PyTorch's own operator database on the emulator: up to {samples} samples of each of {operations} operations,
for each of the types {dtypes}. Every number is compared with PyTorch's. Shapes, views and other arguments of a program may decide otherwise than these
samples; `program.explain()` and `spyre_mlir.dynamo.summary()` say what runs where in yours ([Python](python.md)).

- **device**: the samples ran on the device alone.
- **host**: the operation is computed by PyTorch on the host, as a step of the same compiled program ([how](developer/host.md)).
- **both**: a part on the device and a part on the host, or some samples here and some there.
- **refused**: a sample of this type is refused with a report; with `torch.compile` PyTorch runs it instead.
- **wrong**: a number of a sample was beyond its bound. That is a fault.
- **–**: the database has no sample of this type that a program can take.

Numbers on the device: f16 and bf16 have the device's 16-bit format, with a bit of fraction less than f16 and a smaller range than bf16; i64 is stored in 32 bits and checked when copied in; what a program
takes or returns in f32 is computed with f32's accuracy ([numbers](developer/numerics.md#products-of-f32)). Reasons are the compiler's own
words for the samples' host calls and refusals, the most frequent of each type.

| samples | {head} |
|---|{rule}
{totals}
"""


def place_of(row):
    """Where a sample ran, or what became of it: device, host, both, refused, wrong."""
    if row["outcome"] != "right":
        return "refused" if row["outcome"] == "refused" else "wrong"
    calls = sum((row.get("host_calls") or {}).values())
    return "both" if calls and row.get("device_ops") else "host" if calls else "device"


def plain_reason(text):
    """A reason without types, names of values and places."""
    text = re.sub(r"^\S+:\d+:\d+: ", "", text).removeprefix("error: ")
    text = re.sub(r"^(?:spyre|torch)\.[\w.]+ \(.*?\) -> \(.*?\): ", "", text)
    text = re.sub(r"'?!torch\.vtensor<[^>]*>'?", "…", text).replace("of type … ", "")
    text = re.sub(r"'([^']*)'", r"\1", text)
    return " ".join(text.split())[:160]


def reduce_rows(rows):
    """Operation -> dtype -> {places, reasons}."""
    record = collections.defaultdict(dict)
    for row in rows:
        if row["outcome"] == "skipped":
            continue
        name, dtype, _ = row["case"].rsplit("/", 2)
        entry = record[name].setdefault(dtype, {"places": collections.Counter(), "why": collections.Counter()})
        place = place_of(row)
        entry["places"][place] += 1
        if place == "refused":
            entry["why"][plain_reason(row["reason"])] += 1
        elif place != "device":
            entry["why"].update({plain_reason(why) for _, why, _ in (row.get("stats") or {}).get("host_reasons") or []})
    return record


def write_record(rows):
    """Places in the order of their names, the two most frequent reasons of each type; a line an operation."""
    lines = []
    for name, dtypes in sorted(reduce_rows(rows).items()):
        entries = {}
        for dtype in DTYPES:
            if dtype in dtypes:
                places, why = dtypes[dtype]["places"], dtypes[dtype]["why"]
                entries[dtype] = dict(sorted(places.items()))
                if why:
                    entries[dtype]["why"] = [
                        text for text, _ in sorted(why.items(), key=lambda item: (-item[1], item[0]))[:2]
                    ]
        lines.append(f" {json.dumps(name)}: {json.dumps(entries, ensure_ascii=False)}")
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def places(entry):
    return {place: count for place, count in entry.items() if place != "why"}


def cell(entry):
    """One word for a type's samples."""
    if not entry:
        return "–"
    found = set(places(entry))
    if found & {"refused", "wrong"}:
        return "refused" if "refused" in found else "wrong"
    return found.pop() if len(found) == 1 else "both"


def kind_of(name):
    return next(title for title, pattern in KINDS if re.match(rf"(?:{pattern})", name))


def row_of(name, entries):
    """The row of an operation; a reason names its types if it is not all of theirs."""
    reasons = collections.defaultdict(list)
    for dtype in DTYPES:
        for text in entries.get(dtype, {}).get("why", [])[:1]:
            reasons[text].append(dtype)
    concerned = [dtype for dtype in DTYPES if cell(entries.get(dtype)) not in ("–", "device")]
    texts = [text if types == concerned else f"{', '.join(types)}: {text}" for text, types in reasons.items()]
    cells = [cell(entries.get(dtype)) for dtype in DTYPES]
    return f"| `{name}` | {' | '.join(cells)} | {'; '.join(texts).replace('|', chr(92) + '|')} |"


def page(record):
    counts = {dtype: collections.Counter() for dtype in DTYPES}
    for entries in record.values():
        for dtype, entry in entries.items():
            counts[dtype].update(places(entry))
    names = ("device", "both", "host", "refused", "wrong")
    totals = "\n".join(f"| {name} | {' | '.join(str(counts[dtype][name]) for dtype in DTYPES)} |" for name in names)
    text = INTRODUCTION.format(
        samples=max(sum(places(e).values()) for entries in record.values() for e in entries.values()),
        operations=len(record),
        dtypes=", ".join(DTYPES),
        head=" | ".join(DTYPES),
        rule="---:|" * len(DTYPES),
        totals=totals,
    )
    kinds = collections.defaultdict(list)
    for name in record:
        kinds[kind_of(name)].append(name)
    for title, _ in sorted(KINDS, key=lambda kind: kind[0]):
        if kinds[title]:
            text += f"\n## {title}\n\n| operation | {' | '.join(DTYPES)} | why |\n|---|{'---|' * len(DTYPES)}---|\n"
            text += "\n".join(row_of(name, record[name]) for name in sorted(kinds[title], key=str.lower)) + "\n"
    return text


def changed(record, rows):
    """Samples that ran elsewhere than the record has it of their operation and type."""
    return [
        f"{row['case']}: {place_of(row)}, recorded {cell(record[name][dtype])}"
        for row in rows
        if row["outcome"] != "skipped"
        for name, dtype, _ in [row["case"].rsplit("/", 2)]
        if dtype in record.get(name, {}) and place_of(row) not in places(record[name][dtype])
    ]


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="operations.py", description=__doc__, epilog="example: operations.py --record build/opinfo.json"
    )
    parser.add_argument("--record", nargs="+", type=pathlib.Path, metavar="RESULTS.json", help="results of opinfo.py")
    options = parser.parse_args(argv)
    try:
        if options.record:
            rows = [row for path in options.record for row in json.loads(path.read_text())]
            write_record({row["case"]: row for row in rows}.values())  # a case that two runs have counts once
        PAGE.write_text(page(json.loads(RECORD.read_text())))
    except (OSError, ValueError, KeyError) as error:
        print(f"operations.py: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
