"""The files and tables that a config names, and how they are opened."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import ValidationError

from anonymizer.config.files import SCHEMES, VARIABLE, InputSettings, ReportedText
from anonymizer.config.load import check_columns, renamed_columns
from anonymizer.config.model import Config
from anonymizer.config.search import EngineName
from anonymizer.config.section import dotted
from anonymizer.data.duckdb.parquet import parquet_columns
from anonymizer.data.foreign import elsewhere
from anonymizer.data.open import (
    OPTIONS,
    input_suffixes,
    open_by_engine,
    open_duckdb,
    open_file,
    open_frame,
)
from anonymizer.data.relation import Relation
from anonymizer.data.source import (
    CSV_FILES,
    EXCEL_FILES,
    CsvDialect,
    EngineOptions,
    Query,
    QueryError,
    Selection,
    TableName,
    WholeTable,
    is_url,
    location_of,
    sha256_of,
)
from anonymizer.errors import ConfigError, ConfigProblem, DataError, InputError, listed
from anonymizer.job.clock import Phase, RunMonitor
from anonymizer.plan.bands import put_in_bands
from anonymizer.plan.engine import (
    engine_options,
    key_columns,
    reading_release,
    released_names,
    rewritten_numbers,
)
from anonymizer.plan.plan import Plan
from anonymizer.release.folder import PUBLIC_REPORT
from anonymizer.system import same_file

if TYPE_CHECKING:
    import pandas

    from anonymizer.job.search import Task


class OtherSpelling(InputError):
    """An input that spells the names of columns otherwise than the config.

    A release has the names of its input, so ``run_as_spelled`` starts again with a config that has these.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__(f"columns that the input spells otherwise: {', '.join(map(repr, names.values()))}")
        self.names = names


T = TypeVar("T")


def run_as_spelled(config: Config, work: Callable[[Config], T]) -> T:
    """Return what work on a config returns, with the columns as the input spells them."""
    try:
        return work(config)
    except OtherSpelling as other:
        return work(renamed_columns(config, other.names.values()))


@dataclass(eq=False)
class DataSource:
    """An input that can be opened.

    Attributes
    ----------
    title: the input in messages and the internal report, without a password; None for a DataFrame.
    open: opens it, or raises a DataError.
    files: files of this machine that are read; no output may replace them.
    earlier: files of an earlier run, protected likewise.
    """

    title: str | None
    open: Callable[[EngineOptions], Relation]
    files: Sequence[Path] = ()
    earlier: Sequence[Path] = ()

    @contextmanager
    def task(self, plan: Plan, options: EngineOptions, watch: RunMonitor) -> Iterator[Task]:
        """Yield the search for a release, with the input open.

        Raises
        ------
        InputError: the input cannot be read, or does not fit the plan.
        """
        from anonymizer.job.report import input_facts  # noqa: PLC0415 - init reads without a search
        from anonymizer.job.search import SearchTask  # noqa: PLC0415

        with self.opened(options, watch) as relation:
            if relation.spelled:
                raise OtherSpelling(relation.spelled)
            put_in_bands(plan.columns, relation)
            yield SearchTask(plan, relation, input_facts(self.title, relation), watch)

    def opened(self, options: EngineOptions, watch: RunMonitor) -> Relation:
        """Open the input and report this phase."""
        watch.clock.begin(Phase.READ)
        if self.title is not None:
            watch.phase(f"reading {self.title.rpartition('/')[2]}")
        return self.open(options)


def frame_source(frame: pandas.DataFrame) -> DataSource:
    """Return a DataFrame as an input."""
    return DataSource(None, partial(open_frame, frame))


def input_source(config: Config) -> DataSource:
    """Return the input of a config.

    Raises
    ------
    ConfigError: the config names none.
    """
    given = config.input
    if given.path is None and (given.query is not None or given.table is not None):
        return _database_source(config)
    path = input_path(config)
    name = given.path or path.name
    if config.engine.name not in set(EngineName):
        return _engine_source(config, name)

    def opened(options: EngineOptions) -> Relation:
        return open_file(path, given.dialect, replace(options, sheet=_sheet(given)))

    return DataSource(name, opened, (path,))


def _sheet(given: InputSettings) -> str | None:
    """Return the sheet of a workbook, whose name may have a dot; None for the first with records."""
    if given.path is None or given.table is None:
        return None
    named = TableName.parse(given.table)
    return named.name if named.schema is None else f"{named.schema}.{named.name}"


def _engine_source(config: Config, given: str) -> DataSource:
    """Return a file, or a folder of files, that an engine from a plug-in reads.

    Parameters
    ----------
    given: path or URL, as in the config.
    """
    path = config.folder / given
    files, location = ((), given) if is_url(given) else ((path,), location_of(path))

    def opened(options: EngineOptions) -> Relation:
        # Starting the engine takes seconds; a wrong column is reported before that if Parquet shows it.
        columns = parquet_columns(path, options) if files else None
        if columns is not None:
            check_columns(config.attributes, columns, given, config.source)
        return open_by_engine(location, options)

    return DataSource(given, opened, files)


def _database_source(config: Config) -> DataSource:
    """Return the rows that a config selects in a DuckDB file or in PostgreSQL."""
    given = config.input
    name, files = given.url or str(given.database), [] if given.url else [config.folder / str(given.database)]

    def opened(options: EngineOptions) -> Relation:
        try:
            return open_rows(given, config.folder, options)
        except QueryError as error:
            raise ConfigError(config.source, [ConfigProblem("input.query", str(error))]) from None

    return DataSource(f"{name}#{_selection(given).label}", opened, files)


def _selection(given: InputSettings) -> Selection:
    return WholeTable(TableName.parse(str(given.table))) if given.query is None else Query(given.query)


def open_rows(given: InputSettings, folder: Path = Path(), options: EngineOptions = OPTIONS) -> Relation:
    """Open the table or query of a database, or the sheet of a workbook.

    Parameters
    ----------
    folder: that the path of the file starts from.

    Raises
    ------
    DataError, QueryError: as for ``open_duckdb``, ``open_postgres`` and ``open_file``.
    """
    if given.path is not None:
        return open_file(folder / given.path, given.dialect, replace(options, sheet=_sheet(given)))
    if given.url is not None:
        from anonymizer.data.postgres import open_postgres  # noqa: PLC0415 - files do without it

        return open_postgres(given.url, _selection(given), options, allow_files=given.allow_files)
    path = folder / str(given.database)
    return open_duckdb(path, _selection(given), options, allow_files=given.allow_files)


DUCKDB_SUFFIXES = (".duckdb", ".ddb", ".db")
"""Usual suffixes of DuckDB files; with the name of a table, any file is taken for one."""

_ARGUMENTS = {
    "input.table": "--table",
    "input.query": "--query",
    "input.url": "DATA (the URL of the database)",
}
"""Arguments of commands in place of keys of a config."""


def rows_named(
    data: str, table: str | None, query: str | None, config: Config | None
) -> InputSettings | None:
    """Return the rows of a database, or the sheet, that a command names; None if it names a file.

    Parameters
    ----------
    data: a file, or the URL of a server.
    config: whose table or query is meant if the command names the same database and none itself.

    Raises
    ------
    InputError: a database without a table or a query, a table or a query of what cannot be a database, or a
        URL with a password.
    """
    if (way := elsewhere(data)) is not None:
        raise DataError(f"DATA {way}")
    server = (
        data.startswith(tuple(f"{scheme}:" for scheme in SCHEMES)) or VARIABLE.fullmatch(data) is not None
    )
    if table is None and query is None:
        if config is not None and _is_its_database(data, config):
            place = "path" if config.input.path is not None else "database"
            return config.input.model_copy(update={} if server else {place: data})
        if not server and not data.lower().endswith(DUCKDB_SUFFIXES):
            return None
        shown = "the database" if server else data
        raise InputError(
            f"{shown}: no table or query; name a table with --table, or give a query with --query"
        )
    place = "url" if server else "path" if EXCEL_FILES.named(data) and query is None else "database"
    keys = {place: data, "table": table, "query": query}
    try:
        return InputSettings.model_validate({key: each for key, each in keys.items() if each is not None})
    except ValidationError as error:
        what = [(dotted(("input", *line["loc"])), line["msg"]) for line in error.errors(include_url=False)]
        raise InputError("; ".join(f"{_ARGUMENTS.get(key, 'DATA')}: {text}" for key, text in what)) from None


def _is_its_database(data: str, config: Config) -> bool:
    """Return whether the input of a config is a table or query of a database, or a sheet of a workbook."""
    given = config.input
    if given.path is not None:
        return given.table is not None and is_input(config, Path(data))
    if given.database is not None:
        return same_file(config.folder / given.database, Path(data))
    return given.url is not None and given.url == data


def open_checked_rows(rows: InputSettings, config: Config | None) -> Relation:
    """Open rows that ``rows_named`` returned; those of the config's input are read as its settings say.

    Raises
    ------
    DataError, QueryError: as for ``open_duckdb`` and ``open_postgres``.
    """
    own = (
        config is not None
        and (rows.table, rows.query) == (config.input.table, config.input.query)
        and _is_its_database(str(rows.url or rows.database or rows.path), config)
    )
    options = OPTIONS
    if config is not None:
        options = replace(OPTIONS, spelling=released_names(config), keys=key_columns(config))
    if config is not None and own:
        options = replace(options, numbers=rewritten_numbers(config))
    return open_rows(rows, options=options)


def input_path(config: Config) -> Path:
    """Return the path of the input file.

    Raises
    ------
    ConfigError: the config names none.
    """
    if config.input.path is None:
        what = f"missing; accepted: the path of a {listed(input_suffixes(), 'or')} file"
        raise ConfigError(config.source, [ConfigProblem("input.path", what)])
    return config.folder / config.input.path


def open_as(config: Config, path: Path) -> Relation:
    """Open a file with the separator, encoding and engine that a config sets for its input."""
    options = replace(engine_options(config), sheet=_sheet(config.input) if is_input(config, path) else None)
    return open_file(path, config.input.dialect, options)


def is_input(config: Config, path: Path) -> bool:
    """Return whether a path leads to the input of a config."""
    return config.input.path is not None and same_file(config.folder / config.input.path, path)


def open_described(config: Config, path: Path) -> Relation:
    """Open the input of a config, or another file with such columns in any CSV dialect.

    Raises
    ------
    DataError: the file can be read neither as UTF-8 with a detected separator, nor like a release of the
        config, nor like the input.
    """
    reported = _reported_text(path)
    if is_input(config, path):
        return open_as(config, path)
    if reported is not None:
        return open_own_release(path, config, reported, engine_options(config))
    dialects = (CsvDialect(), _written_by(config), config.input.dialect)
    # The file may be a release, so its numbers have the sign of one.
    options = replace(engine_options(config), numbers=None)
    if options.missing is not None:
        read = (*options.missing.read, options.missing.marker)
        options = replace(options, missing=replace(options.missing, read=read))
    return _open_in_one_of(options, path, *dialects)


def open_foreign_release(path: Path, config: Config | None = None) -> Relation:
    """Open a release, in the CSV dialect of a config or of the software that wrote it.

    Parameters
    ----------
    config: of which it may be a release; None to find the dialect.

    Raises
    ------
    DataError: as for ``open_described``.
    """
    usual, reported = CsvDialect.usual(path.name), _reported_text(path)
    if config is None:
        own = None if reported is None else reported.dialect
        return _open_in_one_of(OPTIONS, path, *([own] if own else [usual, CsvDialect()]))
    options = engine_options(config)
    if reported is not None:
        return open_own_release(path, config, reported, options)
    dialects = (_written_by(config), usual, CsvDialect(), config.input.dialect)
    return _open_in_one_of(reading_release(options, config, path), path, *dialects)


def open_own_release(
    path: Path, config: Config, reported: ReportedText, options: EngineOptions = OPTIONS
) -> Relation:
    """Open a release of a config as it was written; numbers in place of labels are read afterwards.

    Parameters
    ----------
    reported: what its report says about the text.

    Raises
    ------
    DataError: it cannot be read so.
    """
    return open_release(path, reading_release(options, config, path), reported.dialect)


def _reported_text(path: Path) -> ReportedText | None:
    """Return what the public report next to a release says about its text; None if it is of another file."""
    report = path.with_name(PUBLIC_REPORT)
    if is_url(str(path)) or not report.is_file() or not path.is_file():
        return None
    try:
        stated = json.loads(report.read_bytes())["release"]
        tables = (stated, stated.get("sensitive_table") or {})
        own = sha256_of(path) in [each.get("sha256") for each in tables]
        return ReportedText.model_validate(stated) if own else None
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def _written_by(config: Config) -> CsvDialect:
    """Return how a config writes releases; a separator that it does not name is a comma."""
    return release_dialect(config, config.input.separator or ",")


def _open_in_one_of(options: EngineOptions, path: Path, *dialects: CsvDialect) -> Relation:
    """Open a file in the first dialect in which it can be read; raises the error of the last one."""
    for dialect in dialects[:-1] if CSV_FILES.named(path.name) else ():
        with suppress(DataError):
            return open_file(path, dialect, options)
    return open_file(path, dialects[-1], options)


def open_release(path: Path, options: EngineOptions = OPTIONS, dialect: CsvDialect | None = None) -> Relation:
    """Open a released file.

    Parameters
    ----------
    dialect: as it was written; None for the usual one.
    """
    return open_file(path, dialect or CsvDialect.usual(path.name), options)


def release_dialect(config: Config, separator: str | None) -> CsvDialect:
    """Return how a release is written as text: like the input if that is text and the config sets nothing.

    Parameters
    ----------
    separator: of the input; None if it is not text.
    """
    given = config.output
    encoding = config.input.encoding if separator is not None else "utf-8"
    return CsvDialect(given.separator or separator or ",", given.encoding or encoding)
