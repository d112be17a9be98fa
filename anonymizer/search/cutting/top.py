"""The first levels of Mondrian over combinations that an engine keeps, until each region fits in memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Traces
from anonymizer.model.out_of_core import RegionCut, RegionStore, RegionSums
from anonymizer.search.cutting.chosen import Chosen
from anonymizer.search.cutting.level import Level
from anonymizer.search.cutting.log import CutLog
from anonymizer.search.cutting.part import PartKernel
from anonymizer.search.cutting.summary import Groups, PartSummary
from anonymizer.search.cutting.summed import Asked, SummedSource, by_size
from anonymizer.search.regions.axis import Frames
from anonymizer.search.regions.checks import Checks
from anonymizer.search.regions.regions import Regions
from anonymizer.search.regions.segments import Segments


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
