"""The command with local recoding that says when it improves, and pauses before it writes.

``python -m tests.run.improving run ...``
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from anonymizer.cli import output as progress
from anonymizer.cli.main import main
from anonymizer.job.clock import RunMonitor
from anonymizer.model.recoding import Outcome
from anonymizer.search.base import SEARCH_ALGORITHMS, Control, Progress, SearchProblem
from anonymizer.search.local.algorithm import Local

PAUSE = 1.0
"""Seconds before the release is written, in which a signal arrives however busy the machine."""


class Improving(Local):
    """Local recoding; says on stderr when it has something to improve."""

    name = "improving"

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        """Search as local recoding does."""

        def listen(found: Progress) -> None:
            if found.best is not None:
                print("found something", file=sys.stderr, flush=True)

        return super().search(problem, replace(control, listen=listen))


@contextmanager
def _watching(stopped: Callable[[], bool], *, quiet: bool) -> Iterator[RunMonitor]:
    def phase(text: str) -> None:
        print(text, file=sys.stderr, flush=True)
        if text.startswith("writing"):
            time.sleep(PAUSE)

    yield RunMonitor(phase=phase, stopped=stopped)


if __name__ == "__main__":
    SEARCH_ALGORITHMS.add(Improving)
    progress.progress_monitor = _watching
    sys.exit(main())
