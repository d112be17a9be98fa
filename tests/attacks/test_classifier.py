"""The classifier of pairs: skill where there is some, none where there is none, and nobody's own link."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anonymizer.attacks.base import clopper_pearson
from anonymizer.attacks.linkage import classifier
from anonymizer.attacks.linkage.attack import Linkage
from anonymizer.attacks.linkage.classifier import ClassifiedDistance, ClassifierLinking
from anonymizer.attacks.linkage.directions import directed
from anonymizer.attacks.linkage.distances import (
    ComparisonSpace,
    ErrorRates,
    Likelihood,
    Parametrized,
    comparison_space,
)
from anonymizer.masking.noise import AdditiveNoise
from anonymizer.masking.rank_swapping import RankSwapping
from anonymizer.model.adversary import Links
from tests.helpers.linkage import frame_scene, linkage
from tests.shared import shared


def people(records: int, seed: int = 4) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    common = random.normal(0, 5, records)
    return pd.DataFrame({name: (common + random.normal(0, 5, records)).round(2) for name in ("a", "b", "c")})


def bounded(original: pd.DataFrame, reach: int) -> pd.DataFrame:
    """Return numbers in place of which others of nearly the same rank stand, up to a reach."""
    random = np.random.default_rng(1)
    ranks = original.rank(method="first").to_numpy().astype(int) - 1
    moved = np.clip(ranks + random.integers(-reach, reach + 1, ranks.shape), 0, len(ranks) - 1)
    ordered = np.sort(original.to_numpy(), axis=0)
    return pd.DataFrame(np.take_along_axis(ordered, moved, axis=0), columns=original.columns)


def space_of(original: pd.DataFrame, masked: pd.DataFrame) -> ComparisonSpace:
    given = frame_scene(original, masked)
    assert given.original is not None
    links = Linkage(Linkage.Settings(aligned=True)).settings.links(given.original)
    held = given.original.counts
    return directed(
        comparison_space(given.release, given.original, [str(name) for name in original], held, links)
    )[0]


def classified(space: ComparisonSpace, seed: int = 0) -> ClassifiedDistance:
    linking = ClassifierLinking(Parametrized(Likelihood, ErrorRates()))
    return linking.classified(space, np.random.default_rng(seed))


def test_it_links_more_than_distances_do() -> None:
    """What bounds the moves of a rank is learned from others."""
    original = people(400)
    given = frame_scene(original, bounded(original, 30))
    learned = linkage(given, aligned=True, linkage="classifier")
    best = max(
        linkage(given, aligned=True, linkage=method, distance=own).success
        for method in ("nearest", "sinkhorn")
        for own in ("euclidean", "rank", "largest-rank", "likelihood")
    )
    assert learned.success > best
    assert learned.details["learned"]


def test_nobody_is_linked_by_a_lesson_about_their_own_link() -> None:
    """Two originals of one fold that exchange their true classes are scored as before; others are not."""
    original = people(80)
    space = space_of(original, AdditiveNoise(0.5).mask(original, 1))
    before = classified(space)
    pair = np.flatnonzero(before.fold == 0)[:2]
    links = np.searchsorted(space.truth.original, pair)
    release = space.truth.release.copy()
    release[links] = release[links[::-1]]
    after = classified(space.targeting(Links(space.truth.original, release, space.truth.counts)))
    own, others = (np.flatnonzero(before.fold == fold) for fold in (0, 1))
    assert after.fold.tolist() == before.fold.tolist()
    assert after.rows(own).tolist() == before.rows(own).tolist()
    assert after.rows(others).tolist() != before.rows(others).tolist()


@pytest.mark.parametrize("seed", range(3))
def test_the_same_seed_gives_the_same_links(seed: int) -> None:
    original = people(60)
    given = frame_scene(original, AdditiveNoise(0.3).mask(original, 1))
    one, two = (linkage(given, seed=seed, aligned=True, linkage="classifier") for _ in range(2))
    assert one == two


@pytest.mark.parametrize("records", [2, 3, 8, 30])
def test_few_records_are_linked_by_likelihood(records: int) -> None:
    original = people(records)
    given = frame_scene(original, AdditiveNoise(0.1).mask(original, 1))
    found = linkage(given, aligned=True, linkage="classifier")
    assert found.details["learned"] == (records >= 2 * classifier.FEWEST)
    assert 0 <= found.success <= 1


def test_a_constant_release_is_chance() -> None:
    original = people(50)
    found = linkage(frame_scene(original, original * 0 + 3.0), aligned=True, linkage="classifier")
    assert found.success == pytest.approx(1 / 50)


def test_more_pairs_than_are_compared_at_once_are_linked_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    original = people(200)
    given = frame_scene(original, bounded(original, 10))
    together = linkage(given, aligned=True, linkage="classifier")
    monkeypatch.setattr(classifier, "TOGETHER", 100)
    alone = linkage(given, aligned=True, linkage="classifier", targets=150)
    assert alone.records == 150
    assert alone.success > 10 * alone.baseline
    assert together.success > alone.success / 2


def unrelated(seed: int) -> bool:
    """Return whether the interval of the links of unrelated files contains chance."""
    found = linkage(
        frame_scene(people(80, seed), people(80, seed + 500)), seed=seed, aligned=True, linkage="classifier"
    )
    low, high = clopper_pearson(float(found.success) * found.records, found.records)
    return low <= found.baseline <= high


@pytest.mark.slow
def test_no_skill_is_invented() -> None:
    assert sum(unrelated(seed) for seed in range(15)) >= 14


@pytest.mark.slow
def test_census_records_with_swapped_ranks_are_linked_without_their_partners(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A boosted classifier of a review links .9083 of them, the best distance .86."""
    original = pd.read_csv(shared("data", "casc_census", "data.csv.gz")).iloc[:, :6].astype(float)
    few = original.head(360)
    given = frame_scene(few, RankSwapping(10).mask(few, 1))
    assert linkage(given, aligned=True, linkage="classifier").success > 0.99
    given = frame_scene(original, RankSwapping(10).mask(original, 1))
    monkeypatch.setattr("anonymizer.attacks.linkage.distances.SwapPartners.fits", lambda _: False)
    assert linkage(given, aligned=True, linkage="classifier").success > 0.86
