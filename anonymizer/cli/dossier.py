"""``anonymizer dossier``: a paper to sign and a record of what was decided, beside a report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated

import typer

from anonymizer.cli.output import Json, Quiet, write_json, write_line, write_warning
from anonymizer.errors import listed, plural

if TYPE_CHECKING:
    from anonymizer.commands.dossier import Made

TemplateOption = Annotated[
    str | None,
    typer.Option(
        "--template",
        metavar="NAME|FILE",
        help="general, hipaa-expert, ema-0070, or a file of the same form [default: that of dossier.yaml, "
        "else general].",
    ),
]

WIDTH = 110
"""Characters of an open point on the terminal."""


def dossier(
    release: Annotated[Path, typer.Argument(help="The folder of a release, or its report.json.")],
    template: TemplateOption = None,
    quiet: Quiet = False,  # noqa: ARG001 - it shows no progress anyway
    json: Json = False,
) -> int:
    """Write a dossier of a release for people to sign, with what only they can say as blanks.

    dossier.html, decisions.json and, at the first call, dossier.yaml with the questions appear beside
    report.json. Answer them in dossier.yaml and run the command again. It is not a legal opinion.
    """
    from anonymizer.commands.dossier import ANSWERS  # noqa: PLC0415 - --help needs none of it
    from anonymizer.commands.dossier import dossier as make  # noqa: PLC0415

    made = make(release, template)
    if made.changed:
        write_warning(
            f"{made.folder / ANSWERS}: was written about another release; read each answer again, then write "
            "the release_sha256 of this one there"
        )
    for each in made.review.stale:
        write_warning(
            f"{made.folder / ANSWERS}: decides about a point that this release does not have: {each}"
        )
    if json:
        write_json(made.to_dict())
    else:
        for line in _lines(made, ANSWERS):
            write_line(line)
    return 0


def _lines(made: Made, answers: str) -> Iterator[str]:
    from anonymizer.commands.run import key_line  # noqa: PLC0415 - --help needs none of it

    yield f"Wrote {made.folder.as_posix()}/    {'  '.join(made.written)}  (internal)"
    if made.is_signed:
        yield key_line(made.folder)
    if made.blanks:
        of = f"{len(made.blanks)} of {plural(made.asked, 'question')}"
        yield f"Not answered in {answers}: {of}: {listed(made.blanks)}"
    undecided = made.review.undecided()
    if undecided:
        yield f"Open, without a decision: {plural(len(undecided), 'point')}"
        yield from (f"  {shorten(each, WIDTH, placeholder=' …')}" for each in undecided)
