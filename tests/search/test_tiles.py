"""A lattice cut into boxes: no box is missed, and the optimum stays the optimum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isclose
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.model.recoding import Outcome, Status
from anonymizer.search.base import Control
from anonymizer.search.lattice import algorithm
from anonymizer.search.lattice import frontier as tiles
from anonymizer.search.lattice.algorithm import Lattice
from tests import strategies
from tests.helpers import build
from tests.helpers.examples import share
from tests.helpers.problems import metric, problem
from tests.strategies import problems
from tests.twins.search import BruteForce, ProblemSpec


@pytest.fixture(autouse=True, scope="module")
def _small_boxes() -> Iterator[None]:
    """Cut even the small lattices of these tests into many boxes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiles, "LARGEST_BOX", 3)
        yield


def assert_best(outcome: Outcome, spec: ProblemSpec) -> None:
    """Assert that a search ended with the optimum of an exhaustive one, or with none where there is none."""
    valid = BruteForce(spec).valid()
    if not valid:
        assert outcome.status is Status.INFEASIBLE
        return
    assert outcome.optimal
    assert isclose(outcome.objective, min(result.objective for result in valid), rel_tol=1e-9, abs_tol=1e-9)


@pytest.mark.slow
@share(2)
@given(problems())
def test_the_optimum_is_found_across_boxes(spec: ProblemSpec) -> None:
    outcome = Lattice().search(problem(spec), Control())
    assert_best(outcome, spec)


@share(2)
@given(random=strategies.randoms())
def test_every_node_lies_in_one_box_and_boxes_come_by_their_bound(random: Random) -> None:
    data = strategies.table(random)
    table = build.table(data)
    cut = tiles.Tiles(table, metric("loss").on_lattice(table, None))
    seen: list[tuple[int, ...]] = []
    bounds = []
    loss = metric("loss").on_lattice(table, None)
    for box in cut.in_order(lambda: np.inf):
        assert float(box.floors.flat[0]) == loss.floor(box.lowest)
        bounds.append(float(box.floors.min()))
        assert box.floors.size <= max(3, min(box.floors.shape))
        seen += [box.levels(index) for index in np.ndindex(box.floors.shape)]
    assert sorted(seen) == sorted(BruteForce(ProblemSpec(data, ())).nodes())
    assert bounds == sorted(bounds)
    assert cut.nodes == len(seen)


@given(st.lists(st.integers(1, 7), min_size=1, max_size=5), st.integers(0, 2**32))
def test_counts_at_or_below_are_added_up(shape: list[int], seed: int) -> None:
    counts = np.random.default_rng(seed).integers(0, 3, (2, *shape)).astype(np.float32)
    expected = counts
    for axis in range(1, counts.ndim):
        expected = expected.cumsum(axis=axis)
    found = tiles._sums_below(counts.reshape(2, -1), tuple(shape))
    assert np.array_equal(found, expected)


@share(2)
@given(problems())
def test_the_optimum_is_found_where_few_evaluations_look_for_proofs(spec: ProblemSpec) -> None:
    spec = replace(spec, moving_reference=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(algorithm, "ALONE", 0)
        patch.setattr(algorithm, "SOMETIMES", 3)
        patch.setattr(tiles, "NEXT", 3)
        patch.setattr(tiles, "LARGEST_BOX", 1 << 16)
        outcome = Lattice().search(problem(spec), Control())
    assert_best(outcome, spec)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(0, 2**32))
def test_what_is_ruled_out_below_several_is_below_one_of_them(shape: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    lowest = tuple(random.integers(0, 3, len(shape)).tolist())
    levels = random.integers(0, 7, (int(random.integers(0, 4)), len(shape)))
    each, together = (tiles.Frontier(np.zeros(shape), lowest) for _ in range(2))
    for own in levels.tolist():
        each.rule_out_below(tuple(own))
    together.rule_out_below_each(levels)
    assert np.array_equal(each.bounds, together.bounds)
    below = [
        any(
            all(low <= high for low, high in zip(each.levels(i), own, strict=True)) for own in levels.tolist()
        )
        for i in np.ndindex(*shape)
    ]
    assert np.isinf(together.bounds).ravel().tolist() == below


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(0, 2**32))
def test_marking_several_marks_each(shape: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    lowest = tuple(random.integers(0, 3, len(shape)).tolist())
    levels = random.integers(0, 7, (int(random.integers(0, 4)), len(shape)))
    each, together = (tiles.Frontier(np.zeros(shape), lowest) for _ in range(2))
    for own in levels.tolist():
        each.mark(tuple(own))
    together.mark_each(levels)
    assert np.array_equal(each.bounds, together.bounds)
    assert np.array_equal(each.evaluated, together.evaluated)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(0, 2**32))
def test_the_next_of_a_queue_settles_most_of_what_is_still_open(shape: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    box = tiles.Frontier(random.random(shape), tuple(random.integers(0, 3, len(shape)).tolist()))
    box.cut(float(random.random()), 0.0)
    was_open = np.flatnonzero(box.open)
    certain = tiles.Surrogate([np.arange(8) / 4.0] * len(shape), 100, 5)
    edges = np.array([-1.0, 0.5])
    classes = random.integers(0, 2, len(was_open))
    difficulty = dict(zip([box.at(place) for place in was_open.tolist()], classes.tolist(), strict=True))

    def score(levels: tuple[int, ...]) -> float:
        below = [
            edges[each]
            for own, each in difficulty.items()
            if box.is_open(own) and all(low <= high for low, high in zip(own, levels, strict=True))
        ]
        return sum(1 / (1 + np.exp((edge - certain.at(levels)) / (certain.spread / 2))) for edge in below)

    levels = [box.at(place) for place in range(box.bounds.size)]
    scores = np.array([score(own) for own in levels])
    if not scores.any():
        return
    queue = tiles._Queue(box, scores, classes, edges)
    for own in random.permutation(levels)[:2].tolist():
        (box.mark if random.integers(2) else box.rule_out_below)(tuple(own))
    box.shrink(high=bool(random.integers(2)))
    kept = [levels[place] for place in np.argsort(-scores, kind="stable")[: tiles.QUEUED].tolist()]
    found = queue.next(box, certain)
    left = [score(own) for own in kept if box.contains(own) and not box.evaluated[box._index(own)]]
    enough = tiles.RENEWED * scores.max()
    if found is None:
        assert all(own < enough * (1 + 1e-9) for own in left)
    else:
        chosen, settles = found
        assert chosen in kept
        assert box.contains(chosen)
        assert settles(certain.at(chosen)) == pytest.approx(score(chosen)) == pytest.approx(max(left))


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(0, 2**32))
def test_a_box_that_shrinks_keeps_what_is_open(shape: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    box = tiles.Frontier(random.random(shape), tuple(random.integers(0, 3, len(shape)).tolist()))
    box.cut(float(random.random()), 0.0)
    high = bool(random.integers(2))
    before = {box.at(place): float(box.bounds.flat[place]) for place in np.flatnonzero(box.open)}
    if not before:
        return
    tops = np.array(box.lowest) + np.array(shape) - 1
    box.shrink(high=high)
    assert {box.at(place): float(box.bounds.flat[place]) for place in np.flatnonzero(box.open)} == before
    assert all(box.is_open(levels) for levels in before)
    after = np.array(box.lowest) + np.array(box.bounds.shape) - 1
    assert after.tolist() == (np.max(list(before), axis=0) if high else tops).tolist()
    assert list(box.lowest) == np.min(list(before), axis=0).tolist()
