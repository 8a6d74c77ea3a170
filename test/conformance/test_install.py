# test_install.py - What is installed can be built on
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# `cmake --install` into an empty folder; then a C program on the runtime (examples/c), an MLIR
# pass outside of this repository (examples/pass) and a project that has this one inside it.
# Everything carries one version.
"""find_package(Spyre), from an installed tree, and add_subdirectory."""

import os
import pathlib
import re
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from lib.built import BUILD, MODELS, cached, succeed, tool  # noqa: E402

ROOT = HERE.parents[1]
VERSION = re.search(r"project\(spyre-mlir VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
TOOLS = ("compile", "run", "opt", "translate", "solve", "lsp-server", "reduce")
SOFTMAX = MODELS / "softmax_32x256.mlir"


def configure(source, build, *more):
    compilers = [f"-D{name}={cached(name)}" for name in ("CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER")]
    return succeed("cmake", "-S", source, "-B", build, "-G", "Ninja", *compilers, *more)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder with both components; the Python package's is pip's."""
    prefix = tmp_path_factory.mktemp("installed")
    for component in ("Runtime", "Compiler"):
        succeed("cmake", "--install", BUILD, "--prefix", prefix, "--component", component)
    return prefix


def test_a_c_program_on_the_runtime(tmp_path):
    prefix, build, program = tmp_path / "prefix", tmp_path / "build", tmp_path / "program"
    succeed("cmake", "--install", BUILD, "--prefix", prefix, "--component", "Runtime")
    assert not (prefix / "include" / "spyre" / "Dialect").exists()
    configure(ROOT / "examples" / "c", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    succeed("cmake", "--build", build)
    assert not re.search("lib(LLVM|MLIR)", succeed("ldd", build / "run_bundle").out)
    succeed(tool("spyre-compile"), SOFTMAX, "-o", program)
    assert "read" in succeed(build / "run_bundle", program / "bundles" / "0").out


def test_a_pass_outside(installed, tmp_path):
    configure(ROOT / "examples" / "pass", tmp_path, f"-DCMAKE_PREFIX_PATH={installed}")
    succeed("cmake", "--build", tmp_path)
    said = succeed(tmp_path / "slice-count-opt", SOFTMAX, "--spyre-plan", "--slice-count", "-o", os.devnull).err
    assert re.search(r"remark: \w+ has 32 work slices", said)


def test_as_a_part_of_another_project(tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        f"""cmake_minimum_required(VERSION 3.21)
project(other LANGUAGES C CXX)
add_subdirectory({ROOT} spyre)
add_executable(other other.cpp)
target_link_libraries(other PRIVATE Spyre::Support)
"""
    )
    (tmp_path / "other.cpp").write_text(
        '#include "spyre/Support/Version.h"\n#include <cstdio>\nint main() { std::puts(spyre::getVersion()); }\n'
    )
    flags = ["-DSPYRE_BUILD_TESTS=OFF", "-DSPYRE_BUILD_FUZZERS=OFF", f"-DMLIR_DIR={cached('MLIR_DIR')}"]
    configure(tmp_path, tmp_path / "build", *flags)
    succeed("cmake", "--build", tmp_path / "build", "--target", "other")
    assert succeed(tmp_path / "build" / "other").out.strip() == VERSION


def test_one_version(installed):
    for name in TOOLS:
        assert succeed(installed / "bin" / f"spyre-{name}", "--version").out.strip() == f"spyre-{name} {VERSION}"
    assert f'PACKAGE_VERSION "{VERSION}"' in (installed / "lib/cmake/Spyre/SpyreConfigVersion.cmake").read_text()
    package = (ROOT / "python" / "spyre_mlir" / "__init__.py").read_text()
    assert f'__version__ = "{VERSION}"' in package
    assert VERSION not in (ROOT / "pyproject.toml").read_text(), "pyproject.toml reads CMakeLists.txt"
