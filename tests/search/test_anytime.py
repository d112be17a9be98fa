"""Lattices too large to explore: a release from the first second, and a gap that is always true."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import chain
from math import isclose
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import InputError
from anonymizer.model.classes import released
from anonymizer.model.features import SuppressionMethod
from anonymizer.model.recoding import Outcome, Recoding, Status
from anonymizer.model.table import Table
from anonymizer.search.base import AttackCheck, Control, projection
from anonymizer.search.judge import Judge
from anonymizer.search.lattice import algorithm, frontier
from anonymizer.search.lattice.algorithm import Annealing, Lattice, groups_of, useful_levels
from anonymizer.search.rollup import RollUp
from anonymizer.testing.search import check_release, check_rows
from tests import strategies
from tests.helpers.examples import costly
from tests.helpers.problems import problem
from tests.helpers.slow import slow_but
from tests.strategies import problems
from tests.twins.microdata import Microdata, SensitiveSpec
from tests.twins.search import BruteForce, ConstraintSpec, ProblemSpec


@pytest.fixture
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take even small lattices for large ones: many boxes, several passes of groups, short cycles."""
    monkeypatch.setattr(frontier, "LARGEST_BOX", 3)
    monkeypatch.setattr(algorithm, "EFFORT", ())
    monkeypatch.setattr(algorithm, "GROUPS", ((1, 2), (2, 12)))
    monkeypatch.setattr(algorithm, "FIRST_CYCLE", 8)


def tops(data: Microdata) -> tuple[int, ...]:
    return tuple(own.maximum for own in data.quasi_identifiers)


def check(spec: ProblemSpec, outcome: Outcome, optimum: float) -> None:
    """Check what a search with a budget says beside the true optimum, infinite without a valid node."""
    if outcome.recoding is None:
        assert BruteForce(spec).evaluate(tops(spec.data)) is None
        assert outcome.status is not Status.SATISFIED
        if outcome.status is Status.INFEASIBLE:
            assert optimum == np.inf
        return
    result = BruteForce(spec).evaluate(outcome.recoding.levels)
    assert result is not None
    assert isclose(result.objective, outcome.objective, rel_tol=1e-9, abs_tol=1e-9)
    if outcome.bound is not None:
        assert outcome.bound <= optimum + 1e-9 * max(1, abs(optimum))
    if outcome.optimal:
        assert isclose(outcome.objective, optimum, rel_tol=1e-9, abs_tol=1e-9)


class Clock(Control):
    """A budget of time that ends at some look at the clock."""

    looks = 0

    def exhausted(self, evaluated: int, steps: int) -> bool:
        """Return whether the time is over."""
        self.looks -= 1
        return self.looks < 0 or super().exhausted(evaluated, steps)


@pytest.mark.slow
@pytest.mark.usefixtures("_small_parts")
@costly()
@given(spec=problems(), looks=st.integers(1, 80))
def test_the_gap_is_never_below_the_truth(spec: ProblemSpec, looks: int) -> None:
    optimum = min((result.objective for result in BruteForce(spec).valid()), default=np.inf)
    asked = problem(spec)
    clock = Clock(seconds=1e9)
    clock.looks = looks
    with pytest.MonkeyPatch.context() as patch:
        # The searches of groups look at the same clock.
        patch.setattr(frontier.LatticeRun, "_left", lambda own: own._control)
        part = Lattice().search(asked, clock)
    check(spec, part, optimum)
    again = Lattice().search(asked, Control(steps=len(part.steps)))
    assert (again.steps, again.objective, again.bound) == (part.steps, part.objective, part.bound)
    few = Lattice().search(asked, Control(nodes=looks))
    check(spec, few, optimum)
    whole = Lattice().search(asked, Control())
    check(spec, whole, optimum)
    assert whole.optimal or whole.status is Status.INFEASIBLE


def wide(random: Random) -> ProblemSpec:
    """Return a problem on 10 to 40 quasi-identifiers, its other properties as of any random problem."""
    spec = strategies.problem(random)
    own = [
        strategies.quasi_identifier(random, i, random.randint(1, 3)) for i in range(random.randint(10, 40))
    ]
    own[0] = replace(own[0], weight=1.0)
    records = random.choice((20, 60, 200))
    columns = [strategies._cells(random, list(each.paths), records) for each in (*own, *spec.data.sensitive)]
    data = Microdata(tuple(own), spec.data.sensitive, tuple(zip(*columns, strict=True)))
    return replace(spec, data=data, limit=random.choice((0, 0.05, 0.5)) * records // 1)


class RefusingAllBut(AttackCheck):
    """An attack that succeeds on every transformation but one."""

    open = False

    def __init__(self, levels: tuple[int, ...]) -> None:
        super().__init__()
        self._levels = levels

    def first_violated(self, table: Table, recoding: Recoding) -> tuple[str, ...]:
        return () if recoding.levels == self._levels else ("refused",)

    def estimate(self, recoding: Recoding) -> None:
        return None


def check_wide(seed: int, method: SuppressionMethod, control: Control) -> bool:
    """Check that a wide problem has a release if its most general transformation is valid; return whether."""
    random = Random(seed)
    spec = wide(random)
    spec = replace(spec, limit=int(spec.limit))
    asked = replace(problem(spec), suppression=method)
    valid = BruteForce(spec).evaluate(tops(spec.data)) is not None
    outcome = Lattice().search(asked, control)
    if outcome.recoding is None:
        assert not valid, seed
        return False
    assert outcome.status is Status.SATISFIED
    check_rows(Lattice(), asked.table, outcome.recoding)
    check_release(Lattice(), asked, outcome.recoding)
    assert isclose(asked.metric.value(released(outcome.recoding, asked.k)), outcome.objective, rel_tol=1e-9)
    assert outcome.bound is None or outcome.bound <= outcome.objective
    return valid


@pytest.mark.quick(2)
@pytest.mark.parametrize("seed", slow_but(4, range(12)))
def test_many_columns_have_a_release_where_the_most_general_one_is_valid(seed: int) -> None:
    check_wide(seed, SuppressionMethod.CLASSES, Control(steps=30))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_suppressed_records_and_cells_have_one_too(seed: int) -> None:
    check_wide(seed, SuppressionMethod.RECORDS, Control(steps=20))
    with suppress(InputError):  # some metrics have no value for suppressed cells
        check_wide(seed, SuppressionMethod.CELLS, Control(steps=20))


def test_an_attack_check_lets_the_most_general_one_pass_first() -> None:
    spec = replace(wide(Random(1)), constraints=(), limit=0)
    asked = replace(problem(spec), gate=RefusingAllBut(tops(spec.data)))
    outcome = Lattice().search(asked, Control(steps=40))
    assert outcome.recoding.levels == tops(spec.data)


@pytest.mark.slow
def test_tables_of_many_columns_have_one(monkeypatch: pytest.MonkeyPatch) -> None:
    # Whatever annealing finds, a release is found; long cycles would take most of the time.
    monkeypatch.setattr(algorithm, "FIRST_CYCLE", 24)
    valid = [check_wide(seed, SuppressionMethod.CLASSES, Control(steps=60)) for seed in range(1000, 1025)]
    assert sum(valid) > 9


def many_columns(width: int, name: str) -> ProblemSpec:
    """Return a problem of k = 2 whose most general transformation is valid."""
    random = Random(width)
    own = [strategies.quasi_identifier(random, i, 1) for i in range(width)]
    own = [replace(each, weight=1.0, minimum=0, maximum=1) for each in own]
    values = [strategies._cells(random, list(each.paths), 60) for each in own]
    data = Microdata(tuple(own), (SensitiveSpec("s"),), tuple(zip(*values, ["a"] * 60, strict=True)))
    return ProblemSpec(data, (ConstraintSpec("k-anonymity", {"k": 2}),), metric=name)


@pytest.mark.parametrize("name", ["loss", "height"])
def test_more_columns_than_an_array_has_axes(name: str) -> None:
    outcome = Lattice().search(problem(many_columns(70, name)), Control(steps=60))
    assert outcome.status is Status.SATISFIED
    assert 0 < outcome.bound <= outcome.objective


@pytest.mark.slow
def test_more_columns_than_a_mask_has_axes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(algorithm, "IDLE", 0)
    monkeypatch.setattr(algorithm, "GROUPS", ())
    outcome = Lattice().search(problem(many_columns(40, "loss")), Control(steps=40))
    assert outcome.status is Status.SATISFIED
    # Boxes were opened.
    assert {"move": "anneal"} not in [step.candidate for step in outcome.steps]
    assert len(outcome.steps) == 40


@given(seed=st.integers(0, 2**32))
def test_estimated_sizes_are_those_of_the_classes_or_larger(seed: int) -> None:
    random = Random(seed)
    data = strategies.table(random)
    asked = problem(ProblemSpec(data, ()))
    walk = Annealing(asked, asked.metric.on_lattice(asked.table, None))
    levels = tuple(random.choice(useful_levels(own)) for own in asked.table.quasi_identifiers)
    walk.restart(levels)
    classes = RollUp.of(asked.table).classes(levels)
    sizes = classes.sizes[classes.class_of]
    estimated = walk._twice(walk._keys)
    assert (estimated >= sizes).all()
    # Two keys of 32 bits are hardly ever equal.
    assert (estimated == sizes).all()


@given(spec=problems(), random=strategies.randoms())
def test_a_projection_loses_for_certain_no_more_than_the_whole(spec: ProblemSpec, random: Random) -> None:
    asked = replace(problem(spec), limit=len(spec.data.records), keep_rows=True)
    width = len(asked.table.quasi_identifiers)
    places = sorted(random.sample(range(width), random.randint(1, width)))
    own = projection(asked, places)
    levels = [random.randint(each.minimum, each.maximum) for each in asked.table.quasi_identifiers]
    whole = Judge(asked).judge(RollUp.of(asked.table).classes(levels))
    part = Judge(own).judge(RollUp.of(own.table).classes([levels[place] for place in places]))
    assert part.certain <= whole.suppressed
    assert own.table.records == asked.table.records


@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("method", [SuppressionMethod.CLASSES, SuppressionMethod.RECORDS])
def test_models_whose_reference_single_records_move_bound_nothing_in_a_projection(
    moving: bool, method: SuppressionMethod
) -> None:
    """Whole classes that fail under p of the input never return, single records may."""
    spec = many_columns(4, "loss")
    close = ConstraintSpec("t-closeness", {"t": 0.2})
    spec = replace(spec, constraints=(*spec.constraints, close), moving_reference=moving)
    asked = replace(problem(spec), suppression=method)
    referring = any(each.model.uses_reference for each in asked.class_constraints)
    kept = any(each.model.uses_reference for each in projection(asked, (0, 1)).class_constraints)
    assert referring
    assert kept is (method is SuppressionMethod.CLASSES or not moving)


def test_groups_hold_every_attribute_once_and_few_transformations() -> None:
    attributes = problem(wide(Random(3))).table.quasi_identifiers
    for most in (1, 10, 1000):
        groups = groups_of(attributes, most)
        assert sorted(chain.from_iterable(groups)) == list(range(len(attributes)))
        for group in groups:
            sizes = [attributes[place].maximum - attributes[place].minimum + 1 for place in group]
            assert len(group) == 1 or np.prod(sizes) <= most
