"""Levels of Mondrian over sums that an engine returns: ``GROUP BY region, part`` along each axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Traces
from anonymizer.search.cutting.coding import Coding
from anonymizer.search.cutting.ends import Ends
from anonymizer.search.cutting.source import Proposed, Sides, Source, View, left_parts, slots_of
from anonymizer.search.cutting.summary import Groups, PartSummary
from anonymizer.search.regions.cuts import AxisCuts, Cuts


@dataclass(frozen=True, eq=False)
class Asked:
    """Cuts that models are asked about.

    Attributes
    ----------
    regions: that are asked about, of those of the level, ascending, shape (cuts,), int64.
    axis: along which each is cut, shape (cuts,), int64.
    left: of each, the parts that go to the left.
    """

    regions: IntArray
    axis: IntArray
    left: list[IntArray]


Holds = Callable[[Asked], BoolArray]
"""Tells which cuts leave both sides satisfying the models, shape (cuts,)."""


def by_size(asked: Asked) -> BoolArray:
    """Tell that all cuts hold: their sides are large enough, and the models ask for no more."""
    return np.ones(len(asked.regions), dtype=bool)


class SummedView(View):
    """Regions along one axis, known by the sums over their parts.

    Parameters
    ----------
    summary: with traces; regions with less than two parts cannot be cut.
    """

    def __init__(
        self, coding: Coding, groups: Groups, position: int, summary: PartSummary, minimum: int
    ) -> None:
        parts = np.bincount(summary.region, minlength=groups.number)
        self.regions = np.flatnonzero((parts > 1) & (groups.records >= 2 * minimum))
        self._coding = coding
        number = np.full(groups.number, -1, dtype=np.int64)
        number[self.regions] = np.arange(len(self.regions))
        region = number[summary.region]
        kept = region >= 0
        assert summary.traces is not None, "the sums of parts come with their traces"
        own = PartSummary(region[kept], summary.part[kept], summary.records[kept])
        ordered = coding.axes[position].ordered
        self.cuts = AxisCuts(own, groups.records[self.regions], minimum, ordered=ordered)
        order = np.empty_like(self.cuts.rank)
        order[self.cuts.rank] = np.arange(len(order))
        self._traces: Traces = [each[kept][order] for each in summary.traces]

    def sides(self, proposals: list[Cuts]) -> list[Sides]:
        """Return the sides of the cuts that are proposed."""
        of_part, last = slots_of(self.cuts, proposals)
        slots = len(proposals) + 1
        keys = self.cuts.parts.of_row * slots + of_part
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        traces = []
        for trace, own in zip(self._coding.traces, self._traces, strict=True):
            found = np.full(len(self.regions) * slots, trace.reduction.identity, dtype=np.int64)
            found[keys[starts]] = trace.reduction.ufunc.reduceat(own, starts)
            traces.append(found.reshape(len(self.regions), slots))
        ends = Ends(np.stack([own.part >= 0 for own in proposals]), last, last + 1)
        return ends.sides(self._coding, traces)


class SummedSource(Source):
    """The open regions as an engine sums them up.

    Only for cuts between whole parts, and for codings that traces suffice for (``Coding.traced_whole``).

    Parameters
    ----------
    summaries: one for each axis.
    holds: asked about cuts; ``by_size`` where k-anonymity is all that is asked.
    """

    def __init__(
        self, coding: Coding, groups: Groups, summaries: Sequence[PartSummary], holds: Holds = by_size
    ) -> None:
        self.coding = coding
        self.groups = groups
        self._summaries = summaries
        self._holds = holds
        self._views: dict[int, SummedView] = {}

    def view(self, position: int, minimum: int) -> SummedView:
        """Return the regions along an axis."""
        view = SummedView(self.coding, self.groups, position, self._summaries[position], minimum)
        if len(view.regions):
            self._views[position] = view
        return view

    def hold(self, proposed: Proposed, asked: BoolArray) -> BoolArray:
        """Tell which of the regions that are asked about satisfy the models on both sides of their cut."""
        regions = np.flatnonzero(asked)
        starts, left = left_parts(self._views, proposed)
        parts = [left[starts[region] : starts[region + 1]] for region in regions.tolist()]
        held = np.zeros_like(asked)
        held[regions] = self._holds(Asked(regions, proposed.axis[regions], parts))
        return held
