#!/usr/bin/env python3
# emulator.py - How fast the emulator is, beside host libraries
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each program is compiled, then run by emulator-bench in a process of its own,
# which times its launches (not loading, not copying in) in turns with a host
# library that does the same: OpenBLAS for products, a memory copy for what is
# bound by memory, oneDNN or NumPy, whichever is faster, for the rest. Figures
# are ratios of the shortest times within one run; the peak of the process's
# memory is set against the program's device memory.
"""Times of launches on the emulator, as multiples of what host libraries take."""

import argparse
import dataclasses
import json
import os
import pathlib
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import plans  # noqa: E402
import workloads  # noqa: E402
from judge import Limit, as_rows, exit_code, judge  # noqa: E402

MB = 1 << 20
# Below this the libraries that a process loads count more than the program does.
LEAST_JUDGED_MEMORY = 32 * MB


def tensor(*shape):
    return f"!torch.vtensor<[{','.join(map(str, shape))}],f16>"


def program(name, arguments, body, result):
    """Text of a function whose last value is %0."""
    formal = ", ".join(f"%arg{i}: {tensor(*shape)}" for i, shape in enumerate(arguments))
    lines = "".join(f"    {line}\n" for line in body)
    return (
        f"module {{\n  func.func @{name}({formal}) -> {tensor(*result)} {{\n{lines}"
        f"    return %0 : {tensor(*result)}\n  }}\n}}\n"
    )


def matmul(name, op, x, y, result):
    line = f"%0 = torch.aten.{op} %arg0, %arg1 : {tensor(*x)}, {tensor(*y)} -> {tensor(*result)}"
    return program(name, [x, y], [line], result)


SQUARE = (4096, 4096)
T = tensor(*SQUARE)
EXP = [f"%0 = torch.aten.exp %arg0 : {T} -> {T}"]
GELU = ['%str = torch.constant.str "none"', f"%0 = torch.aten.gelu %arg0, %str : {T}, !torch.str -> {T}"]
SOFTMAX = [
    "%int-1 = torch.constant.int -1",
    "%false = torch.constant.bool false",
    f"%0 = torch.aten._softmax %arg0, %int-1, %false : {T}, !torch.int, !torch.bool -> {T}",
]
LAYER_NORM = [
    "%int4096 = torch.constant.int 4096",
    "%shape = torch.prim.ListConstruct %int4096 : (!torch.int) -> !torch.list<int>",
    "%eps = torch.constant.float 1.0e-05",
    "%0, %mean, %rstd = torch.aten.native_layer_norm %arg0, %shape, %arg1, %arg2, %eps : "
    f"{T}, !torch.list<int>, {tensor(4096)}, {tensor(4096)}, !torch.float -> {T}, {tensor(4096, 1)}, {tensor(4096, 1)}",
]
TRANSPOSE = [
    "%int0 = torch.constant.int 0",
    "%int1 = torch.constant.int 1",
    f"%turned = torch.aten.transpose.int %arg0, %int0, %int1 : {T}, !torch.int, !torch.int -> {T}",
    f"%0 = torch.aten.clone %turned, %int0 : {T}, !torch.int -> {T}",
]
# The products of the full-size Granite layer over 512 positions: projections, scores, values, MLP.
GRANITE = "+".join(
    f"sgemm:{count},{m},{n},{k}"
    for count, m, n, k in [
        (1, 512, 4096, 4096),
        (1, 512, 1024, 4096),
        (1, 512, 1024, 4096),
        (32, 512, 512, 128),
        (32, 512, 128, 512),
        (1, 512, 4096, 4096),
        (1, 512, 12800, 4096),
        (1, 512, 12800, 4096),
        (1, 512, 4096, 12800),
    ]
)


@dataclasses.dataclass(frozen=True)
class Case:
    """`source`: a file of test/data/models or a text; `most`: how many times the fastest baseline it may take."""

    name: str
    source: str
    baselines: dict
    most: float
    numpy: str = ""
    # Bytes moved, over those of the copy: a copy's operands and results count, too.
    scale: float = 1.0
    runs: int = 7

    def write(self, folder):
        if self.source.endswith(".mlir"):
            return workloads.models() / self.source
        path = folder / f"{self.name}.mlir"
        path.write_text(self.source)
        return path


def onednn(kind, rows, columns):
    """oneDNN on f16 arrays: it computes in f32 on these processors, so it takes conversions, too."""
    return {"onednn": f"widen:{rows},{columns}+{kind}:{rows},{columns}+narrow:{rows},{columns}"}


COPY = {"copy": f"copy:{64 * MB}"}
BLAS, HALF, THIRD = 1 / 0.7, 2.0, 3.0  # 70 % of BLAS, 50 % of a copy, within three times
CASES = [
    Case(
        "matmul_1024x1024x1024",
        matmul("mm", "mm", (1024, 1024), (1024, 1024), (1024, 1024)),
        {"sgemm": "sgemm:1,1024,1024,1024"},
        BLAS,
        runs=15,
    ),
    Case("matmul_512x4096x4096", "matmul_512x4096x4096.mlir", {"sgemm": "sgemm:1,512,4096,4096"}, BLAS),
    Case(
        "matmul_32x512x128x512",
        matmul("bmm", "bmm", (32, 512, 128), (32, 128, 512), (32, 512, 512)),
        {"sgemm": "sgemm:32,512,512,128"},
        BLAS,
        runs=15,
    ),
    Case("add_4096x4096", "add_4096x4096.mlir", COPY, HALF, scale=96 / 128, runs=15),
    Case("exp_4096x4096", program("exp", [SQUARE], EXP, SQUARE), COPY, HALF, scale=64 / 128, runs=15),
    Case("gelu_4096x4096", program("gelu", [SQUARE], GELU, SQUARE), COPY, HALF, scale=64 / 128, runs=15),
    Case("softmax_512x1024", "softmax_512x1024.mlir", onednn("softmax", 512, 1024), THIRD, "softmax", runs=30),
    Case(
        "softmax_4096x4096",
        program("softmax", [SQUARE], SOFTMAX, SQUARE),
        onednn("softmax", 4096, 4096),
        THIRD,
        "softmax",
    ),
    Case("layernorm_512x1024", "layernorm_512x1024.mlir", onednn("layernorm", 512, 1024), THIRD, "layernorm", runs=30),
    Case(
        "layernorm_4096x4096",
        program("layernorm", [SQUARE, (4096,), (4096,)], LAYER_NORM, SQUARE),
        onednn("layernorm", 4096, 4096),
        THIRD,
        "layernorm",
    ),
    Case(
        "restickify_4096x4096",
        program("transpose", [SQUARE], TRANSPOSE, SQUARE),
        {"onednn": "reorder:4096,4096"},
        THIRD,
        "transpose",
        runs=5,
    ),
    Case("granite_prefill_layer", "granite_layer_prefill.mlir", {"sgemm": GRANITE}, THIRD, runs=3),
]
LIMITS = [Limit(case.name, "ratio", case.most) for case in CASES]


def numpy_seconds(kind, shape, runs=3):
    """The shortest time of NumPy for the same operation."""
    x = np.random.default_rng(0).standard_normal(shape, np.float32)

    def softmax():
        e = np.exp(x - x.max(-1, keepdims=True))
        return np.divide(e, e.sum(-1, keepdims=True), out=e)

    def layernorm():
        y = x - x.mean(-1, keepdims=True)
        return np.divide(y, np.sqrt(np.square(y).mean(-1, keepdims=True) + 1e-5), out=y)

    half = x.astype(np.float16)
    work = {"softmax": softmax, "layernorm": layernorm, "transpose": lambda: np.ascontiguousarray(half.T)}[kind]
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="emulator.py", description=__doc__, epilog="example: emulator.py add_4096x4096 --threads 2"
    )
    parser.add_argument("names", nargs="*", help="cases to run (default: all)")
    workloads.harness.add_build_flag(parser)
    parser.add_argument("--compiler", help="spyre-compile to use (default: the build folder's)")
    parser.add_argument("--threads", type=int, default=2, help="threads of the emulator and the libraries (default 2)")
    parser.add_argument("--general", action="store_true", help="without the emulator's faster paths")
    parser.add_argument("--json", help="write the figures to a file")
    options = parser.parse_args(argv)
    unknown = set(options.names) - {case.name for case in CASES}
    if unknown:
        parser.error(f"there is no case {', '.join(sorted(unknown))}")
    return options


def run(case, options, scratch):
    """The case's figures; raises RuntimeError with what went wrong."""
    build = pathlib.Path(options.build)
    compiler = options.compiler or build / "bin" / "spyre-compile"
    folder = scratch / f"{case.name}.spyre"
    bench = [build / "benchmarks" / "emulator-bench", folder, "--threads", options.threads, "--runs", case.runs]
    bench += ["--general"] if options.general else []
    for name, text in case.baselines.items():
        bench += ["--baseline", f"{name}={text}"]
    environment = os.environ | {"OMP_NUM_THREADS": str(options.threads)}
    plans.run([compiler, case.write(scratch), "-o", folder], environment)
    measured = json.loads(plans.run(bench, environment))
    theirs = {name: min(times) * case.scale for name, times in measured["baselines"].items()}
    if case.numpy:
        shape = tuple(int(size) for size in case.name.rsplit("_", 1)[1].split("x"))
        theirs["numpy"] = numpy_seconds(case.numpy, shape)
    fastest = min(theirs, key=theirs.get)
    ours = min(measured["launch_s"])
    return {
        "launch_s": ours,
        "first_s": measured["first_s"],
        "baselines_s": theirs,
        "fastest": fastest,
        "ratio": ours / theirs[fastest],
        "device_bytes": measured["device_bytes"],
        "peak_bytes": measured["peak_bytes"],
        "memory_ratio": measured["peak_bytes"] / measured["device_bytes"],
    }


def print_table(figures):
    head = ("program", "ours", "theirs", "by", "ours/theirs", "at most", "device", "peak", "ratio")
    print("{:24} {:>10} {:>10} {:>7} {:>11} {:>8} {:>9} {:>9} {:>6}".format(*head))
    limits = {case.name: case.most for case in CASES}
    for name, row in figures.items():
        if not row:
            print(f"{name:24} failed")
            continue
        print(
            f"{name:24} {1000 * row['launch_s']:7.2f} ms {1000 * row['baselines_s'][row['fastest']]:7.2f} ms "
            f"{row['fastest']:>7} {row['ratio']:11.2f} {limits[name]:8.2f} {row['device_bytes'] / MB:6.0f} MB "
            f"{row['peak_bytes'] / MB:6.0f} MB {row['memory_ratio']:6.2f}"
        )


def main(argv=None):
    options = parse(argv)
    load = os.getloadavg()[0]
    busy = load > workloads.BUSY
    cases = [case for case in CASES if not options.names or case.name in options.names]
    figures = {}
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory, prefix="spyre-emulator-") as scratch:
        for case in cases:
            try:
                figures[case.name] = run(case, options, pathlib.Path(scratch))
            except (OSError, RuntimeError) as error:
                print(f"{case.name}: {error}", file=sys.stderr)
                figures[case.name] = None
    print_table(figures)
    limits = [limit for limit in LIMITS if limit.name in figures]
    limits += [
        Limit(name, "memory_ratio", 2.0)
        for name, row in figures.items()
        if row and row["device_bytes"] >= LEAST_JUDGED_MEMORY
    ]
    verdicts = judge(figures, limits)
    for verdict in verdicts:
        print(verdict)
    if busy:
        print(f"the machine is busy (load {load:.2f}): these figures are not judged")
    if options.json:
        report = {"load": load, "busy": busy, "threads": options.threads, "programs": figures}
        report["limits"] = as_rows(verdicts)
        pathlib.Path(options.json).write_text(json.dumps(report, indent=1) + "\n")
    return exit_code(verdicts, failed=any(row is None for row in figures.values()), busy=busy)


if __name__ == "__main__":
    sys.exit(main())
