# test_transformers.py - Models of the library transformers
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The models of benchmarks/transformers_models.py, whose table stands in docs/models.md:
# compiled unmodified, compared with themselves in float64. And greedy generation, token
# by token, through a compiled forward.
"""Models of transformers give PyTorch's numbers through torch.compile."""

import pathlib
import re

import pytest
from conftest import ROOT, SKIPS

torch = pytest.importorskip("torch", reason=SKIPS["torch"])
pytest.importorskip("torch_mlir", reason=SKIPS["torch"])
transformers = pytest.importorskip("transformers", reason=SKIPS["transformers"])

import sys  # noqa: E402

sys.path.insert(0, str(ROOT / "benchmarks"))

import transformers_models as models  # noqa: E402

DEVICE_SHARE = 0.85  # of the operations of every model


@pytest.mark.parametrize("model", models.MODELS, ids=lambda model: model.name)
def test_model(model):
    row = models.run(model)
    assert row["error"] <= models.LIMIT
    assert row["again"], "a second call gives other numbers"
    assert row["device"] / (row["device"] + row["host"]) >= DEVICE_SHARE
