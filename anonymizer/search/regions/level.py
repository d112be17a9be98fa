"""One level of Mondrian: where each of the open regions is cut, all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.core.arrays import BoolArray, FloatArray, IntArray
from anonymizer.search.regions.axis import Axis
from anonymizer.search.regions.checks import Checks
from anonymizer.search.regions.cuts import AxisCuts
from anonymizer.search.regions.mode import Cuts, Mode, whole
from anonymizer.search.regions.regions import Regions

TRIES = 8
"""How many further cuts of a region are tried along an axis when those proposed at first fail a model."""

_BATCH = 1 << 16
"""Rows whose costs are computed in one go: few calls for small regions, bounded memory for large ones."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """The cuts of a level.

    Attributes
    ----------
    cut: regions that are cut, shape (regions,), bool.
    left: records of each row that go to the left, shape (rows,), int64; only where the region is cut.
    gain: loss that each cut saves, in records, shape (regions,), float64.
    tried: cuts whose loss was computed.
    """

    cut: BoolArray
    left: IntArray
    gain: FloatArray
    tried: int


@dataclass(frozen=True, eq=False)
class _Column:
    """One proposed cut for each region along one axis, with the loss that it leaves.

    Attributes
    ----------
    loss: in records, shape (regions,), float64; infinite without a cut.
    followed: whether the next nearest cut takes the place of one that fails.
    """

    axis: int
    cuts: Cuts
    loss: FloatArray
    followed: bool


class Level:
    """Finds for every region the cut that leaves the lowest loss and a satisfying class on both sides.

    Parameters
    ----------
    minimum: no class with fewer records satisfies the constraints.
    """

    def __init__(
        self, regions: Regions, axes: Sequence[Axis], mode: Mode, checks: Checks, minimum: int
    ) -> None:
        self._regions = regions
        self._axes = axes
        self._mode = mode
        self._checks = checks
        self._cuts = [AxisCuts(axis, regions, minimum) for axis in axes]
        self._tried = 0

    def choose(self) -> Chosen:
        """Return the cuts: in each round the best of each region is checked, and replaced if it fails."""
        columns = self._proposals()
        number = self._regions.number
        rounds = np.zeros((len(self._axes), number), dtype=np.int64)
        cut, left = np.zeros(number, dtype=bool), np.zeros_like(self._regions.counts)
        lowest = np.full(number, np.inf)
        while columns:
            losses = np.stack([column.loss for column in columns])
            best, asked = losses.argmin(axis=0), ~cut & (losses.min(axis=0) < np.inf)
            if not asked.any():
                break
            proposed = self._left(columns, best, asked)
            held = self._hold(proposed, asked)
            cut |= held
            lowest[held] = losses.min(axis=0)[held]
            left = np.where(held[self._regions.region_of], proposed, left)
            failed = asked & ~held
            columns = [
                self._replaced(column, failed & (best == i), rounds[column.axis])
                for i, column in enumerate(columns)
            ]
        own = self._regions.costs(self._axes) * self._regions.sizes
        return Chosen(cut, left, np.where(cut, own - np.where(cut, lowest, 0.0), 0.0), self._tried)

    def _proposals(self) -> list[_Column]:
        proposed = [
            (axis, proposal, i == 0)
            for axis, cuts in enumerate(self._cuts)
            for i, proposal in enumerate(self._mode.proposals(cuts))
            if (proposal.part >= 0).any()
        ]
        losses = self._losses([(axis, cuts) for axis, cuts, _ in proposed])
        return [
            _Column(axis, cuts, loss, followed)
            for (axis, cuts, followed), loss in zip(proposed, losses, strict=True)
        ]

    def _losses(self, proposed: Sequence[tuple[int, Cuts]]) -> list[FloatArray]:
        """Return the loss that cuts leave in both sides together, in records, infinite without a cut."""
        losses = [np.full(self._regions.number, np.inf) for _ in proposed]
        waiting: list[tuple[FloatArray, BoolArray, Regions]] = []
        for loss, (axis, cuts) in zip(losses, proposed, strict=True):
            chosen = cuts.part >= 0
            if not chosen.any():
                continue
            left = self._mode.left(self._cuts[axis], self._regions, cuts)
            waiting.append((loss, chosen, self._regions.halves(left, chosen)))
            self._tried += int(chosen.sum())
            if sum(len(sides.owner) for _, _, sides in waiting) >= _BATCH:
                self._settle(waiting)
                waiting = []
        if waiting:
            self._settle(waiting)
        return losses

    def _settle(self, waiting: Sequence[tuple[FloatArray, BoolArray, Regions]]) -> None:
        """Fill in the losses of cuts whose sides are waiting to be looked at together."""
        every = Regions.joined([sides for _, _, sides in waiting])
        found = every.costs(self._axes) * every.sizes
        for loss, chosen, sides in waiting:
            own, found = found[: sides.number], found[sides.number :]
            # Equal losses must not be told apart by how rounding went.
            loss[chosen] = np.round(own.reshape(2, -1).sum(axis=0), 9)

    def _left(self, columns: Sequence[_Column], best: IntArray, asked: BoolArray) -> IntArray:
        """Return the records of each row that go to the left in the best cut of its region."""
        left = np.zeros_like(self._regions.counts)
        for i, column in enumerate(columns):
            own = asked & (best == i)
            if own.any():
                side = self._mode.left(self._cuts[column.axis], self._regions, column.cuts)
                left = np.where(own[self._regions.region_of], side, left)
        return left

    def _hold(self, left: IntArray, asked: BoolArray) -> BoolArray:
        """Tell which of the regions that are asked about satisfy the models on both sides of their cut."""
        held = np.zeros(self._regions.number, dtype=bool)
        sides = self._regions.halves(left, asked)
        held[asked] = self._checks.regions_hold(sides).reshape(2, -1).all(axis=0)
        return held

    def _replaced(self, column: _Column, failed: BoolArray, rounds: IntArray) -> _Column:
        """Propose the next nearest cuts where those of a column failed, a limited number of times."""
        if not failed.any():
            return column
        cuts, old = self._cuts[column.axis], column.cuts
        cuts.close(old.part[failed & (old.target == cuts.upto[old.part])])
        part = np.full_like(old.part, -1)
        if column.followed:
            rounds[failed] += 1
            part = np.where(failed & (rounds <= TRIES), cuts.nearest(), -1)
        new = whole(cuts, part)
        return _Column(
            column.axis,
            Cuts(np.where(failed, part, old.part), np.where(failed, new.target, old.target)),
            np.where(failed, self._losses([(column.axis, new)])[0], column.loss),
            column.followed,
        )
