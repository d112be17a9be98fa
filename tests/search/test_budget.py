"""Budgets of wall-clock and of processor time: one search does not know which of them ends it."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest

from anonymizer.search import base
from anonymizer.search.base import GRACE, Control


class Hands:
    """Two clocks that are set by hand, in place of those of the system."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.wall = self.processor = 100.0
        patch.setattr(base.time, "monotonic", lambda: self.wall)
        patch.setattr(base.time, "process_time", lambda: self.processor)


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Hands:
    return Hands(monkeypatch)


def control(hands: Hands, **budget: Any) -> Control:
    """Return a budget that begins at the time of the clocks."""
    return Control(**budget, started=hands.wall, cpu_started=hands.processor)


@pytest.mark.parametrize(("wall", "processor"), [(4.0, 1.0), (1.0, 2.0), (7.0, 9.0)])
def test_the_first_clock_that_is_over_ends_the_search(hands: Hands, wall: float, processor: float) -> None:
    asked = control(hands, seconds=4.0, cpu_seconds=2.0)
    assert not asked.exhausted(0, 0)
    hands.wall, hands.processor = hands.wall + wall, hands.processor + processor
    assert asked.exhausted(0, 0)
    assert asked.out_of_time()
    assert asked.elapsed == wall


def test_each_clock_is_read_by_its_own_limit_alone(hands: Hands) -> None:
    waiting, working = control(hands, cpu_seconds=2.0), control(hands, seconds=2.0)
    hands.wall += 3
    assert not waiting.out_of_time()
    assert working.out_of_time()
    waiting, working = control(hands, cpu_seconds=2.0), control(hands, seconds=2.0)
    hands.processor += 3
    assert waiting.out_of_time()
    assert not working.out_of_time()


def test_time_is_spent_as_a_part_of_the_limit_that_is_nearest(hands: Hands) -> None:
    asked = control(hands, seconds=10.0, cpu_seconds=4.0)
    hands.wall, hands.processor = hands.wall + 4, hands.processor + 1
    assert (asked.allowed, asked.spent, asked.left) == (4.0, 0.4, 3.0)
    hands.processor += 2
    assert (asked.spent, asked.left) == (0.75, 1.0)
    assert not asked.too_late_for(GRACE - 0.75 - 1e-9)
    assert asked.too_late_for(GRACE - 0.75 + 1e-9)


def test_a_part_of_what_is_left_is_kept_of_both(hands: Hands) -> None:
    asked = control(hands, seconds=10.0, cpu_seconds=4.0, nodes=7)
    hands.wall, hands.processor = hands.wall + 4, hands.processor + 1
    kept = asked.less(0.5)
    assert (kept.seconds, kept.cpu_seconds, kept.nodes) == (7.0, 2.5, 7)
    assert (kept.started, kept.cpu_started) == (asked.started, asked.cpu_started)
    hands.wall += 10
    assert asked.less(0.5).seconds == 10.0
    assert control(hands, cpu_seconds=4.0).less(0.25) == control(hands, cpu_seconds=3.0)


def test_without_a_limit_of_time_none_is_spent(hands: Hands) -> None:
    asked = control(hands, nodes=5, steps=6)
    hands.wall, hands.processor = math.inf, math.inf
    assert (asked.allowed, asked.left, asked.spent) == (None, None, 0.0)
    assert not asked.out_of_time()
    assert not asked.too_late_for(0.0)
    assert not asked.exhausted(4, 5)
    assert asked.exhausted(5, 5)
    assert asked.exhausted(4, 6)
    assert (asked.less(0.5).seconds, asked.less(0.5).cpu_seconds) == (None, None)


@pytest.mark.parametrize("limit", ["seconds", "cpu_seconds", "nodes", "steps"])
def test_each_limit_is_a_budget(limit: str) -> None:
    assert Control().unlimited
    assert not Control(**{limit: 1}).unlimited


@pytest.mark.parametrize("limit", ["seconds", "cpu_seconds"])
def test_a_limit_of_no_time_is_over_at_once(limit: str) -> None:
    assert Control(**{limit: 0}).exhausted(0, 0)


def test_a_process_that_waits_spends_no_processor_time() -> None:
    asked = Control(cpu_seconds=0.05)
    time.sleep(0.1)
    assert not asked.out_of_time()
    while not asked.out_of_time():
        sum(range(1000))
    assert time.process_time() - asked.cpu_started >= 0.05
