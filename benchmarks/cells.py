"""The fewest cells to blank on the test data of sdcMicro, with what is proven about them.

Run as ``python -m benchmarks.cells`` in the folder of the checkout.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from anonymizer.config.load import load_config
from anonymizer.job.source import input_path, open_as
from anonymizer.job.table import prepare
from anonymizer.model.recoding import LocalSuppressionRecoding
from anonymizer.plan.plan import plan_of
from anonymizer.search.base import Control, SearchProblem
from anonymizer.search.lattice.algorithm import Lattice
from anonymizer.search.lattice.local_suppression import CellNode, CellWeights
from anonymizer.search.suppression.cell_models import CellModels
from anonymizer.search.suppression.cells import CellSearch
from benchmarks.common import machine, seconds_of, table
from benchmarks.shared import shared

KEYS = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")
WEIGHTS = {"roof": 3.0, "walls": 3.0, "relat": 2.0, "sex": 5.0}
SENSITIVE = "hhcivil"
KNOWN = {2: 187, 3: 357, 5: 643}
"""Proven optima over the seven keys without weights."""


@dataclass(frozen=True)
class Case:
    """One problem on the 4,580 records."""

    k: int
    keys: Sequence[str] = KEYS
    weighted: bool = False
    diversity: int | None = None

    @property
    def name(self) -> str:
        """What is asked, in words."""
        parts = [f"k = {self.k}"]
        if self.diversity is not None:
            parts.append(f"l = {self.diversity}")
        if self.weighted:
            parts.append("weights")
        if len(self.keys) > len(KEYS):
            parts.append(f"and {self.keys[-1]}")
        return ", ".join(parts)

    def config(self) -> dict[str, Any]:
        """Return the config: nothing is generalized, every other column is released as it is."""
        path = shared("data", "sdc_testdata", "data.csv.gz")
        columns = pd.read_csv(path, nrows=0).columns
        attributes: dict[str, Any] = {name: {"role": "insensitive"} for name in columns}
        for name in self.keys:
            weight = WEIGHTS.get(name, 1.0) if self.weighted else 1.0
            attributes[name] = {
                "role": "quasi-identifier",
                "type": "text",
                "levels": {"max": 0},
                "weight": weight,
            }
        constraints: list[dict[str, Any]] = [{"model": "k-anonymity", "k": self.k}]
        if self.diversity is not None:
            attributes[SENSITIVE] = {"role": "sensitive"}
            constraints.append({"model": "l-diversity", "l": self.diversity, "attribute": SENSITIVE})
        return {
            "input": {"path": str(path)},
            "attributes": attributes,
            "constraints": constraints,
            "suppression": {"method": "cells"},
        }

    def problem(self) -> SearchProblem:
        """Return the problem, read afresh."""
        config = load_config(self.config())
        with open_as(config, input_path(config)) as relation:
            return prepare(plan_of(config), relation).problem


CASES = (
    *(Case(k) for k in KNOWN),
    *(Case(k, weighted=True) for k in KNOWN),
    *(Case(k, diversity=2) for k in KNOWN),
    *(Case(k, (*KEYS, "age")) for k in KNOWN),
)


def smallest_class(recoding: LocalSuppressionRecoding) -> int:
    """Return the records of the smallest class as published, counted by a data frame."""
    columns = recoding.published()
    published = pd.DataFrame({own.name: np.array(own.labels)[own.codes] for own in columns})
    records = published.assign(records=recoding.table.counts)
    return int(records.groupby([own.name for own in columns])["records"].sum().min())


def row(case: Case, seconds: float) -> list[object]:
    """Solve one problem and return its row of the table.

    Raises
    ------
    RuntimeError: a class as published is too small, or what is called optimal is not the known optimum.
    """
    problem = case.problem()
    weights = CellWeights.of(problem.table, problem.metric)
    node = CellNode.of(problem, CellModels(problem), weights, [0] * len(case.keys))
    start = CellSearch(node.cells, Control())
    started = seconds_of(start.start)
    control, before = Control(seconds=seconds), time.process_time()
    outcome = Lattice().search(problem, control)
    taken, worked = control.elapsed, time.process_time() - before
    recoding = outcome.recoding
    assert isinstance(recoding, LocalSuppressionRecoding)
    assert outcome.objective is not None
    if smallest_class(recoding) < case.k:
        raise RuntimeError(f"{case.name}: a class as published has fewer than {case.k} records")
    cells, plain = recoding.suppressed_cells, case.keys == KEYS and not case.weighted
    if outcome.optimal and plain and case.diversity is None and cells != KNOWN[case.k]:
        raise RuntimeError(f"{case.name}: {cells} cells, where {KNOWN[case.k]} are the proven optimum")
    bound = "" if outcome.bound is None else f"{outcome.bound / weights.unit:.0f}"
    return [
        case.name,
        f"{start.cost:.0f}",
        f"{started:.2f} s",
        cells,
        f"{outcome.objective / weights.unit:.0f}",
        bound,
        "yes" if outcome.optimal else f"gap {outcome.gap or 0:.1%}",
        f"{taken:.1f} s",
        f"{worked:.1f} s",
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cells", description=(__doc__ or "").split("\n", 1)[0]
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="budget of each search (default 60)")
    seconds = parser.parse_args().seconds
    headers = ["asked", "start: cost", "start", "cells", "cost", "bound", "proven", "search", "CPU"]
    print(table(headers, ()), flush=True)
    for case in CASES:
        print(f"| {' | '.join(map(str, row(case, seconds)))} |", flush=True)
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
