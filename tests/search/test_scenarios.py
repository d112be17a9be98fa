"""Searches against several adversaries, each of whom knows some of the quasi-identifiers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.model.recoding import Recoding, Status
from anonymizer.privacy.base import ClassConstraint, Merging
from anonymizer.search.base import Control, SearchAlgorithm
from anonymizer.search.judge import refuted_as_one_class
from anonymizer.search.lattice.algorithm import Lattice
from anonymizer.search.local.algorithm import Local
from anonymizer.search.local.bound import best_possible
from anonymizer.search.mondrian.algorithm import Mondrian
from tests import strategies
from tests.helpers import build
from tests.helpers.examples import costly, share
from tests.helpers.problems import constraint, problem
from tests.search.test_lattice import records_of, same, texts_of
from tests.twins.microdata import Microdata, QuasiIdentifierSpec
from tests.twins.scenarios import KnownBruteForce
from tests.twins.search import ConstraintSpec, ProblemSpec


@st.composite
def problems(draw: st.DrawFn, persons: float = 0.3) -> ProblemSpec:
    random = draw(strategies.randoms())
    spec = strategies.problem(random)
    if random.random() < persons:
        who = random.choice((strategies.with_persons, strategies.with_lost_persons))
        spec = replace(who(random, spec), whole=random.random() < 0.5)
    return strategies.with_knowledge(random, spec)


@given(problems())
def test_the_lattice_finds_the_optimum_of_an_exhaustive_search(spec: ProblemSpec) -> None:
    outcome = Lattice().search(problem(spec), Control())
    brute = KnownBruteForce(spec)
    valid = brute.valid()
    if not valid:
        assert outcome.status is Status.INFEASIBLE
        return
    assert outcome.status is Status.SATISFIED
    assert outcome.optimal
    assert same(outcome.objective, min(result.objective for result in valid))
    at_levels = brute.evaluate(outcome.recoding.levels)
    assert at_levels is not None
    assert same(at_levels.objective, outcome.objective)
    table = outcome.recoding.table
    assert records_of(table, outcome.recoding.suppressed) == texts_of(spec.data, at_levels.suppressed)


@costly(2)
@given(problems())
def test_any_of_columns_is_every_set_of_them(spec: ProblemSpec) -> None:
    apart = tuple(
        replace(own, knowledge=known and (known,))
        for own in spec.constraints
        for known in own.knowledge or (None,)
    )
    together = Lattice().search(problem(spec), Control())
    separate = Lattice().search(problem(replace(spec, constraints=apart)), Control())
    assert together.status is separate.status
    assert together.objective == separate.objective
    if together.recoding is not None:
        assert together.recoding.levels == separate.recoding.levels


@pytest.mark.parametrize("algorithm", [Mondrian(), Local()], ids=["mondrian", "local"])
@share(4)
@given(problems(persons=0))
def test_others_satisfy_every_adversary_and_prove_only_what_one_class_does(
    algorithm: SearchAlgorithm, spec: ProblemSpec
) -> None:
    lasting = tuple(each for each in spec.constraints if _lasts(each, spec.data))
    spec = replace(spec, constraints=lasting, metric="loss", aggregate="arithmetic-mean")
    asked = problem(spec)
    outcome = algorithm.search(asked, Control(steps=20))
    if asked.has_scenarios:
        assert outcome.bound is None
        assert outcome.best_possible is None
    if outcome.status is Status.INFEASIBLE:
        assert refuted_as_one_class(asked) or not asked.has_scenarios
        assert not KnownBruteForce(spec).valid()
    if outcome.recoding is None:
        return
    row_of, recoding = _parts_of(spec.data, outcome.recoding), outcome.recoding
    cells = [[each.labels[each.codes[row]] for each in recoding.published()] for row in row_of]
    stays = [record for record, row in enumerate(row_of) if not recoding.removed[row]]
    reference = stays if spec.moving_reference else list(range(len(row_of)))
    assert not list(KnownBruteForce(spec).failing(cells, stays, reference))


@given(problems())
def test_best_possible_is_never_above_a_release(spec: ProblemSpec) -> None:
    spec = replace(spec, metric="loss", aggregate="arithmetic-mean")
    valid = KnownBruteForce(spec).valid()
    possible = best_possible(problem(spec))
    if valid and possible is not None:
        assert possible <= min(result.objective for result in valid) + 1e-9


@share(2)
@given(problems(persons=0))
def test_best_possible_is_never_above_a_local_recoding(spec: ProblemSpec) -> None:
    lasting = tuple(each for each in spec.constraints if _lasts(each, spec.data))
    spec = replace(spec, constraints=lasting, metric="loss", aggregate="arithmetic-mean")
    possible = best_possible(problem(spec))
    found = Local().search(problem(spec), Control(steps=20)).objective
    if found is not None and possible is not None:
        assert possible <= found + 1e-9


def test_one_who_knows_few_columns_is_bounded_by_these() -> None:
    """Two of the three columns are known, with weights 1 and 2 of 4; without a limit all are generalized."""
    tree = {value: (value, "*") for value in "abcd"}
    own = tuple(
        QuasiIdentifierSpec(name, tree, weight=weight, maximum=1)
        for name, weight in (("p", 1), ("q", 2), ("r", 1))
    )
    data = Microdata(own, (), tuple((value, value, value) for value in "abcd"))
    known = ConstraintSpec("k-anonymity", {"k": 2}, knowledge=(frozenset({0, 1}),))
    asked = ProblemSpec(data, (known,), metric="loss")
    assert best_possible(problem(asked)) == pytest.approx(3 / 4)
    assert Lattice().search(problem(asked), Control()).objective == pytest.approx(3 / 4)


def _lasts(spec: ConstraintSpec, data: Microdata) -> bool:
    own = constraint(spec, data)
    return isinstance(own, ClassConstraint) and own.merging is not Merging.NONE


def _parts_of(data: Microdata, recoding: Recoding) -> list[int]:
    """Return the row of the recoding's table for each record; those of a distinct row in order."""
    _, row_of = build.table_and_rows(data)
    if recoding.owner is None:
        return [int(row) for row in row_of]
    parts = [part for part, count in enumerate(recoding.table.counts) for _ in range(count)]
    order = sorted(range(len(row_of)), key=lambda record: int(row_of[record]))
    part_of = dict(zip(order, parts, strict=True))
    return [part_of[record] for record in range(len(order))]
