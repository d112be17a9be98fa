"""Regions that DuckDB keeps of combinations, and those that they are in at the end."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from itertools import count

import numpy as np

from anonymizer.engines.duckdb_database import Database
from anonymizer.engines.duckdb_lookup import Sql, word_sql
from anonymizer.engines.duckdb_regions import DuckRegions
from anonymizer.engines.places import packed
from anonymizer.model.arrays import IntArray
from anonymizer.model.out_of_core import CodedRows, FirstRegions, RegionRows

_END_NUMBERS = count()
"""Names of tables, of which two share none."""


class EndingRegions(DuckRegions):
    """Regions whose combinations are written down once more, with the region at the end.

    Parameters
    ----------
    database, table, sizes, first, coded: as for ``DuckRegions``.
    """

    def __init__(
        self, database: Database, table: str, sizes: Sequence[int], first: FirstRegions, coded: CodedRows
    ) -> None:
        super().__init__(database, table, sizes, first, coded)
        self._words_of_codes = [
            Sql.filled(f"{{}} AS c{place}", word_sql(self._places, word, f"a{place}"))
            for place, word in enumerate(coded.words)
        ]
        self._ends: EndingRegions | None = None
        self._known = 0

    @property
    def keyed(self) -> tuple[str, tuple[str, ...]]:
        """The table with a region for each combination, and the names of its keys; asked of ends."""
        return self._table, self._names

    def ends(self, ended: IntArray) -> EndingRegions:
        """Return the regions at the end, which have a table of their own."""
        ends = copy(self)
        ends._table, ends._own, ends._told = f"ends{next(_END_NUMBERS)}", True, True
        ends._cuts, ends._sides, ends._numbers = [], None, np.arange(len(ended))
        ends._words = self._words_of_codes
        columns = ", ".join(f"{name} BIGINT" for name in (*self._names, "n"))
        self._database.run(f"CREATE TABLE {ends._table} ({columns}, region INTEGER)")
        self._ends, self._known = ends, len(ended)
        if len(ended):
            rows = self._whole(ended)
            told = f"INSERT INTO {ends._table} SELECT {self._keys}, n, own.new FROM ({rows.text}) AS rows"
            numbers = {"old": ended, "new": np.arange(len(ended))}
            with (
                rows.holding(self._database),
                self._database.holding("asked", {"number": ended}),
                self._database.holding("own", numbers),
            ):
                self._database.run(f"{told} JOIN own ON rows.region = own.old", rows.parameters)
        return ends

    def note(self, rows: RegionRows, region: IntArray) -> None:
        """Write down the region of each of some rows."""
        if self._ends is None:
            return
        keys = packed(self._places, rows.codes)
        noted = dict(zip(self._names, keys, strict=True)) | {"n": rows.counts, "region": region + self._known}
        with self._database.holding("noted", noted):
            self._database.run(f"INSERT INTO {self._ends._table} SELECT {self._keys}, n, region FROM noted")
        self._known += int(region.max()) + 1
        self._ends._numbers = np.arange(self._known)
