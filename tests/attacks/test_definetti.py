"""The deFinetti attack on scenes: what it takes for features, how it is judged, what it reports."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from anonymizer.attacks.coverage import meaning_of
from anonymizer.attacks.definetti import (
    Score,
    Similar,
    compared,
    discretize,
    effective_draws,
    scale_reduction,
    split_scale_reduction,
)
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.table import QuasiIdentifier
from tests.attacks.exchangeable import dealt
from tests.attacks.published import attack, one, refused, release, run
from tests.attacks.scenes import scene
from tests.helpers.build import column, hierarchy
from tests.helpers.messages import exchange

QUICK = {"chains": 2, "sweeps": 256, "tolerance": 1.2, "draws": 20}
NAMES = ("age", "job", "s")


def teaching(seed: int = 0, classes: int = 60) -> AdversaryView:
    """Return classes of young and old people where those of 70 and more mostly have another value."""
    random = Random(seed)
    rows, became = [], []
    for _ in range(classes):
        job = f"j{random.randrange(classes)}"
        for _ in range(4):
            age = random.choice([20, 24, 70, 74])
            ill = random.random() < (0.9 if age >= 70 else 0.1)
            rows.append((age, job, "ill" if ill else "well"))
            became.append(("*", job, rows[-1][-1]))
    return scene(NAMES, rows, became, ("s",))


def test_who_is_misled_by_copies_of_a_column_may_guess_from_the_class_alone() -> None:
    """Five columns that are one, of two classes, look like evidence where there is none."""
    random, rows, became = Random(1), [], []
    for number in range(400):
        own = random.choice("abcdefgh")
        ill = random.choices(("flu", "cold", "none"), (5, 3, 2))[0]
        rows.append((str(number % 2), *(own,) * 5, ill))
        became.append((str(number % 2), *("*",) * 5, ill))
    found = one("definetti", scene(("q", *"abcde", "s"), rows, became, ("s",)), **QUICK)
    assert found.success < found.baseline - Fraction(5, 100)
    assert found.high == float(found.baseline)


def test_exact_values_of_the_targets_tell_them_apart() -> None:
    found = one("definetti", teaching(), **QUICK)
    assert found.details["features"] == "exact"
    assert found.knowledge == {"attributes": ["age", "job"], "sensitive": "s"}
    assert found.success > found.baseline + Fraction(1, 10)
    assert found.low <= found.success <= found.high
    assert found.high - found.low < 0.2
    worlds = found.details["random_worlds"]
    assert found.details["abs"] < worlds["abs"]
    assert found.details["ssq"] < worlds["ssq"]
    chains = found.details["chains"]
    assert chains["number"] == len(chains["success"]) == 2
    assert found.low <= min(chains["success"]) <= max(chains["success"]) <= found.high


def test_the_baseline_is_the_most_frequent_value_of_each_class() -> None:
    given = teaching()
    guessed = run("vulnerability", given, target="attribute-inference")
    for features in ("published", "exact"):
        assert one("definetti", given, features=features, **QUICK).baseline == guessed[0].success


def test_published_values_alone_reach_the_baseline() -> None:
    found = one("definetti", teaching(), features="published")
    assert found.success == found.baseline
    assert found.low == found.high == float(found.success)


def test_similarity_to_generalized_values_distinguishes_covered_values() -> None:
    """Old people are published as [60, 80] or, with young ones, as [20, 80]; a 70 is more like the first."""
    random = Random(1)
    rows, became = [], []
    for number in range(120):
        published = random.choice(["[20, 30]", "[60, 80]", "[20, 80]"])
        for _ in range(3):
            age = {"[20, 30]": 25, "[60, 80]": 70}.get(published) or random.choice([25, 70])
            ill = random.random() < (0.9 if age == 70 else 0.1)
            rows.append((age, f"j{number}", "ill" if ill else "well"))
            became.append((published, f"j{number}", rows[-1][-1]))
    given = scene(NAMES, rows, became, ("s",))
    found = one("definetti", given, features="similar", **QUICK)
    assert found.details["features"] == "similar"
    assert found.success > found.baseline + Fraction(1, 20)


def test_unknown_originals_leave_their_values_in_the_group() -> None:
    rows = [(20, "j", "ill"), (70, "j", "well"), (70, "j", "well")]
    full = scene(NAMES, rows, [("*", "j", row[-1]) for row in rows], ("s",))
    part = scene(NAMES, rows[:2], [("*", "j", row[-1]) for row in rows[:2]], ("s",))
    given = AdversaryView(full.release, original=part.original)
    found = one("definetti", given, **QUICK)
    assert found.records == 2
    assert found.baseline == Fraction(1, 2)


def test_what_it_needs(message: SnapshotAssertion) -> None:
    plain = release(("q", "s"), [("a", "x"), ("a", "y")], ("s",))
    assert attack("definetti").missing_requirement(AdversaryView(plain)) is None
    for features in ("exact", "similar"):
        said = refused("definetti", AdversaryView(plain), features=features)
        assert exchange(f"features: {features}", said) == message
    assert attack("definetti").missing_requirement(AdversaryView(release(("q",), [("a",)]))) is not None


def test_a_seed_repeats() -> None:
    given = teaching(classes=20)
    findings = [one("definetti", given, seed=seed, **QUICK) for seed in (1, 1, 2)]
    assert findings[0] == findings[1]
    assert findings[0].details["abs"] != findings[2].details["abs"]


def test_numbers_are_binned_by_people() -> None:
    own, _ = column("age", [*range(100), None], numeric=True)
    counts = np.ones(101, dtype=np.int64)
    told = discretize(own, counts, 4)
    assert told.bins == [(0, 24), (25, 49), (50, 74), (75, 99)]
    assert told.code[[0, 24, 25, 99, 100]].tolist() == [0, 0, 1, 3, 4]
    assert told.feature.values == 5
    few = discretize(own, counts, 100)
    assert few.bins == []
    assert few.code.tolist() == list(range(101))
    counts[0] = 1000
    assert discretize(own, counts, 4).bins[0] == (0, 0)


def test_likeness_falls_with_the_gap() -> None:
    own, _ = column("age", [10, 20, 30, 40], numeric=True)
    tree, leaf = hierarchy({number: (str(number), "*") for number in (10, 20, 30, 40)}, "age")
    attribute = QuasiIdentifier(
        own, tree, np.array([leaf[number] for number in (10, 20, 30, 40)], dtype=np.int32)
    )
    meaning = meaning_of(attribute, ["[10, 20]", "*", "40"])
    feature = compared(meaning, np.ones(4, dtype=np.int64), 10).feature
    assert isinstance(feature, Similar)
    rows = feature.likeness
    assert rows.sum(axis=1) == pytest.approx(np.ones(3))
    assert rows[1] == pytest.approx(np.full(4, 0.25))
    assert rows[0, 0] == rows[0, 1] > rows[0, 2] > rows[0, 3] > 0
    assert rows[2, 3] > rows[2, 2] > rows[2, 0]


def test_scores_are_those_of_the_paper() -> None:
    case = dealt([[("a",), ("b",)], [("a",), ("a",)]], [["s", "t"], ["s", "t"]])
    true = np.array([1, 0, 0, 1, 1, 1])
    blind = Score.of(case.groups, case.groups.shares, true)
    assert (blind.accuracy, blind.absolute, blind.squared) == (Fraction(1, 2), 1.0, 0.5)
    assert (blind.sure, blind.sure_right) == (0, None)
    chances = np.array([0.9, 0.1, 0.8, 0.2, 0.5, 0.5])
    score = Score.of(case.groups, chances, true)
    assert score.accuracy == Fraction(1 + 0 + 1, 4)
    assert score.absolute == pytest.approx((0.2 + 1.6 + 1 + 1) / 4)
    assert score.squared == pytest.approx((0.02 + 1.28 + 0.5 + 0.5) / 4)
    assert (score.sure, score.sure_right) == (0.5, 0.5)


def test_agreement_of_chains() -> None:
    random = np.random.default_rng(0)
    same = random.normal(size=(4, 1000))
    assert split_scale_reduction(same) == pytest.approx(1, abs=0.01)
    assert 2500 < effective_draws(same) < 6500
    assert split_scale_reduction(same + np.arange(4)[:, None]) > 1.5
    assert split_scale_reduction(same + np.linspace(0, 3, 1000)) > 1.2
    slow = same.copy()
    for draw in range(1, 1000):
        slow[:, draw] += 0.9 * slow[:, draw - 1]
    # Autocorrelation 0.9 leaves a share of (1 - 0.9) / (1 + 0.9).
    assert 4000 / 19 * 0.6 < effective_draws(slow) < 4000 / 19 * 1.6
    still = scale_reduction(np.array([[1.0, 1.0], [1.0, 2.0]]), np.zeros((2, 2)), 10)
    assert still.tolist() == [1, np.inf]
