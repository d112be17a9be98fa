"""Simulated annealing over the levels of all attributes, by estimated class sizes.

It finds transformations that are worth counting: hash collisions may make a class look larger than it is, so
what it finds has to be judged as any other candidate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log

import numpy as np
from numpy.typing import NDArray

from anonymizer.loss.base import LOSS_METRICS, LatticeLoss
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.classes import Classes
from anonymizer.model.counting import group_keys
from anonymizer.model.table import QuasiIdentifier
from anonymizer.search.base import SearchProblem, SuppressionMethod, sensitive_codes
from anonymizer.search.judge import Judge
from anonymizer.search.lattice.frontier import Levels, level_entropies

Keys = NDArray[np.uint32]

FIRST_CYCLE = 1_000
"""Proposals of the first cycle; each later one has half as many again."""

HOTTEST, COLDEST = 0.036, 0.0007
"""Temperatures at the ends of a cycle, in losses of the incumbent over the square root of the attributes."""

WARMING = 2.5
"""Factor on the first temperature for each cycle in a row that found nothing better."""

CHARGE = 4.0
"""Least price of suppressing all records beyond the limit, in losses of the incumbent."""

PROPOSALS, ROWS = 256, 1 << 22
"""Most proposals of a round, and most rows that all of them count together."""

JUDGED = 8
"""A proposal whose classes are judged takes so many times as long as one by size alone."""

CACHED = 1 << 24
"""Numbers of rows in memory at once."""

ODD = np.uint32(2_654_435_769)


def useful_levels(attribute: QuasiIdentifier) -> list[int]:
    """Return the allowed levels of an attribute that merge values of the level before."""
    levels = range(attribute.minimum, attribute.maximum + 1)
    values = [len(np.unique(attribute.nodes(level))) for level in levels]
    return [level for i, level in enumerate(levels) if i == 0 or values[i] < values[i - 1]]


def guiding_loss(problem: SearchProblem, loss: LatticeLoss) -> LatticeLoss:
    """Return the loss by which transformations are chosen: the bits lost if the metric has no bounds."""
    if np.isfinite(loss.worst):
        return loss
    return LOSS_METRICS["nonuniform-entropy"]().on_lattice(problem.table, problem.k)


def chain(attributes: tuple[QuasiIdentifier, ...], loss: LatticeLoss) -> list[Levels]:
    """Return transformations from the most general to the finest one, each a level of one attribute lower.

    The next level is the one that saves most loss for the entropy that it adds, before suppression.
    """
    entropies = [level_entropies(attribute) for attribute in attributes]
    levels = [useful_levels(attribute) for attribute in attributes]
    own = [each.pop() for each in levels]
    found = [tuple(own)]
    while any(levels):
        gains = []
        for place, lower in enumerate(levels):
            if lower:
                saved = loss.floors[place][own[place]] - loss.floors[place][lower[-1]]
                added = entropies[place][lower[-1]] - entropies[place][own[place]]
                gains.append((saved / max(added, 1e-9), -place))
        place = -max(gains)[1]
        own[place] = levels[place].pop()
        found.append(tuple(own))
    return found


@dataclass(frozen=True)
class _Estimate:
    """The estimated loss of a transformation, and the share of records suppressed beyond the limit.

    Attributes
    ----------
    least: whether both may be higher if looked at more closely.
    """

    loss: float
    excess: float
    least: bool = False


class Annealing:
    """A walk over the levels that improves what it costs, in cycles of falling temperature.

    Parameters
    ----------
    problem: with its table in memory.
    loss: to lower; with bounds.

    Attributes
    ----------
    over: whether a cycle has ended; ``restart`` begins the next.
    smallest: records of a class that is expected to satisfy all constraints.
    """

    def __init__(self, problem: SearchProblem, loss: LatticeLoss) -> None:
        table = problem.table
        self.over = True
        self.smallest = problem.minimum_size
        self._problem, self._loss = problem, loss
        self._levels = [useful_levels(attribute) for attribute in table.quasi_identifiers]
        self._movable = [place for place, own in enumerate(self._levels) if len(own) > 1]
        self._counts = None if (table.counts == 1).all() else table.counts.astype(np.float64)
        self._weights = np.ones(table.combinations) if self._counts is None else self._counts
        bits = min(max((4 * table.combinations).bit_length(), 12), 20)
        self._bins, self._shift = 1 << bits, np.uint32(32 - bits)
        by_size = all(each.by_size for each in problem.class_constraints)
        self._judge = None
        if not (by_size and not problem.table_constraints):
            # An estimate need not choose among the records of a class.
            self._judge = Judge(replace(problem, suppression=SuppressionMethod.CLASSES))
            self._sensitive = sensitive_codes(table)
        rows = table.combinations * (1 if self._judge is None else JUDGED)
        self._round = max(1, min(PROPOSALS, ROWS // max(rows, 1)))
        self._random = np.random.default_rng(problem.seed)
        self._numbers = [
            [self._drawn(attribute, level) for level in own]
            for attribute, own in zip(table.quasi_identifiers, self._levels, strict=True)
        ]
        self._cache: dict[tuple[int, int], Keys] = {}
        self._seen: dict[bytes, _Estimate] = {}
        self._length, self._taken = FIRST_CYCLE * 2 // 3, 0
        self._charge, self._hottest = CHARGE, HOTTEST
        self._lowest = self._loss.floor([own[0] for own in self._levels])
        self._walk([len(own) - 1 for own in self._levels])
        self._bar = np.inf

    def _drawn(self, attribute: QuasiIdentifier, level: int) -> Keys:
        """Return a random number for each code, equal for codes that the level merges."""
        nodes = attribute.nodes(level)
        drawn = self._random.integers(0, 1 << 32, size=len(attribute.hierarchy.labels), dtype=np.uint32)
        return drawn[nodes]

    def _rows(self, place: int, own: int) -> Keys:
        """Return the numbers of all rows at a level, shape (combinations,)."""
        found = self._cache.get((place, own))
        if found is None:
            found = self._numbers[place][own][self._problem.table.quasi_identifier_codes(place)]
            if (len(self._cache) + 1) * len(found) <= CACHED:
                self._cache[place, own] = found
        return found

    def _walk(self, position: list[int]) -> None:
        """Go to a transformation.

        Parameters
        ----------
        position: place of each attribute's level among the useful ones.
        """
        self._position = np.array(position, dtype=np.int16)
        self._keys = np.zeros(self._problem.table.combinations, dtype=np.uint32)
        for place, own in enumerate(position):
            self._keys += self._rows(place, own)
        floor = self._loss.floor(self._named(self._position))
        self._at = self._counted(floor, self._keys, self._twice(self._keys))
        self._scale = max(abs(self._at.loss - self._lowest), 1e-9)
        self._degree = self._scale / max(len(self._movable), 1) ** 0.5

    def _named(self, position: NDArray[np.int16]) -> Levels:
        return tuple(own[i] for own, i in zip(self._levels, position.tolist(), strict=True))

    def restart(self, levels: Levels | None, idle: int = 0, *, again: bool = False) -> None:
        """Begin the next cycle at the incumbent; where the last one ended if there is none.

        Parameters
        ----------
        idle: last cycles in a row that found nothing better; the next is the hotter.
        again: whether to return transformations that are no better than those returned before.
        """
        self.over, self._taken, self._length = not self._movable, 0, self._length + self._length // 2
        self._hottest = HOTTEST * WARMING**idle
        if levels is not None:
            # The highest useful level that is not above merges the same values.
            self._walk(
                [
                    max(i for i, level in enumerate(own) if level <= wanted)
                    for own, wanted in zip(self._levels, levels, strict=True)
                ]
            )
        if again:
            self._bar = np.inf

    def round(self, most: int | None) -> tuple[Levels | None, int]:
        """Walk on for a round.

        Parameters
        ----------
        most: transformations to count; None for any number.

        Returns
        -------
        The transformation of lowest estimated loss, None if none is below all before, and the number of
        counted ones that were not counted before.
        """
        best, before = None, len(self._seen)
        for row in self._random.random((self._round, 5)).tolist():
            if self._taken >= self._length or (most is not None and len(self._seen) - before >= most):
                break
            found = self._step(row)
            if found is not None and found.excess == 0 and found.loss < self._bar:
                best, self._bar = self._named(self._position), found.loss
        self.over = self._taken >= self._length
        return best, len(self._seen) - before

    def _step(self, draws: list[float]) -> _Estimate | None:
        """Propose a move; return the estimate of its transformation if it is accepted."""
        heat = self._hottest * (COLDEST / self._hottest) ** (self._taken / self._length) * self._degree
        self._taken += 1
        moved = self._proposal(draws)
        if moved is None:
            return None
        most = self._price(self._at) - heat * log(max(draws[4], 1e-300))
        position = self._position.copy()
        for place, own in moved:
            position[place] = own
        floor = self._loss.floor(self._named(position))
        name = position.tobytes()
        known = self._seen.get(name)
        if floor > most or (known is not None and self._price(known) > most):
            return None
        keys = self._keys.copy()
        for place, own in moved:
            keys += self._rows(place, own)
            keys -= self._rows(place, int(self._position[place]))
        if known is None or known.least:
            sizes = self._hashed(keys)
            self._seen[name] = replace(self._by_size(floor, sizes), least=True)
            if self._price(self._seen[name]) > most:
                return None
            known = self._seen[name] = self._counted(floor, keys, np.minimum(sizes, self._hashed(keys * ODD)))
            if self._price(known) > most:
                return None
        self._position, self._keys, self._at = position, keys, known
        self._charge = min(max(self._charge * (1.03 if known.excess else 1 / 1.03), CHARGE), 1e6)
        return known

    def _proposal(self, draws: list[float]) -> list[tuple[int, int]] | None:
        """Return attributes with their new levels, None for a move that leads nowhere."""
        kind = draws[0]
        one = self._movable[int(draws[1] * len(self._movable))]
        at = int(self._position[one])
        if kind < 0.3:
            return self._within([(one, at + (1 if draws[2] < 0.5 else -1))])
        if kind < 0.5:
            other = int(draws[2] * (len(self._levels[one]) - 1))
            return [(one, other + (other >= at))]
        two = self._movable[int(draws[2] * len(self._movable))]
        beside = int(self._position[two])
        if one == two:
            return None
        if kind < 0.8:
            return self._within([(one, at + 1), (two, beside - 1)])
        return None if at == beside else self._within([(one, beside), (two, at)])

    def _within(self, moved: list[tuple[int, int]]) -> list[tuple[int, int]] | None:
        return moved if all(0 <= own < len(self._levels[place]) for place, own in moved) else None

    def _price(self, estimate: _Estimate) -> float:
        return estimate.loss + estimate.excess * self._charge * self._scale

    def _hashed(self, keys: Keys) -> FloatArray | IntArray:
        """Return the class size of each row, or more if another class has the same hash."""
        hashed = (keys >> self._shift).astype(np.intp)
        return np.bincount(hashed, self._counts, self._bins)[hashed]

    def _twice(self, keys: Keys) -> FloatArray | IntArray:
        return np.minimum(self._hashed(keys), self._hashed(keys * ODD))

    def _by_size(self, floor: float, sizes: FloatArray | IntArray) -> _Estimate:
        """Estimate as if every class of enough records satisfied the constraints."""
        kept: BoolArray = sizes >= self.smallest
        if self._counts is None:
            suppressed = len(kept) - int(np.count_nonzero(kept))
        else:
            suppressed = self._problem.table.records - int(self._counts[kept].sum())
        share = suppressed / self._problem.table.records
        loss = self._loss.approximate(floor, share, lambda: (sizes[kept], self._weights[kept]))
        return _Estimate(loss, self._excess(suppressed))

    def _excess(self, suppressed: int) -> float:
        if self._problem.admits(suppressed):
            return 0.0
        return max(suppressed - self._problem.limit, 1) / self._problem.table.records

    def _counted(self, floor: float, keys: Keys, sizes: FloatArray | IntArray) -> _Estimate:
        """Estimate by the classes of equal keys where their sizes do not decide."""
        by_size = self._by_size(floor, sizes)
        if self._judge is None or by_size.excess > 0:
            return by_size
        table = self._problem.table
        groups, distinct = group_keys(keys.astype(np.int64), 1 << 32)
        verdict = self._judge.judge(
            Classes(groups, table.counts, len(distinct), self._sensitive, table.units)
        )
        own = verdict.sizes[verdict.kept]
        share = verdict.suppressed / self._problem.table.records
        loss = self._loss.approximate(floor, share, lambda: (own, own))
        excess = self._excess(verdict.suppressed)
        # A violated model of the whole table costs as much as all that may be suppressed.
        missed = (self._problem.limit + 1) / self._problem.table.records if verdict.failed else 0.0
        return _Estimate(max(loss, by_size.loss), excess or missed)
