"""The earlier release and new records as one file, and that file as it was read back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from anonymizer.audit.classes import classes_of, measure
from anonymizer.audit.comparison import mismatched_append
from anonymizer.config.model import Config
from anonymizer.data.relation import Groups, RecodedRows, Relation
from anonymizer.errors import AuditFailed
from anonymizer.flow.applying.decision import Decision
from anonymizer.flow.applying.parts import Sources
from anonymizer.flow.applying.published import published_rows
from anonymizer.flow.prepare import Job
from anonymizer.flow.publication import publication_of, released_columns
from anonymizer.flow.risk import countable_constraints
from anonymizer.flow.verify import Audited, check_columns, check_measurements
from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import Released
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
    if found.lacking or found.added or found.unmatched_columns != removed:
        raise AuditFailed(f"{release.name}: column '{name}' does not hold the values that were put in")
