"""Judging the classes of a candidate: what stays, what is suppressed, and what is certain below it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Classes
from anonymizer.privacy.base import Merging, describe
from anonymizer.search.base import SearchProblem
from anonymizer.search.suppression.methods import suppressor_for
from anonymizer.search.suppression.suppressor import Suppressed, holding


@dataclass(frozen=True, eq=False)
class CandidateVerdict:
    """What becomes of the classes of a candidate.

    Attributes
    ----------
    sizes: records of each class that stay, shape (classes,), int64.
    found: what is suppressed.
    kept_suppressed: whether the suppressed records stay as one class.
    suppressed: number of suppressed records.
    least: no fewer records can be suppressed at this candidate; equal where that is proven optimal.
    failed: names of the constraints (and ``suppression.limit``) that the candidate fails as a whole.
    losses: records of each class that every finer candidate must suppress, shape (classes,), int64.
    settled: whether no other choice of what is suppressed could make the candidate better, or valid.
    """

    sizes: IntArray
    found: Suppressed
    kept_suppressed: bool
    suppressed: int
    least: int
    failed: tuple[str, ...]
    losses: IntArray
    settled: bool

    @property
    def gone(self) -> IntArray:
        """Records of each item of the classes that are suppressed, shape (items,), int64."""
        return self.found.gone

    @property
    def kept(self) -> BoolArray:
        """Classes of which records stay, shape (classes,), bool."""
        return self.sizes > 0

    @property
    def valid(self) -> bool:
        """Whether the candidate may be released."""
        return not self.failed


class Judge:
    """Applies the constraints of a problem to candidates."""

    def __init__(self, problem: SearchProblem) -> None:
        self._problem = problem
        self._suppressor = suppressor_for(problem)
        referring = any(each.model.uses_reference for each in problem.class_constraints)
        self._moving = problem.moving_reference and referring
        self.lossless_merging = all(
            constraint.merging is Merging.ANY for constraint in problem.class_constraints
        )

    @property
    def chooses(self) -> bool:
        """Whether there is a choice of what is suppressed of a candidate."""
        return self._suppressor.chooses

    def judge(self, classes: Classes) -> CandidateVerdict:
        """Tell what becomes of the classes of a candidate."""
        found = self._suppressor.under_input(classes)
        certain = found.certain
        kept_suppressed = self._problem.keep_rows and self._star_holds(classes, found)
        if self._moving:
            moved = self._suppressor.under_release(classes, found)
            certain = moved.certain
            # Suppressed records that stay leave p as it is; removed, they may be fewer.
            kept_suppressed = kept_suppressed and found.of_classes.sum() <= moved.of_classes.sum()
            fewest = found.fewest if kept_suppressed else moved.fewest
            if self._problem.keep_rows and self._suppressor.chooses:
                fewest = min(found.fewest, moved.fewest)
            found = replace(found if kept_suppressed else moved, fewest=fewest)
        sizes = classes.sizes - found.of_classes
        suppressed, least = int(found.of_classes.sum()), found.fewest
        broken = (
            self._broken_without(classes, found)
            if not kept_suppressed and suppressed < classes.records
            else []
        )
        failed = [*self._failures(classes, kept_suppressed, suppressed), *broken]
        # Whoever may choose the records may break no model of the whole table with others, or with more.
        settled = least > self._problem.limit or (
            least == suppressed and not (broken and self._suppressor.chooses)
        )
        return CandidateVerdict(
            sizes, found, kept_suppressed, suppressed, least, tuple(failed), certain, settled
        )

    def _star_holds(self, classes: Classes, found: Suppressed) -> bool:
        """Tell whether the suppressed records may stay as one class; p is the input's then.

        Where that class, or a model of the whole table with it, does not hold, they are removed instead.
        """
        if not found.of_classes.any():
            return False
        star = classes.part(found.gone)[0].pooled()
        if not holding(self._problem.class_constraints, star, self._suppressor.input)[0]:
            return False
        return not self._broken(self._release(classes, found).beside(star))

    @staticmethod
    def _release(classes: Classes, found: Suppressed) -> Classes:
        kept = found.of_classes == 0
        if (kept | (found.of_classes == classes.sizes)).all():
            # What was counted of whole classes need not be counted again.
            return classes.keep(kept)
        return classes.part(classes.counts - found.gone)[0]

    def _broken(self, release: Classes) -> list[str]:
        """Return the names of the models of the whole table that do not hold on a release."""
        return [describe(each) for each in self._problem.table_constraints if not each.holds(release)]

    def _broken_without(self, classes: Classes, found: Suppressed) -> list[str]:
        """Return the same with the suppressed records removed; starred, they were asked before they stay."""
        return self._broken(self._release(classes, found)) if self._problem.table_constraints else []

    def _failures(self, classes: Classes, kept_suppressed: bool, suppressed: int) -> list[str]:
        failed = []
        if suppressed > self._problem.limit:
            failed.append("suppression.limit")
        if suppressed == classes.records and not kept_suppressed:
            failed.append("no records left")
        return failed
