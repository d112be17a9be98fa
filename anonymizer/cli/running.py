"""What ``anonymizer run`` does and prints."""

from __future__ import annotations

import json as json_module
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from anonymizer.cli.output import progress_monitor, stop_on_interrupt, write_line
from anonymizer.cli.summary import summary
from anonymizer.commands.run import release_folder
from anonymizer.commands.run import run as run_job
from anonymizer.config.load import load_config
from anonymizer.errors import Infeasible
from anonymizer.job.job import Terms

if TYPE_CHECKING:
    from anonymizer.model.invocation import RunCommand
    from anonymizer.model.report import Report


def run_config(given: RunCommand, *, mend: bool, columns: bool, quiet: bool, json: bool) -> None:
    """Run a config and print what came of it.

    Parameters
    ----------
    mend: change the config for what the release shows, and run again.
    columns: list each column.
    """
    config = Path(given.config)
    loaded = load_config(config, given.overrides).started_by(given)
    directory = release_folder(config) if given.output is None else Path(given.output)
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

                run_mended(loaded, directory, overwrite=given.overwrite, strict=given.strict, watch=watch)
            else:
                terms = Terms(lambda _: given.strict)
                run_job(loaded, directory, overwrite=given.overwrite, watch=watch, terms=terms)
        except Infeasible as error:
            live_line.close()
            if json:
                write_line(error.report.to_json().rstrip())
            raise
