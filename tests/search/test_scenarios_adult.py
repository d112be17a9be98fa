"""Three adversaries on Adult, against counts that share no code with the search."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from anonymizer.model.recoding import Outcome
from anonymizer.privacy.base import ClassConstraint
from anonymizer.search.base import Control, SearchProblem
from anonymizer.search.lattice.algorithm import Lattice
from tests.helpers import adult, build
from tests.helpers.problems import metric

RECORDS = 30162
LIMIT = 603
SEVEN = ("sex", "age", "race", "marital-status", "native-country", "workclass", "salary-class")
ADVERSARIES = {
    "neighbour": (5, (("age", "sex", "race"),)),
    "employer": (20, (("workclass", "salary-class", "age"),)),
    "anyone": (8, tuple(combinations(("marital-status", "native-country", "workclass", "sex"), 3))),
}
Codes = dict[str, list[NDArray[np.int64]]]


def optimum(*constraints: ClassConstraint) -> Outcome:
    table = adult.table(SEVEN)
    asked = SearchProblem(table, constraints, (), metric("loss"), LIMIT, False, False, None)
    return Lattice().search(asked, Control())


def search(*names: str) -> Outcome:
    constraints = tuple(
        ClassConstraint(
            scenario=name,
            knowledge=tuple(map(frozenset, ADVERSARIES[name][1])),
            model=build.model("k-anonymity", {"k": ADVERSARIES[name][0]}),
        )
        for name in names
    )
    return optimum(*constraints)


def generalized(names: tuple[str, ...]) -> tuple[Codes, dict[str, list[NDArray[np.float64]]]]:
    """Return for each column and level the label's number of each record, and the loss of its cell."""
    codes, losses = {}, {}
    for name in names:
        paths, cells = adult.paths(name), adult.cells()[name]
        codes[name], losses[name] = [], []
        for level in range(len(next(iter(paths.values())))):
            labels = sorted({path[level] for path in paths.values()})
            leaves = {label: sum(path[level] == label for path in paths.values()) for label in labels}
            number = {label: place for place, label in enumerate(labels)}
            codes[name].append(np.array([number[paths[cell][level]] for cell in cells]))
            cost = {label: (leaves[label] - 1) / (len(paths) - 1) for label in labels}
            losses[name].append(np.array([cost[paths[cell][level]] for cell in cells]))
    return codes, losses


def class_sizes(columns: list[NDArray[np.int64]], inside: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the size of the class of each record among those inside."""
    key = np.zeros(RECORDS, dtype=np.int64)
    for column in columns:
        key = key * (int(column.max()) + 1) + column
    return np.bincount(key[inside], minlength=int(key.max()) + 1)[key]


def kept(codes: Codes, levels: dict[str, int], names: tuple[str, ...]) -> NDArray[np.bool_]:
    """Drop records in small classes until no adversary sees one."""
    inside = np.ones(RECORDS, dtype=bool)
    while True:
        before = inside.copy()
        for k, sets in (ADVERSARIES[name] for name in names):
            for known in sets:
                own = [codes[column][levels[column]] for column in known]
                inside &= class_sizes(own, before) >= k
        if (inside == before).all():
            return inside


def test_all_hold_and_lose_at_least_what_each_does_alone() -> None:
    together = search(*ADVERSARIES)
    assert together.optimal
    codes, losses = generalized(SEVEN)
    levels = dict(zip(SEVEN, together.recoding.levels, strict=True))
    inside = kept(codes, levels, tuple(ADVERSARIES))
    suppressed = int(together.recoding.table.counts[together.recoding.suppressed].sum())
    assert suppressed == RECORDS - int(inside.sum()) <= LIMIT
    for k, sets in ADVERSARIES.values():
        for known in sets:
            sizes = class_sizes([codes[column][levels[column]] for column in known], inside)
            assert sizes[inside].min() >= k
    cells = np.stack([np.where(inside, losses[name][levels[name]], 1.0) for name in SEVEN])
    assert together.objective == pytest.approx(cells.mean())
    assert all(search(name).objective <= together.objective + 1e-12 for name in ADVERSARIES)
    # A release for someone who knows all seven loses far more.
    k_anonymity = ClassConstraint(model=build.model("k-anonymity", {"k": 5}))
    assert together.objective < 0.5 * optimum(k_anonymity).objective


@pytest.mark.slow
def test_the_optimum_is_that_of_all_transformations() -> None:
    codes, losses = generalized(SEVEN)
    best = np.inf
    for chosen in product(*(range(len(codes[name])) for name in SEVEN)):
        levels = dict(zip(SEVEN, chosen, strict=True))
        cells = sum(float(losses[name][level].mean()) for name, level in levels.items()) / len(SEVEN)
        if cells >= best:
            continue
        inside = kept(codes, levels, tuple(ADVERSARIES))
        if RECORDS - int(inside.sum()) > LIMIT:
            continue
        cells = [np.where(inside, losses[name][level], 1.0).mean() for name, level in levels.items()]
        best = min(best, float(np.mean(cells)))
    found = search(*ADVERSARIES)
    assert found.optimal
    assert found.objective == pytest.approx(best, abs=1e-12)


@pytest.mark.slow
def test_any_three_of_seven_are_all_35_sets() -> None:
    sets = tuple(map(frozenset, combinations(SEVEN, 3)))
    assert len(sets) == 35
    model = build.model("k-anonymity", {"k": 5})
    together = (ClassConstraint(knowledge=sets, model=model),)
    apart = tuple(ClassConstraint(knowledge=(known,), model=model) for known in sets)
    found = [optimum(*together), optimum(*apart)]
    assert found[0].optimal
    assert found[0].objective == found[1].objective
    assert found[0].recoding.levels == found[1].recoding.levels
    codes, _ = generalized(SEVEN)
    levels = dict(zip(SEVEN, found[0].recoding.levels, strict=True))
    inside = np.ones(RECORDS, dtype=bool)
    while True:
        before = inside.copy()
        for known in combinations(SEVEN, 3):
            inside &= class_sizes([codes[name][levels[name]] for name in known], before) >= 5
        if (inside == before).all():
            break
    suppressed = int(found[0].recoding.table.counts[found[0].recoding.suppressed].sum())
    assert suppressed == RECORDS - int(inside.sum())
