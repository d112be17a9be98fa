"""Input sources: files, Parquet folders, Hadoop locations, tables and queries, and reading options.

A file that is read more than once must be the same file every time. A folder of Parquet files, as written
by Spark and others, is one table.
"""

from __future__ import annotations

import hashlib
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from anonymizer.errors import DataError


def quoted(text: str | Path) -> str:
    """Return a SQL string literal."""
    return "'" + str(text).replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class FileFormat:
    """A format of data files, known by how their names end; capitals do not matter.

    Attributes
    ----------
    suffixes: of files that are read.
    released: of files that a config may name as its output.
    """

    suffixes: tuple[str, ...]
    released: tuple[str, ...]

    def named(self, name: str) -> bool:
        """Tell whether a file with this name or path has the format."""
        return name.lower().endswith(self.suffixes)


CSV_FILES = FileFormat((".csv", ".csv.gz", ".tsv", ".tsv.gz"), (".csv", ".csv.gz"))
PARQUET_FILES = FileFormat((".parquet",), (".parquet",))
SUFFIXES = CSV_FILES.suffixes + PARQUET_FILES.suffixes


def is_gzipped(path: Path) -> bool:
    """Tell whether the content of a file is compressed, as its name says."""
    return path.suffix.lower() == ".gz"


def separator_of(name: str) -> str | None:
    r"""Return the separator that the name of a text file gives: a tab for ``.tsv``, else None.

    >>> separator_of("data.tsv.gz"), separator_of("data.csv")
    ('\t', None)
    """
    return "\t" if "tsv" in name.lower().split(".")[1:] else None


def split_suffix(name: str) -> tuple[str, str]:
    """Return the name of a data file without its suffix, and the suffix, empty where it has none of them.

    >>> split_suffix("data.CSV.gz"), split_suffix("notes.txt")
    (('data', '.CSV.gz'), ('notes.txt', ''))
    """
    size = max((len(each) for each in SUFFIXES if name.lower().endswith(each)), default=0)
    size = size if size < len(name) else 0
    return name[: len(name) - size], name[len(name) - size :]


def data_files(folder: Path) -> list[Path]:
    """Return the files of a folder and the folders in it, sorted by name; none hidden by ``_`` or ``.``."""
    names = {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)
    }
    return [names[name] for name in sorted(names)]


def is_parquet_folder(path: Path) -> bool:
    """Tell whether all in a folder is Parquet, or a folder named by the value of a column."""
    if not path.is_dir():
        return False
    inside = [each for each in path.iterdir() if not each.name.startswith(("_", "."))]
    return bool(inside) and all(
        PARQUET_FILES.named(each.name) or (each.is_dir() and "=" in each.name) for each in inside
    )


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file; of a folder that of the list which ``sha256sum`` prints of its files.

    Raises
    ------
    OSError: something cannot be read.
    """
    if not path.is_dir():
        return _sha256(path)
    files = data_files(path)
    return sha256_of_list(
        [each.relative_to(path).as_posix() for each in files], [_sha256(each) for each in files]
    )


def sha256_of_list(names: Sequence[str], hashes: Sequence[str]) -> str:
    """Return the SHA-256 of a list of files with theirs, sorted by name.

    >>> sha256_of_list(["part-00000.parquet"], ["0" * 64])[:8]
    'c25d1bfd'
    """
    lines = sorted(zip(names, hashes, strict=True))
    listed = "".join(f"{digest}  {name}\n" for name, digest in lines)
    return hashlib.sha256(listed.encode()).hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


COARSEST_CLOCK = 2 * 10**9
"""Nanoseconds within which two changes of a file may get the same time, on the coarsest file systems."""


@dataclass(frozen=True)
class FileSource:
    """A file as it was when it was first looked at.

    Attributes
    ----------
    path: of the file.
    kind: what it should be, for a message, such as "a Parquet file".
    stamp: device, inode, bytes, and nanoseconds of the last change of content and of anything else.
    settled: whether the last change was so long ago that a further one must get another time.
    """

    path: Path
    kind: str
    stamp: tuple[int, ...]
    settled: bool

    @classmethod
    def of(cls, path: Path, kind: str) -> Self:
        """Look at a file for the first time."""
        stamp = _stamp(path)
        return cls(path, kind, stamp, settled=time.time_ns() - max(stamp[-2:]) > COARSEST_CLOCK)

    def check(self) -> None:
        """Check that the file is still the same.

        Raises
        ------
        DataError: it is another, or gone; two readings of it would not belong together.
        """
        try:
            same = _stamp(self.path) == self.stamp
        except OSError:
            same = False
        if not same:
            raise self._changed()

    def check_bytes(self, sha256: str) -> None:
        """Check that the file is still the same and has the hash that was taken of it.

        The bytes are read again only where the file is so new that its times might not show a change.

        Raises
        ------
        DataError: as for ``check``.
        """
        self.check()
        if not self.settled:
            try:
                same = sha256_of(self.path) == sha256
            except OSError:
                same = False
            if not same:
                raise self._changed()

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Let an error that comes of a change say so: half a record is not the fault of its writer.

        Raises
        ------
        DataError: the error of the block, or that of ``check`` in place of it.
        """
        try:
            yield
        except DataError:
            self.check()
            raise

    def damaged(self, error: Exception) -> DataError:
        """Return the error for a file that is still the same and cannot be read, with the engine's reason."""
        reason = str(error).split("\n", 1)[0]
        return DataError(
            f"{self.path}: not {self.kind}, or a damaged one; write it again, or as .csv ({reason})"
        )

    def _changed(self) -> DataError:
        return DataError(
            f"{self.path}: changed while it was read; nothing of it can be used, start again once it is "
            "complete, or on a copy"
        )


def _stamp(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


_URL = re.compile(r"([a-z][a-z0-9+.-]+):/+")


def is_url(text: str) -> bool:
    """Tell whether a text names a file system, such as ``hdfs://host/people``."""
    return _URL.match(text) is not None


def location_of(path: Path) -> str:
    """Return where Hadoop finds a path; one that was made of a URL has lost a slash.

    >>> location_of(Path("hdfs://host/people.parquet")), location_of(Path("file:///people.parquet"))
    ('hdfs://host/people.parquet', 'file:/people.parquet')
    """
    found = _URL.match(str(path))
    if found is None:
        return path.absolute().as_uri()
    if found[1] == "file":
        return str(path)
    return f"{found[1]}://{str(path)[found.end() :]}"


@dataclass(frozen=True)
class EngineOptions:
    """Limits for an engine.

    Attributes
    ----------
    memory_limit: such as ``4GB``; None for the engine's default.
    threads: most threads at once; None for one per core.
    temp_directory: where what does not fit in memory goes; None for the system's.
    combinations: most distinct combinations that a search may hold in memory; None for as many as the memory
        limit leaves room for.
    engine: name of the plug-in that reads and writes; None for DuckDB.
    settings: of that engine, with their values.
    named: columns with a role; the index of pandas in a Parquet file is left out unless it is one of them.
        None to leave nothing out.
    """

    memory_limit: str | None = None
    threads: int | None = None
    temp_directory: Path | None = None
    combinations: int | None = None
    engine: str | None = None
    settings: tuple[tuple[str, str], ...] = ()
    named: frozenset[str] | None = None


@dataclass(frozen=True)
class CsvDialect:
    """How the text of a CSV file is to be read.

    Attributes
    ----------
    separator: between fields, one ASCII character; None to detect it.
    encoding: a codec of Python's; a byte-order mark of UTF-8 is always accepted.
    """

    separator: str | None = None
    encoding: str = "utf-8"


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
