"""What a run reads and writes beside the release itself: the folder, the reports, the recoding."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from anonymizer.config.model import Config
from anonymizer.data.relation import Relation
from anonymizer.data.source import is_url
from anonymizer.flow.applying.kept import StoredRecoding
from anonymizer.flow.attributes import hierarchy_files
from anonymizer.flow.engine import engine_options
from anonymizer.flow.prepare import Job
from anonymizer.flow.publication import publication_of
from anonymizer.flow.source import DataSource, input_source
from anonymizer.flow.watch import RunMonitor
from anonymizer.model.report import Report
from anonymizer.release.folder import PAGE, RECODING, ReleaseFolder
from anonymizer.report.build import InputFacts
from anonymizer.report.facts import Facts
from anonymizer.report.page import page
from anonymizer.report.public import public_report


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
    folder.internal(PAGE).write_text(page(report, facts), encoding="utf-8")
    folder.public_report.write_text(public_report(report, job.problem.k).to_json(), encoding="utf-8")
    if kept is not None:
        folder.internal(RECODING).write_bytes(kept.encoded)
    folder.report.write_text(report.to_json(), encoding="utf-8")
