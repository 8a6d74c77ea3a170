# test_native.py - Texts compiled in memory, programs, runs
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Needs NumPy, but no PyTorch: what a process without it can do.
"""compile_text, load, run."""

import gc
import importlib.machinery
import json
import subprocess
import sys
import threading
import time
import types

import numpy as np
import pytest
import spyre_mlir
from conftest import ADD, DATA
from spyre_mlir import _native
from spyre_mlir._runtime import Device


def test_text_is_compiled_and_run(arrays):
    program = spyre_mlir.compile_text(ADD, name="add", check=True)
    assert [str(spec) for spec in program.inputs] == ["in0: float16 [32, 96]", "in1: float16 [32, 96]"]
    assert [str(spec) for spec in program.outputs] == ["out0: float16 [32, 96]"]
    result = program(*arrays)
    assert result.dtype == np.float16 and np.array_equal(result, arrays[0] + arrays[1])
    assert "launches" in program.explain() and program.stats["compile_s"] > 0 and program.stats["run_s"] > 0


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_levels_agree(arrays, level):
    assert np.array_equal(spyre_mlir.compile_text(ADD, opt_level=level)(*arrays), arrays[0] + arrays[1])


def test_run_takes_texts_files_and_directories(arrays, tmp_path):
    expected = arrays[0] + arrays[1]
    assert np.array_equal(spyre_mlir.run(ADD, arrays), expected)
    (tmp_path / "add.mlir").write_text(ADD)
    assert np.array_equal(spyre_mlir.run(tmp_path / "add.mlir", {"in0": arrays[0], "in1": arrays[1]}), expected)
    spyre_mlir.compile_text(ADD).save(tmp_path / "saved")
    assert np.array_equal(spyre_mlir.run(tmp_path / "saved", arrays), expected)
    assert np.array_equal(spyre_mlir.load(tmp_path / "saved")(*arrays), expected)


OPEN = """module {
  func.func @add(%arg0: !torch.vtensor<[?,96],f16>, %arg1: !torch.vtensor<[?,96],f16>) -> !torch.vtensor<[?,96],f16> {
    %0 = torch.symbolic_int "s0" {min_val = 2, max_val = 64} : !torch.int
    torch.bind_symbolic_shape %arg0, [%0], affine_map<()[s0] -> (s0, 96)> : !torch.vtensor<[?,96],f16>
    torch.bind_symbolic_shape %arg1, [%0], affine_map<()[s0] -> (s0, 96)> : !torch.vtensor<[?,96],f16>
    %int1 = torch.constant.int 1
    %1 = torch.aten.add.Tensor %arg0, %arg1, %int1 : !torch.vtensor<[?,96],f16>, !torch.vtensor<[?,96],f16>, !torch.int -> !torch.vtensor<[?,96],f16>
    torch.bind_symbolic_shape %1, [%0], affine_map<()[s0] -> (s0, 96)> : !torch.vtensor<[?,96],f16>
    return %1 : !torch.vtensor<[?,96],f16>
  }
}
"""


def test_open_sizes_come_from_the_inputs(arrays):
    expected = arrays[0] + arrays[1]
    assert np.array_equal(spyre_mlir.run(OPEN, arrays), expected)
    # Each set of sizes is a program of its own in the cache.
    for count in (7, 7, 32):
        program = spyre_mlir.compile_text(OPEN, input_shapes=[(count, 96)] * 2)
        assert program.inputs[0].shape == (count, 96) and program.outputs[0].shape == (count, 96)
    assert program.stats["cached"]
    assert np.array_equal(spyre_mlir.run(OPEN, {"in1": arrays[1][:5], "in0": arrays[0][:5]}), expected[:5])


@pytest.mark.parametrize(
    "shapes, message",
    [
        ([(3, 96), (4, 96)], "argument #1 has size 4 in dim 0, the program wants s0 = 3"),
        ([(1, 96), (1, 96)], "the program wants at least 2"),
        ([(3, 95), (3, 95)], r"argument #0 has shape \[3, 95\], the program wants \[\?, 96\]"),
        ([(3, 96)], "the shapes of 1 array are given, 'add' has 2 arguments"),
        ((), "dim 0 is dynamic"),
    ],
)
def test_wrong_sizes_are_named(shapes, message):
    with pytest.raises(spyre_mlir.CompileError, match=message):
        spyre_mlir.compile_text(OPEN, input_shapes=shapes)


def test_arrays_that_are_not_dense_are_made_so(arrays):
    program = spyre_mlir.compile_text(ADD)
    turned = np.asfortranarray(arrays[0])
    assert np.array_equal(program(turned, arrays[1]), arrays[0] + arrays[1])


class OnlyDLPack:
    """An array of a library that is neither NumPy nor PyTorch."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack(arrays):
    program = spyre_mlir.compile_text(ADD)
    assert np.array_equal(program(*map(OnlyDLPack, arrays)), arrays[0] + arrays[1])
    with pytest.raises(spyre_mlir.ArgumentError, match="the program takes"):
        program(OnlyDLPack(arrays[0][:8].copy()), arrays[1])


def test_bfloat16_passes_as_bits():
    program = spyre_mlir.compile_text(ADD.replace("f16", "bf16"))
    ones = np.full((32, 96), 0x3F80, np.uint16)
    result = program(ones, ones)
    assert result.dtype == np.uint16 and (result == 0x4000).all()


def test_model_of_the_reference_data():
    arrays = np.load(DATA / "models" / "granite_layer_small.npz")
    text = (DATA / "models" / "granite_layer_small.mlir").read_text()
    program = spyre_mlir.compile_text(text, name="granite")
    inputs = [arrays[spec.name] for spec in program.inputs]
    first, second = program(*inputs), program(*inputs)
    assert np.array_equal(first, second)
    reference = arrays["ref0"].astype(np.float64)
    error = np.abs(first - reference) / np.maximum(np.abs(reference), np.sqrt(np.mean(reference**2)))
    assert error.max() < 24 / 1024


def test_nothing_is_printed(arrays, capfd):
    with pytest.raises(spyre_mlir.CompileError):
        spyre_mlir.compile_text("module { func.func @f( }")
    spyre_mlir.compile_text(ADD)(*arrays)
    assert capfd.readouterr() == ("", "")


def test_diagnostics_have_places():
    with pytest.raises(spyre_mlir.CompileError) as caught:
        spyre_mlir.compile_text("module {\n  func.func @f( }", name="broken")
    (diagnostic,) = caught.value.errors
    assert (diagnostic.file, diagnostic.line) == ("broken", 2) and diagnostic.column > 0
    assert "broken:2:" in str(caught.value)


def test_all_unsupported_operations_are_named():
    text = ADD.replace(
        "    return",
        """    %1 = torch.aten.erfinv %0 : !torch.vtensor<[32,96],f16> -> !torch.vtensor<[32,96],f16>
    %2 = torch.aten.lgamma %1 : !torch.vtensor<[32,96],f16> -> !torch.vtensor<[32,96],f16>
    return""",
    ).replace("return %0", "return %2")
    with pytest.raises(spyre_mlir.CompileError) as caught:
        spyre_mlir.compile_text(text, host="none")
    assert "erfinv" in str(caught.value) and "lgamma" in str(caught.value)
    assert {note.line for error in caught.value.errors for note in error.notes} == {6, 7}


def test_options_are_checked():
    for options, what in (
        ({"opt_level": 4}, "0 to 3"),
        ({"opt_level": "2"}, "int wanted"),
        ({"cores": -1}, "cores"),
        ({"cores": 33}, "^cores=33: the device has 32 cores"),
        ({"cores": 2**70}, "a number from 0 to"),
        ({"threads": 1000}, "a number from 0 to 256"),
        ({"seed": 2**64}, "a number from 0 to"),
        ({"device": "other"}, "^device=other: known variants are"),
        ({"target": "cuda"}, "^target=cuda: .*superdsc"),
        ({"superdsc_form": "2025"}, "^superdsc_form=2025: known forms"),
        ({"levl": 1}, "options are opt_level"),
    ):
        with pytest.raises(spyre_mlir.OptionError, match=what) as caught:
            spyre_mlir.compile_text(ADD, **options)
        assert "\n" not in str(caught.value) and "func.func" not in str(caught.value)


def test_calls_are_checked(arrays):
    program = spyre_mlir.compile_text(ADD)
    with pytest.raises(spyre_mlir.ArgumentError, match="1 arguments given, the program takes 2"):
        program(arrays[0])
    with pytest.raises(spyre_mlir.ArgumentError, match=r"in1 is float32 \[32, 96\], the program takes float16"):
        program(arrays[0], arrays[1].astype(np.float32))
    with pytest.raises(
        spyre_mlir.ArgumentError, match=r"in0 is float16 \[16, 96\], the program takes float16 \[32, 96\]"
    ):
        program(arrays[0][:16], arrays[1])
    with pytest.raises(TypeError, match="list"):
        program(arrays[0].tolist(), arrays[1])
    assert np.array_equal(program(*arrays), arrays[0] + arrays[1])


def test_load_says_what_is_wrong(tmp_path):
    with pytest.raises(spyre_mlir.LoadError, match="program.json"):
        spyre_mlir.load(tmp_path)
    spyre_mlir.compile_text(ADD).save(tmp_path / "saved")
    (tmp_path / "saved" / "program.json").write_text("{")
    with pytest.raises(spyre_mlir.LoadError, match="program.json"):
        spyre_mlir.load(tmp_path / "saved")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("kept")
    with pytest.raises(spyre_mlir.SpyreError, match="not empty"):
        spyre_mlir.compile_text(ADD).save(tmp_path / "mine")
    assert (tmp_path / "mine" / "notes.txt").read_text() == "kept"


def test_out_of_device_memory_names_sizes(tmp_path):
    """On a device with 64 KiB: one argument is too large, or all are together."""
    description = json.loads(Device().description)
    file = tmp_path / "small.json"
    file.write_text(
        json.dumps({**description, "memory_bytes": 1 << 16, "segment_bytes": 1 << 16, "span_limit_bytes": 1 << 16})
    )
    for rows, what in ((1024, r"262144 bytes"), (128, r"more than the device memory of 65536 bytes")):
        saved = tmp_path / f"add{rows}"
        spyre_mlir.compile_text(ADD.replace("32,", f"{rows},")).save(saved)
        with pytest.raises(spyre_mlir.DeviceMemoryError, match=what):
            spyre_mlir.load(saved, device=str(file))
    with pytest.raises(MemoryError):
        spyre_mlir.load(saved, device=str(file))
    # Several programs share a device.
    spyre_mlir.compile_text(ADD).save(tmp_path / "add")
    ones = np.ones((32, 96), np.float16)
    programs = [spyre_mlir.load(tmp_path / "add", device=str(file)) for _ in range(4)]
    with pytest.raises(spyre_mlir.DeviceMemoryError, match=r"8192 bytes do not fit .* of 65536 bytes are free"):
        for program in programs:
            assert (program(ones, ones) == 2).all()
    del programs, program
    gc.collect()
    assert (spyre_mlir.load(tmp_path / "add", device=str(file))(ones, ones) == 2).all()


def test_two_threads_call_one_program(arrays):
    program = spyre_mlir.compile_text(ADD)
    wrong = []

    def work(seed):
        generator = np.random.default_rng(seed)
        for _ in range(50):
            a, b = ((generator.integers(-64, 64, (32, 96)) / 8).astype(np.float16) for _ in range(2))
            if not np.array_equal(program(a, b), a + b):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_two_threads_compile(arrays):
    results = {}

    def work(level):
        results[level] = spyre_mlir.compile_text(ADD, opt_level=level, cache=False)(*arrays)

    threads = [threading.Thread(target=work, args=(level,)) for level in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and all(np.array_equal(r, arrays[0] + arrays[1]) for r in results.values())


def test_null_device_counts(arrays):
    program = spyre_mlir.compile_text(ADD, count_only=True)
    result = program(*arrays)
    assert result.shape == (32, 96) and program.stats["hbm_read_bytes_counted"] == 2 * 8192


def test_programs_start_without_pytorch_and_mlir(environment):
    """A cached program needs neither; that is what makes a second process start fast."""
    code = (
        "import sys, numpy, spyre_mlir\n"
        f"p = spyre_mlir.compile_text({ADD!r})\n"
        "a = numpy.ones((32, 96), numpy.float16)\n"
        "assert (p(a, a) == 2).all()\n"
        "print(p.stats['cached'], 'torch' in sys.modules, 'spyre_mlir._compiler' in sys.modules)\n"
    )
    run = lambda: subprocess.run([sys.executable, "-c", code], env=environment, text=True, capture_output=True)
    first, second = run(), run()
    assert (first.returncode, first.stderr) == (0, "") and first.stdout == "False False True\n"
    assert (second.returncode, second.stderr) == (0, "") and second.stdout == "True False False\n"


def test_progress_is_quiet_unless_asked_for(arrays, capfd, monkeypatch):
    """With a stand-in for tqdm, and for what takes long."""
    shown = []

    class Bar:
        def __init__(self, **options):
            shown.append(options["desc"])

        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        def refresh(self):
            pass

    module = types.ModuleType("tqdm")
    module.tqdm, module.__spec__ = Bar, importlib.machinery.ModuleSpec("tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm", module)
    compiler = _native.compiler()
    slow = types.SimpleNamespace(compile=lambda *a, **k: (time.sleep(0.8), compiler.compile(*a, **k))[1])
    monkeypatch.setattr(_native, "compiler", lambda: slow)
    spyre_mlir.compile_text(ADD, cache=False)(*arrays)
    assert not shown
    spyre_mlir.compile_text(ADD, cache=False, progress=True)(*arrays)
    assert shown == ["spyre: compiling program"]
    assert capfd.readouterr() == ("", "")
