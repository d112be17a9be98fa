from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.model.arrays import Packing, count_keys, rank

SIZES = st.sampled_from([1, 2, 3, 1000, 2**20, 2**31 - 1])


@st.composite
def codes_of_records(draw: st.DrawFn) -> tuple[list[int], list[tuple[int, ...]]]:
    """Return sizes of columns and records of codes, some of them equal and some at the end of what fits."""
    sizes = draw(st.lists(SIZES, min_size=1, max_size=9))
    record = st.tuples(
        *(st.one_of(st.just(size - 1), st.just(0), st.integers(0, size - 1)) for size in sizes)
    )
    distinct = draw(st.lists(record, min_size=1, max_size=8))
    return sizes, draw(st.lists(st.sampled_from(distinct), min_size=1, max_size=30))


@settings(max_examples=100, deadline=None)
@given(codes_of_records())
def test_packed_records_are_counted_in_their_order(
    given_records: tuple[list[int], list[tuple[int, ...]]],
) -> None:
    sizes, records = given_records
    packing = Packing(len(records))
    for column, size in enumerate(sizes):
        packing.add(np.array([record[column] for record in records], dtype=np.int32), size)
    keys = packing.take_keys()
    ranks, ranked = rank(keys)
    distinct, counts = count_keys(keys.copy())
    assert distinct.tolist() == ranked.tolist()
    codes = packing.unpack(distinct)
    assert (codes.dtype, counts.dtype, ranks.dtype) == ("int32", "int64", "int32")
    expected = Counter(records)
    assert list(map(tuple, codes.tolist())) == sorted(expected)
    assert counts.tolist() == [expected[each] for each in sorted(expected)]
    assert [tuple(codes[number].tolist()) for number in ranks] == records


def test_columns_lie_in_one_piece_each() -> None:
    packing = Packing(3)
    for _ in range(2):
        packing.add(np.array([2, 0, 1], dtype=np.int32), 3)
    codes = packing.unpack(packing.take_keys())
    assert codes.tolist() == [[2, 2], [0, 0], [1, 1]]
    assert codes[:, 1].flags.c_contiguous
