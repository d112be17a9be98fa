"""The results of a benchmark: algorithms under several settings on several tables, with mean and spread.

Results of one algorithm and setting that differ in the seed alone are a cell.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from statistics import mean, stdev
from typing import Any

from anonymizer.errors import listed, plural
from anonymizer.report.comparison import ComparedRun, RunStatus
from anonymizer.report.comparison_table import WORDS, aligned

MIB = 2**20


@dataclass(frozen=True)
class Trial:
    """One run of a benchmark.

    Attributes
    ----------
    seed: of the table and of the run.
    gap: between the objective and its proven bound; None without a bound.
    cpu_seconds, search_cpu_seconds: processor time of the run, and of its search; None if its process died.
    peak_bytes: largest memory of its process; None where the system does not say.
    """

    seed: int
    run: ComparedRun
    gap: float | None = None
    cpu_seconds: float | None = None
    search_cpu_seconds: float | None = None
    peak_bytes: int | None = None

    @property
    def loss(self) -> float | None:
        """The metric ``loss``; None without a release, or if it publishes quasi-identifiers unchanged."""
        own = self.run.measured
        return None if own is None or own.in_groups else own.loss

    def success(self, attack: str) -> float | None:
        """Return the success of an attack; None if it was not run."""
        own = self.run.measured
        return own.risks[attack].success if own is not None and attack in own.risks else None


@dataclass(frozen=True)
class Spread:
    """Mean and spread of a measure over tables.

    Attributes
    ----------
    sd: standard deviation of the sample; None for a single value.
    low, high: smallest and largest value.
    values: their number.
    """

    mean: float
    sd: float | None
    low: float
    high: float
    values: int

    def shown(self, text: Callable[[float], str]) -> str:
        """Return the mean with the standard deviation in words."""
        return text(self.mean) if self.sd is None else f"{text(self.mean)} ± {text(self.sd)}"


def spread_of(values: Sequence[float | None]) -> Spread | None:
    """Return mean and spread of the values that are known; None without any.

    >>> spread_of([1.0, None, 3.0]).mean, spread_of([0.5]).sd, spread_of([None])
    (2.0, None, None)
    """
    known = [float(each) for each in values if each is not None]
    if not known:
        return None
    return Spread(mean(known), stdev(known) if len(known) > 1 else None, min(known), max(known), len(known))


@dataclass(frozen=True)
class Cell:
    """The runs of one algorithm and setting, one for each table."""

    algorithm: str
    settings: tuple[tuple[str, str], ...]
    trials: tuple[Trial, ...]

    @property
    def statuses(self) -> Counter[RunStatus]:
        """The number of runs by their result."""
        return Counter(each.run.status for each in self.trials)

    @property
    def releases(self) -> int:
        """The number of runs with a release."""
        return self.statuses[RunStatus.SATISFIED]

    @property
    def loss(self) -> Spread | None:
        """The metric ``loss`` of the releases."""
        return spread_of([each.loss for each in self.trials])

    @property
    def gap(self) -> Spread | None:
        """The gap of the releases that have a bound."""
        return spread_of([each.gap for each in self.trials])

    @property
    def cpu_seconds(self) -> Spread | None:
        """Processor time of the runs."""
        return spread_of([each.cpu_seconds for each in self.trials])

    @property
    def search_cpu_seconds(self) -> Spread | None:
        """Processor time of the searches."""
        return spread_of([each.search_cpu_seconds for each in self.trials])

    @property
    def peak_bytes(self) -> Spread | None:
        """Largest memory of the processes."""
        return spread_of([each.peak_bytes for each in self.trials])

    def success(self, attack: str) -> Spread | None:
        """Return the success of an attack on the releases."""
        return spread_of([each.success(attack) for each in self.trials])

    @property
    def title(self) -> str:
        """Algorithm and settings as a short text."""
        return " ".join((self.algorithm, *(f"{key}={value}" for key, value in self.settings)))


@dataclass(frozen=True)
class Benchmark:
    """Algorithms under several settings on the tables of a suite.

    Attributes
    ----------
    suite: its name.
    sizes: of all tables, without those that vary.
    planned: number of runs; with fewer trials, the user stopped the benchmark.
    command: repeats it.
    budget: of each search, unless it varies; empty without one.
    environment: versions that can change a result.
    """

    suite: str
    sizes: Mapping[str, int]
    trials: tuple[Trial, ...]
    planned: int
    command: str
    budget: Mapping[str, float]
    environment: Mapping[str, Any]

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the tables."""
        return tuple(dict.fromkeys(each.seed for each in self.trials))

    @property
    def interrupted(self) -> bool:
        """Whether the user stopped it."""
        return len(self.trials) < self.planned

    @property
    def failed(self) -> bool:
        """Whether a verification failed, or a process ended without an answer."""
        return any(each.run.status is RunStatus.FAILED for each in self.trials)

    @cached_property
    def keys(self) -> list[str]:
        """The varied keys."""
        return list(dict.fromkeys(key for each in self.trials for key, _ in each.run.settings))

    @cached_property
    def attacks(self) -> list[str]:
        """Names of the attacks that were run on some release."""
        measured = (each.run.measured for each in self.trials)
        return list(dict.fromkeys(name for own in measured if own is not None for name in own.risks))

    @cached_property
    def cells(self) -> list[Cell]:
        """The cells: setting by setting, with all algorithms of one together."""
        found: dict[tuple[tuple[tuple[str, str], ...], str], list[Trial]] = {}
        for each in self.trials:
            found.setdefault((each.run.settings, each.run.algorithm), []).append(each)
        return [Cell(name, settings, tuple(own)) for (settings, name), own in found.items()]

    def headline(self) -> str:
        """Return what was run as a sentence."""
        sizes = ", ".join(plural(number, name.removesuffix("s")) for name, number in self.sizes.items())
        every = plural(self.planned, "run")
        done = f"{len(self.trials)} of {every}" if self.interrupted else every
        first, *more = self.seeds
        seeds = f"seeds {first} to {more[-1]}" if more else f"seed {first}"
        tables = f"{'tables' if more else 'the table'} of {seeds}{f' with {sizes}' if sizes else ''}"
        stopped = "; stopped by the user" if self.interrupted else ""
        return f"Suite {self.suite}: {done} on {tables}{stopped}."

    def remarks(self) -> Iterator[str]:
        """Yield what the clock has decided."""
        if self.budget:
            limits = listed([f"{key} {limit:g}" for key, limit in self.budget.items()])
            yield f"Budget of each search: {limits}. A search that the clock ends may differ when repeated."

    def without_release(self, reason: Callable[[ComparedRun], str] = lambda run: run.reason) -> Iterator[str]:
        """Yield the settings with runs that have no release, with the reasons.

        Parameters
        ----------
        reason: returns the reason of a run.
        """
        for cell in self.cells:
            reasons = Counter(
                (each.run.status.value, reason(each.run)) for each in cell.trials if each.run.measured is None
            )
            for (status, why), number in reasons.items():
                yield f"{cell.title}: {number} {status}: {why}"


def records(benchmark: Benchmark) -> list[dict[str, Any]]:
    """Return a record for each run, all with the same keys; None without a value."""
    return [_record(benchmark, each) for each in benchmark.trials]


def _record(benchmark: Benchmark, trial: Trial) -> dict[str, Any]:
    run, own, settings = trial.run, trial.run.measured, dict(trial.run.settings)
    return {
        "run": run.number,
        "algorithm": run.algorithm,
        **{key: settings.get(key) for key in benchmark.keys},
        "seed": trial.seed,
        "status": run.status.value,
        "made_by": None if own is None else own.algorithm,
        "loss": trial.loss,
        "gap": trial.gap,
        "suppressed_records": None if own is None else own.suppressed,
        "classes": None if own is None else own.classes,
        **{name: trial.success(name) for name in benchmark.attacks},
        "search_cpu_seconds": trial.search_cpu_seconds,
        "cpu_seconds": trial.cpu_seconds,
        "peak_bytes": trial.peak_bytes,
        "reason": run.public_reason or None,
    }


def to_csv(benchmark: Benchmark) -> str:
    """Return CSV with a header and a line for each run."""
    every = records(benchmark)
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(every[0])
    writer.writerows([WORDS[None] if value is None else value for value in each.values()] for each in every)
    return stream.getvalue()


MEASURES = ("loss", "gap", "search_cpu_seconds", "cpu_seconds", "peak_bytes")
"""Measures of a cell."""


def to_dict(benchmark: Benchmark) -> dict[str, Any]:
    """Return the object of ``--json``."""
    runs = records(benchmark)
    for run, trial in zip(runs, benchmark.trials, strict=True):
        own = trial.run.measured
        run["reason"] = trial.run.reason or None
        for name in (*benchmark.keys, *benchmark.attacks):
            del run[name]
        run["settings"] = dict(trial.run.settings)
        run["attacks"] = None if own is None else {name: risk.entry() for name, risk in own.risks.items()}
    return {
        "suite": benchmark.suite,
        "sizes": dict(benchmark.sizes),
        "seeds": list(benchmark.seeds),
        "budget": dict(benchmark.budget),
        "interrupted": benchmark.interrupted,
        "results": [_result(benchmark, cell) for cell in benchmark.cells],
        "runs": runs,
        "command": benchmark.command,
        "environment": dict(benchmark.environment),
    }


def _result(benchmark: Benchmark, cell: Cell) -> dict[str, Any]:
    def entry(found: Spread | None) -> dict[str, Any] | None:
        return None if found is None else asdict(found)

    return {
        "algorithm": cell.algorithm,
        "settings": dict(cell.settings),
        "runs": len(cell.trials),
        "releases": cell.releases,
        **{name: entry(getattr(cell, name)) for name in MEASURES},
        "attacks": {name: entry(cell.success(name)) for name in benchmark.attacks},
    }


def lines(benchmark: Benchmark) -> Iterator[str]:
    """Yield the lines of the terminal: what was run, the results, the success of attacks, the command."""
    yield benchmark.headline()
    yield "Mean ± standard deviation; seconds of processor time; memory of the whole process."
    yield from benchmark.remarks()
    yield ""
    yield from aligned([list(head(benchmark)), *map(list, rows(benchmark))])
    yield from benchmark.without_release()
    if benchmark.attacks:
        yield ""
        yield "Success of attacks, in percent:"
        first = [*benchmark.keys, "algorithm"]
        attacked = [
            [*first_cells(benchmark, cell), *attack_cells(benchmark, cell)]
            for cell in benchmark.cells
            if cell.releases
        ]
        yield from aligned([*stacked([*first, *benchmark.attacks]), *attacked])
    yield ""
    yield "To repeat it:"
    yield f"  {benchmark.command}"


def stacked(names: Sequence[str]) -> list[list[str]]:
    """Return the rows of a header with a word of each name in each, the last words in the last row.

    >>> stacked(["k", "linkage nearest"])
    [['', 'linkage'], ['k', 'nearest']]
    """
    words = [each.split() for each in names]
    most = max(map(len, words))
    return [list(row) for row in zip(*([""] * (most - len(each)) + each for each in words), strict=True)]


def head(benchmark: Benchmark) -> tuple[str, ...]:
    """Return the names of the columns of the results."""
    named = ("algorithm", "releases", "loss", "gap", "search s", "run s", "MiB")
    return (*benchmark.keys, *named)


def rows(benchmark: Benchmark) -> list[tuple[str, ...]]:
    """Return the results, a row for each cell."""
    return [
        (
            *first_cells(benchmark, cell),
            f"{cell.releases} of {len(cell.trials)}",
            _text(cell.loss, "{:.4f}"),
            _text(cell.gap, "{:.4f}"),
            _text(cell.search_cpu_seconds, "{:.2f}"),
            _text(cell.cpu_seconds, "{:.1f}"),
            "" if cell.peak_bytes is None else f"{cell.peak_bytes.mean / MIB:.0f}",
        )
        for cell in benchmark.cells
    ]


def first_cells(benchmark: Benchmark, cell: Cell) -> tuple[str, ...]:
    """Return the settings of a cell and its algorithm."""
    settings = dict(cell.settings)
    return (*(settings.get(key, "") for key in benchmark.keys), cell.algorithm)


def attack_cells(benchmark: Benchmark, cell: Cell) -> list[str]:
    """Return the success of each attack in percent."""
    found = map(cell.success, benchmark.attacks)
    return ["" if each is None else each.shown(lambda share: f"{100 * share:.1f}") for each in found]


def _text(found: Spread | None, form: str) -> str:
    return "" if found is None else found.shown(form.format)
