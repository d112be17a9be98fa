"""Ctrl-C: the first asks the search to end, the second ends the program."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stop_on_interrupt() -> Iterator[Callable[[], bool]]:
    """Yield a question whether the user pressed Ctrl-C; while open, only a second one raises."""
    asked = threading.Event()

    def on_interrupt(signum: int, frame: FrameType | None) -> None:
        if asked.is_set():
            signal.default_int_handler(signum, frame)
        asked.set()

    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return
    earlier = signal.signal(signal.SIGINT, on_interrupt)
    # A request to end leaves nothing behind either.
    earlier_end = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, earlier)
        signal.signal(signal.SIGTERM, earlier_end)
