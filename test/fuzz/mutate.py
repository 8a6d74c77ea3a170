#!/usr/bin/env python3
# mutate.py - Damages valid inputs and watches the tools refuse them
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Takes valid inputs of every kind (torch texts, each level's own text, kernels, bundles,
# descriptors, plans, launch specs, programs, arrays, planning problems), changes
# each a little and runs the tool that reads it. Whatever the input says, a tool
# ends with exit code 0, 1 or 2, in bounded time and memory, without a stack trace
# or a sanitizer's report; with 1 or 2 it says why. A mutant is a function of its
# seed number alone, so a finding is repeated with `--seed N --count 1`.
"""Mutation fuzzer of the tools."""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conformance"))

from lib.harness import BUILD, DATA  # noqa: E402

from lib import harness  # noqa: E402

TIMEOUT_S = 600  # of the tools on valid inputs
# What a mutant may need. Sanitized builds reserve address space of their own.
MEMORY_IN_BYTES = 8 << 30
SANITIZED = "ASAN_OPTIONS" in os.environ

NUMBERS = (
    "0 1 -1 2 3 7 31 32 33 63 64 65 127 128 255 4096 65535 65536 2097152 2147483647 2147483648 4294967295 "
    "4294967296 1099511627776 281474976710656 4611686018427387904 9223372036854775807 9223372036854775808 "
    "-9223372036854775808 18446744073709551616 -2 -64 -2147483648 1e308 0.5 1e-320"
).split()
WORDS = (
    "( ) [ ] { } < > , : ; = -> % %0 %arg0 @ @main # ! \" ' ? * x mod floordiv ceildiv d0 d1 s0 affine_map<(d0)->(d0)> "
    "f16 f32 bf16 i1 i64 index si64 tensor<> tensor<4xf16> !torch.int !torch.vtensor<[4,64],f16> !torch.list<int> "
    "f64 si8 si16 ui8 ui16 f8E4M3FN f8E5M2 f8E8M0FNU complex<f32> tensor<complex<f64>> none true false unit loc(unknown) torch.constant.none null \x00 \xff \\ \\u0000 // dense<0> dense<> in out "
    "spyre.layout spyre.yield func.return scf.for"
).split()
TOKEN = re.compile(r"[A-Za-z_][\w.$-]*|-?\d+(?:\.\d+)?|\s+|.", re.DOTALL)


@dataclasses.dataclass
class Kind:
    """A kind of input: which files there are, and which of them is damaged how it is read."""

    name: str
    folder: pathlib.Path  # copied for every mutant
    targets: list  # names of files in it of which one is changed
    commands: list  # of which one is run; {} is the copy, {target} the changed file
    whole: list = None  # the commands that take the files as they are, if not all do


# --- valid inputs ------------------------------------------------------------


def fill(command, folder, target):
    return [word.replace("{target}", str(target)).replace("{}", str(folder)) for word in command]


def tool(name):
    return str(BUILD / "bin" / name)


def call(*command):
    done = harness.run_process(command, TIMEOUT_S)
    if done.code != 0:
        raise SystemExit(f"error: {' '.join(done.command)}: {done.err}")


def texts_at_all_levels(work):
    """Every stage's text of a few small programs."""
    names = ("softmax_32x256", "rmsnorm_32x512.torch", "linear_bias_32x128x192", "log_softmax_32x200", "bmm_4x32x64x48")
    for name in names:
        source = DATA / "models" / f"{name}.mlir"
        call(tool("spyre-compile"), source, "-o", work / "programs" / name, f"--dump-stages={work}/stages/{name}")
    stages = {}
    for path in sorted((work / "stages").rglob("*.mlir")):
        level = path.stem.split("-", 1)[1]
        folder = work / "levels" / level
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / f"{path.parent.name}.mlir")
        stages[level] = folder
    return stages


def small_torch_texts(work):
    folder = work / "torch"
    folder.mkdir()
    paths = sorted((DATA / "models").glob("*.mlir"), key=lambda path: (path.stat().st_size, path.name))
    for path in paths[:80]:
        shutil.copy(path, folder / path.name)
    return folder


# Element types of literals with two elements each: floats, integers, complex numbers; the last two are in no program.
LITERALS = {
    **dict.fromkeys("f16 bf16 f32 f64 f8E5M2 f8E4M3FN f8E5M2FNUZ f8E4M3FNUZ".split(), ("1.0", "-2.0")),
    **dict.fromkeys("si8 si16 si32 si64 ui8".split(), ("1", "2")),
    "i1": ("true", "false"),
    **dict.fromkeys("complex<f32> complex<f64> complex<f16>".split(), ("(1.0,-2.0)", "(0.0,1.0)")),
    "f8E8M0FNU": ("1.0", "2.0"),
}


def literals_of_all_types(work):
    """A text a type: a literal of many elements, one of one number, one without dims, a resource, filled tensors; moved and cast."""
    folder = work / "literals"
    folder.mkdir()
    bytes_of = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "si16": 2, "si32": 4, "si64": 8}
    bytes_of |= {"complex<f16>": 4, "complex<f32>": 8, "complex<f64>": 16}
    for number, (name, (first, second)) in enumerate(LITERALS.items()):
        tensor = lambda sizes: f"!torch.vtensor<[{sizes}],{name}>"  # noqa: B023, E731
        data = "0x04000000" + "00" * 2 * bytes_of.get(name, 1)
        (folder / f"{number:02}_{re.sub('[<>]', '', name)}.mlir").write_text(
            f"""func.func @main(%x: !torch.vtensor<[2],f16>) -> ({tensor(2)}, {tensor(4)}, {tensor("")}, {tensor(2)}, {tensor(2)}, !torch.vtensor<[2],f16>) {{
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int5 = torch.constant.int 5
  %none = torch.constant.none
  %false = torch.constant.bool false
  %half = torch.constant.float 5.000000e-01
  %s = torch.prim.ListConstruct %int2 : (!torch.int) -> !torch.list<int>
  %a = torch.vtensor.literal(dense<[{first}, {second}]> : tensor<2x{name}>) : {tensor(2)}
  %b = torch.vtensor.literal(dense<{second}> : tensor<2x{name}>) : {tensor(2)}
  %c = torch.vtensor.literal(dense<{first}> : tensor<{name}>) : {tensor("")}
  %d = torch.vtensor.literal(dense_resource<kept> : tensor<2x{name}>) : {tensor(2)}
  %e = torch.aten.zeros %s, %none, %none, %none, %none : !torch.list<int>, !torch.none, !torch.none, !torch.none, !torch.none -> {tensor(2)}
  %l = torch.prim.ListConstruct %a, %b : ({tensor(2)}, {tensor(2)}) -> !torch.list<vtensor>
  %f = torch.aten.cat %l, %int0 : !torch.list<vtensor>, !torch.int -> {tensor(4)}
  %g = torch.aten.clone %c, %none : {tensor("")}, !torch.none -> {tensor("")}
  %h = torch.prims.convert_element_type %d, %int5 : {tensor(2)}, !torch.int -> !torch.vtensor<[2],f16>
  %i = torch.aten.add.Tensor %x, %h, %int1 : !torch.vtensor<[2],f16>, !torch.vtensor<[2],f16>, !torch.int -> !torch.vtensor<[2],f16>
  %j = torch.aten.full_like %a, %int1, %none, %none, %none, %none, %none : {tensor(2)}, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none, !torch.none -> {tensor(2)}
  return %a, %f, %g, %e, %j, %i : {tensor(2)}, {tensor(4)}, {tensor("")}, {tensor(2)}, {tensor(2)}, !torch.vtensor<[2],f16>
}}

{{-#
  dialect_resources: {{
    builtin: {{
      kept: "{data}"
    }}
  }}
#-}}
"""
        )
    return folder


def kernels(work):
    """KTIR: one that the compiler writes, one with an operation of each sort, and those that are run."""
    folder = work / "kernels"
    folder.mkdir()
    written = work / "ktir"
    call(tool("spyre-compile"), DATA / "models" / "add_32x96.mlir", "--target=ktir", "-O1", "-o", written)
    shutil.copy(written / "bundles" / "0" / "kernel.ktir.mlir", folder / "emitted.mlir")
    shutil.copy(HERE.parent / "Dialect" / "KTIR" / "explain.mlir", folder)
    for path in sorted((DATA / "ktir").glob("*.mlir")):
        shutil.copy(path, folder)
    return folder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def planning_problems(work):
    """A few small problems of each sort, cut out of the reference data."""
    folder = work / "planning"
    folder.mkdir()
    for name in ("work_division", "lx_packing", "hbm_pool_traces"):
        content = json.loads((DATA / "planning" / f"{name}.json").read_text())
        cases = content if isinstance(content, list) else next(v for v in content.values() if isinstance(v, list))
        small = sorted(cases, key=lambda case: len(json.dumps(case)))[:3]
        for number, case in enumerate(small):
            (folder / f"{name}{number}.json").write_text(json.dumps(case))
    (folder / "problem.csv").write_text("id,lower,upper,size\n0,0,4,64\n1,2,6,128\n2,5,9,64\n")
    return folder


def schedule_with_problem(work):
    """A schedule that says one thing of each sort, and what it is of."""
    folder = work / "schedules"
    folder.mkdir()

    def value(*shape, **more):
        return {"shape": shape, "format": "SEN169_FP16", "order": list(range(len(shape))), **more}

    def operation(opfunc, extents, *operands):
        touched = [{"value": name, "at": at} for name, at in operands]
        return {"opfunc": opfunc, "extents": extents, "inputs": touched[:-1], "output": touched[-1]}

    rows = ["d0", "d1"]
    values = {"in0": value(64, 128), "in1": value(128, 64), "p": value(64, 64), "q": value(64, 64)}
    values["out0"] = value(64, 64, result=True)
    operations = [
        operation("batchmatmul", [64, 64, 128], ("in0", ["d0", "d2"]), ("in1", ["d2", "d1"]), ("p", rows)),
        operation("exp", [64, 64], ("p", rows), ("q", rows)),
        operation("add", [64, 64], ("q", rows), ("p", ["4*floor(d0/4) + Mod(d0, 4)", "d1"]), ("out0", rows)),
    ]
    function = {
        "kind": "tiled",
        "names": {"in0": ["rows", "inner"]},
        "divisions": [{"operation": 0, "opfunc": "batchmatmul", "splits": {"rows": 2, "1": 1}}],
        "nests": [{"first": 1, "last": 2, "loops": [{"dim": "rows", "tiles": 2}], "copies": False}],
        "lost": [],
        "values": [{"result_of": 1, "space": "lx"}],
    }
    for name, content in (
        ("schedule", function),
        ("problem", {"values": values, "operations": operations}),
    ):
        (folder / f"{name}.json").write_text(json.dumps({"version": 1, "functions": {"main": content}}))
    return folder


def make_kinds(work):
    stages = texts_at_all_levels(work)
    compile_it = [[tool("spyre-compile"), "{target}", "-o", "{}/out"]]
    kinds = [Kind("torch", small_torch_texts(work), [], compile_it)]
    with_host = [[*compile_it[0], f"--host={host}"] for host in ("table", "any", "none")]
    kinds.append(Kind("literals", literals_of_all_types(work), [], with_host, whole=[with_host[1]]))
    kinds += [Kind(level, stages[level], [], compile_it) for level in ("l1", "l2")]

    def passes(*names):
        return [tool("spyre-opt"), *(f"--{name}" for name in names), "{target}"]

    kinds.append(Kind("l2-verify", stages["l2"], [], [passes("spyre-verify-layouts")]))
    emit = passes("spyre-verify-plan", "convert-spyre-to-superdsc", "sdsc-verify")
    kinds.append(Kind("planned", stages["planned"], [], [emit, passes("convert-spyre-to-superdsc")]))
    explain = [tool("spyre-translate"), "--explain"]
    kinds.append(
        Kind(
            "superdsc",
            stages["superdsc"],
            [],
            [
                [tool("spyre-translate"), "--sdsc-to-bundle", "{target}", "-o", "{}/out"],
                [*explain, "{target}"],
                [tool("spyre-opt"), "--sdsc-verify", "{target}"],
            ],
        )
    )
    check = [passes("ktir-check-legality"), passes("canonicalize", "cse", "ktir-check-legality")]
    kinds.append(Kind("kernels", kernels(work), [], [*check, [*explain, "{target}"]]))
    small = DATA / "superdsc" / "bundles" / "small"
    for name in ("hint_softmax_m4_64x128", "softmax_pool_32x256", "matmul_33x70x65", "embedding_64x128"):
        folder = small / name
        if not folder.exists():
            continue
        files = names(folder)
        run = [tool("spyre-run"), "{}", "--bind", "{}/bind.json", "--inputs", "{}/data.npz"]
        kinds.append(
            Kind(
                f"bundle-{name}",
                folder,
                [file for file in files if file != "data.npz"],
                [[*run, "--check"], run, [*explain, "{}"], [tool("spyre-translate"), "--bundle-to-sdsc", "{}"]],
            )
        )
    program = work / "programs" / "softmax_32x256"
    files = sorted(str(path.relative_to(program)) for path in program.rglob("*.json"))
    run = [tool("spyre-run"), "{}"]
    kinds.append(Kind("program", program, files, [run, [*run, "--check"]]))
    arrays = work / "arrays"
    arrays.mkdir()
    add = DATA / "models" / "add_32x96.npz"
    shutil.copy(add, arrays / "deflated.npz")
    content = np.load(add)
    np.savez(arrays / "stored.npz", **{name: np.asfortranarray(content[name]) for name in ("in0", "in1", "out0")})
    model = str(DATA / "models" / "add_32x96.mlir")
    kinds.append(
        Kind(
            "arrays",
            arrays,
            [],
            [
                [tool("spyre-run"), model, "--inputs", "{target}"],
                [tool("spyre-run"), model, "--inputs", str(add), "--expect", "{target}"],
            ],
        )
    )
    planning = planning_problems(work)
    files = names(planning)
    for action, word in (
        ("divide", "work_division"),
        ("pack", "lx_packing"),
        ("pool", "hbm_pool"),
        ("pack", "problem"),
    ):
        solve = [tool("spyre-solve"), action, "--input", "{target}", "--output", "{}/out", "--time-limit", "1"]
        if action == "pack":
            solve += ["--capacity", "4096"]
        kinds.append(Kind(f"solve-{word}", planning, [file for file in files if file.startswith(word)], [solve]))
    schedule = [tool("spyre-solve"), "schedule", "{}/schedule.json", "--problem", "{}/problem.json", "--device=mock4"]
    kinds.append(Kind("solve-schedule", schedule_with_problem(work), [], [schedule]))
    for kind in kinds:
        kind.targets = kind.targets or names(kind.folder)
    return kinds


def check_kinds(kinds, options):
    """Whole inputs are accepted, else damaged ones would test nothing. One message each that is not."""
    work = [
        (kind, name, command) for kind in kinds for name in kind.targets[:3] for command in kind.whole or kind.commands
    ]

    def check(entry):
        kind, name, command = entry
        with tempfile.TemporaryDirectory(prefix="spyre-fuzz-") as scratch:
            folder = pathlib.Path(scratch) / "whole"
            shutil.copytree(kind.folder, folder)
            words = fill(command, folder, folder / name)
            done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
        return None if done.returncode == 0 else f"{kind.name}: {name} is refused as it is: {done.stderr[:200]}"

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        return [message for message in pool.map(check, work) if message]


# --- mutations ---------------------------------------------------------------


def mutate_tokens(text, rng, donor):
    """Changes one to three places of a text, by tokens."""
    tokens = TOKEN.findall(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if not tokens:
            break
        at = rng.randrange(len(tokens))
        numbers = [i for i, token in enumerate(tokens) if re.fullmatch(r"-?\d+", token)]
        action = rng.randrange(10)
        if action < 3 and numbers:
            at = rng.choice(numbers)
            tokens[at] = rng.choice((*NUMBERS, str(int(tokens[at]) + rng.choice((-1, 1, 64)))))
        elif action == 3:
            del tokens[at : at + rng.choice((1, 1, 2, 5, 40))]
        elif action == 4:
            tokens[at:at] = tokens[at : at + rng.choice((1, 3, 20))] * rng.choice((1, 1, 2, 50))
        elif action == 5:
            other = rng.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif action == 6:
            tokens.insert(at, rng.choice(WORDS))
        elif action == 7:
            tokens[at] = rng.choice(WORDS)
        elif action == 8:
            # A word of the same sort from elsewhere: an operand, an attribute, a type.
            same = [token for token in donor if token[0] == tokens[at][0]]
            tokens[at] = rng.choice(same or WORDS)
        else:
            lines = "".join(tokens).split("\n")
            line = rng.randrange(len(lines))
            if rng.random() < 0.5:
                del lines[line]
            else:
                lines.insert(rng.randrange(len(lines)), lines[line])
            tokens = TOKEN.findall("\n".join(lines))
    return "".join(tokens)


def mutate_bytes(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        at = rng.randrange(len(data) + 1)
        action = rng.randrange(5)
        if action == 0:
            data[at : at + 1] = bytes([rng.randrange(256)])
        elif action == 1:
            del data[at : at + rng.choice((1, 2, 8, 100))]
        elif action == 2:
            data[at:at] = data[at : at + rng.choice((1, 8, 100))]
        elif action == 3:
            del data[at:]
        else:
            data[at : at + 4] = rng.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\0\0\0\x80", b"\xff\xff\xff\x7f"))
    return bytes(data)


def json_places(node, found, holder=None, key=None):
    if holder is not None:
        found.append((holder, key))
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for name, child in items:
        json_places(child, found, node, name)
    return found


def mutate_json(text, rng):
    """Changes values of a document that stays JSON, so that the damage reaches what reads it."""
    document = json.loads(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        places = json_places(document, [])
        if not places:
            break
        scalars = [(h, k) for h, k in places if not isinstance(h[k], (dict, list))]
        holder, key = rng.choice(scalars if scalars and rng.random() < 0.7 else places)
        action = rng.randrange(8)
        if action < 4:
            value = holder[key]
            if isinstance(value, int) and not isinstance(value, bool) and rng.random() < 0.4:
                holder[key] = value + rng.choice((-1, 1, 2, 64, -64))
            elif isinstance(value, str) and rng.random() < 0.4:
                other, place = rng.choice(scalars)
                holder[key] = str(other[place])
            else:
                holder[key] = json.loads(rng.choice([n for n in NUMBERS if n != "18446744073709551616"]))
        elif action == 4:
            del holder[key]
        elif action == 5:
            holder[key] = rng.choice((None, True, "", "x", [], {}, [0], {"a": 1}, "../x", "-1", 0.5))
        elif action == 6:
            other, place = rng.choice(places)
            holder[key] = json.loads(json.dumps(other[place]))
        elif isinstance(holder, list):
            holder.insert(key, json.loads(json.dumps(holder[key])))
        else:
            holder[str(key) + rng.choice("_0x")] = holder.pop(key)
    return json.dumps(document)


def mutate(path, rng, donors):
    """The damaged content of \\p path."""
    data = path.read_bytes()
    if path.suffix == ".npz":
        return mutate_bytes(data, rng)
    if rng.random() < 0.05:
        return mutate_bytes(data, rng)
    text = data.decode("utf-8", "replace")
    if path.suffix == ".json" and rng.random() < 0.8:
        return mutate_json(text, rng).encode("utf-8", "replace")
    donor = TOKEN.findall(rng.choice(donors).read_bytes().decode("utf-8", "replace"))
    return mutate_tokens(text, rng, donor).encode("utf-8", "replace")


# --- running -----------------------------------------------------------------


def limit():
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_IN_BYTES, MEMORY_IN_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def judge(code, err):
    """What is wrong with how a tool ended, or None."""
    if code is None:
        return "no end in sight"
    # Out of memory is bad_alloc, which the tools report; the sanitizer's operator new ends the process.
    if SANITIZED and re.search(r"allocation-size-too-big|out-of-memory|calloc-overflow", err):
        return None
    if code not in (0, 1, 2):
        return f"exit code {code}"
    if harness.CRASH_MARKS.search(err):
        return "crash mark"
    if code != 0 and not err.strip():
        return f"exit code {code} without a message"
    return None


def run_mutant(seed, kinds, work, options):
    """(kind, what is wrong or None, standard error, command) of the mutant of this number."""
    rng = random.Random(seed)
    kind = rng.choice(kinds)
    folder = work / "mutants" / str(seed)
    shutil.copytree(kind.folder, folder)
    target = folder / rng.choice(kind.targets)
    donors = [kind.folder / name for name in kind.targets]
    target.write_bytes(mutate(target, rng, donors))
    command = fill(rng.choice(kind.commands), folder, target)
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=options.timeout,
            preexec_fn=limit,
        )
        code, err = done.returncode, done.stderr.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        code, err = None, ""
    wrong = judge(code, err)
    if wrong is None or options.keep is None:
        shutil.rmtree(folder)
    else:
        kept = options.keep / str(seed)
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(folder, kept)
        (kept / "command.txt").write_text(" ".join(command).replace(str(folder), str(kept)) + "\n")
        (kept / "stderr.txt").write_text(err)
        shutil.rmtree(folder)
    return kind.name, code, wrong, err


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="example: mutate.py --count 2000 --seed 1 --keep found"
    )
    parser.add_argument("--count", type=int, default=300, help="mutants (default 300)")
    parser.add_argument("--seed", type=int, default=0, help="number of the first mutant (default 0)")
    parser.add_argument("--kinds", help="only these kinds, by comma; mutants have other numbers then")
    parser.add_argument("--timeout", type=float, default=20, help="seconds a mutant (default 20)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the mutants that a tool did not survive")
    options = parser.parse_args()
    for name in ("spyre-compile", "spyre-run", "spyre-translate", "spyre-opt", "spyre-solve"):
        if not pathlib.Path(tool(name)).exists():
            print(f"error: {tool(name)} is missing; build it, or set SPYRE_BUILD", file=sys.stderr)
            return 2
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    failed, ends = 0, {}
    with tempfile.TemporaryDirectory(prefix="spyre-fuzz-") as scratch:
        work = pathlib.Path(scratch)
        kinds = make_kinds(work)
        if options.kinds:
            chosen = options.kinds.split(",")
            kinds = [kind for kind in kinds if any(kind.name.startswith(name) for name in chosen)]
            if not kinds:
                print(f"error: no kind begins with {options.kinds}", file=sys.stderr)
                return 2
        if messages := check_kinds(kinds, options):
            print("\n".join(messages))
            failed = len(messages)
        seeds = range(options.seed, options.seed + options.count)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            results = pool.map(lambda seed: run_mutant(seed, kinds, work, options), seeds)
            for seed, (kind, code, wrong, err) in zip(seeds, results, strict=True):
                ends.setdefault(kind, {}).setdefault(code, 0)
                ends[kind][code] += 1
                if wrong:
                    failed += 1
                    marks = [line for line in err.splitlines() if harness.CRASH_MARKS.search(line)]
                    detail = (marks or err.strip().splitlines() or [""])[0][:160]
                    print(f"FAIL {seed} {kind}: {wrong}: {detail}", flush=True)
    for kind, codes in sorted(ends.items()):
        print(f"{kind}: " + ", ".join(f"{n} with exit code {code}" for code, n in sorted(codes.items(), key=str)))
    print(f"{max(options.count - failed, 0)} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
