"""Columns of numbers in place of the labels of intervals: a midpoint, or both ends.

Within the program a released interval has one label. It is written as one or two numbers at the very end, and
read back before anything is counted. Labels are ``24.5`` for a midpoint or a single value, ``[20, 29]`` for
both ends, ``..19`` and ``20..`` where one is open.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from fractions import Fraction
from math import ceil, floor


class NumberLabels(StrEnum):
    """How the intervals of a quasi-identifier are released."""

    RANGE = "range"
    MIDPOINT = "midpoint"
    LOW_HIGH = "low-high"


@dataclass(frozen=True)
class Interval:
    """An interval of numbers.

    Attributes
    ----------
    low, high: its ends; None for an open one.
    closed: whether ``high`` belongs to it.
    """

    low: Fraction | None
    high: Fraction | None
    closed: bool = True

    def of_whole_numbers(self) -> Interval:
        """Return the interval from the smallest to the largest whole number in it."""
        low = None if self.low is None else Fraction(ceil(self.low))
        if self.high is None:
            return Interval(low, None)
        return Interval(low, Fraction(floor(self.high) if self.closed else ceil(self.high) - 1))

    def holds(self, number: Fraction) -> bool:
        """Return whether a number lies in it."""
        if self.low is not None and number < self.low:
            return False
        return self.high is None or number < self.high or (self.closed and number == self.high)


_NUMBER = r"[+-]?[0-9]+(?:[.,][0-9]+)?(?:[eE][+-]?[0-9]+)?"
_FORMS = {
    re.compile(rf"\[({_NUMBER}), ?({_NUMBER})\]"): True,
    re.compile(rf"\[({_NUMBER}), ?({_NUMBER})\)"): False,
    re.compile(r"(-?[0-9]+)(?:-| to )(-?[0-9]+)"): True,
    re.compile(rf"()<=({_NUMBER})"): True,
    re.compile(rf"()<({_NUMBER})"): False,
    re.compile(rf"(?:>=)?({_NUMBER})()\+?"): True,
}
"""Labels of intervals in hierarchies, and whether the upper end is included. The last one has none, or is a
single number, which is read before."""

_LARGEST_EXPONENT = 400
"""Above the exponents of 64-bit numbers; larger ones would take long to compute with."""


def exact(plain: str) -> Fraction | None:
    """Return the number of a text with a decimal point; None if it is not a finite number."""
    try:
        number = Decimal(plain)
    except InvalidOperation:
        return None
    if not number.is_finite() or abs(number.adjusted()) > _LARGEST_EXPONENT:
        return None
    return Fraction(number)


def interval_of(label: str, decimal: str) -> Interval | None:
    """Return the interval that a label means; None if it means none.

    Parameters
    ----------
    decimal: sign before the fraction.

    >>> [str(interval_of("[20, 22,5)", ",").high), interval_of("<20", ".").closed, interval_of("young", ".")]
    ['45/2', False, None]
    """
    single = exact(label.replace(decimal, "."))
    if single is not None:
        return Interval(single, single)
    for form, closed in _FORMS.items():
        found = form.fullmatch(label)
        if found is not None:
            ends = [exact(end.replace(decimal, ".")) for end in found.groups()]
            known = [end for end in ends if end is not None]
            if len(known) == len([end for end in found.groups() if end]) and known == sorted(known):
                return Interval(ends[0], ends[1], closed)
    return None


def number_text(number: Fraction) -> str | None:
    """Return the text of a number as all engines write it; None if 64 bits do not hold it exactly.

    >>> number_text(Fraction(49, 2)), number_text(Fraction(20)), number_text(Fraction(10**20 + 1))
    ('24.5', '20', None)
    """
    try:
        text = repr(float(number)).removesuffix(".0")
    except OverflowError:
        return None
    return text if exact(text) == number else None


@dataclass(frozen=True)
class NumberColumns:
    """The released numbers of a quasi-identifier.

    Attributes
    ----------
    name: of the quasi-identifier.
    form: ``midpoint`` or ``low-high``.
    excluded: labels of intervals to which the upper end does not belong.
    """

    name: str
    form: NumberLabels
    excluded: frozenset[str] = frozenset()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the released columns."""
        if self.form is NumberLabels.MIDPOINT:
            return (self.name,)
        return (f"{self.name}_low", f"{self.name}_high")

    def label(self, interval: Interval) -> str | None:
        """Return the label of an interval; None if it has no midpoint, or needs more than 64 bits."""
        low, high = interval.low, interval.high
        if self.form is NumberLabels.MIDPOINT:
            return None if low is None or high is None else number_text((low + high) / 2)
        ends = ["" if end is None else number_text(end) for end in (low, high)]
        known = [end for end in ends if end is not None]
        return _joined(*known) if len(known) > 1 else None

    def written(self, label: str, decimal: str) -> tuple[str, ...]:
        """Return the text of a label in each column, empty for an open end and for ``UNKNOWN``.

        Parameters
        ----------
        decimal: sign before the fraction.

        Raises
        ------
        ValueError: it is not such a label.
        """
        if label in UNKNOWN:
            return ("",) * len(self.columns)
        ends = _ends(label)
        if any(end and exact(end) is None for end in ends) or not any(ends):
            raise ValueError(f"'{label}' is not an interval of numbers")
        if self.form is NumberLabels.MIDPOINT and ends[0] != ends[1]:
            raise ValueError(f"'{label}' is not a midpoint")
        return tuple(end.replace(".", decimal) for end in ends[: len(self.columns)])

    def read(self, texts: Sequence[str | None], decimal: str, empty: str) -> str:
        """Return the label of released texts, one for each column; the inverse of ``written``.

        Texts that are not numbers are kept, so the label is an unknown one.

        Parameters
        ----------
        empty: label of texts that are all empty.
        """
        ends = [_canonical(text or "", decimal) for text in texts]
        if not any(ends):
            return empty
        return _joined(ends[0], ends[-1])


UNKNOWN = ("*", "<missing>")
"""Labels that are released as empty fields."""


def _joined(low: str, high: str) -> str:
    if low == high:
        return low
    return f"[{low}, {high}]" if low and high else f"{low}..{high}"


def _ends(label: str) -> tuple[str, str]:
    """Return the ends of a label, the inverse of ``_joined``."""
    for middle, plain in ((", ", label.removeprefix("[").removesuffix("]")), ("..", label)):
        low, found, high = plain.partition(middle)
        if found:
            return low, high
    return label, label


def _canonical(text: str, decimal: str) -> str:
    number = exact(text.replace(decimal, "."))
    return text if number is None else number_text(number) or text
