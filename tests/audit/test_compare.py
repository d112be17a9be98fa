"""A file against a recoding: a mistake in merging rows, which the file shares, is noticed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given

from anonymizer.data.relation import Groups
from anonymizer.data.table import ColumnRequest, column_of
from anonymizer.errors import DataError
from anonymizer.model.recoding import FullDomainRecoding, Recoding
from anonymizer.release.classes import value_codes
from anonymizer.release.comparison import Compared, fingerprint, mismatched_records, surplus
from tests import strategies
from tests.helpers import build
from tests.helpers.recodings import highest, levels_between, lowest, node


def some_recoding(random: Random) -> Recoding:
    data = strategies.table(random)
    levels = levels_between(random, lowest(data), highest(data))
    found = node(random, data, levels, random.choice((None, 1, 2, 3)))
    assume(found is not None)
    return found.released(build.table(data)).recoding


def written(recoding: Recoding) -> Groups:
    """Return what a file of a recoding is counted as."""
    table, kept = recoding.table, ~recoding.removed
    published = recoding.published()
    sensitive = [each.column.texts for each in table.sensitive]
    codes = [own.codes for own in published]
    codes += [table.sensitive_codes(name) for name in table.sensitive_names]
    return Groups(
        (*(own.labels for own in published), *sensitive),
        np.stack(codes, axis=1)[kept].astype(np.int32),
        table.counts[kept],
    )


def rows(groups: Groups) -> Counter[tuple[str | None, ...]]:
    texts = [groups.texts(column) for column in range(len(groups.values))]
    found: Counter[tuple[str | None, ...]] = Counter()
    for row, records in zip(zip(*texts, strict=True), groups.counts.tolist(), strict=True):
        found[row] += records
    return found


@given(random=strategies.randoms())
def test_merged_rows_have_the_fingerprint_of_all(random: Random) -> None:
    recoding = some_recoding(random)
    assert fingerprint(recoding.merged) == fingerprint(recoding)


@given(random=strategies.randoms())
def test_a_row_that_is_published_once_more_has_another_fingerprint(random: Random) -> None:
    recoding = some_recoding(random)
    counts = recoding.table.counts.copy()
    counts[np.flatnonzero(~recoding.removed)[0]] += 1
    table = replace(recoding.table, measure=replace(recoding.table.measure, records=counts))
    more = FullDomainRecoding(table, recoding.levels or (), recoding.suppressed, recoding.removed)
    assert fingerprint(more) != fingerprint(recoding)


@given(random=strategies.randoms())
def test_a_file_that_was_merged_wrongly_is_not_what_was_promised(random: Random) -> None:
    recoding = some_recoding(random)
    merged = recoding.merged
    codes = merged.table.codes.copy()
    first = len(merged.table.quasi_identifiers)
    codes[:, first:] = np.roll(codes[:, first:], 1, axis=0)
    table = replace(merged.table, codes=codes)
    wrong = FullDomainRecoding(table, merged.levels or (), merged.suppressed, merged.removed)
    # What is looked up where the recoding is asked for its merged rows.
    vars(recoding)["merged"] = wrong
    groups = written(wrong)
    expected = (rows(groups) - rows(written(recoding))).total()
    assert mismatched_records("release", groups, recoding) == expected


@given(strategies.randoms())
def test_surplus_is_what_two_bags_differ_by(random: Random) -> None:
    """Also where the keys of the columns do not fit one integer."""
    width, size = random.choice(((2, 3), (3, 2**30)))
    values = [random.randrange(size) for _ in range(3)]
    drawn = [tuple(random.choice(values) for _ in range(width)) for _ in range(random.randint(2, 24))]
    half = random.randint(1, len(drawn) - 1)
    has, promised = sorted(set(drawn[:half])), drawn[half:]
    counts = [random.randint(1, 4) for _ in has]
    most = [random.randint(1, 4) for _ in promised]
    kept = [random.random() < 0.8 for _ in promised]
    places = {value: place for place, value in enumerate(sorted(set(values)))}
    codes = np.array([[places[value] for value in row] for row in has], dtype=np.int32)
    groups = Groups((tuple(map(str, sorted(places))),) * width, codes, np.array(counts))
    columns = [
        Compared(
            np.array(sorted(places), dtype=np.int64),
            np.array([row[position] for row in promised], dtype=np.int32),
            size,
        )
        for position in range(width)
    ]
    bag: Counter[tuple[int, ...]] = Counter()
    for row, records, stays in zip(promised, most, kept, strict=True):
        bag[row] += records if stays else 0
    expected = sum(max(0, records - bag[row]) for row, records in zip(has, counts, strict=True))
    assert surplus(groups, columns, np.array(kept), np.array(most)) == expected


def test_a_text_that_nobody_knows_is_no_missing_value() -> None:
    column = column_of("input", [("a", 2), ("b", 1), ("?", 1), (None, 1)], ColumnRequest("s"), ("?",)).column
    assert column.missing == 2
    assert value_codes("release", column, ["b", None, "?", "", "<missing>", "a"]).tolist() == [
        1,
        2,
        2,
        2,
        2,
        0,
    ]
    with pytest.raises(DataError, match=r"release: column 's' has a value that is not in the input: 'x'"):
        value_codes("release", column, ["a", "x"])
