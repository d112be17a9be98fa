"""Units of items, against sets."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given

from anonymizer.attacks.vulnerability import found_share
from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import Classes
from anonymizer.model.measure import DividedRows, Measure, Ties
from anonymizer.model.units import Units
from anonymizer.search.rollup import RollUp
from tests import strategies
from tests.helpers import build
from tests.twins.attacks import best_guess

Sets = list[set[object]]
"""The units of each item."""


def drawn(random: Random) -> tuple[Units, Sets]:
    """Return the units of some items, with all sets; each item has a record."""
    items, records = random.randint(1, 8), random.randint(0, 20)
    item_of = [*range(items), *(random.randrange(items) for _ in range(records))]
    unit_of = [random.choice((-1, *range(random.choice((1, 3, 30))))) for _ in item_of]
    sets: Sets = [set() for _ in range(items)]
    for record, (item, unit) in enumerate(zip(item_of, unit_of, strict=True)):
        sets[item].add(("record", record) if unit < 0 else unit)
    return Units.of_items(np.array(item_of), np.array(unit_of), items), sets


def groups(random: Random, items: int) -> tuple[IntArray, int]:
    number = random.randint(1, items)
    chosen = [*range(number), *(random.randrange(number) for _ in range(items - number))]
    random.shuffle(chosen)
    return np.array(chosen), number


def united(sets: Sets, group_of: IntArray, number: int) -> Sets:
    return [
        set().union(*(own for own, at in zip(sets, group_of, strict=True) if at == i)) for i in range(number)
    ]


def sizes(units: Units) -> list[int]:
    """Return the units of each item."""
    items = len(units.alone)
    return units.counted(np.arange(items), items).tolist()


@given(strategies.randoms())
def test_counts_of_groups_merged_and_chosen_items(random: Random) -> None:
    units, sets = drawn(random)
    items = len(sets)
    assert sizes(units) == [len(own) for own in sets]
    assert units.number == len(set().union(*sets))
    group_of, number = groups(random, items)
    expected = [len(own) for own in united(sets, group_of, number)]
    assert units.counted(group_of, number).tolist() == expected
    assert sizes(units.merged(group_of, number)) == expected
    chosen = np.array(random.sample(range(items), random.randint(1, items)))
    assert sizes(units.at(chosen)) == [len(sets[item]) for item in chosen]
    mask = np.isin(np.arange(items), chosen)
    assert sizes(units.at(mask)) == [len(sets[item]) for item in np.flatnonzero(mask)]
    if (~mask).any():
        both = units.at(mask).beside(units.at(~mask))
        assert both.counted(np.zeros(items, dtype=np.int64), 1).tolist() == [len(set().union(*sets))]


Records = Counter[tuple[object, int]]
"""Records of each unit in each item, or in each group of items."""


def lists_of(records: Records) -> Counter[frozenset[tuple[int, int]]]:
    """Return how many units have the same records in the same items."""
    own: dict[object, set[tuple[int, int]]] = defaultdict(set)
    for (unit, item), number in records.items():
        own[unit].add((item, number))
    return Counter(map(frozenset, own.values()))


def found_lists(units: Units, counts: IntArray) -> Counter[frozenset[tuple[int, int]]]:
    items, numbers, people, records = units.with_records(counts).one_by_one
    assert records is not None
    own: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for item, number, each in zip(items.tolist(), numbers.tolist(), records.tolist(), strict=True):
        own[number].add((item, each))
    found = Counter[frozenset[tuple[int, int]]]()
    for number, places in own.items():
        found[frozenset(places)] += int(people[number])
    return found


@pytest.mark.parametrize("spread", [1, 2**57])
@given(random=strategies.randoms())
def test_the_records_of_each_unit_in_each_item(spread: int, random: Random) -> None:
    items, number = random.randint(1, 8), random.randint(0, 20)
    item_of = [*range(items), *(random.randrange(items) for _ in range(number))]
    unit_of = [random.choice((-1, *range(random.choice((1, 3, 30))))) for _ in item_of]
    records = Records(
        (("record", place) if unit < 0 else unit, item)
        for place, (item, unit) in enumerate(zip(item_of, unit_of, strict=True))
    )
    given_items, keys = np.array(item_of), np.array([max(own, own * spread) for own in unit_of])
    units = Units.of_items(given_items, keys, items, recorded=True)
    counts = np.bincount(item_of)
    assert found_lists(units, counts) == lists_of(records)
    group_of, number = groups(random, items)
    merged = Records()
    for (unit, item), own in records.items():
        merged[unit, int(group_of[item])] += own
    assert found_lists(units.merged(group_of, number), counts) == lists_of(merged)
    chosen = np.array(random.sample(range(items), random.randint(1, items)))
    mask = np.isin(np.arange(items), chosen)
    beside = np.concatenate([np.flatnonzero(mask), np.flatnonzero(~mask)])
    both = units.at(mask).beside(units.at(~mask))
    for own, order in ((units.at(chosen), chosen), (units.at(mask), np.sort(chosen)), (both, beside)):
        place = {item: at for at, item in enumerate(order.tolist())}
        some = Records({(unit, place[item]): n for (unit, item), n in records.items() if item in place})
        assert found_lists(own, counts[order]) == lists_of(some)
    # If they were not counted, they are unknown, or follow from the records of the items.
    with suppress(ValueError):
        assert found_lists(Units.of_items(given_items, keys, items), counts) == lists_of(records)


@given(strategies.randoms())
def test_divided_rows_know_the_records_of_each_unit(random: Random) -> None:
    data = strategies.with_persons(random, strategies.problem(random)).data
    divided = build.divided_rows(data)
    known = [-place - 1 if own is None else own for place, own in enumerate(data.persons)]
    records = Records(zip(known, divided.of_record.tolist(), strict=True))
    units = divided.measure.units["person"]
    assert found_lists(units, divided.measure.records) == lists_of(records)
    group_of, number = groups(random, len(divided.measure.records))
    merged = Records()
    for (unit, row), own in records.items():
        merged[unit, int(group_of[row])] += own
    again = units.with_records(divided.measure.records)
    assert found_lists(again.merged(group_of, number), divided.measure.records) == lists_of(merged)
    counted = build.divided_rows(data, recorded=True)
    same = DividedRows.merged(np.arange(len(counted.row_of)), counted.measure)
    assert np.array_equal(same.measure.units["person"].records, again.records)
    half = np.maximum(divided.measure.records // 2, 1)
    part = again.parts(np.arange(len(half)), half, divided.measure.records)
    assert found_lists(part, half).total() <= found_lists(units, divided.measure.records).total()
    assert sum(n * own for lists, own in found_lists(part, half).items() for _, n in lists) == half.sum()


@given(strategies.randoms())
def test_merging_classes_never_raises_what_one_guess_finds(random: Random) -> None:
    items, number = random.randint(1, 8), random.randint(0, 30)
    item_of = [*range(items), *(random.randrange(items) for _ in range(number))]
    unit_of = [random.randrange(random.choice((2, 4, 20))) for _ in item_of]
    units = Units.of_items(np.array(item_of), np.array(unit_of), items, recorded=True)
    group_of, groups_of = groups(random, items)
    found = []
    for class_of, classes in ((np.arange(items), items), (group_of, groups_of)):
        own = Classes(class_of, Measure(np.bincount(item_of), {"person": units}), classes, {})
        rows = [(int(class_of[item]),) for item in item_of]
        best = best_guess(rows, unit_of, [0])
        found.append(found_share(own.entries("person", None)))
        assert found[-1] == sum(best.values()) / len(best)
    assert found[1] <= found[0]


@pytest.mark.parametrize("spread", [1, 2**40, 2**60])
@given(random=strategies.randoms())
def test_groups_and_their_values_are_counted_together(spread: int, random: Random) -> None:
    units, sets = drawn(random)
    units = replace(units, keys=units.keys * spread, space=units.space * spread)
    group_of, number = groups(random, len(sets))
    codes, size = np.array([random.randrange(3) for _ in sets]), 3
    expected: dict[int, set[object]] = defaultdict(set)
    for own, group, code in zip(sets, group_of.tolist(), codes.tolist(), strict=True):
        expected[group * size + code] |= own
    found, entries, counts = units.counted_by_value(group_of, number, codes, size)
    assert found.tolist() == [len(own) for own in united(sets, group_of, number)]
    assert dict(zip(entries.tolist(), counts.tolist(), strict=True)) == {
        key: len(own) for key, own in expected.items()
    }
    assert entries.tolist() == sorted(expected)


@pytest.mark.parametrize("spread", [1, 2**40, 2**60])
@given(random=strategies.randoms())
def test_pairs_move_in_blocks_whatever_the_keys_are(spread: int, random: Random) -> None:
    pairs = {(random.randrange(6), random.randrange(8) * spread) for _ in range(random.randint(1, 40))}
    items, keys = np.array(sorted(pairs)).T
    units = Units(np.zeros(6, dtype=np.int64), items, keys, 8 * spread if spread < 2**60 else 2**63)
    group_of, number = groups(random, 6)
    expected = [set[int]() for _ in range(number)]
    for item, key in pairs:
        expected[group_of[item]].add(int(key))
    before = units.items.copy(), units.keys.copy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("anonymizer.model.units.BLOCK", random.randint(1, 9))
        merged = units.merged(group_of, number)
        assert units.counted(group_of, number).tolist() == [len(own) for own in expected]
    assert (np.diff(merged.items * merged.space + merged.keys) > 0).all()
    assert sizes(merged) == [len(own) for own in expected]
    assert all(map(np.array_equal, before, (units.items, units.keys)))
    several = Counter(key for own in expected for key in own)
    assert np.bincount(merged.keys).tolist() == [each for _, each in sorted(several.items()) if each > 1]


@given(strategies.randoms())
def test_a_rolled_up_table_counts_as_the_table_does(random: Random) -> None:
    data = strategies.with_persons(random, strategies.problem(random)).data
    table = build.table(data)
    lowest = [random.randint(each.minimum, each.maximum) for each in table.quasi_identifiers]
    levels = [
        random.randint(low, each.maximum) for low, each in zip(lowest, table.quasi_identifiers, strict=True)
    ]
    finest = RollUp.of(table)
    one, other = finest.classes(levels), finest.raised(lowest).classes(levels)
    assert np.array_equal(one.sizes_in("person"), other.sizes_in("person"))
    for name in table.sensitive_names:
        own, same = one.counted(name, unit="person"), other.counted(name, unit="person")
        assert np.array_equal(own.counts.counts, same.counts.counts)
        assert one.reference(name).by_unit["person"].size == other.reference(name).by_unit["person"].size


@given(strategies.randoms())
def test_ties_join_the_records_of_a_unit_and_of_no_other(random: Random) -> None:
    rows, records = random.randint(1, 6), random.randint(0, 20)
    row_of = np.array([*range(rows), *(random.randrange(rows) for _ in range(records))])
    unit_of = np.array([random.randrange(-1, random.choice((1, 4, 20))) for _ in row_of])
    items, row_of_item, ties = Ties.of_records(row_of, unit_of, rows)
    assert np.array_equal(row_of_item[items], row_of)
    group_of_row, number = groups(random, rows)
    merged, group_of_item, coarser = ties.merged(group_of_row[row_of_item], number)
    for item_of, place_of, own in (
        (items, row_of, ties),
        (merged[items], group_of_row[row_of], coarser),
    ):
        for record, item in enumerate(item_of.tolist()):
            alike = (unit_of == unit_of[record]) & (unit_of >= 0)
            alike[record] = True
            joined = own.joined(np.arange(len(own.of_item)) == item)[item_of]
            # All records of the unit, and others only if their units are alone in the same item.
            assert joined[alike].all()
            others = {int(place) for place in place_of[joined & ~alike]}
            assert others <= {int(place_of[record])}
            assert len({int(place) for place in place_of[alike]}) == 1 or not others
    assert np.array_equal(group_of_item[merged[items]], group_of_row[row_of])


@given(strategies.randoms())
def test_units_with_equal_lists_of_rows_have_equal_numbers(random: Random) -> None:
    rows, records = random.randint(1, 5), random.randint(0, 24)
    row_of = np.array([*range(rows), *(random.randrange(rows) for _ in range(records))])
    unit_of = np.array([random.randrange(-1, random.choice((1, 4, 12))) for _ in row_of])
    items, row_of_item, ties = Ties.of_records(row_of, unit_of, rows, linked=True)
    group_of_row, number = groups(random, rows)
    merged, group_of_item, coarser = ties.merged(group_of_row[row_of_item], number)
    for item_of, place_of, published, own in (
        (items, row_of, row_of_item, ties),
        (items, group_of_row[row_of], group_of_row[row_of_item], ties),
        (merged[items], group_of_row[row_of], group_of_item, coarser),
    ):
        found = own.lists(published, rows)[item_of].tolist()
        lists: dict[object, list[int]] = {}
        names = [("record", at) if unit < 0 else unit for at, unit in enumerate(unit_of.tolist())]
        for name, place in zip(names, place_of.tolist(), strict=True):
            lists.setdefault(name, []).append(place)
        expected = [tuple(sorted(lists[name])) for name in names]
        assert len(set(zip(found, expected, strict=True))) == len(set(found)) == len(set(expected))


def test_a_unit_in_two_items_counts_once_in_their_group() -> None:
    units = Units.of_items(np.array([0, 0, 1, 1]), np.array([7, 8, 7, 9]), 2)
    assert sizes(units) == [2, 2]
    assert units.counted(np.zeros(2, dtype=np.int64), 1).tolist() == [3]


def test_part_of_an_item_has_unknown_units() -> None:
    units = {"person": Units.of_items(np.array([0, 0, 0]), np.array([1, 1, 2]), 1)}
    classes = Classes(np.array([0]), Measure(np.array([3]), units), 1, {})
    with pytest.raises(ValueError, match="units cannot be counted"):
        classes.part(np.array([1]))
    with pytest.raises(ValueError, match="not divided"):
        units["person"].of_each(np.array([3]))


@given(strategies.randoms())
def test_parts_of_divided_rows_have_known_units(random: Random) -> None:
    rows, records = random.randint(1, 4), random.randint(1, 12)
    row_of = [*range(rows), *(random.randrange(rows) for _ in range(records))]
    names = {
        name: [random.choice((-1, *range(random.choice((1, 3, 30))))) for _ in row_of]
        for name in ("person", "household")
    }
    units = {name: np.array(own) for name, own in names.items()}
    divided = DividedRows.of(np.array(row_of), units)
    assert [divided.row_of[part] for part in divided.of_record] == row_of
    assert divided.measure.records.tolist() == np.bincount(divided.of_record).tolist()
    # Any records of a part can be taken: here the first ones.
    taken = [random.randint(1, int(own)) for own in divided.measure.records]
    chosen = np.array(sorted(random.sample(range(len(taken)), random.randint(1, len(taken)))))
    group_of, number = groups(random, len(chosen))
    for name, own in names.items():
        sets: Sets = [set() for _ in range(number)]
        for part, group in zip(chosen.tolist(), group_of, strict=True):
            for record in np.flatnonzero(divided.of_record == part)[: taken[part]].tolist():
                sets[group].add(("record", record) if own[record] < 0 else own[record])
        counts = np.array(taken)[chosen]
        parts = divided.measure.units[name].parts(chosen, counts, divided.measure.records)
        assert parts.counted(group_of, number).tolist() == [len(each) for each in sets]
        again = Units.of_parts(parts.of_each(counts), counts)
        assert again.counted(group_of, number).tolist() == [len(each) for each in sets]


@given(strategies.randoms())
def test_the_most_values_of_a_unit(random: Random) -> None:
    units, sets = drawn(random)
    codes = np.array([random.randrange(4) for _ in sets])
    found: dict[object, set[int]] = {}
    for own, code in zip(sets, codes.tolist(), strict=True):
        for unit in own:
            found.setdefault(unit, set()).add(code)
    assert units.most_values(codes) == max(map(len, found.values()))
