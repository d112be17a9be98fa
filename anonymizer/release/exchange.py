"""Swap two paths of one folder at once, or as nearly so as the system can."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

EARLIER = ".earlier"
"""Suffix of what was taken from its place a moment before its successor came."""

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_UNSUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP})


def swap_paths(staged: Path, final: Path) -> None:
    """Let two existing paths change their names: in one step on Linux, else in three renames.

    Raises
    ------
    OSError: they stay as they were.
    """
    if not _exchange_at_once(staged, final):
        exchange_by_renames(staged, final)


def exchange_by_renames(staged: Path, final: Path) -> None:
    """Let two existing paths change their names; between the first two renames ``final`` is absent.

    Raises
    ------
    OSError: they stay as they were.
    """
    aside = earlier(staged)
    try:
        final.rename(aside)
        staged.rename(final)
        aside.rename(staged)
    except BaseException:
        if os.path.lexists(aside):
            if os.path.lexists(final):
                final.rename(staged)
            aside.rename(final)
        raise


def earlier(staged: Path) -> Path:
    """Return where the predecessor of a staged path waits while it takes its place."""
    return staged.with_name(staged.name + EARLIER)


def _exchange_at_once(staged: Path, final: Path) -> bool:
    """Return False where the system or the file system has no exchange."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    old, new = os.fsencode(staged), os.fsencode(final)
    if rename(_AT_FDCWD, old, _AT_FDCWD, new, _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(final))
