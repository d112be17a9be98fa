"""Half-open intervals of numbers, wider from level to level."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, field_validator

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.graph import Tree, tree_of_rows
from anonymizer.hierarchy.labels import nested, whole_range
from anonymizer.hierarchy.source import HierarchySource
from anonymizer.model.table import Column, Numerals, ValueType
from anonymizer.plugins import Exact, Settings


class IntervalSettings(Settings):
    """Widths of the intervals and where they start."""

    width: tuple[Exact, ...] = Field(
        min_length=1,
        description="Width of the intervals at levels 1, 2, ...: positive, ascending, each a multiple of the "
        "one before. A last level * follows.",
    )
    origin: Exact = Field(
        default=Decimal(0),
        description="Where an interval starts: level i holds [origin + n width, origin + (n + 1) width).",
    )

    @field_validator("width")
    @classmethod
    def _nest(cls, width: tuple[Decimal, ...]) -> tuple[Decimal, ...]:
        for given in width:
            if given <= 0:
                raise ValueError(f"{given}; accepted: a number > 0")
        return tuple(nested(width))


class IntervalSource(HierarchySource[IntervalSettings]):
    """Level i publishes the interval ``[origin + n width_i, origin + (n + 1) width_i)`` that holds the value.

    Whole numbers in intervals of whole bounds are labelled ``20-24``, all others ``[20, 22.5)``. The
    arithmetic is exact.
    """

    name: ClassVar[str] = "intervals"
    Settings = IntervalSettings
    rule_built = True

    def depends_on(self, column: Column) -> dict[str, Any]:  # noqa: ARG002 - on none
        """Return nothing: the interval of a number follows from the number and the type."""
        return {}

    def levels_of(self, texts: Sequence[str], folder: Path) -> frozenset[int] | None:  # noqa: ARG002
        """Return the levels of the widths that the intervals have."""
        widths = self.settings.width
        if not texts:
            return frozenset({len(widths) + 1})
        possible = set(range(len(widths) + 1))
        for text in texts:
            width = _width(text)
            if width is None:  # a value of its own, or the only whole number of an interval of width 1
                possible &= {0, 1} if Decimal(1) in widths else {0}
            else:
                possible &= {level for level, each in enumerate(widths, start=1) if each == width}
        return frozenset(possible)

    def build(self, column: Column, folder: Path) -> Tree:  # noqa: ARG002 - nothing is read
        """Return the nested intervals of the column's values.

        Raises
        ------
        HierarchyError: the column does not hold numbers.
        """
        if column.type not in (ValueType.INTEGER, ValueType.NUMBER):
            raise HierarchyError(
                f"column '{column.name}': {self.describe()} needs numbers, its type is {column.type}; "
                "give type: integer or number, or use hierarchy date, mask or order"
            )
        bounds = (self.settings.origin, *self.settings.width)
        numbers = [Decimal(str(column.numerals.plain(text))) for text in column.present]
        places = max(_places(number) for number in (*numbers, *bounds))
        origin, *widths = (_scaled(bound, places) for bound in bounds)
        values = [_scaled(number, places) for number in numbers]
        whole = column.type is ValueType.INTEGER and not any(map(_places, bounds))
        name = _Naming(10**places, whole, column.numerals)
        levels = [[name(value - (value - origin) % width, width) for value in values] for width in widths]
        return tree_of_rows([column.present, *levels])


class _Naming:
    """Names intervals whose bounds are whole multiples of ``1/scale``."""

    def __init__(self, scale: int, whole: bool, numerals: Numerals) -> None:
        self._scale = scale
        self._places = len(str(scale)) - 1
        self._whole = whole
        self._numerals = numerals

    def __call__(self, low: int, width: int) -> str:
        if not self._whole:
            return f"[{self._text(low)}, {self._text(low + width)})"
        first, last = self._text(low), self._text(low + width - self._scale)
        return first if first == last else whole_range(first, last)

    def _text(self, scaled: int) -> str:
        whole, rest = divmod(abs(scaled), self._scale)
        decimals = f"{rest:0{self._places}d}".rstrip("0") if rest else ""
        plain = ("-" if scaled < 0 else "") + str(whole) + (f".{decimals}" if decimals else "")
        return self._numerals.written(plain)


_HALF_OPEN = re.compile(r"\[(-?[0-9.,]+), (-?[0-9.,]+)\)")
_WHOLE = re.compile(r"(-?[0-9]+)(?:-| to )(-?[0-9]+)")


def _width(text: str) -> Decimal | None:
    """Return the width of an interval from its name; None where the text is none.

    >>> _width("20-24"), _width("[20, 22.5)"), _width("-5 to -1"), _width("20")
    (Decimal('5'), Decimal('2.5'), Decimal('5'), None)
    """
    whole, half_open = _WHOLE.fullmatch(text), _HALF_OPEN.fullmatch(text)
    found = whole or half_open
    if found is None:
        return None
    low, high = (Decimal(end.replace(",", ".")) for end in found.groups())
    return high - low + (1 if whole else 0)


def _places(number: Decimal) -> int:
    """Return the decimal places that a number needs, trailing zeros left out."""
    _, denominator = number.as_integer_ratio()
    places = 0
    while 10**places % denominator:
        places += 1
    return places


def _scaled(number: Decimal, places: int) -> int:
    numerator, denominator = number.as_integer_ratio()
    scale: int = 10**places // denominator
    return numerator * scale
