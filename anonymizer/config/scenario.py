"""Scenarios: adversaries who know some of the quasi-identifiers, each with models of its own."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Annotated, Any

from pydantic import AfterValidator, Field, GetJsonSchemaHandler, field_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from anonymizer.config.plugin_sections import ConstraintSettings
from anonymizer.config.section import Section, problem, refusal
from anonymizer.model.classes import Knowledge
from anonymizer.plugins import WholeNumber

MOST_SETS = 2_000
"""Most sets of known columns of one scenario: each is counted for each candidate of a search."""


class KnownSettings(Section):
    """The columns that an adversary knows: a list, or any so many of them."""

    any: Annotated[WholeNumber, Field(ge=1)] | None = Field(
        default=None, description="how many of them the adversary knows, whichever these are; default: all"
    )
    of: tuple[str, ...] = Field(description="names of quasi-identifiers", json_schema_extra={"minItems": 1})

    @classmethod
    def normalize_input(cls, data: Any) -> Any:
        """Return a list as a mapping with that list only."""
        return {"of": data} if isinstance(data, list | tuple) else data

    @classmethod
    def config_form(cls, own: dict[str, Any]) -> Any:
        """Return a list where all are known."""
        return own if "any" in own else own["of"]

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the schema of a list or a mapping."""
        frame = handler.resolve_ref_schema(super().__get_pydantic_json_schema__(core_schema, handler))
        listed = frame["properties"]["of"]
        about = {"title": cls.__name__, "description": frame.get("description", "")}
        return {**about, "oneOf": [listed, {**frame, "required": ["any", "of"]}]}

    @classmethod
    def _form(cls, data: Any) -> str:  # noqa: ARG003 - the same for any
        return "a list of quasi-identifiers, or a mapping such as {any: 3, of: [age, sex, zip, job]}"

    @property
    def number(self) -> int:
        """How many columns the adversary knows."""
        return len(self.of) if self.any is None else self.any

    @property
    def sets(self) -> Knowledge:
        """Every set of columns that the adversary may know."""
        return tuple(frozenset(each) for each in combinations(self.of, self.number))


def _has_sets(known: KnownSettings) -> KnownSettings:
    columns, path = len(known.of), () if known.any is None else ("of",)
    if not columns:
        raise refusal([problem("no column; name at least one quasi-identifier", path)])
    twice = [name for place, name in enumerate(known.of) if name in known.of[:place]]
    if twice:
        raise refusal([problem(f"'{twice[0]}' is named twice; name each column once", path)])
    if known.number > columns:
        what = f"{known.any}, but `of` has {columns} columns; accepted: a whole number from 1 to {columns}"
        raise refusal([problem(what, ("any",))])
    if comb(columns, known.number) > MOST_SETS:
        what = f"{known.any} of {columns} columns are {comb(columns, known.number):,} sets"
        raise refusal([problem(f"{what}; accepted: at most {MOST_SETS:,} sets", ("any",))])
    return known


class ScenarioSettings(Section):
    """An adversary who knows some of the quasi-identifiers, and what must hold against that adversary."""

    known: Annotated[KnownSettings, AfterValidator(_has_sets)] = Field(
        description="quasi-identifiers that the adversary knows: a list, or {any: 3, of: [...]} for any "
        "three of the columns"
    )
    models: tuple[ConstraintSettings, ...] = Field(
        description="privacy models; all must be satisfied by the classes of the known columns",
        json_schema_extra={"minItems": 1},
    )
    unit: str | None = Field(
        default=None,
        description="what the models count, unless they say so themselves: record, person, household or a "
        "name of input.units",
    )
    recipient: str | None = Field(default=None, description="who the adversary is, for readers of the report")

    @field_validator("models")
    @classmethod
    def _at_least_one(cls, models: tuple[ConstraintSettings, ...]) -> tuple[ConstraintSettings, ...]:
        if not models:
            raise ValueError("no model; add at least one, such as {model: k-anonymity, k: 5}")
        return models

    def counting(self, model: ConstraintSettings) -> ConstraintSettings:
        """Return a model with the unit of the scenario unless it has its own."""
        return model if model.unit is not None else model.model_copy(update={"unit": self.unit})
