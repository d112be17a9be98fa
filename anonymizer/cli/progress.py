"""The live line of a long search: on a terminal only, nothing in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from anonymizer.cli.output import messages
from anonymizer.flow.watch import RunMonitor
from anonymizer.search.base import Progress


@contextmanager
def progress_monitor(stopped: Callable[[], bool], *, quiet: bool) -> Iterator[RunMonitor]:
    """Yield a watch that shows how far a run is on stderr."""
    console = messages(quiet=quiet)
    if quiet or not sys.stderr.isatty():
        yield RunMonitor(stopped=stopped)
        return
    with console.status("starting") as status:
        yield RunMonitor(
            progress=lambda progress: status.update(progress_line(progress)),
            phase=status.update,
            stopped=stopped,
        )


def progress_line(progress: Progress) -> str:
    """Return nodes, best, bound and gap in one line.

    >>> progress_line(Progress(12, 2160, 0.31, 0.27))
    'search  12/2,160  best 0.31  bound 0.27  gap 12.9 %'
    """
    parts = [f"search  {progress.evaluated:,}/{progress.candidates:,}"]
    if progress.best is not None:
        parts.append(f"best {progress.best:.4g}")
    if progress.bound is not None:
        parts.append(f"bound {progress.bound:.4g}")
    if progress.best and progress.bound is not None:
        parts.append(f"gap {(progress.best - progress.bound) / progress.best:.1%}".replace("%", " %"))
    return "  ".join(parts)
