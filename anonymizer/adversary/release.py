"""Releases as an adversary reads them: of a run, or from a file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.adversary.candidate import known_original
from anonymizer.data.labelled import ReadNumbers, labelled, renamed
from anonymizer.data.relation import Groups, Relation
from anonymizer.data.source import is_url
from anonymizer.data.table import unite_spellings
from anonymizer.data.values import split_absent
from anonymizer.errors import InputError, listed, suggestion
from anonymizer.model.adversary import AdversaryView, PublishedTable
from anonymizer.model.arrays import FloatArray, IntArray, ascending, count, numbered
from anonymizer.model.classes import SensitiveCodes
from anonymizer.model.labels import SUPPRESSED, UNKNOWN, NumberColumns, NumberLabels
from anonymizer.model.owners import Owners
from anonymizer.model.recoding import Recoding
from anonymizer.model.table import Role
from anonymizer.model.units import PERSON
from anonymizer.people.weights import check_weight_columns, check_weights
from anonymizer.plan.assessment import Assessment
from anonymizer.plan.columns import Columns
from anonymizer.plan.prepared import Prepared
from anonymizer.release.classes import value_codes
from anonymizer.release.folder import PUBLIC_REPORT
from anonymizer.system import check_file


def by_config_names(
    assessment: Assessment, release: Relation, original: Relation | None, other: Relation | None
) -> tuple[Relation, Relation | None, Relation | None]:
    """Return files with the names that columns have in the config, by the option ``columns`` of attacks.

    Raises
    ------
    InputError: a name in ``columns`` is in none of the files.
    """
    names = assessment.foreign_names
    known = [each for each in (release, original, other) if each is not None]
    every = [column for each in known for column in each.columns]
    for foreign in names:
        if foreign not in every:
            raise InputError(
                f"{assessment.config}: attacks: columns: '{foreign}' is not a column of "
                f"{listed([each.name for each in known])}; {suggestion(foreign, every)}"
            )
    others = [None if each is None else as_in_config(assessment, each) for each in (original, other)]
    return as_in_config(assessment, release), others[0], others[1]


def as_in_config(assessment: Assessment, relation: Relation) -> Relation:
    """Return a file with the names that its columns have in the config."""
    return renamed(relation, assessment.foreign_names)


def unite_published(columns: Columns, relation: Relation) -> None:
    """Write each value of the quasi-identifiers of a release in one way, in place."""
    names = columns.among(relation.columns, Role.QUASI_IDENTIFIER)
    unite_spellings(relation, columns.requests(names), columns.missing)


def with_published_labels(columns: Columns, relation: Relation) -> Relation:
    """Return a release with labels in place of numbers, and one spelling of each value."""
    unite_published(columns, relation)
    return with_labels(columns, relation)


def with_labels(columns: Columns, relation: Relation) -> Relation:
    """Return a release with labels in place of the numbers that a config asks for.

    An empty field is what the public report next to the release says; without one, it is any value. A column
    with a code of a missing value is not one of a release.
    """
    if relation.stored is not relation:
        return relation
    reported, numbers = entry_beside(relation, "release", "numbers"), {}
    for name, column in columns.items():
        own = NumberColumns(name, column.labels)
        if column.labels is NumberLabels.RANGE or not set(own.columns) <= set(relation.columns):
            continue
        entry = reported.get(name)
        if entry or not any(_has_codes(columns, relation, each) for each in own.columns):
            empty = entry.get("empty") if isinstance(entry, Mapping) else None
            numbers[name] = ReadNumbers(own, empty if empty in UNKNOWN else SUPPRESSED)
    return labelled(relation, numbers, columns.numerals.decimal)


def _has_codes(columns: Columns, relation: Relation, name: str) -> bool:
    """Return whether a column has a text, not an empty one, that means a missing value."""
    texts = [text for text, _ in relation.dictionary(name) if text and text.strip()]
    return bool(split_absent(texts, columns.missing, columns.numerals)[0])


def view_of_run(
    prepared: Prepared, recoding: Recoding, release: Relation, weights: Sequence[str] = ()
) -> AdversaryView:
    """Return the adversary's view of a finished run: the written release, and the input with its true links.

    The input is left out if its distinct rows do not fit in memory.

    Parameters
    ----------
    weights: columns of the release with sampling weights.

    Raises
    ------
    InputError: the release differs from the recoding of the input.
    """
    plan = prepared.plan
    table = read_release(plan.columns, release, weights)
    if prepared.problem.source is not None:
        return AdversaryView(table)
    return AdversaryView(
        table,
        original=known_original(
            plan.target.input, prepared.problem.table, recoding, table, plan.columns.missing
        ),
    )


def read_release(columns: Columns, relation: Relation, weights: Sequence[str] = ()) -> PublishedTable:
    """Count a release by its quasi-identifiers and sensitive attributes.

    Parameters
    ----------
    weights: columns with sampling weights, which are summed.

    Raises
    ------
    InputError: it has no quasi-identifier of the config.
    """
    return view_of_release(columns, relation, weights).release


def view_of_release(
    columns: Columns, relation: Relation, weights: Sequence[str] = (), pseudonym: str | None = None
) -> AdversaryView:
    """Return the view of somebody who has a release alone; parameters and errors as for ``read_release``.

    Parameters
    ----------
    pseudonym: the column with the pseudonyms of persons, which are read if it has any; None to read none.
    """
    names = columns.among(relation.columns, Role.QUASI_IDENTIFIER)
    if not names:
        wanted = ", ".join(columns.with_role(Role.QUASI_IDENTIFIER))
        raise InputError(f"{relation.name}: has no quasi-identifier of {columns.config}; expected {wanted}")
    attributes = columns.read_sensitive(relation, columns.among(relation.columns, Role.SENSITIVE))
    check_weight_columns(relation, weights)
    owner = [pseudonym] if pseudonym is not None and pseudonym in relation.columns else []
    secret = [attribute.name for attribute in attributes]
    groups = relation.group_counts([*names, *secret, *weights, *owner])
    codes = {}
    for position, attribute in enumerate(attributes, start=len(names)):
        texts = groups.values[position]
        values = value_codes(relation.name, attribute.column, texts)
        codes[attribute.name] = SensitiveCodes(attribute, values[groups.codes[:, position]])
    sums = {}
    for position, name in enumerate(weights, start=len(names) + len(attributes)):
        numerals = check_weights(columns, relation, name)
        each = np.array([numerals.number(str(text)) for text in groups.values[position]], dtype=np.float64)
        sums[name] = each[groups.codes[:, position]] * groups.counts
    table, row_of = _merged(relation.name, names, groups, codes, sums)
    if not owner:
        return AdversaryView(table)
    absent = np.array([text is None or not text for text in groups.values[-1]], dtype=np.bool_)
    persons = groups.codes[:, -1].astype(np.int64)
    persons = np.repeat(np.where(absent[persons], -1, persons), groups.counts)
    rows = np.repeat(row_of, groups.counts)
    return AdversaryView(table, named=Owners.of(rows, rows, {PERSON: persons}, linked=True))


def _merged(
    source: str,
    names: Sequence[str],
    groups: Groups,
    sensitive: dict[str, SensitiveCodes],
    weights: dict[str, FloatArray],
) -> tuple[PublishedTable, IntArray]:
    """Return groups as a table, merged if they differ in other columns or spellings; and the row of each."""
    width = len(names)
    columns = [*groups.codes[:, :width].T, *(own.codes for own in sensitive.values())]
    if ascending(columns, len(groups.counts)):  # saves arrays of the size of a large release
        labels, codes = groups.values[:width], groups.codes[:, :width]
        table = PublishedTable(source, tuple(names), labels, codes, sensitive, groups.counts, weights)
        return table, np.arange(len(groups.counts))
    keys, first = numbered(columns, len(groups.counts))
    table = PublishedTable(
        source,
        tuple(names),
        groups.values[:width],
        groups.codes[first, :width],
        {name: own.at(first) for name, own in sensitive.items()},
        count(keys, groups.counts, len(first)),
        {name: np.bincount(keys, own, len(first)).astype(np.float64) for name, own in weights.items()},
    )
    return table, keys


def entry_beside(release: Relation, section: str, key: str | None = None) -> Mapping[str, Any]:
    """Return an entry of the public report next to a released file; empty if it is of another file."""
    path = Path(release.name).with_name(PUBLIC_REPORT)
    if release.sha256 is None or is_url(release.name) or not path.is_file():
        return {}
    try:
        report = json.loads(check_file(path).read_bytes())
        own = report["release"]["sha256"] == release.sha256
        found = report[section] if own else None
        found = found if key is None or found is None else found[key]
    except (OSError, ValueError, LookupError, TypeError):
        return {}
    return found if isinstance(found, Mapping) else {}
