# test_bad_input.py - What the tools do with input that is wrong
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every wrong input gets exit code 1 (wrong usage: 2), a message that names the
# thing and its place, nothing half-written, and no crash: cut and damaged
# files, arrays that do not fit, values out of range, writes that fail at any
# byte, interrupted runs. Exact wordings are tested beside the code that says
# them; here it is whole processes.
"""Bad input to spyre-compile and spyre-run."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from lib import harness  # noqa: E402

DATA = pathlib.Path(os.environ.get("SPYRE_TEST_DATA") or HERE.parent / "data")
BUILD = pathlib.Path(os.environ.get("SPYRE_BUILD") or harness.REPOSITORY / "build")
MODELS = DATA / "models"
BUNDLE = DATA / "superdsc" / "bundles" / "small" / "hint_softmax_m4_64x128"


def tool(name):
    path = BUILD / "bin" / name
    if not path.exists():
        pytest.skip(f"{name} is not built")
    return path


def run(*command, environment=None):
    """A finished process that neither crashed nor hung."""
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
        env={**os.environ, **(environment or {})},
    )
    assert done.returncode in (0, 1, 2), f"exit code {done.returncode}: {done.stderr}"
    assert not harness.CRASH_MARKS.search(done.stderr), done.stderr
    return done


def refuses(pattern, *command, code=1, environment=None):
    done = run(*command, environment=environment)
    assert done.returncode == code, f"exit code {done.returncode}: {done.stdout}{done.stderr}"
    assert "error:" in done.stderr, done.stderr
    assert re.search(pattern, done.stderr), done.stderr
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


@pytest.mark.parametrize(
    "text, pattern",
    [
        ("func.func @main(", r"program\.mlir:\d+:\d+: error:"),
        ("func.func @main() { torch.aten.add.Tensor }", r"program\.mlir:1:\d+: error:"),
        (add_program("4,64", operation="aten.no_such_op"), r"program\.mlir:3:\d+: .*aten\.no_such_op"),
        (add_program("4,64", dtype="complex<f64>"), r"program\.mlir:\d+:\d+: .*complex<f64>"),
        (add_program("?,64"), r"program\.mlir:\d+:\d+: .*(dynamic|\?)"),
        (add_program("1048576,1048576"), r"program\.mlir:\d+:\d+: .*(memory|bytes|larger|too)"),
        ("", r"error:"),
    ],
    ids=["syntax", "malformed", "unknown-operation", "element-type", "dynamic", "too-large", "empty"],
)
def test_bad_program(tmp_path, text, pattern):
    source = tmp_path / "program.mlir"
    source.write_text(text)
    refuses(pattern, tool("spyre-compile"), source, "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()


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
    assert "aten.no_such_a" in done.stderr and "aten.no_such_b" in done.stderr
    assert re.search(r":3:\d+: ", done.stderr)


@pytest.mark.parametrize("flag", ["--no-such-flag", "--cores=0", "--cores=x", "-O7", "--target=none"])
def test_wrong_usage_of_the_compiler(tmp_path, flag):
    done = run(tool("spyre-compile"), MODELS / "add_32x96.mlir", "-o", tmp_path / "out", flag)
    assert done.returncode in (1, 2) and done.stderr, done.stderr
    assert not (tmp_path / "out").exists()


def test_missing_file_and_unwritable_target(tmp_path):
    compiler = tool("spyre-compile")
    refuses(r"nowhere\.mlir", compiler, tmp_path / "nowhere.mlir", "-o", tmp_path / "out")
    (tmp_path / "file").write_text("in the way")
    refuses(r"file", compiler, MODELS / "add_32x96.mlir", "-o", tmp_path / "file" / "out")


# --- arrays ------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, pattern",
    [
        (lambda a: a.pop("in1"), r"in1"),
        (lambda a: a.update(in1=a["in1"][:, :50]), r"in1.*(32x50|\[32, ?50\]|50)"),
        (lambda a: a.update(in1=a["in1"].astype(np.float64)), r"in1.*float64"),
        (lambda a: a.update(in1=a["in1"].reshape(-1)), r"in1"),
    ],
    ids=["missing", "shape", "type", "rank"],
)
def test_bad_inputs(tmp_path, change, pattern):
    data = np.load(MODELS / "add_32x96.npz")
    arrays = {name: data[name] for name in ("in0", "in1")}
    change(arrays)
    np.savez(tmp_path / "in.npz", **arrays)
    command = [tool("spyre-run"), MODELS / "add_32x96.mlir", "--inputs", tmp_path / "in.npz"]
    refuses(pattern, *command, "--outputs", tmp_path / "out.npz")
    assert not (tmp_path / "out.npz").exists()


def test_damaged_array_file(tmp_path):
    spyre_run = tool("spyre-run")
    whole = (MODELS / "add_32x96.npz").read_bytes()
    bad = tmp_path / "bad.npz"
    for length in (0, 10, len(whole) // 3, len(whole) - 30):
        bad.write_bytes(whole[:length])
        refuses(r"bad\.npz", spyre_run, MODELS / "add_32x96.mlir", "--inputs", bad)


def test_mismatching_expectation(tmp_path):
    data = np.load(MODELS / "add_32x96.npz")
    wrong = data["out0"].copy()
    wrong[3, 5] += 1
    np.savez(tmp_path / "expect.npz", out0=wrong)
    command = [tool("spyre-run"), MODELS / "add_32x96.mlir", "--inputs", MODELS / "add_32x96.npz"]
    done = run(*command, "--expect", tmp_path / "expect.npz")
    assert done.returncode == 1 and re.search(r"out0.*\[?3, ?5\]?", done.stderr + done.stdout), done.stderr
    assert run(*command, "--expect", MODELS / "add_32x96.npz").returncode == 0


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


@pytest.mark.parametrize("name", ["../bundle/sdsc_1.json", "/etc/passwd", "a/../../sdsc_1.json"])
def test_descriptor_outside_of_the_folder(bundle, name):
    text = (bundle / "bundle.mlir").read_text().replace('"sdsc_1.json"', json.dumps(name))
    (bundle / "bundle.mlir").write_text(text)
    refuses(r"bundle\.mlir|" + re.escape(name), *run_bundle(bundle))


def test_binding_of_a_newer_version(bundle):
    bind = json.loads((bundle / "bind.json").read_text())
    bind["version"] = 999
    (bundle / "bind.json").write_text(json.dumps(bind))
    refuses(r"bind\.json.*(version|999)", *run_bundle(bundle))


def test_program_of_a_newer_version(tmp_path):
    compiler, spyre_run = tool("spyre-compile"), tool("spyre-run")
    assert run(compiler, MODELS / "add_32x96.mlir", "-o", tmp_path / "p").returncode == 0
    for name in ("program.json", "bundles/0/plan.json", "bundles/0/launch_spec.json"):
        file = tmp_path / "p" / name
        whole = file.read_text()
        content = json.loads(whole)
        content["version"] = 999
        file.write_text(json.dumps(content))
        refuses(rf"{re.escape(file.name)}.*(version|999)", spyre_run, tmp_path / "p")
        file.write_text(whole[: len(whole) // 2])
        refuses(re.escape(file.name), spyre_run, tmp_path / "p")
        file.unlink()
        refuses(re.escape(file.name), spyre_run, tmp_path / "p")
        file.write_text(whole)
    assert run(spyre_run, tmp_path / "p").returncode == 0


# --- writing -----------------------------------------------------------------


def test_failed_write_leaves_nothing(tmp_path):
    compiler = tool("spyre-compile")
    source = MODELS / "softmax_32x256.mlir"
    assert run(compiler, source, "-o", tmp_path / "good").returncode == 0
    total = sum(p.stat().st_size for p in (tmp_path / "good").rglob("*") if p.is_file())
    (tmp_path / "work").mkdir()
    for after in [1, 2, 100, *range(500, total, max(total // 12, 1)), total]:
        target = tmp_path / "work" / "out"
        refuses(r"write|space", compiler, source, "-o", target, environment={"SPYRE_TEST_FAIL_WRITE_AFTER": str(after)})
        assert list((tmp_path / "work").iterdir()) == [], f"left when byte {after} fails"


def test_failed_write_keeps_what_was_there(tmp_path):
    compiler = tool("spyre-compile")
    target = tmp_path / "out"
    assert run(compiler, MODELS / "add_32x96.mlir", "-o", target).returncode == 0
    before = {p.name: p.read_bytes() for p in target.rglob("*") if p.is_file()}
    environment = {"SPYRE_TEST_FAIL_WRITE_AFTER": "200"}
    assert run(compiler, MODELS / "softmax_32x256.mlir", "-o", target, environment=environment).returncode == 1
    assert {p.name: p.read_bytes() for p in target.rglob("*") if p.is_file()} == before
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_compilation_leaves_no_program(tmp_path, number):
    compiler = tool("spyre-compile")
    for wait in (0.0, 0.02, 0.05, 0.1):
        target = tmp_path / "out"
        process = subprocess.Popen([compiler, MODELS / "chain_64_32x64.mlir", "-o", target], stderr=subprocess.DEVNULL)
        time.sleep(wait)
        process.send_signal(number)
        process.wait(60)
        if target.exists():  # it was ready before: then it is whole
            assert (target / "program.json").exists()
            shutil.rmtree(target)
