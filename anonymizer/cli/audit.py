"""``anonymizer audit``: is this release what its report says?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anonymizer.cli.output import Json, Quiet, write_line

ReportOption = Annotated[
    Path | None, typer.Option("--report", help="Its report [default: report.public.json beside RELEASE].")
]


def audit(
    release: Annotated[Path, typer.Argument(help="The released file, or one of two.")],
    report: ReportOption = None,
    quiet: Quiet = False,  # noqa: ARG001 - it shows no progress anyway
    json: Json = False,
) -> int:
    """Verify RELEASE from the file and its public report alone.

    Exit code 1 when it is not what the report says, or a constraint does not hold.
    """
    from anonymizer.cli.summary import promise  # noqa: PLC0415 - --help needs none of it
    from anonymizer.core.report import to_json  # noqa: PLC0415
    from anonymizer.flow.audit import audit_release  # noqa: PLC0415

    found = audit_release(release, report)
    if json:
        write_line(to_json(vars(found)).rstrip())
    else:
        write_line("VERIFIED" if found.verified else "NOT VERIFIED")
        for each in found.constraints:
            write_line(f"  {'holds' if each['satisfied'] else 'FAILS':6} {promise(each)}")
        for finding in found.findings:
            write_line(f"  note: {finding}")
    return 0 if found.verified else 1
