# conftest.py - What the tests of the Python package share
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The package is taken from the checkout, unless an installed one is asked for
# (SPYRE_TEST_INSTALLED). Each test has a cache of its own.
"""Fixtures of the Python package's tests."""

import json
import os
import pathlib
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
if "SPYRE_TEST_INSTALLED" not in os.environ:
    sys.path.insert(0, str(ROOT / "python"))

import spyre_mlir  # noqa: E402

SKIPS = json.loads((pathlib.Path(__file__).parent / "skips.json").read_text())["reasons"]
DATA = pathlib.Path(os.environ.get("SPYRE_TEST_DATA", ROOT / "test" / "data"))

ADD = """
module {
  func.func @main(%a: !torch.vtensor<[32,96],f16>, %b: !torch.vtensor<[32,96],f16>) -> !torch.vtensor<[32,96],f16> {
    %one = torch.constant.int 1
    %0 = torch.aten.add.Tensor %a, %b, %one : !torch.vtensor<[32,96],f16>, !torch.vtensor<[32,96],f16>, !torch.int -> !torch.vtensor<[32,96],f16>
    return %0 : !torch.vtensor<[32,96],f16>
  }
}
"""


@pytest.fixture(autouse=True)
def cache_dir(tmp_path, monkeypatch):
    monkeypatch.setenv("SPYRE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def arrays():
    generator = np.random.default_rng(0)
    return [(generator.integers(-64, 64, (32, 96)) / 8).astype(np.float16) for _ in range(2)]


@pytest.fixture
def environment():
    """The environment of a process that finds the package as this one does."""
    paths = [str(pathlib.Path(spyre_mlir.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
