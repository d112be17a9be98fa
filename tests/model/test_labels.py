"""Each form of published values is read back as it was written, and nothing else is read as it."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nextafter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.model.labels import (
    CLOSED,
    DATES,
    HALF_OPEN,
    MASKED,
    OPEN,
    OTHERS,
    PERIODS,
    RANGES,
    SET,
    RangeForm,
    exact,
    interval_of,
    period_days,
    ranges_of,
)

ENDS = st.lists(st.integers(-100, 100), min_size=2, max_size=2, unique=True).map(sorted)
CLOSED_FORMS = st.sampled_from([form for form in RANGES if form not in (HALF_OPEN, OPEN)])


def number(text: str) -> float | None:
    found = exact(text)
    return None if found is None else float(found)


@given(CLOSED_FORMS, ENDS)
def test_closed_ranges_are_read_back(form: RangeForm, ends: list[int]) -> None:
    low, high = ends
    label = form.write(str(low), str(high))
    read = interval_of(label, ".")
    assert read is not None
    assert (read.low, read.high, read.closed) == (low, high, True)
    assert ranges_of(label, number) == [(low, high)]


@given(ENDS)
def test_half_open_and_open_ranges_are_read_back(ends: list[int]) -> None:
    low, high = (f"{end}.5" for end in ends)
    below = nextafter(float(high), -inf)
    assert ranges_of(HALF_OPEN.write(low, high), number) == [(float(low), below)]
    assert ranges_of(OPEN.write("", high), number) == [(-inf, below)]
    assert ranges_of(OPEN.write(low, ""), number) == [(float(low), inf)]


@given(st.integers(0, 99), st.integers(0, 99), st.sampled_from([CLOSED, HALF_OPEN]))
def test_a_decimal_comma_is_not_the_comma_between_ends(one: int, other: int, form: RangeForm) -> None:
    low, high = sorted([Fraction(one, 10), Fraction(other, 10)])
    label = form.write(*(f"{float(end)}".replace(".", ",") for end in (low, high)))
    read = interval_of(label, ",")
    assert read is not None
    assert (read.low, read.high) == (low, high)


@pytest.mark.parametrize(
    ("label", "ranges"),
    [
        ("<=20", [(-inf, 20)]),
        (">=65", [(65, inf)]),
        ("[20,30]", [(20, 30)]),
        ("..19", [(-inf, 19)]),
        ("20..", [(20, inf)]),
        ("3..7", [(3, 7)]),
        ("{3, 5}", [(3, 3), (5, 5)]),
        ("24-20", None),
        ("..", None),
        ("{3, x}", None),
        ("a..f", None),
    ],
)
def test_spellings_of_ranges(label: str, ranges: list[tuple[float, float]] | None) -> None:
    assert ranges_of(label, number) == ranges


def test_names_of_groups_of_texts_and_dates_are_no_intervals_of_numbers() -> None:
    assert interval_of(DATES.write("3", "7"), ".") is None
    assert interval_of(SET.write(["3", "7"]), ".") is None
    assert interval_of("20.5-30.5", ".") is None


@given(st.lists(st.text(alphabet="ab,\\ {}", min_size=1).filter(lambda text: text[0] != " "), min_size=1))
def test_sets_are_read_back(texts: list[str]) -> None:
    assert SET.read(SET.write(texts)) == texts


@given(st.integers(1, 10**6))
def test_the_label_of_others_is_read_back(kept: int) -> None:
    assert OTHERS.read(OTHERS.write(kept)) == kept
    assert OTHERS.read(f"{OTHERS.write(kept)} (2)") == kept


@given(st.text(alphabet="ab12", max_size=6), st.sampled_from(list(MASKED)), st.integers(0, 6))
def test_masks_show_what_is_not_masked(text: str, side: str, characters: int) -> None:
    label = MASKED[side].write(text, 6, characters)
    shown = MASKED[side].shown(label)
    assert len(label) == 6
    assert shown == (
        text[: 6 - characters] if side == "right" else text[max(len(text) - 6 + characters, 0) :]
    )


@pytest.mark.parametrize("name", list(PERIODS))
def test_the_example_of_a_period_has_its_form_alone(name: str) -> None:
    example = PERIODS[name].example
    assert [each for each, period in PERIODS.items() if period.matches(example)] == [name]
    assert (period_days(example) is None) == (name == "day")


@pytest.mark.parametrize(
    ("label", "held"),
    [
        ("20-30", [20, 30]),
        ("[20, 30)", [20]),
        ("[20, 30]", [20, 30]),
        ("20+", [20, 30, 31]),
        ("<30", [19, 20]),
    ],
)
def test_an_interval_holds_the_ends_that_belong_to_it(label: str, held: list[int]) -> None:
    found = interval_of(label, ".")
    assert found is not None
    assert [own for own in (19, 20, 30, 31) if found.holds(Fraction(own))] == held
