"""Relations inside the process, in DuckDB."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from anonymizer.core.arrays import CodeArray, IntArray
from anonymizer.engines.base import Groups, Projection, Relation
from anonymizer.engines.duckdb_database import Database
from anonymizer.engines.duckdb_spread import keys_by_hash, records_matching, spread_of_many, surely_many
from anonymizer.engines.duckdb_sql import copy_csv, copy_parquet, quoted, text_of
from anonymizer.engines.spread import Spread, spread_of
from anonymizer.errors import OutputError

ENUM_VALUES = 20_000
"""Up to this many distinct values an enumeration finds positions faster than ranking all records does."""


class DuckRelation(Relation):
    """An input loaded into the table ``records`` of a database, whose columns are c0, c1, … in its order.

    Parameters
    ----------
    database: owned from now on, and closed with the relation.
    name, columns, sha256, separator: as for every relation.
    """

    def __init__(
        self,
        database: Database,
        name: str,
        columns: Sequence[str],
        *,
        sha256: str | None = None,
        separator: str | None = None,
    ) -> None:
        self._database = database
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
        self._enumerated: set[int] = set()
        described = database.rows("DESCRIBE records")
        self._texts = [text_of(f"c{index}", str(row[1])) for index, row in enumerate(described)]

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
        code = self._code(column, self._texts[self.position(column)])
        # Ranking puts the records in another order, where looking them up does not.
        order = "ORDER BY rowid" if self._size(column) > ENUM_VALUES else ""
        fetched = self._database.arrays(f"SELECT {code} AS k FROM records {order}")
        codes: CodeArray = fetched["k"].astype(np.int32, copy=False)
        return codes

    def keys(self, column: str) -> IntArray:
        """Return an integer of each record: in a column of many texts by their hashes, if these differ."""
        if column not in self._dictionaries:
            found = keys_by_hash(self._database, self._texts[self.position(column)])
            if found is not None:
                return found
        return super().keys(column)

    def spread(self, column: str, limit: int, absent: Collection[str] = ()) -> Spread:
        """Return how records are spread over the texts of a column."""
        text = self._texts[self.position(column)]
        enough = limit + len(absent) + 1
        if column not in self._dictionaries:
            if surely_many(self._database, text, enough):
                return spread_of_many(self._database, text, limit, absent)
            # One more than enough tells that there are too many, and spares fetching all.
            grouped = f"SELECT {text} AS t, count(*) FROM records GROUP BY t LIMIT {enough + 1}"
            rows = self._database.rows(grouped)
            if len(rows) > enough:
                return spread_of_many(self._database, text, limit, absent)
            self._remember(column, sorted(rows, key=lambda row: (row[0] is None, row[0] or "")))
        return spread_of(self._dictionaries[column], limit, absent)

    def matching(self, column: str, pattern: str) -> int:
        """Return the records whose text matches a regular expression from end to end."""
        return records_matching(self._database, self._texts[self.position(column)], pattern)

    def group_counts(self, columns: Sequence[str]) -> Groups:
        """Return the distinct combinations of texts, found by a plain GROUP BY over the texts themselves."""
        values = tuple(tuple(text for text, _ in self.dictionary(column)) for column in columns)
        indices = [self.position(column) for column in columns]
        texts = ", ".join(f"{self._texts[index]} AS c{index}" for index in indices)
        codes = ", ".join(f"{self._code(self.columns[index], f'c{index}')} AS c{index}" for index in indices)
        grouped = self._database.arrays(
            f"SELECT {codes}, n FROM (SELECT {texts}, count(*) AS n FROM records GROUP BY ALL)"
        )
        matrix = np.column_stack([grouped[f"c{index}"] for index in indices]).astype(np.int32, copy=False)
        return Groups(values, matrix, grouped["n"].astype(np.int64, copy=False))

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
        with self._database.holding("plan", self._plan(projection, kept=projection.kept)):
            fetched = self._database.arrays(
                "SELECT r FROM (SELECT *, records.rowid AS r FROM records POSITIONAL JOIN plan) "
                f"WHERE kept ORDER BY {', '.join(keys + nulls)}"
            )
        rows: IntArray = fetched["r"].astype(np.int64, copy=False)
        return rows

    def write_csv(self, projection: Projection, rows: IntArray, path: Path, separator: str) -> None:
        """Write records as CSV: quotes where needed, nothing at all for a null or an empty text."""
        texts = self._sources(projection, self._texts, "CAST(list_extract(?, {} + 1) AS VARCHAR)")
        self._copy(projection, rows, copy_csv(projection.columns, texts, path, separator), path)

    def write_parquet(self, projection: Projection, rows: IntArray, path: Path) -> None:
        """Write records as Parquet; replaced columns have their labels' type, others their own and nulls."""
        columns = [f"c{index}" for index in range(len(self.columns))]
        values = self._sources(projection, columns, "list_extract(?, {} + 1)")
        self._copy(projection, rows, copy_parquet(projection.columns, values, path), path)

    def close(self) -> None:
        """Give back memory and temporary files; a second call does nothing."""
        self._database.close()

    def _sources(self, projection: Projection, unchanged: Sequence[str], label: str) -> list[str]:
        """Return SQL for each released column: its label, a parameter's element, or what stays unchanged."""
        return [
            label.format(f"r{place}")
            if column in projection.replacements
            else unchanged[self.position(column)]
            for place, column in enumerate(projection.columns)
        ]

    def _copy(self, projection: Projection, rows: IntArray, statement: str, path: Path) -> None:
        place = np.full(self.rows, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows), dtype=np.int64)
        replaced = [column for column in projection.columns if column in projection.replacements]
        labels = [list(projection.replacements[column].labels) for column in replaced]
        with self._database.holding("plan", self._plan(projection, place=place)):
            try:
                self._database.run(statement, labels)
            except duckdb.IOException as error:
                reason = str(error).split("\n", 1)[0].rpartition(": ")[2]
                raise OutputError(f"{path.name}: cannot be written: {reason}; is there space left?") from None

    def _plan(self, projection: Projection, **arrays: Any) -> dict[str, Any]:
        """Return per-record arrays together with the codes of replaced columns as r0, r1, …"""
        codes = {
            f"r{projection.columns.index(name)}": new.codes for name, new in projection.replacements.items()
        }
        return {**arrays, **codes}

    def _size(self, column: str) -> int:
        """Return the number of distinct texts of a column, a null not counted."""
        if column not in self._sizes:
            self.dictionary(column)
        return self._sizes[column]

    def _code(self, column: str, text: str) -> str:
        """Return SQL for the position in a column's dictionary of what the expression ``text`` gives."""
        index = self.position(column)
        size = self._size(column)
        if size == 0:
            return "0"
        if size > ENUM_VALUES:
            return f"(dense_rank() OVER (ORDER BY {text} NULLS LAST) - 1)"
        if index not in self._enumerated:
            known = (quoted(each) for each, _ in self.dictionary(column) if each is not None)
            self._database.run(f"CREATE TYPE e{index} AS ENUM ({', '.join(known)})")
            self._enumerated.add(index)
        return f"coalesce(enum_code(CAST({text} AS e{index}))::INTEGER, {size})"
