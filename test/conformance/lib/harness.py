# harness.py - What every conformance runner does the same way
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The common flags, choosing cases, running them side by side, one line a
# failing case, the JSON report and the last line `N passed, N failed,
# N skipped`. A runner gives a list of Case objects and a function that judges
# one of them; nothing here looks at what a case contains.
"""Command line, process handling and reporting of the conformance runners."""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from typing import Any

CONFORMANCE = pathlib.Path(__file__).resolve().parent.parent
REPOSITORY = CONFORMANCE.parent.parent
DATA = pathlib.Path(os.environ.get("SPYRE_TEST_DATA") or REPOSITORY / "test" / "data")
BUILD = pathlib.Path(os.environ.get("SPYRE_BUILD") or REPOSITORY / "build")

RIGHT, REFUSED, WRONG = "right", "refused", "wrong"
CRASHED, TIMEOUT, SKIPPED = "crashed", "timeout", "skipped"


class UsageError(Exception):
    """A wrong call of a runner: exit code 2."""


@dataclasses.dataclass
class Case:
    """One case. `load` gives its content, so that only running cases are in memory."""

    name: str
    load: Callable[[], Any]
    group: str | None = None
    tier: int | None = None
    cores: int | None = None


@dataclasses.dataclass
class Result:
    """What happened to a case. `passed` is None for a skipped one."""

    outcome: str
    passed: bool | None
    reason: str = ""
    host_calls: dict | None = None
    device_ops: int | None = None
    stats: dict | None = None
    notes: list = dataclasses.field(default_factory=list)


def right(**more):
    return Result(RIGHT, True, **more)


def failed(outcome, reason, **more):
    return Result(outcome, False, reason, **more)


def skip_reasons():
    return read_json(CONFORMANCE / "skips.json")["reasons"]


def skipped(key):
    """A skip, for a reason of skips.json and no other."""
    reasons = skip_reasons()
    if key not in reasons:
        raise KeyError(f"'{key}' is no reason of skips.json")
    return Result(SKIPPED, None, reasons[key])


# --- processes ---------------------------------------------------------------

# What a program prints when it dies of its own mistake rather than of its input.
CRASH_MARKS = re.compile(
    r"PLEASE submit a bug report|Stack dump:|Assertion .* failed|AddressSanitizer|LeakSanitizer"
    r"|runtime error:|UndefinedBehaviorSanitizer|terminate called|Traceback \(most recent call last\)"
    r"|UNREACHABLE executed|LLVM ERROR"
)


@dataclasses.dataclass
class Run:
    """One finished process."""

    command: list
    code: int
    out: str
    err: str
    timed_out: bool = False

    @property
    def crashed(self):
        if self.timed_out:
            return False
        return self.code < 0 or self.code >= 126 or bool(CRASH_MARKS.search(self.err))

    def first_error(self):
        """The line that says most: the first error, else the last line printed."""
        lines = [line.strip() for line in self.err.splitlines() if line.strip()]
        if self.crashed:
            for line in lines:
                if CRASH_MARKS.search(line):
                    return f"{self.describe_end()}: {line}"
            return f"{self.describe_end()}: {lines[-1] if lines else 'no message'}"
        for line in lines:
            if "error:" in line:
                return line
        return lines[-1] if lines else f"{self.describe_end()}, no message"

    def describe_end(self):
        if self.timed_out:
            return "out of time"
        if self.code < 0:
            try:
                return f"killed by {signal.Signals(-self.code).name}"
            except ValueError:
                return f"killed by signal {-self.code}"
        return f"exit code {self.code}"


def run_process(command, timeout, cwd=None, env=None):
    """Runs a command in a process group of its own, which dies with the timeout. env: its environment, if not ours."""
    command = [str(word) for word in command]
    try:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            cwd=cwd,
            env=env,
        )
    except OSError as error:
        raise UsageError(f"cannot run {command[0]}: {error.strerror}") from error
    try:
        out, err = process.communicate(timeout=timeout)
        return Run(command, process.returncode, decode(out), decode(err))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return Run(command, process.returncode, decode(out), decode(err), timed_out=True)


def decode(data):
    return data.decode("utf-8", errors="replace")


def failure_of(run):
    """The Result of a run that did not succeed, or None if it did."""
    if run.timed_out:
        return failed(TIMEOUT, "out of time")
    if run.crashed:
        return failed(CRASHED, run.first_error())
    if run.code == 0:
        return None
    if run.code == 1 and is_refusal(run.err):
        return failed(REFUSED, run.first_error())
    return failed(WRONG, run.first_error())


def is_refusal(text):
    """True if a failed run says that it does not support something."""
    return bool(re.search(r"\b(un|not )supported\b|\bnot implemented\b|\brefused\b", text))


class Tools:
    """Where the built programs are."""

    def __init__(self, build):
        self.bin = pathlib.Path(build) / "bin"

    def __call__(self, name):
        path = self.bin / name
        if not path.exists():
            raise UsageError(f"{path} is missing; build it first, or name the build folder with --build")
        return str(path)


# --- command line ------------------------------------------------------------


def parser(prog, description, example, paths_help=None):
    """The argument parser with the flags that all runners have; without paths_help it takes no paths."""
    result = argparse.ArgumentParser(
        prog=prog,
        description=description,
        epilog=f"example: {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    if paths_help:
        result.add_argument("paths", nargs="+", metavar="PATH", help=paths_help)
    else:
        result.set_defaults(paths=[])
    result.add_argument("--list", action="store_true", help="print the names of the cases and stop")
    result.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="SUBSTRING",
        help="cases whose name contains it (several: any of them)",
    )
    result.add_argument("--tier", type=int, metavar="N", help="cases of this tier")
    result.add_argument("--group", metavar="A,B", help="cases of these groups")
    result.add_argument(
        "--cores",
        type=positive,
        metavar="N",
        help="cores to compile for; runners of given divisions: cases of at most N cores",
    )
    result.add_argument(
        "--device", metavar="NAME|FILE", help="device to compile for and run on (a variant's name or its description)"
    )
    result.add_argument(
        "--plan-seed", type=int, default=0, metavar="N", help="with --plan-kind: tiles that this number draws, not 0"
    )
    result.add_argument(
        "--plan-kind", metavar="KIND", help="untiled, tiled, banded, carried, banded-carried or carried-products: a plan of that kind"
    )
    result.add_argument("--precision", metavar="WHAT", help="default, strict or fast: what programs' types are computed in")
    result.add_argument("--jobs", type=positive, default=os.cpu_count() or 1, metavar="N", help="cases at a time")
    result.add_argument(
        "--timeout", type=float, default=300, metavar="S", help="seconds a process may take (default 300)"
    )
    result.add_argument("--seed", type=int, default=0, metavar="N", help="seed of what a runner draws itself")
    result.add_argument(
        "--shard", metavar="I/N", help="every N-th case only, starting at the I-th (I and I mod N are the same shard)"
    )
    result.add_argument("--json", metavar="FILE", help="write a list of results")
    result.add_argument("--keep", metavar="DIR", help="keep what each case made")
    add_build_flag(result)
    return result


def add_build_flag(parser):
    parser.add_argument(
        "--build", default=str(BUILD), metavar="DIR", help="build folder (default: $SPYRE_BUILD, else build)"
    )


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def parse_shard(text):
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or int(match[2]) < 1 or int(match[1]) > int(match[2]):
        raise UsageError(f"--shard wants I/N with I <= N, not '{text}'")
    return int(match[1]) % int(match[2]), int(match[2])


def choose(cases, options, cores_select):
    """The cases that the flags leave."""
    seen = {}
    for case in cases:
        seen[case.name] = seen.get(case.name, 0) + 1
        if seen[case.name] > 1:  # the same name in two files
            case.name = f"{case.name}#{seen[case.name]}"
    if options.only:
        cases = [c for c in cases if any(text in c.name for text in options.only)]
    if options.tier is not None:
        cases = [c for c in cases if c.tier == options.tier]
    if options.group:
        groups = {g for g in options.group.split(",") if g}
        cases = [c for c in cases if c.group in groups]
    if options.cores and cores_select:
        cases = [c for c in cases if c.cores is None or c.cores <= options.cores]
    if not cases:
        raise UsageError("no case fits the flags")
    if options.shard:
        index, count = parse_shard(options.shard)
        cases = cases[index::count]
    return cases


def judge_safely(judge, case, scratch):
    """Calls the judge; an exception in a runner is a failure of the case, not the end of the run."""
    try:
        folder = tempfile.mkdtemp(dir=scratch)
        try:
            return judge(case, pathlib.Path(folder))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except UsageError:
        raise
    except Exception as error:  # noqa: BLE001 - reported with its place
        place = traceback.extract_tb(error.__traceback__)[-1]
        return failed(
            WRONG,
            f"the runner failed: {type(error).__name__}: {error} ({pathlib.Path(place.filename).name}:{place.lineno})",
        )


def run_cases(cases, judge, options, out=None, summary=None):
    """Runs and reports; returns the exit code. summary(rows): more lines for the end."""
    out = out or sys.stdout
    counts = {True: 0, False: 0, None: 0}
    rows, notes = [], []
    with tempfile.TemporaryDirectory(prefix="conformance-") as scratch:
        with concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool:
            futures = [pool.submit(judge_safely, judge, case, scratch) for case in cases]
            try:
                for case, future in zip(cases, futures):
                    result = future.result()
                    counts[result.passed] += 1
                    if result.passed is False:
                        print(f"FAIL {case.name}: {result.outcome}: {result.reason}", file=out, flush=True)
                    elif result.passed is None:
                        print(f"SKIP {case.name}: {result.reason}", file=out, flush=True)
                    notes += [f"{case.name}: {note}" for note in result.notes]
                    rows.append(
                        {
                            "case": case.name,
                            "group": case.group,
                            "outcome": result.outcome,
                            "passed": result.passed,
                            "reason": result.reason,
                            "host_calls": result.host_calls,
                            "device_ops": result.device_ops,
                            "stats": result.stats,
                        }
                    )
            except BaseException:
                for future in futures:
                    future.cancel()
                raise
    for note in notes:
        print(f"NOTE {note}", file=out)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)
            file.write("\n")
    for line in summary(rows) if summary else []:
        print(line, file=out)
    print(f"{counts[True]} passed, {counts[False]} failed, {counts[None]} skipped", file=out, flush=True)
    return 1 if counts[False] else 0


def main(argparser, collect, make_judge, argv=None, cores_select=False, validate=None, summary=None):
    """Everything from the command line to the exit code.

    collect(options) gives all cases, make_judge(options, tools) the function
    (case, scratch folder) -> Result.
    """
    try:
        options = argparser.parse_args(argv)
        if validate:
            validate(options)
        try:
            cases = collect(options)
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot read the cases: {error}") from error
        if not cases:
            raise UsageError(f"no cases in {' '.join(options.paths) or 'all'}")
        cases = choose(cases, options, cores_select)
        if options.list:
            for case in cases:
                print(case.name)
            return 0
        tools = Tools(options.build)
        if options.keep:
            pathlib.Path(options.keep).mkdir(parents=True, exist_ok=True)
        return run_cases(cases, make_judge(options, tools), options, summary=summary)
    except UsageError as error:
        print(f"{argparser.prog}: error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def read_json(path):
    with open(path) as file:
        return json.load(file)


def read_stats(path):
    """What a tool wrote with --stats, or None."""
    try:
        return read_json(path)
    except (OSError, ValueError):
        return None


def keep_folder(options, case):
    """DIR/<case> of --keep, or None."""
    if not options.keep:
        return None
    folder = pathlib.Path(options.keep) / case.name
    folder.mkdir(parents=True, exist_ok=True)
    return folder
