#!/usr/bin/env python3
# programs.py - Torch-dialect programs, compiled, run and compared with PyTorch
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A folder is read by its manifest.json: every form of a program is a case, a
# second size of the same artefact another, a program without arrays is
# compile-only. A folder without one is read by its cases*.jsonl.gz files. Each
# line of a JSON-lines file is a case; its `expect` says whether a named refusal
# is a pass. Programs run on the emulator in checked mode, through the tools or
# through the Python package with PyTorch for what runs on the host. Which host
# calls a case may make follows from its class. The rules are those of the README
# files beside the data.
"""Torch-dialect programs on the emulator in checked mode, against PyTorch's arrays."""

import gzip
import json
import pathlib
import re
import shutil
import sys

import numpy as np
from lib.harness import Case, UsageError

from lib import arrays, formats, harness, inprocess, tolerance, workers

LINES = (".jsonl", ".jsonl.gz")
EXPECTATIONS = ("value", "value-or-named-refusal", "named-refusal", "compile-only")


class Program:
    """One program with what is known about it.

    inputs: stored arrays, or None for a compile-only case; outputs: list of
    (dtype, stored array); refs: list of higher-precision arrays or None.
    """

    def __init__(self, text, inputs=None, outputs=(), refs=None, expect="value", info=None):
        self.text, self.inputs, self.outputs, self.refs = text, inputs, outputs, refs
        self.expect, self.info = expect, info or {}


# --- reading the data --------------------------------------------------------


def collect(options):
    cases = []
    for text in options.paths:
        path = pathlib.Path(text)
        if path.is_dir():
            cases += collect_folder(path)
        elif path.name.endswith(LINES):
            cases += collect_lines(path)
        else:
            raise UsageError(f"{text} is neither a folder nor a .jsonl or .jsonl.gz file")
    if options.target == "both":
        cases = [
            Case(f"{case.name}@{target}", lambda case=case, target=target: (case.load(), target), case.group, case.tier)
            for case in cases
            for target in ("superdsc", "ktir")
        ]
    else:
        for case in cases:
            load = case.load
            case.load = lambda load=load: (load(), options.target)
    return cases


def collect_folder(folder):
    """The programs of a manifest, or the cases of every file of lines."""
    manifest = folder / "manifest.json"
    if manifest.exists():
        return collect_manifest(folder, json.loads(manifest.read_text()))
    files = sorted(path for path in folder.glob("cases*") if path.name.endswith(LINES))
    if not files:
        raise UsageError(f"{folder} has neither a manifest.json nor cases*.jsonl.gz files")
    return [case for file in files for case in collect_lines(file)]


def collect_manifest(folder, programs):
    cases = []
    for entry in programs:
        forms = [(entry["name"], entry["file"], entry.get("npz"))]
        if entry.get("torch_form"):
            forms.append((entry["name"] + ".torch", entry["torch_form"], entry.get("npz")))
        if entry.get("nodecomp_form"):
            forms.append((entry["name"] + ".nodecomp", entry["nodecomp_form"], entry.get("npz")))
        if entry.get("npz2"):
            forms.append((entry["name"] + ".second", entry["file"], entry["npz2"]))
        for name, file, npz in forms:
            load = lambda file=file, npz=npz, entry=entry: read_program(folder, file, npz, entry)  # noqa: E731
            cases.append(Case(name, load, group=class_of(entry), tier=entry.get("tier")))
    return cases


def read_program(folder, file, npz, entry):
    text = (folder / file).read_text()
    if not npz:
        return Program(text, expect="must-compile", info=entry)
    return Program(text, *arrays.read(folder / npz), entry.get("expect", "value"), info=entry)


def collect_lines(path):
    """A case a line; only names and places are kept until a case runs."""
    cases = []
    opener = gzip.open if path.name.endswith(".gz") else open
    with opener(path, "rb") as file:
        for line in file:
            if line.strip():
                entry = json.loads(line)
                cases.append(
                    Case(
                        entry["name"], lambda line=line: read_line(line), group=class_of(entry), tier=entry.get("tier")
                    )
                )
    return cases


def read_line(line):
    entry = json.loads(line)
    expect = entry.get("expect", "value")
    if expect not in EXPECTATIONS:
        raise ValueError(f"expect '{expect}' is unknown")
    with_data = all(value[2] is not None for value in entry["inputs"])
    inputs = [arrays.decode(value)[1] for value in entry["inputs"]] if with_data else None
    outputs = [arrays.decode(value) for value in entry["outputs"]] if with_data and expect != "compile-only" else []
    refs = match_refs(entry, outputs)
    return Program(entry["mlir"], inputs, outputs, refs, expect, entry)


def match_refs(entry, outputs):
    """refs beside outputs: one for each output, or for each of kind `output` only."""
    refs = entry.get("refs")
    if not refs or not outputs:
        return [None] * len(outputs)
    refs = [None if r is None or r[2] is None else arrays.decode(r) for r in refs]
    if len(refs) < len(outputs):
        kinds = entry.get("result_kinds") or []
        waiting, matched = list(refs), []
        for kind in kinds:
            matched.append(waiting.pop(0) if kind == "output" and waiting else None)
        refs = matched
    result = []
    for ref, (dtype, out) in zip(refs, outputs):
        usable = ref is not None and ref[1].shape == out.shape and dtype in formats.FLOATS
        result.append(formats.to_float64(ref[1], ref[0]) if usable else None)
    return result


def class_of(entry):
    """device, mixed, host or None; a dynamic program's is that of its static form."""
    cls = entry.get("cls")
    return entry.get("base_cls") if cls == "dynamic" else cls


# --- rules -------------------------------------------------------------------


def host_calls_allowed(program):
    """The operations that may run on the host: a set, or None for any."""
    cls = class_of(program.info)
    demoted = {tolerance.base_name(op) for op in program.info.get("f32_demoted", [])}
    if cls == "device":
        floats = [d for d in boundary_dtypes(program) if d in formats.FLOATS]
        return set() if all(d in formats.FLOAT16 for d in floats) else demoted
    if cls == "mixed":
        host = program.info.get("host_ops", [])
        # The data say what a cast is from and to, as in `convert si64->f32`.
        casts = tolerance.CASTS if any(op.split()[0] == "convert" for op in host) else set()
        return demoted | casts | {tolerance.base_name(op) for op in host}
    return None


def boundary_dtypes(program):
    """dtypes of the function's arguments and results."""
    result = []
    for entry in program.info.get("inputs", []):
        result.append(entry["dtype"] if isinstance(entry, dict) else entry[0])
    result += [dtype for dtype, _ in program.outputs]
    for text in program.info.get("results", []) or []:
        match = re.search(r",\s*(bf16|f16|f32|f64)>", text)
        if match:
            result.append(formats.DTYPES[match[1]])
    return result


def check_host_calls(program, calls, no_host):
    """None, or why the host calls of a run are not allowed."""
    names = [name for name, count in (calls or {}).items() if count]
    if not names:
        return None
    if no_host:
        return f"host calls: {', '.join(sorted(names))}"
    allowed = host_calls_allowed(program)
    if allowed is None:
        return None
    extra = sorted(name for name in names if not covered(tolerance.base_name(name), allowed))
    if extra:
        return f"class '{class_of(program.info)}' does not allow the host calls: {', '.join(extra)}"
    return None


def covered(name, allowed):
    """`add.Scalar` is covered by itself or by an entry without overload name."""
    return name in allowed or name.split(".")[0] in allowed


def names_culprit(message, text):
    """True if a refusal names an operation, type or symbol of the program, and its place."""
    if not re.search(r":\d+:\d+: |loc\(|line \d+", message):
        return False
    named = set(re.findall(r"torch\.(?:aten|prims|prim|operator|symbolic_int)[\w.]*", text)) | set(
        re.findall(r"\"(torch\.[\w.]+)\"", text)
    )
    if any(name in message or tolerance.base_name(name) in message for name in named):
        return True
    dtypes = set(re.findall(r"\b(f64|f32|f16|bf16|f8\w+|si\d+|ui\d+|i1|complex<\w+>)\b", text))
    if any(re.search(rf"\b{re.escape(dtype)}\b", message) for dtype in dtypes):
        return True
    return bool(re.search(r"'[^']+'", message))


def compare_outputs(program, got):
    """None, or the first difference. got: `out0` … -> stored array."""
    traits = tolerance.traits_of_text(program.text)
    scale = tolerance.widening(traits.operations)
    for index, (dtype, out) in enumerate(program.outputs):
        name = f"out{index}"
        if name not in got:
            return f"no result {name}"
        if program.info.get("random"):
            ranges = program.info.get("ranges")
            difference = tolerance.compare_random(got[name], out, dtype, ranges[index] if ranges else None)
        else:
            difference = tolerance.compare(got[name], out, dtype, program.refs[index], traits, scale)
        if difference:
            return f"{name} {difference}"
    return None


# --- running -----------------------------------------------------------------


def flags_of(options, target):
    flags = []
    if options.opt is not None:
        flags.append(f"-O{options.opt}")
    if options.cores:
        flags += ["--cores", str(options.cores)]
    if options.device:
        flags += ["--device", options.device]
    if options.precision:
        flags += ["--precision", options.precision]
    if options.plan_kind:
        flags += ["--plan-kind", options.plan_kind]
    if options.plan_seed:
        flags += ["--plan-seed", str(options.plan_seed)]
    if target != "superdsc":
        flags.append(f"--target={target}")
    return flags


class ToolRunner:
    """One case through the tools."""

    def __init__(self, options, tools, program, target, scratch, keep):
        self.options, self.tools, self.program = options, tools, program
        self.flags = flags_of(options, target)
        if options.no_host:  # what the device cannot do is refused with its place and reason
            self.flags.append("--host=none")
        self.scratch, self.keep = scratch, keep
        self.source = scratch / "program.mlir"
        self.source.write_text(program.text)
        self.messages = ""
        self.stats = {}

    def call(self, command):
        stats = self.scratch / f"stats{len(self.stats)}.json"
        run = harness.run_process([*command, f"--stats={stats}"], self.options.timeout)
        self.messages += run.err
        self.stats.update(harness.read_stats(stats) or {})
        return harness.failure_of(run)

    def compile(self):
        """spyre-compile; the program stays where --keep says."""
        folder = (self.keep or self.scratch) / "program"
        if folder.exists():
            shutil.rmtree(folder)
        stages = self.scratch / "stages"
        command = [self.tools("spyre-compile"), self.source, "-o", folder, *self.flags]
        if self.keep:
            command.append(f"--dump-stages={stages}")
        bad = self.call(command)
        if self.keep:
            inprocess.keep_plan(stages, self.keep)
        return bad

    def run(self):
        """Compiles and runs; returns (Result of a failure or None, outputs or None)."""
        program = self.source
        flags = self.flags
        # `?` dims get their sizes from the inputs: there is no program without them.
        if self.keep and not re.search(r"vtensor<\[[^\]]*\?", self.program.text):
            bad = self.compile()
            if bad:
                return bad, None
            program, flags = self.keep / "program", []
        inputs = self.scratch / "inputs.npz"
        arrays.write_inputs(inputs, self.program.inputs)
        outputs = (self.keep or self.scratch) / "outputs.npz"
        command = [self.tools("spyre-run"), program, *flags, "--inputs", inputs, "--outputs", outputs, "--check"]
        if self.options.jobs > 1:
            command += ["--threads", "1"]
        bad = self.call(command)
        return bad, None if bad else np.load(outputs)


class PackageRunner:
    """One case through spyre_mlir, in this process. flags: those of inprocess.flags_of."""

    def __init__(self, program, flags, keep):
        self.program, self.flags, self.keep = program, flags, keep
        self.messages, self.stats = "", {}

    def execute(self, inputs):
        done = inprocess.execute(self.program.text, inputs, shapes_of(self.program), self.flags, self.keep)
        self.messages, self.stats = done.messages, done.stats
        return done.failure, done.outputs

    def compile(self):
        return self.execute(None)[0]

    def run(self):
        return self.execute(self.program.inputs)


def shapes_of(program):
    """Shapes of the arguments, or None where the data have none."""
    if program.inputs is not None:
        return [list(array.shape) for array in program.inputs]
    entries = program.info.get("inputs", [])
    shapes = [entry.get("shape") if isinstance(entry, dict) else entry[1] or [] for entry in entries]
    return shapes if shapes and None not in shapes else None


def judge(options, tools):
    """The function of a Case and a scratch folder."""
    pool = inprocess.start(options) if options.host == "torch" else None

    def run(case, scratch):
        program, target = case.load()
        if program.info.get("verified", True) is False:
            return harness.skipped("unverified")
        keep = harness.keep_folder(options, case)
        if pool is None:
            return judge_program(program, ToolRunner(options, tools, program, target, scratch, keep), options.no_host)
        flags = inprocess.flags_of(options, target)
        try:
            return pool.call("programs.judge_here", program, flags, keep, options.no_host, timeout=options.timeout)
        except workers.Died as died:
            if keep:
                (keep / "messages.txt").write_text(died.run.err)
            return died.result()

    return run


def judge_here(program, flags, keep, no_host):
    """The Result of a program that is run in this process."""
    return judge_program(program, PackageRunner(program, flags, keep), no_host)


def judge_program(program, runner, no_host):
    """The Result of a program with what is known of its run."""
    try:
        result = outcome_of(program, runner, no_host)
    finally:
        if runner.keep:
            (runner.keep / "messages.txt").write_text(runner.messages)
    result.stats = runner.stats or None
    result.host_calls = runner.stats.get("host_calls") or {}
    result.device_ops = runner.stats.get("device_ops")
    if result.host_calls and class_of(program.info) is None:
        result.notes.append(f"host calls: {', '.join(sorted(result.host_calls))}")
    return result


def outcome_of(program, runner, no_host):
    expect = program.expect
    if program.inputs is None or expect in ("compile-only", "must-compile"):
        bad, outputs = runner.compile(), None
    else:
        bad, outputs = runner.run()
    if bad is not None:
        if bad.outcome == harness.REFUSED and expect in ("value-or-named-refusal", "named-refusal", "compile-only"):
            if names_culprit(runner.messages, program.text):
                return harness.Result(harness.REFUSED, True, bad.reason)
            bad.reason = f"the refusal names no culprit with its place: {bad.reason}"
        return bad
    if expect == "named-refusal":
        return harness.failed(harness.WRONG, "must be refused, but was accepted")
    if outputs is not None:
        difference = compare_outputs(program, outputs)
        if difference:
            return harness.failed(harness.WRONG, difference)
    # The numbers are right, but not by the device alone where the device is asked for.
    refusal = check_host_calls(program, runner.stats.get("host_calls"), no_host)
    return harness.failed(harness.REFUSED, refusal) if refusal else harness.right()


def validate(options):
    """Fills in the default of --host: with --no-host there is nothing for PyTorch to do."""
    if options.host is None:
        # Kernels are run by the tools: the package's runtime reads no MLIR.
        can_be_torch = options.target == "superdsc" and not options.no_host and inprocess.is_there(options.build)
        options.host = "torch" if can_be_torch else "none"
    elif options.host == "torch":
        inprocess.require(options.build)


def main(argv=None):
    parser = harness.parser(
        "programs.py",
        __doc__,
        "programs.py test/data/models --tier 1 --no-host -O2",
        "folder with a manifest.json or cases*.jsonl.gz files, or such a file",
    )
    inprocess.add_flags(parser, ("superdsc", "ktir", "both"))
    return harness.main(parser, collect, judge, argv, validate=validate)


if __name__ == "__main__":
    import programs  # under its own name, which the processes of a run know

    sys.exit(programs.main())
