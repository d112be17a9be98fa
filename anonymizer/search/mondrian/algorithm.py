"""Mondrian: multidimensional recoding by cutting regions of records in two, again and again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

import numpy as np
from pydantic import Field

from anonymizer.loss.base import CellMetric
from anonymizer.loss.leaf_share import LeafShareLoss
from anonymizer.model.arrays import CodeArray
from anonymizer.model.classes import released
from anonymizer.model.outcome import CutTree, Outcome, Step
from anonymizer.model.recoding import Recoding
from anonymizer.model.report import Status
from anonymizer.model.table import Table
from anonymizer.plugins import Settings
from anonymizer.privacy.base import Merging, describe
from anonymizer.search.base import (
    Control,
    Progress,
    SearchAlgorithm,
    SearchProblem,
    SearchRun,
    SuppressionMethod,
)
from anonymizer.search.judge import search_with_attack_checks
from anonymizer.search.mondrian.axes import MASKED_UNITS, ListedAxis
from anonymizer.search.mondrian.cuts import Acceptance, Mode, Relaxed, Strict
from anonymizer.search.mondrian.labelling import (
    IntervalLabelling,
    Labelling,
    NodeLabelling,
    Publishing,
    SetLabelling,
    hides,
)
from anonymizer.search.mondrian.level import CutLog, choose_cuts
from anonymizer.search.mondrian.out_of_core import DiskRows
from anonymizer.search.mondrian.regions import Checks, Regions, Segments, distinct_keys
from anonymizer.search.mondrian.start import NoStart, Start, find_start
from anonymizer.search.mondrian.store import Coding, Store, stored
from anonymizer.system import release_free_memory


class ModeName(StrEnum):
    """Whether equal values stay together in a cut."""

    STRICT = "strict"
    RELAXED = "relaxed"


class LabelName(StrEnum):
    """How regions are published."""

    HIERARCHY = "hierarchy"
    INTERVAL = "interval"
    SET = "set"


LABELLINGS: dict[LabelName, type[Labelling[Any]]] = {
    LabelName.HIERARCHY: NodeLabelling,
    LabelName.INTERVAL: IntervalLabelling,
    LabelName.SET: SetLabelling,
}
"""The labelling of each name."""


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
    those that separate the first or the last part; the one with the lowest loss of both sides in all
    attributes is taken. Parts are values in their order; categories and children of a node go by their
    frequency in the region, the most frequent first.

    Source: LeFevre, DeWitt, Ramakrishnan (ICDE 2006, doi:10.1109/ICDE.2006.101).
    """

    name = "mondrian"
    Settings = MondrianSettings
    settings: MondrianSettings
    suppressions = frozenset({SuppressionMethod.CLASSES, SuppressionMethod.RECORDS})
    out_of_core = True
    by_codes = False

    def out_of_core_gaps(self, problem: SearchProblem) -> Iterator[str]:
        """Yield what needs all rows in memory: divided rows, long sets, models of several regions."""
        if self.settings.mode is ModeName.RELAXED:
            yield "algorithm mondrian with mode relaxed (accepted: strict)"
        for axis in labelling_of(problem, self.settings).axes:
            if isinstance(axis, ListedAxis):
                yield (
                    f"algorithm mondrian with labels {self.settings.labels} of '{axis.attribute.name}', "
                    f"which has more than {MASKED_UNITS} values (accepted: labels hierarchy)"
                )
        merged = (each for each in problem.class_constraints if each.merging is Merging.NONE)
        for name in (*map(describe, merged), *map(describe, problem.table_constraints)):
            yield f"algorithm mondrian with constraint {name}, which judges all regions together"

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        """Return the regions that no further cut improves, or those at the end of the budget.

        Raises
        ------
        InputError: the metric has no value for the kind of labels.
        Interrupted: the user ended the search before there was a release.
        """
        return search_with_attack_checks(problem, control, self._search)

    def _search(self, problem: SearchProblem, control: Control) -> Outcome:
        start = find_start(problem, control)
        if isinstance(start, NoStart):
            steps = start.steps
            number = len(steps)
            return Outcome(
                start.status, None, None, None, number, number, steps, control.elapsed, start.interrupted
            )
        labelling = labelling_of(problem, self.settings)
        _require_value(problem, labelling, self.settings)
        rows = _HeldRows if problem.source is None else DiskRows
        outcome = _Run(problem, control, self.settings, start, rows(problem, start, labelling)).run()
        if outcome is None:
            return self._search(replace(problem, keep_rows=False), control)
        return outcome


def labelling_of(problem: SearchProblem, settings: MondrianSettings) -> Labelling[Any]:
    """Return the labelling of the settings; the objective guides cuts if it is a cell metric, or ``loss``."""
    guide = problem.metric if isinstance(problem.metric, CellMetric) else LeafShareLoss()
    return LABELLINGS[settings.labels](problem.table, guide)


class _HeldRows:
    """The rows of a table in memory, in the first regions of a search.

    Attributes
    ----------
    store, first, checks: as for ``DiskRows``; owners of rows are distinct rows of the table.
    """

    ends = None

    def __init__(self, problem: SearchProblem, start: Start, labelling: Labelling[Any]) -> None:
        table = problem.table
        kept = table.counts - start.gone
        rows = np.flatnonzero(kept)
        region_of, _ = distinct_keys(start.class_of[rows], start.classes)
        coding = Coding(labelling.axes)
        columns = coding.encode(table.codes if len(rows) == len(kept) else table.codes[rows])
        self.store = stored(coding, rows, kept[rows], columns, region_of)
        self.first = _nodes_of_first(table, start.levels, self.store)
        self.checks = Checks.of(problem, start.references)
        self.publishing = Publishing(table, labelling, start.gone, kept_suppressed=start.kept_suppressed)

    def recoding(self) -> Recoding:
        """Return the recoding of all regions."""
        return self.publishing.recoding(self.store.everything())


class _Run(SearchRun):
    def __init__(
        self,
        problem: SearchProblem,
        control: Control,
        settings: MondrianSettings,
        start: Start,
        rows: _HeldRows | DiskRows,
    ) -> None:
        super().__init__(control)
        self._problem = problem
        self._rows = rows
        self._acceptance = (
            Acceptance(problem, rows.checks, rows.publishing) if isinstance(rows, _HeldRows) else None
        )
        self._steps += start.steps
        self._tried = len(start.steps)
        self._store = rows.store
        # Only these cuts determine the side of any record, also of later ones.
        logged = settings.mode is ModeName.STRICT and settings.labels is LabelName.HIERARCHY
        self._log = CutLog(len(self._store.rows)) if logged else None
        self._start = start
        relaxed = settings.mode is ModeName.RELAXED
        self._mode: Mode = Relaxed(labelling_of(problem, settings).sharing) if relaxed else Strict()

    def run(self) -> Outcome | None:
        """Return the outcome; None if other records are published like the suppressed ones that stay."""
        while self._store.open.any() and not self._ended(self._tried):
            self._control.tell(lambda: Progress(self._tried, self._tried, None, None))
            self._store.close(self._store.records[self._store.open] >= 2 * self._problem.minimum_size)
            if self._store.open.any():
                self._cut()
        return self._outcome()

    def _cut(self) -> None:
        """Cut the open regions and close those that cannot be cut."""
        store = self._store
        chosen, left = choose_cuts(store, self._mode, self._rows.checks, self._problem.minimum_size)
        cut, final = chosen.cut, False
        if self._acceptance is not None and self._acceptance.together:
            opened, closed = store.regions(store.open), store.regions(~store.open)
            records = opened.counts * left if left.dtype == np.bool_ else left.astype(np.int64)
            accepted = self._acceptance.accept(closed, opened, records, chosen)
            cut, final = accepted.cut, accepted.final
        if self._log is not None:
            self._log.note(np.flatnonzero(store.open)[cut], chosen, cut)
        store.cut(cut, chosen.target, left)
        if final:
            store.open[:] = False
        self._tried += chosen.tried
        counted = {"regions": len(store.rows), "cuts": int(cut.sum())}
        self._steps.append(Step(counted, None, accepted=True))

    def _outcome(self) -> Outcome | None:
        recoding = self._rows.recoding()
        if self._start.kept_suppressed and hides(recoding):
            return None
        release_free_memory()
        best = self._problem.metric.value(released(recoding, self._problem.k)), recoding
        found = self._finished(Status.SATISFIED, best, None, self._tried, self._tried)
        return replace(found, cuts=None if self._log is None else self._tree(self._log), ends=self._rows.ends)

    def _tree(self, log: CutLog) -> CutTree:
        store = self._store
        return log.tree(store.coding, store.traces(), self._start.levels, self._rows.first)


def _require_value(problem: SearchProblem, labelling: Labelling[Any], settings: MondrianSettings) -> None:
    """Refuse a metric without a value for the kind of recoding, tested on one record."""
    table = problem.table
    one = replace(table, codes=table.codes[:1], counts=table.counts[:1])
    alone, no = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=bool)
    recoding = labelling.recoding(one, Regions(alone, one.counts, Segments(alone, 1)), no, no)
    problem.loss(recoding, f"algorithm mondrian with labels {settings.labels}")


def _nodes_of_first(table: Table, levels: Sequence[int], store: Store) -> CodeArray:
    """Return the nodes of each region of a store at some levels, shape (regions, quasi-identifiers)."""
    rows = store.owner[np.cumsum(store.rows) - store.rows]
    nodes = [
        attribute.nodes(level)[table.quasi_identifier_codes(position)[rows]]
        for position, (attribute, level) in enumerate(zip(table.quasi_identifiers, levels, strict=True))
    ]
    return np.stack(nodes, axis=1)
