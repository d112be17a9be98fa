"""The axes of Mondrian: how regions are cut along a quasi-identifier and published.

An attribute is cut along its hierarchy or between its values, and published as nodes, intervals or sets.
Regions keep whole units: values, or nodes at the lowest allowed level.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from anonymizer.loss.base import CellMetric
from anonymizer.model.arrays import BoolArray, CodeArray, FloatArray, IntArray, group_keys
from anonymizer.model.classes import Reduction
from anonymizer.model.labels import CLOSED, SET
from anonymizer.model.recoding import Cells
from anonymizer.model.table import Column, Hierarchy, PublishedValues, QuasiIdentifier, Table
from anonymizer.search.mondrian.regions import Segments

# A set is identified by two independent sums of random 62-bit numbers, one for each value; sets of equal sums
# are compared value by value.
_HASH_SEED = 20070515


def interval_column(attribute: QuasiIdentifier, low: CodeArray, high: CodeArray) -> Cells:
    """Return intervals from the lowest to the highest value of each region, both included.

    A region with missing and other values is published as the root of the hierarchy.

    Parameters
    ----------
    low, high: codes of an ordered attribute, shape (regions,).
    """
    column, size = attribute.column, attribute.column.size
    of_region, distinct = group_keys(low.astype(np.int64) * size + high, size * size)
    low, high = (distinct // size).astype(np.int32), (distinct % size).astype(np.int32)
    mixed = _is_missing(attribute, high) & (low < high)
    records = np.concatenate([[0], np.cumsum(column.counts)])
    covered = (high - low + 1).astype(np.int64)
    numbers = _numbers(column)
    values = PublishedValues(
        None if attribute.by_range else covered + _empty_leaves(attribute, low, high),
        covered,
        records[high + 1] - records[low],
        numbers[low],
        np.where(mixed, np.nan, numbers[high]),
        mixed,
        None,
    )
    root = attribute.node_values.take(np.zeros(1, dtype=np.int64))
    joined = values.joined(root)
    codes = np.where(mixed[of_region], len(distinct), of_region).astype(np.int32)
    ends = [(column.texts[a], column.texts[b]) for a, b in zip(low, high, strict=True)]
    labels = [a if a == b else CLOSED.write(a, b) for a, b in ends]
    return Cells(joined, [*labels, attribute.hierarchy.labels[0]], codes)


def _is_missing(attribute: QuasiIdentifier, codes: CodeArray) -> BoolArray:
    missing: BoolArray = np.full(len(codes), False)
    if attribute.column.missing is not None:
        missing = codes == attribute.column.missing
    return missing


def _empty_leaves(attribute: QuasiIdentifier, low: CodeArray, high: CodeArray) -> IntArray:
    """Count the leaves of the hierarchy in each interval that the input does not have."""
    numbers = attribute.column.numbers
    tree = attribute.hierarchy
    if numbers is None or tree.leaves == attribute.column.size:
        return np.zeros(len(low), dtype=np.int64)
    empty = np.setdiff1d(np.arange(tree.leaves), attribute.leaf)
    labels = [tree.labels[node] for node in tree.ancestors[0, empty].tolist()]
    values = np.sort([number for label in labels if (number := attribute.column.number(label)) is not None])
    # Comparisons with NaN are false, so a missing value bounds nothing.
    inside = np.searchsorted(values, numbers[high], "right") - np.searchsorted(values, numbers[low], "left")
    return np.where(np.isnan(numbers[low]) | np.isnan(numbers[high]), 0, inside).astype(np.int64)


def set_column(attribute: QuasiIdentifier, region_of: IntArray, codes: CodeArray, regions: int) -> Cells:
    """Return the set of the values in each region.

    Parameters
    ----------
    region_of: region of each row, shape (rows,), int64; every region has a row.
    codes: code of each row, shape (rows,).
    regions: their number.
    """
    column, size = attribute.column, attribute.column.size
    _, pairs = group_keys(region_of * size + codes, regions * size)
    members = pairs % size
    starts = np.searchsorted(pairs, np.arange(regions + 1) * size)
    of_region, chosen = _distinct_sets(members, starts, size)
    numbers = _numbers(column)
    sums = np.concatenate([[0], np.cumsum(column.counts[members])])
    sizes = np.diff(starts)
    filled = np.where(np.isnan(numbers), np.inf, numbers)[members]
    emptied = np.where(np.isnan(numbers), -np.inf, numbers)[members]
    low = np.minimum.reduceat(filled, starts[:-1])
    high = np.maximum.reduceat(emptied, starts[:-1])
    missing = np.logical_or.reduceat(_is_missing(attribute, members.astype(np.int32)), starts[:-1])
    values = PublishedValues(
        None if attribute.by_range else sizes.astype(np.int64),
        sizes.astype(np.int64),
        sums[starts[1:]] - sums[starts[:-1]],
        finite(low),
        finite(high),
        missing & (sizes > 1),
        None,
    )
    texts = [[column.texts[c] for c in members[starts[r] : starts[r + 1]].tolist()] for r in chosen]
    labels = [own[0] if len(own) == 1 else SET.write(own) for own in texts]
    return Cells(values.take(chosen), labels, of_region)


def finite(numbers: FloatArray) -> FloatArray:
    """Return numbers with NaN where they are infinite."""
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _numbers(column: Column) -> FloatArray:
    """Return the number of each value of a column, NaN where it has none, shape (values,)."""
    return np.full(column.size, np.nan) if column.numbers is None else column.numbers


def _distinct_sets(members: IntArray, starts: IntArray, size: int) -> tuple[CodeArray, IntArray]:
    """Number the distinct sets; return each region's number and a region for each number."""
    random = np.random.default_rng(_HASH_SEED)
    sums = [
        np.add.reduceat(random.integers(1, 2**62, size, dtype=np.int64)[members], starts[:-1])
        for _ in range(2)
    ]
    order = np.lexsort((*sums, np.diff(starts)))
    keys = np.stack([np.diff(starts), *sums], axis=1)[order]
    new = np.concatenate([[True], (keys[1:] != keys[:-1]).any(axis=1)])
    numbers = np.empty(len(order), dtype=np.int32)
    numbers[order] = np.cumsum(new) - 1
    chosen = order[new]
    lengths = np.diff(starts)
    offsets = np.arange(len(members)) - np.repeat(starts[:-1], lengths)
    twins = members[np.repeat(starts[chosen[numbers]], lengths) + offsets]
    assert np.array_equal(twins, members), "two sets of values have equal sums; choose another seed"
    return numbers, chosen


Published = TypeVar("Published")


@dataclass(frozen=True, eq=False)
class Number:
    """A whole number that represents a value of an axis in the coded rows.

    Attributes
    ----------
    of_code: for each of the column's codes, shape (values,), int64, below 2**bits.
    reductions: of the numbers of a group of rows, as traced.
    """

    of_code: IntArray
    bits: int
    reductions: tuple[Reduction, ...]

    @property
    def bitwise(self) -> bool:
        """Whether it may share a word with others."""
        return not set(self.reductions) & {Reduction.MIN, Reduction.MAX}


@dataclass(frozen=True, eq=False)
class Frames:
    """The parts of groups of rows along an axis, each group with its own.

    The part of a row is ``((number >> shift) & mask) - first``, from 0 to ``parts`` - 1.

    Attributes
    ----------
    shift, mask, first, parts: of each group, shape (groups,), int64; one part where there is nothing to cut.
    """

    shift: IntArray
    mask: IntArray
    first: IntArray
    parts: IntArray


class Axis(ABC, Generic[Published]):
    """How one quasi-identifier is cut and published, and at what cost.

    Parameters
    ----------
    share: weight of the attribute divided by the sum of all weights.

    Attributes
    ----------
    numbers: of a value in the coded rows; the first gives the part of a row.
    ordered: whether parts are cut in their own order, otherwise by falling frequency in the region.
    """

    numbers: tuple[Number, ...]
    ordered: bool

    def __init__(self, attribute: QuasiIdentifier, share: float) -> None:
        self.attribute = attribute
        self.share = share

    @abstractmethod
    def frames(self, numbers: Sequence[IntArray]) -> Frames:
        """Return the parts of groups.

        Parameters
        ----------
        numbers: the reductions of each of the axis's numbers over each group, in their order.
        """

    @abstractmethod
    def costs(self, numbers: Sequence[IntArray]) -> FloatArray:
        """Return the cost of what is published for each group, shape (groups,), in [0, 1]."""

    @abstractmethod
    def codes(self, numbers: Sequence[IntArray]) -> IntArray:
        """Return a code of the column that is published like each group, shape (groups,), int64."""

    @abstractmethod
    def traced_column(self, numbers: Sequence[IntArray]) -> Published:
        """Return the published value of each group, from the reductions of its numbers."""

    def column(self, codes: CodeArray, regions: Segments) -> Published:
        """Return the published value of each region.

        Parameters
        ----------
        codes: of the attribute's values, shape (rows,).
        """
        values = ((each, own.of_code[codes]) for own in self.numbers for each in own.reductions)
        return self.traced_column([each.ufunc.reduceat(own, regions.starts) for each, own in values])

    def parts_of(self, numbers: NDArray[Any], frames: Frames, rows: IntArray) -> IntArray:
        """Return the part of each row, before ``first`` is subtracted, shape (rows,), int64.

        Parameters
        ----------
        numbers: column of the coded rows with the axis's first number, group after group.
        rows: of each group, shape (groups,).
        """
        shift, mask = np.repeat(frames.shift, rows), np.repeat(frames.mask, rows)
        return (numbers.astype(np.int64, copy=False) >> shift) & mask

    @abstractmethod
    def named(self, numbers: Sequence[IntArray], group: IntArray, part: IntArray) -> IntArray:
        """Return the nodes of the hierarchy, or the units, of some parts of groups, shape (parts,), int64.

        Parameters
        ----------
        numbers: as for ``frames``.
        group, part: of each part, shape (parts,).
        """


def weight_shares(table: Table) -> list[float]:
    """Return the weight of each quasi-identifier divided by the sum of all weights."""
    weights = [attribute.weight for attribute in table.quasi_identifiers]
    return [weight / sum(weights) for weight in weights]


_TABLE_BITS = 20
"""Bits of a path up to which nodes are looked up in a dense table, else by bisection."""

_SHORT_BITS = 12
"""Bits of a path up to which levels are looked up: where groups are few, each call takes time."""

BLOCK = 1 << 16
"""Groups whose nodes are found at once."""


class NodeAxis(Axis[CodeArray]):
    """Regions are published as the lowest allowed node above all their values.

    The parts of a region are the children of that node, so that a side with one child descends to it.

    A value is written as its path from the root: for each level the number of the node among its siblings, in
    as many bits as the largest family of the level needs. The highest bit in which the paths of a region
    differ gives the level of the lowest node above it, and the bits before it identify this node.
    """

    ordered = False

    def __init__(self, attribute: QuasiIdentifier, share: float, metric: CellMetric) -> None:
        super().__init__(attribute, share)
        tree = attribute.hierarchy
        self._node_costs = metric.node_costs(attribute)
        self._below, self._paths = _paths(tree, attribute.minimum)
        self.bits = int(self._below[-1])
        self.numbers = (Number(self._paths[attribute.leaf], self.bits, (Reduction.OR, Reduction.AND)),)
        self._level_of_bits = np.searchsorted(self._below, np.arange(self.bits + 1)) + attribute.minimum
        self._level_of_path: IntArray | None = None
        if self.bits <= _SHORT_BITS:
            _, lengths = np.frexp(np.arange(1 << self.bits, dtype=np.float64))
            self._level_of_path = self._level_of_bits[lengths]
        self._table, self._offsets = self._nodes_by_path()

    def _nodes_by_path(self) -> tuple[CodeArray, IntArray]:
        """Return the node at each level by its path, level after level; empty if too large."""
        if self.bits > _TABLE_BITS:
            return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
        sizes = 1 << (self.bits - self._below)
        offsets = np.cumsum(sizes) - sizes
        table = np.zeros(int(sizes.sum()), dtype=np.int32)
        for level, (below, offset) in enumerate(zip(self._below, offsets, strict=True)):
            # Above the highest allowed level there is only the root.
            if self.attribute.minimum + level <= self.attribute.maximum:
                own = self.attribute.hierarchy.ancestors[self.attribute.minimum + level]
                table[offset + (self._paths >> below)] = own
        return table, offsets

    def levels(self, numbers: Sequence[IntArray]) -> IntArray:
        """Return the level of the lowest allowed node above each group, shape (groups,), int64."""
        different = numbers[0] ^ numbers[1]
        if self._level_of_path is not None:
            found: IntArray = self._level_of_path[different]
            return found
        # The exponent of a whole number below 2**53 is its length in bits.
        _, high = np.frexp((different >> 31).astype(np.float64))
        _, low = np.frexp(different.astype(np.float64))
        length = np.where(high > 0, high + 31, low) if self.bits > 52 else low
        return self._level_of_bits[length]

    def nodes(self, numbers: Sequence[IntArray]) -> CodeArray:
        """Return the lowest allowed node above each group, else the root, shape (groups,), int32."""
        nodes = np.empty(len(numbers[0]), dtype=np.int32)
        # Intermediate results are several times as long as the nodes.
        for start in range(0, len(nodes), BLOCK):
            some = slice(start, start + BLOCK)
            nodes[some] = self._nodes([each[some] for each in numbers])
        return nodes

    def _nodes(self, numbers: Sequence[IntArray]) -> CodeArray:
        levels = self.levels(numbers)
        below = self._below[levels - self.attribute.minimum]
        if len(self._table):
            return self._table[self._offsets[levels - self.attribute.minimum] + (numbers[0] >> below)]
        leaf = np.searchsorted(self._paths, (numbers[0] >> below) << below)
        nodes: CodeArray = self.attribute.hierarchy.ancestors[levels, leaf]
        return np.where(levels <= self.attribute.maximum, nodes, 0)

    def codes(self, numbers: Sequence[IntArray]) -> IntArray:
        """Return the code of the first leaf under each group's node that the column has."""
        order = np.argsort(self.attribute.leaf, kind="stable")
        first = self.attribute.hierarchy.first_leaf[self.nodes(numbers)]
        return order[np.searchsorted(self.attribute.leaf[order], first)]

    def frames(self, numbers: Sequence[IntArray]) -> Frames:
        """Return the children of each group's node, numbered from 0."""
        family = np.maximum(self.levels(numbers) - 1 - self.attribute.minimum, 0)
        bits = np.where(numbers[0] == numbers[1], 0, np.diff(self._below, append=self._below[-1])[family])
        parts = np.int64(1) << bits
        return Frames(self._below[family], parts - 1, np.zeros_like(parts), parts)

    def costs(self, numbers: Sequence[IntArray]) -> FloatArray:
        """Return the cost of each group's node."""
        return self._node_costs[self.nodes(numbers)]

    def named(self, numbers: Sequence[IntArray], group: IntArray, part: IntArray) -> IntArray:
        """Return the node of each part."""
        family = np.maximum(self.levels(numbers)[group] - 1 - self.attribute.minimum, 0)
        bits = np.diff(self._below, append=self._below[-1])[family]
        path = ((numbers[0][group] >> self._below[family] >> bits) << bits) | part
        leaf = np.searchsorted(self._paths, path << self._below[family])
        node: IntArray = self.attribute.hierarchy.ancestors[family + self.attribute.minimum, leaf]
        return node.astype(np.int64)

    def traced_column(self, numbers: Sequence[IntArray]) -> CodeArray:
        """Return the node of each group, shape (groups,), int32."""
        return self.nodes(numbers)


def _paths(tree: Hierarchy, minimum: int) -> tuple[IntArray, IntArray]:
    """Return the bits below each level from the lowest allowed one on, and the path of each leaf."""
    below, paths = [0], np.zeros(tree.leaves, dtype=np.int64)
    for level in range(minimum, tree.height):
        nodes = np.unique(tree.ancestors[level])
        parents = tree.parent[nodes]
        first = np.searchsorted(parents, parents)
        child = np.zeros(len(tree.labels), dtype=np.int64)
        child[nodes] = np.arange(len(nodes)) - first
        if below[-1] < 63:
            paths |= child[tree.ancestors[level]] << below[-1]
        below.append(below[-1] + int(child.max()).bit_length())
    return np.array(below, dtype=np.int64), paths


class DeepNodeAxis(NodeAxis):
    """A NodeAxis by leaf positions: the nodes of a tree in preorder cover ranges of them.

    The lowest node above a group is the lowest above its first and its last leaf. Parts are nodes, which are
    looked up, not read from bits.
    """

    def __init__(self, attribute: QuasiIdentifier, share: float, metric: CellMetric) -> None:
        super().__init__(attribute, share, metric)
        leaf = attribute.leaf.astype(np.int64)
        bits = max(attribute.hierarchy.leaves - 1, 1).bit_length()
        self.numbers = (Number(leaf, bits, (Reduction.MIN, Reduction.MAX)),)

    def levels(self, numbers: Sequence[IntArray]) -> IntArray:
        """Return the level of the lowest allowed node above each group."""
        own = self.attribute
        levels = np.full(len(numbers[0]), own.hierarchy.height, dtype=np.int64)
        for level in range(own.hierarchy.height - 1, own.minimum - 1, -1):
            ancestors = own.hierarchy.ancestors[level]
            levels[ancestors[numbers[0]] == ancestors[numbers[1]]] = level
        return levels

    def nodes(self, numbers: Sequence[IntArray]) -> CodeArray:
        """Return the lowest allowed node above each group, else the root."""
        levels = self.levels(numbers)
        nodes: CodeArray = self.attribute.hierarchy.ancestors[levels, numbers[0]]
        return np.where(levels <= self.attribute.maximum, nodes, 0)

    def frames(self, numbers: Sequence[IntArray]) -> Frames:
        """Return the nodes at the level of the parts; ``shift`` is that level."""
        family = np.maximum(self.levels(numbers) - 1, self.attribute.minimum)
        first, last = (self.attribute.hierarchy.ancestors[family, own].astype(np.int64) for own in numbers)
        return Frames(family, np.full_like(first, -1), first, last - first + 1)

    def parts_of(self, numbers: NDArray[Any], frames: Frames, rows: IntArray) -> IntArray:
        """Return the node that each row lies under."""
        parts: IntArray = self.attribute.hierarchy.ancestors[np.repeat(frames.shift, rows), numbers]
        return parts.astype(np.int64)

    def named(self, numbers: Sequence[IntArray], group: IntArray, part: IntArray) -> IntArray:
        """Return the node of each part."""
        return self.frames(numbers).first[group] + part


@dataclass(frozen=True, eq=False)
class Units:
    """The values of an attribute, grouped by their nodes at the lowest allowed level.

    Attributes
    ----------
    of_code: unit of each of the column's codes, shape (values,), int64; units go by their lowest code.
    members: codes sorted by unit, shape (values,), int64.
    low_code, high_code: lowest and highest code of each unit, shape (units,), int64.
    sizes, records: values of each unit and records with them, shape (units,), int64.
    low, high: smallest and largest number of each unit, shape (units,), float64; infinite without one.
    missing: whether it has the missing value, shape (units,), bool.
    """

    of_code: IntArray
    members: IntArray
    low_code: IntArray
    high_code: IntArray
    sizes: IntArray
    records: IntArray
    low: FloatArray
    high: FloatArray
    missing: BoolArray

    @property
    def number(self) -> int:
        """Number of units."""
        return len(self.sizes)


def units(attribute: QuasiIdentifier) -> Units:
    """Return the units of an attribute."""
    column = attribute.column
    _, lowest, node_of = np.unique(attribute.nodes(attribute.minimum), return_index=True, return_inverse=True)
    rank = np.empty(len(lowest), dtype=np.int64)
    rank[np.argsort(lowest)] = np.arange(len(lowest))
    of_code = rank[node_of]
    members = np.argsort(of_code, kind="stable")
    groups = Segments(of_code[members], len(lowest))
    known = _numbers(column)[members]
    missing = members == (-1 if column.missing is None else column.missing)
    return Units(
        of_code,
        members,
        np.minimum.reduceat(members, groups.starts),
        np.maximum.reduceat(members, groups.starts),
        groups.total(np.ones_like(members)),
        groups.total(column.counts[members]),
        np.minimum.reduceat(np.where(np.isnan(known), np.inf, known), groups.starts),
        np.maximum.reduceat(np.where(np.isnan(known), -np.inf, known), groups.starts),
        np.logical_or.reduceat(missing, groups.starts),
    )


class RegionAxis(Axis[Cells]):
    """The parts of every region are the units of the attribute: its values where all levels are allowed.

    Parameters
    ----------
    metric: of the costs of published values.
    """

    def __init__(self, attribute: QuasiIdentifier, share: float, metric: CellMetric) -> None:
        super().__init__(attribute, share)
        self.units = units(attribute)
        self.ordered = attribute.column.type.ordered
        self.metric = metric

    @property
    def unit(self) -> Number:
        """The unit of a value, traced by the lowest and highest of a group."""
        bits = max(self.units.number - 1, 1).bit_length()
        return Number(self.units.of_code, bits, (Reduction.MIN, Reduction.MAX))

    def codes(self, numbers: Sequence[IntArray]) -> IntArray:
        """Return the lowest code of each group."""
        return self.units.low_code[numbers[0]]

    def frames(self, numbers: Sequence[IntArray]) -> Frames:
        """Return the units from the lowest to the highest of each group."""
        first, last = numbers[:2]
        return Frames(np.zeros_like(first), np.full_like(first, -1), first, last - first + 1)

    def named(self, numbers: Sequence[IntArray], group: IntArray, part: IntArray) -> IntArray:
        """Return the unit of each part."""
        return numbers[0][group] + part


class IntervalAxis(RegionAxis):
    """Regions are published as the interval from their lowest to their highest value.

    A missing value is the last of the order, so that cuts separate it; together with others it costs as much
    as a suppressed cell.
    """

    def __init__(self, attribute: QuasiIdentifier, share: float, metric: CellMetric) -> None:
        super().__init__(attribute, share, metric)
        column = attribute.column
        # Units are ordered by their lowest code, but may overlap.
        highest = self.units.high_code[self.units.of_code]
        bits = max(column.size - 1, 1).bit_length()
        self.numbers = (self.unit, Number(highest, bits, (Reduction.MAX,)))
        self._numbers = _numbers(column)
        self._missing = -1 if column.missing is None else column.missing
        self._records = np.concatenate([[0], np.cumsum(column.counts)])

    def costs(self, numbers: Sequence[IntArray]) -> FloatArray:
        """Return the cost of each group's interval, or of the root if it has missing and other values.

        Only leaves of the input count.
        """
        low, high = self.units.low_code[numbers[0]], numbers[2]
        mixed = (high == self._missing) & (low < high)
        low = np.where(mixed, 0, low)
        covered = high - low + 1
        values = PublishedValues(
            None if self.attribute.by_range else np.where(mixed, self.attribute.hierarchy.leaves, covered),
            covered,
            self._records[high + 1] - self._records[low],
            finite(self._numbers[low]),
            np.where(mixed, np.nan, self._numbers[high]),
            mixed,
            None,
        )
        return self.metric.costs(self.attribute, values)

    def traced_column(self, numbers: Sequence[IntArray]) -> Cells:
        """Return the interval that each group is published as."""
        low = self.units.low_code[numbers[0]]
        return interval_column(self.attribute, low.astype(np.int32), numbers[2].astype(np.int32))


_MASK_BITS = 31
"""Units that share a mask; two masks fill a word."""

MASKED_UNITS = 8 * _MASK_BITS
"""Units that masks can mark; more are listed for each group."""


class SetAxis(RegionAxis):
    """Regions are published as the set of their values."""

    def __init__(self, attribute: QuasiIdentifier, share: float, metric: CellMetric) -> None:
        super().__init__(attribute, share, metric)
        starts = range(0, self.units.number, _MASK_BITS)
        self.numbers = (self.unit, *(self._mask(start) for start in starts))

    def _mask(self, start: int) -> Number:
        """Return a bit for each of some units, and none for the others."""
        bits = min(self.units.number - start, _MASK_BITS)
        place = self.units.of_code - start
        marked = (place >= 0) & (place < bits)
        masks = np.where(marked, np.int64(1) << np.where(marked, place, 0), 0)
        return Number(masks, bits, (Reduction.OR,))

    def costs(self, numbers: Sequence[IntArray]) -> FloatArray:
        """Return the cost of the set of each group, from the masks of its units."""
        return self.set_costs(*self._marked(numbers))

    def _marked(self, numbers: Sequence[IntArray]) -> tuple[IntArray, Segments]:
        """Return the distinct units of each group, group after group, and the groups they lie in."""
        masks = np.stack(numbers[2:], axis=1).astype("<u4").view(np.uint8)
        bits = np.unpackbits(masks, axis=1, bitorder="little").reshape(len(numbers[0]), -1, 32)
        marked = np.ascontiguousarray(bits[:, :, :_MASK_BITS]).reshape(len(numbers[0]), -1)
        group, unit = np.divmod(np.flatnonzero(marked), marked.shape[1])
        return unit, Segments(group, len(numbers[0]))

    def members(self, values: IntArray, groups: Segments) -> tuple[IntArray, Segments]:
        """Return the distinct units of each group, group after group, and the groups they lie in."""
        size = self.units.number
        _, distinct = group_keys(groups.of_row * size + values, groups.number * size)
        of_member = distinct // size
        return distinct - of_member * size, Segments(of_member, groups.number)

    def set_costs(self, members: IntArray, own: Segments) -> FloatArray:
        """Return the cost of the set of each group, from its distinct units, group after group."""
        covered = own.total(self.units.sizes[members])
        missing = np.logical_or.reduceat(self.units.missing[members], own.starts)
        values = PublishedValues(
            None if self.attribute.by_range else covered,
            covered,
            own.total(self.units.records[members]),
            finite(np.minimum.reduceat(self.units.low[members], own.starts)),
            finite(np.maximum.reduceat(self.units.high[members], own.starts)),
            missing & (covered > 1),
            None,
        )
        return self.metric.costs(self.attribute, values)

    def traced_column(self, numbers: Sequence[IntArray]) -> Cells:
        """Return the set of each group, from the masks of its units."""
        return self.set_column(*self._marked(numbers))

    def set_column(self, members: IntArray, own: Segments) -> Cells:
        """Return the set of each group, from its distinct units, group after group."""
        sizes = self.units.sizes[members]
        region_of = np.repeat(own.of_row, sizes)
        firsts = np.cumsum(self.units.sizes) - self.units.sizes
        offsets = np.arange(len(region_of)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        column_codes = self.units.members[np.repeat(firsts[members], sizes) + offsets]
        return set_column(self.attribute, region_of, column_codes.astype(np.int32), own.number)


class LargeSetAxis(SetAxis):
    """A SetAxis without masks, so that traces do not determine costs: the values of each group are listed.

    Such a search needs all rows in memory.
    """

    def __init__(self, attribute: QuasiIdentifier, share: float, metric: CellMetric) -> None:
        super().__init__(attribute, share, metric)
        self.numbers = (self.unit,)

    def costs(self, numbers: Sequence[IntArray]) -> FloatArray:
        """Return 0 for each group: ``listed_costs`` gives the costs."""
        return np.zeros(len(numbers[0]))

    def column(self, codes: CodeArray, regions: Segments) -> Cells:
        """Return the set of each region."""
        return self.set_column(*self.members(self.units.of_code[codes], regions))

    def listed_costs(self, numbers: NDArray[Any], groups: Segments) -> FloatArray:
        """Return the cost of the set of each group, shape (groups,), in [0, 1].

        Parameters
        ----------
        numbers: the first number of each row, group after group, shape (rows,).
        """
        return self.set_costs(*self.members(numbers.astype(np.int64), groups))
