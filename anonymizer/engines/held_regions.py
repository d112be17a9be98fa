"""Combinations in memory, in regions that are cut."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np

from anonymizer.model.arrays import BoolArray, CodeArray, IntArray
from anonymizer.model.out_of_core import (
    CodedRows,
    FirstRegions,
    RegionCut,
    RegionRows,
    RegionStore,
    RegionSums,
    SensitiveCounts,
)


class HeldRegions(RegionStore):
    """Regions of combinations in memory.

    Parameters
    ----------
    codes: shape (combinations, columns), int32, quasi-identifiers first.
    counts: records of each, shape (combinations,), int64.
    first: the regions that cuts begin with.
    coded: what is summed up.
    """

    def __init__(self, codes: CodeArray, counts: IntArray, first: FirstRegions, coded: CodedRows) -> None:
        self._codes, self._counts, self._coded = codes, counts, coded
        self._width = len(first.of_code)
        own = np.stack([new[codes[:, place]] for place, new in enumerate(first.of_code)], axis=1)
        stacked = np.concatenate([first.codes, own])
        distinct, inverse = np.unique(stacked, axis=0, return_inverse=True)
        numbers = np.full(len(distinct), -1, dtype=np.int64)
        numbers[inverse.ravel()[: len(first.codes)]] = np.arange(len(first.codes))
        self._region: IntArray = numbers[inverse.ravel()[len(first.codes) :]]
        self._ends: HeldRegions | None = None
        self._known = 0
        self._words: list[IntArray] = []
        for word in coded.words:
            written = np.zeros(len(counts), dtype=np.int64)
            for place, adds in word.items():
                written += adds[codes[:, place]]
            self._words.append(written)

    def sums(self, regions: IntArray) -> RegionSums:
        """Sum up whole regions."""
        rows = self._rows(regions)
        return self._summed(rows, np.zeros(len(rows), dtype=np.int64), 1)

    def histogram(self, regions: IntArray, position: int) -> RegionSums:
        """Sum up the combinations with each code of a quasi-identifier in each of some regions."""
        rows = self._rows(regions)
        codes = self._codes[rows, position].astype(np.int64)
        return self._summed(rows, codes, int(codes.max(initial=0)) + 1)

    def sensitive_counts(self, regions: IntArray) -> SensitiveCounts:
        """Count the records of each combination of sensitive values in each of some regions."""
        rows = self._rows(regions)
        return self._sensitive(rows, self._region[rows])

    def sides(self, cuts: Sequence[RegionCut]) -> SensitiveCounts:
        """Return the same for the sides that cuts of different regions would have."""
        region = self._after(cuts)
        rows = np.flatnonzero(region != self._region)
        return self._sensitive(rows, region[rows])

    def cut(self, cuts: Sequence[RegionCut]) -> None:
        """Cut regions in two."""
        self._region = self._after(cuts)

    def fetch(self, regions: IntArray) -> RegionRows:
        """Return the combinations of some regions."""
        rows = self._rows(regions)
        return RegionRows(self._codes[rows], self._counts[rows], self._region[rows])

    def ends(self, ended: IntArray) -> HeldRegions:
        """Return the regions at the end."""
        ends = copy(self)
        order = np.argsort(ended)
        place = np.minimum(np.searchsorted(ended[order], self._region), max(len(ended) - 1, 0))
        ends._region = np.full(len(self._region), -1, dtype=np.int64)
        rows = np.flatnonzero(np.isin(self._region, ended))
        ends._region[rows] = order[place[rows]]
        self._ends, self._known = ends, len(ended)
        return ends

    def note(self, rows: RegionRows, region: IntArray) -> None:
        """Note the region of each of some rows."""
        if self._ends is None:
            return
        stacked = np.concatenate([self._codes, rows.codes])
        _, inverse = np.unique(stacked, axis=0, return_inverse=True)
        numbers = inverse.ravel()
        place_of = np.empty(len(self._codes), dtype=np.int64)
        place_of[numbers[: len(self._codes)]] = np.arange(len(self._codes))
        self._ends._region[place_of[numbers[len(self._codes) :]]] = region + self._known
        self._known += int(region.max()) + 1

    def close(self) -> None:
        """Nothing is to be given back."""

    def _rows(self, regions: IntArray) -> IntArray:
        return np.flatnonzero(np.isin(self._region, regions))

    def _after(self, cuts: Sequence[RegionCut]) -> IntArray:
        region = self._region.copy()
        for each in cuts:
            rows = np.flatnonzero(self._region == each.region)
            left: BoolArray = each.goes_left[self._codes[rows, each.position]]
            region[rows] = each.left + ~left
        return region

    def _summed(self, rows: IntArray, codes: IntArray, size: int) -> RegionSums:
        keys = self._region[rows] * size + codes
        order = np.argsort(keys, kind="stable")
        groups, starts, combinations = np.unique(keys[order], return_index=True, return_counts=True)
        rows = rows[order]
        return RegionSums(
            groups // size,
            groups % size,
            combinations.astype(np.int64),
            np.add.reduceat(self._counts[rows], starts),
            [
                own.reduction.ufunc.reduceat(self._words[own.column][rows], starts)
                for own in self._coded.traces
            ],
        )

    def _sensitive(self, rows: IntArray, region: IntArray) -> SensitiveCounts:
        columns = np.concatenate([region[:, np.newaxis], self._codes[rows, self._width :]], axis=1)
        groups, inverse = np.unique(columns, axis=0, return_inverse=True)
        counts = np.zeros(len(groups), dtype=np.int64)
        np.add.at(counts, inverse.ravel(), self._counts[rows])
        return SensitiveCounts(groups[:, 0].astype(np.int64), groups[:, 1:].astype(np.int32), counts)
