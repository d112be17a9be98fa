"""What a caller says of an engine, and of how text is to be read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


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
    spark: settings of Spark with their values, ``master`` among them; None where Spark is not to read.
    named: columns with a role; the index of pandas in a Parquet file is left out unless it is one of them.
        None to leave nothing out.
    """

    memory_limit: str | None = None
    threads: int | None = None
    temp_directory: Path | None = None
    combinations: int | None = None
    spark: tuple[tuple[str, str], ...] | None = None
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
