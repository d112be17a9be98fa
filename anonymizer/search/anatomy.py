"""The algorithm ``anatomy``: exact quasi-identifiers, and sensitive values in groups."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

import numpy as np
from pydantic import Field

from anonymizer.errors import InputError, Interrupted
from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import released
from anonymizer.model.outcome import Outcome, Step
from anonymizer.model.recoding import GroupRecoding
from anonymizer.model.report import Status
from anonymizer.plugins import Settings
from anonymizer.search.base import SearchAlgorithm, SearchProblem
from anonymizer.search.control import Control, Progress
from anonymizer.search.grouping.candidate import Grouped, GroupJudge
from anonymizer.search.grouping.deal import Records, all_distinct, dealt, highest_cap, values_in
from anonymizer.search.grouping.ways import GROUPINGS


class GroupingName(StrEnum):
    """Which records share a group."""

    RANDOM = "random"
    LARGEST = "largest"
    SIMILAR = "similar"


class AnatomySettings(Settings):
    """Parameters of anatomy."""

    grouping: GroupingName = Field(
        default=GroupingName.RANDOM,
        description="which records share a group: random, of the values that are left most often, or similar",
    )


class Anatomy(SearchAlgorithm):
    """Publishes quasi-identifiers as they are, and the sensitive values of each group in a second table.

    Groups are as many as the constraints allow. With l-diversity these are floor(n / l), each with l or l + 1
    records of different values, whenever no value has more than n / l of the n records. Where that is not
    enough for the other constraints there are fewer and larger groups, down to one; where not even that is,
    the most frequent values lose records within the suppression limit.

    Source: Xiao, Tao, "Anatomy: Simple and Effective Privacy Preservation" (VLDB 2006), section 4; instead of
    a heap of buckets the records are dealt by value and then exchanged.
    """

    name = "anatomy"
    Settings = AnatomySettings
    settings: AnatomySettings
    in_groups = True

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        """Return the release of most groups among those of the least loss.

        Raises
        ------
        InputError: there is not exactly one sensitive attribute.
        """
        sensitive = problem.table.sensitive_names
        if len(sensitive) != 1:
            found = f"{len(sensitive)} ({', '.join(sensitive)})" if sensitive else "none"
            raise InputError(
                f"algorithm.name: anatomy publishes the values of one sensitive attribute in groups; found "
                f"{found}; give exactly one column role: sensitive, or use another algorithm, such as local"
            )
        return _Run(problem, control, self.settings).run()


class _Run:
    def __init__(self, problem: SearchProblem, control: Control, settings: AnatomySettings) -> None:
        self._problem = problem
        self._control = control
        self._random = np.random.default_rng([problem.seed, 0])
        self._records = Records.of(problem.table, self._random)
        self._judge = GroupJudge(problem, self._records)
        self._grouping = GROUPINGS[settings.grouping.value]
        self._steps: list[Step] = []
        self._best: tuple[float, GroupRecoding] | None = None
        self._interrupted = False

    def run(self) -> Outcome:
        failed = self._judge.hopeless()
        if failed:
            self._steps.append(Step({"groups": 1}, None, False, failed))
            return self._outcome(Status.INFEASIBLE)
        for cap in self._caps():
            if self._most_groups(cap) or self._ended():
                break
        if self._best is None and self._interrupted:
            raise Interrupted("interrupted before a release was found; nothing was written")
        return self._outcome(Status.UNDECIDED if self._best is None else Status.SATISFIED)

    def _caps(self) -> Iterator[int]:
        """Yield how many records each value may keep: all, then 1 / 2 of all, 1 / 3, within the limit."""
        counts = self._records.counts
        last = int(counts.max())
        yield last
        for size in range(2, int((counts > 0).sum()) + 1):
            cap = highest_cap(counts, size)
            if int((counts - np.minimum(counts, cap)).sum()) > self._problem.limit:
                return
            if cap < last:
                last = cap
                yield cap

    def _most_groups(self, cap: int) -> bool:
        """Try fewer and fewer groups until they are valid and none is removed, then more again.

        Returns
        -------
        Whether any grouping is valid without removing more records than the cap does.
        """
        queue = self._records.capped(cap)
        failing = None
        for groups in _numbers(len(queue), self._problem.minimum_size):
            if self._try(queue, groups):
                self._refine(queue, groups, failing)
                return True
            if self._ended():
                return False
            failing = groups
        return False

    def _refine(self, queue: IntArray, valid: int, failing: int | None) -> None:
        """Halve the range between a number of groups that is valid and one that is not."""
        while failing is not None and failing - valid > 1 and not self._ended():
            middle = (valid + failing) // 2
            valid, failing = (middle, failing) if self._try(queue, middle) else (valid, middle)

    def _try(self, queue: IntArray, groups: int) -> bool:
        """Judge the records in so many groups, and note them where they are the best so far.

        Returns
        -------
        Whether they are valid with all records; where groups have to go, fewer groups may lose less.
        """
        self._control.tell(lambda: Progress(len(self._steps), len(self._steps) + 1, None, None))
        seats = dealt(queue, groups)
        grouped = self._judge.judge(seats)
        objective = None
        if grouped.valid:
            mixed, grouping = self._mixed(seats, grouped)
            recoding = self._judge.recoding(mixed, _facts(mixed, grouping))
            broken = self._problem.gate.broken(self._problem.table, recoding)
            if broken:
                self._steps.append(Step({"groups": groups}, None, False, broken))
                return False
            objective = self._problem.metric.value(released(recoding, self._problem.k))
            if objective is None:
                raise InputError(
                    f"objective.metric: '{self._problem.metric.name}' has no value for records in groups; "
                    "use another metric with anatomy, such as loss"
                )
            if self._best is None or (objective, -mixed.groups) < (self._best[0], -self._best[1].groups):
                self._best = objective, recoding
        self._steps.append(Step({"groups": groups}, objective, grouped.valid, grouped.failed))
        return grouped.valid and grouped.removed == len(self._records.queue) - len(queue)

    def _mixed(self, seats: IntArray, grouped: Grouped) -> tuple[Grouped, str]:
        """Arrange groups of distinct values anew, as long as all constraints hold then, too.

        Returns
        -------
        The groups, and how they came about.
        """
        values = values_in(seats, self._records.value)
        if len(seats) > 1 and all_distinct(values):
            random = np.random.default_rng([self._problem.seed, len(seats)])
            normalize_input = self._grouping.mixed(seats, self._records, self._problem.table, random)
            mixed = self._judge.judge(normalize_input)
            if normalize_input is not seats and mixed.valid and mixed.removed <= grouped.removed:
                return mixed, self._grouping.name
        return grouped, "dealt"

    def _ended(self) -> bool:
        self._interrupted = self._interrupted or self._control.stopped()
        return self._interrupted or self._control.exhausted(len(self._steps), len(self._steps))

    def _outcome(self, status: Status) -> Outcome:
        objective, recoding = (None, None) if self._best is None else self._best
        # No record lost, no value changed: nothing that is measured by cells is lost at all.
        best = recoding is not None and not recoding.removed.any() and self._problem.metric.aggregates
        return Outcome(
            status,
            recoding,
            objective,
            objective if best else None,
            len(self._steps),
            len(self._steps),
            tuple(self._steps),
            self._control.elapsed,
            self._interrupted,
        )


def _facts(grouped: Grouped, grouping: str) -> dict[str, object]:
    """Return what the report says of groups."""
    sizes = np.bincount(grouped.group[grouped.group >= 0])
    return {
        "groups": grouped.groups,
        "smallest_group": int(sizes.min()),
        "largest_group": int(sizes.max()),
        "grouping": grouping,
    }


def _numbers(records: int, smallest: int) -> Iterator[int]:
    """Yield numbers of groups to try, from the most that have enough records down to one."""
    last, size = 0, smallest
    while size <= records:
        groups = records // size
        if groups != last:
            yield groups
        last, size = groups, size + max(1, size // 4)
    if last > 1:
        yield 1
