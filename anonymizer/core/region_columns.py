"""How regions of records publish an attribute: as intervals of values, or as the set of them."""

from __future__ import annotations

from datetime import date

import numpy as np

from anonymizer.model.arrays import BoolArray, CodeArray, FloatArray, IntArray
from anonymizer.model.counting import group_keys
from anonymizer.model.recoding import RegionColumn
from anonymizer.model.table import Column, PublishedValues, QuasiIdentifier, ValueType

# A set is told by two independent sums of 62-bit numbers, one drawn for each value; equal sums are compared
# value by value before two regions share a label.
_HASH_SEED = 20070515


def interval_column(attribute: QuasiIdentifier, low: CodeArray, high: CodeArray) -> RegionColumn:
    """Return intervals from the lowest to the highest value of each region, both included.

    A region with missing and other values is published as the root of the hierarchy: nothing lies between.

    Parameters
    ----------
    low, high: codes of an ordered attribute, shape (regions,).
    """
    column, size = attribute.column, attribute.column.size
    of_region, distinct = group_keys(low.astype(np.int64) * size + high, size * size)
    low, high = (distinct // size).astype(np.int32), (distinct % size).astype(np.int32)
    mixed = _is_missing(attribute, high) & (low < high)
    records = np.concatenate([[0], np.cumsum(column.counts)])
    covered = (high - low + 1).astype(np.int64)
    numbers = np.full(size, np.nan) if column.numbers is None else column.numbers
    values = PublishedValues(
        None if attribute.by_range else covered + _empty_leaves(attribute, low, high),
        covered,
        records[high + 1] - records[low],
        numbers[low],
        np.where(mixed, np.nan, numbers[high]),
        mixed,
        None,
    )
    root = attribute.node_values.take(np.zeros(1, dtype=np.int64))
    joined = values.joined(root)
    codes = np.where(mixed[of_region], len(distinct), of_region).astype(np.int32)
    labels = [_interval(column.texts[a], column.texts[b]) for a, b in zip(low, high, strict=True)]
    return RegionColumn(joined, [*labels, attribute.hierarchy.labels[0]], codes)


def _interval(low: str, high: str) -> str:
    """Name an interval by its ends.

    >>> _interval("17", "25"), _interval("17", "17")
    ('[17, 25]', '17')
    """
    return low if low == high else f"[{low}, {high}]"


def _is_missing(attribute: QuasiIdentifier, codes: CodeArray) -> BoolArray:
    missing: BoolArray = np.full(len(codes), False)
    if attribute.column.missing is not None:
        missing = codes == attribute.column.missing
    return missing


def _empty_leaves(attribute: QuasiIdentifier, low: CodeArray, high: CodeArray) -> IntArray:
    """Count the leaves of the hierarchy that lie in each interval though the input has no such value."""
    numbers = attribute.column.numbers
    tree = attribute.hierarchy
    if numbers is None or tree.leaves == attribute.column.size:
        return np.zeros(len(low), dtype=np.int64)
    empty = np.setdiff1d(np.arange(tree.leaves), attribute.leaf)
    labels = [tree.labels[node] for node in tree.ancestors[0, empty].tolist()]
    values = np.sort([number for label in labels if (number := _number(attribute.column, label)) is not None])
    # Comparisons with NaN are false, so a missing value bounds nothing.
    inside = np.searchsorted(values, numbers[high], "right") - np.searchsorted(values, numbers[low], "left")
    return np.where(np.isnan(numbers[low]) | np.isnan(numbers[high]), 0, inside).astype(np.int64)


def _number(column: Column, label: str) -> float | None:
    if column.type is not ValueType.DATE:
        return column.numerals.number(label)
    try:
        return float(date.fromisoformat(label).toordinal())
    except ValueError:
        return None


def set_column(
    attribute: QuasiIdentifier, region_of: IntArray, codes: CodeArray, regions: int
) -> RegionColumn:
    """Return the set of the values in each region.

    Parameters
    ----------
    region_of: region of each row, shape (rows,), int64; every region has a row.
    codes: code of each row, shape (rows,).
    regions: how many there are.
    """
    column, size = attribute.column, attribute.column.size
    _, pairs = group_keys(region_of * size + codes, regions * size)
    members = pairs % size
    starts = np.searchsorted(pairs, np.arange(regions + 1) * size)
    of_region, chosen = _distinct_sets(members, starts, size)
    numbers = np.full(size, np.nan) if column.numbers is None else column.numbers
    sums = np.concatenate([[0], np.cumsum(column.counts[members])])
    sizes = np.diff(starts)
    filled = np.where(np.isnan(numbers), np.inf, numbers)[members]
    emptied = np.where(np.isnan(numbers), -np.inf, numbers)[members]
    low = np.minimum.reduceat(filled, starts[:-1])
    high = np.maximum.reduceat(emptied, starts[:-1])
    missing = np.logical_or.reduceat(_is_missing(attribute, members.astype(np.int32)), starts[:-1])
    values = PublishedValues(
        None if attribute.by_range else sizes.astype(np.int64),
        sizes.astype(np.int64),
        sums[starts[1:]] - sums[starts[:-1]],
        _finite(low),
        _finite(high),
        missing & (sizes > 1),
        None,
    )
    labels = [_set([column.texts[c] for c in members[starts[r] : starts[r + 1]].tolist()]) for r in chosen]
    return RegionColumn(values.take(chosen), labels, of_region)


def _finite(numbers: FloatArray) -> FloatArray:
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _set(texts: list[str]) -> str:
    r"""Name a set by its members; what would read as two members is escaped.

    >>> _set(["a"]), _set(["a", "b"]), _set(["a, b", "c"])
    ('a', '{a, b}', '{a\\, b, c}')
    """
    if len(texts) == 1:
        return texts[0]
    return "{" + ", ".join(text.replace("\\", "\\\\").replace(",", "\\,") for text in texts) + "}"


def _distinct_sets(members: IntArray, starts: IntArray, size: int) -> tuple[CodeArray, IntArray]:
    """Number the distinct sets; return each region's number and a region for each number."""
    random = np.random.default_rng(_HASH_SEED)
    sums = [
        np.add.reduceat(random.integers(1, 2**62, size, dtype=np.int64)[members], starts[:-1])
        for _ in range(2)
    ]
    order = np.lexsort((*sums, np.diff(starts)))
    keys = np.stack([np.diff(starts), *sums], axis=1)[order]
    new = np.concatenate([[True], (keys[1:] != keys[:-1]).any(axis=1)])
    numbers = np.empty(len(order), dtype=np.int32)
    numbers[order] = np.cumsum(new) - 1
    chosen = order[new]
    lengths = np.diff(starts)
    offsets = np.arange(len(members)) - np.repeat(starts[:-1], lengths)
    twins = members[np.repeat(starts[chosen[numbers]], lengths) + offsets]
    assert np.array_equal(twins, members), "two sets of values have equal sums; choose another seed"
    return numbers, chosen
