"""``anonymizer compare``: a comparison of algorithms and settings.

Progress is a bar with the remaining time on a terminal, one line per run in a pipe.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anonymizer.cli.output import (
    Json,
    PipeProgress,
    Quiet,
    messages,
    pipe_progress,
    stop_on_interrupt,
    write_json,
    write_line,
)
from anonymizer.commands.compare import ComparisonWatch, open_folder
from anonymizer.commands.compare import compare as compare_runs
from anonymizer.commands.planning import combined, planned
from anonymizer.config.load import variations
from anonymizer.report.build import environment
from anonymizer.report.comparison import ComparedRun
from anonymizer.report.comparison_page import compare_page
from anonymizer.report.comparison_table import lines, to_csv, to_dict
from anonymizer.system import processors

if TYPE_CHECKING:
    from rich.console import Console

Algorithms = Annotated[
    list[str] | None,
    typer.Option("--algorithm", metavar="NAME", help="An algorithm to compare; repeatable."),
]
Vary = Annotated[
    list[str] | None,
    typer.Option("--vary", metavar="KEY=V1,V2", help="Values to try for a config key; repeatable."),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Folder for the comparison [default: comparison/ next to CONFIG]."),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        help="Maximum number of parallel runs [default: the number of cores].",
    ),
]
MaxRisk = Annotated[
    float | None,
    typer.Option(
        "--max-risk",
        min=0,
        max=1,
        metavar="SHARE",
        help="Largest acceptable risk, to name one run [default: what the constraints of CONFIG allow].",
    ),
]


def compare(
    config: Annotated[Path, typer.Argument(help="YAML, TOML or JSON file.")],
    algorithm: Algorithms = None,
    vary: Vary = None,
    output: Output = None,
    workers: Workers = None,
    max_risk: MaxRisk = None,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Run CONFIG with every algorithm and every combination of values; compare risk, loss and time.

    No release is written. Results are cached: the same command resumes an interrupted comparison. Without
    --algorithm and --vary, every algorithm that suits CONFIG runs. Exit code 1 if no run found a release, or
    one failed.
    """

    plan = planned(config, algorithm or [], combined(variations(vary or [])))
    folder = open_folder(output if output is not None else config.parent / "comparison", plan)
    number = min(workers or processors(), len(plan))
    with stop_on_interrupt() as stopped, progress_monitor(stopped, quiet=quiet) as watch:
        found = replace(compare_runs(plan, folder, number, watch), max_risk=max_risk)
    folder.show("compare.csv", to_csv(found))
    folder.show("compare.html", compare_page(found, environment()["anonymizer"]))
    if json:
        write_json(to_dict(found))
    else:
        for line in (*lines(found), ""):
            write_line(line)
        write_line(f"Keep:  {folder.directory.as_posix()}/    compare.html  compare.csv  (internal)")
    return 0 if found.recommended and not found.failed else 1


class Progress:
    """Counts completed runs and estimates the remaining time.

    Parameters
    ----------
    clock: returns seconds from any start.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.total = self.done = self._timed = 0
        self._began = clock()

    def begin(self, total: int, kept: int) -> None:
        """Start the clock; ``kept`` runs are complete already."""
        self.total, self.done, self._began = total, kept, self._clock()

    def finish(self) -> None:
        """Count a run that ended now."""
        self.done += 1
        self._timed += 1

    def left(self) -> str:
        """Return the estimated time left; empty before the first run ends and after the last."""
        if not self._timed or self.done == self.total:
            return ""
        seconds = (self._clock() - self._began) / self._timed * (self.total - self.done)
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes}:{rest:02} left"

    def line(self, run: ComparedRun) -> str:
        """Return the line about a run that ended."""
        parts = [f"{self.done}/{self.total}", f"{run.title}:", run.status.value]
        if run.measured is not None:
            parts.append("Anatomy" if run.measured.in_groups else f"loss {run.measured.loss:.4g}")
        parts += [f"{run.seconds:.1f} s", self.left()]
        return "  ".join(filter(None, parts))


@contextmanager
def progress_monitor(stopped: Callable[[], bool], *, quiet: bool) -> Iterator[ComparisonWatch]:
    """Yield a watch that shows the progress of a comparison on stderr."""
    console = messages(quiet=quiet)
    progress = Progress()
    if quiet:
        yield ComparisonWatch(stopped=stopped)
    elif sys.stderr.isatty():
        with _bar(console, progress, stopped) as watch:
            yield watch
    else:
        with pipe_progress(lambda line: console.print(line, soft_wrap=True), patient=False) as lines:
            yield _lines(lines, progress, stopped)


def _lines(lines: PipeProgress, progress: Progress, stopped: Callable[[], bool]) -> ComparisonWatch:
    def begun(total: int, kept: int) -> None:
        progress.begin(total, kept)
        lines.rename(f"{kept}/{total}  running")
        if kept:
            lines.say(f"{kept}/{total}  reused from an earlier comparison")

    def finished(run: ComparedRun) -> None:
        progress.finish()
        lines.rename(f"{progress.done}/{progress.total}  running")
        lines.say(progress.line(run))

    return ComparisonWatch(begun, finished, stopped)


@contextmanager
def _bar(console: Console, progress: Progress, stopped: Callable[[], bool]) -> Iterator[ComparisonWatch]:
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn  # noqa: PLC0415 - terminals only
    from rich.progress import Progress as Bar  # noqa: PLC0415

    columns = (TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)

        def begun(total: int, kept: int) -> None:
            progress.begin(total, kept)
            bar.update(task, total=total, completed=kept)

        def finished(run: ComparedRun) -> None:
            progress.finish()
            bar.console.print(progress.line(run), soft_wrap=True)
            bar.update(task, completed=progress.done, description=progress.left())

        yield ComparisonWatch(begun, finished, stopped)
