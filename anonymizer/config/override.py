"""``--set a.b=v``: overrides of single config values by their dotted path."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from anonymizer.config.document import Document
from anonymizer.config.words import Path, dotted, shown
from anonymizer.config.yaml_text import parse_yaml
from anonymizer.errors import ConfigError, Problem

_PART = re.compile(r'\.?(?:"((?:[^"\\]|\\.)*)"|\[(\d+)\]|([^."=\[\]]+))')
_FORM = "accepted: KEY=VALUE, such as suppression.limit=0.05 or constraints.0.k=10"


def overridden(document: Document, overrides: Sequence[str]) -> Document:
    """Return the document with values replaced.

    Parameters
    ----------
    overrides: ``path=value``. The path is dotted, a list item is ``constraints.0`` or ``constraints[0]``, and
        a name that holds a dot is quoted, ``attributes."a.b".weight``. The value is read as YAML.

    Raises
    ------
    ConfigError: all that is wrong with the overrides.
    """
    problems: list[Problem] = []
    lines = dict(document.lines)
    data = document.data
    for text in overrides:
        try:
            path, value = parse_override(text)
            data = _replaced(data, path, 0, value)
            lines = {place: line for place, line in lines.items() if place[: len(path)] != path}
        except ValueError as error:
            problems.append(Problem(f"--set {text}", str(error)))
    if problems:
        raise ConfigError(document.name, problems)
    return replace(document, data=data, lines=lines)


def parse_override(text: str) -> tuple[Path, Any]:
    """Return the path and the value of ``path=value``.

    Raises
    ------
    ValueError: saying what would do.

    >>> parse_override('attributes."a.b".weight=2')
    (('attributes', 'a.b', 'weight'), 2)
    """
    path, end = parse_key(text)
    if not path or text[end : end + 1] != "=":
        raise ValueError(f"not an override; {_FORM}")
    try:
        value, _ = parse_yaml(text[end + 1 :], "value")
    except ConfigError:
        raise ValueError("the value is not YAML; put quotes around a text") from None
    return path, value


def parse_key(text: str) -> tuple[Path, int]:
    """Return the path at the beginning of ``path=...``, empty when there is none, and where it ends.

    >>> parse_key("constraints[0].k=2,5")
    (('constraints', 0, 'k'), 16)
    """
    parts: list[str | int] = []
    end = 0
    while match := _PART.match(text, end):
        quoted, index, bare = match.groups()
        parts.append(_part(quoted, index, bare))
        end = match.end()
    return tuple(parts), end


def _part(quoted: str | None, index: str | None, bare: str | None) -> str | int:
    if quoted is not None:
        return str(json.loads(f'"{quoted}"'))
    return int(index) if index is not None else str(bare)


def _replaced(data: Any, path: Path, depth: int, value: Any) -> Any:
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
