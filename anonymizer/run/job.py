"""The job: from the records of a source to a verified release in a sink.

A sink takes the release and gives it back to be read before it appears: files in the release folder, a
table of a database, a folder on another file system, or DataFrames.

With ``apply`` the records are a batch appended to an earlier release. The batch gets the earlier recoding, or
another one on request, or it is refused. The combined file is verified as its recipient counts it. An
adversary who holds both releases can subtract them, so the batch is also measured alone.

A ``Result`` is a release in memory, with its report and charts.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from anonymizer.attacks.adversary_view import adversary_of
from anonymizer.audit.classes import classes_of, measure, value_codes
from anonymizer.audit.comparison import common_codes, mismatched_append
from anonymizer.config.model import ApplySettings, Batch, Config, Otherwise
from anonymizer.config.search import EngineName
from anonymizer.data.frames import FrameQuery, frame_kind
from anonymizer.data.open import open_by_engine, open_frame
from anonymizer.data.relation import Coding, EngineFolder, EngineRelation, Groups, Relation, ReleaseQuery
from anonymizer.data.source import CSV_FILES, CsvDialect, EngineOptions, TableName, is_url, location_of
from anonymizer.data.table import column_of
from anonymizer.errors import (
    AuditFailed,
    ConfigError,
    ConfigProblem,
    Infeasible,
    InputError,
    OutputError,
    format_measure,
    settings_in_line,
    suggestion,
)
from anonymizer.hierarchy.source import to_networkx
from anonymizer.loss.base import all_losses, losses_over, weighted_losses
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.arrays import BoolArray, IntArray, count, group_keys
from anonymizer.model.classes import Classes, Measurement, Reference, Released, SensitiveCodes, released
from anonymizer.model.invocation import RunCommand, suggested_runs
from anonymizer.model.naming import in_spelling_of, respelled
from anonymizer.model.recoding import GROUP, Outcome, Recoding, Status
from anonymizer.model.report import Report
from anonymizer.model.spelling import suggested
from anonymizer.model.table import QuasiIdentifier, SensitiveAttribute, Table
from anonymizer.privacy.base import ClassConstraint, Constraint, CountedConstraint, TableConstraint, describe
from anonymizer.release.database import (
    DuckDbTable,
    PostgresTable,
    ReleaseTable,
    stage,
    table_digest,
)
from anonymizer.release.folder import REPORT, ReleaseFolder
from anonymizer.release.query import count_union, counted_rows, single_shuffled
from anonymizer.report.build import InputFacts, build_report
from anonymizer.report.facts import Facts, gather
from anonymizer.run.advice import advice_of
from anonymizer.run.assessment import Verified, assess
from anonymizer.run.diagnose import Diagnosis, limit_override
from anonymizer.run.earlier_release import (
    NewRecords,
    Previous,
    StoredRecoding,
    check_compatible,
    coarsened,
    read_new_records,
    read_previous,
    store_recoding,
)
from anonymizer.run.plan import Plan, engine_options, plan_of, plugged_engine, reading_release
from anonymizer.run.prepare import (
    UNWATCHED,
    Phase,
    PhaseClock,
    RunMonitor,
    check_marker,
    countable_constraints,
    violated_constraints,
)
from anonymizer.run.report import (
    input_facts,
    recoding_entry,
    release_facts,
    release_warnings,
    report_parts,
    write_reports,
)
from anonymizer.run.search import Task, refusal, search
from anonymizer.run.shape import (
    Audited,
    Found,
    ReadBack,
    Shape,
    Tables,
    adversary_from_files,
    auditing,
    joined_query,
    release_names,
    released_query,
)
from anonymizer.run.source import (
    DataSource,
    OtherSpelling,
    frame_source,
    input_source,
    open_own_release,
    open_release,
    release_dialect,
    run_as_spelled,
)
from anonymizer.run.units import key_warnings, shares_of_persons, with_person_records
from anonymizer.system import Closing, real_path

if TYPE_CHECKING:
    import networkx
    import pandas
    from matplotlib.axes import Axes

Frame = TypeVar("Frame")


@dataclass(frozen=True, eq=False)
class ReportInputs:
    """The data that the facts of a result are counted from.

    Attributes
    ----------
    released: the recoding with its classes.
    constraints: in the order of the report.
    moving_reference: whether the distribution p is that of the release.
    table: the searched one; None if it is generalized, as the full one does not fit in memory.
    """

    released: Released
    constraints: tuple[Constraint, ...]
    moving_reference: bool
    table: Table | None = None


@dataclass(frozen=True, eq=False)
class Result(Generic[Frame]):
    """A release in memory.

    A notebook shows its verdict and constraints. The ``plot_*`` methods draw the charts of report.html; each
    draws onto the given Axes, by default those of a new pyplot figure, and returns them.

    Attributes
    ----------
    data: the released records, in a DataFrame of the input's kind with a new index. Columns keep their type;
        a recoded column becomes text if a published value is not of its type.
    report: the content of report.json; paths and hashes of files are None.
    sensitive_table: of an Anatomy release, the number of records of each group with each sensitive value;
        ``data`` then has the group of each record instead. None if ``data`` has all columns.
    """

    data: Frame
    report: Report
    _basis: ReportInputs = field(repr=False)
    sensitive_table: Frame | None = None

    @cached_property
    def facts(self) -> Facts:
        """The facts that report.html shows in addition to the report, counted on first use."""
        basis = self._basis
        return gather(basis.released, basis.constraints, moving_reference=basis.moving_reference)

    @property
    def scenarios(self) -> dict[str, str]:
        """What the adversary of each scenario reaches at most, in one sentence."""
        entries: dict[str, Any] = self.report.to_dict().get("scenarios", {})
        return {name: each["sentence"] for name, each in entries.items()}

    @property
    def hierarchies(self) -> dict[str, networkx.DiGraph[Any]]:
        """The hierarchies of the quasi-identifiers, and of sensitive attributes with one, as networkx trees.

        Nodes are ``(level, label)`` with the attributes ``label``, ``level``, ``leaves`` (values under the
        node) and ``count`` (input records under it); edges lead from parent to child. In a config, a tree is
        a ``hierarchy`` again.
        """
        table = self._basis.table or self._basis.released.table
        every: list[QuasiIdentifier | SensitiveAttribute] = [*table.quasi_identifiers, *table.sensitive]
        return {each.name: tree_of_attribute(each) for each in every if each.hierarchy is not None}

    def beliefs(self, persons: Any, *, seed: int = 0) -> pandas.DataFrame:
        """Return what an adversary who knows the originals' quasi-identifiers believes about some persons.

        Parameters
        ----------
        persons: a mapping of quasi-identifiers of one person, as in ``{"age": 43, "sex": "F"}``, or a
            DataFrame with a row for each. Other columns of the input may be among them. Of a person who fits
            several classes, the mean over their records is returned.
        seed: of the chains.

        Returns
        -------
        One row for each person, sensitive attribute and value in their class or bucket: ``random_worlds``,
        the share there; ``definetti`` with ``low`` and ``high``; ``inference``, by naive Bayes trained on the
        release (missing for Anatomy), which gives the rest to values that the class lacks.

        Raises
        ------
        InputError: nobody has these values, everybody who has is suppressed, or the input lacks a column.
        """
        import pandas as pd  # noqa: PLC0415 - the command line does without it

        from anonymizer.run.beliefs import beliefs_about  # noqa: PLC0415

        rows: Sequence[Mapping[Any, Any]] = (
            [persons]
            if isinstance(persons, Mapping)
            else frame_kind(persons).to_pandas(persons).to_dict("records")
        )
        columns = [*self.report["config"]["attributes"], GROUP]
        rows = [in_spelling_of(columns, {str(name): value for name, value in row.items()}) for row in rows]
        _refuse_unknown(rows[0] if rows else (), columns)
        named = {f"row {row}": _texts(own) for row, own in enumerate(rows, start=1)}
        if self._basis.table is None:
            raise InputError("beliefs: the distinct rows of the input do not fit in memory; use more memory")
        view = adversary_of(self._basis.table, self._basis.released.recoding)
        return pd.DataFrame([asdict(each) for each in beliefs_about(view, named, seed=seed)])

    def _repr_html_(self) -> str:
        from anonymizer.report.page import card  # noqa: PLC0415 - only notebooks need it

        return card(self.report, self.facts)

    def plot_attacks(self, *, ax: Axes | None = None) -> Axes:
        """Draw the success of each attack in the config, next to its baseline; without attacks, say so."""
        from anonymizer.report.charts import draw_attacks  # noqa: PLC0415 - only plots need it
        from anonymizer.report.page import dots_of  # noqa: PLC0415

        dots, title = dots_of(self.report["attacks"]), "What each attack reaches"
        if not dots:
            return _empty(_axes(ax), title, NO_ATTACKS)
        return _named(draw_attacks(_axes(ax), dots), title)

    def plot_knowledge(self, *, ax: Axes | None = None) -> Axes:
        """Draw the probability that one guess re-identifies a record, by number of known attributes.

        Raises
        ------
        InputError: there are too many sets of quasi-identifiers to evaluate.
        """
        from anonymizer.report.charts import draw_knowledge  # noqa: PLC0415

        if not self.facts.knowing:
            raise InputError("too many sets of quasi-identifiers to evaluate; run the attack vulnerability")
        return _named(draw_knowledge(_axes(ax), self.facts.knowing), "The more is known, the more is found")

    def plot_losses(self, *, ax: Axes | None = None) -> Axes:
        """Draw how much of each quasi-identifier was lost, from 0 to 1."""
        from anonymizer.report.charts import draw_losses  # noqa: PLC0415

        return _named(draw_losses(_axes(ax), self.facts.losses), "Loss by attribute")

    def plot_distribution(self, attribute: str, *, ax: Axes | None = None) -> Axes:
        """Draw a quasi-identifier before (hollow) and after (filled), with rare values combined.

        Raises
        ------
        InputError: it is not a quasi-identifier, or its distribution cannot be shown.
        """
        from anonymizer.report.charts import draw_distribution  # noqa: PLC0415

        by_name = {each.attribute: each for each in self.facts.distributions}
        if attribute not in by_name:
            raise InputError(f"'{attribute}' is not a quasi-identifier; {suggestion(attribute, by_name)}")
        shown = by_name[attribute]
        if not shown.labels:
            raise InputError(f"'{attribute}' cannot be drawn: {shown.reason}")
        return _named(draw_distribution(_axes(ax), shown), f"{attribute}, before and after")

    def plot_groups(self, *, ax: Axes | None = None) -> Axes:
        """Draw the number of equivalence classes by size.

        Raises
        ------
        InputError: there are so few classes that the chart could disclose a single one.
        """
        from anonymizer.report.charts import draw_groups  # noqa: PLC0415

        if not self.facts.groups:
            raise InputError(f"fewer than {self.facts.smallest} groups, too few to draw")
        return _named(draw_groups(_axes(ax), self.facts.groups), "Groups by size")

    def plot_search(self, *, ax: Axes | None = None) -> Axes:
        """Draw the best objective so far by number of candidates, and the proven bound.

        Raises
        ------
        InputError: the algorithm does not report single candidates.
        """
        from anonymizer.report.charts import draw_search, progress_of  # noqa: PLC0415

        progress = progress_of(self.report["steps"], self.report["search"])
        if not progress.best:
            raise InputError(f"{self.report['search']['algorithm']} reports no steps that could be drawn")
        return _named(draw_search(_axes(ax), progress), "How it was found")


def tree_of_attribute(attribute: QuasiIdentifier | SensitiveAttribute) -> networkx.DiGraph[Any]:
    """Return the hierarchy of an attribute as a tree of networkx."""
    hierarchy, leaf, column = attribute.hierarchy, attribute.leaf, attribute.column
    assert hierarchy is not None, "the attribute has one"
    assert leaf is not None, "so has each value a place in it"
    return to_networkx(hierarchy, count(leaf.astype(np.int64), column.counts, hierarchy.leaves))


def _refuse_unknown(names: Iterable[Any], columns: Sequence[str]) -> None:
    """Refuse names that no column of the input has, as they say nothing about a person."""
    for name in map(str, names):
        if name not in columns:
            raise InputError(f"beliefs: the input has no column '{name}'; {suggested(name, columns)}")


def _texts(person: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the values of a person as texts; a missing one is None."""
    return {
        str(name): None if value is None or value != value else str(value)  # noqa: PLR0124 - NaN
        for name, value in person.items()
    }


NO_ATTACKS = "No attack was run.\nAdd some to the config, such as\nattacks: [vulnerability, uniqueness]"
"""In place of the chart of attacks."""


def _empty(axes: Axes, title: str, words: str) -> Axes:
    """Write words in place of a chart."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, words, ha="center", va="center", transform=axes.transAxes)
    return _named(axes, title)


def _named(axes: Axes, title: str) -> Axes:
    """Add the title and legend, which the page has in its text."""
    axes.set_title(title, fontweight="bold")
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        axes.legend(
            handles,
            labels,
            loc="upper center",
            bbox_to_anchor=(0.5, -0.1),
            ncols=len(labels),
            frameon=False,
        )
    return axes


def _axes(ax: Axes | None) -> Axes:
    """Return the axes to draw onto."""
    if ax is not None:
        return ax
    from matplotlib import pyplot  # noqa: PLC0415 - half a second that only plots need

    axes: Axes = pyplot.subplots(layout="constrained")[1]
    return axes


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
    path, options = plan.output, reading_release(options, config)
    own = [Path(plan.config)] if Path(plan.config).is_file() else []
    people = [each.path for each in (plan.population, plan.control) if each is not None]
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
        if real_path(path).is_relative_to(real_path(directory / "share")):
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
            watch.phase(f"engine {task.prepared.engine}: {task.prepared.counted.because}")
            while True:
                found = task.find()
                verified = publish(task.shape, found, sink, watch)
                violated = violated_constraints(found.prepared.constraints, verified.audited.measurements)
                if not violated:
                    break
                found.prepared.problem.gate.refuse(found.recoding, violated)
            report = reported(task, found, verified, sink, watch)
            task.prepared.encoded.relation.check_unchanged()
            sink.commit(lambda: watch.released(report))
        return Finished(report, found)


def publish(shape: Shape, found: Found, sink: Sink, watch: RunMonitor) -> Verified:
    """Write a release, read it back, verify it and attack it; a second call replaces the first release.

    Raises
    ------
    AuditFailed: the written release differs from the one that was found.
    """
    watch.begin(Phase.WRITE, "writing")
    with ExitStack() as stack:
        plan = found.prepared.plan
        for column in found.recoding.published() if plan.marker is not None else ():
            check_marker(plan, column.name, column.labels)
        queries = shape.queries(found, sink.scratch)
        sink.write(queries, found.prepared.encoded.relation)
        watch.begin(Phase.VERIFY, "reading back and verifying")
        with auditing(sink.named):
            read = [stack.enter_context(table) for table in sink.read_back()]
            tables = [shape.read(table, found) for table in read]
            verified = assess(shape, tables, found, watch)
            for query, table in zip(queries, read, strict=True):
                query.check(table)
    return verified


def reported(task: Task, found: Found, verified: Verified, sink: Sink, watch: RunMonitor) -> Report:
    """Return the report of a verified release, and write all reports to the sink."""
    watch.begin(Phase.ADVISE, "measuring the loss and what would lower it")
    parts = report_parts(found.prepared, found.outcome, task.input, verified)
    kept = task.stored(found) if sink.titles else None
    applied = task.entry(found)
    differing = [applied["difference"]] if applied and applied["difference"] else []
    useless = [] if applied else release_warnings(found)
    parts = replace(
        parts,
        release=release_facts(sink.titles, sink.dialect, found, verified.audited),
        loss=all_losses(found.promised),
        recoding_file=recoding_entry(kept),
        applied=applied,
        warnings=[
            *key_warnings(found.prepared, found.recoding),
            *parts.warnings,
            *differing,
            *useless,
        ],
        advice=None if applied else advice_of(found, watch.stopped),
        weighted_loss=weighted_loss(found),
        unit_loss=unit_loss(found),
    )
    report = build_report(replace(parts, seconds=watch.clock.so_far()))
    watch.phase("drawing the report")
    k = found.prepared.plan.k_of_reports
    sink.keep(lambda folder: write_reports(folder, report, task.facts(found, verified.audited), k, kept))
    return report


def weighted_loss(found: Found) -> dict[str, Any] | None:
    """Return the ``weighted_loss`` entry of the report; None where losses are not by sampling weights."""
    sampling, people = found.prepared.problem.table.sampling, found.prepared.people
    if sampling is None or people is None or sampling.unit is not None:
        return None
    return {
        "weights": sampling.name,
        "people": float(people),
        **weighted_losses(found.promised),
    }


def unit_loss(found: Found) -> dict[str, Any] | None:
    """Return the ``unit_loss`` entry of the report: the losses over persons, or over the objective's unit.

    None where there are none, or where it is not known which record is in which row of the release.
    """
    prepared, plan = found.prepared, found.prepared.plan
    if plan.loss_unit is not None and prepared.people is not None:
        # Rounded weights add up to the number of units but for less than one half.
        own = weighted_losses(found.promised)
        return {"unit": plan.loss_unit, "units": round(prepared.people), **own}
    shares = None if plan.applied else shares_of_persons(prepared, found.recoding)
    if shares is None:
        return None
    return {**shares[1], **losses_over(found.recoding, shares[0])}


class Combined:
    """The classes of earlier and new records together, by their published texts.

    Items are the distinct rows of the earlier release, followed by the rows of the recoding's table.

    Attributes
    ----------
    earlier: number of items of the earlier release.
    classes: all items, none of them suppressed.

    Parameters
    ----------
    groups: the earlier release by the quasi-identifiers and, last, the sensitive attributes.
    recoding: of the new records; its suppressed rows are items too.
    attributes: the sensitive ones, over the values of both.
    """

    def __init__(
        self, source: str, groups: Groups, recoding: Recoding, attributes: Sequence[SensitiveAttribute]
    ) -> None:
        table = recoding.table
        self.earlier = len(groups.counts)
        counts = np.concatenate([groups.counts, table.counts])
        keys, number = np.zeros(len(counts), dtype=np.int64), 1
        published = recoding.published()
        for position, column in enumerate(published):
            (before, now), labels = common_codes(groups.values[position], column.labels)
            codes = np.concatenate([before[groups.codes[:, position]], now[column.codes]])
            keys, distinct = group_keys(keys * labels + codes, number * labels)
            number = len(distinct)
        sensitive = {}
        for position, attribute in enumerate(attributes, start=len(published)):
            own = table.sensitive[position - len(published)].column.texts
            before = value_codes(source, attribute.column, groups.values[position])
            now = value_codes(source, attribute.column, own)
            codes = np.concatenate(
                [before[groups.codes[:, position]], now[table.sensitive_codes(attribute.name)]]
            )
            sensitive[attribute.name] = SensitiveCodes(attribute, codes)
        self.classes = Classes(keys, counts, number, sensitive)

    @property
    def new(self) -> BoolArray:
        """The items of new records, shape (items,), bool."""
        return np.arange(len(self.classes.counts)) >= self.earlier

    def part(self, kept: BoolArray) -> tuple[Classes, IntArray]:
        """Return the classes of some items, and the position of each of their items among all items."""
        return self.classes.part(np.where(kept, self.classes.counts, 0))


@dataclass(frozen=True, eq=False)
class AppendVerdict:
    """Whether new records can be appended.

    Attributes
    ----------
    suppressed: rows of the recoding's table that must not be released, shape (rows,), bool.
    records: number of suppressed records.
    reasons: why the other records cannot be appended, one sentence each; empty if they can.
    """

    suppressed: BoolArray
    records: int
    reasons: tuple[str, ...]


class CombinedJudge:
    """Applies constraints to an earlier release together with new records.

    Earlier records are published already and never suppressed. In a class that violates a constraint, all new
    records are suppressed. If p is the distribution in the release, suppression changes it, so the remaining
    classes are judged again until none with new records fails. Every round suppresses more, so this ends.

    Parameters
    ----------
    limit: maximum number of suppressed records.
    alone: whether the classes of the new records alone must satisfy the constraints as well.
    """

    def __init__(self, constraints: Sequence[CountedConstraint], limit: int, *, alone: bool) -> None:
        self._classes = [each for each in constraints if isinstance(each, ClassConstraint)]
        self._tables = [each for each in constraints if isinstance(each, TableConstraint)]
        self._constraints = tuple(constraints)
        self._limit = limit
        self._alone = alone

    def judge(self, combined: Combined, suppressed: BoolArray) -> AppendVerdict:
        """Return which new records must be suppressed, and which constraints are violated even then.

        Parameters
        ----------
        suppressed: rows of the recoding's table that are suppressed already, shape (rows,), bool.
        """
        new = combined.new
        kept = ~new
        kept[new] = ~suppressed
        while True:
            failing = self._failing(combined, kept)
            if self._alone:
                failing |= self._failing(combined, kept & new)
            failing &= new & kept
            if not failing.any():
                break
            kept = kept & ~failing
        records = int(combined.classes.counts[new & ~kept].sum())
        return AppendVerdict(~kept[new], records, tuple(self._reasons(combined, kept, records)))

    def measured(self, combined: Combined, suppressed: BoolArray) -> list[Measurement]:
        """Measure every constraint on the new records alone, as a recipient of both releases can."""
        kept = combined.new
        kept[combined.earlier :] = ~suppressed
        return measure(combined.part(kept)[0], self._constraints) if kept.any() else []

    def _failing(self, combined: Combined, kept: BoolArray) -> BoolArray:
        """Return the items in classes that violate a constraint, shape (items,), bool."""
        failing = np.zeros(len(kept), dtype=bool)
        if kept.any():
            classes, items = combined.part(kept)
            held = np.ones(classes.number, dtype=bool)
            for each in self._classes:
                held &= each.holds(classes, _reference(classes, each))
            failing[items] = ~held[classes.class_of]
        return failing

    def _reasons(self, combined: Combined, kept: BoolArray, suppressed: int) -> list[str]:
        classes, _ = combined.part(kept)
        reasons = []
        for constraint, measurement in zip(
            self._constraints, measure(classes, self._constraints), strict=True
        ):
            if not measurement.satisfied:
                what = f"{describe(constraint)} would measure {format_measure(measurement.measured)}"
                reasons.append(f"{what} after the new records are appended")
        if suppressed > self._limit:
            number = int(combined.classes.counts[combined.new].sum())
            reasons.append(
                f"{suppressed:,} of {number:,} new records would be suppressed, because they are in no class "
                f"that satisfies the constraints; the limit allows {self._limit:,}"
            )
        if not (kept & combined.new).any():
            reasons.append("no new record would be released")
        return reasons


def _reference(classes: Classes, constraint: ClassConstraint) -> Reference | None:
    if constraint.attribute is None:
        return None
    return classes.sensitive_counts(constraint.attribute)[0].reference()


@dataclass(frozen=True, eq=False)
class Sources:
    """An earlier release and the records to append to it.

    Attributes
    ----------
    path: of the earlier release.
    new: the input.
    attributes: the sensitive ones, over the values of both.
    names: the quasi-identifiers and, last, the sensitive attributes.
    """

    earlier: Relation
    path: Path
    new: Relation
    attributes: tuple[SensitiveAttribute, ...]
    names: tuple[str, ...]


def published_rows(engine: str, relation: Relation, names: Sequence[str], most: int | None = None) -> Groups:
    """Return the distinct rows of some columns of a release with their counts.

    Parameters
    ----------
    engine: that counts; every engine except memory fetches only the distinct rows.
    most: maximum number of rows in memory; None for any number.

    Raises
    ------
    InputError: there are more distinct rows.
    """
    if engine == EngineName.MEMORY.value:
        return relation.group_counts(names)
    values = tuple(tuple(text for text, _ in relation.dictionary(name)) for name in names)
    codings = [
        Coding(name, np.arange(len(texts), dtype=np.int32), len(texts))
        for name, texts in zip(names, values, strict=True)
    ]
    with relation.stored_distinct_rows(codings) as found:
        if most is not None and found.number > most:
            raise InputError(
                f"engine {engine}: {relation.name} has {found.number:,} distinct rows, but only "
                f"{most:,} fit in memory; raise engine.memory_limit or engine.options.combinations"
            )
        codes, counts = found.fetch()
    return Groups(values, codes, counts)


APPLIED = "the recoding of the earlier run was applied without a search"


@dataclass(frozen=True, eq=False)
class Decision(Found):
    """The recoding of the new records.

    Attributes
    ----------
    kept: the recoding for the next new records; None if it cannot be applied to them.
    searched: whether it differs from the earlier recoding.
    alone: every constraint, measured on the new records alone.
    """

    kept: StoredRecoding | None
    searched: bool
    alone: list[Measurement]


class AppendTask(Task):
    """Applies the earlier recoding, and measures every constraint on the earlier and new records together.

    Parameters
    ----------
    settings: section of the config.
    earlier: the earlier release.
    relation: the new records.
    facts: of the input.

    Raises
    ------
    InputError: the earlier release was changed, or the new records do not fit it.
    """

    def __init__(
        self,
        plan: Plan,
        settings: ApplySettings,
        previous: Previous,
        earlier: Relation,
        relation: Relation,
        facts: InputFacts,
        watch: RunMonitor,
    ) -> None:
        _check_release(previous, earlier)
        searches = settings.otherwise is Otherwise.SEARCH
        new = read_new_records(plan, previous, earlier, relation, searches=searches)
        problem = new.prepared.problem
        names = (*(each.name for each in problem.table.quasi_identifiers), *problem.table.sensitive_names)
        attributes = _attributes_of_both(new, earlier, relation)
        self.prepared = new.prepared
        self.input = facts
        self._settings = settings
        self._previous = previous
        self._sources = Sources(earlier, previous.release, relation, attributes, names)
        self._new = new
        self._watch = watch
        alone = settings.batch is Batch.REQUIRE
        constraints = countable_constraints(new.prepared.constraints)
        self._judge = CombinedJudge(constraints, problem.limit, alone=alone)

    @cached_property
    def _groups(self) -> Groups:
        """The distinct rows of the earlier release."""
        names = self._sources.names
        most = self.prepared.plan.engine.room(len(names))
        return published_rows(self.prepared.engine, self._sources.earlier, names, most)

    @cached_property
    def shape(self) -> Shape:  # type: ignore[override]
        """The earlier release with the new records."""
        return AppendedShape(self.prepared.plan, self._sources, self._groups)

    def find(self) -> Decision:
        """Return the recoding of the new records.

        Raises
        ------
        InputError: the earlier recoding does not fit the hierarchies, or the distinct rows of the earlier
            release do not fit in memory.
        ConfigError: the objective is undefined for such a recoding.
        Infeasible: the new records cannot be appended.
        """
        self._watch.begin(Phase.SEARCH, "applying the earlier recoding")
        prepared = coarsened(self.prepared, self._previous.recoding)
        table = prepared.problem.table
        applied = self._previous.recoding.applied_to(table)
        combined = self._combined(applied.recoding(np.zeros(table.combinations, dtype=bool)))
        verdict = self._judge.judge(combined, applied.uncovered)
        if verdict.reasons and self._settings.otherwise is Otherwise.SEARCH:
            return self._search()
        if verdict.reasons:
            raise self._refusal(verdict.reasons, verdict.records)
        outcome = self._applied(applied.recoding(verdict.suppressed))
        alone = self._judge.measured(combined, verdict.suppressed)
        kept = self._previous.recoding
        return Decision(prepared, outcome, self._promised(outcome), kept, searched=False, alone=alone)

    def _combined(self, recoding: Recoding) -> Combined:
        return Combined(self._sources.earlier.name, self._groups, recoding, self._sources.attributes)

    def _search(self) -> Decision:
        """Search a recoding that satisfies the constraints on the new records alone, then judge again."""
        outcome = search(self.prepared, self._watch)
        if outcome.recoding is None:
            raise refusal(self.prepared, outcome, self.input, self._watch)
        removed = outcome.recoding.removed
        combined = self._combined(outcome.recoding)
        verdict = self._judge.judge(combined, removed)
        if verdict.reasons or (verdict.suppressed != removed).any():
            failing = (
                "with the new recoding, classes violate the constraints after the new records are appended"
            )
            raise self._refusal(verdict.reasons or (failing,), verdict.records)
        kept = store_recoding(self.prepared, outcome, self._new.sources)
        alone = self._judge.measured(combined, removed)
        return Decision(self.prepared, outcome, self._promised(outcome), kept, searched=True, alone=alone)

    def _promised(self, outcome: Outcome) -> Released:
        assert outcome.recoding is not None
        return released(outcome.recoding, self.prepared.problem.k)

    def _applied(self, recoding: Recoding | None) -> Outcome:
        problem = self.prepared.problem
        value = None if recoding is None else problem.metric.value(released(recoding, problem.k))
        if recoding is not None and value is None:
            what = f"{problem.metric.name} is undefined for the recoding of the earlier run; accepted: loss"
            raise ConfigError(self.prepared.plan.config, [ConfigProblem("objective.metric", what)])
        status = Status.INFEASIBLE if recoding is None else Status.SATISFIED
        return Outcome(status, recoding, value, None, 1, 1, reasons=(APPLIED,))

    def _refusal(self, reasons: tuple[str, ...], suppressed: int) -> Infeasible:
        """Return the error for new records that cannot be appended."""
        problem = self.prepared.problem
        suggestions = []
        if len(reasons) == 1 and suppressed > problem.limit:
            suggestions = [limit_override(suppressed, problem.table.records)]
        diagnosis = Diagnosis(list(reasons), suggestions)
        outcome = self._applied(None)
        parts = report_parts(self.prepared, outcome, self.input, diagnosis=diagnosis)
        lines = [f"REFUSED: {self.input.path} cannot be appended to the release of {self._previous.path}"]
        lines += [f"  {reason}" for reason in reasons]
        command = self.prepared.plan.command
        lines += suggested_runs(command, suggestions)
        if self._settings.otherwise is Otherwise.REFUSE:
            lines += suggested_runs(command, ["apply.otherwise=search"], "may work, with another recoding")
        return Infeasible("\n".join([*lines, "Nothing was written."]), build_report(parts))

    def stored(self, found: Found) -> StoredRecoding | None:
        """Return the earlier recoding, or the one that was found instead."""
        assert isinstance(found, Decision)
        return found.kept

    def entry(self, found: Found) -> dict[str, Any]:
        """Return the ``applied`` entry of the report."""
        assert isinstance(found, Decision)
        return {
            "report": self._settings.report,
            "recoding": "searched" if found.searched else "applied",
            "rows_before": self._previous.reported.release.rows,
            "rows_added": int(found.promised.class_sizes.sum()),
            "batch_classes": len(found.promised.class_sizes),
            "smallest_batch_class": int(found.promised.class_sizes.min()),
            "difference": batch_violations(found),
        }

    def facts(self, found: Found, audited: Audited) -> Facts:
        """Return the facts for the page: class sizes of the whole release, all others of the new records."""
        whole = replace(found, promised=replace(found.promised, class_sizes=np.sort(audited.sizes)))
        facts = super().facts(whole, audited)
        return replace(facts, knowing=(), worst=tuple(None for _ in facts.worst))


def batch_violations(found: Decision) -> str | None:
    """Return a warning with the constraints that the new records alone violate; None if there are none."""
    violated = [each for each in found.alone if not each.satisfied]
    if not violated:
        return None
    measured = "; ".join(_measured(each) for each in violated)
    return (
        f"a recipient of both releases can isolate the new records; on these alone {measured}. With "
        "apply.batch: require, new records are released only if their own classes satisfy the constraints"
    )


def _measured(measurement: Measurement) -> str:
    name = measurement.model + (f"({measurement.attribute})" if measurement.attribute else "")
    return (
        f"{name} {settings_in_line(measurement.parameters)} measures {format_measure(measurement.measured)}"
    )


class AppendedShape(Shape):
    """An earlier release and new records in one table.

    Parameters
    ----------
    groups: the distinct rows of the earlier release, by the columns ``sources.names``.
    """

    fault = "are neither of the earlier release nor as published"
    whole = False

    def __init__(self, plan: Plan, sources: Sources, groups: Groups) -> None:
        self._plan = plan
        self._sources = sources
        self._groups = groups
        self.columns = [sources.earlier.columns]

    def queries(self, found: Found, scratch: Path | None) -> tuple[ReleaseQuery, ...]:
        """Return both as one table, from the frequency tables alone if the release follows from them."""
        earlier, new, shuffled = self._sources.earlier, self._sources.new, self._plan.shuffled
        assert isinstance(earlier, EngineRelation), "a release is a file, which an engine reads"
        assert isinstance(new, EngineRelation), "a DataFrame is never appended"
        assert scratch is not None, "the release is written to files"
        columns = self._plan.released(new.columns)
        own = counted_rows(new, found.recoding, found.prepared.positions, columns)
        rows = None if own is None else count_union(earlier, self._groups, self._sources.names, own)
        if rows is not None:
            return (earlier.counted_query(single_shuffled(rows) if shuffled else rows),)
        if found.prepared.problem.placing or found.prepared.counted.beyond or not new.ordered:
            alone = joined_query(new, found, columns, shuffled=False)
        else:
            alone = released_query(found, columns, shuffled=False)
        return (earlier.appended_query(alone, self._sources.path, scratch, shuffled=shuffled),)

    def count(self, tables: Tables, found: Found) -> ReadBack:
        """Count the whole release as its recipient does."""
        (release,), sources, prepared = tables, self._sources, found.prepared
        groups, before = (
            published_rows(prepared.engine, each, sources.names) for each in (release, sources.earlier)
        )
        classes = classes_of(release.name, groups, sources.attributes, ())
        measured = measure(classes, countable_constraints(prepared.constraints))

        def wrong() -> int:
            return mismatched_append(release.name, groups, before, found.recoding, sources.attributes)

        return ReadBack(classes, measured, wrong)

    def check_sizes(self, release: Relation, classes: Classes, found: Found) -> None:  # noqa: ARG002
        """Check that the release has as many records as the earlier release and the new ones together.

        Raises
        ------
        AuditFailed: it has not.
        """
        earlier, added = self._sources.earlier, self._added(found)
        if release.rows != earlier.rows + added:
            raise AuditFailed(
                f"{release.name}: {release.rows:,} records, expected {earlier.rows:,} of the earlier release "
                f"and {added:,} new ones"
            )

    def _added(self, found: Found) -> int:
        """Return the number of released new records."""
        return int(found.promised.table.counts[~found.recoding.removed].sum())

    def check_untouched(self, release: Relation, found: Found) -> None:
        """Check that every other column has the values of both, except those of removed new records.

        Raises
        ------
        AuditFailed: a column has other values.
        """
        earlier, new = self._sources.earlier, self._sources.new
        for name in release.columns:
            if name not in self._sources.names:
                # A null and an empty text count as equal, as in a CSV file.
                union = release.put_together(name, earlier, new)
                if union.lacking or union.added or union.missing != new.rows - self._added(found):
                    raise AuditFailed(
                        f"{release.name}: column '{name}' does not contain the values that were written"
                    )
        earlier.check_unchanged()

    def view(self, tables: Tables, found: Found) -> AdversaryView:  # noqa: ARG002 - of any
        """Return the view of adversaries with the release alone: the earlier originals are not available."""
        return adversary_from_files(self._plan, tables[0], weights=self._plan.weights)


class AppendSource(DataSource):
    """The input of a config, to be appended to the release of an earlier run.

    Raises
    ------
    InputError: the config does not fit the earlier run, or files of that run are missing or changed.
    """

    def __init__(self, config: Config) -> None:
        assert config.apply is not None
        given, previous = input_source(config), read_previous(config.folder / config.apply.report)
        names = respelled(config.attributes, previous.config.attributes)
        if names:
            raise OtherSpelling(names)
        check_compatible(config, previous)
        super().__init__(given.title, given.open, given.files, previous.files)
        self._settings = config.apply
        self._previous = previous

    @contextmanager
    def task(self, plan: Plan, options: EngineOptions, watch: RunMonitor) -> Iterator[Task]:
        """Yield the task of appending, with the input and the earlier release open."""
        settings, previous = self._settings, self._previous
        if not previous.release.exists():
            raise InputError(
                f"{previous.release}: no such file; apply needs the release of the earlier run here; put it "
                "back, or check apply.report"
            )
        with (
            open_own_release(
                previous.release, previous.config, previous.reported.release, options
            ) as earlier,
            self.opened(options, watch) as relation,
        ):
            facts = input_facts(self.title, relation)
            yield AppendTask(plan, settings, previous, earlier, relation, facts, watch)


def _check_release(previous: Previous, earlier: Relation) -> None:
    """Check that the earlier release is the file of the earlier report.

    Raises
    ------
    InputError: it is not.
    """
    given = previous.reported.release
    if earlier.sha256 != given.sha256 or earlier.rows != given.rows:
        raise InputError(
            f"{previous.release}: does not match {previous.path.name} (SHA-256 differs); apply needs the "
            "release as it was handed over"
        )


def _attributes_of_both(
    new: NewRecords, earlier: Relation, relation: Relation
) -> tuple[SensitiveAttribute, ...]:
    """Return the sensitive attributes over the values of the earlier release and of the new records."""
    plan, columns = new.prepared.plan, {}
    for name in new.prepared.problem.table.sensitive_names:
        texts: dict[str | None, int] = dict(earlier.dictionary(name))
        for text, records in relation.dictionary(name):
            texts[text] = texts.get(text, 0) + records
        ordered = sorted(texts.items(), key=lambda each: (each[0] is None, each[0] or ""))
        (own,) = plan.requests([name])
        columns[name] = column_of(relation.name, ordered, own, plan.missing).column
    return plan.sensitive_attributes(columns)


def release_folder(config: Path) -> Path:
    """Return the default folder of the release of a config: beside it and named after it.

    >>> release_folder(Path("a/clinic.yaml")).as_posix()
    'a/clinic-release'
    """
    return config.with_name(f"{config.stem}-release")


def next_run(config: Path) -> RunCommand:
    """Return the command that runs a config, and replaces a release that is in its way."""
    return RunCommand(str(config), overwrite=(release_folder(config) / REPORT).exists())


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

    def work(config: Config) -> Report:
        source = input_source(config) if config.apply is None else AppendSource(config)
        options, plan = engine_options(config), plan_of(config)
        with sink_of(config, plan, source, directory, options, overwrite=overwrite) as sink:
            return Job(plan, options, watch).run(source, sink).report

    return run_as_spelled(config, work)


def _run_on_frame(frame: pandas.DataFrame, config: Config) -> tuple[Finished, FrameSink]:
    options = engine_options(config)
    if options.engine is not None:
        raise InputError(f"engine.name: {options.engine} reads files; for a DataFrame set memory or duckdb")
    sink = FrameSink(reading_release(options, config))
    return Job(plan_of(config), options).run(frame_source(frame), sink), sink


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
    done, sink = run_as_spelled(config, partial(_run_on_frame, frame))
    prepared = done.found.prepared
    problem = prepared.problem
    table = problem.table if problem.source is None else None
    own = with_person_records(prepared, done.found.promised)
    basis = ReportInputs(own, prepared.constraints, problem.moving_reference, table)
    first, *others = sink.frames
    content = done.report.to_dict()
    report = Report({**content, "warnings": [*content["warnings"], *warnings]})
    return Result(first, report, basis, *others)
