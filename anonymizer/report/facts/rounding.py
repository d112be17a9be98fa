"""How finely counts of people may be shown: nothing below a smallest count can be told from what is shown."""

from __future__ import annotations

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray

SMALLEST_SHOWN = 3
"""Counts of people below this, or below k, are not shown."""

_STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
FINEST = 0.001
"""Shares are never shown finer than this."""


def smallest_shown(k: int | None) -> int:
    """Return the smallest count of people that may be shown: the larger of k and 3."""
    return max(k or 0, SMALLEST_SHOWN)


def share_step(records: int, smallest: int) -> float | None:
    """Return the step to which shares of so many records are rounded; None where none would do.

    A rounded share leaves at least twice ``smallest`` counts possible, so that neither a count nor what is
    missing from a total can be told.

    >>> share_step(30_000, 5), share_step(100, 3), share_step(16, 3)
    (0.001, 0.1, None)
    """
    return next((step for step in _STEPS if step * records >= 2 * smallest), None)


def rounded(shares: FloatArray, step: float) -> FloatArray:
    """Return shares rounded to a step, shape as given."""
    steps: FloatArray = np.round(np.round(shares / step) * step, 4)
    return steps


def is_small_count(count: int, smallest: int) -> bool:
    """Tell whether a count of people is too small to be shown; none at all is not.

    >>> few(0, 3), few(2, 3), few(3, 3)
    (False, True, False)
    """
    return 0 < count < smallest


def folded(counts: IntArray, smallest: int, hidden: BoolArray | None = None, most: int = 10) -> BoolArray:
    """Tell which entries of a distribution are drawn together as "others".

    Parameters
    ----------
    counts: of people, shape (entries, columns), int64; an entry needs at least ``smallest`` in the first
        column, and in each other one as many or none.
    hidden: entries that are not to be named anyway, shape (entries,), bool.
    most: entries that stay, the largest of the first column.

    Returns
    -------
    Shape (entries,), bool. Each of their sums is at least ``smallest`` or 0, or nothing is left to show.
    """
    small = (counts[:, 0] < smallest) | ((counts > 0) & (counts < smallest)).any(axis=1)
    out: BoolArray = small if hidden is None else small | hidden
    order = np.lexsort((np.arange(len(counts)), -counts[:, 0], out))
    out[order[most:]] = True
    while out.any() and not out.all() and (few_of(counts[out].sum(axis=0), smallest)):
        shown = np.flatnonzero(~out)
        out[shown[np.argmin(counts[shown, 0])]] = True
    return out


def few_of(sums: IntArray, smallest: int) -> bool:
    """Tell whether one of several counts is too small to be shown."""
    return bool(((sums > 0) & (sums < smallest)).any())
