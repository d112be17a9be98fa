"""A privacy model bound to the attribute that it protects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anonymizer.attacks.base import AdversaryView
from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Classes, ClassView, Reference
from anonymizer.model.table import SensitiveAttribute
from anonymizer.privacy.base import AttackModel, ClassModel, Measured, Merging, PrivacyModel, TableModel
from anonymizer.privacy.retention import CountConditions


@dataclass(frozen=True, eq=False)
class BoundView:
    """The classes as a constraint sees them.

    Attributes
    ----------
    owner: equivalence class that each of the view's classes lies in, shape (view classes,), int64.
    """

    view: ClassView
    owner: IntArray


@dataclass(frozen=True, eq=False)
class _Binding:
    """What all constraints have.

    Attributes
    ----------
    attribute: name of the sensitive attribute, None for a model without one.
    combined: whether the other sensitive attributes act as quasi-identifiers for this constraint.
    missing_is_value: whether a missing sensitive value counts toward distinct values.
    """

    attribute: str | None = None
    combined: bool = False
    missing_is_value: bool = False
    model: PrivacyModel = field(kw_only=True)

    def parameters(self) -> dict[str, Any]:
        """Return the model's parameters and the keys of the config that bind it in a way of their own."""
        combined = {"quasi_identifiers": "combined"} if self.combined else {}
        missing = {"missing_sensitive": "value"} if self.missing_is_value else {}
        return self.model.parameters() | combined | missing

    def view(self, classes: Classes) -> BoundView:
        """Return the classes as this constraint sees them."""
        if self.attribute is None:
            return BoundView(ClassView(classes.sizes), np.arange(classes.number))
        counts, owner = classes.sensitive_counts(self.attribute, combined=self.combined)
        sizes = classes.sizes
        if self.combined:
            sizes = np.add.reduceat(counts.counts, counts.starts[:-1])
        missing = None if self.missing_is_value else counts.attribute.column.missing
        return BoundView(ClassView(sizes, counts, missing), owner)


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassConstraint(_Binding):
    """A class model as a constraint; a class of the release fails when a part of it fails (``combined``)."""

    model: ClassModel

    @property
    def merging(self) -> Merging:
        """What merging classes does; parts that only one of them has break the strongest promise."""
        if self.combined and self.model.merging is Merging.ANY:
            return Merging.SATISFYING
        return self.model.merging

    def holds(self, classes: Classes, reference: Reference | None) -> BoolArray:
        """Tell which equivalence classes satisfy the model, shape (classes,)."""
        bound = self.view(classes)
        return _all_parts(self.model.holds(bound.view, reference), bound.owner, classes.number)

    def certain_losses(self, classes: Classes, reference: Reference | None) -> IntArray:
        """Bound the records of each class that every finer partition must lose, shape (classes,), int64."""
        bound = self.view(classes)
        held = self.model.holds(bound.view, reference)
        losses = self.model.certain_losses(bound.view, reference, held)
        return np.bincount(bound.owner, weights=losses, minlength=classes.number).astype(np.int64)

    def retention(
        self, attribute: SensitiveAttribute | None, reference: Reference | None
    ) -> CountConditions | None:
        """Return conditions on the counts that stay in each part of a class; None where unknown."""
        missing = None if attribute is None or self.missing_is_value else attribute.column.missing
        return self.model.retention(attribute, missing, reference)

    def measured(self, classes: Classes, reference: Reference | None) -> Measured:
        """Return the worst measure over all classes."""
        return self.model.measured(self.view(classes).view, reference)

    def is_worst(self, classes: Classes, reference: Reference | None) -> BoolArray:
        """Tell which equivalence classes show the worst measure, shape (classes,)."""
        bound = self.view(classes)
        worst = np.zeros(classes.number, dtype=bool)
        worst[bound.owner[self.model.is_worst(bound.view, reference)]] = True
        return worst

    def worst_classes(self, classes: Classes, reference: Reference | None) -> int:
        """Return how many equivalence classes show the worst measure."""
        return int(np.count_nonzero(self.is_worst(classes, reference)))


@dataclass(frozen=True, eq=False, kw_only=True)
class TableConstraint(_Binding):
    """A model of the whole release as a constraint."""

    model: TableModel

    def holds(self, classes: Classes) -> bool:
        """Tell whether a release of these classes satisfies the model."""
        return self.model.holds(self.view(classes).view)

    def measured(self, classes: Classes) -> Measured:
        """Return the measure of a release of these classes."""
        return self.model.measured(self.view(classes).view)


@dataclass(frozen=True, eq=False, kw_only=True)
class ReleaseConstraint(_Binding):
    """A model that an attack on the release measures, as a constraint."""

    model: AttackModel

    def holds(self, measured: float) -> bool:
        """Tell whether a measure satisfies the model."""
        return self.model.holds(measured)

    def measured(self, scene: AdversaryView, random: np.random.Generator) -> float:
        """Return what the attack reaches, at most; on the one attribute, where there is one."""
        return self.model.measured(scene if self.attribute is None else scene.about(self.attribute), random)


CountedConstraint = ClassConstraint | TableConstraint
"""What the classes of a release suffice to measure."""

Constraint = CountedConstraint | ReleaseConstraint


def describe(constraint: Constraint) -> str:
    """Return a constraint's name for messages and steps, such as ``l-diversity(occupation)``."""
    name = constraint.model.name
    return name if constraint.attribute is None else f"{name}({constraint.attribute})"


def _all_parts(held: BoolArray, owner: IntArray, number: int) -> BoolArray:
    whole = np.ones(number, dtype=bool)
    whole[owner[~held]] = False
    return whole
