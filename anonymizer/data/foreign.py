"""Files and places that are not read, each with how to go on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anonymizer.data.source import split_suffix
from anonymizer.distribution import installing
from anonymizer.errors import InputError
from anonymizer.system import shell_words

HADOOP = re.compile(r"abfss?|adl|alluxio|cosn|dbfs|file|gs|o3fs|ofs|oss|s3[an]|(sweb|web)?hdfs|viewfs|wasbs?")
"""Schemes of the file systems that a remote engine reads."""

SERVERS = ("postgresql", "postgres")
"""Schemes of the databases that are read, by the URL of the server."""

WEB = frozenset({"ftp", "ftps", "http", "https", "scp", "sftp"})

DATABASES = re.compile(
    r"(clickhouse|cockroachdb|db2|duckdb|mariadb|mongodb|mssql|mysql|oracle|postgres(ql)?|redshift|snowflake"
    r"|sqlite|sqlserver)([+].*)?"
)

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+):/+", re.IGNORECASE)

_CONVERTED = {
    ".sav": ("read_spss", "pyreadstat"),
    ".zsav": ("read_spss", "pyreadstat"),
    ".dta": ("read_stata", None),
    ".sas7bdat": ("read_sas", None),
    ".xpt": ("read_sas", None),
    ".xlsx": ("read_excel", "openpyxl"),
    ".xlsm": ("read_excel", "openpyxl"),
    ".xls": ("read_excel", "xlrd"),
    ".ods": ("read_excel", "odfpy"),
    ".json": ("read_json", None),
    ".feather": ("read_feather", "pyarrow"),
    ".arrow": ("read_feather", "pyarrow"),
    ".orc": ("read_orc", "pyarrow"),
    ".xml": ("read_xml", "lxml"),
    ".txt": ("read_csv", None),
    ".dat": ("read_csv", None),
}
"""The function of pandas that reads a kind of file, and the package that it needs besides."""

_OPTIONS = {
    "read_excel": ", dtype=str",
    "read_json": ", lines=True",
    "read_csv": ", dtype=str, keep_default_na=False, sep=None, engine='python'",
}
"""Options so that codes stay texts, and lines are read as they are written."""


def conversion(path: Path) -> str:
    """Return the line about how to convert a file of an unknown kind; empty if it is not known how.

    >>> print(conversion(Path("a.xml")).partition("; ")[2])
    pandas.read_xml("a.xml").to_csv("a.csv", index=False)' (needs the package lxml)
    """
    suffix = path.suffix.lower()
    if suffix in (".rds", ".rda", ".rdata"):
        return "\n  to convert it, in R: write.csv(DATA, 'data.csv', row.names = FALSE, na = '')"
    if suffix in (".zip", ".7z", ".xz", ".bz2", ".zst", ".tar", ".tgz", ".gz"):
        return "\n  unpack it first, and give the file in it"
    if suffix not in _CONVERTED:
        return ""
    function, package = _CONVERTED[suffix]
    options = "" if suffix == ".json" else _OPTIONS.get(function, "")
    stem, _ = split_suffix(path.name, (suffix,))
    given, made = _literal(str(path)), _literal(str(path.with_name(f"{stem}.csv")))
    script = f"import pandas; pandas.{function}({given}{options}).to_csv({made}, index=False)"
    needs = "" if package is None else f" (needs the package {package})"
    return f"\n  to convert it: {shell_words(['python', '-c', script])}{needs}"


@contextmanager
def needing(path: Path) -> Iterator[None]:
    """Replace the error of an import in the block by one that says how to go on with a file.

    Raises
    ------
    InputError: a library that reads or writes such files is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise InputError(
            f"{path}: {path.suffix.lower()} files need the package {error.name}; "
            f"{installing('office')}{conversion(path)}"
        ) from None


def _literal(text: str) -> str:
    """Return a text in Python, in double quotes, which a shell leaves alone in single ones."""
    return '"' + repr(text + "'")[1:-2].replace("\\'", "'").replace('"', '\\"') + '"'


def elsewhere(given: str) -> str | None:
    """Return how to go on with a URL that nothing here reads; None for other texts.

    The URL is not in it, as it may hold a password.

    >>> elsewhere("https://host/people.csv")
    'is on the web; download it, such as with curl -O URL, and give the file'
    >>> elsewhere("hdfs://host/people.parquet"), elsewhere("people.csv")
    (None, None)
    """
    found = _SCHEME.match(given)
    if found is None:
        return None
    scheme = found[1].lower()
    if HADOOP.fullmatch(scheme) or scheme in SERVERS:
        return None
    if scheme in WEB:
        return "is on the web; download it, such as with curl -O URL, and give the file"
    if DATABASES.fullmatch(scheme):
        export = 'pandas.read_sql("SELECT * FROM TABLE", CONNECTION).to_csv("people.csv", index=False)'
        read = "accepted: a DuckDB file, or postgresql://USER@HOST/DATABASE"
        return f"is a database that is not read; {read}; or export the table, such as with {export}"
    if scheme == "s3":
        return "is in object storage; copy it here, such as with aws s3 cp URL people.csv, and give the file"
    return "is not on this machine; copy it here, and give the file"
