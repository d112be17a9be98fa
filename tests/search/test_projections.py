"""What the values of one or two attributes rule out, against the transformations themselves."""

from __future__ import annotations

from itertools import combinations, product
from math import isclose
from operator import le
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.model.recoding import Status
from anonymizer.search.base import Control
from anonymizer.search.lattice import algorithm
from anonymizer.search.lattice.algorithm import Lattice
from anonymizer.search.lattice.projections import alone, in_pairs
from anonymizer.search.rollup import RollUp
from tests import strategies
from tests.helpers.examples import share
from tests.helpers.problems import problem
from tests.strategies import problems
from tests.twins.search import BruteForce, ConstraintSpec, ProblemSpec


@share(2)
@given(problems(), st.integers(1, 4), st.integers(0, 4))
def test_a_transformation_is_ruled_out_if_and_only_if_two_of_its_attributes_lose_too_many_records(
    spec: ProblemSpec, smallest: int, limit: int
) -> None:
    rollup = RollUp.of(problem(spec).table)
    spans = [range(each.lowest, each.lowest + len(each.levels)) for each in rollup.attributes]
    top = tuple(span[-1] for span in spans)
    lowest = alone(rollup, smallest, limit)
    ruled_out = list(in_pairs(rollup, smallest, limit))
    several = [place for place, each in enumerate(rollup.attributes) if each.size > 1]

    def lost(levels: tuple[int, ...], places: tuple[int, ...]) -> int:
        """Count the records in small classes of some attributes, whatever the values of the others."""
        keys = [
            tuple(int(rollup.attributes[i].at(levels[i]).ranks[rollup.base_values(i)[row]]) for i in places)
            for row in range(len(rollup.counts))
        ]
        sizes = dict.fromkeys(keys, 0)
        for key, records in zip(keys, rollup.counts.tolist(), strict=True):
            sizes[key] += records
        return sum(size for size in sizes.values() if size < smallest)

    for levels in product(*spans):
        for place, level in enumerate(levels):
            if level < top[place]:
                assert (level < lowest[place]) == (lost(levels, (place,)) > limit)
        below = any(all(map(le, levels, each)) for each in ruled_out)
        assert below == any(lost(levels, pair) > limit for pair in combinations(several, 2))
        assert rollup.in_small_classes(levels, smallest) == lost(levels, tuple(range(len(levels))))


@share(2)
@given(problems())
def test_the_optimum_is_found_with_pairs_of_attributes(spec: ProblemSpec) -> None:
    with pytest.MonkeyPatch.context() as patch:
        # However small the lattice is.
        patch.setattr(algorithm, "FEW", 0)
        outcome = Lattice().search(problem(spec), Control())
    valid = BruteForce(spec).valid()
    if not valid:
        assert outcome.status is Status.INFEASIBLE
        assert outcome.steps
        return
    assert outcome.optimal
    assert isclose(outcome.objective, min(each.objective for each in valid), rel_tol=1e-9, abs_tol=1e-9)


@share(2)
@given(problems())
def test_the_optimum_is_found_from_the_coarsest_on(spec: ProblemSpec) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(algorithm, "RECENTLY", 1)
        patch.setattr(algorithm, "SETTLED", 2)
        patch.setattr(algorithm, "FEW", 1)
        outcome = Lattice().search(problem(spec), Control())
    valid = BruteForce(spec).valid()
    if not valid:
        assert outcome.status is Status.INFEASIBLE
        return
    assert outcome.optimal
    assert isclose(outcome.objective, min(each.objective for each in valid), rel_tol=1e-9, abs_tol=1e-9)


@share(2)
@given(random=strategies.randoms())
def test_where_sizes_decide_the_search_ends_as_it_does_without_pairs(random: Random) -> None:
    data, k = strategies.table(random, most=60, nodes=200), random.randint(2, 5)
    constraints = [ConstraintSpec("k-anonymity", {"k": k})]
    if random.random() < 0.4:
        constraints.append(ConstraintSpec("l-diversity", {"l": 2}, data.sensitive[0].name))
    asked = problem(ProblemSpec(data, tuple(constraints), limit=random.choice((0, 0, 1, k)), k=k))
    plain = Lattice().search(asked, Control())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(algorithm, "FEW", 0)
        found = Lattice().search(asked, Control())
    assert (found.status, found.optimal) == (plain.status, plain.optimal)
    if plain.objective is not None:
        assert isclose(found.objective, plain.objective, rel_tol=1e-12, abs_tol=1e-12)
        assert isclose(found.bound, plain.bound, rel_tol=1e-12, abs_tol=1e-12)
