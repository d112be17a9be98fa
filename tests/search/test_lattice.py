"""The lattice search against exhaustive search by the definitions."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from math import inf, isclose
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.loss.leaf_share import LeafShareLoss
from anonymizer.model.features import SuppressionMethod
from anonymizer.model.recoding import Status
from anonymizer.model.table import Table
from anonymizer.search.base import Control, SearchProblem
from anonymizer.search.lattice import frontier
from anonymizer.search.lattice.algorithm import Lattice
from tests import strategies
from tests.helpers.examples import share
from tests.helpers.problems import problem
from tests.helpers.slow import slow_but
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


@pytest.mark.parametrize("largest", [frontier.LARGEST_BOX, pytest.param(3, marks=pytest.mark.slow)])
@share(3)
@given(problems(), st.integers(0, 2**32))
def test_searches_with_one_memory_find_what_each_finds_alone(
    largest: int, spec: ProblemSpec, seed: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frontier, "LARGEST_BOX", largest)
        assert_memory_changes_nothing(problem(spec), Random(seed))


@pytest.mark.parametrize("seed", slow_but(1, [65, 408, 456, 900, 995]))
def test_what_one_search_set_aside_is_open_to_the_next(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Worse than the best of the first search, a transformation may be the best with a column at its top."""
    monkeypatch.setattr(frontier, "LARGEST_BOX", 4)
    asked = replace(
        problem(strategies.problem(Random(seed))),
        suppression=SuppressionMethod.CLASSES,
        metric=LeafShareLoss(),
        table_constraints=(),
    )
    width = len(asked.table.quasi_identifiers)
    for places in (own for number in range(1, width) for own in combinations(range(width), number)):
        memory: dict[str, Any] = {}
        Lattice().search(asked, Control(explained=False, memory=memory, nodes=150))
        own = [
            replace(each, minimum=each.hierarchy.height, maximum=each.hierarchy.height)
            if place in places
            else each
            for place, each in enumerate(asked.table.quasi_identifiers)
        ]
        part = replace(asked, table=replace(asked.table, quasi_identifiers=tuple(own)))
        alone = Lattice().search(part, Control(explained=False))
        found = Lattice().search(part, Control(explained=False, memory=memory))
        assert found.status is alone.status
        assert found.objective is None or same(found.objective, alone.objective)


def assert_memory_changes_nothing(asked: SearchProblem, random: Random) -> None:
    """Search among some levels after others, and once without what those found."""
    memory: dict[str, Any] = {}
    for _ in range(4):
        own = tuple(
            replace(each, minimum=random.choice((each.minimum, each.maximum)))
            for each in asked.table.quasi_identifiers
        )
        part = replace(asked, table=replace(asked.table, quasi_identifiers=own))
        alone = Lattice().search(part, Control(explained=False))
        below = random.choice((inf, alone.bound or 0.5, random.random()))
        nodes = random.choice((None, 1, 5))
        found = Lattice().search(part, Control(nodes=nodes, below=below, explained=False, memory=memory))
        if found.recoding is not None:
            assert found.objective >= alone.objective or same(found.objective, alone.objective)
            assert found.objective < below
            again = Lattice().search(part, Control(below=below, explained=False))
            assert not found.optimal or same(found.objective, again.objective)
        elif found.status is Status.INFEASIBLE:
            assert alone.recoding is None or alone.objective >= below or same(alone.objective, below)
        else:
            assert nodes is not None
