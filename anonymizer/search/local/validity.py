"""Validity of the classes of a local recoding, and the final check of an assignment.

Classes are judged under every reference distribution that counts. The final check is that of every search,
with the suppression limit. Invalid parts of classes are trimmed by the records whose sensitive values are
too frequent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Reference, SensitiveCodes
from anonymizer.model.counting import count
from anonymizer.model.table import SUPPRESSED as STAR
from anonymizer.privacy.base import ClassConstraint, Merging
from anonymizer.search.base import SuppressionMethod
from anonymizer.search.judge import Judge
from anonymizer.search.local.assignment import Assignment, LocalProblem


class AssignmentJudge:
    """Tells whether an assignment may be released."""

    def __init__(self, ground: LocalProblem) -> None:
        problem = ground.problem
        self._problem = problem
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
        if not self._problem.admits(assignment.suppressed):
            return False
        return self.stars(assignment) or self._holds(assignment, assignment.class_of)

    def stars(self, assignment: Assignment) -> bool:
        """Tell whether the suppressed records may stay as one class of their own."""
        if not (self._problem.keep_rows and assignment.suppressed) or _has_class_of_stars(assignment):
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
        return self._ground.records < self._problem.minimum_size or not self._problem.admits(verdict.certain)


def _has_class_of_stars(assignment: Assignment) -> bool:
    """Tell whether a class is published with ``*`` in every quasi-identifier."""
    trees = assignment.ground.trees
    stars = np.ones(assignment.classes, dtype=bool)
    for position, attribute in enumerate(assignment.ground.problem.table.quasi_identifiers):
        kept_suppressed = np.array([label == STAR for label in attribute.hierarchy.labels])
        stars &= kept_suppressed[trees.node[assignment.nodes[:, position]]]
    return bool(stars.any())


class Validity:
    """Judges classes by all class constraints.

    With ``reference: release`` a class must hold under p of the input as well as under p of the release: the
    fixpoint of the contract begins with the former and ends with the latter.

    Attributes
    ----------
    minimum_size: no smaller class holds.
    refers: whether a model compares classes with a reference distribution.
    moving: whether that is the release's own.
    merging: the weakest promise of any constraint about merged classes.
    """

    def __init__(self, ground: LocalProblem) -> None:
        self._ground = ground
        constraints = ground.problem.class_constraints
        self.minimum_size = ground.problem.minimum_size
        self._constraints = [each for each in constraints if each.attribute is not None]
        self._sizes_only = [each for each in constraints if each.attribute is None]
        self._input = self._reference(ground.atoms.counts)
        self._release = self._input
        self.refers = any(each.model.uses_reference for each in constraints)
        self.moving = ground.problem.moving_reference and self.refers
        kinds = {each.merging for each in constraints}
        self.merging = next(
            (kind for kind in (Merging.NONE, Merging.SATISFYING) if kind in kinds), Merging.ANY
        )

    def _reference(self, counts: IntArray) -> dict[str, Reference]:
        return {
            name: Reference(count(own.codes, counts, own.attribute.column.size))
            for name, own in self._ground.atoms.sensitive.items()
        }

    def refer_to(self, kept: IntArray) -> bool:
        """Take p of the release from the records of each atom that stay, shape (atoms,).

        Returns whether p changed, which only a moving reference does; a release of nothing has no p.
        """
        if not (self.moving and kept.any()):
            return False
        before, self._release = self._release, self._reference(kept)
        return any(not np.array_equal(own.counts, before[name].counts) for name, own in self._release.items())

    def referring(self) -> Iterator[tuple[SensitiveCodes, Reference]]:
        """Yield the sensitive attributes that are compared with a reference, and p of the release."""
        names = {each.attribute for each in self._constraints if each.model.uses_reference}
        for name, own in self._ground.atoms.sensitive.items():
            if name in names:
                yield own, self._release[name]

    def holds(self, atoms: IntArray, counts: IntArray, class_of: IntArray, number: int) -> BoolArray:
        """Tell which classes satisfy every class constraint, shape (classes,), no class empty.

        Parameters
        ----------
        atoms, counts, class_of: of the parts that make up the classes, shape (parts,).
        number: of classes.
        """
        sizes = count(class_of, counts, number)
        held: BoolArray = sizes >= self.minimum_size
        if not self._ground.problem.class_constraints or not held.any():
            return held
        kept = held[class_of]
        numbers = np.cumsum(held) - 1
        classes = self._ground.classes(atoms[kept], counts[kept], numbers[class_of[kept]], int(held.sum()))
        own = np.ones(classes.number, dtype=bool)
        for constraint in self._sizes_only:
            own &= constraint.holds(classes, None)
        for constraint in self._constraints:
            for reference in self._references(constraint):
                own &= constraint.holds(classes, reference)
        held[held] = own
        return held

    def _references(self, constraint: ClassConstraint) -> list[Reference]:
        assert constraint.attribute is not None
        references = [self._input[constraint.attribute]]
        if constraint.model.uses_reference and self._release is not self._input:
            references.append(self._release[constraint.attribute])
        return references


CAP = 1.2
"""How many times as frequent as in the reference a value may be in what is kept, before the rest shrinks."""

LEAST_KEPT = 0.3
"""A group is trimmed to no less than this share of its records."""


def trimmed(atoms: IntArray, counts: IntArray, class_of: IntArray, validity: Validity) -> IntArray:
    """Return how many records of each part stay in groups that hold when trimmed, shape (parts,), int64.

    What is cut off is over-represented in its group; elsewhere it may be what is missing.

    Parameters
    ----------
    atoms, counts, class_of: the parts of the groups, shape (parts,).
    """
    numbers, groups = np.unique(class_of, return_inverse=True)
    groups = groups.reshape(-1)
    sizes = count(groups, counts, len(numbers))
    kept = counts
    for own, reference in validity.referring():
        kept = np.minimum(kept, _capped(own, reference, (atoms, counts, groups), sizes))
    left = count(groups, kept, len(numbers))
    worth = left >= np.maximum(LEAST_KEPT * sizes, validity.minimum_size)
    chosen = np.flatnonzero(worth[groups] & (kept > 0))
    held = np.zeros(len(numbers), dtype=bool)
    if len(chosen):
        renumbered = np.cumsum(worth) - 1
        held[worth] = validity.holds(
            atoms[chosen], kept[chosen], renumbered[groups[chosen]], int(worth.sum())
        )
    return np.where(held[groups], kept, 0)


def _capped(
    own: SensitiveCodes, reference: Reference, parts: tuple[IntArray, IntArray, IntArray], sizes: IntArray
) -> IntArray:
    """Return how many records of each part are within the caps of its group's values, first ones first."""
    atoms, counts, groups = parts
    values = own.codes[atoms]
    keys = groups * len(reference.counts) + values
    # A stable sort of 16-bit keys takes linear time.
    order = np.argsort(keys.astype(np.min_scalar_type(keys.max())), kind="stable")
    first = np.flatnonzero(np.diff(keys[order], prepend=-1))
    ends = np.cumsum(counts[order])
    begins = ends - counts[order]
    before = begins - np.repeat(begins[first], np.diff(np.append(first, len(order))))
    shares = reference.counts[values[order]] / max(reference.total, 1)
    caps = np.floor(CAP * shares * sizes[groups[order]]).astype(np.int64)
    kept = np.empty(len(order), dtype=np.int64)
    kept[order] = np.clip(caps - before, 0, counts[order])
    return kept
