"""Half-open intervals of numbers, wider at each level."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, field_validator

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.labels import ExactNumbers, RangeLabels, nested
from anonymizer.hierarchy.source import HierarchySource, Tree, tree_of_rows
from anonymizer.model.table import Column
from anonymizer.plugins import Exact, Settings


class IntervalSettings(Settings):
    """Widths of the intervals, and a point at which one starts."""

    width: tuple[Exact, ...] = Field(
        min_length=1,
        description="Width of the intervals at levels 1, 2, ...: positive, ascending, each a multiple of the "
        "previous one. A last level * follows.",
    )
    origin: Exact = Field(
        default=Decimal(0),
        description="Where an interval starts: level i holds [origin + n width, origin + (n + 1) width). "
        "Below zero, all intervals of whole numbers are labelled like -5 to -1.",
    )

    @field_validator("width")
    @classmethod
    def _nest(cls, width: tuple[Decimal, ...]) -> tuple[Decimal, ...]:
        for given in width:
            if given <= 0:
                raise ValueError(f"{given}; accepted: a number > 0")
        return tuple(nested(width))


class IntervalSource(HierarchySource[IntervalSettings]):
    """Level i publishes the interval ``[origin + n width_i, origin + (n + 1) width_i)`` around the value.

    Intervals of whole numbers are labelled ``20-24``, below zero ``-5 to -1``, and all ``0 to 4`` if
    ``origin`` is below zero; all others ``[20, 22.5)``. Labels follow from the settings: a number below zero,
    which may be of a suppressed record, must not change those of others. The arithmetic is exact.
    """

    name: ClassVar[str] = "intervals"
    Settings = IntervalSettings
    rule_built = True
    fixed_height = True

    def depends_on(self, column: Column) -> dict[str, Any]:  # noqa: ARG002 - on none
        """Return nothing: the settings decide."""
        return {}

    def levels_of(self, texts: Sequence[str], folder: Path) -> frozenset[int] | None:  # noqa: ARG002
        """Return the levels whose width all intervals have."""
        widths = self.settings.width
        if not texts:
            return frozenset({len(widths) + 1})
        possible = set(range(len(widths) + 1))
        for text in texts:
            width = _width(text)
            if width is None:  # a value, or the only whole number of an interval of width 1
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
        if not column.type.numeric:
            raise HierarchyError(
                f"column '{column.name}': {self.describe()} needs numbers, but the column's type is "
                f"{column.type}; set type: integer or number, or use hierarchy date, mask or order"
            )
        numbers = ExactNumbers(column, (self.settings.origin, *self.settings.width))
        origin, *widths = numbers.bounds
        labels = RangeLabels(numbers, column.numerals, signed=self.settings.origin < 0)
        levels = []
        for width in widths:
            starts = (value - (value - origin) % width for value in numbers.values)
            levels.append([labels.between(start, start + width) for start in starts])
        return tree_of_rows([column.present, *levels])


_HALF_OPEN = re.compile(r"\[(-?[0-9.,]+), (-?[0-9.,]+)\)")
_WHOLE = re.compile(r"(-?[0-9]+)(?:-| to )(-?[0-9]+)")


def _width(text: str) -> Decimal | None:
    """Return the width of an interval from its name; None for other texts.

    >>> _width("20-24"), _width("[20, 22.5)"), _width("-5 to -1"), _width("20")
    (Decimal('5'), Decimal('2.5'), Decimal('5'), None)
    """
    whole, half_open = _WHOLE.fullmatch(text), _HALF_OPEN.fullmatch(text)
    found = whole or half_open
    if found is None:
        return None
    low, high = (Decimal(end.replace(",", ".")) for end in found.groups())
    return high - low + (1 if whole else 0)
