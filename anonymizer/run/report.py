"""The report of a run, assembled, and the files written with the release: folder, reports, recoding.

It warns of ambiguous texts in the input.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from anonymizer.config.attribute import Role
from anonymizer.config.model import Config
from anonymizer.data.csv import index_warnings
from anonymizer.data.relation import Relation
from anonymizer.data.source import is_url
from anonymizer.model.classes import Released
from anonymizer.model.outcome import Outcome
from anonymizer.model.report import Report
from anonymizer.model.table import COMMA, Column, ValueType
from anonymizer.profile.column_statistics import BLANKS, SAMPLE, differing_by_blanks, writing_of
from anonymizer.release.folder import PAGE, RECODING, ReleaseFolder
from anonymizer.report.build import (
    InputFacts,
    ReleaseFacts,
    ReportParts,
    SearchFacts,
    SecondFile,
    attack_entry,
    attack_matrix,
    utility_entry,
)
from anonymizer.report.distribution import smallest_shown
from anonymizer.report.facts import Facts
from anonymizer.report.page import page
from anonymizer.report.public import public_report
from anonymizer.run.assessment import Verified
from anonymizer.run.attributes import describe_attributes, hierarchy_files, required_size
from anonymizer.run.diagnose import Diagnosis
from anonymizer.run.earlier_release import StoredRecoding
from anonymizer.run.engine import engine_options
from anonymizer.run.job import Job, RunMonitor
from anonymizer.run.publication import publication_of
from anonymizer.run.source import DataSource, input_source
from anonymizer.run.target import writes_beside_the_input
from anonymizer.run.verify import Audited, SecondTable


def text_warnings(config: Config, columns: Sequence[Column]) -> list[str]:
    """Return which columns have values that differ by blanks, or numbers that are read as text.

    Values so few that their number could tell of somebody are not counted.
    """
    smallest = smallest_shown(required_size(config))
    warnings = []
    for column in columns:
        if column.type is not ValueType.TEXT:
            continue
        differing = differing_by_blanks(column.present)
        if differing:
            number = f"{differing:,}" if differing >= smallest else "a few"
            warnings.append(f"column '{column.name}': {number} of its values differ {BLANKS}")
        if _is_read_as_text(column):
            warnings.append(
                f"column '{column.name}' holds numbers with decimal commas, which are read as text; "
                "set input.decimal to ','"
            )
    return warnings


def _is_read_as_text(column: Column) -> bool:
    """Tell whether the texts of a column, or of many of them some, are numbers in any case."""
    texts = column.present[:: len(column.present) // SAMPLE + 1]
    found = writing_of({column.name: [(text, 1) for text in texts]}, None)
    return column.numerals != COMMA and found.numerals == COMMA


BESIDE_THE_INPUT = "the database of the release holds the input too: hand over the table, never the database"


def release_facts(names: Sequence[str], promised: Released, audited: Audited) -> ReleaseFacts:
    """Return what the report says of a verified release.

    Parameters
    ----------
    names: paths of its files, none of a DataFrame.
    """
    second = audited.second
    return ReleaseFacts(
        names[0] if names else None,
        audited.sha256,
        audited.rows,
        promised.suppressed,
        promised.recoding.suppressed_cells,
        audited.classes,
        verified=True,
        sensitive_table=None if second is None else _second_file(names, second),
    )


def _second_file(names: Sequence[str], second: SecondTable) -> SecondFile:
    return SecondFile(names[1] if names else None, second.sha256, second.rows)


def report_parts(
    config: Config,
    job: Job,
    outcome: Outcome,
    facts: InputFacts,
    release: ReleaseFacts,
    verified: Verified | None,
    losses: dict[str, float | None],
    diagnosis: Diagnosis | None = None,
) -> ReportParts:
    """Gather what a report is made of."""
    attacks = [] if verified is None else verified.attacks
    entries = [attack_entry(each.finding, each.seconds) for each in attacks]
    return ReportParts(
        config.to_dict(),
        describe_attributes(config, job.problem.table),
        facts,
        release,
        SearchFacts(config.algorithm.name, config.seed),
        outcome,
        () if verified is None else verified.audited.measurements,
        losses,
        entries,
        [] if verified is None else [utility_entry(each.finding, each.seconds) for each in verified.utility],
        attack_matrix([each.model for each in job.constraints], entries, job.problem.k),
        warnings_of(config, job),
        {"name": job.engine.name, "because": job.engine.because},
        None if diagnosis is None else diagnosis.to_dict(),
    )


def warnings_of(config: Config, job: Job) -> list[str]:
    """Return what a steward should look at again before handing the release over."""
    beside = [BESIDE_THE_INPUT] if writes_beside_the_input(config) else []
    protected = {constraint.attribute for constraint in job.constraints}
    return (
        beside
        + [
            f"no constraint protects the sensitive attribute '{name}'; it is released as it is"
            for name in config.with_role(Role.SENSITIVE)
            if name not in protected
        ]
        + index_warnings(job.encoded.relation.index_columns)
        + text_warnings(config, [read.column for read in job.encoded.columns])
        + publication_of(config).warnings(config)
    )


def release_folder(
    config: Config, directory: Path, earlier: Sequence[Path] = (), *, overwrite: bool
) -> ReleaseFolder:
    """Return the folder that a release is made in.

    Parameters
    ----------
    earlier: files of an earlier run that are read, beside those that the config names.
    overwrite: whether a release that is there may be replaced.
    """
    path = config.output.path
    names = () if path is None or is_url(path) else publication_of(config).names(path)
    first, second = (*names, None, None)[:2]
    files = [*_files_read(config), *earlier]
    return ReleaseFolder(directory, first, files, overwrite=overwrite, second_name=second)


def _files_read(config: Config) -> list[Path]:
    """Return every file that a run reads, none of which its output may replace."""
    own = [Path(config.source)] if Path(config.source).is_file() else []
    return [*input_source(config).files, *hierarchy_files(config), *own]


def watched_open(config: Config, source: DataSource, watch: RunMonitor) -> Relation:
    """Open the input, and tell that it is read."""
    watch.phase(f"reading {source.title.rpartition('/')[2]}")
    return source.open(engine_options(config))


def input_facts(source: DataSource, relation: Relation) -> InputFacts:
    """Return what the report says of the input.

    Parameters
    ----------
    relation: the input, opened.
    """
    return InputFacts(source.title, relation.sha256, relation.rows, len(relation.columns), relation.separator)


def recoding_entry(kept: StoredRecoding | None) -> dict[str, Any] | None:
    """Return what the report says of recoding.json."""
    if kept is None:
        return None
    return {"path": RECODING, "sha256": hashlib.sha256(kept.encoded).hexdigest()}


def write_reports(
    folder: ReleaseFolder, report: Report, facts: Facts, job: Job, kept: StoredRecoding | None
) -> None:
    """Write the page, the recipient's report, the recoding, and the internal report.

    Parameters
    ----------
    facts: what the page shows beside the report.
    """
    folder.internal(PAGE).write_text(page(report, facts), encoding="utf-8", newline="\n")
    folder.public_report.write_text(
        public_report(report, job.problem.k).to_json(), encoding="utf-8", newline="\n"
    )
    if kept is not None:
        folder.internal(RECODING).write_bytes(kept.encoded)
    folder.report.write_text(report.to_json(), encoding="utf-8", newline="\n")
