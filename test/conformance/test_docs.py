# test_docs.py - The generated pages are fresh and their examples are valid
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# docs/dialects/*.md and docs/passes.md are what utils/gen-docs.py writes from the .td
# files today, and every operation, attribute, type and pass has an example there. An
# example is a block of MLIR, complete in itself, and spyre-opt reads it:
#   - A first line `// spyre-opt --pass` is the command; without it nothing is run.
#   - What follows a line `// becomes` are lines of the output, in order; `…` in
#     a line stands for anything, a line `…` for any number of lines.
#   - `// error: TEXT` is what the command reports; it fails then.
# Links of all pages lead to files and headings that exist.
"""Generated pages, examples in MLIR, links between pages."""

import pathlib
import re
import shlex
import subprocess
import sys

import pytest
from lib.built import run, tool

from lib import harness

DOCS = harness.REPOSITORY / "docs"
GENERATED = [*sorted((DOCS / "dialects").glob("*.md")), DOCS / "passes.md"]
PAGES = [*sorted(DOCS.rglob("*.md")), harness.REPOSITORY / "README.md", harness.REPOSITORY / "CONTRIBUTING.md"]
BLOCK = re.compile(r"^```mlir\n(.*?)^```$", re.M | re.S)
FENCED = re.compile(r"^```.*?^```$", re.M | re.S)


def name_of(page):
    return page.relative_to(harness.REPOSITORY).as_posix()


def examples():
    """(page and heading, block) of every example."""
    for page in GENERATED:
        text = page.read_text()
        for number, match in enumerate(BLOCK.finditer(text)):
            heading = re.findall(r"^#+ (.*)$", FENCED.sub("", text[: match.start()]), re.M)[-1]
            yield pytest.param(match[1], id=f"{page.stem}-{heading}-{number}".replace(" ", "_"))


def split(block):
    """(options of spyre-opt, input, lines of the output or None, errors)."""
    options = []
    if command := re.match(r"// spyre-opt (.*)\n", block):
        options = shlex.split(command[1])
    text, becomes, output = block.partition("// becomes\n")
    return options, text, output.splitlines() if becomes else None, re.findall(r"// error: (.*)", text)


def pattern(line):
    """A line of the example as an expression: spaces are one, `…` is anything."""
    words = " ".join(line.split())
    return ".*".join(map(re.escape, words.split("…")))


def missing(expected, text):
    """The first line of the example that the output has not behind those before it, or None."""
    lines, place = [" ".join(line.split()) for line in text.splitlines()], 0
    anywhere = True  # the first line, and one behind a line `…`
    for line in expected:
        if line.strip() in ("…", ""):
            anywhere = True
            continue
        left = range(place, len(lines) if anywhere else min(place + 1, len(lines)))
        found = next((i for i in left if re.fullmatch(pattern(line), lines[i])), None)
        if found is None:
            return line
        place, anywhere = found + 1, False
    return None


def test_pages_are_fresh():
    done = subprocess.run(
        [sys.executable, harness.REPOSITORY / "utils" / "gen-docs.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("block", list(examples()))
def test_examples(tmp_path, block):
    options, text, output, errors = split(block)
    source = tmp_path / "example.mlir"
    source.write_text(text)
    done = run(tool("spyre-opt"), source, *options)
    assert (done.code != 0) == bool(errors), done.err
    for error in errors:
        assert f"error: {error}" in done.err or f"error: '{error}" in done.err
    if output is not None:
        line = missing(output, done.out)
        assert line is None, f"the output has no line (here)\n{line}\n\n{done.out}"


@pytest.mark.parametrize("page", GENERATED, ids=name_of)
def test_everything_has_an_example(page):
    """Enums are named by the operations that have them; their cases say enough."""
    text = page.read_text().partition("\n## Enums")[0]
    parts = re.split(r"^### (.*)$", text, flags=re.M)
    without = [name for name, body in zip(parts[1::2], parts[2::2], strict=True) if not BLOCK.search(body)]
    silent = [name for name, body in zip(parts[1::2], parts[2::2], strict=True) if not re.match(r"\n\n[^`*|]", body)]
    assert not without
    assert not silent, "no text before the example"


def anchors(page):
    """Fragments of a page's headings, as GitHub makes them."""
    found, seen = set(), {}
    for heading in re.findall(r"^#+ (.*)$", FENCED.sub("", page.read_text()), re.M):
        plain = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        found.add(f"{name}-{seen[name]}" if name in seen else name)
        seen[name] = seen.get(name, 0) + 1
    return found


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links(page):
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", FENCED.sub("", page.read_text())):
        if re.match(r"\w+:", target):
            continue
        path, _, fragment = target.partition("#")
        other = (page.parent / path).resolve() if path else page
        if not other.exists():
            broken.append(target)
        elif fragment and other.suffix == ".md" and fragment not in anchors(pathlib.Path(other)):
            broken.append(target)
    assert not broken


def test_glossary_is_sorted_and_links():
    text = (DOCS / "glossary.md").read_text()
    entries = [" ".join(part.split()) for part in text.split("\n\n")[2:]]
    terms = [re.match(r"\*\*(.+?)\.\*\* ", entry)[1] for entry in entries]
    assert terms == sorted(terms, key=str.lower)
    assert not [term for term, entry in zip(terms, entries, strict=True) if not re.search(r"→ \[.+\]\(.+\)$", entry)]


def test_the_picture_of_a_plan_is_fresh(tmp_path):
    """docs/picture/attention.svg, by the command in utils/draw-plan.py."""
    draw = harness.REPOSITORY / "utils" / "draw-plan.py"
    command = re.search(r"^#   utils/draw-plan.py (.*) \\\n#     (.*)$", draw.read_text(), re.M)
    program, picture = command[1].split()
    title = shlex.split(command[2])
    made = tmp_path / "made.svg"
    build = pathlib.Path(tool("spyre-compile")).parent.parent
    arguments = [harness.REPOSITORY / program, made, "--build", build, *title]
    done = subprocess.run([sys.executable, draw, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert made.read_text() == (harness.REPOSITORY / picture).read_text()
