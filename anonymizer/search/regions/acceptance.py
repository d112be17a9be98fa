"""Which cuts of a level may stand when regions are looked at together, as the release shows them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.core.arrays import BoolArray, IntArray
from anonymizer.core.classes import Classes
from anonymizer.privacy.base import Merging
from anonymizer.search.base import Problem
from anonymizer.search.regions.checks import Checks
from anonymizer.search.regions.level import Chosen
from anonymizer.search.regions.publishing import Publishing
from anonymizer.search.regions.regions import Regions


@dataclass(frozen=True, eq=False)
class Accepted:
    """The cuts that stand.

    Attributes
    ----------
    cut: shape (regions,), bool.
    final: whether no further level may follow.
    """

    cut: BoolArray
    final: bool


class Acceptance:
    """Asks the models that a cut by itself cannot answer for.

    Regions that are published alike are one class. Where a model may fail after a merge, cuts that lead to a
    failing class are taken back. Models of the whole table are asked after each level; once they fail, the
    longest run of the level's cuts in the order of their gain for which they hold is found by bisection, and
    the search ends there.
    """

    def __init__(self, problem: Problem, checks: Checks, publishing: Publishing) -> None:
        self._checks = checks
        self._publishing = publishing
        self._merging = any(each.merging is Merging.NONE for each in problem.class_constraints)
        self._tables = problem.table_constraints

    def accept(self, closed: Regions, opened: Regions, chosen: Chosen) -> Accepted:
        """Return which cuts stand, beside the regions that are closed already.

        Without any of them the release is that of the level before, for which all models hold.
        """
        if not self._merging and not self._tables:
            return Accepted(chosen.cut, final=False)
        every = self._consistent(closed, opened, chosen, chosen.cut)
        if self._tables_hold(closed, opened, chosen, every):
            return Accepted(every, final=False)
        order = np.flatnonzero(chosen.cut)
        order = order[np.argsort(-chosen.gain[order], kind="stable")]
        best, low, high = np.zeros_like(chosen.cut), 0, len(order)
        while high - low > 1:
            middle = (low + high) // 2
            some = np.zeros_like(chosen.cut)
            some[order[:middle]] = True
            some = self._consistent(closed, opened, chosen, some)
            if self._tables_hold(closed, opened, chosen, some):
                best, low = some, middle
            else:
                high = middle
        return Accepted(best, final=True)

    def _consistent(self, closed: Regions, opened: Regions, chosen: Chosen, cut: BoolArray) -> BoolArray:
        """Take back cuts whose halves are in a failing class as published, until none fails."""
        while self._merging and cut.any():
            regions, parent = _after(closed, opened, chosen, cut)
            classes, region_of = self._classes(regions)
            failing = ~self._checks.hold(classes)
            # The starred records, if any, are no region's: their class was asked when they were starred.
            rows = (region_of >= 0) & failing[classes.class_of]
            guilty = np.unique(parent[region_of[rows]])
            guilty = guilty[guilty >= 0]
            guilty = guilty[cut[guilty]]
            if not len(guilty):
                break
            cut = cut.copy()
            cut[guilty] = False
        return cut

    def _tables_hold(self, closed: Regions, opened: Regions, chosen: Chosen, cut: BoolArray) -> bool:
        if not self._tables:
            return True
        classes, _ = self._classes(_after(closed, opened, chosen, cut)[0])
        return all(each.holds(classes) for each in self._tables)

    def _classes(self, regions: Regions) -> tuple[Classes, IntArray]:
        release = self._publishing.release(regions)
        classes = self._checks.classes(release.owner, release.counts, release.class_of, release.classes)
        return classes, release.region_of


def _after(closed: Regions, opened: Regions, chosen: Chosen, cut: BoolArray) -> tuple[Regions, IntArray]:
    """Return all regions after some cuts, and the open region that each comes from, -1 for closed ones."""
    parent = np.concatenate(
        [np.full(closed.number, -1), np.flatnonzero(~cut), np.flatnonzero(cut), np.flatnonzero(cut)]
    )
    return Regions.joined([closed, opened.keep(~cut), opened.halves(chosen.left, cut)]), parent
