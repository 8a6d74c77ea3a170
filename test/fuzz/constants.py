#!/usr/bin/env python3
# constants.py - Random types of constants, held and used in random ways
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A case is a module with one constant: of a random type (all floats, integers, bool, complex
# numbers), of a random shape (no dims, no elements, one, many), with one number everywhere or
# many, held in a random way (attribute, buffer, list, global, made by the function), and used
# in random ways: as a result, cast, moved, computed with on the device and on the host.
# torch.compile(backend="spyre") and spyre_mlir.compile must agree with PyTorch. Types that
# programs do not have are refused by name there. Cases run in processes of their own, since a
# compiler that dies is what this looks for. A case is a function of its seed number alone.
"""Fuzz test of constants against PyTorch itself."""

import argparse
import concurrent.futures
import logging
import os
import pathlib
import random
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conformance"))

from lib import harness, workers  # noqa: E402

TIMEOUT_S = 300
FLOATS = "float16 bfloat16 float32 float64".split()
FP8 = "float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz".split()
INTEGERS = "int8 int16 int32 int64 uint8".split()
COMPLEX = "complex64 complex128".split()
REFUSED = "uint16 uint32 uint64 complex32 float8_e8m0fnu".split()
TYPES = [*FLOATS, *FP8, *INTEGERS, "bool", *COMPLEX] * 3 + REFUSED
SHAPES = [(), (1,), (8,), (4, 8), (4, 8), (1, 8), (4, 1), (2, 4, 8), (4, 64), (0, 8)]

# Numbers that every type of the kind has exactly.
NUMBERS = {
    "float": "0.0 1.0 -1.5 2.0 0.5 -0.5 3.0 -4.0".split(),
    "float8_e8m0fnu": "1.0 2.0 0.5 4.0 0.25".split(),
    "signed": "0 1 -1 2 7 -5 100 -128 127".split(),
    "unsigned": "0 1 2 7 100 127 255".split(),
    "bool": "True False".split(),
    "complex": "0j 1j (1-2j) (0.5+0j) (-1.5+0.5j) (2+0j)".split(),
}
HOLDERS = [
    ("attribute", "self.c = {value}", "self.c"),
    ("buffer", "self.register_buffer('c', {value})", "self.c"),
    ("buffer, not saved", "self.register_buffer('c', {value}, persistent=False)", "self.c"),
    ("parameter", "self.c = torch.nn.Parameter({value}, requires_grad=False)", "self.c"),
    ("list", "self.c = [{value}, {value}]", "self.c[1]"),
    ("global", "", "GLOBAL"),
    ("view", "self.c = torch.stack([{value}, {value}])[1]", "self.c"),
    ("literal", "", "torch.tensor({numbers}, dtype={dtype})"),
    ("cast literal", "", "torch.tensor({numbers}).to({dtype})"),
    ("zeros", "", "torch.zeros({shape}, dtype={dtype})"),
    ("ones", "", "torch.ones({shape}, dtype={dtype})"),
    ("full", "", "torch.full({shape}, {number}, dtype={dtype})"),
    ("full, its own type", "", "torch.full({shape}, {number})"),
    ("new_zeros", "", "x.new_zeros({shape}, dtype={dtype})"),
    ("new_full", "", "x.new_full({shape}, {number}, dtype={dtype})"),
    ("zeros_like", "", "torch.zeros_like(q)"),
    ("ones_like", "", "torch.ones_like(q)"),
    ("full_like", "", "torch.full_like(x, {number}, dtype={dtype})"),
    ("empty, filled", "", "torch.empty({shape}, dtype={dtype}).fill_({number})"),
    ("scalar_tensor", "", "torch.scalar_tensor({number}, dtype={dtype})"),
    ("arange", "", "torch.arange(8, dtype={dtype})"),
    ("eye", "", "torch.eye(4, 8, dtype={dtype})"),
    ("from an operand", "", "(q * 0 + {number})"),
]
# What is done with the constant c, x of f16 or f32 [4, 8], q of c's type [4, 8].
USES = [
    "c", "c.clone()", "c.to(x.dtype)", "c.to(x.dtype) + x", "x * c.to(x.dtype)", "c.float() * 2", "c.half() + x[:1].half()", "c.long()",
    "c + q", "q * c", "c - c", "c * 2", "c + 1", "2 - c", "c * {number}", "c == q", "c != {number}", "c < q", "-c", "c.abs()", "torch.maximum(c, q)",
    "torch.cat([c, c])", "torch.cat([q, c.expand(4, 8)])", "torch.cat([x, c.expand(4, 8).to(x.dtype)], 1)", "torch.stack([c, c])",
    "torch.where(x > 0, c, q)", "torch.where(x > 0, c.to(x.dtype), x)", "torch.where(q == c, x, 0)", "torch.where(x > 0, q, {number})",
    "q.masked_fill(x > 0, {number})", "torch.where(c.bool(), x, -x)", "x.masked_fill(c.bool(), 0)",
    "c[..., :3]", "c[:1]", "c.reshape(-1)", "c.expand(3, *c.shape)", "c.unsqueeze(-1)", "c.transpose(0, -1)", "c.flip(0)", "c.repeat(2, 2)",
    "torch.nn.functional.pad(c, (0, 2))", "torch.nn.functional.pad(q, (1, 0), value={number})", "c.sum()", "c.float().sum()", "c.sum(-1)", "c.any()",
    "c.index_put((torch.tensor([0]),), q[:1])", "q.index_put((torch.tensor([1, 2]),), c.expand(4, 8)[:2])", "c.index_select(0, torch.tensor([0, 0]))",
    "torch.slice_scatter(q, c.expand(4, 8)[:2], 0, 1, 3)", "q.scatter(1, torch.zeros(4, 1, dtype=torch.int64), c.expand(4, 8))", "q.clone().copy_(c)",
    "x[c.long().abs() % 4]", "torch.nn.functional.embedding(c.long().abs() % 4, x)", "x.index_select(1, c.reshape(-1).long().abs() % 8)",
    "c.real", "c.imag", "torch.view_as_real(c)", "torch.view_as_real(c).sum(-1) + x[0, 0]", "c.conj()", "c.conj() * q", "c.angle()", "torch.exp(c)",
    "torch.complex(x.float(), c.float())", "c.to(torch.complex64) * x", "x * {complex}", "c.item() * x", "c & q", "c | 1", "~c", "c << 1", "c // 3",
    "c.view(torch.uint8)", "c.to(torch.float8_e4m3fn).float()", "c.to(torch.int8) + 1", "c.bool()", "(c.to(x.dtype) * x) @ x.T", "c.to(x.dtype).softmax(-1)",
    "torch.empty_like(c).fill_({number})", "torch.zeros_like(c) + q", "torch.full_like(c, {number})", "torch.outer(c.reshape(-1)[:3], q.reshape(-1)[:5])",
    "c.double() + x", "c.type_as(q)", "torch.linspace(0, 1, 8, dtype=c.dtype)", "q.new_ones(3) + c.reshape(-1)[:1]",
]  # fmt: skip


class Discard(Exception):
    """PyTorch itself has no such case."""


def kind_of(dtype):
    if dtype in NUMBERS:
        return dtype
    kinds = (
        ("complex", [*COMPLEX, "complex32"]),
        ("float", [*FLOATS, *FP8]),
        ("unsigned", ["uint8", *REFUSED]),
        ("signed", INTEGERS),
    )
    return next(kind for kind, types in kinds if dtype in types)


def write(seed):
    """(the case as a program, its type, how it is compiled). Not every program runs in PyTorch."""
    rng = random.Random(seed)
    dtype, shape = rng.choice(TYPES), rng.choice(SHAPES)
    numbers = NUMBERS[kind_of(dtype)]
    count = 1
    for size in shape:
        count *= size
    number = rng.choice(numbers)
    elements = [number] * count if rng.random() < 0.3 else [rng.choice(numbers) for _ in range(count)]
    value = f"torch.tensor([{', '.join(elements)}]).reshape({shape}).to(torch.{dtype})"
    nested = f"[{', '.join(elements)}]" if len(shape) == 1 else number
    _, own, expression = rng.choice(HOLDERS)
    blanks = {
        "value": value, "numbers": nested, "shape": shape, "number": number, "dtype": f"torch.{dtype}",
        "complex": rng.choice(NUMBERS["complex"]),
    }  # fmt: skip
    uses = [use.format(**blanks) for use in rng.sample(USES, rng.randint(1, 4))]
    operand = ", ".join(rng.choice(numbers) for _ in range(32))
    text = f"""import torch

GLOBAL = {value}


class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        {own.format(**blanks) or "pass"}

    def forward(self, x, q):
        c = {expression.format(**blanks)}
        return USES


def arguments():
    x = (torch.arange(32).reshape(4, 8) % 13 - 6).to(torch.{rng.choice(["float16", "float32"])}) / 4
    return x, torch.tensor([{operand}]).reshape(4, 8).to(torch.{dtype})
"""
    return text, uses, dtype, rng.choice(["torch.compile", "spyre_mlir.compile"])


def load(text):
    space = {}
    exec(compile(text, "<program>", "exec"), space)
    return space["Module"]().eval(), space["arguments"]()


def settle(text, uses):
    """The program with those of its uses that PyTorch has, and what it gives."""
    import torch

    def attempt(chosen):
        made = text.replace("USES", f"({', '.join(chosen)},)")
        module, given = load(made)
        with torch.no_grad():
            return made, module(*given)

    kept = []
    for use in uses:
        try:
            attempt([use])
        except Exception:  # noqa: BLE001 - in whatever way
            continue
        kept.append(use)
    if not kept:
        raise Discard
    return attempt(kept)


def difference(got, own, place):
    """What differs, or None. Floats as good as 16 bits, what came from them as well."""
    import torch

    if not isinstance(own, torch.Tensor):
        return None if got == own else f"{place} is {got!r}, PyTorch's {own!r}"
    for what in ("dtype", "shape"):
        if getattr(got, what) != getattr(own, what):
            return f"{place}: {what} is {getattr(got, what)}, PyTorch's {getattr(own, what)}"
    if own.is_complex():
        got, own = (torch.view_as_real(t.resolve_conj().to(torch.complex128)) for t in (got, own))
    if not own.is_floating_point():
        return (
            None
            if torch.equal(got, own)
            else f"{place} is {got.flatten()[:8].tolist()}, PyTorch's {own.flatten()[:8].tolist()}"
        )
    limit = 2**-2 if own.dtype.itemsize == 1 else 12 * 2**-7 if own.dtype == torch.bfloat16 else 12 * 2**-10
    got, own = got.double(), own.double()
    # The device has one code for NaN and infinity.
    finite = own.isfinite()
    if (got.isfinite() != finite).any():
        return (
            f"{place}: not finite elsewhere than PyTorch's: {got.flatten()[:8].tolist()}, {own.flatten()[:8].tolist()}"
        )
    got, own = got[finite], own[finite]
    if own.numel() == 0:
        return None
    error = ((got - own).abs() / torch.maximum(own.abs(), own.square().mean().sqrt()).clamp_min(1e-30)).max()
    return (
        None if error <= limit else f"{place} is {got.flatten()[:8].tolist()}, PyTorch's {own.flatten()[:8].tolist()}"
    )


def run(seed, by=None):
    """'skipped', None, or what is wrong with the case of this number. In a process of its own."""
    logging.getLogger("torch").setLevel(logging.CRITICAL)
    import spyre_mlir
    import spyre_mlir.dynamo  # noqa: F401 - the backend
    import torch

    text, uses, _, how = write(seed)
    how = by or how
    try:
        made, own = settle(text, uses)
    except Discard:
        return "skipped"
    module, given = load(made)
    torch._dynamo.reset()
    workers.stage(how)
    failure = None
    with torch.no_grad():
        try:
            if how == "spyre_mlir.compile":
                f = spyre_mlir.compile(module, *given)
            else:
                f = torch.compile(module, backend="spyre")
            got = f(*given)
            failure = next(
                filter(None, (difference(a, b, f"result {i}") for i, (a, b) in enumerate(zip(got, own)))), None
            )
        except Exception as error:  # noqa: BLE001
            if how == "spyre_mlir.compile" and names_refused_type(error):
                return None
            if how == "spyre_mlir.compile" and is_left_to_torch(error):
                return "skipped"
            if fails_without_compiler(made, how):
                return "skipped"
            failure = f"{type(error).__name__}: {error}"
    return failure and f"{failure}\n{made}"


def names_refused_type(error):
    """Whether the package says that a tensor (f16 times a complex number, too) has a type that programs do not have."""
    import spyre_mlir

    return isinstance(error, spyre_mlir.SpyreError) and any(
        f"the type {dtype}, which programs do not have" in str(error) for dtype in REFUSED
    )


def is_left_to_torch(error):
    """Numbers that the program computes and that sizes or operands hang on: torch.export has no program."""
    return "torch.export has no program" in str(error) and "data-dependent" in str(error)


def fails_without_compiler(text, how):
    """Whether PyTorch's own tracing fails."""
    import torch

    module, given = load(text)
    torch._dynamo.reset()
    try:
        if how == "spyre_mlir.compile":
            torch.export.export(module, given, strict=False).run_decompositions()
        else:
            torch.compile(module, backend="aot_eager")(*given)
    except Exception:  # noqa: BLE001
        return True
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="number of the first case")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--by", choices=["torch.compile", "spyre_mlir.compile"], help="for all cases")
    parser.add_argument("--print", action="store_true", help="the programs, without running them")
    options = parser.parse_args()
    if options.print:
        for seed in range(options.seed, options.seed + options.count):
            text, uses, _, how = write(seed)
            print(f"# {seed}, by {how}\n{settle(text, uses)[0]}")
        return 0
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
    pool = workers.Workers(harness.BUILD, first=("torch", "spyre_mlir"))
    began, passed, failed, skipped = time.monotonic(), 0, 0, 0

    def one(seed):
        try:
            return seed, pool.call("constants.run", seed, options.by, timeout=TIMEOUT_S)
        except workers.Died as died:
            text, uses, _, how = write(seed)
            return seed, f"the process died ({how}): {died}\n{text.replace('USES', '(' + ', '.join(uses) + ',)')}"
        except RuntimeError as error:
            return seed, f"{error}"

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as threads:
        for seed, wrong in threads.map(one, range(options.seed, options.seed + options.count)):
            skipped += wrong == "skipped"
            passed += wrong is None
            if wrong is not None and wrong != "skipped":
                failed += 1
                print(f"FAILED {seed}: {wrong}\n", flush=True)
    pool.close()
    print(f"{time.monotonic() - began:.0f} s")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
