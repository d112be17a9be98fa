"""Models trained on the release, asked about originals that were held out."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.errors import InputError
from anonymizer.job.assessment import MEASURING
from anonymizer.model.adversary import AdversaryView, Links
from anonymizer.utility.base import UTILITY_MEASURES, Comparison
from anonymizer.utility.prediction import held_out
from tests.attacks.published import FEWER
from tests.helpers.messages import exchange
from tests.twins.utility import naive_bayes
from tests.utility.cases import (
    AGES,
    ILLS,
    NAMES,
    TOWNS,
    Case,
    cases,
    identity,
    kept_suppressed,
    random_rows,
    taken,
)


def drawn(case: Case, number: int, seed: int) -> tuple[AdversaryView, Counter[int], Counter[int]]:
    """Return a scene and how many of each original and each released combination are held out."""
    scene = case.scene
    assert scene.original is not None
    held = held_out(scene.original, len(scene.release.counts), number, np.random.default_rng(seed))
    assert held.records == number
    return (
        scene,
        Counter(dict(enumerate(held.original.tolist()))),
        Counter(dict(enumerate(held.release.tolist()))),
    )


@FEWER
@given(cases(), st.integers(0, 99), st.data())
def test_as_many_are_held_out_as_asked_for(case: Case, seed: int, data: st.DataObject) -> None:
    number = data.draw(st.integers(1, len(case.rows) - 1))
    scene, original, release = drawn(case, number, seed)
    assert scene.original is not None
    links = scene.original.links
    told = np.bincount(links.original, weights=links.counts, minlength=len(scene.original.counts))
    for place, records in enumerate(scene.original.counts.tolist()):
        assert 0 <= original[place] <= records
    for place, records in enumerate(scene.release.counts.tolist()):
        assert 0 <= release[place] <= records
    removed = sum(scene.original.counts.tolist()) - int(told.sum())
    assert number - removed <= release.total() <= number
    if not removed:
        assert release.total() == number
    again = drawn(case, number, seed)
    assert (again[1], again[2]) == (original, release)


@pytest.mark.slow
def test_every_record_is_held_out_as_often() -> None:
    """Four records alike, two published as they are, one with a star, one removed; and two others."""
    rows = [(20, "A", "flu")] * 4 + [(30, "B", "gout")] * 2
    case = Case(
        rows, [("20", "A", "flu"), ("20", "A", "flu"), ("*", "A", "flu"), None, *[("30", "B", "gout")] * 2]
    )
    totals: Counter[int] = Counter()
    of_original: Counter[int] = Counter()
    for seed in range(1500):
        _, original, release = drawn(case, 3, seed)
        totals += release
        of_original += original
    scene = case.scene
    for place, records in enumerate(scene.release.counts.tolist()):
        assert totals[place] / 1500 == pytest.approx(records / 2, abs=0.07)
    assert [of_original[place] / 1500 for place in range(2)] == pytest.approx([2, 1], abs=0.07)


def test_the_same_people_whatever_was_released() -> None:
    rows = random_rows(300, 7)
    assert drawn(identity(rows), 60, 5)[1] == drawn(kept_suppressed(rows), 60, 5)[1]


@FEWER
@given(st.integers(4, 40), st.integers(0, 50))
def test_accuracy_is_that_of_a_model_of_the_records(number: int, seed: int) -> None:
    """Full-domain, so that it is known which published records were taken out."""
    rows = [(20, "A", "flu"), (57, "B", "gout"), *random_rows(number, seed)]
    became = [("[20, 30]" if row[0] < 41 else "[41, 57]", row[1], row[2]) for row in rows]
    case = Case(rows, list(became))
    found = taken("prediction", case.comparison, seed, held_out=0.3)
    scene = case.scene
    assert scene.original is not None
    held = found.details["held_out"]
    assert held == max(round(len(rows) * 0.3), 1)
    own = held_out(scene.original, len(scene.release.counts), held, np.random.default_rng(seed))
    distinct = list(dict.fromkeys(rows))
    tested = Counter({distinct[place]: count for place, count in enumerate(own.original.tolist()) if count})
    left = Counter(rows) - tested
    rest = list(left.elements())
    domains = [
        [age for age in AGES if any(row[0] == age for row in rows)],
        [town for town in TOWNS if any(row[1] == town for row in rows)],
    ]
    published = dict(zip(rows, case.published, strict=True))
    for train, value in (
        ([(published[row][:2], row[2]) for row in rest], found.value),
        ([([(row[0],), (row[1],)], row[2]) for row in rest], found.untouched),
    ):
        model = naive_bayes(train, domains, ILLS)
        low = high = 0
        for row, count in tested.items():
            ranked = sorted(model(row[:2]), reverse=True)
            tie = ranked[0][0] - ranked[1][0] < 1e-12
            right = ranked[0][1] == row[2]
            low += count * (right and not tie)
            high += count * (right or tie)
        assert low / held - 1e-12 <= value <= high / held + 1e-12
    most = max(ILLS, key=lambda ill: (sum(row[2] == ill for row in rest), -ILLS.index(ill)))
    assert found.suppressed == pytest.approx(sum(n for row, n in tested.items() if row[2] == most) / held)


def test_an_untouched_release_teaches_as_much() -> None:
    found = taken("prediction", identity(random_rows(600, 1)).comparison)
    assert found.value == found.untouched
    assert found.untouched > found.suppressed + 0.1
    assert found.details["low"] < found.value < found.details["high"]
    assert (found.smaller_is_better, found.attributes, found.details["predicted"]) == (
        False,
        NAMES,
        "illness",
    )


def test_a_release_that_says_nothing_teaches_the_most_frequent_value() -> None:
    found = taken("prediction", kept_suppressed(random_rows(600, 1)).comparison)
    assert found.value == found.suppressed


def test_who_is_tested_is_not_learned_from() -> None:
    """Each person is one of a kind; with the own record among the rest, all would be guessed right."""
    rows = [(place, f"t{place}", "flu" if place % 2 else "gout") for place in range(40)]
    found = taken("prediction", identity(rows).comparison, held_out=0.5)
    assert found.value < 0.8


def test_most_targets() -> None:
    comparison = identity(random_rows(600, 1)).comparison
    assert taken("prediction", comparison).details["held_out"] == 120
    assert taken("prediction", comparison, targets=50).details["held_out"] == 50
    assert taken("prediction", identity(random_rows(2, 1)).comparison, held_out=0.9).details["held_out"] == 1


def test_what_it_needs(message: SnapshotAssertion) -> None:
    comparison = identity(random_rows(20, 1)).comparison
    measure = UTILITY_MEASURES["prediction"]()
    assert measure.missing_requirement(comparison) is None

    def lacks(given: Comparison) -> str:
        """Return the message about a config that asks for the measure."""
        with pytest.raises(InputError) as error:
            MEASURING.chosen([measure], given, "job.yaml")
        return str(error.value)

    assert exchange("no originals", lacks(replace(comparison, adversary=None))) == message
    assert exchange("no sensitive attribute", lacks(replace(comparison, sensitive=()))) == message
    scene = comparison.adversary
    assert scene is not None
    assert scene.original is not None
    nothing = np.zeros(0, dtype=np.int64)
    unknown = replace(scene.original, links=Links(nothing, nothing, nothing))
    strange = replace(comparison, adversary=replace(scene, original=unknown))
    assert exchange("no links", lacks(strange)) == message
