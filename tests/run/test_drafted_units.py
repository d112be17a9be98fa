"""Drafts for files of households and other units: nobody's records go back together."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.data.open import open_frame
from anonymizer.model.labels import interval_of
from anonymizer.model.table import Role
from anonymizer.people.draft import records_back
from anonymizer.people.evidence import Evidence
from anonymizer.people.keys import keys_among
from anonymizer.profile.column_statistics import measure_column
from tests.run.commands import Done, call

Rows = list[tuple[Any, ...]]


def draft(folder: Path, columns: str, rows: Rows) -> Path:
    """Write a file and draft a config."""
    with (folder / "data.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([columns.split(), *rows])
    done = call("init", folder / "data.csv")
    assert done.code == 0, done.err
    return folder / "data.yaml"


def run(config: Path) -> tuple[Done, list[dict[str, object]]]:
    """Run a draft; return what was said, and the findings about the release."""
    done = call("run", config, "-o", config.parent / "out")
    assert done.code == 0, done.err
    report = json.loads((config.parent / "out" / "report.json").read_text(encoding="utf-8"))
    return done, report["exposure"]["findings"]


def households(number: int = 300) -> Rows:
    """Return persons with the size, income and allowance of their household."""
    random, rows = Random(7), []
    for home in range(number):
        income, allowance = round(random.lognormvariate(10, 0.6), 2), round(random.gauss(300, 90), 1)
        size, region = random.randint(2, 5), random.choice(["tyrol", "vienna", "styria"])
        rows += [
            (900 + 7 * home, size, random.randint(0, 90), random.choice("MF"), income, allowance, region)
            for _ in range(size)
        ]
    return rows


@pytest.mark.quick(1)
@pytest.mark.parametrize("key", ["hid", "zq030"])
def test_amounts_of_a_household_do_not_put_it_together(tmp_path: Path, key: str) -> None:
    """By the name of the key, and by what its records have in common."""
    rows = households()
    config = draft(tmp_path, f"{key} hsize age sex income x1 land", rows)
    settings = yaml.safe_load(config.read_text(encoding="utf-8"))
    assert settings["input"]["household"] == key
    assert settings["attributes"]["x1"]["role"] == "quasi-identifier"
    done, findings = run(config)
    assert "unit" not in {each["kind"] for each in findings}
    assert "input.person" not in done.out
    released = pd.read_csv(tmp_path / "out" / "share" / "release.csv", dtype=str)
    groups = [interval_of(label, ".") for label in released["income"].unique()]
    incomes = {row[0]: row[4] for row in rows}.values()
    for group in groups:
        assert group is not None
        low, high = (float(end) if end is not None else None for end in (group.low, group.high))
        inside = [each for each in incomes if (low is None or each >= low) and (high is None or each < high)]
        assert len(inside) >= 5


def test_a_panel_of_households_counts_households_only(tmp_path: Path) -> None:
    random = Random(3)
    homes = [(500 + 3 * home, random.choice("ABCD"), random.randint(20, 80)) for home in range(60)]
    rows = [(home, wave, region, age + 2 * wave) for wave in range(3) for home, region, age in homes]
    config = draft(tmp_path, "hid wave region age", list(rows))
    settings = yaml.safe_load(config.read_text(encoding="utf-8"))
    assert settings["input"]["household"] == "hid"
    assert [each["unit"] for each in settings["constraints"]] == ["household"]
    run(config)


def employers(number: int = 120, records: int = 12) -> Rows:
    """Return people with an exact figure of their employer."""
    random = Random(5)
    shares = [(4000 + 3 * n, round(random.uniform(1, 99), 2)) for n in range(number)]
    return [
        (random.randint(18, 65), random.choice("MF"), *shares[n % number]) for n in range(number * records)
    ]


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("key", "unit"), [("employer_id", "employer"), ("StellenNr", "position"), ("IDunit", "unit")]
)
def test_figures_of_another_unit_do_not_put_it_together(tmp_path: Path, key: str, unit: str) -> None:
    """The unit is counted by a name of its own, and is no person."""
    config = draft(tmp_path, f"age sex {key} figure", employers())
    done = call("init", tmp_path / "data.csv", "--drop", key, "--overwrite")
    settings = yaml.safe_load(config.read_text(encoding="utf-8"))
    assert settings["input"]["units"] == {unit: key}
    assert "person" not in settings["input"]
    assert "input.person" not in done.out
    assert settings["attributes"]["figure"]["role"] == "quasi-identifier"
    assert settings["constraints"][1] == {"model": "k-anonymity", "k": 3, "unit": unit}
    _, findings = run(config)
    assert "unit" not in {each["kind"] for each in findings}


@given(st.lists(st.tuples(st.integers(-1, 4), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=25))
def test_records_that_go_back_are_found_as_by_hand(records: list[tuple[int, int, int]]) -> None:
    slow = 0
    given_keys = [each for each in records if each[0] >= 0]
    for key, *shown in given_keys:
        alike = [each for each in given_keys if list(each[1:]) == shown]
        slow += len(alike) > 1 and all(each[0] == key for each in alike)
    frame = pd.DataFrame([[str(each) for each in record[1:]] for record in records], columns=["a", "b"])
    with open_frame(frame) as relation:
        assert records_back(relation, ["a", "b"], np.array([each[0] for each in records])) == slow


@pytest.mark.parametrize(
    ("column", "person"),
    [
        ("sex", lambda key, wave: "MF"[key % 2]),
        ("sex", lambda key, wave: "MF"[(key + wave) % 2]),
        ("birth_year", lambda key, wave: 1950 + key % 40),
        ("birth_year", lambda key, wave: 1950 + (key + 7 * wave) % 40),
        ("age", lambda key, wave: 20 + key % 40 + 10 * wave),
        ("age", lambda key, wave: 20 + (key * 17 + 23 * wave * wave) % 50),
    ],
)
def test_attributes_of_persons_are_constant_or_grow(
    column: str, person: Callable[[int, int], object], request: pytest.FixtureRequest
) -> None:
    """Cases come in pairs: of persons, and of positions."""
    records = [(key, wave) for wave in range(3) for key in range(80)]
    frame = pd.DataFrame(
        {
            "zqr": [f"{700 + 3 * key}" for key, _ in records],
            "year": [str(2010 + 10 * wave) for _, wave in records],
            column: [str(person(*each)) for each in records],
        }
    )
    positions = request.node.callspec.indices["person"] % 2 == 1
    with open_frame(frame) as relation:
        found = Evidence(relation, partial(measure_column, relation)).varies("zqr")
        (key,) = keys_among(relation, [("zqr", Role.IDENTIFIER)], {})
    assert found == (column if positions else None)
    assert key.may_be_person is not positions
