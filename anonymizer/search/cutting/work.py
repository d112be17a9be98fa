"""What is done with regions that fit in memory, here or in another process, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import CodeArray, IntArray
from anonymizer.model.classes import Traces
from anonymizer.model.counting import Packing, add_up
from anonymizer.model.out_of_core import RegionRows, SensitiveCounts, Stopped, WorkResult
from anonymizer.search.cutting.log import CutLog
from anonymizer.search.cutting.part import PartKernel


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
