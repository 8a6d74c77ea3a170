# test_collectives.py - Functional collectives of two processes
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Two processes run this file and compare compiled functions with PyTorch's: each collective,
# chained and coalesced ones, in torch.compile and spyre_mlir.compile, and arguments that are
# still under way. The test is that both find nothing wrong.
"""Collectives inside compiled functions."""

import os
import pathlib
import subprocess
import sys

import pytest

SIZE = 2


def functions(world, dist, fc, torch):
    def chained(x):
        a = fc.all_reduce(x * 2, "sum", world)
        b = fc.all_reduce(a * 0.5 + 1, "max", world)
        return fc.all_gather_tensor(b * a, 0, world) + 1

    def coalesced(x):
        a, b = fc.all_reduce_coalesced([x * 2, x + 1], "sum", world)
        return a * b

    def gathered_together(x):
        a, b = fc.all_gather_into_tensor_coalesced([x * 2, x + 1], world)
        return a * b

    def scattered_together(x):
        a, b = fc.reduce_scatter_tensor_coalesced([x * 2, x + 1], "sum", [0, 0], world)
        return a * b

    def in_place(x):
        t = x * 2
        dist.all_reduce(t)
        return t + 1

    def into_a_tensor(x):
        t = x * 2
        out = torch.empty(SIZE * t.shape[0], t.shape[1], dtype=t.dtype)
        dist.all_gather_into_tensor(out, t)
        return out * 3

    def without_a_reader(x):
        fc.all_reduce(x * 2, "sum", world)
        return x * 3

    def waited_for_by_hand(x):
        t = torch.ops._c10d_functional.all_reduce(x * 2, "sum", world.group_name)
        other = x + 1
        return torch.ops._c10d_functional.wait_tensor(t) * other

    return {
        "all_reduce": lambda x: fc.all_reduce(torch.relu(x) * 2, "sum", world) + 1,
        "of an argument": lambda x: fc.all_reduce(x, "sum", world) * x,
        "result": lambda x: fc.all_reduce(x + 1, "sum", world),
        "all_gather": lambda x: fc.all_gather_tensor(x * 2, 1, world) * 3,
        "reduce_scatter": lambda x: fc.reduce_scatter_tensor(x * 2, "sum", 0, world) + 1,
        "broadcast": lambda x: fc.broadcast(x * 2, 0, world) + 1,
        "all_to_all": lambda x: fc.all_to_all_single(x * 2, [4, 4], [4, 4], world) + 1,
        **{
            f.__name__: f
            for f in (
                chained, coalesced, gathered_together, scattered_together, in_place, into_a_tensor, without_a_reader,
                waited_for_by_hand,
            )
        },
    }  # fmt: skip


def work(rank, store):
    import spyre_mlir
    import spyre_mlir.dynamo  # noqa: F401
    import torch
    import torch.distributed as dist
    import torch.distributed._functional_collectives as fc

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=SIZE)
    world = dist.group.WORLD
    torch.manual_seed(1)
    x = (torch.randint(-8, 9, (8, 64)) / 8).half()
    mine = x * (rank + 1)
    wrong = []

    def close(what, got, want):
        if got.shape != want.shape or not (got.float() - want.float()).abs().max() <= 0.01 * want.float().abs().max():
            wrong.append(f"{what}: off by {(got.float() - want.float()).abs().max()}")

    with torch.no_grad():
        for name, function in functions(world, dist, fc, torch).items():
            want = function(mine.clone())
            torch._dynamo.reset()
            compiled = torch.compile(function, backend="spyre", fullgraph=True)
            program = spyre_mlir.compile(function, mine)
            for _ in range(2):
                close(name + ", torch.compile", compiled(mine.clone()), want)
                close(name + ", compile", program(mine.clone()), want)
        # Arguments that are under way.
        want = x * (SIZE * (SIZE + 1) // 2) * 2
        torch._dynamo.reset()
        for checked in (False, True):
            program = spyre_mlir.compile(lambda x: x * 2, mine, check=checked)
            close("wrapped argument", program(fc.all_reduce(mine, "sum", world)), want)
            raw = torch.ops._c10d_functional.all_reduce(mine, "sum", world.group_name)
            try:
                close("raw argument", program(raw), want)
                if checked:
                    wrong.append("checked mode takes an argument that nobody has waited for")
            except spyre_mlir.CheckError as error:
                if not checked or "in0" not in str(error) or "wait_tensor" not in str(error):
                    wrong.append(f"CheckError: {error}")
    dist.barrier()
    dist.destroy_process_group()
    print(*wrong, sep="\n")
    return bool(wrong)


def test_two_processes(tmp_path, environment):
    torch = pytest.importorskip("torch", reason="torch")
    pytest.importorskip("torch_mlir", reason="torch")
    assert torch.distributed.is_gloo_available()
    workers = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", __file__, str(rank), str(tmp_path / "store")],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(SIZE)
    ]
    try:
        said = [worker.communicate(timeout=300)[0] for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
    assert [worker.returncode for worker in workers] == [0] * SIZE, "\n".join(said)


if __name__ == "__main__":
    if "SPYRE_TEST_INSTALLED" not in os.environ:
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
    sys.exit(work(int(sys.argv[1]), sys.argv[2]))
