# _options.py - What a compilation and a device may be asked for
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# One typed object for both; unknown names and wrong types are errors that list what
# there is. What changes the compiled program is part of the cache's key.
"""Options of compile, load and run."""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
import os

from .errors import OptionError

# The largest numbers that the native modules take.
_MOST = {"threads": 256, "seed": 2**64 - 1}
_MOST_OF_ANY = 2**20


@dataclasses.dataclass(frozen=True)
class Options:
    """opt_level: 0 to 3; cores: 0 is what the level says; device: name of a variant.

    host: who computes what the device cannot: "torch" (PyTorch's own kernels; without PyTorch, as "table"),
    "table" (the runtime's functions only; the rest is refused), "none" (all of it is refused).
    check: checked mode, whose reports raise CheckError; count_only: the null device, which counts
    and computes nothing; threads: 0 is one a processor. cache: True, False, or a folder.
    """

    opt_level: int = 2
    cores: int = 0
    device: str = "spyre"
    target: str = "superdsc"
    superdsc_form: str = "2026-08"
    host: str = "torch"
    report: str = ""
    dump_stages: str = ""
    check: bool = False
    count_only: bool = False
    threads: int = 0
    seed: int = 0
    cache: bool | str | os.PathLike = True
    progress: bool | None = None
    name: str = ""

    def __post_init__(self):
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            wanted = type(field.default)
            if field.name == "progress":
                good = value is None or isinstance(value, bool)
            elif field.name == "cache":
                good = isinstance(value, (bool, str, os.PathLike))
            else:
                good = isinstance(value, wanted) and not (wanted is int and isinstance(value, bool))
            if not good:
                raise OptionError(f"{field.name}={value!r}: {wanted.__name__} wanted")
            most = _MOST.get(field.name, _MOST_OF_ANY)
            if wanted is int and not 0 <= value <= most:
                raise OptionError(f"{field.name}={value}: a number from 0 to {most} wanted")
        if self.opt_level > 3:
            raise OptionError(f"opt_level={self.opt_level}: optimisation levels are 0 to 3")
        if self.host not in ("torch", "table", "none"):
            raise OptionError(f"host={self.host!r}: 'torch', 'table' or 'none' wanted")

    def has_torch(self) -> bool:
        """Whether PyTorch runs host calls."""
        return self.host == "torch" and _is_torch_installed()

    def compiled(self) -> dict:
        """What the compiled program depends on."""
        return {
            "opt_level": self.opt_level,
            "cores": self.cores,
            "device": self.device,
            "target": self.target,
            "form": self.superdsc_form,
            "host": "any" if self.has_torch() else "none" if self.host == "none" else "table",
        }


@functools.cache
def _is_torch_installed() -> bool:
    return importlib.util.find_spec("torch") is not None


def make(options: dict) -> Options:
    known = [field.name for field in dataclasses.fields(Options)]
    for name in options:
        if name not in known:
            raise OptionError(f"there is no option '{name}'; options are {', '.join(known)}")
    return Options(**options)


@functools.cache
def _shared_device(name: str, threads: int, seed: int):
    from . import _runtime

    return _runtime.Device(name, threads=threads, seed=seed)


def make_device(options: Options):
    """The device of a program: shared by all that ask for the same, but for checked and null devices."""
    from . import _runtime

    if options.check or options.count_only:
        return _runtime.Device(
            options.device,
            checked=options.check,
            count_only=options.count_only,
            threads=options.threads,
            seed=options.seed,
        )
    return _shared_device(options.device, options.threads, options.seed)
