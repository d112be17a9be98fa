"""Boosted trees that guess a sensitive value, trained on published labels and applied to original values.

What the labels stand for is drawn: each record of the release gets a value that its label covers, as frequent
as among the originals. The trees see the order of numbers, and of each attribute the evidence of naive Bayes
for each sensitive value, so that they add to it what attributes tell together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.attacks.boosting import Bins, Growth, Tree, grow
from anonymizer.attacks.coverage import expand_uniformly
from anonymizer.attacks.naive_bayes import NaiveBayes, largest_chance
from anonymizer.attacks.pace import step
from anonymizer.model.adversary import ValueCoverage
from anonymizer.model.arrays import FloatArray, IntArray

TREES = 40
"""Number of trees for each sensitive value."""

TAUGHT = 16_000
"""Maximum number of lessons, of a record and a sensitive value each."""

DRAWS = 2
"""Maximum number of draws of the values of each record."""

VALUES = 40
"""Maximum number of sensitive values that trees tell apart."""

GROWTH = Growth(depth=3, rate=0.15, damping=5.0, least=1.0, share=0.6)
"""Of all trees."""


class ValueDraws:
    """Draws original values of one attribute that published labels cover, by their frequency."""

    def __init__(self, meaning: ValueCoverage) -> None:
        parts = expand_uniformly(meaning)
        order = np.argsort(parts.texts, kind="stable")
        frequent = np.maximum(meaning.column.counts.astype(np.float64), 1.0)
        self._values = parts.values[order]
        self._upto = np.concatenate([[0.0], np.cumsum(frequent[self._values])])
        self._starts = np.searchsorted(parts.texts[order], np.arange(len(meaning.sizes) + 1))
        self._anything = frequent.cumsum()

    def drawn(self, labels: IntArray, random: np.random.Generator) -> IntArray:
        """Return a value for each label, shape (labels,), int64; any value for one that covers none."""
        share = random.random(len(labels))
        first, last = self._upto[self._starts[labels]], self._upto[self._starts[labels + 1]]
        place = np.searchsorted(self._upto, first + share * (last - first), side="right") - 1
        place = np.clip(place, self._starts[labels], np.maximum(self._starts[labels + 1] - 1, 0))
        anything = np.searchsorted(self._anything, share * self._anything[-1], side="right")
        known = self._starts[labels + 1] > self._starts[labels]
        own = self._values[np.minimum(place, len(self._values) - 1)] if len(self._values) else anything
        found: IntArray = np.where(known, own, np.minimum(anything, len(self._anything) - 1))
        return found


@dataclass(frozen=True, eq=False)
class Lessons:
    """The records of a release.

    Attributes
    ----------
    labels: of each distinct row, shape (rows, attributes), int64.
    values: its sensitive value, shape (rows,), int64.
    counts: records, shape (rows,), int64.
    """

    labels: IntArray
    values: IntArray
    counts: IntArray

    def without(self, rows: IntArray) -> Lessons:
        """Return the lessons without a record of each of some rows, shape (records,)."""
        gone = np.bincount(rows, minlength=len(self.counts))
        return Lessons(self.labels, self.values, self.counts - gone)


class BoostedValues:
    """The chance of each sensitive value given original values, by trees over the evidence of attributes.

    Source: Friedman, "Greedy function approximation: a gradient boosting machine" (Annals of Statistics 29,
    2001, doi:10.1214/aos/1013203451), for the loss of several values.

    Parameters
    ----------
    bayes: naive Bayes of the same lessons.
    random: draws values, and the attributes that each tree sees.
    """

    def __init__(
        self,
        lessons: Lessons,
        bayes: NaiveBayes,
        meanings: Sequence[ValueCoverage],
        random: np.random.Generator,
    ) -> None:
        self._bayes = bayes
        self._numbers = [
            position
            for position, meaning in enumerate(meanings)
            if meaning.column.numbers is not None and not np.isnan(meaning.column.numbers).all()
        ]
        present, number = np.unique(lessons.values[lessons.counts > 0]), int(lessons.counts.sum())
        self._values = present
        most = min(TAUGHT // max(len(present), 1), DRAWS * number)
        which = np.repeat(np.arange(len(lessons.counts)), lessons.counts)
        rows = which[random.permutation(np.arange(most) % max(number, 1))]
        draws = [
            ValueDraws(meaning).drawn(own, random)
            for meaning, own in zip(meanings, lessons.labels[rows].T, strict=True)
        ]
        self._bins: list[Bins] = []
        self._trees: list[list[Tree]] = [[] for _ in range(self._told_apart)]
        if len(rows) and len(present) > 1:
            self._learn(np.stack(draws, axis=1), np.searchsorted(present, lessons.values[rows]), random)

    def _learn(self, people: IntArray, values: IntArray, random: np.random.Generator) -> None:
        features = self._features(people)
        self._bins = [Bins.of(own) for own in features]
        codes = [bins.codes(own) for bins, own in zip(self._bins, features, strict=True)]
        truth = np.eye(len(self._values))[values]
        scores, loop = self._prior(len(people)), object()
        for number in range(TREES):
            step(loop, number, TREES)
            odds = np.exp(scores - scores.max(axis=1, keepdims=True))
            chances = odds / odds.sum(axis=1, keepdims=True)
            for place, own in enumerate(codes):
                chance = chances[:, place]
                tree, added = grow(own, truth[:, place] - chance, chance * (1 - chance), GROWTH, random)
                self._trees[place].append(tree)
                scores[:, place] += added

    @property
    def _told_apart(self) -> int:
        """Number of sensitive values that have trees: of two values, one speaks for both."""
        return 1 if len(self._values) == 2 else len(self._values)

    def _prior(self, people: int) -> FloatArray:
        return np.repeat(self._bayes.prior[None, self._values], people, axis=0)

    def _features(self, people: IntArray) -> list[FloatArray]:
        """Return the features for each sensitive value, shape (people, features) each."""
        evidence = np.stack(
            [own[people[:, place]][:, self._values] for place, own in enumerate(self._bayes.evidence)]
        )
        total = evidence.sum(axis=0) + self._bayes.prior[self._values]
        numbers = [people[:, place].astype(np.float64) for place in self._numbers]
        found = []
        for place in range(self._told_apart):
            others = np.delete(np.arange(len(self._values)), place)
            own = evidence[:, :, place] - evidence[:, :, others].mean(axis=2)
            lead = total[:, place] - total[:, others].max(axis=1)
            found.append(np.stack([*own, lead, *numbers], axis=1))
        return found

    def guesses(self, people: IntArray) -> IntArray:
        """Return the most likely sensitive value of each row, the first on a tie, shape (rows,), int64."""
        return self.guessed(people)[0]

    def guessed(self, people: IntArray) -> tuple[IntArray, FloatArray]:
        """Return the most likely sensitive value of each row, and its probability, shape (rows,) each."""
        if not self._bins:
            return self._bayes.guesses(people, 0.0), self._bayes.confidence(people, 0.0)
        scores = self._prior(len(people))
        features = self._features(people)
        for place, (bins, trees) in enumerate(zip(self._bins, self._trees, strict=True)):
            codes = bins.codes(features[place])
            for tree in trees:
                scores[:, place] += tree(codes)
        found: IntArray = self._values[scores.argmax(axis=1)]
        return found, largest_chance(scores)
