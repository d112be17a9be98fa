"""Attacks on releases whose pseudonyms link the rows of a person, against twins that keep lists of rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonymizer as an
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.arrays import IntArray
from anonymizer.model.owners import Owners
from tests.attacks.published import one, release

NAMES = ("age", "sex", "illness")
Row = tuple[str, ...]
Case = tuple[list[Row], list[int]]


def array(values: list[int]) -> IntArray:
    return np.array(values, dtype=np.int64)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Return published rows of age, sex and illness, and the person of each; equal lists are likely."""
    cells = st.tuples(st.sampled_from("01"), st.sampled_from("MF"), st.sampled_from(("asthma", "flu")))
    rows = draw(st.lists(st.tuples(cells, st.integers(0, 6)), min_size=1, max_size=16))
    return [cell for cell, _ in rows], [person for _, person in rows]


def view(case: Case, units: dict[str, list[int]] | None = None) -> AdversaryView:
    """Return the release with its pseudonyms, without an original."""
    rows, persons = case
    released = release(NAMES, rows, ("illness",))
    values = released.sensitive["illness"]
    texts = values.attribute.column.texts
    places = {
        (*(own[code] for own, code in zip(released.labels, codes, strict=True)), texts[value]): place
        for place, (codes, value) in enumerate(zip(released.codes, values.codes, strict=True))
    }
    at = array([places[row] for row in rows])
    own = {name: array(each) for name, each in {"person": persons, **(units or {})}.items()}
    return AdversaryView(released, named=Owners.of(at, at, own, linked=True))


def lists_of(case: Case, known: tuple[int, ...]) -> dict[int, tuple[Row, ...]]:
    """Return the sorted list of what is known of the published rows of each person."""
    found: dict[int, list[Row]] = defaultdict(list)
    for row, person in zip(*case, strict=True):
        found[person].append(tuple(row[place] for place in known))
    return {person: tuple(sorted(rows)) for person, rows in found.items()}


KNOWN = st.sampled_from([(0,), (1,), (0, 1)])


def options(known: tuple[int, ...]) -> dict[str, Any]:
    return {"knowledge": [NAMES[place] for place in known]}


@given(cases(), KNOWN)
def test_persons_are_found_among_those_with_equal_lists(case: Case, known: tuple[int, ...]) -> None:
    lists = lists_of(case, known)
    sizes = Counter(lists.values())
    found = one("vulnerability", view(case), target="re-identification", **options(known))
    expected = sum((Fraction(1, sizes[own]) for own in lists.values()), Fraction(0)) / len(lists)
    assert (found.success, found.records) == (expected, len(lists))
    assert found.knowledge["links"] == "used"
    alone = one("uniqueness", view(case), **options(known))
    assert alone.success == Fraction(sum(number == 1 for number in sizes.values()), len(lists))
    assert alone.details["classes_by_size"] == Counter(sizes.values())


@given(cases(), KNOWN)
def test_values_are_learned_from_persons_with_equal_lists(case: Case, known: tuple[int, ...]) -> None:
    lists, rows = lists_of(case, known), list(zip(*case, strict=True))
    having: dict[int, set[str]] = defaultdict(set)
    for row, person in rows:
        having[person].add(row[2])
    told, right = set(), Fraction(0)
    for person, own in lists.items():
        others = [other for other, each in lists.items() if each == own]
        told |= {person} if set.intersection(*(having[other] for other in others)) else set()
        for place in set(own):
            behind = {
                row[2] for row, other in rows if other in others and tuple(row[at] for at in known) == place
            }
            told |= {person} if len(behind) == 1 else set()
        counts = Counter(value for other in others for value in having[other])
        best = [value for value, number in counts.items() if number == max(counts.values())]
        right += Fraction(sum(value in having[person] for value in best), len(best))
    certain = one("homogeneity", view(case), **options(known))
    assert certain.success == Fraction(len(told), len(lists))
    overall = Counter(value for values in having.values() for value in values)
    most = [value for value, number in overall.items() if number == max(overall.values())]
    blind = sum(
        (Fraction(sum(value in values for value in most), len(most)) for values in having.values()),
        Fraction(0),
    )
    guess = one("vulnerability", view(case), target="attribute-inference", **options(known))
    assert guess.success == max(right, blind) / len(lists)


@given(cases(), st.integers(1, 2))
def test_every_set_of_columns_is_that_of_lists(case: Case, size: int) -> None:
    sets = [own for number in range(1, size + 1) for own in combinations(range(2), number)]
    for name, further in (("vulnerability", {"target": "re-identification"}), ("uniqueness", {})):
        found = one(name, view(case), subsets="all", size=size, **further)
        shares = {}
        for known in sets:
            alone = one(name, view(case), **further, **options(known))
            shares[tuple(NAMES[place] for place in known)] = float(alone.success)
        own = {tuple(each["attributes"]): each["success"] for each in found.details["subsets"]}
        assert own == pytest.approx(shares)
        assert float(found.success) == pytest.approx(max(shares.values()))


@given(cases())
def test_a_household_is_found_by_any_of_its_members(case: Case) -> None:
    homes = [person // 3 for person in case[1]]
    lists = lists_of(case, (0, 1))
    sizes = Counter(lists.values())
    missed: dict[int, float] = defaultdict(lambda: 1.0)
    for person, own in lists.items():
        missed[person // 3] *= 1 - 1 / sizes[own]
    scene = view(case, {"household": homes})
    found = one("vulnerability", scene, target="re-identification", unit="household")
    assert found.success == pytest.approx(1 - sum(missed.values()) / len(missed))


@given(cases())
def test_links_find_at_least_as_many_as_single_rows(case: Case) -> None:
    scene = view(case)
    assert scene.named is not None
    apart = replace(scene, named=replace(scene.named, linked=False))
    linked, single = (one("vulnerability", each, target="re-identification") for each in (scene, apart))
    assert linked.success >= single.success


def panel(persons: int = 120) -> pd.DataFrame:
    """Return two to three years of each person; their ages are good for equal rows and different lists."""
    random, rows = Random(5), []
    for person in range(persons):
        sex = random.choice("MF")
        rows += [
            (f"P{person}", random.choice(("20", "30")), sex, random.choice(("flu", "cough", "cold")))
            for _ in range(random.choice((2, 3)))
        ]
    return pd.DataFrame(rows, columns=["key", "age", "sex", "illness"])


CONFIG: dict[str, Any] = {
    "input": {"person": {"column": "key", "release_as": "pseudonym"}},
    "attributes": {
        "key": {"role": "identifier"},
        "age": {
            "role": "quasi-identifier",
            "type": "number",
            "hierarchy": {"intervals": {"width": [5, 10, 20]}},
        },
        "sex": {"role": "quasi-identifier"},
        "illness": {"role": "sensitive"},
    },
    "constraints": [{"model": "k-anonymity", "k": 3}],
    "suppression": {"limit": 0.2},
    "attacks": [{"attack": "vulnerability", "target": "re-identification"}, {"attack": "wildcard"}],
}


def lists_of_frame(released: pd.DataFrame, known: list[str]) -> pd.Series:
    """Return the sorted list of rows of each person, by key."""
    rows = released[known].astype(str).agg("|".join, axis=1)
    return rows.groupby(released["key"]).apply(lambda own: "/".join(sorted(own)))


def by_pandas(released: pd.DataFrame, known: list[str]) -> tuple[float, int]:
    """Return the mean of 1 / persons with the same list of rows, and the number of lists."""
    lists = lists_of_frame(released, known)
    return float((1 / lists.map(lists.value_counts())).mean()), lists.nunique()


def test_a_run_reports_the_risk_by_pseudonyms() -> None:
    done = an.anonymize(panel(), CONFIG)
    report = done.report.to_dict()
    risk, number = by_pandas(done.data, ["age", "sex"])
    found, ignoring = report["attacks"]
    assert found["success"] == pytest.approx(risk)
    rows = done.data.groupby(["age", "sex"])["key"].transform("nunique")
    assert risk > 1.5 / rows.groupby(done.data["key"]).min().mean()
    assert report["units"]["person"]["linked_classes"] == number
    assert report["release"]["classes"] == len(done.data.drop_duplicates(["age", "sex"]))
    assert (found["knowledge"]["links"], ignoring["knowledge"]["links"]) == ("used", "ignored")
    said = [each for each in report["warnings"] if "pseudonyms link" in each]
    assert len(said) == 1
    assert said[0].startswith("wildcard ignored")


@pytest.mark.parametrize("kept", [1.0, 0.7])
def test_an_attack_on_files_reads_the_pseudonyms(kept: float) -> None:
    """Also where nobody can say from the original whose each record is, as some persons are not released."""
    done = an.anonymize(panel(), CONFIG)
    keys = done.data["key"].astype(int)
    released = done.data[keys <= kept * keys.max()]
    risk, _ = by_pandas(released, ["age", "sex"])
    found = an.attack(released, original_df=panel(), config=CONFIG)
    assert found["success"][0] == pytest.approx(risk)
    assert found["knowledge"][0]["unit"] == "person"
    without = an.attack(released, original_df=None, config=CONFIG)
    assert without["success"][0] == pytest.approx(risk)
    unlinked = an.attack(released.drop(columns="key"), original_df=None, config=CONFIG)
    assert "links" not in unlinked["knowledge"][0]


def test_the_page_counts_persons_with_equal_lists() -> None:
    changed = {"suppression": {"limit": 0.3}, "constraints": [{"model": "k-anonymity", "k": 5}]}
    done = an.anonymize(panel(), CONFIG | changed)
    assert done.report.to_dict()["release"]["suppressed_records"] > 0
    facts, released = done.facts, done.data
    sizes = Counter(lists_of_frame(released, ["age", "sex"]).tolist())
    assert facts.smallest_class == min(sizes.values())
    for each in facts.groups:
        inside = [own for own in sizes.values() if each.low <= own <= (each.high or own)]
        assert (each.classes, each.of) == (len(inside), "persons")
    assert [each.known for each in facts.knowing] == [1, 2]
    for own in facts.knowing:
        sets = [list(known) for known in combinations(("age", "sex"), own.known)]
        for frame, share in ((released, own.worst), (panel(), own.before)):
            assert share == pytest.approx(max(by_pandas(frame, known)[0] for known in sets), rel=0.05)
