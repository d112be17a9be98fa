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
import scipy

from anonymizer.attacks.linkage.families import Family, WeightedMean
from anonymizer.attacks.linkage.pairs import SMALL, TIE, Chosen, Pairs, Rows
from anonymizer.attacks.pace import step
from anonymizer.model.arrays import FloatArray

NARROW = 1e-9
"""Narrower intervals of steps are ignored."""


def best_step(
    rows: Rows, margins: FloatArray, slopes: FloatArray, reach: tuple[float, float]
) -> tuple[float, float]:
    """Return the best step along a direction and the expected number of correct links there.

    Margins are linear in the step, so no class is nearer than the true one on an interval. The step is the
    middle of the widest stretch where the intervals are worth most, 0 without any. Ties all along the line
    count, ties at single steps do not.

    Parameters
    ----------
    margins: of the rows at step 0, shape (rows,), float64.
    slopes: change of each margin per unit step, shape (rows,), float64.
    reach: the smallest and the largest step with allowed weights.
    """
    low, high = reach
    rising, falling = slopes > TIE, slopes < -TIE
    level = ~rising & ~falling
    with np.errstate(divide="ignore", invalid="ignore"):
        roots = -margins / slopes
    begins = np.where(rising, roots, np.where(level & (margins < -TIE), np.inf, -np.inf))
    ends = np.where(falling, roots, np.inf)
    lower = np.maximum(np.maximum.reduceat(begins, rows.starts), low)
    upper = np.minimum(np.minimum.reduceat(ends, rows.starts), high)
    values = rows.sharing(level & (margins <= TIE))
    right = (upper - lower > NARROW) & (values > 0)
    if not right.any():
        return 0.0, 0.0
    lower, upper, values = lower[right], upper[right], values[right]
    points = np.unique(np.concatenate([lower, upper]))
    worth = _worth(lower, values, points[:-1]) - _worth(upper, values, points[:-1])
    widths = np.diff(points)
    worth = np.where(widths > NARROW, worth, 0.0)
    most = float(worth.max(initial=0.0))
    if most <= SMALL:
        return 0.0, 0.0
    best = int(np.argmax(np.where(worth >= most - SMALL, widths, -1.0)))
    return float(points[best] + points[best + 1]) / 2, most


def _worth(ends: FloatArray, values: FloatArray, points: FloatArray) -> FloatArray:
    """Return the sum of the values whose ends are at most each point."""
    order = np.argsort(ends)
    sums = np.concatenate([[0.0], np.cumsum(values[order])])
    return sums[np.searchsorted(ends[order], points, "right")]


TRIES = 24
"""Maximum number of directions of each kind in a round."""
JUMP = 0.3
"""Largest share of the way to random weights at a restart."""


class Climb:
    """A local search over weights; it restarts near the best if no direction improves.

    Attributes
    ----------
    rows, family: as given.
    best: weights with the most correct links on the rows, shape (weights,).
    count: their expected number of correct links.
    """

    def __init__(self, rows: Rows, family: Family, random: np.random.Generator) -> None:
        self.rows, self.family, self._random = rows, family, random
        self.best = family.equal()
        self.count = -1.0
        self._most = float(rows.sharing(np.zeros(len(rows.target), dtype=bool)).sum())
        self._corners = family.corners()

    def consider(self, weights: FloatArray) -> float:
        """Replace the best weights if these are better; return the correct links of these."""
        count = self.rows.right(weights)
        if count > self.count + SMALL:
            self.best, self.count = weights, count
        return count

    def towards(self, target: FloatArray) -> None:
        """Search the line through the best weights and a target, which need not be allowed."""
        self.best, self.count = self._step(self.best, self.count, target - self.best)

    def run(self, searches: int) -> None:
        """Do at least so many line searches; stop early if all targets are linked correctly."""
        weights, count = self.best, self.count
        made = 0
        while made < searches and self.count < self._most - SMALL:
            step(self, made, searches, at_most=True)
            before = count
            for direction in self._directions(weights):
                weights, count = self._step(weights, count, direction)
                made += 1
            if count > self.count + SMALL:
                self.best, self.count = weights, count
            if count <= before + SMALL:
                weights = self._elsewhere()
                count = self.rows.right(weights)

    def _elsewhere(self) -> FloatArray:
        other = self.family.samples(2, self._random)[self._random.integers(2)]
        elsewhere: FloatArray = self.best + JUMP * self._random.random() * (other - self.best)
        return elsewhere

    def _directions(self, weights: FloatArray) -> Iterator[FloatArray]:
        """Yield directions: to corners, between corners, by wrong rows and to random weights."""
        corners = self._corners
        for corner in corners[self._random.permutation(len(corners))[:TRIES]]:
            yield corner - weights
        for _ in range(TRIES // 3):
            one, other = self._random.choice(len(corners), 2, replace=len(corners) < 2)
            yield corners[one] - corners[other]
        margins = self.rows.gaps @ weights
        wrong = np.flatnonzero(margins <= TIE)
        for row in self._random.permutation(wrong)[:TRIES]:
            yield self.rows.gaps[row]
        for sample in self.family.samples(TRIES // 3, self._random):
            yield sample - weights

    def _step(self, weights: FloatArray, count: float, direction: FloatArray) -> tuple[FloatArray, float]:
        """Return the best weights on a line with their correct links, or the given ones if better."""
        family = self.family
        along = direction - float(family.total @ direction) * weights
        length = float(np.abs(along).max())
        if length < TIE:
            return weights, count
        along /= length
        margins, slopes = self.rows.gaps @ weights, self.rows.gaps @ along
        step, most = best_step(self.rows, margins, slopes, family.reach(weights, along))
        if most < count - SMALL:
            return weights, count
        return family.allowed(weights + step * along), most


PROVEN = 1.5e-4
"""Expected correct links up to which a bound is reached."""


@dataclass(frozen=True, eq=False)
class Fit:
    """The best weights found.

    Attributes
    ----------
    weights: allowed in the family, with total 1, shape (weights,), float64.
    right: expected number of correct links.
    bound: proven maximum of it for all weights of the family.
    """

    weights: FloatArray
    right: float
    bound: float

    @property
    def proven(self) -> bool:
        """Whether the weights are optimal in the family."""
        return self.bound - self.right <= PROVEN


class Learner(ABC):
    """Searches the weights of a family with the most correct links."""

    @abstractmethod
    def fit(self, pairs: Pairs, random: np.random.Generator) -> Fit:
        """Return the best weights found, at least as good as equal weights.

        Parameters
        ----------
        random: the source of all randomness.
        """


STEPS = 60
"""Iterations of the minimizer for each start."""
STEEP = 60.0
"""Maximum absolute exponent; larger ones do not change the loss."""


class Softmax:
    """Smooth surrogates: the probability of a link decreases exponentially with distance.

    Parameters
    ----------
    family: of the gaps; weights that its cone requires to be nonnegative remain so.
    """

    def __init__(self, rows: Rows, family: Family) -> None:
        self._rows, self._family = rows, family
        self._values = rows.worth / rows.own
        single = (np.count_nonzero(family.cone, axis=1) == 1) & (family.cone.max(axis=1, initial=0.0) > 0)
        held = np.unique(np.nonzero(family.cone[single])[1])
        self._bounds: list[tuple[float | None, None]] = [(None, None)] * len(family.members)
        for position in held:
            self._bounds[position] = (0.0, None)

    def _others(self, scaled: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the odds of each row against the true class, and their sum for each target."""
        odds = np.exp(np.clip(-(self._rows.gaps @ scaled), -STEEP, STEEP))
        return odds, np.add.reduceat(odds, self._rows.starts)

    def _spread(self, of_targets: FloatArray) -> FloatArray:
        return of_targets[self._rows.target]

    def _log_loss(self, scaled: FloatArray) -> tuple[float, FloatArray]:
        odds, sums = self._others(scaled)
        slope = -(odds * self._spread(self._values / (1 + sums))) @ self._rows.gaps
        return float(self._values @ np.log1p(sums)), slope

    def _wrong(self, scaled: FloatArray) -> tuple[float, FloatArray]:
        odds, sums = self._others(scaled)
        slope = -(odds * self._spread(self._values / (1 + sums) ** 2)) @ self._rows.gaps
        return float(self._values @ (sums / (1 + sums))), slope

    def log_likelihood(self, start: FloatArray) -> FloatArray:
        """Return unscaled weights of maximum likelihood, a convex problem."""
        return self._minimize(self._log_loss, start)

    def expected_wrong(self, start: FloatArray) -> FloatArray:
        """Return unscaled weights with a local minimum of expected wrong links near a start."""
        return self._minimize(self._wrong, start)

    def _minimize(self, function: object, start: FloatArray) -> FloatArray:
        # Takes longer to import than most commands take.

        found = scipy.optimize.minimize(
            function, start, jac=True, method="L-BFGS-B", bounds=self._bounds, options={"maxiter": STEPS}
        )
        return np.asarray(found.x, dtype=np.float64)


PROBES = 12
"""Number of corners, and of random distances, whose nearest classes are the first rows."""
NEAR = 3
"""Classes that each of these adds for each target."""
ROUNDS = 4
"""Maximum number of rounds that add rows which the last weights link wrongly."""
SHARPNESS = (3.0, 30.0)
"""Initial rates of decrease of the surrogates."""


SAMPLE = 2000
"""Targets from which the first weights are learned; with more, these are improved on all."""
FEWER = 20
"""The searches on all targets are the number on the sample by this, as each takes longer."""


class Fast(Learner):
    """Starts from the best of several distances, including Euclid's, and improves by exact line searches.

    For a family that extends weighted means, the best weighted mean is a start too. No result is worse than
    the starts. The learner is deterministic for a seed, as it has a number of searches but no time limit.
    With more than ``SAMPLE`` targets, it learns on a random sample of them, and improves on all.

    Parameters
    ----------
    searches: line searches in each round.
    """

    def __init__(self, searches: int = 1000) -> None:
        self._searches = searches

    def fit(self, pairs: Pairs, random: np.random.Generator) -> Fit:
        """Return the best weights found; the bound is the sum of what each target is worth at best."""
        family, few = pairs.family, pairs.number <= SAMPLE
        starts = [family.equal()]
        if not few:
            some = np.sort(random.choice(pairs.number, SAMPLE, replace=False))
            starts.append(self.fit(Pairs(pairs.targets.only(some), family), random).weights)
        elif family.extends:
            simple = Pairs(pairs.targets, WeightedMean(family.attributes))
            starts.append(family.with_weighted_mean(self.fit(simple, random).weights))
        bound = float((pairs.targets.worth / pairs.caps()).sum())
        counts = [pairs.right(weights) for weights in starts]
        best = int(np.argmax(counts))
        weights, right = starts[best], counts[best]
        if right >= bound - SMALL:
            return Fit(weights, right, right)
        if few:
            chosen = probed(pairs, random, NEAR)
        else:
            chosen = Chosen(pairs)
            chosen.add_nearest(np.stack(starts), NEAR)
        for _ in range(ROUNDS):
            climb = Climb(chosen.rows(), family, random)
            for each in (*starts, weights):
                climb.consider(each)
            if few:
                self._approach(climb)
            climb.run(self._searches if few else self._searches // FEWER)
            count = pairs.right(climb.best)
            if count > right + SMALL:
                weights, right = climb.best, count
            if count >= climb.count - SMALL or right >= bound - SMALL:
                break
            chosen.add_nearest(climb.best[None], NEAR)
        return Fit(weights, right, max(bound, right))

    @staticmethod
    def _approach(climb: Climb) -> None:
        """Consider extreme weights, and those with the best surrogates."""
        for weights in climb.family.corners()[:PROBES]:
            climb.consider(weights)
        surrogate = Softmax(climb.rows, climb.family)
        for sharpness in SHARPNESS:
            likely = surrogate.log_likelihood(climb.best * sharpness)
            for scaled in (likely, surrogate.expected_wrong(likely)):
                total = float(climb.family.total @ scaled)
                if total > 0:
                    climb.towards(scaled / total)


def probed(pairs: Pairs, random: np.random.Generator, near: int) -> Chosen:
    """Return the nearest pairs under Euclid's, some extreme and some random distances.

    Parameters
    ----------
    near: classes that each of these distances adds for each target.
    """
    family = pairs.family
    corners = family.corners()
    some = corners[np.sort(random.permutation(len(corners))[:PROBES])]
    chosen = Chosen(pairs)
    chosen.add_nearest(np.concatenate([family.equal()[None], some, family.samples(PROBES, random)]), near)
    return chosen
