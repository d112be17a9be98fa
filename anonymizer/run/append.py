"""Appending a batch of new records to an earlier release: decision, release of both, verification.

The batch gets the earlier recoding, or another one on request, or it is refused. The combined file is
verified as its recipient counts it. An adversary who holds both releases can subtract them, so the batch is
also measured alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.audit.classes import classes_of, measure, value_codes
from anonymizer.audit.comparison import common_codes, mismatched_append
from anonymizer.config.model import ApplySettings, Batch, Config, Otherwise
from anonymizer.config.search import EngineName
from anonymizer.data.relation import Coding, Groups, RecodedRows, Relation
from anonymizer.data.table import column_of
from anonymizer.errors import AuditFailed, ConfigError, ConfigProblem, Infeasible, InputError
from anonymizer.loss.base import all_losses
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Classes, Measurement, Reference, Released, SensitiveCodes, released
from anonymizer.model.counting import group_keys
from anonymizer.model.outcome import Outcome
from anonymizer.model.recoding import Recoding
from anonymizer.model.report import Report, Status
from anonymizer.model.table import SensitiveAttribute
from anonymizer.privacy.base import ClassConstraint, CountedConstraint, TableConstraint, describe
from anonymizer.release.query import (
    FileAppend,
    FromEngine,
    FromTable,
    Publishable,
    count_union,
    counted_rows,
    recoded_rows,
    regions_rows,
)
from anonymizer.report.build import InputFacts, ReleaseFacts, build_report
from anonymizer.report.facts import Facts, gather
from anonymizer.run.adversary import adversary_from_files
from anonymizer.run.assessment import Verified, examined
from anonymizer.run.attributes import column_request, sensitive_attributes, weight_columns
from anonymizer.run.diagnose import Diagnosis
from anonymizer.run.earlier_release import (
    NewRecords,
    Previous,
    StoredRecoding,
    check_compatible,
    coarsened_job,
    read_new_records,
    read_previous,
    store_recoding,
)
from anonymizer.run.engine import EngineChoice, engine_options, room
from anonymizer.run.job import Job, RunMonitor, countable_constraints, open_release
from anonymizer.run.publication import publication_of, released_columns
from anonymizer.run.report import (
    input_facts,
    recoding_entry,
    release_facts,
    release_folder,
    report_parts,
    watched_open,
    write_reports,
)
from anonymizer.run.search import refusal, search
from anonymizer.run.source import input_source
from anonymizer.run.target import ReleaseTarget, release_target
from anonymizer.run.verify import Audited, auditing, check_columns, check_measurements


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


def batch_violations(decision: Decision) -> str | None:
    """Return what the new records do not satisfy by themselves, None where they satisfy everything."""
    broken = [each for each in decision.alone if not each.satisfied]
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


def publishable(
    config: Config, sources: Sources, decision: Decision, groups: Groups, scratch: Path
) -> Publishable:
    """Return the earlier release and what is promised of new records as one table, ready to be written.

    Parameters
    ----------
    groups: the distinct rows of the earlier release, by the columns ``sources.names``.
    scratch: a folder for temporary files.
    """
    earlier, new, promised = sources.earlier, sources.new, decision.promised
    if earlier.writer is not None:
        positions = {read.column.name: read.codes for read in decision.job.encoded.columns}
        own = counted_rows(new, promised.recoding, positions, released_columns(config, new))
        rows = None if own is None else count_union(earlier, groups, sources.names, own)
        if rows is not None:
            return FromTable(earlier.writer, rows)
    writer = new.recoded_writer_beside(earlier)
    if writer is not None:
        return FromEngine(writer, _recoded(decision, earlier.columns))
    assert earlier.append_writer is not None, "every engine has one or the other"
    return FileAppend(sources.path, earlier.append_writer, _alone(config, new, decision), scratch)


def _alone(config: Config, new: Relation, decision: Decision) -> Publishable:
    """Return what is promised of the new records; joined by the engine where it keeps their combinations."""
    if decision.job.counted.beyond and new.recoded_writer is not None:
        return FromEngine(new.recoded_writer, _recoded(decision, released_columns(config, new)))
    (alone,) = publication_of(config).publishable(config, decision.job, new, decision.promised)
    return alone


def _recoded(decision: Decision, columns: Sequence[str]) -> RecodedRows:
    """Return what becomes of the new records, told for what they are found by."""
    job, recoding = decision.job, decision.promised.recoding
    if job.problem.placing:
        codings = [read.coding for read in job.encoded.columns]
        return regions_rows(recoding, codings, columns, decision.outcome.ends)
    return recoded_rows(recoding, job.codings(recoding), columns)


def verify_combined(
    release: Relation, sources: Sources, job: Job, promised: Released
) -> tuple[Audited, IntArray]:
    """Measure a release that was read back, and find in it the earlier records and what was promised.

    Parameters
    ----------
    job: the new records.
    promised: the recoding of them.

    Returns
    -------
    What the release is, and the sizes of its classes, shape (classes,), int64.

    Raises
    ------
    AuditFailed: a record is lost or changed, or a constraint does not hold.
    DataError: it has a value that neither has.
    """
    earlier = sources.earlier
    check_columns(release, earlier.columns)
    groups, before = (published_rows(job.engine, each, sources.names) for each in (release, earlier))
    classes = classes_of(release.name, groups, sources.attributes)
    measurements = measure(classes, countable_constraints(job.constraints))
    check_measurements(release.name, measurements)
    _check_records(release, groups, before, sources, promised)
    earlier.check_unchanged()
    return Audited(release.sha256, release.rows, classes.number, measurements), classes.sizes


def _check_records(
    release: Relation, groups: Groups, before: Groups, sources: Sources, promised: Released
) -> None:
    """Check that the records are those of the earlier release and what is published of the new ones.

    Parameters
    ----------
    groups, before: of the release and of the earlier one, by the columns ``sources.names``.

    Raises
    ------
    AuditFailed: one is lost, added or changed.
    """
    earlier = sources.earlier
    added = int(promised.table.counts[~promised.recoding.removed].sum())
    if release.rows != earlier.rows + added:
        raise AuditFailed(
            f"{release.name}: {release.rows:,} records, expected {earlier.rows:,} of the earlier release "
            f"and {added:,} new ones"
        )
    wrong = mismatched_append(release.name, groups, before, promised.recoding, sources.attributes)
    if wrong:
        raise AuditFailed(
            f"{release.name}: {wrong:,} records are neither of the earlier release nor as published"
        )
    for name in release.columns:
        if name not in sources.names:
            _check_untouched(release, sources, name, sources.new.rows - added)


def _check_untouched(release: Relation, sources: Sources, name: str, removed: int) -> None:
    """Check that a column has every value of the earlier release, and of the new ones all but the removed.

    Raises
    ------
    AuditFailed: it has not.
    """
    # A null and an empty text count as one, which a CSV file cannot tell apart.
    found = release.put_together(name, sources.earlier, sources.new)
    if found.lacking or found.added or found.missing != removed:
        raise AuditFailed(f"{release.name}: column '{name}' does not hold the values that were put in")


def run_applied(config: Config, directory: Path, *, overwrite: bool, watch: RunMonitor) -> Report:
    """Recode further records as an earlier run did its own, and write a release of both.

    Parameters
    ----------
    directory: gets the folder of a release, as of any run; not that of the earlier run, which stays.
    overwrite: whether an earlier release there may be replaced.

    Raises
    ------
    InputError: the config, the input, the output folder or the earlier run is not as it should be.
    Infeasible: the earlier release cannot go on with these records.
    AuditFailed: the written file is not what was promised.
    """
    assert config.apply is not None
    source = input_source(config)
    previous = read_previous(config.folder / config.apply.report)
    check_compatible(config, previous)
    options = engine_options(config)
    with (
        release_folder(config, directory, previous.files, overwrite=overwrite) as folder,
        release_target(config, directory, folder, overwrite=overwrite) as target,
        open_release(previous.release, options) as earlier,
        watched_open(config, source, watch) as relation,
    ):
        _check_release(previous, earlier)
        new = read_new_records(config, previous, earlier, relation)
        watch.phase(f"engine {new.job.engine.name}: {new.job.engine.because}")
        sources = _sources(previous, new, earlier, relation)
        facts = input_facts(source, relation)
        decider = Decider(config, previous, sources, new, facts)
        decision = decider.decide(watch)
        written = publishable(new.config, sources, decision, decider.groups, folder.scratch)
        verified, sizes = _write_and_verify(new.config, sources, decision, (target, written), watch)
        report = _report(config, facts, decision, verified, (target, previous))
        watch.phase("drawing the report")
        write_reports(folder, report, _facts_of(decision, sizes), decision.job, decision.kept)
        relation.check_unchanged()
        target.commit(lambda: watch.released(report))
    return report


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


def _sources(previous: Previous, new: NewRecords, earlier: Relation, relation: Relation) -> Sources:
    table = new.job.problem.table
    names = (*(each.name for each in table.quasi_identifiers), *table.sensitive_names)
    attributes = _attributes_of_both(new, earlier, relation)
    return Sources(earlier, previous.release, relation, attributes, names)


def _attributes_of_both(
    new: NewRecords, earlier: Relation, relation: Relation
) -> tuple[SensitiveAttribute, ...]:
    """Return the sensitive attributes over the values of the earlier release and of the new records."""
    columns = {}
    for name in new.job.problem.table.sensitive_names:
        texts: dict[str | None, int] = dict(earlier.dictionary(name))
        for text, records in relation.dictionary(name):
            texts[text] = texts.get(text, 0) + records
        ordered = sorted(texts.items(), key=lambda each: (each[0] is None, each[0] or ""))
        own = column_request(new.config, name)
        columns[name] = column_of(relation.name, ordered, own, new.config.input.missing).column
    return sensitive_attributes(new.config, columns)


def _write_and_verify(
    config: Config,
    sources: Sources,
    decision: Decision,
    output: tuple[ReleaseTarget, Publishable],
    watch: RunMonitor,
) -> tuple[Verified, IntArray]:
    """Write the release and read it back; return what it is, with the sizes of its classes."""
    target, written = output
    watch.phase("writing")
    target.write([written])
    watch.phase("reading back and verifying")
    with auditing(), ExitStack() as stack:
        (release,) = [stack.enter_context(table) for table in target.read_back()]
        audited, sizes = verify_combined(release, sources, decision.job, decision.promised)
        written.compare(release)
        if not config.attacks:
            return Verified(audited), sizes
        scene = _scene(config, release)
        return examined(config, scene, audited, watch), sizes


def _scene(config: Config, release: Relation) -> AdversaryView:
    """Return what adversaries have who hold the release alone: the earlier originals are not here."""
    return adversary_from_files(config, release, weights=weight_columns(config))


def _report(
    config: Config,
    facts: InputFacts,
    decision: Decision,
    verified: Verified,
    where: tuple[ReleaseTarget, Previous],
) -> Report:
    (target, previous), job = where, decision.job
    release = release_facts(target.titles, decision.promised, verified.audited)
    losses = all_losses(decision.promised)
    parts = report_parts(config, job, decision.outcome, facts, release, verified, losses)
    applied = _entry(config, decision, previous)
    warnings = [*parts.warnings, *([applied["difference"]] if applied["difference"] else [])]
    return build_report(
        replace(parts, warnings=warnings, recoding_file=recoding_entry(decision.kept), applied=applied)
    )


def _entry(config: Config, decision: Decision, previous: Previous) -> dict[str, Any]:
    """Return the ``applied`` entry of the report."""
    assert config.apply is not None
    promised = decision.promised
    return {
        "report": config.apply.report,
        "recoding": "searched" if decision.searched else "applied",
        "rows_before": previous.rows,
        "rows_added": int(promised.class_sizes.sum()),
        "batch_classes": len(promised.class_sizes),
        "smallest_batch_class": int(promised.class_sizes.min()),
        "difference": batch_violations(decision),
    }


def _facts_of(decision: Decision, sizes: IntArray) -> Facts:
    """Return what the page shows: the classes of the whole release, all else of the new records."""
    job = decision.job
    whole = replace(decision.promised, class_sizes=np.sort(sizes))
    facts = gather(whole, job.constraints, moving_reference=job.problem.moving_reference)
    return replace(facts, knowing=(), worst=tuple(None for _ in facts.worst))
