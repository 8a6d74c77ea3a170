# test_frontend.py - The model of the reference front end against the reference files
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# lib/frontend.py judges random operations for which there are no reference files;
# here it is judged itself, on all cases that have some: both halves alone (layout and
# alignment; descriptor from the aligned form) and together. No tool is run.
"""frontend.py on the 52 cases and the 300 random operations."""

import gzip
import json

import pytest
import superdsc

from lib import frontend, frontend_align, frontend_dims, harness, sdsccompare

DATA = harness.DATA / "superdsc"


def references():
    """(case, descriptors, bundle text) of all reference pairs."""
    with gzip.open(DATA / "random_ops.json.gz", "rt") as file:
        for entry in json.load(file):
            sdsc = entry["sdsc"]
            yield entry["case"], sdsc if isinstance(sdsc, list) else [sdsc], entry["bundle"]
    for folder in sorted((DATA / "cases").iterdir()):
        case = harness.read_json(folder / "case.json")
        case.setdefault("name", folder.name)
        yield case, *superdsc.read_bundle(folder)


REFERENCES = list(references())


def operations(specs):
    for spec in specs:
        if spec["kind"] == "loop":
            yield from operations(spec["body"])
        else:
            yield spec


def differences(case, descriptors, text):
    bundle = frontend.model(case)
    assert len(bundle.descriptors) == len(descriptors)
    found = []
    for number, (got, expected) in enumerate(zip(bundle.descriptors, descriptors)):
        found += [f"sdsc_{number}{path}" for path, _, _ in sdsccompare.descriptor_differences(got, expected)]
    lines = sdsccompare.bundle_differences(bundle.text, text) if bundle.text is not None else []
    return found, lines


def test_all_references_are_there():
    assert len(REFERENCES) == 352


def test_layouts_and_raw_coordinates():
    for case, _, _ in REFERENCES:
        for spec in operations(case["specs"]):
            ranges = {entry["sym"]: entry["size"] for entry in spec["host"]["ranges"]}
            names = [argument["name"] for argument in spec["args"] if argument["name"]]
            for argument, tensor in zip(spec["args"], spec["host"]["tensors"]):
                layout = tensor["layout_device_size"], tensor["layout_stride_map"]
                elements = frontend.elements_of(argument)
                host = tensor["host_size"], tensor["host_stride"], tensor["dim_order"]
                assert frontend.default_layout(*host, elements) == layout, case["name"]
                if 12 not in case["faults"]:
                    raw = frontend_align.raw_coordinates(tensor["index"], ranges, *layout, names)
                    assert [c.text() for c in raw] == tensor["raw_device_coordinates"], case["name"]


def test_alignment():
    for case, _, _ in REFERENCES:
        if 12 in case["faults"]:
            continue
        for spec in operations(case["specs"]):
            symbols, accesses = frontend.align_op(spec)
            expected = [(e["sym"], e["size"], e["split"]) for e in spec["iteration_space"]]
            assert [(s.name, s.size, s.split) for s in symbols] == expected, case["name"]
            for argument, access in zip(spec["args"], accesses):
                assert access.sizes == argument["device_size"], case["name"]
                assert [c.text() for c in access.coordinates] == argument["device_coordinates"], case["name"]


def test_descriptor_from_the_aligned_form():
    """The second half alone, on the aligned form that the data give."""
    for case, descriptors, _ in REFERENCES:
        if case["faults"] or case["specs"][0]["kind"] == "loop":
            continue
        for spec, descriptor in zip(case["specs"], descriptors):
            symbols, accesses = frontend.aligned_of_case(spec)
            formats = [argument["device_dtype"] for argument in spec["args"]]
            k_fast = case["config"]["core_id_k_fast_emission"]
            described = frontend_dims.describe(spec, symbols, accesses, formats, k_fast)
            dsc = next(iter(next(iter(descriptor.values()))["dscs_"][0].values()))
            sizes = {f"{dim.name}_": dim.size for dim in described.dims}
            assert {"name_": "n", **sizes} == dsc["N_"], case["name"]
            for tensor, node in zip(described.tensors, dsc["scheduleTree_"]):
                assert tensor.order == node["layoutDimOrder_"], case["name"]


@pytest.mark.parametrize("chunk", range(4))
def test_bundles_without_faults_are_equal(chunk):
    for case, descriptors, text in REFERENCES[chunk::4]:
        if not case["faults"]:
            assert differences(case, descriptors, text) == ([], []), case["name"]


def test_faults_are_not_modelled():
    """A case with faults differs in what they name and only there, or the model says Unknown."""
    unknown = set()
    for case, descriptors, text in REFERENCES:
        faults = case["faults"]
        if not faults:
            continue
        try:
            found, lines = differences(case, descriptors, text)
        except frontend.Unknown:
            unknown |= set(faults)
            continue
        assert sdsccompare.unexplained(found, faults) is None, case["name"]
        assert not lines or set(faults) & sdsccompare.IN_BUNDLE, case["name"]
        if set(faults) & {2, 3, 5}:
            assert found or lines, case["name"]
    assert unknown <= {8, 10}


def test_what_the_text_leaves_open_is_unknown():
    case = next(case for case, _, _ in REFERENCES if case["faults"] == [8])
    with pytest.raises(frontend.Unknown, match="two-dimensional stick"):
        frontend.model(case)
    case = next(case for case, _, _ in REFERENCES if case["faults"] == [4])
    assert frontend.model(case).text is None
