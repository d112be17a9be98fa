"""What a release is: a file, a table of a database, or data in memory, in the words of the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Form:
    """How to speak of a release.

    Attributes
    ----------
    noun: what it is.
    verified: how it was verified.
    measured: what its constraints were measured on.
    recipient: what a recipient needs to verify a constraint that the release alone decides.
    """

    noun: str
    verified: str
    measured: str
    recipient: str


FILE = Form("file", "read back from disk and measured again", "the written file", "yes")
TABLE = Form("table", "read back and measured again", "the written table", "if released to a file")
MEMORY = Form("release", "measured again before it was returned", "the release", "if written to a file")


def form_of(report: Mapping[str, Any]) -> Form:
    """Return what the release of a report is."""
    if report["release"]["path"] is None:
        return MEMORY
    return TABLE if in_table(report) else FILE


def in_table(report: Mapping[str, Any]) -> bool:
    """Tell whether a release is a table of a database."""
    return "table" in report["config"].get("output", {})
