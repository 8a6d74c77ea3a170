# _collectives.py - Tensors whose values other processes are still sending
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# PyTorch's functional collectives return tensors at once; PyTorch knows by the tensor's
# memory which work is to be waited for. A program copies what it takes and gives, so that
# nothing of it may be under way: operations of these namespaces run between programs where
# a graph can be cut, and are waited for where they are host calls; a call's arguments are
# waited for before a byte is read.
"""Functional collectives."""

from __future__ import annotations

import sys

from .errors import CheckError, Report

_NAMESPACES = frozenset("c10d c10d_functional _c10d_functional _c10d_functional_autograd symm_mem _dtensor".split())


def is_collective(target) -> bool:
    """Whether an operator's work may go on after it has returned."""
    return getattr(target, "namespace", None) in _NAMESPACES


def wait_for(torch, tensor):
    """The tensor, once its values are there."""
    return torch.ops._c10d_functional.wait_tensor(tensor)


def is_pending() -> bool:
    """Whether any collective of this process has not been waited for."""
    native = sys.modules.get("torch._C._distributed_c10d")
    return native is not None and native._get_work_registry_size() > 0


def settle(torch, names, tensors, checked):
    """The arguments of a call with their values there. checked: those that nobody has waited for are a CheckError."""
    from torch._C import _distributed_c10d as native

    settled, reports = [], []
    for name, tensor in zip(names, tensors):
        # A wrapper waits when it is read, which is what a program does.
        if isinstance(tensor, torch.Tensor) and not hasattr(tensor, "trigger_wait"):
            if tensor.is_cpu:
                before = native._get_work_registry_size()
                tensor = wait_for(torch, tensor)
                if checked and native._get_work_registry_size() < before:
                    reports.append(
                        Report(
                            "unwaited work", "call", name, -1, 0,
                            f"argument {name} is the result of a collective that nobody has waited for (wait_tensor)",
                        )
                    )  # fmt: skip
        settled.append(tensor)
    if reports:
        raise CheckError(reports, len(reports))
    return settled
