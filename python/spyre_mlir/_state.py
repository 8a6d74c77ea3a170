# _state.py - What a module or function keeps outside of parameters and buffers
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Attributes, lists, dictionaries, objects, closures and globals that a function reaches are
# walked once. Tensors there are slots: the exporter sees them as buffers, so that the program
# reads them as weights and changes of them are results of it. Everything else is part of the
# program; a call that changes it is refused by its name, since the program could not. Tracing
# runs the user's code on values that are none: what it changed is put back.
"""State in attributes, containers, closures and globals."""

from __future__ import annotations

import builtins
import collections
import contextlib
import enum
import types

import torch
from torch.utils import _pytree

from ._weights import HeldWeights
from .errors import ExecutionError, ExportError

# What torch.nn.Module keeps of its own.
_OWN = frozenset(torch.nn.Module().__dict__) - {"training"}
_LIBRARIES = frozenset(
    "torch torchvision torchaudio torch_mlir numpy spyre_mlir builtins functools typing logging threading weakref re "
    "collections.abc pathlib ctypes multiprocessing concurrent asyncio random io abc inspect ast".split()
)
_VALUES = (
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    type(None),
    enum.Enum,
    torch.dtype,
    torch.device,
    torch.layout,
    torch.Size,
)
# Larger containers are somebody's data; walks end here.
_MOST_ITEMS = 4096
_MOST_SLOTS = 4096
# Constants up to this many bytes are compared at each call.
_MOST_CONSTANT = 1 << 16


class Slot:
    """A place that holds a tensor."""

    def __init__(self, name, get, put, tensor, buffer=None):
        self.name = name
        self.buffer = buffer  # its name among the exported module's buffers
        self._get = get
        self.set = put
        self.shape, self.dtype = tensor.shape, tensor.dtype

    def get(self):
        try:
            return self._get()
        except (LookupError, AttributeError, TypeError, ValueError) as error:
            raise ExecutionError(f"'{self.name}' is gone: compile the program again") from error

    def check(self, tensor) -> None:
        """Raises if the program cannot read this tensor here."""
        if not isinstance(tensor, torch.Tensor):
            raise ExecutionError(
                f"'{self.name}' is {type(tensor).__name__} now, a tensor when the program was compiled"
            )
        if tensor.shape != self.shape or tensor.dtype is not self.dtype:
            raise ExecutionError(
                f"'{self.name}' is {tensor.dtype} {list(tensor.shape)} now; the program was compiled for "
                f"{self.dtype} {list(self.shape)}: compile it again"
            )


def _is_plain(tensor) -> bool:
    return (
        type(tensor) in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)
        and tensor.layout is torch.strided
        and tensor.device.type == "cpu"
    )


def _is_library(code) -> bool:
    """Whether a type or function is of a library without state of the user's."""
    module = str(code.__module__ or "").split(".")[0]
    if module == "builtins":  # or made by exec
        return getattr(builtins, code.__name__, None) is code
    return module in _LIBRARIES


class _Walk:
    """All that is reached from a function or module: containers, tensors, values, modules."""

    def __init__(self, root):
        self.tensors = []  # (name, get, set, tensor)
        self.values = {}  # name -> a value, or what kind and size of container stands there
        self.modules = []  # (name, module) that no other module has
        self.restores = []
        self.seen = set()
        self.deferred = []
        self.visit("", root, lambda: root, None)
        # Globals last, so that attributes give the names.
        while self.deferred:
            self.functions(*self.deferred.pop(0))

    def visit(self, name, value, get, put):
        if isinstance(value, torch.Tensor):
            self.tensors.append((name, get, put, value))
            return
        if isinstance(value, _VALUES):
            self.values[name] = value
            return
        if isinstance(value, (types.ModuleType, type)):
            return
        if id(value) in self.seen:
            return
        self.seen.add(id(value))
        if isinstance(value, torch.nn.Module):
            self.module(name, value)
        elif isinstance(value, (types.FunctionType, types.MethodType)):
            self.function(name, value)
        elif isinstance(value, dict):
            self.mapping(name, value, get)
        elif isinstance(value, (list, collections.deque)):
            self.sequence(name, value, get)
        elif isinstance(value, tuple):
            self.immutable(name, value, get, put)
        elif isinstance(value, (set, frozenset)):
            if len(value) <= _MOST_ITEMS:
                self.values[name] = ("set", frozenset(map(_key_of, value)))
                if isinstance(value, set):
                    content = set(value)
                    self.restores.append(lambda: (value.clear(), value.update(content)))
        elif type(value).__module__ == "functools" and hasattr(value, "func"):  # partial
            for part in ("func", "args", "keywords"):
                inner = getattr(value, part)
                self.visit(_join(name, part), inner, lambda inner=inner: inner, None)
        elif hasattr(value, "__dict__") and not _is_library(type(value)) and not callable_only(value):
            self.attributes(name, value, get)
            call = getattr(type(value), "__call__", None)  # noqa: B004 - its code
            if isinstance(call, types.FunctionType):
                self.deferred.append((name, call))

    def module(self, name, module):
        if not any(module is known for _, known in self.modules):
            self.modules.append((name, module))
        for path, sub in module.named_modules(prefix=name):
            self.seen.add(id(sub))
            held = {key: value for key, value in sub.__dict__.items() if key not in _OWN}
            # Which buffers and parameters there are; PyTorch's exporter follows what they hold.
            for kind in ("_buffers", "_parameters", "_modules"):
                for key, content in getattr(sub, kind).items():
                    self.values[_join(path, key)] = ("a tensor or module" if content is not None else "None",)
            self.keyed(path, sub.__dict__, held, lambda sub=sub: sub.__dict__)
            if not _is_library(type(sub)):
                self.deferred.append((path, type(sub).forward))

    def attributes(self, name, value, get):
        self.values[name] = ("object", type(value))
        self.keyed(name, value.__dict__, dict(value.__dict__), lambda: get().__dict__)

    def mapping(self, name, value, get):
        if len(value) > _MOST_ITEMS:
            return
        self.values[name] = ("dict", tuple(map(_key_of, value)))
        content = dict(value)

        def restore():
            if len(value) != len(content) or any(value.get(key, value) is not item for key, item in content.items()):
                value.clear()
                value.update(content)

        self.restores.append(restore)
        self.items(content, get, lambda key: f"{name}[{key!r}]")

    def keyed(self, name, holder, content, get):
        """Entries of an object's dictionary."""

        def restore():
            for key in [key for key in holder if key not in content and (key not in _OWN)]:
                del holder[key]
            for key, item in content.items():
                if holder.get(key, holder) is not item:
                    holder[key] = item

        self.restores.append(restore)
        self.items(content, get, lambda key: _join(name, key))

    def items(self, content, get, label):
        for key, item in content.items():
            self.visit(label(key), item, lambda key=key: get()[key], lambda new, key=key: get().__setitem__(key, new))

    def sequence(self, name, value, get):
        if len(value) > _MOST_ITEMS:
            return
        content = list(value)
        self.values[name] = (type(value).__name__, len(content))

        def restore():
            if len(value) != len(content) or any(a is not b for a, b in zip(value, content)):
                value.clear()
                value.extend(content)

        self.restores.append(restore)
        for i, item in enumerate(content):
            self.visit(f"{name}[{i}]", item, lambda i=i: get()[i], lambda new, i=i: get().__setitem__(i, new))

    def immutable(self, name, value, get, put):
        self.values[name] = (type(value).__name__, len(value))

        def put_item(i, new):
            items = list(get())
            items[i] = new
            put(type(value)(*items) if hasattr(value, "_fields") else type(value)(items))

        for i, item in enumerate(value):
            setter = None if put is None else lambda new, i=i: put_item(i, new)
            self.visit(f"{name}[{i}]", item, lambda i=i: get()[i], setter)

    def function(self, name, function):
        if isinstance(function, types.MethodType):
            owner = function.__self__
            self.visit(name or "self", owner, lambda: owner, None)
            function = function.__func__
            if not isinstance(function, types.FunctionType):
                return
        self.functions(name, function)

    def functions(self, name, function):
        """What a function's closure and the globals that it names hold."""
        function = getattr(function, "__wrapped__", function)
        if not isinstance(function, types.FunctionType) or _is_library(function):
            return
        if ("code", id(function)) in self.seen:
            return
        self.seen.add(("code", id(function)))
        for key, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            try:
                content = cell.cell_contents
            except ValueError:  # not set yet
                continue
            if isinstance(content, types.FunctionType):
                self.deferred.append((key, content))
                continue
            self.restores.append(lambda cell=cell, content=content: setattr(cell, "cell_contents", content))
            self.visit(
                key,
                content,
                lambda cell=cell: cell.cell_contents,
                lambda new, cell=cell: setattr(cell, "cell_contents", new),
            )
        space = function.__globals__
        for key in sorted(_names(function.__code__)):
            if key not in space or ("global", id(space), key) in self.seen:
                continue
            self.seen.add(("global", id(space), key))
            content = space[key]
            if isinstance(content, types.FunctionType):
                self.deferred.append((key, content))
            elif not isinstance(content, (types.ModuleType, type)):
                self.restores.append(lambda key=key, content=content: space.__setitem__(key, content))
                self.visit(key, content, lambda key=key: space[key], lambda new, key=key: space.__setitem__(key, new))

    def restore(self):
        for restore in self.restores:
            restore()


def callable_only(value) -> bool:
    """Whether it is code without state of the user's: built-in functions and the like."""
    return isinstance(value, (types.BuiltinFunctionType, types.CodeType, property, staticmethod, classmethod))


def _join(name, key) -> str:
    return f"{name}.{key}" if name else str(key)


def _key_of(key):
    return key if isinstance(key, (str, int, float, bytes, tuple, enum.Enum)) else id(key)


def _names(code) -> set:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names


def _is_equal(a, b) -> bool:
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    try:
        return bool(a == b) or (a != a and b != b)
    except Exception:  # noqa: BLE001 - of the user's own type
        return False


def _show(value) -> str:
    if isinstance(value, tuple) and value and isinstance(value[0], str):
        return " ".join(map(str, value))
    text = repr(value)
    return text if len(text) < 60 else text[:57] + "..."


def _names_of(slots) -> list[str]:
    return [slot.name for slot in slots]


def _end(tensor) -> int:
    """Elements of the tensor's memory up to its last one."""
    return tensor.storage_offset() + 1 + sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride()))


class _Wholes:
    """Tensors that others are views of: the exporter knows views of one tensor, not tensors that share memory."""

    def __init__(self, registered, tensors):
        self.whole = {}  # memory -> (name or tensor, where it begins)
        groups = {}
        named = {}
        for name, tensor in registered:
            if _is_plain(tensor) and tensor.numel():
                named.setdefault(tensor.untyped_storage()._cdata, (name, tensor))
        for tensor in {id(tensor): tensor for tensor in tensors if tensor.numel()}.values():
            groups.setdefault(tensor.untyped_storage()._cdata, []).append(tensor)
        for memory, group in groups.items():
            end = max(map(_end, group))
            if memory in named:
                name, tensor = named[memory]
                if tensor.is_contiguous() and tensor.storage_offset() == 0 and tensor.numel() >= end:
                    if all(tensor.dtype is other.dtype for other in group):
                        self.whole[memory] = name
            elif len(group) > 1 and all(tensor.dtype is group[0].dtype for tensor in group):
                self.whole[memory] = group[0].detach().as_strided((end,), (1,), 0)

    def find(self, tensor):
        """(the parameter's or buffer's name or the tensor that it is a view of, its offset), or None."""
        whole = self.whole.get(tensor.untyped_storage()._cdata) if tensor.numel() else None
        return None if whole is None else (whole, tensor.storage_offset())


class _Found:
    """What the last trace has found; no attribute of a module, which PyTorch's exporter would put back."""

    def __init__(self):
        self.replaced: list[list[Slot]] = []  # what the last results of the exported function go to
        self.moved: list[tuple] = []  # (("input", leaf) or ("weight", buffer), the places that hold it afterwards)
        self.changes: list[str] = []  # that no program can make
        self.apart: set[str] = set()  # places that hold one tensor before a call and several afterwards


class TracedState(torch.nn.Module):
    """What is exported in place of `function`: its slots are buffers, its changes of them results.

    lifts(tensor): which tensors become buffers; the others stay constants of the program.
    apart: names of places that get buffers of their own, also if they hold one tensor now.
    """

    def __init__(self, function, lifts=lambda tensor: True, apart=frozenset()):
        super().__init__()
        self._spyre_function = [function]  # a list: a submodule only as one of `modules`
        walk = _Walk(function)
        self._spyre_walk = [walk]
        for i, (_, module) in enumerate(walk.modules):
            self.add_module(f"spyre_module_{i}", module)
        self._spyre_modules = [name for name, _ in walk.modules]
        registered = {id(t): n for n, t in self._named()}
        self.slots: list[list[Slot]] = []  # of each lifted tensor all places
        self._spyre_views = []  # (slot, name of the parameter or buffer that it is or is a view of, its place in it)
        self.left: list[Slot] = []  # tensors that stay constants
        self._spyre_clones = []  # (slot, what is traced in place of a constant)
        self.constants: list[Slot] = []  # those of them that calls compare with what they were
        numbers, wholes = {}, _Wholes(self._named(), [tensor for *_, tensor in walk.tensors if _is_plain(tensor)])
        for name, get, put, tensor in walk.tensors:
            slot = Slot(name, get, put, tensor)
            if put is not None and id(tensor) in registered:
                self._spyre_views.append((slot, registered[id(tensor)], None, tensor))
            elif put is None or not _is_plain(tensor) or not lifts(tensor) or len(self.slots) >= _MOST_SLOTS:
                self.left.append(slot)
                if put is not None and _is_plain(tensor):
                    # Tracing would change the user's own tensor.
                    self._spyre_clones.append((slot, tensor.detach().clone()))
                if put is not None and _is_plain(tensor) and tensor.dtype.itemsize * tensor.numel() <= _MOST_CONSTANT:
                    self.constants.append(slot)
            elif (whole := wholes.find(tensor)) is not None:
                of, offset = whole
                if isinstance(of, torch.Tensor):  # its memory, which no slot holds as a whole
                    if id(of) not in numbers:
                        numbers[id(of)] = self._add(of, Slot(name + "'s memory", lambda of=of: of, None, of))
                    of = f"spyre_slot_{numbers[id(of)]}"
                self._spyre_views.append((slot, of, (tensor.shape, tensor.stride(), offset), tensor))
            elif id(tensor) in numbers and name not in apart:
                self.slots[numbers[id(tensor)]].append(slot)
            else:
                number = self._add(tensor.clone() if name in apart else tensor, slot)
                if name not in apart:
                    numbers[id(tensor)] = number
        self._spyre_buffers = []  # (slot, dictionary, key) of the function's own buffers
        for path, sub in self.named_modules():
            if sub is not self:
                for key, buffer in sub._buffers.items():
                    if buffer is not None:
                        name, held = _join(path, key), sub._buffers
                        put = lambda new, held=held, key=key: held.__setitem__(key, new)  # noqa: E731
                        get = lambda held=held, key=key: held[key]  # noqa: E731
                        self._spyre_buffers.append((Slot(self.original_name(name), get, put, buffer, name), held, key))
        self.found = _Found()
        self.apart = apart

    def _add(self, tensor, slot):
        number = len(self.slots)
        slot.buffer = f"spyre_slot_{number}"
        self.register_buffer(slot.buffer, tensor.detach())
        self.slots.append([slot])
        return number

    def original_name(self, name: str) -> str:
        """A parameter's or buffer's name as the user knows it."""
        first, _, rest = name.partition(".")
        if first.startswith("spyre_module_"):
            return _join(self._spyre_modules[int(first.removeprefix("spyre_module_"))], rest)
        if first.startswith("spyre_slot_"):
            return self.slots[int(first.removeprefix("spyre_slot_"))][0].name
        return name

    def slots_of(self, name: str) -> list[Slot]:
        return self.slots[int(name.removeprefix("spyre_slot_"))] if name.startswith("spyre_slot_") else []

    def forward(self, *args, **kwargs):
        (walk,) = self._spyre_walk
        walk.restore()
        buffers = [(slot, held, key, held[key]) for slot, held, key in self._spyre_buffers]
        try:
            installed = []
            for i, slots in enumerate(self.slots):
                tensor = getattr(self, f"spyre_slot_{i}")
                for slot in slots:
                    if slot.set is not None:
                        slot.set(tensor)
                        installed.append((slot, tensor))
            for slot, name, place, _ in self._spyre_views:
                module = self.get_submodule(name.rpartition(".")[0])
                tensor = getattr(module, name.rpartition(".")[2])
                tensor = tensor if place is None else tensor.as_strided(*place)
                slot.set(tensor)
                installed.append((slot, tensor))
            for slot, clone in self._spyre_clones:
                slot.set(clone)
            given = {id(leaf): ("input", n) for n, leaf in enumerate(_pytree.tree_leaves((args, kwargs)))}
            result = self._spyre_function[0](*args, **kwargs)
            return result, self._note_changes(walk, installed, buffers, given)
        finally:
            walk.restore()
            for _, held, key, buffer in buffers:
                if held.get(key) is not buffer:
                    held[key] = buffer

    def _note_changes(self, walk, installed, buffers, given):
        """New tensors of slots; what cannot be a result is in `found.changes`."""
        now = _Walk(self._spyre_function[0])
        found = self.found
        found.__init__()
        tensors = {name: tensor for name, _, _, tensor in now.tensors}
        known = {name for name, *_ in walk.tensors}
        for name, before in walk.values.items():
            if name in now.values:
                if not _is_equal(before, now.values[name]):
                    found.changes.append(f"'{name}' from {_show(before)} to {_show(now.values[name])}")
            elif name in tensors:
                found.changes.append(f"'{name}' from {_show(before)} to a tensor")
            else:
                found.changes.append(f"'{name}' from {_show(before)} to something else")
        for name in now.values.keys() - walk.values.keys():
            if name not in known:
                found.changes.append(f"'{name}', which was not there, to {_show(now.values[name])}")
        for name in tensors.keys() - known - walk.values.keys():
            found.changes.append(f"'{name}', which was not there, to a tensor")
        results, groups = [], {}
        for slot, tensor in [*installed, *((slot, buffer) for slot, _, _, buffer in buffers)]:
            if slot.buffer is not None:
                given.setdefault(id(tensor), ("weight", slot.buffer))

        def replace(slot, value):
            if value.shape != slot.shape or value.dtype is not slot.dtype:
                found.changes.append(
                    f"'{slot.name}' from {slot.dtype} {list(slot.shape)} to {value.dtype} {list(value.shape)}"
                )
            elif id(value) in groups:  # one tensor in several places
                groups[id(value)].append(slot)
            elif id(value) in given:  # of an argument or of other state
                groups[id(value)] = [slot]
                found.moved.append((given[id(value)], groups[id(value)]))
            else:
                groups[id(value)] = [slot]
                found.replaced.append(groups[id(value)])
                results.append(value)

        for slot, held, key, buffer in buffers:
            value = held.get(key)
            if value is not buffer and value is not None:  # of None is said above
                replace(slot, value)
        by_name = {slot.name: tensor for slot, tensor in installed}
        views = {slot.name for slot, *_ in self._spyre_views}
        originals = {name: tensor for name, _, _, tensor in walk.tensors}
        originals.update({slot.name: clone for slot, clone in self._spyre_clones})
        for slot in [slot for slot, _ in installed] + self.left:
            value = tensors.get(slot.name)
            if value is None:
                found.changes.append(f"'{slot.name}' from a tensor to {_show(now.values.get(slot.name))}")
            elif slot.name in by_name:
                if value is not by_name[slot.name] and slot.name in views:
                    found.changes.append(f"'{slot.name}', a view of other state, to another tensor")
                elif value is not by_name[slot.name]:
                    replace(slot, value)
            elif value is not originals[slot.name]:
                found.changes.append(f"'{slot.name}', of which tracing needs the values, to another tensor")
        new = [*found.replaced, *(slots for _, slots in found.moved)]
        done = {slot.name for slots in new for slot in slots}
        for slots in self.slots:
            names = {slot.name for slot in slots}
            if names & done and (
                len(names & done) < len(names) or not any(names <= set(_names_of(slots)) for slots in new)
            ):
                found.apart |= names
        return results

    def hold(self, names, places, written) -> HeldWeights:
        """What gives these parameters and buffers at each call. places: slots that get new tensors."""
        all_names = {}
        for name, tensor in self._named():
            all_names.setdefault(id(tensor), []).append(name)
        own = dict(self._named())
        slots = {i: self.slots_of(name) for i, name in enumerate(names) if self.slots_of(name)}
        held = [[] if i in slots else all_names[id(own[name])] for i, name in enumerate(names)]
        ties = [
            (slot, tensor, own[name], names.index(name) if name in names else None)
            for slot, name, _, tensor in self._spyre_views
        ]
        return HeldWeights(self, held, slots, places, self.original_name, ties, self.constants, written)

    def _named(self):
        yield from self.named_parameters(remove_duplicate=False)
        yield from self.named_buffers(remove_duplicate=False)

    def check_buffer(self, name, node) -> None:
        """Raises ExportError if a call makes something else of a buffer."""
        before, after = dict(self._named())[name], node.meta["val"]
        if before.shape != after.shape or before.dtype is not after.dtype:
            raise ExportError(
                f"a call changes '{self.original_name(name)}' from {before.dtype} {list(before.shape)} to "
                f"{after.dtype} {list(after.shape)}; a program has buffers of one shape and type"
            )

    def check_apart(self, written) -> None:
        """Raises ExportError if one tensor of several places is changed in place and replaced in some of them."""
        for name in written:
            for slot in self.slots_of(name):
                if slot.name in self.apart:
                    raise ExportError(
                        f"a call changes '{slot.name}' in place, which holds one tensor with other places before the call "
                        "and not afterwards"
                    )

    def check(self) -> None:
        """Raises ExportError if a call changes what a program cannot."""
        if self.found.changes:
            raise ExportError(
                "a call changes what is part of the program: "
                + "; ".join(self.found.changes[:8])
                + ". Keep it in a buffer of one shape and type, or use torch.compile(backend='spyre'); what only "
                "the first call does is done if the module is called once before it is compiled"
            )


@contextlib.contextmanager
def kept(function):
    """Whatever is done meanwhile, what `function` reaches holds afterwards what it holds now."""
    walk = _Walk(function)
    modules = [sub for _, module in walk.modules for sub in module.modules()]
    entries = [
        (held, dict(held)) for module in modules for held in (module._parameters, module._buffers, module._modules)
    ]
    try:
        yield
    finally:
        walk.restore()
        for held, content in entries:
            if len(held) != len(content) or any(held.get(k) is not v for k, v in content.items()):
                held.clear()
                held.update(content)
