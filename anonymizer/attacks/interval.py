"""Interval disclosure: the true number is in an interval around the published one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from math import ceil
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from anonymizer.attacks.base import (
    LINKED,
    NUMERIC,
    AlignedUnitSettings,
    Attack,
    AttackResult,
    Share,
    chosen,
    clopper_pearson,
    exact_sum,
    targets_of,
    unit_is_known,
)
from anonymizer.attacks.tail import Ranking, exposing
from anonymizer.model.adversary import AdversaryView, Original
from anonymizer.model.arrays import FloatArray, IntArray, numbered
from anonymizer.model.naming import ColumnName
from anonymizer.model.owners import OwnedRecords
from anonymizer.plugins import Exact, Settings, needs


class Measure(StrEnum):
    """Definition of the interval around a published number."""

    RANK = "rid"
    DEVIATION = "sdid"


class Spread(StrEnum):
    """The numbers whose standard deviation is the unit of ``sdid``."""

    ORIGINAL = "original"
    PUBLISHED = "published"


class IntervalOptions(Settings):
    """The attacked numbers and the width of the interval."""

    attributes: Annotated[
        tuple[ColumnName, ...] | None,
        Field(min_length=1, description="numeric attributes to attack; default: all"),
    ] = None
    measure: Annotated[
        Measure | None,
        Field(
            description="rid: by rank of the published numbers, sdid: by standard deviation; default: both"
        ),
    ] = None
    deviation: Annotated[
        Spread, Field(description="with sdid: the numbers whose standard deviation is the unit")
    ] = Spread.ORIGINAL
    width: Annotated[
        Exact,
        Field(
            gt=0,
            description="half the width of the interval: for rid as a share of the records, for sdid of the "
            "standard deviation",
        ),
    ] = Decimal("0.05")


class IntervalSettings(IntervalOptions, AlignedUnitSettings):
    """The attacked numbers, the width of the interval, the source of links, and whom to attack."""


@dataclass(frozen=True, eq=False)
class _Masked:
    """The distinct published numbers, ascending, and the targets.

    Attributes
    ----------
    numbers, records: published numbers and records with each, shape (numbers,), float64, int64.
    true: original number of each target, shape (targets,), float64.
    place: position of the published number in ``numbers``, -1 for none, shape (targets,), int64.
    counts: records of each target, shape (targets,), int64.
    width: of the published value of each target, from its smallest number to its largest, infinite for none,
        shape (targets,), float64.
    deviation: unit of ``sdid``, by the number of records.
    owned: the records of the units that are counted, which are the targets; None: records count.
    """

    numbers: FloatArray
    records: IntArray
    true: FloatArray
    place: IntArray
    counts: IntArray
    width: FloatArray
    deviation: float
    owned: OwnedRecords | None

    def best(self, first: IntArray, last: IntArray) -> Fraction:
        """Return the largest share of targets, or of units, that are right by one guess for everybody.

        Parameters
        ----------
        first, last: guesses, by their position, that are right for each target, shape (targets,), int64; both
            rise with the true number.
        """
        if self.owned is None:
            return Fraction(_most(first, last, self.counts), int(self.counts.sum()))
        numbers, number = self.owned.target, self.owned.number
        order = np.lexsort((first, numbers))
        own, first, last = numbers[order], first[order], last[order]
        # Guesses that are right for several records of a unit count once.
        apart = np.concatenate([[True], (own[1:] != own[:-1]) | (first[1:] > last[:-1])])
        begins = np.flatnonzero(apart)
        ends = np.append(begins[1:], len(own)) - 1
        return Fraction(_most(first[begins], last[ends], np.ones_like(begins)), number)

    def share(self, hits: IntArray, among: IntArray) -> Share:
        """Return the expected share of targets, or of units, with the true number inside.

        The records of a unit with one true and one published number are one guess, and guesses fail
        independently; exact if no unit has two.

        Parameters
        ----------
        hits, among: a target is inside with the probability hits / among, shape (targets,), int64.
        """
        if self.owned is None:
            return exact_sum(hits * self.counts, among) / int(self.counts.sum())
        owned, number, guess = self.owned, self.owned.number, self._guess
        first = numbered([owned.target, owned.members, guess], len(guess))[1]
        if len(first) == number:
            return exact_sum(hits[first], among[first]) / number
        return float(owned.found(guess, hits / among, once=False)[0].mean())

    @property
    def _guess(self) -> IntArray:
        """Number of the pair of a true and a published number of each target, shape (targets,), int64."""
        true = np.unique(self.true, return_inverse=True)[1]
        return true * (len(self.numbers) + 1) + self.place + 1

    def ranked(self, hits: IntArray, among: IntArray) -> Ranking:
        """Return the targets by the width of their published values, the narrowest first; as ``share``.

        Of a unit the narrowest counts.
        """
        if self.owned is None:
            return Ranking(-self.width, self.counts, hits, among)
        if len(self.true) == self.owned.number:
            return Ranking(-self.width, self.counts, hits, among)
        narrowest = np.full(self.owned.number, np.inf)
        np.minimum.at(narrowest, self.owned.target, self.width)
        return Ranking.of(-narrowest, self.owned.found(self._guess, hits / among, once=False)[0])

    def ranked_blindly(self, hits: IntArray, among: IntArray) -> Ranking | None:
        """Return the units by their numbers of records; None if each target is one, as all are alike."""
        if self.owned is None or len(self.true) == self.owned.number:
            return None
        records = np.bincount(self.owned.target, minlength=self.owned.number)
        found = self.owned.found(self._guess, hits / among, once=False)[0]
        return Ranking.of(records.astype(np.float64), found)


def _most(first: IntArray, last: IntArray, counts: IntArray) -> int:
    """Return the largest number of targets whose range has one position in common."""
    changes = np.zeros(int(last.max(initial=0)) + 2, dtype=np.int64)
    np.add.at(changes, first, counts)
    np.add.at(changes, last + 1, -counts)
    return int(np.cumsum(changes).max(initial=0))


class _Rule(ABC):
    """Intervals around the published numbers."""

    def __init__(self, masked: _Masked, width: Decimal) -> None:
        self.masked = masked
        self.total = int(masked.records.sum())
        self.width = width

    @abstractmethod
    def inside(self) -> IntArray:
        """Return how many records with a target's published number have an interval with its true one.

        Shape (targets,), int64, between 0 and the records with that number; arbitrary without one.
        """

    @abstractmethod
    def anywhere(self) -> IntArray:
        """Return how many released records have an interval with each true number, shape (targets,)."""

    @abstractmethod
    def guesses(self) -> tuple[IntArray, IntArray]:
        """Return the first and the last number whose interval among the true ones has each target's.

        By position, shape (targets,) each, int64.
        """

    def success(self) -> Share:
        """Return the expected share of targets with the true number inside; a tie of n counts 1/n."""
        return self.masked.share(*self._hits())

    def _hits(self) -> tuple[IntArray, IntArray]:
        own = self.masked.place >= 0
        if not own.any():
            return np.zeros_like(self.masked.place), np.ones_like(self.masked.place)
        return np.where(own, self.inside(), 0), np.where(own, self._ties(), 1)

    def chance(self) -> Share:
        """Return the expected share of targets inside after a permutation of the published column."""
        return self.masked.share(*self._by_chance()) if self.total else Fraction(0)

    def _by_chance(self) -> tuple[IntArray, IntArray]:
        return self.anywhere(), np.full_like(self.masked.place, self.total)

    def exposed(self, result: AttackResult) -> AttackResult:
        """Return a result with its most exposed: those whose published values are the narrowest."""
        blind = self.masked.ranked_blindly(*self._by_chance()) if self.total else None
        return exposing(result, self.masked.ranked(*self._hits()), blind, estimated=True)

    def best(self) -> Fraction:
        """Return the share of targets inside around the best number for everybody."""
        return self.masked.best(*self.guesses())

    def _ties(self) -> IntArray:
        return self.masked.records[self.masked.place]


class _ByRank(_Rule):
    """From the number w ranks below the published one to the number w ranks above, within the ends."""

    @property
    def _reach(self) -> int:
        return ceil(Fraction(self.width) * self.total)

    def guesses(self) -> tuple[IntArray, IntArray]:
        true, counts = self.masked.true, self.masked.counts
        place = np.unique(true, return_inverse=True)[1].reshape(-1)
        records = np.bincount(place, weights=counts).astype(np.int64)
        total = int(records.sum())
        reach, upto = ceil(Fraction(self.width) * total), np.cumsum(records)
        # The interval around rank i is from rank i - reach to i + reach.
        first = np.maximum(upto - records + 1 - reach, 1)
        last = np.minimum(upto + reach, total)
        return first[place], last[place]

    def _ranks(self) -> tuple[IntArray, IntArray]:
        """Return the first and the last rank whose interval has each true number; last < first for none."""
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
    """From a share of the standard deviation below the published number to above it."""

    def _ends(self) -> tuple[FloatArray, FloatArray]:
        reach = float(self.width) * self.masked.deviation
        return self.masked.numbers - reach, self.masked.numbers + reach

    def guesses(self) -> tuple[IntArray, IntArray]:
        # The best interval begins at a true number.
        distinct, last = np.unique(self.masked.true, return_inverse=True)
        width = 2 * float(self.width) * self.masked.deviation
        return np.searchsorted(distinct, self.masked.true - width, "left"), last.reshape(-1)

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
    deviations of the original numbers (or of the published ones) below to as many above. A generalized value
    counts as the middle between the smallest and the largest number that it covers, ``*`` as the middle of
    the whole column.

    Targets are the released records whose true number is known and present. Where it is known whose they are,
    targets are persons, or other units, and one is reached by any record; ranks and deviations are of
    records. The baseline is the expected success after a permutation of the published column;
    ``details.best_guess`` that of the best number for everybody, the interval around it being among the true
    ones. The confidence interval is for a share of so many targets, as one masked file is one draw.

    Source: Domingo-Ferrer, Torra, "A quantitative comparison of disclosure control methods for microdata"
    (in Confidentiality, Disclosure and Data Access, North-Holland 2001); Mateo-Sanz, Sebé, Domingo-Ferrer,
    "Outlier protection in continuous microdata masking" (PSD 2004, doi:10.1007/978-3-540-25955-8_16).
    """

    name = "interval"
    threat = None
    Settings = IntervalSettings
    settings: IntervalSettings
    examples = ({"attribute": "age", "measure": "sdid", "width": 0.05},)
    requires = (
        *LINKED,
        unit_is_known,
        needs(
            "a quasi-identifier with numbers or dates",
            lambda _, adversary: _numeric(adversary.original),
        ),
    )

    @classmethod
    def sentence(cls, knowledge: Mapping[str, Any], success: str, guess: str) -> str:
        """Return how often the true number is near the published one."""
        size = float(knowledge["width"])
        width = f"{size:g} standard deviations"
        if knowledge["measure"] == Measure.RANK:
            width = f"{100 * size:g} % of the ranks"
        near = f"the true value of {knowledge['attribute']} is in the interval around the published one"
        some = " in at least one record" if "unit" in knowledge else ""
        whom = f"For {success} of the {targets_of(knowledge)}"
        return f"{whom}, {near} (± {width}){some}; by chance for {guess}."

    def run(self, adversary: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:  # noqa: ARG002 - it counts
        """Return one result for each numeric attribute and measure."""
        original = self.required_original(adversary)
        measures = [self.settings.measure] if self.settings.measure else list(Measure)
        return [
            finding
            for name in chosen(self.settings.attributes, _numeric(original), original.source, NUMERIC)
            for measure in measures
            if (finding := self._attack(adversary, original, name, measure))
        ]

    def _attack(
        self, adversary: AdversaryView, original: Original, name: str, measure: Measure
    ) -> AttackResult | None:
        """Return the result of one measure for one attribute, None if no target has a number."""
        masked = self._masked(adversary, original, name)
        owned = masked.owned
        targets = int(masked.counts.sum()) if owned is None else owned.number
        if not targets:
            return None
        rule = _RULES[measure](masked, self.settings.width)
        success, baseline = rule.success(), rule.chance()
        low, high = clopper_pearson(float(success) * targets, targets)
        knowledge: dict[str, Any] = {
            "attribute": name,
            "measure": measure.value,
            "width": float(self.settings.width),
        }
        if measure is Measure.DEVIATION:
            knowledge["deviation"] = self.settings.deviation.value
        if owned is not None:
            knowledge["unit"] = owned.unit
        details = {"best_guess": float(rule.best())}
        result = AttackResult(self.name, knowledge, success, baseline, low, high, targets, details)
        return replace(rule.exposed(result), ceiling=1.0)

    def _masked(self, adversary: AdversaryView, original: Original, name: str) -> _Masked:
        release, owned = adversary.release, self.settings.owned(adversary)
        if owned is None:
            links = self.settings.links(original)
            rows, released, counts = links.original, links.release, links.counts
        else:
            rows, released = owned.original, owned.release
            counts = np.ones(len(rows), dtype=np.int64)
        own, other = original.names.index(name), release.names.index(name)
        meaning = original.meanings[own]
        assert meaning.column.numbers is not None
        of_text = (meaning.low + meaning.high) / 2
        published, width = (each[release.codes[:, other]] for each in (of_text, meaning.high - meaning.low))
        present = ~np.isnan(published)
        numbers, place = np.unique(published[present], return_inverse=True)
        places = np.full(len(published), -1, dtype=np.int64)
        places[present] = place
        records = np.bincount(place, weights=release.counts[present], minlength=len(numbers))
        every = meaning.column.numbers[original.codes[:, own]]
        true = every[rows]
        known = ~np.isnan(true)
        by_original = self.settings.deviation is Spread.ORIGINAL
        spread = (every, original.counts) if by_original else (numbers, records)
        return _Masked(
            numbers,
            records.astype(np.int64),
            true[known],
            places[released[known]],
            counts[known],
            np.where(np.isnan(width), np.inf, width)[released[known]],
            _deviation(*spread),
            None if owned is None else owned.at(known),
        )


def _deviation(numbers: FloatArray, counts: IntArray | FloatArray) -> float:
    """Return the standard deviation, by the number of records; NaN does not count."""
    known = ~np.isnan(numbers)
    numbers, counts = numbers[known], counts[known]
    if not len(numbers):
        return 0.0
    mean = float(numbers @ counts) / float(counts.sum())
    return float(np.sqrt(((numbers - mean) ** 2 @ counts) / counts.sum()))


def _numeric(original: Original) -> list[str]:
    return [
        name
        for name, meaning in zip(original.names, original.meanings, strict=True)
        if meaning.column.numbers is not None
    ]
