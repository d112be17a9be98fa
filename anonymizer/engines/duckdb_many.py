"""Columns of the table ``records`` that may have more distinct texts than anyone wants to fetch."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

from anonymizer.engines.duckdb_database import Database
from anonymizer.engines.duckdb_spread import (
    PROBED,
    all_distinct_and_present,
    distinct_among_first,
    keys_by_hash,
    records_matching,
    spread_of_all_different,
    spread_of_many,
    texts_matching,
)
from anonymizer.engines.spread import ColumnStatistics
from anonymizer.model.arrays import IntArray

HASHED = 1 << 26
"""Up to this many records the hashes of a column are held in memory, 8 bytes each."""

MANY, SAMPLE = 1 << 20, 1 << 16
"""Records from which on counting looks at so many first whether most are distinct."""


class HighCardinalityColumns:
    """Counts columns without fetching their dictionaries.

    Parameters
    ----------
    database: stays the caller's.
    texts: SQL for the text of each column.
    rows: number of records.
    """

    def __init__(self, database: Database, texts: Sequence[str], rows: int) -> None:
        self._database = database
        self._texts = texts
        self._rows = rows
        self._distinct: dict[int, int] = {}

    def keys(self, column: int) -> IntArray | None:
        """Return an integer of each record by the hashes of the texts; None where these do not tell."""
        if self._rows > HASHED:
            return None
        if column not in self._distinct:
            query = f"SELECT count(*) FROM (SELECT DISTINCT {self._texts[column]} FROM records)"
            self._distinct[column] = int(self._database.rows(query)[0][0])
        return keys_by_hash(self._database, self._texts[column], self._distinct[column])

    def fetched(self, column: int, most: int) -> list[tuple[str | None, int]] | None:
        """Return the dictionary of a column, sorted, a null last; None where it has more texts than most."""
        if self._probed[column] > most:
            return None
        # One more than enough tells that there are too many, and spares fetching all.
        grouped = f"SELECT {self._texts[column]} AS t, count(*) FROM records GROUP BY t LIMIT {most + 1}"
        rows = self._database.rows(grouped)
        return None if len(rows) > most else sorted(rows, key=lambda row: (row[0] is None, row[0] or ""))

    def spread(self, column: int, limit: int, absent: Collection[str]) -> ColumnStatistics:
        """Return the spread of a column of which not all texts are fetched."""
        text = self._texts[column]
        likely = 10 * self._probed[column] > 9 * min(self._rows, PROBED)
        if likely and self._rows <= HASHED and all_distinct_and_present(self._database, text, absent):
            self._distinct[column] = self._rows
            return spread_of_all_different(self._database, text, limit, self._rows)
        found, self._distinct[column] = spread_of_many(self._database, text, limit, absent)
        return found

    def count_matching(self, column: int, pattern: str) -> int:
        """Return the records whose text matches a regular expression from end to end."""
        repeated = 2 * self._distinct.get(column, self._rows) <= self._rows
        count_matching = texts_matching if repeated else records_matching
        return count_matching(self._database, self._texts[column], pattern)

    def mostly_distinct(self, columns: Sequence[int]) -> bool:
        """Tell whether there are very many records, most of the first ones distinct in some columns."""
        if self._rows < MANY or not columns:
            return False
        texts = ", ".join(f"{self._texts[column]} AS t{place}" for place, column in enumerate(columns))
        first = f"SELECT DISTINCT * FROM (SELECT {texts} FROM records LIMIT {SAMPLE})"
        return 2 * int(self._database.rows(f"SELECT count(*) FROM ({first})")[0][0]) > SAMPLE

    @cached_property
    def _probed(self) -> list[int]:
        """About how many distinct texts each column has in the first records."""
        return distinct_among_first(self._database, self._texts)
