"""How records are spread over a column's texts, against Python's counter."""

from __future__ import annotations

import math
import re
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.data.open import open_file, open_frame
from anonymizer.data.relation import ColumnStatistics
from tests.data.files import frame, write

ABSENT = ("", "?")
columns = st.lists(st.sampled_from(["", "?", "a", "b", "é", "7", "07", "x'y"]), min_size=1, max_size=30)


def counted(texts: list[str]) -> ColumnStatistics:
    """Return the spread of a few texts, all of them in the sample."""
    counts = Counter(text for text in texts if text not in ABSENT)
    records = sum(counts.values())
    shares = [count / records for count in counts.values()]
    return ColumnStatistics(
        len(counts),
        sum(count == 1 for count in counts.values()),
        max(counts.values(), default=0),
        len(texts) - records,
        -sum(share * math.log2(share) for share in shares),
        tuple(sorted(counts.items())),
    )


def alike(found: ColumnStatistics, expected: ColumnStatistics) -> bool:
    """Compare spreads, entropies but for rounding."""
    same = (found.distinct, found.singles, found.largest, found.nulls) == (
        expected.distinct,
        expected.singles,
        expected.largest,
        expected.nulls,
    )
    return same and math.isclose(found.entropy, expected.entropy, abs_tol=1e-9)


@settings(max_examples=15, deadline=None)
@given(columns)
def test_a_frame_and_a_file_are_spread_alike(texts: list[str]) -> None:
    expected = counted(texts)
    with open_frame(frame(["v"], [[text] for text in texts])) as relation:
        found = relation.profiling.spread("v", 100, ABSENT)
        assert alike(found, expected)
        assert found.sample == expected.sample
    with tempfile.TemporaryDirectory() as folder:
        quoted = "".join(f'"{text}"\n' for text in texts)
        with open_file(write(Path(folder) / "a.csv", f"v\n{quoted}")) as relation:
            found = relation.profiling.spread("v", 100, ABSENT)
            assert alike(found, expected)
            assert found.sample == expected.sample


def test_of_many_values_a_sample_is_fetched_and_all_are_counted(tmp_path: Path) -> None:
    texts = [str(number % 700) for number in range(1_000)] + ["", "?", "?"]
    path = write(tmp_path / "a.csv", "v,w\n" + "".join(f"{text},1\n" for text in texts))
    with open_file(path) as relation:
        found = relation.profiling.spread("v", 50, ABSENT)
        assert alike(found, counted(texts))
        assert not found.whole
        assert 25 <= len(found.sample) <= 200
        whole = dict(counted(texts).sample)
        assert all(whole[text] == count for text, count in found.sample)


def test_the_sample_does_not_depend_on_the_order_of_the_records(tmp_path: Path) -> None:
    texts = [str(number) for number in range(2_000)]
    found = []
    for name, order in (("a.csv", texts), ("b.csv", texts[::-1])):
        with open_file(write(tmp_path / name, "v\n" + "".join(f"{text}\n" for text in order))) as relation:
            found.append(relation.profiling.spread("v", 100).sample)
    assert found[0] == found[1]


@pytest.mark.parametrize("pattern", [r"-?[0-9]+", r"a|b", r"\?", r"x'.*"])
def test_records_that_match(pattern: str, tmp_path: Path) -> None:
    texts = ["", "?", "a", "ab", "7", "-12", "x'y", "7"]
    expected = sum(re.fullmatch(pattern, text) is not None for text in texts)
    path = write(tmp_path / "a.csv", "v,w\n" + "".join(f"{text},1\n" for text in texts))
    with open_file(path) as file, open_frame(frame(["v"], [[text] for text in texts])) as table:
        assert (
            file.profiling.count_matching("v", pattern)
            == table.profiling.count_matching("v", pattern)
            == expected
        )


@pytest.mark.parametrize("pattern", [r"-?[0-9]+", r"a[0-4]?", r"nothing"])
def test_records_that_match_where_few_texts_repeat(pattern: str, tmp_path: Path) -> None:
    texts = ["", "-12", *(f"a{number}" for number in range(40))] * 3
    expected = sum(re.fullmatch(pattern, text) is not None for text in texts)
    with open_file(write(tmp_path / "a.csv", "v,w\n" + "".join(f"{text},1\n" for text in texts))) as file:
        assert not file.profiling.spread("v", 10).whole  # from then on it is known how many there are
        assert file.profiling.count_matching("v", pattern) == expected


@settings(max_examples=15, deadline=None)
@given(columns)
def test_keys_are_the_same_where_the_texts_are(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        quoted = "".join(f'"{text}"\n' for text in texts)
        with open_file(write(Path(folder) / "a.csv", f"v\n{quoted}")) as relation:
            by_hash = relation.profiling.keys("v").tolist()
            relation.dictionary("v")
            by_code = relation.profiling.keys("v").tolist()
    for keys in (by_hash, by_code):
        assert len(set(zip(keys, texts, strict=True))) == len(set(keys)) == len(set(texts))
        assert set(keys) == set(range(len(set(texts))))


def test_keys_of_nulls(tmp_path: Path) -> None:
    import pandas as pd

    pd.DataFrame({"v": ["a", None, "", None, "a"], "w": 1}).to_parquet(tmp_path / "a.parquet")
    with open_file(tmp_path / "a.parquet") as relation:
        keys = relation.profiling.keys("v").tolist()
    assert len(set(keys)) == 3
    assert (keys[1], keys[0]) == (keys[3], keys[4])
