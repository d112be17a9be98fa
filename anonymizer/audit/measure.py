"""Measuring constraints on counted classes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from anonymizer.model.classes import Classes, Measurement, Reference
from anonymizer.privacy.base import ClassConstraint, CountedConstraint


def measure(
    classes: Classes,
    constraints: Sequence[CountedConstraint],
    references: Mapping[str, Reference] | None = None,
    grown: Collection[str] = (),
) -> list[Measurement]:
    """Measure every constraint on the classes of a file with at least one record.

    Parameters
    ----------
    references: distribution p of each sensitive attribute; None for that of the file itself.
    grown: sensitive attributes whose tree of values was grown from data, and not from these alone.
    """
    measurements = []
    for constraint in constraints:
        if isinstance(constraint, ClassConstraint):
            measurements.append(_measure_classes(classes, constraint, references, grown))
        else:
            measurements.append(
                Measurement(
                    constraint.model.name,
                    constraint.attribute,
                    constraint.parameters(),
                    constraint.measured(classes),
                    constraint.holds(classes),
                    0,
                    verifiable_from_release=True,
                )
            )
    return measurements


def _measure_classes(
    classes: Classes,
    constraint: ClassConstraint,
    references: Mapping[str, Reference] | None,
    grown: Collection[str],
) -> Measurement:
    reference = None
    if constraint.attribute is not None:
        own = classes.sensitive_counts(constraint.attribute)[0].reference()
        reference = own if references is None else references[constraint.attribute]
    return Measurement(
        constraint.model.name,
        constraint.attribute,
        constraint.parameters(),
        constraint.measured(classes, reference),
        bool(constraint.holds(classes, reference).all()),
        constraint.worst_classes(classes, reference),
        verifiable_from_release=verifiable(classes, constraint, grown)
        and (references is None or not constraint.model.uses_reference),
    )


def verifiable(classes: Classes, constraint: CountedConstraint, grown: Collection[str] = ()) -> bool:
    """Tell whether a file that is its own reference suffices to measure a constraint.

    It does not where distances lie along a tree that is not at hand, or that grew from other data.

    Parameters
    ----------
    classes: of the file, its sensitive attributes with the hierarchies that are at hand.
    grown: sensitive attributes whose tree was grown from data.
    """
    if constraint.attribute is None:
        return True
    attribute = classes.sensitive_counts(constraint.attribute, combined=constraint.combined)[0].attribute
    if not constraint.model.along_hierarchy(attribute):
        return True
    return attribute.hierarchy is not None and attribute.name not in grown
