"""The pace of a long attack: an estimate once its first steps are measured, and its end on request.

Attacks call ``step`` or ``paced`` in their loops. Without ``follow`` around them, as in a search, nothing
happens.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

MEASURED = 1.0
"""Seconds of work from which the rest is extrapolated."""

LONG = 10.0
"""Seconds from which on an estimate is said."""

MINUTES = 120
"""Seconds from which on an estimate is in minutes."""

Item = TypeVar("Item")


class AttackStopped(Exception):
    """The user asked for the end of an attack."""


class Pace:
    """Measures the steps of one attack.

    Parameters
    ----------
    about: the attack and its records, in the estimate.
    say: receives the estimate, once, if the attack takes long.
    stopped: whether the user wants the attack to end.
    clock: seconds from any moment.
    """

    def __init__(
        self,
        about: tuple[str, int],
        say: Callable[[str], None],
        stopped: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._about, self._say, self._stopped, self._clock = about, say, stopped, clock
        self._said = False
        self._loop: int | None = None
        self._began, self._first = 0.0, 0

    def step(self, loop: int, done: int, total: int, *, at_most: bool) -> None:
        """Note a step of a loop; parameters as for the function ``step``.

        Raises
        ------
        AttackStopped: the user wants the attack to end.
        """
        if self._stopped():
            raise AttackStopped
        if loop != self._loop:
            self._loop, self._began, self._first = loop, self._clock(), done
        elapsed = self._clock() - self._began
        if self._said or elapsed < MEASURED or done <= self._first:
            return
        seconds = elapsed / (done - self._first) * (total - self._first)
        if seconds > LONG:
            self._said = True
            name, records = self._about
            words = "at most" if at_most else "about"
            self._say(f"{name}: {words} {rounded(seconds)} for {records:,} records")


def rounded(seconds: float) -> str:
    """Return a duration as people say it.

    >>> rounded(12.3), rounded(44), rounded(250), rounded(4000)
    ('10 s', '40 s', '4 min', '67 min')
    """
    return f"{seconds / 60:.0f} min" if seconds >= MINUTES else f"{round(seconds, -1):.0f} s"


_pace: ContextVar[Pace | None] = ContextVar("pace", default=None)


@contextmanager
def follow(pace: Pace) -> Iterator[None]:
    """Measure the attack that runs inside."""
    token = _pace.set(pace)
    try:
        yield
    finally:
        _pace.reset(token)


def step(loop: object, done: int, total: int, *, at_most: bool = False) -> None:
    """Note that steps of an attack are done.

    Parameters
    ----------
    loop: stands for the loop: another one is measured afresh.
    done, total: number of its steps, which take about equally long.
    at_most: whether the loop may end before all its steps.

    Raises
    ------
    AttackStopped: the user wants the attack to end.
    """
    pace = _pace.get()
    if pace is not None:
        pace.step(id(loop), done, total, at_most=at_most)


def paced(items: Iterable[tuple[int, Item]], total: int) -> Iterator[Item]:
    """Yield items; each is a step whose size stands before it.

    Parameters
    ----------
    total: of all sizes.

    Raises
    ------
    AttackStopped: the user wants the attack to end.
    """
    loop, done = object(), 0
    for size, item in items:
        step(loop, done, total)
        yield item
        done += size
