"""Keys packed of many texts, those that are numbers in digits among them, against the dictionaries."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest

from anonymizer.data.duckdb.columns import codes_of_digits
from anonymizer.data.open import open_file, open_frame
from anonymizer.data.relation import Coding
from anonymizer.errors import DataError
from tests.data.files import frame

ZIPS = [f"{number:05d}" for number in range(0, 3_000, 7)]
COLUMNS = {
    "digits": ZIPS,
    "with nulls": [None, *ZIPS],
    "two spellings": [*ZIPS, "7"],
    "far apart": [*ZIPS, "900000000"],
    "beyond four bytes": [*ZIPS, "9000000000"],
    "negative": [*ZIPS, "-7"],
    "other digits": [*ZIPS, "٣"],
    "words": [f"w{text}" for text in ZIPS],
    "empty": [*ZIPS, ""],
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("held", [False, True])
def test_keys_are_those_of_the_dictionaries(kind: str, held: bool, tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    values = [COLUMNS[kind][place] for place in random.integers(len(COLUMNS[kind]), size=2_000)]
    sexes = ["FM"[place] for place in random.integers(2, size=2_000)]
    records = frame(["zip", "sex"], list(zip(values, sexes, strict=True)))
    path = tmp_path / "a.parquet"
    duckdb.from_df(records).write_parquet(str(path))
    with open_frame(records) if held else open_file(path) as relation:
        texts = [text for text, _ in relation.dictionary("zip")]
        codes = random.permutation(len(texts)).astype(np.int32) // 2
        size = int(codes.max()) + 1
        first, second = Coding("zip", codes, size), Coding("sex", np.array([1, 0], dtype=np.int32), 2)
        code_of = {text: int(code) for text, code in zip(texts, codes, strict=True)}
        expected = [code_of[value] * 2 + (sex == "F") for value, sex in zip(values, sexes, strict=True)]
        assert relation.packed([first, second]).take_keys().tolist() == expected
        swapped = [code_of[value] + size * (sex == "F") for value, sex in zip(values, sexes, strict=True)]
        assert relation.packed([second, first]).take_keys().tolist() == swapped


@pytest.mark.parametrize("more", ["2999", "9", "0"])
def test_whole_numbers(more: str, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    numbers = f"SELECT (i * 7919 % 1000 + {more})::BIGINT AS n FROM range(4000) AS t(i)"
    duckdb.sql(numbers).write_parquet(str(path))
    with open_file(path) as relation:
        texts = [text for text, _ in relation.dictionary("n")]
        coding = Coding("n", np.arange(len(texts), dtype=np.int32), len(texts))
        keys = relation.packed([coding]).take_keys()
        assert [texts[key] for key in keys] == [str(i * 7919 % 1000 + int(more)) for i in range(4000)]


def test_a_number_that_no_dictionary_has_gets_no_code() -> None:
    codes = np.arange(len(ZIPS), dtype=np.int32)
    assert codes_of_digits("c0", ZIPS[:200], codes[:200], None) is None
    found = codes_of_digits("c0", ZIPS, codes, 500)
    assert found is not None
    asked = np.array([0, 7, 2_996, -1, -9, 1, 2_998, 2_147_483_647], dtype=np.int32)
    assert found.of(asked).tolist() == [0, 1, len(ZIPS) - 1, 500, -1, -1, -1, -1]


def test_a_record_that_came_later_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    duckdb.from_df(frame(["zip"], [[text] for text in ZIPS])).write_parquet(str(path))
    with open_file(path) as relation:
        coding = Coding("zip", np.arange(len(ZIPS), dtype=np.int32), len(ZIPS))
        relation.dictionary("zip")
        duckdb.from_df(frame(["zip"], [["12345"], *([text] for text in ZIPS)])).write_parquet(str(path))
        with pytest.raises(DataError):
            relation.packed([coding])
