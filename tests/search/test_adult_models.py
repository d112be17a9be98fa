"""Every model and some pairs on Adult, under both references: the optimum of a search that shares no code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from math import isclose
from typing import Any

import numpy as np
import pytest

from anonymizer.model.recoding import Status
from anonymizer.privacy.base import ClassConstraint, Constraint, TableConstraint
from anonymizer.search.base import Control, SearchProblem
from anonymizer.search.lattice.algorithm import Lattice
from tests.helpers import adult, build
from tests.helpers.problems import metric
from tests.strategies import PARAMETERS
from tests.twins import arrays
from tests.twins.arrays import CodedColumn, CountedNode, Release, Verdict
from tests.twins.privacy import JOINED

NAMES = ("sex", "age", "marital-status", "education")
SECRET = "occupation"
RECORDS = 30162


def anything(counts: arrays.Ints) -> bool:
    return True


def tree() -> list[tuple[str, ...]]:
    return [adult.paths(SECRET)[value] for value in adult.encoded(SECRET)[0]]


@dataclass(frozen=True)
class Case:
    """Constraints for the product, and the same for the arrays."""

    models: dict[str, dict[str, Any]]
    verdicts: Sequence[Callable[[], Verdict]] = ()
    whole: Callable[[arrays.Ints], bool] = field(default=anything)
    limit: float = 0.05


K = {"k-anonymity": {"k": 5}}
of_five = lambda: arrays.of_size(5)  # noqa: E731
DISTRIBUTED = ("t-", "basic-beta", "enhanced-beta", "delta-")
"""How the names of models begin that compare a class with a distribution."""

CASES = {
    "k": Case(K, [of_five]),
    "alpha-k": Case(
        {"alpha-k-anonymity": {"alpha": 0.5, "k": 5}}, [of_five, lambda: arrays.within_share("0.5")]
    ),
    "p-sensitive-k": Case(
        {"p-sensitive-k-anonymity": {"p": 4, "k": 5}}, [of_five, lambda: arrays.diverse(4)]
    ),
    "l": Case({"l-diversity": {"l": 5}}, [lambda: arrays.diverse(5)]),
    "entropy-l": Case({"entropy-l-diversity": {"l": 4.5}}, [lambda: arrays.entropic(4.5)]),
    "recursive": Case({"recursive-cl-diversity": {"c": 2, "l": 3}}, [lambda: arrays.recursive(2, 3)]),
    "t-equal": Case({"t-closeness": {"t": 0.35, "distance": "equal"}}, [lambda: arrays.equal(0.35)]),
    "t-ordered": Case({"t-closeness": {"t": 0.15, "distance": "ordered"}}, [lambda: arrays.ordered(0.15)]),
    "t-hierarchical": Case(
        {"t-closeness": {"t": 0.3, "distance": "hierarchical"}},
        [lambda: arrays.hierarchical(0.3, tree())],
    ),
    "basic-beta": Case({"basic-beta-likeness": {"beta": 3}}, [lambda: arrays.basic_gain(3)], limit=0.3),
    "enhanced-beta": Case(
        {"enhanced-beta-likeness": {"beta": 3}}, [lambda: arrays.enhanced_gain(3)], limit=0.3
    ),
    "delta": Case(
        {"delta-disclosure": {"delta": 3}}, [lambda: arrays.disclosed(3, ignored=False)], limit=0.5
    ),
    "delta-ignored": Case(
        {"delta-disclosure": {"delta": 1.5, "absent": "ignored"}},
        [lambda: arrays.disclosed(1.5, ignored=True)],
        limit=0.3,
    ),
    "vulnerability": Case(
        {"vulnerability": {"max": 0.01}}, whole=lambda counts: 100 * len(counts) <= counts.sum()
    ),
    "inference": Case(
        {"vulnerability": {"max": 0.25, "target": "attribute-inference"}},
        whole=lambda counts: 4 * counts.max(1).sum() <= counts.sum(),
    ),
    "k and t": Case(
        {**K, "t-closeness": {"t": 0.4, "distance": "equal"}}, [of_five, lambda: arrays.equal(0.4)]
    ),
    "l and delta-ignored": Case(
        {"l-diversity": {"l": 4}, "delta-disclosure": {"delta": 1.8, "absent": "ignored"}},
        [lambda: arrays.diverse(4), lambda: arrays.disclosed(1.8, ignored=True)],
        limit=0.2,
    ),
    "k and inference": Case(
        {**K, "vulnerability": {"max": 0.3, "target": "attribute-inference"}},
        [of_five],
        whole=lambda counts: 10 * counts.max(1).sum() <= 3 * counts.sum(),
    ),
}


@cache
def nodes() -> list[CountedNode]:
    """Return all 120 nodes of the lattice with their classes."""
    secret = adult.encoded(SECRET)[1]
    columns = []
    for name in NAMES:
        values, codes = adult.encoded(name)
        columns.append(CodedColumn(codes, values, adult.paths(name)))
    levels = product(*(range(len(next(iter(own.paths.values())))) for own in columns))
    return [arrays.count_node(columns, own, secret) for own in levels]


def constraint(name: str, parameters: dict[str, Any]) -> Constraint:
    model = build.model(name, parameters)
    attribute = SECRET if model.needs_sensitive else None
    bound = ClassConstraint if name not in {"vulnerability"} else TableConstraint
    return bound(attribute, model=model)


def problem(case: Case, *, moving: bool) -> SearchProblem:
    constraints = [constraint(name, parameters) for name, parameters in case.models.items()]
    return SearchProblem(
        adult.table(NAMES, (SECRET,)),
        tuple(own for own in constraints if isinstance(own, ClassConstraint)),
        tuple(own for own in constraints if isinstance(own, TableConstraint)),
        metric("loss"),
        int(case.limit * RECORDS),
        keep_rows=False,
        moving_reference=moving,
        k=5 if "k-anonymity" in case.models else None,
    )


def exhaustive(case: Case, *, moving: bool) -> list[Release]:
    verdicts = [make() for make in case.verdicts] or [lambda counts, p: np.ones(len(counts), dtype=bool)]
    limit = int(case.limit * RECORDS)
    found = (arrays.release(node, verdicts, case.whole, limit, moving=moving) for node in nodes())
    return [own for own in found if own is not None]


@pytest.mark.slow
def test_every_model_has_a_case() -> None:
    assert {name for case in CASES.values() for name in case.models} >= set(PARAMETERS) - JOINED
    assert len(nodes()) == 120


REFERENCED = [
    name for name, case in CASES.items() if any(each.startswith(DISTRIBUTED) for each in case.models)
]
"""Cases that compare with the distribution of the input, or of the release: with others both are one."""


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    ("name", "moving"),
    [
        *((name, True) for name in CASES),
        *(pytest.param(name, False, marks=pytest.mark.slow) for name in REFERENCED),
    ],
)
def test_optimum_is_that_of_an_exhaustive_search(name: str, moving: bool) -> None:
    case = CASES[name]
    valid = exhaustive(case, moving=moving)
    asked = problem(case, moving=moving)
    outcome = Lattice().search(asked, Control())
    assert valid, "the case should have a release"
    best = min(own.objective for own in valid)
    assert outcome.status is Status.SATISFIED
    assert outcome.optimal
    assert isclose(outcome.objective, best, rel_tol=1e-9)
    at_levels = {own.levels: own for own in valid}[outcome.recoding.levels]
    assert isclose(at_levels.objective, best, rel_tol=1e-9)
    assert int(asked.table.counts[outcome.recoding.suppressed].sum()) == at_levels.suppressed
