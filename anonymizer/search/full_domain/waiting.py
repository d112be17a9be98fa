"""Nodes that satisfy every counted constraint and wait until attackers are asked about them."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass

import numpy as np

from anonymizer.search.full_domain.frontier import Levels


@dataclass(frozen=True, order=True)
class Candidate:
    """A node that waits.

    Attributes
    ----------
    objective: of what would be published at it.
    levels: of the node.
    bound: no other choice of what is suppressed at it has a lower objective.
    """

    objective: float
    levels: Levels
    bound: float


class PendingCandidates:
    """Candidates by their objective."""

    def __init__(self) -> None:
        self._candidates: list[Candidate] = []

    def __len__(self) -> int:
        return len(self._candidates)

    @property
    def lowest(self) -> float:
        """The lowest objective, infinity when none waits."""
        return self._candidates[0].objective if self._candidates else np.inf

    def add(self, candidate: Candidate) -> None:
        """Let a candidate wait."""
        insort(self._candidates, candidate)

    def best(self) -> Candidate:
        """Take out the candidate with the lowest objective."""
        return self._candidates.pop(0)

    def safest(self) -> Candidate:
        """Take out the candidate with the highest objective, which is the most likely to pass."""
        return self._candidates.pop()

    def drop(self, objective: float) -> None:
        """Forget candidates that are not below an objective."""
        self._candidates = [each for each in self._candidates if each.objective < objective]
