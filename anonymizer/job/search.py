"""The search of a run, and the error with its reasons if there is no release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isclose
from typing import Any

from anonymizer.data.relation import Relation
from anonymizer.distribution import PACKAGE
from anonymizer.errors import AuditFailed, Infeasible, PlugInFault
from anonymizer.hierarchy.source import HierarchySource
from anonymizer.job.clock import Phase, RunMonitor
from anonymizer.job.diagnose import Diagnosis, Diagnostician, barrier_of, explanation
from anonymizer.job.report import report_parts
from anonymizer.job.table import prepare
from anonymizer.job.verify import Audited, Shape, shape_of
from anonymizer.loss.base import CellMetric
from anonymizer.loss.leaf_share import LeafShareLoss
from anonymizer.model.classes import released
from anonymizer.model.recoding import TELLING, Bound, FullDomainRecoding, NodeRecoding, Outcome, Status
from anonymizer.model.table import Role
from anonymizer.people.released import with_person_records
from anonymizer.plan.columns import NO_SOURCES
from anonymizer.plan.goal import Goal
from anonymizer.plan.plan import Plan
from anonymizer.plan.prepared import Found, Prepared
from anonymizer.release.recoding import StoredRecoding, keep_classes, keep_cuts
from anonymizer.report.build import InputFacts, build_report
from anonymizer.report.facts import Facts, gather
from anonymizer.search.base import AttackCheck, Control, Incumbent, algorithm_of, offer_outcome
from anonymizer.search.local.bound import QUICK, best_possible

DIAGNOSIS_SECONDS = 20.0
"""Limit of the diagnosis of infeasibility if the config sets no budget of time."""


class Task:
    """A search for a release of the records of an open input.

    Attributes
    ----------
    prepared: the records, by the plan of the run.
    shape: of the release.
    input: entry of the report.
    """

    def __init__(self, prepared: Prepared, shape: Shape, facts: InputFacts, watch: RunMonitor) -> None:
        self.prepared = prepared
        self.shape = shape
        self.input = facts
        self.watch = watch
        self._control: Control | None = None
        self._earlier: tuple[Outcome, ...] = ()

    def find(self) -> Found:
        """Return the release to publish; after a refusal by the attack check, another one.

        All searches of a run share one budget.

        Raises
        ------
        Infeasible: no other release satisfies every constraint, or none was found in the budget.
        AuditFailed: the search returns a release that was refused before.
        """
        self._control = self._control or control_of(self.prepared.plan.goal, self.watch)
        outcome = self.search(self._control)
        self._earlier = (*self._earlier, *outcome.runners_up)
        outcome = best_left(outcome, self._earlier, self.prepared.problem.gate)
        if outcome.recoding is None:
            if outcome.status is Status.SATISFIED:
                name = self.prepared.plan.goal.algorithm.name
                raise PlugInFault(f"algorithm {name} ended with SATISFIED and no recoding; mend its 'search'")
            raise self.refusal(outcome)
        if self.prepared.problem.gate.refused(outcome.recoding):
            name = self.prepared.plan.goal.algorithm.name
            raise AuditFailed(f"{name} returned a release again that an attack refuted in the audit")
        found = Found(self.prepared, outcome, released(outcome.recoding, self.prepared.problem.k))
        self.check_claims(found)
        return found

    def check_claims(self, found: Found) -> None:
        """Check what a search of others says of its release: its loss, and a bound on it.

        The project's own are tested against that.

        Raises
        ------
        PlugInFault: the loss is another one, or below the bound.
        """
        problem, outcome, algorithm = self.prepared.problem, found.outcome, self.prepared.plan.goal.algorithm
        of_others = type(algorithm).__module__.partition(".")[0] != PACKAGE
        if not of_others or self.prepared.plan.columns.applied:
            return
        name = algorithm.name
        claimed, own = outcome.objective, None
        if problem.source is None:
            own = problem.metric.value(found.promised)
        same = own is None or (claimed is not None and isclose(claimed, own, rel_tol=1e-6, abs_tol=1e-9))
        if claimed is None or not same:
            raise PlugInFault(
                f"algorithm {name} says that its release loses {claimed}, but {problem.metric.name} is "
                f"{own}; mend its 'search'"
            )
        if outcome.bound is not None and outcome.bound > claimed * (1 + 1e-6) + 1e-9:
            raise PlugInFault(
                f"algorithm {name} says that no release loses less than {outcome.bound}, but its own loses "
                f"{claimed}; mend its 'search'"
            )

    def search(self, control: Control) -> Outcome:
        """Run the search."""
        return search(self.prepared, self.watch, control)

    def refusal(self, outcome: Outcome) -> Infeasible:
        """Return the error for a search that ended without a release."""
        return refusal(self.prepared, outcome, self.input, self.watch)

    def stored(self, found: Found) -> StoredRecoding | None:
        """Return the recoding for new records; None if it cannot be applied to them."""
        return store_recoding(self.prepared, found.outcome)

    def entry(self, found: Found) -> dict[str, Any] | None:  # noqa: ARG002 - of an append
        """Return the ``applied`` entry of the report; None for a release without an earlier one."""
        return None

    def facts(self, found: Found, audited: Audited) -> Facts:  # noqa: ARG002 - of an append
        """Return the facts that the page shows in addition to the report."""
        problem = found.prepared.problem
        own = with_person_records(found.prepared, found.promised)
        return gather(own, found.prepared.constraints, moving_reference=problem.moving_reference)


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
        watch.begin(Phase.PREPARE, "building hierarchies and counting distinct rows")
        shape = shape_of(plan, relation)
        super().__init__(prepare(plan, relation), shape, facts, watch)


def best_left(outcome: Outcome, earlier: Sequence[Outcome], gate: AttackCheck) -> Outcome:
    """Return the outcome of a search, with a better release of earlier searches that was not refused."""
    best: Incumbent[Outcome] = Incumbent()
    offer_outcome(best, outcome)
    for each in earlier:
        if each.recoding is not None and not gate.refused(each.recoding):
            offer_outcome(best, each)
    found = best.found
    if found is None or found is outcome:
        return outcome
    return replace(
        outcome,
        status=Status.SATISFIED,
        recoding=found.recoding,
        objective=found.objective,
        cuts=found.cuts,
        ends=found.ends,
    )


def control_of(goal: Goal, watch: RunMonitor) -> Control:
    """Return the budget of a plan, which starts now."""
    return Control(**goal.budget, stopped=watch.stopped, listen=watch.progress, explain_all=goal.explain_all)


def search(prepared: Prepared, watch: RunMonitor, control: Control | None = None) -> Outcome:
    """Run the search of a plan within its budget.

    Parameters
    ----------
    control: the budget; None for one that starts now.
    """
    plan = prepared.plan
    watch.begin(Phase.SEARCH, "searching")
    control = control_of(plan.goal, watch) if control is None else control
    algorithm = plan.goal.algorithm
    outcome: Outcome = algorithm.search(prepared.problem, control)
    if algorithm.reasons:
        outcome = replace(outcome, chosen=(algorithm.name, algorithm.reasons))
    if (
        outcome.recoding is None
        or not outcome.recoding.along_hierarchies
        or outcome.best_possible is not None
        or prepared.problem.source is not None
        or plan.goal.bound is Bound.NONE
        or control.out_of_time()
    ):
        return outcome
    watch.begin(Phase.BOUND, "bounding what is possible")
    # A full bound may take longer than the search: it gets a share of the budget, and at most the rest of it.
    seconds = control.allowed
    if plan.goal.bound is Bound.QUICK:
        seconds = QUICK if seconds is None else min(seconds, QUICK)
    # A bound of the algorithm's own is worth more than one on every recoding that nobody is shown.
    quick = plan.goal.bound is Bound.QUICK and outcome.bound is not None
    telling = TELLING * (outcome.objective or 0.0) if quick else 0.0
    possible = best_possible(prepared.problem, control.out_of_time, seconds, telling=telling)
    return replace(outcome, best_possible=possible)


def refusal(prepared: Prepared, outcome: Outcome, facts: InputFacts, watch: RunMonitor) -> Infeasible:
    """Return the error for a problem without a release, with a diagnosis."""
    plan = prepared.plan
    diagnosis = Diagnosis(complete=False)
    decided = outcome.status is Status.INFEASIBLE or bool(outcome.estimated)
    table = prepared.problem.table
    if decided or any(barrier_of(each, table) for each in prepared.constraints):
        watch.begin(Phase.DIAGNOSE, "diagnosing infeasibility")
        numbered = list(zip(plan.goal.paths(table.sensitive_names), prepared.constraints, strict=True))
        time = replace(Control(**plan.goal.budget), nodes=None, steps=None)
        search = Diagnostician(
            prepared.problem,
            numbered,
            plan.goal.algorithm,
            Control(DIAGNOSIS_SECONDS) if time.unlimited else time,
            watch.stopped,
            decided=decided,
        )
        diagnosis = search.diagnose()
    parts = report_parts(prepared, outcome, facts, diagnosis=diagnosis)
    parts = replace(parts, seconds=watch.clock.so_far())
    return Infeasible(explanation(outcome, diagnosis, plan.goal.budget, plan.command), build_report(parts))


def store_recoding(
    prepared: Prepared,
    outcome: Outcome,
    sources: Mapping[str, HierarchySource[Any]] = NO_SOURCES,
) -> StoredRecoding | None:
    """Return a recoding without its records; None if it cannot be applied to others.

    Parameters
    ----------
    sources: hierarchies that were used in place of the plan's.
    """
    recoding, levels, cuts, classes = outcome.recoding, None, None, None
    if outcome.cuts is not None:
        cuts = keep_cuts(outcome.cuts, prepared.problem.table.quasi_identifiers)
    # A subclass publishes more than the levels, such as buckets.
    elif type(recoding) is FullDomainRecoding:
        names = [each.name for each in recoding.table.quasi_identifiers]
        levels = dict(zip(names, recoding.levels, strict=True))
    elif type(recoding) is NodeRecoding and _in_classes(prepared, outcome):
        metric = prepared.problem.metric
        guide = metric if isinstance(metric, CellMetric) else LeafShareLoss()
        own = recoding.table.quasi_identifiers
        classes = keep_classes(recoding, [each.weight * guide.node_costs(each) for each in own])
    else:
        return None
    depends_on = {}
    for read in prepared.encoded.columns:
        name, planned = read.column.name, prepared.plan.columns[read.column.name]
        if planned.role is Role.QUASI_IDENTIFIER and planned.hierarchy is not None:
            source = sources.get(name) or planned.hierarchy.source
            depends_on[name] = source.depends_on(read.column)
    return StoredRecoding(levels=levels, cuts=cuts, classes=classes, depends_on=depends_on)


def _in_classes(prepared: Prepared, outcome: Outcome) -> bool:
    """Return whether new records may join the classes of an outcome, whatever their values in its own."""
    return (algorithm_of(outcome.chosen[0]) or prepared.plan.goal.algorithm).own_nodes
