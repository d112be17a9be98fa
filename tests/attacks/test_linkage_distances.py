"""How far original values and records are from published ones."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given

from anonymizer.attacks.coverage import meaning_of
from anonymizer.attacks.linkage.distances import (
    ComparisonSpace,
    Mahalanobis,
    Numbers,
    RankDistance,
    gaps_of,
    rank_scale,
    standard_scale,
)
from anonymizer.attacks.links import NOTHING
from tests import strategies
from tests.helpers.linkage import TREE, attribute
from tests.twins.microdata import QuasiIdentifierSpec


def test_gaps_of_numbers_go_to_the_nearest_covered_one():
    own = attribute([0, 2, 4, 10, None])
    meaning = meaning_of(own, ["2", "[2, 10]", "{0, 10}", "*", "<missing>", "7"])
    gaps = gaps_of(meaning, lambda column: lambda numbers: numbers).rows(np.arange(5))
    assert gaps.tolist() == [
        [-2, -2, 0, 0, 10, -7],
        [0, 0, 2, 0, 10, -5],
        [2, 0, 4, 0, 10, -3],
        [8, 0, 0, 0, 10, 3],
        [10, 10, 10, 0, 0, 10],
    ]


def test_numbers_are_scaled_by_deviation_or_rank():
    column = attribute([0, 2, 4, 6]).column
    assert standard_scale(Numbers.of(column))(np.array([0.0, 5**0.5])).tolist() == pytest.approx([0, 1])
    assert rank_scale(Numbers.of(column))(np.array([-1, 0, 1, 2, 6, 9])).tolist() == [
        0,
        0.125,
        0.25,
        0.375,
        0.875,
        1,
    ]
    constant = attribute([3]).column
    assert standard_scale(Numbers.of(constant))(np.array([3.0, 4.0])).tolist() == [3, 4]


def test_gaps_of_categories_are_the_share_of_the_height_of_the_common_ancestor():
    meaning = meaning_of(attribute(["a", "b", "c", "d"], TREE), ["a", "ab", "{b, d}", "*", "?"])
    gaps = gaps_of(meaning, standard_scale).rows(np.arange(4))
    assert gaps.tolist() == [
        [0, 0, 0.5, 0, 1],
        [0.5, 0, 0, 0, 1],
        [1, 1, 0.5, 0, 1],
        [1, 1, 0, 0, 1],
    ]


@given(strategies.randoms())
def test_a_gap_is_zero_iff_the_text_covers_the_value(random: Random):
    spec: QuasiIdentifierSpec = strategies.quasi_identifier(random, 0, random.randint(1, 3))
    values = list(spec.paths)
    own = attribute(values, dict(spec.paths))
    labels = {label for path in spec.paths.values() for label in path}
    if spec.numeric:
        labels |= {"3.5", "[2, 9]", "[-3, 4]"}
    meaning = meaning_of(own, sorted(labels | {"*", "<missing>"}))
    covered = np.zeros((own.column.size, len(meaning.sizes)), dtype=bool)
    covered[meaning.values, np.repeat(np.arange(len(meaning.sizes)), meaning.sizes)] = True
    for scale in (standard_scale, rank_scale):
        gaps = gaps_of(meaning, scale).rows(np.arange(own.column.size))
        assert ((gaps == 0) == covered).all()


def space_of(points: list[list[int]], texts: list[list[str]]) -> ComparisonSpace:
    """Return the space of distinct points, each one record, and published texts."""
    meanings = tuple(
        meaning_of(attribute(list(own)), labels)
        for own, labels in zip(zip(*points, strict=True), texts, strict=True)
    )
    codes = [np.unique(own, return_inverse=True)[1] for own in zip(*points, strict=True)]
    numbers = np.meshgrid(*(np.arange(len(own)) for own in texts))
    classes = np.stack(numbers, axis=-1).reshape(-1, len(texts))
    ones = np.ones(len(points), dtype=np.int64)
    return ComparisonSpace(
        tuple(f"q{position}" for position in range(len(texts))),
        meanings,
        np.stack(codes, axis=1).astype(np.int32),
        ones,
        classes.astype(np.int32),
        np.ones(len(classes), dtype=np.int64),
        NOTHING,
        each=False,
    )


def test_mahalanobis_weighs_by_the_inverse_covariance():
    points = [[1, 10], [2, 11], [4, 19], [7, 20], [9, 35]]
    texts = [["3", "8"], ["12", "30", "[40, 50]"]]
    numbers = np.array(points, dtype=np.float64)
    inverse = np.linalg.inv(np.cov(numbers.T, bias=True))
    space = space_of(points, texts)
    found = Mahalanobis(space).rows(np.arange(5))
    published = [[3.0, 8.0], [12.0, 30.0, 40.0]]
    for column, (first, second) in enumerate(space.classes):
        gaps = numbers - [published[0][first], published[1][second]]
        expected = np.einsum("ij,jk,ik->i", gaps, inverse, gaps)
        assert found[:, column] == pytest.approx(expected)


def test_along_a_dependent_attribute_mahalanobis_is_euclid():
    points = [[1, 2], [2, 4], [5, 10]]
    space = space_of(points, [["2"], ["4", "10"]])
    found = Mahalanobis(space).rows(np.arange(3))
    assert found[1, 0] == 0
    assert (found[:, 1] > 0.1).all()


def test_rank_distance_is_of_ranks():
    space = space_of([[1, 100], [2, 200], [300, 7]], [["1", "250"], ["7"]])
    found = RankDistance(space).rows(np.arange(3))
    first = np.array([1, 3, 5]) / 6
    second = np.array([3, 5, 1]) / 6
    for column, own in enumerate((1 / 6, 4 / 6)):
        assert found[:, column] == pytest.approx((first - own) ** 4 + (second - 1 / 6) ** 4)
