"""What the attack sees of a scene: people in groups, their features, and, to judge it, their true values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.attacks.base import AdversaryView
from anonymizer.attacks.exchangeable.bins import FeatureCoding, compared, discretize
from anonymizer.attacks.exchangeable.features import ExactFeature
from anonymizer.attacks.exchangeable.groups import Groups, groups_of
from anonymizer.model.adversary import Original
from anonymizer.model.arrays import IntArray
from anonymizer.model.counting import count


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
