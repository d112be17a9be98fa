"""Texts of typed columns: a key that Spark makes, and of it the text that DuckDB gives for the same value."""

from __future__ import annotations

from typing import Any

import duckdb

from anonymizer.data.duckdb.database import text_of
from anonymizer.errors import DataError

PLAIN = ("boolean", "tinyint", "smallint", "int", "bigint", "decimal")
"""Types whose casts to text are alike in Spark and DuckDB."""

_MADE = {
    "float": ("CAST(k AS FLOAT)", "FLOAT"),
    "double": ("CAST(k AS DOUBLE)", "DOUBLE"),
    "timestamp_ntz": ("CAST(k AS TIMESTAMP)", "TIMESTAMP"),
    "timestamp": ("CAST(k || '+00' AS TIMESTAMPTZ)", "TIMESTAMP WITH TIME ZONE"),
    "binary": ("unhex(k)", "BLOB"),
}
"""By Spark's type: SQL of DuckDB that makes the value of its key again, and the type of that."""


class ColumnTexts:
    """The texts of one column.

    Parameters
    ----------
    name: of the column in the input, for messages.
    column: as Spark's SQL calls it.
    kind: Spark's type.

    Attributes
    ----------
    kind: as given.
    key: SQL of Spark for a text of each value, different for different values, null for null.
    canonical: whether the key is the text itself.

    Raises
    ------
    DataError: there is no text for the type.
    """

    def __init__(self, name: str, column: str, kind: str) -> None:
        self.kind = kind
        self._kind = kind.partition("(")[0]
        self.canonical = self._kind not in _MADE
        if self._kind in {"string", "varchar", "char"}:
            self.key = column
        elif self._kind == "binary":
            self.key = f"hex({column})"
        elif self._kind == "date":
            # Years of more than four digits, which only Spark gives a sign.
            self.key = f"regexp_replace(CAST({column} AS STRING), '^[+]', '')"
        elif self._kind in PLAIN or self._kind in _MADE:
            self.key = f"CAST({column} AS STRING)"
        else:
            raise DataError(
                f"column '{name}' is of type {kind}, which is no single value; write it as text, or "
                "leave it out"
            )

    @property
    def is_text(self) -> bool:
        """Whether values are texts."""
        return self._kind in {"string", "varchar", "char"}

    def texts(self, keys: Any) -> list[str | None]:
        """Return the texts of keys.

        Parameters
        ----------
        keys: Arrow array of texts.
        """
        if self.canonical:
            texts: list[str | None] = keys.to_pylist()
            return texts
        import pyarrow as pa  # noqa: PLC0415 - comes with the extra

        value, kind = _MADE[self._kind]
        numbered = pa.table({"i": pa.array(range(len(keys)), pa.int64()), "k": keys})
        with duckdb.connect(":memory:", config={"threads": 1}) as connection:
            connection.execute("SET TimeZone = 'UTC'")
            connection.register("keys", numbered)
            rows = connection.execute(
                f"SELECT {text_of('v', kind)} FROM (SELECT i, {value} AS v FROM keys) ORDER BY i"
            ).fetchall()
        return [row[0] for row in rows]
