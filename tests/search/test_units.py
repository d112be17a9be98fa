"""Searches whose constraints count persons, against sets of persons."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import ceil, inf
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.model.recoding import Outcome, Status
from anonymizer.privacy.base import ClassConstraint
from anonymizer.search.base import Control, SearchAlgorithm
from anonymizer.search.lattice.algorithm import Lattice
from anonymizer.search.local.algorithm import Exact, Local
from anonymizer.search.local.bound import best_possible
from anonymizer.search.microaggregation.algorithm import Microaggregation
from anonymizer.search.mondrian.algorithm import (
    Acceptance,
    LabelName,
    ModeName,
    Mondrian,
    MondrianSettings,
)
from tests import strategies
from tests.helpers import build
from tests.helpers.examples import COSTLY, costly, quickly, share
from tests.helpers.problems import problem, with_a_value
from tests.search.test_lattice import records_of, same, texts_of
from tests.search.test_local import small
from tests.search.test_microaggregation_models import spec_of
from tests.search.test_mondrian import decided_by_cuts, expected
from tests.search.test_mondrian import published as published_records
from tests.twins.local import TwinLocal
from tests.twins.microdata import Microdata, QuasiIdentifierSpec
from tests.twins.mondrian import TwinMondrian
from tests.twins.privacy import CLASS_TWINS
from tests.twins.search import BruteForce, ConstraintSpec, ProblemSpec


@st.composite
def problems(draw: st.DrawFn) -> ProblemSpec:
    random = draw(strategies.randoms())
    spec = strategies.with_persons(random, strategies.problem(random))
    return replace(spec, whole=random.random() < 0.5)


@st.composite
def linked_problems(draw: st.DrawFn) -> ProblemSpec:
    """Return problems of releases with pseudonyms, with constraints on classes alone."""
    random = draw(strategies.randoms())
    spec = strategies.with_persons(random, strategies.problem(random))
    own = tuple(each for each in spec.constraints if each.model in CLASS_TWINS)
    own = own or (ConstraintSpec("k-anonymity", {"k": 2}, unit="person"),)
    records = len(spec.data.records)
    limit = random.choice((spec.limit, records // 2, records - 1))
    return replace(spec, constraints=own, limit=limit, whole=True, linked=True, keep_rows=False)


def check_optimum(spec: ProblemSpec) -> None:
    """Check the lattice's answer and its proof against all transformations."""
    outcome = Lattice().search(problem(spec), Control())
    brute = BruteForce(spec)
    valid = brute.valid()
    if not valid:
        assert outcome.status is Status.INFEASIBLE
        return
    assert outcome.status is Status.SATISFIED
    assert outcome.optimal
    best = min(result.objective for result in valid)
    assert same(outcome.objective, best)
    assert outcome.bound <= best + 1e-9 * max(1.0, abs(best))
    at_levels = brute.evaluate(outcome.recoding.levels)
    assert at_levels is not None
    assert same(at_levels.objective, outcome.objective)
    table = outcome.recoding.table
    assert records_of(table, outcome.recoding.suppressed) == texts_of(spec.data, at_levels.suppressed)


@given(st.one_of(problems(), linked_problems()))
def test_the_lattice_finds_the_optimum_of_an_exhaustive_search(spec: ProblemSpec) -> None:
    check_optimum(spec)


@given(strategies.randoms())
def test_the_best_release_in_which_one_guess_finds_few_persons(random: Random) -> None:
    """A person is found by any record of the class in which most of the records are hers."""
    spec = strategies.with_persons(random, strategies.problem(random))
    most = random.choice((0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9))
    own = ConstraintSpec("vulnerability", {"max": most}, unit="person")
    others = [each for each in spec.constraints if each.model != "vulnerability"]
    chosen = others if random.random() < 0.4 else []
    check_optimum(replace(spec, constraints=(*chosen, own), whole=random.random() < 0.4))


def published(
    spec: ProblemSpec, algorithm: SearchAlgorithm
) -> tuple[BruteForce, list[list[int]], bool] | None:
    """Return the classes of a release by the rows of the data, and whether the suppressed ones stay."""
    asked = problem(spec)
    outcome = algorithm.search(asked, Control())
    if outcome.recoding is None:
        return None
    recoding = outcome.recoding
    _, row_of = build.table_and_rows(spec.data, whole=spec.whole)
    columns = recoding.published()
    found: dict[tuple[int, ...], list[int]] = {}
    for record, row in enumerate(row_of.tolist()):
        if not recoding.removed[row]:
            found.setdefault(tuple(int(each.codes[row]) for each in columns), []).append(record)
    kept = bool((recoding.suppressed & ~recoding.removed).any())
    return BruteForce(spec), list(found.values()), kept


@pytest.mark.parametrize("labels", LabelName)
@costly(2)
@given(problems(), st.sampled_from(("loss", "ncp")))
def test_every_class_of_mondrian_satisfies_the_models(
    labels: LabelName, spec: ProblemSpec, metric: str
) -> None:
    spec = replace(spec, metric=metric)
    found = published(spec, Mondrian(MondrianSettings(labels=labels)))
    if found is None:
        # Mondrian refuses only where the lattice has no release either.
        assert not BruteForce(spec).valid() or Mondrian().search(problem(spec), Control()).recoding is None
        return
    brute, classes, kept = found
    everyone = list(range(len(spec.data.records)))
    released = sorted(row for rows in classes for row in rows)
    reference = released if spec.moving_reference and not kept else everyone
    assert all(brute.holds(rows, reference) for rows in classes)
    assert brute.table_holds(classes)
    if not kept:
        assert len(everyone) - len(released) <= spec.limit
    if spec.whole and not kept:
        persons = {spec.data.persons[row] for row in released} - {None}
        assert all(spec.data.persons[row] not in persons for row in set(everyone) - set(released))


def many_values(random: Random, data: Microdata) -> Microdata:
    """Return a table with two long axes, so that the first and the last cuts with enough persons differ."""
    values = [strategies.domain(random, 20, numeric=True, missing=False), list(range(30))]
    own = [
        QuasiIdentifierSpec(f"q{i}", strategies.tree(random, each, 2), True, 1.0, 0, 2)
        for i, each in enumerate(values)
    ]
    secrets = [row[len(data.quasi_identifiers) :] for row in data.records] * 3
    records = tuple((*map(random.choice, values), *each) for each in secrets)
    return replace(data, quasi_identifiers=tuple(own), records=records)


def fewest_persons(spec: ProblemSpec, constraint: ClassConstraint) -> int:
    """Return how many persons a class needs: with at most m values each, l values need l / m of them."""
    if constraint.unit is None:
        return 1
    found: dict[object, set[object]] = {}
    if constraint.attribute is not None:
        names = [own.name for own in spec.data.sensitive]
        place = len(spec.data.quasi_identifiers) + names.index(constraint.attribute)
        for person, record in zip(spec.data.persons, spec.data.records, strict=True):
            found.setdefault(person, set()).add(record[place])
        found.pop(None, None)
        most = max(map(len, found.values()), default=1)
        return max(constraint.minimum_units, ceil(constraint.minimum_size / most))
    return constraint.minimum_units


@pytest.mark.parametrize("labels", LabelName)
@costly(2)
@given(strategies.randoms())
def test_mondrian_cuts_persons_as_the_twin_does(labels: LabelName, random: Random) -> None:
    """Both sides of a cut need k persons, wherever else these have records."""
    spec = decided_by_cuts(random)
    spec = replace(spec, data=many_values(random, spec.data)) if random.random() < 0.7 else spec
    own = ConstraintSpec("k-anonymity", {"k": random.randint(2, 6)}, unit="person")
    spec = strategies.with_persons(random, replace(spec, constraints=(own, *spec.constraints[:1])))
    asked = problem(spec)
    fewest = max(fewest_persons(spec, own) for own in asked.class_constraints)
    twin = TwinMondrian(spec, labels, asked.minimum_size, relaxed=False, fewest=fewest)
    with pytest.MonkeyPatch.context() as patch:
        # The twin takes no cut back that makes a class of several regions violate a model.
        patch.setattr(Acceptance, "together", False)
        outcome = Mondrian(MondrianSettings(labels=labels)).first(asked, Control())
    if all(twin.holds(region) for region in twin.start()):
        assert published_records(outcome) == expected(twin, twin.run())


def tripled(spec: ProblemSpec) -> ProblemSpec:
    """Return a problem in which each record is a person with three."""
    persons = tuple(range(len(spec.data.records))) * 3
    data = replace(spec.data, records=spec.data.records * 3, persons=persons)
    constraints = tuple(replace(own, unit="person") for own in spec.constraints)
    return replace(spec, data=data, constraints=constraints, limit=3 * spec.limit)


@costly(2)
@given(strategies.randoms())
def test_tripled_records_are_recoded_as_the_records(random: Random) -> None:
    """Every model of classes says of persons with one value what it says of records."""
    spec = strategies.problem(random)
    own = tuple(each for each in spec.constraints if each.model in CLASS_TWINS)
    spec = replace(spec, constraints=own, metric=random.choice(("loss", "ncp")))
    first, second = (Lattice().search(problem(each), Control()) for each in (spec, tripled(spec)))
    assert (first.status, first.optimal) == (second.status, second.optimal)
    assert (first.objective is None and second.objective is None) or same(first.objective, second.objective)
    spec = replace(spec, limit=0)
    first, second = (Mondrian().first(problem(each), Control()) for each in (spec, tripled(spec)))
    # That no recoding holds is proven for fewer models where units are counted.
    assert (first.recoding is None) == (second.recoding is None)
    if first.steps[0].accepted:
        times = [
            frozenset((row, 3 * count) for row, count in each) for each in published_records(first).elements()
        ]
        assert Counter(times) == published_records(second)


def classes_of_parts(outcome: Outcome, spec: ProblemSpec) -> tuple[list[list[int]], list[int], bool]:
    """Return the records of each class as published by text, the suppressed ones, and whether these stay.

    Records of one part of a divided row are of one person, or each of one of its own: any can be taken.
    """
    assert outcome.recoding is not None
    recoding, divided = outcome.recoding, build.divided_rows(spec.data)
    waiting = [np.flatnonzero(divided.of_record == row).tolist() for row in range(len(divided.row_of))]
    columns = recoding.published()
    found: dict[tuple[str, ...], list[int]] = {}
    suppressed: list[int] = []
    for part, row in enumerate(recoding.owners.tolist()):
        own = [waiting[row].pop() for _ in range(int(recoding.table.counts[part]))]
        suppressed += own if recoding.suppressed[part] else []
        if not recoding.removed[part]:
            key = tuple(column.labels[column.codes[part]] for column in columns)
            found.setdefault(key, []).extend(own)
    assert not any(waiting)
    return list(found.values()), suppressed, bool((recoding.suppressed & ~recoding.removed).any())


def check_valid(outcome: Outcome, spec: ProblemSpec) -> None:
    """Check a release by the definitions, with sets of persons."""
    classes, suppressed, kept = classes_of_parts(outcome, spec)
    brute = BruteForce(spec)
    everyone = list(range(len(spec.data.records)))
    released = sorted(row for rows in classes for row in rows)
    reference = released if spec.moving_reference and not kept else everyone
    assert classes
    assert all(brute.holds(rows, reference) for rows in classes)
    assert brute.table_holds(classes)
    assert kept or sorted(released + suppressed) == everyone
    assert not brute.exceeds_limit(suppressed)


PARTS: dict[str, SearchAlgorithm] = {
    "local": Local(),
    **{f"mondrian {own}": Mondrian(MondrianSettings(mode=ModeName.RELAXED, labels=own)) for own in LabelName},
    "microaggregation": Microaggregation(),
}
"""Algorithms that publish parts of a distinct row differently."""


@pytest.mark.parametrize("name", PARTS)
@costly(2)
@given(strategies.randoms())
def test_what_divides_rows_satisfies_the_models(name: str, random: Random) -> None:
    spec = strategies.problem(random)
    if name == "microaggregation":
        spec = spec_of(random, [own.model for own in spec.constraints], 40)
    spec = replace(strategies.with_persons(random, spec), whole=False)
    spec = with_a_value(spec)
    outcome = PARTS[name].search(problem(spec, divided=True), Control(steps=8))
    if outcome.status is Status.SATISFIED:
        check_valid(outcome, spec)


def check_local(spec: ProblemSpec, *, exactly: bool) -> None:
    """Check local recoding and its bounds against all partitions of the records."""
    best, asked = TwinLocal(spec).optimum(), problem(spec, divided=True)
    with pytest.MonkeyPatch.context() as patch:
        if not exactly:
            patch.setattr(Exact, "applies", staticmethod(lambda _: False))
        outcome = Local().search(asked, Control(steps=60))
    possible = best_possible(asked)
    if best < inf and possible is not None:
        assert possible <= best + 1e-9
    if outcome.status is not Status.SATISFIED:
        assert best == inf or outcome.status is Status.UNDECIDED
        return
    assert outcome.objective is not None
    assert outcome.objective >= best - 1e-12
    assert outcome.bound is None or outcome.bound <= best + 1e-9
    check_valid(outcome, spec)


def few_persons(seed: int, most: int) -> ProblemSpec:
    random = Random(seed)
    return replace(strategies.with_persons(random, small(random, most)), whole=False)


@pytest.mark.slow
@pytest.mark.parametrize("exactly", [True, False])
@quickly(COSTLY, 25)
@given(seed=st.integers(0, 2**32))
def test_local_recoding_of_persons_against_all_partitions(seed: int, exactly: bool) -> None:
    check_local(few_persons(seed, 8), exactly=exactly)


@share(3)
@given(problems())
def test_the_bound_is_not_above_the_lattice_and_mondrian(spec: ProblemSpec) -> None:
    spec = replace(spec, metric="loss", aggregate="arithmetic-mean", whole=False)
    asked = problem(spec)
    bounds = [best_possible(asked), best_possible(problem(spec, divided=True))]
    for algorithm in (Lattice(), Mondrian()):
        outcome = algorithm.search(asked, Control())
        if outcome.objective is not None:
            assert all(bound is None or bound <= outcome.objective + 1e-9 for bound in bounds)


@share(2)
@given(problems())
def test_divided_rows_change_nothing_for_the_lattice(spec: ProblemSpec) -> None:
    spec = replace(spec, whole=False)
    one, other = (Lattice().search(problem(spec, divided=own), Control()) for own in (False, True))
    assert (one.status, one.optimal) == (other.status, other.optimal)
    assert (one.objective is None and other.objective is None) or same(one.objective, other.objective)


def test_a_class_that_loses_a_region_is_judged_again() -> None:
    """Two regions violated a model that they satisfied with a third, which a cut published otherwise."""
    persons = (
        5,
        4,
        1,
        4,
        2,
        1,
        2,
        5,
        4,
        6,
        1,
        None,
        7,
        None,
        4,
        1,
        None,
        6,
        0,
        3,
        None,
        2,
        7,
        4,
        2,
        None,
        3,
        6,
    )
    data = replace(strategies.table(Random(1001161)), persons=(*persons, None, 1))
    beta = ConstraintSpec("basic-beta-likeness", {"beta": 1}, "s", unit="person")
    diverse = ConstraintSpec("l-diversity", {"l": 1}, "t", unit="person")
    spec = ProblemSpec(data, (beta, diverse), "loss", limit=9, keep_rows=True)
    outcome = PARTS["mondrian hierarchy"].search(problem(spec, divided=True), Control(steps=8))
    check_valid(outcome, spec)
