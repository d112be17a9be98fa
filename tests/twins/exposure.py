"""What a release shows, record by record."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

Row = Sequence[object]


def units_alone(rows: Sequence[Row], owners: Sequence[object], least: int) -> int:
    """Return the units with a record whose values fewer than ``least`` units share."""
    holders: dict[tuple[object, ...], set[object]] = defaultdict(set)
    for row, owner in zip(rows, owners, strict=True):
        holders[tuple(row)].add(owner)
    small = {owner for row, owner in zip(rows, owners, strict=True) if len(holders[tuple(row)]) < least}
    return len(small)


def units_with_rare_values(values: Sequence[object], owners: Sequence[object], k: int) -> int:
    """Return the units with a value that fewer than k units have; None is no value."""
    rows = [(value,) for value in values]
    rare = {row for row in rows if len({o for r, o in zip(rows, owners, strict=True) if r == row}) < k}
    return len({o for r, o in zip(rows, owners, strict=True) if r in rare and r != (None,)})


def restored(rows: Sequence[Row], keys: Sequence[object]) -> int:
    """Return the records whose row others of their unit have, and nobody else."""
    holders: dict[Row, list[object]] = defaultdict(list)
    for row, key in zip(rows, keys, strict=True):
        holders[tuple(row)].append(key)
    return sum(len(own) for own in holders.values() if len(own) > 1 and len(set(own)) == 1)


def told(values: Sequence[object], secrets: Sequence[object], owners: Sequence[object]) -> tuple[int, int]:
    """Return how many secrets a guess by the value tells, and of how many with a value of another unit."""
    holders: dict[object, set[object]] = defaultdict(set)
    for value, owner in zip(values, owners, strict=True):
        holders[value].add(owner)
    groups: dict[object, Counter[object]] = defaultdict(Counter)
    for value, secret in zip(values, secrets, strict=True):
        if len(holders[value]) > 1 and secret is not None:
            groups[value][secret] += 1
    right = sum(max(own.values()) for own in groups.values())
    return right, sum(sum(own.values()) for own in groups.values())


def named(values: Sequence[object], shown: Sequence[object], own: Sequence[object]) -> int:
    """Return the records whose hidden value is that of all, of several, with their value; each is a unit."""
    coarse = {label for label in shown if len({o for s, o in zip(shown, own, strict=True) if s == label}) > 1}
    number = 0
    for value, label in zip(values, shown, strict=True):
        like = [o for v, o in zip(values, own, strict=True) if v == value]
        number += label in coarse and len(like) > 1 and len(set(like)) == 1
    return number
