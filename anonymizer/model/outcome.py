"""The outcome of a search, and the tree of cuts behind a multidimensional recoding.

The cuts determine the region of every record.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from anonymizer.model.arrays import BoolArray, CodeArray, IntArray
from anonymizer.model.out_of_core import PlacedRows
from anonymizer.model.recoding import Recoding


class Status(StrEnum):
    """Whether a release satisfies every constraint: proven yes, proven no, or unknown."""

    SATISFIED = "satisfied"
    INFEASIBLE = "infeasible"
    UNDECIDED = "undecided"


class Bound(StrEnum):
    """How much work goes into the bound on every recoding along the hierarchies."""

    QUICK = "quick"
    FULL = "full"
    NONE = "none"


@dataclass(frozen=True, eq=False)
class CutTree:
    """Regions that were recursively cut in two along the hierarchies; the leaves of the tree are published.

    The first regions of the search come first; the two sides of a cut have consecutive numbers.

    Attributes
    ----------
    levels: of each quasi-identifier, at which the first regions are classes of equal nodes.
    first: these nodes of each of the first regions, shape (first regions, quasi-identifiers), int32.
    axis: quasi-identifier along which each region was cut, shape (regions,), int64; -1 if it was not.
    left: left side of each cut, shape (regions,), int64; the right side is the next region.
    listed_right: whether the listed parts of a cut are its right side, and all others its left side, or the
        other way round, shape (regions,), bool.
    starts: the listed parts of region i are ``parts[starts[i]:starts[i + 1]]``, shape (regions + 1,), int64.
    parts: nodes in the hierarchy of the cut's quasi-identifier, at one level per cut, int64.
    published: node of each quasi-identifier, for regions that were not cut, shape (regions,
        quasi-identifiers), int32.
    """

    levels: tuple[int, ...]
    first: CodeArray
    axis: IntArray
    left: IntArray
    listed_right: BoolArray
    starts: IntArray
    parts: IntArray
    published: CodeArray


@dataclass(frozen=True)
class CheckerMeasure:
    """What one constraint measured on a candidate.

    Attributes
    ----------
    constraint: its name, with its attribute.
    measured: over all classes before suppression, with p of the input; of a model of the whole table on what
        is released. None for no classes.
    satisfied: whether ``measured`` satisfies the constraint.
    violating: records in classes that violate it; None for a model of the whole table.
    released: measured on what is released; None unless the candidate is valid.
    """

    constraint: str
    measured: Any
    satisfied: bool
    violating: int | None
    released: Any = None


@dataclass(frozen=True)
class AttackerMeasure:
    """What the attackers of one constraint reached on a candidate.

    Attributes
    ----------
    constraint: its name, with its attribute.
    measured: the success that counts against ``max``.
    satisfied: whether it is at most ``max``.
    attackers: the number of each attacker, and whether it learned, in plain types.
    """

    constraint: str
    measured: float
    satisfied: bool
    attackers: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Step:
    """A candidate that a search evaluated.

    Attributes
    ----------
    candidate: its identity, such as levels by attribute.
    objective: its loss; None if it was rejected before.
    accepted: whether it satisfies every constraint within the suppression limit.
    failed: names of the violated constraints or limits.
    at_least: lower bound on its loss, from what it publishes alone; None if the search has none.
    suppressed: records that it suppresses, or surely at least if it was not counted; None if unknown.
    checks: what each constraint measured; empty for a move that keeps every class valid.
    attackers: what the attackers reached; empty unless they were asked.
    proof: what rules it out without its classes; None if it was counted.
    """

    candidate: dict[str, Any]
    objective: float | None
    accepted: bool
    failed: tuple[str, ...] = ()
    at_least: float | None = None
    suppressed: int | None = None
    checks: tuple[CheckerMeasure, ...] = ()
    attackers: tuple[AttackerMeasure, ...] = ()
    proof: str | None = None


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
    algorithm: name of the algorithm that was chosen, None without a choice.
    reasons: of the choice, a sentence each.
    best_possible: proven lower bound on the loss of any recoding along the hierarchies, local ones too.
    bound_seconds: that it took after the search; None without one.
    cuts: of ``recoding``, if it was made by cuts along the hierarchies that keep equal values together.
    ends: region of ``recoding`` for each distinct row, if these do not fit in memory and the problem requests
        it; else None, also if all are suppressed.
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
    bound_seconds: float | None = None
    cuts: CutTree | None = None
    ends: PlacedRows | None = None

    @property
    def optimal(self) -> bool:
        """Whether the recoding is proven optimal."""
        return self.objective is not None and self.objective == self.bound

    @property
    def gap(self) -> float | None:
        """(objective - bound) / objective, 0 if both are 0, None without a result."""
        if self.objective is None or self.bound is None:
            return None
        if self.objective == self.bound:
            return 0.0
        return (self.objective - self.bound) / self.objective if self.objective else None
