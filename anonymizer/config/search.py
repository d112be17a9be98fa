"""``suppression:``, ``algorithm:``, ``objective:``, ``budget:`` and ``engine:``."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from math import floor
from typing import Annotated, Any, ClassVar, Self

from pydantic import AfterValidator, Field, WithJsonSchema, field_validator, model_validator

from anonymizer.config.plugin_sections import (
    PLUG_IN_SETTINGS,
    NamedSection,
    loss_metrics,
    search_algorithms,
)
from anonymizer.config.section import Section, problem, refusal, refuse
from anonymizer.data.relation import REMOTE, engine_names
from anonymizer.errors import shown, suggestion
from anonymizer.loss.base import AGGREGATES, AggregateName
from anonymizer.model.feature_rows import Asked, Asking, Cell, Row, Side, Table, Use
from anonymizer.model.features import Feature, WithoutParameters
from anonymizer.model.naming import ColumnName
from anonymizer.model.units import RECORD
from anonymizer.plugins import Exact, WholeNumber, accepts, path_fault


class Defaults:
    """What a config asks for that names no algorithm and no attacks.

    Class attributes
    ----------------
    algorithm: its name.
    attacks: ``default`` or ``none``.
    """

    algorithm = "auto"
    attacks = "default"


def _none_for_records(unit: str) -> str | None:
    return None if unit == RECORD else unit


CountedUnit = Annotated[str, AfterValidator(_none_for_records)]
"""The name of a unit; that of records, the default, becomes None."""


class Method(StrEnum):
    """What is suppressed in a class that violates a constraint."""

    CLASSES = "classes"
    RECORDS = "records"
    CELLS = "cells"


class Attackers(StrEnum):
    """Which candidates the attackers of constraints are asked about."""

    BY_LOSS = "by-loss"
    EVERY_STEP = "every-step"


class SuppressionSettings(Section):
    """How much may be suppressed, and how."""

    limit: Annotated[Exact, Field(ge=0, le=1)] = Field(
        default=Decimal(0),
        description="maximum share of the records, or of what suppression.unit names, that may be suppressed",
    )
    unit: CountedUnit | None = Field(
        default=None,
        description="what the limit counts: record, person, household or a name of input.units; one of these "
        "is lost if any of its records is suppressed; default: record",
    )
    method: Method = Field(
        default=Method.CLASSES,
        description="classes: every class that violates a constraint; records: as few records as possible; "
        "cells: single cells, and records within the limit",
    )
    keep_rows: bool = Field(
        default=False, strict=True, description="keep suppressed records, with * in every quasi-identifier"
    )
    whole: str | None = Field(
        default=None,
        description="person, household or a name of input.units: all records of one are suppressed, or none; "
        "default: classes alone. The limit counts what unit names",
    )

    def most(self, number: int) -> int:
        """Return how many of the records or units may be suppressed, rounded down from the exact share."""
        return floor(self.limit * number)


class AlgorithmSettings(NamedSection):
    """The search algorithm with its options; in short, its name."""

    selector: ClassVar[str] = "name"
    name: str = Field(
        default_factory=lambda: Defaults.algorithm, description="name of the search algorithm; default: auto"
    )
    settings: Any = PLUG_IN_SETTINGS
    registry = staticmethod(search_algorithms)


class ObjectiveSettings(NamedSection):
    """The loss metric that the search minimizes; in short, its name."""

    selector: ClassVar[str] = "metric"
    metric: str = Field(default="loss", description="name of the loss metric")
    aggregate: AggregateName = Field(
        default=AggregateName.ARITHMETIC_MEAN,
        description="how the losses of the attributes are combined, by their weights",
    )
    weights: ColumnName | None = Field(
        default=None,
        description="column with role weight: the loss is the mean over the people whom the records "
        "represent; default: over the records",
    )
    unit: CountedUnit | None = Field(
        default=None,
        description="the loss is the mean over persons, or other units: record (default), person, household, "
        "or a name of input.units; each counts once, by the mean over its records",
    )
    settings: Any = PLUG_IN_SETTINGS
    registry = staticmethod(loss_metrics)

    @model_validator(mode="after")
    def _supported(self) -> Self:
        words = {"metric": self.metric, "unit": self.unit or RECORD}
        refuse(Asking[ObjectiveSettings](OBJECTIVE, self, words).conflicts())
        return self

    def build(self) -> Any:
        """Return the metric with its parameters, its aggregate, and whether its records have weights."""
        metric = self.plug_in(self.settings, AGGREGATES[self.aggregate])
        metric.by_weights = self.weights is not None or self.unit is not None
        return metric

    @classmethod
    def config_form(cls, own: dict[str, Any]) -> dict[str, Any]:
        """Return the fields, with the aggregate only if the metric has one."""
        every = super().config_form(own)
        if Feature.AGGREGATE not in cls.registry()[own["metric"]].supports:
            del every["aggregate"]
        return every


METRIC: Side[ObjectiveSettings] = Side(
    "metrics",
    lambda own: [Asked((), own.build())],
    lambda feature: [name for name, metric in loss_metrics().items() if feature in metric.supports],
)

_NO_MEAN = "metric {metric} is not a mean over records, so it cannot "
_OTHERS = "; remove the key, or set metric to {metrics:listed}"

OBJECTIVE: Table[ObjectiveSettings] = Table(
    (
        (
            Row(
                Feature.AGGREGATE,
                lambda own: [Use(("aggregate",))] if "aggregate" in own.model_fields_set else [],
                Cell(METRIC, "metric {metric} has no aggregate" + _OTHERS, here=True),
            ),
        ),
        (
            Row(
                Feature.LOSS_WEIGHTS,
                lambda own: [] if own.weights is None else [Use(("weights",))],
                Cell(METRIC, _NO_MEAN + "be averaged by weights" + _OTHERS, here=True),
            ),
        ),
        (
            Row(
                Feature.LOSS_UNIT,
                lambda own: [] if own.unit is None else [Use(("unit",))],
                Cell(METRIC, _NO_MEAN + "count each {unit} once" + _OTHERS, here=True),
                Cell(
                    Feature.LOSS_WEIGHTS,
                    "objective.weights averages over the people whom the records represent, but unit: {unit} "
                    "averages over the {unit}s of the input; remove one of the two",
                    here=True,
                ),
                first=True,
            ),
        ),
    ),
    (METRIC,),
)
"""What metrics support of the other keys of an objective."""


class BudgetSettings(Section):
    """Limits at which a search stops without a proof, each optional."""

    seconds: float | None = Field(default=None, gt=0, description="maximum seconds of search")
    cpu_seconds: float | None = Field(
        default=None,
        gt=0,
        description="maximum seconds of search in processor time, whatever else the machine does",
    )
    nodes: Annotated[WholeNumber, Field(ge=1)] | None = Field(
        default=None, description="maximum number of candidates evaluated"
    )
    steps: Annotated[WholeNumber, Field(ge=1)] | None = Field(
        default=None,
        description="number of search steps; the value in an earlier run's report reproduces that run",
    )


MOST_THREADS = 1024
"""Beyond it, some systems cannot start the threads of a database, and the process ends."""

ENGINE_OPTIONS: Mapping[str, tuple[type, range | None, str]] = {
    "threads": (int, range(1, MOST_THREADS + 1), f"a whole number from 1 to {MOST_THREADS}"),
    "temp_directory": (str, None, "a folder, relative to the config file"),
    "combinations": (int, range(1, 1 << 63), "a whole number of distinct rows from 1 to 2^63 - 1"),
}
"""The options of every engine: the type, the accepted numbers, and both in words."""


class EngineName(WithoutParameters, StrEnum):
    """The engines that need no plug-in, and ``auto``, which chooses one."""

    AUTO = "auto"
    MEMORY = "memory"
    DUCKDB = "duckdb"

    @property
    def supports(self) -> frozenset[Feature]:
        """The features that it carries out."""
        unlimited = {Feature.COMBINATIONS} if self is EngineName.MEMORY else set()
        return frozenset(Feature) - unlimited - {Feature.REMOTE}


_ENGINE_SCHEMA = {"type": "string", "enum": [*map(str, EngineName), REMOTE]}
"""For editors; an engine of another distribution is accepted too."""


class EngineSettings(Section):
    """The engine that reads, counts and writes the records."""

    name: Annotated[
        str,
        accepts(
            # Plug-ins are searched only if needed: this reads the metadata of every installed distribution.
            lambda name: name in set(EngineName) or name in engine_names(),
            lambda name: f"'{name}'; {suggestion(name, [*EngineName, *engine_names()])}",
        ),
        WithJsonSchema(_ENGINE_SCHEMA),
    ] = Field(
        default=EngineName.AUTO.value,
        description="where distinct rows are counted: in memory, by DuckDB within the memory limit, or by "
        "Apache Spark where the records are; auto: by an estimate of their number",
    )
    memory_limit: Annotated[
        str | None,
        Field(
            pattern=r"^[0-9]+(\.[0-9]+)? ?[KMGT]i?B$",
            examples=["4GB"],
            description="maximum memory of a run, for spark of its driver (Python and Java); "
            "default: the memory of the machine or container",
        ),
        accepts(
            lambda limit: limit is None or limit.strip("0. KMGTiB"),
            "'{value}' is zero; accepted: an amount such as 4GB",
        ),
    ] = None
    options: dict[str, bool | WholeNumber | str] = Field(
        default_factory=dict,
        description="threads: maximum number, 1 to 1024; temp_directory: folder for data that exceed memory; "
        "combinations: maximum number of distinct rows that a search holds in memory; for spark also "
        "master: such as local[4] or spark://host:7077, and Spark's own settings, spark.*",
    )

    @field_validator("options", mode="before")
    @classmethod
    def _fitting(cls, options: Any) -> Any:
        if not isinstance(options, Mapping):
            return options
        problems = []
        for name, (kind, bounds, accepted) in ENGINE_OPTIONS.items():
            value = options.get(name)
            if name in options and (type(value) is not kind or (bounds and value not in bounds)):
                problems.append(problem(f"{shown(value)}; accepted: {accepted}", (name,), value))
        folder = options.get("temp_directory")
        fault = path_fault(folder) if isinstance(folder, str) else None
        if fault is not None:
            problems.append(problem(f"{shown(folder)} {fault}", ("temp_directory",), folder))
        if problems:
            raise refusal(problems)
        return options
