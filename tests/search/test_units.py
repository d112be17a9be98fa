"""Searches whose constraints count persons, against sets of persons."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.model.outcome import Status
from anonymizer.search.base import Control, SearchAlgorithm
from anonymizer.search.lattice.algorithm import Lattice
from anonymizer.search.mondrian.algorithm import LabelName, Mondrian, MondrianSettings
from tests import strategies
from tests.helpers import build
from tests.helpers.examples import many, share
from tests.helpers.problems import problem
from tests.search.test_lattice import records_of, same, texts_of
from tests.twins.privacy import CLASS_TWINS
from tests.twins.search import BruteForce, ConstraintSpec, ProblemSpec


@st.composite
def problems(draw: st.DrawFn) -> ProblemSpec:
    random = draw(st.randoms(use_true_random=False))
    spec = strategies.with_persons(random, strategies.problem(random))
    return replace(spec, whole=random.random() < 0.5)


@st.composite
def linked_problems(draw: st.DrawFn) -> ProblemSpec:
    """Return problems of releases with pseudonyms, with constraints on classes alone."""
    random = draw(st.randoms(use_true_random=False))
    spec = strategies.with_persons(random, strategies.problem(random))
    own = tuple(each for each in spec.constraints if each.model in CLASS_TWINS)
    own = own or (ConstraintSpec("k-anonymity", {"k": 2}, unit="person"),)
    records = len(spec.data.records)
    limit = random.choice((spec.limit, records // 2, records - 1))
    return replace(spec, constraints=own, limit=limit, whole=True, linked=True, keep_rows=False)


@many()
@given(st.one_of(problems(), linked_problems()))
def test_the_lattice_finds_the_optimum_of_an_exhaustive_search(spec: ProblemSpec) -> None:
    outcome = Lattice().search(problem(spec), Control())
    brute = BruteForce(spec)
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
@share(2)
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
