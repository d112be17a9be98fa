"""The phases of a run, their seconds, and the callbacks that follow a run and may stop it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from time import perf_counter

from anonymizer.attacks.base import AttackResult
from anonymizer.model.report import Report
from anonymizer.search.base import Progress


class Phase(StrEnum):
    """What a run spends its time on; the report has the seconds of each."""

    READ = "read"
    PREPARE = "prepare"
    SEARCH = "search"
    BOUND = "bound"
    DIAGNOSE = "diagnose"
    WRITE = "write"
    VERIFY = "verify"
    ATTACK = "attack"
    UTILITY = "utility"
    EXPOSE = "expose"
    ADVISE = "advise"


class PhaseClock:
    """The seconds of each phase of a run."""

    def __init__(self) -> None:
        self._seconds: dict[Phase, float] = {}
        self._now: Phase | None = None
        self._since = 0.0

    def begin(self, phase: Phase) -> None:
        """End the phase before, and begin one, perhaps again."""
        now = perf_counter()
        if self._now is not None:
            self._seconds[self._now] += now - self._since
        self._seconds.setdefault(phase, 0.0)
        self._now, self._since = phase, now

    def so_far(self) -> dict[str, float]:
        """Return the seconds of each phase, in the order in which they began."""
        if self._now is not None:
            self.begin(self._now)
        return {phase.value: round(seconds, 3) for phase, seconds in self._seconds.items()}


@dataclass(frozen=True)
class RunMonitor:
    """Callbacks that follow a run and may stop it.

    Attributes
    ----------
    progress: receives the progress of the search.
    phase: receives the name of each phase, or of a part of it, as it begins.
    say: receives lines about a phase, such as how long an attack will take.
    attacked: receives the results of each attack as it ends.
    stopped: returns whether the user wants the search, or the attacks after it, to end.
    released: receives the report when the release is in place but can still be undone; an error undoes it and
        restores an earlier release.
    begun: receives each phase as it begins.
    clock: of the phases.
    """

    progress: Callable[[Progress], None] | None = None
    phase: Callable[[str], None] = lambda _: None
    say: Callable[[str], None] = lambda _: None
    attacked: Callable[[Sequence[AttackResult]], None] = lambda _: None
    stopped: Callable[[], bool] = lambda: False
    released: Callable[[Report], None] = lambda _: None
    begun: Callable[[Phase], None] = lambda _: None
    clock: PhaseClock = field(default_factory=PhaseClock)

    def begin(self, phase: Phase, name: str) -> None:
        """Begin a phase, and say its name."""
        self.clock.begin(phase)
        self.begun(phase)
        self.phase(name)


UNWATCHED = RunMonitor()
