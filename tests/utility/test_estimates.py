"""Expected numbers of records are those that going through the records one by one gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.utility.base import Bins, Comparison, Estimate, Query
from tests.attacks.published import FEWER
from tests.twins.utility import Cell, expected, joint
from tests.utility.cases import NAMES, Case, cases, identity, kept_suppressed, random_rows


def texts(comparison: Comparison, name: str) -> tuple[str, ...]:
    return comparison.columns[name].texts


def every(comparison: Comparison, name: str) -> Bins:
    size = comparison.columns[name].size
    return Bins(name, np.arange(size), size)


def pairs(case: Case, comparison: Comparison) -> list[tuple[Estimate, list[list[Cell]]]]:
    """Return each estimate with the rows that it should be of."""
    everywhere = kept_suppressed(case.rows)
    return [
        (comparison.original, case.original),
        (comparison.release, case.published),
        (comparison.suppressed, everywhere.published),
    ]


@FEWER
@given(cases(), st.data())
def test_queries(case: Case, data: st.DataObject) -> None:
    comparison = case.comparison
    wanted, sets = {}, {}
    for position, name in enumerate(NAMES):
        if data.draw(st.booleans()):
            values = sorted({row[position] for row in case.rows})
            sets[position] = data.draw(st.sets(st.sampled_from(values)))
            chosen = {str(value) for value in sets[position]}
            wanted[name] = np.array([text in chosen for text in texts(comparison, name)])
    for estimate, rows in pairs(case, comparison):
        assert estimate.records == len(rows)
        assert estimate.expected(Query(wanted)) == pytest.approx(float(expected(rows, sets)))


@FEWER
@given(cases())
def test_distributions(case: Case) -> None:
    comparison = case.comparison
    for estimate, rows in pairs(case, comparison):
        for position, name in enumerate(NAMES):
            own = {str(key[0]): float(part) for key, part in joint(rows, [position]).items()}
            found = dict(zip(texts(comparison, name), estimate.marginal(name), strict=True))
            assert found == pytest.approx({text: own.get(text, 0.0) for text in found})


@FEWER
@given(cases())
def test_joint_distributions(case: Case) -> None:
    comparison = case.comparison
    for estimate, rows in pairs(case, comparison):
        for one, other in ((0, 1), (1, 2), (2, 0)):
            own = {tuple(map(str, key)): float(part) for key, part in joint(rows, [one, other]).items()}
            first, second = every(comparison, NAMES[one]), every(comparison, NAMES[other])
            found = estimate.joint(first, second)
            for row, left in enumerate(texts(comparison, NAMES[one])):
                for place, right in enumerate(texts(comparison, NAMES[other])):
                    assert found[row, place] == pytest.approx(own.get((left, right), 0.0))


def test_bins_add_up_what_is_in_them() -> None:
    comparison = identity(random_rows(200, 1)).comparison
    whole = comparison.release.joint(every(comparison, "age"), every(comparison, "town"))
    halves = Bins("age", np.array([0, 0, 1, 1]), 2)
    found = comparison.release.joint(halves, every(comparison, "town"))
    assert found.tolist() == [(whole[0] + whole[1]).tolist(), (whole[2] + whole[3]).tolist()]


def test_a_mean_counts_for_the_nearest_value() -> None:
    case = Case([(20, "A", "flu"), (30, "A", "flu"), (41, "B", "gout")], [("24.9", "A", "flu")] * 3)
    assert case.comparison.release.marginal("age").tolist() == [3, 0, 0]


def test_a_text_that_covers_nothing_counts_only_as_a_record() -> None:
    case = Case([(20, "A", "flu"), (30, "B", "flu")], [("20", "Atlantis", "flu"), ("30", "B", "flu")])
    release = case.comparison.release
    assert release.marginal("town").tolist() == [0, 1]
    assert release.records == 2


def test_missing_values_are_values() -> None:
    rows = [(20, "A", "flu"), (None, "A", "flu"), (None, None, "gout")]
    case = Case(rows, [("20", "*", "flu"), ("<missing>", "A", "flu"), ("*", "<missing>", "gout")])
    release = case.comparison.release
    assert release.marginal("age").tolist() == [1.5, 1.5]
    assert release.marginal("town").tolist() == [1.5, 1.5]
