"""A release in memory, written into a folder as the command ``run`` writes one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.config.model import Config
from anonymizer.data.open import OPTIONS
from anonymizer.data.relation import Projection, Relation, Replacement
from anonymizer.data.source import CSV_FILES
from anonymizer.data.texts import value_text
from anonymizer.errors import AuditFailed, OutputError
from anonymizer.job.job import Finished
from anonymizer.job.report import Shared, recoding_entry, write_reports
from anonymizer.job.search import store_recoding
from anonymizer.job.sinks import Sink, sink_of
from anonymizer.job.source import frame_source
from anonymizer.job.verify import auditing
from anonymizer.model.arrays import CodeArray, group_rows
from anonymizer.model.labels import MISSING
from anonymizer.model.recoding import COUNT, GROUP
from anonymizer.model.report import Report
from anonymizer.plan.engine import engine_options
from anonymizer.plan.plan import plan_of
from anonymizer.release.recoding import StoredRecoding
from anonymizer.report.described import described_columns
from anonymizer.report.facts import Facts
from anonymizer.report.small_counts import smallest_shown

if TYPE_CHECKING:
    import pandas


OPTIONS_IN_PYTHON = {"--overwrite": "overwrite=True", " with -o": ""}
"""Options of the command line in messages about a folder, as they are in Python."""


@contextmanager
def in_python() -> Iterator[None]:
    """Let messages about the folder of a release name arguments in place of options."""
    try:
        yield
    except OutputError as error:
        message = str(error)
        for option, argument in OPTIONS_IN_PYTHON.items():
            message = message.replace(option, argument)
        raise OutputError(message) from None


@dataclass(frozen=True, eq=False)
class Savable:
    """What a release in memory is written from.

    Attributes
    ----------
    config: of the run.
    tables: as they were verified; later changes of the result's DataFrames do not reach them.
    recoding: for new records; None if it cannot be applied to them.
    """

    config: Config
    tables: tuple[pandas.DataFrame, ...]
    recoding: StoredRecoding | None

    @classmethod
    def of(cls, config: Config, done: Finished, tables: Sequence[pandas.DataFrame]) -> Savable:
        """Return what a finished run can be written from."""
        kept = store_recoding(done.found.prepared, done.found.outcome)
        return cls(config, tuple(each.copy(deep=False) for each in tables), kept)

    def save(self, report: Report, facts: Facts, directory: Path, *, overwrite: bool) -> Report:
        """Write the release and its reports, read it back, and return the report of the files.

        Raises
        ------
        OutputError: the folder cannot be written, or an earlier release is in the way.
        AuditFailed: the files, read back, hold other records.
        """
        config, plan = self.config, plan_of(self.config)
        source = frame_source(self.tables[0])
        with (
            sink_of(config, plan, source, directory, engine_options(config), overwrite=overwrite) as sink,
            ExitStack() as stack,
        ):
            written = [stack.enter_context(self._as_texts(each)) for each in self.tables]
            for each in written:
                each.marker = plan.target.marker
            queries = [
                each.records_query(_all_of(each, table), shuffled=plan.target.shuffled)
                for each, table in zip(written, self.tables, strict=True)
            ]
            sink.write(queries, written[0])
            read = [stack.enter_context(each) for each in sink.read_back()]
            absent = frozenset({None, "", MISSING, plan.target.marker})
            with auditing(sink.named):
                for given, found in zip(written, read, strict=True):
                    _check_same(given, found, absent)
            own = _of_files(report, sink, read, self.recoding)
            k = plan.goal.k_of_reports
            columns = described_columns(own.to_dict(), read, config.folder, smallest_shown(k))
            shared = Shared(columns, k)
            sink.keep(lambda folder: write_reports(folder, own, facts, shared, self.recoding))
            sink.commit(lambda: None)
        return own

    def _as_texts(self, table: pandas.DataFrame) -> Relation:
        """Return a table as it is written; numbers in a text file get the decimal sign of the release."""
        from anonymizer.data.frames import open_in_database  # noqa: PLC0415 - the command line has no frames

        sign = self.config.numerals.decimal
        if sign != "." and CSV_FILES.named(str(self.config.output.path)):
            numbers = [place for place, dtype in enumerate(table.dtypes) if dtype.kind == "f"]
            table = table.copy(deep=False)
            for place in numbers:
                texts = table.iloc[:, place].map(value_text, na_action="ignore").astype("str")
                table.isetitem(place, texts.str.replace(".", sign, regex=False).array)
        return open_in_database(table, OPTIONS)


def _all_of(written: Relation, table: pandas.DataFrame) -> Projection:
    """Return the projection to all of a table, in which groups and counts are sorted as numbers."""
    replacements = {}
    for name in (each for each in (GROUP, COUNT) if each in table.columns and table[each].dtype.kind == "i"):
        values, codes = np.unique(table[name].to_numpy(), return_inverse=True)
        replacements[name] = Replacement(tuple(map(int, values)), codes.astype(np.int32))
    return Projection(tuple(written.columns), replacements, np.ones(written.rows, dtype=bool))


def _check_same(given: Relation, found: Relation, absent: frozenset[str | None]) -> None:
    """Check that a file that was read back has the records that were written, in any order.

    Parameters
    ----------
    absent: texts of missing values, which a file of text does not tell apart.

    Raises
    ------
    AuditFailed: it has others.
    """
    same = list(given.columns) == list(found.columns) and given.rows == found.rows
    if same:
        keys: list[tuple[CodeArray, int]] = []
        for name in given.columns:
            place: dict[str | None, int] = {}
            both = []
            for table in (given, found):
                texts = (None if text in absent else text for text, _ in table.dictionary(name))
                own = np.array([place.setdefault(text, len(place)) for text in texts], dtype=np.int32)
                both.append(own[table.codes(name)])
            keys.append((np.concatenate(both), len(place)))
        groups, _ = group_rows(keys, 2 * given.rows)
        same = np.array_equal(np.sort(groups[: given.rows]), np.sort(groups[given.rows :]))
    if not same:
        raise AuditFailed(f"{found.name}: holds other records than the release in memory")


def _of_files(
    report: Report, sink: Sink, tables: Sequence[Relation], recoding: StoredRecoding | None
) -> Report:
    """Return the report of a release in memory as that of its files."""
    content = report.to_dict()
    dialect = sink.dialect
    text: dict[str, str | None] = {"separator": None, "encoding": None}
    if dialect is not None:
        text = {"separator": dialect.separator, "encoding": dialect.encoding}
    named = [{"path": title, "sha256": each.sha256} for title, each in zip(sink.titles, tables, strict=True)]
    release = {**content["release"], **named[0], **text}
    if len(named) > 1:
        release["sensitive_table"] = {**release["sensitive_table"], **named[1]}
    return Report({**content, "release": release, "recoding_file": recoding_entry(recoding)})
