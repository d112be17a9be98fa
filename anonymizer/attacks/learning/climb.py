"""Better weights by exact line searches along many directions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from anonymizer.attacks.learning.family import Family
from anonymizer.attacks.learning.line_search import best_step
from anonymizer.attacks.learning.pairs import TIE
from anonymizer.attacks.learning.rows import Rows
from anonymizer.model.arrays import FloatArray

TRIES = 24
"""Directions of each kind in one round."""
JUMP = 0.3
"""Longest part of the way to random weights that a new start goes."""


class Climb:
    """Goes from weights to better ones, and starts anew around the best where no direction improves.

    Attributes
    ----------
    best: weights with most originals right on the rows, shape (weights,).
    count: how many.
    """

    def __init__(self, rows: Rows, family: Family, random: np.random.Generator) -> None:
        self._rows, self._family, self._random = rows, family, random
        self.best = family.equal()
        self.count = -1
        self._corners = family.corners()

    def consider(self, weights: FloatArray) -> int:
        """Keep weights when they are better than the best; return how many originals they link rightly."""
        count = int(self._rows.right(weights).sum())
        if count > self.count:
            self.best, self.count = weights, count
        return count

    def towards(self, target: FloatArray) -> None:
        """Search the line through the best weights and others, which need not be allowed."""
        self.best, self.count = self._step(self.best, self.count, target - self.best)

    def run(self, searches: int) -> None:
        """Make at least so many line searches, unless all originals are right before."""
        weights, count = self.best, self.count
        made = 0
        while made < searches and self.count < len(self._rows.starts):
            before = count
            for direction in self._directions(weights):
                weights, count = self._step(weights, count, direction)
                made += 1
            if count > self.count:
                self.best, self.count = weights, count
            if count <= before:
                weights = self._elsewhere()
                count = int(self._rows.right(weights).sum())

    def _elsewhere(self) -> FloatArray:
        other = self._family.samples(2, self._random)[self._random.integers(2)]
        elsewhere: FloatArray = self.best + JUMP * self._random.random() * (other - self.best)
        return elsewhere

    def _directions(self, weights: FloatArray) -> Iterator[FloatArray]:
        """Yield directions: towards corners, from one corner to another, and for records that are wrong."""
        corners = self._corners
        for corner in corners[self._random.permutation(len(corners))[:TRIES]]:
            yield corner - weights
        for _ in range(TRIES // 3):
            one, other = self._random.choice(len(corners), 2, replace=len(corners) < 2)
            yield corners[one] - corners[other]
        margins = self._rows.gaps @ weights
        wrong = np.flatnonzero(margins <= TIE)
        for row in self._random.permutation(wrong)[:TRIES]:
            yield self._rows.gaps[row]
        for sample in self._family.samples(TRIES // 3, self._random):
            yield sample - weights

    def _step(self, weights: FloatArray, count: int, direction: FloatArray) -> tuple[FloatArray, int]:
        """Return the best weights on a line and how many are right there; what was given if that is more."""
        family = self._family
        along = direction - float(family.total @ direction) * weights
        length = float(np.abs(along).max())
        if length < TIE:
            return weights, count
        along /= length
        margins, slopes = self._rows.gaps @ weights, self._rows.gaps @ along
        step, most = best_step(self._rows, margins, slopes, family.reach(weights, along))
        if most < count:
            return weights, count
        return family.allowed(weights + step * along), most
