"""The judge sees what is planted in runs with persons, weights, populations, scenarios and dialects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz.brute_force import Truth
from tests.fuzz.cases import Case
from tests.fuzz.columns import Attribute, identity
from tests.fuzz.dialects import Dialect
from tests.fuzz.judge import Judge, beyond, covers
from tests.fuzz.models import Asked, Counts, Measured, Records, View, of_class, over_classes
from tests.fuzz.people import Key, Population, units
from tests.fuzz.planting import Plant, Ran, cell, constraint, planted, report_of

AGES = {str(age): (str(age), f"{age // 10 * 10}-{age // 10 * 10 + 9}", "*") for age in range(10, 40)}
BOUNDS = {age: (Fraction(age), Fraction(age)) for age in AGES} | {
    f"{low}-{low + 9}": (Fraction(low), Fraction(low + 9)) for low in (10, 20, 30)
}


def visits(
    ages: Sequence[int],
    persons: Sequence[int],
    secrets: str,
    weights: Sequence[Fraction] | None = None,
    **changes: Any,
) -> Case:
    """Return a run on visits of persons, whose ages are published in tens."""
    size = len(ages)
    entry = {"role": "quasi-identifier", "type": "integer", "hierarchy": {"intervals": {"width": [10]}}}
    entry |= changes.pop("labels", {})
    cells = tuple(map(str, ages))
    paths = {age: AGES[age] for age in cells}
    key = Key("person", "pid", tuple(persons), tuple(f"kéy{i}00" for i in range(size)))
    attributes = [
        Attribute("age", entry, "integer", cells, paths, 0, 2, bounds=BOUNDS),
        Attribute("s", {"role": "sensitive"}, "text", tuple(secrets)),
        Attribute("mark", {"role": "insensitive"}, "text", tuple(f"m{i}" for i in range(size))),
        Attribute("pid", {"role": "identifier"}, "text", tuple(key.texts[each] for each in persons)),
    ]
    if weights is not None:
        shown = tuple(str(float(each)) for each in weights)
        attributes.append(Attribute("w", {"role": "weight", "release": False}, "number", shown))
    config = {
        "input": {"path": "in.csv", "missing": [""], "person": "pid"},
        "attributes": {each.name: each.entry for each in attributes},
        "constraints": [{"model": "k-anonymity", "k": 2}],
        "reference": "release",
        "suppression": {"limit": 0, "method": "classes"},
        "algorithm": {"name": "lattice"},
        "objective": {"metric": "loss"},
        "seed": 123456,
        "output": {"path": "release.csv", "order": "sorted"},
    }
    own = None if weights is None else tuple(weights)
    return Case(0, tuple(attributes), config | changes, keys=(key,), weights=own)


PERSONS = visits(
    (11, 12, 13, 21, 22, 25, 31),
    (0, 0, 1, 2, 3, 3, 4),
    "pqpqppq",
    suppression={"limit": 0.3, "method": "classes"},
)
SCENARIO = replace(
    PERSONS,
    config=PERSONS.config
    | {"scenarios": {"neighbour": {"known": ["age"], "models": [{"model": "k-anonymity", "k": 2}]}}},
)
WEIGHTS = visits(
    (11, 12), (0, 1), "pq", (Fraction(7, 2), Fraction(7, 2)), constraints=[{"model": "k-map", "k": 3}]
)
LABELLED = visits((11, 12, 21, 22), (0, 1, 2, 3), "pqpq", labels={"labels": "low-high"})
HALVES = replace(
    visits((11, 12, 21, 22), (0, 1, 2, 3), "pqpq", labels={"labels": "midpoint", "levels": {"min": 1}}),
    dialect=Dialect(";", ",", "latin-1"),
)


def swapped(column: str) -> Plant:
    """Return a plant that exchanges a cell of the first and the last row."""

    def plant(report: dict[str, Any], rows: list[dict[str, str]]) -> None:
        rows[0][column], rows[-1][column] = rows[-1][column], rows[0][column]

    return plant


def in_scenario(report: dict[str, Any], rows: list[dict[str, str]]) -> None:
    report["scenarios"]["neighbour"]["constraints"][0]["measured"] = 3


def better_step(report: dict[str, Any], rows: list[dict[str, str]]) -> None:
    report["steps"].append({"accepted": True, "objective": 0.01})


PLANTS: dict[str, tuple[Case, Plant, str]] = {
    "persons counted as records": (
        PERSONS,
        constraint(0, "measured", 3),
        "measured 3 is reported, counted 2",
    ),
    "a label of another record": (PERSONS, swapped("age"), "is published of"),
    "a text of another record": (PERSONS, swapped("s"), "not ("),
    "a record of another person": (PERSONS, cell(0, "mark", "m6"), "is published of"),
    "a record twice": (PERSONS, cell(0, "mark", "m1"), "a record is there twice"),
    "two spellings": (PERSONS, cell(0, "age", " 10-19"), "is published as"),
    "a step that is better": (PERSONS, better_step, "a step was accepted with 0.01"),
    "a scenario": (SCENARIO, in_scenario, "neighbour:k-anonymity(None, person): measured 3"),
    "people": (WEIGHTS, constraint(0, "measured", 4), "measured 4 is reported, counted 7/2"),
    "one end": (LABELLED, cell(0, "age_high", "29"), "are not labels of age"),
    "no end": (LABELLED, cell(0, "age_high", ""), "half of an interval"),
    "no midpoint": (HALVES, cell(0, "age", "15,5"), "15.5 is no midpoint"),
}


@pytest.mark.parametrize("name", PLANTS)
def test_the_judge_sees_what_is_planted(ran: Ran, name: str, tmp_path: Path) -> None:
    own, plant, said = PLANTS[name]
    found = planted(ran, tmp_path, own, plant)
    assert any(said in each for each in found), found


def changed(own: Case, **suppression: Any) -> Case:
    """Return a case that asks for another suppression."""
    return replace(own, config=own.config | {"suppression": own.config["suppression"] | suppression})


def test_the_judge_counts_the_persons_who_lose_records(ran: Ran) -> None:
    """One of five persons lost the only record, which a limit of 10 % of the persons does not allow."""
    report, release = report_of(ran(PERSONS)), ran(PERSONS) / "release"
    stricter = changed(PERSONS, unit="person", limit=0.1)
    found = Judge(stricter, report, release, Counter()).findings()
    assert any("1 of person lost a record, the limit is 0" in each for each in found), found
    other = replace(PERSONS.keys[0], groups=(0, 0, 1, 2, 3, 3, 0))
    whole = changed(replace(PERSONS, keys=(other,)), whole="person")
    assert any(
        "lost some records and not all" in each
        for each in Judge(whole, report, release, Counter()).findings()
    )


def test_the_judge_sees_keys_in_what_is_written(ran: Ran, tmp_path: Path) -> None:
    found = planted(ran, tmp_path, PERSONS, cell(0, "s", "kéy000"))
    assert any("has an identifier" in each for each in found), found


def test_the_judge_refutes_proofs_about_fractions_of_people() -> None:
    """A class of 3.5 people has a risk of 2/7, which 0.3 allows: level 0 satisfies it."""
    own = replace(
        WEIGHTS, config=WEIGHTS.config | {"constraints": [{"model": "journalist-risk", "max": 0.3}]}
    )
    search = {"objective": 1.0, "bound": 1.0, "optimal": True, "best_possible": None, "steps": 1}
    found = Judge(own, {"status": "infeasible", "search": search}, Path("nowhere"), Counter()).findings()
    assert "lattice: infeasible is claimed, 0.0 is possible" in found
    assert "lattice: the bound 1.0 is above 0.0, which is possible" in found


def test_verdicts_agree_with_measures() -> None:
    risk = Asked({"model": "journalist-risk", "max": 0.3}, None)
    said = {"measured": 0.2857, "satisfied": False}
    assert "satisfied is False" in "".join(beyond(risk, said))
    assert "satisfied is True" in "".join(beyond(risk, {"measured": 0.31, "satisfied": True}))
    assert not list(beyond(risk, {"measured": 0.3, "satisfied": True}))
    both = Asked({"model": "alpha-k-anonymity", "k": 2, "alpha": 0.5}, "s")
    assert list(beyond(both, {"measured": [2, 0.25], "satisfied": False}))
    assert list(beyond(both, {"measured": [1, 0.25], "satisfied": True}))
    assert not list(beyond(both, {"measured": [1, 0.25], "satisfied": False}))


def test_units_are_counted_by_hand() -> None:
    person = Key("person", "pid", (0, 0, 1, None), ("a", "b"))
    home = Key("household", "hid", (None, 0, 1, 1), ("x", "y"))
    found = units([home, person], 4)
    assert found["person"] == [0, 0, 1, -4]
    assert found["household"] == [0, 0, 1, 1]
    alone = units([replace(home, groups=(None, 1, None, None)), person], 4)["household"]
    assert [len(set(alone)), alone[0]] == [3, 1]
    records = Records(
        [("p",), ("q",), ("p",), ("p",)], [Attribute("s", {"role": "sensitive"}, "text", ())], found
    )
    counts = records.count(range(4), 0, "person")
    assert (counts.size, counts.of) == (3, Counter(p=3, q=1))
    assert (counts.shares["p"], counts.parts["p"]) == (1, Fraction(3, 4))


HAND = Records(
    [()] * 4,
    [],
    units([Key("person", "pid", (0, 0, 1, 2), ("a",)), Key("household", "hid", (0, 0, 0, 1), ("x",))], 4),
    [Fraction(7, 2), Fraction(7, 2), Fraction(1, 2), Fraction(2)],
)
RISKS: dict[str, tuple[dict[str, Any], str, Any]] = {
    # classes {0, 2} and {1, 3}: persons 0 and 1, 0 and 2; people 4 and 5.5
    "prosecutor": ({"model": "prosecutor-risk", "max": 0.5}, "person", Fraction(1, 2)),
    "journalist": ({"model": "journalist-risk", "max": 0.25}, "person", Fraction(1, 4)),
    "journalist, mean": (
        {"model": "journalist-risk", "max": 0.25, "at": "mean"},
        "record",
        (Fraction(1, 4) + Fraction(2, 11)) / 2,
    ),
    "shares": ({"model": "prosecutor-risk", "max": 0, "at": {"share-above": 0.5}}, "record", 0),
    "presence": ({"model": "delta-presence", "max": 0.5}, "person", [Fraction(4, 11), Fraction(1, 2)]),
    "household": ({"model": "household-risk", "max": 0.75}, "person", Fraction(3, 4)),
    "household, mean": (
        {"model": "household-risk", "max": 0.7, "at": "mean"},
        "person",
        (2 * Fraction(3, 4) + Fraction(1, 2)) / 3,
    ),
    "uniqueness": ({"model": "uniqueness", "max": 0}, "person", 0),
    "vulnerability": (
        {"model": "vulnerability", "max": 0.5, "target": "re-identification"},
        "person",
        Fraction(1, 2),
    ),
}


@pytest.mark.parametrize("name", RISKS)
def test_risks_by_hand(name: str) -> None:
    parameters, unit, value = RISKS[name]
    classes = [[0, 2], [1, 3]]
    view = View(HAND, classes, range(4), [HAND.estimate(own) for own in classes])
    assert over_classes(Asked(parameters, None, unit), view) == Measured(value, True, None)


def test_scenarios_spread_suppression() -> None:
    """Who knows only b finds the record that is left of its class, once that of a has lost one."""
    own = visits((11, 12, 21), (0, 1, 2), "ppp")
    [age, *others] = own.attributes
    other = Attribute(
        "b", {"role": "quasi-identifier"}, "text", ("x", "y", "y"), {"x": ("x", "*"), "y": ("y", "*")}, 0, 0
    )
    knowing = {"neighbour": {"known": ["b"], "models": [{"model": "k-anonymity", "k": 2}]}}
    config = own.config | {"scenarios": knowing, "constraints": []}
    limited = replace(
        own,
        attributes=(age, other, *others),
        config=config | {"suppression": {"limit": 0.4, "method": "classes"}},
    )
    found = Truth(limited).by_classes((1, 0))
    assert found is not None
    assert [each is None for each in found.cells] == [True, False, False]
    asked = {"constraints": [{"model": "k-anonymity", "k": 2}]}
    assert Truth(replace(limited, config=limited.config | asked)).by_classes((1, 0)) is None


def test_a_pseudonym_links_rows() -> None:
    """Persons with other lists of rows are in other classes, though single rows look alike."""
    own = visits((11, 12, 11), (0, 0, 1), "ppp")
    linked = replace(
        own, config=own.config | {"input": {"person": {"column": "pid", "release_as": "pseudonym"}}}
    )
    truth = Truth(linked)
    [classes] = truth.classes_of([("*",)] * 3, range(3), truth.asked[0])
    assert sorted(map(sorted, classes)) == [[0, 1], [0, 1], [2], [2]]


def test_the_population_is_counted_at_the_levels() -> None:
    rows = (("11",), ("12",), ("13",), ("21",))
    people = Population(rows, (Fraction(1), Fraction(3, 2), Fraction(1), Fraction(1)))
    own = visits((11, 12), (0, 1), "pp", constraints=[{"model": "delta-presence", "min": 0.1, "max": 0.6}])
    [age, *others] = own.attributes
    wide = replace(age, paths={value: AGES[value] for (value,) in rows})
    truth = Truth(replace(own, attributes=(wide, *others), population=people))
    assert truth.by_classes((0,)) is None  # somebody has the values of no record
    assert truth.by_classes((2,)) is not None
    labels = [("10-19",)] * 2
    [view] = truth.views(labels, range(2), range(2), truth.asked[0], (1,))
    assert (view.people, view.absent) == ([Fraction(7, 2)], True)


@pytest.mark.parametrize(
    ("text", "kind", "known"),
    [
        ("1.0", "number", "1"),
        (" 01", "integer", "1"),
        ("1.50 ", "number", "1.5"),
        ("e\u0301 ", "text", "é"),
        ("1.0", "text", "1.0"),
    ],
)
def test_one_value_has_one_identity(text: str, kind: str, known: str) -> None:
    assert identity(text, kind) == known


def test_persons_with_two_values_count_for_both() -> None:
    text = Attribute("s", {"role": "sensitive"}, "text", ())
    own = Counts.count(list("pqp"), [0, 0, 1])
    value, holds = of_class({"model": "alpha-k-anonymity", "k": 2, "alpha": 0.9}, own, own, text)
    assert (value, holds) == ((2, 1), False)


def test_sets_hold_values_in_any_spelling() -> None:
    own = Attribute("a", {"role": "quasi-identifier"}, "text", ("y",))
    assert covers("{x,  y}", "y", own)
    assert not covers("{x,  z}", "y", own)
