"""Codes packed into words and back, by numpy and by SQL."""

from __future__ import annotations

import duckdb
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.data.relation import KeyWords

SIZES = st.lists(st.sampled_from([1, 2, 7, 2**20, 2**31 - 1]), min_size=1, max_size=6)


@given(SIZES, st.data())
def test_words_sort_as_codes_and_give_them_back(sizes: list[int], data: st.DataObject) -> None:
    row = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    rows = np.array(data.draw(st.lists(row, min_size=1, max_size=8)), dtype=np.int32)
    keys = KeyWords(sizes)
    words = keys.pack(rows)
    assert all((word >= 0).all() for word in words)
    assert np.array_equal(keys.unpack(words), rows)
    by_words = sorted(range(len(rows)), key=lambda each: [int(word[each]) for word in words])
    assert [rows[each].tolist() for each in by_words] == sorted(rows.tolist())


def test_the_sql_says_the_same() -> None:
    sizes = [5, 2**31 - 1, 2**31 - 1, 3]
    codes = np.array([[4, 2**31 - 2, 7, 2]], dtype=np.int32)
    keys = KeyWords(sizes)
    query = f"SELECT {', '.join(keys.packed_sql([str(code) for code in codes[0]]))}"
    words = keys.pack(codes)
    assert duckdb.sql(query).fetchall() == [tuple(int(word[0]) for word in words)]
    named = ", ".join(f"{word[0]} AS {name}" for name, word in zip(keys.names, words, strict=True))
    for place, code in enumerate(codes[0]):
        sql = keys.code_sql(place)
        assert duckdb.sql(f"SELECT {sql} FROM (SELECT {named})").fetchall() == [(code,)]
