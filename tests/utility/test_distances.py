"""Distances between distributions before and after."""

from __future__ import annotations

import numpy as np
import pytest
import scipy  # scipy.stats, which takes a second to load, is loaded where it is used
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.utility.base import total_variation
from anonymizer.utility.marginal_distance import earth_movers
from anonymizer.utility.pair_distance import binned
from tests.attacks.published import FEWER
from tests.helpers.build import column
from tests.twins import utility as twin
from tests.utility.cases import NAMES, Case, cases, identity, kept_suppressed, random_rows, taken

FEW = st.lists(st.integers(0, 9), min_size=4, max_size=4)


@FEWER
@given(cases())
def test_marginals_are_those_of_the_records(case: Case) -> None:
    found = taken("marginal-distance", case.comparison)
    own = [float(twin.total_variation(case.original, case.published, [place])) for place in range(3)]
    assert [each["attribute"] for each in found.details["attributes"]] == list(NAMES)
    assert [each["total_variation"] for each in found.details["attributes"]] == pytest.approx(own)
    assert found.value == pytest.approx((own[0] + own[1]) / 2)


@FEWER
@given(cases())
def test_pairs_are_those_of_the_records(case: Case) -> None:
    found = taken("pair-distance", case.comparison)
    own = {
        (NAMES[one], NAMES[other]): float(twin.total_variation(case.original, case.published, [one, other]))
        for one, other in ((0, 1), (0, 2), (1, 2))
    }
    listed = {tuple(each["attributes"]): each["total_variation"] for each in found.details["farthest"]}
    assert listed == pytest.approx(own)
    assert found.value == pytest.approx(sum(own.values()) / 3)
    assert found.details["complete"]


@FEWER
@given(cases())
def test_a_pair_is_not_nearer_than_its_attributes(case: Case) -> None:
    comparison = case.comparison
    alone = {
        each["attribute"]: each["total_variation"]
        for each in taken("marginal-distance", comparison).details["attributes"]
    }
    for each in taken("pair-distance", comparison).details["farthest"]:
        assert each["total_variation"] >= max(alone[name] for name in each["attributes"]) - 1e-9


def test_by_hand() -> None:
    """Ages 20, 20, 30 as 20 and * twice: 2 and 1 against 1 + 1 and 1 of 3; towns all but one right."""
    rows = [(20, "A", "flu"), (20, "A", "gout"), (30, "B", "flu")]
    case = Case(rows, [("20", "A", "flu"), ("*", "{A, B}", "gout"), ("*", "B", "flu")])
    found = taken("marginal-distance", case.comparison)
    age, town, ill = found.details["attributes"]
    assert age["total_variation"] == 0
    assert town["total_variation"] == pytest.approx(1 / 6)
    assert town["earth_movers"] is None
    assert ill["total_variation"] == 0
    assert age["suppressed"]["total_variation"] == pytest.approx(1 / 6)
    assert age["suppressed"]["earth_movers"] == pytest.approx(1 / 6)
    assert (found.untouched, found.records, found.smaller_is_better) == (0, 3, True)


@pytest.mark.parametrize("name", ["marginal-distance", "pair-distance"])
def test_an_untouched_release_is_at_no_distance(name: str) -> None:
    found = taken(name, identity(random_rows(300, 2)).comparison)
    assert (found.value, found.untouched) == (0, 0)
    assert found.suppressed > 0


@pytest.mark.parametrize("name", ["marginal-distance", "pair-distance"])
def test_a_release_that_says_nothing_is_as_far_as_one_can_be(name: str) -> None:
    found = taken(name, kept_suppressed(random_rows(300, 3)).comparison)
    assert found.value == pytest.approx(found.suppressed)


def test_removed_records_count_for_nothing() -> None:
    """Half of all alike: the shares are the same."""
    rows = [(20, "A", "flu"), (30, "B", "gout")] * 4
    case = Case(rows, [(str(row[0]), row[1], row[2]) for row in rows[:4]] + [None] * 4)
    assert taken("marginal-distance", case.comparison).value == 0


@given(FEW, FEW)
def test_earth_movers_is_scipy_s(one: list[int], other: list[int]) -> None:
    numbers = [1, 2, 5, 11]
    own, _ = column("x", numbers, numeric=True)
    found = earth_movers(own, np.array(one, dtype=float), np.array(other, dtype=float))
    if not sum(one) or not sum(other):
        assert found is None
    else:
        assert found == pytest.approx(scipy.stats.wasserstein_distance(numbers, numbers, one, other) / 10)


def test_earth_movers_leaves_missing_values_out() -> None:
    own, _ = column("x", [1, 3, None], numeric=True)
    assert earth_movers(own, np.array([1.0, 1, 8]), np.array([0.0, 2, 0])) == 0.5
    assert earth_movers(own, np.array([1.0, 1, 8]), np.array([0.0, 0, 2])) is None
    alone, _ = column("x", [7, 7], numeric=True)
    assert earth_movers(alone, np.array([2.0]), np.array([1.0])) == 0


def test_a_text_that_covers_nothing_is_a_separate_value() -> None:
    """One of two towns is unknown: half of the records would have to change."""
    rows = [(20, "A", "flu"), (30, "B", "flu")]
    case = Case(rows, [("20", "Atlantis", "flu"), ("30", "B", "flu")])
    entries = taken("marginal-distance", case.comparison).details["attributes"]
    assert [each["total_variation"] for each in entries] == [0, 0.5, 0]


def test_total_variation_without_records() -> None:
    nobody = np.zeros(2)
    assert total_variation(nobody, nobody, (0, 0)) == 0
    assert total_variation(np.array([1.0, 1.0]), nobody, (2, 0)) == 1


@given(st.lists(st.integers(1, 30), min_size=1, max_size=60), st.integers(2, 12), st.booleans())
def test_bins(records: list[int], most: int, numeric: bool) -> None:
    values = list(range(len(records))) if numeric else [f"v{place:03}" for place in range(len(records))]
    own, _ = column("x", values, numeric=numeric)
    bins = binned(own, np.array(records, dtype=float), most)
    assert bins.number <= max(most, 1)
    assert sorted(set(bins.of_value.tolist())) == list(range(bins.number))
    if len(records) <= most:
        assert bins.number == len(records)
    elif numeric:
        assert (np.diff(bins.of_value) >= 0).all()
        full = np.bincount(bins.of_value, weights=records)
        assert full.max() <= sum(records) / most + 2 * max(records)
    else:
        alone = [records[place] for place in np.flatnonzero(bins.of_value < most - 1)]
        rest = [records[place] for place in np.flatnonzero(bins.of_value == most - 1)]
        assert min(alone) >= max(rest)


def test_missing_numbers_have_a_bin_of_their_own() -> None:
    own, _ = column("x", [*range(10), None], numeric=True)
    bins = binned(own, np.ones(11), 3)
    assert bins.number == 4
    assert bins.of_value.tolist().count(3) == 1


def test_fewer_bins_are_never_farther() -> None:
    rows = random_rows(300, 5)
    became = [(f"[{20 if row[0] < 41 else 41}, {30 if row[0] < 41 else 57}]", "*", row[2]) for row in rows]
    comparison = Case(rows, list(became)).comparison
    fine, coarse = (taken("pair-distance", comparison, bins=bins) for bins in (50, 2))
    assert coarse.value < fine.value
    assert coarse.details["bins"] == 2
