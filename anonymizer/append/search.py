"""The recoding of an earlier release as a search: applied to new records, which are judged together with it.

Earlier records are published already, so only new ones are suppressed. An adversary who holds both releases
can subtract them, so the new records are also measured alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from anonymizer.append.records import NewRecords
from anonymizer.errors import format_measure
from anonymizer.model.arrays import BoolArray, IntArray, group_keys
from anonymizer.model.classes import Classes, Measurement, Reference, SensitiveCodes, released
from anonymizer.model.measure import Measure
from anonymizer.model.recoding import Outcome, Recoding, Status
from anonymizer.privacy.base import ClassConstraint, CountedConstraint, describe
from anonymizer.release.classes import measure, value_codes
from anonymizer.release.comparison import common_codes
from anonymizer.release.recoding import StoredRecoding
from anonymizer.search.base import Control, SearchAlgorithm, SearchProblem

APPLIED = "the recoding of the earlier run was applied without a search"


class Combined:
    """The classes of earlier and new records together, by their published texts.

    Items are the distinct rows of the earlier release, followed by the rows of the recoding's table.

    Attributes
    ----------
    earlier: number of items of the earlier release.
    classes: all items, none of them suppressed.

    Parameters
    ----------
    recoding: of the new records; its suppressed rows are items too.
    """

    def __init__(self, new: NewRecords, recoding: Recoding) -> None:
        table, groups, source = recoding.table, new.groups, new.earlier.name
        self.earlier = len(groups.counts)
        counts = np.concatenate([groups.counts, table.counts])
        keys, number = np.zeros(len(counts), dtype=np.int64), 1
        published = recoding.published()
        for position, column in enumerate(published):
            (before, now), labels = common_codes(groups.values[position], column.labels)
            codes = np.concatenate([before[groups.codes[:, position]], now[column.codes]])
            keys, distinct = group_keys(keys * labels + codes, number * labels)
            number = len(distinct)
        sensitive = {}
        for position, attribute in enumerate(new.attributes, start=len(published)):
            own = table.sensitive[position - len(published)].column.texts
            before = value_codes(source, attribute.column, groups.values[position])
            now = value_codes(source, attribute.column, own)
            codes = np.concatenate(
                [before[groups.codes[:, position]], now[table.sensitive_codes(attribute.name)]]
            )
            sensitive[attribute.name] = SensitiveCodes(attribute, codes)
        self.classes = Classes(keys, Measure(counts), number, sensitive)

    @property
    def new(self) -> BoolArray:
        """The items of new records, shape (items,), bool."""
        return np.arange(len(self.classes.counts)) >= self.earlier

    def part(self, kept: BoolArray) -> tuple[Classes, IntArray]:
        """Return the classes of some items, and the position of each of their items among all items."""
        return self.classes.part(np.where(kept, self.classes.counts, 0))


@dataclass(frozen=True, eq=False)
class AppendVerdict:
    """Whether new records can be appended.

    Attributes
    ----------
    suppressed: rows of the recoding's table that must not be released, shape (rows,), bool.
    records: number of suppressed records.
    reasons: why the other records cannot be appended, one sentence each; empty if they can.
    """

    suppressed: BoolArray
    records: int
    reasons: tuple[str, ...]


class CombinedJudge:
    """Applies constraints to an earlier release together with new records.

    Earlier records are published already and never suppressed. In a class that violates a constraint, all new
    records are suppressed. If p is the distribution in the release, suppression changes it, so the remaining
    classes are judged again until none with new records fails. Every round suppresses more, so this ends.

    Parameters
    ----------
    limit: maximum number of suppressed records.
    alone: whether the classes of the new records alone must satisfy the constraints as well.
    """

    def __init__(self, constraints: Sequence[CountedConstraint], limit: int, *, alone: bool) -> None:
        self._classes = [each for each in constraints if isinstance(each, ClassConstraint)]
        self._constraints = tuple(constraints)
        self._limit = limit
        self._alone = alone

    def judge(self, combined: Combined, suppressed: BoolArray) -> AppendVerdict:
        """Return which new records must be suppressed, and which constraints are violated even then.

        Parameters
        ----------
        suppressed: rows of the recoding's table that are suppressed already, shape (rows,), bool.
        """
        new = combined.new
        kept = ~new
        kept[new] = ~suppressed
        while True:
            failing = self._failing(combined, kept)
            if self._alone:
                failing |= self._failing(combined, kept & new)
            failing &= new & kept
            if not failing.any():
                break
            kept = kept & ~failing
        records = int(combined.classes.counts[new & ~kept].sum())
        return AppendVerdict(~kept[new], records, tuple(self._reasons(combined, kept, records)))

    def measured(self, combined: Combined, suppressed: BoolArray) -> list[Measurement]:
        """Measure every constraint on the new records alone, as a recipient of both releases can."""
        kept = combined.new
        kept[combined.earlier :] = ~suppressed
        return measure(combined.part(kept)[0], self._constraints) if kept.any() else []

    def _failing(self, combined: Combined, kept: BoolArray) -> BoolArray:
        """Return the items in classes that violate a constraint, shape (items,), bool."""
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
                what = f"{describe(constraint)} would measure {format_measure(measurement.measured)}"
                reasons.append(f"{what} after the new records are appended")
        if suppressed > self._limit:
            number = int(combined.classes.counts[combined.new].sum())
            reasons.append(
                f"{suppressed:,} of {number:,} new records would be suppressed, because they are in no class "
                f"that satisfies the constraints; the limit allows {self._limit:,}"
            )
        if not (kept & combined.new).any():
            reasons.append("no new record would be released")
        return reasons


def _reference(classes: Classes, constraint: ClassConstraint) -> Reference | None:
    if constraint.attribute is None:
        return None
    return classes.sensitive_counts(constraint.attribute)[0].reference()


@dataclass(frozen=True, eq=False, kw_only=True)
class AppendOutcome(Outcome):
    """A recoding that was judged together with the earlier release.

    Attributes
    ----------
    verdict: whether the new records can be appended with it.
    searched: whether it differs from the earlier recoding.
    alone: every constraint, measured on the new records alone.
    """

    verdict: AppendVerdict
    searched: bool = False
    alone: Sequence[Measurement] = ()


class FixedRecoding(SearchAlgorithm):
    """Applies a given recoding, and suppresses the new records in classes that violate a constraint.

    It has no name, as no config can ask for it.

    Parameters
    ----------
    otherwise: a search for another recoding, if the new records cannot be appended with this one; None to
        refuse them.
    """

    def __init__(
        self,
        recoding: StoredRecoding,
        new: NewRecords,
        judge: CombinedJudge,
        otherwise: Callable[[Control], Outcome] | None,
    ) -> None:
        super().__init__()
        self._recoding = recoding
        self._judge = judge
        self._new = new
        self._otherwise = otherwise

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        """Return the recoding without the suppressed records, or the one that was searched instead.

        Raises
        ------
        InputError: the earlier recoding does not fit the hierarchies.
        """
        applied = self._recoding.applied_to(problem.table)
        combined = Combined(self._new, applied.recoding(np.zeros(problem.table.combinations, dtype=bool)))
        verdict = self._judge.judge(combined, applied.uncovered)
        if not verdict.reasons:
            recoding = applied.recoding(verdict.suppressed)
            objective = problem.metric.value(released(recoding, problem.k))
            alone = self._judge.measured(combined, verdict.suppressed)
            return _outcome(verdict, recoding, objective=objective, alone=alone)
        return _outcome(verdict) if self._otherwise is None else self._judged(self._otherwise(control))

    def _judged(self, found: Outcome) -> Outcome:
        """Judge a searched recoding, which satisfies the constraints on the new records alone."""
        if found.recoding is None:
            return found
        removed = found.recoding.removed
        combined = Combined(self._new, found.recoding)
        verdict = self._judge.judge(combined, removed)
        if verdict.reasons:
            return _outcome(verdict)
        if (verdict.suppressed != removed).any():
            return _outcome(replace(verdict, reasons=(FAILING,)))
        alone = self._judge.measured(combined, removed)
        return AppendOutcome(**vars(found), verdict=verdict, searched=True, alone=alone)


FAILING = "with the new recoding, classes violate the constraints after the new records are appended"


def _outcome(verdict: AppendVerdict, recoding: Recoding | None = None, **known: Any) -> AppendOutcome:
    """Return the outcome of the one recoding that was tried; None if it cannot be released."""
    status = Status.INFEASIBLE if recoding is None else Status.SATISFIED
    own: dict[str, Any] = {"objective": None, "bound": None, "candidates": 1, "evaluated": 1, **known}
    return AppendOutcome(status=status, recoding=recoding, chosen=(None, (APPLIED,)), verdict=verdict, **own)
