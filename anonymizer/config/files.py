"""``input:`` and ``output:``: the files, and how they are read and written."""

from __future__ import annotations

import codecs
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator

from anonymizer.config.section import Section
from anonymizer.config.words import shown

RELEASE_SUFFIXES = (".csv", ".csv.gz", ".parquet")
"""What the name of a released file may end in."""


def _token(value: Any) -> Any:
    """Numbers stand for their text: ``missing: [-9]`` is what people write."""
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return str(value) if is_number else value


Token = Annotated[str, BeforeValidator(_token), WithJsonSchema({"type": ["string", "number"]})]
"""A text that a cell may hold."""


class InputSettings(Section):
    """The file to anonymize and how to read it."""

    path: str | None = Field(
        default=None, min_length=1, description="relative to the config file; .csv, .csv.gz, .tsv or .parquet"
    )
    separator: str | None = Field(default=None, description="one character; default: detected, and reported")
    encoding: str = Field(default="utf-8", description="of a text file")
    missing: tuple[Token, ...] = Field(default=("",), description="texts that mean a value is missing")

    @field_validator("separator")
    @classmethod
    def _one_character(cls, separator: str | None) -> str | None:
        if separator is not None and (len(separator) != 1 or separator in '"\r\n\0'):
            raise ValueError(f"{shown(separator)}; accepted: one character such as ',' ';' '|' or a tab")
        return separator

    @field_validator("encoding")
    @classmethod
    def _known_encoding(cls, encoding: str) -> str:
        try:
            "".encode(encoding)
            codecs.lookup(encoding)
        except (LookupError, ValueError):
            known = "a text encoding such as utf-8, latin-1, cp1252 or utf-16"
            raise ValueError(f"{shown(encoding)}; accepted: {known}") from None
        return encoding


class Order(StrEnum):
    """The order of the released records; it must tell nothing of the input's."""

    SORTED = "sorted"
    SHUFFLED = "shuffled"


class OutputSettings(Section):
    """The released file."""

    path: str = Field(default="release.csv", description="file name in share/; .csv, .csv.gz or .parquet")
    order: Order = Field(
        default=Order.SORTED, description="by the published values, or shuffled by system randomness"
    )

    @field_validator("path")
    @classmethod
    def _file_name(cls, path: str) -> str:
        if any(character in path for character in "/\\\0") or path.startswith("."):
            raise ValueError(f"{shown(path)}; accepted: a file name without a folder; -o gives the folder")
        if not path.endswith(RELEASE_SUFFIXES):
            raise ValueError(f"{shown(path)}; accepted: a name ending in {', '.join(RELEASE_SUFFIXES)}")
        return path
