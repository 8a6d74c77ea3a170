# inprocess.py - Programs through the Python package
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What spyre-compile and spyre-run do for a case, done by spyre_mlir in the process
# that calls: text, arrays and flags to outputs, messages and stats. Failures become
# outcomes by the rules for the tools' messages, which these are made to look like.
# Runners call this in the processes of workers.py, as it may crash.
"""One program compiled and run by spyre_mlir."""

import dataclasses
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import traceback

import numpy as np

from . import harness, workers

NAME = "program"  # of programs, and of the file in messages


# --- on the runner's side ------------------------------------------------------


def what_lacks(build):
    """None if this Python has PyTorch and can load spyre_mlir, else what is wrong."""
    if importlib.util.find_spec("torch") is None:
        return "PyTorch is not installed (utils/install-deps.sh --torch)"
    pool = workers.Workers(build, PACKAGE)
    try:
        command = [sys.executable, "-c", "import spyre_mlir"]
        done = subprocess.run(command, env=pool.environment, capture_output=True, text=True)
    finally:
        pool.close()
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["spyre_mlir cannot be loaded"])[-1]


def is_there(build):
    return what_lacks(build) is None


def require(build):
    lacks = what_lacks(build)
    if lacks:
        raise harness.UsageError(f"--host=torch: {lacks}")


PACKAGE = None  # a folder whose spyre_mlir is used instead of the repository's


def add_flags(parser, targets):
    """How programs are compiled, and who runs host calls."""
    parser.add_argument("--target", choices=targets, default="superdsc", help="what to compile to")
    parser.add_argument(
        "-O", dest="opt", choices=("0", "1", "2", "3"), help="optimisation level (default: the compiler's)"
    )
    parser.add_argument("--no-host", action="store_true", help="any host call fails a case")
    parser.add_argument(
        "--host",
        choices=("none", "torch"),
        help="who runs host calls: lib/Host only, or PyTorch, through spyre_mlir (default: PyTorch, if it is there)",
    )


def start(options, *first):
    """The processes for a run; what `first` names is imported or called before they take cases."""
    if getattr(options, "processes", None) is None:
        if options.keep:
            options.keep = str(pathlib.Path(options.keep).resolve())
        options.processes = workers.Workers(options.build, PACKAGE, ("torch", "spyre_mlir", *first))
    return options.processes


def flags_of(options, target):
    """The options of spyre_mlir that a runner's flags mean."""
    flags = {
        "check": True,
        "cache": False,
        "progress": False,
        "name": NAME,
        "target": target,
        "host": "none" if options.no_host else {"torch": "torch", "none": "table"}[options.host],
        "threads": 1 if options.jobs > 1 else 0,
    }
    if options.opt is not None:
        flags["opt_level"] = int(options.opt)
    if options.cores:
        flags["cores"] = options.cores
    if options.device:
        flags["device"] = options.device
    return flags


# --- in the process ------------------------------------------------------------


@dataclasses.dataclass
class Execution:
    """What became of a program: a failure, or outputs."""

    failure: harness.Result | None = None
    outputs: dict | None = None  # out0 … -> stored array
    messages: str = ""
    stats: dict = dataclasses.field(default_factory=dict)


def messages_of(error):
    """The diagnostics of a CompileError as the tools print them."""
    lines = []

    def add(diagnostic):
        place = diagnostic.place
        file = f"{NAME}.mlir" if place is None or place.file == NAME else place.file
        where = f"{file}:{place.line}:{place.column}: " if place else ""
        lines.append(f"{where}{diagnostic.severity}: {diagnostic.message}")
        for note in diagnostic.notes:
            add(note)

    for diagnostic in error.diagnostics:
        add(diagnostic)
    return "\n".join(lines) + "\n"


def execute(text, inputs, shapes, flags, keep=None):
    """Compiles and, if there are inputs, runs a program.

    inputs: stored arrays or None; shapes: of the arguments, or None; keep: folder for
    the program, its plan and its outputs, or None.
    """
    try:
        import spyre_mlir
    except ImportError as error:
        raise harness.UsageError(f"--host=torch: {error}") from error

    result = Execution()
    keep = pathlib.Path(keep) if keep else None
    known = {field.name for field in dataclasses.fields(spyre_mlir.Options)}
    flags = {name: value for name, value in flags.items() if name in known}
    if keep:
        flags["dump_stages"] = str(keep / "stages")
        for name in ("program", "stages"):
            shutil.rmtree(keep / name, ignore_errors=True)
    if shapes is not None and "input_shapes" in {*known, *spyre_mlir.compile_text.__code__.co_varnames}:
        flags["input_shapes"] = shapes
    workers.stage("running")
    try:
        program = spyre_mlir.compile_text(text, **flags)
        result.stats = program.stats
        if keep:
            program.save(keep / "program")
        if inputs is not None:
            outputs = program(*inputs)
            outputs = outputs if isinstance(outputs, tuple) else (outputs,)
            result.outputs = {f"out{i}": array for i, array in enumerate(outputs)}
            result.stats = program.stats
            if keep:
                np.savez(keep / "outputs.npz", **result.outputs)
    except spyre_mlir.CompileError as error:
        result.messages = messages_of(error)
        result.failure = failure_of(result.messages)
    except spyre_mlir.SpyreError as error:
        result.messages = f"error: {error}\n"
        # What is only to be compiled may be more than the memory of this machine holds.
        if inputs is not None or "not supported on this host" not in str(error):
            result.failure = failure_of(result.messages)
    except Exception as error:  # noqa: BLE001 - the package raises nothing else
        result.messages = traceback.format_exc()
        result.failure = harness.failed(harness.CRASHED, f"{type(error).__name__}: {error}")
    finally:
        if keep:
            keep_plan(keep / "stages", keep)
    return result


def failure_of(messages):
    """The outcome of a run that the package refused, as if a tool had."""
    return harness.failure_of(harness.Run(["spyre_mlir"], 1, "", messages))


def keep_plan(stages, keep):
    """Keeps planned.mlir of the dumped stages, and no other of them."""
    planned = sorted(stages.rglob("*planned*.mlir")) if stages.is_dir() else []
    if planned:
        shutil.copy(planned[-1], keep / "planned.mlir")
    shutil.rmtree(stages, ignore_errors=True)
