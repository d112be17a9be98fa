"""The synthetic sample: the same bytes from the same seed, and columns that depend on each other."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.hierarchies.ready_files import lookup

EXAMPLES = Path(__file__).parents[2] / "examples"
SAMPLE = EXAMPLES / "sample.csv"


def made(target: Path, *options: str) -> bytes:
    command = [sys.executable, str(EXAMPLES / "make_sample.py"), "--output", str(target), *options]
    subprocess.run(command, check=True, timeout=60)
    return target.read_bytes()


@pytest.fixture(scope="module")
def records() -> list[dict[str, str]]:
    with SAMPLE.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    assert made(tmp_path / "again.csv") == SAMPLE.read_bytes()


def test_other_seed_other_people(tmp_path: Path) -> None:
    first = made(tmp_path / "first.csv", "--seed", "4", "--records", "50")
    assert first != made(tmp_path / "second.csv", "--seed", "5", "--records", "50")
    assert first.count(b"\n") == 51


def test_size(records: list[dict[str, str]]) -> None:
    assert len(records) == 30_000
    assert SAMPLE.stat().st_size < 3_000_000
    assert len({record["person_id"] for record in records}) == len(records)


def test_every_column_but_the_key_is_skewed_or_spread(records: list[dict[str, str]]) -> None:
    diagnoses = Counter(record["diagnosis"] for record in records if record["diagnosis"])
    assert 12 <= len(diagnoses) <= 15
    assert max(diagnoses.values()) > 10 * min(diagnoses.values())
    countries = Counter(record["country_of_birth"] for record in records)
    assert len(countries) >= 40
    assert 0.7 < countries.most_common(1)[0][1] / len(records) < 0.9
    codes = {record["postal_code"] for record in records}
    assert all(len(code) == 5 and code.isdigit() for code in codes)
    assert any(code.startswith("0") for code in codes)


def test_some_values_are_missing(records: list[dict[str, str]]) -> None:
    missing = Counter(name for record in records for name, value in record.items() if not value)
    assert {"education", "occupation", "diagnosis", "income_class", "hours_per_week"} <= set(missing)
    assert all(count < 0.03 * len(records) for count in missing.values())
    assert not missing.keys() & {"person_id", "age", "sex", "postal_code", "admission_date"}


def share(records: list[dict[str, str]], of: tuple[str, set[str]], among: tuple[str, set[str]]) -> float:
    group = [record for record in records if record[among[0]] in among[1]]
    return sum(record[of[0]] in of[1] for record in group) / len(group)


def test_columns_depend_on_each_other(records: list[dict[str, str]]) -> None:
    young, old = {str(age) for age in range(15, 25)}, {str(age) for age in range(75, 95)}
    single, high = ("marital_status", {"Single"}), ("income_class", {"50k-80k", "80k+"})
    assert share(records, single, ("age", young)) > 0.8 > 4 * share(records, single, ("age", old))
    degree = {"Bachelor", "Master", "Doctorate"}
    schooled = share(records, high, ("education", degree))
    assert schooled > 3 * share(records, high, ("education", {"Primary", "Lower secondary"}))
    assert share(records, ("education", degree), ("occupation", {"Legal professionals"})) > 0.9
    assert share(records, ("education", degree), ("occupation", {"Cleaners and helpers"})) < 0.1
    assert share(records, ("sex", {"F"}), ("diagnosis", {"complication of pregnancy", "breast cancer"})) == 1
    assert share(records, ("sex", {"M"}), ("diagnosis", {"prostate cancer"})) == 1
    winter = {
        f"{year}-{month:02d}-{day:02d}" for year in (2023, 2024) for month in (1, 2) for day in range(1, 30)
    }
    flu = share(records, ("admission_date", winter), ("diagnosis", {"influenza"}))
    assert flu > 2 * share(records, ("admission_date", winter), ("diagnosis", {"hypertension"}))


@pytest.mark.parametrize(
    ("column", "ready"),
    [
        ("sex", "sex"),
        ("marital_status", "marital-status"),
        ("education", "education"),
        ("country_of_birth", "country"),
        ("occupation", "occupation"),
    ],
)
def test_ready_hierarchies_place_its_values(records: list[dict[str, str]], column: str, ready: str) -> None:
    values = {record[column] for record in records} - {""}
    assert all(lookup(ready, value)[-1] == "*" for value in values)
