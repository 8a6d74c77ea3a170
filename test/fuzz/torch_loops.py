#!/usr/bin/env python3
# torch_loops.py - Random loops of PyTorch through both front ends
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A program is one to three loops, one behind or within the other: while_loop with counters that
# begin, step and end anywhere, in a tensor or as numbers; scan in either direction; map. A body
# is made of elementwise operations, reductions and products over what is carried, what is read
# at the counter and what is captured; it shrinks what it carries, so that rounding does not grow.
# Some loops have no trip, some hundreds. All of it has to run on the device, in checked mode, and
# agree with PyTorch. A case is a function of its seed number alone; one that fails is printed.
"""Fuzz test of loops against PyTorch."""

import random
import sys
import traceback

import rounds
import torch

H = torch.float16
# By the shape that they give: of carried values and slices A, B of that shape, R of its rows, C of its columns,
# and a captured matrix W. Each at most as large as the largest operand.
BODIES = {
    "rc": [
        "{A} * 0.5 + {B} * 0.5", "torch.tanh({A} + {B})", "torch.maximum({A}, {B}) * 0.75", "({A} @ {W}) * 0.25 + {B} * 0.25",
        "torch.sigmoid({A}) - {B} * 0.5", "({A} - {A}.mean(-1, keepdim=True)) * 0.5", "{A} * {R} * 0.5 + {B} * 0.25",
        "torch.relu({A}) * 0.5 - {C} * 0.25", "{A} * torch.exp(-{B}.abs()) * 0.5", "torch.softmax({A}, -1) + {B} * 0.5",
        "torch.minimum({A} * 0.5, {R} + {C} * 0.25)", "({A} @ {B}.transpose(0, 1)).mean(-1, keepdim=True) * 0.0625 + {B} * 0.5",
    ],
    "r1": [
        "{R} * 0.5 + {A}.mean(-1, keepdim=True)", "torch.maximum({R}, {A}.amax(-1, keepdim=True)) * 0.75", "torch.tanh({R} + {A}[:, :1])",
        "{R} * 0.25 + ({A} * {B}).mean(-1, keepdim=True) * 0.5",
    ],
    "c": ["{C} * 0.5 + {A}.mean(0) * 0.5", "torch.tanh({C} + {A}[0])", "({C} + {A}.amax(0)) * 0.375"],
}  # fmt: skip


def values(seed, shape):
    """f16 numbers that every format has."""
    generator = torch.Generator().manual_seed(seed)
    return (torch.randint(-64, 65, shape, generator=generator) / 64).to(H)


class Case:
    def __init__(self, seed):
        rng = self.rng = random.Random(seed)
        self.seed = seed
        rows, columns = rng.choice([(4, 64), (3, 33), (8, 16), (1, 64), (5, 70)])
        self.trips = rng.choice([0, 1, 2, 3, 3, 4, 5, 5, 6, 7, 9, rng.randint(60, 150)])
        self.shapes = {"rc": (rows, columns), "r1": (rows, 1), "c": (columns,)}
        self.length = max(self.trips, 1) + 2
        # Arguments: two sequences, a value of each shape, a matrix.
        self.arguments = [
            *((name, (self.length, rows, columns)) for name in ("xs", "ys")),
            *((f"p_{kind}", shape) for kind, shape in self.shapes.items()),
            ("w", (columns, columns)),
        ]
        self.lines, self.counter = [], 0
        self.outside = {kind: [f"p_{kind}"] for kind in self.shapes}
        results = []
        for _ in range(rng.choice([1, 1, 1, 2])):
            results += self.loop("    ", self.trips, rng.random() < 0.25 and self.trips < 10)
        arguments = ", ".join(name for name, _ in self.arguments)
        body = "\n".join([*self.lines, f"    return ({', '.join(results)},)"])
        self.text = (
            "import torch\nfrom torch._higher_order_ops import map as map_\nfrom torch._higher_order_ops.scan import scan\n"
            "from torch._higher_order_ops.while_loop import while_loop\n\n\n"
            f"def f({arguments}):\n{body}\n\n\nshapes = {[shape for _, shape in self.arguments]}\n"
        )

    def name(self, stem):
        self.counter += 1
        return f"{stem}{self.counter}"

    def expression(self, kind, known):
        """One of the bodies, of what is known by shape."""
        rng = self.rng
        pick = {"A": "rc", "B": "rc", "R": "r1", "C": "c"}
        template = rng.choice(BODIES[kind])
        return template.format(W="w", **{letter: rng.choice(known[of]) for letter, of in pick.items()})

    def steps(self, indent, known, carried):
        """Lines of a body and, of each carried value, the name of its next one."""
        rng, known = self.rng, {kind: list(names) for kind, names in known.items()}
        for _ in range(rng.randint(0, 3)):
            kind, name = rng.choice(list(self.shapes)), self.name("t")
            self.lines.append(f"{indent}{name} = {self.expression(kind, known)}")
            known[kind].insert(0, name)
        following = []
        for kind in carried:
            name = self.name("n")
            self.lines.append(f"{indent}{name} = {self.expression(kind, known)}")
            following.append(name)
        if rng.random() < 0.2:  # those of the same shape change places
            for kind in self.shapes:
                places = [i for i, of in enumerate(carried) if of == kind]
                for i, name in zip(places, [following[i] for i in reversed(places)]):
                    following[i] = name
        return following

    def loop(self, indent, trips, nests):
        """Writes a loop; the names of its results."""
        rng = self.rng
        carried = [rng.choice(["rc", "rc", "r1", "c"]) for _ in range(rng.randint(1, 3))]
        # PyTorch's export refuses a tensor that is carried and captured.
        init = [rng.choice([f"p_{kind} + 0.5", f"torch.zeros_like(p_{kind})", f"p_{kind} * 0.5"]) for kind in carried]
        names = [self.name("c") for _ in carried]
        known = {kind: [*self.outside[kind]] for kind in self.shapes}
        for kind, name in zip(carried, names):
            known[kind] = [name] * 2 + known[kind]
        way = rng.choice(["while", "while", "while", "scan", "scan", "map"])
        if way == "while" or trips == 0:
            return self.while_loop(indent, trips, carried, init, names, known, nests)
        sequence = rng.sample(["xs", "ys"], rng.randint(1, 2))
        slices = [self.name("s") for _ in sequence]
        known["rc"] = slices + known["rc"]
        body = self.name("body")
        taken = ", ".join(f"{name}[:{trips}]" for name in sequence)
        if way == "map":
            self.lines.append(f"{indent}def {body}({self.unpacked(slices)}):")
            (result,) = self.steps(
                indent + "    ", {kind: known[kind] for kind in known} | self.outside_of(slices), ["rc"]
            )
            self.lines.append(f"{indent}    return {result}")
            name = self.name("m")
            single = len(slices) == 1
            self.lines.append(f"{indent}{name} = map_({body}, {taken if single else f'({taken},)'})")
            return [name]
        self.lines.append(f"{indent}def {body}(carry, tile):")
        self.lines.append(f"{indent}    {', '.join(names)}, = carry")
        self.lines.append(f"{indent}    {', '.join(slices)}, = tile")
        following = self.steps(indent + "    ", known, carried)
        given = rng.choice([f"{following[0]} * 0.5", f"{slices[0]} + 1", f"{following[-1]} * 1"])
        self.lines.append(f"{indent}    return ({', '.join(following)},), {given}")
        name, stacked = self.name("r"), self.name("r")
        self.lines.append(
            f"{indent}{name}, {stacked} = scan({body}, ({', '.join(init)},), ({taken},), reverse={rng.random() < 0.4})"
        )
        return [*(f"{name}[{i}]" for i in range(len(carried))), stacked]

    def outside_of(self, slices):
        return {"rc": slices * 2 + self.outside["rc"], "r1": self.outside["r1"], "c": self.outside["c"]}

    @staticmethod
    def unpacked(names):
        return names[0] if len(names) == 1 else "tile" if not names else ", ".join(names)

    def while_loop(self, indent, trips, carried, init, names, known, nests):
        rng = self.rng
        is_number = rng.random() < 0.4
        step = rng.choice([1, 1, 1, 2, -1, -3])
        start = rng.choice([0, 0, 1, 5, -4])
        end = start + step * trips - (rng.randint(0, abs(step) - 1) * (1 if step > 0 else -1) if trips else 0)
        if trips == 0:
            end = start - step * rng.randint(0, 2)
        sign = ("<" if step > 0 else ">") if (end - start) % step or trips == 0 or rng.random() < 0.8 else "!="
        counter, body, test = self.name("i"), self.name("body"), self.name("test")
        # PyTorch cannot write at a number that it does not know.
        writes = rng.random() < 0.4 and trips > 0 and not nests and not is_number
        out = self.name("o") if writes else None
        carries = [counter, *names, *([out] if writes else [])]
        self.lines.append(f"{indent}def {test}({', '.join(carries)}):")
        self.lines.append(f"{indent}    return {counter} {sign} {end}")
        self.lines.append(f"{indent}def {body}({', '.join(carries)}):")
        inner, row = indent + "    ", self.name("s")
        # The number of the trip, from the counter.
        number = f"(({counter} - {start}) // {step})" if step not in (1, -1) else f"(({counter} - {start}) * {step})"
        place = f"{number}.view(1)" if not is_number else None
        read = rng.choice(["index_select", "index"]) if not is_number else "narrow"
        self.lines.append(
            {
                "index_select": f"{inner}{row} = torch.index_select(xs, 0, {place})[0]",
                "index": f"{inner}{row} = ys[{place}][0]",
                "narrow": f"{inner}{row} = xs.narrow(0, {number}, 2).mean(0)",
            }[read]
        )
        known["rc"].insert(0, row)
        if nests:
            outside, self.outside = self.outside, {kind: list(of) for kind, of in known.items()}
            found = self.loop(inner, rng.randint(0, 3), False)
            self.outside = outside
            name = self.name("t")
            self.lines.append(f"{inner}{name} = sum(v.mean() for v in ({', '.join(found)},)) * 0.25")
            self.lines.append(f"{inner}{row}n = {row} + {name}")
            known["rc"] = [f"{row}n"] * 2 + known["rc"]
        following = self.steps(inner, known, carried)
        if writes:
            self.lines.append(f"{inner}{out} = torch.index_put({out}, ({place},), ({row} * 0.5)[None])")
            following.append(out)
            init = [*init, rng.choice(["torch.zeros_like(xs)", "xs * 0.5"])]
        self.lines.append(f"{inner}return {counter} + {step}, {', '.join(following)}")
        name = self.name("r")
        begin = start if is_number else f"torch.tensor({start})"
        self.lines.append(f"{indent}{name} = while_loop({test}, {body}, ({begin}, {', '.join(init)}))")
        return [f"{name}[{i + 1}]" for i in range(len(init))]


def load(text):
    space = {}
    exec(compile(text, "<program>", "exec"), space)
    return space["f"], space["shapes"]


def judge(seed):
    """(text, what is wrong or None, "passed", "failed" or why the case says nothing)."""
    import spyre_mlir
    import spyre_mlir.dynamo as dynamo

    case = Case(seed)
    f, shapes = load(case.text)
    arguments = [values(seed * 100 + n, shape) for n, shape in enumerate(shapes)]
    where = "PyTorch"
    try:
        with torch.no_grad():
            own, wide = f(*arguments), f(*(x.double() for x in arguments))
            rounds.compare("PyTorch's own result", [x.double() for x in own], wide, slack=0.005)
            where = "spyre_mlir.compile"
            program = spyre_mlir.compile(f, *arguments, check=True, cache=False)
            rounds.compare("result", program(*arguments), [x.to(H) for x in wide], slack=0.005)
            if program.stats["host_calls"]:
                raise rounds.Difference(f"on the host: {program.stats['host_reasons']}")
            where = "torch.compile"
            torch._dynamo.reset()
            dynamo.reset_summaries()
            compiled = torch.compile(f, backend="spyre", fullgraph=True, options={"check": True, "cache": False})
            rounds.compare("result", compiled(*arguments), [x.to(H) for x in wide], slack=0.005)
            reasons = {reason for placement in dynamo.summaries() for _, reason in placement.reasons}
            if reasons - {"nothing beside it is on the device"}:  # of what no argument has a part in
                raise rounds.Difference(f"on the host: {dynamo.summaries()[0]}")
    except torch._dynamo.exc.Unsupported:
        return case.text, None, f"not captured by Dynamo ({where})"
    except Exception as error:  # noqa: BLE001
        if where == "PyTorch":
            return case.text, None, f"refused or inexact in PyTorch: {type(error).__name__}"
        kind = "" if isinstance(error, rounds.Difference) else traceback.format_exc()[-1200:]
        return case.text, f"{where}: {type(error).__name__}: {str(error)[:1200]}\n{kind}", "failed"
    return case.text, None, "passed"


if __name__ == "__main__":
    sys.exit(rounds.run(judge, __doc__))
