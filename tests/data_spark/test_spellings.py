"""Spellings in Spark: one key for each unit, and codes of missing values in every spelling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from anonymizer.data.open import open_file
from anonymizer.data.source import KeyColumns, MissingTexts
from tests.spark import options

pytestmark = pytest.mark.spark

CODES = ("-9", "n/a")


def written(folder: Path, **columns: Sequence[str]) -> Path:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({name: list(texts) for name, texts in columns.items()}), folder / "a.parquet")
    return folder / "a.parquet"


def test_keys_of_one_unit_become_one_text(tmp_path: Path) -> None:
    numbers, texts = ["1", "1.0", " 2", "2", "-9.0", "3"], ["Zoë", "Zoe\u0308", "P1 ", "P1", "n/a ", "x"]
    given = replace(options(), keys=KeyColumns(("number", "text"), CODES))
    with open_file(written(tmp_path, number=numbers, text=texts), options=given) as relation:
        assert relation.dictionary("number") == [("-9", 1), ("1", 2), ("2", 2), ("3", 1)]
        assert relation.dictionary("text") == [("P1", 2), ("Zoë", 2), ("n/a", 1), ("x", 1)]


def test_codes_are_read_as_nulls_in_every_spelling(tmp_path: Path) -> None:
    numbers, texts = ["-9.0", "5", " -9", "n/a"], ["n/a ", "v9", "-9.0", "-9 "]
    given = replace(options(), missing=MissingTexts("", codes=CODES))
    with open_file(written(tmp_path, number=numbers, text=texts), options=given) as relation:
        assert relation.dictionary("number") == [("5", 1), (None, 3)]
        assert relation.dictionary("text") == [("-9.0", 1), ("v9", 1), (None, 2)]


def test_a_code_with_a_leading_zero_is_a_value(tmp_path: Path) -> None:
    texts, missing = ["099", "100", "101", "99"], ("", "99")
    given = replace(options(), keys=KeyColumns(("k",), missing))
    with open_file(written(tmp_path, k=texts), options=given) as relation:
        assert sorted(str(text) for text, _ in relation.dictionary("k")) == texts
    given = replace(options(), missing=MissingTexts("", codes=missing))
    with open_file(written(tmp_path, k=texts), options=given) as relation:
        assert relation.dictionary("k") == [("099", 1), ("100", 1), ("101", 1), (None, 1)]


def test_the_code_of_a_day_is_a_null_at_midnight_too(tmp_path: Path) -> None:
    days, others = ["2024-03-31", "9999-12-31 00:00:00", " 9999-12-31"], ["5", "9999-12-31 00:00:00", "x"]
    given = replace(options(), missing=MissingTexts("", codes=("9999-12-31",)))
    with open_file(written(tmp_path, days=days, others=others), options=given) as relation:
        assert relation.dictionary("days") == [("2024-03-31", 1), (None, 2)]
        assert None not in dict(relation.dictionary("others"))
