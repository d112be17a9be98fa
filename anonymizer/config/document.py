"""A config as raw data, with the line of each key where the format tells it, and the bounds of its size.

A text of a few lines can stand for more data than any machine holds, or for a number that takes hours to
write out. The bounds are checked before anything is made of such a text, whatever its format.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any

from anonymizer.config.words import KeyPath, dotted
from anonymizer.errors import ConfigError, ConfigProblem
from anonymizer.plugins import LARGEST_EXPONENT, MOST_DIGITS, TOO_MANY_DIGITS, has_too_many_digits

MOST_VALUES = 1_000_000
"""Keys and values of a config; of a long text every ``VALUE_CHARACTERS`` count for one."""

MOST_REPEATED = 100_000
"""Those of them that aliases of YAML repeat."""

MOST_KEYS = 100_000
"""Keys of one mapping."""

DEEPEST = 100
"""Lists and mappings inside one another."""

VALUE_CHARACTERS = 1000

SHOWN_DEPTH = 10
"""Keys of a long path that a message names."""

_REMEDY = "put a large hierarchy into a file and name it, as hierarchy: {file: NAME.csv}"

TOO_MANY_VALUES = f"more than {MOST_VALUES:,} keys and values; {_REMEDY}"
TOO_MANY_REPEATED = f"aliases repeat more than {MOST_REPEATED:,} keys and values; {_REMEDY}"
TOO_MANY_KEYS = f"a mapping with more than {MOST_KEYS:,} keys; {_REMEDY}"
TOO_DEEP = f"nested too deeply; accepted: at most {DEEPEST} lists and mappings inside one another"
NOT_UNICODE = "a text with half a character, such as \\ud800; accepted: Unicode text"

_NUMBER = re.compile(r"[-+]?([0-9_.]*)(?:[eE]([-+]?[0-9_]+))?")


class OversizedConfig(ConfigError):
    """A config, or a value for one, that is beyond the bounds of its size."""


class OversizedNumber(ValueError):
    """The text of a number that is beyond the bounds; ``text`` as it was written."""

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__(TOO_MANY_DIGITS)


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


def parse_integer(text: str) -> int:
    """Return the whole number that a text is.

    Raises
    ------
    OversizedNumber: it has too many digits.
    """
    if len(text) > MOST_DIGITS + 1:
        raise OversizedNumber(text)
    return int(text)


def parse_decimal(text: str) -> Decimal:
    """Return the number that a text is, exactly.

    Raises
    ------
    OversizedNumber: it has too many digits or too large an exponent.

    >>> parse_decimal("1e-3")
    Decimal('0.001')
    """
    match = _NUMBER.fullmatch(text)
    if match is not None:
        digits, exponent = match[1], (match[2] or "0").lstrip("+-0") or "0"
        if len(digits) > MOST_DIGITS + 1 or len(exponent) > len(str(LARGEST_EXPONENT)):
            raise OversizedNumber(text)
    number = Decimal(text)
    if has_too_many_digits(number):
        raise OversizedNumber(text)
    return number


def check_size(name: str, data: Any, lines: Mapping[KeyPath, int | None] | None = None) -> None:
    """Check that raw data are within the bounds of a config, before anything is made of them.

    Parameters
    ----------
    name: what messages call the config.
    data: nested mappings and lists, which may hold one another several times.
    lines: as of a ``Document``.

    Raises
    ------
    OversizedConfig: naming the first key that goes beyond a bound, its line if known, and the bound.
    """
    found = _beyond_bounds(data)
    if found is not None:
        path, what = found
        line = Document(name, Path(), None, lines or {}).line(path)
        raise OversizedConfig(name, [ConfigProblem(dotted(path[:SHOWN_DEPTH]), what, line)])


def _beyond_bounds(data: Any) -> tuple[KeyPath, str] | None:
    """Return the path of the first value that is beyond a bound, and which; None where all are within."""
    waiting: list[tuple[KeyPath, Any]] = [((), data)]
    known = 1
    while waiting:
        path, value = waiting.pop()
        if not isinstance(value, Mapping | list | tuple):
            known += values_of_text(value) - 1 if isinstance(value, str) else 0
            fault = TOO_MANY_VALUES if known > MOST_VALUES else _fault_of_scalar(value)
            if fault is not None:
                return path, fault
            continue
        known += len(value) * (2 if isinstance(value, Mapping) else 1)
        if known > MOST_VALUES:
            return path, TOO_MANY_VALUES
        if isinstance(value, Mapping) and len(value) > MOST_KEYS:
            return path, TOO_MANY_KEYS
        if len(path) >= DEEPEST:
            return path, TOO_DEEP
        below = [((*path, key), item) for key, item in _items(value)]
        waiting.extend(reversed(below))
    return None


def _items(value: Mapping[Any, Any] | Sequence[Any]) -> Iterable[tuple[str | int, Any]]:
    if isinstance(value, Mapping):
        return ((str(key), item) for key, item in value.items())
    return enumerate(value)


def values_of_text(text: str) -> int:
    """Return how many values a text counts for."""
    return 1 + len(text) // VALUE_CHARACTERS


def _fault_of_scalar(value: Any) -> str | None:
    match value:
        case str():
            return None if value.isascii() or _is_unicode(value) else NOT_UNICODE
        case bool():
            return None
        case int() | Decimal():
            return TOO_MANY_DIGITS if has_too_many_digits(value) else None
        case _:
            return None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


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
