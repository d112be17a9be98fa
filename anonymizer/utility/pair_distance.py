"""The measure ``pair-distance``: joint distributions of two attributes, many values binned to few."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.table import Column
from anonymizer.plugins import WholeNumber, needs
from anonymizer.utility.base import (
    Bins,
    Comparison,
    Deadline,
    Estimate,
    Measure,
    TimedSettings,
    UtilityFinding,
    total_variation,
)

FARTHEST = 20
"""Pairs that the details list."""


def binned(column: Column, records: FloatArray, most: int) -> Bins:
    """Return bins of a column's values; one per value if there are at most ``most``.

    Numbers and dates: consecutive values with about equal numbers of records in each bin, and one bin for
    missing values. Texts: one bin for each of the most frequent values, and one for all others.

    Parameters
    ----------
    records: with each value, shape (values,).
    most: maximum number of bins without the one for missing numbers, at least 2.
    """
    if column.size <= most:
        return Bins(column.name, np.arange(column.size), column.size)
    if column.type.ordered:
        return _of_ordered(column, records, most)
    rank = np.empty(column.size, dtype=np.int64)
    rank[np.argsort(-records, kind="stable")] = np.arange(column.size)
    return Bins(column.name, np.minimum(rank, most - 1), most)


def _of_ordered(column: Column, records: FloatArray, most: int) -> Bins:
    present = len(column.present)
    own = records[:present]
    middle = (np.cumsum(own) - own / 2) / max(own.sum(), 1)
    parts = np.minimum((middle * most).astype(np.int64), most - 1)
    of_value: IntArray = np.unique(parts, return_inverse=True)[1].astype(np.int64)
    if column.missing is not None:
        of_value = np.append(of_value, int(of_value.max(initial=-1)) + 1)
    return Bins(column.name, of_value, int(of_value.max()) + 1)


class PairDistanceSettings(TimedSettings):
    """Parameters of the measure."""

    bins: Annotated[
        WholeNumber,
        Field(ge=2, le=1000, description="maximum number of values per attribute; more are merged"),
    ] = 50


class PairDistance(Measure):
    """Total variation between the joint distributions of two attributes before and after, mean of all pairs.

    Each quasi-identifier is paired with each other one and with each sensitive attribute. Attributes with
    more than ``bins`` values are binned. Within published values the two attributes are assumed to be
    independent.
    """

    name = "pair-distance"
    Settings = PairDistanceSettings
    settings: PairDistanceSettings
    requires = (
        needs(
            "two attributes, one of them a quasi-identifier",
            lambda _, comparison: next(_pairs(comparison), None) is not None,
        ),
    )

    def measure(
        self,
        comparison: Comparison,
        random: np.random.Generator,  # noqa: ARG002  it counts
    ) -> Sequence[UtilityFinding]:
        """Return one result for all pairs that the time limit allows."""
        deadline = Deadline(self.settings.seconds)
        bins = {
            name: binned(column, comparison.original.marginal(name), self.settings.bins)
            for name, column in comparison.columns.items()
        }
        pairs = list(_pairs(comparison))
        entries: list[dict[str, Any]] = []
        for one, other in pairs:
            if entries and deadline.passed:
                break
            entries.append(_entry(comparison, bins[one], bins[other]))
        farthest = sorted(entries, key=lambda each: -each["total_variation"])[:FARTHEST]
        details = {
            "bins": self.settings.bins,
            "pairs": len(entries),
            "complete": len(entries) == len(pairs),
            "farthest": farthest,
        }
        value = float(np.mean([each["total_variation"] for each in entries]))
        suppressed = float(np.mean([each["suppressed"] for each in entries]))
        return self.error(comparison, value, suppressed, details)


def _pairs(comparison: Comparison) -> Iterator[tuple[str, str]]:
    yield from combinations(comparison.quasi_identifiers, 2)
    for name in comparison.quasi_identifiers:
        yield from ((name, sensitive) for sensitive in comparison.sensitive)


def _entry(comparison: Comparison, one: Bins, other: Bins) -> dict[str, Any]:
    true = comparison.original.joint(one, other)

    def distance(estimate: Estimate) -> float:
        records = comparison.original.records, estimate.records
        return total_variation(true, estimate.joint(one, other), records)

    return {
        "attributes": [one.attribute, other.attribute],
        "total_variation": distance(comparison.release),
        "suppressed": distance(comparison.suppressed),
    }
