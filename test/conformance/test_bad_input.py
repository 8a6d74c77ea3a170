# test_bad_input.py - What the tools do with input that is wrong
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every wrong input gets exit code 1 (wrong usage: 2), a message that names the
# thing and its place, nothing half-written, and no crash: cut and damaged
# files, arrays that do not fit, values out of range. Failed writes and
# interrupted runs: test_failed_writes.py.
"""Bad input to spyre-compile and spyre-run."""

import json
import pathlib
import re
import shutil
import sys

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from lib.built import DATA, MODELS, run, tool  # noqa: E402

BUNDLE = DATA / "superdsc" / "bundles" / "small" / "hint_softmax_m4_64x128"


def refuses(pattern, *command, code=1, environment=None):
    done = run(*command, environment=environment)
    assert done.code == code, f"exit code {done.code}: {done.out}{done.err}"
    assert "error:" in done.err, done.err
    assert re.search(pattern, done.err), done.err
    return done


def add_program(shape, dtype="f16", operation="aten.add.Tensor"):
    kind = f"!torch.vtensor<[{shape}],{dtype}>"
    return (
        f"func.func @main(%arg0: {kind}, %arg1: {kind}) -> {kind} {{\n"
        "  %int1 = torch.constant.int 1\n"
        f"  %0 = torch.{operation} %arg0, %arg1, %int1 : {kind}, {kind}, !torch.int -> {kind}\n"
        f"  return %0 : {kind}\n}}\n"
    )


# --- programs ----------------------------------------------------------------


UNARY = "func.func @main(%x: !torch.vtensor{0}) -> !torch.vtensor{0} {{\n  return %x : !torch.vtensor{0}\n}}\n"


@pytest.mark.parametrize(
    "text, messages",
    [
        ("func.func @main(", ["1:16: error: expected non-function type"]),
        (
            "func.func @main() { torch.aten.add.Tensor }",
            [
                "1:1: error: 'main' cannot be compiled: 1 operation is not supported",
                "1:21: note: torch.aten.add.Tensor () -> (): it has no result",
            ],
        ),
        (
            add_program("4,64", operation="aten.no_such_op"),
            [
                "1:1: error: 'main' cannot be compiled: 1 operation is not supported",
                "3:8: note: torch.aten.no_such_op (!torch.vtensor<[4,64],f16>, !torch.vtensor<[4,64],f16>, !torch.int) -> "
                "(!torch.vtensor<[4,64],f16>): no device operation and no lowering is known for it",
            ],
        ),
        (
            add_program("4,64", dtype="complex<f64>"),
            [
                "1:1: error: 'main' cannot be compiled: 1 operation is not supported",
                "3:8: note: torch.aten.add.Tensor (!torch.vtensor<[4,64],complex<f64>>, !torch.vtensor<[4,64],complex<f64>>, "
                "!torch.int) -> (!torch.vtensor<[4,64],complex<f64>>): the device does not compute it in complex<f64>",
            ],
        ),
        (
            add_program("?,64"),
            [
                "1:1: error: 'main' cannot be compiled: its signature has 3 unsupported types and 1 operation is not supported",
                "1:1: note: argument #0: !torch.vtensor<[?,64],f16>: dim 0 is dynamic; shapes must be static",
                "1:1: note: argument #1: !torch.vtensor<[?,64],f16>: dim 0 is dynamic; shapes must be static",
            ],
        ),
        (UNARY.format(""), ["1:1: note: argument #0: !torch.vtensor: has no known rank"]),
        (
            add_program("1048576,1048576"),
            [
                "1:1: error: L2-5: a tensor of type 'tensor<1048576x1048576xf16>' does not fit in the device memory of 137438953472 bytes"
            ],
        ),
        (
            add_program("4611686018427387904,4"),
            ["1:1: error: a value of type 'tensor<4611686018427387904x4xf16>' has more than 281474976710656 elements"],
        ),
        (add_program("9223372036854775808,4"), ["1:"]),
        ("", ["0:0: error: a program is a module with one public function; this one has 0"]),
        (
            add_program("4,4") + add_program("4,4").replace("@main", "@other"),
            ["0:0: error: a program is a module with one public function; this one has 2"],
        ),
    ],
    ids=[
        "syntax",
        "malformed",
        "unknown-operation",
        "element-type",
        "dynamic",
        "unranked",
        "too-large",
        "overflow",
        "no-int64",
        "empty",
        "two",
    ],
)
def test_bad_program(tmp_path, text, messages):
    source = tmp_path / "program.mlir"
    source.write_text(text)
    done = refuses("error:", tool("spyre-compile"), source, "--host=none", "-o", tmp_path / "out")
    for message in messages:
        assert f"{source}:{message}" in done.err, done.err
    assert not (tmp_path / "out").exists()
    # The same from spyre-run, which compiles first.
    done = refuses("error:", tool("spyre-run"), "--host=none", source)
    assert all(f"{source}:{message}" in done.err for message in messages), done.err


@pytest.mark.parametrize(
    "text",
    [
        "#m = affine_map<(d0) -> (" + "(" * 100000,
        "func.func @main() attributes {a = " + "[" * 100000,
        "func.func @main(%x: " + "tuple<" * 100000,
    ],
    ids=["map", "attribute", "type"],
)
def test_program_that_nests_too_deep(tmp_path, text):
    source = tmp_path / "program.mlir"
    source.write_text(text)
    pattern = rf"{re.escape(str(source))}:1:\d+: error: nested deeper than 256 levels"
    refuses(pattern, tool("spyre-compile"), source, "-o", tmp_path / "out")
    refuses(pattern, tool("spyre-translate"), "--sdsc-to-bundle", source, "-o", tmp_path / "out")
    (tmp_path / "bundle").mkdir()
    shutil.move(source, tmp_path / "bundle" / "bundle.mlir")
    refuses(
        r"bundle\.mlir:1:\d+: error: nested deeper than 256 levels",
        tool("spyre-translate"),
        "--explain",
        tmp_path / "bundle",
    )


def test_truncated_program(tmp_path):
    compiler = tool("spyre-compile")
    text = (MODELS / "rmsnorm_32x512.mlir").read_text()
    source = tmp_path / "program.mlir"
    end = len(text.rstrip())
    for length in [*range(1, end - 1, end // 25), end - 1]:
        source.write_text(text[:length])
        refuses(r"program\.mlir:\d+:\d+: error:|error:", compiler, source, "-o", tmp_path / "out")
        assert not (tmp_path / "out").exists()


def test_one_report_names_every_unsupported_operation(tmp_path):
    compiler = tool("spyre-compile")
    kind = "!torch.vtensor<[4,64],f16>"
    source = tmp_path / "program.mlir"
    source.write_text(
        f"func.func @main(%arg0: {kind}) -> {kind} {{\n"
        f"  %0 = torch.aten.no_such_a %arg0 : {kind} -> {kind}\n"
        f"  %1 = torch.aten.no_such_b %0 : {kind} -> {kind}\n"
        f"  return %1 : {kind}\n}}\n"
    )
    done = refuses(r":2:\d+: ", compiler, source, "-o", tmp_path / "out")
    assert "aten.no_such_a" in done.err and "aten.no_such_b" in done.err
    assert re.search(r":3:\d+: ", done.err)


@pytest.mark.parametrize("flag", ["--no-such-flag", "--cores=0", "--cores=x", "-O7", "--target=none"])
def test_wrong_usage_of_the_compiler(tmp_path, flag):
    done = run(tool("spyre-compile"), MODELS / "add_32x96.mlir", "-o", tmp_path / "out", flag)
    assert done.code in (1, 2) and done.err, done.err
    assert not (tmp_path / "out").exists()


def test_missing_file_and_unwritable_target(tmp_path):
    compiler = tool("spyre-compile")
    refuses(r"nowhere\.mlir", compiler, tmp_path / "nowhere.mlir", "-o", tmp_path / "out")
    (tmp_path / "file").write_text("in the way")
    refuses(r"file", compiler, MODELS / "add_32x96.mlir", "-o", tmp_path / "file" / "out")


# --- arrays ------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda a: a.pop("in1"), "input in1 is missing"),
        (lambda a: a.update(in1=a["in1"][:, :50]), "in1"),
        (lambda a: a.update(in1=a["in1"].astype(np.float64)), "in1"),
        (lambda a: a.update(in1=a["in1"].reshape(-1)), "in1"),
        (lambda a: a.update(in1=np.array(["text"] * 4)), "in1"),
    ],
    ids=["missing", "shape", "type", "rank", "text"],
)
def test_bad_inputs(tmp_path, change, message):
    data = np.load(MODELS / "add_32x96.npz")
    arrays = {name: data[name] for name in ("in0", "in1")}
    change(arrays)
    np.savez(tmp_path / "in.npz", **arrays)
    command = [tool("spyre-run"), MODELS / "add_32x96.mlir", "--inputs", tmp_path / "in.npz"]
    refuses(re.escape(message), *command, "--outputs", tmp_path / "out.npz")
    assert not (tmp_path / "out.npz").exists()


def test_damaged_array_file(tmp_path):
    spyre_run = tool("spyre-run")
    whole = (MODELS / "add_32x96.npz").read_bytes()
    bad = tmp_path / "bad.npz"
    for length in (0, 10, len(whole) // 3, len(whole) - 30):
        bad.write_bytes(whole[:length])
        refuses(
            rf"error: {re.escape(str(bad))}: not a \.npz file", spyre_run, MODELS / "add_32x96.mlir", "--inputs", bad
        )
    data = bytearray(whole)
    data[len(whole) // 3] ^= 0x55
    bad.write_bytes(data)
    refuses(
        rf"{re.escape(str(bad))}: member '\w+\.npy'.* (damaged|header)",
        spyre_run,
        MODELS / "add_32x96.mlir",
        "--inputs",
        bad,
    )


@pytest.mark.parametrize("flag", ["--inputs", "--expect"])
def test_array_file_that_is_none(tmp_path, flag):
    command = [tool("spyre-run"), MODELS / "add_32x96.mlir", flag]
    refuses(rf"spyre-run: error: {tmp_path}: it is a directory, not a file", *command, tmp_path)
    refuses(r"spyre-run: error: /dev/zero: it is a device, not a file", *command, "/dev/zero")
    refuses(r"nowhere\.npz: cannot open the file: No such file or directory", *command, tmp_path / "nowhere.npz")


def test_mismatching_expectation(tmp_path):
    data = np.load(MODELS / "add_32x96.npz")
    wrong = data["out0"].copy()
    wrong[3, 5] += 1
    np.savez(tmp_path / "expect.npz", out0=wrong)
    command = [tool("spyre-run"), MODELS / "add_32x96.mlir", "--inputs", MODELS / "add_32x96.npz"]
    done = run(*command, "--expect", tmp_path / "expect.npz")
    assert done.code == 1 and re.search(r"out0.*\[?3, ?5\]?", done.err + done.out), done.err
    assert run(*command, "--expect", MODELS / "add_32x96.npz").code == 0


# --- bundles -----------------------------------------------------------------


@pytest.fixture
def bundle(tmp_path):
    folder = tmp_path / "bundle"
    shutil.copytree(BUNDLE, folder)
    return folder


def run_bundle(folder):
    return tool("spyre-run"), folder, "--bind", folder / "bind.json", "--inputs", folder / "data.npz"


def test_missing_descriptor(bundle):
    (bundle / "sdsc_1.json").unlink()
    refuses(r"sdsc_1\.json", *run_bundle(bundle))


def test_truncated_descriptor(bundle):
    text = (bundle / "sdsc_1.json").read_text().rstrip()
    for length in [*range(0, len(text), max(len(text) // 20, 1)), len(text) - 1]:
        (bundle / "sdsc_1.json").write_text(text[:length])
        refuses(r"sdsc_1\.json", *run_bundle(bundle))


def test_corrupt_descriptors_never_crash(bundle):
    random = np.random.default_rng(1)
    whole = (bundle / "sdsc_1.json").read_bytes()
    for _ in range(40):
        data = bytearray(whole)
        for position in random.integers(0, len(data), 3):
            data[position] = random.choice(list(b'0123456789-{}[]",:ax'))
        (bundle / "sdsc_1.json").write_bytes(bytes(data))
        run(*run_bundle(bundle), "--check")


@pytest.mark.parametrize("name", ["../bundle/sdsc_1.json", "/etc/passwd", "a/../../sdsc_1.json", "", ".", ".."])
def test_descriptor_outside_of_the_folder(bundle, name):
    lines = (bundle / "bundle.mlir").read_text().replace('"sdsc_1.json"', json.dumps(name))
    (bundle / "bundle.mlir").write_text(lines)
    (line,) = [
        i
        for i, text in enumerate(lines.splitlines(), 1)
        if f"sdsc_filename={json.dumps(name)}" in text.replace(" = ", "=")
    ]
    done = refuses("error:", *run_bundle(bundle))
    message = f'op names the file "{name}", which is not directly inside the bundle directory'
    assert re.search(rf"{re.escape(str(bundle))}/bundle\.mlir:{line}:\d+: error: .*{re.escape(message)}", done.err), (
        done.err
    )


@pytest.mark.parametrize("name", ["../x.json", "/etc/passwd", ".", "a\\b"])
def test_plan_that_leaves_the_folder(program, name):
    file = program / "bundles" / "0" / "plan.json"
    plan = json.loads(file.read_text())
    plan["steps"][0]["launch"] = name
    file.write_text(json.dumps(plan))
    message = f'{file}:/steps/0/launch: "{name}" is no file name inside the bundle directory'
    assert message in refuses("error:", tool("spyre-run"), program).err


@pytest.mark.parametrize("name", ["../bundles/0", "/", "bundles/../bundles/0", "bundles/./0", ""])
def test_program_that_leaves_the_folder(program, name):
    file = program / "program.json"
    content = json.loads(file.read_text())
    for step in content["steps"]:
        if step["step"] == "launch":
            step["bundle"] = name
    file.write_text(json.dumps(content))
    message = f'"{name}" is no folder inside the program directory'
    assert message in refuses("error:", tool("spyre-run"), program).err


def test_binding_of_a_newer_version(bundle):
    bind = json.loads((bundle / "bind.json").read_text())
    bind["version"] = 999
    (bundle / "bind.json").write_text(json.dumps(bind))
    refuses(r"bind\.json.*version 999 is newer than the newest that this build reads, 1", *run_bundle(bundle))


@pytest.fixture
def program(tmp_path):
    folder = tmp_path / "program"
    assert run(tool("spyre-compile"), MODELS / "add_32x96.mlir", "-o", folder).code == 0
    return folder


JSON_FILES = ("program.json", "bundles/0/plan.json", "bundles/0/launch_spec.json", "bundles/0/sdsc_0.json")


@pytest.mark.parametrize("name", JSON_FILES)
def test_json_files_of_a_program(program, name):
    file = program / name
    whole = file.read_text()
    newer = json.loads(whole)
    newer["version"] = 999
    is_descriptor = "sdsc" in name
    newest = (
        "version 999 is newer than this reader's, 1"
        if is_descriptor
        else f"version 999 is newer than the newest that this build reads, {2 if 'plan' in name else 1}"
    )
    damaged = {
        json.dumps(newer): f"{file}:/version: {newest}",
        "": f"{file}:1:1: syntax error while parsing value - unexpected end of input",
        whole[: len(whole) // 2]: f"{file}:1:{len(whole) // 2 + 1}: syntax error while parsing ",
        whole.replace('"', "\0", 1): f"{file}:1:2: syntax error while parsing object key",
        "[1, 2]": f"{file}:/: expected an object, found a list",
        "[" * 100000: f"{file}:1:65: nested deeper than 64 levels",
        "{}": f"{file}:/: ",
        "\xff": f"{file}:1:1: ",
    }
    for text, message in damaged.items():
        file.write_bytes(text.encode("latin-1"))
        done = refuses("error:", tool("spyre-run"), program)
        assert f"spyre-run: error: {message}" in done.err, done.err
    file.unlink()
    if name == "program.json":
        message = f"{program}: it has neither program.json nor launch_spec.json"
    else:
        message = f"{file}: cannot open the file: No such file or directory"
    assert message in refuses("error:", tool("spyre-run"), program).err
    file.mkdir()
    assert f"{file}: it is a directory, not a file" in refuses("error:", tool("spyre-run"), program).err
    file.rmdir()
    file.write_text(whole)
    assert run(tool("spyre-run"), program).code == 0


# --- more than the device holds ----------------------------------------------


def test_tensors_larger_than_device_memory(bundle):
    side = 1 << 20
    short = [f"{side}x{side}@fp16", "-o", f"{side}x{side}@fp16"]
    done = refuses("error:", tool("spyre-run"), bundle, "-i", *short)
    message = "in0: 2199023255552 bytes are more than the device memory of 137438953472 bytes"
    assert f"spyre-run: error: {message}" in done.err, done.err
    done = refuses("error:", tool("spyre-run"), bundle, "-i", f"{1 << 62}x4@fp16", "-o", "4@fp16")
    assert "'4611686018427387904x4@fp16': '4611686018427387904' is no size; the form is 512x1024@fp16" in done.err


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 2**63 - 1])
def test_integers_outside_of_the_devices_range(tmp_path, value):
    folder = tmp_path / "bundle"
    shutil.copytree(BUNDLE.parent / "embedding_64x128", folder)
    bind = json.loads((folder / "bind.json").read_text())
    (argument,) = [a for a in bind["arguments"] if a["dtype"] == "int32"]
    argument["dtype"] = "int64"
    (folder / "bind.json").write_text(json.dumps(bind))
    arrays = dict(np.load(folder / "data.npz"))
    arrays[argument["array"]] = arrays[argument["array"]].astype(np.int64)
    np.savez(folder / "data.npz", **arrays)
    assert run(*run_bundle(folder)).code == 0
    arrays[argument["array"]].flat[3] = value
    np.savez(folder / "data.npz", **arrays)
    done = refuses("error:", *run_bundle(folder))
    assert re.search(rf"{argument['array']}.*\[3\].*{value}", done.err), done.err
