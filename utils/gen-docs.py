#!/usr/bin/env python3
# gen-docs.py - The pages of the dialects and of the passes, from the .td files
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs mlir-tblgen's documentation backends and makes pages of what they print:
# docs/dialects/<dialect>.md and docs/passes.md. What mlir-tblgen says of every
# operation alike is said once, names become headings, files and passes that a
# text names become links. With --check it writes nothing and fails if a page is
# not what it would write. test/conformance/test_docs.py does that in every run.
"""Write docs/dialects/*.md and docs/passes.md, or check that they are fresh."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
NOTICE = "Generated from `include/spyre/{source}` by `utils/gen-docs.py`; do not edit.\n"

# Dialect -> (file that defines all of it, introduction).
DIALECTS = {
    "torch": (
        "Dialect/Torch/IR/Torch.td",
        "Programs enter the stack in this dialect; [the torch reader](../developer/torch-reader.md) has more, and "
        "`convert-torch-to-spyre` leads out of it.",
    ),
    "spyre": (
        "Dialect/Spyre/IR/SpyreOps.td",
        "This is the dialect that the compiler works in; [the architecture](../developer/architecture.md) says how the "
        "levels follow each other, and the [OpFunc table](../developer/opfuncs.md) has the facts of each device operation.",
    ),
    "sdsc": (
        "Dialect/SuperDSC/IR/Sdsc.td",
        "Descriptors in MLIR; the fields and rules of the files are in [the page of the format](../formats/superdsc.md), and "
        "`sdsc-verify` checks them.",
    ),
    "sdscbundle": (
        "Dialect/SuperDSC/IR/SdscBundle.td",
        "What `bundle.mlir` is written in, beside `func`, `arith`, `affine` and `scf`; "
        "[bundles](../formats/superdsc-rules.md#2-bundles) says in which order values stand.",
    ),
    "ktdp": (
        "Dialect/KTIR/IR/Ktdp.td",
        "KTIR is this dialect with `linalg`, `arith`, `math`, `tensor` and `scf`; [KTIR](../developer/ktir.md) says how "
        "plans become kernels, and `ktir-check-legality` checks what no single operation can.",
    ),
    "spyreop": (
        "Dialect/KTIR/IR/Spyreop.td",
        "What the device does to one element, in bodies of `linalg` in [kernels](../developer/ktir.md).",
    ),
}

# Groups of passes, in the order of the pipeline: heading, file, what they are for.
PASSES = [
    ("From torch to L1", "Conversion/TorchToSpyre/Passes.td", "The program's operations become those of `spyre`."),
    (
        "L1: what to compute",
        "Dialect/Spyre/Transforms/L1/Passes.td",
        "Precision, decomposition, views, iteration dims.",
    ),
    ("L2: where elements lie", "Dialect/Spyre/Transforms/L2/Passes.td", "Tensors get layouts."),
    (
        "L3: who computes what, from which memory",
        "Dialect/Spyre/Transforms/L3/Passes.td",
        "Work is divided, tensors become buffers, buffers get places.",
    ),
    ("From L3 to SuperDSC", "Conversion/SpyreToSuperDSC/Passes.td", "Each operation becomes a descriptor."),
    ("SuperDSC", "Dialect/SuperDSC/Transforms/Passes.td", "The rules of the format."),
    ("From L3 to KTIR", "Conversion/SpyreToKTIR/Passes.td", "A function becomes a kernel."),
    ("KTIR", "Dialect/KTIR/Transforms/Passes.td", "The rules of kernels."),
]
PASSES_INTRODUCTION = """\
Every pass is an option of `spyre-opt` by its name. They stand in the order in which the pipelines run them, with a verifier behind each level
([architecture](developer/architecture.md)); those that run on whole programs beside the pipelines come last in their group. In an example the first line is the
command, what follows `// becomes` are lines of its output (`…` stands for what is left out), and `// error:` is what the command reports.
"""
WIDTH = 180  # of lines that are written here
PIPELINES = ROOT / "lib" / "Compiler" / "Pipelines.cpp"
INTERFACE = "Dialect/Spyre/IR/SpyreInterfaces.td"
FENCE = re.compile(r"^```", re.M)


def find_tblgen():
    """mlir-tblgen of the build's LLVM, of MLIR_DIR, or Debian's."""
    folder = os.environ.get("MLIR_DIR", "/usr/lib/llvm-22/lib/cmake/mlir")
    cache = pathlib.Path(os.environ.get("SPYRE_BUILD") or ROOT / "build") / "CMakeCache.txt"
    if cache.exists():
        found = re.search(r"^MLIR_DIR:\w*=(.+)$", cache.read_text(), re.M)
        folder = found[1] if found else folder
    return pathlib.Path(folder).parents[2] / "bin" / "mlir-tblgen"


class TableGen:
    def __init__(self, tool):
        self.tool = tool
        self.includes = ["-I", ROOT / "include", "-I", tool.parents[1] / "include"]

    def run(self, source, *options):
        command = [self.tool, *options, *self.includes, ROOT / "include" / "spyre" / source]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"error: mlir-tblgen fails on {source}:\n{done.stderr}")
        return re.sub(r"<!-- Autogenerated.*?-->\n+", "", done.stdout)


def outside_code(text, change):
    """`text` with `change` applied to what stands in no fenced block."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    return "".join(part if part.startswith("```") else change(part) for part in parts)


def anchor(heading):
    """The fragment that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def escape(text):
    """What Markdown would read as emphasis or as the end of a cell."""
    return re.sub(r"([*|])", r"\\\1", text)


def sentence(summary):
    """A summary as a sentence of its own."""
    text = escape(summary.strip())
    text = text if text.startswith("`") else text[:1].upper() + text[1:]
    return text if text.endswith(".") else text + "."


def entries(text, level=3):
    """(heading, body) of each section of a level."""
    parts = re.split(rf"^{'#' * level} (.*)$", text, flags=re.M)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def tidy(body):
    """A body without what says nothing: effects of pure operations, empty columns, blank lines."""
    body = re.sub(r"^_(.+)_$", lambda m: sentence(m[1]), body, count=1, flags=re.M)
    body = re.sub(r"^Effects: .*\n+", "", body, flags=re.M)
    body = re.sub(r"^Syntax:\n\n", "", body, flags=re.M)
    body = re.sub(r"^(#+ [\w ]+):$", r"\1", body, flags=re.M)
    body = re.sub(r"^#### Parameters\n\n", "", body, flags=re.M)
    body = re.sub(
        r"^\| Parameter \| C\+\+ type \| Description \|\n.*\n",
        "| parameter | C++ type |\n|---|---|\n",
        body,
        flags=re.M,
    )
    body = re.sub(r"^\| (\w+) \| (`[^|]+`) \| [^|\n]*\|$", r"| \1 | \2 |", body, flags=re.M)
    body = re.sub(r"<table>\n<tr>.*?</table>", attribute_table, body, flags=re.S)
    body = re.sub(r"^#### (\w[\w ]*)$", r"*\1*", body, flags=re.M)
    return re.sub(r"\n{3,}", "\n\n", body).strip() + "\n"


def attribute_table(match):
    rows = re.findall(r"<tr><td><code>(\w+)</code></td><td>(.*?)</td><td>(.*?)</td></tr>", match[0], re.S)
    lines = ["| Attribute | Type | Description |", "| :-----: | ----------- | ----------- |"]
    return "\n".join(lines + [f"| `{name}` | `{kind}` | {what.splitlines()[0]} |" for name, kind, what in rows])


def fill(text):
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def contents(headings):
    return fill(" · ".join(f"[{name}](#{anchor(name)})" for name in headings)) + "\n"


def link(text, folder, passes):
    """Files of the repository and passes that `text` names become links."""

    def file_link(match):
        target = os.path.relpath(ROOT / match[1], DOCS / folder)
        return f"[{match[0].strip('`')}]({target})" if (ROOT / match[1]).exists() else match[0]

    def pass_link(match):
        page = os.path.relpath(DOCS / "passes.md", DOCS / folder) if folder else ""
        return f"[`{match[1]}`]({page}#{match[1]})" if match[1] in passes else match[0]

    def change(part):
        part = re.sub(r"(?<![\w/(\[])`?(docs/[\w/.-]+\.md)`?", file_link, part)
        return re.sub(r"(?<!\[)`-{0,2}([a-z0-9-]+)`(?!\])", pass_link, part)

    return outside_code(text, change)


def device_operations(ops):
    """The operations of the OpFunc table, with what is the same for all of them said once."""
    device = [(name, body) for name, body in ops if "of the OpFunc table" in body]
    if not device:
        return "", ops
    fields = device[0][1][device[0][1].index("*Attributes*") :]
    text = "## Device operations\n\n" + contents(name for name, _ in device)
    text += (
        "\nEach is one record of the [OpFunc table](../developer/opfuncs.md), which has its formats, constants and rules. "
        "The form is the same for all, and so are attributes, operands and result:\n\n" + fields
    )
    for name, body in device:
        body = body[body.index("This is device operation") : body.index("Traits:")].strip()
        body = re.sub(
            r"^This is .*?Its result: (.*)\.$", lambda m: f"Result: {escape(m[1])}.", body, count=1, flags=re.M
        )
        text += f"\n### {name}\n\n{body}\n"
    return text + "\n", [entry for entry in ops if entry not in device]


def heading_of(kind, dialect, name, body):
    """How programs write an attribute or a type: its mnemonic, where the text shows it."""
    sigil = {"Attributes": "#", "Types": "!"}.get(kind)
    if not sigil:
        return name
    found = re.findall(rf"{sigil}{dialect}[.<]([\w.]+)", body)
    plain = re.sub(r"(Attr|Type)$", "", name)
    snake = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", plain).lower()
    word = next(
        (word for word in found if word.lower().replace("_", "").replace(".", "") == snake.replace("_", "")), None
    )
    return f"{sigil}{dialect}.{word or (found[0] if found else snake)}"


def dialect_page(tblgen, dialect, passes):
    source, introduction = DIALECTS[dialect]
    if dialect == "torch":  # without operations, which the backend of whole dialects wants
        text = torch_description() + "\n## Types\n\n" + tblgen.run(source, "-gen-typedef-doc")
    else:
        text = tblgen.run(source, "-gen-dialect-doc", f"-dialect={dialect}")
        text = re.sub(r"^# .*\n+", "", text, count=1).replace("[TOC]\n", "")
    head, *sections = re.split(r"^## (?=Operations|Attributes|Types|Enums)", text, flags=re.M)
    page = (
        f"# The {dialect} dialect\n\n"
        + NOTICE.format(source=source)
        + "\n"
        + fill(introduction)
        + "\n\n"
        + tidy(head)
        + "\n"
    )
    for section in sections:
        kind, _, rest = section.partition("\n")
        kind = kind.strip()
        items = [(name, tidy(body)) for name, body in entries(rest)]
        if kind == "Operations":
            items = [(re.sub(r"`(.+?)` \(.*\)", r"\1", name), body) for name, body in items]
            device, items = device_operations(items)
            page += device
            kind = "Other operations" if device else kind
        items = [(heading_of(kind, dialect, name, body), body) for name, body in items]
        page += f"## {kind}\n\n" + contents(name for name, _ in items)
        page += "".join(f"\n### {name}\n\n{body}" for name, body in items) + "\n"
    if dialect == "spyre":
        page += interface_section(tblgen)
    return link(page.rstrip() + "\n", "dialects", passes)


def torch_description():
    text = (ROOT / "include" / "spyre" / DIALECTS["torch"][0]).read_text()
    body = re.search(r"def Torch_Dialect.*?let description = \[\{\n(.*?)  \}\];", text, re.S)[1]
    return re.sub(r"^    ", "", body, flags=re.M)


def interface_section(tblgen):
    text = tblgen.run(INTERFACE, "-gen-op-interface-docs")
    head, methods = text.split("### Methods:")
    description = re.sub(r"^#.*\n+", "", head, flags=re.M).strip()
    page = f"## DeviceOpInterface\n\n{description}\n\n| method | what it gives |\n|---|---|\n"
    for name, body in entries(methods, 4):
        meaning = re.sub(r"```c\+\+.*?```|NOTE: .*", "", body, flags=re.S).strip().replace("\n", " ")
        page += f"| {name} | {sentence(meaning)} |\n"
    return page


def options_list(match):
    rows = re.findall(r"^-(\S+)\s*: (.*(?:\n {2,}.*)*)", match[1], re.M)
    return "*Options*\n\n" + "".join(f"- `{name}`: {sentence(' '.join(what.split()))}\n" for name, what in rows)


def read_passes(tblgen):
    """Group -> (pass, body), in the order of the pipelines."""
    order = re.findall(r"::create(\w+)\(", PIPELINES.read_text())
    groups = {}
    for title, source, _ in PASSES:
        definitions = re.findall(
            r'^def (\w+) : Pass<"([\w-]+)"', (ROOT / "include" / "spyre" / source).read_text(), re.M
        )
        places = {name: order.index(cpp) if cpp in order else len(order) for cpp, name in definitions}
        found = []
        for name, body in entries(tblgen.run(source, "-gen-pass-doc")):
            body = re.sub(r"^#### Options\n\n```\n(.*?)```$", options_list, body, flags=re.M | re.S)
            body = re.sub(r"(^|(?<=[.)] )|(?<=\.\n))(Input|Lowering|Output|Input, output):", r"*\2*:", body, flags=re.M)
            found.append((name.strip("`-"), tidy(body)))
        groups[title] = sorted(found, key=lambda entry: places[entry[0]])
    return groups


def passes_page(groups, names):
    page = "# Passes\n\n" + NOTICE.format(source="**/Passes.td") + "\n" + PASSES_INTRODUCTION
    for title, _, purpose in PASSES:
        page += f"\n## {title}\n\n{purpose}\n\n{contents(name for name, _ in groups[title])}"
        page += "".join(f"\n### {name}\n\n{body}" for name, body in groups[title])
    return link(page, "", names)


def pages(tblgen):
    """Page below docs/ -> its text."""
    groups = read_passes(tblgen)
    names = {name for group in groups.values() for name, _ in group}
    result = {f"dialects/{dialect}.md": dialect_page(tblgen, dialect, names) for dialect in DIALECTS}
    result["passes.md"] = passes_page(groups, names)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is not fresh")
    parser.add_argument("--mlir-tblgen", type=pathlib.Path, help="default: that of the LLVM that the build uses")
    options = parser.parse_args()
    stale = []
    for name, text in pages(TableGen(options.mlir_tblgen or find_tblgen())).items():
        path = DOCS / name
        if path.exists() and path.read_text() == text:
            continue
        stale.append(name)
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    if options.check and stale:
        sys.exit(f"error: run utils/gen-docs.py; not fresh: {', '.join('docs/' + name for name in stale)}")


if __name__ == "__main__":
    main()
