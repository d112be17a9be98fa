"""Further records for an earlier release: the ordinary run, whose search is given that release's recoding.

The combined file is verified as its recipient counts it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from anonymizer.append.earlier import Previous, check_compatible, read_previous
from anonymizer.append.records import NewRecords, read_new_records
from anonymizer.append.release import AppendedShape
from anonymizer.append.search import AppendOutcome, CombinedJudge, FixedRecoding
from anonymizer.config.model import Config
from anonymizer.config.sections import ApplySettings, Batch, Otherwise
from anonymizer.data.source import EngineOptions
from anonymizer.errors import (
    ConfigError,
    ConfigProblem,
    Infeasible,
    InputError,
    format_measure,
    settings_in_line,
)
from anonymizer.job.clock import Phase, RunMonitor
from anonymizer.job.constraints import countable_constraints
from anonymizer.job.diagnose import Diagnosis, limit_override
from anonymizer.job.report import input_facts, report_parts
from anonymizer.job.search import Task, store_recoding
from anonymizer.job.source import DataSource, OtherSpelling, input_source, open_own_release
from anonymizer.job.verify import Audited
from anonymizer.model.classes import Measurement
from anonymizer.model.invocation import suggested_runs
from anonymizer.model.naming import respelled
from anonymizer.model.recoding import Outcome
from anonymizer.plan.plan import Plan
from anonymizer.plan.prepared import Found
from anonymizer.release.recoding import StoredRecoding
from anonymizer.report.build import InputFacts, build_report
from anonymizer.report.facts import Facts
from anonymizer.search.base import Control


class AppendTask(Task):
    """Applies the earlier recoding, and measures every constraint on the earlier and new records together.

    Parameters
    ----------
    settings: section of the config.
    facts: of the input.
    """

    def __init__(
        self,
        settings: ApplySettings,
        previous: Previous,
        new: NewRecords,
        facts: InputFacts,
        watch: RunMonitor,
    ) -> None:
        super().__init__(new.prepared, AppendedShape(new), facts, watch)
        self._settings = settings
        self._previous = previous
        self._new = new
        constraints, limit = countable_constraints(new.prepared.constraints), new.prepared.problem.limit
        judge = CombinedJudge(constraints, limit, alone=settings.batch is Batch.REQUIRE)
        otherwise = super().search if settings.otherwise is Otherwise.SEARCH else None
        self._algorithm = FixedRecoding(previous.recoding, new, judge, otherwise)

    def search(self, control: Control) -> Outcome:
        """Return the recoding of the new records.

        Raises
        ------
        InputError: the earlier recoding does not fit the hierarchies.
        ConfigError: the objective is undefined for such a recoding.
        """
        self.watch.begin(Phase.SEARCH, "applying the earlier recoding")
        problem = self.prepared.problem
        outcome = self._algorithm.search(problem, control)
        if outcome.recoding is not None and outcome.objective is None:
            what = f"{problem.metric.name} is undefined for the recoding of the earlier run; accepted: loss"
            raise ConfigError(self.prepared.plan.config, [ConfigProblem("objective.metric", what)])
        return outcome

    def refusal(self, outcome: Outcome) -> Infeasible:
        """Return the error for new records that cannot be appended, or a search without a release."""
        if not isinstance(outcome, AppendOutcome):
            return super().refusal(outcome)
        problem, reasons, suppressed = self.prepared.problem, outcome.verdict.reasons, outcome.verdict.records
        suggestions = []
        if len(reasons) == 1 and suppressed > problem.limit:
            suggestions = [limit_override(suppressed, problem.table.records)]
        diagnosis = Diagnosis(list(reasons), suggestions)
        parts = report_parts(self.prepared, outcome, self.input, diagnosis=diagnosis)
        lines = [f"REFUSED: {self.input.path} cannot be appended to the release of {self._previous.path}"]
        lines += [f"  {reason}" for reason in reasons]
        command = self.prepared.plan.command
        lines += suggested_runs(command, suggestions)
        if self._settings.otherwise is Otherwise.REFUSE:
            lines += suggested_runs(command, ["apply.otherwise=search"], "may work, with another recoding")
        return Infeasible("\n".join([*lines, "Nothing was written."]), build_report(parts))

    def stored(self, found: Found) -> StoredRecoding | None:
        """Return the earlier recoding, or the one that was found instead."""
        if not _appended(found).searched:
            return self._previous.recoding
        return store_recoding(self.prepared, found.outcome, self._new.hierarchies)

    def entry(self, found: Found) -> dict[str, Any]:
        """Return the ``applied`` entry of the report."""
        outcome, sizes = _appended(found), found.promised.class_sizes
        return {
            "report": self._settings.report,
            "recoding": "searched" if outcome.searched else "applied",
            "rows_before": self._previous.reported.release.rows,
            "rows_added": int(sizes.sum()),
            "batch_classes": len(sizes),
            "smallest_batch_class": int(sizes.min()),
            "difference": batch_violations(outcome),
        }

    def facts(self, found: Found, audited: Audited) -> Facts:
        """Return the facts for the page: class sizes of the whole release, all others of the new records."""
        whole = replace(found, promised=replace(found.promised, class_sizes=np.sort(audited.sizes)))
        facts = super().facts(whole, audited)
        return replace(facts, knowing=(), worst=tuple(None for _ in facts.worst))


def _appended(found: Found) -> AppendOutcome:
    assert isinstance(found.outcome, AppendOutcome), "the search of new records judges what it returns"
    return found.outcome


def batch_violations(outcome: AppendOutcome) -> str | None:
    """Return a warning with the constraints that the new records alone violate; None if there are none."""
    violated = [each for each in outcome.alone if not each.satisfied]
    if not violated:
        return None
    measured = "; ".join(_measured(each) for each in violated)
    return (
        f"a recipient of both releases can isolate the new records; on these alone {measured}. With "
        "apply.batch: require, new records are released only if their own classes satisfy the constraints"
    )


def _measured(measurement: Measurement) -> str:
    name = measurement.model + (f"({measurement.attribute})" if measurement.attribute else "")
    return (
        f"{name} {settings_in_line(measurement.parameters)} measures {format_measure(measurement.measured)}"
    )


class AppendSource(DataSource):
    """The input of a config, to be appended to the release of an earlier run.

    Raises
    ------
    InputError: the config does not fit the earlier run, or files of that run are missing or changed.
    """

    def __init__(self, config: Config) -> None:
        assert config.apply is not None
        given, previous = input_source(config), read_previous(config.folder / config.apply.report)
        names = respelled(config.attributes, previous.config.attributes)
        if names:
            raise OtherSpelling(names)
        check_compatible(config, previous)
        super().__init__(given.title, given.open, given.files, previous.files)
        self._settings = config.apply
        self._previous = previous

    @contextmanager
    def task(self, plan: Plan, options: EngineOptions, watch: RunMonitor) -> Iterator[Task]:
        """Yield the task of appending, with the input and the earlier release open."""
        settings, previous = self._settings, self._previous
        if not previous.release.exists():
            raise InputError(
                f"{previous.release}: no such file; apply needs the release of the earlier run here; put it "
                "back, or check apply.report"
            )
        with (
            open_own_release(
                previous.release, previous.config, previous.reported.release, options
            ) as earlier,
            self.opened(options, watch) as relation,
        ):
            searches = settings.otherwise is Otherwise.SEARCH
            new = read_new_records(plan, previous, earlier, relation, searches=searches)
            yield AppendTask(settings, previous, new, input_facts(self.title, relation), watch)
