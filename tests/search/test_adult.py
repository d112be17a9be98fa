"""The published optima on Adult, and how few nodes prove them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from anonymizer.model.recoding import Outcome, Status
from anonymizer.privacy.base import ClassConstraint
from anonymizer.search.base import Control, SearchProblem
from anonymizer.search.lattice.algorithm import Lattice
from tests.helpers import adult, build
from tests.helpers.problems import metric

RECORDS = 30162
OPTIMA = [
    ("0", 0.635544, (0, 4, 1, 1, 3, 2, 2, 1, 0), 0, 225),
    ("0.02", 0.357482, (0, 3, 0, 2, 2, 1, 1, 2, 0), 506, 450),
    ("0.05", 0.269635, (0, 3, 0, 0, 2, 1, 1, 2, 0), 1346, 275),
    ("1", 0.227700, (0, 3, 0, 0, 2, 1, 1, 1, 0), 2553, 550),
]


def search(limit: str, control: Control) -> Outcome:
    k_anonymity = ClassConstraint(model=build.model("k-anonymity", {"k": 5}))
    asked = SearchProblem(
        adult.table(adult.ALL),
        (k_anonymity,),
        (),
        metric("loss"),
        int(Fraction(limit) * RECORDS),
        keep_rows=False,
        moving_reference=False,
        k=5,
    )
    return Lattice().search(asked, control)


@pytest.mark.quick(2)
@pytest.mark.parametrize(("limit", "objective", "levels", "suppressed", "most"), OPTIMA)
def test_optimum_of_nine_attributes(
    limit: str, objective: float, levels: tuple[int, ...], suppressed: int, most: int
) -> None:
    outcome = search(limit, Control())
    assert outcome.status is Status.SATISFIED
    assert outcome.optimal
    assert outcome.candidates == 12960
    assert outcome.evaluated <= most
    assert outcome.evaluated == len(outcome.steps)
    assert round(outcome.objective, 6) == objective
    assert outcome.recoding.levels == levels
    counts = adult.table(adult.ALL).counts
    assert int(counts[outcome.recoding.suppressed].sum()) == suppressed


def test_a_budget_leaves_a_proven_bound_and_the_same_steps() -> None:
    whole = search("0.02", Control())
    part = search("0.02", Control(nodes=60))
    assert part.evaluated == 60
    assert part.steps == whole.steps[:60]
    assert not part.optimal
    assert part.bound <= whole.objective <= part.objective
    assert 0 < part.gap < 1
    assert search("0.02", Control(steps=60)).steps == part.steps


def test_an_optimum_found_early_is_not_called_optimal_before_it_is_proven() -> None:
    whole = search("0.05", Control())
    almost = search("0.05", Control(nodes=whole.evaluated - 1))
    assert not almost.optimal
    assert almost.bound < whole.objective
