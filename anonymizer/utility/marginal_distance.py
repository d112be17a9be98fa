"""The measure ``marginal-distance``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from anonymizer.utility.base import Comparison, Measure, UtilityFinding
from anonymizer.utility.distances import earth_movers, total_variation
from anonymizer.utility.estimate import Estimate


class MarginalDistance(Measure):
    """Total variation between the distributions of an attribute before and after, mean of quasi-identifiers.

    The details have it for each attribute, sensitive ones too, and for numbers and dates the earth mover's
    distance in parts of their range. Distributions are shares of the released records, each published value
    in equal parts what it stands for.
    """

    name = "marginal-distance"

    def missing_requirement(self, comparison: Comparison) -> str | None:
        """A quasi-identifier is needed."""
        return None if comparison.quasi_identifiers else "a quasi-identifier that the originals have too"

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
