"""Labels of groups of consecutive values and of ranges of numbers, and group sizes that nest by level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import count

from anonymizer.model.labels import (
    CLOSED,
    DATES,
    HALF_OPEN,
    OPEN,
    SET,
    SIGNED,
    SPAN,
    WHOLE,
    band_label,
    in_natural_order,
)
from anonymizer.model.table import Column, Numerals, ValueType
from anonymizer.plugins import each_follows

SHORT_SET = 3
"""Maximum number of values of a set that is spelled out."""

SHORT_TEXT = 40
"""Maximum number of characters of a spelled-out set."""


def in_order(column: Column) -> list[str]:
    """Return the values of a column in the order in which neighbours make groups."""
    if column.type is not ValueType.TEXT:
        return list(column.present)
    return in_natural_order(column.present, column.numerals.decimal)


class ExactNumbers:
    """The numbers of a column and further bounds as whole multiples of one decimal unit.

    Parameters
    ----------
    column: of integers or numbers.
    bounds: further numbers that must be whole multiples of the unit.

    Attributes
    ----------
    values: of the present values, ascending.
    bounds: in the order given.
    unit: one, as a multiple.
    whole: whether labels show whole numbers only.
    """

    def __init__(self, column: Column, bounds: Sequence[Decimal] = ()) -> None:
        numbers = [Decimal(str(column.numerals.plain(text))) for text in column.present]
        places = max(map(_places, (*numbers, *bounds)), default=0)
        self.values = [_scaled(number, places) for number in numbers]
        self.bounds = [_scaled(bound, places) for bound in bounds]
        self.unit = 10**places
        self.whole = column.type is ValueType.INTEGER and not any(map(_places, bounds))


class RangeLabels:
    """Labels of ranges of numbers, of one kind for all ranges of a column.

    Whole numbers are labelled ``20-24`` or, where a range starts below zero, ``-5 to -1`` and ``0 to 4``;
    all others ``[20, 22.5)``. A range without an end is labelled ``<20`` or ``65+``.

    Parameters
    ----------
    numbers: whose unit all bounds are whole multiples of.
    numerals: decimal sign.
    signed: whether a range starts below zero.
    """

    def __init__(self, numbers: ExactNumbers, numerals: Numerals, *, signed: bool) -> None:
        self._unit = numbers.unit
        self._places = len(str(numbers.unit)) - 1
        self._whole = numbers.whole
        self._numerals = numerals
        self._signed = signed

    def between(self, low: int, high: int) -> str:
        """Return the label of the numbers from ``low`` on that are less than ``high``."""
        if not self._whole:
            return HALF_OPEN.write(self._text(low), self._text(high))
        first, last = self._text(low), self._text(high - self._unit)
        return first if first == last else whole_range(first, last, signed=self._signed)

    def below(self, high: int) -> str:
        """Return the label of the numbers less than ``high``."""
        return OPEN.write("", self._text(high))

    def least(self, low: int) -> str:
        """Return the label of the numbers from ``low`` on."""
        return OPEN.write(self._text(low), "")

    def _text(self, scaled: int) -> str:
        whole, rest = divmod(abs(scaled), self._unit)
        decimals = f"{rest:0{self._places}d}".rstrip("0") if rest else ""
        plain = ("-" if scaled < 0 else "") + str(whole) + (f".{decimals}" if decimals else "")
        return self._numerals.written(plain)


def _places(number: Decimal) -> int:
    """Return the decimal places of a number without trailing zeros."""
    _, denominator = number.as_integer_ratio()
    places = 0
    while 10**places % denominator:
        places += 1
    return places


def _scaled(number: Decimal, places: int) -> int:
    numerator, denominator = number.as_integer_ratio()
    scale: int = 10**places // denominator
    return numerator * scale


def roundest(above: int, most: int) -> range:
    """Return the whole numbers greater than ``above`` and at most ``most`` with the largest round divisor.

    Round are 1, 2 and 5 times a power of ten. Zero is rounder than all other numbers.

    >>> [list(roundest(*ends)) for ends in ((17, 23), (23, 157608), (61, 68), (-3, 8), (-45, -12))]
    [[20], [100000], [65], [0], [-40, -20]]
    """
    if above < 0 <= most:
        return range(1)
    power = 10 ** (len(str(max(abs(above), abs(most)))) - 1)
    while True:
        for step in (5 * power, 2 * power, power):
            last = most // step * step
            if last > above:
                return range((above // step + 1) * step, last + 1, step)
        power //= 10


def whole_range(low: str, high: str, *, signed: bool = False) -> str:
    """Return the label of the whole numbers from ``low`` to ``high``, both included.

    Parameters
    ----------
    signed: whether other ranges of the column have negative ends.

    >>> whole_range("20", "24"), whole_range("-5", "-1")
    ('20-24', '-5 to -1')
    """
    return (SIGNED if signed or "-" in low + high else WHOLE).write(low, high)


_RANGES: dict[ValueType, Callable[[str, str], str]] = {
    ValueType.INTEGER: whole_range,
    ValueType.NUMBER: CLOSED.write,
    ValueType.DATE: DATES.write,
}


def group_label(values: Sequence[str], kind: ValueType, shown: Callable[[str], str] = str) -> str:
    """Return the label of consecutive values, at least one: their ends, or all of a few short texts.

    Parameters
    ----------
    shown: returns how the label shows a text.

    >>> group_label(["17", "18", "24"], ValueType.INTEGER), group_label(["x"], ValueType.TEXT)
    ('17-24', 'x')
    >>> group_label(["a", "b"], ValueType.TEXT), group_label(list("abcdef"), ValueType.TEXT)
    ('{a, b}', 'a..f')
    """
    if len(values) == 1:
        return values[0]
    if kind is not ValueType.TEXT:
        return _RANGES[kind](values[0], values[-1])
    ends = band_label(values, shown)
    if ends is not None:
        return ends
    if len(values) <= SHORT_SET:
        spelled = SET.write([*dict.fromkeys(map(shown, values))])
        if len(spelled) <= SHORT_TEXT:
            return spelled
    low, high = shown(values[0]), shown(values[-1])
    return low if low == high else SPAN.write(low, high)


def distinct(labels: Sequence[str]) -> list[str]:
    """Return labels with repeated ones numbered; a value may equal the label of a group.

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


NESTED = each_follows(
    lambda smaller, larger: larger > smaller and Fraction(larger) % Fraction(smaller) == 0,
    "{after} after {before}; accepted: ascending numbers, each a multiple of the previous one",
)
"""The check that each size is a larger multiple of the one before."""
