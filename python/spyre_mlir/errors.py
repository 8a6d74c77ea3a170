# errors.py - What the package raises
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# One base class; each class also is what Python calls such a mistake, so that
# `except TypeError` or `except MemoryError` means what it says. The native module
# raises these classes by name.
"""Exceptions of the package."""

from __future__ import annotations

import linecache
import os
from typing import NamedTuple


class SpyreError(Exception):
    """Base of everything that the package raises."""


class OptionError(SpyreError, ValueError):
    """An option has no such value."""


class ArgumentError(SpyreError, TypeError):
    """Arguments of a call that the program does not take: number, type, shape, device, content."""


class NumberError(SpyreError, FloatingPointError):
    """Numbers that the device cannot tell or hold, under nonfinite="error" or out_of_range="error".

    argument: which array; count: how many; first: the place of the first, a tuple.
    """

    def __init__(self, message: str, argument: str = "", count: int = 0, first: tuple = ()):
        self.argument = argument
        self.count = count
        self.first = first
        super().__init__(message)


class DeviceMemoryError(SpyreError, MemoryError):
    """Memory of the device, or of the host that emulates it, does not suffice."""


class ExecutionError(SpyreError, RuntimeError):
    """The device could not run the program."""


class LoadError(SpyreError, ValueError):
    """A program directory that is missing, damaged or of another version."""


class ExportError(SpyreError, ValueError):
    """PyTorch or torch-mlir has no program for the function."""


class Place(NamedTuple):
    """A line of a source file. Columns are from 1; 0 is unknown."""

    file: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f":{self.column}" if self.column else "")


class Diagnostic(NamedTuple):
    """One message of the compiler. `places` are the calls that led there, the innermost first.

    refusals: of an error, the operations that it refuses."""

    severity: str
    message: str
    places: tuple[Place, ...] = ()
    notes: tuple[Diagnostic, ...] = ()
    refusals: tuple[Refusal, ...] = ()

    @property
    def place(self) -> Place | None:
        """The line to look at: the innermost one of the user's own code."""
        own = [place for place in self.places if not _is_library(place.file)]
        return (own or list(self.places) or [None])[0]

    @property
    def file(self) -> str | None:
        return self.place.file if self.place else None

    @property
    def line(self) -> int | None:
        return self.place.line if self.place else None

    @property
    def column(self) -> int | None:
        return self.place.column if self.place else None

    def __str__(self) -> str:
        place = self.place
        text = (f"{place}: " if place else "") + f"{self.severity}: {self.message}"
        if place and place.file.endswith(".py"):
            line = linecache.getline(place.file, place.line).strip()
            text += f"\n    {line}" if line else ""
        for note in self.notes:
            text += "\n" + "\n".join("  " + line for line in str(note).splitlines())
        return text


def _is_library(file: str) -> bool:
    if os.path.dirname(file) == os.path.dirname(__file__):
        return True
    parts = file.split(os.sep)
    return "site-packages" in parts or "dist-packages" in parts


def _from_native(entry: dict) -> Diagnostic:
    return Diagnostic(
        entry["severity"],
        entry["message"],
        tuple(Place(*place) for place in entry["places"]),
        tuple(_from_native(note) for note in entry["notes"]),
        tuple(
            Refusal(name, rule, reason, tuple(Place(*place) for place in places))
            for name, rule, reason, places in entry["refusals"]
        ),
    )


class Refusal(NamedTuple):
    """An operation that the device does not have: its name, the part of the compiler that refuses it
    ("lowering", "precision", "range", "planning"), why, and the calls that led there, the innermost first."""

    operation: str
    rule: str
    reason: str
    places: tuple[Place, ...] = ()


class CompileError(SpyreError):
    """The compiler refused a program. `diagnostics` has everything that it said, `refusals` the operations."""

    def __init__(self, diagnostics: list[Diagnostic], name: str = ""):
        self.diagnostics = diagnostics
        self.name = name
        super().__init__(diagnostics, name)

    @property
    def refusals(self) -> list[Refusal]:
        return [refusal for diagnostic in self.errors for refusal in diagnostic.refusals]

    @property
    def errors(self) -> list[Diagnostic]:
        return [diagnostic for diagnostic in self.diagnostics if diagnostic.severity == "error"]

    def __str__(self) -> str:
        title = f"{self.name or 'the program'} was not compiled"
        return "\n".join([title, *(str(diagnostic) for diagnostic in self.errors or self.diagnostics)])


class Report(NamedTuple):
    """An access that a program must not make, as checked mode saw it. Core -1 is the host."""

    kind: str
    op: str
    tensor: str
    core: int
    address: int
    message: str

    def __str__(self) -> str:
        who = f"core {self.core}" if self.core >= 0 else "host"
        return f"{self.op}, {who}, address {self.address}: {self.kind}: {self.message}"


class CheckError(SpyreError, RuntimeError):
    """Checked mode found accesses that a program must not make. `count` may exceed `reports`."""

    def __init__(self, reports: list, count: int):
        self.reports = [report if isinstance(report, Report) else Report(**report) for report in reports]
        self.count = count
        super().__init__(reports, count)

    def __str__(self) -> str:
        lines = [f"checked mode has {self.count} report{'s' if self.count != 1 else ''}"]
        lines += [str(report) for report in self.reports]
        if self.count > len(self.reports):
            lines.append(f"and {self.count - len(self.reports)} more")
        return "\n".join(lines)
