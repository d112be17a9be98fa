"""Counting the classes of lattice nodes from a frequency table that is rolled up as the search goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anonymizer.core.arrays import CodeArray, IntArray
from anonymizer.core.classes import Classes, SensitiveCodes
from anonymizer.core.grouping import count, group_keys
from anonymizer.core.table import QuasiIdentifier, Table
from anonymizer.loss.lattice import Marginals

Codes = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class _Level:
    """One generalization level of an attribute: the rank among its nodes of each base value."""

    ranks: Codes
    size: int


@dataclass(frozen=True, eq=False)
class _Attribute:
    """One attribute of a rolled-up table, whose base values are its nodes at some lowest level.

    Attributes
    ----------
    codes: base value of each combination, in the smallest unsigned type that holds it.
    nodes: hierarchy node of each base value at each level from the lowest up, shape (levels, base values).
    levels: the same as ranks, for packed keys.
    """

    lowest: int
    codes: Codes
    nodes: CodeArray
    levels: list[_Level]

    @classmethod
    def of(cls, lowest: int, codes: Codes, nodes: CodeArray) -> _Attribute:
        levels = []
        for own in nodes:
            distinct, ranks = np.unique(own, return_inverse=True)
            levels.append(_Level(_compact(ranks, len(distinct)), len(distinct)))
        return cls(lowest, _compact(codes, nodes.shape[1]), nodes, levels)

    def at(self, level: int) -> _Level:
        return self.levels[level - self.lowest]

    def raised(self, lowest: int, codes: Codes) -> _Attribute:
        """Return the attribute with the nodes of a higher level as base values."""
        ranks = self.at(lowest).ranks
        first = np.empty(self.at(lowest).size, dtype=np.int64)
        first[ranks] = np.arange(len(ranks))
        return _Attribute.of(lowest, codes, self.nodes[lowest - self.lowest :, first])


def _compact(codes: Codes, size: int) -> Codes:
    return codes.astype(np.min_scalar_type(max(size - 1, 0)), copy=False)


class RollUp:
    """A frequency table whose quasi-identifiers are generalized to some lowest levels.

    Every node of the lattice at or above those levels can be counted from it, and the fewer combinations
    there are, the faster. Nothing below them can.

    Attributes
    ----------
    lowest: the lowest level of each quasi-identifier.
    counts: records of each combination, shape (combinations,), int64.
    """

    def __init__(
        self, attributes: Sequence[_Attribute], counts: IntArray, sensitive: dict[str, SensitiveCodes]
    ) -> None:
        self._attributes = attributes
        self.counts = counts
        self._sensitive = sensitive
        self.lowest = tuple(attribute.lowest for attribute in attributes)

    @classmethod
    def of(cls, table: Table) -> RollUp:
        """Return the table as it is, every quasi-identifier at its lowest allowed level."""
        attributes = [
            _start(attribute, table.quasi_identifier_codes(position))
            for position, attribute in enumerate(table.quasi_identifiers)
        ]
        sensitive = {
            attribute.name: SensitiveCodes(attribute, table.sensitive_codes(attribute.name).astype(np.int64))
            for attribute in table.sensitive
        }
        return cls(attributes, table.counts, sensitive)

    def _groups(self, levels: Sequence[int]) -> tuple[IntArray, int]:
        """Number the combinations' classes at a node; return the numbers and how many there are."""
        keys, space = np.zeros(len(self.counts), dtype=np.int64), 1
        for attribute, level in zip(self._attributes, levels, strict=True):
            at = attribute.at(level)
            if at.size == 1:
                continue
            if space * at.size >= 2**62:
                keys, distinct = group_keys(keys, space)
                space = len(distinct)
            keys *= at.size
            keys += at.ranks[attribute.codes]
            space *= at.size
        groups, distinct = group_keys(keys, space)
        return groups, len(distinct)

    def classes(self, levels: Sequence[int]) -> Classes:
        """Return the equivalence classes of a node at or above the lowest levels."""
        groups, number = self._groups(levels)
        return Classes(groups, self.counts, number, self._sensitive)

    def marginals(self, records: IntArray, unplaced: int = 0) -> Marginals:
        """Count records by the values of each attribute.

        Parameters
        ----------
        records: how many of each combination are counted, shape (combinations,), int64.
        unplaced: further records whose combinations are not known.
        """
        items = np.flatnonzero(records)
        weights = records[items]
        return Marginals(
            tuple(
                count(attribute.codes[items].astype(np.int64), weights, attribute.nodes.shape[1])
                for attribute in self._attributes
            ),
            tuple(attribute.nodes for attribute in self._attributes),
            self.lowest,
            unplaced,
        )

    def raised(self, lowest: Sequence[int]) -> RollUp:
        """Return the table rolled up to higher lowest levels."""
        if tuple(lowest) == self.lowest:
            return self
        groups, number = self._groups(lowest)
        sensitive = self._sensitive
        for own in sensitive.values():
            size = own.attribute.column.size
            groups, distinct = group_keys(groups * size + own.codes, number * size)
            number = len(distinct)
        first = np.empty(number, dtype=np.int64)
        first[groups] = np.arange(len(groups))
        attributes = [
            attribute.raised(level, attribute.at(level).ranks[attribute.codes[first]])
            for attribute, level in zip(self._attributes, lowest, strict=True)
        ]
        return RollUp(
            attributes,
            count(groups, self.counts, number),
            {name: SensitiveCodes(own.attribute, own.codes[first]) for name, own in sensitive.items()},
        )


def _start(attribute: QuasiIdentifier, codes: CodeArray) -> _Attribute:
    own = _Attribute.of(0, codes, attribute.hierarchy.ancestors[:, attribute.leaf])
    return own.raised(attribute.minimum, own.at(attribute.minimum).ranks[own.codes])
