"""Minimality against every world that the release leaves possible."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.model.adversary import AdversaryView, MechanismKnowledge, SensitiveConstraint
from anonymizer.model.owners import Owners
from tests.attacks.published import FEWER, one, refused, release
from tests.attacks.scenes import _places, scene
from tests.helpers.messages import exchange
from tests.twins import attacks as twins

NAMES = ("q", "s")
TREES = {"q": {value: (value, "left" if value in "abc" else "right", "*") for value in "abcdef"}}
Person = tuple[str, str | None]


def made(
    people: list[Person], distinct: int | None = 2, size: int = 1, *, missing_counts: bool = False
) -> AdversaryView:
    """Return the scene of a release at level 1, with the recipe that led to it."""
    rows = [(TREES["q"][q][1], s) for q, s in people]
    promise = SensitiveConstraint("s", distinct, missing_counts)
    own = scene(NAMES, people, rows, ("s",), TREES)  # type: ignore[arg-type]
    return replace(own, recipe=MechanismKnowledge((1,), (0,), (True,), size, (promise,)))


@st.composite
def classes(draw: st.DrawFn, distinct: int, *, missing_counts: bool) -> list[list[Person]]:
    """Return one or two released classes that satisfy the constraint, in parts of enough records."""
    kinds = ["1", "2", "3", *(["0"] if missing_counts else [])]
    others = kinds if missing_counts else [*kinds, None]
    found = []
    for side in draw(st.sampled_from([("ab",), ("ab",), ("abc",), ("ab", "de")])):
        sizes = (
            [draw(st.integers(distinct, 3 if side == "ab" else 2)) for _ in side] if distinct == 2 else [3, 3]
        )
        letters = [letter for letter, size in zip(side, sizes, strict=False) for _ in range(size)]
        first = draw(st.permutations(kinds))[:distinct]
        rest, more = len(letters) - distinct, draw(st.sampled_from([others, first]))
        values = [*first, *draw(st.lists(st.sampled_from(more), min_size=rest, max_size=rest))]
        found.append(list(zip(letters, values, strict=True)))
    return found


@FEWER
@given(st.data(), st.integers(2, 3), st.booleans())
def test_certain_parts_violate_in_every_world(
    data: st.DataObject, distinct: int, missing_counts: bool
) -> None:
    own = data.draw(classes(distinct, missing_counts=missing_counts))
    people = [(q, None if missing_counts and s == "0" else s) for rows in own for q, s in rows]
    size = distinct  # a class of fewer records cannot have as many values
    told = twins.certain_parts(own, lambda row: row[0], distinct, size)
    found = one("minimality", made(people, distinct, size, missing_counts=missing_counts))
    assert found.success == Fraction(len(told), len(people))


def owned(view: AdversaryView, people: list[Person], persons: list[int]) -> AdversaryView:
    """Return the view with the person of each record."""
    assert view.original is not None
    distinct, places = list(dict.fromkeys(people)), _places(view.release)
    rows = np.array([distinct.index(row) for row in people], dtype=np.int64)
    shown = np.array([places[TREES["q"][q][1], s] for q, s in people], dtype=np.int64)
    owners = Owners.of(rows, shown, {"person": np.array(persons, dtype=np.int64)})
    return replace(view, original=replace(view.original, owners=owners))


@FEWER
@given(st.data(), st.integers(2, 3), st.randoms(use_true_random=False))
def test_persons_with_a_record_in_a_certain_part(data: st.DataObject, distinct: int, random: Random) -> None:
    own = data.draw(classes(distinct, missing_counts=False))
    people = [row for rows in own for row in rows]
    told = twins.certain_parts(own, lambda row: row[0], distinct, distinct)
    persons = [random.randrange(4) for _ in people]
    view = owned(made(people, distinct, distinct), people, persons)
    found = one("minimality", view)
    assert found.success == Fraction(len({persons[each] for each in told}), len(set(persons)))
    assert (found.records, found.knowledge["unit"]) == (len(set(persons)), "person")
    records = one("minimality", view, unit="record")
    assert records.success == Fraction(len(told), len(people))
    single = one("minimality", owned(view, people, list(range(len(people)))))
    assert replace(single, knowledge=records.knowledge) == records


def test_the_only_part_that_can_is_certain() -> None:
    """Of b there are two, and two values are the same; of a there are three, of three values at least two."""
    people = [("a", "1"), ("a", "2"), ("a", "3"), ("b", "1"), ("b", "1")]
    assert one("minimality", made(people, size=2)).success == Fraction(0)
    people = [("a", "2"), ("a", "1"), ("a", "3"), ("a", "4"), ("b", "1"), ("b", "1")]
    found = one("minimality", made(people, size=2))
    assert (found.success, found.baseline) == (Fraction(2, 6), 0)
    assert found.details == {"finer_nodes": [{"attribute": "q", "too_small": 0, "certain": 1}]}


def test_parts_that_can_only_do_so_together_are_certain() -> None:
    """Two of each value in two parts of two: whichever has one value, so has the other."""
    people = [("a", "1"), ("a", "1"), ("b", "2"), ("b", "2")]
    assert one("minimality", made(people, size=2)).success == 1


def test_size_explains_it() -> None:
    people = [("a", "1"), ("a", "1"), ("b", "2"), ("b", "2")]
    found = one("minimality", made(people, size=3))
    assert found.success == 0
    assert found.details["finer_nodes"][0]["too_small"] == 2


def test_only_finer_nodes_that_were_allowed_and_cheaper_tell() -> None:
    own = made([("a", "1"), ("a", "1"), ("b", "2"), ("b", "2")], size=2)
    assert own.recipe is not None
    for recipe in (replace(own.recipe, lowest=(1,)), replace(own.recipe, counted=(False,))):
        found = one("minimality", replace(own, recipe=recipe))
        assert (found.success, found.details) == (0, {"finer_nodes": []})


def test_k_anonymity_alone_reveals_nothing() -> None:
    own = made([("a", "1"), ("a", "1"), ("b", "2"), ("b", "2")], size=2)
    assert own.recipe is not None
    assert one("minimality", replace(own, recipe=replace(own.recipe, promises=()))).success == 0


def test_of_other_constraints_only_the_lone_suspect_is_certain() -> None:
    people = [("a", "1"), ("a", "1"), ("b", "2"), ("b", "2")]
    assert one("minimality", made(people, None, 2)).success == 0
    own = made([*people, ("d", "1"), ("d", "2")], 2, 2)
    assert own.recipe is not None
    both = replace(own.recipe, promises=(SensitiveConstraint("s", 2), SensitiveConstraint("s", None)))
    assert one("minimality", replace(own, recipe=both)).success == 0
    assert one("minimality", own).success == Fraction(4, 6)


def test_it_says_when_it_does_not_apply(message: SnapshotAssertion) -> None:
    own = made([("a", "1"), ("b", "2")])
    assert exchange("no recipe", refused("minimality", replace(own, recipe=None))) == message
    alone = AdversaryView(release(NAMES, [("a", "1")], ("s",)))
    assert exchange("no original", refused("minimality", alone)) == message
    people = [("a", "1"), ("b", "2")]
    short = scene(NAMES, people, [("a", "1"), None], ("s",), TREES)  # type: ignore[arg-type]
    said = refused("minimality", replace(short, recipe=own.recipe))
    assert exchange("a suppressed record", said) == message
