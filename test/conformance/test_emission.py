# test_emission.py - Bundles are written as they were built
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# spyre-compile writes descriptors and plans from the emission's data; spyre-opt and
# spyre-translate go over the dialects sdsc and sdscbundle. Both ways lead to the same files.
"""Two ways from a plan to a bundle directory, compared byte by byte."""

import pytest
from lib.built import MODELS, run, tool

# Pool, LX, constants, several arguments and results, weights that are laid out, f32.
PROGRAMS = sorted(
    path.stem
    for pattern in (
        "add_32x96",
        "softmax_32x256",
        "layernorm_*",
        "attention_explicit_*",
        "matmul_*",
        "gelu*",
        "swiglu*",
    )
    for path in MODELS.glob(f"{pattern}.mlir")
    if "nodecomp" not in path.stem and "f32" not in path.stem  # whose products are the host's
)


def read(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.mark.parametrize("program", PROGRAMS)
def test_both_ways_write_the_same(program, tmp_path):
    done = run(
        *[tool("spyre-compile"), MODELS / f"{program}.mlir", "-o", tmp_path / "program", "--host=none"],
        f"--dump-stages={tmp_path / 'stages'}",
    )
    assert done.code == 0, done.err
    (module,) = (tmp_path / "stages").glob("*-superdsc.mlir")
    parts = module.read_text().split("// -----\n")
    for number, part in enumerate(parts):
        source = tmp_path / f"{number}.mlir"
        source.write_text(part)
        done = run(tool("spyre-translate"), "--sdsc-to-bundle", source, "-o", tmp_path / f"bundle{number}")
        assert done.code == 0, done.err
        assert read(tmp_path / f"bundle{number}") == read(tmp_path / "program" / "bundles" / str(number))


def test_there_are_programs():
    assert len(PROGRAMS) >= 8
