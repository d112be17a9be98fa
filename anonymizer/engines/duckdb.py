"""Relations inside the process, in DuckDB."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from anonymizer.core.arrays import CodeArray, IntArray
from anonymizer.core.grouping import SPACE
from anonymizer.core.packing import Packing
from anonymizer.engines.base import Groups, Projection, Relation
from anonymizer.engines.coding import Coding, fitting
from anonymizer.engines.duckdb_codes import (
    FEW,
    WHOLE,
    CodeSql,
    code_of_enumerated,
    code_of_few,
    code_of_number,
    told_codes,
)
from anonymizer.engines.duckdb_combinations import DuckCombinations, RecordCode, by_text, counted_records
from anonymizer.engines.duckdb_counted import DuckWriter
from anonymizer.engines.duckdb_database import Database
from anonymizer.engines.duckdb_many import ManyTexts
from anonymizer.engines.duckdb_plan import plan, sources
from anonymizer.engines.duckdb_spread import records_matching
from anonymizer.engines.duckdb_sql import copy_csv, copy_parquet, quoted, text_of
from anonymizer.engines.file_source import FileSource
from anonymizer.engines.packed_groups import packed_groups
from anonymizer.engines.spread import Spread, spread_of

ENUM_VALUES = 200_000
"""Up to this many distinct values an enumeration finds positions faster than ranking all records does."""


class DuckRelation(Relation):
    """An input in the table ``records`` of a database, whose columns are c0, c1, … in its order.

    Where a file can be read again, ``records`` is a view of it until records are asked for.

    Parameters
    ----------
    database: owned from now on, and closed with the relation.
    name, columns, sha256, separator: as for every relation.
    source: the file that the view reads again; None where ``records`` holds what was read.
    """

    def __init__(
        self,
        database: Database,
        name: str,
        columns: Sequence[str],
        *,
        sha256: str | None = None,
        separator: str | None = None,
        source: FileSource | None = None,
    ) -> None:
        self._database = database
        database.source = source
        self.name = name
        self.columns = tuple(columns)
        self.sha256 = sha256
        self.separator = separator
        present = ", ".join(f"count(c{index})" for index in range(len(columns)))
        counted = database.rows(f"SELECT count(*), {present} FROM records")
        self.rows, *values = counted[0]
        self._nullable = [count < self.rows for count in values]
        self._sizes: dict[str, int] = {}
        self._dictionaries: dict[str, list[tuple[str | None, int]]] = {}
        self._enumerations: set[int] = set()
        described = database.rows("DESCRIBE records")
        self._holds_texts = [str(row[1]) == "VARCHAR" for row in described]
        self._whole = [str(row[1]) in WHOLE for row in described]
        self._texts = [text_of(f"c{index}", str(row[1])) for index, row in enumerate(described)]
        self._many = ManyTexts(database, self._texts, self.rows)

    def dictionary(self, column: str) -> list[tuple[str | None, int]]:
        """Return the distinct texts of a column with their records, sorted, a null last."""
        if column not in self._dictionaries:
            text = self._texts[self.position(column)]
            rows = self._database.rows(
                f"SELECT {text} AS t, count(*) FROM records GROUP BY t ORDER BY t NULLS LAST"
            )
            if not self._remember(column, rows):
                return rows
        return list(self._dictionaries[column])

    def _remember(self, column: str, rows: list[tuple[str | None, int]]) -> bool:
        """Note the size of a dictionary, and keep it unless it is large; say whether it was kept."""
        self._sizes[column] = len(rows) - (bool(rows) and rows[-1][0] is None)
        if len(rows) > ENUM_VALUES:
            return False
        self._dictionaries[column] = rows
        return True

    def codes(self, column: str) -> CodeArray:
        """Return each record's position in the column's dictionary, shape (records,), int32."""
        index, size = self.position(column), self._size(column)
        if size > ENUM_VALUES:
            # Ranking puts the records in another order, where looking them up does not.
            self.load()
            ranked = f"dense_rank() OVER (ORDER BY {self._texts[index]} NULLS LAST) - 1"
            fetched = self._database.arrays(f"SELECT {ranked} AS k FROM records ORDER BY rowid")
        else:
            found = self._code_of(index, np.arange(size + self._nullable[index], dtype=np.int32))
            fetched = self._database.arrays(f"SELECT {found.text} AS k FROM records", found.parameters)
        return told_codes(self.name, fetched["k"]).astype(np.int32, copy=False)

    def packed(self, codings: Sequence[Coding]) -> Packing:
        """Return the codes of columns packed by the engine, as far as they fit one integer."""
        if any(self._size(coding.name) > ENUM_VALUES for coding in codings):
            return super().packed(codings)
        first = codings[: fitting(codings, SPACE)]
        key, parameters = "0::BIGINT", list[list[int] | list[str]]()
        for coding in first:
            found = self._code_of(self.position(coding.name), coding.codes)
            key = f"({key} * {coding.size} + {found.text})"
            parameters.extend(found.parameters)
        keys = told_codes(
            self.name, self._database.arrays(f"SELECT {key} AS k FROM records", parameters)["k"]
        )
        packing = Packing.of(keys.astype(np.int64, copy=False), [coding.size for coding in first])
        for coding in codings[len(first) :]:
            packing.add(coding.codes[self.codes(coding.name)], coding.size)
        return packing

    def keys(self, column: str) -> IntArray:
        """Return an integer of each record: by the hashes of the texts, if these differ."""
        found = None if column in self._dictionaries else self._many.keys(self.position(column))
        return super().keys(column) if found is None else found

    def spread(self, column: str, limit: int, absent: Collection[str] = ()) -> Spread:
        """Return how records are spread over the texts of a column."""
        index = self.position(column)
        if column not in self._dictionaries:
            rows = self._many.fetched(index, limit + len(absent) + 1)
            if rows is None:
                return self._many.spread(index, limit, absent)
            self._remember(column, rows)
        return spread_of(self._dictionaries[column], limit, absent)

    def matching(self, column: str, pattern: str) -> int:
        """Return the records whose text matches a regular expression from end to end."""
        return records_matching(self._database, self._texts[self.position(column)], pattern)

    def group_counts(self, columns: Sequence[str]) -> Groups:
        """Return the distinct combinations of texts: by a GROUP BY of texts, of very many by packed codes."""
        if self._many.mostly_distinct([self.position(column) for column in columns]):
            return packed_groups(self, columns)
        values = tuple(tuple(text for text, _ in self.dictionary(column)) for column in columns)
        indices = [self.position(column) for column in columns]
        texts = ", ".join(f"{self._texts[index]} AS c{index}" for index in indices)
        codes = ", ".join(f"{self._code(self.columns[index], f'c{index}')} AS c{index}" for index in indices)
        grouped = self._database.arrays(
            f"SELECT {codes}, n FROM (SELECT {texts}, count(*) AS n FROM records GROUP BY ALL)"
        )
        matrix = np.column_stack([grouped[f"c{index}"] for index in indices]).astype(np.int32, copy=False)
        return Groups(values, matrix, grouped["n"].astype(np.int64, copy=False))

    def kept_combinations(self, codings: Sequence[Coding]) -> DuckCombinations:
        """Return the distinct combinations of the codes of columns, counted and kept by the database."""
        return counted_records(self._database, codings, self._coded)

    def estimated_combinations(self, columns: Sequence[str]) -> int:
        """Return about how many distinct combinations columns have, by a sketch of all records."""
        values = ", ".join(f"c{self.position(column)}" for column in columns)
        return int(self._database.rows(f"SELECT approx_count_distinct(hash({values})) FROM records")[0][0])

    @property
    def writer(self) -> DuckWriter:
        """What writes counted rows, with the same database."""
        return DuckWriter(self._database)

    def is_text(self, column: str) -> bool:
        """Tell whether the values of a column are texts."""
        return self._holds_texts[self.position(column)]

    def holds_texts(self, column: str) -> bool:
        """Tell whether the values of a column are texts in every record."""
        index = self.position(column)
        return self._holds_texts[index] and not self._nullable[index]

    def sorted_rows(self, projection: Projection) -> IntArray:
        """Return the numbers of the published records, sorted by what is published of them."""
        keys = []
        nulls = []
        for place, column in enumerate(projection.columns):
            if column in projection.replacements:
                keys.append(f"r{place}")
            else:
                index = self.position(column)
                keys.append(f"coalesce({self._texts[index]}, '')")
                # Records that differ only in a null against an empty text must not stay as they came.
                nulls.extend([f"c{index} IS NULL"] if self._nullable[index] else [])
        self.load()
        with self._database.holding("plan", plan(projection, kept=projection.kept)):
            fetched = self._database.arrays(
                "SELECT r FROM (SELECT *, records.rowid AS r FROM records POSITIONAL JOIN plan) "
                f"WHERE kept ORDER BY {', '.join(keys + nulls)}"
            )
        rows: IntArray = fetched["r"].astype(np.int64, copy=False)
        return rows

    def write_csv(self, projection: Projection, rows: IntArray, path: Path, separator: str) -> None:
        """Write records as CSV: quotes where needed, nothing at all for a null or an empty text."""
        label = "CAST(list_extract(?, {} + 1) AS VARCHAR)"
        texts = sources(projection, lambda name: self._texts[self.position(name)], label)
        self._copy(projection, rows, copy_csv(projection.columns, texts, path, separator), path)

    def write_parquet(self, projection: Projection, rows: IntArray, path: Path) -> None:
        """Write records as Parquet; replaced columns have their labels' type, others their own and nulls."""
        values = sources(projection, lambda name: f"c{self.position(name)}", "list_extract(?, {} + 1)")
        self._copy(projection, rows, copy_parquet(projection.columns, values, path), path)

    def load(self) -> None:
        """Load the records where so far their file was read again for each query."""
        if self._database.source is not None:
            self._database.run("CREATE TABLE loaded AS SELECT * FROM records")
            self._database.source = None
            self._database.run("DROP VIEW records")
            self._database.run("ALTER TABLE loaded RENAME TO records")

    def close(self) -> None:
        """Give back memory and temporary files; a second call does nothing."""
        self._database.close()

    def _copy(self, projection: Projection, rows: IntArray, statement: str, path: Path) -> None:
        self.load()
        place = np.full(self.rows, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows), dtype=np.int64)
        replaced = [column for column in projection.columns if column in projection.replacements]
        labels = [list(projection.replacements[column].labels) for column in replaced]
        with self._database.holding("plan", plan(projection, place=place)):
            self._database.copy(statement, labels, path)

    def _coded(self, coding: Coding) -> RecordCode:
        """Return SQL for the code of a column in each record."""
        index = self.position(coding.name)
        if self._size(coding.name) > ENUM_VALUES:
            return by_text(self._database, self._texts[index], self.dictionary(coding.name), coding.codes)
        found = self._code_of(index, coding.codes)
        return RecordCode(found.text, parameters=found.parameters)

    def _size(self, column: str) -> int:
        """Return the number of distinct texts of a column, a null not counted."""
        if column not in self._sizes:
            self.dictionary(column)
        return self._sizes[column]

    def _code(self, column: str, text: str) -> str:
        """Return SQL for the position in a column's dictionary of what the expression ``text`` gives."""
        size = self._size(column)
        if size == 0:
            return "0"
        if size > ENUM_VALUES:
            return f"(dense_rank() OVER (ORDER BY {text} NULLS LAST) - 1)"
        return f"coalesce(enum_code({self._enumerated(self.position(column), text)})::INTEGER, {size})"

    def _code_of(self, index: int, codes: CodeArray) -> CodeSql:
        """Return SQL for the code of a column that has not too many texts.

        Parameters
        ----------
        codes: of each position in its dictionary, shape (distinct texts,), int32.
        """
        texts = [text for text, _ in self.dictionary(self.columns[index]) if text is not None]
        of_texts, found = codes[: len(texts)], None
        if not texts:
            return CodeSql(str(int(codes[0])))
        if self._whole[index]:
            found = code_of_number(f"c{index}", texts, of_texts)
        if found is None and len(texts) <= FEW:
            found = code_of_few(self._texts[index], texts, of_texts)
        if found is None:
            found = code_of_enumerated(self._enumerated(index, self._texts[index]), of_texts)
        return found.else_code(int(codes[-1])) if self._nullable[index] else found

    def _enumerated(self, index: int, text: str) -> str:
        """Return SQL for a text as a value of the column's enumeration, made when it is first asked for."""
        if index not in self._enumerations:
            known = (quoted(each) for each, _ in self.dictionary(self.columns[index]) if each is not None)
            self._database.run(f"CREATE TYPE e{index} AS ENUM ({', '.join(known)})")
            self._enumerations.add(index)
        return f"CAST({text} AS e{index})"
