"""``suppression:``, ``algorithm:``, ``objective:``, ``budget:`` and ``engine:``."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from math import floor
from typing import Annotated, Any, ClassVar, Self

from pydantic import AfterValidator, Field, WithJsonSchema, field_validator, model_validator

from anonymizer.config.plugin_sections import (
    PLUG_IN_SETTINGS,
    PluginSection,
    loss_metrics,
    search_algorithms,
)
from anonymizer.config.section import Section, problem, refusal, shown
from anonymizer.data.engine import REMOTE, engine_names
from anonymizer.errors import suggestion
from anonymizer.loss.base import AGGREGATES, AggregateName
from anonymizer.plugins import Exact, WholeNumber, path_fault


class Method(StrEnum):
    """What is suppressed of a class that fails a constraint."""

    CLASSES = "classes"
    RECORDS = "records"
    CELLS = "cells"


class SuppressionSettings(Section):
    """How much may be suppressed, and how."""

    limit: Annotated[Exact, Field(ge=0, le=1)] = Field(
        default=Decimal(0), description="largest share of the records that may be suppressed"
    )
    method: Method = Field(
        default=Method.CLASSES,
        description="classes: every class that fails a constraint is suppressed whole; records: the fewest "
        "records, so that the rest satisfies all; cells: single cells, and records only within the limit",
    )
    keep_rows: bool = Field(
        default=False, strict=True, description="suppressed records stay, with * in every quasi-identifier"
    )

    def most(self, records: int) -> int:
        """Return how many of so many records may be suppressed: the share is exact, and rounded down."""
        return floor(self.limit * records)


class AlgorithmSettings(PluginSection):
    """The search algorithm with its options."""

    selector: ClassVar[str] = "name"
    name: str = Field(default="lattice", description="name of the search algorithm")
    settings: Any = PLUG_IN_SETTINGS
    registry = staticmethod(search_algorithms)


class ObjectiveSettings(PluginSection):
    """The loss metric that the search makes as small as it can."""

    selector: ClassVar[str] = "metric"
    metric: str = Field(default="loss", description="name of the loss metric")
    aggregate: AggregateName = Field(
        default=AggregateName.ARITHMETIC_MEAN, description="over the attributes, by their weights"
    )
    settings: Any = PLUG_IN_SETTINGS
    registry = staticmethod(loss_metrics)

    @model_validator(mode="after")
    def _aggregates(self) -> Self:
        if "aggregate" in self.model_fields_set and not self.plug_in.aggregates:
            takers = [name for name, metric in self.registry().items() if metric.aggregates]
            what = f"metric {self.metric} has no aggregate; remove the key, or use one of {', '.join(takers)}"
            raise refusal([problem(what, ("aggregate",))])
        return self

    def build(self) -> Any:
        """Return the metric, made with its parameters and its aggregate."""
        return self.plug_in(self.settings, AGGREGATES[self.aggregate])

    @classmethod
    def arranged(cls, own: dict[str, Any]) -> dict[str, Any]:
        """Return the section, the aggregate only where the metric takes one."""
        every = super().arranged(own)
        takes = cls.registry()[own["metric"]].aggregates
        return every if takes else {key: every[key] for key in every if key != "aggregate"}


class BudgetSettings(Section):
    """When a search stops without a proof; each limit is optional."""

    seconds: float | None = Field(default=None, gt=0, description="of searching")
    nodes: Annotated[WholeNumber, Field(ge=1)] | None = Field(
        default=None, description="candidates evaluated"
    )
    steps: Annotated[WholeNumber, Field(ge=1)] | None = Field(
        default=None, description="as the report of an earlier run counts them; repeats that run"
    )


MOST_THREADS = 1024
"""Beyond that, threads of a database no longer start in some systems, which ends the process."""


class EngineName(StrEnum):
    """The engines that need no plug-in, and the choice among them."""

    AUTO = "auto"
    MEMORY = "memory"
    DUCKDB = "duckdb"


def _engine(name: str) -> str:
    if name in set(EngineName):
        # Plug-ins are looked for only where one is named: that reads what every installed distribution says.
        return name
    plugged = engine_names()
    if name not in plugged:
        raise ValueError(f"'{name}'; {suggestion(name, [*EngineName, *plugged])}")
    return name


_ENGINE_SCHEMA = {"type": "string", "enum": [*map(str, EngineName), REMOTE]}
"""For editors; a plug-in of another distribution is accepted all the same."""


class EngineSettings(Section):
    """Where records live while they are read, counted and written."""

    name: Annotated[str, AfterValidator(_engine), WithJsonSchema(_ENGINE_SCHEMA)] = Field(
        default=EngineName.AUTO.value,
        description="where the distinct combinations are counted: in memory, by DuckDB within the memory "
        "limit, by Apache Spark where the records are, or as an estimate of their number suggests",
    )
    memory_limit: str | None = Field(
        default=None,
        pattern=r"^[0-9]+(\.[0-9]+)? ?[KMGT]i?B$",
        examples=["4GB"],
        description="memory that a run should stay within, for spark the Python and the Java of its driver; "
        "default: what the machine or its container has",
    )
    options: dict[str, bool | WholeNumber | str] = Field(
        default_factory=dict,
        description="threads: most at once, 1 to 1024; temp_directory: where what exceeds the memory goes; "
        "combinations: most distinct ones that a search holds in memory; for spark also "
        "master: such as local[4] or spark://host:7077, and Spark's settings by their names, spark.*",
    )

    @field_validator("options")
    @classmethod
    def _within_bounds(cls, options: dict[str, bool | int | str]) -> dict[str, bool | int | str]:
        threads, folder = options.get("threads"), options.get("temp_directory")
        problems = []
        # What is not a number or a text at all is refused with the other options of the engine.
        if type(threads) is int and not 1 <= threads <= MOST_THREADS:
            what = f"{shown(threads)}; accepted: a whole number from 1 to {MOST_THREADS}"
            problems.append(problem(what, ("threads",), threads))
        fault = path_fault(folder) if isinstance(folder, str) else None
        if fault is not None:
            problems.append(problem(f"{shown(folder)} {fault}", ("temp_directory",), folder))
        if problems:
            raise refusal(problems)
        return options

    @field_validator("memory_limit")
    @classmethod
    def _is_some(cls, limit: str | None) -> str | None:
        if limit is not None and not limit.strip("0. KMGTiB"):
            raise ValueError(f"'{limit}' is no memory at all; accepted: text such as 4GB")
        return limit
