"""Features: the options of a config that somebody has to carry out, and who says which of them it supports.

Algorithms, methods of suppression, engines and privacy models state what they support as data on their
class. ``config/features.py`` has the table of what goes with what, which reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar, Protocol


class Feature(StrEnum):
    """An option of a config, or a use of one, by its key or as a reader would name it."""

    CLASSES = "suppression.method: classes"
    RECORDS = "suppression.method: records"
    CELLS = "suppression.method: cells"
    EVERY_STEP = "attackers: every-step"
    OUT_OF_CORE = "distinct rows that do not fit in memory"
    COMBINATIONS = "engine.options.combinations"
    REMOTE = "files on another file system"
    DATABASE = "input.database or url"
    TEXT_INPUT = "an input that is text"
    OTHER_INPUT = "an input that is neither text nor Parquet"
    APPLY = "apply"
    INPUT_REFERENCE = "reference: input"
    KEEP_ROWS = "suppression.keep_rows"
    UTILITY = "utility"
    TABLE = "output.table"
    TEXT_OUTPUT = "an output that is text"
    SHUFFLED = "output.order: shuffled"
    UNIT_COLUMNS = "input.person, household and units"
    MISSING_PERSON = "input.missing_person"
    TOGETHER = "suppression.whole and input.person.release_as"
    WHOLE = "suppression.whole"
    WHOLE_OF_OTHERS = "suppression.whole of another unit than person"
    UNIT_LIMIT = "suppression.unit"
    PSEUDONYMS = "input.person.release_as"
    UNITS = "constraints that count persons or other units"
    POPULATION_TABLE = "input.population"
    DECIMAL = "output.decimal"
    ATTACKED_UNITS = "units counted by constraints that an attack measures"
    STORED_UNITS = "units whose distinct rows stay in the engine"
    UNITS_OUT_OF_CORE = "units whose distinct rows do not fit in memory"
    HOUSEHOLDS = "constraints that need households"
    PERSONS_AMONG_PEOPLE = "constraints on a population, with input.person"
    POPULATION = "constraints that count a population or households"
    AGGREGATE = "objective.aggregate"
    LOSS_WEIGHTS = "objective.weights"
    LOSS_UNIT = "objective.unit"
    CONTROL = "input.control"
    COUNTED_HOUSEHOLDS = "constraints with unit: household"
    PEOPLE_UNITS = "constraints that count people, with other units"
    RECIPE = "attacks that know how the release was made"
    SCENARIOS = "scenarios"
    SOME_KNOWN = "models of scenarios"
    SCENARIOS_BY_RECORD = "scenarios with suppression.method: records or cells"
    EXACT_SCENARIOS = "scenarios with models that can fail in unions of classes"
    TWO_TABLES = "a release of two tables"
    BANDS = "labels of columns that are not generalized"
    NUMBERS = "labels: low-high or midpoint"


@dataclass(frozen=True)
class Limit:
    """Why parameters, or a kind of release, rule a feature out.

    Attributes
    ----------
    what: the reason; empty for that of the table.
    remedy: in place of the table's; empty for that.
    """

    what: str = ""
    remedy: str = ""


NO_LIMITS: Mapping[Feature, Limit] = MappingProxyType({})


class Supporting(Protocol):
    """What says which features it carries out: a plug-in, a method, an engine."""

    @property
    def supports(self) -> frozenset[Feature]:
        """The features that it carries out."""

    @property
    def limits(self) -> Mapping[Feature, Limit]:
        """Those that it does not carry out with its parameters."""


class Supporter:
    """Carries out features of a config.

    Class attributes
    ----------------
    supports: the features that it carries out, with the default parameters; others are refused.
    """

    supports: ClassVar[frozenset[Feature]] = frozenset()

    @property
    def limits(self) -> Mapping[Feature, Limit]:
        """The features that it does not carry out with its parameters, or for a reason of its own."""
        return NO_LIMITS


class WithoutParameters:
    """What has no parameters that rule a feature out."""

    @property
    def limits(self) -> Mapping[Feature, Limit]:
        """None."""
        return NO_LIMITS


class SuppressionMethod(WithoutParameters, StrEnum):
    """What is suppressed of a class that violates a constraint."""

    CLASSES = "classes"
    RECORDS = "records"
    CELLS = "cells"

    @property
    def feature(self) -> Feature:
        """The feature that algorithms support."""
        return Feature[self.name]

    @property
    def supports(self) -> frozenset[Feature]:
        """The features that it carries out."""
        return _OF_METHODS[self]


_OF_METHODS: Mapping[SuppressionMethod, frozenset[Feature]] = {
    SuppressionMethod.CLASSES: frozenset(Feature),
    SuppressionMethod.RECORDS: frozenset({Feature.EVERY_STEP}),
    SuppressionMethod.CELLS: frozenset(),
}


class Storage(WithoutParameters, StrEnum):
    """Where the distinct rows of a run are that are not all in memory, one by one."""

    STORED = "stored"
    """In the engine, which counts them; they fit in memory."""
    BEYOND = "beyond"
    """In the engine; they do not fit in memory."""

    @property
    def supports(self) -> frozenset[Feature]:
        """The features that need no records in memory."""
        return frozenset(Feature) - _IN_MEMORY[self]


class Task(WithoutParameters, StrEnum):
    """What is done with a config, other than a run on files."""

    FRAME = "a run on a DataFrame"
    COMPARE = "a comparison of runs"

    @property
    def supports(self) -> frozenset[Feature]:
        """The features that it carries out."""
        return frozenset(Feature) - {Feature.APPLY}


_RECORD_BY_RECORD = frozenset(
    {
        Feature.TOGETHER,
        Feature.ATTACKED_UNITS,
        Feature.HOUSEHOLDS,
    }
)

_IN_MEMORY: Mapping[Storage, frozenset[Feature]] = {
    Storage.STORED: _RECORD_BY_RECORD,
    Storage.BEYOND: _RECORD_BY_RECORD
    | {Feature.POPULATION, Feature.LOSS_WEIGHTS, Feature.LOSS_UNIT, Feature.CONTROL},
}
