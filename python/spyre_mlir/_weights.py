# _weights.py - Whether the device's copies of weights are what the weights are
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A weight is copied to the device once, and again before the first call after it has
# changed. Another tensor, another address, layout or version are seen at once. PyTorch
# counts no versions of writes through `.data`, of NumPy arrays that share the memory and
# of tensors of inference mode: for these the bytes are summed before each call, at the
# speed of memory. What holds the weights (modules, lists, closures) is asked at each call,
# so that replaced ones are seen, too.
"""Weights that change."""

from __future__ import annotations

import sys
import weakref

from .errors import ExecutionError

# What "sampled" looks at: words of eight bytes, spread over a weight.
SAMPLES = 64


class _Copied:
    """A weight as it was when it was copied to the device."""

    __slots__ = ("tensor", "memory", "address", "version", "shape", "dtype", "stride")

    def __init__(self, tensor):
        self.tensor = tensor
        # Keeps the memory: its address is nobody else's, and may be read, until it is replaced here.
        self.memory = tensor.detach()
        self.address = tensor.data_ptr()
        self.version = None if tensor.is_inference() else tensor._version
        self.shape = tensor.shape
        self.dtype = tensor.dtype
        self.stride = None if tensor.is_contiguous() else tensor.stride()

    def is_other(self, tensor) -> bool:
        """Whether PyTorch knows of a change."""
        return (
            tensor is not self.tensor
            or tensor.data_ptr() != self.address
            or (self.version is not None and tensor._version != self.version)
            or tensor.shape != self.shape
            or tensor.dtype is not self.dtype
            or (not tensor.is_contiguous() if self.stride is None else tensor.stride() != self.stride)
        )


def _extent(tensor) -> int:
    """Bytes from the first element to the last, whatever lies between them."""
    if tensor.numel() == 0:
        return 0
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    return (last + 1) * tensor.element_size()


class WeightTracker:
    """Copies the weights of one program to the device. Calls take turns.

    bind(index, tensor) copies one; guard: how changes that PyTorch does not count are found (Options.weights).
    """

    def __init__(self, bind, guard: str):
        # A program has its tracker: without a cycle it goes, and its memory, when nobody has it any more.
        self._bind = weakref.WeakMethod(bind) if hasattr(bind, "__self__") else lambda: bind
        self._copied: list[_Copied | None] = []
        self._sums = None
        if guard != "versions":
            from . import _runtime

            self._sums = _runtime.Checksums(SAMPLES if guard == "sampled" else 0)

    def copy_all(self, tensors) -> None:
        self._copied = [None] * len(tensors)
        for index, tensor in enumerate(tensors):
            self._copy(index, tensor)

    def copy_changed(self, tensors) -> None:
        """Copies those of `tensors` that are not what was copied last."""
        changed = [
            index
            for index, (tensor, copied) in enumerate(zip(tensors, self._copied))
            if copied is None or copied.is_other(tensor)
        ]
        if self._sums is not None:
            for index in changed:  # the memory may be gone, and is not looked at twice
                self._sums.set(index, 0, 0)
            changed += self._sums.changed()
        for index in changed:
            self._copy(index, tensors[index])

    def forget(self) -> None:
        """All weights are copied again before the next call."""
        self._copied = [None] * len(self._copied)

    def _copy(self, index, tensor):
        # A call that fails has copied nothing, and a write meanwhile must be seen: the sum is taken first.
        self._copied[index] = None
        copied = _Copied(tensor)
        if self._sums is not None:
            self._sums.set(index, copied.address, _extent(tensor))
        self._bind()(index, tensor)
        self._copied[index] = copied


class FixedWeights:
    """Weights that no module holds: those of a loaded program, or what the caller gives each time."""

    def __init__(self, tensors):
        self._tensors = list(tensors)

    def give(self, tensors) -> None:
        self._tensors = list(tensors)

    def tensors(self) -> list:
        return self._tensors

    def put(self, weights, slot, tensor) -> None:
        """A call has made another tensor of these weights (None: one that nobody reads)."""
        for index in weights:
            if index is not None:
                self._tensors[index] = tensor


class HeldWeights:
    """Weights where a module has them: parameters and buffers by name, anything else as slots.

    names: of each weight all names under which the module has the same tensor.
    slots: position -> places (_state.Slot) that hold the same tensor, for weights that are no parameters.
    places: of each tensor that a call makes anew the places that hold it from then on.
    ties: (slot, its tensor, the weight's tensor that it is or is a view of, number of that weight).
    constants: slots whose tensors are part of the program.
    written: numbers of weights that a call changes in place.
    """

    def __init__(self, root, names, slots, places, show, ties=(), constants=(), written=()):
        self._root = root
        self._show = show  # a name as the user knows it
        self._places = places
        self._names = names
        self._slots = [(index, slot) for index, places in slots.items() for slot in places]
        self._tensors = [None] * len(names)
        for index, slot in self._slots:
            self._tensors[index] = slot.get()
        self._specs = [None] * len(names)
        self._ties = [
            (slot, tensor if tensor is not whole else None, tensor.data_ptr() - whole.data_ptr(), whole, index)
            for slot, tensor, whole, index in ties
        ]
        self._constants = [(slot, slot.get().clone()) for slot in constants]
        self._resolve()
        self._specs = [(tensor.shape, tensor.dtype) for tensor in self._tensors]
        self._written = sorted(written) if self._slots else []
        self._shared = self._find_shared()

    def _find(self, name):
        """(dictionaries on the way to the tensor with key and content, the tensor)."""
        module, way = self._root, []
        *path, last = name.split(".")
        for part in path:
            following = module._modules.get(part)
            if following is None:
                raise ExecutionError(f"'{self._show(name)}' is gone from the module: compile it again")
            way.append((module._modules, part, following))
            module = following
        for holder in (module._parameters, module._buffers):
            if holder.get(last) is not None:
                way.append((holder, last, holder[last]))
                return way, holder[last]
        raise ExecutionError(f"'{self._show(name)}' is gone from the module: compile it again")

    def _resolve(self):
        ways = {}
        for index, names in enumerate(self._names):
            found = []
            for name in names:
                way, tensor = self._find(name)
                ways.update({(id(holder), key): (holder, key, content) for holder, key, content in way})
                found.append(tensor)
            if any(tensor is not found[0] for tensor in found):
                raise ExecutionError(
                    f"{' and '.join(repr(self._show(name)) for name in names)} were one tensor when the program was compiled and are two now: "
                    "compile it again"
                )
            if found:
                spec = self._specs[index]
                if spec is not None and (found[0].shape, found[0].dtype) != spec:
                    raise ExecutionError(
                        f"'{self._show(names[0])}' is {found[0].dtype} {list(found[0].shape)} now; the program was compiled for "
                        f"{spec[1]} {list(spec[0])}: compile it again"
                    )
                self._tensors[index] = found[0]
        self._ways = list(ways.values())

    def _find_shared(self) -> set:
        """Pairs of weights that share memory, of which a call changes the first in place."""
        memory = [tensor.untyped_storage()._cdata for tensor in self._tensors]
        return {(i, k) for i in self._written for k, other in enumerate(memory) if k != i and other == memory[i]}

    def _name(self, index) -> str:
        names = self._names[index]
        return self._show(names[0]) if names else next(slot.name for i, slot in self._slots if i == index)

    def tensors(self) -> list:
        for holder, key, content in self._ways:
            if holder.get(key) is not content:
                self._resolve()
                break
        seen = {}
        for index, slot in self._slots:
            tensor = slot.get()
            if tensor is not self._tensors[index]:
                slot.check(tensor)
                self._tensors[index] = tensor
            if seen.setdefault(index, tensor) is not tensor:
                raise ExecutionError(
                    f"'{slot.name}' and another place held one tensor when the program was compiled and hold two now: "
                    "compile it again"
                )
        for slot, tensor, distance, whole, index in self._ties:
            now, whole = slot.get(), whole if index is None else self._tensors[index]
            if now is not (whole if tensor is None else tensor) or now.data_ptr() - whole.data_ptr() != distance:
                raise ExecutionError(
                    f"'{slot.name}' shared memory with other state when the program was compiled and does not now: "
                    "compile it again"
                )
        if self._written and self._find_shared() - self._shared:
            a, b = min(self._find_shared() - self._shared)
            raise ExecutionError(
                f"'{self._name(a)}', which a call changes in place, and '{self._name(b)}' share memory now and did not "
                "when the program was compiled: compile it again"
            )
        for slot, content in self._constants:
            now = slot.get()
            slot.check(now)
            if not sys.modules["torch"].equal(now, content):
                raise ExecutionError(f"'{slot.name}', which is part of the program, has changed: compile it again")
        return self._tensors

    def put(self, weights, slot, tensor) -> None:
        """A call has made another tensor, for the places that changes number `slot` has."""
        for place in self._places[slot]:
            place.set(tensor)
