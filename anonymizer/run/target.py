"""Where the release of a config goes: a file in the release folder, or a table."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from anonymizer.config.model import Config
from anonymizer.data.open import open_by_engine
from anonymizer.data.relation import Relation, ReleaseQuery
from anonymizer.data.source import TableName, is_url, location_of
from anonymizer.errors import OutputError
from anonymizer.release.database import DuckDbTable, PostgresTable, ReleaseTable, table_digest
from anonymizer.release.folder import ReleaseFolder
from anonymizer.release.formats import release_separator
from anonymizer.run.engine import engine_options, plugged_engine
from anonymizer.run.job import open_release
from anonymizer.system import Closing


class ReleaseTarget(Closing):
    """A release that is written, read back, and committed together with the folder of its reports.

    Attributes
    ----------
    titles: what the internal report calls the tables of the release.
    """

    titles: Sequence[str]

    @abstractmethod
    def write(self, tables: Sequence[ReleaseQuery]) -> None:
        """Write what is published, where nobody else sees it yet.

        Parameters
        ----------
        tables: of the release.

        Raises
        ------
        OutputError: it cannot be written.
        """

    @abstractmethod
    def read_back(self) -> Sequence[Relation]:
        """Open what was written; the ``sha256`` of each table is what the report gives.

        Raises
        ------
        DataError: it cannot be read.
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

    @abstractmethod
    def close(self) -> None:
        """Undo what was not committed; a second call does nothing."""


class FileTarget(ReleaseTarget):
    """A file in share/, or two."""

    def __init__(self, config: Config, folder: ReleaseFolder) -> None:
        self.titles = [f"share/{name}" for name in folder.names]
        self._folder = folder
        self._options = engine_options(config)

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

    def commit(self, last: Callable[[], None]) -> None:
        """Put the folder in its place."""
        self._folder.commit(last)

    def close(self) -> None:
        """Leave it to the folder, which removes what was not committed."""


class TableTarget(ReleaseTarget):
    """A table; share/ then holds the public report alone."""

    def __init__(self, config: Config, folder: ReleaseFolder, table: ReleaseTable) -> None:
        self.titles = [f"{config.output.database or config.output.url}#{config.output.table}"]
        self._folder = folder
        self._table = table
        self._options = engine_options(config)
        self._sha256 = ""

    def write(self, tables: Sequence[ReleaseQuery]) -> None:
        """Write a Parquet file, which keeps types and nulls, and make the table of it."""
        (table,) = tables
        path = self._folder.scratch / "release.parquet"
        table.copy(path, None)
        self._table.write(path, self._options)
        path.unlink()

    def read_back(self) -> Sequence[Relation]:
        """Open the table as the transaction sees it."""
        relation = self._table.read(self._folder.scratch, self._options)
        try:
            relation.sha256 = self._sha256 = table_digest(relation, self._folder.scratch)
        except BaseException:
            relation.close()
            raise
        return [relation]

    def commit(self, last: Callable[[], None]) -> None:
        """Put the reports in their place, and end the transaction; they go back where that fails."""

        def end() -> None:
            last()
            self._table.commit(self._sha256)

        self._folder.commit(end)

    def close(self) -> None:
        """Undo what was not committed."""
        self._table.close()


class RemoteTarget(ReleaseTarget):
    """A folder of files on another file system; share/ then holds the public report alone."""

    def __init__(
        self, config: Config, directory: Path, folder: ReleaseFolder, location: str, *, overwrite: bool
    ) -> None:
        self.titles = [location]
        self._folder = folder
        self._options = engine_options(config)
        source = str(config.input.path)
        given = source if is_url(source) else location_of(config.folder / source)
        plugged = plugged_engine(config)
        assert plugged is not None, "engine_options refuses URLs with other engines"
        self._remote = plugged.folder(location, directory, given, self._options, overwrite=overwrite)

    def write(self, tables: Sequence[ReleaseQuery]) -> None:
        """Write the folder under another name."""
        (table,) = tables
        table.copy(Path(self._remote.staged), None)

    def read_back(self) -> Sequence[Relation]:
        """Open the folder under that name."""
        return [open_by_engine(self._remote.staged, self._options)]

    def commit(self, last: Callable[[], None]) -> None:
        """Put the reports in their place, and give the folder its name; they go back where that fails."""

        def end() -> None:
            last()
            self._remote.commit()

        self._folder.commit(end)

    def close(self) -> None:
        """Undo what was not committed."""
        self._remote.close()


def release_target(
    config: Config, directory: Path, folder: ReleaseFolder, *, overwrite: bool
) -> ReleaseTarget:
    """Return where a release goes, once it is clear that it may.

    Parameters
    ----------
    directory: of the release folder.
    overwrite: whether an earlier release may be replaced.

    Raises
    ------
    OutputError: the table cannot be made, is the input, or would not do for a release in two.
    """
    path = config.output.path
    if path is not None and is_url(path):
        return RemoteTarget(config, directory, folder, path, overwrite=overwrite)
    table = _release_table(config, directory, overwrite=overwrite)
    if table is None:
        return FileTarget(config, folder)
    if config.algorithm.plug_in.in_groups:
        raise OutputError(
            f"output.table '{config.output.table}': algorithm {config.algorithm.name} releases two tables, "
            "which are written as files; set output.path instead"
        )
    table.check()
    return TableTarget(config, folder, table)


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


def writes_beside_the_input(config: Config) -> bool:
    """Tell whether input and release are in one database."""
    source, output = config.input, config.output
    if output.database is not None:
        return _same_file(config, config.folder / output.database)
    return output.url is not None and source.url == output.url


def _same_file(config: Config, path: Path) -> bool:
    if config.input.database is None:
        return False
    return (config.folder / config.input.database).resolve() == path.resolve()


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
