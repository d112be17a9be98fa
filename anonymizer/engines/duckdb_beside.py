"""The records of a relation of DuckDB written together with those of a file, out of core."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from anonymizer.engines.beside import AppendedFile, AppendWriter
from anonymizer.engines.duckdb import DuckRelation
from anonymizer.engines.duckdb_csv import load_csv
from anonymizer.engines.duckdb_database import Database
from anonymizer.engines.duckdb_parquet import load_parquet
from anonymizer.engines.duckdb_sql import copy_csv, copy_parquet, quoted, text_of
from anonymizer.engines.options import CsvDialect
from anonymizer.errors import DataError

FIRST, FURTHER = "first_records", "further_records"


@dataclass(frozen=True)
class Union:
    """Two tables with the same columns.

    Attributes
    ----------
    records: SQL for the records of both as c0, c1, …
    texts: SQL for the text of each column.
    """

    records: str
    texts: tuple[str, ...]

    def ordered(self, secret: bytes | None) -> str:
        """Return SQL for the records in the order that ``AppendWriter`` describes."""
        if secret is not None:
            # Nobody who lacks the secret tells the order of the sums, whatever is known of the records.
            numbered = f"SELECT *, row_number() OVER () AS number FROM {self.records}"
            key = f"unhex(sha256({quoted(secret.hex())} || number))"
            return f"(SELECT * FROM ({numbered}) ORDER BY {key})"
        # Records that differ only in a null against an empty text must not stay as they came.
        keys = [f"coalesce({text}, '')" for text in self.texts]
        nulls = [f"c{index} IS NULL" for index in range(len(self.texts))]
        return f"(SELECT * FROM {self.records} ORDER BY {', '.join(chain(keys, nulls))})"


class DuckBesideWriter(AppendWriter):
    """Sorts in a database, which spills what does not fit its memory.

    Parameters
    ----------
    relation: stays the caller's.
    database: of the relation.
    """

    def __init__(self, relation: DuckRelation, database: Database) -> None:
        self._relation = relation
        self._database = database

    def write_csv(self, further: AppendedFile, path: Path, separator: str, secret: bytes | None) -> None:
        """Write CSV: quotes where needed, nothing at all for a null or an empty text."""
        with self._with(further) as union:
            columns = self._relation.columns
            statement = copy_csv(columns, union.texts, path, separator, union.ordered(secret))
            self._copy(statement, path)

    def write_parquet(self, further: AppendedFile, path: Path, secret: bytes | None) -> None:
        """Write Parquet."""
        with self._with(further) as union:
            columns = self._relation.columns
            values = [f"c{index}" for index in range(len(columns))]
            self._copy(copy_parquet(columns, values, path, union.ordered(secret)), path)

    def _copy(self, statement: str, path: Path) -> None:
        source = self._database.source
        try:
            self._database.copy(statement, [], path)
        finally:
            # A file that is another one by now may be why it failed, or what was written.
            if source is not None:
                source.check()

    @contextmanager
    def _with(self, further: AppendedFile) -> Iterator[Union]:
        """Let both be known in one database for a while; where that fails, the relation is of no more use."""
        database, source = self._database, self._database.source
        types, kind = _types(database), _kind(database)
        database.run(f"ALTER {kind} records RENAME TO {FIRST}")
        database.source = None
        other = self._loaded(further.path)
        further.compare(other)
        other_kind = _kind(database)
        database.source = source
        database.run(f"ALTER {other_kind} records RENAME TO {FURTHER}")
        yield self._union(other, types, _types(database, FURTHER))
        database.run(f"DROP {other_kind} {FURTHER}")
        database.run(f"ALTER {kind} {FIRST} RENAME TO records")

    def _loaded(self, further: Path) -> DuckRelation:
        """Load the file into the table ``records``."""
        separator = self._relation.separator
        if separator is None:
            return load_parquet(self._database, further, further.parent)
        return load_csv(self._database, further, CsvDialect(separator), further.parent)

    def _union(self, other: DuckRelation, types: Sequence[str], found: Sequence[str]) -> Union:
        _check_alike(self._relation, types, other, found)
        columns = self._relation.columns
        names = ", ".join(f"c{other.position(name)}" for name in columns)
        records = f"(SELECT * FROM {FIRST} UNION ALL SELECT {names} FROM {FURTHER})"
        return Union(records, tuple(text_of(f"c{index}", kind) for index, kind in enumerate(types)))


def _check_alike(one: DuckRelation, types: Sequence[str], other: DuckRelation, found: Sequence[str]) -> None:
    """Check that two relations have the same columns with the same types."""
    if set(one.columns) != set(other.columns):
        raise DataError(
            f"{other.name}: has columns {', '.join(other.columns)}; {one.name} has {', '.join(one.columns)}"
        )
    kinds = dict(zip(other.columns, found, strict=True))
    for name, kind in zip(one.columns, types, strict=True):
        if kinds[name] != kind:
            raise DataError(
                f"{other.name}: column '{name}' holds {kinds[name]}, in {one.name} {kind}; "
                "write both inputs with one type for it, or as .csv"
            )


def _types(database: Database, table: str = "records") -> list[str]:
    return [str(row[1]) for row in database.rows(f"DESCRIBE {table}")]


def _kind(database: Database) -> str:
    """Return what ``records`` is: a view where a file is read again."""
    return "TABLE" if database.source is None else "VIEW"
