"""Comparison of algorithms and settings: many runs of one config in worker processes, none leaving a release.

Results are cached in a folder. The fingerprint of a result covers input, config and version, so a change of
one of them makes another result.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import distributions
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymizer.commands.frame import anonymize_frame
from anonymizer.commands.planning import PlannedRun, compared
from anonymizer.commands.workers import RunResult, WorkerPool, job_of, run_to_result
from anonymizer.config.model import Config
from anonymizer.data.source import FileSource
from anonymizer.distribution import FOLDER
from anonymizer.errors import InputError, Interrupted, OutputError
from anonymizer.job.source import input_path
from anonymizer.plan.engine import engine_options
from anonymizer.plan.plan import plan_of
from anonymizer.report.build import environment
from anonymizer.report.comparison import ComparedRun, Comparison, RunStatus
from anonymizer.search.base import Incumbent
from anonymizer.system import check_file, new_path_fault, real_path, replace_whole, same_file

if TYPE_CHECKING:
    import pandas


FORMAT = 3
"""Version of the cached results."""

PLUG_INS = "anonymizer."
"""Prefix of the names of entry-point groups."""


class Fingerprints:
    """Hashes of runs; each file is read once."""

    def __init__(self) -> None:
        self._files: dict[Path, str] = {}
        self._environment = environment()
        self._programs = self._of_programs()

    def of(self, config: Config) -> str:
        """Return the hash of a run's config, of the files that it reads, and of the programs that it runs.

        Raises
        ------
        InputError: a file cannot be read.
        """
        files = _data_files(config)
        content = {
            "format": FORMAT,
            "environment": self._environment,
            "programs": self._programs,
            "config": config.to_dict(),
            "files": [self._file(path) for path in files],
        }
        text = json.dumps(content, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def _of_programs(self) -> list[tuple[str, ...]]:
        """Return this package's modules and all plug-ins, as both may change without a new version."""
        own = [
            (path.relative_to(FOLDER).as_posix(), self._file(path)) for path in sorted(FOLDER.rglob("*.py"))
        ]
        # A folder that is on the path twice lists its distributions twice.
        return [*own, *sorted(set(self._plug_ins()))]

    def _plug_ins(self) -> Iterator[tuple[str, ...]]:
        for each in distributions():
            for point in each.entry_points:
                if point.group.startswith(PLUG_INS):
                    spec = find_spec(point.module)
                    source = spec.origin if spec is not None and spec.has_location else None
                    content = "" if source is None else self._file(Path(source))
                    yield point.group, point.value, each.version, content

    def _file(self, path: Path) -> str:
        if path not in self._files:
            try:
                with path.open("rb") as stream:
                    self._files[path] = hashlib.file_digest(stream, "sha256").hexdigest()
            except OSError as error:
                raise InputError(f"{path}: cannot be read: {error.strerror}") from None
        return self._files[path]


RUNS = "runs"
SHOWN = ("compare.csv", "compare.html")
KEPT = (RunStatus.SATISFIED, RunStatus.INFEASIBLE, RunStatus.UNDECIDED)
"""Results that are cached; a run that was refused or failed is repeated."""


class ComparisonFolder:
    """Caches each result of a comparison by the fingerprint of its run.

    Parameters
    ----------
    directory: created if it does not exist.
    inputs: every file that the runs read; none may be part of the output.

    Raises
    ------
    OutputError: the folder cannot be written, or contains other files.
    """

    def __init__(self, directory: Path, inputs: Sequence[Path]) -> None:
        self.directory = directory
        fault = new_path_fault(directory)
        if fault is not None:
            raise OutputError(f"{directory}: {fault}; choose another with -o")
        self._check(inputs)
        try:
            (directory / RUNS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _refusal(directory, error) from error

    def _check(self, inputs: Sequence[Path]) -> None:
        runs = self.directory / RUNS
        outputs = [self.directory / name for name in SHOWN]
        for given in inputs:
            check_file(given)
            own = any(same_file(given, path) for path in outputs)
            if own or real_path(given).is_relative_to(real_path(runs)):
                raise OutputError(
                    f"{given}: is an input and would be replaced by the output; choose another folder with -o"
                )
        strange = next((path for path in outputs if os.path.lexists(path)), None)
        if strange is not None and not runs.is_dir():
            raise OutputError(
                f"{strange}: is not from a comparison; move it away, or choose another folder with -o"
            )

    def kept(self, fingerprint: str) -> RunResult | None:
        """Return the cached result of a run; None if there is none, or it cannot be read."""
        try:
            content = json.loads(self._path(fingerprint).read_text(encoding="utf-8"))
            return RunResult.from_dict(content) if content["fingerprint"] == fingerprint else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, fingerprint: str, found: RunResult) -> None:
        """Cache the result of a run, unless it was refused or failed.

        Raises
        ------
        OutputError: it cannot be written.
        """
        if found.status in KEPT:
            content = {"fingerprint": fingerprint, **found.to_dict()}
            self._write(self._path(fingerprint), json.dumps(content, ensure_ascii=False) + "\n")

    def show(self, name: str, text: str) -> None:
        """Write compare.csv or compare.html, replacing an earlier one.

        Raises
        ------
        OutputError: it cannot be written.
        """
        self._write(self.directory / name, text)

    def _path(self, fingerprint: str) -> Path:
        return self.directory / RUNS / f"{fingerprint[:32]}.json"

    def _write(self, path: Path, text: str) -> None:
        """Write a file completely or not at all."""
        try:
            replace_whole(path, text)
        except OSError as error:
            raise _refusal(self.directory, error) from error


def _refusal(directory: Path, error: OSError) -> OutputError:
    reason = error.strerror or type(error).__name__
    return OutputError(f"{directory}: cannot be written: {reason}; choose another with -o")


@dataclass(frozen=True)
class ComparisonWatch:
    """Callbacks that follow a comparison and may stop it.

    Attributes
    ----------
    begun: receives the number of runs and of cached results.
    finished: receives each run as it ends.
    stopped: returns whether the user wants to stop.
    """

    begun: Callable[[int, int], None] = lambda _runs, _kept: None
    finished: Callable[[ComparedRun], None] = lambda _: None
    stopped: Callable[[], bool] = lambda: False


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
    """Do the runs that are not cached, each verified like a single run.

    Parameters
    ----------
    folder: caches each result as soon as it is available.
    workers: maximum number of processes at a time.

    Raises
    ------
    InputError: a file cannot be read, or every run refused the input.
    Interrupted: the user stopped the comparison; the results of finished runs are cached.
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
            # Runs on different data cannot be compared, nor cached by the hash of the earlier data.
            for each in watched:
                each.check()
            folder.keep(prints[number], result)
            found[number] = result
            watch.finished(compared(by_number[number], result))
    if len(found) < len(plan):
        raise Interrupted(
            f"interrupted: {len(found)} of {len(plan)} runs are done, with results in {folder.directory}; "
            "the same command resumes the comparison"
        )
    return comparison_of(plan, found)


def compare_frame(frame: pandas.DataFrame, plan: Sequence[PlannedRun]) -> Comparison:
    """Do runs on a DataFrame, one after the other, without a cache.

    Raises
    ------
    InputError: every run refused the input.
    """

    def ended_with(config: Config) -> RunResult:
        return run_to_result(lambda: anonymize_frame(frame, config).report)

    return comparison_of(plan, {run.number: ended_with(run.config) for run in plan})


def comparison_of(plan: Sequence[PlannedRun], found: Mapping[int, RunResult]) -> Comparison:
    """Return the results of runs, side by side.

    Raises
    ------
    InputError: every run refused the input.
    """
    if all(each.status is RunStatus.REFUSED for each in found.values()):
        raise InputError("; ".join(dict.fromkeys(found[run.number].reason for run in plan)))
    config = plan[0].config
    plan, found = _no_worse_than_stronger(plan, found)
    rows = (each.report["input"]["rows"] for each in found.values() if each.report is not None)
    path = config.input.path
    return Comparison(
        config.source,
        None if path is None else Path(path).name,
        next(rows, 0),
        config.seed,
        tuple(compared(run, found[run.number]) for run in plan),
        plan[0].asked,
        own_limit=plan[0].limit,
    )


@dataclass(frozen=True)
class _Strength:
    """How strong the constraints of a config are.

    Attributes
    ----------
    rest: the config without its thresholds and its suppression limit.
    thresholds: distance of each from its loosest value; larger is stronger.
    """

    rest: str
    thresholds: tuple[float, ...]

    @classmethod
    def of(cls, config: Config) -> _Strength:
        content: dict[str, Any] = json.loads(json.dumps(config.to_dict()))
        content.get("suppression", {}).pop("limit", None)
        found = [-float(config.suppression.limit)]
        for entry, constraint in zip(content.get("constraints", []), config.constraints, strict=True):
            model = constraint.build()
            for each in model.thresholds:
                entry.pop(each.parameter, None)
                value = float(model.value_of(each))
                found.append(abs(value - each.loosest) if isfinite(each.loosest) else -value)
        return cls(json.dumps(content, sort_keys=True), tuple(found))

    def covers(self, weaker: _Strength) -> bool:
        """Return whether a release that satisfies these constraints surely satisfies others."""
        return self.rest == weaker.rest and all(
            own >= other for own, other in zip(self.thresholds, weaker.thresholds, strict=True)
        )


def _no_worse_than_stronger(
    plan: Sequence[PlannedRun], found: Mapping[int, RunResult]
) -> tuple[list[PlannedRun], dict[int, RunResult]]:
    """Return runs and results in which none loses more than one under stronger constraints.

    The release of that one satisfies the weaker constraints too, so it is the best known for these, and its
    command is the one that repeats it.
    """
    strengths = {run.number: _Strength.of(run.config) for run in plan}
    runs, results = [], dict(found)
    for run in plan:
        best: Incumbent[PlannedRun] = Incumbent()
        for other in (run, *plan):
            objective = _objective_of(found[other.number])
            if objective is not None and strengths[other.number].covers(strengths[run.number]):
                best.offer(other, objective)
        own, chosen = found[run.number], best.found
        if chosen is None or chosen is run or own.status not in KEPT or own.report is None:
            runs.append(run)
            continue
        better = found[chosen.number].report
        assert better is not None, "it has an objective"
        # What was proven under stronger constraints says nothing about these.
        search = {**better["search"], "optimal": False, "bound": own.report["search"]["bound"]}
        results[run.number] = RunResult(RunStatus.SATISFIED, own.seconds, report={**better, "search": search})
        runs.append(replace(run, overrides=chosen.overrides))
    return runs, results


def _objective_of(result: RunResult) -> float | None:
    """Return the objective of a release, None without one."""
    if result.status is not RunStatus.SATISFIED or result.report is None:
        return None
    objective = result.report["search"]["objective"]
    return float(objective) if isinstance(objective, int | float) else None


def _watched(plan: Sequence[PlannedRun]) -> list[FileSource]:
    """Return the data and hierarchy files of runs, each of which can report a later change.

    Raises
    ------
    InputError: a file cannot be read.
    """
    found = []
    for path in sorted({each for run in plan for each in _data_files(run.config)}):
        try:
            found.append(FileSource.of(path, "a data file"))
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    return found


def _files_read(config: Config) -> list[Path]:
    own = [Path(config.source)] if Path(config.source).is_file() else []
    return [*_data_files(config), *own]


def _data_files(config: Config) -> list[Path]:
    return [input_path(config), *plan_of(config).columns.hierarchy_files]
