#!/usr/bin/env python3
# plans.py - Any legal plan of a program gives the same numbers
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Draws a small program of test/data, an optimisation level, a number of cores and
# changes of its plan (planlib.py): at L2 work divisions, layouts, copies and the
# schedule; at L3 divisions, places of buffers, loops and cuts. The changed text is
# compiled from that level on, its bundle takes the place of the compiler's own in
# the program's folder, and the program runs in checked mode. Its results are compared
# with the stored ones as programs.py does, and with those of the compiler's own plan:
# bit for bit where data only move or no sum is cut otherwise, else within the tolerances. A plan that a verifier refuses is skipped, with the reason; a crash, a
# hang, and an error after the verifiers accepted the plan are failures. A plan is a
# function of its seed alone, so a finding is repeated with `--seed N --count 1`.
"""Random legal plans of small programs: the same numbers as the compiler's own plan."""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import sys
import tempfile
import time
import traceback

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conformance"))

import planlib  # noqa: E402
import plantext  # noqa: E402
import programs  # noqa: E402
from lib.harness import DATA  # noqa: E402

from lib import arrays, formats, harness, tolerance  # noqa: E402

# Programs whose arrays together are larger are left out.
ARRAYS_IN_BYTES = 1 << 20
# What only the emission refuses, by name, and no verifier before it: unit dims of matmuls and
# restickifies that are read at one element of a longer dim.
BY_EMISSION = ("[SDSC-33]", "outside of this operand's stick; restickify it first")
# A process that takes longer hangs.
TIMEOUT = 60
# Programs that are drawn before a seed gives up on finding one that it can use.
DRAWS = 50
PART = "// -----\n\n"
ELIDED = re.compile(r"dense_resource<__elided__> : tensor<((?:\d+x)*)(\w+)>")


class Refused(Exception):
    """The plan is not legal: the reason why it is skipped."""


class Failed(Exception):
    """The plan is accepted and wrong."""


@dataclasses.dataclass
class Outcome:
    seed: int
    name: str = "?"
    passed: bool | None = True
    reason: str = ""
    changes: list = dataclasses.field(default_factory=list)


# --- programs ----------------------------------------------------------------


def collect(only):
    """The cases that plans are drawn for, in a fixed order."""
    cases = [case for case in programs.collect_folder(DATA / "models") if case.tier in (1, 2)]
    cases += programs.collect_folder(DATA / "unaligned") + programs.collect_folder(DATA / "ops")
    cases = [case for case in cases if not only or any(text in case.name for text in only)]
    if not cases:
        raise harness.UsageError("no program fits the flags")
    return cases


def is_usable(program):
    """True for a program of fixed, small sizes with stored results."""
    if program.inputs is None or not program.outputs or program.expect != "value":
        return False
    if program.info.get("random") or program.info.get("verified", True) is False:
        return False
    size = sum(array.nbytes for array in [*program.inputs, *(array for _, array in program.outputs)])
    return size <= ARRAYS_IN_BYTES and not re.search(r"vtensor<\[[^\]]*\?", program.text)


# --- one plan ----------------------------------------------------------------


class Plan:
    """A seed's program and plan, in a folder of its own."""

    def __init__(self, options, tools, folder, outcome):
        self.options, self.tools, self.folder, self.outcome = options, tools, folder, outcome
        self.rng = random.Random(outcome.seed)
        self.commands = []
        self.opt = self.cores = self.program = self.own = None
        self.cuts = [set(), set()]  # of reduced dims: in the own plan, in the changed one

    def call(self, *command):
        self.commands.append(shlex.join(map(str, command)))
        return harness.run_process(command, TIMEOUT)

    def must(self, what, *command):
        """Runs a command that has no excuse to fail."""
        run = self.call(*command)
        if run.timed_out or run.crashed or run.code != 0:
            reported = re.search(r"check: (.*)", run.err)
            raise Failed(f"{what}: {reported[1] if reported else run.first_error()}")
        return run

    def flags(self, opt, cores):
        return [f"-O{opt}", "--cores", cores]

    def compile(self, source, name, opt, cores):
        """Compiles into the folder `name`, stages beside it; returns the finished process."""
        stages = self.folder / f"{name}-stages"
        flags = [*self.flags(opt, cores), "--host=table", f"--dump-stages={stages}"]
        flags.append(f"--save-plan={self.folder / name}.schedule.json")
        return self.call(self.tools("spyre-compile"), source, "-o", self.folder / name, *flags)

    def stage(self, name, level):
        """The parts of a stage's dump: a text a bundle."""
        paths = [p for p in (self.folder / f"{name}-stages").glob(f"*-{level}.mlir")]
        if not paths:
            return None
        return max(paths, key=lambda path: int(path.name.partition("-")[0])).read_text().split(PART)

    def run(self, name, seed):
        """Runs the program folder `name` in checked mode; returns its results. seed: of what undefined lanes hold."""
        outputs = self.folder / f"{name}.npz"
        flags = ["--check", "--seed", seed, *(["--threads", 1] if self.options.jobs > 1 else [])]
        arrays = ["--inputs", self.folder / "inputs.npz", "--outputs", outputs]
        self.must("running", self.tools("spyre-run"), self.folder / name, *arrays, *flags)
        with np.load(outputs) as data:
            return {key: data[key] for key in data.files}

    def choose_program(self, cases):
        """Draws programs until one has operations of the device at the drawn level."""
        for _ in range(DRAWS):
            case = self.rng.choice(cases)
            self.opt, self.cores = self.rng.choice("01223"), self.rng.choice([1, 2, 32, self.rng.randint(1, 32)])
            self.program = case.load()
            if not is_usable(self.program):
                continue
            self.outcome.name = case.name
            source = self.folder / "program.mlir"
            source.write_text(self.program.text)
            run = self.compile(source, "own", self.opt, self.cores)
            if run.timed_out or run.crashed:
                raise Failed(f"compiling the program: {run.first_error()}")
            if run.code == 0 and any("spyre." in text for text in self.stage("own", "planned") or []):
                return
            shutil.rmtree(self.folder / "own", ignore_errors=True)
            shutil.rmtree(self.folder / "own-stages", ignore_errors=True)
        raise Refused("no program with device operations was drawn")

    def judge(self, cases):
        self.choose_program(cases)
        arrays.write_inputs(self.folder / "inputs.npz", self.program.inputs)
        self.own = self.run("own", 0)
        difference = programs.compare_outputs(self.program, self.own)
        if difference:
            raise Failed(f"the compiler's own plan with -O{self.opt} --cores {self.cores}: {difference}")
        self.change()
        got = self.run("changed", 1 + self.outcome.seed)
        difference = programs.compare_outputs(self.program, got)
        if difference:
            raise Failed(f"wrong: {difference}")
        difference = self.compare_with_own(got)
        if difference:
            raise Failed(f"not as the compiler's own plan: {difference}")

    def compare_with_own(self, got):
        """None, or the first difference from the results of the compiler's own plan."""
        traits = tolerance.traits_of_text(self.program.text)
        scale = tolerance.widening(traits.operations)
        exact = traits.moves_only or self.cuts[0] == self.cuts[1]
        for i, (dtype, _) in enumerate(self.program.outputs):
            own, new = self.own[f"out{i}"], got[f"out{i}"]
            if own.tobytes() == new.tobytes():
                continue
            if exact:
                return f"out{i} {different_bits(new, own, dtype)}, bit for bit"
            difference = tolerance.compare(new, own, dtype, None, traits, scale)
            if difference:
                return f"out{i} {difference}"
        return None

    # --- changing -------------------------------------------------------------

    def change(self):
        """Makes the folder `changed`: the program with changed bundles."""
        own = self.folder / "own"
        at_l2, at_l3 = self.stage("own", "l2"), self.stage("own", "planned")
        bundles = sorted((own / "bundles").iterdir(), key=lambda path: int(path.name))
        if not len(at_l2 or []) == len(at_l3) == len(bundles):
            raise Refused(f"{len(bundles)} bundles, but {len(at_l2 or [])} and {len(at_l3)} texts")
        shutil.copytree(own, self.folder / "changed")
        self.outcome.changes = [f"-O{self.opt} --cores {self.cores}"]
        for number, (l2, l3) in enumerate(zip(at_l2, at_l3)):
            try:
                self.cuts[0] |= plantext.reduced_cuts(plantext.Function(l3))
                result = self.change_bundle(number, l2, l3)
            except ValueError as error:
                raise Refused(f"the tester cannot read it: {error}") from error
            if result:
                self.replace_bundle(number, result)
        if len(self.outcome.changes) == 1:
            raise Refused("nothing to change was found")

    def replace_bundle(self, number, name):
        """Puts the bundle of the folder `name` in the place of one of the program's own."""
        old, new = self.folder / "changed" / "bundles" / str(number), self.folder / name / "bundles" / "0"
        was, now = (json.loads((folder / "launch_spec.json").read_text())["arguments"] for folder in (old, new))
        if was != now:
            raise Failed(f"the arguments of bundle {number} are {now}, were {was}")
        shutil.rmtree(old)
        shutil.copytree(new, old)

    def change_bundle(self, number, l2, l3):
        """The name of the folder with the changed bundle, or None."""
        rng, done, planned = self.rng, None, None
        which = rng.choice(["l2", "l3", "both", "both"])
        if self.is_planned_otherwise():
            which = "l3"
        cores = self.cores
        if which != "l3":
            function = plantext.Function(self.with_constants(l2))
            changes, laid_out = self.change_l2(function)
            if changes:
                self.note(f"L2 of bundle {number}", changes)
                done = self.compile_part(f"l2-{number}", function, self.opt, laid_out)
                l3 = self.stage(done, "planned")[0]
        if which != "l2" or not done:
            function = plantext.Function(self.with_constants(l3))
            changes, opt = self.change_l3(function, cores)
            if changes:
                self.note(f"L3 of bundle {number}", changes)
                done, planned = self.compile_part(f"l3-{number}", function, opt, False), function
        self.cuts[1] |= plantext.reduced_cuts(planned or plantext.Function(l3))
        return done

    def is_planned_otherwise(self):
        """Whether the compiler's own plan is of another form of the program than that whose L2 was dumped."""
        plans = json.loads((self.folder / "own.schedule.json").read_text())["functions"].values()
        return any(
            plan.get("kind") in ("banded", "carried", "banded-carried", "carried-products") or plan.get("layouts") == "searched"
            for plan in plans
        )

    def note(self, where, changes):
        self.outcome.changes += [f"{where}: {change}" for change in changes]

    def change_l2(self, function):
        """What is changed, and whether layouts are among it."""
        rng, layouts = self.rng, []
        for change, share, most in (
            (planlib.reorder_dims, 0.5, 3),
            (planlib.copy_for_a_use, 0.4, 2),
            (planlib.restickify_and_back, 0.3, 2),
        ):
            if rng.random() < share:
                layouts += [change(rng, function) for _ in range(rng.randint(1, most))]
        others = [planlib.schedule(rng, function)] if rng.random() < 0.3 else []
        if rng.random() < 0.8:
            others.append(planlib.divide(rng, function, self.cores))
        layouts, others = ([text for text in texts if text] for texts in (layouts, others))
        return layouts + others, bool(layouts)

    def change_l3(self, function, cores):
        """What is changed, and the level to compile with."""
        rng, changes = self.rng, []
        planlib.pin(function)
        if rng.random() < 0.15:
            changes.append(planlib.forget_places(rng, function))
            if rng.random() < 0.7:
                changes.append(planlib.divide(rng, function, cores))
            opt = rng.choice("0123")
            return [text for text in [*changes, f"-O{opt}"] if text], opt
        if rng.random() < 0.6:
            changes.append(planlib.to_device_memory(rng, function))
        if rng.random() < 0.4:
            changes.append(planlib.divide(rng, function, cores))
        for change, share, most in (
            (planlib.join_in_loop, 0.4, 1),
            (planlib.loop, 0.5, 3),
            (planlib.cut, 0.4, 2),
        ):
            if rng.random() < share:
                changes += [change(rng, function, cores) for _ in range(rng.randint(1, most))]
        if rng.random() < 0.4:
            changes += [planlib.to_scratchpad(rng, function) for _ in range(rng.randint(1, 4))]
        if rng.random() < 0.04:
            changes.append(planlib.loop_over_scratchpad(rng, function))
        changes.append(planlib.place(rng, function))
        return [text for text in changes if text], self.opt

    def with_constants(self, text):
        """The text with elements for constants, which dumps leave out.

        The program keeps its own arrays, so of several constants of one shape any will do.
        """
        known = json.loads((self.folder / "own" / "program.json").read_text()).get("constants", [])

        def elements(match):
            shape = [int(extent) for extent in match[1].split("x") if extent]
            for constant in known:
                if constant["shape"] == shape:
                    array = np.load(self.folder / "own" / constant["file"])
                    literal = dense(array, match[2])
                    if literal:
                        return f"{literal} : tensor<{match[1]}{match[2]}>"
            raise Refused(f"the elements of a constant of type {match[0].rpartition(': ')[2]} are not known")

        return ELIDED.sub(elements, text)

    def compile_part(self, name, function, opt, laid_out):
        """Compiles a changed module; raises Refused where a verifier does not accept it."""
        source = self.folder / f"{name}.mlir"
        source.write_text(str(function))
        if laid_out:
            verify = self.call(self.tools("spyre-opt"), source, "--spyre-verify-layouts", "-o", os.devnull)
            self.refuse(verify)
        run = self.compile(source, name, opt, self.cores)
        if self.stage(name, "planned") is None:
            self.refuse(run)
        if run.code != 0 or run.timed_out or run.crashed:
            if not (run.timed_out or run.crashed) and any(rule in run.first_error() for rule in BY_EMISSION):
                raise Refused(run.first_error())
            raise Failed(f"compiling {source.name}, which the verifiers accept: {run.first_error()}")
        return name

    @staticmethod
    def refuse(run):
        """Raises what a process that only verifies has to say."""
        if run.timed_out or run.crashed:
            raise Failed(f"{pathlib.Path(run.command[0]).name}: {run.first_error()}")
        if run.code != 0:
            raise Refused(re.sub(r"^.*?error: ", "", run.first_error()))


def dense(array, element):
    """The literal of an array for a tensor of `element`, or None if it is of another type."""
    if element == "i1" and array.dtype == np.bool_:
        return f"dense<{json.dumps(array.tolist())}>"
    width = re.fullmatch(r"(?:f|bf|i|si|ui)(\d+)", element)
    if not width or array.dtype.itemsize * 8 != int(width[1]) or element == "i1":
        return None
    return f'dense<"0x{array.tobytes().hex().upper()}">'


def different_bits(got, own, dtype):
    if got.shape != own.shape or got.dtype != own.dtype:
        return f"has shape {list(got.shape)} of {got.dtype}, not {list(own.shape)} of {own.dtype}"
    raw = f"u{got.dtype.itemsize}" if got.dtype.itemsize in (1, 2, 4, 8) else None
    bad = got.view(raw) != own.view(raw) if raw else got != own
    if dtype in formats.FLOATS:
        got, own = formats.to_float64(got, dtype), formats.to_float64(own, dtype)
    return tolerance.first_difference(np.asarray(got), np.asarray(own), np.asarray(bad), "own plan's")


# --- running -----------------------------------------------------------------


def run_seed(options, tools, cases, seed, scratch):
    outcome = Outcome(seed)
    folder = pathlib.Path(tempfile.mkdtemp(dir=scratch))
    plan = Plan(options, tools, folder, outcome)
    try:
        plan.judge(cases)
    except Refused as error:
        outcome.passed, outcome.reason = None, str(error)
    except Failed as error:
        outcome.passed, outcome.reason = False, str(error)
    except harness.UsageError:
        raise
    except Exception as error:  # noqa: BLE001 - reported with its place
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{pathlib.Path(place.filename).name}:{place.lineno}"
        outcome.passed, outcome.reason = False, f"the tester failed: {type(error).__name__}: {error} ({where})"
    finally:
        outcome.reason = outcome.reason.replace(f"{folder}/", "")
        if options.keep and (outcome.passed is False or options.keep_all):
            keep(pathlib.Path(options.keep) / f"{seed}-{outcome.name}", folder, plan)
        shutil.rmtree(folder, ignore_errors=True)
    return outcome


def keep(target, folder, plan):
    """Texts, programs, arrays and commands of a plan, with the commands' paths."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder, target)
    commands = "\n".join(plan.commands).replace(str(folder), str(target))
    changes = "\n".join(f"# {line}" for line in [*plan.outcome.changes, plan.outcome.reason])
    (target / "commands.sh").write_text(f"{changes}\n{commands}\n")
    if plan.program is not None:
        expected = {f"out{i}": array for i, (_, array) in enumerate(plan.program.outputs)}
        np.savez(target / "expected.npz", **expected)


def rule_of(reason):
    """Reasons that differ in numbers and names only are one."""
    rule = re.match(r"(L[23]-\d+)", reason)
    return rule[1] if rule else re.sub(r"\d+", "N", re.sub(r"'[^']*'|%\w+", "…", reason))[:100]


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="plans.py", description=__doc__, epilog="example: test/fuzz/plans.py --seed 7 --count 1000 --keep DIR"
    )
    parser.add_argument("--seed", type=int, default=0, help="first seed (default 0)")
    parser.add_argument("--count", type=int, default=200, help="how many plans (default 200)")
    parser.add_argument("--seconds", type=float, help="start no plan after this time")
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="programs whose name contains it (several: any)"
    )
    parser.add_argument("--jobs", type=harness.positive, default=os.cpu_count() or 1, help="plans at a time")
    parser.add_argument("--keep", metavar="DIR", help="write what fails there")
    parser.add_argument("--keep-all", action="store_true", help="write all plans there")
    parser.add_argument("--verbose", action="store_true", help="a line for every plan")
    parser.add_argument("--json", metavar="FILE", help="write all outcomes")
    harness.add_build_flag(parser)
    return parser.parse_args(argv)


def report(outcome, options):
    if outcome.passed is False:
        print(f"FAIL seed {outcome.seed}, {outcome.name}: {outcome.reason}")
        for change in outcome.changes:
            print(f"  {change}")
        if options.keep:
            print(f"  kept in {pathlib.Path(options.keep) / f'{outcome.seed}-{outcome.name}'}")
    elif options.verbose:
        word = "SKIP" if outcome.passed is None else "PASS"
        print(f"{word} seed {outcome.seed}, {outcome.name}: {outcome.reason or '; '.join(outcome.changes)}")
    sys.stdout.flush()


def main(argv=None):
    options = parse(argv)
    started, outcomes = time.monotonic(), []
    try:
        tools = harness.Tools(options.build)
        cases = collect(options.only)

        def work(seed):
            if options.seconds and time.monotonic() - started > options.seconds:
                return None
            return run_seed(options, tools, cases, seed, scratch)

        with (
            tempfile.TemporaryDirectory(prefix="plans-fuzz-") as scratch,
            concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool,
        ):
            for outcome in pool.map(work, range(options.seed, options.seed + options.count)):
                if outcome is not None:
                    outcomes.append(outcome)
                    report(outcome, options)
    except harness.UsageError as error:
        print(f"plans.py: error: {error}", file=sys.stderr)
        return 2
    if options.json:
        rows = [dataclasses.asdict(outcome) for outcome in outcomes]
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    reasons = collections.Counter(rule_of(outcome.reason) for outcome in outcomes if outcome.passed is None)
    for reason, count in reasons.most_common():
        print(f"skipped {count}: {reason}")
    counts = collections.Counter(outcome.passed for outcome in outcomes)
    print(f"{counts[True]} passed, {counts[False]} failed, {counts[None]} skipped")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
