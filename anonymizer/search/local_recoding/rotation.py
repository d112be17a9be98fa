"""Which improver is next."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.search.local_recoding.improver import Improver

MEMORY = 0.5
"""Weight of the past in the average of what an improver saved."""

PAUSE = 6
"""An improver is used at least once in this many rounds times its effort."""


class ImproverSchedule:
    """Prefers the improver that saved most for its effort lately, and now and then gives others a turn."""

    def __init__(self, improvers: Sequence[Improver]) -> None:
        self._improvers = list(improvers)
        self._saved = [float("inf")] * len(improvers)
        self._idle = [0] * len(improvers)
        self._chosen = 0

    def add(self, improver: Improver) -> None:
        """Take one more improver, whose turn is next."""
        self._improvers.append(improver)
        self._saved.append(float("inf"))
        self._idle.append(0)

    def next(self) -> Improver:
        """Return the improver whose turn it is."""
        waiting = [i for i, idle in enumerate(self._idle) if idle >= PAUSE * self._improvers[i].effort]
        self._chosen = waiting[0] if waiting else self._saved.index(max(self._saved))
        self._idle = [0 if i == self._chosen else idle + 1 for i, idle in enumerate(self._idle)]
        return self._improvers[self._chosen]

    def learn(self, saved: float) -> None:
        """Note what the improver saved that was chosen last."""
        saved /= self._improvers[self._chosen].effort
        before = self._saved[self._chosen]
        known = before < float("inf")
        self._saved[self._chosen] = MEMORY * before + (1 - MEMORY) * saved if known else saved
