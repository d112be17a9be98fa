"""Releases in two tables, inside a run: whether they are what was promised, and what adversaries see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from anonymizer.attacks.adversary_view import known_truth, original_of_groups
from anonymizer.attacks.base import AdversaryView
from anonymizer.audit.anatomy import measure_pair, read_pair
from anonymizer.audit.comparison import misassigned_records
from anonymizer.config.attribute import Role
from anonymizer.config.model import Config
from anonymizer.data.relation import Relation
from anonymizer.errors import AuditFailed, InputError
from anonymizer.flow.prepare import Job
from anonymizer.flow.risk import countable_constraints
from anonymizer.flow.scene import read_release
from anonymizer.flow.verify import (
    Audited,
    SecondTable,
    check_columns,
    check_promise,
    check_untouched,
    references_of,
)
from anonymizer.flow.weights import weight_columns
from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import Released, SensitiveCounts
from anonymizer.model.counting import count
from anonymizer.model.recoding import GROUP, GroupRecoding
from anonymizer.release.anatomy import pair_columns

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
    original = original_of_groups(source, table, recoding, release, config.input.missing)
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
