"""Which hierarchies are drafted for which columns."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.config.attribute import HierarchySettings
from anonymizer.data.open import open_file
from anonymizer.model.table import ValueType
from anonymizer.profile.column_statistics import measure
from anonymizer.profile.hierarchies import (
    FEWEST_BANDS,
    LEVELS,
    NARROWEST,
    RARE,
    HierarchyDrafter,
    _middle,
    _ranks,
    drafts,
    nice,
    ordered_by_meaning,
    records_of_bands,
    widths_of,
)
from anonymizer.profile.knowledge import terms_of, words_of
from tests.data.files import write
from tests.profile.columns import column

DAYS = [f"{2000 + n % 20}-0{1 + n % 9}-{10 + n % 15}" for n in range(300)]
STATES = ["Texas", "Ohio", "Utah", "Iowa", "Maine"]


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("age", range(90), {"ready": "age"}),
        ("patient_age", [*range(18, 60)] * 2, {"ready": "age"}),
        ("page", range(1, 400), {"intervals": {"width": [20, 40, 80, 160, 320]}}),
        ("age", range(1900, 2000), {"intervals": {"width": [5, 10, 20, 40, 80]}}),
        ("country", ["France", "Spain", "Chad", "Peru"], {"ready": "country"}),
        ("x7", STATES, {"ready": "us-state"}),
        ("state", [*STATES, "Elsewhere"], {"ready": "us-state", "unknown": "top"}),
        ("x7", ["M", "F"], None),
        ("weight", [f"{n},{n % 7}" for n in range(40, 140)], None),
        ("gender", ["M", "F"], {"ready": "sex"}),
        ("zip", [f"0{n}" for n in range(1000, 1100)], {"ready": "postal-code"}),
        ("zip", range(10_000, 10_100), {"ready": "postal-code"}),
        ("seen", DAYS, {"date": {"levels": ["month", "quarter", "year", "decade"]}}),
        (
            "seen",
            [f"{day}T07:30:00" for day in DAYS],
            {"date": {"levels": ["day", "month", "quarter", "year", "decade"]}},
        ),
        (
            "seen",
            [f"{10 + n % 18}.0{1 + n % 9}.{1995 + n % 9}" for n in range(99)],
            {"date": {"levels": ["month", "quarter", "year", "decade"]}},
        ),
        ("level", range(1, 10), {"intervals": {"width": [2, 4], "origin": 1}}),
        ("level", range(1, 5), {"intervals": {"width": [2], "origin": 1}}),
        ("level", range(5), {"intervals": {"width": [2, 4]}}),
        ("level", [0, 10, 20, 500], {"auto": {}}),
        ("month", range(1, 13), {"intervals": {"width": [3, 6], "origin": 1}}),
        ("hour", range(24), {"intervals": {"width": [3, 6, 12]}}),
        ("minute", range(60), {"intervals": {"width": [5, 10, 30]}}),
        ("day", [*range(1, 32)] * 9, {"ready": "day-of-month"}),
        ("day", [*range(2, 30)] * 9, {"ready": "day-of-month"}),
        ("count", [*range(1, 30)] * 9, {"intervals": {"width": [5, 10, 20], "origin": 1}}),
        ("count", [*range(30)] * 9, {"intervals": {"width": [5, 10, 20]}}),
        ("day", [*range(32)] * 9 + [88, 99], {"intervals": {"width": [5, 10, 20]}}),
        ("weight", [*range(30, 80)] * 9, {"intervals": {"width": [5, 10, 20, 40]}}),
        ("day", [*range(1, 8)] * 9, {"intervals": {"width": [2, 4], "origin": 1}}),
        ("walls", [1, 2, 3], None),
        ("gain", [0] * 500 + [*range(1, 90)] + [10**6 + n for n in range(10)], {"auto": {}}),
        ("product", [f"A{n:03d}" for n in range(30)], {"mask": {"from": "right"}}),
        ("colour", ["red", "green", "blue", "grey"] * 10, {"frequency": {}}),
        ("education", range(6), {"intervals": {"width": [2, 4]}}),
        ("isced", range(6), {"ready": "education"}),
        ("nace", [f"01.{n}" for n in range(10, 40)], {"ready": "nace"}),
        ("nace_code", [f"0{n}" for n in range(110, 140)], {"ready": "nace"}),
        ("nace", range(1000, 3200, 50), {"ready": "nace"}),
        ("nace", [*(f"01.{n}" for n in range(10, 40)), "A"], {"ready": "nace", "unknown": "top"}),
        ("nace", range(10, 34), {"ready": "industry"}),
        ("work_in_school", [0, 1], None),
        ("occupation", range(1, 10), {"intervals": {"width": [2, 4], "origin": 1}}),
        ("state", [*range(1, 17)] * 9, {"frequency": {}}),
        ("state", ["CA", "NY", "TX", "OH"], {"ready": "us-state"}),
        ("schtyp", ["public", "private"], None),
        ("workclass", ["Private", "State-gov"], {"ready": "employment-status"}),
        ("birthplace", [f"{n}.0" for n in range(1, 57)] * 9, {"frequency": {}}),
        ("region", [*range(1, 17)] * 9, {"frequency": {}}),
        ("region_code", [*range(10_101, 30_101, 500)] * 9, {"mask": {"from": "right"}}),
        ("county_fips", [*range(1001, 9001, 100)] * 9, {"mask": {"from": "right"}}),
        ("codigo departamento", [5, 8, 11, 13, 76, 2500], {"frequency": {}}),
        ("DeptCode", [*range(1, 17)] * 9, {"frequency": {}}),
        ("area", [*range(1001, 9001, 100)] * 9, {"intervals": {"width": [500 * 2**n for n in range(4)]}}),
        ("race_mom", [*range(9)] * 9, {"frequency": {}}),
        ("town_size", [*range(1, 17)] * 9, {"intervals": {"width": [5, 10], "origin": 1}}),
        ("colour", ["red 1", "green 2", "blue 3", "grey 4"], {"frequency": {}}),
        ("years", ["0-4", "5-9", "10-14", "15+"], {"auto": {"rare": 10}}),
        ("years", ["some", "none", "a few", "1", "2", "3", "10", "12"], {"frequency": {}}),
        ("town", ["Ulm", "Rom", "Bern", "Bath"] * 90, {"frequency": {"rare": 50}}),
        ("town", ["Ulm", "Rom", "Bern", "Bath"] * 2_000, {"frequency": {"rare": 80}}),
        ("county", ["Ulm", "Rom", "Bern", "Bath"] * 90, {"frequency": {}}),
        ("colour", ["red 1", "green 2", "blue 3", "grey 4"] * 10, {"auto": {}}),
        (
            "visits",
            ["Often", "never", "Sometimes", "rarely"],
            {"order": {"sizes": [2], "values": ["never", "rarely", "Sometimes", "Often"]}},
        ),
        (
            "level",
            ["high", "low", "Very_High", "medium", "don't know"],
            {"order": {"sizes": [2], "values": ["low", "medium", "high", "Very_High"]}, "unknown": "top"},
        ),
        (
            "rate",
            [f"{n / 100:.2f}" for n in range(100)],
            {"intervals": {"width": [Decimal("0.05") * 2**n for n in range(5)]}},
        ),
    ],
)
def test_what_is_drafted(name: str, values: list[object], expected: object) -> None:
    draft = next(drafts(column(name, list(values))))
    assert draft.hierarchy == expected
    if draft.hierarchy is not None:
        HierarchySettings.model_validate(dict(draft.hierarchy)).build()


@pytest.mark.parametrize(
    "words",
    [
        "primary, secondary, tertiary",
        "Grundschule, Realschule, Abitur, Hochschule",
        "Below_College, College, Bachelor, Master, Doctor",
        "less than high school, high school, some college, bachelor, graduate",
        "never, rarely, sometimes, often, always",
        "nie, selten, manchmal, oft, immer",
        "jamais, rarement, parfois, souvent, toujours",
        "strongly disagree, disagree, neither, agree, strongly agree",
        "sehr unzufrieden, unzufrieden, zufrieden, sehr zufrieden",
        "poor, fair, good, very good, excellent",
        "never, yearly, monthly, weekly, daily",
        "child, teenager, adult, elderly",
        "Jan, Feb, Mar, Apr, May, Jun, Jul, Aug, Sep, Oct, Nov, Dec",
        "Montag, Dienstag, Mittwoch, Donnerstag, Freitag, Samstag, Sonntag",
        "AsstProf, AssocProf, Prof",
        "I, II, III, IV, V",
    ],
)
def test_words_of_a_scale_are_in_the_order_of_their_meaning(words: str) -> None:
    ordered = words.split(", ")
    assert ordered_by_meaning(sorted(ordered)) == ordered


@pytest.mark.parametrize("words", ["red, green, blue", "yes, no, never", "low, red, high", "often, always"])
def test_other_words_have_no_order(words: str) -> None:
    assert ordered_by_meaning(words.split(", ")) is None


def test_words_of_scales_are_spelled_as_columns_are_read() -> None:
    for words in (*map(list, _ranks()), list(terms_of("no answer"))):
        assert [" ".join(words_of(word)) for word in words] == words


def test_places_below_a_region_are_published_as_areas_or_if_many_live_there() -> None:
    town = next(drafts(column("town", ["Ulm", "Rom", "Bern", "Bath"] * 90)))
    code = next(drafts(column("plz", [f"{number}" for number in range(10_000, 10_300)])))
    assert (town.further, code.further) == ({"levels": {"min": 1}}, {"levels": {"min": 2}})


def test_postal_codes_that_may_have_lost_zeros_are_asked_about() -> None:
    mixed, even = range(1_067, 10_200, 91), range(10_067, 20_000, 91)
    assert "4 to 5 digits" in next(drafts(column("plz", [str(each) for each in mixed]))).question
    assert next(drafts(column("plz", [str(each) for each in even]))).question == ""


def test_numbers_without_levels_are_codes() -> None:
    assert next(drafts(column("walls", [1, 2, 3]))).type is ValueType.TEXT
    assert next(drafts(column("zip", range(10_000, 10_100)))).type is ValueType.TEXT


@pytest.mark.parametrize(
    ("shown", "levels"),
    [
        ([f"2021-0{1 + n % 9}-{10 + n % 15}" for n in range(99)], ["month", "quarter"]),
        ([f"{2020 + n % 3}-0{1 + n % 9}-{10 + n % 15}" for n in range(99)], ["month", "quarter", "year"]),
        ([f"2021-03-{10 + n % 15}T07:30" for n in range(99)], ["day"]),
    ],
)
def test_no_period_has_all_dates(shown: list[object], levels: list[str]) -> None:
    assert next(drafts(column("seen", shown))).hierarchy == {"date": {"levels": levels}}


@given(
    st.lists(st.integers(0, 10**4), min_size=20, max_size=60, unique=True),
    st.sampled_from(["count", "amount", "level"]),
)
def test_no_interval_has_all_numbers(numbers: list[int], name: str) -> None:
    hierarchy = next(drafts(column(name, numbers))).hierarchy
    intervals = {} if hierarchy is None else hierarchy.get("intervals", {})
    for width in intervals.get("width", []):
        assert len({(number - intervals.get("origin", 0)) // width for number in numbers}) > 1


@settings(max_examples=20)
@given(st.lists(st.integers(0, 10**6), min_size=60, max_size=120, unique=True))
def test_groups_of_numbers_are_no_narrower_than_a_hundredth_of_the_range(draws: list[int]) -> None:
    """The slow twin: the records of every run of values that is long enough to be a group."""
    facts = column("amount", [draw**3 for draw in draws])
    records = records_of_bands(facts)
    numbers, ends = facts.numbers, _middle(facts)
    widths = [later - first for first, later in zip(numbers, numbers[records:], strict=False)]
    enough = not widths or min(widths) >= NARROWEST * (ends[1] - ends[0])
    assert enough or records + 5 + records // 4 > facts.present // FEWEST_BANDS


def test_many_close_numbers_are_released_in_wide_groups() -> None:
    close = [f"{1.2 + number / 10_000:.4f}" for number in range(900)]
    assert records_of_bands(column("rate", [*close, *["0.1"] * 50, *["40.5"] * 50])) > RARE
    assert records_of_bands(column("rate", [f"{number}.5" for number in range(90)])) == RARE


@given(st.floats(1e-12, 1e12))
def test_nice_widths_are_just_large_enough(width: float) -> None:
    found = nice(width)
    digits = found.as_tuple().digits
    assert digits[0] in (1, 2, 5)
    assert not any(digits[1:])
    assert Decimal(repr(width)) <= found < Decimal(repr(width)) * Decimal("2.51")


@given(st.lists(st.integers(-(10**6), 10**6), min_size=20, max_size=60, unique=True))
def test_widths_double_and_suit_an_interval_hierarchy(numbers: list[int]) -> None:
    widths = widths_of(column("amount", numbers))
    if widths:
        assert widths == [widths[0] * 2**level for level in range(len(widths))]
        assert len(widths) <= LEVELS
        assert all(width < max(numbers) - min(numbers) for width in widths[1:])
        HierarchySettings.model_validate({"intervals": {"width": widths}}).build()


def test_a_draft_that_cannot_be_built_makes_room_for_the_next(tmp_path: Path) -> None:
    # The name of a region stands as a value among its countries, so the ready tree has no place for it.
    values = ["France", "Spain", "Italy", "Peru", "Chad", "Western Europe"] * 20
    path = write(tmp_path / "a.csv", "country,w\n" + "".join(f"{value},1\n" for value in values))
    with open_file(path) as relation:
        found = measure(relation)
        best = [draft.hierarchy for draft in drafts(found.columns[0])]
        assert best[:2] == [{"ready": "country", "unknown": "top"}, {"frequency": {}}]
        assert HierarchyDrafter(relation, found.missing).draft(found.columns[0]).hierarchy in best
