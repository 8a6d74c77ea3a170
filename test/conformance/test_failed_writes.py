# test_failed_writes.py - Outputs are whole or absent, whatever happens
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every kind of output of every tool: a write that fails at any byte (a full disk,
# by the hook SPYRE_TEST_FAIL_WRITE_AFTER, since tests may run as root), and runs that
# a signal ends at any moment. Afterwards the target is what it was before or what it
# was to become, and nothing lies beside it.
"""Failed writes and interrupted runs."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest
from lib.built import MODELS, run, tool
from test_bad_input import BUNDLE

from lib import harness

SOFTMAX = MODELS / "softmax_32x256.mlir"
KINDS = (
    "program",
    "stages",
    "compile-stats",
    "report",
    "bundle",
    "sdsc-text",
    "outputs",
    "run-stats",
    "trace",
    "solve",
)


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """Inputs that other tools have made: a program directory, a module with descriptors."""
    folder = tmp_path_factory.mktemp("made")
    done = run(tool("spyre-compile"), SOFTMAX, "-o", folder / "program", f"--dump-stages={folder}/stages")
    assert done.code == 0, done.err
    (folder / "problem.csv").write_text("id,lower,upper,size\n" + "".join(f"{i},{i},{i + 3},64\n" for i in range(40)))
    return folder


def command_for(kind, made, target, work):
    """The command that writes `target`."""
    compiler, runner, translate = tool("spyre-compile"), tool("spyre-run"), tool("spyre-translate")
    (superdsc,) = (made / "stages").glob("*-superdsc.mlir")
    commands = {
        "program": [compiler, SOFTMAX, "-o", target],
        "stages": [compiler, SOFTMAX, "-o", work / "program", f"--dump-stages={target}"],
        "compile-stats": [compiler, SOFTMAX, "-o", work / "program", f"--stats={target}"],
        "report": [compiler, SOFTMAX, "-o", work / "program", f"--report={target}"],
        "bundle": [translate, "--sdsc-to-bundle", superdsc, "-o", target],
        "sdsc-text": [translate, "--bundle-to-sdsc", BUNDLE, "-o", target],
        "outputs": [runner, made / "program", "--outputs", target],
        "run-stats": [runner, made / "program", f"--stats={target}"],
        "trace": [runner, made / "program", f"--trace={target}"],
        "solve": [
            tool("spyre-solve"),
            "pack",
            "--input",
            made / "problem.csv",
            "--output",
            target,
            "--capacity",
            "4096",
        ],
    }
    return commands[kind]


def content(path):
    """What a file or folder holds, hidden files included."""
    if path.is_dir():
        return {str(p.relative_to(path)): p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file()}
    return path.read_bytes() if path.exists() else None


def size_of(path):
    whole = content(path)
    return len(whole) if isinstance(whole, bytes) else sum(map(len, whole.values()))


@pytest.mark.parametrize("kind", KINDS)
def test_write_that_fails_at_any_byte(kind, made, tmp_path):
    good, work = tmp_path / "good", tmp_path / "work"
    good.mkdir()
    work.mkdir()
    command = command_for(kind, made, good / "out", good)
    done = run(*command)
    assert done.code == 0, done.err
    expected = content(good / "out")
    # What the run writes before and with the target; statistics differ by a digit.
    total = sum(size_of(path) for path in good.iterdir())
    if kind in ("compile-stats", "run-stats", "report"):
        total -= 16
    target = work / "out"
    for byte in sorted({1, 2, total // 2, total - 1, total, *range(7, total, max(total // 9, 1))}):
        environment = {"SPYRE_TEST_FAIL_WRITE_AFTER": str(byte), "TMPDIR": str(work)}
        done = run(*command_for(kind, made, target, work), environment=environment)
        assert done.code == 1, f"byte {byte}: {done.err}"
        assert re.search(r"error: (loc\(unknown\): )?cannot write \S+: No space left on device", done.err), done.err
        left = sorted(path.name for path in work.iterdir())
        # Whole files of an earlier output may be there: the program before its statistics, earlier stages.
        assert set(left) <= {"out", "program"}, f"byte {byte}: {left}"
        if kind == "stages":
            assert content(target).items() <= expected.items(), f"byte {byte}"
        elif kind == "program" or "program" not in left or kind == "report":
            assert content(target) is None, f"byte {byte}"
        if "program" in left:
            assert content(work / "program") == content(good / "program")
            shutil.rmtree(work / "program")
        shutil.rmtree(target, ignore_errors=True)


@pytest.mark.parametrize("kind", ["program", "bundle", "sdsc-text", "outputs", "run-stats", "compile-stats", "solve"])
def test_failed_write_keeps_what_was_there(kind, made, tmp_path):
    target = tmp_path / "work" / "out"
    target.parent.mkdir()
    assert run(*command_for(kind, made, target, tmp_path)).code == 0
    before = content(target)
    total = size_of(target) + (size_of(tmp_path / "program") if (tmp_path / "program").exists() else 0)
    done = run(*command_for(kind, made, target, tmp_path), environment={"SPYRE_TEST_FAIL_WRITE_AFTER": str(total // 2)})
    assert done.code == 1
    assert content(target) == before
    assert [path.name for path in target.parent.iterdir()] == ["out"]


@pytest.mark.parametrize("kind", ["compile-stats", "sdsc-text", "outputs", "run-stats", "trace", "solve"])
def test_devices_are_written_to_and_stay(kind, made, tmp_path):
    if not pathlib.Path("/dev/full").exists():
        pytest.skip(harness.skip_reasons()["no-full-device"])
    done = run(*command_for(kind, made, "/dev/full", tmp_path))
    assert done.code == 1
    assert re.search(r"cannot write /dev/full: No space left on device", done.err), done.err
    assert run(*command_for(kind, made, "/dev/null", tmp_path)).code == 0
    assert pathlib.Path("/dev/null").is_char_device() and pathlib.Path("/dev/full").is_char_device()


@pytest.mark.parametrize("action", ["--bundle-to-sdsc", "--explain"])
def test_standard_output_that_is_full(action):
    if not pathlib.Path("/dev/full").exists():
        pytest.skip(harness.skip_reasons()["no-full-device"])
    with open("/dev/full", "w") as full:
        done = subprocess.run([tool("spyre-translate"), action, BUNDLE], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, "spyre-translate: error: cannot write to standard output\n")


# --- interrupted runs --------------------------------------------------------


def interrupt(command, wait, number, work):
    """Exit code of a run that gets a signal after `wait` seconds."""
    environment = {**os.environ, "TMPDIR": str(work / "tmp")}
    process = subprocess.Popen(
        [str(word) for word in command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        # Whoever runs the tests in the background, or past the end of a terminal, has these ignored.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    time.sleep(wait)
    process.send_signal(number)
    return process.wait(60)


def duration(command):
    begin = time.monotonic()
    assert run(*command).code == 0
    return time.monotonic() - begin


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("what", ["compile", "run"])
def test_interrupted_runs_leave_nothing_half_written(what, number, tmp_path):
    source = MODELS / "chain_256_32x64.mlir"
    work = tmp_path / "work"
    (work / "tmp").mkdir(parents=True)
    target = work / "out"
    if what == "compile":
        command = [tool("spyre-compile"), source, "-o", target]
    else:
        command = [tool("spyre-run"), source, "--outputs", target, "--check"]
    whole = duration(command)
    expected = content(target)
    ended = []
    for part in range(8):
        shutil.rmtree(target, ignore_errors=True)
        target.unlink(missing_ok=True)
        code = interrupt(command, whole * part / 7, number, work)
        assert code in (0, -number), f"exit code {code}"
        ended.append(code)
        assert content(target) in (None, {}, expected)
        if target.exists() and target.is_dir():
            assert content(target) == expected
        assert sorted(path.name for path in work.iterdir() if path != target) == ["tmp"]
        assert list((work / "tmp").iterdir()) == []
    assert -number in ended


def test_a_killed_run_is_cleaned_up_by_the_next(tmp_path):
    command = [tool("spyre-compile"), MODELS / "chain_256_32x64.mlir", "-o", tmp_path / "out"]
    whole = duration(command)
    for part in range(6):
        process = subprocess.Popen([str(word) for word in command], stderr=subprocess.DEVNULL)
        time.sleep(whole * (0.5 + part / 10))
        process.kill()
        process.wait(60)
    assert run(*command).code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / "program.json").exists()
