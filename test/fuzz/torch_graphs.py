#!/usr/bin/env python3
# torch_graphs.py - Random PyTorch modules through torch.compile(backend="spyre")
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A module is grown line by line: each line is tried in PyTorch, in its own types and with
# all floats in float64, and stays if both agree well enough (a program that amplifies
# rounding says nothing about the compiler). It mixes what the device computes with what
# the host does, views, writes in place, several types, buffers and nested results. Then
# the compiled module must agree with PyTorch: values under the tolerances of the
# conformance runners, shapes, strides, which results share memory with what, arguments
# and buffers afterwards; for other values, other sizes, and through spyre_mlir.compile.
# Values are selected (compared, sorted, cast to integers) only where they are exact. A
# case is a function of its seed number alone; one that fails is printed as a program.
"""Fuzz test of the Python front ends against PyTorch itself."""

import pathlib
import random
import sys
import traceback
import warnings

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conformance"))

import rounds  # noqa: E402

from lib import tensors, tolerance  # noqa: E402

NARROW = {"H": torch.float16, "B": torch.bfloat16, "F": torch.float32}
WIDE = dict.fromkeys(NARROW, torch.float64)
MOST_ELEMENTS = 1 << 14

HEADER = '''import torch
import torch.nn.functional as nn
H, B, F, I, L, T = torch.float16, torch.bfloat16, torch.float32, torch.int32, torch.int64, torch.bool


def make(seed, dtype, shape, form="dense"):
    """Values that every 16-bit format has, laid out in a way."""
    g = torch.Generator().manual_seed(seed)
    held = list(shape)
    if form == "turned" and len(held) > 1:
        held[0], held[-1] = held[-1], held[0]
    elif form == "spread" and held:
        held[-1] *= 2
    elif form == "repeated" and held:
        held[0] = min(held[0], 1)
    elif form == "offset" and held:
        held[0] += 1
    x = torch.randint(-96, 97, held, generator=g)
    x = x > 0 if dtype == T else x // 12 if dtype in (I, L) else x.double() / 64
    x = x.to(dtype)
    if form == "turned" and len(held) > 1:
        x = x.transpose(0, -1)
    elif form == "spread" and held:
        x = x[..., ::2]
    elif form == "repeated" and held:
        x = x.expand(shape)
    elif form == "offset" and held:
        x = x[1:]
    return x
'''

# Templates: (weight, what must hold of the operands, text). a, b: floats; e, d: exact tensors of
# any type; i: integers; m: booleans; x: any tensor. Blanks in {} are filled by Writer.fill.
UNARY = "relu sigmoid tanh exp neg abs sin cos erf rsqrt_ log_ sqrt_ reciprocal_ square silu gelu softplus mish elu"
EXPRESSIONS = [
    (8, "torch.{binary}({a}, {b})"), (8, "{unary}"), (4, "{a} {arith} {number}"), (3, "{number} {arith} {a}"),
    (3, "torch.{binary}({x}, {y})"), (3, "{i} {iarith} {j}"), (2, "{i} {iarith} {integer}"),
    (2, "torch.where({m}, {a}, {b})"), (2, "torch.where({m}, {x}, {number})"), (2, "{x}.masked_fill({m}, {integer})"),
    (3, "{e} {compare} {d}"), (2, "{e} {compare} {integer}"), (2, "torch.logical_{logic}({m}, {n})"), (1, "~{m}"),
    (4, "torch.matmul({a}, {b})"), (4, "torch.matmul({a}, {b}.transpose(-1, -2))"), (2, "nn.linear({a}, {b})"),
    (2, "torch.einsum('...i,...i->...', {a}, {b})"), (1, "torch.einsum('i...,j...->ij...', {a}, {b})"),
    (1, "torch.outer({a}.flatten()[:9], {b}.flatten()[:7])"), (1, "torch.addcmul({a}, {b}, {c}, value={number})"),
    (3, "torch.softmax({a}, {dim:a})"), (1, "torch.log_softmax({a}, {dim:a})"), (2, "nn.layer_norm({a}, {a}.shape[-1:])"),
    (1, "nn.rms_norm({a}, {a}.shape[-1:])"), (1, "nn.normalize({a}, dim={dim:a})"), (1, "{a}.norm(dim={dim:a})"),
    (6, "{a}.{reduce}({dim:a}, keepdim={flag})"), (2, "{a}.{reduce}()"), (2, "{i}.sum({dim:i}, keepdim={flag})"),
    (1, "{a}.var({dim:a}, unbiased=False)"), (1, "{m}.any({dim:m})"), (1, "{m}.all()"), (1, "{m}.sum({dim:m})"),
    (1, "{a}.logsumexp({dim:a})"), (1, "torch.cumsum({a}, {dim:a})"), (1, "torch.cumsum({i}, {dim:i})"), (1, "{i}.prod({dim:i})"),
    (3, "{x}.transpose({dim:x}, {dim:x})"), (2, "{x}.flatten()"), (2, "{x}.reshape(-1, {x}.shape[-1])"), (2, "{x}.unsqueeze({dim:x})"),
    (1, "{x}.squeeze()"), (2, "{x}[{slices:x}]"), (2, "{x}[..., None, :]"), (2, "{x}.select({dim:x}, 0)"), (2, "{x}.expand(3, *{x}.shape)"),
    (2, "torch.cat([{x}, {y}], {dim:x})"), (1, "torch.stack([{x}, {y}], {dim:x})"), (1, "{x}.flip({dim:x})"), (1, "{x}.roll({integer}, {dim:x})"),
    (1, "{x}.chunk(2, {dim:x})[-1]"), (1, "{x}.repeat_interleave(2, {dim:x})"), (1, "{x}.repeat(2, *[1] * {x}.dim())"),
    (1, "{x}.contiguous()"), (1, "{x}.clone()"), (1, "{x}.movedim(0, -1)"), (1, "nn.pad({x}, (1, 2))"), (1, "{x}.diagonal()"),
    (1, "torch.tril({x})"), (1, "{x}.unfold(0, 2, 1)"), (1, "{x}.detach()"), (1, "{x}.as_strided((2, 2), (1, 2))"),
    (2, "{x}.index_select({dim:x}, {i}.flatten().long().remainder(2).abs())"), (2, "{x}[{i}.long().remainder(2)]"),
    (1, "torch.gather({x}, -1, {i}.long().remainder(2))"), (1, "{x}.scatter(-1, {i}.long().remainder(2), {y})"),
    (1, "{x}.index_put(({i}.flatten().long().remainder(2),), {y}, accumulate={flag})"), (1, "{a}.scatter_add(-1, {i}.long().remainder(2), {b})"),
    (1, "nn.embedding({i}.long().remainder(2), {a})"), (1, "nn.one_hot({i}.long().remainder(5), 5)"), (1, "torch.take_along_dim({x}, {i}.long().remainder(2), -1)"),
    (5, "{a}.to({float})"), (2, "{e}.to({any})"), (2, "{i}.to({any})"), (2, "{m}.to({any})"), (1, "{e}.round().to({any})"),
    (1, "{e}.sort({dim:e}).values"), (1, "{e}.topk(2, {dim:e}).values"), (1, "{e}.argmax({dim:e})"), (1, "{e}.amax({dim:e})"),
    (1, "torch.bucketize({e}, torch.tensor([-1.0, 0.1, 1.0]))"), (1, "torch.floor({e})"), (1, "torch.sign({e})"), (1, "{e} // 2"),
    (1, "torch.tensor([1.5, -0.25, 2.0], dtype={float})"), (1, "torch.arange({x}.shape[-1])"), (1, "torch.zeros_like({x})"),
    (1, "torch.full(({small}, {small}), {number}, dtype={float})"), (1, "torch.empty_like({a}).fill_({number})"),
    (1, "nn.conv1d({a}.reshape(1, {a}.shape[0], -1), {b}.flatten()[:{a}.shape[0] * 3].reshape(1, -1, 3), padding=1)"),
    (1, "nn.max_pool1d({a}.reshape(1, 1, -1), 2)"), (1, "nn.avg_pool1d({a}.reshape(1, 1, -1), 2)"), (1, "nn.dropout({x}, 0.5, False)"),
    (1, "nn.scaled_dot_product_attention({a}, {a}, {b})"), (1, "nn.interpolate({a}.reshape(1, 1, -1), scale_factor=2.0)"),
    (1, "self.linear({a})"), (1, "{x}.T"), (1, "{a}.clamp({number}, {number})"), (1, "torch.lerp({a}, {b}, 0.25)"), (1, "{x}.type_as({y})"),
]  # fmt: skip
CHANGES = [
    "{x}.mul_({integer})", "{x}.add_({y})", "{a}.copy_({b})", "{x}[{slices:x}] = {y}", "{x}[{slices:x}] += {integer}", "{x}.zero_()",
    "{x}.select({dim:x}, 0).fill_({integer})", "{x}.masked_fill_({m}, {integer})", "{a}.relu_()", "{a}.sub_({b}, alpha=2)",
    "{x}[{i}.flatten().long().remainder(2)] = {integer}", "{x}.index_add_(0, {i}.flatten().long().remainder(2), {y})",
    "{x}.view(-1)[1:3] = {integer}", "{x}.transpose({dim:x}, {dim:x}).add_({integer})", "{a}.div_({number})", "{a}.exp_()",
    "{x}.copy_({y})", "{x}.t_()", "{x}.squeeze_()", "{m}.logical_not_()", "{x}.clamp_(min={integer})",
]  # fmt: skip
INEXACT = ("sum(", "{a}", "mean", "prod", "{x}, {y}", "scatter_add", "accumulate", "add_", "mul_", "*", "+", "-")


class Discard(Exception):
    """A line that no operand fits, or that PyTorch refuses."""


class Writer:
    """Grows the text of one module."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.seed = seed
        self.inputs, self.members, self.lines, self.inexact = [], [], [], set()
        shapes = self.rng.choice([
            [(8, 64), (8, 64), (64,)], [(4, 6), (6, 4), (4, 4)], [(2, 3, 16), (3, 16), (16, 16)], [(2, 4, 8, 32), (32, 32), (4, 1, 1)],
            [(5,), (5, 5), ()], [(1, 70), (3, 70), (70, 3)], [(0, 8), (3, 8), (8, 8)], [(2, 1, 130), (130, 2), (1,)],
        ])  # fmt: skip
        main = self.rng.choice("HHHHFB")
        for n in range(self.rng.randint(2, 5)):
            dtype = self.rng.choices([main, self.rng.choice("HBF"), "I", "L", "T"], [6, 1, 1, 2, 1])[0]
            form = self.rng.choices(["dense", "turned", "spread", "repeated", "offset"], [6, 1, 1, 1, 1])[0]
            self.inputs.append((f"x{n}", dtype, self.rng.choice(shapes), form))
        for n in range(self.rng.randint(0, 2)):
            self.members.append((f"self.w{n}", self.rng.choice([main, main, "L"]), self.rng.choice(shapes)))
        self.features, self.main = shapes[0][-1] if shapes[0] else 1, main
        self.results = "()"

    def text(self, extra=()):
        own = [f"        self.linear = torch.nn.Linear({self.features}, 24, dtype={self.main})"]
        own.append("        for n, p in enumerate(self.linear.parameters()):")
        own.append(f"            p.data = make({self.seed} + 40 + n, {self.main}, p.shape) / 8")
        for n, (name, dtype, shape) in enumerate(self.members):
            made = f"make({self.seed + 50 + n}, {dtype}, {shape})"
            holder = f"torch.nn.Parameter({made})" if dtype in "HBF" and n == 0 else made
            own.append(
                f"        {name} = {holder}"
                if "Param" in holder
                else f'        self.register_buffer("{name[5:]}", {holder})'
            )
        names = ", ".join(name for name, *_ in self.inputs)
        lines = [f"        {line}" for line in (*self.lines, *extra)]
        body = "\n".join([*lines, f"        return {self.results}"])
        made = ", ".join(f'make(seed + {n}, {t}, {s}, "{f}")' for n, (_, t, s, f) in enumerate(self.inputs))
        return (
            f"{HEADER}\n\nclass Module(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            + "\n".join(own)
            + f"\n\n    def forward(self, {names}):\n{body}\n\n\n"
            f"def arguments(seed):\n    return [{made}]\n"
        )

    def values(self, types, extra=()):
        """The variables after all lines, by name."""
        saved, self.results = self.results, "{**locals(), **{f'self.{k}': v for k, v in self.state_dict().items()}}"
        try:
            module, arguments = load(self.text(extra), types)
        finally:
            self.results = saved
        with torch.no_grad():
            found = module(*arguments(self.seed))
        return {name: value for name, value in found.items() if isinstance(value, torch.Tensor)}

    def grow(self, count):
        self.now = self.values(NARROW)
        for _ in range(count * 4):
            if len(self.lines) >= count:
                break
            try:
                self.try_line()
            except Exception:  # noqa: BLE001 - PyTorch refuses it, in whatever way
                continue
        names = [f"v{n}" for n in range(len(self.lines)) if f"v{n}" in self.now]
        chosen = set(self.rng.sample(names, min(len(names), self.rng.randint(1, 4)))) | set(names[-1:])
        chosen |= {name for name, *_ in self.inputs if self.rng.random() < 0.15}
        chosen = sorted(chosen) or [self.inputs[0][0]]
        self.results = self.rng.choice(["({0},)", "[{0}]", "{{'a': ({0},), 'b': [{1}.shape[:1], None, 2.5]}}"]).format(
            ", ".join(chosen), chosen[0]
        )
        if len(chosen) == 1 and self.rng.random() < 0.5:
            self.results = chosen[0]

    def try_line(self):
        changes = self.rng.random() < 0.12
        template = (
            self.rng.choice(CHANGES)
            if changes
            else self.rng.choices([t for _, t in EXPRESSIONS], [w for w, _ in EXPRESSIONS])[0]
        )
        line, used = self.fill(template)
        name = f"v{len(self.lines)}"
        line = line if changes else f"{name} = {line}"
        own, wide = self.values(NARROW, [line]), self.values(WIDE, [line])
        for key, value in own.items():
            if (
                value.numel() > MOST_ELEMENTS
                or value.dtype not in TYPES
                or wide[key].shape != value.shape
                or value.dim() > 6
            ):
                raise Discard
            reference = wide[key].double()
            if value.is_floating_point():
                error = tolerance.relative_error(value.double().numpy(), reference.numpy())
                if (
                    not value.isfinite().all()
                    or not reference.isfinite().all()
                    or reference.numel()
                    and reference.abs().max() > 2000
                    or error.size
                    and error.max() > 0.02
                ):
                    raise Discard
                if reference.numel() and 0 < reference.square().mean().sqrt() < self.least(template, used, wide):
                    raise Discard
            elif not torch.equal(value, wide[key]):
                raise Discard
        target = used[0] if changes else name
        floats = [key for key in used if own[key].is_floating_point()]
        rounds = any(part in template for part in INEXACT) or "{unary}" in template or "torch." in template
        moved = ("torch.cat", "torch.stack", "torch.zeros", "torch.gather", "torch.tril")
        rounds &= not template.startswith(moved)
        if any(key in self.inexact for key in used) or (rounds and (floats or own[target].is_floating_point())):
            memory = own[target].untyped_storage().data_ptr()
            self.inexact |= {key for key, value in own.items() if value.untyped_storage().data_ptr() == memory} | {
                target
            }
        self.lines.append(line)
        self.now = own

    @staticmethod
    def least(template, used, wide):
        """The smallest results that say something: sums in which nearly all cancels do not."""
        if "{reduce}" not in template and ".sum(" not in template and ".mean(" not in template:
            return 1e-3
        operands = [wide[key] for key in used if wide[key].is_floating_point() and wide[key].numel()]
        return max([1e-3, *(0.05 * float(x.square().mean().sqrt()) for x in operands)])

    def fill(self, template):
        rng, taken, used = self.rng, {}, []
        integer = lambda t: t.dtype in (torch.int32, torch.int64)  # noqa: E731
        kinds = {
            **dict.fromkeys("abc", lambda k, t: t.is_floating_point()), **dict.fromkeys("xy", lambda k, t: True),
            **dict.fromkeys("ed", lambda k, t: k not in self.inexact and t.dtype != torch.bool),
            **dict.fromkeys("ij", lambda k, t: integer(t) and k not in self.inexact),
            **dict.fromkeys("mn", lambda k, t: t.dtype == torch.bool),
        }  # fmt: skip

        def operand(kind):
            if kind not in taken:
                names = [k for k, t in self.now.items() if kinds[kind](k, t) and not k.startswith("self.linear")]
                if not names:
                    raise Discard
                latest = [k for k in names if k.startswith("v")][-4:]
                taken[kind] = rng.choice(latest if latest and rng.random() < 0.6 else names)
                used.append(taken[kind])
            return taken[kind]

        def one(blank):
            kind, _, of = blank.partition(":")
            if kind in kinds:
                return operand(kind)
            if of:
                rank = self.now[operand(of)].dim()
                if kind == "dim":
                    return str(rng.randint(-rank, rank - 1) if rank else 0)
                return ", ".join(
                    rng.choice([":", "1:", ":2", "::2", "-1:", "0", "1:3"]) for _ in range(rng.randint(1, max(rank, 1)))
                )
            if kind == "unary":
                name, a = rng.choice(UNARY.split()), operand("a")
                if name.endswith("_"):
                    return f"torch.{name[:-1]}({a}.abs() + 0.5)"
                return f"nn.{name}({a})" if name in "silu gelu softplus mish elu".split() else f"torch.{name}({a})"
            choices = {
                "binary": "add sub mul mul add maximum minimum div", "arith": "+ - * /", "iarith": "+ - * // % & | ^", "compare": "< <= == != > >=",
                "logic": "and or xor", "reduce": "sum mean amax amin", "flag": "True False", "integer": "-3 -1 0 1 2 3 5", "small": "1 2 3 64",
                "number": "0.5 2.0 -1.25 3 0.1 -0.3", "float": "H H F F B", "any": "H F B I L T",
            }  # fmt: skip
            return rng.choice(choices[kind].split())

        parts = template.replace("{", "\0{").replace("}", "}\0").split("\0")
        return "".join(one(part[1:-1]) if part.startswith("{") else part for part in parts), used


TYPES = (*NARROW.values(), torch.int32, torch.int64, torch.bool)


def load(text, types):
    """(module, arguments) of a program's text, its floats as `types` says."""
    code = text.replace("H, B, F, I", "H_, B_, F_, I").replace(
        "torch.float16, torch.bfloat16, torch.float32", "0, 0, 0"
    )
    space = dict(types)
    exec(compile(code, "<program>", "exec"), space)
    return space["Module"]().eval().requires_grad_(False), space["arguments"]


def compare(got, own, wide, scale, place):
    if type(got) is not type(own):
        raise AssertionError(f"{place} is {type(got).__name__}, PyTorch's {type(own).__name__}")
    if not isinstance(own, torch.Tensor):
        if got != own:
            raise AssertionError(f"{place} is {got}, PyTorch's {own}")
        return
    for what in ("dtype", "shape", "requires_grad", "is_leaf"):
        if getattr(got, what) != getattr(own, what):
            raise AssertionError(f"{place}: {what} is {getattr(got, what)}, PyTorch's {getattr(own, what)}")
    name, stored = tensors.name_of(own.dtype), tensors.stored
    reference = wide.double().numpy() if own.is_floating_point() else None
    traits = tolerance.Traits(matmul=True)
    wrong = tolerance.compare(stored(got), stored(own), name, reference, traits, scale)
    if wrong:
        raise AssertionError(f"{place}: {wrong}")


def layout(values):
    """Strides, and which values share memory, how far from one another. Where memory begins, if it is a value's alone, is free."""
    first, found = {}, []
    for n, x in enumerate(values):
        if isinstance(x, torch.Tensor) and x.numel():
            number, base = first.setdefault(x.untyped_storage().data_ptr(), (n, x.storage_offset()))
            strides = tuple(stride if size > 1 else 0 for size, stride in zip(x.shape, x.stride()))
            found.append((n, strides, number, x.storage_offset() - base))
    return found


def agree(text, module, f, seed, scale, change=lambda arguments: arguments, aliases=True, other=None):
    """Calls f and PyTorch with the same arguments. f's module keeps what it changed."""
    flat = torch.utils._pytree.tree_leaves
    plain, arguments = load(text, NARROW)
    broad, wide_arguments = load(text, WIDE)
    plain.load_state_dict(module.state_dict())
    broad.load_state_dict(module.state_dict())
    given, kept, wide = change(arguments(seed)), change(arguments(seed)), change(wide_arguments(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected, reference = plain(*kept), broad(*wide)
        except Exception:  # noqa: BLE001
            return False
    with torch.no_grad():
        if any(x.is_floating_point() and not x.isfinite().all() for x in flat(expected) if isinstance(x, torch.Tensor)):
            return False
    got = f(*given)
    groups = [("result", got, expected, reference), ("argument", given, kept, wide)]
    groups.append(("state", module.state_dict(), plain.state_dict(), broad.state_dict()))
    for what, a, b, c in groups:
        a, b, c = flat(a), flat(b), flat(c)
        if len(a) != len(b):
            raise AssertionError(f"{len(a)} of {what}, PyTorch has {len(b)}")
        for n, each in enumerate(zip(a, b, c)):
            compare(*each, scale, f"{what} {n}")
    if aliases:
        a, b = (
            layout([*flat(got), *given, *module.state_dict().values()]),
            layout([*flat(expected), *kept, *plain.state_dict().values()]),
        )
        if a != b and not (other and a == other(text, module, change(arguments(seed)))):
            raise AssertionError(f"numbers, strides, memory and offsets are {a}, PyTorch's {b}")
    return True


def layout_of_aot(text, module, given):
    """What torch.compile without a compiler makes of it: results that are views of what is no result need not share memory."""
    flat = torch.utils._pytree.tree_leaves
    plain, _ = load(text, NARROW)
    plain.load_state_dict(module.state_dict())
    got = torch.compile(plain, backend="aot_eager", fullgraph=True)(*given)
    return layout([*flat(got), *given, *plain.state_dict().values()])


def fails_in_aot(text, mode, dynamic, seed, scale, longer):
    """Whether torch.compile fails without a compiler, too."""
    torch._dynamo.reset()
    try:
        with mode():
            module, _ = load(text, NARROW)
            f = torch.compile(module, backend="aot_eager", fullgraph=True, dynamic=dynamic)
            for start, change in ((seed, list), (seed + 1000, list), (seed, longer)):
                agree(text, module, f, start, scale, change, aliases=False)
    except Exception:  # noqa: BLE001
        return True
    return False


def longer(arguments):
    return [torch.cat([x, x[:1]]) if x.dim() > 1 else x for x in arguments]


def judge(seed, steps):
    """(text, what is wrong or None, counts)."""
    writer = Writer(seed)
    writer.grow(writer.rng.randint(2, steps))
    text, rng = writer.text(), writer.rng
    import spyre_mlir

    options = {"threads": 1, "check": rng.random() < 0.3}
    scale = 1.0 + len(writer.lines)
    torch._dynamo.reset()
    mode = rng.choice([torch.no_grad, torch.inference_mode])
    try:
        with mode():
            module, _ = load(text, NARROW)
            dynamic = rng.choice([None, None, None, True])
            f = torch.compile(module, backend="spyre", fullgraph=True, dynamic=dynamic, options=options)
            where = f"torch.compile, dynamic={dynamic}, {mode.__name__}, {options}"
            agree(text, module, f, seed, scale, other=layout_of_aot)
            agree(text, module, f, seed + 1000, scale, other=layout_of_aot)
            if rng.random() < 0.3:
                where += ", longer"
                agree(text, module, f, seed, scale, longer, other=layout_of_aot)
            if rng.random() < 0.4:
                where = f"spyre_mlir.compile, {mode.__name__}, {options}"
                module, arguments = load(text, NARROW)
                try:
                    f = spyre_mlir.compile(module, *arguments(seed), cache=False, **options)
                except spyre_mlir.ExportError:
                    return text, None, "refused by spyre_mlir.compile"
                module.load_state_dict(load(text, NARROW)[0].state_dict())
                agree(text, module, f, seed + 1, scale, aliases=False)
    except torch._dynamo.exc.Unsupported:
        return text, None, "not captured by Dynamo"
    except Exception as error:  # noqa: BLE001
        if where.startswith("torch") and fails_in_aot(text, mode, dynamic, seed, scale, longer):
            return text, None, "wrong or refused by PyTorch's own torch.compile"
        kind = "" if isinstance(error, AssertionError) else traceback.format_exc()[-1500:]
        return text, f"{where}: {type(error).__name__}: {str(error)[:1500]}\n{kind}", "failed"
    return text, None, "passed"


if __name__ == "__main__":
    sys.exit(rounds.run(judge, __doc__, steps=(9, "most lines of a module")))
