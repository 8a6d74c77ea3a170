# test_plan_files.py - A saved plan, read again, is the same plan
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What --save-plan writes has all decisions of a plan: --plan has to come to the same bytes,
# for plans of all kinds, with parts on the host and layers that are shared.
"""--save-plan and --plan come to the same program."""

import filecmp
import json
import pathlib
import signal
import subprocess
import sys
import time

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from lib.built import run as finish  # noqa: E402
from lib.built import tool  # noqa: E402

DATA = HERE.parents[1] / "test" / "data"
PROGRAMS = [
    *(
        f"plans/{name}"
        for name in ("attention_2048", "attention_8192", "decoder_512", "residual_ffn_1024", "swiglu_512")
    ),
    *(
        f"models/{name}"
        for name in ("granite_layer_small", "granite_2layers_small", "bert_layer_small", "vit_block_small")
    ),
    *(f"models/{name}" for name in ("lm_head_granite", "conv2d_small", "attention_sdpa_mask", "softmax_512x1024")),
]


def files(folder):
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


#  program, flags
CASES = [
    *((program, [level]) for program in PROGRAMS for level in ("-O1", "-O2")),
    ("models/attention_sdpa", ["-O3", "--plan-kind=carried"]),
    ("models/attention_sdpa.torch", ["-O3", "--plan-kind=carried"]),
    ("plans/decoder_512", ["-O3", "--plan-kind=carried"]),
    ("models/conv2d_small", ["--device=mock4"]),
    ("models/layernorm_512x1024", ["--device=mock4", "--plan-kind=carried"]),
]


@pytest.mark.parametrize("program, flags", CASES, ids=lambda value: value if isinstance(value, str) else "".join(value))
def test_the_same_bytes(tmp_path, program, flags):
    source = DATA / f"{program}.mlir"
    first, second, plan = tmp_path / "first", tmp_path / "second", tmp_path / "plan.json"
    done = finish(tool("spyre-compile"), source, *flags, "-o", first, f"--save-plan={plan}")
    assert done.code == 0, done.err
    # The plan says its kind.
    flags = [flag for flag in flags if not flag.startswith("--plan-kind")]
    again = finish(tool("spyre-compile"), source, *flags, "-o", second, f"--plan={plan}")
    assert again.code == 0, again.err
    assert files(first) == files(second)
    for path in files(first):
        assert filecmp.cmp(first / path, second / path, shallow=False), path


@pytest.mark.parametrize("program", ["plans/attention_2048", "models/granite_layer_small", "models/bert_layer_small"])
@pytest.mark.parametrize("level", ["-O1", "-O2"])
def test_the_same_bytes_with_addresses(tmp_path, program, level):
    """The packing moves nobody who lies where the plan says."""
    source = DATA / f"{program}.mlir"
    first, second, plan = tmp_path / "first", tmp_path / "second", tmp_path / "plan.json"
    done = finish(tool("spyre-compile"), source, level, "-o", first, f"--save-plan={plan}", "--save-addresses")
    assert done.code == 0, done.err
    text = plan.read_text()
    assert '"address":' in text
    again = finish(tool("spyre-compile"), source, level, "-o", second, f"--plan={plan}")
    assert again.code == 0, again.err
    assert files(first) == files(second)
    for path in files(first):
        assert filecmp.cmp(first / path, second / path, shallow=False), path


@pytest.mark.parametrize("program", ["models/granite_layer_small", "models/bert_layer_small", "plans/decoder_512"])
@pytest.mark.parametrize("device", ["spyre", "mock32"])
def test_what_follows_from_some_nests_is_saved(tmp_path, program, device):
    """Every other nest: what the others kept in LX is another, and so is what these count on."""
    source, plan = DATA / f"{program}.mlir", tmp_path / "plan.json"

    def compiled(to, *flags):
        done = finish(tool("spyre-compile"), source, f"--device={device}", "-o", tmp_path / to, *flags)
        assert done.code == 0, done.err
        return tmp_path / to

    compiled("all", f"--save-plan={plan}")
    content = json.loads(plan.read_text())
    for function in content["functions"].values():
        function["nests"] = function["nests"][1::2]
        function.pop("lost", None)
    plan.write_text(json.dumps(content))
    first = compiled("first", f"--plan={plan}", f"--save-plan={tmp_path / 'some.json'}")
    second = compiled("second", f"--plan={tmp_path / 'some.json'}")
    assert files(first) == files(second)
    for path in files(first):
        assert filecmp.cmp(first / path, second / path, shallow=False), path


def test_an_interrupted_search_leaves_nothing(tmp_path):
    """Ctrl-C while the planner looks at more than usual."""
    source, folder = DATA / "plans" / "bert_large_8x512.mlir", tmp_path / "out"
    folder.mkdir()
    command = [tool("spyre-compile"), source, "-o", folder / "program", "--plan-seconds=60", f"--save-plan={folder}/p"]
    # What a shell runs in the background ignores Ctrl-C, and so does all that it starts.
    process = subprocess.Popen(
        list(map(str, command)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    time.sleep(0.5)
    assert process.poll() is None, "the search is too short to be interrupted"
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) != 0
    assert not list(folder.iterdir())
