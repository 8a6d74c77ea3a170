# opinfos.py - PyTorch's operator database as calls
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# PyTorch's own tests draw their inputs from a database: for each operation a
# generator of samples. Here a sample becomes a Call: its tensors are the arguments
# of a module that closes over everything else. Float inputs are rounded to what the
# device's format of their dtype holds; then PyTorch's results are computed, and
# those in float64. All of it runs in worker processes, for the generators take
# minutes or crash for some operations.
"""Samples of torch.testing's OpInfo database as modules and inputs."""

import functools
import itertools
import random
import sys
import types
import unittest
import warnings

import numpy as np
import torch
from torch.utils import _pytree

from . import formats, opcalls
from .opcalls import DTYPES, Skip, Unclear

LOOKED_AT = 12  # samples of which some are chosen: generators may give thousands
NAMED = {**DTYPES, "bool": torch.bool}
BITS = {torch.float16: 10, torch.bfloat16: 8}  # of a significand that the device's format holds


@functools.cache
def database():
    """Name -> OpInfo."""
    try:
        import expecttest  # noqa: F401
    except ImportError:  # PyTorch's test classes need it, the database does not
        stand_in = types.ModuleType("expecttest")
        stand_in.TestCase = unittest.TestCase
        sys.modules["expecttest"] = stand_in
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    return {info.full_name: info for info in op_db}


def names(dtype):
    """Operations that PyTorch has for a dtype on the CPU."""
    return [name for name, info in database().items() if NAMED[dtype] in info.supported_dtypes("cpu")]


def samples(name, dtype, seed):
    """The first samples of an operation; the same ones in each process."""
    number = opcalls.seed_of(f"{name}/{dtype}", seed) % 2**31
    random.seed(number)
    np.random.seed(number)
    torch.manual_seed(number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from itertools.islice(database()[name].sample_inputs("cpu", NAMED[dtype]), LOOKED_AT)


def choose(name, dtype, seed, count):
    """Numbers of `count` of the samples, or the text of what the generator raises."""
    try:
        there = sum(1 for _ in samples(name, dtype, seed))
    except Exception as error:  # noqa: BLE001 - whatever a generator raises
        return f"{type(error).__name__}: {error}".splitlines()[0]
    rng = random.Random(f"{seed}:{name}/{dtype}")
    return sorted(rng.sample(range(there), min(count, there)))


class Module(torch.nn.Module):
    """An operation on a sample whose tensors are arguments. `wide`: float dtypes become float64."""

    def __init__(self, function, leaves, spec, places, wide=False):
        super().__init__()
        self.function, self.leaves, self.spec, self.places = function, leaves, spec, places
        if wide:
            is_float = lambda leaf: isinstance(leaf, torch.dtype) and leaf.is_floating_point
            self.leaves = [torch.float64 if is_float(leaf) else leaf for leaf in leaves]
        self.copies = False

    def forward(self, *arguments):
        leaves = list(self.leaves)
        for place, argument in zip(self.places, arguments):
            leaves[place] = argument.clone() if self.copies else argument
        first, args, kwargs = _pytree.tree_unflatten(leaves, self.spec)
        return tuple(tensors_of(self.function(first, *args, **kwargs)))


def tensors_of(result):
    leaves = [leaf for leaf in _pytree.tree_leaves(result) if leaf is not None]
    if not leaves or not all(isinstance(leaf, torch.Tensor) for leaf in leaves):
        kinds = sorted({type(leaf).__name__ for leaf in leaves if not isinstance(leaf, torch.Tensor)})
        raise Skip("no-tensor", f"it gives {', '.join(kinds) or 'nothing'}")
    check_dense(leaves)
    return leaves


def check_dense(tensors):
    for tensor in tensors:
        if tensor.layout != torch.strided or tensor.is_nested:
            raise Skip("no-dense-tensor", str(tensor.layout).removeprefix("torch."))


def rounded(tensor, scale):
    """A tensor as the device's format of its dtype holds it, contiguous; floats scaled by a power of two."""
    tensor = tensor.detach().resolve_conj().resolve_neg().contiguous()
    if not tensor.is_floating_point():
        return tensor
    if tensor.dtype not in BITS:
        return tensor * scale
    values = formats.few_bits(tensor.double().numpy(), BITS[tensor.dtype]) * scale
    if tensor.dtype == torch.float16:
        values = formats.without_subnormals(values)
    return torch.from_numpy(np.asarray(values)).to(tensor.dtype)


class Call:
    """A sample as a module with its arguments; as opcalls.Call."""

    def __init__(self, function, leaves, spec, scale):
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        tensors = [leaves[i] for i in places]
        check_dense(tensors)
        self.arguments = [rounded(tensor, scale) for tensor in tensors]
        rest = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        self.make = lambda wide=False: Module(function, rest, spec, places, wide).eval()
        self.module = self.make()

    def wide(self):
        widened = []
        for x in self.arguments:
            kind = torch.float64 if x.is_floating_point() else torch.complex128 if x.is_complex() else x.dtype
            widened.append(x.to(kind))
        return self.make(wide=True), widened

    def text(self):
        return opcalls.text_of(self.module, self.arguments)


def build(name, dtype, number, seed, scale=1.0, max_elements=0):
    """The Call of a sample."""
    sample = next(itertools.islice(samples(name, dtype, seed), number, None), None)
    if sample is None:
        raise Unclear(f"there is no sample {number}")
    leaves, spec = _pytree.tree_flatten((sample.input, tuple(sample.args), dict(sample.kwargs)))
    size = max((leaf.numel() for leaf in leaves if isinstance(leaf, torch.Tensor)), default=0)
    if max_elements and size > max_elements:
        raise Skip("too-large", f"{size} elements")
    return Call(database()[name].get_op(), leaves, spec, scale)
