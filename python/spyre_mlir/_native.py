# _native.py - Finds the native modules
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installed, they lie beside this file. In a checkout they are in the build folder:
# SPYRE_NATIVE names the folder that holds them (build/python/spyre_mlir), else SPYRE_BUILD
# the build folder, else it is `build` of the checkout. The compiler's module loads MLIR,
# so it is imported when something is to be compiled, and not before.
"""The native modules, installed or in a build folder."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import pathlib
import struct

_HERE = pathlib.Path(__file__).resolve().parent


def _folder() -> pathlib.Path | None:
    """The build folder's part of this package; None if the modules are installed."""
    if any(_HERE.glob("_runtime.*.so")):
        return None
    places = []
    if "SPYRE_NATIVE" in os.environ:
        places.append(pathlib.Path(os.environ["SPYRE_NATIVE"]))
    if "SPYRE_BUILD" in os.environ:
        places.append(pathlib.Path(os.environ["SPYRE_BUILD"]) / "python" / "spyre_mlir")
    places.append(_HERE.parent.parent / "build" / "python" / "spyre_mlir")
    for place in places:
        if any(place.glob("_runtime.*.so")):
            return place
    raise ImportError(
        "spyre_mlir has no native module: install the package (pip install .), or build with -DSPYRE_PYTHON=ON; looked in "
        + ", ".join(str(place) for place in places)
    )


def extend(path: list[str]) -> None:
    """Adds the build folder's part to the package's search path, if it is needed."""
    folder = _folder()
    if folder is not None:
        path.append(str(folder))


def compiler():
    """The module of the compiler; loading it loads MLIR."""
    return importlib.import_module("spyre_mlir._compiler")


@functools.cache
def build_id() -> str:
    """Tells builds of the compiler apart: the linker's hash of it, read without loading it."""
    spec = importlib.util.find_spec("spyre_mlir._compiler")
    if spec is None or spec.origin is None:
        raise ImportError("spyre_mlir has no compiler module beside its runtime module")
    found = _gnu_build_id(spec.origin)
    if found:
        return found
    status = os.stat(spec.origin)
    return f"{status.st_size:x}-{status.st_mtime_ns:x}"


def _gnu_build_id(file: str) -> str | None:
    """The NT_GNU_BUILD_ID note of a 64-bit ELF file."""
    with open(file, "rb") as stream:
        header = stream.read(64)
        if header[:5] != b"\x7fELF\x02":
            return None
        (offset,) = struct.unpack_from("<Q", header, 32)
        size, count = struct.unpack_from("<HH", header, 54)
        stream.seek(offset)
        table = stream.read(size * count)
        for i in range(count):
            kind, _, start, _, _, length = struct.unpack_from("<IIQQQQ", table, i * size)
            if kind != 4:  # PT_NOTE
                continue
            stream.seek(start)
            notes = stream.read(length)
            at = 0
            while at + 12 <= len(notes):
                name_size, data_size, tag = struct.unpack_from("<III", notes, at)
                name_end = at + 12 + (name_size + 3) // 4 * 4
                if tag == 3 and notes[at + 12 : at + 15] == b"GNU":
                    return notes[name_end : name_end + data_size].hex()
                at = name_end + (data_size + 3) // 4 * 4
    return None
