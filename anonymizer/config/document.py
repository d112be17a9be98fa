"""A config as raw data, with the line of each key where the format tells it."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any

from anonymizer.config.words import Path as KeyPath


@dataclass(frozen=True)
class Document:
    """Raw config data.

    Attributes
    ----------
    name: what messages call it, the path of a file as it was given.
    folder: what relative paths in it are relative to.
    data: nested dicts and lists; numbers with a fraction are Decimal.
    lines: line of each key or list item, by its path from the top; None where it stands in no file.
    """

    name: str
    folder: Path
    data: Any
    lines: Mapping[KeyPath, int | None] = field(default_factory=dict)

    def line(self, path: KeyPath) -> int | None:
        """Return the line of the key at a path, or of the nearest key around it."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return None


def from_python(value: Any) -> Any:
    """Return a value from Python code as a file would give it; what no file can hold stays as it is.

    >>> from_python({"k": (1, 2.5)})
    {'k': [1, Decimal('2.5')]}
    """
    match value:
        case Mapping():
            return {str(key): from_python(item) for key, item in value.items()}
        case list() | tuple():
            return [from_python(item) for item in value]
        case _:
            return _scalar(value)


def _scalar(value: Any) -> Any:
    match value:
        case Enum():
            return value.value
        case bool():
            return value
        case numbers.Integral():
            return int(value)
        case numbers.Real():
            return Decimal(repr(float(value)))
        case _:
            return value
