# test_examples.py - The Python programs of examples/
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each is run as a user would, the one that generates with less to do. What is printed is
# checked, not only the exit code; that the comparison of the examples notices wrong
# numbers is tested by itself.
"""Examples exit with success and say what they promise."""

import pathlib
import re
import subprocess
import sys

import pytest
from conftest import SKIPS

torch = pytest.importorskip("torch", reason=SKIPS["torch"])
pytest.importorskip("torch_mlir", reason=SKIPS["torch"])

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def run(name, *arguments, environment):
    return subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments], capture_output=True, text=True, env=environment, timeout=300
    )


# example -> (share of operations on the device in percent, at least; operations that may run on the host)
COMPARED = {
    "python_softmax.py": (100, set()),
    "python_mlp.py": (100, set()),
    "python_loop.py": (100, set()),
    "python_bert.py": (95, {"aten.embedding"}),
    "python_vit.py": (95, set()),
    "python_cnn.py": (95, {"aten.convolution"}),
}


@pytest.mark.parametrize("name", COMPARED)
def test_compared_with_pytorch(name, environment):
    done = run(name, environment=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    errors = [float(text) for text in re.findall(r"largest error (\S+) of the result's rms", done.stdout)]
    shares = [int(text) for text in re.findall(r"operations on the device \((\d+)%\)", done.stdout)]
    hosts = re.findall(r"^ +\d+ x (\S+):", done.stdout, re.MULTILINE)
    least, allowed = COMPARED[name]
    assert errors and max(errors) < 0.01
    assert shares and min(shares) >= least
    assert {host.removesuffix(".default") for host in hosts} <= allowed


def test_every_example_is_tested():
    tested = {*COMPARED, "python_generate.py", "python_transformers.py"}  # the last one in test_transformers.py
    assert tested == {path.name for path in EXAMPLES.glob("python_*.py")}


def test_generated_tokens_are_pytorchs(environment):
    done = run("python_generate.py", "--tokens", "6", "--prompt", "8", environment=environment)
    assert done.returncode == 0, done.stderr
    assert "of 6 tokens are PyTorch's" in done.stdout
    (tokens,) = re.findall(r"^tokens: (.*)", done.stdout, re.MULTILINE)
    assert len(set(tokens.split())) > 3, "a model that repeats itself tells little"


def test_wrong_usage(environment):
    done = run("python_generate.py", "--tokens", "4000", environment=environment)
    assert done.returncode == 2 and "at most 128" in done.stderr


class TestComparison:
    @pytest.fixture(autouse=True)
    def module(self, monkeypatch):
        monkeypatch.syspath_prepend(str(EXAMPLES))
        import comparison

        self.comparison = comparison

    def test_errors_are_measured_by_the_result(self):
        want = torch.tensor([3.0, 4.0])
        assert self.comparison.error(want + torch.tensor([0.0, 0.5]), want) == pytest.approx(0.5 / 12.5**0.5)

    @pytest.mark.parametrize("got", [[float("nan"), 4.0], [float("inf"), 4.0], [3.0]])
    def test_what_is_no_answer(self, got):
        assert self.comparison.error(torch.tensor(got), torch.tensor([3.0, 4.0])) == float("inf")

    def test_infinities_of_the_reference(self):
        want = torch.tensor([float("-inf"), 2.0])
        assert self.comparison.error(want.clone(), want) == 0
        assert self.comparison.error(-want, want) == float("inf")

    @pytest.mark.parametrize("logits, status", [((3.0, 2.0), 1), ((3.0, 2.99), 0)])
    def test_other_tokens_must_be_ties(self, logits, status, capsys):
        wanted, got = torch.tensor([7, 0]), torch.tensor([7, 1])
        wanted_logits = [torch.tensor([logits])] * 2
        got_logits = [row + torch.tensor([[-0.01, 0.01]]) for row in wanted_logits]
        assert self.comparison.report_tokens(got, got_logits, wanted, wanted_logits) == status
        assert "1 of 2 tokens are PyTorch's" in capsys.readouterr().out

    def test_wrong_numbers_fail(self, capsys):
        model, x = torch.nn.Linear(8, 8), torch.randn(4, 8)
        right = self.comparison.reference(model, (x,))
        assert self.comparison.report(model, (x,), right) == 0
        assert self.comparison.report(model, (x,), right + 1) == 1
        assert "that is more than 0.02" in capsys.readouterr().out
