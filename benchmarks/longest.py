"""The lattice searches of Adult that take longest, each to its proof.

Prints processor time and evaluated transformations.

Run as ``python -m benchmarks.longest [CASE ...]`` in the folder of the checkout.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import pandas as pd

from anonymizer.config.load import load_config
from anonymizer.job.source import input_path, open_as
from anonymizer.job.table import prepare
from anonymizer.plan.plan import plan_of
from anonymizer.search.base import SEARCH_ALGORITHMS, Control
from benchmarks import adult
from benchmarks.common import machine, table
from benchmarks.shared import shared


def full() -> dict[str, Any]:
    """Return a config for all columns of the full file but the sampling weight, limit 2 %."""
    path, folder = shared("data", "adult_full", "data.csv.gz"), shared("data", "adult_full", "hierarchies")
    attributes: dict[str, Any] = {}
    for name in pd.read_csv(path, dtype=str, nrows=1).columns:
        attributes[name] = {"role": "drop"}
        if name != "fnlwgt" and (file := folder / f"{name}.csv").exists():
            attributes[name] = {"role": "quasi-identifier", "hierarchy": {"file": str(file)}}
    return {
        "input": {"path": str(path)},
        "attributes": attributes,
        "constraints": [{"model": "k-anonymity", "k": 5}],
        "suppression": {"limit": 0.02},
    }


def class_size() -> dict[str, Any]:
    """Return a config for the metric average-class-size, any suppression."""
    return {**adult.config(adult.data(), 1.0), "objective": {"metric": "average-class-size"}}


def enhanced_beta() -> dict[str, Any]:
    """Return a config for enhanced beta-likeness 10 on eight columns, any suppression."""
    config = adult.config(adult.data(), 1.0)
    config["attributes"][adult.SENSITIVE] = {"role": "sensitive"}
    model = {"model": "enhanced-beta-likeness", "beta": 10, "attribute": adult.SENSITIVE}
    return {**config, "constraints": [model]}


CASES = {"full": full, "class-size": class_size, "enhanced-beta": enhanced_beta}
"""Configs by name."""


def measure(name: str) -> list[str]:
    """Search, and return a row of the table."""
    config = load_config(CASES[name]())
    with open_as(config, input_path(config)) as relation:
        problem = prepare(plan_of(config), relation).problem
    start = time.process_time()
    outcome = SEARCH_ALGORITHMS["lattice"]().search(problem, Control())
    seconds = time.process_time() - start
    if not outcome.optimal:
        raise RuntimeError(f"{name}: the search ended without a proof")
    return [name, f"{outcome.objective:.6f}", f"{outcome.evaluated:,}", f"{seconds:.1f} s"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help=f"of {', '.join(CASES)}; default: all")
    chosen = parser.parse_args().cases or list(CASES)
    rows = [measure(name) for name in chosen]
    print(table(["case", "objective", "evaluated", "CPU seconds"], rows))
    print(machine())


if __name__ == "__main__":
    main()
