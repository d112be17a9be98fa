"""The parts of linkage: coverage of texts, gaps between values and texts, and links."""

from __future__ import annotations

from math import comb
from random import Random

import numpy as np
import pytest
from hypothesis import given

from anonymizer.adversary.candidate import adversary_of, published_table
from anonymizer.attacks.base import clopper_pearson, draw_sample
from anonymizer.attacks.coverage import meaning_of
from anonymizer.attacks.joins import CoveringJoin
from anonymizer.attacks.links import largest_links, located, possible_links
from anonymizer.model.adversary import ValueCoverage
from anonymizer.model.recoding import NodeRecoding
from anonymizer.model.table import Table
from tests import strategies
from tests.helpers import build
from tests.helpers.examples import share
from tests.helpers.linkage import TREE, attribute, linkage
from tests.twins.linkage import exact_linkage
from tests.twins.microdata import Microdata


def stands_for(meaning: ValueCoverage) -> list[list[str]]:
    parts = np.split(meaning.values, meaning.starts[1:-1])
    return [[meaning.column.texts[code] for code in part] for part in parts]


def test_coverage_of_texts():
    meaning = meaning_of(
        attribute([1, 2, 5, 9, None]), ["*", None, "<missing>", "", "2", "[2, 9]", "{1, 5}", "3.5", "?"]
    )
    numbers = ["1", "2", "5", "9"]
    assert stands_for(meaning) == [
        [*numbers, "<missing>"],
        ["<missing>"],
        ["<missing>"],
        ["<missing>"],
        ["2"],
        numbers[1:],
        ["1", "5"],
        [],
        [],
    ]
    assert meaning.low.tolist()[4:8] == [2, 2, 1, 3.5]
    assert meaning.high.tolist()[4:8] == [2, 9, 5, 3.5]
    assert np.isnan(meaning.low[[1, 2, 3, 8]]).all()
    assert meaning.covers(np.array([1, 0]), np.array([5, 5])).tolist() == [True, False]


def test_nodes_sets_and_values_of_texts_are_read():
    own = attribute(["a", "b", "c", "d"], TREE)
    assert stands_for(meaning_of(own, ["ab", "c", "{a, d}"])) == [["a", "b"], ["c"], ["a", "d"]]
    odd = attribute(["a, b", "c", "x\\"])
    assert stands_for(meaning_of(odd, ["{a\\, b, c}", "{c, x\\\\}"])) == [["a, b", "c"], ["c", "x\\"]]


def test_a_label_of_several_levels_is_read_at_its_level_or_at_all_of_them():
    paths = {"a": ("a", "a", "*"), "b": ("b", "a", "*"), "c": ("c", "c", "*")}
    own = attribute(["a", "b", "c"], paths)
    assert stands_for(meaning_of(own, ["a", "c"])) == [["a", "b"], ["c"]]
    assert stands_for(meaning_of(own, ["a", "c"], level=0)) == [["a"], ["c"]]
    assert stands_for(meaning_of(own, ["a", "c"], level=1)) == [["a", "b"], ["c"]]
    assert stands_for(meaning_of(own, ["a", "b", "c"])) == [["a", "b"], ["b"], ["c"]]
    # As local recoding tells the two apart.
    assert stands_for(meaning_of(own, ["a (level 1)", "c"])) == [["a", "b"], ["c"]]


def test_dates_are_read():
    import dataclasses

    from anonymizer.model.table import ValueType

    own = attribute([738000, 738100, 738200])
    texts = ("2021-07-25", "2021-11-02", "2022-02-10")
    column = dataclasses.replace(own.column, type=ValueType.DATE, texts=texts)
    dated = dataclasses.replace(own, column=column)
    meaning = meaning_of(dated, ["[2021-07-25, 2021-12-31]", "2021-11-02", "2021-02-30"])
    assert stands_for(meaning) == [list(texts[:2]), [texts[1]], []]


@given(strategies.randoms())
def test_the_join_finds_all_pairs_that_cover(random: Random):
    width = random.randint(1, 3)
    own = [attribute(["a", "b", "c", "d"], TREE) for _ in range(width)]
    labels = ["a", "b", "c", "d", "ab", "cd", "*", "{a, c}"]
    meanings = [meaning_of(each, labels) for each in own]
    original = np.array([[random.randrange(4) for _ in own] for _ in range(12)])
    published = np.array([[random.randrange(8) for _ in own] for _ in range(15)])
    expected = {
        (i, j)
        for i, codes in enumerate(original)
        for j, texts in enumerate(published)
        if all(
            code in meaning.values[meaning.starts[text] : meaning.starts[text + 1]]
            for meaning, code, text in zip(meanings, codes, texts, strict=True)
        )
    }
    found = [
        (int(block[i]), int(j))
        for block, pairs in CoveringJoin(meanings, published).blocks(original)
        for i, j in zip(pairs.original, pairs.published, strict=True)
    ]
    assert len(found) == len(set(found))
    assert set(found) == expected


def test_a_join_of_many_pairs_goes_by_smaller_blocks(monkeypatch):
    monkeypatch.setattr("anonymizer.attacks.joins.PAIRS", 4)
    meanings = [meaning_of(attribute(["a", "b", "c", "d"], TREE), ["*", "ab"])] * 2
    original = np.array([[i, j] for i in range(4) for j in range(4)])
    blocks = list(CoveringJoin(meanings, np.array([[0, 0], [0, 1], [1, 1]])).blocks(original))
    assert len(blocks) > 1
    assert sum(len(pairs.original) for _, pairs in blocks) == 16 + 8 + 4


@given(strategies.randoms())
def test_a_reconstructed_truth_is_feasible(random: Random):
    meanings = [meaning_of(attribute(["a", "b", "c", "d"], TREE), ["a", "b", "c", "d", "ab", "cd", "*"])] * 2
    people = [(random.randrange(4), random.randrange(4)) for _ in range(random.randint(1, 15))]
    texts = [
        tuple(random.choice((code, 4 + code // 2, 6)) for code in person)
        for person in people
        if random.random() < 0.9
    ]
    if not texts:
        return
    codes, records = np.unique(people, axis=0, return_counts=True)
    published, sizes = np.unique(texts, axis=0, return_counts=True)
    links = largest_links(possible_links(meanings, codes, published), records, sizes)
    assert links.records == len(texts)
    assert np.bincount(links.release, weights=links.counts).tolist() == sizes.tolist()
    assert (np.bincount(links.original, weights=links.counts, minlength=len(records)) <= records).all()
    for position, meaning in enumerate(meanings):
        assert meaning.covers(codes[links.original, position], published[links.release, position]).all()


def ways(possible: list[tuple[int, int]], records: list[int], released: list[int], place: int = 0) -> int:
    """Return in how many ways every released record is one of the records that fit it."""
    if place == len(released):
        return 1
    if not released[place]:
        return ways(possible, records, released, place + 1)
    fit = [row for row, target in possible if target == place and records[row]]
    found = 0
    for position, row in enumerate(fit):
        # Of equal records it does not matter which: those of later rows fill up what earlier ones leave.
        left = [number - (each == row) for each, number in enumerate(records)]
        later = [each for each in possible if each[1] != place or each[0] in fit[position:]]
        less = [number - (each == place) for each, number in enumerate(released)]
        found += ways(later, left, less, place)
    return found


@given(strategies.randoms())
def test_links_are_forced_where_no_others_fit(random: Random):
    rows, targets = random.randint(1, 4), random.randint(1, 4)
    records = [random.randint(1, 2) for _ in range(rows)]
    released = [0] * targets
    possible = set()
    for row, number in enumerate(records):
        for _ in range(number):
            if random.random() < 0.9:
                target = random.randrange(targets)
                released[target] += 1
                possible.add((row, target))
    if random.random() < 0.7:
        possible |= {(random.randrange(rows), random.randrange(targets)) for _ in range(random.randint(0, 4))}
    seen = [target for target in range(targets) if released[target]]
    pairs = sorted((row, seen.index(target)) for row, target in possible if target in seen)
    released = [released[target] for target in seen]
    if not released:
        return
    sources, ends = np.array(pairs, dtype=np.int64).T
    links = largest_links((sources, ends), np.array(records), np.array(released))
    assert links.records == sum(released)
    # Of a row that is released in part, or in several parts, one record may stand for another.
    whole = [records[row] for row in links.original.tolist()] == links.counts.tolist()
    assert links.forced == (ways(pairs, records, released) == 1 and whole)


def test_rows_are_located():
    known = np.array([[0, 3], [2, 1]])
    assert located(np.array([[2, 1], [0, 0], [-1, 3], [0, 3]]), known).tolist() == [1, -1, -1, 0]


def test_the_interval_holds_its_level_for_rare_successes():
    low, high = clopper_pearson(2, 50)
    assert sum(comb(50, i) * low**i * (1 - low) ** (50 - i) for i in range(2, 51)) == pytest.approx(0.025)
    assert sum(comb(50, i) * high**i * (1 - high) ** (50 - i) for i in range(3)) == pytest.approx(0.025)
    assert clopper_pearson(0, 10)[0] == 0
    assert clopper_pearson(10, 10)[1] == 1
    assert clopper_pearson(2, 50) < clopper_pearson(2.5, 50) < clopper_pearson(3, 50)


def test_records_are_drawn_without_replacement():
    counts = np.array([3, 0, 5, 1])
    own = draw_sample(counts, 4, np.random.default_rng(1))
    assert own.sum() == 4
    assert (own <= counts).all()
    assert draw_sample(counts, 9, np.random.default_rng(1)).tolist() == counts.tolist()


def local_recoding(random: Random, data: Microdata, table: Table) -> NodeRecoding:
    """Return a recoding in which every combination has nodes of its own."""
    nodes = np.empty((table.combinations, len(table.quasi_identifiers)), dtype=np.int32)
    for position, own in enumerate(table.quasi_identifiers):
        for row, code in enumerate(table.quasi_identifier_codes(position)):
            nodes[row, position] = own.nodes(random.randint(0, own.hierarchy.height))[code]
    removed = np.array([random.random() < 0.1 for _ in range(table.combinations)])
    removed[0] = False
    return NodeRecoding(table, nodes, removed, removed)


@share(3)
@given(strategies.randoms())
def test_on_a_local_recoding_the_narrowest_class_is_taken(random: Random):
    data = strategies.table(random, most=15)
    table = build.table(data)
    recoding = local_recoding(random, data, table)
    release = published_table("x", recoding)
    meanings = [
        meaning_of(own, labels) for own, labels in zip(table.quasi_identifiers, release.labels, strict=True)
    ]
    covered = [
        dict(zip(labels, stands_for(each), strict=True))
        for labels, each in zip(release.labels, meanings, strict=True)
    ]
    columns = recoding.published()
    original, released, became = [], [], []
    for row, count in enumerate(table.counts):
        values = [
            own.column.texts[code]
            for own, code in zip(table.quasi_identifiers, table.codes[row], strict=False)
        ]
        for _ in range(count):
            original.append(values)
            became.append(None if recoding.removed[row] else len(released))
            if not recoding.removed[row]:
                released.append([column.labels[column.codes[row]] for column in columns])
    expected = exact_linkage(
        original,
        released,
        became,
        lambda i, text, own: own in covered[i][text],
        lambda i, text: len(covered[i][text]),
    )
    assert linkage(adversary_of(table, recoding)).success == pytest.approx(float(expected), abs=1e-12)
