"""Linking by a distance that was learned from records whose fate is known: the worst case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from anonymizer.attacks.learning.family import Family
from anonymizer.attacks.learning.learn import Learned, learn
from anonymizer.attacks.learning.learner import Learner
from anonymizer.attacks.linking.base import Distance, Linked, Linking
from anonymizer.attacks.linking.euclidean import Euclidean
from anonymizer.attacks.linking.gaps import standard_scale
from anonymizer.attacks.linking.nearest import NearestLinking, nearest, uncovered
from anonymizer.attacks.linking.space import ComparisonSpace
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray

PASSES = 100
"""How often all pairs are compared while weights are learned, about."""


class LearnedLinking(Linking):
    """Links with the nearest record by the weights of a family that link most of the targets rightly.

    The weights are learned on the very records that they link, so the share is what no intruder who has to
    guess the weights exceeds; the details tell what they are worth on records that were held out. A class
    that stands for an original is at distance 0 whatever the weights, so only what no class stands for
    leaves something to learn. Learned are the weights of attributes that are published as single numbers;
    where the equal weights of all attributes link more, these are taken.
    """

    name = "learned"

    def __init__(self, family: Callable[[int], Family], learner: Learner) -> None:
        self._family = family
        self._learner = learner

    def work(self, space: ComparisonSpace) -> int:
        """Return how many values are compared."""
        return PASSES * len(uncovered(space)) * space.cells + NearestLinking(Euclidean).work(space)

    def link(self, space: ComparisonSpace, random: np.random.Generator) -> Linked:
        """Learn, and link."""
        plain = nearest(Euclidean(space))
        equal = _share(space, plain)
        points = _points(space)
        if not points or equal == 1 or not len(uncovered(space)):
            return Linked(plain, {"learned": False, "equal_weights": equal})
        learned = self._learn(space, points, random)
        weighted = nearest(Weighted(space, points, learned))
        better = _share(space, weighted) > equal
        details = _details(space, points, learned) | {"learned": better, "equal_weights": equal}
        return Linked(weighted if better else plain, details)

    def _learn(self, space: ComparisonSpace, points: list[int], random: np.random.Generator) -> Learned:
        """Learn from the targets, each beside its own record, with the other records of the release after."""
        truth = space.truth
        originals, own = np.repeat(truth.original, truth.counts), np.repeat(truth.release, truth.counts)
        others = space.sizes - np.bincount(own, minlength=len(space.sizes))
        masked = np.concatenate([own, np.repeat(np.arange(len(others)), others)])
        left, right = zip(*(_scaled(space, position) for position in points), strict=True)
        return learn(
            np.column_stack(left)[originals],
            np.column_stack(right)[masked],
            self._family(len(points)),
            self._learner,
            random,
        )


class Weighted(Distance):
    """A learned distance.

    Parameters
    ----------
    points: positions of the attributes that it is of.
    """

    name = "weighted"
    # An attribute may have no weight, and products of differences may cancel.
    exact = False

    def __init__(self, space: ComparisonSpace, points: list[int], learned: Learned) -> None:
        super().__init__(space)
        self._points = points
        self._learned = learned

    @property
    def width(self) -> int:
        """Numbers that are held for each pair."""
        return len(self._points) + len(self._learned.fit.weights)

    def rows(self, originals: IntArray) -> FloatArray:
        """Return the distances."""
        stacked = np.stack([self.differences(position, originals) for position in self._points], axis=-1)
        features = self._learned.family.features(stacked / self._learned.units)
        distances: FloatArray = features @ self._learned.fit.weights
        return distances


def _points(space: ComparisonSpace) -> list[int]:
    """Return the positions of the attributes of which every compared value is a single number."""
    return [position for position in range(len(space.meanings)) if _single(space, position).all()]


def _single(space: ComparisonSpace, position: int) -> BoolArray:
    meaning = space.meanings[position]
    if meaning.column.numbers is None:
        return np.zeros(1, dtype=bool)
    texts = space.classes[:, position]
    published: BoolArray = meaning.low[texts] == meaning.high[texts]
    return np.append(published, ~np.isnan(meaning.column.numbers[space.originals[:, position]]))


def _scaled(space: ComparisonSpace, position: int) -> tuple[FloatArray, FloatArray]:
    """Return the numbers of the originals and of the classes in standard deviations."""
    meaning = space.meanings[position]
    assert meaning.column.numbers is not None, "points are numbers"
    scale = standard_scale(meaning.column)
    return (
        scale(meaning.column.numbers)[space.originals[:, position]],
        scale(meaning.low)[space.classes[:, position]],
    )


def _share(space: ComparisonSpace, right: FloatArray) -> float:
    return float(right @ space.truth.counts) / space.truth.records


def _details(space: ComparisonSpace, points: list[int], learned: Learned) -> dict[str, Any]:
    names = [space.names[position] for position in points]
    return {
        "in_sample": learned.success,
        "bound": learned.bound,
        "held_out": None if learned.held_out is None else asdict(learned.held_out),
        "weights": learned.parameters(names),
        "importance": learned.importance(names),
        "not_compared": [name for name in space.names if name not in names],
    }
