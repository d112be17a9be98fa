"""The base of every plug-in's parameters."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

MOST_DIGITS = 300
"""Digits of a number: a float holds a whole number of so many."""

LONGEST_SHOWN = 60
"""Characters of a path that a message shows."""

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


LONGEST_NAME = 255
"""Bytes of a name in a folder, on nearly all file systems."""

LONGEST_PATH = 4095
"""Bytes of a path."""


def path_fault(path: str) -> str | None:
    """Return why no file can have a path, and what would do; None where one can.

    >>> path_fault("data.csv")
    >>> path_fault("data.csv\\0")
    'holds a NUL byte; accepted: a path without one'
    """
    if "\0" in path:
        return "holds a NUL byte; accepted: a path without one"
    try:
        names = [name.encode() for name in path.split("/")]
    except UnicodeEncodeError:
        return "is not UTF-8; accepted: a path that is; rename the file or folder"
    if "://" in path:  # other file systems have bounds of their own
        return None
    longest, size = max(map(len, names)), sum(map(len, names)) + len(names) - 1
    if longest > LONGEST_NAME:
        return f"has a name of {longest} bytes; accepted: names of at most {LONGEST_NAME} bytes"
    if size > LONGEST_PATH:
        return f"has {size} bytes; accepted: a path of at most {LONGEST_PATH} bytes"
    return None


def shortened_path(path: str) -> str:
    """Return a path as messages show it: on one line, of a long one the end."""
    return repr(path if len(path) <= LONGEST_SHOWN else f"…{path[-LONGEST_SHOWN:]}")


def usable_path(path: str) -> str:
    """Return a path, if a file can have it.

    Raises
    ------
    ValueError: saying why none can.
    """
    fault = path_fault(path)
    if fault is not None:
        raise ValueError(f"{shortened_path(path)} {fault}")
    return path


FilePath = Annotated[str, Field(min_length=1), AfterValidator(usable_path)]
"""A path that a config or the parameters of a plug-in name."""


class Settings(BaseModel):
    """Parameters of a plug-in as they stand in the config: strict, immutable, unknown keys refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, allow_inf_nan=False)


WholeNumber = Annotated[int, Field(strict=True)]
"""An integer as written: neither true nor 5.0 is one."""
