"""Levels and blanks together: the lattice with cells, as exhaustive search finds it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.errors import InputError, Interrupted
from anonymizer.model.classes import released
from anonymizer.model.features import Feature, SuppressionMethod
from anonymizer.model.recoding import Outcome, Status
from anonymizer.search.base import Control, SearchProblem
from anonymizer.search.lattice.algorithm import Lattice
from anonymizer.search.suppression import cells as cell_classes
from anonymizer.testing.search import check_release, check_rows, check_search_algorithm, check_values
from tests import strategies
from tests.helpers import problems
from tests.helpers.examples import COSTLY, quickly
from tests.helpers.messages import exchange
from tests.search.test_units import check_valid
from tests.twins import cells as twin
from tests.twins.microdata import Microdata, QuasiIdentifierSpec, SensitiveSpec
from tests.twins.search import BruteForce, ConstraintSpec, ProblemSpec

K2 = ConstraintSpec("k-anonymity", {"k": 2})
MODELS = (
    (K2,),
    (ConstraintSpec("k-anonymity", {"k": 3}),),
    (K2, ConstraintSpec("l-diversity", {"l": 2}, "s")),
    (ConstraintSpec("alpha-k-anonymity", {"alpha": 0.5, "k": 2}, "s"),),
    (ConstraintSpec("p-sensitive-k-anonymity", {"p": 2, "k": 3}, "s"),),
    (ConstraintSpec("t-closeness", {"t": 0.3}, "s"),),
    (ConstraintSpec("entropy-l-diversity", {"l": 1.5}, "s"),),
    (ConstraintSpec("recursive-cl-diversity", {"c": 2, "l": 2}, "s"),),
    (ConstraintSpec("basic-beta-likeness", {"beta": 1}, "s"),),
    (ConstraintSpec("delta-disclosure", {"delta": 1, "absent": "ignored"}, "s"),),
)
CITIES = {
    "a": ("a", "north", "*"),
    "b": ("b", "north", "*"),
    "c": ("c", "south", "*"),
    "d": ("d", "south", "*"),
}
SEXES = {"f": ("f", "*"), "m": ("m", "*")}


def data(random: Random, records: int) -> Microdata:
    """Return records with a city, a sex, and a sensitive value."""
    city = QuasiIdentifierSpec("city", CITIES, weight=random.choice((1.0, 2.0)), maximum=random.randint(0, 2))
    sex = QuasiIdentifierSpec("sex", SEXES, weight=random.choice((1.0, 0.5)), maximum=random.randint(0, 1))
    rows = [(random.choice("abcd"), random.choice("fm"), random.choice("xyz")) for _ in range(records)]
    secret = SensitiveSpec("s", {value: (value, "*") for value in "xyz"})
    return Microdata((city, sex), (secret,), tuple(rows))


def spec(random: Random) -> ProblemSpec:
    """Return a small problem."""
    own = data(random, random.randint(3, 5))
    return ProblemSpec(own, random.choice(MODELS), limit=random.choice((0, 0, 1)), k=2)


def spec_of_persons(random: Random) -> ProblemSpec:
    """Return a smaller problem whose constraints count persons, some of whom have several records."""
    own = data(random, random.randint(3, 4))
    limit = random.choice((0, 0, 1))
    return strategies.with_persons(random, ProblemSpec(own, random.choice(MODELS), limit=limit, k=2))


def asked(own: ProblemSpec) -> SearchProblem:
    """Return it as the search is asked."""
    divided = bool(own.data.persons)
    return replace(problems.problem(own, divided=divided), suppression=SuppressionMethod.CELLS)


def search(own: ProblemSpec, control: Control | None = None) -> Outcome:
    """Return the outcome, which must be what it says."""
    problem = asked(own)
    outcome = Lattice().search(problem, Control() if control is None else control)
    if outcome.recoding is not None:
        check_rows(Lattice(), problem.table, outcome.recoding)
        check_values(Lattice(), outcome.recoding)
        if own.data.persons:
            check_valid(outcome, own)
        else:
            check_release(Lattice(), problem, outcome.recoding)
        value = problem.metric.value(released(outcome.recoding, own.k))
        assert value == pytest.approx(outcome.objective)
    return outcome


def lowest_loss(own: ProblemSpec) -> float | None:
    """Return the lowest ``loss`` over all levels and all choices of cells."""
    force = BruteForce(own)
    found = [loss for levels in force.nodes() for loss in _losses(own, force, levels) if loss is not None]
    return min(found, default=None)


def _losses(own: ProblemSpec, force: BruteForce, levels: tuple[int, ...]) -> Iterator[float]:
    specs = own.data.quasi_identifiers
    weights = [each.weight for each in specs]
    everyone = list(range(len(own.data.records)))
    labels = [
        tuple(each.paths[cell][level] for each, cell, level in zip(specs, row, levels, strict=False))
        for row in own.data.records
    ]
    kept = [
        [_share(each, cell, level) for each, cell, level in zip(specs, row, levels, strict=False)]
        for row in own.data.records
    ]
    masks = [None, *product((False, True), repeat=len(specs))]
    options = [[mask for mask in masks if not twin.emptied(label, mask)] for label in labels]
    for chosen in product(*options):
        gone = sum(mask is None for mask in chosen)
        if gone > own.limit or gone == len(everyone):
            continue
        if all(force.holds(rows, everyone) for rows in twin.classes(labels, chosen)):
            yield sum(
                weight * (1.0 if mask is None or mask[i] else shares[i])
                for mask, shares in zip(chosen, kept, strict=True)
                for i, weight in enumerate(weights)
            ) / (sum(weights) * len(everyone))


def _share(each: QuasiIdentifierSpec, cell: object, level: int) -> float:
    node = each.paths[cell][level]  # type: ignore[index]
    under = sum(path[level] == node for path in each.paths.values())
    return (under - 1) / (len(each.paths) - 1)


@pytest.mark.slow
def test_levels_and_cells_of_lowest_loss() -> None:
    answers = []
    for seed in range(40):
        own = spec(Random(seed))
        outcome, best = search(own), lowest_loss(own)
        answers.append(outcome.status)
        if best is None:
            assert outcome.status is Status.INFEASIBLE, seed
        else:
            assert outcome.optimal, seed
            assert outcome.objective == pytest.approx(best), seed
    assert answers.count(Status.SATISFIED) > 15
    assert answers.count(Status.INFEASIBLE) > 2


@pytest.mark.slow
def test_what_is_claimed_where_classes_are_too_many_to_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """Conditions that a model implies bound what it allows, and never rule a release out."""
    monkeypatch.setattr(cell_classes, "MOST_CLASSES", 0)
    found = missed = 0
    for seed in range(40):
        own = replace(spec(Random(seed)), constraints=MODELS[5 + seed % (len(MODELS) - 5)])
        outcome, best = search(own), lowest_loss(own)
        if best is None:
            assert outcome.status is not Status.SATISFIED, seed
        elif outcome.objective is None:
            assert outcome.status is Status.UNDECIDED, seed
            missed += 1
        else:
            assert outcome.bound is not None
            assert outcome.bound <= best + 1e-12 <= outcome.objective + 1e-9, seed
            found += 1
    assert found > 20
    assert missed <= found // 5


@pytest.mark.parametrize("most", [0, cell_classes.MOST_CLASSES], ids=["programme", "listed"])
@quickly(COSTLY, 10)
@given(seed=st.integers(0, 2**32))
def test_levels_and_cells_of_lowest_loss_where_persons_are_counted(most: int, seed: int) -> None:
    """The programme does not know persons: it only bounds what they need, and what it finds is repaired."""
    own = spec_of_persons(Random(seed))
    best = lowest_loss(own)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cell_classes, "MOST_CLASSES", most)
        outcome = search(own)
    if best is None:
        assert outcome.objective is None
        assert not most or outcome.status is Status.INFEASIBLE
    elif outcome.objective is None:
        assert not most
        assert outcome.status is Status.UNDECIDED
    else:
        assert outcome.bound is not None
        assert outcome.bound <= best + 1e-12 <= outcome.objective + 1e-9
        assert not most or outcome.objective == pytest.approx(best)


@pytest.mark.slow
def test_what_every_search_algorithm_must_do() -> None:
    class Cells(Lattice):
        supports = frozenset({Feature.CELLS})

    check_search_algorithm(Cells(), 3, steps=4)


def loners(limit: int, *, keep_rows: bool = False) -> ProblemSpec:
    """Return three records that are alike, and two that share nothing with anybody."""
    city = QuasiIdentifierSpec("city", CITIES)
    sex = QuasiIdentifierSpec("sex", {value: (value, "*") for value in "fmxyz"})
    rows = (("a", "f", "x"),) * 3 + (("c", "m", "x"), ("d", "x", "x"))
    own = Microdata((city, sex), (SensitiveSpec("s", {"x": ("x", "*")}),), rows)
    return ProblemSpec(own, (K2,), limit=limit, k=2, keep_rows=keep_rows)


def test_records_without_a_cell_left_are_suppressed_within_the_limit() -> None:
    assert search(loners(0)).status is Status.INFEASIBLE
    assert search(loners(1)).status is Status.INFEASIBLE
    outcome = search(loners(2))
    assert outcome.recoding is not None
    assert outcome.recoding.suppressed_cells == 0
    assert outcome.recoding.table.counts[outcome.recoding.removed].sum() == 2
    assert outcome.objective == pytest.approx(0.4)


def test_suppressed_records_stay_where_they_are_a_class_that_holds() -> None:
    outcome = search(loners(2, keep_rows=True))
    assert outcome.recoding is not None
    assert not outcome.recoding.removed.any()
    kept_suppressed = [own.labels[own.codes[-1]] for own in outcome.recoding.published()]
    assert kept_suppressed == ["*", "*"]
    alone = loners(2, keep_rows=True)
    rows = alone.data.records
    outcome = search(replace(alone, data=replace(alone.data, records=rows[:4])))
    assert outcome.recoding is not None
    assert outcome.recoding.removed.sum() == 1


def test_the_report_names_levels_and_blanked_cells() -> None:
    own = ProblemSpec(loners(0).data, (K2,), limit=0, k=2)
    rows = (("a", "f", "x"),) * 3 + (("c", "f", "x"), ("d", "f", "x"))
    outcome = search(replace(own, data=replace(own.data, records=rows)))
    assert outcome.recoding is not None
    assert outcome.recoding.describe() == {
        "levels": {"city": 0, "sex": 0},
        "blanked_cells": {"city": 2, "sex": 0},
    }
    assert outcome.recoding.suppressed_cells == 2


def test_steps_repeat_a_search_and_a_budget_leaves_a_bound() -> None:
    random = Random(5)
    own = replace(spec(random), data=data(random, 60), constraints=MODELS[2])
    whole = search(own)
    assert whole.optimal
    for steps in range(1, len(whole.steps), max(len(whole.steps) // 6, 1)):
        one, two = (search(own, Control(steps=steps)) for _ in range(2))
        assert (one.objective, one.bound, one.steps) == (two.objective, two.bound, two.steps)
        assert one.objective is None or one.bound <= whole.objective <= one.objective + 1e-12


def test_steps_repeat_what_the_clock_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    own = replace(spec(Random(5)), data=data(Random(5), 60), constraints=MODELS[2])
    whole = len(search(own).steps)
    for ended in range(2, 3 * whole, max(whole // 4, 1)):
        asks = iter(range(10**6))
        with monkeypatch.context() as clock:
            clock.setattr(
                Control,
                "elapsed",
                property(lambda self, asks=asks, ended=ended: 100.0 * (next(asks) > ended)),
            )
            one = search(own, Control(seconds=50.0))
        two = search(own, Control(steps=len(one.steps)))
        assert (one.status, one.objective, one.steps) == (two.status, two.objective, two.steps)


def test_interrupted_before_anything_was_found() -> None:
    with pytest.raises(Interrupted):
        search(loners(2), Control(stopped=lambda: True))


def test_a_metric_of_levels_alone_is_refused(message: SnapshotAssertion) -> None:
    with pytest.raises(InputError) as error:
        search(replace(loners(2), metric="height"))
    assert exchange("height", error.value) == message


@pytest.mark.parametrize("metric", ["ncp", "precision", "discernibility", "nonuniform-entropy"])
def test_other_metrics_are_measured(metric: str) -> None:
    outcome = search(replace(spec(Random(2)), metric=metric, constraints=(K2,)))
    assert outcome.status is Status.SATISFIED
    assert outcome.bound is None or outcome.bound <= outcome.objective


def test_a_moving_reference_holds_on_what_stays() -> None:
    found = 0
    for seed in range(12):
        random = Random(seed)
        constraints = (K2, ConstraintSpec("t-closeness", {"t": 0.4}, "s"))
        own = ProblemSpec(data(random, 9), constraints, limit=3, moving_reference=True, k=2)
        found += search(own).status is Status.SATISFIED
    assert found >= 6
