"""The choice among the search algorithms, by the config and the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from anonymizer.loss.base import LossMetric
from anonymizer.model.classes import released
from anonymizer.model.outcome import Outcome
from anonymizer.model.recoding import NodeRecoding, Recoding, RegionColumn, RegionRecoding
from anonymizer.model.table import SUPPRESSED, QuasiIdentifier, Table
from anonymizer.search.base import (
    SEARCH_ALGORITHMS,
    Control,
    SearchAlgorithm,
    SearchProblem,
    SuppressionMethod,
)

MANY_COMBINATIONS = 200_000
"""Of more distinct combinations, local recoding would keep its first solution for longer than people wait."""

FEW_SECONDS = 2.0
"""Local recoding needs about so long to be better than Mondrian."""


@dataclass(frozen=True)
class Choice:
    """An algorithm and why.

    Attributes
    ----------
    name: of the algorithm.
    reason: a clause that says why it was chosen.
    parameters: where they differ from its defaults.
    """

    name: str
    reason: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def build(self) -> SearchAlgorithm:
        """Return the algorithm with its parameters."""
        plug_in = SEARCH_ALGORITHMS[self.name]
        return plug_in(plug_in.Settings.model_validate(dict(self.parameters)))


class Auto(SearchAlgorithm):
    """Chooses among lattice, mondrian and local by the config and the table, and says why.

    What only full-domain recoding can do goes to lattice, numbers without a hierarchy and very large tables
    to mondrian, everything else to local. Microaggregation is never chosen: a mean looks exact and is not.
    """

    name = "auto"
    suppressions = frozenset(SuppressionMethod)

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        """Return what the chosen algorithm finds, with its name and the reason."""
        choice = choose(problem, control.seconds)
        outcome = choice.build().search(problem, control)
        return replace(outcome, algorithm=choice.name, reasons=(choice.reason,))


def choose(problem: SearchProblem, seconds: float | None) -> Choice:
    """Choose the algorithm for a problem; the first rule that applies decides.

    Parameters
    ----------
    seconds: of the budget, None without a limit.
    """
    table = problem.table
    if problem.suppression is not SuppressionMethod.CLASSES:
        method = problem.suppression.value
        return Choice("lattice", f"`suppression.method: {method}` goes with full-domain levels")
    if not applies(problem.metric, with_nodes(table)):
        metric = problem.metric.name
        return Choice("lattice", f"`objective.metric: {metric}` has a value for full-domain levels only")
    bare = without_levels(table.quasi_identifiers)
    if bare and applies(problem.metric, with_intervals(table)):
        return Choice("mondrian", _bare(bare), {"labels": "interval"})
    if table.combinations > MANY_COMBINATIONS:
        reason = f"{table.combinations:,} distinct combinations are too many for local recoding"
        return Choice("mondrian", reason)
    if seconds is not None and seconds < FEW_SECONDS:
        reason = f"local recoding needs more than the {seconds:g} seconds of the budget"
        return Choice("mondrian", reason)
    return Choice("local", "local recoding along the hierarchies loses least")


def without_levels(attributes: Sequence[QuasiIdentifier]) -> list[str]:
    """Return the names of attributes that should be cut rather than generalized.

    These are numbers without a hierarchy, and all attributes when none has a level between its values and
    the top.
    """
    names = [attribute.name for attribute in attributes if attribute.by_range]
    if any(attribute.hierarchy.height > 1 for attribute in attributes):
        return names
    return [attribute.name for attribute in attributes]


def _bare(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:3]) + (", …" if len(names) > 3 else "")
    verb = "has" if len(names) == 1 else "have"
    return (
        f"{shown} {verb} no levels between value and top: intervals and sets lose less than `*`, and "
        "say how exact they are, as a mean (microaggregation) does not"
    )


def applies(metric: LossMetric, recoding: Recoding) -> bool:
    """Tell whether a metric has a value for a kind of recoding."""
    return metric.value(released(recoding, None)) is not None


def with_nodes(table: Table) -> Recoding:
    """Return a recoding of the first combination to nodes of its own, the roots."""
    first, none = _first(table), np.zeros(1, dtype=bool)
    return NodeRecoding(first, np.zeros((1, len(table.quasi_identifiers)), dtype=np.int32), none, none)


def with_intervals(table: Table) -> Recoding:
    """Return a recoding of the first combination to values that are no nodes."""
    none, position = np.zeros(1, dtype=bool), np.zeros(1, dtype=np.int64)
    columns = [
        RegionColumn(
            replace(attribute.node_values.take(position), levels=None),
            [SUPPRESSED],
            position.astype(np.int32),
        )
        for attribute in table.quasi_identifiers
    ]
    return RegionRecoding(_first(table), columns, position, none, none)


def _first(table: Table) -> Table:
    return replace(table, codes=table.codes[:1], counts=table.counts[:1])
