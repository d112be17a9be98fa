"""Databases in a config: a DuckDB file or the URL of a server, and tables in them."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import parse_qsl, urlsplit

from pydantic import AfterValidator, WithJsonSchema

from anonymizer.config.words import shown
from anonymizer.plugins import FilePath

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
