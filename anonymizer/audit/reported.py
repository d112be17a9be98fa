"""The report of a release as an audit reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from anonymizer.audit.claims import parse_report
from anonymizer.config.document import distinct_keys
from anonymizer.config.files import ReportedText
from anonymizer.errors import InputError
from anonymizer.model.table import ValueType
from anonymizer.system import check_file

ACCEPTED = "accepted: report.public.json or report.json of a run that ended with a release"


class ReportedTable(BaseModel):
    """The sensitive table of an Anatomy release."""

    sha256: str


class ReportedNumbers(BaseModel):
    """The numbers in place of the labels of a quasi-identifier."""

    empty: Literal["*", "<missing>"]


class ReportedRelease(ReportedText):
    """The released file; counts that the public report hides are None."""

    sha256: str
    rows: int | None
    classes: int | None
    sensitive_table: ReportedTable | None = None
    numbers: dict[str, ReportedNumbers] = Field(default_factory=dict)


class ReportedAttribute(BaseModel):
    """A column; ``codes`` are those that its hierarchy has, with their labels, if they are public."""

    type: ValueType | None
    codes: dict[str, str] | None = None


class ReportedConstraint(BaseModel):
    """A constraint with its measurement; infinity is the text ``Infinity``."""

    model: str
    attribute: str | None
    parameters: dict[str, Any]
    measured: Any
    satisfied: bool
    worst_classes: int | None


class ReportClaims(BaseModel):
    """The claims of a report."""

    version: int = Field(alias="schema", strict=True, ge=1, le=1)
    config: dict[str, Any]
    attributes: dict[str, ReportedAttribute]
    release: ReportedRelease
    constraints: list[ReportedConstraint]


def read_reported(path: Path) -> ReportClaims:
    """Read a report, public or internal.

    Raises
    ------
    InputError: it is missing, not JSON, or not the report of a release.
    """
    try:
        content = check_file(path).read_bytes()
    except OSError:
        raise InputError(
            f"{path}: report not found; a release cannot be verified without it. The command run writes it "
            "next to the release: ask the publisher for it, and put it there or give its path with --report"
        ) from None
    return parse_report(ReportClaims, path, content, ACCEPTED)


LARGEST_NUMBER = 1e30
"""Above every number in a report."""

MOST_CHARACTERS = 40
"""Maximum length of a number in a report."""


def read_content(path: Path) -> dict[str, Any]:
    """Return the content of a report that ``read_reported`` accepts, in plain JSON types."""
    try:
        content: dict[str, Any] = json.loads(
            check_file(path).read_bytes(),
            object_pairs_hook=distinct_keys,
            parse_constant=_plain_number,
            parse_int=lambda text: _plain_number(text, int),
            parse_float=lambda text: _plain_number(text, float),
        )
    except ValueError as error:
        raise InputError(f"{path}: {error}; give the report as anonymizer wrote it") from None
    return content


def _plain_number(text: str, kind: type[int] | type[float] | None = None) -> float:
    """Refuse numbers that no run writes: infinite ones, and those above every squared number of records."""
    number = None if kind is None or len(text) > MOST_CHARACTERS else kind(text)
    if number is None or not abs(number) < LARGEST_NUMBER:
        shown = text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}..."
        raise ValueError(f"the number {shown} is out of range")
    return number
