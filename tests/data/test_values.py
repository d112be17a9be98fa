"""Values in several spellings: the same rule in Python, in DuckDB and in DataFrames."""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from random import Random

import pandas as pd
import pytest
from hypothesis import given

from anonymizer.data.duckdb.relation import DuckRelation
from anonymizer.data.open import open_file, open_frame
from anonymizer.data.relation import Relation
from anonymizer.data.source import EngineOptions, KeyColumns, MissingTexts
from anonymizer.data.table import ColumnRequest, read_columns
from anonymizer.data.values import key_of
from anonymizer.model.dates import DateFormat, iso_moment
from anonymizer.model.table import COMMA, POINT, Numerals, ValueType
from tests.strategies import randoms

NUMBERS = ("1", "1.0", " 1", "2", "2e0", "2.", "-9", "-9.0", " -9", "0.5", ".50", "10", "-0", "0")
TEXTS = ("Zo\u00eb", "Zoe\u0308", " Zo\u00eb ", "n/a", "n/a ", "P1", "P1\t", "", "  ", "\u00a0P1", "1", "1.0")
CODES = ("", "-9", "n/a", "0.5")


def written(path: Path, texts: Sequence[str]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["k", "x"], *((text, "1") for text in texts)])
    return path


def identity(text: str, numeric: bool) -> object:
    """Return what a text stands for, by rules written for this test; None for a missing value."""
    plain = unicodedata.normalize("NFC", text.strip())
    if plain in CODES or (numeric and Decimal(plain) in (Decimal(-9), Decimal("0.5"))):
        return None
    return Decimal(plain) if numeric else plain


def groups_of(values: Sequence[object]) -> list[int]:
    """Return for each value the place of the first equal one."""
    return [list(values).index(value) for value in values]


@given(random=randoms())
def test_keys_of_one_unit_become_one_text(random: Random, tmp_path_factory: pytest.TempPathFactory) -> None:
    numeric = random.random() < 0.5
    texts = random.choices(NUMBERS if numeric else TEXTS, k=random.randint(2, 9))
    texts += ["1"] if numeric else ["P1"]
    keys = KeyColumns(("k",), CODES)
    expected = groups_of([identity(text, numeric) for text in texts])
    path = written(tmp_path_factory.mktemp("keys") / "a.csv", texts)
    for relation in (
        open_file(path, options=EngineOptions(keys=keys)),
        open_frame(pd.read_csv(path, dtype="str", keep_default_na=False), EngineOptions(keys=keys)),
    ):
        with relation:
            dictionary = [text for text, _ in relation.dictionary("k")]
            found = [dictionary[code] for code in relation.codes("k")]
        assert groups_of([None if text in (None, *CODES) else text for text in found]) == expected


@pytest.mark.parametrize("kind", ["file", "frame"])
def test_a_code_with_a_leading_zero_identifies_somebody(kind: str, tmp_path: Path) -> None:
    texts, keys = ["099", "100", "101", "99"], KeyColumns(("k",), ("", "99"))
    path, options = written(tmp_path / "a.csv", texts), EngineOptions(keys=keys)
    frame = pd.read_csv(path, dtype="str", keep_default_na=False)
    with open_file(path, options=options) if kind == "file" else open_frame(frame, options) as relation:
        assert sorted(str(text) for text, _ in relation.dictionary("k")) == texts


def test_clean_keys_are_not_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fetched(*_: object) -> list[tuple[str | None, int]]:
        raise AssertionError

    monkeypatch.setattr(DuckRelation, "dictionary", fetched)
    monkeypatch.setattr(Relation, "respell", fetched)
    for texts in (["12", "7", "-1"], ["A-7", "B 8"], ["Zo\u00eb", "P1"]):
        path = written(tmp_path / "a.csv", texts)
        with open_file(path, options=EngineOptions(keys=KeyColumns(("k",)))) as relation:
            assert relation.key_identities("k", KeyColumns(("k",))) == {}


@pytest.mark.parametrize("kind", ["file", "frame"])
@pytest.mark.parametrize(
    ("texts", "numerals", "absent"),
    [
        (["3", "-9.0", " -9", "n/a ", "-90"], POINT, 3),
        (["3,5", "-9,0", "0,50", "1.000"], COMMA, 2),
        (["v1", "-9.0", " -9"], POINT, 1),
        (["01", "02", "-9.0"], POINT, 0),
        (["-09", "11", "12"], POINT, 0),
        (["-09", "-9", " -9"], POINT, 2),
        (["00,50", "11", "0,5", "0.5"], COMMA, 1),
        (["  ", "", "x"], POINT, 2),
        (["Zoe\u0308"], POINT, 0),
    ],
)
def test_codes_are_read_as_nulls_in_every_spelling(
    kind: str, texts: list[str], numerals: Numerals, absent: int, tmp_path: Path
) -> None:
    options = EngineOptions(missing=MissingTexts("NA", codes=CODES, numerals=numerals))
    path = written(tmp_path / "a.csv", texts)
    frame = pd.read_csv(path, dtype="str", keep_default_na=False)
    with open_file(path, options=options) if kind == "file" else open_frame(frame, options) as relation:
        assert dict(relation.dictionary("k")).get(None, 0) == absent


@pytest.mark.quick(3)
@pytest.mark.parametrize("kind", ["file", "frame"])
@pytest.mark.parametrize(
    ("texts", "absent"),
    [
        (["2024-03-31", "9999-12-31 00:00:00", " 9999-12-31T00:00", "-9"], 3),
        (["2024-03-31", "9999-12-31 00:00:01"], 0),
        (["2024-03-31", "2023-02-30", "9999-12-31 00:00:00"], 0),
        (["later", "9999-12-31 00:00:00", "9999-12-31 "], 1),
    ],
)
def test_the_code_of_a_day_is_a_null_at_midnight_too(
    kind: str, texts: list[str], absent: int, tmp_path: Path
) -> None:
    options = EngineOptions(missing=MissingTexts("NA", codes=("-9", "9999-12-31")))
    path = written(tmp_path / "a.csv", texts)
    frame = pd.read_csv(path, dtype="str", keep_default_na=False)
    with open_file(path, options=options) if kind == "file" else open_frame(frame, options) as relation:
        assert dict(relation.dictionary("k")).get(None, 0) == absent
    with open_file(path) as relation:
        column = read_columns(relation, [ColumnRequest("k")], ("-9", "9999-12-31"))["k"].column
    assert (0 if column.missing is None else column.counts[column.missing]) == absent


DAYS = ["2024-03-31", "2024-03-31 00:00:00", " 2024-03-31T00:00", "2024-03-31 12:00"]


@pytest.mark.parametrize("kind", [None, ValueType.DATE])
def test_midnight_is_the_day_and_blanks_are_no_part_of_a_date(kind: ValueType | None, tmp_path: Path) -> None:
    with open_file(written(tmp_path / "a.csv", DAYS)) as relation:
        column = read_columns(relation, [ColumnRequest("k", kind, generalized=True)])["k"].column
    assert (column.type, list(column.texts)) == (ValueType.DATE, ["2024-03-31", "2024-03-31 12:00"])


@pytest.mark.parametrize("form", ["%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S.%f", "%d. %B %Y %I %p"])
def test_midnight_is_the_day_in_every_format(form: str) -> None:
    midnight = datetime(2024, 3, 31, tzinfo=UTC).strftime(form)
    assert DateFormat((form,)).read(midnight) == iso_moment("2024-03-31") is not None


@pytest.mark.parametrize(
    ("texts", "kind", "missing"),
    [
        (["1200", "-9.0", "1300"], ValueType.INTEGER, 1),
        (["1200", "99.0", "9.9e1"], ValueType.INTEGER, 2),
        (["100", "099", "101"], ValueType.TEXT, 0),
        (["100", "099", "99 "], ValueType.TEXT, 1),
        (["+99", "100"], ValueType.TEXT, 0),
        (["v8.1", "-9.0", " -9"], ValueType.TEXT, 1),
        (["2020-01-31", "-9 "], ValueType.DATE, 1),
        (["-9", "-9.0"], ValueType.TEXT, 2),
    ],
)
def test_the_type_is_that_of_the_values_that_are_not_missing(
    texts: list[str], kind: ValueType, missing: int, tmp_path: Path
) -> None:
    with open_file(written(tmp_path / "a.csv", texts)) as relation:
        column = read_columns(relation, [ColumnRequest("k")], ("", "-9", "99"))["k"].column
    assert column.type is kind
    assert (0 if column.missing is None else column.counts[column.missing]) == missing


def test_a_text_has_the_spelling_of_most_records_and_then_the_first(tmp_path: Path) -> None:
    texts = ["flu ", "flu", "flu ", "Zoe\u0308", "Zo\u00eb", " b", "b"]
    with open_file(written(tmp_path / "a.csv", texts)) as relation:
        column = read_columns(relation, [ColumnRequest("k", generalized=True)])["k"].column
    assert set(column.texts) == {"flu ", "Zoe\u0308", " b"}
    assert column.counts.sum() == len(texts)


def test_whole_numbers_beyond_doubles_differ() -> None:
    key = key_of(ValueType.INTEGER)
    assert key("9007199254740993.0") != key("9007199254740992")
