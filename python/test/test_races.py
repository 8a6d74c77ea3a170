# test_races.py - Threads, processes and forks that share folders
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A program directory is whole for whoever reads it, whatever others do at the same time:
# forks that end, threads that save to one place, processes that compile into one folder
# or believe that this one is dead. Each test repeats what once lost a file.
"""Races about program directories."""

import gc
import os
import pathlib
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import spyre_mlir
from conftest import ADD, ROOT
from spyre_mlir import _cache, _compile

SECONDS = 3  # of each stress
MUL = ADD.replace("aten.add.Tensor", "aten.sub.Tensor")
BUILD = pathlib.Path(os.environ.get("SPYRE_BUILD", ROOT / "build"))


def repeat(work, count, seconds=SECONDS):
    """`work(i)` over and over in `count` threads; the first error of any."""
    end, errors = time.monotonic() + seconds, []

    def loop(i):
        while time.monotonic() < end and not errors:
            try:
                work(i)
            except BaseException as error:  # noqa: BLE001
                errors.append(error)

    threads = [threading.Thread(target=loop, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def in_fork(work):
    """Runs `work` in a fork, which ends as a program ends: what is to be done at exit is done."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            import atexit

            atexit._run_exitfuncs()
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_forks_that_end_leave_the_parents_folders():
    """The child has the parent's objects, and ends, or forgets them, while the parent uses what they stand for."""
    held = [_compile.compile_text(ADD, spyre_mlir.Options(cache=False)) for _ in range(2)]
    in_fork(lambda: None)
    in_fork(lambda: (held.clear(), gc.collect()))
    for directory in held:
        assert sorted(path.name for path in (directory.path / "bundles" / "0").iterdir()) == [
            "bundle.mlir",
            "launch_spec.json",
            "plan.json",
            "sdsc_0.json",
        ]
    folder = held[0].owner.path
    held.clear()
    gc.collect()
    assert not folder.exists()


def test_folders_of_a_fork_go_with_it():
    left = []

    def work():
        directory = _compile.compile_text(ADD, spyre_mlir.Options(cache=False))
        pathlib.Path(os.environ["SPYRE_CACHE_DIR"] + ".name").write_text(str(directory.owner.path))
        left.append(directory)

    in_fork(work)
    assert not pathlib.Path(pathlib.Path(os.environ["SPYRE_CACHE_DIR"] + ".name").read_text()).exists()


def test_threads_that_save_to_one_place(arrays, tmp_path):
    """Each reader gets one program or the other, whole."""
    programs = [spyre_mlir.compile_text(text, cache=False) for text in (ADD, MUL)]
    a, b = arrays
    results = [a + b, a - b]
    programs[0].save(tmp_path / "saved")

    def work(i):
        if i < 2:
            programs[i].save(tmp_path / "saved")
        else:
            got = spyre_mlir.load(tmp_path / "saved")(a, b)
            assert any(np.array_equal(got, result) for result in results)

    repeat(work, 4)
    assert [path.name for path in tmp_path.iterdir()] == ["saved"]


def test_threads_and_a_small_cache(arrays, monkeypatch):
    monkeypatch.setenv("SPYRE_CACHE_LIMIT", "1")
    texts = [ADD.replace("32,", f"{rows},") for rows in (32, 64, 96)]

    def work(i):
        spyre_mlir.compile_text(texts[i % 3], cache=i != 3).explain()

    repeat(work, 4)


def test_processes_that_compile_into_one_folder(tmp_path, environment):
    """spyre-compile replaces a directory as a whole: spyre-run reads the one or the other."""
    compiler, runner = (BUILD / "bin" / name for name in ("spyre-compile", "spyre-run"))
    if not compiler.exists():
        pytest.skip("tools")
    for name, text in (("add", ADD), ("sub", MUL)):
        (tmp_path / f"{name}.mlir").write_text(text)
    target = tmp_path / "out"
    subprocess.run([compiler, tmp_path / "add.mlir", "-o", target], check=True)

    def work(i):
        command = [compiler, tmp_path / f"{('add', 'sub')[i]}.mlir", "-o", target] if i < 2 else [runner, target]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    repeat(work, 4)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["add.mlir", "out", "sub.mlir"]


def names_in(folder):
    """What a folder that others replace has in it: of one that was replaced meanwhile, files are gone already."""
    while True:
        try:
            before = folder.stat().st_ino
            names = {path.name for path in folder.iterdir()}
            if folder.stat().st_ino == before:
                return names
        except FileNotFoundError:
            pass  # between the folder and what is in it


def test_processes_with_numbers_of_their_own(tmp_path, environment):
    """Containers that share a folder take each other's processes for dead, and have the same numbers."""
    compiler = BUILD / "bin" / "spyre-compile"
    apart = ["unshare", "--pid", "--fork"]
    if not compiler.exists() or subprocess.run([*apart, "true"], capture_output=True).returncode:
        pytest.skip("namespaces")
    (tmp_path / "add.mlir").write_text(ADD)
    target = tmp_path / "out"

    def work(i):
        done = subprocess.run([*apart, compiler, tmp_path / "add.mlir", "-o", target], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert {"launch_spec.json", "plan.json", "sdsc_0.json"} <= names_in(target / "bundles" / "0")

    repeat(work, 4)


def test_entries_that_take_long_are_left_alone(cache_dir):
    """An hour is not too long for a large program while its process lives."""
    cache = spyre_mlir.Cache()
    mine = cache.scratch()
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    theirs = cache.folder / f".new-{dead.pid}-x"
    theirs.mkdir()
    for folder in (mine, theirs):
        os.utime(folder, (time.time() - 2 * _cache.STALE_S,) * 2)
    cache.evict()
    assert mine.exists() and not theirs.exists()
