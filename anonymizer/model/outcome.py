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
class Step:
    """A candidate that a search evaluated.

    Attributes
    ----------
    candidate: its identity, such as levels by attribute.
    objective: its loss; None if it was rejected before.
    accepted: whether it satisfies every constraint within the suppression limit.
    failed: names of the violated constraints or limits.
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
