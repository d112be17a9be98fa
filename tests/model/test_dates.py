"""Tests of dates in many formats: read, detected, told apart, and published in ISO 8601."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.model.dates import (
    ISO,
    PIVOT,
    DateFormat,
    Reading,
    canonical_moment,
    format_problem,
    reading_of,
    shown_form,
)

# Format, a text, and what is published.
FORMATS = [
    ("%Y-%m-%d", "2014-05-13", "2014-05-13"),
    ("%Y/%m/%d", "2014/05/13", "2014-05-13"),
    ("%Y.%m.%d", "2014.05.13", "2014-05-13"),
    ("%d.%m.%Y", "13.5.2014", "2014-05-13"),
    ("%d/%m/%Y", "13/05/2014", "2014-05-13"),
    ("%d-%m-%Y", "13-05-2014", "2014-05-13"),
    ("%d %m %Y", "13 05 2014", "2014-05-13"),
    ("%m/%d/%Y", "5/13/2014", "2014-05-13"),
    ("%m-%d-%Y", "05-13-2014", "2014-05-13"),
    ("%m.%d.%Y", "05.13.2014", "2014-05-13"),
    ("%d.%m.%y", "13.05.14", "2014-05-13"),
    ("%d/%m/%y", "13/05/14", "2014-05-13"),
    ("%m/%d/%y", "5/13/14", "2014-05-13"),
    ("%Y%m%d", "20140513", "2014-05-13"),
    ("%d%m%Y", "13052014", "2014-05-13"),
    ("%m%d%Y", "05132014", "2014-05-13"),
    ("%d %b %Y", "13 May 2014", "2014-05-13"),
    ("%d-%b-%Y", "13-Jun-2014", "2014-06-13"),
    ("%d-%b-%y", "13-JUN-14", "2014-06-13"),
    ("%d%b%Y", "13JUN2014", "2014-06-13"),
    ("%d %B %Y", "13 November 2014", "2014-11-13"),
    ("%d. %B %Y", "13. November 2014", "2014-11-13"),
    ("%B %d, %Y", "November 13, 2014", "2014-11-13"),
    ("%b %d, %Y", "Nov 13, 2014", "2014-11-13"),
    ("%b %d %Y", "Nov 13 2014", "2014-11-13"),
    ("%a, %d %b %Y", "Tue, 13 May 2014", "2014-05-13"),
    ("%A, %d %B %Y", "Thursday, 13 November 2014", "2014-11-13"),
    ("%Y-%j", "2014-133", "2014-05-13"),
    ("%m/%Y", "05/2014", "2014-05"),
    ("%m.%Y", "5.2014", "2014-05"),
    ("%Y-%m", "2014-05", "2014-05"),
    ("%Y/%m", "2014/05", "2014-05"),
    ("%b %Y", "May 2014", "2014-05"),
    ("%B %Y", "November 2014", "2014-11"),
    ("%b-%y", "Nov-14", "2014-11"),
    ("%G-W%V", "2014-W20", "2014-W20"),
    ("%G-W%V-%u", "2014-W20-2", "2014-05-13"),
    ("%Y-%m-%d %H:%M", "2014-05-13 14:30", "2014-05-13T14:30:00"),
    ("%Y-%m-%dT%H:%M:%S", "2014-05-13T14:30:05", "2014-05-13T14:30:05"),
    ("%d.%m.%Y %H:%M", "13.05.2014 14:30", "2014-05-13T14:30:00"),
    ("%d/%m/%Y %H:%M:%S", "13/05/2014 14:30:05", "2014-05-13T14:30:05"),
    ("%m/%d/%Y %H:%M", "5/13/2014 14:30", "2014-05-13T14:30:00"),
    ("%m/%d/%Y %I:%M %p", "5/13/2014 2:30 PM", "2014-05-13T14:30:00"),
    ("%d.%m.%y %H:%M", "13.05.14 14:30", "2014-05-13T14:30:00"),
    ("%Y%m%dT%H%M%S", "20140513T143005", "2014-05-13T14:30:05"),
    ("%d/%b/%Y:%H:%M:%S %z", "13/May/2014:14:30:05 +0200", "2014-05-13T14:30:05"),
    ("%a %b %d %H:%M:%S %Y", "Tue May 13 14:30:05 2014", "2014-05-13T14:30:05"),
]


def twin(form: str) -> str:
    """Return a format with day and month exchanged, if it has numbers of both."""
    if "%d" not in form or "%m" not in form:
        return form
    return form.replace("%d", "%_").replace("%m", "%d").replace("%_", "%m")


def written(time: datetime, form: str) -> str:
    """Return a time in a format."""
    return time.strftime(form.replace("%z", "+0200"))


def times(number: int, seed: int) -> list[datetime]:
    """Return random times of two years."""
    draw = random.Random(seed)
    first = datetime(2013, 1, 1)
    return [first + timedelta(seconds=draw.randrange(2 * 365 * 86_400)) for _ in range(number)]


@pytest.mark.parametrize(("form", "text", "published"), FORMATS)
def test_published_in_iso(form: str, text: str, published: str) -> None:
    assert format_problem(form) is None
    found = DateFormat((form,)).read(text)
    assert found is not None
    assert found.text == published
    assert canonical_moment(published) == found


@pytest.mark.parametrize("form", [form for form, _, _ in FORMATS])
def test_dates_return_and_sort(form: str) -> None:
    """200 random dates are read as they were written, and their texts sort by time."""
    drawn = sorted(times(200, 7))
    dates = DateFormat((form,))
    moments = [dates.read(written(time, form)) for time in drawn]
    for time, moment in zip(drawn, moments, strict=True):
        assert moment is not None
        again = canonical_moment(moment.text)
        assert again == moment
        if "%H" not in form and "%I" not in form and ("%d" in form or "%u" in form or "%j" in form):
            assert moment.text == f"{time:%Y-%m-%d}"
    texts = [moment.text for moment in moments if moment is not None]
    assert texts == sorted(texts)


@pytest.mark.parametrize("form", [form for form, _, _ in FORMATS])
def test_no_format_is_read_as_another(form: str) -> None:
    """60 random dates are found in their own format; with days up to 12, day and month may be exchanged."""
    texts = {written(time, form) for time in times(60, 3)}
    found = reading_of(texts)
    assert found is not None
    assert not found.ambiguous
    assert {found.format.read(text) for text in texts} == {DateFormat((form,)).read(text) for text in texts}
    early = {written(time, form) for time in times(400, 4) if time.day <= 12 and time.day != time.month}
    found = reading_of(early)
    assert found is not None
    read = [tuple(map(way.read, sorted(early))) for way in found.ways]
    own = tuple(map(DateFormat((form,)).read, sorted(early)))
    other = tuple(map(DateFormat((twin(form),)).read, sorted(early)))
    assert own in read
    assert set(read) <= {own, other}


@pytest.mark.parametrize(
    "texts",
    [
        ["12-34", "45-67", "80-89"],
        ["1.2.3", "2.10.1", "3.0.0"],
        ["2014", "2015", "1999"],
        ["01234567", "99123456", "55512345"],
        ["10:30", "11:45"],
        ["May", "June", "July"],
        ["A12/2014", "B07/2014"],
        ["32/13/2014", "45/99/2014"],
        ["192.168.1.1", "10.0.0.1"],
        ["555-1234", "555-9876"],
        ["Smith", "Jones"],
        [],
    ],
    ids=str,
)
def test_other_texts_are_no_dates(texts: list[str]) -> None:
    assert reading_of(texts) is None


def test_several_formats() -> None:
    found = reading_of(["13.05.2014", "2014-05-14", "May 2014", "1.12.2014"])
    assert found is not None
    assert set(found.format.forms) == {"%d.%m.%Y", "%Y-%m-%d", "%b %Y"}


def test_few_other_texts() -> None:
    days = [f"{day}/5/2014" for day in range(1, 32)]
    found = reading_of([*days, "unclear"])
    assert found is not None
    assert (found.format.forms, found.strange) == (("%d/%m/%Y",), ("unclear",))
    assert reading_of([*days, "unclear", "lost", "about 1980"]) is None


def test_ambiguous_until_resolved() -> None:
    found = reading_of(["5/3/2014", "12/1/2014"])
    assert found is not None
    assert found.ambiguous
    assert found.resolved(Reading.MONTH_FIRST).format.forms == ("%m/%d/%Y",)
    assert found.resolved(Reading.DAY_FIRST).format.forms == ("%d/%m/%Y",)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("%d.%m.%Y", "31.02.2014"),
        ("%d.%m.%Y", "13.05.14"),
        ("%m/%d/%Y", "13/5/2014"),
        ("%Y-%m-%d", "2014-05-13x"),
        ("%G-W%V", "2014-W53"),
        ("%Y-%j", "2014-366"),
        ("%d%m%Y", "1352014"),
        ("%H:%M %d.%m.%Y", "24:00 13.05.2014"),
    ],
)
def test_no_date(form: str, text: str) -> None:
    assert DateFormat((form,)).read(text) is None


@pytest.mark.parametrize(
    ("pivot", "text", "year"),
    [(PIVOT, "1.1.68", "2068"), (PIVOT, "1.1.69", "1969"), (20, "1.1.20", "2020"), (20, "1.1.21", "1921")],
)
def test_pivot(pivot: int, text: str, year: str) -> None:
    found = DateFormat(("%d.%m.%y",), pivot).read(text)
    assert found is not None
    assert found.text[:4] == year


@pytest.mark.parametrize("form", ["%d.%m", "%Q", "%Y %H", "%Y-%m-%d %I", "%Y %", "%Y-%d", "%Y-W%V", "year"])
def test_wrong_formats(form: str) -> None:
    problem = format_problem(form)
    assert problem is not None
    assert ("add the month and the day" if form == "%Y %H" else "accepted: ") in problem


def test_form_without_content() -> None:
    assert shown_form("Zoë, 5/13") == "aaa, 9/99"


@given(st.dates())
def test_iso_dates_are_their_own_texts(day: object) -> None:
    found = ISO.read(str(day))
    assert found is not None
    assert found.text == str(day)
