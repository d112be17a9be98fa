"""Counting classes and their sensitive values."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.partitions import Partition, partition, renumbered
from tests.strategies import randoms
from tests.twins.microdata import Value, in_order

RANDOMS = randoms()


def counted(own: Partition, name: str, *, combined: bool = False) -> list[tuple[int, dict[Value, int]]]:
    """Return the owner and the counts of each part as the product counts them."""
    counts, owner = own.classes().sensitive_counts(name, combined=combined)
    values = in_order(set(own.everyone(name)))
    return [
        (int(owner[part]), {values[code]: count for code, count in counts.of_class(part)})
        for part in range(len(owner))
    ]


@given(random=RANDOMS)
def test_sizes_and_counts_are_those_of_the_records(random: Random) -> None:
    own = partition(random)
    name = random.choice(own.data.sensitive).name
    assert own.classes().sizes.tolist() == [len(rows) for rows in own.rows()]
    expected = [(i, dict(Counter(group))) for i, group in enumerate(own.groups(name))]
    assert counted(own, name) == expected


@given(random=RANDOMS)
def test_combined_parts_share_all_other_sensitive_values(random: Random) -> None:
    own = partition(random)
    name = random.choice(own.data.sensitive).name
    position = own.data.position(name)
    width = len(own.data.quasi_identifiers)
    expected = []
    for number, rows in enumerate(own.rows()):
        parts: dict[tuple[Value, ...], Counter[Value]] = {}
        for row in rows:
            cells = own.data.records[row]
            others = tuple(cell for i, cell in enumerate(cells) if i >= width and i != position)
            parts.setdefault(others, Counter())[cells[position]] += 1
        expected += [(number, sorted(map(repr, part.items()))) for part in parts.values()]
    found = [(number, sorted(map(repr, part.items()))) for number, part in counted(own, name, combined=True)]
    assert sorted(found) == sorted(expected)


@given(random=RANDOMS)
def test_kept_and_merged_classes(random: Random) -> None:
    own = partition(random)
    name, classes = random.choice(own.data.sensitive).name, own.classes()
    kept = classes.sizes >= sorted(classes.sizes.tolist())[len(classes.sizes) // 2]
    inside = classes.keep(kept)
    assert inside.sizes.tolist() == classes.sizes[kept].tolist()
    values, rows = in_order(set(own.everyone(name))), own.rows()
    cells = [own.everyone(name)[row] for i, members in enumerate(rows) if kept[i] for row in members]
    reference = inside.sensitive_counts(name)[0].reference()
    assert reference.counts.tolist() == [cells.count(value) for value in values]
    assert reference.total == len(cells)
    merged = inside.pooled()
    assert merged.number == 1
    assert merged.sizes.tolist() == [int(classes.sizes[kept].sum())]
    if not kept.all():
        rest = inside.beside(classes.keep(~kept).pooled())
        assert rest.sizes.tolist() == [*inside.sizes.tolist(), int(classes.sizes[~kept].sum())]


@given(random=RANDOMS)
def test_a_part_has_the_records_that_are_left(random: Random) -> None:
    own = partition(random)
    name, classes = random.choice(own.data.sensitive).name, own.classes()
    left = np.array([random.randint(0, 1) for _ in own.class_of])
    part, items = classes.part(left)
    assert items.tolist() == [row for row, count in enumerate(left) if count]
    rows = [[row for row in members if left[row]] for members in own.rows()]
    assert part.sizes.tolist() == [len(members) for members in rows if members]
    values, everyone = in_order(set(own.everyone(name))), own.everyone(name)
    counts = part.sensitive_counts(name)[0].reference().counts
    assert counts.tolist() == [sum(everyone[row] == value for row in items) for value in values]


@given(numbers=st.lists(st.integers(0, 5), min_size=1))
def test_renumbering_keeps_the_partition(numbers: list[int]) -> None:
    new = renumbered(numbers)
    assert len(set(zip(numbers, new, strict=True))) == len(set(numbers)) == max(new) + 1
