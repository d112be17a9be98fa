"""Risks by the regulators' names: closed forms, known tables, and brute force record by record."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import isclose
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.model.classes import ClassView
from anonymizer.model.population import PopulationSizes
from anonymizer.privacy.base import ClassModel, TableModel
from tests.helpers import build
from tests.shared import shared

PLACES: tuple[Any, ...] = ("highest", "mean", {"share-above": 0.2}, {"share-above": 0.3})
"""No number of records has a risk of 0.3, so that the largest number above it is no quotient."""


def risks(view: ClassView, *, people: bool) -> list[Fraction]:
    """Return the risk of each record."""
    found = []
    for place, size in enumerate(view.sizes.tolist()):
        number = Fraction(size)
        if people:
            number = max(number, Fraction(int(view.people.scaled[place]), view.people.scale))
        found += [1 / number] * size
    return found


def of_records(found: list[Fraction], at: Any) -> Fraction:
    if at == "highest":
        return max(found)
    if at == "mean":
        return sum(found) / len(found)
    return Fraction(sum(risk > Fraction(str(at["share-above"])) for risk in found), len(found))


@st.composite
def views(draw: st.DrawFn, *, estimated: bool | None = None) -> ClassView:
    sizes = draw(st.lists(st.integers(1, 12), min_size=1, max_size=12))
    estimated = draw(st.booleans()) if estimated is None else estimated
    scale = draw(st.sampled_from((1, 4, 100))) if estimated else 1
    scaled = [draw(st.integers(1 if estimated else size, 40 * scale)) for size in sizes]
    population = PopulationSizes(np.array(scaled), scale, estimated=estimated)
    return ClassView(np.array(sizes), population=population)


def held_and_measured(name: str, parameters: dict[str, Any], view: ClassView) -> tuple[bool, float]:
    model = build.model(name, parameters)
    if isinstance(model, ClassModel):
        return bool(model.holds(view, None).all()), float(model.measured(view, None))  # type: ignore[arg-type]
    assert isinstance(model, TableModel)
    return model.holds(view), float(model.measured(view))  # type: ignore[arg-type]


@pytest.mark.parametrize("at", PLACES, ids=str)
@pytest.mark.parametrize("name", ["prosecutor-risk", "journalist-risk"])
@given(views(), st.sampled_from((0, 0.05, 0.1, 0.2, 0.25, 0.5, 1)))
def test_risk_of_each_record(name: str, at: Any, view: ClassView, most: float) -> None:
    expected = of_records(risks(view, people=name == "journalist-risk"), at)
    held, measured = held_and_measured(name, {"max": most, "at": at}, view)
    assert isclose(measured, expected, rel_tol=1e-12)
    assert held == (expected <= Fraction(str(most)))


@pytest.mark.parametrize("against", ["records", "population"])
@given(views(), st.sampled_from((0, 0.05, 0.1, 0.25, 1)))
def test_marketers_expect_the_sum_of_all_risks(against: str, view: ClassView, most: float) -> None:
    found = risks(view, people=against == "population")
    expected = sum(found) / len(found)
    held, measured = held_and_measured("marketer-risk", {"max": most, "against": against}, view)
    assert isclose(measured, expected, rel_tol=1e-12)
    assert held == (expected <= Fraction(str(most)))


@given(views())
def test_people_who_are_alone_are_counted(view: ClassView) -> None:
    found = risks(view, people=True)
    alone = Fraction(sum(risk == 1 for risk in found), len(found))
    held, measured = held_and_measured(
        "population-uniqueness", {"max": float(alone), "estimator": "count"}, view
    )
    assert held
    assert measured == float(alone)


@pytest.mark.parametrize("of", ["records", "sample-uniques"])
@pytest.mark.parametrize("estimator", ["pitman", "zayatz", "negative-binomial"])
@settings(max_examples=30)
@given(view=views(estimated=False))
def test_with_a_table_an_estimate_measures_at_least_the_count(
    of: str, estimator: str, view: ClassView
) -> None:
    given = {"max": 0.01, "of": of}
    counted_held, counted = held_and_measured("population-uniqueness", {**given, "estimator": "count"}, view)
    held, measured = held_and_measured("population-uniqueness", {**given, "estimator": estimator}, view)
    assert measured >= counted
    assert counted_held or not held


def test_an_estimate_below_the_count_of_the_table_satisfies_nothing() -> None:
    """Two of five uniques are alone among 10,000 people, of whom an estimator knows the number alone."""
    population = PopulationSizes(np.array([1, 1, *[90] * 23]), absent=True, everyone=10_000)
    view = ClassView(np.array([*[1] * 5, *[5] * 20]), population=population)
    held, measured = held_and_measured("population-uniqueness", {"max": 0.01}, view)
    assert (held, measured) == (False, 2 / 105)
    weighted = ClassView(view.sizes, population=replace(population, estimated=True))
    assert held_and_measured("population-uniqueness", {"max": 0.01}, weighted)[1] < 0.01


@given(views())
def test_people_who_are_alone_are_counted_among_the_unique_records(view: ClassView) -> None:
    unique = [
        risk
        for risk, size in zip(risks(view, people=True), risks(view, people=False), strict=True)
        if size == 1
    ]
    expected = Fraction(sum(risk == 1 for risk in unique), len(unique)) if unique else Fraction(0)
    parameters = {"max": float(expected), "estimator": "count", "of": "sample-uniques"}
    held, measured = held_and_measured("population-uniqueness", parameters, view)
    assert held
    assert measured == float(expected)


@pytest.mark.parametrize("most", [0.2, 0.1, 0.05, 0.09])
def test_the_highest_risk_is_exact_at_the_threshold(most: float) -> None:
    """A fifth of a probability needs five records, not six."""
    number = -(-1 // Fraction(str(most)))
    for size, expected in ((number, True), (number - 1, False)):
        held, _ = held_and_measured("prosecutor-risk", {"max": most}, ClassView(np.array([int(size)])))
        assert held is expected


def test_the_known_inpatients() -> None:
    """Three classes of four: every risk is one quarter."""
    with shared("data", "literature", "ldiversity_inpatients_4anonymous.csv").open(encoding="utf-8") as file:
        _, *rows = csv.reader(file)
    sizes = np.array([*Counter(tuple(row[1:-1]) for row in rows).values()])
    assert sizes.tolist() == [4, 4, 4]
    for name, parameters in (
        ("prosecutor-risk", {"max": 1}),
        ("prosecutor-risk", {"max": 1, "at": "mean"}),
        ("marketer-risk", {"max": 1}),
    ):
        assert held_and_measured(name, parameters, ClassView(sizes))[1] == 0.25
    above = {"max": 1, "at": {"share-above": 0.25}}
    assert held_and_measured("prosecutor-risk", above, ClassView(sizes))[1] == 0
