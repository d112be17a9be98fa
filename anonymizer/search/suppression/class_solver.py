"""The records that stay in one class where no single rule decides them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.search.suppression.class_problem import ClassProblem, ClassSolution
from anonymizer.search.suppression.entropy_cuts import Cut, cut_off, tangents
from anonymizer.search.suppression.programme import Programme

MARGIN = 1e-5
"""By how much the conditions are tightened after a solution failed the exact verification."""

NODES = 10_000
"""Branch and bound nodes, times cells, after which a class is left with its gap; a count: runs repeat."""

ROUND = 20
"""Nodes that solving a programme anew counts as, at least."""

TANGENTS = 60
"""Rounds of cuts on the entropy of counts that need not be whole."""

ROOM = Fraction(101, 100)
"""By how much more values are asked for, in their effective number, where counts are rounded."""


def solve(problem: ClassProblem, verify: Callable[[IntArray], bool]) -> ClassSolution:
    """Keep as many records of a class as the rules allow.

    Parameters
    ----------
    verify: the exact verdict on kept counts, shape (cells,); what fails it is not returned.
    """
    nothing = np.zeros_like(problem.counts)
    cuts, most, margin = [], problem.most, 0.0
    if any(view.rule.entropies for view in problem.views):
        relaxed = _relaxed(problem, 0.0)
        cuts, most = list(relaxed.cuts), relaxed.most
    nodes = max(NODES // len(problem.counts), 1)
    while nodes > 0:
        if most < problem.smallest:
            return ClassSolution(nothing, 0)
        found, bound, taken = Programme(problem, cuts, margin).solve(nodes)
        nodes -= max(taken, ROUND)
        if not margin:
            most = min(most, bound)
        if found is None:
            break
        if verify(found):
            return ClassSolution(found, most)
        new = [cut for view in problem.views for cut in cut_off(view.rule, view.part, view.value, found)]
        cuts += new
        if not new:
            if margin:
                break
            margin = MARGIN
    found = nothing if problem.sums else _rounded(problem)
    return ClassSolution(found if found.any() and verify(found) else nothing, most)


def _rounded(problem: ClassProblem) -> IntArray:
    """Round what stays where records may be parted, with more room than rounding takes; 0 if nothing does.

    Sums are rounded, not counts, so that those of consecutive values are no more than one record off.
    """
    views = [
        replace(view, rule=replace(view.rule, entropies=tuple(map(ROOM.__mul__, view.rule.entropies))))
        for view in problem.views
    ]
    kept = _relaxed(replace(problem, views=tuple(views)), float(len(problem.counts))).kept
    return np.clip(np.diff(np.rint(np.cumsum(kept)), prepend=0).astype(np.int64), 0, problem.counts)


@dataclass(frozen=True, eq=False)
class _Relaxed:
    """What stays where records may be parted.

    Attributes
    ----------
    cuts: on the entropy.
    kept: records of each cell, shape (cells,), float64; 0 where nothing was found.
    most: no more records can stay; proven without a margin only.
    """

    cuts: tuple[Cut, ...]
    kept: FloatArray
    most: int


def _relaxed(problem: ClassProblem, margin: float) -> _Relaxed:
    """Cut the relaxed programme until its solution has the entropy, nearly."""
    cuts: list[Cut] = []
    kept, most = np.zeros(len(problem.counts)), problem.most
    for _ in range(TANGENTS):
        found, bound = Programme(problem, cuts, margin).relaxed()
        if found is None:
            return _Relaxed(tuple(cuts), np.zeros_like(kept), most)
        kept, most = found, min(most, bound)
        new = [cut for view in problem.views for cut in tangents(view.rule, view.part, view.value, kept)]
        if not new:
            break
        cuts += new
    return _Relaxed(tuple(cuts), kept, most)
