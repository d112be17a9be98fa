"""What was proven at evaluated nodes, kept for the boxes of the lattice that are opened later."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from anonymizer.model.arrays import FloatArray
from anonymizer.search.full_domain.frontier import Combine, Frontier, Levels

Finding = Callable[[Frontier], None]


class Findings:
    """Applies what is proven to the open box, and remembers it for the next ones."""

    def __init__(self) -> None:
        self._proven: list[Finding] = []

    def apply(self, frontier: Frontier) -> None:
        """Apply all that was proven so far to a new box."""
        for finding in self._proven:
            finding(frontier)

    def _add(self, frontier: Frontier, finding: Finding) -> None:
        finding(frontier)
        self._proven.append(finding)

    def rule_out_below(self, frontier: Frontier, levels: Levels) -> None:
        """No node at or below these levels is valid."""
        self._add(frontier, lambda box: box.rule_out_below(levels))

    def raise_above(self, frontier: Frontier, levels: Levels, bound: float) -> None:
        """No node at or above these levels has a lower objective."""
        if np.isfinite(bound):
            self._add(frontier, lambda box: box.raise_above(levels, bound))

    def raise_below(
        self,
        frontier: Frontier,
        levels: Levels,
        parts: Sequence[FloatArray],
        lowest: Levels,
        combine: Combine,
    ) -> None:
        """No node at or below these levels has an objective below the bound that its parts give."""
        self._add(frontier, lambda box: box.raise_below(levels, parts, lowest, combine))
