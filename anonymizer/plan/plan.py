"""The plan of a run: columns, hierarchies, constraints, objective, attacks and utility measures of a config.

Lower rooms receive these instead of the config.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymizer.attacks.base import Attack
from anonymizer.config.exposure import ExposureSettings
from anonymizer.config.features import conflicts
from anonymizer.config.files import MissingPerson, Order
from anonymizer.config.model import Config
from anonymizer.config.plugin_sections import ConstraintSettings
from anonymizer.config.search import Attackers
from anonymizer.config.section import KeyPath, dotted
from anonymizer.config.sections import Reference
from anonymizer.data.frames import FrameRelation
from anonymizer.data.relation import Relation
from anonymizer.data.source import CSV_FILES, CsvDialect, KeyColumns
from anonymizer.data.table import ColumnRequest, read_columns
from anonymizer.errors import InputError
from anonymizer.exposure.measure import Thresholds
from anonymizer.hierarchy.placement import (
    LevelRange,
    Placement,
    Unknown,
    build_quasi_identifier,
    build_sensitive_attribute,
    in_numbers,
)
from anonymizer.hierarchy.source import FlatSource, HierarchySource
from anonymizer.loss.base import LossMetric
from anonymizer.model.feature_rows import Conflict, Stage, Words
from anonymizer.model.features import SuppressionMethod
from anonymizer.model.invocation import RunCommand
from anonymizer.model.labels import MISSING, NumberLabels
from anonymizer.model.recoding import Bound
from anonymizer.model.table import (
    COMMA,
    Column,
    Numerals,
    QuasiIdentifier,
    Role,
    SensitiveAttribute,
    Table,
    ValueType,
)
from anonymizer.model.units import PERSON, RECORD
from anonymizer.plan.columns import NO_SOURCES, Bands, PlannedColumn, PlannedHierarchy, planned_columns
from anonymizer.plan.engine import key_columns
from anonymizer.plan.memory import EngineLimits, limits_of
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

if TYPE_CHECKING:
    from anonymizer.utility.base import Measure


APPLIED_REMEDY = "leave these records out, or repeat the earlier run with unknown: top"
"""Remedy for values outside a hierarchy that an earlier run has fixed."""


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
    conflicts: yields what does not go together at a stage of the run.
    acknowledged: warnings and findings that somebody has read.
    preset: name of the rule that the release follows; None without one.
    exposure: thresholds of findings about the release.
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
    conflicts: Callable[[Stage, Words], Iterator[Conflict]]
    acknowledged: tuple[str, ...] = ()
    preset: str | None = None
    exposure: Thresholds = field(default_factory=Thresholds)
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
        return sorted({each.named.weights for each in self.attacks if each.named.weights is not None})

    @property
    def foreign_names(self) -> dict[str, str]:
        """The columns of the config by the names that the settings of attacks give them in other files.

        Raises
        ------
        InputError: one name is given to two columns.
        """
        found: dict[str, str] = {}
        for each in self.attacks:
            for name, foreign in each.named.columns.items():
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
        keys = sorted({each.named.key for each in self.attacks if each.named.key is not None})
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
        published = self.algorithm.publishes(found, self.suppression)
        hides = self.keep_rows or self.suppression is SuppressionMethod.CELLS
        forms = [self.columns[each.name].labels for each in found]
        return tuple(
            each if form is NumberLabels.RANGE else in_numbers(each, form, published, hides=hides)
            for each, form in zip(found, forms, strict=True)
        )

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
    columns = planned_columns(config.attributes, folder, shown["attributes"])
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
        conflicts=partial(conflicts, config),
        seed_is_default=config.seed == Config.model_fields["seed"].default,
        preset=config.preset,
        acknowledged=tuple(each.finding for each in config.acknowledge or ()),
        exposure=(config.exposure or ExposureSettings()).thresholds(),
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


def check_suited(
    plan: Plan, constraints: Sequence[Constraint], attributes: Sequence[SensitiveAttribute]
) -> None:
    """Check that models can measure the attributes of their constraints.

    Parameters
    ----------
    constraints: of the plan on these attributes.

    Raises
    ------
    InputError: one cannot, naming the constraint and what it lacks.
    """
    known = {each.name: each for each in attributes}
    for path, each in zip(plan.paths([*known]), constraints, strict=True):
        fault = each.model.unsuited(known[each.attribute]) if each.attribute in known else None
        if fault is not None:
            raise InputError(f"{plan.config}: {dotted(path)}: {each.model.name} {fault}")


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
