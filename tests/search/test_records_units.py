"""The fewest records where constraints count persons, beside a search through all choices of records."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import isclose
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ortools.math_opt.python import mathopt

from anonymizer.model.features import SuppressionMethod
from anonymizer.model.recoding import Outcome, Status
from anonymizer.privacy.base import CountConditions, Distinct, Dominance
from anonymizer.search.base import Control, SearchAlgorithm, SearchProblem
from anonymizer.search.judge import CandidateVerdict, Judge
from anonymizer.search.lattice.algorithm import Lattice
from anonymizer.search.mondrian.algorithm import Mondrian
from anonymizer.search.rollup import RollUp
from anonymizer.search.suppression.records import ClassProblem, View, solve
from anonymizer.search.suppression.suppressor import holding, references_of
from tests import strategies
from tests.helpers import build
from tests.helpers.examples import costly, share
from tests.helpers.problems import problem
from tests.twins.microdata import Microdata, QuasiIdentifierSpec, SensitiveSpec
from tests.twins.records import RecordsBruteForce, fewest_under_release, most_that_stay, plain
from tests.twins.search import BruteForce, ConstraintSpec, ProblemSpec

SEEDS = st.integers(0, 2**32)
MODELS = [name for name in strategies.RETAINING if name != "k-anonymity"]
BESIDE = ("k-anonymity", "l-diversity", "alpha-k-anonymity", "entropy-l-diversity", "t-closeness")


def of_persons(random: Random, spec: ProblemSpec) -> ProblemSpec:
    """Return the problem with persons whom the first constraint counts; most have several values."""
    spec = strategies.with_persons(random, spec)
    first = replace(spec.constraints[0], unit="person")
    return replace(spec, constraints=(first, *spec.constraints[1:]))


def asked(spec: ProblemSpec) -> SearchProblem:
    """Return what the search is asked."""
    return replace(problem(spec, divided=True), suppression=SuppressionMethod.RECORDS)


def verdict_at(spec: ProblemSpec, levels: tuple[int, ...], *, raised: bool = False) -> CandidateVerdict:
    """Return what becomes of a node, after the exact models were asked about what stays.

    Parameters
    ----------
    raised: whether its classes are counted from a table rolled up to its levels.
    """
    own = asked(spec)
    rollup = RollUp.of(own.table, divided=True)
    classes = (rollup.raised(levels) if raised else rollup).classes(levels)
    verdict = Judge(own).judge(classes)
    left, _ = classes.part(classes.counts - verdict.gone)
    if left.number:
        names = own.table.sensitive_names
        staying = references_of(left if spec.moving_reference else classes, names)
        assert holding(own.class_constraints, left, staying).all()
    return verdict


def check(spec: ProblemSpec, random: Random) -> None:
    """Every node suppresses as few records as can be, and proves it."""
    brute, everyone = BruteForce(spec), list(range(len(spec.data.records)))
    for levels in brute.nodes():
        staying = [most_that_stay(brute, rows, everyone) for rows in brute.classes(levels)]
        verdict = verdict_at(spec, levels, raised=random.random() < 0.5)
        assert verdict.suppressed == verdict.least == len(everyone) - sum(staying)
        assert sorted(verdict.sizes.tolist()) == sorted(staying)
        assert verdict.losses.sum() <= verdict.suppressed


def small(random: Random, most: int, names: list[str]) -> ProblemSpec:
    """Return a problem of few records under the p of the input, of which all may be suppressed."""
    data = strategies.table(random, most=most, nodes=6)
    constraints = tuple(strategies.constraint(random, data, name) for name in names)
    return of_persons(random, ProblemSpec(data, constraints, limit=len(data.records)))


@pytest.mark.parametrize("model", MODELS)
@share(8)
@given(seed=SEEDS)
def test_every_model_loses_as_few_records_as_can_be(model: str, seed: int) -> None:
    random = Random(seed)
    check(small(random, 12, [model]), random)


@pytest.mark.slow
@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("model", MODELS)
@share(32)
@given(seed=SEEDS)
def test_pairs_of_models_lose_as_few_records_as_can_be(model: str, beside: str, seed: int) -> None:
    """One of them may count records."""
    random = Random(seed)
    check(small(random, 10, [model, beside]), random)


def search(spec: ProblemSpec, algorithm: SearchAlgorithm) -> tuple[Outcome, SearchProblem]:
    """Return the answer, after what it releases was judged by sets of persons."""
    own = asked(spec)
    outcome = algorithm.search(own, Control())
    if outcome.recoding is not None:
        recoding = outcome.recoding
        assert recoding.table.counts[recoding.suppressed].sum() <= own.limit
    return outcome, own


def check_release(spec: ProblemSpec, outcome: Outcome) -> None:
    """Judge what a full-domain recoding releases by sets of persons."""
    recoding = outcome.recoding
    assert recoding is not None
    row_of = build.divided_rows(spec.data).of_record
    owners = np.arange(len(recoding.suppressed)) if recoding.owner is None else recoding.owner
    stays = np.bincount(
        owners, weights=recoding.table.counts * ~recoding.suppressed, minlength=row_of.max() + 1
    ).tolist()
    released = []
    for record, row in enumerate(row_of.tolist()):
        if stays[row] > 0:
            stays[row] -= 1
            released.append(record)
    brute = BruteForce(spec)
    reference = released if spec.moving_reference else list(range(len(row_of)))
    classes = [[row for row in rows if row in released] for rows in brute.classes(recoding.levels)]
    assert all(brute.holds(rows, reference) for rows in classes if rows)


@costly()
@given(seed=SEEDS)
def test_the_best_of_all_nodes_is_found_and_proven(seed: int) -> None:
    random = Random(seed)
    spec = strategies.problem(random)
    while len(spec.data.records) > 14 or not plain(spec).constraints:
        spec = strategies.problem(random)
    spec = of_persons(random, plain(spec))
    outcome, _ = search(spec, Lattice())
    valid = RecordsBruteForce(spec).valid()
    if not valid:
        assert outcome.status is Status.INFEASIBLE
        return
    assert outcome.status is Status.SATISFIED
    assert outcome.optimal
    best = min(result.objective for result in valid)
    assert isclose(outcome.objective, best, rel_tol=1e-9, abs_tol=1e-9)
    check_release(spec, outcome)


def illnesses(rows: list[tuple[str, str, int]], *constraints: ConstraintSpec) -> ProblemSpec:
    """Return a problem of rows with a place, which is published as it is, an illness and a person."""
    own = QuasiIdentifierSpec("q", {"A": ("A", "*"), "B": ("B", "*")}, maximum=0)
    illness = SensitiveSpec("s", {each: (each, "*") for each in ("asthma", "cancer", "flu")})
    persons = tuple(row[2] for row in rows)
    data = Microdata((own,), (illness,), tuple(row[:2] for row in rows), persons=persons)
    return ProblemSpec(data, constraints, limit=len(rows))


def test_the_persons_with_the_fewest_records_lose_the_cancer() -> None:
    """Cancer may have 2 of 10: of those with 3, 2, 1 and 1 records of it, the last two lose theirs."""
    rows = [("A", "flu", person) for person in range(10)]
    rows += [("A", "cancer", person) for person in (0, 0, 0, 1, 1, 2, 3)]
    own = ConstraintSpec("basic-beta-likeness", {"beta": 1}, "s", unit="person")
    spec = illnesses([*rows, *(("B", "flu", person) for person in range(10, 40))], own)
    verdict = verdict_at(spec, (0,))
    assert verdict.found.of_classes.tolist() == [2, 0]
    assert verdict.settled
    table = asked(spec).table
    classes = RollUp.of(table, divided=True).classes((0,))
    gone = verdict.gone > 0
    assert sorted(classes.measure.keys(["person"]).by_name["person"][gone].tolist()) == [2, 3]
    assert classes.part(classes.counts - verdict.gone)[0].sizes_in("person").tolist() == [10, 30]


def test_where_records_count_too_a_person_keeps_some_of_a_value() -> None:
    """At most 0.6 of the records may be cancer: of three, two go, and the person still has both illnesses."""
    rows = [("A", "flu", 0), *[("A", "cancer", 0)] * 3]
    limits = {"alpha": 0.6, "k": 1}
    own = ConstraintSpec("alpha-k-anonymity", {"alpha": 1, "k": 1}, "s", unit="person")
    verdict = verdict_at(illnesses(rows, own, ConstraintSpec("alpha-k-anonymity", limits, "s")), (0,))
    assert (verdict.suppressed, verdict.least) == (2, 2)


EVEN = (
    ConstraintSpec("entropy-l-diversity", {"l": 3}, "s", unit="person"),
    ConstraintSpec("alpha-k-anonymity", {"alpha": 0.6, "k": 2}, "s", unit="person"),
)
"""Three equal counts; of which HiGHS lost the larger where sums were continuous variables."""

UNEVEN = [("cancer", 3), ("flu", 4), ("flu", 4), ("cancer", 4), ("flu", 2), ("asthma", 4)]


def test_the_larger_of_two_even_choices_stays() -> None:
    verdict = verdict_at(illnesses([("A", *row) for row in UNEVEN], *EVEN), (0,))
    assert (verdict.suppressed, verdict.least) == (2, 2)


def test_the_programme_keeps_what_the_presolve_of_highs_lost() -> None:
    """Three times the others bound each of three counts: eight of ten records stay; HiGHS proved two."""
    rule = CountConditions(distinct=(Distinct(1),), dominances=(Dominance(Fraction(3), 1),))
    counts, one = np.array([1, 1, 1, 1, 2, 1, 1, 2]), np.ones(8, dtype=np.int64)
    unit, value = np.array([1, -1, -1, 2, -1, 1, 2, -1]), np.array([0, 0, 2, 0, 0, 1, 1, 2])
    own = View(rule, np.zeros(8, dtype=np.int64), value, unit, one)
    solution = solve(ClassProblem(counts, (own,), 1, 8, steps=one), lambda kept: True)
    assert solution.most == solution.kept.sum() == 8


def test_an_error_of_the_solver_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = mathopt.solve

    def fail(model: Any, solver: Any, **options: Any) -> Any:
        if solver is mathopt.SolverType.HIGHS:
            raise RuntimeError("HighsStatus: kError")
        return usual(model, solver, **options)

    spec = illnesses([("A", *row) for row in UNEVEN], *EVEN)
    monkeypatch.setattr(mathopt, "solve", fail)
    verdict = verdict_at(spec, (0,))
    assert verdict.least <= 2 < verdict.suppressed
    assert not verdict.settled


@pytest.mark.parametrize("moving", [False, True])
@costly(2)
@given(seed=SEEDS)
def test_every_class_of_mondrian_satisfies_the_models(moving: bool, seed: int) -> None:
    random = Random(seed)
    data = strategies.table(random)
    names = [random.choice(MODELS), random.choice(BESIDE)]
    constraints = tuple(strategies.constraint(random, data, name) for name in names)
    limit = random.choice((0, len(data.records) // 4, len(data.records) - 1))
    spec = of_persons(random, ProblemSpec(data, constraints, limit=limit, moving_reference=moving))
    outcome, own = search(spec, Mondrian())
    if outcome.recoding is None:
        return
    recoding = outcome.recoding
    row_of, columns = build.divided_rows(spec.data).of_record, recoding.published()
    owners = np.arange(len(recoding.suppressed)) if recoding.owner is None else recoding.owner
    stays = np.where(recoding.suppressed, 0, recoding.table.counts)
    parts = [np.flatnonzero((owners == row) & (stays > 0)).tolist() for row in range(own.table.combinations)]
    classes: dict[tuple[int, ...], list[int]] = {}
    for record, row in enumerate(row_of.tolist()):
        if parts[row]:
            part = parts[row][0]
            classes.setdefault(tuple(int(each.codes[part]) for each in columns), []).append(record)
            stays[part] -= 1
            if not stays[part]:
                parts[row].pop(0)
    released = sorted(record for rows in classes.values() for record in rows)
    assert len(row_of) - len(released) <= limit
    brute = BruteForce(spec)
    reference = released if moving else list(range(len(row_of)))
    assert all(brute.holds(rows, reference) for rows in classes.values())


@pytest.mark.parametrize("model", sorted(set(strategies.REFERENCED)))
@share(8)
@given(seed=SEEDS)
def test_under_the_p_of_the_release_no_bound_is_too_high(model: str, seed: int) -> None:
    random = Random(seed)
    data = strategies.table(random, most=8, nodes=6)
    names = [model, random.choice(BESIDE)] if random.random() < 0.5 else [model]
    constraints = tuple(strategies.constraint(random, data, name) for name in names)
    limit = random.choice((1, 2, 4, len(data.records) - 1))
    spec = of_persons(random, ProblemSpec(data, constraints, limit=limit, moving_reference=True))
    brute, possible = BruteForce(spec), False
    for levels in brute.nodes():
        fewest = fewest_under_release(brute, brute.classes(levels), limit)
        verdict = verdict_at(spec, levels)
        assert fewest is not None or not verdict.valid
        assert fewest is None or verdict.least <= fewest <= verdict.suppressed
        assert not verdict.settled or verdict.valid is (fewest is not None)
        assert fewest is None or verdict.losses.sum() <= fewest
        possible |= fewest is not None
    outcome, _ = search(spec, Lattice())
    if not possible:
        assert outcome.recoding is None
    if outcome.status is Status.INFEASIBLE:
        assert not possible
    if outcome.recoding is not None:
        check_release(spec, outcome)
