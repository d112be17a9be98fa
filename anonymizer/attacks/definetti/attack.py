"""The deFinetti attack: inferring sensitive values from correlations that the release itself reveals.

Features are attribute values: one by one, numbers in bins, or compared with generalized values. An Anatomy
release is attacked with its exact quasi-identifiers. True values serve only to score the guesses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from anonymizer.attacks.attribute_disclosure import KnowledgeSettings
from anonymizer.attacks.base import Attack, AttackResult, Share, clopper_pearson, somebody
from anonymizer.attacks.definetti.posterior import (
    Convergence,
    ExactFeature,
    Feature,
    Groups,
    NaiveBayes,
    Posterior,
    SamplerSettings,
    Similar,
    groups_of,
    posterior,
)
from anonymizer.attacks.linkage.distances import gaps_of, standard_scale
from anonymizer.errors import InputError
from anonymizer.model.adversary import AdversaryView, AnatomyRelease, Original, Threat, Truth, ValueCoverage
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.counting import count
from anonymizer.model.dates import ISO
from anonymizer.model.table import Column, ValueType
from anonymizer.plugins import Exact, WholeNumber

REACH = 0.25
"""Gap at which similarity is 1/e: in standard deviations of numbers or shares of a hierarchy's height."""

PUBLISHED_PAIRS = 1 << 16
"""Maximum number of compared pairs of value and published text; with more, values are coded exactly."""


@dataclass(frozen=True, eq=False)
class FeatureCoding:
    """The coding of an attribute's values as a feature.

    Attributes
    ----------
    feature: how the model uses the codes.
    code: feature value of each value of the column, shape (values,), int64.
    bins: smallest and largest number of each bin, in order; empty if values are coded one by one.
    """

    feature: Feature
    code: IntArray
    bins: list[tuple[float, float]] = field(default_factory=list)


def discretize(column: Column, counts: IntArray, bins: int) -> FeatureCoding:
    """Return an exact coding of values, numbers in bins of about equal numbers of records.

    Parameters
    ----------
    counts: records with each value of the column, shape (values,), int64.
    bins: maximum number of bins; numbers with at most so many values are not binned.
    """
    numbers = column.numbers
    present = len(column.present)
    if numbers is None or present <= bins:
        return _exact(column.size)
    # A value is in the bin of its middle record.
    known = counts[:present]
    middle = np.cumsum(known) - known / 2
    place = np.minimum((middle * bins / max(int(known.sum()), 1)).astype(np.int64), bins - 1)
    used, code = np.unique(place, return_inverse=True)
    first = np.searchsorted(code, np.arange(len(used)))
    last = np.append(first[1:], present) - 1
    edges = [(float(numbers[low]), float(numbers[high])) for low, high in zip(first, last, strict=True)]
    missing = np.full(column.size - present, len(used))
    return FeatureCoding(
        ExactFeature(len(used) + (column.size > present)),
        np.concatenate([code, missing]).astype(np.int64),
        edges,
    )


def compared(meaning: ValueCoverage, counts: IntArray, bins: int) -> FeatureCoding:
    """Return a coding that compares values with the published texts: a value counts toward similar texts.

    The similarity of a value and a text is exp(-gap / ``REACH``), 1 if the text covers the value.

    Parameters
    ----------
    meaning: coverage of the published texts.
    counts, bins: as for ``discretize``.
    """
    exact = discretize(meaning.column, counts, bins)
    texts, values = len(meaning.sizes), meaning.column.size
    if texts * exact.feature.values > PUBLISHED_PAIRS:
        return exact
    gaps = np.abs(gaps_of(meaning, standard_scale).rows(np.arange(values)))
    likeness = np.exp(-gaps.T / REACH) * np.maximum(counts, 1)
    joined: FloatArray = np.zeros((texts, exact.feature.values))
    np.add.at(joined.T, exact.code, likeness.T)
    return FeatureCoding(Similar(joined / joined.sum(axis=1, keepdims=True)), exact.code, exact.bins)


@dataclass(frozen=True, eq=False)
class View:
    """Records in groups with features.

    Attributes
    ----------
    names: of the quasi-identifiers that are features.
    codings: of the values of each.
    groups: the records.
    true: records of each entry's kind whose true value is the entry's, shape (entries,), int64; None if
        unknown.
    """

    names: tuple[str, ...]
    codings: tuple[FeatureCoding, ...]
    groups: Groups
    true: IntArray | None


class FeatureSource(ABC):
    """A source of the features of records."""

    @abstractmethod
    def view(self, adversary: AdversaryView, names: Sequence[str], sensitive: str) -> View:
        """Return the records of a release in its classes.

        Parameters
        ----------
        names: of the quasi-identifiers that the adversary knows.
        sensitive: name of the attribute to infer.
        """

    @abstractmethod
    def pairs(self, adversary: AdversaryView, names: Sequence[str], sensitive: str) -> int:
        """Return an upper bound on the pairs of a kind of record and a value of its class."""


class Published(FeatureSource):
    """The published texts as features."""

    def view(self, adversary: AdversaryView, names: Sequence[str], sensitive: str) -> View:
        """Return the released records; those of a class are of one kind."""
        release = adversary.release
        classes = release.classes(names)
        positions = [release.names.index(name) for name in names]
        codings = tuple(_exact(len(release.labels[at])) for at in positions)
        codes = release.codes[:, positions].astype(np.int64)
        return _view(
            adversary, names, names, sensitive, codings, (codes, np.arange(len(codes)), classes.counts)
        )

    def pairs(self, adversary: AdversaryView, names: Sequence[str], sensitive: str) -> int:
        """Return the number of distinct values, summed over classes."""
        counts, _ = adversary.release.classes(names).sensitive_counts(sensitive)
        return len(counts.values)


class OriginalFeatures(FeatureSource):
    """The original values as features, numbers in bins.

    Parameters
    ----------
    bins: most bins of a number.
    """

    def __init__(self, bins: int) -> None:
        self.bins = bins

    def view(self, adversary: AdversaryView, names: Sequence[str], sensitive: str) -> View:
        """Return the records with known originals, and the others of their classes with unknown features."""
        original = adversary.original
        assert original is not None, "missing_requirement() checks this"
        links = original.links
        # original.known() refuses names if the original has none of them.
        own = [name for name in names if name in original.names] or original.known(names)
        positions = [original.names.index(name) for name in own]
        codings = tuple(self.coding(original, at) for at in positions)
        codes = original.codes[links.original][:, positions].astype(np.int64)
        features = [each.code[column] for each, column in zip(codings, codes.T, strict=True)]
        people = np.column_stack(features), links.release, links.counts
        return _view(adversary, names, own, sensitive, codings, people)

    def pairs(self, adversary: AdversaryView, names: Sequence[str], sensitive: str) -> int:
        """Return the number of values in each original's class, summed over original rows."""
        assert adversary.original is not None, "missing_requirement() checks this"
        classes = adversary.release.classes(names)
        counts, _ = classes.sensitive_counts(sensitive)
        return int(np.diff(counts.starts)[classes.class_of[adversary.original.links.release]].sum())

    def coding(self, original: Original, position: int) -> FeatureCoding:
        """Return the coding of an attribute's values."""
        return discretize(original.meanings[position].column, _counts(original, position), self.bins)


class SimilarFeatures(OriginalFeatures):
    """The original values as features, compared with the published texts."""

    def coding(self, original: Original, position: int) -> FeatureCoding:
        """Return the coding of an attribute's values by similarity to its published texts."""
        return compared(original.meanings[position], _counts(original, position), self.bins)


def _exact(values: int) -> FeatureCoding:
    return FeatureCoding(ExactFeature(values), np.arange(values))


def _counts(original: Original, position: int) -> IntArray:
    size = original.meanings[position].column.size
    return count(original.codes[:, position].astype(np.int64), original.counts, size)


def _view(
    adversary: AdversaryView,
    names: Sequence[str],
    features: Sequence[str],
    sensitive: str,
    codings: tuple[FeatureCoding, ...],
    people: tuple[IntArray, IntArray, IntArray],
) -> View:
    """Return records in the classes of a release.

    Parameters
    ----------
    names: of the quasi-identifiers that make up the classes.
    features: names of the attributes whose values are features.
    people: features, released row and number of each item, shapes (items, features), (items,) and (items,).
    """
    codes, item, counts = people
    classes = adversary.release.classes(names)
    held, _ = classes.sensitive_counts(sensitive)
    values = classes.sensitive_codes(sensitive)[item]
    groups, kind = groups_of(
        codes,
        classes.class_of[item],
        counts,
        (held.owners, held.values, held.counts),
        held.attribute.column.size,
    )
    true = count(groups.entries_of(kind, values), counts, int(groups.first[-1]))
    return View(tuple(features), codings, groups, true)


class AnatomyFeatures(FeatureSource):
    """The published values of an Anatomy release as features, numbers in bins.

    Parameters
    ----------
    bins: most bins of a number.
    """

    def __init__(self, bins: int) -> None:
        self.bins = bins

    def view(self, adversary: AdversaryView, names: Sequence[str], sensitive: str) -> View:  # noqa: ARG002 - there is one
        """Return the records of each bucket; those with equal features are of one kind."""
        grouped = _grouped(adversary)
        positions = [grouped.names.index(name) for name in names]
        codings = tuple(self._coding(grouped, at) for at in positions)
        codes = [own.code[grouped.codes[:, at]] for own, at in zip(codings, positions, strict=True)]
        held = grouped.sensitive
        groups, kind = groups_of(
            np.column_stack(codes).astype(np.int64),
            grouped.group,
            grouped.counts,
            (held.owners, held.values, held.counts),
            held.attribute.column.size,
        )
        truth = grouped.truth
        if truth is None or not len(truth.counts):
            return View(tuple(names), codings, groups, None)
        entries = groups.entries_of(kind[truth.rows], truth.values)
        if (entries < 0).any():
            name = grouped.groups[grouped.group[truth.rows[entries < 0][0]]]
            raise InputError(
                f"{grouped.source}: bucket {name} does not have the sensitive values of its "
                "original records; give the originals of this release"
            )
        true = count(entries, truth.counts, int(groups.first[-1]))
        return View(tuple(names), codings, groups, true)

    def pairs(self, adversary: AdversaryView, names: Sequence[str], sensitive: str) -> int:  # noqa: ARG002 - at most
        """Return the number of values in each row's bucket, summed over rows."""
        grouped = _grouped(adversary)
        return int(np.diff(grouped.sensitive.starts)[grouped.group].sum())

    def _coding(self, grouped: AnatomyRelease, position: int) -> FeatureCoding:
        labels = grouped.labels[position]
        counts = count(grouped.codes[:, position].astype(np.int64), grouped.counts, len(labels))
        order, column = _as_numbers(grouped.names[position], labels, counts)
        if column is None:
            return _exact(len(labels))
        found = discretize(column, counts[order], self.bins)
        code = np.empty(len(labels), dtype=np.int64)
        code[order] = found.code
        return FeatureCoding(found.feature, code, found.bins)


def _grouped(adversary: AdversaryView) -> AnatomyRelease:
    assert adversary.grouped is not None, "only for Anatomy releases"
    return adversary.grouped


def _as_numbers(name: str, labels: Sequence[str | None], counts: IntArray) -> tuple[IntArray, Column | None]:
    """Return the order of published texts by number, and the column of numbers, None if they are texts.

    One of the texts may be no number, such as that of a missing value; it comes last.
    """
    numbers = np.array([_number(label) for label in labels], dtype=np.float64)
    order = np.argsort(numbers, kind="stable")
    unknown = int(np.isnan(numbers).sum())
    if unknown > 1 or unknown == len(labels):
        return order, None
    missing = len(labels) - 1 if unknown else None
    texts = tuple(labels[place] or "" for place in order.tolist())
    return order, Column(name, ValueType.NUMBER, texts, counts[order], numbers[order], missing)


def _number(label: str | None) -> float:
    """Return a number, a date as its ordinal, NaN for anything else."""
    try:
        found = float(label or "")
    except ValueError:
        found = ISO.number(label or "") or np.nan
    return found if np.isfinite(found) else np.nan


SURE = 0.8
"""Probability from which a guess counts as sure."""


@dataclass(frozen=True)
class Score:
    """The score of probabilities of sensitive values against the truth.

    Attributes
    ----------
    accuracy: ACC, share of records whose most likely value is the true one; a tie of n counts 1/n.
    absolute: ABS, mean over records of the sum over values of |probability - 1 for the true value, 0 for
        others|.
    squared: SSQ, the same with squared differences.
    sure: share of records with a value of probability ``SURE`` or more.
    sure_right: share of those records for which that value is the true one, None without any.
    """

    accuracy: Fraction
    absolute: float
    squared: float
    sure: float
    sure_right: float | None

    @classmethod
    def of(cls, groups: Groups, chances: FloatArray, true: IntArray) -> Score:
        """Return the score.

        Parameters
        ----------
        chances: probability of each entry, shape (entries,).
        true: records of each entry's kind with its value, shape (entries,), int64; at least one in sum.
        """
        total = int(true.sum())
        kind, starts = groups.kind, groups.first[:-1]
        squares = np.add.reduceat(chances**2, starts)[kind]
        sure = chances >= SURE
        known = int(np.add.reduceat(true, starts)[np.add.reduceat(sure, starts) > 0].sum())
        return cls(
            _right(groups, chances, true) / total,
            float((2 * (1 - chances)) @ true) / total,
            float((1 - 2 * chances + squares) @ true) / total,
            known / total,
            int(true[sure].sum()) / known if known else None,
        )


def expected_accuracy(groups: Groups, chances: FloatArray) -> float:
    """Return the expected accuracy if the probabilities are correct."""
    best = np.maximum.reduceat(chances, groups.first[:-1])
    return float(best @ groups.counts) / groups.people


def _right(groups: Groups, chances: FloatArray, true: IntArray) -> Fraction:
    """Return the expected number of records whose most likely value is the true one."""
    starts = groups.first[:-1]
    best = chances == np.maximum.reduceat(chances, starts)[groups.kind]
    ties = np.add.reduceat(best.astype(np.int64), starts)[groups.kind]
    people = np.bincount(ties[best], weights=true[best]).astype(np.int64).tolist()
    return sum((Fraction(number, tied) for tied, number in enumerate(people) if number), Fraction(0))


VALUES = 1000
"""Maximum number of values of an inferred attribute."""

PAIRS = 1 << 22
"""Maximum number of pairs of a kind of record and a value of its group."""


SWEEPS, LEAST = 2000, 128
"""Default maximum number of sweeps of a chain, and the number that no table is too large for."""

WORK = 1 << 30
"""Pairs that all sweeps of all chains visit by default: half a minute of one processor."""


def affordable_sweeps(pairs: int) -> int:
    """Return the default maximum number of sweeps.

    Parameters
    ----------
    pairs: of records and values that one sweep of all chains visits.

    >>> affordable_sweeps(4 * 90_000), affordable_sweeps(4 * 400_000), affordable_sweeps(4 * (1 << 22))
    (2000, 671, 128)
    """
    return min(SWEEPS, max(WORK // max(pairs, 1), LEAST))


UNCONFIRMED = "as the model expects"
"""The aim in the result of an attack without known true values."""


class Features(StrEnum):
    """The features of records in their groups."""

    PUBLISHED = "published"
    EXACT = "exact"
    SIMILAR = "similar"


class DefinettiSettings(KnowledgeSettings):
    """The adversary's knowledge, the prior and the effort of sampling."""

    features: Annotated[
        Features | None,
        Field(
            description="published: the released values; exact: the original values; similar: the original "
            "values, compared through the published ones; default: exact with original records, "
            "else published"
        ),
    ] = None
    bins: Annotated[WholeNumber, Field(ge=2, description="maximum number of bins for numeric attributes")] = (
        10
    )
    prior: Annotated[
        Exact, Field(gt=0, description="concentration of the Dirichlet prior of features; 1 is uniform")
    ] = Decimal(1)
    chains: Annotated[WholeNumber, Field(ge=2, le=100, description="independent starts")] = 4
    sweeps: Annotated[
        WholeNumber | None,
        Field(
            ge=16,
            description="maximum number of sweeps per chain; default: 2000, fewer where the release has many "
            "pairs of records and values of their class",
        ),
    ] = None
    tolerance: Annotated[
        Exact,
        Field(gt=1, description="largest R-hat (potential scale reduction factor) accepted as converged"),
    ] = Decimal("1.05")
    draws: Annotated[
        WholeNumber, Field(ge=1, description="effective sample size at which sampling stops")
    ] = 200


class Definetti(Attack):
    """Share of records whose sensitive value is guessed from correlations between groups.

    The release shows the features and the sensitive values of each group (class or bucket), but not which
    record has which value. Under random worlds all assignments are equally likely. But if smokers are more
    often in groups with lung cancer, then in a group of one smoker and one other the smoker is more likely to
    have it. For exchangeable people (de Finetti) the release implies this: features are drawn independently
    with unknown probabilities given each sensitive value, and the posterior of all assignments is sampled.

    The guess is the most probable value; a tie of n counts 1/n. The baseline is the same guess under random
    worlds: the most frequent value of each group. With generalized features all records of a class are equal,
    so success is the baseline.

    The interval covers the share of so many targets (Clopper and Pearson) and the success of each chain.

    Source: Kifer, "Attacks on Privacy and deFinetti's Theorem" (SIGMOD 2009, doi:10.1145/1559845.1559861).
    """

    name = "definetti"
    threat = Threat.INFERENCE
    Settings = DefinettiSettings
    settings: DefinettiSettings

    @classmethod
    def sentence(cls, knowledge: Mapping[str, Any], success: str, guess: str) -> str:
        """Return how often the value that the release suggests most is right."""
        expected = "is expected to guess" if knowledge.get("target") == UNCONFIRMED else "guesses"
        guesses = f"{expected} {knowledge['sensitive']} right in {success} of cases"
        who = f"{somebody(knowledge)} and learns from all classes of the release"
        return f"{who} {guesses}; from the person's class alone in {guess}."

    def missing_requirement(self, adversary: AdversaryView) -> str | None:
        """Return the missing sensitive attribute or originals, or the exceeded limit, if any."""
        if not self._learned(adversary):
            return f"a sensitive attribute with at most {VALUES} values"
        features = self.settings.features
        if features is Features.SIMILAR and adversary.grouped is not None:
            return "generalized values; an Anatomy release has none"
        if (
            features in (Features.EXACT, Features.SIMILAR)
            and adversary.grouped is None
            and not _linked(adversary)
        ):
            return f"original records with links to released ones, because of features: {features}"
        known = adversary.release.known(self.settings.knowledge)
        pairs = max(
            self._knowing(adversary).pairs(adversary, known, name) for name in self._learned(adversary)
        )
        if pairs > PAIRS:
            return f"at most {PAIRS:,} pairs of records and values of their class; there are {pairs:,}"
        return None

    def run(self, adversary: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:
        """Return one result for each sensitive attribute."""
        lacking = self.missing_requirement(adversary)
        if lacking is not None:
            raise InputError(f"{adversary.release.source}: the attack definetti needs {lacking}")
        return [self._attack(adversary, name, random) for name in self._learned(adversary)]

    def _learned(self, adversary: AdversaryView) -> list[str]:
        sensitive = adversary.disclosing.sensitive
        return [name for name, own in sensitive.items() if own.attribute.column.size <= VALUES]

    def _attack(self, adversary: AdversaryView, name: str, random: np.random.Generator) -> AttackResult:
        known = adversary.release.known(self.settings.knowledge)
        view = self._knowing(adversary).view(adversary, known, name)
        settings = self.settings
        sweeps = settings.sweeps or affordable_sweeps(int(view.groups.first[-1]) * settings.chains)
        effort = SamplerSettings(settings.chains, sweeps, float(settings.tolerance), settings.draws)
        model = NaiveBayes(view.groups, [own.feature for own in view.codings], float(settings.prior))
        found = posterior(view.groups, model, effort, random.spawn(settings.chains))
        return self._finding(view, found, self._features(adversary), name)

    def _features(self, adversary: AdversaryView) -> Features:
        if adversary.grouped is not None:
            return Features.PUBLISHED
        default = Features.EXACT if _linked(adversary) else Features.PUBLISHED
        return self.settings.features or default

    def _knowing(self, adversary: AdversaryView) -> FeatureSource:
        if adversary.grouped is not None:
            return AnatomyFeatures(self.settings.bins)
        kinds: dict[Features, FeatureSource] = {
            Features.PUBLISHED: Published(),
            Features.EXACT: OriginalFeatures(self.settings.bins),
            Features.SIMILAR: SimilarFeatures(self.settings.bins),
        }
        return kinds[self._features(adversary)]

    def _finding(self, view: View, found: Posterior, features: Features, name: str) -> AttackResult:
        judged = _believed(view.groups, found) if view.true is None else _judged(view, view.true, found)
        details: dict[str, Any] = {
            "features": features.value,
            **judged.details,
            "chains": _chains(found.convergence, judged.by_chain),
            "bins": {own: each.bins for own, each in zip(view.names, view.codings, strict=True) if each.bins},
        }
        # The aim marks a success that is only expected, not counted.
        aim = {"target": UNCONFIRMED} if view.true is None else {}
        knowledge = {"attributes": list(view.names), **aim, "sensitive": name}
        ends = [judged.low, judged.high, *judged.by_chain]
        success, baseline = judged.success, judged.baseline
        return AttackResult(
            self.name, knowledge, success, baseline, min(ends), max(ends), judged.targets, details
        )


@dataclass(frozen=True)
class _Judged:
    """The fields of a result that are judged.

    Attributes
    ----------
    by_chain: success of each chain alone.
    """

    success: Share
    baseline: Share
    low: float
    high: float
    targets: int
    by_chain: list[float]
    details: dict[str, Any]


def _judged(view: View, true: IntArray, found: Posterior) -> _Judged:
    """Judge by the true values."""
    groups, targets = view.groups, int(true.sum())
    score = Score.of(groups, found.chances, true)
    blind = Score.of(groups, groups.shares, true)
    low, high = clopper_pearson(float(score.accuracy) * targets, targets)
    if found.convergence is None:
        low = high = float(score.accuracy)
    each = [float(Score.of(groups, own, true).accuracy) for own in found.by_chain]
    details: dict[str, Any] = {
        "judged_by": "the true values",
        "expected": expected_accuracy(groups, found.chances),
        "abs": 1000 * score.absolute,
        "ssq": 1000 * score.squared,
        "random_worlds": {"abs": 1000 * blind.absolute, "ssq": 1000 * blind.squared},
        "sure": {"records": score.sure, "right": score.sure_right},
    }
    return _Judged(score.accuracy, blind.accuracy, low, high, targets, each, details)


def _believed(groups: Groups, found: Posterior) -> _Judged:
    """Judge by the model's own probabilities, as the true values are unknown."""
    success = expected_accuracy(groups, found.chances)
    each = [expected_accuracy(groups, own) for own in found.by_chain]
    details = {"judged_by": "the model's own chances, which nothing confirms", "expected": success}
    baseline = expected_accuracy(groups, groups.shares)
    return _Judged(success, baseline, success, success, groups.people, each, details)


def _linked(adversary: AdversaryView) -> bool:
    return adversary.original is not None and adversary.original.truth is not Truth.UNKNOWN


def _chains(found: Convergence | None, accuracy: Sequence[float]) -> dict[str, Any] | None:
    """Return the convergence of the chains for the report, None if nothing was drawn."""
    if found is None:
        return None
    return {
        "number": len(accuracy),
        "settled": found.converged,
        "sweeps": found.sweeps,
        "kept": found.kept,
        "r_hat": {"likelihood": found.likelihood, "chances": found.typical},
        "effective_draws": found.draws,
        "difference": found.difference,
        "success": list(accuracy),
    }
