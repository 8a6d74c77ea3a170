# _numbers.py - Calls with numbers that the device cannot tell or hold
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The device's 16-bit numbers have one code for infinity and NaN, and a narrower range than
# bfloat16. The runtime counts what that concerns while it copies; here is decided what becomes
# of the call: PyTorch computes it, it warns, or it raises. A run has written nothing of the
# caller's when it ends, so a call can be computed again, but for what its host calls did:
# random numbers are drawn again from the same state, and what must not be done twice is not.
"""What a program does about NaNs and about values beyond the device's range."""

from __future__ import annotations

import logging
import threading
import warnings

import numpy as np

from .errors import NumberError, OptionError

_log = logging.getLogger("spyre_mlir")
# Of a weight or constant, values that become zero or the device's smallest number are let pass up to
# one in so many elements: of millions of normal ones some are that small, and mean zero.
_LARGE = 65536
_WHERE = {"argument": "argument ", "constant": "constant ", "host call": "the result of ", "result": "result "}


def _triggers(finding, dtype, uses_dl16, is_kept) -> tuple[str, ...]:
    """The options that a finding of the runtime concerns."""
    where = finding["where"]
    if where == "crossing":
        return ()
    if where == "result":
        if not uses_dl16 or dtype == "bool":
            return ()
        # Numbers beyond float16's range come out as infinities, as PyTorch has them.
        too_large = finding["too_large"] and dtype != "float16"
        return ("nonfinite",) * bool(finding["infinite"]) + ("out_of_range",) * bool(too_large)
    too_small = finding["too_small"]
    if is_kept and too_small * _LARGE <= np.prod(finding["shape"], dtype=np.float64):
        too_small = 0
    return ("nonfinite",) * bool(finding["nan"]) + ("out_of_range",) * bool(too_small or finding["too_large"])


def _describe(finding, option, title) -> str:
    """In words: "argument in0 has 3 NaNs, the first at [1, 2]"."""
    if finding["where"] == "result":
        if option == "nonfinite":
            return f"{title} has {finding['infinite']} infinities, which may be NaNs"
        return f"{title} has {finding['too_large']} times the largest number of the device"
    if option == "nonfinite":
        count, first, what = finding["nan"], finding["first_nan"], "NaN"
    else:
        count, first = finding["too_small"] + finding["too_large"], finding["first_out_of_range"]
        what = "number beyond the device's range"
    if count != 1:
        what = what.replace("number ", "numbers ") if " " in what else what + "s"
    return f"{title} has {count} {what}, the first at {_place(finding, first)}"


def _place(finding, first) -> list:
    return [int(index) for index in np.unravel_index(first, finding["shape"])] if first >= 0 else []


class Guard:
    """Of one program. host: computes it with PyTorch, host(weights, inputs) -> all results, or None."""

    def __init__(self, options, native, inputs, outputs, host=None, note=None):
        self.host = host if options.has_torch() else None
        self.native = native
        self.inputs = {spec.name: spec for spec in inputs}
        self.outputs = {spec.name: spec for spec in outputs}
        self.note = note
        self.modes = {}
        for option in ("nonfinite", "out_of_range"):
            mode = getattr(options, option)
            if mode == "host" and self.host is None:
                raise OptionError(
                    f"{option}='host': PyTorch computes no calls of this program"
                    + (": it was loaded or made from a text" if host is None else f" (host={options.host!r})")
                    + "; 'warn' or 'error' wanted"
                )
            self.modes[option] = mode or ("warn" if self.host is None else "host")
        self.uses_dl16 = native.uses_dl16
        # The runtime's own functions draw nothing and have no effects.
        self.draws, self.may_repeat = _host_calls_of(native) if options.has_torch() else (False, True)
        native.set_number_policy(
            stops_at_nan=self.modes["nonfinite"] != "warn",
            stops_out_of_range=self.modes["out_of_range"] != "warn",
            stops_after_host_calls=self.may_repeat,
        )
        self.kept = {}  # number of a weight, or name of a constant -> what was found
        self.held = None  # (finding, option) because of which no call is for the device
        self.warned = set()
        self.counts = {}
        self.calls_on_host = 0
        self.lock = threading.Lock()
        for finding in native.constant_numbers:
            self._keep(finding["name"], finding)

    # --- weights and constants ---------------------------------------------------

    def bound(self, index, finding):
        """A weight has been bound; finding: what the runtime says of its numbers, or None."""
        if finding is not None or index in self.kept:
            self._keep(index, finding)

    def _keep(self, key, finding):
        with self.lock:
            self.kept.pop(key, None)
            if finding is not None:
                self.kept[key] = finding
                self._count(finding)
            held = [(kept, option) for kept in self.kept.values() for option in self._options_of(kept, is_kept=True)]
            strictest = ("error", "host", "warn")
            self.held = min(held, key=lambda entry: strictest.index(self.modes[entry[1]]), default=None)
        if finding is not None and not self._options_of(finding, is_kept=True) and finding["too_small"]:
            _log.info("%s; too few to matter", _describe(finding, "out_of_range", self._title(finding)))

    # --- calls -------------------------------------------------------------------

    def before(self):
        """What `again` needs to draw the random numbers of a run once more."""
        if not self.draws:
            return None
        import torch

        return torch.get_rng_state()

    def again(self, state):
        """The random numbers are those that they were."""
        if state is not None:
            import torch

            torch.set_rng_state(state)

    def is_for_host(self) -> bool:
        """Whether weights or constants decide it, before a run."""
        if self.held is None:
            return False
        return self._is_decided([(*self.held, True)])

    def settle(self, found, is_stopped) -> bool:
        """After a run with findings: whether the host has to compute the call."""
        with self.lock:
            for finding in found:
                self._count(finding)
        # A run that has stopped did so for the last one, and before anything that must not be repeated.
        return self._is_decided(
            (finding, option, self.may_repeat or (is_stopped and finding is found[-1]))
            for finding in found
            for option in self._options_of(finding)
        )

    def compute(self, weights, inputs):
        """The call by PyTorch: results of their own, dense, as a run gives them."""
        import torch

        with self.lock:
            self.calls_on_host += 1
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = self.host(weights, inputs)
        taken = {tensor.untyped_storage().data_ptr() for tensor in (*weights, *inputs)}
        own = []
        for spec, result in zip(self.outputs.values(), results):
            result = result.detach().to(getattr(torch, spec.dtype)).resolve_conj().resolve_neg().contiguous()
            if result.untyped_storage().data_ptr() in taken:
                result = result.clone(memory_format=torch.contiguous_format)
            taken.add(result.untyped_storage().data_ptr())
            own.append(result)
        return own

    # --- the decision ----------------------------------------------------------------

    def _options_of(self, finding, is_kept=False):
        spec = self.outputs.get(finding["name"]) if finding["where"] == "result" else None
        return _triggers(finding, spec.dtype if spec else None, self.uses_dl16, is_kept)

    def _title(self, finding) -> str:
        name, spec = finding["name"], self.inputs.get(finding["name"])
        weight = f" ({spec.weight})" if spec is not None and spec.weight else ""
        return _WHERE[finding["where"]] + name + weight

    def _is_decided(self, found) -> bool:
        """Whether the host computes the call, because of one of (finding, option, may be repeated); raises or warns if it is to."""
        reason = None
        for finding, option, may_repeat in found:
            title = self._title(finding)
            text = _describe(finding, option, title)
            mode, is_result = self.modes[option], finding["where"] == "result"
            if mode == "error" and not is_result:
                first = finding["first_nan" if option == "nonfinite" else "first_out_of_range"]
                count = finding["nan"] if option == "nonfinite" else finding["too_small"] + finding["too_large"]
                raise NumberError(text, title, count, tuple(_place(finding, first)))
            if mode != "warn" and self.host is not None and may_repeat:
                reason = reason or (text, title + _KINDS[option, is_result])
            else:
                self._warn(option, text)
        if reason is None:
            return False
        _log.info("a call is computed by PyTorch: %s", reason[0])
        if self.note is not None:
            self.note(reason[1])
        return True

    def _warn(self, option, text):
        """Once a program."""
        with self.lock:
            is_first = option not in self.warned
            self.warned.add(option)
        if is_first:
            warnings.warn(f"spyre: {text}; {_MEANING[option]} (option {option})", stacklevel=6)

    def _count(self, finding):
        for key in ("nan", "infinite", "too_small", "too_large", "largest"):
            if finding[key]:
                of, name = self.counts.setdefault(key, {}), finding["name"] or "between device and host"
                of[name] = of.get(name, 0) + finding[key]

    @property
    def stats(self) -> dict:
        with self.lock:
            counts = {key: dict(of) for key, of in self.counts.items()}
            return {"calls_on_host": self.calls_on_host, **counts}


_KINDS = {
    ("nonfinite", False): " has NaNs",
    ("out_of_range", False): " has numbers beyond the device's range",
    ("nonfinite", True): " has infinities or NaNs",
    ("out_of_range", True): " has numbers beyond the device's range",
}
_MEANING = {
    "nonfinite": "the device does not tell NaNs from infinities, and results may differ from PyTorch's",
    "out_of_range": "the device keeps the nearest number that it has, and results may differ from PyTorch's",
}


def _host_calls_of(native) -> tuple[bool, bool]:
    """Of a program's host calls: whether one draws random numbers, and whether all may be done twice."""
    names = native.host_calls
    if not names:
        return False, True
    from ._host import draws, may_repeat

    return any(map(draws, names)), all(map(may_repeat, names))
