"""Searching until a release stands, and saying why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from anonymizer.config.model import Config
from anonymizer.errors import AuditFailed, Infeasible
from anonymizer.model.classes import Released, released
from anonymizer.model.outcome import Outcome
from anonymizer.model.report import Status
from anonymizer.report.build import InputFacts, ReleaseFacts, build_report
from anonymizer.run.assessment import Verified
from anonymizer.run.attributes import positions
from anonymizer.run.diagnose import Diagnosis, Diagnostician, explanation
from anonymizer.run.job import Job, RunMonitor, violated_constraints
from anonymizer.run.report import report_parts
from anonymizer.search.base import Control
from anonymizer.search.local.bound import best_possible

DIAGNOSIS_SECONDS = 20.0
"""Longest time for finding out why there is no release, when the config sets no budget."""


def search_until_verified(
    config: Config,
    job: Job,
    facts: InputFacts,
    watch: RunMonitor,
    publish: Callable[[Outcome, Released], Verified],
) -> tuple[Outcome, Released, Verified]:
    """Search and publish; where the audit's attackers break the release, go on without that candidate.

    Parameters
    ----------
    publish: writes a release and reads it back; asked again, it replaces what it wrote.

    Raises
    ------
    Infeasible: nothing is left that satisfies every constraint, or nothing was found in the budget.
    AuditFailed: a release is not what the search promised, or was refused before.
    """
    control = control_of(config, watch)
    while True:
        outcome = search(config, job, watch, control)
        if outcome.recoding is None:
            raise refusal(config, job, outcome, facts, watch)
        if job.problem.gate.refused(outcome.recoding):
            raise AuditFailed(f"{config.algorithm.name} proposes again what attackers broke in the audit")
        promised = released(outcome.recoding, job.problem.k)
        verified = publish(outcome, promised)
        names = violated_constraints(job.constraints, verified.audited.measurements)
        if not names:
            return outcome, promised, verified
        job.problem.gate.refuse(outcome.recoding, names)


def control_of(config: Config, watch: RunMonitor) -> Control:
    """Return the budget of a config, which begins now."""
    budget = config.budget
    return Control(budget.seconds, budget.nodes, budget.steps, watch.stopped, watch.progress)


def search(config: Config, job: Job, watch: RunMonitor, control: Control | None = None) -> Outcome:
    """Run the search of a config within its budget.

    Parameters
    ----------
    control: the budget, None for one that begins now.
    """
    watch.phase("searching")
    control = control_of(config, watch) if control is None else control
    outcome: Outcome = config.algorithm.build().search(job.problem, control)
    if (
        outcome.recoding is None
        or not outcome.recoding.along_hierarchies
        or outcome.best_possible is not None
        or job.problem.source is not None
    ):
        return outcome
    watch.phase("bounding what is possible")
    # The bound may take longer than the search: it gets a share of the budget, and at most what is left.
    bound = best_possible(job.problem, control.out_of_time, config.budget.seconds)
    return replace(outcome, best_possible=bound)


def refusal(config: Config, job: Job, outcome: Outcome, facts: InputFacts, watch: RunMonitor) -> Infeasible:
    """Return the error for a problem without a release, with the reasons that could be found."""
    diagnosis = Diagnosis(complete=False)
    if outcome.status is Status.INFEASIBLE:
        watch.phase("finding out what stands in the way")
        numbered = list(
            zip(positions(config, job.problem.table.sensitive_names), job.constraints, strict=True)
        )
        seconds = config.budget.seconds or DIAGNOSIS_SECONDS
        algorithm = config.algorithm.build()
        diagnosis = Diagnostician(job.problem, numbered, algorithm, seconds, watch.stopped).diagnose()
    parts = report_parts(config, job, outcome, facts, ReleaseFacts(), None, {}, diagnosis)
    return Infeasible(explanation(outcome, diagnosis), build_report(parts))
