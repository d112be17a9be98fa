"""A table of PostgreSQL as a release."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from anonymizer.data.open import open_transaction
from anonymizer.data.relation import Relation
from anonymizer.data.source import EngineOptions, TableName, WholeTable, identifier, quoted
from anonymizer.errors import OutputError
from anonymizer.release.table import ReleaseTable, described

if TYPE_CHECKING:
    from anonymizer.data.postgres import Postgres


class PostgresTable(ReleaseTable):
    """A table of PostgreSQL; it takes its name, and its predecessor goes, only as the transaction ends.

    Parameters
    ----------
    url: as the config gives it, without a password.
    """

    def __init__(self, url: str, table: TableName, *, overwrite: bool) -> None:
        super().__init__(url, table, overwrite=overwrite)
        self._connection: Postgres | None = None
        self._staged = TableName(f"anonymizer_{secrets.token_hex(8)}", table.schema)

    def check(self) -> None:
        """Check that the server can be reached, and would let the table be made."""
        try:
            self._connect()
            self._find_schema()
            self._check_existing()
        finally:
            self.close()

    def write(self, release: Path, options: EngineOptions) -> None:  # noqa: ARG002 - the server has its own
        """Begin a transaction, and make a table by another name, which nobody else sees."""
        from anonymizer.data.postgres import PostgresError  # noqa: PLC0415 - files do without it

        self._connect()
        schema = self._find_schema()
        self._staged = TableName(self._staged.name, schema)
        try:
            self._opened.ingest(release, schema, self._staged.name)
        except PostgresError as error:
            raise self.refusal(str(error)) from None

    def read(self, scratch: Path, options: EngineOptions) -> Relation:  # noqa: ARG002 - it comes as a stream
        """Open what the table holds inside the transaction."""
        relation = open_transaction(self._opened, WholeTable(self._staged), self.source, options)
        relation.name = self.title
        return relation

    def commit(self, sha256: str) -> None:
        """Drop the earlier release, give the table its name and comment, and end the transaction."""
        from anonymizer.data.postgres import PostgresError  # noqa: PLC0415 - files do without it

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
        """Undo what was not committed, and leave the server."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @property
    def _opened(self) -> Postgres:
        if self._connection is None:
            raise OutputError(f"{self.title}: nothing was written; call write first")
        return self._connection

    def _connect(self) -> None:
        from anonymizer.data.postgres import Postgres, PostgresError  # noqa: PLC0415 - files do without it

        try:
            self._connection = Postgres(self.source)
        except PostgresError as error:
            raise self.refusal(str(error)) from None

    def _find_schema(self) -> str:
        """Return the schema of the table, where its owner may make it."""
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
