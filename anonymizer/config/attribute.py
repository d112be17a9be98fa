"""``attributes:``: what each column is, and what may be done to it."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import Field, field_validator, model_validator

from anonymizer.config.hierarchy import HierarchySettings
from anonymizer.config.section import Section, problem, refusal
from anonymizer.model.table import ValueType
from anonymizer.plugins import Exact, WholeNumber


class Role(StrEnum):
    """What a column is to an adversary."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"


class Distance(StrEnum):
    """Ground distance between sensitive values for t-closeness."""

    EQUAL = "equal"
    ORDERED = "ordered"
    HIERARCHICAL = "hierarchical"


LARGEST_WEIGHT = 10**6
"""Weights further apart than this and its inverse drown each other in rounding."""

_COUNTED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
_ALLOWED_ROLES: dict[str, tuple[Role, ...]] = {
    "type": _COUNTED,
    "hierarchy": _COUNTED,
    "weight": (Role.QUASI_IDENTIFIER,),
    "levels": (Role.QUASI_IDENTIFIER,),
    "distance": (Role.SENSITIVE,),
}


class LevelRange(Section):
    """The generalization levels that a search may use, both ends included."""

    min: Annotated[WholeNumber, Field(ge=0)] | None = Field(default=None, description="default 0")
    max: Annotated[WholeNumber, Field(ge=0)] | None = Field(default=None, description="default the top")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min {self.min} is above max {self.max}; accepted: min <= max")
        return self


class AttributeSettings(Section):
    """One column of the file."""

    role: Role = Field(description="identifiers are dropped, insensitive columns are released as they are")
    type: ValueType | None = Field(default=None, description="default: detected from the values")
    hierarchy: HierarchySettings | None = Field(
        default=None, description="how values generalize; default: the value, then *"
    )
    weight: Annotated[Exact, Field(ge=0, le=LARGEST_WEIGHT)] = Field(
        default=Decimal(1), description="share of the attribute in aggregates of loss"
    )
    levels: LevelRange | None = Field(default=None, description="levels that the search may use")
    distance: Distance | None = Field(
        default=None, description="ground distance for t-closeness; default: ordered for numbers and dates"
    )

    @field_validator("weight")
    @classmethod
    def _counts_at_all(cls, weight: Decimal) -> Decimal:
        if 0 < weight * LARGEST_WEIGHT < 1:
            raise ValueError(f"{weight}; accepted: 0, or a number from 0.000001 to {LARGEST_WEIGHT}")
        return weight

    @model_validator(mode="after")
    def _fits_role(self) -> Self:
        problems = [problem(what, (key,)) for key, what in self._misplaced()]
        if self.distance is Distance.HIERARCHICAL and self.hierarchy is None:
            what = "'hierarchical' needs a hierarchy; give the attribute one"
            problems.append(problem(what, ("distance",)))
        if problems:
            raise refusal(problems)
        return self

    def _misplaced(self) -> Iterator[tuple[str, str]]:
        for key, roles in _ALLOWED_ROLES.items():
            if key in self.model_fields_set and getattr(self, key) is not None and self.role not in roles:
                fitting = " and ".join(f"{role} columns" for role in roles)
                yield key, f"has no effect on a column with role {self.role}; accepted for {fitting}"

    def to_dict(self) -> dict[str, Any]:
        """Return the section, without the keys that its role does not take."""
        barred = {key for key, roles in _ALLOWED_ROLES.items() if self.role not in roles}
        return {key: value for key, value in super().to_dict().items() if key not in barred}
