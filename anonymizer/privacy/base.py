"""Privacy models: a measure of the classes of a release, its threshold, and the attacks it mitigates.

A constraint is a privacy model bound to the attribute that it protects. A model may also say what the counts
of a valid class satisfy, which gives bounds in whole records; functions of counts for that stand at the end.

Source of what each model mitigates: the attack-by-model table of the overview of Diaz and Garcia; the
reference page of a model that the table does not list gives the reasons.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from enum import Enum
from fractions import Fraction
from functools import cached_property, lru_cache
from math import gcd, isfinite, isnan, log
from typing import Annotated, Any, ClassVar, Self, TypeVar

import numpy as np
from pydantic import Field, WithJsonSchema

from anonymizer.attacks.base import TAILS, Attack, AttackResult
from anonymizer.errors import PlugInFault
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.classes import Classes, ClassView, Knowledge, KnownClasses, Reference, SensitiveCounts
from anonymizer.model.features import Feature, Limit, Supporter
from anonymizer.model.table import QuasiIdentifier, SensitiveAttribute
from anonymizer.model.units import HOUSEHOLD, PERSON, RECORD
from anonymizer.plugins import Exact, PlugInSettings, Registry, Threat, WholeNumber, accepts

PERSONS = (PERSON,)
"""Units of a model that compares persons with people."""

PERSONS_OR_RECORDS = (PERSON, RECORD)
"""Units of a model whose numbers are people, whatever is in the classes."""

WHO = frozenset({Threat.LINKAGE, Threat.RE_IDENTIFICATION})
"""Attacks that link a record to its person."""

GroupSize = Annotated[WholeNumber, Field(ge=1, description="minimum size of an equivalence class")]
"""Parameter k of a model."""

SINGLE = frozenset({Threat.HOMOGENEITY})
"""Attacks that two sensitive values in a class stop."""

DIVERSE = SINGLE | {Threat.BACKGROUND}
"""Attacks that three sensitive values in a class stop: one of them may be ruled out."""


def stopped_by(values: int) -> frozenset[Threat]:
    """Return the attacks that a number of distinct values in every class stops."""
    if values < 2:
        return frozenset()
    return SINGLE if values == 2 else DIVERSE


Measured = int | float | list[int | float]
"""The measure that a report shows: one number, or one for each condition of the model."""


class Merging(Enum):
    """Effect of a merge on a class that satisfies a model; searches prune by it."""

    ANY = "stays satisfied after every merge"
    SATISFYING = "stays satisfied after merges with classes that satisfy the model"
    NONE = "may fail after any merge"


@dataclass(frozen=True)
class Threshold:
    """A parameter that makes a model stricter or looser.

    Attributes
    ----------
    parameter: name in the config.
    loosest: the value that every table satisfies; infinite if no finite value does.
    whole: whether the parameter is a whole number.
    """

    parameter: str
    loosest: float
    whole: bool = False

    @property
    def neutral(self) -> float:
        """The value with which a table is measured: the loosest, or 1 without a finite one."""
        return self.loosest if isfinite(self.loosest) else 1


class PrivacyModel(ABC, Supporter):
    """A formal condition on a release, with its parameters.

    Class attributes
    ----------------
    name: as in the config.
    Settings: its parameters.
    thresholds: the parameters to loosen if the model cannot be satisfied.
    examples: parameters that tests try, from a loose setting to a strict one.
    sensitive: whether the model needs a sensitive attribute with any parameters.
    mitigates: the attacks that the model mitigates; parameters may narrow the set. A report shows them next
        to the success of the attacks.
    counts_values: whether the verdict depends on which sensitive values count as equal.
    people_units: of a model that counts people, and no other units, the values of ``unit`` that are accepted
        where ``input.person`` is given, the default first.
    measures: parameters that the numbers of its measure belong to, in their order; empty if that is clear.
    by_attack: whether an attack measures it.
    needs_population: whether it counts the population that the records are a sample of.
    needs_households: whether it needs to know which records are of one household.
    needs_entries: whether it needs to know which classes have records of one unit, where units are counted.
    needs_unit_records: whether it needs to know besides how many records of each unit are in a class.
    measured_by_default: whether ``check`` measures it on every file, else where people are known, and with
        configs that have it.
    """

    supports = frozenset(
        {
            Feature.APPLY,
            Feature.INPUT_REFERENCE,
            Feature.SCENARIOS,
            Feature.SOME_KNOWN,
            Feature.TWO_TABLES,
            Feature.COUNTED_HOUSEHOLDS,
            Feature.PERSONS_AMONG_PEOPLE,
            Feature.OUT_OF_CORE,
        }
    )
    name: ClassVar[str]
    Settings: ClassVar[type[PlugInSettings]]
    sensitive: ClassVar[bool]
    thresholds: ClassVar[tuple[Threshold, ...]]
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = ()
    mitigates: frozenset[Threat] = frozenset()
    counts_values: ClassVar[bool] = True
    people_units: ClassVar[tuple[str, ...]] = ()
    measures: ClassVar[tuple[str, ...]] = ()
    by_attack: ClassVar[bool] = False
    needs_population: bool = False
    needs_households: ClassVar[bool] = False
    needs_entries: ClassVar[bool] = False
    needs_unit_records: bool = False
    measured_by_default: ClassVar[bool] = True

    def __init__(self, settings: PlugInSettings) -> None:
        self.settings = settings

    @property
    def needs_more(self) -> bool:
        """Whether a release is not enough to measure it."""
        return self.needs_population or self.needs_households

    @property
    def limits(self) -> Mapping[Feature, Limit]:
        """What it does not support with its parameters, with the reason."""
        own: dict[Feature, Limit] = {}
        if self.needs_more:
            own[Feature.SOME_KNOWN] = Limit("{model} needs an adversary who knows all quasi-identifiers")
        if self.needs_population:
            own[Feature.SCENARIOS] = Limit()
        return own

    def limit_of(self, unit: str) -> Limit | None:
        """Return why it cannot count a unit with its parameters; None if nothing rules it out."""
        if unit == RECORD:
            return None
        of_households = self.limits.get(Feature.COUNTED_HOUSEHOLDS) if unit == HOUSEHOLD else None
        return of_households or self.limits.get(Feature.UNITS)

    @classmethod
    def of(cls, settings: PlugInSettings) -> PrivacyModel:
        """Return the model with its parameters; they may decide whether it judges classes or the release."""
        return cls(settings)

    @property
    def needs_sensitive(self) -> bool:
        """Whether this model, with its parameters, needs a sensitive attribute."""
        return self.sensitive

    def unsuited(self, attribute: SensitiveAttribute) -> str | None:
        """Return what a sensitive attribute lacks to be measured, as the end of a sentence; None for nothing.

        Such as ``needs numbers, but 'job' has texts``. A config with the model on it is refused.
        """
        return None

    @property
    def allowed_success(self) -> Decimal | None:
        """Share of correct guesses that the model allows the attacks it mitigates; None without a limit."""
        return None

    @property
    def least_values(self) -> int | None:
        """Least distinct values of a class, a missing one included; None if the model does not say."""
        return None

    def concerns(self, knowledge: Mapping[str, Any]) -> bool:
        """Return whether the model limits an adversary whom an attack tried.

        A model about a population limits adversaries who do not know whether the target is in the data; every
        attack on a threat aims at a record of the release. An adversary who rules out t values is certain of
        none only where classes have t + 2 values; no model limits those who know other records, or who count
        what is only likely.

        Parameters
        ----------
        knowledge: of the adversary, as an attack's entry of a report has it.
        """
        if self.needs_population:
            return False
        excluded = knowledge.get("facts", 0)
        if isinstance(excluded, Mapping):
            likely = excluded.keys() - {"not", "where", "share"}
            excluded = None if likely else len(excluded.get("not", ()))
        if excluded == 0:
            return True
        least = self.least_values
        return isinstance(excluded, int) and least is not None and least >= excluded + 2

    def promise(self, attribute: str | None, unit: str) -> str:
        """Return what an adversary reaches at most, as the end of a sentence about that adversary.

        Parameters
        ----------
        attribute: the sensitive attribute, None without one.
        unit: what is counted.
        """
        given = " and ".join(f"{key} {value}" for key, value in self.parameters().items())
        of = f" of {attribute}" if attribute is not None else ""
        return f"is held to {self.name}{of} by {unit} with {given}"

    @property
    def known(self) -> tuple[str, ...]:
        """The quasi-identifiers that its parameters name as known; empty for all."""
        return ()

    @property
    def k(self) -> int | None:
        """The smallest class that its parameter k asks for; None without one."""
        found: int | None = self.parameters().get("k")
        return found

    def value_of(self, threshold: Threshold) -> int | Decimal:
        """Return the parameter of one of its thresholds."""
        found: int | Decimal = self.settings.model_dump(mode="python")[threshold.parameter]
        return found

    def along_hierarchy(self, attribute: SensitiveAttribute) -> bool:
        """Return whether the model measures distances along the hierarchy of an attribute's values."""
        return False

    def loosened(self, threshold: Threshold, value: int | Decimal) -> Self:
        """Return the model with another value of one of its thresholds."""
        return type(self)(self.settings.model_copy(update={threshold.parameter: value}))

    @classmethod
    def probes(cls, attribute: SensitiveAttribute | None) -> list[PrivacyModel]:
        """Return instances with neutral thresholds, to measure the thresholds that a table satisfies.

        Return one for each choice that changes the measure, such as a ground distance. The default is a
        single one with every threshold at its neutral value, on which the measure does not depend.

        Parameters
        ----------
        attribute: the sensitive attribute to measure, None without one.
        """
        return [cls(cls.Settings.model_validate(cls.neutral()))]

    @classmethod
    def neutral(cls) -> dict[str, float]:
        """Return the neutral value of each threshold by its parameter."""
        return {each.parameter: each.neutral for each in cls.thresholds}

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as a report shows them; exact decimals become numbers."""
        values = self.settings.model_dump(mode="python", exclude_none=True)
        return {key: float(value) if isinstance(value, Decimal) else value for key, value in values.items()}


M = TypeVar("M", FloatArray, Measured)


def _checked(model: PrivacyModel, measured: M) -> M:
    """Return what a model measured.

    Raises
    ------
    PlugInFault: it is no number, which no class attains, so that a search would prove a job infeasible.
    """
    parts = measured if isinstance(measured, list) else [measured]
    if np.isnan(measured).any() if isinstance(measured, np.ndarray) else any(map(isnan, parts)):
        raise PlugInFault(
            f"privacy model {model.name} measures NaN, which is no number, so nothing can be decided by it; "
            "this is a fault of the model: it should return math.inf for a class that no bound satisfies, or "
            "refuse the attribute (unsuited)"
        )
    return measured


class ClassModel(PrivacyModel):
    """A model that judges each equivalence class separately; suppressing the failing classes satisfies it.

    Class attributes
    ----------------
    uses_reference: whether the verdict depends on the reference distribution p.
    by_size: whether every class of at least ``minimum_size`` records satisfies the model.
    merging_of_units: effect of merges where units are counted, one of which may have records in both classes:
        sizes and numbers of distinct values never fall, differences and shares may.

    Attributes
    ----------
    merging: effect of merges on the verdict.
    """

    supports = PrivacyModel.supports | {Feature.UNITS, Feature.PSEUDONYMS}
    uses_reference: ClassVar[bool] = False
    by_size: ClassVar[bool] = False
    merging_of_units: ClassVar[Merging] = Merging.NONE
    merging: Merging

    @property
    def limits(self) -> Mapping[Feature, Limit]:
        """Appended records are compared with a reference that is at hand."""
        own = super().limits
        return {**own, Feature.INPUT_REFERENCE: Limit()} if self.uses_reference else own

    @property
    def minimum_size(self) -> int:
        """No class with fewer records satisfies the model."""
        return 1

    @property
    def minimum_units(self) -> int:
        """No class with fewer persons or other units satisfies the model; each may have several values."""
        return 1

    @abstractmethod
    def holds(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Return which classes satisfy the model, shape (classes,), bool; exact at the threshold too."""

    @abstractmethod
    def measured(self, view: ClassView, reference: Reference | None) -> Measured:
        """Return the worst measure over all classes; there is at least one class."""

    @abstractmethod
    def is_worst(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Return which classes have the worst measure, shape (classes,), bool."""

    def retention(
        self, attribute: SensitiveAttribute | None, missing: int | None, reference: Reference | None
    ) -> CountConditions | None:
        """Return the model as conditions on the counts that remain when single records are suppressed.

        They must agree with ``holds`` on each class whose values occur in the reference. With None, all
        records
        of a failing class are suppressed: sound, but possibly more than needed.

        Parameters
        ----------
        attribute: the sensitive attribute, None for a model without one.
        missing: code of the missing value if it does not count as a distinct value, else None.
        """
        return None

    def certain_losses(self, view: ClassView, reference: Reference | None, holds: BoolArray) -> IntArray:
        """Return a lower bound on the records that every finer partition must lose.

        However a class is split, at least so many of its records are in failing classes, for the same
        reference. Searches rule out whole down-sets of the lattice by this bound.

        Parameters
        ----------
        holds: result of ``holds``, shape (classes,), bool.

        Returns
        -------
        Records, shape (classes,), int64, between 0 and the class size; 0 for classes that satisfy the model.
        """
        if self.merging is Merging.ANY:
            return np.where(holds, 0, view.sizes)
        if self.merging is Merging.SATISFYING:
            return np.where(holds, 0, 1)
        return np.zeros(len(view.sizes), dtype=np.int64)


class ScoredClassModel(ClassModel):
    """A class model with one number per class; smaller is better unless ``larger_is_better``."""

    larger_is_better: ClassVar[bool] = False

    @abstractmethod
    def scores(self, view: ClassView, reference: Reference | None) -> FloatArray:
        """Return the measure of each class, shape (classes,), float64; infinite if no bound is satisfied."""

    def scored(self, view: ClassView, reference: Reference | None) -> FloatArray:
        """Return the scores of a view, computed once.

        Raises
        ------
        PlugInFault: some are no numbers.
        """
        key = self, reference
        if key not in view.remembered:
            view.remembered[key] = _checked(self, self.scores(view, reference))
        found: FloatArray = view.remembered[key]
        return found

    def measured(self, view: ClassView, reference: Reference | None) -> Measured:
        scores = self.scored(view, reference)
        # Three equal counts have exp(entropy) 3, not 2.9999999999999996.
        return round(float(scores.min() if self.larger_is_better else scores.max()), 12)

    def is_worst(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Return which classes have the worst score, up to rounding."""
        scores = self.scored(view, reference)
        worst = scores.min() if self.larger_is_better else scores.max()
        close: BoolArray = np.isclose(scores, worst, rtol=1e-12, atol=1e-12)
        return close


class TableModel(PrivacyModel):
    """A model of the whole release; suppressing classes does not satisfy it, the candidate is rejected."""

    @property
    def singles_out(self) -> bool:
        """Whether the model concerns linking a record, not inferring its value.

        If so, it judges the equal exact records of an Anatomy release instead of its buckets.
        """
        return False

    @abstractmethod
    def holds(self, view: ClassView) -> bool:
        """Return whether a release with these classes satisfies the model."""

    @abstractmethod
    def measured(self, view: ClassView) -> Measured:
        """Return the measure of a release with these classes."""

    def surely_violated(self, whole: ClassView, lost: int) -> bool:
        """Return whether no division of one class satisfies the model without at most so many records of it.

        False if that is not known.
        """
        return False

    def most_classes(self, records: int) -> int | None:
        """Return how many classes a release of so many records may have at most; None if not known."""
        return None


class RiskSettings(PlugInSettings):
    """The parameters of all models that bound a risk."""

    max: Annotated[Exact, Field(ge=0, le=1, description="maximum success of the attack")]


class TailSettings(RiskSettings):
    """The parameters of models that may bound the success among the most exposed."""

    at: Annotated[
        Exact | None,
        accepts(
            lambda at: at is None or Fraction(at) in TAILS.values(),
            f"at is {{value}}; accepted: {', '.join(TAILS)}",
        ),
        WithJsonSchema({"type": "number", "enum": [float(share) for share in TAILS]}),
        Field(
            description="0.01, 0.05 or 0.1: limit the success among this share of the targets, those of whom "
            "the adversary is surest; default: among all"
        ),
    ] = None

    @property
    def tail(self) -> str | None:
        """Key of the share whose success is limited; None for all targets."""
        return (
            None if self.at is None else next(key for key, own in TAILS.items() if own == Fraction(self.at))
        )

    @property
    def whom(self) -> str:
        """The share in words that follow a promise; empty for all targets."""
        if self.at is None:
            return ""
        return f" among the {100 * float(self.at):g} % of whom the adversary is surest"


class ReleaseRisk(TableModel):
    """A risk of the whole release, as a rule of re-identification: a share or mean of at most ``max``."""

    Settings: ClassVar[type[RiskSettings]]
    settings: RiskSettings
    thresholds = (Threshold("max", 1),)

    @property
    def allowed_success(self) -> Decimal | None:
        """The maximum."""
        return self.settings.max

    @property
    def singles_out(self) -> bool:
        """True: it concerns linking records."""
        return True

    @abstractmethod
    def risk(self, view: ClassView) -> Fraction:
        """Return the risk; if it is computed in floating point, ``as_shown``."""

    def holds(self, view: ClassView) -> bool:
        """Return whether the risk is at most ``max``."""
        return self.risk(view) <= Fraction(self.settings.max)

    def measured(self, view: ClassView) -> Measured:
        """Return the risk."""
        return float(self.risk(view))


def as_shown(risk: float) -> Fraction:
    """Return the decimal that a report shows for a float, exactly."""
    return Fraction(repr(risk))


class AttackModel(PrivacyModel):
    """A model of the whole release, measured by an attack with original records.

    The classes are not enough to measure it. An estimate counts by the upper end of its interval, which must
    not exceed ``max``.
    """

    Settings: ClassVar[type[RiskSettings]]
    settings: RiskSettings
    supports = PrivacyModel.supports - {Feature.APPLY, Feature.OUT_OF_CORE}
    thresholds = (Threshold("max", 1),)
    counts_values = False
    by_attack = True

    @property
    def limits(self) -> Mapping[Feature, Limit]:
        """The adversary of a scenario is measured by classes."""
        what = "{model} is measured by an attack on the whole release"
        return {**super().limits, Feature.SOME_KNOWN: Limit(what)}

    @abstractmethod
    def attack(self) -> Attack:
        """Return the attack that measures the model."""

    @classmethod
    def probes(cls, attribute: SensitiveAttribute | None) -> list[PrivacyModel]:
        """Return no probes: the attack needs original records, not only a table."""
        return []

    @property
    def known(self) -> tuple[str, ...]:
        """Those that the adversary of the attack knows."""
        return self.attack().named.known

    @property
    def allowed_success(self) -> Decimal | None:
        """Maximum success of the attack."""
        return self.settings.max

    def bounded(self, found: Sequence[AttackResult]) -> Sequence[AttackResult]:
        """Return the results for the targets that ``max`` is about: all, or the most exposed."""
        share = self.settings.tail if isinstance(self.settings, TailSettings) else None
        return found if share is None else [each.among(share) for each in found]

    def fault(self, attributes: Sequence[QuasiIdentifier]) -> str | None:
        """Return why the attack measures nothing on a table with these quasi-identifiers, with the remedy."""
        return None

    def holds(self, measured: float) -> bool:
        """Return whether a success is at most ``max``, compared exactly."""
        return as_shown(measured) <= Fraction(self.settings.max)

    def worst(self, found: Sequence[AttackResult]) -> float:
        """Return the success that counts against ``max``: the upper end of the interval if estimated."""
        # Rounding in a sum must not decide whether the success is at the threshold.
        return round(max(float(each.high) for each in found), 12)

    def least(self, found: Sequence[AttackResult]) -> float:
        """Return a lower bound of ``worst`` for all random numbers of the attack, of the same release.

        A release that it puts above ``max`` surely violates the model; what only an estimate rejects may
        satisfy it.
        """
        return 0.0


@dataclass(frozen=True, eq=False)
class BoundView:
    """The classes to which a constraint applies.

    Attributes
    ----------
    owner: equivalence class of each class in the view, shape (classes of the view,), int64.
    """

    view: ClassView
    owner: IntArray


@dataclass(frozen=True, eq=False)
class _Binding:
    """A model with the columns and values to which it applies.

    Attributes
    ----------
    attribute: name of the sensitive attribute, None for a model without one.
    combined: whether the other sensitive attributes act as quasi-identifiers for this constraint.
    missing_is_value: whether a missing sensitive value counts as a distinct value.
    unit: what is counted, by its name in the config; None for records.
    scenario: name of the scenario in the config; None for an adversary who knows all quasi-identifiers.
    knowledge: what the adversary of the scenario knows; None for all quasi-identifiers.
    """

    attribute: str | None = None
    combined: bool = False
    missing_is_value: bool = False
    unit: str | None = None
    scenario: str | None = None
    knowledge: Knowledge | None = None
    model: PrivacyModel = field(kw_only=True)

    @cached_property
    def of_everything(self) -> Self:
        """The constraint for an adversary who knows all quasi-identifiers of the given classes."""
        return replace(self, knowledge=None)

    @cached_property
    def in_records(self) -> Self:
        """The constraint on records in place of units."""
        return replace(self, unit=None)

    def known(self, classes: Classes) -> Sequence[KnownClasses]:
        """Return the classes for each set of quasi-identifiers that the adversary may know."""
        assert self.knowledge is not None, "only called for a scenario"
        return classes.known_by(self.knowledge)

    def parameters(self) -> dict[str, Any]:
        """Return the model's parameters and the keys of the config that bind it, if not the default."""
        combined = {"quasi_identifiers": "combined"} if self.combined else {}
        missing = {"missing_sensitive": "value"} if self.missing_is_value else {}
        unit = {} if self.unit is None else {"unit": self.unit}
        return self.model.parameters() | combined | missing | unit

    def view(self, classes: Classes) -> BoundView:
        """Return the classes to which this constraint applies; the same view at every call."""
        needs = self.model.needs_households, self.model.needs_entries
        key = self.attribute, self.combined, self.missing_is_value, self.unit, needs
        if key not in classes.remembered:
            classes.remembered[key] = self._view(classes)
        found: BoundView = classes.remembered[key]
        return found

    def _view(self, classes: Classes) -> BoundView:
        if not classes.linked:
            return self._view_of(classes)
        bound = [(self._view_of(each), owner) for each, owner in classes.judged]
        owners = [owner[own.owner] for own, owner in bound]
        return BoundView(ClassView.joined([own.view for own, _ in bound]), np.concatenate(owners))

    def _view_of(self, classes: Classes) -> BoundView:
        entries = None
        if self.unit is not None and self.model.needs_entries:
            entries = classes.entries(self.unit, self.attribute, combined=self.combined)
        if self.attribute is None:
            households = classes.households if self.model.needs_households else None
            sizes = classes.sizes_in(self.unit)
            own = classes.values
            people = classes.population
            view = ClassView(sizes, population=people, households=households, values=own, entries=entries)
            return BoundView(view, np.arange(classes.number))
        found = classes.counted(self.attribute, combined=self.combined, unit=self.unit)
        missing = None if self.missing_is_value else found.counts.attribute.column.missing
        return BoundView(ClassView(found.sizes, found.counts, missing, entries=entries), found.owner)


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassConstraint(_Binding):
    """A class model as a constraint; with ``combined``, a class fails if one of its parts fails."""

    model: ClassModel

    @property
    def merging(self) -> Merging:
        """Effect of merges; a part that only one of the classes has may fail after a merge."""
        if self.unit is not None:
            return Merging.NONE if self.combined else self.model.merging_of_units
        if self.combined and self.model.merging is Merging.ANY:
            return Merging.SATISFYING
        return self.model.merging

    @property
    def by_size(self) -> bool:
        """Whether every class of at least ``minimum_size`` records satisfies the constraint."""
        return self.model.by_size and self.unit is None and self.knowledge is None

    @property
    def minimum_size(self) -> int:
        """No equivalence class with fewer records satisfies the constraint."""
        return self.model.minimum_size if self.knowledge is None else 1

    @property
    def minimum_units(self) -> int:
        """No equivalence class with fewer units satisfies the constraint; 1 if it counts records."""
        return 1 if self.unit is None or self.knowledge is not None else self.model.minimum_units

    def holds(self, classes: Classes, reference: Reference | None) -> BoolArray:
        """Return which equivalence classes satisfy the model, shape (classes,), bool.

        In a scenario, those that are part of no failing class of the known quasi-identifiers.
        """
        held = np.ones(classes.number, dtype=bool)
        if self.knowledge is not None:
            for own in self.known(classes):
                held &= self.of_everything.holds(own.classes, reference)[own.owner]
            return held
        bound = self.view(classes)
        held[bound.owner[~self._satisfied(bound.view, reference)]] = False
        return held

    def _satisfied(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Return the verdict of the model on each class of a view, computed once."""
        key = self, reference
        if key not in view.remembered:
            view.remembered[key] = self.model.holds(view, reference)
        found: BoolArray = view.remembered[key]
        return found

    def certain_losses(self, classes: Classes, reference: Reference | None) -> IntArray:
        """Return a lower bound on the records that every finer partition loses, shape (classes,), int64."""
        if self.merging is Merging.ANY and (self.unit is not None or classes.linked):
            return np.where(self.holds(classes, reference), 0, classes.sizes)
        if classes.linked or (self.unit is not None and self.attribute is None):
            # The bounds of models are in what they count, which are not the records of a class.
            return np.zeros(classes.number, dtype=np.int64)
        bound = self.view(classes)
        held = self._satisfied(bound.view, reference)
        losses = self.model.certain_losses(bound.view, reference, held)
        if self.unit is not None:
            records = self.in_records.view(classes).view
            single = (bound.view.sizes == records.sizes) & (bound.view.totals == records.sizes)
            losses = np.where(single, losses, self._split_losses(bound.view, records))
        return np.bincount(bound.owner, weights=losses, minlength=classes.number).astype(np.int64)

    def _split_losses(self, units: ClassView, records: ClassView) -> IntArray:
        """Return a lower bound on the records that any split of classes of units loses, shape (classes,)."""
        conditions = None
        if not self.model.uses_reference:
            conditions = self.retention(units.counted.attribute, None)
        if conditions is None:
            return np.zeros(len(records.sizes), dtype=np.int64)
        return split_losses(conditions, units, records)

    def retention(
        self, attribute: SensitiveAttribute | None, reference: Reference | None
    ) -> CountConditions | None:
        """Return the model as conditions on the counts that remain in a part of a class; None if unknown.

        The counts are of what the constraint counts, and so is the reference.
        """
        if self.knowledge is not None:
            return None
        missing = None if attribute is None or self.missing_is_value else attribute.column.missing
        return self.model.retention(attribute, missing, reference)

    def measured(
        self, classes: Classes, reference: Reference | None, kept: BoolArray | None = None
    ) -> Measured:
        """Return the worst measure over all classes, or over some of them, shape (classes,), bool."""
        if self.knowledge is not None:
            view = self._known_view(classes if kept is None else classes.keep(kept))
            return _checked(self.model, self.model.measured(view, reference))
        bound = self.view(classes)
        view = bound.view if kept is None else bound.view.keep(kept[bound.owner])
        return _checked(self.model, self.model.measured(view, reference))

    def _known_view(self, classes: Classes) -> ClassView:
        """Return the classes for all sets of known quasi-identifiers, one after the other."""
        return ClassView.joined([self.of_everything.view(each.classes).view for each in self.known(classes)])

    def is_worst(self, classes: Classes, reference: Reference | None) -> BoolArray:
        """Return which equivalence classes have the worst measure, shape (classes,), bool."""
        bound = self.view(classes)
        worst = np.zeros(classes.number, dtype=bool)
        worst[bound.owner[self.model.is_worst(bound.view, reference)]] = True
        return worst

    def worst_classes(self, classes: Classes, reference: Reference | None) -> int:
        """Return the number of equivalence classes with the worst measure; in a scenario over all sets."""
        if self.knowledge is not None:
            return int(np.count_nonzero(self.model.is_worst(self._known_view(classes), reference)))
        return int(np.count_nonzero(self.is_worst(classes, reference)))


@dataclass(frozen=True, eq=False, kw_only=True)
class TableConstraint(_Binding):
    """A model of the whole release as a constraint."""

    model: TableModel

    def holds(self, classes: Classes) -> bool:
        """Return whether a release of these classes satisfies the model."""
        if self.knowledge is not None:
            return all(self.of_everything.holds(each.classes) for each in self.known(classes))
        return self.model.holds(self.view(classes).view)

    def surely_violated(self, whole: Classes, lost: int) -> bool:
        """Return what the model proves of the divisions of one class that lose at most so many records."""
        return self.unit is None and self.model.surely_violated(self.of_everything.view(whole).view, lost)

    def most_classes(self, records: int) -> int | None:
        """Return how many classes a release of so many records may have at most; None if not known."""
        whole = self.unit is None and self.knowledge is None
        return self.model.most_classes(records) if whole else None

    def measured(self, classes: Classes) -> Measured:
        """Return the measure of a release of these classes, the largest of all sets of known attributes."""
        if self.knowledge is not None:
            measured = (self.of_everything.measured(each.classes) for each in self.known(classes))
            return max(measured, key=np.max)
        return _checked(self.model, self.model.measured(self.view(classes).view))


@dataclass(frozen=True, eq=False, kw_only=True)
class ReleaseConstraint(_Binding):
    """A model that an attack on the release measures, as a constraint on records or on units."""

    model: AttackModel

    @property
    def of_release_alone(self) -> bool:
        """Whether a recipient can repeat the attack; nobody else knows whose the records are."""
        return self.attribute is None and self.unit is None and self.model.attack().of_release_alone

    def holds(self, measured: float) -> bool:
        """Return whether a measure satisfies the model."""
        return self.model.holds(measured)

    def measured(self, adversary: AdversaryView, random: np.random.Generator) -> float:
        """Return the success of the attack, for the constraint's attribute only if it has one."""
        return self.model.worst(self.attacked(adversary, random))

    def attacked(self, adversary: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:
        """Return the results of the attack, for the constraint's attribute only if it has one.

        Parameters
        ----------
        adversary: with the owners of the records if the constraint counts units.
        """
        target = adversary if self.attribute is None else adversary.about(self.attribute)
        attack = self.model.attack()
        if self.unit is None:
            return self.model.bounded(attack.run(target.without_owners(), random))
        attack.settings = attack.settings.model_copy(update={"unit": self.unit})
        return self.model.bounded(attack.run(target, random))


CountedConstraint = ClassConstraint | TableConstraint
"""Constraints that can be measured from the classes of a release alone."""

Constraint = CountedConstraint | ReleaseConstraint


Shares = tuple[Fraction, ...]
"""One share for each value code."""


@dataclass(frozen=True)
class Distinct:
    """A minimum number of distinct values.

    Attributes
    ----------
    missing: code of the missing value if it does not count, else None.
    """

    number: int
    missing: int | None = None


@dataclass(frozen=True)
class Dominance:
    """The most frequent value is below c times the rare ones: r_1 < c (r_l + r_{l+1} + ...)."""

    c: Fraction
    l: int  # noqa: E741


@dataclass(frozen=True, eq=False)
class Deviation:
    """A bound on how far the counts of nested groups of values are from the expected ones.

    The sum over groups of |y(group) - n expected(group) / total| is at most ``limit`` n. Any two groups are
    disjoint or one holds the other. All three earth mover's distances of t-closeness have this form.

    Attributes
    ----------
    group_of: smallest group of each value code, -1 for none, shape (values,), int64.
    parent: smallest group that holds each group, -1 for none, shape (groups,), int64; groups come before
        their parents.
    expected: records of the reference in each group, shape (groups,), int64.
    total: records of the reference.
    limit: maximum of the sum per record.
    span: the sum per record at a distance of 1.
    steady: whether the groups remain the same when the reference loses values.
    """

    group_of: IntArray
    parent: IntArray
    expected: IntArray
    total: int
    limit: Fraction
    span: int
    steady: bool = True

    @property
    def separate(self) -> bool:
        """Whether the groups are the single values."""
        return len(self.parent) == len(self.group_of) == len(np.unique(self.group_of)) and bool(
            (self.parent < 0).all() and (self.group_of >= 0).all()
        )


@dataclass(frozen=True, eq=False)
class CountConditions:
    """Conditions on the counts y of the n records that remain in a class; all must hold.

    The counts are of the values of one sensitive attribute; conditions with ``smallest`` only need none.
    Where units are counted, each with all of its values, the counts add up to more than n. Then ``smallest``,
    ``caps`` and ``floors`` compare with n, and ``dominances``, ``entropies`` and ``deviations`` with the sum.
    Irrational bounds have 60 digits, more than counts can distinguish.

    Attributes
    ----------
    smallest: minimum of n.
    distinct: minimum numbers of distinct values.
    caps: y is at most cap n for each value; None without.
    floors: y is 0 or at least floor n for each value; None without.
    required: values that must remain, shape (values,), bool; None without.
    dominances: bounds on the most frequent value.
    entropies: H(y / n) is at least ln l for each of these l.
    deviations: bounds on the distance from the reference.
    """

    smallest: int = 1
    distinct: tuple[Distinct, ...] = ()
    caps: Shares | None = None
    floors: Shares | None = None
    required: BoolArray | None = None
    dominances: tuple[Dominance, ...] = ()
    entropies: tuple[Fraction, ...] = ()
    deviations: tuple[Deviation, ...] = ()

    def joined(self, other: CountConditions) -> CountConditions:
        """Return the conjunction with other conditions on the same attribute."""
        required = self.required if other.required is None else other.required
        if self.required is not None and other.required is not None:
            required = self.required | other.required
        return CountConditions(
            max(self.smallest, other.smallest),
            self.distinct + other.distinct,
            _tighter(self.caps, other.caps, min),
            _tighter(self.floors, other.floors, max),
            required,
            self.dominances + other.dominances,
            self.entropies + other.entropies,
            self.deviations + other.deviations,
        )

    def drifted(self, share: Fraction, passing: BoolArray) -> CountConditions:
        """Return conditions that follow from these after the reference loses some of its records.

        If the reference p loses a share of at most f, the share of a value is at most p / (1 - f) and at
        least p - f. An earth mover's distance changes by at most f, the cost of moving a share f by 1.
        (1 + beta) p, (1 - ln p) p and p exp(delta) grow at most as fast as p.

        Parameters
        ----------
        share: f, below 1.
        passing: values that the reference may lose completely, shape (values,), bool.
        """
        required = None if self.required is None else self.required & ~passing
        steady = [each for each in self.deviations if each.steady or not passing.any()]
        return CountConditions(
            self.smallest,
            self.distinct,
            None if self.caps is None else tuple(cap / (1 - share) for cap in self.caps),
            None if self.floors is None else tuple(max(floor - share, Fraction(0)) for floor in self.floors),
            required,
            self.dominances,
            self.entropies,
            tuple(replace(each, limit=each.limit + each.span * share) for each in steady),
        )


def _tighter(
    own: Shares | None, other: Shares | None, choose: Callable[[Fraction, Fraction], Fraction]
) -> Shares | None:
    if own is None or other is None:
        return other if own is None else own
    return tuple(map(choose, own, other))


SLACK = 1e-6
"""Records subtracted from a computed bound before rounding up; far above its rounding error."""


def largest_counts(counts: SensitiveCounts) -> IntArray:
    """Return the count of the most frequent value in each class, r_1, shape (classes,), int64."""
    return np.maximum.reduceat(counts.counts, counts.starts[:-1])


def distinct_values(view: ClassView) -> IntArray:
    """Return the number of distinct sensitive values that count in each class, shape (classes,), int64."""
    counts = view.counted
    distinct: IntArray = np.diff(counts.starts)
    if view.missing is not None:
        is_missing = (counts.values == view.missing).astype(np.int64)
        distinct = distinct - np.add.reduceat(is_missing, counts.starts[:-1])
    return distinct


def entry_shares(view: ClassView) -> FloatArray:
    """Return q of each entry, its share of the class, shape (entries,)."""
    counts = view.counted
    return counts.counts / view.sizes[counts.owners]


def exact_ratios(entries: list[tuple[int, int]], size: int, reference: Reference) -> list[Fraction]:
    """Return q / p of each value of one class; its values occur in the reference.

    Parameters
    ----------
    entries: (value code, count) pairs of the class.
    size: of the class.
    """
    return [Fraction(count * reference.size, size * int(reference.counts[value])) for value, count in entries]


def reference_shares(counts: SensitiveCounts, reference: Reference) -> FloatArray:
    """Return p of each entry's value, shape (entries,)."""
    return reference.shares[counts.values]


def excess_over_caps(view: ClassView, caps: FloatArray) -> FloatArray:
    """Return a lower bound on the records that each class must lose to keep all caps, shape (classes,).

    Losing x records of value v leaves c_v - x of n - x, so x is at least (c_v - cap n) / (1 - cap).

    Parameters
    ----------
    caps: maximum share of each entry's value, shape (entries,); 1 or more never binds.
    """
    counts = view.counted
    sizes = view.sizes[counts.owners]
    room = np.where(caps < 1, 1 - caps, 1.0)
    excess = np.where(caps < 1, (counts.counts - caps * sizes) / room, 0.0)
    return np.maximum.reduceat(excess, counts.starts[:-1])


def whole_records(
    bound: FloatArray, view: ClassView, holds: BoolArray, *, smallest: int = 1, least: int = 1
) -> IntArray:
    """Round a lower bound up to whole records, shape (classes,), int64.

    Parameters
    ----------
    bound: records that must be lost, shape (classes,), float64.
    holds: classes that lose no records, shape (classes,), bool.
    smallest: a class is lost completely if fewer records than this would remain.
    least: minimum number of records that a failing class loses.
    """
    records = np.ceil(np.clip(bound, 0, view.sizes) - SLACK).astype(np.int64)
    records = np.maximum(records, least)
    records = np.where(view.sizes - records < smallest, view.sizes, records)
    return np.where(holds, 0, np.minimum(records, view.sizes))


def rare_counts(counts: SensitiveCounts, rank: int) -> IntArray:
    """Return r_l + r_{l+1} + ... of each class, its counts from the l-th largest on, shape (classes,), int64.

    Parameters
    ----------
    rank: l.
    """
    order = np.lexsort((-counts.counts, counts.owners))
    ranks = np.arange(len(order)) - counts.starts[counts.owners]
    rare = np.where(ranks >= rank - 1, counts.counts[order], 0)
    found: IntArray = np.add.reduceat(rare, counts.starts[:-1])
    return found


@lru_cache(maxsize=4096)
def largest_share(distinct: int, l: float) -> float:  # noqa: E741
    """Return an upper bound on the share of the most frequent of d values if the entropy is at least ln l.

    The entropy is largest if the other d - 1 values are equally frequent; bisection solves that case. Return
    0 if d values cannot reach ln l.
    """
    if distinct < l * (1 - 1e-12):
        return 0.0
    if distinct <= 1:
        return 1.0
    low, high = 1 / distinct, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        rest = 1 - middle
        entropy = -middle * log(middle) - (rest * log(rest / (distinct - 1)) if rest > 0 else 0.0)
        low, high = (middle, high) if entropy >= log(l) else (low, middle)
    return min(1.0, high + 1e-9)


def split_losses(conditions: CountConditions, units: ClassView, records: ClassView) -> IntArray:
    """Return a lower bound on the records that any split of classes loses where units are counted.

    A unit with several records may be in several parts of a class and counts in each. Added up over the
    parts, a value thus counts at least as often as units have it, and no value more often than records do.
    Caps, dominances and entropies that all parts satisfy hold for these sums too. Of the values of a class,
    the units of one are set against all records of the others; a record that is lost takes one unit from it.

    Parameters
    ----------
    conditions: without a reference distribution.
    units, records: the same classes, in units and in records.

    Returns
    -------
    Records, shape (classes,), int64.
    """
    least, most = units.counted.counts, records.counted.counts
    starts, owners = units.counted.starts, units.counted.owners
    others = records.sizes[owners] - most
    losses = np.zeros(len(records.sizes))

    def limited(caps: FloatArray) -> None:
        excess = np.where(caps < 1, least - caps / np.where(caps < 1, 1 - caps, 1.0) * others, 0.0)
        np.maximum(losses, np.maximum.reduceat(excess, starts[:-1]), out=losses)

    if conditions.caps is not None:
        limited(np.array([float(cap) for cap in conditions.caps])[units.counted.values])
    distinct = np.diff(starts)
    for l in conditions.entropies:  # noqa: E741
        caps = np.array([largest_share(number, float(l)) for number in range(int(distinct.max()) + 1)])
        limited(caps[distinct][owners])
        losses = np.where(caps[distinct] > 0, losses, records.sizes)
    largest = largest_counts(units.counted)
    for each in conditions.dominances:
        rare = rare_counts(replace(units.counted, counts=np.minimum(most, largest[owners])), each.l)
        np.maximum(losses, np.where(rare > 0, largest - float(each.c) * rare, records.sizes), out=losses)
    return whole_records(losses, records, losses <= 0, smallest=conditions.smallest, least=0)


def describe(constraint: Constraint) -> str:
    """Return a constraint's name for messages and steps, such as ``l-diversity(occupation)``."""
    name = constraint.model.name
    bound = (constraint.attribute, constraint.unit, constraint.scenario)
    own = [each for each in bound if each is not None]
    return f"{name}({', '.join(own)})" if own else name


PRIVACY_MODELS: Registry[PrivacyModel] = Registry(
    "privacy model", PrivacyModel, "anonymizer.privacy", "anonymizer.privacy_models"
)


CLOSE = 1e-9
"""Relative distance to a threshold below which float64 is not trusted; its error is below 1e-12 here."""


def resolve_near_ties(
    held: BoolArray,
    margins: FloatArray,
    scale: float,
    signature: Callable[[int], Hashable],
    exactly: Callable[[int], bool],
) -> BoolArray:
    """Replace the verdicts that rounding may have decided by exact ones.

    Parameters
    ----------
    held: the verdicts by float64, shape (classes,), bool; changed in place.
    margins: distance of each score to its threshold, shape (classes,).
    scale: size of the threshold; margins below ``CLOSE`` times it are decided exactly.
    signature: from the position of a class; equal signatures have equal verdicts, computed once.
    exactly: from the position of a class, its verdict by exact arithmetic.
    """
    known: dict[Hashable, bool] = {}
    for position in np.flatnonzero(np.abs(margins) <= CLOSE * max(1.0, scale)).tolist():
        key = signature(position)
        if key not in known:
            known[key] = exactly(position)
        held[position] = known[key]
    return held


def sign_of_log_sum(terms: Sequence[tuple[int, int]]) -> int:
    """Return the sign of sum(weight * ln(number)), exactly.

    Decimals of increasing precision decide the sign of a nonzero sum. The sum is zero iff the product of
    number**weight is 1, which common divisors decide.

    Parameters
    ----------
    terms: (weight, number) pairs of integers, numbers at least 1.

    >>> sign_of_log_sum([(3, 3), (-3, 3)])
    0
    >>> sign_of_log_sum([(1, 9), (-2, 3)]), sign_of_log_sum([(1, 8), (-2, 3)])
    (0, -1)
    """
    digits, zero = 50, None
    while True:
        with localcontext() as context:
            context.prec = digits
            logs = [weight * Decimal(number).ln() for weight, number in terms]
            total = sum(logs, Decimal(0))
            if total.copy_abs() > sum(map(abs, logs), Decimal(0)) * Decimal(10) ** (8 - digits):
                return 1 if total > 0 else -1
        zero = _is_zero(terms) if zero is None else zero
        if zero:
            return 0
        digits *= 2


def _is_zero(terms: Sequence[tuple[int, int]]) -> bool:
    """Return whether the product of number**weight is 1.

    Every number is a product of powers of a coprime base, and such a base is multiplicatively independent:
    the product is 1 iff every power cancels. Unlike prime factors, common divisors are quick to find.
    """
    powers: Counter[int] = Counter()
    base = _coprime_base({number for _, number in terms})
    for weight, number in terms:
        rest = number
        for factor in base:
            while rest % factor == 0:
                powers[factor] += weight
                rest //= factor
    return not any(powers.values())


def _coprime_base(numbers: Iterable[int]) -> list[int]:
    """Return pairwise coprime numbers above 1; each given number is a product of their powers."""
    base: list[int] = []
    pending = list(numbers)
    while pending:
        number = pending.pop()
        if number == 1:
            continue
        for position, factor in enumerate(base):
            common = gcd(number, factor)
            if common > 1:
                del base[position]
                pending += [number // common, factor // common, common]
                break
        else:
            base.append(number)
    return base


def log_of(value: Fraction, digits: int = 60) -> Decimal:
    """Return ln(value) to more digits than a threshold has; it is irrational unless it is 0.

    Operators round to the precision of the current context; use ``copy_abs`` and ``copy_negate``.
    """
    with localcontext() as context:
        context.prec = digits
        return Decimal(value.numerator).ln() - Decimal(value.denominator).ln()


def has_entropy(counts: Sequence[int], l: Fraction) -> bool:  # noqa: E741
    """Return whether the entropy of a distribution, given as positive counts, is at least ln l.

    >>> has_entropy([2, 2, 2], Fraction(3)), has_entropy([3, 2, 2], Fraction(3))
    (True, False)
    """
    total = sum(counts)
    terms = [(total, total), (-total, l.numerator), (total, l.denominator)]
    return sign_of_log_sum([*terms, *((-count, count) for count in counts)]) >= 0


def exponential_of(value: Decimal, digits: int = 60) -> Fraction:
    """Return exp(min(value, 700)) to 60 digits; exp(700) exceeds any ratio of counts."""
    with localcontext() as context:
        context.prec = digits
        return Fraction(min(value, Decimal(700)).exp())
