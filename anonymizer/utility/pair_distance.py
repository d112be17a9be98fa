"""The measure ``pair-distance``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from anonymizer.plugins import WholeNumber
from anonymizer.utility.base import (
    Bins,
    Comparison,
    Deadline,
    Estimate,
    Measure,
    TimedSettings,
    UtilityFinding,
)
from anonymizer.utility.marginal_distance import binned, total_variation

FARTHEST = 20
"""Pairs that the details list."""


class PairDistanceSettings(TimedSettings):
    """How finely pairs are compared."""

    bins: Annotated[
        WholeNumber,
        Field(ge=2, le=1000, description="maximum number of values per attribute; more are merged"),
    ] = 50


class PairDistance(Measure):
    """Total variation between the joint distributions of two attributes before and after, mean of all pairs.

    Pairs are of quasi-identifiers, and of each with each sensitive attribute. Attributes of more than
    ``bins`` values are compared by consecutive values with about as many records, texts by the most frequent
    values and all others. Within published values the two attributes are taken for independent.
    """

    name = "pair-distance"
    Settings = PairDistanceSettings
    settings: PairDistanceSettings

    def missing_requirement(self, comparison: Comparison) -> str | None:
        """A pair is needed."""
        return None if next(_pairs(comparison), None) else "two attributes, one of them a quasi-identifier"

    def measure(
        self,
        comparison: Comparison,
        random: np.random.Generator,  # noqa: ARG002  it counts
    ) -> Sequence[UtilityFinding]:
        """Compare every pair."""
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
        return [
            UtilityFinding(
                self.name,
                tuple(comparison.columns),
                float(np.mean([each["total_variation"] for each in entries])),
                0.0,
                float(np.mean([each["suppressed"] for each in entries])),
                True,
                comparison.original.records,
                details,
            )
        ]


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
