"""What every search of the lattice counts on its way, and the outcome that it ends with."""

from __future__ import annotations

import numpy as np

from anonymizer.errors import Interrupted
from anonymizer.model.outcome import Outcome, Step
from anonymizer.model.recoding import Recoding
from anonymizer.model.report import Status
from anonymizer.search.control import Control, Progress
from anonymizer.search.full_domain.tiles import Tiles


class LatticeRun:
    """A search of the lattice while it lasts.

    Parameters
    ----------
    tiles: the boxes of the lattice.
    below: an objective that what is found has to beat, infinity for none.
    """

    def __init__(self, control: Control, tiles: Tiles, below: float) -> None:
        self._control = control
        self._tiles = tiles
        self._best = below
        self._steps: list[Step] = []
        self._evaluated = 0
        # Nodes whose suppression is not proven optimal might be better than they were found to be.
        self._unproven = np.inf
        self._interrupted = False

    def _ended(self) -> bool:
        self._interrupted = self._interrupted or self._control.stopped()
        return self._interrupted or self._control.exhausted(self._evaluated, len(self._steps))

    def _progress(self, bound: float) -> Progress:
        """Return how far the search is.

        Parameters
        ----------
        bound: no node that is left has a lower objective.
        """
        lowest = min(bound, self._best)
        best = self._best if np.isfinite(self._best) else None
        return Progress(self._evaluated, self._tiles.nodes, best, lowest if np.isfinite(lowest) else None)

    def _outcome(self, recoding: Recoding | None, bound: float) -> Outcome:
        """Return the outcome.

        Parameters
        ----------
        recoding: the best found, None where nothing was.
        bound: no node that is left has a lower objective; infinite when every node is settled.

        Raises
        ------
        Interrupted: by the user, before anything was found.
        """
        found = recoding is not None
        if self._interrupted and not found:
            raise Interrupted("interrupted before a release was found; nothing was written")
        status = Status.SATISFIED if found else Status.UNDECIDED
        if not found and np.isposinf(bound):
            status = Status.INFEASIBLE
        lowest = min(bound, self._best)
        return Outcome(
            status,
            recoding,
            self._best if found else None,
            lowest if np.isfinite(lowest) else None,
            self._tiles.nodes,
            self._evaluated,
            tuple(self._steps),
            self._control.elapsed,
            self._interrupted,
        )
