#!/usr/bin/env python3
# torch_state.py - Random modules that keep state in attributes
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A module keeps tensors in attributes, lists, dictionaries, objects, buffers, submodules and
# globals, some of them shared or views of one another, and its forward reads, replaces and
# changes them. Compiled, it must give PyTorch's results and leave PyTorch's state over
# several calls, between which the state is changed from outside. spyre_mlir.compile may
# refuse a module (by a name of its state), and a call what was torn apart from outside.
"""Fuzz test of state between calls."""

import random
import sys
import traceback

import rounds
import torch

HEADER = """import collections
import dataclasses
import torch

STATE = {}


@dataclasses.dataclass
class Data:
    x: torch.Tensor
    n: int = 2


class Plain:
    def __init__(self, x):
        self.x = x

"""

# What holds a tensor: (its making, how it is read, how it is replaced). @ is its number, % a tensor.
HOLDERS = [
    ("self.a@ = %", "self.a@", "self.a@ = {}"),
    ("self.l@ = [%, %]", "self.l@[1]", "self.l@[1] = {}"),
    ("self.l@ = [%, %]", "self.l@[0]", "self.l@ = [{}, self.l@[1]]"),
    ("self.d@ = {'k': %, 'n': 3}", "self.d@['k']", "self.d@['k'] = {}"),
    ("self.d@ = {'k': {'v': %}}", "self.d@['k']['v']", "self.d@['k']['v'] = {}"),
    ("self.t@ = (%, 3)", "self.t@[0]", "self.t@ = ({}, 3)"),
    ("self.o@ = Plain(%)", "self.o@.x", "self.o@.x = {}"),
    ("self.c@ = Data(%)", "self.c@.x", "self.c@.x = {}"),
    ("self.register_buffer('b@', %)", "self.b@", "self.b@ = {}"),
    ("self.sub.a@ = %", "self.sub.a@", "self.sub.a@ = {}"),
    ("self.sub.register_buffer('b@', %)", "self.sub.b@", "self.sub.b@ = {}"),
    ("self.q@ = collections.deque([%, %], maxlen=2)", "self.q@[1]", "self.q@.append({})"),
    ("STATE['g@'] = %", "STATE['g@']", "STATE['g@'] = {}"),
]
SHARED = ["self.s@ = {}", "self.s@ = [{}]", "self.s@ = {}[1]", "self.s@ = {}[1:3]"]
VALUES = [
    "x",
    "y",
    "{} * 0.5 + x",
    "torch.tanh({} + y)",
    "self.w * x",
    "x.mean(0, keepdim=True) + {}",
    "y * 0.25",
    "{} + {}",
    "x.flip(0)",
]
CHANGES = [
    "{}.mul_(0.5).add_(%)",
    "{}.copy_(%)",
    "{}.add_(%).mul_(0.5)",
    "{}[1] = (%)[0]",
    "{}[:, 2:5] = (%)[:, :3]",
    "{}.zero_()",
    "{}.lerp_(%, 0.5)",
]
READS = [
    "y = y + {}",
    "y = torch.maximum(y, {})",
    "y = y * 0.5 + {} @ self.m",
    "y = torch.cat([y, {}])[2:6]",
    "y = y - {}.mean()",
]
OUTSIDE = ["{}.data.mul_(0.5)", "{}.fill_(0.25)", "{}[2] = 1.5", "{}.data[3, 1] = 7", "{}.copy_(torch.ones(4, 8))"]
# What no program carries over, and a call that does nothing of it.
REFUSED = ["self.n += 1", "self.l.append(x)", "self.late = x", "self.d['more'] = x"]


class Writer:
    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.types = rng.choice(["float16", "float32", "float32"])
        init = ["self.w = torch.nn.Parameter(torch.rand(8))", "self.m = torch.rand(8, 8) / 4", "self.sub = torch.nn.Module()", "self.n, self.l, self.d = 0, [], {}"]  # fmt: skip
        self.held = []
        for n in range(rng.randint(1, 4)):
            made, read, put = (part.replace("@", str(n)) for part in rng.choice(HOLDERS))
            init.append(made.replace("%", "torch.rand(4, 8)"))
            self.held.append((read, put))
        self.reads = [read for read, _ in self.held]
        if rng.random() < 0.25:
            shared = rng.choice(SHARED).replace("@", "9").format(rng.choice(self.reads))
            init.append(shared)
            self.shared = shared.split(" = ")[0] + ("[0]" if "[{" in shared or "= [" in shared else "")
        else:
            self.shared = None
        forward = ["y = x * 2"]
        for _ in range(rng.randint(1, 6)):
            forward.append(self.line())
        if rng.random() < 0.06:
            forward.insert(rng.randint(1, len(forward)), rng.choice(REFUSED))
        result = rng.choice(["y", "y", "(y, {})", "{{'y': y, 's': {}}}"]).format(rng.choice(self.reads))
        forward.append(f"return {result}")
        indent = "\n        "
        self.text = (
            f"{HEADER}\nclass Module(torch.nn.Module):\n    def __init__(self):\n        super().__init__(){indent}"
            f"{indent.join(init)}\n\n    def forward(self, x):{indent}{indent.join(forward)}\n"
        )

    def line(self):
        rng = self.rng
        read, put = rng.choice(self.held)
        value = rng.choice(VALUES)
        value = value.format(*(rng.choice(self.reads) for _ in range(value.count("{}"))))
        kind = rng.random()
        if kind < 0.35:
            return put.format(value)
        if kind < 0.65:
            return rng.choice(CHANGES).replace("%", value).format(read)
        if self.shared and kind < 0.75:
            return f"{self.shared}.mul_(0.5)" if rng.random() < 0.5 else f"y = y + {self.shared}.sum() * 0.1"
        return rng.choice(READS).format(read)

    def outside(self):
        """A change between calls, as code with `self`; None: none."""
        if self.rng.random() < 0.5:
            return None
        read, put = self.rng.choice(self.held)
        if self.rng.random() < 0.4:
            return put.format("torch.full((4, 8), 0.75)")
        return self.rng.choice(OUTSIDE).format(read)


def load(text, seed, dtype):
    space = {}
    exec(compile(text, "<program>", "exec"), space)
    torch.manual_seed(seed)
    torch.set_default_dtype(dtype)
    try:
        return space["Module"]().eval().requires_grad_(False), space
    finally:
        torch.set_default_dtype(torch.float32)


def state_of(module, space, reads):
    return [eval(read, space, {"self": module}) for read in reads]


def change(code, module, space, dtype):
    torch.set_default_dtype(dtype)
    try:
        exec(code, space, {"self": module})
    finally:
        torch.set_default_dtype(torch.float32)


def differs_in_aot(text, seed, dtype, mode, calls, reads):
    """Whether torch.compile without a compiler is wrong or fails, too."""
    torch._dynamo.reset()
    try:
        with mode():
            (eager, eager_space), (module, space) = load(text, seed, dtype), load(text, seed, dtype)
            f = torch.compile(module, backend="aot_eager")
            for x, code in calls:
                rounds.compare("result", f(x.clone()), eager(x.clone()))
                rounds.compare("state", state_of(module, space, reads), state_of(eager, eager_space, reads))
                if code:
                    change(code, eager, eager_space, dtype)
                    change(code, module, space, dtype)
    except Exception:  # noqa: BLE001
        return True
    return False


def judge(seed):
    writer = Writer(seed)
    import spyre_mlir

    dtype = getattr(torch, writer.types)
    reads = writer.reads + ([writer.shared] if writer.shared else [])
    direct = writer.rng.random() < 0.7
    mode = writer.rng.choice([torch.no_grad, torch.inference_mode])
    calls = [
        (torch.rand(4, 8, generator=torch.Generator().manual_seed(seed + n)).to(dtype), writer.outside())
        for n in range(4)
    ]
    where = "spyre_mlir.compile" if direct else "torch.compile"
    text = writer.text + "".join(f"# after call {n}: {code}\n" for n, (_, code) in enumerate(calls) if code)
    torch._dynamo.reset()
    touched = False
    with mode():
        eager, eager_space = load(writer.text, seed, dtype)
        module, space = load(writer.text, seed, dtype)
        try:
            try:
                before = state_of(module, space, reads)
                values = [tensor.clone() for tensor in before]
                f = spyre_mlir.compile(module, calls[0][0].clone(), threads=1) if direct else torch.compile(module, backend="spyre", options={"threads": 1})  # fmt: skip
            finally:
                if any(a is not b for a, b in zip(before, state_of(module, space, reads))):
                    raise rounds.Difference("compiling has replaced state")
                rounds.compare("state after compiling", before, values)
            for n, (x, code) in enumerate(calls):
                try:
                    want = eager(x.clone())
                except Exception:  # noqa: BLE001
                    return text, None, "refused by PyTorch"
                got = f(x.clone())
                rounds.compare(f"call {n}, result", got, want)
                rounds.compare(f"call {n}, state", state_of(module, space, reads), state_of(eager, eager_space, reads))
                if code:
                    change(code, eager, eager_space, dtype)
                    change(code, module, space, dtype)
                    touched = True
        except spyre_mlir.ExportError:
            return text, None, "refused by spyre_mlir.compile"
        except spyre_mlir.ExecutionError as error:
            if touched and writer.shared and ("hold two now" in str(error) or "does not now" in str(error)):
                return text, None, "torn apart from outside"
            return text, f"{where}, {mode.__name__}: {error}", "failed"
        except torch._dynamo.exc.Unsupported:
            return text, None, "not captured by Dynamo"
        except Exception as error:  # noqa: BLE001
            if not direct and differs_in_aot(writer.text, seed, dtype, mode, calls, reads):
                return text, None, "wrong or refused by PyTorch's own torch.compile"
            kind = "" if isinstance(error, rounds.Difference) else traceback.format_exc()[-1500:]
            return text, f"{where}, {mode.__name__}: {type(error).__name__}: {str(error)[:800]}\n{kind}", "failed"
    return text, None, "passed"


if __name__ == "__main__":
    sys.exit(rounds.run(judge, __doc__))
