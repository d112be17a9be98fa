"""Cell suppression: the fewest cells, as exhaustive search finds them, and never more than what is valid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.search.base import Control
from anonymizer.search.suppression import cells as cell_classes
from anonymizer.search.suppression.cell_problem import (
    BLANK,
    CellProblem,
    CellSolution,
    CellSuppression,
    ClassJudge,
    ValueRule,
)
from anonymizer.search.suppression.cells import CellSearch, tightened
from tests.helpers.examples import share
from tests.shared import shared
from tests.twins import cells as twin

KEYS = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")


@dataclass(frozen=True)
class Asked:
    """A class has at least ``k`` records, ``l`` distinct values, and none more often than ``alpha``."""

    k: int
    l: int = 0  # noqa: E741
    alpha: float = 1.0

    def holds(self, values: Sequence[int]) -> bool:
        most = max(values.count(value) for value in values)
        # Quarters and halves of small numbers are exact.
        return len(values) >= self.k and len(set(values)) >= self.l and most <= self.alpha * len(values)

    def judge(self, values: np.ndarray) -> ClassJudge:
        def judge(class_of: np.ndarray, rows: np.ndarray, counts: np.ndarray, number: int) -> np.ndarray:
            matrix = np.zeros((number, int(values.max(initial=0)) + 1), dtype=np.int64)
            np.add.at(matrix, (class_of, values[rows]), counts)
            sizes = matrix.sum(axis=1)
            varied = (matrix > 0).sum(axis=1) >= self.l
            return (sizes >= self.k) & varied & (matrix.max(axis=1) <= self.alpha * sizes)

        return judge

    def rules(self, values: np.ndarray) -> tuple[ValueRule, ...]:
        rules = [ValueRule(values, self.l)] if self.l > 1 else []
        if self.alpha < 1:
            rules.append(ValueRule(values, caps=np.full(int(values.max(initial=0)) + 1, self.alpha)))
        return tuple(rules)


def problem(
    cells: np.ndarray, values: np.ndarray, weights: Sequence[float], asked: Asked, most_gone: int = 0
) -> CellProblem:
    """Return what is asked about some records."""
    attributes = cells.shape[1]
    rows, counts = np.unique(np.column_stack([cells, values]), axis=0, return_counts=True)
    codes, own = rows[:, :attributes], rows[:, attributes]
    costs = np.broadcast_to(np.array(weights, dtype=np.float64), codes.shape)
    gone = np.where(codes == BLANK, 0.0, costs).sum(axis=1)
    return CellProblem(codes, counts, costs, gone, asked.k, asked.judge(own), most_gone, asked.rules(own))


def holds(asked: Asked, values: np.ndarray) -> twin.Holds:
    """Return the same question for the twin."""
    return lambda own: asked.holds([int(values[i]) for i in own])


def solved(own: CellProblem, control: Control | None = None) -> CellSolution:
    """Return the solution, which must be what it says."""
    found = CellSearch(own, Control() if control is None else control).run()
    if found.blanking is not None:
        assert found.blanking.holds(own)
        assert found.blanking.cost(own) == pytest.approx(found.cost)
        assert np.array_equal(np.bincount(found.blanking.row, found.blanking.count), own.counts)
    return found


@share(2)
@given(seed=st.integers(0, 2**32))
def test_as_few_cells_as_exhaustive_search_finds(seed: int) -> None:
    random = Random(seed)
    attributes = random.randint(2, 3)
    number = random.randint(2, 4 if attributes == 3 else 5)
    weights = [random.choice((0.0, 0.5, 1.0, 1.0, 2.0, 0.3337)) for _ in range(attributes)]
    asked = Asked(random.randint(1, 3), random.randint(0, 3), random.choice((1.0, 1.0, 0.5, 0.75)))
    cells = np.array(
        [[random.choice((BLANK, 0, 0, 1, 1, 2, 2)) for _ in range(attributes)] for _ in range(number)]
    )
    values = np.array([random.randint(0, 2) for _ in range(number)])
    most_gone = random.choice((0, 0, 1, number - 1))
    records = [tuple("*" if code == BLANK else str(code) for code in row) for row in cells.tolist()]
    best = twin.fewest(records, weights, holds(asked, values), most_gone)
    found = solved(problem(cells, values, weights, asked, most_gone))
    if best is None:
        assert found.infeasible
    else:
        assert found.optimal
        assert found.cost == pytest.approx(best)


@pytest.mark.parametrize("most", [0, 2_000])
def test_a_model_that_is_not_linear_is_never_broken(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small problems are solved over all classes that hold, large ones by what the relaxation proposes."""
    monkeypatch.setattr(cell_classes, "MOST_CLASSES", most)
    missed = 0
    for seed in range(25):
        random = Random(seed)
        asked = Asked(2, random.randint(2, 3))
        cells = np.array([[random.choice((BLANK, 0, 1, 2)) for _ in range(2)] for _ in range(5)])
        values = np.array([random.randint(0, 2) for _ in range(5)])
        linear = problem(cells, values, (1.0, 2.0), asked, seed % 2)
        opaque = replace(linear, smallest=1, rules=(), complete=False)
        records = [tuple("*" if code == BLANK else str(code) for code in row) for row in cells.tolist()]
        best = twin.fewest(records, (1.0, 2.0), holds(asked, values), seed % 2)
        found = solved(opaque)
        if most:
            assert found.optimal is (best is not None)
            assert found.infeasible is (best is None)
        missed += found.blanking is None and best is not None
        if best is not None:
            assert found.bound <= best + 1e-9 <= found.cost + 2e-9
    assert missed <= 4


def test_what_a_class_agrees_in_is_not_blanked() -> None:
    cells = np.array([[0, 0], [0, 0], [1, 0], [1, 1], [2, 0], [2, 0]])
    own = problem(cells, np.zeros(6, dtype=np.int64), (1.0, 1.0), Asked(2))
    second = np.array([[False, True]] * own.rows)
    wasteful = CellSuppression(np.arange(own.rows), own.counts, second, np.zeros(own.rows, dtype=bool))
    assert wasteful.holds(own)
    tighter = tightened(own, wasteful)
    assert tighter.holds(own)
    assert tighter.blanks.tolist() == [[False, False], [False, True], [False, True], [False, False]]


def test_a_needless_blank_stays_where_two_classes_hold_and_one_does_not() -> None:
    own = problem(np.array([[0, 0]] * 4), np.zeros(4, dtype=np.int64), (1.0, 1.0), Asked(2))
    at_most_three = replace(
        own, judge=lambda class_of, rows, counts, number: np.bincount(class_of, counts) < 4
    )
    split = CellSuppression(
        np.zeros(2, dtype=np.int64),
        np.array([2, 2]),
        np.array([[False, False], [True, False]]),
        np.zeros(2, bool),
    )
    assert split.holds(at_most_three)
    assert tightened(at_most_three, split) is split
    gone = replace(split, gone=np.array([False, True]), blanks=np.zeros((2, 2), dtype=bool))
    assert gone.holds(replace(at_most_three, most_gone=2))
    assert not gone.holds(replace(at_most_three, most_gone=1))


def table(keys: Sequence[str] = KEYS, sensitive: str | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes of the test data of sdcMicro, and those of a sensitive column."""
    frame = pd.read_csv(shared("data", "sdc_testdata", "data.csv.gz"), dtype=str, keep_default_na=False)
    cells = np.column_stack([pd.factorize(frame[key], sort=True)[0] for key in keys])
    values = np.zeros(len(frame), dtype=np.int64)
    if sensitive is not None:
        values = pd.factorize(frame[sensitive], sort=True)[0]
    return cells.astype(np.int64), values.astype(np.int64)


@pytest.mark.parametrize(
    ("k", "fewest"),
    [(2, 187), pytest.param(3, 357, marks=pytest.mark.slow)],
)
def test_proven_optima_of_the_test_data(k: int, fewest: int) -> None:
    cells, values = table()
    own = problem(cells, values, [1.0] * len(KEYS), Asked(k))
    found = solved(own)
    assert found.optimal
    assert found.blanking is not None
    assert found.blanking.cells() == found.cost == found.bound == fewest
    sizes = released_sizes(cells, own, found.blanking)
    assert sizes.min() >= k


def released_sizes(cells: np.ndarray, own: CellProblem, blanking: CellSuppression) -> np.ndarray:
    """Return the class size of each record as published, counted by a data frame."""
    codes = np.where(blanking.blanks, BLANK, own.codes[blanking.row])
    released = pd.DataFrame(np.repeat(codes, blanking.count, axis=0))
    assert len(released) == len(cells)
    return released.groupby(list(released.columns)).transform("size").to_numpy()


@pytest.mark.slow
def test_weights_and_diversity_on_the_test_data() -> None:
    cells, values = table(sensitive="hhcivil")
    weights = [1.0, 3.0, 3.0, 1.0, 1.0, 2.0, 5.0]
    weighted = solved(problem(cells, np.zeros_like(values), weights, Asked(2)))
    assert weighted.optimal
    plain = solved(problem(cells, np.zeros_like(values), [1.0] * 7, Asked(2)))
    assert plain.blanking is not None
    assert weighted.blanking is not None
    assert weighted.blanking.cells() > plain.blanking.cells()
    diverse = solved(problem(cells, values, [1.0] * 7, Asked(2, 2)))
    assert diverse.optimal
    assert diverse.cost > plain.cost


def test_the_start_takes_no_time() -> None:
    for keys in (KEYS, (*KEYS, "age")):
        cells, values = table(keys)
        search = CellSearch(problem(cells, values, [1.0] * len(keys), Asked(3)), control := Control())
        search.start()
        assert search.best is not None
        assert control.elapsed < 5  # a second on a machine that does nothing else


def test_a_blank_that_matches_anything_would_be_much_cheaper_and_is_not_accepted() -> None:
    """Where a blank matched anything, one blanked cell in a common record would hide all rare ones."""
    records = [("a", "x"), ("b", "x"), ("c", "y"), ("d", "y"), ("e", "z")]
    masks = [(True, False), (False, False), (False, True), (True, False), (True, True)]
    assert twin.matched_by_anything(records, masks, 2)
    assert twin.cost(records, masks, (1, 1)) == 5
    assert min(map(len, twin.classes(records, masks))) == 1
    cells = np.array([[ord(letter) - ord("a") for letter in record] for record in records])
    own = problem(cells, np.zeros(5, dtype=np.int64), (1.0, 1.0), Asked(2))
    order = [own.codes.tolist().index(row) for row in cells.tolist()]
    blanks = np.zeros((5, 2), dtype=bool)
    blanks[order] = masks
    blanking = CellSuppression(np.arange(5), own.counts, blanks, np.zeros(5, dtype=bool))
    assert not blanking.holds(own)
    assert solved(own).infeasible


def test_twelve_cells_do_not_repair_the_test_data() -> None:
    """Two records of which nothing but the sex is left match all others, if a blank matches anything."""
    cells, values = table()
    k = 2
    own = problem(cells, values, [1.0] * len(KEYS), Asked(k))
    rare = np.flatnonzero(own.counts < k)
    assert len(rare) > 12
    common = np.array([np.where(own.codes[:, 6] == sex, own.counts, 0).argmax() for sex in (0, 1)])
    row = np.sort(np.concatenate([np.arange(own.rows), common]))
    second = np.concatenate([[False], row[1:] == row[:-1]])
    count = np.where(second, 1, own.counts[row])
    count[np.flatnonzero(second) - 1] -= 1
    blanks = np.zeros((len(row), len(KEYS)), dtype=bool)
    blanks[second, :6] = True
    trick = CellSuppression(row, count, blanks, np.zeros(len(row), dtype=bool))
    assert trick.cells() == 12
    shown = np.where(blanks, BLANK, own.codes[row])
    tricked, rest = shown[second], own.codes[rare]
    alike = ((tricked[:, None, :] == BLANK) | (tricked[:, None, :] == rest[None])).all(axis=2)
    assert alike.any(axis=0).all()
    assert not trick.holds(own)
    sizes = released_sizes(cells, own, trick)
    assert (sizes < k).sum() >= len(rare)


def test_steps_repeat_a_search() -> None:
    cells, values = table()
    own = problem(cells, values, [1.0] * len(KEYS), Asked(3))
    one, two = solved(own, Control(steps=2)), solved(own, Control(steps=2))
    assert one.steps == two.steps == 2
    assert (one.cost, one.bound) == (two.cost, two.bound)
    assert one.bound <= one.cost
    assert not one.optimal


def test_whoever_stops_it_gets_the_best_so_far() -> None:
    cells, values = table()
    own = problem(cells, values, [1.0] * len(KEYS), Asked(5))
    calls = iter(range(10**6))
    found = solved(own, Control(stopped=lambda: next(calls) > 5))
    assert found.interrupted
    assert found.blanking is not None
    assert found.cost >= 643 >= found.bound
