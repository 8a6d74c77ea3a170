# test_host.py - Operations on the host compute what PyTorch computes
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every entry of lib/Host's table runs, through the program host-eval, on samples that
# PyTorch runs as well: all element types, odd shapes, NaN and infinities, negative dims,
# empty tensors. The calls are listed in lib/hostcalls.py.
"""lib/Host against PyTorch."""

import json
import subprocess
import warnings

import pytest
from lib.built import BUILD

from lib import harness

torch = pytest.importorskip("torch", reason=harness.skip_reasons()["no-torch"])

from lib.tensors import name_of  # noqa: E402

from lib import hostcalls, hostcalls_elementwise, hostcalls_layers, hostcalls_shapes  # noqa: E402, F401

# Relative and absolute: a few units in the last place of what PyTorch computes in.
TOLERANCE = {
    torch.float16: (3e-3, 2e-3),
    torch.bfloat16: (2e-2, 2e-2),
    torch.float32: (3e-5, 3e-5),
    torch.float64: (1e-9, 1e-9),
    torch.complex64: (1e-4, 1e-4),
    torch.complex128: (1e-9, 1e-9),
}


class Program:
    """A running host-eval."""

    def __init__(self):
        path = BUILD / "unittests" / "host-eval"
        if not path.exists():
            pytest.fail("host-eval is not built: run utils/check.sh, or set SPYRE_BUILD")
        listed = subprocess.run([path, "--list"], capture_output=True, text=True, check=True)
        self.names = listed.stdout.split()
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def call(self, function, arguments, results):
        """Result tensors, or the reason for refusing. A result's kind is None if it is not wanted."""
        types = [kind and {"dtype": name_of(kind[0]), "shape": list(kind[1])} for kind in results]
        line = json.dumps({"function": function, "arguments": arguments, "results": types}, allow_nan=False)
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "refused" in answer:
            return answer["refused"]
        return [kind and from_bytes(text, *kind) for text, kind in zip(answer["results"], results, strict=True)]


def from_bytes(text, dtype, shape):
    data = bytearray.fromhex(text)
    if not data:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(data, dtype=dtype).reshape(shape)


def encode(value):
    if isinstance(value, torch.Tensor):
        value = value.detach().resolve_conj().resolve_neg().contiguous()
        data = value.reshape(-1).view(torch.uint8).numpy().tobytes() if value.numel() else b""
        return {"dtype": name_of(value.dtype), "shape": list(value.shape), "bytes": data.hex()}
    if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))):
        return {"float": str(value)}
    if isinstance(value, (list, tuple)):
        return [encode(element) for element in value]
    if isinstance(value, torch.dtype):
        return 6  # the results' types say it
    if isinstance(value, (torch.device, torch.layout, torch.memory_format)):
        return None
    return value


def positional(op, args, kwargs):
    """All arguments of the schema in its order, as torch-mlir writes them."""
    values = []
    for i, parameter in enumerate(op._schema.arguments):
        if i < len(args):
            values.append(args[i])
        elif parameter.name in kwargs:
            values.append(kwargs[parameter.name])
        else:
            values.append(parameter.default_value)
    return [encode(value) for value in values]


def as_tensor(value):
    if isinstance(value, torch.Tensor):
        return value
    dtype = {bool: torch.bool, int: torch.int64, float: torch.float64}[type(value)]
    return torch.tensor(value, dtype=dtype)


@pytest.fixture(scope="module")
def program():
    running = Program()
    yield running
    running.process.stdin.close()
    running.process.wait()


def compare(sample, wanted, got):
    for i, (left, right) in enumerate(zip(wanted, got, strict=True)):
        assert left.shape == right.shape
        if sample.check:
            sample.check(i, left, right)
            continue
        rtol, atol = TOLERANCE.get(left.dtype, (0, 0))
        factor = sample.tolerance
        if left.dtype.itemsize == 1 and left.dtype.is_floating_point:
            left, right = left.float(), right.float()
        torch.testing.assert_close(
            right, left, rtol=rtol * factor, atol=atol * factor, equal_nan=True, check_dtype=True, check_stride=False
        )


def widened(value):
    is_float = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.double() if is_float else value


def without_nans_of_kernels(op, sample, wanted):
    """PyTorch's kernels for wide registers have NaN for gelu(inf), its others infinity: float64 decides."""
    if not any(value.is_floating_point() and value.isnan().any() for value in wanted):
        return wanted
    try:
        exact = op(*map(widened, sample.args), **{key: widened(value) for key, value in sample.kwargs.items()})
    except (RuntimeError, NotImplementedError):
        return wanted
    exact = [as_tensor(value) for value in (exact if isinstance(exact, (tuple, list)) else [exact])]
    return [
        torch.where(value.isnan() & ~other.isnan(), other.to(value.dtype), value)
        if value.is_floating_point() and other.shape == value.shape and other.is_floating_point()
        else value
        for value, other in zip(wanted, exact, strict=True)
    ]


@pytest.mark.parametrize("name", sorted(hostcalls.CALLS))
def test_same_as_pytorch(program, name):
    op = hostcalls.resolve(name)
    ran = 0
    for sample in hostcalls.samples(name):
        before = positional(op, sample.args, sample.kwargs)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                wanted = op(*sample.args, **sample.kwargs)
        except (RuntimeError, IndexError, NotImplementedError, ValueError, TypeError, ZeroDivisionError):
            continue
        wanted = [] if wanted is None else wanted
        wanted = [as_tensor(value) for value in (wanted if isinstance(wanted, (tuple, list)) else [wanted])]
        types = [(value.dtype, value.shape) for value in wanted]
        got = program.call(name, before, types)
        assert not isinstance(got, str), f"{sample}: {got}"
        # One result alone, of which the others' types are not said.
        for i in range(len(types) if len(types) > 1 else 0):
            alone = program.call(name, before, [None] * i + [types[i]])
            assert not isinstance(alone, str), f"{sample}, result {i}: {alone}"
            assert encode(alone[i]) == encode(got[i])
        try:
            compare(sample, without_nans_of_kernels(op, sample, wanted), got)
        except AssertionError as error:
            raise AssertionError(f"{sample}: {error}\nPyTorch: {wanted}\nhere: {got}") from error
        ran += 1
    assert ran, "PyTorch runs none of the samples"


@pytest.mark.parametrize("name", sorted(hostcalls.REFUSED))
def test_refused_as_by_pytorch(program, name):
    """Where PyTorch raises, a reason is given."""
    op = hostcalls.resolve(name)
    for sample, results in hostcalls.refused(name):
        with pytest.raises((RuntimeError, IndexError, ZeroDivisionError)):
            op(*sample.args, **sample.kwargs)
        got = program.call(name, positional(op, sample.args, sample.kwargs), results)
        assert isinstance(got, str), f"{sample}: {got}"


def test_every_entry_is_compared(program):
    missing = set(program.names) - set(hostcalls.CALLS) - set(hostcalls.SAME_AS)
    assert not missing
    assert not set(hostcalls.CALLS) - set(program.names)
