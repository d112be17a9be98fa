"""Reports as they are read again, and what an audit takes from one: the claims to be verified."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError

from anonymizer.errors import InputError
from anonymizer.model.table import ValueType

Part = TypeVar("Part", bound=BaseModel)

ACCEPTED = "accepted: report.public.json or report.json of a run that ended with a release"


class ReportedTable(BaseModel):
    """The second file of a release in two tables."""

    sha256: str


class ReportedRelease(BaseModel):
    """The file that was released; a count that the public report leaves out is None."""

    sha256: str
    rows: int | None
    classes: int | None
    sensitive_table: ReportedTable | None = None


class ReportedAttribute(BaseModel):
    """A column."""

    type: ValueType | None


class ReportedConstraint(BaseModel):
    """A constraint and what was measured of it; infinite is the text ``Infinity``."""

    model: str
    attribute: str | None
    parameters: dict[str, Any]
    measured: Any
    satisfied: bool
    worst_classes: int | None


class ReportClaims(BaseModel):
    """The claims of a report."""

    version: Literal[1] = Field(alias="schema")
    config: dict[str, Any]
    attributes: dict[str, ReportedAttribute]
    release: ReportedRelease
    constraints: list[ReportedConstraint]


def read_reported(path: Path) -> ReportClaims:
    """Read a report, public or internal.

    Raises
    ------
    InputError: there is none, it is not JSON, or it is no report of a release.
    """
    try:
        content = path.read_bytes()
    except OSError:
        raise InputError(
            f"{path}: no such report, and a release without its report is unverified; run writes it beside "
            "the release: ask the publisher for it, put it there, or name it with --report"
        ) from None
    return parse_report(ReportClaims, path, content, ACCEPTED)


def read_content(path: Path) -> dict[str, Any]:
    """Return all that a report says, in plain JSON types; of one that ``read_reported`` accepts."""
    content: dict[str, Any] = json.loads(path.read_bytes())
    return content


def parse_report(model: type[Part], path: Path, content: bytes, accepted: str) -> Part:
    """Return what somebody needs of a report.

    Parameters
    ----------
    model: what is needed.
    accepted: which reports are, for the message about another one.

    Raises
    ------
    InputError: it is not JSON, or it is no report of a release.
    """
    try:
        return model.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "json_invalid":
            raise InputError(f"{path}: is not JSON; {accepted}") from None
        where = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise InputError(f"{path}: is no report of a release, see {where}; {accepted}") from None
