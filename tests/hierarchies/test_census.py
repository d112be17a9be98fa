"""The ready hierarchies place the values of a real census file."""

from __future__ import annotations

import csv
import gzip

import pytest

from tests.hierarchies.ready_files import lookup
from tests.shared import shared

COLUMNS = {
    "native-country": ("country", 42),
    "education": ("education", 16),
    "marital-status": ("marital-status", 7),
    "occupation": ("occupation", 15),
    "workclass": ("employment-status", 9),
    "relationship": ("relationship-to-head", 6),
    "race": ("race-ethnicity", 5),
    "sex": ("sex", 2),
}


@pytest.fixture(scope="module")
def distinct() -> dict[str, set[str]]:
    path = shared("data", "adult_full", "data.csv.gz")
    values: dict[str, set[str]] = {column: set() for column in COLUMNS}
    with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
        for record in csv.DictReader(stream):
            for column, seen in values.items():
                seen.add(record[column])
    return values


@pytest.mark.parametrize("column", COLUMNS)
def test_values_of_adult_are_placed(distinct: dict[str, set[str]], column: str) -> None:
    ready, expected = COLUMNS[column]
    assert len(distinct[column]) == expected
    for value in distinct[column] - {"?"}:
        assert lookup(ready, value)[-1] == "*"
