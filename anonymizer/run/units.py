"""Persons, households and other units of a run, counted in its release.

The release has no column of units, so that only the run itself can count them there: it knows the class of
each record of the input.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from anonymizer.attacks.adversary_view import owners_of_records
from anonymizer.errors import AuditFailed, plural
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray, group_rows
from anonymizer.model.classes import Classes, ClassValues, SensitiveCodes, classes_of_rows
from anonymizer.model.households import MEMBERS, Households
from anonymizer.model.population import PopulationSizes
from anonymizer.model.recoding import Recoding
from anonymizer.model.table import Role
from anonymizer.model.units import HOUSEHOLD, PERSON, Ties
from anonymizer.release.query import rows_of_records
from anonymizer.run.plan import Plan
from anonymizer.run.prepare import Prepared, people_of_rows, stored_units, units_of_rows
from anonymizer.search.base import sensitive_codes


def class_of_records(plan: Plan, prepared: Prepared, recoding: Recoding) -> tuple[IntArray, int]:
    """Return the class of each record of the input, -1 if it is not released, and the number of classes."""
    rows, stays = _rows(plan, prepared, recoding), ~recoding.removed
    columns = [(each.codes[stays], len(each.labels)) for each in recoding.class_columns()]
    groups, number = group_rows(columns, int(stays.sum()))
    of_row = np.full(len(stays), -1, dtype=np.int64)
    of_row[stays] = groups
    return of_row[rows], number


def _rows(plan: Plan, prepared: Prepared, recoding: Recoding) -> CodeArray:
    """Return the row of the recoding's table for each record, shape (records,)."""
    released = tuple(plan.released(prepared.encoded.relation.columns))
    return rows_of_records(prepared.encoded.relation, prepared.rows(recoding), recoding, released)


def released_records(plan: Plan, prepared: Prepared, recoding: Recoding) -> Classes:
    """Return the classes of a release, counted record by record from the columns of units.

    The search counts distinct rows instead; the two share no sums. If the engine stores the units, it counts
    them once more, from the records at the published levels.
    """
    if not prepared.units:
        return _counted_by_engine(plan, prepared, recoding)[0]
    class_of, number = class_of_records(plan, prepared, recoding)
    records = np.flatnonzero(class_of >= 0)
    people = None
    if prepared.problem.table.population is not None:
        first = np.zeros(number, dtype=np.int64)
        first[class_of[records]] = records
        rows = prepared.rows(recoding)[first].astype(np.int64)
        people = people_of_rows(prepared.problem.table, recoding, rows)
    linked = plan.pseudonym is not None
    classes = _classes(prepared, class_of, records, number, linked=linked, people=people)

    def published() -> CodeArray:
        # A class publishes what any of its records does.
        first = records[np.unique(class_of[records], return_index=True)[1]]
        rows = _rows(plan, prepared, recoding)[first]
        return np.stack([each.codes[rows] for each in recoding.published()], axis=1)

    if not classes.linked:
        names = [each.name for each in prepared.problem.table.quasi_identifiers]
        classes.values = ClassValues(names, published)
    return classes


def with_owners(plan: Plan, prepared: Prepared, recoding: Recoding, view: AdversaryView) -> AdversaryView:
    """Return the view of a run's release with the owners of its records, if the config names units."""
    if not prepared.units or view.original is None:
        return view
    owners = owners_of_records(
        prepared.problem.table,
        recoding,
        _rows(plan, prepared, recoding),
        prepared.units,
        view.release,
        view.original,
    )
    return replace(view, original=replace(view.original, owners=owners))


def all_records(plan: Plan, prepared: Prepared, recoding: Recoding) -> Classes:
    """Return one class of all records of the input, counted as for ``released_records``."""
    if not prepared.units:
        return _counted_by_engine(plan, prepared, recoding)[1].pooled()
    rows = prepared.encoded.relation.rows
    return _classes(prepared, np.zeros(rows, dtype=np.int64), np.arange(rows), 1)


def _counted_by_engine(plan: Plan, prepared: Prepared, recoding: Recoding) -> tuple[Classes, Classes]:
    """Return the classes of the release, and of all records."""
    table, codings = recoding.table, prepared.codings(recoding)
    sizes = [coding.size for coding in codings]
    with ExitStack() as stack:
        units = {
            name: stack.enter_context(own).fetch().of_rows(table.codes, sizes)
            for name, own in stored_units(plan, prepared.encoded.relation, codings).items()
        }
    columns = [(each.codes, len(each.labels)) for each in recoding.class_columns()]
    class_of, number = group_rows([(recoding.removed.astype(np.int64), 2), *columns], table.combinations)
    released = np.ones(number, dtype=np.bool_)
    released[class_of[recoding.removed]] = False
    every = Classes(class_of, table.counts, number, sensitive_codes(table), units)
    return every.keep(released), every


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
    sensitive = {
        each.name: SensitiveCodes(each, table.sensitive_codes(each.name)[rows].astype(np.int64))
        for each in table.sensitive
    }
    own = {name: each[records] for name, each in prepared.units.items()}
    items = np.arange(len(records))
    units = dict(units_of_rows(own, items, len(records)))
    if HOUSEHOLD in own:
        units[MEMBERS] = Households.of_records(items, own[HOUSEHOLD], len(records))
    ones = np.ones(len(records), dtype=np.int64)
    ties = Ties(own[PERSON], int(own[PERSON].max(initial=-1)) + 1, ones) if linked else None
    classes = classes_of_rows(class_of[records], ones, number, sensitive, units, ties)
    return classes if people is None else classes.with_population(people)


def suppressed_records(plan: Plan, prepared: Prepared, recoding: Recoding) -> BoolArray:
    """Return which records of the input are suppressed, shape (records,)."""
    return recoding.suppressed[_rows(plan, prepared, recoding)]


def check_whole(plan: Plan, prepared: Prepared, recoding: Recoding) -> None:
    """Check record by record that all records of a unit are suppressed, or none.

    Raises
    ------
    AuditFailed: some are, and others of the same unit are not.
    """
    if plan.whole is None:
        return
    units, suppressed = prepared.units[plan.whole], suppressed_records(plan, prepared, recoding)
    records = np.bincount(units[units >= 0])
    gone = np.bincount(units[suppressed & (units >= 0)], minlength=len(records))
    torn = int(((gone > 0) & (gone < records)).sum())
    if torn:
        raise AuditFailed(
            f"of {plural(torn, plan.whole)}, some records are suppressed and others are not, "
            "although suppression.whole says all or none"
        )


def unit_facts(plan: Plan, prepared: Prepared, recoding: Recoding | None = None) -> dict[str, Any] | None:
    """Return the ``units`` entry of the report; None where the config names no units that can be counted.

    Parameters
    ----------
    recoding: of the release, by which suppressed units are counted if they are suppressed as a whole.
    """
    facts: dict[str, Any] = {}
    if not prepared.units and prepared.problem.table.units:
        return _engine_facts(plan, prepared)
    for name, units in prepared.units.items():
        sizes = np.bincount(units[units >= 0])
        sizes, missing = sizes[sizes > 0], int((units < 0).sum())
        facts[name] = {
            "column": plan.units[name],
            "units": len(sizes) + missing,
            "records": len(units),
            "records_without": missing,
            "most_records": int(sizes.max(initial=min(missing, 1))),
        }
        if name == PERSON and plan.pseudonym is not None:
            facts[name]["released_as"] = "pseudonym"
    if not facts or recoding is None or plan.applied:
        return facts or None
    suppressed = suppressed_records(plan, prepared, recoding)
    if plan.whole is not None:
        units = prepared.units[plan.whole][suppressed]
        facts[plan.whole]["suppressed"] = len(np.unique(units[units >= 0])) + int((units < 0).sum())
    linked = {} if plan.pseudonym is not None else _linked_by(plan, prepared, ~suppressed)
    if linked:
        facts[PERSON]["linked_by"] = linked
    return facts


def _engine_facts(plan: Plan, prepared: Prepared) -> dict[str, Any]:
    """Return the facts about units that the engine counts."""
    relation, facts = prepared.encoded.relation, {}
    for name, column in plan.units.items():
        own = relation.unit_facts(column, {None, *plan.missing})
        facts[name] = {
            "column": column,
            "units": own.units + own.without,
            "records": relation.rows,
            "records_without": own.without,
            "most_records": max(own.most, min(own.without, 1)),
        }
    return facts


def _linked_by(plan: Plan, prepared: Prepared, released: BoolArray) -> dict[str, int]:
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
    several = np.bincount(own) > 1
    recoded = plan.with_role(Role.QUASI_IDENTIFIER)
    for name in plan.released(relation.columns):
        if name in recoded or not several.any():
            continue
        size = len(relation.dictionary(name))
        persons, values = np.divmod(np.unique(own * size + relation.codes(name)[records]), size)
        alone = (np.bincount(persons)[persons] == 1) & (np.bincount(values)[values] == 1)
        number = int((alone & several[persons]).sum())
        if number:
            found[name] = number
    return found


def unit_warnings(facts: dict[str, Any] | None) -> list[str]:
    """Return the warnings about units that each have one record, and about records without one.

    Parameters
    ----------
    facts: the ``units`` entry of the report.
    """
    warnings = []
    for name, own in (facts or {}).items():
        column, missing = own["column"], own["records_without"]
        warnings += [
            f"column '{each}' links the records of {plural(number, name)}, each with one value "
            f"in all their records that no other {name} has; leave the column out, or make it a "
            "quasi-identifier"
            for each, number in own.get("linked_by", {}).items()
        ]
        if missing:
            warnings.append(
                f"column '{column}' is empty in {plural(missing, 'record')}; each of them counts as a "
                f"{name}: if several belong to one {name}, fill in the column, or set "
                "input.missing_person to refuse"
            )
        elif own["units"] == own["records"]:
            warnings.append(
                f"column '{column}' has a different value in every record, so each {name} has one record"
            )
    return warnings
