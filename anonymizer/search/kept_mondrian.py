"""Mondrian over combinations that do not fit in memory: the cuts of the whole run, found part by part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.errors import AuditFailed
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray, freeze
from anonymizer.model.classes import Traces, released
from anonymizer.model.counting import count
from anonymizer.model.out_of_core import RegionStore, SensitiveCounts, TableSource
from anonymizer.model.outcome import Outcome, Step
from anonymizer.model.recoding import Recoding
from anonymizer.model.report import Status
from anonymizer.model.table import Table
from anonymizer.search.base import SearchProblem
from anonymizer.search.control import Control, Progress
from anonymizer.search.cutting.log import CutLog
from anonymizer.search.cutting.part import PartKernel
from anonymizer.search.cutting.top import TopLevels
from anonymizer.search.cutting.work import Finished, Finishing
from anonymizer.search.regions.labelling import Labelling
from anonymizer.search.regions.publishing import hides
from anonymizer.system import release_free_memory

if TYPE_CHECKING:
    from anonymizer.search.regions.start import Start

HELD = 3
"""A combination takes as much memory while it is cut as so many of which a search only counts classes."""


class OutOfCoreMondrian:
    """Cuts the regions of an engine level by level while they do not fit in memory, then each to its end.

    No model may look at several regions together, so that each region is cut as it is in the whole run.

    Parameters
    ----------
    labelling, kernel: of the problem.
    logged: whether the cuts tell of any record on which side it belongs.
    """

    def __init__(
        self,
        problem: SearchProblem,
        control: Control,
        start: Start,
        labelling: Labelling,
        kernel: PartKernel,
        *,
        logged: bool,
    ) -> None:
        self._problem, self._control, self._start = problem, control, start
        self._labelling, self._kernel = labelling, kernel
        self._logged = logged
        self._attributes = problem.table.quasi_identifiers
        self._cuts: list[int] = []
        self._tried = len(start.steps)
        self._interrupted = False

    def run(self, source: TableSource) -> Outcome | None:
        """Return the outcome; None where starred records would disappear in a region without any value."""
        kept = self._start.table.counts > self._start.gone
        _, representatives = np.unique(self._start.class_of[kept], return_index=True)
        first = self._start.table.codes[kept][representatives, : len(self._labelling.axes)]
        levels, coding = self._start.levels, self._kernel.coding
        ends: RegionStore | None = None
        if len(first):
            with source.in_regions(levels, first, coding.rows, every=bool(kept.all())) as regions:
                counts, traces, log, ends = self._regions(regions, len(first))
        else:
            # Every record is suppressed.
            none = np.zeros(0, dtype=np.int64)
            counts = SensitiveCounts(none, np.zeros((0, len(self._kernel.sensitive)), dtype=np.int32), none)
            traces, log = [none for _ in coding.traces], CutLog(0)
        recoding = self._recoding(counts, traces)
        if self._start.kept_suppressed and hides(recoding):
            if ends is not None:
                ends.close()
            return None
        nodes = [
            own.nodes(level)[codes]
            for own, level, codes in zip(self._attributes, levels, first.T, strict=True)
        ]
        tree = log.tree(coding, traces, levels, np.stack(nodes, axis=1)) if self._logged else None
        release_free_memory()
        return Outcome(
            Status.SATISFIED,
            recoding,
            self._problem.metric.value(released(recoding, self._problem.k)),
            None,
            self._tried,
            self._tried,
            (*self._start.steps, *self._steps(len(first))),
            self._control.elapsed,
            self._interrupted,
            cuts=tree,
            ends=ends,
        )

    def _regions(
        self, regions: RegionStore, first: int
    ) -> tuple[SensitiveCounts, Traces, CutLog, RegionStore | None]:
        """Cut regions to the end; return their records, their traces, all cuts, and the ends."""
        top = TopLevels(regions, self._kernel, first, max(self._problem.most // HELD, 1))
        while top.large.any() and not self._ended():
            self._control.tell(self._progress)
            self._note(len(self._cuts), *top.cut())
        waiting = top.open & ~top.too_large
        ends = regions.ends(top.log.regions[~waiting]) if self._problem.placing else None
        counts, traces = self._finished(regions, top, waiting)
        if ends is not None:
            check_ends(ends, counts, traces)
        return counts, traces, top.log, ends

    def _ended(self) -> bool:
        self._interrupted = self._interrupted or self._control.stopped()
        steps = len(self._start.steps) + len(self._cuts)
        return self._interrupted or self._control.exhausted(self._tried, steps)

    def _stopped(self) -> bool:
        """Tell whether the work on regions is to end, but for the number of levels, which it knows."""
        return self._control.stopped() or self._control.exhausted(self._tried, 0)

    def _note(self, level: int, cuts: int, tried: int) -> None:
        """Note what was done in a level; regions that wait for others come to it later than these."""
        self._cuts += [0] * (level + 1 - len(self._cuts))
        self._cuts[level] += cuts
        self._tried += tried

    def _finished(
        self, kept: RegionStore, top: TopLevels, waiting: BoolArray
    ) -> tuple[SensitiveCounts, Traces]:
        """Cut regions that wait to the end in memory; return the records of all regions and their traces.

        Regions are numbered from 0 as the log has them then.
        """
        ended = np.flatnonzero(~waiting)
        depth = np.zeros(top.log.number, dtype=np.int64)
        depth[top.log.regions] = top.depth
        work = Finishing(self._kernel, self._levels(depth))
        found: list[Finished] = []
        for each in kept.each(list(top.batches(np.flatnonzero(waiting))), work, self._stopped):
            found.append(each)
            for level, (cuts, tried) in enumerate(zip(each.cuts, each.tried, strict=True)):
                self._note(int(depth[each.given[0]]) + level, cuts, tried)
            release_free_memory()
            self._control.tell(self._progress)
        self._interrupted = self._interrupted or self._control.stopped()
        counts = [_numbered(kept, top.log.regions[ended]), *(each.counts for each in found)]
        numbers = [len(ended), *(len(each.log.regions) for each in found)]
        traces = [
            np.concatenate([own[ended], *(each.traces[place] for each in found)])
            for place, own in enumerate(top.traces)
        ]
        top.log.join(~waiting, [(each.given, each.log) for each in found])
        return _joined(counts, numbers), traces

    def _levels(self, depth: IntArray) -> IntArray | None:
        """Return how many levels are left to regions that were cut in some."""
        if self._control.steps is None:
            return None
        left: IntArray = (self._control.steps - len(self._start.steps) - depth).clip(min=0)
        return left

    def _steps(self, first: int) -> list[Step]:
        regions = first + np.cumsum(np.array(self._cuts, dtype=np.int64))
        return [
            Step({"regions": int(number), "cuts": cuts}, None, accepted=True)
            for number, cuts in zip(regions, self._cuts, strict=True)
        ]

    def _progress(self) -> Progress:
        return Progress(self._tried, self._tried, None, None)

    def _recoding(self, counts: SensitiveCounts, traces: Traces) -> Recoding:
        """Return what is published, of a table with a row for each region and sensitive values in it."""
        table, coding = self._start.table, self._kernel.coding
        gone = np.flatnonzero(self._start.gone)
        suppressed = np.arange(len(counts.counts) + len(gone)) >= len(counts.counts)
        removed = np.zeros_like(suppressed) if self._start.kept_suppressed else suppressed
        region_of = counts.region
        if len(gone):
            # What is suppressed is a region of its own, whatever its rows would be published as.
            own = coding.traced(coding.encode(table.codes[gone]), np.zeros(1, dtype=np.int64))
            region_of = np.concatenate([region_of, np.full(len(gone), len(traces[0]))])
            traces = [np.concatenate(pair) for pair in zip(traces, own, strict=True)]
        codes = np.empty((table.codes.shape[1], len(suppressed)), dtype=np.int32)
        for position, axis in enumerate(coding.axes):
            codes[position] = axis.codes(coding.numbers(traces, position))[region_of]
        codes[len(coding.axes) :, : len(counts.counts)] = counts.codes.T
        codes[:, len(counts.counts) :] = table.codes[gone].T
        records = np.concatenate([counts.counts, self._start.gone[gone]])
        for array in (codes, records):
            freeze(array)
        reduced = Table(self._attributes, table.sensitive, codes.T, records, coarse=True)
        # One after the other: those of all axes are longer than all else that is known of regions.
        numbers = (coding.numbers(traces, position) for position in range(len(coding.axes)))
        return self._labelling.traced_recoding(reduced, numbers, region_of, suppressed, removed)


def check_ends(ends: RegionStore, counts: SensitiveCounts, traces: Traces) -> None:
    """Check that the combinations that an engine has in each region are those that were found to be.

    Different regions have different traces, as some cut put the values of an attribute on its two sides.

    Parameters
    ----------
    counts, traces: of all regions at the end.

    Raises
    ------
    AuditFailed: they are not.
    """
    records = count(counts.region, counts.counts, len(traces[0]))
    found = ends.sums(np.arange(len(records)))
    same = [
        np.array_equal(own, other)
        for own, other in zip((found.records, *found.traces), (records, *traces), strict=True)
    ]
    if not all(same):
        raise AuditFailed("the engine has combinations in other regions than the search put them in")


def _numbered(kept: RegionStore, regions: IntArray) -> SensitiveCounts:
    """Return the records of some regions, numbered from 0 in the order given."""
    if not len(regions):
        none = np.zeros(0, dtype=np.int64)
        return SensitiveCounts(none, np.zeros((0, 0), dtype=np.int32), none)
    order = np.argsort(regions)
    found = kept.sensitive_counts(regions[order])
    return replace(found, region=order[np.searchsorted(regions[order], found.region)])


def _joined(several: Sequence[SensitiveCounts], regions: Sequence[int]) -> SensitiveCounts:
    """Return the records of regions one after the other; ``regions`` tells how many each speaks of."""
    before = np.cumsum([0, *regions])
    told = [each.codes for each in several if len(each.counts)]
    codes: CodeArray = np.concatenate(told)
    return SensitiveCounts(
        np.concatenate([each.region + first for each, first in zip(several, before[:-1], strict=True)]),
        codes,
        np.concatenate([each.counts for each in several]),
    )
