"""What a constraint supports: the units that it is asked to count, and the adversary of a scenario."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from anonymizer.config.files import InputSettings
from anonymizer.config.plugin_sections import ConstraintSettings
from anonymizer.errors import suggestion
from anonymizer.model.feature_rows import Asked, Cell, Need, Row, Side, Table, Use
from anonymizer.model.features import Feature
from anonymizer.model.units import HOUSEHOLD, PERSON, RECORD


class Entry(NamedTuple):
    """A constraint with the input whose units it counts, or a model of a scenario, whatever it counts."""

    constraint: ConstraintSettings
    given: InputSettings | None

    @property
    def input(self) -> InputSettings:
        """The input, of one that counts records without."""
        return InputSettings() if self.given is None else self.given

    @property
    def counted(self) -> str:
        """What it counts."""
        return RECORD if self.given is None else self.constraint.unit or self.given.default_unit

    @property
    def people(self) -> tuple[str, ...]:
        """The units of a model that counts people and nothing else."""
        units: tuple[str, ...] = self.constraint.build().people_units
        return units if self.input.person is not None else ()

    @property
    def counts_units(self) -> bool:
        """Whether the model can count units other than records, with other parameters at least."""
        return Feature.UNITS in self.constraint.build().supports


def not_defined(unit: str, given: InputSettings, *others: str) -> str:
    """Return the message about a unit that the input does not define, where it and others are accepted."""
    accepted = [*others, *given.unit_columns]
    known = f"; {suggestion(unit, accepted)}" if accepted else ""
    if unit == RECORD:
        return f"'{unit}'{known or '; accepted: a unit of input.person, household or units'}"
    own = next((name for name, column in given.unit_columns.items() if column == unit), None)
    if own is not None:
        return f"'{unit}' is a column; write {own}, the unit that it defines"
    if known.endswith("?"):
        return f"'{unit}' is not defined{known}"
    key = f"input.{unit}" if unit in (PERSON, HOUSEHOLD) else "input.units"
    return f"'{unit}' is not defined{known}; to define it, name its column in {key}"


def _undefined(entry: Entry) -> list[Use]:
    unit = entry.constraint.unit
    defined = entry.given is None or unit in (None, RECORD, *entry.given.unit_columns)
    return [] if defined else [Use(("unit",), {"unit": str(unit)})]


def _people_units(entry: Entry) -> list[Use]:
    unit, people = entry.constraint.unit, entry.people
    if entry.counts_units or not people or unit in (None, *people):
        return []
    return [Use(("unit",), {"unit": str(unit), "people": ", ".join(people)})]


def _units(entry: Entry) -> list[Use]:
    if entry.people or entry.counted == RECORD:
        return []
    words = {"by_default": "", "add": f"set unit: {RECORD}"}
    if entry.constraint.unit is not None or entry.counts_units:
        return [Use(("unit",), words)]
    # Nobody wrote a unit.
    words["by_default"] = ", and input.person makes persons the default"
    words["add"] = f"add unit: {RECORD} to the constraint"
    return [Use(("model",), words)]


def _records_among_people(entry: Entry) -> Iterator[Use]:
    """Yield the use of what would be refused after what the row of units asks for."""
    if entry.constraint.unit is None and entry.input.person is not None and _units(entry):
        yield Use(("estimator",))


_MODEL: Side[Entry] = Side("models", lambda entry: [Asked((), entry.constraint.build())])

ENTRIES: Table[Entry] = Table(
    (
        (
            Row(
                Feature.SOME_KNOWN,
                lambda entry: [Use(("model",))] if entry.given is None else [],
                Cell(_MODEL, "{model} cannot be in a scenario; move it to constraints", here=True),
            ),
        ),
        (
            Row(
                Feature.UNIT_COLUMNS,
                _undefined,
                Need(lambda entry, use: not_defined(str(use.words["unit"]), entry.input, RECORD)),
            ),
        ),
        (
            Row(
                Feature.COUNTED_HOUSEHOLDS,
                lambda entry: [Use(("unit",))] if entry.counts_units and entry.counted == HOUSEHOLD else [],
                Cell(_MODEL, f"{{model}} cannot count households; set unit: {RECORD}", here=True),
            ),
        ),
        (
            Row(
                Feature.PEOPLE_UNITS,
                _people_units,
                Cell(_MODEL, "{model} counts people, not {unit}s; accepted: {people}", here=True),
            ),
        ),
        (
            Row(
                Feature.UNITS,
                _units,
                Cell(_MODEL, "{model} counts records only{by_default}; {add}", here=True),
            ),
            Row(
                Feature.PERSONS_AMONG_PEOPLE,
                _records_among_people,
                Cell(_MODEL, "{model} cannot count persons; remove input.person", here=True),
            ),
        ),
    ),
)
