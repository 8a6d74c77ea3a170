# schema.py - The part of JSON Schema that docs/formats uses
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A validator of a dozen keywords, so that the tests need no package. A keyword
# that it does not know is an error: nothing in a schema goes unchecked.
"""Checks documents against the schemas of docs/formats."""

import re

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
NOTES = {"$schema", "$id", "title", "description", "$defs", "$comment"}


def has_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def resolve(reference, root):
    node = root
    for part in reference.removeprefix("#/").split("/"):
        node = node[part]
    return node


def validate(value, schema, root=None, where=""):
    """None if the value follows the schema, else "<pointer>: <what is wrong>"."""
    root = schema if root is None else root
    at = where or "/"
    for keyword, wanted in schema.items():
        if keyword in NOTES:
            continue
        if keyword == "$ref":
            if message := validate(value, resolve(wanted, root), root, where):
                return message
        elif keyword == "type":
            names = wanted if isinstance(wanted, list) else [wanted]
            if not any(has_type(value, name) for name in names):
                return f"{at}: is no {' or '.join(names)}"
        elif keyword == "const":
            if value != wanted:
                return f"{at}: is not {wanted!r}"
        elif keyword == "enum":
            if value not in wanted:
                return f"{at}: is none of {wanted}"
        elif keyword == "minimum":
            if has_type(value, "number") and value < wanted:
                return f"{at}: is less than {wanted}"
        elif keyword == "maximum":
            if has_type(value, "number") and value > wanted:
                return f"{at}: is more than {wanted}"
        elif keyword == "minLength":
            if isinstance(value, str) and len(value) < wanted:
                return f"{at}: is shorter than {wanted}"
        elif keyword == "pattern":
            if isinstance(value, str) and not re.search(wanted, value):
                return f"{at}: does not match {wanted}"
        elif keyword == "required":
            missing = [name for name in wanted if isinstance(value, dict) and name not in value]
            if missing:
                return f"{at}: lacks {missing[0]}"
        elif keyword == "properties":
            for name, child in wanted.items():
                if isinstance(value, dict) and name in value:
                    if message := validate(value[name], child, root, f"{where}/{name}"):
                        return message
        elif keyword == "additionalProperties":
            known = schema.get("properties", {})
            for name in value if isinstance(value, dict) else ():
                if name in known:
                    continue
                if wanted is False:
                    return f"{at}: has an unknown field {name}"
                if wanted is not True and (message := validate(value[name], wanted, root, f"{where}/{name}")):
                    return message
        elif keyword == "items":
            for index, item in enumerate(value if isinstance(value, list) else ()):
                if message := validate(item, wanted, root, f"{where}/{index}"):
                    return message
        elif keyword in ("oneOf", "anyOf"):
            messages = [validate(value, choice, root, where) for choice in wanted]
            count = messages.count(None)
            if count == 0 or (count > 1 and keyword == "oneOf"):
                return f"{at}: fits {count} of the choices ({'; '.join(m for m in messages if m)})"
        else:
            raise ValueError(f"the schema has an unknown keyword {keyword}")
    return None
