"""Where a release goes: a folder, a file, a table or a data frame.

A sink takes the release and gives it back to be read before it appears.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from anonymizer.config.model import Config
from anonymizer.data.duckdb.released import Staged, writer_of
from anonymizer.data.open import open_by_engine, open_frame
from anonymizer.data.relation import EngineFolder, Relation, ReleaseQuery
from anonymizer.data.source import CSV_FILES, CsvDialect, EngineOptions, TableName, is_url, location_of
from anonymizer.errors import OutputError
from anonymizer.job.source import DataSource, open_release, release_dialect
from anonymizer.job.verify import release_names
from anonymizer.model.table import LEFT_OUT
from anonymizer.plan.engine import reading_release
from anonymizer.plan.memory import plugged_engine
from anonymizer.plan.plan import Plan
from anonymizer.release.database import DuckDbTable, ReleaseTable, stage, table_digest
from anonymizer.release.folder import ReleaseFolder
from anonymizer.release.signature import Signer
from anonymizer.system import Closing, real_path

if TYPE_CHECKING:
    import pandas


class Sink(Closing):
    """A release that is copied, read back, and committed together with its reports.

    Attributes
    ----------
    titles: the tables of the release in the internal report; empty for DataFrames.
    dialect: of files of text, once they are written.
    """

    titles: Sequence[str] = ()
    dialect: CsvDialect | None = None

    @property
    def scratch(self) -> Path | None:
        """A folder for temporary files; None in memory."""
        return None

    @abstractmethod
    def write(self, tables: Sequence[ReleaseQuery], source: Relation) -> None:
        """Copy the tables of a release, invisible to others; a second call replaces them.

        Parameters
        ----------
        source: the input, by which a file of text is written unless the config sets its format.

        Raises
        ------
        OutputError: they cannot be written.
        """

    @abstractmethod
    def read_back(self) -> Sequence[Relation]:
        """Open the written tables; the report contains the ``sha256`` of each.

        Raises
        ------
        DataError: it cannot be read.
        """

    def named(self, message: str) -> str:
        """Return a message about the written tables with the names that they get in the end."""
        return message

    @abstractmethod
    def keep(self, write: Callable[[ReleaseFolder], None]) -> None:
        """Keep the reports, to appear with the release.

        Parameters
        ----------
        write: writes the reports to the folder of the release; not called for DataFrames.
        """

    @abstractmethod
    def commit(self, last: Callable[[], None]) -> None:
        """Let the release and its reports appear, or restore everything.

        Parameters
        ----------
        last: called while everything can still be undone; an error undoes it.

        Raises
        ------
        OutputError: they cannot appear.
        """

    def close(self) -> None:
        """Undo what was not committed; a second call does nothing."""


class FrameSink(Sink):
    """DataFrames in memory; the caller keeps the reports.

    Attributes
    ----------
    frames: the tables of the release.
    """

    def __init__(self, options: EngineOptions) -> None:
        self.frames: list[pandas.DataFrame] = []
        self._options = options

    def write(self, tables: Sequence[ReleaseQuery], source: Relation) -> None:  # noqa: ARG002 - no text
        """Make the DataFrames."""
        from anonymizer.data.frames import FrameQuery  # noqa: PLC0415 - files do without pandas

        self.frames = [table.frame() for table in tables if isinstance(table, FrameQuery)]

    def read_back(self) -> Sequence[Relation]:
        """Open the DataFrames."""
        return [open_frame(each, self._options) for each in self.frames]

    def keep(self, write: Callable[[ReleaseFolder], None]) -> None:
        """Leave the reports to the caller."""

    def commit(self, last: Callable[[], None]) -> None:
        """Leave the DataFrames to the caller."""
        last()


class FolderSink(Sink):
    """A release whose reports are in a folder.

    Parameters
    ----------
    folder: open; the caller closes it.
    """

    def __init__(self, folder: ReleaseFolder, options: EngineOptions) -> None:
        self._folder = folder
        self._options = options

    @property
    def scratch(self) -> Path:
        """A folder that is removed with the staged files."""
        return self._folder.scratch

    def named(self, message: str) -> str:
        """Return a message with final paths."""
        return self._folder.named(message)

    def keep(self, write: Callable[[ReleaseFolder], None]) -> None:
        """Write the reports to the folder."""
        write(self._folder)

    def commit(self, last: Callable[[], None]) -> None:
        """Put the folder in place, then whatever is outside it; an error undoes both."""

        def end() -> None:
            last()
            self.end()

        self._folder.commit(end)

    def end(self) -> None:
        """Let the part of the release outside the folder appear."""


class FileSink(FolderSink):
    """A file in share/, or the two files of Anatomy."""

    def __init__(self, folder: ReleaseFolder, options: EngineOptions, config: Config) -> None:
        super().__init__(folder, options)
        self.titles = [f"share/{name}" for name in folder.names]
        self._config = config
        names = [name for name, own in config.attributes.items() if own.role not in LEFT_OUT]
        for path in folder.files:
            writer = writer_of(path)
            if writer is not None:
                writer.check_names(path, names)

    def write(self, tables: Sequence[ReleaseQuery], source: Relation) -> None:
        """Write the files in the formats of their suffixes."""
        dialect = release_dialect(self._config, source.separator)
        for table, path in zip(tables, self._folder.files, strict=True):
            writer = writer_of(path)
            if writer is None:
                table.write(path, dialect)
            else:
                writer.write(self._staged(table, source), path)
            self.dialect = dialect if CSV_FILES.named(path.name) else None

    def _staged(self, table: ReleaseQuery, source: Relation) -> Staged:
        """Write the rows as Parquet, for a library that writes another format from it."""
        path = self.scratch / "release.parquet"
        table.copy(path, None)
        kinds = {name: own.type for name, own in self._config.attributes.items()}
        numbers = [
            name
            for name in source.columns
            if source.stores_whole_numbers(name)
            or not source.is_text(name)
            or ((kind := kinds.get(name)) is not None and kind.numeric)
        ]
        return Staged(path, self.scratch, frozenset(numbers), source.labels)

    def read_back(self) -> Sequence[Relation]:
        """Open the files."""
        with ExitStack() as stack:
            tables = [
                stack.enter_context(open_release(path, self._options, self.dialect))
                for path in self._folder.files
            ]
            stack.pop_all()
        return tables


class TableSink(FolderSink):
    """A table of a database; share/ contains only the public report.

    Parameters
    ----------
    title: the table in the internal report.
    """

    def __init__(
        self, folder: ReleaseFolder, options: EngineOptions, table: ReleaseTable, title: str
    ) -> None:
        super().__init__(folder, options)
        self.titles = [title]
        self._table = table
        self._sha256 = ""

    def write(self, tables: Sequence[ReleaseQuery], source: Relation) -> None:
        """Create the table from a staged file, which keeps types and nulls."""
        (table,) = tables
        whole = [name for name in source.columns if source.stores_whole_numbers(name)]
        path = stage(table, self.scratch, whole, self._options)
        self._table.write(path, self._options)
        path.unlink()

    def read_back(self) -> Sequence[Relation]:
        """Open the table inside the transaction."""
        relation = self._table.read(self.scratch, self._options)
        try:
            relation.sha256 = self._sha256 = table_digest(relation, self.scratch)
        except BaseException:
            relation.close()
            raise
        return [relation]

    def end(self) -> None:
        """Commit the transaction."""
        self._table.commit(self._sha256)

    def close(self) -> None:
        """Undo what was not committed."""
        self._table.close()


class RemoteSink(FolderSink):
    """A folder of files on another file system; share/ contains only the public report.

    Parameters
    ----------
    remote: the folder, from the plug-in that reaches the file system.
    """

    def __init__(
        self, folder: ReleaseFolder, options: EngineOptions, remote: EngineFolder, location: str
    ) -> None:
        super().__init__(folder, options)
        self.titles = [location]
        self._remote = remote

    def write(self, tables: Sequence[ReleaseQuery], source: Relation) -> None:  # noqa: ARG002 - no text
        """Write the folder under a temporary name."""
        (table,) = tables
        table.copy(Path(self._remote.staged), None)

    def read_back(self) -> Sequence[Relation]:
        """Open the folder under its temporary name."""
        return [open_by_engine(self._remote.staged, self._options)]

    def named(self, message: str) -> str:
        """Return a message with the final name of the folder."""
        return super().named(message.replace(self._remote.staged, self.titles[0]))

    def end(self) -> None:
        """Rename the folder to its final name."""
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
    """Yield the sink of a config, after checking that the release may be written there.

    Parameters
    ----------
    source: of the records; none of its files is replaced.
    directory: of the release folder.
    options: of the engine that reads the records.
    overwrite: whether an earlier release may be replaced.

    Raises
    ------
    OutputError: the folder or table cannot be created, is an input, or cannot hold an Anatomy release.
    """
    path, options = plan.target.path, reading_release(options, config)
    own = [Path(plan.config)] if Path(plan.config).is_file() else []
    people = [each.path for each in (plan.counting.population, plan.counting.control) if each is not None]
    files = [*source.files, *plan.columns.hierarchy_files, *people, *own, *source.earlier]
    names = () if path is None or is_url(path) else release_names(plan.goal, path)
    signer = None
    if config.sign is not None:
        signer = Signer.of(config.sign.key, [config.folder])
        files += [config.folder / config.sign.path] if config.sign.path is not None else []
    with (
        ReleaseFolder(directory, names, files, overwrite=overwrite, signer=signer) as folder,
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
        return FileSink(folder, options, config)
    table.check()
    title = f"{config.output.database or config.output.url}#{config.output.table}"
    return TableSink(folder, options, table, title)


def _release_table(config: Config, directory: Path, *, overwrite: bool) -> ReleaseTable | None:
    output = config.output
    if output.table is None:
        return None
    name = TableName.parse(output.table)
    if config.in_input_database:
        _check_not_input(config, name)
    if output.database is not None:
        path = config.folder / output.database
        if real_path(path).is_relative_to(real_path(directory / "share")):
            raise OutputError(
                f"{path}: is in share/, which every release replaces as a whole; "
                "set output.database to a file outside share/"
            )
        return DuckDbTable(path, name, overwrite=overwrite)
    assert output.url is not None
    from anonymizer.release.postgres import PostgresTable  # noqa: PLC0415 - files do without it

    return PostgresTable(output.url, name, overwrite=overwrite)


def _check_not_input(config: Config, table: TableName) -> None:
    if config.input.table is None:
        return
    given = TableName.parse(config.input.table)
    if given.name.lower() != table.name.lower():
        return
    if given.schema == table.schema:
        raise OutputError(f"output.table '{table}' is the input, which is never modified; name another table")
    if None in (given.schema, table.schema):  # the default schema of the database is not known yet
        raise OutputError(
            f"output.table '{table}' may be the input '{given}', which is never modified; name another "
            "table, or give both with their schema"
        )
