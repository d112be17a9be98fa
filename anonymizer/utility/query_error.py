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
from anonymizer.plugins import WholeNumber, needs
from anonymizer.utility.base import Comparison, Deadline, Measure, Query, TimedSettings, UtilityFinding


@dataclass(frozen=True)
class QueryShape:
    """The size of random queries.

    Attributes
    ----------
    dimensions: maximum number of quasi-identifiers in a query, in addition to a sensitive attribute.
    selectivity: share of matching records if values were equally frequent and attributes independent.
    """

    dimensions: int
    selectivity: float


def random_query(
    columns: Mapping[str, Column],
    names: tuple[Sequence[str], Sequence[str]],
    shape: QueryShape,
    random: np.random.Generator,
) -> Query:
    """Return a query on random quasi-identifiers, all sets equally likely, and one sensitive attribute.

    The selectivity decides how many values of each attribute match: consecutive numbers or dates, any texts.

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
"""Intervals between the reported points of the distribution function."""


class QueryErrorSettings(TimedSettings):
    """Parameters of the random queries."""

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
    """Median relative error of random count queries on quasi-identifiers and a sensitive attribute.

    The error is |answer from the release - true answer| / max(true answer, ``sanity`` times the records). The
    release answers with expected numbers: a published value counts in equal parts for the values it covers.

    Source: Xiao, Tao, "Anatomy: simple and effective privacy preservation" (VLDB 2006), section 6.2, for the
    queries; Vitter, Wang, "Approximate computation of multidimensional aggregates of sparse data using
    wavelets" (SIGMOD 1999), for the sanity bound.
    """

    name = "query-error"
    Settings = QueryErrorSettings
    settings: QueryErrorSettings
    requires = (
        needs("an attribute that release and originals share", lambda _, comparison: comparison.columns),
    )

    def measure(self, comparison: Comparison, random: np.random.Generator) -> Sequence[UtilityFinding]:
        """Return one result for all queries that the time limit allows."""
        answers = self._answers(comparison, random)
        true, release, suppressed = answers.T
        bound = self.settings.sanity * comparison.original.records
        own, worst = (np.abs(each - true) / np.maximum(true, bound) for each in (release, suppressed))
        details = {
            **_distribution(own),
            "mean_suppressed": float(worst.mean()),
            "below_sanity": int((true < bound).sum()),
            **self._parameters(len(answers)),
        }
        return self.error(comparison, float(np.median(own)), float(np.median(worst)), details)

    def _answers(self, comparison: Comparison, random: np.random.Generator) -> FloatArray:
        """Return the answers of originals, release and suppressed release, shape (queries, 3)."""
        names = comparison.quasi_identifiers, comparison.sensitive
        shape = QueryShape(self.settings.dimensions, self.settings.selectivity)
        estimates = comparison.original, comparison.release, comparison.suppressed
        deadline = Deadline(self.settings.seconds)
        answers: list[list[float]] = []
        while len(answers) < self.settings.queries and not (answers and deadline.passed):
            query = random_query(comparison.columns, names, shape, random)
            answers.append([each.expected(query) for each in estimates])
        return np.array(answers, dtype=np.float64)

    def _parameters(self, queries: int) -> dict[str, Any]:
        own = self.settings.model_dump(mode="json", exclude={"queries", "seconds"})
        return {**own, "queries": queries, "complete": queries == self.settings.queries}


def _distribution(errors: FloatArray) -> dict[str, Any]:
    """Return the mean and points [error, share of queries with at most this error]."""
    shares = np.arange(STEPS + 1) / STEPS
    points = np.quantile(errors, shares)
    return {
        "mean": float(errors.mean()),
        "ecdf": [[float(error), float(share)] for error, share in zip(points, shares, strict=True)],
    }
