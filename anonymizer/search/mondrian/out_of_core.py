"""Out-of-core Mondrian: the first levels by engine sums, then regions that fit in memory.

An engine stores the distinct rows and returns ``GROUP BY region, part`` along each axis. Regions that fit
in memory are cut to the end, here or in another process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from anonymizer.errors import AuditFailed
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray, freeze
from anonymizer.model.classes import Traces, released
from anonymizer.model.counting import Packing, add_up, count
from anonymizer.model.out_of_core import (
    RegionCut,
    RegionRows,
    RegionStore,
    RegionSums,
    SensitiveCounts,
    Stopped,
    TableSource,
    WorkResult,
    never_stopped,
)
from anonymizer.model.outcome import Outcome, Step
from anonymizer.model.recoding import Recoding
from anonymizer.model.report import Status
from anonymizer.model.table import SensitiveAttribute, Table
from anonymizer.privacy.base import ClassConstraint
from anonymizer.search.base import Control, Progress, SearchProblem
from anonymizer.search.mondrian.axes import Frames
from anonymizer.search.mondrian.cuts import AxisCuts, Chosen, Cuts, Groups, Mode, PartSummary
from anonymizer.search.mondrian.kernel import Kernel
from anonymizer.search.mondrian.labelling import Labelling, hides
from anonymizer.search.mondrian.level import (
    CutLog,
    Ends,
    Level,
    Proposed,
    Sides,
    Source,
    View,
    left_parts,
    slots_of,
)
from anonymizer.search.mondrian.regions import Checks, References, Regions, Segments
from anonymizer.search.mondrian.start import Start
from anonymizer.search.mondrian.store import Coding, stored
from anonymizer.system import release_free_memory


@dataclass(frozen=True, eq=False)
class PartRegions:
    """The regions of a part of the table.

    Attributes
    ----------
    owner: position of the given row for each row, shape (rows,), int64; sorted by region, ascending within
        one. A relaxed cut may have made two of one.
    counts: records of each row, shape (rows,), int64.
    region_of: region of each row, shape (rows,), int64, ascending.
    traces: of the regions, as the coding lists them, each of shape (regions,). From ``Coding.numbers`` of
        them an axis says what is published, ``NodeAxis.nodes`` the nodes.
    log: of the cuts, which began with the given regions.
    cuts, tried: of each level, how many regions were cut and how many cuts were tried.
    """

    owner: IntArray
    counts: IntArray
    region_of: IntArray
    traces: Traces
    log: CutLog
    cuts: tuple[int, ...]
    tried: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class PartKernel:
    """All that the search needs to know beside the rows; it can be pickled.

    It gives the regions that the search of the whole table gives, as long as no model looks at several
    regions together: each region is cut by its own rows alone.

    Attributes
    ----------
    constraints: the class constraints.
    sensitive: the sensitive attributes.
    references: what every class is compared with.
    minimum: no class with fewer records satisfies the constraints.
    """

    coding: Coding
    mode: Mode
    constraints: tuple[ClassConstraint, ...]
    sensitive: tuple[SensitiveAttribute, ...]
    references: Sequence[References]
    minimum: int

    def regions(
        self,
        codes: CodeArray,
        counts: IntArray,
        region_of: IntArray,
        levels: int | None = None,
        stopped: Stopped = never_stopped,
    ) -> PartRegions:
        """Cut regions until no further cut improves them.

        Parameters
        ----------
        codes: of the values, shape (rows, quasi-identifiers + sensitive attributes), in the order of the
            table; a relaxed cut goes by that order.
        counts: records of each row, shape (rows,).
        region_of: region that the cuts so far gave each row, shape (rows,), from 0, each with a row.
        levels: most levels that are cut, None for all.
        stopped: asked before each level whether it is to be the end.
        """
        checks = Checks(self.constraints, self.sensitive, codes[:, len(self.coding.axes) :], self.references)
        kernel = Kernel(self.mode, checks, self.minimum)
        store = stored(self.coding, np.arange(len(counts)), counts, self.coding.encode(codes), region_of)
        log, cuts, tried = CutLog(len(store.rows)), list[int](), list[int]()
        while (levels is None or len(cuts) < levels) and not stopped():
            store.close(kernel.large(store))
            if not store.open.any():
                break
            chosen, left = kernel.choose(store)
            log.note(np.flatnonzero(store.open)[chosen.cut], chosen, chosen.cut)
            store.cut(chosen.cut, chosen.target, left)
            cuts.append(int(chosen.cut.sum()))
            tried.append(chosen.tried)
        regions = store.everything()
        of_rows = (regions.owner, regions.counts, regions.region_of)
        return PartRegions(*of_rows, store.traces(), log, tuple(cuts), tuple(tried))


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


class TopLevels:
    """Regions of an engine, the large ones of which are cut by what it sums up of them.

    The cuts are those that the kernel would choose from the rows.

    Parameters
    ----------
    kept: the regions; stay the caller's.
    first: how many there are at first.
    most: combinations of a region that fits in memory.

    Attributes
    ----------
    log: of the cuts; its regions are the ones below, in this order.
    combinations, records: of each region, shape (regions,), int64.
    traces: of each region.
    depth: levels that each was cut in before, shape (regions,), int64.
    open: regions that may still be cut, shape (regions,), bool.
    """

    def __init__(self, kept: RegionStore, kernel: PartKernel, first: int, most: int) -> None:
        self._kept, self._kernel, self._most = kept, kernel, most
        self.log = CutLog(first)
        found = kept.sums(np.arange(first))
        self.combinations, self.records = found.combinations, found.records
        self.traces: Traces = found.traces
        self.depth = np.zeros(first, dtype=np.int64)
        self.open: BoolArray = self._cuttable(found.records)

    @property
    def large(self) -> BoolArray:
        """Regions that may still be cut and do not fit in memory, shape (regions,)."""
        return self.open & self.too_large

    @property
    def too_large(self) -> BoolArray:
        """Regions that do not fit in memory, shape (regions,)."""
        too_large: BoolArray = self.combinations > self._most
        return too_large

    def cut(self) -> tuple[int, int]:
        """Cut all large regions by one level; return how many were cut, and how many cuts were tried."""
        places = np.flatnonzero(self.large)
        places = places[np.argsort(self.log.regions[places])]
        level = _LevelOf(self._kept, self._kernel, self.log, self.records[places], self._at(places), places)
        chosen = level.chosen()
        self.open[places[~chosen.cut]] = False
        if chosen.cut.any():
            self._take(places[chosen.cut], chosen, level.cuts(chosen))
        return int(chosen.cut.sum()), chosen.tried

    def batches(self, places: IntArray) -> Iterator[IntArray]:
        """Divide regions into batches of equal depth that fit in memory; yields their numbers, ascending.

        Parameters
        ----------
        places: of regions that each fit, shape (regions,).
        """
        places = places[np.lexsort((self.log.regions[places], self.depth[places]))]
        upto = np.cumsum(self.combinations[places])
        # Where the depth changes, a batch ends.
        ends = np.flatnonzero(np.diff(self.depth[places], append=-1)) + 1
        first = 0
        while first < len(places):
            room = int(np.searchsorted(upto, self._most + (upto[first - 1] if first else 0), side="right"))
            last = min(max(room, first + 1), int(ends[np.searchsorted(ends, first, side="right")]))
            yield np.sort(self.log.regions[places[first:last]])
            first = last

    def _cuttable(self, records: IntArray) -> BoolArray:
        cuttable: BoolArray = records >= 2 * self._kernel.minimum
        return cuttable

    def _at(self, places: IntArray) -> Traces:
        return [own[places] for own in self.traces]

    def _take(self, places: IntArray, chosen: Chosen, cuts: list[RegionCut]) -> None:
        """Cut regions, and put both sides of each in its place."""
        self._kept.cut(cuts)
        times = np.ones(len(self.records), dtype=np.int64)
        times[places] = 2
        second = self.log.note(places, chosen, chosen.cut)
        sides = np.stack([second - 1, second], axis=1).ravel()
        found = self._kept.sums(self.log.regions[sides])
        self.depth = np.repeat(self.depth, times)
        self.depth[sides] += 1
        self.combinations = _replaced(self.combinations, times, sides, found.combinations)
        self.records = _replaced(self.records, times, sides, found.records)
        self.traces = [
            _replaced(own, times, sides, new) for own, new in zip(self.traces, found.traces, strict=True)
        ]
        self.open = np.repeat(self.open, times)
        self.open[sides] = self._cuttable(found.records)


class _LevelOf:
    """One level of the large regions.

    Parameters
    ----------
    records, traces: of these regions, by ascending numbers.
    places: of them among all, shape (regions,).
    """

    def __init__(
        self,
        kept: RegionStore,
        kernel: PartKernel,
        log: CutLog,
        records: IntArray,
        traces: Traces,
        places: IntArray,
    ) -> None:
        self._kept, self._kernel, self._log = kept, kernel, log
        self._numbers = log.regions[places]
        self._groups = Groups(records, traces)
        coding = kernel.coding
        self._frames = [
            axis.frames(coding.numbers(traces, position)) for position, axis in enumerate(coding.axes)
        ]

    def chosen(self) -> Chosen:
        """Return the cuts."""
        coding = self._kernel.coding
        summaries = [self._summary(position) for position in range(len(coding.axes))]
        sizes = all(each.model.by_size for each in self._kernel.constraints)
        source = SummedSource(coding, self._groups, summaries, by_size if sizes else self._hold)
        level = Level(source, self._kernel.mode, self._kernel.minimum)
        return level.chosen(*level.propose())

    def cuts(self, chosen: Chosen) -> list[RegionCut]:
        """Return the cuts that are made, as the engine needs them."""
        regions = np.flatnonzero(chosen.cut)
        left = [chosen.left[chosen.starts[own] : chosen.starts[own + 1]] for own in regions.tolist()]
        return self._cuts(Asked(regions, chosen.axis[regions], left))

    def _summary(self, position: int) -> PartSummary:
        """Return the parts of the regions along an axis, of which each is made of several codes."""
        found: RegionSums = self._kept.histogram(self._numbers, position)
        region = np.searchsorted(self._numbers, found.region)
        part = self._parts(position, found.code, region)
        space = int(part.max()) + 1
        keys = region * space + part
        order = np.argsort(keys, kind="stable")
        groups, starts = np.unique(keys[order], return_index=True)
        return PartSummary(
            groups // space,
            groups % space,
            np.add.reduceat(found.records[order], starts),
            [
                trace.reduction.ufunc.reduceat(own[order], starts)
                for trace, own in zip(self._kernel.coding.traces, found.traces, strict=True)
            ],
        )

    def _parts(self, position: int, codes: IntArray, region: IntArray) -> IntArray:
        """Return the part of its region that each code lies in; ``region`` is ascending."""
        axis, frames = self._kernel.coding.axes[position], self._frames[position]
        rows = np.bincount(region, minlength=self._groups.number)
        return axis.parts_of(axis.numbers[0].of_code[codes], frames, rows) - frames.first[region]

    def _hold(self, asked: Asked) -> BoolArray:
        """Ask the engine for the sensitive values of both sides of cuts, and the models about these."""
        kernel = self._kernel
        found = self._kept.sides(self._cuts(asked))
        checks = Checks(kernel.constraints, kernel.sensitive, found.codes, kernel.references)
        sides = Segments(found.region - self._log.number, 2 * len(asked.regions))
        held = checks.regions_hold(Regions(np.arange(len(found.counts)), found.counts, sides))
        return np.asarray(held.reshape(-1, 2).all(axis=1), dtype=np.bool_)

    def _cuts(self, asked: Asked) -> list[RegionCut]:
        """Return cuts by the codes that go to the left."""
        cuts = []
        for place, (region, position) in enumerate(
            zip(asked.regions.tolist(), asked.axis.tolist(), strict=True)
        ):
            frames = Frames(*(own[region : region + 1] for own in vars(self._frames[position]).values()))
            axis = self._kernel.coding.axes[position]
            numbers = axis.numbers[0].of_code
            parts = axis.parts_of(numbers, frames, np.array([len(numbers)])) - frames.first[0]
            goes_left: BoolArray = np.isin(parts, asked.left[place])
            left = self._log.number + 2 * place
            cuts.append(RegionCut(int(self._numbers[region]), position, goes_left, left))
        return cuts


def _replaced(values: IntArray, times: IntArray, sides: IntArray, found: IntArray) -> IntArray:
    """Return the values of regions, those of sides in the place of what was cut."""
    replaced = np.repeat(values, times)
    replaced[sides] = found
    return replaced


@dataclass(frozen=True, eq=False)
class Finished:
    """The regions that became of some regions; far fewer numbers than their rows.

    Attributes
    ----------
    given: numbers of these, ascending, shape (given regions,), int64.
    log: of the cuts, which began with them, in their order.
    traces: of the regions at the end, in the order of the log.
    counts: records of the regions at the end, numbered from 0 in this order, by sensitive values.
    cuts, tried: of each level, how many regions were cut and how many cuts were tried.
    """

    given: IntArray
    log: CutLog
    traces: Traces
    counts: SensitiveCounts
    cuts: tuple[int, ...]
    tried: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Finishing:
    """Cuts regions to the end; can be pickled.

    Attributes
    ----------
    levels: most levels that each region is cut by, by its number, shape (regions,), int64; None for all.
        Those of regions that are given together are equal.
    """

    kernel: PartKernel
    levels: IntArray | None

    def __call__(self, rows: RegionRows, stopped: Stopped) -> WorkResult[Finished]:
        """Return what becomes of the regions of some rows."""
        given, region_of = np.unique(rows.region, return_inverse=True)
        levels = None if self.levels is None else int(self.levels[given[0]])
        found = self.kernel.regions(rows.codes, rows.counts, region_of, levels, stopped)
        counts = self._counts(
            rows.codes[:, len(self.kernel.coding.axes) :], found.owner, found.region_of, found.counts
        )
        region = np.empty(len(rows.counts), dtype=np.int64)
        # A strict cut leaves each row whole.
        region[found.owner] = found.region_of
        return WorkResult(Finished(given, found.log, found.traces, counts, found.cuts, found.tried), region)

    def _counts(
        self, codes: CodeArray, owner: IntArray, region: IntArray, counts: IntArray
    ) -> SensitiveCounts:
        """Count the records of regions by sensitive values."""
        packing = Packing(len(owner))
        packing.add(region, int(region[-1]) + 1)
        for place, attribute in enumerate(self.kernel.sensitive):
            packing.add(codes[owner, place], attribute.column.size)
        space = packing.space
        distinct, records = add_up(packing.take_keys(), counts, space)
        told = packing.unpack(distinct)
        return SensitiveCounts(told[:, 0].astype(np.int64), told[:, 1:], records)


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
