"""The regions of a multidimensional recoding: groups of records that lie together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.search.regions.segments import Segments


@dataclass(frozen=True, eq=False)
class Regions:
    """Rows sorted by region; a row is some records of one combination, which may lie in several regions.

    Attributes
    ----------
    owner: combination of the table for each row, shape (rows,), int64, ascending within a region.
    counts: records of each row, shape (rows,), int64, positive.
    segments: region of each row.
    """

    owner: IntArray
    counts: IntArray
    segments: Segments

    @property
    def number(self) -> int:
        """How many regions there are."""
        return self.segments.number

    @property
    def region_of(self) -> IntArray:
        """Region of each row, shape (rows,), int64."""
        return self.segments.of_row

    @cached_property
    def sizes(self) -> IntArray:
        """Records of each region, shape (regions,), int64."""
        return self.segments.total(self.counts)

    def keep(self, kept: BoolArray) -> Regions:
        """Return only the regions that are kept, shape (regions,), numbered anew."""
        return self.part(self.counts, kept)

    def part(self, counts: IntArray, kept: BoolArray) -> Regions:
        """Return part of the records of the regions that are kept, which must not be left empty.

        Parameters
        ----------
        counts: records of each row that are taken, shape (rows,), int64, 0 for none.
        kept: shape (regions,).
        """
        rows = np.flatnonzero(kept[self.region_of] & (counts > 0))
        numbers = np.cumsum(kept) - 1
        return Regions(
            self.owner[rows], counts[rows], Segments(numbers[self.region_of[rows]], int(kept.sum()))
        )

    def halves(self, left: IntArray, cut: BoolArray) -> Regions:
        """Return the left sides of the regions that are cut, followed by their right sides.

        Parameters
        ----------
        left: records of each row that go to the left, shape (rows,), int64.
        cut: shape (regions,).
        """
        return Regions.joined([self.part(left, cut), self.part(self.counts - left, cut)])

    @classmethod
    def joined(cls, several: Sequence[Regions]) -> Regions:
        """Return regions one after the other, numbered anew."""
        before = np.cumsum([0, *(each.number for each in several)])
        region_of = [each.region_of + first for each, first in zip(several, before[:-1], strict=True)]
        return cls(
            np.concatenate([each.owner for each in several]),
            np.concatenate([each.counts for each in several]),
            Segments(np.concatenate(region_of), int(before[-1])),
        )
