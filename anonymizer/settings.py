"""The base of every plug-in's parameters."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

MOST_DIGITS = 300
"""Digits of a number: a float holds a whole number of so many."""

LARGEST_EXPONENT = 400
"""The largest power of ten that a number is multiplied or divided by: all floats are within it."""

TOO_MANY_DIGITS = (
    f"a number with too many digits; accepted: at most {MOST_DIGITS}, and exponents from "
    f"-{LARGEST_EXPONENT} to {LARGEST_EXPONENT}; put quotes around a text"
)


def _exact(value: Any) -> Any:
    """Floats become the decimal that a person would type for them: thresholds are exact decimals."""
    return Decimal(repr(float(value))) if isinstance(value, float) else value


def has_too_many_digits(number: int | Decimal) -> bool:
    """Return whether a number is so long that computing with it exactly would take very long."""
    if isinstance(number, int):
        return bool(abs(number) >= 10**MOST_DIGITS)
    if not number.is_finite():
        return False
    return abs(number.adjusted()) > LARGEST_EXPONENT or len(number.as_tuple().digits) > MOST_DIGITS


def _bounded(value: Decimal) -> Decimal:
    """Refuse what a text, too, can hold: the powers of ten of an exact fraction are written out."""
    if has_too_many_digits(value):
        raise ValueError(TOO_MANY_DIGITS)
    return value


Exact = Annotated[
    Decimal, BeforeValidator(_exact), AfterValidator(_bounded), WithJsonSchema({"type": "number"})
]
"""A number that compares exactly: 0.2 is one fifth, not the nearest binary fraction."""


class Settings(BaseModel):
    """Parameters of a plug-in as they stand in the config: strict, immutable, unknown keys refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, allow_inf_nan=False)


WholeNumber = Annotated[int, Field(strict=True)]
"""An integer as written: neither true nor 5.0 is one."""
