"""Records as packed keys: most codes are found by the engine, those of many numbers in an array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anonymizer.engines.duckdb_codes import FEW_OF_PARQUET, CodeSql, told_codes
from anonymizer.engines.duckdb_database import Database
from anonymizer.model.arrays import CodeArray, IntArray

SPAN = 1 << 20
"""Numbers in a range up to this long are looked up by their distance from the smallest."""


@dataclass(frozen=True, eq=False)
class NumberCodes:
    """Codes of texts that are whole numbers in digits, no two of them the same number.

    Attributes
    ----------
    text: SQL for the number, one below the smallest for a null.
    lowest: the smallest number.
    codes: of what is below, of a null, of each number from the smallest on, and of what is beyond; -1 where
        nothing is known.
    """

    text: str
    lowest: int
    codes: IntArray

    def of(self, numbers: NDArray[np.integer]) -> IntArray:
        """Return the code of each number that was fetched, -1 where it is no known one."""
        found: IntArray = self.codes.take(numbers - np.int32(self.lowest - 2), mode="clip")
        return found


def codes_of_digits(
    column: str, texts: Sequence[str], codes: CodeArray, null: int | None
) -> NumberCodes | None:
    """Return the codes of a column by its numbers; None where a text is no number, or they lie far apart.

    Also None where they are few: these the engine finds as fast by itself.

    Parameters
    ----------
    column: SQL for the number or the text of a record.
    texts: the distinct ones.
    codes: of each text, shape (texts,), int32.
    null: code of a null, None where there is none.
    """
    if len(texts) <= FEW_OF_PARQUET:
        return None
    # Up to nine digits fit four bytes.
    if not all(each.isascii() and each.isdigit() and len(each) < 10 for each in texts):
        return None
    numbers = np.array([int(each) for each in texts], dtype=np.int64)
    lowest, highest = int(numbers.min()), int(numbers.max())
    # The same number in two spellings would be two values with one key.
    if highest - lowest >= SPAN or len(np.unique(numbers)) < len(numbers):
        return None
    table = np.full(highest - lowest + 4, -1, dtype=np.int64)
    table[numbers - lowest + 2] = codes
    number = f"CAST({column} AS INTEGER)"
    if null is not None:
        table[1] = null
        number = f"coalesce({number}, {lowest - 1})"
    return NumberCodes(number, lowest, table)


class PackedQuery:
    """Asks for the key of each record, packed of the codes of columns with the weight of each."""

    def __init__(self) -> None:
        self._terms: list[str] = []
        self._parameters: list[list[int] | list[str]] = []
        self._looked_up: list[tuple[NumberCodes, int]] = []

    def add(self, found: CodeSql | NumberCodes, weight: int) -> None:
        """Add a column, whose codes are taken so many times."""
        if isinstance(found, NumberCodes):
            self._looked_up.append((found, weight))
            return
        self._terms.append(f"({found.text})::BIGINT * {weight}")
        self._parameters.extend(found.parameters)

    def keys(self, database: Database, source: str) -> IntArray:
        """Return the keys in the order of the records, shape (records,), int64.

        Parameters
        ----------
        source: what messages call the input.

        Raises
        ------
        DataError: a record has a value that was not there when the column was read.
        """
        key = " + ".join(self._terms) or "0::BIGINT"
        numbers = (f", {each.text} AS n{place}" for place, (each, _) in enumerate(self._looked_up))
        fetched = database.arrays(f"SELECT {key} AS k{''.join(numbers)} FROM records", self._parameters)
        keys: IntArray = told_codes(source, fetched.pop("k")).astype(np.int64, copy=False)
        for place, (each, weight) in enumerate(self._looked_up):
            codes = each.of(told_codes(source, fetched.pop(f"n{place}")))
            told_codes(source, np.ma.masked_less(codes, 0) if (codes < 0).any() else codes)
            codes *= weight
            keys += codes
        return keys
