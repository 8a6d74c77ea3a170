# test_transformers.py - Models of the library transformers
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The models of benchmarks/transformers_models.py, whose table stands in docs/models.md:
# compiled unmodified, compared with themselves in float64. And greedy generation, token
# by token, through a compiled forward.
"""Models of transformers give PyTorch's numbers through torch.compile."""

import sys

import pytest
from conftest import ROOT, SKIPS

torch = pytest.importorskip("torch", reason=SKIPS["torch"])
pytest.importorskip("torch_mlir", reason=SKIPS["torch"])
pytest.importorskip("transformers", reason=SKIPS["transformers"])

sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "examples")]

import python_transformers  # noqa: E402
import spyre_mlir.dynamo as dynamo  # noqa: E402
import transformers_models as models  # noqa: E402

# Of the operations of every model; attention in float32, whose matmuls have no device form, is one of the host.
LEAST_ON_DEVICE = {"float16": 0.85, "bfloat16": 0.85, "float32": 0.75}


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    dynamo.reset_summaries()


@pytest.mark.parametrize("model", models.MODELS, ids=lambda model: model.name)
def test_model(model):
    row = models.run(model)
    assert row["error"] <= models.limit(row)
    assert row["host_error"] < 0.05, "the comparison says little"
    assert row["again"], "a second call gives other numbers"
    assert row["device"] / (row["device"] + row["host"]) >= LEAST_ON_DEVICE[model.dtype]


@pytest.mark.parametrize("model", ["granite", "llama"])
def test_generate(model, capsys):
    assert python_transformers.main(["--model", model, "--tokens", "6"]) == 0
    said = capsys.readouterr().out
    assert "of 6 tokens are PyTorch's" in said
    assert said.startswith("2 graphs:"), "the prompt and all further tokens are a graph each"


def test_table_names_the_models():
    table = models.TABLE.read_text()
    assert all(f"| {model.name} |" in table for model in models.MODELS)
