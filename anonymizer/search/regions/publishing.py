"""From regions to the recoding and to the classes that its reader sees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import IntArray
from anonymizer.model.counting import group_keys
from anonymizer.model.recoding import Recoding
from anonymizer.model.table import SUPPRESSED, Table
from anonymizer.search.regions.labelling import Labelling
from anonymizer.search.regions.regions import Regions
from anonymizer.search.regions.segments import Segments


@dataclass(frozen=True, eq=False)
class Release:
    """The rows of a release with the classes that its reader sees.

    Attributes
    ----------
    owner, counts: combination and records of each row, shape (rows,), int64.
    region_of: region of each row, -1 for starred ones, shape (rows,), int64.
    class_of: class of each row, shape (rows,), int64.
    classes: how many there are.
    """

    owner: IntArray
    counts: IntArray
    region_of: IntArray
    class_of: IntArray
    classes: int


class Publishing:
    """Publishes regions beside what was suppressed from the start.

    Parameters
    ----------
    gone: records of each combination that are suppressed, shape (combinations,), int64.
    kept_suppressed: whether these stay as a class of their own.
    """

    def __init__(self, table: Table, labelling: Labelling, gone: IntArray, *, kept_suppressed: bool) -> None:
        self._table = table
        self._labelling = labelling
        self._gone = gone
        self._starred = kept_suppressed

    def recoding(self, regions: Regions) -> Recoding:
        """Return the recoding of the table whose released records lie in the regions."""
        every = regions
        gone = np.flatnonzero(self._gone)
        if len(gone):
            alone = Segments(np.zeros(len(gone), dtype=np.int64), 1)
            every = Regions.joined([regions, Regions(gone, self._gone[gone], alone)])
        suppressed = np.arange(every.number) >= regions.number
        removed = np.zeros_like(suppressed) if self._starred else suppressed
        return self._labelling.recoding(self._table, every, suppressed, removed)

    def hides(self, recoding: Recoding) -> bool:
        """Tell whether records that are not suppressed are published like the starred ones."""
        return self._starred and hides(recoding)

    def release(self, regions: Regions) -> Release:
        """Return the released rows with their classes by the published texts."""
        recoding = self.recoding(regions)
        rows = np.flatnonzero(~recoding.removed)
        keys, number = np.zeros(len(rows), dtype=np.int64), 1
        for column in recoding.published():
            labels = len(column.labels)
            keys, distinct = group_keys(keys * labels + column.codes[rows], number * labels)
            number = len(distinct)
        order = np.argsort(regions.owner, kind="stable")
        region_of = np.full(len(recoding.suppressed), -1, dtype=np.int64)
        region_of[~recoding.suppressed] = regions.region_of[order]
        return Release(recoding.owners[rows], recoding.table.counts[rows], region_of[rows], keys, number)


def hides(recoding: Recoding) -> bool:
    """Tell whether records that are not suppressed are published with ``*`` in every quasi-identifier."""
    like = ~recoding.suppressed
    for column in recoding.published():
        like &= np.array([label == SUPPRESSED for label in column.labels])[column.codes]
    return bool(like.any())
