"""Where Mondrian starts from: regions that satisfy every model, and what has to be suppressed."""

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
from anonymizer.search.mondrian.regions import References, references
from anonymizer.search.rollup import RollUp


@dataclass(frozen=True, eq=False)
class Start:
    """A full-domain recoding whose classes are cut further.

    Attributes
    ----------
    table: the problem's, or one that its source has at the levels, where that is finer.
    class_of: class of each combination, shape (combinations,), int64.
    classes: how many there are.
    gone: records of each combination that are suppressed, shape (combinations,), int64.
    kept_suppressed: whether these stay as a class of their own.
    references: what every class has to be compared with.
    steps: taken to find it.
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
    status: infeasible where no recoding at all can be, else undecided.
    """

    status: Status
    steps: tuple[Step, ...]
    interrupted: bool


def find_start(problem: SearchProblem, control: Control) -> Start | NoStart:
    """Return the classes at the highest allowed levels, or the best of the lattice where these fail.

    Every recoding that keeps to the allowed levels is finer than the classes at the highest, so what is lost
    there however they are cut is lost in all of them.

    Raises
    ------
    Interrupted: the user ended the search before there was a start.
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
    """Return a table that tells the nodes at some levels apart, which the lattice has asked for."""
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
            # Whole classes are dropped by p of the input first, records by p of what stays alone.
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
