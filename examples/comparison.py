# comparison.py - How the Python examples compare with PyTorch
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The truth is the same model with the same rounded weights in float64. Errors are
# measured by the size of the result, so that they mean the same for every model:
# the device's 16-bit format has 9 bits behind the point, thus errors of some
# thousandths are its rounding.
"""Errors of compiled models, and what of them ran where."""

import copy
import textwrap

import spyre_mlir.dynamo as dynamo
import torch


def widened(value, dtype=torch.float64):
    """Floating-point tensors in `dtype`; anything else as it is."""
    if isinstance(value, torch.Tensor):
        return value.to(dtype) if value.is_floating_point() else value
    if isinstance(value, dict):
        return {key: widened(item, dtype) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(widened(item, dtype) for item in value)
    return value


def reference(model, inputs, dtype=torch.float64):
    """What the model computes in wide numbers."""
    with torch.no_grad():
        return copy.deepcopy(model).to(dtype)(*widened(inputs, dtype))


def error(got, want):
    """The largest difference, by the root mean square of what is wanted; infinite where one is not finite alone."""
    got, want = got.double(), want.double()
    finite = torch.isfinite(want) if got.shape == want.shape else None
    if finite is None or not torch.equal(torch.isfinite(got), finite):
        return float("inf")
    if not torch.equal(got[~finite].nan_to_num(0), want[~finite].nan_to_num(0)):
        return float("inf")
    if not finite.any():
        return 0.0
    difference, size = (got - want)[finite].abs().max(), want[finite].square().mean().sqrt()
    return float(difference / size) if size else float(difference)


def report(model, inputs, got, limit=0.02):
    """Prints errors and the summary of torch.compile; 0 if the error is below the limit, else 1."""
    want = reference(model, inputs)
    with torch.no_grad():
        narrow = model(*inputs)
    found = error(got, want)
    print(f"largest error {found:.2g} of the result's rms (PyTorch on the host, same types: {error(narrow, want):.2g})")
    print(dynamo.summary())
    if found > limit:
        print(f"that is more than {limit}")
    return int(found > limit)


def report_tokens(got, got_logits, wanted, wanted_logits):
    """Compares tokens, a row each of one sentence, with PyTorch's; 0 if they agree up to a tie, else 1.

    Where the two best logits are closer than the rounding of 16 bits, either may win, and what
    follows is another text.
    """
    print("tokens: " + textwrap.shorten(" ".join(map(str, got.tolist())), 90, placeholder=" ..."))
    count, equal, tie = len(wanted), 0, False
    for step in range(count):
        if got[step] == wanted[step]:
            equal += 1
            continue
        best = wanted_logits[step].float().topk(2).values.flatten()
        gap, noise = float(best[0] - best[1]), float((got_logits[step] - wanted_logits[step]).abs().max())
        tie = gap <= 2 * noise
        print(f"token {step} differs: the best logits are {gap:.4f} apart, errors up to {noise:.4f}")
        break
    print(f"{equal} of {count} tokens are PyTorch's" + (", the next is a tie" if tie else ""))
    return int(equal < count and not tie)
