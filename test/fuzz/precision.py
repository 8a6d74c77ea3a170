#!/usr/bin/env python3
# precision.py - Random programs under each rule of precision
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A program that widens 16-bit values to f32, computes and narrows may run at the
# device's 16-bit format where a named rule says so; each rule has an error argument
# beside its code (lib/Dialect/Spyre/Transforms/L1/PrecisionRules.cpp). Here random
# programs of each rule's form are written as torch-dialect text, compiled, run in
# checked mode and compared with float64 under the tolerances of the conformance
# runners. What PyTorch's own result would be off by is computed in float32. A program
# to which its rule did not apply fails: it would test nothing. A case is a function of
# its seed number alone.
"""Fuzz test of the precision rules, one named rule at a time."""

import argparse
import concurrent.futures
import os
import pathlib
import re
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conformance"))

from lib import arrays, formats, harness, opfuncs, tolerance  # noqa: E402

TIMEOUT_S = 300
TYPE_NUMBERS = {"float16": 5, "float32": 6, "bfloat16": 15}  # PyTorch's


class Value:
    """A tensor of the program: its name and type, in float64 and as PyTorch would have it."""

    def __init__(self, name, dtype, exact, own):
        self.name, self.dtype, self.exact, self.own = name, dtype, exact, own

    @property
    def type(self):
        sizes = ",".join(map(str, self.exact.shape))
        return f"!torch.vtensor<[{sizes}],{formats.ELEMENTS[self.dtype]}>"


class Program:
    """Torch-dialect text under construction, evaluated on the way."""

    def __init__(self, rng, dtype):
        self.rng, self.dtype = rng, dtype
        self.inputs, self.lines, self.result = [], [], None

    def input(self, values):
        """An argument with values that the device's format holds exactly."""
        values = formats.exact_on_device(values, self.dtype)
        if self.dtype == "float16":
            values = formats.without_subnormals(values)
        value = Value(f"%arg{len(self.inputs)}", self.dtype, values, values.astype(np.float32))
        self.inputs.append(value)
        return value

    def constant(self, kind, text):
        name = f"%c{len(self.lines)}"
        self.lines.append(f"{name} = torch.constant.{kind} {text}" if text else f"{name} = torch.constant.{kind}")
        return name, {"none": "!torch.none"}.get(kind, f"!torch.{kind}")

    def ints(self, *numbers):
        names = [self.constant("int", str(n))[0] for n in numbers]
        name = f"%l{len(self.lines)}"
        types = ", ".join("!torch.int" for _ in names)
        self.lines.append(f"{name} = torch.prim.ListConstruct {', '.join(names)} : ({types}) -> !torch.list<int>")
        return name, "!torch.list<int>"

    def op(self, name, function, operands, extra=(), dtype=None):
        """Emits an operation; `function` takes and gives float arrays."""
        dtype = dtype or operands[0].dtype
        with np.errstate(all="ignore"):
            exact = np.asarray(function(*(x.exact for x in operands)))
            own = np.asarray(function(*(x.own for x in operands)), np.float32)
        if dtype != "float32":
            own = formats.round_to(own, dtype).astype(np.float32)
        value = Value(f"%{len(self.lines)}", dtype, exact, own)
        words = [(x.name, x.type) for x in operands] + list(extra)
        self.lines.append(
            f"{value.name} = torch.{name} {', '.join(n for n, _ in words)} : "
            f"{', '.join(t for _, t in words)} -> {value.type}"
        )
        return value

    def cast(self, x, dtype):
        code = self.constant("int", str(TYPE_NUMBERS[dtype]))
        return self.op("prims.convert_element_type", lambda v: v, [x], [code], dtype)

    def widen(self, x):
        return self.cast(x, "float32")

    def binary(self, name, function, x, y):
        extra = [self.constant("int", "1")] if name in ("add", "sub") else []
        return self.op(f"aten.{name}.Tensor", function, [x, y], extra)

    def reduce(self, name, function, x, dim):
        extra = [self.ints(dim), self.constant("bool", "true")]
        if name != "amax":
            extra.append(self.constant("none", ""))
        return self.op(f"aten.{name}", lambda v: function(v, axis=dim, keepdims=True), [x], extra)

    def finish(self, x):
        self.result = self.cast(x, self.dtype)
        return self

    def text(self):
        arguments = ", ".join(f"{x.name}: {x.type}" for x in self.inputs)
        body = "".join(f"  {line}\n" for line in self.lines)
        result = self.result
        return f"func.func @main({arguments}) -> {result.type} {{\n{body}  return {result.name} : {result.type}\n}}\n"


# --- values and shapes -------------------------------------------------------


def sample(rng, shape):
    """Values of one of several distributions."""
    kind = rng.integers(6)
    x = rng.standard_normal(shape)
    if kind == 1:
        x = x * 4
    elif kind == 2:
        x = x * 0.1 + rng.uniform(-8, 8)
    elif kind == 3:
        x = rng.uniform(-16, 16, shape)
    elif kind == 4:
        x = np.where(rng.random(shape) < 0.02, x * 16, x * 0.5)
    elif kind == 5:
        x = np.round(x * 2) / 2
    return x


def random_shape(rng, longest=1030, rank=None):
    sizes = (1, 2, 31, 32, 33, 63, 64, 65, 100, 128, 129, 200, 255, 256, 257, 512, 1000, 1024)
    sizes = [n for n in sizes if n <= longest]
    last = int(rng.choice(sizes))
    rank = rank or int(rng.choice((2, 2, 2, 3)))
    room = max(1, 60000 // last)
    others = [
        int(min(rng.choice((1, 2, 3, 5, 16, 31, 32, 64, 67)), max(1, round(room ** (1 / (rank - 1))))))
        for _ in range(rank - 1)
    ]
    return (*others, last)


# --- one generator a rule ----------------------------------------------------


def softmax(p):
    rng, log = p.rng, bool(p.rng.integers(2))
    shape = random_shape(rng)
    dim = int(rng.choice((len(shape) - 1, len(shape) - 1, 0)))
    x = p.widen(p.input(sample(rng, shape)))

    def stable(v):
        shifted = v - v.max(axis=dim, keepdims=True)
        e = np.exp(shifted)
        total = e.sum(axis=dim, keepdims=True)
        return shifted - np.log(total) if log else e / total

    if rng.integers(3) == 0:
        extra = [p.constant("int", str(dim)), p.constant("bool", "false")]
        return p.finish(p.op("aten._log_softmax" if log else "aten._softmax", stable, [x], extra))
    maximum = p.reduce("amax", np.max, x, dim)
    shifted = p.binary("sub", np.subtract, x, maximum)
    e = p.op("aten.exp", np.exp, [shifted])
    total = p.reduce("sum.dim_IntList", np.sum, e, dim)
    if log:
        return p.finish(p.binary("sub", np.subtract, shifted, p.op("aten.log", np.log, [total])))
    return p.finish(p.binary("div", np.divide, e, total))


def rms_norm(p):
    rng = p.rng
    shape = random_shape(rng)
    x = p.widen(p.input(sample(rng, shape) * 2.0 ** rng.integers(-6, 5)))
    two, one = p.constant("int", "2"), p.constant("int", "1")
    square = p.op("aten.pow.Tensor_Scalar", np.square, [x], [two])
    mean = p.reduce("mean.dim", np.mean, square, len(shape) - 1)
    epsilon = float(rng.choice((1e-5, 1e-6, 1e-3)))
    eps = p.constant("float", f"{epsilon:.6e}")
    shifted = p.op("aten.add.Scalar", lambda v: v + v.dtype.type(epsilon), [mean], [eps, one])
    scale = p.op("aten.rsqrt", lambda v: 1 / np.sqrt(v), [shifted])
    return p.finish(p.binary("mul", np.multiply, x, scale))


def matmul(p):
    rng = p.rng
    m, k, n = (int(rng.choice((1, 3, 31, 32, 64, 65, 100, 128))) for _ in range(3))
    k = int(rng.choice((k, 256, 257, 1000)))
    batch = (int(rng.choice((2, 3, 5))),) if rng.integers(3) == 0 else ()
    x = p.widen(p.input(sample(rng, (*batch, m, k))))
    w = p.widen(p.input(rng.standard_normal((*batch, k, n)) * k**-0.5))
    y = p.op("aten.bmm" if batch else "aten.mm", np.matmul, [x, w])
    if rng.integers(2):
        y = p.binary("add", np.add, y, p.widen(p.input(rng.standard_normal(n))))
    return p.finish(y)


# Torch operations of one operand, and what they compute.
UNARY = {
    name: opfuncs.UNARY[{"relu": "relufwd"}.get(name, name)]
    for name in "abs exp floor log neg reciprocal relu rsqrt sigmoid sqrt tanh".split()
}


# How an operation passes on the relative error of its operand, and whether it rounds; no factor:
# the operand has to be exact.
ERRORS = {
    "abs": (1, 0), "neg": (1, 0), "relu": (1, 0), "sqrt": (0.5, 1), "rsqrt": (0.5, 1), "reciprocal": (1, 1), "tanh": (1, 1),
    "exp": (None, 1), "log": (None, 1), "floor": (None, 0), "sigmoid": (None, 1),
}  # fmt: skip


def chain(p):
    """One-operand operations whose values stay where 16 bits hold them, and whose errors add up to 4 at most."""
    rng = p.rng
    shape = random_shape(rng, 300)
    low = rng.uniform(-8, 8)
    high = low + rng.choice((0.05, 0.5, 4, 16))
    if rng.integers(2):
        low, high = abs(low), abs(low) + (high - low)
    y, error = p.widen(p.input(rng.uniform(low, high, shape))), 0.0
    for _ in range(int(rng.integers(2, 9))):
        names = [name for name in UNARY if name != "floor"]  # a jump, and f32 from there on
        rng.shuffle(names)
        for name in names:
            factor, rounding = ERRORS[name]
            if factor is None and error > 0:
                continue
            new_error = error * (factor or 0) + rounding
            with np.errstate(all="ignore"):
                values = np.abs(UNARY[name](y.exact))
            fits = np.isfinite(values).all() and values.max() < 2.0**12 and values.min() > 2.0**-12
            if fits and new_error <= 4:
                y, error = p.op(f"aten.{name}", UNARY[name], [y]), new_error
                break
    return p.finish(y)


def single(p):
    rng = p.rng
    shape = random_shape(rng)
    x, y = p.widen(p.input(sample(rng, shape))), p.widen(p.input(sample(rng, shape)))
    name, function = (("add", np.add), ("sub", np.subtract), ("mul", np.multiply))[rng.integers(3)]
    return p.finish(p.binary(name, function, x, y))


RULES = {
    "softmax": softmax,
    "rms-norm": rms_norm,
    "widened-matmul": matmul,
    "one-operand-chain": chain,
    "single-operation": single,
}


# --- running -----------------------------------------------------------------


def run(*command):
    done = harness.run_process(command, TIMEOUT_S)
    return done.code, done.err


def judge(seed, names, options):
    """(rule, what is wrong or None, largest error in units of 2^-10)."""
    rng = np.random.default_rng(seed)
    rule = names[seed % len(names)]
    narrow = str(rng.choice(("float16", "float16", "bfloat16")))
    program = RULES[rule](Program(rng, narrow))
    # Squares of bfloat16 values leave the device's 16-bit range: they stay in f32.
    applies = (rule, narrow) != ("rms-norm", "bfloat16")
    with tempfile.TemporaryDirectory(prefix="spyre-precision-") as scratch:
        folder = pathlib.Path(scratch) if not options.keep else options.keep / str(seed)
        folder.mkdir(parents=True, exist_ok=True)
        source = folder / "program.mlir"
        source.write_text(program.text())
        passes = "--pass-pipeline=builtin.module(convert-torch-to-spyre,func.func(spyre-resolve-precision))"
        remarks = ["--remarks-filter=precision", "--remark-format=emitRemark", "-o", folder / "l1.mlir"]
        code, err = run(harness.BUILD / "bin" / "spyre-opt", passes, *remarks, source)
        if code != 0:
            return rule, f"not converted: {err[:300]}", 0
        used = set(re.findall(r"by rule ([\w-]+)", err))
        if rule in used and not applies:
            return rule, f"the rule applied to {narrow}", 0
        if rule not in used and applies:
            return rule, f"the rule did not apply (those that did: {', '.join(sorted(used)) or 'none'})", 0
        arrays.write_inputs(folder / "in.npz", [formats.from_float64(x.exact, x.dtype) for x in program.inputs])
        words = [source, "--inputs", folder / "in.npz", "--outputs", folder / "out.npz", "--check"]
        code, err = run(harness.BUILD / "bin" / "spyre-run", *words)
        if code != 0:
            return rule, f"exit code {code}: {err[:300]}", 0
        got = np.load(folder / "out.npz")["out0"]
    result = program.result
    own = formats.from_float64(result.own.astype(np.float64), result.dtype)
    traits = tolerance.traits_of_text(program.text())
    message = tolerance.compare(got, own, result.dtype, result.exact, traits)
    values = formats.to_float64(got, result.dtype)
    finite = np.isfinite(values) & np.isfinite(result.exact)
    error = tolerance.relative_error(values[finite], result.exact[finite]) if finite.any() else np.zeros(1)
    return rule, message, float(error.max(initial=0.0)) * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: precision.py --count 500 --rules softmax")
    parser.add_argument("--count", type=int, default=60, help="programs (default 60)")
    parser.add_argument("--seed", type=int, default=0, help="number of the first one (default 0)")
    parser.add_argument("--rules", help=f"only these, by comma: {', '.join(RULES)}")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for programs, inputs and results")
    options = parser.parse_args()
    names = options.rules.split(",") if options.rules else list(RULES)
    if unknown := [name for name in names if name not in RULES]:
        print(f"error: there is no rule {unknown[0]}", file=sys.stderr)
        return 2
    failed, worst = 0, {}
    seeds = range(options.seed, options.seed + options.count)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for seed, (rule, message, error) in zip(
            seeds, pool.map(lambda s: judge(s, names, options), seeds), strict=True
        ):
            worst[rule] = max(worst.get(rule, 0), error)
            if message:
                failed += 1
                print(f"FAIL {seed} {rule}: {message}", flush=True)
    for rule, error in sorted(worst.items()):
        print(f"{rule}: largest error {error:.2f} x 2^-10")
    print(f"{options.count - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
