"""The choice among the search algorithms, by the config and the table."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from anonymizer.errors import Interrupted, listed
from anonymizer.loss.base import LossMetric
from anonymizer.model.classes import released
from anonymizer.model.features import Feature, SuppressionMethod
from anonymizer.model.labels import SUPPRESSED
from anonymizer.model.recoding import (
    Cells,
    NodeRecoding,
    Outcome,
    Published,
    Recoding,
    RegionRecoding,
    Status,
    Step,
)
from anonymizer.model.table import QuasiIdentifier, Table
from anonymizer.plugins import PlugInSettings, Settings
from anonymizer.search.base import (
    FULL_DOMAIN,
    FULL_DOMAIN_FEATURES,
    QUICK,
    SEARCH_ALGORITHMS,
    Control,
    Incumbent,
    SearchAlgorithm,
    SearchProblem,
    offer_outcome,
)
from anonymizer.search.judge import explained

MANY_COMBINATIONS = 200_000
"""With more distinct rows, local recoding would hardly improve its start in the time people wait."""

FEW_SECONDS = 2.0
"""Seconds that local recoding needs to be better than Mondrian."""

WORK = 2_000_000
"""Proposals of local recoding where nobody set a budget: two seconds or so, counted, so that runs repeat."""

LATTICE, MONDRIAN, LOCAL = FULL_DOMAIN, QUICK, "local"

INTERVALS = {"labels": "interval"}
"""Parameters of Mondrian for numbers without a hierarchy."""

ROWS_OF_REGION = 2
"""Distinct rows that take as much memory as a region of Mondrian and what is published of it.

Runs of ten million records with a limit of 500 MB, and 30 million with 2 GB, used 850 MB and 1.9 GB.
"""

OF_NODES = "nodes of the hierarchies lose less here than intervals or sets of all columns"
"""Why a release of Mondrian has its default labels."""


class Recodings(StrEnum):
    """What a release may consist of."""

    ANY = "any"
    FULL_DOMAIN = "full-domain"


class AutoSettings(Settings):
    """The kinds of recoding among which is chosen."""

    recoding: Annotated[
        Recodings,
        Field(
            description="any: each class may have its own level of detail; full-domain: one level for each "
            "column, with a proof that no others lose less"
        ),
    ] = Recodings.ANY


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

    def alone(self) -> SearchAlgorithm:
        """Return the algorithm in place of ``auto``: it says itself why it was chosen."""
        found = self.build()
        found.reasons = (self.reason,)
        return found


class Auto(SearchAlgorithm):
    """Chooses among lattice, mondrian and local by the config and the table, and says why.

    Lattice for what needs full-domain recoding, mondrian for numbers without a hierarchy and very large
    tables, in memory or not, local for all else: it begins with Mondrian's release, and without a budget it
    improves that for an amount of work that is counted, not timed. Never microaggregation: a mean looks exact
    and is not.
    """

    name = "auto"
    Settings = AutoSettings
    settings: AutoSettings
    supports = FULL_DOMAIN_FEATURES
    chooses = True
    most_parts = MANY_COMBINATIONS

    def __init__(self, settings: PlugInSettings | None = None) -> None:
        super().__init__(settings)
        self._asked: Sequence[Feature] = ()

    def narrowed(self, asked: Sequence[Feature]) -> SearchAlgorithm:
        """Return lattice if a config asks for it, or for what others do not support, or not always."""
        if self.settings.recoding is Recodings.FULL_DOMAIN:
            return _lattice("full-domain recoding was asked for")
        # Mondrian supports all that local recoding does; labels may differ by level and be the same by node.
        able = SEARCH_ALGORITHMS[MONDRIAN].supports - {Feature.NUMBERS, Feature.RECORDS}
        needed = [each.value for each in asked if each not in able]
        if needed:
            return _lattice(f"{listed(needed)}: needs full-domain recoding")
        self._asked = asked
        return self

    def beyond_memory(self, problem: SearchProblem, *, joins: bool) -> SearchAlgorithm:
        """Return Mondrian if it can do there what is asked, else lattice."""
        return _beyond_memory(problem, joins=joins).alone()

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
        choice = choose(problem, control.allowed, self._asked)
        quick = replace(control, work=WORK) if control.unlimited else control
        if choice.parameters == INTERVALS:
            return _best_labels(choice, problem, quick)
        outcome = choice.build().search(problem, quick)
        return replace(outcome, chosen=(choice.name, (choice.reason,)))


def _best_labels(choice: Choice, problem: SearchProblem, control: Control) -> Outcome:
    """Return the outcome of a choice, or of its algorithm as configured by default if that loses less.

    Sets of categories mostly lose half as much as nodes, and now and then more. The default runs first, so
    that no release loses more than it would have alone; a budget of time may end before the other.
    """
    usual = Choice(choice.name, OF_NODES).build().search(problem, control)
    usual = replace(usual, chosen=(choice.name, (choice.reason, OF_NODES)))
    if usual.status is Status.INFEASIBLE:
        return replace(usual, chosen=(choice.name, (choice.reason,)))
    if usual.recoding is not None and control.out_of_time():
        return usual
    began = time.monotonic()
    try:
        outcome = choice.build().search(problem, control)
    except Interrupted:
        if usual.recoding is None:
            raise
        return replace(usual, interrupted=True)
    # Of equal losses, that of the choice is released.
    best: Incumbent[Outcome] = Incumbent()
    offer_outcome(best, outcome)
    if not offer_outcome(best, usual):
        return replace(outcome, chosen=(choice.name, (choice.reason,)))
    return _beside(usual, outcome, _as_rival(choice, problem, outcome, time.monotonic() - began), control)


def _as_rival(choice: Choice, problem: SearchProblem, outcome: Outcome, seconds: float) -> Step:
    """Return the outcome of a choice that lost as a step."""
    candidate = {"move": "rival", "algorithm": choice.name, **choice.parameters}
    seconds = round(seconds, 3)
    if outcome.recoding is None:
        return Step(candidate, None, accepted=False, failed=(outcome.status.value,), seconds=seconds)
    asked = problem.for_all_knowledge if problem.has_scenarios else problem
    reached = problem.gate.answers(outcome.recoding)
    step = Step(candidate, outcome.objective, accepted=True, attackers=reached, seconds=seconds)
    return explained(asked, step, outcome.recoding)


def _beside(best: Outcome, other: Outcome, rival: Step, control: Control) -> Outcome:
    """Return the better one of two outcomes with the other one as a step of its own."""
    left = (*best.runners_up, other, *other.runners_up)
    return replace(
        best,
        candidates=best.candidates + other.candidates,
        evaluated=best.evaluated + other.evaluated,
        steps=(*best.steps, rival),
        seconds=control.elapsed,
        interrupted=other.interrupted,
        runners_up=tuple(each for each in left if each.recoding is not None),
    )


def _lattice(reason: str) -> SearchAlgorithm:
    return Choice(LATTICE, reason).alone()


BEYOND = "the distinct rows do not fit in memory"
"""Why others than local recoding are chosen there."""


def _beyond_memory(problem: SearchProblem, *, joins: bool) -> Choice:
    lacking = next(_gaps(problem, joins=joins), None)
    return Choice(MONDRIAN, BEYOND) if lacking is None else Choice(LATTICE, f"{BEYOND}; {lacking}")


def _gaps(problem: SearchProblem, *, joins: bool) -> Iterator[str]:
    """Yield what Mondrian cannot do out of core of a problem with a source, a clause each.

    Parameters
    ----------
    joins: as for ``beyond_memory``.
    """
    reason = _for_lattice(problem)
    if reason is not None:
        yield reason
        return
    table = problem.table
    if any(each.by_range for each in table.quasi_identifiers) and not applies(
        problem.metric, with_intervals(table)
    ):
        yield f"`objective.metric: {problem.metric.name}` is not defined for intervals"
    if not joins:
        yield "records of a DataFrame cannot be joined to regions"
    for gap in Choice(MONDRIAN, BEYOND).build().out_of_core_gaps(problem):
        yield f"not supported then: {gap}"
    regions = table.records // problem.minimum_size
    if ROWS_OF_REGION * regions > problem.most:
        yield f"up to {regions:,} regions of mondrian may not fit either"


def choose(problem: SearchProblem, seconds: float | None, asked: Sequence[Feature] = ()) -> Choice:
    """Choose the algorithm for a problem; the first rule that applies decides.

    Parameters
    ----------
    seconds: of the budget, None without a limit.
    asked: what the config asks for.
    """
    table = problem.table
    if problem.source is not None:
        return _beyond_memory(problem, joins=True)
    reason = _for_lattice(problem)
    if reason is not None:
        return Choice(LATTICE, reason)
    bare = without_levels(table.quasi_identifiers)
    if bare and applies(problem.metric, with_intervals(table)):
        return Choice(MONDRIAN, _bare(bare), INTERVALS)
    reason = _against_local(table, seconds, asked)
    if reason is not None:
        # By default numbers have intervals, which this metric has no value for.
        return Choice(MONDRIAN, reason, {"labels": "hierarchy"} if bare else {})
    return Choice(LOCAL, "local recoding along the hierarchies has the lowest loss")


def _for_lattice(problem: SearchProblem) -> str | None:
    """Return why full-domain recoding is needed; None if it is not."""
    table = problem.table
    if table.measure.linked:
        return "pseudonyms link the records of a person, which needs full-domain recoding"
    if problem.suppression is not SuppressionMethod.CLASSES:
        return f"`suppression.method: {problem.suppression.value}` needs full-domain recoding"
    if not applies(problem.metric, with_nodes(table)):
        return f"`objective.metric: {problem.metric.name}` is defined for full-domain recoding only"
    return None


def _against_local(table: Table, seconds: float | None, asked: Sequence[Feature]) -> str | None:
    """Return why local recoding does not serve; None if it does."""
    # Whole units are a matter of the table, below.
    able = SEARCH_ALGORITHMS[LOCAL].supports | {Feature.WHOLE}
    missing = [each.value for each in asked if each not in able]
    if missing:
        return f"{listed(missing)}: not supported by local recoding"
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
