"""Uniqueness in the population: the published example, slow twins, and simulated populations."""

from __future__ import annotations

import csv
from collections import Counter
from fractions import Fraction
from math import comb, log

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError
from syrupy.assertion import SnapshotAssertion

from anonymizer.attacks.uniqueness import (
    SampleClasses,
    Uniqueness,
    UniquenessSettings,
    fitted,
    individual_risk,
    log_likelihood,
    negative_binomial_uniques,
    pitman_uniques,
    zayatz_uniques,
)
from anonymizer.errors import InputError
from anonymizer.model.adversary import AdversaryView
from tests.attacks.published import FEWER, attack, one, refused, release
from tests.helpers.messages import exchange
from tests.shared import shared
from tests.twins import attacks as twins

KEYS = ("Key1", "Key2", "Key3", "Key4")


def sample(*classes: tuple[int, float]) -> SampleClasses:
    sizes, population = zip(*classes, strict=True)
    return SampleClasses(np.array(sizes), np.array(population, dtype=np.float64))


def test_published_example_of_eight_records() -> None:
    """fk and Fk as in the literature of the example; the individual risk is that of the closed forms.

    The file comes without printed risks, so that these are worked out: ln F / (F - 1) where f = 1, and with
    p = 2/F, p (p ln p + 1 - p) / (1 - p)^2 where f = 2. That of the class of f = 1, F = 17 is in
    sdcMicro's own tests too (see below).
    """
    with shared("data", "sdc_francdat", "data.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    rows = [tuple(line[key] for key in KEYS) for line in lines]
    table = release(KEYS, rows, weights=[float(line["w"]) for line in lines])
    own = Uniqueness(UniquenessSettings(weights="w")).sample(table)
    risk = individual_risk(own)
    place = {
        tuple(labels[code] for labels, code in zip(table.labels, codes, strict=True)): number
        for codes, number in zip(table.codes, table.classes().class_of, strict=True)
    }
    classes = [place[row] for row in rows]
    assert own.sizes[classes].tolist() == [2, 2, 2, 1, 1, 1, 1, 2]
    assert own.population[classes].tolist() == [110, 84.5, 84.5, 17, 541, 8, 5, 110]
    known = [0.01714426, 0.02204233, 0.02204233, 0.17707583, 0.01165448, 0.29706308, 0.40235948, 0.01714426]
    assert risk[classes].tolist() == pytest.approx(known, abs=6e-9)
    found = one("uniqueness", table, weights="w")
    assert found.success == Fraction(4, 8)
    expected = found.details["population"]
    assert expected["records"] == 765.5
    assert expected["expected_uniques"]["negative-binomial"] == pytest.approx(
        1 / 17 + 1 / 541 + 1 / 8 + 1 / 5
    )
    assert expected["individual_risk"]["largest"] == pytest.approx(log(5) / 4)


def test_figures_that_sdcmicro_is_tested_with() -> None:
    """Its indivRisk with method "exact" on the eight records of its own tests, to the digits given there."""
    keys = [(2, 3, 1), (3, 3, 3), (2, 3, 1), (2, 3, 2), (3, 3, 1), (3, 3, 1), (1, 4, 1), (2, 3, 1)]
    weights = [18.0, 45.5, 39.0, 17.0, 92.0, 8.0, 123.5, 51.0]
    rows = [tuple(str(value) for value in row) for row in keys]
    table = release(("A", "B", "C"), rows, weights=weights)
    own = Uniqueness(UniquenessSettings(weights="w")).sample(table)
    found = sorted(zip(own.sizes.tolist(), own.population.tolist(), individual_risk(own), strict=True))
    assert [each[:2] for each in found] == [(1, 17), (1, 45.5), (1, 123.5), (2, 100), (3, 108)]
    printed = [0.17707583, 0.08579129, 0.03931625, 0.01877883, 0.01355297]
    assert [each[2] for each in found] == pytest.approx(printed, abs=6e-9)


@FEWER
@given(st.integers(1, 12), st.floats(1.0, 60.0))
def test_individual_risk_is_the_mean_of_one_over_the_class(size: int, weight: float) -> None:
    risk = individual_risk(sample((size, size * weight)))[0]
    assert risk == pytest.approx(twins.individual_risk(size, 1 / weight), rel=1e-7)


@pytest.mark.quick(8)
@pytest.mark.parametrize("size", [39, 40, 41, 60, 150, 2_000])
@pytest.mark.parametrize("weight", [1.0, 1.5, 20.0, 100_000.0])
def test_individual_risk_of_large_classes_is_its_integral(size: int, weight: float) -> None:
    """By Euler: 2F1(1, 1; f + 1; z) is the integral of f (1 - t)^(f - 1) / (1 - z t) over 0 to 1."""
    share = 1 / weight
    points = (np.arange(2_000_000) + 0.5) / 2_000_000
    weights = size * (1 - points) ** (size - 1)
    integral = float(np.mean(weights / (1 - (1 - share) * points)))
    assert individual_risk(sample((size, size * weight)))[0] == pytest.approx(
        share / size * integral, rel=1e-6
    )


def test_closed_forms_of_individual_risk() -> None:
    p = 2 / 110
    risk = individual_risk(sample((1, 17), (2, 110), (3, 3)))
    assert risk.tolist() == pytest.approx([log(17) / 16, p / (1 - p) ** 2 * (p * log(p) + 1 - p), 1 / 3])


@FEWER
@example(sizes=[1, 1, 1, 4, 2], others=3)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=8), st.integers(0, 30))
def test_zayatz_is_bayes_theorem(sizes: list[int], others: int) -> None:
    people = sum(sizes) + others
    own = sample(*((size, size * people / sum(sizes)) for size in sizes))
    left_one = {
        size: Fraction(size * comb(people - size, sum(sizes) - 1), comb(people, sum(sizes)))
        for size in set(sizes)
    }
    numbers = Counter(sizes)
    whole = sum(numbers[size] * left_one[size] for size in left_one)
    expected = 0.0
    if numbers[1]:
        expected = float(numbers[1] * numbers[1] * left_one[1] / whole)
    assert zayatz_uniques(own) == pytest.approx(expected, rel=1e-6)


def restaurant(number: int, alpha: float, theta: float, random: np.random.Generator) -> list[int]:
    """Return the table of each guest: the process that Pitman's sampling formula describes."""
    tables: list[int] = []
    seats: list[int] = []
    for guest in range(number):
        weights = np.array([*(size - alpha for size in seats), theta + alpha * len(seats)]) / (guest + theta)
        chosen = int(random.choice(len(weights), p=weights))
        if chosen == len(seats):
            seats.append(0)
        seats[chosen] += 1
        tables.append(chosen)
    return tables


def test_pitman_finds_the_uniques_of_its_own_populations() -> None:
    random = np.random.default_rng(5)
    unique, expected = 0, 0.0
    for _ in range(6):
        people = restaurant(1500, 0.6, 20.0, random)
        everywhere = Counter(people)
        chosen = random.choice(1500, 300, replace=False)
        here = Counter(people[position] for position in chosen)
        unique += sum(everywhere[people[position]] == 1 for position in chosen)
        expected += pitman_uniques(sample(*((size, size * 5.0) for size in here.values())))
    assert expected == pytest.approx(unique, rel=0.15)


def test_pitman_is_fitted_by_largest_likelihood() -> None:
    own = sample(*(((1, 10.0),) * 12), *(((2, 20.0),) * 4), (7, 70.0), (15, 150.0))
    alpha, theta = fitted(own)
    best = log_likelihood(own, alpha, theta)
    for other in np.linspace(0.02, 0.98, 25):
        for start in np.linspace(-other + 0.05, 60, 40):
            assert log_likelihood(own, float(other), float(start)) <= best + 1e-9
    twin = twins.pitman_log_likelihood(own.sizes.tolist(), alpha, theta)
    shift = twins.pitman_log_likelihood(own.sizes.tolist(), 0.3, 4.0) - log_likelihood(own, 0.3, 4.0)
    assert twin - best == pytest.approx(shift, abs=1e-8)


def test_uniques_of_a_sample_that_is_the_population() -> None:
    own = sample((1, 1.0), (1, 1.0), (2, 2.0), (3, 3.0))
    for estimator in (negative_binomial_uniques, zayatz_uniques, pitman_uniques):
        assert estimator(own) == pytest.approx(2, abs=1e-6)


def test_no_uniques_in_the_sample() -> None:
    own = sample((2, 20.0), (3, 30.0))
    for estimator in (negative_binomial_uniques, zayatz_uniques, pitman_uniques):
        assert estimator(own) == 0


def test_population_of_equal_weights() -> None:
    rows = [("a",), ("b",), ("b",), ("c",)]
    found = one("uniqueness", release(("q",), rows), population=40)
    assert found.details["population"]["records"] == pytest.approx(40)
    assert found.details["population"]["expected_uniques"]["negative-binomial"] == pytest.approx(0.2)
    assert found.success == Fraction(2, 4)
    assert found.details["classes_by_size"] == {1: 2, 2: 1}


def test_the_probability_of_a_sample_unique_is_near_the_truth() -> None:
    random = np.random.default_rng(3)
    truth, expected = 0.0, 0.0
    for number in (300, 500, 750):
        people = restaurant(1500, 0.6, 20.0, random)
        everywhere = Counter(people)
        drawn = [people[position] for position in random.choice(1500, number, replace=False)]
        here = Counter(drawn)
        unique = [each for each in drawn if here[each] == 1]
        truth += sum(everywhere[each] == 1 for each in unique) / len(unique) / 3
        found = one("uniqueness", release(("q",), [(str(each),) for each in drawn]), population=1500)
        own = found.details["population"]["unique_given_unique"]
        assert all(0 <= each <= 1 for each in own.values())
        expected += own["pitman"] / 3
    assert expected == pytest.approx(truth, rel=0.15)


def test_records_are_counted_by_their_probability_of_being_unique() -> None:
    rows = [("a",), ("b",), ("b",), ("c",), ("d",), ("e",)]
    table = release(("q",), rows, weights=[1.0, 3.0, 3.0, 2.0, 1000.0, 20.0])
    details = one("uniqueness", table, weights="w").details["population"]
    chances = {"a": 1, "c": 1 / 2, "d": 1 / 1000, "e": 1 / 20}
    expected = {"0": 2, "0.01": 1, "0.05": 1, "0.1": 0, "0.2": 0, "0.5": 1, "1": 1}
    assert details["records_by_uniqueness"] == expected
    assert sum(expected.values()) == len(rows)
    mean = sum(chances.values()) / len(chances)
    assert details["unique_given_unique"]["negative-binomial"] == pytest.approx(mean)


def test_without_unique_records_there_is_no_probability() -> None:
    details = one("uniqueness", release(("q",), [("a",), ("a",)]), population=20).details["population"]
    assert set(details["unique_given_unique"].values()) == {None}


def test_bad_weights_are_refused(message: SnapshotAssertion) -> None:
    table = release(("q",), [("a",), ("b",)], weights=[1.0, -2.0])
    for parameters in ({"weights": "w"}, {"population": 1}):
        with pytest.raises(InputError) as error:
            one("uniqueness", table, **parameters)
        assert exchange(parameters, error.value) == message
    said = refused("uniqueness", AdversaryView(table), weights="v")
    assert exchange("weights: v", said) == message
    with pytest.raises(ValidationError):
        attack("uniqueness", weights="w", population=3)
