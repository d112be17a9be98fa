"""The plan of a run: all that lower rooms need of a config, read from it once.

Columns with their hierarchies, constraints, the objective, attacks and measures of utility: rooms get these
and no config.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from anonymizer.attacks.base import Attack
from anonymizer.config.attribute import AttributeSettings, Role
from anonymizer.config.files import Order
from anonymizer.config.model import Config, Reference
from anonymizer.data.frames import FrameRelation
from anonymizer.data.relation import Relation
from anonymizer.data.source import CSV_FILES
from anonymizer.data.table import ColumnRequest
from anonymizer.errors import DataError, InputError, suggestion
from anonymizer.hierarchy.placement import (
    LevelRange,
    Placement,
    Unknown,
    build_quasi_identifier,
    build_sensitive_attribute,
)
from anonymizer.hierarchy.source import FlatSource, HierarchySource
from anonymizer.loss.base import LossMetric
from anonymizer.model.arrays import FloatArray
from anonymizer.model.table import (
    COMMA,
    POINT,
    Column,
    Numerals,
    QuasiIdentifier,
    SensitiveAttribute,
    Table,
    ValueType,
)
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
from anonymizer.run.engine import EngineLimits, limits_of
from anonymizer.search.base import SearchAlgorithm, SuppressionMethod
from anonymizer.system import same_file
from anonymizer.utility.base import Measure

APPLIED_REMEDY = "leave these records out, or do the earlier run again with unknown: top"
"""What would do for values that a hierarchy lacks, where an earlier run binds the hierarchies."""

NO_SOURCES: Mapping[str, HierarchySource[Any]] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class PlannedHierarchy:
    """The hierarchy that a config gives a column.

    Attributes
    ----------
    source: builds it.
    unknown: whether a value that it lacks is an error or goes directly under the root.
    definition: what the config says of it, without its files.
    files: that it is read from, wherever they lie.
    """

    source: HierarchySource[Any]
    unknown: Unknown
    definition: Mapping[str, Any]
    files: tuple[Path, ...]

    def digest(self) -> str:
        """Return the SHA-256 of the definition: the files of the hierarchy, else its parameters.

        Of the definition, not of the tree: a tree built from the data would tell of the data.

        Raises
        ------
        OSError: a file cannot be read.
        """
        digest = hashlib.sha256(json.dumps(self.definition, sort_keys=True, ensure_ascii=False).encode())
        for path in self.files:
            digest.update(path.read_bytes())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class PlannedColumn:
    """What a config says of a column.

    Attributes
    ----------
    type: None to detect it.
    weight: in aggregates of loss.
    levels: that a search may use.
    distance: for t-closeness; None for that of its type.
    """

    role: Role
    type: ValueType | None
    hierarchy: PlannedHierarchy | None
    weight: float
    levels: LevelRange
    distance: str | None


@dataclass(frozen=True, eq=False)
class PlannedConstraint:
    """A constraint that is not yet bound to the sensitive attributes of a file.

    Attributes
    ----------
    attribute: that it is for; None for each of them by itself.
    combined: whether other sensitive attributes count as quasi-identifiers.
    missing_is_value: whether a missing value counts as one of the distinct values.
    """

    model: PrivacyModel
    attribute: str | None
    combined: bool
    missing_is_value: bool

    def bound(self, sensitive: Sequence[str]) -> list[Constraint]:
        """Return the constraint on each sensitive attribute that it is for."""
        if not self.model.needs_sensitive:
            return [bind(self.model)]
        names = sensitive if self.attribute is None else [self.attribute]
        return [bind(self.model, name, self.combined, self.missing_is_value) for name in names]


@dataclass(frozen=True, eq=False)
class Plan:
    """All that lower rooms need of a config.

    Attributes
    ----------
    config: what messages call the config.
    engine: which engine counts, and its limits.
    shown: the config as reports show it.
    input: what messages call the input.
    output: path of the release in the config; None for a table.
    columns: by name, in the order of the config.
    missing: texts that mean that a value is missing.
    numerals: how texts write numbers.
    planned: the constraints, in their order.
    metric: what a search makes small.
    most: how many of a number of records may be suppressed.
    moving_reference: whether p is that of the release instead of the input's.
    algorithm: that searches.
    budget: seconds, nodes and steps of a search, None where they are not limited.
    attacks, utility: what is run on a release, in the order of the config.
    applied: whether the recoding of an earlier run is applied.
    shuffled: whether the released records are shuffled, and not sorted.
    beside_the_input: whether input and release are in one database.
    """

    config: str
    engine: EngineLimits
    shown: dict[str, Any]
    folder: Path
    input: str
    output: str | None
    columns: Mapping[str, PlannedColumn]
    missing: tuple[str, ...]
    numerals: Numerals
    planned: tuple[PlannedConstraint, ...]
    metric: LossMetric
    most: Callable[[int], int]
    suppression: SuppressionMethod
    keep_rows: bool
    moving_reference: bool
    algorithm: SearchAlgorithm
    budget: tuple[float | None, int | None, int | None]
    attacks: tuple[Attack, ...]
    utility: tuple[Measure, ...]
    applied: bool
    shuffled: bool
    beside_the_input: bool
    seed: int
    seed_is_default: bool

    def with_role(self, role: Role) -> tuple[str, ...]:
        """Return the names of the columns with a role, in the order of the config."""
        return tuple(name for name, each in self.columns.items() if each.role is role)

    def among(self, names: Iterable[str], role: Role) -> list[str]:
        """Return those of some columns that have a role, in their own order."""
        own = frozenset(self.with_role(role))
        return [name for name in names if name in own]

    def released(self, names: Iterable[str]) -> list[str]:
        """Return those of the columns of an input that are released: all but the identifiers."""
        dropped = frozenset(self.with_role(Role.IDENTIFIER))
        return [name for name in names if name not in dropped]

    @cached_property
    def k(self) -> int | None:
        """The largest k that the constraints ask for, None when none has one."""
        sizes = [getattr(each.model.settings, "k", None) for each in self.planned]
        return max((size for size in sizes if size is not None), default=None)

    @property
    def weights(self) -> list[str]:
        """The columns of sampling weights that attacks name."""
        named = (getattr(each.settings, "weights", None) for each in self.attacks)
        return sorted({name for name in named if name is not None})

    @property
    def hierarchy_files(self) -> list[Path]:
        """The files that the hierarchies are read from."""
        given = [each.hierarchy for each in self.columns.values() if each.hierarchy is not None]
        return [path for hierarchy in given for path in hierarchy.files]

    @property
    def grown(self) -> frozenset[str]:
        """The sensitive attributes whose hierarchy depends on the data that it is built for."""
        return frozenset(
            name
            for name in self.with_role(Role.SENSITIVE)
            if (given := self.columns[name].hierarchy) is not None and given.source.rule_built
        )

    def digest(self, name: str) -> str | None:
        """Return the digest of a column's hierarchy; None without one."""
        hierarchy = self.columns[name].hierarchy
        return None if hierarchy is None else hierarchy.digest()

    def described(self, table: Table) -> dict[str, Any]:
        """Return role, type and hierarchy digest by column, in the order of the config."""
        types = {each.name: each.column.type.value for each in table.quasi_identifiers}
        types |= {each.name: each.column.type.value for each in table.sensitive}
        return {
            name: {"role": each.role.value, "type": types.get(name), "hierarchy_sha256": self.digest(name)}
            for name, each in self.columns.items()
        }

    def constraints(self, sensitive: Sequence[str]) -> list[Constraint]:
        """Return the constraints in their order; one without attribute applies to each attribute by itself.

        Parameters
        ----------
        sensitive: names of the sensitive attributes, in the order of the file.
        """
        return [bound for each in self.planned for bound in each.bound(sensitive)]

    def positions(self, sensitive: Sequence[str]) -> list[int]:
        """Return for each bound constraint its position in the config."""
        return [place for place, each in enumerate(self.planned) for _ in each.bound(sensitive)]

    def requests(self, names: Iterable[str]) -> list[ColumnRequest]:
        """Return how some columns are read, in the order of the names."""
        return [ColumnRequest(name, self.columns[name].type, self.numerals) for name in names]

    def quasi_identifiers(
        self, columns: Mapping[str, Column], sources: Mapping[str, HierarchySource[Any]] = NO_SOURCES
    ) -> tuple[QuasiIdentifier, ...]:
        """Return the quasi-identifiers among some columns with their hierarchies.

        Parameters
        ----------
        sources: of hierarchies by name, in place of the config's.
        """
        return tuple(
            self._quasi_identifier(column, self.columns[name], sources.get(name))
            for name, column in columns.items()
            if self.columns[name].role is Role.QUASI_IDENTIFIER
        )

    def _quasi_identifier(
        self, column: Column, planned: PlannedColumn, source: HierarchySource[Any] | None
    ) -> QuasiIdentifier:
        placement = self._placement(planned.hierarchy)
        if planned.hierarchy is not None:
            own = source or planned.hierarchy.source
            return build_quasi_identifier(column, own, placement, planned.weight, planned.levels)
        flat = build_quasi_identifier(column, FlatSource(), placement, planned.weight, planned.levels)
        return replace(flat, by_range=column.numbers is not None)

    def sensitive_attributes(self, columns: Mapping[str, Column]) -> tuple[SensitiveAttribute, ...]:
        """Return the sensitive attributes among some columns with the hierarchies that they have."""
        return tuple(
            self._sensitive_attribute(column, self.columns[name])
            for name, column in columns.items()
            if self.columns[name].role is Role.SENSITIVE
        )

    def _sensitive_attribute(self, column: Column, planned: PlannedColumn) -> SensitiveAttribute:
        if planned.hierarchy is None:
            return SensitiveAttribute(column, distance=planned.distance)
        placement = self._placement(planned.hierarchy)
        return build_sensitive_attribute(column, planned.hierarchy.source, placement, planned.distance)

    def _placement(self, hierarchy: PlannedHierarchy | None) -> Placement:
        unknown = Unknown.ERROR if hierarchy is None else hierarchy.unknown
        placement = Placement(self.folder, unknown, self.missing)
        return replace(placement, remedy=APPLIED_REMEDY) if self.applied else placement

    def typed(self, types: Mapping[str, ValueType | None]) -> Plan:
        """Return the plan with columns of known types, whatever the values look like."""
        columns = {
            name: replace(each, type=types.get(name) or each.type) for name, each in self.columns.items()
        }
        return replace(self, columns=columns)

    def without_hierarchies(self, names: Iterable[str]) -> Plan:
        """Return the plan with columns that have no hierarchy."""
        bare = set(names)
        columns = {
            name: replace(each, hierarchy=None) if name in bare else each
            for name, each in self.columns.items()
        }
        return replace(self, columns=columns)


def plan_of(config: Config) -> Plan:
    """Read a config, section by section."""
    engine, given, budget = limits_of(config), config.input, config.budget
    name, folder, shown = config.source, config.folder, config.to_dict()
    sources = {
        name: each.hierarchy.build() for name, each in config.attributes.items() if each.hierarchy is not None
    }
    numerals, metric = given.numerals, config.objective.build()
    planned = tuple(
        PlannedConstraint(
            each.build(),
            each.attribute,
            each.quasi_identifiers == "combined",
            each.missing_sensitive == "value",
        )
        for each in config.constraints
    )
    attacks = tuple(each.build() for each in config.attacks)
    utility = tuple(each.build() for each in config.utility)
    algorithm = config.algorithm.build()
    return Plan(
        name,
        engine,
        shown,
        folder,
        str(given.path or "the input"),
        config.output.path,
        {
            name: _column(each, sources.get(name), folder, shown["attributes"][name])
            for name, each in config.attributes.items()
        },
        given.missing,
        numerals,
        planned,
        metric,
        config.suppression.most,
        SuppressionMethod(config.suppression.method.value),
        config.suppression.keep_rows,
        config.reference is Reference.RELEASE,
        algorithm,
        (budget.seconds, budget.nodes, budget.steps),
        attacks,
        utility,
        config.apply is not None,
        config.output.order is Order.SHUFFLED,
        writes_beside_the_input(config),
        config.seed,
        config.seed == Config.model_fields["seed"].default,
    )


def _column(
    settings: AttributeSettings,
    source: HierarchySource[Any] | None,
    folder: Path,
    shown: Mapping[str, Any],
) -> PlannedColumn:
    """Return a column with its hierarchy.

    Parameters
    ----------
    shown: the section as reports show it.
    """
    hierarchy, levels = None, LevelRange()
    if settings.hierarchy is not None and source is not None:
        files, unknown = tuple(source.files(folder)), settings.hierarchy.unknown.value
        own = {"source": settings.hierarchy.source, "unknown": unknown} if files else shown["hierarchy"]
        hierarchy = PlannedHierarchy(source, Unknown(unknown), own, files)
    if settings.levels is not None:
        levels = LevelRange(settings.levels.min or 0, settings.levels.max)
    distance = None if settings.distance is None else settings.distance.value
    weight = float(settings.weight)
    return PlannedColumn(settings.role, settings.type, hierarchy, weight, levels, distance)


def writes_beside_the_input(config: Config) -> bool:
    """Tell whether input and release are in one database."""
    source, output = config.input, config.output
    if output.database is not None:
        return _same_file(config, config.folder / output.database)
    return output.url is not None and source.url == output.url


def _same_file(config: Config, path: Path) -> bool:
    if config.input.database is None:
        return False
    return same_file(config.folder / config.input.database, path)


def bind(
    model: PrivacyModel,
    attribute: str | None = None,
    combined: bool = False,
    missing_is_value: bool = False,
) -> Constraint:
    """Return a model as a constraint on a sensitive attribute."""
    if isinstance(model, ClassModel):
        return ClassConstraint(attribute, combined, missing_is_value, model=model)
    if isinstance(model, AttackModel):
        return ReleaseConstraint(attribute, combined, missing_is_value, model=model)
    assert isinstance(model, TableModel)
    return TableConstraint(attribute, combined, missing_is_value, model=model)


def probes(attribute: SensitiveAttribute | None, models: Sequence[type[PrivacyModel]]) -> list[Constraint]:
    """Return constraints with neutral thresholds that measure all there is to measure.

    Parameters
    ----------
    attribute: a sensitive attribute; None for the models that need none.
    """
    found: list[Constraint] = []
    for model in models:
        if model.sensitive and attribute is None:
            continue
        fitting = (
            each for each in model.probes(attribute) if each.needs_sensitive == (attribute is not None)
        )
        found.extend(bind(probe, None if attribute is None else attribute.name) for probe in fitting)
    return found


def check_number_formats(plan: Plan, relation: Relation) -> None:
    """Refuse a release that would write numbers in two formats, because a reader would confuse them.

    Stored numbers are written into a text file with a decimal point; read again with decimal commas, 1.125
    would be a thousand times as much.

    Raises
    ------
    InputError: naming the column.
    """
    if plan.numerals != COMMA or isinstance(relation, FrameRelation):
        return
    path = plan.output
    if path is None or not CSV_FILES.named(path):
        return
    for name in relation.columns:
        if plan.columns[name].role is Role.IDENTIFIER or relation.is_text(name):
            continue
        if any(text is not None and "." in text for text, _ in relation.dictionary(name)):
            raise InputError(
                f"{relation.name}: column '{name}' stores numbers, which {path} would have with "
                "decimal points, while input.decimal is ','; set output.path to a .parquet, or remove "
                "input.decimal"
            )


def check_weight_columns(relation: Relation, names: Sequence[str]) -> None:
    """Refuse weights that a file has not.

    Raises
    ------
    InputError: naming the column.
    """
    for name in names:
        if name not in relation.columns:
            what = f"{relation.name}: has no column of weights '{name}'"
            raise InputError(f"{what}; {suggestion(name, relation.columns)}")


def weights_of(source: str, name: str, texts: Sequence[str | None], numerals: Numerals = POINT) -> FloatArray:
    """Return the weights that texts stand for, shape (texts,).

    Raises
    ------
    DataError: one is not a positive number.
    """
    found = (None if text is None else numerals.number(text) for text in texts)
    weights = np.array([np.nan if each is None else each for each in found], dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if len(wrong):
        text = texts[int(wrong[0])]
        raise DataError(f"{source}: column '{name}' holds {text!r}; a weight must be a positive number")
    return weights
