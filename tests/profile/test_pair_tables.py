"""Tables of pairs by bundles of columns, against counting each pair by itself."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.profile.combinations import bundles, pair_tables
from tests.helpers.examples import quickly


@st.composite
def coded(draw: st.DrawFn) -> dict[str, np.ndarray]:
    """Return columns of codes, each as narrow as its codes allow; some have one code only, some hundreds."""
    widths = draw(st.lists(st.sampled_from([1, 2, 3, 5, 17, 255, 256, 300]), min_size=1, max_size=6))
    records = draw(st.integers(1, 60))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    found = {}
    for number, width in enumerate(widths):
        codes = generator.integers(0, width, records)
        codes[0] = width - 1
        found[f"c{number}"] = codes.astype(np.min_scalar_type(width))
    return found


@quickly(60, 15)
@given(coded(), st.sampled_from([0, 1, 4, 16, 60, 255, 1000]), st.sampled_from([40, 1000, 1 << 22]))
def test_every_pair_has_its_table_once(columns: dict[str, np.ndarray], most: int, cells: int) -> None:
    widths = {name: int(codes.max()) + 1 for name, codes in columns.items()}
    found = list(pair_tables(widths, columns.__getitem__, most, cells))
    names = list(columns)
    pairs = [(one, other) for place, one in enumerate(names) for other in names[place + 1 :]]
    few = [pair for pair in pairs if widths[pair[0]] * widths[pair[1]] <= max(cells, most)]
    assert {pair for pair, _ in found} <= set(few)
    assert {pair for pair, _ in found} >= {pair for pair in few if widths[pair[0]] * widths[pair[1]] <= cells}
    assert len({pair for pair, _ in found}) == len(found)
    for (one, other), table in found:
        expected = np.zeros((widths[one], widths[other]), dtype=np.int64)
        np.add.at(expected, (columns[one], columns[other]), 1)
        np.testing.assert_array_equal(table, expected)


@given(st.lists(st.integers(1, 400), max_size=12), st.integers(0, 255))
def test_bundles_hold_every_column_once_and_are_no_wider_than_asked(sizes: list[int], most: int) -> None:
    widths = {f"c{number}": size for number, size in enumerate(sizes)}
    found = bundles(widths, most)
    assert sorted(name for names in found for name in names) == sorted(widths)
    assert all(len(names) == 1 or np.prod([widths[name] for name in names]) <= most for names in found)
    assert bundles(dict(reversed(widths.items())), most) == found
