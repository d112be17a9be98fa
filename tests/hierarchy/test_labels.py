"""Names of groups."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.hierarchy.labels import distinct, group_label, roundest
from anonymizer.model.table import ValueType


@pytest.mark.parametrize(
    ("values", "kind", "label"),
    [
        (["7"], ValueType.INTEGER, "7"),
        (["17", "18", "24"], ValueType.INTEGER, "17-24"),
        (["-3", "-1"], ValueType.INTEGER, "-3 to -1"),
        (["-3", "4"], ValueType.INTEGER, "-3 to 4"),
        (["1.5", "2"], ValueType.NUMBER, "[1.5, 2]"),
        (["2021-01-01", "2021-02-01"], ValueType.DATE, "2021-01-01..2021-02-01"),
        (["a", "b", "c"], ValueType.TEXT, "{a, b, c}"),
        (["a, b", "c\\d"], ValueType.TEXT, r"{a\, b, c\\d}"),
        (["a", "b", "c", "d"], ValueType.TEXT, "a..d"),
        (["a" * 30, "b" * 30], ValueType.TEXT, f"{'a' * 30}..{'b' * 30}"),
    ],
)
def test_a_group_is_named(values: list[str], kind: ValueType, label: str) -> None:
    assert group_label(values, kind) == label


@given(st.lists(st.sampled_from(["a", "a (2)", "a (3)", "b", "b (2)"])))
def test_names_become_distinct_and_stay_where_they_can(labels: list[str]) -> None:
    result = distinct(labels)
    assert len(set(result)) == len(result) == len(labels)
    for place, (label, name) in enumerate(zip(labels, result, strict=True)):
        assert name == label if label not in labels[:place] else name.startswith(f"{label} (")


@given(st.integers(-(10**6), 10**6), st.integers(1, 10**4))
def test_the_roundest_numbers_of_a_range(above: int, length: int) -> None:
    most = above + length
    steps = [factor * 10**power for power in range(8) for factor in (1, 2, 5)]
    fitting = [step for step in steps if most // step * step > above]
    found = list(roundest(above, most))
    if above < 0 <= most:
        assert found == [0]
    else:
        assert found == [each for each in range(above + 1, most + 1) if each % max(fitting) == 0]
