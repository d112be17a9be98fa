"""The goal of a run: its constraints, the loss to minimize, and the search for it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from anonymizer.config.features import asked_of_algorithm
from anonymizer.config.model import Config
from anonymizer.config.plugin_sections import ConstraintSettings
from anonymizer.config.search import Attackers
from anonymizer.config.section import KeyPath, dotted
from anonymizer.config.sections import Reference, Steps
from anonymizer.errors import InputError
from anonymizer.loss.base import LossMetric
from anonymizer.model.features import SuppressionMethod
from anonymizer.model.recoding import Bound
from anonymizer.model.table import QuasiIdentifier, SensitiveAttribute
from anonymizer.model.units import RECORD
from anonymizer.privacy.base import (
    AttackModel,
    ClassConstraint,
    ClassModel,
    Constraint,
    PrivacyModel,
    ReleaseConstraint,
    TableConstraint,
    TableModel,
)
from anonymizer.search.base import SearchAlgorithm


@dataclass(frozen=True, eq=False)
class Goal:
    """What must hold, what is minimized, and how it is sought.

    Attributes
    ----------
    config: name of the config in messages.
    entries: the constraints by the path of their entry in the config, in their order, then those of the
        scenarios; one without attribute is on every sensitive attribute, separately.
    metric: the loss to minimize.
    most: returns how many of a number of records may be suppressed.
    suppression: how records are suppressed.
    keep_rows: whether suppressed records stay in the release.
    moving_reference: whether p is the distribution in the release instead of the input.
    algorithm: that searches.
    budget: the limits of a search by their names in ``Control``, without those that are not set.
    bound: how much work goes into the bound on every recoding.
    every_step: whether the attackers of constraints are asked about every valid candidate.
    explain_all: whether every step of the search says what each constraint measured.
    seed: of whatever is random.
    """

    config: str
    entries: Mapping[KeyPath, Constraint]
    metric: LossMetric
    most: Callable[[int], int]
    suppression: SuppressionMethod
    keep_rows: bool
    moving_reference: bool
    algorithm: SearchAlgorithm
    budget: Mapping[str, Any]
    bound: Bound
    every_step: bool
    explain_all: bool
    seed: int

    @property
    def planned(self) -> Collection[Constraint]:
        """The constraints, not yet on the sensitive attributes of a file."""
        return self.entries.values()

    @cached_property
    def k(self) -> int | None:
        """The largest k of the constraints outside scenarios; None if none of them has a k."""
        return _largest_k(each for each in self.planned if each.scenario is None)

    @property
    def k_of_reports(self) -> int | None:
        """The largest k of all constraints and scenarios: what reports show has as many records."""
        return _largest_k(self.planned)

    def constraints(self, sensitive: Sequence[str]) -> list[Constraint]:
        """Return the constraints in their order; one without attribute applies to every attribute separately.

        Parameters
        ----------
        sensitive: names of the sensitive attributes, in the order of the file.
        """
        return [own for each in self.planned for own in _on_attributes(each, sensitive)]

    def paths(self, sensitive: Sequence[str]) -> list[KeyPath]:
        """Return for each bound constraint the path of its entry in the config."""
        return [path for path, each in self.entries.items() for _ in _on_attributes(each, sensitive)]

    def check_measurable(
        self, constraints: Sequence[Constraint], sensitive: Sequence[SensitiveAttribute]
    ) -> None:
        """Check that models can measure the sensitive attributes of their constraints.

        Parameters
        ----------
        constraints: of the goal on these attributes.

        Raises
        ------
        InputError: one cannot, naming the constraint and what it lacks.
        """
        known = {each.name: each for each in sensitive}
        for path, each in zip(self.paths([*known]), constraints, strict=True):
            fault = each.model.unsuited(known[each.attribute]) if each.attribute in known else None
            if fault is not None:
                raise InputError(f"{self.config}: {dotted(path)}: {each.model.name} {fault}")

    def check_attacked(
        self,
        constraints: Sequence[Constraint],
        quasi_identifiers: Sequence[QuasiIdentifier],
        sensitive: Sequence[str],
    ) -> None:
        """Check that attacks of constraints measure something on some quasi-identifiers.

        Raises
        ------
        InputError: one does not, naming the constraint and why.
        """
        for path, each in zip(self.paths(sensitive), constraints, strict=True):
            model = each.model
            fault = model.fault(quasi_identifiers) if isinstance(model, AttackModel) else None
            if fault is not None:
                raise InputError(f"{self.config}: {dotted(path)}: {model.name}: {fault}")


def goal_of(config: Config) -> Goal:
    """Return the goal of a config."""
    unit = config.input.default_unit
    planned = _planned(config.constraints, unit, "constraints")
    for scenario, each in (config.scenarios or {}).items():
        own = _planned(each.models, each.unit or unit, "scenarios", scenario, "models")
        known = each.known.sets
        planned |= {at: replace(one, scenario=scenario, knowledge=known) for at, one in own.items()}
    return Goal(
        config=config.source,
        entries=planned,
        metric=config.objective.build(),
        most=config.suppression.most,
        suppression=SuppressionMethod(config.suppression.method.value),
        keep_rows=config.suppression.keep_rows,
        moving_reference=config.reference is Reference.RELEASE,
        algorithm=_algorithm(config),
        budget=config.budget.model_dump(exclude_none=True),
        bound=config.bound,
        every_step=config.attackers is Attackers.EVERY_STEP,
        explain_all=config.steps is Steps.ALL,
        seed=config.seed,
    )


def _algorithm(config: Config) -> SearchAlgorithm:
    found: SearchAlgorithm = config.algorithm.build()
    return found.narrowed(asked_of_algorithm(config)) if found.chooses else found


def _largest_k(planned: Iterable[Constraint]) -> int | None:
    """Return the largest k of constraints on classes; that of k-map counts people of the population."""
    sizes = [each.model.k for each in planned if not each.model.needs_population]
    return max((size for size in sizes if size is not None), default=None)


def _planned(models: Sequence[ConstraintSettings], unit: str, *path: str) -> dict[KeyPath, Constraint]:
    """Return the constraints of a section of the config by the paths of their entries.

    Parameters
    ----------
    unit: counted by models that name none.
    path: of the section.
    """
    planned: dict[KeyPath, Constraint] = {}
    for place, each in enumerate(models):
        model = each.build()
        # A model that counts people does so whatever it is asked for.
        counted = unit if model.people_units else each.unit or unit
        planned[(*path, place)] = bind(
            model,
            each.attribute,
            each.quasi_identifiers == "combined",
            each.missing_sensitive == "value",
            None if counted == RECORD else counted,
        )
    return planned


def _on_attributes(constraint: Constraint, sensitive: Sequence[str]) -> list[Constraint]:
    """Return a constraint on each of the sensitive attributes that it protects."""
    if constraint.attribute is not None or not constraint.model.needs_sensitive:
        return [constraint]
    return [replace(constraint, attribute=name) for name in sensitive]


def bind(
    model: PrivacyModel,
    attribute: str | None = None,
    combined: bool = False,
    missing_is_value: bool = False,
    unit: str | None = None,
) -> Constraint:
    """Return a model as a constraint on a sensitive attribute."""
    if isinstance(model, ClassModel):
        return ClassConstraint(attribute, combined, missing_is_value, unit, model=model)
    if isinstance(model, AttackModel):
        return ReleaseConstraint(attribute, combined, missing_is_value, unit, model=model)
    assert isinstance(model, TableModel)
    return TableConstraint(attribute, combined, missing_is_value, unit, model=model)


def probes(attribute: SensitiveAttribute | None, models: Sequence[type[PrivacyModel]]) -> list[Constraint]:
    """Return constraints with neutral thresholds, one for each measure of the models.

    Parameters
    ----------
    attribute: a sensitive attribute; None for the models without one.
    """
    found: list[Constraint] = []
    for model in models:
        if model.sensitive and attribute is None:
            continue
        fitting = (
            each
            for each in model.probes(attribute)
            if each.needs_sensitive == (attribute is not None)
            and (attribute is None or each.unsuited(attribute) is None)
        )
        found.extend(bind(probe, None if attribute is None else attribute.name) for probe in fitting)
    return found
