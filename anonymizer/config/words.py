"""A JSON Schema and a value, in the plain words of an error message."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

JsonSchema = dict[str, Any]
KeyPath = tuple[str | int, ...]

_PLAIN_KEY = re.compile(r"[\w-]+", re.ASCII)
_LONGEST = 60


def shown(value: Any) -> str:
    """Return a config value as a person would type it, on one line and cut where it is long.

    >>> shown("k"), shown(True), shown(Decimal("1.5")), shown([1, 2])
    ("'k'", 'true', '1.5', 'a list')
    """
    match value:
        case bool():
            text = "true" if value else "false"
        case None:
            text = "nothing"
        case str():
            text = repr(value if len(value) <= _LONGEST else value[:_LONGEST] + "…")
        case int() | float() | Decimal():
            text = str(value)[:_LONGEST]
        case Mapping():
            text = "a mapping"
        case Sequence():
            text = "a list"
        case _:
            text = f"a {type(value).__name__}"
    return text


def dotted(path: KeyPath) -> str:
    """Return a path into the config as messages write it and as ``--set`` reads it.

    >>> dotted(("constraints", 0, "k")), dotted(("attributes", "a.b", "role"))
    ('constraints[0].k', 'attributes."a.b".role')
    """
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            name = part if _PLAIN_KEY.fullmatch(part) else json.dumps(part, ensure_ascii=False)
            text += f".{name}" if text else name
    return text


def resolved(schema: JsonSchema, definitions: JsonSchema) -> JsonSchema:
    """Follow references and drop the null branch of an optional value."""
    while True:
        if "$ref" in schema:
            schema = {**definitions[schema["$ref"].rpartition("/")[2]], **_without(schema, "$ref")}
        elif len(_branches(schema)) == 1:
            schema = {**_branches(schema)[0], **_without(schema, "anyOf")}
        else:
            return schema


def _without(schema: JsonSchema, key: str) -> JsonSchema:
    return {name: value for name, value in schema.items() if name != key}


def _branches(schema: JsonSchema) -> list[JsonSchema]:
    return [branch for branch in schema.get("anyOf", []) if branch.get("type") != "null"]


def choices(schema: JsonSchema) -> tuple[str, ...]:
    """Return the texts that a resolved schema allows when it lists them, else nothing."""
    listed = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return tuple(value for value in listed if isinstance(value, str))


def types(schema: JsonSchema, definitions: JsonSchema) -> frozenset[str]:
    """Return the JSON types that a schema allows; empty when it allows any."""
    schema = resolved(schema, definitions)
    branches = _branches(schema) or schema.get("oneOf", [])
    if branches:
        every = [types(branch, definitions) for branch in branches]
        return frozenset().union(*every) if all(every) else frozenset()
    given = schema.get("type", [])
    return frozenset([given] if isinstance(given, str) else given)


def describe(schema: JsonSchema, definitions: JsonSchema) -> str:
    """Return what a schema accepts, such as ``a whole number >= 1``.

    >>> describe({"type": "number", "exclusiveMinimum": 0, "maximum": 1}, {})
    'a number > 0 and <= 1'
    """
    schema = resolved(schema, definitions)
    if choices(schema):
        return ", ".join(choices(schema))
    if _branches(schema):
        return " or ".join(dict.fromkeys(describe(branch, definitions) for branch in _branches(schema)))
    kind = schema.get("type", "object" if "oneOf" in schema else None)
    match kind[0] if isinstance(kind, list) else kind:
        case "integer":
            words = "a whole number" + _bounds(schema)
        case "number":
            words = "a number" + _bounds(schema)
        case "boolean":
            words = "true or false"
        case "string":
            words = "text" + _example(schema)
        case "array":
            words = "a list" + (
                f", each {describe(schema['items'], definitions)}" if "items" in schema else ""
            )
        case "object":
            words = "a mapping" + _keys(schema)
        case _:
            words = "a value of another kind"
    return words


def _keys(schema: JsonSchema) -> str:
    return f" with the keys {', '.join(schema['properties'])}" if schema.get("properties") else ""


def _example(schema: JsonSchema) -> str:
    return f" such as {schema['examples'][0]}" if schema.get("examples") else ""


def _bounds(schema: JsonSchema) -> str:
    if "minimum" in schema and "maximum" in schema:
        return f" from {schema['minimum']} to {schema['maximum']}"
    signs = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}
    bounds = [f"{sign} {schema[key]}" for key, sign in signs.items() if key in schema]
    return " " + " and ".join(bounds) if bounds else ""
