"""Where the input of a config is, and how it is opened."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from anonymizer.config.load import check_columns
from anonymizer.config.model import Config
from anonymizer.config.search import EngineName
from anonymizer.data.duckdb.relation import parquet_columns
from anonymizer.data.open import open_by_engine, open_duckdb, open_file, open_frame, open_postgres
from anonymizer.data.relation import Relation
from anonymizer.data.source import (
    CsvDialect,
    EngineOptions,
    Query,
    QueryError,
    Selection,
    TableName,
    WholeTable,
    is_url,
    location_of,
)
from anonymizer.errors import ConfigError, ConfigProblem
from anonymizer.report.build import InputFacts
from anonymizer.run.plan import Plan
from anonymizer.run.prepare import RunMonitor, input_path
from anonymizer.run.search import SearchTask, Task

if TYPE_CHECKING:
    import pandas


class DataSource(ABC):
    """An input that can be opened.

    Attributes
    ----------
    title: what the internal report and messages call it; without a password; None for a DataFrame.
    files: what is read of this machine, which no output may replace.
    earlier: files of an earlier run, of which the same is true.
    """

    title: str | None
    files: Sequence[Path] = ()
    earlier: Sequence[Path] = ()

    @abstractmethod
    def open(self, options: EngineOptions) -> Relation:
        """Open the input.

        Raises
        ------
        DataError: it is not there, or cannot be read.
        """

    @contextmanager
    def opened(self, options: EngineOptions, watch: RunMonitor) -> Iterator[Records]:
        """Yield the records for as long as they are open; raises as ``open`` does."""
        if self.title is not None:
            watch.phase(f"reading {self.title.rpartition('/')[2]}")
        with self.open(options) as relation:
            yield Records(self.title, relation)


class Records:
    """The records of an open source.

    Parameters
    ----------
    title: of the source.
    """

    def __init__(self, title: str | None, relation: Relation) -> None:
        self.relation = relation
        columns = len(relation.columns)
        self.facts = InputFacts(title, relation.sha256, relation.rows, columns, relation.separator)

    def prepare(self, plan: Plan, watch: RunMonitor) -> Task:
        """Return the task of a search.

        Raises
        ------
        InputError: the records do not fit the plan.
        """
        return SearchTask(plan, self.relation, self.facts, watch)


class FrameSource(DataSource):
    """A DataFrame."""

    title = None

    def __init__(self, frame: pandas.DataFrame) -> None:
        self._frame = frame

    def open(self, options: EngineOptions) -> Relation:
        """Open the DataFrame."""
        return open_frame(self._frame, options)


class FileSource(DataSource):
    """A data file.

    Parameters
    ----------
    given: its path as the config has it.
    path: where it lies.
    """

    def __init__(self, given: str, path: Path, dialect: CsvDialect) -> None:
        self.title = given
        self.files = (path,)
        self._path = path
        self._dialect = dialect

    def open(self, options: EngineOptions) -> Relation:
        """Open the file by its suffix."""
        return open_file(self._path, self._dialect, options)


class EngineSource(DataSource):
    """A file, or a folder of files, that an engine of another room reads.

    Parameters
    ----------
    given: its path or URL as the config has it.
    config: that names it.
    """

    def __init__(self, given: str, config: Config) -> None:
        folder = config.folder
        self.title = given
        self._config = config
        self.files = () if is_url(given) else (folder / given,)
        self._location = given if is_url(given) else location_of(folder / given)

    def open(self, options: EngineOptions) -> Relation:
        """Open it where it lies.

        Raises
        ------
        ConfigError: its columns are not those of the config, as far as Parquet tells them here.
        """
        for path in self.files:
            columns = parquet_columns(path, frozenset(self._config.attributes))
            if columns is not None:
                check_columns(self._config.attributes, columns, str(self.title), self._config.source)
        return open_by_engine(self._location, options)


class DuckDbSource(DataSource):
    """A table or a query of a DuckDB file.

    Parameters
    ----------
    given: its path as the config has it.
    path: where it lies.
    allow_files: whether the query may read other files.
    """

    def __init__(self, given: str, path: Path, selection: Selection, *, allow_files: bool) -> None:
        self.title = f"{given}#{selection.label}"
        self.files = (path,)
        self._path = path
        self._selection = selection
        self._allow_files = allow_files

    def open(self, options: EngineOptions) -> Relation:
        """Read the rows; the file is closed again."""
        return open_duckdb(self._path, self._selection, options, allow_files=self._allow_files)


class PostgresSource(DataSource):
    """A table or a query of PostgreSQL.

    Parameters
    ----------
    url: as the config has it.
    allow_files: whether the query may read files of the server.
    """

    def __init__(self, url: str, selection: Selection, *, allow_files: bool) -> None:
        self.title = f"{url}#{selection.label}"
        self._url = url
        self._selection = selection
        self._allow_files = allow_files

    def open(self, options: EngineOptions) -> Relation:
        """Read the rows; the connection is closed again."""
        return open_postgres(self._url, self._selection, options, allow_files=self._allow_files)


class QueriedSource(DataSource):
    """A database of which a query is read, whose faults are the config's.

    Parameters
    ----------
    opened: the database and the query.
    config: the name of the config file.
    """

    def __init__(self, opened: DataSource, config: str) -> None:
        self.title, self.files = opened.title, opened.files
        self._opened, self._config = opened, config

    def open(self, options: EngineOptions) -> Relation:
        """Read the rows.

        Raises
        ------
        ConfigError: the query is not one that only reads, or the database refuses it.
        """
        try:
            return self._opened.open(options)
        except QueryError as error:
            raise ConfigError(self._config, [ConfigProblem("input.query", str(error))]) from None


def input_source(config: Config) -> DataSource:
    """Return the input of a config.

    Raises
    ------
    ConfigError: the config names none.
    """
    given = config.input
    selection = Query(given.query) if given.query is not None else _table(given.table)
    if selection is not None:
        database = _database(config, selection)
        return QueriedSource(database, config.source) if isinstance(selection, Query) else database
    path = input_path(config)
    if config.engine.name not in set(EngineName):
        return EngineSource(given.path or path.name, config)
    return FileSource(given.path or path.name, path, CsvDialect(given.separator, given.encoding))


def _database(config: Config, selection: Selection) -> DataSource:
    """Return the rows of the database that a config names."""
    given = config.input
    if given.url is not None:
        return PostgresSource(given.url, selection, allow_files=given.allow_files)
    assert given.database is not None
    path = config.folder / given.database
    return DuckDbSource(given.database, path, selection, allow_files=given.allow_files)


def _table(name: str | None) -> WholeTable | None:
    return None if name is None else WholeTable(TableName.parse(name))
