# __init__.py - The package's interface
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# compile, compile_text, load, run. PyTorch is imported by compile only, and the module
# that holds MLIR only when something has to be compiled, so that a process whose
# programs are in the cache starts fast. The backend of torch.compile is dynamo.py.
"""Compiles and runs programs for the IBM Spyre accelerator."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import time

from . import _native

_native.extend(__path__)

from . import errors  # noqa: E402
from ._cache import Cache  # noqa: E402
from ._compile import Directory, shows_progress  # noqa: E402
from ._compile import compile_text as _compile_text  # noqa: E402
from ._numbers import Guard  # noqa: E402
from ._options import Options, make_device  # noqa: E402
from ._options import make as _make_options  # noqa: E402
from ._program import ArraySpec, CompiledProgram, Convention, load_convention  # noqa: E402
from ._weights import FixedWeights  # noqa: E402
from .errors import (  # noqa: E402
    ArgumentError,
    CheckError,
    CompileError,
    DeviceMemoryError,
    Diagnostic,
    ExecutionError,
    ExportError,
    LoadError,
    NumberError,
    OptionError,
    SpyreError,
)

__version__ = "0.1.0"
__all__ = [
    "ArgumentError",
    "ArraySpec",
    "Cache",
    "CheckError",
    "CompileError",
    "CompiledProgram",
    "DeviceMemoryError",
    "Diagnostic",
    "ExecutionError",
    "ExportError",
    "LoadError",
    "NumberError",
    "OptionError",
    "Options",
    "SpyreError",
    "compile",
    "compile_text",
    "errors",
    "load",
    "run",
]


def _call_host(function, arguments, outputs):
    """A host call of a program; PyTorch is imported at the first."""
    from ._host import call

    call(function, arguments, outputs)


def _check_host_calls(native):
    """Raises CompileError with all operations that PyTorch has not got."""
    from ._host import is_known

    unknown = {name for name in native.host_calls if not is_known(name)}
    if not unknown:
        return
    places = {name: [] for name in unknown}
    for name, _, place in native.host_reasons:
        if name in unknown:
            file, line, column = place.rsplit(":", 2) if place else ("", "0", "0")
            places[name].append(errors.Place(file, int(line), int(column)))
    raise CompileError(
        [
            Diagnostic(
                "error", f"'{name}' is not supported: neither the device nor PyTorch has it", (place,) if place else ()
            )
            for name in sorted(unknown)
            for place in places[name] or [None]
        ],
        "the program",
    )


def _open(
    directory: Directory, options: Options, convention=None, weights=None, stats=None, host=None, note=None
) -> CompiledProgram:
    """weights: what holds them (_weights.py); None: the directory has them.

    host(weights, inputs): all results by PyTorch, or None; note(reason) is told of each call that it computes.
    """
    from . import _runtime

    began = time.perf_counter()
    device = make_device(options)
    host_calls = _call_host if options.has_torch() else None
    native = _runtime.Program(str(directory.path), device, host_calls, options.rates or {})
    if native.host_calls and options.has_torch():
        _check_host_calls(native)
    if convention is None:
        convention, tensors = load_convention(directory.path, native)
        weights = FixedWeights(tensors)
        options = dataclasses.replace(options, weights="versions")  # nobody else has these tensors
    program = CompiledProgram(
        directory,
        device,
        native,
        convention,
        weights,
        {**directory.stats, **(stats or {})},
        shows_progress(options),
        lambda inputs, outputs: Guard(options, native, inputs, outputs, host, note),
        # A device that computes nothing has no numbers that could be wrong.
        "versions" if options.count_only else options.weights,
    )
    program._stats["load_s"] = time.perf_counter() - began
    return program


def compile(function, *example_args, example_kwargs: dict | None = None, **options) -> CompiledProgram:
    """Compiles a module or a function of tensors for the shapes and types of the examples.

    Parameters and buffers become weights, which stay on the device. Options: see Options.
    """
    from . import _export

    chosen = _make_options(options)
    if not chosen.name:
        name = getattr(function, "__name__", type(function).__name__)
        chosen = _make_options({**options, "name": name if name.isidentifier() else "program"})
    began = time.perf_counter()
    exported = _export.export(function, example_args, example_kwargs or {})
    stats = {"import_s": time.perf_counter() - began}
    convention = Convention(
        exported.weight_names,
        exported.constants,
        exported.in_spec,
        exported.out_spec,
        exported.outputs,
        exported.mutations,
    )
    return _compile_text(
        exported.text,
        chosen,
        range(len(exported.weight_names)),
        exported.located,
        lambda directory: _open(directory, chosen, convention, exported.weights, stats, exported.host),
    )


def compile_text(text: str, *, input_shapes=(), **options) -> CompiledProgram:
    """Compiles a program's text: the torch dialect, or any level of the stack.

    input_shapes: a shape an argument, for a program of torch that leaves sizes open (`?`).
    """
    chosen = _make_options(options)
    return _compile_text(text, chosen, use=lambda directory: _open(directory, chosen), input_shapes=input_shapes)


def _shapes_of(inputs) -> list:
    """The inputs' shapes, in the program's order."""
    import numpy

    if isinstance(inputs, dict):
        inputs = [inputs[f"in{i}"] for i in range(len(inputs)) if f"in{i}" in inputs]
    hidden = lambda value: not hasattr(value, "shape") and hasattr(value, "__dlpack__")  # noqa: E731
    return [numpy.from_dlpack(value).shape if hidden(value) else numpy.shape(value) for value in inputs]


def load(directory: str | os.PathLike, **options) -> CompiledProgram:
    """A program that `save` or spyre-compile wrote."""
    path, chosen = pathlib.Path(directory), _make_options(options)
    for attempt in range(_MOST_LOADS):
        with _Held(path) as held:
            try:
                if not (path / "program.json").is_file():
                    raise LoadError(f"'{path}' is no program directory: it has no program.json")
                program = _open(Directory(path), chosen)
            except LoadError:
                if attempt + 1 == _MOST_LOADS or not held.was_replaced():
                    raise
            else:
                if not held.was_replaced():
                    break
    return program


# How often a program is read that others replace meanwhile.
_MOST_LOADS = 20


class _Held:
    """A folder held open, so that no other gets its number, and whether its path leads to another one now.

    Whoever saves to the same place replaces it as a whole: files read before and after are of two programs.
    """

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        try:
            self.folder = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            self.folder = None
        return self

    def __exit__(self, *_):
        if self.folder is not None:
            os.close(self.folder)

    def was_replaced(self) -> bool:
        try:
            named = os.stat(self.path)
        except OSError:
            return False
        return self.folder is None or not os.path.samestat(os.fstat(self.folder), named)


def run(program: str | os.PathLike, inputs, **options):
    """Runs a program directory, a text or a file with one. inputs: arrays in order, or by name (`in0`)."""
    text = os.fspath(program)
    inputs = inputs if isinstance(inputs, dict) else list(inputs)
    if "\n" in text or "func.func" in text:
        compiled = compile_text(text, **{"input_shapes": _shapes_of(inputs), **options})
    elif pathlib.Path(text).is_file():
        path = pathlib.Path(text)
        chosen = {"name": path.name.split(".")[0], "input_shapes": _shapes_of(inputs), **options}
        compiled = compile_text(path.read_text(), **chosen)
    else:
        compiled = load(text, **options)
    if isinstance(inputs, dict):
        missing = [spec.name for spec in compiled._taken if spec.name not in inputs]
        if missing:
            raise ArgumentError(f"inputs are missing: {', '.join(missing)}")
        inputs = [inputs[spec.name] for spec in compiled._taken]
    return compiled(*inputs)
