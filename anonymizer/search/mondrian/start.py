"""The start of Mondrian: regions that satisfy every model, and suppressed records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from anonymizer.model.arrays import IntArray
from anonymizer.model.outcome import Step
from anonymizer.model.recoding import levels_by_name
from anonymizer.model.report import Status
from anonymizer.model.table import Table
from anonymizer.search.base import Control, SearchProblem, SuppressionMethod, search_with
from anonymizer.search.judge import CandidateVerdict, Judge
from anonymizer.search.rollup import RollUp
from anonymizer.search.suppression.suppressor import References, references


@dataclass(frozen=True, eq=False)
class Start:
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
class NoStart:
    """No full-domain recoding can be released.

    Attributes
    ----------
    status: infeasible if no recoding at all can be released, else undecided.
    """

    status: Status
    steps: tuple[Step, ...]
    interrupted: bool


def find_start(problem: SearchProblem, control: Control) -> Start | NoStart:
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
        return NoStart(Status.INFEASIBLE, (own,), interrupted=False)
    left = None if control.steps is None else control.steps - 1
    found = search_with("lattice", problem, replace(control, steps=left))
    steps = (own, *found.steps)
    if found.recoding is None or found.recoding.levels is None:
        return NoStart(Status.UNDECIDED, steps, found.interrupted)
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
) -> Start:
    table = problem.table
    classes = RollUp.of(table).classes(levels)
    compared = [references(table, table.counts)]
    if problem.moving_reference and verdict.gone.any() and not verdict.kept_suppressed:
        compared.append(references(table, table.counts - verdict.gone))
        if problem.suppression is not SuppressionMethod.CLASSES:
            # Whole classes are dropped under p of the input first, records under p of the rest only.
            compared = compared[1:]
    return Start(
        table,
        classes.class_of,
        classes.number,
        verdict.gone,
        verdict.kept_suppressed,
        compared,
        steps,
        tuple(levels),
    )
