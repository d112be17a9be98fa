"""Scores that the product does not offer, as loss metrics of another distribution would bring them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from pydantic import Field

from anonymizer.loss.base import (
    IndifferentLatticeLoss,
    LatticeLoss,
    LossMetric,
    Marginals,
    TransformationFacts,
    level_means,
)
from anonymizer.model.arrays import FloatArray
from anonymizer.model.classes import Released
from anonymizer.model.table import QuasiIdentifier, Table
from anonymizer.plugins import Settings


class ScaledSettings(Settings):
    """How much generalizing weighs against suppressing: 0.5 is even."""

    gs_factor: float = Field(default=0.5, ge=0, le=1)


class ScaledLoss(LossMetric):
    """The leaf share of every cell, scaled by gs_factor, one number per attribute."""

    Settings = ScaledSettings
    settings: ScaledSettings

    def kept(self, attribute: QuasiIdentifier) -> FloatArray:
        """Return the cost of publishing each node."""
        share = attribute.hierarchy.leaf_counts() / attribute.hierarchy.leaves
        return np.asarray(share * min(1.0, 2 * (1 - self.settings.gs_factor)), dtype=np.float64)

    def suppressed(self, attribute: QuasiIdentifier) -> FloatArray:
        """Return the cost of suppressing a cell that would have had each node."""
        share = attribute.hierarchy.leaf_counts() / attribute.hierarchy.leaves
        return np.asarray(share + min(1.0, 2 * self.settings.gs_factor) * (1 - share), dtype=np.float64)

    def scaled(self, attribute: QuasiIdentifier, means: FloatArray) -> FloatArray:
        """Return mean costs as parts of what lies between the least and the most."""
        least = min(1.0, 2 * (1 - self.settings.gs_factor)) / attribute.hierarchy.leaves
        return (means - least) / (1 - least)

    def components(self, released: Released) -> FloatArray:
        """Return the loss of each attribute."""
        table, found = released.table, []
        for position, attribute in enumerate(table.quasi_identifiers):
            nodes = released.recoding.nodes(position)
            costs = np.where(
                released.recoding.suppressed,
                self.suppressed(attribute)[nodes],
                self.kept(attribute)[nodes],
            )
            mean = np.array([costs @ table.counts / table.records])
            found.append(float(self.scaled(attribute, mean)[0]))
        return np.array(found)

    @abstractmethod
    def joined(self, components: FloatArray) -> FloatArray:
        """Join components, shape (attributes, ...), to one number each."""

    def value(self, released: Released) -> float | None:
        """Return the joined loss of the attributes."""
        return float(self.joined(self.components(released)))

    def on_lattice(self, table: Table, k: int | None, smallest: int = 1) -> LatticeLoss:
        """Bound each attribute by what its levels cost, and by what is suppressed for certain."""
        return ScaledLattice(table, self)


class ScaledLattice(LatticeLoss):
    """A scaled loss over a lattice; its parts are the losses of the attributes by level."""

    worst = 1.0

    def __init__(self, table: Table, metric: ScaledLoss) -> None:
        self._table, self._metric = table, metric
        self._means = [level_means(own, metric.kept(own)) for own in table.quasi_identifiers]
        self.floors = [
            metric.scaled(own, means) for own, means in zip(table.quasi_identifiers, self._means, strict=True)
        ]

    def combine(self, parts: Sequence[FloatArray]) -> FloatArray:
        """Join the components of every combination of levels."""
        return self._metric.joined(np.stack(np.meshgrid(*parts, indexing="ij")))

    def _parts(self, marginals: Marginals, highest: Sequence[int]) -> list[FloatArray]:
        found = []
        for position, attribute in enumerate(self._table.quasi_identifiers):
            low = marginals.lowest[position]
            nodes = marginals.nodes[position][: highest[position] - low + 1]
            added = (self._metric.suppressed(attribute) - self._metric.kept(attribute))[nodes]
            lost = added @ marginals.counts[position] + marginals.unplaced * added.min(axis=1)
            means = self._means[position][low : highest[position] + 1] + lost / self._table.records
            found.append(self._metric.scaled(attribute, means))
        return found

    def objective(self, facts: TransformationFacts) -> float:
        """Return the joined components with the suppressed cells."""
        last = [part[-1:] for part in self._parts(facts.suppressed, facts.levels)]
        return float(self.combine(last).ravel()[0])

    def below(self, facts: TransformationFacts) -> list[FloatArray]:
        """Add what is suppressed for certain."""
        return self._parts(facts.certain, facts.levels)


class ScaledGeometricMean(ScaledLoss):
    """The geometric mean of the attributes' losses."""

    name = "oracle-geometric-mean"

    def joined(self, components: FloatArray) -> FloatArray:
        """Return the product of (1 + x), to the power 1/V, minus 1."""
        return np.asarray(np.prod(1 + components, axis=0) ** (1 / len(components)) - 1)


class RankSettings(ScaledSettings):
    """The vector to compare with, the largest component first, and whether attributes have weights."""

    known: tuple[float, ...] = ()
    weighted: bool = False


WEIGHTS = {
    "sex": 1,
    "age": 2,
    "race": 3,
    "marital-status": 4,
    "education": 5,
    "native-country": 6,
    "workclass": 7,
    "occupation": 8,
    "salary-class": 9,
}


SAME = 1e-9


class RankedLoss(ScaledLoss):
    """How far the vector of losses, sorted descending, stands after a known one in the order of vectors.

    Vectors are compared by the first component that differs, so no sum of components orders them. Beside a
    known vector a number does: 0 for the same vector; where position i of m differs by d, m - 1 - i + d if it
    is larger and the negative of that if it is smaller. A node with the least such number is a node with the
    least vector, and the known vector is the least if that number is 0.
    """

    name = "oracle-rank"
    Settings = RankSettings
    settings: RankSettings

    def scaled(self, attribute: QuasiIdentifier, means: FloatArray) -> FloatArray:
        """Return scaled losses times the attribute's weight, the largest weight being 1."""
        weight = WEIGHTS[attribute.name] / max(WEIGHTS.values()) if self.settings.weighted else 1.0
        return super().scaled(attribute, means) * weight

    def joined(self, components: FloatArray) -> FloatArray:
        """Return the place after the known vector."""
        ranked = -np.sort(-components, axis=0)
        known = np.array(self.settings.known).reshape(-1, *[1] * (components.ndim - 1))
        apart = ranked - known
        differs = np.abs(apart) > SAME
        first = differs.argmax(axis=0)
        by = np.take_along_axis(apart, first[np.newaxis], axis=0)[0]
        return np.where(differs.any(axis=0), by + np.sign(by) * (len(ranked) - 1 - first), 0.0)

    def on_lattice(self, table: Table, k: int | None, smallest: int = 1) -> LatticeLoss:
        """Every attribute may add 1."""
        found = ScaledLattice(table, self)
        found.worst = float(len(table.quasi_identifiers))
        return found


class Constant(IndifferentLatticeLoss):
    """Parts that say nothing but a constant."""

    def __init__(self, table: Table, constant: float) -> None:
        self.floors = [np.zeros(own.hierarchy.height + 1) for own in table.quasi_identifiers]
        self.floors[0] += constant
        self.worst = float(table.records) ** 2


class MonotoneDiscernibility(LossMetric):
    """The sum of the squared sizes of all classes, failing ones among them."""

    name = "oracle-monotone-discernibility"

    def value(self, released: Released) -> float | None:
        """Count the classes of the recoding as if nothing were suppressed."""
        positions = range(len(released.table.quasi_identifiers))
        nodes = np.stack([released.recoding.nodes(position) for position in positions])
        groups = np.unique(nodes, axis=1, return_inverse=True)[1].ravel()
        return float((np.bincount(groups, released.table.counts) ** 2).sum())

    def on_lattice(self, table: Table, k: int | None, smallest: int = 1) -> LatticeLoss:
        """Classes only grow."""
        return _MonotoneDiscernibility(table, float(table.records))


class _MonotoneDiscernibility(Constant):
    def objective(self, facts: TransformationFacts) -> float:
        return float((facts.class_sizes**2).sum())

    def above(self, facts: TransformationFacts) -> float:
        return self.objective(facts)


class LevelsAlone(IndifferentLatticeLoss):
    """A score that the levels decide."""

    def __init__(self, floors: list[FloatArray]) -> None:
        self.floors = floors
        self.worst = float(sum(floor[-1] for floor in floors))

    def objective(self, facts: TransformationFacts) -> float:
        """Return the sum of the levels' parts."""
        return float(sum(floor[level] for floor, level in zip(self.floors, facts.levels, strict=True)))


class MonotoneEntropy(LossMetric):
    """The bits that the published nodes leave open, whatever is suppressed."""

    name = "oracle-monotone-entropy"

    @staticmethod
    def bits(attribute: QuasiIdentifier, level: int) -> float:
        """Return the bits of an attribute at a level."""
        counts, nodes = attribute.column.counts, attribute.nodes(level)
        together = np.bincount(nodes, counts)[nodes]
        return float(-(counts @ np.log2(counts / together)))

    def value(self, released: Released) -> float | None:
        """Add up the attributes."""
        levels = released.recoding.levels
        if levels is None:
            return None
        pairs = zip(released.table.quasi_identifiers, levels, strict=True)
        return sum(self.bits(own, level) for own, level in pairs)

    def on_lattice(self, table: Table, k: int | None, smallest: int = 1) -> LatticeLoss:
        """Everything is known in advance."""
        return LevelsAlone(
            [
                np.array([self.bits(own, level) for level in range(own.hierarchy.height + 1)])
                for own in table.quasi_identifiers
            ]
        )


class MonotonePrecision(LossMetric):
    """Mean over the attributes of level / top level, whatever is suppressed."""

    name = "oracle-monotone-precision"

    def value(self, released: Released) -> float | None:
        """Return the mean; no value without levels."""
        levels = released.recoding.levels
        if levels is None:
            return None
        own = released.table.quasi_identifiers
        pairs = zip(own, levels, strict=True)
        return sum(level / attribute.hierarchy.height for attribute, level in pairs) / len(own)


class AverageClassSizeOverAll(LossMetric):
    """All records / (kept classes + one for the suppressed records)."""

    name = "oracle-aecs"

    def value(self, released: Released) -> float | None:
        """Return the ratio; no bound is given, so a search evaluates every node."""
        return released.records / (len(released.class_sizes) + (released.suppressed > 0))


ALL: tuple[type[LossMetric], ...] = (
    ScaledGeometricMean,
    RankedLoss,
    MonotoneDiscernibility,
    MonotoneEntropy,
    MonotonePrecision,
    AverageClassSizeOverAll,
)
