"""Releases as tables of databases, created in one transaction: what all share, and those of DuckDB files.

The transaction is committed after all other files are in place. The digest of a table does not depend on the
order of its rows.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from anonymizer.data.duckdb.database import Database, parquet
from anonymizer.data.duckdb.relation import DuckError, reason_of
from anonymizer.data.duckdb.types import Storage, stored_value
from anonymizer.data.open import OPTIONS, open_file
from anonymizer.data.relation import Projection, Relation, ReleaseQuery
from anonymizer.data.source import EngineOptions, TableName, identifier, quoted
from anonymizer.errors import DataError, OutputError
from anonymizer.system import Closing, check_file


def table_digest(relation: Relation, scratch: Path) -> str:
    """Return the SHA-256 of a relation as CSV with its rows sorted: the same for any order of the rows.

    It equals the digest of the same rows in a file of ``output: {path: release.csv}``.

    Parameters
    ----------
    scratch: a folder for a temporary file.
    """
    everything = Projection(relation.columns, {}, np.ones(relation.rows, dtype=np.bool_))
    path = scratch / "digest.csv"
    relation.records_query(everything).copy(path, ",")
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    finally:
        path.unlink()


WHOLE_NUMBER = "0|-?[1-9][0-9]{0,17}"
"""Texts that the type BIGINT writes in the same way."""


ROWS = "staged.main.release"
"""The table of a staged release, once its file is attached."""


def stage(release: ReleaseQuery, folder: Path, whole: Sequence[str], options: EngineOptions) -> Path:
    """Write a release into a DuckDB file in a folder, from which a table is made; it has all types.

    Recoded columns are texts; those of whole numbers whose values nobody generalized become numbers again.

    Parameters
    ----------
    whole: columns that had whole numbers.
    """
    path = folder / "release.duckdb"
    path.unlink(missing_ok=True)
    written = release.stage(folder)
    with Database(options) as database:
        database.run("SET TimeZone = 'UTC'")
        database.copy(f"ATTACH {quoted(path)} AS staged (STORAGE_VERSION 'latest')", [], path)
        if written != path:
            rows = parquet(quoted(written))
            database.copy(f"CREATE TABLE {ROWS} AS FROM {rows}", [], path)
            written.unlink()
        _restore_whole_numbers(database, whole, path)
        database.copy("DETACH staged", [], path)
    return path


def _restore_whole_numbers(database: Database, names: Sequence[str], path: Path) -> None:
    """Store texts as whole numbers again, column by column, if all of them are."""
    kinds = {str(row[0]): str(row[1]) for row in database.rows(f"DESCRIBE {ROWS}")}
    for name in names:
        if kinds.get(name) != "VARCHAR":
            continue
        fit = f"coalesce(bool_and(regexp_full_match({identifier(name)}, {quoted(WHOLE_NUMBER)})), false)"
        if database.rows(f"SELECT {fit} FROM {ROWS}")[0][0]:
            database.copy(f"ALTER TABLE {ROWS} ALTER COLUMN {identifier(name)} TYPE BIGINT", [], path)


def typed_copy(database: Database, table: str, path: Path, storage: Storage) -> None:
    """Write a table to Parquet, with texts in place of values that Parquet, or the storage, has not."""
    described = [(str(row[0]), str(row[1])) for row in database.rows(f"DESCRIBE {table}")]
    values = ", ".join(
        f"{stored_value(identifier(name), kind, storage)} AS {identifier(name)}" for name, kind in described
    )
    database.copy(f"COPY (SELECT {values} FROM {table}) TO {quoted(path)} (FORMAT parquet)", [], path)


COMMENT = "anonymizer release"
"""Beginning of the comment of a released table; a table without it is never replaced."""


class ReleaseTable(Closing):
    """A table that a release is written to: ``write``, ``read`` and ``commit`` in a with statement.

    Nobody else sees the table before ``commit``; leaving without it undoes everything.

    Attributes
    ----------
    source: the database in messages, without a password.
    table: its name in the config.
    overwrite: whether an earlier release may be replaced.
    """

    def __init__(self, source: str, table: TableName, *, overwrite: bool) -> None:
        self.source = source
        self.table = table
        self.overwrite = overwrite

    @property
    def title(self) -> str:
        """The table in reports and messages."""
        return f"{self.source}#{self.table}"

    @abstractmethod
    def check(self) -> None:
        """Check before a search that the database exists and the table may be created.

        Raises
        ------
        OutputError: one of them is not so.
        """

    @abstractmethod
    def write(self, release: Path, options: EngineOptions) -> None:
        """Begin a transaction, and create the table from the rows of a staged file in their order.

        Raises
        ------
        OutputError: the database refuses.
        """

    @abstractmethod
    def read(self, scratch: Path, options: EngineOptions) -> Relation:
        """Open the written table inside the transaction.

        Parameters
        ----------
        scratch: a folder for temporary files.

        Raises
        ------
        DataError: it cannot be read.
        """

    @abstractmethod
    def commit(self, sha256: str) -> None:
        """Replace the earlier release, set the comment of the table, and commit the transaction.

        Parameters
        ----------
        sha256: of the release; see ``table_digest``.

        Raises
        ------
        OutputError: the database refuses; nothing has changed.
        """

    @abstractmethod
    def close(self) -> None:
        """Undo an uncommitted transaction and close the database; a second call does nothing."""

    def refuse_existing(self, found: str | None, *, exists: bool) -> None:
        """Check that the table's name is free, or that of an earlier release to replace.

        Parameters
        ----------
        found: comment of the existing table.

        Raises
        ------
        OutputError: there is another table, or a release that may not be replaced.
        """
        if not exists:
            return
        if found is None or not found.startswith(COMMENT):
            raise OutputError(
                f"{self.source}: '{self.table}' exists and is not a release, which its comment would say; "
                "set output.table to another name, or drop it yourself"
            )
        if not self.overwrite:
            raise OutputError(
                f"{self.source}: table '{self.table}' holds a release; replace it with --overwrite, "
                "or set output.table to another name"
            )

    def refusal(self, reason: str) -> OutputError:
        """Return the error for a database that refuses."""
        return OutputError(
            f"{self.source}: table '{self.table}' cannot be written: {reason}; nothing was released"
        )


def described(sha256: str) -> str:
    """Return the comment of a released table."""
    return f"{COMMENT}, SHA-256 of its sorted CSV {sha256}"


class DuckDbTable(ReleaseTable):
    """A table of a DuckDB file, which is created with the table if it does not exist.

    Parameters
    ----------
    path: of the file.
    """

    def __init__(self, path: Path, table: TableName, *, overwrite: bool) -> None:
        super().__init__(str(path), table, overwrite=overwrite)
        self._path = path
        self._database: Database | None = None
        self._made = False
        schema = identifier(table.schema or "main")
        self._target = f"target.{schema}.{identifier(table.name)}"

    def check(self) -> None:
        """Check that the file is or can become a DuckDB database, without another table of that name."""
        if not check_file(self._path).exists():
            if not self._path.parent.is_dir():
                raise OutputError(
                    f"{self._path}: the folder {self._path.parent} does not exist; make it first"
                )
            return
        with Database(OPTIONS) as database:
            self._attach(database, "READ_ONLY, ")
            self._check_existing(database)

    def write(self, release: Path, options: EngineOptions) -> None:
        """Begin a transaction, drop the earlier release in it, and create the table."""
        self.close()
        self._made = not self._path.exists()
        self._database = Database(options)
        self._attach(self._database, "")
        exists = self._check_existing(self._database)
        try:
            self._database.run(f"ATTACH {quoted(release)} AS staged (READ_ONLY)")
            self._database.run("BEGIN")
            if exists:
                self._database.run(f"DROP TABLE {self._target}")
            self._database.run(f"CREATE TABLE {self._target} AS FROM {ROWS}")
            self._database.run("DETACH staged")
        except DuckError as error:
            raise self.refusal(reason_of(error)) from None

    def read(self, scratch: Path, options: EngineOptions) -> Relation:
        """Open a copy of the table from inside the transaction, removed with the scratch folder."""
        copy = scratch / "table.parquet"
        try:
            typed_copy(self._opened, self._target, copy, Storage.COPY)
            relation = open_file(copy, options=options)
        except DuckError as error:
            raise DataError(f"{self.title}: cannot be read back: {reason_of(error)}") from None
        except DataError as error:
            raise DataError(str(error).replace(str(copy), self.title)) from None
        relation.name = self.title
        return relation

    def commit(self, sha256: str) -> None:
        """Comment the table and end the transaction."""
        try:
            self._opened.run(f"COMMENT ON TABLE {self._target} IS {quoted(described(sha256))}")
            self._opened.run("COMMIT")
        except DuckError as error:
            raise self.refusal(reason_of(error)) from None
        self._made = False

    def close(self) -> None:
        """Undo an uncommitted transaction, and remove a file that was created for it."""
        if self._database is None:
            return
        with suppress(DuckError):
            self._database.run("ROLLBACK")
        self._database.close()
        self._database = None
        if self._made:
            self._path.unlink(missing_ok=True)
            self._path.with_name(self._path.name + ".wal").unlink(missing_ok=True)

    @property
    def _opened(self) -> Database:
        if self._database is None:
            raise OutputError(f"{self.title}: nothing was written; call write first")
        return self._database

    def _attach(self, database: Database, mode: str) -> None:
        database.run("SET TimeZone = 'UTC'")
        try:
            database.run(f"ATTACH {quoted(self._path.absolute())} AS target ({mode}TYPE duckdb)")
        except DuckError as error:
            raise self.refusal(reason_of(error)) from None

    def _check_existing(self, database: Database) -> bool:
        schema, name = quoted(self.table.schema or "main"), quoted(self.table.name)
        if not database.rows(
            f"SELECT 1 FROM duckdb_schemas() WHERE database_name = 'target' AND schema_name = {schema}"
        ):
            raise self.refusal(f"there is no schema '{self.table.schema}'")
        # DuckDB ignores the case of names.
        found = database.rows(
            "SELECT comment FROM duckdb_tables() WHERE database_name = 'target' "
            f"AND schema_name = {schema} AND lower(table_name) = lower({name}) "
            "UNION ALL SELECT NULL FROM duckdb_views() WHERE database_name = 'target' "
            f"AND schema_name = {schema} AND lower(view_name) = lower({name})"
        )
        self.refuse_existing(found[0][0] if found else None, exists=bool(found))
        return bool(found)
