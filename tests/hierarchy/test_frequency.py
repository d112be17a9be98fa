"""Frequent values by themselves, all others as one."""

from __future__ import annotations

import pandas as pd
from hypothesis import given

import anonymizer as an
from anonymizer.model.table import Column
from tests.hierarchy.columns import above, column, texts


def test_levels_keep_the_most_frequent_values() -> None:
    records = {"Rome": 60, "Oslo": 40, "Bern": 30, "Lima": 20, "Bath": 9, "Ulm": 1}
    data = column([town for town, number in records.items() for _ in range(number)])
    two, four = (f"all but the {number} most frequent" for number in (4, 2))
    five = "all but the most frequent"
    assert above(data, frequency=None) == {
        "Rome": ["Rome", "Rome", "Rome"],
        "Oslo": ["Oslo", "Oslo", five],
        "Bern": ["Bern", four, five],
        "Lima": ["Lima", four, five],
        "Bath": [two, four, five],
        "Ulm": [two, four, five],
    }


def test_no_rare_value_is_kept_and_none_is_merged_alone() -> None:
    rare = column(["a"] * 9 + ["b"] * 9)
    assert set(map(tuple, above(rare, frequency=None).values())) == {()}
    alone = column(["a"] * 30 + ["b"] * 20 + ["c"])
    assert {path[0] for path in above(alone, frequency=None).values()} == {"a", "all but the most frequent"}


def test_a_value_that_is_spelled_like_the_others_keeps_its_own_label() -> None:
    data = column(["all but the most frequent"] * 30 + ["b"] * 20 + ["c"])
    assert {path[0] for path in above(data, frequency=None).values()} == {
        "all but the most frequent",
        "all but the most frequent (2)",
    }


@given(texts())
def test_a_kept_value_is_at_least_as_frequent_as_every_merged_one(data: Column) -> None:
    published = above(data, frequency={"rare": 2})
    records = dict(zip(data.texts, data.counts.tolist(), strict=True))
    for level in range(len(next(iter(published.values()), ()))):
        kept = {value for value, path in published.items() if path[level] == value}
        assert all(records[value] >= 2 for value in kept)
        merged = [records[value] for value in published if value not in kept]
        assert len(merged) >= 2
        assert max(merged) <= min((records[value] for value in kept), default=max(merged))


def test_a_kept_value_has_its_own_name_where_exact_values_are_not_published() -> None:
    towns = ["Rome"] * 60 + ["Oslo"] * 50 + ["Bath"] * 3 + ["Ulm"] * 4
    town = {"role": "quasi-identifier", "hierarchy": {"frequency": {}}, "levels": {"min": 1}}
    config = {
        "attributes": {"town": town},
        "constraints": [{"model": "k-anonymity", "k": 5}],
        "algorithm": {"name": "mondrian"},
    }
    result = an.anonymize(pd.DataFrame({"town": towns}), config)
    assert set(result.data["town"]) == {"Rome", "Oslo", "all but the 2 most frequent"}
