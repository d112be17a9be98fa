"""The records of a run as they are released, for the measures of what they show."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from anonymizer.data.relation import Relation
from anonymizer.data.table import ColumnRequest, ReadColumn, read_columns
from anonymizer.errors import ConfigError, ConfigProblem, Exposed, listed, suggestion
from anonymizer.exposure.counted import CountedColumn, CountedRelease, Rows
from anonymizer.exposure.finding import Exposure, Finding, Remedy
from anonymizer.exposure.measure import detector_of, exposure_of
from anonymizer.exposure.records import ReleasedColumn, ReleasedRecords
from anonymizer.job.advice import SHOWN
from anonymizer.job.remedy import changes_of
from anonymizer.job.verify import Tables
from anonymizer.model.arrays import CodeArray, IntArray
from anonymizer.model.invocation import RunCommand
from anonymizer.model.recoding import GROUP, PublishedColumn, Recoding
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
from anonymizer.report.small_counts import smallest_shown

AnyCodes = TypeVar("AnyCodes", CodeArray, IntArray)

BYTES = 32
"""Memory that the value of a column in one record takes while it is measured."""


def exposure_found(found: Found) -> Exposure | None:
    """Return what a release will show that was found and is not written yet; None where that is not known."""
    relation, plan = found.prepared.encoded.relation, found.prepared.plan
    if _placed_elsewhere(found) or not fits_in_memory(plan.engine, relation):
        return None
    return exposure_of(release_of(found), plan.assessment.exposure, plan.assessment.acknowledged)


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
        return exposure_of(release_of(found), plan.assessment.exposure, plan.assessment.acknowledged)
    numbers = {name: own for each in found.recoding.merged.published() for name, own in _written_names(each)}
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


def release_of(found: Found) -> ReleasedRecords | CountedRelease:
    """Return the release of a run in memory: by distinct rows if it has no other columns, else by records."""
    prepared, plan, recoding = found.prepared, found.prepared.plan, found.recoding
    table, names = recoding.table, _names(found)
    own = {each.name: place for place, each in enumerate(table.quasi_identifiers)}
    known = own | {each: len(own) + place for place, each in enumerate(table.sensitive_names)}
    of_table = prepared.problem.source is None and known.keys() >= set(names)
    keys = _repeating_keys(found)
    if not of_table or prepared.units or keys:
        return _records(found, keys)
    rows = Rows(table.counts, recoding.removed)
    columns = tuple(
        CountedColumn(
            name,
            _role(plan.columns, name),
            rows,
            table.codes[:, known[name]],
            partial(_shown, recoding, own[name]) if name in own else None,
            read.column.missing,
            read.column.numbers,
            read.column.type is ValueType.DATE,
        )
        for name, read in _read(found, names).items()
    )
    return CountedRelease(_published(found, columns), columns, rows, partial(_records, found, keys))


def _shown(recoding: Recoding, position: int) -> tuple[CodeArray, int]:
    """Return the code of the published value of each row, and the number of codes."""
    cells, kept_suppressed = recoding.cells(position), recoding.suppressed & ~recoding.removed
    if len(set(cells.labels)) == len(cells.labels) and not kept_suppressed.any():
        # Where all texts differ, each value has one.
        return cells.codes, len(cells.labels)
    published = recoding.published_column(position)
    return published.codes, len(published.labels)


def _published(found: Found, columns: Iterable[CountedColumn]) -> ReleasedRecords:
    """Return what is published of columns of the table, equal records counted."""
    goal, recoding = found.prepared.plan.goal, found.recoding.merged
    table, kept = recoding.table, ~recoding.removed
    codes = {each.name: each.codes[kept] for each in recoding.published()}
    codes |= {name: table.sensitive_codes(name)[kept] for name in table.sensitive_names}
    shown = tuple(
        ReleasedColumn(
            each.name, each.role, codes[each.name], codes[each.name], each.absent, each.numbers, each.days
        )
        for each in columns
    )
    counts = table.counts[kept]
    k, grouped = goal.k_of_reports or 2, goal.algorithm.in_groups
    return ReleasedRecords(shown, int(counts.sum()), k, grouped=grouped, counts=counts)


def released_records(found: Found) -> ReleasedRecords:
    """Return the released records of a run in memory, in the order of the input."""
    return _records(found, _repeating_keys(found))


def _records(found: Found, repeating: Sequence[str]) -> ReleasedRecords:
    prepared, recoding = found.prepared, found.recoding
    plan, relation = prepared.plan, prepared.encoded.relation
    released = [name for name in plan.columns.released(relation.columns) if name in relation.columns]
    row = rows_of_records(relation, prepared.rows(recoding), recoding, released)
    kept = None
    if recoding.removed.any():
        kept = np.flatnonzero(~recoding.removed[row])
        row = row[kept]
    units, homes = (
        None if each is None else _of(kept, each)
        for each in (prepared.units.get(name) for name in (PERSON, HOUSEHOLD))
    )
    return ReleasedRecords(
        tuple(_columns(found, row, kept)),
        len(row),
        plan.goal.k_of_reports or 2,
        RECORD if units is None else PERSON,
        units,
        homes,
        {name: _of(kept, key) for name, key in _keys(found, repeating)},
        grouped=plan.goal.algorithm.in_groups,
    )


def _names(found: Found) -> list[str]:
    """Return the columns of the input that are released with each record."""
    plan, relation = found.prepared.plan, found.prepared.encoded.relation
    names = [name for name in plan.columns.released(relation.columns) if name in relation.columns]
    return _with_records(plan.columns, plan.goal, names)


def _read(found: Found, names: Iterable[str]) -> dict[str, ReadColumn]:
    """Return the distinct values of released columns; those that the search has are not read again."""
    prepared, plan = found.prepared, found.prepared.plan
    searched = {each.column.name: each for each in prepared.encoded.columns}
    roles = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
    read = {name: searched[name] for name in names if name in searched and _role(plan.columns, name) in roles}
    others = [_request(plan.columns, name) for name in names if name not in read]
    read |= read_columns(prepared.encoded.relation, others, plan.columns.missing)
    return {name: read[name] for name in names}


def _of(kept: IntArray | None, codes: AnyCodes) -> AnyCodes:
    """Return the values of the records that are released; None for all."""
    return codes if kept is None else codes[kept]


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
        return replace(columns.request(name, columns[name].type), unchanged=True)
    return ColumnRequest(name, None, unchanged=True)


def _columns(found: Found, row: CodeArray, kept: IntArray | None) -> Iterator[ReleasedColumn]:
    """Yield the released columns by records.

    Parameters
    ----------
    row: of the recoding's table, of each released record.
    kept: these records of the input; None for all.
    """
    prepared, columns, recoding = found.prepared, found.prepared.plan.columns, found.recoding
    relation, table = prepared.encoded.relation, recoding.table
    places = {each.name: place for place, each in enumerate(table.quasi_identifiers)}
    for name, read in _read(found, _names(found)).items():
        if name in places and prepared.problem.source is None:
            own = table.quasi_identifier_codes(places[name])[row]
        else:
            own = read.codes[_of(kept, relation.codes(name))]
        shown = own if name not in places else recoding.published_column(places[name]).codes[row]
        column = read.column
        yield ReleasedColumn(
            name,
            _role(columns, name),
            shown,
            own,
            column.missing,
            column.numbers,
            column.type is ValueType.DATE,
        )


def _keys(found: Found, repeating: Sequence[str]) -> Iterator[tuple[str, IntArray]]:
    """Yield the keys of units that the release leaves out, with the key of each record of the input."""
    prepared = found.prepared
    plan, relation = prepared.plan, prepared.encoded.relation
    for unit, codes in prepared.units.items():
        if unit != PERSON or plan.counting.pseudonym is None:
            yield plan.counting.units[unit], codes
    for name in repeating:
        yield name, relation.unit_codes(name, set(plan.columns.missing))


def _repeating_keys(found: Found) -> list[str]:
    """Return the columns that the release leaves out and that repeat as keys do, but for known ones."""
    plan, relation = found.prepared.plan, found.prepared.encoded.relation
    known = set(plan.counting.units.values())
    roles = [(name, own.role) for name, own in plan.columns.items() if own.role in LEFT_OUT]
    dropped = [each for each in roles if each[0] in relation.columns and each[0] not in known]
    return [key.name for key in repeating(relation, dropped, plan.counting.units) if key.name not in known]


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
