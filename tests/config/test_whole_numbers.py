"""Whole numbers of a config are bounded, so that counts times a scale fit 64 bits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

import pytest

from anonymizer.config.load import load_config
from anonymizer.config.model import config_schema
from anonymizer.errors import ConfigError
from anonymizer.plugins import LARGEST_WHOLE

HUGE = 10**20
SCHEMA = config_schema()
BASE: dict[str, Any] = {
    "attributes": {"a": {"role": "quasi-identifier"}, "s": {"role": "sensitive"}},
    "constraints": [{"model": "k-anonymity", "k": 2}],
}


def resolved(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]]
    return schema


def branches(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    schema = resolved(schema)
    parts = schema.get("oneOf") or schema.get("anyOf")
    if not parts or "properties" in schema:
        return [schema]
    return [branch for part in parts for branch in branches(part)]


def is_whole(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "integer"


def least(schema: Mapping[str, Any], name: str) -> Any:
    """A small value that a schema accepts; names of columns are those of the base."""
    schema = branches(schema)[0]
    if name in ("attribute",):
        return "s"
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    match schema.get("type"):
        case "integer" | "number":
            return 1 if "maximum" in schema and schema["maximum"] <= 1 else 2
        case "boolean":
            return False
        case "array":
            return [least(schema.get("items", {}), "")]
        case "object":
            own = schema.get("properties", {})
            return {key: least(own[key], key) for key in schema.get("required", [])}
    return "a"


def with_huge(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield small values of a schema in which one whole number is huge, with the place of the number."""
    for branch in branches(schema):
        if is_whole(branch):
            yield "", HUGE
        for place, inner in with_huge(branch["items"]) if "items" in branch else ():
            yield f"[0]{place}", [inner]
        own = branch.get("properties", {})
        for key, part in own.items():
            for place, inner in with_huge(part):
                small = {each: least(own[each], each) for each in branch.get("required", [])}
                yield f".{key}{place}", {**small, key: inner}
        if isinstance(branch.get("additionalProperties"), Mapping):
            for place, inner in with_huge(branch["additionalProperties"]):
                yield f".x{place}", {"x": inner}


def configs() -> Iterator[Any]:
    for key, schema in SCHEMA["properties"].items():
        for place, value in with_huge(schema):
            content = deepcopy(BASE)
            if key == "attributes":
                content[key]["a"] = {"role": "quasi-identifier", **value["x"]}
            elif key == "constraints":
                content[key] = value
            else:
                content[key] = value
            given = value[0] if isinstance(value, list) else value
            chosen = next(iter(given.values())) if isinstance(given, Mapping) else given
            yield pytest.param(content, id=f"{key}{place} {chosen}"[:60])


CONFIGS = list(configs())


def test_every_whole_number_of_the_schema_is_found() -> None:
    assert len(CONFIGS) > 40


@pytest.mark.parametrize("content", CONFIGS)
def test_a_huge_whole_number_is_refused(content: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(content)
    said = str(caught.value)
    assert str(HUGE) in said or "facts: a mapping; accepted" in said


def test_the_schema_bounds_every_whole_number() -> None:
    waiting: list[Any] = [SCHEMA]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            if is_whole(part):
                assert part["maximum"] < 2**63, part
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)


def test_a_message_gives_the_bound() -> None:
    content = BASE | {"constraints": [{"model": "k-anonymity", "k": HUGE}]}
    with pytest.raises(ConfigError, match=rf"{HUGE}; accepted: a whole number >= 1, at most {LARGEST_WHOLE}"):
        load_config(content)
    assert load_config(BASE | {"seed": LARGEST_WHOLE}).seed == LARGEST_WHOLE
