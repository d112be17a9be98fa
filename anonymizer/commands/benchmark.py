"""A benchmark: algorithms and settings on tables of a suite, each run measured in a process of its own.

It plans runs as ``compare`` does, and the same workers do them. A comparison has one table, of the user, and
keeps what it found; a benchmark has a table for each seed, and measures anew.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from anonymizer.commands.compare import UNWATCHED, ComparisonWatch
from anonymizer.commands.planning import PlannedRun, Setting, compared, planned
from anonymizer.commands.workers import RunResult, WorkerPool, job_of
from anonymizer.config.features import suitable_algorithms
from anonymizer.config.load import Variation, load_config, parse_override, variations
from anonymizer.config.model import Config, Origin
from anonymizer.config.section import KeyPath
from anonymizer.errors import ConfigError, ConfigProblem, InputError, Interrupted, OutputError, suggestion
from anonymizer.model.invocation import command, path_word
from anonymizer.report.benchmark import Benchmark, Trial
from anonymizer.report.build import environment
from anonymizer.report.comparison import RunStatus
from anonymizer.search.base import SEARCH_ALGORITHMS
from anonymizer.suites.adult import Adult
from anonymizer.suites.sample import Sample
from anonymizer.suites.suite import DATA, Suite
from anonymizer.suites.wide import Wide
from anonymizer.system import exchange_at_once, new_path_fault, remove_tree, rename

SUITES = ("adult", "sample", "wide")

CONSTRAINTS = "constraints"
"""The key whose values may be names of constraints of the suite."""


@dataclass(frozen=True)
class Request:
    """A benchmark as the user asks for it.

    Attributes
    ----------
    suite: its name.
    path: file with the data; None for a suite that makes them.
    algorithms: names, or ``MODULE:CLASS``; if empty, all that suit.
    vary: ``key=v1,v2`` each.
    repeat: number of tables.
    output: folder for the results; None for none.
    workers: runs at a time.
    """

    suite: str
    path: Path | None = None
    algorithms: tuple[str, ...] = ()
    vary: tuple[str, ...] = ()
    repeat: int = 5
    output: Path | None = None
    workers: int = 1

    @property
    def command(self) -> str:
        """The command that repeats it, and replaces what it wrote."""
        words = ["benchmark", *([] if self.path is None else [path_word(str(self.path))])]
        words += ["--suite", self.suite]
        words += [word for each in self.algorithms for word in ("--algorithm", each)]
        words += [word for each in self.vary for word in ("--vary", each)]
        words += ["--repeat", str(self.repeat)]
        words += ["--workers", str(self.workers)] if self.workers > 1 else []
        words += [] if self.output is None else ["-o", path_word(str(self.output)), "--overwrite"]
        return command(*words)


def suite_of(name: str, path: Path | None) -> Suite:
    """Return a suite by its name.

    Raises
    ------
    InputError: no suite has this name, or the file does not go with it.
    """
    if name not in SUITES:
        raise InputError(f"--suite {name}: unknown suite '{name}'; {suggestion(name, SUITES)}")
    if name == Adult.name:
        if path is None:
            raise InputError(
                "--suite adult: its data are not shipped; name the file, such as anonymizer benchmark "
                "adult.csv --suite adult"
            )
        return Adult(path)
    if path is not None:
        raise InputError(
            f"{path}: the suite {name} makes its own data; leave the file out, or choose --suite adult"
        )
    return Sample() if name == Sample.name else Wide()


@dataclass(frozen=True)
class PlannedTrial:
    """A run on one table.

    Attributes
    ----------
    table: its number among the tables.
    """

    run: PlannedRun
    seed: int
    table: int


@dataclass(frozen=True)
class BenchmarkPlan:
    """Everything that a benchmark will do.

    Attributes
    ----------
    tables: seed and sizes of each.
    trials: table by table, so that an early end leaves all algorithms with as many runs.
    plug_ins: ``MODULE:CLASS`` of algorithms that no distribution names.
    sizes: those that do not vary.
    """

    suite: Suite
    request: Request
    tables: tuple[tuple[int, Mapping[str, int]], ...]
    trials: tuple[PlannedTrial, ...]
    plug_ins: tuple[str, ...]
    sizes: Mapping[str, int]


def plan_benchmark(request: Request) -> BenchmarkPlan:
    """Return what a benchmark will do; nothing is made yet.

    Raises
    ------
    InputError: an unknown suite, algorithm or key, or values that do not fit.
    """
    suite = suite_of(request.suite, request.path)
    varied = variations(request.vary, (*suite.sizes, *_parameters(suite)))
    sizes = [each for each in varied if each.key in suite.sizes]
    others = [each for each in varied if each.key not in suite.sizes]
    combinations = list(_combinations(suite, others))
    plug_ins = tuple(name for name in request.algorithms if ":" in name)
    names = [_enlisted(name) if ":" in name else name for name in request.algorithms]
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise InputError(f"--algorithm {twice}: is given twice; keep one")
    seeds = range(suite.first_seed, suite.first_seed + request.repeat)
    every = [_sizes(suite, sizes, values) for values in product(*(each.values for each in sizes))]
    runs = [_runs(suite, own, sizes, names, combinations) for own in every]
    tables: list[tuple[int, Mapping[str, int]]] = []
    trials: list[PlannedTrial] = []
    for seed in seeds:
        for own, planned_runs in zip(every, runs, strict=True):
            tables.append((seed, own))
            for each in planned_runs:
                run = replace(each, number=len(trials) + 1, config=_with_seed(each.config, seed))
                trials.append(PlannedTrial(run, seed, len(tables) - 1))
    several = {each.key for each in sizes if len(each.values) > 1}
    fixed = {name: value for name, value in every[0].items() if name not in several}
    return BenchmarkPlan(suite, request, tuple(tables), tuple(trials), plug_ins, fixed)


def _parameters(suite: Suite) -> set[str]:
    """Return the parameters of all constraints of a suite that are numbers."""
    every = (each for own in suite.constraints.values() for each in own)
    return {name for each in every for name, value in each.items() if not isinstance(value, str)}


def _enlisted(reference: str) -> str:
    """Return the name of the algorithm ``MODULE:CLASS``, of a module in the current folder, too."""
    here = str(Path.cwd())
    if here not in sys.path:
        # At the end, so that no file here takes the place of an installed module.
        sys.path.append(here)
    try:
        return SEARCH_ALGORITHMS.enlist(reference)
    except InputError as error:
        raise InputError(f"--algorithm {error}") from None


def _sizes(suite: Suite, varied: Sequence[Variation], values: Sequence[str]) -> dict[str, int]:
    """Return the sizes of a table.

    Raises
    ------
    ConfigError: a value is no size.
    """
    found, problems = dict(suite.sizes), []
    for each, value in zip(varied, values, strict=True):
        most = suite.most[each.key]
        if value.isdigit() and 1 <= int(value) <= most:
            found[each.key] = int(value)
        else:
            what = f"{value}; accepted: whole numbers from 1 to {most:,}"
            problems.append(ConfigProblem(f"--vary {each.key}", what))
    if problems:
        raise ConfigError("the benchmark", problems)
    return found


def _combinations(suite: Suite, varied: Sequence[Variation]) -> Iterator[tuple[Setting, ...]]:
    """Yield every combination of settings.

    Raises
    ------
    ConfigError: constraints without a name, or without a parameter that varies.
    """
    problems: dict[ConfigProblem, None] = {}
    found = []
    for values in product(*(each.values for each in varied)):
        pairs = list(zip((each.key for each in varied), values, strict=True))
        named = dict(pairs).get(CONSTRAINTS, suite.usual)
        try:
            own = _constraints(suite, named)
            found.append(tuple(_setting(suite, key, value, own, named) for key, value in pairs))
            _check_apart(found[-1])
        except ConfigError as error:
            problems |= dict.fromkeys(error.problems)
    if problems:
        raise ConfigError("the benchmark", list(problems))
    yield from found


def _constraints(suite: Suite, named: str) -> list[dict[str, Any]]:
    """Return the constraints of a name, or those that are written out.

    Raises
    ------
    ConfigError: no constraints have this name.
    """
    if named in suite.constraints:
        return suite.constraints[named]
    _, given = parse_override(f"{CONSTRAINTS}={named}")
    if not isinstance(given, list):
        accepted = f"{', '.join(suite.constraints)}, or a list of constraints"
        raise _refused(f"{CONSTRAINTS}={named}", f"no constraints of this name; accepted: {accepted}")
    return given


def _refused(given: str, what: str) -> ConfigError:
    return ConfigError("the benchmark", [ConfigProblem(f"--vary {given}", what)])


def _check_apart(settings: Sequence[Setting]) -> None:
    """Check that no setting is about the same key as another, which has a short name.

    Raises
    ------
    ConfigError: two are.
    """
    known: dict[KeyPath, str] = {}
    for each in settings:
        path = tuple(map(str, parse_override(str(each.override))[0]))
        if path in known:
            raise _refused(each.key, f"is the same key as {known[path]}; keep one")
        known[path] = each.key


def _setting(suite: Suite, key: str, value: str, own: Sequence[Mapping[str, Any]], named: str) -> Setting:
    """Return a setting; a parameter of a constraint is that of the first one that has it.

    Raises
    ------
    ConfigError: no constraint has it.
    """
    if key == CONSTRAINTS:
        return Setting(key, value, f"{key}={json.dumps(own, default=str)}")
    if key not in _parameters(suite):
        return Setting(key, value, f"{key}={value}")
    place = next((place for place, each in enumerate(own) if key in each), None)
    if place is None:
        able = [name for name, others in suite.constraints.items() if any(key in each for each in others)]
        what = f"constraints {named} have no parameter '{key}'; accepted: constraints that have it"
        raise _refused(f"{key}={value}", f"{what}, such as --vary {CONSTRAINTS}={able[0]}")
    return Setting(key, value, f"{CONSTRAINTS}.{place}.{key}={value}")


def _runs(
    suite: Suite,
    sizes: Mapping[str, int],
    varied: Sequence[Variation],
    names: Sequence[str],
    combinations: Sequence[tuple[Setting, ...]],
) -> list[PlannedRun]:
    """Return the runs on a table of some sizes, all algorithms of a setting together."""
    content = suite.config(suite.first_seed, sizes)
    base = load_config(content).located(Origin(f"suite {suite.name}"))
    own = tuple(Setting(each.key, str(sizes[each.key]), None) for each in varied if len(each.values) > 1)
    settings = [(*own, *each) for each in combinations]
    runs = planned(base, names or _usual(base), settings)
    return [run for place in range(len(settings)) for run in runs[place :: len(settings)]]


def _usual(base: Config) -> list[str]:
    """Return the algorithms whose losses can be compared: all that suit, but those that publish otherwise."""
    found = ((name, SEARCH_ALGORITHMS[name]) for name in suitable_algorithms(base))
    return [name for name, own in found if not (own.chooses or own.in_groups or own.aggregates)]


def _with_seed(config: Config, seed: int) -> Config:
    return config.model_copy(update={"seed": seed})


def benchmark(plan: BenchmarkPlan, watch: ComparisonWatch = UNWATCHED) -> Benchmark:
    """Make the tables, do the runs, and return what they measured.

    Raises
    ------
    InputError: every run refused its table.
    Interrupted: the user stopped it before the end of the first run.
    """
    found: dict[int, RunResult] = {}
    watch.begun(len(plan.trials), 0)
    with tempfile.TemporaryDirectory(prefix="anonymizer-") as work:
        folders = _tables(plan, Path(work), watch)
        jobs = {
            each.run.number: job_of(_placed(each.run.config, folders[each.table]), Path(work), plan.plug_ins)
            for each in plan.trials
            if each.table < len(folders)
        }
        by_number = {each.run.number: each for each in plan.trials}
        with WorkerPool(min(plan.request.workers, len(plan.trials))) as pool:
            for number, result in pool.results(jobs, watch.stopped):
                found[number] = result
                trial = by_number[number]
                shown = (*trial.run.settings, ("seed", str(trial.seed)))
                watch.finished(compared(replace(trial.run, settings=shown), result))
    if not found:
        raise Interrupted("interrupted: no run has ended; nothing was written")
    if all(each.status is RunStatus.REFUSED for each in found.values()):
        raise InputError("; ".join(dict.fromkeys(each.reason for each in found.values())))
    trials = tuple(_trial(each, found[each.run.number]) for each in plan.trials if each.run.number in found)
    return Benchmark(
        plan.suite.name,
        plan.sizes,
        trials,
        len(plan.trials),
        plan.request.command,
        {} if any(each.startswith("budget") for each in plan.request.vary) else plan.suite.budget,
        environment(),
    )


def _tables(plan: BenchmarkPlan, work: Path, watch: ComparisonWatch) -> list[Path]:
    """Return a folder with each table; fewer when stopped."""
    folders: list[Path] = []
    for number, (seed, sizes) in enumerate(plan.tables):
        if watch.stopped():
            break
        folder = work / f"table-{number}"
        folder.mkdir()
        plan.suite.write(folder / DATA, seed, sizes)
        folders.append(folder)
    return folders


def _placed(config: Config, folder: Path) -> Config:
    return config.located(Origin(config.source, folder))


def _trial(planned_trial: PlannedTrial, result: RunResult) -> Trial:
    run, cost = compared(planned_trial.run, result), result.cost
    search = {} if result.report is None else result.report["search"]
    gap = search.get("gap") if run.measured is not None else None
    if cost is None:
        return Trial(planned_trial.seed, run, gap)
    return Trial(planned_trial.seed, run, gap, cost.cpu_seconds, cost.search_cpu_seconds, cost.peak_bytes)


RUNS, PAGE, COMMAND = "runs.csv", "benchmark.html", "command.txt"


class BenchmarkFolder:
    """The folder for the results, which appears whole.

    Parameters
    ----------
    overwrite: whether an earlier benchmark there may be replaced.

    Raises
    ------
    OutputError: it cannot be written, or something is there.
    """

    def __init__(self, directory: Path, *, overwrite: bool) -> None:
        self.directory = directory
        fault = new_path_fault(directory)
        if fault is not None:
            raise OutputError(f"{directory}: {fault}; choose another with -o")
        if directory.is_dir():
            self._check(overwrite=overwrite)
        elif directory.exists() or directory.is_symlink():
            raise OutputError(f"{directory}: is not a folder; choose another with -o")
        # Said before the runs, which may take hours; the folder itself is made after them.
        there = next(each for each in directory.absolute().parents if each.exists())
        if not there.is_dir():
            raise OutputError(f"{directory}: {there} is not a folder; choose another with -o")
        if not os.access(there, os.W_OK):
            raise OutputError(f"{directory}: cannot be written: Permission denied; choose another with -o")

    def _check(self, *, overwrite: bool) -> None:
        there = sorted(path.name for path in self.directory.iterdir())
        strange = [name for name in there if name not in (RUNS, PAGE, COMMAND)]
        if strange:
            raise OutputError(
                f"{self.directory}: holds {strange[0]}, which is not from a benchmark; choose another with -o"
            )
        if there and not overwrite:
            raise OutputError(
                f"{self.directory}: holds an earlier benchmark; replace it with --overwrite, or choose "
                "another with -o"
            )

    def write(self, files: Mapping[str, str]) -> None:
        """Write all files, in place of an earlier benchmark.

        Raises
        ------
        OutputError: they cannot be written; an earlier benchmark is as it was.
        """
        try:
            self.directory.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(
                prefix=f".{self.directory.name}.", dir=self.directory.parent
            ) as name:
                staged = Path(name) / "new"
                staged.mkdir()
                for file, text in files.items():
                    (staged / file).write_text(text, encoding="utf-8", newline="\n")
                if not self.directory.exists():
                    rename(staged, self.directory)
                elif not exchange_at_once(staged, self.directory):
                    rename(self.directory, Path(name) / "old")
                    rename(staged, self.directory)
                remove_tree(staged)
        except OSError as error:
            raise self._refusal(error) from error

    def _refusal(self, error: OSError) -> OutputError:
        reason = error.strerror or type(error).__name__
        return OutputError(f"{self.directory}: cannot be written: {reason}; choose another with -o")
