"""``anonymizer run``: anonymize a file."""

from __future__ import annotations

import json as json_module
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anonymizer.cli.output import Json, Quiet, progress_monitor, stop_on_interrupt, write_line
from anonymizer.errors import Infeasible

if TYPE_CHECKING:
    from anonymizer.model.report import Report

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
    from anonymizer.cli.summary import summary  # noqa: PLC0415
    from anonymizer.commands.run import release_folder  # noqa: PLC0415
    from anonymizer.commands.run import run as run_job  # noqa: PLC0415
    from anonymizer.config.load import load_config  # noqa: PLC0415
    from anonymizer.job.job import Terms  # noqa: PLC0415
    from anonymizer.model.invocation import RunCommand  # noqa: PLC0415

    folder = None if output is None else str(output)
    given = RunCommand(str(config), folder, tuple(set_ or ()), overwrite, strict)
    loaded = load_config(config, set_ or []).started_by(given)
    directory = output if output is not None else release_folder(config)
    with stop_on_interrupt() as stopped, ExitStack() as live_line:
        watch = live_line.enter_context(progress_monitor(stopped, quiet=quiet))

        def print_result(report: Report) -> None:
            """Print the result while the release can still be withdrawn, which happens if printing fails."""
            live_line.close()
            content = json_module.dumps(report.to_dict(), ensure_ascii=False)
            for line in [content] if json else summary(report, directory, given, columns=columns):
                write_line(line)
            stopped.too_late()

        try:
            watch = replace(watch, released=print_result)
            if mend:
                from anonymizer.commands.mend import run_mended  # noqa: PLC0415 - most runs mend nothing

                run_mended(loaded, directory, overwrite=overwrite, strict=strict, watch=watch)
            else:
                terms = Terms(lambda _: strict)
                run_job(loaded, directory, overwrite=overwrite, watch=watch, terms=terms)
        except Infeasible as error:
            live_line.close()
            if json:
                write_line(error.report.to_json().rstrip())
            raise
