"""Work of native libraries that knows nothing of Ctrl-C."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from anonymizer.core.quiet import quiet_output

T = TypeVar("T")

POLL = 0.05
"""Seconds between two looks at whether the user wants to stop."""


def run_interruptibly(work: Callable[[], T], stopped: Callable[[], bool] = lambda: False) -> T | None:
    """Work in a thread of its own, so that the user is heard meanwhile; None when he wants to stop.

    A solver cannot be called back; where the user stops, it is left to end by itself. What it prints is not
    shown.

    Raises
    ------
    Exception: whatever the work raises.
    """
    found: list[T] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=run, daemon=True)
    with quiet_output():
        thread.start()
        while thread.is_alive():
            thread.join(POLL)
            if stopped():
                return None
    if failures:
        raise failures[0]
    return found[0]
