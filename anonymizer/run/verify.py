"""Verification of a run: the written release, read back, against the result of the search.

An Anatomy release is verified as QIT and ST, and attacked as its recipients see it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from anonymizer.attacks.adversary_view import known_original, known_truth
from anonymizer.audit.anatomy import measure_pair, read_pair
from anonymizer.audit.classes import classes_of, count_reference, measure
from anonymizer.audit.comparison import misassigned_records, mismatched_records
from anonymizer.config.attribute import Role
from anonymizer.config.model import Config
from anonymizer.data.relation import Relation
from anonymizer.errors import AuditFailed, DataError, InputError
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import Classes, Measurement, Reference, Released, SensitiveCounts
from anonymizer.model.counting import count
from anonymizer.model.recoding import GROUP, GroupRecoding
from anonymizer.release.anatomy import pair_columns
from anonymizer.run.adversary import read_release
from anonymizer.run.attributes import weight_columns
from anonymizer.run.job import Job, countable_constraints


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


RelationPair = tuple[Relation, Relation]
"""The quasi-identifier table and the sensitive table."""


def attribute_in_groups(config: Config) -> str:
    """Return the one attribute whose values are published in groups.

    Raises
    ------
    InputError: the config has none, or several.
    """
    names = config.with_role(Role.SENSITIVE)
    if len(names) != 1:
        found = f"{len(names)} ({', '.join(names)})" if names else "none"
        raise InputError(
            f"{config.source}: attributes: a release in groups has one sensitive attribute; found {found}; "
            "give exactly one column role: sensitive, or use another algorithm, such as local"
        )
    return names[0]


def groups_of_run(promised: Released) -> GroupRecoding:
    """Return the recoding of an algorithm that says that it finds groups.

    Raises
    ------
    TypeError: it found something else.
    """
    if not isinstance(promised.recoding, GroupRecoding):
        raise TypeError(f"{type(promised.recoding).__name__} is no recoding in groups, as the algorithm says")
    return promised.recoding


def verify_pair(
    tables: RelationPair, source: Relation, job: Job, promised: Released, columns: Sequence[str]
) -> Audited:
    """Measure the two written tables and compare them with what was promised.

    Parameters
    ----------
    tables: the written files, read back.
    source: the input.
    columns: that are released, in the order of the input.

    Raises
    ------
    AuditFailed: they are not what was promised, or do not satisfy every constraint.
    DataError: they do not belong together.
    """
    records, values = tables
    table, recoding = job.problem.table, groups_of_run(promised)
    attribute = table.sensitive[0]
    for relation, expected in zip(tables, pair_columns(columns, attribute.name), strict=True):
        check_columns(relation, expected)
    names = [each.name for each in table.quasi_identifiers]
    grouped = read_pair(records, values, names, attribute)
    measurements = measure_pair(
        grouped, countable_constraints(job.constraints), references_of(job, source), job.grown
    )
    classes = grouped.values.classes()
    check_promise(records.name, measurements, classes, promised)
    wrong = misassigned_records(records.group_counts([*names, GROUP]), recoding)
    wrong += _misplaced(grouped.groups, grouped.sensitive, recoding)
    if wrong:
        raise AuditFailed(f"{records.name}: {wrong:,} records are not in the groups that they were put in")
    untouched = [name for name in columns if name not in (*names, attribute.name)]
    check_untouched(records, source, untouched, removed=source.rows - records.rows)
    second = SecondTable(values.sha256, values.rows)
    return Audited(records.sha256, records.rows, classes.number, measurements, second)


def _misplaced(names: Sequence[str], found: SensitiveCounts, recoding: GroupRecoding) -> int:
    """Count the records whose value stands in another group than the recoding put them in."""
    table, kept, size = recoding.table, ~recoding.removed, found.attribute.column.size
    number = np.array([int(name) - 1 if name.isdigit() else -1 for name in names], dtype=np.int64)
    known = (number >= 0) & (number < recoding.groups)
    strange = int(found.counts[~known[found.owners]].sum())
    inside = known[found.owners]
    own = number[found.owners[inside]] * size + found.values[inside]
    value = table.sensitive_codes(found.attribute.name)[kept].astype(np.int64)
    promised = recoding.group_of[kept] * size + value
    distinct, keys = np.unique(np.concatenate([own, promised]), return_inverse=True)
    surplus = _sums(keys[: len(own)], found.counts[inside], len(distinct))
    surplus -= _sums(keys[len(own) :], table.counts[kept], len(distinct))
    return strange + int(surplus.clip(min=0).sum())


def _sums(keys: IntArray, counts: IntArray, size: int) -> IntArray:
    return count(keys.astype(np.int64), counts, size)


def scene_of_groups(config: Config, job: Job, recoding: GroupRecoding, tables: RelationPair) -> AdversaryView:
    """Return the scene of a finished run: the written tables, and what became of each record."""
    records, values = tables
    table = job.problem.table
    names = [each.name for each in table.quasi_identifiers]
    grouped = read_pair(records, values, names, table.sensitive[0])
    grouped = replace(grouped, truth=known_truth(grouped, recoding))
    release = read_release(config, records, weight_columns(config))
    source = str(config.input.path or "the input")
    original = known_original(source, table, recoding, release, config.input.missing)
    return AdversaryView(release, original=original, grouped=grouped)


def pair_warnings(config: Config) -> list[str]:
    """Return what a release in groups does not protect from, whatever its constraints say."""
    asked = [each.model for each in config.constraints if each.model in ("k-anonymity", "alpha-k-anonymity")]
    warnings = [
        "the quasi-identifiers are published exact: the size of a group does not bound re-identification, "
        "which `vulnerability` and `uniqueness` measure on the exact values",
    ]
    if config.seed == Config.model_fields["seed"].default:
        warnings.append(
            "the groups are drawn from the seed: whoever knows it and guesses all records can tell whether "
            "the guess is right; set one that nobody guesses (the default is 0), and keep it"
        )
    if asked:
        warnings.append(
            f"{asked[0]} holds for the groups: it says how many records share their values, "
            "not that these differ"
        )
    return warnings
