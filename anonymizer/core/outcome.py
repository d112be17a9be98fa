"""What a search hands on."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from anonymizer.core.cut_tree import CutTree
from anonymizer.core.kept_regions import RegionStore
from anonymizer.core.recoding import Recoding


class Status(StrEnum):
    """The answer to "is there a release that satisfies every constraint?"."""

    SATISFIED = "satisfied"
    INFEASIBLE = "infeasible"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Step:
    """One candidate that a search looked at.

    Attributes
    ----------
    candidate: what identifies it, such as levels by attribute.
    objective: its loss; None when it was rejected before its loss was computed.
    accepted: whether it satisfies every constraint within the suppression limit.
    failed: names of what it failed.
    """

    candidate: dict[str, Any]
    objective: float | None
    accepted: bool
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of a search.

    Attributes
    ----------
    recoding: the best found; None unless satisfied.
    candidates: size of the searched space.
    evaluated: candidates whose class sizes were computed.
    objective: loss of ``recoding``.
    bound: proven lower bound on the loss of any valid candidate.
    interrupted: whether the user ended the search.
    algorithm: name of the one that was chosen, None where there was no choice.
    reasons: why it was chosen, a sentence each.
    best_possible: proven lower bound on the loss of any recoding along the hierarchies, local ones too.
    cuts: how ``recoding`` came about, where by cuts along the hierarchies that keep equal values together.
    ends: where the combinations stayed in an engine, and the problem asks for it, in which region of
        ``recoding`` each is, these being numbered as there; to be closed. None too where all are suppressed.
    """

    status: Status
    recoding: Recoding | None
    objective: float | None
    bound: float | None
    candidates: int
    evaluated: int
    steps: tuple[Step, ...] = field(default=())
    seconds: float = 0.0
    interrupted: bool = False
    algorithm: str | None = None
    reasons: tuple[str, ...] = ()
    best_possible: float | None = None
    cuts: CutTree | None = None
    ends: RegionStore | None = None

    def keeping_ends(self) -> AbstractContextManager[object]:
        """Return what closes ``ends`` once it is left, if there are any."""
        return nullcontext() if self.ends is None else self.ends

    @property
    def optimal(self) -> bool:
        """Whether nothing can be better than what was found."""
        return self.objective is not None and self.objective == self.bound

    @property
    def gap(self) -> float | None:
        """(objective - bound) / objective, 0 when both are 0, None without a result."""
        if self.objective is None or self.bound is None:
            return None
        if self.objective == self.bound:
            return 0.0
        return (self.objective - self.bound) / self.objective if self.objective else None
