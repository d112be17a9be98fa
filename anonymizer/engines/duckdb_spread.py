"""How the records of a column of the table ``records`` are spread, counted by DuckDB."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from anonymizer.core.arrays import IntArray
from anonymizer.engines.duckdb_database import Database
from anonymizer.engines.duckdb_sql import quoted
from anonymizer.engines.spread import Spread, entropy_bits


def surely_many(database: Database, text: str, enough: int) -> bool:
    """Tell whether a few records already hold more distinct texts than that; False says nothing."""
    few = f"SELECT {text} AS t FROM records LIMIT {4 * enough}"
    return int(database.rows(f"SELECT count(DISTINCT t) FROM ({few})")[0][0]) > enough


def spread_of_many(database: Database, text: str, limit: int, absent: Collection[str]) -> Spread:
    """Return the spread of a column with more distinct texts than anyone wants to fetch.

    Parameters
    ----------
    text: SQL for the column's text.
    limit: distinct texts up to which all would be fetched; the sample is between one and two times as large.
    absent: texts that count as nulls.
    """
    if absent:
        text = f"(CASE WHEN {text} NOT IN ({', '.join(map(quoted, sorted(absent)))}) THEN {text} END)"
    [(distinct, singles, largest, records, scores, nulls)] = database.rows(
        "SELECT count(t), count(*) FILTER (t IS NOT NULL AND n = 1), "
        "coalesce(max(n) FILTER (t IS NOT NULL), 0), coalesce(sum(n) FILTER (t IS NOT NULL), 0), "
        "coalesce(sum(n * log2(n)) FILTER (t IS NOT NULL), 0), coalesce(sum(n) FILTER (t IS NULL), 0) "
        f"FROM (SELECT {text} AS t, count(*) AS n FROM records GROUP BY t)"
    )
    share = max(distinct // limit, 1)
    sample = database.rows(
        f"SELECT {text} AS t, count(*) FROM records WHERE hash({text}) % {share} = 0 AND {text} IS NOT NULL "
        "GROUP BY t ORDER BY t"
    )
    entropy = entropy_bits(int(records), float(scores))
    return Spread(distinct, singles, largest, int(nulls), entropy, tuple(sample))


def records_matching(database: Database, text: str, pattern: str) -> int:
    """Return the records whose text matches a regular expression of RE2 from end to end."""
    query = f"SELECT count(*) FROM records WHERE regexp_full_match({text}, {quoted(pattern)})"
    return int(database.rows(query)[0][0])


def keys_by_hash(database: Database, text: str) -> IntArray | None:
    """Return an integer of each record, the same where the texts are; None where two texts have one hash."""
    hashes = database.arrays(f"SELECT hash({text}) AS h FROM records")["h"]
    found, keys = np.unique(hashes, return_inverse=True)
    query = f"SELECT count(DISTINCT {text}) + max(CASE WHEN {text} IS NULL THEN 1 ELSE 0 END) FROM records"
    if len(found) != int(database.rows(query)[0][0]):
        return None
    return keys.astype(np.int64, copy=False)
