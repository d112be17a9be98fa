"""SQL that turns the values of records into codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import DataError
from anonymizer.model.arrays import CodeArray

FEW = 64
"""Up to this many texts a list is searched for each record."""

FEW_OF_PARQUET = 256
"""The same where records are read from Parquet, which takes one search for each text of its dictionary."""

ENUM_VALUES = 200_000
"""Up to this many distinct values an enumeration finds positions faster than ranking all records does."""

NARROW = 1 << 16
"""Whole numbers in a range up to this long are looked up by their distance from the smallest."""

WHOLE = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"})


@dataclass(frozen=True)
class CodeSql:
    """An expression that is never null.

    Attributes
    ----------
    text: SQL with a question mark for each parameter.
    parameters: in their order.
    """

    text: str
    parameters: tuple[list[int] | list[str], ...] = ()

    def else_code(self, code: int) -> CodeSql:
        """Return the expression with a code for nulls."""
        return CodeSql(f"coalesce({self.text}, {code})", self.parameters)


def code_of_number(column: str, texts: Sequence[str], codes: CodeArray) -> CodeSql | None:
    """Return the code of a column of whole numbers; None where they lie far apart.

    Parameters
    ----------
    column: its name in SQL.
    texts: the distinct ones.
    codes: of each text, shape (texts,), int32.
    """
    numbers = [int(text) for text in texts]
    lowest = min(numbers)
    if max(numbers) - lowest >= NARROW:
        return None
    by_number = np.zeros(max(numbers) - lowest + 1, dtype=np.int64)
    by_number[np.array(numbers) - lowest] = codes
    # Narrow types would overflow where the smallest is far below zero, or the largest is their last.
    return CodeSql(f"list_extract(?, {column}::BIGINT - ({lowest}) + 1)", (by_number.tolist(),))


def code_of_few(text: str, texts: Sequence[str], codes: CodeArray) -> CodeSql:
    """Return the code of one of few texts, given SQL for the text; the rest as for ``code_of_number``."""
    place = CodeSql(f"list_position(?, {text})", (list(texts),))
    return _code_at(place, codes)


def code_of_enumerated(enumerated: str, codes: CodeArray) -> CodeSql:
    """Return the code of a value of an enumeration, given SQL for it."""
    return _code_at(CodeSql(f"(enum_code({enumerated})::INTEGER + 1)"), codes)


def told_codes(source: str, codes: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return codes as they were fetched, of which none is null: every value of the dictionaries has one.

    Parameters
    ----------
    source: what messages call the input.

    Raises
    ------
    DataError: a record has a value that no dictionary has.
    """
    if np.ma.is_masked(codes):
        raise DataError(
            f"{source}: a record holds a value that was not there when the column was read; start again once "
            "the input is complete, or on a copy"
        )
    return np.asarray(codes)


def _code_at(place: CodeSql, codes: CodeArray) -> CodeSql:
    """Return the code of a place, which is counted from 1."""
    if np.array_equal(codes, np.arange(len(codes))):
        return CodeSql(f"({place.text} - 1)", place.parameters)
    return CodeSql(f"list_extract(?, {place.text})", ([int(code) for code in codes], *place.parameters))
