"""Releases in formats of other programs, written from a staged Parquet file by their libraries.

A column whose values a format lacks becomes text in it, as in Parquet; a text that it lacks is refused.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anonymizer.data.codebook import ColumnLabels
from anonymizer.data.duckdb.database import Database, parquet, text_of
from anonymizer.data.duckdb.relation import InputFormat, input_format
from anonymizer.data.source import CsvDialect, EngineOptions, identifier, quoted
from anonymizer.errors import OutputError


@dataclass(frozen=True)
class Staged:
    """A release that is staged as Parquet.

    Attributes
    ----------
    path: of the Parquet file.
    scratch: a folder for temporary files.
    numbers: columns of numbers in the input, whose released texts may be numbers or groups of them.
    labels: of the columns of the input.
    """

    path: Path
    scratch: Path
    numbers: Collection[str] = ()
    labels: Mapping[str, ColumnLabels] = field(default_factory=dict)

    def columns(self, database: Database) -> dict[str, str]:
        """Return the types of the columns by their names."""
        found = database.rows(f"DESCRIBE SELECT * FROM {self.source}")
        return {str(row[0]): str(row[1]) for row in found}

    @property
    def source(self) -> str:
        """SQL for the rows."""
        return parquet(quoted(self.path))


class WrittenFormat(InputFormat):
    """A format that releases can have."""

    @classmethod
    def check_names(cls, path: Path, names: Collection[str]) -> None:
        """Check that the format has columns of these names.

        Raises
        ------
        OutputError: naming the first that it lacks.
        """

    @abstractmethod
    def write(self, release: Staged, path: Path) -> None:
        """Write a release.

        Raises
        ------
        OutputError: naming the first column, and the value, that the format cannot hold.
        InputError: the library is not installed.
        """


def writer_of(path: Path) -> WrittenFormat | None:
    """Return what writes a release; None if the engine writes it, as CSV or Parquet."""
    form = input_format(path)
    if form is None or not issubclass(form, WrittenFormat):
        return None
    return form(CsvDialect(), EngineOptions())


WHOLE = "BIGINT"

_SMALLER = re.compile(r"TINYINT|SMALLINT|INTEGER|UTINYINT|USMALLINT|UINTEGER")


def typed(database: Database, release: Staged, stored: Mapping[str, str]) -> str:
    """Create the view ``typed`` of a release whose columns have the types of a format; return its name.

    Texts of numbers become numbers again if each has the text of its number.

    Parameters
    ----------
    stored: types that the format has, each with a condition in SQL that is true for every value ``v`` that
        it holds exactly; empty for a type of which it holds all.
    """
    database.run("SET TimeZone = 'UTC'")
    terms = []
    for name, kind in release.columns(database).items():
        column = identifier(name)
        value, own = column, kind
        if kind == "VARCHAR" and name in release.numbers:
            value, own = _as_number(database, release, column)
        elif _SMALLER.fullmatch(kind):
            value, own = f"CAST({column} AS BIGINT)", WHOLE
        elif kind == "FLOAT":
            # As it is shown: a cast would show the digits behind those that it has.
            value, own = f"CAST({text_of(column, kind)} AS DOUBLE)", "DOUBLE"
        if own != "VARCHAR" and not _all_hold(database, release, value, stored.get(own)):
            value = text_of(value, own)
        terms.append(f"{value} AS {column}")
    database.run(f"CREATE VIEW typed AS SELECT {', '.join(terms)} FROM {release.source}")
    return "typed"


def _as_number(database: Database, release: Staged, column: str) -> tuple[str, str]:
    """Return SQL for a column of texts as numbers and its type; as it is if it has other texts."""
    for kind in (WHOLE, "DOUBLE"):
        number = f"TRY_CAST({column} AS {kind})"
        same = f"coalesce({text_of(number, kind)} = {column}, {column} IS NULL)"
        ((found, known),) = database.rows(f"SELECT bool_and({same}), count({column}) FROM {release.source}")
        if found and known:
            return f"CAST({column} AS {kind})", kind
    return column, "VARCHAR"


def _all_hold(database: Database, release: Staged, value: str, condition: str | None) -> bool:
    """Return whether a condition is true for every value of a column."""
    if not condition:
        return condition is not None
    query = f"SELECT 1 FROM (SELECT {value} AS v FROM {release.source}) WHERE NOT ({condition}) LIMIT 1"
    return not database.rows(query)


def first_text(database: Database, columns: Sequence[str], condition: str) -> tuple[str, str] | None:
    """Return the first column with a text ``v`` that fulfils a condition in SQL, and that text."""
    for name in columns:
        found = database.rows(
            f"SELECT v FROM (SELECT {identifier(name)} AS v FROM typed) WHERE {condition} ORDER BY v LIMIT 1"
        )
        if found:
            return name, str(found[0][0])
    return None


def refusal(path: Path, column: str, value: str, why: str) -> OutputError:
    """Return the error for a value that a format cannot hold."""
    shown = value if len(value) <= 40 else f"{value[:40]}…"
    return OutputError(
        f"{path.name}: column '{column}' has the value {shown!r}, {why}; set output.path to a .csv"
    )


FINITE = "isfinite(v)"
"""Condition for numbers that are neither infinite nor NaN."""

EXACT = f"v BETWEEN {-(2**53)} AND {2**53}"
"""Condition for whole numbers that a fraction of 64 bits has."""

SECONDS = "date_trunc('second', v) = v"
"""Condition for times without parts of a second."""


def typed_file(
    release: Staged, stored: Mapping[str, str], lacking: Sequence[tuple[str, str]], path: Path
) -> Path:
    """Return a Parquet file of a release whose columns have the types of a format.

    Parameters
    ----------
    lacking: conditions in SQL of texts ``v`` that the format lacks, each with the words for a message.
    path: of the release, for messages.

    Raises
    ------
    OutputError: naming the first text that the format lacks.
    """
    staged = release.scratch / "typed.parquet"
    with Database(EngineOptions()) as database:
        typed(database, release, stored)
        texts = [str(row[0]) for row in database.rows("DESCRIBE typed") if row[1] == "VARCHAR"]
        for condition, why in lacking:
            found = first_text(database, texts, condition)
            if found is not None:
                raise refusal(path, *found, why)
        database.copy(f"COPY (SELECT * FROM typed) TO {quoted(staged)} (FORMAT parquet)", [], staged)
    return staged
