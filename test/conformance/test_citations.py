# test_citations.py - What comments cite stands in the repository
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A citation names a page and a place in it:
#     docs/formats/superdsc-rules.md, e.3            also `e.1 to e.4`
#     docs/formats/superdsc-rules.md, section 6, fault 4
#     docs/formats/superdsc-rules.md, sections 1 and 8
#     docs/developer/architecture.md, "Planning"     a heading of the page
#     docs/formats/superdsc.md, SDSC-8               a numbered rule
# The page must exist and have the place. What is left when these are taken out must
# cite nothing: no rule or section without a page (`e.3`, `section 9`), no document
# that is not here (FOREIGN). Comments may break a citation over lines.
"""Citations in comments and pages, and what they cite."""

import os
import re

import pytest

from lib import harness

ROOT = harness.REPOSITORY
FOLDERS = ("include", "lib", "tools", "python", "test", "examples", "benchmarks", "utils", "docs", "cmake")
SUFFIXES = {".h", ".cpp", ".c", ".td", ".py", ".md", ".sh", ".txt"}
RULE = r"e\.\d(?: to e\.\d)?"
SECTION = r"sections? \d+(?:(?:, | and | to )\d+)*(?:, faults? \d+(?: and \d+)?)?"
CITATION = re.compile(rf'(docs/[\w/.-]+\.md), ((?:{SECTION}(?:, {RULE})?)|{RULE}|SDSC-\d+|"[^"]+")')
PAGE = re.compile(r"\bdocs/[\w/-]+\.(?:md|svg)")
# Forms of numbers that these pages give to their own parts.
NUMBERED = {"superdsc-rules.md", "device.md"}
OWN = [r"\b[Ss]ections? \d+", r"(?<![\w.])e\.\d\b"]
FOREIGN = [
    r"SuperDSC reference\b(?! (?:data|files|pairs|cases))",
    r"\b[Hh]ardware reference\b",
    r"\bsecond sheet\b",
    r"\breference/[\w-]+\.md",
    r"\breference, (?:section|e\.|number|fault)",
    r"\barchitecture(?:,|:) (?:rule|\")",
    r"\bRFC ?0?682\b",
    *OWN,
]


def sources():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            folders = set(path.relative_to(ROOT).parts)
            # The licences of others cite their own sections.
            if path.suffix in SUFFIXES and not folders & {"build", "__pycache__", "licenses"}:
                if "data" not in folders or path.suffix == ".md":
                    yield path
    yield from (ROOT / "README.md", ROOT / "CONTRIBUTING.md")


def target(path, link):
    """What a link of a page leads to, from the repository's folder."""
    return os.path.relpath(path.parent / link, ROOT)


def plain(path):
    """The text without the signs of comments and line breaks, links as the pages that they lead to."""
    text = path.read_text()
    if path.suffix == ".md":
        text = re.sub(r"\[[^]]*\]\(([\w/.-]+\.md)(?:#[^)]*)?\)", lambda match: target(path, match[1]), text)
    else:
        text = re.sub(r"^[ \t]*(?:///?|#)(?= )", " ", text, flags=re.M)
    return re.sub(r"\s+", " ", text)


TEXTS = {path: plain(path) for path in sources() if path.name != "test_citations.py"}


def headings(page):
    return re.findall(r"^#+ (.*)$", page.read_text(), re.M)


def places(label):
    """The places that a label names: ('section', 6), ('fault', 4), ('rule', 'e.3'), ('heading', …)."""
    if label.startswith('"'):
        return [("heading", label.strip('"'))]
    if label.startswith("SDSC"):
        return [("sdsc", label)]
    found = []
    if rules := re.findall(r"e\.(\d)", label):
        first, last = int(rules[0]), int(rules[-1])
        found += [("rule", f"e.{number}") for number in range(first, last + 1)]
    section, _, faults = re.sub(rf",? ?{RULE}", "", label).partition("fault")
    found += [("section", int(number)) for number in re.findall(r"\d+", section)]
    return found + [("fault", int(number)) for number in re.findall(r"\d+", faults)]


def has_place(page, kind, name):
    if kind == "heading":
        return name in headings(page)
    if kind == "section":
        return any(heading.startswith(f"{name}. ") for heading in headings(page))
    if kind == "rule":
        return any(heading.startswith(f"{name} ") for heading in headings(page))
    if kind == "fault":
        faults = page.read_text().partition("## 6. ")[2].partition("\n## ")[0]
        return re.search(rf"^{name}\. ", faults, re.M) is not None
    return f"| {name} |" in page.read_text()


def test_cited_places_exist():
    citations, wrong = 0, []
    for path, text in TEXTS.items():
        for page, label in CITATION.findall(text):
            citations += 1
            if not (ROOT / page).exists():
                wrong.append(f"{path.relative_to(ROOT)}: there is no {page}")
                continue
            wrong += [
                f"{path.relative_to(ROOT)}: {page} has no {kind} {name}"
                for kind, name in places(label)
                if not has_place(ROOT / page, kind, name)
            ]
    assert citations > 50
    assert not wrong


def test_named_pages_exist():
    wrong = [
        f"{path.relative_to(ROOT)}: there is no {page}"
        for path, text in TEXTS.items()
        for page in PAGE.findall(text)
        if not (ROOT / page).exists()
    ]
    assert not wrong


@pytest.mark.parametrize("foreign", FOREIGN)
def test_nothing_outside_is_cited(foreign):
    wrong = []
    for path, text in TEXTS.items():
        if path.name in NUMBERED and foreign in OWN:
            continue
        left = CITATION.sub("", text)
        wrong += [
            f"{path.relative_to(ROOT)}: …{left[max(0, match.start() - 40) : match.end() + 20]}…"
            for match in re.finditer(foreign, left)
        ]
    assert not wrong
