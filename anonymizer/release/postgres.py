"""Releases written as a table of PostgreSQL, in one transaction."""

from __future__ import annotations

import secrets
from pathlib import Path

from anonymizer.data.duckdb.database import Database
from anonymizer.data.duckdb.types import Storage
from anonymizer.data.postgres import Postgres, PostgresError, open_transaction
from anonymizer.data.relation import Relation
from anonymizer.data.source import EngineOptions, TableName, WholeTable, identifier, quoted
from anonymizer.errors import OutputError
from anonymizer.release.database import ROWS, ReleaseTable, described, typed_copy


class PostgresTable(ReleaseTable):
    """A table of PostgreSQL, which gets its name and replaces its predecessor when the transaction ends.

    Parameters
    ----------
    url: as the config gives it, without a password.
    """

    def __init__(self, url: str, table: TableName, *, overwrite: bool) -> None:
        super().__init__(url, table, overwrite=overwrite)
        self._connection: Postgres | None = None
        self._staged = TableName(f"anonymizer_{secrets.token_hex(8)}", table.schema)

    def check(self) -> None:
        """Check that the server can be reached and lets the user create the table."""
        try:
            self._connect()
            self._find_schema()
            self._check_existing()
        finally:
            self.close()

    def write(self, release: Path, options: EngineOptions) -> None:
        """Begin a transaction, and create a table under a temporary name, which nobody else sees."""
        self._connect()
        schema = self._find_schema()
        self._staged = TableName(self._staged.name, schema)
        rows = release.with_suffix(".parquet")
        with Database(options) as database:
            database.run("SET TimeZone = 'UTC'")
            database.run(f"ATTACH {quoted(release)} AS staged (READ_ONLY)")
            typed_copy(database, ROWS, rows, Storage.SERVER)
        try:
            self._opened.ingest(rows, schema, self._staged.name)
        except PostgresError as error:
            raise self.refusal(str(error)) from None
        finally:
            rows.unlink()

    def read(self, scratch: Path, options: EngineOptions) -> Relation:  # noqa: ARG002 - it comes as a stream
        """Open the table inside the transaction."""
        relation = open_transaction(self._opened, WholeTable(self._staged), self.source, options)
        relation.name = self.title
        return relation

    def commit(self, sha256: str) -> None:
        """Drop the earlier release, give the table its name and comment, and end the transaction."""
        connection, final = self._opened, TableName(self.table.name, self._staged.schema)
        try:
            if self._check_existing():
                connection.run(f"DROP TABLE {final.sql}")
            connection.run(f"ALTER TABLE {self._staged.sql} RENAME TO {identifier(final.name)}")
            connection.run(f"COMMENT ON TABLE {final.sql} IS {quoted(described(sha256))}")
            connection.commit()
        except PostgresError as error:
            raise self.refusal(str(error)) from None

    def close(self) -> None:
        """Undo an uncommitted transaction and disconnect."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @property
    def _opened(self) -> Postgres:
        if self._connection is None:
            raise OutputError(f"{self.title}: nothing was written; call write first")
        return self._connection

    def _connect(self) -> None:
        try:
            self._connection = Postgres(self.source)
        except PostgresError as error:
            raise self.refusal(str(error)) from None

    def _find_schema(self) -> str:
        """Return the schema of the table, if the user may create tables in it."""
        named = "current_schema()" if self.table.schema is None else quoted(self.table.schema)
        rows = self._opened.rows(
            "SELECT nspname, has_schema_privilege(oid, 'CREATE') "
            f"FROM pg_catalog.pg_namespace WHERE nspname = {named}"
        )
        if not rows:
            raise self.refusal(f"there is no schema '{self.table.schema or 'public'}'")
        schema, may_create = rows[0]
        if not may_create:
            raise self.refusal(f"permission denied for schema '{schema}'")
        return str(schema)

    def _check_existing(self) -> bool:
        found = self._opened.rows(
            "SELECT pg_catalog.obj_description(c.oid, 'pg_class') FROM pg_catalog.pg_class AS c "
            "JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace "
            f"WHERE n.nspname = {quoted(self._find_schema())} AND c.relname = {quoted(self.table.name)}"
        )
        self.refuse_existing(found[0][0] if found else None, exists=bool(found))
        return bool(found)
