"""Ctrl-C: the first asks the search to end, the second ends the program."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_own_process = threading.Event()


def end_with_command() -> None:
    """Note that this process ends with its command, whose exit code no signal may change once it is done."""
    _own_process.set()


class StopRequest:
    """Whether the user wants an end: ``request()``."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self.late = False

    def __call__(self) -> bool:
        """Return whether the user pressed Ctrl-C."""
        return self._asked.is_set()

    def too_late(self) -> None:
        """Let no signal stop what remains: the result is given, and its exit code must be 0."""
        self.late = True

    def on_interrupt(self, signum: int, frame: FrameType | None) -> None:
        """Note the first Ctrl-C, and raise on a second one."""
        if self._asked.is_set():
            self.on_end(signum, frame)
        self._asked.set()

    def on_end(self, signum: int, frame: FrameType | None) -> None:
        """Raise, so that nothing is left behind."""
        if not self.late:
            signal.default_int_handler(signum, frame)


@contextmanager
def stop_on_interrupt() -> Iterator[StopRequest]:
    """Yield a question whether the user pressed Ctrl-C; while open, only a second one raises."""
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    earlier = signal.signal(signal.SIGINT, request.on_interrupt)
    earlier_end = signal.signal(signal.SIGTERM, request.on_end)
    try:
        yield request
    finally:
        done = request.late and _own_process.is_set()
        signal.signal(signal.SIGINT, signal.SIG_IGN if done else earlier)
        signal.signal(signal.SIGTERM, signal.SIG_IGN if done else earlier_end)
