# _compile.py - Texts to program directories, through the cache
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Where a program directory comes from: the cache, or the native compiler, which writes
# into the cache or, where that cannot be, into a temporary folder that lives as long as
# the program.
"""The compiler behind the cache."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import pathlib
import re
import sys
import threading
import time
import weakref

from . import _native
from ._cache import Cache, make_folder, remove_tree
from ._options import Options
from .errors import CompileError, LoadError, OptionError, _from_native

_OPEN_SIZE = re.compile(r"tensor<\[[^\]]*\?")


class _Temporary:
    """A temporary folder that goes with this object."""

    def __init__(self):
        self.path = make_folder("spyre-")
        weakref.finalize(self, _remove_own, self.path, os.getpid())


def _remove_own(path: pathlib.Path, owner: int) -> None:
    """Removes what this process has made. A fork has the object, too; the folder is its parent's, who uses it still."""
    if os.getpid() == owner:
        remove_tree(path)


class Directory:
    """A program directory. An entry of the cache may be removed by others: copy_to makes it again."""

    def __init__(self, path, make=None, stats=None, owner=None):
        self.path = pathlib.Path(path)
        self.make = make
        self.owner = owner  # lives as long as the directory is needed
        self.stats = stats or {}

    def describe(self) -> str:
        """program.json, read while it is there."""
        try:
            return (self.path / "program.json").read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise LoadError(f"{self.path / 'program.json'}: {error}") from error

    def copy_to(self, target: pathlib.Path) -> None:
        import shutil

        try:
            shutil.copytree(self.path, target)
        except (OSError, shutil.Error):
            remove_tree(target)
            if self.make is None:
                raise
            self.make(target)


def shows_progress(options: Options) -> bool:
    """True if tqdm is there and a person is likely to look."""
    show = options.progress if options.progress is not None else sys.stderr is not None and sys.stderr.isatty()
    return show and importlib.util.find_spec("tqdm") is not None


@contextlib.contextmanager
def progress(show: bool, what: str):
    """The time that something takes, on standard error once it is half a second; or nothing."""
    if not show:
        yield
        return
    from tqdm import tqdm

    done = threading.Event()

    def tick():
        if done.wait(0.5):
            return
        with tqdm(total=None, desc=f"spyre: {what}", leave=False, bar_format="{desc} {elapsed}") as bar:
            while not done.wait(0.5):
                bar.refresh()

    ticker = threading.Thread(target=tick, daemon=True)
    ticker.start()
    try:
        yield
    finally:
        done.set()
        ticker.join()


def _in_python(message: str) -> str:
    """What the compiler says of a flag, of the option: `--superdsc-form=x: …` is `superdsc_form=x: …`."""
    flag = re.match(r"--([a-z-]+)", message)
    return flag[1].replace("-", "_") + message[flag.end() :] if flag else message


def _run_compiler(text: str, name: str, directory: pathlib.Path, options: Options, weights, shapes) -> dict:
    module = _native.compiler()
    with progress(shows_progress(options), f"compiling {name}"):
        try:
            succeeded, diagnostics, stats = module.compile(
                text,
                name,
                str(directory),
                weights=list(weights),
                input_shapes=shapes,
                report=options.report,
                dump_stages=options.dump_stages,
                save_plan=options.save_plan,
                **options.compiled(),
            )
        except ValueError as error:
            raise OptionError(_in_python(str(error))) from None
    if not succeeded:
        raise CompileError([_from_native(entry) for entry in diagnostics], name)
    return json.loads(stats)


def compile_text(
    text: str, options: Options, weights=(), located=None, use=lambda directory: directory, input_shapes=()
):
    """What `use` makes of the program's Directory. located(): the text with source locations.

    input_shapes: the shape of each argument, for a text with sizes left open (`?`).

    `use` loads the program; if it cannot load what the cache had, the program is compiled again.
    """
    name = options.name or "program"
    source = lambda: located() if located else text
    # A program whose sizes are all known is the same one for all callers.
    shapes = [[int(size) for size in shape] for shape in input_shapes] if _OPEN_SIZE.search(text) else []

    def make(target):
        return _run_compiler(source(), name, target, options, weights, shapes)

    # Reports and dumps are made by compiling.
    if options.cache is not False and not (options.report or options.dump_stages or options.save_plan):
        began = time.perf_counter()
        cache = Cache(None if options.cache is True else options.cache)
        settings = {**options.compiled(), "weights": list(weights), "input_shapes": shapes, "name": name}
        # A plan that calls parts of the program by name makes of the same text with other names another program.
        keyed = source() if '"scope"' in str(options.plan or "") else text
        key = cache.key(keyed, settings, _native.build_id())
        found = cache.find(key)
        stats = {"cached": found is not None, "cache_s": time.perf_counter() - began}
        if found is None:
            found = _into_cache(cache, key, make, stats)
        else:
            stats |= {**cache.info(key), "compile_s": 0.0}
        if found is not None:
            try:
                return use(Directory(found, make, stats))
            except LoadError:  # removed meanwhile, or damaged in a way that checksums do not see
                cache.discard(key)
                found = None if stats["cached"] is False else _into_cache(cache, key, make, stats)
                stats["cached"] = False
                if found is not None:
                    try:
                        return use(Directory(found, make, stats))
                    except LoadError:
                        pass
    owner = _Temporary()
    path = owner.path / "program"
    stats = {**make(path), "cached": False}
    return use(Directory(path, make, stats, owner))


def _into_cache(cache: Cache, key: str, make, stats: dict) -> pathlib.Path | None:
    """Compiles into the cache; None if it cannot be written. Adds to stats."""
    scratch = cache.scratch()
    if scratch is None:
        return None
    try:
        made = make(scratch / "program")
        stats |= made
        return cache.commit(scratch, key, made)
    except CompileError as error:
        # The cache's disk may be full; what is wrong with a program is so elsewhere, too.
        if not _is_write_error(error):
            raise
        cache.warn_full()
        return None
    finally:
        remove_tree(scratch)


def _is_write_error(error: CompileError) -> bool:
    """Errors without a place in the program are about files."""
    return bool(error.errors) and all(not diagnostic.places for diagnostic in error.errors)
