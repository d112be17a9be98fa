"""Appending a batch of new records to an earlier release: decision, release of both, verification.

The batch gets the earlier recoding, or another one on request, or it is refused. The combined file is
verified as its recipient counts it. An adversary who holds both releases can subtract them, so the batch is
also measured alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.audit.classes import classes_of, measure, value_codes
from anonymizer.audit.comparison import common_codes, mismatched_append
from anonymizer.config.model import ApplySettings, Batch, Config, Otherwise
from anonymizer.config.search import EngineName
from anonymizer.data.relation import Coding, EngineRelation, Groups, Relation, ReleaseQuery
from anonymizer.data.source import EngineOptions
from anonymizer.data.table import column_of
from anonymizer.errors import AuditFailed, ConfigError, ConfigProblem, Infeasible, InputError
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Classes, Measurement, Reference, Released, SensitiveCodes, released
from anonymizer.model.counting import group_keys
from anonymizer.model.outcome import Outcome
from anonymizer.model.recoding import Recoding
from anonymizer.model.report import Status
from anonymizer.model.table import SensitiveAttribute
from anonymizer.privacy.base import ClassConstraint, CountedConstraint, TableConstraint, describe
from anonymizer.release.query import count_union, counted_rows, single_shuffled
from anonymizer.report.build import InputFacts, ReleaseFacts, build_report
from anonymizer.report.facts import Facts
from anonymizer.run.adversary import adversary_from_files
from anonymizer.run.diagnose import Diagnosis
from anonymizer.run.earlier_release import (
    NewRecords,
    Previous,
    StoredRecoding,
    check_compatible,
    coarsened,
    read_new_records,
    read_previous,
    store_recoding,
)
from anonymizer.run.engine import EngineChoice
from anonymizer.run.plan import Plan
from anonymizer.run.prepare import RunMonitor, countable_constraints, open_release
from anonymizer.run.report import report_parts
from anonymizer.run.search import Task, refusal, search
from anonymizer.run.shape import Audited, Found, ReadBack, Shape, Tables, joined_query, released_query
from anonymizer.run.source import DataSource, Records, input_source


class Combined:
    """The classes of the earlier records and of new ones, by the texts that are published.

    Items are the combinations of the earlier release, followed by the rows of the recoding's table.

    Attributes
    ----------
    earlier: how many items are of the earlier release.
    classes: all items, none of them suppressed.

    Parameters
    ----------
    groups: of the earlier release by the quasi-identifiers and, last, the sensitive attributes.
    recoding: of the new records; what it suppresses is left out by ``released``, not here.
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
        self.classes = Classes(keys, counts, number, sensitive)

    @property
    def new(self) -> BoolArray:
        """Which items are of new records, shape (items,)."""
        return np.arange(len(self.classes.counts)) >= self.earlier

    def part(self, kept: BoolArray) -> tuple[Classes, IntArray]:
        """Return the classes of some items, and the position of each of their items among all items."""
        return self.classes.part(np.where(kept, self.classes.counts, 0))


@dataclass(frozen=True, eq=False)
class AppendVerdict:
    """What becomes of new records.

    Attributes
    ----------
    suppressed: rows of the recoding's table that must not be released, shape (rows,), bool.
    records: how many records these are.
    reasons: why the earlier release cannot go on with the others, a sentence each; none where it can.
    """

    suppressed: BoolArray
    records: int
    reasons: tuple[str, ...]


class CombinedJudge:
    """Applies constraints to an earlier release together with new records.

    Records of the earlier release are never dropped: they are out. Of a class that fails, its new records are
    suppressed, all of them. Where p is that of the release, what is suppressed moves it, so the classes that
    stay are asked again until none with new records fails; each round drops more, so that there is an end.

    Parameters
    ----------
    alone: whether the classes that new records make by themselves must hold as well.
    """

    def __init__(self, constraints: Sequence[CountedConstraint], limit: int, *, alone: bool) -> None:
        self._classes = [each for each in constraints if isinstance(each, ClassConstraint)]
        self._tables = [each for each in constraints if isinstance(each, TableConstraint)]
        self._constraints = tuple(constraints)
        self._limit = limit
        self._alone = alone

    def judge(self, combined: Combined, gone: BoolArray) -> AppendVerdict:
        """Return which new records have to be suppressed, and what still fails without them.

        Parameters
        ----------
        gone: rows of the recoding's table that are suppressed already, shape (rows,), bool.
        """
        new = combined.new
        kept = ~new
        kept[new] = ~gone
        while True:
            failing = self._failing(combined, kept)
            if self._alone:
                failing |= self._failing(combined, kept & new)
            failing &= new & kept
            if not failing.any():
                break
            kept = kept & ~failing
        suppressed = ~kept[new]
        records = int(combined.classes.counts[new & ~kept].sum())
        return AppendVerdict(suppressed, records, tuple(self._reasons(combined, kept, records)))

    def measured(self, combined: Combined, suppressed: BoolArray) -> list[Measurement]:
        """Measure every constraint on the new records alone, which whoever has both releases can tell."""
        kept = combined.new
        kept[combined.earlier :] = ~suppressed
        return measure(combined.part(kept)[0], self._constraints) if kept.any() else []

    def _failing(self, combined: Combined, kept: BoolArray) -> BoolArray:
        """Tell which items are in a class that fails, shape (items,)."""
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
                what = f"{describe(constraint)} would measure {_shown_share(measurement.measured)}"
                reasons.append(f"{what} in what is released already, when the new records join it")
        if suppressed > self._limit:
            number = int(combined.classes.counts[combined.new].sum())
            reasons.append(
                f"{suppressed:,} of {number:,} new records are in no class that holds and would be "
                f"suppressed; the limit allows {self._limit:,}"
            )
        if not (kept & combined.new).any():
            reasons.append("no new record would be released")
        return reasons


def _reference(classes: Classes, constraint: ClassConstraint) -> Reference | None:
    if constraint.attribute is None:
        return None
    return classes.sensitive_counts(constraint.attribute)[0].reference()


def _shown_share(measured: object) -> str:
    if isinstance(measured, list):
        return ", ".join(_shown_share(each) for each in measured)
    return f"{measured:.4g}" if isinstance(measured, float) else str(measured)


@dataclass(frozen=True, eq=False)
class Sources:
    """What a release that goes on consists of.

    Attributes
    ----------
    earlier: the earlier release.
    path: of it.
    new: the input.
    attributes: the sensitive ones, over the values of both.
    names: the quasi-identifiers and, last, the sensitive attributes.
    """

    earlier: Relation
    path: Path
    new: Relation
    attributes: tuple[SensitiveAttribute, ...]
    names: tuple[str, ...]


def published_rows(
    engine: EngineChoice, relation: Relation, names: Sequence[str], most: int | None = None
) -> Groups:
    """Return the distinct rows of some columns of a release with their records.

    Parameters
    ----------
    engine: that counts; any but memory fetches the distinct rows alone.
    most: rows that it may fetch; None for any number.

    Raises
    ------
    InputError: they are more than fit in memory.
    """
    if engine.name == EngineName.MEMORY.value:
        return relation.group_counts(names)
    values = tuple(tuple(text for text, _ in relation.dictionary(name)) for name in names)
    codings = [
        Coding(name, np.arange(len(texts), dtype=np.int32), len(texts))
        for name, texts in zip(names, values, strict=True)
    ]
    with relation.stored_distinct_rows(codings) as found:
        if most is not None and found.number > most:
            raise InputError(
                f"engine {engine.name}: {relation.name} has {found.number:,} distinct rows, where memory has "
                f"room for {most:,}; allow more (engine.memory_limit, engine.options.combinations)"
            )
        codes, counts = found.fetch()
    return Groups(values, codes, counts)


APPLIED = "the recoding of the earlier run was applied, nothing was searched"


@dataclass(frozen=True, eq=False)
class Decision(Found):
    """How new records are published.

    Attributes
    ----------
    kept: the recoding for further records; None where it is of no use for them.
    searched: whether it is another recoding than the earlier one.
    alone: every constraint, measured on the new records alone.
    """

    kept: StoredRecoding | None
    searched: bool
    alone: list[Measurement]


class AppendTask(Task):
    """Applies the earlier recoding, and asks every constraint of the earlier release with the new records.

    Parameters
    ----------
    settings: what the config says of the earlier run.
    new: the records of the input.
    facts: of the input.

    Raises
    ------
    InputError: the distinct rows of the earlier release do not fit in memory.
    """

    def __init__(
        self,
        settings: ApplySettings,
        previous: Previous,
        sources: Sources,
        new: NewRecords,
        facts: InputFacts,
        watch: RunMonitor,
    ) -> None:
        self.plan = new.plan
        self.prepared = new.prepared
        self.input = facts
        self._settings = settings
        self._previous = previous
        self._sources = sources
        self._new = new
        self._watch = watch
        problem = new.prepared.problem
        alone = settings.batch is Batch.REQUIRE
        constraints = countable_constraints(new.prepared.constraints)
        self._judge = CombinedJudge(constraints, problem.limit, alone=alone)

    @cached_property
    def _groups(self) -> Groups:
        """The distinct rows of the earlier release."""
        names = self._sources.names
        most = self.plan.engine.room(len(names))
        return published_rows(self.prepared.engine, self._sources.earlier, names, most)

    @cached_property
    def shape(self) -> Shape:  # type: ignore[override]
        """The earlier release with the new records."""
        return AppendedShape(self.plan, self._sources, self._groups)

    def find(self) -> Decision:
        """Return how the new records are published.

        Raises
        ------
        InputError: the recoding does not fit the hierarchies.
        ConfigError: the objective has no value for such a recoding.
        Infeasible: the earlier release cannot go on with them.
        """
        self._watch.phase("applying the earlier recoding")
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
        """Search a recoding for the new records alone, so that their own classes hold; then ask again."""
        outcome = search(self.plan, self.prepared, self._watch)
        if outcome.recoding is None:
            raise refusal(self.plan, self.prepared, outcome, self.input, self._watch)
        gone = outcome.recoding.removed
        combined = self._combined(outcome.recoding)
        verdict = self._judge.judge(combined, gone)
        if verdict.reasons or (verdict.suppressed != gone).any():
            failing = ["records recoded anew are in classes that fail beside the earlier ones"]
            raise self._refusal(verdict.reasons or tuple(failing), verdict.records)
        kept = store_recoding(self.plan, self.prepared, outcome, self._new.sources)
        alone = self._judge.measured(combined, gone)
        return Decision(self.prepared, outcome, self._promised(outcome), kept, searched=True, alone=alone)

    def _promised(self, outcome: Outcome) -> Released:
        assert outcome.recoding is not None
        return released(outcome.recoding, self.prepared.problem.k)

    def _applied(self, recoding: Recoding | None) -> Outcome:
        problem = self.prepared.problem
        value = None if recoding is None else problem.metric.value(released(recoding, problem.k))
        if recoding is not None and value is None:
            what = f"{problem.metric.name} has no value for the recoding of the earlier run; accepted: loss"
            raise ConfigError(self.plan.config, [ConfigProblem("objective.metric", what)])
        status = Status.INFEASIBLE if recoding is None else Status.SATISFIED
        return Outcome(status, recoding, value, None, 1, 1, reasons=(APPLIED,))

    def _refusal(self, reasons: tuple[str, ...], suppressed: int) -> Infeasible:
        """Return the error for an earlier release that cannot go on with the new records."""
        problem = self.prepared.problem
        suggestions = []
        if len(reasons) == 1 and suppressed > problem.limit:
            share = Decimal(suppressed) / Decimal(problem.table.records)
            limit = share.quantize(Decimal("0.0001"), rounding=ROUND_CEILING)
            suggestions = [f"suppression.limit={limit.normalize():f}"] if limit <= 1 else []
        diagnosis = Diagnosis(list(reasons), suggestions)
        outcome = self._applied(None)
        parts = report_parts(
            self.plan, self.prepared, outcome, self.input, ReleaseFacts(), None, {}, diagnosis
        )
        lines = [f"REFUSED: the release of {self._previous.path} cannot go on with {self.input.path}"]
        lines += [f"  {reason}" for reason in reasons]
        lines += [f"  works: --set {suggestion}" for suggestion in suggestions]
        if self._settings.otherwise is Otherwise.REFUSE:
            lines.append(
                "  may work: --set apply.otherwise=search, another recoding for the new records alone"
            )
        return Infeasible("\n".join([*lines, "Nothing was written."]), build_report(parts))

    def stored(self, found: Found) -> StoredRecoding | None:
        """Return the earlier recoding, or the one that was searched in its place."""
        assert isinstance(found, Decision)
        return found.kept

    def entry(self, found: Found) -> dict[str, Any]:
        """Return the ``applied`` entry of the report."""
        assert isinstance(found, Decision)
        return {
            "report": self._settings.report,
            "recoding": "searched" if found.searched else "applied",
            "rows_before": self._previous.rows,
            "rows_added": int(found.promised.class_sizes.sum()),
            "batch_classes": len(found.promised.class_sizes),
            "smallest_batch_class": int(found.promised.class_sizes.min()),
            "difference": batch_violations(found),
        }

    def facts(self, found: Found, audited: Audited) -> Facts:
        """Return what the page shows: the classes of the whole release, all else of the new records."""
        whole = replace(found, promised=replace(found.promised, class_sizes=np.sort(audited.sizes)))
        facts = super().facts(whole, audited)
        return replace(facts, knowing=(), worst=tuple(None for _ in facts.worst))


def batch_violations(found: Decision) -> str | None:
    """Return what the new records do not satisfy by themselves, None where they satisfy everything."""
    broken = [each for each in found.alone if not each.satisfied]
    if not broken:
        return None
    measured = "; ".join(_measured(each) for each in broken)
    return (
        "whoever has the earlier release too can subtract it, and then has the new records alone: of these "
        f"{measured}; apply.batch: require releases only records that hold by themselves"
    )


def _measured(measurement: Measurement) -> str:
    name = measurement.model + (f"({measurement.attribute})" if measurement.attribute else "")
    asked = " ".join(f"{key}={value}" for key, value in measurement.parameters.items())
    return f"{name} {asked} measures {_shown_measure(measurement.measured)}"


def _shown_measure(measured: object) -> str:
    if isinstance(measured, list):
        return ", ".join(_shown_measure(each) for each in measured)
    return f"{measured:.4g}" if isinstance(measured, float) else str(measured)


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
        """Return both as one table, from the frequency tables where these tell all that is released."""
        earlier, new, shuffled = self._sources.earlier, self._sources.new, self._plan.shuffled
        assert isinstance(earlier, EngineRelation), "a release is a file, which an engine reads"
        assert isinstance(new, EngineRelation), "only what an engine reads is appended"
        assert scratch is not None, "a release with an earlier one goes to files"
        columns = self._plan.released(new.columns)
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
        """Count the release as its recipient does; its columns are those of the earlier one."""
        (release,), sources, prepared = tables, self._sources, found.prepared
        groups, before = (
            published_rows(prepared.engine, each, sources.names) for each in (release, sources.earlier)
        )
        classes = classes_of(release.name, groups, sources.attributes)
        measured = measure(classes, countable_constraints(prepared.constraints))

        def wrong() -> int:
            return mismatched_append(release.name, groups, before, found.recoding, sources.attributes)

        return ReadBack(classes, measured, wrong)

    def check_sizes(self, release: Relation, classes: Classes, found: Found) -> None:  # noqa: ARG002
        """Check that the records are as many as those of the earlier release and the new ones.

        Raises
        ------
        AuditFailed: they are not.
        """
        earlier, added = self._sources.earlier, self._added(found)
        if release.rows != earlier.rows + added:
            raise AuditFailed(
                f"{release.name}: {release.rows:,} records, expected {earlier.rows:,} of the earlier release "
                f"and {added:,} new ones"
            )

    def _added(self, found: Found) -> int:
        return int(found.promised.table.counts[~found.recoding.removed].sum())

    def check_untouched(self, release: Relation, found: Found) -> None:
        """Check that each other column has every value of both, but those of removed new records.

        Raises
        ------
        AuditFailed: one has not.
        """
        earlier, new = self._sources.earlier, self._sources.new
        for name in release.columns:
            if name not in self._sources.names:
                # A null and an empty text count as one, which a CSV file cannot tell apart.
                union = release.put_together(name, earlier, new)
                if union.lacking or union.added or union.missing != new.rows - self._added(found):
                    raise AuditFailed(
                        f"{release.name}: column '{name}' does not hold the values that were put in"
                    )
        earlier.check_unchanged()

    def view(self, tables: Tables, found: Found) -> AdversaryView:  # noqa: ARG002 - of any
        """Return what adversaries have who hold the release alone: the earlier originals are not here."""
        return adversary_from_files(self._plan, tables[0], weights=self._plan.weights)


class AppendSource(DataSource):
    """The input of a config, to be appended to the release of the earlier run that the config names.

    Raises
    ------
    InputError: the config or the earlier run is not as it should be.
    """

    def __init__(self, config: Config) -> None:
        assert config.apply is not None
        self._input = input_source(config)
        self._settings = config.apply
        self._previous = read_previous(config.folder / config.apply.report)
        check_compatible(config, self._previous)
        self.title, self.files = self._input.title, self._input.files
        self.earlier = self._previous.files

    def open(self, options: EngineOptions) -> Relation:
        """Open the input."""
        return self._input.open(options)

    @contextmanager
    def opened(self, options: EngineOptions, watch: RunMonitor) -> Iterator[Records]:
        """Yield the records with the earlier release."""
        with open_release(self._previous.release, options) as earlier, super().opened(options, watch) as new:
            yield AppendedRecords(new, earlier, self._previous, self._settings)


class AppendedRecords(Records):
    """The records of an input, and the earlier release.

    Parameters
    ----------
    new: the records.
    """

    def __init__(self, new: Records, earlier: Relation, previous: Previous, settings: ApplySettings) -> None:
        self.relation = new.relation
        self.facts = new.facts
        self._earlier = earlier
        self._previous = previous
        self._settings = settings

    def prepare(self, plan: Plan, watch: RunMonitor) -> Task:
        """Return the task of appending.

        Raises
        ------
        InputError: the earlier release is another one, or the records do not fit it.
        """
        earlier, previous, relation = self._earlier, self._previous, self.relation
        _check_release(previous, earlier)
        searches = self._settings.otherwise is Otherwise.SEARCH
        new = read_new_records(plan, previous, earlier, relation, searches=searches)
        table = new.prepared.problem.table
        names = (*(each.name for each in table.quasi_identifiers), *table.sensitive_names)
        attributes = _attributes_of_both(new, earlier, relation)
        sources = Sources(earlier, previous.release, relation, attributes, names)
        return AppendTask(self._settings, previous, sources, new, self.facts, watch)


def _check_release(previous: Previous, earlier: Relation) -> None:
    """Check that the earlier release is the one that the report was written for.

    Raises
    ------
    InputError: it is not.
    """
    if earlier.sha256 != previous.release_sha256 or earlier.rows != previous.rows:
        raise InputError(
            f"{previous.release}: is not the file that {previous.path.name} was written for (SHA-256 "
            "differs); apply needs the release as it was handed over"
        )


def _attributes_of_both(
    new: NewRecords, earlier: Relation, relation: Relation
) -> tuple[SensitiveAttribute, ...]:
    """Return the sensitive attributes over the values of the earlier release and of the new records."""
    columns = {}
    for name in new.prepared.problem.table.sensitive_names:
        texts: dict[str | None, int] = dict(earlier.dictionary(name))
        for text, records in relation.dictionary(name):
            texts[text] = texts.get(text, 0) + records
        ordered = sorted(texts.items(), key=lambda each: (each[0] is None, each[0] or ""))
        (own,) = new.plan.requests([name])
        columns[name] = column_of(relation.name, ordered, own, new.plan.missing).column
    return new.plan.sensitive_attributes(columns)
