"""Half-open intervals of numbers, wider at each level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.labels import NESTED, ExactNumbers, RangeLabels
from anonymizer.hierarchy.source import HierarchySource, Tree, tree_of_rows
from anonymizer.model.labels import HALF_OPEN, OPEN, SIGNED, WHOLE, Form, interval_of
from anonymizer.model.table import COMMA_SIGN, Column
from anonymizer.plugins import Exact, Rule, Settings, accepts


class IntervalSettings(Settings):
    """Widths of the intervals, and a point at which one starts."""

    width: Annotated[
        tuple[Exact, ...],
        Field(
            min_length=1,
            description="Width of the intervals at levels 1, 2, ...: positive, ascending, each a multiple of "
            "the previous one. A last level * follows.",
        ),
        accepts(
            lambda widths: min(widths) > 0,
            lambda widths: f"{next(each for each in widths if each <= 0)}; accepted: a number > 0",
        ),
        NESTED,
    ]
    origin: Exact = Field(
        default=Decimal(0),
        description="Where an interval starts: level i holds [origin + n width, origin + (n + 1) width). "
        "Below zero, all intervals of whole numbers are labelled like -5 to -1.",
    )
    bottom: Exact | None = Field(
        default=None,
        description="Bottom coding: numbers below it are one group at every level, such as <18.",
    )
    top: Exact | None = Field(
        default=None,
        description="Top coding: numbers from it on are one group at every level, such as 90+.",
    )

    together = (
        Rule(
            lambda own: None not in (own.bottom, own.top) and own.bottom >= own.top,
            "bottom {own.bottom} is not below top {own.top}; accepted: bottom < top",
        ),
    )

    @model_serializer(mode="wrap")
    def _without_ends(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return the settings; ends that are not set are not part of them."""
        content: dict[str, Any] = serialize(self)
        return {key: value for key, value in content.items() if value is not None}


class IntervalSource(HierarchySource[IntervalSettings]):
    """Level i publishes the interval ``[origin + n width_i, origin + (n + 1) width_i)`` around the value.

    Intervals of whole numbers are labelled ``20-24``, below zero ``-5 to -1``, and all ``0 to 4`` if
    ``origin`` is below zero; all others ``[20, 22.5)``. With ``top`` and ``bottom``, the numbers beyond them
    are ``90+`` and ``<18`` at every level, and intervals end there. Labels follow from the settings: a number
    below zero, which may be of a suppressed record, must not change those of others. The arithmetic is exact.
    """

    name: ClassVar[str] = "intervals"
    Settings = IntervalSettings
    rule_built = True
    fixed_height = True
    content = "numbers in intervals"
    by_level = "width"

    @classmethod
    def forms(cls, settings: Mapping[str, Any], kind: str | None, level: int | None) -> tuple[Form, ...]:  # noqa: ARG003 - of all levels
        """Return those of ranges; an end with a fraction makes all of them half-open."""
        given = (settings["origin"], *settings["width"])
        origin, *widths = (Decimal(str(bound)) for bound in given)
        ends = [Decimal(str(settings[end])) for end in ("bottom", "top") if settings.get(end) is not None]
        coded = (OPEN,) if ends else ()
        if kind == "number" or any(bound % 1 for bound in (origin, *widths, *ends)):
            return (HALF_OPEN, *coded)
        whole = (SIGNED,) if origin < 0 else (WHOLE, SIGNED)
        return (*whole, *coded) if kind == "integer" else (*whole, HALF_OPEN, *coded)

    def depends_on(self, column: Column) -> dict[str, Any]:  # noqa: ARG002 - on none
        """Return nothing: the settings decide."""
        return {}

    def levels_of(self, texts: Sequence[str], folder: Path) -> frozenset[int] | None:  # noqa: ARG002
        """Return the levels whose width all intervals have."""
        if not texts:
            return frozenset({len(self.settings.width) + 1})
        possible = set(range(len(self.settings.width) + 1))
        for text in texts:
            possible &= self._levels_of(text)
        return frozenset(possible)

    def _levels_of(self, text: str) -> set[int]:
        """Return the levels that can have a text."""
        widths, low, high = self.settings.width, self.settings.bottom, self.settings.top
        if text in {OPEN.write("", str(low)), OPEN.write(str(high), "")}:
            return set(range(1, len(widths) + 1))
        # Nobody says which decimal sign the texts have; none separates thousands.
        found = interval_of(text, COMMA_SIGN)
        if found is None or found.low is None or found.high is None or found.low == found.high:
            # A value, or the only whole number of an interval of width 1.
            return {0, 1} if Decimal(1) in widths else {0}
        after = found.high + 1 if found.closed else found.high
        bounds = [None if end is None else Fraction(end) for end in (low, high)]
        cut, width = found.low == bounds[0] or after == bounds[1], after - found.low
        possible = enumerate(map(Fraction, widths), 1)
        return {level for level, each in possible if each == width or (cut and each > width)}

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
        ends = (self.settings.bottom, self.settings.top)
        given = [end for end in ends if end is not None]
        numbers = ExactNumbers(column, (self.settings.origin, *self.settings.width, *given))
        origin, *bounds = numbers.bounds
        widths, own = bounds[: len(self.settings.width)], iter(bounds[len(self.settings.width) :])
        low, high = (None if end is None else next(own) for end in ends)
        labels = RangeLabels(numbers, column.numerals, signed=self.settings.origin < 0)

        def label(value: int, width: int) -> str:
            if high is not None and value >= high:
                return labels.least(high)
            if low is not None and value < low:
                return labels.below(low)
            start = value - (value - origin) % width
            end = start + width
            return labels.between(
                start if low is None else max(start, low), end if high is None else min(end, high)
            )

        levels = [[label(value, width) for value in numbers.values] for width in widths]
        return tree_of_rows([column.present, *levels])
