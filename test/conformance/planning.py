#!/usr/bin/env python3
# planning.py - Planning problems through spyre-solve, beside the reference's answers
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Work divisions (work_division.json), LX packings (lx_packing.json, MiniMalloc's
# CSV files) and pools (hbm_pool_traces.json). Each of our plans is checked here
# from the rules, without the planning libraries, and must cost no more than the
# valid ones of the reference. What the cost is: published matmul formula or work
# per core; bytes x uses kept, then peak; pool size. Ends with a table of ratios.
"""Validity of our plans, and their cost beside the reference plans'."""

import contextlib
import csv
import json
import math
import pathlib
import re
import sys
import threading
import time

from lib.harness import Case, UsageError

from lib import harness

CORES = 32
SPAN_LIMIT = 256 << 20
DEVICE_BYTES = {
    "float16": 2, "bfloat16": 2, "bool": 2, "float32": 4, "int32": 4, "int64": 4, "int8": 1, "uint8": 4,
    "float8_e4m3fn": 1,
}  # fmt: skip


# --- collecting --------------------------------------------------------------


def collect(options):
    cases = []
    for text in options.paths:
        path = pathlib.Path(text)
        if path.is_dir():
            files = sorted(p for p in path.rglob("*") if p.suffix in (".json", ".csv"))
        elif path.exists():
            files = [path]
        else:
            raise UsageError(f"{text} does not exist")
        for file in files:
            cases += collect_file(file)
    return cases


def collect_file(file):
    if file.suffix == ".csv":
        parts = file.name.split(".")
        if len(parts) < 3 or not parts[-2].isdigit():
            raise UsageError(f"{file.name}: the capacity is missing from the name (NAME.CAPACITY.csv)")
        return [Case(f"minimalloc/{parts[0]}", lambda: ("csv", file, int(parts[-2])), group="minimalloc")]
    content = json.loads(file.read_text())
    if isinstance(content, list):
        return [
            Case(f"{file.stem}/{i}", lambda entry=entry: ("pool", entry), group="pool")
            for i, entry in enumerate(content)
        ]
    cases = []
    for plan in content.get("plans", []):
        cases.append(
            Case(f"divide/{plan['name']}", lambda plan=plan: ("divide", plan), group="divide", cores=plan["max_cores"])
        )
    for entry in content.get("matmul_split_cost", []):
        name = "_".join(f"{k}{entry[k][0]}by{entry[k][1]}" for k in "BMNK")
        cases.append(Case(f"cost/{name}", lambda entry=entry: ("cost", entry), group="cost"))
    for case in content.get("cases", []):
        cases.append(Case(f"pack/{case['name']}", lambda case=case: ("pack", case), group="pack"))
    if not cases:
        raise UsageError(f"{file}: neither plans, cases nor traces")
    return cases


# --- work division -----------------------------------------------------------


def evaluate(text, values):
    """One coordinate at one point of the iteration space."""
    text = re.sub(r"floor\(([^()]*)/(\d+)\)", r"((\1)//\2)", text)
    text = re.sub(r"Mod\(([^()]*),\s*(\d+)\)", r"((\1)%\2)", text)
    if not re.fullmatch(r"[\w\s()+*/%-]*", text):
        raise ValueError(f"cannot read the coordinate '{text}'")
    return eval(text, {"__builtins__": {}}, values)


def symbols_of(text):
    return set(re.findall(r"\b[a-z]\w*\b", text.replace("floor", "").replace("Mod", "")))


class Division:
    """A work-division problem as its file states it."""

    def __init__(self, plan):
        self.plan = plan
        self.sizes = {r["sym"]: r["size"] for r in plan["ranges"]}
        self.operands = [*plan["inputs"], plan["output"]]
        self.units = plan["it_space_in_sticks"]
        self.sticks = plan["stick_vars"]
        output = set().union(*[symbols_of(c) for c in plan["device_coordinates"][-1]])
        self.reduced = set(self.sizes) - output
        self.type = plan.get("reduction_type") or ""

    def slice_size(self, symbol, split):
        if split == 1:
            return self.sizes[symbol]
        return self.units[symbol] // split * self.sticks.get(symbol, 1)

    def places(self, coordinate, splits):
        """Places of a device dim between the first and the last that core 0 touches."""
        zero = dict.fromkeys(self.sizes, 0)
        count = 1
        for symbol in symbols_of(coordinate):
            last = min(self.sizes[symbol], self.slice_size(symbol, splits[symbol])) - 1
            values = [evaluate(coordinate, {**zero, symbol: v}) for v in {0, last, *interior(coordinate, last)}]
            count += max(values) - min(values)
        return count

    def span(self, index, splits):
        operand, coordinates = self.operands[index], self.plan["device_coordinates"][index]
        sizes = operand["layout_device_size"]
        for i, coordinate in enumerate(coordinates[:-1]):
            places = self.places(coordinate, splits)
            if places > 1:
                return places * math.prod(sizes[i + 1 :]) * DEVICE_BYTES[operand["dtype"]]
        return sizes[-1] * DEVICE_BYTES[operand["dtype"]]

    def faults(self, splits):
        """What is wrong with splits, from the rules."""
        if set(splits) != set(self.sizes):
            return [f"splits of {sorted(splits)} for dims {sorted(self.sizes)}"]
        found = [
            f"{s}: {self.units[s]} cannot be cut into {n} equal slices"
            for s, n in splits.items()
            if n < 1 or self.units[s] % n
        ]
        if math.prod(splits.values()) > self.plan["max_cores"]:
            found.append(f"{splits} needs more than {self.plan['max_cores']} cores")
        if sum(splits[s] > 1 for s in self.reduced) > 1:
            found.append("more than one reduced dim is split")
        if self.type.startswith("topk") and math.prod(splits.values()) > 1:
            found.append("top-k is split")
        if found:
            return found
        for i in range(len(self.operands)):
            if self.span(i, splits) > SPAN_LIMIT:
                found.append(f"operand {i} spans {self.span(i, splits)} bytes")
        return found

    def cost(self, splits):
        """The published cost of a matmul; else points of the iteration space per core."""
        if self.type != "batchmatmul":
            return math.prod(min(self.sizes[s], self.slice_size(s, n)) for s, n in splits.items())
        used = [set().union(*[symbols_of(c) for c in cs]) for cs in self.plan["device_coordinates"]]
        shape = {"B": [1, 1], "M": [1, 1], "N": [1, 1], "K": [1, 1]}
        for symbol, size in self.sizes.items():
            if symbol in self.reduced:
                role = "K"
            elif symbol in used[0]:
                role = "B" if symbol in used[1] else "M"
            else:
                role = "N"
            shape[role][0] *= size
            shape[role][1] *= splits[symbol]
        return matmul_cost(**shape)


def interior(coordinate, last):
    """Points at which a mod is largest."""
    points = set()
    for modulus in re.findall(r"Mod\([^()]*,\s*(\d+)\)", coordinate):
        points.add(min(last, int(modulus) - 1))
    return points


def matmul_cost(B, M, N, K):  # noqa: N803 - the formula's names
    (B, b), (M, m), (N, n), (K, k) = B, M, N, K  # noqa: N806
    passes = max(1, (M // m) / 8)
    efficiency = min(1, math.sqrt(passes / 8))
    compute = B * M * N * K / (b * m * n * k) / (1.536e6 * efficiency)
    hbm = 2 * (B * M * K + B * K * N + B * M * N) / 204800 * max(1, max(m, n) / 8)
    psum = (k - 1) * B * M * N * 1.4e-4
    tie = 0 if passes >= 8 else 50 * math.log2(8 / passes)
    return (compute + hbm + psum + tie) * b**1.4


def core_slices(division, splits, k_fast):
    order = list(splits)
    if k_fast:
        order = [order[-1], *order[:-1]]
    table = {}
    for core in range(math.prod(splits.values())):
        rest, table[str(core)] = core, {}
        for symbol in order:
            table[str(core)][symbol] = rest % splits[symbol]
            rest //= splits[symbol]
    return table


# --- packing -----------------------------------------------------------------


def packing_faults(case, addresses):
    """Overlaps of memory, misalignment, capacity."""
    buffers = {b["name"]: b for b in case["buffers"]}
    if set(addresses) != set(buffers):
        return ["not every buffer has an entry"]
    placed = [(n, a) for n, a in addresses.items() if a is not None]
    found = []
    for i, (name, address) in enumerate(placed):
        one = buffers[name]
        if address < 0 or address % case["alignment"]:
            found.append(f"{name} at {address} is not aligned")
        if address + one["size"] > case["limit"]:
            found.append(f"{name} ends beyond the limit")
        for other_name, other_address in placed[:i]:
            other = buffers[other_name]
            alive = one["uses"][0] <= other["uses"][-1] and other["uses"][0] <= one["uses"][-1]
            overlap = address < other_address + other["size"] and other_address < address + one["size"]
            if not alive or not overlap:
                continue
            if address == other_address and (takes_over(one, other) or takes_over(other, one)):
                continue
            found.append(f"{other_name} and {name} overlap while both are alive")
    return found


def takes_over(child, parent):
    return (
        parent["name"] in child["in_place_parents"]
        and parent["uses"][-1] == child["uses"][0]
        and child["size"] <= parent["size"]
    )


def packing_worth(case, addresses):
    kept = sum(b["size"] * len(b["uses"]) for b in case["buffers"] if addresses[b["name"]] is not None)
    peak = max([addresses[b["name"]] + b["size"] for b in case["buffers"] if addresses[b["name"]] is not None] or [0])
    return kept, peak


class TableBeforeTotals:
    """Standard output, with the table of ratios in front of the line of totals."""

    def __init__(self, stream, ratios):
        self.stream, self.ratios = stream, ratios

    def write(self, text):
        if re.match(r"\d+ passed, ", text):
            self.ratios.print(self.stream)
        return self.stream.write(text)

    def flush(self):
        self.stream.flush()


# --- judging -----------------------------------------------------------------


class Ratios:
    """Ours to the reference's cost, by kind of problem."""

    def __init__(self):
        self.rows = {}
        self.divisions = self.equal = 0
        self.seconds = []  # of each MiniMalloc instance
        self.lock = threading.Lock()

    def add(self, kind, ours, theirs):
        with self.lock:
            self.rows.setdefault(kind, []).append((ours, theirs))

    def print(self, out):
        if self.seconds:
            print(f"MiniMalloc: {len(self.seconds)} instances packed in {sum(self.seconds):.2f} s together", file=out)
        if not self.rows:
            return
        print(
            f"{'cost, ours / reference':34} {'cases':>5} {'less':>5} {'equal':>5} {'more':>5}"
            f" {'geomean':>8} {'worst':>6}",
            file=out,
        )
        for kind, pairs in sorted(self.rows.items()):
            ratios = [1.0 if a == b else a / b if b else math.inf for a, b in pairs]
            finite = [r for r in ratios if 0 < r < math.inf]
            mean = math.exp(sum(map(math.log, finite)) / len(finite)) if finite else 1.0
            less, more = sum(r < 1 - 1e-9 for r in ratios), sum(r > 1 + 1e-9 for r in ratios)
            equal = len(ratios) - less - more
            print(f"{kind:34} {len(pairs):5} {less:5} {equal:5} {more:5} {mean:8.3f} {max(ratios):6.3f}", file=out)
        if self.divisions:
            print(f"divisions: {self.divisions}; the fast heuristic's equal the reference's: {self.equal}", file=out)


def make_judge(options, tools, ratios):
    solver = tools("spyre-solve")

    def solve(command, problem, folder, *more):
        folder.mkdir(exist_ok=True)
        if isinstance(problem, pathlib.Path):
            source = problem
        else:
            source = folder / "problem.json"
            source.write_text(json.dumps(problem))
        target = folder / f"answer{source.suffix}"
        run = harness.run_process([solver, command, "--input", source, "--output", target, *more], options.timeout)
        return harness.failure_of(run), target

    def judge_divide(plan, folder):
        division = Division(plan)
        reference = plan["final_splits"]
        problems = []
        answers = {}
        for model in ("published", "spyre"):
            failure, target = solve("divide", question(plan), folder / model, f"--cost-model={model}")
            if failure:
                return failure
            answers[model] = json.loads(target.read_text())
            splits = answers[model]["splits"]
            problems += [f"{model}: {fault}" for fault in division.faults(splits)]
            if not problems and answers[model]["core_to_slice"] != core_slices(
                division, splits, answers[model]["k_fast"]
            ):
                problems.append(f"{model}: core_to_slice does not follow the core order")
        fast = answers["published"]["fast_splits"]
        problems += [f"fast: {fault}" for fault in division.faults(fast)]
        if problems:
            return harness.failed(harness.WRONG, problems[0])
        ours, theirs = division.cost(answers["published"]["splits"]), division.cost(reference)
        ratios.add("divide, published cost", ours, theirs)
        ratios.add("divide, fast, published cost", division.cost(fast), theirs)
        with ratios.lock:
            ratios.equal += fast == reference
            ratios.divisions += 1
        stats = {"published_cost": ours, "reference_cost": theirs, "fast_equal": int(fast == reference)}
        if ours > theirs * (1 + 1e-9):
            return harness.failed(
                harness.WRONG, f"costs {ours:.6g}, the reference's {theirs:.6g} ({reference})", stats=stats
            )
        return harness.right(stats=stats)

    def judge_cost(entry, folder):
        """The yardstick of this file against the published values."""
        shape = {k: entry[k] for k in "BMNK"}
        ours = matmul_cost(**shape)
        if entry["cost_us"] is None or math.isinf(float(entry["cost_us"])):
            return harness.right()
        if not math.isclose(ours, entry["cost_us"], rel_tol=1e-6):
            return harness.failed(harness.WRONG, f"{ours} us, not {entry['cost_us']}")
        return harness.right()

    def judge_pack(case, folder):
        failure, target = solve("pack", question(case), folder / "pack")
        if failure:
            return failure
        addresses = json.loads(target.read_text())["addresses"]
        faults = packing_faults(case, addresses)
        if faults:
            return harness.failed(harness.WRONG, faults[0])
        kept, peak = packing_worth(case, addresses)
        total = sum(b["size"] * len(b["uses"]) for b in case["buffers"])
        stats = {"kept": kept, "spilled": total - kept, "peak": peak}
        result = None
        for solver_name, theirs in case["addresses"].items():
            # What overlaps in memory is no answer.
            if packing_faults(case, theirs):
                continue
            their_kept, their_peak = packing_worth(case, theirs)
            ratios.add(f"pack, spilled, {solver_name}", total - kept, total - their_kept)
            if kept == their_kept:
                ratios.add(f"pack, peak, {solver_name}", peak, their_peak)
            if (kept, -peak) < (their_kept, -their_peak) and not result:
                result = harness.failed(
                    harness.WRONG,
                    f"keeps {kept} with peak {peak}, {solver_name} {their_kept} with peak {their_peak}",
                    stats=stats,
                )
        return result or harness.right(stats=stats)

    def judge_pool(trace, folder):
        failure, target = solve("pool", question(trace), folder / "pool")
        if failure:
            return failure
        answer = json.loads(target.read_text())
        live, end = {}, 0
        ids = {}
        if len(answer["trace"]) != len(trace["trace"]):
            return harness.failed(harness.WRONG, "the trace has another length")
        for i, (ours, theirs) in enumerate(zip(answer["trace"], trace["trace"])):
            if (ours["op"], ours["size"]) != (theirs["op"], theirs["size"]):
                return harness.failed(harness.WRONG, f"event {i} is another one")
            if ours["op"] == "free":
                key = ids.pop(theirs["offset"])
                if live.pop(key)[0] != ours["offset"]:
                    return harness.failed(harness.WRONG, f"event {i} frees another buffer")
                continue
            begin, size = ours["offset"], ours["size"]
            if begin % 128:
                return harness.failed(harness.WRONG, f"event {i}: offset {begin} is not aligned")
            for b, s in live.values():
                if b < begin + size and begin < b + s:
                    return harness.failed(harness.WRONG, f"event {i} overlaps memory that is alive")
            ids[theirs["offset"]] = i
            live[i] = (begin, size)
            end = max(end, begin + size)
        if end > answer["pool_end"]:
            return harness.failed(harness.WRONG, f"pool_end is {answer['pool_end']}, {end} is used")
        ratios.add("pool, pool_end", answer["pool_end"], trace["pool_end"])
        ratios.add("pool, pool_end / peak live bytes", answer["pool_end"], trace["peak"])
        stats = {"pool_end": answer["pool_end"], "reference": trace["pool_end"], "peak": trace["peak"]}
        if answer["pool_end"] > trace["pool_end"]:
            return harness.failed(
                harness.WRONG, f"{answer['pool_end']} bytes, the reference {trace['pool_end']}", stats=stats
            )
        return harness.right(stats=stats)

    def judge_csv(file, capacity, folder):
        # Without time there may be no answer, but a wrong one neither.
        for limit in ("0", options.time_limit):
            start = time.monotonic()
            failure, target = solve(
                "pack", file, folder / f"csv-{limit}", f"--capacity={capacity}", f"--time-limit={limit}"
            )
            seconds = time.monotonic() - start
            if limit == "0" and failure and "no packing within" in failure.reason:
                continue
            result = failure or judge_offsets(file, target, capacity)
            if not result.passed:
                return result
        with ratios.lock:
            ratios.seconds.append(seconds)
        return result

    def judge_offsets(file, target, capacity):
        with open(target, newline="") as stream:
            rows = [{k: int(v) for k, v in row.items() if k != "id"} for row in csv.DictReader(stream)]
        with open(file, newline="") as stream:
            asked = [{k: int(v) for k, v in row.items() if k != "id"} for row in csv.DictReader(stream)]
        if [{k: v for k, v in row.items() if k != "offset"} for row in rows] != asked:
            return harness.failed(harness.WRONG, "the buffers are not those of the problem")
        for i, a in enumerate(rows):
            if a["offset"] < 0 or a["offset"] + a["size"] > capacity:
                return harness.failed(harness.WRONG, f"buffer {i} leaves the capacity")
            for j, b in enumerate(rows[:i]):
                if (
                    a["lower"] < b["upper"]
                    and b["lower"] < a["upper"]
                    and a["offset"] < b["offset"] + b["size"]
                    and b["offset"] < a["offset"] + a["size"]
                ):
                    return harness.failed(harness.WRONG, f"buffers {j} and {i} overlap")
        return harness.right()

    kinds = {
        "divide": judge_divide,
        "cost": judge_cost,
        "pack": judge_pack,
        "pool": judge_pool,
        "csv": judge_csv,
    }

    def judge(case, folder):
        kind, *content = case.load()
        keep = harness.keep_folder(options, case)
        return kinds[kind](*content, keep or folder)

    return judge


ANSWERS = {
    "addresses", "final_splits", "after_span_reduction", "after_cost_model", "cost_model_took_it", "must_split",
    "spans_bytes", "pool_end", "peak",
}  # fmt: skip


def question(entry):
    """An entry without the reference's answer."""
    return {key: value for key, value in entry.items() if key not in ANSWERS}


def main(argv=None):
    argparser = harness.parser(
        "planning.py",
        __doc__,
        "planning.py test/data/planning",
        "folders, work_division.json, lx_packing.json, hbm_pool_traces.json or CSV files",
    )
    argparser.add_argument(
        "--time-limit", type=float, default=30, metavar="S", help="seconds for a MiniMalloc instance (default 30)"
    )
    ratios = Ratios()
    with contextlib.redirect_stdout(TableBeforeTotals(sys.stdout, ratios)):
        return harness.main(
            argparser, collect, lambda options, tools: make_judge(options, tools, ratios), argv, cores_select=True
        )


if __name__ == "__main__":
    sys.exit(main())
