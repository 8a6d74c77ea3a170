#!/usr/bin/env python3
# stack_layers.py - A model of many layers from the text of one
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Layer i+1 reads what layer i returns; each has weights of its own, arguments named
# with --share (masks, rotary tables) are passed to all.
"""Stacks a one-function torch-dialect module whose result has the type of its first argument."""

import argparse
import pathlib
import re


def stack(text, count, shared):
    """The module of `count` layers; `shared`: numbers of arguments that all layers get."""
    signature = re.search(r"func\.func @(\w+)\((.*?)\) -> (\S+)(.*?)\{\n", text, re.S)
    arguments = re.findall(r"(%\w+): (\S+?)(?:, |$)", signature.group(2))
    if arguments[0][1] != signature.group(3):
        raise ValueError(f"the first argument is {arguments[0][1]}, the result {signature.group(3)}")
    end = text.index("\n    return ", signature.end())
    body = text[signature.end() : end]
    returned = re.match(r"\n    return (%[\w#]+)", text[end:]).group(1)
    new_arguments, bodies, state = [f"%x: {arguments[0][1]}"], [], "%x"
    for layer in range(count):
        names = {arguments[0][0]: state}
        for number, (name, kind) in enumerate(arguments[1:], 1):
            names[name] = f"%shared{number}" if number in shared else f"%l{layer}_a{number}"
            if number not in shared or layer == 0:
                new_arguments.append(f"{names[name]}: {kind}")
        rename = lambda match, names=names, layer=layer: names.get(match[0], f"%l{layer}_{match[0][1:]}")
        bodies.append(re.sub(r"%[\w-]+", rename, body))
        state = re.sub(r"%[\w-]+", rename, returned)
    head = (
        f"func.func @{signature.group(1)}({', '.join(new_arguments)}) -> {signature.group(3)}{signature.group(4)}{{\n"
    )
    tail = re.sub(r"^\n    return %[\w#]+", f"\n    return {state}", text[end:])
    return text[: signature.start()] + head + "\n".join(bodies) + tail


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--share", default="", help="numbers of arguments that all layers get, e.g. 1,2,3")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    shared = {int(number) for number in options.share.split(",") if number}
    options.out.write_text(stack(options.file.read_text(), options.count, shared))


if __name__ == "__main__":
    main()
