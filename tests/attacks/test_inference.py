"""Inference by a model: the model against a slow twin, permuted truth, and a planted signal."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.attacks.base import AttackResult
from anonymizer.attacks.naive_bayes import WEIGHT, LabelCounts, NaiveBayes
from anonymizer.model.adversary import AdversaryView
from tests.attacks.published import FEWER, one, refused, release
from tests.attacks.scenes import scene
from tests.helpers.messages import exchange
from tests.twins import attacks as twins

NAMES = ("q", "r", "s")
TREES = {
    "q": {value: (value, "ab" if value in "ab" else "cd", "*") for value in "abcd"},
    "r": {value: (value, "*") for value in "xyz"},
}
PERSON = st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz"), st.sampled_from("12"))
LEVELS = st.tuples(st.integers(0, 2), st.integers(0, 1))


def published(person: tuple[str, ...], levels: tuple[int, int]) -> tuple[str, str, str]:
    return TREES["q"][person[0]][levels[0]], TREES["r"][person[1]][levels[1]], person[2]


def model_of(own: AdversaryView, sensitive: str = "s") -> tuple[NaiveBayes, LabelCounts]:
    """Return the model of a whole release."""
    table, values = own.release, own.release.sensitive[sensitive]
    assert own.original is not None
    counts = LabelCounts.of(
        table.codes.astype(np.int64),
        values.codes,
        table.counts,
        [len(labels) for labels in table.labels],
        values.attribute.column.size,
    )
    return NaiveBayes(counts, own.original.meanings), counts


@FEWER
@given(st.lists(st.tuples(PERSON, LEVELS), min_size=1, max_size=12))
def test_model_is_what_a_loop_learns(records: list[tuple[tuple[str, str, str], tuple[int, int]]]) -> None:
    people = [person for person, _ in records]
    rows = [published(*record) for record in records]
    own = scene(NAMES, people, rows, ("s",), TREES)  # type: ignore[arg-type]
    assert own.original is not None
    model, _ = model_of(own)
    values = [[person[position] for person in people] for position in range(2)]
    stands_for = [
        {
            text: {value for value, path in TREES[name].items() if text in path and value in known}
            for path in TREES[name].values()
            for text in path
        }
        for name, known in zip("qr", values, strict=True)
    ]
    known = [meaning.column.texts for meaning in own.original.meanings]
    codes = [[texts.index(person[p]) for p, texts in enumerate(known)] for person in people]
    secrets = own.release.sensitive["s"].attribute.column.texts
    found = model.scores(np.array(codes), 1.0)
    twin = twins.naive_bayes(people, rows, stands_for, secrets, WEIGHT)
    assert found.tolist() == [pytest.approx(scores) for scores in twin]


def test_numbers_that_no_original_has_count_for_the_nearest() -> None:
    """Means of 12 and 29 count for 10 and 30; 20 is between both and counts for the lower."""
    people = [(10, "1"), (30, "2"), (10, "1")]
    masked, _ = model_of(scene(("x", "s"), people, [("12", "1"), ("29", "2"), ("20", "1")], ("s",)))
    same, _ = model_of(scene(("x", "s"), people, [("10", "1"), ("30", "2"), ("10", "1")], ("s",)))
    both = np.array([[0], [1]])
    assert masked.scores(both, 1.0).tolist() == same.scores(both, 1.0).tolist()
    assert masked.guesses(both, 1.0).tolist() == [0, 1]


def test_single_original_number() -> None:
    own = scene(("x", "s"), [(10, "1"), (10, "2"), (10, "1")], [("12", "1"), ("9", "2"), ("12", "1")], ("s",))
    model, _ = model_of(own)
    assert model.guesses(np.array([[0]]), 1.0).tolist() == [0]


def planted(wrong: int) -> AdversaryView:
    """Return 400 people whose attribute determines the value, except for a few percent."""
    people = []
    for position in range(400):
        kind = position % 2
        told = kind if position // 2 % 100 >= wrong else 1 - kind
        people.append(("ac"[kind], "xyz"[position % 3], str(told)))
    return scene(NAMES, people, [published(own, (1, 1)) for own in people], ("s",), TREES)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [0, 20])
def test_planted_signal_is_found_with_its_size(wrong: int) -> None:
    found = one("inference", planted(wrong))
    assert found.success == Fraction(100 - wrong, 100)
    assert found.baseline == Fraction(1, 2)
    assert found.low <= 1 - wrong / 100 <= found.high
    assert found.low > found.baseline
    assert found.records == 400
    assert found.details["in_sample"] == 1 - wrong / 100
    assert one("inference", planted(wrong), knowledge=["r"]).success < Fraction(6, 10)


def test_own_record_is_not_learned_from() -> None:
    """Each person has a unique number, which reveals the value only with the record itself."""
    random = np.random.default_rng(1)
    people = [(position, str(random.integers(0, 2))) for position in range(60)]
    own = scene(("x", "s"), people, [(str(x), s) for x, s in people], ("s",))
    found = one("inference", own)
    assert found.low <= found.baseline <= found.high
    model, _ = model_of(own)
    everybody = model.guesses(np.arange(60)[:, None], 1.0)
    assert everybody.tolist() == [int(value) for _, value in people]


def test_some_targets() -> None:
    found = one("inference", planted(20), targets=50)
    assert found.records == 50
    assert found.low < 0.8 < found.high


def test_same_seed_same_finding() -> None:
    assert one("inference", planted(20), seed=3, targets=90) == one(
        "inference", planted(20), seed=3, targets=90
    )


def test_constant_release_gives_the_baseline() -> None:
    people = [("a", "x", "1")] * 7 + [("b", "y", "2")] * 3
    own = scene(NAMES, people, [("*", "*", person[2]) for person in people], ("s",), TREES)  # type: ignore[arg-type]
    found = one("inference", own)
    assert found.success == found.baseline == Fraction(7, 10)


def test_it_says_what_it_lacks(message: SnapshotAssertion) -> None:
    without = AdversaryView(release(("q",), [("a",)]))
    assert exchange("no sensitive attribute", refused("inference", without)) == message
    alone = AdversaryView(release(("q", "s"), [("a", "1")], ("s",)))
    assert exchange("no original", refused("inference", alone)) == message
    lone = scene(NAMES, [("a", "x", "1")], [("a", "x", "1")], ("s",), TREES)  # type: ignore[arg-type]
    assert exchange("one record", refused("inference", lone)) == message


@FEWER
@given(st.lists(PERSON, min_size=2, max_size=6))
def test_few_records_have_a_result(people: list[tuple[str, str, str]]) -> None:
    own = scene(NAMES, people, [published(person, (0, 0)) for person in people], ("s",), TREES)  # type: ignore[arg-type]
    found = one("inference", own)
    assert 0 <= found.low <= float(found.success) <= found.high <= 1


def permuted(seed: int) -> AttackResult:
    """Return what is found when the sensitive values have been dealt out at random."""
    random = np.random.default_rng(seed)
    secrets = random.choice(["1", "2", "3"], 150, p=[0.45, 0.35, 0.2])
    people = [
        (str(q), str(r), str(s))
        for q, r, s in zip(
            random.choice(list("abcd"), 150), random.choice(list("xyz"), 150), secrets, strict=True
        )
    ]
    own = scene(NAMES, people, [published(person, (0, 0)) for person in people], ("s",), TREES)  # type: ignore[arg-type]
    return one("inference", own, seed)


def test_no_skill_is_invented() -> None:
    inside = [found.low <= found.baseline <= found.high for found in map(permuted, range(12))]
    assert sum(inside) >= 10


@pytest.mark.slow
def test_no_skill_is_invented_in_100_seeds() -> None:
    inside = [found.low <= found.baseline <= found.high for found in map(permuted, range(100))]
    assert sum(inside) >= 0.93 * 100
