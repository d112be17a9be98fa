"""Names of groups reveal no text that few records have."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from anonymizer.hierarchy.auto import SharedPrefixes
from tests.hierarchy.columns import above, column


@given(st.lists(st.text("ab\U0010ffff", min_size=1, max_size=5), min_size=1, max_size=30), st.integers(1, 6))
def test_the_longest_beginning_that_enough_records_share(values: list[str], rare: int) -> None:
    beginnings = SharedPrefixes(column(values), rare)
    for text in set(values):
        enough = [
            text[:end]
            for end in range(1, len(text) + 1)
            if sum(each.startswith(text[:end]) for each in values) >= rare
        ]
        expected = text if values.count(text) >= rare else (enough[-1] if enough else "") + "…"
        assert beginnings.shown(text) == expected


def test_no_group_is_named_by_somebody() -> None:
    people = ["Zebulonia Quax", "Anna Roe", "Anton Roe", "saw Dr Vexil on Monday", "saw Dr Vexil on Friday"]
    data = column([*people, *(name for name in ("Bert", "Carl", "Dora", "Emil", "Franz") for _ in range(10))])
    labels = {label for path in above(data, auto={"rare": 10}).values() for label in path}
    assert "…" in " ".join(labels)
    assert not [label for label in labels for person in people if person in label]
    named = {label for path in above(data, auto=None).values() for label in path}
    assert any(person in label for label in named for person in people)
