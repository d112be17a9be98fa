"""Learning linkage weights by smooth surrogates and exact line searches.

A learner takes pairs of records and returns the weights that link most of them correctly. Surrogates of the
number of correct links are minimized by scipy; a line search finds the step along a direction at which most
records are linked correctly. Hundreds of records take a second or two.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from anonymizer.attacks.linkage.families import Family, WeightedMean
from anonymizer.attacks.linkage.pairs import TIE, Chosen, Pairs, Rows
from anonymizer.model.arrays import FloatArray

NARROW = 1e-9
"""Steps that differ by less than this are not told apart."""


def best_step(
    rows: Rows, margins: FloatArray, slopes: FloatArray, reach: tuple[float, float]
) -> tuple[float, int]:
    """Return the step and how many originals are right there.

    A margin grows linearly with the step, so that each original is right on an open interval; the middle of
    the widest stretch where most of these overlap is the step. With none, the step is 0.

    Parameters
    ----------
    margins: of the rows where the search begins, shape (rows,), float64.
    slopes: what a step of 1 adds to each, shape (rows,), float64.
    reach: the steps between which weights are allowed.
    """
    low, high = reach
    with np.errstate(divide="ignore", invalid="ignore"):
        roots = (TIE - margins) / slopes
    rising, falling = slopes > 0, slopes < 0
    never = ~rising & ~falling & (margins <= TIE)
    begins = np.where(rising, roots, np.where(never, np.inf, -np.inf))
    ends = np.where(falling, roots, np.inf)
    lower = np.maximum(np.maximum.reduceat(begins, rows.starts), low)
    upper = np.minimum(np.minimum.reduceat(ends, rows.starts), high)
    right = upper - lower > NARROW
    if not right.any():
        return 0.0, 0
    lower, upper = np.sort(lower[right]), np.sort(upper[right])
    points = np.unique(np.concatenate([lower, upper]))
    counts = np.searchsorted(lower, points[:-1], "right") - np.searchsorted(upper, points[:-1], "right")
    widths = np.diff(points)
    counts = np.where(widths > NARROW, counts, 0)
    most = int(counts.max(initial=0))
    if most == 0:
        return 0.0, 0
    best = int(np.argmax(np.where(counts == most, widths, -1.0)))
    return float(points[best] + points[best + 1]) / 2, most


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


@dataclass(frozen=True, eq=False)
class Fit:
    """The best weights that were found.

    Attributes
    ----------
    weights: allowed in the family, with total 1, shape (weights,), float64.
    right: originals that they link rightly; nearer to a masked record than to all others, ties not counted.
    bound: proven: no weights of the family link more rightly.
    """

    weights: FloatArray
    right: int
    bound: int

    @property
    def proven(self) -> bool:
        """Whether no weights of the family link more."""
        return self.right == self.bound


class Learner(ABC):
    """Looks for the weights of a family that link most originals rightly."""

    @abstractmethod
    def fit(self, pairs: Pairs, random: np.random.Generator) -> Fit:
        """Return the best weights found, at least as good as equal ones.

        Parameters
        ----------
        random: the source of all randomness.
        """


STEPS = 60
"""Iterations of the minimiser for each start."""
STEEP = 60.0
"""Largest exponent: beyond it, exp would add nothing to what a record loses."""


class Softmax:
    """The probability of the true record, when that of any masked record falls exponentially with distance.

    Parameters
    ----------
    rows: the gaps.
    family: their family; weights that its cone keeps from being negative by themselves stay so.
    """

    def __init__(self, rows: Rows, family: Family) -> None:
        self._rows, self._family = rows, family
        single = (np.count_nonzero(family.cone, axis=1) == 1) & (family.cone.max(axis=1, initial=0.0) > 0)
        held = np.unique(np.nonzero(family.cone[single])[1])
        self._bounds: list[tuple[float | None, None]] = [(None, None)] * len(family.members)
        for position in held:
            self._bounds[position] = (0.0, None)

    def _others(self, scaled: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the odds of each row against the true record, and of all rows of each original together."""
        odds = np.exp(np.clip(-(self._rows.gaps @ scaled), -STEEP, STEEP))
        return odds, np.add.reduceat(odds, self._rows.starts)

    def _spread(self, of_records: FloatArray) -> FloatArray:
        return of_records[self._rows.record]

    def _log_loss(self, scaled: FloatArray) -> tuple[float, FloatArray]:
        odds, sums = self._others(scaled)
        slope = -(odds / self._spread(1 + sums)) @ self._rows.gaps
        return float(np.log1p(sums).sum()), slope

    def _wrong(self, scaled: FloatArray) -> tuple[float, FloatArray]:
        odds, sums = self._others(scaled)
        slope = -(odds / self._spread((1 + sums) ** 2)) @ self._rows.gaps
        return float((sums / (1 + sums)).sum()), slope

    def log_likelihood(self, start: FloatArray) -> FloatArray:
        """Return weights, not scaled, of the most likely right links: a convex problem."""
        return self._minimise(self._log_loss, start)

    def expected_wrong(self, start: FloatArray) -> FloatArray:
        """Return weights, not scaled, of the fewest expected wrong links near a start."""
        return self._minimise(self._wrong, start)

    def _minimise(self, function: object, start: FloatArray) -> FloatArray:
        # Takes longer to import than most commands take.
        from scipy.optimize import minimize  # noqa: PLC0415

        found = minimize(
            function, start, jac=True, method="L-BFGS-B", bounds=self._bounds, options={"maxiter": STEPS}
        )
        weights: FloatArray = np.asarray(found.x, dtype=np.float64)
        return weights


PROBES = 12
"""Corners and random distances each, whose nearest masked records make the first rows."""
NEAR = 3
"""Masked records that each of these adds for each original."""
ROUNDS = 4
"""At most so often rows are added that the weights of the last round got wrong."""
SHARPNESS = (3.0, 30.0)
"""How fast the chance falls with distance where the surrogates start."""


class Fast(Learner):
    """Starts from the best of several distances, Euclid among them, and climbs by exact line searches.

    For a family that extends weighted means, the best weighted mean is found first and is one of the starts,
    so that no family ends below it, and none below Euclid. Deterministic for a seed: it counts its searches
    and never looks at the clock.

    Parameters
    ----------
    searches: line searches in each round.
    """

    def __init__(self, searches: int = 1000) -> None:
        self._searches = searches

    def fit(self, pairs: Pairs, random: np.random.Generator) -> Fit:
        """Return the best weights found; the bound is what is not hopeless."""
        starts = [pairs.family.equal()]
        if pairs.family.extends:
            simple = Pairs(pairs.original, pairs.masked, WeightedMean(pairs.family.attributes))
            starts.append(pairs.family.with_weighted_mean(self.fit(simple, random).weights))
        bound = pairs.records - int(pairs.hopeless().sum())
        counts = [int(pairs.right(weights).sum()) for weights in starts]
        best = int(np.argmax(counts))
        weights, right = starts[best], counts[best]
        if right >= bound:
            return Fit(weights, right, bound)
        chosen = probed(pairs, random, NEAR)
        for _ in range(ROUNDS):
            rows = chosen.rows()
            found, promised = self._climbed(rows, pairs.family, [*starts, weights], random)
            count = int(pairs.right(found).sum())
            if count > right:
                weights, right = found, count
            if count >= promised or right >= bound:
                break
            chosen.add_nearest(found[None], NEAR)
        return Fit(weights, right, bound)

    def _climbed(
        self, rows: Rows, family: Family, starts: list[FloatArray], random: np.random.Generator
    ) -> tuple[FloatArray, int]:
        """Return the best weights on some rows and how many originals they link rightly there."""
        climb = Climb(rows, family, random)
        for weights in starts:
            climb.consider(weights)
        surrogate = Softmax(rows, family)
        for sharpness in SHARPNESS:
            likely = surrogate.log_likelihood(climb.best * sharpness)
            for scaled in (likely, surrogate.expected_wrong(likely)):
                if float(family.total @ scaled) > 0:
                    climb.towards(scaled / float(family.total @ scaled))
        climb.run(self._searches)
        return climb.best, climb.count


def probed(pairs: Pairs, random: np.random.Generator, near: int) -> Chosen:
    """Return the pairs that are near under Euclid, some corners and some random distances.

    Parameters
    ----------
    near: masked records that each of these distances adds for each original.
    """
    family = pairs.family
    corners = family.corners()
    some = corners[np.sort(random.permutation(len(corners))[:PROBES])]
    chosen = Chosen(pairs)
    chosen.add_nearest(np.concatenate([family.equal()[None], some, family.samples(PROBES, random)]), near)
    return chosen
