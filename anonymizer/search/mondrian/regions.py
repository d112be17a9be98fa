"""The regions of a multidimensional recoding, with checks of class constraints and per-region sums.

Constraints are checked under every reference distribution. A relaxed cut divides the records with the median
value between the sides.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from anonymizer.model.arrays import BoolArray, CodeArray, IntArray, group_keys
from anonymizer.model.classes import Classes, SensitiveCodes
from anonymizer.model.measure import Measure
from anonymizer.model.table import SensitiveAttribute
from anonymizer.model.units import Units
from anonymizer.privacy.base import ClassConstraint
from anonymizer.search.base import SearchProblem
from anonymizer.search.suppression.suppressor import References, holding


@dataclass(frozen=True, eq=False)
class Segments:
    """Consecutive groups of rows.

    Attributes
    ----------
    of_row: group of each row, shape (rows,), int64, ascending, every group with at least one row.
    number: of groups.
    """

    of_row: IntArray
    number: int

    @cached_property
    def starts(self) -> IntArray:
        """First row of each group, shape (groups,), int64."""
        return np.searchsorted(self.of_row, np.arange(self.number))

    def total(self, values: IntArray) -> IntArray:
        """Return the sum of the values of each group, shape (groups,)."""
        return np.add.reduceat(values, self.starts)

    def running(self, values: IntArray) -> IntArray:
        """Return the sums of the values from the first of each group up to each row, shape (rows,)."""
        sums = np.cumsum(values)
        before = (sums - values)[self.starts]
        return sums - before[self.of_row]

    def first(self, chosen: IntArray) -> IntArray:
        """Return the first of some rows in each group, -1 in a group without any, shape (groups,).

        Parameters
        ----------
        chosen: rows, ascending.
        """
        found = np.full(self.number, -1, dtype=np.int64)
        # The last assignment to a group wins.
        found[self.of_row[chosen[::-1]]] = chosen[::-1]
        return found


@dataclass(frozen=True, eq=False)
class Regions:
    """Rows sorted by region; a row is some records of one combination, which may be in several regions.

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
        """Number of regions."""
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
        """Return the kept regions, shape (regions,), numbered anew."""
        return self.part(self.counts, kept)

    def part(self, counts: IntArray, kept: BoolArray) -> Regions:
        """Return part of the records of the kept regions, of each at least one.

        Parameters
        ----------
        counts: taken records of each row, shape (rows,), int64, 0 for none.
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


@dataclass(frozen=True, eq=False)
class UnitsOfRows:
    """Persons or other units of one kind in rows sorted by region, to be counted on both sides of cuts.

    Attributes
    ----------
    fewest: no class with fewer of these units satisfies the constraints.
    alone: units that no other row of their region has, by row, shape (rows,), int64.
    row: of each pair of a row and another unit, sorted by region and unit, shape (pairs,), int64.
    starts: first pair of each unit in each region, shape (units of regions,), int64.
    """

    fewest: int
    alone: IntArray
    row: IntArray
    starts: IntArray

    @classmethod
    def of(cls, units: Units, regions: Segments, fewest: int) -> UnitsOfRows:
        """Return the units of rows in their regions.

        Parameters
        ----------
        units: of the rows.
        """
        # Regions times units is far below 2**63, as each has at least one row in memory.
        keys = regions.of_row[units.items] * units.space + units.keys
        group, groups = group_keys(keys, regions.number * units.space)
        sizes = np.bincount(group, minlength=len(groups))
        single = sizes[group] == 1
        alone = units.alone + np.bincount(units.items[single], minlength=len(units.alone))
        order = np.argsort(group[~single], kind="stable")
        sizes = sizes[sizes > 1]
        return cls(fewest, alone, units.items[~single][order], np.cumsum(sizes) - sizes)

    def select(self, kept: BoolArray) -> UnitsOfRows:
        """Return the units of some regions.

        Parameters
        ----------
        kept: which rows, shape (rows,), bool; all of a region or none.
        """
        inside = kept[self.row]
        numbers = np.cumsum(kept) - 1
        before: IntArray = np.cumsum(inside) - inside
        starts: IntArray = before[self.starts[inside[self.starts]]]
        return UnitsOfRows(self.fewest, self.alone[kept], numbers[self.row[inside]], starts)

    def suffice(self, part_of: NDArray[np.integer], parts: Segments) -> BoolArray:
        """Return behind which parts a region can be cut with enough units on both sides, shape (parts,).

        A unit is on the left from its first part on, and on the right up to its last.

        Parameters
        ----------
        part_of: part of each row, shape (rows,).
        parts: in the order of the cuts, in their regions.
        """
        number = len(parts.of_row)
        first = last = np.bincount(part_of, self.alone, number).astype(np.int64)
        if len(self.starts):
            own = part_of[self.row]
            first = first + np.bincount(np.minimum.reduceat(own, self.starts), minlength=number)
            last = last + np.bincount(np.maximum.reduceat(own, self.starts), minlength=number)
        right = parts.total(last)[parts.of_row] - parts.running(last)
        return (parts.running(first) >= self.fewest) & (right >= self.fewest)


class Checks:
    """Class constraints with their reference distributions.

    Parameters
    ----------
    sensitive: the sensitive attributes.
    codes: of their values, shape (combinations, sensitive attributes).
    references: p of each sensitive attribute; a class must satisfy the constraints under each.
    measure: what is counted of the combinations; None where only records are.
    """

    def __init__(
        self,
        constraints: Sequence[ClassConstraint],
        sensitive: Sequence[SensitiveAttribute],
        codes: CodeArray,
        references: Sequence[References],
        measure: Measure | None = None,
    ) -> None:
        self._measure = measure
        self._constraints = constraints
        self._references = references
        self._sensitive = {
            own.name: SensitiveCodes(own, codes[:, position].astype(np.int64))
            for position, own in enumerate(sensitive)
        }
        self._fewest: dict[str, int] = {}
        for each in constraints:
            if each.unit is not None and measure is not None:
                needed = max(self._fewest.get(each.unit, 1), self._fewest_of(each, measure.units[each.unit]))
                self._fewest[each.unit] = needed

    def _fewest_of(self, constraint: ClassConstraint, units: Units) -> int:
        """Return a number of units that no satisfying class is below.

        Such a class has as many pairs of a unit and a value as it needs records if each has one value.
        """
        if constraint.attribute is None:
            return constraint.minimum_units
        most = units.most_values(self._sensitive[constraint.attribute].codes)
        return max(constraint.minimum_units, -(-constraint.minimum_size // most))

    @classmethod
    def of(cls, problem: SearchProblem, references: Sequence[References]) -> Checks:
        """Return the class constraints of a problem."""
        table = problem.table
        codes = table.codes[:, len(table.quasi_identifiers) :]
        return cls(problem.class_constraints, table.sensitive, codes, references, table.measure)

    @property
    def by_size(self) -> bool:
        """Whether the constraints ask only for a number of records."""
        return all(each.by_size for each in self._constraints)

    @property
    def by_sizes(self) -> bool:
        """Whether the constraints ask only for numbers of records, persons and other units."""
        return all(each.model.by_size and each.knowledge is None for each in self._constraints)

    def units(self, owner: IntArray, counts: IntArray, regions: Segments) -> list[UnitsOfRows]:
        """Return the units of rows of which a class needs several.

        Parameters
        ----------
        owner, counts: combination and records of each row, shape (rows,).
        """
        return [
            UnitsOfRows.of(self._units_of(name, owner, counts), regions, fewest)
            for name, fewest in self._fewest.items()
            if fewest > 1
        ]

    def _units_of(self, name: str, owner: IntArray, counts: IntArray) -> Units:
        assert self._measure is not None, "constraints count units"
        return self._measure.units[name].parts(owner, counts, self._measure.records)

    def _parts(self, owner: IntArray, counts: IntArray) -> Measure:
        return Measure(counts) if self._measure is None else self._measure.parts(owner, counts)

    def classes(self, owner: IntArray, counts: IntArray, class_of: IntArray, number: int) -> Classes:
        """Return classes of rows, each some records of a combination of the table."""
        sensitive = {name: own.at(owner) for name, own in self._sensitive.items()}
        return Classes(class_of, self._parts(owner, counts), number, sensitive)

    def regions_hold(self, regions: Regions) -> BoolArray:
        """Return which regions satisfy every class constraint, shape (regions,)."""
        return self.hold(self.classes(regions.owner, regions.counts, regions.region_of, regions.number))

    def hold(self, classes: Classes) -> BoolArray:
        """Return which classes satisfy every class constraint, shape (classes,)."""
        return holding(self._constraints, classes, *self._references)


class Sharing(ABC):
    """Divides the records of rows between two sides, by the order of the table only."""

    @abstractmethod
    def share(self, counts: IntArray, region: IntArray, taken: IntArray, total: IntArray) -> IntArray:
        """Return the records of each row that go to the left, shape (rows,), int64.

        Parameters
        ----------
        counts: records of each row, shape (rows,), int64.
        region: of each row, ascending.
        taken: records of the row's region that go to the left, out of ``total``, shape (rows,), int64.
        """


def _running(counts: IntArray, region: IntArray) -> IntArray:
    numbers = np.cumsum(np.concatenate([[0], (region[1:] != region[:-1]).astype(np.int64)]))
    return Segments(numbers, int(numbers[-1]) + 1).running(counts)


class InOrder(Sharing):
    """The first records go to the left, so that at most one combination is divided."""

    def share(
        self,
        counts: IntArray,
        region: IntArray,
        taken: IntArray,
        total: IntArray,  # noqa: ARG002 - the first ones go, out of any number
    ) -> IntArray:
        """Return the records within the first ``taken`` of their region."""
        before = _running(counts, region) - counts
        return np.clip(taken - before, 0, counts)


class Proportional(Sharing):
    """Every combination is divided in the same proportion, up to rounding.

    With sets and intervals, a frequent combination then is in a class with different others in every region;
    kept together it would be one large class of its own.
    """

    def share(self, counts: IntArray, region: IntArray, taken: IntArray, total: IntArray) -> IntArray:
        """Return each row's share if the left side takes records at regular intervals."""
        upto = _running(counts, region)
        return upto * taken // total - (upto - counts) * taken // total
