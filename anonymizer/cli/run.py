"""``anonymizer run``: anonymize a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anonymizer.cli.output import Json, Quiet
from anonymizer.model.invocation import RunCommand

Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Folder for the release [default: NAME-release/ next to NAME.yaml]."),
]
Overrides = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a config value; repeatable.")
]
Mend = Annotated[
    bool,
    typer.Option(
        "--mend", help="Change the config for what the release shows, and run again, at most 3 times."
    ),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Exit 1, without a release, where the verdict is SATISFIED, BUT."),
]
Columns = Annotated[
    bool,
    typer.Option("--columns", help="List each column: its role, its treatment, an example, findings."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an earlier release.")]


def run(  # noqa: PLR0913, PLR0917 - one for each option
    config: Annotated[Path, typer.Argument(help="YAML, TOML or JSON file.")],
    output: Output = None,
    set_: Overrides = None,
    overwrite: Overwrite = False,
    mend: Mend = False,
    strict: Strict = False,
    columns: Columns = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Anonymize a file by CONFIG, write the release, read it back and verify it.

    Ctrl-C ends a search early: the best release found so far is written and verified. A second Ctrl-C
    ends the command without a release.
    """
    from anonymizer.cli.running import run_config  # noqa: PLC0415 - --help needs none of it

    given = RunCommand(
        str(config), None if output is None else str(output), tuple(set_ or ()), overwrite, strict
    )
    run_config(given, mend=mend, columns=columns, quiet=quiet, json=json)
