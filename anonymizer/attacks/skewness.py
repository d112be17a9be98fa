"""Skewness: classes in which a rare sensitive value is frequent.

Counts are compared with shares of totals exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from anonymizer.attacks.attribute_disclosure import ClassDisclosure, DisclosureSettings, UnitCounts
from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Reference, SensitiveCounts
from anonymizer.plugins import Exact, Threat


def at_least(counts: IntArray, share: Decimal | Fraction, totals: IntArray) -> BoolArray:
    """Return which counts are at least a share of their totals, shape as the counts, bool.

    The comparison is exact: in int64 if the products fit, else in Python integers.
    """
    ratio = Fraction(share)
    numerator, denominator = ratio.numerator, ratio.denominator
    largest = max(int(counts.max(initial=0)) * denominator, int(totals.max(initial=0)) * numerator)
    if largest >= 1 << 63:
        counts, totals = counts.astype(object), totals.astype(object)
    return np.asarray(counts * denominator >= totals * numerator, dtype=bool)


def at_most(counts: IntArray, share: Decimal | Fraction, totals: IntArray) -> BoolArray:
    """Return which counts are at most a share of their totals, shape as the counts, bool."""
    return at_least(totals - counts, 1 - Fraction(share), totals)


class SkewnessSettings(DisclosureSettings):
    """What the adversary knows of a target, and the definition of skewed."""

    rare: Annotated[Exact, Field(ge=0, le=1, description="largest share in the release of a rare value")] = (
        Decimal("0.05")
    )
    threshold: Annotated[
        Exact, Field(ge=0, le=1, description="smallest share in a class that counts as disclosure")
    ] = Decimal("0.5")


class Skewness(ClassDisclosure):
    """Share of records in classes where a value is frequent that is rare overall.

    Source: Li, Li, Venkatasubramanian, "t-Closeness" (ICDE 2007, doi:10.1109/ICDE.2007.367856), section 2.
    """

    name = "skewness"
    threat = Threat.SKEWNESS
    certain = False
    Settings = SkewnessSettings
    settings: SkewnessSettings
    examples = ({"sensitive": "illness"},)

    @classmethod
    def learns(cls, knowledge: Mapping[str, Any]) -> str:
        """Return that a rare value becomes likely."""
        return f" learns that a rare value of {knowledge['sensitive']} is likely,"

    def disclosed(self, counts: SensitiveCounts, overall: Reference) -> BoolArray:
        """Return which classes have a rare value with a share of at least ``threshold``."""
        total = np.full(len(overall.counts), overall.total)
        rare = at_most(overall.counts, self.settings.rare, total)
        sizes = np.add.reduceat(counts.counts, counts.starts[:-1])[counts.owners]
        frequent = at_least(counts.counts, self.settings.threshold, sizes)
        return np.logical_or.reduceat(rare[counts.values] & frequent, counts.starts[:-1])

    def told_of_units(self, disclosed: BoolArray, own: UnitCounts) -> BoolArray:  # noqa: ARG002 - of records
        """Return which records are in a class where many units have a value that few have overall."""
        rare = at_most(own.overall, self.settings.rare, np.full(len(own.counts), own.number))
        entries = rare[own.entry_of]
        entries &= at_least(own.counts[own.entry_of], self.settings.threshold, own.sizes[own.class_of])
        classes = np.bincount(own.class_of[entries], minlength=len(own.sizes)) > 0
        return classes[own.class_of]
