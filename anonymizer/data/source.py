"""Input sources: files, folders, Hadoop locations, tables and queries, names of columns, reading options.

A file that is read more than once must not change. A folder of Parquet files, as Spark writes it, is one
table.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import json
import re
import time
import zlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self, cast

from anonymizer.data.values import absent_texts, split_absent
from anonymizer.errors import DataError, listed
from anonymizer.model.naming import Spellings, respelled
from anonymizer.model.table import POINT, Numerals
from anonymizer.system import check_file

FRAME = "the DataFrame"
"""What messages call an input that is no file."""


def quoted(text: str | Path) -> str:
    """Return a SQL string literal."""
    return "'" + str(text).replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


class FileFormat(NamedTuple):
    """A format that releases can have, recognized by suffix, in capitals or not.

    Attributes
    ----------
    name: of the input format that reads it.
    suffixes: of files that are read.
    released: of output files in a config.
    """

    name: str
    suffixes: tuple[str, ...]
    released: tuple[str, ...]

    def named(self, name: str) -> bool:
        """Return whether a file with this name or path has the format."""
        return name.lower().endswith(self.suffixes)


CSV_FILES = FileFormat("csv", (".csv", ".csv.gz", ".tsv", ".tsv.gz"), (".csv", ".csv.gz"))
PARQUET_FILES = FileFormat("parquet", (".parquet",), (".parquet",))
JSON_LINES_FILES = FileFormat("json-lines", (".jsonl", ".jsonl.gz", ".ndjson"), (".jsonl",))
FEATHER_FILES = FileFormat("feather", (".feather", ".arrow"), (".feather",))
EXCEL_FILES = FileFormat("excel", (".xlsx", ".xlsm"), (".xlsx",))
SPSS_FILES = FileFormat("spss", (".sav", ".zsav"), (".sav",))
STATA_FILES = FileFormat("stata", (".dta",), (".dta",))
SAS_FILES = FileFormat("sas", (".sas7bdat", ".xpt"), ())
FILE_FORMATS = (
    CSV_FILES,
    PARQUET_FILES,
    JSON_LINES_FILES,
    FEATHER_FILES,
    EXCEL_FILES,
    SPSS_FILES,
    STATA_FILES,
    SAS_FILES,
)
SUFFIXES = tuple(suffix for each in FILE_FORMATS for suffix in each.suffixes)
RELEASED = tuple(suffix for each in FILE_FORMATS for suffix in each.released)


READABLE = f"such as {listed((*CSV_FILES.suffixes, *PARQUET_FILES.suffixes), 'or')}"
"""Input files, for help and descriptions: plug-ins can add formats, which only messages load and list."""


def is_gzipped(path: Path) -> bool:
    """Return whether a file is compressed, by its name."""
    return path.suffix.lower() == ".gz"


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn errors while a file is read into ``DataError``.

    Raises
    ------
    DataError: missing, a directory, not permitted, a damaged gzip file, or any other failure to read.
    """
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; check the path") from None
    except IsADirectoryError:
        raise DataError(f"{path}: is a directory; name a file in it") from None
    except UnicodeError as error:
        raise DataError(f"{path}: cannot be decoded: {error}; check input.encoding") from None
    except EOFError:
        raise DataError(f"{path}: the gzip file ends too early: it was cut off; fetch it again") from None
    except (gzip.BadGzipFile, zlib.error):
        raise DataError(
            f"{path}: not a gzip file, or a damaged one; if it is text, remove '.gz' from its name"
        ) from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or type(error).__name__}") from None


CHUNK = 1 << 20
"""Bytes of a file that are read at once."""


def open_content(path: Path) -> BinaryIO:
    """Open the content of a file for reading, decompressed when its name ends in ``.gz``."""
    return cast(BinaryIO, gzip.open(path, "rb")) if is_gzipped(path) else path.open("rb")


def separator_of(name: str) -> str | None:
    r"""Return the separator of a text file by its name: a tab for ``.tsv``, else None.

    >>> separator_of("data.tsv.gz"), separator_of("data.csv")
    ('\t', None)
    """
    return "\t" if "tsv" in name.lower().split(".")[1:] else None


def split_suffix(name: str, suffixes: Sequence[str] = SUFFIXES) -> tuple[str, str]:
    """Return the name of a data file without its suffix, and the suffix, empty for other files.

    >>> split_suffix("data.CSV.gz"), split_suffix("notes.txt")
    (('data', '.CSV.gz'), ('notes.txt', ''))
    """
    size = max((len(each) for each in suffixes if name.lower().endswith(each)), default=0)
    size = size if size < len(name) else 0
    return name[: len(name) - size], name[len(name) - size :]


def data_files(folder: Path) -> list[Path]:
    """Return the files below a folder, sorted by name, without those hidden by ``_`` or ``.``."""
    names = {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)
    }
    return [names[name] for name in sorted(names)]


def is_parquet_folder(path: Path) -> bool:
    """Return whether a folder has only Parquet files and folders named ``column=value``."""
    if not path.is_dir():
        return False
    inside = [each for each in path.iterdir() if not each.name.startswith(("_", "."))]
    return bool(inside) and all(
        PARQUET_FILES.named(each.name) or (each.is_dir() and "=" in each.name) for each in inside
    )


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, or of the list that ``sha256sum`` prints for the files of a folder.

    Raises
    ------
    OSError: a file cannot be read.
    """
    if not path.is_dir():
        return _sha256(path)
    files = data_files(path)
    return sha256_of_list(
        [each.relative_to(path).as_posix() for each in files], [_sha256(each) for each in files]
    )


def sha256_of_list(names: Sequence[str], hashes: Sequence[str]) -> str:
    """Return the SHA-256 of a list of files with their hashes, sorted by name.

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
"""Nanoseconds within which two changes of a file can get the same time, on the coarsest file systems."""


@dataclass(frozen=True)
class FileSource:
    """A file with its state before the first reading.

    Attributes
    ----------
    path: of the file.
    kind: expected kind for messages, such as "a Parquet file".
    stamp: device, inode, bytes, and nanoseconds of the last change of content and of metadata.
    settled: whether the last change is so old that another change must get another time.
    """

    path: Path
    kind: str
    stamp: tuple[int, ...]
    settled: bool

    @classmethod
    def of(cls, path: Path, kind: str) -> Self:
        """Return a file with its present state; raises as ``check_file`` does."""
        stamp = _stamp(check_file(path))
        return cls(path, kind, stamp, settled=time.time_ns() - max(stamp[-2:]) > COARSEST_CLOCK)

    def check(self) -> None:
        """Check that the file is unchanged.

        Raises
        ------
        DataError: it changed, was replaced or removed.
        """
        try:
            same = _stamp(self.path) == self.stamp
        except OSError:
            same = False
        if not same:
            raise self._changed()

    def check_bytes(self, sha256: str) -> None:
        """Check that the file is unchanged and has this hash.

        The bytes are read again only if the file is so new that its times might not show a change.

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
        """Replace an error of the block if the file changed: the change is the cause of half a record.

        Raises
        ------
        DataError: the error of ``check``, or else of the block.
        """
        try:
            yield
        except DataError:
            self.check()
            raise

    def damaged(self, error: Exception) -> DataError:
        """Return the error for an unchanged file that cannot be read, with the engine's reason."""
        reason = str(error).split("\n", 1)[0]
        return DataError(
            f"{self.path}: not {self.kind}, or a damaged one; write it again, or as .csv ({reason})"
        )

    def _changed(self) -> DataError:
        return DataError(
            f"{self.path}: changed while it was being read, so nothing was used; run again when it is "
            "complete, or on a copy"
        )


def _stamp(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


_URL = re.compile(r"([a-z][a-z0-9+.-]+):/+")


def is_url(text: str) -> bool:
    """Return whether a text is a URL, such as ``hdfs://host/people``."""
    return _URL.match(text) is not None


def location_of(path: Path) -> str:
    """Return the URL of a path, which has lost a slash if it was a URL before.

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
class MissingTexts:
    """How missing values are read, and written with one marker in all columns.

    Attributes
    ----------
    marker: text that a text file has for a missing value; files with types, tables and DataFrames have a
        null. Records are sorted by it.
    read: texts that are read as nulls.
    recoded: columns of a release whose nulls are read as ``<missing>``, the label of a missing value.
    codes: of missing values in an input; their other spellings in a column are read as nulls, too.
    as_text: columns in which these are compared as texts, not as numbers or dates.
    numerals: notation of numbers in texts.
    """

    marker: str
    read: tuple[str, ...] = ()
    recoded: frozenset[str] = frozenset()
    codes: tuple[str, ...] = ()
    as_text: frozenset[str] = frozenset()
    numerals: Numerals = POINT

    def among(self, column: str, texts: Collection[str]) -> set[str]:
        """Return the texts of a column, given all of them, that are read as nulls."""
        exactly = set(self.read).intersection(texts)
        if column in self.as_text:
            return exactly | absent_texts(texts, self.codes)
        return exactly | split_absent(texts, self.codes, self.numerals)[0]


class RewrittenNumbers(NamedTuple):
    """Texts of numbers that are read with the decimal sign of the release instead of their own.

    Attributes
    ----------
    given, released: the notations.
    columns: whose texts are numbers; texts that are not are left as they are.
    judged: columns that are numbers if all their texts are.
    absent: texts that are missing values.
    stored: columns whose stored numbers become texts, because their release is text.
    """

    given: Numerals
    released: Numerals
    columns: frozenset[str]
    judged: frozenset[str]
    absent: tuple[str, ...]
    stored: frozenset[str]


@dataclass(frozen=True)
class KeyColumns:
    """Columns whose values say which records belong to one person, household or other unit.

    Attributes
    ----------
    names: of the columns; an input may lack some.
    codes: of missing values.
    numerals: notation of numbers in texts.
    """

    names: tuple[str, ...]
    codes: tuple[str, ...] = ("",)
    numerals: Numerals = POINT


@dataclass(frozen=True)
class EngineOptions:
    """Limits for an engine.

    Attributes
    ----------
    memory_limit: such as ``4GB``; None for the engine's default.
    threads: maximum number of threads; None for one per core.
    temp_directory: for data that does not fit in memory; None for the system's.
    combinations: maximum number of distinct rows in memory; None for as many as the memory limit allows.
    engine: name of the plug-in that reads and writes; None for DuckDB.
    settings: of that engine, names with values.
    named: columns with a role; the index of pandas in a Parquet file is left out unless it has a role. None
        to read all columns.
    strict_header: whether unnamed and repeated columns are refused rather than named.
    missing: one marker for the missing values of all columns; None to leave every text as it is.
    numbers: texts of numbers that get another decimal sign; None to leave them as they are.
    spelling: names that columns take which are other spellings of them.
    keys: columns of units, in which all spellings of a value become one; None to leave them as they are.
    sheet: of a workbook; None for the first with records.
    """

    memory_limit: str | None = None
    threads: int | None = None
    temp_directory: Path | None = None
    combinations: int | None = None
    engine: str | None = None
    settings: tuple[tuple[str, str], ...] = ()
    named: frozenset[str] | None = None
    strict_header: bool = False
    missing: MissingTexts | None = None
    numbers: RewrittenNumbers | None = None
    spelling: frozenset[str] = frozenset()
    keys: KeyColumns | None = None
    sheet: str | None = None


def reads_back(encoding: str) -> bool:
    """Return whether Python has a text encoding of this name that decodes what it encodes.

    >>> reads_back("latin-1"), reads_back("idna"), reads_back("rot13"), reads_back("latin-10000")
    (True, False, False, False)
    """
    text = "".join(filter(partial(_encodes, encoding), map(chr, (9, 10, 13, *range(32, 127)))))
    try:
        # Files are written in parts.
        encoder, half = codecs.getincrementalencoder(encoding)(), len(text) // 2
        encoded = encoder.encode(text[:half]) + encoder.encode(text[half:], final=True)
        strict = codecs.getincrementaldecoder(encoding)("strict").decode(encoded, final=True)
        # The reader that finds faulty lines replaces what it cannot decode.
        read = io.TextIOWrapper(io.BytesIO(encoded), encoding=encoding, errors="replace", newline="").read()
    except (LookupError, ValueError, TypeError):
        return False
    return bool(text) and text == strict == read


def _encodes(encoding: str, character: str) -> bool:
    try:
        return bool(character.encode(encoding))
    except (LookupError, ValueError):
        return False


SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
"""The separators that can be detected, the likelier first."""


@dataclass(frozen=True)
class CsvDialect:
    """Separator and encoding of a CSV file.

    Attributes
    ----------
    separator: between fields, one ASCII character; None to detect it.
    encoding: name of a Python codec; a byte-order mark of UTF-8 is always accepted.
    """

    separator: str | None = None
    encoding: str = "utf-8"

    @classmethod
    def usual(cls, name: str) -> Self:
        r"""Return the dialect of a release by its name: in UTF-8, a tab for ``.tsv``, else a comma.

        >>> CsvDialect.usual("data.tsv.gz").separator
        '\t'
        """
        return cls(separator_of(name) or ",")


_INDEX_LEVEL = re.compile(r"__index_level_\d+__")


@dataclass(frozen=True)
class Naming:
    """The column names of an input, none empty and no two the same.

    Attributes
    ----------
    columns: in the order of the input.
    warnings: one for each name that is not the input's.
    spelled: names in the input of columns that have another spelling, by the names in ``columns``.
    """

    columns: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    spelled: Mapping[str, str] = field(default_factory=dict)

    def spelled_as(self, names: Collection[str]) -> Naming:
        """Return the naming in which columns that are other spellings of names have these names."""
        new = respelled(self.columns, names) if names else {}
        columns = tuple(new.get(column, column) for column in self.columns)
        return replace(self, columns=columns, spelled={name: column for column, name in new.items()})


def name_columns(
    source: str, columns: Sequence[str], *, strict: bool = False, place: str = "the header"
) -> Naming:
    """Return a name for each column: ``row`` for an unnamed first one, ``name_2`` for a second ``name``.

    Parameters
    ----------
    source: the file, table or DataFrame in messages.
    strict: whether unnamed and repeated columns are refused.
    place: where columns are named.

    Raises
    ------
    DataError: a name is missing or repeated, and ``strict`` is set.

    >>> name_columns("a.csv", ["", "x", "x", "x_2", " "]).columns
    ('row', 'x', 'x_3', 'x_2', 'column_5')
    """
    taken, first, names, warnings = set(columns), dict[str, int](), list[str](), list[str]()
    for number, column in enumerate(columns, start=1):
        name = column
        if not column.strip():
            name = _free_name("row" if number == 1 else f"column_{number}", taken)
            fault = f"column {number} of {len(columns)} has no name"
            remedy = f"name it in {place}"
        elif column in first:
            name = _free_name(column, taken)
            fault = f"columns {first[column]} and {number} are both named '{column}'"
            remedy = "rename one of them"
        else:
            first[column] = number
        if name != column:
            if strict:
                raise DataError(f"{source}: {fault}; {remedy}, or remove input.strict_header")
            warnings.append(f"{fault}; column {number} gets the name '{name}'")
            taken.add(name)
        names.append(name)
    return Naming(tuple(names), tuple(warnings))


def _free_name(name: str, taken: Collection[str]) -> str:
    """Return a name, with the first number from 2 that makes it differ from all others, if it is taken."""
    numbered = (f"{name}_{number}" for number in count(2))
    return next(each for each in chain([name], numbered) if each not in taken)


def pandas_index(
    columns: Sequence[str], metadata: str | None, named: Collection[str] | None
) -> tuple[str, ...]:
    """Return the columns of a Parquet file that are the index of a pandas frame and have no role; never all.

    Parameters
    ----------
    metadata: of pandas in the file, in JSON; None without any.
    named: columns with a role; None to return no columns.

    >>> pandas_index(["a", "id"], '{"index_columns": ["id"]}', {"a"}), pandas_index(["id"], None, None)
    (('id',), ())
    """
    if named is None:
        return ()
    try:
        content = json.loads(metadata or "{}")
    except ValueError:
        content = {}
    stated = content.get("index_columns") if isinstance(content, dict) else None
    stated, roles = stated if isinstance(stated, list) else [], Spellings(named)
    found = tuple(
        name
        for name in columns
        if roles.of(name) not in named and (name in stated or _INDEX_LEVEL.fullmatch(name) is not None)
    )
    return found if len(found) < len(columns) else ()


_PART = re.compile(r'"(?:[^"]|"")+"|[^."]+')


def mixed_numbers(source: str, column: str) -> DataError:
    """Return the error for a column of numbers and other texts, whose numbers cannot be rewritten."""
    return DataError(
        f"{source}: column '{column}' mixes numbers with other texts, so output.decimal cannot tell what to "
        "rewrite; declare the column's type, list the texts that mean a missing value in input.missing, or "
        "remove output.decimal"
    )


class QueryError(DataError):
    """A query that is not one SELECT, can do more than read the database, or is refused by it."""


class TableName(NamedTuple):
    """A table of a database.

    Attributes
    ----------
    name: as in the database.
    schema: as in the database; None for its default.
    """

    name: str
    schema: str | None = None

    @classmethod
    def parse(cls, text: str) -> TableName:
        """Return the table of a name ``table`` or ``schema.table``; names with a dot are in double quotes.

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
        """Short name, part of a location."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Name in messages."""

    @property
    @abstractmethod
    def sql(self) -> str:
        """SQL after FROM."""

    @property
    def statement(self) -> str:
        """A statement that returns the rows."""
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
    """The rows of one SELECT."""

    text: str

    @property
    def label(self) -> str:
        """The word ``query``."""
        return "query"

    @property
    def title(self) -> str:
        """The words ``the query``."""
        return "the query"

    @property
    def sql(self) -> str:
        """The query in parentheses, in which databases accept no statement that writes.

        It cannot close them if the database has parsed it as one statement before.
        """
        # The new line ends a comment on the query's last line.
        return f"({self.alone}\n)"

    @property
    def alone(self) -> str:
        """The query without semicolons and spaces at its ends."""
        return self.text.lstrip().rstrip(" \t\r\n;")

    @property
    def statement(self) -> str:
        """The query itself: in a SELECT around it, DuckDB would rename columns of the same name."""
        return self.sql
