"""The deFinetti attack: inferring sensitive values from correlations that the release itself reveals.

Features are attribute values: one by one, numbers in bins, or compared with generalized values. An Anatomy
release is attacked with its exact quasi-identifiers. True values serve only to score the guesses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from anonymizer.attacks.attribute_disclosure import KnowledgeSettings
from anonymizer.attacks.base import Attack, AttackResult, Share, clopper_pearson
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
from anonymizer.model.table import Column, ValueType
from anonymizer.plugins import Exact, WholeNumber

REACH = 0.25
"""Gap at which likeness has fallen to 1/e: standard deviations of numbers, shares of a hierarchy's height."""

PUBLISHED_PAIRS = 1 << 16
"""Most pairs of a value and a published text that are compared; with more, values are told apart exactly."""


@dataclass(frozen=True, eq=False)
class FeatureCoding:
    """How far the values of an attribute are told apart.

    Attributes
    ----------
    feature: what the model makes of them.
    code: feature value of each value of the column, shape (values,), int64.
    bins: least and largest number of each bin, in order; none where values are told apart one by one.
    """

    feature: Feature
    code: IntArray
    bins: list[tuple[float, float]] = field(default_factory=list)


def discretize(column: Column, counts: IntArray, bins: int) -> FeatureCoding:
    """Return features that tell values apart, numbers by bins of about as many people each.

    Parameters
    ----------
    counts: people with each value of the column, shape (values,), int64.
    bins: most bins; a number of at most so many values is told apart exactly.
    """
    numbers = column.numbers
    present = len(column.present)
    if numbers is None or present <= bins:
        return FeatureCoding(ExactFeature(column.size), np.arange(column.size))
    # A value lies in the bin that the middle of its people lies in.
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
    """Return features that compare values with the published texts: a value counts toward those it is like.

    The likeness of a value and a text is exp(-gap / ``REACH``), 1 where the text stands for the value.

    Parameters
    ----------
    meaning: of the published texts.
    counts, bins: as in ``told_apart``.
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
    """People in groups.

    Attributes
    ----------
    names: of the quasi-identifiers that are features.
    told: how far the values of each are told apart.
    groups: the people.
    true: people of each entry's kind whose true value is the entry's, shape (entries,), int64; None when it
        is not known.
    """

    names: tuple[str, ...]
    told: tuple[FeatureCoding, ...]
    groups: Groups
    true: IntArray | None


class FeatureSource(ABC):
    """What the features of people are."""

    @abstractmethod
    def view(self, scene: AdversaryView, names: Sequence[str], sensitive: str) -> View:
        """Return the people of a release in its classes.

        Parameters
        ----------
        names: of the quasi-identifiers that the adversary knows.
        sensitive: name of the attribute to be learned.
        """

    @abstractmethod
    def pairs(self, scene: AdversaryView, names: Sequence[str], sensitive: str) -> int:
        """Return how many pairs of a kind of people and a value of their class there are, at most."""


class Published(FeatureSource):
    """The published texts, one by one."""

    def view(self, scene: AdversaryView, names: Sequence[str], sensitive: str) -> View:
        """Return the records of the release; all of a class are of one kind."""
        release = scene.release
        classes = release.classes(names)
        positions = [release.names.index(name) for name in names]
        told = tuple(
            FeatureCoding(ExactFeature(len(release.labels[at])), np.arange(len(release.labels[at])))
            for at in positions
        )
        codes = release.codes[:, positions].astype(np.int64)
        return _view(scene, names, names, sensitive, told, (codes, np.arange(len(codes)), classes.counts))

    def pairs(self, scene: AdversaryView, names: Sequence[str], sensitive: str) -> int:
        """Return the number of values of all classes."""
        counts, _ = scene.release.classes(names).sensitive_counts(sensitive)
        return len(counts.values)


class OriginalFeatures(FeatureSource):
    """The original values, numbers in bins.

    Parameters
    ----------
    bins: most bins of a number.
    """

    def __init__(self, bins: int) -> None:
        self.bins = bins

    def view(self, scene: AdversaryView, names: Sequence[str], sensitive: str) -> View:
        """Return the people whose original records are known, and the others of their classes as unknown."""
        original = scene.original
        assert original is not None, "the attack was not asked what it lacks"
        links = original.links
        # Where the original has none of them, this says so.
        own = [name for name in names if name in original.names] or original.known(names)
        positions = [original.names.index(name) for name in own]
        told = tuple(self.told(original, at, _counts(original, at)) for at in positions)
        codes = original.codes[links.original][:, positions].astype(np.int64)
        features = [each.code[column] for each, column in zip(told, codes.T, strict=True)]
        people = np.column_stack(features), links.release, links.counts
        return _view(scene, names, own, sensitive, told, people)

    def pairs(self, scene: AdversaryView, names: Sequence[str], sensitive: str) -> int:
        """Return the values of each original's class, added up."""
        assert scene.original is not None, "the attack was not asked what it lacks"
        classes = scene.release.classes(names)
        counts, _ = classes.sensitive_counts(sensitive)
        return int(np.diff(counts.starts)[classes.class_of[scene.original.links.release]].sum())

    def told(self, original: Original, position: int, counts: IntArray) -> FeatureCoding:
        """Return how far the values of an attribute are told apart."""
        return discretize(original.meanings[position].column, counts, self.bins)


class SimilarFeatures(OriginalFeatures):
    """The original values, compared with the published texts."""

    def told(self, original: Original, position: int, counts: IntArray) -> FeatureCoding:
        """Return how like the values of an attribute are to its published texts."""
        return compared(original.meanings[position], counts, self.bins)


def _counts(original: Original, position: int) -> IntArray:
    size = original.meanings[position].column.size
    return count(original.codes[:, position].astype(np.int64), original.counts, size)


def _view(
    scene: AdversaryView,
    names: Sequence[str],
    features: Sequence[str],
    sensitive: str,
    told: tuple[FeatureCoding, ...],
    people: tuple[IntArray, IntArray, IntArray],
) -> View:
    """Return people in the classes of a release.

    Parameters
    ----------
    names: of the quasi-identifiers that make up the classes.
    features: of those whose values are features.
    people: features, released combination and number of each item, shape (items, features), then (items,).
    """
    codes, item, counts = people
    classes = scene.release.classes(names)
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
    return View(tuple(features), told, groups, true)


class AnatomyFeatures(FeatureSource):
    """The published values, numbers in bins.

    Parameters
    ----------
    bins: most bins of a number.
    """

    def __init__(self, bins: int) -> None:
        self.bins = bins

    def view(self, scene: AdversaryView, names: Sequence[str], sensitive: str) -> View:  # noqa: ARG002 - there is one
        """Return the records of each group; those with the same features are of one kind."""
        grouped = _grouped(scene)
        positions = [grouped.names.index(name) for name in names]
        told = tuple(self._told(grouped, at) for at in positions)
        codes = [own.code[grouped.codes[:, at]] for own, at in zip(told, positions, strict=True)]
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
            return View(tuple(names), told, groups, None)
        entries = groups.entries_of(kind[truth.rows], truth.values)
        if (entries < 0).any():
            name = grouped.groups[grouped.group[truth.rows[entries < 0][0]]]
            raise InputError(
                f"{grouped.source}: group {name} does not have the sensitive values of its "
                "original records; give the originals of this release"
            )
        true = count(entries, truth.counts, int(groups.first[-1]))
        return View(tuple(names), told, groups, true)

    def pairs(self, scene: AdversaryView, names: Sequence[str], sensitive: str) -> int:  # noqa: ARG002 - at most
        """Return the number of values of each record's group, added up."""
        grouped = _grouped(scene)
        return int(np.diff(grouped.sensitive.starts)[grouped.group].sum())

    def _told(self, grouped: AnatomyRelease, position: int) -> FeatureCoding:
        labels = grouped.labels[position]
        counts = count(grouped.codes[:, position].astype(np.int64), grouped.counts, len(labels))
        order, column = _as_numbers(grouped.names[position], labels, counts)
        if column is None:
            return FeatureCoding(ExactFeature(len(labels)), np.arange(len(labels)))
        found = discretize(column, counts[order], self.bins)
        code = np.empty(len(labels), dtype=np.int64)
        code[order] = found.code
        return FeatureCoding(found.feature, code, found.bins)


def _grouped(scene: AdversaryView) -> AnatomyRelease:
    assert scene.grouped is not None, "the release is one of records in groups"
    return scene.grouped


def _as_numbers(name: str, labels: Sequence[str | None], counts: IntArray) -> tuple[IntArray, Column | None]:
    """Return published texts as a column of numbers, and their order; None where they are none.

    Of the texts one may stand for no number, such as that of a missing value; it comes last.
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
    readers: tuple[Callable[[str], float], ...] = (float, _ordinal)
    for read in readers:
        try:
            found = read(label or "")
        except ValueError:
            continue
        return found if np.isfinite(found) else np.nan
    return np.nan


def _ordinal(text: str) -> float:
    return float(date.fromisoformat(text).toordinal())


SURE = 0.8
"""A guess with this chance counts as sure."""


@dataclass(frozen=True)
class Score:
    """What chances of sensitive values are worth beside the truth.

    Attributes
    ----------
    accuracy: ACC, share of people whose most likely value is theirs, a tie of n counting 1/n.
    absolute: ABS, mean over people of the sum over the values of the difference between the chance and 1 for
        the true value, 0 for others.
    squared: SSQ, the same with squares of the differences.
    sure: share of people with a value of chance ``SURE`` or more.
    sure_right: share of those for whom it is the true one, None without any.
    """

    accuracy: Fraction
    absolute: float
    squared: float
    sure: float
    sure_right: float | None

    @classmethod
    def of(cls, groups: Groups, chances: FloatArray, true: IntArray) -> Score:
        """Score chances.

        Parameters
        ----------
        chances: of each entry, shape (entries,).
        true: people of each entry's kind who have its value, shape (entries,), int64; at least one in all.
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
    """Return the accuracy that whoever believes in these chances expects, the truth being unknown."""
    best = np.maximum.reduceat(chances, groups.first[:-1])
    return float(best @ groups.counts) / groups.people


def _right(groups: Groups, chances: FloatArray, true: IntArray) -> Fraction:
    """Return the expected number of people whose most likely value is theirs."""
    starts = groups.first[:-1]
    best = chances == np.maximum.reduceat(chances, starts)[groups.kind]
    ties = np.add.reduceat(best.astype(np.int64), starts)[groups.kind]
    people = np.bincount(ties[best], weights=true[best]).astype(np.int64).tolist()
    return sum((Fraction(number, tied) for tied, number in enumerate(people) if number), Fraction(0))


VALUES = 1000
"""Most values of a sensitive attribute that are learned about."""

PAIRS = 1 << 22
"""Most pairs of a kind of people and a value of their group whose chances are held."""


UNCONFIRMED = "as the model expects"
"""The aim of an attack that is not judged by the truth."""


class Features(StrEnum):
    """What is known of people beside their group."""

    PUBLISHED = "published"
    EXACT = "exact"
    SIMILAR = "similar"


class DefinettiSettings(KnowledgeSettings):
    """What the adversary knows, what is assumed, and how long the chances are computed."""

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
    sweeps: Annotated[WholeNumber, Field(ge=16, description="maximum number of sweeps per chain")] = 2000
    tolerance: Annotated[
        Exact,
        Field(gt=1, description="largest R-hat (potential scale reduction factor) accepted as converged"),
    ] = Decimal("1.05")
    draws: Annotated[
        WholeNumber, Field(ge=1, description="effective sample size at which sampling stops")
    ] = 200


class Definetti(Attack):
    """Share of people whose sensitive value is guessed from what the groups teach about each other.

    A group of people with known features has a known set of sensitive values, and who has which is not
    published. Under random worlds each way to deal them out is as likely as any other. But if smokers are
    more often in groups with lung cancer, then in a group of one smoker and one other it is likelier to be
    the smoker's. People being exchangeable (de Finetti), that is what the release implies: features are
    drawn independently with unknown chances for each sensitive value, and the posterior of all ways to deal
    the values out is sampled.

    The guess is the value of highest chance, a tie of n counting 1/n. The baseline is the same under random
    worlds: the most frequent value of each group. In a class of a release without exact values all have the
    same published values, so nothing tells them apart and success is the baseline.

    The interval covers the share of so many targets (Clopper and Pearson) and what each chain by itself
    reaches.

    Source: Kifer, "Attacks on Privacy and deFinetti's Theorem" (SIGMOD 2009, doi:10.1145/1559845.1559861).
    """

    name = "definetti"
    threat = Threat.INFERENCE
    Settings = DefinettiSettings
    settings: DefinettiSettings

    def missing_requirement(self, scene: AdversaryView) -> str | None:
        """A sensitive attribute is needed, and for exact values those of original records."""
        if not self._learned(scene):
            return f"a sensitive attribute with at most {VALUES} values"
        features = self.settings.features
        if features is Features.SIMILAR and scene.grouped is not None:
            return "generalized values; an Anatomy release has none"
        if features in (Features.EXACT, Features.SIMILAR) and scene.grouped is None and not _linked(scene):
            return f"original records with links to released ones, because of features: {features}"
        known = scene.release.known(self.settings.knowledge)
        pairs = max(self._knowing(scene).pairs(scene, known, name) for name in self._learned(scene))
        if pairs > PAIRS:
            return (
                f"at most {PAIRS:,} pairs of people and values of their class, of which there are {pairs:,}"
            )
        return None

    def run(self, scene: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:
        """Learn about each sensitive attribute."""
        lacking = self.missing_requirement(scene)
        if lacking is not None:
            raise InputError(f"{scene.release.source}: the attack definetti needs {lacking}")
        return [self._attack(scene, name, random) for name in self._learned(scene)]

    def _learned(self, scene: AdversaryView) -> list[str]:
        sensitive = scene.disclosing.sensitive
        return [name for name, own in sensitive.items() if own.attribute.column.size <= VALUES]

    def _attack(self, scene: AdversaryView, name: str, random: np.random.Generator) -> AttackResult:
        known = scene.release.known(self.settings.knowledge)
        view = self._knowing(scene).view(scene, known, name)
        settings = self.settings
        effort = SamplerSettings(settings.chains, settings.sweeps, float(settings.tolerance), settings.draws)
        model = NaiveBayes(view.groups, [own.feature for own in view.told], float(settings.prior))
        found = posterior(view.groups, model, effort, random.spawn(settings.chains))
        return self._finding(view, found, self._features(scene), name)

    def _features(self, scene: AdversaryView) -> Features:
        if scene.grouped is not None:
            return Features.PUBLISHED
        default = Features.EXACT if _linked(scene) else Features.PUBLISHED
        return self.settings.features or default

    def _knowing(self, scene: AdversaryView) -> FeatureSource:
        if scene.grouped is not None:
            return AnatomyFeatures(self.settings.bins)
        kinds: dict[Features, FeatureSource] = {
            Features.PUBLISHED: Published(),
            Features.EXACT: OriginalFeatures(self.settings.bins),
            Features.SIMILAR: SimilarFeatures(self.settings.bins),
        }
        return kinds[self._features(scene)]

    def _finding(self, view: View, found: Posterior, features: Features, name: str) -> AttackResult:
        judged = _believed(view.groups, found) if view.true is None else _judged(view, view.true, found)
        details: dict[str, Any] = {
            "features": features.value,
            **judged.details,
            "chains": _settling(found.settling, judged.by_chain),
            "bins": {own: told.bins for own, told in zip(view.names, view.told, strict=True) if told.bins},
        }
        # A number that nothing confirms is not to be taken for one that was counted.
        aim = {"target": UNCONFIRMED} if view.true is None else {}
        knowledge = {"attributes": list(view.names), **aim, "sensitive": name}
        ends = [judged.low, judged.high, *judged.by_chain]
        success, baseline = judged.success, judged.baseline
        return AttackResult(
            self.name, knowledge, success, baseline, min(ends), max(ends), judged.targets, details
        )


@dataclass(frozen=True)
class _Judged:
    """What the chances of values are worth; the fields are those of a finding.

    Attributes
    ----------
    by_chain: success of each chain by itself.
    """

    success: Share
    baseline: Share
    low: float
    high: float
    targets: int
    by_chain: list[float]
    details: dict[str, Any]


def _judged(view: View, true: IntArray, found: Posterior) -> _Judged:
    """Judge by the truth."""
    groups, targets = view.groups, int(true.sum())
    score = Score.of(groups, found.chances, true)
    blind = Score.of(groups, groups.shares, true)
    low, high = clopper_pearson(float(score.accuracy) * targets, targets)
    if found.settling is None:
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
    """Take the model at its word, where the truth is not at hand."""
    success = expected_accuracy(groups, found.chances)
    each = [expected_accuracy(groups, own) for own in found.by_chain]
    details = {"judged_by": "the model's own chances, which nothing confirms", "expected": success}
    baseline = expected_accuracy(groups, groups.shares)
    return _Judged(success, baseline, success, success, groups.people, each, details)


def _linked(scene: AdversaryView) -> bool:
    return scene.original is not None and scene.original.truth is not Truth.UNKNOWN


def _settling(settling: Convergence | None, accuracy: Sequence[float]) -> dict[str, Any] | None:
    """Return how far the chains agreed, None where nothing was drawn."""
    if settling is None:
        return None
    return {
        "number": len(accuracy),
        "settled": settling.settled,
        "sweeps": settling.sweeps,
        "kept": settling.kept,
        "r_hat": {"likelihood": settling.likelihood, "chances": settling.typical},
        "effective_draws": settling.draws,
        "difference": settling.difference,
        "success": list(accuracy),
    }
