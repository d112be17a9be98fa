"""Originals joined by masks of bits and by prefixes: the same pairs in the same order."""

from __future__ import annotations

import numpy as np
import pytest

from anonymizer.attacks import joins
from anonymizer.attacks.joins import CoveringJoin
from anonymizer.model.adversary import ValueCoverage
from anonymizer.model.arrays import IntArray
from anonymizer.model.table import Column, ValueType


def meaning(random: np.random.Generator, values: int, texts: int) -> ValueCoverage:
    """Return texts that each cover some of the values."""
    covers = random.random((texts, values)) < random.random()
    texts_of = tuple(f"{place:03}" for place in range(values))
    column = Column("a", ValueType.TEXT, texts_of, np.ones(values, dtype=np.int64), None, None)
    starts = np.concatenate([[0], np.cumsum(covers.sum(axis=1))]).astype(np.int64)
    none = np.full(texts, np.nan)
    return ValueCoverage(column, starts, np.nonzero(covers)[1].astype(np.int64), none, none)


def pairs(join: CoveringJoin, original: IntArray) -> list[tuple[int, int]]:
    """Return all pairs in their order."""
    found: list[tuple[int, int]] = []
    for block, own in join.blocks(original):
        found += zip(block[own.original].tolist(), own.published.tolist(), strict=True)
    return found


@pytest.mark.parametrize("most", [1 << 23, 40])
@pytest.mark.parametrize("seed", range(1, 21))
def test_masks_find_the_pairs_of_prefixes(seed: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 9, size=(int(random.integers(1, 5)), 2))
    meanings = [meaning(random, *own) for own in sizes.tolist()]
    original = np.column_stack([random.integers(-1, own, size=150) for own, _ in sizes.tolist()])
    published = np.column_stack([random.integers(0, own, size=int(seed * 9)) for _, own in sizes.tolist()])
    monkeypatch.setattr(joins, "PAIRS", most)
    by_masks = pairs(CoveringJoin(meanings, published), original)
    monkeypatch.setattr(joins, "MASKED", 0)
    assert by_masks == pairs(CoveringJoin(meanings, published), original)
