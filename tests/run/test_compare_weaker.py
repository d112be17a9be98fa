"""A weaker constraint never loses more in a comparison: the release of a stronger one satisfies it too."""

from __future__ import annotations

from decimal import Decimal
from itertools import permutations
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

import anonymizer as an
from anonymizer.commands import compare
from anonymizer.commands.planning import PlannedRun
from anonymizer.commands.workers import RunResult
from anonymizer.config.load import load_config
from anonymizer.report.comparison import RunStatus
from tests.run.commands import CONFIG


def runs(values: list[dict[str, Any]]) -> list[PlannedRun]:
    """Return runs of one config that differ in constraints and limit."""
    found = []
    for number, own in enumerate(values, 1):
        constraints = [
            {"model": "k-anonymity", "k": own.get("k", 3)},
            {"model": "t-closeness", "t": own.get("t", 0.5), "attribute": "diagnosis"},
        ]
        content = {
            **CONFIG,
            "constraints": constraints,
            "suppression": {"limit": own.get("limit", 0.1)},
            "algorithm": {"name": own.get("algorithm", "mondrian")},
        }
        config = load_config(content)
        found.append(PlannedRun(number, config.algorithm.name, (), (f"run={number}",), config, ()))
    return found


def result(loss: float | None, bound: float | None = 0.01) -> RunResult:
    report: dict[str, Any] = {"search": {"objective": loss, "bound": bound, "optimal": loss is not None}}
    status = RunStatus.UNDECIDED if loss is None else RunStatus.SATISFIED
    return RunResult(status, 1.0, "" if loss is not None else "no time", report)


def settled(values: list[dict[str, Any]], losses: list[float | None]) -> list[tuple[float | None, str]]:
    plan = runs(values)
    given = {run.number: result(loss) for run, loss in zip(plan, losses, strict=True)}
    new, found = compare._no_worse_than_stronger(plan, given)
    shown = []
    for run in new:
        report = found[run.number].report
        assert report is not None
        shown.append((report["search"]["objective"], run.overrides[0]))
        if run.overrides[0] != f"run={run.number}":
            assert not report["search"]["optimal"]
            assert found[run.number].status is RunStatus.SATISFIED
    return shown


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_the_release_of_a_stronger_constraint_is_taken(order: tuple[int, ...]) -> None:
    values = [{"k": 2}, {"k": 4}, {"k": 8}]
    losses = [0.15, 0.08, 0.2]
    found = settled([values[at] for at in order], [losses[at] for at in order])
    by_k = dict(zip(order, found, strict=True))
    four = f"run={order.index(1) + 1}"
    assert by_k[0] == (0.08, four)
    assert by_k[1] == (0.08, four)
    assert by_k[2] == (0.2, f"run={order.index(2) + 1}")


@pytest.mark.parametrize(
    ("weaker", "stronger"),
    [({"t": 0.6}, {"t": 0.3}), ({"limit": 0.2}, {"limit": 0.05}), ({"k": 2, "t": 0.6}, {"k": 3, "t": 0.6})],
)
def test_every_threshold_has_a_direction(weaker: dict[str, Any], stronger: dict[str, Any]) -> None:
    assert settled([weaker, stronger], [0.5, 0.4])[0] == (0.4, "run=2")
    assert settled([stronger, weaker], [0.5, 0.4])[0] == (0.5, "run=1")


def test_what_differs_otherwise_is_not_taken() -> None:
    assert settled([{"k": 2}, {"k": 4, "algorithm": "lattice"}], [0.5, 0.4])[0] == (0.5, "run=1")
    assert settled([{"k": 2, "t": 0.3}, {"k": 4, "t": 0.5}], [0.5, 0.4])[0] == (0.5, "run=1")


def test_ties_keep_the_run_and_a_run_without_a_release_gets_one() -> None:
    assert settled([{"k": 2}, {"k": 4}], [0.4, 0.4])[0] == (0.4, "run=1")
    assert settled([{"k": 2}, {"k": 4}], [None, 0.4])[0] == (0.4, "run=2")
    assert settled([{"k": 2}, {"k": 4}], [0.4, None])[1] == (None, "run=2")


def test_random_thresholds_are_monotone() -> None:
    random = Random(2)
    values = [
        {"k": random.randint(2, 5), "t": Decimal(random.randint(2, 5)) / 10, "limit": 0.1} for _ in range(12)
    ]
    found = settled(values, [random.random() for _ in values])
    for own, (loss, _) in zip(values, found, strict=True):
        for other, (more, _) in zip(values, found, strict=True):
            if other["k"] >= own["k"] and other["t"] <= own["t"]:
                assert loss <= more


def test_a_greedy_search_that_loses_more_under_a_weaker_threshold_gets_the_other_release() -> None:
    random = np.random.default_rng(4)
    records = 60
    frame = pd.DataFrame(
        {
            "a": random.integers(0, 40, records),
            "b": random.integers(0, 40, records),
            "c": random.choice(list("uvwxyz"), records),
            "s": random.choice(list("pqr"), records),
        }
    )
    intervals = {"role": "quasi-identifier", "hierarchy": {"intervals": {"width": [5, 10, 20]}}}
    config: dict[str, Any] = {
        "attributes": {"a": intervals, "b": intervals, "c": "quasi-identifier", "s": "sensitive"},
        "constraints": [
            {"model": "k-anonymity", "k": 2},
            {"model": "t-closeness", "t": 0.6, "attribute": "s"},
        ],
        "algorithm": {"name": "mondrian"},
    }
    stronger = {**config, "constraints": [config["constraints"][0], {**config["constraints"][1], "t": 0.4}]}
    alone = [an.anonymize(frame, own).report["loss"]["loss"] for own in (config, stronger)]
    assert alone[0] > alone[1]
    found = an.compare(frame, config, vary={"constraints.1.t": [0.6, 0.4]})
    assert found["loss"].tolist() == [alone[1], alone[1]]
