"""Algorithms and settings side by side: many runs of one config, none of which leaves a release."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymizer.config.model import Config
from anonymizer.data.source import FileSource
from anonymizer.errors import InputError, Interrupted
from anonymizer.flow.attributes import hierarchy_files
from anonymizer.flow.comparing.ended import RunResult, run_to_result
from anonymizer.flow.comparing.fingerprint import Fingerprints
from anonymizer.flow.comparing.folder import ComparisonFolder
from anonymizer.flow.comparing.plan import PlannedRun
from anonymizer.flow.comparing.pool import WorkerPool
from anonymizer.flow.comparing.worker import job_of
from anonymizer.flow.engine import engine_options
from anonymizer.flow.frame import anonymize_frame
from anonymizer.flow.prepare import input_path
from anonymizer.report.comparison import ComparedRun, Comparison, RunStatus, measured_of

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class ComparisonWatch:
    """How a comparison is watched.

    Attributes
    ----------
    begun: told how many runs there are, and how many of them were kept from an earlier time.
    finished: told of each run that ended now.
    stopped: asked whether the user wants an end.
    """

    begun: Callable[[int, int], None] = lambda _runs, _kept: None
    finished: Callable[[ComparedRun], None] = lambda _: None
    stopped: Callable[[], bool] = lambda: False


PLAIN_LOSS = {"metric": "loss", "aggregate": "arithmetic-mean"}
"""The objective that is the loss in every comparison."""

UNWATCHED = ComparisonWatch()


def open_folder(directory: Path, plan: Sequence[PlannedRun]) -> ComparisonFolder:
    """Return the folder of a comparison, checked against every file that its runs read.

    Raises
    ------
    OutputError: as ``ComparisonFolder``.
    ConfigError: the config names no input.
    """
    return ComparisonFolder(directory, sorted({path for run in plan for path in _files_read(run.config)}))


def compare(
    plan: Sequence[PlannedRun], folder: ComparisonFolder, workers: int, watch: ComparisonWatch = UNWATCHED
) -> Comparison:
    """Do the runs that are not kept from an earlier time, each verified as ``run`` does it.

    Parameters
    ----------
    folder: where each result is kept as soon as it is there.
    workers: processes at a time.

    Raises
    ------
    InputError: a file cannot be read, or every run refused the input.
    Interrupted: the user ended it; what had ended is kept.
    """
    watched = _watched(plan)
    hashes = Fingerprints()
    prints = {run.number: hashes.of(run.config) for run in plan}
    found = {number: kept for number, each in prints.items() if (kept := folder.kept(each)) is not None}
    missing = [run for run in plan if run.number not in found]
    watch.begun(len(plan), len(found))
    temporary = engine_options(plan[0].config).temp_directory
    with (
        tempfile.TemporaryDirectory(prefix="anonymizer-", dir=temporary) as work,
        WorkerPool(min(workers, len(missing)) or 1) as pool,
    ):
        jobs = {run.number: job_of(run.config, Path(work)) for run in missing}
        by_number = {run.number: run for run in plan}
        for number, result in pool.results(jobs, watch.stopped):
            # Runs on different data are no comparison, and no result of the data that was hashed.
            for each in watched:
                each.check()
            folder.keep(prints[number], result)
            found[number] = result
            watch.finished(_compared(by_number[number], result))
    if len(found) < len(plan):
        raise Interrupted(
            f"interrupted: {len(found)} of {len(plan)} runs are done and kept in {folder.directory}; "
            "the same command goes on from there"
        )
    return comparison_of(plan, found)


def compare_frame(frame: pandas.DataFrame, plan: Sequence[PlannedRun]) -> Comparison:
    """Do runs on a DataFrame, one after the other; nothing is kept.

    Raises
    ------
    InputError: every run refused the input.
    """

    def ended_with(config: Config) -> RunResult:
        return run_to_result(lambda: anonymize_frame(frame, config).report)

    return comparison_of(plan, {run.number: ended_with(run.config) for run in plan})


def comparison_of(plan: Sequence[PlannedRun], found: Mapping[int, RunResult]) -> Comparison:
    """Return what runs found, side by side.

    Raises
    ------
    InputError: every run refused the input.
    """
    if all(each.status is RunStatus.REFUSED for each in found.values()):
        raise InputError("; ".join(dict.fromkeys(found[run.number].reason for run in plan)))
    config = plan[0].config
    rows = (each.report["input"]["rows"] for each in found.values() if each.report is not None)
    path = config.input.path
    return Comparison(
        config.source,
        None if path is None else Path(path).name,
        next(rows, 0),
        config.seed,
        tuple(_compared(run, found[run.number]) for run in plan),
        plan[0].asked,
    )


def _compared(run: PlannedRun, result: RunResult) -> ComparedRun:
    satisfied = result.status is RunStatus.SATISFIED and result.report is not None
    return ComparedRun(
        run.number,
        run.algorithm,
        run.settings,
        run.overrides,
        result.status,
        result.seconds,
        result.reason,
        _bound_on_loss(result.report),
        measured_of(result.report) if satisfied and result.report is not None else None,
    )


def _bound_on_loss(report: Mapping[str, Any] | None) -> float | None:
    """Return the bound of a search for the least loss; that of another objective bounds something else."""
    if report is None or report["config"]["objective"] != PLAIN_LOSS:
        return None
    bound = report["search"]["bound"]
    return float(bound) if isinstance(bound, int | float) else None


def _watched(plan: Sequence[PlannedRun]) -> list[FileSource]:
    """Look at the data and the hierarchy files that runs read.

    Raises
    ------
    InputError: a file cannot be read.
    """
    found = []
    for path in sorted(
        {each for run in plan for each in (input_path(run.config), *hierarchy_files(run.config))}
    ):
        try:
            found.append(FileSource.of(path, "a data file"))
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    return found


def _files_read(config: Config) -> list[Path]:
    own = [Path(config.source)] if Path(config.source).is_file() else []
    return [input_path(config), *hierarchy_files(config), *own]
