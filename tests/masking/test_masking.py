"""What each masking method keeps and changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.errors import InputError
from anonymizer.masking import (
    AdditiveNoise,
    CorrelatedNoise,
    IndividualRanking,
    Masking,
    Microaggregation,
    RankSwapping,
)
from tests.helpers.messages import exchange
from tests.shared import shared
from tests.twins.masking import individual_ranking
from tests.twins.mdav import mdav

METHODS: list[Masking] = [
    Microaggregation(3),
    IndividualRanking(3),
    RankSwapping(10),
    AdditiveNoise(0.3),
    CorrelatedNoise(0.3),
]
RANDOM = [RankSwapping(10), AdditiveNoise(0.3), CorrelatedNoise(0.3)]


def name(method: Masking) -> str:
    return type(method).__name__


def records(seed: int = 0, number: int = 200) -> np.ndarray:
    """Return three correlated attributes of different scales."""
    random = np.random.default_rng(seed)
    first, second, third = random.standard_normal((3, number))
    return np.column_stack([first, 100 * (first + second), 0.01 * third])


@pytest.mark.parametrize("method", METHODS, ids=name)
def test_frames_and_arrays_are_masked_alike(method: Masking) -> None:
    data = records()
    before = data.copy()
    frame = pd.DataFrame(data, columns=["a", "b", "c"], index=np.arange(200) + 7)
    masked = method.mask(frame, seed=3)
    assert list(masked.columns) == ["a", "b", "c"]
    assert masked.index.equals(frame.index)
    assert np.array_equal(masked.to_numpy(), method.mask(data, seed=3))
    assert np.array_equal(data, before)
    assert not np.array_equal(masked.to_numpy(), data)


@pytest.mark.parametrize("method", RANDOM, ids=name)
def test_the_seed_decides(method: Masking) -> None:
    data = records()
    assert np.array_equal(method.mask(data, seed=1), method.mask(data, seed=1))
    assert not np.array_equal(method.mask(data, seed=1), method.mask(data, seed=2))


@pytest.mark.parametrize("method", METHODS, ids=name)
def test_one_record_and_constant_attributes(method: Masking) -> None:
    assert np.array_equal(method.mask(np.array([[3, 4]])), [[3.0, 4.0]])
    data = records()
    data[:, 1] = 0.1
    assert method.mask(data)[:, 1] == pytest.approx(0.1, abs=1e-15)


@pytest.mark.parametrize("method", METHODS, ids=name)
@pytest.mark.parametrize(
    ("data", "said"),
    [
        (np.zeros(3), "records by attributes"),
        (np.zeros((0, 2)), "records by attributes"),
        (np.array([[1.0, np.nan]]), "finite numbers"),
        (np.array([["x", "y"]]), "numbers"),
        (pd.DataFrame({"age": [1, 2], "sex": ["f", "m"]}), "'sex'"),
        (pd.DataFrame({"age": pd.array([1, None], dtype="Int64")}), "finite numbers"),
    ],
    ids=["one dimension", "empty", "missing", "texts", "a text column", "a missing cell"],
)
def test_what_has_no_numbers_is_refused(method: Masking, data: np.ndarray, said: str) -> None:
    with pytest.raises(InputError, match=said):
        method.mask(data)


@pytest.mark.parametrize(
    "wrong",
    [
        (Microaggregation, 0),
        (Microaggregation, [2, 3], [["a"]]),
        (Microaggregation, 2, [["a"], ["a", "b"]]),
        (IndividualRanking, 0),
        (RankSwapping, 0),
        (RankSwapping, 101),
        (AdditiveNoise, -1),
        (CorrelatedNoise, -1),
    ],
    ids=lambda wrong: f"{wrong[0].__name__}{wrong[1:]}",
)
def test_parameters_out_of_range_are_refused(wrong: tuple[Any, ...], message: SnapshotAssertion) -> None:
    method, *parameters = wrong
    with pytest.raises(InputError) as caught:
        method(*parameters)
    assert exchange(f"{method.__name__}{wrong[1:]}", caught.value) == message


def test_unknown_attributes_are_named() -> None:
    with pytest.raises(InputError, match="zip"):
        Microaggregation(2, [["zip"]]).mask(pd.DataFrame({"age": [1.0, 2.0]}))


def test_microaggregation_is_mdav_in_each_group() -> None:
    """On points whose coordinates need no scaling the groups are those of the record-by-record twin."""
    random = np.random.default_rng(4)
    data = random.permutation(np.arange(120.0)).reshape(40, 3)
    masked = Microaggregation([3, 4], [[0], [2]]).mask(data)
    assert np.array_equal(masked[:, 1], data[:, 1])
    for column, k in ((0, 3), (2, 4)):
        standard = (data[:, column] - data[:, column].mean()) / data[:, column].std()
        for cluster in mdav([(round(2.0**20 * value),) for value in standard], k):
            assert masked[cluster, column] == pytest.approx(data[cluster, column].mean())


@pytest.mark.parametrize("k", [2, 3, 8])
def test_microaggregated_records_are_alike_within_a_group_of_attributes(k: int) -> None:
    data = records()
    masked = Microaggregation(k, [[0, 1], [2]]).mask(data)
    for columns in ([0, 1], [2]):
        _, sizes = np.unique(masked[:, columns], axis=0, return_counts=True)
        assert sizes.min() >= k
        assert sizes.max() < 2 * k
    assert masked.mean(axis=0) == pytest.approx(data.mean(axis=0))
    assert len(np.unique(masked, axis=0)) > len(data) / (2 * k)


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=25), st.integers(1, 6))
def test_individual_ranking_is_that_of_the_twin(values: list[int], k: int) -> None:
    masked = IndividualRanking(k).mask(np.array(values)[:, None])
    assert masked[:, 0] == pytest.approx(individual_ranking(values, k))


@given(st.integers(0, 2**20), st.integers(1, 60), st.floats(0.5, 100))
def test_rank_swapping_permutes_within_its_range(seed: int, number: int, p: float) -> None:
    random = np.random.default_rng(seed)
    data = np.column_stack([random.permutation(number), random.integers(0, 4, number)]).astype(float)
    masked = RankSwapping(p).mask(data, seed=seed)
    assert np.array_equal(np.sort(masked, axis=0), np.sort(data, axis=0))
    moved = masked[:, 0] - data[:, 0]
    assert np.abs(moved).max() <= p * number / 100
    # Swapping is mutual: whoever has my value, I have his.
    holder = np.argsort(masked[:, 0])
    assert np.array_equal(masked[holder[data[:, 0].astype(int)], 0], data[:, 0])
    partner = dict(zip(data[:, 0], masked[:, 0], strict=True))
    assert all(partner[other] == value for value, other in partner.items())


def test_rank_swapping_moves_most_values() -> None:
    data = np.arange(1000.0)[:, None]
    moved = np.abs(RankSwapping(10).mask(data, seed=1) - data)
    assert (moved > 0).mean() > 0.9
    assert moved.max() > 80


def test_noise_has_the_size_it_is_asked_for() -> None:
    data = records(1, 20_000)
    error = AdditiveNoise(0.2).mask(data, seed=5) - data
    assert error.std(axis=0) / data.std(axis=0) == pytest.approx([0.2] * 3, rel=0.03)
    assert np.abs(np.corrcoef(error, rowvar=False) - np.eye(3)).max() < 0.03


def test_correlated_noise_has_the_covariances_of_the_data() -> None:
    data = records(2, 20_000)
    error = CorrelatedNoise(0.2).mask(data, seed=5) - data
    assert error.std(axis=0) / data.std(axis=0) == pytest.approx([0.2] * 3, rel=0.03)
    assert np.corrcoef(error, rowvar=False) == pytest.approx(np.corrcoef(data, rowvar=False), abs=0.03)
    assert abs(np.corrcoef(error, rowvar=False)[0, 1]) > 0.6


@pytest.mark.parametrize(("k", "loss"), [(3, 5.69), (5, 9.09), (10, 14.16)])
def test_microaggregation_of_census_loses_what_is_published(k: int, loss: float) -> None:
    """Squared error over all variance in percent, all 13 attributes together."""
    data = np.genfromtxt(shared("data", "casc_census", "data.csv.gz"), delimiter=",", skip_header=1)
    standard = (data - data.mean(axis=0)) / data.std(axis=0)
    error = Microaggregation(k).mask(standard) - standard
    assert 100 * (error**2).sum() / (standard**2).sum() == pytest.approx(loss, abs=0.01)
