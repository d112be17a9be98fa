"""The lattice search against exhaustive search by the definitions."""

from __future__ import annotations

from collections import Counter
from math import isclose

from hypothesis import given

from anonymizer.model.recoding import Status
from anonymizer.model.table import Table
from anonymizer.search.base import Control
from anonymizer.search.lattice.algorithm import Lattice
from tests.helpers.examples import many
from tests.helpers.problems import problem
from tests.strategies import problems
from tests.twins.microdata import Microdata
from tests.twins.search import BruteForce, ProblemSpec


def same(left: float, right: float) -> bool:
    return isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)


def records_of(table: Table, chosen: object) -> Counter[tuple[str, ...]]:
    """Return the records of some combinations, by the texts of their values."""
    columns = [own.column for own in (*table.quasi_identifiers, *table.sensitive)]
    found: Counter[tuple[str, ...]] = Counter()
    for codes, count, inside in zip(table.codes, table.counts, chosen, strict=True):  # type: ignore[call-overload]
        if inside:
            texts = tuple(own.texts[code] for own, code in zip(columns, codes, strict=True))
            found[texts] += int(count)
    return found


def texts_of(data: Microdata, rows: frozenset[int]) -> Counter[tuple[str, ...]]:
    return Counter(
        tuple("<missing>" if cell is None else str(cell) for cell in data.records[row]) for row in rows
    )


@many()
@given(problems())
def test_finds_the_optimum_of_an_exhaustive_search(spec: ProblemSpec) -> None:
    asked = problem(spec)
    outcome = Lattice().search(asked, Control())
    brute = BruteForce(spec)
    valid = brute.valid()
    if not valid:
        assert outcome.status is Status.INFEASIBLE
        assert outcome.recoding is None
        return
    best = min(result.objective for result in valid)
    assert outcome.status is Status.SATISFIED
    assert outcome.optimal
    assert outcome.gap == 0
    assert same(outcome.objective, best)
    recoding = outcome.recoding
    at_levels = brute.evaluate(recoding.levels)
    assert at_levels is not None
    assert same(at_levels.objective, outcome.objective)
    assert records_of(asked.table, recoding.suppressed) == texts_of(spec.data, at_levels.suppressed)
    removed = frozenset() if at_levels.kept_suppressed else at_levels.suppressed
    assert records_of(asked.table, recoding.removed) == texts_of(spec.data, removed)
