"""``input:`` and ``output:`` of a config: files or database tables, and how they are read and written.

A database is a DuckDB file or the URL of a server.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar
from urllib.parse import SplitResult, parse_qsl, urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    WithJsonSchema,
)

from anonymizer.config.section import Section, ShortSection
from anonymizer.data.source import (
    CSV_FILES,
    EXCEL_FILES,
    FEATHER_FILES,
    FILE_FORMATS,
    JSON_LINES_FILES,
    PARQUET_FILES,
    READABLE,
    RELEASED,
    CsvDialect,
    FileFormat,
    reads_back,
)
from anonymizer.errors import shown
from anonymizer.model.labels import SUPPRESSED
from anonymizer.model.naming import ColumnName, Name
from anonymizer.model.table import COMMA_SIGN, POINT_SIGN, Numerals
from anonymizer.model.units import HOUSEHOLD, PERSON, RECORD
from anonymizer.plugins import FilePath, Label, Rule, accepts, usable_path
from anonymizer.system import output_fault

SCHEMES = ("postgresql", "postgres")
"""Schemes of database URLs."""

VARIABLE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")
"""An environment variable, in place of a URL or in it."""

_PART = r'(?:[^."\0]+|"(?:[^"\0]|"")+")'
_TABLE = re.compile(rf"(?:{_PART}\.)?{_PART}")
_SECRET_OPTIONS = frozenset({"password", "sslpassword", "oauth_client_secret"})


_URL = "accepted: postgresql://USER@HOST/DATABASE, or ${NAME} for an environment variable"


def _parts_of(url: str) -> tuple[SplitResult, list[tuple[str, str]]] | None:
    """Return the parts of a URL and its options; None if the text is not a URL."""
    try:
        parts = urlsplit(url)
        _ = parts.password, parts.port
        return parts, parse_qsl(parts.query, strict_parsing=bool(parts.query))
    except ValueError:
        return None


def _of_database(url: str) -> bool:
    """Return whether a URL is that of a database server."""
    found = _parts_of(url)
    return found is not None and found[0].scheme in SCHEMES and not found[0].fragment


def _without_password(url: str) -> bool:
    """Return whether a URL of a server has no password but in an environment variable."""
    parts, options = _parts_of(url) or (None, [])
    own = None if parts is None else parts.password
    secrets = [own, *(value for key, value in options if key.lower() in _SECRET_OPTIONS)]
    return not any(secret and not VARIABLE.fullmatch(secret) for secret in secrets)


def _server(fits: Callable[[str], bool], words: str) -> AfterValidator:
    """Return the check of a URL that is not an environment variable; no message shows the URL."""
    return accepts(lambda url: VARIABLE.fullmatch(url) or fits(url), lambda _: words)


PORTABLE = accepts(
    lambda path: path is None or output_fault(path) is None,
    lambda path: f"{shown(path)}: {output_fault(path)}",
)
"""The check that all systems can have a file of a name."""

DatabaseFile = FilePath
"""The path of a DuckDB file, relative to the config file."""

Url = Annotated[
    str,
    _server(
        lambda url: _parts_of(url) is not None,
        f"is not a URL, or its special characters are not percent-encoded; {_URL}",
    ),
    _server(_of_database, f"is not the URL of a supported database; {_URL}"),
    # Reports contain the config.
    _server(
        _without_password,
        "contains a password; replace the password with ${NAME} and set the environment variable NAME, "
        "or remove the password and use PGPASSWORD or ~/.pgpass",
    ),
    WithJsonSchema({"type": "string", "examples": ["postgresql://USER@HOST/DATABASE"]}),
]
"""The URL of a database server, never with a password."""

TableName = Annotated[
    str,
    accepts(
        _TABLE.fullmatch,
        "{shown}; accepted: table or schema.table as the database spells it, with double quotes around a "
        'name that contains a dot: "a.b"',
    ),
    WithJsonSchema({"type": "string", "examples": ["schema.table"]}),
]
"""A table, with or without its schema."""

URL = re.compile(r"[a-z][a-z0-9+.-]+://")
"""Beginning of a path on another file system."""


Separator = Annotated[
    str,
    accepts(
        lambda sign: len(sign) == 1 and sign not in '"\r\n\0',
        "{shown}; accepted: one character such as ',' ';' '|' or a tab",
    ),
]
"""Between the fields of a text file."""

Encoding = Annotated[
    str,
    accepts(reads_back, "{shown}; accepted: a text encoding such as utf-8, latin-1, cp1252 or utf-16"),
]
"""Name of a text encoding of Python."""

Marker = Annotated[
    Label,
    accepts(lambda text: text != SUPPRESSED, "{shown} marks suppressed values; set another text"),
    accepts(str.isprintable, "{shown}; accepted: a text of printable characters, such as '' or NA"),
]
"""Text of a missing value in a release."""


class ReportedText(BaseModel, defer_build=True):
    """How a report says that a release is written as text; None for other formats and in older reports."""

    separator: Separator | None = None
    encoding: Encoding | None = None

    @property
    def dialect(self) -> CsvDialect | None:
        """The separator and encoding; None if the report does not say them."""
        return None if self.separator is None else CsvDialect(self.separator, self.encoding or "utf-8")


class DecimalSign(StrEnum):
    """The sign before the fraction of a number."""

    POINT = POINT_SIGN
    COMMA = COMMA_SIGN


class MissingPerson(StrEnum):
    """What a record without a value in the column of a unit is."""

    OWN = "own"
    REFUSE = "refuse"


class ReleaseAs(StrEnum):
    """What is released in place of the key of a person."""

    PSEUDONYM = "pseudonym"


FOR_TEXT = "applies to text files only; remove it"


def one_of(*keys: str) -> Iterator[Rule]:
    """Yield the rules that at most one of some keys is given, about each that follows another."""
    for place, key in enumerate(keys):
        yield Rule(_follows(key, keys[:place]), f"give only one of {', '.join(keys)}", key)


def _follows(key: str, before: tuple[str, ...]) -> Callable[[Any], bool]:
    return lambda own: (
        getattr(own, key) is not None and any(getattr(own, each) is not None for each in before)
    )


def _needs_database(key: str) -> Rule:
    return Rule(
        lambda own: getattr(own, key) and not own.in_database,
        "needs database or url; add one of them, or remove the key",
        key,
    )


def _needs_text(key: str) -> Rule:
    return Rule(lambda own: getattr(own, key) is not None and not own.is_text, FOR_TEXT, key)


class PersonSettings(ShortSection):
    """The column that says whose records these are; in short, its name."""

    short: ClassVar[str] = "column"
    column: ColumnName = Field(min_length=1, description="name of the column")
    release_as: ReleaseAs | None = Field(
        default=None,
        description="pseudonym: the column is released with a random number for each person, which links the "
        "rows of a person; constraints then count persons with equal lists of rows. Default: not released",
    )

    @classmethod
    def config_form(cls, own: dict[str, Any]) -> Any:
        """Return the name alone where nothing else is set."""
        return own if "release_as" in own else own["column"]


UnitName = Annotated[
    Name,
    Field(min_length=1),
    accepts(
        lambda name: name not in (RECORD, PERSON, HOUSEHOLD),
        "{shown} is a reserved name; accepted: another name",
    ),
]
"""Name of a unit in constraints."""


class PopulationSettings(ShortSection):
    """The population that the input is a sample of; in short, the path of its table."""

    short: ClassVar[str] = "path"
    path: FilePath = Field(
        description="table with the same quasi-identifiers, relative to the config file, read as the input is"
    )
    weight: ColumnName | None = Field(
        default=None, min_length=1, description="column with the people that a row stands for; default: one"
    )


TYPED = tuple(each for each in FILE_FORMATS if each is not CSV_FILES)
"""Formats without a separator."""

IN_UNICODE = (PARQUET_FILES, JSON_LINES_FILES, FEATHER_FILES, EXCEL_FILES)
"""Formats whose texts have one encoding; the others may be in another one that the file does not state."""


class InputSettings(Section):
    """The file or table to anonymize and how to read it."""

    path: FilePath | None = Field(default=None, description=f"file, relative to the config file, {READABLE}")
    database: DatabaseFile | None = Field(
        default=None, description="instead of path: a DuckDB file, relative to the config file"
    )
    url: Url | None = Field(
        default=None,
        description="instead of path: a PostgreSQL database, without a password; ${NAME} is replaced by an "
        "environment variable",
    )
    table: TableName | None = Field(
        default=None,
        description="with database or url: table or schema.table; with the path of a workbook: the sheet",
    )
    query: str | None = Field(
        default=None, min_length=1, description="with database or url, instead of table: one SELECT"
    )
    allow_files: bool = Field(
        default=False,
        description="whether the query or view may read files of the database's machine, such as "
        "read_csv('x.csv') in DuckDB or pg_read_file('x') in PostgreSQL",
    )
    separator: Separator | None = Field(
        default=None, description="one character; default: detected, and reported"
    )
    encoding: Encoding = Field(default="utf-8", description="of a text file")
    decimal: DecimalSign = Field(
        default=DecimalSign.POINT,
        description="sign before the fraction of numbers in text; with ',', points or spaces may separate "
        "thousands, as in 1.234,5",
    )
    missing: tuple[Label, ...] = Field(default=("",), description="texts that are read as missing values")
    strict_header: bool = Field(
        default=False,
        description="whether unnamed and repeated column names are refused; otherwise they are named: row, "
        "column_5, name_2",
    )
    person: PersonSettings | None = Field(
        default=None,
        description="column that says whose records these are; constraints then count persons, not records, "
        "unless they have `unit`. It is not released, or as a pseudonym",
    )
    household: ColumnName | None = Field(
        default=None,
        min_length=1,
        description="column that says which household the records belong to, for constraints with `unit: "
        "household`. It is not released",
    )
    units: dict[UnitName, ColumnName] | None = Field(
        default=None,
        description="columns of further units that constraints may count, by their names; not released",
    )
    missing_person: MissingPerson | None = Field(
        default=None,
        description="records without a value in the column of a unit: own, each is a unit of its own (the "
        "default); or refuse",
    )
    control: FilePath | None = Field(
        default=None,
        description="records of people who were held out of the input, relative to the config file, read as "
        "the input is: the report then answers the three questions of European law with these as control",
    )
    population: PopulationSettings | None = Field(
        default=None,
        description="the population that the input is a sample of, for k-map, delta-presence and risks: a "
        "path, or {path: FILE, weight: COLUMN}; default: estimated by the column with role weight",
    )

    @property
    def default_unit(self) -> str:
        """The unit that models count unless they name another."""
        return RECORD if self.person is None else PERSON

    @property
    def unit_columns(self) -> dict[str, str]:
        """The column of each unit by its name, without records."""
        own = {PERSON: None if self.person is None else self.person.column, HOUSEHOLD: self.household}
        named = {name: column for name, column in own.items() if column is not None}
        return {**named, **(self.units or {})}

    @property
    def pseudonym(self) -> str | None:
        """The column that is released with pseudonyms in place of the keys of persons; None without one."""
        return None if self.person is None or self.person.release_as is None else self.person.column

    @property
    def dialect(self) -> CsvDialect:
        """How a text file is read."""
        return CsvDialect(self.separator, self.encoding)

    @property
    def numerals(self) -> Numerals:
        """Notation of numbers in text."""
        return Numerals(self.decimal.value)

    def _all_in(self, formats: Collection[FileFormat]) -> bool:
        """Return whether the input is in one of some formats, and so are all people that are read like it."""
        people = (self.control, None if self.population is None else self.population.path)
        paths = [path for path in (self.path, *people) if path is not None]
        return self.path is not None and all(any(each.named(path) for each in formats) for path in paths)

    @property
    def in_database(self) -> bool:
        """Whether the records are rows of a database."""
        return self.database is not None or self.url is not None

    @property
    def _in_tables(self) -> bool:
        """Whether the records are in a table that has a name: of a database, or a sheet of a workbook."""
        return self.in_database or EXCEL_FILES.named(self.path or "")

    together = (
        *one_of("path", "database", "url"),
        *one_of("table", "query"),
        Rule(
            lambda own: own.in_database and own.table is None and own.query is None,
            "missing; accepted: table or schema.table, or query",
            "table",
        ),
        Rule(
            lambda own: own.table and not own._in_tables,
            "needs database or url, or the path of a workbook; add one of them, or remove the key",
            "table",
        ),
        _needs_database("query"),
        _needs_database("allow_files"),
        Rule(
            lambda own: own.separator is not None and (own.in_database or own._all_in(TYPED)),
            FOR_TEXT,
            "separator",
        ),
        Rule(
            lambda own: own.encoding != "utf-8" and (own.in_database or own._all_in(IN_UNICODE)),
            FOR_TEXT,
            "encoding",
        ),
    )


AS_TEXT = ("separator", "encoding", "missing")
"""Keys of ``output`` that ask for a file of text."""


def with_released_name(data: Any) -> Any:
    """Return a raw config whose release has the format of the input, unless it says another.

    A format that is only read, or a key that is for text, leaves the default: CSV.

    >>> with_released_name({"input": {"path": "people.sav"}})["output"]
    {'path': 'release.sav'}
    >>> "output" in with_released_name({"input": {"path": "people.xpt"}})
    False
    """
    if not isinstance(data, Mapping):
        return data
    given, own = data.get("input"), data.get("output", {})
    if not isinstance(given, Mapping) or not isinstance(own, Mapping):
        return data
    path = given.get("path")
    if not isinstance(path, str) or own.keys() & {"path", "database", "url"} or any(map(own.get, AS_TEXT)):
        return data
    form = next((each for each in TYPED if each.named(path)), CSV_FILES)
    if form is CSV_FILES or not form.released:
        return data
    return {**data, "output": {**own, "path": f"release{form.released[0]}"}}


class Order(StrEnum):
    """The order of the released records, which must not reveal the order of the input."""

    SORTED = "sorted"
    SHUFFLED = "shuffled"


def _in_share(fits: Callable[[str], Any], words: str | Callable[[str], str]) -> AfterValidator:
    """Return the check of the name of a file in share/; URLs pass."""
    return accepts(lambda path: URL.match(path) or fits(path), words)


_FileName = Annotated[
    str,
    AfterValidator(usable_path),
    accepts(
        lambda path: not URL.match(path) or path.endswith(PARQUET_FILES.released),
        "{shown}; accepted: a URL ending in .parquet, which spark writes",
    ),
    _in_share(
        lambda path: not (any(character in path for character in "/\\\0") or path.startswith(".")),
        "{shown}; accepted: a file name without a folder; -o gives the folder",
    ),
    _in_share(
        lambda path: path.endswith(RELEASED), f"{{shown}}; accepted: a name ending in {', '.join(RELEASED)}"
    ),
    _in_share(lambda path: output_fault(path) is None, lambda path: f"{shown(path)}: {output_fault(path)}"),
]


class OutputSettings(Section):
    """The released file or table."""

    path: _FileName | None = Field(
        default="release.csv",
        description=f"file name in share/; {', '.join(RELEASED[:-1])} or {RELEASED[-1]}; with the engine "
        "spark also a URL such as hdfs://host/release.parquet; default: release. and the format of the input "
        "where it can be written, else release.csv",
    )
    database: Annotated[DatabaseFile | None, PORTABLE] = Field(
        default=None, description="instead of path: a DuckDB file, relative to the config file"
    )
    url: Url | None = Field(default=None, description="instead of path: a PostgreSQL database, as for input")
    table: TableName | None = Field(
        default=None, description="with database or url: the table to create, table or schema.table"
    )
    order: Order = Field(
        default=Order.SORTED, description="sorted by the published values, or shuffled by system randomness"
    )
    separator: Separator | None = Field(
        default=None, description="one character, of a text file; default: that of the input, or a comma"
    )
    encoding: Encoding | None = Field(
        default=None, description="of a text file; default: that of the input, or utf-8"
    )
    decimal: DecimalSign | None = Field(
        default=None,
        description="sign before the fraction of numbers that are released as text; default: as the input",
    )
    missing: Marker | None = Field(
        default=None,
        description="one text for the missing values of all columns of a text file, and '' for a null in "
        "all columns of another file or a table; default: <missing> in quasi-identifiers, and in other "
        "columns the text of the input",
    )

    @classmethod
    def normalize_input(cls, data: Any) -> Any:
        """Return the raw data, without the default path if the release is a table."""
        if isinstance(data, Mapping) and {"database", "url"} & set(data) and "path" not in data:
            return {**data, "path": None}
        return data

    @property
    def in_database(self) -> bool:
        """Whether the release is a table of a database."""
        return self.database is not None or self.url is not None

    @property
    def _marker(self) -> str:
        return shown(self.missing)

    @property
    def is_text(self) -> bool:
        """Whether the release is a text file."""
        return self.path is not None and CSV_FILES.named(self.path)

    together = (
        *one_of("path", "database", "url"),
        Rule(lambda own: not own.in_database and own.path is None, "nothing; accepted: a file name", "path"),
        Rule(
            lambda own: own.in_database and own.table is None,
            "missing; accepted: table or schema.table",
            "table",
        ),
        _needs_database("table"),
        _needs_text("separator"),
        _needs_text("encoding"),
        Rule(
            lambda own: own.missing and not own.is_text,
            "{own._marker} is for text files only; set '' (a null), or a path that ends in .csv or .csv.gz",
            "missing",
        ),
    )
