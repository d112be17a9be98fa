"""The plan of a run: columns, hierarchies, constraints, objective, attacks and utility measures of a config.

Lower rooms receive these instead of the config. The engine of a run stands here too: which one counts the
distinct rows, its limits, and memory left for the search. Spark counts out of core and writes folders of
Parquet files; settings it does not support are refused.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from anonymizer.attacks.base import Attack
from anonymizer.config.attribute import AttributeSettings
from anonymizer.config.files import URL, MissingPerson, Order
from anonymizer.config.model import Config, Reference
from anonymizer.config.plugin_sections import ConstraintSettings
from anonymizer.config.search import ENGINE_OPTIONS, Attackers, EngineName
from anonymizer.config.section import KeyPath
from anonymizer.data.frames import FrameRelation
from anonymizer.data.memory import memory_of_machine
from anonymizer.data.relation import REMOTE, Coding, DistinctRows, Engine, Relation, engine_named
from anonymizer.data.source import (
    CSV_FILES,
    CsvDialect,
    EngineOptions,
    KeyColumns,
    MissingTexts,
    RewrittenNumbers,
)
from anonymizer.data.table import ColumnRequest, read_columns, units_of_stored, wrong_weights
from anonymizer.errors import ConfigError, ConfigProblem, DataError, InputError, suggestion
from anonymizer.hierarchy.date import DateSource
from anonymizer.hierarchy.intervals import IntervalSource
from anonymizer.hierarchy.placement import (
    LevelRange,
    Placement,
    Published,
    Unknown,
    build_quasi_identifier,
    build_sensitive_attribute,
    in_numbers,
)
from anonymizer.hierarchy.source import FlatSource, HierarchySource
from anonymizer.loss.base import LossMetric
from anonymizer.model.arrays import freeze
from anonymizer.model.dates import ISO, DateFormat
from anonymizer.model.invocation import RunCommand
from anonymizer.model.recoding import Bound
from anonymizer.model.spelling import suggested
from anonymizer.model.table import (
    COMMA,
    LEFT_OUT,
    MISSING,
    POINT,
    Column,
    NumberColumns,
    NumberLabels,
    Numerals,
    QuasiIdentifier,
    Role,
    SensitiveAttribute,
    Table,
    ValueType,
)
from anonymizer.model.units import PERSON, RECORD
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
from anonymizer.search.auto import without_levels
from anonymizer.search.base import SearchAlgorithm, SuppressionMethod
from anonymizer.system import check_file

if TYPE_CHECKING:
    from anonymizer.utility.base import Measure

APPLIED_REMEDY = "leave these records out, or repeat the earlier run with unknown: top"
"""Remedy for values outside a hierarchy that an earlier run has fixed."""

NO_SOURCES: Mapping[str, HierarchySource[Any]] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class PlannedHierarchy:
    """The hierarchy of a column in a config.

    Attributes
    ----------
    source: builds it.
    unknown: whether a value outside the hierarchy is an error or goes directly under the root.
    definition: its section of the config, without files.
    files: that it is read from.
    """

    source: HierarchySource[Any]
    unknown: Unknown
    definition: Mapping[str, Any]
    files: tuple[Path, ...]

    def digest(self) -> str:
        """Return the SHA-256 of the definition: the files of the hierarchy, else its parameters.

        A digest of the hierarchy itself could disclose the data that it was built from.

        Raises
        ------
        OSError: a file cannot be read.
        """
        digest = hashlib.sha256(json.dumps(self.definition, sort_keys=True, ensure_ascii=False).encode())
        for path in self.files:
            digest.update(check_file(path).read_bytes())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class PlannedColumn:
    """A column of a config.

    Attributes
    ----------
    type: None to detect it.
    dates: format of dates in texts.
    weight: in the aggregated loss.
    levels: that a search may use.
    distance: for t-closeness; None for the default of its type.
    released: whether the release has the column.
    labels: how intervals of numbers are released.
    inherited: where the type is from, such as "the earlier run", if the config does not declare it.
    """

    role: Role
    type: ValueType | None
    dates: DateFormat
    hierarchy: PlannedHierarchy | None
    weight: float
    levels: LevelRange
    distance: str | None
    released: bool
    labels: NumberLabels
    inherited: str = ""


@dataclass(frozen=True, eq=False)
class Bands:
    """How the values of a column become the groups that are released in their place.

    Attributes
    ----------
    column: before that.
    form: labels of the groups, or their midpoints.
    """

    column: PlannedColumn
    form: NumberLabels

    @property
    def hierarchy(self) -> PlannedHierarchy:
        """The hierarchy whose level 1 has the groups."""
        assert self.column.hierarchy is not None, "the config demands it"
        return self.column.hierarchy

    def released(self) -> PlannedColumn:
        """Return the column as it is released, whose values are the groups."""
        if self.form is NumberLabels.MIDPOINT:
            return replace(self.column, type=ValueType.NUMBER, hierarchy=None)
        kind, distance = self.column.type, self.column.distance
        if (kind is not None and kind.ordered) or isinstance(self.hierarchy.source, _ORDERED_SOURCES):
            distance = distance or "ordered"
        return replace(self.column, type=ValueType.TEXT, dates=ISO, hierarchy=None, distance=distance)


_ORDERED_SOURCES = (IntervalSource, DateSource)
"""Hierarchies of numbers and dates only."""


@dataclass(frozen=True)
class PlannedPeople:
    """A table of other people: the population that the input is a sample of, or those who were held out.

    Attributes
    ----------
    key: of the config that names it.
    weight: column with the people of a row; None for one each.
    columns: names of the config, whose spelling its columns take.
    units: columns that say whose records these are; None without any.
    """

    key: str
    path: Path
    dialect: CsvDialect
    strict_header: bool
    weight: str | None
    columns: frozenset[str]
    units: KeyColumns | None


@dataclass(frozen=True, eq=False)
class Plan:
    """The part of a config that lower rooms need.

    Attributes
    ----------
    config: name of the config in messages.
    command: that started the run; None without one.
    engine: the engine that counts, and its limits.
    shown: the config in reports.
    input: name of the input in messages.
    output: path of the release in the config; None for a table.
    columns: by name, in the order of the config.
    missing: texts that mean a missing value.
    marker: text of all missing values in a release that is text; None if each column keeps its own.
    numerals: number format of texts.
    entries: the constraints by the path of their entry in the config, in their order, then those of the
        scenarios; one without attribute is on every sensitive attribute, separately.
    metric: the loss to minimize.
    most: returns how many of a number of records may be suppressed.
    moving_reference: whether p is the distribution in the release instead of the input.
    algorithm: that searches.
    budget: seconds, nodes and steps of a search, each None without a limit.
    bound: how much work goes into the bound on every recoding.
    attacks, utility: run on the release, in the order of the config.
    applied: whether the recoding of an earlier run is applied.
    shuffled: whether the released records are shuffled instead of sorted.
    in_input_database: whether input and release are in one database.
    in_duckdb: whether the release is a table of DuckDB, which has every type.
    acknowledged: warnings that are not repeated.
    attacks_every_step: whether the attackers of constraints are asked about every valid candidate.
    units: column of each unit that constraints may count, by name.
    whole_units: whether every record must have a value in these.
    bands: of columns that are released in groups without being generalized; ``columns`` has them as they are
        released.
    whole: the unit that is suppressed as a whole or not at all; None where classes are suppressed alone.
    limit_unit: the unit that the suppression limit counts; None for records.
    population: that the input is a sample of; None to estimate it by weights.
    control: people who were held out of the input; None without.
    pseudonym: the column that is released with pseudonyms of persons; None without one.
    loss_weights: column of the sampling weights by which losses are averaged; None to average over records.
    loss_unit: unit over which losses are averaged; None to average over records.
    """

    config: str
    command: RunCommand | None
    engine: EngineLimits
    shown: dict[str, Any]
    folder: Path
    input: str
    output: str | None
    columns: Mapping[str, PlannedColumn]
    missing: tuple[str, ...]
    marker: str | None
    numerals: Numerals
    entries: Mapping[KeyPath, Constraint]
    metric: LossMetric
    most: Callable[[int], int]
    suppression: SuppressionMethod
    keep_rows: bool
    moving_reference: bool
    algorithm: SearchAlgorithm
    budget: tuple[float | None, int | None, int | None]
    bound: Bound
    attacks: tuple[Attack, ...]
    utility: tuple[Measure, ...]
    applied: bool
    shuffled: bool
    in_input_database: bool
    in_duckdb: bool
    seed: int
    seed_is_default: bool
    acknowledged: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    whole_units: bool = False
    bands: Mapping[str, Bands] = field(default_factory=dict)
    whole: str | None = None
    limit_unit: str | None = None
    attacks_every_step: bool = False
    population: PlannedPeople | None = None
    control: PlannedPeople | None = None
    pseudonym: str | None = None
    loss_weights: str | None = None
    loss_unit: str | None = None

    def with_role(self, role: Role) -> tuple[str, ...]:
        """Return the names of the columns with a role, in the order of the config."""
        return tuple(name for name, each in self.columns.items() if each.role is role)

    def among(self, names: Iterable[str], role: Role) -> list[str]:
        """Return the names whose columns have a role, in the given order."""
        own = frozenset(self.with_role(role))
        return [name for name in names if name in own]

    def released(self, names: Iterable[str]) -> list[str]:
        """Return the names of released columns in the given order, with those outside the config."""
        dropped = {name for name, each in self.columns.items() if not each.released}
        return [name for name in names if name not in dropped]

    @property
    def absent(self) -> frozenset[str | None]:
        """Every text of a dictionary that means a missing value; None is a null."""
        return frozenset({None, *self.missing})

    @property
    def most_parts(self) -> float:
        """Most parts into which rows are divided by units; 0 if they are not.

        Where single records or cells are suppressed, it is known whose they are.
        """
        single = self.suppression is not SuppressionMethod.CLASSES
        return inf if single else self.algorithm.most_parts

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

    @property
    def counts_persons(self) -> bool:
        """Whether a constraint counts persons, not records."""
        return any(each.unit == PERSON for each in self.planned)

    @property
    def counted_units(self) -> list[str]:
        """The units other than records that constraints or the suppression limit count."""
        counted = (*(each.unit for each in self.planned), self.limit_unit)
        return [*dict.fromkeys(unit for unit in counted if unit is not None)]

    @property
    def recorded_units(self) -> set[str]:
        """The units whose records in each class a constraint counts."""
        return {each.unit for each in self.planned if each.unit is not None and each.model.needs_unit_records}

    @property
    def counts_population(self) -> bool:
        """Whether a constraint counts the population."""
        return any(each.model.needs_population for each in self.planned)

    @property
    def needs_households(self) -> bool:
        """Whether a constraint needs to know households."""
        return any(each.model.needs_households for each in self.planned)

    @property
    def sampling_weight(self) -> str | None:
        """The column of sampling weights; None without exactly one."""
        weights = self.with_role(Role.WEIGHT)
        return weights[0] if len(weights) == 1 else None

    @property
    def weights(self) -> list[str]:
        """The columns of sampling weights in the settings of attacks, sorted."""
        named = (getattr(each.settings, "weights", None) for each in self.attacks)
        return sorted({name for name in named if name is not None})

    @property
    def foreign_names(self) -> dict[str, str]:
        """The columns of the config by the names that the settings of attacks give them in other files.

        Raises
        ------
        InputError: one name is given to two columns.
        """
        found: dict[str, str] = {}
        for each in self.attacks:
            for name, foreign in (getattr(each.settings, "columns", None) or {}).items():
                if found.setdefault(foreign, name) != name:
                    both = f"'{found[foreign]}' and '{name}'"
                    raise InputError(
                        f"{self.config}: attacks: columns: '{foreign}' is the name of {both}; accepted: "
                        "another name for each"
                    )
        return found

    @property
    def key(self) -> str | None:
        """The column of keys in the settings of attacks; None without one.

        Raises
        ------
        InputError: there are several.
        """
        named = (getattr(each.settings, "key", None) for each in self.attacks)
        keys = sorted({key for key in named if key is not None})
        if len(keys) > 1:
            every = ", ".join(f"'{each}'" for each in keys)
            raise InputError(f"{self.config}: attacks: key: {every}; accepted: the same for all attacks")
        return next(iter(keys), None)

    @property
    def hierarchy_files(self) -> list[Path]:
        """The files that the hierarchies are read from."""
        given = [self.hierarchy(name) for name in self.columns]
        return [path for each in given if each is not None for path in each.files]

    @property
    def grown(self) -> frozenset[str]:
        """The sensitive attributes whose hierarchy is built from the data."""
        return frozenset(
            name
            for name in self.with_role(Role.SENSITIVE)
            if (given := self.columns[name].hierarchy) is not None and given.source.rule_built
        )

    def digest(self, name: str) -> str | None:
        """Return the digest of a column's hierarchy; None without one."""
        hierarchy = self.hierarchy(name)
        return None if hierarchy is None else hierarchy.digest()

    def hierarchy(self, name: str) -> PlannedHierarchy | None:
        """Return the hierarchy that the config has for a column."""
        return self.bands[name].hierarchy if name in self.bands else self.columns[name].hierarchy

    def described(self, table: Table) -> dict[str, Any]:
        """Return role, type and hierarchy digest by column, in the order of the config."""
        types = {each.name: each.column.type.value for each in table.quasi_identifiers}
        types |= {each.name: each.column.type.value for each in table.sensitive}
        return {
            name: {"role": each.role.value, "type": types.get(name), "hierarchy_sha256": self.digest(name)}
            for name, each in self.columns.items()
        }

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

    def requests(self, names: Iterable[str]) -> list[ColumnRequest]:
        """Return the request to read each column, in the order of the names."""
        return [self.request(name, self.columns[name].type) for name in names]

    def request(self, name: str, kind: ValueType | None, inherited: str = "") -> ColumnRequest:
        """Return the request to read a column as a type, None to detect it.

        Parameters
        ----------
        inherited: where the type is from if the config does not declare it.
        """
        column = self.columns[name]
        inherited = column.inherited or (inherited if column.type is None else "")
        generalized = column.role is Role.QUASI_IDENTIFIER
        grouped = name in self.bands
        return ColumnRequest(name, kind, self.numerals, column.dates, generalized, grouped, inherited)

    def absent_among(self, name: str, texts: Iterable[str | None]) -> set[str | None]:
        """Return the texts of a column of the config that mean a missing value, and a null."""
        known = [text for text in texts if text is not None]
        request = self.request(name, self.columns[name].type)
        return {None, *request.absent_among(known, (*self.missing, MISSING))}

    def quasi_identifiers(
        self, columns: Mapping[str, Column], sources: Mapping[str, HierarchySource[Any]] = NO_SOURCES
    ) -> tuple[QuasiIdentifier, ...]:
        """Return the quasi-identifiers among some columns with their hierarchies.

        Parameters
        ----------
        sources: of hierarchies by name, in place of the config's.
        """
        found = [
            self._quasi_identifier(column, self.columns[name], sources.get(name))
            for name, column in columns.items()
            if self.columns[name].role is Role.QUASI_IDENTIFIER
        ]
        published = self._published(found)
        hides = self.keep_rows or self.suppression is SuppressionMethod.CELLS
        forms = [self.columns[each.name].labels for each in found]
        return tuple(
            each if form is NumberLabels.RANGE else in_numbers(each, form, published, hides=hides)
            for each, form in zip(found, forms, strict=True)
        )

    def _published(self, attributes: Sequence[QuasiIdentifier]) -> frozenset[Published]:
        """Return what the algorithm may publish of each quasi-identifier."""
        name = self.algorithm.name
        if name == "lattice" or (name == "auto" and self.suppression is not SuppressionMethod.CLASSES):
            return frozenset({Published.LEVEL})
        if name == "auto" and without_levels(attributes):
            return frozenset({Published.NODES, Published.INTERVALS})
        labels = getattr(self.algorithm.settings, "labels", None)
        if name == "mondrian" and labels is None and any(each.by_range for each in attributes):
            return frozenset({Published.NODES, Published.INTERVALS})
        return frozenset({Published.INTERVALS if labels == "interval" else Published.NODES})

    def _quasi_identifier(
        self, column: Column, planned: PlannedColumn, source: HierarchySource[Any] | None
    ) -> QuasiIdentifier:
        placement = self._placement(planned.hierarchy)
        own = FlatSource() if planned.hierarchy is None else source or planned.hierarchy.source
        built = build_quasi_identifier(column, own, placement, planned.weight, planned.levels)
        return built if planned.hierarchy else replace(built, by_range=column.numbers is not None)

    def sensitive_attributes(self, columns: Mapping[str, Column]) -> tuple[SensitiveAttribute, ...]:
        """Return the sensitive attributes among some columns with their hierarchies."""
        return tuple(
            self._sensitive_attribute(column, self.columns[name])
            for name, column in columns.items()
            if self.columns[name].role is Role.SENSITIVE
        )

    def read_sensitive(self, relation: Relation, names: Sequence[str]) -> tuple[SensitiveAttribute, ...]:
        """Read sensitive attributes from a file."""
        read = read_columns(relation, self.requests(names), self.missing)
        return self.sensitive_attributes({name: each.column for name, each in read.items()})

    def _sensitive_attribute(self, column: Column, planned: PlannedColumn) -> SensitiveAttribute:
        if planned.hierarchy is None:
            return SensitiveAttribute(column, distance=planned.distance)
        placement = self._placement(planned.hierarchy)
        return build_sensitive_attribute(column, planned.hierarchy.source, placement, planned.distance)

    def _placement(self, hierarchy: PlannedHierarchy | None) -> Placement:
        unknown = Unknown.ERROR if hierarchy is None else hierarchy.unknown
        placement = Placement(self.folder, unknown, self.missing)
        return replace(placement, remedy=APPLIED_REMEDY) if self.applied else placement

    def typed(self, types: Mapping[str, ValueType | None], inherited: str) -> Plan:
        """Return the plan with known column types instead of detected ones.

        Parameters
        ----------
        inherited: where they are from, such as "the earlier run".
        """
        columns = {
            name: replace(
                each, type=types.get(name) or each.type, inherited=inherited if each.type is None else ""
            )
            for name, each in self.columns.items()
        }
        return replace(self, columns=columns)

    def without_hierarchies(self, names: Iterable[str]) -> Plan:
        """Return the plan with the hierarchies of some columns removed."""
        bare = set(names)
        columns = {
            name: replace(each, hierarchy=None, levels=LevelRange()) if name in bare else each
            for name, each in self.columns.items()
        }
        return replace(self, columns=columns)


def plan_of(config: Config) -> Plan:
    """Return the plan of a config."""
    people, engine = config.input.population, limits_of(config)
    population = None if people is None else _people(config, "population", people.path, people.weight)
    given, output, budget = config.input, config.output, config.budget
    name, folder, in_input_database = config.source, config.folder, config.in_input_database
    numerals, shown = config.numerals, config.to_dict()
    columns = _planned_columns(config.attributes, folder, shown["attributes"])
    bands = {
        name: Bands(columns[name], form)
        for name, each in config.attributes.items()
        if (form := each.bands) is not None
    }
    planned = _planned(config.constraints, given.default_unit, "constraints")
    for scenario, each in (config.scenarios or {}).items():
        own = _planned(each.models, each.unit or given.default_unit, "scenarios", scenario, "models")
        known = each.known.sets
        planned |= {at: replace(one, scenario=scenario, knowledge=known) for at, one in own.items()}
    return Plan(
        config=name,
        command=config.command,
        engine=engine,
        shown=shown,
        folder=folder,
        input=str(given.path or "the input"),
        output=output.path,
        columns={name: bands[name].released() if name in bands else each for name, each in columns.items()},
        missing=given.missing,
        marker=output.missing if CSV_FILES.named(str(output.path)) else None,
        numerals=numerals,
        entries=planned,
        metric=config.objective.build(),
        most=config.suppression.most,
        suppression=SuppressionMethod(config.suppression.method.value),
        keep_rows=config.suppression.keep_rows,
        moving_reference=config.reference is Reference.RELEASE,
        algorithm=config.algorithm.build(),
        budget=(budget.seconds, budget.nodes, budget.steps),
        bound=config.bound,
        attacks=tuple(each.build() for each in config.attacks),
        utility=tuple(each.build() for each in config.utility),
        applied=config.apply is not None,
        shuffled=output.order is Order.SHUFFLED,
        in_input_database=in_input_database,
        in_duckdb=output.database is not None,
        seed=config.seed,
        seed_is_default=config.seed == Config.model_fields["seed"].default,
        acknowledged=tuple(each.value for each in config.acknowledge or ()),
        units=given.unit_columns,
        whole_units=given.missing_person is MissingPerson.REFUSE,
        bands=bands,
        whole=config.suppression.whole if given.pseudonym is None else PERSON,
        limit_unit=config.suppression.unit,
        pseudonym=given.pseudonym,
        attacks_every_step=config.attackers is Attackers.EVERY_STEP,
        population=population,
        control=_people(config, "control", config.input.control),
        loss_weights=config.objective.weights,
        loss_unit=config.objective.unit,
    )


def _people(config: Config, key: str, path: str | None, weight: str | None = None) -> PlannedPeople | None:
    if path is None:
        return None
    given = config.input
    columns = frozenset({*config.attributes, *([] if weight is None else [weight])})
    return PlannedPeople(
        f"input.{key}",
        config.folder / path,
        given.dialect,
        given.strict_header,
        weight,
        columns,
        key_columns(config),
    )


def _largest_k(planned: Iterable[Constraint]) -> int | None:
    """Return the largest k of constraints on classes; that of k-map counts people of the population."""
    sizes = [getattr(each.model.settings, "k", None) for each in planned if not each.model.needs_population]
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


def _planned_columns(
    attributes: Mapping[str, AttributeSettings], folder: Path, shown: Mapping[str, Any]
) -> dict[str, PlannedColumn]:
    """Return the columns with their hierarchies.

    Parameters
    ----------
    folder: that relative paths start from.
    shown: the columns in reports.
    """
    columns = {}
    for name, each in attributes.items():
        hierarchy, given = None, each.levels
        if each.hierarchy is not None:
            source, unknown = each.hierarchy.build(), each.hierarchy.unknown
            files = tuple(source.files(folder))
            own = {"source": each.hierarchy.source, "unknown": unknown.value}
            hierarchy = PlannedHierarchy(source, unknown, own if files else shown[name]["hierarchy"], files)
        columns[name] = PlannedColumn(
            role=each.role,
            type=each.type,
            dates=each.dates,
            hierarchy=hierarchy,
            weight=float(each.weight),
            levels=LevelRange() if given is None else LevelRange(given.min or 0, given.max),
            distance=None if each.distance is None else each.distance.value,
            released=each.released,
            labels=each.number_labels,
        )
    return columns


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
            each for each in model.probes(attribute) if each.needs_sensitive == (attribute is not None)
        )
        found.extend(bind(probe, None if attribute is None else attribute.name) for probe in fitting)
    return found


def check_types(plan: Plan, relation: Relation) -> None:
    """Check that the release has all values of the unchanged columns.

    Raises
    ------
    InputError: naming a column with values that it has not.
    """
    if not CSV_FILES.named(plan.output or "") and not plan.in_duckdb:
        quasi_identifiers = frozenset(plan.with_role(Role.QUASI_IDENTIFIER))
        unchanged = [name for name in plan.released(relation.columns) if name not in quasi_identifiers]
        relation.check_storable(unchanged)


def check_number_formats(plan: Plan, relation: Relation) -> None:
    """Check that a release writes its numbers in one format.

    Stored numbers are written into a text file with a decimal point. Read with decimal commas, 1.125 would
    become 1,125.

    Raises
    ------
    InputError: naming the column with stored numbers.
    """
    if plan.numerals != COMMA or isinstance(relation, FrameRelation):
        return
    path = plan.output
    if path is None or not CSV_FILES.named(path):
        return
    for name in relation.columns:
        if not plan.columns[name].released or relation.is_text(name):
            continue
        if any(text is not None and "." in text for text, _ in relation.dictionary(name)):
            raise InputError(
                f"{relation.name}: column '{name}' stores numbers, which would be written to {path} with "
                "decimal points, but input.decimal is ','; set output.decimal to ',', or output.path to a "
                ".parquet file, or remove input.decimal"
            )


def check_weight_columns(relation: Relation, names: Sequence[str]) -> None:
    """Check that a file has the columns of sampling weights.

    Raises
    ------
    InputError: it lacks one.
    """
    for name in names:
        if name not in relation.columns:
            what = f"{relation.name}: weights column '{name}' does not exist"
            raise InputError(f"{what}; {suggested(name, relation.columns)}")


def check_weights(plan: Plan, relation: Relation, name: str) -> Numerals:
    """Check that a column of sampling weights has a positive number in every record; return their notation.

    Raises
    ------
    DataError: there is no such column, or a weight is not a positive number.
    """
    numerals = plan.numerals if relation.is_text(name) else POINT
    fault = wrong_weights(relation, name, plan.missing, numerals)
    if fault:
        raise DataError(f"{relation.name}: column '{name}' {fault}")
    return numerals


def plugged_engine(config: Config) -> Engine | None:
    """Return the plug-in engine of a config; None for memory, DuckDB and auto."""
    return None if config.engine.name in set(EngineName) else engine_named(config.engine.name)


def _problems_without_plug_in(config: Config) -> Iterator[ConfigProblem]:
    """Yield the paths of a config that only a plug-in engine can read or write."""
    for key, path in (("input.path", config.input.path), ("output.path", config.output.path)):
        if path is not None and URL.match(path):
            yield ConfigProblem(key, f"{path}: is on another file system; set engine.name: {REMOTE}")


PROGRAM_BYTES = 200_000_000
"""Memory of the interpreter and the libraries before anything is read."""

DATABASE_SHARE = 0.5
"""Of the free memory, for the database, which exceeds its limit somewhat; the search needs the rest."""

SEARCH_SHARE = 0.4
"""Of the free memory, for the distinct rows and the arrays of a search."""

SEARCHED_BYTES = 60
"""Memory of a search for each distinct row besides its codes: keys, numbers of classes, counts."""

CODE_BYTES = 4
"""Memory of a code in the frequency table."""

UNITS = {"K": 1, "M": 2, "G": 3, "T": 4}
"""The power of 1000 of each unit of memory, or of 1024 for binary units."""


def engine_options(config: Config) -> EngineOptions:
    """Return the limits that the config sets for the engine.

    Raises
    ------
    ConfigError: options are unknown to the engine, or not for it.
    """
    options = config.engine.options
    plugged = plugged_engine(config)
    own = {name: options[name] for name in options if plugged is not None and plugged.has_option(name)}
    problems = [
        ConfigProblem(f"engine.options.{name}", f"unknown option; {suggestion(name, ENGINE_OPTIONS)}")
        for name in options
        if name not in ENGINE_OPTIONS and name not in own
    ]
    problems = problems or _misplaced(config)
    problems += _problems_without_plug_in(config) if plugged is None else plugged.problems(config)
    if problems:
        raise ConfigError(config.source, problems)
    threads, combinations = options.get("threads"), options.get("combinations")
    limit, marker = config.engine.memory_limit, config.output.missing
    return EngineOptions(
        None if limit is None else f"{int(_free(config) * DATABASE_SHARE)}B",
        None if threads is None else int(threads),
        _temp_directory(config),
        None if combinations is None else int(combinations),
        None if plugged is None else plugged.name,
        tuple(
            sorted(
                (name, str(value).lower() if isinstance(value, bool) else str(value))
                for name, value in own.items()
            )
        ),
        frozenset(config.attributes),
        config.input.strict_header,
        None if marker is None else _codes_as_nulls(config, marker),
        rewritten_numbers(config),
        frozenset(config.attributes),
        key_columns(config),
    )


def _codes_as_nulls(config: Config, marker: str) -> MissingTexts:
    """Return how the input of a config is read whose release has one marker of missing values."""
    as_text = [name for name, each in config.attributes.items() if each.type is ValueType.TEXT]
    codes, numerals = (*config.input.missing, MISSING), config.input.numerals
    return MissingTexts(marker, codes=codes, as_text=frozenset(as_text), numerals=numerals)


def key_columns(config: Config) -> KeyColumns | None:
    """Return the columns that say whose records the input has; None without any."""
    given = config.input
    names = tuple(dict.fromkeys(given.unit_columns.values()))
    return KeyColumns(names, given.missing, given.numerals) if names else None


def rewritten_numbers(config: Config) -> RewrittenNumbers | None:
    """Return which numbers of the input get the decimal sign of the release; None if they keep theirs."""
    if config.output.decimal is None:
        return None
    known = {name: each.type for name, each in config.attributes.items() if each.role not in LEFT_OUT}
    columns = frozenset(name for name, kind in known.items() if kind is not None and kind.numeric)
    weights = frozenset(config.with_role(Role.WEIGHT))
    judged = frozenset(name for name, kind in known.items() if kind is None) - weights
    given, released, absent = config.input.numerals, config.numerals, config.input.missing
    text = CSV_FILES.named(str(config.output.path))
    stored = frozenset(known if text else config.with_role(Role.QUASI_IDENTIFIER))
    stored = stored if released == COMMA else frozenset()
    return RewrittenNumbers(given, released, columns | weights, judged, absent, stored)


def reading_release(options: EngineOptions, config: Config, path: Path | None = None) -> EngineOptions:
    """Return the options for reading a release of a config.

    Parameters
    ----------
    path: of the release; None for what the config writes.
    """
    given = config.output.missing
    options = replace(options, numbers=None, spelling=released_names(config), keys=None)
    if given is None:
        return options
    texts = (given,) if CSV_FILES.named(str(path or config.output.path)) else ()
    # An empty field in place of a label is read by the label that the report gives it.
    recoded = frozenset(
        name
        for name in config.with_role(Role.QUASI_IDENTIFIER)
        if config.attributes[name].number_labels is NumberLabels.RANGE
    )
    return replace(options, missing=MissingTexts(given, texts, recoded))


def released_names(config: Config) -> frozenset[str]:
    """Return the names of columns in a release, and those of the columns that it leaves out."""
    low_high = NumberLabels.LOW_HIGH
    paired = [name for name, own in config.attributes.items() if own.number_labels is low_high]
    pairs = (each for name in paired for each in NumberColumns(name, low_high).columns)
    return frozenset({*config.attributes, *pairs})


def _temp_directory(config: Config) -> Path | None:
    """Return the folder for data that does not fit in memory; None for the system's."""
    folder = config.engine.options.get("temp_directory")
    return None if folder is None else config.folder / str(folder)


def _misplaced(config: Config) -> list[ConfigProblem]:
    """Return the problems of ``engine.options.combinations``."""
    if "combinations" not in config.engine.options or config.engine.name != EngineName.MEMORY:
        return []
    what = "not an option of engine.name: memory, which has no limit; remove it, or set engine.name: duckdb"
    return [ConfigProblem("engine.options.combinations", what)]


def bytes_of(limit: str) -> int:
    """Return a limit of memory in bytes.

    >>> bytes_of("500MB"), bytes_of("1.5 GiB")
    (500000000, 1610612736)
    """
    number, unit = re.fullmatch(r"([0-9.]+) ?([KMGT]i?)B", limit).groups()  # type: ignore[union-attr]
    return int(float(number) * (1024 if unit.endswith("i") else 1000) ** UNITS[unit[0]])


def memory_of(config: Config) -> int:
    """Return the bytes that a run may use: the limit, and at most the memory of the machine."""
    limit, machine = config.engine.memory_limit, memory_of_machine()
    return machine if limit is None else min(bytes_of(limit), machine)


def free_of(memory: int, program: int = PROGRAM_BYTES) -> int:
    """Return the bytes of a limit minus those of the program, at least half of the limit.

    A limit below twice the memory of the program cannot be met; data is then kept as small as possible.

    >>> free_of(500_000_000), free_of(100_000_000)
    (300000000, 50000000)
    """
    return max(memory - program, memory // 2)


def _free(config: Config) -> int:
    """Return the bytes that this program and a plug-in engine leave free."""
    plugged = plugged_engine(config)
    return free_of(memory_of(config), PROGRAM_BYTES + (0 if plugged is None else plugged.program_bytes))


def combination_bytes(columns: int) -> int:
    """Return the bytes that a search needs for each distinct row of some columns."""
    return SEARCHED_BYTES + CODE_BYTES * columns


@dataclass(frozen=True)
class EngineLimits:
    """Memory of a search, and the folder for data that does not fit.

    Attributes
    ----------
    name: of the engine, as in the config.
    space: bytes.
    combinations: maximum number of distinct rows; None to derive it from ``space``.
    temp_directory: None for the system's.
    """

    name: str
    space: int
    combinations: int | None
    temp_directory: Path | None

    def room(self, columns: int) -> int:
        """Return the maximum number of distinct rows of some columns in memory, at least 1."""
        if self.combinations is not None:
            return self.combinations
        return max(1, self.space // combination_bytes(columns))


def limits_of(config: Config) -> EngineLimits:
    """Return the limits of a config."""
    given = config.engine.options.get("combinations")
    space = int(_free(config) * SEARCH_SHARE)
    most = None if given is None else int(given)
    return EngineLimits(config.engine.name, space, most, _temp_directory(config))


KEY_BYTES = 16
"""Memory for each record while it is counted: its key and the column being added."""


@dataclass(frozen=True, eq=False)
class Counted:
    """The distinct rows of an input, in memory or in the engine.

    Attributes
    ----------
    most: maximum number in memory.
    beyond: whether there are more.
    engine: that counts; as in the config, never auto.
    because: why, in a sentence that may contain numbers of records and distinct rows.
    """

    combinations: DistinctRows
    most: int
    beyond: bool
    engine: str
    because: str


def count_distinct_rows(limits: EngineLimits, relation: Relation, codings: Sequence[Coding]) -> Counted:
    """Count the distinct rows of the codes of columns with the engine of a config."""
    name = limits.name
    if name == EngineName.MEMORY:
        return _in_memory(relation, codings, "engine.name says so")
    if name == EngineName.AUTO:
        return _estimated(limits, relation, codings)
    return _stored(limits, relation, codings, name, "engine.name says so")


def _estimated(limits: EngineLimits, relation: Relation, codings: Sequence[Coding]) -> Counted:
    """Count in memory if the rows certainly fit or are estimated to; DuckDB stores them otherwise."""
    each = combination_bytes(len(codings))
    space, most = limits.space, limits.room(len(codings))
    if relation.rows <= most and relation.rows * (KEY_BYTES + each) <= space:
        return _in_memory(relation, codings, f"all {relation.rows:,} records would fit")
    estimate = relation.estimated_combinations([coding.name for coding in codings])
    what = f"about {estimate:,} distinct rows of {relation.rows:,} records"
    if estimate <= most and relation.rows * KEY_BYTES + estimate * each <= space:
        return _in_memory(relation, codings, f"{what} fit")
    because = f"{what} may exceed memory, which holds at most {most:,}"
    return _stored(limits, relation, codings, EngineName.DUCKDB.value, because)


def _in_memory(relation: Relation, codings: Sequence[Coding], because: str) -> Counted:
    found = relation.combinations(codings)
    return Counted(found, found.number, False, EngineName.MEMORY.value, because)


def _stored(
    limits: EngineLimits, relation: Relation, codings: Sequence[Coding], engine: str, because: str
) -> Counted:
    found, most = relation.stored_distinct_rows(codings), limits.room(len(codings))
    return Counted(found, most, found.number > most, engine, because)


def finest(
    attributes: Sequence[QuasiIdentifier], sensitive: Sequence[SensitiveAttribute], found: Counted
) -> Table:
    """Return the frequency table of distinct rows that fit in memory; the engine drops them."""
    with found.combinations as combinations:
        codes, counts = combinations.fetch()
        units = units_of_stored(combinations, codes)
    for array in (codes, counts):
        freeze(array)
    return Table(tuple(attributes), tuple(sensitive), codes, counts, units=units)
