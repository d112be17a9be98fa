"""Mondrian: multidimensional recoding by cutting regions of records in two, again and again.

Out of core the distinct rows lie on disk and are cut there, where cuts are chosen as in memory. The recoding
follows from the traces of regions and their sensitive values, which are much shorter than the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from anonymizer.errors import AuditFailed
from anonymizer.loss.base import CellMetric
from anonymizer.loss.leaf_share import LeafShareLoss
from anonymizer.model.arrays import CodeArray, IntArray, freeze
from anonymizer.model.classes import Traces, released
from anonymizer.model.counting import SPACE, add_up, numbered
from anonymizer.model.out_of_core import PlacedRows
from anonymizer.model.outcome import CutTree, Outcome, Step
from anonymizer.model.recoding import Recoding, levels_by_name
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
    search_with,
)
from anonymizer.search.judge import CandidateVerdict, Judge, search_with_attack_checks
from anonymizer.search.mondrian.axes import MASKED_UNITS, ListedAxis
from anonymizer.search.mondrian.cuts import Acceptance, Mode, Relaxed, Strict
from anonymizer.search.mondrian.labelling import (
    IntervalLabelling,
    Labelling,
    NodeLabelling,
    Publishing,
    Rows,
    SetLabelling,
    hides,
)
from anonymizer.search.mondrian.level import CutLog, choose_cuts
from anonymizer.search.mondrian.regions import Checks, Regions, Segments, distinct_keys
from anonymizer.search.mondrian.store import Coding, Span, Store, stored
from anonymizer.search.rollup import RollUp
from anonymizer.search.suppression.suppressor import References, references
from anonymizer.system import DiskArrays, release_free_memory


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

    @property
    def counts_units(self) -> bool:
        """Whether no distinct row is divided between regions."""
        return self.settings.mode is ModeName.STRICT

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
        start = _find_start(problem, control)
        if isinstance(start, _NoStart):
            steps = start.steps
            number = len(steps)
            return Outcome(
                start.status, None, None, None, number, number, steps, control.elapsed, start.interrupted
            )
        labelling = labelling_of(problem, self.settings)
        _require_value(problem, labelling, self.settings)
        rows = _HeldRows if problem.source is None else _DiskRows
        outcome = _Run(problem, control, self.settings, start, rows(problem, start, labelling)).run()
        if outcome is None:
            return self._search(replace(problem, keep_rows=False), control)
        return outcome


def labelling_of(problem: SearchProblem, settings: MondrianSettings) -> Labelling[Any]:
    """Return the labelling of the settings; the objective guides cuts if it is a cell metric, or ``loss``."""
    guide = problem.metric if isinstance(problem.metric, CellMetric) else LeafShareLoss()
    return LABELLINGS[settings.labels](problem.table, guide)


@dataclass(frozen=True, eq=False)
class _Start:
    """A full-domain recoding whose classes are the first regions.

    Attributes
    ----------
    table: of the problem, or a finer one of its source at the levels.
    class_of: class of each combination, shape (combinations,), int64.
    classes: number of classes.
    gone: suppressed records of each combination, shape (combinations,), int64.
    kept_suppressed: whether these stay as a class of their own.
    references: distributions with which every class is compared.
    steps: of the search so far.
    levels: the generalization level of each quasi-identifier.
    """

    table: Table
    class_of: IntArray
    classes: int
    gone: IntArray
    kept_suppressed: bool
    references: Sequence[References]
    steps: tuple[Step, ...]
    levels: tuple[int, ...]


@dataclass(frozen=True)
class _NoStart:
    """No full-domain recoding can be released.

    Attributes
    ----------
    status: infeasible if no recoding at all can be released, else undecided.
    """

    status: Status
    steps: tuple[Step, ...]
    interrupted: bool


def _find_start(problem: SearchProblem, control: Control) -> _Start | _NoStart:
    """Return the classes at the highest allowed levels, or the best of the lattice where these fail.

    Every recoding at allowed levels refines the classes at the highest ones, so their certain losses are
    losses of all.

    Raises
    ------
    Interrupted: the user ended the search before it found a start.
    """
    levels = [attribute.maximum for attribute in problem.table.quasi_identifiers]
    classes = RollUp.of(problem.table).classes(levels)
    verdict = Judge(problem).judge(classes)
    candidate = {"levels": levels_by_name(problem.table.quasi_identifiers, levels)}
    own = Step(candidate, None, verdict.valid, verdict.failed)
    if verdict.valid:
        return _started(problem, levels, verdict, (own,))
    if not problem.admits(verdict.certain):
        return _NoStart(Status.INFEASIBLE, (own,), interrupted=False)
    left = None if control.steps is None else control.steps - 1
    found = search_with("lattice", problem, replace(control, steps=left))
    steps = (own, *found.steps)
    if found.recoding is None or found.recoding.levels is None:
        return _NoStart(Status.UNDECIDED, steps, found.interrupted)
    levels = list(found.recoding.levels)
    problem = replace(problem, table=_at(problem, levels))
    verdict = Judge(problem).judge(RollUp.of(problem.table).classes(levels))
    return _started(problem, levels, verdict, steps)


def _at(problem: SearchProblem, levels: Sequence[int]) -> Table:
    """Return the table at some levels that the lattice search has counted."""
    found = problem.table if problem.source is None else problem.source.at(levels, problem.most)
    assert found is not None, "the lattice found the node, so its table fits"
    return found


def _started(
    problem: SearchProblem, levels: Sequence[int], verdict: CandidateVerdict, steps: tuple[Step, ...]
) -> _Start:
    table = problem.table
    classes = RollUp.of(table).classes(levels)
    compared = [references(table, table.counts)]
    if problem.moving_reference and verdict.gone.any() and not verdict.kept_suppressed:
        compared.append(references(table, table.counts - verdict.gone))
        if problem.suppression is not SuppressionMethod.CLASSES:
            # Whole classes are dropped under p of the input first, records under p of the rest only.
            compared = compared[1:]
    return _Start(
        table,
        classes.class_of,
        classes.number,
        verdict.gone,
        verdict.kept_suppressed,
        compared,
        steps,
        tuple(levels),
    )


class _HeldRows:
    """The rows of a table in memory, in the first regions of a search.

    Attributes
    ----------
    store, first, checks: as for ``_DiskRows``; owners of rows are distinct rows of the table.
    """

    ends = None

    def __init__(self, problem: SearchProblem, start: _Start, labelling: Labelling[Any]) -> None:
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


class _StartRows:
    """Finds the row of a start's table to which a distinct row is generalized.

    Parameters
    ----------
    start: of a search whose source has finer rows.
    """

    def __init__(self, start: _Start) -> None:
        table = start.table
        own = zip(table.quasi_identifiers, start.levels, strict=True)
        self._tables = [attribute.nodes(level).astype(np.int64) for attribute, level in own]
        self._tables += [np.arange(each.column.size) for each in table.sensitive]
        self._known: dict[int, IntArray] = {}
        keys = self._keys(table.codes, learning=True)
        self._order = np.argsort(keys)
        self._known[len(self._tables)] = keys[self._order]

    def find(self, codes: CodeArray) -> IntArray:
        """Return the row of the table for each of some rows, shape (rows,).

        Parameters
        ----------
        codes: of the quasi-identifiers and sensitive attributes, shape (rows, columns).

        Raises
        ------
        AuditFailed: the table has no such row.
        """
        found: IntArray = self._order[self._ranks(len(self._tables), self._keys(codes, learning=False))]
        return found

    def _keys(self, codes: CodeArray, *, learning: bool) -> IntArray:
        """Return a number for each row; if the columns do not fit one number, the first ones are ranked."""
        keys, space = np.zeros(len(codes), dtype=np.int64), 1
        for place, table in enumerate(self._tables):
            size = int(table.max(initial=0)) + 1
            if space * size >= SPACE:
                if learning:
                    self._known[place] = np.unique(keys)
                keys, space = self._ranks(place, keys), len(self._known[place])
            keys *= size
            keys += table[codes[:, place]]
            space *= size
        return keys

    def _ranks(self, place: int, keys: IntArray) -> IntArray:
        known = self._known[place]
        ranks = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        if not np.array_equal(known[ranks], keys):
            raise AuditFailed(
                "the engine returned distinct rows that are missing from its counts at higher levels"
            )
        return ranks


class _DiskRows:
    """The distinct rows of a source, in the first regions of a search.

    Parameters
    ----------
    problem: with a source; no model may look at several regions together.
    labelling: of the problem.

    Attributes
    ----------
    store: the rows; their owners are combinations of sensitive values.
    first: nodes of the first regions, at the levels of the start, shape (regions, quasi-identifiers).
    checks: the models.
    """

    def __init__(self, problem: SearchProblem, start: _Start, labelling: Labelling[Any]) -> None:
        assert problem.source is not None, "rows that fit are searched in memory"
        self._problem, self._start, self._labelling = problem, start, labelling
        self._source = problem.source
        table = start.table
        width = len(table.quasi_identifiers)
        self._rows = _StartRows(start)
        self._cell_of, cells = numbered(table.codes[:, width:].T, len(table.counts))
        self._cells: CodeArray = table.codes[cells, width:]
        kept = table.counts > start.gone
        classes, first = np.unique(start.class_of[kept], return_index=True)
        self._region_of = np.where(kept, np.searchsorted(classes, start.class_of), -1)
        own = zip(table.quasi_identifiers, start.levels, table.codes[kept][first, :width].T, strict=True)
        self.first: CodeArray = np.stack([each.nodes(level)[codes] for each, level, codes in own], axis=1)
        self.checks = Checks(problem.class_constraints, table.sensitive, self._cells, start.references)
        self.store = self._stored(Coding(labelling.axes), len(classes))

    def _stored(self, coding: Coding, regions: int) -> Store:
        """Read all rows from the source."""
        source, disk = self._source, DiskArrays(self._source.folder)
        records = int(self._start.table.counts.sum())
        kinds = [
            np.min_scalar_type(max(len(self._cells) - 1, 0)),
            np.dtype(np.int32 if records <= np.iinfo(np.int32).max else np.int64),
            *map(np.dtype, coding.kinds),
        ]
        arrays = [disk.zeros(source.number, kind) for kind in kinds]
        region_of = disk.zeros(source.number, np.int32)
        keys: list[NDArray[Any]] = []
        number, rows = 0, np.zeros(regions, dtype=np.int64)
        for piece in source.pieces():
            codes = source.codes(piece.keys)
            found = self._rows.find(codes)
            region = self._region_of[found]
            values = [self._cell_of[found], piece.counts, *coding.encode(codes)]
            if self._problem.placing:
                keys = keys or [disk.zeros(source.number, np.int64) for _ in piece.keys]
                values += piece.keys
            kept = np.flatnonzero(region >= 0)
            span = slice(number, number + len(kept))
            for own, read in zip((region_of, *arrays, *keys), (region, *values), strict=True):
                own[span] = read[kept]
            rows += np.bincount(region[kept], minlength=regions)
            number += len(kept)
            disk.forget()
        arrays = [own[:number] for own in (*arrays, *keys)]
        if regions > 1:
            arrays, disk = _by_region(arrays, region_of[:number], rows, DiskArrays(source.folder))
        owner, counts, *others = arrays
        columns, kept_keys = others[: len(coding.kinds)], others[len(coding.kinds) :]
        return Store(
            coding,
            owner,
            counts,
            tuple(columns),
            rows,
            keys=tuple(kept_keys),
            cells=len(self._cells),
            disk=disk,
        )

    @property
    def ends(self) -> PlacedRows | None:
        """The region of each row, if the problem asks for it and not all are suppressed."""
        keys = self.store.keys
        return PlacedRows(keys, self.store.rows) if keys and len(keys[0]) else None

    def recoding(self) -> Recoding:
        """Return the recoding of a table with a row for each region and combination of sensitive values.

        Raises
        ------
        AuditFailed: the rows of the source are not those that were searched.
        """
        table, coding = self._start.table, self.store.coding
        # The C library still keeps the memory of the cuts in pieces.
        release_free_memory()
        traces, region_of, cell, counts = self._ended()
        gone = np.flatnonzero(self._start.gone)
        suppressed = np.arange(len(counts) + len(gone)) >= len(counts)
        removed = np.zeros_like(suppressed) if self._start.kept_suppressed else suppressed
        if len(gone):
            # Suppressed records are a region of their own.
            own = coding.traced(coding.encode(table.codes[gone]), np.zeros(1, dtype=np.int64))
            region_of = np.concatenate([region_of, np.full(len(gone), len(traces[0]))])
            traces = [np.concatenate(pair) for pair in zip(traces, own, strict=True)]
        codes = np.empty((table.codes.shape[1], len(suppressed)), dtype=np.int32)
        for position, axis in enumerate(coding.axes):
            codes[position] = axis.codes(coding.numbers(traces, position))[region_of]
        codes[len(coding.axes) :, : len(counts)] = self._cells[cell].T
        codes[:, len(counts) :] = table.codes[gone].T
        records = np.concatenate([counts, self._start.gone[gone]])
        for array in (codes, records):
            freeze(array)
        attributes = self._problem.table.quasi_identifiers
        reduced = Table(attributes, table.sensitive, codes.T, records, coarse=True)
        # One axis at a time: the numbers of all axes are longer than everything else about regions.
        numbers = (coding.numbers(traces, position) for position in range(len(coding.axes)))
        return self._labelling.traced_recoding(Rows(reduced, None, region_of, suppressed, removed), numbers)

    def _ended(self) -> tuple[Traces, IntArray, IntArray, IntArray]:
        """Return the traces of regions, and their records by region and combination of sensitive values."""
        store, cells = self.store, len(self._cells)

        def counted(span: Span) -> tuple[IntArray, IntArray]:
            batch = store.batch(span)
            keys = batch.region_of * cells + batch.owner
            self._check(span)
            distinct, counts = add_up(keys, batch.counts, batch.number * cells)
            return distinct + span.regions.start * cells, counts

        found = store.each(counted, store.every_batch())
        none = np.zeros(0, dtype=np.int64)
        keys = np.concatenate([none, *(own for own, _ in found)])
        counts = np.concatenate([none, *(own for _, own in found)])
        return store.traces(), keys // max(cells, 1), keys % max(cells, 1), counts

    def _check(self, span: Span) -> None:
        """Check that the keys of rows, if the outcome has them, belong to the searched rows."""
        store, places = self.store, span.places()
        if not store.keys:
            return
        codes = self._source.codes([own[places] for own in store.keys])
        same = [
            np.array_equal(own[places], other)
            for own, other in zip(store.columns, store.coding.encode(codes), strict=True)
        ]
        if not all(same) or not np.array_equal(store.owner[places], self._cell_of[self._rows.find(codes)]):
            raise AuditFailed("the engine returned distinct rows that belong in other regions")


def _by_region(
    arrays: Sequence[NDArray[Any]], region_of: NDArray[Any], rows: IntArray, disk: DiskArrays
) -> tuple[list[NDArray[Any]], DiskArrays]:
    """Return copies of arrays sorted by region; within a region rows keep their order.

    Parameters
    ----------
    rows: of each region, shape (regions,).
    disk: where the copies are made; it is returned with them.
    """
    made = [disk.zeros(len(own), own.dtype) for own in arrays]
    put = np.cumsum(rows) - rows
    for first in range(0, len(region_of), _SORTED):
        span = slice(first, first + _SORTED)
        order = np.argsort(region_of[span], kind="stable")
        region = region_of[span][order]
        number = np.bincount(region, minlength=len(rows))
        places = np.arange(len(region)) + np.repeat(put - (np.cumsum(number) - number), number)
        for own, other in zip(made, arrays, strict=True):
            own[places] = other[span][order]
        put += number
    return made, disk


_SORTED = 1 << 20
"""Rows that are sorted at a time."""


class _Run(SearchRun):
    def __init__(
        self,
        problem: SearchProblem,
        control: Control,
        settings: MondrianSettings,
        start: _Start,
        rows: _HeldRows | _DiskRows,
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
    one = replace(table, codes=table.codes[:1], counts=table.counts[:1], units={})
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
