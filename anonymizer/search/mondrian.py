"""Mondrian: multidimensional recoding by cutting regions of records in two, again and again."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

import numpy as np
from pydantic import Field

from anonymizer.core.outcome import Outcome, Status, Step
from anonymizer.core.recoding import Recoding
from anonymizer.core.released import released
from anonymizer.errors import InputError
from anonymizer.loss.cells import CellMetric
from anonymizer.loss.leaf_share import LeafShareLoss
from anonymizer.search.base import Problem, SearchAlgorithm, SuppressionMethod
from anonymizer.search.control import Control, Progress
from anonymizer.search.growing import search_through_gate
from anonymizer.search.regions.acceptance import Acceptance
from anonymizer.search.regions.checks import Checks
from anonymizer.search.regions.interval_labelling import IntervalLabelling
from anonymizer.search.regions.labelling import Labelling
from anonymizer.search.regions.level import Chosen, Level
from anonymizer.search.regions.mode import Mode, Relaxed, Strict
from anonymizer.search.regions.node_labelling import NodeLabelling
from anonymizer.search.regions.publishing import Publishing
from anonymizer.search.regions.regions import Regions
from anonymizer.search.regions.segments import distinct_keys
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


class _Run:
    def __init__(self, problem: Problem, control: Control, settings: MondrianSettings, start: Start) -> None:
        self._problem = problem
        self._control = control
        guide = problem.metric if isinstance(problem.metric, CellMetric) else LeafShareLoss()
        labelling = LABELLINGS[settings.labels](problem.table, guide)
        self._axes = labelling.axes
        self._mode: Mode = Relaxed(labelling.sharing) if settings.mode is ModeName.RELAXED else Strict()
        self._checks = Checks(problem, start.references)
        self._publishing = Publishing(problem.table, labelling, start.gone, starred=start.starred)
        self._acceptance = Acceptance(problem, self._checks, self._publishing)
        self._steps = list(start.steps)
        self._tried = len(start.steps)
        self._interrupted = False
        kept = problem.table.counts - start.gone
        rows = np.flatnonzero(kept)
        region_of, classes = distinct_keys(start.class_of[rows], start.classes)
        self._open = Regions.of(rows, kept[rows], region_of, len(classes))
        self._closed = self._open.keep(np.zeros(self._open.number, dtype=bool))
        self._require_value(settings)

    def _require_value(self, settings: MondrianSettings) -> None:
        if self._objective(self._publishing.recoding(self._open)) is None:
            what = f"metric {self._problem.metric.name} has no value for algorithm mondrian"
            raise InputError(f"{what} with labels {settings.labels}; use another metric, such as loss")

    def run(self) -> Outcome | None:
        """Return the outcome; None where starred records would disappear in a region without any value."""
        while self._open.number and not self._ended():
            self._control.tell(self._progress)
            self._close(self._open.sizes >= 2 * self._problem.minimum_size)
            if self._open.number:
                self._cut()
        return self._outcome()

    def _ended(self) -> bool:
        self._interrupted = self._interrupted or self._control.stopped()
        return self._interrupted or self._control.exhausted(self._tried, len(self._steps))

    def _close(self, staying: np.ndarray) -> None:
        """Move the regions that do not stay open to the closed ones."""
        self._closed = Regions.joined([self._closed, self._open.keep(~staying)])
        self._open = self._open.keep(staying)

    def _cut(self) -> None:
        """Cut the open regions and close those that cannot be cut."""
        regions = self._open
        level = Level(regions, self._axes, self._mode, self._checks, self._problem.minimum_size)
        chosen = level.choose()
        accepted = self._acceptance.accept(self._closed, regions, chosen)
        self._closed = Regions.joined([self._closed, regions.keep(~accepted.cut)])
        self._open = _halves(regions, chosen, accepted.cut)
        if accepted.final:
            self._close(np.zeros(self._open.number, dtype=bool))
        self._tried += chosen.tried
        classes = self._closed.number + self._open.number
        self._steps.append(Step({"regions": classes, "cuts": int(accepted.cut.sum())}, None, accepted=True))

    def _objective(self, recoding: Recoding) -> float | None:
        return self._problem.metric.value(released(recoding, self._problem.k))

    def _progress(self) -> Progress:
        return Progress(self._tried, self._tried, None, None)

    def _outcome(self) -> Outcome | None:
        recoding = self._publishing.recoding(Regions.joined([self._closed, self._open]))
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
        )


def _halves(regions: Regions, chosen: Chosen, cut: np.ndarray) -> Regions:
    """Return both sides of the regions that are cut, the sides of a region one after the other."""
    both = regions.halves(chosen.left, cut)
    number = np.arange(both.number).reshape(-1, 2).T.ravel()
    return Regions.of(both.owner, both.counts, number[both.region_of], both.number)
