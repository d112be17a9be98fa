"""Periods of the calendar."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from syrupy.assertion import SnapshotAssertion

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.date import are_groups_in_order
from anonymizer.model.table import Column, ValueType
from tests.helpers.messages import exchange
from tests.hierarchy.columns import NOWHERE, above, column, dates, source


def test_the_names_of_periods() -> None:
    days = column(["2021-03-05", "1999-12-31", "0007-04-01"], ValueType.DATE)
    assert above(days, date=None) == {
        "2021-03-05": ["2021-03", "2021-Q1", "2021", "2020s"],
        "1999-12-31": ["1999-12", "1999-Q4", "1999", "1990s"],
        "0007-04-01": ["0007-04", "0007-Q2", "0007", "0000s"],
    }


def test_only_the_periods_asked_for() -> None:
    days = column(["2021-03-05"], ValueType.DATE)
    assert above(days, date={"levels": ["month", "decade"]})["2021-03-05"] == ["2021-03", "2020s"]


def test_times_have_a_level_of_days() -> None:
    moments = column(["2021-03-05T10:00:00", "2021-03-06"])
    assert above(moments, date={"levels": ["day", "year"]}) == {
        "2021-03-05T10:00:00": ["2021-03-05", "2021"],
        "2021-03-06": ["2021-03-06", "2021"],
    }


@given(dates())
def test_a_quarter_holds_its_months(data: Column) -> None:
    for value, (month, quarter, year, decade) in above(data, date=None).items():
        day = date.fromisoformat(value)
        assert month == value[:7]
        assert quarter == f"{value[:4]}-Q{[1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4][day.month - 1]}"
        assert (year, decade) == (value[:4], value[:3] + "0s")


def test_what_is_no_date_is_named_with_its_rows(message: SnapshotAssertion) -> None:
    with pytest.raises(HierarchyError) as caught:
        source(date=None).build(column(["2021-03-05", "5 May", "5 May"]), NOWHERE)
    assert exchange("5 May", caught.value) == message


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        (
            ["year", "month"],
            "month after year; accepted: from fine to coarse, day, month, quarter, year, decade",
        ),
        (["year", "year"], "year after year"),
        (["week"], "'day', 'month', 'quarter', 'year' or 'decade'"),
        ([], "at least 1 item"),
    ],
)
def test_levels_go_from_fine_to_coarse(levels: list[str], said: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        source(date={"levels": levels})
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("texts", "ordered"),
    [
        (["0-9", "10-19", "100+", "20-99"], True),
        (["-20 to -1", "0 to 19", "<-20"], True),
        (["[0, 2.5)", "[2.5, 5)"], True),
        (["2020-01", "2020-12", "2021-02"], True),
        (["2020-Q1", "2021-Q4"], True),
        (["1990s", "2000s"], True),
        (["12-34", "13-20"], False),
        (["[0, 5]", "[5, 9]"], False),
        (["0-9", "10-19", "none"], False),
        (["2020-01", "0-9"], False),
        (["mild", "severe"], False),
        (["0-9"], False),
    ],
)
def test_texts_are_groups_in_order_if_they_lie_one_above_the_other(texts: list[str], ordered: bool) -> None:
    assert are_groups_in_order(column(texts, ValueType.TEXT)) is ordered
