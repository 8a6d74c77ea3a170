#!/usr/bin/env python3
# torch_processes.py - Random functions with collectives between two processes
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Two processes (gloo) make the same function of a seed: products and pointwise operations
# mixed with functional collectives, coalesced and chained ones, collectives in place, and
# results that nobody reads; their arguments differ, and some are still under way when the
# function is called. Compiled by torch.compile and spyre_mlir.compile, it must give what it
# gives in PyTorch. Each process prints a line for each case; a case passes if both agree.
"""Fuzz test of collectives inside compiled functions."""

import argparse
import collections
import os
import random
import subprocess
import sys
import tempfile
import time
import traceback
import types

import rounds
import torch

SIZE = 2
TEXT = """import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as fc


def function(x, z, W):
    {lines}
"""
COMPUTE = [
    "{t} = {a} + {b}", "{t} = {a} * 0.5", "{t} = torch.relu({a}) + 0.25", "{t} = torch.tanh({a})", "{t} = {a} * {b}.sigmoid()",
    "{t} = torch.maximum({a}, {b})", "{t} = {a} @ {b}.t() @ {a} / 64", "{t} = torch.softmax({a}, -1)", "{t} = {a}.flip(0)",
    "{t} = {a} - {b}.mean(0, keepdim=True)",
]  # fmt: skip
EXCHANGE = [
    "{t} = fc.all_reduce({a}, {op}, W) * 0.5", "{t} = fc.all_gather_tensor({a}, 0, W)[4:12]", "{t} = fc.all_gather_tensor({a}, 1, W)[:, 8:72]",
    "{t} = fc.reduce_scatter_tensor(torch.cat([{a}, {b}]), {op}, 0, W) * 0.5", "{t} = fc.reduce_scatter_tensor(torch.cat([{a}, {b}], 1), 'sum', 1, W) * 0.5",
    "{t} = fc.broadcast({a}, {src}, W)", "{t} = fc.all_to_all_single({a}, [4, 4], [4, 4], W)",
    "{t}, u = fc.all_reduce_coalesced([{a}, {b}], {op}, W); {t} = ({t} - u) * 0.5", "{t}, u = fc.all_gather_into_tensor_coalesced([{a}, {b}], W); {t} = {t}[8:] + u[:8]",
    "{t} = {a} * 1; dist.all_reduce({t}); {t} = {t} * 0.5", "{t} = {a} + 0; dist.broadcast({t}, {src})",
    "{t} = torch.empty(16, 64, dtype={a}.dtype); dist.all_gather_into_tensor({t}, {a} * 1); {t} = {t}[:8] + {t}[8:]",
    "u = torch.ops._c10d_functional.all_reduce({a}, {op}, W.group_name); {t} = {b} * 0.5; {t} = torch.ops._c10d_functional.wait_tensor(u) * 0.5 - {t}",
    "fc.all_reduce({a}, 'sum', W); {t} = {b} * 0.5", "{t} = fc.all_reduce(fc.all_reduce({a}, 'sum', W) * 0.25, {op}, W)",
]  # fmt: skip


def write(seed):
    rng = random.Random(seed)
    names, lines = ["x", "z"], []
    for n in range(rng.randint(2, 7)):
        line = rng.choice(EXCHANGE if rng.random() < 0.5 or n == 0 else COMPUTE)
        name = f"v{n}"
        made = {"t": name, "a": rng.choice(names[-3:]), "b": rng.choice(names), "op": rng.choice(["'sum'", "'max'", "'min'"]), "src": rng.randrange(SIZE)}  # fmt: skip
        lines += line.format(**made).split("; ")
        names.append(name)
    results = sorted({names[-1], rng.choice(names[2:])})
    lines.append(f"return {', '.join(results)}")
    return TEXT.replace("{lines}", "\n    ".join(lines)), rng


def judge(seed, rank, world):
    import spyre_mlir
    import torch.distributed._functional_collectives as fc

    text, rng = write(seed)
    module = sys.modules["fuzzed"] = types.ModuleType("fuzzed")  # where Dynamo looks for globals
    exec(compile(text, "<program>", "exec"), module.__dict__)
    dtype = rng.choice([torch.float16, torch.float32, torch.bfloat16])
    direct, mode = rng.random() < 0.4, rng.choice([torch.no_grad, torch.inference_mode])
    pending = rng.choice(["", "", "", "wrapped", "raw"])
    g = torch.Generator().manual_seed(seed * SIZE + rank)
    arguments = [(torch.randint(-16, 17, (8, 64), generator=g) / 16).to(dtype) for _ in range(2)]

    def given():
        x, z = (argument.clone() for argument in arguments)
        if pending == "wrapped":
            x = fc.all_reduce(x, "sum", world)
        elif pending == "raw":
            x = torch.ops._c10d_functional.all_reduce(x, "sum", world.group_name)
        return x, z

    torch._dynamo.reset()
    function = lambda x, z: module.function(x, z, world)  # noqa: E731
    with mode():
        x, z = given()
        want = function(torch.ops._c10d_functional.wait_tensor(x) if pending == "raw" else x, z)
        f = spyre_mlir.compile(function, *arguments, threads=1) if direct else torch.compile(function, backend="spyre", options={"threads": 1})  # fmt: skip
        for _ in range(2):
            got = f(*given())
            rounds.compare(
                f"{'spyre_mlir.compile' if direct else 'torch.compile'}, {dtype}, {pending}: result", got, want
            )


def work(options):
    import datetime

    import spyre_mlir
    import spyre_mlir.dynamo  # noqa: F401
    import torch.distributed as dist

    rounds.quiet()
    dist.init_process_group(
        "gloo", init_method=f"file://{options.store}", rank=options.rank, world_size=SIZE, timeout=datetime.timedelta(seconds=120)
    )  # fmt: skip
    for seed in range(options.seed, options.seed + options.count):
        # All processes go on, or none does.
        late = torch.tensor(float(bool(options.seconds) and time.time() > options.until))
        dist.all_reduce(late)
        if late:
            break
        said = "passed"
        try:
            judge(seed, options.rank, dist.group.WORLD)
        except rounds.Difference as error:
            said = f"failed {error}"
        except spyre_mlir.ExportError:  # in all processes
            said = "refused"
        except Exception:  # noqa: BLE001 - the other process may wait for this one: it ends
            said = "failed " + traceback.format_exc()[-1200:].replace("\n", " | ")
            print(f"{seed} {said}", flush=True)
            os._exit(1)
        print(f"{seed} {said}", flush=True)
        dist.barrier()
    dist.destroy_process_group()


def main():
    parser = rounds.parser(__doc__)
    for name in ("--rank", "--store", "--until"):
        parser.add_argument(name, type={"--rank": int, "--until": float}.get(name, str), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rank is not None:
        return work(options)
    outcomes, began, first = collections.Counter(), time.monotonic(), options.seed
    end = options.seed + options.count
    while first < end:
        with tempfile.TemporaryDirectory() as folder:
            left = max(options.seconds - (time.monotonic() - began), 0.1) if options.seconds else 0
            command = [sys.executable, "-W", "ignore", __file__, "--seed", str(first), "--count", str(end - first), "--seconds", str(left)]  # fmt: skip
            command += ["--store", os.path.join(folder, "store"), "--until", str(time.time() + left)]
            workers = [
                subprocess.Popen([*command, "--rank", str(rank)], stdout=subprocess.PIPE, text=True)
                for rank in range(SIZE)
            ]
            lines = [worker.communicate()[0].splitlines() for worker in workers]
        done = {}
        for rank, said in enumerate(lines):
            for line in said:
                seed, _, outcome = line.partition(" ")
                if seed.isdigit():
                    done.setdefault(int(seed), {})[rank] = outcome
        for seed, by_rank in sorted(done.items()):
            good = len(by_rank) == SIZE and all(outcome == "passed" for outcome in by_rank.values())
            if set(by_rank.values()) == {"refused"}:
                outcomes["refused by PyTorch's exporter"] += 1
                continue
            outcomes["passed" if good else "failed"] += 1
            if not good:
                print(f"# --- seed {seed}: {by_rank}\n{write(seed)[0]}", flush=True)
            elif options.print:
                print(write(seed)[0])
        if all(worker.returncode == 0 for worker in workers):
            break
        if not done:
            outcomes["failed"] += 1
            break
        first = max(done) + 1
    return rounds.close(outcomes, began)


if __name__ == "__main__":
    sys.exit(main())
