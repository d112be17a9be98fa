"""The last word on an assignment: the judge that every search obeys, and the suppression limit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anonymizer.model.arrays import IntArray
from anonymizer.model.table import SUPPRESSED as STAR
from anonymizer.search.base import SuppressionMethod
from anonymizer.search.judge import Judge
from anonymizer.search.local_recoding.assignment import Assignment
from anonymizer.search.local_recoding.ground import LocalProblem


class AssignmentJudge:
    """Tells whether an assignment may be released."""

    def __init__(self, ground: LocalProblem) -> None:
        problem = ground.problem
        self._limit = problem.limit
        self._keep_rows = problem.keep_rows
        # Sensitive attributes that no constraint looks at are not told apart here.
        watched = [own for own in problem.table.sensitive if own.name in ground.atoms.sensitive]
        width = len(problem.table.quasi_identifiers)
        columns = [
            *range(width),
            *(width + i for i, own in enumerate(problem.table.sensitive) if own in watched),
        ]
        table = replace(problem.table, sensitive=tuple(watched), codes=problem.table.codes[:, columns])
        # Which records are suppressed is decided here; the judge only says whether what is left holds.
        self._judge = Judge(replace(problem, table=table, suppression=SuppressionMethod.CLASSES))
        self._ground = ground

    def admits(self, assignment: Assignment) -> bool:
        """Tell whether all classes hold, with what the config says of suppressed records."""
        if assignment.suppressed > self._limit:
            return False
        return self.stars(assignment) or self._holds(assignment, assignment.class_of)

    def stars(self, assignment: Assignment) -> bool:
        """Tell whether the suppressed records may stay as one class of their own."""
        if not (self._keep_rows and assignment.suppressed) or _has_class_of_stars(assignment):
            return False
        class_of = np.where(assignment.class_of < 0, assignment.classes, assignment.class_of)
        return self._holds(assignment, class_of)

    def _holds(self, assignment: Assignment, class_of: IntArray) -> bool:
        """Tell whether classes hold, of which parts with a negative number are no part."""
        kept = class_of >= 0
        if not kept.any():
            return False
        own = assignment
        number = int(class_of.max()) + 1
        verdict = self._judge.judge(
            self._ground.classes(own.atoms[kept], own.counts[kept], class_of[kept], number)
        )
        return verdict.valid and verdict.suppressed == 0

    def hopeless(self, atoms_at_top: IntArray) -> bool:
        """Tell whether it is proven that too many records would have to be suppressed.

        Every local recoding is finer than the partition by the highest allowed nodes.

        Parameters
        ----------
        atoms_at_top: class of each atom in that partition, shape (atoms,).
        """
        atoms = self._ground.atoms
        everything = np.arange(atoms.number)
        number = int(atoms_at_top.max()) + 1
        verdict = self._judge.judge(self._ground.classes(everything, atoms.counts, atoms_at_top, number))
        certain = int(verdict.losses.sum())
        if self._ground.records < self._ground.problem.minimum_size:
            return True
        return certain > self._limit or (certain == self._ground.records and not self._keep_rows)


def _has_class_of_stars(assignment: Assignment) -> bool:
    """Tell whether a class is published with ``*`` in every quasi-identifier."""
    trees = assignment.ground.trees
    stars = np.ones(assignment.classes, dtype=bool)
    for position, attribute in enumerate(assignment.ground.problem.table.quasi_identifiers):
        kept_suppressed = np.array([label == STAR for label in attribute.hierarchy.labels])
        stars &= kept_suppressed[trees.node[assignment.nodes[:, position]]]
    return bool(stars.any())
