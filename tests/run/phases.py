"""The command with its phases as lines on stderr, for tests that act in a certain phase."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from anonymizer.cli import output as progress
from anonymizer.cli.main import main
from anonymizer.job.clock import RunMonitor


@contextmanager
def _watching(stopped: Callable[[], bool], *, quiet: bool) -> Iterator[RunMonitor]:
    yield RunMonitor(phase=lambda text: print(text, file=sys.stderr, flush=True), stopped=stopped)


def telling() -> int:
    """Run the command of this process and tell its phases."""
    progress.progress_monitor = _watching
    return main()


if __name__ == "__main__":
    sys.exit(telling())
