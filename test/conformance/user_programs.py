#!/usr/bin/env python3
# user_programs.py - Programs after public reports and users' code, each in a process
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each program of a folder runs PyTorch code as users write it, compares with PyTorch and
# prints what differs; its last line is OK, and its exit code 0, if nothing does. A
# program whose name has `collective` in it runs as two processes, each of which must print
# it. What PyTorch's own
# torch.compile does wrong, too, is listed with its reason in expected.json beside the
# programs: exactly that must differ. What measures seconds is listed there as `apart` and
# runs with --all only.
"""Runs the programs of a folder and counts those that are right."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SECONDS = 900


def get_texts(made, logs):
    """What each process printed: files of their own where there are several, since lines of
    processes that share a pipe run into each other."""
    files = sorted(logs.rglob("stdout.log"))
    return [file.read_text() for file in files] or [made.stdout]


def run(program, expected):
    """(seconds, what is wrong or None)."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="spyre-programs-") as cache:
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "python"),
            "SPYRE_CACHE_DIR": cache,
            "OMP_NUM_THREADS": "1",
        }
        command = [sys.executable, "-W", "ignore"]
        logs = pathlib.Path(cache) / "logs"
        if "collective" in program.name:
            command += ["-m", "torch.distributed.run", "--nproc-per-node", "2", "--rdzv-backend", "c10d"]
            command += ["--rdzv-endpoint", "127.0.0.1:0", "--redirects", "3", "--log-dir", str(logs)]
        try:
            made = subprocess.run(
                [*command, str(program)], env=environment, capture_output=True, text=True, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            return time.monotonic() - began, f"not done after {SECONDS} s"
        texts = [text.strip().splitlines() for text in get_texts(made, logs)]
        errors = made.stderr + "".join(file.read_text() for file in sorted(logs.rglob("stderr.log")))
    lines = [line for text in texts for line in text]
    all_right = made.returncode == 0 and all(text and text[-1] == "OK" for text in texts)
    differ = [line for line in lines if "DIFFERS" in line]
    left = [line for line in differ if not any(line.startswith(known) for known in expected)]
    missing = [known for known in expected if not any(line.startswith(known) for line in differ)]
    if left or missing:
        text = "\n".join(left + [f"{known}: no longer differs" for known in missing])
    elif differ or all_right:
        text = None
    else:
        text = f"exit code {made.returncode}\n" + "\n".join(lines[-5:]) + errors[-1500:]
    return time.monotonic() - began, text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="", help="programs whose name has this in it")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="also what measures seconds")
    options = parser.parse_args()
    list_file = options.folder / "expected.json"
    expected = json.loads(list_file.read_text()) if list_file.exists() else {}
    programs = [p for p in sorted(options.folder.glob("[0-9]*.py")) if options.only in p.name]
    apart = {} if options.all or options.only else expected.get("apart", {})
    skipped = [p for p in programs if p.name in apart]
    programs = [p for p in programs if p not in skipped]
    for program in skipped:
        print(f"{program.name:40} skipped: {apart[program.name]}")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = [(p, pool.submit(run, p, list(expected.get(p.name, {})))) for p in programs]
        for program, made in runs:
            seconds, wrong = made.result()
            failed += wrong is not None
            print(f"{program.name:40} {seconds:6.1f} s {'OK' if wrong is None else 'FAILED'}", flush=True)
            if wrong:
                print("   " + wrong.replace("\n", "\n   "), flush=True)
    print(f"{len(programs) - failed} passed, {failed} failed, {len(skipped)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
