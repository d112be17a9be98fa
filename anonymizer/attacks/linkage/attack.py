"""Record linkage: the share of released records that an adversary with original records links correctly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any, Self

import numpy as np
from pydantic import Field, model_validator

from anonymizer.attacks.adversary_view import links_of_pairs, located
from anonymizer.attacks.base import (
    AlignedSettings,
    Attack,
    AttackResult,
    KnowledgeSettings,
    UnitSettings,
    clopper_pearson,
    draw_sample,
    found_units,
    known_columns,
    target_of,
    targets_of,
)
from anonymizer.attacks.linkage.distances import (
    ComparisonSpace,
    Distance,
    Distancing,
    Euclidean,
    Linked,
    Linking,
    Mahalanobis,
    RankDistance,
    SwapRange,
    comparison_space,
)
from anonymizer.attacks.linkage.families import FAMILIES, Metric
from anonymizer.attacks.linkage.learned import Exact, LearnedLinking
from anonymizer.attacks.linkage.linkers import AssignmentLinking, NearestLinking, ProbabilisticLinking
from anonymizer.attacks.linkage.local_search import Fast
from anonymizer.errors import InputError
from anonymizer.model.adversary import (
    AdversaryView,
    Links,
    Original,
    Owners,
    PublishedTable,
    Threat,
)
from anonymizer.model.arrays import IntArray, count, numbered
from anonymizer.model.units import HOUSEHOLD, PERSON, RECORD
from anonymizer.plugins import Exact as Decimals
from anonymizer.plugins import WholeNumber

WORK = 1 << 30
"""Maximum number of compared values; with more, targets are sampled."""

LEAST = 100
"""Minimum number of sampled targets."""

FALSE_LINKS, MISSED_LINKS = 0.001, 0.05
"""Default error rates of probabilistic linkage."""

DISTANCES: Mapping[str, type[Distance]] = {
    **{each.name: each for each in (Euclidean, Mahalanobis, RankDistance)},
    **dict.fromkeys(FAMILIES, Euclidean),
}
"""All distances by name; with equal weights, the families order pairs as the Euclidean distance."""


class LinkageMethod(StrEnum):
    """Methods of linkage."""

    NEAREST = "nearest"
    ASSIGNMENT = "assignment"
    PROBABILISTIC = "probabilistic"
    LEARNED = "learned"


class DistanceName(StrEnum):
    """Distances between records."""

    EUCLIDEAN = "euclidean"
    MAHALANOBIS = "mahalanobis"
    RANK = "rank"
    WEIGHTED_MEAN = "weighted-mean"
    OWA = "owa"
    BILINEAR = "bilinear"
    CHOQUET = "choquet"


class Standardisation(StrEnum):
    """The scales of numbers."""

    EACH = "each"
    ORIGINAL = "original"


class LinkageSettings(KnowledgeSettings, AlignedSettings, UnitSettings):
    """The records that the adversary holds and the method of linkage."""

    linkage: Annotated[LinkageMethod, Field(description="method of linking records")] = LinkageMethod.NEAREST
    distance: Annotated[
        DistanceName | None, Field(description="distance between records; default: euclidean")
    ] = None
    overlap: Annotated[
        Decimals, Field(gt=0, le=1, description="share of the original records that the adversary holds")
    ] = Decimal(1)
    noise: Annotated[
        Decimals | None,
        Field(
            gt=0,
            lt=1,
            description="share of the adversary's values that are wrong: those of other records",
        ),
    ] = None
    standardise: Annotated[
        Standardisation,
        Field(
            description="scale of numbers: each file by its own mean and standard deviation, or both by "
            "those of the original"
        ),
    ] = Standardisation.EACH
    targets: Annotated[
        WholeNumber | None,
        Field(
            ge=1, description="maximum number of records to link; default: all, or as many as can be compared"
        ),
    ] = None
    swap_range: Annotated[
        Decimals | None,
        Field(
            gt=0,
            le=100,
            description="with rank: the swap range that the adversary knows, in percent of the records",
        ),
    ] = None
    metric: Annotated[bool, Field(description="with learned and bilinear: restrict the forms to metrics")] = (
        False
    )
    proof: Annotated[
        Decimals | None,
        Field(
            gt=0,
            description="with learned: seconds to spend on a proven upper bound over all weights; default: "
            "no proof",
        ),
    ] = None
    false_links: Annotated[
        Decimals | None,
        Field(
            gt=0,
            lt=1,
            description="with probabilistic: admissible share of non-matching pairs declared links",
        ),
    ] = None
    missed_links: Annotated[
        Decimals | None,
        Field(
            gt=0,
            lt=1,
            description="with probabilistic: admissible share of matching pairs declared non-links",
        ),
    ] = None

    @model_validator(mode="after")
    def _fit(self) -> Self:
        rates = self.false_links is not None or self.missed_links is not None
        if rates and self.linkage is not LinkageMethod.PROBABILISTIC:
            raise ValueError("false_links and missed_links need linkage: probabilistic; remove them")
        if self.distance is not None and self.linkage is LinkageMethod.PROBABILISTIC:
            raise ValueError(
                "linkage: probabilistic compares by agreement, not by a distance; remove distance"
            )
        if self.linkage is LinkageMethod.LEARNED:
            if self.distance is not None and self.distance not in FAMILIES:
                raise ValueError(
                    f"distance {self.distance} has nothing to learn; accepted: {', '.join(FAMILIES)}"
                )
        elif self.proof is not None:
            raise ValueError("proof needs linkage: learned; remove it")
        if self.unit not in (None, RECORD) and self.draws_or_matches:
            what = "overlap, noise, aligned and key go with records"
            raise ValueError(f"{what}; remove them, or set unit: {RECORD}")
        if self.swap_range is not None and self.distance is not DistanceName.RANK:
            raise ValueError("swap_range needs distance: rank; set distance: rank")
        bilinear = self.linkage is LinkageMethod.LEARNED and self.distance is DistanceName.BILINEAR
        if self.metric and not bilinear:
            raise ValueError("metric needs linkage: learned and distance: bilinear; remove it")
        return self

    @property
    def draws_or_matches(self) -> bool:
        """Whether records are drawn or changed one by one, or linked otherwise than by their values."""
        return self.overlap < 1 or self.noise is not None or self.aligned or self.key is not None

    @property
    def by(self) -> DistanceName:
        """The distance; by default Euclidean, or the weighted mean if learned."""
        simplest = (
            DistanceName.WEIGHTED_MEAN if self.linkage is LinkageMethod.LEARNED else DistanceName.EUCLIDEAN
        )
        return self.distance or simplest


def _method(knowledge: Mapping[str, Any]) -> str:
    return ", ".join(str(knowledge[key]) for key in ("linkage", "distance") if knowledge.get(key))


class Linkage(Attack):
    """The expected share of released records that are linked correctly.

    The adversary holds a share ``overlap`` of the original records and links them by the attributes in
    ``knowledge``. Equally near records are equally likely, so a tie of n counts 1/n. The baseline is
    1 / records: a guess without the released values.

    Where it is known whose the records are, it is the expected share of persons, or other units, of whom a
    record is linked to any record of the same person: one link for each person's different known values,
    resolved independently. A household is found through any of its members.
    """

    name = "linkage"
    threat = Threat.LINKAGE
    Settings = LinkageSettings
    settings: LinkageSettings

    @classmethod
    def sentence(cls, knowledge: Mapping[str, Any], success: str, guess: str) -> str:
        """Return how many of the held records the adversary links to the right released one."""
        held, by = float(knowledge["overlap"]), known_columns(knowledge)
        if "unit" in knowledge:
            what = target_of(knowledge)
            return (
                f"An adversary who holds the original records with {by} links a record of {success} of the "
                f"{targets_of(knowledge)} to a released record of the same "
                f"{PERSON if what == HOUSEHOLD else what} ({_method(knowledge)}); by chance {guess}."
            )
        share = "the original records" if held == 1 else f"{100 * held:.3g} % of the original records"
        return (
            f"An adversary who holds {share} with {by} links {success} of them to the right released record "
            f"({_method(knowledge)}); by chance {guess}."
        )

    def missing_requirement(self, adversary: AdversaryView) -> str | None:
        """Return the missing original records or links, if any."""
        return self.settings.missing_requirement(adversary) or adversary.lacks_unit(self.settings.unit)

    def run(self, adversary: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:
        """Link the records that the adversary holds."""
        original = self.required_original(adversary)
        links = self.settings.links(original)
        if self.settings.noise is not None:
            original = with_noise(original, links, float(self.settings.noise), random)
            links = original.links
        names = original.known(self.settings.knowledge)
        linking = self._linking()
        unit, owners = adversary.unit(self.settings.unit), adversary.owners
        if self.settings.draws_or_matches:
            unit = None
        held, targets = self._drawn(original, links, random)
        each = self.settings.standardise is Standardisation.EACH
        space = comparison_space(adversary.release, original, names, held, targets, each=each)
        work = linking.work(space)
        most = self.settings.targets or max(targets.records * WORK // max(work, 1), LEAST)
        if most < targets.records:
            if unit is not None and owners is not None:
                owners = drawn_owners(owners, unit, most, random)
                ones = np.ones(len(owners.release), dtype=np.int64)
                targets = links_of_pairs(owners.original, owners.release, ones)
            else:
                targets = Links(targets.original, targets.release, draw_sample(targets.counts, most, random))
            if linking.together:
                held = np.bincount(targets.original, weights=targets.counts, minlength=len(held)).astype(
                    np.int64
                )
            space = comparison_space(adversary.release, original, names, held, targets, each=each)
        linked = linking.link(space, random)
        found = self._finding(adversary, original, links, space, linked)
        if unit is None or owners is None:
            return [found]
        return [self._of_units(adversary.release, original, owners, unit, space, linked, found)]

    def _of_units(
        self,
        release: PublishedTable,
        original: Original,
        owners: Owners,
        unit: str,
        space: ComparisonSpace,
        linked: Linked,
        found: AttackResult,
    ) -> AttackResult:
        """Return the share of units of whom a record is linked to a record of the same member.

        Parameters
        ----------
        owners: of the records of the targets.
        found: the result by records.
        """
        own, published = ([each.names.index(name) for name in space.names] for each in (original, release))
        rows = located(
            original.codes[owners.original][:, own].astype(np.int64), space.originals.astype(np.int64)
        )
        classes = located(
            release.codes[owners.release][:, published].astype(np.int64), space.classes.astype(np.int64)
        )
        width, truth = len(space.classes), space.truth
        place = np.searchsorted(truth.original * width + truth.release, rows * width + classes)
        members = owners.members(unit)
        own_records = numbered([classes, members], len(members))[0]
        chance = np.minimum(linked.right[place] * np.bincount(own_records)[own_records], 1.0)
        each, guesses = found_units(owners, unit, place, chance, once=False)
        success, number = float(each.mean()), len(each)
        low, high = success, success
        if found.low < found.high:
            low, high = clopper_pearson(float(each.sum()), number)
        details = {**found.details, "each_guess": guesses, "of_records": float(found.success)}
        known, baseline = {**found.knowledge, "unit": unit}, Fraction(1, number)
        return AttackResult(self.name, known, success, baseline, low, high, number, details)

    def _linking(self) -> Linking:
        if self.settings.linkage is LinkageMethod.PROBABILISTIC:
            return ProbabilisticLinking(
                float(self.settings.false_links or FALSE_LINKS),
                float(self.settings.missed_links or MISSED_LINKS),
            )
        if self.settings.linkage is LinkageMethod.LEARNED:
            family = Metric if self.settings.metric else FAMILIES[self.settings.by]
            seconds = self.settings.proof
            return LearnedLinking(family, Fast() if seconds is None else Exact(float(seconds)))
        swapped = self.settings.swap_range
        distance: Distancing = DISTANCES[self.settings.by] if swapped is None else SwapRange(swapped)
        if self.settings.linkage is LinkageMethod.ASSIGNMENT:
            return AssignmentLinking(distance)
        return NearestLinking(distance)

    def _drawn(self, original: Original, links: Links, random: np.random.Generator) -> tuple[IntArray, Links]:
        """Return the held records of each original row, shape (rows,), and the links of those released."""
        linked = np.bincount(links.original, weights=links.counts, minlength=len(original.counts))
        lost = original.counts - linked.astype(np.int64)
        number = round(self.settings.overlap * original.records)
        if number < 1:
            raise InputError(
                f"{original.source}: overlap {self.settings.overlap} of {original.records} records "
                "rounds to zero records; use a larger value"
            )
        own = draw_sample(np.concatenate([links.counts, lost]), number, random)
        targets = Links(links.original, links.release, own[: len(links.counts)])
        if not targets.records:
            raise InputError(
                f"{original.source}: none of the {number} records held by the adversary is in the release; "
                "use a larger overlap"
            )
        released = np.bincount(links.original, weights=targets.counts, minlength=len(lost))
        return released.astype(np.int64) + own[len(links.counts) :], targets

    def _finding(
        self,
        adversary: AdversaryView,
        original: Original,
        links: Links,
        space: ComparisonSpace,
        linked: Linked,
    ) -> AttackResult:
        targets = space.truth.records
        right = float(linked.right @ space.truth.counts)
        success = right / targets
        estimated = linked.ties_randomized or targets < links.records
        low, high = clopper_pearson(right, targets) if estimated else (success, success)
        knowledge: dict[str, Any] = {
            "attributes": list(space.names),
            "linkage": self.settings.linkage.value,
            "overlap": float(self.settings.overlap),
        }
        if self.settings.linkage is not LinkageMethod.PROBABILISTIC:
            knowledge["distance"] = self.settings.by.value
        if self.settings.swap_range is not None:
            knowledge["swap_range"] = float(self.settings.swap_range)
        if self.settings.noise is not None:
            knowledge["noise"] = float(self.settings.noise)
        if self.settings.standardise is not Standardisation.EACH:
            knowledge["standardise"] = self.settings.standardise.value
        details: dict[str, Any] = {
            "truth": self.settings.truth(original).value,
            "held_records": int(space.records.sum()),
            "sampled": targets < links.records,
            "ceiling": space.ceiling,
            "without_original": adversary.release.records - links.records,
            "left_out": {name: list(columns) for name, columns in original.unmatched_columns.items()},
        }
        baseline = Fraction(1, adversary.release.records)
        return AttackResult(
            self.name, knowledge, success, baseline, low, high, targets, details | linked.details
        )


def drawn_owners(owners: Owners, unit: str, most: int, random: np.random.Generator) -> Owners:
    """Return the owners of all records of some units, drawn until there are at most so many records."""
    numbers, number = owners.targets(unit)
    order = random.permutation(number)
    records = np.bincount(numbers, minlength=number)[order]
    taken = np.zeros(number, dtype=bool)
    taken[order[: max(int((np.cumsum(records) <= most).sum()), 1)]] = True
    kept = taken[numbers]
    units = {name: each[kept] for name, each in owners.units.items()}
    return Owners(owners.original[kept], owners.release[kept], units)


def with_noise(original: Original, links: Links, share: float, random: np.random.Generator) -> Original:
    """Return original records with some values replaced by those of random records, with their links.

    Parameters
    ----------
    links: of the records to the release.
    share: probability that a value is replaced, by any value of the column.
    random: the source of all randomness.
    """
    linked = np.repeat(links.original, links.counts)
    lost = original.counts - count(linked, np.ones(len(linked), dtype=np.int64), len(original.counts))
    rows = np.concatenate([linked, np.repeat(np.arange(len(lost)), lost)])
    codes = original.codes[rows]
    for column in range(codes.shape[1]):
        wrong = np.flatnonzero(random.random(len(rows)) < share)
        codes[wrong, column] = original.codes[rows[random.integers(len(rows), size=len(wrong))], column]
    row_of, first = numbered(codes.T, len(codes))
    each = np.ones(len(rows), dtype=np.int64)
    release = np.repeat(links.release, links.counts)
    return replace(
        original,
        codes=codes[first],
        sensitive={},
        counts=count(row_of, each, len(first)),
        links=links_of_pairs(row_of[: len(linked)], release, each[: len(linked)]),
    )
