"""Numbers of records that are too small to be shown."""

from __future__ import annotations

SMALLEST_SHOWN = 3
"""Counts of records below this, or below k, are not shown."""


def smallest_shown(k: int | None) -> int:
    """Return the smallest count of records that may be shown: the larger of k and 3."""
    return max(k or 0, SMALLEST_SHOWN)


def is_small_count(count: int, smallest: int) -> bool:
    """Return whether a count of records is too small to be shown; 0 is not.

    >>> is_small_count(0, 3), is_small_count(2, 3), is_small_count(3, 3)
    (False, True, False)
    """
    return 0 < count < smallest


def masked_count(count: int, smallest: int, of: int) -> str:
    """Return a count out of a total as text, masked if it is too small to be shown.

    >>> masked_count(0, 5, 9), masked_count(4, 5, 9), masked_count(1200, 5, 1200), masked_count(2, 11, 3)
    ('0', 'fewer than 5', '1,200', 'some')
    """
    if not 0 < count < smallest:
        return f"{count:,}"
    return f"fewer than {smallest:,}" if smallest <= of else "some"
