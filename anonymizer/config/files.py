"""``input:`` and ``output:`` of a config: files or database tables, and how they are read and written.

A database is a DuckDB file or the URL of a server.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Self
from urllib.parse import parse_qsl, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from anonymizer.config.section import Section, problem, refusal, shown
from anonymizer.data.source import CSV_FILES, PARQUET_FILES
from anonymizer.model.table import COMMA_SIGN, POINT_SIGN, Numerals
from anonymizer.plugins import FilePath, usable_path
from anonymizer.system import output_fault

SCHEMES = ("postgresql", "postgres")
"""What the URL of a database may start with."""

_VARIABLE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")
_PART = r'(?:[^."\0]+|"(?:[^"\0]|"")+")'
_TABLE = re.compile(rf"(?:{_PART}\.)?{_PART}")
_SECRET_OPTIONS = frozenset({"password", "sslpassword", "oauth_client_secret"})


def _url_without_password(url: str) -> str:
    """Refuse a password: a config is copied into reports. No message shows the URL."""
    if _VARIABLE.fullmatch(url):
        return url
    accepted = "accepted: postgresql://USER@HOST/DATABASE, or ${NAME} for an environment variable with one"
    try:
        parts = urlsplit(url)
        password, options = parts.password, parse_qsl(parts.query, strict_parsing=bool(parts.query))
        _ = parts.port
    except ValueError:
        raise ValueError(f"is no URL, special characters in it must be percent-encoded; {accepted}") from None
    if parts.scheme not in SCHEMES or parts.fragment:
        raise ValueError(f"is no URL of a known database; {accepted}")
    secrets = [password, *(value for key, value in options if key.lower() in _SECRET_OPTIONS)]
    if any(secret and not _VARIABLE.fullmatch(secret) for secret in secrets):
        raise ValueError(
            "holds a password, which a config must not; write ${NAME} in its place and set the environment "
            "variable NAME, or leave it out and set PGPASSWORD or ~/.pgpass"
        )
    return url


def _portable(path: str) -> str:
    fault = output_fault(path)
    if fault is not None:
        raise ValueError(f"{shown(path)}: {fault}")
    return path


def _table_name(name: str) -> str:
    if not _TABLE.fullmatch(name):
        raise ValueError(
            f"{shown(name)}; accepted: table or schema.table as the database spells them, a part with a dot "
            'in double quotes: "a.b"'
        )
    return name


DatabaseFile = FilePath
"""The path of a DuckDB file, relative to the config file."""

Url = Annotated[
    str,
    AfterValidator(_url_without_password),
    WithJsonSchema({"type": "string", "examples": ["postgresql://USER@HOST/DATABASE"]}),
]
"""The URL of a database server, which never holds a password."""

TableName = Annotated[
    str, AfterValidator(_table_name), WithJsonSchema({"type": "string", "examples": ["schema.table"]})
]
"""A table, or a schema and a table."""

URL = re.compile(r"[a-z][a-z0-9+.-]+://")
"""How a path on another file system begins."""

RELEASE_SUFFIXES = CSV_FILES.released + PARQUET_FILES.released
"""What the name of a released file may end in."""


def _token(value: Any) -> Any:
    """Numbers stand for their text: ``missing: [-9]`` is what people write."""
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return str(value) if is_number else value


Token = Annotated[str, BeforeValidator(_token), WithJsonSchema({"type": ["string", "number"]})]
"""A text that a cell may hold."""


class DecimalSign(StrEnum):
    """What stands before the fraction of a number."""

    POINT = POINT_SIGN
    COMMA = COMMA_SIGN


class InputSettings(Section):
    """The file or table to anonymize and how to read it."""

    path: FilePath | None = Field(
        default=None, description="relative to the config file; .csv, .csv.gz, .tsv or .parquet"
    )
    database: DatabaseFile | None = Field(
        default=None, description="instead of path: a DuckDB file, relative to the config file"
    )
    url: Url | None = Field(
        default=None,
        description="instead of path: a PostgreSQL database, without a password; ${NAME} stands for an "
        "environment variable",
    )
    table: TableName | None = Field(default=None, description="of database or url: table or schema.table")
    query: str | None = Field(
        default=None, min_length=1, description="of database or url, instead of table: one SELECT"
    )
    allow_files: bool = Field(
        default=False,
        description="whether the query or view may read files of the database's machine, such as "
        "read_csv('x.csv') in DuckDB or pg_read_file('x') in PostgreSQL",
    )
    separator: str | None = Field(default=None, description="one character; default: detected, and reported")
    encoding: str = Field(default="utf-8", description="of a text file")
    decimal: DecimalSign = Field(
        default=DecimalSign.POINT,
        description="what stands before the fraction in texts that are numbers; with ',' points or blanks "
        "may stand between thousands, as in 1.234,5",
    )
    missing: tuple[Token, ...] = Field(default=("",), description="texts that mean a value is missing")

    @property
    def numerals(self) -> Numerals:
        """How texts write numbers."""
        return Numerals(self.decimal.value)

    @field_validator("separator")
    @classmethod
    def _one_character(cls, separator: str | None) -> str | None:
        if separator is not None and (len(separator) != 1 or separator in '"\r\n\0'):
            raise ValueError(f"{shown(separator)}; accepted: one character such as ',' ';' '|' or a tab")
        return separator

    @field_validator("encoding")
    @classmethod
    def _known_encoding(cls, encoding: str) -> str:
        try:
            "".encode(encoding)
            codecs.lookup(encoding)
        except (LookupError, ValueError):
            known = "a text encoding such as utf-8, latin-1, cp1252 or utf-16"
            raise ValueError(f"{shown(encoding)}; accepted: {known}") from None
        return encoding

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        _only_one(self, ("path", "database", "url"))
        _only_one(self, ("table", "query"))
        in_database = self.database is not None or self.url is not None
        if in_database and self.table is None and self.query is None:
            raise refusal([problem("missing; accepted: table or schema.table, or query", ("table",))])
        for key in ("table", "query"):
            if not in_database and getattr(self, key) is not None:
                raise refusal([problem("goes with database or url, which is missing", (key,))])
        if self.allow_files and not in_database:
            raise refusal([problem("goes with database or url, which is missing", ("allow_files",))])
        for key, default in (("separator", None), ("encoding", "utf-8")):
            if in_database and getattr(self, key) != default:
                raise refusal([problem("is of a text file, which a database is not; remove it", (key,))])
        return self


def _only_one(section: Section, keys: tuple[str, ...]) -> None:
    given = [key for key in keys if getattr(section, key) is not None]
    if len(given) > 1:
        raise refusal([problem(f"stands beside {given[0]}; accepted: one of the two", (given[1],))])


class Order(StrEnum):
    """The order of the released records; it must tell nothing of the input's."""

    SORTED = "sorted"
    SHUFFLED = "shuffled"


class OutputSettings(Section):
    """The released file or table."""

    path: str | None = Field(
        default="release.csv",
        description="file name in share/; .csv, .csv.gz or .parquet; with the engine "
        "spark also a URL such as hdfs://host/release.parquet",
    )
    database: DatabaseFile | None = Field(
        default=None, description="instead of path: a DuckDB file, relative to the config file"
    )
    url: Url | None = Field(default=None, description="instead of path: a PostgreSQL database, as for input")
    table: TableName | None = Field(
        default=None, description="of database or url: the table to make, table or schema.table"
    )
    order: Order = Field(
        default=Order.SORTED, description="by the published values, or shuffled by system randomness"
    )

    @classmethod
    def normalize_input(cls, data: Any) -> Any:
        """Return the raw data, without the default path where the release is a table."""
        if isinstance(data, Mapping) and {"database", "url"} & set(data) and "path" not in data:
            return {**data, "path": None}
        return data

    @field_validator("path")
    @classmethod
    def _file_name(cls, path: str | None) -> str | None:
        if path is None:
            return None
        usable_path(path)
        if URL.match(path):
            if not path.endswith(PARQUET_FILES.released):
                raise ValueError(f"{shown(path)}; accepted: a URL ending in .parquet, which spark writes")
            return path
        if any(character in path for character in "/\\\0") or path.startswith("."):
            raise ValueError(f"{shown(path)}; accepted: a file name without a folder; -o gives the folder")
        if not path.endswith(RELEASE_SUFFIXES):
            raise ValueError(f"{shown(path)}; accepted: a name ending in {', '.join(RELEASE_SUFFIXES)}")
        return _portable(path)

    @field_validator("database")
    @classmethod
    def _portable_database(cls, path: str | None) -> str | None:
        return path if path is None else _portable(path)

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        _only_one(self, ("path", "database", "url"))
        in_database = self.database is not None or self.url is not None
        if not in_database and self.path is None:
            raise refusal([problem("nothing; accepted: a file name", ("path",))])
        if in_database != (self.table is not None):
            missing = "missing; accepted: table or schema.table"
            what = missing if in_database else "goes with database or url, which is missing"
            raise refusal([problem(what, ("table",))])
        return self
