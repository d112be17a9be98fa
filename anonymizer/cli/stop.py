"""Ctrl-C: the first asks the search to end, the second ends the program."""

from __future__ import annotations

import signal
import sys
import threading
from _thread import interrupt_main
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SOON = 0.001
"""Seconds until an interrupt that was lost is raised again."""

_own_process = threading.Event()


def end_with_command() -> None:
    """Note that this process ends with its command, whose exit code no signal may change once it is done."""
    _own_process.set()


class StopRequest:
    """Whether the user wants an end: ``request()``."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self.late = self.raised = False

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
            self.raised = True
            signal.default_int_handler(signum, frame)


@contextmanager
def _raised_again() -> Iterator[None]:
    """Raise an interrupt once more that came in a finalizer, where Python prints it and goes on."""
    earlier = sys.unraisablehook

    def on_unraisable(unraisable: sys.UnraisableHookArgs) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            # Not at once: it would be raised in here.
            threading.Timer(SOON, interrupt_main, [signal.SIGTERM]).start()
        else:
            earlier(unraisable)

    sys.unraisablehook = on_unraisable
    try:
        yield
    finally:
        sys.unraisablehook = earlier


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
        with _raised_again():
            yield request
    except Exception as error:
        # Native libraries make errors of their own of an interrupt, such as a failed import or query.
        if request.raised:
            raise KeyboardInterrupt from error
        raise
    finally:
        done = request.late and _own_process.is_set()
        signal.signal(signal.SIGINT, signal.SIG_IGN if done else earlier)
        signal.signal(signal.SIGTERM, signal.SIG_IGN if done else earlier_end)
