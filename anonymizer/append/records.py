"""New records, read with the types, hierarchies and spellings of the earlier run, and that run's release.

Values are placed in the hierarchies like equal values in the earlier run. If distinct rows do not fit in
memory, they are distinguished only as far as the earlier recoding does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.append.earlier import Previous
from anonymizer.config.search import EngineName
from anonymizer.data.relation import Coding, Groups, Relation
from anonymizer.data.table import ReadColumn, column_of, declared_codes, recoded_as
from anonymizer.data.values import Key, key_of
from anonymizer.errors import DataError, InputError
from anonymizer.hierarchy.source import HierarchySource
from anonymizer.job.table import check_search, problem_of, read_attributes
from anonymizer.model.table import Role, SensitiveAttribute
from anonymizer.plan.columns import Columns
from anonymizer.plan.counted import row_limit_message
from anonymizer.plan.plan import Plan
from anonymizer.plan.prepared import Prepared
from anonymizer.release.recoding import StoredRecoding


@dataclass(frozen=True, eq=False)
class NewRecords:
    """Records to append, and the release that they are appended to.

    Attributes
    ----------
    prepared: the records as a problem, with the column types of the earlier run.
    hierarchies: by name, which place values like those of the earlier run.
    relation: the records.
    earlier: the earlier release.
    path: of its file.
    groups: its distinct rows, by the columns ``names``.
    names: the quasi-identifiers and, last, the sensitive attributes.
    attributes: the sensitive ones, over the values of both.
    """

    prepared: Prepared
    hierarchies: Mapping[str, HierarchySource[Any]]
    relation: Relation
    earlier: Relation
    path: Path
    groups: Groups
    names: tuple[str, ...]
    attributes: tuple[SensitiveAttribute, ...]


def read_new_records(
    plan: Plan, previous: Previous, earlier: Relation, relation: Relation, *, searches: bool
) -> NewRecords:
    """Read new records with the types and hierarchies of the earlier run.

    Parameters
    ----------
    earlier: the earlier release.
    searches: whether another recoding may be searched.

    Raises
    ------
    InputError: the earlier release was changed, or its distinct rows do not fit in memory; a value is not of
        the column's type or not in its hierarchy, the hierarchy would differ for these records, or a search
        that may follow needs all distinct rows in memory.
    DataError: the released columns would differ from those of the earlier release.
    """
    given = previous.reported.release
    if earlier.sha256 != given.sha256 or earlier.rows != given.rows:
        raise InputError(
            f"{previous.release}: does not match {previous.path.name} (SHA-256 differs); apply needs the "
            "release as it was handed over"
        )
    planned = plan.columns.typed(previous.types, "the earlier run")
    columns = read_attributes(planned, plan.target, relation)
    expected = set(planned.released(relation.columns))
    if set(earlier.columns) != expected:
        raise DataError(
            f"{earlier.name}: has columns {', '.join(earlier.columns)}; {relation.name} would be released "
            f"with {', '.join(sorted(expected))}"
        )
    for name in planned.with_role(Role.QUASI_IDENTIFIER):
        spellings = previous.recoding.spellings(name)
        if spellings is not None:
            columns[name] = _respelled(columns[name], earlier, spellings)
    hierarchies = _hierarchies(planned, previous, columns)
    prepared = problem_of(replace(plan, columns=planned), relation, columns, hierarchies)
    if searches:
        check_search(prepared)
    prepared, table = coarsened(prepared, previous.recoding), prepared.problem.table
    names = (*(each.name for each in table.quasi_identifiers), *table.sensitive_names)
    attributes = _attributes_of_both(planned, table.sensitive_names, earlier, relation)
    groups = published_rows(prepared.engine, earlier, names, plan.engine.room(len(names)))
    return NewRecords(prepared, hierarchies, relation, earlier, previous.release, groups, names, attributes)


def _respelled(read: ReadColumn, earlier: Relation, spellings: Sequence[str]) -> ReadColumn:
    """Return a column whose values are spelled like equal values in the earlier run.

    Parameters
    ----------
    earlier: the earlier release.
    spellings: of values in the earlier recoding.
    """
    column = read.column
    key = key_of(column.type, column.numerals, column.dates)
    known: dict[Key | None, str] = {}
    published = [text for text, _ in earlier.dictionary(column.name) if text is not None]
    for text in (*spellings, *published):
        found = key(text)
        if found is not None:
            known.setdefault(found, text)
    texts = (known.get(key(text), text) for text in column.present)
    return replace(read, column=replace(column, texts=(*texts, *column.texts[len(column.present) :])))


def _hierarchies(
    planned: Columns, previous: Previous, columns: Mapping[str, ReadColumn]
) -> dict[str, HierarchySource[Any]]:
    sources = {}
    for name, before in previous.recoding.depends_on.items():
        hierarchy = planned[name].hierarchy
        assert hierarchy is not None, "the configs have the same hierarchies"
        sources[name] = hierarchy.source.as_for(columns[name].column, before)
    return sources


def coarsened(prepared: Prepared, recoding: StoredRecoding) -> Prepared:
    """Return the records with a coarser table if the distinct rows do not fit in memory.

    Each value is replaced by the lowest one under its node at the finest level of the recoding. Both are
    published equally, so all measures are the same.

    Raises
    ------
    InputError: the recoding does not fit the hierarchies, or even the coarser table does not fit in memory.
    """
    problem = prepared.problem
    if problem.source is None:
        return prepared
    attributes = problem.table.quasi_identifiers
    levels = recoding.finest(attributes)
    table = problem.source.at(levels, problem.most)
    if table is None:
        named = ", ".join(f"{each.name} {level}" for each, level in zip(attributes, levels, strict=True))
        raise InputError(
            f"{row_limit_message(prepared.counted)}, even at the levels of the earlier recoding ({named}); "
            "raise engine.memory_limit or engine.options.combinations, or append the records in several parts"
        )
    encoded = recoded_as(prepared.encoded, table)
    # The levels that may be published are those of the attributes, not of the coarser table.
    whole = replace(table, quasi_identifiers=attributes)
    return replace(
        prepared, problem=replace(problem, table=whole, source=None, placing=False), encoded=encoded
    )


def _attributes_of_both(
    planned: Columns, names: Sequence[str], earlier: Relation, relation: Relation
) -> tuple[SensitiveAttribute, ...]:
    """Return the sensitive attributes over the values of the earlier release and of the new records."""
    columns = {}
    for name in names:
        texts: dict[str | None, int] = dict(earlier.dictionary(name))
        for text, records in relation.dictionary(name):
            texts[text] = texts.get(text, 0) + records
        ordered = sorted(texts.items(), key=lambda each: (each[0] is None, each[0] or ""))
        (own,) = planned.requests([name])
        column = column_of(relation.name, ordered, own, planned.missing).column
        columns[name] = replace(column, codes=declared_codes(relation, name))
    return planned.sensitive_attributes(columns)


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
