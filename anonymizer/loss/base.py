"""Loss metrics: for a finished recoding, and with bounds over the generalization lattice.

A cell metric gives every published cell a cost between 0 and 1 and aggregates the means of the attributes;
the number of suppressed records is a metric too. Over the lattice, levels are per quasi-identifier. Bounds
come as one vector of parts per attribute, indexed by level, which ``combine`` joins into the bounds of a
whole box of transformations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from typing import ClassVar

import numpy as np

from anonymizer.model.arrays import CodeArray, FloatArray, IntArray
from anonymizer.model.classes import Released
from anonymizer.model.recoding import FullDomainRecoding, Recoding
from anonymizer.model.table import PublishedValues, QuasiIdentifier, Table
from anonymizer.plugins import Registry
from anonymizer.plugins import Settings as PlugInSettings


class Aggregate(ABC):
    """Joins the losses of attributes that have weights w >= 0, not all 0.

    ``part`` turns the losses of one attribute into what ``join`` combines and ``finish`` turns back, so that
    a search can join whole vectors of levels by outer operations.
    """

    join: np.ufunc

    @abstractmethod
    def part(self, losses: FloatArray, share: float) -> FloatArray:
        """Prepare the losses of one attribute whose share of all weights is w / sum of w."""

    @abstractmethod
    def finish(self, joined: FloatArray) -> FloatArray:
        """Turn joined parts into aggregated losses."""

    def of(self, losses: Sequence[float], weights: Sequence[float]) -> float:
        """Aggregate one loss per attribute."""
        total = sum(weights)
        parts = [
            self.part(np.array([loss]), weight / total) for loss, weight in zip(losses, weights, strict=True)
        ]
        joined = parts[0]
        for part in parts[1:]:
            joined = self.join(joined, part)
        return float(self.finish(joined)[0])


class ArithmeticMean(Aggregate):
    """Sum of w x / sum of w."""

    join = np.add

    def part(self, losses: FloatArray, share: float) -> FloatArray:
        """Weigh the losses."""
        return losses * share

    def finish(self, joined: FloatArray) -> FloatArray:
        """Return the sums as they are."""
        return joined


class GeometricMean(Aggregate):
    """Product of (1 + x)^(w / sum of w), minus 1."""

    join = np.multiply

    def part(self, losses: FloatArray, share: float) -> FloatArray:
        """Raise 1 + x to the weight."""
        powers: FloatArray = (1 + losses) ** share
        return powers

    def finish(self, joined: FloatArray) -> FloatArray:
        """Subtract the 1 that was added."""
        return joined - 1


class Maximum(Aggregate):
    """The largest loss of an attribute whose weight is above 0."""

    join = np.maximum

    def part(self, losses: FloatArray, share: float) -> FloatArray:
        """Leave out attributes of weight 0: no loss is below 0."""
        return losses if share > 0 else np.zeros_like(losses)

    def finish(self, joined: FloatArray) -> FloatArray:
        """Return the maxima as they are."""
        return joined


class AggregateName(StrEnum):
    """The aggregates by their name in a config."""

    ARITHMETIC_MEAN = "arithmetic-mean"
    GEOMETRIC_MEAN = "geometric-mean"
    MAXIMUM = "maximum"


AGGREGATES: dict[AggregateName, Aggregate] = {
    AggregateName.ARITHMETIC_MEAN: ArithmeticMean(),
    AggregateName.GEOMETRIC_MEAN: GeometricMean(),
    AggregateName.MAXIMUM: Maximum(),
}
"""What each name stands for."""


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


class NoSettings(PlugInSettings):
    """The parameters of a metric that has none."""


class LossMetric(ABC):
    """A number that says how much a recoding lost; smaller is better.

    Class attributes
    ----------------
    name: as in the config.
    Settings: its parameters.
    aggregates: whether it joins one loss per attribute, so that an ``aggregate`` applies.

    Parameters
    ----------
    aggregate: joins the losses of the attributes.
    """

    name: ClassVar[str]
    Settings: ClassVar[type[PlugInSettings]] = NoSettings
    aggregates: ClassVar[bool] = False

    def __init__(self, settings: PlugInSettings | None = None, aggregate: Aggregate | None = None) -> None:
        self.settings = settings if settings is not None else self.Settings()
        self.aggregate = aggregate if aggregate is not None else ArithmeticMean()

    @abstractmethod
    def value(self, released: Released) -> float | None:
        """Return the loss of a recoding, None where the metric does not apply to it."""

    def on_lattice(self, table: Table, k: int | None) -> LatticeLoss:
        """Return the metric with what it can say of whole parts of a lattice.

        A metric that has nothing to say in advance is optimised too, by evaluating every valid node.

        Parameters
        ----------
        k: of the config's k-anonymity, None without one.
        """
        return UnboundedLatticeLoss(table, self.value, k)


LOSS_METRICS: Registry[LossMetric] = Registry(
    "loss metric", LossMetric, "anonymizer.loss", "anonymizer.loss_metrics"
)


def all_losses(released: Released) -> dict[str, float | None]:
    """Return the value of every metric by its name with underscores, arithmetic means throughout."""
    return {name.replace("-", "_"): metric().value(released) for name, metric in LOSS_METRICS.items()}


class CellMetric(LossMetric):
    """A metric of published cells; a suppressed cell costs 1."""

    aggregates = True

    @abstractmethod
    def costs(self, attribute: QuasiIdentifier, values: PublishedValues) -> FloatArray:
        """Return the cost of publishing each of some values of an attribute, shape (values,), in [0, 1]."""

    def node_costs(self, attribute: QuasiIdentifier) -> FloatArray:
        """Return the cost of publishing each node of the attribute's hierarchy, shape (nodes,), in [0, 1]."""
        return self.costs(attribute, attribute.node_values)

    def applies(self, recoding: Recoding) -> bool:
        """Tell whether the metric has a value for the recoding."""
        return True

    def value(self, released: Released) -> float | None:
        """Return the aggregate over the attributes of the mean cost over all input records."""
        # What is published and how often is the same of either.
        recoding = released.recoding.merged
        table = recoding.table
        if not self.applies(recoding):
            return None
        losses = []
        for position, attribute in enumerate(table.quasi_identifiers):
            values, records = recoding.cell_records(position)
            costs = self.costs(attribute, values)
            losses.append((float(costs @ records) + released.suppressed) / table.records)
        return self.aggregate.of(losses, [attribute.weight for attribute in table.quasi_identifiers])

    def on_lattice(self, table: Table, k: int | None) -> LatticeLoss:
        """Bound a node by what its levels cost alone."""
        costs = [self.node_costs(attribute) for attribute in table.quasi_identifiers]
        return CellLatticeLoss(table, costs, self.aggregate)


class SuppressedRecords(LossMetric):
    """Counts the suppressed records; has no name, as a config cannot ask for it."""

    def value(self, released: Released) -> float | None:
        """Return the suppressed records."""
        return released.suppressed

    def on_lattice(self, table: Table, k: int | None) -> LatticeLoss:
        """What is suppressed at a node for certain is suppressed below it."""
        return SuppressedLatticeLoss(table)
