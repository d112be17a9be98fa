"""Measuring constraints on counted classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anonymizer.core.classes import Classes, Reference
from anonymizer.core.measurement import Measurement
from anonymizer.privacy.constraint import ClassConstraint, Constraint


def measure(
    classes: Classes, constraints: Sequence[Constraint], references: Mapping[str, Reference] | None = None
) -> list[Measurement]:
    """Measure every constraint on the classes of a file with at least one record.

    Parameters
    ----------
    references: distribution p of each sensitive attribute; None for that of the file itself.
    """
    measurements = []
    for constraint in constraints:
        if isinstance(constraint, ClassConstraint):
            measurements.append(_measure_classes(classes, constraint, references))
        else:
            measurements.append(
                Measurement(
                    constraint.model.name,
                    constraint.attribute,
                    constraint.model.parameters(),
                    constraint.measured(classes),
                    constraint.holds(classes),
                    0,
                    verifiable_from_release=True,
                )
            )
    return measurements


def _measure_classes(
    classes: Classes, constraint: ClassConstraint, references: Mapping[str, Reference] | None
) -> Measurement:
    reference = None
    if constraint.attribute is not None:
        own = classes.sensitive_counts(constraint.attribute)[0].reference()
        reference = own if references is None else references[constraint.attribute]
    return Measurement(
        constraint.model.name,
        constraint.attribute,
        constraint.model.parameters(),
        constraint.measured(classes, reference),
        bool(constraint.holds(classes, reference).all()),
        constraint.worst_classes(classes, reference),
        verifiable_from_release=references is None or not constraint.model.uses_reference,
    )
