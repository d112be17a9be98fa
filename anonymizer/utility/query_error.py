"""The measure ``query-error``: random count queries over values of several attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from anonymizer.model.arrays import BoolArray, FloatArray
from anonymizer.model.table import Column
from anonymizer.plugins import WholeNumber
from anonymizer.utility.base import Comparison, Deadline, Measure, Query, TimedSettings, UtilityFinding


@dataclass(frozen=True)
class QueryShape:
    """What the queries look like.

    Attributes
    ----------
    dimensions: quasi-identifiers in a query, at most; a sensitive attribute comes on top.
    selectivity: share of the records that satisfy a query, were all values as frequent and independent.
    """

    dimensions: int
    selectivity: float


def random_query(
    columns: Mapping[str, Column],
    names: tuple[Sequence[str], Sequence[str]],
    shape: QueryShape,
    random: np.random.Generator,
) -> Query:
    """Return one query: some quasi-identifiers, all sets of them as likely, and one sensitive attribute.

    Of each attribute, as many of its values satisfy as give the selectivity: consecutive ones of numbers and
    dates, any of a text.

    Source: Xiao, Tao, "Anatomy: simple and effective privacy preservation" (VLDB 2006), section 6.2, where
    the values of ordered attributes are drawn one by one too.

    Parameters
    ----------
    columns: the original values of each attribute.
    names: of the quasi-identifiers and of the sensitive attributes; either may be empty, not both.
    """
    quasi_identifiers, sensitive = names
    number = min(shape.dimensions, len(quasi_identifiers))
    chosen = [quasi_identifiers[own] for own in sorted(random.permutation(len(quasi_identifiers))[:number])]
    if sensitive:
        chosen.append(sensitive[int(random.integers(len(sensitive)))])
    share = shape.selectivity ** (1 / len(chosen))
    return Query({name: _condition(columns[name], share, random) for name in chosen})


def _condition(column: Column, share: float, random: np.random.Generator) -> BoolArray:
    wanted: BoolArray = np.zeros(column.size, dtype=bool)
    present = len(column.present)
    if column.type.ordered and present:
        number = max(1, ceil(present * share))
        start = int(random.integers(present - number + 1))
        wanted[start : start + number] = True
    else:
        wanted[random.permutation(column.size)[: max(1, ceil(column.size * share))]] = True
    return wanted


STEPS = 20
"""Equal shares of the queries between the points of the distribution function that is reported."""


class QueryErrorSettings(TimedSettings):
    """Which queries are asked."""

    queries: Annotated[WholeNumber, Field(ge=1, le=1_000_000, description="number of queries")] = 1000
    dimensions: Annotated[
        WholeNumber,
        Field(
            ge=1, description="number of quasi-identifiers per query, in addition to one sensitive attribute"
        ),
    ] = 3
    selectivity: Annotated[
        float, Field(gt=0, le=1, description="expected share of the records that a query selects")
    ] = 0.05
    sanity: Annotated[
        float,
        Field(gt=0, le=1, description="share of the records; the smallest denominator of a relative error"),
    ] = 0.001


class QueryError(Measure):
    """Relative error of random count queries on quasi-identifiers and a sensitive attribute, the median.

    Of each query, |answer from the release - true answer| / max(true answer, ``sanity`` times the records).
    The release answers with expected numbers: a published value is in equal parts what it stands for.

    Source: Xiao, Tao, "Anatomy: simple and effective privacy preservation" (VLDB 2006), section 6.2, for the
    queries; Vitter, Wang, "Approximate computation of multidimensional aggregates of sparse data using
    wavelets" (SIGMOD 1999), for the sanity bound.
    """

    name = "query-error"
    Settings = QueryErrorSettings
    settings: QueryErrorSettings

    def missing_requirement(self, comparison: Comparison) -> str | None:
        """Something to ask for is needed."""
        return None if comparison.columns else "an attribute that release and originals share"

    def measure(self, comparison: Comparison, random: np.random.Generator) -> Sequence[UtilityFinding]:
        """Ask the queries."""
        answers = self._answers(comparison, random)
        true, release, suppressed = answers.T
        bound = self.settings.sanity * comparison.original.records
        own, worst = (np.abs(each - true) / np.maximum(true, bound) for each in (release, suppressed))
        details = {
            **_distribution(own),
            "mean_suppressed": float(worst.mean()),
            "below_sanity": int((true < bound).sum()),
            **self._asked(len(answers)),
        }
        return [
            UtilityFinding(
                self.name,
                tuple(comparison.columns),
                float(np.median(own)),
                0.0,
                float(np.median(worst)),
                True,
                comparison.original.records,
                details,
            )
        ]

    def _answers(self, comparison: Comparison, random: np.random.Generator) -> FloatArray:
        """Return what originals, release and mere ``*`` answer to each query, shape (queries, 3)."""
        names = comparison.quasi_identifiers, comparison.sensitive
        shape = QueryShape(self.settings.dimensions, self.settings.selectivity)
        asked = comparison.original, comparison.release, comparison.suppressed
        deadline = Deadline(self.settings.seconds)
        answers: list[list[float]] = []
        while len(answers) < self.settings.queries and not (answers and deadline.passed):
            query = random_query(comparison.columns, names, shape, random)
            answers.append([each.expected(query) for each in asked])
        return np.array(answers, dtype=np.float64)

    def _asked(self, queries: int) -> dict[str, Any]:
        asked = self.settings.model_dump(mode="json", exclude={"queries", "seconds"})
        return {**asked, "queries": queries, "complete": queries == self.settings.queries}


def _distribution(errors: FloatArray) -> dict[str, Any]:
    """Return the mean, and points of the distribution function: [error, share of queries up to it]."""
    shares = np.arange(STEPS + 1) / STEPS
    points = np.quantile(errors, shares)
    return {
        "mean": float(errors.mean()),
        "ecdf": [[float(error), float(share)] for error, share in zip(points, shares, strict=True)],
    }
