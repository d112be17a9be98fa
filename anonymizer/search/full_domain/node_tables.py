"""Where the lattice search has the frequency table of a node from: in memory, or asked of an engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from anonymizer.errors import TooManyDistinctRows
from anonymizer.model.out_of_core import TableSource
from anonymizer.model.table import Table
from anonymizer.search.base import SearchProblem
from anonymizer.search.full_domain.frontier import Levels
from anonymizer.search.full_domain.rollup import RollUp


@dataclass(frozen=True, eq=False)
class NodeTable:
    """A table from which a node can be counted, and the same rolled up."""

    table: Table
    rollup: RollUp


class NodeTables(ABC):
    """What the nodes of a lattice are counted from."""

    @abstractmethod
    def focus(self, lowest: Sequence[int]) -> None:
        """Expect questions about nodes at or above some levels alone, until told otherwise."""

    @abstractmethod
    def lost(self, levels: Levels) -> int | None:
        """Return the records that are suppressed for certain at a node that cannot be counted in memory.

        None where it can be counted. The records are in classes too small for the constraints, so every node
        below suppresses them too; there are more of them than may be suppressed.

        Raises
        ------
        BeyondMemory: it cannot be counted in memory, and might yet be valid.
        """

    @abstractmethod
    def rollup(self, levels: Levels) -> RollUp:
        """Return a roll-up that counts the classes of a node for which nothing is ``lost``."""

    @abstractmethod
    def whole(self, levels: Levels) -> NodeTable:
        """Return the table that a recoding at a node is of, told apart at least as finely as the node."""


class InMemoryTables(NodeTables):
    """All nodes from one table in memory."""

    def __init__(self, table: Table) -> None:
        self._whole = NodeTable(table, RollUp.of(table))
        self._rollup = self._whole.rollup

    def focus(self, lowest: Sequence[int]) -> None:
        """Roll the table up to the levels where that is likely to save time."""
        finer = any(new < old for new, old in zip(lowest, self._rollup.lowest, strict=True))
        self._rollup = (self._whole.rollup if finer else self._rollup).towards(lowest)

    def lost(self, levels: Levels) -> None:  # noqa: ARG002 - of any node
        """Return None: every node can be counted."""
        return

    def rollup(self, levels: Levels) -> RollUp:
        """Return the table rolled up to the focus, or the whole for a node outside."""
        return self._rollup if _below(self._rollup.lowest, levels) else self._whole.rollup

    def whole(self, levels: Levels) -> NodeTable:  # noqa: ARG002 - of any node
        """Return the whole table."""
        return self._whole


class OnDemandTables(NodeTables):
    """Tables that an engine counts, of which those last used are held.

    Parameters
    ----------
    problem: with a source.
    """

    def __init__(self, problem: SearchProblem, source: TableSource) -> None:
        self._source = source
        self._most = problem.most
        self._limit = problem.limit
        self._least = problem.minimum_size
        self._records = problem.table.records
        self._held: OrderedDict[Levels, NodeTable] = OrderedDict()

    def focus(self, lowest: Sequence[int]) -> None:
        """Hold the table of all the nodes, if it fits."""
        self._find(tuple(lowest))

    def lost(self, levels: Levels) -> int | None:
        """Count the records in classes that are too small, where there is no table of the node."""
        if self._find(levels) is not None:
            return None
        small = self._source.records_in_small_classes(levels, self._least)
        if small > self._limit:
            return small
        raise TooManyDistinctRows(
            f"the search needs a node with more than {self._most:,} combinations of published and sensitive "
            f"values in memory, because only {small:,} of its records are in classes that are too small; "
            "allow more with engine.memory_limit or engine.options.combinations, or leave out such fine "
            "nodes with a higher attributes.*.levels.min"
        )

    def rollup(self, levels: Levels) -> RollUp:
        """Return a roll-up of a table that is held."""
        return self.whole(levels).rollup

    def whole(self, levels: Levels) -> NodeTable:
        """Return a table that is held, or was counted just now."""
        found = self._find(levels)
        assert found is not None, "asked only of nodes that can be counted"
        return found

    def _find(self, levels: Levels) -> NodeTable | None:
        """Return a table at or below the levels, asking for one where none is held."""
        for lowest, held in self._held.items():
            if _below(lowest, levels):
                self._held.move_to_end(lowest)
                return held
        table = self._source.at(levels, self._most)
        if table is None:
            return None
        found = NodeTable(table, RollUp.of(table))
        self._held[levels] = found
        while sum(each.table.combinations for each in self._held.values()) > self._most:
            self._held.popitem(last=False)
        return found


def node_tables(problem: SearchProblem) -> NodeTables:
    """Return what the nodes of the lattice of a problem are counted from."""
    if problem.source is None:
        return InMemoryTables(problem.table)
    return OnDemandTables(problem, problem.source)


def _below(lowest: Sequence[int], levels: Sequence[int]) -> bool:
    """Tell whether a table at some lowest levels tells a node apart."""
    return all(low <= level for low, level in zip(lowest, levels, strict=True))
