"""The copula estimate of population uniqueness: slow twins, populations of its own, and Adult."""

from __future__ import annotations

from fractions import Fraction
from math import comb, log

import numpy as np
import pytest
import scipy  # scipy.stats, which takes a second to load, is loaded where it is used
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from anonymizer.attacks.copula import Copula, correct_in, information, pair_probabilities, unique_in
from anonymizer.attacks.uniqueness import SampleClasses, Uniqueness, UniquenessSettings, copula_uniques
from anonymizer.model.classes import ClassValues, ClassView
from anonymizer.model.population import PopulationSizes
from anonymizer.privacy.population_uniqueness import PopulationUniqueness, PopulationUniquenessSettings
from tests.attacks.published import FEWER, one, release
from tests.helpers.adult import FIVE, encoded


def matrix(correlations: list[float]) -> np.ndarray:
    """Return the correlation of three variables that a common factor makes."""
    loads = np.array(correlations)
    found = np.outer(loads, loads)
    np.fill_diagonal(found, 1)
    return found


def normal_box(low: list[float], high: list[float], correlation: np.ndarray) -> float:
    """Return the probability of a box by SciPy, which shares no code with the product."""
    law = scipy.stats.multivariate_normal(cov=correlation, abseps=1e-7, releps=1e-5, maxpts=20_000)
    ends = np.clip(high, -9, 9), np.clip(low, -9, 9)
    return float(law.cdf(ends[0], lower_limit=ends[1]))


@FEWER
@given(
    st.lists(st.lists(st.integers(1, 20), min_size=1, max_size=3), min_size=1, max_size=3),
    st.lists(st.floats(-0.9, 0.9), min_size=3, max_size=3),
)
def test_probability_is_that_of_a_box_of_normal_variables(
    people: list[list[int]], loads: list[float]
) -> None:
    edges = [np.array([-np.inf, *ndtri(np.cumsum(own)[:-1] / sum(own)), np.inf]) for own in people]
    correlation = matrix(loads)[: len(edges), : len(edges)]
    values = np.array(list(np.ndindex(*(len(own) for own in people))))
    found = Copula(tuple(edges), correlation).probability(values)
    for row, own in zip(values.tolist(), found.tolist(), strict=True):
        low = [each[place] for each, place in zip(edges, row, strict=True)]
        high = [each[place + 1] for each, place in zip(edges, row, strict=True)]
        assert own == pytest.approx(normal_box(low, high, correlation), abs=2e-3)
    assert found.sum() == pytest.approx(1, abs=5e-3)


@FEWER
@given(st.floats(-0.98, 0.98), st.lists(st.floats(-2.5, 2.5), min_size=2, max_size=2, unique=True))
def test_probability_of_pairs_is_that_of_two_normal_variables(correlation: float, ends: list[float]) -> None:
    one_edges = np.array([-np.inf, *sorted(ends), np.inf])
    two_edges = np.array([-np.inf, ends[0], np.inf])
    found = pair_probabilities(one_edges, two_edges, correlation)
    own = np.array([[1, correlation], [correlation, 1]])
    for row in range(3):
        for column in range(2):
            box = ([one_edges[row], two_edges[column]], [one_edges[row + 1], two_edges[column + 1]])
            assert found[row, column] == pytest.approx(normal_box(*box, own), abs=1e-6)


@FEWER
@given(st.fractions(0, 1, max_denominator=40), st.integers(1, 30))
def test_uniqueness_and_correctness_are_sums_over_the_other_people(p: Fraction, people: int) -> None:
    """Nobody, one, two … of the N - 1 others have the values of a person, each with probability p."""
    chances = [comb(people - 1, m) * p**m * (1 - p) ** (people - 1 - m) for m in range(people)]
    given_p = np.array([float(p)])
    assert unique_in(given_p, people)[0] == pytest.approx(float(chances[0]), rel=1e-9, abs=1e-12)
    right = sum(chance / (m + 1) for m, chance in enumerate(chances))
    assert correct_in(given_p, people)[0] == pytest.approx(float(right), rel=1e-9)


def test_rare_values_keep_their_digits() -> None:
    assert correct_in(np.array([1e-18]), 1e6)[0] == pytest.approx(1)
    assert unique_in(np.array([1e-18]), 1e6)[0] == pytest.approx(1)


@FEWER
@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=2, max_size=4))
def test_mutual_information_is_its_definition(counts: list[list[int]]) -> None:
    joint = np.array(counts, dtype=np.float64) + np.eye(len(counts), 3)
    joint /= joint.sum()
    expected = sum(
        joint[i, j] * log(joint[i, j] / (joint[i].sum() * joint[:, j].sum()))
        for i, j in np.ndindex(*joint.shape)
        if joint[i, j] > 0
    )
    assert information(joint) == pytest.approx(expected, abs=1e-12)


def sample_of(values: np.ndarray, people: int) -> SampleClasses:
    distinct, sizes = np.unique(values, axis=0, return_counts=True)
    ranks = np.stack([np.unique(own, return_inverse=True)[1] for own in distinct.T], axis=1)
    return SampleClasses(sizes, sizes * (people / len(values)), ranks)


def drawn(correlation: np.ndarray, bins: int, number: int, seed: int) -> np.ndarray:
    """Draw people from a copula of attributes with equally frequent values."""
    random = np.random.default_rng(seed)
    scores = random.multivariate_normal(np.zeros(len(correlation)), correlation, number)
    return np.stack([np.searchsorted(ndtri(np.arange(1, bins) / bins), own) for own in scores.T], axis=1)


@pytest.mark.quick(1)
@pytest.mark.parametrize("loads", [[0.0, 0.0, 0.0], [0.8, 0.6, 0.5], [0.9, -0.8, 0.7]])
def test_its_own_populations_are_told_from_a_tenth(loads: list[float]) -> None:
    correlation = matrix(loads)
    everyone = drawn(correlation, 30, 20_000, 1)
    _, own, sizes = np.unique(everyone, axis=0, return_inverse=True, return_counts=True)
    here = np.random.default_rng(2).choice(len(everyone), 2_000, replace=False)
    unique, correct = (sizes[own.ravel()[here]] == 1).mean(), (1 / sizes[own.ravel()[here]]).mean()
    sample = sample_of(everyone[here], len(everyone))
    fitted = Copula.fitted(sample.values, sample.population, sample.records).correlation
    # Chance alone has some mutual information, which a weak correlation could have too.
    assert np.abs(fitted - correlation).max() < (0.06 if any(loads) else 0.25)
    assert copula_uniques(sample) / 2_000 == pytest.approx(unique, abs=0.03)
    chance = sample.probability
    assert unique_in(chance, 20_000) @ sample.sizes / 2_000 == pytest.approx(unique, abs=0.03)
    assert correct_in(chance, 20_000) @ sample.sizes / 2_000 == pytest.approx(correct, abs=0.03)


@pytest.mark.slow
def test_adult_from_a_fifth_of_it() -> None:
    """By five attributes 11 % of Adult are unique; ages are numbers, other values in order of frequency."""
    everyone = np.stack([encoded(name)[1] for name in FIVE], axis=1)
    _, own, sizes = np.unique(everyone, axis=0, return_inverse=True, return_counts=True)
    here = np.random.default_rng(1).choice(len(everyone), len(everyone) // 5, replace=False)
    rows = [
        tuple(encoded(name)[0][code] for name, code in zip(FIVE, everyone[each], strict=True))
        for each in here
    ]
    details = one("uniqueness", release(FIVE, rows), population=len(everyone)).details["population"]
    truth = (sizes[own.ravel()[here]] == 1).sum()
    assert details["expected_uniques"]["copula"] == pytest.approx(truth, rel=0.4)
    copula = details["copula"]
    assert sum(copula["records_by_uniqueness"].values()) == len(here)
    assert copula["uniqueness"] <= copula["correctness"] <= 1


def test_the_order_of_codes_does_not_matter() -> None:
    """The search and the audit code values differently; both must find the same estimate."""
    random = np.random.default_rng(4)
    texts = [["3", "12", "7", "<2"], ["north", "south", "east"]]
    codes = np.array(list(np.ndindex(4, 3)))[random.permutation(12)[:9]]
    sizes = random.integers(1, 4, 9)
    settings = PopulationUniquenessSettings(max=1, estimator="copula")
    found = set()
    for _ in range(4):
        orders = [random.permutation(len(own)) for own in texts]
        rows = random.permutation(9)
        new = np.stack([np.argsort(order)[codes[rows, place]] for place, order in enumerate(orders)], axis=1)
        shown = [[own[code] for code in order] for own, order in zip(texts, orders, strict=True)]
        values = ClassValues(["a", "b"], lambda new=new: new, lambda shown=shown: shown)
        view = ClassView(sizes[rows], population=PopulationSizes(sizes[rows] * 10), values=values)
        found.add(PopulationUniqueness(settings).measured(view))
    assert max(found) - min(found) < 1e-9
    assert 0 < max(found) < 1


def test_edges_of_the_estimate() -> None:
    everyone = SampleClasses(np.array([1, 1, 2]), np.array([1.0, 1.0, 2.0]), np.array([[0], [1], [2]]))
    assert copula_uniques(everyone) == pytest.approx(2)
    nobody = SampleClasses(np.array([2, 3]), np.array([20.0, 30.0]), np.array([[0], [1]]))
    assert copula_uniques(nobody) == 0
    constant = SampleClasses(np.array([1]), np.array([5.0]), np.array([[0, 0]]))
    assert copula_uniques(constant) == 0
    assert Uniqueness(UniquenessSettings(population=9)).sample(release(("q",), [("a",)])).probability == 1
