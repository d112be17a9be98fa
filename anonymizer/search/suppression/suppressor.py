"""Suppression of the records of a candidate that violates constraints, and of whole violating classes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Classes, Reference
from anonymizer.model.counting import count
from anonymizer.privacy.base import ClassConstraint, Merging
from anonymizer.search.base import SearchProblem

References = Mapping[str, Reference]
"""The distribution p by the name of the sensitive attribute."""


@dataclass(frozen=True, eq=False)
class Suppressed:
    """What is suppressed of the classes of a candidate.

    Attributes
    ----------
    of_items: gives ``gone``, which costs a pass over the items.
    of_classes: records of each class that are suppressed, shape (classes,), int64.
    least: no fewer records of each class can be suppressed, shape (classes,), int64; equal to what is gone of
        it where that is proven optimal.
    certain: no fewer records of each class are suppressed however it is split, shape (classes,), int64.
    fewest: no fewer records of all classes can be suppressed.
    """

    of_items: Callable[[], IntArray]
    of_classes: IntArray
    least: IntArray
    certain: IntArray
    fewest: int

    @cached_property
    def gone(self) -> IntArray:
        """Records of each item that are suppressed, shape (items,), int64."""
        return self.of_items()


def suppressed_items(
    classes: Classes, gone: IntArray, least: IntArray, certain: IntArray, fewest: int
) -> Suppressed:
    """Return what is suppressed where the records of each item are known, shape (items,)."""
    return Suppressed(lambda: gone, count(classes.class_of, gone, classes.number), least, certain, fewest)


class Suppressor(ABC):
    """A method of suppression bound to a problem; remembers what it solved.

    Class attributes
    ----------------
    chooses: whether there is a choice of what is suppressed, not a rule that says it.
    """

    chooses: ClassVar[bool]

    def __init__(self, problem: SearchProblem) -> None:
        self.table = problem.table
        self.constraints = problem.class_constraints
        self.limit = problem.limit

    @cached_property
    def input(self) -> References:
        """The distribution of each sensitive attribute in the table."""
        return {
            each.name: Reference(
                count(
                    self.table.sensitive_codes(each.name).astype(np.int64),
                    self.table.counts,
                    each.column.size,
                )
            )
            for each in self.table.sensitive
        }

    @abstractmethod
    def under_input(self, classes: Classes) -> Suppressed:
        """Return what is suppressed with p of the input."""

    @abstractmethod
    def under_release(self, classes: Classes, first: Suppressed) -> Suppressed:
        """Return what is suppressed with p of what stays.

        Parameters
        ----------
        first: what is suppressed with p of the input.
        """


def references_of(classes: Classes, names: Sequence[str]) -> References:
    """Return the distribution of each sensitive attribute over all classes."""
    return {name: classes.sensitive_counts(name)[0].reference() for name in names}


def reference_for(constraint: ClassConstraint, references: References) -> Reference | None:
    """Return the distribution that a constraint compares with, None for one without an attribute."""
    return None if constraint.attribute is None else references[constraint.attribute]


def holding(constraints: Sequence[ClassConstraint], classes: Classes, references: References) -> BoolArray:
    """Tell which classes satisfy every constraint, shape (classes,)."""
    held = np.ones(classes.number, dtype=bool)
    for constraint in constraints:
        held &= constraint.holds(classes, reference_for(constraint, references))
    return held


def certain_losses(
    constraints: Sequence[ClassConstraint], classes: Classes, references: References
) -> IntArray:
    """Return the most that any constraint is certain to lose of each class, shape (classes,), int64."""
    losses = np.zeros(classes.number, dtype=np.int64)
    for constraint in constraints:
        own = constraint.certain_losses(classes, reference_for(constraint, references))
        np.maximum(losses, own, out=losses)
    return losses


class WholeClasses(Suppressor):
    """Drops failing classes.

    The reference distribution of ``reference: release`` is the fixpoint that the contract defines.

    Start from p of the input, drop all failing classes, recompute p from what stays, until none fails.
    Whatever fails under p of the input is gone for good, so that first round bounds every finer candidate.
    """

    chooses = False

    def under_input(self, classes: Classes) -> Suppressed:
        """Drop the classes that fail."""
        held = holding(self.constraints, classes, self.input)
        gone = np.where(held, 0, classes.sizes)
        certain = gone
        if any(each.merging is not Merging.ANY for each in self.constraints):
            certain = certain_losses(self.constraints, classes, self.input)
        return Suppressed(lambda: self._of_items(classes, held), gone, gone, certain, int(gone.sum()))

    def under_release(self, classes: Classes, first: Suppressed) -> Suppressed:
        """Drop classes that fail under p of what stays, until none does.

        Only the classes that stay are looked at: the others may have values that p no longer has.
        """
        referring = [each for each in self.constraints if each.model.uses_reference]
        kept = first.least == 0
        staying, release = np.flatnonzero(kept), classes.keep(kept)
        while release.number:
            held = holding(referring, release, references_of(release, self.table.sensitive_names))
            if held.all():
                break
            staying, release = staying[held], release.keep(held)
        final = np.zeros_like(kept)
        final[staying] = True
        gone = np.where(final, 0, classes.sizes)
        fewest = int(gone.sum())
        return Suppressed(lambda: self._of_items(classes, final), gone, gone, first.certain, fewest)

    @staticmethod
    def _of_items(classes: Classes, kept: BoolArray) -> IntArray:
        return np.where(kept[classes.class_of], 0, classes.counts)
