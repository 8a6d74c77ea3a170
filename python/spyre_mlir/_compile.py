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
import json
import pathlib
import sys
import tempfile
import time

from . import _native
from ._cache import Cache
from ._options import Options
from .errors import CompileError, LoadError, OptionError, _from_native


class Directory:
    """A program directory, with what has to live as long as it."""

    def __init__(self, path, owner=None, stats=None, key=None):
        self.path = pathlib.Path(path)
        self.owner = owner
        self.stats = stats or {}
        self.key = key


@contextlib.contextmanager
def progress(options: Options, what: str):
    """A line on the terminal while something takes long, if tqdm is there; else nothing."""
    show = options.progress if options.progress is not None else sys.stderr.isatty()
    bar = None
    if show:
        try:
            from tqdm import tqdm

            bar = tqdm(total=None, desc=f"spyre: {what}", leave=False, delay=0.5, bar_format="{desc} {elapsed}")
        except ImportError:
            pass
    try:
        yield
    finally:
        if bar is not None:
            bar.close()


def _run_compiler(text: str, name: str, directory: pathlib.Path, options: Options, weights) -> dict:
    module = _native.compiler()
    with progress(options, f"compiling {name}"):
        try:
            succeeded, diagnostics, stats = module.compile(
                text,
                name,
                str(directory),
                weights=list(weights),
                report=options.report,
                dump_stages=options.dump_stages,
                **options.compiled(),
            )
        except ValueError as error:
            raise OptionError(str(error)) from None
    if not succeeded:
        raise CompileError([_from_native(entry) for entry in diagnostics], name)
    return json.loads(stats)


def compile_text(text: str, options: Options, weights=(), located=None, use=lambda directory: directory):
    """What `use` makes of the program's Directory. located(): the text with source locations.

    `use` loads the program; if it cannot load what the cache had, the program is compiled again.
    """
    name = options.name or "program"
    began = time.perf_counter()
    # Reports and dumps are made by compiling.
    cache = None
    if options.cache is not False and not options.report and not options.dump_stages:
        cache = Cache(None if options.cache is True else options.cache)
        key = cache.key(text, {**options.compiled(), "weights": list(weights), "name": name}, _native.build_id())
        found = cache.find(key)
        if found is not None:
            stats = {**cache.info(key), "cached": True, "cache_s": time.perf_counter() - began, "compile_s": 0.0}
            try:
                return use(Directory(found, stats=stats, key=key))
            except LoadError:  # damaged in a way that checksums do not see, or removed meanwhile
                cache.discard(key)
    scratch = cache.scratch() if cache else None
    owner = None
    if scratch is None:
        owner = tempfile.TemporaryDirectory(prefix="spyre-")
        scratch = pathlib.Path(owner.name)
    try:
        source = located() if located else text
        try:
            stats = _run_compiler(source, name, scratch / "program", options, weights)
        except CompileError as error:
            # The cache's disk may be full; what is wrong with the program is so elsewhere, too.
            if owner is not None or not _is_write_error(error):
                raise
            _remove(scratch)
            owner = tempfile.TemporaryDirectory(prefix="spyre-")
            stats = _run_compiler(source, name, pathlib.Path(owner.name) / "program", options, weights)
            path = pathlib.Path(owner.name) / "program"
            cache.warn_full()
            return use(Directory(path, owner, {**stats, "cached": False}))
    except BaseException:
        if owner is None:
            _remove(scratch)
        raise
    if owner is not None:
        return use(Directory(scratch / "program", owner, {**stats, "cached": False}))
    path = cache.commit(scratch, key, stats)
    if path.parent == scratch:  # not in the cache: ours to remove
        owner = _Removed(scratch)
    return use(Directory(path, owner, {**stats, "cached": False}, key))


def _is_write_error(error: CompileError) -> bool:
    """Errors without a place in the program are about files."""
    return bool(error.errors) and all(not diagnostic.places for diagnostic in error.errors)


def _remove(folder):
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


class _Removed:
    """Removes a folder with itself."""

    def __init__(self, folder):
        import weakref

        weakref.finalize(self, _remove, folder)
