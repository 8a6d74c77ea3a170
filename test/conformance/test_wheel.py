# test_wheel.py - The wheel runs where there is nothing but Python
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# `pip wheel` on an installed tree of the build that is there, so that only the native modules
# are compiled; then pip installs it into a fresh virtual environment, which runs programs in a
# root without LLVM, this repository and its build (lib/bare_root.py).
"""pip wheel, what is in the wheel, and programs that run from it."""

import email
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tomllib
import zipfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from lib.built import BUILD, cached, succeed  # noqa: E402

from lib import bare_root, harness  # noqa: E402

ROOT = HERE.parents[1]
PACKAGE = ROOT / "python" / "spyre_mlir"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
VERSION = re.search(r"project\(spyre-mlir VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
LIMIT = 100 * 2**20  # of a file on PyPI

# What a program does last: which file it has of the package, and which libraries.
REPORT = """
import json, pathlib
maps = pathlib.Path("/proc/self/maps").read_text().split()
libraries = sorted({path for path in maps if path.startswith("/") and ".so" in pathlib.Path(path).name})
print(json.dumps({"package": spyre_mlir.__file__, "version": spyre_mlir.__version__, "libraries": libraries}))
"""

TEXTS = """
import os
import numpy as np
import spyre_mlir

assert not os.path.exists({build!r}) or {sees_all}
assert not os.path.exists({llvm!r}) or {sees_all}
rng = np.random.default_rng(7)

MATMUL = '''
module {{
  func.func @main(%a: !torch.vtensor<[48,128],f16>, %b: !torch.vtensor<[128,80],f16>) -> !torch.vtensor<[48,80],f16> {{
    %0 = torch.aten.mm %a, %b : !torch.vtensor<[48,128],f16>, !torch.vtensor<[128,80],f16> -> !torch.vtensor<[48,80],f16>
    %1 = torch.aten.relu %0 : !torch.vtensor<[48,80],f16> -> !torch.vtensor<[48,80],f16>
    return %1 : !torch.vtensor<[48,80],f16>
  }}
}}
'''
a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((48, 128), (128, 80)))
wanted = np.maximum(a.astype(np.float32) @ b.astype(np.float32), 0)
program = spyre_mlir.compile_text(MATMUL)
assert np.abs(program(a, b) - wanted).max() < 0.05 and wanted.max() > 10
program.save("matmul.spyre")
assert np.array_equal(spyre_mlir.load("matmul.spyre")(a, b), program(a, b))
assert np.array_equal(spyre_mlir.run(MATMUL, [a, b], check=True, cache=False), program(a, b))

try:
    spyre_mlir.compile_text(MATMUL.replace("aten.relu", "aten.no_such"))
except spyre_mlir.CompileError as error:
    assert "no_such" in str(error)
else:
    raise AssertionError("an unknown operation was compiled")
"""

TORCH = """
import torch
import spyre_mlir

class MLP(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(64, 256), torch.nn.Linear(256, 64)

    def forward(self, x):
        return self.down(torch.nn.functional.silu(self.up(x)))

torch.manual_seed(0)
model, x = MLP().half().eval(), torch.randn(32, 64).half()
with torch.no_grad():
    wanted = model(x)
    assert (spyre_mlir.compile(model, x)(x) - wanted).abs().max() < 0.01
    # The backend is found by its name: by the entry point of what pip has installed.
    assert (torch.compile(model, backend="spyre")(x) - wanted).abs().max() < 0.01
from spyre_mlir import dynamo
assert "0 on the host" in dynamo.summary(), dynamo.summary()
"""


def is_there(module):
    return importlib.util.find_spec(module) is not None


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    for component in ("Runtime", "Compiler"):
        succeed("cmake", "--install", BUILD, "--prefix", folder / "prefix", "--component", component)
    defines = {"Spyre_ROOT": folder / "prefix", "CMAKE_CXX_COMPILER_LAUNCHER": cached("SPYRE_CCACHE")}
    defines |= {name: cached(name) for name in ("CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER")}
    settings = ["cmake.source-dir=python", f"build-dir={folder / 'build'}"]
    settings += [f"cmake.define.{name}={value}" for name, value in defines.items()]
    # Paths below the folder, which is another each time, are relative for ccache.
    env = os.environ | {"CCACHE_BASEDIR": str(folder), "CCACHE_NOHASHDIR": "1"}
    backend = is_there("scikit_build_core")
    flags = ["--no-deps", "-w", folder / "out", *(["--no-build-isolation"] if backend else [])]
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        ROOT,
        *flags,
        *(word for each in settings for word in ("-C", each)),
    ]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, env=env)
    said = done.stdout + done.stderr
    if done.returncode != 0 and not backend and "No matching distribution found for scikit-build-core" in said:
        pytest.skip(harness.skip_reasons()["no-build-backend"])
    assert done.returncode == 0, said[-4000:]
    (made,) = (folder / "out").iterdir()
    print(f"\n{made.name}: {made.stat().st_size / 2**20:.1f} MiB")
    return made


@pytest.fixture(scope="module")
def unpacked(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture
def environment(wheel, tmp_path):
    """A fresh virtual environment with the wheel, in a folder that programs may write to."""
    venv = tmp_path / "work" / "venv"
    succeed(bare_root.BASE, "-m", "venv", "--without-pip", "--symlinks", venv)
    succeed(
        sys.executable, "-m", "pip", "--python", venv / "bin" / "python", "install", "--no-deps", "--no-index", wheel
    )
    return venv


def sites_of(*modules):
    """The folders that hold packages of others."""
    specs = [importlib.util.find_spec(module) for module in modules]
    return {pathlib.Path(next(iter(spec.submodule_search_locations))).resolve().parent for spec in specs}


def run_installed(environment, program, sites, folders):
    """Runs a program with the environment's Python, which finds packages of others in sites."""
    work, python = environment.parent, environment / "bin" / "python"
    installed = pathlib.Path(
        succeed(python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))").out.strip()
    )
    (installed / "others.pth").write_text("".join(f"{site}\n" for site in sites))
    (work / "program.py").write_text(f"import os; os.chdir({str(work)!r})\n" + program + REPORT)
    (work / "empty").mkdir()
    root = work.parent / "root"
    root.mkdir()
    bare_root.make(root)
    env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(work), "TMPDIR": str(work), "USER": "user"}
    env |= {"LD_LIBRARY_PATH": str(work / "empty"), "SPYRE_CACHE_DIR": str(work / "cache")}
    done = bare_root.run(root, [work, *folders], python, work / "program.py", env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    how = (
        "in a root with only Python"
        if bare_root.namespace()
        else "without hiding anything, as there may be no namespace"
    )
    print(f"\nran {how}; every library that was loaded is looked at")

    said = json.loads(done.stdout.splitlines()[-1])
    assert said["version"] == VERSION
    assert pathlib.Path(said["package"]).parent == installed / "spyre_mlir"
    # Without a root of its own the program sees the links' targets, and all of the sites.
    of_python = {name for path in bare_root.of_python() for name in (path.name, path.resolve().name)}
    places = tuple(f"{place}/" for place in (environment, bare_root.STDLIB, *sites))
    strange = [
        path for path in said["libraries"] if not path.startswith(places) and pathlib.Path(path).name not in of_python
    ]
    assert not strange, f"loaded from elsewhere: {strange}"
    return [path for path in said["libraries"] if path.startswith(str(environment))]


def test_texts_compile_and_run(environment):
    (site,) = sites_of("numpy")
    folders = [path for path in (site / "numpy", site / "numpy.libs") if path.exists()]
    where = {"build": str(BUILD.resolve()), "llvm": cached("MLIR_DIR"), "sees_all": not bare_root.namespace()}
    loaded = run_installed(environment, TEXTS.format(**where), [site], folders)
    assert {pathlib.Path(path).name.split(".")[0] for path in loaded} >= {"_compiler", "_runtime"}


def test_torch_models_compile_and_run(environment):
    if not all(is_there(module) for module in ("torch", "torch_mlir")):
        pytest.skip(harness.skip_reasons()["no-torch"])
    sites = sites_of("numpy", "torch", "torch_mlir")
    run_installed(environment, TORCH, sites, sites)


def test_metadata(wheel, unpacked):
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_")
    assert wheel.name == f"spyre_mlir-{VERSION}-{tag}-{tag}-{platform}.whl"
    info = unpacked / f"spyre_mlir-{VERSION}.dist-info"
    metadata = email.message_from_string((info / "METADATA").read_text())
    assert metadata["Name"] == PROJECT["name"] and metadata["Version"] == VERSION
    assert metadata["Requires-Python"] == PROJECT["requires-python"]
    always = [text for text in metadata.get_all("Requires-Dist") if "extra ==" not in text]
    assert always == PROJECT["dependencies"]
    assert metadata["License-Expression"] == PROJECT["license"]
    licences = {
        path.relative_to(info / "licenses").as_posix() for path in (info / "licenses").rglob("*") if path.is_file()
    }
    assert licences >= set(metadata.get_all("License-File")) and "LICENSE" in licences
    assert {f"python/licenses/{name}.txt" for name in ("LLVM", "OpenBLAS", "Highway", "nanobind", "zlib")} <= licences
    assert "spyre = spyre_mlir.dynamo:backend" in (info / "entry_points.txt").read_text()


def test_content(wheel, unpacked):
    """All of the package, two native modules, and no file that is of no use when installed."""
    inside = {
        path.relative_to(unpacked / "spyre_mlir").as_posix()
        for path in (unpacked / "spyre_mlir").rglob("*")
        if path.is_file()
    }
    sources = {path.name for path in PACKAGE.iterdir() if path.suffix in (".py", ".pyi", ".typed")}
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    modules = {f"_runtime{suffix}", f"_compiler{suffix}"}
    assert {name for name in inside if not name.startswith("_libs/")} == sources | modules
    assert {path.name for path in unpacked.iterdir()} == {"spyre_mlir", f"spyre_mlir-{VERSION}.dist-info"}
    assert wheel.stat().st_size < LIMIT


def test_libraries(unpacked):
    """What a module needs is of every Linux or in the wheel, and found relative to the module."""
    package = unpacked / "spyre_mlir"
    bundled = {path.name: path for path in (package / "_libs").glob("*")}
    needed = {}
    for path in (*package.glob("*.so"), *bundled.values()):
        header = succeed("objdump", "-p", path).out
        needed[path.name] = re.findall(r"NEEDED\s+(\S+)", header)
        strange = [name for name in needed[path.name] if name not in bundled and not bare_root.PLATFORM.match(name)]
        assert not strange, f"{path.name} needs {strange}"
        for found in re.findall(r"(?:RPATH|RUNPATH)\s+(\S+)", header):
            assert all(folder.startswith("$ORIGIN") for folder in found.split(":")), f"{path.name}: {found}"
    (runtime,) = (name for name in needed if name.startswith("_runtime."))
    left, of_runtime = [runtime], set()
    while left:
        new = set(needed.get(left.pop(), [])) - of_runtime
        of_runtime |= new
        left += new
    assert not [name for name in of_runtime if re.match("lib(LLVM|MLIR)", name)]
