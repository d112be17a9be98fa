"""Further records for an earlier release: the ordinary run, whose search is given that release's recoding.

The combined file is verified as its recipient counts it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from anonymizer.append.earlier import (
    NewRecords,
    Previous,
    check_compatible,
    read_new_records,
    read_previous,
)
from anonymizer.append.release import AppendedShape, Sources, published_rows
from anonymizer.append.search import AppendOutcome, Combined, CombinedJudge, FixedRecoding
from anonymizer.config.model import Config
from anonymizer.config.sections import ApplySettings, Batch, Otherwise
from anonymizer.data.relation import Relation
from anonymizer.data.source import EngineOptions
from anonymizer.data.table import column_of
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
from anonymizer.model.recoding import Outcome, Recoding
from anonymizer.model.table import SensitiveAttribute
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
    earlier: the earlier release.
    relation: the new records.
    facts: of the input.

    Raises
    ------
    InputError: the earlier release was changed, or does not fit in memory or the new records.
    """

    def __init__(
        self,
        plan: Plan,
        settings: ApplySettings,
        previous: Previous,
        earlier: Relation,
        relation: Relation,
        facts: InputFacts,
        watch: RunMonitor,
    ) -> None:
        _check_release(previous, earlier)
        searches = settings.otherwise is Otherwise.SEARCH
        new = read_new_records(plan, previous, earlier, relation, searches=searches)
        prepared, problem = new.prepared, new.prepared.problem
        names = (*(each.name for each in problem.table.quasi_identifiers), *problem.table.sensitive_names)
        attributes = _attributes_of_both(new, earlier, relation)
        groups = published_rows(prepared.engine, earlier, names, prepared.plan.engine.room(len(names)))
        sources = Sources(earlier, previous.release, relation, attributes, names)
        super().__init__(prepared, AppendedShape(prepared.plan, sources, groups), facts, watch)
        self._settings = settings
        self._previous = previous
        self._new = new

        def combined(recoding: Recoding) -> Combined:
            return Combined(earlier.name, groups, recoding, attributes)

        constraints = countable_constraints(prepared.constraints)
        judge = CombinedJudge(constraints, problem.limit, alone=settings.batch is Batch.REQUIRE)
        otherwise = super().search if searches else None
        self._algorithm = FixedRecoding(previous.recoding, judge, combined, otherwise)

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
        problem, (reasons, suppressed) = (
            self.prepared.problem,
            (outcome.verdict.reasons, outcome.verdict.records),
        )
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
        return store_recoding(self.prepared, found.outcome, self._new.sources)

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
            facts = input_facts(self.title, relation)
            yield AppendTask(plan, settings, previous, earlier, relation, facts, watch)


def _check_release(previous: Previous, earlier: Relation) -> None:
    """Check that the earlier release is the file of the earlier report.

    Raises
    ------
    InputError: it is not.
    """
    given = previous.reported.release
    if earlier.sha256 != given.sha256 or earlier.rows != given.rows:
        raise InputError(
            f"{previous.release}: does not match {previous.path.name} (SHA-256 differs); apply needs the "
            "release as it was handed over"
        )


def _attributes_of_both(
    new: NewRecords, earlier: Relation, relation: Relation
) -> tuple[SensitiveAttribute, ...]:
    """Return the sensitive attributes over the values of the earlier release and of the new records."""
    plan, columns = new.prepared.plan, {}
    for name in new.prepared.problem.table.sensitive_names:
        texts: dict[str | None, int] = dict(earlier.dictionary(name))
        for text, records in relation.dictionary(name):
            texts[text] = texts.get(text, 0) + records
        ordered = sorted(texts.items(), key=lambda each: (each[0] is None, each[0] or ""))
        (own,) = plan.requests([name])
        columns[name] = column_of(relation.name, ordered, own, plan.missing).column
    return plan.sensitive_attributes(columns)
