"""Periods of the calendar that contain a date."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.labels import in_order
from anonymizer.hierarchy.source import HierarchySource, OptionalSettings, Tree, tree_of_rows
from anonymizer.model.dates import Moment, canonical_moment
from anonymizer.model.labels import PERIODS, Form, Interval, interval_of, period_days
from anonymizer.model.table import Column, ValueType
from anonymizer.plugins import each_follows


class Period(StrEnum):
    """A period of the calendar; each lies within one of the next."""

    DAY = "day"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    DECADE = "decade"


PERIOD_ORDER = list(Period)
"""The periods from fine to coarse."""


def are_groups_in_order(column: Column) -> bool:
    """Return whether the texts of a column are groups of numbers or dates that lie one above the other.

    A release has such texts in place of numbers and dates; that they are texts hides that they have an order.
    """
    if column.type is not ValueType.TEXT:
        return False
    texts = in_order(column)
    days = [period_days(text) for text in texts]
    numbers = [interval_of(text, column.numerals.decimal) for text in texts]
    periods = [Interval(Fraction(each[0]), Fraction(each[1])) for each in days if each is not None]
    groups = periods if len(periods) == len(texts) else [each for each in numbers if each is not None]
    return len(groups) == len(texts) > 1 and all(own.below(other) for own, other in pairwise(groups))


class DateSettings(OptionalSettings):
    """The periods that are levels."""

    levels: Annotated[
        tuple[Period, ...],
        Field(
            min_length=1,
            description="Periods from fine to coarse; default all. A last level * follows. Dates without a "
            "time are days already, so day is a level only if there are times.",
        ),
        each_follows(
            lambda finer, coarser: PERIOD_ORDER.index(coarser) > PERIOD_ORDER.index(finer),
            f"{{after}} after {{before}}; accepted: from fine to coarse, {', '.join(Period)}",
        ),
    ] = tuple(Period)


class DateSource(HierarchySource[DateSettings]):
    """Level i publishes the i-th period of a date: ``2021-03``, ``2021-Q1``, ``2021``, ``2020s``."""

    name: ClassVar[str] = "date"
    Settings = DateSettings
    rule_built = True
    content = "periods of dates"
    by_level = "levels"

    @classmethod
    def forms(cls, settings: Mapping[str, Any], kind: str | None, level: int | None) -> tuple[Form, ...]:  # noqa: ARG003 - of dates
        """Return those of the periods."""
        periods = settings["levels"]
        return tuple(PERIODS[each] for each in (periods if level is None else [periods[level - 1]]))

    @property
    def fixed_height(self) -> bool:
        """Whether a time of day leaves the levels as they are."""
        return Period.DAY not in self.settings.levels

    def depends_on(self, column: Column) -> dict[str, Any]:
        """Return whether the column has times: days are then a level."""
        if self.fixed_height:
            return {}
        return {"times": _timed(self._moments(column))}

    def build(self, column: Column, folder: Path) -> Tree:  # noqa: ARG002 - nothing is read
        """Return the periods of the column's dates.

        Raises
        ------
        HierarchyError: a value that is not a date.
        """
        moments = self._moments(column)
        periods = [each for each in self.settings.levels if each is not Period.DAY or _timed(moments)]
        labels = ([PERIODS[period].write(moment) for moment in moments] for period in periods)
        return tree_of_rows([list(column.present), *labels])

    def levels_of(self, texts: Sequence[str], folder: Path) -> frozenset[int] | None:  # noqa: ARG002
        """Return the levels of the periods in the texts, with and without a level of days."""
        periods = self.settings.levels
        days = Period.DAY in periods
        if not texts:
            return frozenset({len(periods), len(periods) + 1}) if days else frozenset({len(periods) + 1})
        found: set[int] = set()
        for level, period in enumerate(periods, start=1):
            if all(map(PERIODS[period].matches, texts)):
                found |= {level, level - 1} if days else {level}
        if all(PERIODS[Period.DAY].matches(text[:10]) for text in texts):
            found.add(0)
        return frozenset(found)

    def _moments(self, column: Column) -> list[Moment]:
        return [self._moment(column, code, text) for code, text in enumerate(column.present)]

    def _moment(self, column: Column, code: int, text: str) -> Moment:
        found = column.dates.read(text) or canonical_moment(text)
        if found is not None:
            return found
        try:
            return Moment(0.0, datetime.fromisoformat(text).isoformat())
        except ValueError:
            raise HierarchyError(
                f"column '{column.name}': '{text}' ({column.counts[code]} rows) is not a date for "
                f"{self.describe()}; accepted: ISO 8601 such as 2021-03-31, or type: date with a format"
            ) from None


def _timed(moments: Iterable[Moment]) -> bool:
    """Return whether some moments are times of a day."""
    return any("T" in moment.text for moment in moments)
