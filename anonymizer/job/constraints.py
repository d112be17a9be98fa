"""Constraints of a run by how they are measured: those that counts determine, and those that attacks do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from anonymizer.model.adversary import AdversaryView
from anonymizer.model.classes import Measurement
from anonymizer.plan.prepared import Prepared
from anonymizer.privacy.base import Constraint, CountedConstraint, ReleaseConstraint, describe
from anonymizer.search.base import Stage


def countable_constraints(constraints: Sequence[Constraint]) -> list[CountedConstraint]:
    """Return the constraints that are measured on the classes of a release, without an attack."""
    return [each for each in constraints if not isinstance(each, ReleaseConstraint)]


def in_order(
    constraints: Sequence[Constraint], own: Sequence[Measurement], attacked: Sequence[Measurement]
) -> list[Measurement]:
    """Return measurements in the order of the constraints.

    Parameters
    ----------
    own: of the countable constraints.
    attacked: of the attack-based ones.
    """
    first, second = iter(own), iter(attacked)
    return [next(second if isinstance(each, ReleaseConstraint) else first) for each in constraints]


def unmeasured(constraint: Constraint) -> Measurement:
    """Return the measurement of a constraint that needs more than the file at hand: unknown."""
    return _measurement(constraint, None, None)


def attack_written_release(
    prepared: Prepared, view: AdversaryView, phase: Callable[[str], None]
) -> list[Measurement]:
    """Attack a release that was read back, with other targets and randomness than those of the search.

    Parameters
    ----------
    view: the release and the input, without the recipe.
    phase: receives which constraint is measured.
    """
    gate, found = prepared.problem.gate, []
    for each in gate.constraints:
        phase(f"attacking the written release: {describe(each)}")
        found.append(attacked(each, view, gate.random(each, Stage.AUDIT)))
    return found


def attacked(constraint: ReleaseConstraint, view: AdversaryView, random: np.random.Generator) -> Measurement:
    """Return the measurement of a constraint by its attack."""
    measured = constraint.measured(view, random)
    found = _measurement(constraint, measured, constraint.holds(measured))
    return replace(found, verifiable_from_release=constraint.of_release_alone)


def violated_constraints(
    constraints: Sequence[Constraint], measurements: Sequence[Measurement]
) -> list[tuple[ReleaseConstraint, float]]:
    """Return the attack-based constraints that the release violates, with the success of the attack."""
    return [
        (constraint, each.measured)
        for constraint, each in zip(constraints, measurements, strict=True)
        if isinstance(constraint, ReleaseConstraint) and each.satisfied is False
    ]


def _measurement(constraint: Constraint, measured: float | None, held: bool | None) -> Measurement:
    name, parameters = constraint.model.name, constraint.parameters()
    return Measurement(name, constraint.attribute, parameters, measured, held, 0, False)
