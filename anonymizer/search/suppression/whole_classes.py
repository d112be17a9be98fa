"""Suppressing all records of every class that fails."""

from __future__ import annotations

import numpy as np

from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Classes
from anonymizer.privacy.base import Merging
from anonymizer.search.suppression.suppressor import (
    Suppressed,
    Suppressor,
    certain_losses,
    holding,
    references_of,
)


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
