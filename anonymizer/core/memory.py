"""Memory that is free in this process but that the system does not have back yet."""

from __future__ import annotations

import sys


def release_free_memory() -> None:
    """Let the C library return what it holds free, where it can be asked to (glibc); changes no result.

    It keeps pieces of up to 32 MB for later use, and between them what many arrays of a batch took adds up.
    """
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415 - starting up needs it nowhere

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
