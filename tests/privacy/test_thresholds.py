"""At a threshold the verdict is exact, and it changes a hair above or below."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anonymizer.model.population import PopulationSizes
from anonymizer.privacy.base import PRIVACY_MODELS
from tests import strategies
from tests.helpers.partitions import Partition, single
from tests.helpers.problems import constraint
from tests.twins.microdata import SensitiveSpec, Value
from tests.twins.privacy import CLASS_TWINS, JOINED, natural_log
from tests.twins.search import ConstraintSpec

RANDOMS = strategies.randoms()
SMOOTH = (1, 2, 4, 5, 8, 10, 16, 20, 25)
"""Sizes whose inverses are decimals."""
TINY = Decimal("1e-15")


def decimal_of(number: Fraction) -> Decimal | None:
    """Return a fraction as a decimal of at most 12 digits, None when it is none."""
    rest = number * 10**12
    return Decimal(rest.numerator).scaleb(-12) if rest.denominator == 1 else None


def held(own: Partition, name: str, parameters: dict[str, Any]) -> bool:
    """Return the product's verdict on the first class, after checking it against the definition's."""
    spec = ConstraintSpec(name, parameters, "s")
    found = constraint(spec, own.data).holds(own.classes(), own.reference("s")).tolist()
    twin = CLASS_TWINS[name](parameters)
    everyone, attribute = own.everyone("s"), own.data.attribute("s")
    assert found == [twin.holds(group, everyone, attribute) for group in own.groups("s")]
    return bool(found[0])


def smooth_class(random: Random) -> Partition:
    """Return a class and the rest of a table, of sizes by which shares are decimals."""
    size = random.choice(SMOOTH[1:])
    total = random.choice([other for other in (*SMOOTH, 50, 100) if other >= size])
    number = random.choice((2, 3, 5, 6))
    numeric = random.random() < 0.5
    values: list[Value] = list(range(number)) if numeric else list("abcdef"[:number])
    paths = strategies.tree(random, values, random.choice((1, 2, 4)))
    weights = [random.choice((1, 2, 5)) for _ in values]
    own = random.choices(values, weights, k=size)
    rest = random.choices(values, k=total - size)
    return single(own, rest, SensitiveSpec("s", paths, numeric))


@given(random=RANDOMS)
def test_group_size_and_share(random: Random) -> None:
    own = smooth_class(random)
    size = own.class_of.count(0)
    top = max(own.groups("s")[0].count(value) for value in own.everyone("s"))
    alpha = decimal_of(Fraction(top, size))
    assert held(own, "k-anonymity", {"k": size})
    assert not held(own, "k-anonymity", {"k": size + 1})
    assert held(own, "alpha-k-anonymity", {"alpha": alpha, "k": size})
    assert not held(own, "alpha-k-anonymity", {"alpha": alpha - TINY, "k": size})


@pytest.mark.parametrize("name", ["l-diversity", *sorted(JOINED & CLASS_TWINS.keys())])
@given(random=RANDOMS)
def test_the_measure_of_a_class_is_its_strictest_threshold(name: str, random: Random) -> None:
    """Of every model that joined, if its only threshold is compared with the measure."""
    own, model = smooth_class(random), PRIVACY_MODELS[name]
    loose, strict = dict(model.examples[0]), model.examples[-1]
    (threshold,) = model.thresholds
    twin = CLASS_TWINS[name](loose)
    measured = Fraction(twin.measure(own.groups("s")[0], own.everyone("s"), own.data.attribute("s")))
    value = int(measured) if threshold.whole else decimal_of(measured)
    assume(value is not None)
    step = 1 if threshold.whole else TINY
    step = step if strict[threshold.parameter] > loose[threshold.parameter] else -step
    assert held(own, name, {**loose, threshold.parameter: value})
    assert not held(own, name, {**loose, threshold.parameter: value + step})


@given(random=RANDOMS)
def test_distinct_values(random: Random) -> None:
    own = smooth_class(random)
    size, values = own.class_of.count(0), len(set(own.groups("s")[0]))
    assert held(own, "l-diversity", {"l": values})
    assert not held(own, "l-diversity", {"l": values + 1})
    assert held(own, "p-sensitive-k-anonymity", {"p": values, "k": size})
    assert not held(own, "p-sensitive-k-anonymity", {"p": values + 1, "k": max(size, values + 1)})


@given(random=RANDOMS, rank=st.integers(1, 3))
def test_recursive_ratio_is_strict(random: Random, rank: int) -> None:
    own = smooth_class(random)
    ratio = CLASS_TWINS["recursive-cl-diversity"]({"c": 1, "l": rank}).measure(
        own.groups("s")[0], [], own.data.attribute("s")
    )
    c = decimal_of(ratio) if isinstance(ratio, Fraction) else None
    assume(c is not None)
    assert not held(own, "recursive-cl-diversity", {"c": c, "l": rank})
    assert held(own, "recursive-cl-diversity", {"c": c + TINY, "l": rank})


@given(random=RANDOMS, distance=st.sampled_from(["equal", "ordered", "hierarchical"]))
def test_earth_movers_distance(random: Random, distance: str) -> None:
    own = smooth_class(random)
    parameters = {"t": 0, "distance": distance}
    twin = CLASS_TWINS["t-closeness"](parameters)
    t = decimal_of(twin.measure(own.groups("s")[0], own.everyone("s"), own.data.attribute("s")))
    assume(t is not None)
    assert held(own, "t-closeness", {"t": t, "distance": distance})
    assert t == 0 or not held(own, "t-closeness", {"t": t - TINY, "distance": distance})


@given(random=RANDOMS)
def test_gain(random: Random) -> None:
    own = smooth_class(random)
    twin = CLASS_TWINS["basic-beta-likeness"]({"beta": 1})
    beta = decimal_of(twin.measure(own.groups("s")[0], own.everyone("s"), own.data.attribute("s")))
    assume(beta is not None)
    assume(beta > 0)
    assert held(own, "basic-beta-likeness", {"beta": beta})
    assert not held(own, "basic-beta-likeness", {"beta": beta - TINY})
    held(own, "enhanced-beta-likeness", {"beta": beta})
    assert not held(own, "enhanced-beta-likeness", {"beta": beta - TINY})


@given(random=RANDOMS)
def test_log_ratio_is_strict(random: Random) -> None:
    """ln(q/p) is no decimal unless q = p, so the verdict flips between its neighbours of 15 digits."""
    own = smooth_class(random)
    group, everyone = own.groups("s")[0], own.everyone("s")
    ratios = [
        Fraction(group.count(value) * len(everyone), len(group) * everyone.count(value))
        for value in set(group)
    ]
    widest = max(natural_log(ratio).copy_abs() for ratio in ratios)
    assume(widest > 0)
    below = widest.quantize(TINY, rounding="ROUND_FLOOR")
    above = widest.quantize(TINY, rounding="ROUND_CEILING")
    ignored = {"absent": "ignored"}
    assert held(own, "delta-disclosure", {"delta": above, **ignored})
    assert not held(own, "delta-disclosure", {"delta": below, **ignored})
    assert held(own, "delta-disclosure", {"delta": above}) == (set(group) == set(everyone))


@given(count=st.integers(1, 9), values=st.integers(1, 6))
def test_equal_counts_have_the_entropy_of_their_number(count: int, values: int) -> None:
    own = single(list(range(values)) * count, [0], SensitiveSpec("s", None, True))
    assert held(own, "entropy-l-diversity", {"l": values})
    assert not held(own, "entropy-l-diversity", {"l": values + Decimal("0.001")})
    assert not held(own, "entropy-l-diversity", {"l": values + TINY})


@pytest.mark.parametrize(("counts", "attained"), [((4, 2, 1, 1), None), ((2, 2, 4), None), ((8, 8), 2)])
def test_entropies_that_are_products_of_powers(counts: tuple[int, ...], attained: int | None) -> None:
    """exp(H) of (2, 2, 4) is the root of 8: its neighbours among the decimals lie on either side."""
    group: list[Value] = [value for value, count in enumerate(counts) for _ in range(count)]
    own = single(group, [], SensitiveSpec("s", None, True))
    if attained is not None:
        assert held(own, "entropy-l-diversity", {"l": attained})
        return
    twin = CLASS_TWINS["entropy-l-diversity"]({"l": 1})
    measure = Decimal(repr(twin.measure(group, [], own.data.attribute("s"))))
    below = measure.quantize(Decimal("1e-12"), rounding="ROUND_FLOOR")
    above = measure.quantize(Decimal("1e-12"), rounding="ROUND_CEILING")
    assert held(own, "entropy-l-diversity", {"l": below})
    assert not held(own, "entropy-l-diversity", {"l": above})


@pytest.mark.parametrize("scale", [1, 100])
@pytest.mark.parametrize(
    "share", [Fraction(1, 20), Fraction(3, 20), Fraction(3, 10), Fraction(1, 2), Fraction(1)]
)
def test_shares_of_the_people_are_exact(share: Fraction, scale: int) -> None:
    """Of each number of records and people around the threshold, whatever digits the weights have."""
    sizes = np.repeat(np.arange(1, 13), 60)
    scaled = np.tile(np.arange(1, 61), 12) * scale // (3 if scale > 1 else 1)
    population = PopulationSizes(scaled, scale, estimated=scale > 1)
    shares = [
        Fraction(int(own), 1) / Fraction(int(people), scale)
        for own, people in zip(sizes, scaled, strict=True)
    ]
    assert population.at_most_share(sizes, share).tolist() == [own <= share for own in shares]
    assert population.at_least_share(sizes, share).tolist() == [own >= share for own in shares]
