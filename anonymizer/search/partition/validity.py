"""Validity of the classes of a local recoding, and the final check of an assignment.

Classes are judged under every reference distribution that matters. The final check is the same as in every
search, with the suppression limit. Violating groups are trimmed by records with too frequent sensitive
values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from anonymizer.model.arrays import BoolArray, IntArray, count
from anonymizer.model.classes import Reference, SensitiveCodes
from anonymizer.model.features import SuppressionMethod
from anonymizer.model.labels import SUPPRESSED as STAR
from anonymizer.model.recoding import CheckerMeasure
from anonymizer.privacy.base import Merging
from anonymizer.search.judge import CandidateVerdict, Judge
from anonymizer.search.partition.assignment import Assignment, LocalProblem
from anonymizer.search.suppression.suppressor import holding


class AssignmentJudge:
    """Judges whether an assignment may be released."""

    def __init__(self, ground: LocalProblem) -> None:
        problem = ground.problem
        self._problem = problem
        # Atoms do not distinguish sensitive attributes without a constraint.
        watched = [own for own in problem.table.sensitive if own.name in ground.atoms.sensitive]
        width = len(problem.table.quasi_identifiers)
        columns = [
            *range(width),
            *(width + i for i, own in enumerate(problem.table.sensitive) if own in watched),
        ]
        table = replace(problem.table, sensitive=tuple(watched), codes=problem.table.codes[:, columns])
        # The suppressed records are chosen here; the judge only judges the rest.
        self._judge = Judge(replace(problem, table=table, suppression=SuppressionMethod.CLASSES))
        self._ground = ground
        self._last: tuple[Assignment, CandidateVerdict] | None = None

    def admits(self, assignment: Assignment) -> bool:
        """Return whether all classes satisfy the constraints, with suppressed records as configured."""
        if not self._problem.admits(assignment.suppressed) or self.exceeds_limit(assignment):
            return False
        return self.keeps_suppressed(assignment) or self._holds(assignment, assignment.class_of)

    def exceeds_limit(self, assignment: Assignment) -> bool:
        """Return whether an assignment suppresses too many records, or loses too many units."""
        if assignment.suppressed > self._problem.limit:
            return True
        if self._problem.unit_limit is None:
            return False
        atoms, counts = assignment.atoms[: assignment.first], assignment.counts[: assignment.first]
        gone = self._ground.classes(atoms, counts, np.zeros_like(atoms), 1)
        return not self._problem.admits_units(self._problem.units_lost(gone, counts > 0))

    def keeps_suppressed(self, assignment: Assignment) -> bool:
        """Return whether the suppressed records may stay as one class of their own."""
        if not (self._problem.keep_rows and assignment.suppressed) or _has_suppressed_class(assignment):
            return False
        class_of = np.where(assignment.class_of < 0, assignment.classes, assignment.class_of)
        return self._holds(assignment, class_of)

    def checks(self, assignment: Assignment) -> tuple[CheckerMeasure, ...]:
        """Return what each constraint measures on the classes of an assignment; nothing without any."""
        if not assignment.classes:
            return ()
        known = self._last is not None and self._last[0] is assignment
        if not known and not self.keeps_suppressed(assignment):
            self._verdict(assignment, assignment.class_of)
        return () if self._last is None else self._last[1].checks

    def _holds(self, assignment: Assignment, class_of: IntArray) -> bool:
        """Return whether classes satisfy the constraints; parts with a negative number are in none."""
        if not (class_of >= 0).any():
            return False
        verdict = self._verdict(assignment, class_of)
        return verdict.valid and verdict.suppressed == 0

    def _verdict(self, assignment: Assignment, class_of: IntArray) -> CandidateVerdict:
        own, kept = assignment, class_of >= 0
        number = int(class_of.max()) + 1
        classes = self._ground.classes(own.atoms[kept], own.counts[kept], class_of[kept], number)
        verdict = self._judge.judge(classes)
        self._last = own, verdict
        return verdict

    def provably_infeasible(self, atoms_at_top: IntArray) -> bool:
        """Return whether every assignment is proven to suppress too many records.

        Every local recoding refines the partition by the highest allowed nodes.

        Parameters
        ----------
        atoms_at_top: class of each atom in that partition, shape (atoms,).
        """
        atoms = self._ground.atoms
        everything = np.arange(atoms.number)
        number = int(atoms_at_top.max()) + 1
        verdict = self._judge.judge(self._ground.classes(everything, atoms.counts, atoms_at_top, number))
        return self._ground.records < self._problem.minimum_size or verdict.excludes_finer


def _has_suppressed_class(assignment: Assignment) -> bool:
    """Return whether a class is published with ``*`` in every quasi-identifier."""
    trees = assignment.ground.trees
    stars = np.ones(assignment.classes, dtype=bool)
    for position, attribute in enumerate(assignment.ground.problem.table.quasi_identifiers):
        kept_suppressed = np.array([label == STAR for label in attribute.hierarchy.labels])
        stars &= kept_suppressed[trees.node[assignment.nodes[:, position]]]
    return bool(stars.any())


class Validity:
    """Judges classes by all class constraints.

    With ``reference: release`` a class must satisfy them under p of the input and under p of the release: the
    fixpoint of the contract begins with the former and ends with the latter.

    Attributes
    ----------
    minimum_size: smallest size of a valid class in records.
    size, weights: the same in records or units, and what parts add to it at most.
    refers: whether a model compares classes with a reference distribution.
    moving: whether this is the distribution in the release.
    merging: weakest guarantee of any constraint for merged classes.
    """

    def __init__(self, ground: LocalProblem) -> None:
        self._ground = ground
        constraints = ground.problem.class_constraints
        self.minimum_size = ground.problem.minimum_size
        self.size, self.weights = ground.size, ground.weights
        self._input = self._reference(ground.atoms.counts)
        self._release = self._input
        self.refers = any(each.model.uses_reference for each in constraints)
        self.moving = ground.problem.moving_reference and self.refers
        kinds = {each.merging for each in constraints}
        self.merging = next(
            (kind for kind in (Merging.NONE, Merging.SATISFYING) if kind in kinds), Merging.ANY
        )

    def _reference(self, counts: IntArray) -> dict[str, Reference]:
        atoms = np.flatnonzero(counts)
        whole = self._ground.classes(atoms, counts[atoms], np.zeros_like(atoms), 1)
        return {name: whole.reference(name) for name in self._ground.atoms.sensitive}

    def refer_to(self, kept: IntArray) -> bool:
        """Take p of the release from the remaining records of each atom, shape (atoms,).

        Returns whether p changed, as only a moving reference can; an empty release does not change it.
        """
        if not (self.moving and kept.any()):
            return False
        before, self._release = self._release, self._reference(kept)
        return any(not own.equals(before[name]) for name, own in self._release.items())

    @property
    def references(self) -> list[dict[str, Reference]]:
        """The distributions that classes are compared with: p of the input, and p of the release."""
        return [self._input] if self._release is self._input else [self._input, self._release]

    def referring(self) -> Iterator[tuple[SensitiveCodes, Reference]]:
        """Yield the sensitive attributes that a constraint compares with p, and p of the release."""
        constraints = self._ground.problem.class_constraints
        names = {each.attribute for each in constraints if each.model.uses_reference}
        for name, own in self._ground.atoms.sensitive.items():
            if name in names:
                yield own, self._release[name]

    def holds(self, atoms: IntArray, counts: IntArray, class_of: IntArray, number: int) -> BoolArray:
        """Return which classes satisfy every class constraint, shape (classes,), none empty.

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
        held[held] = holding(self._ground.problem.class_constraints, classes, *self.references)
        return held


CAP = 1.2
"""Largest frequency of a value in a trimmed group, relative to the reference, before the rest shrinks."""

LEAST_KEPT = 0.3
"""Smallest share of a group's records that trimming leaves."""


def trimmed(atoms: IntArray, counts: IntArray, class_of: IntArray, validity: Validity) -> IntArray:
    """Return the records of each part in groups that are valid after trimming, shape (parts,), int64.

    Removed records are over-represented in their group; other groups may lack them.

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
    """Return the records of each part within the caps of its group's values, the first parts first."""
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
