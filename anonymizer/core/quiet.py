"""Silence for libraries that print although they are asked not to."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_STANDARD_OUTPUT = 1
_lock = threading.Lock()
_kept: list[int] = []
"""One entry for everyone inside, the first of them a copy of the real standard output."""


@contextmanager
def quiet_output() -> Iterator[None]:
    """Send what the process writes to standard output nowhere, that of its C libraries included.

    HiGHS 1.12 prints a line of its own whenever it repairs a solution, whatever its log options say
    (github.com/ERGO-Code/HiGHS issue 2783), where a command may promise one JSON object and nothing else.
    Several threads may be inside: the last one out turns the output on again.
    """
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    with _lock:
        if not _kept:
            if sys.stdout is not None:
                sys.stdout.flush()
            try:
                real = os.dup(_STANDARD_OUTPUT)
            except OSError:
                # There is no standard output to keep quiet.
                real = -1
            else:
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, _STANDARD_OUTPUT)
                os.close(nowhere)
            _kept.append(real)
        else:
            _kept.append(-1)


def _leave() -> None:
    with _lock:
        if len(_kept) > 1:
            _kept.pop()
            return
        real = _kept.pop()
        if real >= 0:
            if sys.stdout is not None:
                sys.stdout.flush()
            os.dup2(real, _STANDARD_OUTPUT)
            os.close(real)
