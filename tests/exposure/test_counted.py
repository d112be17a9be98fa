"""A release by its distinct rows shows what its records do, which are read only where that may matter."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.exposure import counted
from anonymizer.exposure.counted import CountedColumn, CountedRelease, Rows
from anonymizer.exposure.measure import Thresholds, exposure_of
from anonymizer.exposure.records import ReleasedColumn, ReleasedRecords
from anonymizer.model.table import Role

QUASI, SENSITIVE = Role.QUASI_IDENTIFIER, Role.SENSITIVE


def no_remedy() -> None:
    """Return none."""


def drawn(seed: int, records: int) -> ReleasedRecords:
    """Return records of a few columns, some of which follow from others or name what these hide."""
    random = np.random.default_rng(seed)
    base = random.integers(random.integers(2, 7), size=records)
    columns = []
    own: Any
    shown: Any
    numbers: Any
    for place in range(random.integers(2, 6)):
        size = int(random.integers(2, 12))
        own = random.integers(size, size=records)
        if random.random() < 0.6:
            own = base * int(random.integers(1, 3)) + int(random.integers(3))
        noise = random.random(records) < random.choice([0.0, 0.02, 0.3])
        own = np.where(noise, random.integers(size, size=records), own)
        own = np.unique(own, return_inverse=True)[1].astype(np.int32)
        role = QUASI if place < 2 or random.random() < 0.6 else SENSITIVE
        shown = own if role is SENSITIVE or random.random() < 0.3 else own // int(random.integers(2, 5))
        if role is QUASI and random.random() < 0.3:
            shown = np.where(base == 0, own, shown + 20).astype(np.int32)
        absent = int(random.integers(own.max() + 1)) if random.random() < 0.3 else None
        numbers = None
        if random.random() < 0.7:
            numbers = np.arange(own.max() + 1, dtype=np.float64) * random.integers(1, 3)
            if absent is not None:
                numbers[absent] = np.nan
        columns.append(ReleasedColumn(f"c{place}", role, shown, own, absent, numbers))
    return ReleasedRecords(tuple(columns), records, int(random.integers(2, 6)))


def by_rows(records: ReleasedRecords, seed: int) -> tuple[CountedRelease, list[bool]]:
    """Return the same by distinct rows, among them some that are removed; and whether records were read."""
    random = np.random.default_rng(seed)
    every = np.column_stack([codes for each in records.columns for codes in (each.shown, each.own)])
    distinct, counts = np.unique(every, axis=0, return_counts=True)
    others = random.permuted(distinct, axis=0)[: random.integers(len(distinct))]
    table = np.concatenate([distinct, others])
    removed = np.arange(len(table)) >= len(distinct)
    order = np.lexsort(table.T[::-1])
    table, removed = table[order], removed[order]
    rows = Rows(np.concatenate([counts, np.ones(len(others), dtype=np.int64)])[order], removed)
    read: list[bool] = []

    def whole() -> ReleasedRecords:
        read.append(True)
        return records

    def shown(place: int) -> tuple[np.ndarray, int]:
        return table[:, 2 * place].astype(np.int32), int(table[:, 2 * place].max()) + 1

    columns = tuple(
        CountedColumn(
            each.name,
            each.role,
            rows,
            table[:, 2 * place + 1].astype(np.int32),
            None if each.role is SENSITIVE else partial(shown, place),
            each.absent,
            each.numbers,
            each.days,
        )
        for place, each in enumerate(records.columns)
    )
    kept = table[~removed]
    published = replace(
        records,
        columns=tuple(
            replace(each, shown=kept[:, 2 * place].astype(np.int32), own=kept[:, 2 * place].astype(np.int32))
            for place, each in enumerate(records.columns)
        ),
        counts=rows.counts[~removed],
    )
    return CountedRelease(published, columns, rows, whole), read


@pytest.mark.hypothesis
@given(
    st.integers(0, 2**32),
    st.integers(5, 400),
    st.sampled_from([0.0, 0.05, 0.3]),
    st.sampled_from([3, 1 << 18]),
)
def test_a_release_by_distinct_rows_shows_what_its_records_do(
    seed: int, number: int, threshold: float, block: int
) -> None:
    records = drawn(seed, number)
    thresholds = Thresholds(threshold, threshold, threshold, predicts=0.8)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(counted, "BLOCK", block)
        own, _ = by_rows(records, seed)
        found, expected = exposure_of(own, thresholds), exposure_of(records, thresholds)
    assert replace(found, few=no_remedy) == replace(expected, few=no_remedy)
    few, wanted = found.few(), expected.few()
    assert few == wanted


def test_records_are_not_read_where_nothing_may_be_found() -> None:
    random = np.random.default_rng(1)
    fields = [random.integers(size, size=5_000).astype(np.int32) for size in (40, 2, 9, 3)]
    columns = [
        ReleasedColumn("age", QUASI, fields[0] // 10, fields[0], numbers=np.arange(40.0)),
        ReleasedColumn("sex", QUASI, fields[1], fields[1]),
        ReleasedColumn("job", QUASI, fields[2] // 3, fields[2]),
        ReleasedColumn("ill", SENSITIVE, fields[3], fields[3]),
    ]
    own, read = by_rows(ReleasedRecords(tuple(columns), 5_000, 5), 1)
    assert exposure_of(own, Thresholds()).findings == ()
    assert not read


def test_records_are_read_where_a_column_names_what_another_hides() -> None:
    random = np.random.default_rng(1)
    hidden = random.integers(12, size=2_000).astype(np.int32)
    columns = [
        ReleasedColumn("month", QUASI, hidden // 3, hidden),
        ReleasedColumn("sign", SENSITIVE, hidden, hidden),
    ]
    records = ReleasedRecords(tuple(columns), 2_000, 5)
    own, read = by_rows(records, 1)
    assert exposure_of(own, Thresholds()).findings == exposure_of(records, Thresholds()).findings != ()
    assert read
