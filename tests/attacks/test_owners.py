"""Attacks on persons and households with several records, against slow twins."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.attacks.base import clopper_pearson
from anonymizer.attacks.inference import STRENGTHS
from anonymizer.attacks.naive_bayes import LabelCounts, NaiveBayes
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.arrays import IntArray
from anonymizer.model.owners import Owners
from tests.attacks.published import FEWER, attack, invalid, one, refused, release, run
from tests.attacks.scenes import _places, original, owned
from tests.helpers.messages import exchange
from tests.strategies import tree
from tests.twins import attacks as twins
from tests.twins.microdata import Path, Value

SECRETS = ("asthma", "cold", "cough", "flu")
NAMES = ("age", "sex", "illness")
AGES = {str(age): (str(age), "0-1" if age < 2 else "2-3", "*") for age in range(4)}

Case = tuple[list[tuple[str, ...]], list[int], list[int]]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Return records of age, sex and illness, the person of each, and the household of each."""
    cells = st.tuples(st.sampled_from("0123"), st.sampled_from("MF"), st.sampled_from(SECRETS))
    rows = draw(st.lists(st.tuples(cells, st.integers(0, 6)), min_size=1, max_size=14))
    persons = [person for _, person in rows]
    return [cell for cell, _ in rows], persons, [person // 3 for person in persons]


def published_rows(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return [(AGES[age][1], sex, illness) for age, sex, illness in rows]


def view(case: Case, *, persons: bool = True) -> tuple[AdversaryView, dict[Value, Path]]:
    """Return the release at level 1 of age, with the owners of its records."""
    rows, own, homes = case
    paths = tree(Random(1), list(SECRETS), 2)
    shown = published_rows(rows)
    released = release(NAMES, shown, ("illness",), {"illness": paths})
    trees: dict[str, Any] = {"age": AGES}
    known = original(NAMES, rows, released, shown, ("illness",), trees)
    distinct = list(dict.fromkeys(rows))
    places = _places(released)
    units = {"household": array(homes)} | ({"person": array(own)} if persons else {})
    owners = Owners.of(
        array([distinct.index(row) for row in rows]), array([places[row] for row in shown]), units
    )
    return AdversaryView(released, None, replace(known, owners=owners)), paths


def array(values: list[int]) -> IntArray:
    return np.array(values, dtype=np.int64)


KNOWN = st.sampled_from([("age",), ("sex",), ("age", "sex")])
UNITS = st.sampled_from(["person", "household", None])


def positions(known: tuple[str, ...]) -> list[int]:
    return [NAMES.index(name) for name in known]


def of_unit(case: Case, unit: str | None) -> list[int]:
    return case[2] if unit == "household" else case[1]


@FEWER
@given(cases(), KNOWN, UNITS, st.integers(0, 2))
def test_persons_who_are_told_are_what_a_loop_counts(
    case: Case, known: tuple[str, ...], unit: str | None, facts: int
) -> None:
    scene, paths = view(case)
    own, rows = of_unit(case, unit), published_rows(case[0])

    def value(row: Any) -> Any:
        return row[2]

    def expected(at: list[int], attack: str) -> Fraction:
        if attack == "homogeneity":
            return twins.told_persons(rows, own, at, value, lambda each: len({row[2] for row in each}) == 1)
        if attack == "background":
            few = facts + 1
            return twins.told_persons(rows, own, at, value, lambda each: len({row[2] for row in each}) <= few)
        return twins.told_persons(
            rows,
            own,
            at,
            lambda row: paths[row[2]][1],
            lambda each: len({paths[row[2]][1] for row in each}) == 1,
        )

    options: dict[str, dict[str, Any]] = {"homogeneity": {}, "background": {"facts": facts}, "similarity": {}}
    for name, further in options.items():
        found = one(name, scene, knowledge=known, unit=unit, **further)
        assert found.success == expected(positions(known), name), name
        assert found.baseline == expected([], name), name
        assert found.knowledge["unit"] == (unit or "person")
        assert found.records == len(set(own))
        assert 0 <= found.details["beyond_guess"] <= float(found.success)


@FEWER
@given(cases(), KNOWN, UNITS)
def test_skewness_and_uniqueness_of_persons(case: Case, known: tuple[str, ...], unit: str | None) -> None:
    scene, _ = view(case)
    own, rows = of_unit(case, unit), published_rows(case[0])
    rare, threshold = Fraction(2, 5), Fraction(1, 2)
    found = one("skewness", scene, knowledge=known, unit=unit, rare="0.4", threshold="0.5")
    assert found.success == twins.skewed_persons(rows, own, positions(known), 2, rare, threshold)
    alone = one("uniqueness", scene, knowledge=known, unit=unit)
    assert alone.success == twins.lone_persons(rows, own, positions(known))


@FEWER
@given(cases(), KNOWN)
def test_persons_and_households_who_are_found(case: Case, known: tuple[str, ...]) -> None:
    rows, persons, homes = published_rows(case[0]), case[1], case[2]
    at, home = positions(known), dict(zip(persons, homes, strict=True))
    scene, _ = view(case)
    best = twins.best_guess(rows, persons, at)
    found = run("vulnerability", scene, knowledge=known, target="re-identification")[0]
    assert found.success == pytest.approx(float(sum(best.values()) / len(best)))
    (found,) = run("vulnerability", scene, knowledge=known, target="re-identification", unit="household")
    assert found.success == pytest.approx(float(twins.found_households(best, home)))
    linked = twins.linked_members(rows, persons, at)
    found = one("linkage", scene, knowledge=known)
    assert found.success == pytest.approx(float(sum(linked.values()) / len(linked)))
    one_link = twins.best_guess(rows, persons, at, by_record=True)
    assert found.details["each_guess"] == pytest.approx(float(sum(one_link.values()) / len(one_link)))
    # Each nearest record is in the right class, as all values are covered.
    assert found.ceiling == pytest.approx(float(found.success))
    assert found.ceiling >= found.success
    linked = twins.linked_members(rows, homes, at)
    found = one("linkage", scene, knowledge=known, unit="household")
    assert found.success == pytest.approx(float(sum(linked.values()) / len(linked)))
    assert found.ceiling == pytest.approx(float(found.success))
    assert found.ceiling >= found.success


@pytest.mark.parametrize("linkage", ["nearest", "assignment"])
def test_links_of_a_person_into_a_class_lead_to_different_records(linkage: str) -> None:
    """Of two records among four both links miss in one case of six, not of four; equal ones are two links."""
    cells = [(age, "M", "flu") for age in ("0", "0", "1", "1", "2", "2", "3", "3")]
    scene, _ = view((cells, [0, 0, 1, 2, 3, 3, 4, 5], list(range(8))))
    found = one("linkage", scene, knowledge=["age", "sex"], linkage=linkage)
    assert found.success == pytest.approx((5 / 6 + 1 / 4 + 1 / 4) / 3)
    assert found.ceiling == pytest.approx(float(found.success))


@pytest.mark.parametrize("linkage", ["nearest", "assignment"])
def test_links_of_a_household_into_a_class_lead_to_different_records(linkage: str) -> None:
    """Both links of two members into a class of four miss in one case of six, whoever is linked to whom."""
    cells = [(age, "M", "flu") for age in ("0", "0", "1", "1", "2", "2", "3", "3")]
    scene, _ = view((cells, list(range(8)), [0, 0, 1, 2, 3, 3, 4, 5]))
    found = one("linkage", scene, knowledge=["age", "sex"], linkage=linkage, unit="household")
    assert found.success == pytest.approx((5 / 6 + 1 / 4 + 1 / 4) / 3)
    assert found.details["each_guess"] == pytest.approx(1 / 4)


def test_who_has_most_records_of_a_class_is_found_by_any_of_them() -> None:
    """In each class one of three persons has 8 of 10 records: one guess is right in 80 %, not a third."""
    cells = [("0", "M", "flu"), ("2", "M", "flu"), ("0", "F", "flu")]
    rows = [cell for cell in cells for _ in range(10)]
    persons = [own for most in range(3) for own in [most] * 8 + [each for each in range(3) if each != most]]
    scene, _ = view((rows, persons, persons))
    for options in ({}, {"subsets": "all"}):
        (found,) = run("vulnerability", scene, target="re-identification", **options)
        assert found.success == Fraction(4, 5)


@FEWER
@given(cases(), KNOWN)
def test_values_of_persons_and_households_are_guessed_once(case: Case, known: tuple[str, ...]) -> None:
    rows, persons, homes = published_rows(case[0]), case[1], case[2]
    at, home = positions(known), dict(zip(persons, homes, strict=True))
    scene, _ = view(case)
    best, whole = (twins.best_values(rows, persons, each, 2) for each in (at, []))
    (found,) = run("vulnerability", scene, knowledge=known, target="attribute-inference")
    means = [sum(each.values()) / len(each) for each in (best, whole)]
    assert found.success == max(means)
    assert found.baseline == means[1]
    shares = twins.best_shares(rows, persons, at if means[0] >= means[1] else [], 2)
    assert found.details["highest"] == pytest.approx(float(max(shares.values())))
    assert found.success >= one("homogeneity", scene, knowledge=known).success
    (found,) = run("vulnerability", scene, knowledge=known, target="attribute-inference", unit="household")
    means = [twins.found_households(each, home) for each in (best, whole)]
    assert float(found.success) == pytest.approx(float(max(means)))
    assert float(found.baseline) == pytest.approx(float(means[1]))
    assert found.records == len(set(homes))


COLUMNS = ("q", "r", "t", "s")


@st.composite
def wide_cases(draw: st.DrawFn) -> Case:
    """Return records of three quasi-identifiers and a secret, with few values; persons and households."""
    cells = st.tuples(*(st.sampled_from("01") for _ in "qr"), st.sampled_from("012"), st.sampled_from("abc"))
    rows = draw(st.lists(st.tuples(cells, st.integers(0, 7)), min_size=1, max_size=16))
    persons = [person for _, person in rows]
    return [cell for cell, _ in rows], persons, [person // 3 for person in persons]


@FEWER
@given(wide_cases(), st.integers(1, 3), st.sampled_from(["person", "household"]))
def test_persons_are_found_by_every_set_of_columns(case: Case, size: int, unit: str) -> None:
    rows, persons, homes = case
    released = release(COLUMNS, rows, ("s",))
    known = original(COLUMNS, rows, released, rows, ("s",))
    units = {"person": persons, "household": homes}
    scene = AdversaryView(released, None, owned(known, released, rows, rows, units))
    home, own = dict(zip(persons, homes, strict=True)), of_unit(case, unit)
    sets = [list(each) for most in range(1, size + 1) for each in combinations(range(3), most)]

    def mean(found: dict[Any, Fraction]) -> Fraction:
        return (
            twins.found_households(found, home) if unit == "household" else sum(found.values()) / len(found)
        )

    lone = {tuple(at): twins.lone_persons(rows, own, at) for at in sets}
    blind = mean(twins.best_values(rows, persons, [], 3))
    expected = {
        "re-identification": {tuple(at): mean(twins.best_guess(rows, persons, at)) for at in sets},
        "attribute-inference": {
            tuple(at): max(mean(twins.best_values(rows, persons, at, 3)), blind) for at in sets
        },
    }
    found = run("vulnerability", scene, subsets="all", size=size, unit=unit)
    for finding in found:
        shares = expected[finding.knowledge["target"]]
        assert float(finding.success) == pytest.approx(float(max(shares.values())))
        of_sets = {tuple(map(COLUMNS.index, each["attributes"])): each for each in finding.details["subsets"]}
        assert {at: each["success"] for at, each in of_sets.items()} == pytest.approx(
            {at: float(share) for at, share in shares.items()}
        )
        assert {at: each["uniques"] for at, each in of_sets.items()} == {
            at: float(share) for at, share in lone.items()
        }
        (alone,) = run(
            "vulnerability",
            scene,
            knowledge=finding.knowledge["attributes"],
            target=finding.knowledge["target"],
            unit=unit,
        )
        assert alone.success == finding.success
    unique = one("uniqueness", scene, subsets="all", size=size, unit=unit)
    assert unique.success == max(lone.values())
    assert unique.knowledge["unit"] == unit
    fewest: dict[Any, int] = {}
    for at in sorted(sets, key=len):
        classes = {place: tuple(row[column] for column in at) for place, row in enumerate(rows)}
        for place, target in enumerate(own):
            if {own[other] for other in classes if classes[other] == classes[place]} == {target}:
                fewest.setdefault(target, len(at))
    assert unique.details["singled_out_by"] == Counter(fewest.values())


@FEWER
@given(cases(), st.sampled_from(["person", "household", "record"]))
def test_no_linkage_finds_more_than_its_ceiling(case: Case, unit: str) -> None:
    scene, _ = view(case)
    for linkage in ("nearest", "assignment", "probabilistic"):
        found = one("linkage", scene, linkage=linkage, unit=unit)
        assert found.ceiling >= found.success


@FEWER
@given(cases(), KNOWN)
def test_without_persons_each_record_is_a_member(case: Case, known: tuple[str, ...]) -> None:
    rows, at = published_rows(case[0]), positions(known)
    scene, _ = view(case, persons=False)
    members = list(range(len(rows)))
    home = dict(enumerate(case[2]))
    (found,) = run("vulnerability", scene, knowledge=known, target="re-identification", unit="household")
    best = twins.best_guess(rows, members, at)
    assert found.success == pytest.approx(float(twins.found_households(best, home)))
    assert "unit" not in one("homogeneity", scene, knowledge=known).knowledge


def learned(scene: AdversaryView, case: Case, own: list[int], seed: int) -> tuple[set[Any], set[Any]]:
    """Return the persons of whom a value is guessed, with evidence and without, by a loop."""
    assert scene.original is not None
    release, places, known = scene.release, _places(scene.release), scene.original.meanings
    distinct = list(dict.fromkeys(case[0]))
    texts = release.sensitive["illness"].attribute.column.texts
    rows = list(zip(case[0], published_rows(case[0]), strict=True))
    # Persons in the order of their first records, as rows of the two tables; equal rows as they are given.
    records = sorted(
        (
            (distinct.index(row), places[shown], person)
            for (row, shown), person in zip(rows, own, strict=True)
        ),
        key=lambda each: each[:2],
    )
    order = list(dict.fromkeys(person for *_, person in records))
    secrets = [next(distinct[row][2] for row, _, person in records if person == each) for each in order]
    drawn = np.random.default_rng(seed).random(len(order))
    dealt = sorted(range(len(order)), key=lambda place: (texts.index(secrets[place]), drawn[place]))
    fold_of = {order[place]: number % min(5, len(order)) for number, place in enumerate(dealt)}

    def guess(training: Any, record: Any, strength: float) -> str:
        shown = [row for _, row, _ in training]
        model = NaiveBayes(
            LabelCounts.of(
                np.array([release.codes[places[row]] for row in shown]).reshape(-1, 2).astype(np.int64),
                array([texts.index(row[2]) for row in shown]),
                np.ones(len(shown), dtype=np.int64),
                [len(labels) for labels in release.labels],
                len(texts),
            ),
            known,
        )
        codes = [each.column.texts.index(value) for each, value in zip(known, record[0], strict=False)]
        return texts[int(model.guesses(array([codes]), strength)[0])]

    everything = [(row, shown, row[2]) for row, shown in rows]
    return twins.learned_persons(everything, own, fold_of, STRENGTHS, guess)


@FEWER
@given(cases(), UNITS, st.integers(0, 3))
def test_whose_value_is_learned_is_held_out_with_all_records(case: Case, unit: str | None, seed: int) -> None:
    own = of_unit(case, unit)
    if len(set(own)) < 2:
        return
    scene, _ = view(case)
    found = one("inference", scene, seed, unit=unit)
    told, blind = learned(scene, case, own, seed)
    number = len(set(own))
    assert found.success == Fraction(len(told), number)
    assert found.baseline == best_blind(Fraction(len(blind), number), own, [row[2] for row in case[0]])
    assert (found.low, found.high) == clopper_pearson(len(told), number)
    assert (found.records, found.knowledge["unit"]) == (number, unit or "person")


@FEWER
@given(cases(), st.integers(2, 20), st.integers(0, 3))
def test_inference_about_persons_of_one_record_each(case: Case, targets: int, seed: int) -> None:
    """Every figure is that of records, of all of them and of a sample."""
    if len(case[0]) < 2:
        return
    scene, _ = view((case[0], list(reversed(range(len(case[0])))), case[2]))
    by_person = one("inference", scene, seed, targets=targets)
    by_record = one("inference", scene, seed, targets=targets, unit="record")
    assert replace(by_person, knowledge=by_record.knowledge) == by_record
    assert by_person.knowledge == {**by_record.knowledge, "unit": "person"}


def test_a_person_is_not_learned_from_with_another_record() -> None:
    """Each person has two records with a number of its own, which reveals the value only if one is kept."""
    random = Random(2)
    rows, people = [], []
    for person in range(60):
        value = random.choice("12")
        rows += [(str(person), value)] * 2
        people += [person] * 2
    released = release(("x", "s"), rows, ("s",))
    known = original(("x", "s"), rows, released, rows, ("s",))
    distinct, places = list(dict.fromkeys(rows)), _places(released)
    owners = Owners.of(
        array([distinct.index(row) for row in rows]),
        array([places[row] for row in rows]),
        {"person": array(people)},
    )
    scene = AdversaryView(released, None, replace(known, owners=owners))
    assert one("inference", scene, unit="record").low > 0.7
    found = one("inference", scene)
    assert found.low <= found.baseline <= found.high
    some = one("inference", scene, targets=20)
    assert some.records == 20
    assert some.low <= some.baseline <= some.high


def test_inference_needs_two_persons(message: SnapshotAssertion) -> None:
    scene, _ = view(([("0", "M", "flu"), ("1", "F", "cold")], [4, 4], [1, 1]))
    assert exchange("two records of one person", refused("inference", scene)) == message
    said = invalid("inference", {"unit": "person", "key": "id"})
    assert exchange("unit: person, key: id", said) == message


@FEWER
@given(cases(), KNOWN, UNITS, st.sampled_from(["exact", "published", "similar"]), st.integers(0, 3))
def test_values_of_persons_are_guessed_by_what_is_known_of_their_records(
    case: Case, known: tuple[str, ...], unit: str | None, features: str, seed: int
) -> None:
    scene, _ = view(case)
    rows, (_, persons, homes), at = published_rows(case[0]), case, positions(known)
    options = {"knowledge": known, "features": features, "chains": 2, "sweeps": 16}
    found = one("definetti", scene, seed, unit=unit, **options)
    home = dict(zip(persons, homes, strict=True)) if unit == "household" else None
    classes = [tuple(row[column] for column in at) for row in rows]
    of_class = {
        own: [row[2] for row, each in zip(rows, classes, strict=True) if each == own] for own in classes
    }
    frequent = {
        own: {value for value in values if values.count(value) == max(map(values.count, values))}
        for own, values in of_class.items()
    }
    cells = [tuple(row[column] for column in at) for row in (rows if features == "published" else case[0])]
    records = list(zip(zip(classes, cells, strict=True), (row[2] for row in rows), strict=True))
    blind = {known_: frequent[known_[0]] for known_, _ in records}
    by_record = float(twins.guessed_persons(records, persons, blind, home))
    values = [row[2] for row in rows]
    assert float(found.baseline) == pytest.approx(best_blind(by_record, of_unit(case, unit), values))
    likeliest = guesses(
        attack("definetti", **options), scene, seed, list(zip(rows, cells, strict=True)), known
    )
    expected = float(twins.guessed_persons(records, persons, likeliest, home))
    assert float(found.success) == pytest.approx(expected)
    assert found.low <= float(found.success) <= found.high
    assert (found.records, found.knowledge["unit"]) == (len(set(of_unit(case, unit))), unit or "person")


def best_blind(by_record: Any, units: list[int], values: list[str]) -> Any:
    """Return the larger of a share and, if a unit has several records, that of the most common value."""
    number = len(set(units))
    if number == len(units):
        return by_record
    having = Counter(value for _, value in set(zip(units, values, strict=True)))
    return max(by_record, Fraction(max(having.values()), number))


def guesses(
    by: Any, scene: AdversaryView, seed: int, records: list[tuple[Any, Any]], known: tuple[str, ...]
) -> dict[Any, set[str]]:
    """Return the likeliest values of each class and features, by the attack's own probabilities."""
    seen = by.view(scene, "illness")
    chances = by.chances(seen, np.random.default_rng(seed)).chances
    groups, at, places = seen.groups, positions(known), _places(scene.release)
    of_row = scene.release.classes(known).class_of
    texts = scene.release.sensitive["illness"].attribute.column.texts
    found = {}
    for row, cells in records:
        if by.settings.features == "published":
            columns = [scene.release.labels[column] for column in at]
        else:
            columns = [scene.original.meanings[column].column.texts for column in at]  # type: ignore[union-attr]
        codes = [column.index(cell) for column, cell in zip(columns, cells, strict=True)]
        (kind,) = np.flatnonzero((groups.group == of_row[places[row]]) & (groups.codes == codes).all(axis=1))
        own = np.flatnonzero(groups.kind == kind)
        best = own[chances[own] == chances[own].max()]
        found[tuple(row[column] for column in at), cells] = {
            texts[code] for code in groups.entry_values[best]
        }
    return found


@FEWER
@given(cases(), st.integers(0, 3))
def test_values_of_persons_of_one_record_each_are_guessed_like_records(case: Case, seed: int) -> None:
    scene, _ = view((case[0], list(reversed(range(len(case[0])))), case[2]))
    options = {"chains": 2, "sweeps": 16}
    by_person = one("definetti", scene, seed, **options)
    by_record = one("definetti", scene, seed, unit="record", **options)
    details = {key: own for key, own in by_record.details.items() if key != "expected"}
    assert by_person == replace(
        by_record, knowledge={**by_record.knowledge, "unit": "person"}, details=details
    )


@FEWER
@given(cases())
def test_persons_of_one_record_each_are_records(case: Case) -> None:
    """Where no person has two records, every attack finds what it finds of records."""
    scene, _ = view((case[0], list(range(len(case[0]))), case[2]))
    for name in ("homogeneity", "background", "similarity", "skewness", "uniqueness", "linkage"):
        by_person, by_record = one(name, scene), one(name, scene, unit="record")
        assert by_person.success == pytest.approx(float(by_record.success)), name
        assert float(by_person.baseline) == pytest.approx(float(by_record.baseline)), name
        assert by_person.knowledge == {**by_record.knowledge, "unit": "person"}
    of_persons, of_records = (run("vulnerability", scene, unit=unit) for unit in ("person", "record"))
    for by_person, by_record in zip(of_persons, of_records, strict=True):
        assert by_person.success == by_record.success
        assert by_person.baseline == by_record.baseline
        assert (by_person.low, by_person.high) == (by_record.low, by_record.high)
        assert by_person.knowledge == {**by_record.knowledge, "unit": "person"}


@FEWER
@given(cases(), st.lists(st.tuples(st.booleans(), st.booleans()), min_size=14, max_size=14))
def test_persons_are_alone_by_what_is_left_published(case: Case, stars: list[tuple[bool, bool]]) -> None:
    rows, persons, homes = case
    shown = [
        tuple("*" if hidden else cell for cell, hidden in zip(row, (*own, False), strict=True))
        for row, own in zip(rows, stars, strict=False)
    ]
    released = release(NAMES, shown, ("illness",))
    known = original(NAMES, rows, released, shown, ("illness",))
    records = list(range(len(rows)))
    units = {"person": persons, "household": homes, "stay": records}
    scene = AdversaryView(released, None, owned(known, released, rows, shown, units))
    assert one("wildcard", scene).success == twins.wildcard_persons(shown, persons, 2)
    found = one("wildcard", scene, unit="household")
    assert found.success == twins.wildcard_persons(shown, homes, 2)
    assert (found.knowledge["unit"], found.records) == ("household", len(set(homes)))
    alone, of_records = one("wildcard", scene, unit="stay"), one("wildcard", scene, unit="record")
    assert alone == replace(of_records, knowledge={**of_records.knowledge, "unit": "stay"})


def test_a_lone_patient_is_told_though_his_values_differ() -> None:
    """A class of one person with three illnesses discloses all of them; by records it discloses none."""
    rows = [
        ("0", "M", "asthma"),
        ("0", "M", "cold"),
        ("1", "M", "flu"),
        ("2", "F", "flu"),
        ("2", "F", "cold"),
    ]
    scene, _ = view((rows, [1, 1, 1, 2, 3], [0, 0, 0, 1, 1]))
    assert one("homogeneity", scene, unit="record").success == 0
    assert one("homogeneity", scene).success == Fraction(1, 3)
    assert one("uniqueness", scene, unit="record").success == 0
    assert one("uniqueness", scene).success == Fraction(1, 3)


def test_sampled_targets_are_persons() -> None:
    random = Random(3)
    rows = [(random.choice("0123"), random.choice("MF"), random.choice(SECRETS)) for _ in range(400)]
    persons = [random.randrange(100) for _ in rows]
    scene, _ = view((rows, persons, persons))
    whole = one("linkage", scene)
    some = one("linkage", scene, targets=120)
    assert some.records < len(set(persons)) == whole.records
    assert some.low < some.success < some.high
    assert some.low <= whole.success <= some.high
