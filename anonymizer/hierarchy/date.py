"""Periods of the calendar that hold a date."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, field_validator

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.graph import Tree, tree_of_rows
from anonymizer.hierarchy.source import HierarchySource, OptionalSettings
from anonymizer.model.table import Column


class Period(StrEnum):
    """A period of the calendar; each lies within one of the next."""

    DAY = "day"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    DECADE = "decade"

    def label(self, moment: datetime) -> str:
        """Return the name of the period that holds a moment."""
        return _LABELS[self](moment)


_LABELS: dict[Period, Callable[[datetime], str]] = {
    Period.DAY: lambda moment: moment.date().isoformat(),
    Period.MONTH: lambda moment: f"{moment.year:04d}-{moment.month:02d}",
    Period.QUARTER: lambda moment: f"{moment.year:04d}-Q{(moment.month + 2) // 3}",
    Period.YEAR: lambda moment: f"{moment.year:04d}",
    Period.DECADE: lambda moment: f"{moment.year // 10 * 10:04d}s",
}


_PATTERNS = {
    Period.DAY: re.compile(r"\d{4}-\d\d-\d\d"),
    Period.MONTH: re.compile(r"\d{4}-\d\d"),
    Period.QUARTER: re.compile(r"\d{4}-Q\d"),
    Period.YEAR: re.compile(r"\d{4}"),
    Period.DECADE: re.compile(r"\d{4}s"),
}


class DateSettings(OptionalSettings):
    """Which periods are levels."""

    levels: tuple[Period, ...] = Field(
        default=tuple(Period),
        min_length=1,
        description="Periods from fine to coarse; default all. A last level * follows. Dates without a time "
        "are days themselves, so day is a level of its own only where there are times.",
    )

    @field_validator("levels")
    @classmethod
    def _coarsen(cls, levels: tuple[Period, ...]) -> tuple[Period, ...]:
        order = list(Period)
        for finer, coarser in pairwise(levels):
            if order.index(coarser) <= order.index(finer):
                raise ValueError(
                    f"{coarser} after {finer}; accepted: from fine to coarse, {', '.join(order)}"
                )
        return levels


class DateSource(HierarchySource[DateSettings]):
    """Level i publishes the i-th period that holds a date: ``2021-03``, ``2021-Q1``, ``2021``, ``2020s``."""

    name: ClassVar[str] = "date"
    Settings = DateSettings
    rule_built = True

    def depends_on(self, column: Column) -> dict[str, Any]:
        """Return whether there are times, where days are a level of their own then."""
        if Period.DAY not in self.settings.levels:
            return {}
        moments = enumerate(self._moment(column, code) for code in range(len(column.present)))
        return {"times": any(Period.DAY.label(each) != column.present[code] for code, each in moments)}

    def build(self, column: Column, folder: Path) -> Tree:  # noqa: ARG002 - nothing is read
        """Return the periods of the column's ISO 8601 dates.

        Raises
        ------
        HierarchyError: a value that is not an ISO 8601 date.
        """
        moments = [self._moment(column, code) for code in range(len(column.present))]
        levels: list[list[str]] = [list(column.present)]
        for period in self.settings.levels:
            labels = [period.label(moment) for moment in moments]
            if period is not Period.DAY or labels != levels[0]:
                levels.append(labels)
        return tree_of_rows(levels)

    def levels_of(self, texts: Sequence[str], folder: Path) -> frozenset[int] | None:  # noqa: ARG002
        """Return the levels of the periods that the texts name; days may be a level of their own or not."""
        periods = self.settings.levels
        days = Period.DAY in periods
        if not texts:
            return frozenset({len(periods), len(periods) + 1}) if days else frozenset({len(periods) + 1})
        found: set[int] = set()
        for level, period in enumerate(periods, start=1):
            if all(_PATTERNS[period].fullmatch(text) for text in texts):
                found |= {level, level - 1} if days else {level}
        if all(_PATTERNS[Period.DAY].match(text) for text in texts):
            found.add(0)
        return frozenset(found)

    def _moment(self, column: Column, code: int) -> datetime:
        try:
            return datetime.fromisoformat(column.present[code])
        except ValueError:
            raise HierarchyError(
                f"column '{column.name}': '{column.present[code]}' ({column.counts[code]} rows) is not a "
                f"date for {self.describe()}; accepted: ISO 8601 such as 2021-03-31"
            ) from None
