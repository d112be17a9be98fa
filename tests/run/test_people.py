"""Persons with several records where people or members of households are counted, against sets of persons."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

import anonymizer as an
from tests.helpers.examples import costly
from tests.helpers.messages import exchange
from tests.run.commands import call

NAMES = ("age", "sex")
LIMIT = Fraction(3, 10)


@dataclass(frozen=True)
class Stay:
    cells: tuple[str, str]
    person: str
    household: str
    weight: Fraction


class Slow:
    """The classes of stays as sets of persons."""

    def __init__(self, stays: Sequence[Stay], levels: tuple[int, int]) -> None:
        self.stays = stays
        self.classes: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for number, stay in enumerate(stays):
            key = tuple("*" if level else cell for cell, level in zip(stay.cells, levels, strict=True))
            self.classes[key].append(number)

    def person(self, number: int) -> Hashable:
        return self.stays[number].person or number

    def household(self, number: int) -> Hashable:
        person = self.person(number)
        named = [
            stay.household
            for other, stay in enumerate(self.stays)
            if self.person(other) == person and stay.household
        ]
        return named[0] if named else ("own", person)

    def persons(self, rows: Sequence[int]) -> int:
        return len({self.person(number) for number in rows})

    def people(self, rows: Sequence[int]) -> Fraction:
        weights = {self.person(number): self.stays[number].weight for number in rows}
        return max(sum(weights.values()), Fraction(len(weights)))

    def holds(self, rows: Sequence[int], model: dict[str, Any]) -> bool:
        if model["model"] == "k-map":
            return self.people(rows) >= model["k"]
        if model["model"] == "journalist-risk":
            return 1 / self.people(rows) <= Fraction(str(model["max"]))
        if model["model"] == "delta-presence":
            return self.persons(rows) / self.people(rows) <= Fraction(str(model["max"]))
        return True

    def household_risks(self, released: Sequence[Sequence[int]]) -> tuple[float, float]:
        """Return the highest risk of a household, and the mean over persons."""
        risk: dict[Hashable, float] = defaultdict(float)
        home: dict[Hashable, Hashable] = {}
        for rows in released:
            for number in rows:
                person = self.person(number)
                risk[person] = max(risk[person], 1 / self.persons(rows))
                home[person] = self.household(number)
        missed: dict[Hashable, float] = defaultdict(lambda: 1.0)
        for person, own in risk.items():
            missed[home[person]] *= 1 - own
        found = [1 - missed[home[person]] for person in risk]
        return max(found), sum(found) / len(found)

    def released(self, models: Sequence[dict[str, Any]]) -> list[list[int]] | None:
        """Return the classes of the release; None if a constraint fails."""
        kept = [rows for rows in self.classes.values() if all(self.holds(rows, each) for each in models)]
        if not kept or len(self.stays) - sum(map(len, kept)) > LIMIT * len(self.stays):
            return None
        highest, mean = self.household_risks(kept)
        for each in models:
            if each["model"] == "household-risk":
                found = mean if each["at"] == "mean" else highest
                if round(found, 12) > each["max"]:
                    return None
            if each["model"] == "population-uniqueness" and self.unique(kept, each["of"]) > Fraction(
                str(each["max"])
            ):
                return None
        return kept

    def unique(self, released: Sequence[Sequence[int]], of: str) -> Fraction:
        """Return the share of the records, or of the classes of one person, with one of the population."""
        if of == "records":
            alone = sum(len(rows) for rows in released if self.people(rows) <= 1)
            return Fraction(alone, sum(map(len, released)))
        single = [rows for rows in released if self.persons(rows) == 1]
        return Fraction(sum(self.people(rows) <= 1 for rows in single), max(len(single), 1))


def drawn(random: Random) -> list[Stay]:
    """Return stays of a few persons, some without a number, and some without a household."""
    homes = {f"p{number}": f"h{number // random.randint(1, 3)}" for number in range(random.randint(3, 12))}
    weights = {each: Fraction(random.randint(1, 12), 4) for each in ("", *homes)}
    moves = random.random() < 0.7
    fixed = {each: (random.choice("123"), random.choice("fm")) for each in homes}
    stays = [Stay(("1", "f"), "", "", Fraction(1)), Stay(("2", "m"), "", "h0", Fraction(3, 2))]
    for _ in range(random.randint(8, 40)):
        person = random.choice([*homes, *homes, ""])
        weight = weights[person] if person else Fraction(random.randint(1, 8), 2)
        cells = fixed.get(person, ("1", "m"))
        if moves and random.random() < 0.4:
            cells = random.choice("123"), random.choice("fm")
        home = homes.get(person, "h1") if random.random() < 0.6 else ""
        stays.append(Stay(cells, person, home, weight))
    random.shuffle(stays)
    return stays


def chosen(random: Random) -> list[dict[str, Any]]:
    counted = [
        {"model": "k-map", "k": random.randint(1, 12)},
        {"model": "k-map", "k": random.randint(1, 12), "unit": "record"},
        {"model": "journalist-risk", "max": random.choice((0.1, 0.2, 0.5))},
        {"model": "delta-presence", "max": random.choice((0.4, 0.6, 0.8))},
        {
            "model": "population-uniqueness",
            "max": random.choice((0, 0.2, 0.5)),
            "estimator": "count",
            "of": random.choice(("records", "sample-uniques")),
            "unit": "record",
        },
    ]
    at = random.choice(("highest", "mean"))
    found = {"model": "household-risk", "max": random.choice((0.2, 0.4, 0.6, 0.9)), "at": at}
    return random.choice(([random.choice(counted)], [found], [random.choice(counted), found]))


def frame_of(stays: Sequence[Stay]) -> pd.DataFrame:
    rows = [(*each.cells, each.person, each.household, str(float(each.weight))) for each in stays]
    return pd.DataFrame(rows, columns=[*NAMES, "pid", "hid", "w"])


def config(models: Sequence[dict[str, Any]]) -> dict[str, Any]:
    flat = {"role": "quasi-identifier", "type": "text"}
    return {
        "input": {"person": "pid", "household": "hid"},
        "attributes": {
            **dict.fromkeys(NAMES, flat),
            "pid": "identifier",
            "hid": "drop",
            "w": {"role": "weight", "release": False},
        },
        "constraints": [*models],
        "suppression": {"limit": float(LIMIT)},
        "attacks": [],
        "bound": "none",
    }


@costly(2)
@given(st.integers(0, 10**6))
def test_a_release_counts_each_person_once(seed: int) -> None:
    random = Random(seed)
    stays, models = drawn(random), chosen(random)
    best, every = None, len(stays)
    for levels in product((0, 1), repeat=2):
        kept = Slow(stays, levels).released(models)
        if kept is not None:
            left = sum(map(len, kept))
            loss = (left * Fraction(sum(levels), 2) + every - left) / every
            best = loss if best is None else min(best, loss)
    try:
        result = an.anonymize(frame_of(stays), config(models))
    except an.Infeasible:
        assert best is None
        return
    report = result.report.to_dict()
    assert report["search"]["objective"] == pytest.approx(float(best or 0))
    levels = report["recoding"]["levels"]
    slow = Slow(stays, (levels["age"], levels["sex"]))
    kept = slow.released(models)
    assert kept is not None
    highest, mean = slow.household_risks(kept)
    people = [slow.people(rows) for rows in kept]
    expected = {
        "k-map": float(min(people)),
        "journalist-risk": float(1 / min(people)),
        "delta-presence": [
            pytest.approx(float(end(slow.persons(rows) / slow.people(rows) for rows in kept)))
            for end in (min, max)
        ],
        "household-risk": mean if models[-1].get("at") == "mean" else highest,
        "population-uniqueness": float(slow.unique(kept, models[0].get("of", "records"))),
    }
    for each in report["constraints"]:
        own = expected[each["model"]]
        assert each["measured"] == (own if isinstance(own, list) else pytest.approx(own))
        counted = "record" if each["model"] == "population-uniqueness" else "person"
        assert each["parameters"].get("unit", "record") == counted


@pytest.mark.quick(2)
@pytest.mark.parametrize("seed", range(5))
def test_check_counts_each_person_once(seed: int, tmp_path: Path) -> None:
    stays = drawn(Random(seed))
    frame_of(stays).to_csv(tmp_path / "stays.csv", index=False)
    asked = config([{"model": "k-map", "k": 2}])
    asked["input"] = {"path": "stays.csv", **asked["input"]}
    (tmp_path / "job.json").write_text(json.dumps(asked), encoding="utf-8")
    found = call("check", tmp_path / "stays.csv", "-c", tmp_path / "job.json", "--json").json
    slow = Slow(stays, (0, 0))
    classes = [*slow.classes.values()]
    assert found["constraints"][0]["measured"] == float(min(map(slow.people, classes)))
    measured = {
        (each["model"], each["parameters"].get("at"), each["parameters"].get("against")): each["measured"]
        for each in found["measures"]
    }
    highest, mean = slow.household_risks(classes)
    assert measured["household-risk", "highest", "records"] == pytest.approx(highest)
    assert measured["household-risk", "mean", "records"] == pytest.approx(mean)
    records = [1 / slow.people(rows) for rows in classes for _ in rows]
    assert measured["journalist-risk", "mean", None] == pytest.approx(float(sum(records) / len(records)))
    households = {slow.household(number) for number in range(len(stays))}
    whole = an.anonymize(frame_of(stays), config([{"model": "k-map", "k": 1}])).report.to_dict()
    assert whole["units"]["household"]["units"] == len(households)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_table_of_the_population_has_a_person_once(engine: str, tmp_path: Path) -> None:
    stays = pd.DataFrame([("20", "f", "a")] * 5 + [("20", "f", "b")] * 4, columns=[*NAMES, "pid"])
    pd.DataFrame([("20", "f")] * 3, columns=NAMES).to_csv(tmp_path / "people.csv", index=False)
    given = config([{"model": "k-map", "k": 3}, {"model": "delta-presence", "max": 0.67}])
    del given["attributes"]["hid"], given["attributes"]["w"]
    given |= {
        "input": {"person": "pid", "population": str(tmp_path / "people.csv")},
        "engine": {"name": engine},
    }
    report = an.anonymize(stays, given).report.to_dict()
    assert [each["measured"] for each in report["constraints"]] == [3, [pytest.approx(2 / 3)] * 2]


TWO_WEIGHTS = pd.DataFrame(
    [
        ("20", "f", "a", "h", "2"),
        ("20", "m", "a", "", "3"),
        ("20", "m", "b", "", "2.50"),
        ("30", "m", "b", "", "2.5"),
    ],
    columns=[*NAMES, "pid", "hid", "w"],
)


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "two weights": ({"model": "k-map", "k": 2}, {}),
    "households of records": ({"model": "household-risk", "max": 0.5, "unit": "record"}, {}),
    "people of households": ({"model": "k-map", "k": 2, "unit": "household"}, {}),
    "shares of records": ({"model": "delta-presence", "max": 0.5, "unit": "record"}, {}),
    "an estimate by the default unit": ({"model": "population-uniqueness", "max": 0.5}, {}),
    "an estimate": ({"model": "population-uniqueness", "max": 0.5, "unit": "record"}, {}),
    "stored households": (
        {"model": "k-anonymity", "k": 2, "unit": "household"},
        {"engine": {"name": "duckdb", "options": {"combinations": 1}}},
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_would_be_a_wrong_number_is_refused(case: str, message: SnapshotAssertion) -> None:
    model, changed = REFUSED[case]
    with pytest.raises(an.InputError) as caught:
        an.anonymize(TWO_WEIGHTS, {**config([model]), **changed})
    assert exchange(case, str(caught.value)) == message
