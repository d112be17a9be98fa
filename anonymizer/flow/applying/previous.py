"""The earlier run: its report, its recoding and its release, as they must fit together."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from anonymizer.config.load import load_config
from anonymizer.config.model import Config, Origin
from anonymizer.errors import ConfigError, InputError
from anonymizer.flow.applying.kept import StoredRecoding, parse_kept
from anonymizer.flow.constraints import required_size
from anonymizer.flow.reported import parse_report
from anonymizer.model.report import Report
from anonymizer.model.table import ValueType
from anonymizer.release.folder import PUBLIC_REPORT, SHARE
from anonymizer.report.public import public_report

ACCEPTED = "accepted: report.json of a run that ended with a release"

COMPARED = ("config", "attributes", "release", "constraints", "recoding")
"""What the public report of the earlier run must say as its internal report does."""


class _File(BaseModel):
    path: str
    sha256: str


class _Release(_File):
    rows: int
    verified: Literal[True]


class _Search(BaseModel):
    algorithm: str


class _Attribute(BaseModel):
    role: str
    type: ValueType | None
    hierarchy_sha256: str | None


class _Previous(BaseModel):
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
    config: of that run, as its report has it.
    release: path of the released file.
    release_sha256: what the report says of the file.
    rows: in the released file.
    recoding: what is applied.
    types: of the columns by name, None where the type plays no part.
    hierarchies: digest of each column's hierarchy, None without one.
    files: all that was read, or will be.
    """

    path: Path
    config: Config
    release: Path
    release_sha256: str
    rows: int
    recoding: StoredRecoding
    types: dict[str, ValueType | None]
    hierarchies: dict[str, str | None]
    files: tuple[Path, ...]


def read_previous(path: Path) -> Previous:
    """Read an earlier run from its report.

    Raises
    ------
    InputError: there is no such report, its recoding is of no use for other records, or the files of the
        earlier run do not belong together.
    """
    content = _read(path, ACCEPTED)
    found = parse_report(_Previous, path, content, ACCEPTED)
    if found.recoding_file is None:
        raise InputError(
            f"{path}: what algorithm {found.search.algorithm} found cannot be applied to other records; "
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
        raise InputError(f"{kept}: has other levels than {path.name}")
    release = folder / found.release.path
    return Previous(
        path,
        config,
        release,
        found.release.sha256,
        found.release.rows,
        parsed,
        {name: each.type for name, each in found.attributes.items()},
        {name: each.hierarchy_sha256 for name, each in found.attributes.items()},
        (path, kept, release, folder / SHARE / PUBLIC_REPORT),
    )


def _read(path: Path, accepted: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; {accepted}") from None


def _whole(kept: Path, sha256: str, report: str) -> bytes:
    """Return the recoding, checked to be the one that the report was written with."""
    content = _read(kept, "it is written beside the report")
    if hashlib.sha256(content).hexdigest() != sha256:
        raise InputError(f"{kept}: is not the recoding that {report} was written with (SHA-256 differs)")
    return content


def _config(path: Path, content: dict[str, Any]) -> Config:
    try:
        return load_config(content).located(Origin(str(path), path.parent))
    except ConfigError as error:
        first = error.problems[0]
        raise InputError(f"{path}: its config is not accepted: {first}") from None


def _compare_reports(path: Path, content: bytes, config: Config) -> None:
    """Check that the recipient's report says of the release what the internal one says.

    Raises
    ------
    InputError: it does not, or is missing; one of the two was changed.
    """
    public = path.parent / SHARE / PUBLIC_REPORT
    try:
        told = json.loads(_read(public, "it stands beside the release"))
    except ValueError:
        raise InputError(f"{public}: is not JSON") from None
    try:
        expected = public_report(Report(json.loads(content)), required_size(config)).to_dict()
    except (KeyError, TypeError, AttributeError):
        raise InputError(f"{path}: is no report of a release; {ACCEPTED}") from None
    for key in COMPARED:
        if not isinstance(told, dict) or told.get(key) != expected[key]:
            raise InputError(
                f"{public}: does not say of '{key}' what {path.name} says; one of them was changed"
            )
