"""The distinct texts of columns in DuckDB, and SQL for codes of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizer.engines.duckdb_codes import (
    ENUM_VALUES,
    FEW,
    FEW_OF_PARQUET,
    WHOLE,
    CodeSql,
    code_of_enumerated,
    code_of_few,
    code_of_number,
)
from anonymizer.engines.duckdb_database import Database
from anonymizer.engines.duckdb_packed import NumberCodes, codes_of_digits
from anonymizer.engines.duckdb_sql import WIDE, quoted, text_of
from anonymizer.model.arrays import CodeArray

Dictionary = list[tuple[str | None, int]]
"""Distinct texts with their records, sorted, a null last."""

CELLS_TOGETHER, COLUMNS_TOGETHER = 1 << 18, 1 << 10
"""Cells and columns that one query of a wide table counts at most."""


class ColumnValues:
    """What is known of the columns c0, c1, … of the table ``records``; each is meant by its number.

    Parameters
    ----------
    database: stays the caller's.
    records: number of them.

    Attributes
    ----------
    texts: SQL for the text of each column.
    holds_texts: whether the values of each are texts.
    """

    def __init__(self, database: Database, records: int) -> None:
        self._database, self._records = database, records
        self._with_nulls: dict[int, bool] = {}
        self._sizes: dict[int, int] = {}
        self._dictionaries: dict[int, Dictionary] = {}
        self._enumerations: set[int] = set()
        kinds = [str(row[1]) for row in database.rows("DESCRIBE records")]
        self.holds_texts = [kind == "VARCHAR" for kind in kinds]
        self._whole = [kind in WHOLE for kind in kinds]
        self.texts = [text_of(f"c{index}", kind) for index, kind in enumerate(kinds)]

    def known(self, index: int) -> bool:
        """Tell whether the distinct texts of a column are held."""
        return index in self._dictionaries

    def dictionary(self, index: int) -> Dictionary:
        """Return the distinct texts of a column with their records, sorted, a null last."""
        if index not in self._sizes:
            neighbours = [each for each in self.neighbours(index) if each not in self._sizes]
            if len(neighbours) > 1:
                self._count_together(neighbours)
        if index not in self._dictionaries:
            counted = (
                f"SELECT {self.texts[index]} AS t, count(*) FROM records GROUP BY t ORDER BY t NULLS LAST"
            )
            rows = self._database.rows(counted)
            if not self.remember(index, rows):
                return rows
        return list(self._dictionaries[index])

    def few_cells(self, index: int) -> bool:
        """Tell whether a column is one of so many, of so few records, that they are counted together."""
        return len(self.neighbours(index)) > 1

    def neighbours(self, index: int, most: int = COLUMNS_TOGETHER) -> range:
        """Return the columns, a given one among them and at most so many, that one query reads together."""
        if len(self.texts) < WIDE:
            return range(index, index + 1)
        number = max(1, min(most, CELLS_TOGETHER // max(1, self._records)))
        first = index - index % number
        return range(first, min(first + number, len(self.texts)))

    def _count_together(self, indices: Sequence[int]) -> None:
        """Read the dictionaries of some columns with one query."""
        texts = ", ".join(self.texts[index] for index in indices)
        rows = self._database.rows(
            f"SELECT i, t, count(*) FROM (SELECT unnest(range({len(indices)})) AS i, unnest([{texts}]) AS t "
            "FROM records) GROUP BY i, t ORDER BY i, t NULLS LAST"
        )
        found: list[Dictionary] = [[] for _ in indices]
        for place, text, count in rows:
            found[place].append((text, count))
        for index, dictionary in zip(indices, found, strict=True):
            self.remember(index, dictionary)

    def remember(self, index: int, rows: Dictionary) -> bool:
        """Note the size of a dictionary, and keep it unless it is large; say whether it was kept."""
        nulls = bool(rows) and rows[-1][0] is None
        self._with_nulls[index] = nulls
        self._sizes[index] = len(rows) - nulls
        if len(rows) > ENUM_VALUES:
            return False
        self._dictionaries[index] = rows
        return True

    def nullable(self, index: int) -> bool:
        """Tell whether a column has nulls; where its dictionary was read, that says so."""
        if index not in self._with_nulls:
            indices = [each for each in self.neighbours(index) if each not in self._with_nulls]
            counts = ", ".join(f"count(c{each})" for each in indices)
            present = self._database.rows(f"SELECT {counts} FROM records")[0]
            for each, number in zip(indices, present, strict=True):
                self._with_nulls[each] = int(number) < self._records
        return self._with_nulls[index]

    def many(self, index: int) -> bool:
        """Tell whether a column has too many distinct texts for an enumeration."""
        return self._size(index) > ENUM_VALUES

    def _size(self, index: int) -> int:
        """Return the number of distinct texts of a column, a null not counted."""
        if index not in self._sizes:
            self.dictionary(index)
        return self._sizes[index]

    def place(self, index: int, text: str) -> str:
        """Return SQL for the position in a column's dictionary of what the expression ``text`` gives."""
        size = self._size(index)
        if size == 0:
            return "0"
        if self.many(index):
            return f"(dense_rank() OVER (ORDER BY {text} NULLS LAST) - 1)"
        return f"coalesce(enum_code({self._enumerated(index, text)})::INTEGER, {size})"

    def code(self, index: int, codes: CodeArray) -> CodeSql:
        """Return SQL for the code of a column that has not too many texts.

        Parameters
        ----------
        codes: of each position in its dictionary, shape (distinct texts,), int32.
        """
        texts = self._present(index)
        of_texts, found = codes[: len(texts)], None
        if not texts:
            return CodeSql(str(int(codes[0])))
        if self._whole[index]:
            found = code_of_number(f"c{index}", texts, of_texts)
        if found is None and len(texts) <= (FEW if self._database.source is None else FEW_OF_PARQUET):
            found = code_of_few(self.texts[index], texts, of_texts)
        if found is None:
            found = code_of_enumerated(self._enumerated(index, self.texts[index]), of_texts)
        return found.else_code(int(codes[-1])) if self.nullable(index) else found

    def positions(self, index: int) -> CodeSql:
        """Return SQL for the position in its dictionary of a column that has not too many texts."""
        return self.code(index, np.arange(len(self.dictionary(index)), dtype=np.int32))

    def number_codes(self, index: int, codes: CodeArray) -> NumberCodes | None:
        """Return the codes of a column of many texts that are numbers; None of any other."""
        texts = self._present(index)
        column = f"c{index}" if self._whole[index] else self.texts[index]
        null = int(codes[-1]) if self.nullable(index) else None
        return codes_of_digits(column, texts, codes[: len(texts)], null)

    def _present(self, index: int) -> list[str]:
        """Return the distinct texts of a column without the null."""
        return [text for text, _ in self.dictionary(index) if text is not None]

    def _enumerated(self, index: int, text: str) -> str:
        """Return SQL for a text as a value of the column's enumeration, made when it is first asked for."""
        if index not in self._enumerations:
            known = map(quoted, self._present(index))
            self._database.run(f"CREATE TYPE e{index} AS ENUM ({', '.join(known)})")
            self._enumerations.add(index)
        return f"CAST({text} AS e{index})"
