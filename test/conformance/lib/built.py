# built.py - The built tools and the reference data, for pytest
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# SPYRE_BUILD and SPYRE_TEST_DATA point elsewhere than to the repository's folders.
"""Where tests find tools and data, and how they run a tool."""

import os
import re

import pytest

from lib import harness
from lib.harness import BUILD, DATA

TIMEOUT_S = 300
LONG_S = 3600  # of builds
LARGE = DATA / "superdsc" / "bundles"
MODELS = DATA / "models"


def tool(name):
    path = BUILD / "bin" / name
    if not path.exists():
        pytest.fail(f"{name} is not built: run utils/check.sh, or set SPYRE_BUILD")
    return path


def run(*command, environment=None):
    """The finished process; it may fail, but neither crash nor hang. environment: variables besides ours."""
    done = harness.run_process(command, TIMEOUT_S, env={**os.environ, **(environment or {})})
    assert not done.timed_out and not done.crashed, f"{done.describe_end()}: {done.err}"
    return done


def succeed(*command):
    """The finished process of any program, which must not fail."""
    done = harness.run_process(command, LONG_S)
    assert done.code == 0, f"{' '.join(done.command)}\n{done.out[-3000:]}{done.err[-3000:]}"
    return done


def cached(name):
    """A variable of the build folder's CMakeCache.txt; empty: it has none."""
    found = re.search(rf"^{name}:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.M)
    return found[1] if found and not found[1].endswith("NOTFOUND") else ""
