"""Privacy models: a measure of the classes of a release, its threshold, and the attacks it mitigates.

A constraint is a privacy model bound to the attribute that it protects. There are seven attacks that
privacy models claim to mitigate.

Source: the attack-by-model table of the overview of Diaz and Garcia; models that it does not list have an
argued row on their page of the reference.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import Field

from anonymizer.attacks.base import Attack
from anonymizer.model.adversary import AdversaryView, Threat
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.classes import Classes, ClassView, Reference
from anonymizer.model.table import SensitiveAttribute
from anonymizer.plugins import Exact, Registry
from anonymizer.plugins import Settings as PlugInSettings
from anonymizer.privacy.conditions import CountConditions

WHO = frozenset({Threat.LINKAGE, Threat.RE_IDENTIFICATION})
"""What tells who a record is."""

DIVERSE = frozenset({Threat.HOMOGENEITY, Threat.BACKGROUND})
"""What several sensitive values in a class stop."""

Measured = int | float | list[int | float]
"""What a report shows of a model: one number, or one for each of its conditions."""


class Merging(Enum):
    """What becomes of a class that satisfies a model when classes are merged; searches prune by it."""

    ANY = "stays satisfied whatever it is merged with"
    SATISFYING = "stays satisfied when merged with classes that satisfy the model too"
    NONE = "may fail after any merge"


@dataclass(frozen=True)
class Threshold:
    """A parameter that makes a model stricter or looser.

    Attributes
    ----------
    parameter: its name.
    loosest: the value at which it asks nothing, infinite where there is none.
    whole: whether it is a whole number.
    """

    parameter: str
    loosest: float
    whole: bool = False


class PrivacyModel(ABC):
    """A promise about a release, with its parameters.

    Class attributes
    ----------------
    name: as in the config.
    Settings: its parameters.
    thresholds: the parameters by which a promise that cannot be kept may be loosened.
    sensitive: whether it needs a sensitive attribute, whatever its parameters.
    mitigates: the attacks that it mitigates, which parameters may narrow; a report shows them next to the
        success of the attacks.
    counts_values: whether it counts the sensitive values of classes, so that it matters what is one.
    """

    name: ClassVar[str]
    Settings: ClassVar[type[PlugInSettings]]
    sensitive: ClassVar[bool]
    thresholds: ClassVar[tuple[Threshold, ...]]
    mitigates: frozenset[Threat] = frozenset()
    counts_values: ClassVar[bool] = True

    def __init__(self, settings: PlugInSettings) -> None:
        self.settings = settings

    @property
    def needs_sensitive(self) -> bool:
        """Whether this model, with its parameters, needs a sensitive attribute."""
        return self.sensitive

    @property
    def allowed_success(self) -> Decimal | None:
        """The share of right guesses that the model allows of what it claims to stop, None without one."""
        return None

    def along_hierarchy(self, attribute: SensitiveAttribute) -> bool:
        """Tell whether the model measures distances along the hierarchy of an attribute's values."""
        return False

    def loosened(self, threshold: Threshold, value: int | Decimal) -> Self:
        """Return the model with another value of one of its thresholds."""
        return type(self)(self.settings.model_copy(update={threshold.parameter: value}))

    @classmethod
    def probes(cls, attribute: SensitiveAttribute | None) -> list[PrivacyModel]:
        """Return instances with neutral thresholds that measure what a table satisfies.

        One for each choice that changes the measure, such as a ground distance; by default a single one, with
        every threshold at its loosest, which must be finite then.

        Parameters
        ----------
        attribute: the sensitive attribute that will be measured, None when there is none.
        """
        loosest = {each.parameter: each.loosest for each in cls.thresholds}
        return [cls(cls.Settings.model_validate(loosest))]

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as a report shows them; exact decimals become numbers."""
        values = self.settings.model_dump(mode="python", exclude_none=True)
        return {key: float(value) if isinstance(value, Decimal) else value for key, value in values.items()}


class ClassModel(PrivacyModel):
    """A model that judges every equivalence class by itself; suppressing a failing class repairs it.

    Class attributes
    ----------------
    uses_reference: whether the verdict depends on the reference distribution p.
    by_size: whether every class of at least ``minimum_size`` records satisfies the model.

    Attributes
    ----------
    merging: what merging classes does to the verdict.
    """

    uses_reference: ClassVar[bool] = False
    by_size: ClassVar[bool] = False
    merging: Merging

    @property
    def minimum_size(self) -> int:
        """No class with fewer records satisfies the model."""
        return 1

    @abstractmethod
    def holds(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Tell which classes satisfy the model, exactly at the threshold too, shape (classes,)."""

    @abstractmethod
    def measured(self, view: ClassView, reference: Reference | None) -> Measured:
        """Return the worst measure over all classes (at least one), as the contract defines it."""

    @abstractmethod
    def is_worst(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Tell which classes show the worst measure, shape (classes,)."""

    def retention(
        self, attribute: SensitiveAttribute | None, missing: int | None, reference: Reference | None
    ) -> CountConditions | None:
        """Return the model as conditions on the counts that stay when single records are suppressed.

        They must say what ``holds`` says of any class whose values the reference has. With None, records of a
        failing class are suppressed together, which is sound but may be more than needed.

        Parameters
        ----------
        attribute: the sensitive attribute, None for a model without one.
        missing: code of the missing value that does not count toward distinct values.
        """
        return None

    def certain_losses(self, view: ClassView, reference: Reference | None, holds: BoolArray) -> IntArray:
        """Bound the records that every finer partition must lose.

        For each class: at least so many of its records are in failing classes however the class is split,
        the reference being the same. Searches rule out whole down-sets of the lattice by it.

        Parameters
        ----------
        holds: what ``holds`` returned, shape (classes,).

        Returns
        -------
        Records, shape (classes,), int64, between 0 and the class size, 0 where the class holds.
        """
        if self.merging is Merging.ANY:
            return np.where(holds, 0, view.sizes)
        if self.merging is Merging.SATISFYING:
            return np.where(holds, 0, 1)
        return np.zeros(len(view.sizes), dtype=np.int64)


class ScoredClassModel(ClassModel):
    """A class model with one number per class, smaller being better unless ``larger_is_better``."""

    larger_is_better: ClassVar[bool] = False

    @abstractmethod
    def scores(self, view: ClassView, reference: Reference | None) -> FloatArray:
        """Return the measure of each class, shape (classes,), float64; infinite where no bound would do."""

    def measured(self, view: ClassView, reference: Reference | None) -> Measured:
        """Return the worst score over all classes."""
        scores = self.scores(view, reference)
        # Three equal counts have exp(entropy) 3, not 2.9999999999999996.
        return round(float(scores.min() if self.larger_is_better else scores.max()), 12)

    def is_worst(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Tell which classes have the worst score, up to rounding."""
        scores = self.scores(view, reference)
        worst = scores.min() if self.larger_is_better else scores.max()
        close: BoolArray = np.isclose(scores, worst, rtol=1e-12, atol=1e-12)
        return close


class TableModel(PrivacyModel):
    """A model of the whole release; suppressing classes does not repair it, the candidate is rejected."""

    @property
    def singles_out(self) -> bool:
        """Whether it is about finding a person's record, and not about what is learned of its values.

        Where records are published exact in groups, it looks at records that are alike, not at groups.
        """
        return False

    @abstractmethod
    def holds(self, view: ClassView) -> bool:
        """Tell whether a release with these classes satisfies the model."""

    @abstractmethod
    def measured(self, view: ClassView) -> Measured:
        """Return the measure of a release with these classes."""


class RiskSettings(PlugInSettings):
    """The parameters of every model that an attack measures."""

    max: Annotated[Exact, Field(ge=0, le=1, description="maximum success of the attack")]


class AttackModel(PrivacyModel):
    """A model of the whole release that an adversary measures who holds more than the release.

    Classes alone do not tell it: the attack is run on the release and on the records that the adversary
    holds. What is estimated counts by the upper end of its interval, and must not exceed ``max``.
    """

    Settings: ClassVar[type[RiskSettings]]
    settings: RiskSettings
    thresholds = (Threshold("max", 1),)
    counts_values = False

    @abstractmethod
    def attack(self) -> Attack:
        """Return the attack that measures the model."""

    @classmethod
    def probes(cls, attribute: SensitiveAttribute | None) -> list[PrivacyModel]:
        """Return nothing: a table alone does not tell what its records were."""
        return []

    @property
    def allowed_success(self) -> Decimal:
        """The share that the attack may reach."""
        return self.settings.max

    def holds(self, measured: float) -> bool:
        """Tell whether a share is at most ``max``."""
        return Fraction(repr(measured)) <= Fraction(self.settings.max)

    def measured(self, scene: AdversaryView, random: np.random.Generator) -> float:
        """Run the attack and return what it reached, at most.

        Parameters
        ----------
        random: the source of all randomness.
        """
        # A share that was added up may miss a threshold that it meets by the last bit.
        return round(max(float(found.high) for found in self.attack().run(scene, random)), 12)


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


PRIVACY_MODELS: Registry[PrivacyModel] = Registry(
    "privacy model", PrivacyModel, "anonymizer.privacy", "anonymizer.privacy_models"
)
