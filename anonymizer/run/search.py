"""Searching until a release stands, and saying why there is none."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

from anonymizer.data.relation import Relation
from anonymizer.errors import AuditFailed, Infeasible
from anonymizer.model.classes import released
from anonymizer.model.outcome import Outcome
from anonymizer.model.report import Status
from anonymizer.report.build import InputFacts, ReleaseFacts, build_report
from anonymizer.report.facts import Facts, gather
from anonymizer.run.diagnose import Diagnosis, Diagnostician, explanation
from anonymizer.run.earlier_release import StoredRecoding, store_recoding
from anonymizer.run.plan import Plan
from anonymizer.run.prepare import Prepared, RunMonitor, prepare
from anonymizer.run.report import report_parts
from anonymizer.run.shape import Audited, Found, Shape, shape_of
from anonymizer.search.base import Control
from anonymizer.search.local.bound import best_possible

DIAGNOSIS_SECONDS = 20.0
"""Longest time for finding out why there is no release, when the config sets no budget."""


class Task(ABC):
    """What a job does with the records of an open source.

    Attributes
    ----------
    plan, prepared: of the records.
    shape: of the release.
    input: what the report says of the input.
    """

    plan: Plan
    prepared: Prepared
    shape: Shape
    input: InputFacts

    @abstractmethod
    def find(self) -> Found:
        """Return what is to be published; asked again, something else than what the gate refused meanwhile.

        Raises
        ------
        Infeasible: nothing is left that satisfies every constraint, or nothing was found in the budget.
        AuditFailed: the search proposes what was refused before.
        """

    @abstractmethod
    def stored(self, found: Found) -> StoredRecoding | None:
        """Return what is kept for further records; None where it is of no use for them."""

    def entry(self, found: Found) -> dict[str, Any] | None:  # noqa: ARG002 - of any
        """Return the ``applied`` entry of the report; None where nothing was applied."""
        return None

    def facts(self, found: Found, audited: Audited) -> Facts:  # noqa: ARG002 - of any release
        """Return what the page shows beside the report."""
        problem = found.prepared.problem
        return gather(found.promised, found.prepared.constraints, moving_reference=problem.moving_reference)


class SearchTask(Task):
    """A search for all records at once.

    Parameters
    ----------
    relation: the records.

    Raises
    ------
    InputError: the records do not fit the plan.
    """

    def __init__(self, plan: Plan, relation: Relation, facts: InputFacts, watch: RunMonitor) -> None:
        self.plan = plan
        self.shape = shape_of(plan, relation)
        self.prepared = prepare(plan, relation)
        self.input = facts
        self._watch = watch
        self._control: Control | None = None

    def find(self) -> Found:
        """Search within one budget, however often."""
        self._control = self._control or control_of(self.plan, self._watch)
        outcome = search(self.plan, self.prepared, self._watch, self._control)
        if outcome.recoding is None:
            raise refusal(self.plan, self.prepared, outcome, self.input, self._watch)
        if self.prepared.problem.gate.refused(outcome.recoding):
            name = self.plan.algorithm.name
            raise AuditFailed(f"{name} proposes again what attackers broke in the audit")
        return Found(self.prepared, outcome, released(outcome.recoding, self.prepared.problem.k))

    def stored(self, found: Found) -> StoredRecoding | None:
        """Return the recoding that was found."""
        return store_recoding(self.plan, self.prepared, found.outcome)


def control_of(plan: Plan, watch: RunMonitor) -> Control:
    """Return the budget of a plan, which begins now."""
    return Control(*plan.budget, watch.stopped, watch.progress)


def search(plan: Plan, prepared: Prepared, watch: RunMonitor, control: Control | None = None) -> Outcome:
    """Run the search of a plan within its budget.

    Parameters
    ----------
    control: the budget, None for one that begins now.
    """
    watch.phase("searching")
    control = control_of(plan, watch) if control is None else control
    outcome: Outcome = plan.algorithm.search(prepared.problem, control)
    if (
        outcome.recoding is None
        or not outcome.recoding.along_hierarchies
        or outcome.best_possible is not None
        or prepared.problem.source is not None
    ):
        return outcome
    watch.phase("bounding what is possible")
    # The bound may take longer than the search: it gets a share of the budget, and at most what is left.
    bound = best_possible(prepared.problem, control.out_of_time, plan.budget[0])
    return replace(outcome, best_possible=bound)


def refusal(
    plan: Plan, prepared: Prepared, outcome: Outcome, facts: InputFacts, watch: RunMonitor
) -> Infeasible:
    """Return the error for a problem without a release, with the reasons that could be found."""
    diagnosis = Diagnosis(complete=False)
    if outcome.status is Status.INFEASIBLE:
        watch.phase("finding out what stands in the way")
        numbered = list(
            zip(plan.positions(prepared.problem.table.sensitive_names), prepared.constraints, strict=True)
        )
        seconds = plan.budget[0] or DIAGNOSIS_SECONDS
        search = Diagnostician(prepared.problem, numbered, plan.algorithm, seconds, watch.stopped)
        diagnosis = search.diagnose()
    parts = report_parts(plan, prepared, outcome, facts, ReleaseFacts(), None, {}, diagnosis)
    return Infeasible(explanation(outcome, diagnosis), build_report(parts))
