"""Microaggregation: records in small groups, and of each group its mean or median."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Annotated

import numpy as np
from pydantic import Field

from anonymizer.errors import InputError, Interrupted
from anonymizer.masking.mdav import Clustering, FixedSize
from anonymizer.model.classes import released
from anonymizer.model.outcome import Outcome, Step
from anonymizer.model.recoding import RegionRecoding
from anonymizer.model.report import Status
from anonymizer.plugins import Settings, WholeNumber
from anonymizer.search.base import SearchAlgorithm, SearchProblem
from anonymizer.search.control import Control, Progress
from anonymizer.search.growing import search_with_attack_checks
from anonymizer.search.judge import CandidateVerdict, Judge
from anonymizer.search.regions.mdav_aggregate import AGGREGATES, AggregateName
from anonymizer.search.regions.mdav_classes import Aggregator, Partition
from anonymizer.search.regions.mdav_merging import merged
from anonymizer.search.regions.mdav_parts import Parts
from anonymizer.search.regions.mdav_release import region_column, sse_over_sst
from anonymizer.search.regions.mdav_space import Space
from anonymizer.search.regions.mdav_variable import VariableSize


class MicroaggregationSettings(Settings):
    """Parameters of microaggregation."""

    k: Annotated[WholeNumber, Field(ge=1)] | None = Field(
        default=None, description="smallest group; default: the smallest class that the constraints allow"
    )
    aggregate: AggregateName = Field(default=AggregateName.MEAN, description="what is published of a group")
    variable: bool = Field(
        default=False, strict=True, description="groups of k to 2k - 1 records (V-MDAV) instead of k (MDAV)"
    )


class Microaggregation(SearchAlgorithm):
    """Publishes numbers as the mean or median of groups of at least k records near each other (MDAV).

    Distances are between attributes in standard deviations, times the root of their weights. Groups that
    fail a constraint join the nearest group, round by round, until all hold; the round of the lowest loss
    stays. Records that miss different values are in different groups as long as all of these hold; a group of
    both is published as ``*`` there.

    A published mean looks exact and is not: ``loss`` goes by the range of the group's originals.
    """

    name = "microaggregation"
    Settings = MicroaggregationSettings
    settings: MicroaggregationSettings

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        """Return the best round.

        Raises
        ------
        InputError: a quasi-identifier has no numbers, or the metric no value for aggregates.
        """
        return search_with_attack_checks(problem, control, self._search)

    def _search(self, problem: SearchProblem, control: Control) -> Outcome:
        return _Run(problem, control, self.settings).run()


class _BudgetSpent(Exception):
    """The time ended before there were groups."""


class _Run:
    def __init__(self, problem: SearchProblem, control: Control, settings: MicroaggregationSettings) -> None:
        self._problem = problem
        self._control = control
        self._settings = settings
        self._table = problem.table
        self._judge = Judge(problem)
        self._space = Space.of(problem.table)
        self._k = settings.k or max(problem.minimum_size, problem.k or 1)
        self._steps: list[Step] = []
        self._best: tuple[float, RegionRecoding] | None = None
        self._interrupted = False

    def run(self) -> Outcome:
        if self._hopeless():
            return self._outcome(Status.INFEASIBLE)
        with suppress(_BudgetSpent):
            self._rounds()
        if self._best is None and self._interrupted:
            raise Interrupted("interrupted before a release was found; nothing was written")
        return self._outcome(Status.UNDECIDED if self._best is None else Status.SATISFIED)

    def _hopeless(self) -> bool:
        """Tell whether the whole table as one class proves that every partition loses too many records."""
        classes = Parts.whole(self._table).classes()
        verdict = self._judge.judge(classes)
        certain = int(verdict.losses.sum())
        if certain > self._problem.limit or (certain == classes.records and not self._problem.keep_rows):
            self._steps.append(Step({"classes": 1}, None, False, verdict.failed))
            return True
        return False

    def _rounds(self) -> None:
        """Judge the groups as published; while some fail, merge these."""
        shares = self._space.clusters(self._clustering(), self._k, self._tick)
        aggregate = AGGREGATES[self._settings.aggregate]
        aggregator = Aggregator(self._table.quasi_identifiers, self._space, shares, aggregate)
        parts = Parts.of(self._table, shares)
        partition = aggregator.partition(np.arange(shares.clusters))
        while True:
            grouped = parts.grouped(partition.class_of)
            verdict = self._verdict(grouped, partition)
            self._note(grouped, partition, verdict)
            failing = ~verdict.kept
            if partition.number == 1 or (verdict.valid and not failing.any()) or self._ended():
                return
            # A model of the whole table fails though every class holds: there must be fewer classes.
            failing = failing if failing.any() else ~failing
            joined = merged(aggregator.averages(partition.class_of), failing)
            partition = aggregator.partition(joined[partition.class_of])

    def _clustering(self) -> Clustering:
        return VariableSize() if self._settings.variable else FixedSize()

    def _tick(self, placed: int) -> None:
        records = self._table.records
        self._control.tell(lambda: Progress(min(placed, records), records, None, None))
        self._interrupted = self._interrupted or self._control.stopped()
        if self._interrupted or self._control.exhausted(0, 0):
            raise _BudgetSpent

    def _ended(self) -> bool:
        self._interrupted = self._interrupted or self._control.stopped()
        return self._interrupted or self._control.exhausted(len(self._steps), len(self._steps))

    def _verdict(self, parts: Parts, partition: Partition) -> CandidateVerdict:
        classes = parts.classes()
        verdict = self._judge.judge(classes)
        blank = np.logical_and.reduce([column.mixed for column in partition.columns])
        if verdict.kept_suppressed and (blank & verdict.kept).any():
            # Suppressed records that stay would be published like that class; so they are removed.
            verdict = Judge(replace(self._problem, keep_rows=False)).judge(classes)
        return verdict

    def _note(self, parts: Parts, partition: Partition, verdict: CandidateVerdict) -> None:
        """Note the step, and the recoding if it is the best so far."""
        objective = None
        if verdict.valid:
            recoding = self._recoding(parts, partition, verdict)
            objective = self._problem.metric.value(released(recoding, self._problem.k))
            if objective is None:
                raise InputError(
                    f"objective.metric: '{self._problem.metric.name}' has no value for aggregated numbers, "
                    "which have no levels; use another metric with microaggregation, such as loss"
                )
            if self._best is None or objective < self._best[0]:
                self._best = objective, recoding
        self._steps.append(Step({"classes": partition.number}, objective, verdict.valid, verdict.failed))

    def _recoding(self, parts: Parts, partition: Partition, verdict: CandidateVerdict) -> RegionRecoding:
        table, columns = parts.rows(), partition.columns
        suppressed = ~verdict.kept[parts.group]
        return RegionRecoding(
            table,
            [region_column(*pair) for pair in zip(table.quasi_identifiers, columns, strict=True)],
            parts.group,
            suppressed,
            np.zeros_like(suppressed) if verdict.kept_suppressed else suppressed,
            parts.owner if parts.split else None,
            {
                "aggregate": self._settings.aggregate.value,
                "k": self._k,
                "sse_over_sst": sse_over_sst(table, suppressed, columns, parts.group),
            },
        )

    def _outcome(self, status: Status) -> Outcome:
        objective, recoding = (None, None) if self._best is None else self._best
        return Outcome(
            status,
            recoding,
            objective,
            None,
            len(self._steps),
            len(self._steps),
            tuple(self._steps),
            self._control.elapsed,
            self._interrupted,
        )
