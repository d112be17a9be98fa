"""The bound from the nearest records of each record is one, compiled and interpreted alike."""

from __future__ import annotations

import math
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import compiled
from anonymizer.search.base import Control, SearchProblem
from anonymizer.search.local.algorithm import Local
from anonymizer.search.local.bound import best_possible
from anonymizer.search.local.neighbours import bound, kernel
from anonymizer.search.local.neighbours.bound import NeighbourBound
from anonymizer.search.partition.trees import allowed_trees
from tests.helpers import problems
from tests.search.bound_cases import case
from tests.twins.microdata import Microdata, QuasiIdentifierSpec, SensitiveSpec
from tests.twins.search import ConstraintSpec, ProblemSpec

ROUNDING = 1e-12
"""By how much the twin's own sums may be wrong."""


def some_records(seed: int, depth: int, needed: int) -> kernel.Near:
    """Return a few records with their neighbours at random."""
    random = np.random.default_rng(seed)
    records, number, attributes = random.integers(1, [4, 12, 8], endpoint=True).tolist()
    costs = random.integers(0, 9, (records, attributes, number), dtype=np.int32)
    costs[:, :, 0] = costs.min(axis=2)
    order = costs.sum(axis=1).argsort(axis=1, kind="stable")
    costs = np.take_along_axis(costs, order[:, None], axis=2)
    return kernel.Near(
        np.ascontiguousarray(costs.reshape(-1, number)),
        random.integers(1, 3, (records, number), endpoint=True, dtype=np.int32),
        np.zeros(records, dtype=np.int32),
        np.zeros((depth + 1, attributes), dtype=np.int32),
        np.zeros((depth + 1, number), dtype=np.int32),
        np.zeros((2 * (depth + 1), needed + 1), dtype=np.int32),
    )


def cheapest_by_hand(near: kernel.Near, own: int, needed: int) -> int:
    """Return the least price of all sets of neighbours with the record that are large enough."""
    attributes = near.labels.shape[1]
    costs = near.costs[own * attributes : (own + 1) * attributes]
    others = range(1, costs.shape[1])
    prices = [
        int(costs[:, [0, *chosen]].max(axis=1).sum())
        for number in range(len(others) + 1)
        for chosen in combinations(others, number)
        if near.units[own, [0, *chosen]].sum() >= needed
    ]
    return min(prices, default=kernel.TOO_FEW)


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 7))
def test_compiled_and_interpreted_alike_and_never_above_the_cheapest(
    seed: int, depth: int, needed: int
) -> None:
    own, other = some_records(seed, depth, needed), some_records(seed, depth, needed)
    added = kernel.cheapest(own, len(own.found), needed, depth)
    room = compiled.Room(kernel.MODULE, [other])
    assert room.run(kernel.cheapest, room.values[0], len(own.found), needed, depth) == added
    np.testing.assert_array_equal(room.values[0].found, own.found)
    for record, found in enumerate(own.found.tolist()):
        best = cheapest_by_hand(own, record, needed)
        assert found <= best
        # As many neighbours are joined as a class has beside the record.
        assert found == best or depth < needed - 1


def nearest_by_hand(problem: SearchProblem) -> float:
    """Return the mean cost of each record's join with its (k - 1)-th nearest one, pair by pair."""
    table, metric = problem.table, problem.metric
    total = sum(own.weight for own in table.quasi_identifiers)
    places = [table.quasi_identifier_codes(i) for i in range(len(table.quasi_identifiers))]

    def joined(one: int, other: int) -> float:
        cost = 0.0
        for own, codes in zip(table.quasi_identifiers, places, strict=True):
            nodes = own.hierarchy.ancestors[own.minimum : own.maximum + 1, own.leaf]
            costs = metric.node_costs(own)
            same = [
                costs[a] for a, b in zip(nodes[:, codes[one]], nodes[:, codes[other]], strict=True) if a == b
            ]
            cost += own.weight / total * min(same) if same else 1.0
        return min(cost, 1.0)

    records = np.repeat(np.arange(table.combinations), table.counts).tolist()
    return math.fsum(
        sorted(joined(one, other) for other in records)[problem.minimum_size - 1] for one in records
    ) / len(records)


@pytest.mark.parametrize("seed", range(60))
def test_neighbours_bound_every_local_recoding(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    own = case(seed)
    if own.problem.table.records < own.problem.minimum_size:
        return
    monkeypatch.setattr(bound, "ADDITIONS", 1)
    monkeypatch.setattr(bound, "FEWEST", 1 + seed % 4)
    monkeypatch.setattr(bound, "NEAREST", 4 if seed % 2 else 512)
    monkeypatch.setattr(bound, "TILE", 2)
    monkeypatch.setattr(bound, "WIDEST_TABLE", 2 if seed % 3 == 0 else 2048)
    trees = allowed_trees(own.problem.table.quasi_identifiers, own.problem.metric)
    found = NeighbourBound(own.problem.table, trees, own.problem.minimum_size)
    losses, nearest = [0.0], 0.0
    while not found.settled:
        assert not found.improve(lambda: True)
        before = found.complete
        assert found.improve()
        losses.append(found.loss)
        nearest = nearest if before else found.loss
    assert losses == sorted(losses)
    assert found.loss <= own.twin.value() + ROUNDING
    if seed % 3:
        assert nearest == pytest.approx(nearest_by_hand(own.problem), abs=1e-5)


@pytest.mark.slow
def test_most_of_the_loss_in_twelve_dimensions() -> None:
    """Random records of twelve attributes, where the dual bound finds nothing."""
    random = Random(1)
    values = [f"{value:02d}" for value in range(12)]
    paths = {value: (value, f"pair {int(value) // 2}", f"six {int(value) // 6}", "*") for value in values}
    own = tuple(QuasiIdentifierSpec(f"q{i}", paths, maximum=3) for i in range(12))
    records = tuple((*random.choices(values, k=12), "s") for _ in range(2_100))
    data = Microdata(own, (SensitiveSpec("s"),), records)
    problem = problems.problem(ProblemSpec(data, (ConstraintSpec("k-anonymity", {"k": 5}),), "loss", k=5))
    outcome = Local().search(problem, Control(steps=6))
    assert outcome.bound is not None
    assert outcome.objective is not None
    assert 0.45 * outcome.objective < outcome.bound < outcome.objective
    again = Local().search(problem, Control(steps=6))
    assert (again.bound, again.steps) == (outcome.bound, outcome.steps)
    possible = best_possible(problem)
    assert possible is not None
    assert 0.7 * outcome.objective < possible < outcome.objective
