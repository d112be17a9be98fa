"""``--set a.b=v``: overrides of single config values by their dotted path."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from anonymizer.config.document import DEEPEST, TOO_DEEP, Document, OversizedConfig, check_size
from anonymizer.config.words import KeyPath, dotted, shown
from anonymizer.config.yaml_text import joined_key, parse_yaml
from anonymizer.errors import ConfigError, ConfigProblem, suggestion

_PART = re.compile(r'\.?(?:"((?:[^"\\]|\\.)*)"|\[(\d+)\]|([^."=\[\]]+))')
COLUMN = 2
"""Length of the path of a column, ``attributes.NAME``."""

LONGEST_SHOWN = 200
"""Characters of an option that a message repeats."""

OVERRIDE_FORM = "accepted: KEY=VALUE, such as suppression.limit=0.05 or constraints.0.k=10"


def overridden(document: Document, overrides: Sequence[str]) -> Document:
    """Return the document with values replaced.

    Parameters
    ----------
    overrides: ``path=value``. The path is dotted, a list item is ``constraints.0`` or ``constraints[0]``, and
        a name that holds a dot is quoted, ``attributes."a.b".weight``. The value is read as YAML.

    Raises
    ------
    ConfigError: all that is wrong with the overrides, or with the size of what they make.
    """
    problems: list[ConfigProblem] = []
    lines: dict[KeyPath, int | None] = dict(document.lines)
    data = document.data
    for text in overrides:
        try:
            path, value = parse_override(text)
            _check_attribute(data, path)
            data = _replaced(data, path, 0, value)
            place = _place(data, path)
            lines = {known: line for known, line in lines.items() if known[: len(path)] != place}
            lines[place] = None
        except ValueError as error:
            problems.append(ConfigProblem(f"--set {shortened(text)}", str(error)))
    if problems:
        raise ConfigError(document.name, problems)
    if overrides:
        check_size(document.name, data, lines)
    return replace(document, data=data, lines=lines)


def parse_override(text: str) -> tuple[KeyPath, Any]:
    """Return the path and the value of ``path=value``.

    Raises
    ------
    ValueError: saying what would do.

    >>> parse_override('attributes."a.b".weight=2')
    (('attributes', 'a.b', 'weight'), 2)
    """
    path, end = parse_key(text)
    if not path or text[end : end + 1] != "=":
        raise ValueError(f"not an override; {OVERRIDE_FORM}")
    try:
        value, _ = parse_yaml(text[end + 1 :], "value")
    except OversizedConfig as error:
        raise ValueError(error.problems[0].what) from None
    except ConfigError:
        raise ValueError("the value is not YAML; put quotes around a text") from None
    joined = joined_key(text[end + 1 :])
    if joined is not None:
        key, _, rest = joined.partition(":")
        raise ValueError(f"a colon needs a blank after it; write {{{key}: {rest}}}, the whole in quotes")
    return path, value


def shortened(text: str) -> str:
    """Return what was given on the command line as messages repeat it."""
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def parse_key(text: str) -> tuple[KeyPath, int]:
    """Return the path at the beginning of ``path=...``, empty when there is none, and where it ends.

    Raises
    ------
    ValueError: it is longer than any path of a config.

    >>> parse_key("constraints[0].k=2,5")
    (('constraints', 0, 'k'), 16)
    """
    parts: list[str | int] = []
    end = 0
    while match := _PART.match(text, end):
        quoted, index, bare = match.groups()
        if len(parts) == DEEPEST:
            raise ValueError(TOO_DEEP)
        parts.append(_part(quoted, index, bare))
        end = match.end()
    return tuple(parts), end


def _part(quoted: str | None, index: str | None, bare: str | None) -> str | int:
    if quoted is not None:
        return str(json.loads(f'"{quoted}"'))
    return int(index) if index is not None else str(bare)


def _place(data: Any, path: KeyPath) -> KeyPath:
    """Return a path with the items of lists as numbers, however they were given."""
    place: list[str | int] = []
    for part in path:
        key = int(part) if isinstance(data, list) else str(part)
        place.append(key)
        data = data[key]
    return tuple(place)


def _check_attribute(data: Any, path: KeyPath) -> None:
    """Refuse a setting of a column that the config does not have: a new one is given whole, with its role."""
    attributes = data.get("attributes") if isinstance(data, dict) else None
    if path[:1] == ("attributes",) and len(path) > COLUMN and isinstance(attributes, dict):
        name = str(path[1])
        if name not in attributes:
            raise ValueError(f"no column '{name}' in attributes; {suggestion(name, attributes)}")


def _replaced(data: Any, path: KeyPath, depth: int, value: Any) -> Any:
    """Return a copy of nested data with the value at a path replaced; mappings on the way are made."""
    if depth == len(path):
        return value
    part, place = path[depth], dotted(path[:depth])
    if isinstance(data, list):
        if not str(part).isdigit() or int(part) >= len(data):
            raise ValueError(f"{place} holds {len(data)} entries; accepted: 0 to {len(data) - 1}")
        at = int(part)
        return [*data[:at], _replaced(data[at], path, depth + 1, value), *data[at + 1 :]]
    if data is not None and not isinstance(data, dict):
        raise ValueError(f"{place} is {shown(data)} and holds no keys; give it a mapping first")
    known = data or {}
    key = str(part)
    return {**known, key: _replaced(known.get(key), path, depth + 1, value)}
