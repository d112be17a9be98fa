"""Suppression of the records of a candidate that violates constraints, and of whole violating classes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from anonymizer.model.arrays import BoolArray, IntArray, count
from anonymizer.model.classes import Classes, Reference
from anonymizer.model.table import Table
from anonymizer.privacy.base import ClassConstraint, Merging
from anonymizer.search.base import SearchProblem, sensitive_codes

References = Mapping[str, Reference]
"""The distribution p by the name of the sensitive attribute."""


@dataclass(frozen=True, eq=False)
class Suppressed:
    """The suppressed records of the classes of a candidate.

    Attributes
    ----------
    of_items: computes ``gone`` in a pass over the items.
    of_classes: suppressed records of each class, shape (classes,), int64.
    least: lower bound for each class, shape (classes,), int64; equal to ``of_classes`` where proven optimal.
    of_splits: computes ``certain``.
    fewest: lower bound for all classes together.
    unplaced: further records that any split loses, in any of the classes.
    """

    of_items: Callable[[], IntArray]
    of_classes: IntArray
    least: IntArray
    of_splits: Callable[[], IntArray]
    fewest: int
    unplaced: int = 0

    @cached_property
    def gone(self) -> IntArray:
        """Suppressed records of each item, shape (items,), int64."""
        return self.of_items()

    @cached_property
    def certain(self) -> IntArray:
        """Lower bound for each class under any split of it, shape (classes,), int64."""
        return self.of_splits()


def suppressed_items(
    classes: Classes, gone: IntArray, least: IntArray, certain: IntArray, fewest: int
) -> Suppressed:
    """Return the suppressed records from those of each item, shape (items,)."""
    of_classes = count(classes.class_of, gone, classes.number)
    return Suppressed(lambda: gone, of_classes, least, lambda: certain, fewest)


class Suppressor(ABC):
    """A method of suppression bound to a problem; it remembers solutions.

    Class attributes
    ----------------
    chooses: whether it chooses among sets of records, not by a fixed rule.
    """

    chooses: ClassVar[bool]

    def __init__(self, problem: SearchProblem) -> None:
        self.table = problem.table
        self.constraints = problem.class_constraints
        self.limit = problem.limit

    @cached_property
    def input(self) -> References:
        """The distribution of each sensitive attribute in the table."""
        return references(self.table, self.table.counts)

    @abstractmethod
    def under_input(self, classes: Classes) -> Suppressed:
        """Return the suppressed records under p of the input."""

    @abstractmethod
    def under_release(self, classes: Classes, first: Suppressed) -> Suppressed:
        """Return the suppressed records under p of the remaining ones.

        Parameters
        ----------
        first: the suppressed records under p of the input.
        """


def references(table: Table, counts: IntArray) -> References:
    """Return the distribution of each sensitive attribute over some records of a table.

    Parameters
    ----------
    counts: records of each distinct row that count, shape (combinations,), int64.
    """
    if not table.measure.plain:
        # Of a distinct row with units all records count, or none.
        one = np.zeros(table.combinations, dtype=np.int64)
        every = Classes(one, table.measure, 1, sensitive_codes(table))
        return references_of(every.part(counts)[0], table.sensitive_names)
    return {
        each.name: Reference(
            count(table.sensitive_codes(each.name).astype(np.int64), counts, each.column.size)
        )
        for each in table.sensitive
    }


def references_of(classes: Classes, names: Sequence[str]) -> References:
    """Return the distribution of each sensitive attribute over all classes."""
    return {name: classes.reference(name) for name in names}


def reference_for(constraint: ClassConstraint, references: References) -> Reference | None:
    """Return the distribution for a constraint, None for one without an attribute."""
    return None if constraint.attribute is None else references[constraint.attribute].of(constraint.unit)


def holding(constraints: Sequence[ClassConstraint], classes: Classes, *references: References) -> BoolArray:
    """Return which classes satisfy every constraint under each of the references, shape (classes,)."""
    held = np.ones(classes.number, dtype=bool)
    # Counts of sensitive values give the sizes in units as well.
    for constraint in sorted(constraints, key=lambda each: each.attribute is None):
        for own in references if constraint.model.uses_reference else references[:1]:
            held &= constraint.holds(classes, reference_for(constraint, own))
    return held


def certain_losses(
    constraints: Sequence[ClassConstraint], classes: Classes, references: References
) -> IntArray:
    """Return the largest certain loss of each class over the constraints, shape (classes,), int64."""
    losses = np.zeros(classes.number, dtype=np.int64)
    for constraint in constraints:
        own = constraint.certain_losses(classes, reference_for(constraint, references))
        np.maximum(losses, own, out=losses)
    return losses


class WholeClasses(Suppressor):
    """Suppresses violating classes as a whole.

    The reference distribution of ``reference: release`` is the fixpoint that the contract defines.

    Start from p of the input, drop all violating classes, recompute p from the rest, until none violates a
    constraint. Classes dropped under p of the input never return, so that the first round bounds every finer
    candidate.
    """

    chooses = False

    def under_input(self, classes: Classes) -> Suppressed:
        """Drop the violating classes."""
        held = holding(self.constraints, classes, self.input)
        gone = np.where(held, 0, classes.sizes)

        def of_splits() -> IntArray:
            if all(each.merging is Merging.ANY for each in self.constraints):
                return gone
            return certain_losses(self.constraints, classes, self.input)

        return Suppressed(lambda: self._of_items(classes, held), gone, gone, of_splits, int(gone.sum()))

    def under_release(self, classes: Classes, first: Suppressed) -> Suppressed:
        """Drop violating classes under p of the rest, until none violates a constraint.

        Only the remaining classes are judged: others may have values that p no longer has.
        """
        referring = [each for each in self.constraints if each.model.uses_reference]
        closed = self._closed if self.table.measure.plain else self._units_closed
        kept = closed(referring, classes, first.least == 0)
        gone = np.where(kept, 0, classes.sizes)
        fewest = int(gone.sum())
        return Suppressed(lambda: self._of_items(classes, kept), gone, gone, lambda: first.certain, fewest)

    @staticmethod
    def _closed(constraints: Sequence[ClassConstraint], classes: Classes, kept: BoolArray) -> BoolArray:
        """Return which classes stay, shape (classes,), from the counts of their values alone.

        Parameters
        ----------
        kept: classes that stay at first, shape (classes,).
        """
        parts = []
        for each in constraints:
            bound = each.view(classes)
            inside = kept[bound.owner]
            parts.append((each.model, bound.view.keep(inside), bound.owner[inside]))
        while True:
            violating = np.zeros_like(kept)
            for model, view, owner in parts:
                if len(owner):
                    violating[owner[~model.holds(view, view.counted.reference())]] = True
            if not violating.any():
                return kept
            kept = kept & ~violating
            parts = [
                (model, view.keep(~violating[owner]), owner[~violating[owner]])
                for model, view, owner in parts
            ]

    def _units_closed(
        self, constraints: Sequence[ClassConstraint], classes: Classes, kept: BoolArray
    ) -> BoolArray:
        """Return which classes stay where units count: one in several classes counts once in p."""
        staying, release = np.flatnonzero(kept), classes.keep(kept)
        while release.number:
            held = holding(constraints, release, references_of(release, self.table.sensitive_names))
            if held.all():
                break
            staying, release = staying[held], release.keep(held)
        final = np.zeros_like(kept)
        final[staying] = True
        return final

    @staticmethod
    def _of_items(classes: Classes, kept: BoolArray) -> IntArray:
        # Products take a third of the time of a choice.
        return classes.counts * ~kept.take(classes.class_of)


class RepeatedSuppression(Suppressor):
    """Suppresses violating classes where other classes lose records by that.

    All other records of their units go too, if units are suppressed as a whole; and a class of the columns
    that one adversary knows has records of many classes of another's. So all are judged again, until none
    violates a constraint. Under ``reference: release`` the same is then repeated with p of the rest. A class
    that violates a constraint in the first round is suppressed as in ``WholeClasses``, so that its bounds on
    finer candidates hold. If satisfied classes stay so with more records, what stays of a finer candidate
    stays here: it is the largest set of records of which no class violates a constraint, as the union of
    two such sets is one too.
    """

    chooses = False

    def under_input(self, classes: Classes) -> Suppressed:
        """Suppress what violates constraints under p of the input."""
        everything = np.ones(len(classes.counts), dtype=np.bool_)
        kept = self._closed(classes, everything, self.constraints)
        growing = [each for each in self.constraints if each.merging is Merging.ANY]
        if len(growing) == len(self.constraints):
            return self._suppressed(classes, kept)
        known = [each for each in self.constraints if each.knowledge is not None]
        all_known = [each for each in self.constraints if each.knowledge is None]
        certain = certain_losses(all_known, classes, self.input)
        if growing:
            lost = self._suppressed(classes, self._closed(classes, everything, growing))
            certain = np.maximum(certain, lost.of_classes)
        further = max((self._further(classes, each, certain) for each in known), default=0)
        return replace(self._suppressed(classes, kept, certain), unplaced=further)

    def _further(self, classes: Classes, constraint: ClassConstraint, certain: IntArray) -> int:
        """Return how many records any split of an adversary's classes loses besides the certain ones."""
        reference, own = reference_for(constraint, self.input), constraint.of_everything
        further = []
        for known in constraint.known(classes):
            losses = own.certain_losses(known.classes, reference)
            further.append(losses - count(known.owner, certain, known.classes.number))
        return max(int(each.clip(min=0).sum()) for each in further)

    def under_release(self, classes: Classes, first: Suppressed) -> Suppressed:
        """Suppress what violates constraints under p of the rest."""
        kept = self._closed(classes, first.gone == 0, self.constraints, moving=True)
        return replace(self._suppressed(classes, kept, first.certain), unplaced=first.unplaced)

    def _closed(
        self,
        classes: Classes,
        kept: BoolArray,
        constraints: Sequence[ClassConstraint],
        *,
        moving: bool = False,
    ) -> BoolArray:
        """Return the items that stay, shape (items,), in satisfied classes; of a tied unit all or none.

        Parameters
        ----------
        kept: items that stay at first, shape (items,).
        moving: whether p is the distribution over what stays, not over the input.
        """
        while True:
            part, items = classes.part(np.where(kept, classes.counts, 0))
            if not part.number:
                return kept
            p = references_of(part, self.table.sensitive_names) if moving else self.input
            held = holding(constraints, part, p)
            if held.all():
                return kept
            violating = np.zeros_like(kept)
            violating[items[~held[part.class_of]]] = True
            ties = classes.measure.ties
            kept = kept & ~(violating if ties is None else ties.joined(violating))

    @staticmethod
    def _suppressed(classes: Classes, kept: BoolArray, certain: IntArray | None = None) -> Suppressed:
        """Return what does not stay; without other bounds, every finer candidate loses it too."""
        gone = np.where(kept, 0, classes.counts)
        own = count(classes.class_of, gone, classes.number)
        return suppressed_items(classes, gone, own, own if certain is None else certain, int(gone.sum()))
