"""The constraints that attacks measure, beside those that are counted."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.attacks.base import AdversaryView
from anonymizer.flow.prepare import Job
from anonymizer.model.classes import Measurement
from anonymizer.privacy.base import Constraint, CountedConstraint, ReleaseConstraint, describe
from anonymizer.search.base import Stage


def countable_constraints(constraints: Sequence[Constraint]) -> list[CountedConstraint]:
    """Return the constraints that the classes of a release suffice to measure."""
    return [each for each in constraints if not isinstance(each, ReleaseConstraint)]


def in_order(
    constraints: Sequence[Constraint], own: Sequence[Measurement], attacked: Sequence[Measurement]
) -> list[Measurement]:
    """Return measurements in the order of the constraints.

    Parameters
    ----------
    own, attacked: of the counted constraints, and of the others.
    """
    first, second = iter(own), iter(attacked)
    return [next(second if isinstance(each, ReleaseConstraint) else first) for each in constraints]


def unmeasured(constraint: ReleaseConstraint) -> Measurement:
    """Return what a file alone tells of a constraint that an attack measures: nothing."""
    return _measurement(constraint, None, None)


def attack_written_release(job: Job, scene: AdversaryView) -> list[Measurement]:
    """Attack a release that was read back, with targets and randomness that the search had not.

    Parameters
    ----------
    scene: of the release and the input, without the recipe.
    """
    gate = job.problem.gate
    found = []
    for constraint in gate.constraints:
        measured = constraint.measured(scene, gate.random(constraint, Stage.AUDIT))
        found.append(_measurement(constraint, measured, constraint.holds(measured)))
    return found


def violated_constraints(constraints: Sequence[Constraint], measurements: Sequence[Measurement]) -> list[str]:
    """Return the constraints that an attack on the release broke, with what it reached."""
    return [
        f"{describe(constraint)} {each.measured:.4g} in the audit"
        for constraint, each in zip(constraints, measurements, strict=True)
        if isinstance(constraint, ReleaseConstraint) and each.satisfied is False
    ]


def _measurement(constraint: ReleaseConstraint, measured: float | None, held: bool | None) -> Measurement:
    name, parameters = constraint.model.name, constraint.parameters()
    return Measurement(name, constraint.attribute, parameters, measured, held, 0, False)
