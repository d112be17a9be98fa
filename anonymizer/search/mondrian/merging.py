"""Regions merged from below, where sensitive models end the cuts from the top early.

A cut that breaks a model is not taken, and nothing behind it either. Regions cut for the sizes alone are
finer than any that satisfy the models; merged as little as the models ask for, they may lose half as much.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from anonymizer.model.arrays import CodeArray, IntArray
from anonymizer.model.recoding import CutTree, Outcome, Recoding, Status, Step
from anonymizer.search.base import Control, SearchProblem
from anonymizer.search.partition.assignment import Assignment, LocalProblem, assignment_of, recoding_of
from anonymizer.search.partition.limits import limits_of
from anonymizer.search.partition.merging import CLASSES, POWERS, Known, by_size, thinned
from anonymizer.search.partition.validity import AssignmentJudge, Validity
from anonymizer.search.steps import Explain

ROWS = 1 << 17
"""Most distinct rows: of more, merging takes longer than the cuts."""

WORTHWHILE = 1.02
"""Loss of the cuts, in those of the finest regions, from which on merging is tried: it cannot lose less."""


def merged(
    problem: SearchProblem,
    control: Control,
    found: Outcome,
    cut: Callable[[SearchProblem, Control], Outcome],
    known: Known,
) -> Outcome:
    """Return the outcome of cuts, or of merged regions where they lose less.

    Parameters
    ----------
    found: by cuts from the top.
    cut: searches by cuts.
    known: merges of searches for other limits of the whole release, or of others.
    """
    table = problem.table
    sensitive = any(each.attribute is not None for each in problem.class_constraints)
    large = table.combinations > ROWS or not table.measure.divided
    if not (sensitive or problem.table_constraints) or large or _over(control, found):
        return found
    ground = LocalProblem(problem)
    validity, judge = Validity(ground), AssignmentJudge(ground)
    limits = limits_of(ground, validity.references)
    if not ground.bounded or (sensitive and not limits.attributes):
        return found
    fine = cut(by_size(problem), Control(stopped=control.stopped))
    if fine.recoding is None or fine.cuts is None or control.out_of_time():
        return found
    if found.objective is not None and found.objective < WORTHWHILE * (fine.objective or 0.0):
        return found
    regions, steps = assignment_of(ground, fine.recoding), control.log()
    steps += found.steps
    if sensitive and regions.classes > CLASSES:
        return found
    for power in POWERS if sensitive else POWERS[:1]:
        if _over(control, found):
            break
        own: Assignment | None = regions
        if sensitive:
            own = known.repaired(regions, limits, 0, power, control.out_of_time)
        if own is not None and problem.table_constraints and not judge.admits(own):
            own = thinned(own, judge, control.out_of_time, known)
        if own is None:
            break
        step, found = _better(found, own, power, judge, fine)
        # Merges are few.
        steps.note(step, _explaining(judge, own), measured=True)
        found = replace(found, steps=tuple(steps))
    return replace(found, steps=steps.ended(), seconds=control.elapsed)


def _explaining(judge: AssignmentJudge, own: Assignment) -> Explain:
    """Return a function that explains the step of merged regions."""

    def explain(step: Step) -> Step:
        checks = judge.checks(own)
        broken = tuple(each.constraint for each in checks if not each.satisfied)
        return replace(step, failed=() if step.accepted else broken, checks=checks)

    return explain


def _over(control: Control, found: Outcome) -> bool:
    return control.stopped() or control.exhausted(found.evaluated, len(found.steps))


def _better(
    found: Outcome, own: Assignment, power: int, judge: AssignmentJudge, fine: Outcome
) -> tuple[Step, Outcome]:
    """Return the step of merged regions, and the outcome with these if they are valid and lose less."""
    valid = judge.admits(own)
    candidate = {"merged": power, "regions": own.classes}
    objective, recoding = None, None
    if valid:
        recoding = recoding_of(own, kept_suppressed=judge.keeps_suppressed(own))
        objective = own.ground.problem.loss(recoding, "algorithm mondrian")
    step = Step(candidate, objective, valid, suppressed=own.suppressed)
    found = replace(found, candidates=found.candidates + 1, evaluated=found.evaluated + 1)
    if objective is None or (found.objective is not None and objective >= found.objective):
        return step, found
    assert fine.recoding is not None, "it was merged"
    assert fine.cuts is not None, "it was cut along the hierarchies"
    cuts = _published(fine.cuts, fine.recoding, own)
    return step, replace(
        found, status=Status.SATISFIED, recoding=recoding, objective=objective, cuts=cuts, ends=None
    )


def _published(tree: CutTree, fine: Recoding, own: Assignment) -> CutTree:
    """Return cuts whose regions are published as the classes that they are part of.

    Parameters
    ----------
    fine: how the cuts published the regions.
    """
    kept = np.flatnonzero(~fine.suppressed)
    positions = range(tree.published.shape[1])
    before = np.stack([fine.cells(position).codes[kept] for position in positions], axis=1)
    leaves = np.flatnonzero(tree.axis < 0)
    row_of = _first_equal(before, tree.published[leaves])
    # Equal values stay together, so that an atom has one class.
    class_of = np.full(own.ground.atoms.number, -1, dtype=np.int64)
    class_of[own.atoms] = own.class_of
    classes = class_of[own.ground.atoms.atom_of[fine.owners[kept[row_of]]]]
    published = tree.published.copy()
    published[leaves] = own.ground.trees.node[own.nodes[classes]]
    return replace(tree, published=published)


def _first_equal(rows: CodeArray, wanted: CodeArray) -> IntArray:
    """Return the first of some rows that is equal to each wanted one, shape (wanted,)."""
    both = np.concatenate([rows, wanted])
    _, first, number = np.unique(both, axis=0, return_index=True, return_inverse=True)
    found: IntArray = first[number.reshape(-1)[len(rows) :]]
    assert (found < len(rows)).all(), "every region has records"
    return found
