"""The audit of a run: the written release, read back, against what the search promised."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from anonymizer.audit.classes import classes_of, count_reference, measure
from anonymizer.audit.comparison import mismatched_records
from anonymizer.data.relation import Relation
from anonymizer.errors import AuditFailed, DataError
from anonymizer.flow.prepare import Job
from anonymizer.flow.risk import countable_constraints
from anonymizer.model.classes import Classes, Measurement, Reference, Released


@dataclass(frozen=True)
class SecondTable:
    """The other file of a release in two.

    Attributes
    ----------
    sha256: of the file; None for a DataFrame.
    rows: groups and their values.
    """

    sha256: str | None
    rows: int


@dataclass(frozen=True)
class Audited:
    """What a release was found to be.

    Attributes
    ----------
    sha256: of the file that was read back, the first of two; None for a DataFrame.
    rows, classes: counted in the release.
    measurements: every constraint, measured on the release; of ``verify`` those that are counted.
    second: the other file of a release in two; None for one in one.
    """

    sha256: str | None
    rows: int
    classes: int
    measurements: list[Measurement]
    second: SecondTable | None = None


@contextmanager
def auditing() -> Iterator[None]:
    """Take a release that cannot be read back as one that is not what was promised.

    Raises
    ------
    AuditFailed: in place of a DataError.
    """
    try:
        yield
    except DataError as error:
        raise AuditFailed(str(error)) from error


def check_columns(release: Relation, expected: Sequence[str]) -> None:
    """Check that a release has the columns that it should have, in their order.

    Raises
    ------
    AuditFailed: it has not.
    """
    if tuple(expected) != release.columns:
        raise AuditFailed(f"{release.name}: has columns {release.columns}, expected {tuple(expected)}")


def references_of(job: Job, source: Relation) -> dict[str, Reference] | None:
    """Return the distribution p of each sensitive attribute in the input, None for that of the release.

    Parameters
    ----------
    source: the input.
    """
    if job.problem.moving_reference:
        return None
    return {each.name: count_reference(source, each) for each in job.problem.table.sensitive}


def verify(
    release: Relation, source: Relation, job: Job, promised: Released, columns: Sequence[str]
) -> Audited:
    """Measure a written release and compare it with what was promised.

    Parameters
    ----------
    release: the written file, read back.
    source: the input.
    promised: the recoding that was applied, with its classes.
    columns: that the release should have, in order.

    Raises
    ------
    AuditFailed: it is not what was promised, or does not satisfy every constraint.
    DataError: it has a column or value that the input has not; see ``auditing``.
    """
    table = job.problem.table
    check_columns(release, columns)
    names = [attribute.name for attribute in table.quasi_identifiers]
    groups = release.group_counts([*names, *table.sensitive_names])
    classes = classes_of(release.name, groups, table.sensitive)
    measurements = measure(
        classes, countable_constraints(job.constraints), references_of(job, source), job.grown
    )
    check_promise(release.name, measurements, classes, promised)
    wrong = mismatched_records(release.name, groups, promised.recoding)
    if wrong:
        raise AuditFailed(f"{release.name}: {wrong:,} records are not as the recoding publishes them")
    untouched = [name for name in columns if name not in names]
    check_untouched(release, source, untouched, removed=source.rows - release.rows)
    return Audited(release.sha256, release.rows, classes.number, measurements)


def check_promise(
    source: str, measurements: Sequence[Measurement], classes: Classes, promised: Released
) -> None:
    """Check that every constraint holds, and that the classes have the sizes that the search counted.

    Raises
    ------
    AuditFailed: one does not, or they have not.
    """
    check_measurements(source, measurements)
    expected = np.sort(
        [*promised.class_sizes, *([promised.kept_suppressed] if promised.kept_suppressed else [])]
    )
    if not np.array_equal(np.sort(classes.sizes), expected):
        raise AuditFailed(
            f"{source}: {classes.number} classes of {classes.records} records, where the search "
            f"counted {len(expected)} classes of {int(expected.sum())} records"
        )


def check_measurements(source: str, measurements: Sequence[Measurement]) -> None:
    """Check that every constraint holds.

    Raises
    ------
    AuditFailed: one does not.
    """
    broken = next((each for each in measurements if not each.satisfied), None)
    if broken is not None:
        raise AuditFailed(f"{source}: {broken.model} measures {broken.measured} and does not hold")


def check_untouched(release: Relation, source: Relation, columns: Sequence[str], removed: int) -> None:
    """Check that no value of a column was added or changed, and as many lost as records.

    Raises
    ------
    AuditFailed: one was.
    """
    for name in columns:
        if source.changed_records(name, release) != (0, removed):
            raise AuditFailed(f"{release.name}: column '{name}' does not hold the values of the input")
