"""Two ways to the fewest records of one larger class: trying sizes, and the integer programme."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.model.arrays import IntArray
from anonymizer.privacy.base import CountConditions
from anonymizer.search.suppression.records import BySize, ClassProblem, View, solve
from tests import strategies
from tests.helpers import build
from tests.helpers.examples import share
from tests.helpers.partitions import Partition, single
from tests.helpers.problems import constraint as bound
from tests.twins.microdata import SensitiveSpec, Value
from tests.twins.search import ConstraintSpec

MODELS = [name for name in strategies.RETAINING if name != "k-anonymity"]


def random_class(random: Random) -> Partition:
    """Return a class of up to some hundred records beside others that shape p."""
    size = random.randint(2, 6)
    values: list[Value] = list(range(size))
    own = [value for value in values for _ in range(random.choice((1, 2, 5, 20, 60)))]
    rest = [value for value in values for _ in range(random.choice((0, 3, 10, 50)))]
    spec = SensitiveSpec("s", strategies.tree(random, values, random.randint(1, 2)), numeric=True)
    return single(own, rest, spec)


def rule(own: Partition, model: str, random: Random) -> CountConditions:
    """Return the conditions of a model with random parameters."""
    spec = ConstraintSpec(model, strategies.parameters(random, model), "s")
    asked = bound(spec, own.data)
    found = asked.retention(build.table(own.data).sensitive[0], own.reference("s"))
    assert found is not None
    return found


def counts(own: Partition) -> IntArray:
    """Return how often each value is in the class."""
    size = build.table(own.data).sensitive[0].column.size
    codes = own.classes().sensitive_codes("s")
    return np.bincount(codes[np.array(own.class_of) == 0], minlength=size).astype(np.int64)


@pytest.mark.parametrize("model", MODELS)
@share(8)
@given(seed=st.integers(0, 2**32))
def test_both_ways_keep_as_many(model: str, seed: int) -> None:
    random = Random(seed)
    own = random_class(random)
    asked = rule(own, model, random)
    number = counts(own)
    retained = BySize(asked).retain(number[None, :])
    assert retained.settled.all()
    view = View(asked, np.zeros_like(number), np.arange(len(number)))
    problem = ClassProblem(number, (view,), asked.smallest, int(number.sum()))

    def verify(kept: IntArray) -> bool:
        again = BySize(asked).retain(kept[None, :])
        return bool(again.most[0] == kept.sum())

    solution = solve(problem, verify)
    assert solution.most == retained.most[0]
    assert solution.kept.sum() == retained.counts.sum() == retained.most[0]
