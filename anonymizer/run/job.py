"""The job: from the records of a source to a verified release in a sink.

A sink takes the release and gives it back to be read before it appears: files in the release folder, a
table of a database, a folder on another file system, or DataFrames.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from anonymizer.config.model import Config
from anonymizer.data.engine import EngineFolder
from anonymizer.data.frames import FrameQuery
from anonymizer.data.open import open_by_engine, open_frame
from anonymizer.data.relation import Relation, ReleaseQuery
from anonymizer.data.source import CSV_FILES, CsvDialect, EngineOptions, TableName, is_url, location_of
from anonymizer.errors import ConfigError, ConfigProblem, InputError, OutputError
from anonymizer.loss.base import all_losses
from anonymizer.model.report import Report
from anonymizer.release.database import (
    DuckDbTable,
    PostgresTable,
    ReleaseTable,
    restore_whole_numbers,
    table_digest,
)
from anonymizer.release.folder import ReleaseFolder
from anonymizer.report.build import build_report
from anonymizer.run.advice import advice_of
from anonymizer.run.assessment import Verified, assess
from anonymizer.run.engine import engine_options, plugged_engine, reading_release
from anonymizer.run.plan import Plan, plan_of
from anonymizer.run.prepare import (
    UNWATCHED,
    Phase,
    PhaseClock,
    RunMonitor,
    check_marker,
    violated_constraints,
)
from anonymizer.run.repeated_keys import key_warnings
from anonymizer.run.report import (
    recoding_entry,
    release_facts,
    release_warnings,
    report_parts,
    write_reports,
)
from anonymizer.run.result import ReportInputs, Result
from anonymizer.run.search import Task
from anonymizer.run.shape import Found, Shape, auditing, release_names
from anonymizer.run.source import DataSource, frame_source, input_source, open_release, release_dialect
from anonymizer.system import Closing

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

    def write(self, tables: Sequence[ReleaseQuery], source: Relation) -> None:
        """Write the files in the formats of their suffixes."""
        dialect = release_dialect(self._config, source.separator)
        for table, path in zip(tables, self._folder.files, strict=True):
            table.write(path, dialect)
            self.dialect = dialect if CSV_FILES.named(path.name) else None

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
        """Create the table from a Parquet file, which keeps types and nulls."""
        (table,) = tables
        path = self.scratch / "release.parquet"
        table.copy(path, None)
        whole = [name for name in source.columns if source.stores_whole_numbers(name)]
        restore_whole_numbers(path, whole, self._options)
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
    path, options = plan.output, reading_release(options, config)
    own = [Path(plan.config)] if Path(plan.config).is_file() else []
    people = [] if plan.population is None else [plan.population.path]
    files = [*source.files, *plan.hierarchy_files, *people, *own, *source.earlier]
    names = () if path is None or is_url(path) else release_names(plan, path)
    with (
        ReleaseFolder(directory, names, files, overwrite=overwrite) as folder,
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
    if config.algorithm.plug_in.in_groups:
        raise OutputError(
            f"output.table '{config.output.table}': algorithm {config.algorithm.name} releases two tables; "
            "set output.path instead, to write them as files"
        )
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
        if path.resolve().is_relative_to((directory / "share").resolve()):
            raise OutputError(
                f"{path}: is in share/, which every release replaces as a whole; "
                "set output.database to a file outside share/"
            )
        return DuckDbTable(path, name, overwrite=overwrite)
    assert output.url is not None
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


@dataclass(frozen=True, eq=False)
class Finished:
    """A job that ended with a release: its report, and the recoding that was published."""

    report: Report
    found: Found


class Job:
    """From records to a verified release.

    Parameters
    ----------
    options: of the engine that reads the records and the release.
    """

    def __init__(self, plan: Plan, options: EngineOptions, watch: RunMonitor = UNWATCHED) -> None:
        self._plan = plan
        self._options = options
        self._watch = replace(watch, clock=PhaseClock())

    def run(self, source: DataSource, sink: Sink) -> Finished:
        """Open, prepare, search, publish, read back and verify, attack, report.

        Parameters
        ----------
        sink: receives the release if it is verified, otherwise nothing.

        Raises
        ------
        InputError: the records do not fit the config.
        Infeasible: no release satisfies the constraints, or none was found in the budget.
        AuditFailed: the written release differs from the one that was found.
        """
        watch = self._watch
        with source.task(self._plan, self._options, watch) as task:
            watch.phase(f"engine {task.prepared.engine.name}: {task.prepared.engine.because}")
            while True:
                found = task.find()
                verified = publish(task.plan, task.shape, found, sink, watch)
                violated = violated_constraints(found.prepared.constraints, verified.audited.measurements)
                if not violated:
                    break
                found.prepared.problem.gate.refuse(found.recoding, violated)
            report = reported(task, found, verified, sink, watch)
            task.prepared.encoded.relation.check_unchanged()
            sink.commit(lambda: watch.released(report))
        return Finished(report, found)


def publish(plan: Plan, shape: Shape, found: Found, sink: Sink, watch: RunMonitor) -> Verified:
    """Write a release, read it back, verify it and attack it; a second call replaces the first release.

    Raises
    ------
    AuditFailed: the written release differs from the one that was found.
    """
    watch.begin(Phase.WRITE, "writing")
    with ExitStack() as stack:
        for column in found.recoding.published() if plan.marker is not None else ():
            check_marker(plan, column.name, column.labels)
        queries = shape.queries(found, sink.scratch)
        sink.write(queries, found.prepared.encoded.relation)
        watch.begin(Phase.VERIFY, "reading back and verifying")
        with auditing():
            read = [stack.enter_context(table) for table in sink.read_back()]
            tables = [shape.read(table, found) for table in read]
            verified = assess(plan, shape, tables, found, watch)
            for query, table in zip(queries, read, strict=True):
                query.check(table)
    return verified


def reported(task: Task, found: Found, verified: Verified, sink: Sink, watch: RunMonitor) -> Report:
    """Return the report of a verified release, and write all reports to the sink."""
    watch.clock.begin(Phase.ADVISE)
    release = release_facts(sink.titles, sink.dialect, found, verified.audited)
    losses = all_losses(found.promised)
    parts = report_parts(task.plan, found.prepared, found.outcome, task.input, release, verified, losses)
    kept = task.stored(found) if sink.titles else None
    applied = task.entry(found)
    differing = [applied["difference"]] if applied and applied["difference"] else []
    useless = [] if applied else release_warnings(task.plan, found)
    parts = replace(
        parts,
        recoding_file=recoding_entry(kept),
        applied=applied,
        warnings=[*key_warnings(task.plan, found), *parts.warnings, *differing, *useless],
        advice=None if applied else advice_of(task.plan, found),
    )
    report = build_report(replace(parts, seconds=watch.clock.so_far()))
    watch.phase("drawing the report")
    k = task.plan.k_of_reports
    sink.keep(lambda folder: write_reports(folder, report, task.facts(found, verified.audited), k, kept))
    return report


def release_folder(config: Path) -> Path:
    """Return the default folder of the release of a config: beside it and named after it.

    >>> release_folder(Path("a/clinic.yaml")).as_posix()
    'a/clinic-release'
    """
    return config.with_name(f"{config.stem}-release")


def run(config: Config, directory: Path, *, overwrite: bool = False, watch: RunMonitor = UNWATCHED) -> Report:
    """Search, write a release into a folder, read it back, and report.

    Parameters
    ----------
    directory: receives share/ with the release and its public report, and report.json and report.html.
    overwrite: whether an earlier release there may be replaced.

    Raises
    ------
    InputError: the config, the input, the output folder or the earlier run is wrong.
    Infeasible: no release satisfies the constraints, or none was found in the budget.
    AuditFailed: the written file differs from the release that was found.
    """
    source = input_source(config) if config.apply is None else _append_source(config)
    options, plan = engine_options(config), plan_of(config)
    with sink_of(config, plan, source, directory, options, overwrite=overwrite) as sink:
        return Job(plan, options, watch).run(source, sink).report


def _append_source(config: Config) -> DataSource:
    """Return the new records of an earlier release, whose recoding they get."""
    from anonymizer.run.append import AppendSource  # noqa: PLC0415 - most runs append nothing

    return AppendSource(config)


def anonymize_frame(
    frame: pandas.DataFrame, config: Config, warnings: Sequence[str] = ()
) -> Result[pandas.DataFrame]:
    """Search, build a release, measure it again, and report.

    Parameters
    ----------
    warnings: about the config, for the report.

    Raises
    ------
    InputError: the config does not fit the frame.
    Infeasible: no release satisfies the constraints, or none was found in the budget.
    AuditFailed: the DataFrame differs from the release that was found.
    """
    if config.apply is not None:
        what = "appends to a release in files, not to a DataFrame; remove it, or use anonymizer run"
        raise ConfigError(config.source, [ConfigProblem("apply", what)])
    options = engine_options(config)
    if options.engine is not None:
        raise InputError(f"engine.name: {options.engine} reads files; for a DataFrame set memory or duckdb")
    sink = FrameSink(reading_release(options, config))
    done = Job(plan_of(config), options).run(frame_source(frame), sink)
    prepared = done.found.prepared
    problem = prepared.problem
    table = problem.table if problem.source is None else None
    basis = ReportInputs(done.found.promised, prepared.constraints, problem.moving_reference, table)
    first, *others = sink.frames
    content = done.report.to_dict()
    report = Report({**content, "warnings": [*content["warnings"], *warnings]})
    return Result(first, report, basis, *others)
