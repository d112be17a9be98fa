"""The command with a search that takes its time: ``python -m tests.run.slow run ...``."""

from __future__ import annotations

import sys
import time
from dataclasses import replace

from anonymizer.model.recoding import Outcome
from anonymizer.search.base import SEARCH_ALGORITHMS, Control, SearchProblem
from anonymizer.search.lattice.algorithm import Lattice
from tests.run.phases import telling


class Slow(Lattice):
    """The lattice search with a pause before each step; says on stderr when it has found something."""

    name = "slow"

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        """Search as the lattice does."""
        asked = 0

        def stopped() -> bool:
            nonlocal asked
            asked += 1
            if asked == 3:
                print("found something", file=sys.stderr, flush=True)
            if asked >= 3:
                time.sleep(0.3)
            return control.stopped()

        return super().search(problem, replace(control, stopped=stopped))


if __name__ == "__main__":
    SEARCH_ALGORITHMS.add(Slow)
    sys.exit(telling())
