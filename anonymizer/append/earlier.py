"""The earlier run that a batch is appended to: its report, stored recoding and release, checked to agree.

The config must request the same as the earlier run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, Field

from anonymizer.audit.claims import parse_report
from anonymizer.config.features import promises_of
from anonymizer.config.files import ReportedText
from anonymizer.config.load import load_config
from anonymizer.config.model import Config, Origin
from anonymizer.config.section import KeyPath, dotted
from anonymizer.errors import ConfigError, ConfigProblem, InputError, listed, plural, suggestion
from anonymizer.model.feature_rows import Stage
from anonymizer.model.labels import NumberLabels
from anonymizer.model.report import Report
from anonymizer.model.table import Role, ValueType
from anonymizer.plan.plan import plan_of
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
            "accepted: a run of lattice, of local, or of mondrian in strict mode with labels hierarchy, "
            "without suppressed cells; run the earlier records again with algorithm: {name: auto, recoding: "
            "full-domain}, whose release new records can always join"
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
        expected = public_report(Report(json.loads(content)), plan_of(config).goal.k_of_reports).to_dict()
    except (KeyError, TypeError, AttributeError):
        raise InputError(f"{path}: is not the report of a release; {ACCEPTED}") from None
    for key in COMPARED:
        if not isinstance(claimed, dict) or claimed.get(key) != expected[key]:
            raise InputError(
                f"{public}: '{key}' differs from {path.name}; one of the two files was changed; "
                "restore both from the earlier run"
            )


REMEDY = "use the value of the earlier run, or run without apply"


def check_compatible(config: Config, previous: Previous) -> None:
    """Check that the config promises the same as the earlier run.

    Raises
    ------
    ConfigError: settings differ, or a constraint needs the earlier original records.
    """
    problems = [*_lacking(config, previous), *_differences(config, previous), *_published(config, previous)]
    problems += [*config.problems_at(Stage.APPEND), *_promises(previous.config)]
    if problems:
        raise ConfigError(config.source, problems)


MAY_DIFFER: Mapping[str, Collection[str] | None] = {
    # Hierarchies are compared by their digests, labels are refused, and weights change the objective alone.
    "attributes": ("weight", "hierarchy", "labels"),
    "input": (
        *("path", "database", "url", "table", "query", "allow_files", "separator", "encoding", "decimal"),
        *("strict_header", "person", "household", "units", "missing_person", "control", "population"),
    ),
    "output": ("path", "database", "url", "table", "order", "separator", "encoding", "decimal"),
    **dict.fromkeys(("scenarios", "suppression", "algorithm", "objective", "budget", "bound", "engine")),
    **dict.fromkeys(("attacks", "utility", "attackers", "acknowledge", "exposure", "preset", "apply")),
    **dict.fromkeys(("seed", "sign", "steps")),
}
"""Keys that a config may have otherwise than the earlier run, by section; None for the whole section.

All others decide how values are read and published, or what is promised: a new key must be the same, too.
What the earlier run promises beyond its constraints is refused by itself, see ``promises_of``.
"""


def binding_settings(config: Config, columns: Collection[str], constraints: int) -> dict[KeyPath, Any]:
    """Return the settings that must be those of the earlier run, by key.

    Parameters
    ----------
    columns: that both configs have.
    constraints: number of them that both configs have.
    """
    written, found = config.to_dict(), dict[KeyPath, Any]()
    for name in [each for each in config.attributes if each in columns]:
        settings = config.attributes[name]
        # Two spellings of dates that are not generalized would reveal which records are new.
        spelling = () if settings.role is Role.SENSITIVE else ("format", "pivot")
        kept = {key: own for key, own in settings.to_dict().items() if key not in spelling}
        found |= {("attributes", name, key): own for key, own in kept.items()}
    found |= {("constraints", place): own for place, own in enumerate(written["constraints"][:constraints])}
    for section, own in written.items():
        if section in ("attributes", "constraints"):
            continue
        keyed = isinstance(own, Mapping) and own
        found |= {(section, key): value for key, value in own.items()} if keyed else {(section,): own}
    free = {key for key in found if key[0] in MAY_DIFFER and key[-1] in (MAY_DIFFER[str(key[0])] or key)}
    return {key: own for key, own in found.items() if key not in free}


def _differences(config: Config, previous: Previous) -> Iterator[ConfigProblem]:
    """Yield the settings that differ, of the columns and constraints that both configs have."""
    earlier = previous.config
    columns = config.attributes.keys() & earlier.attributes.keys()
    number = min(len(config.constraints), len(earlier.constraints))
    own, before = (binding_settings(each, columns, number) for each in (config, earlier))
    decimal = ("input" if config.output.decimal is None else "output", "decimal")
    own[decimal], before[decimal] = config.numerals.decimal, earlier.numerals.decimal
    for name, found in previous.types.items():
        column: KeyPath = ("attributes", name, "type")
        if own.get(column) == found:
            before[column] = found
    for key in dict.fromkeys([*own, *before]):
        if own.get(key) != before.get(key):
            what = f"{_as_written(own.get(key))}, but the earlier run has {_as_written(before.get(key))}"
            yield ConfigProblem(dotted(key), f"{what}; {REMEDY}")


def _lacking(config: Config, previous: Previous) -> Iterator[ConfigProblem]:
    """Yield the columns and constraints that only one of both configs has."""
    for name in previous.config.attributes:
        if name not in config.attributes:
            what = "missing; the earlier run has this column; add it, or run without apply"
            yield ConfigProblem(f"attributes.{name}", what)
    for name in config.attributes:
        if name not in previous.config.attributes:
            what = f"the earlier run has no such column; {suggestion(name, previous.types)}"
            yield ConfigProblem(f"attributes.{name}", what)
    own, other = len(config.constraints), len(previous.config.constraints)
    if own != other:
        what = f"{plural(own, 'constraint')}, but the earlier run has {other}"
        yield ConfigProblem("constraints", f"{what}; use those of the earlier run, or run without apply")


def _published(config: Config, previous: Previous) -> Iterator[ConfigProblem]:
    """Yield the columns with labels that cannot be appended to, or with another hierarchy."""
    plan = plan_of(config)
    for name in [each for each in config.attributes if each in previous.config.attributes]:
        settings, earlier = config.attributes[name], previous.config.attributes[name]
        if earlier.number_labels is not NumberLabels.RANGE or earlier.bands or settings.bands:
            what = f"the earlier run has labels: {earlier.labels}, so apply cannot add records to its release"
            if earlier.labels is None:
                what = f"'{settings.labels}'; the earlier run released the values as they are"
            yield ConfigProblem(f"attributes.{name}.labels", f"{what}; run on all records without apply")
        reported = previous.reported.attributes.get(name)
        if plan.columns.digest(name) != (None if reported is None else reported.hierarchy_sha256):
            what = "differs from the hierarchy of the earlier run (SHA-256)"
            remedy = "use the hierarchy of the earlier run, or run without apply"
            yield ConfigProblem(f"attributes.{name}.hierarchy", f"{what}; {remedy}")


def _promises(earlier: Config) -> Iterator[ConfigProblem]:
    """Yield what the earlier run promises beyond its constraints, which no config with ``apply`` can."""
    found = [each.value for each in promises_of(earlier)]
    if found:
        what = f"the earlier run has {listed(found)}, which cannot be checked on appended records"
        yield ConfigProblem("apply", f"{what}; run on all records without apply")


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
