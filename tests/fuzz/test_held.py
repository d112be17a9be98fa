"""Searches lose nothing that they held: some random problems, and that faults would be seen."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import pytest

from anonymizer.model.recoding import Outcome
from anonymizer.search.base import Incumbent
from tests.fuzz import held
from tests.fuzz.held import CASES_OF_A_SEED, Judge, draw, judged, main

KNOWN = (1000072, 1000671, 1000738, 1000775)
"""Problems in which a release had lost more than the start, or than Mondrian's."""


@pytest.mark.parametrize("number", KNOWN)
def test_what_was_found_once_is_mended(number: int) -> None:
    assert judged(number, Counter(), brute=False) == []


@pytest.mark.slow
def test_random_problems_lose_nothing() -> None:
    # A busy machine may give two searches different amounts of work in the same time.
    numbers = [each for each in range(7 * CASES_OF_A_SEED, 7 * CASES_OF_A_SEED + 50) if not draw(each).timed]
    assert [found for each in numbers for found in judged(each, Counter(), brute=False)] == []


@pytest.mark.slow
def test_releases_of_tiny_tables_are_the_best_or_say_how_far_they_may_be() -> None:
    assert main(["--problems", "20", "--seed", "7", "--brute"]) == 0


def forgetful(self: Incumbent[Outcome], candidate: Outcome, objective: float) -> bool:
    self.found, self.objective = candidate, objective
    return True


@pytest.mark.parametrize("number", [2000037, 2000098])
def test_an_incumbent_that_a_worse_candidate_replaces_is_found(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fault that once released nothing but stars."""
    assert judged(number, Counter(), brute=False) == []
    monkeypatch.setattr(Incumbent, "offer", forgetful)
    found = judged(number, Counter(), brute=False)
    assert [each.split(":")[0].split()[0] for each in found] == ["steps", "Mondrian"]


def test_brute_force_sees_a_bound_that_is_too_high(monkeypatch: pytest.MonkeyPatch) -> None:
    search = held.searched

    def liar(drawn: held.Drawn, name: str, **parameters: str) -> object:
        found = search(drawn, name, **parameters)
        assert found is not None
        own, outcome = found
        assert outcome.objective is not None
        return own, replace(outcome, bound=outcome.objective + 0.1)

    number = next(each for each in range(7 * CASES_OF_A_SEED, 8 * CASES_OF_A_SEED) if satisfied(each))
    monkeypatch.setattr(held, "searched", liar)
    assert any(each.startswith("bound: ") for each in judged(number, Counter(), brute=True))


def satisfied(number: int) -> bool:
    tally: Counter[str] = Counter()
    return judged(number, tally, brute=True) == [] and bool(tally["optimal"])


def test_a_budget_of_time_is_repeated_before_it_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = replace(draw(KNOWN[0]), budget={"cpu_seconds": 1.0})
    own = Judge(drawn, Counter())
    said = iter((["start: 1", "steps: 2"], ["steps: 3"], ["steps: 1"]))
    monkeypatch.setattr(own, "_once", lambda: next(said))
    assert own.findings() == ["steps: 2"]


def test_equal_losses_are_no_finding() -> None:
    assert not held.more(0.5, 0.5 - 1e-12)
    assert held.more(0.5, 0.4)
    assert held.more(None, math.inf)
    assert not held.more(0.5, None)
