"""Rows that are published alike as one: what follows from a release is the same."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from anonymizer.core.recoding import FullDomainRecoding, Recoding
from anonymizer.core.released import released
from tests import strategies
from tests.helpers import build
from tests.helpers.recodings import highest, levels_between, lowest, node


def published_rows(recoding: Recoding) -> Counter[tuple[object, ...]]:
    table = recoding.table
    columns = [[own.labels[code] for code in own.codes] for own in recoding.published()]
    sensitive = [table.sensitive_codes(name).tolist() for name in table.sensitive_names]
    fates = zip(recoding.suppressed.tolist(), recoding.removed.tolist(), strict=True)
    found: Counter[tuple[object, ...]] = Counter()
    rows = zip(*columns, *sensitive, fates, table.counts.tolist(), strict=True)
    for *row, records in rows:
        found[tuple(row)] += records
    return found


@given(random=st.randoms(use_true_random=False))
def test_merged_rows_publish_the_same(random: Random) -> None:
    data = strategies.table(random)
    levels = levels_between(random, lowest(data), highest(data))
    found = node(random, data, levels, random.choice((None, 1, 2, 3)))
    assume(found is not None)
    recoding = found.released(build.table(data)).recoding
    merged = recoding.merged
    assert published_rows(merged) == published_rows(recoding)
    assert merged.levels == recoding.levels
    rows = np.column_stack([merged.table.codes, merged.suppressed, merged.removed])
    assert len(np.unique(rows, axis=0)) == len(rows) <= recoding.table.combinations
    own = released(recoding, 2)
    expected = sorted(len(rows) for rows in found.classes if rows[0] not in found.suppressed)
    assert sorted(own.class_sizes.tolist()) == expected
    assert own.suppressed == len(found.suppressed)


class _Finer(FullDomainRecoding):
    """Tells rows apart by more than their nodes."""


def test_a_recoding_that_tells_more_apart_is_left_as_it_is() -> None:
    table = build.table(strategies.table(Random(1)))
    nothing = np.zeros(table.combinations, dtype=np.bool_)
    recoding = _Finer(table, [0] * len(table.quasi_identifiers), nothing, nothing)
    assert recoding.merged is recoding
