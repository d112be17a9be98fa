"""Lower-bounded facility location, restricted to few facilities and few items, as a mixed-integer programme.

Serving is modelled pair by pair: an item's records are served by a facility only as far as it is open, and
an open one serves k records or more. Once it is known which are open, the rest is a flow with lower bounds:
its vertices are whole numbers by themselves. With serving bounded per pair, not per facility, the linear
relaxation is tight. Measured on zones of Adult with 300 items: HiGHS proves the optimum within seconds where
CP-SAT has nothing better than the present classes after 15.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import BoolArray, CodeArray, FloatArray, IntArray
from anonymizer.model.counting import count
from anonymizer.search.local_recoding.ground import SUPPRESSION_COST
from anonymizer.search.suppression.cell_solver import Effort, Programme

NODES = 1
"""Of branch and bound: the root finds what there is; the time that more takes is better spent elsewhere."""

GAP = 1e-2
"""A solution within this share of what the records cost is good enough."""


@dataclass(frozen=True, eq=False)
class Location:
    """Some items, the facilities that may serve them, and which pairs of both are considered.

    Attributes
    ----------
    records: of each item, shape (items,), int64, positive.
    costs: of serving one record, shape (facilities,), float64.
    facility, item: of each pair, shape (pairs,), int64.
    size: records that an open facility serves at least.
    room: records that may be suppressed at most.
    """

    records: IntArray
    costs: FloatArray
    facility: IntArray
    item: IntArray
    size: int
    room: int

    def solved(self, worth: float, stopped: Callable[[], bool]) -> Served | None:
        """Return the best way to serve all records that was found, None where none was.

        Deterministic, unless ``stopped`` asks to end meanwhile: then None.

        Parameters
        ----------
        worth: what serving them costs at present, which sets the precision.
        """
        if stopped():
            return None
        effort = Effort(nodes=NODES, slack=GAP * abs(worth), stopped=stopped)
        found = self._programme().solved(effort, None)
        if found.values is None or not found.ended:
            return None
        pairs = len(self.facility)
        return self._read(
            np.rint(found.values[: pairs + len(self.records) * (self.room > 0)]).astype(np.int64)
        )

    def _programme(self) -> Programme:
        """Variables: records per pair, records suppressed per item if any may be, open facilities."""
        pairs, items, facilities = len(self.facility), len(self.records), len(self.costs)
        gone = np.arange(items if self.room > 0 else 0)
        first_open = pairs + len(gone)
        pair, served = np.arange(pairs), self.records[self.item].astype(np.float64)
        opened = first_open + self.facility
        serving = items + np.arange(facilities)
        linking = items + facilities + pair
        last = items + facilities + pairs
        row = [self.item, gone, items + self.facility, serving, linking, linking, np.full(len(gone), last)]
        column = [pair, pairs + gone, pair, first_open + np.arange(facilities), pair, opened, pairs + gone]
        ones = np.ones(pairs)
        few = np.full(facilities, -float(self.size))
        coefficient = [ones, np.ones(len(gone)), ones, few, ones, -served, np.ones(len(gone))]
        limits = np.full(min(len(gone), 1), float(self.room))
        unbounded = np.full(pairs, -np.inf)
        return Programme(
            costs=np.concatenate(
                [self.costs[self.facility], np.full(len(gone), SUPPRESSION_COST), np.zeros(facilities)]
            ),
            upper=np.concatenate([served, self.records[gone].astype(np.float64), np.ones(facilities)]),
            whole=np.arange(first_open + facilities) >= first_open,
            row=np.concatenate(row),
            column=np.concatenate(column),
            coefficient=np.concatenate(coefficient),
            row_low=np.concatenate([self.records, np.zeros(facilities), unbounded, -np.inf * limits]),
            row_high=np.concatenate([self.records, np.full(facilities, np.inf), np.zeros(pairs), limits]),
        )

    def _read(self, values: IntArray) -> Served | None:
        """Return what was found, None where rounding errors have spoiled it."""
        served, gone = values[: len(self.facility)], values[len(self.facility) :]
        total = count(self.item, served, len(self.records))
        if len(gone):
            total = total + gone
        sizes = count(self.facility, served, len(self.costs))
        spoiled = (total != self.records).any() or ((sizes > 0) & (sizes < self.size)).any()
        if spoiled or (values < 0).any() or gone.sum() > self.room:
            return None
        used, lost = np.flatnonzero(served), np.flatnonzero(gone)
        return Served(
            np.concatenate([self.item[used], lost]),
            np.concatenate([served[used], gone[lost]]),
            np.concatenate([self.facility[used], np.full(len(lost), -1)]),
        )


@dataclass(frozen=True, eq=False)
class Served:
    """How the records are served.

    Attributes
    ----------
    item, records, facility: of each part of an item, shape (parts,), int64; facility -1 for suppressed ones.
    """

    item: IntArray
    records: IntArray
    facility: IntArray


def covering(first: CodeArray, last: CodeArray, lowest: CodeArray, highest: CodeArray) -> BoolArray:
    """Tell which facilities cover which items, shape (facilities, items).

    Parameters
    ----------
    first, last: half-open ranges of values of the facilities' nodes, shape (facilities, quasi-identifiers).
    lowest, highest: the same for the items' own nodes, shape (items, quasi-identifiers).
    """
    covered = np.ones((len(first), len(lowest)), dtype=bool)
    for position in range(first.shape[1]):
        covered &= first[:, position, None] <= lowest[None, :, position]
        covered &= highest[None, :, position] <= last[:, position, None]
    return covered


def reduced_costs(
    costs: FloatArray, pairs: BoolArray, prices: FloatArray, records: IntArray, size: int
) -> FloatArray:
    """Return what it costs beyond the prices to open each facility, shape (facilities,); negative if it pays.

    Parameters
    ----------
    costs: of serving one record, shape (facilities,).
    pairs: whom each facility may serve, shape (facilities, items).
    prices, records: of each item, shape (items,).

    Returns
    -------
    Infinite where a facility covers too few records.
    """
    order = np.argsort(-prices, kind="stable")
    own, number = prices[order], np.where(pairs[:, order], records[order], 0)
    after = np.cumsum(number, axis=1)
    taken = np.clip(size - (after - number), 0, number)
    taken = np.where(own > costs[:, None], number, taken)
    reduced: FloatArray = (taken * (costs[:, None] - own)).sum(axis=1)
    return np.where(after[:, -1] >= size, reduced, np.inf)
