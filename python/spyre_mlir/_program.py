# _program.py - Compiled programs: calling, explaining, saving
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A program knows which of its arguments are weights (_weights.py) and how a call's tensors become arguments. A tensor
# that is dense and of the right type is passed as its address; what is not is made so.
"""CompiledProgram."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import sys
import threading
import time

import numpy as np

from ._cache import make_folder, remove_tree
from ._collectives import is_pending, settle
from ._compile import progress
from ._options import weights_on
from ._shared import identity_of
from ._weights import FixedWeights, WeightTracker
from .errors import ArgumentError, LoadError, SpyreError

# Formats that NumPy lacks cross as their bits.
_BITS = {
    "bfloat16": np.uint16,
    "float8_e4m3fn": np.uint8,
    "float8_e5m2": np.uint8,
    "float8_e4m3fnuz": np.uint8,
    "float8_e5m2fnuz": np.uint8,
}
_CONVENTION = "python.json"
_WEIGHTS = "weights.npz"


@dataclasses.dataclass(frozen=True)
class ArraySpec:
    """An argument or a result: `in0`, PyTorch's name of the dtype, shape, and the weight that it is, if any."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    weight: str | None = None

    @property
    def numpy_dtype(self) -> np.dtype:
        """What NumPy sees: the dtype, or that of its bits."""
        return np.dtype(_BITS.get(self.dtype, self.dtype))

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype} {list(self.shape)}" + (f" ({self.weight})" if self.weight else "")


class _Taker:
    """How one argument of a call is taken; what a call needs of its ArraySpec, looked up once."""

    __slots__ = ("spec", "shape", "numpy_dtype", "torch_dtype")

    def __init__(self, spec: ArraySpec):
        self.spec = spec
        self.shape = spec.shape
        self.numpy_dtype = spec.numpy_dtype
        self.torch_dtype = None  # known when the first tensor comes

    def take(self, torch, value):
        """(address or array for the native call, what keeps its memory alive)."""
        if torch is not None and isinstance(value, torch.Tensor):
            if self.torch_dtype is None:
                self.torch_dtype = getattr(torch, self.spec.dtype)
            if type(value) is not torch.Tensor and hasattr(value, "trigger_wait"):  # of a functional collective
                value = value.trigger_wait()
            if value.dtype is not self.torch_dtype or value.shape != self.shape:
                self._refuse(f"{str(value.dtype).removeprefix('torch.')} {list(value.shape)}")
            if not value.is_cpu:
                raise ArgumentError(f"{self.spec.name} is on device {value.device}; programs take tensors of the CPU")
            if value.layout is not torch.strided:
                raise ArgumentError(f"{self.spec.name} has the layout {value.layout}; programs take dense tensors")
            if not value.is_contiguous() or value.is_neg() or (self.torch_dtype.is_complex and value.is_conj()):
                value = value.resolve_conj().resolve_neg().contiguous()
            return value.data_ptr(), value
        if isinstance(value, np.generic):  # NumPy makes these of arrays without dims
            value = np.asarray(value)
        if not isinstance(value, np.ndarray):
            if isinstance(value, (int, float, complex, bool)):
                raise ArgumentError(f"{self.spec.name} is a Python number; the program takes a tensor, {self.spec}")
            if hasattr(value, "__dlpack__"):
                return value, value
            raise ArgumentError(f"{self.spec.name} is {type(value).__name__}; the program takes a tensor, {self.spec}")
        if value.dtype != self.numpy_dtype or value.shape != self.shape:
            self._refuse(f"{value.dtype} {list(value.shape)}")
        if not value.flags.c_contiguous:
            value = np.ascontiguousarray(value)
        return value, value

    def _refuse(self, what):
        raise ArgumentError(f"{self.spec.name} is {what}, the program takes {self.spec.dtype} {list(self.shape)}")


@dataclasses.dataclass
class Convention:
    """How the tensors of a Python call meet arguments and results."""

    weight_names: list = dataclasses.field(default_factory=list)
    constants: dict = dataclasses.field(default_factory=dict)  # leaf -> value
    in_spec: object = None
    out_spec: object = None
    outputs: list = dataclasses.field(default_factory=list)  # ("result", i) or ("constant", value)
    # (what, where it goes). What: a result's number, or a tensor as it is, ("input", leaf) or ("weight", i).
    # Where: into ("input", leaf) or ("weight", i), or in place of it ("slot", ([weight or None, ...], number)).
    mutations: list = dataclasses.field(default_factory=list)


class CompiledProgram:
    """A program on a device. Call it with tensors or arrays; calls from several threads take turns."""

    def __init__(
        self, directory, device, native, convention, weights, stats, shows_progress, guard, weight_checks="checked"
    ):
        self._directory = directory
        self._device = device
        self._native = native
        self._convention = convention
        self.weights = weights if weights is not None else FixedWeights(())
        self._shows_progress = shows_progress
        self._stats = stats
        self._run_s = 0.0
        self._runs = 0
        self._binding = threading.Lock()
        names = convention.weight_names if convention else []
        # The directory may be an entry of the cache, which others may remove.
        self._description = directory.describe()
        self.inputs = tuple(
            ArraySpec(weight=names[i] if i < len(names) else None, **entry) for i, entry in enumerate(native.arguments)
        )
        self.outputs = tuple(ArraySpec(**entry) for entry in native.results)
        # guard(inputs, outputs): what to do about numbers that the device cannot tell or hold.
        self._guard = guard(self.inputs, self.outputs)
        self._takers = [_Taker(spec) for spec in self.inputs]
        self._taken = self.inputs[len(names) :]
        self._padding = [None] * len(names)
        self._flat = self._is_flat()
        self._shared = [None] * len(names)  # what the programs' weights are known by, alive as long as they are used
        self._tracker = WeightTracker(self._bind, weight_checks)
        tensors = self.weights.tensors()
        self._has_weights = bool(tensors)
        self._tracker.copy_all(tensors)

    # --- weights ---------------------------------------------------------------

    def _bind(self, index, tensor):
        address, keep = self._takers[index].take(sys.modules.get("torch"), tensor)
        self._shared[index] = shared = identity_of(tensor)
        self._guard.bound(index, self._native.bind(index, address, shared.key))
        del keep

    def refresh_weights(self) -> None:
        """Has the next call copy all weights to the device again."""
        with self._binding:
            self._tracker.forget()

    # --- calls -----------------------------------------------------------------

    def _is_flat(self):
        convention = self._convention
        if convention is None or convention.in_spec is None:
            return True
        spec = convention.in_spec
        try:
            args, kwargs = spec.children()
            return (
                not convention.constants
                and kwargs.num_leaves == 0
                and all(child.is_leaf() for child in args.children())
            )
        except (AttributeError, ValueError):
            return False

    def _leaves(self, args, kwargs):
        convention = self._convention
        if self._flat and not kwargs:
            return args, args
        if convention is None or convention.in_spec is None:
            raise ArgumentError("this program takes its arguments by position")
        from torch.utils import _pytree

        leaves, spec = _pytree.tree_flatten((args, kwargs))
        if spec != convention.in_spec:
            raise ArgumentError(
                f"arguments are arranged otherwise than the examples: {spec} is not {convention.in_spec}"
            )
        for i, value in convention.constants.items():
            if type(leaves[i]) is not type(value) or leaves[i] != value:
                raise ArgumentError(f"argument {i} is {leaves[i]!r}; the program was compiled for {value!r}")
        return leaves, [leaf for i, leaf in enumerate(leaves) if i not in convention.constants]

    def __call__(self, *args, **kwargs):
        """One run. Results are tensors if an argument is, or if there are none and it was compiled from PyTorch; else arrays."""
        leaves, tensors = self._leaves(args, kwargs)
        if len(tensors) != len(self._taken):
            raise ArgumentError(
                f"{len(tensors)} arguments given, the program takes {len(self._taken)}: "
                + ", ".join(map(str, self._taken))
            )
        if self._has_weights:
            with self._binding:
                self._tracker.copy_changed(self.weights.tensors())
        torch = sys.modules.get("torch")
        if is_pending():
            tensors = settle(torch, [spec.name for spec in self._taken], tensors, self._device.checked)
        given, alive = list(self._padding), []
        for taker, value in zip(self._takers[len(given) :], tensors):
            address, keep = taker.take(torch, value)
            given.append(address)
            alive.append(keep)
        began = time.perf_counter()
        guard = self._guard
        if guard.held is not None and guard.is_for_host():
            results = None
        elif self._shows_progress and (self._runs == 0 or self._run_s > 0.5):
            with progress(True, f"running {json.loads(self._description)['name']}"):
                results = self._run(given)
        else:
            results = self._run(given)
        if results is None:
            results = self._compute_on_host(alive)
        self._run_s = time.perf_counter() - began
        self._runs += 1
        wants_torch = torch is not None and (
            any(isinstance(value, torch.Tensor) for value in tensors) if tensors else self._convention is not None
        )
        if wants_torch:
            results = [self._to_torch(torch, spec, array) for spec, array in zip(self.outputs, results)]
        return self._arrange(results, leaves)

    def _run(self, given):
        """The results of the device; None if the host has to compute them."""
        guard = self._guard
        state = guard.before() if guard.draws else None
        try:
            results = self._native.run(given)
        except ArgumentError:  # whoever computes it otherwise draws the same numbers
            guard.again(state)
            raise
        if type(results) is tuple:
            results, found = results
            if guard.settle(found, results is None):
                guard.again(state)
                return None
        return results

    def _compute_on_host(self, values):
        """Arrays, as a run's."""
        import torch

        inputs = []
        for spec, value in zip(self._taken, values):
            if not isinstance(value, (torch.Tensor, np.ndarray)):
                value = torch.from_dlpack(value)
            inputs.append(value if isinstance(value, torch.Tensor) else self._to_torch(torch, spec, value))
        return [_bits_of(result) for result in self._guard.compute(self.weights.tensors(), inputs)]

    def _to_torch(self, torch, spec, array):
        tensor = torch.from_numpy(array)
        return tensor.view(getattr(torch, spec.dtype)) if spec.dtype in _BITS else tensor

    def _arrange(self, results, leaves):
        convention = self._convention
        if convention is None or convention.out_spec is None:
            return results[0] if len(results) == 1 else tuple(results)
        if convention.mutations:
            self._write_back(results, leaves)
        if convention.out_spec.is_leaf() and convention.outputs[0] == ("result", 0):
            return results[0]
        from torch.utils import _pytree

        values = [results[what] if kind == "result" else what for kind, what in convention.outputs]
        return _pytree.tree_unflatten(values, convention.out_spec)

    def _write_back(self, results, leaves):
        """The function changed arguments or buffers in place: so does the call."""
        import torch

        held, new = list(self.weights.tensors()), []
        for index, (kind, target) in self._convention.mutations:
            if isinstance(index, int):
                value = results[index]
            else:  # a tensor that was there before the call
                value = held[index[1]] if index[0] == "weight" else leaves[index[1]]
            if isinstance(value, np.ndarray):
                value = (
                    self._to_torch(torch, self.outputs[index], value)
                    if isinstance(index, int)
                    else torch.from_numpy(value)
                )
            if kind == "slot":
                new.append((*target, value))
                continue
            holder = held[target] if kind == "weight" else leaves[target]
            with torch.no_grad():
                if isinstance(holder, torch.Tensor):
                    holder.copy_(value)
                else:
                    holder[...] = value.numpy()
        for weights, number, value in new:
            self.weights.put(weights, number, value)

    # --- what there is to know -----------------------------------------------------

    @property
    def directory(self) -> pathlib.Path:
        """The program directory; it may be an entry of the cache."""
        return self._directory.path

    @property
    def stats(self) -> dict:
        """Seconds of import, compile, stages and the last run, and what `spyre-compile --stats` has."""
        counted = self._device.counters() if self._device.checked or self._device.count_only else {}
        return {
            **self._stats,
            **counted,
            "host_calls": dict(self._native.host_calls),
            "numbers": self._guard.stats,
            "host_reasons": [list(entry) for entry in self._native.host_reasons],
            "shared_weights": weights_on(self._device),
            "run_s": self._run_s,
            "runs": self._runs,
        }

    def explain(self) -> str:
        """Arguments, steps and costs in words."""
        program = json.loads(self._description)
        stats = self._stats
        lines = [f"program '{program['name']}' for {program['device']} ({program['target']})"]
        for title, specs in (("argument", self.inputs), ("result", self.outputs)):
            lines += [f"  {title:9}{spec}" for spec in specs]
        steps = program["steps"]
        launched = [step["bundle"] for step in steps if step["step"] == "launch"]
        lines.append(f"  {len(launched)} launches of {len(set(launched))} bundles, {len(steps)} steps in all")
        calls = self._native.host_calls
        if calls:
            lines.append(f"  {sum(calls.values())} operations on the host:")
            reasons = {}
            for function, reason, place in self._native.host_reasons:
                reasons.setdefault((function, reason), []).append(place)
            for (function, reason), places in reasons.items():
                times = f" ({len(places)} times)" if len(places) > 1 else ""
                lines.append(f"    {function}{times}: {reason}" + (f", at {places[0]}" if places[0] else ""))
        for key, what, scale, unit in (
            ("device_ops", "device operations", 1, ""),
            ("hbm_read_bytes", "read from device memory", 2**20, " MiB"),
            ("hbm_write_bytes", "written to device memory", 2**20, " MiB"),
            ("modelled_us", "modelled time", 1, " us"),
            ("bound_us", "least that any plan takes", 1, " us"),
        ):
            if key in stats:
                lines.append(f"  {what}: {stats[key] / scale:.4g}{unit}")
        for key, what in (("import_s", "imported"), ("compile_s", "compiled"), ("cache_s", "found in the cache")):
            if stats.get(key):
                lines.append(f"  {what} in {stats[key]:.3f} s")
        return "\n".join(lines)

    def __reduce_ex__(self, protocol):
        raise SpyreError("programs are neither copied nor pickled: save() and load() make another of one")

    def __repr__(self) -> str:
        return f"<CompiledProgram {', '.join(map(str, self._taken))} -> {', '.join(map(str, self.outputs))}>"

    def save(self, directory: str | os.PathLike) -> None:
        """Writes the program and its weights into a folder that is new or holds such a program."""
        target = pathlib.Path(directory)
        if target.exists() and any(target.iterdir()) and not (target / "program.json").exists():
            raise SpyreError(f"'{target}' is not empty and no program: nothing was written")
        target.parent.mkdir(parents=True, exist_ok=True)
        # A folder of this call alone: other threads may save to the same place.
        scratch = make_folder(f".{target.name}.new-{os.getpid()}-", target.parent)
        try:
            new = scratch / "program"
            self._directory.copy_to(new)
            if self._convention is not None:
                (new / _CONVENTION).write_text(json.dumps(_convention_to_json(self._convention)))
                weights = {}
                for i, tensor in enumerate(self.weights.tensors()):
                    weights[f"in{i}"] = _bits_of(tensor)
                np.savez(new / _WEIGHTS, **weights)
            from . import _runtime

            old = _runtime.replace_directory(str(new), str(target))
            if old:
                import shutil

                shutil.rmtree(old)  # what cannot be removed is an error
        finally:
            remove_tree(scratch)


def _bits_of(tensor):
    import torch

    tensor = tensor.detach().contiguous()
    name = str(tensor.dtype).removeprefix("torch.")
    if name in _BITS:
        return tensor.view(torch.int16 if tensor.element_size() == 2 else torch.uint8).numpy().view(_BITS[name])
    return tensor.numpy()


def _convention_to_json(convention):
    from torch.utils import _pytree

    specs = {}
    for name in ("in_spec", "out_spec"):
        try:
            specs[name] = _pytree.treespec_dumps(getattr(convention, name))
        except Exception as error:
            raise SpyreError(f"arguments or results of this kind cannot be saved: {error}") from error
    return {
        "version": 1,
        "weight_names": convention.weight_names,
        "constants": [[leaf, value] for leaf, value in convention.constants.items()],
        "outputs": convention.outputs,
        "mutations": convention.mutations,
        **specs,
    }


def load_convention(directory: pathlib.Path, native):
    """(Convention, weights) of a saved program; (None, []) of a program directory without."""
    file = directory / _CONVENTION
    if not file.exists():
        return None, []
    import torch
    from torch.utils import _pytree

    try:
        content = json.loads(file.read_text())
        if content["version"] != 1:
            raise LoadError(f"{file}: version {content['version']}; this package reads version 1")
        convention = Convention(
            content["weight_names"],
            {leaf: value for leaf, value in content["constants"]},
            _pytree.treespec_loads(content["in_spec"]),
            _pytree.treespec_loads(content["out_spec"]),
            [tuple(output) for output in content["outputs"]],
            [(tuple(i) if isinstance(i, list) else i, tuple(target)) for i, target in content["mutations"]],
        )
        weights = []
        with np.load(directory / _WEIGHTS) as arrays:
            for i, entry in zip(range(len(convention.weight_names)), native.arguments):
                tensor = torch.from_numpy(arrays[f"in{i}"])
                weights.append(tensor.view(getattr(torch, entry["dtype"])) if entry["dtype"] in _BITS else tensor)
    except LoadError:
        raise
    except Exception as error:
        raise LoadError(f"{file}: {error}") from error
    return convention, weights
