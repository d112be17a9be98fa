"""Levels of Mondrian over sums that an engine returns: ``GROUP BY region, part`` along each axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from anonymizer.core.arrays import BoolArray
from anonymizer.search.cutting.coding import Coding
from anonymizer.search.cutting.ends import Ends
from anonymizer.search.cutting.source import Proposed, Sides, Source, View, slots_of
from anonymizer.search.cutting.summary import Groups, PartSummary
from anonymizer.search.cutting.trace import Traces
from anonymizer.search.regions.cuts import AxisCuts, Cuts

Holds = Callable[[Proposed, BoolArray], BoolArray]
"""Tells which of the regions that are asked about satisfy the models on both sides of their cut."""


def by_size(_: Proposed, asked: BoolArray) -> BoolArray:
    """Tell that all cuts hold: their sides are large enough, and the models ask for no more."""
    return asked


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

    def view(self, position: int, minimum: int) -> SummedView:
        """Return the regions along an axis."""
        return SummedView(self.coding, self.groups, position, self._summaries[position], minimum)

    def hold(self, proposed: Proposed, asked: BoolArray) -> BoolArray:
        """Tell which of the regions that are asked about satisfy the models on both sides of their cut."""
        return self._holds(proposed, asked)
