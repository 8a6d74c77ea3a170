# test_formats.py - Files that the tools write follow their schemas
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# docs/formats documents program.json, plan.json and launch_spec.json, each with a
# schema. What the compiler writes and the bindings of the reference data follow them;
# what a schema forbids the reader refuses as well.
"""Schemas of docs/formats against real files."""

import copy
import json

import pytest
from lib.built import DATA, MODELS, run, tool

from lib import harness, schema

FORMATS = harness.REPOSITORY / "docs" / "formats"
FILES = {"program": "program.json", "plan": "bundles/0/plan.json", "launch_spec": "bundles/0/launch_spec.json"}


def load_schema(name):
    return json.loads((FORMATS / f"{name}.schema.json").read_text())


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("formats") / "program"
    done = run(tool("spyre-compile"), MODELS / "softmax_32x256.mlir", "-o", folder)
    assert done.code == 0, done.err
    return folder


@pytest.mark.parametrize("model", ["add_32x96", "softmax_32x256", "linear_bias_32x128x192", "rmsnorm_32x512"])
@pytest.mark.parametrize("flags", [(), ("-O0", "--pretty")])
def test_what_the_compiler_writes(tmp_path, model, flags):
    done = run(tool("spyre-compile"), MODELS / f"{model}.mlir", "-o", tmp_path / "out", *flags)
    assert done.code == 0, done.err
    for name, file in FILES.items():
        content = json.loads((tmp_path / "out" / file).read_text())
        assert schema.validate(content, load_schema(name)) is None, file


def test_bindings_of_the_reference_data():
    wanted = load_schema("launch_spec")
    files = sorted((DATA / "superdsc" / "bundles").rglob("bind.json"))
    assert files
    for file in files:
        assert schema.validate(json.loads(file.read_text()), wanted) is None, file


def without_each_required_field(document, wanted, root, path=()):
    """Copies of a document, each without one required field: (path, copy)."""
    if "$ref" in wanted:
        yield from without_each_required_field(document, schema.resolve(wanted["$ref"], root), root, path)
        return
    if "oneOf" in wanted and "properties" not in wanted:
        for choice in wanted["oneOf"]:
            if schema.validate(document, choice, root) is None:
                yield from without_each_required_field(document, choice, root, path)
        return
    if isinstance(document, list) and document:
        for rest, changed in without_each_required_field(document[0], wanted.get("items", {}), root, (*path, 0)):
            yield rest, [changed, *document[1:]]
    if not isinstance(document, dict):
        return
    for name in wanted.get("required", ()):
        changed = copy.deepcopy(document)
        del changed[name]
        yield (*path, name), changed
    for name, child in wanted.get("properties", {}).items():
        if name in document:
            for rest, changed in without_each_required_field(document[name], child, root, (*path, name)):
                yield rest, {**document, name: changed}


@pytest.mark.parametrize("name", FILES)
def test_readers_refuse_what_a_schema_forbids(program, name):
    file, wanted = program / FILES[name], load_schema(name)
    whole = file.read_text()
    try:
        number = 0
        for path, changed in without_each_required_field(json.loads(whole), wanted, wanted):
            assert schema.validate(changed, wanted) is not None, path
            file.write_text(json.dumps(changed))
            done = run(tool("spyre-run"), program)
            assert done.code == 1 and f"error: {file}:/" in done.err, (path, done.err)
            number += 1
        assert number >= 5
    finally:
        file.write_text(whole)


@pytest.mark.parametrize("name", FILES)
def test_pages_name_version_and_fields(name):
    page, wanted = (FORMATS / f"{name}.md").read_text(), load_schema(name)
    assert wanted["properties"]["version"] == ({"enum": [1, 2]} if name == "plan" else {"const": 1})
    for field in wanted["properties"]:
        assert f"`{field}`" in page or f'"{field}":' in page, f"{name}.md does not explain {field}"
