# test_torch.py - Modules and functions of PyTorch
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Skipped without PyTorch and torch-mlir. Results are compared with PyTorch's own.
"""compile, and what becomes of weights, in-place changes and mistakes."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest
import spyre_mlir
from conftest import ADD, ROOT, SKIPS

torch = pytest.importorskip("torch", reason=SKIPS["torch"])
pytest.importorskip("torch_mlir", reason=SKIPS["torch"])

HERE = pathlib.Path(__file__).resolve()


class MLP(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(64, 128)
        self.norm = torch.nn.LayerNorm(128)
        self.down = torch.nn.Linear(128, 64, bias=False)

    def forward(self, x):
        hidden = self.norm(torch.nn.functional.silu(self.up(x)))
        return {"out": self.down(hidden), "hidden": hidden}


@pytest.fixture
def x():
    # Sums and products of these have at most the 9 fraction bits of the device.
    torch.manual_seed(0)
    return (torch.randint(-15, 16, (32, 64)) / 16).half()


@pytest.fixture
def mlp():
    torch.manual_seed(1)
    return MLP().half().eval()


def close(got, expected):
    assert got.dtype == expected.dtype and got.shape == expected.shape
    got, expected = got.double(), expected.detach().double()
    scale = expected.abs().maximum(expected.square().mean().sqrt())
    assert ((got - expected).abs() / scale).max() < 24 / 1024


def same_structure(got, expected):
    assert got.keys() == expected.keys()
    for name in expected:
        close(got[name], expected[name])


def test_module(mlp, x):
    program = spyre_mlir.compile(mlp, x, check=True)
    same_structure(program(x), mlp(x))
    assert [spec.weight for spec in program.inputs if spec.weight] == list(dict(mlp.named_parameters()))
    assert program.stats["import_s"] > 0 and program.stats["stages"] and "up.weight" in program.explain()


def test_function_and_structures(x):
    def function(pair, scale, *, bias):
        return pair[0] @ pair[1].T * scale + bias, [pair[0]]

    examples = ((x, x.clone()), 2.0)
    program = spyre_mlir.compile(function, *examples, example_kwargs={"bias": x[:, :32].contiguous()})
    got, expected = program(*examples, bias=x[:, :32]), function(*examples, bias=x[:, :32])
    close(got[0], expected[0])
    assert torch.equal(got[1][0], x) and got[1][0].data_ptr() != x.data_ptr()
    with pytest.raises(spyre_mlir.ArgumentError, match="compiled for 2.0"):
        program((x, x), 3.0, bias=x[:, :32])
    with pytest.raises(spyre_mlir.ArgumentError, match="arranged otherwise"):
        program(x, 2.0, bias=x[:, :32])


def test_results_are_what_arguments_are(x):
    program = spyre_mlir.compile(lambda a: a + 1, x)
    assert isinstance(program(x), torch.Tensor) and isinstance(program(x.numpy()), np.ndarray)
    assert np.array_equal(program(x.numpy()), (x + 1).numpy())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_epsilon_of_norms_without_one(dtype):
    """Rows so small that the epsilon matters: PyTorch takes that of float32 for all types that it computes in it."""
    x = torch.tensor([[1 / 64, 0.0], [1 / 1024, -1 / 1024], [3.0, 4.0]]).to(dtype)
    close(
        spyre_mlir.compile(lambda x: torch.nn.functional.rms_norm(x, (2,)), x)(x), torch.nn.functional.rms_norm(x, (2,))
    )


def test_arrays_of_all_kinds():
    """Empty, read-only, with steps, without dims, of all types; bytes in another order are another type."""
    arrays = [
        np.zeros((0, 4), np.float16),
        np.array([True, False]),
        np.arange(3),
        np.ones(2, np.complex64),
        np.array(2.5, np.float16),
    ]
    program = spyre_mlir.compile(
        lambda e, b, i, c, s: (torch.cat([e, e]), ~b, i + 1, c * 2, s * 2), *map(torch.from_numpy, arrays)
    )
    arrays[2].flags.writeable = False
    expected = [np.zeros((0, 4)), [False, True], [1, 2, 3], [2, 2], 5]
    for i, c, s in ((arrays[2], arrays[3], arrays[4]), (np.arange(6)[::2] // 2, arrays[3][::-1], np.float16(2.5))):
        for got, want in zip(program(*arrays[:2], i, c, s), expected):
            assert np.array_equal(got, want)
    with pytest.raises(spyre_mlir.ArgumentError, match="in2 is >i8"):
        program(*arrays[:2], arrays[2].astype(">i8"), *arrays[3:])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_dtypes(dtype):
    a = torch.arange(-96, 96).reshape(2, 96).to(dtype) / 8
    close(spyre_mlir.compile(lambda a: a + a, a)(a), a + a)


@pytest.mark.parametrize("columns", [1027, 1069, 1155])
def test_projections_without_equal_parts(columns):
    """17 and 19 sticks of columns, more than one of four cores reaches: two products, one result."""
    torch.manual_seed(2)
    model = torch.nn.Linear(256, columns).half().eval()
    x = (torch.randint(-15, 16, (6, 256)) / 16).half()
    program = spyre_mlir.compile(model, x, device="mock4", check=True, host="none")
    close(program(x), model(x))


def test_strided_tensors(x):
    program = spyre_mlir.compile(lambda a: a * 2, x)
    assert torch.equal(program(x.T.contiguous().T), x * 2)
    assert torch.equal(program(torch.cat([x, x], 1)[:, :64]), x * 2)


def test_changed_weights_are_noticed(mlp, x):
    program = spyre_mlir.compile(mlp, x)
    same_structure(program(x), mlp(x))
    with torch.no_grad():
        mlp.down.weight.mul_(3)
    same_structure(program(x), mlp(x))


def test_buffers_and_arguments_changed_in_place():
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(1, 64).half())

        def forward(self, x, out):
            self.seen += x
            out.copy_(self.seen * 2)
            return self.seen + 1

    module, x, out = Counter(), torch.full((1, 64), 2.0).half(), torch.zeros(1, 64).half()
    program = spyre_mlir.compile(module, x, out)
    module.seen.zero_()
    for step in (1, 2, 3):
        assert (program(x, out) == 2 * step + 1).all()
        assert (module.seen == 2 * step).all() and (out == 4 * step).all()


def test_buffers_that_take_another_shape(x):
    """copy_ from a source that is broadcast, into a buffer that nobody reads before."""

    class Keeps(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("kept", torch.ones(32, 64, dtype=torch.float16))

        def forward(self, row):
            self.kept.copy_(row)
            return self.kept.sum(0), row.sum(), self.kept / 2

    module = Keeps()
    program = spyre_mlir.compile(module, x[0])
    for got, expected in zip(program(x[0]), (x[0] * 32, x[0].sum(), (x[0] / 2).expand(32, 64))):
        close(got, expected)
    assert torch.equal(module.kept, x[0].expand(32, 64))


def test_saved_programs_bring_their_weights(mlp, x, tmp_path):
    program = spyre_mlir.compile(mlp, x)
    expected = program(x)
    program.save(tmp_path / "mlp")
    loaded = spyre_mlir.load(tmp_path / "mlp")
    assert loaded(x).keys() == expected.keys() and torch.equal(loaded(x)["out"], expected["out"])
    (tmp_path / "mlp" / "python.json").write_text("{")
    with pytest.raises(spyre_mlir.LoadError, match="python.json"):
        spyre_mlir.load(tmp_path / "mlp")


def test_weights_are_no_part_of_the_cached_program(mlp, x):
    spyre_mlir.compile(mlp, x)
    torch.manual_seed(2)
    other = MLP().half().eval()
    program = spyre_mlir.compile(other, x)
    assert program.stats["cached"]
    same_structure(program(x), other(x))


def test_own_tensors_are_literals(x):
    table = torch.arange(64).half() / 8
    program = spyre_mlir.compile(lambda a: a + torch.tensor([1.0, 2.0]).half().repeat(32) + table, x)
    close(program(x), x + torch.tensor([1.0, 2.0]).half().repeat(32) + table)


def test_unsupported_operations_name_the_line(x):
    def function(a):
        b = torch.lgamma(a)  # first
        return torch.erfinv(b)  # second

    with pytest.raises(spyre_mlir.CompileError) as caught:
        spyre_mlir.compile(function, x, host="none")
    text = pathlib.Path(__file__).read_text().splitlines()
    notes = [note for error in caught.value.errors for note in error.notes]
    for operation, mark in (("lgamma", "# first"), ("erfinv", "# second")):
        note = next(note for note in notes if operation in note.message)
        assert pathlib.Path(note.file).resolve() == HERE and text[note.line - 1].endswith(mark)
        assert mark in str(caught.value)


def test_meta_modules_are_refused(x):
    with torch.device("meta"):
        module = MLP()
    with pytest.raises(spyre_mlir.ExportError, match="'up.weight' of the module is on device meta"):
        spyre_mlir.compile(module, x)
    with pytest.raises(spyre_mlir.ExportError, match="argument 0 is on device meta"):
        spyre_mlir.compile(lambda a: a + 1, x.to("meta"))


def test_calls_are_checked(mlp, x):
    program = spyre_mlir.compile(mlp, x)
    with pytest.raises(spyre_mlir.ArgumentError, match="on device meta"):
        program(x.to("meta"))
    with pytest.raises(spyre_mlir.ArgumentError, match=r"in5 is float32 \[32, 64\], the program takes float16"):
        program(x.float())
    with pytest.raises(spyre_mlir.ArgumentError, match=r"\[16, 64\], the program takes float16 \[32, 64\]"):
        program(x[:16])
    with pytest.raises(spyre_mlir.ArgumentError, match="2 arguments given, the program takes 1"):
        program(x, x)
    with pytest.raises(spyre_mlir.ArgumentError, match="number"):
        program(1.5)
    same_structure(program(x), mlp(x))


def test_what_cannot_be_exported(x):
    def branches(a):
        return a + 1 if a.sum() > 0 else a

    with pytest.raises(spyre_mlir.ExportError):
        spyre_mlir.compile(branches, x)
    with pytest.raises(spyre_mlir.ExportError, match="no result"):
        spyre_mlir.compile(lambda a: 3, x)


ORDERS = {
    "torch-mlir first": "import torch_mlir.fx; from torch_mlir import ir; ir.Context(); import spyre_mlir._compiler",
    "ours first": "import spyre_mlir._compiler; import torch_mlir.fx",
}


@pytest.mark.parametrize("order", ORDERS)
def test_two_mlirs_in_one_process(order, environment):
    """Each is used before and after the other, in both orders of loading."""
    code = f"""
import spyre_mlir
{ORDERS[order]}
import numpy, torch
from torch_mlir import ir
text = {ADD!r}
a = numpy.ones((32, 96), numpy.float16)
for _ in range(3):
    assert (spyre_mlir.compile_text(text, cache=False)(a, a) == 2).all()
    with ir.Context() as context:
        module = ir.Module.parse("module {{ func.func private @f(i32) -> i32 }}")
        assert "i32" in str(module)
    program = spyre_mlir.compile(lambda x: torch.relu(x) + 1, torch.ones(32, 96).half(), cache=False)
    assert (program(torch.from_numpy(a)) == 2).all()
    try:
        spyre_mlir.compile_text("module {{", cache=False)
    except spyre_mlir.CompileError:
        pass
print("done")
"""
    result = subprocess.run([sys.executable, "-c", code], env=environment, text=True, capture_output=True)
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stderr


@pytest.mark.parametrize("page", ["docs/python.md", "README.md"])
def test_examples_of_the_docs(page, tmp_path, monkeypatch):
    """Every Python block of a page, one after the other."""
    monkeypatch.chdir(tmp_path)
    blocks = (ROOT / page).read_text().split("```python\n")[1:]
    assert blocks
    file = tmp_path / "example.py"
    file.write_text("\n".join(block.split("```")[0] for block in blocks))
    exec(compile(file.read_text(), str(file), "exec"), {})


def test_arguments_that_are_returned():
    x = torch.randn(4, 64).half()
    for function in (lambda a: a, lambda a: (a, a * 2)):
        got, wanted = (torch.utils._pytree.tree_leaves(f(x)) for f in (spyre_mlir.compile(function, x), function))
        assert torch.allclose(got[0], wanted[0], rtol=2e-3, atol=2e-3)


def test_sparse_arguments_are_refused():
    x = torch.randn(4, 64).half()
    program = spyre_mlir.compile(torch.relu, x)
    with pytest.raises(spyre_mlir.ArgumentError, match="layout"):
        program(x.to_sparse())


def test_programs_are_not_copied():
    import copy

    program = spyre_mlir.compile(torch.relu, torch.randn(4, 64).half())
    with pytest.raises(spyre_mlir.SpyreError, match="save"):
        copy.deepcopy(program)
