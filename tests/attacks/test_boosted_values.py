"""Trees beside naive Bayes: what attributes tell together, draws of values, and no invented skill."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anonymizer.attacks.base import AttackResult
from anonymizer.attacks.boosted_values import BoostedValues, Lessons, ValueDraws
from anonymizer.attacks.naive_bayes import LabelCounts, NaiveBayes
from anonymizer.model.adversary import AdversaryView
from tests.attacks.published import one
from tests.attacks.scenes import scene

TREES = {
    "q": {value: (value, "ab" if value in "ab" else "cd", "*") for value in "abcd"},
    "r": {value: (value, "*") for value in "xyz"},
}


def deal(people: list[tuple[str, ...]], level: int = 0) -> AdversaryView:
    rows = [(TREES["q"][q][level], r, s) for q, r, s in people]
    return scene(("q", "r", "s"), people, rows, ("s",), TREES)  # type: ignore[arg-type]


def together(wrong: float, seed: int = 1, records: int = 400) -> list[tuple[str, ...]]:
    """Return people whose value both attributes tell together, and none alone, but for a share."""
    random = np.random.default_rng(seed)
    q, r = random.choice(list("ac"), records), random.choice(list("xy"), records)
    told = (q == "a") == (r == "x")
    values = np.where(random.random(records) < wrong, ~told, told).astype(int)
    return [(str(one), str(other), str(value)) for one, other, value in zip(q, r, values, strict=True)]


@pytest.mark.parametrize("level", [0, 1])
def test_what_attributes_tell_together_is_found(level: int) -> None:
    found = one("inference", deal(together(0.1), level))
    assert found.details["folds_by_trees"] == 5
    assert found.details["accuracies"]["naive Bayes"] < 0.65
    assert 0.85 < found.success < 0.95
    assert found.details["in_sample"] >= found.success - 0.01
    assert found.low > found.baseline


def test_few_targets_are_guessed_by_naive_bayes() -> None:
    assert one("inference", deal(together(0.1, records=100))).details["model"] == "naive Bayes"


def test_naive_bayes_stays_where_trees_are_not_better() -> None:
    people = [("ac"[place % 2], "xyz"[place % 3], str(place % 2)) for place in range(400)]
    found = one("inference", deal(people))
    assert found.success == 1
    assert found.details["model"] == "naive Bayes"


def test_the_same_seed_gives_the_same_finding() -> None:
    own = deal(together(0.2))
    assert one("inference", own, seed=3) == one("inference", own, seed=3)


def test_draws_are_covered_values_by_their_frequency() -> None:
    own = deal([("a", "x", "1"), ("b", "x", "1"), ("c", "y", "1")], 1)
    assert own.original is not None
    meaning = own.original.meanings[0]
    meaning = replace(meaning, column=replace(meaning.column, counts=np.array([30, 10, 10])))
    texts = list(own.release.labels[0])
    labels = np.full(4000, texts.index("ab"), dtype=np.int64)
    drawn = ValueDraws(meaning).drawn(labels, np.random.default_rng(1))
    names = np.array(meaning.column.texts)[drawn]
    assert set(names) == {"a", "b"}
    assert (names == "a").mean() == pytest.approx(0.75, abs=0.03)


@pytest.mark.parametrize("records", [0, 1, 3])
def test_next_to_nothing_to_learn_from(records: int) -> None:
    own = deal(together(0.1, records=40))
    assert own.original is not None
    table, values = own.release, own.release.sensitive["s"]
    codes, counts = table.codes.astype(np.int64), np.zeros(len(table.counts), dtype=np.int64)
    counts[:records] = 1
    sizes = [len(labels) for labels in table.labels]
    told = LabelCounts.of(codes, values.codes, counts, sizes, 2)
    lessons = Lessons(codes, values.codes.astype(np.int64), counts)
    meanings = own.original.meanings
    model = BoostedValues(lessons, NaiveBayes(told, meanings), meanings, np.random.default_rng(1))
    assert len(model.guesses(own.original.codes.astype(np.int64))) == len(own.original.codes)


def permuted(seed: int) -> AttackResult:
    random = np.random.default_rng(seed)
    people = [
        (str(q), str(r), str(s))
        for q, r, s in zip(
            random.choice(list("abcd"), 250),
            random.choice(list("xyz"), 250),
            random.choice(["1", "2", "3"], 250, p=[0.45, 0.35, 0.2]),
            strict=True,
        )
    ]
    return one("inference", deal(people), seed)


@pytest.mark.slow
def test_no_skill_is_invented() -> None:
    found = [permuted(seed) for seed in range(15)]
    assert sum(own.low > own.baseline for own in found) <= 1
