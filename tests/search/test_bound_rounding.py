"""Rounding: zones solved with the facilities that the prices choose."""

from __future__ import annotations

import math
from itertools import pairwise, product

import networkx as nx
import numpy as np
import pytest

from anonymizer.search.base import SearchProblem
from anonymizer.search.local.bound import DualBound
from anonymizer.search.local.improvers import Location, ProposalAcceptance, Rounding, connected, reduced_costs
from anonymizer.search.local.start import Start, level_lattice
from anonymizer.search.partition.assignment import Assignment, LocalProblem
from anonymizer.search.partition.trees import NONE, items_of
from anonymizer.search.partition.validity import AssignmentJudge, Validity
from tests.search.bound_cases import adult_problem, case

FEASIBLE = 8
"""A case in which one class of all records may be released."""


def cheapest(location: Location) -> float:
    """Return the least cost of serving every record, over all ways to split the items."""
    records = [
        (item, [f for f, i in zip(location.facility, location.item, strict=True) if i == item])
        for item, number in enumerate(location.records)
        for _ in range(number)
    ]
    best = math.inf
    for choice in product(*([*own, -1] if location.room else own for _, own in records)):
        sizes = np.bincount([f for f in choice if f >= 0], minlength=len(location.costs))
        gone = choice.count(-1)
        if gone <= location.room and all(size == 0 or size >= location.size for size in sizes):
            best = min(best, float(sizes @ location.costs) + gone)
    return best


def location(seed: int) -> Location:
    """Return a random small location with every pair or most of them."""
    random = np.random.default_rng(seed)
    items, facilities = int(random.integers(1, 5)), int(random.integers(1, 4))
    facility, item = np.nonzero(random.random((facilities, items)) < random.choice((0.7, 1.0)))
    return Location(
        random.integers(1, 3, items),
        random.random(facilities).round(3),
        facility,
        item,
        int(random.integers(1, 4)),
        int(random.integers(0, 3)),
    )


@pytest.mark.parametrize("seed", range(40))
def test_a_location_is_solved_to_its_optimum(seed: int) -> None:
    own = location(seed)
    expected = cheapest(own)
    found = own.solved(0.0, lambda: False)
    if found is None:
        assert expected == math.inf
        return
    served = found.facility >= 0
    total = own.costs[found.facility[served]] @ found.records[served] + found.records[~served].sum()
    assert total == pytest.approx(expected)
    assert np.array_equal(np.bincount(found.item, found.records, len(own.records)), own.records)
    sizes = np.bincount(found.facility[served], found.records[served])
    assert not ((sizes > 0) & (sizes < own.size)).any()


def test_reduced_costs_are_those_of_the_best_k_records() -> None:
    costs = np.array([0.5, 0.1, 0.2])
    pairs = np.array([[True, True, True], [True, False, True], [False, True, False]])
    prices, records = np.array([0.3, 0.6, 0.05]), np.array([2, 1, 3])
    # Three records: 0.6 and twice 0.3; twice 0.3 and once 0.05; a single record is too few.
    expected = [3 * 0.5 - 0.6 - 0.6, 3 * 0.1 - 0.6 - 0.05, math.inf]
    assert reduced_costs(costs, pairs, prices, records, 3) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(10))
def test_connected_components(seed: int) -> None:
    random = np.random.default_rng(seed)
    edges = random.integers(0, 30, (2, int(random.integers(0, 30))))
    graph = nx.Graph(edges.T.tolist())
    graph.add_nodes_from(range(30))
    found = connected(edges, 30)
    assert {frozenset(np.flatnonzero(found == own).tolist()) for own in set(found.tolist())} == {
        frozenset(own) for own in nx.connected_components(graph)
    }


class Setting:
    """What a rounding needs, after some rounds of the bound; ``proven`` by each."""

    def __init__(self, problem: SearchProblem, rounds: int) -> None:
        self.ground = LocalProblem(problem)
        self.guard, self.validity = AssignmentJudge(self.ground), Validity(self.ground)
        self.dual = dual = DualBound(
            self.ground.trees, items_of(problem.table, self.ground.trees), problem.minimum_size
        )
        self.proven = []
        for _ in range(rounds):
            dual.improve()
            self.proven.append(dual.loss)
        self.rounding = Rounding(
            self.ground, dual, ProposalAcceptance(self.validity, self.guard, problem.limit)
        )

    def everyone(self) -> Assignment:
        """Return one class of all records."""
        atoms = self.ground.atoms
        return Assignment.of(self.ground, np.arange(atoms.number), atoms.counts, np.zeros(atoms.number))

    def greedy(self) -> Assignment:
        """Return what local recoding starts with."""
        start = Start(self.ground, level_lattice(self.ground), self.validity, self.guard)
        found = start.settled(start.greedy())
        assert found is not None
        return found

    def rounded(self, start: Assignment, zones: int) -> list[Assignment]:
        """Return the start and what each zone makes of it."""
        found, random = [start], np.random.default_rng(0)
        for _ in range(zones):
            found.append(self.rounding.improve(found[-1], random))
        return found


def check(setting: Setting, found: list[Assignment]) -> None:
    """Check that no step costs more, and that all may be released with every record in it."""
    for before, after in pairwise(found):
        assert after.total <= before.total
        assert setting.guard.admits(after)
        counted = np.bincount(after.atoms, after.counts, setting.ground.atoms.number)
        assert np.array_equal(counted, setting.ground.atoms.counts)


@pytest.mark.slow
def test_small_cases_mostly_end_at_the_optimum() -> None:
    ends = []
    for seed in range(30):
        own = case(seed)
        setting = Setting(own.problem, 6)
        everyone = setting.everyone()
        if (everyone.nodes == NONE).any() or not setting.guard.admits(everyone):
            continue
        found = setting.rounded(everyone, 6)
        check(setting, found)
        optimum = own.twin.value()
        assert found[-1].loss >= optimum - 1e-9
        ends.append(found[-1].loss <= optimum + 1e-9)
    assert len(ends) > 10
    assert np.mean(ends) > 0.6


def test_the_same_zones_give_the_same() -> None:
    own = case(FEASIBLE)
    first, second = (
        setting.rounded(setting.everyone(), 3)
        for setting in (Setting(own.problem, 4), Setting(own.problem, 4))
    )
    assert first[-1].total == second[-1].total
    assert np.array_equal(first[-1].class_of, second[-1].class_of)


def test_a_zone_that_is_stopped_changes_nothing() -> None:
    own = case(FEASIBLE)
    setting = Setting(own.problem, 2)
    everyone = setting.everyone()
    stopped = Rounding(
        setting.ground, setting.dual, ProposalAcceptance(setting.validity, setting.guard, 0), lambda: True
    )
    assert stopped.improve(everyone, np.random.default_rng(0)) is everyone


@pytest.fixture(scope="module")
def adult() -> Setting:
    return Setting(adult_problem(5), 2)


@pytest.mark.slow
def test_adult_is_bounded_within_a_few_rounds(adult: Setting) -> None:
    assert adult.proven[1] >= 0.0437


@pytest.mark.slow
def test_adult_saves_with_a_few_zones(adult: Setting) -> None:
    found = adult.rounded(adult.greedy(), 3)
    check(adult, found)
    assert found[-1].loss < 0.998 * found[0].loss
