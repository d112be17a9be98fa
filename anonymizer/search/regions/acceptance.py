"""Which cuts of a level may stand when regions are looked at together, as the release shows them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Classes
from anonymizer.privacy.base import Merging
from anonymizer.search.base import SearchProblem
from anonymizer.search.cutting.chosen import Chosen
from anonymizer.search.regions.checks import Checks
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


@dataclass(frozen=True, eq=False)
class _LevelCuts:
    """The regions before a level, and what goes to the left of the open ones where they are cut."""

    closed: Regions
    opened: Regions
    left: IntArray

    def after(self, cut: BoolArray) -> tuple[Regions, IntArray]:
        """Return all regions after some cuts, and which open region each comes from, -1 for closed ones."""
        both = np.flatnonzero(cut)
        parent = np.concatenate([np.full(self.closed.number, -1), np.flatnonzero(~cut), both, both])
        halves = self.opened.halves(self.left, cut)
        return Regions.joined([self.closed, self.opened.keep(~cut), halves]), parent


class Acceptance:
    """Asks the models that a cut by itself cannot answer for.

    Regions that are published alike are one class. Where a model may fail after a merge, cuts that lead to a
    failing class are taken back. Models of the whole table are asked after each level; once they fail, the
    longest run of the level's cuts in the order of their gain for which they hold is found by bisection, and
    the search ends there.
    """

    def __init__(self, problem: SearchProblem, checks: Checks, publishing: Publishing) -> None:
        self._checks = checks
        self._publishing = publishing
        self._merging = any(each.merging is Merging.NONE for each in problem.class_constraints)
        self._tables = problem.table_constraints

    @property
    def together(self) -> bool:
        """Whether any model looks at regions together; otherwise all cuts stand."""
        return self._merging or bool(self._tables)

    def accept(self, closed: Regions, opened: Regions, left: IntArray, chosen: Chosen) -> Accepted:
        """Return which cuts stand, beside the regions that are closed already.

        Without any of them the release is that of the level before, for which all models hold.

        Parameters
        ----------
        left: records of each row of the open regions that go to the left, shape (rows,), int64.
        """
        cuts = _LevelCuts(closed, opened, left)
        every = self._consistent(cuts, chosen.cut)
        if self._tables_hold(cuts, every):
            return Accepted(every, final=False)
        order = np.flatnonzero(chosen.cut)
        order = order[np.argsort(-chosen.gain[order], kind="stable")]
        best, low, high = np.zeros_like(chosen.cut), 0, len(order)
        while high - low > 1:
            middle = (low + high) // 2
            some = np.zeros_like(chosen.cut)
            some[order[:middle]] = True
            some = self._consistent(cuts, some)
            if self._tables_hold(cuts, some):
                best, low = some, middle
            else:
                high = middle
        return Accepted(best, final=True)

    def _consistent(self, cuts: _LevelCuts, cut: BoolArray) -> BoolArray:
        """Take back cuts whose halves are in a failing class as published, until none fails."""
        while self._merging and cut.any():
            regions, parent = cuts.after(cut)
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

    def _tables_hold(self, cuts: _LevelCuts, cut: BoolArray) -> bool:
        if not self._tables:
            return True
        classes, _ = self._classes(cuts.after(cut)[0])
        return all(each.holds(classes) for each in self._tables)

    def _classes(self, regions: Regions) -> tuple[Classes, IntArray]:
        release = self._publishing.release(regions)
        classes = self._checks.classes(release.owner, release.counts, release.class_of, release.classes)
        return classes, release.region_of
