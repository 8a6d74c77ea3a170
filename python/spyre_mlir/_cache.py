# _cache.py - Compiled programs on disk
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# An entry is a folder named by the hash of everything that its content depends on: the
# program's text, the options, the build of the compiler, the version of this format. It
# is made under a name of its own and renamed, so that readers see it whole or not at
# all, whoever dies in between; of two that make the same, the first wins. Checksums in
# the entry find damage; a damaged entry is made again. What was used longest ago goes
# when the entries together exceed the limit. A folder that cannot be written is said
# once and otherwise does no harm.
"""A persistent cache of program directories."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import pathlib
import time
import warnings
import zlib

FORMAT = 2  # of entries; another one is another folder
DEFAULT_LIMIT = 4 << 30  # bytes
STALE_S = 3600  # an unfinished entry older than this, of a process that is gone, belongs to nobody

_SUM = "spyre-cache.json"
_CHUNK = 1 << 20
_warned: set[str] = set()


def default_directory() -> pathlib.Path:
    """SPYRE_CACHE_DIR, else the user's folder for caches."""
    if os.environ.get("SPYRE_CACHE_DIR"):
        return pathlib.Path(os.environ["SPYRE_CACHE_DIR"])
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(base) / "spyre-mlir"


def default_limit() -> int:
    """SPYRE_CACHE_LIMIT in bytes, else 4 GiB."""
    text = os.environ.get("SPYRE_CACHE_LIMIT", "")
    return int(text) if text.isdigit() else DEFAULT_LIMIT


def _warn_once(folder: pathlib.Path, what: str) -> None:
    if str(folder) not in _warned:
        _warned.add(str(folder))
        warnings.warn(f"compiled programs are not kept: {what}", RuntimeWarning, stacklevel=4)


class Cache:
    """Entries under `directory`, at most `limit` bytes of them."""

    def __init__(self, directory: os.PathLike | str | None = None, limit: int | None = None):
        self.root = pathlib.Path(directory) if directory is not None else default_directory()
        self.folder = self.root / f"v{FORMAT}"
        self.limit = default_limit() if limit is None else limit

    @staticmethod
    def key(text: str, options: dict, build: str) -> str:
        digest = hashlib.sha256()
        for part in (str(FORMAT), build, json.dumps(options, sort_keys=True)):
            digest.update(part.encode() + b"\0")
        digest.update(text.encode())
        return digest.hexdigest()

    def find(self, key: str, again: bool = True) -> pathlib.Path | None:
        """The program directory of an entry that is whole; a damaged one is removed."""
        entry = self.folder / key
        try:
            sums = json.loads((entry / _SUM).read_text())
            if sums != _sums(entry / "program"):
                raise ValueError("damaged")
        except FileNotFoundError:
            if again and (entry / _SUM).exists():  # maybe another process has put it there meanwhile
                return self.find(key, again=False)
            if entry.is_dir():
                self._remove(entry)
            return None
        except (OSError, ValueError, RecursionError):
            self._remove(entry)
            return None
        try:
            os.utime(entry)  # used now
        except OSError:
            pass
        return entry / "program"

    def discard(self, key: str) -> None:
        """Forgets an entry that turned out to be of no use."""
        self._remove(self.folder / key)

    def scratch(self) -> pathlib.Path | None:
        """A new folder in which to make an entry; None, after a warning, if there can be none."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            return make_folder(f".new-{os.getpid()}-", self.folder)
        except OSError as error:
            _warn_once(self.root, f"{error.strerror or error}: '{self.root}'")
            return None

    def commit(self, scratch: pathlib.Path, key: str, info: dict | None = None) -> pathlib.Path | None:
        """Puts scratch/program in its place; None, after a warning, if it cannot be."""
        entry = self.folder / key
        try:
            (scratch / "info.json").write_text(json.dumps(info or {}))
            # The checksum is written last: an entry without one is not whole.
            (scratch / _SUM).write_text(json.dumps(_sums(scratch / "program")))
            for attempt in range(3):
                try:
                    os.rename(scratch, entry)
                    break
                except OSError as error:
                    if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or attempt == 2:
                        raise
                    if (entry / _SUM).exists():  # somebody else was first
                        return entry / "program"
                    self._remove(entry)  # what is there is damaged, or being removed
        except OSError as error:
            _warn_once(self.root, f"{error.strerror or error}: '{self.root}'")
            return None
        self.evict(keep=key)
        return entry / "program"

    def warn_full(self) -> None:
        _warn_once(self.root, f"the entry could not be written: '{self.root}'")

    def info(self, key: str) -> dict:
        """What commit was told of an entry."""
        try:
            return json.loads((self.folder / key / "info.json").read_text())
        except (OSError, ValueError):
            return {}

    def entries(self) -> list[tuple[float, int, pathlib.Path]]:
        """(last use, bytes, folder), the oldest first."""
        found = []
        try:
            listed = list(os.scandir(self.folder))
        except OSError:
            return []
        for entry in listed:
            try:
                if entry.name.startswith("."):
                    if time.time() - entry.stat().st_mtime > STALE_S and not _is_being_made(entry.name):
                        remove_tree(entry.path)
                    continue
                found.append((entry.stat().st_mtime, _size(entry.path), pathlib.Path(entry.path)))
            except OSError:  # gone meanwhile
                continue
        return sorted(found)

    def evict(self, keep: str = "") -> None:
        """Removes what was used longest ago until the rest fits; never the entry `keep`."""
        entries = self.entries()
        total = sum(size for _, size, _ in entries)
        for _, size, entry in entries:
            if total <= self.limit:
                break
            if entry.name != keep:
                self._remove(entry)
                total -= size

    def clear(self) -> None:
        for _, _, entry in self.entries():
            self._remove(entry)

    def _remove(self, entry: pathlib.Path) -> None:
        # Renamed first: nobody finds half of it.
        try:
            grave = make_folder(".old-", self.folder)
        except OSError:
            return
        try:
            os.rename(entry, grave / "entry")
        except OSError:  # somebody else has removed it
            pass
        remove_tree(grave)


def _is_being_made(name: str) -> bool:
    """Whether the process that an unfinished entry's name tells of is there: large programs take their time."""
    number = name.removeprefix(".new-").partition("-")[0]
    if name.startswith(".new-") and number.isdigit():
        try:
            os.kill(int(number), 0)
        except ProcessLookupError:
            return False
        except OSError:  # somebody else's
            pass
        return True
    return False


# A process that finds its programs in the cache needs neither module; together they take
# longer to import than the lookup takes.
def make_folder(prefix: str, parent: pathlib.Path | None = None) -> pathlib.Path:
    import tempfile

    return pathlib.Path(tempfile.mkdtemp(prefix=prefix, dir=parent))


def remove_tree(path: os.PathLike | str) -> None:
    import shutil

    shutil.rmtree(path, ignore_errors=True)


def _files(folder: str, inside: str = ""):
    """(path inside the folder, os.DirEntry) of each file."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path, f"{inside}{entry.name}/")
            else:
                yield inside + entry.name, entry


def _size(folder: str) -> int:
    return sum(entry.stat().st_size for _, entry in _files(folder))


def _sums(folder: pathlib.Path) -> dict[str, list[int]]:
    """Size and checksum of each file, by its path inside the folder."""
    sums = {}
    for name, entry in _files(os.fspath(folder)):
        size = total = 0
        with open(entry.path, "rb", buffering=0) as stream:
            while chunk := stream.read(_CHUNK):
                size += len(chunk)
                total = zlib.crc32(chunk, total)
        sums[name] = [size, total]
    return sums
