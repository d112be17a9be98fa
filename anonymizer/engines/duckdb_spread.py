"""How the records of a column of the table ``records`` are spread, counted by DuckDB."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from anonymizer.engines.duckdb_database import Database
from anonymizer.engines.duckdb_sql import quoted
from anonymizer.engines.spread import ColumnStatistics, entropy_bits
from anonymizer.model.arrays import IntArray

BUCKETS = 1 << 21
"""Places of the table that finds hashes, a power of two, at most."""

PROBED = 20_000
"""Records that are looked at to guess which columns have many distinct texts."""


def distinct_among_first(database: Database, texts: Sequence[str]) -> list[int]:
    """Return about how many distinct texts of each column, given by SQL, the first records hold."""
    columns = ", ".join(f"{text} AS t{index}" for index, text in enumerate(texts))
    counts = ", ".join(f"approx_count_distinct(t{index})" for index in range(len(texts)))
    query = f"SELECT {counts} FROM (SELECT {columns} FROM records LIMIT {PROBED})"
    return [int(count) for count in database.rows(query)[0]]


def all_distinct_and_present(database: Database, text: str, absent: Collection[str]) -> bool:
    """Tell whether surely no two records have the same text, and none an absent one; False says nothing.

    Different hashes prove different texts, and take less time and memory than the texts.
    """
    listed = ", ".join(f"({quoted(each)})" for each in sorted(absent))
    null = "SELECT hash(NULL::VARCHAR) AS h"
    others = f" UNION ALL SELECT hash(t) FROM (VALUES {listed}) AS absent(t)" if absent else ""
    unwanted = database.arrays(null + others)["h"]
    hashes = database.arrays(f"SELECT hash({text}) AS h FROM records")["h"]
    hashes.sort()
    if (hashes[1:] == hashes[:-1]).any():
        return False
    places = np.minimum(np.searchsorted(hashes, unwanted), len(hashes) - 1)
    return not (hashes[places] == unwanted).any()


def spread_of_many(
    database: Database, text: str, limit: int, absent: Collection[str]
) -> tuple[ColumnStatistics, int]:
    """Return the spread of a column with more distinct texts than anyone wants to fetch, and their number.

    The number is of all texts, absent ones and a null included.

    Parameters
    ----------
    text: SQL for the column's text.
    limit: distinct texts up to which all would be fetched; the sample is between one and two times as large.
    absent: texts that count as nulls.
    """
    found, texts = _counts_of_many(database, text, absent)
    share = max(found.distinct // limit, 1)
    sample = database.rows(
        f"SELECT {text} AS t, count(*) FROM records WHERE hash({text}) % {share} = 0 AND {text} IS NOT NULL "
        "GROUP BY t ORDER BY t"
    )
    return replace(found, sample=tuple(entry for entry in sample if entry[0] not in absent)), texts


def spread_of_all_different(database: Database, text: str, limit: int, rows: int) -> ColumnStatistics:
    """Return the spread of a column without any null whose texts all differ; the parameters are as above."""
    share = max(rows // limit, 1)
    sample = database.rows(f"SELECT {text} AS t, 1 FROM records WHERE hash({text}) % {share} = 0 ORDER BY t")
    return ColumnStatistics(rows, rows, min(rows, 1), 0, entropy_bits(rows, 0.0), tuple(sample))


def _counts_of_many(database: Database, text: str, absent: Collection[str]) -> tuple[ColumnStatistics, int]:
    """Return a spread without its sample, and the number of all texts, absent ones and a null included."""
    # What counts as a null is told apart after grouping, when there are fewer texts to compare.
    present = "t IS NOT NULL"
    if absent:
        present += f" AND t NOT IN ({', '.join(map(quoted, sorted(absent)))})"
    grouped = f"SELECT {text} AS t, count(*) AS n FROM records GROUP BY t"
    sizes = database.rows(f"SELECT {present} AS p, n, count(*) FROM ({grouped}) GROUP BY ALL")
    texts = sum(count for _, _, count in sizes)
    nulls = sum(n * count for is_present, n, count in sizes if not is_present)
    counts = {n: count for is_present, n, count in sizes if is_present}
    records = sum(n * count for n, count in counts.items())
    scores = math.fsum(count * n * math.log2(n) for n, count in counts.items())
    entropy = entropy_bits(records, scores)
    found = ColumnStatistics(
        sum(counts.values()), counts.get(1, 0), max(counts, default=0), nulls, entropy, ()
    )
    return found, texts


def records_matching(database: Database, text: str, pattern: str) -> int:
    """Return the records whose text matches a regular expression of RE2 from end to end."""
    query = f"SELECT count(*) FROM records WHERE regexp_full_match({text}, {quoted(pattern)})"
    return int(database.rows(query)[0][0])


def texts_matching(database: Database, text: str, pattern: str) -> int:
    """Return the same by matching each distinct text, which costs less where they are few."""
    grouped = f"SELECT {text} AS t, count(*) AS n FROM records GROUP BY t"
    query = f"SELECT coalesce(sum(n), 0) FROM ({grouped}) WHERE regexp_full_match(t, {quoted(pattern)})"
    return int(database.rows(query)[0][0])


def keys_by_hash(database: Database, text: str, texts: int) -> IntArray | None:
    """Return an integer of each record, the same where the texts are; None where two texts have one hash.

    Parameters
    ----------
    texts: number of distinct ones, a null included.
    """
    hashes = database.arrays(f"SELECT hash({text}) AS h FROM records")["h"]
    ascending = np.sort(hashes)
    distinct = ascending[np.append(True, ascending[1:] != ascending[:-1])]
    return _ranks(distinct, hashes) if len(distinct) == texts else None


def _ranks(distinct: NDArray[np.uint64], hashes: NDArray[np.uint64]) -> IntArray:
    """Return the place of each hash among the distinct ones, ascending; by a table where they allow it."""
    # Few hashes get a table that stays in the cache, and are spread in it as thinly as many.
    buckets = min(BUCKETS, 1 << (32 * len(distinct)).bit_length())
    mask = np.uint64(buckets - 1)
    table = np.zeros(buckets, dtype=np.int32)
    table[distinct & mask] = np.arange(len(distinct))
    found: IntArray = table[hashes & mask].astype(np.int64)
    others = np.flatnonzero(distinct[found] != hashes)
    found[others] = np.searchsorted(distinct, hashes[others])
    return found
