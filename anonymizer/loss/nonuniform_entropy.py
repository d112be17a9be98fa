"""The metric ``nonuniform-entropy``."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

import numpy as np

from anonymizer.loss.base import LatticeLoss, LossMetric, Marginals, ReleasedSizes, TransformationFacts
from anonymizer.model.arrays import CodeArray, FloatArray, IntArray
from anonymizer.model.classes import Released
from anonymizer.model.table import Table


class NonuniformEntropy(LossMetric):
    """Bits of information lost, by the frequencies of the input.

    Sum over attributes and records of -log2(f(value) / f(node)). For a full-domain recoding, suppressed
    records add -s(v) log2(s(v) / S) for each node v by which they would be published.

    Source: Gionis, Tassa (IEEE TKDE 2009, doi:10.1109/TKDE.2008.129), section 3.3.
    """

    name = "nonuniform-entropy"
    summary = "bits of information lost"

    def value(self, released: Released) -> float | None:
        """Return the bits lost over all attributes and records."""
        # Merged rows publish the same values equally often.
        recoding = released.recoding.merged
        table = recoding.table
        total = 0.0
        for position, attribute in enumerate(table.quasi_identifiers):
            cells = recoding.cells(position)
            published = _bits(cells.values.records)
            records = np.bincount(cells.codes, table.counts, len(published))
            own = attribute.column.counts
            # The sum is exact, so that values released unchanged cancel out in a table of any size.
            total += fsum([*(published * records), *(-_bits(own) * own)])
            if recoding.levels is not None:
                weights = np.where(recoding.suppressed, table.counts, 0)
                total += _spread_bits(np.bincount(cells.codes, weights=weights))
        return total

    def joined(self, bounds: Sequence[float], weights: Sequence[float]) -> float:
        """Return the sum, as the loss is one over attributes."""
        return float(sum(bounds))

    def on_lattice(self, table: Table, k: int | None, smallest: int = 1) -> LatticeLoss:
        """Return the metric with the bits of each level as floors; suppressed records only add to them."""
        return _EntropyOnLattice(table)


def _bits(records: IntArray) -> FloatArray:
    """Return log2 of numbers of records, 0 for none."""
    return np.log2(np.maximum(records, 1))


def _spread_bits(counts: FloatArray | IntArray) -> float:
    """Return -sum s log2(s / S) over counts s with sum S."""
    own = np.asarray(counts, dtype=np.float64)
    own = own[own > 0]
    return float(own @ (np.log2(own.sum()) - np.log2(own))) if len(own) else 0.0


class _EntropyOnLattice(LatticeLoss):
    """More records in finer nodes take no fewer bits: the bits of certain losses are a lower bound."""

    def __init__(self, table: Table) -> None:
        self.floors = []
        for attribute in table.quasi_identifiers:
            bits = _bits(attribute.node_values.records)
            nodes = attribute.hierarchy.ancestors[:, attribute.leaf]
            self.floors.append((bits[nodes] - bits[nodes[0]]) @ attribute.column.counts)
        largest = sum(np.log2(attribute.column.size + 1) for attribute in table.quasi_identifiers)
        self.worst = float(sum(floor[-1] for floor in self.floors) + table.records * largest)

    def approximate(self, floor: float, share: float, classes: ReleasedSizes) -> float:
        # A suppressed record loses about as much as at the top.
        return floor + share * (float(sum(own[-1] for own in self.floors)) - floor)

    @staticmethod
    def _added(marginals: Marginals, position: int, nodes: CodeArray) -> float:
        return _spread_bits(np.bincount(nodes, weights=marginals.counts[position]))

    def objective(self, facts: TransformationFacts) -> float:
        total = 0.0
        for position, level in enumerate(facts.levels):
            nodes = facts.suppressed.nodes[position][level - facts.suppressed.lowest[position]]
            total += self.floors[position][level] + self._added(facts.suppressed, position, nodes)
        return float(total)

    def below(self, facts: TransformationFacts) -> list[FloatArray]:
        parts = super().below(facts)
        for position, part in enumerate(parts):
            by_level = facts.certain.nodes[position][: len(part)]
            parts[position] = part + [self._added(facts.certain, position, nodes) for nodes in by_level]
        return parts
