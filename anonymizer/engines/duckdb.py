"""Relations inside the process, in DuckDB."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.engines.base import Relation
from anonymizer.engines.beside import AppendWriter
from anonymizer.engines.coding import Coding, fitting
from anonymizer.engines.duckdb_codes import told_codes
from anonymizer.engines.duckdb_combinations import DuckCombinations, RecordCode, by_text, counted_records
from anonymizer.engines.duckdb_counted import DuckWriter
from anonymizer.engines.duckdb_database import Database
from anonymizer.engines.duckdb_many import HighCardinalityColumns
from anonymizer.engines.duckdb_packed import PackedQuery
from anonymizer.engines.duckdb_plan import plan, sources
from anonymizer.engines.duckdb_recoded import DuckRecodedWriter, RecordColumns
from anonymizer.engines.duckdb_sql import WIDE, as_few_keys, copy_csv, copy_parquet
from anonymizer.engines.duckdb_values import ColumnValues
from anonymizer.engines.file_source import FileSource
from anonymizer.engines.packed_groups import packed_groups
from anonymizer.engines.rows import Groups, Projection
from anonymizer.engines.spread import ColumnStatistics, column_statistics
from anonymizer.model.arrays import CodeArray, IntArray
from anonymizer.model.counting import SPACE, Packing


class DuckRelation(Relation):
    """An input in the table ``records`` of a database, whose columns are c0, c1, … in its order.

    Where a file can be read again, ``records`` is a view of it until records are asked for.

    Parameters
    ----------
    database: owned from now on, and closed with the relation.
    name, columns, sha256, separator: as for every relation.
    source: the file that the view reads again; None where ``records`` holds what was read.
    watched: files and folders that must be the same for as long as the relation is in use.
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
        watched: Sequence[FileSource] = (),
    ) -> None:
        self._database = database
        self._watched = watched
        database.source = source
        self.name = name
        self.columns = tuple(columns)
        self.sha256 = sha256
        self.separator = separator
        self.rows = int(database.rows("SELECT count(*) FROM records")[0][0])
        self._values = ColumnValues(database, self.rows)
        self._codes_together: dict[int, Any] = {}
        self._many = HighCardinalityColumns(database, self._values.texts, self.rows)

    def dictionary(self, column: str) -> list[tuple[str | None, int]]:
        """Return the distinct texts of a column with their records, sorted, a null last."""
        return self._values.dictionary(self.position(column))

    def codes(self, column: str) -> CodeArray:
        """Return each record's position in the column's dictionary, shape (records,), int32."""
        index = self.position(column)
        if self._values.many(index):
            # Ranking puts the records in another order, where looking them up does not.
            self.load()
            ranked = f"dense_rank() OVER (ORDER BY {self._values.texts[index]} NULLS LAST) - 1"
            fetched = self._database.arrays(f"SELECT {ranked} AS k FROM records ORDER BY rowid")
            return self._whole_codes(fetched["k"])
        if index not in self._codes_together:
            # Columns of a short, wide table together: see ``ColumnValues``.
            indices = [each for each in self._values.neighbours(index, WIDE) if not self._values.many(each)]
            found = [self._values.positions(each) for each in indices]
            terms = ", ".join(f"{each.text} AS k{place}" for place, each in enumerate(found))
            parameters = [value for each in found for value in each.parameters]
            fetched = self._database.arrays(f"SELECT {terms} FROM records", parameters)
            self._codes_together = {each: fetched[f"k{place}"] for place, each in enumerate(indices)}
        return self._whole_codes(self._codes_together.pop(index))

    def _whole_codes(self, fetched: Any) -> CodeArray:
        return told_codes(self.name, fetched).astype(np.int32, copy=False)

    def packed(self, codings: Sequence[Coding]) -> Packing:
        """Return the codes of columns packed by the engine, as far as they fit one integer."""
        if any(self._values.many(self.position(coding.name)) for coding in codings):
            return super().packed(codings)
        first = codings[: fitting(codings, SPACE)]
        query = PackedQuery()
        for place, coding in enumerate(first):
            index = self.position(coding.name)
            found = self._values.number_codes(index, coding.codes) or self._values.code(index, coding.codes)
            query.add(found, prod(each.size for each in first[place + 1 :]))
        packing = Packing.of(query.keys(self._database, self.name), [coding.size for coding in first])
        for coding in codings[len(first) :]:
            packing.add(coding.codes[self.codes(coding.name)], coding.size)
        return packing

    def keys(self, column: str) -> IntArray:
        """Return an integer of each record: by the hashes of the texts, if these differ."""
        index = self.position(column)
        found = None if self._values.known(index) else self._many.keys(index)
        return super().keys(column) if found is None else found

    def spread(self, column: str, limit: int, absent: Collection[str] = ()) -> ColumnStatistics:
        """Return how records are spread over the texts of a column."""
        index = self.position(column)
        if not self._values.known(index) and not self._values.few_cells(index):
            rows = self._many.fetched(index, limit + len(absent) + 1)
            if rows is None:
                return self._many.spread(index, limit, absent)
            self._values.remember(index, rows)
        return column_statistics(self.dictionary(column), limit, absent)

    def count_matching(self, column: str, pattern: str) -> int:
        """Return the records whose text matches a regular expression from end to end."""
        return self._many.count_matching(self.position(column), pattern)

    def group_counts(self, columns: Sequence[str]) -> Groups:
        """Return the distinct combinations of texts: by a GROUP BY of texts, of very many by packed codes."""
        if self._many.mostly_distinct([self.position(column) for column in columns]):
            return packed_groups(self, columns)
        values = tuple(tuple(text for text, _ in self.dictionary(column)) for column in columns)
        indices = list(map(self.position, columns))
        texts = ", ".join(f"{self._values.texts[index]} AS c{index}" for index in indices)
        codes = ", ".join(f"{self._values.place(index, f'c{index}')} AS c{index}" for index in indices)
        grouped = self._database.arrays(
            f"SELECT {codes}, n FROM (SELECT {texts}, count(*) AS n FROM records GROUP BY ALL)"
        )
        matrix = np.column_stack([grouped[f"c{index}"] for index in indices]).astype(np.int32, copy=False)
        return Groups(values, matrix, grouped["n"].astype(np.int64, copy=False))

    def stored_distinct_rows(self, codings: Sequence[Coding]) -> DuckCombinations:
        """Return the distinct combinations of the codes of columns, counted and kept by the database."""
        return counted_records(self._database, codings, self._coded)

    def estimated_combinations(self, columns: Sequence[str]) -> int:
        """Return about how many distinct combinations columns have, by a sketch of all records."""
        values = ", ".join(f"c{self.position(column)}" for column in columns)
        return int(self._database.rows(f"SELECT approx_count_distinct(hash({values})) FROM records")[0][0])

    def check_unchanged(self) -> None:
        """Check that what was read is still there as it was, so that its hash in a report can be found."""
        for each in self._watched:
            each.check()

    @property
    def writer(self) -> DuckWriter:
        """What writes counted rows, with the same database."""
        return DuckWriter(self._database)

    @property
    def append_writer(self) -> AppendWriter:
        """What writes the records together with those of a file, in the same database."""
        from anonymizer.engines.duckdb_beside import DuckBesideWriter  # noqa: PLC0415 - reads relations too

        return DuckBesideWriter(self, self._database)

    @property
    def recoded_writer(self) -> DuckRecodedWriter:
        """What writes the records as recoded, by a join in the database."""
        columns = RecordColumns(self.columns, self._values.texts, self._values.nullable)
        return DuckRecodedWriter(self._database, columns, self._coded)

    def is_text(self, column: str) -> bool:
        """Tell whether the values of a column are texts."""
        return self._values.holds_texts[self.position(column)]

    def holds_texts(self, column: str) -> bool:
        """Tell whether the values of a column are texts in every record."""
        index = self.position(column)
        return self._values.holds_texts[index] and not self._values.nullable(index)

    def sorted_rows(self, projection: Projection) -> IntArray:
        """Return the numbers of the published records, sorted by what is published of them."""
        # Records that differ only in a null against an empty text must not stay as they came.
        unchanged = [
            self.position(each) for each in projection.columns if each not in projection.replacements
        ]
        nulls = [f"c{index} IS NULL" for index in unchanged if self._values.nullable(index)]
        keys = self._sort_keys(projection)
        self.load()
        with self._database.holding("plan", plan(projection, kept=projection.kept)):
            fetched = self._database.arrays(
                "SELECT r FROM (SELECT *, records.rowid AS r FROM records POSITIONAL JOIN plan) "
                f"WHERE kept ORDER BY {', '.join(keys + as_few_keys(nulls))}"
            )
        rows: IntArray = fetched["r"].astype(np.int64, copy=False)
        return rows

    def _sort_keys(self, projection: Projection) -> list[str]:
        """Return SQL for what the published columns are sorted by, left to right."""
        keys: list[str] = []
        for replaced, run in groupby(
            enumerate(projection.columns), lambda each: each[1] in projection.replacements
        ):
            if replaced:
                keys += [f"r{place}" for place, _ in run]
            else:
                texts = [self._values.texts[self.position(column)] for _, column in run]
                keys += as_few_keys([f"coalesce({text}, '')" for text in texts])
        return keys

    def write_csv(self, projection: Projection, rows: IntArray, path: Path, separator: str) -> None:
        """Write records as CSV: quotes where needed, nothing at all for a null or an empty text."""
        label = "CAST(list_extract(?, {} + 1) AS VARCHAR)"
        texts = sources(projection, lambda name: self._values.texts[self.position(name)], label)
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
        if self._values.many(index):
            return by_text(
                self._database, self._values.texts[index], self.dictionary(coding.name), coding.codes
            )
        found = self._values.code(index, coding.codes)
        return RecordCode(found.text, parameters=found.parameters)
