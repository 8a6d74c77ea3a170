#!/usr/bin/env python3
# draw-plan.py - A picture of what a plan keeps in LX, operation by operation
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles a program and draws its first bundle's planned L3 (--dump-stages): a column an
# operation, from left to right in the order of execution, a rectangle a buffer in the
# scratchpad of a core at its addresses, a frame a loop. docs/picture/attention.svg is made by
#   utils/draw-plan.py test/data/plans/attention_2048.mlir docs/picture/attention.svg \
#     --title "Attention of 32 heads, 2,048 queries and keys, as planned"
"""Draw what a plan keeps in the cores' scratchpads, as an SVG file."""

import argparse
import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
ALLOC = re.compile(
    r"%(\w+) = spyre\.alloc lx\((\d+)\) holding<cores (\d+), slices\[([\d, ]*)\].*?"
    r"buffer<[\dx]+x(\w+), #spyre\.layout<\[([\d, ]*)\]"
)
OPERATION = re.compile(r"spyre\.(\w+) \(.*?\).*? ins\((.*?)\) outs\(%(\w+)\[.*?\]\)")
LOOP = re.compile(r"scf\.for %\w+ = %\w+ to %c(\d+)")
WORDS = {"batchmatmul": "product", "identity": "copy", "realdiv": "divide", "mul": "scale"}
LEFT, TOP, COLUMN, HEIGHT = 92, 92, 88, 300
STYLE = """
text { font-family: "Helvetica Neue", Helvetica, Arial, sans-serif; fill: #1b1f24; }
.h { font-size: 16px; font-weight: 600; }
.t { font-size: 12.5px; text-anchor: middle; }
.l { font-size: 11.5px; fill: #57606a; }
.e { text-anchor: end; }
rect { stroke-width: 1.2; }
.bg { fill: #ffffff; stroke: none; }
.loop { fill: #fff4e5; stroke: #c77700; stroke-dasharray: 5 4; }
.before { fill: #e8f1fb; stroke: #2563a8; }
.tile { fill: #eaf6ec; stroke: #2e7d32; }
.axis { stroke: #b6bec8; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .l { fill: #9aa4ae; }
  .bg { fill: #0d1117; }
  .loop { fill: #2b2112; stroke: #d9922b; }
  .before { fill: #14283f; stroke: #5b9bd8; }
  .tile { fill: #15301b; stroke: #5fae66; }
  .axis { stroke: #4a535e; }
}
"""


class Buffer:
    """Of one core: bytes, and the columns in which it is needed."""

    def __init__(self, address, size, depth):
        self.address, self.size, self.depth = address, size, depth
        self.first = self.last = None

    def touch(self, column):
        self.first = column if self.first is None else self.first
        self.last = column


def read(text):
    """Buffers, operations (name, writes LX) and loops (trips, first, last column) of planned L3."""
    buffers, operations, loops, stack = {}, [], [], []
    for line in text.splitlines():
        if found := LOOP.search(line):
            stack.append([int(found[1]), len(operations)])
        elif line.strip() == "}" and stack:
            trips, first = stack.pop()
            loops.append((trips, first, len(operations) - 1, len(stack)))
        elif found := ALLOC.search(line):
            name, address, _, slices, element, sizes = found.groups()
            size = 4 if element in ("f32", "i32") else 2
            for extent in sizes.split(","):
                size *= int(extent)
            for count in slices.split(","):
                size //= int(count)
            buffers[name] = Buffer(int(address), size, len(stack))
        elif found := OPERATION.search(line):
            column = len(operations)
            operations.append(WORDS.get(found[1], found[1]))
            for name in [*re.findall(r"%(\w+)\[", found[2]), found[3]]:
                if name in buffers:
                    buffers[name].touch(column)
    for buffer in buffers.values():
        for _, first, last, depth in loops:
            if buffer.depth <= depth and buffer.last is not None and first <= buffer.last <= last:
                buffer.first, buffer.last = min(buffer.first, first), last
    return [b for b in buffers.values() if b.last is not None], operations, loops


def draw(title, note, buffers, operations, loops):
    width, peak = LEFT + COLUMN * len(operations) + 20, max((b.address + b.size for b in buffers), default=1)
    scale = HEIGHT / peak

    def x(column):
        return LEFT + COLUMN * column

    def y(address):
        return TOP + HEIGHT - address * scale

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {TOP + HEIGHT + 62}" role="img" '
        f'aria-label="{html.escape(title)}">',
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>",
        f'<rect class="bg" x="0" y="0" width="{width}" height="{TOP + HEIGHT + 62}"/>',
        f'<text class="h" x="20" y="30">{html.escape(title)}</text>',
        f'<text class="l" x="20" y="50">{html.escape(note)}</text>',
    ]
    for trips, first, last, depth in sorted(loops, key=lambda loop: loop[3]):
        box = (x(first) - 3 + 4 * depth, TOP - 26 + 8 * depth, COLUMN * (last - first + 1) + 6 - 8 * depth)
        parts.append(
            f'<rect class="loop" x="{box[0]}" y="{box[1]}" width="{box[2]}" height="{HEIGHT + 64 - 16 * depth}" rx="8"/>'
            f'<text class="l" x="{box[0] + 10}" y="{box[1] + 17}">{trips} tiles, one after the other</text>'
        )
    for tick in range(0, peak // 2**19 + 1):
        at = y(tick * 2**19)
        parts.append(
            f'<line class="axis" x1="{LEFT - 8}" x2="{LEFT}" y1="{at:.1f}" y2="{at:.1f}"/>'
            f'<text class="l e" x="{LEFT - 12}" y="{at + 4:.1f}">{tick * 512} KiB</text>'
        )
    labels = []  # above all buffers: an operation may write where it reads
    for b in sorted(buffers, key=lambda b: b.depth):
        kind, height = ("tile" if b.depth else "before"), b.size * scale
        box = (x(b.first) + 3, y(b.address + b.size), COLUMN * (b.last - b.first + 1) - 6)
        parts.append(
            f'<rect class="{kind}" x="{box[0]}" y="{box[1]:.1f}" width="{box[2]}" height="{height:.1f}" rx="3" '
            'fill-opacity="0.8"/>'
        )
        if height >= 16:
            is_short = b.depth or b.last - b.first < 4
            at = (x(b.first) + COLUMN / 2 if is_short else box[0] + box[2] / 2, box[1] + height / 2 + 4)
            labels.append(f'<text class="t" x="{at[0]}" y="{at[1]:.1f}">{b.size // 1024} KiB</text>')
    for column, name in enumerate(operations):
        parts.append(f'<text class="t" x="{x(column) + COLUMN / 2}" y="{TOP + HEIGHT + 24}">{name}</text>')
    return "\n".join([*parts, *labels, "</svg>", ""])


def main(argv=None):
    parser = argparse.ArgumentParser(prog="draw-plan.py", description=__doc__)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("picture", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--title", help="headline (default: the program's name)")
    parser.add_argument("--flags", default="", help="further flags for spyre-compile")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="spyre-draw-") as scratch:
        stages, stats = pathlib.Path(scratch, "stages"), pathlib.Path(scratch, "stats.json")
        command = [options.build / "bin" / "spyre-compile", options.program, "-o", pathlib.Path(scratch, "program")]
        command += [f"--dump-stages={stages}", f"--stats={stats}", *options.flags.split()]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            print(done.stderr, file=sys.stderr, end="")
            return 1
        (planned,) = stages.glob("*planned.mlir")
        figures = json.loads(stats.read_text())
        moved = (figures["hbm_read_bytes"] + figures["hbm_write_bytes"]) / 1e6
        note = (
            f"What a core keeps in its scratchpad. {figures['modelled_us']:.0f} µs, {figures['bound_ratio']:.2f} times the "
            f"least; {moved:.0f} MB from and to device memory."
        )
        picture = draw(options.title or options.program.stem, note, *read(planned.read_text().split("// -----")[0]))
    options.picture.write_text(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
