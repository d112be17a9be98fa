"""Assignment of held records to released ones, against every permutation of a few."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from random import Random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from anonymizer.attacks.coverage import meaning_of
from anonymizer.attacks.linkage import assignment, distances
from anonymizer.attacks.linkage.attack import DISTANCES
from anonymizer.attacks.linkage.distances import ComparisonSpace, comparison_space
from anonymizer.masking.rank_swapping import RankSwapping
from anonymizer.model.adversary import ValueCoverage
from anonymizer.model.arrays import FloatArray
from tests import strategies
from tests.attacks.test_linkage_errors import LETTERS, NUMBERS, TEXTS, letters, space_of
from tests.helpers.examples import share
from tests.helpers.linkage import attribute, frame_scene, linkage, noisy


def by_permutations(original: pd.DataFrame, masked: pd.DataFrame) -> tuple[float, float]:
    """Return the fewest and the most expected links over all assignments with the least sum of distances.

    Records that are equally far from all others are exchangeable, equal or not.
    """
    units = original.std(ddof=0).replace(0, 1).to_numpy()
    distances = (((original.to_numpy()[:, None] - masked.to_numpy()) / units) ** 2).sum(axis=2)
    rows, classes = (list(map(tuple, each.round(9).tolist())) for each in (distances, distances.T))
    held, released = Counter(rows), Counter(classes)
    plans = list(permutations(range(len(rows))))
    sums = [sum(distances[i, j] for i, j in enumerate(plan)) for plan in plans]
    shares = []
    for plan, total in zip(plans, sums, strict=True):
        if total < min(sums) + 1e-7:
            links = Counter((rows[i], classes[j]) for i, j in enumerate(plan))
            ends = zip(rows, classes, strict=True)
            right = [links[own, given] / held[own] / released[given] for own, given in ends]
            shares.append(sum(right) / len(rows))
    return min(shares), max(shares)


@share(3)
@given(strategies.randoms())
def test_ties_are_exact_or_between_the_fewest_and_the_most_links(random: Random):
    records, span = random.randint(2, 6), random.randint(1, 5)
    names = ["a", "b"][: random.randint(1, 2)]
    rows = [[float(random.randint(0, span)) for _ in names] for _ in range(records)]
    original = pd.DataFrame(rows, columns=names)
    masked = original + np.array([[random.choice((-1, 0, 0, 1)) for _ in names] for _ in range(records)])
    scene = frame_scene(original, masked)
    found = linkage(scene, aligned=True, linkage="assignment", standardise="original")
    least, most = by_permutations(original, masked)
    assert (found.low, found.high) == pytest.approx((least, most), abs=1e-9)
    assert least - 1e-9 <= found.success <= most + 1e-9
    assert found.details["estimated"] == (found.low < found.high)


def test_a_sample_of_targets_is_assigned_among_all_held_records():
    original, masked = noisy(6, records=150, noise=8.0)
    scene = frame_scene(original, masked)
    whole = linkage(scene, aligned=True, linkage="assignment")
    assert whole.low == whole.success == whole.high
    found = [linkage(scene, seed, aligned=True, linkage="assignment", targets=30) for seed in range(30)]
    assert {(each.records, each.details["held_records"]) for each in found} == {(30, 150)}
    mean = sum(each.success for each in found) / len(found)
    assert mean == pytest.approx(whole.success, abs=0.05)
    assert sum(each.low <= whole.success <= each.high for each in found) >= 27


def test_neighbourhoods_of_many_records_say_that_they_estimate(monkeypatch):
    original, masked = noisy(6, records=150, noise=8.0)
    scene = frame_scene(original, masked)
    whole = linkage(scene, aligned=True, linkage="assignment")
    monkeypatch.setattr(assignment, "POOL", 40)
    monkeypatch.setattr(assignment, "PLACES", 60)
    parts = linkage(scene, aligned=True, linkage="assignment")
    assert parts.details["blocks"] > 1
    assert parts.details["held_records"] == parts.records == 150
    assert parts.details["estimated"]
    assert parts.low < parts.success < parts.high
    assert parts.success == pytest.approx(whole.success, abs=0.06)
    monkeypatch.setattr(assignment, "SAMPLE", 20)
    assert linkage(scene, aligned=True, linkage="assignment").records == pytest.approx(100)


@pytest.mark.quick(2)
@pytest.mark.parametrize("seed", range(4))
def test_the_interval_of_neighbourhoods_reaches_the_assignment_of_all(monkeypatch, seed):
    """Many true classes are not among the few nearest ones, so that the success is too low."""
    original, masked = noisy(seed, records=200, noise=8.0)
    scene = frame_scene(original, masked)
    alone = linkage(scene, aligned=True)
    whole = linkage(scene, aligned=True, linkage="assignment", distance="mahalanobis")
    assert "note" not in whole.details
    monkeypatch.setattr(assignment, "POOL", 40)
    monkeypatch.setattr(assignment, "NEAR", 2)
    monkeypatch.setattr(assignment, "PLACES", 5)
    for distance in ("euclidean", "mahalanobis"):
        parts = linkage(scene, aligned=True, linkage="assignment", distance=distance, targets=200)
        assert parts.low < whole.success < parts.high
        assert parts.high > alone.success
        assert "may be too low" in parts.details["note"]


def swapped(records: int, columns: int, reach: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return numbers, and the same with values swapped with those of near ranks."""
    random = np.random.default_rng(seed)
    original = pd.DataFrame({f"q{i}": random.permutation(records) * 3.0 for i in range(columns)})
    masked = original.copy()
    for name in original:
        order, free = np.argsort(original[name].to_numpy()), set(range(records))
        for rank in range(records):
            near = [other for other in range(rank + 1, min(rank + reach + 1, records)) if other in free]
            if rank in free and near:
                other = int(random.choice(near))
                free.discard(other)
                masked.loc[order[[rank, other]], name] = original.loc[order[[other, rank]], name].to_numpy()
            free.discard(rank)
    return original, masked


def test_swap_partners_undo_rank_swapping():
    original, masked = swapped(120, 3, 30, 3)
    shuffled = np.random.default_rng(1).permutation(120)
    scene = frame_scene(original.iloc[shuffled].reset_index(drop=True), masked.iloc[shuffled])
    ranks = linkage(scene, aligned=True, linkage="assignment", distance="rank").success
    assert ranks < 0.6
    for method in ("nearest", "assignment"):
        found = linkage(scene, aligned=True, linkage=method, distance="swap-partners")
        assert found.success > ranks + 0.3


def partner_distances(space: ComparisonSpace) -> FloatArray:
    """Return the rank distances plus the least ones of partners, pair by pair."""
    every = np.arange(len(space.originals))
    plain = DISTANCES["rank"](space).rows(every)
    expected = plain.copy()
    for i, own in enumerate(space.originals):
        for r, texts in enumerate(space.classes):
            for position, meaning in enumerate(space.meanings):
                partners = [
                    plain[j, s]
                    for j, other in enumerate(space.originals)
                    for s, published in enumerate(space.classes)
                    if [other[position]] == covered(meaning, texts[position])
                    and [own[position]] == covered(meaning, published[position])
                ]
                expected[i, r] += min(partners, default=0.0)
    return expected


def covered(meaning: ValueCoverage, text: int) -> list[int]:
    return meaning.values[meaning.starts[text] : meaning.starts[text + 1]].tolist()


@given(strategies.randoms())
def test_partners_are_compared_as_defined(random: Random):
    """The least distance of an original with the published value to a class with the original value."""
    meanings = [meaning_of(letters(), LETTERS), meaning_of(attribute(NUMBERS), TEXTS)]
    originals = [[random.randrange(-1, 4), random.randrange(-1, 7)] for _ in range(7)]
    classes = [[random.randrange(7), random.randrange(7)] for _ in range(7)]
    space = space_of(meanings, originals, classes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distances, "CELLS", random.choice((1, 30, 1000)))
        patch.setattr(distances, "FREQUENT", random.choice((1, 2)))
        patch.setattr(distances, "PARTNERS", random.choice((0, 10, 1000)))
        found = DISTANCES["swap-partners"](space)
        expected = partner_distances(space)
        for _ in range(3):
            some = np.array(random.sample(range(len(space.originals)), 2))
            assert found.rows(some) == pytest.approx(expected[some])


@pytest.mark.slow
def test_swapped_records_of_a_large_file_are_linked_by_their_partners():
    """The strongest attacker on swapped values takes part however many pairs of records there are."""
    original = pd.DataFrame(np.random.default_rng(1).normal(size=(3000, 3)), columns=list("abc"))
    scene = frame_scene(original, RankSwapping(10).mask(original, 3))
    found = linkage(scene, aligned=True, distance="swap-partners", targets=20)
    assert found.success > 0.9
    known = scene.original
    space = comparison_space(scene.release, known, known.names, known.counts, known.aligned_links)
    assert DISTANCES["swap-partners"].fits(space)
