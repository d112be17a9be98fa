"""Independent pieces of work on all processors."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def in_threads(work: Callable[[Piece], Result], pieces: Sequence[Piece]) -> list[Result]:
    """Return the results of all pieces in their order; threads run at once while numpy computes."""
    workers = min(_processors(), len(pieces))
    if workers < 2:
        return [work(piece) for piece in pieces]
    with ThreadPoolExecutor(workers) as threads:
        return list(threads.map(work, pieces))


def _processors() -> int:
    """Return the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
