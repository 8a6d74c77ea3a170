# test_examples.py - The Python programs of examples/
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each is run as a user would, with less to do.
"""Examples exit with success and say what they promise."""

import pathlib
import subprocess
import sys

import pytest
from conftest import SKIPS

pytest.importorskip("torch", reason=SKIPS["torch"])
pytest.importorskip("torch_mlir", reason=SKIPS["torch"])

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def run(name, *arguments, environment):
    return subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments], capture_output=True, text=True, env=environment, timeout=300
    )


def test_generated_tokens_are_pytorchs(environment):
    done = run("python_generate.py", "--tokens", "4", "--prompt", "8", environment=environment)
    assert done.returncode == 0, done.stderr
    assert "of 4 tokens are PyTorch's" in done.stdout


def test_wrong_usage(environment):
    done = run("python_generate.py", "--tokens", "4000", environment=environment)
    assert done.returncode == 2 and "at most 128" in done.stderr
