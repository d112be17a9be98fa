"""What is measured of columns, those too wide to be read included."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymizer.data.open import open_file
from anonymizer.model.table import ValueType
from anonymizer.profile.column_statistics import SAMPLE, Measured, measure
from tests.data.files import write

WIDE = 3 * SAMPLE
"""Values of which only a part is looked at one by one."""


def measured(folder: Path, texts: list[str]) -> Measured:
    """Measure a column beside another one."""
    path = write(folder / "a.csv", "v,w\n" + "".join(f"{text},1\n" for text in texts))
    with open_file(path) as relation:
        return measure(relation)


@pytest.mark.parametrize("records", [40, WIDE])
@pytest.mark.parametrize(
    ("odd", "kind", "missing"),
    [
        ((), ValueType.INTEGER, ("",)),
        (("",), ValueType.INTEGER, ("",)),
        (("?",), ValueType.INTEGER, ("", "?")),
        (("NA",), ValueType.INTEGER, ("", "NA")),
        (("NA", "NULL"), ValueType.INTEGER, ("", "NULL", "NA")),
        (("1.5",), ValueType.NUMBER, ("",)),
        (("1e3",), ValueType.NUMBER, ("",)),
        (("007",), ValueType.TEXT, ("",)),
        (("0e3",), ValueType.TEXT, ("",)),
        (("1e+05",), ValueType.NUMBER, ("",)),
        (("+7",), ValueType.TEXT, ("",)),
        (("twelve",), ValueType.TEXT, ("",)),
        (("twelve", "NA"), ValueType.TEXT, ("",)),
    ],
)
def test_one_odd_text_among_whole_numbers(
    odd: tuple[str, ...], kind: ValueType, missing: tuple[str, ...], records: int, tmp_path: Path
) -> None:
    found = measured(tmp_path, [*map(str, range(1, records + 1)), *odd])
    column = found.columns[0]
    absent = [text for text in odd if text in missing]
    assert (column.type, found.missing, column.missing) == (kind, missing, len(absent))
    assert (column.rows, column.distinct) == (records + len(odd), records + len(odd) - len(absent))
    assert column.singles == column.distinct
    assert column.whole is (records <= SAMPLE)


@pytest.mark.parametrize(("odd", "kind"), [("1901-02-28", ValueType.DATE), ("1901-02-30", ValueType.TEXT)])
def test_one_odd_day_among_many_days(odd: str, kind: ValueType, tmp_path: Path) -> None:
    days = [
        f"{year}-{month:02d}-{day:02d}"
        for year in range(1902, 1920)
        for month in range(1, 13)
        for day in range(1, 29)
    ]
    found = measured(tmp_path, [*days, odd])
    assert len(days) > SAMPLE
    assert found.columns[0].type is kind


def test_dates_beside_words_for_missing_are_dates(tmp_path: Path) -> None:
    found = measured(tmp_path, ["2020-01-01", "2020-01-02", "unknown"])
    assert (found.columns[0].type, found.missing) == (ValueType.DATE, ("", "unknown"))


def test_words_that_may_mean_missing_are_values_among_words(tmp_path: Path) -> None:
    found = measured(tmp_path, ["NA", "DE", "FR", "unknown"])
    assert (found.columns[0].distinct, found.missing) == (4, ("",))


def test_no_values_at_all(tmp_path: Path) -> None:
    column = measured(tmp_path, ["", "?", ""]).columns[0]
    assert (column.distinct, column.missing, column.largest, column.entropy) == (0, 3, 0, 0.0)
