"""Who follows a run, and may stop it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anonymizer.model.report import Report
from anonymizer.search.base import Progress


@dataclass(frozen=True)
class RunMonitor:
    """How a run is watched: who is told its progress, and who may stop it.

    Attributes
    ----------
    progress: told how far the search is.
    phase: told what begins.
    stopped: asked whether the user wants the search to end.
    released: given the report once the release is in its place and can still be taken back; when this fails,
        it is taken back, and an earlier one is as it was.
    """

    progress: Callable[[Progress], None] | None = None
    phase: Callable[[str], None] = lambda _: None
    stopped: Callable[[], bool] = lambda: False
    released: Callable[[Report], None] = lambda _: None


UNWATCHED = RunMonitor()
