"""Values and schemas in words."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.config.load import parse_override
from anonymizer.config.section import describe, dotted
from anonymizer.errors import shown


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "integer", "minimum": 1}, "a whole number >= 1"),
        ({"type": "number", "minimum": 0, "maximum": 1}, "a number from 0 to 1"),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 1}, "a number > 0 and <= 1"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "text"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "text or a whole number"),
        ({"enum": ["a", "b"]}, "a, b"),
        ({"const": "a"}, "a"),
        ({"$ref": "#/$defs/X"}, "true or false"),
        ({"type": "array", "items": {"$ref": "#/$defs/X"}}, "a list, each true or false"),
        ({"type": "array", "items": {"type": "number", "minimum": 1}}, "a list of numbers >= 1"),
        ({"type": "object", "properties": {"a": {}, "b": {}}}, "a mapping with the keys a, b"),
        ({"type": "object", "properties": {"a": {}}}, "a mapping with the key a"),
        ({"type": ["object", "null"]}, "a mapping"),
        ({"oneOf": []}, "a mapping"),
    ],
)
def test_schemas(schema: dict[str, Any], words: str) -> None:
    assert describe(schema, {"X": {"type": "boolean"}}) == words


def test_long_texts_are_cut_and_control_characters_escaped() -> None:
    assert len(shown("x" * 1000)) < 70
    assert shown("\x1b[31m") == r"'\x1b[31m'"
    assert shown(nx.DiGraph()) == "a DiGraph"


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=4))
def test_what_messages_write_overrides_read(parts: list[str]) -> None:
    assert parse_override(dotted(tuple(parts)) + "=1") == (tuple(parts), 1)
