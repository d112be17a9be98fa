"""Loss metrics: for a finished recoding, and with bounds over the generalization lattice.

A cell metric gives every published cell a cost between 0 and 1 and aggregates the means of the attributes;
the number of suppressed records is a metric too. A bound over the lattice is one vector of parts per
attribute, indexed by level; ``combine`` joins the vectors into the bounds of all their transformations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from typing import ClassVar

import numpy as np

from anonymizer.model.arrays import CodeArray, FloatArray, IntArray, joined_by
from anonymizer.model.classes import Released
from anonymizer.model.features import Feature, Supporter
from anonymizer.model.recoding import FullDomainRecoding, Recoding
from anonymizer.model.table import PublishedValues, QuasiIdentifier, Table
from anonymizer.plugins import PlugIn, PlugInSettings, Registry


class Aggregate(ABC):
    """Joins the losses of attributes with weights w >= 0, not all 0.

    ``part`` maps the losses of one attribute to a scale on which ``join`` combines them, and ``finish`` maps
    back. A search so joins the vectors of all levels by outer operations.
    """

    join: np.ufunc

    @abstractmethod
    def part(self, losses: FloatArray, share: float) -> FloatArray:
        """Return the joinable parts of one attribute's losses, shape as given; ``share`` is w / sum of w."""

    @abstractmethod
    def finish(self, joined: FloatArray) -> FloatArray:
        """Return the aggregated losses of joined parts, shape as given."""

    def of(self, losses: Sequence[float], weights: Sequence[float]) -> float:
        """Return the aggregate of one loss per attribute."""
        total = sum(weights)
        parts = [
            self.part(np.array([loss]), weight / total) for loss, weight in zip(losses, weights, strict=True)
        ]
        return float(self.finish(reduce(self.join, parts))[0])


class ArithmeticMean(Aggregate):
    """Sum of w x / sum of w."""

    join = np.add

    def part(self, losses: FloatArray, share: float) -> FloatArray:
        """Return the weighted losses."""
        return losses * share

    def finish(self, joined: FloatArray) -> FloatArray:
        """Return the sums unchanged."""
        return joined


class GeometricMean(Aggregate):
    """Product of (1 + x)^(w / sum of w), minus 1."""

    join = np.multiply

    def part(self, losses: FloatArray, share: float) -> FloatArray:
        """Return 1 + x to the power of the share."""
        return (1 + losses) ** share

    def finish(self, joined: FloatArray) -> FloatArray:
        """Return the products minus 1."""
        return joined - 1


class Maximum(Aggregate):
    """The largest loss of an attribute whose weight is above 0."""

    join = np.maximum

    def part(self, losses: FloatArray, share: float) -> FloatArray:
        """Return the losses, 0 for an attribute of weight 0."""
        return losses if share > 0 else np.zeros_like(losses)

    def finish(self, joined: FloatArray) -> FloatArray:
        """Return the maxima unchanged."""
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
"""The aggregates by name."""


@dataclass(frozen=True, eq=False)
class Marginals:
    """Counts of a set of records by the values of each attribute.

    Attributes
    ----------
    counts: per attribute, records with each base value, shape (base values,), int64.
    nodes: per attribute, hierarchy node of each base value at each level from ``lowest`` up, shape (levels,
        base values), int32.
    lowest: per attribute, the level of the base values.
    unplaced: number of records whose values are unknown.
    people: per attribute, sum of the sampling weights of the records with each base value; None without
        weights.
    unplaced_people: lowest sum of the weights of so many unplaced records.
    """

    counts: tuple[IntArray, ...]
    nodes: tuple[CodeArray, ...]
    lowest: tuple[int, ...]
    unplaced: int = 0
    people: tuple[IntArray, ...] | None = None
    unplaced_people: int = 0

    @property
    def records(self) -> int:
        """Number of records, including unplaced ones."""
        return int(self.counts[0].sum()) + self.unplaced


@dataclass(frozen=True, eq=False)
class TransformationFacts:
    """The facts of an evaluated transformation.

    Attributes
    ----------
    class_sizes: of all classes, shape (classes,), int64.
    released: size of each released class, shape (released classes,), int64.
    kept_suppressed: number of suppressed records that the release keeps with ``*``.
    suppressed: marginals of the suppressed records.
    certain: marginals of the records that are suppressed at every transformation below too.
    recoding: returns the recoding of the transformation; takes a pass over the whole table.
    lasting: number of the released records that every valid transformation above releases at least.
    """

    levels: tuple[int, ...]
    class_sizes: IntArray
    released: IntArray
    kept_suppressed: int
    suppressed: Marginals
    certain: Marginals
    recoding: Callable[[], FullDomainRecoding]
    lasting: int = 0


ReleasedSizes = Callable[[], tuple[FloatArray | IntArray, FloatArray | IntArray]]
"""Returns class sizes, and how many released records each of them stands for."""


class LatticeLoss(ABC):
    """A metric on the lattice of one table.

    Attributes
    ----------
    floors: per attribute, the parts of a lower bound known before any class is counted, shape (levels,),
        not descending.
    worst: the loss if everything is suppressed.
    rounding: relative rounding error; 0 for whole numbers.
    """

    floors: list[FloatArray]
    worst: float
    rounding: float = 1e-12

    @abstractmethod
    def objective(self, facts: TransformationFacts) -> float:
        """Return the loss of an evaluated transformation."""

    def combine(self, parts: Sequence[FloatArray]) -> FloatArray:
        """Return the bounds of all transformations from one vector of parts per attribute."""
        return joined_by(np.add, parts)

    def floor(self, levels: Sequence[int]) -> float:
        """Return the bound of one transformation that is known before any class is counted."""
        if type(self).combine is LatticeLoss.combine:
            own = np.array([floor[level] for floor, level in zip(self.floors, levels, strict=True)])
            # In the order of ``combine``, so that both are equal.
            return float(np.add.accumulate(own)[-1])
        parts = [own[level : level + 1] for own, level in zip(self.floors, levels, strict=True)]
        return float(self.combine(parts).item())

    def at_least(self, levels: Sequence[int], suppressed: Marginals) -> float:
        """Return a lower bound on the loss of a transformation that suppresses these records, maybe others.

        Minus infinity where more suppressed records may lower the loss.
        """
        return -np.inf

    def below(self, facts: TransformationFacts) -> list[FloatArray]:
        """Return parts of a lower bound for all transformations at or below an evaluated one.

        The vectors start at the lowest level of the marginals.
        """
        return [
            floor[low : level + 1]
            for floor, low, level in zip(self.floors, facts.certain.lowest, facts.levels, strict=True)
        ]

    def above(self, facts: TransformationFacts) -> float:
        """Return a lower bound for all transformations at or above an evaluated one."""
        return -np.inf

    def expected(self, floors: FloatArray, share: FloatArray) -> FloatArray:
        """Estimate the losses of transformations from their floors and shares of suppressed records.

        The estimates decide the order of evaluation only, never a proof.
        """
        return floors + share * (self.worst - floors)

    def approximate(self, floor: float, share: float, classes: ReleasedSizes) -> float:
        """Estimate the loss of one transformation, to decide whether it is worth counting.

        Parameters
        ----------
        floor: of its levels.
        share: of suppressed records.
        classes: estimated too; most metrics do not need them.
        """
        return float(self.expected(np.array(floor), np.array(share)))

    def needed(self, floors: FloatArray, best: float) -> FloatArray:
        """Estimate the share of certainly lost records that rules a transformation out, infinite if none."""
        room = self.worst - floors
        return np.where(room > 0, (best - floors) / np.where(room > 0, room, 1.0), np.inf)


class IndifferentLatticeLoss(LatticeLoss):
    """A metric whose bounds do not increase with suppression."""

    def needed(self, floors: FloatArray, best: float) -> FloatArray:
        """Return infinity: only a violated constraint rules a transformation out."""
        return np.full(floors.shape, np.inf)


class UnboundedLatticeLoss(IndifferentLatticeLoss):
    """A metric without bounds."""

    def __init__(self, table: Table, value: Callable[[Released], float | None], k: int | None) -> None:
        self._value, self._k = value, k
        self.floors = [np.full(a.hierarchy.height + 1, -np.inf) for a in table.quasi_identifiers]
        self.worst = np.inf

    def expected(self, floors: FloatArray, share: FloatArray) -> FloatArray:
        """Return the shares of suppressed records: nothing else is known."""
        return share

    def objective(self, facts: TransformationFacts) -> float:
        """Return the value of the recoding, infinite if it has none."""
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
    """The number of suppressed records."""

    rounding = 0.0

    def __init__(self, table: Table) -> None:
        self.floors = constant_floors(table, 0.0)
        self.worst = float(table.records)

    def objective(self, facts: TransformationFacts) -> float:
        """Return the suppressed records."""
        return float(facts.suppressed.records)

    def below(self, facts: TransformationFacts) -> list[FloatArray]:
        """Return the number of records that are suppressed at every transformation below."""
        parts = super().below(facts)
        parts[0] = parts[0] + facts.certain.records
        return parts


class CellLatticeLoss(LatticeLoss):
    """The aggregate of the mean costs of the attributes; a suppressed cell costs 1.

    The mean of an attribute is fixed by its level, plus a nonnegative term for suppressed cells.

    Parameters
    ----------
    costs: per attribute, cost of publishing each hierarchy node, shape (nodes,), between 0 and 1.
    by_weights: whether means are over the people that records represent.
    """

    worst = 1.0

    def __init__(
        self, table: Table, costs: Sequence[FloatArray], aggregate: Aggregate, *, by_weights: bool = False
    ) -> None:
        self._by_weights = by_weights
        self._total = table.people if by_weights else table.records
        self._costs = costs
        self._aggregate = aggregate
        weights = [attribute.weight for attribute in table.quasi_identifiers]
        self._shares = [weight / sum(weights) for weight in weights]
        self._means = [
            level_means(attribute, costs[position], table.people_of_values(position) if by_weights else None)
            for position, attribute in enumerate(table.quasi_identifiers)
        ]
        self.floors = [self._part(position, mean) for position, mean in enumerate(self._means)]

    def _part(self, position: int, losses: FloatArray) -> FloatArray:
        return self._aggregate.part(losses, self._shares[position])

    def combine(self, parts: Sequence[FloatArray]) -> FloatArray:
        """Return the aggregated bounds, by outer operations of the aggregate."""
        return self._aggregate.finish(joined_by(self._aggregate.join, parts))

    def floor(self, levels: Sequence[int]) -> float:
        """Return the aggregated mean costs of one transformation without suppression."""
        own = np.array([floor[level] for floor, level in zip(self.floors, levels, strict=True)])
        return float(self._aggregate.finish(self._aggregate.join.accumulate(own)[-1:])[0])

    def _losses(self, position: int, marginals: Marginals, levels: slice) -> FloatArray:
        low = marginals.lowest[position]
        added = 1 - self._costs[position][marginals.nodes[position][levels]]
        counts, unplaced = marginals.counts, marginals.unplaced
        if self._by_weights:
            assert marginals.people is not None, "the table has weights"
            counts, unplaced = marginals.people, marginals.unplaced_people
        lost = added @ counts[position]
        if unplaced:
            lost = lost + unplaced * added.min(axis=1)
        return self._means[position][low:][levels] + lost / self._total

    def objective(self, facts: TransformationFacts) -> float:
        """Return the aggregate with the suppressed cells at cost 1."""
        return self.at_least(facts.levels, facts.suppressed)

    def at_least(self, levels: Sequence[int], suppressed: Marginals) -> float:
        """Return the aggregate with these cells at cost 1: no other cell costs more."""
        parts = []
        for position, level in enumerate(levels):
            own = level - suppressed.lowest[position]
            parts.append(self._part(position, self._losses(position, suppressed, slice(own, own + 1))))
        return float(self._aggregate.finish(reduce(self._aggregate.join, parts))[0])

    def below(self, facts: TransformationFacts) -> list[FloatArray]:
        """Return the floors plus the cells that are suppressed at every transformation below."""
        return [
            self._part(
                position,
                self._losses(position, facts.certain, slice(0, level - facts.certain.lowest[position] + 1)),
            )
            for position, level in enumerate(facts.levels)
        ]


def constant_floors(table: Table, constant: float) -> list[FloatArray]:
    """Return parts whose sum is a constant at all levels."""
    parts = [np.zeros(attribute.hierarchy.height + 1) for attribute in table.quasi_identifiers]
    parts[0] += constant
    return parts


def level_means(attribute: QuasiIdentifier, costs: FloatArray, people: IntArray | None = None) -> FloatArray:
    """Return the mean cost of an attribute at each level without suppression, shape (levels,).

    Parameters
    ----------
    people: with each value, shape (values,), int64; None for its records.
    """
    counts = attribute.column.counts if people is None else people
    nodes = attribute.hierarchy.ancestors[:, attribute.leaf]
    means: FloatArray = costs[nodes] @ counts / counts.sum()
    return means


class LossMetric(PlugIn, Supporter):
    """A measure of information loss; smaller is better.

    Class attributes
    ----------------
    summary: what the value is, for the page of a report.
    supports: ``AGGREGATE`` if the metric joins one loss per attribute; ``LOSS_WEIGHTS`` and ``LOSS_UNIT`` if
        it is a mean over records, which weights can make one over people.
    of_release_alone: whether the value follows from the release, its levels and the number of suppressed
        records; the public report shows no other.

    Parameters
    ----------
    aggregate: joins the losses of the attributes.

    Attributes
    ----------
    by_weights: whether each record counts as the people that it represents, by the weights of its table.
    """

    summary: ClassVar[str] = ""
    of_release_alone: ClassVar[bool] = False
    by_weights: bool = False

    def __init__(self, settings: PlugInSettings | None = None, aggregate: Aggregate | None = None) -> None:
        super().__init__(settings)
        self.aggregate = aggregate if aggregate is not None else ArithmeticMean()

    @abstractmethod
    def value(self, released: Released) -> float | None:
        """Return the loss of a recoding, None if the metric does not apply to it."""

    def joined(self, bounds: Sequence[float], weights: Sequence[float]) -> float | None:
        """Return the lower bound that the bounds of groups of attributes prove together.

        Each group has a table of its own with all records, and every attribute is in one group.

        Parameters
        ----------
        bounds: lower bound on the loss of each group's table.
        weights: of the attributes of each group together.

        Returns
        -------
        The bound, None if groups of attributes prove nothing.
        """
        return None

    def on_lattice(self, table: Table, k: int | None, smallest: int = 1) -> LatticeLoss:
        """Return the metric with its bounds on the lattice of a table.

        A metric without bounds can be optimized too, by evaluating every valid transformation.

        Parameters
        ----------
        k: of the config's k-anonymity, None without one.
        smallest: records of each released class at least; fewer than k where an intruder knows only some of
            the quasi-identifiers.
        """
        return UnboundedLatticeLoss(table, self.value, k)


LOSS_METRICS: Registry[LossMetric] = Registry(
    "loss metric", LossMetric, "anonymizer.loss", "anonymizer.loss_metrics"
)


def all_losses(released: Released) -> dict[str, float | None]:
    """Return the value of every metric by its key in the report, joined by arithmetic means."""
    return {loss_key(name): metric().value(released) for name, metric in LOSS_METRICS.items()}


def weighted_losses(released: Released) -> dict[str, float | None]:
    """Return the value of every metric that is a mean over records, by the weights of the table."""
    metrics = {
        name: metric() for name, metric in LOSS_METRICS.items() if Feature.LOSS_WEIGHTS in metric.supports
    }
    for metric in metrics.values():
        metric.by_weights = True
    return {loss_key(name): metric.value(released) for name, metric in metrics.items()}


def losses_over(recoding: Recoding, people: IntArray) -> dict[str, float | None]:
    """Return the value of every metric of cells, by other weights than those of the table.

    Parameters
    ----------
    people: sum of the weights of the records of each row of the recoding's table, shape (rows,), int64.
    """
    metrics = {name: metric() for name, metric in LOSS_METRICS.items()}
    return {
        loss_key(name): metric.averaged(recoding, people)
        for name, metric in metrics.items()
        if isinstance(metric, CellMetric)
    }


def loss_key(metric: str) -> str:
    """Return the key of a metric in a report's ``loss``."""
    return metric.replace("-", "_")


class CellMetric(LossMetric):
    """A metric of published cells; a suppressed cell costs 1."""

    supports = frozenset({Feature.AGGREGATE, Feature.LOSS_WEIGHTS, Feature.LOSS_UNIT})

    @abstractmethod
    def costs(self, attribute: QuasiIdentifier, values: PublishedValues) -> FloatArray:
        """Return the cost of each published value of an attribute, shape (values,), in [0, 1]."""

    def node_costs(self, attribute: QuasiIdentifier) -> FloatArray:
        """Return the cost of each node of the attribute's hierarchy, shape (nodes,), in [0, 1]."""
        return self.costs(attribute, attribute.node_values)

    def applies(self, recoding: Recoding) -> bool:
        """Return whether the metric has a value for the recoding."""
        return True

    def joined(self, bounds: Sequence[float], weights: Sequence[float]) -> float:
        """Return the aggregate: that of all attributes is the aggregate of the groups'."""
        return self.aggregate.of(bounds, weights)

    def mean(self, recoding: Recoding, position: int, people: IntArray | None) -> float:
        """Return the mean cost of a quasi-identifier over all input records, or by weights.

        Parameters
        ----------
        people: sum of the weights of the records of each row, shape (rows,), int64; None for records.
        """
        attribute, each = recoding.table.quasi_identifiers[position], recoding.table.counts
        if people is None:
            values, found = recoding.cell_records(position)
            lost = float(self.costs(attribute, values) @ found)
        else:
            values, own = recoding.cell_people(position, people)
            each, lost = people, float(self.costs(attribute, values) @ own)
        return (lost + int(each[recoding.suppressed].sum())) / int(each.sum())

    def averaged(self, recoding: Recoding, people: IntArray | None) -> float | None:
        """Return the aggregate of the attributes' means; ``people`` is as for ``mean``."""
        attributes = recoding.table.quasi_identifiers
        if not self.applies(recoding):
            return None
        losses = [self.mean(recoding, position, people) for position in range(len(attributes))]
        return self.aggregate.of(losses, [attribute.weight for attribute in attributes])

    def value(self, released: Released) -> float | None:
        """Return the aggregate of the attributes' mean costs over all input records, or by their weights."""
        # Merged rows publish the same values equally often.
        recoding = released.recoding.merged
        return self.averaged(recoding, recoding.table.row_people if self.by_weights else None)

    def on_lattice(self, table: Table, k: int | None, smallest: int = 1) -> LatticeLoss:
        """Return the metric with the mean cost of each level as floors."""
        costs = [self.node_costs(attribute) for attribute in table.quasi_identifiers]
        return CellLatticeLoss(table, costs, self.aggregate, by_weights=self.by_weights)


class SuppressedRecords(LossMetric):
    """The number of suppressed records; without a name, as it is not an objective of a config."""

    def value(self, released: Released) -> float | None:
        """Return the suppressed records."""
        return released.suppressed

    def on_lattice(self, table: Table, k: int | None, smallest: int = 1) -> LatticeLoss:
        """Return the metric with the certain losses as bounds."""
        return SuppressedLatticeLoss(table)
