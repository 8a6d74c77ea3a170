# test_shuffle.py - Relayouts between scratchpads against the reference's descriptor
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The attention bundle moves its scores from one division to another. The L3 text is
# made from that descriptor's sizes, divisions and addresses; what is emitted for it
# must be the descriptor again.
"""`spyre.shuffle` on buffers with a distribution is the reference's `shuffle`."""

import json
import re

import pytest
from lib.built import LARGE, run, tool

from lib import sdsccompare


def reference():
    for path in sorted((LARGE / "attention_1x32x512x128").glob("sdsc_*.json")):
        descriptor = json.loads(path.read_text())
        for key, root in descriptor.items():
            if key.endswith("_shuffle"):
                root.pop("debug_handle_")
                return root
    raise AssertionError("the attention bundle has no shuffle")


def node_of(root, number):
    return root["dscs_"][0]["shuffle"]["scheduleTree_"][number]


def slices_of(node, dims):
    """Slices a dim, and per core the slice of each."""
    cores = node["coordinates_"]["coreIdToWkSlice_"]
    table = [[cores[str(core)][dim] for dim in dims] for core in range(len(cores))]
    return [max(column) + 1 for column in zip(*table)], table


def affine(column):
    """(c floordiv a) mod b for the column of a table of slices."""
    count = max(column) + 1
    if count == 1:
        return "0"
    step = column.index(1)
    text = f"(c floordiv {step}) mod {count}"
    assert column == [core // step % count for core in range(len(column))]
    return text


def l3(root):
    dsc = root["dscs_"][0]["shuffle"]
    dims = list(root["numWkSlicesPerDim_"])
    sizes = [dsc["N_"][f"{dim}_"] for dim in dims]
    assert node_of(root, 0)["layoutDimOrder_"] == dims[::-1]
    # Row-major with the stick's count inside: a unit dim in front keeps the default order from moving a dim.
    shape = "x".join(str(size) for size in [1, *sizes])
    device = [*sizes[:-1], sizes[-1] // 64, 1, 64]
    buffer = f"!spyre.buffer<{shape}xf16, #spyre.layout<{device}, order [0, 1, 2, 3], SEN169_FP16>, lx>"
    lines = [f"!b = {buffer}", "func.func @sdsc_bundle() {"]
    for number in (0, 1):
        counts, table = slices_of(node_of(root, number), dims)
        maps = ", ".join(affine(list(column)) for column in zip(*table))
        address = node_of(root, number)["startAddressCoreCorelet_"]["data_"]["[0, 0, 0]"]
        lines.append(
            f"  %b{number} = spyre.alloc lx({address}) holding "
            f"<cores {len(table)}, slices {[1, *counts]}, (c) -> (0, {maps})> : !b"
        )
    space = ", ".join(
        f"d{i} = {size} / {root['numWkSlicesPerDim_'][dim]}" for i, (size, dim) in enumerate(zip(sizes, dims))
    )
    index = ", ".join(["0", *[f"d{i}" for i in range(len(dims))]])
    lines.append(f"  spyre.shuffle ({space}) ins(%b0[{index}]) outs(%b1[{index}]) : !b -> !b")
    return "\n".join([*lines, "  return", "}", ""])


def emit(text, tmp_path):
    (tmp_path / "in.mlir").write_text(text)
    done = run(tool("spyre-opt"), tmp_path / "in.mlir", "--convert-spyre-to-superdsc", "-o", tmp_path / "out.mlir")
    if done.code:
        return done, None
    return run(tool("spyre-translate"), "--sdsc-to-bundle", tmp_path / "out.mlir", "-o", tmp_path / "bundle"), (
        tmp_path / "bundle"
    )


def test_relayout_is_the_references_shuffle(tmp_path):
    root = reference()
    done, bundle = emit(l3(root), tmp_path)
    assert done.code == 0, done.err
    ours = next(iter(json.loads((bundle / "sdsc_0.json").read_text()).values()))
    ours.pop("debug_handle_", None)  # ours names the text above
    assert sdsccompare.descriptor_differences(ours, root) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.replace("slices [1, 1, 16, 2]", "slices [1, 1, 16, 4]"), "are not all held by a core"),
        (lambda t: t.replace("(c floordiv 16) mod 2", "0"), "are not all held by a core"),
        (lambda t: t.replace("d1 = 512 / 32", "d1 = 512 / 16"), "the operation runs on 16"),
        (lambda t: t.replace("slices [1, 1, 16, 2]", "slices [1, 3, 16, 2]"), "are not all held by a core|no 3 equal"),
    ],
)
def test_impossible_relayouts_are_refused(tmp_path, change, message):
    text = l3(reference())
    assert change(text) != text
    done, _ = emit(change(text), tmp_path)
    assert done.code == 1
    assert re.search(message, done.err), done.err
