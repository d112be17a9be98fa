"""``anonymizer compare``: runs of several algorithms and settings, compared.

Progress is a bar with the remaining time on a terminal, one line per run in a pipe.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anonymizer.cli.output import Json, Quiet, messages, stop_on_interrupt, write_json, write_line
from anonymizer.report.comparison import ComparedRun
from anonymizer.run.compare import ComparisonWatch

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
    typer.Option("--output", "-o", help="Folder for the comparison [default: comparison/ beside CONFIG]."),
]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="Runs at a time [default: the number of cores].")
]


def compare(
    config: Annotated[Path, typer.Argument(help="YAML, TOML or JSON file.")],
    algorithm: Algorithms = None,
    vary: Vary = None,
    output: Output = None,
    workers: Workers = None,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Run CONFIG with every algorithm and every combination of values; show risk, loss and time side by side.

    No run leaves a release. Each result is kept: the same command goes on where an earlier one was ended.
    Without --algorithm and --vary: every algorithm that suits CONFIG. Exit code 1 when no run has a
    release, or one failed.
    """
    from anonymizer.config.load import variations  # noqa: PLC0415
    from anonymizer.report.build import environment  # noqa: PLC0415
    from anonymizer.report.comparison_page import compare_page  # noqa: PLC0415
    from anonymizer.report.comparison_table import lines, to_csv, to_dict  # noqa: PLC0415
    from anonymizer.run.compare import compare as compare_runs  # noqa: PLC0415
    from anonymizer.run.compare import open_folder, planned  # noqa: PLC0415
    from anonymizer.system import processors  # noqa: PLC0415

    plan = planned(config, algorithm or [], variations(vary or []))
    folder = open_folder(output if output is not None else config.parent / "comparison", plan)
    number = min(workers or processors(), len(plan))
    with stop_on_interrupt() as stopped, progress_monitor(stopped, quiet=quiet) as watch:
        found = compare_runs(plan, folder, number, watch)
    folder.show("compare.csv", to_csv(found))
    folder.show("compare.html", compare_page(found, environment()["anonymizer"]))
    if json:
        write_json(to_dict(found))
    else:
        for line in (*lines(found), ""):
            write_line(line)
        write_line(f"Keep:  {folder.directory.as_posix()}/    compare.html  compare.csv  (internal)")
    return 0 if found.recommended_runs and not found.failed else 1


class Progress:
    """Counts the runs that ended and tells what is left.

    Parameters
    ----------
    clock: seconds from any beginning.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.total = self.done = self._now = 0
        self._began = clock()

    def begin(self, total: int, kept: int) -> None:
        """Start counting."""
        self.total, self.done, self._began = total, kept, self._clock()

    def finish(self) -> None:
        """Count one that ended now."""
        self.done += 1
        self._now += 1

    def left(self) -> str:
        """Return the time left, guessed from the runs that ended now; empty when nothing is known or left."""
        if not self._now or self.done == self.total:
            return ""
        seconds = (self._clock() - self._began) / self._now * (self.total - self.done)
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes}:{rest:02} left"

    def line(self, run: ComparedRun) -> str:
        """Return one run that ended, in a line."""
        parts = [f"{self.done}/{self.total}", f"{run.title}:", run.status.value]
        if run.measured is not None:
            parts.append("in groups" if run.measured.in_groups else f"loss {run.measured.loss:.4g}")
        parts += [f"{run.seconds:.1f} s", self.left()]
        return "  ".join(filter(None, parts))


@contextmanager
def progress_monitor(stopped: Callable[[], bool], *, quiet: bool) -> Iterator[ComparisonWatch]:
    """Yield a watch that shows how far a comparison is on stderr."""
    console = messages(quiet=quiet)
    progress = Progress()
    if quiet:
        yield ComparisonWatch(stopped=stopped)
    elif sys.stderr.isatty():
        with _bar(console, progress, stopped) as watch:
            yield watch
    else:
        yield _lines(console, progress, stopped)


def _lines(console: Console, progress: Progress, stopped: Callable[[], bool]) -> ComparisonWatch:
    def begun(total: int, kept: int) -> None:
        progress.begin(total, kept)
        if kept:
            console.print(f"{kept}/{total}  reused from an earlier comparison", soft_wrap=True)

    def finished(run: ComparedRun) -> None:
        progress.finish()
        console.print(progress.line(run), soft_wrap=True)

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
