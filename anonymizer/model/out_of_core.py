"""Interfaces to distinct rows that do not fit in memory: tables at generalization levels, and regions.

An engine counts the records at the levels that are requested, or stores each distinct row in a region while
regions are cut in two.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from anonymizer.model.arrays import BoolArray, CodeArray, IntArray
from anonymizer.model.classes import GroupStatistic, Traces
from anonymizer.model.table import Table
from anonymizer.system import Closing

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class CodedRows:
    """What of a combination is summed up over a group of them.

    Attributes
    ----------
    words: a combination is written as so many whole numbers below 2**62. Each is the sum of what some of its
        quasi-identifiers add to it: for the position of the quasi-identifier, what each of its codes adds,
        shape (codes,), int64, at least 0.
    traces: the aggregates of these numbers that are remembered of a group; ``GroupStatistic.column`` is the
        place of the number in ``words`` and ``GroupStatistic.reduction`` the name of the aggregate in SQL.
    """

    words: tuple[Mapping[int, IntArray], ...]
    traces: tuple[GroupStatistic, ...]


@dataclass(frozen=True, eq=False)
class FirstRegions:
    """The regions that cuts begin with: combinations whose codes stand for the same.

    Attributes
    ----------
    of_code: for each quasi-identifier the code that each of its codes stands for here, shape (codes,), int32.
    codes: what the combinations of region i stand for is ``codes[i]``, shape (regions, quasi-identifiers),
        int32; rows are distinct. Combinations that stand for none of them are in no region, and are not
        looked at. At least one region, each with a combination.
    every: whether all combinations are in one of them.
    """

    of_code: tuple[CodeArray, ...]
    codes: CodeArray
    every: bool


@dataclass(frozen=True, eq=False)
class RegionSums:
    """Sums over groups of combinations, each those of a region, or those of a region with one code.

    Attributes
    ----------
    region: number of the region of each group, shape (groups,), int64, ascending.
    code: of the quasi-identifier that was asked about, ascending within a region, shape (groups,), int64; all
        0 where whole regions were summed up.
    combinations, records: of each group, shape (groups,), int64, positive.
    traces: of each group, in the order of ``CodedRows.traces``, each of shape (groups,), int64.
    """

    region: IntArray
    code: IntArray
    combinations: IntArray
    records: IntArray
    traces: Traces


@dataclass(frozen=True, eq=False)
class RegionCut:
    """A cut of a region in two: ``left`` and ``left + 1`` are the numbers of its sides.

    Attributes
    ----------
    region: which is cut.
    position: of the quasi-identifier that tells the side.
    goes_left: whether combinations with each of its codes go to the left, shape (codes,), bool.
    left: number of the left side; the right one has the next number. Neither was given before.
    """

    region: int
    position: int
    goes_left: BoolArray
    left: int


@dataclass(frozen=True, eq=False)
class SensitiveCounts:
    """Records by region and sensitive values.

    Attributes
    ----------
    region: number of each row's region, shape (rows,), int64, ascending.
    codes: of the sensitive attributes, shape (rows, sensitive attributes), int32, rows of a region ascending
        and distinct; without sensitive attributes a region has one row.
    counts: records, shape (rows,), int64, positive.
    """

    region: IntArray
    codes: CodeArray
    counts: IntArray


@dataclass(frozen=True, eq=False)
class RegionRows:
    """Combinations of some regions, in memory.

    Attributes
    ----------
    codes: of the quasi-identifiers, then of the sensitive attributes, shape (rows, columns), int32; rows are
        distinct, in any order.
    counts: records of each, shape (rows,), int64.
    region: number of the region of each, shape (rows,), int64.
    """

    codes: CodeArray
    counts: IntArray
    region: IntArray


@dataclass(frozen=True, eq=False)
class WorkResult(Generic[T]):
    """What comes of some rows.

    Attributes
    ----------
    result: far smaller than the rows; can be pickled.
    region: in which region each row is at the end, shape (rows,), int64, from 0 on in the order of the
        result; every region has a row.
    """

    result: T
    region: IntArray


Stopped = Callable[[], bool]
"""Tells whether work is to end as soon as it can."""

Work = Callable[[RegionRows, Stopped], WorkResult[T]]
"""What is done with the rows of regions that fit in memory; can be pickled."""


def never_stopped() -> bool:
    """Tell that work goes on to its end."""
    return False


class RegionStore(Closing):
    """Distinct combinations kept by an engine, each in one region; closing gives back all that it took.

    The regions that cuts begin with have the numbers from 0 on, in their order. Where no combination is in a
    region that is asked about, it is left out of the answer.
    """

    @abstractmethod
    def sums(self, regions: IntArray) -> RegionSums:
        """Sum up whole regions.

        Parameters
        ----------
        regions: their numbers, distinct, ascending.
        """

    @abstractmethod
    def histogram(self, regions: IntArray, position: int) -> RegionSums:
        """Sum up the combinations with each code of a quasi-identifier in each of some regions.

        Only codes that occur in a region have a row.
        """

    @abstractmethod
    def sensitive_counts(self, regions: IntArray) -> SensitiveCounts:
        """Count the records of each combination of sensitive values in each of some regions."""

    @abstractmethod
    def sides(self, cuts: Sequence[RegionCut]) -> SensitiveCounts:
        """Return the same for the sides that cuts of different regions would have; nothing is cut."""

    @abstractmethod
    def cut(self, cuts: Sequence[RegionCut]) -> None:
        """Cut regions in two; those that are cut are asked about no more."""

    @abstractmethod
    def fetch(self, regions: IntArray) -> RegionRows:
        """Return the combinations of some regions into memory."""

    def each(self, batches: Sequence[IntArray], work: Work[T], stopped: Stopped) -> Iterator[T]:
        """Do some work with the combinations of each batch of regions, and return what comes of each.

        Whatever is done is done for each region by itself, so that an engine may divide a batch by regions.
        The order of what is returned is the same each time.

        Parameters
        ----------
        batches: of numbers of regions, disjoint, each ascending.
        work: done for each batch; here, or in other processes, then with ``never``.
        stopped: whether the user wants to end; work that has not begun is done all the same, told so.
        """
        for batch in batches:
            yield self._worked(batch, work, stopped)

    def _worked(self, batch: IntArray, work: Work[T], stopped: Stopped) -> T:
        """Return what comes of a batch; its rows are not held beside those of the next."""
        rows = self.fetch(batch)
        done = work(rows, stopped)
        self.note(rows, done.region)
        return done.result

    @abstractmethod
    def ends(self, ended: IntArray) -> RegionStore:
        """Return the regions at the end, of which combinations come to be known while ``each`` goes on.

        They are numbered from 0: those that are given here, in their order, then those that work makes of
        others, in the order in which ``each`` returns its results. They can be used when it has returned the
        last one, also after these here are closed, and are the caller's to close. To be called once.

        Parameters
        ----------
        ended: regions with which no work is done, shape (regions,).
        """

    @abstractmethod
    def note(self, rows: RegionRows, region: IntArray) -> None:
        """Note which region at the end each of some rows is in; nothing where nobody asks for the ends.

        Parameters
        ----------
        region: from 0 on among those that follow the ones noted so far, shape (rows,), each with a row.
        """


class TableSource(ABC):
    """What an engine counts when it is asked.

    A value that is generalized stands in a table as the lowest code of its node: generalized further, it is
    published as all values of the node are, and only then may it be published.
    """

    @abstractmethod
    def at(self, levels: Sequence[int], most: int) -> Table | None:
        """Return the table of records told apart by their nodes at generalization levels.

        Its quasi-identifiers may be used from these levels on.

        Parameters
        ----------
        levels: one for each quasi-identifier, within what it allows.
        most: combinations that are wanted at most.

        Returns
        -------
        None where there are more.
        """

    @abstractmethod
    def records_in_small_classes(self, levels: Sequence[int], least: int) -> int:
        """Count the records in equivalence classes of fewer than some number of records.

        Parameters
        ----------
        levels: of generalization, one for each quasi-identifier.
        least: records of a class that is not small.
        """

    @abstractmethod
    def in_regions(
        self, levels: Sequence[int], codes: CodeArray, coded: CodedRows, *, every: bool
    ) -> RegionStore:
        """Return all combinations, told apart by their values, in the regions that a search begins to cut.

        Parameters
        ----------
        levels: of generalization, one for each quasi-identifier.
        codes: a code under the nodes at these levels of each region, shape (regions, quasi-identifiers),
            int32; no two regions have the same nodes.
        coded: what is summed up.
        every: whether every combination is in one of them; the others are left out.
        """
