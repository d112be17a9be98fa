"""Losses of intervals, sets, blanks and single nodes against their definitions, record by record."""

from __future__ import annotations

from dataclasses import replace
from math import isclose, log2
from random import Random

import numpy as np
import pytest
from hypothesis import given

from anonymizer.model.classes import released
from anonymizer.model.recoding import (
    Cells,
    FullDomainRecoding,
    LocalSuppressionRecoding,
    Recoding,
    RegionRecoding,
)
from anonymizer.model.table import QuasiIdentifier, Table
from anonymizer.search.mondrian.axes import interval_column, set_column
from tests import strategies
from tests.helpers import build
from tests.helpers.examples import share
from tests.helpers.problems import metric

RANDOMS = strategies.randoms()


def recoded(random: Random) -> tuple[RegionRecoding, list[bool]]:
    """Return a random table with random regions, and for each attribute whether it has intervals."""
    searched = build.table(strategies.table(random))
    ranged = [
        random.random() < 0.5 and each.column.numbers is not None for each in searched.quasi_identifiers
    ]
    attributes = tuple(
        replace(each, by_range=is_ranged and random.random() < 0.5)
        for each, is_ranged in zip(searched.quasi_identifiers, ranged, strict=True)
    )
    searched = replace(searched, quasi_identifiers=attributes)
    owner = np.repeat(
        np.arange(searched.combinations), [random.randint(1, n) for n in searched.counts.tolist()]
    )
    counts = np.ones(len(owner), dtype=np.int64)
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    counts[first] += searched.counts - np.bincount(owner)
    table = searched.split(owner, counts)
    regions = random.randint(1, len(owner))
    region_of = np.array([random.randrange(regions) for _ in owner], dtype=np.int64)
    region_of = np.unique(region_of, return_inverse=True)[1]
    suppressed = np.array([random.random() < 0.2 for _ in owner])
    columns = [
        column(attribute, region_of, table.quasi_identifier_codes(position), interval=ranged[position])
        for position, attribute in enumerate(attributes)
    ]
    return RegionRecoding(table, columns, region_of, suppressed, suppressed, owner), ranged


def column(attribute: QuasiIdentifier, region_of: np.ndarray, codes: np.ndarray, *, interval: bool) -> Cells:
    regions = int(region_of.max()) + 1
    if not interval:
        return set_column(attribute, region_of, codes, regions)
    own = [codes[region_of == region] for region in range(regions)]
    low, high = (np.array([pick(each) for each in own], dtype=np.int32) for pick in (np.min, np.max))
    return interval_column(attribute, low, high)


def covered(own: RegionRecoding, row: int, position: int, *, interval: bool) -> set[int]:
    """Return the codes that the published values of a row cover."""
    codes = own.table.quasi_identifier_codes(position)
    inside = set(codes[own.region_of == own.region_of[row]].tolist())
    attribute = own.table.quasi_identifiers[position].column
    if not interval:
        return inside
    if attribute.missing in inside and len(inside) > 1:
        return set(range(attribute.size))
    return set(range(min(inside), max(inside) + 1))


def range_cost(attribute: QuasiIdentifier, codes: set[int]) -> float:
    column = attribute.column
    assert column.numbers is not None
    if column.missing in codes:
        return 1.0 if len(codes) > 1 else 0.0
    known = [float(number) for number in column.numbers if not np.isnan(number)]
    span = max(known) - min(known)
    return 0.0 if span == 0 else (column.numbers[max(codes)] - column.numbers[min(codes)]) / span


def leaf_cost(attribute: QuasiIdentifier, codes: set[int], *, interval: bool) -> float:
    """Count the leaves, those between the ends of an interval that the data lack among them."""
    leaves, m = {int(attribute.leaf[code]) for code in codes}, attribute.hierarchy.leaves
    numbers = attribute.column.numbers
    if interval and numbers is not None and len(codes) > 1:
        if attribute.column.missing in codes:
            return 1.0
        low, high = numbers[min(codes)], numbers[max(codes)]
        labels = [attribute.hierarchy.labels[node] for node in attribute.hierarchy.ancestors[0]]
        leaves |= {
            leaf
            for leaf, text in enumerate(labels)
            if text.lstrip("-").isdigit() and low <= int(text) <= high
        }
    return 0.0 if m == 1 else (len(leaves) - 1) / (m - 1)


@share(3)
@given(random=RANDOMS)
def test_loss_and_penalty_of_regions(random: Random) -> None:
    own, ranged = recoded(random)
    facts = released(own, None)
    losses, penalties = [], []
    for position, attribute in enumerate(own.table.quasi_identifiers):
        total = penalty = 0.0
        for row, records in enumerate(own.table.counts.tolist()):
            codes = covered(own, row, position, interval=ranged[position])
            if own.suppressed[row]:
                total, penalty = total + records, penalty + records
                continue
            by_leaves = leaf_cost(attribute, codes, interval=ranged[position])
            total += records * (range_cost(attribute, codes) if attribute.by_range else by_leaves)
            share_of_values = 0.0 if len(codes) == 1 else len(codes) / attribute.column.size
            numeric = attribute.column.numbers is not None
            penalty += records * (range_cost(attribute, codes) if numeric else share_of_values)
        losses.append(total / own.table.records * attribute.weight)
        penalties.append(penalty / own.table.records * attribute.weight)
    weights = sum(attribute.weight for attribute in own.table.quasi_identifiers)
    assert isclose(metric("loss").value(facts) or 0, sum(losses) / weights, rel_tol=1e-9, abs_tol=1e-12)
    assert isclose(metric("ncp").value(facts) or 0, sum(penalties) / weights, rel_tol=1e-9, abs_tol=1e-12)
    assert metric("precision").value(facts) is None
    assert metric("height").value(facts) is None


@share(3)
@given(random=RANDOMS)
def test_entropy_of_regions(random: Random) -> None:
    own, ranged = recoded(random)
    bits = 0.0
    for position, attribute in enumerate(own.table.quasi_identifiers):
        counts = attribute.column.counts.tolist()
        for row, records in enumerate(own.table.counts.tolist()):
            codes = covered(own, row, position, interval=ranged[position])
            value = int(own.table.quasi_identifier_codes(position)[row])
            bits += records * -log2(counts[value] / sum(counts[code] for code in codes))
    found = metric("nonuniform-entropy").value(released(own, None))
    assert found is not None
    assert isclose(found, bits, rel_tol=1e-9, abs_tol=1e-9)


@share(3)
@given(random=RANDOMS)
def test_regions_with_equal_labels_are_one_class_and_none_else(random: Random) -> None:
    own, _ = recoded(random)
    published = own.published()
    rows = [
        tuple(each.labels[each.codes[row]] for each in published)
        for row in range(len(own.suppressed))
        if not own.suppressed[row]
    ]
    assert len(released(own, None).class_sizes) == len(set(rows))


@share(3)
@given(random=RANDOMS)
def test_a_blank_hides_all(random: Random) -> None:
    table = build.table(strategies.table(random))
    nothing = np.zeros(table.combinations, dtype=bool)
    base = FullDomainRecoding(table, [0] * len(table.quasi_identifiers), nothing, nothing)
    shape = (table.combinations, len(table.quasi_identifiers))
    blanks = np.array([[random.random() < 0.3 for _ in range(shape[1])] for _ in range(shape[0])])
    own: Recoding = LocalSuppressionRecoding(table, base, blanks)
    weights = np.array([attribute.weight for attribute in table.quasi_identifiers])
    hides = np.array([attribute.hierarchy.leaves > 1 for attribute in table.quasi_identifiers])
    cost = np.where(blanks.all(axis=1)[:, None], 1.0, blanks & hides)
    expected = float(table.counts @ cost @ weights) / table.records / weights.sum()
    assert metric("loss").value(released(own, None)) == pytest.approx(expected)
    for position, column in enumerate(own.published()):
        kept_suppressed = [column.labels[code] == "*" for code in column.codes]
        assert np.array_equal(kept_suppressed, blanks[:, position])
    single = blanks.sum(axis=1) * ~blanks.all(axis=1)
    assert own.suppressed_cells == int(single @ table.counts)


def test_labels_of_sets_and_intervals() -> None:
    column_of = build.column("age", [17, 20, 25, None], numeric=True)[0]
    paths = {value: (str(value), "*") for value in (17, 19, 20, 25, 90)} | {None: ("<missing>", "*")}
    tree, leaf = build.hierarchy(paths, "age")
    leaves = np.array([leaf[value] for value in (17, 20, 25, None)], dtype=np.int32)
    age = QuasiIdentifier(column_of, tree, leaves, 1.0, 0, 1)
    found = interval_column(
        age, np.array([0, 1, 2, 3], dtype=np.int32), np.array([2, 1, 3, 3], dtype=np.int32)
    )
    labels = [found.labels[code] for code in found.codes]
    assert labels == ["[17, 25]", "20", "*", "<missing>"]
    assert found.values.leaves is not None
    # 19 is a leaf of the hierarchy that no record has.
    assert [int(found.values.leaves[code]) for code in found.codes] == [4, 1, 6, 1]
    regions = np.array([0, 0, 1, 1, 2], dtype=np.int64)
    sets = set_column(age, regions, np.array([0, 2, 0, 2, 3], dtype=np.int32), 3)
    assert [sets.labels[code] for code in sets.codes] == ["{17, 25}", "{17, 25}", "<missing>"]
    assert sets.codes[0] == sets.codes[1]


def test_a_table_splits_into_parts_of_the_same_records() -> None:
    table: Table = build.table(strategies.table(Random(1)))
    owner = np.repeat(np.arange(table.combinations), 2)
    counts = np.zeros(len(owner), dtype=np.int64)
    counts[::2] = table.counts
    parts = table.split(owner, counts)
    assert parts.records == table.records
    assert np.array_equal(parts.codes[::2], table.codes)
