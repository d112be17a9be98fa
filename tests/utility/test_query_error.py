"""Count queries asked of a release and of its originals."""

from __future__ import annotations

from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.utility.query_error import QueryShape, random_query
from tests.attacks.published import FEWER
from tests.helpers.build import column
from tests.twins.utility import expected
from tests.utility.cases import NAMES, Case, cases, identity, kept_suppressed, random_rows, taken

COLUMNS = {
    "age": column("age", [*range(20), None], numeric=True)[0],
    "town": column("town", [f"t{place}" for place in range(7)], numeric=False)[0],
    "sex": column("sex", ["f", "m"], numeric=False)[0],
    "illness": column("illness", ["a", "b", "c"], numeric=False)[0],
    "income": column("income", ["x", "y"], numeric=False)[0],
}


@FEWER
@given(cases(), st.integers(0, 99))
def test_errors_are_those_of_the_records(case: Case, seed: int) -> None:
    comparison = case.comparison
    found = taken("query-error", comparison, seed, queries=9, dimensions=2, selectivity=0.1, sanity=0.3)
    random, errors, few = np.random.default_rng(seed), [], 0
    for _ in range(9):
        query = random_query(comparison.columns, (NAMES[:2], NAMES[2:]), QueryShape(2, 0.1), random)
        sets = {
            NAMES.index(name): {
                row[NAMES.index(name)]
                for row in case.rows
                if wanted[comparison.columns[name].texts.index(str(row[NAMES.index(name)]))]
            }
            for name, wanted in query.wanted.items()
        }
        true, own = expected(case.original, sets), expected(case.published, sets)
        few += true < 0.3 * len(case.rows)
        errors.append(float(abs(own - true) / max(float(true), 0.3 * len(case.rows))))
    assert found.value == pytest.approx(np.median(errors))
    assert found.details["mean"] == pytest.approx(np.mean(errors))
    assert found.details["below_sanity"] == few
    points = found.details["ecdf"]
    assert [share for _, share in points] == pytest.approx([step / 20 for step in range(21)])
    assert points[0][0] == pytest.approx(min(errors))
    assert points[-1][0] == pytest.approx(max(errors))


def test_by_hand() -> None:
    """One of two ages and one of two towns is asked for: one of four is expected of mere stars."""
    rows = [(20, "A", "flu"), (20, "A", "flu"), (30, "B", "flu"), (30, "B", "flu")]
    found = taken("query-error", kept_suppressed(rows).comparison, queries=50, dimensions=2, selectivity=0.01)
    # Truly there are two, an error of a half, or none, which counts as 0.001 of 4 records.
    assert {round(error, 6) for error, _ in found.details["ecdf"]} <= {0.5, 250}
    assert found.value == pytest.approx(found.suppressed)
    assert found.details["mean"] == pytest.approx(found.details["mean_suppressed"])


def test_an_untouched_release_answers_exactly() -> None:
    found = taken("query-error", identity(random_rows(500, 1)).comparison)
    assert (found.value, found.details["mean"], found.details["ecdf"][-1][0]) == (0, 0, 0)
    assert found.suppressed > 0
    assert (found.details["queries"], found.details["complete"]) == (1000, True)


def test_a_release_that_says_nothing_errs_as_far() -> None:
    found = taken("query-error", kept_suppressed(random_rows(500, 2)).comparison, queries=100)
    assert found.value == pytest.approx(found.suppressed)


def test_answers_get_worse_with_every_step() -> None:
    rows = random_rows(2000, 3)
    halves: list[tuple[str, ...] | None] = [
        ("[20, 30]" if row[0] < 41 else "[41, 57]", str(row[1]), str(row[2])) for row in rows
    ]
    errors = [
        taken("query-error", each.comparison, queries=300, selectivity=0.01).details["mean"]
        for each in (identity(rows), Case(rows, halves), kept_suppressed(rows))
    ]
    assert errors[0] < errors[1] < errors[2]


def test_removed_records_are_missing_from_the_answers() -> None:
    rows = [(20, "A", "flu")] * 4
    case = Case(rows, [("20", "A", "flu")] * 3 + [None])
    assert taken("query-error", case.comparison, queries=5).value == pytest.approx(0.25)


@given(st.integers(0, 1000), st.integers(1, 5), st.floats(0.001, 1))
def test_queries_are_as_described(seed: int, dimensions: int, selectivity: float) -> None:
    names = (("age", "town", "sex"), ("illness", "income"))
    query = random_query(
        COLUMNS, names, QueryShape(dimensions, selectivity), np.random.default_rng(seed)
    ).wanted
    chosen = [name for name in query if name in names[0]]
    assert len(chosen) == min(dimensions, 3)
    assert sum(name in names[1] for name in query) == 1
    share = selectivity ** (1 / len(query))
    for name, wanted in query.items():
        present = len(COLUMNS[name].present)
        assert wanted.sum() == max(1, ceil(present * share))
        if name == "age":
            places = np.flatnonzero(wanted)
            assert places[-1] < present
            assert places[-1] - places[0] + 1 == len(places)


def test_all_ranges_and_sets_are_asked_for() -> None:
    random = np.random.default_rng(4)
    shape = QueryShape(1, 0.25)
    drawn = [random_query(COLUMNS, (("age", "sex"), ("illness",)), shape, random).wanted for _ in range(600)]
    starts = {int(np.flatnonzero(each["age"])[0]) for each in drawn if "age" in each}
    assert starts == set(range(11))
    assert {tuple(each["sex"].tolist()) for each in drawn if "sex" in each} == {(True, False), (False, True)}
    assert {tuple(each["illness"].tolist()) for each in drawn} == {
        (True, True, False),
        (True, False, True),
        (False, True, True),
    }


def test_without_a_sensitive_attribute() -> None:
    query = random_query(COLUMNS, (("age", "sex"), ()), QueryShape(3, 0.25), np.random.default_rng(0)).wanted
    assert sorted(query) == ["age", "sex"]
    assert query["age"].sum() == 10


def test_when_time_is_over_what_was_asked_is_reported() -> None:
    comparison = kept_suppressed(random_rows(500, 2)).comparison
    cut = taken("query-error", comparison, seconds=1e-9)
    assert (cut.details["queries"], cut.details["complete"]) == (1, False)
    assert cut.value == taken("query-error", comparison, queries=1).value
    pairs = taken("pair-distance", comparison, seconds=1e-9)
    assert (pairs.details["pairs"], pairs.details["complete"]) == (1, False)


def test_the_same_queries_whatever_was_released() -> None:
    rows = random_rows(300, 6)
    one, other = (
        taken("query-error", identity(rows).comparison),
        taken("query-error", kept_suppressed(rows).comparison),
    )
    assert one.suppressed == other.suppressed
