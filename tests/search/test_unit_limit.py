"""Searches whose limit counts persons who lose a record, against sets of persons."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.model.recoding import Status
from anonymizer.search.base import Control, UnitLimit
from anonymizer.search.judge import Judge
from anonymizer.search.lattice import algorithm, frontier
from anonymizer.search.lattice.algorithm import Lattice
from anonymizer.search.mondrian.algorithm import LabelName, Mondrian, MondrianSettings
from anonymizer.search.rollup import RollUp
from tests import strategies
from tests.helpers import build
from tests.helpers.examples import COSTLY, costly, quickly, share
from tests.helpers.problems import problem, with_a_value
from tests.search.test_lattice import same
from tests.search.test_local import small
from tests.search.test_microaggregation_models import spec_of
from tests.search.test_units import PARTS, check_local, check_optimum, check_valid
from tests.twins.microdata import Microdata, QuasiIdentifierSpec, SensitiveSpec
from tests.twins.privacy import CLASS_TWINS
from tests.twins.search import BruteForce, ConstraintSpec, ProblemSpec

MODELS = (
    "k-anonymity",
    "l-diversity",
    "entropy-l-diversity",
    "t-closeness",
    "basic-beta-likeness",
    "enhanced-beta-likeness",
    "delta-disclosure",
)


def drawn(random: Random) -> ProblemSpec:
    spec = strategies.problem(random)
    if random.random() < 0.5:
        names = [random.choice(MODELS) for _ in range(random.randint(1, 2))]
        spec = replace(
            spec, constraints=tuple(strategies.constraint(random, spec.data, own) for own in names)
        )
    return replace(strategies.with_lost_persons(random, spec), whole=random.random() < 0.5)


@st.composite
def problems(draw: st.DrawFn) -> ProblemSpec:
    return drawn(draw(strategies.randoms()))


@st.composite
def linked_problems(draw: st.DrawFn) -> ProblemSpec:
    """Return problems of releases with pseudonyms, with constraints on classes alone."""
    spec = drawn(draw(strategies.randoms()))
    own = tuple(each for each in spec.constraints if each.model in CLASS_TWINS)
    own = own or (ConstraintSpec("k-anonymity", {"k": 2}, unit="person"),)
    return replace(spec, constraints=own, whole=True, linked=True, keep_rows=False)


@given(st.one_of(problems(), problems(), linked_problems()))
def test_the_lattice_finds_the_optimum_of_an_exhaustive_search(spec: ProblemSpec) -> None:
    check_optimum(spec)


@share(2)
@given(problems(), st.integers(1, 12))
def test_the_bound_of_a_search_that_ends_early_is_not_above_the_optimum(
    spec: ProblemSpec, steps: int
) -> None:
    """Taken for large, a small lattice is annealed, and bounded by groups of attributes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frontier, "LARGEST_BOX", 3)
        patch.setattr(algorithm, "EFFORT", ())
        patch.setattr(algorithm, "GROUPS", ((0, 4), (1, 16)))
        outcome = Lattice().search(problem(spec), Control(steps=steps))
    brute = BruteForce(spec)
    best = min((result.objective for result in brute.valid()), default=inf)
    assert outcome.bound is None or outcome.bound <= best + 1e-9 * max(1.0, abs(best) if best < inf else 1.0)
    if outcome.status is Status.INFEASIBLE:
        assert best == inf
    if outcome.recoding is not None:
        found = brute.evaluate(outcome.recoding.levels)
        assert found is not None
        assert same(found.objective, outcome.objective)


@share(2)
@given(problems())
def test_what_excludes_finer_transformations_is_true(spec: ProblemSpec) -> None:
    asked, brute = problem(spec), BruteForce(spec)
    judge, rolled = Judge(asked), RollUp.of(asked.table)
    valid = [each.levels for each in brute.valid()]
    for levels in brute.nodes():
        if judge.judge(rolled.classes(levels)).excludes_finer:
            assert not [own for own in valid if all(low <= at for low, at in zip(own, levels, strict=True))]


@share(2)
@given(problems())
def test_the_limit_in_records_excludes_no_release(spec: ProblemSpec) -> None:
    asked = problem(spec)
    assert all(len(each.suppressed) <= asked.limit for each in BruteForce(spec).valid())


@pytest.mark.parametrize("name", PARTS)
@costly(2)
@given(strategies.randoms())
def test_what_divides_rows_loses_no_more_persons(name: str, random: Random) -> None:
    spec = strategies.problem(random)
    if name == "microaggregation":
        spec = spec_of(random, [own.model for own in spec.constraints], 40)
    spec = strategies.with_lost_persons(random, spec)
    spec = with_a_value(spec)
    outcome = PARTS[name].search(problem(spec, divided=True), Control(steps=8))
    if outcome.status is Status.INFEASIBLE:
        assert not BruteForce(spec).valid()
    if outcome.status is Status.SATISFIED:
        check_valid(outcome, spec)


@pytest.mark.parametrize("labels", LabelName)
@costly(2)
@given(problems(), st.sampled_from(("loss", "ncp")))
def test_mondrian_loses_no_more_persons(labels: LabelName, spec: ProblemSpec, metric: str) -> None:
    spec = replace(spec, metric=metric)
    asked = problem(spec)
    outcome = Mondrian(MondrianSettings(labels=labels)).search(asked, Control())
    if outcome.recoding is None:
        assert not BruteForce(spec).valid() or outcome.status is Status.UNDECIDED
        return
    _, row_of = build.table_and_rows(spec.data, whole=spec.whole)
    suppressed = np.flatnonzero(outcome.recoding.suppressed[row_of])
    assert not BruteForce(spec).exceeds_limit(suppressed.tolist())


@pytest.mark.slow
@pytest.mark.parametrize("exactly", [True, False])
@quickly(COSTLY, 25)
@given(seed=st.integers(0, 2**32))
def test_local_recoding_against_all_partitions(seed: int, exactly: bool) -> None:
    random = Random(seed)
    spec = strategies.with_lost_persons(random, small(random, 8))
    check_local(spec, exactly=exactly)


def two_in_one() -> Microdata:
    """Return three classes: A of four records of one person, B of two persons, C of three."""
    own = QuasiIdentifierSpec("q", {label: (label, "*") for label in "ABC"}, False, 1.0, 0, 0)
    records = tuple((label, "x") for label in "AAAABBCCC")
    return Microdata((own,), (SensitiveSpec("s", None, False),), records, (0, 0, 0, 0, 1, 2, 3, 4, 5))


@pytest.mark.parametrize(
    ("k", "lost", "valid"), [(2, 1, True), (2, 0, False), (3, 3, True), (3, 2, False), (1, 0, True)]
)
def test_persons_are_counted_once(k: int, lost: int, valid: bool) -> None:
    constraint = ConstraintSpec("k-anonymity", {"k": k}, unit="person")
    asked = problem(ProblemSpec(two_in_one(), (constraint,), lost=lost))
    verdict = Judge(asked).judge(RollUp.of(asked.table).classes((0,)))
    assert verdict.valid == valid
    assert verdict.units_lost == {1: 0, 2: 1, 3: 3}[k]


def test_a_person_who_is_lost_in_part_is_lost() -> None:
    """The person of A has a record in C, which stays."""
    data = replace(two_in_one(), persons=(3, 3, 3, 3, 1, 2, 3, 4, 5))
    asked = problem(ProblemSpec(data, (ConstraintSpec("k-anonymity", {"k": 2}, unit="person"),), lost=0))
    verdict = Judge(asked).judge(RollUp.of(asked.table).classes((0,)))
    assert (verdict.suppressed, verdict.units_lost, verdict.failed) == (4, 1, ("suppression.limit",))


def test_the_most_records_of_so_many_units() -> None:
    limit = UnitLimit.of_records("person", lambda units: units // 2, np.array([4, 4, 4, 0, 0, -1, -1, 7]))
    assert (limit.number, limit.most) == (5, 2)
    assert [limit.records(units) for units in range(7)] == [0, 3, 5, 6, 7, 8, 8]
