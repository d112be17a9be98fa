"""When a search must end, and whom it tells how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Progress:
    """How far a search is.

    Attributes
    ----------
    evaluated, candidates: candidates looked at, of how many.
    best, bound: loss of the best found, proven lower bound; None without one.
    """

    evaluated: int
    candidates: int
    best: float | None
    bound: float | None


@dataclass
class Control:
    """A budget, a way to stop, and a listener.

    Attributes
    ----------
    seconds, nodes, steps: the budget; None is no limit.
    stopped: asked at every step whether the user wants the search to end.
    listen: told the progress, at most every tenth of a second.
    """

    seconds: float | None = None
    nodes: int | None = None
    steps: int | None = None
    stopped: Callable[[], bool] = lambda: False
    listen: Callable[[Progress], None] | None = None
    started: float = field(default_factory=time.monotonic)
    _told: float = 0.0

    @property
    def elapsed(self) -> float:
        """Seconds since the search began."""
        return time.monotonic() - self.started

    @property
    def unlimited(self) -> bool:
        """Whether there is no budget."""
        return self.seconds is None and self.nodes is None and self.steps is None

    def out_of_time(self) -> bool:
        """Tell whether the user wants the search to end, or its seconds are over."""
        return self.stopped() or (self.seconds is not None and self.elapsed >= self.seconds)

    def exhausted(self, evaluated: int, steps: int) -> bool:
        """Tell whether the budget is spent."""
        return (
            (self.seconds is not None and self.elapsed >= self.seconds)
            or (self.nodes is not None and evaluated >= self.nodes)
            or (self.steps is not None and steps >= self.steps)
        )

    def tell(self, progress: Callable[[], Progress]) -> None:
        """Pass the progress on if somebody listens and it is time."""
        now = time.monotonic()
        if self.listen is not None and now - self._told >= 0.1:
            self._told = now
            self.listen(progress())
