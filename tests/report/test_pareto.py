"""Which points no other beats, against comparing each with each."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.report.comparison import frontier, pareto_optimal

# Few values, so that ties are frequent.
SHARES = st.sampled_from([0.0, 0.1, 0.1 + 1e-15, 0.2, 0.3, 0.5, 1.0])
POINTS = st.lists(
    st.tuples(SHARES, SHARES, SHARES).map(lambda each: (each[0], *sorted(each[1:]))), max_size=9
)


def same(one: float, other: float) -> bool:
    return abs(one - other) < 1e-9


def beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Say whether one point (loss, low, high) surely is no worse in both and better in one: by the words."""
    loss, _, high = one
    other_loss, other_low, _ = other
    loses_no_more = loss < other_loss or same(loss, other_loss)
    risks_no_more = high < other_low or same(high, other_low)
    loses_less = loss < other_loss and not same(loss, other_loss)
    risks_less = high < other_low and not same(high, other_low)
    return loses_no_more and risks_no_more and (loses_less or risks_less)


@given(POINTS)
def test_unbeaten_is_what_brute_force_finds(points: list[tuple[float, float, float]]) -> None:
    expected = [not any(beats(other, point) for other in points) for point in points]
    columns = np.array(points, dtype=np.float64).reshape(-1, 3).T
    assert pareto_optimal(*columns).tolist() == expected


@given(POINTS.filter(bool))
def test_what_is_beaten_is_beaten_by_an_unbeaten_one(points: list[tuple[float, float, float]]) -> None:
    keep = pareto_optimal(*np.array(points).T)
    assert keep.any()
    best = [point for point, kept in zip(points, keep, strict=True) if kept]
    for point, kept in zip(points, keep, strict=True):
        assert kept != any(beats(other, point) for other in best)


@given(st.lists(st.tuples(SHARES, SHARES), max_size=9))
def test_without_intervals_it_is_the_order_of_pareto(points: list[tuple[float, float]]) -> None:
    array = np.round(np.array(points).reshape(-1, 2), 12)
    keep = pareto_optimal(array[:, 0], array[:, 1], array[:, 1])
    for place, (loss, risk) in enumerate(array):
        better = [(a, b) for a, b in array.tolist() if a <= loss and b <= risk and (a, b) != (loss, risk)]
        assert keep[place] == (not better)
    steps = frontier(array[:, 1], array[:, 0])
    assert {tuple(array[each]) for each in steps} == {tuple(array[each]) for each in np.flatnonzero(keep)}
    assert (np.diff(array[steps, 1]) > 0).all()
    assert (np.diff(array[steps, 0]) < 0).all()
