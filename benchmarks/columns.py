"""Tables of many quasi-identifiers: what each algorithm loses, how large its gap is, and how long it takes.

Run as ``python -m benchmarks.columns`` in the folder of the checkout: a curve from 5 to 60 columns, which
``--draw`` draws into ``docs/howto/many-columns.svg``. ``--lattice`` searches full-domain recodings under
several budgets; ``--genetic`` compares them with a genetic search, a plug-in of this file that counts as many
transformations.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from anonymizer.config.load import load_config
from anonymizer.errors import Interrupted
from anonymizer.job.source import input_path, open_as
from anonymizer.job.table import prepare
from anonymizer.model.classes import released
from anonymizer.model.recoding import FullDomainRecoding, Outcome, Status, Step
from anonymizer.plan.plan import plan_of
from anonymizer.plan.prepared import Prepared
from anonymizer.search.base import SEARCH_ALGORITHMS, Control, SearchAlgorithm, SearchProblem
from anonymizer.search.judge import Judge, search_with_attack_checks
from anonymizer.search.lattice.algorithm import Lattice
from anonymizer.search.rollup import RollUp
from anonymizer.suites import wide
from benchmarks.common import ROOT, machine, table

CURVE = (5, 8, 12, 16, 20, 30, 45, 60)
"""Columns of the curve."""

BUDGETED = (8, 12, 16, 30)
"""Columns of the lattice under several budgets."""

COMPARED = (12, 16, 30, 60)
"""Columns of the comparison with the genetic search."""

ALGORITHMS = ("lattice", "mondrian", "local")
SMALL, LARGE = 30, 60
"""Columns that are written; searches use the first of them."""

RECORDS = 20_000


def write_records(folder: Path, columns: int) -> Path:
    """Write 20,000 records of correlated columns with 12 values each, those of the suite wide."""
    values = wide.values(np.random.default_rng(1), RECORDS, columns)
    path = folder / f"records{columns}.csv"
    header = ",".join(f"q{place}" for place in range(columns))
    np.savetxt(path, values, fmt="%d", delimiter=",", header=header, comments="")
    return path


def settings(path: Path, columns: int, written: int) -> dict[str, object]:
    """Return a config of the first columns of a file: k = 5, at most 5 % suppressed, metric loss."""
    own = wide.quasi_identifier()
    return {
        "input": {"path": str(path)},
        "attributes": {
            f"q{place}": own if place < columns else {"role": "insensitive"} for place in range(written)
        },
        "constraints": [{"model": "k-anonymity", "k": 5}],
        "suppression": {"limit": 0.05},
    }


@cache
def job(columns: int) -> Prepared:
    """Return the problem of the first columns."""
    written = SMALL if columns <= SMALL else LARGE
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        target = folder / "job.json"
        asked = settings(write_records(folder, written), columns, written)
        target.write_text(json.dumps(asked), encoding="utf-8")
        config = load_config(target)
        with open_as(config, input_path(config)) as relation:
            return prepare(plan_of(config), relation)


Levels = NDArray[np.int64]


@dataclass(order=True)
class Individual:
    """Levels with what they cost.

    Attributes
    ----------
    cost: loss, and three times the share of records that are suppressed beyond the limit.
    levels: of each quasi-identifier, shape (attributes,), int64.
    valid: whether no more records are suppressed than allowed.
    """

    cost: float
    levels: Levels = field(compare=False)
    valid: bool = field(compare=False)


@SEARCH_ALGORITHMS.add
class Genetic(SearchAlgorithm):
    """Crosses and mutates levels; the fitter of two parents wins, and the fittest survive.

    Uniform crossover and mutation as in Syswerda (1989), Uniform crossover in genetic algorithms.
    Class sizes come from sorted 64-bit keys, so a generation costs what as many proposals of another search
    would. It is for constraints on class sizes.
    """

    name = "genetic"
    population, elite, rate = 100, 10, 1.5

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        """Return the fittest valid transformation at the end of the budget, without a bound."""
        return search_with_attack_checks(problem, control, self._search)

    def _search(self, problem: SearchProblem, control: Control) -> Outcome:
        random = np.random.default_rng(problem.seed)
        nursery = Nursery(problem, random)
        low, high = nursery.lowest, nursery.highest
        first = [high, *random.integers(low, high + 1, size=(self.population - 1, len(low)))]
        people = sorted(map(nursery.individual, first))
        steps: list[Step] = []
        while not control.exhausted(nursery.counted, len(steps)):
            if control.stopped():
                raise Interrupted("interrupted before a release was found; nothing was written")
            children = [self._child(people, random, low, high) for _ in range(self.population - self.elite)]
            people = sorted([*people[: self.elite], *map(nursery.individual, children)])
            steps.append(Step({"generation": len(steps)}, people[0].cost, people[0].valid))
        return self._outcome(problem, control, nursery, steps)

    def _child(
        self, people: Sequence[Individual], random: np.random.Generator, low: Levels, high: Levels
    ) -> Levels:
        mother, father = (people[min(random.integers(len(people), size=2))].levels for _ in range(2))
        child = np.where(random.random(len(low)) < 0.5, mother, father)
        moved = random.random(len(low)) < self.rate / len(low)
        child = child + moved * random.choice((-1, 1), size=len(low))
        return np.asarray(np.clip(child, low, high), dtype=np.int64)

    @staticmethod
    def _outcome(problem: SearchProblem, control: Control, nursery: Nursery, steps: list[Step]) -> Outcome:
        found, number = nursery.best, nursery.counted
        if found is None:
            return Outcome(Status.UNDECIDED, None, None, None, number, number, tuple(steps), control.elapsed)
        levels = found.levels.tolist()
        verdict = Judge(problem).judge(RollUp.of(problem.table).classes(levels))
        recoding = FullDomainRecoding.suppressing(
            problem.table, levels, verdict.gone, kept=bool(verdict.kept_suppressed)
        )
        objective = problem.metric.value(released(recoding, problem.k))
        return Outcome(
            Status.SATISFIED, recoding, objective, None, number, number, tuple(steps), control.elapsed
        )


class Nursery:
    """Counts the classes of transformations, each once.

    Attributes
    ----------
    counted: number of transformations.
    best: the fittest valid one; None before there is one.
    lowest, highest: allowed levels, shape (attributes,), int64.
    """

    def __init__(self, problem: SearchProblem, random: np.random.Generator) -> None:
        self.counted = 0
        self.best: Individual | None = None
        own = problem.table.quasi_identifiers
        self.lowest = np.array([each.minimum for each in own])
        self.highest = np.array([each.maximum for each in own])
        self._problem, self._known = problem, dict[bytes, Individual]()
        self._loss = problem.metric.on_lattice(problem.table, problem.k, problem.minimum_size)
        self._numbers = [
            [
                random.integers(1 << 63, size=len(each.hierarchy.labels))[each.nodes(level)]
                for level in range(each.maximum + 1)
            ]
            for each in own
        ]

    def individual(self, levels: Levels) -> Individual:
        """Return levels with what they cost."""
        name = levels.tobytes()
        if name not in self._known:
            self._known[name] = self._weighed(levels)
        return self._known[name]

    def _weighed(self, levels: Levels) -> Individual:
        self.counted += 1
        problem, table = self._problem, self._problem.table
        keys = np.zeros(table.combinations, dtype=np.int64)
        for place, level in enumerate(levels.tolist()):
            keys += self._numbers[place][level][table.quasi_identifier_codes(place)]
        order = np.argsort(keys)
        starts = np.flatnonzero(np.diff(keys[order], prepend=keys[order[0]] - 1))
        sizes = np.add.reduceat(table.counts[order], starts)
        kept = sizes[sizes >= problem.minimum_size]
        share = 1 - int(kept.sum()) / table.records
        loss = self._loss.approximate(self._loss.floor(levels.tolist()), share, lambda: (kept, kept))
        excess = max(share - problem.limit / table.records, 0.0)
        found = Individual(loss + 3 * excess, levels, excess == 0)
        if found.valid and (self.best is None or found < self.best):
            self.best = found
        return found


def searched(
    columns: int, algorithm: SearchAlgorithm, seconds: float | None = None, nodes: int | None = None
) -> tuple[Outcome, float]:
    """Return what an algorithm finds, and the processor seconds it took.

    Parameters
    ----------
    seconds, nodes: of the budget, in processor time and in transformations.
    """
    problem = job(columns).problem
    control = Control(cpu_seconds=seconds, nodes=nodes)
    found = algorithm.search(problem, control)
    return found, time.process_time() - control.cpu_started


def share(value: float | None) -> str:
    """Return a loss or a gap as text, a dash where there is none."""
    return "-" if value is None else f"{value:.4f}"


def lattice_table(columns: Sequence[int], budgets: Sequence[float], runs: int) -> str:
    """Return the table of full-domain searches under several budgets; the median of the runs counts."""
    rows = []
    for width in columns:
        for seconds in budgets:
            found = [searched(width, Lattice(), seconds) for _ in range(runs)]
            one = sorted(found, key=lambda each: each[0].objective or 0)[runs // 2][0]
            rows.append(
                [
                    width,
                    f"{one.candidates:.2g}",
                    f"{seconds:g} s",
                    share(one.objective),
                    "proven" if one.optimal else share(one.gap),
                    f"{one.evaluated:,}",
                    f"{median(each[1] for each in found):.1f} s",
                ]
            )
    headers = ("columns", "transformations", "budget", "loss", "gap", "evaluated", "CPU seconds")
    return table(headers, rows)


def genetic_table(columns: Sequence[int], nodes: int) -> str:
    """Return the table of both searches: after they counted as many transformations, and after as long."""
    rows = []
    for width in columns:
        own, taken = searched(width, Lattice(), nodes=nodes)
        other, spent = searched(width, Genetic(), nodes=nodes)
        brief, _ = searched(width, Genetic(), taken)
        losses = ["-" if each.objective is None else f"{each.objective:.5f}" for each in (own, other, brief)]
        counted = [f"{each.evaluated:,}" for each in (own, other, brief)]
        seconds = [f"{each:.1f} s" for each in (taken, spent, taken)]
        rows.append([width, *(cell for each in zip(losses, counted, seconds, strict=True) for cell in each)])
    titles = ("lattice", "genetic, as many", "genetic, as long")
    return table(("columns", *(cell for each in titles for cell in (each, "counted", "CPU"))), rows)


Curves = Mapping[str, Sequence[tuple[float | None, float | None, float]]]
"""By algorithm: for each number of columns the loss, the bound, and the processor seconds."""


def curves(columns: Sequence[int], seconds: float) -> Curves:
    """Measure the algorithms of the package."""
    found: dict[str, list[tuple[float | None, float | None, float]]] = {name: [] for name in ALGORITHMS}
    for width in columns:
        for name, own in found.items():
            outcome, taken = searched(width, SEARCH_ALGORITHMS[name](), seconds)
            own.append((outcome.objective, outcome.bound, taken))
    return found


def curve_table(found: Curves, columns: Sequence[int]) -> str:
    """Return the curves as a table."""
    rows = []
    for place, width in enumerate(columns):
        cells: list[object] = [width]
        for own in found.values():
            loss, bound, taken = own[place]
            cells += [share(loss), share(bound), f"{taken:.1f} s"]
        rows.append(cells)
    headers = [f"{name}{what}" for name in found for what in ("", ", bound", ", CPU")]
    return table(("columns", *headers), rows)


def draw(found: Curves, columns: Sequence[int], path: Path) -> None:
    """Draw losses above their bounds, and beside them the seconds."""
    import matplotlib.pyplot as plt

    # The same numbers give the same bytes, and letters stay letters.
    plt.rcParams.update({"svg.hashsalt": "columns", "svg.fonttype": "none"})
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
    for name, own in found.items():
        (line,) = left.plot(
            columns, [np.nan if loss is None else loss for loss, _, _ in own], "o-", label=name
        )
        bounds = [np.nan if bound is None else bound for _, bound, _ in own]
        left.plot(columns, bounds, ":", color=line.get_color())
        right.plot(columns, [taken for *_, taken in own], "o-", color=line.get_color(), label=name)
    left.set_ylim(0, 1)
    left.set_ylabel("loss; dotted: no release of its kind is below")
    right.set_ylabel("processor seconds")
    right.set_ylim(bottom=0)
    for axes in (left, right):
        axes.set_xlabel("quasi-identifiers")
        axes.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.columns", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("columns", type=int, nargs="*", help=f"of the tables (default {CURVE} or {COMPARED})")
    parser.add_argument(
        "--seconds", type=float, nargs="+", help="CPU seconds of a search (default 20; of --lattice: 2 20)"
    )
    parser.add_argument("--lattice", action="store_true", help="full-domain recodings under several budgets")
    parser.add_argument("--runs", type=int, default=1, help="of each search of --lattice; the median counts")
    parser.add_argument("--genetic", action="store_true", help="the lattice beside a genetic search")
    parser.add_argument(
        "--nodes", type=int, default=20_000, help="transformations that --genetic counts (default 20,000)"
    )
    parser.add_argument("--draw", action="store_true", help="draw the curve of the documentation again")
    asked = parser.parse_args()
    if asked.lattice:
        print(lattice_table(asked.columns or BUDGETED, asked.seconds or [2.0, 20.0], asked.runs))
    elif asked.genetic:
        print(genetic_table(asked.columns or COMPARED, asked.nodes))
    else:
        columns = asked.columns or list(CURVE)
        found = curves(columns, (asked.seconds or [20.0])[0])
        print(curve_table(found, columns))
        if asked.draw:
            draw(found, columns, ROOT / "docs" / "howto" / "many-columns.svg")
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
