# test_runners.py - Tests of the conformance runners themselves
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A runner that judges wrongly is worse than none, so the rules are tested here
# without a compiler: tolerances by perturbing golden results, the taking apart
# of indices by enumeration, outcomes and exit codes with stand-ins for the
# tools that return, refuse, crash or hang. Run by pytest.
"""Tests of the conformance runners."""

import gzip
import itertools
import json
import pathlib
import stat
import subprocess
import sys
import textwrap

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import bundles  # noqa: E402
import programs  # noqa: E402
import superdsc  # noqa: E402
from lib.harness import DATA  # noqa: E402
from lib.sizes import contiguous  # noqa: E402

from lib import arrays, evaluate, formats, harness, inprocess, l3text, neutral, sdsccompare, tolerance  # noqa: E402

# --- number formats ----------------------------------------------------------


def test_dl16_rounding_is_nearest_over_all_codes():
    values = formats.decode_dl16(np.arange(1 << 16))
    values = np.unique(values[np.isfinite(values)])
    assert values[-1] == formats.DL16_MAX
    assert np.array_equal(formats.round_to_dl16(values), values)
    middle = (values[1:] + values[:-1]) / 2
    assert np.array_equal(formats.round_to_dl16(np.nextafter(middle, np.inf)), values[1:])
    assert np.array_equal(formats.round_to_dl16(np.nextafter(middle, -np.inf)), values[:-1])
    assert formats.round_to_dl16(1e30) == formats.DL16_MAX


def test_bfloat16_and_fp8():
    bits = np.arange(1 << 16, dtype=np.uint16)
    values = formats.bfloat16_to_float32(bits)
    number = ~np.isnan(values)
    assert np.array_equal(formats.float32_to_bfloat16(values[number]), bits[number])
    assert formats.to_float64(np.uint8(0x7E), "float8_e4m3fn") == 448
    codes = formats.from_float64(np.array([448.0, 0.015625, -3.0]), "float8_e4m3fn")
    assert np.array_equal(formats.to_float64(codes, "float8_e4m3fn"), [448, 0.015625, -3])


# --- tolerances --------------------------------------------------------------

PLAIN = tolerance.Traits()
MATMUL = tolerance.Traits(matmul=True)
JUMPS = tolerance.Traits(jumps=True)


def golden(shape=(40, 50), seed=0):
    ref = np.random.default_rng(seed).standard_normal(shape)
    return ref.astype(np.float16), ref


def test_tolerance_without_matmul():
    out, ref = golden()
    assert tolerance.compare(out, out, "float16", ref, PLAIN) is None
    bad = out.copy()
    bad[3, 4] += np.float16(0.02)
    assert tolerance.compare(bad, out, "float16", ref, PLAIN).startswith("[3, 4] is ")
    assert tolerance.compare(bad, out, "float16", ref, MATMUL) is None


def test_rms_bound_catches_a_wrong_lane():
    out, ref = golden()
    bad = out + np.float16(0.01)  # everywhere, below the largest error allowed
    message = tolerance.compare(bad, out, "float16", ref, MATMUL)
    assert message and message.startswith("rms e")


def test_float32_bounds():
    ref = np.random.default_rng(1).standard_normal(100)
    out = ref.astype(np.float32)
    assert tolerance.compare(out + np.float32(2e-6), out, "float32", ref, PLAIN) is None
    assert tolerance.compare(out + np.float32(2e-5), out, "float32", ref, PLAIN)
    assert tolerance.compare(out + np.float32(8e-6), out, "float32", None, PLAIN) is None


def test_integers_and_moved_data_are_exact():
    ints = np.arange(6, dtype=np.int64)
    assert tolerance.compare(ints, ints, "int64") is None
    assert "[5] is 6, expected 5" in tolerance.compare(np.where(ints == 5, 6, ints), ints, "int64")
    moved = tolerance.Traits(moves_only=True)
    out, _ = golden()
    once = formats.round_to_dl16(out.astype(np.float64)).astype(np.float16)
    assert (once != out).any()
    assert tolerance.compare(once, out, "float16", None, moved) is None
    assert tolerance.compare(np.nextafter(once, np.float16(9)), out, "float16", None, moved)


def test_infinities_and_nans():
    ref = np.array([1.0, np.inf, -np.inf, np.nan])
    out = ref.astype(np.float16)
    one_class = np.array([1.0, np.nan, -np.inf, np.inf], np.float16)
    assert tolerance.compare(one_class, out, "float16", ref) is None
    sign = np.array([1.0, -np.inf, -np.inf, np.nan], np.float16)
    assert tolerance.compare(sign, out, "float16", ref)
    assert tolerance.compare(one_class.astype(np.float32), out.astype(np.float32), "float32", ref)
    # PyTorch overflows where the reference does not: either is right.
    ref, out = np.array([60000.0, 1.0]), np.array([np.inf, 1.0], np.float16)
    assert tolerance.compare(out, out, "float16", ref) is None
    assert tolerance.compare(ref.astype(np.float16), out, "float16", ref) is None


def test_jumps_allow_two_per_cent_and_no_more():
    out, ref = golden((100,))
    out, ref = np.floor(out), np.floor(out).astype(np.float64)
    two = out.copy()
    two[:2] += 1
    assert tolerance.compare(two, out, "float16", ref, JUMPS) is None
    three = out.copy()
    three[:3] += 1
    assert tolerance.compare(three, out, "float16", ref, JUMPS)
    assert tolerance.compare(two, out, "float16", ref, PLAIN)


def test_shape_and_type_count():
    out, ref = golden((4, 1))
    assert "shape" in tolerance.compare(out.reshape(4), out, "float16", ref)
    assert "stored as" in tolerance.compare(out.astype(np.float32), out, "float16", ref)


def test_traits_of_text():
    text = """
      %int0 = torch.constant.int 0
      %0 = torch.aten.permute %arg0, %list : !torch.vtensor<[2,3],f16>, !torch.list<int> -> !torch.vtensor<[3,2],f16>
    """
    assert tolerance.traits_of_text(text).moves_only
    text += "%1 = torch.aten.mm %0, %arg1 : !torch.vtensor<[3,2],f16>, !torch.vtensor<[2,2],f16> -> !torch.vtensor<[3,2],f16>\n"
    traits = tolerance.traits_of_text(text)
    assert traits.matmul and not traits.moves_only and not traits.jumps
    text = '%1 = torch.operator "torch.aten.floor"(%0) : (!torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32>\n'
    assert tolerance.traits_of_text(text).jumps
    text = "%1 = torch.aten.gt.Scalar %0, %int0 : !torch.vtensor<[3],si64>, !torch.int -> !torch.vtensor<[3],i1>\n"
    assert not tolerance.traits_of_text(text).jumps


def test_tolerance_json_gives_reasons():
    table = json.loads((HERE / "tolerance.json").read_text())["operations"]
    for name, entry in table.items():
        assert entry.get("scale", 1) > 1 or entry.get("elements", 0) > 0, name
        assert entry["reason"], name
    assert tolerance.widening(("floor",), {"floor": {"scale": 2}}) == 2


# --- neutral cases -----------------------------------------------------------


@pytest.mark.parametrize(
    "flat, sizes, shape",
    [
        ("4096*c0 + c1", [256, 4096], [2, 128, 4096]),
        ("c0", [24], [2, 3, 4]),
        ("2*c0 + 6", [9], [4, 6]),
        ("6*c0 + c1 + 2", [4, 4], [4, 6]),
        ("12*c0 + c2", [2, 5, 12], [2, 1, 12]),
    ],
)
def test_delinearise_by_enumeration(flat, sizes, shape):
    strides = contiguous(shape)
    constant, linear = neutral.parse_linear(flat)
    terms = {int(symbol[1:]): c for symbol, c in linear.items()}
    coordinates = neutral.delinearise(constant, terms, dict(enumerate(sizes)), shape, strides)
    for point in itertools.product(*[range(min(n, 300)) for n in sizes]):
        index = constant + sum(c * point[v] for v, c in terms.items())
        expected = [index // s % n for s, n in zip(strides, shape)]
        assert [e.evaluate(point) for e in coordinates] == expected
        if len(sizes) > 1 and point[-1] > 40:
            break


def test_delinearise_refuses_what_fits_no_dim():
    with pytest.raises(neutral.Inexpressible):
        neutral.delinearise(0, {0: 4}, {0: 7}, [5, 6], [6, 1])
    with pytest.raises(neutral.Inexpressible):
        neutral.delinearise(0, {0: 1}, {0: 31}, [5, 6], [6, 1])


def reference_cases():
    class Options:
        paths = [str(DATA / "superdsc" / "cases"), str(DATA / "superdsc" / "random_ops.json.gz")]

    return superdsc.collect(Options)


def test_every_case_becomes_a_program_and_equals_itself():
    for case in reference_cases():
        reference = case.load()
        program = neutral.build_program(reference.case)
        assert sum(1 for _ in program.operations()) >= 1
        same = superdsc.compare_with_reference(
            json.loads(json.dumps(reference.descriptors)), reference.bundle, reference
        )
        shown = any(superdsc.fault_shows(fault, reference) for fault in reference.case.get("faults", []))
        assert (same is None) == (not shown), case.name


def test_module_text_of_a_loop():
    case = next(c for c in reference_cases() if c.name == "loop1_rows_symbolic").load().case
    text = l3text.write_module(neutral.build_program(case))
    assert "spyre.add (d0 = 512 / 2, d1 = 256) loops(%i0) ins(%arg0[d0 + s0 * 512, d1]" in text
    assert "scf.for %i0 = %c0 to %n0 step %c1 {" in text


def test_evaluation_of_a_matmul():
    case = next(c for c in reference_cases() if c.name == "mm_unaligned_k").load().case
    program = l3text.runnable(neutral.build_program(case))
    inputs, expected = evaluate.run_arrays(program, 0)
    values, mask, dtype = expected["out0"]
    x, y = inputs["in0"].astype(np.float64), inputs["in1"].astype(np.float64)
    assert dtype == "float16" and mask.all()
    assert np.allclose(values, x @ y[:100])


def test_faults_explain_only_what_they_name():
    marked = [c.load() for c in reference_cases() if c.load().case.get("faults") == [10]]
    case = next(c for c in marked if superdsc.fault_shows(10, c))
    assert any(not superdsc.fault_shows(10, c) for c in marked)
    changed = json.loads(json.dumps(case.descriptors))
    root = next(iter(changed[0].values()))
    dsc = next(iter(root["dscs_"][0].values()))
    dsc["N_"]["out_"] += 1
    assert superdsc.compare_with_reference(changed, case.bundle, case) is None
    root["numCoresUsed_"] = 5
    assert "do not explain" in superdsc.compare_with_reference(changed, case.bundle, case)


def test_bundle_structure():
    left = 'func.func @f() {\n\tsdscbundle.sdsc_execute (%a) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2]}\n}'
    right = (
        'func.func @f(  ) {\n  sdscbundle.sdsc_execute(%a)  {symbol_ids = [-1, -2], sdsc_filename = "sdsc_0.json"}\n\n}'
    )
    assert not sdsccompare.bundle_differences(left, right)
    assert sdsccompare.bundle_differences(left, right.replace("-2", "-3"))
    assert sdsccompare.bundle_differences(left, right.replace("%a", "%b"))


def test_loose_constants():
    def descriptor(bits, form="SEN169_FP16"):
        return {"constantInfo_": {"0": {"dataFormat_": form, "data_": {"data_": {"[0, 0, 0]": [bits]}}}}}

    assert not sdsccompare.descriptor_differences(descriptor(0x7FFE), descriptor(0x7FFF))
    assert not sdsccompare.descriptor_differences(descriptor(0x3E01), descriptor(0x3E00))
    assert sdsccompare.descriptor_differences(descriptor(0x3E20), descriptor(0x3E00))
    assert sdsccompare.descriptor_differences(descriptor(0xFFFF), descriptor(0x7FFF))


# --- runners with stand-ins for the tools ------------------------------------

STAND_IN = """\
#!{python}
import json, os, signal, sys, time
import numpy as np
mode = open({mode!r}).read()
words = sys.argv[1:]
stats = [w[8:] for w in words if w.startswith("--stats=")]
if stats:
    json.dump({{"host_calls": {{"mm": 1}} if mode == "host" else {{}}, "device_ops": 3}}, open(stats[0], "w"))
if mode == "refuse":
    sys.exit("a.mlir:3:5: error: unsupported operation 'torch.aten.add.Tensor'")
if mode == "crash":
    os.kill(os.getpid(), signal.SIGSEGV)
if mode == "assert":
    sys.stderr.write("tool: Assertion `x' failed.\\n"); sys.exit(1)
if mode == "report":
    sys.exit("x.mlir:1:1: error: core 3 reads never-written memory at 128")
if mode == "hang":
    time.sleep(60)
arrays = np.load(words[words.index("--inputs") + 1])
result = arrays["in0"] + arrays["in1"]
if mode == "wrong":
    result[1, 2] += 1
np.savez(words[words.index("--outputs") + 1], out0=result)
"""


@pytest.fixture
def stand_in(tmp_path):
    """A build folder whose spyre-run adds its inputs, or fails as it is told."""
    mode = tmp_path / "mode"
    tool = tmp_path / "build" / "bin" / "spyre-run"
    tool.parent.mkdir(parents=True)
    tool.write_text(textwrap.dedent(STAND_IN).format(python=sys.executable, mode=str(mode)))
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)

    def run(runner, how, *arguments):
        mode.write_text(how)
        report = tmp_path / "report.json"
        flags = ["--build", str(tmp_path / "build"), "--json", str(report), "--jobs", "1"]
        if runner is programs:
            flags += ["--host", "none"]
        code = runner.main([*map(str, arguments), *flags])
        return code, json.loads(report.read_text())

    return run


@pytest.mark.parametrize(
    "how, code, outcome",
    [
        ("right", 0, "right"),
        ("wrong", 1, "wrong"),
        ("refuse", 1, "refused"),
        ("crash", 1, "crashed"),
        ("assert", 1, "crashed"),
        ("report", 1, "wrong"),
        ("hang", 1, "timeout"),
        ("host", 0, "right"),
    ],
)
def test_outcomes_of_a_bundle(stand_in, capsys, how, code, outcome):
    got, rows = stand_in(bundles, how, DATA / "superdsc" / "bundles" / "small", "--only", "add_64x256", "--timeout", 5)
    assert (got, rows[0]["outcome"]) == (code, outcome)
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == ("1 passed, 0 failed, 0 skipped" if code == 0 else "0 passed, 1 failed, 0 skipped")


@pytest.mark.parametrize("how, code", [("right", 0), ("report", 0), ("crash", 1), ("hang", 1)])
def test_a_faulty_bundle_must_differ_or_be_reported(stand_in, tmp_path, how, code):
    make_bundle(tmp_path / "b", "wrong", add=False)
    assert stand_in(bundles, how, tmp_path / "b", "--timeout", 3)[0] == code


def test_a_faulty_bundle_must_not_be_right(stand_in, tmp_path):
    make_bundle(tmp_path / "b", "wrong", add=True)
    assert stand_in(bundles, "right", tmp_path / "b")[0] == 1


def make_bundle(folder, trust, add):
    folder.mkdir()
    (folder / "bundle.mlir").write_text("module {}\n")
    (folder / "meta.json").write_text(json.dumps({"trust": trust, "ops": ["add"]}))
    argument = {"shape": [2, 64], "dtype": "float16"}
    arguments = [
        {"role": "input", "array": "in0", **argument},
        {"role": "input", "array": "in1", **argument},
        {"role": "output", "array": "out0", **argument},
    ]
    (folder / "bind.json").write_text(json.dumps({"version": 1, "arguments": arguments}))
    x = np.ones((2, 64), np.float16)
    out = x + x if add else x
    np.savez(folder / "data.npz", in0=x, in1=x, out0=out, ref0=out.astype(np.float64))


def test_open_bundles_are_skipped(stand_in, tmp_path, capsys):
    make_bundle(tmp_path / "b", "open", add=True)
    assert stand_in(bundles, "right", tmp_path / "b")[0] == 0
    assert capsys.readouterr().out.splitlines()[-1] == "0 passed, 0 failed, 1 skipped"


def program_line(**more):
    x = np.arange(6, dtype=np.float16).reshape(2, 3)
    text = "func.func @main(%arg0: !torch.vtensor<[2,3],f16>) {\n %0 = torch.aten.add.Tensor %arg0, %arg1, %int1 : !torch.vtensor<[2,3],f16>, !torch.int -> !torch.vtensor<[2,3],f16>\n}"
    return {
        "name": "p",
        "mlir": text,
        "inputs": [arrays.encode(x, "float16"), arrays.encode(x, "float16")],
        "outputs": [arrays.encode(x + x, "float16")],
        **more,
    }


@pytest.mark.parametrize(
    "more, how, flags, code",
    [
        ({}, "right", [], 0),
        ({}, "wrong", [], 1),
        ({}, "refuse", [], 1),
        ({"expect": "value-or-named-refusal"}, "refuse", [], 0),
        ({"expect": "value-or-named-refusal"}, "right", [], 0),
        ({"expect": "value-or-named-refusal"}, "wrong", [], 1),
        ({"expect": "value-or-named-refusal"}, "crash", [], 1),
        ({"expect": "named-refusal"}, "refuse", [], 0),
        ({"expect": "named-refusal"}, "right", [], 1),
        ({"verified": False}, "wrong", [], 0),
        ({}, "host", [], 0),
        ({}, "host", ["--no-host"], 1),
        ({"cls": "device", "f32_demoted": ["mm"]}, "host", [], 1),
        ({"cls": "mixed", "host_ops": ["mm"]}, "host", [], 0),
        ({"cls": "mixed", "host_ops": ["bmm"]}, "host", [], 1),
        ({"cls": "dynamic", "base_cls": "host"}, "host", [], 0),
        ({"random": True}, "wrong", [], 0),
    ],
)
def test_rules_of_programs(stand_in, tmp_path, more, how, flags, code):
    file = tmp_path / "cases.jsonl.gz"
    with gzip.open(file, "wt") as out:
        out.write(json.dumps(program_line(**more)) + "\n")
    assert stand_in(programs, how, file, *flags)[0] == code


@pytest.mark.parametrize(
    "how, more, outcome",
    [
        ("host", {"cls": "device"}, "refused"),
        ("host", {"cls": "device", "outputs": [arrays.encode(np.zeros((2, 3), np.float16), "float16")]}, "wrong"),
        ("wrong", {}, "wrong"),
        ("refuse", {}, "refused"),
    ],
)
def test_wrong_is_for_numbers(stand_in, tmp_path, how, more, outcome):
    (tmp_path / "cases.jsonl").write_text(json.dumps(program_line(**more)))
    code, rows = stand_in(programs, how, tmp_path / "cases.jsonl")
    assert (code, rows[0]["outcome"]) == (1, outcome)


# --- runners with a stand-in for the Python package ------------------------------

STAND_IN_PACKAGE = """\
import dataclasses, os, pathlib, signal, time
from types import SimpleNamespace

class SpyreError(Exception): pass
class CompileError(SpyreError):
    def __init__(self, message):
        note = SimpleNamespace(severity="note", message="torch.aten.add.Tensor: no lowering", place=Place(3), notes=())
        self.diagnostics = [SimpleNamespace(severity="error", message=message, place=Place(2), notes=(note,))]

@dataclasses.dataclass
class Place:
    line: int
    column: int = 5
    file: str = "program"

@dataclasses.dataclass
class Options:
    host: str = ""
    threads: int = 0
    dump_stages: str = ""

class Program:
    def __init__(self, mode, options):
        self.mode = mode
        self.stats = {"host_calls": {"mm": 1} if mode == "host" else {}, "device_ops": 3, "host": options.host}
    def __call__(self, x, y):
        if self.mode == "report":
            raise SpyreError("core 3 reads never-written memory at 128")
        if self.mode == "leave":
            os._exit(0)
        z = x + y
        if self.mode == "wrong":
            z[1, 2] += 1
        return z
    def save(self, folder):
        folder.mkdir()

def compile_text(text, **options):
    options = Options(**options)
    if options.dump_stages:
        pathlib.Path(options.dump_stages).mkdir()
        (pathlib.Path(options.dump_stages) / "3-planned.mlir").write_text("plan")
    mode = text.split("mode ")[1].split()[0]
    if mode == "refuse":
        raise CompileError("'main' cannot be compiled: 1 operation is not supported")
    if mode == "crash":
        os.write(2, b"tool: Assertion `x' failed.\\n"); os.kill(os.getpid(), signal.SIGABRT)
    if mode == "raise":
        raise KeyError("x")
    if mode == "hang":
        time.sleep(60)
    return Program(mode, options)
"""


@pytest.fixture
def packaged(tmp_path, monkeypatch):
    """Runs program lines through a package that adds its inputs, or fails as their texts say."""
    pytest.importorskip("torch")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "spyre_mlir.py").write_text(STAND_IN_PACKAGE)
    monkeypatch.setattr(inprocess, "PACKAGE", tmp_path / "package")

    def run(lines, *flags):
        (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, lines)))
        report = tmp_path / "report.json"
        code = programs.main([str(tmp_path / "cases.jsonl"), "--host", "torch", "--json", str(report), *flags])
        return code, json.loads(report.read_text())

    return run


def packaged_line(mode, **more):
    line = program_line(name=mode, **more)
    return {**line, "mlir": f"// mode {mode}\n{line['mlir']}"}


def test_outcomes_through_the_package(packaged, tmp_path):
    expected = {
        "right": "right",
        "crash": "crashed",
        "wrong": "wrong",
        "hang": "timeout",
        "refuse": "refused",
        "raise": "crashed",
        "report": "wrong",
        "leave": "crashed",
        "host": "right",
    }
    lines = [packaged_line(mode) for mode in expected] + [packaged_line("right")]
    code, rows = packaged(lines, "--jobs", "2", "--timeout", "3", "--keep", str(tmp_path / "keep"))
    assert code == 1
    assert {row["case"]: row["outcome"] for row in rows} == {**expected, "right#2": "right"}
    by_name = {row["case"]: row for row in rows}
    assert by_name["right"]["stats"]["host"] == "torch" and by_name["right"]["device_ops"] == 3
    assert by_name["host"]["host_calls"] == {"mm": 1}
    assert "Assertion `x' failed" in by_name["crash"]["reason"] and "SIGABRT" in by_name["crash"]["reason"]
    assert by_name["refuse"]["reason"].startswith("program.mlir:2:5: error: 'main' cannot be compiled")
    kept = tmp_path / "keep" / "right"
    assert sorted(path.name for path in kept.iterdir()) == ["messages.txt", "outputs.npz", "planned.mlir", "program"]
    assert np.load(kept / "outputs.npz")["out0"].shape == (2, 3)
    notes = (tmp_path / "keep" / "refuse" / "messages.txt").read_text()
    assert "program.mlir:3:5: note: torch.aten.add.Tensor" in notes


def test_a_named_refusal_through_the_package(packaged):
    assert packaged([packaged_line("refuse", expect="value-or-named-refusal")])[0] == 0
    assert packaged([packaged_line("host")], "--no-host")[1][0]["outcome"] == "refused"


def test_the_package_must_be_there(tmp_path, monkeypatch, capsys):
    (tmp_path / "spyre_mlir.py").write_text("raise ImportError('no native module')")
    monkeypatch.setattr(inprocess, "PACKAGE", tmp_path)
    (tmp_path / "cases.jsonl").write_text(json.dumps(program_line()))
    assert programs.main([str(tmp_path / "cases.jsonl"), "--host", "torch"]) == 2
    assert "--host=torch: " in capsys.readouterr().err


def test_casts_among_host_operations():
    program = programs.Program("", info={"cls": "mixed", "host_ops": ["convert si64->f32", "gather"]})
    calls = {"prims.convert_element_type": 1, "aten.gather": 2}
    assert programs.check_host_calls(program, calls, False) is None
    assert "aten.add.Tensor" in programs.check_host_calls(program, {**calls, "aten.add.Tensor": 1}, False)
    program.info["host_ops"] = ["gather"]
    assert "convert_element_type" in programs.check_host_calls(program, calls, False)


def test_forms_and_second_sizes_are_cases(capsys):
    assert programs.main([str(DATA / "models"), "--list", "--only", "mlp_dynamic_batch"]) == 0
    assert capsys.readouterr().out.split() == [
        "mlp_dynamic_batch",
        "mlp_dynamic_batch.torch",
        "mlp_dynamic_batch.second",
    ]


def test_a_folder_without_a_manifest_is_its_files_of_lines(tmp_path, capsys):
    with gzip.open(tmp_path / "cases.jsonl.gz", "wt") as out:
        out.write(json.dumps(program_line(name="a")) + "\n\n" + json.dumps(program_line(name="b")) + "\n")
    (tmp_path / "cases_more.jsonl").write_text(json.dumps(program_line(name="c")) + "\n")
    (tmp_path / "other.jsonl").write_text("no case\n")
    assert programs.main([str(tmp_path), "--list"]) == 0
    assert capsys.readouterr().out.split() == ["a", "b", "c"]


def test_a_folder_with_neither_is_wrong_usage(tmp_path, capsys):
    (tmp_path / "README.md").write_text("nothing\n")
    assert programs.main([str(tmp_path)]) == 2
    assert "manifest.json" in capsys.readouterr().err


@pytest.mark.parametrize("folder", ["bugs", "e2e"])
def test_folders_of_lines_in_the_reference_data(folder, capsys):
    assert programs.main([str(DATA / folder), "--list"]) == 0
    names = capsys.readouterr().out.split()
    lines = 0
    for file in (DATA / folder).glob("cases*.jsonl.gz"):
        with gzip.open(file) as text:
            lines += sum(1 for line in text if line.strip())
    assert len(names) == len(set(names)) == lines > 0


def test_every_golden_result_is_right_by_its_own_rules():
    class Options:
        paths = [str(DATA / "models"), str(DATA / "bugs" / "cases.jsonl.gz")]
        target = "superdsc"

    for case in programs.collect(Options):
        program, _ = case.load()
        if program.inputs is not None:
            golden = {f"out{i}": out for i, (_, out) in enumerate(program.outputs)}
            assert programs.compare_outputs(program, golden) is None, case.name


# --- command line ------------------------------------------------------------


def test_wrong_usage(tmp_path, capsys):
    assert bundles.main([str(tmp_path / "nowhere")]) == 2
    assert bundles.main([str(tmp_path)]) == 2
    assert programs.main([str(DATA / "models"), "--shard", "5/4"]) == 2
    with pytest.raises(SystemExit) as error:
        programs.main([str(DATA / "models"), "--no-such-flag"])
    assert error.value.code == 2


@pytest.mark.parametrize("first", [0, 1])
def test_shards_cover_everything_once(first, capsys):
    folder = str(DATA / "superdsc" / "cases")
    superdsc.main([folder, "--list"])
    everything = capsys.readouterr().out.split()
    parts = []
    for shard in range(first, first + 3):
        superdsc.main([folder, "--list", "--shard", f"{shard}/3"])
        parts += capsys.readouterr().out.split()
    assert sorted(parts) == sorted(everything) and len(everything) == 52


def test_groups(capsys):
    superdsc.main([str(DATA / "superdsc" / "cases"), "--list", "--group", "pointwise,reduction,matmul,restickify"])
    assert len(capsys.readouterr().out.split()) == 38


def test_skips_need_a_listed_reason():
    assert harness.skipped("open").passed is None
    with pytest.raises(KeyError):
        harness.skipped("too hard")


# --- the totals that utils/check.sh reads ------------------------------------

LIT = """
Total Discovered Tests: 7
  Unsupported      : 1 (25.00%)
  Passed           : 3 (25.00%)
  Expectedly Failed: 1 (25.00%)
  Failed           : 2 (25.00%)
"""


@pytest.mark.parametrize(
    "kind, text, expected",
    [
        ("lit", LIT, "4 2 1"),
        ("lit", "error: no config", ""),
        ("ctest", "50% tests passed, 1 tests failed out of 2\n", "1 1 0"),
        ("ctest", "100% tests passed, 0 tests failed out of 12\n", "12 0 0"),
        ("ctest", "100% tests passed out of 1\n", "1 0 0"),
        ("ctest", "No tests were found!!!\n", ""),
        ("pytest", "1 failed, 60 passed, 3 skipped, 2 errors in 20.31s\n", "60 3 3"),
        ("pytest", "no tests ran in 0.01s\n", ""),
        ("summary", "FAIL x: wrong: y\n4 passed, 1 failed, 0 skipped\n", "4 1 0"),
        ("summary", "4 passed, 1 failed, 0 skipped\nTraceback\n", ""),
    ],
)
def test_totals_of_check(tmp_path, kind, text, expected):
    log = tmp_path / "log"
    log.write_text(text)
    common = HERE.parent.parent / "utils" / "common.sh"
    script = f'. "{common}"; spyre_totals {kind} "{log}"'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == expected
