"""Labels for groups of neighboring values, and group sizes that nest from level to level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import count, pairwise
from typing import TypeVar

from anonymizer.model.table import ValueType

SHORT_SET = 3
"""Values that a set may have to be spelled out."""

SHORT_TEXT = 40
"""Characters that a spelled-out set may have."""


def whole_range(low: str, high: str) -> str:
    """Name the whole numbers from ``low`` to ``high``, both included.

    >>> whole_range("20", "24"), whole_range("-5", "-1")
    ('20-24', '-5 to -1')
    """
    return f"{low} to {high}" if "-" in low + high else f"{low}-{high}"


def _decimal_range(low: str, high: str) -> str:
    return f"[{low}, {high}]"


def _span(low: str, high: str) -> str:
    return f"{low}..{high}"


_RANGES: dict[ValueType, Callable[[str, str], str]] = {
    ValueType.INTEGER: whole_range,
    ValueType.NUMBER: _decimal_range,
    ValueType.DATE: _span,
}


def group_label(values: Sequence[str], kind: ValueType, shown: Callable[[str], str] = str) -> str:
    """Name a group of consecutive values, at least one, by its ends; a few short texts are spelled out.

    Parameters
    ----------
    shown: what a name says of a text that it names.

    >>> group_label(["17", "18", "24"], ValueType.INTEGER), group_label(["x"], ValueType.TEXT)
    ('17-24', 'x')
    >>> group_label(["a", "b"], ValueType.TEXT), group_label(list("abcdef"), ValueType.TEXT)
    ('{a, b}', 'a..f')
    """
    if len(values) == 1:
        return values[0]
    if kind is not ValueType.TEXT:
        return _RANGES[kind](values[0], values[-1])
    if len(values) <= SHORT_SET:
        spelled = "{" + ", ".join(dict.fromkeys(map(shown, values))) + "}"
        if len(spelled) <= SHORT_TEXT:
            return spelled
    low, high = shown(values[0]), shown(values[-1])
    return low if low == high else _span(low, high)


def distinct(labels: Sequence[str]) -> list[str]:
    """Number labels that occur more than once; a value may be spelled like the name of a group.

    >>> distinct(["a..c", "d", "a..c"])
    ['a..c', 'd', 'a..c (2)']
    """
    if len(set(labels)) == len(labels):
        return list(labels)
    taken = set(labels)
    seen: Counter[str] = Counter()
    result = []
    for label in labels:
        seen[label] += 1
        if seen[label] == 1:
            result.append(label)
            continue
        numbered = (f"{label} ({number})" for number in count(2))
        result.append(next(name for name in numbered if name not in taken))
        taken.add(result[-1])
    return result


N = TypeVar("N", int, Decimal)


def nested(sizes: Sequence[N]) -> Sequence[N]:
    """Return the sizes if each is a multiple of the one before and larger.

    Raises
    ------
    ValueError: they would not nest.
    """
    for smaller, larger in pairwise(sizes):
        if larger <= smaller or Fraction(larger) % Fraction(smaller) != 0:
            raise ValueError(
                f"{larger} after {smaller}; accepted: ascending, each a multiple of the one before"
            )
    return sizes
