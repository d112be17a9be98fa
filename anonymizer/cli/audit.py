"""``anonymizer audit``: a release verified from the file and its report."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

import typer

from anonymizer.cli.output import Json, Quiet, write_line
from anonymizer.errors import plural

if TYPE_CHECKING:
    from anonymizer.audit.case import ReleaseAudit

ReportOption = Annotated[
    Path | None, typer.Option("--report", help="Its report [default: report.public.json next to RELEASE].")
]


KeyOption = Annotated[
    Path | None,
    typer.Option("--key", help="The publisher's public key; a release not signed with it is not verified."),
]


def audit(
    release: Annotated[Path, typer.Argument(help="The released file; for Anatomy, either of its two files.")],
    report: ReportOption = None,
    key: KeyOption = None,
    quiet: Quiet = False,  # noqa: ARG001 - it shows no progress anyway
    json: Json = False,
) -> int:
    """Verify RELEASE from the file and its public report alone.

    With --report report.json and the input at the path in it, RELEASE is compared with the input too, and
    constraints on persons are measured. Exit code 1 if RELEASE differs from the report, violates a constraint
    or no constraint could be measured.
    """
    from anonymizer.audit.audit import audit_release  # noqa: PLC0415
    from anonymizer.cli.verdict import verdict_line  # noqa: PLC0415 - --help needs none of it
    from anonymizer.model.report import to_json  # noqa: PLC0415

    found = audit_release(release, report, key)
    if json:
        write_line(to_json(found.to_dict()).rstrip())
    else:
        write_line(_headline(found))
        for each in found.constraints:
            write_line(f"  {verdict_line(each, each.get('scenario'))}")
        if found.signature is not None and found.signature["valid"]:
            parts = plural(len(found.signature["parts"]), "file")
            whose = "with the key" if key is not None else "by whoever has the key"
            write_line(f"  signed: {parts}, {whose} {found.signature['key']}")
        for finding in found.findings:
            write_line(f"  note: {finding}")
        if found.not_checked:
            write_line("  not checked: what the files do not show, and the results of attacks:")
            for line in wrap(", ".join(_by_name(found.not_checked)), 94, break_on_hyphens=False):
                write_line(f"    {line}")
    return 0 if found.verified else 1


def _headline(found: ReleaseAudit) -> str:
    """Return the verdict, with the number of constraints that could not be measured."""
    unknown = sum(each["satisfied"] is None for each in found.constraints)
    between = {"VERIFIED": ", but", "NOT VERIFIED": ";", "NOT MEASURED": ":"}[found.verdict]
    of = f"{between} {unknown} of {plural(len(found.constraints), 'constraint')} could not be measured"
    return f"{found.verdict}{of if unknown else ''}"


def _by_name(keys: Iterable[str]) -> list[str]:
    """Return keys without positions in lists, each once.

    >>> _by_name(["attacks[0].seconds", "attacks[1].seconds", "environment"])
    ['attacks[].seconds', 'environment']
    """
    return list(dict.fromkeys(re.sub(r"\[\d+\]", "[]", key) for key in keys))
