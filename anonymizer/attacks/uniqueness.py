"""Uniqueness: records that nobody else in the release resembles."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any, Self

import numpy as np
from pydantic import Field, model_validator

from anonymizer.attacks.base import AdversaryView, Attack, AttackResult
from anonymizer.attacks.knowing import SubsetSettings
from anonymizer.attacks.population.base import SampleClasses, UniquesEstimator
from anonymizer.attacks.population.negative_binomial import NegativeBinomialUniques, individual_risk
from anonymizer.attacks.population.pitman import PitmanUniques
from anonymizer.attacks.population.zayatz import ZayatzUniques
from anonymizer.attacks.subsets import KnownSubset, by_size, known_subset, known_subsets
from anonymizer.errors import InputError
from anonymizer.model.adversary import PublishedTable
from anonymizer.model.arrays import FloatArray
from anonymizer.plugins import WholeNumber

ESTIMATORS: tuple[UniquesEstimator, ...] = (NegativeBinomialUniques(), ZayatzUniques(), PitmanUniques())


class UniquenessSettings(SubsetSettings):
    """What the adversary knows of a target, and what the release is a sample of."""

    weights: Annotated[
        str | None, Field(description="column of sampling weights: what is unique in the population, too")
    ] = None
    population: Annotated[
        WholeNumber | None, Field(ge=1, description="people in the population, all of equal weight")
    ] = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.weights and self.population:
            raise ValueError("weights and population exclude each other; remove one")
        return self


class Uniqueness(Attack):
    """Share of records that are alone in their class, by the quasi-identifiers that are known.

    The details have the number of classes of each of the smallest sizes. With ``subsets: all`` the finding is
    that of the worst set, and the details have every set, the worst and the mean of each size, and how many
    records are singled out by one attribute already, by two, and so on.

    With ``weights`` or ``population`` the details say what is expected of the population that the release was
    drawn from: how many records are unique there, by each of three estimators, and the individual risk.

    Source: Elliot, Manning, Ford, "A computational algorithm for handling the special uniques problem"
    (Int. J. of Uncertainty, Fuzziness and Knowledge-Based Systems 10(5), 2002), for the last of these.
    """

    name = "uniqueness"
    of_release_alone = True
    Settings = UniquenessSettings
    settings: UniquenessSettings

    def missing_requirement(self, scene: AdversaryView) -> str | None:
        """The column of weights is needed where one is named."""
        if self.settings.weights is not None and self.settings.weights not in scene.release.weights:
            return f"the column of sampling weights '{self.settings.weights}'"
        return None

    def run(self, scene: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:  # noqa: ARG002 - it counts
        """Count the records that are alone."""
        release = scene.release
        details: dict[str, Any] = {}
        if self.settings.subsets:
            worst, details = _of_every_subset(release, self.settings.size or len(release.names))
        else:
            worst = known_subset(release, self.settings.knowledge)
        smallest = np.unique(worst.sizes, return_counts=True)
        details["classes_by_size"] = dict(zip(*(part[:10].tolist() for part in smallest), strict=True))
        if self.settings.weights or self.settings.population:
            details["population"] = _expected(self.sample(release, worst.names))
        success = Fraction(len(worst.unique), release.records)
        return [self.counted(scene, {"attributes": list(worst.names)}, success, Fraction(0), details)]

    def sample(self, release: PublishedTable, names: Sequence[str] | None = None) -> SampleClasses:
        """Return the sizes of the classes in the release, f, and in the population as estimated, F.

        F is the sum of the weights, or f × population / records, and no smaller than f.

        Raises
        ------
        InputError: a weight is not a positive number, or the population smaller than the release.
        """
        classes = release.classes(names)
        weights = self._weights(release)
        sums = np.bincount(classes.class_of, weights=weights, minlength=classes.number).astype(np.float64)
        return SampleClasses(classes.sizes, np.maximum(sums, classes.sizes))

    def _weights(self, release: PublishedTable) -> FloatArray:
        """Return the sum of the weights of each combination's records."""
        if self.settings.weights is not None:
            weights = release.weights[self.settings.weights]
            if not (np.isfinite(weights) & (weights > 0)).all():
                column = f"{release.source}: the weights in '{self.settings.weights}'"
                raise InputError(f"{column} must be positive numbers")
            return weights
        people = self.settings.population or release.records
        if people < release.records:
            what = f"a population of {people} is smaller than the {release.records} records"
            raise InputError(f"{release.source}: {what} of the release")
        return release.counts.astype(np.float64) * (people / release.records)


def _expected(sample: SampleClasses) -> dict[str, Any]:
    """Return the estimates as the report has them."""
    risk = individual_risk(sample)
    return {
        "people": sample.people,
        "expected_uniques": {each.name: each.uniques(sample) for each in ESTIMATORS},
        "individual_risk": {
            "largest": float(risk.max()),
            "mean": float(risk @ sample.sizes) / sample.records,
            "expected_re_identifications": float(risk @ sample.sizes),
        },
    }


def _of_every_subset(release: PublishedTable, most: int) -> tuple[KnownSubset, dict[str, Any]]:
    """Return the set of quasi-identifiers that singles most records out, and what all of them do.

    The details have how many records are unique by so many attributes and by no fewer.

    Parameters
    ----------
    most: attributes of a set.
    """
    subsets, hits = [], []
    worst: KnownSubset | None = None
    never = len(release.names) + 1
    fewest = np.full(len(release.counts), never, dtype=np.min_scalar_type(never))
    # Each is let go before the next is counted: together they are many times the release.
    for each in known_subsets(release, most):
        subsets.append(each.told())
        hits.append(len(each.unique))
        fewest[each.unique] = np.minimum(fewest[each.unique], len(each.names))
        if worst is None or _rank(each) > _rank(worst):
            worst = each
    assert worst is not None, "a release has quasi-identifiers"
    records = np.bincount(fewest, minlength=never)[:never]
    singled_out = {size: int(number) for size, number in enumerate(records) if number}
    return worst, {**by_size(subsets, hits, release.records), "singled_out_by": singled_out}


def _rank(subset: KnownSubset) -> tuple[int, int]:
    """Return what puts sets in order: records that are unique, then fewer attributes."""
    return len(subset.unique), -len(subset.names)
