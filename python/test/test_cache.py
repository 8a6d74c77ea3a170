# test_cache.py - The persistent cache
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What happens to processes that die, run at the same time, may not write, or find
# damage; and that old entries go.
"""The cache of compiled programs."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import pytest
import spyre_mlir
from conftest import ADD, SKIPS
from spyre_mlir import _cache, _compile, _native


def entries(cache_dir):
    folder = cache_dir / f"v{_cache.FORMAT}"
    return sorted(path for path in folder.iterdir() if not path.name.startswith(".")) if folder.exists() else []


def is_right(program, arrays):
    return np.array_equal(program(*arrays), arrays[0] + arrays[1])


def test_second_compilation_is_found(arrays, cache_dir):
    assert not spyre_mlir.compile_text(ADD).stats["cached"]
    program = spyre_mlir.compile_text(ADD)
    assert program.stats["cached"] and is_right(program, arrays) and len(entries(cache_dir)) == 1
    assert program.stats["device_ops"] == 1


def test_options_text_and_build_are_the_key(monkeypatch, cache_dir):
    spyre_mlir.compile_text(ADD)
    assert not spyre_mlir.compile_text(ADD, opt_level=0).stats["cached"]
    assert not spyre_mlir.compile_text(ADD, cores=4).stats["cached"]
    assert not spyre_mlir.compile_text(ADD + "\n").stats["cached"]
    assert spyre_mlir.compile_text(ADD, check=True).stats["cached"]  # not the compiler's business
    monkeypatch.setattr(_native, "build_id", lambda: "another build")
    assert not spyre_mlir.compile_text(ADD).stats["cached"]
    assert len(entries(cache_dir)) == 5


def test_build_id_is_the_linkers():
    assert len(_native.build_id()) == 40 and int(_native.build_id(), 16)


def test_cache_can_be_off_or_elsewhere(tmp_path, cache_dir, arrays):
    assert is_right(spyre_mlir.compile_text(ADD, cache=False), arrays) and not cache_dir.exists()
    spyre_mlir.compile_text(ADD, cache=tmp_path / "mine")
    assert entries(tmp_path / "mine") and not cache_dir.exists()


def test_place_of_the_cache(monkeypatch):
    monkeypatch.delenv("SPYRE_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert str(_cache.default_directory()) == "/somewhere/spyre-mlir"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/somebody")
    assert str(_cache.default_directory()) == "/somebody/.cache/spyre-mlir"


@pytest.mark.parametrize("damage", ["cut", "flip", "remove", "sums", "empty"])
def test_damaged_entries_are_compiled_again(arrays, cache_dir, damage):
    spyre_mlir.compile_text(ADD)
    (entry,) = entries(cache_dir)
    plan = next((entry / "program").rglob("plan.json"))
    if damage == "cut":
        plan.write_bytes(plan.read_bytes()[:-10])
    elif damage == "flip":
        content = bytearray(plan.read_bytes())
        content[len(content) // 2] ^= 1
        plan.write_bytes(content)
    elif damage == "remove":
        plan.unlink()
    elif damage == "sums":
        (entry / "spyre-cache.json").write_text("[")
    else:
        shutil.rmtree(entry)
        entry.mkdir()
    program = spyre_mlir.compile_text(ADD)
    assert not program.stats["cached"] and is_right(program, arrays)
    assert spyre_mlir.compile_text(ADD).stats["cached"]


def test_an_entry_that_appears_meanwhile_is_found(arrays, cache_dir, monkeypatch):
    """Another process renames its entry to its place between a look and the next."""
    spyre_mlir.compile_text(ADD)
    (_, _, entry), cache = spyre_mlir.Cache().entries()[0], spyre_mlir.Cache()
    read, looks = pathlib.Path.read_text, []

    def missing_at_first(path, *args, **keys):
        looks.append(path)
        if len(looks) == 1:
            raise FileNotFoundError(path)
        return read(path, *args, **keys)

    monkeypatch.setattr(pathlib.Path, "read_text", missing_at_first)
    assert cache.find(entry.name) == entry / "program" and (entry / "program" / "program.json").exists()


def test_entries_that_do_not_load_are_compiled_again(arrays, cache_dir):
    """Damage that the checksums agree with."""
    spyre_mlir.compile_text(ADD)
    (entry,) = entries(cache_dir)
    (entry / "program" / "program.json").write_text("{}")
    (entry / "spyre-cache.json").write_text(json.dumps(_cache._sums(entry / "program")))
    assert is_right(spyre_mlir.compile_text(ADD), arrays)
    assert spyre_mlir.compile_text(ADD).stats["cached"]


def test_what_was_used_longest_ago_goes(cache_dir, monkeypatch):
    texts = [ADD.replace("32,", f"{rows},") for rows in (32, 64, 96)]
    for text in texts[:2]:
        spyre_mlir.compile_text(text)
    size = sum(size for _, size, _ in spyre_mlir.Cache().entries()) // 2
    for at, (_, _, entry) in enumerate(spyre_mlir.Cache().entries()):
        os.utime(entry, (1000 + at, 1000 + at))
    assert spyre_mlir.compile_text(texts[0]).stats["cached"]  # used now
    monkeypatch.setenv("SPYRE_CACHE_LIMIT", str(size * 5 // 2))
    spyre_mlir.compile_text(texts[2])
    assert len(entries(cache_dir)) == 2
    assert spyre_mlir.compile_text(texts[0]).stats["cached"] and spyre_mlir.compile_text(texts[2]).stats["cached"]
    assert not spyre_mlir.compile_text(texts[1]).stats["cached"]


def test_one_entry_above_the_limit_is_kept_and_works(arrays, monkeypatch):
    monkeypatch.setenv("SPYRE_CACHE_LIMIT", "1")
    assert is_right(spyre_mlir.compile_text(ADD), arrays)


def test_clear(cache_dir):
    spyre_mlir.compile_text(ADD)
    spyre_mlir.Cache().clear()
    assert not entries(cache_dir)


def unwritable(monkeypatch, error):
    """The cache's folder cannot be written; places for temporary files can."""
    make = tempfile.mkdtemp

    def refuse(*args, **options):
        raise error

    def mkdtemp(suffix=None, prefix=None, dir=None):
        if dir is not None and "cache" in str(dir):
            raise error
        return make(suffix, prefix, dir)

    monkeypatch.setattr(tempfile, "mkdtemp", mkdtemp)
    monkeypatch.setattr(_cache.os, "utime", refuse)
    monkeypatch.setattr(_cache, "_warned", set())


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), OSError(30, "Read-only file system")])
def test_read_only_folder_is_a_warning_once(arrays, cache_dir, monkeypatch, error):
    spyre_mlir.compile_text(ADD)
    with monkeypatch.context() as patch:
        unwritable(patch, error)
        assert spyre_mlir.compile_text(ADD).stats["cached"]  # reading is all right
        with pytest.warns(RuntimeWarning, match="are not kept") as seen:
            assert is_right(spyre_mlir.compile_text(ADD, opt_level=0), arrays)
            assert is_right(spyre_mlir.compile_text(ADD, opt_level=1), arrays)
        assert len(seen) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason=SKIPS["root"])
def test_folder_without_permission(arrays, cache_dir):
    cache_dir.mkdir(mode=0o500)
    with pytest.warns(RuntimeWarning, match="are not kept"):
        assert is_right(spyre_mlir.compile_text(ADD), arrays)


def test_place_that_is_no_folder(arrays, cache_dir):
    cache_dir.write_text("a file")
    with pytest.warns(RuntimeWarning, match="are not kept"):
        assert is_right(spyre_mlir.compile_text(ADD), arrays)


def test_full_disk_is_a_warning(arrays, cache_dir, monkeypatch):
    def refuse(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_cache.os, "rename", refuse)
    monkeypatch.setattr(_cache, "_warned", set())
    with pytest.warns(RuntimeWarning, match="No space left"):
        program = spyre_mlir.compile_text(ADD)
    assert is_right(program, arrays) and not entries(cache_dir)


def test_disk_that_fills_while_the_compiler_writes(arrays, cache_dir, monkeypatch):
    """What the compiler says then has no place in the program; elsewhere there is room."""
    compiler = _compile._run_compiler

    def refuse(text, name, directory, *more):
        if cache_dir in directory.parents:
            raise spyre_mlir.CompileError([spyre_mlir.Diagnostic("error", "cannot write: No space left on device")])
        return compiler(text, name, directory, *more)

    monkeypatch.setattr(_compile, "_run_compiler", refuse)
    monkeypatch.setattr(_cache, "_warned", set())
    with pytest.warns(RuntimeWarning, match="could not be written"):
        program = spyre_mlir.compile_text(ADD)
    assert is_right(program, arrays) and not entries(cache_dir)


def test_no_room_anywhere_is_an_error(environment):
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", f"import spyre_mlir; spyre_mlir.compile_text({ADD!r})"],
        env={**environment, "SPYRE_TEST_FAIL_WRITE_AFTER": "300"},
        text=True,
        capture_output=True,
    )
    assert result.returncode == 1 and "No space left on device" in result.stderr


def test_program_outlives_its_entry(arrays, tmp_path):
    """Another process may remove what this one uses."""
    program = spyre_mlir.compile_text(ADD)
    spyre_mlir.Cache().clear()
    assert is_right(program, arrays) and "launches" in program.explain()
    program.save(tmp_path / "saved")
    assert is_right(spyre_mlir.load(tmp_path / "saved"), arrays)


def test_killed_process_leaves_nothing_that_is_found(environment, arrays, cache_dir):
    """Killed when the program is written but not yet in its place."""
    code = (
        "import os, signal, spyre_mlir\n"
        "from spyre_mlir import _cache\n"
        "_cache.Cache.commit = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"spyre_mlir.compile_text({ADD!r})\n"
    )
    killed = subprocess.run([sys.executable, "-c", code], env=environment)
    assert killed.returncode == -signal.SIGKILL and not entries(cache_dir)
    left = list((cache_dir / f"v{_cache.FORMAT}").iterdir())
    assert len(left) == 1
    program = spyre_mlir.compile_text(ADD)
    assert not program.stats["cached"] and is_right(program, arrays)
    # What nobody has finished is removed when it is old.
    os.utime(left[0], (time.time() - 2 * _cache.STALE_S,) * 2)
    spyre_mlir.Cache().evict()
    assert not left[0].exists() and len(entries(cache_dir)) == 1


def test_processes_at_the_same_time(environment, cache_dir):
    code = (
        "import numpy, spyre_mlir\n"
        "a = numpy.ones((32, 96), numpy.float16)\n"
        "for level in range(4):\n"
        f"    assert (spyre_mlir.compile_text({ADD!r}, opt_level=level)(a, a) == 2).all()\n"
    )
    # A limit that makes them remove each other's entries.
    environment = {**environment, "SPYRE_CACHE_LIMIT": "10000"}
    running = [subprocess.Popen([sys.executable, "-W", "error", "-c", code], env=environment) for _ in range(6)]
    assert [process.wait(timeout=120) for process in running] == [0] * 6


def test_no_warnings_otherwise(arrays):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spyre_mlir.compile_text(ADD)
        assert is_right(spyre_mlir.compile_text(ADD), arrays)
