"""A release within a second or two, for tables on which the greedy start takes longer."""

from __future__ import annotations

from collections.abc import Callable

from anonymizer.search.control import Control
from anonymizer.search.local_recoding.assignment import Assignment
from anonymizer.search.local_recoding.ground import LocalProblem
from anonymizer.search.local_recoding.levels import LevelLattice
from anonymizer.search.local_recoding.seeds import assignment_of
from anonymizer.search.mondrian import Mondrian, MondrianSettings

SLOW = 100_000_000
"""Vectors of levels times combinations from which on the start takes more than a second or two."""


def greedy_start_is_slow(ground: LocalProblem, lattice: LevelLattice) -> bool:
    """Tell whether the start takes seconds, for which a budget may be too small."""
    return len(lattice.vectors) * ground.atoms.number >= SLOW


def mondrian_start(ground: LocalProblem, stopped: Callable[[], bool]) -> Assignment | None:
    """Return the classes that Mondrian finds along the hierarchies, None where it finds none.

    It has no budget, so that the same is found whatever the clock says.
    """
    if not ground.additive:
        return None
    found = Mondrian(MondrianSettings()).search(ground.problem, Control(stopped=stopped))
    return None if found.recoding is None or stopped() else assignment_of(ground, found.recoding)
