"""The records of a run as they are released, for the measures of what they show."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from anonymizer.config.search import EngineName
from anonymizer.config.section import dotted
from anonymizer.data.relation import Relation
from anonymizer.data.table import ColumnRequest, ReadColumn, read_columns
from anonymizer.errors import ConfigError, ConfigProblem, Exposed, listed, suggestion
from anonymizer.exposure.finding import Exposure, Finding
from anonymizer.exposure.measure import detector_of, exposure_of
from anonymizer.exposure.records import ReleasedColumn, ReleasedRecords
from anonymizer.job.advice import SHOWN
from anonymizer.model.arrays import CodeArray, IntArray
from anonymizer.model.invocation import RunCommand
from anonymizer.model.report import Report
from anonymizer.model.table import LEFT_OUT, Role, ValueType
from anonymizer.model.units import PERSON, RECORD
from anonymizer.people.keys import repeating
from anonymizer.plan.plan import Plan
from anonymizer.plan.prepared import Found
from anonymizer.release.query import rows_of_records
from anonymizer.report.exposure import but_of, said_of
from anonymizer.report.facts import smallest_shown

BYTES = 32
"""Memory that the value of a column in one record takes while it is measured."""


def exposure_section(found: Found) -> dict[str, Any] | None:
    """Return the ``exposure`` entry of the report; None where the records do not fit into memory."""
    prepared = found.prepared
    plan = prepared.plan
    if unmeasurable(found) is not None:
        return None
    exposure = exposure_of(released_records(found), plan.exposure, plan.acknowledged)
    roles = {name: each.role for name, each in plan.columns.items()}
    return exposure_entry(exposure, roles, plan.command, smallest_shown(plan.k_of_reports))


def check_acknowledged(plan: Plan, columns: Collection[str]) -> None:
    """Check that acknowledged findings are of columns of the input.

    Raises
    ------
    ConfigError: one is not.
    """
    problems = []
    for place, name in enumerate(plan.acknowledged):
        column = name.partition(":")[2]
        if column and column not in columns:
            what = f"'{name}' names no column of the input; {suggestion(column, columns)}"
            problems.append(ConfigProblem(f"acknowledge[{place}]", what))
    if problems:
        raise ConfigError(plan.config, problems)


def unmeasurable(found: Found) -> str | None:
    """Return why it is not measured what a release shows, as a warning; None if it is."""
    prepared = found.prepared
    plan, relation = prepared.plan, prepared.encoded.relation
    what = "it was not measured what the columns of the release show together"
    if plan.engine.name not in set(EngineName):
        return f"{what}, as engine {plan.engine.name} counts records where they are; try a sample with duckdb"
    if prepared.problem.placing:
        return f"{what}, as the records are placed in their classes out of core; try a sample"
    columns = len(plan.released(relation.columns))
    if relation.rows * columns * BYTES > plan.engine.space:
        return f"{what}, as {relation.rows:,} records of {columns:,} columns need more memory; check a sample"
    return None


def unused_warnings(section: Mapping[str, Any] | None) -> list[str]:
    """Return the warning about acknowledged findings that did not occur."""
    names = [] if section is None else section["unused"]
    return [f"acknowledge: {listed(names)} did not occur; remove what is no longer needed"] if names else []


def refuse_exposed(report: Report) -> None:
    """Refuse a release that shows more than its constraints allow, before it is in its place.

    Raises
    ------
    Exposed: it does.
    """
    worst = but_of(report.to_dict())
    if worst is not None:
        raise Exposed(f"SATISFIED, BUT {worst['sentence']}; nothing is released. Remedy: {worst['remedy']}")


def released_records(found: Found) -> ReleasedRecords:
    """Return the released records of a run in memory, in the order of the input."""
    prepared, recoding = found.prepared, found.recoding
    plan, relation = prepared.plan, prepared.encoded.relation
    names = [name for name in plan.released(relation.columns) if name in relation.columns]
    row = rows_of_records(relation, prepared.rows(recoding), recoding, names)
    kept = np.flatnonzero(~recoding.removed[row])
    shown = {each.name: each.codes[row[kept]] for each in recoding.published()}
    read = read_columns(relation, [_request(plan, name) for name in names], plan.missing)
    columns = tuple(_column(plan, relation, own, shown.get(name), kept) for name, own in read.items())
    units = prepared.units.get(PERSON)
    return ReleasedRecords(
        columns,
        len(kept),
        plan.k_of_reports or 2,
        RECORD if units is None else PERSON,
        None if units is None else units[kept],
        dict(_keys(found, kept)),
    )


def _request(plan: Plan, name: str) -> ColumnRequest:
    """Return how a released column is read; groups are the texts that are published."""
    if name in plan.columns and name not in plan.bands:
        return plan.request(name, plan.columns[name].type)
    return ColumnRequest(name, None if name not in plan.bands else ValueType.TEXT)


def _column(
    plan: Plan, relation: Relation, read: ReadColumn, shown: CodeArray | None, kept: IntArray
) -> ReleasedColumn:
    column = read.column
    own = read.codes[relation.codes(column.name)][kept]
    role = plan.columns[column.name].role if column.name in plan.columns else Role.INSENSITIVE
    return ReleasedColumn(
        column.name,
        role,
        own if shown is None else shown,
        own,
        column.missing,
        column.numbers,
        column.type is ValueType.DATE,
    )


def _keys(found: Found, kept: IntArray) -> Iterator[tuple[str, IntArray]]:
    """Yield the keys of units that the release leaves out, with the key of each record."""
    prepared = found.prepared
    plan, relation = prepared.plan, prepared.encoded.relation
    for unit, codes in prepared.units.items():
        if unit != PERSON or plan.pseudonym is None:
            yield plan.units[unit], codes[kept]
    known = set(plan.units.values())
    roles = [(name, own.role) for name, own in plan.columns.items() if own.role in LEFT_OUT]
    dropped = [(name, None) for name, _ in roles if name in relation.columns and name not in known]
    for key in repeating(relation, dropped, plan.units):
        if key.name not in known:
            yield key.name, relation.unit_codes(key.name, set(plan.missing))[kept]


def exposure_entry(
    exposure: Exposure, roles: Mapping[str, Role], command: RunCommand | None, smallest: int
) -> dict[str, Any]:
    """Return the ``exposure`` entry of the internal report.

    Commands run in the folder of the config and leave releases of their own, after those of advice.

    Parameters
    ----------
    roles: of columns.
    command: that started the run; None for a run on a data frame.
    smallest: smaller numbers are words in the sentences.
    """
    beside = zip(("unique", "below_k"), exposure.with_sensitive, strict=True)
    return {
        "unit": exposure.unit,
        "units": exposure.units,
        "unique": exposure.share(exposure.unique),
        "below_k": exposure.share(exposure.below_k),
        "with_sensitive": {name: exposure.share(number) for name, number in beside},
        "findings": [
            _entry(each, exposure, roles, None if command is None else command.beside(number), smallest)
            for number, each in enumerate(exposure.findings, start=SHOWN + 1)
        ],
        "acknowledged": [each.names[0] for each in exposure.acknowledged],
        "unused": list(exposure.unused),
        "left_out": list(exposure.left_out),
        "public": [{"kind": kind.value, "exceeded": exceeded} for kind, exceeded in exposure.public.items()],
    }


def _entry(
    finding: Finding,
    exposure: Exposure,
    roles: Mapping[str, Role],
    command: RunCommand | None,
    smallest: int,
) -> dict[str, Any]:
    detector = detector_of(finding)
    remedy = detector.remedy(finding, roles)
    changes = [
        *(f"{dotted(('attributes', name))}={role.value}" for name, role in remedy.roles.items()),
        *(f"{dotted(('attributes', name, 'release'))}=false" for name in remedy.withheld),
    ]
    run = None if command is None or not changes else str(command.changed(*changes))
    return {
        "kind": finding.kind.value,
        "columns": list(finding.columns),
        **({"about": finding.about} if finding.about else {}),
        "records": finding.records,
        "share": finding.share,
        "threshold": finding.threshold,
        "sentence": detector.sentence(finding, said_of(finding, exposure, smallest)),
        "remedy": run or remedy.words,
        "set": changes,
    }
