"""Units in the classes of a release, and what of them was lost.

The release has no column of units, so that only the run itself can count them there: it knows the class of
each record of the input.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from anonymizer.data.relation import Relation
from anonymizer.data.source import KeyColumns
from anonymizer.errors import AuditFailed, plural
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray, count_exactly, group_rows
from anonymizer.model.classes import Classes, ClassValues, Released, classes_of_rows
from anonymizer.model.measure import Measure
from anonymizer.model.population import PopulationSizes
from anonymizer.model.recoding import Recoding
from anonymizer.model.table import Role, SamplingWeights
from anonymizer.model.units import HOUSEHOLD, PERSON, UnitsByName
from anonymizer.people.population import people_of_rows
from anonymizer.people.units import stored_units, units_of_rows
from anonymizer.plan.columns import Columns
from anonymizer.plan.prepared import Prepared
from anonymizer.release.query import rows_of_records
from anonymizer.search.base import sensitive_codes


def class_of_records(prepared: Prepared, recoding: Recoding) -> tuple[IntArray, int]:
    """Return the class of each record of the input, -1 if it is not released, and the number of classes."""
    rows, stays = _rows(prepared, recoding), ~recoding.removed
    columns = ((each.codes[stays], len(each.labels)) for each in recoding.class_columns())
    groups, number = group_rows(columns, int(stays.sum()))
    of_row = np.full(len(stays), -1, dtype=np.int64)
    of_row[stays] = groups
    return of_row[rows], number


def _rows(prepared: Prepared, recoding: Recoding) -> CodeArray:
    """Return the row of the recoding's table for each record, shape (records,)."""
    released = tuple(prepared.plan.columns.released(prepared.encoded.relation.columns))
    return rows_of_records(prepared.encoded.relation, prepared.rows(recoding), recoding, released)


def released_records(prepared: Prepared, recoding: Recoding) -> Classes:
    """Return the classes of a release, counted record by record from the columns of units.

    The search counts distinct rows instead; the two share no sums. If the engine stores the units, it counts
    them once more, from the records at the published levels.
    """
    if not prepared.units:
        return _counted_by_engine(prepared, recoding)[0]
    class_of, number = class_of_records(prepared, recoding)
    records = np.flatnonzero(class_of >= 0)
    people = None
    if prepared.problem.table.population is not None:
        first = np.zeros(number, dtype=np.int64)
        first[class_of[records]] = records
        rows = prepared.rows(recoding)[first].astype(np.int64)
        people = people_of_rows(prepared.problem.table, recoding, rows)
    linked = prepared.plan.counting.pseudonym is not None
    classes = _classes(prepared, class_of, records, number, linked=linked, people=people)

    if not classes.linked:

        def one_of_each() -> IntArray:
            # A class publishes what any of its records does.
            own = records[np.unique(class_of[records], return_index=True)[1]]
            return _rows(prepared, recoding)[own].astype(np.int64)

        classes.values = _published(recoding, one_of_each)
    return classes


def all_records(prepared: Prepared, recoding: Recoding) -> Classes:
    """Return one class of all records of the input, counted as for ``released_records``."""
    if not prepared.units:
        return _counted_by_engine(prepared, recoding)[1].pooled()
    rows = prepared.encoded.relation.rows
    return _classes(prepared, np.zeros(rows, dtype=np.int64), np.arange(rows), 1)


def with_person_records(prepared: Prepared, found: Released) -> Released:
    """Return a release with the number of records of each person in each row, if persons are counted."""
    table, units = found.table, found.table.measure.units
    if PERSON not in units or units[PERSON].records is not None:
        return found
    if prepared.units:
        persons, rows = {PERSON: prepared.units[PERSON]}, _rows(prepared, found.recoding)
        own = units_of_rows(persons, rows, table.combinations, [PERSON])
    else:
        own = _units_by_engine(prepared, found.recoding, [PERSON])
    measure = table.measure.with_units({PERSON: own[PERSON]})
    return replace(found, table=replace(table, measure=measure))


def _units_by_engine(prepared: Prepared, recoding: Recoding, recorded: Collection[str] = ()) -> UnitsByName:
    """Return the units of the rows of the recoding's table, as the engine counts them.

    Parameters
    ----------
    recorded: as for ``stored_units``.
    """
    codings = prepared.codings(recoding)
    sizes = [coding.size for coding in codings]
    with ExitStack() as stack:
        stored = stored_units(prepared.plan.counting, prepared.encoded.relation, codings, recorded)
        return {
            name: stack.enter_context(own).fetch().of_rows(recoding.table.codes, sizes)
            for name, own in stored.items()
        }


def _counted_by_engine(prepared: Prepared, recoding: Recoding) -> tuple[Classes, Classes]:
    """Return the classes of the release, and of all records."""
    table, units = recoding.table, _units_by_engine(prepared, recoding)
    columns = [(each.codes, len(each.labels)) for each in recoding.class_columns()]
    class_of, number = group_rows([(recoding.removed.astype(np.int64), 2), *columns], table.combinations)
    released = np.ones(number, dtype=np.bool_)
    released[class_of[recoding.removed]] = False
    every = Classes(class_of, Measure(table.counts, units), number, sensitive_codes(table))
    every.values = _published(recoding, lambda: np.unique(class_of, return_index=True)[1])
    return every.keep(released), every


def _published(recoding: Recoding, rows: Callable[[], IntArray]) -> ClassValues:
    """Return what classes publish.

    Parameters
    ----------
    rows: returns a row of each class, shape (classes,), int64.
    """
    columns = recoding.published()

    def codes() -> CodeArray:
        own = rows()
        return np.stack([each.codes[own] for each in columns], axis=1)

    names = [each.name for each in recoding.table.quasi_identifiers]
    return ClassValues(names, codes, lambda: [each.labels for each in columns])


def _classes(
    prepared: Prepared,
    class_of: IntArray,
    records: IntArray,
    number: int,
    *,
    linked: bool = False,
    people: PopulationSizes | None = None,
) -> Classes:
    table, rows = prepared.problem.table, prepared.encoded.combination[records]
    sensitive = sensitive_codes(table, rows)
    own = {name: each[records] for name, each in prepared.units.items()}
    ones, recorded = np.ones(len(records), dtype=np.int64), prepared.plan.counting.recorded_units
    measure = Measure.of_owners(own, ones, recorded, PERSON if linked else None)
    classes = classes_of_rows(class_of[records], measure, number, sensitive)
    return classes if people is None else classes.with_population(people)


def shares_of_persons(prepared: Prepared, recoding: Recoding) -> tuple[IntArray, dict[str, Any]] | None:
    """Return what the records of each row count if each person counts once, and the number of persons.

    The shares are of shape (rows of the recoding's table,), int64. None without persons in memory.
    """
    if PERSON not in prepared.units:
        return None
    unit_of = prepared.units[PERSON]
    known = unit_of >= 0
    sizes, missing = np.bincount(unit_of[known]), int((~known).sum())
    # A record without a key is a person of its own.
    sizes, numbers = np.append(np.maximum(sizes, 1), 1), np.append(sizes > 0, missing).astype(np.int64)
    weights, codes = SamplingWeights.of_units(PERSON, prepared.plan.counting.units[PERSON], sizes, numbers)
    own = weights.values[codes[np.where(known, unit_of, len(sizes) - 1)]]
    shares = count_exactly(_rows(prepared, recoding), own, recoding.table.combinations)
    return shares, {"unit": PERSON, "units": int(numbers.sum())}


def suppressed_records(prepared: Prepared, recoding: Recoding) -> BoolArray:
    """Return which records of the input are suppressed, shape (records,)."""
    return recoding.suppressed[_rows(prepared, recoding)]


def check_whole(prepared: Prepared, recoding: Recoding) -> None:
    """Check record by record that all records of a unit are suppressed, or none.

    Raises
    ------
    AuditFailed: some are, and others of the same unit are not.
    """
    plan = prepared.plan
    if plan.counting.whole is None:
        return
    units, suppressed = prepared.units[plan.counting.whole], suppressed_records(prepared, recoding)
    records = np.bincount(units[units >= 0])
    gone = np.bincount(units[suppressed & (units >= 0)], minlength=len(records))
    torn = int(((gone > 0) & (gone < records)).sum())
    if torn:
        raise AuditFailed(
            f"some but not all records of {plural(torn, plan.counting.whole)} are suppressed, but "
            "suppression.whole requires all or none"
        )


def check_unit_limit(prepared: Prepared, recoding: Recoding) -> None:
    """Check record by record that no more units lose a record than the limit allows.

    Raises
    ------
    AuditFailed: more do.
    """
    limit = prepared.problem.unit_limit
    if limit is None:
        return
    lost = _units_lost(prepared, recoding, limit.unit)
    if lost > limit.most:
        raise AuditFailed(
            f"{plural(lost, limit.unit)} of {limit.number:,} lose records, but suppression.limit allows "
            f"{limit.most:,}"
        )


def _units_lost(prepared: Prepared, recoding: Recoding, unit: str) -> int:
    """Return how many units lose a record, counted record by record; by the engine if it stores the units."""
    if not prepared.units:
        return _counted_by_engine(prepared, recoding)[1].measure.number(unit, recoding.suppressed)
    return _distinct(prepared.units[unit][suppressed_records(prepared, recoding)])


def _distinct(units: IntArray) -> int:
    """Return the number of units of some records, each without one being a unit of its own."""
    return len(np.unique(units[units >= 0])) + int((units < 0).sum())


def _lost(prepared: Prepared, recoding: Recoding | None) -> dict[str, dict[str, int]]:
    """Return the facts about the unit that the suppression limit counts, by its name."""
    limit = prepared.problem.unit_limit
    if limit is None:
        return {}
    found = {"lost_at_most": limit.most}
    if recoding is not None and not prepared.units and limit.unit in recoding.table.measure.units:
        # The check of the release has asked the engine; it need not count again.
        found["lost"] = recoding.table.measure.number(limit.unit, recoding.suppressed)
    elif recoding is not None:
        found["lost"] = _units_lost(prepared, recoding, limit.unit)
    return {limit.unit: found}


def unit_facts(prepared: Prepared, recoding: Recoding | None = None) -> dict[str, Any] | None:
    """Return the ``units`` entry of the report; None where the config names no units that can be counted.

    Parameters
    ----------
    recoding: of the release, by which suppressed units are counted if they are suppressed as a whole.
    """
    plan = prepared.plan
    if not prepared.units and not prepared.problem.table.measure.units:
        return None
    lost = _lost(prepared, recoding)
    facts = {name: _facts_of(prepared, name) | lost.get(name, {}) for name in plan.counting.units}
    if not prepared.units or recoding is None or plan.columns.applied:
        return facts
    suppressed = suppressed_records(prepared, recoding)
    if plan.counting.whole is not None:
        facts[plan.counting.whole]["suppressed"] = _distinct(prepared.units[plan.counting.whole][suppressed])
    if plan.counting.pseudonym is not None:
        facts[PERSON]["linked_classes"] = released_records(prepared, recoding).number
        return facts
    linked = _linked_by(prepared, ~suppressed)
    if linked:
        facts[PERSON]["linked_by"] = linked
    return facts


def _facts_of(prepared: Prepared, name: str) -> dict[str, Any]:
    """Return the facts about a unit in the input, counted by the engine if it stores the units."""
    plan, relation = prepared.plan, prepared.encoded.relation
    column = plan.counting.units[name]
    if name in prepared.units:
        units = prepared.units[name]
        sizes, blank = np.bincount(units[units >= 0]), int((units < 0).sum())
        number, most = int(np.count_nonzero(sizes)) + blank, int(sizes.max(initial=min(blank, 1)))
        if name == HOUSEHOLD and PERSON in prepared.units:
            # Persons have a household in records that do not name it, too.
            blank = relation.unit_facts(column, plan.columns.absent).without
    else:
        own = relation.unit_facts(column, plan.columns.absent)
        number, blank, most = own.units + own.without, own.without, max(own.most, min(own.without, 1))
    facts = {
        "column": column,
        "units": number,
        "records": relation.rows,
        "records_without": blank,
        "most_records": most,
    }
    return (
        facts if name != PERSON or plan.counting.pseudonym is None else {**facts, "released_as": "pseudonym"}
    )


def _linked_by(prepared: Prepared, released: BoolArray) -> dict[str, int]:
    """Return how many persons each column that is released unchanged links the records of.

    It does where a person with several records has the same value in all of them, and no other person has it.

    Parameters
    ----------
    released: which records are, shape (records,).
    """
    if PERSON not in prepared.units:
        return {}
    relation, units = prepared.encoded.relation, prepared.units[PERSON]
    records = np.flatnonzero(released & (units >= 0))
    own, found = units[records], {}
    if not len(own):
        return {}
    several = np.bincount(own) > 1
    last = np.empty(len(several), dtype=np.int64)
    recoded = prepared.plan.columns.with_role(Role.QUASI_IDENTIFIER)
    for name in prepared.plan.columns.released(relation.columns):
        if name in recoded or not several.any():
            continue
        # A missing value is one, too.
        values = values_of_records(prepared.plan.columns, relation, name)[records] + 1
        # Whoever has another value than in the last record has several, and so have values other persons.
        last[own] = values
        linked = several.copy()
        linked[own[values != last[own]]] = False
        holder = np.empty(int(values.max()) + 1, dtype=np.int64)
        shared = np.zeros(len(holder), dtype=np.bool_)
        holder[values] = own
        shared[values[own != holder[values]]] = True
        linked[own[shared[values]]] = False
        number = int(linked.sum())
        if number:
            found[name] = number
    return found


def values_of_records(columns: Columns, relation: Relation, name: str) -> IntArray:
    """Return the value of a column in each record, however it is spelled, shape (records,); -1 if missing."""
    texts = [text for text, _ in relation.dictionary(name)]
    return values_of_texts(relation, texts, columns_of_keys(columns, name))[relation.codes(name)]


def columns_of_keys(columns: Columns, *names: str) -> KeyColumns:
    """Return columns of keys, read as the run reads them."""
    return KeyColumns(names, tuple(columns.missing), columns.numerals)


def values_of_texts(relation: Relation, texts: Sequence[str | None], keys: KeyColumns) -> IntArray:
    """Return the value of each text of a column, the same for other spellings of it; -1 if it is missing."""
    (name,) = keys.names
    found, absent = relation.key_identities(name, keys), {None, *keys.codes}
    own = [None if text is None else found.get(text, text) for text in texts]
    places = {text: place for place, text in enumerate(dict.fromkeys(own)) if text not in absent}
    return np.array([places.get(text, -1) for text in own], dtype=np.int64)
