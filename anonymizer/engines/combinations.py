"""The distinct combinations of coded columns with their counts, wherever an engine keeps them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from anonymizer.engines.held_regions import HeldRegions
from anonymizer.model.arrays import CodeArray, IntArray
from anonymizer.model.counting import Packing, add_up, count_keys
from anonymizer.model.out_of_core import CodedRows, FirstRegions, RegionStore
from anonymizer.system import Closing


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
