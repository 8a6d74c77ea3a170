# test_report.py - The page that spyre-compile writes about a program
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The page is read as XML, which it is besides HTML, and held against what other code says
# of the same compilation: descriptors, --stats, the planned module. That its numbers add up
# and that it stays small are its promises (docs/formats/report.md).
"""What --report shows: every operation, loops, engines, rates, and where time is lost."""

import json
import os
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from lib.built import MODELS, run, tool  # noqa: E402
from lib.l3 import LOOP  # noqa: E402

PROGRAMS = [e for e in json.loads((MODELS / "manifest.json").read_text()) if e.get("tier") == 1]
# Heads of attention whose scores do not fit into the scratchpads of mock32.
HEADS, QUERIES, KEYS, WIDTH = 8, 512, 512, 64


def attention():
    q, k, s = f"{HEADS}x{QUERIES}x{WIDTH}xf16", f"{HEADS}x{KEYS}x{WIDTH}xf16", f"{HEADS}x{QUERIES}x{KEYS}xf16"
    rows = f"{HEADS}x{QUERIES}x1xf16"
    scores = f"d0 = {HEADS}, d1 = {QUERIES}, d2 = {KEYS}"
    return f"""
!q = tensor<{q}>
!k = tensor<{k}>
!s = tensor<{s}>
!r = tensor<{rows}>
func.func @main(%q: !q, %k: !k, %v: !k) -> !q {{
  %s = spyre.batchmatmul ({scores}, d3 = {WIDTH}) ins(%q[d0, d1, d3], %k[d0, d2, d3]) -> [d0, d1, d2] : !q, !k -> !s
  %m = spyre.max ({scores}) ins(%s[d0, d1, d2]) -> [d0, d1, 0] : !s -> !r
  %d = spyre.sub ({scores}) ins(%s[d0, d1, d2], %m[d0, d1, 0]) -> [d0, d1, d2] : !s, !r -> !s
  %e = spyre.exp ({scores}) ins(%d[d0, d1, d2]) -> [d0, d1, d2] : !s -> !s
  %l = spyre.sum ({scores}) ins(%e[d0, d1, d2]) -> [d0, d1, 0] : !s -> !r
  %p = spyre.realdiv ({scores}) ins(%e[d0, d1, d2], %l[d0, d1, 0]) -> [d0, d1, d2] : !s, !r -> !s
  %o = spyre.batchmatmul (d0 = {HEADS}, d1 = {QUERIES}, d2 = {WIDTH}, d3 = {KEYS})
    ins(%p[d0, d1, d3], %v[d0, d3, d2]) -> [d0, d1, d2] : !s, !k -> !q
  return %o : !q
}}
"""


class Page:
    def __init__(self, text):
        self.text = text
        self.root = ElementTree.fromstring(text)

    def find(self, tag, **attributes):
        names = {name.rstrip("_"): value for name, value in attributes.items()}
        return [e for e in self.root.iter(tag) if all(e.get(name) == value for name, value in names.items())]

    def drawing(self, name):
        """The drawing whose title has the id `name`-title."""
        drawings = [
            e for e in self.find("svg") if e.get("aria-labelledby", "").split() == [f"{name}-title", f"{name}-text"]
        ]
        assert len(drawings) == 1, name
        return drawings[0]

    def words(self):
        return "".join(self.root.itertext())


def words(element):
    return " ".join("".join(element.itertext()).split())


def get_time(row):
    """Of all runs, in us."""
    return float(row.get("data-ns")) * int(row.get("data-runs", 1)) / 1000


def reported(tmp_path, source, *flags):
    """(page, stats) of a program."""
    path, stats = tmp_path / "report.html", tmp_path / "stats.json"
    done = run(
        tool("spyre-compile"), source, "-o", tmp_path / "program", f"--report={path}", f"--stats={stats}", *flags
    )
    assert done.code == 0, done.err
    return Page(path.read_text()), json.loads(stats.read_text())


@pytest.fixture(scope="module")
def tiled(tmp_path_factory):
    """Page, stats and planned module of an attention with loops."""
    work = tmp_path_factory.mktemp("tiled")
    source = work / "attention.mlir"
    source.write_text(attention())
    page, stats = reported(work, source, "--device=mock32", f"--dump-stages={work / 'stages'}")
    (planned,) = (work / "stages").glob("*-planned.mlir")
    return page, stats, planned.read_text()


# --- every program -----------------------------------------------------------


@pytest.mark.parametrize("entry", PROGRAMS, ids=lambda e: e["name"])
def test_report_shows_every_device_operation(tmp_path, entry):
    page, stats = reported(tmp_path, MODELS / entry["file"])
    plan = json.loads((tmp_path / "program" / "bundles" / "0" / "plan.json").read_text())
    descriptors = [step["launch"] for step in plan["steps"]]
    rows = page.find("tr", class_="operation")
    assert len(rows) == len(descriptors)
    for row, descriptor in zip(rows, descriptors):
        (key,) = json.loads((tmp_path / "program" / "bundles" / "0" / descriptor).read_text())
        assert key.split("_", 1)[1] in words(row)
        assert entry["file"] + ":" in words(row)
    assert sum(map(get_time, rows)) == pytest.approx(stats["modelled_us"], abs=1e-5 * len(rows))
    check_is_self_contained(page)
    assert str(tmp_path) not in page.text and str(MODELS) not in page.text
    assert page.text == reported(tmp_path, MODELS / entry["file"])[0].text


def check_is_self_contained(page):
    identifiers = [e.get("id") for e in page.root.iter() if e.get("id")]
    assert len(identifiers) == len(set(identifiers))
    for element in page.root.iter():
        assert not any(element.get(name) for name in ("src", "action"))
        link = element.get("href")
        assert link is None or (link[0] == "#" and link[1:] in identifiers), link
    assert "http" not in page.text and "<script" not in page.text
    for drawing in page.find("svg", role="img"):
        for name in drawing.get("aria-labelledby").split():
            (text,) = [e for e in drawing if e.get("id") == name]
            assert text.text


def test_report_draws_scratchpads_and_says_seconds_when_asked(tmp_path):
    page, _ = reported(tmp_path, MODELS / "softmax_512x1024.mlir")
    assert page.drawing("f0-lx") is not None and "seconds" not in page.words()
    page, _ = reported(tmp_path, MODELS / "softmax_512x1024.mlir", "-O0", "--report-seconds")
    assert "Nothing is kept in LX" in page.words() and "seconds" in page.words()


def test_report_escapes_what_it_prints(tmp_path):
    source = tmp_path / "a<b>&'\".mlir"
    source.write_text((MODELS / "add_32x96.mlir").read_text())
    page, _ = reported(tmp_path, source)
    assert "a<b>&'\".mlir compiled for" in page.words()


# --- a plan with loops -------------------------------------------------------


def test_loops_are_brackets_and_rows(tiled):
    page, stats, planned = tiled
    constants = dict(re.findall(r"(%c\w+) = arith\.constant (\d+) : index", planned))
    trips = [constants[bound] for bound in re.findall(r"scf\.for %\w+ = %\w+ to (%\w+)", planned)]
    assert trips, "the plan has no loops"
    nests = page.find("tr", class_="nest")
    assert [row.get("data-trips") for row in nests] == trips
    for name in ("f0-lanes", "f0-lx"):
        brackets = [words(e) for e in page.drawing(name).iter("rect") if e.get("class") == "loop"]
        assert [re.match(r"loop of (\d+) trips", text)[1] for text in brackets] == trips
    # An operation in a loop is a row whose runs are the trips around it.
    rows = page.find("tr", class_="operation")
    runs = [int(row.get("data-runs")) for row in rows]
    assert max(runs) > 1 and sum(runs) == int(page.find("div", class_="tile")[2][0].text)
    assert sum(map(get_time, rows)) == pytest.approx(stats["modelled_us"], rel=1e-6)
    for row in nests:
        first, last = (int(link.get("href").split("o")[1]) for link in row.iter("a"))
        assert get_time(row) == pytest.approx(sum(map(get_time, rows[first : last + 1])), rel=1e-6)
        assert "of" in words(row[2]) and float(words(row[7])) > 0


def test_a_loop_has_the_least_of_its_bytes(tmp_path):
    source = tmp_path / "loop.mlir"
    source.write_text(LOOP)
    page, stats = reported(tmp_path, source)
    assert "4 times" in page.words()
    (row,) = page.find("tr", class_="nest")
    # A stick a row, 16 rows a trip; nothing is lost by the loop, since each byte moves once.
    assert row.get("data-trips") == "4"
    assert "in0 16×64 of 64×64" in words(row[2]) and "out0 16×64 of 64×64" in words(row[2])
    assert [text.strip() for text in row[3].itertext()] == ["8192 B", "8192 B"]
    assert words(row[7]) == "1.00"
    assert get_time(row) == pytest.approx(64 * 128 * (2 / 150 + 0.00574) / 1000, rel=1e-4)


def test_lanes_say_which_engine_is_busy(tiled):
    page, stats, _ = tiled
    texts = [words(e) for e in page.drawing("f0-lanes").iter("text")]
    for lane in ("device memory, read", "device memory, written", "systolic arrays", "vector units (SIMD)"):
        assert lane in texts
    (table,) = page.find("table", class_="engines")
    busy = [float(words(cell).lstrip("≤ ")) for cell in list(table.iter("tr"))[1].iter("td")]
    parts = stats["modelled_parts"]
    assert busy[0] + busy[1] == pytest.approx(parts["memory_us"], abs=0.1)
    assert busy[2] == pytest.approx(parts["compute_us"], abs=0.1)
    assert busy[4] == pytest.approx(parts["ring_us"], abs=0.1)
    # A title an operation, with its place, time, runs and bytes.
    titles = [words(group[0]) for group in page.drawing("f0-lanes").iter("g")]
    assert len(titles) == len(page.find("tr", class_="operation"))
    assert all(
        re.search(r"#\d+ \w+ \(attention\.mlir:\d+:\d+.*\): [\d.]+ µs.*; .*B read, .*B written", t) for t in titles
    )


def test_scratchpads_show_values_and_transfers(tiled):
    page, stats, planned = tiled
    drawing = page.drawing("f0-lx")
    boxes = [e for e in drawing.iter("rect") if e.get("class").startswith("buf")]
    assert len(boxes) == len(re.findall(r"spyre\.alloc lx\(", planned))
    peak = max(int(re.search(r"bytes \d+ to (\d+)", words(box))[1]) for box in boxes)
    assert peak == stats["lx_bytes_peak"]
    transfers = [e for e in drawing.iter("rect") if e.get("class") in ("in", "out")]
    assert transfers and all(re.search("identity|ReStickify", words(e)) for e in transfers)
    assert any("in0" in words(box) or "in1" in words(box) for box in boxes)


def test_roofline_has_the_ceilings_and_a_dot_for_each_operation(tiled):
    page, _, _ = tiled
    drawing = page.drawing("roofline-dots")
    timed = [row for row in page.find("tr", class_="operation") if float(row.get("data-ns")) > 0]
    assert len(list(drawing.iter("circle"))) == len(timed)
    assert sum(e.get("class") == "ceiling" for e in drawing.iter("path")) == 2
    assert "device memory: 150.0 GB/s" in words(drawing)  # docs/device.md


def test_what_is_lost_adds_up(tiled):
    page, stats, _ = tiled
    (table,) = page.find("table", class_="losses")
    rows = list(table.iter("tr"))
    total = [float(words(cell)) for cell in rows[-1].iter("td") if words(cell)]
    modelled, least, ratio, part, lost = total
    assert modelled == pytest.approx(stats["modelled_us"], abs=0.1)
    assert part == pytest.approx(stats["bound_us"], abs=0.1)
    assert lost == pytest.approx(modelled - part, abs=0.2)
    assert least <= modelled and ratio == pytest.approx(modelled / least, abs=0.01)
    ranked = [float(words(cell)) for row in rows for cell in row.iter("td") if cell.get("class") == "n lost"]
    assert ranked == sorted(ranked, reverse=True)
    assert words(page.find("div", class_="tile")[1]).startswith(f"{stats['bound_ratio']:.2f}")


# --- whole models ------------------------------------------------------------


def test_rates_in_use_are_the_ceilings(tmp_path):
    rates = tmp_path / "rates.json"
    rates.write_text('{"version": 1, "rates": {"memory_bytes_per_ns": 75}}')
    page, _ = reported(tmp_path, MODELS / "add_32x96.mlir", f"--rates={rates}")
    assert "device memory: 75.0 GB/s" in words(page.drawing("roofline-dots"))


def chain(number):
    """Operations after each other whose arguments lie in device memory."""
    lines = ["!t = tensor<512x1024xf16>", "func.func @main(%x: !t, %y: !t) -> !t {"]
    value = "%x"
    for i in range(number):
        other = "" if i % 3 else ", %y[d0, d1]"
        kind, types = ("add", "!t, !t") if other else (("exp", "neg")[i % 2], "!t")
        lines.append(
            f"  %v{i} = spyre.{kind} (d0 = 512, d1 = 1024) ins({value}[d0, d1]{other}) -> [d0, d1] : {types} -> !t"
        )
        value = f"%v{i}"
    return "\n".join([*lines, f"  return {value} : !t", "}", ""])


def test_page_of_a_thousand_operations_is_small_and_soon_there(tmp_path):
    source = tmp_path / "chain.mlir"
    source.write_text(chain(1000))
    page, stats = reported(tmp_path, source)
    assert stats["device_ops"] >= 1000
    assert len(page.text.encode()) < 2_000_000
    rows = page.find("tr", class_="operation")
    assert sum(map(get_time, rows)) == pytest.approx(stats["modelled_us"], rel=1e-6)
    check_is_self_contained(page)

    # Time of this process's children alone: others share the machine.
    def measure(*flags):
        before = os.times()
        assert run(tool("spyre-compile"), source, "-o", tmp_path / "again", *flags).code == 0
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    plain = min(measure() for _ in range(3))
    assert min(measure(f"--report={tmp_path / 'again.html'}") for _ in range(3)) < plain + 1
