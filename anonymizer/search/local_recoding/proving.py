"""The proven bound, raised between the moves of a search."""

from __future__ import annotations

from collections.abc import Callable

from anonymizer.search.local_recoding.bound import MOST_ITEMS, DualBound
from anonymizer.search.local_recoding.ground import LocalProblem
from anonymizer.search.local_recoding.trees import items_of

FIRST = 24
"""Steps before the first round, about two seconds of moves on 20,000 combinations."""

LATER = 12
"""So many more steps lie between two rounds each time, as every round gains less than the one before."""


class BoundSchedule:
    """Decides by the number of steps alone when a round of the dual bound is due, and holds what it proved.

    Attributes
    ----------
    dual: what the bound is proven by, None before the first round.
    loss: proven lower bound on the metric of the problem, None without one.
    """

    def __init__(self, ground: LocalProblem) -> None:
        self.dual: DualBound | None = None
        self.loss: float | None = None
        self._ground = ground
        # The bound is on a mean of cell costs; no other metric is one.
        self._possible = ground.additive and ground.atoms.number > 0
        self._next = FIRST

    @property
    def open(self) -> bool:
        """Whether more rounds may raise the bound."""
        return self._possible and not (self.dual is not None and self.dual.settled)

    def due(self, steps: int) -> bool:
        """Tell whether the next step is a round of the bound."""
        return self.open and steps >= self._next

    def improve(self, steps: int, stopped: Callable[[], bool]) -> bool:
        """Raise the bound by a round; tell whether that was done or ``stopped`` ended it before."""
        dual = self.dual if self.dual is not None else self._begun()
        if dual is None:
            return False
        rounds = dual.rounds
        if not stopped():
            dual.improve(stopped)
        if dual.rounds == rounds and not dual.settled:
            return False
        self.loss = dual.loss
        self._next = steps + LATER * dual.rounds
        return True

    def _begun(self) -> DualBound | None:
        items = items_of(self._ground.problem.table, self._ground.trees)
        if items.number > MOST_ITEMS:
            self._possible = False
            return None
        self.dual = DualBound(self._ground.trees, items, self._ground.problem.minimum_size)
        return self.dual
