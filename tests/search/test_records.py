"""The fewest records of each class beside a search through all choices of records."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.search.suppression.records import OptimalRecords
from anonymizer.search.suppression.suppressor import Suppressed, holding
from tests import strategies
from tests.helpers.examples import share
from tests.helpers.partitions import Partition, renumbered
from tests.helpers.problems import problem
from tests.twins.microdata import Microdata, SensitiveSpec, Value
from tests.twins.records import most_that_stay
from tests.twins.search import BruteForce, ConstraintSpec, ProblemSpec

SEEDS = st.integers(0, 2**32)
CLASS_MODELS = [*strategies.RETAINING]
BESIDE = ["k-anonymity", "l-diversity", "entropy-l-diversity", "t-closeness", "basic-beta-likeness"]


def random_partition(random: Random, most: int = 14) -> Partition:
    """Return a random table in one class or two."""
    data = strategies.table(random, most=most)
    number = random.choice((1, 2))
    return Partition(data, renumbered([random.randrange(number) for _ in data.records]))


def solve(own: Partition, *constraints: ConstraintSpec) -> Suppressed:
    """Return what is suppressed under p of the input, after the exact models were asked about the rest."""
    asked = problem(ProblemSpec(own.data, constraints, limit=len(own.data.records)))
    suppressor = OptimalRecords(asked)
    classes = own.classes()
    found = suppressor.under_input(classes)
    assert ((found.gone >= 0) & (found.gone <= classes.counts)).all()
    left, _ = classes.part(classes.counts - found.gone)
    assert holding(asked.class_constraints, left, suppressor.input).all()
    return found


def check(own: Partition, *constraints: ConstraintSpec) -> None:
    """What is suppressed of each class is what exhaustive search finds, and said to be optimal."""
    found = solve(own, *constraints)
    brute = BruteForce(ProblemSpec(own.data, constraints))
    everyone = list(range(len(own.data.records)))
    gone = np.bincount(own.class_of, weights=found.gone, minlength=own.number)
    for number, rows in enumerate(own.rows()):
        fewest = len(rows) - most_that_stay(brute, rows, everyone)
        assert gone[number] == fewest
        assert found.least[number] == fewest
        assert found.certain[number] <= fewest


@pytest.mark.parametrize("model", CLASS_MODELS)
@share(4)
@given(seed=SEEDS)
def test_every_model_loses_as_few_records_as_can_be(model: str, seed: int) -> None:
    random = Random(seed)
    own = random_partition(random)
    check(own, strategies.constraint(random, own.data, model))


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("model", CLASS_MODELS)
@share(16)
@given(seed=SEEDS)
def test_pairs_of_models_lose_as_few_records_as_can_be(model: str, beside: str, seed: int) -> None:
    random = Random(seed)
    own = random_partition(random, 12)
    check(own, *(strategies.constraint(random, own.data, name) for name in (model, beside)))


@pytest.mark.slow
@given(seed=SEEDS)
def test_several_models_lose_as_few_records_as_can_be(seed: int) -> None:
    random = Random(seed)
    own = random_partition(random, 16)
    names = [random.choice(CLASS_MODELS) for _ in range(random.randint(2, 4))]
    check(own, *(strategies.constraint(random, own.data, name) for name in names))


def one_class(values: list[Value], rest: list[Value] | None = None, *, numeric: bool = False) -> Partition:
    """Return a class beside another one that nothing is asked about."""
    records = tuple((value,) for value in [*values, *(rest or [])])
    spec = SensitiveSpec("s", None, numeric)
    class_of = [0] * len(values) + [1] * len(rest or [])
    return Partition(Microdata((), (spec,), records), tuple(class_of))


def gone_of_first(own: Partition, model: str, **parameters: object) -> list[Value]:
    """Return the values that the first class loses."""
    found = solve(own, ConstraintSpec(model, parameters, "s"))
    rows = zip(own.class_of, own.data.records, found.gone, strict=True)
    return [record[0] for number, record, gone in rows if gone and number == 0]


def test_distinct_values_cannot_be_gained() -> None:
    assert gone_of_first(one_class(["a", "a", "b"]), "l-diversity", l=3) == ["a", "a", "b"]


def test_the_most_frequent_value_goes() -> None:
    values: list[Value] = ["a"] * 7 + ["b"] * 2 + ["c"]
    assert gone_of_first(one_class(values), "alpha-k-anonymity", alpha=0.5, k=2) == ["a"] * 4
    assert gone_of_first(one_class(values), "recursive-cl-diversity", c=2, l=2) == ["a"] * 2
    assert gone_of_first(one_class(values), "entropy-l-diversity", l=2.3) == ["a"]


def test_an_even_class_at_the_threshold_stays_whole() -> None:
    assert gone_of_first(one_class(["a", "b", "c"] * 3), "entropy-l-diversity", l=3) == []


def test_two_models_are_met_together() -> None:
    own = one_class(["a"] * 6 + ["b"] * 3 + ["c"] * 3)
    found = solve(
        own,
        ConstraintSpec("alpha-k-anonymity", {"alpha": 0.4, "k": 2}, "s"),
        ConstraintSpec("k-anonymity", {"k": 11}),
    )
    assert found.gone.sum() == 12
    assert found.least.tolist() == [12]
