"""A table of a DuckDB file as a release."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import duckdb

from anonymizer.data.duckdb.database import Database
from anonymizer.data.duckdb.relation import reason_of
from anonymizer.data.open import OPTIONS, open_parquet
from anonymizer.data.relation import Relation
from anonymizer.data.source import EngineOptions, TableName, identifier, quoted
from anonymizer.errors import DataError, OutputError
from anonymizer.release.table import ReleaseTable, described


class DuckDbTable(ReleaseTable):
    """A table of a DuckDB file, which is made with the table where there is none.

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
        """Check that the file is a DuckDB database or can be made, and holds no other table of that name."""
        if not self._path.exists():
            if not self._path.parent.is_dir():
                raise OutputError(
                    f"{self._path}: the folder {self._path.parent} does not exist; make it first"
                )
            return
        with Database(OPTIONS) as database:
            self._attach(database, "READ_ONLY, ")
            self._check_existing(database)

    def write(self, release: Path, options: EngineOptions) -> None:
        """Begin a transaction, drop the earlier release in it, and make the table anew."""
        self._made = not self._path.exists()
        self._database = Database(options)
        self._attach(self._database, "")
        exists = self._check_existing(self._database)
        try:
            self._database.run("BEGIN")
            if exists:
                self._database.run(f"DROP TABLE {self._target}")
            self._database.run(
                f"CREATE TABLE {self._target} AS SELECT * "
                f"FROM read_parquet({quoted(release)}, hive_partitioning = false)"
            )
        except duckdb.Error as error:
            raise self.refusal(reason_of(error)) from None

    def read(self, scratch: Path, options: EngineOptions) -> Relation:
        """Open a copy of what the table holds inside the transaction, which is gone with its folder."""
        copy = scratch / "table.parquet"
        try:
            self._opened.run(f"COPY {self._target} TO {quoted(copy)} (FORMAT parquet, USE_TMP_FILE false)")
            relation = open_parquet(copy, options)
        except duckdb.Error as error:
            raise DataError(f"{self.title}: cannot be read back: {reason_of(error)}") from None
        relation.name = self.title
        return relation

    def commit(self, sha256: str) -> None:
        """Comment the table and end the transaction."""
        try:
            self._opened.run(f"COMMENT ON TABLE {self._target} IS {quoted(described(sha256))}")
            self._opened.run("COMMIT")
        except duckdb.Error as error:
            raise self.refusal(reason_of(error)) from None
        self._made = False

    def close(self) -> None:
        """Undo what was not committed; a file that was made for it goes with it."""
        if self._database is None:
            return
        with suppress(duckdb.Error):
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
        except duckdb.Error as error:
            raise self.refusal(reason_of(error)) from None

    def _check_existing(self, database: Database) -> bool:
        schema, name = quoted(self.table.schema or "main"), quoted(self.table.name)
        if not database.rows(
            f"SELECT 1 FROM duckdb_schemas() WHERE database_name = 'target' AND schema_name = {schema}"
        ):
            raise self.refusal(f"there is no schema '{self.table.schema}'")
        # Names that differ in case alone are one name there.
        found = database.rows(
            "SELECT comment FROM duckdb_tables() WHERE database_name = 'target' "
            f"AND schema_name = {schema} AND lower(table_name) = lower({name}) "
            "UNION ALL SELECT NULL FROM duckdb_views() WHERE database_name = 'target' "
            f"AND schema_name = {schema} AND lower(view_name) = lower({name})"
        )
        self.refuse_existing(found[0][0] if found else None, exists=bool(found))
        return bool(found)
