"""Local recoding on tables whose greedy start takes longer than the budget."""

from __future__ import annotations

import time
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.model.recoding import Status
from anonymizer.search.base import Control
from anonymizer.search.local import algorithm as quick
from anonymizer.search.local import start as greedy
from anonymizer.search.local.algorithm import Local
from anonymizer.search.local.start import KnownEmpty
from anonymizer.search.mondrian.algorithm import Mondrian, MondrianSettings
from tests.conformance.asked import about, any_table
from tests.helpers.problems import problem
from tests.twins.search import ProblemSpec


def drawn(seed: int, records: int = 60) -> ProblemSpec:
    random = Random(seed)
    spec = about(random, any_table(random, records), ["k-anonymity", "l-diversity"], ["loss"])
    return replace(spec, aggregate="arithmetic-mean", keep_rows=False, moving_reference=False)


@given(st.integers(0, 2**32))
def test_what_is_noted_in_vain_is(seed: int) -> None:
    """Against a rule that holds below random vectors, as that of groups which are too small does."""
    random = np.random.default_rng(seed)
    top = random.integers(1, 4, size=3)
    peaks = random.integers(0, top + 1, size=(2, 3))

    def in_vain(vector: np.ndarray) -> bool:
        return bool((peaks >= vector).all(axis=1).any())

    barren = KnownEmpty(top)
    for vector in np.indices(tuple(top + 1)).reshape(3, -1).T:
        if barren.covers(vector):
            assert in_vain(vector)
        elif in_vain(vector):
            barren.climb(vector, in_vain)
            assert barren.covers(vector)


def test_leaving_out_what_is_in_vain_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    specs = [drawn(seed) for seed in range(12)]
    before = [Local().search(problem(spec), Control(steps=1)) for spec in specs]
    monkeypatch.setattr(greedy, "WORTHWHILE", 1)
    after = [Local().search(problem(spec), Control(steps=1)) for spec in specs]
    assert [(each.status, each.objective) for each in after] == [
        (each.status, each.objective) for each in before
    ]
    assert any(each.status is Status.SATISFIED for each in after)


def test_a_budget_that_ends_in_the_start_leaves_the_quick_release(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a second gives is Mondrian's, at least, and so many steps give it again."""
    monkeypatch.setattr(quick, "SLOW", 0)
    compared = 0
    for seed in range(12):
        spec = drawn(seed, 40)
        over = Control(cpu_seconds=1.0, cpu_started=time.process_time() - 2)
        found, again = Local().search(problem(spec), over), Local().search(problem(spec), Control(steps=1))
        first = Mondrian(MondrianSettings()).search(problem(spec), Control())
        if first.status is not Status.SATISFIED or found.status is not Status.SATISFIED:
            continue
        assert first.objective is not None
        assert found.objective is not None
        assert found.objective <= first.objective + 1e-12
        assert (len(found.steps), found.objective) == (len(again.steps), again.objective)
        compared += len(found.steps) == 1
    assert compared >= 3


@pytest.mark.parametrize(
    ("budget", "work"),
    [
        ({"steps": 1}, quick.QUICK),
        ({"nodes": 1}, quick.QUICK),
        ({"steps": 1, "seconds": 90.0}, 9.0),
        ({"steps": 1, "cpu_seconds": 90.0}, 9.0),
        ({"steps": 1, "seconds": 900.0, "cpu_seconds": 90.0}, 9.0),
        ({}, None),
    ],
)
def test_the_bound_at_the_end_takes_counted_work(
    budget: dict[str, float], work: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever counts steps does not wait for a bound that takes ten times as long as these."""
    asked: list[float | None] = []

    def counted(own: object, ended: object, seconds: float | None) -> None:
        asked.append(seconds)

    monkeypatch.setattr(quick, "best_possible", counted)
    monkeypatch.setattr(quick, "FIRST", 10**6)
    monkeypatch.setattr(quick.Exact, "applies", staticmethod(lambda _: False))
    run = quick.LocalRun(problem(drawn(4)), Control(**budget))
    monkeypatch.setattr(run, "_improve", lambda _: None)
    run.run()
    assert asked == [work]
