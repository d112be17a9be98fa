"""Sinks: where the release of a run goes, and is read back before it appears.

Files in the release folder, a table of a database, a folder on another file system, or DataFrames in memory.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from anonymizer.config.model import Config
from anonymizer.data.engine import EngineFolder
from anonymizer.data.frames import FrameQuery
from anonymizer.data.open import open_by_engine, open_frame
from anonymizer.data.relation import Relation, ReleaseQuery
from anonymizer.data.source import EngineOptions, TableName, is_url, location_of
from anonymizer.errors import OutputError
from anonymizer.release.database import DuckDbTable, PostgresTable, ReleaseTable, table_digest
from anonymizer.release.folder import ReleaseFolder
from anonymizer.release.formats import release_separator
from anonymizer.run.engine import plugged_engine
from anonymizer.run.plan import Plan, writes_beside_the_input
from anonymizer.run.prepare import open_release
from anonymizer.run.shape import release_names
from anonymizer.run.source import DataSource
from anonymizer.system import Closing

if TYPE_CHECKING:
    import pandas


class Sink(Closing):
    """A release that is copied, read back, and committed together with its reports.

    Attributes
    ----------
    titles: what the internal report calls the tables of the release; none of DataFrames.
    """

    titles: Sequence[str] = ()

    @property
    def scratch(self) -> Path | None:
        """A folder for temporary files; None in memory."""
        return None

    @abstractmethod
    def write(self, tables: Sequence[ReleaseQuery]) -> None:
        """Copy the tables of a release, where nobody else sees them yet; asked again, replace them.

        Raises
        ------
        OutputError: they cannot be written.
        """

    @abstractmethod
    def read_back(self) -> Sequence[Relation]:
        """Open what was written; the ``sha256`` of each table is what the report gives.

        Raises
        ------
        DataError: it cannot be read.
        """

    @abstractmethod
    def keep(self, write: Callable[[ReleaseFolder], None]) -> None:
        """Have reports written where they appear with the release.

        Parameters
        ----------
        write: writes them to a folder, where there is one.
        """

    @abstractmethod
    def commit(self, last: Callable[[], None]) -> None:
        """Let the release and its reports appear; when that fails, all is as it was.

        Parameters
        ----------
        last: what has to happen as well, while all can still be undone; it is undone when this fails.

        Raises
        ------
        OutputError: they cannot.
        """

    def close(self) -> None:
        """Undo what was not committed; a second call does nothing."""


class FrameSink(Sink):
    """DataFrames in memory; reports are the caller's.

    Attributes
    ----------
    frames: the tables of the release.
    """

    def __init__(self, options: EngineOptions) -> None:
        self.frames: list[pandas.DataFrame] = []
        self._options = options

    def write(self, tables: Sequence[ReleaseQuery]) -> None:
        """Make the DataFrames."""
        self.frames = [table.frame() for table in tables if isinstance(table, FrameQuery)]

    def read_back(self) -> Sequence[Relation]:
        """Open the DataFrames."""
        return [open_frame(each, self._options) for each in self.frames]

    def keep(self, write: Callable[[ReleaseFolder], None]) -> None:
        """Leave reports to the caller."""

    def commit(self, last: Callable[[], None]) -> None:
        """Leave the DataFrames to the caller."""
        last()


class FolderSink(Sink):
    """A release whose reports are in a folder.

    Parameters
    ----------
    folder: opened; stays the caller's.
    """

    def __init__(self, folder: ReleaseFolder, options: EngineOptions) -> None:
        self._folder = folder
        self._options = options

    @property
    def scratch(self) -> Path:
        """A folder that is gone with what was not committed."""
        return self._folder.scratch

    def keep(self, write: Callable[[ReleaseFolder], None]) -> None:
        """Have the reports written to the folder."""
        write(self._folder)

    def commit(self, last: Callable[[], None]) -> None:
        """Put the folder in its place, and end what else there is; the folder goes back where that fails."""

        def end() -> None:
            last()
            self.end()

        self._folder.commit(end)

    def end(self) -> None:
        """Let what is not in the folder appear."""


class FileSink(FolderSink):
    """A file in share/, or two."""

    def __init__(self, folder: ReleaseFolder, options: EngineOptions) -> None:
        super().__init__(folder, options)
        self.titles = [f"share/{name}" for name in folder.names]

    def write(self, tables: Sequence[ReleaseQuery]) -> None:
        """Write the files as their suffix says."""
        for table, path in zip(tables, self._folder.files, strict=True):
            table.copy(path, release_separator(path))

    def read_back(self) -> Sequence[Relation]:
        """Open the files."""
        with ExitStack() as stack:
            tables = [stack.enter_context(open_release(path, self._options)) for path in self._folder.files]
            stack.pop_all()
        return tables


class TableSink(FolderSink):
    """A table; share/ then holds the public report alone.

    Parameters
    ----------
    title: what the internal report calls the table.
    """

    def __init__(
        self, folder: ReleaseFolder, options: EngineOptions, table: ReleaseTable, title: str
    ) -> None:
        super().__init__(folder, options)
        self.titles = [title]
        self._table = table
        self._sha256 = ""

    def write(self, tables: Sequence[ReleaseQuery]) -> None:
        """Write a Parquet file, which keeps types and nulls, and make the table of it."""
        (table,) = tables
        path = self.scratch / "release.parquet"
        table.copy(path, None)
        self._table.write(path, self._options)
        path.unlink()

    def read_back(self) -> Sequence[Relation]:
        """Open the table as the transaction sees it."""
        relation = self._table.read(self.scratch, self._options)
        try:
            relation.sha256 = self._sha256 = table_digest(relation, self.scratch)
        except BaseException:
            relation.close()
            raise
        return [relation]

    def end(self) -> None:
        """End the transaction."""
        self._table.commit(self._sha256)

    def close(self) -> None:
        """Undo what was not committed."""
        self._table.close()


class RemoteSink(FolderSink):
    """A folder of files on another file system; share/ then holds the public report alone.

    Parameters
    ----------
    remote: the folder, of the plug-in that reaches the file system.
    """

    def __init__(
        self, folder: ReleaseFolder, options: EngineOptions, remote: EngineFolder, location: str
    ) -> None:
        super().__init__(folder, options)
        self.titles = [location]
        self._remote = remote

    def write(self, tables: Sequence[ReleaseQuery]) -> None:
        """Write the folder under another name."""
        (table,) = tables
        table.copy(Path(self._remote.staged), None)

    def read_back(self) -> Sequence[Relation]:
        """Open the folder under that name."""
        return [open_by_engine(self._remote.staged, self._options)]

    def end(self) -> None:
        """Give the folder its name."""
        self._remote.commit()

    def close(self) -> None:
        """Undo what was not committed."""
        self._remote.close()


@contextmanager
def sink_of(
    config: Config,
    plan: Plan,
    source: DataSource,
    directory: Path,
    options: EngineOptions,
    *,
    overwrite: bool,
) -> Iterator[Sink]:
    """Yield where a release goes, once it is clear that it may.

    Parameters
    ----------
    source: of the records; nothing that it reads is replaced.
    directory: of the release folder.
    overwrite: whether an earlier release may be replaced.

    Raises
    ------
    OutputError: the folder or table cannot be made, is an input, or would not do for a release in two.
    """
    path = plan.output
    own = [Path(plan.config)] if Path(plan.config).is_file() else []
    files = [*source.files, *plan.hierarchy_files, *own, *source.earlier]
    names = () if path is None or is_url(path) else release_names(plan, path)
    first, second = (*names, None, None)[:2]
    with (
        ReleaseFolder(directory, first, files, overwrite=overwrite, second_name=second) as folder,
        _sink(config, directory, folder, options, overwrite=overwrite) as sink,
    ):
        yield sink


def _sink(
    config: Config, directory: Path, folder: ReleaseFolder, options: EngineOptions, *, overwrite: bool
) -> FolderSink:
    path = config.output.path
    if path is not None and is_url(path):
        source = str(config.input.path)
        given = source if is_url(source) else location_of(config.folder / source)
        plugged = plugged_engine(config)
        assert plugged is not None, "engine_options refuses URLs with other engines"
        remote = plugged.folder(path, directory, given, options, overwrite=overwrite)
        return RemoteSink(folder, options, remote, path)
    table = _release_table(config, directory, overwrite=overwrite)
    if table is None:
        return FileSink(folder, options)
    if config.algorithm.plug_in.in_groups:
        raise OutputError(
            f"output.table '{config.output.table}': algorithm {config.algorithm.name} releases two tables, "
            "which are written as files; set output.path instead"
        )
    table.check()
    title = f"{config.output.database or config.output.url}#{config.output.table}"
    return TableSink(folder, options, table, title)


def _release_table(config: Config, directory: Path, *, overwrite: bool) -> ReleaseTable | None:
    output = config.output
    if output.table is None:
        return None
    name = TableName.parse(output.table)
    if writes_beside_the_input(config):
        _refuse_input(config, name)
    if output.database is not None:
        path = config.folder / output.database
        if path.resolve().is_relative_to((directory / "share").resolve()):
            raise OutputError(
                f"{path}: share/ is replaced as a whole, and would take the database with it; "
                "set output.database to a file beside it, or to another folder"
            )
        return DuckDbTable(path, name, overwrite=overwrite)
    assert output.url is not None
    return PostgresTable(output.url, name, overwrite=overwrite)


def _refuse_input(config: Config, table: TableName) -> None:
    if config.input.table is None:
        return
    given = TableName.parse(config.input.table)
    if given.name.lower() != table.name.lower():
        return
    if given.schema == table.schema:
        raise OutputError(
            f"output.table '{table}': is the input, which is never modified; name another table"
        )
    if None in (given.schema, table.schema):  # which one the database looks in is not known yet
        raise OutputError(
            f"output.table '{table}': may be the input '{given}', which is never modified; name another "
            "table, or give both with their schema"
        )
