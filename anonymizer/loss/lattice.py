"""A loss metric over a lattice: its value at a node and bounds for all the nodes below or above one.

Levels are per quasi-identifier. Bounds come as one vector of parts per attribute, indexed by level, which
``combine`` joins into the bounds of a whole box of nodes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from anonymizer.loss.aggregate import Aggregate
from anonymizer.model.arrays import CodeArray, FloatArray, IntArray
from anonymizer.model.classes import Released
from anonymizer.model.recoding import FullDomainRecoding
from anonymizer.model.table import QuasiIdentifier, Table


@dataclass(frozen=True, eq=False)
class Marginals:
    """Counts of some records by the values of each attribute.

    Attributes
    ----------
    counts: per attribute, records with each base value, shape (base values,), int64.
    nodes: per attribute, hierarchy node of each base value at each level from ``lowest`` up, shape (levels,
        base values), int32.
    lowest: per attribute, the level of the base values.
    unplaced: further records of which the values are not known.
    """

    counts: tuple[IntArray, ...]
    nodes: tuple[CodeArray, ...]
    lowest: tuple[int, ...]
    unplaced: int = 0

    @property
    def records(self) -> int:
        """Number of records, the unplaced ones included."""
        return int(self.counts[0].sum()) + self.unplaced


@dataclass(frozen=True, eq=False)
class TransformationFacts:
    """What is known of an evaluated node of the lattice.

    Attributes
    ----------
    class_sizes: of all classes, shape (classes,), int64.
    released: records of each class of the release, shape (classes of the release,), int64.
    kept_suppressed: suppressed records that stay in the release.
    suppressed: marginals of the suppressed records.
    certain: marginals of records that are suppressed at every node below, too.
    recoding: gives the recoding that the node stands for; costs a pass over the whole table.
    """

    levels: tuple[int, ...]
    class_sizes: IntArray
    released: IntArray
    kept_suppressed: int
    suppressed: Marginals
    certain: Marginals
    recoding: Callable[[], FullDomainRecoding]


class LatticeLoss(ABC):
    """A metric prepared for one table.

    Attributes
    ----------
    floors: per attribute, the parts of a lower bound that holds before any class is counted, shape (levels,),
        not descending.
    worst: the loss with everything suppressed.
    rounding: relative error of its numbers; 0 where they are whole.
    """

    floors: list[FloatArray]
    worst: float
    rounding: float = 1e-12

    @abstractmethod
    def objective(self, facts: TransformationFacts) -> float:
        """Return the loss of an evaluated node."""

    def combine(self, parts: Sequence[FloatArray]) -> FloatArray:
        """Join one vector of parts per attribute to the bounds of all their combinations."""
        return reduce(np.add.outer, parts)

    def below(self, facts: TransformationFacts) -> list[FloatArray]:
        """Return parts of a lower bound for all nodes at or below an evaluated one.

        The vectors start at the lowest level of the node's marginals.
        """
        return [
            floor[low : level + 1]
            for floor, low, level in zip(self.floors, facts.certain.lowest, facts.levels, strict=True)
        ]

    def above(self, facts: TransformationFacts) -> float:
        """Return a lower bound for all nodes at or above an evaluated one."""
        return -np.inf

    def expected(self, floors: FloatArray, share: FloatArray) -> FloatArray:
        """Guess the losses of nodes from their floors and the shares of records that they suppress.

        Guesses decide in which order nodes are evaluated, never what is proven.
        """
        return floors + share * (self.worst - floors)

    def needed(self, floors: FloatArray, best: float) -> FloatArray:
        """Guess the shares of records whose certain loss would rule nodes out; infinite where none would."""
        room = self.worst - floors
        return np.where(room > 0, (best - floors) / np.where(room > 0, room, 1.0), np.inf)


class IndifferentLatticeLoss(LatticeLoss):
    """A metric whose bounds suppression does not raise."""

    def needed(self, floors: FloatArray, best: float) -> FloatArray:
        """Return infinity: only being invalid rules a node out."""
        return np.full(floors.shape, np.inf)


class UnboundedLatticeLoss(IndifferentLatticeLoss):
    """A metric of which nothing is known before a node is evaluated."""

    def __init__(self, table: Table, value: Callable[[Released], float | None], k: int | None) -> None:
        self._value, self._k = value, k
        self.floors = [np.full(a.hierarchy.height + 1, -np.inf) for a in table.quasi_identifiers]
        self.worst = np.inf

    def expected(self, floors: FloatArray, share: FloatArray) -> FloatArray:
        """Prefer little suppression, as nothing else is known."""
        return share

    def objective(self, facts: TransformationFacts) -> float:
        """Measure the recoding that the node stands for."""
        recoding = facts.recoding()
        value = self._value(
            Released(
                recoding.table,
                recoding,
                facts.released,
                facts.kept_suppressed,
                facts.suppressed.records,
                self._k,
            )
        )
        return np.inf if value is None else value


class SuppressedLatticeLoss(LatticeLoss):
    """The number of suppressed records, which asks for the least suppression of all nodes."""

    rounding = 0.0

    def __init__(self, table: Table) -> None:
        self.floors = [np.zeros(attribute.hierarchy.height + 1) for attribute in table.quasi_identifiers]
        self.worst = float(table.records)

    def objective(self, facts: TransformationFacts) -> float:
        """Return the suppressed records."""
        return float(facts.suppressed.records)

    def below(self, facts: TransformationFacts) -> list[FloatArray]:
        """Return the records that are suppressed at every node below."""
        parts = super().below(facts)
        parts[0] = parts[0] + facts.certain.records
        return parts


class CellLatticeLoss(LatticeLoss):
    """A metric that is the aggregate of a mean cost per cell, a suppressed cell costing 1.

    The mean of an attribute depends on its level alone but for what is suppressed, which only adds.

    Parameters
    ----------
    costs: per attribute, cost of publishing each hierarchy node, shape (nodes,), between 0 and 1.
    """

    worst = 1.0

    def __init__(self, table: Table, costs: Sequence[FloatArray], aggregate: Aggregate) -> None:
        self._records = table.records
        self._costs = costs
        self._aggregate = aggregate
        weights = [attribute.weight for attribute in table.quasi_identifiers]
        self._shares = [weight / sum(weights) for weight in weights]
        self._means = [
            level_means(attribute, costs[position])
            for position, attribute in enumerate(table.quasi_identifiers)
        ]
        self.floors = [self._part(position, mean) for position, mean in enumerate(self._means)]

    def _part(self, position: int, losses: FloatArray) -> FloatArray:
        return self._aggregate.part(losses, self._shares[position])

    def combine(self, parts: Sequence[FloatArray]) -> FloatArray:
        """Join by outer operations of the aggregate."""
        return self._aggregate.finish(reduce(self._aggregate.join.outer, parts))

    def _losses(self, position: int, marginals: Marginals, levels: slice) -> FloatArray:
        low = marginals.lowest[position]
        added = 1 - self._costs[position][marginals.nodes[position][levels]]
        lost = added @ marginals.counts[position]
        if marginals.unplaced:
            lost = lost + marginals.unplaced * added.min(axis=1)
        losses: FloatArray = self._means[position][low:][levels] + lost / self._records
        return losses

    def objective(self, facts: TransformationFacts) -> float:
        """Return the aggregate with the suppressed cells at cost 1."""
        parts = []
        for position, level in enumerate(facts.levels):
            own = level - facts.suppressed.lowest[position]
            parts.append(self._part(position, self._losses(position, facts.suppressed, slice(own, own + 1))))
        return float(self._aggregate.finish(reduce(self._aggregate.join, parts))[0])

    def below(self, facts: TransformationFacts) -> list[FloatArray]:
        """Add the cells that are suppressed at every node below."""
        return [
            self._part(
                position,
                self._losses(position, facts.certain, slice(0, level - facts.certain.lowest[position] + 1)),
            )
            for position, level in enumerate(facts.levels)
        ]


def level_means(attribute: QuasiIdentifier, costs: FloatArray) -> FloatArray:
    """Return the mean cost of an attribute at each level when nothing is suppressed, shape (levels,)."""
    counts = attribute.column.counts
    nodes = attribute.hierarchy.ancestors[:, attribute.leaf]
    means: FloatArray = costs[nodes] @ counts / counts.sum()
    return means
