"""``--vary a.b=v1,v2``: the values that a comparison tries for a config key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import yaml

from anonymizer.config.document import OversizedConfig
from anonymizer.config.override import parse_key, shortened
from anonymizer.config.words import KeyPath
from anonymizer.config.yaml_text import parse_yaml
from anonymizer.errors import ConfigError, ConfigProblem

VARIED_FORM = "accepted: KEY=V1,V2,..., such as constraints.0.k=2,5,10"
_VARIABLE = ("algorithm", "budget", "constraints", "objective", "reference", "suppression")
_LEVELS = 3
"""Length of ``attributes.NAME.levels``."""


@dataclass(frozen=True)
class Variation:
    """A config key with the values that a comparison tries.

    Attributes
    ----------
    key: as it was written.
    path: of the key.
    values: as ``--set`` takes them.
    """

    key: str
    path: KeyPath
    values: tuple[str, ...]

    @property
    def overrides(self) -> tuple[str, ...]:
        """``key=value`` for each value."""
        return tuple(f"{self.key}={value}" for value in self.values)


def variations(texts: Sequence[str]) -> list[Variation]:
    """Return what some ``key=v1,v2`` ask for.

    Parameters
    ----------
    texts: a key as ``--set`` takes it, and values as YAML, separated by commas.

    Raises
    ------
    ConfigError: all that is wrong with them.
    """
    problems: list[ConfigProblem] = []
    found: list[Variation] = []
    for text in texts:
        try:
            one = _variation(text)
            _check_known(one, found)
            found.append(one)
        except ValueError as error:
            problems.append(ConfigProblem(f"--vary {shortened(text)}", str(error)))
    if problems:
        raise ConfigError("the comparison", problems)
    return found


def as_texts(vary: Mapping[str, Iterable[Any]]) -> list[str]:
    """Return keys with Python values as ``variations`` takes them.

    >>> as_texts({"constraints.0.k": [2, 5], "suppression.method": ["classes"]})
    ['constraints.0.k=2,5', 'suppression.method=classes']
    """
    return [f"{key}={','.join(map(_flow, values))}" for key, values in vary.items()]


def _variation(text: str) -> Variation:
    path, end = parse_key(text)
    if not path or text[end : end + 1] != "=":
        raise ValueError(f"not a key with values; {VARIED_FORM}")
    try:
        values, _ = parse_yaml(f"[{text[end + 1 :]}]", "values")
    except OversizedConfig as error:
        raise ValueError(error.problems[0].what) from None
    except ConfigError:
        values = None
    if not isinstance(values, list):
        raise ValueError(f"the values are not YAML; put quotes around a text; {VARIED_FORM}")
    written = tuple(_flow(value) for value in values)
    if not written:
        raise ValueError(f"no values; {VARIED_FORM}")
    # 1 and true are equal in Python.
    typed = [(isinstance(value, bool), value) for value in values]
    twice = [written[place] for place, value in enumerate(typed) if value in typed[:place]]
    if twice:
        raise ValueError(f"the value {twice[0]} is given twice; keep one")
    return Variation(text[:end], path, written)


def _check_known(one: Variation, others: Sequence[Variation]) -> None:
    """Check that a key may vary and that no other decides about it too."""
    place = tuple(map(str, one.path))
    if place in (("algorithm",), ("algorithm", "name")):
        raise ValueError("algorithms are given by --algorithm NAME, repeated for each")
    levels = len(place) >= _LEVELS and (place[0], place[2]) == ("attributes", "levels")
    if place[0] not in _VARIABLE and not levels:
        raise ValueError(
            "must be the same in all runs, or their numbers could not be compared; "
            f"accepted: keys of {', '.join(_VARIABLE)}, and attributes.NAME.levels"
        )
    for other in others:
        shorter, longer = sorted((place, tuple(map(str, other.path))), key=len)
        if longer[: len(shorter)] == shorter:
            again = "is given twice" if shorter == longer else f"overlaps with --vary {other.key}"
            raise ValueError(f"the key {again}; keep one")


def _flow(value: Any) -> str:
    """Return a value as YAML in one line, plain where that reads back as the same."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float() | Decimal():
            return str(value)
        case Mapping():
            inner = (f"{_flow(str(key))}: {_flow(item)}" for key, item in value.items())
            return "{" + ", ".join(inner) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_flow, value)) + "]"
        case _:
            return _text(str(value))


def _text(text: str) -> str:
    try:
        data, _ = parse_yaml(f"[{text}]", "text")
    except ConfigError:
        data = None
    if data == [text]:
        return text
    dumped: str = yaml.dump(text, default_style='"', width=10**9, allow_unicode=True)
    return dumped.removesuffix("\n")
