"""One level of Mondrian: where each of the open regions is cut, all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.search.cutting.chosen import Chosen
from anonymizer.search.cutting.source import Proposed, Source, left_parts
from anonymizer.search.regions.cuts import Cuts
from anonymizer.search.regions.mode import Mode

TRIES = 8
"""How many further cuts of a region are tried along an axis when those proposed at first fail a model."""

FEWER_DIGITS = 1_000_000
"""Losses of regions of more records are rounded to fewer than 9 decimals."""


@dataclass(frozen=True, eq=False)
class _Column:
    """One proposed cut for each region along one axis, with the loss that it leaves.

    Attributes
    ----------
    loss: in records, shape (regions of the level,), float64; infinite without a cut.
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

    def __init__(self, source: Source, mode: Mode, minimum: int) -> None:
        self._source = source
        self._mode = mode
        self._number = source.groups.number
        views = {position: source.view(position, minimum) for position in range(len(source.coding.axes))}
        self._views = {position: view for position, view in views.items() if len(view.regions)}
        self._tried = 0

    def propose(self) -> tuple[Proposed, FloatArray]:
        """Return the cut of each region and the loss it leaves, infinite without one.

        In each round the best of each region is checked, and replaced if it fails.
        """
        columns = self._columns()
        taken = Proposed(*(np.full(self._number, -1, dtype=np.int64) for _ in range(3)))
        lowest = np.full(self._number, np.inf)
        rounds = {axis: np.zeros(self._number, dtype=np.int64) for axis in self._views}
        while columns:
            losses = np.stack([column.loss for column in columns])
            best, least = losses.argmin(axis=0), losses.min(axis=0)
            asked = (taken.axis < 0) & (least < np.inf)
            if not asked.any():
                break
            proposed = self._best(columns, best, asked)
            held = self._source.hold(proposed, asked)
            taken = Proposed(
                np.where(held, proposed.axis, taken.axis),
                np.where(held, proposed.part, taken.part),
                np.where(held, proposed.target, taken.target),
            )
            lowest[held] = least[held]
            failed = asked & ~held
            columns = [
                self._replaced(column, failed & (best == i), rounds[column.axis])
                for i, column in enumerate(columns)
            ]
        return taken, lowest

    def chosen(self, proposed: Proposed, lowest: FloatArray) -> Chosen:
        """Return cuts with the parts that go to the left."""
        cut = proposed.axis >= 0
        own = self._source.coding.costs(self._source.groups.traces) * self._source.groups.records
        starts, left = left_parts(self._views, proposed)
        gain = np.where(cut, own - np.where(cut, lowest, 0.0), 0.0)
        return Chosen(cut, proposed.axis, starts, left, proposed.target, gain, self._tried)

    def _columns(self) -> list[_Column]:
        found = []
        for axis, view in self._views.items():
            proposals = self._mode.proposals(view.cuts)
            losses = self._losses(axis, proposals)
            found += [
                _Column(axis, cuts, loss, followed=i == 0)
                for i, (cuts, loss) in enumerate(zip(proposals, losses, strict=True))
                if (cuts.part >= 0).any()
            ]
        return found

    def _losses(self, axis: int, proposals: list[Cuts]) -> list[FloatArray]:
        """Return the loss that cuts leave in both sides together, in records, infinite without a cut."""
        view, coding = self._views[axis], self._source.coding
        losses = [np.full(self._number, np.inf) for _ in proposals]
        if not any((own.part >= 0).any() for own in proposals):
            return losses
        for loss, own, sides in zip(losses, proposals, view.sides(proposals), strict=True):
            cut = own.part >= 0
            if not cut.any():
                continue
            left = own.target[cut]
            both = [np.concatenate(pair) for pair in zip(sides.left, sides.right, strict=True)]
            costs = coding.costs(both)
            if sides.listed is not None:
                costs = costs + sides.listed
            costs[: len(left)] *= left
            costs[len(left) :] *= view.cuts.sizes[cut] - left
            both_sides = costs[: len(left)] + costs[len(left) :]
            loss[view.regions[cut]] = without_rounding_errors(both_sides, view.cuts.sizes[cut])
            self._tried += len(left)
        return losses

    def _best(self, columns: Sequence[_Column], best: IntArray, asked: BoolArray) -> Proposed:
        """Return the cut of the lowest loss of each region that is asked about."""
        proposed = Proposed(*(np.full(self._number, -1, dtype=np.int64) for _ in range(3)))
        for i, column in enumerate(columns):
            regions = self._views[column.axis].regions
            own = (asked & (best == i))[regions]
            proposed.axis[regions[own]] = column.axis
            proposed.part[regions[own]] = column.cuts.part[own]
            proposed.target[regions[own]] = column.cuts.target[own]
        return proposed

    def _replaced(self, column: _Column, failed: BoolArray, rounds: IntArray) -> _Column:
        """Propose the next nearest cuts where those of a column failed, a limited number of times."""
        if not failed.any():
            return column
        view, old = self._views[column.axis], column.cuts
        cuts = view.cuts
        again = failed[view.regions]
        cuts.close(old.part[again & (old.target == cuts.upto[old.part])])
        part = np.full_like(old.part, -1)
        if column.followed:
            rounds[failed] += 1
            part = np.where(again & (rounds[view.regions] <= TRIES), cuts.nearest(), -1)
        new = cuts.whole(part)
        return _Column(
            column.axis,
            Cuts(np.where(again, part, old.part), np.where(again, new.target, old.target)),
            np.where(failed, self._losses(column.axis, [new])[0], column.loss),
            column.followed,
        )


def without_rounding_errors(losses: FloatArray, records: IntArray) -> FloatArray:
    """Round losses, so that equal ones are not told apart by how computing them was rounded.

    Parameters
    ----------
    losses: in records, shape (cuts,).
    records: of the region of each, no fewer, shape (cuts,). Of up to a million 9 decimals are kept, of more
        as many as leave 14 digits: a float has no more than 16, and the last of these are errors.
    """
    digits = np.ceil(np.log10(np.maximum(records, 1)))
    scale = 10.0 ** np.where(records <= FEWER_DIGITS, 9, 14 - digits)
    return np.rint(losses * scale) / scale
