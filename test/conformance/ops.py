#!/usr/bin/env python3
# ops.py - Operator programs, compiled, run and compared with PyTorch
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each case of a file in the format of test/data/programs/op_cases.json is built as
# a PyTorch module (lib/opcalls.py) on inputs that the device's formats hold,
# exported by torch-mlir, compiled and run on the emulator in checked mode. It is
# compared with PyTorch's own result and with the same module in float64, as
# programs.py does, under the same tolerances. A refusal fails a case: what cannot
# be built or exported at all is skipped, and so is what would take too long.
"""Operator programs on the emulator in checked mode, against PyTorch."""

import json
import logging
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

import programs  # noqa: E402
from lib.harness import Case, UsageError  # noqa: E402

from lib import harness  # noqa: E402

MAX_ELEMENTS = 4_000_000
SCALES = (1.0, 0.125, 0.015625)  # of the inputs, until results stay in range


def collect(options):
    cases = []
    for text in options.paths:
        content = json.loads(pathlib.Path(text).read_text())
        if not isinstance(content, dict) or "cases" not in content:
            raise UsageError(f"{text} has no 'cases'")
        cases += [Case(entry["id"], lambda entry=entry: entry, group=entry["op"]) for entry in content["cases"]]
    return cases


def overflows(out, ref):
    """True if a result left the range of its dtype, which the device's format does not share."""
    return bool(out.is_floating_point() and (out.isinf() & ref.isfinite()).any())


class Maker:
    """Cases to programs with PyTorch's arrays."""

    def __init__(self, seed):
        try:
            import export

            from lib import opcalls
        except ImportError as error:
            raise UsageError(f"needs {error.name}: utils/install-deps.sh --torch") from error
        self.opcalls, self.export, self.seed = opcalls, export, seed
        logging.getLogger("torch").setLevel(logging.CRITICAL)  # what cannot be exported is reported here

    def make(self, entry):
        """The Program of a case."""
        for scale in SCALES:
            call = self.opcalls.build(entry, self.seed, scale)
            outs = self.export.run(call.module, call.arguments)
            refs = self.export.run(*call.wide())
            if not any(overflows(out, ref) for out, ref in zip(outs, refs)):
                break
        text = call.text()
        name = lambda tensor: str(tensor.dtype).removeprefix("torch.")
        outputs = [(name(out), self.export.stored(out)) for out in outs]
        refs = [ref.numpy() if out.is_floating_point() else None for out, ref in zip(outs, refs)]
        info = {"inputs": [{"dtype": name(x), "shape": list(x.shape)} for x in call.arguments]}
        return programs.Program(text, [self.export.stored(x) for x in call.arguments], outputs, refs, info=info)


def make_judge(options, tools):
    maker = Maker(options.seed)
    compare = programs.judge(options, tools)

    def skip(key, why):
        result = harness.skipped(key)
        result.reason = f"{result.reason}: {why}"
        return result

    def judge(case, scratch):
        entry = case.load()
        try:
            size = maker.opcalls.elements(entry)
            if options.max_elements and size > options.max_elements:
                return skip("too-large", f"{size} elements")
            program = maker.make(entry)
        except maker.opcalls.Unclear as error:
            return skip("unclear-call", error)
        except maker.opcalls.NotExportable as error:
            return skip("not-exportable", error)
        result = compare(Case(case.name, lambda: (program, options.target)), scratch)
        if options.keep_failing and result.passed is False:
            write_reproducer(
                pathlib.Path(options.keep_failing) / case.name.replace("/", "_").replace(":", "_"), program
            )
        return result

    return judge


def write_reproducer(folder, program):
    """program.mlir, inputs.npz and expected.npz, as spyre-run takes them."""
    import numpy as np

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "program.mlir").write_text(program.text)
    np.savez(folder / "inputs.npz", **{f"in{i}": array for i, array in enumerate(program.inputs)})
    expected = {f"out{i}": array for i, (_, array) in enumerate(program.outputs)}
    expected |= {f"ref{i}": ref for i, ref in enumerate(program.refs) if ref is not None}
    np.savez(folder / "expected.npz", **expected)


def main(argv=None):
    parser = harness.parser(
        "ops.py", __doc__, "ops.py test/data/programs/op_cases.json --only softmax", "file of operator programs"
    )
    parser.add_argument(
        "-O", dest="opt", choices=("0", "1", "2", "3"), help="optimisation level (default: the compiler's)"
    )
    parser.add_argument("--target", choices=("superdsc", "ktir"), default="superdsc", help="what to compile to")
    parser.add_argument("--no-host", action="store_true", help="any host call fails a case")
    parser.add_argument(
        "--max-elements",
        type=int,
        default=MAX_ELEMENTS,
        metavar="N",
        help=f"skip cases with a larger tensor (default {MAX_ELEMENTS}; 0: none)",
    )
    parser.add_argument(
        "--keep-failing", metavar="DIR", help="write program and arrays of each failing case, as spyre-run takes them"
    )
    return harness.main(parser, collect, make_judge, argv)


if __name__ == "__main__":
    sys.exit(main())
