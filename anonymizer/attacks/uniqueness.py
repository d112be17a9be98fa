"""Uniqueness: sample uniques in the release, and estimates of population uniques and individual risk.

Zayatz: class sizes in the population are distributed as those of the sample. Pitman: the population is a
random partition with two parameters, fitted to the sample. Benedetti and Franconi: the population frequency
F given the sample frequency f is negative binomial. Copula: the values of a person are drawn from a Gaussian
copula that is fitted to the sample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import scipy
from pydantic import Field

from anonymizer.attacks.base import (
    LINKS,
    USED,
    Attack,
    AttackResult,
    Named,
    SubsetSettings,
    holders_are_known,
    known_columns,
    targets_of,
    with_links,
)
from anonymizer.attacks.copula import Copula, correct_in, unique_in
from anonymizer.attacks.subsets import KnownSubset, by_size, known_subset, known_subsets, owned_subsets
from anonymizer.attacks.tail import exposing_certain
from anonymizer.errors import InputError
from anonymizer.model.adversary import AdversaryView, PublishedTable
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.naming import ColumnName
from anonymizer.model.owners import OwnedRecords
from anonymizer.plugins import WholeNumber, exclusive, needs


@dataclass(frozen=True, eq=False)
class SampleClasses:
    """The equivalence classes of a sample.

    Attributes
    ----------
    sizes: records of each class, f, shape (classes,), int64, positive.
    population: estimated records of the population with these values, F: the sum of the sampling weights, at
        least f, shape (classes,), float64.
    values: position of the value of each class and quasi-identifier in its order, shape (classes,
        quasi-identifiers), int64; None if unknown.
    everyone: records of the whole population, N; None: those with values of the sample.
    """

    sizes: IntArray
    population: FloatArray
    values: IntArray | None = None
    everyone: float | None = None

    @cached_property
    def frequencies(self) -> tuple[IntArray, IntArray]:
        """The distinct sizes in order, and the number of classes of each, both shape (sizes,), int64."""
        return np.unique(self.sizes, return_counts=True)

    @cached_property
    def records(self) -> int:
        """Records of the sample, n."""
        return int(self.sizes.sum())

    @property
    def population_records(self) -> float:
        """Estimated records of the population, N, at least n."""
        return float(self.population.sum()) if self.everyone is None else self.everyone

    @property
    def uniques(self) -> int:
        """Number of records that are unique in the sample."""
        return int((self.sizes == 1).sum())

    @cached_property
    def probability(self) -> FloatArray:
        """Probability of the values of each class by a copula fitted to all, shape (classes,), float64."""
        assert self.values is not None, "the sample was counted without its values"
        return Copula.fitted(self.values, self.population, self.records).probability(self.values)


def individual_risk(sample: SampleClasses) -> FloatArray:
    """Return the individual risk of the records of each class, E(1/F | f), shape (classes,).

    With p = f / F estimated from the weights, and F - f negative binomial, this is
    (p/f) 2F1(1, 1; f + 1; 1 - p): p/(1-p) ln(1/p) for f = 1, p/(1-p)² (p ln p + 1 - p) for f = 2, and 1/f
    if the sample has the whole class. The formula is evaluated for every f, including large ones.

    Source: Benedetti, Franconi, "Statistical and technological solutions for controlled data dissemination"
    (NTTS 1998); Capobianchi, Polettini, Lucarelli, "Strategy for the implementation of individual risk
    methodology into mu-Argus" (2001), section 3; the hypergeometric form by Pfaff's transformation.
    """
    share = np.minimum(sample.sizes / sample.population, 1.0)
    return share / sample.sizes * _gauss(sample.sizes.astype(np.float64), 1 - share)


_LARGE, _TERMS = 40, 20
"""Size from which on so many terms of the series are exact; SciPy's function overflows for sizes above 80."""


def _gauss(sizes: FloatArray, at: FloatArray) -> FloatArray:
    """Return 2F1(1, 1; f + 1; z) for class sizes f and z below 1, shape (classes,)."""
    term, series = np.ones_like(at), np.ones_like(at)
    for number in range(1, _TERMS):
        term = term * at * number / (sizes + number)
        series = series + term
    return np.where(sizes > _LARGE, series, scipy.special.hyp2f1(1, 1, np.minimum(sizes, _LARGE) + 1, at))


def negative_binomial_uniques(sample: SampleClasses) -> float:
    """Return the sum over the sample's uniques of P(F = 1 | f = 1) = 1 / weight."""
    return float(_chances_of_uniques(sample).sum())


def _chances_of_uniques(sample: SampleClasses) -> FloatArray:
    """Return P(F = 1 | f = 1) of each of the sample's uniques, shape (uniques,)."""
    chances: FloatArray = np.minimum(1 / sample.population[sample.sizes == 1], 1.0)
    return chances


_EDGE = 1e-6
"""Minimum distance of alpha from 0 and 1."""


def pitman_uniques(sample: SampleClasses) -> float:
    """Return the expected uniques in a population of N by Pitman's sampling formula, times n / N.

    The parameters alpha and theta have maximum likelihood for the class sizes of the sample. Only the sum of
    the weights, N, is used.

    Source: Hoshino, "Applying Pitman's sampling formula to microdata disclosure risk assessment" (Journal of
    Official Statistics 17(4), 2001).
    """
    if sample.uniques in (0, sample.records):
        return float(sample.uniques)  # no finite estimate: alpha would be 0 or 1
    alpha, theta = fitted(sample)
    people = sample.population_records
    rising = _log_rising(theta + alpha, people) - _log_rising(theta + 1, people)
    return min(sample.records * float(np.exp(rising)), float(sample.uniques))


def log_likelihood(sample: SampleClasses, alpha: float, theta: float) -> float:
    """Return the log-likelihood of the parameters for the sample's class sizes, up to a constant."""
    sizes, classes = sample.frequencies
    number = int(classes.sum())
    opened = (
        (number - 1) * np.log(alpha)
        + scipy.special.gammaln(theta / alpha + number)
        - scipy.special.gammaln(theta / alpha + 1)
    )
    joined = classes @ (scipy.special.gammaln(sizes - alpha) - scipy.special.gammaln(1 - alpha))
    return float(
        opened + joined - scipy.special.gammaln(theta + sample.records) + scipy.special.gammaln(theta + 1)
    )


def fitted(sample: SampleClasses) -> tuple[float, float]:
    """Return alpha and theta of maximum likelihood, 0 < alpha < 1 and theta > -alpha."""

    def parameters(point: FloatArray) -> tuple[float, float]:
        alpha = _EDGE + (1 - 2 * _EDGE) / (1 + float(np.exp(-np.clip(point[0], -50, 50))))
        return alpha, float(np.exp(np.clip(point[1], -50, 50))) - alpha

    start = np.array([0.0, np.log(1 + sample.uniques)])
    best = scipy.optimize.minimize(
        lambda point: -log_likelihood(sample, *parameters(point)),
        start,
        method="Nelder-Mead",
        options={"xatol": 1e-7, "fatol": 1e-9, "maxiter": 2000},
    )
    return parameters(best.x)


def _log_rising(start: float, number: float) -> float:
    """Return the logarithm of start (start + 1) … (start + number - 2)."""
    return float(scipy.special.gammaln(start + number - 1) - scipy.special.gammaln(start))


ROUNDING = 1e-9
"""Relative rounding error of a sum of weights."""


def zayatz_uniques(sample: SampleClasses) -> float:
    """Return the sample's uniques times the probability that a sample unique is a population unique.

    A population class of size i has one record in a simple random sample with hypergeometric probability
    P(1 | i). With the sample's distribution of class sizes for the population's, Bayes' theorem gives the
    probability that a class with one sampled record has size 1. Only the sum of the weights, N, is used.

    Source: Zayatz, "Estimation of the percent of unique population elements on a microdata file using the
    sample" (US Bureau of the Census, SRD Report 91/08, 1991).
    """
    sizes, classes = sample.frequencies
    if sizes[0] != 1:
        return 0.0
    logs = _log_left_one(sizes.astype(np.float64), float(sample.records), sample.population_records)
    chance = np.exp(logs)
    return float(sample.uniques * classes[0] * chance[0] / (classes @ chance))


def _log_left_one(sizes: np.ndarray, sample: float, people: float) -> np.ndarray:
    """Return ln(i C(N - i, n - 1) / C(N, n)) for class sizes i, -inf for probability 0."""
    rest = people - sizes - sample + 1
    # N is a sum of weights, which rounding may decrease below a whole number.
    possible = rest > -ROUNDING * people
    rest = np.maximum(rest, 0)
    choices = (
        scipy.special.gammaln(people - sizes + 1)
        - scipy.special.gammaln(sample)
        - scipy.special.gammaln(rest + 1)
    )
    whole = (
        scipy.special.gammaln(people + 1)
        - scipy.special.gammaln(sample + 1)
        - scipy.special.gammaln(people - sample + 1)
    )
    return np.where(possible, np.log(sizes) + choices - whole, -np.inf)


def copula_uniques(sample: SampleClasses) -> float:
    """Return the sum over the sample's uniques of the probability that nobody else has their values.

    A person has the values of a class with probability p by the copula, so that none of the N - n people
    outside the sample has them with (1 - p)^(N - n). As others of the sample are known not to have them, this
    has the same expectation as the sum of (1 - p)^(N - 1) over all records.

    Source: Rocher, Hendrickx, de Montjoye, "Estimating the success of re-identifications in incomplete
    datasets using generative models" (Nature Communications 10:3069, 2019), equation 1.
    """
    alone = sample.sizes == 1
    if not alone.any():
        return 0.0
    outside = max(sample.population_records - sample.records, 0.0)
    return float(unique_in(sample.probability[alone], outside + 1).sum())


ESTIMATORS: Mapping[str, Callable[[SampleClasses], float]] = {
    "negative-binomial": negative_binomial_uniques,
    "zayatz": zayatz_uniques,
    "pitman": pitman_uniques,
    "copula": copula_uniques,
}
"""The expected number of records of a sample that are unique in the population, by the estimator's name."""


class UniquenessSettings(SubsetSettings):
    """What the adversary knows of a target, and the population that the release samples."""

    weights: Annotated[
        ColumnName | None, Field(description="column of sampling weights, to estimate population uniques")
    ] = None
    population: Annotated[
        WholeNumber | None,
        Field(ge=1, description="size of the population, if all records have equal weight"),
    ] = None

    @property
    def named(self) -> Named:
        return replace(super().named, weights=self.weights)

    together = (exclusive("weights", "population"),)


class Uniqueness(Attack):
    """Share of records that are unique by the known quasi-identifiers.

    The details have the number of classes of each of the smallest sizes. With ``subsets: all`` the result is
    for the worst set; the details have every set, the worst and the mean of each size, and the number of
    records, or of units that are targets, that are unique by one attribute, by two and no fewer, and so on.

    With ``weights`` or ``population`` the details have estimates for the population from which the release
    was drawn: the number of unique records by four estimators, the individual risk, and by the copula the
    probabilities that a record is unique and that a match is correct.

    Source: Elliot, Manning, Ford, "A computational algorithm for handling the special uniques problem"
    (Int. J. of Uncertainty, Fuzziness and Knowledge-Based Systems 10(5), 2002), for the last of these.
    """

    name = "uniqueness"
    unasked = True
    threat = None
    of_release_alone = True
    Settings = UniquenessSettings
    settings: UniquenessSettings
    requires = (
        needs(
            "the column of sampling weights '{own.settings.weights}'",
            lambda own, adversary: (
                own.settings.weights is None or own.settings.weights in adversary.release.weights
            ),
        ),
        holders_are_known,
    )

    @classmethod
    def sentence(cls, knowledge: Mapping[str, Any], success: str, guess: str) -> str:  # noqa: ARG003 - always 0
        """Return the share of unique records, or of units that are alone in a class."""
        unit = knowledge.get("unit")
        if unit is not None:
            known = known_columns(knowledge)
            some = "their list of" if knowledge.get(LINKS) == USED else "some record's"
            return f"{success} of the {targets_of(knowledge)} are the only {unit} with {some} {known}."
        return f"{success} of the records are the only ones with their {known_columns(knowledge)}."

    def run(self, adversary: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:  # noqa: ARG002 - it counts
        """Return the share of unique records."""
        self.require(adversary)
        release = adversary.release
        details: dict[str, Any] = {}
        held = adversary.held_by(self.settings.unit)
        most = self.settings.size or len(release.names)
        if self.settings.subsets is None:
            worst = known_subset(release, self.settings.knowledge)
        elif held is None:
            worst, details = _of_every_subset(release, most)
        else:
            names, details = _units_of_every_subset(release, held, most)
            worst = known_subset(release, names)
        details["classes_by_size"] = _by_class_size(worst.sizes)
        if self.settings.weights or self.settings.population:
            details["population"] = _expected(self.sample(release, worst.names))
        known: dict[str, Any] = {"attributes": list(worst.names)}
        share, number = Fraction(len(worst.unique), release.records), release.records
        if held is not None:
            classes, number = held.class_of(release.class_of(worst.names)), held.number
            sizes = np.bincount(np.unique(np.stack([classes, held.target]), axis=1)[0])
            share = held.reached(sizes[classes] == 1)
            known |= {"unit": held.unit, **with_links(held)}
            if held.linked:
                details["classes_by_size"] = _by_class_size(sizes)
        return [exposing_certain(self.counted(adversary, known, share, Fraction(0), details, number))]

    def sample(self, release: PublishedTable, names: Sequence[str] | None = None) -> SampleClasses:
        """Return the class sizes in the release, f, and their estimates in the population, F.

        F is the sum of the weights, or f × population / records, and no smaller than f.

        Raises
        ------
        InputError: a weight is not a positive number, or the population smaller than the release.
        """
        classes = release.classes(names)
        weights = self._weights(release)
        sums = np.bincount(classes.class_of, weights=weights, minlength=classes.number).astype(np.float64)
        assert classes.values is not None, "a published table knows what its classes publish"
        people = np.maximum(sums, classes.sizes)
        return SampleClasses(classes.sizes, people, classes.values.positions(people))

    def _weights(self, release: PublishedTable) -> FloatArray:
        """Return the sum of the weights of each row's records, shape (rows,)."""
        if self.settings.weights is not None:
            weights = release.weights[self.settings.weights]
            if not (np.isfinite(weights) & (weights > 0)).all():
                what = f"some weights in column '{self.settings.weights}' are not positive numbers"
                remedy = f"correct them, or remove weights from the attack {self.name}"
                raise InputError(f"{release.source}: {what}; {remedy}")
            return weights
        size = self.settings.population or release.records
        if size < release.records:
            what = f"has a population of {size}, but the release has {release.records} records"
            remedy = f"set population to at least {release.records}"
            raise InputError(f"{release.source}: the attack {self.name} {what}; {remedy}")
        return release.counts.astype(np.float64) * (size / release.records)


def _by_class_size(sizes: IntArray) -> dict[int, int]:
    """Return the number of classes of each of the smallest sizes."""
    smallest = np.unique(sizes, return_counts=True)
    return dict(zip(*(part[:10].tolist() for part in smallest), strict=True))


def _expected(sample: SampleClasses) -> dict[str, Any]:
    """Return the estimates for the report."""
    risk = individual_risk(sample)
    expected, unique = {name: estimate(sample) for name, estimate in ESTIMATORS.items()}, sample.uniques
    return {
        "records": sample.population_records,
        "expected_uniques": expected,
        "unique_given_unique": {name: each / unique if unique else None for name, each in expected.items()},
        "records_by_uniqueness": _by_uniqueness(sample),
        "copula": _by_copula(sample),
        "individual_risk": {
            "largest": float(risk.max()),
            "mean": float(risk @ sample.sizes) / sample.records,
            "expected_re_identifications": float(risk @ sample.sizes),
        },
    }


UNIQUENESS_BANDS = (0.01, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Upper ends of the bands of probabilities of being unique in the population."""


def _by_uniqueness(sample: SampleClasses) -> dict[str, int]:
    """Return the number of records by their probability of being unique in the population.

    That of a sample unique is P(F = 1 | f = 1) = 1 / weight, as in ``negative_binomial_uniques``; that of
    other records is 0. A band goes from above the one before to its key.
    """
    chance = _chances_of_uniques(sample)
    return {"0": sample.records - sample.uniques} | _in_bands(chance, np.ones(len(chance)))


def _in_bands(chance: FloatArray, records: IntArray | FloatArray) -> dict[str, int]:
    """Return the number of records in each band of probabilities."""
    band = np.searchsorted(UNIQUENESS_BANDS, chance, side="left")
    counts = np.bincount(band, weights=records, minlength=len(UNIQUENESS_BANDS)).astype(np.int64).tolist()
    return {f"{end:g}": number for end, number in zip(UNIQUENESS_BANDS, counts, strict=True)}


def _by_copula(sample: SampleClasses) -> dict[str, Any]:
    """Return what the copula says of single records: their uniqueness and how often a match is correct."""
    chance, people = sample.probability, sample.population_records
    unique = unique_in(chance, people)
    return {
        "uniqueness": float(unique @ sample.sizes) / sample.records,
        "correctness": float(correct_in(chance, people) @ sample.sizes) / sample.records,
        "records_by_uniqueness": _in_bands(unique, sample.sizes),
    }


def _of_every_subset(release: PublishedTable, most: int) -> tuple[KnownSubset, dict[str, Any]]:
    """Return the set of quasi-identifiers with the most unique records, and the details of all sets.

    Parameters
    ----------
    most: maximum number of attributes in a set.
    """
    subsets = []
    worst: KnownSubset | None = None
    never = len(release.names) + 1
    fewest = np.full(len(release.counts), never, dtype=np.min_scalar_type(never))
    # Not kept in memory: all subsets take many times the memory of the release.
    for each in known_subsets(release, most):
        share = len(each.unique) / release.records
        subsets.append((each.names, share, share))
        fewest[each.unique] = np.minimum(fewest[each.unique], len(each.names))
        if worst is None or _rank(each) > _rank(worst):
            worst = each
    assert worst is not None, "a release has quasi-identifiers"
    return worst, {**by_size(subsets), "singled_out_by": _singled_out(fewest, never)}


def _units_of_every_subset(
    release: PublishedTable, owned: OwnedRecords, most: int
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the set of quasi-identifiers by which most units are alone, and the details of all sets."""
    number, found = owned.number, []
    never = len(release.names) + 1
    fewest = np.full(number, never)
    for each in owned_subsets(release, owned, owned.target, None, most):
        alone = each.alone
        fewest[alone] = np.minimum(fewest[alone], len(each.names))
        found.append((int(alone.sum()), -len(each.names), each.names))
    *_, names = max(found, key=lambda own: own[:2])
    details = by_size((names, own / number, own / number) for own, _, names in found)
    return names, {**details, "singled_out_by": _singled_out(fewest, never)}


def _singled_out(fewest: IntArray, never: int) -> dict[int, int]:
    """Return the number of targets by the number of attributes that single them out, below ``never``."""
    return {size: int(number) for size, number in enumerate(np.bincount(fewest)[:never]) if number}


def _rank(subset: KnownSubset) -> tuple[int, int]:
    """Return the sort key of a set: more unique records first, then fewer attributes."""
    return len(subset.unique), -len(subset.names)
