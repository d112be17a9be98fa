"""What every search algorithm has to satisfy."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from anonymizer.core.classes import Classes, SensitiveCodes
from anonymizer.core.outcome import Outcome, Status
from anonymizer.core.released import Released
from anonymizer.core.table import Table
from anonymizer.loss.leaf_share import LeafShareLoss
from anonymizer.privacy.constraint import ClassConstraint
from anonymizer.privacy.k_anonymity import KAnonymity, KAnonymitySettings
from anonymizer.privacy.l_diversity import LDiversity, LDiversitySettings
from anonymizer.search.base import Problem, SearchAlgorithm
from anonymizer.search.control import Control
from anonymizer.testing.samples import SENSITIVE, fail, tables


def check_search_algorithm(algorithm: SearchAlgorithm, seed: int = 0) -> None:
    """Check an algorithm on random problems.

    Raises
    ------
    AssertionError: what it returns breaks a constraint, is not what it says, or differs between two runs.
    """
    for problem in problems(seed):
        outcome = algorithm.search(problem, Control())
        check_same(algorithm, outcome, algorithm.search(problem, Control()))
        check_proof(algorithm, outcome)
        check_release(algorithm, problem, outcome)


def problems(seed: int) -> Iterator[Problem]:
    """Return random problems with k-anonymity and l-diversity."""
    random = np.random.default_rng(seed)
    for table in tables(seed):
        k = int(random.integers(1, 5))
        size = ClassConstraint(model=KAnonymity(KAnonymitySettings(k=k)))
        values = ClassConstraint(
            SENSITIVE, model=LDiversity(LDiversitySettings(l=int(random.integers(1, 3))))
        )
        limit = int(Fraction(int(random.integers(0, 11)), 10) * table.records)
        yield Problem(
            table,
            (size, values),
            (),
            LeafShareLoss(),
            limit,
            keep_rows=False,
            moving_reference=False,
            k=k,
        )


def check_same(algorithm: SearchAlgorithm, one: Outcome, two: Outcome) -> None:
    """The same problem gives the same outcome."""
    if (one.status, one.objective, one.steps) != (two.status, two.objective, two.steps):
        fail(f"{algorithm.name}: two runs differ")


def check_proof(algorithm: SearchAlgorithm, outcome: Outcome) -> None:
    """A release comes with its objective, and no bound exceeds it."""
    if (outcome.status is Status.SATISFIED) != (outcome.recoding is not None):
        fail(f"{algorithm.name}: {outcome.status} with recoding {outcome.recoding}")
    if outcome.recoding is not None and outcome.objective is None:
        fail(f"{algorithm.name}: a release without its objective")
    if outcome.objective is not None and outcome.bound is not None and outcome.bound > outcome.objective:
        fail(f"{algorithm.name}: bound {outcome.bound} above the objective {outcome.objective}")
    if outcome.evaluated > outcome.candidates:
        fail(f"{algorithm.name}: {outcome.evaluated} of {outcome.candidates} candidates evaluated")


def published_classes(table: Table, outcome: Outcome) -> Classes:
    """Return the classes of the release by what it publishes."""
    assert outcome.recoding is not None
    stays = ~outcome.recoding.removed
    codes = np.stack([own.codes[stays] for own in outcome.recoding.published()])
    groups = np.unique(codes, axis=1, return_inverse=True)[1].ravel().astype(np.int64)
    secret = {
        own.name: SensitiveCodes(own, table.sensitive_codes(own.name)[stays].astype(np.int64))
        for own in table.sensitive
    }
    return Classes(groups, table.counts[stays], int(groups.max()) + 1, secret)


def check_release(algorithm: SearchAlgorithm, problem: Problem, outcome: Outcome) -> None:
    """Every constraint holds on what is published, within the limit, at the loss that is claimed."""
    if outcome.recoding is None:
        return
    suppressed = int(problem.table.counts[outcome.recoding.suppressed].sum())
    if suppressed > problem.limit:
        fail(f"{algorithm.name}: {suppressed} records suppressed; the limit is {problem.limit}")
    classes = published_classes(problem.table, outcome)
    for constraint in problem.class_constraints:
        if not constraint.holds(classes, None).all():
            fail(f"{algorithm.name}: the release fails {constraint.model.name}")
    own = Released(problem.table, outcome.recoding, classes.sizes, 0, suppressed, problem.k)
    value = problem.metric.value(own)
    if value is None or outcome.objective is None or not np.isclose(value, outcome.objective, rtol=1e-9):
        fail(f"{algorithm.name}: the release has loss {value}, not {outcome.objective}")
