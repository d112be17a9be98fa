"""CSV files, loaded strictly and as text: the example for another input format, a class in a module here."""

from __future__ import annotations

from pathlib import Path

import duckdb

from anonymizer.data.csv import UTF8, Header, Scan, codec, read_header, rewrite, scan
from anonymizer.data.duckdb.database import Database, plain_name
from anonymizer.data.duckdb.relation import DuckRelation, InputFormat
from anonymizer.data.source import (
    CSV_FILES,
    CsvDialect,
    FileSource,
    Naming,
    is_gzipped,
    quoted,
)
from anonymizer.errors import DataError

LONGEST_RECORD = 4 << 20
"""Maximum bytes of a record in the fast reading, whose buffers grow with it."""


class Csv(InputFormat):
    """A CSV file, gzipped if its name ends in ``.gz``; every field is a text, possibly empty.

    DuckDB is fast, but accepts mixed line ends, stray quotes and surplus empty fields. So it reads plain
    files only. The separators are counted before; if DuckDB finds another number of fields, or fails, the
    strict reader finds the fault.
    """

    name = "csv"
    kind = "a CSV file"
    suffixes = CSV_FILES.suffixes

    def load(self, database: Database, source: FileSource, folder: Path) -> DuckRelation:
        """Load the file, which is read several times; ``folder`` is for rewritten copies.

        Raises
        ------
        DataError: empty, header only, a record of another width, a misplaced quote, undecodable, NUL bytes, a
            damaged gzip file.
        """
        path = source.path
        header = read_header(path, self.dialect, strict=self.options.strict_header)
        found = _loaded(database, path, self.dialect, header, folder)
        source.check_bytes(found.sha256)
        naming = Naming(header.columns, header.warnings)
        return DuckRelation(database, str(path), naming, sha256=found.sha256, separator=header.separator)


def _loaded(database: Database, path: Path, dialect: CsvDialect, header: Header, folder: Path) -> Scan:
    """Create the table ``records``; return the scan."""
    copy = folder / "utf8.csv"
    found = scan(path, dialect.encoding, header.separator, copy)
    source = plain_name(path if codec(path, dialect.encoding).name in UTF8 else copy, folder)
    fast = found.plain and header.simple and _read(database, source, header, LONGEST_RECORD)
    separators = found.separators - header.noted_separators
    if not fast or separators != (_rows(database) + 1) * (len(header.columns) - 1):
        strict = folder / "strict.csv"
        rewrite(path, dialect.encoding, header, strict)
        whole = Header(header.columns, header.separator, lines=0)
        if not _read(database, strict, whole, strict.stat().st_size + 1, r"new_line = '\n', "):
            raise DataError(
                f"{path}: cannot be read as CSV, perhaps for a field larger than the memory; raise "
                "engine.memory_limit"
            )
    return found


def _rows(database: Database) -> int:
    return int(database.rows("SELECT count(*) FROM records")[0][0])


def _read(database: Database, path: Path, header: Header, longest: int, options: str = "") -> bool:
    """Create the table ``records``; return whether DuckDB could read the file.

    Parameters
    ----------
    longest: maximum bytes of a record.
    options: more options in SQL, each with a comma after it.
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
            f"compression = {quoted('gzip' if is_gzipped(path) else 'none')})"
        )
    except duckdb.Error:
        return False
    return True
