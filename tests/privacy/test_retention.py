"""The conditions of a model on counts, evaluated directly from their definitions."""

from __future__ import annotations

from fractions import Fraction
from math import log
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.privacy.base import ClassModel, CountConditions, Deviation
from anonymizer.privacy.enhanced_beta_likeness import EnhancedBetaLikeness
from tests import strategies
from tests.helpers import build
from tests.helpers.examples import share
from tests.helpers.partitions import partition
from tests.helpers.problems import constraint
from tests.twins.search import ConstraintSpec

SEEDS = st.integers(0, 2**32)
COUNTED = [name for name in strategies.RETAINING if name != "k-anonymity"]  # it has no attribute
"""The models that say what counts satisfy them."""


def met(rule: CountConditions, counts: list[int]) -> bool:
    """Tell whether counts meet the conditions; entropies up to rounding."""
    size = sum(counts)
    ranked = sorted(counts, reverse=True)
    held = size >= rule.smallest
    for distinct in rule.distinct:
        present = [value for value, count in enumerate(counts) if count and value != distinct.missing]
        held &= len(present) >= distinct.number
    if rule.caps is not None:
        held &= all(count <= cap * size for count, cap in zip(counts, rule.caps, strict=True))
    if rule.floors is not None:
        held &= all(
            not count or count >= floor * size for count, floor in zip(counts, rule.floors, strict=True)
        )
    if rule.required is not None:
        held &= all(count for count, required in zip(counts, rule.required, strict=True) if required)
    for dominance in rule.dominances:
        held &= ranked[0] < dominance.c * sum(ranked[dominance.l - 1 :])
    for l in rule.entropies:  # noqa: E741
        entropy = -sum(count / size * log(count / size) for count in counts if count)
        held &= entropy >= log(l) - 1e-12
    return held and all(deviates(each, counts) <= each.limit * size for each in rule.deviations)


def deviates(deviation: Deviation, counts: list[int]) -> Fraction:
    """Return the sum over groups of |count - expected|."""
    own = [0] * len(deviation.parent)
    for value, count in enumerate(counts):
        if deviation.group_of[value] >= 0:
            own[deviation.group_of[value]] += count
    for group, parent in enumerate(deviation.parent.tolist()):
        if parent >= 0:
            own[parent] += own[group]
    size = sum(counts)
    expected = [Fraction(size * int(each), deviation.total) for each in deviation.expected]
    return sum((abs(each - other) for each, other in zip(own, expected, strict=True)), Fraction(0))


@pytest.mark.parametrize("model", COUNTED)
@share(2)
@given(seed=SEEDS)
def test_conditions_say_what_the_model_says(model: str, seed: int) -> None:
    random = Random(seed)
    own = partition(random)
    spec = ConstraintSpec(model, strategies.parameters(random, model), "s")
    asked, reference, classes = constraint(spec, own.data), own.reference("s"), own.classes()
    rule = asked.retention(build.table(own.data).sensitive[0], reference)
    assert isinstance(asked.model, ClassModel)
    assert rule is not None
    codes = classes.sensitive_codes("s").tolist()
    for held, rows in zip(asked.holds(classes, reference).tolist(), own.rows(), strict=True):
        mine = [codes[row] for row in rows]
        assert met(rule, [mine.count(value) for value in range(len(reference.counts))]) == held


@pytest.mark.parametrize("share", [Fraction(1, 50), Fraction(1, 3), Fraction(9, 10)])
def test_the_bound_of_a_value_is_exact_or_rounded_alike(share: Fraction) -> None:
    own = build.model("enhanced-beta-likeness", {"beta": 2})
    assert isinstance(own, EnhancedBetaLikeness)
    assert float(own.bound(share)) == pytest.approx(float(own.bounds(np.array([float(share)]))[0]))
