"""The optimal full-domain search on Adult beside one grouping, and a whole run beside its imports.

Run as ``python -m benchmarks.lattice`` in the folder of the checkout.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from anonymizer.config.load import load_config
from anonymizer.job.source import input_path, open_as
from anonymizer.job.table import prepare
from anonymizer.model.recoding import FullDomainRecoding, Outcome
from anonymizer.plan.plan import plan_of
from anonymizer.plan.prepared import Prepared
from anonymizer.search.base import Control
from benchmarks import adult
from benchmarks.common import (
    alternating,
    machine,
    median_ratio,
    median_seconds,
    python,
    require_proven,
    run_command,
    seconds_of,
    table,
)

TARGETS = {0.0: 350, 0.02: 2_000, 0.05: 1_500, 1.0: 3_500}
"""Most groupings that a search may take, by suppression limit."""

MODELS: tuple[tuple[str, Mapping[str, Any] | None, float, float], ...] = (
    ("k-anonymity", None, 0.0, 0.045),
    ("l-diversity, l 3", {"model": "l-diversity", "l": 3}, 0.0, 0.057),
    ("recursive (4, 3)-diversity", {"model": "recursive-cl-diversity", "c": 4, "l": 3}, 0.0, 0.062),
    ("t-closeness, t 0.2 (equal)", {"model": "t-closeness", "t": 0.2, "distance": "equal"}, 1.0, 2.66),
)
"""With k = 5: the limit, and the seconds of ARX's searching thread where one grouping takes 0.96 ms."""

GROUPINGS = 101
"""How often the floor is measured beside each search."""

IMPORTS = "import numpy, pandas, networkx, duckdb"
PROCESS_TARGET = 4.0


@dataclass(frozen=True)
class Measured:
    """Warm searches at one suppression limit; medians over the runs.

    Attributes
    ----------
    seconds: of a search.
    floor: of one grouping, measured beside.
    ratio: of the two, by run.
    """

    outcome: Outcome
    seconds: float
    floor: float
    ratio: float


def job(limit: float) -> Prepared:
    """Return the problem of Adult, read afresh: no run finds what an earlier one has cached."""
    config = load_config(adult.config(adult.data(), limit))
    with open_as(config, input_path(config)) as relation:
        return prepare(plan_of(config), relation)


def floor(asked: Prepared) -> Callable[[], object]:
    """Return one grouping of the distinct combinations as shuffled packed keys."""
    combinations = asked.problem.table
    sizes = tuple(own.column.size for own in combinations.quasi_identifiers)
    keys = np.ravel_multi_index(tuple(combinations.codes.T.astype(np.int64)), sizes)
    order = np.random.default_rng(0).permutation(len(keys))
    shuffled, weights = keys[order].astype(np.int64), combinations.counts[order]

    def group() -> object:
        _, inverse = np.unique(shuffled, return_inverse=True)
        return np.bincount(inverse, weights=weights)

    return group


def measure(limit: float, runs: int) -> Measured:
    """Search several times after one run that is not counted, the floor measured before each."""
    algorithm = load_config(adult.config(adult.data(), limit)).algorithm.build()
    outcome = algorithm.search(job(limit).problem, Control())
    found = []
    for _ in range(runs):
        asked = job(limit)
        grouping = median_seconds(floor(asked), GROUPINGS)
        search = partial(algorithm.search, asked.problem, Control())
        found.append((seconds_of(search), grouping))
    return Measured(
        outcome,
        median(seconds for seconds, _ in found),
        median(grouping for _, grouping in found),
        median(seconds / grouping for seconds, grouping in found),
    )


def search_row(limit: float, runs: int) -> list[object]:
    """Return a row of the table of searches."""
    found = measure(limit, runs)
    recoding = found.outcome.recoding
    assert isinstance(recoding, FullDomainRecoding)
    return [
        f"{limit:.0%}",
        f"{found.outcome.objective:.6f}" + ("" if found.outcome.optimal else " (not proven)"),
        " ".join(map(str, recoding.levels)),
        int(job(limit).problem.table.counts[recoding.suppressed].sum()),
        found.outcome.evaluated,
        f"{found.seconds * 1e3:.1f} ms",
        f"{found.floor * 1e3:.3f} ms",
        f"{found.ratio:.0f}",
        TARGETS[limit],
    ]


def search_table(runs: int) -> str:
    """Return the table of searches."""
    headers = ["limit", "objective", "levels", "suppressed", "evaluated"]
    headers += ["search", "one grouping", "groupings", "at most"]
    return table(headers, (search_row(limit, runs) for limit in TARGETS))


def model_row(
    title: str, model: Mapping[str, Any] | None, limit: float, peer: float, runs: int
) -> list[object]:
    """Return a row of the table of models; all but k-anonymity with occupation as sensitive attribute."""
    config = adult.config(adult.data(), limit)
    if model is not None:
        config["attributes"][adult.SENSITIVE] = {"role": "sensitive"}
        config["constraints"].append(dict(model))
        config["reference"] = "input"
    loaded = load_config(config)
    algorithm, found, seconds = loaded.algorithm.build(), [], []
    for _ in range(runs + 1):
        with open_as(loaded, input_path(loaded)) as relation:
            asked = prepare(plan_of(loaded), relation)
        start = time.process_time()
        found.append(algorithm.search(asked.problem, Control()))
        seconds.append(time.process_time() - start)
    outcome = found[-1]
    objective = f"{outcome.objective:.6f}" + ("" if outcome.optimal else " (not proven)")
    warm = f"{median(seconds[1:]) * 1e3:.1f} ms"
    return [title, f"{limit:.0%}", objective, outcome.evaluated, warm, f"{peer * 1e3:.0f} ms"]


def model_table(runs: int) -> str:
    """Return the table of models, in processor time."""
    headers = ["model", "limit", "objective", "evaluated", "CPU", "ARX"]
    return table(headers, (model_row(*each, runs) for each in MODELS))


def process_table(runs: int) -> str:
    """Return the table of whole processes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = adult.write_config(folder / "adult.json", adult.data(), 0.02)
        run = run_command(config, folder / "out")
        whole, imports = alternating([run, python("-c", IMPORTS)], runs)
        require_proven(folder / "out")
    rows = [
        [
            name,
            f"{median(each.seconds for each in found):.2f} s",
            f"{median(each.cpu_seconds for each in found):.2f} s",
            f"{max(each.peak_mib for each in found):.0f} MiB",
        ]
        for name, found in (("`anonymizer run`, limit 2%", whole), (f'`python -c "{IMPORTS}"`', imports))
    ]
    rows.append([f"ratio, at most {PROCESS_TARGET:.0f}", f"{median_ratio(whole, imports):.2f}", "", ""])
    return table(("process", "seconds", "CPU seconds", "peak memory"), rows)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.lattice", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--runs", type=int, default=9, help="measured runs of each (default 9)")
    runs = parser.parse_args().runs
    print(
        f"Search alone, warm, medians of {runs} runs; a grouping is the median of {GROUPINGS} beside each.\n"
    )
    print(search_table(runs))
    print("\nWith other models, processor time of warm searches.\n")
    print(model_table(runs))
    print(f"\nWhole processes in turns, medians of {runs} runs; peak memory is the largest.\n")
    print(process_table(runs))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
