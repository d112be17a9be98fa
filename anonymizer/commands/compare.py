"""Comparison of algorithms and settings: many runs of one config in worker processes, none leaving a release.

Results are cached in a folder. The fingerprint of a result covers input, config and version, so a change of
one of them makes another result.

A worker process reads one line of JSON from standard input, the job, and writes one to standard output, the
result of the run in plain types. Standard input stays open as long as the parent process lives; at its end
the run is aborted.
"""

from __future__ import annotations

import _thread
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import distributions
from importlib.util import find_spec
from itertools import product
from math import isfinite
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TextIO

from anonymizer.commands.frame import anonymize_frame
from anonymizer.commands.run import run as run_job
from anonymizer.config.features import suitable_algorithms
from anonymizer.config.load import Variation, load_config
from anonymizer.config.model import Config, Origin
from anonymizer.config.plugin_sections import AttackSettings
from anonymizer.data.source import FileSource
from anonymizer.distribution import FOLDER
from anonymizer.errors import (
    AuditFailed,
    ConfigError,
    ConfigProblem,
    Infeasible,
    InputError,
    Interrupted,
    OutputError,
    ReportLike,
)
from anonymizer.job.source import input_path
from anonymizer.model.feature_rows import Stage
from anonymizer.model.report import Report
from anonymizer.model.units import HOUSEHOLD, PERSON
from anonymizer.plan.engine import engine_options
from anonymizer.plan.plan import plan_of
from anonymizer.privacy.base import WHO
from anonymizer.report.build import environment
from anonymizer.report.comparison import (
    QUERY_ERROR,
    ComparedRun,
    Comparison,
    RunStatus,
    measured_of,
)
from anonymizer.search.base import SEARCH_ALGORITHMS, Incumbent
from anonymizer.system import (
    Closing,
    check_file,
    new_path_fault,
    process_apart,
    real_path,
    replace_whole,
    same_file,
)

if TYPE_CHECKING:
    import pandas


VERDICTS = ("INFEASIBLE: ", "UNDECIDED: ")
NOTHING_WRITTEN = "Nothing was written."


@dataclass(frozen=True)
class RunResult:
    """The result of a run.

    Attributes
    ----------
    reason: why there is no release; empty if there is one.
    report: of the run, without its steps; None if the run ended before its report.
    """

    status: RunStatus
    seconds: float
    reason: str = ""
    report: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the result in plain JSON types."""
        return {**vars(self), "status": self.status.value, "seconds": round(self.seconds, 3)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> RunResult:
        """Return the result that ``to_dict`` made.

        Raises
        ------
        KeyError, ValueError: the content is not from ``to_dict``.
        """
        return cls(
            RunStatus(content["status"]), float(content["seconds"]), content["reason"], content["report"]
        )


def run_to_result(work: Callable[[], Report]) -> RunResult:
    """Return the result of a run; only unexpected errors are raised."""
    started = time.monotonic()

    def after() -> float:
        return time.monotonic() - started

    try:
        report = work()
    except Infeasible as error:
        content = _without_steps(error.report)
        return RunResult(RunStatus(content["status"]), after(), _reason(str(error)), content)
    except InputError as error:
        return RunResult(RunStatus.REFUSED, after(), _reason(str(error)))
    except AuditFailed as error:
        return RunResult(RunStatus.FAILED, after(), _reason(str(error)))
    return RunResult(RunStatus.SATISFIED, after(), "", _without_steps(report))


def _without_steps(report: ReportLike) -> dict[str, Any]:
    """Return a report without its steps, of which there may be one for every candidate."""
    return {key: value for key, value in report.to_dict().items() if key != "steps"}


def _reason(message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if line.strip() != NOTHING_WRITTEN]
    for prefix in VERDICTS:
        lines[0] = lines[0].removeprefix(prefix)
    return "; ".join(lines)


POLL = 0.1
"""Seconds between two checks of whether the user wants to stop."""


class WorkerPool(Closing):
    """Worker processes, at most ``workers`` at a time; closing the pool ends them."""

    def __init__(self, workers: int) -> None:
        self._threads = ThreadPoolExecutor(workers)
        self._running: set[subprocess.Popen[str]] = set()
        self._closed = False

    def close(self) -> None:
        """End the workers; a second call does nothing."""
        self._closed = True
        for process in list(self._running):
            process.kill()
        self._threads.shutdown(cancel_futures=True)

    def results(
        self, jobs: Mapping[int, Mapping[str, Any]], stopped: Callable[[], bool]
    ) -> Iterator[tuple[int, RunResult]]:
        """Yield the number and result of each job, in the order in which they end; fewer when stopped."""
        numbers: dict[Future[RunResult], int] = {
            self._threads.submit(self._do, job): number for number, job in jobs.items()
        }
        left = set(numbers)
        while left and not stopped():
            done, left = wait(left, timeout=POLL, return_when=FIRST_COMPLETED)
            for future in sorted(done, key=numbers.__getitem__):
                yield numbers[future], future.result()

    def _do(self, job: Mapping[str, Any]) -> RunResult:
        with tempfile.TemporaryFile("w+", encoding="utf-8") as messages:
            try:
                process = self._started(messages)
            except OSError as error:
                return RunResult(RunStatus.FAILED, 0.0, f"its process could not be started: {error.strerror}")
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                process.stdin.write(json.dumps(job) + "\n")
                process.stdin.flush()
                answer = process.stdout.read()
            except OSError:  # a broken pipe, under another name on Windows
                answer = ""
            finally:
                process.stdout.close()
                code = process.wait()
                self._running.discard(process)
                with suppress(OSError):
                    process.stdin.close()
            messages.seek(0)
            return _ended(answer, code, messages.read())

    def _started(self, messages: IO[str]) -> subprocess.Popen[str]:
        # Ctrl-C on the terminal reaches the comparison only, which then ends its workers.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "anonymizer.commands.compare"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=messages,
            text=True,
            encoding="utf-8",
            # The worker finds modules in the same folders as this process.
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                "PYTHONIOENCODING": "utf-8:backslashreplace",
            },
            **process_apart(),
        )
        self._running.add(process)
        if self._closed:
            process.kill()
        return process


def _ended(answer: str, code: int, messages: str) -> RunResult:
    """Return the answer of a worker; without an answer, the end of its process."""
    try:
        return RunResult.from_dict(json.loads(answer))
    except (ValueError, KeyError, TypeError):
        return RunResult(RunStatus.FAILED, 0.0, _death(code, messages))


def _death(code: int, messages: str) -> str:
    if code < 0:
        return f"its process was ended by signal {-code}; with too little memory, try --workers 1"
    lines = messages.strip().splitlines()
    return f"its process ended with code {code}: {lines[-1] if lines else 'no message'}"


PATIENCE = 5.0
"""Seconds for cleaning up after the parent process has ended."""


def job_of(config: Config, folder: Path) -> dict[str, Any]:
    """Return the job of a run.

    Parameters
    ----------
    folder: for the release until it is verified.
    """
    return {
        "config": config.to_dict(),
        "name": config.source,
        "beside": str(config.folder.absolute()),
        "folder": str(folder),
    }


def main() -> None:
    """Do the job on standard input."""
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with, args=(sys.stdin,), daemon=True).start()
    answer = _own_output()
    config = load_config(job["config"]).located(Origin(job["name"], Path(job["beside"])))
    with tempfile.TemporaryDirectory(dir=job["folder"]) as folder:
        found = run_to_result(lambda: run_job(config, Path(folder) / "release"))
    with answer:
        json.dump(found.to_dict(), answer)


def _own_output() -> TextIO:
    """Return standard output for the answer alone; output of libraries goes to standard error."""
    own = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return own


def _end_with(stream: TextIO) -> None:
    """Wait for the end of a stream, then end this process, by force after some seconds."""
    stream.read()
    _thread.interrupt_main()
    threading.Event().wait(PATIENCE)
    os._exit(1)


FORMAT = 2
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


ATTACKS = ("vulnerability", "linkage")
"""Attacks of a comparison if the config lists none; the first is always run."""


@dataclass(frozen=True)
class PlannedRun:
    """One run of a comparison.

    Attributes
    ----------
    number: from 1.
    algorithm: its name.
    settings: keys that vary, with their values as for ``--set``.
    overrides: all differences from the config, including the algorithm.
    config: of the run, with the attacks that all runs share.
    asked: names of the attacks that may measure risk.
    limit: largest re-identification risk that the config allows, before variations; None without one.
    """

    number: int
    algorithm: str
    settings: tuple[tuple[str, str], ...]
    overrides: tuple[str, ...]
    config: Config
    asked: tuple[str, ...]
    limit: float | None = None


def risk_limit(config: Config) -> float | None:
    """Return the largest re-identification risk that the constraints of a config allow; None without one.

    Constraints about a population allow any risk to those who know that the target is in the data, and
    constraints on records any to persons, whom attacks count where the config names them. k persons in each
    class are a limit of 1/k, which an attack on persons with unequal numbers of records may exceed.
    """
    # A class of k households has k persons, but a share of households says nothing about persons.
    person = None if config.input.person is None else PERSON
    asked = [(config.unit_of(each), each.build()) for each in config.constraints]
    who = [(unit, each) for unit, each in asked if each.mitigates & WHO and not each.needs_population]
    limits = [
        float(each.allowed_success)
        for unit, each in who
        if each.allowed_success is not None and unit == person
    ]
    sizes = [
        each.k for unit, each in who if each.k is not None and (person is None or unit in (PERSON, HOUSEHOLD))
    ]
    return min([*limits, *(1 / k for k in sizes)], default=None)


def planned(
    source: Config | Mapping[str, Any] | str | Path,
    algorithms: Sequence[str],
    variations: Sequence[Variation],
) -> list[PlannedRun]:
    """Return every algorithm with every combination of varied values.

    Parameters
    ----------
    algorithms: names; if empty, the config's algorithm with variations, or all suitable ones without.

    Raises
    ------
    ConfigError: all problems of the config, or of its combination with an algorithm and values.
    """
    base = load_config(source)
    base.require(Stage.COMPARE)
    names = _algorithms(base, algorithms, vary=bool(variations))
    two_tables = any(each in SEARCH_ALGORITHMS and SEARCH_ALGORITHMS[each].in_groups for each in names)
    measures = _measures(base) if two_tables else ()
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
            own = _with_attacks(config)
            runs.append(PlannedRun(number, name, settings, overrides, own, asked, risk_limit(base)))
    for key in () if problems else ("weights", "unit"):
        if len({getattr(run.config.objective, key) for run in runs}) > 1:
            # Means over people, over persons and over records are not on one scale.
            what = "must be equal in all runs, otherwise results are not comparable"
            problems[f"objective.{key}", what] = ConfigProblem(f"objective.{key}", what)
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
    return [name for name in suitable_algorithms(base) if not SEARCH_ALGORITHMS[name].chooses]


def _algorithm(base: Config, name: str) -> tuple[str, ...]:
    """Return the override that chooses an algorithm; the config's own keeps its options."""
    return () if name == base.algorithm.name else (f"algorithm={{name: {name}}}",)


def _measures(base: Config) -> tuple[str, ...]:
    """Return the override that measures the query error, which every kind of release has."""
    listed: list[Any] = base.to_dict().get("utility", [])
    known = {each["measure"] for each in listed}
    return () if QUERY_ERROR in known else (f"utility={json.dumps([*listed, QUERY_ERROR])}",)


def _with_attacks(config: Config) -> Config:
    """Return a config with at least one attack that applies to every release."""
    listed = [each.attack for each in config.attacks]
    missing = ATTACKS if not listed else [name for name in ATTACKS[:1] if name not in listed]
    more = (AttackSettings.model_validate(name) for name in missing)
    return config.model_copy(update={"attacks": (*config.attacks, *more)})


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


PLAIN_LOSS = {"metric": "loss", "aggregate": "arithmetic-mean"}
"""The objective that a comparison calls loss."""

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
            watch.finished(_compared(by_number[number], result))
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
        tuple(_compared(run, found[run.number]) for run in plan),
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
        risk_limit(run.config),
    )


def _bound_on_loss(report: Mapping[str, Any] | None) -> float | None:
    """Return the lower bound on the loss; None for another objective, whose bound is not comparable."""
    if report is None or not report["config"]["objective"].items() >= PLAIN_LOSS.items():
        return None
    bound = report["search"]["bound"]
    return float(bound) if isinstance(bound, int | float) else None


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


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(1)
