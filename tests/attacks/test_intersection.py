"""Two releases together against a slow twin, a second that says nothing, and a planted signal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.attacks import intersection
from anonymizer.errors import InputError
from anonymizer.model.adversary import AdversaryView
from tests.attacks.published import FEWER, one, refused, release, run
from tests.attacks.scenes import original, owned
from tests.helpers.messages import exchange
from tests.twins import attacks as twins

People = Sequence[tuple[str, str, str]]
NAMES = ("q", "r", "s")
TREES = {
    "q": {value: (value, "ab" if value in "ab" else "cd", "*") for value in "abcd"},
    "r": {value: (value, "*") for value in "xyz"},
}
STANDS_FOR = tuple(
    {text: {value for value, path in tree.items() if text in path} for path in tree.values() for text in path}
    for tree in TREES.values()
)


def generalized(person: tuple[str, str, str], levels: tuple[int, int]) -> tuple[str, str, str]:
    q, r, s = person
    return TREES["q"][q][levels[0]], TREES["r"][r][levels[1]], s


def two(
    people: People,
    first: Sequence[Sequence[str] | None],
    second: Sequence[Sequence[str] | None],
    persons: Sequence[int] | None = None,
) -> AdversaryView:
    """Return the scene of two releases of the same people, with the person of each record if given."""
    tables = [release(NAMES, [row for row in rows if row], ("s",)) for rows in (first, second)]
    own = [
        original(NAMES, people, table, rows, ("s",), TREES)  # type: ignore[arg-type]
        for table, rows in zip(tables, (first, second), strict=True)
    ]
    if persons is not None:
        own = [
            owned(each, table, people, rows, {"person": persons})
            for each, table, rows in zip(own, tables, (first, second), strict=True)
        ]
    return AdversaryView(tables[0], tables[1], own[0], own[1])


PEOPLE = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz"), st.sampled_from(["1", "2", "3"])),
    min_size=2,
    max_size=10,
)
LEVELS = st.tuples(st.integers(0, 2), st.integers(0, 1))


@st.composite
def local_recodings(draw: st.DrawFn, people: People) -> list[list[tuple[str, str, str] | None]]:
    """Return two releases in which every record has levels of its own, and a few are suppressed."""
    releases = []
    for _ in range(2):
        levels = draw(st.lists(LEVELS, min_size=len(people), max_size=len(people)))
        rows = [generalized(person, own) for person, own in zip(people, levels, strict=True)]
        gone = draw(st.sets(st.integers(1, len(people) - 1), max_size=2))
        releases.append([None if position in gone else row for position, row in enumerate(rows)])
    return releases


@FEWER
@given(PEOPLE, st.data())
def test_local_recodings_are_what_a_loop_finds(people: People, data: st.DataObject) -> None:
    """Every record at levels of its own, so that one may be a candidate for many; some in one only."""
    first, second = data.draw(local_recodings(people))
    targets = [person for person, row in zip(people, first, strict=True) if row]
    found = one("intersection", two(people, first, second))
    sets = [
        [twins.candidates(person[:2], [row for row in rows if row], STANDS_FOR) for person in targets]
        for rows in (first, second)
    ]
    assert found.success == twins.certain(targets, twins.intersection(*sets))
    assert found.baseline == max(twins.certain(targets, own) for own in sets)
    assert found.records == len(targets)


@FEWER
@given(PEOPLE, st.booleans(), st.sampled_from([2, 1 << 22]), st.data())
def test_persons_are_what_sets_of_persons_tell(
    people: People, full: bool, most: int, data: st.DataObject
) -> None:
    if full:
        first, second = (
            [generalized(own, levels) for own in people] for levels in data.draw(st.tuples(LEVELS, LEVELS))
        )
    else:
        first, second = data.draw(local_recodings(people))
    persons = data.draw(st.lists(st.integers(0, 4), min_size=len(people), max_size=len(people)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intersection, "ENTRIES", most)
        found = one("intersection", two(people, first, second, persons))
    targets = [
        (person, own) for person, own, row in zip(people, persons, first, strict=True) if row is not None
    ]
    one_, other = (
        [(row, own) for row, own in zip(rows, persons, strict=True) if row is not None]
        for rows in (first, second)
    )
    assert found.success == twins.certain_persons(targets, [one_, other], STANDS_FOR)
    alone = [twins.certain_persons(targets, [rows], STANDS_FOR) for rows in (one_, other)]
    assert found.baseline == max(alone)
    assert (found.details["first_alone"], found.details["second_alone"]) == tuple(map(float, alone))
    assert found.knowledge["unit"] == "person"
    assert found.records == len({own for _, own in targets})


@FEWER
@given(PEOPLE, st.sampled_from([3, 100]), st.data())
def test_persons_of_one_record_each_are_records(people: People, most: int, data: st.DataObject) -> None:
    scene = two(people, *data.draw(local_recodings(people)), range(len(people)))
    of_persons, of_records = (
        one("intersection", scene, targets=most, unit=unit) for unit in ("person", "record")
    )
    assert of_persons == replace(of_records, knowledge={**of_records.knowledge, "unit": "person"})


def test_one_patient_in_a_class_of_two_releases_is_told() -> None:
    """Each class has two values, and no other is left by both releases; but they are of one patient."""
    people = [("a", "x", "1"), ("a", "y", "2"), ("b", "x", "3"), ("b", "y", "4")]
    rows = [generalized(own, (0, 1)) for own in people]
    assert one("intersection", two(people, rows, rows, [1, 1, 2, 3]), unit="record").success == 0
    assert one("intersection", two(people, rows, rows, [1, 1, 2, 3])).success == Fraction(1, 3)


def test_persons_are_drawn_with_all_their_records() -> None:
    people = [("a", "x", "1"), ("a", "y", "2"), ("b", "x", "3"), ("b", "y", "4")] * 25
    first = [generalized(own, (0, 1)) for own in people]
    second = [generalized(own, (2, 0)) for own in people]
    persons = [position // 2 for position in range(100)]
    found = one("intersection", two(people, first, second, persons), targets=20)
    assert (found.records, found.details["sampled"]) == (20, True)
    assert found.low < found.success == 1


def test_without_the_persons_of_both_releases_records_count(message: SnapshotAssertion) -> None:
    people = [("a", "x", "1"), ("a", "y", "2")]
    scene = two(people, people, people, [1, 1])
    assert scene.second_original is not None
    scene = replace(scene, second_original=replace(scene.second_original, owners=None))
    assert "unit" not in one("intersection", scene).knowledge
    with pytest.raises(InputError) as refused:
        run("intersection", scene, unit="person")
    assert exchange("unit: person", refused.value) == message


@FEWER
@given(PEOPLE, LEVELS)
def test_coarser_second_release_adds_nothing(people: People, levels: tuple[int, int]) -> None:
    coarser = (min(levels[0] + 1, 2), 1)
    for second in (levels, coarser, (2, 1)):
        scene = two(
            people, [generalized(own, levels) for own in people], [generalized(own, second) for own in people]
        )
        found = one("intersection", scene)
        assert found.success == found.baseline
        assert found.low == found.high == float(found.success)


def test_two_harmless_releases_give_everybody_away() -> None:
    """Each class of each release has two values, and any two classes have one in common."""
    people = [("a", "x", "1"), ("a", "y", "2"), ("b", "x", "3"), ("b", "y", "4")]
    scene = two(
        people, [generalized(own, (0, 1)) for own in people], [generalized(own, (2, 0)) for own in people]
    )
    found = one("intersection", scene)
    assert (found.success, found.baseline) == (1, 0)
    assert found.details == {
        "first_alone": 0.0,
        "second_alone": 0.0,
        "second": "release.csv",
        "sampled": False,
    }
    assert one("intersection", scene, knowledge=["q"]).success == 0


def test_planted_signal_is_found_with_its_size() -> None:
    """Of 100 people 40 are in classes that cross; the others are in the same ones twice."""
    crossing = [("a", "x", "1"), ("a", "y", "2"), ("b", "x", "3"), ("b", "y", "4")] * 10
    people = [*crossing, *[("c", "z", "1"), ("c", "z", "2")] * 30]
    first = [generalized(own, (0, 1)) for own in people]
    second = [generalized(own, (2, 0)) for own in people]
    found = one("intersection", two(people, first, second))
    assert (found.success, found.baseline) == (Fraction(40, 100), 0)
    sampled = one("intersection", two(people, first, second), targets=60)
    assert sampled.records == 60
    assert sampled.details["sampled"]
    assert sampled.low < 0.4 < sampled.high


def test_who_has_no_value_in_common_is_not_the_surest() -> None:
    crossing = [("a", "x", "1"), ("a", "y", "2"), ("b", "x", "3"), ("b", "y", "4")] * 10
    people = [*crossing, *[("c", "z", "1")] * 20]
    first = [generalized(own, (0, 1)) for own in people]
    second = [generalized((q, r, "9" if q == "c" else s), (2, 0)) for q, r, s in people]
    found = one("intersection", two(people, first, second))
    assert float(found.success) == pytest.approx(2 / 3)
    assert {float(each.success) for each in found.tail.values()} == {1.0}


def test_value_that_only_one_release_has_is_no_candidate_in_common() -> None:
    people = [("a", "x", "1"), ("a", "y", "2")]
    scene = two(people, [("a", "*", "1"), ("a", "*", "2")], [("*", "x", "1"), ("*", "x", "9")])
    found = one("intersection", scene)
    assert found.success == Fraction(1, 2)


def test_it_says_what_it_lacks(message: SnapshotAssertion) -> None:
    people = [("a", "x", "1"), ("a", "y", "2")]
    scene = two(people, people, people)
    other = release(("q", "r", "t"), people, ("t",))
    assert exchange("no common attribute", refused("intersection", replace(scene, second=other))) == message
    without = replace(scene, original=None, second_original=None)
    assert exchange("no original", refused("intersection", without)) == message
    assert exchange("one release", refused("intersection", replace(scene, second=None))) == message
    with pytest.raises(InputError) as error:
        run("intersection", scene, knowledge=["z"])
    assert exchange("knowledge: [z]", error.value) == message


def unrelated(seed: int) -> bool:
    """Tell whether the baseline is inside when the second release has each value in each of its classes."""
    random = np.random.default_rng(seed)
    people = [
        (str(q), str(r), str(s))
        for q, r, s in zip(
            random.choice(list("abcd"), 120),
            random.choice(list("xyz"), 120),
            random.choice(3, 120),
            strict=True,
        )
    ]
    shuffled = random.permutation([own[2] for own in people])
    first = [generalized(own, (0, 0)) for own in people]
    second = [
        (*generalized(own, (1, 1))[:2], str(value)) for own, value in zip(people, shuffled, strict=True)
    ]
    found = one("intersection", two(people, first, second))
    return found.low <= found.baseline <= found.high


def test_no_skill_is_invented() -> None:
    assert all(unrelated(seed) for seed in range(5))


@pytest.mark.slow
def test_no_skill_is_invented_in_300_seeds() -> None:
    assert sum(unrelated(seed) for seed in range(300)) >= 0.93 * 300
