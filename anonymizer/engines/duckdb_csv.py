"""Load a CSV file into DuckDB, strictly and as text."""

from __future__ import annotations

from pathlib import Path

import duckdb

from anonymizer.engines.csv_header import Header, read_header
from anonymizer.engines.csv_scan import UTF8, Scan, codec, reading, scan
from anonymizer.engines.csv_strict import rewrite
from anonymizer.engines.duckdb import DuckRelation
from anonymizer.engines.duckdb_database import Database
from anonymizer.engines.duckdb_sql import quoted
from anonymizer.engines.file_source import FileSource
from anonymizer.engines.options import CsvDialect
from anonymizer.errors import DataError

LONGEST_RECORD = 4 << 20
"""Bytes of one record up to which the fast reading tries; its buffers grow with it."""


def load_csv(database: Database, path: Path, dialect: CsvDialect, folder: Path) -> DuckRelation:
    """Load a CSV file; ``folder`` takes what has to be rewritten.

    DuckDB reads fast but forgives mixed line ends, stray quotes and surplus empty fields. So it is given
    plain files alone, the separators that it must have met are counted beforehand, and when the sum is off,
    or it fails, the strict reading finds out why.

    The hash and the records come of several passes, so the file must be the same from before the first to
    after the last.

    Raises
    ------
    DataError: as for ``open_csv``.
    """
    with reading(path):
        source = FileSource.of(path, "a CSV file")
    with source.explaining():
        header, found = _loaded(database, path, dialect, folder)
    source.check_bytes(found.sha256)
    return DuckRelation(
        database,
        str(path),
        header.columns,
        sha256=found.sha256,
        separator=header.separator,
        watched=(source,),
    )


def _loaded(database: Database, path: Path, dialect: CsvDialect, folder: Path) -> tuple[Header, Scan]:
    """Create the table ``records``; return the header, and what the pass over the bytes found."""
    header = read_header(path, dialect)
    copy = folder / "utf8.csv"
    found = scan(path, dialect.encoding, header.separator, copy)
    source = plain_name(path if codec(path, dialect.encoding).name in UTF8 else copy, folder)
    fast = found.plain and header.lines == 1 and _read(database, source, header, LONGEST_RECORD)
    if not fast or found.separators != (_rows(database) + 1) * (len(header.columns) - 1):
        strict = folder / "strict.csv"
        rewrite(path, dialect.encoding, header, strict)
        whole = Header(header.columns, header.separator, lines=0)
        if not _read(database, strict, whole, strict.stat().st_size + 1, r"new_line = '\n', "):
            raise DataError(f"{path}: cannot be read as CSV; is one of its fields larger than the memory?")
    return header, found


def plain_name(path: Path, folder: Path) -> Path:
    """Return a path that DuckDB takes by its letter, not as a pattern: itself, or a link in ``folder``."""
    if not any(character in str(path.resolve()) for character in "*?["):
        return path.resolve()
    link = folder / f"input{''.join(path.suffixes[-2:])}"
    link.symlink_to(path.resolve())
    return link


def _rows(database: Database) -> int:
    return int(database.rows("SELECT count(*) FROM records")[0][0])


def _read(database: Database, path: Path, header: Header, longest: int, options: str = "") -> bool:
    """Create the table ``records``; say whether DuckDB could read the file.

    Parameters
    ----------
    longest: bytes of the longest record that is tried.
    options: further ones, in SQL, each with a comma after it.
    """
    names = [f"c{index}" for index in range(len(header.columns))]
    types = ", ".join(f"{name}: 'VARCHAR'" for name in names)
    not_null = ", ".join(map(quoted, names))
    try:
        database.run(
            f"CREATE OR REPLACE TABLE records AS SELECT * FROM read_csv({quoted(path)}, "
            f"{options}columns = {{{types}}}, force_not_null = [{not_null}], auto_detect = false, "
            f"header = false, skip = {header.lines}, delim = {quoted(header.separator)}, quote = '\"', "
            f"escape = '\"', strict_mode = true, max_line_size = {longest}, hive_partitioning = false, "
            f"compression = {quoted('gzip' if path.suffix == '.gz' else 'none')})"
        )
    except duckdb.Error:
        return False
    return True
