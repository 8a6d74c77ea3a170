# opcalls.py - Operator programs of the reference data as PyTorch modules
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A case of op_cases.json has inputs and a trace: calls in order, in which a tensor
# is only known by its shape (`T[2, 64]`). Which value a `T` stands for is decided
# here, once, while the trace runs on the inputs: every value is used if possible,
# and values are used in the order in which an expression would have made them
# (wire() has the rules). Any choice gives a valid program; PyTorch's result is
# computed from the same choice. The module that comes out replays the trace.
#
# An input with strides is stored as a contiguous tensor of the same memory and
# read through views inside the program, so that exported programs have only
# contiguous arguments.
"""Cases of op_cases.json to modules and inputs."""

import dataclasses
import hashlib
import re
import sys
import threading

import numpy as np
import torch

from . import formats, harness, sizes, tensors

sys.path.insert(0, str(harness.REPOSITORY / "test" / "e2e"))

DTYPES = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "u8": torch.uint8,
    "i1": torch.bool,
    "complex64": torch.complex64,
}

# Calls that need only the shape of their argument and do not use it up.
LIKE = re.compile(r".*_like")
# Views that a test usually makes of an argument, not of what it has just computed.
TURNS = {"t", "transpose", "permute"}
# Functions with a domain: their programs get positive inputs.
POSITIVE = {"sqrt", "rsqrt", "log", "log2", "log10", "log1p", "pow", "reciprocal", "logcumsumexp"}
MARKS = {"@hint", "@endhint"}  # tiling hints; they do not change values


EXPORTING = threading.Lock()  # PyTorch's exporter is not made for threads


class Unclear(Exception):
    """The case cannot be built from what the data say; the text says why."""


class NotExportable(Exception):
    """PyTorch or torch-mlir has no program for the case."""


class Skip(Exception):
    """The case is skipped for another reason: `key` of skips.json."""

    def __init__(self, key, why):
        super().__init__(why)
        self.key = key


# --- inputs ------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Spec:
    """A tensor input: what the program sees, and the contiguous storage that is its argument."""

    shape: tuple
    dtype: torch.dtype
    stride: tuple | None = None
    offset: int = 0

    def storage(self):
        """(shape of the argument, function from the argument to the view)."""
        if self.stride is None and not self.offset:
            return self.shape, lambda x: x
        stride = self.stride if self.stride is not None else sizes.contiguous(self.shape)
        return strided(self.shape, stride, self.offset)


def strided(shape, stride, offset):
    """Storage and views for any strides that are multiples of each other.

    The dims in order of their strides give the storage's dims: a stride is as
    often the next one as the storage has places there. Each is sliced to what the
    view shows; dims of stride 0 and of size 1 are expanded from nothing.
    """
    real = sorted((d for d, size in enumerate(shape) if size > 1 and stride[d]), key=lambda d: -stride[d])
    steps = [stride[d] for d in real]
    if any(a % b for a, b in zip(steps, steps[1:])):
        raise Unclear(f"strides {list(stride)} overlap or are no multiples of each other")
    extents = [a // b for a, b in zip(steps, steps[1:])]  # of all storage dims but the outermost
    if steps and steps[-1] > 1:
        extents.append(steps[-1])
    starts, rest = [], offset
    for step in steps:
        starts.append(rest // step)
        rest %= step
    sizes = [shape[d] for d in real]
    storage = [starts[0] + sizes[0], *extents] if real else [offset + 1]
    for size, start, extent in zip(sizes[1:], starts[1:], extents):
        if start + size > extent:
            raise Unclear(f"strides {list(stride)} overlap")
    order = sorted(range(len(real)), key=lambda i: real[i])

    def view(x):
        if not real:
            return x[offset].expand(shape)
        for dim, (start, size) in enumerate(zip(starts, sizes)):
            if (start, size) != (0, x.shape[dim]):
                x = x[(slice(None),) * dim + (slice(start, start + size),)]
        if x.dim() > len(real):
            x = x[..., rest]
        if order != sorted(order):
            x = x.permute(order)
        if x.dim() < len(shape):
            x = x[tuple(slice(None) if d in real else None for d in range(len(shape)))]
        return x.expand(shape) if tuple(x.shape) != tuple(shape) else x

    return tuple(storage), view


def spec(entry):
    """The Specs of one entry of `inputs`: a tensor, one with names, a list; scalars stand in the program."""
    if isinstance(entry, list):
        shape, dtype, *more = entry
        if dtype not in DTYPES:
            raise Unclear(f"dtype {dtype}")
        stride = tuple(more[0]) if more and more[0] is not None else None
        return [Spec(tuple(shape), DTYPES[dtype], stride, more[1] if len(more) > 1 else 0)]
    if "t" in entry:
        return spec(entry["t"])
    if "list" in entry:
        return [one for part in entry["list"] for one in spec(part)]
    if "value" in entry or "py" in entry or "op" in entry:
        return []
    raise Unclear(f"an input with {', '.join(sorted(entry))}")


def seed_of(name, seed=0):
    return int.from_bytes(hashlib.sha256(f"{seed}:{name}".encode()).digest()[:8], "little")


def draw(shape, dtype, rng, positive, least, scale=1.0):
    """Values of a dtype; floats have 9 fraction bits at most, which every 16-bit form of the device holds.

    scale: a power of two on floats, so that it costs no bits.
    """
    count = int(np.prod(shape))
    if dtype == torch.bool:
        values = rng.random(count) < 0.5
    elif dtype.is_floating_point or dtype.is_complex:
        values = rng.uniform(0.5, 2.0, count) if positive else rng.standard_normal(count)
        values = formats.few_bits(values, 8 if dtype == torch.bfloat16 else 10) * scale
        values = formats.without_subnormals(values)
    else:  # distinct where there is room, and an index of every tensor with `least` rows
        values = rng.permutation(count) % max(1, min(least, 100))
    return torch.from_numpy(np.asarray(values).reshape(shape)).to(dtype)


# --- calls -------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Ref:
    """A tensor in the arguments of a call: a shape, and the value once it is known."""

    shape: tuple
    value: int | None = None


def parse_argument(argument):
    """Arguments as the data write them; tensors become Refs, dtypes torch's."""
    if isinstance(argument, list):
        return [parse_argument(part) for part in argument]
    if not isinstance(argument, str):
        return argument
    if argument.startswith("T["):
        return Ref(tuple(int(n) for n in re.findall(r"\d+", argument)))
    if argument in DTYPES:
        return DTYPES[argument]
    if argument in ("inf", "-inf", "nan"):
        return float(argument)
    if argument in ("Any", "dict", "complex"):
        raise Unclear(f"the trace has {argument} for an argument")
    return argument


def parse_index(index):
    """An index expression: slices as `a:b:c`, None, numbers, tensors."""
    if isinstance(index, list):
        return tuple(parse_index(part) for part in index)
    if isinstance(index, str) and ":" in index:
        return slice(*(int(part) if part else None for part in index.split(":")))
    return Ellipsis if index == "..." else parse_argument(index)


def normal_form(step):
    """(name, args, kwargs) of a step; creation calls are written [name, size, value or dtype]."""
    name, *rest = step
    args = rest[0] if rest else []
    kwargs = rest[1] if len(rest) > 1 else {}
    if name in ("ones", "zeros", "empty", "full"):
        extra = [] if isinstance(kwargs, dict) else [kwargs]
        kwargs = kwargs if isinstance(kwargs, dict) else {}
        extra = [parse_argument(value) for value in extra]
        size = args if all(isinstance(n, int) for n in args) else args[0]
        kwargs = {key: parse_argument(value) for key, value in kwargs.items()}
        for value in extra:
            if isinstance(value, torch.dtype):
                kwargs["dtype"] = value
        return name, [size, *(value for value in extra if not isinstance(value, torch.dtype))], kwargs
    if not isinstance(args, list) or not isinstance(kwargs, dict):
        raise Unclear(f"the call {step!r}")
    if name == "getitem":
        return name, [parse_argument(args[0]), parse_index(args[1])], {}
    kwargs = {key: parse_argument(value) for key, value in kwargs.items()}
    if kwargs.get("memory_format") == "contiguous_format":
        kwargs["memory_format"] = torch.contiguous_format
    args = [parse_argument(argument) for argument in args]
    if name == "to" and args[1:] == ["Dev"]:  # another device: the same values
        return "clone", args[:1], {}
    return name, args, kwargs


def candidates(name):
    """Functions that a traced name may mean, best first."""
    places = (torch, torch.Tensor, torch.nn.functional, torch.linalg)
    if name == "getitem":
        return [lambda x, index: x[index]]
    found = [getattr(place, name) for place in places if callable(getattr(place, name, None))]
    if not found:
        raise Unclear(f"PyTorch has no {name}")
    return found


def refs_in(tree):
    if isinstance(tree, Ref):
        yield tree
    elif isinstance(tree, (list, tuple)):
        for part in tree:
            yield from refs_in(part)
    elif isinstance(tree, dict):
        for part in tree.values():
            yield from refs_in(part)


def replace(tree, function):
    """The tree with function(Ref) for every Ref, in order."""
    if isinstance(tree, Ref):
        return function(tree)
    if isinstance(tree, (list, tuple)):
        return type(tree)(replace(part, function) for part in tree)
    if isinstance(tree, dict):
        return {key: replace(part, function) for key, part in tree.items()}
    return tree


@dataclasses.dataclass
class Step:
    """One call: which function, and arguments whose Refs name values by number."""

    name: str
    function: object
    args: list
    kwargs: dict


class Module(torch.nn.Module):
    """Replays steps. `wide`: float dtypes that the steps name become float64."""

    def __init__(self, specs, steps, results, wide=False):
        super().__init__()
        self.specs, self.steps, self.results, self.wide = specs, steps, results, wide
        self.copies = any(step.name.endswith("_") for step in steps)

    def forward(self, *arguments):
        values = [one.storage()[1](argument) for one, argument in zip(self.specs, arguments)]
        if self.copies:  # an in-place call must not change an argument of the program
            values = [value.clone() for value in values]
        for step in self.steps:
            values += as_list(self.call(step, values))
        return tuple(values[index] for index in self.results)

    def call(self, step, values):
        args, kwargs = replace((step.args, step.kwargs), lambda ref: values[ref.value])
        return step.function(*self.widened(args), **dict(zip(kwargs, self.widened(kwargs.values()))))

    def widened(self, arguments):
        if not self.wide:
            return list(arguments)
        is_float = lambda value: isinstance(value, torch.dtype) and value.is_floating_point
        return [torch.float64 if is_float(value) else value for value in arguments]


def as_list(result):
    """The tensors of a result."""
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (tuple, list)) and all(isinstance(part, torch.Tensor) for part in result):
        return list(result)
    raise Unclear(f"a call gives {type(result).__name__}, which no program can return")


class Wiring:
    """Which value each Ref means.

    Results that nobody has used yet come first, the latest ones, in the order of
    their making, as the operands of an expression; then inputs that nobody has
    used, in order; then what was made last. Transpositions take an unused input
    first.
    """

    def __init__(self, values):
        self.values, self.inputs = list(values), len(values)
        self.used = set()

    def of_shape(self, shape):
        return [i for i, value in enumerate(self.values) if tuple(value.shape) == tuple(shape)]

    def choose(self, name, refs):
        """Numbers of values for the Refs of one call."""
        chosen = [None] * len(refs)
        for shape in dict.fromkeys(ref.shape for ref in refs):
            slots = [i for i, ref in enumerate(refs) if ref.shape == shape]
            fitting = self.of_shape(shape)
            if not fitting:
                raise Unclear(f"no value of shape {list(shape)} for {name}")
            fresh = [i for i in fitting if i >= self.inputs and i not in self.used][-len(slots) :]
            given = [i for i in fitting if i < self.inputs and i not in self.used]
            order = given + fresh if name in TURNS or LIKE.fullmatch(name) else fresh + given
            again = max(i for i in fitting if i in self.used or i in order)
            for position, slot in enumerate(slots):
                chosen[slot] = order[position] if position < len(order) else again
        if not LIKE.fullmatch(name):
            self.used |= set(chosen)
        return chosen


def wire(steps, values, default_dtype):
    """Runs the trace on the inputs; returns the Steps and the numbers of the results."""
    wiring, made, groups = Wiring(values), [], []
    for name, args, kwargs in steps:
        if name in ("ones", "zeros", "empty", "full") and "dtype" not in kwargs:
            kwargs = {**kwargs, "dtype": default_dtype}
        numbers = iter(wiring.choose(name, list(refs_in((args, kwargs)))))
        args, kwargs = replace((args, kwargs), lambda ref: Ref(ref.shape, next(numbers)))  # noqa: B023
        step, result = first_that_works(name, args, kwargs, wiring.values)
        made.append(step)
        groups.append(range(len(wiring.values), len(wiring.values) + len(result)))
        wiring.values += result
    if not groups:  # the inputs come back
        return [], list(range(wiring.inputs))
    # What nobody used is a result; parts of a split of which one was used are not.
    results = []
    for group in groups:
        unused = [i for i in group if i not in wiring.used]
        if group is groups[-1] or len(unused) == len(group):
            results += unused or list(group)
    return made, results


def first_that_works(name, args, kwargs, values):
    error = None
    for function in candidates(name):
        step = Step(name, function, args, kwargs)
        try:
            return step, as_list(Module([], [], []).call(step, values))
        except (TypeError, RuntimeError, ValueError, IndexError) as problem:
            error = error or problem
    raise Unclear(f"PyTorch refuses {name}: {str(error).splitlines()[0]}")


@dataclasses.dataclass
class Call:
    """A case as a module with its arguments."""

    module: Module
    arguments: list

    def wide(self):
        """The same in float64."""
        module = Module(self.module.specs, self.module.steps, self.module.results, wide=True)
        return module, [tensors.in_float64(x) for x in self.arguments]

    def text(self):
        """The torch-dialect program, or NotExportable."""
        return text_of(self.module, self.arguments)


def text_of(module, arguments):
    """The torch-dialect program of a module, or NotExportable."""
    import export  # needs torch-mlir

    try:
        with EXPORTING:
            return export.texts(module, arguments, ())["raw"]
    except Exception as error:  # noqa: BLE001 - many kinds, from the exporter and the importer
        lines = str(error).strip().splitlines()
        raise NotExportable(lines[0] if lines else type(error).__name__) from error


def elements(case):
    """Elements of the largest tensor that a case names; nothing is made for it."""
    shapes = [one.storage()[0] for entry in case["inputs"] for one in spec(entry)]
    text = str(case.get("program", ""))
    shapes += [tuple(int(n) for n in re.findall(r"\d+", shape)) for shape in re.findall(r"T\[([\d, ]*)\]", text)]
    return max((int(np.prod(shape)) for shape in shapes), default=0)


def arguments_of(specs, case_name, step_names, seed, scale):
    """The arguments of a program that reads these specs and does these steps."""
    rng = np.random.default_rng(seed_of(case_name, seed))
    positive = any(name.rstrip("_") in POSITIVE for name in step_names)
    rows = [one.shape[0] for one in specs if one.shape and one.dtype.is_floating_point]
    return [draw(one.storage()[0], one.dtype, rng, positive, min(rows, default=100), scale) for one in specs]


def build(case, seed=0, scale=1.0):
    """The Call of a case, or Unclear; `scale` makes its inputs smaller."""
    specs = [one for entry in case["inputs"] for one in spec(entry)]
    program = [step for step in case["program"] if step[0] not in MARKS]
    if not program and case["op"]:  # nothing was traced: the operator with its inputs
        program = [[case["op"], [plain_input(entry) for entry in case["inputs"]]]]
    steps = [normal_form(step) for step in program]
    arguments = arguments_of(specs, case["id"], [name for name, _, _ in steps], seed, scale)
    floats = [one.dtype for one in specs if one.dtype.is_floating_point]
    with torch.no_grad():
        values = Module(specs, [], range(len(specs)))(*arguments)
        made, results = wire(steps, [value.clone() for value in values], floats[0] if floats else torch.float16)
    return Call(Module(specs, made, results).eval(), arguments)


def plain_input(entry):
    """An entry of `inputs` as an argument of a call."""
    if isinstance(entry, list):
        return "T" + str(list(entry[0]))
    if "t" in entry:
        return plain_input(entry["t"])
    if "list" in entry:
        return [plain_input(part) for part in entry["list"]]
    if "value" in entry:
        return entry["value"]
    raise Unclear(f"an input with {', '.join(sorted(entry))}")
