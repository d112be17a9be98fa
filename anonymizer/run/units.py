"""Persons, households and other units of a run, counted in its release.

The release has no column of units, so that only the run itself can count them there: it knows the class of
each record of the input.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anonymizer.errors import AuditFailed, plural
from anonymizer.model.arrays import BoolArray, IntArray, group_rows
from anonymizer.model.classes import Classes, SensitiveCodes
from anonymizer.model.recoding import Recoding
from anonymizer.release.query import rows_of_records
from anonymizer.run.plan import Plan
from anonymizer.run.prepare import Prepared, units_of_rows


def class_of_records(plan: Plan, prepared: Prepared, recoding: Recoding) -> tuple[IntArray, int]:
    """Return the class of each record of the input, -1 if it is not released, and the number of classes."""
    released = tuple(plan.released(prepared.encoded.relation.columns))
    rows = rows_of_records(prepared.encoded.relation, prepared.rows(recoding), recoding, released)
    stays = ~recoding.removed
    columns = [(each.codes[stays], len(each.labels)) for each in recoding.class_columns()]
    groups, number = group_rows(columns, int(stays.sum()))
    of_row = np.full(len(stays), -1, dtype=np.int64)
    of_row[stays] = groups
    return of_row[rows], number


def released_records(plan: Plan, prepared: Prepared, recoding: Recoding) -> Classes:
    """Return the classes of a release, counted record by record from the columns of units.

    The search counts distinct rows instead; the two share no sums.
    """
    class_of, number = class_of_records(plan, prepared, recoding)
    return _classes(prepared, class_of, np.flatnonzero(class_of >= 0), number)


def all_records(prepared: Prepared) -> Classes:
    """Return one class of all records of the input, counted record by record."""
    rows = prepared.encoded.relation.rows
    return _classes(prepared, np.zeros(rows, dtype=np.int64), np.arange(rows), 1)


def _classes(prepared: Prepared, class_of: IntArray, records: IntArray, number: int) -> Classes:
    table, rows = prepared.problem.table, prepared.encoded.combination[records]
    sensitive = {
        each.name: SensitiveCodes(each, table.sensitive_codes(each.name)[rows].astype(np.int64))
        for each in table.sensitive
    }
    own = {name: each[records] for name, each in prepared.units.items()}
    units = units_of_rows(own, np.arange(len(records)), len(records))
    ones = np.ones(len(records), dtype=np.int64)
    return Classes(class_of[records], ones, number, sensitive, units)


def suppressed_records(plan: Plan, prepared: Prepared, recoding: Recoding) -> BoolArray:
    """Return which records of the input are suppressed, shape (records,)."""
    released = tuple(plan.released(prepared.encoded.relation.columns))
    rows = rows_of_records(prepared.encoded.relation, prepared.rows(recoding), recoding, released)
    return recoding.suppressed[rows]


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
    if plan.whole is not None and recoding is not None:
        units = prepared.units[plan.whole][suppressed_records(plan, prepared, recoding)]
        facts[plan.whole]["suppressed"] = len(np.unique(units[units >= 0])) + int((units < 0).sum())
    return facts or None


def unit_warnings(facts: dict[str, Any] | None) -> list[str]:
    """Return the warnings about units that each have one record, and about records without one.

    Parameters
    ----------
    facts: the ``units`` entry of the report.
    """
    warnings = []
    for name, own in (facts or {}).items():
        column, missing = own["column"], own["records_without"]
        if missing:
            warnings.append(
                f"column '{column}' is empty in {plural(missing, 'record')}; each of them counts as a "
                f"{name}: if several are of one, fill them in, or set input.missing_person to refuse"
            )
        elif own["units"] == own["records"]:
            warnings.append(
                f"column '{column}' has another value in every record, so that each {name} has one record"
            )
    return warnings
