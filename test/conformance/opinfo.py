#!/usr/bin/env python3
# opinfo.py - PyTorch's operator database, compiled, run and compared
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# PyTorch comes with a database of its operations and of inputs to test them with
# (torch.testing._internal). A case is a sample of it, `<op>.<variant>/<dtype>/<n>`:
# exported, compiled, run on the emulator in checked mode with PyTorch for what runs
# on the host, and compared with PyTorch and with float64, as ops.py does. Which
# samples of an operation are taken hangs on the seed alone.
"""PyTorch's OpInfo database on the emulator in checked mode, against PyTorch."""

import concurrent.futures
import sys

from lib.harness import Case, UsageError

from lib import callcases, harness, inprocess, workers

GENERATE_S = 60  # for the samples of an operation
DTYPES = ("f16", "bf16", "f32", "i64", "bool")


def dtypes_of(text):
    chosen = [part for part in text.split(",") if part]
    unknown = [part for part in chosen if part not in DTYPES]
    if unknown or not chosen:
        raise UsageError(f"--dtype wants some of {','.join(DTYPES)}, not '{text}'")
    return list(dict.fromkeys(chosen))


def collect(options):
    """The chosen samples of each operation that fits --only and --group."""
    pool = inprocess.start(options, "export", "lib.opinfos:database")
    pairs = [
        (name, dtype)
        for dtype in dtypes_of(options.dtype)
        for name in pool.call("lib.opinfos.names", dtype, timeout=workers.START_S)
        if may_be_wanted(f"{name}/{dtype}", options.only)
    ]

    def cases_of(pair):
        arguments = (*pair, options.seed, options.max_samples)
        try:
            chosen = pool.call("lib.opinfos.choose", *arguments, timeout=min(GENERATE_S, options.timeout))
        except workers.Died as died:
            chosen = str(died)
        if isinstance(chosen, str):
            return [Case("/".join((*pair, "0")), lambda: callcases.skip("no-samples", chosen), group=pair[0])]
        return [Case("/".join((*pair, str(n))), lambda n=n: (*pair, n, options.seed), group=pair[0]) for n in chosen]

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as threads:
        return [case for cases in threads.map(cases_of, pairs) for case in cases]


def may_be_wanted(prefix, only):
    """False if no case `prefix/<n>` contains one of the texts: its samples need not be made."""

    def fits(text):
        before, slash, number = text.rpartition("/")
        return text in prefix or bool(slash) and prefix.endswith(before) and (not number or number.isdigit())

    return not only or any(fits(text) for text in only)


def judge_here(name, dtype, number, seed, run):
    """The Result of a sample, in this process."""
    from lib import opinfos

    make = lambda scale: opinfos.build(name, dtype, number, seed, scale, run["max_elements"])
    return callcases.judge_call(make, run)


def make_judge(options, tools):
    return callcases.judge(options, "opinfo.judge_here")


def validate(options):
    dtypes_of(options.dtype)
    callcases.validate(options)


def main(argv=None):
    parser = harness.parser("opinfo.py", __doc__, "opinfo.py --dtype f16 --only softmax")
    parser.add_argument(
        "--dtype", default=",".join(DTYPES), metavar="A,B", help=f"dtypes of the inputs (default {','.join(DTYPES)})"
    )
    parser.add_argument(
        "--max-samples", type=harness.positive, default=3, metavar="N", help="samples an operation (default 3)"
    )
    callcases.add_flags(parser)
    return harness.main(parser, collect, make_judge, argv, validate=validate, summary=callcases.shares)


if __name__ == "__main__":
    sys.exit(main())
