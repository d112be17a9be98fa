"""The distinct rows of coded columns with their counts, in memory or in an engine, and their regions.

Codes are packed into keys, in this process as in an engine. A region is cut in two again and again; an
engine with SQL returns sums over its regions, which answer several questions once fetched.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from anonymizer.model.arrays import BoolArray, CodeArray, IntArray
from anonymizer.model.classes import GroupStatistic
from anonymizer.model.counting import SPACE, Packing, add_up, count_keys, starts_of
from anonymizer.model.out_of_core import (
    CodedRows,
    FirstRegions,
    RegionCut,
    RegionRows,
    RegionStore,
    RegionSums,
    SensitiveCounts,
)
from anonymizer.system import Closing


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


class DistinctRows(Closing):
    """The distinct combinations of the codes of some columns, each with the number of its records.

    A frequency table that need not be in memory; to be closed.

    Attributes
    ----------
    sizes: number of codes of each column.
    """

    sizes: tuple[int, ...]

    @property
    @abstractmethod
    def number(self) -> int:
        """How many distinct combinations there are; counted exactly, at the first question."""

    @abstractmethod
    def fetch(self) -> tuple[CodeArray, IntArray]:
        """Return them into memory, in lexicographic order.

        Returns
        -------
        Codes, shape (combinations, columns), int32, and records of each, shape (combinations,), int64.
        """

    @abstractmethod
    def rolled_up(self, codes: Sequence[CodeArray | None]) -> DistinctRows:
        """Return the distinct combinations of coarser codes, counted anew.

        Parameters
        ----------
        codes: for each column the new code of each code, shape (size,), int32; in the same range as before;
            None for a column that stays as it is.
        """

    @abstractmethod
    def records_in_small_groups(self, columns: int, least: int) -> int:
        """Count the records in groups of fewer than some number of records.

        Parameters
        ----------
        columns: how many columns, from the first on, tell the groups.
        least: records of a group that is not small.
        """

    @abstractmethod
    def in_regions(self, first: FirstRegions, coded: CodedRows) -> RegionStore:
        """Return the combinations in regions that can be cut; these here are not changed.

        Can be used as long as these combinations are not closed.

        Parameters
        ----------
        first: the regions, told by the first columns, which are the quasi-identifiers; the others are the
            sensitive attributes.
        coded: what is summed up.
        """


class InMemoryRows(DistinctRows):
    """Combinations in memory.

    Parameters
    ----------
    codes, counts: as ``fetch`` returns them.
    """

    def __init__(self, codes: CodeArray, counts: IntArray, sizes: Sequence[int]) -> None:
        self._codes = codes
        self._counts = counts
        self.sizes = tuple(sizes)

    @property
    def number(self) -> int:
        """How many distinct combinations there are."""
        return len(self._counts)

    def fetch(self) -> tuple[CodeArray, IntArray]:
        """Return them."""
        return self._codes, self._counts

    def rolled_up(self, codes: Sequence[CodeArray | None]) -> InMemoryRows:
        """Return the distinct combinations of coarser codes, counted anew."""
        packing = Packing(self.number)
        for place, (new, size) in enumerate(zip(codes, self.sizes, strict=True)):
            own = self._codes[:, place]
            packing.add(own if new is None else new[own], size)
        distinct, counts = add_up(packing.take_keys(), self._counts, packing.space)
        return InMemoryRows(packing.unpack(distinct), counts, self.sizes)

    def records_in_small_groups(self, columns: int, least: int) -> int:
        """Count the records in groups of fewer than some number of records."""
        packing = Packing(self.number)
        for place, size in enumerate(self.sizes[:columns]):
            packing.add(self._codes[:, place], size)
        _, sizes = add_up(packing.take_keys(), self._counts, packing.space)
        return int(sizes[sizes < least].sum())

    def in_regions(self, first: FirstRegions, coded: CodedRows) -> HeldRegions:
        """Return the combinations in regions that can be cut."""
        return HeldRegions(self._codes, self._counts, first, coded)

    def close(self) -> None:
        """Nothing is to be given back."""


def counted_keys(packing: Packing, sizes: Sequence[int]) -> InMemoryRows:
    """Count the packed keys of records in memory; nothing can be added to them any more.

    Parameters
    ----------
    sizes: number of codes of each column that was packed.
    """
    distinct, counts = count_keys(packing.take_keys())
    return InMemoryRows(packing.unpack(distinct), counts, sizes)


@dataclass(frozen=True)
class Place:
    """Where the code of a column is in the packed keys.

    Attributes
    ----------
    word: which key.
    unit: what the code is multiplied by.
    size: number of codes.
    """

    word: int
    unit: int
    size: int


def places_of(sizes: Sequence[int]) -> tuple[Place, ...]:
    """Return places for columns of codes, so that keys sort as the rows of codes do."""
    words: list[list[int]] = [[]]
    space = 1
    for size in sizes:
        if space * max(size, 1) >= SPACE:
            words.append([])
            space = 1
        words[-1].append(max(size, 1))
        space *= max(size, 1)
    places = []
    for word, own in enumerate(words):
        units = [int(np.prod(own[place + 1 :], dtype=object)) for place in range(len(own))]
        places += [Place(word, unit, size) for unit, size in zip(units, own, strict=True)]
    return tuple(places)


def names_of(places: Sequence[Place]) -> tuple[str, ...]:
    """Return the names of the keys in SQL: w0, w1, …"""
    return tuple(f"w{word}" for word in range(places[-1].word + 1))


def packed(places: Sequence[Place], codes: CodeArray) -> list[IntArray]:
    """Return the keys of rows of codes, each of shape (rows,), int64."""
    keys: list[IntArray] = [np.zeros(len(codes), dtype=np.int64) for _ in names_of(places)]
    for place, column in zip(places, codes.T, strict=True):
        keys[place.word] += column.astype(np.int64) * place.unit
    return keys


def unpacked(places: Sequence[Place], keys: Sequence[IntArray]) -> CodeArray:
    """Return the codes of some rows, shape (rows, columns), int32, each column in one piece of memory."""
    codes = np.empty((len(places), len(keys[0])), dtype=np.int32)
    for column, place in enumerate(places):
        codes[column] = keys[place.word] // place.unit % place.size
    return codes.T


def traces_sql(traces: Sequence[GroupStatistic]) -> list[str]:
    """Return SQL for traces as t0, t1, …, of the numbers c0, c1, … that combinations are written as."""
    return [f"{own.reduction}(c{own.column}) AS t{place}" for place, own in enumerate(traces)]


def region_sums(found: Mapping[str, IntArray], traces: Sequence[GroupStatistic]) -> RegionSums:
    """Return sums by region and code, whose columns are called as in ``RegionSums``, but traces t0, t1, …"""
    told = [found[f"t{place}"] for place in range(len(traces))]
    return RegionSums(found["region"], found["code"], found["combinations"], found["records"], told)


def counts_by_values(found: Mapping[str, IntArray], attributes: int) -> SensitiveCounts:
    """Return records by region and so many sensitive attributes, whose codes are the columns s0, s1, …"""
    codes: CodeArray = np.empty((len(found["region"]), attributes), dtype=np.int32)
    for place in range(attributes):
        codes[:, place] = found[f"s{place}"]
    return SensitiveCounts(found["region"], codes, found["records"])


@dataclass(frozen=True, eq=False)
class Histograms:
    """What was found of some regions along bundles of quasi-identifiers.

    Attributes
    ----------
    regions: that were asked about, ascending.
    traces: of the sums.
    of_position: sums by the codes of a bundle, by the position of each of its quasi-identifiers, and what
        takes the code of that one out of the code of the bundle: ``code // unit % size``.
    """

    regions: IntArray
    traces: tuple[GroupStatistic, ...]
    of_position: dict[int, tuple[RegionSums, int, int]]

    def along(self, position: int) -> RegionSums:
        """Return the sums along a quasi-identifier for which there are some."""
        found, unit, size = self.of_position[position]
        return regrouped(found, self.traces, found.region, found.code // unit % size)

    def in_stretches(self, cut: RegionCut) -> RegionCut:
        """Return a cut with codes that its region has not on the side of the one before, if these are known.

        The codes that go to the left then lie in few stretches.
        """
        if not self._tells_of(cut):
            return cut
        found, unit, size = self.of_position[cut.position]
        present = np.zeros(size, dtype=bool)
        present[found.code[self._groups_of(cut.region, found)] // unit % size] = True
        # Of codes before the first that occurs, the first one.
        before = np.maximum.accumulate(np.where(present, np.arange(size), int(present.argmax())))
        return replace(cut, goes_left=cut.goes_left[before])

    def sides(self, cuts: Sequence[RegionCut]) -> RegionSums | None:
        """Return the sums of both sides of cuts of different regions; None where they are not known."""
        if not cuts or not all(map(self._tells_of, cuts)):
            return None
        parts = []
        for own in cuts:
            found, unit, size = self.of_position[own.position]
            part = _taken(found, self._groups_of(own.region, found))
            side = own.left + ~own.goes_left[part.code // unit % size]
            parts.append(regrouped(part, self.traces, side, np.zeros_like(side)))
        return _joined(parts)

    def _tells_of(self, cut: RegionCut) -> bool:
        return cut.position in self.of_position and bool(np.isin(cut.region, self.regions))

    def _groups_of(self, region: int, found: RegionSums) -> slice:
        """Return where the sums of a region are."""
        return slice(*np.searchsorted(found.region, [region, region + 1]).tolist())


def regrouped(
    found: RegionSums, traces: Sequence[GroupStatistic], region: IntArray, code: IntArray
) -> RegionSums:
    """Sum up sums anew, given another region and code of each, shape (groups,)."""
    if not len(region):
        return found
    keys = region * (int(code.max()) + 1) + code
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(starts_of(keys[order]))
    return RegionSums(
        region[order][starts],
        code[order][starts],
        np.add.reduceat(found.combinations[order], starts),
        np.add.reduceat(found.records[order], starts),
        [
            trace.reduction.ufunc.reduceat(own[order], starts)
            for trace, own in zip(traces, found.traces, strict=True)
        ],
    )


def of_some(found: RegionSums, regions: IntArray) -> RegionSums:
    """Return only what was found of some regions."""
    return _taken(found, np.flatnonzero(np.isin(found.region, regions)))


def _taken(found: RegionSums, groups: slice | IntArray) -> RegionSums:
    return RegionSums(
        found.region[groups],
        found.code[groups],
        found.combinations[groups],
        found.records[groups],
        [own[groups] for own in found.traces],
    )


def _joined(parts: Sequence[RegionSums]) -> RegionSums:
    """Return sums of different regions together, ascending by region."""
    region = np.concatenate([own.region for own in parts])
    together = RegionSums(
        region,
        np.concatenate([own.code for own in parts]),
        np.concatenate([own.combinations for own in parts]),
        np.concatenate([own.records for own in parts]),
        [np.concatenate(own) for own in zip(*(each.traces for each in parts), strict=True)],
    )
    return _taken(together, np.argsort(region))
