"""Mondrian: multidimensional recoding by cutting regions of records in two, again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

import numpy as np
from pydantic import Field

from anonymizer.core.arrays import CodeArray
from anonymizer.core.outcome import Outcome, Status, Step
from anonymizer.core.recoding import Recoding
from anonymizer.core.released import released
from anonymizer.core.table import Table
from anonymizer.errors import InputError
from anonymizer.loss.cells import CellMetric
from anonymizer.loss.leaf_share import LeafShareLoss
from anonymizer.search.base import Problem, SearchAlgorithm, SuppressionMethod
from anonymizer.search.control import Control, Progress
from anonymizer.search.cutting.coding import Coding
from anonymizer.search.cutting.kernel import Kernel
from anonymizer.search.cutting.log import CutLog
from anonymizer.search.cutting.part import PartKernel
from anonymizer.search.cutting.store import Store, stored
from anonymizer.search.growing import search_through_gate
from anonymizer.search.regions.acceptance import Acceptance
from anonymizer.search.regions.checks import Checks, References
from anonymizer.search.regions.interval_labelling import IntervalLabelling
from anonymizer.search.regions.labelling import Labelling
from anonymizer.search.regions.mode import Mode, Relaxed, Strict
from anonymizer.search.regions.node_labelling import NodeLabelling
from anonymizer.search.regions.publishing import Publishing
from anonymizer.search.regions.regions import Regions
from anonymizer.search.regions.segments import Segments, distinct_keys
from anonymizer.search.regions.set_labelling import SetLabelling
from anonymizer.search.regions.start import NoStart, Start, find_start
from anonymizer.settings import Settings


class ModeName(StrEnum):
    """Whether equal values stay together in a cut."""

    STRICT = "strict"
    RELAXED = "relaxed"


class LabelName(StrEnum):
    """How regions are published."""

    HIERARCHY = "hierarchy"
    INTERVAL = "interval"
    SET = "set"


LABELLINGS: dict[LabelName, type[Labelling]] = {
    LabelName.HIERARCHY: NodeLabelling,
    LabelName.INTERVAL: IntervalLabelling,
    LabelName.SET: SetLabelling,
}
"""What each name of labels stands for."""


class MondrianSettings(Settings):
    """Parameters of Mondrian."""

    mode: ModeName = Field(
        default=ModeName.STRICT,
        description="strict: equal values stay together in a cut; relaxed: records with the median value may "
        "go to either side, which gives smaller classes at a higher loss",
    )
    labels: LabelName = Field(
        default=LabelName.HIERARCHY,
        description="hierarchy: nodes, and cuts follow the tree; interval: of numbers and dates, sets of "
        "other values; set: of the values that occur",
    )


class Mondrian(SearchAlgorithm):
    """Cuts the table into regions, level by level, as long as both sides of a cut satisfy every model.

    All regions of a level are cut at once. Along each attribute the cut nearest to the median is tried, and
    those that set the first or the last part alone; the one that leaves the lowest loss in all attributes of
    both sides is taken. Parts are values in their order, categories or children of a node by their frequency
    in the region, the most frequent first.

    Source: LeFevre, DeWitt, Ramakrishnan (ICDE 2006, doi:10.1109/ICDE.2006.101).
    """

    name = "mondrian"
    Settings = MondrianSettings
    settings: MondrianSettings
    suppressions = frozenset({SuppressionMethod.CLASSES, SuppressionMethod.RECORDS})

    def search(self, problem: Problem, control: Control) -> Outcome:
        """Return the regions that no further cut improves, or those when the budget ended.

        Raises
        ------
        InputError: the metric has no value for the kind of labels.
        Interrupted: the user ended the search before there was a release.
        """
        return search_through_gate(problem, control, self._search)

    def _search(self, problem: Problem, control: Control) -> Outcome:
        start = find_start(problem, control)
        if isinstance(start, NoStart):
            steps = start.steps
            number = len(steps)
            return Outcome(
                start.status, None, None, None, number, number, steps, control.elapsed, start.interrupted
            )
        outcome = _Run(problem, control, self.settings, start).run()
        if outcome is None:
            return self._search(replace(problem, keep_rows=False), control)
        return outcome


def part_kernel(problem: Problem, settings: MondrianSettings, references: Sequence[References]) -> PartKernel:
    """Return the kernel that cuts a part of a table, in another process if need be.

    Parameters
    ----------
    problem: the attributes of its table are asked for, its rows are not.
    references: what every class is compared with, as ``Start`` has it.
    """
    labelling = _labelling(problem, settings)
    return PartKernel(
        Coding(labelling.axes),
        _mode(labelling, settings),
        problem.class_constraints,
        problem.table.sensitive,
        references,
        problem.minimum_size,
    )


def _labelling(problem: Problem, settings: MondrianSettings) -> Labelling:
    guide = problem.metric if isinstance(problem.metric, CellMetric) else LeafShareLoss()
    return LABELLINGS[settings.labels](problem.table, guide)


def _mode(labelling: Labelling, settings: MondrianSettings) -> Mode:
    return Relaxed(labelling.sharing) if settings.mode is ModeName.RELAXED else Strict()


class _Run:
    def __init__(self, problem: Problem, control: Control, settings: MondrianSettings, start: Start) -> None:
        self._problem = problem
        self._control = control
        self._labelling = labelling = _labelling(problem, settings)
        checks = Checks.of(problem, start.references)
        self._publishing = Publishing(problem.table, labelling, start.gone, starred=start.starred)
        self._acceptance = Acceptance(problem, checks, self._publishing)
        self._steps = list(start.steps)
        self._tried = len(start.steps)
        self._interrupted = False
        kept = problem.table.counts - start.gone
        rows = np.flatnonzero(kept)
        region_of, _ = distinct_keys(start.class_of[rows], start.classes)
        coding = Coding(labelling.axes)
        columns = coding.encode(problem.table.codes if len(rows) == len(kept) else problem.table.codes[rows])
        self._store = stored(coding, rows, kept[rows], columns, region_of)
        self._log = _log(settings, self._store)
        self._levels, self._first = start.levels, _nodes_of_first(problem.table, start.levels, self._store)
        self._kernel = Kernel(_mode(labelling, settings), checks, problem.minimum_size)
        self._require_value(settings)

    def _require_value(self, settings: MondrianSettings) -> None:
        # Whether there is a value is a matter of the kind of recoding, so that of one record tells.
        table = self._problem.table
        one = replace(table, codes=table.codes[:1], counts=table.counts[:1])
        alone, no = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=bool)
        recoding = self._labelling.recoding(one, Regions(alone, one.counts, Segments(alone, 1)), no, no)
        if self._objective(recoding) is None:
            what = f"metric {self._problem.metric.name} has no value for algorithm mondrian"
            raise InputError(f"{what} with labels {settings.labels}; use another metric, such as loss")

    def run(self) -> Outcome | None:
        """Return the outcome; None where starred records would disappear in a region without any value."""
        while self._store.open.any() and not self._ended():
            self._control.tell(self._progress)
            self._store.close(self._kernel.large(self._store))
            if self._store.open.any():
                self._cut()
        return self._outcome()

    def _ended(self) -> bool:
        self._interrupted = self._interrupted or self._control.stopped()
        return self._interrupted or self._control.exhausted(self._tried, len(self._steps))

    def _cut(self) -> None:
        """Cut the open regions and close those that cannot be cut."""
        store = self._store
        chosen, left = self._kernel.choose(store)
        cut, final = chosen.cut, False
        if self._acceptance.together:
            opened, closed = store.regions(store.open), store.regions(~store.open)
            records = opened.counts * left if left.dtype == np.bool_ else left.astype(np.int64)
            accepted = self._acceptance.accept(closed, opened, records, chosen)
            cut, final = accepted.cut, accepted.final
        if self._log is not None:
            self._log.note(store, cut, chosen)
        store.cut(cut, chosen.target, left)
        if final:
            store.open[:] = False
        self._tried += chosen.tried
        counted = {"regions": len(store.rows), "cuts": int(cut.sum())}
        self._steps.append(Step(counted, None, accepted=True))

    def _objective(self, recoding: Recoding) -> float | None:
        return self._problem.metric.value(released(recoding, self._problem.k))

    def _progress(self) -> Progress:
        return Progress(self._tried, self._tried, None, None)

    def _outcome(self) -> Outcome | None:
        recoding = self._publishing.recoding(self._store.everything())
        if self._publishing.hides(recoding):
            return None
        return Outcome(
            Status.SATISFIED,
            recoding,
            self._objective(recoding),
            None,
            self._tried,
            self._tried,
            tuple(self._steps),
            self._control.elapsed,
            self._interrupted,
            cuts=None if self._log is None else self._log.tree(self._store, self._levels, self._first),
        )


def _log(settings: MondrianSettings, store: Store) -> CutLog | None:
    """Return what follows the cuts, where they tell of any record on which side it belongs."""
    apart = settings.mode is ModeName.STRICT and settings.labels is LabelName.HIERARCHY
    return CutLog(len(store.rows)) if apart else None


def _nodes_of_first(table: Table, levels: Sequence[int], store: Store) -> CodeArray:
    """Return the nodes at some levels of each region of a store, shape (regions, quasi-identifiers)."""
    rows = store.owner[np.cumsum(store.rows) - store.rows]
    nodes = [
        attribute.nodes(level)[table.quasi_identifier_codes(position)[rows]]
        for position, (attribute, level) in enumerate(zip(table.quasi_identifiers, levels, strict=True))
    ]
    return np.stack(nodes, axis=1)
