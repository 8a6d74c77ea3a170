#!/usr/bin/env python3
# gen-opfunc-table.py - C++ rows and the reference page of the OpFunc table
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reads what `llvm-tblgen -dump-json` makes of include/spyre/OpFunc/OpFuncs.td.
# Without an option it writes OpFuncTable.inc, which OpFuncTable.h and
# OpFuncTable.cpp include; with --docs the page docs/developer/opfuncs.md; with
# --check-docs it compares that page with what it would write.
"""Generate the C++ rows or the reference page of the OpFunc table."""

import argparse
import json
import sys

CATEGORIES = [
    ("Unary", "Unary"),
    ("Broadcast", "Broadcast"),
    ("Reduction", "Reductions"),
    ("Normalisation", "Normalisation"),
    ("Scan", "Scans"),
    ("Batchmatmul", "Matmul"),
    ("Quantisation", "Casts and quantisation"),
    ("DataMovement", "Data movement"),
    ("Pooling", "Pooling"),
    ("Convolution", "Convolution"),
]


class Table:
    """The records of the dump, references resolved."""

    def __init__(self, dump):
        self.dump = dump
        records = [dump[name] for name in dump["!instanceof"]["OpFunc"]]
        self.ops = sorted(records, key=lambda op: op["opFuncName"])
        names = [op["opFuncName"] for op in self.ops]
        if len(set(names)) != len(names):
            sys.exit("error: two records of one opFuncName")
        for op in self.ops:
            self.check(op)

    def resolve(self, reference):
        return self.dump[reference["def"]]

    def forms(self, op):
        return [self.resolve(form) for form in op["forms"]]

    def check(self, op):
        """Mistakes that the C++ compiler would not find."""
        name = op["opFuncName"]
        if not op["meaning"]:
            sys.exit(f"error: {name} has no meaning")
        if not op["specified"]:
            return
        if not op["forms"]:
            sys.exit(f"error: {name} is specified but has no form")
        for form in self.forms(op):
            if len(form["inputFormats"]) != op["numInputs"]:
                sys.exit(
                    f"error: a form of {name} has {len(form['inputFormats'])} inputs, the record {op['numInputs']}"
                )
        if len(op["requiredTail"]) != op["numInputs"]:
            sys.exit(f"error: {name} states {len(op['requiredTail'])} required tails for {op['numInputs']} inputs")
        tail = self.resolve(op["producedTail"])
        if (tail["rule"] == "Map") != (len(tail["map"]) == 5):
            sys.exit(f"error: the tail map of {name} needs five states")


def quote(text):
    return json.dumps(text)


def array(lines, name, element, values):
    """Define an array and give the expression that refers to it."""
    if not values:
        return "{}"
    lines.append(f"constexpr {element} {name}[] = {{{', '.join(values)}}};")
    return name


INPUTS = "xyzvw"


class Body:
    """A scalar body as nodes, operands first; the last is the value."""

    def __init__(self, table, op):
        self.table, self.op, self.nodes, self.known = table, op, [], {}
        self.text = self.add(op["body"])[1]

    def fail(self, why):
        sys.exit(f"error: the body of {self.op['opFuncName']}: {why}")

    def leaf(self, key, fields, text):
        if key not in self.known:
            self.known[key] = len(self.nodes)
            self.nodes.append(fields)
        return self.known[key], text

    def add(self, dag):
        """Add a dag; return the number of its node and what people read."""
        node = self.table.resolve(dag["operator"])
        args = dag["args"]
        if node["name"] == "parameter":
            name = args[0][0]
            if name not in self.op["constants"]:
                self.fail(f"{name} is no constant of the operation")
            return self.leaf(
                ("parameter", name), [("kind", "ScalarNode::Kind::Parameter"), ("name", quote(name))], name
            )
        if node["name"] == "number":
            fields = [("kind", "ScalarNode::Kind::Number"), ("number", number(args[0][0]))]
            return self.leaf(("number", args[0][0]), fields, args[0][0].removesuffix(".0"))
        operands = [self.operand(*arg) for arg in args]
        if node["name"] == "same":
            return operands[0]
        operation = node["name"] + (" " + node["predicate"] if node["predicate"] else "")
        text = f"{operation.split('.')[-1]}({', '.join(text for _, text in operands)})"
        numbers = [str(i) for i, _ in operands]
        fields = [("kind", "ScalarNode::Kind::Operation"), ("name", quote(node["name"]))]
        fields += [("predicate", quote(node["predicate"])), ("operands", numbers)]
        return self.leaf((operation, *numbers), fields, text)

    def operand(self, value, name):
        if value is not None:
            return self.add(value)
        if name not in INPUTS:
            self.fail(f"${name} is no input")
        # The value of a reduction is what its inputs are combined to.
        fields = [("kind", "ScalarNode::Kind::Input"), ("input", str(INPUTS.index(name)))]
        return self.leaf(("input", name), fields, name)

    def uses_only_standard_dialects(self):
        return not any(dict(node).get("name", "").startswith('"spyreop.') for node in self.nodes)


def number(text):
    """A double in C++."""
    limits = "std::numeric_limits<double>::infinity()"
    return {"inf": limits, "-inf": "-" + limits}.get(text, text)


def error_factor(text):
    if text == "Unbounded":
        return "std::numeric_limits<double>::infinity()"
    return text if text else "std::nullopt"


def write_table(table):
    lines = [
        "// Written by utils/gen-opfunc-table.py from OpFuncs.td. Do not edit.",
        "",
        "#ifdef SPYRE_OPFUNC_ENUM",
        "#undef SPYRE_OPFUNC_ENUM",
    ]
    lines += [f"{op['cppName']}," for op in table.ops]
    lines += ["#endif", "", "#ifdef SPYRE_OPFUNC_ROWS", "#undef SPYRE_OPFUNC_ROWS"]
    rows = []
    for op in table.ops:
        cpp = op["cppName"]
        forms = []
        for i, form in enumerate(table.forms(op)):
            inputs = array(lines, f"k{cpp}Form{i}", "DataFormat", [f"DataFormat::{f}" for f in form["inputFormats"]])
            forms.append(f"{{{inputs}, DataFormat::{form['outputFormat']}, DataFormat::{form['emittedAs']}}}")
        tail = table.resolve(op["producedTail"])
        nodes = []
        for i, node in enumerate(Body(table, op).nodes if op["specified"] else []):
            node = dict(node)
            if "operands" in node:
                node["operands"] = array(lines, f"k{cpp}Node{i}", "uint8_t", node["operands"])
            nodes.append("{" + ", ".join(f".{key} = {value}" for key, value in node.items()) + "}")
        fields = [
            ("opFunc", f"OpFunc::{cpp}"),
            ("name", quote(op["opFuncName"])),
            ("mnemonic", quote(op["mnemonic"])),
            ("baseName", quote(op["baseName"])),
            ("meaning", quote(op["meaning"])),
            ("notes", quote(op["notes"])),
            ("specified", "true" if op["specified"] else "false"),
            ("emittedByReference", "true" if op["emittedByReference"] else "false"),
            ("category", f"OpCategory::{op['category']}"),
            ("unit", f"ExecutionUnit::{op['unit']}"),
            ("numInputs", str(op["numInputs"])),
            ("outputIsInput", "true" if op["outputIsInput"] else "false"),
            ("constants", array(lines, f"k{cpp}Constants", "std::string_view", [quote(c) for c in op["constants"]])),
            ("forms", array(lines, f"k{cpp}Forms", "OpFuncForm", forms)),
            ("stickRule", f"StickRule::{op['stickRule']}"),
            (
                "requiredTails",
                array(lines, f"k{cpp}Tails", "TailState", [f"TailState::{t}" for t in op["requiredTail"]]),
            ),
            ("maskTail", f"TailState::{op['maskTail']}" if op["maskTail"] else "std::nullopt"),
            ("tailRule", f"TailRule::{tail['rule']}"),
            ("tailMap", array(lines, f"k{cpp}TailMap", "TailState", [f"TailState::{t}" for t in tail["map"]])),
            ("arrangementRule", f"ArrangementRule::{op['arrangementRule']}"),
            ("keepsNumbers", "true" if op["keepsNumbers"] else "false"),
            ("jumps", "true" if op["jumps"] else "false"),
            ("cancels", "true" if op["cancels"] else "false"),
            ("passesInfinity", "true" if op["passesInfinity"] else "false"),
            ("errorFactor", error_factor(op["errorFactor"])),
            ("shiftLaw", f"ShiftLaw::{op['shiftLaw']}"),
            ("secondShiftLaw", f"ShiftLaw::{op['secondShiftLaw']}"),
            ("scaleLaw", f"ScaleLaw::{op['scaleLaw']}"),
            ("combiner", f"Combiner::{op['combiner']}"),
            ("neutral", number(op["neutral"]) if op["neutral"] else "std::nullopt"),
            ("divisible", "true" if op["divisible"] else "false"),
            ("costClass", f"CostClass::{op['costClass']}"),
            ("ktirKind", f"KTIRKind::{op['ktirKind'][0].upper() + op['ktirKind'][1:]}"),
            ("body", array(lines, f"k{cpp}Body", "ScalarNode", nodes)),
            ("emulatorKernel", quote(op["emulatorKernel"])),
        ]
        rows.append("    {" + ",\n     ".join(f".{key} = {value}" for key, value in fields) + "},")
    lines += ["constexpr OpFuncInfo kOpFuncs[] = {"] + rows + ["};", "#endif", ""]
    return "\n".join(lines)


def describe_forms(table, op):
    texts = []
    for form in table.forms(op):
        inputs = form["inputFormats"]
        text = inputs[0] if len(set(inputs)) == 1 else ", ".join(inputs)
        if form["outputFormat"] != inputs[0]:
            text += f" → {form['outputFormat']}"
        if form["emittedAs"] != inputs[0]:
            text += f" (written {form['emittedAs']})"
        texts.append(text)
    return "; ".join(texts)


def describe_ktir(table, op):
    if op["ktirKind"] not in ("elementwise", "reduce", "named"):
        return op["ktirKind"]
    text = Body(table, op).text
    if op["combiner"] == "None":
        return f"`{text}`"
    combined = f"combined by {op['combiner'].lower()} from {op['neutral'].removesuffix('.0')}"
    if op["ktirKind"] == "named":
        return f"`{text}` {combined}"
    return combined + (f", then `{text}`" if text != "x" else "")


STATES = ["zero", "neg_inf", "pos_inf", "finite", "unknown"]
SPELLING = dict(zip(["Zero", "NegInf", "PosInf", "Finite", "Unknown"], STATES))


def describe_tail(table, op):
    tail = table.resolve(op["producedTail"])
    if tail["rule"] == "Map":
        if tail["map"] == ["Zero", "NegInf", "PosInf", "Finite", "Unknown"]:
            return "as the input's"
        known = [f"{s} → {SPELLING[t]}" for s, t in zip(STATES, tail["map"]) if t != "Unknown"]
        return ", ".join(known)
    return {"AlwaysUnknown": "unknown", "AlwaysFinite": "finite"}.get(tail["rule"], f"rule {tail['rule']}")


def write_docs(table):
    specified = [op for op in table.ops if op["specified"]]
    unspecified = [op for op in table.ops if not op["specified"]]
    lines = [
        "# Device operations",
        "",
        "Generated from `include/spyre/OpFunc/OpFuncs.td` by `utils/gen-opfunc-table.py --docs`; do not edit.",
        "",
        f"{len(specified)} operations are specified. {len(unspecified)} more are known by name and refused by name. What the",
        "columns mean stands in `include/spyre/OpFunc/OpFuncTable.h`; *tail* is the content of a value's",
        "padding, *needs* what the inputs' padding must hold (or what a coordinate mask puts there), *leaves* what the",
        "result's holds.",
        "",
    ]
    for category, title in CATEGORIES:
        ops = [op for op in specified if op["category"] == category]
        if not ops:
            continue
        lines += [
            f"## {title}",
            "",
            "| OpFunc | unit | inputs | constants | meaning | forms | stick rule | needs | leaves | arrangement | cost | KTIR |",
            "|---|---|---|---|---|---|---|---|---|---|---|---|",
        ]
        for op in ops:
            needs = ", ".join(SPELLING[t] for t in op["requiredTail"] if t != "Unknown")
            if op["maskTail"]:
                needs += (" or mask " if needs else "may mask ") + SPELLING[op["maskTail"]]
            name = f"`{op['opFuncName']}`"
            if op["mnemonic"] != op["opFuncName"]:
                name += f" (`spyre.{op['mnemonic']}`)"
            cells = [
                name,
                op["unit"].lower(),
                str(op["numInputs"]) + (" + result" if op["outputIsInput"] else ""),
                ", ".join(f"`{c}`" for c in op["constants"]),
                op["meaning"].replace("|", "\\|"),
                describe_forms(table, op),
                op["stickRule"],
                needs,
                describe_tail(table, op),
                op["arrangementRule"],
                op["costClass"],
                describe_ktir(table, op),
            ]
            lines.append("| " + " | ".join(cells) + " |")
        lines.append("")
        notes = [op for op in ops if op["notes"]]
        lines += [f"- `{op['opFuncName']}`: {op['notes']}." for op in notes] + ([""] if notes else [])
    lines += ["## Unspecified", "", "| OpFunc | category | what the name says |", "|---|---|---|"]
    lines += [f"| `{op['opFuncName']}` | {op['category']} | {op['meaning']} |" for op in unspecified]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dump", help="output of llvm-tblgen -dump-json")
    parser.add_argument("-o", "--output", help="file to write (default: standard output)")
    parser.add_argument("--docs", action="store_true", help="write the reference page")
    parser.add_argument("--check-docs", metavar="PAGE", help="fail if PAGE is not what --docs writes")
    options = parser.parse_args()
    with open(options.dump, encoding="utf-8") as file:
        table = Table(json.load(file))
    if options.check_docs:
        with open(options.check_docs, encoding="utf-8") as file:
            if file.read() != write_docs(table):
                sys.exit(f"{options.check_docs} is out of date: write it again with --docs")
        return
    text = write_docs(table) if options.docs else write_table(table)
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
