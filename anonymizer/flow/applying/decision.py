"""What becomes of new records: the earlier recoding, another one where that is asked, or a refusal."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

import numpy as np

from anonymizer.config.model import ApplySettings, Batch, Config, Otherwise
from anonymizer.errors import ConfigError, ConfigProblem, Infeasible
from anonymizer.flow.applying.batch import NewRecords
from anonymizer.flow.applying.beyond import coarsened_job
from anonymizer.flow.applying.combined import Combined
from anonymizer.flow.applying.judge import CombinedJudge
from anonymizer.flow.applying.kept import StoredRecoding, store_recoding
from anonymizer.flow.applying.parts import Sources
from anonymizer.flow.applying.previous import Previous
from anonymizer.flow.applying.published import published_rows
from anonymizer.flow.assemble import report_parts
from anonymizer.flow.diagnose import Diagnosis
from anonymizer.flow.engine import room
from anonymizer.flow.prepare import Job
from anonymizer.flow.risk import countable_constraints
from anonymizer.flow.searching import refusal, search
from anonymizer.flow.watch import RunMonitor
from anonymizer.model.classes import Measurement, Released, released
from anonymizer.model.outcome import Outcome
from anonymizer.model.recoding import Recoding
from anonymizer.model.report import Status
from anonymizer.report.build import InputFacts, ReleaseFacts, build_report

APPLIED = "the recoding of the earlier run was applied, nothing was searched"


@dataclass(frozen=True, eq=False)
class Decision:
    """How new records are published.

    Attributes
    ----------
    job: the new records, in whose table the recoding tells what becomes of them.
    outcome: with the recoding.
    promised: what of the new records is released.
    kept: the recoding for further records; None where it is of no use for them.
    searched: whether it is another recoding than the earlier one.
    alone: every constraint, measured on the new records alone.
    """

    job: Job
    outcome: Outcome
    promised: Released
    kept: StoredRecoding | None
    searched: bool
    alone: list[Measurement]


class Decider:
    """Applies the earlier recoding, and asks every constraint of the earlier release with the new records.

    Parameters
    ----------
    config: as the report shows it.
    facts: of the input.

    Attributes
    ----------
    groups: the distinct rows of the earlier release, by the columns ``sources.names``.

    Raises
    ------
    InputError: these rows do not fit in memory.
    """

    def __init__(
        self, config: Config, previous: Previous, sources: Sources, new: NewRecords, facts: InputFacts
    ) -> None:
        assert config.apply is not None
        self._settings: ApplySettings = config.apply
        self._config = config
        self._previous = previous
        self._sources = sources
        self._new = new
        self._facts = facts
        problem = new.job.problem
        alone = config.apply.batch is Batch.REQUIRE
        self._judge = CombinedJudge(countable_constraints(new.job.constraints), problem.limit, alone=alone)
        most = room(config, len(sources.names))
        self.groups = published_rows(new.job.engine, sources.earlier, sources.names, most)

    def decide(self, watch: RunMonitor) -> Decision:
        """Return how the new records are published.

        Raises
        ------
        InputError: the recoding does not fit the hierarchies.
        ConfigError: the objective has no value for such a recoding.
        Infeasible: the earlier release cannot go on with them.
        """
        watch.phase("applying the earlier recoding")
        job = coarsened_job(self._new.job, self._previous.recoding)
        table = job.problem.table
        applied = self._previous.recoding.applied_to(table)
        combined = self._combined(applied.recoding(np.zeros(table.combinations, dtype=bool)))
        verdict = self._judge.judge(combined, applied.uncovered)
        if verdict.reasons and self._settings.otherwise is Otherwise.SEARCH:
            return self._search(watch)
        if verdict.reasons:
            raise self._refusal(verdict.reasons, verdict.records)
        outcome = self._applied(applied.recoding(verdict.suppressed))
        alone = self._judge.measured(combined, verdict.suppressed)
        kept = self._previous.recoding
        return Decision(job, outcome, self._promised(outcome), kept, searched=False, alone=alone)

    def _combined(self, recoding: Recoding) -> Combined:
        return Combined(self._sources.earlier.name, self.groups, recoding, self._sources.attributes)

    def _search(self, watch: RunMonitor) -> Decision:
        """Search a recoding for the new records alone, so that their own classes hold; then ask again."""
        job = self._new.job
        outcome = search(self._new.config, job, watch)
        if outcome.recoding is None:
            raise refusal(self._config, job, outcome, self._facts, watch)
        gone = outcome.recoding.removed
        combined = self._combined(outcome.recoding)
        verdict = self._judge.judge(combined, gone)
        if verdict.reasons or (verdict.suppressed != gone).any():
            failing = ["records recoded anew are in classes that fail beside the earlier ones"]
            raise self._refusal(verdict.reasons or tuple(failing), verdict.records)
        kept = store_recoding(self._new.config, job, outcome, self._new.sources)
        alone = self._judge.measured(combined, gone)
        return Decision(job, outcome, self._promised(outcome), kept, searched=True, alone=alone)

    def _promised(self, outcome: Outcome) -> Released:
        assert outcome.recoding is not None
        return released(outcome.recoding, self._new.job.problem.k)

    def _applied(self, recoding: Recoding | None) -> Outcome:
        problem = self._new.job.problem
        value = None if recoding is None else problem.metric.value(released(recoding, problem.k))
        if recoding is not None and value is None:
            what = f"{problem.metric.name} has no value for the recoding of the earlier run; accepted: loss"
            raise ConfigError(self._config.source, [ConfigProblem("objective.metric", what)])
        status = Status.INFEASIBLE if recoding is None else Status.SATISFIED
        return Outcome(status, recoding, value, None, 1, 1, reasons=(APPLIED,))

    def _refusal(self, reasons: tuple[str, ...], suppressed: int) -> Infeasible:
        """Return the error for an earlier release that cannot go on with the new records."""
        problem = self._new.job.problem
        suggestions = []
        if len(reasons) == 1 and suppressed > problem.limit:
            share = Decimal(suppressed) / Decimal(problem.table.records)
            limit = share.quantize(Decimal("0.0001"), rounding=ROUND_CEILING)
            suggestions = [f"suppression.limit={limit.normalize():f}"] if limit <= 1 else []
        diagnosis = Diagnosis(list(reasons), suggestions)
        outcome = self._applied(None)
        parts = report_parts(
            self._config, self._new.job, outcome, self._facts, ReleaseFacts(), None, {}, diagnosis
        )
        lines = [f"REFUSED: the release of {self._previous.path} cannot go on with {self._facts.path}"]
        lines += [f"  {reason}" for reason in reasons]
        lines += [f"  works: --set {suggestion}" for suggestion in suggestions]
        if self._settings.otherwise is Otherwise.REFUSE:
            lines.append(
                "  may work: --set apply.otherwise=search, another recoding for the new records alone"
            )
        return Infeasible("\n".join([*lines, "Nothing was written."]), build_report(parts))
