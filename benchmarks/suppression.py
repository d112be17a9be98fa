"""The fewest records to suppress on Adult beside whole classes, and in one large class.

Run as ``python -m benchmarks.suppression`` in the folder of the checkout.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from anonymizer.config.load import load_config
from anonymizer.data.open import open_frame
from anonymizer.job.table import prepare
from anonymizer.plan.plan import plan_of
from anonymizer.search.base import SearchProblem
from anonymizer.search.judge import CandidateVerdict, Judge
from anonymizer.search.rollup import RollUp
from benchmarks import adult
from benchmarks.common import machine, table

Models = Sequence[Mapping[str, Any]]
Hierarchy = Mapping[str, Any]

CONSTRAINTS: tuple[Models, ...] = (
    ({"model": "alpha-k-anonymity", "alpha": 0.4, "k": 5},),
    ({"model": "l-diversity", "l": 5},),
    ({"model": "entropy-l-diversity", "l": 4},),
    ({"model": "recursive-cl-diversity", "c": 2, "l": 3},),
    ({"model": "t-closeness", "t": 0.3, "distance": "equal"},),
    ({"model": "t-closeness", "t": 0.2, "distance": "ordered"},),
    ({"model": "t-closeness", "t": 0.3, "distance": "hierarchical"},),
    ({"model": "basic-beta-likeness", "beta": 2},),
    ({"model": "enhanced-beta-likeness", "beta": 2},),
    ({"model": "delta-disclosure", "delta": 1.5, "absent": "ignored"},),
    ({"model": "k-anonymity", "k": 5}, {"model": "t-closeness", "t": 0.3, "distance": "equal"}),
)
"""On Adult, sensitive occupation."""

RECORDS, VALUES = 100_000, 50
"""Of the large class."""

LARGE: tuple[Models, ...] = (
    ({"model": "k-anonymity", "k": 5},),
    ({"model": "alpha-k-anonymity", "alpha": 0.1, "k": 5},),
    ({"model": "p-sensitive-k-anonymity", "p": 5, "k": 5},),
    ({"model": "l-diversity", "l": 5},),
    ({"model": "entropy-l-diversity", "l": 30},),
    ({"model": "recursive-cl-diversity", "c": 0.2, "l": 6},),
    ({"model": "t-closeness", "t": 0.2, "distance": "equal"},),
    ({"model": "t-closeness", "t": 0.02, "distance": "ordered"},),
    ({"model": "t-closeness", "t": 0.1, "distance": "hierarchical"},),
    ({"model": "basic-beta-likeness", "beta": 0.5},),
    ({"model": "enhanced-beta-likeness", "beta": 0.5},),
    ({"model": "delta-disclosure", "delta": 1},),
    ({"model": "delta-disclosure", "delta": 0.5, "absent": "ignored"},),
    ({"model": "entropy-l-diversity", "l": 30}, {"model": "basic-beta-likeness", "beta": 1}),
    ({"model": "t-closeness", "t": 0.2, "distance": "equal"}, {"model": "basic-beta-likeness", "beta": 1}),
)
"""On the large class beside another one of ten times as many records."""


@dataclass(frozen=True)
class Judged:
    """A verdict and how long it took."""

    verdict: CandidateVerdict
    seconds: float


@cache
def _adult() -> pd.DataFrame:
    return adult.frame()


def adult_problem(constraints: Models, reference: str, method: str) -> SearchProblem:
    """Return what is asked about Adult."""
    names = [name for name in adult.ATTRIBUTES if name != adult.SENSITIVE]
    config = adult.config(adult.data(), 1.0, attributes=names)
    tree = {"file": str(adult.hierarchy(adult.SENSITIVE))}
    config["attributes"][adult.SENSITIVE] = {"role": "sensitive", "hierarchy": tree}
    config |= {"constraints": list(constraints), "reference": reference}
    config["suppression"] = {"limit": 1, "method": method}
    return prepare(plan_of(load_config(config)), open_frame(_adult())).problem


def large_class() -> pd.DataFrame:
    """Return the records of a class with 50 values and of all others, whose distribution differs."""
    random = np.random.default_rng(0)
    usual = 1 / np.arange(1, VALUES + 1)
    own = usual * random.lognormal(0, 1, VALUES)
    counts = [
        random.multinomial(number - VALUES, shares / shares.sum()) + 1
        for number, shares in ((RECORDS, own), (10 * RECORDS, usual))
    ]
    values = np.concatenate([np.repeat(np.arange(VALUES), each) for each in counts])
    return pd.DataFrame({"class": np.repeat(["own", "other"], [RECORDS, 10 * RECORDS]), "value": values})


def large_problem(records: pd.DataFrame, constraints: Models) -> SearchProblem:
    """Return what is asked about the large class, with the p of the input."""
    tree: Hierarchy = {"intervals": {"width": [5, 10, 50], "origin": 0}}
    config = {
        "input": {"path": "large.csv"},
        "attributes": {
            "class": {"role": "quasi-identifier"},
            "value": {"role": "sensitive", "type": "integer", "hierarchy": tree},
        },
        "constraints": list(constraints),
        "reference": "input",
        "suppression": {"limit": 1, "method": "records"},
    }
    return prepare(plan_of(load_config(config)), open_frame(records)).problem


def judged(problem: SearchProblem, levels: Sequence[int]) -> Judged:
    """Judge the classes at a node."""
    classes = RollUp.of(problem.table).classes(levels)
    judge = Judge(problem)
    start = time.perf_counter()
    verdict = judge.judge(classes)
    return Judged(verdict, time.perf_counter() - start)


def described(constraints: Models) -> str:
    """Return the models with their parameters."""
    return " and ".join(" ".join(map(str, constraint.values())) for constraint in constraints)


def adult_row(constraints: Models, reference: str) -> list[object]:
    """Return a row of the table of Adult."""
    levels = [adult.LEVELS[name] for name in adult.ATTRIBUTES if name != adult.SENSITIVE]
    whole = judged(adult_problem(constraints, reference, "classes"), levels)
    fewest = judged(adult_problem(constraints, reference, "records"), levels)
    return [
        described(constraints),
        reference,
        f"{whole.verdict.suppressed:,}",
        f"{fewest.verdict.suppressed:,}",
        f"{fewest.verdict.least:,}",
        f"{fewest.seconds:.3f} s",
    ]


def adult_table() -> str:
    """Return the table of Adult; the p of the release only where a model compares with it."""
    compared = ("t-closeness", "basic-beta-likeness", "enhanced-beta-likeness", "delta-disclosure")
    rows = [
        adult_row(constraints, reference)
        for constraints in CONSTRAINTS
        for reference in ("input", "release")
        if reference == "input" or any(each["model"] in compared for each in constraints)
    ]
    return table(["models", "p of", "whole classes", "records", "at least", "solved in"], rows)


def large_row(records: pd.DataFrame, constraints: Models) -> list[object]:
    """Return a row of the table of the large class."""
    problem = large_problem(records, constraints)
    classes = RollUp.of(problem.table).classes((0,))
    found = judged(problem, (0,))
    own = int(np.argmin(classes.sizes))
    gone = int(found.verdict.gone[classes.class_of == own].sum())
    return [described(constraints), f"{gone:,}", found.verdict.settled, f"{found.seconds:.3f} s"]


def large_table() -> str:
    """Return the table of the large class."""
    records = large_class()
    rows = [large_row(records, constraints) for constraints in LARGE]
    return table(["models", "suppressed of 100,000", "proven", "solved in, both classes"], rows)


def main() -> None:
    """Print both tables."""
    argparse.ArgumentParser(prog="python -m benchmarks.suppression", description=__doc__).parse_args()
    print("Adult at levels " + " ".join(str(level) for level in adult.LEVELS.values()) + ".\n")
    print(adult_table())
    print(f"\nA class of {RECORDS:,} records with {VALUES} sensitive values.\n")
    print(large_table())
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
