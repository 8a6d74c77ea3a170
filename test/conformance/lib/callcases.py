# callcases.py - PyTorch calls as cases, judged in a worker process
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What ops.py and opinfo.py share: a call (a module, its arguments, the same in
# float64) becomes a program with PyTorch's results, is exported, compiled, run and
# compared in one process, which has imported PyTorch once. What PyTorch itself
# cannot do, in whatever way it fails, is skipped for a reason of skips.json.
"""Programs of PyTorch modules, judged where they are made."""

import logging
import pathlib
import shutil
import unittest.mock

import numpy as np

from . import arrays, formats, harness, inprocess, tolerance, workers

MAX_ELEMENTS = 4_000_000
DRAWS = 16  # of random results, to know where they lie
SCALES = (1.0, 0.125, 0.015625)  # of the inputs, until results stay in range

_UNWRITTEN = ("empty", "new_empty")  # operations whose results nobody wrote
_VIEWS = {"view", "permute", "expand", "slice", "unsqueeze", "squeeze", "transpose", "select", "detach", "alias"}


# --- on the runner's side ------------------------------------------------------


def add_flags(parser):
    inprocess.add_flags(parser, ("superdsc", "ktir"))
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


def validate(options):
    """Calls are made with PyTorch, and it is the default for what runs on the host, too."""
    inprocess.require(options.build)
    options.host = options.host or "torch"


def judge(options, function):
    """The judge of cases whose content is (name, arguments of `function`) for the worker."""
    pool = inprocess.start(options, "export", "lib.opcalls")
    flags = inprocess.flags_of(options, options.target)
    run = {"flags": flags, "no_host": options.no_host, "max_elements": options.max_elements}

    def judge_one(case, scratch):
        arguments = case.load()
        if isinstance(arguments, harness.Result):
            return arguments
        keep, failing = harness.keep_folder(options, case), None
        if options.keep_failing:
            failing = pathlib.Path(options.keep_failing).resolve() / case.name.replace("/", "_").replace(":", "_")
        try:
            places = {"keep": keep, "failing": failing}
            return pool.call(function, *arguments, {**run, **places}, timeout=options.timeout)
        except workers.Died as died:
            if died.stage != "running":
                return skip("not-exportable", f"PyTorch, {died.stage}: {died}")
            if keep:
                (keep / "messages.txt").write_text(died.run.err)
            return died.result()

    return judge_one


def skip(key, why):
    result = harness.skipped(key)
    result.reason = f"{result.reason}: {why}"
    return result


def shares(rows):
    """Lines about how much of the cases that ran was the device's."""
    ran = [row for row in rows if row["stats"] and row["device_ops"] is not None]
    if not ran:
        return []
    device = sum(row["device_ops"] for row in ran)
    host = sum(sum((row["host_calls"] or {}).values()) for row in ran)
    on_device = sum(1 for row in ran if row["device_ops"])
    alone = sum(1 for row in ran if row["device_ops"] and not any((row["host_calls"] or {}).values()))
    whole = device + host
    cases = f"{on_device} of {len(ran)} cases ({100 * on_device / len(ran):.0f} %), {alone} of them without the host"
    operations = f"{device} of {whole} operations ({100 * device / whole if whole else 0:.0f} %)"
    return [f"on the device: {cases}; {operations}"]


# --- in the process ------------------------------------------------------------


def judge_call(make, run):
    """The Result of a call. make(scale): a Call, or one of the exceptions of opcalls."""
    from . import opcalls

    logging.getLogger("torch").setLevel(logging.CRITICAL)  # what cannot be exported is reported here
    try:
        program = program_of(make, run["max_elements"])
    except opcalls.Unclear as error:
        return skip("unclear-call", error)
    except opcalls.NotExportable as error:
        return skip("not-exportable", error)
    except opcalls.Skip as error:
        return skip(error.key, error)
    import programs

    if run["failing"]:
        write_reproducer(run["failing"], program)  # before, as the process may end in it
    result = programs.judge_here(program, run["flags"], run["keep"], run["no_host"])
    result.notes = []  # shares() tells of host calls
    if run["failing"] and result.passed is not False:
        shutil.rmtree(run["failing"], ignore_errors=True)
    return result


def overflows(out, ref):
    """True if a result left the range of its dtype, which the device's format does not share."""
    return bool(out.is_floating_point() and (out.isinf() & ref.isfinite()).any())


def program_of(make, max_elements=0):
    """The Program of a call, with its inputs scaled down as long as its results overflow."""
    import export
    import programs

    from . import opcalls, tensors

    name = lambda tensor: tensors.name_of(tensor.dtype)
    for scale in SCALES:
        call = make(scale)
        outs = results_of(call.module, call.arguments)
        size = max((tensor.numel() for tensor in (*outs, *call.arguments)), default=0)
        if max_elements and size > max_elements:
            raise opcalls.Skip("too-large", f"{size} elements")
        strange = {name(tensor) for tensor in (*outs, *call.arguments)} - formats.STORED.keys()
        if strange:
            raise opcalls.Skip("no-format", ", ".join(sorted(strange)))
        refs = wide_results(call, outs)
        if not any(overflows(out, ref) for out, ref in zip(outs, refs) if ref is not None):
            break
    workers.stage("exporting")
    export.remember_composites()
    text = call.text()
    if count_results(text) != len(outs) and not call.module.copies:  # written arguments are results, too
        call.module.copies = True
        text = call.text()
    operations = tolerance.traits_of_text(text).operations
    made = [name for name in operations if not tolerance.in_set(name, _VIEWS)]
    if made and all(name.startswith(_UNWRITTEN) for name in made) and any(out.numel() for out in outs):
        raise opcalls.Skip("unwritten", ", ".join(made))
    outputs = [(name(out), tensors.stored(out)) for out in outs]
    floats = [ref is not None and out.is_floating_point() and ref.is_floating_point() for out, ref in zip(outs, refs)]
    refs = [ref.double().numpy() if usable else None for ref, usable in zip(refs, floats)]
    ranges = ranges_of(call)
    info = {
        "inputs": [{"dtype": name(x), "shape": list(x.shape)} for x in call.arguments],
        "random": ranges is not None,
        "ranges": ranges,
    }
    return programs.Program(text, [tensors.stored(x) for x in call.arguments], outputs, refs, info=info)


def count_results(text):
    """Results of a program's function."""
    signature = text[text.index("func.func") :].partition("->")[2].partition("{")[0]
    return signature.count("!torch.")


def results_of(module, arguments, seed=0):
    """Its results, or Unclear. A module that writes into its arguments copies them from now on."""
    import export
    import torch

    from . import opcalls

    torch.default_generator.manual_seed(seed)
    given = [argument.clone() for argument in arguments]
    try:
        outs = export.run(module, given)
        module.copies = module.copies or not all(map(same, given, arguments))
    except (opcalls.Unclear, opcalls.Skip):
        raise
    except Exception as error:  # noqa: BLE001 - whatever an operation raises
        lines = str(error).strip().splitlines()
        raise opcalls.Unclear(f"PyTorch refuses it: {lines[0] if lines else type(error).__name__}") from error
    return [out.detach().resolve_conj().resolve_neg() for out in outs]


def wide_results(call, outs):
    """The results in float64; None for all where the operation has none or another shape in it."""
    from . import opcalls

    try:
        refs = results_of(*call.wide())
    except opcalls.Unclear:
        return [None] * len(outs)
    fit = len(refs) == len(outs) and all(ref.shape == out.shape for ref, out in zip(refs, outs))
    return refs if fit else [None] * len(outs)


def same(a, b):
    """True if two tensors have the same elements, NaNs included."""
    import torch

    return a.shape == b.shape and bool(torch.eq(a, b).logical_or(a.isnan() & b.isnan()).all())


def draw(call, times):
    """Results under several seeds, whatever seed a sample sets itself."""
    import torch

    with unittest.mock.patch.object(torch, "manual_seed", lambda seed: torch.default_generator):
        return [results_of(call.module, call.arguments, seed + 1) for seed in range(times)]


def ranges_of(call):
    """Where results lie that hang on the state of the random generator, or None if none does."""
    first, other = draw(call, 2)
    if all(map(same, first, other)):
        return None
    result = []
    for drawn in zip(*draw(call, DRAWS)):
        values = [float(value) for out in drawn if out.numel() and not out.is_complex() for value in out.aminmax()]
        values = [value for value in values if value == value]
        result.append([min(values), max(values)] if values else None)
    return result


def write_reproducer(folder, program):
    """program.mlir, inputs.npz and expected.npz, as spyre-run takes them."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "program.mlir").write_text(program.text)
    arrays.write_inputs(folder / "inputs.npz", program.inputs)
    expected = {f"out{i}": array for i, (_, array) in enumerate(program.outputs)}
    expected |= {f"ref{i}": ref for i, ref in enumerate(program.refs) if ref is not None}
    np.savez(folder / "expected.npz", **expected)
