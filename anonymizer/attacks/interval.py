"""Interval disclosure: the true value of a number is close to the published one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from math import ceil
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from anonymizer.attacks.base import AlignedSettings, Attack, AttackResult, clopper_pearson
from anonymizer.errors import InputError, suggestion
from anonymizer.model.adversary import AdversaryView, Original
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.plugins import Exact


class Measure(StrEnum):
    """How the interval around a published number is drawn."""

    RANK = "rid"
    DEVIATION = "sdid"


class IntervalSettings(AlignedSettings):
    """Which numbers are attacked, and how close is close."""

    attributes: Annotated[
        tuple[str, ...] | None, Field(min_length=1, description="numeric attributes to attack; default: all")
    ] = None
    measure: Annotated[
        Measure | None,
        Field(
            description="rid: by rank, sdid: by standard deviation of the published numbers; default: both"
        ),
    ] = None
    width: Annotated[
        Exact,
        Field(
            gt=0,
            description="half the width of the interval: for rid as a share of the records, for sdid of the "
            "standard deviation",
        ),
    ] = Decimal("0.05")


@dataclass(frozen=True, eq=False)
class _Masked:
    """The distinct published numbers, ascending, and the targets.

    Attributes
    ----------
    numbers, records: published numbers and how many records have each, shape (numbers,), float64, int64.
    true: original number of each kind of target, shape (targets,), float64.
    place: position in ``numbers`` of what was published for it, -1 where that was no number, shape
        (targets,), int64.
    counts: records of each kind of target, shape (targets,), int64.
    """

    numbers: FloatArray
    records: IntArray
    true: FloatArray
    place: IntArray
    counts: IntArray


class _Rule(ABC):
    """Intervals around the published numbers."""

    def __init__(self, masked: _Masked, width: Decimal) -> None:
        self.masked = masked
        self.total = int(masked.records.sum())
        self.width = width

    @abstractmethod
    def inside(self) -> IntArray:
        """Return how many records with the number published for each target have its true one around theirs.

        Shape (targets,), int64: between 0 and the records with that published number; of targets with a
        published number.
        """

    @abstractmethod
    def anywhere(self) -> IntArray:
        """Return how many records of the release have the true number of each target around theirs."""

    def success(self) -> Fraction:
        """Return the expected number of targets whose true number is inside, a tie of n counting 1/n."""
        own = self.masked.place >= 0
        among = self.masked.records[self.masked.place[own]]
        hits = self.inside()[own] * self.masked.counts[own]
        sums = {
            size: int(hits[among == size].sum()) for size in np.unique(among).tolist()
        }  # as many sizes as there are ties of different length
        return sum((Fraction(hit, size) for size, hit in sums.items()), Fraction(0))

    def chance(self) -> Fraction:
        """Return the expected number of targets inside when the published column is permuted."""
        return Fraction(int((self.anywhere() * self.masked.counts).sum()), self.total)


class _ByRank(_Rule):
    """From the published number w ranks below to that w ranks above, cut off at the ends."""

    @property
    def _reach(self) -> int:
        return ceil(Fraction(self.width) * self.total)

    def _ranks(self) -> tuple[IntArray, IntArray]:
        """Return the first and the last rank whose interval has each true number; none: last below first."""
        known = np.concatenate([[0], np.cumsum(self.masked.records)])
        upto = known[np.searchsorted(self.masked.numbers, self.masked.true, "right")]
        below = known[np.searchsorted(self.masked.numbers, self.masked.true, "left")]
        first = np.maximum(below + 1 - self._reach, 1)
        last = np.minimum(upto + self._reach, self.total)
        outside = (upto == 0) | (below == self.total)
        return first, np.where(outside, first - 1, last)

    def inside(self) -> IntArray:
        first, last = self._ranks()
        ends = np.cumsum(self.masked.records)[self.masked.place]
        starts = ends - self.masked.records[self.masked.place] + 1
        ranks: IntArray = np.maximum(np.minimum(last, ends) - np.maximum(first, starts) + 1, 0)
        return ranks

    def anywhere(self) -> IntArray:
        first, last = self._ranks()
        ranks: IntArray = np.maximum(last - first + 1, 0)
        return ranks


class _ByDeviation(_Rule):
    """Up to a share of the standard deviation of the published numbers below and above the published one."""

    def _ends(self) -> tuple[FloatArray, FloatArray]:
        numbers, records = self.masked.numbers, self.masked.records
        mean = float(numbers @ records) / self.total
        deviation = float(np.sqrt(((numbers - mean) ** 2 @ records) / self.total))
        reach = float(self.width) * deviation
        return numbers - reach, numbers + reach

    def inside(self) -> IntArray:
        low, high = (ends[self.masked.place] for ends in self._ends())
        hit = (low <= self.masked.true) & (self.masked.true <= high)
        return np.where(hit, self.masked.records[self.masked.place], 0)

    def anywhere(self) -> IntArray:
        low, high = self._ends()
        known = np.concatenate([[0], np.cumsum(self.masked.records)])
        begun = known[np.searchsorted(low, self.masked.true, "right")]
        ended = known[np.searchsorted(high, self.masked.true, "left")]
        around: IntArray = begun - ended
        return around


_RULES: dict[Measure, type[_Rule]] = {Measure.RANK: _ByRank, Measure.DEVIATION: _ByDeviation}


class Interval(Attack):
    """Share of the true numbers that lie in an interval around the published ones.

    ``rid``: the published numbers are ranked, and the interval around the one at rank i goes from the number
    at rank max(i - w, 1) to that at rank min(i + w, n), both included, with w = ceil(width × n). Records with
    the same published number are at each of their ranks equally often. ``sdid``: from ``width`` standard
    deviations of the published numbers below to as many above. A published interval, set or node counts as
    the middle between the least and the largest number it stands for, ``*`` as that of the whole column.

    Targets are the released records whose true number is known and present. The baseline is the expected
    success when the published column is permuted, and the interval is that of a share of so many targets: one
    masked file is one draw of the masking.

    Source: Domingo-Ferrer, Torra, "A quantitative comparison of disclosure control methods for microdata"
    (in Confidentiality, Disclosure and Data Access, North-Holland 2001); Mateo-Sanz, Sebé, Domingo-Ferrer,
    "Outlier protection in continuous microdata masking" (PSD 2004, doi:10.1007/978-3-540-25955-8_16).
    """

    name = "interval"
    threat = None
    Settings = IntervalSettings
    settings: IntervalSettings

    def missing_requirement(self, scene: AdversaryView) -> str | None:
        """Original records with a number are needed, and what became of them."""
        lacking = self.settings.missing_requirement(scene)
        if lacking is None and scene.original is not None and not _numeric(scene.original):
            return "a quasi-identifier with numbers or dates"
        return lacking

    def run(self, scene: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:  # noqa: ARG002 - it counts
        """Attack each number by each measure."""
        lacking = self.missing_requirement(scene)
        if lacking is not None or scene.original is None:
            raise InputError(f"{scene.release.source}: the attack interval needs {lacking}")
        measures = [self.settings.measure] if self.settings.measure else list(Measure)
        return [
            finding
            for name in self._attributes(scene.original)
            for measure in measures
            if (finding := self._attack(scene, scene.original, name, measure))
        ]

    def _attributes(self, original: Original) -> Sequence[str]:
        every = _numeric(original)
        for name in self.settings.attributes or ():
            if name not in every:
                what = f"{original.source}: '{name}' is not a numeric quasi-identifier"
                raise InputError(f"{what}; {suggestion(name, every)}")
        return [name for name in every if name in (self.settings.attributes or every)]

    def _attack(
        self, scene: AdversaryView, original: Original, name: str, measure: Measure
    ) -> AttackResult | None:
        """Return what one measure finds of one attribute, None when no target has a number."""
        masked = self._masked(scene, original, name)
        targets = int(masked.counts.sum())
        if not targets:
            return None
        success, baseline = Fraction(0), Fraction(0)
        if len(masked.numbers):
            rule = _RULES[measure](masked, self.settings.width)
            success, baseline = rule.success() / targets, rule.chance() / targets
        low, high = clopper_pearson(float(success) * targets, targets)
        knowledge: dict[str, Any] = {
            "attribute": name,
            "measure": measure.value,
            "width": float(self.settings.width),
        }
        return AttackResult(self.name, knowledge, success, baseline, low, high, targets)

    def _masked(self, scene: AdversaryView, original: Original, name: str) -> _Masked:
        release, links = scene.release, self.settings.links(original)
        own, other = original.names.index(name), release.names.index(name)
        meaning = original.meanings[own]
        assert meaning.column.numbers is not None
        of_text = (meaning.low + meaning.high) / 2
        published = of_text[release.codes[:, other]]
        present = ~np.isnan(published)
        numbers, place = np.unique(published[present], return_inverse=True)
        places = np.full(len(published), -1, dtype=np.int64)
        places[present] = place
        records = np.bincount(place, weights=release.counts[present], minlength=len(numbers))
        true = meaning.column.numbers[original.codes[links.original, own]]
        known = ~np.isnan(true)
        return _Masked(
            numbers,
            records.astype(np.int64),
            true[known],
            places[links.release[known]],
            links.counts[known],
        )


def _numeric(original: Original) -> list[str]:
    return [
        name
        for name, meaning in zip(original.names, original.meanings, strict=True)
        if meaning.column.numbers is not None
    ]
