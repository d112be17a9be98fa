"""The measure ``marginal-distance``: distances between distributions, with many values binned to few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.table import Column
from anonymizer.utility.base import Bins, Comparison, Estimate, Measure, UtilityFinding


def binned(column: Column, records: FloatArray, most: int) -> Bins:
    """Return bins of a column's values, one for each where there are few enough.

    Numbers and dates: consecutive values with about as many records in each bin, missing ones beside them.
    Texts: the most frequent values have bins of their own, all others one together.

    Parameters
    ----------
    records: with each value, shape (values,).
    most: bins, at least 2; a missing number comes on top.
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


def total_variation(one: FloatArray, other: FloatArray, records: tuple[int, int]) -> float:
    """Return half the sum of |share - share|: the share of records that would have to change, in [0, 1].

    Parameters
    ----------
    one, other: records with each value, of the same shape.
    records: of both; what is missing in ``one`` or ``other`` has a value that the other has not.
    """
    if not records[0] or not records[1]:
        return float(records[0] != records[1])
    first, second = one / records[0], other / records[1]
    lost = abs((1 - first.sum()) - (1 - second.sum()))
    return float(min((np.abs(first - second).sum() + lost) / 2, 1.0))


def earth_movers(column: Column, one: FloatArray, other: FloatArray) -> float | None:
    """Return the earth mover's distance in parts of the range of a column's numbers, in [0, 1].

    Missing values are left out. None for texts, and where one side has no number.

    Parameters
    ----------
    one, other: records with each value, shape (values,).

    Source: Vallender, "Calculation of the Wasserstein distance between probability distributions on the line"
    (Theory of Probability and its Applications 18, 1974).
    """
    if column.numbers is None:
        return None
    present = ~np.isnan(column.numbers)
    numbers, first, second = column.numbers[present], one[present], other[present]
    if not first.sum() or not second.sum():
        return None
    # Half a number and half another always differ by a float.
    steps = np.diff(numbers / 2)
    ahead = np.cumsum(first / first.sum() - second / second.sum())[:-1]
    return float((np.abs(ahead) * steps).sum() / steps.sum()) if len(steps) else 0.0


class MarginalDistance(Measure):
    """Total variation between the distributions of an attribute before and after, mean of quasi-identifiers.

    The details have it for each attribute, sensitive ones too, and for numbers and dates the earth mover's
    distance in parts of their range. Distributions are shares of the released records, each published value
    in equal parts what it stands for.
    """

    name = "marginal-distance"

    def missing_requirement(self, comparison: Comparison) -> str | None:
        """A quasi-identifier is needed."""
        return None if comparison.quasi_identifiers else "a quasi-identifier that the originals have as well"

    def measure(
        self,
        comparison: Comparison,
        random: np.random.Generator,  # noqa: ARG002  it counts
    ) -> Sequence[UtilityFinding]:
        """Compare every attribute."""
        entries = [_entry(comparison, name) for name in comparison.columns]
        own = entries[: len(comparison.quasi_identifiers)]
        return [
            UtilityFinding(
                self.name,
                tuple(comparison.columns),
                float(np.mean([each["total_variation"] for each in own])),
                0.0,
                float(np.mean([each["suppressed"]["total_variation"] for each in own])),
                True,
                comparison.original.records,
                {"attributes": entries},
            )
        ]


def _entry(comparison: Comparison, name: str) -> dict[str, Any]:
    return {
        "attribute": name,
        **_distances(comparison, comparison.release, name),
        "suppressed": _distances(comparison, comparison.suppressed, name),
    }


def _distances(comparison: Comparison, estimate: Estimate, name: str) -> dict[str, Any]:
    true, own = comparison.original.marginal(name), estimate.marginal(name)
    return {
        "total_variation": total_variation(true, own, (comparison.original.records, estimate.records)),
        "earth_movers": earth_movers(comparison.columns[name], true, own),
    }
