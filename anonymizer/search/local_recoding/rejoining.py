"""Suppressed records that find a class after all."""

from __future__ import annotations

import numpy as np

from anonymizer.search.local_recoding.assignment import Assignment
from anonymizer.search.local_recoding.ground import SUPPRESSION_COST
from anonymizer.search.local_recoding.guard import AssignmentJudge
from anonymizer.search.local_recoding.improver import Improver
from anonymizer.search.local_recoding.leftovers import Joining
from anonymizer.search.local_recoding.validity import Validity


class Rejoining(Improver):
    """Lets suppressed records join classes that have changed since, where that costs less."""

    name = "rejoining"

    def __init__(self, validity: Validity, guard: AssignmentJudge) -> None:
        self._validity = validity
        self._guard = guard

    def improve(self, assignment: Assignment, random: np.random.Generator) -> Assignment:  # noqa: ARG002
        """Ask the nearest classes of every suppressed part."""
        found = Joining(assignment, self._validity, SUPPRESSION_COST).run()
        better = found.total < assignment.total and self._guard.admits(found)
        return found if better else assignment
