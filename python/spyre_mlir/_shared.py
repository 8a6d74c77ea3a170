# _shared.py - Which weights are the same ones
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Programs of one device hold one copy of a weight, and find it by a number. Tensors are the
# same weight if they show the same memory in the same way; whether its content has changed
# is the runtime's to see. A number lives as long as a program has it, and so does the
# memory that it stands for: nothing else can get its address.
"""Numbers of weights."""

from __future__ import annotations

import itertools
import threading
import weakref


class Identity:
    """The number of a weight. `key` 0: nobody else has it."""

    __slots__ = ("key", "storage", "__weakref__")

    def __init__(self, key: int, storage):
        self.key = key
        self.storage = storage  # alive, so that its address stays its own


_numbers = itertools.count(1)
_known: weakref.WeakValueDictionary = weakref.WeakValueDictionary()
_lock = threading.Lock()
_NOBODY = Identity(0, None)


def identity_of(tensor) -> Identity:
    """The same for tensors that show the same memory in the same way."""
    try:
        storage = tensor.untyped_storage()
        place = (
            storage._cdata,
            tensor.storage_offset(),
            tensor.dtype,
            tuple(tensor.shape),
            tensor.stride(),
            tensor.is_conj(),
            tensor.is_neg(),
        )
    except (AttributeError, NotImplementedError, RuntimeError):  # an array of NumPy, or a tensor without memory
        return _NOBODY
    with _lock:
        identity = _known.get(place)
        if identity is None:
            identity = _known[place] = Identity(next(_numbers), storage)
        return identity
