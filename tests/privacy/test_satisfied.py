"""A verdict is the comparison of what was measured with the threshold, also where people are fractional."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from math import isinf
from operator import ge, le, lt
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given

from anonymizer.model.classes import Classes
from anonymizer.privacy.base import (
    PRIVACY_MODELS,
    AttackModel,
    ClassConstraint,
    ClassModel,
    PrivacyModel,
    TableConstraint,
    TableModel,
)
from anonymizer.testing.samples import SENSITIVE, class_samples
from tests import strategies
from tests.helpers import build
from tests.helpers.examples import share
from tests.twins.privacy import JOINED

Relation = Callable[[Any, Any], bool]
Case = tuple[str, dict[str, Any], dict[str, Relation]]
"""Name, fixed parameters, and how each measure compares with its threshold, in the order of the measures."""


def relations_of(model: type[PrivacyModel]) -> dict[str, Relation]:
    """Return how the measures of a model that joined compare with its thresholds."""
    loose, strict = model.examples[0], model.examples[-1]
    return {
        each.parameter: ge if strict[each.parameter] > loose[each.parameter] else le
        for each in model.thresholds
    }


RISKS = [{"at": "highest"}, {"at": "mean"}, {"at": {"share-above": 0.2}}, {"at": {"share-above": 0.3}}]
AGAINST = [{"against": "records"}, {"against": "population"}]

CASES: list[Case] = [
    ("k-anonymity", {}, {"k": ge}),
    ("k-map", {}, {"k": ge}),
    ("l-diversity", {}, {"l": ge}),
    ("entropy-l-diversity", {}, {"l": ge}),
    *(("recursive-cl-diversity", {"l": number}, {"c": lt}) for number in (1, 2, 3)),
    ("alpha-k-anonymity", {}, {"k": ge, "alpha": le}),
    ("p-sensitive-k-anonymity", {}, {"k": ge, "p": ge}),
    *(("t-closeness", {"distance": each}, {"t": le}) for each in ("equal", "hierarchical")),
    ("basic-beta-likeness", {}, {"beta": le}),
    ("enhanced-beta-likeness", {}, {"beta": le}),
    *(("delta-disclosure", {"absent": each}, {"delta": le}) for each in ("violates", "ignored")),
    ("delta-presence", {}, {"min": ge, "max": le}),
    *(("prosecutor-risk", own, {"max": le}) for own in RISKS),
    *(("journalist-risk", own, {"max": le}) for own in RISKS),
    *(("marketer-risk", own, {"max": le}) for own in AGAINST),
    *(("household-risk", {**own, "at": at}, {"max": le}) for own in AGAINST for at in ("highest", "mean")),
    *(
        ("population-uniqueness", {"estimator": each, "of": of}, {"max": le})
        for each in ("count", "pitman", "zayatz", "negative-binomial", "copula")
        for of in ("records", "sample-uniques")
    ),
    ("vulnerability", {"target": "re-identification"}, {"max": le}),
    ("vulnerability", {"target": "attribute-inference"}, {"max": le}),
    *((name, {}, relations_of(PRIVACY_MODELS[name])) for name in sorted(JOINED)),
]


def test_every_model_of_classes_and_tables_is_tested() -> None:
    named = {name for name in PRIVACY_MODELS if not issubclass(PRIVACY_MODELS[name], AttackModel)}
    assert named == {name for name, _, _ in CASES}


def fractional(random: Random) -> Classes:
    """Return random classes whose people have digits: sums of weights, or of a table of the population."""
    classes = next(class_samples(random.randrange(10**6), 1)).classes()
    people = classes.population
    assert people is not None
    scale = random.choice((1, 2, 3, 4, 7, 10, 100))
    estimated = random.random() < 0.5
    shift = np.array([random.randrange(scale) for _ in people.scaled], dtype=np.int64)
    population = replace(people, scaled=people.scaled * scale + shift, scale=scale, estimated=estimated)
    everyone = int(population.scaled.sum()) + random.randrange(3 * scale)
    absent = everyone > int(population.scaled.sum())
    population = replace(population, everyone=everyone, absent=absent and random.random() < 0.5)
    classes.population = population.at_least_sample(classes.sizes)
    return classes


def around(number: float, random: Random, *, whole: bool) -> Any:
    """Return a threshold at a measure or a little beside it."""
    if whole:
        return max(int(number) + random.choice((-1, 0, 0, 1)), 1)
    if isinf(number):
        return Decimal(10**6)
    exact, places = Decimal(repr(number)), random.choice((1, 2, 3, 6))
    digit = Decimal(1).scaleb(-places)
    near = exact.quantize(digit, rounding=random.choice((ROUND_FLOOR, ROUND_CEILING)))
    return near + random.choice((0, 0, 0, -digit, digit))


def verdicts(name: str, parameters: dict[str, Any], classes: Classes) -> list[tuple[bool, Any]]:
    """Return the verdict and the measures of each class, or of all."""
    model = build.model(name, parameters)
    attribute = SENSITIVE if model.needs_sensitive else None
    reference = classes.sensitive_counts(SENSITIVE)[0].reference()
    if isinstance(model, TableModel):
        whole = TableConstraint(attribute, model=model)
        return [(whole.holds(classes), whole.measured(classes))]
    assert isinstance(model, ClassModel)
    bound = ClassConstraint(attribute, model=model)
    alone = [classes.keep(np.arange(classes.number) == each) for each in range(classes.number)]
    return [(bool(bound.holds(own, reference)[0]), bound.measured(own, reference)) for own in alone]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}")
@share(2)
@given(random=strategies.randoms())
def test_satisfied_is_measured_within_the_threshold(case: Case, random: Random) -> None:
    name, fixed, relations = case
    classes = fractional(random)
    thresholds = {each.parameter: each for each in PRIVACY_MODELS[name].thresholds}
    loosest = {key: 10**6 if isinf(own.loosest) else own.loosest for key, own in thresholds.items()}
    neutral = {key: int(own) if thresholds[key].whole else own for key, own in loosest.items()}
    measured = random.choice(verdicts(name, {**neutral, **fixed}, classes))[1]
    at = measured if isinstance(measured, list) else [measured]
    asked = {
        key: around(value, random, whole=thresholds[key].whole)
        for key, value in zip(relations, at, strict=True)
    }
    accepted(name, {**fixed, **asked})
    for holds, found in verdicts(name, {**fixed, **asked}, classes):
        numbers = found if isinstance(found, list) else [found]
        assert holds == all(
            relation(shown(number), Fraction(asked[key]))
            for (key, relation), number in zip(relations.items(), numbers, strict=True)
        )


def accepted(name: str, parameters: dict[str, Any]) -> None:
    """Draw again if the model does not accept thresholds that are below or above all."""
    try:
        build.model(name, parameters)
    except ValueError:
        assume(False)


def shown(number: float) -> Fraction | float:
    return number if isinf(number) else Fraction(repr(number))


@pytest.mark.parametrize("most", ["0.3", "0.2857142857142858"])
def test_a_part_of_a_person_counts(most: str) -> None:
    """3.5 people are a risk of 0.2857: at most 0.3, though the next whole number would be 4."""
    classes = next(class_samples(3, 1)).classes()
    population = classes.population
    assert population is not None
    classes.population = replace(population, scaled=np.full(classes.number, 35), scale=10)
    assert all(holds for holds, _ in verdicts("journalist-risk", {"max": most}, classes))
    assert not any(holds for holds, _ in verdicts("journalist-risk", {"max": "0.2857142857142857"}, classes))
