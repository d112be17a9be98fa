"""Suppressing the fewest records whose removal makes all models hold."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import Classes
from anonymizer.privacy.base import Merging
from anonymizer.search.base import SearchProblem
from anonymizer.search.suppression.fixed_reference import FixedReference
from anonymizer.search.suppression.moving_reference import MovingReference
from anonymizer.search.suppression.rules import Rules, rules_of
from anonymizer.search.suppression.sensitive_cells import sensitive_cells
from anonymizer.search.suppression.suppressor import (
    References,
    Suppressed,
    Suppressor,
    certain_losses,
    holding,
    references_of,
    suppressed_items,
)
from anonymizer.search.suppression.whole_classes import WholeClasses

ROUNDS = 12
"""How often the reference of what stays is put in for the one before, until they agree."""


class OptimalRecords(Suppressor):
    """Suppresses the fewest records of each failing class, all of them where none could stay.

    With p of what stays, records of one class move the reference of all.

    Solutions are looked for by putting in the reference of what stays for the one before. Where that agrees
    with itself, or once nothing fails any more, everything is verified under the reference of what stays.
    They are bounded by the conditions that hold under any reference within the limit.
    """

    chooses = True

    def __init__(self, problem: SearchProblem) -> None:
        super().__init__(problem)
        # With a moving reference, what is suppressed under p of the input bounds nothing.
        self._worthwhile = self.table.records if problem.moving_reference else problem.limit
        self._fixed = self._under(self.input)
        self._names = self.table.sensitive_names
        self._whole = WholeClasses(problem)
        self._rules: dict[int, Rules] = {}
        self._moving = MovingReference(self.table, self.constraints, self.input)

    def under_input(self, classes: Classes) -> Suppressed:
        """Suppress the fewest records of each class."""
        return self._fixed.suppress(classes)

    def under_release(self, classes: Classes, first: Suppressed) -> Suppressed:
        """Return the best of what repeated solving finds; optimal only where the bound says so."""
        found = [gone for gone in (self._repeated(classes, first.gone),) if gone is not None]
        found.append(self._descended(classes, first.gone))
        found.append(self._by_classes(classes))
        best = self._improved(classes, min(found, key=_records))
        least = self._least(classes, self.limit)
        fewest, below = _records(least), min(_records(best), self.limit + 1)
        if 0 < below <= self.limit:
            # What is better moves p less than the best does.
            fewest = max(fewest, min(_records(self._least(classes, below - 1)), below))
        joint = self._moving.suppress(classes, fewest, below)
        gone = best if joint.gone is None else joint.gone
        return suppressed_items(classes, gone, least, self._certain(classes, least), joint.fewest)

    def _certain(self, classes: Classes, least: IntArray) -> IntArray:
        """Bound the records that go however the classes are split, given what goes if they are not.

        Where merging can break a model, the parts of a class may lose less than the class itself.
        """
        if all(each.merging is not Merging.NONE for each in self.constraints):
            return least
        fixed = [each for each in self.constraints if not each.model.uses_reference]
        return certain_losses(fixed, classes, self.input)

    def _by_classes(self, classes: Classes) -> IntArray:
        """Suppress whole classes: what that leaves is a solution too."""
        return self._whole.under_release(classes, self._whole.under_input(classes)).gone

    def _improved(self, classes: Classes, gone: IntArray) -> IntArray:
        """Solve anew under the reference of the best while that suppresses fewer records."""
        while True:
            left, _ = classes.part(classes.counts - gone)
            if not left.number:
                return gone
            anew = self._under(references_of(left, self._names)).suppress(classes).gone
            anew = self._descended(classes, anew)
            if _records(anew) >= _records(gone):
                return gone
            gone = anew

    def _repeated(self, classes: Classes, gone: IntArray) -> IntArray | None:
        """Solve anew under the reference of what stays until it verifies itself; None if it does not."""
        seen: set[bytes] = set()
        for _ in range(ROUNDS):
            left, _ = classes.part(classes.counts - gone)
            references = references_of(left, self._names)
            if not left.number or holding(self.constraints, left, references).all():
                return gone
            key = b"".join(references[name].counts.tobytes() for name in self._names)
            if key in seen:
                return None
            seen.add(key)
            gone = self._under(references).suppress(classes).gone
        return None

    def _descended(self, classes: Classes, gone: IntArray) -> IntArray:
        """Suppress more of what stays until it holds under its own reference."""
        while True:
            left, items = classes.part(classes.counts - gone)
            references = references_of(left, self._names)
            if not left.number or holding(self.constraints, left, references).all():
                return gone
            gone = gone.copy()
            gone[items] += self._under(references).suppress(left).gone

    def _drifted(self, number: int) -> Rules:
        """Return what holds under any reference that the input's can become by losing so many records."""
        if number not in self._rules:
            share = Fraction(number, self.table.records)
            self._rules[number] = rules_of(self.table, self.constraints, self.input, share)
        return self._rules[number]

    def _under(self, references: References) -> FixedReference:
        return FixedReference(self.table, self.constraints, references, self._worthwhile)

    def _least(self, classes: Classes, number: int) -> IntArray:
        """Bound the records of each class where no more than a number go in all, whatever p is then."""
        fixed = [each for each in self.constraints if not each.model.uses_reference]
        least = certain_losses(fixed, classes, self.input)
        chosen = least < classes.sizes
        if number >= self.table.records or not chosen.any():
            return least
        cells = sensitive_cells(classes, chosen, self.table.sensitive)
        for rule in self._drifted(number).rules:
            own = classes.sizes[cells.chosen] - rule.most(cells)
            least[cells.chosen] = np.maximum(least[cells.chosen], own)
        return least


def _records(counts: IntArray) -> int:
    return int(counts.sum())
