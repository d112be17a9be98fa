"""The records of a run as they are released, for the measures of what they show."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from anonymizer.data.relation import Relation
from anonymizer.data.table import ColumnRequest, ReadColumn, read_columns
from anonymizer.errors import ConfigError, ConfigProblem, Exposed, listed, suggestion
from anonymizer.exposure.finding import Exposure, Finding, Remedy
from anonymizer.exposure.measure import detector_of, exposure_of
from anonymizer.exposure.records import ReleasedColumn, ReleasedRecords
from anonymizer.job.advice import SHOWN
from anonymizer.job.remedy import changes_of
from anonymizer.job.verify import Tables
from anonymizer.model.arrays import CodeArray, IntArray
from anonymizer.model.invocation import RunCommand
from anonymizer.model.recoding import GROUP, PublishedColumn
from anonymizer.model.report import Report
from anonymizer.model.table import LEFT_OUT, Role, ValueType
from anonymizer.model.units import HOUSEHOLD, PERSON, RECORD
from anonymizer.model.warning import Harm, Warned
from anonymizer.people.keys import repeating
from anonymizer.plan.assessment import Assessment
from anonymizer.plan.columns import Columns
from anonymizer.plan.goal import Goal
from anonymizer.plan.memory import EngineLimits
from anonymizer.plan.plan import Plan
from anonymizer.plan.prepared import Found
from anonymizer.release.query import rows_of_records
from anonymizer.report.exposure import but_of, said_of, seen_by_acquaintances
from anonymizer.report.facts import smallest_shown

BYTES = 32
"""Memory that the value of a column in one record takes while it is measured."""


def exposure_found(found: Found) -> Exposure | None:
    """Return what a release will show that was found and is not written yet; None where that is not known."""
    relation, plan = found.prepared.encoded.relation, found.prepared.plan
    if _placed_elsewhere(found) or not fits_in_memory(plan.engine, relation):
        return None
    return exposure_of(released_records(found), plan.assessment.exposure, plan.assessment.acknowledged)


def exposure_in(found: Found, tables: Tables) -> Exposure | None:
    """Return what a written release shows; None where its records do not fit into memory.

    Parameters
    ----------
    tables: of the release, which is read where it is not known what became of each record of the input.
    """
    plan = found.prepared.plan
    if not fits_in_memory(plan.engine, tables[0]):
        return None
    if not _placed_elsewhere(found):
        return exposure_of(released_records(found), plan.assessment.exposure, plan.assessment.acknowledged)
    numbers = {name: own for each in found.recoding.published() for name, own in _written_names(each)}
    return exposure_written(plan, tables[0], numbers)


def exposure_written(
    plan: Plan, release: Relation, numbers: Mapping[str, str] = MappingProxyType({})
) -> Exposure:
    """Return what a release shows of itself: the public kinds; ``numbers`` as for ``written_records``."""
    return exposure_of(
        written_records(plan.columns, plan.goal, release, numbers),
        plan.assessment.exposure,
        plan.assessment.acknowledged,
    )


def check_acknowledged(assessment: Assessment, columns: Collection[str]) -> None:
    """Check that acknowledged findings are of columns of the input.

    Raises
    ------
    ConfigError: one is not.
    """
    problems = []
    for place, name in enumerate(assessment.acknowledged):
        column = name.partition(":")[2]
        if column and column not in columns:
            what = f"'{name}' names no column of the input; {suggestion(column, columns)}"
            problems.append(ConfigProblem(f"acknowledge[{place}]", what))
    if problems:
        raise ConfigError(assessment.config, problems)


UNMEASURED = (
    "it was not measured what the columns of the release show together, as its records do not fit into "
    "memory; run a sample of the input"
)
"""Warning where that is so."""


def fits_in_memory(engine: EngineLimits, release: Relation) -> bool:
    """Return whether the records of a release can be read, and fit into memory."""
    return release.ordered and release.rows * len(release.columns) * BYTES <= engine.space


def _placed_elsewhere(found: Found) -> bool:
    """Return whether it is not known in memory what became of each record of the input."""
    problem, plan = found.prepared.problem, found.prepared.plan
    out_of_core = problem.source is not None and not plan.goal.algorithm.by_codes
    return plan.columns.applied or out_of_core or not found.prepared.encoded.relation.ordered


def unused_warnings(exposure: Exposure | None) -> list[str]:
    """Return the warning about acknowledged findings that did not occur."""
    names = () if exposure is None else exposure.unused
    if not names:
        return []
    return [Warned(f"acknowledge: {listed(names)} did not occur; remove what is no longer needed", Harm.NOTE)]


def refuse_exposed(report: Report) -> None:
    """Refuse a release that shows more than its constraints allow, before it is in its place.

    Raises
    ------
    Exposed: it does.
    """
    worst = but_of(report.to_dict())
    if worst is not None:
        what = f"SATISFIED, BUT {worst['sentence']}; nothing is released. Remedy: {worst['remedy']}"
        raise Exposed(what, report)


def released_records(found: Found) -> ReleasedRecords:
    """Return the released records of a run in memory, in the order of the input."""
    prepared, recoding = found.prepared, found.recoding
    plan, relation = prepared.plan, prepared.encoded.relation
    names = [name for name in plan.columns.released(relation.columns) if name in relation.columns]
    row = rows_of_records(relation, prepared.rows(recoding), recoding, names)
    kept = np.flatnonzero(~recoding.removed[row])
    shown = {each.name: each.codes[row[kept]] for each in recoding.published()}
    read = read_columns(
        relation,
        [_request(plan.columns, name) for name in _with_records(plan.columns, plan.goal, names)],
        plan.columns.missing,
    )
    units, homes = (prepared.units.get(each) for each in (PERSON, HOUSEHOLD))
    return ReleasedRecords(
        tuple(_column(plan.columns, relation, own, shown.get(name), kept) for name, own in read.items()),
        len(kept),
        plan.goal.k_of_reports or 2,
        RECORD if units is None else PERSON,
        None if units is None else units[kept],
        None if homes is None else homes[kept],
        dict(_keys(found, kept)),
        grouped=plan.goal.algorithm.in_groups,
    )


def written_records(
    planned: Columns, goal: Goal, release: Relation, numbers: Mapping[str, str] = MappingProxyType({})
) -> ReleasedRecords:
    """Return the records of a release as they are written, in its order.

    Parameters
    ----------
    numbers: the quasi-identifier of each column of numbers that one is released in.
    """
    roles = {
        name: _role(planned, numbers.get(name, name))
        for name in _with_records(planned, goal, release.columns)
    }
    names = [name for name, role in roles.items() if role not in LEFT_OUT and name != GROUP]
    texts = {name for name in names if name in numbers or roles[name] is Role.QUASI_IDENTIFIER}
    requests = [
        ColumnRequest(each, ValueType.TEXT) if each in texts else _request(planned, each) for each in names
    ]
    columns = []
    for name, read in read_columns(release, requests, planned.missing).items():
        codes = read.codes[release.codes(name)]
        columns.append(ReleasedColumn(name, roles[name], codes, codes, read.column.missing))
    k, grouped = goal.k_of_reports or 2, goal.algorithm.in_groups
    return ReleasedRecords(tuple(columns), release.rows, k, alone=True, grouped=grouped)


def _written_names(published: PublishedColumn) -> Iterator[tuple[str, str]]:
    """Yield the columns of numbers that a quasi-identifier is released in, with its name."""
    if published.numbers is not None:
        yield from ((name, published.name) for name in published.numbers.columns)


def _with_records(columns: Columns, goal: Goal, names: Iterable[str]) -> list[str]:
    """Return the columns that a release publishes with each record: Anatomy's sensitive one is in groups."""
    groups = goal.algorithm.in_groups
    return [name for name in names if not (groups and _role(columns, name) is Role.SENSITIVE)]


def _role(columns: Columns, name: str) -> Role:
    """Return the role of a released column; those outside the config are insensitive."""
    return columns[name].role if name in columns else Role.INSENSITIVE


def _request(columns: Columns, name: str) -> ColumnRequest:
    """Return how a released column is read; groups are the texts or midpoints that are published."""
    if name in columns:
        return columns.request(name, columns[name].type)
    return ColumnRequest(name, None)


def _column(
    columns: Columns, relation: Relation, read: ReadColumn, shown: CodeArray | None, kept: IntArray
) -> ReleasedColumn:
    column = read.column
    own = read.codes[relation.codes(column.name)][kept]
    return ReleasedColumn(
        column.name,
        _role(columns, column.name),
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
        if unit != PERSON or plan.counting.pseudonym is None:
            yield plan.counting.units[unit], codes[kept]
    known = set(plan.counting.units.values())
    roles = [(name, own.role) for name, own in plan.columns.items() if own.role in LEFT_OUT]
    dropped = [each for each in roles if each[0] in relation.columns and each[0] not in known]
    for key in repeating(relation, dropped, plan.counting.units):
        if key.name not in known:
            yield key.name, relation.unit_codes(key.name, set(plan.columns.missing))[kept]


def exposure_entry(
    plan: Plan, exposure: Exposure, mended: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """Return the ``exposure`` entry of the internal report, in which small numbers are words.

    Commands run in the folder of the config and leave releases of their own, after those of advice.

    Parameters
    ----------
    mended: what was changed in the config before; None where nobody asked for that.
    """
    smallest = smallest_shown(plan.goal.k_of_reports)
    commands = [
        None if plan.command is None else plan.command.beside(SHOWN + 1 + number)
        for number in range(len(exposure.findings) + 1)
    ]
    few = exposure.few()
    beside = zip(("unique", "below_k"), exposure.with_sensitive, strict=True)
    return {
        "unit": exposure.unit,
        "units": exposure.units,
        "unique": exposure.share(exposure.unique),
        "below_k": exposure.share(exposure.below_k),
        "with_sensitive": {name: exposure.share(number) for name, number in beside},
        "sentence": seen_by_acquaintances(exposure, smallest),
        **({} if few is None else {"mend": _mend(plan, few, exposure.k, commands[-1])}),
        "findings": [
            _entry(plan, each, exposure, command)
            for each, command in zip(exposure.findings, commands, strict=False)
        ],
        **({} if mended is None else {"mended": mended}),
        "acknowledged": [each.names[0] for each in exposure.acknowledged],
        "unused": list(exposure.unused),
        "left_out": list(exposure.left_out),
        "public": [{"kind": kind.value, "exceeded": exceeded} for kind, exceeded in exposure.public.items()],
    }


def _entry(plan: Plan, finding: Finding, exposure: Exposure, command: RunCommand | None) -> dict[str, Any]:
    remedy = finding.remedy
    assert remedy is not None, "a measured finding has one"
    said = said_of(finding, exposure, smallest_shown(plan.goal.k_of_reports))
    return {
        "kind": finding.kind.value,
        "columns": list(finding.columns),
        **({"about": finding.about} if finding.about else {}),
        "records": finding.records,
        "share": finding.share,
        "threshold": finding.threshold,
        "sentence": detector_of(finding.kind).sentence(finding, said),
        **_mend(plan, remedy, exposure.k, command),
    }


def _mend(plan: Plan, remedy: Remedy, k: int, command: RunCommand | None) -> dict[str, Any]:
    """Return a remedy as a command, in words, and as overrides of the config."""
    changes = changes_of(plan, remedy, k)
    run = None if command is None or not changes else str(command.changed(*changes))
    return {"remedy": run or remedy.words, "because": remedy.words, "set": changes}
