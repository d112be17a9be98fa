"""What is read of a database: a table, or the result of a query."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass

from anonymizer.engines.duckdb_sql import identifier
from anonymizer.errors import DataError

_PART = re.compile(r'"(?:[^"]|"")+"|[^."]+')


class QueryError(DataError):
    """A query that is not one SELECT, does more than read the database, or that the database refuses."""


@dataclass(frozen=True)
class TableName:
    """A table of a database.

    Attributes
    ----------
    name: as the database spells it.
    schema: the same; None for the one that the database looks in.
    """

    name: str
    schema: str | None = None

    @classmethod
    def parse(cls, text: str) -> TableName:
        """Return the table that ``table`` or ``schema.table`` names, parts with a dot in double quotes.

        >>> TableName.parse('census."a.b"')
        TableName(name='a.b', schema='census')
        """
        parts = [part[1:-1].replace('""', '"') if part[0] == '"' else part for part in _PART.findall(text)]
        return cls(parts[-1], parts[0] if len(parts) > 1 else None)

    def __str__(self) -> str:
        return self.name if self.schema is None else f"{self.schema}.{self.name}"

    @property
    def sql(self) -> str:
        """The quoted name."""
        quoted = identifier(self.name)
        return quoted if self.schema is None else f"{identifier(self.schema)}.{quoted}"


class Selection(ABC):
    """Rows of a database."""

    @property
    @abstractmethod
    def label(self) -> str:
        """What stands for it in a location."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What messages call it."""

    @property
    @abstractmethod
    def sql(self) -> str:
        """What stands after FROM."""

    @property
    def statement(self) -> str:
        """A statement that gives the rows."""
        return f"SELECT * FROM {self.sql}"


@dataclass(frozen=True)
class WholeTable(Selection):
    """All rows of a table or view."""

    table: TableName

    @property
    def label(self) -> str:
        """The table's name."""
        return str(self.table)

    @property
    def title(self) -> str:
        """The table's name."""
        return f"table {self.table}"

    @property
    def sql(self) -> str:
        """The table's quoted name."""
        return self.table.sql


@dataclass(frozen=True)
class Query(Selection):
    """The rows that one SELECT gives."""

    text: str

    @property
    def label(self) -> str:
        """That it is one."""
        return "query"

    @property
    def title(self) -> str:
        """That it is one."""
        return "the query"

    @property
    def sql(self) -> str:
        """The query in parentheses, in which no database takes a statement that writes.

        That it cannot close them is only certain where the database has parsed it by itself as one statement.
        """
        # The new line ends a comment on the query's last line.
        return f"({self.alone}\n)"

    @property
    def alone(self) -> str:
        """The query without the semicolons and blanks at its ends."""
        return self.text.lstrip().rstrip(" \t\r\n;")

    @property
    def statement(self) -> str:
        """The query itself: around it, DuckDB would give columns of one name other names."""
        return self.sql
