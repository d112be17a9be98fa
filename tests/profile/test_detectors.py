"""What columns look like, and what they do not."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from anonymizer.model.table import Role
from anonymizer.people.keys import repeats
from anonymizer.plugins import Registry
from anonymizer.profile.column_statistics import ColumnFacts
from anonymizer.profile.detection import DETECTORS, Detector, Finding, findings
from tests.profile.columns import column
from tests.profile.planted import ORDINARY, PLANTED, values

NEEDS_A_NAME = {"surname"}
"""What nothing but the name of the column tells."""


def first(name: str, shown: list[object]) -> str | None:
    """Return what a column is flagged as."""
    found = findings(column(name, shown))
    return found[0].what if found else None


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_found(name: str) -> None:
    maker, expected = PLANTED[name]
    assert first(name, values(maker)) == expected


@pytest.mark.parametrize("name", ["acct", "ACCT", "cust_acct", "acct_no"])
def test_an_account_in_short_is_an_identifier(name: str) -> None:
    assert first(name, [number * 37 for number in range(500)]) == "identification numbers"


@pytest.mark.parametrize("name", sorted(set(PLANTED) - NEEDS_A_NAME))
def test_without_a_telling_name_something_is_found(name: str) -> None:
    maker, _ = PLANTED[name]
    assert first("c7", values(maker)) is not None


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_columns_look_like_nothing(name: str) -> None:
    assert findings(column(name, values(ORDINARY[name]))) == []


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("country_name", ["France", "Spain", "Italy", "Chad"] * 10),
        ("admission", [f"2024-{month:02d}-{day:02d}" for month in range(1, 13) for day in range(1, 28)]),
        ("account_balance", range(-300, 5_000, 7)),
        ("body_mass_index", [f"{18 + number / 10:.1f}" for number in range(200)] * 3),
        ("race", ["White", "Black", "Brown"] * 20),
        ("month", ["January", "April", "May", "June", "August"] * 20),
        ("valid", ["yes", "no"] * 50),
        ("weight", [f"{50 + number / 7:.4f}" for number in range(40)] * 20),
        ("diagnosis", ["complication of pregnancy in the third month or later", "flu"] * 50),
        ("score", [f"{number / 997:.6f}" for number in range(900)]),
    ],
)
def test_what_only_resembles_an_identifier_is_left_alone(name: str, shown: list[object]) -> None:
    assert findings(column(name, list(shown))) == []


@pytest.mark.parametrize("form", ["%y%m%d", "%Y%m%d", "%d%m%Y", "%m%d%y"])
def test_days_of_birth_written_as_numbers_are_no_key_of_persons(form: str) -> None:
    days = [date(1942, 1, 1) + timedelta(days=5 * number) for number in range(700)]
    numbers = [int(day.strftime(form)) for day in days]
    assert first("bdate", numbers * 2) == "dates of birth"
    facts = column("bdate", numbers * 2)
    assert not repeats(facts, Role.IDENTIFIER)
    assert first("c7", numbers * 2) is None
    assert first("c7", [480_000 + 37 * number for number in range(700)] * 2) == "identification numbers"


@pytest.mark.parametrize("first_number", [20120001, 20240101, 101001])
def test_numbers_that_count_from_a_year_are_keys_of_persons(first_number: int) -> None:
    """Each could be a day, such as the 20th of December of the year 1, but all are not days of one person."""
    numbers = [first_number + number for number in range(200)]
    assert first("c7", numbers * 2) == "identification numbers"
    assert repeats(column("patient_id", numbers * 2), None)


def test_a_key_of_persons_by_its_name_may_look_like_days() -> None:
    days = [int((date(2021, 1, 1) + timedelta(days=number)).strftime("%y%m%d")) for number in range(400)]
    assert repeats(column("patient_id", days * 2), None)
    assert not repeats(column("c7", days * 2), Role.IDENTIFIER)


def test_sentences_among_short_values_are_free_text() -> None:
    sentence = "the neighbour at number {} called again about her son"
    shown: list[object] = [sentence.format(each) if each % 8 == 0 else "done" for each in range(400)]
    found = findings(column("state", shown))
    assert [(each.what, each.certain) for each in found] == [("free text", True)]
    assert found[0].reason == "50 of 51 values have at least 5 words, in 50 records"
    answers = [f"one of the answers that the form offers, number {each}" for each in range(30)]
    assert first("state", [answers[each % 30] if each % 2 else "none" for each in range(2_000)]) is None


@pytest.mark.parametrize("start", [1, 100_207])
def test_whole_numbers_written_as_decimals_are_numbered_too(start: int) -> None:
    step = 1 if start == 1 else 7
    shown: list[object] = ["", *(f"{start + step * each}.0" for each in range(300))]
    assert first("c7", shown) == "identification numbers"
    assert first("c7", [f"{start + step * each}.5" for each in range(300)]) is None


def test_reasons_hold_counts_and_no_values() -> None:
    for name, (maker, _) in PLANTED.items():
        shown = column(name, values(maker))
        for found in findings(shown):
            assert not any(text in found.reason for text in shown.texts if len(text) > 3)


def test_a_detector_takes_part_by_being_there() -> None:
    class Shouting(Detector):
        name = "shouting"

        def look(self, column: ColumnFacts) -> Finding | None:
            return Finding(self.name, "all of them", certain=True) if column.name == "loud" else None

    DETECTORS.add(Shouting)
    try:
        assert [each.what for each in findings(column("loud", ["A", "B"]))] == ["shouting"]
    finally:
        DETECTORS.remove("shouting")
    assert isinstance(DETECTORS, Registry)


def test_a_few_common_names_under_a_name_are_names_of_people() -> None:
    assert first("vorname", ["Anna", "Peter", "Maria", "Thomas"] * 30) == "names of people"
    assert first("clinic", ["Anna", "Peter", "Maria", "Thomas"] * 30) is None
