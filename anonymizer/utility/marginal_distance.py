"""The measure ``marginal-distance``: distances between distributions of single attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from anonymizer.model.arrays import FloatArray
from anonymizer.model.table import Column
from anonymizer.plugins import needs
from anonymizer.utility.base import Comparison, Estimate, Measure, UtilityFinding, total_variation


def earth_movers(column: Column, one: FloatArray, other: FloatArray) -> float | None:
    """Return the earth mover's distance as a share of the range of a column's numbers, in [0, 1].

    Missing values are left out. None for texts, and if one side has no number.

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
    # Halves avoid an overflow of the difference.
    steps = np.diff(numbers / 2)
    ahead = np.cumsum(first / first.sum() - second / second.sum())[:-1]
    return float((np.abs(ahead) * steps).sum() / steps.sum()) if len(steps) else 0.0


class MarginalDistance(Measure):
    """Total variation between the distributions of an attribute before and after, mean of quasi-identifiers.

    The details have the value for each attribute, including sensitive ones, and for numbers and dates the
    earth mover's distance as a share of their range. Distributions are shares of the released records; a
    published value counts in equal parts for the values that it covers.
    """

    name = "marginal-distance"
    requires = (
        needs(
            "a quasi-identifier that the originals have as well",
            lambda _, comparison: comparison.quasi_identifiers,
        ),
    )

    def measure(
        self,
        comparison: Comparison,
        random: np.random.Generator,  # noqa: ARG002  it counts
    ) -> Sequence[UtilityFinding]:
        """Return one result for all attributes."""
        entries = [_entry(comparison, name) for name in comparison.columns]
        own = entries[: len(comparison.quasi_identifiers)]
        value = float(np.mean([each["total_variation"] for each in own]))
        suppressed = float(np.mean([each["suppressed"]["total_variation"] for each in own]))
        return self.error(comparison, value, suppressed, {"attributes": entries})


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
