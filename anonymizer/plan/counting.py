"""What a run counts: persons, households and other units, people of a population, and sampling weights."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import NamedTuple

from anonymizer.config.files import MissingPerson
from anonymizer.config.model import Config
from anonymizer.data.source import CsvDialect, KeyColumns
from anonymizer.model.features import SuppressionMethod
from anonymizer.model.units import PERSON
from anonymizer.plan.engine import key_columns
from anonymizer.plan.goal import Goal
from anonymizer.privacy.base import AttackModel, Constraint


class PlannedPeople(NamedTuple):
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
class Counting:
    """What is counted in place of records.

    Attributes
    ----------
    constraints: of the goal, which say what they count.
    units: column of each unit that constraints may count, by name.
    absent: every text of a key that means a missing one; None is a null.
    required: whether every record must have a value in these.
    whole: the unit that is suppressed as a whole or not at all; None where classes are suppressed alone.
    limit: the unit that the suppression limit counts; None for records.
    most_parts: most parts into which rows are divided by units; 0 if they are not. Where single records or
        cells are suppressed, it is known whose they are.
    pseudonym: the column that is released with pseudonyms of persons; None without one.
    population: that the input is a sample of; None to estimate it by weights.
    control: people who were held out of the input; None without.
    loss_weights: column of the sampling weights by which losses are averaged; None to average over records.
    loss_unit: unit over which losses are averaged; None to average over records.
    """

    constraints: Collection[Constraint]
    units: Mapping[str, str]
    absent: frozenset[str | None]
    required: bool
    whole: str | None
    limit: str | None
    most_parts: float
    pseudonym: str | None
    population: PlannedPeople | None
    control: PlannedPeople | None
    loss_weights: str | None
    loss_unit: str | None

    @property
    def counts_persons(self) -> bool:
        """Whether a constraint counts persons, not records."""
        return any(each.unit == PERSON for each in self.constraints)

    @property
    def counted_units(self) -> list[str]:
        """The units other than records that constraints or the suppression limit count."""
        counted = (*(each.unit for each in self.constraints), self.limit)
        return [*dict.fromkeys(unit for unit in counted if unit is not None)]

    @property
    def recorded_units(self) -> set[str]:
        """The units whose records in each class a constraint counts."""
        return {
            each.unit for each in self.constraints if each.unit is not None and each.model.needs_unit_records
        }

    @property
    def attacks_units(self) -> bool:
        """Whether the attack of a constraint counts units."""
        return any(each.unit is not None for each in self.constraints if isinstance(each.model, AttackModel))

    @property
    def counts_population(self) -> bool:
        """Whether a constraint counts the population."""
        return any(each.model.needs_population for each in self.constraints)

    @property
    def needs_households(self) -> bool:
        """Whether a constraint needs to know households."""
        return any(each.model.needs_households for each in self.constraints)


def counting_of(config: Config, goal: Goal, absent: frozenset[str | None]) -> Counting:
    """Return what a config counts for its goal; ``absent`` as in ``Counting``."""
    given, people = config.input, config.input.population
    single = goal.suppression is not SuppressionMethod.CLASSES
    return Counting(
        constraints=goal.planned,
        units=given.unit_columns,
        absent=absent,
        required=given.missing_person is MissingPerson.REFUSE,
        whole=config.suppression.whole if given.pseudonym is None else PERSON,
        limit=config.suppression.unit,
        most_parts=inf if single else goal.algorithm.most_parts,
        pseudonym=given.pseudonym,
        population=None if people is None else _people(config, "population", people.path, people.weight),
        control=_people(config, "control", given.control),
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
