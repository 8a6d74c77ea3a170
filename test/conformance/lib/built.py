# built.py - The built tools and the reference data, for pytest
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# SPYRE_BUILD and SPYRE_TEST_DATA point elsewhere than to the repository's folders.
"""Where tests find tools and data, and how they run a tool."""

import os
import pathlib

import pytest

from lib import harness

DATA = pathlib.Path(os.environ.get("SPYRE_TEST_DATA") or harness.REPOSITORY / "test" / "data")
BUILD = pathlib.Path(os.environ.get("SPYRE_BUILD") or harness.REPOSITORY / "build")
LARGE = DATA / "superdsc" / "bundles"
MODELS = DATA / "models"


def tool(name):
    path = BUILD / "bin" / name
    if not path.exists():
        pytest.fail(f"{name} is not built: run utils/check.sh, or set SPYRE_BUILD")
    return path


def run(*command):
    """The finished process; it may fail, but neither crash nor hang."""
    done = harness.run_process(command, 300)
    assert not done.timed_out and not done.crashed, done.err
    return done
