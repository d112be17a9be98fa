"""What an earlier recoding publishes of other records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np

from anonymizer.errors import InputError
from anonymizer.model.arrays import BoolArray, CodeArray
from anonymizer.model.recoding import FullDomainRecoding, NodeRecoding, Recoding
from anonymizer.model.table import QuasiIdentifier, Table


class Applied(ABC):
    """An earlier recoding on a table of other records.

    Attributes
    ----------
    uncovered: combinations for which it has nothing to publish, shape (combinations,), bool.
    """

    uncovered: BoolArray

    @abstractmethod
    def recoding(self, suppressed: BoolArray) -> Recoding:
        """Return the recoding of the table with some combinations removed, shape (combinations,), bool."""


class AppliedLevels(Applied):
    """One level for each quasi-identifier, which has a node for every value."""

    def __init__(self, table: Table, levels: list[int]) -> None:
        self.uncovered = np.zeros(table.combinations, dtype=np.bool_)
        self._table = table
        self._levels = levels

    def recoding(self, suppressed: BoolArray) -> Recoding:
        """Return the full-domain recoding."""
        return FullDomainRecoding(self._table, self._levels, suppressed, suppressed)


class AppliedNodes(Applied):
    """A node for each combination and quasi-identifier."""

    def __init__(self, table: Table, nodes: CodeArray, uncovered: BoolArray) -> None:
        self.uncovered = uncovered
        self._table = table
        self._nodes = nodes

    def recoding(self, suppressed: BoolArray) -> Recoding:
        """Return the recoding by nodes."""
        return NodeRecoding(self._table, self._nodes, suppressed, suppressed)


def applied_levels(kept: Mapping[str, int], table: Table) -> Applied:
    """Return a full-domain recoding on a table; raises as ``levels_of`` does."""
    return AppliedLevels(table, levels_of(kept, table.quasi_identifiers))


def levels_of(kept: Mapping[str, int], attributes: Sequence[QuasiIdentifier]) -> list[int]:
    """Return the level of each quasi-identifier.

    Raises
    ------
    InputError: a hierarchy has no such level.
    """
    levels = []
    for attribute in attributes:
        level, highest = kept.get(attribute.name, -1), attribute.hierarchy.height
        if not 0 <= level <= highest:
            raise InputError(
                f"recoding.json: levels.{attribute.name}: {level}; the hierarchy has levels 0 to {highest}"
            )
        levels.append(level)
    return levels
