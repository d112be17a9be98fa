"""The choice among the search algorithms, by the config and the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from anonymizer.loss.base import LossMetric
from anonymizer.model.classes import released
from anonymizer.model.features import Feature, SuppressionMethod
from anonymizer.model.labels import SUPPRESSED
from anonymizer.model.recoding import Cells, NodeRecoding, Outcome, Published, Recoding, RegionRecoding
from anonymizer.model.table import QuasiIdentifier, Table
from anonymizer.search.base import SEARCH_ALGORITHMS, Control, SearchAlgorithm, SearchProblem

MANY_COMBINATIONS = 200_000
"""With more distinct rows, local recoding would hardly improve its start in the time people wait."""

FEW_SECONDS = 2.0
"""Seconds that local recoding needs to be better than Mondrian."""


@dataclass(frozen=True)
class Choice:
    """A chosen algorithm with the reason.

    Attributes
    ----------
    name: of the algorithm.
    reason: why it was chosen, as a clause.
    parameters: those that differ from the defaults.
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

    Lattice for what needs full-domain recoding, mondrian for numbers without a hierarchy and very large
    tables, local for all else. Never microaggregation: a mean looks exact and is not.
    """

    name = "auto"
    supports = frozenset(
        {
            Feature.CLASSES,
            Feature.RECORDS,
            Feature.CELLS,
            Feature.APPLY,
            Feature.WHOLE,
            Feature.UNIT_LIMIT,
            Feature.PSEUDONYMS,
            Feature.UNITS,
            Feature.STORED_UNITS,
            Feature.SCENARIOS,
            Feature.NUMBERS,
        }
    )
    chooses = True
    most_parts = MANY_COMBINATIONS

    def publishes(
        self, attributes: Sequence[QuasiIdentifier], method: SuppressionMethod
    ) -> frozenset[Published]:
        """Return what the algorithms publish that it may choose."""
        if method is not SuppressionMethod.CLASSES:
            return frozenset({Published.LEVEL})
        bare = frozenset({Published.INTERVALS} if without_levels(attributes) else ())
        return bare | {Published.NODES}

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        """Return the outcome of the chosen algorithm, with its name and the reason."""
        choice = choose(problem, control.allowed)
        outcome = choice.build().search(problem, control)
        return replace(outcome, chosen=(choice.name, (choice.reason,)))


def choose(problem: SearchProblem, seconds: float | None) -> Choice:
    """Choose the algorithm for a problem; the first rule that applies decides.

    Parameters
    ----------
    seconds: of the budget, None without a limit.
    """
    table = problem.table
    if table.measure.linked:
        return Choice("lattice", "pseudonyms link the records of a person, which needs full-domain recoding")
    if problem.suppression is not SuppressionMethod.CLASSES:
        method = problem.suppression.value
        return Choice("lattice", f"`suppression.method: {method}` needs full-domain recoding")
    if not applies(problem.metric, with_nodes(table)):
        metric = problem.metric.name
        return Choice("lattice", f"`objective.metric: {metric}` is defined for full-domain recoding only")
    bare = without_levels(table.quasi_identifiers)
    if bare and applies(problem.metric, with_intervals(table)):
        return Choice("mondrian", _bare(bare), {"labels": "interval"})
    reason = _against_local(table, seconds)
    if reason is not None:
        return Choice("mondrian", reason)
    return Choice("local", "local recoding along the hierarchies has the lowest loss")


def _against_local(table: Table, seconds: float | None) -> str | None:
    """Return why local recoding does not serve; None if it does."""
    if table.measure.ties is not None and any(
        own.number < table.records for own in table.measure.units.values()
    ):
        return "`suppression.whole`: local recoding may suppress some of the records of a unit and not others"
    if not table.measure.divided:
        return "local recoding needs distinct rows divided by persons or other units, which are too many"
    if table.combinations > MANY_COMBINATIONS:
        return f"{table.combinations:,} distinct rows are too many for local recoding"
    if seconds is not None and seconds < FEW_SECONDS:
        return f"local recoding would exceed the budget of {seconds:g} s"
    return None


def without_levels(attributes: Sequence[QuasiIdentifier]) -> list[str]:
    """Return the names of attributes that should be cut, not generalized.

    These are numbers without a hierarchy, and all attributes if none has a level between values and root.
    """
    names = [attribute.name for attribute in attributes if attribute.by_range]
    if any(attribute.hierarchy.height > 1 for attribute in attributes):
        return names
    return [attribute.name for attribute in attributes]


def _bare(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:3]) + (", …" if len(names) > 3 else "")
    verb = "has" if len(names) == 1 else "have"
    return (
        f"{shown} {verb} no level between the original value and `*`; mondrian publishes intervals or sets, "
        "which lose less than `*` and, unlike the means of microaggregation, show how exact they are"
    )


def applies(metric: LossMetric, recoding: Recoding) -> bool:
    """Return whether a metric has a value for a kind of recoding."""
    return metric.value(released(recoding, None)) is not None


def with_nodes(table: Table) -> Recoding:
    """Return a recoding of the first distinct row to hierarchy nodes, the roots."""
    first, none = _first(table), np.zeros(1, dtype=bool)
    return NodeRecoding(first, np.zeros((1, len(table.quasi_identifiers)), dtype=np.int32), none, none)


def with_intervals(table: Table) -> Recoding:
    """Return a recoding of the first distinct row to values that are not hierarchy nodes."""
    none, position = np.zeros(1, dtype=bool), np.zeros(1, dtype=np.int64)
    columns = [
        Cells(
            replace(attribute.node_values.take(position), levels=None),
            [SUPPRESSED],
            position.astype(np.int32),
        )
        for attribute in table.quasi_identifiers
    ]
    return RegionRecoding(_first(table), columns, position, none, none)


def _first(table: Table) -> Table:
    return table.with_rows(table.codes[:1], table.counts[:1])
