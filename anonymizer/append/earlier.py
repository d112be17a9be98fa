"""The earlier run that a batch is appended to: its report, stored recoding and release, checked to agree.

The config must request the same as the earlier run. Values of the batch are placed in the hierarchies like
equal values in the earlier run. If distinct rows do not fit in memory, they are distinguished only as far as
the earlier recoding does.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, Field

from anonymizer.audit.claims import parse_report
from anonymizer.config.features import promises_of
from anonymizer.config.files import ReportedText
from anonymizer.config.load import load_config
from anonymizer.config.model import Config, Origin
from anonymizer.data.relation import Relation
from anonymizer.data.table import ReadColumn, recoded_as
from anonymizer.data.values import Key, key_of
from anonymizer.errors import ConfigError, ConfigProblem, DataError, InputError, listed, plural, suggestion
from anonymizer.hierarchy.source import HierarchySource
from anonymizer.job.table import check_search, problem_of, read_attributes
from anonymizer.model.feature_rows import Stage
from anonymizer.model.labels import NumberLabels
from anonymizer.model.report import Report
from anonymizer.model.table import Role, ValueType
from anonymizer.plan.counted import row_limit_message
from anonymizer.plan.plan import Plan, plan_of
from anonymizer.plan.prepared import Prepared
from anonymizer.release.folder import PUBLIC_REPORT, RECODING, SHARE
from anonymizer.release.recoding import StoredRecoding, parse_kept
from anonymizer.report.public import public_report
from anonymizer.system import check_file

ACCEPTED = "accepted: report.json of a run that ended with a release"

MISSING_FILE = "apply needs this file of the earlier run, next to {place}; put it back, or check apply.report"

COMPARED = ("config", "attributes", "release", "constraints", "recoding")
"""Sections that must agree in the public and the internal report of the earlier run."""


class _File(BaseModel, defer_build=True):
    path: str
    sha256: str


class _Release(_File, ReportedText):
    rows: int
    verified: Literal[True]


class _Search(BaseModel, defer_build=True):
    algorithm: str


class _Attribute(BaseModel, defer_build=True):
    role: str
    type: ValueType | None
    hierarchy_sha256: str | None


class PreviousReport(BaseModel, defer_build=True):
    """What the report of an earlier run must contain."""

    version: Literal[1] = Field(alias="schema")
    status: Literal["satisfied"]
    config: dict[str, Any]
    attributes: dict[str, _Attribute]
    release: _Release
    search: _Search
    recoding: dict[str, Any]
    recoding_file: _File | None = None


@dataclass(frozen=True, eq=False)
class Previous:
    """An earlier run whose recoding is to be applied.

    Attributes
    ----------
    path: of its report.
    reported: its content.
    config: of that run, from its report.
    release: path of the released file.
    recoding: to apply.
    files: every file of the earlier run that is read.
    """

    path: Path
    reported: PreviousReport
    config: Config
    release: Path
    recoding: StoredRecoding
    files: tuple[Path, ...]

    @property
    def types(self) -> dict[str, ValueType | None]:
        """The types of the columns by name; None if the type has no effect."""
        return {name: each.type for name, each in self.reported.attributes.items()}


def read_previous(path: Path) -> Previous:
    """Read an earlier run from its report.

    Raises
    ------
    InputError: the report is missing, its recoding cannot be applied to other records, or the files of the
        earlier run do not belong together.
    """
    content = _read(path, ACCEPTED)
    found = parse_report(PreviousReport, path, content, ACCEPTED)
    if found.recoding_file is None:
        if (path.parent / RECODING).exists():
            raise InputError(
                f"{path}: does not mention {RECODING}, which is in its folder; use the unchanged report of "
                "that run"
            )
        raise InputError(
            f"{path}: the recoding by algorithm {found.search.algorithm} cannot be applied to new records; "
            "accepted: a run of lattice, or of mondrian in strict mode with labels hierarchy, without "
            "suppressed cells"
        )
    if not found.release.path.startswith(f"{SHARE}/"):
        raise InputError(
            f"{path}: the earlier release is '{found.release.path}'; accepted: a file in {SHARE}/"
        )
    folder = path.parent
    kept = folder / found.recoding_file.path
    recoding = _whole(kept, found.recoding_file.sha256, path.name)
    config = _config(path, found.config)
    _compare_reports(path, content, config)
    parsed = parse_kept(str(kept), recoding)
    if parsed.levels != found.recoding.get("levels"):
        raise InputError(f"{kept}: its levels differ from those in {path.name}")
    release = folder / found.release.path
    files = (path, kept, release, folder / SHARE / PUBLIC_REPORT)
    return Previous(path, found, config, release, parsed, files)


def _read(path: Path, accepted: str) -> bytes:
    try:
        return check_file(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; {accepted}") from None


def _whole(kept: Path, sha256: str, report: str) -> bytes:
    """Return the content of recoding.json, checked against the SHA-256 in the report."""
    content = _read(kept, MISSING_FILE.format(place=report))
    if hashlib.sha256(content).hexdigest() != sha256:
        raise InputError(
            f"{kept}: is not the recoding that belongs to {report} (SHA-256 differs); "
            "restore the file of that run"
        )
    return content


def _config(path: Path, content: dict[str, Any]) -> Config:
    try:
        return load_config(content).located(Origin(str(path), path.parent))
    except ConfigError as error:
        first = error.problems[0]
        raise InputError(f"{path}: its config has a problem: {first}") from None


def _compare_reports(path: Path, content: bytes, config: Config) -> None:
    """Check that the public report of a release agrees with the internal one.

    Raises
    ------
    InputError: the public report is missing, or one of the two was changed.
    """
    public = path.parent / SHARE / PUBLIC_REPORT
    try:
        claimed = json.loads(_read(public, MISSING_FILE.format(place="the release")))
    except ValueError:
        raise InputError(f"{public}: is not JSON") from None
    try:
        expected = public_report(Report(json.loads(content)), plan_of(config).k_of_reports).to_dict()
    except (KeyError, TypeError, AttributeError):
        raise InputError(f"{path}: is not the report of a release; {ACCEPTED}") from None
    for key in COMPARED:
        if not isinstance(claimed, dict) or claimed.get(key) != expected[key]:
            raise InputError(
                f"{public}: '{key}' differs from {path.name}; one of the two files was changed; "
                "restore both from the earlier run"
            )


@dataclass(frozen=True, eq=False)
class NewRecords:
    """The records to append.

    Attributes
    ----------
    prepared: the records as a problem, with the column types of the earlier run.
    sources: hierarchies by name, which place values like those of the earlier run.
    """

    prepared: Prepared
    sources: Mapping[str, HierarchySource[Any]]


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
    InputError: a value is not of the column's type or not in its hierarchy, the hierarchy would differ for
        these records, or a search that may follow needs all distinct rows in memory.
    """
    typed = plan.typed(previous.types, "the earlier run")
    columns = read_attributes(typed, relation)
    check_columns_of(earlier, relation, typed)
    for name in typed.with_role(Role.QUASI_IDENTIFIER):
        spellings = previous.recoding.spellings(name)
        if spellings is not None:
            columns[name] = _respelled(columns[name], earlier, spellings)
    sources = _sources(typed, previous, columns)
    prepared = problem_of(typed, relation, columns, sources)
    if searches:
        check_search(prepared)
    return NewRecords(prepared, sources)


def check_columns_of(earlier: Relation, relation: Relation, plan: Plan) -> None:
    """Check that the earlier release and the new records have the same released columns.

    Raises
    ------
    DataError: they differ.
    """
    expected = set(plan.released(relation.columns))
    if set(earlier.columns) != expected:
        raise DataError(
            f"{earlier.name}: has columns {', '.join(earlier.columns)}; {relation.name} would be released "
            f"with {', '.join(sorted(expected))}"
        )


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


def _sources(
    plan: Plan, previous: Previous, columns: Mapping[str, ReadColumn]
) -> dict[str, HierarchySource[Any]]:
    sources = {}
    for name, before in previous.recoding.depends_on.items():
        hierarchy = plan.columns[name].hierarchy
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


REMEDY = "use the value of the earlier run, or run without apply"


def check_compatible(config: Config, previous: Previous) -> None:
    """Check that the config promises the same as the earlier run.

    Raises
    ------
    ConfigError: settings differ, or a constraint needs the earlier original records.
    """
    problems = [*_attributes(config, previous), *_constraints(config, previous), *_promises(previous.config)]
    if problems:
        raise ConfigError(config.source, problems)


def _attributes(config: Config, previous: Previous) -> Iterator[ConfigProblem]:
    for name in previous.config.attributes:
        if name not in config.attributes:
            what = "missing; the earlier run has this column; add it, or run without apply"
            yield ConfigProblem(f"attributes.{name}", what)
    plan = plan_of(config)
    for name, settings in config.attributes.items():
        where = f"attributes.{name}"
        if name not in previous.config.attributes:
            yield ConfigProblem(
                where, f"the earlier run has no such column; {suggestion(name, previous.types)}"
            )
            continue
        own, other = settings.to_dict(), previous.config.attributes[name].to_dict()
        # Two spellings of dates that are not generalized would reveal which records are new.
        spelled = ("format", "pivot") if settings.role is Role.SENSITIVE else ()
        for key in ("role", "type", *spelled, "levels", "distance"):
            if own.get(key) != other.get(key) and not (
                key == "type" and own.get(key) == previous.types.get(name)
            ):
                yield ConfigProblem(f"{where}.{key}", _differs(own.get(key), other.get(key)))
        earlier = previous.config.attributes[name]
        if earlier.number_labels is not NumberLabels.RANGE or earlier.bands or settings.bands:
            what = f"the earlier run has labels: {earlier.labels}, so apply cannot add records to its release"
            if earlier.labels is None:
                what = f"'{settings.labels}'; the earlier run released the values as they are"
            yield ConfigProblem(f"{where}.labels", f"{what}; run on all records without apply")
        reported = previous.reported.attributes.get(name)
        if plan.digest(name) != (None if reported is None else reported.hierarchy_sha256):
            what = "differs from the hierarchy of the earlier run (SHA-256)"
            yield ConfigProblem(
                f"{where}.hierarchy", f"{what}; use the hierarchy of the earlier run, or run without apply"
            )


def _constraints(config: Config, previous: Previous) -> Iterator[ConfigProblem]:
    own = [each.to_dict() for each in config.constraints]
    other = [each.to_dict() for each in previous.config.constraints]
    if len(own) != len(other):
        number = plural(len(own), "constraint")
        what = f"{number}, but the earlier run has {len(other)}"
        yield ConfigProblem("constraints", f"{what}; use those of the earlier run, or run without apply")
    for position, (one, before) in enumerate(zip(own, other, strict=False)):
        if one != before:
            yield ConfigProblem(f"constraints[{position}]", _differs(one, before))
    decimal = "input.decimal" if config.output.decimal is None else "output.decimal"
    now, then = (
        {
            "reference": each.reference.value,
            "input.missing": list(each.input.missing),
            "output.missing": each.output.missing,
            decimal: each.numerals.decimal,
        }
        for each in (config, previous.config)
    )
    yield from (ConfigProblem(key, _differs(now[key], then[key])) for key in now if now[key] != then[key])
    yield from config.problems_at(Stage.APPEND)


def _promises(earlier: Config) -> Iterator[ConfigProblem]:
    """Yield what the earlier run promises beyond its constraints, which no config with ``apply`` can."""
    found = [each.value for each in promises_of(earlier)]
    if found:
        what = f"the earlier run has {listed(found)}, which cannot be checked on appended records"
        yield ConfigProblem("apply", f"{what}; run on all records without apply")


def _differs(own: Any, other: Any) -> str:
    return f"{_as_written(own)}, but the earlier run has {_as_written(other)}; {REMEDY}"


def _as_written(value: Any) -> str:
    """Return a value of the config for a message: a list or mapping as YAML on one line."""
    if isinstance(value, str):
        return repr(value)
    if value is None:
        return "nothing"
    written = yaml.safe_dump(
        [value], default_flow_style=True, sort_keys=False, width=2**31, allow_unicode=True
    )
    return written.strip()[1:-1]
