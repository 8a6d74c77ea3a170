#!/usr/bin/env python3
# run_targets.py - Bounded runs of the libFuzzer targets
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every target runs over its corpus and a number of mutations of it, with limits on
# time and memory: a crash, a hang, a sanitizer report or an allocation beyond the
# limit fails it. The corpora are reference data, the dialects' tests and what the
# fuzzers found (test/fuzz/corpus). The preset `asan` builds the same targets with
# coverage and sanitizers.
"""Runs the fuzzers of test/fuzz/targets; ends with `N passed, N failed`."""

import argparse
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conformance"))

from lib.harness import DATA  # noqa: E402

from lib import harness  # noqa: E402

CORPUS = HERE / "corpus"

# Seeds stay, whether or not the code under the target is instrumented. One allocation, all memory, one input.
LIMITS = ["-keep_seed=1", "-malloc_limit_mb=512", "-rss_limit_mb=3072", "-timeout=20", "-max_len=16384"]


def reference_descriptors():
    for path in sorted((DATA / "superdsc" / "cases").glob("*/sdsc_[0-9]*.json")):
        yield path.read_bytes()
    with gzip.open(DATA / "superdsc" / "random_ops.json.gz", "rt") as file:
        for entry in json.load(file)[:40]:
            yield json.dumps(entry["sdsc"]).encode()


def files(pattern, root=HERE.parent):
    for path in sorted(root.glob(pattern)):
        yield path.read_bytes()


def split_modules(pattern="Dialect/**/*.mlir"):
    """The dialects' tests, one module each."""
    for text in files(pattern):
        yield from text.split(b"// -----")


def kernels():
    yield from split_modules("Dialect/KTIR/*.mlir")
    yield from files("ktir/*.mlir", DATA)


def bindings():
    for path in sorted((DATA / "superdsc" / "bundles" / "small").glob("*/bind.json"))[:20]:
        yield path.read_bytes()


def arrays():
    for path in sorted((DATA / "superdsc" / "bundles" / "small").glob("*/data.npz"))[:8]:
        yield path.read_bytes()


SEEDS = {
    "fuzz-descriptor": reference_descriptors,
    "fuzz-program-files": bindings,
    "fuzz-arrays": arrays,
    "fuzz-bundle-text": lambda: files("superdsc/**/bundle.mlir", DATA),
    "fuzz-kernel": kernels,
    "fuzz-mlir-text": split_modules,
}


def run(target, options):
    with tempfile.TemporaryDirectory() as scratch:
        seeds = pathlib.Path(scratch) / "seeds"
        seeds.mkdir()
        for number, content in enumerate(SEEDS[target.name]()):
            (seeds / f"{number:05}").write_bytes(content)
        folders = [seeds]
        found = CORPUS / target.name.removeprefix("fuzz-")
        if found.is_dir():
            folders.append(found)
        artifacts = pathlib.Path(options.artifacts)
        artifacts.mkdir(parents=True, exist_ok=True)
        new = pathlib.Path(scratch) / "new"
        new.mkdir()
        command = [target, new, *folders, f"-seed={options.seed}", f"-artifact_prefix={artifacts}/{target.name}-"]
        command += [f"-runs={options.runs}", f"-max_total_time={options.seconds}", *LIMITS]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        if done.returncode:
            print(f"FAIL {target.name}: exit code {done.returncode}")
            print("\n".join("  " + line for line in (done.stdout + done.stderr).splitlines()[-options.lines :]))
            return False
        return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: run_targets.py --seconds 600 --seed 7")
    harness.add_build_flag(parser)
    parser.add_argument("--runs", type=int, default=4000, help="inputs a target, the corpus included; -1: no limit")
    parser.add_argument("--seconds", type=int, default=60, help="at most this long a target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="targets whose name contains this")
    parser.add_argument("--artifacts", default=os.path.join(tempfile.gettempdir(), "fuzz-artifacts"))
    parser.add_argument("--lines", type=int, default=40, help="of a failed target's output")
    options = parser.parse_args()
    passed = failed = 0
    for name in sorted(SEEDS):
        if options.only not in name:
            continue
        target = pathlib.Path(options.build) / "fuzzers" / name
        if target.exists() and run(target, options):
            passed += 1
        else:
            failed += 1
            if not target.exists():
                print(f"FAIL {name} is not built in {options.build}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
