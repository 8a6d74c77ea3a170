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
import json
import math
import os
import threading

from .errors import OptionError

# The largest numbers that the native modules take.
_MOST = {"threads": 256, "seed": 2**64 - 1}
_MOST_OF_ANY = 2**20
# The names of planning::PlanKind.
PLAN_KINDS = ("best", "untiled", "tiled", "banded", "carried", "banded-carried", "carried-products")


@dataclasses.dataclass(frozen=True)
class Options:
    """opt_level: 0 to 3; cores: 0 is what the level says; device: name of a variant.

    host: who computes what the device cannot: "torch" (PyTorch's own kernels; without PyTorch, as "table"),
    "table" (the runtime's functions only; the rest is refused), "none" (all of it is refused).
    precision: "default": what the program writes as float32 is computed with float32's accuracy, 16-bit types in the
    device's 16-bit format; "strict": those, too, are computed as accurately as PyTorch does, in float32; "fast":
    products of float32 tensors have 16-bit factors and results.
    exact_arguments: float16 arguments are float32 on the device where their last bit decides.
    exact_results: so are results that were chosen among them or scaled (relu, maximum, x * 2), as what reads them
    may decide by that bit; torch.compile has it always, since the next graph may.
    moves_on_host: a program that only moves data is PyTorch's: for parts of graphs, as torch.compile has it.
    plan_kind: "best": the plan that takes least in the cost model; "untiled", "tiled", "banded", "carried", "banded-carried" or
    "carried-products": one of that kind where there is one, to compare them.
    plan: a file that says how the program is to be planned (docs/formats/schedule.md), or what such a file holds as
    a dict: obeyed, or refused with the reason. The file is read once, here. save_plan: where to write the plan.
    plan_seconds: seconds for each kind of plan to look at more tiles than usual.
    rates: a rates file, or its rates as a dict: measured ones in the place of the device's, which plans, times and
    the clock then go by. The file is read once, here.
    weights: how a weight that was written to is noticed where PyTorch counts no change of it (writes through
    `.data`, memory shared with NumPy, tensors of inference mode): "checked" (its bytes are summed before each
    call), "sampled" (64 words of it are), "versions" (not at all, but by refresh_weights()).
    check: checked mode, whose reports raise CheckError; count_only: the null device, which counts
    and computes nothing; threads: 0 is one a processor. cache: True, False, or a folder.
    nonfinite, out_of_range: what becomes of a call with NaNs, and of one with numbers beyond the device's
    range: "host" (PyTorch computes it), "warn" (the device does, with one warning a program), "error";
    None: "host" where that can be, else "warn".
    """

    opt_level: int = 2
    cores: int = 0
    device: str = "spyre"
    target: str = "superdsc"
    superdsc_form: str = "2026-08"
    host: str = "torch"
    precision: str = "default"
    exact_arguments: bool = True
    exact_results: bool = False
    moves_on_host: bool = False
    plan_kind: str = "best"
    plan: dict | str | os.PathLike | None = None
    save_plan: str = ""
    plan_seconds: float = 0.0
    rates: dict[str, float] | str | os.PathLike | None = None
    weights: str = "checked"
    report: str = ""
    dump_stages: str = ""
    check: bool = False
    count_only: bool = False
    threads: int = 0
    seed: int = 0
    nonfinite: str | None = None
    out_of_range: str | None = None
    cache: bool | str | os.PathLike = True
    progress: bool | None = None
    name: str = ""

    def __post_init__(self):
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            wanted = type(field.default)
            if field.name == "progress":
                good = value is None or isinstance(value, bool)
            elif field.name in ("nonfinite", "out_of_range"):
                if value not in (None, "host", "warn", "error"):
                    raise OptionError(f"{field.name}={value!r}: 'host', 'warn' or 'error' wanted")
                good = True
            elif field.name in ("rates", "plan"):
                good, wanted = value is None or isinstance(value, (dict, str, os.PathLike)), dict
            elif field.name == "plan_seconds":
                good = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1e6
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
        if self.precision not in ("default", "strict", "fast"):
            raise OptionError(f"precision={self.precision!r}: 'default', 'strict' or 'fast' wanted")
        if self.plan_kind not in PLAN_KINDS:
            raise OptionError(f"plan_kind={self.plan_kind!r}: one of {', '.join(map(repr, PLAN_KINDS))} wanted")
        if self.weights not in ("checked", "sampled", "versions"):
            raise OptionError(f"weights={self.weights!r}: 'checked', 'sampled' or 'versions' wanted")
        if self.rates is not None and not isinstance(self.rates, _Rates):
            object.__setattr__(self, "rates", _read_rates(self.rates, self.device))
        if self.plan is not None and not isinstance(self.plan, _Plan):
            object.__setattr__(self, "plan", _read_plan(self.plan))

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
            "precision": self.precision,
            "exact_arguments": self.exact_arguments,
            "exact_results": self.exact_results,
            "moves_on_host": self.moves_on_host,
            "plan_kind": self.plan_kind,
            "plan": str(self.plan or ""),
            "plan_seconds": float(self.plan_seconds),
            "rates": dict(self.rates or {}),
            "host": "any" if self.has_torch() else "none" if self.host == "none" else "table",
        }


class _Rates(dict):
    """Rates that have been read and checked; options are values."""

    def __hash__(self):
        return hash(frozenset(self.items()))


class _Plan(str):
    """The text of a plan that has been read; options are values."""


def _read_file(option: str, path: str | os.PathLike) -> str:
    """The text of the file that `option` names."""
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read()
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"{option}={os.fspath(path)!r}: {getattr(error, 'strerror', None) or error}") from None


def _read_plan(plan: dict | str | os.PathLike) -> _Plan:
    if isinstance(plan, dict):
        try:
            return _Plan(json.dumps(plan))
        except (TypeError, ValueError) as error:
            raise OptionError(f"plan={plan!r}: {error}") from None
    return _Plan(_read_file("plan", plan))


def _read_rates(rates: dict | str | os.PathLike, device: str) -> _Rates:
    from . import _runtime

    if isinstance(rates, dict):
        # The words of a file's mistakes fit to those of a dict, which may hold what JSON cannot.
        endless = [name for name, value in rates.items() if isinstance(value, float) and not math.isfinite(value)]
        if endless:
            raise OptionError("\n".join(f"rates: /rates/{name}: a rate is a finite number" for name in endless))
        try:
            text = json.dumps({"version": 1, "rates": rates})
        except (TypeError, ValueError) as error:
            raise OptionError(f"rates={rates!r}: {error}") from None
        return _Rates(_runtime.parse_rates(text, "rates", device))
    return _Rates(_runtime.parse_rates(_read_file("rates", rates), os.fspath(rates), device))


@functools.cache
def _is_torch_installed() -> bool:
    return importlib.util.find_spec("torch") is not None


def make(options: dict) -> Options:
    known = [field.name for field in dataclasses.fields(Options)]
    for name in options:
        if name not in known:
            raise OptionError(f"there is no option '{name}'; options are {', '.join(known)}")
    return Options(**options)


_devices: dict = {}
_making = threading.Lock()


def _shared_device(name: str, threads: int, seed: int):
    from . import _runtime

    with _making:
        if (name, threads, seed) not in _devices:
            _devices[name, threads, seed] = _runtime.Device(name, threads=threads, seed=seed)
        return _devices[name, threads, seed]


def weights_on(device) -> dict:
    """What the programs of a device share: weights and constants, and those that are there in a second layout."""
    arrays = device.shared_arrays()
    return {
        "arrays": sum(others == 0 for *_, others in arrays),
        "bytes": sum(size for _, size, *_ in arrays),
        "more_layouts": [[layout, size] for layout, size, _, others in arrays if others],
    }


def shared_weights() -> list[dict]:
    """The same for each device that programs share."""
    return [weights_on(device) for device in list(_devices.values())]


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
