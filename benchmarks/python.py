# python.py - What Python adds: calls, start from the cache, transfers
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Calls of compiled programs on the null device, the time from a text to a program in a
# new process with a cold and a warm cache (imports of other people's packages apart), and
# host-device conversion beside a memory copy of as many bytes on the same thread. Times
# are the fastest of several runs.
"""Call overhead, start and transfers of the Python package, judged against fixed limits."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import judge

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODELS = ROOT / "test" / "data" / "models"
LAYERS = ("granite_layer_small.mlir", "granite_layer_small.nodecomp.mlir")

LIMITS = [
    *(judge.Limit(f"call {name}", "us", 50) for name in ("add", *LAYERS, *(f"{layer}, tensors" for layer in LAYERS))),
    *(judge.Limit(f"start {layer}", "compiled_s", 0.3) for layer in LAYERS),
    *(judge.Limit(f"start {layer}", "cached_s", 0.06) for layer in LAYERS),
    judge.Limit("whole Granite, 40 layers", "total_s", 60),
    judge.Limit("whole Granite, 40 layers", "compile_s", 10),
    judge.Limit("whole Granite, 40 layers", "compiler_mb", 500),
    judge.Limit("transfer f16 4096x4096", "copy_in_ratio", 2),
    judge.Limit("transfer f16 4096x4096", "copy_out_ratio", 2),
]

ADD = """
func.func @main(%a: !torch.vtensor<[32,96],f16>, %b: !torch.vtensor<[32,96],f16>) -> !torch.vtensor<[32,96],f16> {
  %one = torch.constant.int 1
  %0 = torch.aten.add.Tensor %a, %b, %one : !torch.vtensor<[32,96],f16>, !torch.vtensor<[32,96],f16>, !torch.int -> !torch.vtensor<[32,96],f16>
  return %0 : !torch.vtensor<[32,96],f16>
}
"""

CALLS = """
import json, sys, time
import numpy as np
import torch
import spyre_mlir
result = {}
for name, text in json.load(sys.stdin).items():
    program = spyre_mlir.compile_text(text, count_only=True)
    arrays = [np.zeros(spec.shape, spec.numpy_dtype) for spec in program.inputs]
    for kind, values in (("", arrays), (", tensors", [torch.from_numpy(array) for array in arrays])):
        for _ in range(20):
            program(*values)
        best = 1e9
        for _ in range(200):
            began = time.perf_counter()
            for _ in range(20):
                program(*values)
            best = min(best, (time.perf_counter() - began) / 20)
        operations = program.stats["device_ops"] / program.stats["runs"]
        result[name + kind] = {"us": best * 1e6, "device_ops": operations}
print(json.dumps(result))
"""

START = """
import json, pathlib, sys, time
import numpy
text = pathlib.Path(sys.argv[1]).read_text()
began = time.perf_counter()
import spyre_mlir
imported = time.perf_counter()
program = spyre_mlir.compile_text(text, name="layer")
print(json.dumps({"s": time.perf_counter() - began, "import_s": imported - began, "cached": program.stats["cached"]}))
"""

# The full-size model, whose weights have shapes only: import by torch-mlir, and our part of it.
WHOLE = """
import json, resource, sys, time
sys.path.insert(0, sys.argv[1])
import torch
from torch._subclasses import FakeTensorMode
import python_generate as example
from spyre_mlir import _compile, _export
from spyre_mlir._options import make
config = example.Config(vocabulary=49155, layers=40, hidden=4096, heads=32, kv_heads=8, intermediate=12800,
                        positions=1024, attention_multiplier=1 / 128)
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
    torch.set_default_dtype(torch.float16)
    model = example.Granite(config).eval()
    torch.set_default_dtype(torch.float32)
    arguments = (torch.zeros(1, 512, dtype=torch.int64), torch.arange(512), model.make_caches(1))
    began = time.perf_counter()
    exported = _export.export(model, arguments, {})
    imported = time.perf_counter()
before = peak()
stats = {}
_compile.compile_text(exported.text, make({"cache": False}), range(len(exported.weight_names)), exported.located,
                      lambda directory: stats.update(directory.stats))
ended = time.perf_counter()
print(json.dumps({"import_s": imported - began, "compile_s": ended - imported, "total_s": ended - began,
                  "compiler_mb": peak() - before, "device_ops": stats["device_ops"]}))
"""


def python(code, *arguments, environment, text=None):
    result = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], env=environment, input=text, text=True, capture_output=True
    )
    if result.returncode:
        raise RuntimeError(result.stderr.strip().splitlines()[-1] if result.stderr else f"exit {result.returncode}")
    return json.loads(result.stdout)


def measure(build, runs):
    """name -> {figure: value}; a part that fails is missing."""
    figures, failed = {}, []
    paths = [str(ROOT / "python"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "SPYRE_BUILD": str(build)}

    def attempt(name, function):
        try:
            function()
        except (OSError, RuntimeError, ValueError) as error:
            failed.append(f"{name}: {error}")

    with tempfile.TemporaryDirectory() as scratch:
        environment["SPYRE_CACHE_DIR"] = str(pathlib.Path(scratch) / "cache")
        # Compiled modules, as an installed package has them, whatever this checkout may write.
        environment["PYTHONPYCACHEPREFIX"] = str(pathlib.Path(scratch) / "pyc")
        environment.pop("PYTHONDONTWRITEBYTECODE", None)

        def calls():
            texts = {"call add": ADD, **{f"call {layer}": (MODELS / layer).read_text() for layer in LAYERS}}
            figures.update(python(CALLS, environment=environment, text=json.dumps(texts)))

        def start(layer):
            cold = []
            for i in range(runs):
                own = {**environment, "SPYRE_CACHE_DIR": str(pathlib.Path(scratch) / f"{layer}.{i}")}
                cold.append(python(START, MODELS / layer, environment=own)["s"])
            warm = [python(START, MODELS / layer, environment=own) for _ in range(runs)]
            if not all(run["cached"] for run in warm):
                raise RuntimeError("the program was not in the cache")
            figures[f"start {layer}"] = {"compiled_s": min(cold), "cached_s": min(run["s"] for run in warm)}

        attempt("call", calls)
        for layer in LAYERS:
            attempt(f"start {layer}", lambda layer=layer: start(layer))

    def whole():
        figures["whole Granite, 40 layers"] = python(WHOLE, ROOT / "examples", environment=environment)

    attempt("whole Granite", whole)

    def transfer():
        program = pathlib.Path(build) / "benchmarks" / "transfer-bench"
        result = subprocess.run([program, "4096", "4096", str(5 * runs)], text=True, capture_output=True)
        if result.returncode:
            raise RuntimeError(result.stderr.strip())
        times = json.loads(result.stdout)
        figures["transfer f16 4096x4096"] = {
            **times,
            "copy_in_ratio": judge.ratio(times["copy_in_s"], times["memory_copy_s"]),
            "copy_out_ratio": judge.ratio(times["copy_out_s"], times["memory_copy_s"]),
        }

    attempt("transfer", transfer)
    return figures, failed


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--build", type=pathlib.Path, default=ROOT / "build", help="build folder, with -DSPYRE_PYTHON=ON"
    )
    parser.add_argument("--runs", type=int, default=5, help="of each measurement")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures there")
    options = parser.parse_args(argv)
    busy = os.getloadavg()[0] > 1
    figures, failed = measure(options.build.resolve(), options.runs)
    for name, values in figures.items():
        print(f"{name:44} " + "  ".join(f"{figure} {value:.4g}" for figure, value in values.items()))
    verdicts = judge.judge(figures, LIMITS)
    for verdict in verdicts:
        print(verdict)
    for line in failed:
        print(f"FAILED {line}")
    if busy:
        print("the machine is busy (load above 1): nothing is judged")
    if options.json:
        content = {"figures": figures, "verdicts": judge.as_rows(verdicts), "busy": busy, "failed": failed}
        options.json.write_text(json.dumps(content, indent=1) + "\n")
    return judge.exit_code(verdicts, failed, busy)


if __name__ == "__main__":
    sys.exit(main())
