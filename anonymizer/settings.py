"""The base of every plug-in's parameters."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema


def _exact(value: Any) -> Any:
    """Floats become the decimal that a person would type for them: thresholds are exact decimals."""
    return Decimal(repr(float(value))) if isinstance(value, float) else value


Exact = Annotated[Decimal, BeforeValidator(_exact), WithJsonSchema({"type": "number"})]
"""A number that compares exactly: 0.2 is one fifth, not the nearest binary fraction."""


class Settings(BaseModel):
    """Parameters of a plug-in as they stand in the config: strict, immutable, unknown keys refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, allow_inf_nan=False)


WholeNumber = Annotated[int, Field(strict=True)]
"""An integer as written: neither true nor 5.0 is one."""
