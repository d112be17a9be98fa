"""Which new records may join the earlier release, and whether it may go on with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.audit.classes import measure
from anonymizer.flow.applying.combined import Combined
from anonymizer.model.arrays import BoolArray
from anonymizer.model.classes import Classes, Measurement, Reference
from anonymizer.privacy.base import ClassConstraint, CountedConstraint, TableConstraint, describe


@dataclass(frozen=True, eq=False)
class AppendVerdict:
    """What becomes of new records.

    Attributes
    ----------
    suppressed: rows of the recoding's table that must not be released, shape (rows,), bool.
    records: how many records these are.
    reasons: why the earlier release cannot go on with the others, a sentence each; none where it can.
    """

    suppressed: BoolArray
    records: int
    reasons: tuple[str, ...]


class CombinedJudge:
    """Applies constraints to an earlier release together with new records.

    Records of the earlier release are never dropped: they are out. Of a class that fails, its new records are
    suppressed, all of them. Where p is that of the release, what is suppressed moves it, so the classes that
    stay are asked again until none with new records fails; each round drops more, so that there is an end.

    Parameters
    ----------
    alone: whether the classes that new records make by themselves must hold as well.
    """

    def __init__(self, constraints: Sequence[CountedConstraint], limit: int, *, alone: bool) -> None:
        self._classes = [each for each in constraints if isinstance(each, ClassConstraint)]
        self._tables = [each for each in constraints if isinstance(each, TableConstraint)]
        self._constraints = tuple(constraints)
        self._limit = limit
        self._alone = alone

    def judge(self, combined: Combined, gone: BoolArray) -> AppendVerdict:
        """Return which new records have to be suppressed, and what still fails without them.

        Parameters
        ----------
        gone: rows of the recoding's table that are suppressed already, shape (rows,), bool.
        """
        new = combined.new
        kept = ~new
        kept[new] = ~gone
        while True:
            failing = self._failing(combined, kept)
            if self._alone:
                failing |= self._failing(combined, kept & new)
            failing &= new & kept
            if not failing.any():
                break
            kept = kept & ~failing
        suppressed = ~kept[new]
        records = int(combined.classes.counts[new & ~kept].sum())
        return AppendVerdict(suppressed, records, tuple(self._reasons(combined, kept, records)))

    def measured(self, combined: Combined, suppressed: BoolArray) -> list[Measurement]:
        """Measure every constraint on the new records alone, which whoever has both releases can tell."""
        kept = combined.new
        kept[combined.earlier :] = ~suppressed
        return measure(combined.part(kept)[0], self._constraints) if kept.any() else []

    def _failing(self, combined: Combined, kept: BoolArray) -> BoolArray:
        """Tell which items are in a class that fails, shape (items,)."""
        failing = np.zeros(len(kept), dtype=bool)
        if kept.any():
            classes, items = combined.part(kept)
            held = np.ones(classes.number, dtype=bool)
            for each in self._classes:
                held &= each.holds(classes, _reference(classes, each))
            failing[items] = ~held[classes.class_of]
        return failing

    def _reasons(self, combined: Combined, kept: BoolArray, suppressed: int) -> list[str]:
        classes, _ = combined.part(kept)
        reasons = []
        for constraint, measurement in zip(
            self._constraints, measure(classes, self._constraints), strict=True
        ):
            if not measurement.satisfied:
                what = f"{describe(constraint)} would measure {_shown_share(measurement.measured)}"
                reasons.append(f"{what} in what is released already, when the new records join it")
        if suppressed > self._limit:
            number = int(combined.classes.counts[combined.new].sum())
            reasons.append(
                f"{suppressed:,} of {number:,} new records are in no class that holds and would be "
                f"suppressed; the limit allows {self._limit:,}"
            )
        if not (kept & combined.new).any():
            reasons.append("no new record would be released")
        return reasons


def _reference(classes: Classes, constraint: ClassConstraint) -> Reference | None:
    if constraint.attribute is None:
        return None
    return classes.sensitive_counts(constraint.attribute)[0].reference()


def _shown_share(measured: object) -> str:
    if isinstance(measured, list):
        return ", ".join(_shown_share(each) for each in measured)
    return f"{measured:.4g}" if isinstance(measured, float) else str(measured)
