"""The transformations of the lattice that may still be optimal, with bounds on their objectives.

A lattice too large for one array is cut into boxes, which are opened in the order of their bounds. The next
transformation is the one whose evaluation is likely to decide most others. Only the order of evaluation
depends on these estimates; proofs do not.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, reduce
from math import exp, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.loss.base import LatticeLoss
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray, joined_by
from anonymizer.model.recoding import Outcome, Recoding, Status
from anonymizer.model.table import QuasiIdentifier, Table
from anonymizer.search.base import Control, Progress, SearchRun

Levels = tuple[int, ...]
Combine = Callable[[Sequence[FloatArray]], FloatArray]


class Frontier:
    """Lower bounds on the objectives of the transformations of a box, raised by evaluations.

    One that is ruled out has an infinite bound. The box shrinks if the remaining ones allow it.

    Parameters
    ----------
    floors: bounds that hold before anything is counted, one axis per attribute.
    lowest: lowest levels of the box.
    fixed: highest level of each attribute whose level the box fixes, by its place.

    Attributes
    ----------
    bounds: of each transformation, of the shape of the box.
    floors: the bounds at the start, of the same shape.
    evaluated: which transformations were evaluated, of the same shape.
    cutoff: transformations whose bounds are not below it are closed.
    """

    def __init__(self, floors: FloatArray, lowest: Levels, fixed: Mapping[int, int] | None = None) -> None:
        self.floors = floors
        self.fixed = {} if fixed is None else fixed
        self.bounds = floors.copy()
        self.evaluated: BoolArray = np.zeros(floors.shape, dtype=bool)
        self.lowest = lowest
        self.cutoff = np.inf

    @property
    def highest(self) -> Levels:
        """Highest levels of the box."""
        return tuple(low + size - 1 for low, size in zip(self.lowest, self.bounds.shape, strict=True))

    @property
    def open(self) -> BoolArray:
        """Transformations that may still be better than the incumbent."""
        return self.bounds < self.cutoff

    def minimum(self) -> float:
        """Return the lowest open bound, infinite if none is open."""
        lowest = float(self.bounds.min(initial=np.inf))
        return lowest if lowest < self.cutoff else np.inf

    def at(self, place: int) -> Levels:
        """Return the levels at a place of the flat box."""
        return self.levels(np.unravel_index(place, self.bounds.shape))

    def is_open(self, levels: Levels) -> bool:
        """Return whether a transformation is in the box and may still be better than the incumbent."""
        return self.contains(levels) and bool(self.bounds[self._index(levels)] < self.cutoff)

    def coarsest_last(self, order: Sequence[int]) -> list[Levels]:
        """Return the open transformations by the levels of attributes in an order, the highest last.

        None is at or below one that comes before it.
        """
        index = np.unravel_index(np.flatnonzero(self.open), self.bounds.shape)
        by_levels = np.lexsort([index[place] for place in reversed(order)])
        return list(map(tuple, (np.array(index).T[by_levels] + np.array(self.lowest)).tolist()))

    def levels(self, index: Sequence[int] | Sequence[np.intp] | IntArray) -> Levels:
        """Return the levels at an index of the box."""
        return tuple(int(low + i) for low, i in zip(self.lowest, index, strict=True))

    def _index(self, levels: Levels) -> Levels:
        return tuple([level - low for level, low in zip(levels, self.lowest, strict=True)])

    def _below(self, levels: Levels) -> tuple[slice, ...]:
        return tuple(slice(0, max(i + 1, 0)) for i in self._index(levels))

    def contains(self, levels: Levels) -> bool:
        """Return whether a transformation is in the box."""
        sides = zip(levels, self.lowest, self.bounds.shape, strict=True)
        return all(0 <= level - low < size for level, low, size in sides)

    def mark(self, levels: Levels) -> None:
        """Mark a transformation as evaluated."""
        if self.contains(levels):
            self.evaluated[self._index(levels)] = True
            self.bounds[self._index(levels)] = np.inf

    def mark_each(self, levels: IntArray) -> None:
        """Mark those of several transformations that are in the box, shape (transformations, attributes)."""
        inside = levels[((levels >= self.lowest) & (levels <= self.highest)).all(axis=1)]
        if len(inside):
            places = np.ravel_multi_index(tuple((inside - self.lowest).T), self.bounds.shape)
            self.evaluated.ravel()[places] = True
            self.bounds.ravel()[places] = np.inf

    def bound(self, levels: Levels) -> float:
        """Return the bound of a transformation; infinite outside the box."""
        return float(self.bounds[self._index(levels)]) if self.contains(levels) else np.inf

    def was_evaluated(self, levels: Levels) -> bool:
        """Return whether a transformation of the box was evaluated."""
        return bool(self.evaluated[self._index(levels)])

    def rule_out_below(self, levels: Levels) -> None:
        """Rule out all transformations at or below these levels."""
        self.bounds[self._below(levels)] = np.inf

    def rule_out_below_each(self, levels: IntArray) -> None:
        """Rule out all transformations at or below any of several, shape (transformations, attributes)."""
        lowest, shape = np.array(self.lowest, dtype=np.int64), self.bounds.shape
        places = np.minimum(levels - lowest, np.array(shape, dtype=np.int64) - 1)
        places = places[(places >= 0).all(axis=1)]
        if not len(places):
            return
        # Masks index at most 32 axes, so that lattices of more columns are looked at as vectors.
        below = np.zeros(self.bounds.size, dtype=np.bool_)
        below[np.ravel_multi_index(tuple(places.T), shape)] = True
        after = below.size
        for size in shape:
            after //= size
            view = below.reshape(-1, size, after)
            for i in range(size - 1, 0, -1):
                view[:, i - 1] |= view[:, i]
        self.bounds.ravel()[below] = np.inf

    def raise_below(
        self, levels: Levels, parts: Sequence[FloatArray], lowest: Levels, combine: Combine
    ) -> None:
        """Raise the bounds at or below some levels, as far as they are known.

        Parameters
        ----------
        parts: per attribute, parts of the bound from ``lowest`` up to ``levels``.
        combine: joins one vector of parts per attribute to the bounds of a box.
        """
        window, known = [], []
        for axis, part in enumerate(parts):
            start = max(lowest[axis], self.lowest[axis])
            stop = min(levels[axis], self.lowest[axis] + self.bounds.shape[axis] - 1) + 1
            if start >= stop:
                return
            window.append(slice(start - self.lowest[axis], stop - self.lowest[axis]))
            known.append(part[start - lowest[axis] : stop - lowest[axis]])
        box = self.bounds[tuple(window)]
        if (box < self.cutoff).any():
            np.maximum(box, combine(known), out=box)

    def raise_above(self, levels: Levels, bound: float) -> None:
        """Raise the bounds at or above some levels."""
        box = self.bounds[tuple(slice(max(i, 0), None) for i in self._index(levels))]
        np.maximum(box, bound, out=box)

    def cut(self, best: float, rounding: float) -> None:
        """Close transformations that are not better than the incumbent.

        Parameters
        ----------
        rounding: relative error of bounds and objectives; smaller differences do not count.
        """
        self.cutoff = best - rounding * max(1.0, abs(best)) if np.isfinite(best) else best

    def shrink(self, *, high: bool = False) -> bool:
        """Cut slices without open transformations off the low ends of the box; return whether there were any.

        Parameters
        ----------
        high: whether to cut them off the high ends too. A transformation above all open ones can rule out
            others without being a candidate, but no more of them than the one at their highest levels.
        """
        shape, places = self.bounds.shape, np.flatnonzero(self.open)
        if not len(places):
            return False
        index = np.unravel_index(places, shape)
        starts = [int(own.min()) for own in index]
        stops = [int(own.max()) + 1 for own in index] if high else shape
        window = [slice(start, stop) for start, stop in zip(starts, stops, strict=True)]
        if all(stop - start == size for start, stop, size in zip(starts, stops, shape, strict=True)):
            return False
        self.bounds = np.ascontiguousarray(self.bounds[tuple(window)])
        self.floors = np.ascontiguousarray(self.floors[tuple(window)])
        self.evaluated = np.ascontiguousarray(self.evaluated[tuple(window)])
        self.lowest = tuple(low + start for low, start in zip(self.lowest, starts, strict=True))
        return True


SLICES = 4
"""Classes of difficulty with which a search evaluates fewest transformations."""


NEXT = 16
"""Transformations chosen at once where single evaluations hardly change the choice."""

QUEUED, RENEWED, AGED = 16, 0.4, 8
"""In lattices of many boxes, so many of the transformations that settle most are kept when all are scored.
All are scored again when none of these settles this share of what the first did, or so many were chosen."""

RECENT = 200
"""Evaluations that tell how far the estimates are off."""


class Surrogate:
    """Estimates the lost records of a transformation from the entropies of its attributes.

    The logarithm of the odds of being lost is close to linear in the entropies that the attributes have at
    their levels: ridge regression around slope 1, the value for independent attributes.
    """

    def __init__(self, entropies: Sequence[FloatArray], records: int, typical_size: int) -> None:
        self._entropies = entropies
        self._records = records
        prior = np.ones(len(entropies) + 1)
        prior[0] = -np.log(max(records, 2) / typical_size)
        self._prior = prior
        self._matrix = np.diag(np.array([0.05] + [4.0] * len(entropies)))
        self._moments = np.zeros(len(prior))
        # The last rows and targets, in one piece that moves to the front when it reaches the end.
        self._rows = np.empty((2 * RECENT, len(prior)))
        self._targets = np.empty(2 * RECENT)
        self._end = 0
        self._weights = prior
        self.spread = 1.5

    def log_odds(self, lost: FloatArray | float) -> FloatArray:
        """Return the log odds of being lost for a number of lost records."""
        return np.log((lost + 0.5) / (np.maximum(self._records - lost, 0) + 0.5))

    def learn(self, levels: Levels, lost: int) -> None:
        """Learn the number of records lost at a transformation."""
        row = np.array([1.0, *(own[level] for own, level in zip(self._entropies, levels, strict=True))])
        target = float(self.log_odds(lost))
        if self._end == len(self._rows):
            self._rows[:RECENT], self._targets[:RECENT] = self._rows[RECENT:], self._targets[RECENT:]
            self._end = RECENT
        self._rows[self._end], self._targets[self._end] = row, target
        self._end += 1
        recent = slice(max(self._end - RECENT, 0), self._end)
        self._matrix += np.outer(row, row)
        self._moments += row * (target - row @ self._prior)
        self._weights = self._prior + np.linalg.solve(self._matrix, self._moments)
        residuals = self._targets[recent] - self._rows[recent] @ self._weights
        self.spread = max(0.3, float(np.sqrt(np.add.reduce(residuals**2) / len(residuals))))

    def at(self, levels: Levels) -> float:
        """Return the estimated log odds of a transformation."""
        own = zip(self._weights[1:].tolist(), self._entropies, levels, strict=True)
        return float(self._weights[0] + sum(weight * entropies[level] for weight, entropies, level in own))

    def rise(self, place: int, level: int) -> float:
        """Return how much a level more of an attribute adds to the estimated log odds."""
        own = self._entropies[place]
        return float(self._weights[place + 1] * (own[level + 1] - own[level]))

    def guess(self, lowest: Levels, shape: tuple[int, ...]) -> FloatArray:
        """Return the estimated log odds in a box, one axis per attribute."""
        parts = [
            weight * own[low : low + size]
            for weight, own, low, size in zip(self._weights[1:], self._entropies, lowest, shape, strict=True)
        ]
        parts[0] = parts[0] + self._weights[0]
        return joined_by(np.add, parts)


Settles = Callable[[float], float]
"""Estimates from its log odds of certain losses how many transformations of the box one settles."""


def _settles(edges: FloatArray, numbers: NDArray[Any], spread: float) -> Settles:
    """Return the estimate for a transformation from the open ones below it, of each class of difficulty."""
    below = [(edge, float(number)) for edge, number in zip(edges.tolist(), numbers, strict=True) if number]

    def settles(odds: float) -> float:
        return sum(number / (1 + exp(min((edge - odds) / spread, STEEPEST))) for edge, number in below)

    return settles


class _Queue:
    """The transformations of a box that settled most when all were scored; each is scored again by itself.

    The score of one hardly ever rises, so that the first whose new score is above the old ones of all others
    settles most. The first of all was chosen when they were scored.

    Parameters
    ----------
    scores: by place of the flat box.
    classes: class of difficulty of each open transformation, shape (open,), by the edges of the classes.
    """

    def __init__(self, frontier: Frontier, scores: FloatArray, classes: IntArray, edges: FloatArray) -> None:
        self._frontier, self._edges, self._classes = frontier, edges, classes
        self._open, self._taken = np.flatnonzero(frontier.open), 1
        least = np.partition(scores, -QUEUED)[-QUEUED] if len(scores) > QUEUED else 0.0
        places = np.flatnonzero(scores >= least)
        places = places[_first(-scores[places], QUEUED)]
        first = zip(scores[places].tolist(), places.tolist(), strict=True)
        self._heap = [(-score, frontier.at(place)) for score, place in first]
        self._least = RENEWED * float(scores[places[0]])
        self._put()

    def _put(self) -> None:
        """Note where in the box the open transformations are, and which are at or below each level."""
        self._bounds = self._frontier.bounds
        index = np.array(np.unravel_index(self._open, self._bounds.shape))
        self._levels = index + np.array(self._frontier.lowest)[:, None]
        self._below = [
            [own <= level for level in range(size - 1)]
            for own, size in zip(index, self._bounds.shape, strict=True)
        ]

    def _follow(self) -> None:
        """Follow the box after it shrank."""
        low, high = (np.array(own)[:, None] for own in (self._frontier.lowest, self._frontier.highest))
        inside = ((self._levels >= low) & (self._levels <= high)).all(axis=0)
        self._classes = self._classes[inside]
        index = self._levels[:, inside] - low
        self._open = np.ravel_multi_index(tuple(index), self._frontier.bounds.shape)
        self._put()

    def next(self, frontier: Frontier, certain: Surrogate) -> tuple[Levels, Settles] | None:
        """Return the transformation to evaluate, and what it settles; None if all should be scored again."""
        if self._taken >= AGED or frontier is not self._frontier:
            return None
        if frontier.bounds is not self._bounds:
            self._follow()
        still = frontier.bounds.ravel()[self._open] < frontier.cutoff
        while self._heap:
            levels = heapq.heappop(self._heap)[1]
            if not frontier.contains(levels) or frontier.was_evaluated(levels):
                continue
            below = still
            for own, level, low in zip(self._below, levels, frontier.lowest, strict=True):
                if level - low < len(own):
                    below = below & own[level - low]
            numbers = np.bincount(self._classes[below], minlength=len(self._edges))
            settles = _settles(self._edges, numbers, certain.spread / 2)
            score = settles(certain.at(levels))
            if score < self._least:
                continue
            heapq.heappush(self._heap, (-score, levels))
            if self._heap[0][1] == levels:
                self._taken += 1
                return levels, settles
        return None


class Guide:
    """Chooses transformations: first those likely to be better, then those that rule out most others.

    Parameters
    ----------
    limit: most records that may be suppressed.
    loss: to minimise.
    typical_size: a class size that probably satisfies the constraints.
    shared: whether certain losses are all losses, so that one surrogate serves both.
    slices: classes of difficulty into which open transformations are sorted to estimate coverage.

    Attributes
    ----------
    promising: whether the last choice is expected to be better than the incumbent.
    """

    def __init__(
        self,
        table: Table,
        limit: int,
        loss: LatticeLoss,
        typical_size: int,
        *,
        shared: bool,
        slices: int = SLICES,
    ) -> None:
        entropies = [level_entropies(attribute) for attribute in table.quasi_identifiers]
        self._records = table.records
        self._limit = limit
        self._loss = loss
        self._slices = slices
        self._lost = Surrogate(entropies, table.records, typical_size)
        self._certain = self._lost if shared else Surrogate(entropies, table.records, typical_size)
        # The best of the last choice that are not evaluated yet, the best one last.
        self._next: list[Levels] = []
        self.promising = True
        self._queue: _Queue | None = None
        # What the last floors and incumbent needed: incumbents change rarely.
        self._last: tuple[FloatArray, float, FloatArray] = (np.empty(0), np.inf, np.empty(0))

    def learn(self, levels: Levels, lost: int, certain: int | None) -> None:
        """Learn the records suppressed at a transformation, and its certain losses if they are known."""
        self._lost.learn(levels, lost)
        if self._certain is not self._lost and certain is not None:
            self._certain.learn(levels, certain)

    def choose(
        self, frontier: Frontier, best: float, known: Container[Levels] = (), *, many: bool = False
    ) -> Levels:
        """Return the transformation to evaluate next; the frontier has an open one.

        Parameters
        ----------
        known: transformations that were evaluated.
        many: whether the next ones may be chosen with it, as one evaluation hardly changes the choice.
        """
        while many and self._next:
            if frontier.is_open(levels := self._next.pop()):
                return levels
        queue, self._queue = self._queue, None
        if queue is not None and (found := queue.next(frontier, self._certain)):
            self._queue = queue
            return self._lifted(frontier, found[0], self._certain.at(found[0]), found[1], known)
        shape, most = frontier.bounds.shape, NEXT if many else 1
        lost = self._lost.guess(frontier.lowest, shape)
        places = self._promising(frontier, lost, best, most)
        self.promising = bool(len(places))
        if self.promising:
            chosen, *further = [frontier.at(place) for place in places.tolist()]
        else:
            certain = lost
            if self._certain is not self._lost:
                certain = self._certain.guess(frontier.lowest, shape)
            places, settles = self._covering(frontier, certain, best, most)
            chosen, *further = [frontier.at(place) for place in places.tolist()]
            chosen = self._lifted(frontier, chosen, float(certain.ravel()[places[0]]), settles, known)
        self._next = further[::-1]
        return chosen

    def _promising(self, frontier: Frontier, lost: FloatArray, best: float, most: int) -> IntArray:
        """Return the open places of lowest estimated objectives, if these are below the incumbent's."""
        allowed = self._lost.log_odds(float(self._limit)) + 1e-9
        places = np.flatnonzero((lost <= allowed) & frontier.open)
        if not len(places):
            return places
        share = 1 / (1 + np.exp(-lost.ravel()[places]))
        expected = self._loss.expected(frontier.floors.ravel()[places], share)
        guessed = np.maximum(expected, frontier.bounds.ravel()[places])
        order = _first(guessed, most)
        return places[order[guessed[order] < best]]

    def _lifted(
        self,
        frontier: Frontier,
        start: Levels,
        certain: float,
        settles: Settles,
        known: Container[Levels],
    ) -> Levels:
        """Raise levels that the box fixes while that promises to settle more, also in boxes not open yet.

        Those with higher levels are opened later, and their transformations need no more certain losses.

        Parameters
        ----------
        certain: estimated log odds of certain losses at the start.
        settles: estimates how many transformations of the box given log odds settle.
        """
        levels, boxes = start, 1.0
        most = settles(certain)
        while True:
            better = None
            for place, top in frontier.fixed.items():
                raised = (*levels[:place], levels[place] + 1, *levels[place + 1 :])
                if levels[place] == top or raised in known:
                    continue
                odds = certain + self._certain.rise(place, levels[place])
                span = raised[place] - start[place]
                spanned = boxes * (span + 1) / span
                if (settled := settles(odds) * spanned) > most:
                    most, better = settled, (raised, odds, spanned)
            if better is None:
                return levels
            levels, certain, boxes = better

    def _covering(
        self, frontier: Frontier, certain: FloatArray, best: float, most: int
    ) -> tuple[IntArray, Settles]:
        """Return the places expected to rule out the most open transformations at or below them.

        All but the first are open. Also an estimate how many the first rules out, by its log odds of certain
        losses.
        """
        needed = self._needed(frontier, best).ravel()
        # Masks index at most 32 axes, so that lattices of more columns are looked at as vectors.
        open_places = np.flatnonzero(frontier.open)
        values = needed[open_places]
        edges, slices = values.max(keepdims=True), np.zeros(len(values), dtype=np.int64)
        if self._slices > 1:
            edges = np.unique(np.linspace(values.min(), edges[0], self._slices + 1)[1:])
            slices = np.minimum(np.searchsorted(edges, values), len(edges) - 1)
        counts = np.zeros((len(edges), needed.size), dtype=np.float32)
        counts[slices, open_places] = 1
        covered = _sums_below(counts, frontier.bounds.shape)
        score = _weighed(covered, edges, certain, self._certain.spread / 2).ravel()
        score[frontier.evaluated.ravel()] = 0
        index = int(score.argmax())
        if score[index] <= 0:
            return np.array([frontier.bounds.argmin()]), lambda odds: 0.0  # noqa: ARG005 - any odds
        spread, own = self._certain.spread / 2, covered.reshape(len(edges), -1)[:, index]
        settles = _settles(edges, own, spread)
        if frontier.fixed and most == 1:
            self._queue = _Queue(frontier, score, slices, edges)
        places = np.array([index])
        if most > 1:
            score[index] = 0
            others = open_places[score[open_places] > 0]
            places = np.append(places, others[_first(-score[others], most - 1)])
        return places, settles

    def _needed(self, frontier: Frontier, best: float) -> FloatArray:
        """Return the log odds of losing enough records to rule each transformation out."""
        most = float(self._limit + 1)
        if np.isinf(best):
            return np.full(frontier.bounds.shape, float(self._certain.log_odds(most)))
        floors, before, found = self._last
        if floors is not frontier.floors or before != best:
            shares = np.clip(self._loss.needed(frontier.floors, best), 0.0, 1.0)
            found = self._certain.log_odds(np.clip(shares * self._records, 1e-9, most))
            self._last = (frontier.floors, best, found)
        return found


def _first(values: FloatArray, most: int) -> IntArray:
    """Return the places of the lowest values, of equal ones the first, shape (most,) or fewer."""
    return np.array([values.argmin()]) if most == 1 else np.argsort(values, kind="stable")[:most]


def level_entropies(attribute: QuasiIdentifier) -> FloatArray:
    """Return the entropy in nats of an attribute's published values at each level, shape (levels,)."""
    entropies = np.zeros(attribute.hierarchy.height + 1)
    for level in range(len(entropies)):
        shares = np.bincount(attribute.nodes(level), attribute.column.counts) / attribute.column.counts.sum()
        shares = shares[shares > 0]
        entropies[level] = -(shares @ np.log(shares))
    return entropies


STEEPEST = 350.0
"""Largest exponent of odds, so that products of two are finite."""


def _weighed(
    covered: NDArray[np.float32], edges: FloatArray, certain: FloatArray, spread: float
) -> FloatArray:
    """Return the number of open transformations below each, times the chance that it rules them out.

    Parameters
    ----------
    covered: by class of difficulty, shape (edges, *shape of certain).
    certain: estimated log odds of certain losses.
    """
    odds = certain / -spread
    np.clip(odds, -STEEPEST, STEEPEST, out=odds)
    np.exp(odds, out=odds)
    found: FloatArray | None = None
    for edge, own in zip(np.exp(np.clip(edges / spread, -STEEPEST, STEEPEST)), covered, strict=True):
        chance = odds * edge
        chance += 1
        np.divide(own, chance, out=chance)
        found = chance if found is None else np.add(found, chance, out=found)
    assert found is not None, "there is a class of difficulty"
    return found


STACK = 128
"""Rows that one product of matrices has."""

MULTIPLIED = 36
"""Most transformations of the last axes that one matrix adds up."""


def _sums_below(counts: NDArray[np.float32], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Add up the counts at or below each transformation; sums of at most 2^24 are exact.

    Parameters
    ----------
    counts: shape (slices, nodes).

    Returns
    -------
    Sums, shape (slices, *shape).
    """
    first = len(shape) - 1
    while first > 0 and prod(shape[first - 1 :]) <= MULTIPLIED:
        first -= 1
    # Adding along the last, short axes takes most of the time; a product of matrices is the quicker.
    last = shape[first:]
    rows, below = counts.reshape(-1, prod(last)), _at_or_below(last)
    # In stacks that are too small for several threads, which would mostly wait for each other.
    whole = len(rows) // STACK * STACK
    sums = np.empty_like(rows)
    np.matmul(
        rows[:whole].reshape(-1, STACK, rows.shape[1]),
        below,
        out=sums[:whole].reshape(-1, STACK, rows.shape[1]),
    )
    np.matmul(rows[whole:], below, out=sums[whole:])
    after = counts.shape[1]
    for size in shape[:first]:
        after //= size
        view = sums.reshape(-1, size, after)
        for i in range(1, size):
            view[:, i] += view[:, i - 1]
    return sums.reshape(-1, *shape)


@lru_cache(maxsize=256)
def _at_or_below(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return for each transformation of a box which others have it at or below them, as ones."""
    ones = [np.triu(np.ones((size, size), dtype=np.float32)) for size in shape]
    return reduce(np.kron, ones)


LARGEST_BOX = 1 << 16
"""Transformations of a box; choosing among more takes longer than evaluating one."""

MOST_AXES = 60
"""Attributes of a lattice whose boxes can be opened."""


class Tiles:
    """The boxes of a lattice: each fixes the levels of some attributes.

    Small lattices are one box. The boxes come lazily, lowest bound first, so that memory grows with the boxes
    opened, not with the lattice.

    Attributes
    ----------
    nodes: number of transformations of the lattice.
    lowest, top: the finest and the most general transformation.
    bound: lowest bound of an unopened box, infinite without one.
    fixed: places of the attributes whose levels a box fixes.
    """

    def __init__(self, table: Table, loss: LatticeLoss) -> None:
        self._loss = loss
        self._floors = loss.floors
        self.lowest = tuple(attribute.minimum for attribute in table.quasi_identifiers)
        self.top = tuple(attribute.maximum for attribute in table.quasi_identifiers)
        sizes = [high - low + 1 for low, high in zip(self.lowest, self.top, strict=True)]
        self.nodes = int(np.prod([float(size) for size in sizes])) if sizes else 1
        self.fixed = self._fixed(sizes)
        self.bound = loss.floor(self.lowest)

    def contain(self, levels: Levels) -> bool:
        """Return whether a transformation is in the lattice."""
        return all(low <= own <= high for low, own, high in zip(self.lowest, levels, self.top, strict=True))

    @property
    def large(self) -> bool:
        """Whether the lattice has several boxes, so that a good incumbent saves more than it takes."""
        return bool(self.fixed) or not self.explorable

    @property
    def explorable(self) -> bool:
        """Whether boxes can be opened: an array has a limited number of axes."""
        return len(self.lowest) <= MOST_AXES

    @staticmethod
    def _fixed(sizes: list[int]) -> list[int]:
        """Choose the attributes whose levels are fixed in a box: the longest axes, as few as needed."""
        order = sorted(range(len(sizes)), key=lambda position: (sizes[position], position))
        fixed: list[int] = []
        inner = float(np.prod([float(size) for size in sizes]))
        while inner > LARGEST_BOX:
            position = order.pop()
            fixed.append(position)
            inner /= sizes[position]
        return fixed

    def in_order(self, best: Callable[[], float]) -> Iterator[Frontier]:
        """Open the boxes, lowest bound first, until none can be better than the incumbent."""
        heap = [(self.bound, self.lowest)]
        while heap:
            floor, corner = heapq.heappop(heap)
            for successor in self._successors(corner):
                heapq.heappush(heap, (self._loss.floor(successor), successor))
            self.bound = heap[0][0] if heap else np.inf
            if floor >= best():
                return
            yield self._box(corner)

    def _successors(self, corner: Levels) -> Iterator[Levels]:
        """Raise one fixed attribute by a level, none before the last raised one: each box comes once."""
        raised = [i for i, position in enumerate(self.fixed) if corner[position] > self.lowest[position]]
        for position in self.fixed[raised[-1] if raised else 0 :]:
            if corner[position] < self.top[position]:
                yield tuple(level + (i == position) for i, level in enumerate(corner))

    def _parts(self, corner: Levels) -> list[FloatArray]:
        return [
            floor[low : low + 1 if position in self.fixed else self.top[position] + 1]
            for position, (floor, low) in enumerate(zip(self._floors, corner, strict=True))
        ]

    def _box(self, corner: Levels) -> Frontier:
        fixed = {place: self.top[place] for place in self.fixed}
        return Frontier(self._loss.combine(self._parts(corner)), corner, fixed)


class LatticeRun(SearchRun):
    """One run of a search of the lattice.

    Parameters
    ----------
    tiles: the boxes of the lattice.
    """

    def __init__(self, control: Control, tiles: Tiles) -> None:
        super().__init__(control)
        self._tiles = tiles
        self._best = control.below
        self._evaluated = 0
        # Lower bound on all transformations, by groups of attributes.
        self._projected = -np.inf
        # Transformations whose suppression is not proven optimal may be better than found.
        self._unproven = np.inf
        # Lowest objective that only an estimate of each of these constraints rejected.
        self._doubts: dict[str, float] = {}

    def _left(self) -> Control:
        """Return the rest of the budget."""
        control = self._control
        nodes = None if control.nodes is None else control.nodes - self._evaluated
        steps = None if control.steps is None else control.steps - len(self._steps)
        return replace(control, nodes=nodes, steps=steps, listen=None, memory=None)

    def _progress(self, bound: float) -> Progress:
        """Return the progress.

        Parameters
        ----------
        bound: lowest open bound.
        """
        lowest = min(max(bound, self._projected), self._best)
        best = self._best if np.isfinite(self._best) else None
        return Progress(self._evaluated, self._tiles.nodes, best, lowest if np.isfinite(lowest) else None)

    def _outcome(self, recoding: Recoding | None, bound: float) -> Outcome:
        """Return the outcome.

        Parameters
        ----------
        recoding: of the incumbent, None without one.
        bound: lowest open bound; infinite if none is open.

        Raises
        ------
        Interrupted: the user ended the search before it found a release.
        """
        objective = None if recoding is None else self._best
        status = Status.UNDECIDED if recoding is None else Status.SATISFIED
        if recoding is None and np.isposinf(bound) and not self._interrupted:
            status = Status.INFEASIBLE
        lowest = min(bound, self._best)
        proven = lowest if np.isfinite(lowest) else None
        return self._finished(status, (objective, recoding), proven, self._tiles.nodes, self._evaluated)
