"""Features of records: published values, original values in bins, or values compared with published texts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from anonymizer.attacks.base import Share, best_blind, exact_sum
from anonymizer.attacks.definetti.groups import Groups, groups_of
from anonymizer.attacks.definetti.model import Feature, Similar
from anonymizer.attacks.definetti.scores import best_chance, likeliest
from anonymizer.attacks.linkage.distances import gaps_of, standard_scale
from anonymizer.attacks.tail import Ranking
from anonymizer.errors import InputError
from anonymizer.model.adversary import AdversaryView, AnatomyRelease, Original, ValueCoverage
from anonymizer.model.arrays import FloatArray, IntArray, count, numbered
from anonymizer.model.dates import ISO
from anonymizer.model.owners import OwnedRecords
from anonymizer.model.table import Column, ValueType

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
        Feature(len(used) + (column.size > present)),
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
    kind: of each released row, link or tuple that the features come from, shape (items,), int64.
    by_link: whether these are links.
    values: true value of each row of the release, shape (rows,), int64; None in buckets.
    """

    names: tuple[str, ...]
    codings: tuple[FeatureCoding, ...]
    groups: Groups
    true: IntArray | None
    kind: IntArray
    by_link: bool = False
    values: IntArray | None = None

    def of_units(self, adversary: AdversaryView, owned: OwnedRecords) -> GuessedUnits:
        """Return whose the records are."""
        assert self.values is not None, "nobody knows the owners of records in buckets"
        item = owned.release
        if self.by_link:
            assert adversary.original is not None, "it has the links"
            item = adversary.original.links.of_pairs(owned.original, owned.release)
        entries = self.groups.entries_of(self.kind[item], self.values[owned.release])
        return GuessedUnits(self.groups, owned, entries)


@dataclass(frozen=True, eq=False)
class GuessedUnits:
    """Persons, or other units, whose values are guessed: each kind of their records by one guess.

    Attributes
    ----------
    entries: of the kind and the true value of each record, shape (records,), int64.
    """

    groups: Groups
    owned: OwnedRecords
    entries: IntArray

    @property
    def number(self) -> int:
        """Number of units."""
        return self.owned.number

    @property
    def baseline(self) -> Share:
        """The success of guesses by the frequencies of each group, or of one value for everybody."""
        values = self.groups.entry_values[self.entries]
        return best_blind(self.success(self.groups.shares), self.owned.target, self.number, values)

    @cached_property
    def _pairs(self) -> tuple[IntArray, IntArray, IntArray]:
        """Pair of a member and a kind by record, kind of each pair, and one record for each of its values."""
        kind = self.groups.kind[self.entries]
        pairs, first = numbered([self.owned.members, kind], len(kind))
        return pairs, kind[first], numbered([pairs, self.entries], len(kind))[1]

    def success(self, chances: FloatArray) -> Share:
        """Return the share of units of whom a guess is true: the value of a record of the kind it is about.

        A tie of n is guessed with 1/n each, for each kind by itself; the share is exact where each unit has
        one kind of records.

        Parameters
        ----------
        chances: probability of each entry, shape (entries,).
        """
        pairs, kind, records = self._pairs
        best, ties = likeliest(self.groups, chances)
        right = count(pairs[records], best[self.entries[records]].astype(np.int64), len(kind))
        if len(kind) == self.number:
            return exact_sum(right, ties[kind]) / self.number
        found, _ = self.owned.found(pairs, (right / ties[kind])[pairs], once=False)
        return float(found.mean())

    def ranked(self, chances: FloatArray) -> Ranking:
        """Return the units by the probability that a guess about them is true, as ``success`` counts them."""
        pairs, kind, records = self._pairs
        best, ties = likeliest(self.groups, chances)
        right = count(pairs[records], best[self.entries[records]].astype(np.int64), len(kind))
        promised = best_chance(self.groups, chances)[kind]
        if len(kind) == self.number:
            return Ranking(promised, np.ones_like(right), right, ties[kind])
        sure, found = (
            self.owned.found(pairs, own[pairs], once=False)[0]
            for own in (np.minimum(promised, 1.0), right / ties[kind])
        )
        return Ranking.of(sure, found)


class FeatureSource(ABC):
    """A source of the features of records.

    Parameters
    ----------
    bins: most bins of a number.
    """

    def __init__(self, bins: int) -> None:
        self.bins = bins

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
    """The original values as features, numbers in bins."""

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
        return _view(adversary, names, own, sensitive, codings, people, by_link=True)

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
    return FeatureCoding(Feature(values), np.arange(values))


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
    *,
    by_link: bool = False,
) -> View:
    """Return records in the classes of a release.

    Parameters
    ----------
    names: of the quasi-identifiers that make up the classes.
    features: names of the attributes whose values are features.
    people: features, released row and number of each item, shapes (items, features), (items,) and (items,).
    by_link: whether the items are links.
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
    rows = classes.sensitive_codes(sensitive)
    return View(tuple(features), codings, groups, true, kind, by_link, rows)


class AnatomyFeatures(FeatureSource):
    """The published values of an Anatomy release as features, numbers in bins."""

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
            return View(tuple(names), codings, groups, None, kind)
        entries = groups.entries_of(kind[truth.rows], truth.values)
        if (entries < 0).any():
            name = grouped.groups[grouped.group[truth.rows[entries < 0][0]]]
            raise InputError(
                f"{grouped.source}: bucket {name} does not have the sensitive values of its "
                "original records; give the originals of this release"
            )
        true = count(entries, truth.counts, int(groups.first[-1]))
        return View(tuple(names), codings, groups, true, kind)

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
