"""Every loss metric against its definition, on random recodings; bounds against all that they bound."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import isclose
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given

from anonymizer.loss.base import AGGREGATES, LOSS_METRICS, Marginals, TransformationFacts
from tests import strategies
from tests.helpers import build
from tests.helpers.examples import share
from tests.helpers.problems import metric
from tests.helpers.recodings import Node, highest, levels_between, lowest, node, rows_of
from tests.twins.loss import LOSS_TWINS
from tests.twins.microdata import Microdata, QuasiIdentifierSpec

RANDOMS = strategies.randoms()
NAMES = sorted(LOSS_TWINS)


def same(left: float, right: float) -> bool:
    return isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)


def at_least(value: float, bound: float) -> bool:
    return value >= bound - 1e-9 * max(1.0, abs(bound))


def random_node(random: Random) -> Node:
    """Return a random node of a random table."""
    data = strategies.table(random)
    found = node(
        random, data, levels_between(random, lowest(data), highest(data)), random.choice((None, 1, 2, 3))
    )
    assume(found is not None)
    return found


def test_every_metric_and_aggregate_has_a_twin() -> None:
    assert set(LOSS_METRICS) == set(LOSS_TWINS)
    assert {str(name) for name in AGGREGATES} == set(strategies.AGGREGATES)


@pytest.mark.parametrize("name", NAMES)
@share(3)
@given(random=RANDOMS)
def test_value_and_objective_follow_the_definition(name: str, random: Random) -> None:
    own, aggregate = random_node(random), random.choice(strategies.AGGREGATES)
    table, loss = build.table(own.data), metric(name, aggregate)
    expected = LOSS_TWINS[name](own.twin(), aggregate)
    value = loss.value(own.released(table))
    assert value is not None
    assert same(value, expected)
    start = levels_between(random, lowest(own.data), own.levels)
    facts = own.facts(table, start, frozenset())
    assert same(loss.on_lattice(table, own.k).objective(facts), expected)


@pytest.mark.parametrize("name", NAMES)
@share(3)
@given(random=RANDOMS)
def test_floors_bound_every_node(name: str, random: Random) -> None:
    own, aggregate = random_node(random), random.choice(strategies.AGGREGATES)
    loss = metric(name, aggregate).on_lattice(build.table(own.data), own.k, own.k or 1)
    floors = loss.combine(loss.floors)
    assert floors.shape == tuple(spec.height + 1 for spec in own.data.quasi_identifiers)
    assert at_least(LOSS_TWINS[name](own.twin(), aggregate), floors[own.levels])


@pytest.mark.parametrize("name", NAMES)
@share(3)
@given(random=RANDOMS)
def test_floors_do_not_descend(name: str, random: Random) -> None:
    data = strategies.table(random)
    loss = metric(name, random.choice(strategies.AGGREGATES)).on_lattice(build.table(data), None)
    assert all((floor[1:] >= floor[:-1] - 1e-12).all() for floor in loss.floors)


@pytest.mark.parametrize("name", NAMES)
@share(3)
@given(random=RANDOMS)
def test_certain_losses_bound_all_nodes_below(name: str, random: Random) -> None:
    """Some records are known to go, others only by their number: each node below loses as many at least."""
    own, aggregate = random_node(random), random.choice(strategies.AGGREGATES)
    table, k = build.table(own.data), own.k
    start = levels_between(random, lowest(own.data), own.levels)
    classes = [rows for rows in own.classes if rows[0] in own.suppressed]
    certain = rows_of([rows for rows in classes if random.random() < 0.7])
    further = rows_of(
        [rows[: random.randint(0, len(rows))] for rows in own.classes if rows[0] not in certain]
    )
    unplaced = random.randint(0, len(further))
    loss = metric(name, aggregate).on_lattice(table, k, k or 1)
    bounds = loss.combine(loss.below(own.facts(table, start, certain, unplaced)))
    ranges = [range(low, level + 1) for low, level in zip(start, own.levels, strict=True)]
    assert bounds.shape == tuple(len(levels) for levels in ranges)
    for levels in product(*ranges):
        below = node(random, own.data, levels, k, certain | further)
        if below is not None:
            index = tuple(level - low for level, low in zip(levels, start, strict=True))
            assert at_least(LOSS_TWINS[name](below.twin(), aggregate), bounds[index])


@pytest.mark.parametrize("name", NAMES)
@share(3)
@given(random=RANDOMS)
def test_a_node_bounds_all_nodes_above(name: str, random: Random) -> None:
    own, aggregate = random_node(random), random.choice(strategies.AGGREGATES)
    tops = [spec.height for spec in own.data.quasi_identifiers]
    drawn = [
        node(random, own.data, levels, own.k)
        for levels in product(*(range(low, top + 1) for low, top in zip(own.levels, tops, strict=True)))
    ]
    above = [each for each in drawn if each is not None]
    kept = frozenset(range(len(own.data.records))) - own.suppressed
    lasting = min((len(kept - each.suppressed) for each in above), default=0)
    table = build.table(own.data)
    facts = replace(own.facts(table, own.levels, frozenset()), lasting=random.randint(0, lasting))
    bound = metric(name, aggregate).on_lattice(table, own.k, own.k or 1).above(facts)
    for each in above:
        assert at_least(LOSS_TWINS[name](each.twin(), aggregate), bound)


def test_few_classes_stay_few_above() -> None:
    """Two classes of 10 and 4 suppressed records: with k = 2, at most five classes of 24 / 5 records."""
    table = build.table(Microdata((QuasiIdentifierSpec("q", {"a": ("a", "*")}),), (), (("a",),) * 24))
    loss = metric("average-class-size").on_lattice(table, 2, 2)
    suppressed = Marginals((np.array([4]),), (), (0,))
    sizes = np.array([10, 10])
    facts = TransformationFacts((0,), sizes, sizes, 0, suppressed, suppressed, lambda: None, lasting=20)
    assert loss.above(facts) == pytest.approx(24 / 5 / 2)


def test_where_an_intruder_knows_less_classes_may_be_smaller_than_k() -> None:
    table = build.table(Microdata((QuasiIdentifierSpec("q", {"a": ("a", "*")}),), (), (("a",),) * 24))
    loss = metric("average-class-size").on_lattice(table, 4, 1)
    assert [own.tolist() for own in loss.floors] == [[0.25, 0.25]]
    suppressed = Marginals((np.array([4]),), (), (0,))
    sizes = np.array([10, 10])
    facts = TransformationFacts((0,), sizes, sizes, 0, suppressed, suppressed, lambda: None, lasting=20)
    assert loss.above(facts) == pytest.approx(24 / 7 / 4)


@given(random=RANDOMS)
def test_without_k_the_average_is_of_the_smallest_class(random: Random) -> None:
    own = random_node(random)
    value = metric("average-class-size").value(own.released(build.table(own.data)))
    sizes = own.twin().class_sizes
    assert same(value, sum(sizes) / len(sizes) / (own.k or min(sizes)))


def test_lost_records_that_are_not_known_are_the_cheapest_ones() -> None:
    """At level 1, losing a or b adds half of what losing c does: the bound for two records must allow it."""
    paths = {"a": ("a", "ab", "*"), "b": ("b", "ab", "*"), "c": ("c", "c-", "*")}
    own = QuasiIdentifierSpec("q", paths, maximum=2)
    data = Microdata((own,), (), (("a",), ("b",), ("c",), ("c",)))
    table = build.table(data)
    loss = metric("loss").on_lattice(table, None)
    top = Node(data, (2,), frozenset(), kept_suppressed=False, k=None)
    below = loss.combine(loss.below(top.facts(table, (0,), frozenset(), 2)))
    cheapest = Node(data, (1,), frozenset({0, 1}), kept_suppressed=False, k=None)
    assert same(below[1], LOSS_TWINS["loss"](cheapest.twin(), "arithmetic-mean"))
    assert same(below[1], 0.5)
