"""How far a comparison is: a bar with the time left on a terminal, a line for each run in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from anonymizer.cli.output import messages
from anonymizer.flow.compare import ComparisonWatch
from anonymizer.report.comparison import ComparedRun

if TYPE_CHECKING:
    from rich.console import Console


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
            console.print(f"{kept}/{total}  kept from an earlier time", soft_wrap=True)

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
