"""Linkage where cells of the release were deleted: unknown values are neutral."""

from __future__ import annotations

from random import Random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from anonymizer.attacks.coverage import meaning_of
from anonymizer.attacks.linkage.distances import ROUNDS
from anonymizer.attacks.linkage.unknown import LEAST, Unknown
from anonymizer.masking.noise import AdditiveNoise
from anonymizer.masking.rank_swapping import RankSwapping
from tests import strategies
from tests.helpers.examples import share
from tests.helpers.linkage import attribute, frame_scene, linkage
from tests.twins.linkage import nearest_with_deleted

SIMPLE = 0.9
"""Share that the mean difference of the known cells links, rounded down."""


def lognormal(records: int = 400, columns: int = 6) -> pd.DataFrame:
    """Return correlated numbers."""
    random = np.random.default_rng(3)
    covariance = 0.16 * (np.full((columns, columns), 0.4) + 0.6 * np.eye(columns))
    numbers = 1000 * np.exp(random.multivariate_normal(np.zeros(columns), covariance, records))
    return pd.DataFrame(numbers.round(1), columns=list("abcdefgh"[:columns]))


def with_deleted(masked: pd.DataFrame, blank: str, share: float = 0.2) -> pd.DataFrame:
    """Return the release without a share of its cells."""
    holes = np.random.default_rng(8).random(masked.shape) < share
    return masked.round(2).astype(str).mask(holes, blank)


CASES = [
    ({}, SIMPLE),
    ({"distance": "mahalanobis"}, SIMPLE),
    ({"distance": "rank"}, 0.85),
    ({"distance": "largest-rank"}, 0.8),
    ({"distance": "likelihood"}, SIMPLE),
    ({"distance": "swap-partners"}, 0.85),
    ({"linkage": "probabilistic"}, 0.85),
    ({"linkage": "assignment"}, 0.98),
    ({"linkage": "assignment", "distance": "mahalanobis"}, 0.98),
    ({"standardise": "original"}, SIMPLE),
]
LONG = [({"linkage": "learned"}, SIMPLE), ({"linkage": "portfolio", "overlap": 0.25}, SIMPLE)]


@pytest.mark.quick(6)
@pytest.mark.parametrize(
    ("parameters", "least", "blank"),
    [
        *((*case, ("", "*")[place % 2]) for place, case in enumerate(CASES)),
        # Both are read as the same unknown, once for all attackers.
        ({}, SIMPLE, "*"),
        *(pytest.param(*case, "", marks=pytest.mark.slow) for case in LONG),
    ],
    ids=str,
)
def test_deleted_cells_hide_no_more_than_they_do(parameters, least, blank):
    original = lognormal()
    masked = with_deleted(AdditiveNoise(0.1).mask(original, 3), blank)
    assert linkage(frame_scene(original, masked), aligned=True, **parameters).success >= least


@share(3)
@given(strategies.randoms())
def test_nearest_with_deleted_cells_is_what_comparing_every_pair_finds(random: Random):
    records, columns = random.randint(2, 10), random.randint(1, 3)
    original = [[round(random.uniform(0, 6), 3) for _ in range(columns)] for _ in range(records)]
    masked = [
        [None if random.random() < 0.2 else round(value + random.gauss(0, 0.5), 3) for value in row]
        for row in original
    ]
    # A column of blanks alone has no numbers to compare.
    masked[0] = [value + 0.1 for value in original[0]]
    names = [f"q{position}" for position in range(columns)]
    published = pd.DataFrame(
        [["" if cell is None else str(cell) for cell in row] for row in masked], columns=names
    )
    found = linkage(
        frame_scene(pd.DataFrame(original, columns=names), published), aligned=True, standardise="original"
    )
    expected = nearest_with_deleted(original, masked, ROUNDS, LEAST)
    assert found.success == pytest.approx(float(expected), abs=1e-9)


TEXTS = ["1.5", "<missing>", "*", "?"]


@pytest.mark.parametrize(
    ("values", "records", "stars", "expected"),
    [
        # The original has no missing value: a blank, or what nobody can read, tells nothing.
        ([1, 2], [3, 1, 0, 0], False, [[0, 1, 0, 1], [0, 1, 0, 1]]),
        # As many missing values as the original: a blank is one of them.
        ([1, None], [2, 2, 0, 0], False, [[0, 0, 0, 0], [0, 0, 0, 0]]),
        # More: a blank agrees with a missing value, and tells nothing of numbers.
        ([1, None], [1, 3, 0, 0], False, [[0, 1, 0, 1], [0, 0, 0, 1]]),
        # Fewer, such as after imputation: a number tells nothing of a missing value.
        ([1, None], [3, 1, 0, 0], False, [[0, 0, 0, 0], [1, 0, 0, 1]]),
        # A star covers everything, but not among masked numbers.
        ([1, 2], [3, 0, 1, 0], True, [[0, 0, 1, 0], [0, 0, 1, 0]]),
        ([1, 2], [3, 0, 1, 0], False, [[0, 0, 0, 0], [0, 0, 0, 0]]),
    ],
)
def test_what_a_text_tells_depends_on_how_often_values_are_missing(values, records, stars, expected):
    meaning = meaning_of(attribute(values), TEXTS)
    unknown = Unknown.of(meaning, np.array(records), stars=stars)
    assert unknown.pairs(np.arange(2), np.arange(4)).astype(int).tolist() == expected
    assert unknown.any == bool(np.any(expected))


@pytest.mark.parametrize(
    ("masking", "least"), [(AdditiveNoise(0), 0.98), (RankSwapping(5), 0.95)], ids=["noise", "swapped"]
)
def test_stars_cover_everything_unless_values_are_swapped(masking, least):
    """Exact values are linked by covering; where they are swapped, a star would be nearer than a number."""
    original = lognormal()
    found = linkage(
        frame_scene(original, with_deleted(masking.mask(original, 1), "*")), aligned=True, distance="rank"
    )
    assert found.success >= least
