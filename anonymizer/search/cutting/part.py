"""The kernel on a part of the table: what a process elsewhere is given, and what it returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import CodeArray, IntArray
from anonymizer.model.classes import Traces
from anonymizer.model.out_of_core import Stopped, never_stopped
from anonymizer.model.table import SensitiveAttribute
from anonymizer.privacy.base import ClassConstraint
from anonymizer.search.cutting.coding import Coding
from anonymizer.search.cutting.kernel import Kernel
from anonymizer.search.cutting.log import CutLog
from anonymizer.search.cutting.store import stored
from anonymizer.search.regions.checks import Checks, References
from anonymizer.search.regions.mode import Mode


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
