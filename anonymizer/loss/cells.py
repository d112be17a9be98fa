"""Metrics that give every published cell a cost between 0 and 1 and aggregate the attributes' means."""

from __future__ import annotations

from abc import abstractmethod

from anonymizer.loss.base import LossMetric
from anonymizer.loss.lattice import CellLatticeLoss, LatticeLoss
from anonymizer.model.arrays import FloatArray
from anonymizer.model.classes import Released
from anonymizer.model.recoding import Recoding
from anonymizer.model.table import PublishedValues, QuasiIdentifier, Table


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
