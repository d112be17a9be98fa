"""The fewest records when p is that of what stays, beside a search through all choices in all classes."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.model.features import SuppressionMethod
from anonymizer.model.recoding import Status
from anonymizer.search.base import Control
from anonymizer.search.judge import CandidateVerdict, Judge
from anonymizer.search.lattice.algorithm import Lattice
from anonymizer.search.rollup import RollUp
from anonymizer.search.suppression.suppressor import holding, references_of
from tests import strategies
from tests.helpers.examples import share
from tests.helpers.problems import problem
from tests.twins.records import fewest_under_release
from tests.twins.search import BruteForce, ProblemSpec

SEEDS = st.integers(0, 2**32)
BESIDE = ("k-anonymity", "l-diversity", "alpha-k-anonymity", "entropy-l-diversity")


def referring(random: Random, model: str) -> ProblemSpec:
    """Return a problem about the p of the release on a few records."""
    data = strategies.table(random, most=8, nodes=6)
    names = [model, random.choice(BESIDE)] if random.random() < 0.5 else [model]
    constraints = tuple(strategies.constraint(random, data, name) for name in names)
    limit = random.choice((1, 2, 4, len(data.records) - 1))
    return ProblemSpec(data, constraints, limit=limit, moving_reference=True)


def verdict_at(spec: ProblemSpec, method: SuppressionMethod, levels: tuple[int, ...]) -> CandidateVerdict:
    """Return what becomes of a node, after the exact models were asked about what stays."""
    asked = replace(problem(spec), suppression=method)
    classes = RollUp.of(asked.table).classes(levels)
    verdict = Judge(asked).judge(classes)
    left, _ = classes.part(classes.counts - verdict.gone)
    if left.number:
        references = references_of(left, asked.table.sensitive_names)
        assert holding(asked.class_constraints, left, references).all()
    return verdict


@pytest.mark.slow
@pytest.mark.parametrize("model", sorted(set(strategies.REFERENCED)))
@share(8)
@given(seed=SEEDS)
def test_small_tables_lose_as_few_records_as_can_be(model: str, seed: int) -> None:
    spec = referring(Random(seed), model)
    brute, possible = BruteForce(spec), False
    for levels in brute.nodes():
        fewest = fewest_under_release(brute, brute.classes(levels), spec.limit)
        verdict = verdict_at(spec, SuppressionMethod.RECORDS, levels)
        assert verdict.suppressed <= verdict_at(spec, SuppressionMethod.CLASSES, levels).suppressed
        assert verdict.settled
        assert verdict.valid is (fewest is not None)
        possible |= verdict.valid
        if fewest is not None:
            assert verdict.suppressed == verdict.least == fewest
            assert verdict.losses.sum() <= fewest
    outcome = Lattice().search(replace(problem(spec), suppression=SuppressionMethod.RECORDS), Control())
    assert outcome.status is (Status.SATISFIED if possible else Status.INFEASIBLE)
    assert outcome.optimal or not possible


@pytest.mark.slow
@share(8)
@given(seed=SEEDS, most=st.integers(9, 40))
def test_what_stays_holds_and_what_goes_is_no_less_than_the_bound(seed: int, most: int) -> None:
    random = Random(seed)
    data = strategies.table(random, most=most, nodes=6)
    models = [random.choice(strategies.REFERENCED), random.choice(BESIDE)]
    constraints = tuple(strategies.constraint(random, data, name) for name in models)
    spec = ProblemSpec(data, constraints, limit=len(data.records) // 2, moving_reference=True)
    for levels in BruteForce(spec).nodes():
        verdict = verdict_at(spec, SuppressionMethod.RECORDS, levels)
        whole = verdict_at(spec, SuppressionMethod.CLASSES, levels)
        assert verdict.losses.sum() <= verdict.least <= max(verdict.suppressed, spec.limit + 1)
        assert verdict.suppressed <= whole.suppressed
        assert not whole.valid or verdict.least <= whole.suppressed
