"""Judging the classes of a candidate: what stays, what is suppressed, and what is certain below it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.core.arrays import BoolArray, IntArray
from anonymizer.core.classes import Classes, Reference
from anonymizer.core.grouping import count
from anonymizer.privacy.base import Merging
from anonymizer.privacy.constraint import ClassConstraint, describe
from anonymizer.search.base import Problem


@dataclass(frozen=True, eq=False)
class Verdict:
    """What becomes of the classes of a candidate.

    Attributes
    ----------
    kept: classes that stay, shape (classes,), bool.
    starred: whether the suppressed records stay as one class.
    suppressed: number of suppressed records.
    failed: names of the constraints (and ``suppression.limit``) that the candidate fails as a whole.
    losses: records of each class that every finer candidate must suppress, shape (classes,), int64.
    """

    kept: BoolArray
    starred: bool
    suppressed: int
    failed: tuple[str, ...]
    losses: IntArray

    @property
    def valid(self) -> bool:
        """Whether the candidate may be released."""
        return not self.failed


class Judge:
    """Applies the constraints of a problem to candidates.

    The reference distribution of ``reference: release`` is the fixpoint that the contract defines: start
    from p of the input, drop all failing classes, recompute p from what stays, until none fails. Whatever
    fails under p of the input is gone for good, so that first round bounds every finer candidate.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        table = problem.table
        self._input = {
            name: Reference(
                count(table.sensitive_codes(name).astype(np.int64), table.counts, attribute.column.size)
            )
            for name, attribute in zip(table.sensitive_names, table.sensitive, strict=True)
        }
        self._referring = [each for each in problem.class_constraints if each.model.uses_reference]
        self._moving = problem.moving_reference and bool(self._referring)
        self.lossless_merging = all(
            constraint.merging is Merging.ANY for constraint in problem.class_constraints
        )

    def judge(self, classes: Classes) -> Verdict:
        """Tell what becomes of the classes of a candidate."""
        kept = self._holding(classes, self._input)
        losses = self._certain_losses(classes, kept)
        starred = self._problem.keep_rows and not kept.all() and self._star_holds(classes, kept)
        if self._moving and not starred:
            kept = self._fixpoint(classes, kept)
        suppressed = classes.records - int(classes.sizes[kept].sum())
        failed = self._failures(classes, kept, starred, suppressed)
        return Verdict(kept, starred, suppressed, failed, losses)

    def _holding(self, classes: Classes, references: dict[str, Reference]) -> BoolArray:
        kept = np.ones(classes.number, dtype=bool)
        for constraint in self._problem.class_constraints:
            kept &= constraint.holds(classes, self._reference(constraint, references))
        return kept

    @staticmethod
    def _reference(constraint: ClassConstraint, references: dict[str, Reference]) -> Reference | None:
        return None if constraint.attribute is None else references[constraint.attribute]

    def _certain_losses(self, classes: Classes, kept: BoolArray) -> IntArray:
        if self.lossless_merging:
            return np.where(kept, 0, classes.sizes)
        losses = np.zeros(classes.number, dtype=np.int64)
        for constraint in self._problem.class_constraints:
            reference = self._reference(constraint, self._input)
            np.maximum(losses, constraint.certain_losses(classes, reference), out=losses)
        return losses

    def _star_holds(self, classes: Classes, kept: BoolArray) -> bool:
        """Tell whether the dropped records may stay as one class; p is the input's then.

        Where that class, or a model of the whole table with it, does not hold, they are removed instead.
        """
        if not self._holding(classes.merged(~kept), self._input)[0]:
            return False
        return not self._broken(classes.with_rest_merged(kept))

    def _broken(self, release: Classes) -> list[str]:
        """Return the names of the models of the whole table that do not hold on a release."""
        return [describe(each) for each in self._problem.table_constraints if not each.holds(release)]

    def _fixpoint(self, classes: Classes, kept: BoolArray) -> BoolArray:
        """Drop classes that fail under p of what stays, until none does.

        Only the classes that stay are looked at: the others may have values that p no longer has.
        """
        staying, release = np.flatnonzero(kept), classes.keep(kept)
        while release.number:
            references = {name: release.sensitive_counts(name)[0].reference() for name in self._input}
            held = np.ones(release.number, dtype=bool)
            for constraint in self._referring:
                held &= constraint.holds(release, self._reference(constraint, references))
            if held.all():
                break
            staying, release = staying[held], release.keep(held)
        final = np.zeros_like(kept)
        final[staying] = True
        return final

    def _failures(self, classes: Classes, kept: BoolArray, starred: bool, suppressed: int) -> tuple[str, ...]:
        failed = []
        if suppressed > self._problem.limit:
            failed.append("suppression.limit")
        if not kept.any() and not starred:
            failed.append("no records left")
        elif not starred and self._problem.table_constraints:
            # With a starred class they were asked before it was let stay.
            failed += self._broken(classes.keep(kept))
        return tuple(failed)
