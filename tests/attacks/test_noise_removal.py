"""Noise removal from masked numbers, against its definition record by record."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonymizer as an
from anonymizer.attacks.noise_removal import Filter, remove_noise
from anonymizer.masking import AdditiveNoise
from tests.helpers.examples import share
from tests.twins.attacks import denoised

METHODS = [each.value for each in Filter]


def related(records: int = 400, attributes: int = 6, seed: int = 3) -> pd.DataFrame:
    """Return attributes that two hidden ones explain but for a little."""
    random = np.random.default_rng(seed)
    hidden = random.normal(size=(records, 2)) @ random.normal(size=(2, attributes))
    numbers = 50 + 10 * (hidden + 0.05 * random.normal(size=(records, attributes)))
    return pd.DataFrame(numbers.round(3), columns=[f"q{position}" for position in range(attributes)])


def attack(original: pd.DataFrame, masked: pd.DataFrame, **options: Any) -> pd.DataFrame:
    config = {
        "attributes": {name: {"role": "quasi-identifier", "type": "number"} for name in original.columns},
        "constraints": [{"model": "k-anonymity", "k": 1}],
        "attacks": [{"attack": "noise-removal", "aligned": True, **options}],
    }
    return an.attack(masked, original, config, force=True)


@share(3)
@given(
    st.integers(0, 100_000),
    st.sampled_from(METHODS),
    st.sampled_from([0.1, 0.5, 0.9]),  # 1.0 is at the threshold of pca
    st.integers(1, 4),
)
def test_it_is_the_definition(seed: int, method: str, noise: float, attributes: int) -> None:
    random = Random(seed)
    rows = [[random.gauss(0, 1 + place) for place in range(attributes)] for _ in range(random.randint(6, 20))]
    counts = [random.randint(1, 3) for _ in rows]
    records = [row for row, number in zip(rows, counts, strict=True) for _ in range(number)]
    expected = denoised(records, method, noise)
    found = remove_noise(np.array(rows), np.array(counts), Filter(method), noise).values
    every = [row for row, number in zip(found.tolist(), counts, strict=True) for _ in range(number)]
    assert np.array(every) == pytest.approx(np.array(expected), abs=1e-8)


@pytest.mark.quick(2)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("known", [{"share": 0.5}, {}], ids=["known", "estimated"])
def test_noise_on_correlated_numbers_is_mostly_removed(method: str, known: dict[str, Any]) -> None:
    original = related()
    masked = AdditiveNoise(0.5).mask(original, seed=1).round(4)
    found = attack(original, masked, method=method, width=0.2, **known)
    assert len(found) == 6
    for entry in found.to_dict("records"):
        details = entry["details"]
        assert entry["success"] > 1.2 * details["as_published"] > entry["baseline"]
        assert details["error"] < 0.8 * details["error_as_published"]
        assert details["share"] == pytest.approx(0.5, abs=0.06)


def test_of_independent_numbers_only_the_mean_is_known_besides() -> None:
    """A shrunken normal number has 1 / sqrt(1 + share²) of the error."""
    original = pd.DataFrame(np.random.default_rng(4).normal(40, 9, (3000, 1)).round(3), columns=["q0"])
    masked = AdditiveNoise(1.0).mask(original, seed=1).round(4)
    details = attack(original, masked, share=1)["details"][0]
    assert details["error"] == pytest.approx(details["error_as_published"] / 2**0.5, rel=0.03)


def test_without_noise_nothing_is_changed() -> None:
    original = related(60, 3)
    found = attack(original, original, share="0.000001")
    assert found["success"].tolist() == [1.0] * 3


@pytest.mark.parametrize(
    ("options", "columns", "what"),
    [
        ({}, 1, r"needs the deviation of the noise \(set share\)"),
        ({"attributes": ["salary"]}, 3, "'salary' is not a numeric quasi-identifier"),
        ({"method": "guess"}, 3, "attacks"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], columns: int, what: str) -> None:
    with pytest.raises(an.InputError, match=what):
        attack(related(20, columns), related(20, columns), **options)


def test_constant_and_missing_numbers_stay_as_they_are() -> None:
    original = related(50, 3).assign(q3=7.0)
    masked = AdditiveNoise(0.3).mask(original, seed=1).round(4)
    masked.loc[0, "q0"] = np.nan
    found = attack(original, masked, share=0.3).set_index(pd.Index(["q0", "q1", "q2", "q3"]))
    assert found["records"].tolist() == [49] * 4
    assert found["success"]["q3"] == 1
