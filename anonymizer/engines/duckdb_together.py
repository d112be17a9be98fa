"""The records of two files as one relation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from anonymizer.engines.duckdb import DuckRelation
from anonymizer.engines.duckdb_database import Database
from anonymizer.errors import DataError

Load = Callable[[Database, Path], DuckRelation]
"""Loads a file into the table ``records`` of a database; takes a folder for temporary files too."""


def load_together(
    database: Database, first: Load, second: Load, folder: Path, sha256: str | None
) -> DuckRelation:
    """Load two files with the same columns, in whatever order, into one table in the order of the first.

    Parameters
    ----------
    sha256: of the first file when it was read before; None where it was not.

    Raises
    ------
    DataError: the first is another file by now, they have other columns, or one that holds another type in
        each; or as the loads do.
    """
    one = first(database, folder)
    one.load()
    if sha256 is not None and one.sha256 != sha256:
        raise DataError(f"{one.name}: changed since it was read before; start again, or on a copy")
    types = _types(database)
    database.run("ALTER TABLE records RENAME TO first_records")
    other = second(database, folder)
    other.load()
    _check_alike(one, types, other, _types(database))
    names = ", ".join(f"c{other.position(name)}" for name in one.columns)
    database.run("ALTER TABLE records RENAME TO second_records")
    database.run(
        f"CREATE TABLE records AS SELECT * FROM first_records UNION ALL SELECT {names} FROM second_records"
    )
    for table in ("first_records", "second_records"):
        database.run(f"DROP TABLE {table}")
    return DuckRelation(database, one.name, one.columns, separator=one.separator)


def _check_alike(one: DuckRelation, types: Sequence[str], other: DuckRelation, found: Sequence[str]) -> None:
    """Check that two files have the same columns with the same types."""
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


def _types(database: Database) -> list[str]:
    return [str(row[1]) for row in database.rows("DESCRIBE records")]
