# _compiler.pyi - Types of the native module of the compiler
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What python/native/Compiler.cpp defines.
from collections.abc import Mapping, Sequence
from typing import TypedDict

class Message(TypedDict):
    severity: str
    message: str
    places: list[tuple[str, int, int]]
    notes: list[Message]

def compile(
    text: str,
    name: str,
    directory: str,
    *,
    opt_level: int = 2,
    cores: int = 0,
    device: str = "spyre",
    target: str = "superdsc",
    form: str = "2026-08",
    weights: Sequence[int] = (),
    input_shapes: Sequence[Sequence[int]] = (),
    pretty: bool = False,
    report: str = "",
    dump_stages: str = "",
    host: str = "table",
    exact_arguments: bool = True,
    exact_results: bool = False,
    moves_on_host: bool = False,
    plan_kind: str = "best",
    rates: Mapping[str, float] = ...,
    plan: str = "",
    save_plan: str = "",
    plan_seconds: float = 0.0,
) -> tuple[bool, list[Message], str]: ...
