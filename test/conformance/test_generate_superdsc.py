# test_generate_superdsc.py - The generator of random operations, and exact comparison
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Same seed, same file; every kind gives cases that the runner can read; an access is
# what the drawn operands say, checked by enumeration; results of single operations
# are compared exactly. No tool is run.
"""generate_superdsc.py and lib/strict.py."""

import argparse
import gzip
import importlib.util
import json
import math

import generate_superdsc
import numpy as np
import pytest
import superdsc

from lib import evaluate, formats, frontend, harness, l3text, neutral, neutral_ops, strict

KINDS = list(generate_superdsc.KINDS)
# The fuzzer has the name of the runner that it uses.
SPEC = importlib.util.spec_from_file_location("fuzz_superdsc", harness.REPOSITORY / "test" / "fuzz" / "superdsc.py")
fuzz = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(fuzz)


def cases(kind, count, seed=5):
    return [generate_superdsc.make(seed, number, {kind: 1}) for number in range(count)]


def test_the_same_seed_gives_the_same_file(tmp_path):
    files = [tmp_path / f"{n}.json.gz" for n in range(3)]
    for file, seed in zip(files, (1, 1, 2)):
        assert generate_superdsc.main(["--seed", str(seed), "--count", "20", "--out", str(file)]) == 0
    first, again, other = [file.read_bytes() for file in files]
    assert first == again != other
    assert len(json.loads(gzip.decompress(first))) == 20


def test_a_case_does_not_depend_on_the_others():
    whole = list(generate_superdsc.entries(9, 12))
    assert list(generate_superdsc.entries(9, 5, start=7)) == whole[7:]


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_can_be_read_and_evaluated(kind):
    known = 0
    for case in cases(kind, 12):
        entry = json.loads(json.dumps(generate_superdsc.entry_of(case)))
        known += "sdsc" in entry
        assert ("sdsc" in entry) != ("unknown" in entry)
        program = l3text.runnable(neutral.build_program(entry["case"]))
        assert 1 <= program.cores() <= 32
        inputs, expected = evaluate.run_arrays(program, 3)
        assert inputs and expected
        for values, written, _ in expected.values():
            assert written.any() and not np.isnan(values[written]).any(), case["name"]
    assert known >= (0 if kind == "fp8matmul" else 6)


def test_kinds_option():
    assert list(generate_superdsc.parse_kinds("cast,topk")) == ["cast", "topk"]
    assert "gather" not in generate_superdsc.parse_kinds("-gather")
    with pytest.raises(argparse.ArgumentTypeError, match="no kind 'nonsense'"):
        generate_superdsc.parse_kinds("nonsense")


def test_addresses_are_those_of_the_first_elements():
    """Without a loop or LX every core starts at the device coordinates of its slice's first element."""
    checked = 0
    for kind in ("pointwise", "identity", "matmul", "reduction"):
        for case in cases(kind, 15):
            case["config"]["symbolic_args"] = False
            spec = case["specs"][0]
            try:
                bundle = frontend.model(case)
            except frontend.Unknown:
                continue
            root = next(iter(bundle.descriptors[0].values()))
            dsc = next(iter(root["dscs_"][0].values()))
            symbols, _ = frontend.align_op(spec)
            if [s.name for s in symbols] != [r["sym"] for r in spec["host"]["ranges"]]:
                continue
            names = list(root["numWkSlicesPerDim_"])[: len(symbols)]
            program = neutral.build_program(case)
            operands = next(program.operations()).operands
            for node, operand, argument in zip(dsc["scheduleTree_"], operands, spec["args"]):
                if "lx" in argument["allocation"]:
                    continue
                base = next(iter(argument["allocation"].values()))
                buffer = program.buffers[operand.buffer]
                for core, slices in root["coreIdToWkSlice_"].items():
                    start = [
                        slices[name] * (dsc["N_"][f"{name}_"] // root["numWkSlicesPerDim_"][name]) for name in names
                    ]
                    host = [e.evaluate(start) for e in operand.coordinates]
                    address = base + byte_offset(buffer, host)
                    assert int(node["startAddressCoreCorelet_"]["data_"][f"[{core}, 0, 0]"]) == address, case["name"]
                    checked += 1
    assert checked > 500


def byte_offset(buffer, host):
    """Where a host element lies, from the layout's meaning: no stride maps, no expressions."""
    elements = buffer.device_size[-1]
    if not buffer.dim_order:
        return 0
    *outer, stick = buffer.dim_order
    inside = host[stick] if stick != -1 else 0
    places = [inside // elements, inside % elements]
    if outer:
        places = [*[host[d] for d in outer[1:]], inside // elements, host[outer[0]], inside % elements]
    number = 0
    for size, place in zip(buffer.device_size, places):
        number = number * size + place
    return number * (neutral_ops.BYTES_PER_STICK // elements)


def test_overlapping_places_are_not_executable():
    case = cases("broadcast", 1)[0]
    for argument in case["specs"][0]["args"]:
        argument["arg_index"], argument["allocation"] = -1, {"pool": 128}
        argument["device_dtype"] = "SEN169_FP16"
    case["specs"][0]["args"][0]["allocation"] = {"pool": 0}
    sizes = [math.prod(t["layout_device_size"][:-1]) for t in case["specs"][0]["host"]["tensors"]]
    assert neutral_ops.is_executable(case["specs"]) == (sizes[0] == 1 and len(set(sizes[1:])) == 1)


# --- exactness -----------------------------------------------------------------


def test_exact_operations_allow_no_ulp():
    values = formats.round_to_dl16(np.linspace(-3, 3, 41))
    stored = values.astype(np.float16)
    assert strict.compare(stored, values, "float16", "add") is None
    stored[7] = np.nextafter(stored[7], np.float16(9))
    assert "must be exact" in strict.compare(stored, values, "float16", "add")


def test_results_are_rounded_once_to_the_device():
    third = np.array([1 / 3])
    assert strict.compare(formats.round_to_dl16(third).astype(np.float16), third, "float16", "mul") is None
    assert strict.compare(third.astype(np.float16), third, "float16", "mul") is not None
    assert strict.compare(third.astype(np.float32), third, "float32", "mul") is None


def test_approximations_have_one_ulp():
    wanted = np.array([1.0, 2.5, 100.0])
    one = wanted + formats.dl16_ulp(wanted)
    assert strict.compare(one.astype(np.float16), wanted, "float16", "exp") is None
    assert strict.compare((one + formats.dl16_ulp(wanted)).astype(np.float16), wanted, "float16", "exp") is not None


def test_only_single_operations_are_strict():
    for kind, number in (("bundle", None), ("loop", None), ("topk", 1)):
        program = neutral.build_program(cases(kind, 1)[0])
        history = strict.histories(program)
        final = [i for i, buffer in enumerate(program.buffers) if buffer.written and not buffer.read_after_write]
        assert not any(strict.is_single(history[index]) for index in final) or number
        assert bool(strict.wild_buffers(program)) == bool(number)


def test_merged_cases_keep_their_operations():
    drawn = [fuzz.as_arguments(case) for kind in ("pointwise", "bundle", "matmul") for case in cases(kind, 3)]
    merged = fuzz.merge(drawn)
    parts = [neutral.build_program(case) for case in drawn]
    program = neutral.build_program(merged)
    names = [op.function for op in program.operations()]
    assert names == [op.function for part in parts for op in part.operations()]
    arguments = [buffer for buffer in program.buffers if buffer.space == "hbm"]
    assert len(arguments) == sum(buffer.space == "hbm" for part in parts for buffer in part.buffers)
    assert len({buffer.address for buffer in arguments}) == len(arguments)


def test_an_entry_without_files_is_not_compared():
    assert superdsc.descriptors_of({"case": {}}) is None
    assert superdsc.descriptors_of({"sdsc": {"0_add": {}}}) == [{"0_add": {}}]
    assert superdsc.compare_with_reference([{}], "", superdsc.Reference({}, None, None)) is None
