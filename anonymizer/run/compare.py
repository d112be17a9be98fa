"""Comparison of algorithms and settings: many runs of one config, none of them leaving a release.

Results are kept in a folder for the next time. A fingerprint of input, config and version identifies a
result; with another input, config or version it is not the same result.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import distributions
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymizer.config.load import Variation, load_config
from anonymizer.config.model import Config
from anonymizer.config.plugin_sections import AttackSettings
from anonymizer.data.source import FileSource
from anonymizer.distribution import FOLDER
from anonymizer.errors import ConfigError, ConfigProblem, InputError, Interrupted, OutputError
from anonymizer.report.build import environment
from anonymizer.report.comparison import (
    IN_GROUPS,
    QUERY_ERROR,
    ComparedRun,
    Comparison,
    RunStatus,
    measured_of,
)
from anonymizer.run.engine import engine_options
from anonymizer.run.job import anonymize_frame
from anonymizer.run.plan import plan_of
from anonymizer.run.prepare import input_path
from anonymizer.run.workers import RunResult, WorkerPool, job_of, run_to_result
from anonymizer.search.base import SEARCH_ALGORITHMS
from anonymizer.system import new_path_fault, replace_whole, same_file

if TYPE_CHECKING:
    import pandas

FORMAT = 2
"""Of the kept results."""

PLUG_INS = "anonymizer."
"""How the name of every entry-point group begins."""


class Fingerprints:
    """Hashes of runs; each file is read once."""

    def __init__(self) -> None:
        self._files: dict[Path, str] = {}
        self._environment = environment()
        self._programs = self._of_programs()

    def of(self, config: Config) -> str:
        """Return the hash of a run's config, of every file that it reads, and of the programs it runs on.

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
        """Return the modules of this package and the plug-ins of others: one may change between versions."""
        own = [
            (path.relative_to(FOLDER).as_posix(), self._file(path)) for path in sorted(FOLDER.rglob("*.py"))
        ]
        # A folder that is on the path twice tells of its distributions twice.
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
"""What another run of the same would find again; what was refused or failed is tried once more."""


class ComparisonFolder:
    """Where a comparison keeps each result as soon as it is there, by the fingerprint of its run.

    Parameters
    ----------
    directory: made when it does not exist.
    inputs: every file that the runs read; none may be part of the output.

    Raises
    ------
    OutputError: the folder cannot be written, or holds something else.
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
            own = any(same_file(given, path) for path in outputs)
            if own or given.resolve().is_relative_to(runs.resolve()):
                raise OutputError(
                    f"{given}: is an input and stands where output goes; choose another with -o"
                )
        strange = next((path for path in outputs if os.path.lexists(path)), None)
        if strange is not None and not runs.is_dir():
            raise OutputError(f"{strange}: is not of a comparison; move it away, or choose another with -o")

    def kept(self, fingerprint: str) -> RunResult | None:
        """Return the result of a run, None when there is none that can be read."""
        try:
            content = json.loads(self._path(fingerprint).read_text(encoding="utf-8"))
            return RunResult.from_dict(content) if content["fingerprint"] == fingerprint else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, fingerprint: str, found: RunResult) -> None:
        """Keep the result of a run, if another would find the same.

        Raises
        ------
        OutputError: it cannot be written.
        """
        if found.status in KEPT:
            content = {"fingerprint": fingerprint, **found.to_dict()}
            self._write(self._path(fingerprint), json.dumps(content, ensure_ascii=False) + "\n")

    def show(self, name: str, text: str) -> None:
        """Write one of the files that are shown, replacing an earlier one.

        Raises
        ------
        OutputError: it cannot be written.
        """
        self._write(self.directory / name, text)

    def _path(self, fingerprint: str) -> Path:
        return self.directory / RUNS / f"{fingerprint[:32]}.json"

    def _write(self, path: Path, text: str) -> None:
        """Write a file that appears whole or not at all."""
        try:
            replace_whole(path, text)
        except OSError as error:
            raise _refusal(self.directory, error) from error


def _refusal(directory: Path, error: OSError) -> OutputError:
    reason = error.strerror or type(error).__name__
    return OutputError(f"{directory}: cannot be written: {reason}; choose another with -o")


CHOOSES = "auto"
"""Picks one of the others, so that beside them it would be the same run twice."""

ATTACKS = ("vulnerability", "linkage")
"""What releases are compared by when the config lists no attacks; the first is always among them."""


@dataclass(frozen=True)
class PlannedRun:
    """One run that is to be made.

    Attributes
    ----------
    number: from 1.
    algorithm: its name.
    settings: what varies, key and value as ``--set`` takes them.
    overrides: all that differs from the config, the algorithm too.
    config: the whole config of the run, with the attacks that all runs share.
    asked: names of the attacks that risk may be measured by.
    """

    number: int
    algorithm: str
    settings: tuple[tuple[str, str], ...]
    overrides: tuple[str, ...]
    config: Config
    asked: tuple[str, ...]


def planned(
    source: Config | Mapping[str, Any] | str | Path,
    algorithms: Sequence[str],
    variations: Sequence[Variation],
) -> list[PlannedRun]:
    """Return every algorithm with every combination of varied values.

    Parameters
    ----------
    algorithms: names; none for that of the config, or all that suit it when nothing varies either.

    Raises
    ------
    ConfigError: all that is wrong with the config, or with it under some algorithm and values.
    """
    base = load_config(source)
    if base.apply is not None:
        what = "searches nothing that could be compared; remove it"
        raise ConfigError(base.source, [ConfigProblem("apply", what)])
    names = _algorithms(base, algorithms, vary=bool(variations))
    measures = _measures(base) if IN_GROUPS in names else ()
    runs: list[PlannedRun] = []
    problems: dict[tuple[str, str], ConfigProblem] = {}
    for name in names:
        for values in product(*(each.values for each in variations)):
            settings = tuple(zip((each.key for each in variations), values, strict=True))
            overrides = (*_algorithm(base, name), *(f"{key}={value}" for key, value in settings))
            try:
                config = load_config(source, (*overrides, *measures))
            except ConfigError as error:
                problems |= {(each.where, each.what): each for each in error.problems}
                continue
            asked = tuple(dict.fromkeys(each.attack for each in config.attacks)) or ATTACKS
            number = len(runs) + 1
            runs.append(PlannedRun(number, name, settings, overrides, _with_attacks(config), asked))
    if problems:
        raise ConfigError(base.source, list(problems.values()))
    return runs


def _algorithms(base: Config, asked: Sequence[str], *, vary: bool) -> Sequence[str]:
    twice = dict.fromkeys(name for place, name in enumerate(asked) if name in asked[:place])
    if twice:
        problems = [ConfigProblem(f"--algorithm {name}", "is given twice; keep one") for name in twice]
        raise ConfigError("the comparison", problems)
    if asked:
        return asked
    if vary:
        return [base.algorithm.name]
    method = base.suppression.method.value
    return [
        name for name, each in SEARCH_ALGORITHMS.items() if name != CHOOSES and method in each.suppressions
    ]


def _algorithm(base: Config, name: str) -> tuple[str, ...]:
    """Return the override that chooses an algorithm; the config's own keeps its options."""
    return () if name == base.algorithm.name else (f"algorithm={{name: {name}}}",)


def _measures(base: Config) -> tuple[str, ...]:
    """Return the override that measures the query error, which releases of every kind have."""
    listed: list[Any] = base.to_dict().get("utility", [])
    known = {each["measure"] for each in listed}
    return () if QUERY_ERROR in known else (f"utility={json.dumps([*listed, QUERY_ERROR])}",)


def _with_attacks(config: Config) -> Config:
    """Return a config whose release is attacked, by one attack at least that applies to every release."""
    listed = [each.attack for each in config.attacks]
    missing = ATTACKS if not listed else [name for name in ATTACKS[:1] if name not in listed]
    more = (AttackSettings.model_validate(name) for name in missing)
    return config.model_copy(update={"attacks": (*config.attacks, *more)})


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
    return [input_path(config), *plan_of(config).hierarchy_files]
