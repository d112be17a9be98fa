"""Further records for a release, recoded as it was, judged together with it.

The batch gets the earlier recoding, or another one on request, or it is refused. The combined file is
verified as its recipient counts it. An adversary who holds both releases can subtract them, so the batch is
also measured alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.adversary.files import adversary_from_files
from anonymizer.append.earlier import (
    NewRecords,
    Previous,
    check_compatible,
    coarsened,
    read_new_records,
    read_previous,
)
from anonymizer.config.model import Config
from anonymizer.config.search import EngineName
from anonymizer.config.sections import ApplySettings, Batch, Otherwise
from anonymizer.data.relation import Coding, EngineRelation, Groups, Relation, ReleaseQuery
from anonymizer.data.source import EngineOptions
from anonymizer.data.table import column_of
from anonymizer.errors import (
    AuditFailed,
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
from anonymizer.job.search import Task, refusal, search, store_recoding
from anonymizer.job.source import DataSource, OtherSpelling, input_source, open_own_release
from anonymizer.job.verify import Audited, ReadBack, Shape, Tables, joined_query, released_query
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.arrays import BoolArray, IntArray, group_keys
from anonymizer.model.classes import Classes, Measurement, Reference, Released, SensitiveCodes, released
from anonymizer.model.invocation import suggested_runs
from anonymizer.model.measure import Measure
from anonymizer.model.naming import respelled
from anonymizer.model.recoding import Outcome, Recoding, Status
from anonymizer.model.table import SensitiveAttribute
from anonymizer.plan.plan import Plan
from anonymizer.plan.prepared import Found
from anonymizer.privacy.base import ClassConstraint, CountedConstraint, TableConstraint, describe
from anonymizer.release.classes import classes_of, measure, value_codes
from anonymizer.release.comparison import common_codes, mismatched_append
from anonymizer.release.query import count_union, counted_rows, single_shuffled
from anonymizer.release.recoding import StoredRecoding
from anonymizer.report.build import InputFacts, build_report
from anonymizer.report.facts import Facts


class Combined:
    """The classes of earlier and new records together, by their published texts.

    Items are the distinct rows of the earlier release, followed by the rows of the recoding's table.

    Attributes
    ----------
    earlier: number of items of the earlier release.
    classes: all items, none of them suppressed.

    Parameters
    ----------
    groups: the earlier release by the quasi-identifiers and, last, the sensitive attributes.
    recoding: of the new records; its suppressed rows are items too.
    attributes: the sensitive ones, over the values of both.
    """

    def __init__(
        self, source: str, groups: Groups, recoding: Recoding, attributes: Sequence[SensitiveAttribute]
    ) -> None:
        table = recoding.table
        self.earlier = len(groups.counts)
        counts = np.concatenate([groups.counts, table.counts])
        keys, number = np.zeros(len(counts), dtype=np.int64), 1
        published = recoding.published()
        for position, column in enumerate(published):
            (before, now), labels = common_codes(groups.values[position], column.labels)
            codes = np.concatenate([before[groups.codes[:, position]], now[column.codes]])
            keys, distinct = group_keys(keys * labels + codes, number * labels)
            number = len(distinct)
        sensitive = {}
        for position, attribute in enumerate(attributes, start=len(published)):
            own = table.sensitive[position - len(published)].column.texts
            before = value_codes(source, attribute.column, groups.values[position])
            now = value_codes(source, attribute.column, own)
            codes = np.concatenate(
                [before[groups.codes[:, position]], now[table.sensitive_codes(attribute.name)]]
            )
            sensitive[attribute.name] = SensitiveCodes(attribute, codes)
        self.classes = Classes(keys, Measure(counts), number, sensitive)

    @property
    def new(self) -> BoolArray:
        """The items of new records, shape (items,), bool."""
        return np.arange(len(self.classes.counts)) >= self.earlier

    def part(self, kept: BoolArray) -> tuple[Classes, IntArray]:
        """Return the classes of some items, and the position of each of their items among all items."""
        return self.classes.part(np.where(kept, self.classes.counts, 0))


@dataclass(frozen=True, eq=False)
class AppendVerdict:
    """Whether new records can be appended.

    Attributes
    ----------
    suppressed: rows of the recoding's table that must not be released, shape (rows,), bool.
    records: number of suppressed records.
    reasons: why the other records cannot be appended, one sentence each; empty if they can.
    """

    suppressed: BoolArray
    records: int
    reasons: tuple[str, ...]


class CombinedJudge:
    """Applies constraints to an earlier release together with new records.

    Earlier records are published already and never suppressed. In a class that violates a constraint, all new
    records are suppressed. If p is the distribution in the release, suppression changes it, so the remaining
    classes are judged again until none with new records fails. Every round suppresses more, so this ends.

    Parameters
    ----------
    limit: maximum number of suppressed records.
    alone: whether the classes of the new records alone must satisfy the constraints as well.
    """

    def __init__(self, constraints: Sequence[CountedConstraint], limit: int, *, alone: bool) -> None:
        self._classes = [each for each in constraints if isinstance(each, ClassConstraint)]
        self._tables = [each for each in constraints if isinstance(each, TableConstraint)]
        self._constraints = tuple(constraints)
        self._limit = limit
        self._alone = alone

    def judge(self, combined: Combined, suppressed: BoolArray) -> AppendVerdict:
        """Return which new records must be suppressed, and which constraints are violated even then.

        Parameters
        ----------
        suppressed: rows of the recoding's table that are suppressed already, shape (rows,), bool.
        """
        new = combined.new
        kept = ~new
        kept[new] = ~suppressed
        while True:
            failing = self._failing(combined, kept)
            if self._alone:
                failing |= self._failing(combined, kept & new)
            failing &= new & kept
            if not failing.any():
                break
            kept = kept & ~failing
        records = int(combined.classes.counts[new & ~kept].sum())
        return AppendVerdict(~kept[new], records, tuple(self._reasons(combined, kept, records)))

    def measured(self, combined: Combined, suppressed: BoolArray) -> list[Measurement]:
        """Measure every constraint on the new records alone, as a recipient of both releases can."""
        kept = combined.new
        kept[combined.earlier :] = ~suppressed
        return measure(combined.part(kept)[0], self._constraints) if kept.any() else []

    def _failing(self, combined: Combined, kept: BoolArray) -> BoolArray:
        """Return the items in classes that violate a constraint, shape (items,), bool."""
        failing = np.zeros(len(kept), dtype=bool)
        if kept.any():
            classes, items = combined.part(kept)
            held = np.ones(classes.number, dtype=bool)
            for each in self._classes:
                held &= each.holds(classes, _reference(classes, each))
            failing[items] = ~held[classes.class_of]
        return failing

    def _reasons(self, combined: Combined, kept: BoolArray, suppressed: int) -> list[str]:
        classes, _ = combined.part(kept)
        reasons = []
        for constraint, measurement in zip(
            self._constraints, measure(classes, self._constraints), strict=True
        ):
            if not measurement.satisfied:
                what = f"{describe(constraint)} would measure {format_measure(measurement.measured)}"
                reasons.append(f"{what} after the new records are appended")
        if suppressed > self._limit:
            number = int(combined.classes.counts[combined.new].sum())
            reasons.append(
                f"{suppressed:,} of {number:,} new records would be suppressed, because they are in no class "
                f"that satisfies the constraints; the limit allows {self._limit:,}"
            )
        if not (kept & combined.new).any():
            reasons.append("no new record would be released")
        return reasons


def _reference(classes: Classes, constraint: ClassConstraint) -> Reference | None:
    if constraint.attribute is None:
        return None
    return classes.sensitive_counts(constraint.attribute)[0].reference()


@dataclass(frozen=True, eq=False)
class Sources:
    """An earlier release and the records to append to it.

    Attributes
    ----------
    path: of the earlier release.
    new: the input.
    attributes: the sensitive ones, over the values of both.
    names: the quasi-identifiers and, last, the sensitive attributes.
    """

    earlier: Relation
    path: Path
    new: Relation
    attributes: tuple[SensitiveAttribute, ...]
    names: tuple[str, ...]


def published_rows(engine: str, relation: Relation, names: Sequence[str], most: int | None = None) -> Groups:
    """Return the distinct rows of some columns of a release with their counts.

    Parameters
    ----------
    engine: that counts; every engine except memory fetches only the distinct rows.
    most: maximum number of rows in memory; None for any number.

    Raises
    ------
    InputError: there are more distinct rows.
    """
    if engine == EngineName.MEMORY.value:
        return relation.group_counts(names)
    values = tuple(tuple(text for text, _ in relation.dictionary(name)) for name in names)
    codings = [
        Coding(name, np.arange(len(texts), dtype=np.int32), len(texts))
        for name, texts in zip(names, values, strict=True)
    ]
    with relation.stored_distinct_rows(codings) as found:
        if most is not None and found.number > most:
            raise InputError(
                f"engine {engine}: {relation.name} has {found.number:,} distinct rows, but only "
                f"{most:,} fit in memory; raise engine.memory_limit or engine.options.combinations"
            )
        codes, counts = found.fetch()
    return Groups(values, codes, counts)


APPLIED = "the recoding of the earlier run was applied without a search"


@dataclass(frozen=True, eq=False)
class Decision(Found):
    """The recoding of the new records.

    Attributes
    ----------
    kept: the recoding for the next new records; None if it cannot be applied to them.
    searched: whether it differs from the earlier recoding.
    alone: every constraint, measured on the new records alone.
    """

    kept: StoredRecoding | None
    searched: bool
    alone: list[Measurement]


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
    InputError: the earlier release was changed, or the new records do not fit it.
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
        problem = new.prepared.problem
        names = (*(each.name for each in problem.table.quasi_identifiers), *problem.table.sensitive_names)
        attributes = _attributes_of_both(new, earlier, relation)
        self.prepared = new.prepared
        self.input = facts
        self._settings = settings
        self._previous = previous
        self._sources = Sources(earlier, previous.release, relation, attributes, names)
        self._new = new
        self._watch = watch
        alone = settings.batch is Batch.REQUIRE
        constraints = countable_constraints(new.prepared.constraints)
        self._judge = CombinedJudge(constraints, problem.limit, alone=alone)

    @cached_property
    def _groups(self) -> Groups:
        """The distinct rows of the earlier release."""
        names = self._sources.names
        most = self.prepared.plan.engine.room(len(names))
        return published_rows(self.prepared.engine, self._sources.earlier, names, most)

    @cached_property
    def shape(self) -> Shape:  # type: ignore[override]
        """The earlier release with the new records."""
        return AppendedShape(self.prepared.plan, self._sources, self._groups)

    def find(self) -> Decision:
        """Return the recoding of the new records.

        Raises
        ------
        InputError: the earlier recoding does not fit the hierarchies, or the distinct rows of the earlier
            release do not fit in memory.
        ConfigError: the objective is undefined for such a recoding.
        Infeasible: the new records cannot be appended.
        """
        self._watch.begin(Phase.SEARCH, "applying the earlier recoding")
        prepared = coarsened(self.prepared, self._previous.recoding)
        table = prepared.problem.table
        applied = self._previous.recoding.applied_to(table)
        combined = self._combined(applied.recoding(np.zeros(table.combinations, dtype=bool)))
        verdict = self._judge.judge(combined, applied.uncovered)
        if verdict.reasons and self._settings.otherwise is Otherwise.SEARCH:
            return self._search()
        if verdict.reasons:
            raise self._refusal(verdict.reasons, verdict.records)
        outcome = self._applied(applied.recoding(verdict.suppressed))
        alone = self._judge.measured(combined, verdict.suppressed)
        kept = self._previous.recoding
        return Decision(prepared, outcome, self._promised(outcome), kept, searched=False, alone=alone)

    def _combined(self, recoding: Recoding) -> Combined:
        return Combined(self._sources.earlier.name, self._groups, recoding, self._sources.attributes)

    def _search(self) -> Decision:
        """Search a recoding that satisfies the constraints on the new records alone, then judge again."""
        outcome = search(self.prepared, self._watch)
        if outcome.recoding is None:
            raise refusal(self.prepared, outcome, self.input, self._watch)
        removed = outcome.recoding.removed
        combined = self._combined(outcome.recoding)
        verdict = self._judge.judge(combined, removed)
        if verdict.reasons or (verdict.suppressed != removed).any():
            failing = (
                "with the new recoding, classes violate the constraints after the new records are appended"
            )
            raise self._refusal(verdict.reasons or (failing,), verdict.records)
        kept = store_recoding(self.prepared, outcome, self._new.sources)
        alone = self._judge.measured(combined, removed)
        return Decision(self.prepared, outcome, self._promised(outcome), kept, searched=True, alone=alone)

    def _promised(self, outcome: Outcome) -> Released:
        assert outcome.recoding is not None
        return released(outcome.recoding, self.prepared.problem.k)

    def _applied(self, recoding: Recoding | None) -> Outcome:
        problem = self.prepared.problem
        value = None if recoding is None else problem.metric.value(released(recoding, problem.k))
        if recoding is not None and value is None:
            what = f"{problem.metric.name} is undefined for the recoding of the earlier run; accepted: loss"
            raise ConfigError(self.prepared.plan.config, [ConfigProblem("objective.metric", what)])
        status = Status.INFEASIBLE if recoding is None else Status.SATISFIED
        return Outcome(status, recoding, value, None, 1, 1, reasons=(APPLIED,))

    def _refusal(self, reasons: tuple[str, ...], suppressed: int) -> Infeasible:
        """Return the error for new records that cannot be appended."""
        problem = self.prepared.problem
        suggestions = []
        if len(reasons) == 1 and suppressed > problem.limit:
            suggestions = [limit_override(suppressed, problem.table.records)]
        diagnosis = Diagnosis(list(reasons), suggestions)
        outcome = self._applied(None)
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
        assert isinstance(found, Decision)
        return found.kept

    def entry(self, found: Found) -> dict[str, Any]:
        """Return the ``applied`` entry of the report."""
        assert isinstance(found, Decision)
        return {
            "report": self._settings.report,
            "recoding": "searched" if found.searched else "applied",
            "rows_before": self._previous.reported.release.rows,
            "rows_added": int(found.promised.class_sizes.sum()),
            "batch_classes": len(found.promised.class_sizes),
            "smallest_batch_class": int(found.promised.class_sizes.min()),
            "difference": batch_violations(found),
        }

    def facts(self, found: Found, audited: Audited) -> Facts:
        """Return the facts for the page: class sizes of the whole release, all others of the new records."""
        whole = replace(found, promised=replace(found.promised, class_sizes=np.sort(audited.sizes)))
        facts = super().facts(whole, audited)
        return replace(facts, knowing=(), worst=tuple(None for _ in facts.worst))


def batch_violations(found: Decision) -> str | None:
    """Return a warning with the constraints that the new records alone violate; None if there are none."""
    violated = [each for each in found.alone if not each.satisfied]
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


class AppendedShape(Shape):
    """An earlier release and new records in one table.

    Parameters
    ----------
    groups: the distinct rows of the earlier release, by the columns ``sources.names``.
    """

    fault = "are neither of the earlier release nor as published"
    whole = False

    def __init__(self, plan: Plan, sources: Sources, groups: Groups) -> None:
        self._plan = plan
        self._sources = sources
        self._groups = groups
        self.columns = [sources.earlier.columns]

    def queries(self, found: Found, scratch: Path | None) -> tuple[ReleaseQuery, ...]:
        """Return both as one table, from the frequency tables alone if the release follows from them."""
        earlier, new, shuffled = self._sources.earlier, self._sources.new, self._plan.target.shuffled
        assert isinstance(earlier, EngineRelation), "a release is a file, which an engine reads"
        assert isinstance(new, EngineRelation), "a DataFrame is never appended"
        assert scratch is not None, "the release is written to files"
        columns = self._plan.columns.released(new.columns)
        own = counted_rows(new, found.recoding, found.prepared.positions, columns)
        rows = None if own is None else count_union(earlier, self._groups, self._sources.names, own)
        if rows is not None:
            return (earlier.counted_query(single_shuffled(rows) if shuffled else rows),)
        if found.prepared.problem.placing or found.prepared.counted.beyond or not new.ordered:
            alone = joined_query(new, found, columns, shuffled=False)
        else:
            alone = released_query(found, columns, shuffled=False)
        return (earlier.appended_query(alone, self._sources.path, scratch, shuffled=shuffled),)

    def count(self, tables: Tables, found: Found) -> ReadBack:
        """Count the whole release as its recipient does."""
        (release,), sources, prepared = tables, self._sources, found.prepared
        groups, before = (
            published_rows(prepared.engine, each, sources.names) for each in (release, sources.earlier)
        )
        classes = classes_of(release.name, groups, sources.attributes, ())
        measured = measure(classes, countable_constraints(prepared.constraints))

        def wrong() -> int:
            return mismatched_append(release.name, groups, before, found.recoding, sources.attributes)

        return ReadBack(classes, measured, wrong)

    def check_sizes(self, release: Relation, classes: Classes, found: Found) -> None:  # noqa: ARG002
        """Check that the release has as many records as the earlier release and the new ones together.

        Raises
        ------
        AuditFailed: it has not.
        """
        earlier, added = self._sources.earlier, self._added(found)
        if release.rows != earlier.rows + added:
            raise AuditFailed(
                f"{release.name}: {release.rows:,} records, expected {earlier.rows:,} of the earlier release "
                f"and {added:,} new ones"
            )

    def _added(self, found: Found) -> int:
        """Return the number of released new records."""
        return int(found.promised.table.counts[~found.recoding.removed].sum())

    def check_untouched(self, release: Relation, found: Found) -> None:
        """Check that every other column has the values of both, except those of removed new records.

        Raises
        ------
        AuditFailed: a column has other values.
        """
        earlier, new = self._sources.earlier, self._sources.new
        for name in release.columns:
            if name not in self._sources.names:
                # A null and an empty text count as equal, as in a CSV file.
                union = release.put_together(name, earlier, new)
                if union.lacking or union.added or union.missing != new.rows - self._added(found):
                    raise AuditFailed(
                        f"{release.name}: column '{name}' does not contain the values that were written"
                    )
        earlier.check_unchanged()

    def view(self, tables: Tables, found: Found) -> AdversaryView:  # noqa: ARG002 - of any
        """Return the view of adversaries with the release alone: the earlier originals are not available."""
        return adversary_from_files(self._plan, tables[0], weights=self._plan.assessment.weights)


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
        (own,) = plan.columns.requests([name])
        columns[name] = column_of(relation.name, ordered, own, plan.columns.missing).column
    return plan.columns.sensitive_attributes(columns)
