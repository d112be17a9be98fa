"""Distinct combinations that an engine keeps, each in a region, while regions are cut in two."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from anonymizer.core.arrays import BoolArray, CodeArray, IntArray
from anonymizer.core.closing import Closing
from anonymizer.core.trace import GroupStatistic, Traces

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class CodedRows:
    """What of a combination is summed up over a group of them.

    Attributes
    ----------
    words: a combination is written as so many whole numbers below 2**62. Each is the sum of what some of its
        quasi-identifiers add to it: for the position of the quasi-identifier, what each of its codes adds,
        shape (codes,), int64, at least 0.
    traces: the aggregates of these numbers that are remembered of a group, ``GroupStatistic.column`` being the place
        of the number in ``words`` and ``GroupStatistic.reduction`` the name of the aggregate in SQL.
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
