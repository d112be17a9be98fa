"""Adult with each record tripled as one person: counts of persons equal those of the records before."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pandas as pd
import pytest

import anonymizer as an
from tests.run.adult_runs import ATTRIBUTES, adult
from tests.shared import shared

pytestmark = pytest.mark.slow

OCCUPATIONS = {"model": "l-diversity", "l": 2}
PERSONS = {"model": "k-anonymity", "k": 5}


def people(number: int) -> pd.DataFrame:
    """Return the first records of Adult, each a person."""
    path = shared("data", "adult", "data.csv.gz")
    return pd.read_csv(path, sep=None, engine="python", dtype=str, nrows=number).assign(
        person=[f"P{place}" for place in range(number)]
    )


def tripled(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([frame] * 3).sample(frac=1, random_state=1).reset_index(drop=True)


def config(algorithm: str, constraints: list[dict[str, Any]], **own: Any) -> dict[str, Any]:
    asked = adult(constraints=constraints, suppression={"limit": 0.05}, algorithm={"name": algorithm}, **own)
    attributes = {**asked["attributes"], "person": {"role": "identifier"}}
    return {**asked, "input": {}, "attributes": attributes}


def classes(release: pd.DataFrame) -> pd.Series[int]:
    """Return the records of each published class."""
    return release.groupby(list(ATTRIBUTES)).size().sort_index()


@pytest.mark.parametrize(
    ("algorithm", "number", "constraints"),
    [
        ("lattice", 1500, [PERSONS, OCCUPATIONS]),
        ("mondrian", 6000, [PERSONS, OCCUPATIONS]),
        ("mondrian", 3000, [{"model": "l-diversity", "l": 6}]),
    ],
)
def test_tripled_records_are_recoded_as_the_records(
    algorithm: str, number: int, constraints: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    # How regions are merged from below is known for records alone.
    monkeypatch.setattr("anonymizer.search.mondrian.merging.ROWS", 0)
    frame = people(number)
    asked = config(algorithm, constraints)
    records = an.anonymize(frame, asked)
    persons = an.anonymize(tripled(frame), {**asked, "input": {"person": "person"}})
    first, second = records.report.to_dict(), persons.report.to_dict()
    assert all(each["parameters"]["unit"] == "person" for each in second["constraints"])
    assert second["recoding"] == first["recoding"]
    assert second["loss"]["loss"] == pytest.approx(first["loss"]["loss"], abs=1e-12)
    assert classes(persons.data).equals(3 * classes(records.data))


def at_two_ages(number: int) -> pd.DataFrame:
    """Return the tripled records, numbered, of which one of each person is a year older."""
    frame = tripled(people(number)).reset_index(names="row")
    again = frame.groupby("person").cumcount() == 1
    ages = frame["age"].astype(int)
    return frame.assign(age=ages.where(~again, (ages + 1).clip(upper=ages.max())).astype(str))


# Few columns, so that the lattice publishes ages in intervals that end between the two of a person.
@pytest.mark.parametrize(
    ("algorithm", "known"), [("mondrian", ATTRIBUTES), ("lattice", ("age", "sex", "race"))]
)
def test_persons_at_two_ages_are_counted_once_in_a_class(algorithm: str, known: tuple[str, ...]) -> None:
    frame = at_two_ages(1500)
    asked = config(algorithm, [PERSONS, OCCUPATIONS])
    asked["attributes"] |= {name: {"role": "drop"} for name in ATTRIBUTES if name not in known}
    asked["attributes"]["row"] = {"role": "insensitive"}
    result = an.anonymize(frame, {**asked, "input": {"person": "person"}})
    person_of = dict(zip(frame["row"].astype(str), frame["person"], strict=True))
    found = defaultdict(set)
    for *cells, row in result.data[[*known, "row"]].itertuples(index=False):
        found[tuple(cells)].add(person_of[str(row)])
    classes_of = Counter(person for members in found.values() for person in members)
    assert max(classes_of.values()) > 1
    measured = result.report.to_dict()["constraints"][0]["measured"]
    assert measured == min(map(len, found.values())) >= 5


@pytest.mark.parametrize("steps", [1, 20])
def test_local_recoding_of_tripled_records_can_lose_less(steps: int) -> None:
    """A person's records may be in several classes, so that more recodings hold than for single records."""
    frame = pd.DataFrame({"x": ["a", "a", "b"], "y": ["c", "d", "d"], "person": ["P0", "P1", "P2"]})
    asked = {
        "attributes": {
            "x": {"role": "quasi-identifier"},
            "y": {"role": "quasi-identifier"},
            "person": {"role": "identifier"},
        },
        "constraints": [{"model": "k-anonymity", "k": 2}],
        "algorithm": {"name": "local"},
        "budget": {"steps": steps},
    }
    records = an.anonymize(frame, asked).report.to_dict()
    counted = {**asked, "input": {"person": "person"}}
    persons = an.anonymize(tripled(frame), counted).report.to_dict()
    assert records["loss"]["loss"] == records["search"]["bound"] == 1.0
    assert persons["loss"]["loss"] == 0.5
    assert persons["search"]["bound"] <= 0.5
