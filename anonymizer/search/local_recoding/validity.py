"""Whether classes of a local recoding satisfy the class constraints, under every reference that counts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Reference, SensitiveCodes
from anonymizer.model.counting import count
from anonymizer.privacy.base import ClassConstraint, Merging
from anonymizer.search.local_recoding.ground import LocalProblem


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
