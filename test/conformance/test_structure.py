# test_structure.py - No library depends on one above it
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The libraries of lib/ with what they link (the CMake files say it) and what they include.
# A header belongs to the library of its folder. LAYERS is the order of docs/developer/
# architecture.md: what stands in a line may use lines above it, and its own only through links.
# Names of device operations stand in the OpFunc table; elsewhere its enumerators and the
# operations' classes are used, which the compiler checks.
"""The link graph and the includes, against the order of the layers; no names of operations in passes."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIB, INCLUDE = ROOT / "lib", ROOT / "include" / "spyre"

# Folders of lib/, lowest first. Those before the bar do without MLIR and LLVM.
LAYERS = [
    "Support Numerics",
    "OpFunc Device Host Layout",
    "CostModel Artifact SuperDSC KTIRExecutor/Machine",
    "Planning Report Runtime",
    "|",
    "Dialect/Torch/IR Dialect/SuperDSC/IR Dialect/KTIR/IR Dialect/Spyre/IR",
    "Loader KTIRExecutor Dialect/KTIR/Transforms Dialect/Spyre/Transforms/L1 Dialect/Spyre/Transforms/L2",
    "Target/SuperDSC Dialect/Spyre/Transforms/L3",
    "Dialect/SuperDSC/Transforms",
    "Conversion/TorchToSpyre Conversion/SpyreToSuperDSC Conversion/SpyreToKTIR",
    "Compiler",
    "Tools",
]
LEVEL = {folder: level for level, line in enumerate(LAYERS) for folder in line.split() if folder != "|"}
BAR = LAYERS.index("|")
ADD = re.compile(r"spyre_add_(core|mlir)_library\((\w+)(.*?)\n?\)", re.S)


def read_libraries():
    """target -> (folder, is it on MLIR, targets that it links)."""
    libraries = {}
    for path in sorted(LIB.rglob("CMakeLists.txt")):
        for kind, name, body in ADD.findall(path.read_text()):
            links = re.search(r"\bLINK\b(.*?)(?=\bDEPENDS\b|\bSOURCES\b|$)", body, re.S)
            linked = re.findall(r"\bSpyre\w+", links[1]) if links else []
            libraries[name] = (path.parent.relative_to(LIB).as_posix(), kind == "mlir", linked)
    return libraries


LIBRARIES = read_libraries()


def folder_of(path):
    """The folder of LAYERS that a file of lib/ or include/spyre/ belongs to."""
    parts = path.as_posix().split("/")[:-1]
    while parts and "/".join(parts) not in LEVEL:
        parts.pop()
    return "/".join(parts)


def closure(target):
    seen, left = set(), [target]
    while left:
        name = left.pop()
        if name not in seen and name in LIBRARIES:
            seen.add(name)
            left += LIBRARIES[name][2]
    return seen


def included_by(path):
    """Folders whose headers a file includes."""
    for header in re.findall(r'#include "spyre/([^"]+)"', path.read_text()):
        if folder := folder_of(pathlib.PurePosixPath(header)):
            yield header, folder


def test_every_folder_has_a_layer():
    unknown = {folder for folder, _, _ in LIBRARIES.values() if folder not in LEVEL}
    assert not unknown
    assert not {folder for folder in LEVEL if not (LIB / folder).is_dir()}


def test_the_picture_has_every_folder():
    """docs/picture/levels.svg, by the last two parts of each folder's path."""
    picture = (ROOT / "docs" / "picture" / "levels.svg").read_text()
    assert not [folder for folder in LEVEL if "/".join(folder.split("/")[-2:]) not in picture]


def test_links_go_down():
    wrong = []
    for name, (folder, _, links) in LIBRARIES.items():
        for other in links:
            if other in LIBRARIES and LEVEL[LIBRARIES[other][0]] > LEVEL[folder]:
                wrong.append(f"{name} ({folder}) links {other} ({LIBRARIES[other][0]}), which is above it")
        if name in {below for link in links for below in closure(link)}:
            wrong.append(f"{name} links itself")
    assert not wrong, "\n".join(wrong)


def test_nothing_below_the_bar_is_on_mlir():
    wrong = [name for name, (folder, on_mlir, _) in LIBRARIES.items() if on_mlir != (LEVEL[folder] > BAR)]
    assert not wrong


def test_includes_are_linked():
    """A library includes headers of what it links, itself or through others."""
    folders = {}
    for name, (folder, _, _) in LIBRARIES.items():
        folders.setdefault(folder, set()).update(LIBRARIES[other][0] for other in closure(name))
    # Headers of the private part of a library stand beside its sources.
    files = [path.relative_to(LIB) for path in LIB.rglob("*") if path.suffix in (".cpp", ".h", ".inc")]
    wrong = []
    for root, paths in ((LIB, files), (INCLUDE, [p.relative_to(INCLUDE) for p in INCLUDE.rglob("*.h")])):
        for path in paths:
            own = folder_of(path)
            for header, other in included_by(root / path):
                if own and other not in folders[own]:
                    wrong.append(f"{root.relative_to(ROOT) / path} includes {header}, and {own} does not link {other}")
    assert not wrong, "\n".join(sorted(set(wrong)))


def test_passes_have_no_names_of_operations():
    names = set()
    for row in (ROOT / "docs" / "developer" / "opfuncs.md").read_text().splitlines():
        if match := re.match(r"\| `(\w+)`(?: \(`spyre\.(\w+)`\))? \|", row):
            names.update(name for name in match.groups() if name)
    assert len(names) > 60
    wrong = []
    for folder in ("Dialect/Spyre/Transforms", "Conversion/SpyreToSuperDSC", "Conversion/SpyreToKTIR", "Compiler"):
        for path in (LIB / folder).rglob("*.[ch]*"):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                code = line.split("//")[0]
                wrong += [
                    f"{path.relative_to(ROOT)}:{number}: {name!r}"
                    for name in re.findall(r'"(?:spyre\.)?(\w+)"', code)
                    if name in names
                ]
    assert not wrong, "\n".join(wrong)
