# _runtime.pyi - Types of the native module of running programs
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What python/native/Runtime.cpp defines.
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

import numpy as np

class ArrayEntry(TypedDict):
    name: str
    dtype: str
    shape: tuple[int, ...]

def parse_rates(text: str, source: str, device: str = "spyre") -> dict[str, float]: ...

class Device:
    def __init__(
        self,
        name: str = "spyre",
        *,
        checked: bool = False,
        count_only: bool = False,
        threads: int = 0,
        seed: int = 0,
    ) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def num_cores(self) -> int: ...
    @property
    def memory_bytes(self) -> int: ...
    @property
    def checked(self) -> bool: ...
    @property
    def count_only(self) -> bool: ...
    def counters(self) -> dict[str, float]: ...

class Checksums:
    def __init__(self, samples: int = 0) -> None: ...
    def set(self, index: int, address: int, size: int) -> None: ...
    def changed(self) -> list[int]: ...

class Program:
    def __init__(
        self,
        directory: str,
        device: Device,
        host: Callable[[str, list, list], None] | None = None,
        rates: Mapping[str, float] = ...,
    ) -> None: ...
    @property
    def host_calls(self) -> dict[str, int]: ...
    @property
    def host_reasons(self) -> list[tuple[str, str, str]]: ...
    @property
    def arguments(self) -> list[ArrayEntry]: ...
    @property
    def results(self) -> list[ArrayEntry]: ...
    def bind(self, index: int, array: Any) -> None: ...
    def run(self, inputs: Sequence[Any]) -> list[np.ndarray]: ...
