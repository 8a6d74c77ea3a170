#!/usr/bin/env python3
# ops.py - Operator calls, compiled, run and compared with PyTorch
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each case of a file in the format of test/data/programs (op_cases.json: traces of
# tests; model_ops.json: single calls of models) is built as a PyTorch module on
# inputs that the device's formats hold, exported by torch-mlir, compiled and run on
# the emulator in checked mode, all in one process (lib/callcases.py). It is compared
# with PyTorch's own result and with the same module in float64, as programs.py does,
# under the same tolerances. A refusal fails a case: what cannot be built or exported
# at all is skipped, and so is what would take too long.
"""Operator calls on the emulator in checked mode, against PyTorch."""

import json
import pathlib
import sys

from lib.harness import Case, UsageError

from lib import callcases, harness


def collect(options):
    cases = []
    for text in options.paths:
        content = json.loads(pathlib.Path(text).read_text())
        if not isinstance(content, dict) or "cases" not in content:
            raise UsageError(f"{text} has no 'cases'")
        for index, entry in enumerate(content["cases"]):
            name = entry.get("id") or f"{entry['op']}/{entry['model']}/{index}"
            load = lambda entry=entry, name=name: (entry, name, options.seed)
            cases.append(Case(name, load, group=(entry["op"] or "").split(".")[-1]))
    return cases


def judge_here(entry, name, seed, run):
    """The Result of an entry, in this process."""
    from lib import modelcalls, opcalls

    def make(scale):
        size = opcalls.elements(entry) if "program" in entry else modelcalls.elements(entry)
        if run["max_elements"] and size > run["max_elements"]:  # before it is made
            raise opcalls.Skip("too-large", f"{size} elements")
        if "program" in entry:
            return opcalls.build(entry, seed, scale)
        return modelcalls.build(entry, name, seed, scale)

    return callcases.judge_call(make, run)


def make_judge(options, tools):
    return callcases.judge(options, "ops.judge_here")


def main(argv=None):
    parser = harness.parser(
        "ops.py", __doc__, "ops.py test/data/programs/op_cases.json --only softmax", "file of operator calls"
    )
    callcases.add_flags(parser)
    return harness.main(parser, collect, make_judge, argv, validate=callcases.validate, summary=callcases.shares)


if __name__ == "__main__":
    sys.exit(main())
