#!/usr/bin/env python3
# digests.py - What the compiler writes for every program, as one hash each
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# For changes of the compiler's structure, which must not change what it writes: the hashes
# of one state are kept in a file and those of another compared with it. The hash is over
# the names and bytes of all files of the program; of a refused program, which the totals
# count apart, it is over its messages.
"""Compiles programs at several levels and writes or compares hashes of what was written."""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import programs

from lib import harness

DATA = harness.REPOSITORY / "test" / "data"
SETS = ("models", "failures", "ops/cases.jsonl.gz", "unaligned/cases.jsonl.gz")


def digest_of(folder):
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        total.update(f"{path.relative_to(folder)}\0{path.stat().st_size}\0".encode())
        total.update(path.read_bytes())
    return total.hexdigest()[:16]


def compile_case(tool, case, level, flags):
    """The hash of what was written, or "refused " and that of the messages."""
    program, _ = case.load()
    with tempfile.TemporaryDirectory(prefix="spyre-digests-") as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "program.mlir").write_text(program.text)
        command = [tool, "program.mlir", f"-O{level}", "-o", "out", *flags]
        done = subprocess.run(command, cwd=scratch, capture_output=True, text=True)
        if done.returncode == 0:
            return digest_of(scratch / "out")
        return "refused " + hashlib.sha256(done.stderr.encode()).hexdigest()[:16]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", help=f"as those of programs.py; default: {', '.join(SETS)} of test/data")
    parser.add_argument("--build", type=pathlib.Path, default=harness.REPOSITORY / "build")
    parser.add_argument("--levels", default="02", help="optimisation levels")
    parser.add_argument("--flag", action="append", default=[], help="one more flag of spyre-compile")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--write", type=pathlib.Path, help="keep the hashes in this file")
    parser.add_argument("--against", type=pathlib.Path, help="compare with the hashes of this file")
    options = parser.parse_args()
    options.paths = options.paths or [str(DATA / name) for name in SETS]
    options.target = "superdsc"
    tool = (options.build / "bin" / "spyre-compile").resolve()
    work = {
        f"{i} {case.name} -O{level}": (case, level)
        for i, case in enumerate(programs.collect(options))
        for level in options.levels
    }
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        made = dict(zip(work, pool.map(lambda what: compile_case(tool, *what, options.flag), work.values())))
    if options.write:
        options.write.write_text(json.dumps(made, indent=1) + "\n")
    differ = []
    if options.against:
        before = json.loads(options.against.read_text())
        differ = [name for name in made if made[name] != before.get(name)]
        for name in differ[:40]:
            print(f"{name}: {before.get(name, 'new')} -> {made[name]}")
    outcomes = collections.Counter(value.startswith("refused") for value in made.values())
    print(f"{outcomes[False]} compiled, {outcomes[True]} refused, {len(differ)} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
